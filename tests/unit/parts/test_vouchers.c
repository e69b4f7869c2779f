/* test_vouchers.c - machines whose user-data has the token for their keys: it is there before they
 * are bought, the same after a restart, gone when they are up; and when it is an alarm. */
#include "bare_vouchers.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "diff/diff.h"
#include "keys/keys.h"

static void test_nothing_is_bought_before_the_token_is_durable(void **state)
{
	struct fleet_node *fn;

	(void)state;
	fn = want(1);
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(F.released, 1);
	assert_true(F.life_ms > BOOT_MS);
	assert_non_null(engine_token_wait(F.e, &fn->n));
	assert_false(vouchers_have(F.e, &fn, 1)); /* asked once */
	assert_int_equal(F.released, 1);
	keys_come("acc-1");
	assert_null(engine_token_wait(F.e, &fn->n));
	assert_true(vouchers_have(F.e, &fn, 1));
	restart(); /* its row was not in the journal: it is nobody's */
	vouchers_run(F.e);
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
					    "end=1\nLINES\n"};

	(void)state;
	fleet_name(&F.e->fleet, "c1", 0)->gpus = 8;
	fleet_name(&F.e->fleet, "c1", 0)->gpu_model = "h100";
	F.e->conf->pools[0].interconnect = mem_strdup("ib:8x400");
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
static void test_a_repeat_after_a_restart_has_the_same_bytes(void **state)
{
	char *first, *again;
	struct keys_for keys;
	const struct conf_offer *o;

	(void)state;
	fleet_name(&F.e->fleet, "c1", 0)->gpus = 8;
	fleet_name(&F.e->fleet, "c1", 0)->gpu_model = "h100";
	buy_with_token(1, "acc-1");
	first = mem_strdup(sent());
	restart();
	o = &F.e->conf->pools[0].own;
	assert_non_null(F.e->buy->batches);
	keys = keys_of(F.e->buy->batches);
	again = vouchers_user_data(F.e, &keys, o, NULL);
	assert_non_null(again);
	assert_string_equal(first, again);
	secret_wipe(&first);
	secret_wipe(&again);
}

static void test_it_is_wiped_when_the_node_is_up(void **state)
{
	int64_t version = 0;
	bool *drained;

	(void)state;
	buy_with_token(1, "acc-1");
	boots(1, true);
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
	buy_with_token(1, "acc-1");
	boots(1, true);
	is_late(1);
	vouchers_run(F.e);
	look = F.look;
	F.look = NULL;
	look->fn(look->ctx, SECRET_OK);
	assert_int_equal(voucher(1)->state, VOUCHER_VOID);
	F.e->dead = true; /* as engine_commit() leaves it when the disk fails */
	vouchers_run(F.e);
	assert_int_equal(F.revoked, 0);
	restart();
	assert_int_equal(voucher(1)->state, VOUCHER_DOUBTED);
}

static void test_of_a_node_that_is_let_go_it_is_revoked(void **state)
{
	(void)state;
	buy_with_token(1, "acc-1");
	boots(1, true);
	happens(1, NODE_EV_RELEASE, NODE_BECAUSE_SUSPENDED);
	store_says(SECRET_OK);
	assert_int_equal(F.revoked, 1);
	assert_string_equal(F.revoked_last, "acc-1");
	assert_null(voucher(1));
	vouchers_run(F.e);
	assert_int_equal(F.looks, 0);
	restart();
	assert_null(voucher(1));
}

/* A store that is away, or fails, or burstd's end: it is revoked later. */
static void test_a_revoke_that_does_not_happen_is_tried_until_it_does(void **state)
{
	(void)state;
	buy_with_token(1, "acc-1");
	boots(1, true);
	happens(1, NODE_EV_RELEASE, NODE_BECAUSE_SUSPENDED);
	F.away = true;
	vouchers_run(F.e);
	assert_int_equal(F.revoked, 0);
	assert_true(vouchers_next_ms(F.e) <= engine_now(F.e) + VOUCHER_LOOK_MS);
	F.away = false;
	vouchers_find(F.e, "c1", 1)->look_ms = 0;
	store_says(SECRET_TRANSIENT);
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
	buy_with_token(1, "acc-1");
	boots(1, true);
	happens(1, NODE_EV_RELEASE, NODE_BECAUSE_SUSPENDED);
	vouchers_find(F.e, "c1", 1)->v.ends_ms = engine_now(F.e) - 1;
	vouchers_run(F.e);
	engine_commit(F.e);
	assert_int_equal(F.revoked, 0);
	assert_int_equal(events("token-unknown"), 0);
	assert_null(voucher(1));
}

