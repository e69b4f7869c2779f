/* report_write.h - writes a report of a period, in one of its forms, with the figures of it. */
#ifndef BURSTD_LEDGER_REPORT_WRITE_H
#define BURSTD_LEDGER_REPORT_WRITE_H

#include "ledger/report.h"

enum report_form { REPORT_TABLE, REPORT_CSV, REPORT_JSON };

/* A table with the figures below it, or CSV without them, into out; JSON into the object that json
 * has open.  -1: *e, and some of it may be written. */
int report_write(struct ledger *l, const struct report_want *w, enum report_form form,
		 struct jsonw *json, struct str *out, struct err *e);

#endif
