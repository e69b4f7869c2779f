/* sim_door.c - the part of io/ for machines that claim, and the network between them and burstd.
 *
 * The listener's check (io/node_claims.c) is the real one; TLS and X.509 are numbers. */
#include "sim_rotate.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "io/node_ca.h"
#include "io/node_claims.h"
#include "keys/keys_api.h"

enum { GIVE_UP_MS = 30 * SIM_SECOND, DAY_MS = 86400000 };

const char *http_header(const struct http_request *rq, const char *name)
{
	(void)rq;
	return strcmp(name, "Accept") == 0 ? "text/plain" : NULL;
}

/* --- the authority ---------------------------------------------------------------------------- */

struct node_ca {
	struct world *w;
};

static void make_spki(uint32_t key, unsigned char spki[NODE_CA_SPKI_SIZE])
{
	memset(spki, 0, NODE_CA_SPKI_SIZE);
	memcpy(spki, &key, sizeof(key));
}

const char *node_ca_trust(const struct node_ca *ca)
{
	(void)ca;
	return "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
}

int node_ca_read_csr(const char *pem, size_t len, unsigned char spki[NODE_CA_SPKI_SIZE],
		     struct err *e)
{
	if (len < 5 || strncmp(pem, "key ", 4) != 0)
		return err_set(e, ERR_INVALID, "no request for a certificate");
	make_spki((uint32_t)strtoul(pem + 4, NULL, 10), spki);
	return 0;
}

int node_ca_sign(struct node_ca *ca, const char *pem, size_t len, const char *node, uint64_t gen,
		 int64_t now_ms, struct node_ca_cert *out, struct err *e)
{
	struct sim_boot *b = ca->w->boot;

	if (node_ca_read_csr(pem, len, out->spki, e) != 0)
		return -1;
	(void)snprintf(out->pem, sizeof(out->pem), "%s/%" PRIu64 " %.20s", node, gen, pem);
	(void)snprintf(out->serial, sizeof(out->serial), "%" PRIx64, ++b->last_serial);
	out->until_ms = now_ms + DAY_MS;
	return 0;
}

/* --- documents --------------------------------------------------------------------------------
 *
 * "i-7", signed by nobody: machines have none but their own. */

static int open_attest(void **self, const struct attest_conf *conf, struct err *e)
{
	(void)conf;
	(void)e;
	*self = NULL;
	return 0;
}

static void close_attest(void *self)
{
	(void)self;
}

static int verify(const void *self, const struct attest_expect *want, const char *doc, size_t len,
		  int64_t now_ms, struct attest_identity *out, struct err *e)
{
	(void)self;
	(void)want;
	(void)now_ms;
	if (len < 3 || strncmp(doc, "i-", 2) != 0)
		return err_set(e, ERR_INVALID, "no document");
	*out = (struct attest_identity){.created_ms = 0};
	(void)snprintf(out->instance, sizeof(out->instance), "%.20s", doc);
	return 0;
}

static const struct attest_ops documents = {
	.kind = ATTEST_AWS, .open = open_attest, .close = close_attest, .verify = verify};

static const struct attest_ops *verifier(enum attest_kind k)
{
	return k == ATTEST_AWS ? &documents : NULL;
}

/* --- requests ---------------------------------------------------------------------------------
 */

static const struct {
	const char *method, *path;
} verbs[] = {
	[SIM_CLAIM] = {"POST", "/v1/claim"},
	[SIM_RAISE_ALARM] = {"POST", "/v1/alarm"},
	[SIM_CONFIRM] = {"POST", "/v1/node/confirm"},
	[SIM_REPORT_READY] = {"POST", "/v1/node/ready"},
	[SIM_REPORT_FAILED] = {"POST", "/v1/node/failed"},
	[SIM_HEARTBEAT] = {"POST", "/v1/node/heartbeat"},
	[SIM_EVENT] = {"POST", "/v1/node/event"},
	[SIM_KEYS_AGAIN] = {"GET", "/v1/node/keys"},
};

struct sim_post *sim_door_new(struct inst *about, enum sim_verb verb,
			      void (*fn)(struct world *w, struct sim_post *p,
					 const struct sim_reply *r))
{
	struct sim_post *p = mem_zalloc(sizeof(*p));

	p->about = about;
	p->verb = verb;
	p->fn = fn;
	(void)snprintf(p->address, sizeof(p->address), "%s", about->addr);
	return p;
}

static void base64(char *out, const char *text)
{
	(void)EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)strlen(text));
}

