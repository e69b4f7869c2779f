/* test_alerts.c - the requests "alerts" and "alert-test", and what status and /metrics say of
 * messages that do not arrive. */
#include "ctl_ask.h"

#include "api/metrics.h"
#include "base/fmt.h"

#define EUR       FMT_NANO
#define ASK(more) "{\"v\":1,\"op\":\"alerts\"" more "}"

static int64_t numbers[] = {1, 2, 2};
static struct alert alerts[300];
static struct alert_message messages[3];
static struct engine_receiver receivers[2];

static struct alert_message message(int64_t seq, const char *to, enum alert_state s,
				    const char *error)
{
	struct alert_message m = {.seq = seq,
				  .state = s,
				  .attempts = 3,
				  .made_ms = FAKE_NOW - 9000,
				  .tried_ms = FAKE_NOW - 1000,
				  .alerts = &numbers[seq - 1],
				  .n = 1};

	(void)snprintf(m.to, sizeof(m.to), "%s", to);
	(void)snprintf(m.error, sizeof(m.error), "%s", error);
	return m;
}

static struct fixture *start_with_alerts(void)
{
	struct fixture *f = start("n[1-4]");
	struct conf *c = f->e.conf;

	c->alerts = mem_zalloc(2 * sizeof(*c->alerts));
	c->nalerts = 2;
	c->alerts[0] = (struct conf_alert){.name = mem_strdup("ops"),
					   .kind = CONF_ALERT_WEBHOOK,
					   .url = mem_strdup("https://h/secret")};
	c->alerts[1] = (struct conf_alert){.name = mem_strdup("mail"), .kind = CONF_ALERT_SMTP};
	receivers[0] = (struct engine_receiver){.conf = &c->alerts[0],
						.pending = 1,
						.failed = 2,
						.ok_ms = FAKE_NOW - 60000,
						.failed_ms = FAKE_NOW - 1000,
						.next_ms = FAKE_NOW + 60000,
						.error = "the server answered 503",
						.test_error = ""};
	receivers[1] = (struct engine_receiver){.conf = &c->alerts[1],
						.next_ms = INT64_MAX,
						.error = "",
						.test = ALERT_TEST_FAILED,
						.test_ms = FAKE_NOW - 5,
						.test_error = "connection refused"};
	for (size_t i = 0; i < 300; i++) {
		alerts[i] = (struct alert){.seq = (int64_t)i + 1,
					   .at_ms = FAKE_NOW - 10000,
					   .ends_ms = FAKE_NOW + 10000,
					   .kind = ALERT_USED,
					   .percent = 80,
					   .amount = 460 * EUR,
					   .carried = 40 * EUR,
					   .spent = 300 * EUR,
					   .accrued = 105 * EUR,
					   .held = 138800000000,
					   .beyond = EUR / 4};
		(void)snprintf(alerts[i].budget, sizeof(alerts[i].budget), "physics");
		(void)snprintf(alerts[i].value, sizeof(alerts[i].value), "ann");
		(void)snprintf(alerts[i].period, sizeof(alerts[i].period), "2026-11");
	}
	messages[0] = message(1, "ops", ALERT_FAILED, "gone");
	messages[1] = message(2, "ops", ALERT_PENDING, "the server answered 503");
	messages[2] = message(3, "mail", ALERT_DELIVERED, "");
	f->e.receivers = receivers;
	f->e.alerts = alerts;
	f->e.nalerts = 2;
	f->e.alert_messages = messages;
	f->e.nalert_messages = 3;
	f->e.alerts_all =
		(struct engine_alerts){.kept = 2, .pending = 1, .delivered = 7, .failed = 2};
	return f;
}

static void want(const json_t *r, const char *const (*texts)[2], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		print_message("# %s\n", texts[i][0]);
		assert_string_equal(text(r, texts[i][0]), texts[i][1]);
	}
}

#define WANT(r, texts) want(r, texts, sizeof(texts) / sizeof((texts)[0]))

