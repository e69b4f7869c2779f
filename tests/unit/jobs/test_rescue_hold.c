/* test_rescue_hold.c - a requeued job that slurmctld holds back starts as soon as the machines that
 * it lost are gone. */
#include "jobs/jobs.h"
#include "taken_jobs.h"

static void test_it_may_start_once_the_machine_that_it_lost_is_gone(void **state)
{
	(void)state;
	hold();
	waits(W.now + 5000);
	becomes("c1", NODE_DELETING);
	waits(W.now + 5000);
	becomes("c1", NODE_GONE);
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.story, "start 7_2 ");
	assert_int_equal(F.begin_ms, INT64_C(1800000121000));
	assert_string_equal(
		F.events,
		"c1 job-lifted: job 7_2 (job 107): it may start at once: the machines that it "
		"lost are gone\n");
	assert_int_equal(F.del, 107);
	assert_int_equal(F.e.count.jobs_lifted, 1);
	assert_true(rescue_part.next_ms(&F.e) == INT64_MAX);
}

/* The other components of a heterogeneous job are held back by slurmctld all the same, and it
 * starts with them: nobody is told that it may start at once. */
static void test_a_component_starts_with_the_others(void **state)
{
	char line[500];

	(void)state;
	hold();
	becomes("c1", NODE_GONE);
	(void)snprintf(line, sizeof(line), "%-24s%-24s%-24s%-24s%-300s%-72s%-24s\n", "107",
		       "PENDING", "5", "1800000121", "(null)", "1", "106");
	shows(line);
	assert_string_equal(F.story, "");
	assert_string_equal(F.events, "");
	assert_int_equal(F.del, 107);
	assert_int_equal(F.e.count.jobs_lifted, 0);
}

/* The order that it may found no room. */
static void test_it_may_start_once_there_is_room(void **state)
{
	(void)state;
	hold();
	becomes("c1", NODE_GONE);
	F.is_full = true;
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_int_equal(F.del, 0);
	assert_string_equal(F.events, "");
	F.is_full = false;
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.story, "start 7_2 start 7_2 ");
	assert_int_equal(F.del, 107);
	assert_int_equal(F.e.count.jobs_lifted, 1);
}

/* F57: while it is held back slurmctld's clock is set.  What it says is the same number still. */
static void test_it_may_start_though_the_clock_was_set(void **state)
{
	static const int64_t ahead_s[] = {-3600, 3600, 365 * 86400};

	for (size_t i = 0; i < sizeof(ahead_s) / sizeof(ahead_s[0]); i++) {
		teardown(state);
		setup(state);
		hold();
		F.e.ahead_ms = ahead_s[i] * 1000;
		becomes("c1", NODE_GONE);
		shows(DETAIL("PENDING", "5", "1800000121"));
		assert_string_equal(F.story, "start 7_2 ");
		assert_int_equal(F.begin_ms, (1800000121 + ahead_s[i]) * 1000); /* ours */
	}
}

/* F57: it was set back before, and slurmctld's time is not ours. */
static void test_it_may_start_though_the_clock_had_been_set(void **state)
{
	(void)state;
	F.e.ahead_ms = 3600000;
	becomes("c1", NODE_DRAINING);
	becomes("c2", NODE_READY);
	take_c1();
	shows(DETAIL("PENDING", "5", "1799996521"));
	F.events[0] = F.story[0] = '\0';
	waits(W.now + 5000);
	assert_int_equal(F.del, 0); /* two minutes are not over */
	becomes("c1", NODE_GONE);
	shows(DETAIL("PENDING", "5", "1799996521"));
	assert_string_equal(F.story, "start 7_2 ");
}

/* F57, I16: a job that began ten minutes ago, before the clock was set back, seems to begin in a
 * while: it was not requeued for that, and is followed until it is or ends. */
static void test_a_start_in_the_future_is_none(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	becomes("c2", NODE_READY);
	take_c1();
	F.e.ahead_ms = 3600000;
	shows(DETAIL("RUNNING", "5", "1799999400"));
	assert_int_equal(F.e.count.jobs_requeued, 0);
	assert_int_equal(F.del, 0);
	shows(DETAIL("RUNNING", "5", "1799996402")); /* two seconds after it was taken */
	assert_int_equal(F.e.count.jobs_requeued, 1);
}

static void test_all_machines_that_it_lost_must_be_gone(void **state)
{
	static const enum node_state left[] = {NODE_DRAINING, NODE_DELETING, NODE_QUARANTINED};

	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		teardown(state);
		setup(state);
		hold();
		becomes("c1", NODE_GONE);
		becomes("c2", left[i]);
		waits(BEGAN + 121000);
		assert_int_equal(F.del, 0);
	}
}

