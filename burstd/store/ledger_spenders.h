/* ledger_spenders.h - compares what jobs cost by the ledger with what burstd's budgets have for
 * them: both by day and spender, of what jobs had of machines and is over.
 *
 * A spender is an account, user, QOS and partition, on machines of a provider, market and pool.
 * The wckey is left out: it is a user's text, of which squeue shows burstd a part. */
#ifndef BURSTD_STORE_LEDGER_SPENDERS_H
#define BURSTD_STORE_LEDGER_SPENDERS_H

#include "store/journal_facts.h"
#include "store/ledger.h"

/* The spender of what has these dims (ledger_dims_id()). */
int ledger_spender(struct ledger *l, int64_t dims, int64_t *spender, struct err *e);

/* What a spender's jobs had of an instance on a day.  Amounts are nano-units. */
struct ledger_stay {
	int64_t day, spender;
	int64_t bill;      /* by the ledger, before credits: classes boot, run and lost */
	int64_t low, high; /* what budgets must have is between these */
	int64_t from_ms;   /* when the first of it began ... */
	int64_t until_ms;  /* ... and the last was over */
};

/* These are all stays of the lifetime, by day and spender.  What has changed is compared again. */
struct ledger_stays {
	int64_t lifetime;
	const struct ledger_stay *v;
	size_t n;
};
int ledger_set_stays(struct ledger *l, const struct ledger_stays *s, struct err *e);

/* When the first machine was wanted for the job in [from_ms, to_ms]; to_ms: none was. */
int ledger_wanted_ms(struct ledger *l, uint64_t job, int64_t from_ms, int64_t to_ms, int64_t *ms,
		     struct err *e);

/* Copy what a spender has spent on a day, as it was found at now_ms; what has changed is compared
 * again. */
int ledger_put_job_spent(struct ledger *l, const struct fact_job_spent *s, int64_t now_ms,
			 struct err *e);
/* Forget the copies of a day. */
int ledger_forget_job_spent(struct ledger *l, int64_t day, struct err *e);
/* What the copies of a day come to. */
int ledger_job_spent_on(struct ledger *l, int64_t day, int64_t *nano, struct err *e);
/* Days from this one on are to be compared again. */
int ledger_compare_jobs_from(struct ledger *l, int64_t day, struct err *e);

enum ledger_job_agreement {
	LEDGER_JOBS_AGREE,
	/* The budgets have what they must; the ledger divides the machine in another way, or has
	 * another price. */
	LEDGER_JOBS_EXPLAINED,
	LEDGER_JOBS_DIFFER, /* and nothing explains it */
	LEDGER_JOBS_WAIT,   /* they differ, and one of them may not know all yet */
	LEDGER_JOBS_NSTATES
};

/* All there is of a day and spender. */
struct ledger_job_both {
	int64_t day, spender;
	int64_t spent, bill, low, high;
	int64_t moment_ms; /* when the last of it was over, or changed */
};
typedef int (*ledger_job_both_fn)(void *ctx, const struct ledger_job_both *b, struct err *e);
/* Of days from this one on, in order; what began before since_ms has no least. */
int ledger_job_both(struct ledger *l, int64_t from_day, int64_t since_ms, ledger_job_both_fn fn,
		    void *ctx, struct err *e);

struct ledger_job_agreed {
	int64_t day, spender;
	enum ledger_job_agreement state;
	int64_t spent, bill;
};
/* Put a result in the place of the one of that day and spender. */
int ledger_put_job_agreed(struct ledger *l, const struct ledger_job_agreed *a, struct err *e);
/* Drop results from that day on of which nothing is there any more, on either side. */
int ledger_tidy_job_agreed(struct ledger *l, int64_t from_day, struct err *e);

int ledger_count_job_agreed(struct ledger *l, int64_t n[LEDGER_JOBS_NSTATES], struct err *e);
typedef int (*ledger_job_agreed_fn)(void *ctx, const struct ledger_job_agreed *a, struct err *e);
/* Those that differ, the last days first, at most limit. */
int ledger_jobs_differing(struct ledger *l, unsigned limit, ledger_job_agreed_fn fn, void *ctx,
			  struct err *e);

#endif
