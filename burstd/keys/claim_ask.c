#include <assert.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ipaddr.h"
#include "base/jpull.h"
#include "base/mem.h"
#include "base/secret.h"
#include "keys/claim_set.h"

enum {
	STORE_S = 10, /* Retry-After when the secret store refuses burstd, or its answer cannot be
			 read */
};

/* --- what is answered --------------------------------------------------------------------------
 */

/* An answer without keys. */
static struct http_answer short_answer(enum claim_answer answer, bool text, unsigned retry_s)
{
	static const struct {
		unsigned status;
		const char *word;
	} words[CLAIM_NANSWERS] = {
		[CLAIM_SILENCE] = {503, "later"},  [CLAIM_OK] = {200, "ok"},
		[CLAIM_BYTES] = {500, "lost"},     [CLAIM_WAIT] = {202, "attesting"},
		[CLAIM_DENIED] = {403, "refused"}, [CLAIM_CONFLICT] = {409, "used"},
		[CLAIM_OVER] = {410, "over"}};
	struct http_answer an = {.status = words[answer].status,
				 .type = text ? NULL : "application/json",
				 .retry_after_s = retry_s};
	struct str s;

	str_init(&s, 128);
	str_adds(&s, text ? "" : "{");
	if (retry_s > 0)
		str_addf(&s, text ? "retry_after=%u\n" : "\"retry_after\":%u,", retry_s);
	str_addf(&s, text ? "state=%s\n" : "\"state\":\"%s\"}", words[answer].word);
	an.len = s.len;
	an.body = str_take(&s);
	return an;
}

static bool wants_text(const struct node_request *rq)
{
	const char *accept = http_header(&rq->http, "Accept");

	return accept != NULL && strstr(accept, "text/plain") != NULL;
}

/* Send the answer once what is staged is durable. */
static void reply(struct engine *e, const struct node_request *rq, struct http_answer *an,
		  enum claim_answer answer, unsigned retry_s)
{
	struct http_answer out = short_answer(answer, wants_text(rq), retry_s);

	an->later = true;
	door_answer(e, rq->http.ticket, &out);
}

static void refuse(struct http_answer *an, unsigned status, const char *why)
{
	an->status = status;
	if (why == NULL)
		return;
	an->body = mem_strdup(why);
	an->len = strlen(why);
}

/* --- who waits ---------------------------------------------------------------------------------
 */

static void unlink_ask(struct claim_ask *ask)
{
	struct claim_ask **at = &ask->e->keys->claims->asks;

	while (*at != ask)
		at = &(*at)->next;
	*at = ask->next;
	if (ask->e->keys->claims->asks_last == &ask->next)
		ask->e->keys->claims->asks_last = at;
	ask->entry->r.ask = NULL;
	free(ask->csr);
	free(ask);
}

/* The owner did not get its answer yet, and is told to come again: give it more time, so that it
 * does not count as a thief when the secret store is back. */
static void owe(struct claim_ask *ask, enum claim_answer answer)
{
	struct claim *c = &ask->entry->r.c;

	if (ask->again && c->state == CLAIM_CLAIMED &&
	    (answer == CLAIM_WAIT || answer == CLAIM_SILENCE))
		c->released_ms = engine_now(ask->e);
}

void claim_ask_end(struct claim_ask *ask, enum claim_answer answer, unsigned retry_s)
{
	struct http_answer an = short_answer(answer, ask->text, retry_s);

	owe(ask, answer);
	door_answer(ask->e, ask->ticket, &an);
	unlink_ask(ask);
}

/* Revoke a token that nobody will get. */
static void take_back(struct engine *e, const struct secrets_released *rel)
{
	if (rel->mode == CONF_WRAP)
		secrets_revoke(e, rel->accessor);
}

