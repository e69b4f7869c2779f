/* test_rotate.c - a key is replaced by another: what is written to the store, what nodes are told,
 * and that a restart goes on where it was.  The journal and the store's file are real. */
#define BARE_REAL_STORE
#include "bare_claims.h"

#include "base/secret_file.h"
#include "engine/rotate.h"

#define JWKS                                                                                       \
	"eyJrZXlzIjpbeyJhbGciOiJIUzI1NiIsImt0eSI6Im9jdCIsImtpZCI6Im9sZCIsInVzZSI6ImRlZmF1bHQiLCJr" \
	"IjoiYzJWamNtVjAiLCJleHAiOjl9XX0="

enum { MINUTE = 60000, TURNS = 12 };

/* --- a store: a file, as the driver file has it ------------------------------------------------
 */

static unsigned store_flags;
static unsigned writes, promotes, logins;
static enum secret_code fails; /* what the next requests come to; SECRET_OK: as they are */
static char enrolled[64];

static int st_open(void **self, const struct secret_store_conf *conf, struct err *e)
{
	(void)conf;
	(void)e;
	*self = &store_flags;
	return 0;
}

static void st_close(void *self)
{
	(void)self;
}

static unsigned st_flags(const void *self)
{
	(void)self;
	return store_flags;
}

static const char *st_address(const void *self, uint32_t i)
{
	(void)self;
	(void)i;
	return NULL;
}

static int st_build(const void *self, const struct secret_op *op, struct secret_request *out,
		    struct err *e)
{
	char path[96];

	(void)self;
	(void)e;
	(void)snprintf(path, sizeof(path), "%s/bundle", F.dir);
	out->kind = SECRET_FILE;
	out->method = "GET";
	out->url = mem_strdup(path);
	promotes += op->kind == SECRET_PROMOTE;
	logins += op->kind == SECRET_LOGIN;
	if (op->kind != SECRET_WRITE || fails != SECRET_OK)
		return 0;
	writes++;
	out->body = mem_strdup(op->bundle);
	out->body_len = strlen(op->bundle);
	return 0;
}

static void st_parse(const void *self, const struct secret_op *op, const struct secret_reply *reply,
		     struct secret_result *out)
{
	(void)self;
	if (op->kind == SECRET_WRITE && fails != SECRET_OK) {
		out->code = fails;
		(void)snprintf(out->message, sizeof(out->message), "it fails");
		return;
	}
	if (reply->status != 200) {
		out->code = reply->status == 409 ? SECRET_CONFLICT : SECRET_INVALID;
		(void)snprintf(out->message, sizeof(out->message), "%ld", reply->status);
		return;
	}
	(void)snprintf(out->version, sizeof(out->version), "%s", reply->version);
	if (op->kind == SECRET_READ)
		out->value = secret_new(reply->body, reply->len);
	if (op->kind == SECRET_PEEK)
		(void)snprintf(out->path, sizeof(out->path), "%s",
			       strcmp(op->token, "evil") == 0 ? "auth/other" : "auth/right");
	if (op->kind == SECRET_UNWRAP)
		out->value = secret_new("secret-id", 9);
	out->rights = SECRET_MAY_READ | SECRET_MAY_POLL;
}

static int64_t st_good_until(const void *self)
{
	(void)self;
	return INT64_MAX;
}

static int st_take(void *self, const struct secret_result *r, int64_t now_ms, struct err *e)
{
	(void)self;
	(void)r;
	(void)now_ms;
	(void)e;
	return 0;
}

static int st_credential(void *self, const char *text, struct err *e)
{
	(void)self;
	(void)e;
	(void)snprintf(enrolled, sizeof(enrolled), "%s", text);
	return 0;
}

static const char *st_path(const void *self, enum secret_op_kind kind)
{
	(void)self;
	(void)kind;
	return "auth/right";
}

static const struct secret_store_ops *the_store(const char *name)
{
	static const struct secret_store_ops ops = {.name = "fake",
						    .open = st_open,
						    .close = st_close,
						    .flags = st_flags,
						    .address = st_address,
						    .build = st_build,
						    .parse = st_parse,
						    .good_until = st_good_until,
						    .take = st_take,
						    .credential = st_credential,
						    .path = st_path};

	(void)name;
	return &ops;
}

static void put_bundle(const char *text, const char *version)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "%s/bundle", F.dir);
	assert_int_equal(secret_file_write(path, text, strlen(text), version, NULL), 0);
}

