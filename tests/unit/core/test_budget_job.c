/* test_budget_job.c - what is set aside for a job: which holds, from when, until when. */
#include "core/budget_job.h"

#include <stdio.h>

#include "budget_world.h"

#define T0 INT64_C(1800000000000) /* 2027-01-15T08:00:00Z */

static const struct budget_times times = {
	.over_ms = MINUTE, .idle_ms = 10 * MINUTE, .end_ms = 2 * MINUTE};

static const struct budget_machine h100 = {.pool = "h100",
					   .provider = "aws",
					   .market = PROVIDER_SPOT,
					   .rate_nano_h = 800,
					   .boot_ms = 5 * MINUTE,
					   .gpus = 8,
					   .cpus = 96};

static struct payer ann(int64_t limit_s)
{
	return (struct payer){.account = "physics",
			      .user = "ann",
			      .partition = "gpu",
			      .qos = "normal",
			      .wckey = "w",
			      .limit_s = limit_s,
			      .nodes = 1,
			      .cpus = 12,
			      .node_gpus = 2};
}

/* One budget counts machines, and one jobs: each with this rule. */
static struct world both(struct conf_budget list[2], int machines, int jobs)
{
	static char name[] = "ann", *users[] = {name, NULL};

	list[0] = budget("machines", 100, "month");
	list[0].reserve = machines;
	list[1] = budget("jobs", 100, "month");
	list[1].reserve = jobs;
	list[0].lease_ms = list[1].lease_ms = 2 * HOUR;
	list[1].users = users;
	return world_new("UTC", "2027-01-15T08:00:00Z", list, 2);
}

/* Where jobs may outrun their limit for ever, it is as if they had none. */
static void test_a_limit_that_ends_nothing(void **state)
{
	struct conf_budget list[2];
	struct world w = both(list, CONF_RESERVE_FULL, CONF_RESERVE_FULL);
	struct budget_times endless = times;
	struct budget_want out[BUDGET_WANTS_MAX];
	const struct payer p = ann(3600);
	struct budget_no no;

	(void)state;
	assert_int_equal(budget_wants(w.b, &p, &h100, &times, T0, out), 3);
	assert_true(budgets_try(w.b, out, 3, false, &no));
	endless.over_ms = -1;
	assert_int_equal(budget_wants(w.b, &p, &h100, &endless, T0, out), 3);
	assert_true(out[1].hold.until_ms == INT64_MAX);
	assert_false(budgets_try(w.b, out, 3, false, &no));
	assert_int_equal(no.lack, BUDGET_NO_LIMIT);
	world_free(&w);
}

/* A partition may let its jobs outrun their limit by more, and a pool's nodes may idle for longer,
 * than slurm.conf says of all. */
static void test_times_of_their_own(void **state)
{
	static const struct budget_exception over[] = {{"debug", -1}, {"gpu", 31 * MINUTE}},
					     idle[] = {{"other", HOUR}, {"h100", 20 * MINUTE}};
	struct conf_budget list[2];
	struct world w = both(list, CONF_RESERVE_FULL, CONF_RESERVE_FULL);
	struct budget_times own = times;
	struct budget_want out[BUDGET_WANTS_MAX];
	struct payer p = ann(3600);

	(void)state;
	own.over = over;
	own.idle = idle;
	own.nover = own.nidle = 2;
	(void)snprintf(p.partition, sizeof(p.partition), "gpu");
	assert_int_equal(budget_wants(w.b, &p, &h100, &own, T0, out), 3);
	assert_int_equal(out[1].hold.until_ms - out[1].hold.from_ms, 91 * MINUTE);
	assert_int_equal(out[0].hold.until_ms, T0 + h100.boot_ms + (91 + 20 + 2) * MINUTE);
	(void)snprintf(p.partition, sizeof(p.partition), "debug");
	assert_int_equal(budget_wants(w.b, &p, &h100, &own, T0, out), 3);
	assert_true(out[1].hold.until_ms == INT64_MAX);
	(void)snprintf(p.partition, sizeof(p.partition), "cpu");
	assert_int_equal(budget_wants(w.b, &p, &h100, &own, T0, out), 3);
	assert_int_equal(out[1].hold.until_ms - out[1].hold.from_ms, 61 * MINUTE);
	world_free(&w);
}

