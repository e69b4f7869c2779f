/* promises.c: what is promised to jobs that waited for money, and may try again. */
#include "waits_lab.h"

/* I30: all that waited were let go whenever there was enough for each of them alone, and all but
 * one were requeued. */
static void test_money_is_promised_once(void **state)
{
	static const struct {
		int64_t needs[3]; /* of what is left, in percent */
		const char *go;
	} rows[] = {
		{{60, 60, 60}, "+--"},
		{{60, 60, 40}, "+-+"},  /* what is left after the first is the third's */
		{{101, 60, 40}, "-++"}, /* one that needs more keeps nobody waiting */
		{{50, 50, 1}, "++-"},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t needs[3], left;

		print_message("# %zu\n", i);
		(void)teardown(state);
		(void)setup(state);
		f = *state;
		bought(f);
		left = line(f, "all").left / 100 * 100;
		for (size_t k = 0; k < 3; k++)
			needs[k] = left / 100 * rows[i].needs[k];
		needs[2] += line(f, "all").left - left;
		wait_in_order(f, needs, 3);
		let_turn(f);
		expect_let_go(f, rows[i].go);
		f->e->money->freed = true; /* it is promised still */
		let_turn(f);
		expect_let_go(f, rows[i].go);
	}
}

/* Nor twice while the first one is still to be told that it may go: it is looked at again. */
static void test_who_is_still_to_go_comes_first(void **state)
{
	struct fix *f = *state;
	int64_t left;

	bought(f);
	left = line(f, "all").left;
	wait_in_order(f, (int64_t[]){left, left}, 2);
	postpone_find(f->e, 9)->refusal.last_ms = waits_at(f, 0)->at_ms - 1;
	for (int i = 0; i < 2; i++) {
		let_turn(f);
		assert_int_equal(f->e->money->nwaits, 2);
		assert_false(postpone_find(f->e, 10)->anew);
	}
	waits_at(f, 0)->at_ms -= MONEY_UNSENT_MS; /* it has ended */
	postpone_find(f->e, 9)->until_ms = 0;
	postpone_find(f->e, 9)->refusal.last_ms = waits_at(f, 0)->at_ms - 1;
	holds_waits_tidy(f->e);
	let_turn(f);
	assert_true(postpone_find(f->e, 10)->anew);
}

/* I30: a job of srun ends when it is refused, and others are cancelled as they wait, or once they
 * may try again.  What they would have needed was kept for them for ten minutes, or five. */
static void test_who_has_ended_keeps_nobody_waiting(void **state)
{
	enum { AS_IT_WAITS, AS_IT_MAY_GO, NOT_ENDED, NENDS };
	struct fix *f = *state;

	for (int how = AS_IT_WAITS; how < NENDS; how++) {
		struct postponed *p;
		int64_t left;

		print_message("# %d\n", how);
		(void)teardown(state);
		(void)setup(state);
		f = *state;
		bought(f);
		left = line(f, "all").left;
		wait_in_order(f, (int64_t[]){left, left}, 2);
		if (how == AS_IT_MAY_GO) {
			let_turn(f);
			expect_let_go(f, "+-");
		}
		p = postpone_find(f->e, 9);
		if (how == NOT_ENDED) {
			postpone_settle(f->e, p, false);
			assert_int_equal(f->e->money->nwaits, 2);
			continue;
		}
		p->asked = true; /* slurmctld shows it no more */
		postpone_details(f->e, "", 0, engine_now(f->e), NULL);
		assert_int_equal(f->e->money->nwaits, 1);
		assert_int_equal(f->e->money->npromises, 0);
		assert_true(holds_waits_next_ms(f->e) <= engine_now(f->e) + 2000);
		let_turn(f);
		assert_true(postpone_find(f->e, 10)->anew);
	}
}

/* Nor does one that waits no more, though it may be told to once more: it is held, or it was let go
 * by hand and has bought. */
static void test_who_does_not_wait_keeps_nobody_waiting(void **state)
{
	enum { HELD, BOUGHT, TO_BE_TOLD, NENDS };
	struct fix *f = *state;

	for (int how = HELD; how < NENDS; how++) {
		struct postponed *p;
		int64_t left;

		print_message("# %d\n", how);
		(void)teardown(state);
		(void)setup(state);
		f = *state;
		bought(f);
		left = line(f, "all").left;
		wait_in_order(f, (int64_t[]){left, left, left}, 3);
		p = postpone_find(f->e, 9);
		p->until_ms = 0;
		p->untold = how == TO_BE_TOLD;
		if (how == BOUGHT)
			holds_waits_bought(f->e, 9);
		else
			p->refusal.last_ms = waits_at(f, 0)->at_ms -= MONEY_UNTOLD_MS;
		let_turn(f);
		assert_int_equal(postpone_find(f->e, 10)->anew, how != TO_BE_TOLD);
		assert_true(f->e->money->freed); /* it is looked at again */
		assert_int_equal(f->e->money->nwaits, how != TO_BE_TOLD ? 2 : 3);
		let_turn(f);
		assert_int_equal(postpone_find(f->e, 10)->anew, how != TO_BE_TOLD);
		assert_false(postpone_find(f->e, 11)->anew); /* that money is the second one's */
	}
}

