/* bare_claims.h - machines that claim, on a real engine that is loaded from a real journal and
 * never started; provider, network and secret store are the test's, the authority and the
 * listener's table are real. */
#ifndef TESTS_BARE_CLAIMS_H
#define TESTS_BARE_CLAIMS_H

#include "tests/unit/engine/loaded_parts.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "buy/buy.h"
#include "cloud/cloud.h"
#include "io/http_client.h"
#include "keys/claim_set.h"
#include "keys/keys.h"
#include "parts/parts.h"
#include "store/journal_audit.h"
#include "store/journal_events.h"

#define BUNDLE "{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}"

enum { KEYS = 4, WIRE_MAX = 64, ANSWERS_MAX = 64 };

static const unsigned char claim_key[CLAIM_KEY_SIZE] = "0123456789abcdef0123456789abcde";

static struct fix {
	char dir[64];
	struct loop *loop;
	struct proc *proc;
	struct journal *journal;
	struct node_ca *ca;
	struct node_claims *table;
	struct engine_door door;
	struct engine *e;
	int attest; /* the provider's enum conf_attest */
	int release;
	/* keys that machines make */
	struct {
		char *csr; /* base64 of PEM */
		unsigned char spki[NODE_CA_SPKI_SIZE];
	} keys[KEYS];
	/* the wire */
	struct {
		char *body, url[160];
		http_done_fn done; /* NULL: answered */
		void *ctx;
	} wire[WIRE_MAX];
	size_t nwire;
	/* answers by ticket */
	struct {
		unsigned status;
		char *body;
	} answers[ANSWERS_MAX];
	uint64_t tickets;
	/* the secret store */
	secrets_fn keys_fn; /* the waiting request */
	void *keys_ctx;
	unsigned released, revoked;
	char revoked_last[64], looked_last[64];
	int64_t life_ms; /* life of the token that is asked for */
	int64_t ago_ms;  /* how long ago the request for it was sent */
	const struct secrets_look *look;
	unsigned looks;
	bool away; /* the store has no session now */
	bool wraps_nothing;
	const char *store_at; /* the store's addresses; NULL: not configured */
	const char *store_in; /* the store's namespace, likewise */
	/* what the listener says of a request */
	const char *address, *accept;
	uint16_t port;
	struct node_peer peer;
	const struct secret_store_ops *(*store)(const char *name); /* with BARE_REAL_STORE */
} F;

/* --- the secret store -------------------------------------------------------------------------
 */

#ifndef BARE_REAL_STORE
const struct engine_part secrets_part = {
	.at = {[PART_RELOAD] = secrets_hurry},
	.may_reload = secrets_may_replace,
};
const struct engine_part secrets_turn_part = {.name = NULL};

void secrets_poll(struct engine *e)
{
	(void)e;
}

int secrets_release(struct engine *e, enum conf_release mode, secrets_fn fn, void *ctx,
		    uint64_t *handle, struct err *err)
{
	(void)err;
	if (mode != CONF_USER_DATA)
		assert_false(e->staging.due); /* the request must be durable first */
	assert_int_equal(mode, F.release);
	assert_null(F.keys_fn);
	F.keys_fn = fn;
	F.keys_ctx = ctx;
	*handle = ++F.released;
	return 0;
}

void secrets_cancel(struct engine *e, uint64_t handle)
{
	(void)e;
	assert_int_equal(handle, F.released);
	F.keys_fn = NULL;
}

int secrets_wrap(struct engine *e, int64_t life_ms, secrets_fn fn, void *ctx, uint64_t *handle,
		 struct err *err)
{
	F.life_ms = life_ms;
	return secrets_release(e, CONF_USER_DATA, fn, ctx, handle, err);
}

bool secrets_serves(const struct engine *e)
{
	(void)e;
	return !F.away;
}

bool secrets_look(struct engine *e, enum secret_op_kind kind, const char *accessor,
		  const struct secrets_look *look)
{
	assert_false(e->staging.due); /* our own action must be durable first */
	if (F.away)
		return false;
	F.look = look;
	if (kind == SECRET_REVOKE) {
		F.revoked++;
		(void)snprintf(F.revoked_last, sizeof(F.revoked_last), "%s", accessor);
		return true;
	}
	F.looks++;
	(void)snprintf(F.looked_last, sizeof(F.looked_last), "%s", accessor);
	return true;
}

bool secrets_wraps(const struct engine *e)
{
	(void)e;
	return !F.wraps_nothing;
}

