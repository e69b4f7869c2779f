/* test_figures.c - the figures of a period, against numbers that were computed by hand.
 *
 * A machine has 8 GPUs and costs 3600 an hour, so a second of it is 1.00.  c0 is created at 100,
 * ready at 200, and ended at 1000: 900.00, of which 800 s are ready, 6400 GPU seconds.  Job 1 has 4
 * GPUs for 200 s: 100.00, 800 GPU seconds.  Job 2 loses 100 s of all 8: 100.00, 800 GPU seconds.
 * Nobody had 4800 GPU seconds, for 600.00; 100.00 are the boot. */
#include "ledger/figures.h"
#include "people.h"

#define UNIT INT64_C(1000000000)

static int setup_machine(void **state)
{
	int rc = setup(state);
	const struct fixture *f = *state;

	fates[0] = (struct fate){"c0", 100, 200, 1000, true, false};
	write_life(f, &fates[0]);
	pass(f, 1);
	job(f, &(struct job){1, 4, 300, 500, "COMPLETED", "c0"});
	job(f, &(struct job){2, 8, 600, 700, "NODE_FAIL", "c0"});
	return rc;
}

static void make(const struct fixture *f, struct figures *all, const char *user)
{
	const struct figures_want w = {0, 100000, user};
	struct err e = {0};

	pass(f, 300000);
	if (figures_make(all, f->l, &w, &e) < 0)
		fail_msg("%s", e.msg);
}

