/* test_door.c - requests of nodes: who is let in, and that no answer tells of what is not durable.
 */
#include "bare_door.h"
#include "keys/keys.h"

static void test_an_answer_waits_for_the_commit(void **state)
{
	(void)state;
	assert_int_equal(by("c1", 2, 'a', "POST", "/v1/claim", "{}"), 0);
	assert_int_equal(B.timers, 1); /* there will be a turn */
	B.follows = true;
	door_part.at[PART_SEND](&B.e);
	assert_int_equal(B.nlate, 0); /* it is not durable yet */
	B.follows = false;
	commit();
	assert_int_equal(B.nlate, 1);
	assert_late(0, 1, 202);
	assert_string_equal(B.said, "ask\n");
}

/* A crash between: the node hears nothing, and asks again. */
static void test_nothing_is_answered_when_the_commit_failed(void **state)
{
	(void)state;
	assert_int_equal(by("c1", 2, 'a', "POST", "/v1/claim", "{}"), 0);
	B.e.dead = true;
	B.e.staging.due = false;
	door_part.at[PART_SEND](&B.e);
	assert_int_equal(B.nlate, 0);
	assert_int_equal(by("c1", 2, 'a', "GET", "/v1/node/time", ""), 503);
	B.an.body = mem_strdup("secret");
	B.an.secret = true;
	door_answer(&B.e, 9, &B.an); /* wiped and freed */
	B.an.body = NULL;
	assert_int_equal(B.nlate, 0);
}

/* Staged rows alone count too: their event comes with the commit.  What followed from the last one
 * waits for no other reason to commit. */
static void test_what_is_staged_holds_answers_back(void **state)
{
	(void)state;
	B.e.staging.n = 1;
	B.follows = true;
	assert_int_equal(by("c1", 2, 'a', "GET", "/v1/node/time", ""), 0);
	door_part.at[PART_SEND](&B.e);
	assert_int_equal(B.nlate, 0);
	B.follows = false;
	door_part.at[PART_SEND](&B.e);
	assert_int_equal(B.commits, 2);
	assert_late(0, 1, 200);
	B.e.staging.due = true;
	door_part.at[PART_SEND](&B.e); /* nobody waits */
	assert_int_equal(B.commits, 2);
}

static void test_where_nothing_changes_it_is_answered_at_once(void **state)
{
	(void)state;
	assert_int_equal(by("c1", 2, 'a', "GET", "/v1/node/time", ""), 200);
	assert_string_equal(B.said, "{\"now_ms\":1800000000000}\n");
	assert_int_equal(B.timers, 0);
}

static void test_a_later_answer_goes_out_with_the_next_turn(void **state)
{
	(void)state;
	B.an.status = 200;
	B.an.body = mem_strdup("x");
	door_answer(&B.e, 77, &B.an);
	B.an.body = NULL;
	assert_int_equal(B.nlate, 0); /* never from inside */
	assert_int_equal(B.timers, 1);
	engine_turn(&B.e);
	assert_late(0, 77, 200);
}

static void test_each_path_has_its_place(void **state)
{
	(void)state;
	assert_int_equal(by("c1", 2, 'a', "GET", "/v1/claim/token/nonce", ""), 202);
	assert_string_equal(B.said, "nonce\n");
	assert_int_equal(by("c1", 2, 'a', "POST", "/v1/alarm", "{}"), 202);
	assert_string_equal(B.said, "alarm\n");
	assert_int_equal(by("c1", 2, 'a', "GET", "/v1/node/", ""), 404);
	assert_int_equal(by("c1", 2, 'a', "GET", "/metrics", ""), 404);
	assert_int_equal(by("c1", 2, 'a', "GET", "/v1/node/ready", ""), 405);
	assert_int_equal(by("c1", 2, 'a', "POST", "/v1/node/hosts", "{}"), 405);
}

