/* test_door_node.c - what a node with a certificate says, and what comes of it: its keys, its boot,
 * its heartbeats and its last words; and what a hostile one gets. */
#include "bare_door.h"
#include "keys/keys.h"

/* --- confirming ------------------------------------------------------------------------------- */

static unsigned confirm_as(char key, const char *body)
{
	return by("c2", 5, key, "POST", "/v1/node/confirm", body);
}

#define C2      "{\"v\":1,\"node\":\"c2\",\"generation\":5"
#define C2_KEYS C2 ",\"key_version\":7}"

static void test_a_node_that_has_the_key_is_confirmed(void **state)
{
	(void)state;
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	assert_string_equal(B.munge.credential, "MUNGE:abc:");
	assert_string_equal(B.munge.node, "c2");
	assert_string_equal(B.munge.host, "burst.example.com,2001:db8::1");
	assert_string_equal(B.munge.path, "POST /v1/node/confirm");
	assert_string_equal(B.munge.body, C2_KEYS);
	assert_int_equal(B.b.c.state, CLAIM_CLAIMED); /* not before munged says so */
	munge_says(MUNGE_GOOD);
	assert_int_equal(B.b.c.state, CLAIM_CONFIRMED);
	assert_late(0, 1, 200);
	assert_string_equal(B.said, "cred=MUNGE:cred:\n");
	assert_int_equal(B.b.key_version, 7);
	/* The answer was lost. */
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	munge_says(MUNGE_GOOD);
	assert_late(1, 2, 200);
}

static void test_a_confirmation_is_answered_after_the_commit_only(void **state)
{
	(void)state;
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	B.e.dead = true; /* the journal fails with it */
	munge_says(MUNGE_GOOD);
	assert_int_equal(B.nlate, 0);
}

static void test_a_replayed_credential_confirms_nothing(void **state)
{
	(void)state;
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	munge_says(MUNGE_REPLAYED);
	assert_int_equal(B.b.c.state, CLAIM_CLAIMED);
	assert_late(0, 1, 401);
	assert_string_equal(B.said, "error=replayed\nnow_ms=1800000000000\n");
	assert_int_equal(engine_door_counters(&B.e)->munge_refused, 1);
}

static void test_without_munged_the_node_waits(void **state)
{
	(void)state;
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	munge_says(MUNGE_AWAY);
	assert_late(0, 1, 503);
	assert_has(B.said, "retry_after=");
	assert_true(B.late[0].an.retry_after_s > 0);
	B.munge.full = true;
	assert_int_equal(confirm_as('b', C2_KEYS), 503);
	assert_true(B.an.retry_after_s > 0);
	assert_int_equal(B.b.c.state, CLAIM_CLAIMED);
}

static void test_without_a_credential_nothing_is_confirmed(void **state)
{
	(void)state;
	authorization = NULL;
	assert_int_equal(confirm_as('b', C2_KEYS), 401);
	authorization = "Bearer MUNGE:abc:";
	assert_int_equal(confirm_as('b', C2_KEYS), 401);
	authorization = "MUNGE MUNGE:abc:";
	assert_null(B.munge.ctx);
}

static void test_another_key_confirms_nothing(void **state)
{
	(void)state;
	assert_int_equal(confirm_as('z', C2_KEYS), 0);
	assert_null(B.munge.ctx); /* munged is not even asked */
	commit();
	assert_late(0, 1, 401);
	assert_int_equal(B.b.c.state, CLAIM_CLAIMED);
	assert_has(B.events, "c2 5 claim-misuse: ");
}

/* While munged thought about it the node was given up, or somebody else came with its secret. */
static void test_what_has_moved_on_is_not_confirmed(void **state)
{
	(void)state;
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	B.b.c.state = CLAIM_BREACHED;
	munge_says(MUNGE_GOOD);
	assert_late(0, 1, 409);
	assert_int_equal(B.b.c.state, CLAIM_BREACHED);
	B.b.c.state = CLAIM_CLAIMED;
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	B.b.c.gen = 6; /* its row is gone */
	munge_says(MUNGE_GOOD);
	assert_late(1, 2, 410);
}

