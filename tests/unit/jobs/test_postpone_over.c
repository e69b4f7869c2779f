/* test_postpone_over.c - a job that could not have its nodes, later: burstd's words are taken back,
 * and its refusals end with it. */
#include "bare_postpone.h"
#include "jobs/jobs.h"

/* --- words that were true once: more of them in test_postpone_words.c ---------------------------
 */

static void test_a_comment_is_taken_back(void **state)
{
	static const struct {
		const char *state, *comment; /* NULL: what we wrote */
		bool cleared;
	} rows[] = {
		{"RUNNING", NULL, true},
		{"CONFIGURING", NULL, true},
		{"RUNNING", "burstd: something else", false}, /* another hand */
		{"RUNNING", "(null)", false},
		{"PENDING", NULL, true},    /* the time of the next try is long over */
		{"COMPLETED", NULL, false}, /* slurmctld would not take it */
		{"CANCELLED", NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		F.cleared[0] = '\0';
		refuse("none='left'"); /* as scontrol has it: without these */
		details("PENDING", 7, 6, "");
		W.now += 3600000; /* however long it waited */
		later(rows[i].state, 7, 0, rows[i].comment != NULL ? rows[i].comment : F.comment);
		assert_string_equal(F.cleared, rows[i].cleared ? "7_2" : "");
	}
}

/* What people add to it is theirs. */
static void test_a_comment_that_somebody_went_on_writing_stays(void **state)
{
	char text[320];

	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	(void)snprintf(text, sizeof(text), "%s; Ann knows", F.comment);
	later("RUNNING", 7, 0, text);
	assert_string_equal(W.asked, "7_2");
	assert_string_equal(F.cleared, "");
}

/* An order may fail, or not be sent. */
static void test_it_is_taken_back_until_it_is_gone(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	for (int i = 0; i < 3; i++) {
		F.cleared[0] = '\0';
		later("RUNNING", 7, 0, F.comment);
		assert_string_equal(F.cleared, "7_2");
	}
	F.cleared[0] = '\0';
	later("RUNNING", 7, 0, "");
	later("RUNNING", 7, 0, F.comment); /* whoever wrote that */
	assert_string_equal(W.asked, "");
	assert_string_equal(F.cleared, "");
	assert_int_equal(F.dels, 1);
}

/* When its nodes are bought it is looked at soon, for a short job is over in a minute; a refusal
 * would have come by then. */
static void test_looked_at_when_its_nodes_are_bought(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	W.now += 40000;
	postpone_bought(&F.e, 107);
	postpone_bought(&F.e, 8); /* never refused */
	postpone_part.at[PART_RUN](&F.e);
	assert_int_equal(F.e.jobs->postpone_next, W.now + 2000);
	W.now += 2000;
	details("CONFIGURING", 7, 0, F.comment);
	assert_string_equal(F.cleared, "7_2");
}

/* What rescue_hold.c wrote; and after a restart any comment that begins as ours do, once it is
 * known how people call the job: its number would be the whole array. */
static void test_others_words_are_taken_back_too(void **state)
{
	(void)state;
	lose("");
	later("RUNNING", 7, 0, "burstd: lost node c1: x; it was requeued");
	assert_string_equal(F.cleared, "7_2");
	F.cleared[0] = '\0';
	F.put = (struct journal_refusal){107, {.count = 1, .last_ms = W.now - 1000}};
	restart();
	W.asked[0] = '\0';
	named("RUNNING");
	assert_string_equal(W.asked, "");
	W.now++;
	details("RUNNING", 7, 0, "burstd: from before");
	assert_string_equal(W.asked, "7_2");
	assert_string_equal(F.cleared, "7_2");
}

/* `status` speaks of no job that has ended, or has what it lacked. */
static void test_no_problem_of_a_job_that_is_over(void **state)
{
	static const char *const states[] = {"RUNNING", "RUNNING", "COMPLETED", "CANCELLED"};
	struct engine_postponed soonest;
	struct fleet_name *nm;

	(void)state;
	fleet_init(&F.e.fleet, 2);
	nm = fleet_name(&F.e.fleet, "c1", 1);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		W.now += 3600000;
		for (int k = 0; k < 4; k++) /* so that it waits longer than until the next look */
			refuse("why");
		details("PENDING", 7, 6, "");
		nm->refused = NODE_BECAUSE_CAPACITY;
		nm->refused_for = 107;
		assert_int_equal(engine_postponed(&F.e, &soonest), 1);
		later("PENDING", 7, 239 - 61, F.comment);
		assert_int_equal(engine_postponed(&F.e, &soonest), 1);
		assert_int_equal(nm->refused, NODE_BECAUSE_CAPACITY);
		nm->barred = i == 0; /* refused anew: the reason is needed */
		later(states[i], 7, 0, F.comment);
		if (nm->barred) {
			assert_int_equal(nm->refused, NODE_BECAUSE_CAPACITY);
			continue;
		}
		assert_int_equal(engine_postponed(&F.e, &soonest), 0);
		assert_int_equal(nm->refused, NODE_BECAUSE_NONE);
	}
	refuse("why");
	for (int k = 0; k < 4; k++)
		refuse("why");
	details("PENDING", 7, 6, "");
	later("PENDING", 7, 0, F.comment); /* released by hand */
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	fleet_fini(&F.e.fleet);
}

