/* test_gate.c - when a job's gate opens, and how often slurmctld is asked meanwhile.
 *
 * On a bare struct engine: the clock, the timer and squeue are the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/loop.h"
#include "jobs/jobs.h"
#include "tests/unit/engine/bare_state.h"

enum { NOTHING = -1, UP = SLURM_KNOWN | SLURM_ALLOCATED, GATES_MAX = 8 };

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_pool pools[2];
	int64_t now, timer;
	unsigned squeues; /* asked */
	bool squeue;      /* one is being answered */
	unsigned moneys;  /* squeue was asked who pays */
	bool talks;       /* some srun is being told why its job ends */
	int ended[GATES_MAX];
} F;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return F.now;
}

void timer_at(struct timer *t, int64_t when_ms)
{
	(void)t;
	F.timer = when_ms;
}

void jobs_want(struct engine *e, enum jobs_for who)
{
	(void)e;
	if (who == JOBS_FOR_HOLDS) {
		F.moneys++;
		return;
	}
	assert_int_equal(who, JOBS_FOR_GATE);
	assert_false(F.squeue);
	F.squeue = true;
	F.squeues++;
}

bool jobs_coming(const struct engine *e, enum jobs_for who)
{
	(void)e;
	(void)who;
	return F.squeue;
}

bool srun_talks(struct engine *e)
{
	(void)e;
	return F.talks;
}

static int setup(void **state)
{
	(void)state;
	F = (struct fix){.now = 1000000, .timer = -1};
	bare_state(&F.e);
	F.pools[0].boot_ms = 60000;
	F.pools[1].boot_ms = 600000;
	F.conf = (struct conf){.pools = F.pools, .npools = 2};
	F.e.conf = &F.conf;
	F.e.poll.next_ms = INT64_MAX;
	fleet_init(&F.e.fleet, 2);
	for (int i = 1; i <= 4; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "c%d", i);
		fleet_name(&F.e.fleet, name, i > 3)->flags = UP;
	}
	for (int i = 0; i < GATES_MAX; i++)
		F.ended[i] = NOTHING;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gate_part.at[PART_FREE](&F.e);
	assert_null(F.e.jobs->parts[JOB_GATED]);
	job_table_part.at[PART_FREE](&F.e);
	assert_int_equal(F.e.count.gates_waiting, 0);
	assert_int_equal(F.e.jobs->gates.names, 0);
	fleet_fini(&F.e.fleet);
	return 0;
}

static void on_end(void *ctx, enum gate_end how)
{
	int *ended = ctx;

	assert_int_equal(*ended, NOTHING); /* once */
	*ended = (int)how;
}

static struct gate *gate_of(uint64_t job, int i, const char *nodes)
{
	const struct gate_ask ask = {
		.job = job, .nodes = nodes, .len = strlen(nodes), .fn = on_end, .ctx = &F.ended[i]};
	struct gate *g;

	assert_int_equal(engine_gate_open(&F.e, &ask, &g, NULL), 0);
	assert_int_equal(F.ended[i], NOTHING); /* never from inside */
	return g;
}

/* Job 10 + i, with these nodes. */
static struct gate *gate(int i, const char *nodes)
{
	return gate_of((uint64_t)(10 + i), i, nodes);
}

static void flags(const char *name, uint32_t f)
{
	fleet_find(&F.e.fleet, name)->flags = f;
}

/* A turn after a snapshot that began ms ago. */
static void snapshot(int64_t ms)
{
	F.e.poll.snapshot_ms = F.now - ms;
	gate_part.at[PART_RUN](&F.e);
}

static void squeue(const char *text)
{
	assert_true(F.squeue);
	F.squeue = false;
	if (text != NULL)
		gate_part.squeue_says(&F.e, text, strlen(text), NULL);
}

/* --- what opens it -----------------------------------------------------------------------------
 */

