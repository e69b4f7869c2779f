/* test_secrets.c - what the control socket and /metrics say of the secret store, and how burstd is
 * enrolled with it. */
#include "ctl_ask.h"

#include "api/metrics.h"
#include "keys/keys_api.h"

static const struct engine_secrets good = {
	.driver = "vault",
	.source = {"https://v1:8200", FAKE_NOW - 1000, 0, ""},
	.phase = "ready",
	.ready = true,
	.version = "7",
	.released = {3, 1, 5},
	.failed = 2,
	.requests = 40,
	.logins = 5,
	.waiting = 6,
	.enrolled = "",
};

static void test_status_has_the_store_where_there_is_one(void **state)
{
	struct fixture *f = start("n1");
	json_t *r = ask(f, "{\"v\":1,\"op\":\"status\"}");

	(void)state;
	assert_null(json_object_get(r, "secrets"));
	json_decref(r);
	f->e.secrets = good;
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	assert_string_equal(text(json_object_get(r, "secrets"), "driver"), "vault");
	assert_string_equal(text(json_object_get(r, "secrets"), "version"), "7");
	assert_true(json_is_true(json_object_get(json_object_get(r, "secrets"), "ok")));
	json_decref(r);
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"secrets\"}");
	assert_string_equal(text(json_object_get(r, "secrets"), "address"), "https://v1:8200");
	json_decref(r);
	stop(f);
}

static size_t count_problems(struct fixture *f, const char *want)
{
	json_t *r = ask(f, "{\"v\":1,\"op\":\"status\"}"), *list = json_object_get(r, "problems");
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		n += strstr(json_string_value(json_array_get(list, i)), want) != NULL;
	json_decref(r);
	return n;
}

static void test_trouble_is_a_problem_when_it_lasts_or_when_we_are_refused(void **state)
{
	struct fixture *f = start("n1");

	(void)state;
	f->e.secrets = good;
	assert_int_equal(count_problems(f, "secret"), 0);
	f->e.secrets.source.error = "health: the server is sealed";
	f->e.secrets.trouble_ms = FAKE_NOW - 60000;
	assert_int_equal(count_problems(f, "secret"), 0);
	f->e.secrets.trouble_ms = FAKE_NOW - 180000;
	assert_int_equal(
		count_problems(f, "has given out no keys for 3m00s: health: the server is sealed"),
		1);
	f->e.secrets.trouble_ms = FAKE_NOW - 1;
	f->e.secrets.phase = "refused";
	assert_int_equal(count_problems(f, "has given out no keys"), 1);
	f->e.secrets = good;
	f->e.secrets.insecure = true;
	assert_int_equal(count_problems(f, "plain file"), 1);
	stop(f);
}

static void test_metrics_count_keys(void **state)
{
	static const char *const want[] = {
		"\nburstd_secrets_up 1\n",
		"\nburstd_secrets_insecure 0\n",
		"\nburstd_secrets_waiting 6\n",
		"\nburstd_secrets_released_total{mode=\"wrap\"} 3\n",
		"\nburstd_secrets_released_total{mode=\"broker\"} 1\n",
		"\nburstd_secrets_released_total{mode=\"user-data\"} 5\n",
		"\nburstd_secrets_failed_total 2\n",
		"\nburstd_secrets_requests_total 40\n",
		"\nburstd_secrets_logins_total 5\n"};
	struct fixture *f = start("n1");
	struct str s;

	(void)state;
	str_init(&s, METRICS_MAX);
	metrics_write(&f->api, &s);
	assert_null(strstr(s.p, "burstd_secrets"));
	str_clear(&s);
	f->e.secrets = good;
	metrics_write(&f->api, &s);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (strstr(s.p, want[i]) == NULL)
			fail_msg("%s", want[i]);
	str_clear(&s);
	f->e.secrets.source.error = "sealed";
	metrics_write(&f->api, &s);
	assert_non_null(strstr(s.p, "\nburstd_secrets_up 0\n"));
	str_fini(&s);
	stop(f);
}

static void test_an_operator_enrols_and_others_do_not(void **state)
{
	static const char rq[] = "{\"v\":1,\"op\":\"secrets-enroll\",\"token\":\"hvs.wrapping\"}";
	struct fixture *f = start("n1");
	json_t *r = ask_as(f, &viewer, rq);

	(void)state;
	assert_true(json_is_false(json_object_get(r, "ok")));
	assert_string_equal(f->e.enroll_token, "");
	json_decref(r);
	json_decref(ask(f, rq));
	assert_string_equal(f->e.enroll_token, "hvs.wrapping");
	r = ask_as(f, &admin, "{\"v\":1,\"op\":\"secrets-enroll\",\"token\":\"-\"}");
	assert_true(json_is_false(json_object_get(r, "ok")));
	json_decref(r);
	r = ask_as(f, &admin, "{\"v\":1,\"op\":\"secrets-enroll\"}");
	assert_true(json_is_false(json_object_get(r, "ok")));
	json_decref(r);
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_has_the_store_where_there_is_one),
		cmocka_unit_test(test_trouble_is_a_problem_when_it_lasts_or_when_we_are_refused),
		cmocka_unit_test(test_metrics_count_keys),
		cmocka_unit_test(test_an_operator_enrols_and_others_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
