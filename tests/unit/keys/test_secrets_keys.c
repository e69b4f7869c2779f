/* Those who wait for keys from the secret store, enrolment, and keys in a file. */
#include "bare_secrets.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/secret_file.h"
#include "keys/keys.h"

/* --- keys ------------------------------------------------------------------------------------- */

static void test_each_node_has_a_token_of_its_own_for_a_known_version(void **state)
{
	(void)state;
	get_ready();
	ask(0, CONF_WRAP);
	ask(1, CONF_WRAP);
	assert_int_equal(waiting(), 2);
	say("a0/wrap/7", "");
	say("a0/wrap/7", "");
	assert_string_equal(F.got[0].text, "token 7");
	assert_string_equal(F.got[1].text, "token 7");
	assert_string_equal(F.got[1].first, "https://a0");
}

static void test_a_token_lives_as_configured_or_as_long_as_it_is_asked_for(void **state)
{
	uint64_t handle;

	(void)state;
	get_ready();
	ask(0, CONF_WRAP);
	assert_int_equal(F.wrap_s, 60);
	say("a0/wrap/7", "");
	assert_int_equal(secrets_wrap(&F.e, 900000, on_keys, &F.got[1], &handle, NULL), 0);
	engine_turn(&F.e);
	assert_int_equal(F.wrap_s, 900);
	say("a0/wrap/7", "");
	assert_string_equal(F.got[1].text, "token 7");
	assert_int_equal(S()->released[CONF_WRAP], 1);
	assert_int_equal(S()->released[CONF_USER_DATA], 1);
}

static void test_one_read_is_for_all_who_wait(void **state)
{
	(void)state;
	get_ready();
	for (size_t i = 0; i < 10; i++)
		ask(i, CONF_BROKER);
	assert_int_equal(waiting(), 1);
	say("a0/read/7", "");
	assert_int_equal(F.got[0].told, true);
	say("a0/read/7", ""); /* for those who came later */
	for (size_t i = 0; i < 10; i++)
		assert_string_equal(F.got[i].text, "bundle 7");
	assert_int_equal(waiting(), 0);
}

static void test_not_all_are_asked_for_at_once(void **state)
{
	(void)state;
	get_ready();
	for (size_t i = 0; i < NODES; i++)
		ask(i, CONF_WRAP);
	assert_int_equal(waiting(), SECRETS_FLYING_MAX);
	for (size_t i = 0; i < NODES; i++)
		say("a0/wrap/7", "");
	for (size_t i = 0; i < NODES; i++)
		assert_true(F.got[i].told);
}

static void test_a_bundle_that_is_no_good_is_given_to_nobody(void **state)
{
	(void)state;
	get_ready();
	ask(0, CONF_BROKER);
	say("a0/read/7", "{\"munge_key\":\"AAAA\"}");
	assert_int_equal(F.got[0].code, ERR_INVALID);
	assert_non_null(strstr(F.got[0].text, "3 bytes"));
}

static void test_who_asks_while_it_is_sealed_waits_and_gets_his_keys(void **state)
{
	int64_t opened_ms;

	(void)state;
	get_ready();
	ask(0, CONF_WRAP);
	say("a0/wrap/7", "sealed");
	say("a1/health", "sealed");
	for (int i = 0; i < 20; i++) {
		while (waiting() == 0)
			pass(100);
		say("a0/health", "sealed");
		say("a1/health", "sealed");
	}
	assert_false(F.got[0].told);
	ask(1, CONF_BROKER);
	while (waiting() == 0)
		pass(100);
	say("a0/health", "");
	say("a0/version", "9");
	opened_ms = F.now;
	pass(700);
	F.e.ahead_ms = 3600000; /* the clock is set back: that is no matter (F57) */
	say("a0/wrap/9", "");
	say("a0/read/9", "");
	assert_int_equal(F.got[0].sent_ms, opened_ms); /* its token cannot be older */
	assert_string_equal(F.got[0].text, "token 9");
	assert_string_equal(F.got[1].text, "bundle 9");
}

