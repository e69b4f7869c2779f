/* test_alerts_send.c - how a message is sent to each kind of receiver, and what its answer means.
 */
#include "alerts_world.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

static void start_with(struct conf_alert *a)
{
	(void)a;
	(void)line(0, "", 60);
	begin();
	F.log[0] = '\0';
}

static struct engine_receiver first(void)
{
	return engine_receiver(&F.e, 0);
}

/* --- requests ------------------------------------------------------------------------------------
 */

static void test_the_signature(void **state)
{
	unsigned char mac[32];
	char all[1 << 15], hex[65], want[200];
	unsigned n = sizeof(mac);

	(void)state;
	hook("ops")->ca_file = text("/ca.pem");
	start_with(NULL);
	/* The wall clock, in seconds. */
	(void)snprintf(all, sizeof(all), "1799999999.%s", last()->body);
	HMAC(EVP_sha256(), KEY, sizeof(KEY) - 1, (const unsigned char *)all, strlen(all), mac, &n);
	(void)snprintf(want, sizeof(want),
		       "Content-Type: application/json\nX-Burstd-Id: u-u-i-d.1800000000000.1\n"
		       "X-Burstd-Timestamp: 1799999999\nX-Burstd-Signature: sha256=%s\n",
		       fmt_hex(hex, mac, n));
	assert_string_equal(last()->headers, want);
	assert_string_equal(last()->ca, "/ca.pem");
	assert_non_null(strstr(last()->body, "\"id\":\"u-u-i-d.1800000000000.1\""));
	/* A message that is tried again has another time, and the same id. */
	lose();
	pass(2 * 60000);
	assert_null(strstr(last()->headers, "Timestamp: 1799999999\n"));
	assert_non_null(strstr(last()->headers, "X-Burstd-Id: u-u-i-d.1800000000000.1\n"));
}

static void test_files_are_read_each_time(void **state)
{
	char before[200];
	FILE *f;

	(void)state;
	(void)hook("ops");
	start_with(NULL);
	(void)snprintf(before, sizeof(before), "%s", strstr(last()->headers, "sha256="));
	f = fopen(F.key, "w");
	(void)fputs("another key of 16 bytes", f);
	(void)fclose(f);
	lose();
	pass(2 * 60000);
	assert_int_equal(F.n, 2);
	assert_null(strstr(last()->headers, before));
}

static void test_bad_files(void **state)
{
	FILE *f;

	(void)state;
	(void)hook("ops");
	f = fopen(F.key, "w");
	(void)fputs("0123456789abcde", f);
	(void)fclose(f);
	start_with(NULL);
	assert_int_equal(F.n, 0);
	assert_string_equal(first().error, "secret_file: a key of less than 16 bytes");
	assert_int_equal(alerts_part.next_ms(&F.e), F.now); /* a turn writes that */
	engine_turn(&F.e);
	assert_true(alerts_part.next_ms(&F.e) > F.now);
	assert_int_equal(first().pending, 1);
	assert_int_equal(chmod(F.key, 0644), 0);
	pass(2 * 60000);
	assert_non_null(strstr(first().error, "secret_file: "));
	assert_non_null(strstr(first().error, "mode 0600"));
	/* The end of an attempt that was never sent is written, too. */
	assert_non_null(strstr(F.log, "message 1 to ops of 1: pending 2\n"));
	assert_int_equal(F.n, 0);
}

static void test_slack(void **state)
{
	struct conf_alert *a = hook("chat");

	(void)state;
	a->kind = CONF_ALERT_SLACK;
	a->url = text("");
	a->secret_file = NULL;
	a->url_file = F.url;
	start_with(NULL);
	assert_string_equal(last()->url, "https://hooks.slack/T0/secret");
	assert_string_equal(last()->headers, "Content-Type: application/json\n");
	assert_memory_equal(last()->body, "{\"text\":\"Cluster hpc, budget physics: 50 % of ", 46);
	answer_with(404, "no_team", NULL);
	assert_string_equal(first().error, "the server answered 404: no_team");
	pass(2 * 60000);
	answer_with(403, "see https://hooks.slack/T0/secret", NULL);
	assert_string_equal(first().error, "the server answered 403");
	pass(5 * 60000);
	answer_with(200, "ok", NULL);
	assert_string_equal(first().error, "");
}

static void test_a_bad_url_in_a_file(void **state)
{
	struct conf_alert *a = hook("chat");
	FILE *f = fopen(F.url, "w");

	(void)state;
	(void)fputs("http://hooks.slack/T0/secret", f);
	(void)fclose(f);
	a->url = text("");
	a->url_file = F.url;
	start_with(NULL);
	assert_int_equal(F.n, 0);
	assert_non_null(strstr(first().error, "the URL in url_file: http:// only to this host"));
	assert_null(strstr(first().error, "secret"));
}

