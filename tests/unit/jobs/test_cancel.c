/* test_cancel.c - F53: when a node that boots for a job that has ended is sent back.
 *
 * On a bare struct engine: the clock and squeue are the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "jobs/jobs.h"
#include "tests/unit/engine/bare_state.h"

static struct fix {
	struct engine e;
	struct fleet_name *nm;
	int64_t now;
	unsigned wanted; /* squeues */
	char forced[16], why[64];
} F;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return F.now;
}

void jobs_want(struct engine *e, enum jobs_for who)
{
	(void)e;
	assert_int_equal(who, JOBS_FOR_CANCEL);
	F.wanted++;
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	assert_string_equal(node, "c1");
	assert_string_equal(type, "cancelled");
	assert_string_equal(detail, "the job it boots for has ended");
}

void rescue_power_down(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	(void)e;
	assert_false(dead);
	(void)snprintf(F.forced, sizeof(F.forced), "%.15s", nm->name);
	(void)snprintf(F.why, sizeof(F.why), "%.63s", why);
}

/* c1 boots, bought for job 7. */
static int setup(void **state)
{
	struct node n;

	(void)state;
	F = (struct fix){.now = 1000000};
	bare_state(&F.e);
	fleet_init(&F.e.fleet, 1);
	job_table_part.at[PART_INIT](&F.e);
	str_init(&F.e.jobs->cancel_waiting, ENGINE_PARTITIONS_MAX);
	F.nm = fleet_name(&F.e.fleet, "c1", 0);
	node_init(&n, "c1", 1, F.now);
	n.state = NODE_BOOTING;
	n.job = 7;
	(void)fleet_add(&F.e.fleet, &n);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_null(F.e.jobs->parts[JOB_BOOKED]);
	job_table_part.at[PART_FREE](&F.e);
	str_fini(&F.e.jobs->cancel_waiting);
	fleet_fini(&F.e.fleet);
	return 0;
}

enum {
	IDLE = SLURM_KNOWN | SLURM_CLOUD | SLURM_POWERING_UP | SLURM_IDLE,
	BUSY = SLURM_KNOWN | SLURM_CLOUD | SLURM_POWERING_UP | SLURM_ALLOCATED,
};

/* A snapshot comes in that began ms ago. */
static void snapshot(uint32_t flags, int64_t ms)
{
	static const char partitions[] = "gpu,all";
	struct slurm_node sn = {.flags = flags, .partitions = {partitions, sizeof(partitions) - 1}};

	cancel_look(&F.e, F.nm, &sn, F.now - ms);
}

/* squeue was asked, and a second later answers. */
static void squeue(const char *text)
{
	F.e.jobs->cancel_asked_ms = F.now;
	F.now += 1000;
	cancel_part.squeue_says(&F.e, text, strlen(text), NULL);
	F.now += 1000;
}

static const char *forced(void)
{
	return F.forced[0] != '\0' ? F.forced : "none";
}

static void test_sent_back(void **state)
{
	(void)state;
	snapshot(IDLE, 10);
	assert_int_equal(F.wanted, 1);
	assert_string_equal(forced(), "none");
	squeue("");
	snapshot(IDLE, 10);
	assert_string_equal(forced(), "c1");
	assert_string_equal(F.why, "burstd: the job it boots for has ended");
	F.forced[0] = '\0'; /* if that fails, all jobs are looked at before it is tried again */
	snapshot(IDLE, 10);
	assert_string_equal(forced(), "none");
}

/* It would be bought again at once. */
static void test_one_that_its_pool_keeps_warm_is_not_sent_back(void **state)
{
	(void)state;
	F.nm->warm = true;
	snapshot(IDLE, 10);
	assert_int_equal(F.wanted, 0);
	F.nm->warm = false;
	snapshot(IDLE, 10);
	squeue("");
	F.nm->warm = true;
	snapshot(IDLE, 10);
	assert_string_equal(forced(), "none");
	F.nm->warm = false; /* and then all jobs are looked at again */
	snapshot(IDLE, 10);
	assert_string_equal(forced(), "none");
	squeue("");
	snapshot(IDLE, 10);
	assert_string_equal(forced(), "c1");
}