static void test_old_keys_are_not_confirmed_and_the_node_goes(void **state)
{
	(void)state;
	B.version = "8";
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	commit();
	assert_late(0, 1, 409);
	assert_string_equal(B.said, "error=this node has old keys\n");
	assert_string_equal(B.fails, "c2 confirm: it has old keys\n");
	assert_int_equal(confirm_as('b', C2 "}"), 400); /* it must say */
	/* While the store is away: those that it was given. */
	B.version = "";
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	munge_says(MUNGE_GOOD);
	assert_int_equal(B.b.c.state, CLAIM_CONFIRMED);
}

static void test_with_auth_slurm_there_is_no_credential(void **state)
{
	(void)state;
	B.conf.nodes.auth = CONF_AUTH_SLURM;
	door_part.at[PART_RELOAD](&B.e);
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	commit();
	assert_late(0, 1, 200);
	assert_int_equal(B.b.c.state, CLAIM_CONFIRMED);
	assert_string_equal(B.said, "ok=1\n");
}

static void test_until_it_is_confirmed_a_node_says_little(void **state)
{
	static const char *const not_yet[] = {"ready", "heartbeat", "event", "renew"};

	(void)state;
	for (size_t i = 0; i < sizeof(not_yet) / sizeof(not_yet[0]); i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "/v1/node/%s", not_yet[i]);
		assert_int_equal(by("c2", 5, 'b', "POST", path, C2 "}"), 409);
	}
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/hosts", ""), 200);
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/time", ""), 200);
}

/* A node has it as a text, and says it so. */
static bool same_as_text(const char *version)
{
	char text[FMT_U64_SIZE];
	int64_t v = door_key_version(version);

	return door_key_version(fmt_u64(text, (uint64_t)v)) == v;
}

static void test_versions_of_keys_are_numbers(void **state)
{
	int64_t uuid = door_key_version("7d3f2a9e-0001-4c1e-8f00-000000000001");

	(void)state;
	assert_true(door_key_version("7") == 7);
	assert_true(same_as_text("7d3f2a9e-0001-4c1e-8f00-000000000001"));
	assert_true(same_as_text("6b02b8c2.966863625"));
	assert_true(same_as_text("6b02b8c2.966863626"));
	assert_true(same_as_text("999999999999999999"));
	assert_true(door_key_version("") == 0);
	assert_true(uuid > 1000 &&
		    uuid == door_key_version("7d3f2a9e-0001-4c1e-8f00-000000000001"));
	assert_true(uuid != door_key_version("7d3f2a9e-0001-4c1e-8f00-000000000002"));
	assert_true(door_key_version("99999999999999999999") > 0);
}

/* All wait for the same munged. */
static void test_a_node_has_one_credential_before_munged_at_a_time(void **state)
{
	(void)state;
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	assert_int_equal(confirm_as('b', C2_KEYS), 503);
	assert_true(B.an.retry_after_s > 0);
	munge_says(MUNGE_REPLAYED);
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
	/* munged's queue was dropped by a reload. */
	free(B.munge.ctx);
	B.munge.ctx = NULL;
	W.now += DOOR_CONFIRM_MS;
	assert_int_equal(confirm_as('b', C2_KEYS), 0);
}

/* --- for another ------------------------------------------------------------------------------ */

static void test_node_a_speaking_for_node_b_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(post_through("heartbeat", "{\"v\":1,\"node\":\"c2\",\"generation\":2}"),
			 403);
	assert_string_equal(B.events, "c1 2 claim-misuse: it speaks for another node: c2\n");
	assert_string_equal(B.audits, "c1 claim-misuse: it speaks for another node: c2\n");
	assert_int_equal(B.a.heartbeat_ms, 0);
	assert_int_equal(post_through("event", "{\"v\":1,\"node\":\"c2\",\"generation\":5,\"type\":"
					       "\"preempt\",\"id\":\"1\"}"),
			 403);
	assert_string_equal(B.notices, "");
}

static void test_a_heartbeat_of_an_old_generation_is_not_taken(void **state)
{
	(void)state;
	/* In the body, and by the certificate. */
	assert_int_equal(post_through("heartbeat", "{\"v\":1,\"node\":\"c1\",\"generation\":1}"),
			 403);
	assert_has(B.events, "c1 2 claim-misuse: it speaks for another generation\n");
	assert_int_equal(by("c1", 1, 'a', "POST", "/v1/node/heartbeat",
			    "{\"v\":1,\"node\":\"c1\",\"generation\":1}"),
			 410);
	assert_int_equal(B.a.heartbeat_ms, 0);
}

