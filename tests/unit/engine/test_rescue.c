/* test_rescue.c - the jobs of a node that must go down are written down first, and followed until
 * slurmctld shows what became of them (I16, I17).
 *
 * On a bare struct engine: the clock, the journal and slurmctld are the test's. */
#include "bare_engine.h"

static struct fix {
	struct engine e;
	char events[800]; /* all, one a line */
	char story[400];  /* commits and orders to slurmctld, in order */
	char comment[300];
	unsigned wanted; /* times that squeue was asked for */
	struct journal_rescue put;
	uint64_t del;
	bool disk_fails;
} F;

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	add(F.events, sizeof(F.events), node, " ", type);
	add(F.events, sizeof(F.events), ": ", detail, "\n");
}

void engine_commit(struct engine *e)
{
	e->dead = F.disk_fails;
	add(F.story, sizeof(F.story), "commit ", "", "");
}

void journal_put_rescue(struct journal_tx *tx, const struct journal_rescue *r)
{
	(void)tx;
	F.put = *r;
	add(F.story, sizeof(F.story), "put ", r->id, " ");
}

void journal_del_rescue(struct journal_tx *tx, uint64_t job)
{
	(void)tx;
	F.del = job;
}

void jobs_want(struct engine *e, enum jobs_for who)
{
	(void)e;
	assert_int_equal(who, JOBS_FOR_RESCUE);
	F.wanted++;
}

void slurm_power_down(struct slurm *s, const char *node, const char *addr, bool dead,
		      const char *reason)
{
	(void)s;
	(void)addr;
	(void)reason;
	add(F.story, sizeof(F.story), dead ? "down " : "force ", node, " ");
}

void slurm_postpone(struct slurm *s, const char *job, int64_t wait_ms, const char *comment)
{
	(void)s;
	assert_int_equal(wait_ms, 0);
	(void)snprintf(F.comment, sizeof(F.comment), "%s <- %s", job, comment);
}

static struct fleet_name *node(const char *name)
{
	return fleet_name(&F.e.fleet, name, 0);
}

/* c1 to c4 are up, on generation 3. */
static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN, .question = SLURM_FATES};
	memset(&F, 0, sizeof(F));
	fleet_init(&F.e.fleet, 1);
	map_init(&F.e.rescues_map);
	for (int i = 1; i <= 4; i++) {
		char name[16];
		struct node n;

		(void)snprintf(name, sizeof(name), "c%d", i);
		node(name)->flags = SLURM_KNOWN | SLURM_ALLOCATED;
		node_init(&n, name, 3, BEGAN);
		(void)fleet_add(&F.e.fleet, &n);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rescue_free(&F.e);
	fleet_fini(&F.e.fleet);
	return 0;
}

static void squeue(const char *text)
{
	rescue_jobs(&F.e, text, strlen(text), NULL);
}

/* Time passes until the jobs are looked at; then slurmctld says this of them. */
static void shows(const char *text)
{
	W.now = rescue_next_ms(&F.e);
	assert_true(W.now != INT64_MAX);
	W.asked[0] = '\0';
	rescue_run(&F.e);
	assert_string_not_equal(W.asked, "");
	rescue_fates(&F.e, text, strlen(text), NULL);
}

static void take_c1(void)
{
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	F.events[0] = '\0';
}

#define DETAIL(state, priority, start) detail("107", state, priority, start, "(null)")

static void test_jobs_are_written_down_before_the_node_goes(void **state)
{
	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	rescue_node(&F.e, node("c3"), true, "burstd: dead");
	rescue_node(&F.e, node("c3"), false, "burstd: dead still"); /* once is enough */
	assert_string_equal(F.story, "");
	assert_int_equal(F.wanted, 2);
	rescue_run(&F.e);
	assert_string_equal(F.story, "");
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n"
	       "8|8|RUNNING|p|None|c4\n"
	       "9|9|CONFIGURING|p|None|c[1-2]\n"
	       "10|10|RUNNING|p|None|c[\n");
	assert_string_equal(F.story, "put 7_2 commit down c3 force c1 ");
	assert_int_equal(F.put.job, 107);
	assert_string_equal(F.put.node, "c1");
	assert_int_equal(F.put.gen, 3);
	assert_int_equal(F.put.at_ms, BEGAN);
	assert_string_equal(F.put.why, "spot is over");
	assert_string_equal(F.events, "c1 job-taken: job 7_2 loses this node: spot is over\n");
	assert_int_equal(F.e.count.jobs_taken, 1);
	assert_null(node("c1")->doomed);
}

/* F55: what is not durable is not done. */
static void test_nothing_is_done_when_the_disk_fails(void **state)
{
	(void)state;
	F.disk_fails = true;
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	squeue("107|7|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "put 7 commit ");
}

static void test_a_node_without_jobs_goes_at_once(void **state)
{
	static const uint32_t flags[] = {0, SLURM_KNOWN | SLURM_POWERING_UP,
					 SLURM_KNOWN | SLURM_POWERED_DOWN,
					 SLURM_KNOWN | SLURM_POWERING_DOWN};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		F.story[0] = '\0';
		node("c1")->flags = flags[i];
		rescue_node(&F.e, node("c1"), false, "burstd: x");
		assert_string_equal(F.story, "force c1 ");
	}
	assert_int_equal(F.wanted, 0);
}

