/* bare_cloud.h - one provider on a bare struct engine, with the real cloud*.c, session.c, login.c
 * and listen.c.  The test answers requests, the oldest first; what the engine is told is kept in
 * one story, in order. */
#ifndef TESTS_BARE_CLOUD_H
#define TESTS_BARE_CLOUD_H

#include "cloud/cloud.h"
#include "io/http_client.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

enum { WIRE_MAX = 64 };

static struct bare {
	struct engine e;
	struct conf conf;
	struct conf_provider provider;
	struct conf_pool pools[3];
	struct cloud clouds[2]; /* nothing is asked of the second provider */
	struct cloud *c;
	struct {
		char url[64];
		uint32_t timeout_ms;
		bool held;
		http_done_fn done;
		http_data_fn on_data;
		void *ctx;
	} wire[WIRE_MAX];
	size_t n, answered;
	int64_t date_ms;                       /* date of the next reply; 0: none */
	unsigned lists;                        /* complete lists seen */
	void (*listed)(const struct cloud *c); /* looks at each of them; NULL: nobody does */
	void (*quoted)(const struct cloud *c); /* likewise at all quotes */
	char gap[256];                         /* the last event price-gap */
	char heard[128];                       /* results of lists, as away.c hears them */
	unsigned kinds;  /* kinds of requests whose replies others heard of, as bits */
	unsigned shut;   /* failed logins, as away.c hears them */
	char story[256]; /* sent, noticed, committed */
	bool disk_fails;
	bool unsure;     /* the next lists cannot be judged yet */
	unsigned pieces; /* of the next list, before the last one */
} B;

static inline void tell(const char *what)
{
	add(B.story, sizeof(B.story), B.story[0] != '\0' ? " " : "", what, "");
}

/* A driver's build(): the URL is the kind of request. */
static inline int bare_build(const void *self, const struct provider_op *op,
			     struct provider_request *out, struct err *e)
{
	(void)self;
	(void)e;
	out->kind = PROVIDER_HTTP;
	out->method = "GET";
	out->url = mem_strdup(provider_op_str(op->kind));
	return 0;
}

/* --- the rest of the engine -------------------------------------------------------------------
 */

void engine_turn(struct engine *e)
{
	cloud_fail_unsent(e);
	limit_turn(&B.c->limit);
	if (!e->dead)
		cloud_run(B.c);
}

/* The provider is on. */
void off_open(struct cloud *c)
{
	(void)c;
}

void off_run(struct cloud *c)
{
	(void)c;
}

void engine_commit(struct engine *e)
{
	tell("commit");
	e->dead = B.disk_fails;
}

void engine_spend(struct engine *e, size_t nodes)
{
	(void)e;
	(void)nodes;
}

void audit_thing(struct engine *e, const char *verb, const char *target, const char *thing,
		 const char *reason)
{
	(void)e;
	(void)verb;
	(void)target;
	(void)thing;
	(void)reason;
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)node;
	(void)gen;
	if (strcmp(type, "price-gap") == 0)
		(void)snprintf(B.gap, sizeof(B.gap), "%s", detail);
}

/* A notice for an instance "e..." comes too early. */
bool engine_noticed(struct engine *e, struct cloud *c, const struct provider_notice *n)
{
	(void)e;
	assert_ptr_equal(c, B.c);
	tell(n->id);
	return n->id[0] != 'e';
}

bool engine_listed(struct engine *e, struct cloud *c)
{
	(void)e;
	if (B.pieces > 0) {
		B.pieces--;
		return false;
	}
	c->unsure = B.unsure;
	B.lists++;
	if (B.listed != NULL)
		B.listed(c);
	return true;
}

void engine_tell_quotes(struct engine *e, bool cheaper)
{
	(void)e;
	(void)cheaper;
}

