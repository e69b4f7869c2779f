/* bare_door.h - the API for nodes on a bare struct engine with three nodes; journal, claims, munge,
 * the authority and the listener are replaced by the test. */
#ifndef TESTS_BARE_DOOR_H
#define TESTS_BARE_DOOR_H

#include "tests/unit/engine/bare_engine.h"
#include <unistd.h>

#include "cloud/cloud.h"
#include "io/loop.h"
#include "jobs/jobs.h"
#include "keys/door.h"
#include "keys/keys.h"
#include "keys/vouchers.h"
#include "store/journal_audit.h"
#include "tests/unit/engine/bare_state.h"

enum { LATE_MAX = 8, TEXT = 4096 };

static struct bare {
	struct engine e;
	struct conf conf;
	struct cloud cloud;
	struct engine_door door;
	struct claim_run a, b, c; /* claims of c1 and c2; c3's was lost */
	char *urls[3];
	char events[TEXT], audits[TEXT], fails[TEXT], notices[TEXT];
	const char *version; /* of the keys, by the store */
	unsigned timers;     /* timers set: a turn will come */
	struct {
		uint64_t ticket;
		struct http_answer an;
	} late[LATE_MAX];
	size_t nlate;
	struct { /* the credential under check */
		char credential[64], node[65], host[64], path[64], body[256];
		munge_check_fn fn;
		void *ctx;
		bool full;
	} munge;
	int commits;
	bool follows;
	struct http_answer an; /* reply to the last request */
	char said[TEXT];       /* its body */
} B;

/* --- the rest of the engine -------------------------------------------------------------------
 */

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	char line[700];

	(void)snprintf(line, sizeof(line), "%s %d %s: %s\n", node, (int)gen, type, detail);
	add(B.events, TEXT, line, "", "");
	e->staging.due = true;
}

void engine_commit(struct engine *e)
{
	B.commits++;
	if (B.follows) /* the commit stages something again */
		return;
	e->staging.due = false;
	e->staging.n = 0;
}

void journal_put_audit(struct journal_tx *tx, const struct journal_audit *a)
{
	(void)tx;
	add(B.audits, TEXT, a->actor, " ", a->verb);
	add(B.audits, TEXT, ": ", a->reason, "\n");
}

void timer_at(struct timer *t, int64_t when_ms)
{
	(void)t;
	(void)when_ms;
	B.timers++;
}

/* Make durable what is staged. */
static inline void commit(void)
{
	B.e.staging.due = false;
	B.e.count.commits++;
	door_part.at[PART_SEND](&B.e);
}

void engine_turn(struct engine *e)
{
	if (!e->dead)
		commit();
}

int64_t notice_when(const struct cloud *c, enum provider_notice_kind kind, int64_t at_ms)
{
	(void)c;
	(void)kind;
	return at_ms;
}

void notice_said(struct engine *e, const struct engine_notice *n, struct engine_notice_end *out)
{
	char text[200];

	(void)snprintf(text, sizeof(text), "%s %d %lld %s (%s)\n", n->instance, (int)n->kind,
		       (long long)(n->at_ms != 0 ? n->at_ms - W.now : 0), n->reason, n->by);
	add(B.notices, TEXT, text, "", "");
	*out = (struct engine_notice_end){.so = ENGINE_NOTICE_TAKEN, .node = n->instance};
	e->staging.due = true;
}

const char *secrets_version(const struct engine *e)
{
	(void)e;
	return B.version;
}

bool rotate_takes(const struct engine *e, int64_t version, int64_t claimed)
{
	int64_t current = door_key_version(secrets_version(e));

	return version == (current != 0 ? current : claimed);
}

void rotate_tell(const struct engine *e, const struct claim_run *r, struct str *out)
{
	(void)e;
	(void)r;
	(void)out;
}

void door_keys(struct engine *e, struct claim_run *r, const struct node_request *rq,
	       struct http_answer *an)
{
	(void)e;
	(void)r;
	(void)rq;
	an->status = 200;
}

void door_keys_free(struct engine *e)
{
	(void)e;
}

/* --- claims ----------------------------------------------------------------------------------- */

const struct voucher *vouchers_of(const struct engine *e, const char *node, uint64_t gen)
{
	(void)e;
	(void)node;
	(void)gen;
	return NULL;
}

struct claim_run *claims_of(const struct engine *e, const char *node, uint64_t gen)
{
	(void)e;
	if (gen == B.a.c.gen && strcmp(node, B.a.c.node) == 0)
		return &B.a;
	if (B.c.c.gen != 0 && gen == B.c.c.gen && strcmp(node, B.c.c.node) == 0)
		return &B.c;
	return gen == B.b.c.gen && strcmp(node, B.b.c.node) == 0 ? &B.b : NULL;
}

