/* facts.c: what is bought, for whom, and each step are in the journal with the row that they are
 * about. */
#include "intake_calls.h"
#include "journal_rows.h"

#include "money/money.h"
#include "tests/unit/payer_row.h"

#define PAYS "| |physics|ann|normal|2:00:00|2|16|NO|cpu=16,gres/gpu=16|2|*|"
#define FILE_OF_TWO                                                                                \
	"{\"jobs\":[{\"job_id\":7,\"nodes_alloc\":\"c[1-2]\"},{\"job_id\":8,\"nodes_alloc\":"      \
	"\"c2\"}],\"all_nodes\":\"c[1-2]\"}"

/* squeue answers those who have asked. */
static void answer(struct fix *f, const char *row, const struct err *err)
{
	char text[1000];
	int n = err == NULL ? payer_row(text, sizeof(text), row, "key", "") : 0;

	f->e->jobs->running = f->e->jobs->wanted;
	f->e->jobs->wanted = 0;
	facts_part.squeue_begins(f->e);
	jobs_answer(f->e, err == NULL ? text : NULL, err == NULL ? (size_t)n : 0, err);
}

static void test_what_was_bought_and_for_whom(void **state)
{
	struct fix *f = *state;

	load(f, 0, false);
	show(f, "IDLE+CLOUD+POWERED_DOWN", "CPUTot=96 RealMemory=2000000 Gres=gpu:h100:8");
	call(f, "c[1-2]", FILE_OF_TWO);
	assert_string_equal(rows(f, "SELECT count(*) FROM machine"), "0;"); /* nor has it the row */
	write_down(f);
	assert_string_equal(
		rows(f, "SELECT node, pool, provider, type, region, market, currency, cpus,"
			" memory_mb, gpus FROM machine ORDER BY node"),
		"c1 pool cloud t r on-demand EUR 96 2000000 8;"
		"c2 pool cloud t r on-demand EUR 0 0 0;");
	assert_string_equal(rows(f, "SELECT node, job FROM buyer"), "c1 7;c2 7;c2 8;");
	assert_string_equal(rows(f, "SELECT node, kind, rate_nano_h FROM life"),
			    "c1 wanted 1000000000;c2 wanted 1000000000;");
	assert_string_equal(rows(f, "SELECT count(*) FROM machine m JOIN life l ON l.node = m.node"
				    " AND l.gen = m.gen AND l.at_ms = m.at_ms"),
			    "2;");
	assert_int_equal(fleet_find(&f->e->fleet, "c2")->newest->nbuyers, 0); /* not kept */
	assert_true((f->e->jobs->wanted & JOBS_FOR_FACTS) != 0); /* who pays is not known yet */
}

static void test_who_pays(void **state)
{
	const struct err err = {.code = ERR_NET, .msg = "no"};
	struct fix *f = *state;

	load(f, 0, false);
	call(f, "c[1-2]", FILE_OF_TWO);
	write_down(f);
	answer(f, "", &err);
	assert_string_equal(rows(f, "SELECT count(*) FROM job_said"), "0;");
	/* One is asked for again with the next; one that squeue does not show has ended. */
	facts_ask(f->e, 9);
	answer(f, "7|7|CONFIGURING|gpu|None|c[1-2]" PAYS, NULL);
	assert_string_equal(
		rows(f,
		     "SELECT job, id, account, user, partition, qos, wckey, limit_s, nodes, cpus,"
		     " gpus FROM job_said"),
		"7 7 physics ann gpu normal key 7200 2 16 16;");
	assert_int_equal(f->e->money->nunsaid, 0);
	/* A stranger is not written down. */
	facts_ask(f->e, 9);
	answer(f, "8|8|CONFIGURING|gpu|None|c3" PAYS, NULL);
	assert_string_equal(rows(f, "SELECT count(*) FROM job_said"), "1;");
}

/* Again when it is another, not when it is the same. */
static void test_what_is_said_twice(void **state)
{
	struct payer p = {.id = "7", .account = "a", .user = "u", .limit_s = 60, .nodes = 1};
	struct fix *f = *state;

	load(f, 0, false);
	facts_said(f->e, 7, &p);
	facts_said(f->e, 7, &p);
	p.limit_s = 120;
	facts_said(f->e, 7, &p);
	facts_said(f->e, 7 + MONEY_SAID, &p); /* has the same place in memory */
	facts_part.at[PART_RUN](f->e);
	engine_commit(f->e);
	assert_string_equal(rows(f, "SELECT job, limit_s FROM job_said"), "7 60;7 120;4103 120;");
}