/* After a restart nobody remembers that this one was told to go down; slurmctld shows it. */
static void test_a_machine_that_is_on_its_way_out_is_not_gone(void **state)
{
	static const uint32_t flags[] = {SLURM_POWER_DOWN, SLURM_DRAIN, SLURM_DOWN,
					 SLURM_POWERING_DOWN};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		teardown(state);
		setup(state);
		hold();
		becomes("c1", NODE_GONE);
		node("c2")->flags = SLURM_KNOWN | flags[i];
		waits(BEGAN + 60000);
	}
}

static void test_a_machine_that_was_bought_since_is_none_that_it_lost(void **state)
{
	struct node n;

	(void)state;
	hold();
	becomes("c1", NODE_GONE);
	becomes("c2", NODE_GONE);
	node_init(&n, "c1", 4, W.now);
	(void)fleet_add(&F.e.fleet, &n);
	node_init(&n, "c2", 4, W.now);
	(void)fleet_add(&F.e.fleet, &n);
	becomes("c2", NODE_DELETING);
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.story, "start 7_2 ");
}

/* It was placed again meanwhile, on c7. */
static struct fleet_name *was_given_c7(void)
{
	struct fleet_name *nm;
	struct node n;

	hold();
	becomes("c1", NODE_GONE);
	becomes("c2", NODE_GONE);
	nm = fleet_name(&F.e.fleet, "c7", 0);
	node_init(&n, "c7", 1, W.now);
	n.job = 107;
	(void)fleet_add(&F.e.fleet, &n);
	return nm;
}

/* I17: that machine came up wrong and is being deleted. */
static void test_a_machine_that_was_bought_for_it_since_must_be_gone_too(void **state)
{
	(void)state;
	(void)was_given_c7();
	becomes("c7", NODE_DRAINING);
	waits(W.now + 5000);
	becomes("c7", NODE_DELETING);
	waits(W.now + 5000);
	becomes("c7", NODE_GONE);
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.story, "start 7_2 ");
}

/* I17: that machine came up wrong, and slurmctld is told to power it down, or does. */
static void test_a_machine_that_is_ordered_down_must_be_gone_too(void **state)
{
	struct fleet_name *nm;

	(void)state;
	nm = was_given_c7();
	becomes("c7", NODE_BOOTING);
	nm->forced_ms = W.now;
	waits(W.now + 5000);
	nm->forced_ms = 0;
	nm->flags = SLURM_POWER_DOWN;
	waits(W.now + 5000);
	nm->flags = SLURM_KNOWN | SLURM_POWERING_DOWN;
	becomes("c7", NODE_READY);
	waits(W.now + 5000);
	nm->flags = 0;
	nm->forced_ms = nm->newest->n.wanted_ms - 1; /* an earlier machine of that name */
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.story, "start 7_2 ");
}

/* I17: nor may it start if that comes between the question and its answer. */
static void test_what_is_ordered_down_while_squeue_is_asked_counts(void **state)
{
	const char *text = DETAIL("PENDING", "5", "1800000121");
	struct fleet_name *nm;

	(void)state;
	nm = was_given_c7();
	becomes("c7", NODE_BOOTING);
	W.now = rescue_part.next_ms(&F.e);
	W.asked[0] = '\0';
	rescue_part.at[PART_RUN](&F.e);
	assert_string_not_equal(W.asked, "");
	nm->forced_ms = W.now;
	rescue_fates(&F.e, text, strlen(text), NULL);
	assert_string_equal(F.story, "");
}

static void test_it_starts_by_itself_if_they_do_not_go_in_time(void **state)
{
	(void)state;
	hold();
	waits(BEGAN + 121000);
	W.now = BEGAN + 121000;
	rescue_part.at[PART_RUN](&F.e);
	assert_int_equal(F.del, 107);
	assert_string_equal(F.events, "");
	assert_true(rescue_part.next_ms(&F.e) == INT64_MAX);
}

