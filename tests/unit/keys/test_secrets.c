/* The session with the secret store: which address, logins, renewals, and what a store may say. */
#include "bare_secrets.h"
#include "keys/keys.h"

/* --- address and session ---------------------------------------------------------------------- */

static void test_health_login_rights_version_and_it_is_ready(void **state)
{
	(void)state;
	get_ready();
	assert_string_equal(secrets_version(&F.e), "7");
	assert_string_equal(F.events, "secrets-version: 7\n");
	pass(59000);
	assert_int_equal(waiting(), 0);
	pass(1000);
	say("a0/version", "8");
	assert_string_equal(secrets_version(&F.e), "8");
	assert_non_null(strstr(F.events, "secrets-version: 7 -> 8"));
}

static void test_without_a_section_there_is_nothing(void **state)
{
	struct err e = {0};

	(void)state;
	F.conf.secrets.driver = (char *)(uintptr_t) "";
	start();
	assert_null(F.e.keys->secrets);
	assert_int_equal(secrets_turn_part.next_ms(&F.e), INT64_MAX);
	assert_int_equal(secrets_release(&F.e, CONF_WRAP, on_keys, NULL, NULL, &e), -1);
	assert_int_equal(engine_enroll(&F.e, "x", "root", &e), -1);
}

static int take_files(void *ctx, const struct conf *conf, const char **credential, const char **ca,
		      struct err *e)
{
	(void)ctx;
	assert_ptr_equal(conf, &F.conf);
	if (F.away)
		return err_set(e, ERR_IO, "credential_file: /x: No such file or directory");
	*credential = "from the file";
	*ca = "PEM";
	return 0;
}

/* Its credential comes with a mount that is late, say: burstd starts, sends nothing meanwhile, be
 * it with another credential, tells people, and those who ask; and looks again each minute. */
static void test_a_store_whose_files_are_away_is_off_until_they_come(void **state)
{
	(void)state;
	F.e.d.store_files = take_files;
	F.away = true;
	start();
	assert_int_equal(waiting(), 0);
	assert_string_equal(F.events, "secrets-alarm: credential_file: /x: No such file or "
				      "directory\n");
	assert_non_null(strstr(S()->error, "credential_file: /x"));
	assert_int_equal(S()->phase, SECRETS_REFUSED);
	assert_true(S()->trouble_ms != 0);
	ask(0, CONF_WRAP);
	assert_int_equal(F.got[0].code, ERR_AUTH);
	pass(30 * MINUTE);
	assert_int_equal(F.n, 0);
	assert_int_equal(F.nevents, 1); /* once */
	assert_null(F.e.d.store_ca);
	F.away = false;
	pass(MINUTE);
	assert_string_equal(F.opened, "from the file");
	assert_string_equal(F.e.d.store_ca, "PEM");
	say("a0/health", "");
	say("a0/login", "");
	say("a0/rights", "");
	say("a0/version", "");
	assert_true(secrets_ready(&F.e));
	assert_string_equal(S()->error, "");
}

static void test_a_reload_looks_for_its_files_at_once(void **state)
{
	(void)state;
	F.e.d.store_files = take_files;
	F.away = true;
	start();
	F.away = false;
	engine_turn(&F.e);
	assert_int_equal(waiting(), 0);
	secrets_hurry(&F.e);
	engine_turn(&F.e);
	assert_int_equal(waiting(), 1);
	say("a0/health", "");
}

static void test_a_standby_sends_us_to_the_next_address(void **state)
{
	(void)state;
	start();
	say("a0/health", "standby");
	say("a1/health", "");
	say("a1/login", "");
	say("a1/rights", "");
	say("a1/version", "");
	assert_true(secrets_ready(&F.e));
}

static void test_when_no_address_answers_it_is_asked_later_and_later(void **state)
{
	size_t before;

	(void)state;
	start();
	lose("a0/health", ERR_NOTSENT);
	lose("a1/health", ERR_NET);
	assert_int_equal(waiting(), 0); /* not at once again */
	for (int i = 0; i < 8; i++) {
		int64_t next = secrets_turn_part.next_ms(&F.e);

		assert_true(next > F.now && next <= F.now + SECRETS_AWAY_CAP_MS);
		F.now = next;
		engine_turn(&F.e);
		say("a0/health", "sealed");
		say("a1/health", "sealed");
	}
	before = F.n;
	pass(10 * MINUTE);
	assert_true(F.n - before <= 2); /* one is on the wire, and waits */
}

