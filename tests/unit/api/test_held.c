/* test_held.c - requests that are answered later, on an engine, a journal and a server that do what
 * the test says. */
#include "fake_engine.h"

#include <uv.h>

#include "api/ctl_api.h"
#include "api/held.h"
#include "io/loop.h"
#include "jobs/jobs_api.h"

#define GATE(nodes) "{\"v\":1,\"op\":\"gate\",\"job\":7,\"nodes\":\"" nodes "\"}"
#define WAIT(more)  "{\"v\":1,\"op\":\"events\",\"wait\":true" more "}"

enum { CONNS = 8 };

struct ctl_conn { /* as the server sees it */
	void *hold;
	char *answer;
};

static struct fix {
	struct engine e;
	struct journal *j;
	struct api api;
	struct loop *l;
	bool full; /* of the server */
	struct ctl_conn conns[CONNS];
} F;

static const struct ctl_caller own = {CTL_OWN, 0, 0, 1}, viewer = {CTL_VIEWER, 1000, 1000, 2};

bool ctl_server_hold(struct ctl_conn *c, void *hold)
{
	assert_null(c->hold);
	if (F.full)
		return false;
	c->hold = hold;
	return true;
}

void ctl_server_answer(struct ctl_conn *c, char *json)
{
	assert_non_null(c->hold);
	c->hold = NULL;
	c->answer = json;
}

static int setup(void **state)
{
	static const char *const lists[] = {"n[1-4]"};

	(void)state;
	F = (struct fix){.full = false};
	F.j = mem_zalloc(sizeof(*F.j));
	fake_init(&F.e, lists, 1);
	assert_int_equal(loop_new(&F.l, NULL), 0);
	F.api = (struct api){.engine = &F.e, .journal = F.j};
	F.api.held = held_new(&F.api, F.l);
	return 0;
}

/* All that is held is let go, as by a server that closes. */
static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < CONNS; i++) {
		if (F.conns[i].hold != NULL)
			held_gone(&F.api, F.conns[i].hold);
		free(F.conns[i].answer);
	}
	assert_null(F.e.gates);
	held_free(F.api.held);
	loop_free(F.l);
	fake_fini(&F.e);
	free(F.j);
	return 0;
}

/* On conns[i]; what it is answered at once is there, or NULL. */
static const char *ask(int i, const struct ctl_caller *who, const char *request)
{
	struct ctl_conn *c = &F.conns[i];

	assert_null(c->hold);
	free(c->answer);
	c->answer = ctl_api_request(&F.api, c, who, request, strlen(request));
	assert_int_equal(c->answer == NULL, c->hold != NULL);
	return c->answer;
}

static void event(const char *node)
{
	struct fake_event *ev = &F.j->events[F.j->last++];

	(void)snprintf(ev->node, sizeof(ev->node), "%s", node);
	ev->detail = "d";
	held_turned(F.api.held);
}

static void pass(int64_t ms)
{
	int64_t until = loop_now(F.l) + ms;

	while (loop_now(F.l) < until) {
		(void)uv_run(loop_uv(F.l), UV_RUN_NOWAIT);
		uv_sleep(1);
	}
	(void)uv_run(loop_uv(F.l), UV_RUN_NOWAIT); /* what came due while we were not running */
}

/* --- gates -------------------------------------------------------------------------------------
 */

static void test_gate(void **state)
{
	static const struct {
		enum gate_end how;
		const char *answer;
	} rows[] = {
		{GATE_UP, "{\"ok\":true,\"up\":true}"},
		{GATE_GONE, "{\"ok\":true,\"gone\":true}"},
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct gate_ask got;

		assert_null(ask(i, &own, GATE("n[1-2],x")));
		assert_int_equal(F.e.gates->ask.job, 7);
		assert_string_equal(F.e.gates->nodes, "n[1-2],x");
		got = F.e.gates->ask;
		engine_gate_close(F.e.gates);
		got.fn(got.ctx, rows[i].how);
		assert_string_equal(F.conns[i].answer, rows[i].answer);
	}
}

static void test_gate_at_once(void **state)
{
	(void)state;
	assert_string_equal(ask(0, &own, GATE("x1")), "{\"ok\":true,\"up\":true}");
	assert_non_null(strstr(ask(0, &own, GATE("[")), "\"code\":\"invalid\""));
	assert_non_null(strstr(ask(0, &own, "{\"v\":1,\"op\":\"gate\",\"job\":7}"), "nodes"));
	assert_non_null(strstr(ask(0, &own, "{\"v\":1,\"op\":\"gate\",\"nodes\":\"n1\"}"), "job"));
	assert_non_null(strstr(
		ask(0, &own, "{\"v\":1,\"op\":\"gate\",\"job\":-1,\"nodes\":\"n1\"}"), "job"));
	assert_non_null(strstr(ask(0, &viewer, GATE("n1")), "\"code\":\"denied\""));
	assert_null(F.e.gates);
}

