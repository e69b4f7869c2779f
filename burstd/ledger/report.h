/* report.h - sums of the ledger by whatever people ask for: account, day, class, node ...
 *
 * Amounts of different currencies are never added: each has rows of its own.  What a report names
 * neither by job nor by node comes from sums that the ledger keeps by day, so it costs the same
 * however many jobs there were. */
#ifndef BURSTD_LEDGER_REPORT_H
#define BURSTD_LEDGER_REPORT_H

#include <stdbool.h>

#include "base/jsonw.h"
#include "base/str.h"
#include "store/ledger_postings.h"

enum report_key { /* the first are those of struct ledger_dims, in its order */
		  REPORT_ACCOUNT,
		  REPORT_USER,
		  REPORT_PARTITION,
		  REPORT_QOS,
		  REPORT_WCKEY,
		  REPORT_PROVIDER,
		  REPORT_MARKET,
		  REPORT_POOL,
		  REPORT_TYPE,
		  REPORT_CURRENCY,
		  REPORT_CLASS,
		  REPORT_DAY,
		  REPORT_MONTH,
		  REPORT_JOB,
		  REPORT_NODE,
		  REPORT_NKEYS
};

enum {
	REPORT_KEYS_MAX = 6,       /* with the currency */
	REPORT_ROWS_MAX = 5000000, /* of a report: a GiB of memory */
};

struct report_want {
	enum report_key keys[REPORT_KEYS_MAX];
	size_t n;                 /* the currency is the last */
	int64_t from_day, to_day; /* to_day is outside */
	const char *user;         /* only what this one's jobs cost; NULL: all */
};

struct report_row {
	int64_t key[REPORT_KEYS_MAX]; /* numbers that stand for texts */
	int64_t nano;
	int64_t gpu_s, cpu_s;
	uint64_t jobs_gpu_s; /* of these, those that jobs had: run and lost */
	const char *text[REPORT_KEYS_MAX];
	int64_t user; /* by job: a number for whose it is; 0: not known */
};

struct report { /* all zero: empty */
	struct report_want want;
	struct report_row *rows; /* by their texts; days and classes in their order */
	size_t n;
	struct report_row total; /* of the currency that all have; else total_is_one is not set */
	bool total_is_one;
	/* Set by the caller, of a report about a month: "open", "closed" or "reopened", and the
	 * last revision that was closed. */
	const char *state;
	unsigned revision;
	struct report_memory *memory; /* what texts are borrowed from */
};

/* "account,day,class" into *w; the currency is added.  -1: *e names the word that is none. */
int report_parse(struct report_want *w, const char *text, struct err *e);
const char *report_key_str(enum report_key k);

/* Two jobs of one number, of two users, are rows of their own: "7 (anna)" and "7 (bob)".  -1: *e;
 * *r is report_fini()'s in any case. */
int report_make(struct report *r, struct ledger *l, const struct report_want *w, struct err *e);
void report_fini(struct report *r);

/* Append it: a table of at most 80 columns, where longer texts are cut; CSV, in which no text is a
 * formula to a spreadsheet; JSON, with amounts as texts. */
void report_table(const struct report *r, struct str *out);
void report_csv(const struct report *r, struct str *out);
void report_json_put(const struct report *r, struct jsonw *w); /* members of an open object */

#endif