static void test_states(void **state)
{
	static const struct {
		uint32_t flags;
		bool up;
	} rows[] = {
		{UP, true},
		{SLURM_KNOWN | SLURM_IDLE, true},
		{UP | SLURM_CLOUD, true},
		{UP | SLURM_DRAIN, true},          /* the job will be sent back: not our business */
		{UP | SLURM_POWER_DOWN, true},     /* when its jobs are done */
		{SLURM_KNOWN | SLURM_DOWN, false}, /* the job goes back into the queue */
		{0, false},                        /* never shown */
		{UP | SLURM_POWERED_DOWN, false},
		{UP | SLURM_POWERING_UP, false},
		{UP | SLURM_POWERING_UP | SLURM_NOT_RESPONDING, false},
		{UP | SLURM_NOT_RESPONDING, false},
		{UP | SLURM_POWERING_DOWN, false},
		{SLURM_KNOWN | SLURM_UNKNOWN, false},
		{SLURM_KNOWN | SLURM_POWERED_DOWN | SLURM_VANISHED, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gate *g = gate(0, "c[1-2]");

		print_message("# %x\n", rows[i].flags);
		flags("c2", rows[i].flags);
		snapshot(0);
		assert_int_equal(F.ended[0], rows[i].up ? (int)GATE_UP : NOTHING);
		if (!rows[i].up)
			engine_gate_close(g);
		F.ended[0] = NOTHING;
		F.now += 1000;
	}
}

/* Every one of them, and each gate for itself. */
static void test_all_nodes(void **state)
{
	(void)state;
	flags("c2", UP | SLURM_POWERING_UP);
	flags("c3", UP | SLURM_POWERING_UP);
	(void)gate(0, "c[1-3],static[1-9]");
	(void)gate(1, "c1");
	(void)gate(2, "c2");
	snapshot(0);
	assert_int_equal(F.ended[1], GATE_UP);
	assert_int_equal(F.ended[0], NOTHING);
	assert_int_equal(F.ended[2], NOTHING);
	assert_int_equal(F.e.count.gates_waiting, 2);
	F.now += 250;
	flags("c2", UP);
	snapshot(0);
	assert_int_equal(F.ended[2], GATE_UP);
	assert_int_equal(F.ended[0], NOTHING);
	F.now += 250;
	flags("c3", UP);
	snapshot(0);
	assert_int_equal(F.ended[0], GATE_UP);
	assert_int_equal(F.e.count.gates_up, 3);
	assert_int_equal(F.e.count.gate_ms, 500 + 0 + 250);
}

static void test_none_of_ours(void **state)
{
	(void)state;
	assert_null(gate(0, "static[1-9]"));
	assert_int_equal(F.e.count.gates_waiting, 0);
	assert_int_equal(F.timer, -1);
}

static void test_refused(void **state)
{
	const char *const lists[] = {"", "c[1-", "c[1-3],c[", "c[1-99999999]"};
	struct gate *g;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const struct gate_ask ask = {
			.nodes = lists[i], .len = strlen(lists[i]), .fn = on_end};

		if (engine_gate_open(&F.e, &ask, &g, &e) == 0)
			assert_string_equal(lists[i], ""); /* no node, nothing to wait for */
		assert_null(g);
	}
	F.e.dead = true;
	assert_int_equal(
		engine_gate_open(&F.e, &(struct gate_ask){.nodes = "c1", .len = 2}, &g, &e), -1);
}

/* Names are few and lists are many: a list may name one node often. */
static void test_limit(void **state)
{
	enum { N = 30000 };
	struct str s;
	struct gate *g;
	struct err e;
	unsigned n = 0;
	int rc = 0;

	(void)state;
	str_init(&s, 4 * N);
	str_adds(&s, "c1");
	for (int i = 1; i < N; i++)
		str_adds(&s, ",c1");
	while (rc == 0 && n < 100) {
		const struct gate_ask ask = {.nodes = s.p, .len = s.len, .fn = on_end};

		rc = engine_gate_open(&F.e, &ask, &g, &e);
		n += rc == 0;
	}
	assert_int_equal(e.code, ERR_LIMIT);
	assert_in_range(n, 10, 99);
	gate_part.at[PART_FREE](&F.e);
	(void)gate(0, "c1"); /* all is given back */
	str_fini(&s);
}