static void test_what_an_answer_has(void **state)
{
	static const char *const alert[][2] = {
		{"kind", "used"},      {"budget", "physics"}, {"value", "ann"},
		{"period", "2026-11"}, {"amount", "500.00"},  {"spent", "300.00"},
		{"accrued", "105.00"}, {"held", "138.80"},    {"left", "61.20"},
		{"beyond", "0.25"},
	};
	static const char *const ops[][2] = {{"name", "ops"},
					     {"kind", "webhook"},
					     {"error", "the server answered 503"},
					     {"test", ""},
					     {"test_error", ""}};
	static const char *const mail[][2] = {{"name", "mail"},
					      {"kind", "smtp"},
					      {"error", ""},
					      {"test", "failed"},
					      {"test_error", "connection refused"}};
	static const char *const sent[][2] = {
		{"to", "ops"}, {"state", "pending"}, {"error", "the server answered 503"}};
	struct fixture *f = start_with_alerts();
	json_t *r = ask(f, ASK("")), *x;
	char *all = json_dumps(r, 0);

	(void)state;
	assert_null(strstr(all, "secret"));
	free(all);
	assert_false(json_is_true(json_object_get(r, "full")));
	x = json_array_get(json_object_get(r, "receivers"), 0);
	WANT(x, ops);
	assert_int_equal(number(x, "pending"), 1);
	assert_int_equal(number(x, "failed"), 2);
	assert_int_equal(number(x, "ok_ms"), FAKE_NOW - 60000);
	assert_int_equal(number(x, "failed_ms"), FAKE_NOW - 1000);
	assert_int_equal(number(x, "next_ms"), FAKE_NOW + 60000);
	x = json_array_get(json_object_get(r, "receivers"), 1);
	WANT(x, mail);
	assert_int_equal(number(x, "next_ms"), 0);
	assert_int_equal(number(x, "test_ms"), FAKE_NOW - 5);
	x = json_array_get(json_object_get(r, "alerts"), 0); /* the newest */
	WANT(x, alert);
	assert_int_equal(number(x, "number"), 2);
	assert_int_equal(number(x, "at_ms"), FAKE_NOW - 10000);
	assert_int_equal(number(x, "ends_ms"), FAKE_NOW + 10000);
	assert_int_equal(number(x, "percent"), 80);
	x = json_object_get(x, "messages");
	assert_int_equal(json_array_size(x), 2);
	assert_string_equal(text(json_array_get(x, 1), "state"), "delivered");
	x = json_array_get(x, 0);
	WANT(x, sent);
	assert_int_equal(number(x, "number"), 2);
	assert_int_equal(number(x, "attempts"), 3);
	assert_int_equal(number(x, "made_ms"), FAKE_NOW - 9000);
	assert_int_equal(number(x, "tried_ms"), FAKE_NOW - 1000);
	assert_int_equal(number(r, "next"), 0);
	json_decref(r);
	stop(f);
}

static void test_pages(void **state)
{
	struct fixture *f = start_with_alerts();
	json_t *r;

	(void)state;
	f->e.nalerts = 300;
	r = ask(f, ASK(""));
	assert_int_equal(json_array_size(json_object_get(r, "alerts")), 200);
	assert_int_equal(number(r, "next"), 101);
	json_decref(r);
	r = ask(f, ASK(",\"before\":101"));
	assert_int_equal(json_array_size(json_object_get(r, "alerts")), 100);
	assert_int_equal(number(r, "next"), 0);
	json_decref(r);
	r = ask(f, ASK(",\"count\":3"));
	assert_int_equal(json_array_size(json_object_get(r, "alerts")), 3);
	assert_int_equal(number(r, "next"), 298);
	json_decref(r);
	r = ask(f, ASK(",\"count\":0"));
	assert_int_equal(json_array_size(json_object_get(r, "alerts")), 0);
	assert_int_equal(json_array_size(json_object_get(r, "receivers")), 2);
	json_decref(r);
	r = ask_as(f, &root, ASK(",\"count\":201"));
	assert_string_equal(text(r, "code"), "invalid");
	json_decref(r);
	stop(f);
}