static void test_trouble_is_told_after_two_minutes_once_and_when_it_ends(void **state)
{
	(void)state;
	get_ready();
	pass(60000);
	say("a0/version", "sealed");
	for (int i = 0; i < 200 && F.now < INT64_C(1800000000000) + 10 * MINUTE; i++) {
		if (secrets_turn_part.next_ms(&F.e) > F.now && waiting() == 0)
			pass(secrets_turn_part.next_ms(&F.e) - F.now);
		for (size_t k = 0; k < F.n; k++)
			if (F.wire[k].done != NULL) {
				say(F.wire[k].url, "sealed");
				break;
			}
	}
	assert_non_null(strstr(F.events, "secrets-alarm: health: it is sealed"));
	assert_int_equal(F.nevents, 2);
	while (waiting() == 0)
		pass(1000);
	say(S()->at == 0 ? "a0/health" : "a1/health", "");
	say(S()->at == 0 ? "a0/version" : "a1/version", "");
	assert_true(secrets_ready(&F.e)); /* the session is still good */
	assert_non_null(strstr(F.events, "answers again"));
	assert_int_equal(F.nevents, 3);
}

static void test_a_redirect_is_followed_to_our_own_addresses_only_and_once(void **state)
{
	(void)state;
	get_ready();
	pass(60000);
	reply("a0/version", "standby", NULL, "https://a1/v1/kv/metadata/x");
	say("a1/version", "");
	assert_string_equal(F.events, "secrets-version: 7\n");
	pass(60000);
	reply("a1/version", "standby", NULL, "https://a0/v1/x");
	reply("a0/version", "standby", NULL, "https://a1/v1/x"); /* round and round */
	say("a1/health", "");                                    /* no: found out anew */
	say("a1/version", "");
	pass(60000);
	reply("a1/version", "standby", NULL, "https://evil/v1/x");
	assert_non_null(strstr(F.events, "secrets-redirect"));
	say("a0/health", "");
}

static void test_a_session_is_renewed_at_two_thirds_of_its_life(void **state)
{
	int64_t began;

	(void)state;
	F.conf.secrets.poll_ms = 10 * LEASE;
	get_ready();
	began = F.now;
	while (waiting() == 0)
		pass(MINUTE);
	assert_in_range(F.now - began, LEASE / 2, LEASE * 2 / 3 + MINUTE);
	say("a0/renew", "");
	assert_int_equal(F.until, F.now + LEASE);
	assert_int_equal(S()->logins, 1);
	/* One that cannot live much longer: a new one in time. */
	while (waiting() == 0)
		pass(MINUTE);
	say("a0/renew", "60000");
	while (waiting() == 0)
		pass(1000);
	say("a0/login", "");
	assert_int_equal(S()->logins, 2);
}

/* F57: a store says by the wall clock until when a session is good. */
static void test_a_session_is_as_long_by_a_clock_that_was_set(void **state)
{
	static const int64_t ahead[] = {-2 * LEASE, 2 * LEASE};

	for (size_t i = 0; i < 2; i++) {
		int64_t began;

		(void)teardown(state);
		(void)setup(state);
		F.conf.secrets.poll_ms = 10 * LEASE;
		F.e.ahead_ms = ahead[i];
		get_ready();
		began = F.now;
		assert_int_equal(F.until, F.now - ahead[i] + LEASE);
		assert_true(secrets_ready(&F.e));
		while (waiting() == 0)
			pass(MINUTE);
		assert_in_range(F.now - began, LEASE / 2, LEASE * 2 / 3 + MINUTE);
	}
}

static void test_a_session_that_cannot_be_renewed_is_replaced(void **state)
{
	(void)state;
	F.renewable = false;
	F.conf.secrets.poll_ms = 10 * LEASE;
	get_ready();
	while (waiting() == 0)
		pass(MINUTE);
	assert_true(F.until > F.now); /* meanwhile the old one is good */
	say("a0/login", "");
	say("a0/rights", "");
	assert_true(secrets_ready(&F.e));
}