/* F50: whatever became of a job that was refused, its refusals end with it: slurmctld may lose its
 * state, and whoever has that number next was never refused. */
static void test_refusals_end_with_the_job(void **state)
{
	static const struct {
		const char *state; /* when it was to be told to wait ... */
		unsigned priority;
		const char *comment, *next; /* ... and a minute later */
		bool lasting;
	} rows[] = {
		{"FAILED", 7, "", "FAILED", true}, /* one of srun: it ended with the refusal */
		{"FAILED", 7, "", NULL, true},
		{"RUNNING", 7, "", "COMPLETED", true}, /* elsewhere */
		{"CONFIGURING", 7, "", "CANCELLED", false},
		{"PENDING", 0, "", "CANCELLED", true},   /* held */
		{"PENDING", 7, "mine", "RUNNING", true}, /* and then over, as are all */
		{"PENDING", 7, "", "RUNNING", false},
		{"PENDING", 7, "", "PENDING", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		F.bad.hint.lasting = rows[i].lasting;
		refuse("why");
		refuse("why");
		assert_int_equal(F.put.r.count, 2);
		details(rows[i].state, rows[i].priority, 6, rows[i].comment);
		W.now += 10001;
		details(rows[i].state, rows[i].priority, 6, rows[i].comment);
		for (int k = 0; k < 2 && rows[i].next != NULL; k++)
			later(rows[i].next, rows[i].priority, 6, rows[i].comment);
		W.now += 61000;
		postpone_part.at[PART_RUN](&F.e);
		postpone_details(&F.e, "", 0, W.now, NULL);
		assert_int_equal(F.dels, i + 1);
		assert_int_equal(postpone_look(&F.e, 107).count, 0);
	}
}

static void test_no_problem_of_a_job_that_slurmctld_has_forgotten(void **state)
{
	struct engine_postponed soonest;

	(void)state;
	for (int k = 0; k < 4; k++)
		refuse("why");
	details("PENDING", 7, 6, "");
	W.now += 61000;
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7_2");
	postpone_details(&F.e, "", 0, W.now, NULL);
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	/* F50: slurmctld has lost its state.  Whoever has that number next was never refused. */
	assert_int_equal(F.dels, 1);
	refuse("why");
	assert_int_equal(F.put.r.count, 1);
}

/* F50: nor was whoever has the number of one next that ended before it could be told. */
static void test_the_refusal_of_a_job_that_ended_untold_is_forgotten(void **state)
{
	static const struct {
		const char *state;
		unsigned dels;
	} rows[] = {{"NODE_FAIL", 1}, {"CANCELLED", 1}, {"RUNNING", 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(setup(state), 0);
		refuse("why");
		details(rows[i].state, 7, 0, "");
		assert_int_equal(F.dels, 0); /* it may still be requeued */
		W.now += 10001;
		details(rows[i].state, 7, 0, "");
		assert_int_equal(F.dels, rows[i].dels);
		assert_int_equal(F.ended, rows[i].dels != 0 ? 107 : 0);
		refuse("why");
		assert_int_equal(F.put.r.count, 2 - rows[i].dels);
		assert_int_equal(teardown(state), 0);
	}
	assert_int_equal(setup(state), 0);
}

/* F50: what burstd says to "7" the components of a heterogeneous job would hear, all of them: it is
 * another job than the one that was refused. */
static void test_a_number_that_a_het_job_has_now_is_not_told(void **state)
{
	static const struct {
		const char *id;
		const char *het; /* as squeue has it */
		unsigned told;
	} rows[] = {{"7", "N/A", 1}, {"7", "7", 0}, {"7+0", "7", 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slurm_job j = {.number = 7};
		char line[700], start[24];

		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
		(void)snprintf(j.id, sizeof(j.id), "%s", rows[i].id);
		(void)snprintf(F.bad.text, sizeof(F.bad.text), "why");
		postpone_job(&F.e, &j, &F.bad);
		(void)snprintf(start, sizeof(start), "%lld", (long long)(W.now / 1000 + 6));
		(void)snprintf(line, sizeof(line),
			       "%-24s%-24s%-24s%-24s%-300s%-24s%-24s%-24s%-24s\n", "7", "PENDING",
			       "7", start, "", "1", "1", "1", rows[i].het);
		postpone_part.at[PART_RUN](&F.e);
		W.now++;
		postpone_details(&F.e, line, strlen(line), W.now, NULL);
		assert_int_equal(F.told, rows[i].told);
	}
}

/* What the metrics and the table of jobs have of them, which is nothing of who they are.  Of those
 * that were refused before burstd started the reason is not known. */
static void test_they_are_counted_by_reason(void **state)
{
	struct engine_joblist_job out;
	size_t n[NODE_NREASONS], seen = 0;
	const void *at = NULL;

	(void)state;
	F.bad.reason = NODE_BECAUSE_QUOTA;
	F.bad.nodes = 4;
	refuse("no quota");
	assert_false(postpone_each(&F.e, &at, &out) &&
		     out.number != 7); /* it is told in a moment */
	details("PENDING", 1, 0, "");
	postpone_load(&F.e, &(struct journal_refusal){
				    7, {.count = 1, .last_ms = BEGAN, .wait_ms = REFUSAL_DAY_MS}});
	engine_waiting(&F.e, n);
	assert_int_equal(n[NODE_BECAUSE_QUOTA], 1);
	assert_int_equal(n[NODE_BECAUSE_NONE], 1);
	assert_int_equal(n[NODE_BECAUSE_CAPACITY], 0);
	for (at = NULL; postpone_each(&F.e, &at, &out); seen++) {
		assert_int_equal(out.state, ENGINE_JOBLIST_WAITS);
		if (out.number != 107)
			continue;
		assert_string_equal(out.id, "7_2");
		assert_int_equal(out.reason, NODE_BECAUSE_QUOTA);
		assert_int_equal(out.nodes, 4);
		assert_int_equal(out.refusals, 1);
		assert_true(out.until_ms > W.now && out.since_ms <= W.now && out.since_ms != 0);
	}
	assert_int_equal(seen, 2);
	W.now += 2 * REFUSAL_DAY_MS;
	engine_waiting(&F.e, n);
	assert_int_equal(n[NODE_BECAUSE_QUOTA] + n[NODE_BECAUSE_NONE], 0);
	at = NULL;
	assert_false(postpone_each(&F.e, &at, &out));
	assert_null(at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_comment_is_taken_back),
		TEST(test_a_comment_that_somebody_went_on_writing_stays),
		TEST(test_it_is_taken_back_until_it_is_gone),
		TEST(test_looked_at_when_its_nodes_are_bought),
		TEST(test_others_words_are_taken_back_too),
		TEST(test_no_problem_of_a_job_that_is_over),
		TEST(test_refusals_end_with_the_job),
		TEST(test_no_problem_of_a_job_that_slurmctld_has_forgotten),
		TEST(test_the_refusal_of_a_job_that_ended_untold_is_forgotten),
		TEST(test_a_number_that_a_het_job_has_now_is_not_told),
		TEST(test_they_are_counted_by_reason),
	};

	return cmocka_run_group_tests_name("postpone/over", tests, NULL, NULL);
}