/* Root of a node must not fill the journal. */
static void test_misuse_is_written_down_a_few_times_only(void **state)
{
	(void)state;
	for (int i = 0; i < 3 * DOOR_MISUSES_MAX; i++) {
		W.now += 100;
		(void)post("heartbeat", "{\"v\":1,\"node\":\"c2\",\"generation\":2}");
		B.events[0] = '\0';
		if (i == DOOR_MISUSES_MAX)
			B.audits[0] = '\0';
		commit();
		while (B.nlate > 0)
			free(B.late[--B.nlate].an.body);
	}
	assert_string_equal(B.audits, "");
	assert_int_equal(engine_door_counters(&B.e)->misuses, 3 * DOOR_MISUSES_MAX);
}

/* --- what became of its boot ------------------------------------------------------------------ */

#define STEPS                                                                                      \
	",\"total_ms\":5310,\"steps\":[{\"name\":\"claim\",\"result\":\"ok\",\"ms\":10,\"why\":"   \
	"\"\"},"                                                                                   \
	"{\"name\":\"dcgm\",\"result\":\"ok\",\"ms\":4000,\"why\":\"\"},{\"name\":\"scratch\","    \
	"\"result\":\"warning\",\"ms\":300,\"why\":\"10\\u001b"                                    \
	"GB\"},{\"name\":\"evil\\u0007\",\"result\":"                                              \
	"\"ok\",\"ms\":5,\"why\":\"\"},{\"name\":\"dcgm\",\"ms\":1}]}"

static void test_a_node_is_bootstrapped_once(void **state)
{
	const struct engine_door_counters *n = engine_door_counters(&B.e);
	struct engine_boot boot;

	(void)state;
	assert_int_equal(post_through("ready", ME STEPS), 200);
	assert_string_equal(B.events, "c1 2 bootstrapped: in 5s; the slowest: dcgm 4s, "
				      "scratch 300ms, claim 10ms; warning: scratch: 10?GB\n");
	assert_int_equal(n->ready, 1);
	B.events[0] = '\0';
	assert_int_equal(post_through("ready", ME STEPS), 200); /* the answer was lost */
	assert_string_equal(B.events, "");
	assert_int_equal(n->ready, 1);
	assert_string_equal(n->steps[12].name, "dcgm");
	assert_int_equal(n->steps[12].n, 2);
	assert_int_equal(n->steps[12].sum_ms, 4001);
	assert_int_equal(n->steps[12].max_ms, 4000);
	/* A name that is none of ours makes no new metric. */
	assert_string_equal(n->steps[ENGINE_BOOT_STEPS - 1].name, "other");
	assert_int_equal(n->steps[ENGINE_BOOT_STEPS - 1].n, 1);
	assert_true(engine_boot(&B.e, "c1", 2, &boot));
	assert_int_equal(boot.ready_ms, W.now);
	assert_int_equal(boot.boot_ms, 5310);
	assert_string_equal(boot.claim, "confirmed");
	assert_false(engine_boot(&B.e, "c3", 1, &boot));
}

#define BOOTED(hardware) ME ",\"hardware\":\"" hardware "\",\"total_ms\":1,\"steps\":[]}"

/* F36: what a machine has is told once, and again when it is something else. */
static void test_a_node_tells_its_hardware(void **state)
{
	static const struct {
		const char *body, *events;
	} rows[] = {
		{BOOTED("CPUs=8 Boards=1 SocketsPerBoard=2 RealMemory=16000"),
		 "c1 2 hardware: CPUs=8 Sockets=2 RealMemory=16000\n"},
		{BOOTED("CPUs=8 Boards=1 SocketsPerBoard=2 RealMemory=16000"), ""},
		{BOOTED("CPUs=8 RealMemory=15999"), "c1 2 hardware: CPUs=8 RealMemory=15999\n"},
		{BOOTED(""), ""},
		{BOOTED("CPUs=8 \\u001b[31m"), ""},
		{BOOTED("RealMemory=99999999999999999999"), ""},
	};

	struct conf_pool pool = {.name = (char[]){"gpu"}};

	(void)state;
	B.conf.pools = &pool;
	B.conf.npools = 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *hardware;

		claims_of(&B.e, "c1", 2)->ready_ms = 0; /* another boot */
		B.events[0] = '\0';
		assert_int_equal(post_through("ready", rows[i].body), 200);
		hardware = strchr(B.events, '\n');
		assert_non_null(hardware); /* behind "bootstrapped" */
		assert_string_equal(hardware + 1, rows[i].events);
	}
	assert_int_equal(engine_learned(&B.e)->n, 1);
	assert_int_equal(engine_learned(&B.e)->v[0].has.memory_mb, 15999);
	assert_string_equal(engine_learned(&B.e)->v[0].node, "c1");
	assert_string_equal(engine_learned(&B.e)->v[0].pool, "gpu");
	B.conf.pools = NULL;
	B.conf.npools = 0;
}