/* An older journal was put back, or none: the nodes that are up are not put out by their agents. */
static void test_a_node_whose_claim_was_lost_goes_on(void **state)
{
	(void)state;
	assert_int_equal(by("c3", 1, 'c', "GET", "/v1/node/time", ""), 0); /* not durable yet */
	commit();
	assert_late(0, 1, 200);
	assert_int_equal(by("c3", 1, 'c', "GET", "/v1/node/time", ""), 200);
	assert_int_equal(by("c3", 1, 'd', "GET", "/v1/node/time", ""), 0); /* another key */
	commit();
	assert_late(1, 3, 401);
}

/* Its certificate shows that it has claimed since that was written. */
static void test_a_node_that_an_older_journal_knows_as_booting_goes_on(void **state)
{
	(void)state;
	B.a.c.state = CLAIM_ATTESTING;
	assert_int_equal(by("c1", 2, 'd', "GET", "/v1/node/time", ""), 401); /* another's */
	assert_int_equal(by("c1", 2, 'a', "GET", "/v1/node/time", ""), 0);
	assert_true(B.e.staging.due);
	B.a.c.state = CLAIM_ISSUED;
	assert_int_equal(by("c1", 2, 'a', "GET", "/v1/node/time", ""), 0);
}

/* Likewise one that has claimed and not confirmed: slurmd was started after that. */
static void test_a_node_that_has_registered_has_confirmed(void **state)
{
	struct fleet_node *fn = fleet_live(fleet_find(&B.e.fleet, "c2"));

	(void)state;
	assert_int_equal(B.b.c.state, CLAIM_CLAIMED);
	fn->n.state = NODE_BOOTING;
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/time", ""), 200);
	assert_int_equal(B.b.c.state, CLAIM_CLAIMED);
	assert_false(B.e.staging.due);
	fn->n.state = NODE_READY;
	assert_int_equal(by("c2", 5, 'a', "GET", "/v1/node/time", ""),
			 0); /* of another key: misuse */
	commit();
	assert_late(0, 1, 401);
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/time", ""), 0); /* not durable yet */
	assert_true(B.e.staging.due);
}

/* Of the name, of an earlier generation, of one that leaves, and of who is not. */
static void test_only_the_present_generation_is_let_in(void **state)
{
	struct fleet_node *fn = fleet_live(fleet_find(&B.e.fleet, "c2"));

	(void)state;
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/time", ""), 200);
	assert_int_equal(by("c1", 1, 'a', "GET", "/v1/node/time", ""), 410); /* GONE */
	assert_int_equal(by("c2", 4, 'b', "GET", "/v1/node/time", ""), 410); /* forgotten */
	assert_int_equal(by("c2", 6, 'b', "GET", "/v1/node/time", ""), 401); /* never was */
	assert_int_equal(by("n9", 1, 'a', "GET", "/v1/node/time", ""), 401);
	fleet_stage(fn)->state = NODE_DELETING;
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/time", ""), 410);
	fleet_publish(&B.e.fleet, fn);
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/time", ""), 410);
	assert_string_equal(B.events, "");
}

static void test_a_claim_that_is_over_lets_nobody_in(void **state)
{
	(void)state;
	fleet_live(fleet_find(&B.e.fleet, "c1"))->n.state = NODE_BOOTING;
	for (int s = CLAIM_CLAIMED; s < CLAIM_NSTATES; s++) {
		B.a.c.state = (enum claim_state)s;
		assert_int_equal(by("c1", 2, 'a', "GET", "/v1/node/time", ""),
				 s == CLAIM_CLAIMED || s == CLAIM_CONFIRMED ? 200 : 401);
	}
}

