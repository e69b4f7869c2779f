/* figures.h - how well the money of a period was used: a few figures for each currency.
 *
 * They are computed from each posting, for the sums by day do not have list prices.  What is not
 * known is not 0: it is FIGURES_UNKNOWN, "-" to people, and absent in JSON.
 *
 *   ready        GPU seconds of machines that were ready: held, idle or in drain
 *   held         ... that jobs had, lost ones included: not what they used
 *   asked        ... for which these jobs asked, by what slurmctld said of them before they ran
 *   used         ... in which GPUs were busy: nobody measures it yet
 *   utilisation  held / ready
 *   idle %       cost of the class idle / cost
 *   waste %      cost of the classes lost, boot_failed and orphan / cost
 *   useful hour  cost / (held - lost)
 *   spot saving  what spot machines would have cost on demand, less what they did; may be below 0
 *
 * Costs are less what was given back.  Of one user's jobs there is neither ready nor idle. */
#ifndef BURSTD_LEDGER_FIGURES_H
#define BURSTD_LEDGER_FIGURES_H

#include "base/jsonw.h"
#include "base/str.h"
#include "ledger/allocate.h"
#include "store/ledger_postings.h"

#define FIGURES_UNKNOWN INT64_MIN

enum {
	FIGURES_MAX = 16,          /* currencies of one report */
	FIGURES_JOBS_MAX = 100000, /* attempts; of more nobody waits for what each asked for */
};

struct figure {
	char *currency;
	int64_t nano, classes[ALLOCATE_NCLASSES];    /* cost, and of each class */
	int64_t ready_s, held_s, lost_s, asked_s;    /* GPU seconds; held_s has lost_s */
	int64_t spot_list, spot_nano, spot_unlisted; /* of those with a list price, and without */
};

struct figures { /* all zero: empty */
	struct figure *v;
	size_t n;
	bool of_user;
};

/* Of postings of days in [from_day, to_day); user: of this one's jobs only; NULL: of all.  -1: *e;
 * figures_fini() in any case. */
struct figures_want {
	int64_t from_day, to_day;
	const char *user;
};
int figures_make(struct figures *f, struct ledger *l, const struct figures_want *w, struct err *e);
void figures_fini(struct figures *f);

/* In tenths of a percent, rounded; FIGURES_UNKNOWN without a whole. */
int64_t figures_tenths(int64_t part, int64_t whole);
/* Of a useful GPU hour, in nano-units, rounded down; FIGURES_UNKNOWN if there was none. */
int64_t figures_useful_hour(const struct figure *f);

void figures_table(const struct figures *f, struct str *out);    /* lines below a table */
void figures_json_put(const struct figures *f, struct jsonw *w); /* "figures":[...] */

#endif
