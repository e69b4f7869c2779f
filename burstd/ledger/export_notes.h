/* export_notes.h - what a statement says beside its sums: what of it corrects other months, or what
 * was counted. */
#ifndef BURSTD_LEDGER_EXPORT_NOTES_H
#define BURSTD_LEDGER_EXPORT_NOTES_H

#include "ledger/source.h"
#include "ledger/statement.h"

struct export_notes {                             /* texts are its own */
	struct statement_correction *corrections; /* by month, provider and reason */
	size_t ncorrections;
};

/* Read all charges.  -1: sums are too large, or *e of the source; *n is empty then. */
int export_notes_make(struct export_notes *n, const struct source *from, const struct zone *zone,
		      struct err *e);
void export_notes_fini(struct export_notes *n);

#endif
