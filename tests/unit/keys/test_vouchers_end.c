/* test_vouchers_end.c - a token whose node is over: what people are told of it when nobody can say
 * who used it. */
#include "keys_engine.h"
#include "store/journal_nodes.h"
#include "store/journal_vouchers.h"
#include "vouchers_world.h"

/* It was there, and a thief was faster than the revoke; or that one's answer was lost. */
static void test_one_that_was_used_before_it_was_revoked_is_told(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
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
	boots_with_token(1, "acc-1");
	is_let_go(1);
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
	struct fleet_node *fn = asks_for_token(1);

	(void)state;
	keys_come("acc-1");
	F.e->conf->pools[0].boot_ms = 2 * BOOT_MS; /* too much for that one */
	assert_false(vouchers_have(F.e, &fn, 1));
	store_says(SECRET_TRANSIENT);
	later_the_store_says(SECRET_SPENT);
	assert_int_equal(F.revoked, 2);
	assert_int_equal(F.looks, 0);
	assert_int_equal(events("token-unknown"), 0);
	assert_null(vouchers_find(F.e, "c1", 1));
}

/* F58: a list has found its node's machine meanwhile, which has another token. */
static void test_one_that_comes_when_its_node_is_there_is_not_its(void **state)
{
	struct fleet_node *fn = asks_for_token(1);
	struct node *n = fleet_stage(fn);

	(void)state;
	n->state = NODE_BOOTING;
	(void)snprintf(n->instance, sizeof(n->instance), "i-7");
	fleet_publish(&F.e->fleet, fn);
	keys_come("acc-1");
	assert_int_equal(voucher(1)->state, VOUCHER_SPARE);
	store_says(SECRET_OK);
	assert_int_equal(F.revoked, 1);
	assert_null(vouchers_find(F.e, "c1", 1));
}

/* It was ahead when the token was made. */
static void test_after_the_clock_was_set_back_no_theft_is_claimed(void **state)
{
	struct voucher *v;

	(void)state;
	boots_with_token(1, "acc-1");
	boots_with_token(2, "acc-2");
	v = &vouchers_find(F.e, "c1", 1)->v;
	v->made_ms += 3600000;
	v->ends_ms += 3600000;
	journal_put_voucher(engine_tx(F.e), v);
	engine_commit(F.e);
	restart();
	is_late(1);
	store_says(SECRET_SPENT);
	assert_int_equal(events("breach"), 0);
	assert_int_equal(events("token-unknown"), 1);
	is_late(2); /* made when it was right */
	store_says(SECRET_SPENT);
	assert_int_equal(events("breach"), 1);
}

static int find_unknown(void *ctx, const struct journal_event *ev)
{
	bool *found = ctx;

	*found = *found || (strcmp(ev->type, "token-unknown") == 0 &&
			    strstr(ev->detail, "another secret store") != NULL);
	return 0;
}

/* And not that the store has not answered in time. */
static bool is_said_why(void)
{
	bool found = false;

	assert_int_equal(journal_events(F.journal, 0, NULL, 10000, find_unknown, &found, NULL), 0);
	return found;
}

static void a_second_ago(int i)
{
	char name[16];
	struct voucher *v;

	(void)snprintf(name, sizeof(name), "c%d", i);
	v = &vouchers_find(F.e, name, 1)->v;
	v->made_ms -= 1000;
	journal_put_voucher(engine_tx(F.e), v);
	engine_commit(F.e);
}

/* Node i has its token, and both are in the journal. */
static void could_be_bought(int i, const char *accessor)
{
	const struct fleet_node *fn = asks_for_token(i);

	journal_put_node(engine_tx(F.e), &fn->n, "pool");
	keys_come(accessor);
}

/* Another Vault knows none of them: that says nothing of who used them, now or after one more
 * restart. */