/* A snapshot that was begun before may show the node as it was before it was powered down. */
static void test_older_snapshot_is_not_believed(void **state)
{
	(void)state;
	F.e.poll.snapshot_ms = F.now - 1;
	(void)gate(0, "c1");
	gate_part.at[PART_RUN](&F.e);
	F.now += 100;
	snapshot(101);
	assert_int_equal(F.ended[0], NOTHING);
	snapshot(100);
	assert_int_equal(F.ended[0], GATE_UP);
}

/* The whole job goes back into the queue, or will. */
static void test_refused_node(void **state)
{
	(void)state;
	flags("c1", UP | SLURM_POWERING_UP);
	flags("c2", UP | SLURM_POWERING_UP);
	(void)gate(0, "c[1-2]");
	snapshot(0);
	assert_int_equal(F.ended[0], NOTHING);
	fleet_find(&F.e.fleet, "c2")->barred = true;
	F.now += 250;
	snapshot(0);
	assert_int_equal(F.ended[0], GATE_GONE);
	assert_int_equal(F.e.count.gates_gone, 1);
}

/* --- squeue ------------------------------------------------------------------------------------
 */

#define JOB(id) id "|" id "|CONFIGURING|cloud|None|c1\n"

static void test_jobs(void **state)
{
	(void)state;
	flags("c1", UP | SLURM_POWERING_UP);
	for (int i = 0; i < 4; i++)
		(void)gate(i, "c1");
	gate_part.at[PART_RUN](&F.e);
	F.now += 10;
	(void)gate(4, "c1"); /* after squeue was asked: it may not know */
	squeue(JOB("13") "9999999999|9999999999|CONFIGURING|cloud|None|c1\n" JOB(
		"11") "10|10|RUNNING|cloud|None|c1\n"
		      "junk\n");
	assert_int_equal(F.ended[0], GATE_GONE);
	assert_int_equal(F.ended[1], NOTHING);
	assert_int_equal(F.ended[2], GATE_GONE);
	assert_int_equal(F.ended[3], NOTHING);
	assert_int_equal(F.ended[4], NOTHING);
	F.now += 2000;
	gate_part.at[PART_RUN](&F.e);
	squeue(""); /* nobody waits any more */
	assert_int_equal(F.ended[1], GATE_GONE);
	assert_int_equal(F.ended[3], GATE_GONE);
	assert_int_equal(F.ended[4], GATE_GONE);
}

/* slurmctld starts the prolog anew, while the first one still waits. */
static void test_a_job_with_two_prologs(void **state)
{
	struct gate *first;

	(void)state;
	flags("c1", UP | SLURM_POWERING_UP);
	first = gate_of(10, 0, "c1");
	(void)gate_of(10, 1, "c1");
	(void)gate_of(10, 2, "c1");
	gate_part.at[PART_RUN](&F.e);
	squeue(JOB("10"));
	assert_int_equal(F.ended[1], NOTHING);
	engine_gate_close(first);
	F.now += 2000;
	gate_part.at[PART_RUN](&F.e);
	squeue("");
	assert_int_equal(F.ended[1], GATE_GONE);
	assert_int_equal(F.ended[2], GATE_GONE);
	assert_null(F.e.jobs->parts[JOB_GATED]);
}

static void test_squeue_fails(void **state)
{
	(void)state;
	flags("c1", UP | SLURM_POWERING_UP);
	(void)gate(0, "c1");
	gate_part.at[PART_RUN](&F.e);
	squeue(NULL);
	assert_int_equal(F.ended[0], NOTHING); /* unknown is no reason */
	F.now += 2000;
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.squeues, 2);
}

