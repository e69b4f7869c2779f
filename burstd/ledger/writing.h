/* writing.h - the ledger, opened by a command that changes it while its service may run: one
 * transaction, all of it or nothing. */
#ifndef BURSTD_LEDGER_WRITING_H
#define BURSTD_LEDGER_WRITING_H

#include "base/str.h"
#include "ledger/book.h"
#include "ledger/settings.h"

struct writing {
	struct site site;
	struct ledger *ledger;
	struct calendar calendar;
	struct str out;  /* what the command prints at its end */
	char *currency;  /* of facts that name none */
	const char *who; /* runs the command */
	bool committed;
};

/* Begin; a service that writes is waited for.  The ledger must be there, and the caller's: files
 * that another made beside it would stop the service.  -1: *e; writing_end() in any case. */
int writing_begin(struct writing *w, const struct settings *s, struct err *e);
int writing_commit(struct writing *w, struct err *e);
/* Print w->out, also before an error, and say *e if rc is below 0.  What is not committed has not
 * happened.  Returns the exit status. */
int writing_end(struct writing *w, int rc, const struct err *e);

struct book writing_book(struct writing *w, int64_t jobs_ms); /* borrows w */

#endif