/* Send the keys to the owner of this public key, once the claim is durable. */
static void give(struct claim_ask *ask, const struct secrets_released *rel)
{
	struct engine *e = ask->e;
	struct claim_run *r = &ask->entry->r;
	int64_t now = engine_now(e), version = door_key_version(rel->version);
	struct node_ca_cert cert;
	struct claim_event ev = {
		.type = CLAIM_EV_RELEASE, .now_ms = now, .serial = cert.serial, .version = version};
	struct http_answer an = {0};
	const char *pem = cert.pem;
	struct err err;

	if (node_ca_sign(e->d.door->ca, ask->csr, strlen(ask->csr), r->c.node, r->c.gen,
			 engine_wall(e, now), &cert, &err) != 0) {
		log_write(e->d.log, LOG_ERROR, "a node's certificate cannot be made", "node",
			  r->c.node, "error", err.msg, NULL);
		cert.serial[0] = '\0';
		pem = NULL;
	}
	claim_text(e, r, pem, rel, ask->text, &an);
	if (an.status != 200) {
		take_back(e, rel);
	} else if (!ask->again && claims_step(e, r, &ev).answer != CLAIM_BYTES) {
		/* The claim has expired: the request was answered, and ask is freed. */
		take_back(e, rel);
		secret_wipe(&an.body);
		return;
	} else {
		claims_given(e, r, rel); /* again: the last answer was lost */
		r->cert_until_ms = cert.until_ms;
	}
	door_answer(e, ask->ticket, &an);
	unlink_ask(ask);
}

static bool may_have_them(const struct claim_ask *ask)
{
	const struct claim *c = &ask->entry->r.c;

	return ask->again ? c->state == CLAIM_CLAIMED : claim_want(c) == CLAIM_WANT_BYTES;
}

static void on_keys(void *ctx, const struct secrets_released *rel, const struct err *err)
{
	struct claim_entry *x = ctx;
	struct claim_ask *ask = x->r.ask;
	struct engine *e = x->e;

	x->asked = false; /* the question is answered */
	if (rel != NULL && ask != NULL && may_have_them(ask)) {
		x->keyless = false;
		give(ask, rel);
		return;
	}
	if (rel != NULL) /* the machine is between two requests, and will ask again */
		take_back(e, rel);
	if (rel == NULL && !x->keyless)
		log_write(e->d.log, LOG_WARN, "there are no keys for a node", "node", x->r.c.node,
			  "error", err->msg, NULL);
	x->keyless = x->keyless || rel == NULL;
	if (ask != NULL)
		claim_ask_end(ask, CLAIM_SILENCE, STORE_S);
}

void claim_store_cancel(struct claim_entry *x)
{
	if (x->asked)
		secrets_cancel(x->e, x->handle);
	x->asked = false;
}

static void run_one(struct claim_ask *ask)
{
	struct engine *e = ask->e;
	struct claim_entry *x = ask->entry;
	enum conf_release mode = (enum conf_release)e->conf->secrets.release;

	if (engine_now(e) >= ask->until_ms) {
		claim_ask_end(ask, CLAIM_WAIT, CLAIM_AGAIN_S);
		return;
	}
	if (may_have_them(ask)) {
		if (x->asked)
			return;
		if (engine_init_off(e) == NULL && /* or it would run the image's */
		    secrets_release(e, mode, on_keys, x, &x->handle, NULL) == 0)
			x->asked = true;
		else
			claim_ask_end(ask, CLAIM_SILENCE, STORE_S);
		return;
	}
}

void claim_asks_run(struct engine *e)
{
	struct claim_ask *ask = e->keys->claims->asks;

	while (ask != NULL) {
		struct claim_ask *next = ask->next;

		run_one(ask);
		ask = next;
	}
}

int64_t claim_asks_next_ms(const struct engine *e)
{
	int64_t next = INT64_MAX;

	for (const struct claim_ask *ask = e->keys->claims->asks; ask != NULL; ask = ask->next)
		next = ask->until_ms < next ? ask->until_ms : next;
	return next;
}

void claim_asks_free(struct engine *e)
{
	struct claim_ask *ask = e->keys->claims->asks;

	while (ask != NULL) {
		struct claim_ask *next = ask->next;

		unlink_ask(ask);
		ask = next;
	}
}

/* --- who asks ----------------------------------------------------------------------------------
 */

struct asking { /* a request, while it is handled */
	struct engine *e;
	const struct node_request *rq;
	struct http_answer *an;
	struct claim_body body;
	unsigned char spki[NODE_CA_SPKI_SIZE];
};