/* Asked again is as good: burst-prolog does, once a second. */
static void test_gate_without_room(void **state)
{
	(void)state;
	F.full = true;
	assert_string_equal(ask(0, &own, GATE("n1")),
			    "{\"ok\":true,\"wait\":true,\"deadline_ms\":90000}");
	assert_null(F.e.gates);
}

static void test_gate_expires(void **state)
{
	char *text;

	(void)state;
	assert_null(ask(0, &own, GATE("n1")));
	text = held_expired(&F.api, F.conns[0].hold);
	assert_string_equal(text, "{\"ok\":true,\"wait\":true,\"deadline_ms\":90000}");
	assert_null(F.e.gates);
	F.conns[0].hold = NULL;
	free(text);
}

/* burst-prolog has to know why it waits: a budget may have to hold. */
static void test_gate_without_a_word_about_money(void **state)
{
	(void)state;
	F.full = true;
	assert_string_equal(ask(0, &own, "{\"v\":1,\"op\":\"gate\",\"job\":8,\"nodes\":\"n1\"}"),
			    "{\"ok\":true,\"wait\":true,\"deadline_ms\":90000,\"unsaid\":true}");
}

static void test_gate_is_left(void **state)
{
	(void)state;
	assert_null(ask(0, &own, GATE("n1")));
	assert_null(ask(1, &own, GATE("n2")));
	held_gone(&F.api, F.conns[0].hold);
	F.conns[0].hold = NULL;
	assert_string_equal(F.e.gates->nodes, "n2");
	assert_null(F.e.gates->next);
}

/* --- events ------------------------------------------------------------------------------------
 */

/* A handful of them, a moment after the first. */
static void test_events_come(void **state)
{
	(void)state;
	event("n1");
	assert_non_null(strstr(ask(0, &viewer, WAIT(",\"since\":0")), "\"seq\":1"));
	assert_null(ask(0, &viewer, WAIT(",\"since\":1")));
	assert_null(ask(1, &own, WAIT(",\"since\":1")));
	event("n1");
	assert_null(F.conns[0].answer);
	event("n2");
	pass(HELD_EVENTS_MS + 20);
	for (int i = 0; i < 2; i++) {
		assert_null(F.conns[i].hold);
		assert_non_null(strstr(F.conns[i].answer, "\"seq\":2"));
		assert_non_null(strstr(F.conns[i].answer, "\"seq\":3"));
		assert_non_null(strstr(F.conns[i].answer, "\"last\":3"));
	}
	event("n3"); /* nobody waits */
	pass(HELD_EVENTS_MS + 20);
}

static void test_events_of_one_node(void **state)
{
	(void)state;
	assert_null(ask(0, &viewer, WAIT(",\"since\":0,\"node\":\"n2\"")));
	event("n1");
	pass(HELD_EVENTS_MS + 20);
	assert_non_null(F.conns[0].hold);
	event("n2");
	pass(HELD_EVENTS_MS + 20);
	assert_non_null(F.conns[0].answer);
	assert_null(strstr(F.conns[0].answer, "\"seq\":1"));
	assert_non_null(strstr(F.conns[0].answer, "\"seq\":2"));
}

static void test_events_expire(void **state)
{
	char *text;

	(void)state;
	event("n1");
	assert_null(ask(0, &viewer, WAIT(",\"since\":1,\"node\":\"n2\"")));
	event("n1");
	text = held_expired(&F.api, F.conns[0].hold);
	assert_string_equal(text, "{\"ok\":true,\"events\":[],\"last\":2,\"more\":false}");
	F.conns[0].hold = NULL;
	free(text);
	pass(HELD_EVENTS_MS + 20); /* the timer was running */
}