static void test_a_failed_step_ends_the_node(void **state)
{
	(void)state;
	assert_int_equal(by("c2", 5, 'b', "POST", "/v1/node/failed",
			    C2 ",\"step\":\"gpu\",\"why\":\"7 GPUs, 8 \\u001b[31mexpected\"}"),
			 0);
	commit();
	assert_late(0, 1, 200);
	assert_string_equal(B.events, "c2 5 boot-failed: gpu: 7 GPUs, 8 ?[31mexpected\n");
	assert_string_equal(B.fails, "c2 gpu: 7 GPUs, 8 ?[31mexpected\n");
	B.fails[0] = '\0';
	assert_int_equal(by("c2", 5, 'b', "POST", "/v1/node/failed", C2 ",\"step\":\"rm -rf\"}"),
			 0);
	assert_string_equal(B.fails, "c2 other: no reason given\n");
}

static void test_a_failure_that_is_told_again_is_one_event(void **state)
{
	(void)state;
	assert_int_equal(post_through("failed", ME ",\"step\":\"gpu\",\"why\":\"7\"}"), 200);
	B.events[0] = '\0';
	assert_int_equal(post_through("failed", ME ",\"step\":\"gpu\",\"why\":\"7\"}"), 200);
	assert_string_equal(B.events, "");
}

static void test_more_steps_than_there_are_do_no_harm(void **state)
{
	struct str s;

	(void)state;
	str_init(&s, DOOR_BODY_MAX);
	str_adds(&s, ME ",\"steps\":[");
	for (int i = 0; i < 300; i++)
		str_addf(&s, "%s{\"name\":\"gpu\",\"ms\":1}", i > 0 ? "," : "");
	str_adds(&s, "]}");
	assert_int_equal(post_through("ready", s.p), 200);
	assert_true(engine_door_counters(&B.e)->steps[9].n <= 64);
	str_fini(&s);
}

/* --- events ----------------------------------------------------------------------------------- */

static void test_a_preemption_is_acknowledged_when_it_is_durable(void **state)
{
	(void)state;
	assert_int_equal(post("event",
			      ME ",\"type\":\"preempt\",\"id\":\"x1\",\"deadline\":1800000120,"
				 "\"detail\":\"spot\\nq\"}"),
			 0);
	assert_string_equal(B.notices, "c1 0 120000 spot?q (its agent)\n");
	B.follows = true;
	door_part.at[PART_SEND](&B.e);
	assert_int_equal(B.nlate, 0);
	B.follows = false;
	commit();
	assert_late(0, 1, 200);
}

static void test_an_event_repeated_with_the_same_id_is_taken_once(void **state)
{
	const char *ev = ME ",\"type\":\"maintenance\",\"id\":\"x1\"}";

	(void)state;
	assert_int_equal(post("event", ev), 0);
	assert_int_equal(post("event", ev), 0); /* the first is not durable yet: it waits too */
	commit();
	assert_late(0, 1, 200);
	assert_late(1, 2, 200);
	assert_int_equal(post("event", ev), 200);
	assert_string_equal(B.notices, "c1 2 0  (its agent)\n");
	assert_int_equal(engine_door_counters(&B.e)->events, 1);
}