/* The one that ended, and one that its job needs no more for that, with the same reason. */
static void test_who_goes_for_what_another_node_did_is_not_doubted(void **state)
{
	(void)state;
	buy_with_token(1, "acc-1");
	buy_with_token(2, "acc-2");
	boots(1, true);
	boots(2, true);
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
	buy_with_token(1, "acc-1");
	boots(1, true);
	is_seen(1, PROVIDER_STOPPING);
	assert_true(goes(1, NODE_BECAUSE_STOPPED));
	assert_int_equal(voucher(1)->state, VOUCHER_DOUBTED);
}

/* Its provider takes it: the node is to go, and slurmctld lets it go. */
static void test_a_machine_that_was_seen_to_be_taken_is_doubted(void **state)
{
	(void)state;
	buy_with_token(1, "acc-1");
	buy_with_token(2, "acc-2");
	boots(1, true);
	boots(2, true);
	is_seen(1, PROVIDER_RECLAIMING);
	is_seen(2, PROVIDER_RECLAIMING);
	assert_int_equal(row(1)->n.state, NODE_DRAINING);
	assert_int_equal(voucher(1)->state, VOUCHER_HELD);
	happens(1, NODE_EV_RELEASE, NODE_BECAUSE_SUSPENDED);
	assert_int_equal(voucher(1)->state, VOUCHER_DOUBTED);
	is_seen(2, PROVIDER_ENDED);
	assert_int_equal(row(2)->n.reason, NODE_BECAUSE_RECLAIMED);
	assert_int_equal(voucher(2)->state, VOUCHER_DOUBTED);
}

static void snapshot(const char *text)
{
	assert_true(slurm_parse_nodes(text, strlen(text), observe_node, F.e, NULL) > 0);
	assert_true(observe_snapshot(F.e, engine_now(F.e) + 1, NULL));
	F.e->left = 10;
	registered_run(F.e);
	engine_commit(F.e);
}

/* It is up, though it is to go: it is no thief's. */
static void test_who_registers_when_it_is_to_go_has_used_its_token(void **state)
{
	(void)state;
	buy_with_token(1, "acc-1");
	buy_with_token(2, "acc-2");
	boots(1, true);
	boots(2, true);
	is_seen(1, PROVIDER_RECLAIMING);
	is_seen(2, PROVIDER_RECLAIMING);
	snapshot("NodeName=c1 NodeHostName=c1 State=MIXED+CLOUD NodeAddr=10.0.0.1\n"
		 "NodeName=c2 NodeHostName=c2 State=IDLE+CLOUD+POWER_DOWN NodeAddr=10.0.0.2\n");
	assert_int_equal(row(1)->n.state, NODE_DRAINING);
	assert_int_equal(voucher(1)->state, VOUCHER_SPENT);
	assert_int_equal(voucher(2)->state, VOUCHER_HELD); /* it is powered down as it boots */
	is_seen(1, PROVIDER_ENDED);
	vouchers_run(F.e);
	assert_int_equal(F.looks, 0);
	assert_null(voucher(1));
}

/* With too few GPUs: it goes, and is no thief's, whatever else becomes of its machine. */
static void test_who_registers_wrong_has_used_its_token(void **state)
{
	(void)state;
	for (int i = 1; i <= 3; i++) {
		buy_with_token(i, "acc");
		boots(i, true);
	}
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
	vouchers_run(F.e);
	assert_int_equal(F.looks, 0);
	assert_null(voucher(1));
	assert_null(voucher(2));
}

/* Up, and to go, in one commit. */
static void test_who_is_up_for_a_moment_has_used_its_token(void **state)
{
	const struct node_event up = {.type = NODE_EV_REGISTERED, .now_ms = engine_now(F.e)};

	(void)state;
	buy_with_token(1, "acc-1");
	boots(1, true);
	engine_post(F.e, row(1), &up);
	is_seen(1, PROVIDER_STOPPING);
	assert_int_equal(row(1)->n.state, NODE_DRAINING);
	assert_int_equal(voucher(1)->state, VOUCHER_SPENT);
}

/* node-init tells nobody that it failed: it ends the machine. */
static void test_machines_that_end_as_they_boot_close_their_pool(void **state)
{
	(void)state;
	for (int i = 1; i <= 3; i++) {
		buy_with_token(i, "acc");
		boots(i, true);
	}
	happens(3, NODE_EV_RELEASE, NODE_BECAUSE_ENDED); /* another's end */
	assert_int_equal(fleet_find(&F.e->fleet, "c3")->fails, 0);
	assert_null(engine_blocked(F.e, 0));
	is_seen(1, PROVIDER_ENDED);
	assert_int_equal(fleet_find(&F.e->fleet, "c1")->fails, 1);
	row(2)->n.wanted_ms = engine_now(F.e) + 1; /* bought after that */
	is_seen(2, PROVIDER_ENDED);
	assert_non_null(engine_blocked(F.e, 0));
}