void sim_door_claim(struct world *w, struct sim_post *p, const char *secret, uint32_t instance)
{
	bool docs = w->set.attest == CONF_ATTEST_AWS;
	char csr[32], csr64[64], doc[32], doc64[64];

	(void)snprintf(csr, sizeof(csr), "key %u", (unsigned)p->key);
	(void)snprintf(doc, sizeof(doc), "i-%u", (unsigned)instance);
	base64(csr64, csr);
	base64(doc64, doc);
	(void)snprintf(p->body, sizeof(p->body),
		       "{\"v\":1,\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"csr\":\"%s\","
		       "\"attest\":{\"type\":\"%s\",\"doc\":\"%s\"}}",
		       p->about->claim_id, secret, csr64, docs ? "aws-rsa2048" : "none",
		       docs ? doc64 : "");
}

static void unref(struct world *w, struct sim_post *p)
{
	struct sim_post **at = &w->boot->posts;

	if (--p->refs > 0)
		return;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	free(p);
}

static void finish(struct world *w, struct sim_post *p, const struct sim_reply *r)
{
	if (p->over)
		return;
	p->over = true;
	p->fn(w, p, r);
}

static void on_reply(struct world *w, void *ctx, uint64_t arg)
{
	struct sim_post *p = ctx;

	(void)arg;
	finish(w, p, &p->reply);
	unref(w, p);
}

static void on_timeout(struct world *w, void *ctx, uint64_t arg)
{
	(void)arg;
	finish(w, ctx, NULL);
	unref(w, ctx);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Of lines key=value; false: there is none. */
static bool get(const char *text, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);

	for (const char *p = text; p != NULL && *p != '\0'; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, key, n) != 0 || p[n] != '=')
			continue;
		(void)snprintf(out, size, "%.*s", (int)strcspn(p + n + 1, "\n"), p + n + 1);
		return true;
	}
	out[0] = '\0';
	return false;
}

static uint64_t get_number(const char *text, const char *key)
{
	char v[32];

	return get(text, key, v, sizeof(v)) ? strtoull(v + strspn(v, "t-"), NULL, 10) : 0;
}

/* "keys":{"version":"8","switch_ms":1764000000000} */
static void read_beat(struct sim_reply *r, const char *text)
{
	const char *keys = strstr(text, "\"keys\":{\"version\":\""), *at;
	const char *now = strstr(text, "\"now_ms\":");

	if (keys == NULL || now == NULL)
		return;
	r->want = strtoll(strchr(keys, '{') + strlen("{\"version\":\""), NULL, 10);
	r->now_ms = strtoll(now + strlen("\"now_ms\":"), NULL, 10);
	at = strstr(keys, "\"switch_ms\":");
	if (at != NULL)
		r->switch_ms = strtoll(at + strlen("\"switch_ms\":"), NULL, 10);
}

static void read_answer(struct sim_post *p, const struct http_answer *an)
{
	struct sim_reply *r = &p->reply;
	char *text = mem_zalloc(an->len + 1), how[16];

	if (an->len > 0)
		memcpy(text, an->body, an->len);
	*r = (struct sim_reply){.switch_ms = -1,
				.status = an->status,
				.retry_s = (unsigned)get_number(text, "retry_after"),
				.gen = get_number(text, "generation"),
				.token = get_number(text, "wrap_token"),
				.version = (int64_t)get_number(text, "version")};
	(void)get(text, "node", r->node, sizeof(r->node));
	r->keys = get(text, "release", how, sizeof(how)) ||
		  get(text, "munge_key", how, sizeof(how)) || r->token != 0;
	r->switches = get(text, "switch", how, sizeof(how)) && strcmp(how, "yes") == 0;
	read_beat(r, text);
	free(text);
}

/* It leaves burstd, who may die of it. */
static void leave(struct world *w, struct sim_post *p, const struct http_answer *an)
{
	bool lost;

	p->waits = false;
	if (world_alive(w)) {
		read_answer(p, an);
		SIM_TRACE(w, "door %" PRIu64 ": %u%s", p->ticket, p->reply.status,
			  p->reply.keys ? ", with keys" : "");
		sim_keys_leave(w, p);
		lost = world_fault(w, SIM_DOOR_REPLY_LOST);
		w->totals->met[SIM_DOOR_REPLY_LOST][NODE_NSTATES] += lost;
		if (!lost) {
			p->refs++;
			world_at(w, w->now + world_between(w, 5, 800), on_reply, p, 0);
		}
		(void)world_alive(w);
	}
	free(an->body);
}