static void test_a_name_that_is_not_as_it_should_be_is_nobodys(void **state)
{
	static const char *const urns[] = {"",
					   "urn:burst:node:",
					   "urn:burst:node:c1",
					   "urn:burst:node:c1:",
					   "urn:burst:node::2",
					   "urn:burst:node:c1:2x",
					   "urn:burst:node:c1:-2",
					   "urn:burst:node:c1:2:3",
					   "urn:burst:nodes:c1:2",
					   "urn:burst:node:c1:99999999999999999999"};
	struct node_request rq = {
		.http = {.method = "GET", .path = "/v1/node/time", .query = "", .body = ""},
		.peer = {.known = true, .cn = "c1"}};
	struct http_answer an;

	(void)state;
	for (size_t i = 0; i <= sizeof(urns) / sizeof(urns[0]); i++) {
		bool last = i == sizeof(urns) / sizeof(urns[0]);

		(void)snprintf(rq.peer.urn, sizeof(rq.peer.urn), "%s",
			       last ? "urn:burst:node:c1:2" : urns[i]);
		(void)snprintf(rq.peer.cn, sizeof(rq.peer.cn), last ? "c2" : "c1");
		an = (struct http_answer){.status = 500};
		engine_node_request(&B.e, &rq, &an);
		assert_int_equal(an.status, 401);
		free(an.body);
	}
	rq.peer.known = false;
	an = (struct http_answer){.status = 500};
	engine_node_request(&B.e, &rq, &an);
	assert_int_equal(an.status, 401);
	free(an.body);
}

static void test_a_certificate_for_another_key_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(by("c1", 2, 'z', "GET", "/v1/node/time", ""), 0);
	commit();
	assert_late(0, 1, 401);
	assert_string_equal(B.events,
			    "c1 2 claim-misuse: a certificate in its name is for another key\n");
	assert_string_equal(B.audits,
			    "c1 claim-misuse: a certificate in its name is for another key\n");
}

static void test_without_a_door_nobody_is_let_in(void **state)
{
	struct http_answer an = {.status = 500};
	struct node_request rq = {.http = {.path = "/v1/claim"}};

	(void)state;
	B.e.started = false;
	engine_node_request(&B.e, &rq, &an);
	assert_int_equal(an.status, 503);
	assert_true(an.retry_after_s > 0);
	door_part.at[PART_FREE](&B.e);
	B.e.started = true;
	engine_node_request(&B.e, &rq, &an);
	assert_int_equal(an.status, 503);
	B.conf.nodes.line = 0;
	assert_int_equal(door_part.open(&B.e, NULL), 0);
	assert_null(B.e.keys->door);
	assert_null(engine_door_counters(&B.e));
}

static void test_hosts_are_the_nodes_that_have_an_address(void **state)
{
	uint64_t v, w;
	char *text = hosts_text(&B.e, &v);

	(void)state;
	assert_string_equal(text, "192.0.2.1 c1\n192.0.2.2 c2\n");
	free(text);
	assert_int_equal(by("c1", 2, 'a', "GET", "/v1/node/hosts", ""), 200);
	assert_string_equal(B.said, "192.0.2.1 c1\n192.0.2.2 c2\n");
	(void)put("c10", 1, NODE_BOOTING, "2001:db8::7");
	(void)put("c4", 1, NODE_BOOTING, "host.example.com");
	(void)put("c5", 1, NODE_DELETING, "192.0.2.5");
	commit();
	text = hosts_text(&B.e, &w);
	assert_string_equal(text, "192.0.2.1 c1\n192.0.2.2 c2\n2001:db8::7 c10\n");
	free(text);
	assert_true(v != w);
}

/* An older journal, or one that somebody wrote to, makes no node resolve a server's name (F58). */
static void test_hosts_are_names_of_the_cluster(void **state)
{
	struct fleet_name *gone, *server;
	char *text;

	(void)state;
	(void)put("c6", 1, NODE_READY, "192.0.2.6");
	(void)put("old1", 1, NODE_READY, "192.0.2.4");
	(void)put("vault", 1, NODE_READY, "192.0.2.66");
	gone = fleet_find(&B.e.fleet, "old1");
	server = fleet_find(&B.e.fleet, "vault");
	gone->listed = server->listed = false;
	gone->flags = SLURM_IDLE; /* a job may still be on it */
	commit();
	text = hosts_text(&B.e, NULL);
	assert_string_equal(text, "192.0.2.1 c1\n192.0.2.2 c2\n192.0.2.6 c6\n192.0.2.4 old1\n");
	free(text);
	/* It is said of one that slurmctld never had, too, after a while. */
	server->flags = SLURM_KNOWN | SLURM_POWERED_DOWN | SLURM_VANISHED;
	gone->flags = server->flags;
	commit();
	text = hosts_text(&B.e, NULL);
	assert_string_equal(text, "192.0.2.1 c1\n192.0.2.2 c2\n192.0.2.6 c6\n");
	free(text);
}