static void test_three_holds(void **state)
{
	struct conf_budget list[2];
	struct world w = both(list, CONF_RESERVE_FULL, CONF_RESERVE_FULL);
	struct budget_want out[BUDGET_WANTS_MAX];
	const struct payer p = ann(3600);
	const struct budget_spender *s;

	(void)state;
	assert_int_equal(budget_wants(w.b, &p, &h100, &times, T0, out), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(out[i].n, 1);
	assert_int_equal(out[0].hold.kind, BUDGET_MACHINE);
	assert_int_equal(out[0].hold.rate_nano_h, 800);
	assert_int_equal(out[0].hold.from_ms, T0);
	assert_int_equal(out[0].hold.until_ms, T0 + (5 + 60 + 1 + 10 + 2) * MINUTE);
	s = budgets_spender_at(w.b, out[0].hold.spender);
	assert_true(s->machine);
	assert_string_equal(s->account, "");
	assert_string_equal(s->user, "");
	assert_string_equal(s->qos, "");
	assert_string_equal(s->wckey, "");
	assert_string_equal(s->partition, "gpu");
	assert_string_equal(s->pool, "h100");
	assert_string_equal(s->provider, "aws");
	assert_int_equal(s->market, PROVIDER_SPOT);

	assert_int_equal(out[1].hold.kind, BUDGET_RUN);
	assert_int_equal(out[1].hold.rate_nano_h, 200);
	assert_int_equal(out[1].hold.from_ms, T0 + 5 * MINUTE);
	assert_int_equal(out[1].hold.until_ms, T0 + (5 + 60 + 1) * MINUTE);
	s = budgets_spender_at(w.b, out[1].hold.spender);
	assert_false(s->machine);
	assert_string_equal(s->account, "physics");
	assert_string_equal(s->user, "ann");
	assert_string_equal(s->qos, "normal");
	assert_string_equal(s->wckey, "w");
	assert_string_equal(s->partition, "gpu");
	assert_string_equal(s->pool, "h100");
	assert_string_equal(s->provider, "aws");
	assert_int_equal(s->market, PROVIDER_SPOT);

	assert_int_equal(out[2].hold.kind, BUDGET_BOOT);
	assert_int_equal(out[2].hold.rate_nano_h, 800); /* it boots for this job alone */
	assert_int_equal(out[2].hold.from_ms, T0);
	assert_int_equal(out[2].hold.until_ms, T0 + 5 * MINUTE);
	assert_int_equal(out[2].hold.spender, out[1].hold.spender);
	world_free(&w);
}

/* For no job: the machine, until it would be given up unused. */
static void test_for_nobody(void **state)
{
	struct conf_budget list[2];
	struct world w = both(list, CONF_RESERVE_FULL, CONF_RESERVE_FULL);
	struct budget_want out[BUDGET_WANTS_MAX];

	(void)state;
	assert_int_equal(budget_wants(w.b, NULL, &h100, &times, T0, out), 1);
	assert_int_equal(out[0].hold.until_ms, T0 + (5 + 1 + 10 + 2) * MINUTE);
	assert_string_equal(budgets_spender_at(w.b, out[0].hold.spender)->partition, "");
	world_free(&w);
}

enum { FULL = CONF_RESERVE_FULL, LEASE = CONF_RESERVE_LEASE, MIN = CONF_RESERVE_MINIMUM };

static const struct {
	const char *name;
	int machines, jobs;
	int64_t limit_s, quantum, minimum; /* minutes */
	int64_t want_machine, want_job;    /* likewise; -1: without end */
} rows[] = {
	{"full", FULL, FULL, 7200, 0, 0, 138, 121},
	{"full, no limit", FULL, FULL, PAYER_UNLIMITED, 0, 0, -1, -1},
	{"full machines", FULL, LEASE, PAYER_UNLIMITED, 0, 0, -1, 120},
	{"a great limit", FULL, FULL, INT64_MAX / 2, 0, 0, -1, -1},
	{"a lease", LEASE, LEASE, 36000, 0, 0, 137, 120},
	{"a lease, no limit", LEASE, LEASE, PAYER_UNLIMITED, 0, 0, 137, 120},
	{"less than a lease", LEASE, LEASE, 3600, 0, 0, 78, 61},
	{"minimum", MIN, MIN, 36000, 0, 30, 47, 30},
	{"no minimum", MIN, MIN, 36000, 0, 0, 17, 0},
	{"minimum, no limit", MIN, MIN, PAYER_UNLIMITED, 0, 30, 47, 30},
	{"a quantum", FULL, FULL, 7200, 60, 0, 180, 121},
	{"whole quanta", FULL, FULL, 7320, 70, 0, 140, 123},
	{"a longer minimum", FULL, FULL, 600, 0, 60, 60, 11},
	{"both", FULL, FULL, 600, 50, 60, 100, 11},
};

static void test_how_long(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget list[2];
		struct world w = both(list, rows[i].machines, rows[i].jobs);
		struct budget_want out[BUDGET_WANTS_MAX];
		const struct payer p = ann(rows[i].limit_s);
		struct budget_machine m = h100;

		print_message("# %s\n", rows[i].name);
		m.quantum_ms = rows[i].quantum * MINUTE;
		m.minimum_ms = rows[i].minimum * MINUTE;
		assert_int_equal(budget_wants(w.b, &p, &m, &times, T0, out), 3);
		assert_int_equal(out[0].hold.until_ms,
				 rows[i].want_machine < 0 ? INT64_MAX
							  : T0 + rows[i].want_machine * MINUTE);
		assert_int_equal(out[1].hold.until_ms,
				 rows[i].want_job < 0 ? INT64_MAX
						      : T0 + (5 + rows[i].want_job) * MINUTE);
		assert_int_equal(budget_machine_until(w.b, &p, &m, &times, T0),
				 out[0].hold.until_ms);
		world_free(&w);
	}
}

