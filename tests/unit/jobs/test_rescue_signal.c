/* test_rescue_signal.c - the jobs of a node that will go down are told to save their work, and
 * those that end of it are requeued. */
#include "jobs/jobs.h"
#include "taken_jobs.h"

static void tell_c1(void)
{
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	assert_string_equal(F.story, "put 7_2 signalled c1 commit ");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_DUE);
	assert_string_equal(F.put.why, "spot will be over");
	assert_null(node("c1")->lookup);
	rescue_signalled(&F.e, followed(), "USR1");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_SENT);
	assert_string_equal(F.events,
			    "c1 job-signalled: job 7_2 (job 107): it was told to save its work "
			    "(USR1)\n");
	assert_int_equal(F.e.count.jobs_signalled, 1);
	F.events[0] = F.story[0] = '\0';
}

static void test_a_job_is_written_down_before_it_is_told(void **state)
{
	(void)state;
	tell_c1();
	assert_int_equal(F.e.count.jobs_taken, 1); /* each once, whatever ends it */
	shows(DETAIL("RUNNING", "5", "1799999000"));
	assert_string_equal(F.story, "");
}

/* A signal that waits for squeue holds up no order, and is tried again with the next snapshot. */
static void test_a_signal_is_given_up_where_squeue_is_silent(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	W.now += 3000;
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "");
	assert_null(node("c1")->lookup);
	node("c1")->flags = SLURM_KNOWN | SLURM_POWERING_DOWN;
	rescue_signal(&F.e, node("c1"));
	assert_null(node("c1")->lookup); /* no job is on it */
}

static void test_a_job_that_loses_one_node_now_is_not_told_of_another(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	rescue_node(&F.e, node("c2"), false, "burstd: at once");
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_NONE);
	assert_string_equal(F.put.node, "c2");
	assert_non_null(strstr(F.story, "commit force c2 "));
	assert_null(strstr(F.story, "c1 force"));
}

/* slurmctld has not answered yet: the next of its nodes is no reason to say it again. */
static void test_a_job_that_is_being_told_is_not_told_of_another_node_too(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	followed()->telling = true;
	becomes("c2", NODE_DRAINING);
	rescue_signal(&F.e, node("c2"));
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_DUE);
	assert_true(followed()->telling);
	hold(); /* its next run is another matter */
	becomes("c3", NODE_DRAINING);
	rescue_signal(&F.e, node("c3"));
	squeue("107|7_2|RUNNING|p|None|c3\n");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_DUE);
	assert_false(followed()->telling);
}

/* It comes to its time while it is still being told. */
static void test_a_node_that_is_told_goes_when_it_must(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	W.now += 1500;
	rescue_node(&F.e, node("c1"), false, "burstd: now");
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, ""); /* two seconds from then */
	squeue("107|7_2|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "put 7_2 commit force c1 ");
}

/* It has nothing to save yet, or cannot hear the signal: it is told if it comes to work there. */
static void test_a_job_that_does_not_run_is_told_when_it_does(void **state)
{
	static const char *const states[] = {"CONFIGURING", "SUSPENDED", "STOPPED"};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		char line[64];

		teardown(state);
		setup(state);
		(void)snprintf(line, sizeof(line), "107|7|%s|p|None|c[1-2]\n", states[i]);
		becomes("c1", NODE_DRAINING);
		rescue_signal(&F.e, node("c1"));
		squeue(line);
		assert_int_equal(F.put.signal, JOURNAL_SIGNAL_DUE);
		assert_true(followed()->waits);
		assert_int_equal(F.e.count.jobs_taken, 0);
		shows(DETAIL(states[i], "5", "1799999000"));
		assert_true(followed()->waits);
		assert_int_equal(F.wanted, 1);
		/* slurmctld counts its start from here. */
		shows(DETAIL("RUNNING", "5", "1800000004"));
		assert_string_equal(F.events, "");
		assert_int_equal(F.wanted, 2); /* is it still there? */
		squeue("107|7|RUNNING|p|None|c[1-2]\n");
		assert_int_equal(F.put.signal, JOURNAL_SIGNAL_DUE);
		assert_false(followed()->waits);
		assert_int_equal(F.e.count.jobs_taken, 1);
	}
}