static void test_spared(void **state)
{
	static const struct {
		const char *what, *jobs;
		bool spared;
	} rows[] = {
		{"its job waits for a later time", "7|7|PENDING|gpu|BeginTime|\n", true},
		{"its job has it", "7|7|CONFIGURING|gpu||c1\n", true},
		{"a job could start in one of its partitions", "8|8|PENDING|all|Resources|\n",
		 true},
		{"a job could start in one of two", "8|8|PENDING|cpu,gpu|Priority|\n", true},
		{"one in two, of which another waits for one",
		 "8|8|PENDING|cpu|Resources|\n9|9|PENDING|cpu,gpu|Priority|\n", true},
		{"a job could start elsewhere", "8|8|PENDING|cpu|Resources|\n", false},
		{"a held job", "8|8|PENDING|gpu|JobHeldUser|\n", false},
		{"a job that waits for another", "8|8|PENDING|gpu|Dependency|\n", false},
		{"another job runs", "8|8|RUNNING|gpu||c2\n", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		F.forced[0] = '\0';
		snapshot(IDLE, 10);
		squeue(rows[i].jobs);
		snapshot(IDLE, 10);
		if (strcmp(forced(), rows[i].spared ? "none" : "c1") != 0)
			fail_msg("%s", rows[i].what);
		F.now += 60000;
	}
}

/* slurmctld gave it to another job after squeue had been asked. */
static void test_used_again(void **state)
{
	(void)state;
	snapshot(IDLE, 10);
	squeue("");
	snapshot(BUSY, 10);
	assert_string_equal(forced(), "none");
	snapshot(IDLE, 10); /* that job is over as well: all is asked anew */
	assert_string_equal(forced(), "none");
}

/* A snapshot that was on its way when squeue answered says nothing, and forgets nothing: with many
 * nodes there is always one on its way. */
static void test_older_snapshot(void **state)
{
	(void)state;
	snapshot(IDLE, 10);
	squeue("");
	snapshot(IDLE, 1500);
	assert_string_equal(forced(), "none");
	snapshot(IDLE, 10);
	assert_string_equal(forced(), "c1");
}

static void test_left_alone(void **state)
{
	static const struct {
		enum node_state state;
		uint64_t job;
	} rows[] = {{NODE_BOOTING, 0}, {NODE_READY, 7}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct node n = F.nm->newest->n;

		n.state = rows[i].state;
		n.job = rows[i].job;
		fleet_set(&F.e.fleet, F.nm->newest, &n);
		snapshot(IDLE, 10);
		squeue("");
		snapshot(IDLE, 10);
		assert_int_equal(F.wanted, 0);
		assert_string_equal(forced(), "none");
	}
}

/* It waited for room in its pool, and its job ended meanwhile. */
static void test_never_bought(void **state)
{
	struct node n = F.nm->newest->n;

	(void)state;
	n.state = NODE_GONE;
	fleet_set(&F.e.fleet, F.nm->newest, &n);
	snapshot(IDLE, 10);
	assert_int_equal(F.wanted, 0); /* an admin's POWER_UP, perhaps */
	F.nm->waits_for = 9;
	F.nm->waits_ms = F.now;
	snapshot(IDLE, 10);
	squeue("9|9|PENDING|gpu|BeginTime|\n");
	snapshot(IDLE, 10);
	assert_string_equal(forced(), "none");
	F.now += 60000;
	snapshot(IDLE, 10);
	squeue("");
	snapshot(IDLE, 10);
	assert_string_equal(forced(), "c1");
}

/* It was told to power down, and slurmctld has answered. */
static void answered(const char *verb, bool ok)
{
	const struct slurm_order o = {.verb = verb, .names = "b1,c1", .reason = "", .what = ""};

	F.now += 1000;
	cancel_told(&F.e, &o, ok);
}

/* slurmctld powered it down, and up again for no job, and no snapshot came in between: what it was
 * bought for says nothing any more. */
static void test_up_again_for_no_job(void **state)
{
	static const struct {
		const char *what, *verb;
		bool ok, spared;
		int64_t wanted_ms; /* after the order */
	} rows[] = {
		{"powered down since", "power-down", true, true, -1},
		{"it was not", "power-down", false, false, -1},
		{"not by that order", "down", true, false, -1},
		{"bought while the order was on its way", "power-down", true, false, 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node n;

		assert_int_equal(setup(state), 0);
		n = F.nm->newest->n;
		snapshot(IDLE, 10);
		squeue("");
		snapshot(IDLE, 10);
		assert_string_equal(forced(), "c1");
		F.forced[0] = '\0';
		F.nm->forced_ms = F.now;
		n.wanted_ms = F.now + rows[i].wanted_ms;
		fleet_set(&F.e.fleet, F.nm->newest, &n);
		answered(rows[i].verb, rows[i].ok);
		F.now += 60000;
		snapshot(IDLE, 10);
		squeue("");
		snapshot(IDLE, 10);
		if (strcmp(forced(), rows[i].spared ? "none" : "c1") != 0)
			fail_msg("%s", rows[i].what);
		assert_int_equal(teardown(state), 0);
	}
}

/* One order was carried out and the next one was not: it still boots. */
static void test_the_last_order_counts(void **state)
{
	(void)state;
	F.nm->forced_ms = F.now;
	answered("power-down", true);
	assert_true(F.nm->obeyed_ms == F.now - 1000);
	F.nm->forced_ms = F.now;
	answered("power-down", false);
	assert_true(F.nm->obeyed_ms == 0);
}

/* A place refused it, and its job went back into the queue before another was tried. */
static void test_never_bought_and_its_job_waits(void **state)
{
	static const char jobs[] = "7|7|PENDING|gpu|Resources|\n";
	struct node n = F.nm->newest->n;

	(void)state;
	n.state = NODE_GONE;
	fleet_set(&F.e.fleet, F.nm->newest, &n);
	F.nm->waits_for = 7;
	F.nm->waits_ms = F.now;
	snapshot(IDLE, 10);
	squeue(jobs);
	snapshot(IDLE, 10);
	assert_string_equal(forced(), "none"); /* the job may be about to start there */
	F.now += 30000;
	snapshot(BUSY, 10);
	squeue(jobs);
	snapshot(BUSY, 10);
	assert_string_equal(forced(), "none"); /* it did */
	snapshot(IDLE, 10);
	squeue(jobs);
	assert_string_equal(forced(), "none");
	snapshot(IDLE, 10);
	assert_string_equal(forced(), "c1");
}

/* All jobs may be many: they are asked for every few seconds at most. */
static void test_not_too_often(void **state)
{
	(void)state;
	snapshot(IDLE, 10);
	squeue("7|7|PENDING|gpu|BeginTime|\n");
	snapshot(IDLE, 10);
	assert_int_equal(F.wanted, 1);
	F.now += 4000;
	snapshot(IDLE, 10);
	assert_int_equal(F.wanted, 2);
}

/* More partitions than we can hold: nothing is touched. */
static void test_too_many_partitions(void **state)
{
	struct str jobs;

	(void)state;
	str_init(&jobs, 1 << 20);
	for (int i = 0; i < 10000; i++)
		str_addf(&jobs, "%d|%d|PENDING|partition%d|Resources|\n", i + 100, i + 100, i);
	snapshot(IDLE, 10);
	squeue(jobs.p);
	snapshot(IDLE, 10);
	assert_string_equal(forced(), "none");
	str_fini(&jobs);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sent_back),
		TEST(test_spared),
		TEST(test_one_that_its_pool_keeps_warm_is_not_sent_back),
		TEST(test_used_again),
		TEST(test_older_snapshot),
		TEST(test_left_alone),
		TEST(test_never_bought),
		TEST(test_never_bought_and_its_job_waits),
		cmocka_unit_test(test_up_again_for_no_job),
		TEST(test_the_last_order_counts),
		TEST(test_not_too_often),
		TEST(test_too_many_partitions),
	};

	return cmocka_run_group_tests_name("cancel", tests, NULL, NULL);
}
