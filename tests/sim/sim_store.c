/* The secret store: a driver that speaks to it in one line, and the store itself, which may be
 * sealed for a while, slow, or lose its answers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_boot.h"

enum { LEASE_MS = 60 * SIM_MINUTE };

static const char bundle[] = "{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}";

/* --- the driver ------------------------------------------------------------------------------- */

struct session {
	int64_t until;
};

static int open_store(void **self, const struct secret_store_conf *conf, struct err *e)
{
	(void)conf;
	(void)e;
	*self = mem_zalloc(sizeof(struct session));
	return 0;
}

static unsigned flags(const void *self)
{
	(void)self;
	return SECRET_WRAPS | SECRET_RENEWS | SECRET_PROBES;
}

static const char *address(const void *self, uint32_t i)
{
	(void)self;
	return i == 0 ? SIM_STORE_URL : NULL;
}

static int build(const void *self, const struct secret_op *op, struct secret_request *out,
		 struct err *e)
{
	char url[160];

	(void)self;
	(void)e;
	(void)snprintf(url, sizeof(url), SIM_STORE_URL "/%s/%s/%u", secret_op_str(op->kind),
		       op->token != NULL ? op->token : "", (unsigned)op->wrap_s);
	out->kind = SECRET_HTTP;
	out->method = "POST";
	out->url = mem_strdup(url);
	return 0;
}

static void parse(const void *self, const struct secret_op *op, const struct secret_reply *reply,
		  struct secret_result *out)
{
	(void)self;
	if (reply->status != 200) {
		out->code = reply->status == 503 ? SECRET_AWAY : SECRET_TRANSIENT;
		(void)snprintf(out->message, sizeof(out->message), "status %ld", reply->status);
		return;
	}
	out->renewable = true;
	out->lease_ms = LEASE_MS;
	out->rights = SECRET_MAY_READ | SECRET_MAY_POLL | SECRET_MAY_REVOKE;
	(void)snprintf(out->version, sizeof(out->version), "%.*s", (int)strcspn(reply->body, " "),
		       reply->body);
	if (op->kind == SECRET_READ)
		out->value = secret_new(bundle, strlen(bundle));
	if (op->kind == SECRET_LOGIN)
		out->value = secret_new("s", 1);
	if (op->kind != SECRET_WRAP)
		return;
	(void)snprintf(out->accessor, sizeof(out->accessor), "a%s", strchr(reply->body, ' ') + 1);
	(void)snprintf(out->path, sizeof(out->path), "kv/data/burst");
	out->ttl_ms = (int64_t)op->wrap_s * 1000;
	out->value = secret_new(strchr(reply->body, ' ') + 1, strlen(strchr(reply->body, ' ') + 1));
}

static int64_t good_until(const void *self)
{
	return ((const struct session *)self)->until;
}

static int take(void *self, const struct secret_result *r, int64_t now_ms, struct err *e)
{
	struct session *s = self;

	(void)e;
	s->until = r != NULL ? now_ms + r->lease_ms : 0;
	return 0;
}

static const char *path(const void *self, enum secret_op_kind kind)
{
	(void)self;
	(void)kind;
	return "kv/data/burst";
}

const struct secret_store_ops *sim_store(const char *name)
{
	static const struct secret_store_ops ops = {.name = "keys",
						    .open = open_store,
						    .close = free,
						    .flags = flags,
						    .address = address,
						    .build = build,
						    .parse = parse,
						    .good_until = good_until,
						    .take = take,
						    .path = path};

	return strcmp(name, ops.name) == 0 ? &ops : NULL;
}

/* --- the store -------------------------------------------------------------------------------- */

static uint64_t make_token(struct world *w, int64_t ms)
{
	struct sim_boot *b = w->boot;

	if (b->ntokens == b->tokens_cap) {
		b->tokens_cap = b->tokens_cap == 0 ? 16 : 2 * b->tokens_cap;
		b->tokens = mem_realloc(b->tokens, b->tokens_cap * sizeof(*b->tokens));
	}
	b->tokens[b->ntokens++] = (struct sim_token){.until = w->now + ms};
	return b->ntokens;
}

static struct sim_token *find(struct world *w, uint64_t token)
{
	return token >= 1 && token <= w->boot->ntokens ? &w->boot->tokens[token - 1] : NULL;
}

static bool is_away(struct world *w)
{
	if (w->now >= w->boot->away_until && world_fault(w, SIM_STORE_AWAY)) {
		w->totals->met[SIM_STORE_AWAY][NODE_NSTATES]++;
		w->boot->away_until = w->now + world_between(w, 1, 120) * SIM_SECOND;
	}
	return w->now < w->boot->away_until;
}

bool sim_store_serve(struct world *w, const char *url, struct str *out, long *status)
{
	const char *op = url + strlen(SIM_STORE_URL) + 1, *more = strchr(op, '/');
	unsigned wrap_s = 0, token = 0;

	*status = is_away(w) ? 503 : 200;
	if (*status != 200)
		return true;
	(void)sscanf(strrchr(more, '/'), "/%u", &wrap_s);
	str_addf(out, "%" PRId64, w->boot->version);
	if (strncmp(op, "wrap/", 5) == 0)
		str_addf(out, " t-%" PRIu64, make_token(w, (int64_t)wrap_s * 1000));
	if (sscanf(op, "revoke/at-%u", &token) == 1 && find(w, token) != NULL)
		find(w, token)->revoked = true;
	if (!world_fault(w, SIM_STORE_SLOW))
		return true;
	w->totals->met[SIM_STORE_SLOW][NODE_NSTATES]++;
	return false;
}

int64_t sim_store_unwrap(struct world *w, uint64_t token)
{
	struct sim_token *t = find(w, token);

	if (is_away(w))
		return 0;
	if (t == NULL || t->used || t->revoked || w->now >= t->until)
		return -1;
	t->used = true;
	return w->boot->version;
}