static char bundle_text[SECRET_BUNDLE_MAX + 1];

static const char *bundle(void)
{
	struct secret *s = NULL;
	char path[96], version[SECRET_FILE_VERSION_SIZE];

	(void)snprintf(path, sizeof(path), "%s/bundle", F.dir);
	assert_int_equal(secret_file_read(path, &s, version, NULL), 0);
	(void)snprintf(bundle_text, sizeof(bundle_text), "%s", secret_text(s));
	secret_free(s);
	return bundle_text;
}

/* --- the engine, and nodes ---------------------------------------------------------------------
 */

static void go(void)
{
	for (int i = 0; i < TURNS; i++) {
		rotate_run(F.e);
		secrets_run(F.e);
		engine_commit(F.e);
		if (F.e->door != NULL)
			door_run(F.e);
	}
}

static struct rotate *rt(void)
{
	return F.e->rotate;
}

static enum rotation_phase phase(void)
{
	return rt()->r.phase;
}

/* Node i has confirmed this version, and its agent is heard. */
static void up(int i, int64_t version)
{
	struct claim_run *r = claim(i);

	r->c.state = CLAIM_CONFIRMED;
	r->c.bound = true;
	r->c.version = version;
	memcpy(r->c.spki, F.keys[i].spki, sizeof(r->c.spki));
	r->key_version = (uint64_t)version;
	r->heartbeat_ms = engine_now(F.e);
	journal_put_claim(engine_tx(F.e), &r->c);
	engine_commit(F.e);
}

/* What node i is answered; the ticket is in F.tickets. */
static const char *node_asks(int i, const char *method, const char *path, const char *text)
{
	struct node_request rq = {.http = {.method = method,
					   .path = path,
					   .query = "",
					   .body = text,
					   .len = strlen(text),
					   .ticket = ++F.tickets,
					   .header = test_header}};
	struct http_answer an = {.status = 500};

	rq.peer.known = true;
	(void)snprintf(rq.peer.cn, sizeof(rq.peer.cn), "c%d", i);
	(void)snprintf(rq.peer.urn, sizeof(rq.peer.urn), "urn:burst:node:c%d:%llu", i,
		       (unsigned long long)row(i)->n.gen);
	memcpy(rq.peer.spki, F.keys[i].spki, sizeof(rq.peer.spki));
	F.e->started = true;
	engine_node_request(F.e, &rq, &an);
	F.e->started = false;
	go();
	if (!an.later) {
		F.answers[F.tickets].status = an.status;
		F.answers[F.tickets].body = an.body != NULL ? an.body : mem_strdup("");
	}
	return F.answers[F.tickets].body != NULL ? F.answers[F.tickets].body : "(waits)";
}

static const char *beats(int i, int64_t version)
{
	char text[160];

	(void)snprintf(text, sizeof(text),
		       "{\"v\":1,\"node\":\"c%d\",\"generation\":%llu,\"key_version\":\"%lld\"}", i,
		       (unsigned long long)row(i)->n.gen, (long long)version);
	return node_asks(i, "POST", "/v1/node/heartbeat", text);
}

static int order(enum engine_rotate_verb verb, enum rotation_kind kind, const char *credential,
		 int64_t in_ms)
{
	const struct engine_rotate_ask ask = {
		.verb = verb, .kind = kind, .credential = credential, .in_ms = in_ms, .by = "root"};
	struct err err = {0};
	int rc = engine_rotate(F.e, &ask, &err);

	go();
	return rc;
}

static int setup(void **state)
{
	(void)state;
	store_flags = writes = promotes = logins = 0;
	fails = SECRET_OK;
	(void)setup_with(CONF_ATTEST_ADDRESS, CONF_BROKER);
	F.store = the_store;
	put_bundle("{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\","
		   "\"slurm_jwks\":\"" JWKS "\"}",
		   "7");
	restart();
	two();
	go();
	assert_string_equal(secrets_version(F.e), "7");
	up(1, 7);
	up(2, 7);
	return 0;
}

static int64_t now_version(void)
{
	return door_key_version(secrets_version(F.e));
}

