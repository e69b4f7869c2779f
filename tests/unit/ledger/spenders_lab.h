/* spenders_lab.h - one job on a machine that was bought for it, and what budgets have of that. */
#ifndef TESTS_LEDGER_SPENDERS_LAB_H
#define TESTS_LEDGER_SPENDERS_LAB_H

#include "fixture.h"
#include "ledger/spenders.h"

#define UNIT  INT64_C(1000000000) /* a second of a machine at 3,600 an hour */
#define DAY_0 (T0 / 86400)
#define DAY_S INT64_C(86400)

/* What budgets have of the jobs of fixture.h, on two lines: the wckey is not compared. */
static inline void job_spent(const struct fixture *f, int64_t day, int64_t nano)
{
	for (int i = 0; i < 2; i++)
		exec(f->journal,
		     "INSERT OR REPLACE INTO spent VALUES (%lld, 0, 'physics', 'anna', 'normal',"
		     " '%s', 'gpu', 'h100', 'aws', 'spot', %lld)",
		     (long long)(DAY_0 + day), i == 0 ? "" : "other",
		     (long long)(i == 0 ? nano - nano / 3 : nano / 3));
}

static inline void since(const struct fixture *f, int64_t at)
{
	exec(f->journal, "INSERT OR REPLACE INTO meta VALUES ('budgets_since', %lld)",
	     (long long)(T0 + at) * 1000);
}

/* From 100 to 7500, up from 200 on, and bought for the job. */
static inline void whole_life(const struct fixture *f, const char *node, int for_job)
{
	since(f, -1);
	machine(f, node);
	buyer(f, node, for_job);
	life(f, node, "wanted", 0, 0);
	life(f, node, "created", 100, 0);
	life(f, node, "ready", 200, 0);
	life(f, node, "ended", 7500, 0);
}

/* All of the machine for an hour. */
static inline void the_job(const struct fixture *f, const char *node, int number)
{
	job(f, &(struct job){number, 8, 230, 3830, "COMPLETED", node});
}

static inline void whole_job(const struct fixture *f, const char *node, int number)
{
	whole_life(f, node, number);
	the_job(f, node, number);
}

/* A pass in which both sides know all until then. */
static inline void knows(const struct fixture *f, int64_t at)
{
	jobs_until(f, at);
	pass(f, at);
}

struct states {
	int agree, explained, differ, wait;
};

static inline void assert_states(const struct fixture *f, struct states want)
{
	struct err e = {0};
	int64_t n[LEDGER_JOBS_NSTATES];

	assert_int_equal(ledger_count_job_agreed(f->l, n, &e), 0);
	if (n[LEDGER_JOBS_AGREE] != want.agree || n[LEDGER_JOBS_EXPLAINED] != want.explained ||
	    n[LEDGER_JOBS_DIFFER] != want.differ || n[LEDGER_JOBS_WAIT] != want.wait)
		fail_msg("%d agree, %d are explained, %d differ, %d wait", (int)n[0], (int)n[1],
			 (int)n[2], (int)n[3]);
}

#endif
