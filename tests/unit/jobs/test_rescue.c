/* test_rescue.c - the jobs of a node that must go down are written down first, and followed until
 * slurmctld shows what became of them (I16, I17). */
#include "jobs/jobs.h"
#include "taken_jobs.h"

static void test_jobs_are_written_down_before_the_node_goes(void **state)
{
	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	rescue_node(&F.e, node("c3"), true, "burstd: dead");
	rescue_node(&F.e, node("c3"), false, "burstd: dead still"); /* once is enough */
	assert_string_equal(F.story, "");
	assert_int_equal(F.wanted, 2);
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "");
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n"
	       "8|8|RUNNING|p|None|c4\n"
	       "9|9|PENDING|p|None|\n"
	       "10|10|RUNNING|p|None|c[\n");
	assert_string_equal(F.story, "put 7_2 commit down c3 force c1 ");
	assert_int_equal(F.put.job, 107);
	assert_string_equal(F.put.node, "c1");
	assert_int_equal(F.put.gen, 3);
	assert_int_equal(F.put.at_ms, BEGAN);
	assert_string_equal(F.put.why, "spot is over");
	assert_string_equal(F.events,
			    "c1 job-taken: job 7_2 (job 107) loses this node: spot is over\n");
	assert_string_equal(F.heard, "107 burstd: the job loses node c1: spot is over\n");
	assert_int_equal(F.heard_at, strlen("put 7_2 ")); /* before any order that follows */
	assert_int_equal(F.e.count.jobs_taken, 1);
	assert_null(node("c1")->lookup);
}

/* I16: slurmctld must not wait for one that nobody will hear from again.  A release that would lose
 * the GPUs of what it requeues is never given the chance, where the machine may go meanwhile. */
static void test_who_is_dead_is_set_down(void **state)
{
	static const struct {
		bool dead, drains, loses;
		const char *story;
	} rows[] = {
		{false, false, false, "force c1 "}, {true, false, false, "down c1 "},
		{false, true, false, "force c1 "},  {false, false, true, "force c1 "},
		{false, true, true, "down c1 "},
	};

	(void)state;
	node("c1")->flags = 0; /* it has no jobs */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		F.story[0] = '\0';
		F.loses_requeued = rows[i].loses;
		node("c1")->newest->n.state = rows[i].drains ? NODE_DRAINING : NODE_READY;
		node("c1")->forced_ms = 0;
		rescue_power_down(&F.e, node("c1"), rows[i].dead, "burstd: why");
		assert_string_equal(F.story, rows[i].story);
		assert_int_equal(node("c1")->forced_ms, BEGAN);
		assert_string_equal(node("c1")->told, "why");
	}
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