static void test_who_may(void **state)
{
	static const struct {
		const struct ctl_caller *who;
		const char *request, *code;
	} rows[] = {
		{&viewer, ASK(""), "denied"},
		{&viewer, "{\"v\":1,\"op\":\"alert-test\",\"alert\":\"ops\"}", "denied"},
		{&admin, "{\"v\":1,\"op\":\"alert-test\"}", "invalid"},
		{&admin, "{\"v\":1,\"op\":\"alert-test\",\"alert\":\"nosuch\"}", "not-found"},
		{&admin, "{\"v\":1,\"op\":\"alert-test\",\"alert\":\"busy\"}", "failed"},
	};
	struct fixture *f = start_with_alerts();
	json_t *r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = ask_as(f, rows[i].who, rows[i].request);
		assert_string_equal(text(r, "code"), rows[i].code);
		json_decref(r);
		assert_string_equal(f->e.alert_tested, "");
	}
	r = ask_as(f, &admin, "{\"v\":1,\"op\":\"alert-test\",\"alert\":\"ops\"}");
	assert_true(json_is_true(json_object_get(r, "ok")));
	json_decref(r);
	assert_string_equal(f->e.alert_tested, "ops");
	stop(f);
}

/* --- status and /metrics -------------------------------------------------------------------------
 */

static bool is_problem(struct fixture *f, const struct ctl_caller *who, const char *sentence)
{
	json_t *r = ask_as(f, who, "{\"v\":1,\"op\":\"status\"}");
	const json_t *all = json_object_get(r, "problems");
	bool found = false;

	for (size_t i = 0; i < json_array_size(all); i++)
		found = found || strcmp(json_string_value(json_array_get(all, i)), sentence) == 0;
	json_decref(r);
	return found;
}

static void test_problems(void **state)
{
	static const char
		waits[] = "alert ops: 1 message waits, the last try 1s ago failed: the "
			  "server answered 503",
		given_up[] = "alert ops: 2 messages were given up within the last 7 days, "
			     "and nobody was told: burstctl budget alerts",
		full[] = "2 alerts of budgets are kept, and no more are told: give budgets "
			 "longer periods or fewer percents in notify_at";
	struct fixture *f = start_with_alerts();

	(void)state;
	assert_true(is_problem(f, &admin, waits));
	assert_true(is_problem(f, &admin, given_up));
	assert_false(is_problem(f, &admin, full));
	assert_false(is_problem(f, &viewer, waits));
	assert_false(is_problem(f, &viewer, given_up));
	f->e.alerts_all.full = true;
	assert_true(is_problem(f, &admin, full));
	receivers[1].error = "connection refused"; /* of a test: nothing waits */
	assert_false(is_problem(f, &admin,
				"alert mail: 0 messages wait, the last try 0ms ago "
				"failed: connection refused"));
	receivers[1].failed_ms = FAKE_NOW;
	receivers[1].pending = 2;
	assert_true(is_problem(f, &admin,
			       "alert mail: 2 messages wait, the last try 0ms ago "
			       "failed: connection refused"));
	receivers[1].pending = 0;
	assert_false(is_problem(f, &admin,
				"alert mail: 0 messages wait, the last try 0ms ago "
				"failed: connection refused"));
	receivers[0].error = ""; /* it has not failed yet */
	assert_false(is_problem(f, &admin, waits));
	receivers[0].failed = 0;
	assert_false(is_problem(f, &admin, given_up));
	stop(f);
}

static void test_metrics(void **state)
{
	struct fixture *f = start_with_alerts();
	struct str s;

	(void)state;
	str_init(&s, METRICS_MAX);
	metrics_write(&f->api, &s);
	assert_non_null(strstr(s.p, "\nburstd_alerts_total{state=\"delivered\"} 7\n"));
	assert_non_null(strstr(s.p, "\nburstd_alerts_total{state=\"failed\"} 2\n"));
	assert_non_null(strstr(s.p, "\nburstd_alerts_pending{alert=\"ops\"} 1\n"));
	assert_non_null(strstr(s.p, "\nburstd_alerts_pending{alert=\"mail\"} 0\n"));
	str_fini(&s);
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_an_answer_has),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_who_may),
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_metrics),
	};

	return cmocka_run_group_tests_name("alerts", tests, NULL, NULL);
}