const char *secrets_address(const struct engine *e, uint32_t i)
{
	(void)e;
	return i < 2 ? (const char *const[]){"https://v1:8200", "https://[::2]:8200"}[i] : NULL;
}

const char *secrets_path(const struct engine *e)
{
	(void)e;
	return "kv/data/slurm/node";
}

bool secrets_revoke(struct engine *e, const char *accessor)
{
	(void)e;
	if (F.away)
		return false;
	F.revoked++;
	(void)snprintf(F.revoked_last, sizeof(F.revoked_last), "%s", accessor);
	return true;
}

#endif

/* --- the network ------------------------------------------------------------------------------
 */

int http_client_send(struct http_client *c, const struct http_call *call, http_done_fn done,
		     void *ctx, uint64_t *handle, struct err *e)
{
	(void)c;
	(void)e;
	assert_true(F.nwire < WIRE_MAX);
	F.wire[F.nwire].body = call->body != NULL ? mem_strdup(call->body) : NULL;
	(void)snprintf(F.wire[F.nwire].url, sizeof(F.wire[F.nwire].url), "%s", call->url);
	F.wire[F.nwire].done = done;
	F.wire[F.nwire].ctx = ctx;
	*handle = ++F.nwire;
	return 0;
}

void http_client_cancel(struct http_client *c, uint64_t handle)
{
	static const struct err gone = {.code = ERR_CANCELLED, .msg = "cancelled"};
	http_done_fn done = F.wire[handle - 1].done;

	(void)c;
	assert_non_null(done);
	F.wire[handle - 1].done = NULL;
	done(F.wire[handle - 1].ctx, NULL, &gone);
}

/* End a request: with a reply of this status or, if it is below 100, with that error. */
static inline void wire_ends(size_t i, int status, const char *text)
{
	struct http_reply r = {.status = status, .body = text, .len = strlen(text)};
	http_done_fn done = F.wire[i].done;
	struct err e = {.code = status};
	const bool answered = status >= 100;

	(void)snprintf(e.msg, sizeof(e.msg), "%s", text);
	assert_non_null(done);
	F.wire[i].done = NULL;
	done(F.wire[i].ctx, answered ? &r : NULL, answered ? NULL : &e);
}

/* code 0: a reply with status 200. */
static inline void wire_says(size_t i, int code, const char *text)
{
	wire_ends(i, code == 0 ? 200 : code, text);
}

/* --- the provider -----------------------------------------------------------------------------
 */

static struct provider_caps fake_caps(const void *self)
{
	(void)self;
	return (struct provider_caps){.flags = PROVIDER_TOKENS | PROVIDER_TAGS,
				      .create_max = 1000,
				      .delete_max = 1000,
				      .token_ms = 86400000};
}

static int fake_build(const void *self, const struct provider_op *op, struct provider_request *out,
		      struct err *e)
{
	(void)self;
	(void)e;
	out->method = "POST";
	out->url = mem_strdup("http://cloud/");
	out->body = mem_strdup(op->kind == PROVIDER_CREATE && op->u.create.user_data != NULL
				       ? op->u.create.user_data
				       : "");
	out->body_len = strlen(out->body);
	return 0;
}

static void fake_parse(const void *self, const struct provider_op *op,
		       const struct provider_reply *reply, struct provider_result *out)
{
	(void)self;
	(void)op;
	(void)reply;
	out->code = PROVIDER_TRANSIENT;
}

static const struct provider_ops *fake(const char *name)
{
	static const struct provider_ops ops = {.name = "fake",
						.open = fake_open,
						.close = fake_close,
						.caps = fake_caps,
						.build = fake_build,
						.parse = fake_parse};

	(void)name;
	return &ops;
}

/* --- the engine -------------------------------------------------------------------------------
 */

static char **words(const char *one)
{
	char **v = mem_zalloc(2 * sizeof(*v));

	v[0] = mem_strdup(one);
	return v;
}

static inline struct conf *make_conf(void)
{
	struct conf *c = one_pool("c[1-40]", 40);

	c->secrets.driver = mem_strdup("vault");
	c->secrets.address = F.store_at != NULL ? mem_strdup(F.store_at) : NULL;
	c->secrets.namespace = F.store_in != NULL ? mem_strdup(F.store_in) : NULL;
	c->secrets.release = F.release;
	c->secrets.poll_ms = 60000;
	c->secrets.timeout_ms = 30000;
	if (F.release != CONF_USER_DATA) {
		c->nodes.listen = mem_strdup("127.0.0.1:1");
		c->nodes.urls = words("https://burst.example:8443");
	}
	c->secrets.ca_file = mem_strdup("/ca");
	c->nodes.conf_servers = words("ctl:6817");
	c->nodes.deadman_ms = 600000;
	c->nodes.line = 1;
	c->providers[0].attest_as = F.attest;
	c->providers[0].check_address = 1;
	if (F.attest == CONF_ATTEST_AZURE)
		c->providers[0].attest_ca_file = mem_strdup("/ca");
	assert_int_equal(conf_finish(c, NULL), 0);
	return c;
}

