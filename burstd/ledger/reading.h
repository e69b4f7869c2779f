/* reading.h - the ledger, opened by a command that only reads it: all it reads is of one moment. */
#ifndef BURSTD_LEDGER_READING_H
#define BURSTD_LEDGER_READING_H

#include "base/date.h"
#include "base/str.h"
#include "ledger/book.h"
#include "ledger/calendar.h"
#include "ledger/settings.h"
#include "store/ledger.h"

struct reading {
	struct site site;
	struct ledger *ledger;
	struct calendar calendar;
	struct str out; /* what the command prints at its end */
	char *currency; /* of facts that name none */
};

struct reading_days {
	int64_t from_day, to_day;         /* to_day is outside */
	char name[2 * DATE_STR_SIZE + 8]; /* "2026-11"; "2026-11-01 to 2026-11-15" */
};

/* Can the ledger be read?  -1: *e says why not, and how to get one, or whom to ask instead. */
int reading_check_file(const char *path, struct err *e);

/* -1: *e; reading_end() in any case. */
int reading_begin(struct reading *r, const struct settings *s, struct err *e);
/* Print r->out, also before an error, and say *e if rc is below 0.  Returns the exit status. */
int reading_end(struct reading *r, int rc, const struct err *e);

struct book reading_book(struct reading *r); /* borrows r */

/* The days that --period, --from and --to say; none given: this month. */
int reading_find_days(struct reading *r, const struct settings *s, struct reading_days *d,
		      struct err *e);

/* Append what a report of days before to_day lacks: instances that are in no sum, and jobs or facts
 * that cannot be read at present; nothing: it has all. */
int reading_lacks(struct reading *r, int64_t to_day, struct str *out, struct err *e);
/* Likewise, say it on standard error. */
int reading_warn(struct reading *r, int64_t to_day, struct err *e);

#endif