static void test_a_revoked_session_is_replaced_once_and_then_not_for_minutes(void **state)
{
	(void)state;
	get_ready();
	pass(60000);
	say("a0/version", "denied");
	say("a0/login", "");
	say("a0/rights", "");
	say("a0/version", "denied");
	assert_int_equal(S()->phase, SECRETS_REFUSED);
	assert_non_null(strstr(F.events, "secrets-alarm: it is denied"));
	pass(4 * MINUTE);
	assert_int_equal(waiting(), 0);
	pass(MINUTE);
	say("a0/health", "");
}

static void test_a_login_that_is_refused_is_not_tried_again_and_again(void **state)
{
	(void)state;
	start();
	say("a0/health", "");
	say("a0/login", "denied");
	ask(0, CONF_WRAP);
	assert_int_equal(F.got[0].code, ERR_AUTH);
	pass(4 * MINUTE);
	assert_int_equal(waiting(), 0);
	assert_int_equal(F.n, 2);
}

static void test_a_session_that_may_do_anything_is_not_used(void **state)
{
	(void)state;
	start();
	say("a0/health", "");
	say("a0/login", "");
	say("a0/rights", "root");
	assert_int_equal(S()->phase, SECRETS_REFUSED);
	assert_int_equal(F.until, 0);
	assert_non_null(strstr(F.events, "root or sudo"));
}

static void test_a_session_without_the_right_is_told_of(void **state)
{
	(void)state;
	start();
	say("a0/health", "");
	say("a0/login", "");
	say("a0/rights", "poor");
	assert_non_null(strstr(F.events, "no right to read the bundle"));
}

/* Its policy is mended meanwhile, or not: that is asked, and the session not used in between. */
static void test_a_session_without_the_right_is_judged_again_before_it_is_used(void **state)
{
	(void)state;
	F.conf.secrets.release = CONF_USER_DATA;
	start();
	say("a0/health", "");
	say("a0/login", "");
	for (size_t i = 0; i < 3; i++) {
		say("a0/rights", "looks");
		assert_int_equal(S()->phase, SECRETS_REFUSED);
		ask(i, CONF_WRAP);
		assert_int_equal(F.got[i].code, ERR_AUTH);
		assert_non_null(strstr(F.got[i].text, "no right to revoke"));
		pass(SECRETS_REFUSED_MS - 1);
		assert_int_equal(waiting(), 0);
		pass(1);
		say("a0/health", "");
	}
	assert_int_equal(S()->logins, 1);
	say("a0/rights", "both");
	say("a0/version", "");
	assert_true(secrets_ready(&F.e));
}

/* An answer that is lost, or late, or is none, is no judgement. */
static void test_rights_that_were_not_told_are_asked_for_again(void **state)
{
	(void)state;
	start();
	say("a0/health", "");
	say("a0/login", "");
	lose("a0/rights", ERR_NET);
	say("a1/health", "");
	say("a1/rights", "broken");
	assert_false(secrets_revoke(&F.e, "acc")); /* what it may is not known */
	pass(secrets_turn_part.next_ms(&F.e) - F.now);
	say("a0/health", "");
	say("a0/rights", "nonsense");
	pass(SECRETS_WRONG_MS);
	say("a0/health", "");
	assert_false(secrets_ready(&F.e));
	say("a0/rights", "root");
	assert_int_equal(S()->phase, SECRETS_REFUSED);
	assert_int_equal(F.until, 0);
	pass(SECRETS_REFUSED_MS);
	say("a0/health", "");
	say("a0/login", "");
	say("a0/rights", "");
	say("a0/version", "");
	assert_true(secrets_ready(&F.e));
	assert_true(secrets_revoke(&F.e, "acc"));
	say("a0/revoke", "");
}

/* Nodes that go at once must not have all of the requests that there may be at a time. */
static void test_so_many_tokens_are_revoked_at_a_time(void **state)
{
	(void)state;
	get_ready();
	for (int i = 0; i < SECRETS_REVOKES_MAX; i++)
		assert_true(secrets_revoke(&F.e, "acc"));
	assert_false(secrets_revoke(&F.e, "acc"));
	say("a0/revoke", "spent");
	lose("a0/revoke", ERR_NET);
	for (int i = 0; i < 2; i++)
		assert_true(secrets_revoke(&F.e, "acc"));
	assert_false(secrets_revoke(&F.e, "acc"));
	for (int i = 0; i < SECRETS_REVOKES_MAX; i++)
		say("a0/revoke", "");
	assert_int_equal(S()->revoking, 0);
}