/* Nothing to wait for, no room, or too long a request: answered as ever. */
static void test_events_at_once(void **state)
{
	static const char none[] = "{\"ok\":true,\"events\":[],\"last\":1,\"more\":false}";
	char *text = mem_zalloc(HELD_REQUEST_MAX + 100);

	(void)state;
	event("n1");
	assert_non_null(ask(0, &viewer, WAIT(",\"tail\":5")));
	assert_non_null(ask(0, &viewer, WAIT("")));
	assert_string_equal(ask(0, &viewer, "{\"v\":1,\"op\":\"events\",\"since\":1}"), none);
	assert_string_equal(
		ask(0, &viewer, "{\"v\":1,\"op\":\"events\",\"since\":1,\"wait\":false}"), none);
	assert_non_null(strstr(ask(0, &viewer, WAIT(",\"since\":-1")), "\"invalid\""));
	F.j->fail = 1;
	assert_non_null(strstr(ask(0, &viewer, WAIT(",\"since\":1")), "\"failed\""));
	F.j->fail = 0;
	(void)snprintf(text, HELD_REQUEST_MAX + 100, "%-*s%s", HELD_REQUEST_MAX, "",
		       WAIT(",\"since\":1"));
	assert_string_equal(ask(0, &viewer, text), none);
	F.full = true;
	assert_string_equal(ask(0, &viewer, WAIT(",\"since\":1")), none);
	free(text);
}

/* --- a job ---------------------------------------------------------------------------------------
 */

#define PLAN "{\"v\":1,\"op\":\"plan\",\"job\":\"7_2\"}"

/* slurmctld says so. */
static void told(const struct engine_job *j, const struct err *err)
{
	struct engine_query q = *F.e.query;

	engine_query_cancel(F.e.query);
	q.fn(q.ctx, j, err);
}

static void a_plan_of_a_job_waits_for_slurmctld(void **state)
{
	const struct err gone = {.code = ERR_INVALID, .msg = "slurmctld knows no job 7_2"};
	char state_text[] = "PENDING", nodes[] = "n1,n2";
	const struct engine_job j = {
		.number = 9, .id = "7_2", .state = state_text, .nodes = nodes, .count = 2};
	const struct payer hours = {.account = "physics", .limit_s = 14400},
			   ever = {.account = "lab", .limit_s = PAYER_UNLIMITED};
	struct engine_job paid = j;

	(void)state;
	F.e.plan.verdict = PLAN_BUY;
	F.e.plan.aside_job = 118080000000;
	assert_null(ask(0, &viewer, PLAN));
	assert_string_equal(F.e.query->id, "7_2");
	F.e.conf->nbudgets = 1; /* which are asked, of a job */
	told(&j, NULL);
	F.e.conf->nbudgets = 0;
	assert_null(strstr(F.conns[0].answer, "budgets_left_out"));
	assert_non_null(strstr(F.conns[0].answer, "\"job\":{\"id\":\"7_2\",\"state\":\"PENDING\""));
	assert_string_equal(F.e.plan_list, "n1,n2");
	assert_null(strstr(F.conns[0].answer, "\"account\"")); /* it was not said */
	assert_non_null(strstr(F.conns[0].answer, "\"aside_job\":\"118.08\""));
	assert_non_null(strstr(F.conns[0].answer, "\"aside_machines\":\"0.00\""));
	paid.payer = &hours;
	assert_null(ask(0, &viewer, PLAN));
	told(&paid, NULL);
	assert_non_null(
		strstr(F.conns[0].answer, "\"account\":\"physics\",\"limit_ms\":14400000,"));
	paid.payer = &ever;
	assert_null(ask(0, &viewer, PLAN));
	told(&paid, NULL);
	assert_non_null(strstr(F.conns[0].answer, "\"account\":\"lab\",\"limit_ms\":-1,"));
	assert_null(ask(1, &viewer, PLAN));
	told(NULL, &gone);
	assert_string_equal(F.conns[1].answer, "{\"ok\":false,\"code\":\"not-found\",\"error\":"
					       "\"slurmctld knows no job 7_2\"}");
}

static void a_viewer_asks_of_jobs_of_his_own_and_an_operator_of_all(void **state)
{
	static const struct {
		struct ctl_caller who;
		int64_t uid;
	} rows[] = {{{CTL_VIEWER, 1000, 1000, 2}, 1000},
		    {{CTL_VIEWER, UINT32_MAX - 1, 7, 2}, UINT32_MAX - 1},
		    {{CTL_OPERATOR, 1001, 1000, 2}, ENGINE_ANYBODY},
		    {{CTL_ADMIN, 1001, 1000, 2}, ENGINE_ANYBODY},
		    {{CTL_FINANCE, 1001, 1000, 2}, 1001},
		    {{CTL_OWN, 0, 0, 2}, ENGINE_ANYBODY}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_null(ask(0, &rows[i].who, PLAN));
		assert_true(F.e.query->uid == rows[i].uid);
		held_gone(&F.api, F.conns[0].hold);
		F.conns[0].hold = NULL;
	}
}

