/* rotation_world.h - a rotation: the journal and the store's file are real, and two nodes are up
 * and report their key versions. */
#ifndef TESTS_ROTATION_WORLD_H
#define TESTS_ROTATION_WORLD_H

#include "keys_engine.h"

#include "base/secret_file.h"
#include "keys/rotate.h"
#include "store/journal_claims.h"

#define JWKS                                                                                       \
	"eyJrZXlzIjpbeyJhbGciOiJIUzI1NiIsImt0eSI6Im9jdCIsImtpZCI6Im9sZCIsInVzZSI6ImRlZmF1bHQiLCJr" \
	"IjoiYzJWamNtVjAiLCJleHAiOjl9XX0="

enum { MINUTE = 60000, TURNS = 12 };

/* --- a store: a file, as the driver file has it ------------------------------------------------
 */

static unsigned store_flags;
static unsigned writes, promotes, logins;
static enum secret_code fails; /* result of the next writes; SECRET_OK: the real one */
static int64_t again_in_ms;    /* when it wants them again; 0: it does not say */
static char enrolled[64];

static inline int st_open(void **self, const struct secret_store_conf *conf, struct err *e)
{
	(void)conf;
	(void)e;
	*self = &store_flags;
	return 0;
}

static inline void st_close(void *self)
{
	(void)self;
}

static inline unsigned st_flags(const void *self)
{
	(void)self;
	return store_flags;
}

static inline const char *st_address(const void *self, uint32_t i)
{
	(void)self;
	(void)i;
	return NULL;
}

static inline int st_build(const void *self, const struct secret_op *op, struct secret_request *out,
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

static inline void st_parse(const void *self, const struct secret_op *op,
			    const struct secret_reply *reply, struct secret_result *out)
{
	(void)self;
	if (op->kind == SECRET_WRITE && fails != SECRET_OK) {
		out->code = fails;
		out->retry_after_ms = again_in_ms;
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
			       strcmp(op->token, "evil") == 0 ? "auth/right/other" : "auth/right");
	if (op->kind == SECRET_UNWRAP)
		out->value = secret_new("secret-id", 9);
	out->rights = SECRET_MAY_READ | SECRET_MAY_POLL;
}

static int64_t st_good_until(const void *self)
{
	(void)self;
	return INT64_MAX;
}

static inline int st_take(void *self, const struct secret_result *r, int64_t now_ms, struct err *e)
{
	(void)self;
	(void)r;
	(void)now_ms;
	(void)e;
	return 0;
}

static inline int st_credential(void *self, const char *text, struct err *e)
{
	(void)self;
	(void)e;
	(void)snprintf(enrolled, sizeof(enrolled), "%s", text);
	return 0;
}

static inline const char *st_path(const void *self, enum secret_op_kind kind)
{
	(void)self;
	(void)kind;
	return "auth/right";
}

static inline const struct secret_store_ops *the_store(const char *name)
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

static inline void put_bundle(const char *text, const char *version)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "%s/bundle", F.dir);
	assert_int_equal(secret_file_write(path, text, strlen(text), version, NULL), 0);
}

/* Make a store that can do this; version 7 of the bundle is this text. */
static inline void store_has(unsigned flags, const char *text)
{
	store_flags = flags;
	writes = promotes = logins = 0;
	fails = SECRET_OK;
	again_in_ms = 0;
	F.store = the_store;
	put_bundle(text, "7");
}

static char bundle_text[SECRET_BUNDLE_MAX + 1];

static inline const char *bundle(void)
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

static inline void act_on_rotation(void)
{
	rotate_turn_part.at[PART_RUN](F.e);
}

static inline void go(void)
{
	for (int i = 0; i < TURNS; i++) {
		act_on_rotation();
		secrets_turn_part.at[PART_RUN](F.e);
		engine_commit(F.e);
		if (F.e->keys->door != NULL)
			door_part.at[PART_SEND](F.e);
	}
}

static inline void restart_and_go(void)
{
	restart();
	go();
}

static inline struct rotate *rt(void)
{
	return F.e->keys->rotate;
}

static inline enum rotation_phase phase(void)
{
	return rt()->r.phase;
}

