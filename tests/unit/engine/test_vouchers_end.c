/* test_vouchers_end.c - a token whose node is over: what people are told of it when nobody can say
 * who used it. */
#include "bare_vouchers.h"

/* It was there, and a thief was faster than the revoke; or that one's answer was lost. */
static void test_one_that_was_used_before_it_was_revoked_is_told(void **state)
{
	(void)state;
	buy_with_token(1, "acc-1");
	boots(1, true);
	is_late(1);
	store_says(SECRET_OK);
	store_says(SECRET_SPENT);
	assert_int_equal(F.revoked, 1);
	assert_int_equal(events("breach"), 0);
	assert_int_equal(events("token-unknown"), 1);
	assert_null(voucher(1));
	restart();
	assert_null(voucher(1));
}

/* The thief, or whoever else may, cancels the job that the node boots for. */
static void test_one_that_was_used_before_its_node_was_let_go_is_told(void **state)
{
	(void)state;
	buy_with_token(1, "acc-1");
	boots(1, true);
	happens(1, NODE_EV_RELEASE, NODE_BECAUSE_SUSPENDED);
	restart();
	store_says(SECRET_SPENT);
	assert_int_equal(events("breach"), 0);
	assert_int_equal(F.e->count.claims_breached, 0);
	assert_int_equal(events("token-unknown"), 1);
	assert_null(voucher(1));
}

/* A revoke whose answer was lost, of one that nobody else has had. */
static void test_of_one_that_no_machine_had_nobody_is_told(void **state)
{
	struct fleet_node *fn;

	(void)state;
	fn = want(1);
	assert_false(vouchers_have(F.e, &fn, 1));
	keys_come("acc-1");
	F.e->conf->pools[0].boot_ms = 2 * BOOT_MS; /* too much for that one */
	assert_false(vouchers_have(F.e, &fn, 1));
	store_says(SECRET_TRANSIENT);
	vouchers_find(F.e, "c1", 1)->look_ms = 0;
	store_says(SECRET_SPENT);
	assert_int_equal(F.revoked, 2);
	assert_int_equal(F.looks, 0);
	assert_int_equal(events("token-unknown"), 0);
	assert_null(vouchers_find(F.e, "c1", 1));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup_vouchers, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_one_that_was_used_before_it_was_revoked_is_told),
		T(test_one_that_was_used_before_its_node_was_let_go_is_told),
		T(test_of_one_that_no_machine_had_nobody_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