/* Until all have the new key beside the old one. */
static void stage(enum rotation_kind kind)
{
	assert_int_equal(order(ENGINE_ROTATE_START, kind, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_int_equal(writes, 1);
	assert_int_equal(rt()->r.now, now_version());
	(void)beats(1, now_version());
	(void)beats(2, now_version());
	rt()->look_ms = 0;
	go();
	assert_int_equal(phase(), ROTATION_STAGED);
}

static void its_time_comes(void)
{
	int64_t ago = rotation_wake_ms(&rt()->r) - engine_now(F.e);

	rt()->r.since_ms -= ago;
	rt()->r.switch_ms -= rt()->r.switch_ms != 0 ? ago : 0;
	go();
}

static void all_follow(void)
{
	(void)beats(1, now_version());
	(void)beats(2, now_version());
	rt()->look_ms = 0;
	go();
}

/* --- stories -----------------------------------------------------------------------------------
 */

static void munges_key_is_staged_then_switched_at_one_time(void **state)
{
	const char *said;
	char want[80];

	(void)state;
	assert_null(strstr(beats(1, 7), "keys"));
	F.e->breaches = (struct engine_breaches){.n = 1, .last_ms = engine_now(F.e)};
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	assert_non_null(strstr(bundle(), "\"munge_key_next\":\""));
	(void)snprintf(want, sizeof(want), "\"keys\":{\"version\":\"%lld\"}",
		       (long long)now_version());
	assert_non_null(strstr(beats(1, 7), want));
	said = node_asks(1, "GET", "/v1/node/keys", "");
	assert_non_null(strstr(said, "\nmunge_key_next="));
	assert_non_null(strstr(said, "\nswitch=yes\nend=1\n")); /* munge_key is what all use */
	assert_int_equal(events("keys-released"), 1);
	assert_int_equal(audits("release-keys"), 1);
	assert_null(strstr(beats(1, now_version()), "keys"));
	assert_int_equal(phase(), ROTATION_SPREADING); /* the other one has not */
	all_follow();
	assert_int_equal(phase(), ROTATION_STAGED);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, MINUTE - 1), -1);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 2 * MINUTE), 0);
	assert_int_equal(phase(), ROTATION_WINDOW);
	assert_non_null(strstr(beats(1, now_version()), "\"switch_ms\":"));
	its_time_comes();
	assert_int_equal(phase(), ROTATION_SETTLING);
	assert_int_equal(engine_breaches(F.e).n, 1); /* some have the old one */
	assert_int_equal(writes, 2);
	assert_null(strstr(bundle(), "munge_key_next"));
	assert_null(strstr(bundle(), "kZ3qVh0v8mJ5"));
	/* It was away: it is told to switch at once. */
	assert_non_null(strstr(beats(2, 7), "\"keys\":{\"version\""));
	assert_non_null(strstr(node_asks(2, "GET", "/v1/node/keys", ""), "\nswitch=yes\n"));
	all_follow();
	assert_int_equal(phase(), ROTATION_DONE);
	assert_int_equal(engine_breaches(F.e).n, 0);
	assert_null(rt()->store);
	assert_int_equal(audits("rotate"), 1);
	assert_int_equal(audits("rotate-switch"), 1);
}

static void who_comes_with_the_old_key_is_bought_anew(void **state)
{
	(void)state;
	assert_true(rotate_takes(F.e, 7, 7));
	stage(ROTATION_MUNGE);
	assert_true(rotate_takes(F.e, 7, 7)); /* the key that is used is in both */
	assert_true(rotate_takes(F.e, now_version(), 7));
	assert_false(rotate_takes(F.e, 6, 6));
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	fails = SECRET_AWAY;
	its_time_comes();
	assert_int_equal(phase(), ROTATION_SWITCHING);
	/* The store has the old key still: nobody gets it, and who has it is late. */
	assert_true(F.e->secrets->held);
	assert_false(rotate_takes(F.e, 7, 7));
	assert_false(rotate_takes(F.e, now_version(), now_version()));
	claim(2)->keys_ms = 0;
	assert_string_equal(node_asks(2, "GET", "/v1/node/keys", ""), "(waits)");
	fails = SECRET_OK;
	rt()->store->next_ms = 0;
	go();
	assert_int_equal(phase(), ROTATION_SETTLING);
	assert_false(F.e->secrets->held);
	assert_int_equal(F.answers[F.tickets].status, 200);
	assert_non_null(strstr(F.answers[F.tickets].body, "\nswitch=yes\n"));
	assert_false(rotate_takes(F.e, 7, 7));
	assert_true(rotate_takes(F.e, now_version(), 7));
}