struct claim_run *claims_adopt(struct engine *e, const struct fleet_node *fn,
			       const unsigned char spki[CLAIM_SPKI_SIZE])
{
	claim_init(&B.c.c, "lost", fn->n.name, fn->n.gen);
	claim_adopt(&B.c.c, W.now, spki);
	e->staging.due = true;
	return &B.c;
}

struct claim_result claims_step(struct engine *e, struct claim_run *r, const struct claim_event *ev)
{
	struct claim_result res = claim_step(&r->c, ev);

	e->staging.due = e->staging.due || res.changed;
	return res;
}

void claims_fail(struct engine *e, struct claim_run *r, const char *step, const char *why,
		 bool alarm)
{
	add(B.fails, TEXT, r->c.node, " ", step);
	add(B.fails, TEXT, ": ", why, alarm ? " ALARM\n" : "\n");
	e->staging.due = true;
}

static inline void asked(const struct node_request *rq, struct http_answer *an, const char *what)
{
	(void)rq;
	door_say(an, 202, what);
}

void claim_ask(struct engine *e, const struct node_request *rq, struct http_answer *an)
{
	e->staging.due = true; /* as if ATTESTING was staged */
	asked(rq, an, "ask");
}

void claim_nonce(struct engine *e, const struct node_request *rq, struct http_answer *an)
{
	(void)e;
	asked(rq, an, "nonce");
}

void claim_alarm(struct engine *e, const struct node_request *rq, struct http_answer *an)
{
	(void)e;
	asked(rq, an, "alarm");
}

/* --- munge, the authority --------------------------------------------------------------------- */

struct munge_check {
	char socket[64];
};

struct munge_check *munge_check_new(struct loop *l, const char *socket)
{
	struct munge_check *m = mem_zalloc(sizeof(*m));

	(void)l;
	(void)snprintf(m->socket, sizeof(m->socket), "%s", socket);
	return m;
}

void munge_check_free(struct munge_check *m)
{
	if (m != NULL) {
		free(B.munge.ctx);
		B.munge.ctx = NULL;
	}
	free(m);
}

const char *munge_word_str(enum munge_word w)
{
	return w == MUNGE_REPLAYED ? "replayed" : "wrong";
}

int munge_check_begin(struct munge_check *m, const struct munge_ask *ask, munge_check_fn fn,
		      void *ctx, struct err *e)
{
	(void)m;
	if (B.munge.full)
		return err_set(e, ERR_LIMIT, "too many");
	assert_null(B.munge.ctx);
	assert_int_equal(ask->uid, 0);
	(void)snprintf(B.munge.credential, sizeof(B.munge.credential), "%s", ask->credential);
	(void)snprintf(B.munge.node, sizeof(B.munge.node), "%s", ask->node);
	(void)snprintf(B.munge.host, sizeof(B.munge.host), "%s,%s", ask->hosts[0], ask->hosts[1]);
	assert_null(ask->hosts[2]);
	(void)snprintf(B.munge.path, sizeof(B.munge.path), "%s %s", ask->method, ask->path);
	(void)snprintf(B.munge.body, sizeof(B.munge.body), "%.*s", (int)ask->len, ask->body);
	B.munge.fn = fn;
	B.munge.ctx = ctx;
	return 0;
}

/* Let munged answer. */
static inline void munge_says(enum munge_word word)
{
	const struct munge_end end = {
		.word = word, .why = "w", .cred = word == MUNGE_GOOD ? "MUNGE:cred:" : ""};
	void *ctx = B.munge.ctx;

	assert_non_null(ctx);
	B.munge.ctx = NULL;
	B.munge.fn(ctx, &end);
	free(ctx);
}

/* The first byte of a request's text fills the hash of its key. */
int node_ca_read_csr(const char *pem, size_t len, unsigned char spki[NODE_CA_SPKI_SIZE],
		     struct err *e)
{
	if (len == 0 || pem[0] == 'X')
		return err_set(e, ERR_INVALID, "no request");
	memset(spki, pem[0], NODE_CA_SPKI_SIZE);
	return 0;
}

int node_ca_sign(struct node_ca *ca, const char *pem, size_t len, const char *node, uint64_t gen,
		 int64_t now_ms, struct node_ca_cert *out, struct err *e)
{
	(void)ca;
	(void)e;
	(void)snprintf(out->pem, sizeof(out->pem), "-----\n%.*s of %s %d\n", (int)len, pem, node,
		       (int)gen);
	out->until_ms = now_ms + 86400000;
	return 0;
}

/* --- the listener ----------------------------------------------------------------------------- */

static inline void on_answer(void *ctx, uint64_t ticket, const struct http_answer *an)
{
	assert_ptr_equal(ctx, &B);
	assert_true(B.nlate < LATE_MAX);
	B.late[B.nlate].ticket = ticket;
	B.late[B.nlate++].an = *an;
}

