/* ladder_fate.c: a job that ends of the signal to save its work is requeued, as its budget says. */
#include "ladder_lab.h"

#include "money/ladder.h"

/* As squeue shows it by SLURM_DETAIL_ARGS; start: seconds since 1970. */
static void shows(struct fix *f, const char *state, int64_t start)
{
	char text[700], begin[24];
	int n;

	(void)snprintf(begin, sizeof(begin), "%lld", (long long)start);
	n = snprintf(text, sizeof(text), "%-24s%-24s%-24s%-24s%-300s%-24s%-24s%-24s%-24s%-24s\n",
		     "7", state, "5", begin, "(null)", "1", "1", "1", "0", "0");
	ladder_fates(f->e, text, (size_t)n, NULL);
	engine_commit(f->e);
}

static struct ending *ending(struct fix *f)
{
	return job_find(f->e, 7, JOB_ENDING);
}

static int64_t seconds(struct fix *f, int64_t ago_ms)
{
	return engine_wall(f->e, engine_now(f->e) - ago_ms) / 1000;
}

/* It is asked about in this turn, and by ladder_part's own time. */
static void asked(struct fix *f)
{
	assert_non_null(ending(f));
	assert_int_not_equal(ending(f)->look_ms, 0);
	assert_true(ladder_part.next_ms(f->e) <= engine_now(f->e) + 1000);
	ending(f)->look_ms = engine_now(f->e);
	f->e->slurm->running[SLURM_FATES] = NULL;
	ending(f)->asked = true;
}

static const char *said(struct fix *f)
{
	engine_commit(f->e);
	return rows(f, "SELECT type FROM event WHERE type LIKE 'job-%' ORDER BY rowid");
}

static void sent(struct fix *f, const char *verb, const struct err *err)
{
	const struct slurm_order o = {
		.verb = verb, .names = "7", .reason = "", .what = "", .of_jobs = true};

	checkpoint_told(f->e, &o, err);
	ladder_told(f->e, &o, err);
	engine_commit(f->e);
}

static struct fix *signalled(void **state, uint32_t requeue, uint32_t kill)
{
	struct fix *f = used_up(state, requeue, kill);

	f->e->conf->pools[0].checkpoint_signal = mem_strdup("USR1");
	reached(f, requeue != 0 ? BUDGET_REQUEUES : BUDGET_KILLS, MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	reached(f, requeue != 0 ? BUDGET_REQUEUES : BUDGET_KILLS, 9 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "signal 7: USR1;");
	ran(f);
	return f;
}

/* ... and squeue shows it no more. */
static struct fix *died(void **state)
{
	struct fix *f = signalled(state, AT, 0);

	sent(f, "signal", NULL);
	jobs(f, "7|7|COMPLETING|gpu|None|c[1-2]\n");
	assert_int_equal(ending(f)->look_ms, 0);
	jobs(f, "");
	asked(f);
	return f;
}

#define SENT_BACK "requeue 7: it ended when it was told to save its work;"

static void test_a_job_that_dies_of_the_signal_is_requeued(void **state)
{
	static const char *const states[] = {"FAILED", "OUT_OF_MEMORY"};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct fix *f = died(state);

		shows(f, "COMPLETING", seconds(f, HOUR));
		asked(f);
		assert_string_equal(orders(f), "");
		shows(f, states[i], seconds(f, HOUR));
		assert_string_equal(orders(f), SENT_BACK);
		assert_string_equal(said(f), "job-warned;job-sent-back;");
		/* One requeue is enough, and an older answer is none. */
		ran(f);
		asked(f);
		shows(f, states[i], seconds(f, HOUR));
		assert_string_equal(orders(f), "");
		asked(f);
		sent(f, "requeue", NULL);
		assert_false(ending(f)->asked);
		asked(f);
		shows(f, "PENDING", seconds(f, -2 * MINUTE));
		assert_null(ending(f));
		assert_string_equal(rows(f, "SELECT count(*) FROM ending"), "0;");
		/* It waits for money. */
		assert_int_equal(f->e->money->nwaits, 1);
		assert_string_equal(rows(f, "SELECT job, money FROM refusal"), "7 1;");
	}
}

/* squeue may show that first. */
static void test_a_requeued_job_that_squeue_shows(void **state)
{
	struct fix *f = died(state);

	shows(f, "FAILED", seconds(f, HOUR));
	assert_string_equal(orders(f), SENT_BACK);
	sent(f, "requeue", NULL);
	jobs(f, "7|7|PENDING|gpu|BeginTime|\n");
	assert_null(ending(f));
	assert_int_equal(f->e->money->nwaits, 1);
	/* It has begun anew already: that is another run, with its own time. */
	f = died(state);
	shows(f, "FAILED", seconds(f, HOUR));
	(void)orders(f);
	ran(f);
	jobs(f, RUNS);
	assert_non_null(ending(f));
	assert_false(ending(f)->gone);
	assert_string_equal(orders(f), "signal 7: USR1;");
	f = died(state);
	shows(f, "RUNNING", seconds(f, 0));
	assert_null(ending(f));
}