static void jwks_rolls(void **state)
{
	(void)state;
	stage(ROTATION_JWKS);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_LOADING);
	/* There is no scontrol here: it stands still, and says so. */
	assert_non_null(strstr(rt()->error, "scontrol"));
	assert_int_equal(events("rotation-alarm"), 1);
	assert_int_equal(audits("reconfigure"), 1);
	rotate_event(rt(), ROTATION_EV_TOLD, 0);
	go();
	assert_int_equal(phase(), ROTATION_SETTLING);
	assert_int_equal(writes, 2);
	assert_true(rotate_takes(F.e, rt()->r.prev, 0)); /* it has both keys */
	all_follow();
	assert_int_equal(phase(), ROTATION_AGING);
	rotate_event(rt(), ROTATION_EV_TOLD, 0);
	go();
	assert_int_equal(phase(), ROTATION_AGING);
	its_time_comes();
	assert_int_equal(phase(), ROTATION_DONE);
	assert_int_equal(writes, 3);
	assert_null(strstr(bundle(), "Im9sZCI")); /* "old" */
	assert_non_null(strstr(bundle(), "munge_key"));
}

static void a_restart_goes_on_where_it_was(void **state)
{
	int64_t version;

	(void)state;
	fails = SECRET_AWAY;
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_STAGING);
	restart();
	fails = SECRET_OK;
	go();
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_int_equal(writes, 1);
	version = now_version();
	/* It died between the write and the journal. */
	rt()->r.phase = ROTATION_STAGING;
	rt()->r.now = 7;
	rt()->r.prev = 0;
	rt()->dirty = true;
	rt()->store->next_ms = INT64_MAX;
	rotate_run(F.e);
	restart();
	go();
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_int_equal(writes, 1);
	assert_int_equal(rt()->r.now, version);
	up(1, 7);
	up(2, 7);
	all_follow();
	assert_int_equal(phase(), ROTATION_STAGED);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	restart();
	go();
	assert_int_equal(phase(), ROTATION_WINDOW);
	its_time_comes();
	assert_int_equal(phase(), ROTATION_SETTLING);
	restart();
	go();
	up(1, 7);
	up(2, 7);
	all_follow();
	assert_int_equal(phase(), ROTATION_DONE);
	restart();
	go();
	assert_int_equal(phase(), ROTATION_DONE);
	assert_int_equal(writes, 2);
}

static void what_somebody_else_writes_ends_it(void **state)
{
	(void)state;
	stage(ROTATION_MUNGE);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	put_bundle(BUNDLE, "99");
	its_time_comes();
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_true(rt()->r.alien);
	assert_non_null(strstr(rt()->error, "somebody else"));
	assert_int_equal(writes, 1);
	assert_string_equal(bundle(), BUNDLE);
}