/* Let node i confirm this version and send a heartbeat. */
static inline void up(int i, int64_t version)
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

static inline void both_are_up(int64_t version)
{
	up(1, version);
	up(2, version);
}

/* Send a request of node i; returns the reply, whose ticket is F.tickets. */
static inline const char *node_asks(int i, const char *method, const char *path, const char *text)
{
	struct http_answer an;

	F.peer = (struct node_peer){.known = true};
	(void)snprintf(F.peer.cn, sizeof(F.peer.cn), "c%d", i);
	(void)snprintf(F.peer.urn, sizeof(F.peer.urn), "urn:burst:node:c%d:%llu", i,
		       (unsigned long long)row(i)->n.gen);
	memcpy(F.peer.spki, F.keys[i].spki, sizeof(F.peer.spki));
	request(method, path, text, &an);
	go();
	return F.answers[F.tickets].body != NULL ? F.answers[F.tickets].body : "(waits)";
}

static inline const char *beats(int i, int64_t version)
{
	char text[160];

	(void)snprintf(text, sizeof(text),
		       "{\"v\":1,\"node\":\"c%d\",\"generation\":%llu,\"key_version\":\"%lld\"}", i,
		       (unsigned long long)row(i)->n.gen, (long long)version);
	return node_asks(i, "POST", "/v1/node/heartbeat", text);
}

static inline int order(enum engine_rotate_verb verb, enum rotation_kind kind,
			const char *credential, int64_t in_ms)
{
	const struct engine_rotate_ask ask = {
		.verb = verb, .kind = kind, .credential = credential, .in_ms = in_ms, .by = "root"};
	struct err err = {0};
	int rc = engine_rotate(F.e, &ask, &err);

	go();
	return rc;
}

/* These orders are taken. */
static inline void begins(enum rotation_kind kind)
{
	assert_int_equal(order(ENGINE_ROTATE_START, kind, NULL, 0), 0);
}

static inline void switches(int64_t in_ms)
{
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, in_ms), 0);
}

static inline void aborts(void)
{
	assert_int_equal(order(ENGINE_ROTATE_ABORT, ROTATION_NONE, NULL, 0), 0);
}

static inline void look_at_nodes(void)
{
	rt()->look_ms = 0;
	go();
}

static inline void poll_the_store(void)
{
	F.e->keys->secrets->version_next = F.e->keys->secrets->next_ms = 0;
	go();
}

/* ... which burstd believes to have this version. */
static inline void believe_in(const char *version)
{
	struct secrets *s = F.e->keys->secrets;

	(void)snprintf(s->version, sizeof(s->version), "%s", version);
}

/* Let it write again, after the pause that follows a failure. */
static inline void write_again(void)
{
	rt()->store->next_ms = 0;
	go();
}

static inline int setup(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_ADDRESS, CONF_BROKER);
	store_has(0, "{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\","
		     "\"slurm_jwks\":\"" JWKS "\"}");
	restart();
	two();
	go();
	assert_string_equal(secrets_version(F.e), "7");
	both_are_up(7);
	return 0;
}

static int64_t now_version(void)
{
	return door_key_version(secrets_version(F.e));
}

/* Rotate until all nodes have the new key beside the old one. */
static inline void stage(enum rotation_kind kind)
{
	begins(kind);
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_int_equal(writes, 1);
	assert_int_equal(rt()->r.now, now_version());
	(void)beats(1, now_version());
	(void)beats(2, now_version());
	look_at_nodes();
	assert_int_equal(phase(), ROTATION_STAGED);
}

static inline void its_time_comes(void)
{
	int64_t ago = rotation_wake_ms(&rt()->r) - engine_now(F.e);

	rt()->r.since_ms -= ago;
	rt()->r.switch_ms -= rt()->r.switch_ms != 0 ? ago : 0;
	go();
}

static inline void all_follow(void)
{
	(void)beats(1, now_version());
	(void)beats(2, now_version());
	look_at_nodes();
}

static inline void slurmctld_has(int i, uint32_t flags)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "c%d", i);
	fleet_find(&F.e->fleet, name)->flags = flags;
	look_at_nodes();
}

#endif