/* Ten thousand heartbeats must not make ten thousand lists. */
static void test_hosts_are_not_made_anew_for_every_heartbeat(void **state)
{
	uint64_t v = hosts_version(&B.e);

	(void)state;
	(void)put("c10", 1, NODE_BOOTING, "192.0.2.10");
	commit();
	assert_true(hosts_version(&B.e) == v);
	W.now += DOOR_HOSTS_MS;
	assert_true(hosts_version(&B.e) != v);
}

/* Nor must ten thousand claims. */
static void test_many_hosts_are_not_made_anew_for_every_claim(void **state)
{
	char name[16], addr[32], *text;
	uint64_t v, w;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		(void)snprintf(name, sizeof(name), "d%d", i);
		(void)snprintf(addr, sizeof(addr), "10.1.%d.%d", i / 250, i % 250);
		(void)put(name, 1, NODE_BOOTING, addr);
	}
	commit();
	free(hosts_text(&B.e, &v));
	(void)put("c10", 1, NODE_BOOTING, "192.0.2.10");
	commit();
	text = hosts_text(&B.e, &w);
	assert_true(v == w);
	assert_null(strstr(text, "192.0.2.10"));
	free(text);
	W.now -= 60000; /* the clock is set back */
	text = hosts_text(&B.e, &w);
	assert_non_null(strstr(text, "192.0.2.10"));
	free(text);
	assert_true(hosts_version(&B.e) == w);
}

/* Nobody would look for a job that does not find a node by what nodes are told. */
static void test_hosts_that_do_not_fit_are_told_of(void **state)
{
	const size_t n = DOOR_HOSTS_MAX / 80 + 3; /* with c1 and c2 */
	char name[64], addr[32], *text;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "d%062u", (unsigned)i); /* lines of 80 bytes */
		(void)snprintf(addr, sizeof(addr), "100.100.%03u.%03u", (unsigned)i / 250 % 250,
			       (unsigned)i % 250);
		(void)put(name, 1, NODE_BOOTING, addr);
	}
	commit();
	text = hosts_text(&B.e, NULL);
	assert_true(strlen(text) <= DOOR_HOSTS_MAX);
	assert_true(strlen(text) > DOOR_HOSTS_MAX - 80);
	assert_has(B.events, "hosts-left-out: 4 nodes do not fit");
	assert_int_equal(engine_door_counters(&B.e)->hosts_left_out, 4);
	free(text);
	B.events[0] = '\0';
	W.now += DOOR_HOSTS_MS;
	commit();
	free(hosts_text(&B.e, NULL));
	assert_string_equal(B.events, ""); /* once */
}