void engine_heard(struct engine *e, struct cloud *c, enum provider_op_kind kind,
		  const struct provider_result *r, int64_t sent_ms)
{
	(void)e;
	assert_ptr_equal(c, B.c);
	assert_non_null(r);
	assert_true(sent_ms <= W.now);
	B.kinds |= 1U << kind;
}

void away_heard(struct cloud *c, enum provider_op_kind kind, const struct provider_result *r)
{
	assert_ptr_equal(c, B.c);
	B.shut += kind == PROVIDER_LOGIN && r->code != PROVIDER_OK;
	if (kind == PROVIDER_LIST)
		add(B.heard, sizeof(B.heard), provider_code_str(r->code), ";", "");
}

void engine_quotes(struct engine *e, struct cloud *c, struct provider_quote *before, size_t nbefore)
{
	(void)e;
	assert_ptr_equal(c, B.c);
	(void)before;
	(void)nbefore;
	if (B.quoted != NULL)
		B.quoted(c);
}

void doubt_list_seen(struct engine *e)
{
	(void)e;
}

const struct node_limits *engine_limits(const struct engine *e, const struct node *n,
					struct node_limits *out)
{
	(void)e;
	(void)n;
	return out;
}

/* --- the wire ---------------------------------------------------------------------------------
 */

int http_client_send(struct http_client *c, const struct http_call *call, http_done_fn done,
		     void *ctx, uint64_t *handle, struct err *e)
{
	(void)c;
	(void)e;
	assert_true(B.n < WIRE_MAX);
	(void)snprintf(B.wire[B.n].url, sizeof(B.wire[B.n].url), "%s", call->url);
	B.wire[B.n].timeout_ms = call->timeout_ms;
	B.wire[B.n].held = call->held;
	B.wire[B.n].done = done;
	B.wire[B.n].on_data = call->on_data;
	B.wire[B.n].ctx = ctx;
	*handle = ++B.n;
	tell(call->url);
	return 0;
}

void http_client_cancel(struct http_client *c, uint64_t handle)
{
	static const struct err gone = {.code = ERR_CANCELLED, .msg = "cancelled"};

	(void)c;
	B.wire[handle - 1].done(B.wire[handle - 1].ctx, NULL, &gone);
}

static inline size_t waiting(void)
{
	return B.n - B.answered;
}

/* Answer the oldest waiting request, which must be for this URL. */
static inline void answer(const char *url, long status, const char *body)
{
	struct http_reply reply = {
		.status = status, .body = body, .len = strlen(body), .date_ms = B.date_ms};
	size_t i = B.answered++;

	assert_true(i < B.n);
	assert_string_equal(B.wire[i].url, url);
	B.wire[i].done(B.wire[i].ctx, &reply, NULL);
}

/* --- the provider -----------------------------------------------------------------------------
 */

static inline void bare_init(const struct provider_ops *ops, size_t npools, uint32_t concurrency,
			     uint32_t rate)
{
	static char name[] = "ec2";

	W = (struct world){.now = BEGAN};
	B = (struct bare){.provider = {.name = name,
				       .concurrency = concurrency,
				       .list_ms = 30000,
				       .timeout_ms = 30000}};
	bare_state(&B.e);
	B.conf = (struct conf){
		.providers = &B.provider, .nproviders = 1, .pools = B.pools, .npools = npools};
	B.e.conf = &B.conf;
	B.e.cloud->all = B.clouds;
	B.c = &B.clouds[0];
	*B.c = (struct cloud){.e = &B.e, .conf = &B.provider, .ops = ops};
	fleet_init(&B.e.fleet, npools);
	limit_init(&B.c->limit, concurrency, rate, NULL, W.now);
}

/* With nothing to ask by itself. */
static inline void bare_quiet(const struct provider_ops *ops)
{
	bare_init(ops, 1, 8, 0);
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	B.c->list_step = 1000;
}

static inline void bare_fini(void)
{
	cloud_cancel_all(&B.e);
	free(B.c->seen);
	free(B.c->quotes);
	free(B.c->coming);
	fleet_fini(&B.e.fleet);
}

#endif
