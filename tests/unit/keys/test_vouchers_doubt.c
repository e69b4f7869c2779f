/* test_vouchers_doubt.c - a machine has gone: did somebody use its token?  When that is an alarm.
 */
#include "keys_engine.h"
#include "vouchers_world.h"

/* The one that ended, and one that its job needs no more for that, with the same reason. */
static void test_who_goes_for_what_another_node_did_is_not_doubted(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	boots_with_token(2, "acc-2");
	is_seen(1, PROVIDER_ENDED);
	assert_int_equal(voucher(1)->state, VOUCHER_DOUBTED);
	happens(2, NODE_EV_RELEASE, NODE_BECAUSE_ENDED);
	assert_true(goes(2, NODE_BECAUSE_ENDED));
	assert_int_equal(voucher(2)->state, VOUCHER_VOID);
}

/* The answer to its create was lost, a repeat is refused, and no list shows a machine: there may
 * have been one.  burstd dies in between. */
static void test_whose_create_was_in_doubt_is_doubted(void **state)
{
	struct node_event absent = {.type = NODE_EV_ABSENT};

	(void)state;
	buy_with_token(1, "acc-1");
	happens(1, NODE_EV_LOST, NODE_BECAUSE_NONE);
	assert_int_equal(row(1)->n.state, NODE_INDOUBT);
	happens(1, NODE_EV_REFUSED, NODE_BECAUSE_CAPACITY);
	restart();
	for (int i = 1; i <= 2; i++) {
		absent.now_ms = absent.list_ms = engine_now(F.e) + i * (int64_t)3600000;
		engine_post(F.e, row(1), &absent);
	}
	engine_commit(F.e);
	assert_int_equal(row(1)->n.state, NODE_GONE);
	assert_int_equal(row(1)->n.reason, NODE_BECAUSE_CAPACITY);
	assert_int_equal(voucher(1)->state, VOUCHER_DOUBTED);
}

/* Its create is on the wire when it is let go: its bytes stay the same, and nobody forgets. */
static void test_who_was_let_go_before_it_was_there_is_known_after_a_restart(void **state)
{
	(void)state;
	buy_with_token(1, "acc-1");
	happens(1, NODE_EV_RELEASE, NODE_BECAUSE_ENDED);
	assert_non_null(voucher(1)->token);
	restart();
	assert_non_null(voucher(1)->token);
	boots(1, true);
	assert_true(goes(1, NODE_BECAUSE_ENDED));
	assert_int_equal(voucher(1)->state, VOUCHER_VOID);
}

/* A thief's machine powers itself off, and a list shows it while it does. */
static void test_a_machine_that_was_seen_to_stop_is_doubted(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	is_seen(1, PROVIDER_STOPPING);
	assert_true(goes(1, NODE_BECAUSE_STOPPED));
	assert_int_equal(voucher(1)->state, VOUCHER_DOUBTED);
}

/* Its provider takes it: the node is to go, and slurmctld lets it go. */
static void test_a_machine_that_was_seen_to_be_taken_is_doubted(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	boots_with_token(2, "acc-2");
	is_seen(1, PROVIDER_RECLAIMING);
	is_seen(2, PROVIDER_RECLAIMING);
	assert_int_equal(row(1)->n.state, NODE_DRAINING);
	assert_int_equal(voucher(1)->state, VOUCHER_HELD);
	is_let_go(1);
	assert_int_equal(voucher(1)->state, VOUCHER_DOUBTED);
	is_seen(2, PROVIDER_ENDED);
	assert_int_equal(row(2)->n.reason, NODE_BECAUSE_RECLAIMED);
	assert_int_equal(voucher(2)->state, VOUCHER_DOUBTED);
}

/* It is up, though it is to go: it is no thief's. */
static void test_who_comes_up_when_it_is_to_go_has_used_its_token(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	is_seen(1, PROVIDER_RECLAIMING);
	happens(1, NODE_EV_REGISTERED, NODE_BECAUSE_NONE);
	assert_int_equal(row(1)->n.state, NODE_DRAINING);
	assert_int_equal(voucher(1)->state, VOUCHER_SPENT);
	is_seen(1, PROVIDER_ENDED);
	act_on_tokens();
	assert_int_equal(F.looks, 0);
	assert_null(voucher(1));
}

/* With too few GPUs: it is no thief's, whatever else becomes of its machine. */
static void test_who_comes_up_wrong_has_used_its_token(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	assert_true(vouchers_is_held(F.e, &row(1)->n));
	vouchers_up(F.e, &row(1)->n);
	engine_commit(F.e);
	assert_int_equal(row(1)->n.state, NODE_BOOTING);
	assert_int_equal(voucher(1)->state, VOUCHER_SPENT);
	assert_false(vouchers_is_held(F.e, &row(1)->n));
}