static void test_a_job_that_comes_to_work_elsewhere_is_not_told(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	squeue("107|7|CONFIGURING|p|None|c[1-2]\n");
	shows(DETAIL("RUNNING", "5", "1800000004"));
	squeue("107|7|RUNNING|p|None|c[3-4]\n");
	assert_null(followed());
	assert_int_equal(F.del, 107);
}

/* F2: burstd may end while it is asked whether the job still has the node. */
static void test_a_job_that_comes_to_work_stays_written_down_until_squeue_answers(void **state)
{
	static const struct err silent = {.code = ERR_NET, .msg = "squeue: timed out"};
	const char *running = DETAIL("RUNNING", "5", "1800000004");

	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	squeue("107|7|CONFIGURING|p|None|c[1-2]\n");
	shows(running);
	assert_non_null(node("c1")->lookup);
	rescue_part.at[PART_RUN](&F.e);
	F.e.jobs->runs++;
	rescue_jobs(&F.e, "", 0, &silent);
	assert_non_null(followed());
	W.now += 3000; /* for so long it waits; then the job is looked at again */
	rescue_part.at[PART_RUN](&F.e);
	assert_null(node("c1")->lookup);
	assert_string_equal(W.asked, "7");
	rescue_fates(&F.e, running, strlen(running), NULL);
	assert_non_null(node("c1")->lookup);
	assert_int_equal(F.del, 0);
	squeue("107|7|RUNNING|p|None|c[3-4]\n");
	assert_int_equal(F.del, 107);
	assert_null(followed());
}

/* ... which says nothing of it if it was asked about another node. */
static void test_an_answer_about_another_node_does_not_end_a_job_that_comes_to_work(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	squeue("107|7|CONFIGURING|p|None|c[1-2]\n");
	node("c1")->fencing = true; /* so that it is not asked about yet */
	shows(DETAIL("RUNNING", "5", "1800000004"));
	squeue("");
	assert_int_equal(F.del, 0);
	node("c1")->fencing = false;
	rescue_part.at[PART_RUN](&F.e);
	squeue("107|7|RUNNING|p|None|c1\n");
	assert_int_equal(F.del, 0);
	assert_false(followed()->waits);
	squeue("");
	assert_int_equal(F.del, 0); /* from now on it is followed as any other */
}

static void test_a_job_that_comes_to_work_on_a_node_that_is_off_is_over(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	squeue("107|7|CONFIGURING|p|None|c[1-2]\n");
	node("c1")->flags = SLURM_KNOWN | SLURM_POWERING_DOWN;
	shows(DETAIL("RUNNING", "5", "1800000004"));
	assert_int_equal(F.del, 107);
	assert_null(followed());
}

/* One that was to be told when burstd ended: what it does by now is asked first. */
static void test_after_a_restart_it_is_asked_who_is_to_be_told(void **state)
{
	const struct journal_rescue row = {.job = 107,
					   .id = "7_2",
					   .node = "c1",
					   .gen = 3,
					   .at_ms = BEGAN,
					   .signal = JOURNAL_SIGNAL_DUE};

	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_load(&F.e, &row);
	assert_true(followed()->waits);
	shows(DETAIL("RUNNING", "5", "1799999000"));
	assert_int_equal(F.wanted, 1);
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_DUE);
	assert_false(followed()->waits);
}

