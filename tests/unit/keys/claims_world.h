/* claims_world.h - what surrounds an engine whose machines claim, kept in F: the journal, the
 * authority and the listener's table are real; the network is the test's. */
#ifndef TESTS_CLAIMS_WORLD_H
#define TESTS_CLAIMS_WORLD_H

#include "tests/unit/engine/loaded_parts.h"

#include "cloud/cloud.h"
#include "io/http_client.h"
#include "keys/claim_set.h"
#include "keys/keys.h"
#include "store/journal_audit.h"
#include "store/journal_events.h"

enum { KEYS = 4, WIRE_MAX = 64, ANSWERS_MAX = 64, CREATES_MAX = 24 };

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
	const struct secret_store_ops *(*store)(const char *name); /* without claims_store.h */
	/* creates on an engine of keys alone (keys_engine.h) */
	struct {
		char token[PROVIDER_WORD_MAX + 1];
		char *user_data; /* "": none */
	} creates[CREATES_MAX];
	size_t ncreates;
} F;

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

/* --- what is on record -------------------------------------------------------------------------
 */

/* Count events of this type in the journal. */
static inline int count_event(void *ctx, const struct journal_event *ev)
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

static inline int count_audit(void *ctx, const struct journal_audit *a)
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

/* One of its lines is this. */
static inline bool has(const char *text, const char *line)
{
	const char *p = strstr(text, line);

	return p != NULL && (p == text || p[-1] == '\n') && p[strlen(line)] == '\n';
}

#endif