static void test_a_request_that_fails_again_and_again_ends(void **state)
{
	unsigned asked = 0;

	(void)state;
	get_ready();
	ask(0, CONF_WRAP);
	for (int i = 0; i < 500 && !F.got[0].told; i++) {
		for (size_t k = 0; k < F.n; k++)
			if (F.wire[k].done != NULL) {
				bool wrap = strstr(F.wire[k].url, "wrap") != NULL;

				asked += wrap;
				say(F.wire[k].url, wrap ? "broken" : "");
				break;
			}
		pass(1000);
	}
	assert_int_equal(F.got[0].code, ERR_NET);
	assert_int_equal(asked, SECRETS_TRIES_MAX);
}

/* Asks of a replica that has not heard of our session yet: within a second, ten times. */
static void test_a_request_to_one_who_is_behind_is_sent_again_soon(void **state)
{
	static const enum conf_release modes[] = {CONF_WRAP, CONF_BROKER};
	static const char *const urls[] = {"a0/wrap/7", "a0/read/7"};

	(void)state;
	get_ready();
	for (size_t i = 0; i < 2; i++) {
		ask(i, modes[i]);
		for (int k = 0; k < SECRETS_BEHIND_MAX; k++) {
			say(urls[i], "behind");
			assert_in_range(S()->asks->at_ms - F.now, SECRETS_AGAIN_MS, 1000);
			assert_false(F.got[i].told);
			pass(1000);
		}
		say(urls[i], "");
		assert_true(F.got[i].told);
		assert_int_equal(F.got[i].code, 0);
	}
}

static void test_a_request_to_one_who_stays_behind_ends(void **state)
{
	(void)state;
	get_ready();
	ask(0, CONF_WRAP);
	for (int k = 0; k <= SECRETS_BEHIND_MAX; k++) {
		assert_false(F.got[0].told);
		say("a0/wrap/7", "behind");
		pass(1000);
	}
	assert_int_equal(F.got[0].code, ERR_NET);
}

static void test_a_revoked_session_costs_a_node_one_more_try(void **state)
{
	(void)state;
	get_ready();
	ask(0, CONF_WRAP);
	say("a0/wrap/7", "denied");
	say("a0/login", "");
	say("a0/rights", "");
	pass(SECRETS_AGAIN_MS);
	say("a0/wrap/7", "");
	assert_string_equal(F.got[0].text, "token 7");
}

static void test_a_right_that_is_missing_costs_one_login_in_five_minutes(void **state)
{
	(void)state;
	get_ready();
	ask(0, CONF_WRAP);
	say("a0/wrap/7", "denied");
	say("a0/login", "");
	say("a0/rights", "");
	pass(SECRETS_AGAIN_MS);
	say("a0/wrap/7", "denied");
	assert_int_equal(F.got[0].code, ERR_AUTH);
	ask(1, CONF_WRAP);
	say("a0/wrap/7", "denied");
	pass(SECRETS_AGAIN_MS);
	say("a0/wrap/7", "denied");
	assert_int_equal(F.got[1].code, ERR_AUTH);
	assert_int_equal(S()->logins, 2);
}

static void test_a_version_that_was_deleted_is_looked_up_anew(void **state)
{
	(void)state;
	get_ready();
	ask(0, CONF_WRAP);
	say("a0/wrap/7", "missing");
	say("a0/version", "8");
	say("a0/wrap/8", "");
	assert_string_equal(F.got[0].text, "token 8");
}

/* A node that was given newer keys than burstd knew of had old ones in its eyes (F54). */
static void test_a_read_that_finds_another_version_has_it_looked_up(void **state)
{
	(void)state;
	get_ready();
	ask(0, CONF_BROKER);
	say("a0/read/7", "");
	engine_turn(&F.e);
	assert_int_equal(waiting(), 0); /* as it was: nothing to look up */
	F.stored = "8";
	ask(1, CONF_BROKER);
	say("a0/read/7", "");
	assert_string_equal(F.got[1].text, "bundle 8");
	engine_turn(&F.e);
	say("a0/version", "8");
	assert_string_equal(secrets_version(&F.e), "8");
}

static void test_who_was_cancelled_hears_nothing_and_his_token_is_revoked(void **state)
{
	uint64_t one, two;

	(void)state;
	get_ready();
	one = ask(0, CONF_WRAP);
	secrets_cancel(&F.e, one);
	secrets_cancel(&F.e, one);
	secrets_cancel(&F.e, 4711);
	say("a0/wrap/7", "");
	say("a0/revoke", "");
	two = ask(1, CONF_BROKER);
	secrets_cancel(&F.e, two);
	say("a0/read/7", "");
	assert_false(F.got[0].told || F.got[1].told);
	assert_int_equal(S()->nasks, 0);
}