/* F48: the fence never waits for long. */
static void test_squeue_is_not_waited_for_for_ever(void **state)
{
	struct err err;

	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	(void)err_set(&err, ERR_NET, "no");
	rescue_jobs(&F.e, NULL, 0, &err);
	assert_int_equal(F.wanted, 2); /* asked again */
	assert_string_equal(F.story, "");
	W.now = rescue_next_ms(&F.e);
	assert_in_range(W.now, BEGAN + 1, BEGAN + 2000);
	rescue_run(&F.e);
	assert_string_equal(F.story, "force c1 ");
	rescue_jobs(&F.e, NULL, 0, &err);
	assert_int_equal(F.wanted, 2); /* nobody waits for it now */
	squeue("107|7|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "force c1 ");
}

static void test_a_requeued_job(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("COMPLETING", "5", "1799999000"));
	assert_string_equal(W.asked, "7_2");
	assert_string_equal(F.events, ""); /* not yet */
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2: it was requeued\n");
	assert_string_equal(F.comment,
			    "7_2 <- burstd: lost node c1: spot is over; it was requeued");
	assert_int_equal(F.del, 107);
	assert_int_equal(F.e.count.jobs_requeued, 1);
	assert_true(rescue_next_ms(&F.e) == INT64_MAX);
}

static void test_a_requeued_job_that_runs_again_already(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("RUNNING", "5", "1800000006"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2: it was requeued\n");
	assert_string_equal(F.comment, ""); /* it has what it wants */
}

/* I19 */
static void test_a_job_that_is_held_is_said_to_be(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("PENDING", "0", "Unknown"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2: it was requeued, and is held\n");
}

static void test_a_job_that_cannot_be_requeued_is_told(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("NODE_FAIL", "5", "1799999000"));
	assert_string_equal(F.events,
			    "c1 job-ended: job 7_2: it ended as NODE_FAIL and was not requeued\n");
	assert_string_equal(F.comment, ""); /* slurmctld takes none any more */
	assert_int_equal(F.e.count.jobs_ended, 1);
}

static void test_a_job_that_was_done_anyway(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("COMPLETED", "5", "1799999000"));
	assert_string_equal(F.events, "c1 job-ended: job 7_2: it ended as COMPLETED\n");
	assert_string_equal(F.comment, "");
}

static void test_a_job_that_slurmctld_has_forgotten(void **state)
{
	struct err err;

	(void)state;
	take_c1();
	W.now = rescue_next_ms(&F.e);
	rescue_run(&F.e);
	(void)err_set(&err, ERR_NET, "no");
	rescue_fates(&F.e, NULL, 0, &err);
	assert_string_equal(F.events, ""); /* no answer says nothing */
	shows(detail("8", "RUNNING", "5", "1", "(null)"));
	assert_string_equal(F.events, "c1 job-ended: job 7_2: slurmctld has forgotten it\n");
}

/* --no-kill, or a slurmctld that hangs (slurm.md 2.2). */
static void test_a_job_that_still_runs(void **state)
{
	(void)state;
	take_c1();
	for (int i = 0; i < 40; i++) {
		shows(DETAIL("RUNNING", "5", "1799999000"));
		F.e.snapshot_ms = W.now;
	}
	assert_string_equal(F.events, "c1 job-stuck: slurmctld still has a job on it\n");
	node("c1")->flags = SLURM_KNOWN | SLURM_POWERED_DOWN;
	F.events[0] = '\0';
	shows(DETAIL("RUNNING", "5", "1799999000"));
	assert_string_equal(F.events, "c1 job-goes-on: job 7_2: it runs on without that node\n");
	assert_true(rescue_next_ms(&F.e) == INT64_MAX);
}

/* I16, F57: after a restart, whatever the clock says. */
static void test_jobs_are_followed_after_a_restart(void **state)
{
	const struct journal_rescue row = {.job = 107,
					   .id = "7_2",
					   .node = "c1",
					   .gen = 3,
					   .at_ms = BEGAN + 1000000,
					   .why = "spot is over"};

	(void)state;
	rescue_load(&F.e, &row);
	shows(DETAIL("RUNNING", "5", "1800000006"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2: it was requeued\n");
}

static void test_not_asked_while_slurmctld_is_being_told(void **state)
{
	(void)state;
	take_c1();
	W.settled_ms = INT64_MAX;
	W.now = rescue_next_ms(&F.e);
	rescue_run(&F.e);
	assert_string_equal(W.asked, "");
}

/* It was requeued, and loses its next node before anybody looked. */
static void test_a_job_taken_twice(void **state)
{
	(void)state;
	take_c1();
	W.now += 500;
	rescue_node(&F.e, node("c3"), false, "burstd: again");
	squeue("107|7_2|RUNNING|p|None|c[3-4]\n");
	assert_string_equal(F.put.node, "c3");
	assert_int_equal(F.put.at_ms, BEGAN + 500);
	F.events[0] = '\0';
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.events, "c3 job-requeued: job 7_2: it was requeued\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_jobs_are_written_down_before_the_node_goes),
		TEST(test_nothing_is_done_when_the_disk_fails),
		TEST(test_a_node_without_jobs_goes_at_once),
		TEST(test_squeue_is_not_waited_for_for_ever),
		TEST(test_a_requeued_job),
		TEST(test_a_requeued_job_that_runs_again_already),
		TEST(test_a_job_that_is_held_is_said_to_be),
		TEST(test_a_job_that_cannot_be_requeued_is_told),
		TEST(test_a_job_that_was_done_anyway),
		TEST(test_a_job_that_slurmctld_has_forgotten),
		TEST(test_a_job_that_still_runs),
		TEST(test_jobs_are_followed_after_a_restart),
		TEST(test_not_asked_while_slurmctld_is_being_told),
		TEST(test_a_job_taken_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
