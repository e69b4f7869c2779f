/* The end of the session with the secret store, when burstd stops: it is asked for, and not waited
 * for any longer than that is worth. */
#include "bare_secrets.h"

#include "keys/keys.h"
#include "keys/rotate.h"

static unsigned told;

static void on_said(void *ctx)
{
	assert_ptr_equal(ctx, &told);
	told++;
}

static int bye_setup(void **state)
{
	told = 0;
	return setup(state);
}

static bool bye(void)
{
	return engine_logout(&F.e, on_said, &told);
}

static void test_the_session_is_ended_where_it_is_and_who_waits_is_told(void **state)
{
	(void)state;
	start();
	say("a0/health", "standby");
	say("a1/health", "");
	say("a1/login", "");
	say("a1/rights", "");
	say("a1/version", "");
	assert_true(bye());
	assert_in_range(F.wire[F.n - 1].timeout_ms, 1, SECRETS_BYE_MS);
	secrets_free(&F.e); /* and everything else of the engine */
	assert_int_equal(told, 0);
	say("a1/logout", "");
	assert_int_equal(told, 1);
}

static void test_what_else_is_on_the_wire_is_not_waited_for(void **state)
{
	(void)state;
	get_ready();
	(void)ask(0, CONF_WRAP);
	assert_true(bye());
	secrets_free(&F.e);
	assert_int_equal(waiting(), 1);
	say("a0/logout", "");
	assert_int_equal(told, 1);
	assert_false(F.got[0].told);
}

static void test_a_store_that_does_not_answer_is_soon_given_up(void **state)
{
	(void)state;
	get_ready();
	assert_true(bye());
	secrets_free(&F.e);
	lose("a0/logout", ERR_NET);
	assert_int_equal(told, 1);
}

static void test_nobody_is_told_when_the_wait_is_cut_short(void **state)
{
	(void)state;
	get_ready();
	assert_true(bye());
	secrets_free(&F.e);
	lose("a0/logout", ERR_CANCELLED);
	assert_int_equal(told, 0);
}

static void test_where_there_is_no_session_nothing_is_waited_for(void **state)
{
	(void)state;
	assert_false(bye()); /* nor a store */
	start();
	assert_false(bye());
	say("a0/health", "sealed");
	assert_false(bye());
	F.now = secrets_turn_part.next_ms(&F.e);
	engine_turn(&F.e);
	say("a1/health", "");
	say("a1/login", "");
	F.until = F.now; /* it has ended already */
	assert_false(bye());
}

static void test_a_store_without_sessions_is_asked_nothing(void **state)
{
	(void)state;
	F.flags = 0;
	F.conf.secrets.release = CONF_BROKER;
	F.until = INT64_MAX;
	start();
	assert_false(bye());
}

static void test_what_cannot_be_sent_is_not_waited_for(void **state)
{
	(void)state;
	get_ready();
	F.deaf = true;
	assert_false(bye());
}

static void test_a_rotation_s_session_is_ended_too(void **state)
{
	struct rotate_store store;
	struct rotate rt = {.e = &F.e, .store = &store};

	(void)state;
	get_ready();
	store = (struct rotate_store){.s = *F.e.keys->secrets};
	store.s.at = 1;
	F.e.keys->rotate = &rt;
	assert_true(bye());
	F.e.keys->rotate = NULL;
	secrets_free(&F.e);
	say("a1/logout", "");
	assert_int_equal(told, 0);
	say("a0/logout", "denied");
	assert_int_equal(told, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, bye_setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_the_session_is_ended_where_it_is_and_who_waits_is_told),
		T(test_what_else_is_on_the_wire_is_not_waited_for),
		T(test_a_store_that_does_not_answer_is_soon_given_up),
		T(test_nobody_is_told_when_the_wait_is_cut_short),
		T(test_where_there_is_no_session_nothing_is_waited_for),
		T(test_a_store_without_sessions_is_asked_nothing),
		T(test_what_cannot_be_sent_is_not_waited_for),
		T(test_a_rotation_s_session_is_ended_too),
	};
#undef T

	return cmocka_run_group_tests_name("the end of the session", tests, NULL, NULL);
}
