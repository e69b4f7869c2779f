/* test_vouchers.c - machines whose user-data has the token for their keys: it is there before they
 * are bought, the same after a restart, gone when they are up. */
#include "keys_engine.h"
#include "vouchers_world.h"

static void test_nothing_is_bought_before_the_token_is_durable(void **state)
{
	struct fleet_node *fn = asks_for_token(1);

	(void)state;
	assert_int_equal(F.released, 1);
	assert_true(F.life_ms > BOOT_MS);
	assert_non_null(engine_token_wait(F.e, &fn->n));
	assert_false(vouchers_have(F.e, &fn, 1)); /* asked once */
	assert_int_equal(F.released, 1);
	keys_come("acc-1");
	assert_null(engine_token_wait(F.e, &fn->n));
	assert_true(vouchers_have(F.e, &fn, 1));
	restart(); /* its row was not in the journal: it is nobody's */
	act_on_tokens();
	assert_int_equal(F.revoked, 1);
	assert_string_equal(F.revoked_last, "acc-1");
}

/* With a token in its user-data a machine asks nobody here, and still runs our node-init. */
static void test_machines_with_tokens_are_keyless_without_node_init(void **state)
{
	(void)state;
	assert_null(engine_keyless(F.e, 0));
	node_init_off(F.e, &(struct err){.code = ERR_IO, .msg = "node_init: away"});
	assert_string_equal(engine_keyless(F.e, 0), "node_init: away");
	F.e->conf->providers[0].vouchers = false;
	assert_null(engine_keyless(F.e, 0));
	F.e->conf->providers[0].vouchers = true;
	node_init_off(F.e, NULL);
}

static int reload_with_node_init(const char *path)
{
	struct conf *next = make_conf();
	int rc;

	next->nodes.node_init = mem_strdup(path);
	rc = engine_reload(F.e, next, NULL);
	if (rc != 0)
		conf_free(next);
	return rc;
}

/* Machines get what could be read before; if nothing could, the rest of the file counts. */
static void test_a_node_init_that_cannot_be_read_is_refused_while_there_is_one(void **state)
{
	(void)state;
	assert_int_equal(reload_with_node_init("/nowhere"), -1);
	assert_null(engine_init_off(F.e));
	node_init_off(F.e, &(struct err){.code = ERR_IO, .msg = "node_init: away"});
	assert_int_equal(reload_with_node_init("/nowhere"), 0);
	assert_non_null(strstr(engine_init_off(F.e), "/nowhere"));
}

/* The user-data of the last create. */
static const char *sent(void)
{
	return F.creates[F.ncreates - 1].user_data;
}

static void test_what_the_machine_is_told(void **state)
{
	static const char *const lines[] = {"claim_id=burst-5111eb00-c1-1\n",
					    "burstd=none\n",
					    "node=c1\n",
					    "generation=1\n",
					    "cloud=fake\n",
					    "auth=munge\n",
					    "conf_server=ctl:6817\n",
					    "instance_type=t\n",
					    "release=wrap\n",
					    "version=7\n",
					    "gpus=8\n",
					    "gpu_type=h100\n",
					    "fabric=ib\nfabric_ports=8\nfabric_rate=400\n",
					    "vault=https://v1:8200 https://[::2]:8200\n",
					    "vault_ca=LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==\n",
					    "creation_path=kv/data/slurm/node\n",
					    "wrap_token=s.wrap\n",
					    "slurmd_opts=-Z --conf Gres=gpu:h100:8\n",
					    "end=1\nLINES\n"};

	(void)state;
	has_gpus(1);
	F.e->conf->pools[0].interconnect = mem_strdup("ib:8x400");
	F.e->conf->pools[0].dynamic = true;
	free(F.e->conf->pools[0].gres);
	F.e->conf->pools[0].gres = mem_strdup("gpu:h100:8");
	buy_with_token(1, "acc-1");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (strstr(sent(), lines[i]) == NULL)
			fail_msg("%s is not in\n%s", lines[i], sent());
	assert_null(strstr(sent(), "acc-1"));
	assert_null(strstr(sent(), "@LINES@"));
	assert_null(strstr(sent(), "@NODE_INIT@"));
	assert_null(strstr(sent(), "@SHA256@"));
	assert_null(F.e->keys->claims);
}

/* I4, and a crash at any time: as it was sent, whatever slurmctld has not said yet. */
static void test_it_is_told_the_same_after_a_restart(void **state)
{
	struct fleet_node *fn;
	struct member members[1];
	struct keys_for k;
	char *again;

	(void)state;
	has_gpus(1);
	buy_with_token(1, "acc-1");
	restart();
	fn = row(1);
	k = keys_of_rows(&fn, 1, F.creates[0].token, members);
	again = user_data(&k);
	assert_non_null(again);
	assert_string_equal(sent(), again);
	secret_wipe(&again);
}