/* Assert the late reply to that ticket, and put its body into B.said. */
static inline void assert_late(size_t i, uint64_t ticket, unsigned status)
{
	assert_true(i < B.nlate);
	assert_int_equal(B.late[i].ticket, ticket);
	assert_int_equal(B.late[i].an.status, status);
	(void)snprintf(B.said, sizeof(B.said), "%s",
		       B.late[i].an.body != NULL ? B.late[i].an.body : "");
}

static const char *authorization = "MUNGE MUNGE:abc:";

/* Send a request with the certificate of node and gen, for the key of `key`; tickets are 1, 2,
 * ... */
static inline unsigned by(const char *node, int gen, char key, const char *method, const char *path,
			  const char *body)
{
	static uint64_t ticket;
	struct node_request rq = {.http = {.method = method,
					   .path = path,
					   .query = "",
					   .authorization = authorization,
					   .body = body,
					   .len = strlen(body),
					   .ticket = ++ticket},
				  .peer = {.known = true}};

	if (B.nlate == 0 && B.timers == 0)
		ticket = rq.http.ticket = 1;
	(void)snprintf(rq.peer.cn, sizeof(rq.peer.cn), "%s", node);
	(void)snprintf(rq.peer.urn, sizeof(rq.peer.urn), "urn:burst:node:%s:%d", node, gen);
	memset(rq.peer.spki, key, sizeof(rq.peer.spki));
	free(B.an.body);
	B.an = (struct http_answer){.status = 500};
	engine_node_request(&B.e, &rq, &B.an);
	(void)snprintf(B.said, sizeof(B.said), "%s", B.an.body != NULL ? B.an.body : "");
	return B.an.later ? 0 : B.an.status;
}

static inline unsigned post(const char *what, const char *body)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/v1/node/%s", what);
	return by("c1", 2, 'a', "POST", path, body);
}

/* ... and the status of its reply once all is durable. */
static inline unsigned post_through(const char *what, const char *body)
{
	unsigned status = post(what, body);

	if (status != 0)
		return status;
	commit();
	assert_true(B.nlate > 0);
	assert_late(B.nlate - 1, B.late[B.nlate - 1].ticket, B.late[B.nlate - 1].an.status);
	return B.late[B.nlate - 1].an.status;
}

#define ME   "{\"v\":1,\"node\":\"c1\",\"generation\":2"
#define KEYS ME ",\"key_version\":7}"

static inline void assert_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static inline struct fleet_node *put(const char *name, uint64_t gen, enum node_state state,
				     const char *addr)
{
	struct node n;

	node_init(&n, name, gen, W.now);
	n.state = state;
	(void)snprintf(n.addr, sizeof(n.addr), "%s", addr);
	fleet_name(&B.e.fleet, name, 0)->listed = true;
	return fleet_add(&B.e.fleet, &n);
}

static inline void put_claim(struct claim_run *r, const char *node, uint64_t gen, char key,
			     enum claim_state state)
{
	claim_init(&r->c, "token", node, gen);
	r->c.state = state;
	r->c.bound = true;
	r->c.version = 7;
	memset(r->c.spki, key, sizeof(r->c.spki));
	r->c.released_ms = W.now;
}

static int setup(void **state)
{
	static char one[] = "https://burst.example.com:8443", two[] = "https://[2001:db8::1]:8443/";

	(void)state;
	W = (struct world){.now = BEGAN};
	B = (struct bare){.urls = {one, two}, .version = "7"};
	bare_state(&B.e);
	B.conf.nodes.urls = B.urls;
	B.conf.nodes.line = 1;
	B.door = (struct engine_door){.answer = on_answer, .ctx = &B};
	B.e.conf = &B.conf;
	B.e.d.door = &B.door;
	B.e.started = true;
	fleet_init(&B.e.fleet, 1);
	(void)fleet_name(&B.e.fleet, "c1", 0);
	(void)put("c1", 1, NODE_GONE, "192.0.2.9");
	(void)put("c1", 2, NODE_READY, "192.0.2.1");
	(void)put("c2", 5, NODE_BOOTING, "192.0.2.2");
	(void)put("c3", 1, NODE_BOOTING, "");
	put_claim(&B.a, "c1", 2, 'a', CLAIM_CONFIRMED);
	put_claim(&B.b, "c2", 5, 'b', CLAIM_CLAIMED);
	assert_int_equal(door_part.open(&B.e, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	door_part.at[PART_FREE](&B.e);
	fleet_fini(&B.e.fleet);
	for (size_t i = 0; i < B.nlate; i++)
		free(B.late[i].an.body);
	free(B.an.body);
	B.an.body = NULL;
	return 0;
}

#endif