static void take_answer(void *ctx, uint64_t ticket, const struct http_answer *an)
{
	(void)ctx;
	assert_false(F.e->staging.due); /* the state that the reply tells of must be durable */
	assert_true(ticket < ANSWERS_MAX);
	assert_int_equal(F.answers[ticket].status, 0);
	/* Secrets must be marked, so that whoever hands them on wipes them. */
	if (an->body != NULL && (strstr(an->body, "munge_key") || strstr(an->body, "wrap_token")))
		assert_true(an->secret);
	F.answers[ticket].status = an->status;
	F.answers[ticket].body = an->body != NULL ? an->body : mem_strdup("");
}

/* Replace the engine by one loaded from the journal. */
static inline void restart(void)
{
	const struct engine_deps d = {.loop = F.loop,
				      .proc = F.proc,
				      .journal = F.journal,
				      .uuid = uuid,
				      .driver = fake,
				      .store = F.store,
				      .door = F.release != CONF_USER_DATA ? &F.door : NULL,
				      .store_ca = "-----BEGIN CERTIFICATE-----\n",
				      .fatal = on_fatal,
				      .parts = parts_all()};
	struct err err;

	engine_free(F.e);
	F.e = NULL;
	node_claims_free(F.table);
	F.door.table = F.table = node_claims_new();
	F.keys_fn = NULL;
	F.look = NULL;
	if (engine_new(&F.e, &d, make_conf(), &err) != 0)
		fail_msg("%s", err.msg);
	engine_commit(F.e);
}

/* The end of a turn: commit what is staged, act on it, then send replies. */
static inline void turn(void)
{
	engine_commit(F.e);
	claims_turn_part.at[PART_RUN](F.e);
	engine_commit(F.e);
	engine_commit(F.e); /* and what followed from that */
	if (F.e->keys->door != NULL)
		door_part.at[PART_SEND](F.e);
}

static inline struct fleet_node *row(int i)
{
	char name[16];
	struct fleet_node *fn;

	(void)snprintf(name, sizeof(name), "c%d", i);
	fn = fleet_find(&F.e->fleet, name)->newest;
	assert_non_null(fn);
	return fn;
}

static inline struct claim_run *claim(int i)
{
	return claims_of(F.e, row(i)->n.name, row(i)->n.gen);
}

/* Send one create of the nodes first to first + n - 1, which is then on its way. */
static inline void buy(int first, int n)
{
	struct fleet_node *v[40];

	for (int i = 0; i < n; i++) {
		char name[16];
		struct node node;

		(void)snprintf(name, sizeof(name), "c%d", first + i);
		node_init(&node, name, 1, engine_now(F.e));
		node.rate_nano_h = 1;
		place_set(F.e, &node, &F.e->conf->pools[0].own, 1);
		v[i] = fleet_add(&F.e->fleet, &node);
	}
	launch_send(&F.e->cloud->all[0], v, (size_t)n);
	turn();
}

/* Let the provider report instance i-<i>, at 10.0.0.<i>; addr false: without an address yet. */
static inline void boots(int i, bool addr)
{
	struct provider_instance in = {.state = PROVIDER_RUNNING};
	struct node_event ev = {
		.type = NODE_EV_CREATED, .now_ms = engine_now(F.e), .instance = &in};

	(void)snprintf(in.id, sizeof(in.id), "i-%d", i);
	(void)snprintf(in.node, sizeof(in.node), "c%d", i);
	if (addr)
		(void)snprintf(in.addr, sizeof(in.addr), "10.0.0.%d", i);
	row(i)->busy = false;
	engine_post(F.e, row(i), &ev);
	turn();
}

/* Make one machine that is up. */
static inline void one(void)
{
	buy(1, 1);
	boots(1, true);
}

/* Make two machines of one create that are up. */
static inline void two(void)
{
	buy(1, 2);
	boots(1, true);
	boots(2, true);
}

/* Is the machine being deleted, for this reason? */
static inline bool goes(int i, enum node_reason why)
{
	return row(i)->n.state == NODE_DELETING && row(i)->n.reason == why;
}

/* --- machines ---------------------------------------------------------------------------------
 */