/* Hold the request; the next turn begins what it waits for. */
static void hold(struct asking *a, struct claim_run *r, bool again)
{
	struct engine *e = a->e;
	struct claim_ask *ask;

	if (r->ask != NULL)
		claim_ask_end(r->ask, CLAIM_WAIT, CLAIM_AGAIN_S);
	ask = mem_zalloc(sizeof(*ask));
	*ask = (struct claim_ask){.e = e,
				  .entry = claim_entry(r),
				  .ticket = a->rq->http.ticket,
				  .text = wants_text(a->rq),
				  .again = again,
				  .until_ms = engine_now(e) + CLAIM_HOLD_MS,
				  .csr = mem_strdup(a->body.csr)};
	*e->keys->claims->asks_last = ask;
	e->keys->claims->asks_last = &ask->next;
	r->ask = ask;
	a->an->later = true;
}

/* The claim of this create that is bound to this key, or NULL. */
static struct claim_run *owned_by(const struct claim_set *set, const unsigned char *spki)
{
	struct claim_run *r = set->first;

	while (r != NULL && (!r->c.bound || memcmp(r->c.spki, spki, sizeof(r->c.spki)) != 0))
		r = r->next_of_id;
	return r;
}

static struct claim_result ask_for(struct asking *a, struct claim_run *r)
{
	const struct claim_event ev = {.type = CLAIM_EV_ASK,
				       .now_ms = engine_now(a->e),
				       .spki = a->spki,
				       .addr = a->rq->address};

	return claims_step(a->e, r, &ev);
}

/* The machine has asked before, with this key. */
static void ask_again(struct asking *a, struct claim_run *r)
{
	struct claim_result res;
	char why[160];

	if (!claim_is_from_machine(a->e, r, a->rq, why)) {
		claims_refused(a->e, claim_entry(r)->set, a->rq->address, why);
		reply(a->e, a->rq, a->an, CLAIM_DENIED, 0);
		return;
	}
	res = ask_for(a, r);
	if (res.answer == CLAIM_WAIT || res.answer == CLAIM_BYTES)
		hold(a, r, res.answer == CLAIM_BYTES);
	else
		reply(a->e, a->rq, a->an, res.answer, 0);
}

static bool is_weak(const struct engine *e, const struct claim_set *set)
{
	return e->conf->providers[set->cloud].attest == CONF_ATTEST_ADDRESS;
}

static void ask_first(struct asking *a, struct claim_set *set, struct claim_run *r)
{
	const struct fleet_node *fn = claims_node(a->e, r);
	struct claim_result res = ask_for(a, r);
	struct claim_event ev = {.type = CLAIM_EV_ATTESTED,
				 .now_ms = engine_now(a->e),
				 .instance = fn != NULL ? fn->n.instance : "",
				 .weak = is_weak(a->e, set)};

	if (res.answer != CLAIM_WAIT) {
		reply(a->e, a->rq, a->an, res.answer, 0);
		return;
	}
	(void)claims_step(a->e, r, &ev);
	hold(a, r, false);
}

/* The secret is right, but the machine is another one.  If only one machine had the secret, it was
 * stolen from that. */
static void ask_wrongly(struct asking *a, struct claim_set *set, struct claim_run *r,
			const char *why)
{
	struct claim_result res = {.answer = CLAIM_DENIED};

	claims_refused(a->e, set, a->rq->address, why);
	if (r == NULL && !set->shared)
		r = set->first;
	if (r != NULL)
		res = ask_for(a, r);
	if (r != NULL && res.answer == CLAIM_WAIT) {
		const struct claim_event ev = {.type = CLAIM_EV_REFUSED,
					       .now_ms = engine_now(a->e)};

		res.answer = CLAIM_DENIED;
		(void)claims_step(a->e, r, &ev);
	}
	reply(a->e, a->rq, a->an, res.answer, 0);
}

/* The machine is the right one, but the times in its document are wrong: a clock is wrong, and
 * nobody is a thief.  That will not change while the machine bills: release it as one that did not
 * come up, so that its pool's circuit opens before this costs much. */
static void ask_untimely(struct asking *a, struct claim_set *set, struct claim_run *r,
			 const char *why)
{
	if (r->c.state != CLAIM_ISSUED) { /* it is bound to another key, or over */
		reply(a->e, a->rq, a->an, ask_for(a, r).answer, 0);
		return;
	}
	claims_refused(a->e, set, a->rq->address, why);
	engine_event(a->e, r->c.node, r->c.gen, "boot-failed", why);
	claims_fail(a->e, r, "claim", why, false);
	reply(a->e, a->rq, a->an, CLAIM_DENIED, 0);
}