/* Its node was told of once, and no snapshot says so again. */
static void test_a_job_that_comes_to_work_is_told_though_squeue_is_slow(void **state)
{
	struct fleet_node *fn = node("c1")->newest;

	(void)state;
	fleet_stage(fn)->signal_ms = BEGAN;
	fleet_publish(&F.e.fleet, fn);
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	squeue("107|7|CONFIGURING|p|None|c[1-2]\n");
	shows(DETAIL("RUNNING", "5", "1800000004"));
	for (int i = 0; i < 3; i++) {
		W.now += 3000;
		rescue_part.at[PART_RUN](&F.e);
		assert_true(rescue_part.next_ms(&F.e) > W.now);
	}
	assert_null(strstr(F.story, "force"));
	squeue("107|7|RUNNING|p|None|c[1-2]\n");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_DUE);
	assert_non_null(followed());
	assert_false(followed()->waits);
	assert_null(node("c1")->lookup);
}

/* Whether the command was run, or died with burstd, nobody knows; a job that went back into the
 * queue needs none. */
static void test_after_a_restart_a_command_is_run_again(void **state)
{
	struct journal_rescue row = {.job = 107,
				     .id = "7_2",
				     .node = "c1",
				     .gen = 3,
				     .at_ms = BEGAN,
				     .signal = JOURNAL_SIGNAL_SENT};

	rescue_load(&F.e, &row);
	assert_false(followed()->commanded);
	teardown(state);
	setup(state);
	row.hold_ms = BEGAN + 121000;
	rescue_load(&F.e, &row);
	assert_true(followed()->commanded);
}