static void answer(void *ctx, uint64_t ticket, const struct http_answer *an)
{
	struct world *w = ctx;
	struct sim_post *p = w->boot->posts;

	while (p != NULL && (p->ticket != ticket || !p->waits))
		p = p->next;
	if (p == NULL) {
		world_fail(w, "an answer to nobody: %" PRIu64, ticket);
		free(an->body);
		return;
	}
	leave(w, p, an);
	unref(w, p);
}

static void serve(struct world *w, struct sim_post *p)
{
	struct node_request rq = {.http = {.method = verbs[p->verb].method,
					   .path = verbs[p->verb].path,
					   .query = "",
					   .authorization = p->cred[0] != '\0' ? p->cred : NULL,
					   .from = p->address,
					   .body = p->body,
					   .len = strlen(p->body),
					   .ticket = p->ticket}};
	struct http_answer an = {.status = 500};

	(void)snprintf(rq.address, sizeof(rq.address), "%s", p->address);
	rq.peer.known = p->gen != 0;
	(void)snprintf(rq.peer.cn, sizeof(rq.peer.cn), "%s", p->node);
	(void)snprintf(rq.peer.urn, sizeof(rq.peer.urn), "urn:burst:node:%s:%" PRIu64, p->node,
		       p->gen);
	make_spki(rq.peer.known ? p->key : p->shown, rq.peer.spki);
	rq.peer.self = !rq.peer.known && p->shown != 0;
	rq.port = p->port;
	p->waits = true;
	p->refs++;
	sim_keys_come(w, p);
	if (!node_claims_check(w->boot->table, &rq, &an))
		engine_node_request(w->engine, &rq, &an);
	if (an.later)
		return;
	leave(w, p, &an);
	unref(w, p);
}

static void on_arrival(struct world *w, void *ctx, uint64_t arg)
{
	struct sim_post *p = ctx;
	bool lost = world_fault(w, SIM_DOOR_LOST);

	(void)arg;
	w->totals->met[SIM_DOOR_LOST][NODE_NSTATES] += lost;
	SIM_TRACE(w, "door %" PRIu64 ": %s %s/%" PRIu64 " (i-%u)%s from %s%s", p->ticket,
		  verbs[p->verb].path, p->about->node, p->about->gen, (unsigned)p->about->number,
		  p->thief ? ", a thief" : "", p->address, lost ? " is lost" : "");
	if (w->engine != NULL && !w->crashed && !sim_frozen(w) && !lost)
		serve(w, p);
	unref(w, p);
}

void sim_door_post(struct world *w, struct sim_post *p)
{
	p->next = w->boot->posts;
	w->boot->posts = p;
	p->ticket = ++w->boot->last_ticket;
	p->over = p->waits = false;
	p->refs = 2;
	world_at(w, w->now + world_between(w, 1, 700), on_arrival, p, 0);
	world_at(w, w->now + GIVE_UP_MS, on_timeout, p, 0);
}

/* --- lives ------------------------------------------------------------------------------------ */

void sim_boot_init(struct world *w)
{
	w->boot = mem_zalloc(sizeof(*w->boot));
	w->boot->w = w;
	w->boot->version = 7;
	w->boot->ca = mem_zalloc(sizeof(struct node_ca));
	w->boot->ca->w = w;
	sim_rotate_init(w);
	w->door = (struct engine_door){
		.ca = w->boot->ca,
		.verifier = verifier,
		.answer = answer,
		.ctx = w,
		.claim_key = (const unsigned char *)"0123456789abcdef0123456789abcdef"};
}

void sim_boot_start(struct world *w)
{
	w->boot->table = node_claims_new();
	w->door.table = w->boot->table;
	w->boot->told_version = 0;
}

/* What was asked and not answered is cut off. */
void sim_boot_end(struct world *w)
{
	struct sim_post *p = w->boot->posts;

	while (p != NULL) {
		struct sim_post *next = p->next;

		if (p->waits) {
			p->waits = false;
			unref(w, p);
		}
		p = next;
	}
	node_claims_free(w->boot->table);
	w->boot->table = w->door.table = NULL;
}

void sim_boot_fini(struct world *w)
{
	struct sim_boot *b = w->boot;

	while (b->posts != NULL) {
		struct sim_post *p = b->posts;

		b->posts = p->next;
		free(p);
	}
	sim_rotate_fini(w);
	node_claims_free(b->table);
	free(b->tokens);
	free(b->given);
	free(b->ca);
	free(b);
	w->boot = NULL;
}