/* It is until the job has bought, was refused once more, or has not come for long. */
static void test_until_when_it_is_promised(void **state)
{
	enum { BUYS, IS_REFUSED, RUNS, IS_LATE, RELOADS, NENDS };
	struct fix *f = *state;

	for (int how = BUYS; how < NENDS; how++) {
		struct budget_no no = {.lack = BUDGET_LACKS_MONEY, .market = PROVIDER_ON_DEMAND};
		int64_t left;

		print_message("# %d\n", how);
		(void)teardown(state);
		(void)setup(state);
		f = *state;
		bought(f);
		left = line(f, "all").left;
		wait_in_order(f, (int64_t[]){left, left}, 2);
		let_turn(f);
		expect_let_go(f, "+-");
		assert_int_equal(f->e->money->npromises, 1);
		assert_false(f->e->money->freed);
		assert_int_equal(holds_waits_next_ms(f->e),
				 promised_at(f, 0)->at_ms + MONEY_PROMISE_MS);
		switch (how) {
		case BUYS:
			holds_waits_bought(f->e, 10); /* that is another one */
			assert_int_equal(f->e->money->npromises, 1);
			holds_waits_bought(f->e, 9);
			break;
		case IS_REFUSED:
			no.budget = &f->e->conf->budgets[0];
			no.needs = left + 1;
			holds_refused(f->e, 9, &no);
			break;
		case RUNS: /* on machines that are up */
			promises_end(f->e, 9);
			break;
		case IS_LATE:
			promised_at(f, 0)->at_ms -= MONEY_PROMISE_MS;
			break;
		default:
			assert_int_equal(engine_reload(f->e, conf_of(7 * EUR, 8 * EUR), NULL), 0);
			assert_int_equal(f->e->money->npromises, 0);
			assert_null(f->e->jobs->parts[JOB_PROMISED]);
			assert_int_equal(holds_waits_next_ms(f->e), INT64_MAX);
			continue;
		}
		assert_true(holds_waits_next_ms(f->e) <= engine_now(f->e) + 2000);
		let_turn(f);
		expect_let_go(f, "++");
	}
}

/* A job has one promise, and all together are bounded: beyond that the oldest ends. */
static void test_how_much_is_promised(void **state)
{
	struct budget_no no = {.lack = BUDGET_LACKS_MONEY, .market = PROVIDER_ON_DEMAND};
	struct fix *f = *state;

	bought(f);
	no.budget = &f->e->conf->budgets[0];
	no.needs = line(f, "all").left - 1;
	promises_make(f->e, 9, &no);
	no.needs = 1;
	promises_make(f->e, 9, &no);
	assert_int_equal(f->e->money->npromises, 1);
	no.needs = line(f, "all").left - 1;
	assert_false(budgets_lack(f->e->money->budgets, &no));
	no.needs++;
	assert_true(budgets_lack(f->e->money->budgets, &no));
	no.needs = 1;
	for (uint64_t job = 10; job < 10 + MONEY_WAITS; job++)
		promises_make(f->e, job, &no);
	assert_int_equal(f->e->money->npromises, MONEY_WAITS);
	assert_null(job_find(f->e, 9, JOB_PROMISED));
	assert_non_null(job_find(f->e, 10, JOB_PROMISED));
	no.needs = line(f, "all").left - MONEY_WAITS;
	assert_false(budgets_lack(f->e->money->budgets, &no));
}

/* slurmctld may hold a requeued job back for longer than a promise lasts otherwise: then it lasts
 * as much longer, within reason. */
static void test_a_promise_outlasts_slurmctlds_hold(void **state)
{
	static const struct {
		const char *auth;
		int64_t lasts_s;
	} rows[] = {{"cred_expire=20", 300},
		    {"cred_expire=120", 300},
		    {"cred_expire=600", 780},
		    {"cred_expire=100000", 3779}};
	const struct budget_no no = {.lack = BUDGET_LACKS_MONEY, .needs = 1};
	struct fix *f = *state;
	char config[300];

	bought(f);
	promises_make(f->e, 9, &no);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)snprintf(config, sizeof(config),
			       "Configuration data as of 2026-11-28T00:00:00\nAuthInfo = %s\n"
			       "BOOT_TIME = 2026-11-28T00:00:00\nSLURM_VERSION = 22.05.8\n\n",
			       rows[i].auth);
		prereq_answer(f->e, SLURM_CONFIG, config, strlen(config));
		prereq_answer(f->e, SLURM_PARTITIONS, "", 0);
		assert_int_equal(promises_next_ms(f->e) - promised_at(f, 0)->at_ms,
				 1000 * rows[i].lasts_s);
	}
}

/* What is promised to others stays when one has bought, in the order in which it was promised. */
static void test_one_of_three_has_bought(void **state)
{
	struct budget_no no = {
		.lack = BUDGET_LACKS_MONEY, .needs = 1, .market = PROVIDER_ON_DEMAND};
	struct fix *f = *state;
	struct money_state *m;

	bought(f);
	m = f->e->money;
	no.budget = &f->e->conf->budgets[0];
	for (uint64_t job = 9; job <= 11; job++)
		promises_make(f->e, job, &no);
	promises_end(f->e, 9);
	assert_int_equal(m->npromises, 2);
	assert_int_equal(promised_at(f, 0)->in.job->number, 10);
	assert_int_equal(promised_at(f, 1)->in.job->number, 11);
	promises_end(f->e, 11);
	assert_int_equal(m->npromises, 1);
	assert_int_equal(promised_at(f, 0)->in.job->number, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_money_is_promised_once),
		TEST(test_who_is_still_to_go_comes_first),
		TEST(test_who_has_ended_keeps_nobody_waiting),
		TEST(test_who_does_not_wait_keeps_nobody_waiting),
		TEST(test_until_when_it_is_promised),
		TEST(test_how_much_is_promised),
		TEST(test_a_promise_outlasts_slurmctlds_hold),
		TEST(test_one_of_three_has_bought),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
