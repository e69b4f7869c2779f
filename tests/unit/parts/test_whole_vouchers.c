/* test_whole_vouchers.c - tokens together with the parts beside keys: what buy/ sends with them,
 * whom it buys first, and what it concludes from the end of a machine; and how diff/ finds by
 * slurmctld's snapshot that a node has used its token. */
#include "tests/unit/keys/vouchers_world.h"
#include "whole_claims.h"

#include "diff/diff.h"

/* --- what a create has --------------------------------------------------------------------------
 */

/* I4, and a crash at any time: as it was sent, whatever slurmctld has not said yet. */
static void test_a_repeat_after_a_restart_has_the_same_bytes(void **state)
{
	struct keys_for keys;
	char *again;

	(void)state;
	has_gpus(1);
	buy_with_token(1, "acc-1");
	restart();
	assert_non_null(F.e->buy->batches);
	keys = keys_of(F.e->buy->batches);
	again = vouchers_user_data(F.e, &keys, &F.e->conf->pools[0].own, NULL);
	assert_non_null(again);
	assert_string_equal(again, F.wire[0].body);
	secret_wipe(&again);
}

/* The first of those that may go out now; "": none. */
static const char *first_to_go(void)
{
	struct fleet_node **all;
	size_t n = wanted_collect(F.e, &all);
	const char *first = n > 0 ? all[0]->n.name : "";

	assert_true(n <= F.e->slice.send);
	free(all);
	return first;
}

static void test_who_waits_for_its_token_is_in_nobodys_way(void **state)
{
	struct fleet_node *fn[3] = {want(1, 1), want(2, 1), want(3, 1)};

	(void)state;
	F.e->slice.send = 1;
	F.e->cloud->all[0].listed = true;
	F.e->poll.snapshot_ms = engine_now(F.e);
	assert_string_equal(first_to_go(), "c1");
	assert_false(vouchers_have(F.e, &fn[0], 1));
	assert_string_equal(first_to_go(), "c2");
	keys_come("acc-1");
	assert_string_equal(first_to_go(), "c1");
	F.away = true;
	assert_string_equal(first_to_go(), "c2");
	F.away = false;
	F.e->keys->vouchers->again_ms =
		engine_now(F.e) + VOUCHER_AGAIN_MS; /* no more tokens, but there is one */
	assert_string_equal(first_to_go(), "c1");
	is_let_go(1);
	assert_string_equal(first_to_go(), "");
}

/* --- what slurmctld has -------------------------------------------------------------------------
 */

static void snapshot(const char *text)
{
	assert_true(slurm_parse_nodes(text, strlen(text), observe_node, F.e, NULL) > 0);
	assert_true(observe_snapshot(F.e, engine_now(F.e) + 1, NULL));
	F.e->left = 10;
	registered_part.at[PART_TAKE](F.e);
	engine_commit(F.e);
}

/* It is up, though it is to go: it is no thief's. */
static void test_who_registers_when_it_is_to_go_has_used_its_token(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	boots_with_token(2, "acc-2");
	is_seen(1, PROVIDER_RECLAIMING);
	is_seen(2, PROVIDER_RECLAIMING);
	snapshot("NodeName=c1 NodeHostName=c1 State=MIXED+CLOUD NodeAddr=10.0.0.1\n"
		 "NodeName=c2 NodeHostName=c2 State=IDLE+CLOUD+POWER_DOWN NodeAddr=10.0.0.2\n");
	assert_int_equal(row(1)->n.state, NODE_DRAINING);
	assert_int_equal(voucher(1)->state, VOUCHER_SPENT);
	assert_int_equal(voucher(2)->state, VOUCHER_HELD); /* it is powered down as it boots */
	is_seen(1, PROVIDER_ENDED);
	act_on_tokens();
	assert_int_equal(F.looks, 0);
	assert_null(voucher(1));
}

/* With too few GPUs: it goes, and is no thief's, whatever else becomes of its machine. */
static void test_who_registers_wrong_has_used_its_token(void **state)
{
	(void)state;
	for (int i = 1; i <= 3; i++)
		boots_with_token(i, "acc");
	is_seen(2, PROVIDER_RECLAIMING);
	snapshot("NodeName=c1 NodeHostName=c1 State=IDLE+CLOUD+DRAIN+INVALID_REG "
		 "NodeAddr=10.0.0.1\n"
		 "NodeName=c2 NodeHostName=c2 State=IDLE+CLOUD+DRAIN+INVALID_REG "
		 "NodeAddr=10.0.0.2\n"
		 /* It may be so from before: it is powered down as it boots. */
		 "NodeName=c3 NodeHostName=c3 State=IDLE+CLOUD+INVALID_REG+POWER_DOWN "
		 "NodeAddr=10.0.0.3\n");
	assert_int_equal(row(1)->n.state, NODE_BOOTING);
	assert_int_equal(row(2)->n.state, NODE_DRAINING);
	assert_int_equal(voucher(1)->state, VOUCHER_SPENT);
	assert_int_equal(voucher(2)->state, VOUCHER_SPENT);
	assert_int_equal(voucher(3)->state, VOUCHER_HELD);
	is_seen(1, PROVIDER_ENDED);
	is_seen(2, PROVIDER_ENDED);
	act_on_tokens();
	assert_int_equal(F.looks, 0);
	assert_null(voucher(1));
	assert_null(voucher(2));
}

/* --- what follows from the end of a machine -----------------------------------------------------
 */

/* node-init tells nobody that it failed: it ends the machine. */
static void test_machines_that_end_as_they_boot_close_their_pool(void **state)
{
	(void)state;
	for (int i = 1; i <= 3; i++)
		boots_with_token(i, "acc");
	happens(3, NODE_EV_RELEASE, NODE_BECAUSE_ENDED); /* another's end */
	assert_int_equal(fleet_find(&F.e->fleet, "c3")->fails, 0);
	assert_null(engine_blocked(F.e, 0));
	is_seen(1, PROVIDER_ENDED);
	assert_int_equal(fleet_find(&F.e->fleet, "c1")->fails, 1);
	row(2)->n.wanted_ms = engine_now(F.e) + 1; /* bought after that */
	is_seen(2, PROVIDER_ENDED);
	assert_non_null(engine_blocked(F.e, 0));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup_vouchers, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_repeat_after_a_restart_has_the_same_bytes),
		T(test_who_waits_for_its_token_is_in_nobodys_way),
		T(test_who_registers_when_it_is_to_go_has_used_its_token),
		T(test_who_registers_wrong_has_used_its_token),
		T(test_machines_that_end_as_they_boot_close_their_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