static void test_node_init_is_given_out_with_its_hash(void **state)
{
	char path[] = "/tmp/burst-stage1-XXXXXX", none[] = "/nowhere/node-init";
	const char *hash = NULL;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/stage1", ""), 404);
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/stage1.sha256", ""), 404);
	assert_false(door_stage1(&B.e, &hash));
	assert_true(fd >= 0 && write(fd, "abc", 3) == 3);
	(void)close(fd);
	B.conf.nodes.node_init = path;
	door_part.at[PART_RELOAD](&B.e);
	assert_true(door_stage1(&B.e, &hash));
	assert_string_equal(hash,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/stage1", ""), 200);
	assert_string_equal(B.said, "abc");
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/stage1.sha256", ""), 200);
	assert_string_equal(B.said, hash);
	/* Gone: it stays as it was. */
	B.conf.nodes.node_init = none;
	door_part.at[PART_RELOAD](&B.e);
	assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/stage1", ""), 200);
	assert_null(engine_init_off(&B.e));
	(void)unlink(path);
}

/* It is away at the start, on a disk that is mounted later: nobody is told that the image's will
 * do; it is looked for each minute, and at a reload. */
static void test_node_init_that_is_away_at_the_start(void **state)
{
	char path[] = "/tmp/burst-stage1-XXXXXX", other[64];
	const char *hash = NULL;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	(void)snprintf(other, sizeof(other), "%s-later", path);
	B.conf.nodes.node_init = other;
	for (int reload = 0; reload < 2; reload++) {
		door_part.at[PART_FREE](&B.e);
		assert_int_equal(door_part.open(&B.e, NULL), 0);
		assert_has(engine_init_off(&B.e), "nodes: node_init: /tmp/burst-stage1-");
		assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/stage1", ""), 503);
		assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/stage1.sha256", ""), 503);
		assert_int_equal(rename(path, other), 0);
		assert_in_range(node_init_next_ms(&B.e), W.now + 1, W.now + 60000);
		if (reload) {
			door_part.at[PART_RELOAD](&B.e);
		} else {
			commit();
			assert_non_null(engine_init_off(&B.e));
			W.now += 60000;
			commit();
		}
		assert_null(engine_init_off(&B.e));
		assert_true(door_stage1(&B.e, &hash));
		assert_int_equal(by("c2", 5, 'b', "GET", "/v1/node/stage1", ""), 200);
		assert_int_equal(rename(other, path), 0);
	}
	(void)unlink(path);
}

static void test_counters_say_what_was_answered(void **state)
{
	const struct engine_door_counters *n = engine_door_counters(&B.e);
	size_t states[CLAIM_NSTATES];

	(void)state;
	(void)by("c1", 2, 'a', "GET", "/v1/node/time", "");
	(void)by("c1", 1, 'a', "GET", "/v1/node/time", "");
	(void)by("c1", 2, 'a', "POST", "/v1/claim", "{}");
	commit();
	assert_int_equal(n->requests, 3);
	assert_int_equal(n->answers[0], 2);
	assert_int_equal(n->answers[2], 1);
	B.b.c.weak = true;
	assert_int_equal(engine_claims(&B.e, states), 1);
	assert_int_equal(states[CLAIM_CONFIRMED], 1);
	assert_int_equal(states[CLAIM_CLAIMED], 1);
	assert_int_equal(states[CLAIM_ISSUED], 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_an_answer_waits_for_the_commit),
		T(test_nothing_is_answered_when_the_commit_failed),
		T(test_what_is_staged_holds_answers_back),
		T(test_where_nothing_changes_it_is_answered_at_once),
		T(test_a_later_answer_goes_out_with_the_next_turn),
		T(test_each_path_has_its_place),
		T(test_a_node_whose_claim_was_lost_goes_on),
		T(test_a_node_that_an_older_journal_knows_as_booting_goes_on),
		T(test_a_node_that_has_registered_has_confirmed),
		T(test_only_the_present_generation_is_let_in),
		T(test_a_claim_that_is_over_lets_nobody_in),
		T(test_a_name_that_is_not_as_it_should_be_is_nobodys),
		T(test_a_certificate_for_another_key_is_misuse),
		T(test_without_a_door_nobody_is_let_in),
		T(test_hosts_are_the_nodes_that_have_an_address),
		T(test_hosts_are_names_of_the_cluster),
		T(test_hosts_are_not_made_anew_for_every_heartbeat),
		T(test_many_hosts_are_not_made_anew_for_every_claim),
		T(test_hosts_that_do_not_fit_are_told_of),
		T(test_node_init_is_given_out_with_its_hash),
		T(test_node_init_that_is_away_at_the_start),
		T(test_counters_say_what_was_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