static void abort_takes_the_new_key_out(void **state)
{
	(void)state;
	assert_int_equal(order(ENGINE_ROTATE_ABORT, ROTATION_NONE, NULL, 0), -1);
	stage(ROTATION_MUNGE);
	assert_int_equal(order(ENGINE_ROTATE_ABORT, ROTATION_NONE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_null(strstr(bundle(), "munge_key_next"));
	assert_non_null(strstr(bundle(), "kZ3qVh0v8mJ5"));
	/* Another one may follow. */
	writes = 0;
	stage(ROTATION_MUNGE);
}

static bool says_off(const char *said, int64_t version)
{
	char want[80];

	(void)snprintf(want, sizeof(want), "\"keys\":{\"version\":\"%lld\",\"switch_ms\":0}",
		       (long long)version);
	return strstr(said, want) != NULL;
}

/* Each has a timer.  Who does not hear in time switches, and back again: it has its keys anew. */
static void who_was_told_of_a_switch_is_told_that_it_is_off(void **state)
{
	int64_t version;

	(void)state;
	stage(ROTATION_MUNGE);
	version = now_version();
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, MINUTE), 0);
	assert_null(strstr(beats(1, version), "\"switch_ms\":0"));
	fails = SECRET_AWAY;
	assert_int_equal(order(ENGINE_ROTATE_ABORT, ROTATION_NONE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_ABORTING);
	assert_true(says_off(beats(1, version), version));
	assert_non_null(strstr(node_asks(1, "GET", "/v1/node/keys", ""), "\nswitch=yes\n"));
	restart();
	go();
	up(1, version);
	up(2, version);
	assert_int_equal(phase(), ROTATION_ABORTING);
	assert_true(says_off(beats(1, version), version));
	fails = SECRET_OK;
	rt()->store->next_ms = 0;
	go();
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_true(now_version() != version);
	assert_true(says_off(beats(2, version), now_version()));
	claim(2)->keys_ms = 0;
	assert_non_null(strstr(node_asks(2, "GET", "/v1/node/keys", ""), "\nswitch=yes\n"));
	assert_true(says_off(beats(2, now_version()), now_version()));
	/* The store is away, and burstd was started anew: which version it has is not known. */
	version = now_version();
	F.e->secrets->version[0] = '\0';
	assert_true(says_off(beats(1, version), version));
	(void)snprintf(F.e->secrets->version, sizeof(F.e->secrets->version), "%lld",
		       (long long)version);
	claim(1)->key_version = 0; /* it says no version, and was told of no switch */
	assert_null(strstr(beats(1, 0), "keys"));
	rt()->r.switch_ms -= ROTATION_SPREAD_MS + MINUTE; /* nobody has it in mind any more */
	assert_null(strstr(beats(1, version), "keys"));
	F.e->secrets->version[0] = '\0';
	assert_null(strstr(beats(1, version), "keys"));
	/* What an admin writes is not what all use by now. */
	put_bundle(BUNDLE, "99");
	F.e->secrets->version_next = F.e->secrets->next_ms = 0;
	go();
	assert_int_equal(now_version(), 99);
	claim(1)->keys_ms = 0;
	assert_non_null(strstr(node_asks(1, "GET", "/v1/node/keys", ""), "\nswitch=no\n"));
}

static void an_abort_that_nodes_may_not_hear_of_is_refused(void **state)
{
	const struct engine_rotate_ask ask = {.verb = ENGINE_ROTATE_ABORT, .by = "root"};
	struct err err = {0};

	(void)state;
	stage(ROTATION_MUNGE);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, MINUTE), 0);
	rt()->r.switch_ms -= MINUTE - ROTATION_HEAR_MS + 1000;
	assert_int_equal(engine_rotate(F.e, &ask, &err), -1);
	assert_non_null(strstr(err.msg, "may not hear within 4"));
	assert_int_equal(phase(), ROTATION_WINDOW);
	assert_int_equal(audits("rotate-abort"), 0);
}

static void a_node_that_does_not_follow_is_drained(void **state)
{
	(void)state;
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	(void)beats(1, now_version());
	(void)beats(2, 7);
	rt()->look_ms = 0;
	go();
	assert_int_equal(rt()->nodes.have, 1);
	assert_int_equal(rt()->nodes.lack, 1);
	assert_int_equal(claim(1)->keys_old_ms, 0);
	assert_true(claim(2)->keys_old_ms != 0);
	assert_int_equal(events("keys-old"), 0);
	claim(2)->keys_old_ms -= ROTATION_SPREAD_MS;
	rt()->look_ms = 0;
	go();
	assert_int_equal(events("keys-old"), 1);
	assert_true(claim(2)->keys_drained);
	assert_false(claim(1)->keys_drained);
	rt()->look_ms = 0;
	go();
	assert_int_equal(events("keys-old"), 1);
	assert_int_equal(phase(), ROTATION_STAGED); /* the others do not wait for it */
}

static void keys_are_given_once_a_minute_and_to_who_has_confirmed(void **state)
{
	const char *said = node_asks(1, "GET", "/v1/node/keys", "");

	(void)state;
	assert_non_null(strstr(said, "munge_key="));
	assert_non_null(strstr(said, "\nswitch=no\n")); /* what all use is not known to us */
	(void)node_asks(1, "GET", "/v1/node/keys", "");
	assert_int_equal(F.answers[F.tickets].status, 429);
	claim(1)->keys_ms -= ROTATE_KEYS_MS;
	(void)node_asks(1, "GET", "/v1/node/keys", "");
	assert_int_equal(F.answers[F.tickets].status, 200);
	claim(2)->c.state = CLAIM_CLAIMED;
	(void)node_asks(2, "GET", "/v1/node/keys", "");
	assert_int_equal(F.answers[F.tickets].status, 409);
}