/* At once, then every two seconds; every half while there is one that was not looked at; never
 * more than a quarter of the time. */
static void test_cadence_of_squeue(void **state)
{
	(void)state;
	flags("c1", UP | SLURM_POWERING_UP);
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.squeues, 0); /* nobody waits */
	(void)gate(0, "c1");
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.squeues, 1);
	gate_part.at[PART_RUN](&F.e); /* one at a time */
	squeue(JOB("10"));
	for (int i = 0; i < 399; i++, F.now += 5)
		gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.squeues, 1);
	F.now += 5;
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.squeues, 2);
	squeue(JOB("10"));
	F.now += 100;
	(void)gate(1, "c1");
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.squeues, 2);
	F.now += 400;
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.squeues, 3);
	F.now += 1000; /* squeue is slow */
	squeue(JOB("10") JOB("11"));
	F.now += 2999;
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.squeues, 3);
	F.now += 1;
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.squeues, 4);
	squeue("");
	F.now += 100000;
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.squeues, 4);
}

/* --- polls -------------------------------------------------------------------------------------
 */

static void test_cadence_of_polls(void **state)
{
	struct gate *g;

	(void)state;
	assert_int_equal(gate_poll_ms(&F.e, 30000), 30000);
	F.e.poll.began_ms = F.now - 10000;
	F.e.poll.next_ms = F.now + 20000;
	flags("c1", UP | SLURM_POWERING_UP);
	g = gate(0, "c1");
	assert_int_equal(F.timer, F.now);       /* a turn, now */
	assert_true(F.e.poll.next_ms <= F.now); /* with a poll */
	assert_int_equal(gate_poll_ms(&F.e, 30000), 250);
	F.e.poll.took_ms = 1000; /* no more than half of the time */
	assert_int_equal(gate_poll_ms(&F.e, 30000), 2000);
	assert_int_equal(gate_poll_ms(&F.e, 1000), 1000); /* and no less than without it */
	engine_gate_close(g);
	assert_int_equal(gate_poll_ms(&F.e, 30000), 30000);
	F.e.poll.began_ms = F.now - 100; /* just now: the next is soon enough */
	F.e.poll.next_ms = F.now + 900;
	(void)gate(0, "c1");
	assert_int_equal(F.e.poll.next_ms, F.now + 150);
}

static void test_boot_time(void **state)
{
	(void)state;
	assert_int_equal(engine_gate_boot_ms(gate(0, "c[1-3]")), 60000);
	assert_int_equal(engine_gate_boot_ms(gate(1, "c[1-4]")), 600000);
}

static void test_close(void **state)
{
	struct gate *a, *b, *c;

	(void)state;
	flags("c1", UP | SLURM_POWERING_UP);
	a = gate(0, "c1");
	b = gate(1, "c[1-2]");
	c = gate(2, "c1");
	F.now += 10;
	engine_gate_close(b);
	flags("c1", UP);
	snapshot(0);
	assert_int_equal(F.ended[0], GATE_UP);
	assert_int_equal(F.ended[1], NOTHING);
	assert_int_equal(F.ended[2], GATE_UP);
	(void)a;
	(void)c;
}

/* --- money ---------------------------------------------------------------------------------------
 */

static void with_budgets(void)
{
	static int zone;

	F.conf.nbudgets = 1;
	F.e.d.report_zone = (const struct zone *)(const void *)&zone; /* there is one */
}