static void test_no_more_are_looked_at_than_the_store_can_bear(void **state)
{
	const struct secrets_look *first = NULL;

	(void)state;
	for (int i = 1; i <= VOUCHERS_FLYING_MAX + 2; i++) {
		buy_with_token(i, "acc");
		boots(i, true);
		if (i % 2 == 0)
			is_late(i);
		else
			happens(i, NODE_EV_RELEASE, NODE_BECAUSE_SUSPENDED);
	}
	vouchers_run(F.e);
	assert_int_equal(F.looks + F.revoked, VOUCHERS_FLYING_MAX);
	assert_true(vouchers_next_ms(F.e) > engine_now(F.e)); /* it does not spin */
	vouchers_run(F.e);
	assert_int_equal(F.looks + F.revoked, VOUCHERS_FLYING_MAX);
	first = F.look;
	first->fn(first->ctx, SECRET_TRANSIENT);
	vouchers_run(F.e);
	assert_int_equal(F.looks + F.revoked, VOUCHERS_FLYING_MAX + 1);
}

static void test_who_never_came_has_its_token_revoked(void **state)
{
	(void)state;
	buy_with_token(1, "acc-1");
	boots(1, true);
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
	buy_with_token(1, "acc-1");
	boots(1, true);
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
	buy_with_token(1, "acc-1");
	boots(1, true);
	is_seen(1, PROVIDER_ENDED);
	assert_int_equal(row(1)->n.state, NODE_GONE);
	restart();
	assert_true(vouchers_next_ms(F.e) <= engine_now(F.e));
	store_says(SECRET_SPENT);
	assert_int_equal(events("breach"), 1);
	restart();
	vouchers_run(F.e);
	assert_null(F.look);
}

static void test_while_the_store_does_not_say_it_is_asked_again(void **state)
{
	(void)state;
	buy_with_token(1, "acc-1");
	boots(1, true);
	is_late(1);
	F.away = true;
	vouchers_run(F.e);
	assert_null(F.look);
	assert_true(vouchers_next_ms(F.e) > engine_now(F.e));
	assert_true(vouchers_next_ms(F.e) < INT64_MAX);
	F.away = false;
	vouchers_find(F.e, "c1", 1)->look_ms = 0;
	store_says(SECRET_TRANSIENT);
	assert_non_null(voucher(1));
	vouchers_find(F.e, "c1", 1)->look_ms = 0;
	store_says(SECRET_DENIED);
	assert_non_null(voucher(1));
	/* Until nobody can say any more. */
	vouchers_find(F.e, "c1", 1)->v.ends_ms = engine_now(F.e) - 1;
	vouchers_run(F.e);
	engine_commit(F.e);
	assert_int_equal(events("token-unknown"), 1);
	assert_int_equal(events("breach"), 0);
	assert_null(voucher(1));
}

static void test_one_that_waited_too_long_is_made_anew(void **state)
{
	struct fleet_node *fn;

	(void)state;
	fn = want(1);
	assert_false(vouchers_have(F.e, &fn, 1));
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
	struct fleet_node *fn;

	(void)state;
	fn = want(1);
	assert_false(vouchers_have(F.e, &fn, 1));
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
	struct fleet_node *fn[2] = {want(1), want(2)};

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
		assert_true(vouchers_next_ms(F.e) > engine_now(F.e));
		assert_true(vouchers_next_ms(F.e) <= engine_now(F.e) + VOUCHER_AGAIN_MS);
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
	struct fleet_node *fn[3] = {want(1), want(2), want(3)};
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
	fn[0] = want(4);
	assert_false(vouchers_have(F.e, fn, 1));
	assert_int_equal(F.life_ms, voucher_life_ms(BOOT_MS));
}

/* However long its create was held up: what lives for hours is good for thieves for hours. */
static void test_no_token_is_made_to_live_for_hours(void **state)
{
	struct fleet_node *fn = want(1);

	(void)state;
	assert_false(vouchers_have(F.e, &fn, 1));
	keys_come("acc-1");
	let_pass(&fn, 1, 7200000);
	assert_false(vouchers_have(F.e, &fn, 1)); /* it has ended */
	vouchers_run(F.e);
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(F.life_ms, voucher_life_ms(BOOT_MS) + VOUCHER_LONGER_MAX_MS);
	F.keys_fn = NULL;
}

static void test_one_for_keys_that_were_changed_is_made_anew(void **state)
{
	struct secrets s = {.version = "8"};
	struct fleet_node *fn;

	(void)state;
	fn = want(1);
	assert_false(vouchers_have(F.e, &fn, 1));
	keys_come("acc-1"); /* of version 7 */
	F.e->keys->secrets = &s;
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(voucher_of(fn)->state, VOUCHER_SPARE);
	F.e->keys->secrets = NULL;
}

