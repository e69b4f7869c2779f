/* test_whole_claims.c - claims together with the parts beside keys: what buy/ sends with them and
 * concludes from their end, what diff/ reads for them, and a provider that is off without its
 * verifier. */
#include "whole_claims.h"

#include "diff/diff.h"
#include "jobs/jobs.h"
#include "tests/unit/keys/claims_proved.h"
#include "tests/unit/keys/claims_store.h"

/* --- what a create has --------------------------------------------------------------------------
 */

/* What is sent again must be the same bytes (I4), also when the batch is the journal's. */
static void test_batch_of_the_journal_has_the_same_user_data(void **state)
{
	char secret[CLAIM_SECRET_SIZE], *again;
	struct keys_for keys;

	(void)state;
	buy(1, 2);
	assert_int_equal(F.nwire, 1);
	claims_secret(F.e, claim(1)->c.id, secret);
	restart();
	assert_non_null(F.e->buy->batches);
	keys = keys_of(F.e->buy->batches);
	again = claims_user_data(F.e, &keys, NULL);
	assert_string_equal(again, F.wire[0].body);
	free(again);
	assert_int_equal(claim(2)->c.state, CLAIM_ISSUED);
	knock(claim(1)->c.id, secret, true);
}

/* Throttled: it goes out again with another token, and the old secret opens nothing. */
static void test_create_that_was_not_sent_claims_anew(void **state)
{
	struct node_event ev = {.type = NODE_EV_NOTSENT, .now_ms = engine_now(F.e)};
	char secret[CLAIM_SECRET_SIZE], id[96];
	struct fleet_node *fn;

	(void)state;
	buy(1, 1);
	(void)snprintf(id, sizeof(id), "%s", claim(1)->c.id);
	claims_secret(F.e, id, secret);
	fn = row(1);
	fn->busy = false;
	engine_post(F.e, fn, &ev);
	turn();
	launch_send(&F.e->cloud->all[0], &fn, 1, (struct roll_image){.name = ""});
	turn();
	assert_string_not_equal(claim(1)->c.id, id);
	knock(id, secret, false);
	restart();
	assert_string_not_equal(claim(1)->c.id, id);
	knock(id, secret, false);
}

static void test_create_without_claims_has_no_user_data(void **state)
{
	(void)state;
	F.attest = CONF_ATTEST_OFF;
	restart();
	buy(1, 1);
	assert_string_equal(F.wire[0].body, "");
	assert_null(claim(1));
}

/* --- what slurmctld has -------------------------------------------------------------------------
 */

static bool tells(const char *text, const char *key)
{
	char head[32];

	(void)snprintf(head, sizeof(head), "\n%s=", key);
	return strstr(text, head) != NULL;
}

/* slurm.conf, as slurmctld has it, with these SlurmdParameters. */
static void settings(const char *slurmd)
{
	char text[400];

	(void)snprintf(text, sizeof(text),
		       "Configuration data as of 2026-01-01T00:00:00\n"
		       "BOOT_TIME = 2026-01-01T00:00:00\nSLURM_VERSION = 22.05.8\n"
		       "SlurmctldParameters = node_reg_mem_percent=80\nSlurmdParameters = %s\n\n",
		       slurmd);
	prereq_answer(F.e, SLURM_CONFIG, text, strlen(text));
	prereq_answer(F.e, SLURM_PARTITIONS, "", 0);
}

/* slurmctld's snapshot has the numbers, and its settings how exact they are. */
static void test_it_is_told_what_the_snapshot_has(void **state)
{
	static const char shown[] = "NodeName=c1 CPUTot=192 Gres=gpu:a100_3g.20gb:2 "
				    "RealMemory=2000001 State=IDLE+CLOUD "
				    "TmpDisk=900000 Partitions=p\n";
	struct fleet_name *name;
	uint64_t t;

	(void)state;
	one();
	name = fleet_find(&F.e->fleet, "c1");
	assert_int_equal(slurm_parse_nodes(shown, strlen(shown), observe_node, F.e, NULL), 1);
	assert_int_equal(name->memory_mb, 2000001);
	/* Not known yet how exact it is. */
	t = says((struct says){.create = 1});
	is_served(t, "");
	assert_true(has(body(t), "gpu_mig=all") && !tells(body(t), "gpus"));
	assert_false(tells(body(t), "cpus") || tells(body(t), "memory_mb") ||
		     tells(body(t), "tmp_mb"));
	settings("(null)");
	t = says((struct says){.create = 1});
	is_served(t, "");
	assert_true(has(body(t), "cpus=192") && has(body(t), "memory_mb=1600000") &&
		    has(body(t), "tmp_mb=900000"));
	/* It takes any. */
	settings("config_overrides");
	t = says((struct says){.create = 1});
	is_served(t, "");
	assert_false(tells(body(t), "cpus") || tells(body(t), "memory_mb") ||
		     tells(body(t), "tmp_mb"));
}