/* Who pays is known before the purchase where there are budgets; no create waits for that to be
 * written, and no hook for long. */
static void test_what_is_said_waits(void **state)
{
	enum { MANY = 1100 };
	struct payer p = {.id = "7", .account = "a", .user = "u", .limit_s = 60, .nodes = 1};
	struct fix *f = *state;

	load(f, 0, false);
	assert_int_equal(facts_part.next_ms(f->e), INT64_MAX);
	call(f, "c[1-2]", FILE_OF_TWO);
	for (uint64_t job = 1; job <= MANY; job++)
		facts_said(f->e, job, &p);
	assert_true(facts_part.next_ms(f->e) <= engine_now(f->e));
	facts_part.at[PART_RUN](f->e);
	assert_false(f->e->staging.due); /* the nodes are not written yet */
	write_down(f);
	assert_string_equal(rows(f, "SELECT count(*) FROM job_said"), "0;");
	for (int i = 1; i <= 3; i++) {
		static const char *const want[] = {"", "500;", "1000;", "1100;"};

		facts_part.at[PART_RUN](f->e);
		engine_commit(f->e);
		assert_string_equal(rows(f, "SELECT count(*) FROM job_said"), want[i]);
	}
	assert_string_equal(rows(f, "SELECT count(DISTINCT job), min(job), max(job) FROM job_said"),
			    "1100 1 1100;");
	assert_int_equal(facts_part.next_ms(f->e), INT64_MAX);
	assert_null(f->e->money->later);
	/* Too many of them are written at once. */
	for (uint64_t job = 1; job <= MONEY_LATER; job++)
		facts_said(f->e, MANY + job, &p);
	assert_false(f->e->staging.due);
	facts_said(f->e, MANY + MONEY_LATER + 1, &p);
	assert_true(f->e->staging.due);
	engine_commit(f->e);
	assert_string_equal(rows(f, "SELECT count(*) FROM job_said"), "1101;");
}

static void post(struct fix *f, enum node_event_type type, enum provider_state state)
{
	struct provider_instance in = {.id = "i-1", .addr = "10.0.0.1", .state = state};
	struct node_event ev = {
		.type = type, .now_ms = engine_now(f->e), .batch = 5, .instance = &in};

	engine_post(f->e, fleet_find(&f->e->fleet, "c1")->newest, &ev);
	engine_commit(f->e);
}

static void test_each_step_once(void **state)
{
	struct fix *f = *state;

	load(f, 0, false);
	call(f, "c1", NULL);
	post(f, NODE_EV_START, PROVIDER_PENDING);
	post(f, NODE_EV_CREATED, PROVIDER_PENDING);
	post(f, NODE_EV_SEEN, PROVIDER_PENDING);
	post(f, NODE_EV_SEEN, PROVIDER_RUNNING);
	post(f, NODE_EV_SEEN, PROVIDER_RUNNING);
	post(f, NODE_EV_REGISTERED, PROVIDER_RUNNING);
	post(f, NODE_EV_SEEN, PROVIDER_RUNNING);
	post(f, NODE_EV_SEEN, PROVIDER_ENDED);
	assert_string_equal(rows(f, "SELECT kind FROM life"),
			    "wanted;sent;created;running;registered;ready;ended;");
	assert_string_equal(rows(f, "SELECT DISTINCT instance FROM life WHERE seq > 2"), "i-1;");
	assert_int_equal(f->e->money->stages.n, 1);
	for (int s = STAGE_WAIT; s <= STAGE_READY; s++)
		assert_int_equal(f->e->money->stages.v[0].counts[s][0], 1);
	assert_int_equal(f->e->money->stages.v[0].counts[STAGE_DELETE][0], 0);
}

/* An instance that is found has facts, too, so that it is paid for. */
static void test_what_is_adopted(void **state)
{
	struct fix *f = *state;
	struct node n;

	load(f, 0, false);
	node_init(&n, "c1", 5, engine_now(f->e));
	(void)engine_insert(f->e, &n, "found");
	engine_commit(f->e);
	assert_string_equal(rows(f, "SELECT m.gen, l.kind FROM machine m JOIN life l ON l.node ="
				    " m.node AND l.gen = m.gen"),
			    "5 wanted;");
	assert_string_equal(rows(f, "SELECT count(*) FROM buyer"), "0;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_was_bought_and_for_whom, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_pays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_said_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_said_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_each_step_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_adopted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
