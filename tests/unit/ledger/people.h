/* people.h - a ledger with jobs of several people, for tests of who sees what.
 *
 * anna (physics) has job 1 and, with bob (biology), the node c0; bob has job 2, which is a third
 * machine's, too; c2 is idle and nobody's.  Prices are 3600 an hour, so a second is 1. */
#ifndef TESTS_LEDGER_PEOPLE_H
#define TESTS_LEDGER_PEOPLE_H

#include "story.h"

struct work_of {
	const char *user, *account;
	int job, gpus;
	int64_t start, end;
	const char *nodes[3];
};

static inline void job_of(const struct fixture *f, const struct work_of *w)
{
	const struct ledger_attempt a = {.job = (uint64_t)w->job,
					 .start_s = T0 + w->start,
					 .end_s = T0 + w->end,
					 .submit_s = T0,
					 .job_id = w->job == 2   ? "2"
						   : w->job == 1 ? "1"
								 : "3_7",
					 .name = "secret-project",
					 .state = "COMPLETED",
					 .account = w->account,
					 .user = w->user,
					 .partition = "gpu",
					 .qos = "normal",
					 .wckey = w->account,
					 .source = "sacct",
					 .cpus = w->gpus * 12,
					 .gpus = w->gpus,
					 .memory_mb = w->gpus * 1000,
					 .nnodes = w->nodes[1] != NULL ? 2 : 1,
					 .seen_ms = (T0 + w->end) * 1000};
	struct err e = {0};
	int64_t id;

	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(ledger_put_attempt(f->l, &a, w->nodes, (size_t)a.nnodes, &id, &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
}

static inline void make_people(const struct fixture *f)
{
	static const struct work_of theirs[] = {
		{"anna", "physics", 1, 2, 300, 400, {"c0"}},
		{"bob", "biology", 2, 4, 300, 500, {"c0", "c1"}},
		{"anna", "physics", 3, 8, 600, 700, {"c1"}},
	};

	for (int i = 0; i < 2; i++) {
		fates[i] = (struct fate){"", 100, 200, 1000, true, false};
		(void)snprintf(fates[i].name, sizeof(fates[i].name), "c%d", i);
		write_life(f, &fates[i]);
	}
	machine(f, "c2"); /* bought for no job */
	life(f, "c2", "created", 100, 0);
	life(f, "c2", "ready", 200, 0);
	life(f, "c2", "ended", 1000, 1000);
	pass(f, 1);
	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		job_of(f, &theirs[i]);
	pass(f, 300000);
}

#endif