static void test_of_another_stores_token_no_theft_is_claimed(void **state)
{
	struct fleet_node *fn;

	(void)state;
	boots_with_token(1, "acc-1");
	could_be_bought(2, "acc-2");
	a_second_ago(1);
	a_second_ago(2);
	restart(); /* the same one */
	fn = row(2);
	assert_true(vouchers_have(F.e, &fn, 1));
	F.store_at = "https://two:8200";
	restart();
	fn = row(2);
	assert_false(vouchers_have(F.e, &fn, 1)); /* it would open nothing there */
	assert_int_equal(voucher(2)->state, VOUCHER_SPARE);
	engine_commit(F.e);
	restart();
	store_says(SECRET_SPENT);
	assert_null(voucher(2));
	is_late(1);
	store_says(SECRET_SPENT);
	assert_string_equal(F.looked_last, "acc-1");
	assert_int_equal(events("breach"), 0);
	assert_int_equal(events("token-unknown"), 1);
	assert_true(is_said_why());
	/* Its own are looked after as ever. */
	boots_with_token(3, "acc-3");
	restart();
	is_late(3);
	store_says(SECRET_SPENT);
	assert_int_equal(events("breach"), 1);
	/* Another namespace of it has others. */
	boots_with_token(4, "acc-4");
	journal_put_number(engine_tx(F.e), "voucher_store_ms", 1); /* the other was long ago */
	a_second_ago(4);
	F.store_in = "two";
	restart();
	is_late(4);
	store_says(SECRET_SPENT);
	assert_int_equal(events("breach"), 1);
	assert_int_equal(events("token-unknown"), 2);
}

/* Nor of one whose node was let go that it has used it. */
static void test_of_another_stores_token_it_is_not_said_who_used_it(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	a_second_ago(1);
	is_let_go(1);
	F.store_at = "https://two:8200";
	restart();
	store_says(SECRET_SPENT);
	assert_int_equal(events("token-unknown"), 1);
	assert_true(is_said_why());
}

/* --- the configuration gives no tokens any more -----------------------------------------------
 */

/* Two machines boot, and a third was not bought yet; then burstd is started with release = wrap. */
static void three_then_wrap(void)
{
	boots_with_token(1, "acc-1");
	boots_with_token(2, "acc-2");
	could_be_bought(3, "acc-3");
	F.release = CONF_WRAP;
	restart();
}

static void test_those_of_another_configuration_are_looked_after(void **state)
{
	struct conf *next;

	(void)state;
	three_then_wrap();
	assert_false(vouchers_wanted(F.e, 0));
	store_says(SECRET_OK);
	assert_string_equal(F.revoked_last, "acc-3"); /* nobody needs it */
	assert_null(voucher(3));
	assert_int_equal(voucher(1)->state, VOUCHER_HELD);
	happens(1, NODE_EV_REGISTERED, NODE_BECAUSE_NONE);
	assert_int_equal(voucher(1)->state, VOUCHER_SPENT);
	is_late(2);
	store_says(SECRET_SPENT);
	assert_string_equal(F.looked_last, "acc-2");
	assert_int_equal(events("breach"), 1);
	next = make_conf();
	next->nodes.node_init = mem_strdup("/nowhere"); /* is no concern of theirs */
	assert_int_equal(engine_reload(F.e, next, NULL), 0);
	restart();
	assert_int_equal(voucher(1)->state, VOUCHER_SPENT);
	assert_null(voucher(2));
}

static void test_without_a_store_nobody_can_be_asked(void **state)
{
	(void)state;
	F.wraps_nothing = true;
	three_then_wrap();
	assert_null(F.e->keys->vouchers);
	act_on_tokens();
	assert_int_equal(F.looks + F.revoked, 0);
	F.wraps_nothing = false;
	restart();
	assert_null(F.e->keys->vouchers); /* they are not in the journal any more */
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup_vouchers, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_one_that_was_used_before_it_was_revoked_is_told),
		T(test_one_that_was_used_before_its_node_was_let_go_is_told),
		T(test_of_one_that_no_machine_had_nobody_is_told),
		T(test_one_that_comes_when_its_node_is_there_is_not_its),
		T(test_after_the_clock_was_set_back_no_theft_is_claimed),
		T(test_of_another_stores_token_no_theft_is_claimed),
		T(test_of_another_stores_token_it_is_not_said_who_used_it),
		T(test_those_of_another_configuration_are_looked_after),
		T(test_without_a_store_nobody_can_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