/* It saved its work and ended with another status than 0, or the signal killed it. */
static void test_a_told_job_that_ends_is_requeued(void **state)
{
	const struct slurm_order o = {.verb = "requeue", .names = "3,7_2", .of_jobs = true};
	const struct slurm_order other = {.verb = "postpone", .names = "7_2", .of_jobs = true};

	(void)state;
	tell_c1();
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_string_equal(F.story, "put 7_2 requeue 7_2 ");
	assert_string_equal(F.events, "");
	shows(DETAIL("FAILED", "5", "1799999000")); /* slurmctld has not been told yet */
	rescue_told(&F.e, &other, NULL);
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_string_equal(F.story, "put 7_2 requeue 7_2 ");
	rescue_told(&F.e, &o, NULL);
	shows(DETAIL("PENDING", "5", "1799999000"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2 (job 107): it was requeued\n");
}

/* slurmctld is told of a heterogeneous job by the number of its first component. */
static void test_a_component_is_requeued_with_the_others(void **state)
{
	const struct slurm_order o = {.verb = "requeue", .names = "106", .of_jobs = true};

	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	squeue("107|106+1|RUNNING|p|None|c[1-2]\n");
	rescue_signalled(&F.e, followed(), "USR1");
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_string_equal(F.put.id, "106+1");
	rescue_told(&F.e, &o, NULL);
	F.events[0] = '\0';
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_string_equal(
		F.events,
		"c1 job-ended: job 106+1 (job 107): it ended as FAILED and was not requeued\n");
}

static void test_a_told_job_that_cannot_be_requeued_is_reported(void **state)
{
	const struct slurm_order o = {.verb = "requeue", .names = "7_2", .of_jobs = true};

	(void)state;
	tell_c1();
	shows(DETAIL("FAILED", "5", "1799999000"));
	rescue_told(&F.e, &o, NULL);
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_string_equal(
		F.events,
		"c1 job-ended: job 7_2 (job 107): it ended as FAILED and was not requeued\n");
}

/* slurmctld was restarting, or did not answer in time: the job is not given up for that. */
static void test_an_order_that_was_not_heard_is_given_again(void **state)
{
	static const struct err errs[] = {
		{.code = ERR_NET, .msg = "scontrol: Unable to contact slurm controller"},
		{.code = ERR_NET, .msg = "scontrol: Socket timed out on send/recv operation"},
		{.code = ERR_NET, .msg = "scontrol: stopped after 30000 ms"},
		{.code = ERR_NOTSENT, .msg = "it cannot be started"}};
	const struct slurm_order o = {.verb = "requeue", .names = "7_2", .of_jobs = true};

	(void)state;
	tell_c1();
	for (size_t i = 0; i < sizeof(errs) / sizeof(errs[0]); i++) {
		F.story[0] = '\0';
		shows(DETAIL("FAILED", "5", "1799999000"));
		assert_string_equal(F.story, "put 7_2 requeue 7_2 ");
		rescue_told(&F.e, &o, &errs[i]);
		assert_string_equal(F.events, "");
	}
	F.story[0] = '\0';
	shows(DETAIL("OUT_OF_MEMORY", "5", "1799999000"));
	assert_string_equal(F.story, "put 7_2 requeue 7_2 ");
	rescue_told(&F.e, &o,
		    &(struct err){.code = ERR_NET, .msg = "Requested operation is disabled"});
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_string_equal(
		F.events,
		"c1 job-ended: job 7_2 (job 107): it ended as FAILED and was not requeued\n");
}

/* Nor is it for an order that found no room. */
static void test_a_requeue_that_found_no_room_is_ordered_again(void **state)
{
	const char *failed = DETAIL("FAILED", "5", "1799999000");

	(void)state;
	tell_c1();
	F.is_full = true;
	shows(failed);
	shows(failed);
	assert_string_equal(F.events, "");
	F.is_full = false;
	F.story[0] = '\0';
	shows(failed);
	assert_string_equal(F.story, "put 7_2 requeue 7_2 ");
	shows(failed); /* slurmctld is still to be told */
	assert_string_equal(F.story, "put 7_2 requeue 7_2 ");
	assert_string_equal(F.events, "");
}

/* An answer that was on its way when slurmctld took the order shows the job as it was before. */
static void test_an_old_answer_does_not_end_a_job_that_is_being_requeued(void **state)
{
	const struct slurm_order o = {.verb = "requeue", .names = "7_2", .of_jobs = true};
	const char *old = DETAIL("FAILED", "5", "1799999000");

	(void)state;
	tell_c1();
	shows(old);
	W.now = rescue_part.next_ms(&F.e);
	rescue_part.at[PART_RUN](&F.e); /* asked */
	rescue_told(&F.e, &o, NULL);
	rescue_fates(&F.e, old, strlen(old), NULL);
	assert_string_equal(F.events, "");
}

/* Done is done, and what its user cancels too. */
static void test_a_told_job_that_is_done_is_not_requeued(void **state)
{
	static const char *const ends[] = {"COMPLETED", "CANCELLED", "TIMEOUT", "NODE_FAIL"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		teardown(state);
		setup(state);
		tell_c1();
		shows(DETAIL(ends[i], "5", "1799999000"));
		assert_string_equal(F.story, "");
		assert_non_null(strstr(F.events, "c1 job-ended: job 7_2 (job 107): it ended as "));
	}
}

/* A job that was not told and fails by itself when its node goes has failed. */
static void test_a_job_that_was_not_told_is_not_requeued_when_it_fails(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_null(strstr(F.story, "requeue"));
	assert_string_equal(
		F.events,
		"c1 job-ended: job 7_2 (job 107): it ended as FAILED and was not requeued\n");
}

/* Ten seconds before the end, told or not. */
static void test_a_told_job_is_not_told_again_when_its_node_goes(void **state)
{
	(void)state;
	tell_c1();
	W.now += 100000;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_SENT);
	assert_int_equal(F.put.at_ms, BEGAN + 100000);
	assert_int_equal(F.e.count.jobs_taken, 1);
	assert_string_equal(F.story, "put 7_2 commit force c1 ");
}

/* It has gone back into the queue, runs elsewhere, and is about to lose that node too. */
static void test_a_job_that_was_told_once_is_told_in_its_next_run(void **state)
{
	(void)state;
	hold();
	F.put.signal = JOURNAL_SIGNAL_SENT;
	followed()->j.signal = JOURNAL_SIGNAL_SENT;
	becomes("c3", NODE_DRAINING);
	rescue_signal(&F.e, node("c3"));
	squeue("107|7_2|RUNNING|p|None|c3\n");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_DUE);
	assert_int_equal(F.put.hold_ms, 0);
}

