/* test_vouchers_slow.c - a store that is slow, away or refuses: tokens that are too old when they
 * come, and purchases that wait for them. */
#include "keys_engine.h"
#include "vouchers_world.h"

static void test_one_that_waited_too_long_is_made_anew(void **state)
{
	struct fleet_node *fn = asks_for_token(1);

	(void)state;
	keys_come("acc-1");
	/* Up to then there would be nobody to look. */
	vouchers_find(F.e, "c1", 1)->v.ends_ms = engine_now(F.e) + BOOT_MS + 1000;
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(F.released, 1);
	assert_non_null(engine_token_wait(F.e, &fn->n));
	store_says(SECRET_OK);
	assert_string_equal(F.revoked_last, "acc-1");
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(F.released, 2);
	keys_come("acc-2");
	assert_true(vouchers_have(F.e, &fn, 1));
}

/* Behind a queue, or with the store away: what counts is when its own request went out. */
static void test_one_that_was_waited_for_is_good_from_when_it_was_made(void **state)
{
	struct fleet_node *fn = asks_for_token(1);

	(void)state;
	F.ago_ms = 7000;
	keys_come("acc-1");
	assert_true(vouchers_have(F.e, &fn, 1));
	assert_in_range(engine_now(F.e) + F.life_ms - voucher_of(fn)->ends_ms, 7000, 8000);
	assert_int_equal(F.revoked, 0);
}

/* The store makes them shorter than is asked for: no more than one in a while is made for nothing,
 * whoever else waits, and people are told. */
static void test_one_that_is_bad_when_it_comes_slows_all(void **state)
{
	struct fleet_node *fn[2] = {want(1, 1), want(2, 1)};

	(void)state;
	for (unsigned i = 1; i <= 3; i++) {
		assert_false(vouchers_have(F.e, fn, i == 1 ? 1 : 2));
		assert_int_equal(F.released, i);
		F.life_ms = BOOT_MS;
		F.ago_ms = i * 100; /* on its way */
		keys_come("acc-1");
		assert_int_equal(voucher_of(fn[0])->state, VOUCHER_SPARE);
		assert_non_null(strstr(engine_token_wait(F.e, &fn[0]->n), "good for 600 s"));
		store_says(SECRET_OK);
		assert_int_equal(F.revoked, i);
		assert_false(vouchers_have(F.e, fn, 2));
		assert_int_equal(F.released, i);
		assert_true(vouchers_waits(F.e, &fn[1]->n));
		assert_true(vouchers_turn_part.next_ms(F.e) > engine_now(F.e));
		assert_true(vouchers_turn_part.next_ms(F.e) <= engine_now(F.e) + VOUCHER_AGAIN_MS);
		F.e->keys->vouchers->again_ms = engine_now(F.e);
	}
	F.ago_ms = 0;
	assert_false(vouchers_have(F.e, fn, 2));
	assert_int_equal(F.released, 4);
	assert_true(vouchers_waits(F.e, &fn[1]->n)); /* for what comes of that */
	keys_come("acc-2");
	assert_false(vouchers_have(F.e, fn, 2));
	assert_int_equal(F.released, 5);
	keys_come("acc-3");
	assert_true(vouchers_have(F.e, fn, 2));
}

/* One is asked for after the other. */
static bool all_have(struct fleet_node **fn, size_t n)
{
	bool all = true;

	for (size_t i = 0; i < n; i++)
		if (F.keys_fn != NULL && vouchers_find(F.e, fn[i]->n.name, 1) == NULL)
			all = false;
		else
			all = vouchers_have(F.e, &fn[i], 1) && all;
	return all;
}

static void let_pass(struct fleet_node **fn, size_t n, int64_t ms)
{
	for (size_t i = 0; i < n; i++) {
		struct voucher_run *r = vouchers_find(F.e, fn[i]->n.name, 1);

		if (r == NULL || r->asked)
			continue;
		r->v.made_ms -= ms;
		r->v.ends_ms -= ms;
	}
}

static void revoke_all(void)
{
	while (F.e->keys->vouchers->open != NULL)
		store_says(SECRET_OK);
}

/* The store makes one in 100 s, and a gang wants three when each may wait for 150 s: those that
 * are made next live longer, until there are enough. */