static void test_mail(void **state)
{
	static const struct {
		const char *url, *ca;
		bool login, tls;
	} rows[] = {
		{"smtp://mail.example", "", false, true},
		{"smtps://mail.example", "", true, true},
		{"smtp://127.0.0.1:25", "", false, false},
		{"smtp://localhost", "/ca.pem", false, true},
		{"smtp://localhost.example", "", false, true},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_alert *a;

		teardown(state);
		setup(state);
		a = mail_to("mail", rows[i].url);
		if (rows[i].ca[0] != '\0')
			a->ca_file = text(rows[i].ca);
		if (rows[i].login) {
			a->user = text("burst");
			a->password_file = F.password;
		}
		start_with(NULL);
		assert_string_equal(last()->url, rows[i].url);
		assert_string_equal(last()->ca, rows[i].ca);
		assert_int_equal(last()->tls, rows[i].tls);
		assert_string_equal(last()->user, rows[i].login ? "burst" : "");
		assert_string_equal(last()->password, rows[i].login ? "sesame" : "");
		assert_non_null(strstr(
			last()->body, "\r\nMessage-ID: <u-u-i-d.1800000000000.1@example.org>\r\n"));
	}
	lose();
	assert_string_equal(first().error, "connection refused");
	pass(2 * 60000);
	last()->open = false;
	last()->mail(last()->ctx, NULL);
	happened("message 1 to mail of 1: pending 1\nmail smtp://localhost.example\n"
		 "message 1 to mail of 1: delivered 2\n");
}

/* --- answers -------------------------------------------------------------------------------------
 */