static void said(const struct fixture *f, uint64_t job, int64_t gpus)
{
	const struct fact_said s = {.at_ms = (T0 + 50) * 1000,
				    .job = job,
				    .id = "1",
				    .account = "physics",
				    .user = "anna",
				    .partition = "gpu",
				    .qos = "",
				    .wckey = "",
				    .nodes = 1,
				    .gpus = gpus};
	struct err e = {0};

	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(ledger_put_said(f->l, &s, &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
}

static void test_golden(void **state)
{
	const struct fixture *f = *state;
	struct figures all;
	const struct figure *one;
	struct str out;

	said(f, 1, 3); /* it had 4 */
	said(f, 2, 8);
	make(f, &all, NULL);
	assert_int_equal(all.n, 1);
	one = &all.v[0];
	assert_string_equal(one->currency, "EUR");
	assert_true(one->nano == 900 * UNIT);
	assert_true(one->classes[ALLOCATE_IDLE] == 600 * UNIT);
	assert_true(one->classes[ALLOCATE_LOST] == 100 * UNIT);
	assert_true(one->classes[ALLOCATE_BOOT] == 100 * UNIT);
	assert_int_equal(one->ready_s, 6400);
	assert_int_equal(one->held_s, 1600);
	assert_int_equal(one->lost_s, 800);
	assert_int_equal(one->asked_s, 600 + 800);
	assert_true(figures_useful_hour(one) == 4050 * UNIT); /* 900 / 800 s x 3600 */
	str_init(&out, OUT);
	figures_table(&all, &out);
	assert_string_equal(
		out.p,
		"\nin EUR\n"
		"  GPU-hours ready              1.78\n"
		"  GPU-hours held               0.44    25.0 % of those ready (utilisation)\n"
		"  GPU-hours asked for          0.39\n"
		"  GPU-hours used                  -  nobody measures it\n"
		"  idle                       600.00    66.7 % of cost\n"
		"  waste                      100.00    11.1 % of cost: lost, boot_failed, orphan\n"
		"  a useful GPU-hour         4050.00\n");
	for (const char *line = out.p; *line != '\0'; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80);
	str_fini(&out);
	figures_fini(&all);
}

static void json_of(const struct figures *all, struct str *out)
{
	struct jsonw w = {.out = out, .first = true};

	str_clear(out);
	jsonw_open(&w, NULL, '{');
	figures_json_put(all, &w);
	jsonw_close(&w, '}');
}

static void test_json(void **state)
{
	const struct fixture *f = *state;
	struct figures all;
	struct str out;

	str_init(&out, OUT);
	said(f, 1, 3);
	make(f, &all, NULL);
	json_of(&all, &out);
	assert_string_equal(
		out.p,
		"{\"figures\":[{\"currency\":\"EUR\",\"cost\":\"900.00\",\"gpu_seconds_ready\":"
		"6400,"
		"\"utilisation_percent\":\"25.0\",\"idle\":\"600.00\",\"idle_percent\":\"66.7\","
		"\"gpu_seconds_held\":1600,\"gpu_seconds_lost\":800,\"waste\":\"100.00\","
		"\"waste_percent\":\"11.1\",\"useful_gpu_hour\":\"4050.00\",\"spot_list\":\"0.00\","
		"\"spot_saving\":\"0.00\",\"spot_unlisted\":\"900.00\"}]}");
	figures_fini(&all);
	str_fini(&out);
}

/* Of job 2 nothing was said, so what was asked for is not known, and not what job 1 asked for. */
static void what_is_not_known_is_not_0(void **state)
{
	const struct fixture *f = *state;
	struct figures all;
	struct str out;

	str_init(&out, OUT);
	said(f, 1, 4);
	make(f, &all, NULL);
	assert_true(all.v[0].asked_s == FIGURES_UNKNOWN);
	figures_table(&all, &out);
	assert_non_null(strstr(out.p, "  GPU-hours asked for             -\n"));
	figures_fini(&all);
	/* Nor where somebody wrote numbers to the ledger that no job has. */
	said(f, 2, 4);
	exec(f->ledger, "UPDATE attempt SET nnodes = 4611686018427387904");
	make(f, &all, NULL);
	assert_true(all.v[0].asked_s == FIGURES_UNKNOWN);
	figures_fini(&all);
	/* All that was useful is lost. */
	exec(f->ledger, "DELETE FROM posting WHERE booking = 0 AND kind & 15 = 0");
	assert_true(figures_useful_hour(&(struct figure){.held_s = 8, .lost_s = 8, .nano = 1}) ==
		    FIGURES_UNKNOWN);
	assert_true(figures_tenths(5, 0) == FIGURES_UNKNOWN);
	str_fini(&out);
}

/* List prices of 7200, 3600 and 1800 an hour: spot saves half, nothing, and costs twice as much. */
static void spot_may_cost_more(void **state)
{
	static const struct {
		int64_t list_nano_h, list, saving;
		const char *line;
	} rows[] = {
		{7200, 1800, 900,
		 "  saved by spot              900.00    50.0 % of the list price\n"},
		{3600, 900, 0, "  saved by spot                0.00     0.0 % of the list price\n"},
		{1800, 450, -450,
		 "  saved by spot             -450.00  -100.0 % of the list price\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct figures all;
		struct str out;

		if (i > 0) {
			assert_int_equal(teardown(state), 0);
			assert_int_equal(setup_machine(state), 0);
		}
		str_init(&out, OUT);
		price(*state, "on-demand", "quote", rows[i].list_nano_h * UNIT, 0);
		make(*state, &all, NULL);
		assert_true(all.v[0].spot_list == rows[i].list * UNIT);
		assert_true(all.v[0].spot_list - all.v[0].spot_nano == rows[i].saving * UNIT);
		figures_table(&all, &out);
		assert_non_null(strstr(out.p, rows[i].line));
		figures_fini(&all);
		str_fini(&out);
	}
}

/* What nobody had becomes a late job's, again and again: differences below 0 are known, too. */
static void differences_have_list_prices(void **state)
{
	const struct fixture *f = *state;
	struct figures all;

	price(f, "on-demand", "quote", 7200 * UNIT, 0);
	for (int i = 0; i < 3; i++) {
		make(f, &all, NULL);
		assert_true(all.v[0].spot_nano == 900 * UNIT);
		assert_true(all.v[0].spot_list == 1800 * UNIT);
		assert_true(all.v[0].spot_unlisted == 0);
		figures_fini(&all);
		assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM booking"), i + 1);
		job(f, &(struct job){3 + i, 8, 700 + 100 * i, 750 + 100 * i, "COMPLETED", "c0"});
	}
	assert_true(ask(f->ledger, "SELECT MIN(list_nano) FROM posting") < -1);
}

/* The provider takes it, and gives all of it back: GPUs count once, and there is no cost. */
static void what_is_given_back_costs_nothing(void **state)
{
	const struct fixture *f = *state;
	struct figures all;
	struct str out;
	struct err e = {0};

	str_init(&out, OUT);
	life(f, "c0", "taken", 1000, 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_DRIVER "aws", "aws", &e), 0);
	price(f, "on-demand", "quote", 7200 * UNIT, 0);
	make(f, &all, NULL);
	assert_true(all.v[0].nano == 0);
	assert_true(all.v[0].classes[ALLOCATE_LOST] == 0);
	assert_int_equal(all.v[0].held_s, 1600);
	assert_int_equal(all.v[0].ready_s, 6400);
	assert_true(all.v[0].spot_list == 1800 * UNIT);
	figures_table(&all, &out);
	print_message("%s", out.p);
	assert_non_null(strstr(out.p, "  waste                        0.00\n"));
	assert_non_null(strstr(out.p, "  saved by spot             1800.00   100.0 % of the"));
	figures_fini(&all);
	str_fini(&out);
}

/* A user is shown neither how busy the machines are, nor what was idle. */
static void a_users_figures_are_of_their_jobs(void **state)
{
	const struct fixture *f = *state;
	struct figures all;
	struct str out;

	str_init(&out, OUT);
	job_of(f, &(struct work_of){"bob", "biology", 3, 8, 800, 900, {"c0"}});
	make(f, &all, "anna");
	assert_int_equal(all.n, 1);
	assert_true(all.v[0].nano == 300 * UNIT); /* 100 of the boot, which is for jobs 1 and 2 */
	assert_int_equal(all.v[0].held_s, 1600);
	figures_table(&all, &out);
	assert_null(strstr(out.p, "ready"));
	assert_null(strstr(out.p, "idle"));
	assert_non_null(
		strstr(out.p, "  waste                      100.00    33.3 % of cost: lost\n"));
	str_clear(&out);
	json_of(&all, &out);
	assert_null(strstr(out.p, "ready"));
	assert_null(strstr(out.p, "idle"));
	assert_null(strstr(out.p, "utilisation"));
	figures_fini(&all);
	make(f, &all, "bob");
	assert_true(all.v[0].nano == 100 * UNIT);
	assert_int_equal(all.v[0].held_s, 800);
	figures_fini(&all);
	make(f, &all, "carl");
	assert_int_equal(all.n, 0);
	figures_fini(&all);
	make(f, &all, ""); /* whose user is not known; and what nobody caused has none */
	assert_int_equal(all.n, 0);
	figures_fini(&all);
	str_fini(&out);
}

static void only_days_of_the_period_count(void **state)
{
	const struct figures_want w = {T0 / 86400 + 1, 100000, NULL};
	const struct fixture *f = *state;
	struct figures all;
	struct err e = {0};

	pass(f, 300000);
	assert_int_equal(figures_make(&all, f->l, &w, &e), 0);
	assert_int_equal(all.n, 0);
	figures_fini(&all);
}

/* Amounts of two currencies are never added. */
static void each_currency_has_its_own(void **state)
{
	const struct fixture *f = *state;
	struct figures all;

	exec(f->journal,
	     "INSERT INTO machine VALUES ('c9', 1, 0, 'h100', 'aws', 'a', 'p5', 'eu', 'eu-a', "
	     "'on-demand', 'CHF', 1000, 60000, 96, 960000, 8)");
	life(f, "c9", "created", 100, 0);
	life(f, "c9", "ready", 200, 0);
	life(f, "c9", "ended", 300, 300);
	make(f, &all, NULL);
	assert_int_equal(all.n, 2);
	assert_string_equal(all.v[0].currency, "CHF");
	assert_true(all.v[0].nano == 200 * UNIT);
	assert_int_equal(all.v[0].ready_s, 800);
	assert_int_equal(all.v[0].held_s, 0);
	assert_true(figures_useful_hour(&all.v[0]) == FIGURES_UNKNOWN);
	assert_string_equal(all.v[1].currency, "EUR");
	assert_true(all.v[1].nano == 900 * UNIT);
	figures_fini(&all);
}

static int64_t asked_of_many(const struct fixture *f, int more)
{
	const struct figures_want w = {0, 100000, NULL};
	struct figures all;
	struct err e = {0};
	int64_t asked;

	said(f, 1, 4);
	said(f, 2, 8);
	pass(f, 300000);
	exec(f->ledger,
	     "CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
	     "n "
	     "WHERE i < %d) SELECT 1000 + i AS i FROM n;"
	     "INSERT INTO posting SELECT NULL, 0, 1, 20000, 32, 1, i, 1, 2, 0, 0, 0, 1, 1, 8, -1, "
	     "20000 "
	     "FROM n;"
	     "INSERT INTO attempt SELECT i, i, 1, 2, 0, 0, 'x', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
	     "0, 1, 0 "
	     "FROM n;"
	     "INSERT INTO said SELECT i, 0, 'x', 'a', 'u', 'p', 'q', 'w', 1, 1, 1, 1, 1 FROM n",
	     FIGURES_JOBS_MAX - 2 + more);
	assert_int_equal(figures_make(&all, f->l, &w, &e), 0);
	assert_int_equal(all.v[0].held_s, 1600 + 2 * (FIGURES_JOBS_MAX - 2 + more));
	asked = all.v[0].asked_s;
	figures_fini(&all);
	return asked;
}

/* What each asked for is looked up one by one: of too many it is not known. */
static void of_too_many_jobs_it_is_not_known(void **state)
{
	assert_int_equal(asked_of_many(*state, 0), 1600 + 2 * (FIGURES_JOBS_MAX - 2));
	assert_int_equal(teardown(state), 0);
	assert_int_equal(setup_machine(state), 0);
	assert_true(asked_of_many(*state, 1) == FIGURES_UNKNOWN);
}

/* A job asks for GPUs in all, and has some of each of its nodes: 8 of 16 for 100 s. */
static void what_a_job_of_two_nodes_asked_for(void **state)
{
	const struct fixture *f = *state;
	struct figures all;

	fates[1] = (struct fate){"c1", 100, 200, 1000, true, false};
	write_life(f, &fates[1]);
	pass(f, 1);
	job(f, &(struct job){5, 8, 800, 900, "COMPLETED", "c0,c1"});
	said(f, 1, 4);
	said(f, 2, 8);
	said(f, 5, 8);
	make(f, &all, NULL);
	assert_int_equal(all.v[0].held_s, 1600 + 1600);
	assert_int_equal(all.v[0].asked_s, 1600 + 800);
	figures_fini(&all);
}

static void test_percents(void **state)
{
	static const struct {
		int64_t part, whole, tenths;
	} rows[] = {
		{1, 3, 333},
		{2, 3, 667},
		{1, 2000, 1}, /* 0.05 %: half away from zero */
		{-1, 2000, -1},
		{-1, 3, -333},
		{3, 2, 1500},
		{INT64_MAX, INT64_MAX, 1000},
		{INT64_MAX, 1, FIGURES_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(figures_tenths(rows[i].part, rows[i].whole) == rows[i].tenths);
}

#define FIGURES(t) cmocka_unit_test_setup_teardown(t, setup_machine, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIGURES(test_golden),
		FIGURES(test_json),
		FIGURES(what_is_not_known_is_not_0),
		FIGURES(spot_may_cost_more),
		FIGURES(differences_have_list_prices),
		FIGURES(what_is_given_back_costs_nothing),
		FIGURES(a_users_figures_are_of_their_jobs),
		FIGURES(only_days_of_the_period_count),
		FIGURES(each_currency_has_its_own),
		FIGURES(of_too_many_jobs_it_is_not_known),
		FIGURES(what_a_job_of_two_nodes_asked_for),
		cmocka_unit_test(test_percents),
	};

	return cmocka_run_group_tests_name("ledger, figures", tests, NULL, NULL);
}