static void test_each_kind_of_event_is_known(void **state)
{
	(void)state;
	assert_int_equal(post_through("event", ME ",\"type\":\"rebalance\",\"id\":\"1\"}"), 200);
	assert_int_equal(post_through("event", ME ",\"type\":\"faulty\",\"id\":\"2\"}"), 200);
	assert_string_equal(B.notices, "c1 1 0  (its agent)\nc1 3 0  (its agent)\n");
	assert_int_equal(post_through("event", ME ",\"type\":\"shutdown\",\"id\":\"3\",\"detail\":"
						  "\"SIGTERM\"}"),
			 200);
	assert_string_equal(B.events, "c1 2 node-shutdown: SIGTERM\n");
	assert_int_equal(post("event", ME ",\"type\":\"explode\",\"id\":\"4\"}"), 400);
	assert_int_equal(post("event", ME "}"), 400);
	assert_int_equal(post("event", ME ",\"type\":\"preempt\",\"id\":\"5\",\"deadline\":"
					  "9000000000000000000}"),
			 400);
}

static void test_a_node_that_never_stops_talking_is_told_to(void **state)
{
	char body[200];

	(void)state;
	for (int i = 0; i < DOOR_SAID_MAX; i++) {
		W.now += 100;
		(void)snprintf(body, sizeof(body), ME ",\"type\":\"shutdown\",\"id\":\"%d\"}", i);
		(void)post("event", body);
		B.events[0] = '\0';
		commit();
		while (B.nlate > 0)
			free(B.late[--B.nlate].an.body);
	}
	assert_int_equal(post("event", ME ",\"type\":\"shutdown\",\"id\":\"more\"}"), 429);
	assert_string_equal(B.events, "");
	W.now += DOOR_SAID_MS; /* it lives on, and may have something to say again */
	assert_int_equal(post("event", ME ",\"type\":\"preempt\",\"id\":\"more\"}"), 0);
}

/* --- a flood -----------------------------------------------------------------------------------
 */

static void test_one_node_alone_cannot_keep_the_loop_busy(void **state)
{
	const char *body = ME ",\"csr\":\"YWJj\"}";
	unsigned given = 0, renewed = 0;

	(void)state;
	for (int i = 0; i < 100; i++)
		given += post("heartbeat", ME "}") == 200;
	assert_int_equal(given, DOOR_ASKS_S);
	assert_int_equal(B.an.status, 429);
	assert_true(B.an.retry_after_s > 0);
	/* The others have theirs. */
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/time", ""), 200);
	W.now += 1000;
	for (int i = 0; i < 10; i++)
		renewed += post("renew", body) == 200;
	assert_int_equal(renewed, DOOR_COPIES_S);
	assert_int_equal(post("heartbeat", ME "}"), 200); /* that is cheap */
}

/* --- renewal ---------------------------------------------------------------------------------- */

static void test_a_certificate_is_renewed_for_the_same_key_only(void **state)
{
	(void)state;
	assert_int_equal(post("renew", ME ",\"csr\":\"YWJj\"}"), 200); /* "abc" */
	assert_string_equal(B.said, "{\"ok\":true,\"cert\":\"-----\\nabc of c1 2\\n\"}\n");
	assert_int_equal(B.a.cert_until_ms, W.now + 86400000);
	assert_int_equal(post_through("renew", ME ",\"csr\":\"emJj\"}"), 403); /* "zbc" */
	assert_has(B.events, "c1 2 claim-misuse: it wants a certificate for another key\n");
	W.now += 1000;
	assert_int_equal(post("renew", ME ",\"csr\":\"WFhY\"}"), 400);
	assert_int_equal(post("renew", ME ",\"csr\":\"*\"}"), 400);
	assert_int_equal(post("renew", ME "}"), 400);
}

/* --- the clock ---------------------------------------------------------------------------------
 */

/* F57: the wall clock was set back by an hour.  Certificates are dated and judged by it, and so is
 * the time that a node asks for; keys are switched by the time that nobody sets. */
static void test_certificates_are_by_the_wall_clock(void **state)
{
	static const struct {
		const char *until; /* six hours from now and half an hour: by ours it ends soon */
		const char *renew;
	} rows[] = {{"1800019800", "\"renew\":false"}, {"1800016200", "\"renew\":true"}};

	(void)state;
	B.e.ahead_ms = 3600000;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char body[200];

		(void)snprintf(body, sizeof(body), ME ",\"cert_until\":%s}", rows[i].until);
		assert_int_equal(post("heartbeat", body), 200);
		assert_has(B.said, "\"now_ms\":1800000000000,\"wall_ms\":1799996400000,");
		assert_has(B.said, rows[i].renew);
	}
	assert_int_equal(post("renew", ME ",\"csr\":\"YWJj\"}"), 200);
	assert_int_equal(B.a.cert_until_ms, W.now - 3600000 + 86400000);
	assert_int_equal(by("c1", 2, 'a', "GET", "/v1/node/time", ""), 200);
	assert_string_equal(B.said, "{\"now_ms\":1799996400000}\n");
}