/* I16: told, and it runs on for as long as the provider lets it: that is no job that hangs. */
static void test_a_told_job_may_run_on_for_long(void **state)
{
	(void)state;
	tell_c1();
	for (int i = 0; i < 400; i++) {
		shows(DETAIL("RUNNING", "5", "1799999000"));
		F.e.poll.snapshot_ms = W.now;
	}
	assert_string_equal(F.events, "");
}

static void test_what_people_see_of_it(void **state)
{
	struct conf_pool pool = {.checkpoint_signal = (char[]){"USR1"}};
	struct conf conf = {.pools = &pool, .npools = 1};
	struct engine_taken t;

	(void)state;
	F.e.conf = &conf;
	assert_false(engine_taken(&F.e, "c1", 0, &t));
	assert_int_equal(engine_force_ms(&F.e, "c1"), 0);
	assert_int_equal(engine_force_ms(&F.e, "nobody"), 0);
	tell_c1();
	assert_true(engine_force_ms(&F.e, "c1") == BEGAN + 110000);
	assert_true(engine_taken(&F.e, "c1", 0, &t));
	assert_string_equal(t.job, "7_2");
	assert_string_equal(t.signal, "USR1");
	assert_false(engine_taken(&F.e, "c1", 1, &t));
	pool.checkpoint_signal = NULL; /* a command was run */
	assert_true(engine_taken(&F.e, "c1", 0, &t));
	assert_string_equal(t.signal, "a notice");
	followed()->j.signal = JOURNAL_SIGNAL_NONE;
	assert_true(engine_taken(&F.e, "c1", 0, &t));
	assert_string_equal(t.signal, "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_job_is_written_down_before_it_is_told),
		TEST(test_a_signal_is_given_up_where_squeue_is_silent),
		TEST(test_a_job_that_loses_one_node_now_is_not_told_of_another),
		TEST(test_a_job_that_is_being_told_is_not_told_of_another_node_too),
		TEST(test_a_node_that_is_told_goes_when_it_must),
		TEST(test_a_job_that_does_not_run_is_told_when_it_does),
		TEST(test_a_job_that_comes_to_work_elsewhere_is_not_told),
		TEST(test_a_job_that_comes_to_work_stays_written_down_until_squeue_answers),
		TEST(test_an_answer_about_another_node_does_not_end_a_job_that_comes_to_work),
		TEST(test_a_job_that_comes_to_work_on_a_node_that_is_off_is_over),
		TEST(test_after_a_restart_it_is_asked_who_is_to_be_told),
		TEST(test_a_job_that_comes_to_work_is_told_though_squeue_is_slow),
		TEST(test_after_a_restart_a_command_is_run_again),
		TEST(test_a_told_job_that_ends_is_requeued),
		TEST(test_a_component_is_requeued_with_the_others),
		TEST(test_a_told_job_that_cannot_be_requeued_is_reported),
		TEST(test_an_order_that_was_not_heard_is_given_again),
		TEST(test_a_requeue_that_found_no_room_is_ordered_again),
		TEST(test_an_old_answer_does_not_end_a_job_that_is_being_requeued),
		TEST(test_a_told_job_that_is_done_is_not_requeued),
		TEST(test_a_job_that_was_not_told_is_not_requeued_when_it_fails),
		TEST(test_a_told_job_is_not_told_again_when_its_node_goes),
		TEST(test_a_job_that_was_told_once_is_told_in_its_next_run),
		TEST(test_a_told_job_may_run_on_for_long),
		TEST(test_what_people_see_of_it),
	};

	return cmocka_run_group_tests_name("jobs that are told to save their work", tests, NULL,
					   NULL);
}