/* A list may still show the instance: have the machine ask again until the claim expires. */
static void wait_for_provider(struct asking *a, const struct claim_set *set)
{
	const struct claim_run *r = set->first;

	while (r != NULL && (r->c.state == CLAIM_EXPIRED || r->c.state == CLAIM_REVOKED))
		r = r->next_of_id;
	if (r == NULL)
		reply(a->e, a->rq, a->an, CLAIM_OVER, 0);
	else
		reply(a->e, a->rq, a->an, CLAIM_WAIT, CLAIM_AGAIN_S);
}

static void judge(struct asking *a, struct claim_set *set)
{
	struct claim_run *own = owned_by(set, a->spki), *r;
	char why[160];

	if (own != NULL && claim_want(&own->c) != CLAIM_WANT_PROOF) {
		ask_again(a, own);
		return;
	}
	switch (claim_prove(a->e, set, &a->body, a->rq, &r, why)) {
	case CLAIM_PROVED:
		if (own != NULL && own != r)
			ask_wrongly(a, set, own, "it uses the key of another machine");
		else
			ask_first(a, set, r);
		break;
	case CLAIM_UNKNOWN_YET:
		wait_for_provider(a, set);
		break;
	case CLAIM_UNTIMELY:
		ask_untimely(a, set, r, why);
		break;
	case CLAIM_DISPROVED:
		ask_wrongly(a, set, r, why);
		break;
	}
}

/* A certificate request is no secret, so check that the client has its key, which TLS has proved.
 */
static void check_key(struct asking *a, struct claim_set *set)
{
	const struct node_peer *p = &a->rq->peer;

	if (p->self && memcmp(a->spki, p->spki, sizeof(a->spki)) == 0) {
		judge(a, set);
	} else if (p->self) {
		struct claim_run *own = owned_by(set, a->spki);

		memcpy(a->spki, p->spki, sizeof(a->spki));
		ask_wrongly(a, set, own, "its certificate has another key than its request");
	} else {
		claims_refused(a->e, set, a->rq->address, "no certificate for its key");
		reply(a->e, a->rq, a->an, CLAIM_DENIED, 0);
	}
}

static bool is_right(const struct engine *e, const char *id, const char *secret)
{
	char want[CLAIM_SECRET_SIZE];
	bool same;

	claims_secret(e, id, want);
	same = strlen(secret) == strlen(want) && CRYPTO_memcmp(secret, want, strlen(want)) == 0;
	OPENSSL_cleanse(want, sizeof(want));
	return same;
}

void claim_ask(struct engine *e, const struct node_request *rq, struct http_answer *an)
{
	struct claim_set *set = NULL;
	struct err err = {0};
	struct asking *a = mem_zalloc(sizeof(*a));

	a->e = e;
	a->rq = rq;
	a->an = an;
	if (claim_body_parse(&a->body, rq->http.body, rq->http.len, &err) != 0)
		refuse(an, 400, err.msg);
	else
		set = claims_named(e, a->body.id);
	if (err.code == 0 && set == NULL)
		refuse(an, 401, NULL);
	if (set != NULL && !is_right(e, a->body.id, a->body.secret)) {
		refuse(an, 401, NULL);
	} else if (set != NULL &&
		   node_ca_read_csr(a->body.csr, strlen(a->body.csr), a->spki, &err) != 0) {
		refuse(an, 400, err.msg);
	} else if (set != NULL) {
		check_key(a, set);
	}
	claim_body_wipe(&a->body);
	free(a);
}

/* --- nonces and alarms -------------------------------------------------------------------------
 */

void claim_nonce(struct engine *e, const struct node_request *rq, struct http_answer *an)
{
	static const char before[] = "/v1/claim/", behind[] = "/nonce";
	const char *path = rq->http.path + strlen(before);
	size_t n = strcspn(path, "/");
	char id[CLAIM_ID_MAX + 1] = "", nonce[33];

	if (n < sizeof(id) && strcmp(path + n, behind) == 0)
		memcpy(id, path, n);
	if (claims_named(e, id) == NULL) {
		refuse(an, 401, NULL);
		return;
	}
	claim_nonce_make(e, id, nonce);
	refuse(an, 200, nonce);
}

struct alarm {
	char id[CLAIM_ID_MAX + 1], secret[CLAIM_BODY_SECRET_MAX + 1], reason[33];
};