/* A token that is there opens nothing while the store is away, or has keys that will change. */
static void test_while_the_store_serves_nobody_nothing_is_bought(void **state)
{
	struct fleet_node *fn;

	(void)state;
	fn = want(1);
	assert_false(vouchers_have(F.e, &fn, 1));
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
	struct fleet_node *fn;
	secrets_fn fn_keys;

	(void)state;
	fn = want(1);
	assert_false(vouchers_have(F.e, &fn, 1));
	fn_keys = F.keys_fn;
	F.keys_fn = NULL;
	F.e->keys->vouchers->longer_ms = 1000; /* which its policy refuses, perhaps */
	F.e->keys->vouchers->longer_until_ms = INT64_MAX;
	fn_keys(F.keys_ctx, NULL, &err);
	assert_string_equal(engine_token_wait(F.e, &fn->n), err.msg);
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(F.released, 1); /* not at once */
	assert_true(vouchers_next_ms(F.e) > engine_now(F.e));
	assert_true(vouchers_next_ms(F.e) <= engine_now(F.e) + VOUCHER_AGAIN_MS);
	F.e->keys->vouchers->again_ms = engine_now(F.e);
	assert_false(vouchers_have(F.e, &fn, 1));
	assert_int_equal(F.released, 2);
	assert_int_equal(F.life_ms, voucher_life_ms(BOOT_MS));
	F.keys_fn = NULL;
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
	struct fleet_node *fn[3] = {want(1), want(2), want(3)};

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
	happens(1, NODE_EV_RELEASE, NODE_BECAUSE_SUSPENDED);
	assert_string_equal(first_to_go(), "");
}

static void test_an_ask_ends_with_its_node(void **state)
{
	struct fleet_node *fn;

	(void)state;
	fn = want(1);
	assert_false(vouchers_have(F.e, &fn, 1));
	happens(1, NODE_EV_RELEASE, NODE_BECAUSE_SUSPENDED);
	assert_null(F.keys_fn); /* cancelled */
	assert_null(vouchers_find(F.e, "c1", 1));
	assert_int_equal(F.e->keys->vouchers->nasked, 0); /* nobody waits for what comes of it */
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup_vouchers, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_nothing_is_bought_before_the_token_is_durable),
		T(test_machines_with_tokens_are_keyless_without_node_init),
		T(test_what_the_machine_is_told),
		T(test_a_repeat_after_a_restart_has_the_same_bytes),
		T(test_it_is_wiped_when_the_node_is_up),
		T(test_attestation_is_shown_as_none),
		T(test_a_revoke_that_is_not_durable_is_not_sent),
		T(test_of_a_node_that_is_let_go_it_is_revoked),
		T(test_a_revoke_that_does_not_happen_is_tried_until_it_does),
		T(test_a_revoke_is_given_up_when_the_token_has_ended),
		T(test_who_goes_for_what_another_node_did_is_not_doubted),
		T(test_who_was_let_go_before_it_was_there_is_known_after_a_restart),
		T(test_whose_create_was_in_doubt_is_doubted),
		T(test_a_machine_that_was_seen_to_stop_is_doubted),
		T(test_a_machine_that_was_seen_to_be_taken_is_doubted),
		T(test_who_registers_when_it_is_to_go_has_used_its_token),
		T(test_who_registers_wrong_has_used_its_token),
		T(test_who_is_up_for_a_moment_has_used_its_token),
		T(test_machines_that_end_as_they_boot_close_their_pool),
		T(test_no_more_are_looked_at_than_the_store_can_bear),
		T(test_no_token_is_made_to_live_for_hours),
		T(test_one_for_keys_that_were_changed_is_made_anew),
		T(test_while_the_store_serves_nobody_nothing_is_bought),
		T(test_who_never_came_has_its_token_revoked),
		T(test_a_token_that_was_used_without_a_node_is_an_alarm),
		T(test_the_doubt_survives_a_restart_and_the_end_of_its_machine),
		T(test_while_the_store_does_not_say_it_is_asked_again),
		T(test_one_that_waited_too_long_is_made_anew),
		T(test_one_that_was_waited_for_is_good_from_when_it_was_made),
		T(test_one_that_is_bad_when_it_comes_slows_all),
		T(test_a_gang_of_a_slow_store_is_bought_at_last),
		T(test_while_the_store_refuses_nothing_is_bought_and_people_are_told),
		T(test_who_waits_for_its_token_is_in_nobodys_way),
		T(test_an_ask_ends_with_its_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