static void a_plan_of_a_job_does_not_wait_for_ever(void **state)
{
	char *text;

	(void)state;
	assert_null(ask(0, &viewer, PLAN));
	text = held_expired(&F.api, F.conns[0].hold);
	F.conns[0].hold = NULL;
	assert_null(F.e.query);
	assert_string_equal(text, "{\"ok\":false,\"code\":\"failed\",\"error\":\"slurmctld did not "
				  "describe the job within 10 s\"}");
	free(text);
	assert_null(ask(0, &viewer, PLAN));
	held_gone(&F.api, F.conns[0].hold);
	F.conns[0].hold = NULL;
	assert_null(F.e.query);
	F.full = true;
	assert_non_null(strstr(ask(0, &viewer, PLAN), "too many requests wait"));
	assert_null(F.e.query);
}

/* --- names -------------------------------------------------------------------------------------
 */

#define BUDGETS "{\"v\":1,\"op\":\"budgets\"}"

static struct user_names names = {&F.e};

static void budgets_of_a_viewer_wait_for_the_name(void **state)
{
	(void)state;
	F.api.names = &names;
	assert_null(ask(0, &viewer, BUDGETS));
	assert_non_null(F.e.name_ask);
	fake_name(&F.e, "ann", NULL);
	assert_non_null(strstr(F.conns[0].answer, "\"user\":\"ann\""));
	assert_string_equal(F.e.budgets_user, "ann");
	/* It is known now; nor is it asked for an admin. */
	assert_non_null(ask(1, &viewer, BUDGETS));
	assert_null(F.e.name_ask);
	F.e.name = NULL;
	assert_non_null(strstr(ask(2, &own, BUDGETS), "\"ok\":true"));
	assert_null(F.e.name_ask);
}

static void a_name_that_cannot_be_found(void **state)
{
	const struct err err = {.code = ERR_IO, .msg = "getent: no"};
	char *text;

	(void)state;
	F.api.names = &names;
	assert_null(ask(0, &viewer, BUDGETS));
	fake_name(&F.e, NULL, &err);
	assert_string_equal(
		F.conns[0].answer,
		"{\"ok\":false,\"code\":\"failed\",\"error\":\"whose budgets to show is "
		"not known, for the name of uid 1000 is not: getent: no\"}");
	/* It was found, and forgotten before it was used. */
	assert_null(ask(1, &viewer, BUDGETS));
	fake_name(&F.e, NULL, NULL);
	assert_non_null(strstr(F.conns[1].answer, "is not: it was forgotten: ask again"));
	assert_null(ask(2, &viewer, BUDGETS));
	text = held_expired(&F.api, F.conns[2].hold);
	F.conns[2].hold = NULL;
	assert_null(F.e.name_ask);
	assert_non_null(strstr(text, "it was not found within 10 s"));
	free(text);
	assert_null(ask(2, &viewer, BUDGETS));
	held_gone(&F.api, F.conns[2].hold);
	F.conns[2].hold = NULL;
	assert_null(F.e.name_ask);
}

static void a_name_that_cannot_be_waited_for(void **state)
{
	(void)state;
	F.api.names = &names;
	F.full = true;
	assert_non_null(strstr(ask(0, &viewer, BUDGETS), "too many requests wait"));
	assert_null(F.e.name_ask);
	F.full = false;
	F.e.names_full = true;
	assert_non_null(strstr(ask(0, &viewer, BUDGETS), "too many requests wait"));
	assert_null(F.conns[0].hold);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_gate),
		T(test_gate_at_once),
		T(test_gate_without_room),
		T(test_gate_expires),
		T(test_gate_without_a_word_about_money),
		T(test_gate_is_left),
		T(test_events_come),
		T(test_events_of_one_node),
		T(test_events_expire),
		T(test_events_at_once),
		T(a_plan_of_a_job_waits_for_slurmctld),
		T(a_viewer_asks_of_jobs_of_his_own_and_an_operator_of_all),
		T(a_plan_of_a_job_does_not_wait_for_ever),
		T(budgets_of_a_viewer_wait_for_the_name),
		T(a_name_that_cannot_be_found),
		T(a_name_that_cannot_be_waited_for),
	};
#undef T

	return cmocka_run_group_tests_name("held", tests, NULL, NULL);
}