static int read_alarm(const struct node_request *rq, struct alarm *out)
{
	struct jpull j;
	struct jpull_value key;
	int rc = 0;

	jpull_init(&j, rq->http.body, rq->http.len);
	(void)jpull_enter(&j, '{');
	while (jpull_key(&j, &key)) {
		struct jpull_value v = jpull_take(&j);

		if (jpull_is(&key, "claim_id"))
			rc |= jpull_text(&v, out->id, sizeof(out->id));
		else if (jpull_is(&key, "claim_secret"))
			rc |= jpull_text(&v, out->secret, sizeof(out->secret));
		else if (jpull_is(&key, "reason"))
			rc |= jpull_text(&v, out->reason, sizeof(out->reason));
		if (rc < 0)
			return -1;
	}
	if (!jpull_end(&j))
		return -1;
	/* The reason is for people. */
	return out->reason[strspn(out->reason, "abcdefghijklmnopqrstuvwxyz_")] == '\0' ? 0 : -1;
}

static bool is_its_own(const struct claim_run *r, const struct node_peer *p)
{
	char urn[sizeof(p->urn)], g[FMT_U64_SIZE];

	(void)snprintf(urn, sizeof(urn), "urn:burst:node:%s:%s", r->c.node, fmt_u64(g, r->c.gen));
	return p->known && r->c.bound && strcmp(p->urn, urn) == 0 &&
	       memcmp(p->spki, r->c.spki, sizeof(r->c.spki)) == 0;
}

/* The claim of the machine that raises an alarm: by its certificate, or by its address. */
static struct claim_run *who_is_it(const struct engine *e, const struct claim_set *set,
				   const struct node_request *rq)
{
	for (struct claim_run *r = set->first; r != NULL; r = r->next_of_id) {
		const struct fleet_node *fn = claims_node(e, r);

		if (rq->peer.known ? is_its_own(r, &rq->peer)
				   : fn != NULL && ipaddr_same(fn->n.addr, rq->address))
			return r;
	}
	return NULL;
}

/* The node's token is gone: perhaps it expired, or the node used it and the answer was lost.  A
 * store that stands still for a minute must not end working nodes.  The node goes on with the keys
 * that it has, or fails by itself. */
static bool is_unsure(const struct alarm *said)
{
	return strcmp(said->reason, "unwrap_late") == 0 || strcmp(said->reason, "unwrap_lost") == 0;
}

/* Is the alarm written down?  Callers without the secret, with the secret, and with a certificate
 * have separate limits, so that none uses up another's, or the disk. */
static bool is_told(struct claim_set *set, struct claim_run *r, bool right, bool proved)
{
	if (right)
		return set->told++ < CLAIM_TOLD_MAX;
	return proved ? r->alarms++ < CLAIM_TOLD_MAX : set->noise++ < CLAIM_NOISE_MAX;
}

void claim_alarm(struct engine *e, const struct node_request *rq, struct http_answer *an)
{
	struct claim_event ev = {.type = CLAIM_EV_ALARM, .now_ms = engine_now(e)};
	struct alarm said = {.id = ""};
	int rc = read_alarm(rq, &said);
	struct claim_set *set = rc == 0 ? claims_named(e, said.id) : NULL;
	struct claim_run *r;
	bool right = set != NULL && is_right(e, set->id, said.secret);
	char text[160];

	OPENSSL_cleanse(said.secret, sizeof(said.secret));
	if (set == NULL) {
		refuse(an, rc == 0 ? 401 : 400, NULL);
		return;
	}
	r = who_is_it(e, set, rq);
	if (r == NULL && !set->shared)
		r = set->first;
	ev.proved = r != NULL && (right || is_its_own(r, &rq->peer));
	r = r != NULL ? r : set->first;
	assert(r != NULL); /* a set without claims is freed */
	(void)snprintf(text, sizeof(text), "%s, from %s%s",
		       said.reason[0] != '\0' ? said.reason : "no reason", rq->address,
		       ev.proved ? "" : ", which proves nothing");
	if (is_told(set, r, right, ev.proved))
		engine_event(e, r->c.node, r->c.gen,
			     is_unsure(&said) ? "token-unknown" : "claim-alarm", text);
	ev.proved = ev.proved && !is_unsure(&said);
	(void)claims_step(e, r, &ev);
	reply(e, rq, an, CLAIM_OK, 0);
}