/* Of a token that is gone it is not said that it ends by itself: somebody may have used it. */
static void test_what_is_said_of_a_token_that_was_gone(void **state)
{
	FILE *f = tmpfile();
	char text[2048] = "";
	size_t n;

	(void)state;
	assert_non_null(f);
	get_ready();
	F.e.d.log = log_new(fileno(f), LOG_INFO);
	assert_true(secrets_revoke(&F.e, "acc-1"));
	say("a0/revoke", "spent");
	assert_true(secrets_revoke(&F.e, "acc-2"));
	lose("a0/revoke", ERR_NET);
	log_free(F.e.d.log);
	F.e.d.log = NULL;
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	(void)fclose(f);
	assert_non_null(strstr(text, "was gone when it was to be revoked: used, or its time was "
				     "over\" accessor=acc-1"));
	assert_non_null(strstr(text, "was not revoked: it ends by itself\" accessor=acc-2"));
}

static void test_a_policy_that_hides_its_rights_is_refused(void **state)
{
	(void)state;
	start();
	for (int i = 0; i < 2; i++) {
		say("a0/health", "");
		say("a0/login", "");
		say("a0/rights", "denied");
		assert_int_equal(S()->phase, SECRETS_REFUSED);
		assert_int_equal(F.until, 0);
		assert_non_null(strstr(S()->error,
				       "rights: its policy does not let it read its own rights "
				       "(sys/capabilities-self): it is denied"));
		pass(SECRETS_REFUSED_MS);
	}
	assert_non_null(
		strstr(F.events, "secrets-alarm: its policy does not let it read its own rights"));
	assert_int_equal(F.nevents, 1);
}

/* It was refused for a while, and somebody revokes it meanwhile: a new one. */
static void test_an_old_session_that_may_not_ask_is_replaced(void **state)
{
	(void)state;
	get_ready();
	pass(60000);
	say("a0/version", "denied");
	assert_false(secrets_revoke(&F.e, "acc")); /* there is no session */
	say("a0/login", "");
	say("a0/rights", "");
	say("a0/version", "denied");
	assert_int_equal(S()->phase, SECRETS_REFUSED);
	pass(SECRETS_REFUSED_MS);
	say("a0/health", "");
	say("a0/rights", "denied");
	assert_int_equal(F.until, 0);
	say("a0/login", "");
	say("a0/rights", "");
	say("a0/version", "");
	assert_true(secrets_ready(&F.e));
}

/* What the one before might do says nothing of this one. */
static void test_each_session_is_judged(void **state)
{
	(void)state;
	F.renewable = false;
	F.conf.secrets.poll_ms = 10 * LEASE;
	get_ready();
	while (waiting() == 0)
		pass(MINUTE);
	say("a0/login", "");
	assert_false(secrets_ready(&F.e));
	assert_false(secrets_revoke(&F.e, "acc"));
	lose("a0/rights", ERR_NET);
	say("a1/health", "");
	say("a1/rights", "root");
	assert_int_equal(F.until, 0);
	assert_false(secrets_revoke(&F.e, "acc"));
	pass(SECRETS_REFUSED_MS);
	say("a1/health", "");
	say("a1/login", "");
}

static void anew(void)
{
	secrets_free(&F.e);
	F.events[0] = '\0';
	F.until = 0;
	start();
	say("a0/health", "");
	say("a0/login", "");
}

/* Of a token in a machine's user-data there is nobody else to say whether it was used, and one that
 * nobody used is good for as long as a boot may take. */
static void test_with_tokens_in_user_data_it_must_be_allowed_to_look_and_to_revoke(void **state)
{
	(void)state;
	F.conf.secrets.release = CONF_USER_DATA;
	start();
	say("a0/health", "");
	say("a0/login", "");
	say("a0/rights", "");
	assert_non_null(strstr(F.events, "auth/token/lookup-accessor"));
	assert_false(secrets_ready(&F.e));
	anew();
	say("a0/rights", "looks");
	assert_non_null(strstr(F.events, "auth/token/revoke-accessor"));
	assert_false(secrets_ready(&F.e));
	anew();
	say("a0/rights", "both");
	say("a0/version", "");
	assert_true(secrets_ready(&F.e));
}

static void on_told(void *ctx, enum secret_code what)
{
	*(enum secret_code *)ctx = what;
}