/* Whoever has held it, moved it, or started it since, has his will. */
static void test_who_has_changed_its_begin_time_has_his_will(void **state)
{
	static const char *const rows[][3] = {{"PENDING", "5", "1800000200"},
					      {"PENDING", "0", "1800000121"},
					      {"RUNNING", "5", "1800000060"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		teardown(state);
		setup(state);
		hold();
		becomes("c1", NODE_GONE);
		shows(DETAIL(rows[i][0], rows[i][1], rows[i][2]));
		assert_string_equal(F.story, "");
		assert_int_equal(F.del, 107);
	}
}

/* Only what fits slurmctld's own wait, from between then and now, is that: all else is somebody's
 * wish.  If it is not known how long that is, nobody is overruled. */
static void test_a_begin_time_of_its_user_is_left_alone(void **state)
{
	static const struct {
		const char *begin;
		int64_t hold_ms;
		bool held_back;
		int64_t ahead_s; /* our time, of slurmctld's clock: that was set (F57) */
	} rows[] = {
		{"1800003721", 121000, true, -3600}, {"1799996521", 121000, true, 3600},
		{"1800000121", 121000, false, 3600}, {"1800086400", 121000, false, 0},
		{"1800000121", 121000, true, 0},     {"1800000120", 121000, true, 0},
		{"1800000122", 121000, true, 0},     {"1800000110", 121000, false, 0},
		{"1800000130", 121000, false, 0},    {"1800000060", 121000, false, 0},
		{"1800000060", 60000, true, 0},      {"1800000121", 0, false, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		teardown(state);
		setup(state);
		F.hold_ms = rows[i].hold_ms;
		F.e.ahead_ms = rows[i].ahead_s * 1000;
		becomes("c1", NODE_DRAINING);
		take_c1();
		shows(DETAIL("PENDING", "5", rows[i].begin));
		if (!rows[i].held_back) { /* slurmctld's settings may have changed */
			assert_int_equal(F.del, 0);
			F.known_ms = W.now;
			shows(DETAIL("PENDING", "5", rows[i].begin));
		}
		assert_int_equal(F.e.count.jobs_requeued, 1);
		assert_int_equal(F.hurried, !rows[i].held_back);
		assert_int_equal(F.del, rows[i].held_back ? 0 : 107);
		assert_int_equal(rescue_part.next_ms(&F.e) == INT64_MAX, !rows[i].held_back);
	}
}

/* slurmctld was restarted with other settings, a moment ago. */
static void test_what_does_not_fit_is_looked_at_again_with_fresh_settings(void **state)
{
	(void)state;
	F.hold_ms = 6000;
	becomes("c1", NODE_DRAINING);
	take_c1();
	shows(DETAIL("PENDING", "5", "1800000121"));
	F.events[0] = '\0';
	shows(DETAIL("PENDING", "5", "1800000121")); /* they are not known yet */
	assert_int_equal(F.del, 0);
	F.known_ms = W.now;
	F.hold_ms = 121000;
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_int_equal(F.put.hold_ms, BEGAN + 121000);
	assert_string_equal(F.events, ""); /* told once */
	assert_int_equal(F.hurried, 1);
}

/* While it was looked at again somebody wanted it to begin a second later.  That fits, too. */
static void test_in_doubt_the_first_begin_time_counts(void **state)
{
	(void)state;
	F.hold_ms = 6000;
	becomes("c1", NODE_DRAINING);
	take_c1();
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_int_equal(F.put.hold_ms, BEGAN + 121000);
	F.known_ms = W.now;
	F.hold_ms = 121000;
	shows(DETAIL("PENDING", "5", "1800000122"));
	assert_int_equal(F.del, 107);
	assert_string_equal(F.story, "put 7_2 commit force c1 put 7_2 ");
}

/* Burstd ended in doubt: it knows what it saw, and not whose that is. */
static void test_in_doubt_it_is_let_go_after_a_restart_if_it_fits(void **state)
{
	static const struct {
		const char *begin;
		int64_t hold_ms;
		bool lifted;
	} rows[] = {
		{"1800000121", 121000, true},
		{"1800000122", 121000, false}, /* changed since */
		{"1800000121", 60000, false},
		{"1800000121", 0, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct journal_rescue row;

		teardown(state);
		setup(state);
		F.hold_ms = 6000;
		becomes("c1", NODE_DRAINING);
		take_c1();
		shows(DETAIL("PENDING", "5", "1800000121"));
		row = F.put;
		job_table_part.at[PART_FREE](&F.e);
		job_table_part.at[PART_INIT](&F.e);
		rescue_load(&F.e, &row);
		F.events[0] = F.story[0] = '\0';
		F.hold_ms = rows[i].hold_ms;
		becomes("c1", NODE_GONE);
		becomes("c2", NODE_GONE);
		shows(DETAIL("PENDING", "5", rows[i].begin));
		assert_string_equal(F.story, rows[i].lifted ? "start 7_2 " : "");
		assert_int_equal(F.del, 107);
		assert_null(strstr(F.events, "job-requeued")); /* told once */
	}
}

/* Whatever became of it: that it was requeued is known. */
static void test_in_doubt_it_goes_its_way(void **state)
{
	static const char *const states[] = {"RUNNING", "CANCELLED", "PENDING"};

	for (size_t i = 0; i < 3; i++) {
		teardown(state);
		setup(state);
		becomes("c1", NODE_DRAINING);
		take_c1();
		shows(DETAIL("PENDING", "5", "1800000060"));
		for (int k = 0; i == 2 && k < 2; k++) /* slurmctld does not say */
			shows(DETAIL("PENDING", "5", "1800000060"));
		if (F.del == 0)
			shows(DETAIL(states[i], "5", "1800000060"));
		assert_int_equal(F.del, 107);
		assert_string_equal(F.events,
				    "c1 job-requeued: job 7_2 (job 107): it was requeued\n");
	}
}

/* It was told to save its work, and is requeued whenever it ends. */
static void test_slurmctld_counts_its_wait_from_when_it_requeued_the_job(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	take_c1();
	while (W.now < BEGAN + 60000)
		shows(DETAIL("RUNNING", "5", "1799999000"));
	shows(detail("107", "PENDING", "5", "1800000175", "(null)"));
	assert_int_equal(F.del, 0);
	assert_int_equal(F.put.hold_ms, BEGAN + 175000);
}

/* A job that lacked other nodes as well was made to wait by us: postpone.c has told it why. */
static void test_a_job_that_was_refused_besides_is_not_let_go(void **state)
{
	(void)state;
	F.refused = (struct refusal){.count = 1, .last_ms = BEGAN};
	becomes("c1", NODE_DRAINING);
	take_c1();
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_int_equal(F.del, 107);
	assert_string_equal(F.comment, "");
	assert_string_equal(F.events, "c1 job-requeued: job 7_2 (job 107): it was requeued\n");
	teardown(state);
	setup(state);
	F.refused = (struct refusal){.count = 1, .last_ms = BEGAN - 60000}; /* long ago */
	hold();
	becomes("c1", NODE_GONE);
	F.refused.last_ms = W.now;
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.story, "");
	assert_int_equal(F.del, 107);
}

static void test_it_is_let_go_after_a_restart_too(void **state)
{
	const struct journal_rescue row = {.job = 107,
					   .id = "7_2",
					   .node = "c1",
					   .gen = 3,
					   .at_ms = BEGAN,
					   .why = "spot is over",
					   .nodes = "c[1-2]",
					   .hold_ms = BEGAN + 121000};

	(void)state;
	becomes("c1", NODE_DELETING);
	becomes("c2", NODE_READY);
	rescue_load(&F.e, &row);
	waits(BEGAN + 10000);
	becomes("c1", NODE_GONE);
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.story, "start 7_2 ");
	assert_string_equal(F.comment, ""); /* that it was requeued was told before */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_it_may_start_once_the_machine_that_it_lost_is_gone),
		TEST(test_it_may_start_though_the_clock_was_set),
		TEST(test_a_component_starts_with_the_others),
		TEST(test_it_may_start_once_there_is_room),
		TEST(test_it_may_start_though_the_clock_had_been_set),
		TEST(test_a_start_in_the_future_is_none),
		TEST(test_all_machines_that_it_lost_must_be_gone),
		TEST(test_a_machine_that_is_on_its_way_out_is_not_gone),
		TEST(test_a_machine_that_was_bought_since_is_none_that_it_lost),
		TEST(test_a_machine_that_was_bought_for_it_since_must_be_gone_too),
		TEST(test_a_machine_that_is_ordered_down_must_be_gone_too),
		TEST(test_what_is_ordered_down_while_squeue_is_asked_counts),
		TEST(test_it_starts_by_itself_if_they_do_not_go_in_time),
		TEST(test_who_has_changed_its_begin_time_has_his_will),
		TEST(test_a_begin_time_of_its_user_is_left_alone),
		TEST(test_what_does_not_fit_is_looked_at_again_with_fresh_settings),
		TEST(test_in_doubt_the_first_begin_time_counts),
		TEST(test_in_doubt_it_is_let_go_after_a_restart_if_it_fits),
		TEST(test_in_doubt_it_goes_its_way),
		TEST(test_slurmctld_counts_its_wait_from_when_it_requeued_the_job),
		TEST(test_a_job_that_was_refused_besides_is_not_let_go),
		TEST(test_it_is_let_go_after_a_restart_too),
	};

	return cmocka_run_group_tests_name("jobs that slurmctld holds back", tests, NULL, NULL);
}