static void test_a_gang_of_a_slow_store_is_bought_at_last(void **state)
{
	struct fleet_node *fn[3] = {want(1, 1), want(2, 1), want(3, 1)};
	int made = 0;

	(void)state;
	while (!all_have(fn, 3)) {
		revoke_all();
		let_pass(fn, 3, 100000);
		if (F.keys_fn == NULL)
			continue;
		keys_come("acc");
		assert_true(++made < 10);
	}
	assert_true(F.life_ms > voucher_life_ms(BOOT_MS));
	assert_true(F.life_ms <= voucher_life_ms(BOOT_MS) + VOUCHER_LONGER_MAX_MS);
	F.e->keys->vouchers->longer_until_ms = engine_now(F.e); /* and then as before */
	fn[0] = want(4, 1);
	assert_false(vouchers_have(F.e, fn, 1));
	assert_int_equal(F.life_ms, voucher_life_ms(BOOT_MS));
}

/* However long its create was held up: what lives for hours is good for thieves for hours. */
static void test_no_token_is_made_to_live_for_hours(void **state)
{
	struct fleet_node *fn = asks_for_token(1);

	(void)state;
	keys_come("acc-1");
	let_pass(&fn, 1, 7200000);
	assert_false(vouchers_have(F.e, &fn, 1)); /* it has ended */
	act_on_tokens();
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(F.life_ms, voucher_life_ms(BOOT_MS) + VOUCHER_LONGER_MAX_MS);
	F.keys_fn = NULL;
}

static void test_one_for_keys_that_were_changed_is_made_anew(void **state)
{
	struct secrets s = {.version = "8"};
	struct fleet_node *fn = asks_for_token(1);

	(void)state;
	keys_come("acc-1"); /* of version 7 */
	F.e->keys->secrets = &s;
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(voucher_of(fn)->state, VOUCHER_SPARE);
	F.e->keys->secrets = NULL;
}

/* A token that is there opens nothing while the store is away, or has keys that will change. */
static void test_while_the_store_serves_nobody_nothing_is_bought(void **state)
{
	struct fleet_node *fn = asks_for_token(1);

	(void)state;
	keys_come("acc-1");
	F.away = true;
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(voucher_of(fn)->state, VOUCHER_HELD);
	assert_non_null(engine_token_wait(F.e, &fn->n));
	F.away = false;
	assert_true(vouchers_have(F.e, &fn, 1));
}

static void test_while_the_store_refuses_nothing_is_bought_and_people_are_told(void **state)
{
	const struct err err = {.code = ERR_AUTH, .msg = "the secret store: permission denied"};
	struct fleet_node *fn = asks_for_token(1);
	secrets_fn fn_keys = F.keys_fn;

	(void)state;
	F.keys_fn = NULL;
	F.e->keys->vouchers->longer_ms = 1000; /* which its policy refuses, perhaps */
	F.e->keys->vouchers->longer_until_ms = INT64_MAX;
	fn_keys(F.keys_ctx, NULL, &err);
	assert_string_equal(engine_token_wait(F.e, &fn->n), err.msg);
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(F.released, 1); /* not at once */
	assert_true(vouchers_turn_part.next_ms(F.e) > engine_now(F.e));
	assert_true(vouchers_turn_part.next_ms(F.e) <= engine_now(F.e) + VOUCHER_AGAIN_MS);
	F.e->keys->vouchers->again_ms = engine_now(F.e);
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(F.released, 2);
	assert_int_equal(F.life_ms, voucher_life_ms(BOOT_MS));
	F.keys_fn = NULL;
}

static void test_an_ask_ends_with_its_node(void **state)
{
	(void)state;
	(void)asks_for_token(1);
	is_let_go(1);
	assert_null(F.keys_fn); /* cancelled */
	assert_null(vouchers_find(F.e, "c1", 1));
	assert_int_equal(F.e->keys->vouchers->nasked, 0); /* nobody waits for what comes of it */
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup_vouchers, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_no_token_is_made_to_live_for_hours),
		T(test_one_for_keys_that_were_changed_is_made_anew),
		T(test_while_the_store_serves_nobody_nothing_is_bought),
		T(test_one_that_waited_too_long_is_made_anew),
		T(test_one_that_was_waited_for_is_good_from_when_it_was_made),
		T(test_one_that_is_bad_when_it_comes_slows_all),
		T(test_a_gang_of_a_slow_store_is_bought_at_last),
		T(test_while_the_store_refuses_nothing_is_bought_and_people_are_told),
		T(test_an_ask_ends_with_its_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
