/* sim_store.c - the secret store, which may be sealed for a while, slow, or lose its replies, and a
 * driver that speaks to it in one line. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/voucher.h"
#include "sim_rotate.h"

enum { LEASE_MS = 60 * SIM_MINUTE };

static const char bundle[] = "{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}";

/* --- the driver ------------------------------------------------------------------------------- */

struct session {
	int64_t until;
	uint32_t addresses;
};

/* Of one length: what is asked of one is asked of all. */
static const char *const urls[] = {SIM_STORE_URL, "https://keyz.test"};

static int open_store(void **self, const struct secret_store_conf *conf, struct err *e)
{
	struct session *s = mem_zalloc(sizeof(*s));

	(void)e;
	s->addresses = conf->address != NULL ? 2 : 1;
	*self = s;
	return 0;
}

static unsigned flags(const void *self)
{
	(void)self;
	return SECRET_WRAPS | SECRET_RENEWS | SECRET_PROBES;
}

static const char *address(const void *self, uint32_t i)
{
	const struct session *s = self;

	return i < s->addresses ? urls[i] : NULL;
}

static int build(const void *self, const struct secret_op *op, struct secret_request *out,
		 struct err *e)
{
	bool version = op->kind == SECRET_WRAP || op->kind == SECRET_WRITE;
	const char *what = version ? op->version : op->token;
	char url[160];

	(void)self;
	(void)e;
	(void)snprintf(url, sizeof(url), "%s/%s/%s/%u", urls[op->address], secret_op_str(op->kind),
		       what != NULL ? what : "", (unsigned)op->wrap_s);
	out->kind = SECRET_HTTP;
	out->method = "POST";
	out->url = mem_strdup(url);
	if (op->kind != SECRET_WRITE)
		return 0;
	out->body = mem_strdup(op->bundle);
	out->body_len = strlen(op->bundle);
	return 0;
}

/* Where nobody writes there is one, and it is always the same. */
static struct secret *read_bundle(const struct secret_reply *reply)
{
	const char *text = strchr(reply->body, ' ');

	text = text != NULL ? text + 1 : bundle;
	return secret_new(text, strlen(text));
}

static void parse(const void *self, const struct secret_op *op, const struct secret_reply *reply,
		  struct secret_result *out)
{
	(void)self;
	if (reply->status == 409) {
		out->code = SECRET_CONFLICT;
		return;
	}
	if (reply->status == 404) { /* there is no such token */
		out->code = SECRET_SPENT;
		return;
	}
	if (reply->status != 200) {
		out->code = reply->status == 503 ? SECRET_AWAY : SECRET_TRANSIENT;
		(void)snprintf(out->message, sizeof(out->message), "status %ld", reply->status);
		return;
	}
	out->renewable = true;
	out->lease_ms = LEASE_MS;
	out->rights = SECRET_MAY_READ | SECRET_MAY_POLL | SECRET_MAY_REVOKE | SECRET_MAY_LOOK;
	(void)snprintf(out->version, sizeof(out->version), "%.*s", (int)strcspn(reply->body, " "),
		       reply->body);
	if (op->kind == SECRET_READ)
		out->value = read_bundle(reply);
	if (op->kind == SECRET_UNWRAP)
		out->value = secret_new("id", 2);
	if (op->kind == SECRET_PEEK)
		(void)snprintf(out->path, sizeof(out->path), "kv/data/burst");
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

static int credential(void *self, const char *text, struct err *e)
{
	(void)self;
	(void)text;
	(void)e;
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
						    .credential = credential,
						    .path = path};

	return strcmp(name, ops.name) == 0 ? &ops : NULL;
}

/* --- the store -------------------------------------------------------------------------------- */

uint64_t sim_store_make(struct world *w, int64_t ms, int64_t version)
{
	struct sim_boot *b = w->boot;

	if (b->ntokens == b->tokens_cap) {
		b->tokens_cap = b->tokens_cap == 0 ? 16 : 2 * b->tokens_cap;
		b->tokens = mem_realloc(b->tokens, b->tokens_cap * sizeof(*b->tokens));
	}
	b->tokens[b->ntokens++] =
		(struct sim_token){.made = w->now, .until = w->now + ms, .version = version};
	return b->ntokens;
}