/* On a machine that is up the job's time begins now. */
static void test_on_a_machine_that_is_up(void **state)
{
	struct conf_budget list[2];
	struct world w = both(list, CONF_RESERVE_FULL, CONF_RESERVE_FULL);
	const struct payer p = ann(3600);
	struct budget_machine m = h100;
	struct budget_hold h;

	(void)state;
	m.boot_ms = 0;
	h = budget_run(w.b, &p, &m, &times, T0);
	assert_int_equal(h.from_ms, T0);
	assert_int_equal(h.until_ms, T0 + 61 * MINUTE);
	assert_int_equal(h.kind, BUDGET_RUN);
	assert_int_equal(h.rate_nano_h, 200);
	assert_int_equal(budget_machine_until(w.b, &p, &m, &times, T0), T0 + 73 * MINUTE);
	m.unmount_ms = 3 * MINUTE; /* P4: it bills while it unmounts */
	assert_int_equal(budget_machine_until(w.b, &p, &m, &times, T0), T0 + 76 * MINUTE);
	m.rate_nano_h = -1; /* not known */
	assert_int_equal(budget_run(w.b, &p, &m, &times, T0).rate_nano_h, 0);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_limit_that_ends_nothing),
		cmocka_unit_test(test_times_of_their_own),
		cmocka_unit_test(test_three_holds),
		cmocka_unit_test(test_for_nobody),
		cmocka_unit_test(test_how_long),
		cmocka_unit_test(test_on_a_machine_that_is_up),
	};

	return cmocka_run_group_tests_name("budget_job", tests, NULL, NULL);
}