static void test_what_became_of_a_token_is_told(void **state)
{
	enum secret_code looked = SECRET_INVALID, revoked = SECRET_INVALID;
	const struct secrets_look a = {on_told, &looked}, b = {on_told, &revoked};

	(void)state;
	start();
	assert_false(secrets_look(&F.e, SECRET_REVOKE, "acc", &b));
	say("a0/health", "");
	say("a0/login", "");
	say("a0/rights", "both");
	say("a0/version", "");
	assert_true(secrets_look(&F.e, SECRET_LOOK, "acc", &a));
	assert_true(secrets_look(&F.e, SECRET_REVOKE, "acc", &b));
	say("a0/look", "");
	say("a0/revoke", "spent");
	assert_int_equal(looked, SECRET_OK);
	assert_int_equal(revoked, SECRET_SPENT);
}

/* Whoever wants it tries again: sent now it would be lost. */
static void test_while_the_store_is_away_no_token_is_revoked(void **state)
{
	(void)state;
	get_ready();
	pass(60000);
	say("a0/version", "sealed");
	assert_int_equal(S()->phase, SECRETS_PROBE);
	assert_false(secrets_revoke(&F.e, "acc"));
	say("a1/health", "");
	assert_true(secrets_revoke(&F.e, "acc"));
	say("a1/version", "");
	say("a1/revoke", "");
}

static void test_while_other_keys_are_about_to_come_it_serves_nobody(void **state)
{
	(void)state;
	start();
	assert_false(secrets_serves(&F.e));
	secrets_free(&F.e);
	get_ready();
	assert_true(secrets_serves(&F.e));
	S()->held = true;
	assert_false(secrets_serves(&F.e));
}

static void test_a_throttled_request_waits_as_long_as_it_is_told(void **state)
{
	(void)state;
	start();
	say("a0/health", "");
	reply("a0/login", "rate", "20", NULL);
	pass(19999);
	assert_int_equal(waiting(), 0);
	pass(1);
	say("a0/login", "");
}

static void test_one_who_is_behind_is_asked_again_soon_and_ten_times(void **state)
{
	(void)state;
	get_ready();
	pass(60000);
	for (int i = 0; i < SECRETS_BEHIND_MAX; i++) {
		say("a0/version", "behind");
		assert_in_range(secrets_turn_part.next_ms(&F.e) - F.now, 100, 1000);
		pass(1000);
	}
	say("a0/version", "behind");
	say("a1/health", "");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_health_login_rights_version_and_it_is_ready),
		T(test_without_a_section_there_is_nothing),
		T(test_a_store_whose_files_are_away_is_off_until_they_come),
		T(test_a_reload_looks_for_its_files_at_once),
		T(test_a_standby_sends_us_to_the_next_address),
		T(test_when_no_address_answers_it_is_asked_later_and_later),
		T(test_trouble_is_told_after_two_minutes_once_and_when_it_ends),
		T(test_a_redirect_is_followed_to_our_own_addresses_only_and_once),
		T(test_a_session_is_renewed_at_two_thirds_of_its_life),
		T(test_a_session_is_as_long_by_a_clock_that_was_set),
		T(test_a_session_that_cannot_be_renewed_is_replaced),
		T(test_a_revoked_session_is_replaced_once_and_then_not_for_minutes),
		T(test_a_login_that_is_refused_is_not_tried_again_and_again),
		T(test_a_session_that_may_do_anything_is_not_used),
		T(test_a_session_without_the_right_is_told_of),
		T(test_a_session_without_the_right_is_judged_again_before_it_is_used),
		T(test_rights_that_were_not_told_are_asked_for_again),
		T(test_a_policy_that_hides_its_rights_is_refused),
		T(test_what_is_said_of_a_token_that_was_gone),
		T(test_so_many_tokens_are_revoked_at_a_time),
		T(test_an_old_session_that_may_not_ask_is_replaced),
		T(test_each_session_is_judged),
		T(test_with_tokens_in_user_data_it_must_be_allowed_to_look_and_to_revoke),
		T(test_what_became_of_a_token_is_told),
		T(test_while_the_store_is_away_no_token_is_revoked),
		T(test_while_other_keys_are_about_to_come_it_serves_nobody),
		T(test_a_throttled_request_waits_as_long_as_it_is_told),
		T(test_one_who_is_behind_is_asked_again_soon_and_ten_times),
	};
#undef T

	return cmocka_run_group_tests_name("secrets", tests, NULL, NULL);
}