/* An order for a node that is still being made: its srun or salloc hears it before it ends. */
static void test_a_job_whose_node_is_being_made_is_told(void **state)
{
	static const struct {
		enum node_state state;
		uint32_t flags;
		bool barred;
		const char *heard;
	} rows[] = {
		{NODE_WANTED, SLURM_POWERING_UP, false, "7"},
		{NODE_CREATING, SLURM_POWERING_UP, false, "7"},
		{NODE_INDOUBT, SLURM_POWERING_UP, false, "7"},
		{NODE_GONE, SLURM_POWERING_UP, false, "8"},   /* it is to be bought once more */
		{NODE_CREATING, SLURM_POWERING_UP, true, ""}, /* refuse.c has told it */
		{NODE_CREATING, SLURM_POWERED_DOWN, false, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[100] = "";

		F.story[0] = F.heard[0] = '\0';
		becomes("c1", rows[i].state);
		node("c1")->newest->n.job = 7;
		node("c1")->waits_for = 8;
		node("c1")->flags = SLURM_KNOWN | rows[i].flags;
		node("c1")->barred = rows[i].barred;
		rescue_node(&F.e, node("c1"), false, ENGINE_WHY_TERMINATED);
		if (rows[i].heard[0] != '\0')
			add(want, sizeof(want), rows[i].heard,
			    " burstd: the job loses node c1: terminated by an admin", "\n");
		assert_string_equal(F.heard, want);
		assert_int_equal(F.heard_at, 0); /* before the order */
		assert_string_equal(F.story, "force c1 ");
	}
}

/* It may have come up since the last snapshot, and have begun a job. */
static void test_of_one_that_boots_squeue_is_asked(void **state)
{
	(void)state;
	node("c1")->flags = SLURM_KNOWN | SLURM_POWERING_UP;
	becomes("c1", NODE_BOOTING);
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	assert_string_equal(F.story, "");
	squeue("107|7_2|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "put 7_2 commit force c1 ");
	F.story[0] = '\0';
	node("c1")->barred = true; /* squeue was asked already */
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	assert_string_equal(F.story, "force c1 ");
}

/* One that an admin drained, and whose reason is the admin's. */
static void test_an_admins_reason_stays(void **state)
{
	static const struct {
		bool by_admin, dead;
		const char *why, *told;
	} rows[] = {
		{false, false, "burstd: x", "burstd: x"},
		{true, false, "burstd: x", ""},
		{true, true, "burstd: x", "burstd: x"}, /* slurmctld wants one for what is down */
		{true, false, ENGINE_WHY_TERMINATED, ENGINE_WHY_TERMINATED},
	};

	(void)state;
	node("c1")->flags = SLURM_KNOWN | SLURM_POWERING_UP;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		node("c1")->by_admin = rows[i].by_admin;
		rescue_node(&F.e, node("c1"), rows[i].dead, rows[i].why);
		assert_string_equal(F.reason, rows[i].told);
	}
}

static void squeue_fails(void)
{
	struct err err;

	(void)err_set(&err, ERR_NET, "no");
	F.e.jobs->runs++;
	rescue_jobs(&F.e, NULL, 0, &err);
}

/* Time passes until squeue is asked once more, or the node goes. */
static void passes(void)
{
	W.now = rescue_part.next_ms(&F.e);
	assert_true(W.now != INT64_MAX);
	rescue_part.at[PART_RUN](&F.e);
}

/* F48: neither the fence nor the order waits for squeue for long; and nobody is lost for that. */
static void test_squeue_is_not_waited_for_for_ever(void **state)
{
	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	squeue_fails();
	assert_int_equal(F.wanted, 1); /* not as fast as it fails */
	passes();
	assert_int_equal(F.wanted, 2);
	assert_string_equal(F.story, "");
	while (F.story[0] == '\0')
		passes();
	assert_in_range(W.now, BEGAN + 1, BEGAN + 2000);
	assert_string_equal(F.story, "force c1 ");
	assert_string_equal(
		F.events,
		"c1 jobs-unknown: squeue did not show in time which jobs run on it; asked again\n");
	squeue_fails();
	passes();
	assert_string_equal(F.story, "force c1 "); /* once */
	squeue("107|7|COMPLETING|p|None|c1\n8|8|RUNNING|p|None|c4\n");
	assert_string_equal(F.story, "force c1 put 7 commit ");
	assert_int_equal(F.put.at_ms, BEGAN);
	assert_non_null(strstr(F.events, "c1 job-taken: job 7 (job 107) loses this node: x\n"));
	assert_null(node("c1")->lookup);
	F.events[0] = '\0';
	/* Meanwhile it may have been requeued and have begun anew. */
	shows(detail("107", "RUNNING", "5", "1800000001", "(null)"));
	assert_string_equal(F.events, "c1 job-requeued: job 7 (job 107): it was requeued\n");
}

/* P3: nor did slurmctld: a job that began there since was not requeued. */
static void test_a_job_that_began_before_the_order_was_heard_is_not_requeued(void **state)
{
	(void)state;
	for (int unheard = 0; unheard < 2; unheard++) {
		F.story[0] = F.events[0] = '\0';
		W.now = BEGAN;
		rescue_node(&F.e, node("c1"), false, "burstd: x");
		W.now += 2000;
		rescue_part.at[PART_RUN](&F.e);
		assert_string_equal(F.story, "force c1 ");
		node("c1")->unheard = unheard;
		W.now += 10000;
		squeue("107|7|RUNNING|p|None|c1\n");
		assert_int_equal(F.put.at_ms, unheard ? BEGAN + 12000 : BEGAN);
		F.events[0] = '\0';
		shows(detail("107", "RUNNING", "5", "1800000005", "(null)"));
		assert_string_equal(
			F.events,
			unheard ? "" : "c1 job-requeued: job 7 (job 107): it was requeued\n");
	}
}

/* P3: slurmctld has powered it down, and has it for another job by the time squeue answers. */
static void test_a_job_that_got_the_node_after_the_order_loses_nothing(void **state)
{
	static const struct {
		const char *squeue;
		bool obeyed, taken;
	} rows[] = {
		{"107|7|CONFIGURING|p|None|c1\n", true, false},
		{"107|7|RUNNING|p|None|c1\n", true, false},
		{"107|7|COMPLETING|p|None|c1\n", true, true},
		{"107|7|RUNNING|p|None|c1\n", false, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		teardown(state);
		setup(state);
		rescue_node(&F.e, node("c1"), false, "burstd: x");
		passes();
		assert_string_equal(F.story, "force c1 ");
		squeue_fails(); /* it was asked before */
		node("c1")->obeyed_ms = rows[i].obeyed ? BEGAN : BEGAN - 1;
		passes();
		squeue(rows[i].squeue);
		assert_int_equal(strstr(F.events, "job-taken") != NULL, rows[i].taken);
		assert_null(node("c1")->lookup);
	}
}

/* What it said before slurmctld answered is of the jobs that lose it. */
static void test_an_answer_of_before_the_order_shows_who_lost_the_node(void **state)
{
	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	passes();
	node("c1")->obeyed_ms = BEGAN;
	squeue("107|7|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "force c1 put 7 commit ");
}

/* slurmctld did not answer the first order: the next look gives it again, and asks first. */
static void test_a_node_whose_order_was_lost_is_told_once_more(void **state)
{
	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	W.now += 2000;
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "force c1 ");
	W.now += 10000;
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	squeue("107|7|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "force c1 put 7 commit force c1 ");
	assert_null(node("c1")->lookup);
}

/* A job could start there until slurmctld has drained the node: what squeue said before that
 * settles nothing. */
static void test_squeue_is_asked_once_the_node_is_fenced(void **state)
{
	(void)state;
	F.e.jobs->runs = 1; /* one is on the wire, for somebody else */
	node("c1")->fencing = true;
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	rescue_node(&F.e, node("c3"), false, "burstd: y");
	assert_int_equal(F.wanted, 1); /* for c3 */
	rescue_jobs(&F.e, "", 0, NULL);
	assert_string_equal(F.story, "commit "); /* that one was begun before */
	squeue("9|9|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "commit commit force c3 ");
	rescue_part.at[PART_RUN](&F.e);
	assert_int_equal(F.wanted, 1);
	node("c1")->fencing = false;
	rescue_part.at[PART_RUN](&F.e);
	assert_int_equal(F.wanted, 2);
	squeue("107|7|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "commit commit force c3 put 7 commit force c1 ");
}

/* Not for ever, though; then whoever squeue shows is taken, and it is asked until the node is
 * fenced. */
static void test_a_fence_that_hangs_holds_up_no_order(void **state)
{
	(void)state;
	node("c1")->fencing = true;
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	passes();
	assert_int_equal(W.now, BEGAN + 2000);
	assert_string_equal(F.story, "force c1 ");
	assert_int_equal(F.wanted, 1);
	squeue("107|7|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "force c1 put 7 commit ");
	assert_non_null(node("c1")->lookup);
	node("c1")->fencing = false;
	passes();
	assert_int_equal(F.wanted, 2);
	squeue("107|7|COMPLETING|p|None|c1\n8|8|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "force c1 put 7 commit put 8 commit "); /* each once */
	assert_null(node("c1")->lookup);
}

/* What is sent back because a job lacks other nodes is no node that it loses; one that runs there
 * loses it. */
static void test_a_job_that_is_refused_its_nodes_loses_none(void **state)
{
	(void)state;
	node("c1")->barred = true;
	rescue_node(&F.e, node("c1"), false, "burstd: none here");
	squeue("107|7|CONFIGURING|p|None|c[1-2]\n8|8|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "put 8 commit force c1 ");
}

/* slurmctld requeues one that waits for its other nodes, or is suspended, like one that runs. */
static void test_jobs_that_have_the_node_and_do_not_run_are_followed(void **state)
{
	static const char *const states[] = {"CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING"};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		char line[64];

		teardown(state);
		setup(state);
		(void)snprintf(line, sizeof(line), "107|7|%s|p|None|c[1-2]\n", states[i]);
		rescue_node(&F.e, node("c1"), false, "burstd: x");
		squeue(line);
		assert_string_equal(F.story, "put 7 commit force c1 ");
		assert_int_equal(F.e.count.jobs_taken, 1);
		F.events[0] = '\0';
		shows(DETAIL(states[i], "5", "1799999000"));
		assert_string_equal(F.events, "");
		shows(DETAIL("PENDING", "5", "1799999000"));
		assert_string_equal(F.events,
				    "c1 job-requeued: job 7 (job 107): it was requeued\n");
	}
}

static void test_a_requeued_job(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("COMPLETING", "5", "1799999000"));
	assert_string_equal(W.asked, "7_2");
	assert_string_equal(F.events, ""); /* not yet */
	shows(DETAIL("PENDING", "5", "1799999000"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2 (job 107): it was requeued\n");
	assert_string_equal(F.comment,
			    "7_2 <- burstd: lost node c1: spot is over; it was requeued");
	assert_int_equal(F.del, 107);
	assert_int_equal(F.e.count.jobs_requeued, 1);
	assert_true(rescue_part.next_ms(&F.e) == INT64_MAX);
}

/* F57: slurmctld's clock, the wall clock, was set: when it started is compared by ours. */
static void test_when_it_started_is_by_slurmctlds_clock(void **state)
{
	(void)state;
	F.e.ahead_ms = 3600000;
	take_c1();
	shows(DETAIL("RUNNING", "5", "1799996406"));
	assert_int_equal(F.e.count.jobs_requeued, 1);
	(void)teardown(state);
	(void)setup(state);
	F.e.ahead_ms = -3600000;
	take_c1();
	shows(DETAIL("RUNNING", "5", "1800000006"));
	assert_int_equal(F.e.count.jobs_requeued, 0);
}

static void test_a_requeued_job_that_runs_again_already(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("RUNNING", "5", "1800000006"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2 (job 107): it was requeued\n");
	assert_string_equal(F.comment, ""); /* it has what it wants */
}

/* I19 */
static void test_a_job_that_is_held_is_said_to_be(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("PENDING", "0", "Unknown"));
	assert_string_equal(F.events,
			    "c1 job-requeued: job 7_2 (job 107): it was requeued, and is held\n");
}

static void test_a_job_that_cannot_be_requeued_is_told(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("NODE_FAIL", "5", "1799999000"));
	assert_string_equal(
		F.events,
		"c1 job-ended: job 7_2 (job 107): it ended as NODE_FAIL and was not requeued\n");
	assert_string_equal(F.comment, ""); /* slurmctld takes none any more */
	assert_int_equal(F.e.count.jobs_ended, 1);
}

static void test_a_job_that_was_done_anyway(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("COMPLETED", "5", "1799999000"));
	assert_string_equal(F.events, "c1 job-ended: job 7_2 (job 107): it ended as COMPLETED\n");
	assert_string_equal(F.comment, "");
}

static void test_a_job_that_slurmctld_has_forgotten(void **state)
{
	struct err err;

	(void)state;
	take_c1();
	W.now = rescue_part.next_ms(&F.e);
	rescue_part.at[PART_RUN](&F.e);
	(void)err_set(&err, ERR_NET, "no");
	rescue_fates(&F.e, NULL, 0, &err);
	assert_string_equal(F.events, ""); /* no answer says nothing */
	shows(detail("8", "RUNNING", "5", "1", "(null)"));
	assert_string_equal(F.events,
			    "c1 job-ended: job 7_2 (job 107): slurmctld has forgotten it\n");
}

/* F50: a job that waits and was never requeued is not the one that ran here, or slurmctld does not
 * know that it did: nothing is written into its comment.  One that has its nodes is looked at
 * again: it may be requeued any moment. */
static void test_slurmctld_has_forgotten_that_it_ran(void **state)
{
	static const struct {
		const char *state, *start, *requeues, *events;
	} rows[] = {
		{"PENDING", "1799999000", "0",
		 "c1 job-forgotten: job 7_2 (job 107): slurmctld has forgotten that it ran\n"},
		{"PENDING", "1799999000", "1",
		 "c1 job-requeued: job 7_2 (job 107): it was requeued\n"},
		{"RUNNING", "1800000001", "0", ""},
		{"RUNNING", "1800000001", "2",
		 "c1 job-requeued: job 7_2 (job 107): it was requeued\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[600];

		teardown(state);
		setup(state);
		take_c1();
		(void)snprintf(line, sizeof(line), "%-24s%-24s%-24s%-24s%-300s%-72s%-24s%-24s\n",
			       "107", rows[i].state, "5", rows[i].start, "(null)", "", "N/A",
			       rows[i].requeues);
		shows(line);
		assert_string_equal(F.events, rows[i].events);
		assert_int_equal(F.del, rows[i].events[0] != '\0' ? 107 : 0);
		assert_int_equal(F.comment[0] != '\0', i == 1);
	}
}

/* --no-kill, or a slurmctld that hangs (slurm.md 2.2). */
static void test_a_job_that_still_runs(void **state)
{
	(void)state;
	take_c1();
	for (int i = 0; i < 40; i++) {
		shows(DETAIL("RUNNING", "5", "1799999000"));
		F.e.poll.snapshot_ms = W.now;
	}
	assert_string_equal(F.events, "c1 job-stuck: slurmctld still has a job on it\n");
	node("c1")->flags = SLURM_KNOWN | SLURM_POWERED_DOWN;
	F.events[0] = '\0';
	shows(DETAIL("RUNNING", "5", "1799999000"));
	assert_string_equal(F.events,
			    "c1 job-goes-on: job 7_2 (job 107): it runs on without that node\n");
	assert_true(rescue_part.next_ms(&F.e) == INT64_MAX);
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
	assert_string_equal(F.events, "c1 job-requeued: job 7_2 (job 107): it was requeued\n");
}

static void test_not_asked_while_slurmctld_is_being_told(void **state)
{
	(void)state;
	take_c1();
	W.settled_ms = INT64_MAX;
	W.now = rescue_part.next_ms(&F.e);
	rescue_part.at[PART_RUN](&F.e);
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
	assert_string_equal(F.events, "c3 job-requeued: job 7_2 (job 107): it was requeued\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_jobs_are_written_down_before_the_node_goes),
		TEST(test_who_is_dead_is_set_down),
		TEST(test_nothing_is_done_when_the_disk_fails),
		TEST(test_a_node_without_jobs_goes_at_once),
		TEST(test_a_job_whose_node_is_being_made_is_told),
		TEST(test_of_one_that_boots_squeue_is_asked),
		TEST(test_an_admins_reason_stays),
		TEST(test_squeue_is_not_waited_for_for_ever),
		TEST(test_a_job_that_began_before_the_order_was_heard_is_not_requeued),
		TEST(test_a_job_that_got_the_node_after_the_order_loses_nothing),
		TEST(test_an_answer_of_before_the_order_shows_who_lost_the_node),
		TEST(test_a_node_whose_order_was_lost_is_told_once_more),
		TEST(test_squeue_is_asked_once_the_node_is_fenced),
		TEST(test_a_fence_that_hangs_holds_up_no_order),
		TEST(test_a_job_that_is_refused_its_nodes_loses_none),
		TEST(test_jobs_that_have_the_node_and_do_not_run_are_followed),
		TEST(test_a_requeued_job),
		TEST(test_when_it_started_is_by_slurmctlds_clock),
		TEST(test_a_requeued_job_that_runs_again_already),
		TEST(test_a_job_that_is_held_is_said_to_be),
		TEST(test_a_job_that_cannot_be_requeued_is_told),
		TEST(test_a_job_that_was_done_anyway),
		TEST(test_a_job_that_slurmctld_has_forgotten),
		TEST(test_slurmctld_has_forgotten_that_it_ran),
		TEST(test_a_job_that_still_runs),
		TEST(test_jobs_are_followed_after_a_restart),
		TEST(test_not_asked_while_slurmctld_is_being_told),
		TEST(test_a_job_taken_twice),
	};

	return cmocka_run_group_tests_name("jobs that lose their node", tests, NULL, NULL);
}