static inline char *make_csr(unsigned char spki[NODE_CA_SPKI_SIZE])
{
	EVP_PKEY *key = mem_check(EVP_EC_gen("P-256"));
	X509_REQ *req = mem_check(X509_REQ_new());
	BIO *b = mem_check(BIO_new(BIO_s_mem()));
	char *p, *out;
	long n;

	assert_int_equal(X509_REQ_set_pubkey(req, key), 1);
	assert_true(X509_REQ_sign(req, key, EVP_sha256()) > 0);
	assert_int_equal(PEM_write_bio_X509_REQ(b, req), 1);
	n = BIO_get_mem_data(b, &p);
	assert_int_equal(node_ca_read_csr(p, (size_t)n, spki, NULL), 0);
	out = mem_zalloc((size_t)(n + 2) / 3 * 4 + 1);
	(void)EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)p, (int)n);
	BIO_free(b);
	X509_REQ_free(req);
	EVP_PKEY_free(key);
	return out;
}

static const char *test_header(void *from, const char *name)
{
	(void)from;
	return strcmp(name, "Accept") == 0 ? F.accept : NULL;
}

struct says {       /* what a machine sends */
	int create; /* claims by the create of this node */
	int key;
	const char *secret;               /* NULL: the right one */
	const char *attest, *doc, *nonce; /* NULL: none */
	int port;                         /* source port; 0: one of root's */
	int shown; /* its own certificate: 0: of its key, -1: none, else of that key */
};

static inline void request(const char *method, const char *path, const char *body,
			   struct http_answer *an)
{
	struct node_request rq = {.http = {.method = method,
					   .path = path,
					   .query = "",
					   .body = body,
					   .len = strlen(body),
					   .ticket = ++F.tickets,
					   .header = test_header}};

	(void)snprintf(rq.address, sizeof(rq.address), "%s", F.address);
	rq.port = F.port;
	rq.peer = F.peer;
	*an = (struct http_answer){.status = 500};
	F.e->started = true; /* for this call only: no turn of its own begins */
	engine_node_request(F.e, &rq, an);
	F.e->started = false;
	turn();
	if (!an->later) {
		F.answers[F.tickets].status = an->status;
		F.answers[F.tickets].body = an->body != NULL ? an->body : mem_strdup("");
	}
}

/* Send the claim; returns its ticket. */
static inline uint64_t says(struct says s)
{
	char secret[CLAIM_SECRET_SIZE], doc[256] = "", body[4096];
	const char *id = claim(s.create)->c.id;
	const struct node_peer before = F.peer;
	struct http_answer an;

	claims_secret(F.e, id, secret);
	if (s.doc != NULL)
		(void)EVP_EncodeBlock((unsigned char *)doc, (const unsigned char *)s.doc,
				      (int)strlen(s.doc));
	(void)snprintf(
		body, sizeof(body),
		"{\"v\":1,\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"node\":\"\","
		"\"provider\":\"none\",\"instance_id\":\"\",\"boot_id\":\"b\",\"csr\":\"%s\","
		"\"attest\":{\"type\":\"%s\",\"doc\":\"%s\",\"nonce\":\"%s\"}}",
		id, s.secret != NULL ? s.secret : secret, F.keys[s.key].csr,
		s.attest != NULL ? s.attest : "none", doc, s.nonce != NULL ? s.nonce : "");
	F.port = s.port != 0 ? (uint16_t)s.port : CLAIM_PORT_MIN;
	F.peer = (struct node_peer){.self = s.shown >= 0};
	if (s.shown >= 0)
		memcpy(F.peer.spki, F.keys[s.shown > 0 ? s.shown : s.key].spki,
		       sizeof(F.peer.spki));
	request("POST", "/v1/claim", body, &an);
	F.peer = before;
	return F.tickets;
}

static inline unsigned status(uint64_t ticket)
{
	return F.answers[ticket].status;
}

static inline const char *body(uint64_t ticket)
{
	return F.answers[ticket].body;
}

/* Let the secret store answer the waiting request. */
static inline void keys_come(const char *accessor)
{
	static const char *const addresses[] = {"https://v1:8200", "https://v2:8200", NULL};
	bool wrap = F.release != CONF_BROKER;
	struct secret *value = secret_new(wrap ? "s.wrap" : BUNDLE, wrap ? 6 : strlen(BUNDLE));
	struct secrets_released r = {.mode = (enum conf_release)F.release,
				     .version = "7",
				     .token = value,
				     .accessor = accessor,
				     .path = "kv/data/slurm",
				     .ttl_ms = F.release == CONF_WRAP ? 60000 : F.life_ms,
				     .sent_ms = engine_now(F.e) - F.ago_ms,
				     .addresses = addresses,
				     .bundle = value};
	secrets_fn fn = F.keys_fn;

	assert_non_null(fn);
	F.keys_fn = NULL;
	fn(F.keys_ctx, &r, NULL);
	secret_free(value);
	turn();
}