static void test_a_job_that_is_done_is_let_alone(void **state)
{
	static const char *const states[] = {"COMPLETED", "CANCELLED", "TIMEOUT", "NODE_FAIL"};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct fix *f = died(state);

		shows(f, states[i], seconds(f, HOUR));
		assert_string_equal(orders(f), "");
		assert_null(ending(f));
		assert_string_equal(said(f), "job-warned;job-ended;");
		assert_string_equal(rows(f, "SELECT count(*) FROM ending"), "0;");
		assert_int_equal(f->e->money->nwaits, 0);
	}
}

/* F50: it ended by itself in a run that began since, or another job has its number now. */
static void test_another_run_that_failed_is_let_alone(void **state)
{
	struct fix *f = died(state);

	shows(f, "FAILED", seconds(f, -2000));
	assert_string_equal(orders(f), "");
	assert_null(ending(f));
	/* It had requeued itself. */
	f = died(state);
	shows(f, "PENDING", seconds(f, -2 * MINUTE));
	assert_null(ending(f));
	assert_int_equal(f->e->money->nwaits, 0);
}

/* A job that was not told, or is to be cancelled, or that slurmctld does not requeue. */
static void test_jobs_that_are_not_followed(void **state)
{
	struct fix *f = used_up(state, AT, 0);

	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	jobs(f, RUNS);
	jobs(f, "");
	assert_null(ending(f));
	f = signalled(state, 0, AT);
	sent(f, "signal", NULL);
	jobs(f, "");
	assert_null(ending(f));
	f = signalled(state, AT, 0);
	sent(f, "signal", NULL);
	refuses(f, "requeue");
	jobs(f, "");
	assert_null(ending(f));
	assert_string_equal(orders(f), "");
	/* It was to be requeued, and is cancelled. */
	f = signalled(state, AT, AT);
	sent(f, "signal", NULL);
	reached(f, BUDGET_REQUEUES, HOUR);
	reached(f, BUDGET_KILLS, HOUR);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
	ran(f);
	sent(f, "requeue", NULL);
	ending(f)->again_ms = 0;
	jobs(f, RUNS);
	assert_string_equal(orders(f), "cancel 7: " USED_UP ";");
	jobs(f, "");
	assert_null(ending(f));
	/* It goes when nothing ends it any more. */
	f = used_up(state, AT, 0);
	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	jobs(f, RUNS);
	f->e->conf->budgets[1].amount_nano = 1000 * EUR;
	turn(f);
	assert_null(ending(f));
}

static void test_slurmctld_refuses_or_does_not_hear(void **state)
{
	static const struct err late = {.code = ERR_NOTSENT, .msg = "too late"};
	struct fix *f = died(state);
	struct err away;

	(void)err_set(&away, ERR_NET, "Unable to contact slurm controller");
	for (int i = 0; i < 3; i++) {
		shows(f, "FAILED", seconds(f, HOUR));
		assert_string_equal(orders(f), SENT_BACK);
		ran(f);
		sent(f, "requeue", i == 0 ? &late : &away);
		asked(f);
	}
	shows(f, "FAILED", seconds(f, HOUR));
	(void)orders(f);
	ran(f);
	refuses(f, "requeue");
	assert_non_null(ending(f));
	asked(f);
	shows(f, "FAILED", seconds(f, HOUR));
	assert_string_equal(orders(f), "");
	assert_null(ending(f));
	assert_string_equal(said(f), "job-warned;job-sent-back;job-ended;");
	/* slurmctld has forgotten it; or squeue failed. */
	f = died(state);
	ladder_fates(f->e, NULL, 0, &away);
	assert_non_null(ending(f));
	ladder_fates(f->e, "", 0, NULL); /* rescue.c asked about others */
	assert_non_null(ending(f));
	asked(f);
	ladder_fates(f->e, "", 0, NULL);
	assert_null(ending(f));
	assert_string_equal(said(f), "job-warned;job-ended;");
}

/* The answer to the signal is still to come. */
static void test_a_job_that_dies_at_once(void **state)
{
	struct fix *f = signalled(state, AT, 0);

	jobs(f, "");
	asked(f);
	shows(f, "FAILED", seconds(f, HOUR));
	assert_string_equal(orders(f), SENT_BACK);
}