static void vaults_credential_is_unwrapped_once_and_of_the_right_role(void **state)
{
	(void)state;
	store_flags = SECRET_RENEWS;
	restart();
	for (int i = 0; i < 4; i++)
		go();
	F.e->secrets->phase = SECRETS_READY;
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, "w", 0), -1); /* no role */
	F.e->conf->secrets.rotate_role_id = mem_strdup("r");
	F.e->conf->secrets.rotate_role_name = mem_strdup("burst-rotate");
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), -1);
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, "evil", 0), 0);
	assert_int_equal(phase(), ROTATION_STAGING);
	assert_non_null(strstr(rt()->error, "not of rotate_role_name"));
	assert_string_equal(enrolled, "");
	/* Nothing was written: to give that up takes no credential. */
	assert_int_equal(order(ENGINE_ROTATE_ABORT, ROTATION_NONE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, "evil", 0), 0);
	assert_int_equal(order(ENGINE_ROTATE_RESUME, ROTATION_NONE, "good", 0), 0);
	assert_string_equal(enrolled, "secret-id");
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_string_equal(rt()->error, "");
	/* It is in memory alone: after a restart somebody must give another one. */
	restart();
	go();
	assert_null(rt()->store);
	enrolled[0] = '\0';
}

static void a_store_of_two_steps_is_promoted(void **state)
{
	(void)state;
	store_flags = SECRET_TWO_STEPS;
	restart();
	go();
	up(1, 7);
	up(2, 7);
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_JWKS, NULL, 0), 0);
	assert_int_equal(writes, 1);
	assert_int_equal(promotes, 1);
	assert_int_equal(phase(), ROTATION_SPREADING);
}

/* Node i is up, with keys of this version, which came by its user-data. */
static void up_by_token(int i, int64_t version)
{
	struct voucher v = {.gen = 1, .state = VOUCHER_SPENT, .version = version};
	struct node n;

	(void)snprintf(v.node, sizeof(v.node), "c%d", i);
	node_init(&n, v.node, 1, engine_now(F.e));
	place_set(F.e, &n, &F.e->conf->pools[0].own, 1);
	n.state = NODE_READY;
	n.wake_ms = INT64_MAX;
	journal_put_node(engine_tx(F.e), &n, "pool");
	journal_put_voucher(engine_tx(F.e), &v);
	engine_commit(F.e);
}

static int setup_tokens(void **state)
{
	(void)state;
	store_flags = SECRET_WRAPS;
	writes = promotes = logins = 0;
	fails = SECRET_OK;
	(void)setup_with(CONF_ATTEST_AUTO, CONF_USER_DATA);
	F.store = the_store;
	put_bundle("{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}", "7");
	restart();
	up_by_token(1, 7);
	up_by_token(2, 7);
	restart();
	go();
	assert_string_equal(secrets_version(F.e), "7");
	return 0;
}

/* Nobody can give it others: it goes as soon as there are some, and the rotation goes on. */
static void a_node_that_cannot_follow_is_drained_at_once(void **state)
{
	struct engine_rotation s;

	(void)state;
	rt()->look_ms = 0;
	go();
	engine_rotation(F.e, &s);
	assert_int_equal(s.nodes.fixed, 2);
	assert_int_equal(s.nodes.have, 2);
	assert_int_equal(events("keys-old"), 0);
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	rt()->look_ms = 0;
	go();
	engine_rotation(F.e, &s);
	assert_int_equal(s.nodes.fixed, 2);
	assert_int_equal(s.nodes.drained, 2);
	assert_int_equal(s.nodes.lack + s.nodes.unheard + s.nodes.others, 0);
	assert_int_equal(events("keys-old"), 2);
	assert_int_equal(phase(), ROTATION_STAGED);
	rt()->look_ms = 0;
	go();
	assert_int_equal(events("keys-old"), 2); /* once */
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(munges_key_is_staged_then_switched_at_one_time),
		T(who_comes_with_the_old_key_is_bought_anew),
		T(jwks_rolls),
		T(a_restart_goes_on_where_it_was),
		T(what_somebody_else_writes_ends_it),
		T(abort_takes_the_new_key_out),
		T(who_was_told_of_a_switch_is_told_that_it_is_off),
		T(an_abort_that_nodes_may_not_hear_of_is_refused),
		T(a_node_that_does_not_follow_is_drained),
		T(keys_are_given_once_a_minute_and_to_who_has_confirmed),
		T(vaults_credential_is_unwrapped_once_and_of_the_right_role),
		T(a_store_of_two_steps_is_promoted),
		cmocka_unit_test_setup_teardown(a_node_that_cannot_follow_is_drained_at_once,
						setup_tokens, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