static void test_who_is_cancelled_while_he_waits_is_forgotten(void **state)
{
	(void)state;
	start();
	secrets_cancel(&F.e, ask(0, CONF_WRAP));
	engine_turn(&F.e);
	assert_int_equal(S()->nasks, 0);
	assert_false(F.got[0].told);
}

static void test_after_trouble_the_version_is_asked_for_at_once(void **state)
{
	(void)state;
	get_ready();
	ask(0, CONF_WRAP);
	say("a0/wrap/7", "broken");
	say("a1/health", "");
	say("a1/version", "8"); /* a minute early */
	assert_string_equal(secrets_version(&F.e), "8");
	assert_string_equal(S()->error, "");
}

static void test_only_so_many_may_wait(void **state)
{
	struct err e = {0};

	(void)state;
	start();
	S()->nasks = SECRETS_WAITING_MAX;
	assert_int_equal(secrets_release(&F.e, CONF_WRAP, on_keys, NULL, NULL, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	S()->nasks = 0;
}

static void test_a_store_that_wraps_nothing_is_not_asked_to(void **state)
{
	struct err e = {0};

	(void)state;
	F.flags = 0;
	F.conf.secrets.release = CONF_BROKER;
	start();
	assert_int_equal(secrets_release(&F.e, CONF_WRAP, on_keys, NULL, NULL, &e), -1);
	secrets_free(&F.e);
	F.conf.secrets.release = CONF_WRAP;
	assert_int_equal(secrets_part.open(&F.e, &e), -1);
	assert_non_null(strstr(e.msg, "cannot make wrapping tokens"));
}

/* --- enrolment -------------------------------------------------------------------------------- */

static char dir[] = "/tmp/burstd-enroll-XXXXXX", file[64];

static int enrol_setup(void **state)
{
	(void)setup(state);
	if (strstr(dir, "XXXXXX") != NULL && mkdtemp(dir) == NULL)
		return -1;
	(void)snprintf(file, sizeof(file), "%s/secret-id", dir);
	F.conf.secrets.credential_file = file;
	F.credential[0] = '\0';
	start();
	say("a0/health", "");
	engine_turn(&F.e);
	assert_int_equal(S()->phase, SECRETS_REFUSED); /* there is no credential */
	assert_int_equal(engine_enroll(&F.e, "wrapping", "root", NULL), 0);
	return 0;
}

static int enrol_teardown(void **state)
{
	(void)unlink(file);
	return teardown(state);
}

static void test_a_wrapped_credential_is_looked_at_unwrapped_kept_and_used(void **state)
{
	char version[SECRET_FILE_VERSION_SIZE];
	struct secret *s;
	struct stat st;

	(void)state;
	say("a0/peek", "");
	say("a0/unwrap", "");
	assert_int_equal(S()->enrolment, ENGINE_ENROL_DONE);
	assert_string_equal(F.credential, "token");
	assert_int_equal(secret_file_read(file, &s, version, NULL), 0);
	assert_string_equal(secret_text(s), "token");
	secret_free(s);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	engine_turn(&F.e);
	say("a0/health", "");
	say("a0/login", "");
	assert_non_null(strstr(F.events, "secrets-enrolled: by root"));
}

static void test_a_token_from_elsewhere_is_not_unwrapped(void **state)
{
	(void)state;
	say("a0/peek", "sys/wrapping/wrap");
	assert_int_equal(waiting(), 0);
	assert_int_equal(S()->enrolment, ENGINE_ENROL_FAILED);
	assert_non_null(strstr(F.events, "secrets-alarm: the token is from sys/wrapping/wrap"));
	assert_int_equal(access(file, F_OK), -1);
}

/* The path that is wanted, and more: made by who may ask for something else there. */
static void test_a_token_of_a_path_that_begins_alike_is_not_unwrapped(void **state)
{
	(void)state;
	say("a0/peek", "right-accessor/lookup");
	assert_int_equal(waiting(), 0);
	assert_int_equal(S()->enrolment, ENGINE_ENROL_FAILED);
	assert_non_null(strstr(F.events, "secrets-alarm: the token is from right-accessor"));
	assert_int_equal(access(file, F_OK), -1);
}

/* Nor one of which it is the beginning. */
static void test_a_token_of_half_the_path_is_not_unwrapped(void **state)
{
	(void)state;
	say("a0/peek", "righ");
	assert_int_equal(waiting(), 0);
	assert_int_equal(S()->enrolment, ENGINE_ENROL_FAILED);
	assert_int_equal(access(file, F_OK), -1);
}

static void test_a_token_that_was_used_before_is_an_alarm(void **state)
{
	(void)state;
	say("a0/peek", "spent");
	assert_int_equal(S()->enrolment, ENGINE_ENROL_FAILED);
	assert_non_null(strstr(F.events, "secrets-alarm: a wrapped credential was used before"));
}

static void test_unwrap_is_never_sent_again_blindly(void **state)
{
	(void)state;
	say("a0/peek", "");
	lose("a0/unwrap", ERR_NET);
	say("a0/peek", ""); /* it is whole: the request did not arrive */
	say("a0/unwrap", "broken");
	say("a0/peek", "spent"); /* it did arrive */
	assert_int_equal(waiting(), 0);
	assert_int_equal(S()->enrolment, ENGINE_ENROL_FAILED);
	assert_non_null(strstr(F.events, "its content did not arrive"));
}

static void test_one_enrols_at_a_time(void **state)
{
	struct err e = {0};

	(void)state;
	assert_int_equal(engine_enroll(&F.e, "another", "uid 7", &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
}

/* What systemd loads is systemd's to write. */
static void test_a_credential_of_systemd_is_not_written(void **state)
{
	static char loaded[] = "/run/credentials/burstd.service/vault";
	struct err e = {0};

	(void)state;
	F.conf.secrets.credential_file = loaded;
	assert_int_equal(engine_enroll(&F.e, "another", "uid 7", &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
	assert_non_null(strstr(e.msg, "a credential that systemd loads: burstd cannot write it"));
	F.conf.secrets.credential_file = file;
}

/* --- a file ----------------------------------------------------------------------------------- */

static int file_setup(void **state)
{
	(void)setup(state);
	if (strstr(dir, "XXXXXX") != NULL && mkdtemp(dir) == NULL)
		return -1;
	(void)snprintf(file, sizeof(file), "%s/bundle", dir);
	F.as_file = true;
	F.flags = SECRET_INSECURE;
	F.naddresses = 0;
	F.until = INT64_MAX;
	F.conf.secrets.release = CONF_BROKER;
	F.conf.secrets.credential_file = file;
	return 0;
}

static int file_teardown(void **state)
{
	char beside[80];

	(void)snprintf(beside, sizeof(beside), "%s.version", file);
	(void)unlink(beside);
	(void)unlink(file);
	return teardown(state);
}

static void test_a_file_is_read_as_a_server_is_asked(void **state)
{
	(void)state;
	assert_int_equal(secret_file_write(file, BUNDLE, strlen(BUNDLE), "one", NULL), 0);
	start();
	assert_true(secrets_turn_part.next_ms(&F.e) <= F.now); /* told in the next turn */
	engine_turn(&F.e);
	engine_turn(&F.e);
	assert_true(secrets_ready(&F.e));
	assert_string_equal(secrets_version(&F.e), "one");
	ask(0, CONF_BROKER);
	assert_false(F.got[0].told);
	engine_turn(&F.e);
	assert_string_equal(F.got[0].text, "bundle one");
	assert_int_equal(secret_file_write(file, BUNDLE, strlen(BUNDLE), "two", NULL), 0);
	pass(61000);
	assert_string_equal(secrets_version(&F.e), "two");
	assert_int_equal(F.n, 0); /* nothing went over the network */
}

static void test_a_file_that_is_not_there_or_open_to_all_is_told_of(void **state)
{
	(void)state;
	start();
	engine_turn(&F.e);
	engine_turn(&F.e);
	assert_string_equal(S()->error, "version: 404 ");
	assert_false(secrets_ready(&F.e));
	assert_int_equal(secret_file_write(file, BUNDLE, strlen(BUNDLE), "one", NULL), 0);
	assert_int_equal(chmod(file, 0644), 0);
	pass(SECRETS_WRONG_MS + 1000);
	assert_non_null(strstr(S()->error, "owned by root or this user"));
	assert_int_equal(chmod(file, 0600), 0);
	pass(SECRETS_WRONG_MS + 1000);
	assert_true(secrets_ready(&F.e));
	assert_string_equal(S()->error, "");
}

static void on_written(struct secrets *s, void *ctx, const struct secret_op *op,
		       const struct secret_result *r)
{
	(void)s;
	assert_int_equal(op->kind, SECRET_WRITE);
	(void)snprintf(ctx, sizeof(F.got[0].text), "%.100s",
		       r->code == SECRET_OK ? "ok" : r->message);
}

/* Who read `was` writes `text`, as version `is`. */
static void writes(const char *was, const char *text, const char *is)
{
	const struct secret_op op = {
		.kind = SECRET_WRITE, .version = was, .bundle = text, .token = is};

	F.got[0].text[0] = '\0';
	secrets_send(S(), &op, on_written, F.got[0].text);
	assert_string_equal(F.got[0].text, ""); /* told in the next turn */
	engine_turn(&F.e);
}

static void has(const char *text, const char *version)
{
	char v[SECRET_FILE_VERSION_SIZE];
	struct secret *s;

	assert_int_equal(secret_file_read(file, &s, v, NULL), 0);
	assert_string_equal(secret_text(s), text);
	assert_string_equal(v, version);
	secret_free(s);
}

/* An admin was faster: his keys are not lost. */
static void test_a_file_that_somebody_else_has_written_stays(void **state)
{
	(void)state;
	assert_int_equal(secret_file_write(file, "ours", 4, "one", NULL), 0);
	start();
	writes("one", "next", "two");
	assert_string_equal(F.got[0].text, "ok");
	has("next", "two");
	assert_int_equal(secret_file_write(file, "theirs", 6, "three", NULL), 0);
	writes("two", "last", "four");
	assert_non_null(strstr(F.got[0].text, "409"));
	has("theirs", "three");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define L(f) cmocka_unit_test_setup_teardown(f, file_setup, file_teardown)
#define E(f) cmocka_unit_test_setup_teardown(f, enrol_setup, enrol_teardown)
	const struct CMUnitTest tests[] = {
		T(test_each_node_has_a_token_of_its_own_for_a_known_version),
		T(test_a_token_lives_as_configured_or_as_long_as_it_is_asked_for),
		T(test_one_read_is_for_all_who_wait),
		T(test_not_all_are_asked_for_at_once),
		T(test_a_bundle_that_is_no_good_is_given_to_nobody),
		T(test_who_asks_while_it_is_sealed_waits_and_gets_his_keys),
		T(test_a_request_that_fails_again_and_again_ends),
		T(test_a_request_to_one_who_is_behind_is_sent_again_soon),
		T(test_a_request_to_one_who_stays_behind_ends),
		T(test_a_revoked_session_costs_a_node_one_more_try),
		T(test_a_right_that_is_missing_costs_one_login_in_five_minutes),
		T(test_a_version_that_was_deleted_is_looked_up_anew),
		T(test_a_read_that_finds_another_version_has_it_looked_up),
		T(test_who_was_cancelled_hears_nothing_and_his_token_is_revoked),
		T(test_who_is_cancelled_while_he_waits_is_forgotten),
		T(test_after_trouble_the_version_is_asked_for_at_once),
		T(test_only_so_many_may_wait),
		T(test_a_store_that_wraps_nothing_is_not_asked_to),
		E(test_a_wrapped_credential_is_looked_at_unwrapped_kept_and_used),
		E(test_a_token_from_elsewhere_is_not_unwrapped),
		E(test_a_token_of_a_path_that_begins_alike_is_not_unwrapped),
		E(test_a_token_of_half_the_path_is_not_unwrapped),
		E(test_a_token_that_was_used_before_is_an_alarm),
		E(test_unwrap_is_never_sent_again_blindly),
		E(test_one_enrols_at_a_time),
		E(test_a_credential_of_systemd_is_not_written),
		L(test_a_file_is_read_as_a_server_is_asked),
		L(test_a_file_that_is_not_there_or_open_to_all_is_told_of),
		L(test_a_file_that_somebody_else_has_written_stays),
	};
	int rc;
#undef T
#undef L
#undef E

	rc = cmocka_run_group_tests_name("keys of secrets", tests, NULL, NULL);
	(void)rmdir(dir);
	return rc;
}