static void test_it_is_wiped_when_the_node_is_up(void **state)
{
	int64_t version = 0;
	bool *drained;

	(void)state;
	boots_with_token(1, "acc-1");
	assert_int_equal(voucher(1)->state, VOUCHER_HELD);
	assert_false(vouchers_keys(F.e, &row(1)->n, &version, &drained));
	happens(1, NODE_EV_REGISTERED, NODE_BECAUSE_NONE);
	assert_int_equal(row(1)->n.state, NODE_READY);
	assert_int_equal(voucher(1)->state, VOUCHER_SPENT);
	assert_null(voucher(1)->token);
	restart();
	assert_null(voucher(1)->token);
	assert_true(vouchers_keys(F.e, &row(1)->n, &version, &drained));
	assert_int_equal(version, 7);
	assert_int_equal(F.revoked, 0);
	assert_null(vouchers_user_data(
		F.e, &(struct keys_for){.n = 1, .members = &(struct member){row(1)->name, 1, 0}},
		&F.e->conf->pools[0].own, NULL));
}

static void test_attestation_is_shown_as_none(void **state)
{
	struct engine_boot b;

	(void)state;
	buy_with_token(1, "acc-1");
	assert_true(engine_boot(F.e, "c1", 1, &b));
	assert_true(b.unproved);
	assert_false(b.weak);
	assert_string_equal(b.claim, "held");
	assert_int_equal(b.key_version, 7);
}

/* After a restart the journal has it as doubted, and the store would say that it was used. */
static void test_a_revoke_that_is_not_durable_is_not_sent(void **state)
{
	const struct secrets_look *look;

	(void)state;
	boots_with_token(1, "acc-1");
	is_late(1);
	act_on_tokens();
	look = F.look;
	F.look = NULL;
	look->fn(look->ctx, SECRET_OK);
	assert_int_equal(voucher(1)->state, VOUCHER_VOID);
	F.e->dead = true; /* as engine_commit() leaves it when the disk fails */
	act_on_tokens();
	assert_int_equal(F.revoked, 0);
	restart();
	assert_int_equal(voucher(1)->state, VOUCHER_DOUBTED);
}

static void test_of_a_node_that_is_let_go_it_is_revoked(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	is_let_go(1);
	store_says(SECRET_OK);
	assert_int_equal(F.revoked, 1);
	assert_string_equal(F.revoked_last, "acc-1");
	assert_null(voucher(1));
	act_on_tokens();
	assert_int_equal(F.looks, 0);
	restart();
	assert_null(voucher(1));
}

/* A store that is away, or fails, or burstd's end: it is revoked later. */
static void test_a_revoke_that_does_not_happen_is_tried_until_it_does(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	is_let_go(1);
	F.away = true;
	act_on_tokens();
	assert_int_equal(F.revoked, 0);
	assert_true(vouchers_turn_part.next_ms(F.e) <= engine_now(F.e) + VOUCHER_LOOK_MS);
	F.away = false;
	later_the_store_says(SECRET_TRANSIENT);
	assert_int_equal(voucher(1)->state, VOUCHER_VOID);
	assert_null(voucher(1)->token);
	restart();
	store_says(SECRET_SPENT); /* it is there no more */
	assert_int_equal(F.revoked, 2);
	assert_int_equal(events("breach"), 0);
	assert_null(voucher(1));
}

static void test_a_revoke_is_given_up_when_the_token_has_ended(void **state)
{
	(void)state;
	boots_with_token(1, "acc-1");
	is_let_go(1);
	vouchers_find(F.e, "c1", 1)->v.ends_ms = engine_now(F.e) - 1;
	act_on_tokens();
	engine_commit(F.e);
	assert_int_equal(F.revoked, 0);
	assert_int_equal(events("token-unknown"), 0);
	assert_null(voucher(1));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup_vouchers, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_nothing_is_bought_before_the_token_is_durable),
		T(test_machines_with_tokens_are_keyless_without_node_init),
		T(test_a_node_init_that_cannot_be_read_is_refused_while_there_is_one),
		T(test_what_the_machine_is_told),
		T(test_it_is_told_the_same_after_a_restart),
		T(test_it_is_wiped_when_the_node_is_up),
		T(test_attestation_is_shown_as_none),
		T(test_a_revoke_that_is_not_durable_is_not_sent),
		T(test_of_a_node_that_is_let_go_it_is_revoked),
		T(test_a_revoke_that_does_not_happen_is_tried_until_it_does),
		T(test_a_revoke_is_given_up_when_the_token_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