/* A node of its goes, too: rescue.c requeues it, and if it does not, the ladder does. */
static void test_a_job_that_loses_a_node_as_well(void **state)
{
	struct fix *f = died(state);
	struct journal_rescue r = {.job = 7,
				   .id = "7",
				   .node = "c1",
				   .at_ms = engine_now(f->e),
				   .signal = JOURNAL_SIGNAL_SENT};

	rescue_load(f->e, &r);
	shows(f, "FAILED", seconds(f, HOUR));
	assert_string_equal(orders(f), "");
	asked(f);
	job_drop(f->e, job_find(f->e, 7, JOB_RESCUED));
	shows(f, "FAILED", seconds(f, HOUR));
	assert_string_equal(orders(f), SENT_BACK);
}

/* There is money again before the job is seen to have died. */
static void test_a_job_that_nothing_ends_any_more(void **state)
{
	struct fix *f = signalled(state, AT, 0);

	sent(f, "signal", NULL);
	f->e->conf->budgets[1].amount_nano = 1000 * EUR;
	turn(f);
	asked(f);
	shows(f, "RUNNING", seconds(f, HOUR));
	turn(f);
	asked(f);
	shows(f, "FAILED", seconds(f, HOUR));
	assert_string_equal(orders(f), SENT_BACK);
	sent(f, "requeue", NULL);
	asked(f);
	shows(f, "PENDING", seconds(f, -2 * MINUTE));
	assert_null(ending(f));
	assert_int_equal(f->e->money->nwaits, 0); /* nothing is lacking */
	/* It saves its work, and goes on. */
	f = signalled(state, AT, 0);
	sent(f, "signal", NULL);
	f->e->conf->budgets[1].amount_nano = 1000 * EUR;
	turn(f);
	asked(f);
	ending(f)->j.at_ms -= 3 * MINUTE;
	shows(f, "RUNNING", seconds(f, HOUR));
	assert_null(ending(f));
	/* Likewise if squeue shows it first. */
	f = signalled(state, AT, 0);
	sent(f, "signal", NULL);
	f->e->conf->budgets[1].amount_nano = 1000 * EUR;
	reached(f, BUDGET_REQUEUES, engine_now(f->e));
	jobs(f, RUNS);
	asked(f);
	assert_true(ending(f)->over);
}

static void restart(struct fix *f)
{
	struct conf *c = ladder(1000 * EUR, 2 * EUR);

	c->budgets[1].requeue_at = AT;
	c->pools[0].checkpoint_signal = mem_strdup("USR1");
	engine_commit(f->e);
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
	holds_part.at[PART_START](f->e);
	ladder_part.at[PART_START](f->e);
	(void)orders(f);
	ran(f);
}

/* It is asked about though squeue has not shown any jobs yet. */
static void test_a_job_that_dies_while_burstd_is_away(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct fix *f = signalled(state, AT, 0);

		if (i != 1) /* 1: burstd dies before slurmctld has answered */
			sent(f, "signal", NULL);
		if (i == 2) { /* ... or before slurmctld has the order */
			jobs(f, "");
			asked(f);
			shows(f, "FAILED", seconds(f, HOUR));
			assert_string_equal(orders(f), SENT_BACK);
		}
		restart(f);
		if (i == 3) {
			jobs(f, "");
			assert_non_null(ending(f));
		}
		asked(f);
		shows(f, "FAILED", seconds(f, HOUR));
		assert_string_equal(orders(f), SENT_BACK);
		sent(f, "requeue", NULL);
		restart(f);
		asked(f);
		shows(f, "PENDING", seconds(f, -2 * MINUTE));
		assert_null(ending(f));
		assert_int_equal(f->e->money->nwaits, 1);
	}
}

/* ... and one that goes on is squeue's matter. */
static void test_a_job_that_goes_on_over_a_restart(void **state)
{
	struct fix *f = signalled(state, AT, 0);

	sent(f, "signal", NULL);
	restart(f);
	asked(f);
	shows(f, "RUNNING", seconds(f, HOUR));
	assert_non_null(ending(f));
	assert_int_equal(ending(f)->look_ms, 0);
	/* A signal that slurmctld did not hear is no reason to requeue it. */
	f = signalled(state, AT, 0);
	{
		struct err away;

		(void)err_set(&away, ERR_NET, "Unable to contact slurm controller");
		sent(f, "signal", &away);
	}
	restart(f);
	assert_int_equal(ending(f)->look_ms, 0);
	jobs(f, "");
	assert_null(ending(f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_job_that_dies_of_the_signal_is_requeued),
		TEST(test_a_requeued_job_that_squeue_shows),
		TEST(test_a_job_that_is_done_is_let_alone),
		TEST(test_another_run_that_failed_is_let_alone),
		TEST(test_jobs_that_are_not_followed),
		TEST(test_slurmctld_refuses_or_does_not_hear),
		TEST(test_a_job_that_dies_at_once),
		TEST(test_a_job_that_loses_a_node_as_well),
		TEST(test_a_job_that_nothing_ends_any_more),
		TEST(test_a_job_that_dies_while_burstd_is_away),
		TEST(test_a_job_that_goes_on_over_a_restart),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