struct sim_token *sim_store_token(const struct world *w, uint64_t token)
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

static bool is_whole(const struct world *w, const struct sim_token *t)
{
	return t != NULL && !t->used && !t->revoked && w->now < t->until;
}

/* No machine needs longer than slurmctld waits for it, and the five minutes; and what a gang's
 * tokens wait for each other. */
static void check_life(struct world *w, int64_t ms)
{
	int64_t most = w->set.resume_timeout_s * SIM_SECOND + VOUCHER_MARGIN_MS;

	if (w->set.vouchers && ms > most + VOUCHER_LONGER_MAX_MS)
		world_fail(w, "I36: a token for %d s is asked for", (int)(ms / SIM_SECOND));
}

static void serve_wrap(struct world *w, const char *more, struct str *out)
{
	int64_t ms = strtoll(strrchr(more, '/') + 1, NULL, 10) * SIM_SECOND;

	check_life(w, ms);
	str_addf(out, " t-%" PRIu64, sim_store_make(w, ms, strtoll(more, NULL, 10)));
}

/* false: there is no such token. */
static bool serve_token(struct world *w, uint64_t token, bool revoke)
{
	struct sim_token *t = sim_store_token(w, token);

	if (!is_whole(w, t))
		return false;
	t->revoked = revoke;
	return true;
}

/* Somebody writes other keys there. */
static void change(struct world *w)
{
	if (!w->set.vouchers || !world_fault(w, SIM_KEYS_CHANGED))
		return;
	w->totals->met[SIM_KEYS_CHANGED][NODE_NSTATES]++;
	SIM_TRACE(w, "  fault: %s", sim_faults[SIM_KEYS_CHANGED].name);
	w->boot->version++;
}

bool sim_store_serve(struct world *w, const char *url, const char *put, struct str *out,
		     long *status)
{
	const char *op = url + strlen(SIM_STORE_URL) + 1;
	unsigned token = 0;

	*status = is_away(w) ? 503 : 200;
	if (*status != 200)
		return true;
	if (strncmp(op, "version/", 8) == 0)
		change(w);
	if (!sim_rotate_serve(w, op, put, out, status))
		str_addf(out, "%" PRId64, w->boot->version);
	if (strncmp(op, "wrap/", 5) == 0)
		serve_wrap(w, op + 5, out);
	if ((sscanf(op, "revoke/at-%u", &token) == 1 && !serve_token(w, token, true)) ||
	    (sscanf(op, "look/at-%u", &token) == 1 && !serve_token(w, token, false)))
		*status = 404;
	if (!world_fault(w, SIM_STORE_SLOW))
		return true;
	w->totals->met[SIM_STORE_SLOW][NODE_NSTATES]++;
	return false;
}

void sim_store_told(struct world *w, const char *url, const char *body)
{
	int64_t version = strtoll(body, NULL, 10);

	if (strncmp(url + strlen(SIM_STORE_URL), "/version/", 9) != 0 ||
	    version == w->boot->told_version)
		return;
	w->boot->told_version = version;
	w->boot->told_at = w->now;
}

/* Its answer may get lost: then nobody has the keys, and nobody will. */
static bool is_lost(struct world *w)
{
	bool lost = w->set.vouchers && world_fault(w, SIM_STORE_SLOW);

	w->totals->met[SIM_STORE_SLOW][NODE_NSTATES] += lost;
	return lost;
}

int64_t sim_store_unwrap(struct world *w, uint64_t token, uint32_t by)
{
	struct sim_token *t = sim_store_token(w, token);

	if (is_away(w))
		return 0;
	if (!is_whole(w, t))
		return -1;
	t->used = true;
	t->by = by;
	if (is_lost(w))
		return 0;
	return w->set.vouchers || w->set.rotates ? t->version : w->boot->version;
}