/* --- what follows from the end of a claim -------------------------------------------------------
 */

static void test_node_whose_claim_expired_is_refused(void **state)
{
	(void)state;
	one();
	claim(1)->c.expires_ms = F.e->keys->claims->wake_ms = engine_now(F.e);
	turn();
	assert_true(goes(1, NODE_BECAUSE_INIT));
	assert_int_equal(row(1)->name->refused, NODE_BECAUSE_INIT);
}

/* Its pool is told that it did not become a node, with the reason. */
static void test_boot_that_failed_counts_against_its_pool(void **state)
{
	(void)state;
	one();
	claims_fail(F.e, claim(1), "gpu", "7 GPUs, 8 expected", false);
	turn();
	assert_true(goes(1, NODE_BECAUSE_INIT));
	assert_int_equal(row(1)->name->fails, 1);
	assert_string_equal(row(1)->name->why, "gpu: 7 GPUs, 8 expected");
}

/* A node at work: its jobs are off before its machine is. */
static void test_breached_node_at_work_is_powered_down(void **state)
{
	(void)state;
	two();
	is_served(says((struct says){.create = 1}), "");
	row(1)->n.state = NODE_READY;
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 409);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_true(row(1)->name->forced_ms != 0);
	assert_non_null(strstr(row(1)->name->told, "its secret was used with a second key"));
	assert_int_equal(row(2)->name->forced_ms, 0);
}

/* Machine after machine would be bought. */
static void test_documents_of_another_time_close_their_pool(void **state)
{
	uint64_t t;

	(void)state;
	one();
	V.at_ms = engine_now(F.e) - 900000;
	assert_int_equal(status(shows("i-1 a r")), 403);
	turn();
	assert_true(goes(1, NODE_BECAUSE_INIT));
	assert_null(engine_blocked(F.e, 0)); /* one may have had bad luck */
	/* What is bought after that is another try. */
	for (int64_t then = engine_now(F.e); engine_now(F.e) <= then;)
		;
	buy(2, 1);
	boots(2, true);
	F.address = "10.0.0.2";
	t = says((struct says){.create = 2, .attest = "aws-rsa2048", .doc = "i-2 a r"});
	assert_int_equal(status(t), 403);
	turn();
	assert_true(goes(2, NODE_BECAUSE_INIT));
	assert_non_null(strstr(engine_blocked(F.e, 0), "is the clock here right?"));
}

/* --- a verifier ---------------------------------------------------------------------------------
 */

static int azure(void **state)
{
	(void)state;
	return begin(CONF_ATTEST_AZURE);
}

/* Its attest_ca_file is empty or garbage: that provider is off, and all else goes on; the file is
 * looked at again each minute. */
static void test_provider_without_its_verifier_is_off(void **state)
{
	static const char why[] = "attest_ca_file: /ca: no certificate in it";
	struct err err = {0};
	struct cloud *c;

	(void)state;
	F.door.verifier = find_refusing;
	if (load(&err) != 0)
		fail_msg("%s", err.msg);
	c = &F.e->cloud->all[0];
	assert_string_equal(engine_off(F.e, 0), why);
	assert_string_equal(engine_provider_source(F.e, 0).error, why);
	assert_true(F.e->cloud->aways);
	assert_false(cloud_ready(c, PROVIDER_LIST));
	assert_int_equal(c->caps.create_max, 0);
	assert_in_range(cloud_next_ms(c) - engine_now(F.e), 59000, 60000);
	assert_null(F.e->keys->claims->provers[0].ops);
	off_start(F.e);
	engine_commit(F.e);
	assert_int_equal(events("provider-off"), 1);
	F.e->started = true;
	/* It is no better ... */
	off_hurry(F.e);
	off_run(c);
	assert_string_equal(engine_off(F.e, 0), why);
	assert_int_equal(events("provider-off"), 1);
	/* ... and then it is. */
	F.door.verifier = find;
	off_hurry(F.e);
	off_run(c);
	F.e->started = false;
	assert_null(engine_off(F.e, 0));
	assert_int_equal(events("provider-on"), 1);
	assert_int_equal(c->caps.create_max, 1000);
	assert_non_null(F.e->keys->claims->provers[0].ops);
}

int main(void)
{
#define T(how, f) cmocka_unit_test_setup_teardown(f, how, teardown)
	const struct CMUnitTest tests[] = {
		T(setup_broker, test_batch_of_the_journal_has_the_same_user_data),
		T(setup_broker, test_create_that_was_not_sent_claims_anew),
		T(setup_broker, test_create_without_claims_has_no_user_data),
		T(setup_broker, test_it_is_told_what_the_snapshot_has),
		T(setup_broker, test_node_whose_claim_expired_is_refused),
		T(setup_broker, test_boot_that_failed_counts_against_its_pool),
		T(setup_broker, test_breached_node_at_work_is_powered_down),
		T(aws, test_documents_of_another_time_close_their_pool),
		T(azure, test_provider_without_its_verifier_is_off),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