/* P4: a job on nodes that are up waits until there is money for it. */
static void test_money_comes_first(void **state)
{
	(void)state;
	with_budgets();
	(void)gate_of(10, 0, "c1");
	(void)gate_of(10, 1, "c1");
	assert_int_equal(F.moneys, 1); /* who pays is asked at once, and once for a job */
	assert_true(gate_asks(&F.e, 10));
	assert_false(gate_asks(&F.e, 11));
	snapshot(0);
	assert_int_equal(F.ended[0], NOTHING);
	gate_paid(&F.e, 11);
	assert_int_equal(F.ended[0], NOTHING);
	gate_paid(&F.e, 10); /* all nodes are up since the snapshot: it need not wait for another */
	assert_int_equal(F.ended[0], GATE_UP);
	assert_int_equal(F.ended[1], GATE_UP);
	assert_false(gate_asks(&F.e, 10));
	gate_paid(&F.e, 10);
}

static void test_paid_before_its_nodes_are_up(void **state)
{
	(void)state;
	with_budgets();
	flags("c1", UP | SLURM_POWERING_UP);
	(void)gate(0, "c1");
	gate_paid(&F.e, 10);
	snapshot(0);
	assert_int_equal(F.ended[0], NOTHING);
	flags("c1", UP);
	F.now += 250;
	snapshot(0);
	assert_int_equal(F.ended[0], GATE_UP);
}

/* Its srun hears why before the job ends, but the job does not wait for that for ever. */
static void test_no_money(void **state)
{
	(void)state;
	with_budgets();
	(void)gate(0, "c1");
	(void)gate(1, "c1");
	F.talks = true;
	gate_unpaid(&F.e, 10);
	gate_paid(&F.e, 10); /* it is decided */
	snapshot(0);
	assert_int_equal(F.ended[0], NOTHING);
	assert_int_equal(gate_part.next_ms(&F.e), F.now + 2000);
	F.now += 2000;
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.ended[0], GATE_UNPAID);
	assert_int_equal(F.e.count.gates_gone, 1);
	assert_true(gate_part.next_ms(&F.e) == INT64_MAX);
	F.talks = false;
	gate_unpaid(&F.e, 11);
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.ended[1], GATE_UNPAID);
	gate_unpaid(&F.e, 12); /* no gate */
}

/* An answer of squeue that is older than the job decides nothing: it is asked again. */
static void test_money_is_asked_for_again(void **state)
{
	(void)state;
	with_budgets();
	(void)gate(0, "c1");
	F.now += 3000;
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.moneys, 2);
	squeue("10|10|CONFIGURING|p|None|c1\n");
	gate_paid(&F.e, 10);
	snapshot(0);
	assert_int_equal(F.ended[0], GATE_UP);
}

/* A reload without budgets: nobody will say that there is money, and the job starts all the same.
 */
static void test_budgets_that_are_removed(void **state)
{
	(void)state;
	with_budgets();
	(void)gate(0, "c1");
	(void)gate(1, "c[1-2]");
	(void)gate(2, "c3");
	F.talks = true;
	gate_unpaid(&F.e, 12);
	snapshot(0);
	gate_part.at[PART_RELOAD](&F.e); /* there are some still */
	assert_int_equal(F.ended[0], NOTHING);
	F.conf.nbudgets = 0;
	gate_part.at[PART_RELOAD](&F.e);
	assert_int_equal(F.ended[0], GATE_UP);
	assert_int_equal(F.ended[1], GATE_UP);
	assert_int_equal(F.ended[2], NOTHING); /* it is told to wait already */
	F.talks = false;
	gate_part.at[PART_RUN](&F.e);
	assert_int_equal(F.ended[2], GATE_UNPAID);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_states),
		T(test_all_nodes),
		T(test_none_of_ours),
		T(test_refused),
		T(test_limit),
		T(test_older_snapshot_is_not_believed),
		T(test_refused_node),
		T(test_jobs),
		T(test_a_job_with_two_prologs),
		T(test_squeue_fails),
		T(test_cadence_of_squeue),
		T(test_cadence_of_polls),
		T(test_boot_time),
		T(test_close),
		T(test_money_comes_first),
		T(test_paid_before_its_nodes_are_up),
		T(test_no_money),
		T(test_money_is_asked_for_again),
		T(test_budgets_that_are_removed),
	};
#undef T

	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
