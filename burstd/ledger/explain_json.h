/* explain_json.h - a job's cost for programs: docs/protocol.md has the fields.  Only explain.c
 * calls these, each between those around it. */
#ifndef BURSTD_LEDGER_EXPLAIN_JSON_H
#define BURSTD_LEDGER_EXPLAIN_JSON_H

#include "base/jsonw.h"
#include "ledger/book.h"
#include "store/ledger_attempts.h"

enum { EXPLAIN_CURRENCIES = 16, EXPLAIN_CURRENCY_SIZE = 16 };

struct explain_totals { /* of a job */
	struct {
		char currency[EXPLAIN_CURRENCY_SIZE];
		int64_t nano;
	} v[EXPLAIN_CURRENCIES];
	size_t n;
};
/* -1: more currencies than that. */
int explain_total(struct explain_totals *t, const char *currency, int64_t nano, struct err *e);

void explain_json_begin(struct jsonw *w, const char *job);
/* number 0: before it ran. */
void explain_json_attempt(struct jsonw *w, const struct ledger_attempt *a, size_t number,
			  int64_t nano);
void explain_json_instance(struct jsonw *w, const struct ledger_lifetime *t, const char *currency,
			   int64_t nano);
void explain_json_piece(struct jsonw *w, const struct allocate_detail *d, int64_t rate);
struct explain_rest { /* of an instance: what no piece has */
	bool estimated;
	int64_t shown_ms, gone_ms; /* between these it ended; FACTS_NEVER: not known */
	int64_t back, adjusted;    /* given back, and by the invoice */
	int64_t anew;              /* what it is when it is computed again */
};
void explain_json_instance_end(struct jsonw *w, const struct explain_rest *r);
void explain_json_attempt_end(struct jsonw *w);
void explain_json_end(struct jsonw *w, const struct explain_totals *t);

#endif