static void test_which_answers_take_it(void **state)
{
	static const struct {
		long status;
		const char *error; /* NULL: it is taken */
	} rows[] = {
		{200, NULL},
		{202, NULL},
		{299, NULL},
		{199, "the server answered 199"},
		{301, "the server answered 301, and redirects are not followed"},
		{400, "the server answered 400"},
		{500, "the server answered 500"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		teardown(state);
		setup(state);
		(void)hook("ops");
		start_with(NULL);
		answer(rows[i].status);
		assert_string_equal(first().error, rows[i].error != NULL ? rows[i].error : "");
		assert_int_equal(first().pending, rows[i].error != NULL);
		assert_int_equal(first().ok_ms, rows[i].error != NULL ? 0 : BEGAN);
		assert_int_equal(first().failed_ms, rows[i].error != NULL ? BEGAN : 0);
	}
}

static void test_it_is_tried_again(void **state)
{
	(void)state;
	(void)hook("ops");
	start_with(NULL);
	for (int i = 1; i <= 6; i++) {
		int64_t pause = 60000 << (i - 1);

		lose();
		assert_int_equal(F.n, i);
		assert_in_range(first().next_ms, F.now + pause, F.now + pause + pause / 4);
		pass(pause - 1);
		assert_int_equal(F.n, i);
		pass(pause / 4 + 1);
		assert_int_equal(F.n, i + 1);
	}
	answer(200);
	assert_int_equal(engine_alerts(&F.e).delivered, 1);
	assert_int_equal(engine_alerts(&F.e).failed, 0);
	(void)line(1, "", 60); /* the next one begins anew */
	pass(60000);
	assert_int_equal(F.n, 8);
	lose();
	assert_in_range(first().next_ms, F.now + 60000, F.now + 75000);
}

static void test_it_is_given_up_after_a_day(void **state)
{
	(void)state;
	(void)hook("ops");
	start_with(NULL);
	while (engine_alerts(&F.e).pending > 0) {
		if (last()->open)
			lose();
		F.nlines = 0;
		pass(3600000 / 2);
		assert_true(F.now < BEGAN + 2 * DAY);
	}
	assert_true(F.now >= BEGAN + DAY - 2 * 3600000);
	assert_non_null(
		strstr(F.log, "event alert-failed: message 1 to alert ops was given up after "));
	assert_non_null(strstr(F.log, " attempts: connection refused\n"));
	assert_int_equal(engine_alerts(&F.e).failed, 1);
	assert_int_equal(first().failed, 1);
	F.now += 7 * DAY + 3600000; /* not a problem for ever */
	assert_int_equal(first().failed, 0);
}

static void test_gone_is_final(void **state)
{
	(void)state;
	(void)hook("ops");
	start_with(NULL);
	answer(410);
	assert_int_equal(first().pending, 0);
	assert_int_equal(first().failed, 1);
	F.nlines = 0;
	pass(DAY);
	assert_int_equal(F.n, 1);
}

static void test_retry_after(void **state)
{
	(void)state;
	(void)hook("ops");
	start_with(NULL);
	answer_with(429, "", "600");
	pass(599000);
	assert_int_equal(F.n, 1);
	pass(1000);
	assert_int_equal(F.n, 2);
	answer_with(503, "", "999999999"); /* within bounds */
	pass(3600000 - 1);
	assert_int_equal(F.n, 2);
	pass(1);
	assert_int_equal(F.n, 3);
	answer_with(503, "", "1"); /* no shorter than ours */
	pass(240000 - 1);
	assert_int_equal(F.n, 3);
}

/* A message that is refused keeps no other back. */
static void test_one_that_is_refused(void **state)
{
	(void)state;
	(void)hook("ops");
	(void)line(1, "", 60);
	start_with(NULL);
	assert_non_null(strstr(last()->body, "\"chem\""));
	answer(400);
	pass(76000);
	assert_int_equal(F.n, 2);
	assert_non_null(strstr(last()->body, "\"physics\""));
	answer(200);
	pass(ALERTS_PACE_MS);
	assert_int_equal(F.n, 3);
	assert_non_null(strstr(last()->body, "\"chem\""));
	answer(200);
	assert_int_equal(first().pending, 0);
}

static void test_a_reload_tries_at_once(void **state)
{
	(void)state;
	(void)hook("ops");
	start_with(NULL);
	lose();
	pass(80000);
	lose();
	assert_int_equal(F.n, 2);
	alerts_part.at[PART_RELOAD](&F.e);
	engine_turn(&F.e);
	assert_int_equal(F.n, 3);
	answer(200);
}

static void test_what_cannot_be_sent(void **state)
{
	(void)state;
	hook("ops")->url = text("https://unsendable/");
	start_with(NULL);
	assert_string_equal(first().error, "1024 requests are under way");
	pass(76000);
	assert_non_null(strstr(F.log, "message 1 to ops of 1: pending 2\n"));
}

/* --- a test --------------------------------------------------------------------------------------
 */

static void test_a_test(void **state)
{
	struct err e = {0};

	(void)state;
	(void)hook("ops");
	(void)hook("chat");
	begin();
	assert_int_equal(first().test, ALERT_TEST_NONE);
	assert_int_equal(engine_alert_test(&F.e, "nosuch", &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
	assert_int_equal(engine_alert_test(&F.e, "ops", &e), 0);
	assert_int_equal(first().test, ALERT_TEST_SENT);
	assert_int_equal(engine_receiver(&F.e, 1).test, ALERT_TEST_NONE);
	assert_int_equal(engine_alert_test(&F.e, "ops", &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_non_null(strstr(last()->body, "\"type\":\"test\""));
	answer(200);
	assert_int_equal(first().test, ALERT_TEST_TAKEN);
	assert_int_equal(first().test_ms, BEGAN);
	F.now += 7;
	assert_int_equal(engine_alert_test(&F.e, "ops", &e), 0);
	answer(500);
	assert_int_equal(first().test, ALERT_TEST_FAILED);
	assert_int_equal(first().test_ms, BEGAN + 7);
	assert_string_equal(first().test_error, "the server answered 500");
	happened("post https://h/hook\npost https://h/hook\n"); /* nothing is written */
	pass(DAY);
	assert_int_equal(F.n, 2); /* it is tried once */
}

/* It does not wait for the pause after a failure, and not for others on the wire but one. */
static void test_a_test_goes_first(void **state)
{
	struct err e = {0};

	(void)state;
	(void)hook("ops");
	start_with(NULL);
	assert_int_equal(engine_alert_test(&F.e, "ops", &e), 0);
	assert_int_equal(first().test, ALERT_TEST_WAITS);
	assert_int_equal(F.n, 1);
	lose();
	assert_int_equal(F.n, 2);
	assert_non_null(strstr(last()->body, "\"type\":\"test\""));
	answer(200);
	assert_int_equal(first().test, ALERT_TEST_TAKEN);
	assert_int_equal(first().pending, 1);
}

static void test_the_list(void **state)
{
	const struct alert_message *m;

	(void)state;
	(void)hook("ops");
	(void)hook("chat");
	(void)line(1, "", 60);
	start_with(NULL);
	assert_int_equal(engine_alert(&F.e, INT64_MAX)->seq, 2);
	assert_int_equal(engine_alert(&F.e, 2)->seq, 1);
	assert_null(engine_alert(&F.e, 1));
	m = engine_alert_message(&F.e, 2, 0);
	assert_int_equal(m->seq, 2);
	m = engine_alert_message(&F.e, 2, m->seq);
	assert_int_equal(m->seq, 4);
	assert_string_equal(m->to, "chat");
	assert_null(engine_alert_message(&F.e, 2, m->seq));
	assert_int_equal(engine_alerts(&F.e).kept, 2);
	assert_int_equal(engine_alerts(&F.e).pending, 4);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_the_signature),
		T(test_files_are_read_each_time),
		T(test_bad_files),
		T(test_slack),
		T(test_a_bad_url_in_a_file),
		T(test_mail),
		T(test_which_answers_take_it),
		T(test_it_is_tried_again),
		T(test_it_is_given_up_after_a_day),
		T(test_gone_is_final),
		T(test_retry_after),
		T(test_one_that_is_refused),
		T(test_a_reload_tries_at_once),
		T(test_what_cannot_be_sent),
		T(test_a_test),
		T(test_a_test_goes_first),
		T(test_the_list),
	};
#undef T

	return cmocka_run_group_tests_name("alerts_send", tests, NULL, NULL);
}