/* ... which must be this one, and get the keys. */
static inline void is_served(uint64_t ticket, const char *accessor)
{
	keys_come(accessor);
	assert_int_equal(status(ticket), 200);
}

/* Assert whether the listener lets this claim through. */
static inline void knock(const char *id, const char *secret, bool through)
{
	char text[400];
	struct node_request rq = {.http = {.method = "POST", .path = "/v1/claim", .body = text}};
	struct http_answer an = {.status = 0};

	(void)snprintf(text, sizeof(text), "{\"claim_id\":\"%s\",\"claim_secret\":\"%s\"}", id,
		       secret);
	rq.http.len = strlen(text);
	assert_int_equal(node_claims_check(F.table, &rq, &an), !through);
	assert_int_equal(an.status, through ? 0 : 401);
}

/* Count events of this type in the journal. */
static int count_event(void *ctx, const struct journal_event *ev)
{
	const char **want = ctx;
	size_t *n = (size_t *)(void *)(uintptr_t)want[1];

	*n += strcmp(ev->type, want[0]) == 0;
	return 0;
}

static inline size_t events(const char *type)
{
	size_t n = 0;
	const char *want[2] = {type, (const char *)(void *)&n};

	assert_int_equal(journal_events(F.journal, 0, NULL, 10000, count_event, want, NULL), 0);
	return n;
}

static int count_audit(void *ctx, const struct journal_audit *a)
{
	const char **want = ctx;
	size_t *n = (size_t *)(void *)(uintptr_t)want[1];

	*n += strcmp(a->verb, want[0]) == 0;
	return 0;
}

static inline size_t audits(const char *verb)
{
	size_t n = 0;
	const char *want[2] = {verb, (const char *)(void *)&n};

	assert_int_equal(journal_audits(F.journal, 0, 10000, count_audit, want, NULL), 0);
	return n;
}

static inline int setup_with(int attest, int release)
{
	char path[96];
	bool existed;

	F = (struct fix){.attest = attest, .release = release, .address = "10.0.0.1"};
	F.accept = "text/plain";
	(void)snprintf(F.dir, sizeof(F.dir), "/tmp/claims-XXXXXX");
	assert_non_null(mkdtemp(F.dir));
	(void)snprintf(path, sizeof(path), "%s/journal.db", F.dir);
	assert_int_equal(loop_new(&F.loop, NULL), 0);
	assert_int_equal(journal_open(&F.journal, path, &existed, NULL), 0);
	assert_int_equal(node_ca_open(&F.ca, F.dir, "test", loop_now(F.loop), NULL), 0);
	F.proc = proc_new(F.loop);
	F.door.ca = F.ca;
	F.door.claim_key = claim_key;
	F.door.answer = take_answer;
	F.door.uid = 64030;
	for (int i = 0; i < KEYS; i++)
		F.keys[i].csr = make_csr(F.keys[i].spki);
	return 0;
}

/* Machines prove themselves by their address; burstd hands out the keys itself. */
static inline int setup_broker(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_ADDRESS, CONF_BROKER);
	restart();
	return 0;
}

/* ... or hands out a token by which the machine fetches them. */
static inline int setup_wrap(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_ADDRESS, CONF_WRAP);
	restart();
	return 0;
}

static inline int teardown(void **state)
{
	char command[128];

	(void)state;
	engine_free(F.e);
	for (size_t i = 0; i < F.nwire; i++) {
		assert_null(F.wire[i].done);
		free(F.wire[i].body);
	}
	for (size_t i = 0; i < ANSWERS_MAX; i++)
		free(F.answers[i].body);
	for (int i = 0; i < KEYS; i++)
		free(F.keys[i].csr);
	node_claims_free(F.table);
	node_ca_close(F.ca);
	proc_close(F.proc);
	journal_close(F.journal);
	loop_free(F.loop);
	(void)snprintf(command, sizeof(command), "rm -r %s", F.dir);
	assert_int_equal(system(command), 0);
	return 0;
}

/* One of its lines is this. */
static inline bool has(const char *text, const char *line)
{
	const char *p = strstr(text, line);

	return p != NULL && (p == text || p[-1] == '\n') && p[strlen(line)] == '\n';
}

#endif