/* Up, and to go, in one commit. */
static void test_who_is_up_for_a_moment_has_used_its_token(void **state)
{
	const struct node_event up = {.type = NODE_EV_REGISTERED, .now_ms = engine_now(F.e)};

	(void)state;
	boots_with_token(1, "acc-1");
	engine_post(F.e, row(1), &up);
	is_seen(1, PROVIDER_STOPPING);
	assert_int_equal(row(1)->n.state, NODE_DRAINING);
	assert_int_equal(voucher(1)->state, VOUCHER_SPENT);
}

static void test_no_more_are_looked_at_than_the_store_can_bear(void **state)
{
	const struct secrets_look *first = NULL;

	(void)state;
	for (int i = 1; i <= VOUCHERS_FLYING_MAX + 2; i++) {
		boots_with_token(i, "acc");
		if (i % 2 == 0)
			is_late(i);
		else
			is_let_go(i);
	}
	act_on_tokens();
	assert_int_equal(F.looks + F.revoked, VOUCHERS_FLYING_MAX);
	assert_true(vouchers_turn_part.next_ms(F.e) > engine_now(F.e)); /* it does not spin */
	act_on_tokens();
	assert_int_equal(F.looks + F.revoked, VOUCHERS_FLYING_MAX);
	first = F.look;
	first->fn(first->ctx, SECRET_TRANSIENT);
	act_on_tokens();
	assert_int_equal(F.looks + F.revoked, VOUCHERS_FLYING_MAX + 1);
}

static void test_who_never_came_has_its_token_revoked(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	is_late(1);
	assert_null(voucher(1)->token);
	store_says(SECRET_OK);
	assert_string_equal(F.looked_last, "acc-1");
	store_says(SECRET_OK);
	assert_string_equal(F.revoked_last, "acc-1");
	assert_int_equal(events("breach"), 0);
	assert_null(voucher(1));
}

/* Whoever used it has the keys, and no node is there. */
static void test_a_token_that_was_used_without_a_node_is_an_alarm(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	is_late(1);
	store_says(SECRET_SPENT);
	assert_int_equal(events("breach"), 1);
	assert_int_equal(audits("breach"), 1);
	assert_int_equal(F.e->count.claims_breached, 1);
	assert_int_equal(F.revoked, 0);
	assert_null(voucher(1));
}

/* A machine that ends by itself finds its token used, perhaps; and burstd may die before it asks.
 */
static void test_the_doubt_survives_a_restart_and_the_end_of_its_machine(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	is_seen(1, PROVIDER_ENDED);
	assert_int_equal(row(1)->n.state, NODE_GONE);
	restart();
	assert_true(vouchers_turn_part.next_ms(F.e) <= engine_now(F.e));
	store_says(SECRET_SPENT);
	assert_int_equal(events("breach"), 1);
	restart();
	act_on_tokens();
	assert_null(F.look);
}

static void test_while_the_store_does_not_say_it_is_asked_again(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	is_late(1);
	F.away = true;
	act_on_tokens();
	assert_null(F.look);
	assert_true(vouchers_turn_part.next_ms(F.e) > engine_now(F.e));
	assert_true(vouchers_turn_part.next_ms(F.e) < INT64_MAX);
	F.away = false;
	later_the_store_says(SECRET_TRANSIENT);
	assert_non_null(voucher(1));
	later_the_store_says(SECRET_DENIED);
	assert_non_null(voucher(1));
	/* Until nobody can say any more. */
	vouchers_find(F.e, "c1", 1)->v.ends_ms = engine_now(F.e) - 1;
	act_on_tokens();
	engine_commit(F.e);
	assert_int_equal(events("token-unknown"), 1);
	assert_int_equal(events("breach"), 0);
	assert_null(voucher(1));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup_vouchers, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_who_goes_for_what_another_node_did_is_not_doubted),
		T(test_who_was_let_go_before_it_was_there_is_known_after_a_restart),
		T(test_whose_create_was_in_doubt_is_doubted),
		T(test_a_machine_that_was_seen_to_stop_is_doubted),
		T(test_a_machine_that_was_seen_to_be_taken_is_doubted),
		T(test_who_comes_up_when_it_is_to_go_has_used_its_token),
		T(test_who_comes_up_wrong_has_used_its_token),
		T(test_who_is_up_for_a_moment_has_used_its_token),
		T(test_no_more_are_looked_at_than_the_store_can_bear),
		T(test_who_never_came_has_its_token_revoked),
		T(test_a_token_that_was_used_without_a_node_is_an_alarm),
		T(test_the_doubt_survives_a_restart_and_the_end_of_its_machine),
		T(test_while_the_store_does_not_say_it_is_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