/* --- what makes no sense ---------------------------------------------------------------------- */

static void test_oversized_fields_are_refused(void **state)
{
	char *body = mem_zalloc(DOOR_BODY_MAX + 100);

	(void)state;
	(void)snprintf(body, DOOR_BODY_MAX, ME ",\"type\":\"preempt\",\"id\":\"%0300d\"}", 1);
	assert_int_equal(post("event", body), 400);
	(void)snprintf(body, DOOR_BODY_MAX, ME ",\"type\":\"preempt\",\"detail\":\"%0300d\"}", 1);
	assert_int_equal(post("event", body), 400);
	(void)snprintf(body, DOOR_BODY_MAX, ME ",\"key_version\":\"%0100d\"}", 1);
	assert_int_equal(post("heartbeat", body), 400);
	(void)snprintf(body, DOOR_BODY_MAX, "{\"node\":\"%0100d\"}", 1);
	assert_int_equal(post("heartbeat", body), 400);
	memset(body, ' ', DOOR_BODY_MAX + 1);
	assert_int_equal(post("heartbeat", body), 413);
	free(body);
	assert_string_equal(B.notices, "");
}

static void test_what_is_not_understood_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"{}",
		"[]",
		"x",
		ME,
		"{\"node\":7}",
		"{\"node\":\"c1\",\"node\":\"c1\"}",
		"{\"node\":\"c1\",\"generation\":-1}",
		"{\"node\":\"c1\",\"generation\":\"2\"}",
		"{\"node\":\"c1\",\"faulty\":1}",
		"{\"node\":\"c1\",\"key_version\":[]}",
		ME "}x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(post("heartbeat", bad[i]), 400);
	assert_int_equal(post("ready", ME ",\"steps\":[1]}"), 400);
	assert_int_equal(post("ready", ME ",\"steps\":{}}"), 400);
	assert_int_equal(post("ready", ME ",\"steps\":[{\"ms\":-4}]}"), 400);
	assert_int_equal(B.a.heartbeat_ms, 0);
	assert_int_equal(B.a.ready_ms, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_node_that_has_the_key_is_confirmed),
		T(test_a_confirmation_is_answered_after_the_commit_only),
		T(test_a_replayed_credential_confirms_nothing),
		T(test_without_munged_the_node_waits),
		T(test_without_a_credential_nothing_is_confirmed),
		T(test_another_key_confirms_nothing),
		T(test_what_has_moved_on_is_not_confirmed),
		T(test_old_keys_are_not_confirmed_and_the_node_goes),
		T(test_with_auth_slurm_there_is_no_credential),
		T(test_until_it_is_confirmed_a_node_says_little),
		T(test_versions_of_keys_are_numbers),
		T(test_a_node_has_one_credential_before_munged_at_a_time),
		T(test_node_a_speaking_for_node_b_is_misuse),
		T(test_a_heartbeat_of_an_old_generation_is_not_taken),
		T(test_misuse_is_written_down_a_few_times_only),
		T(test_a_node_is_bootstrapped_once),
		T(test_a_node_tells_its_hardware),
		T(test_a_failed_step_ends_the_node),
		T(test_a_failure_that_is_told_again_is_one_event),
		T(test_more_steps_than_there_are_do_no_harm),
		T(test_a_preemption_is_acknowledged_when_it_is_durable),
		T(test_an_event_repeated_with_the_same_id_is_taken_once),
		T(test_each_kind_of_event_is_known),
		T(test_a_node_that_never_stops_talking_is_told_to),
		T(test_one_node_alone_cannot_keep_the_loop_busy),
		T(test_a_certificate_is_renewed_for_the_same_key_only),
		T(test_certificates_are_by_the_wall_clock),
		T(test_oversized_fields_are_refused),
		T(test_what_is_not_understood_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
