#include "providers/sim_private.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/jpull.h"
#include "base/map.h"
#include "base/mem.h"

enum {
	RETRY_MAX_MS = 86400000, /* a longer Retry-After is a mistake or an attack */
	OFFERS_MAX = 10000,
	NOTICES_MAX = 1000, /* in one answer */
};

/* --- words and numbers --------------------------------------------------------------------------
 */

/* The result of a request whose reply cannot be understood. */
static enum provider_code senseless(const struct provider_op *op)
{
	return op->kind == PROVIDER_CREATE ? PROVIDER_AMBIGUOUS : PROVIDER_TRANSIENT;
}

static enum provider_code code_of_word(const char *word, enum provider_code other)
{
	static const struct {
		const char *word;
		enum provider_code code;
	} words[] = {
		{"capacity", PROVIDER_CAPACITY},   {"quota", PROVIDER_QUOTA},
		{"denied", PROVIDER_DENIED},       {"invalid", PROVIDER_INVALID},
		{"not-found", PROVIDER_NOT_FOUND}, {"token-mismatch", PROVIDER_CONFLICT},
		{"not-yet", PROVIDER_NOT_YET},     {"rate", PROVIDER_RATE},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, word) == 0)
			return words[i].code;
	return other; /* "internal", too: the request may have taken effect */
}

static enum provider_code code_of_status(long status, enum provider_code other)
{
	static const long invalid[] = {400, 404, 405, 413, 422};

	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		if (status == invalid[i])
			return PROVIDER_INVALID;
	if (status >= 401 && status <= 403)
		return PROVIDER_DENIED;
	if (status == 409)
		return PROVIDER_CONFLICT;
	return status == 429 ? PROVIDER_RATE : other;
}

static enum provider_state state_of(const char *word)
{
	static const char *const words[] = {
		[PROVIDER_UNKNOWN] = "",          [PROVIDER_PENDING] = "pending",
		[PROVIDER_RUNNING] = "running",   [PROVIDER_RECLAIMING] = "reclaiming",
		[PROVIDER_STOPPING] = "stopping", [PROVIDER_FAILED] = "failed",
		[PROVIDER_ENDED] = "ended",
	};

	if (strcmp(word, "booting") == 0)
		return PROVIDER_PENDING;
	for (int i = PROVIDER_PENDING; i <= PROVIDER_ENDED; i++)
		if (strcmp(words[i], word) == 0)
			return (enum provider_state)i;
	return PROVIDER_UNKNOWN;
}

/* Set the message for people and logs: one line, with the credential masked if the provider repeats
 * it. */
static void set_message(const struct sim *s, struct provider_result *out, const char *text)
{
	size_t cred = s->credential != NULL ? strlen(s->credential) : 0, n = 0;

	while (*text != '\0' && n < sizeof(out->message) - 4) {
		if (cred > 0 && strncmp(text, s->credential, cred) == 0) {
			memcpy(out->message + n, "***", 3);
			n += 3;
			text += cred;
			continue;
		}
		out->message[n++] = *text >= ' ' && *text <= '~' ? *text : '?';
		text++;
	}
	out->message[n] = '\0';
}

/* o[key] as text.  1: there; 0: absent or null, out is ""; -1: not a string, or too long. */
static int get_text(const json_t *o, const char *key, char *out, size_t size)
{
	const json_t *v = json_object_get(o, key);

	out[0] = '\0';
	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_string(v) || json_string_length(v) >= size)
		return -1;
	memcpy(out, json_string_value(v), json_string_length(v) + 1);
	return 1;
}

/* o[key] as a whole number >= 0.  1: there; 0: absent or null; -1: anything else. */
static int get_int(const json_t *o, const char *key, int64_t *out)
{
	const json_t *v = json_object_get(o, key);

	*out = 0;
	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return -1;
	*out = (int64_t)json_integer_value(v);
	return 1;
}

/* --- rows ---------------------------------------------------------------------------------------
 */

/* Fields of an instance, in the usual order in a row of any reply. */
enum field {
	CLUSTER,
	NAME,
	GENERATION,
	ID,
	STATE,
	ADDRESS,
	HOSTNAME,
	CREATED_MS,
	RECLAIM_MS,
	ENDED_MS,
	ERROR,
	NFIELDS
};

static const char *const fields[NFIELDS] = {
	[CLUSTER] = "cluster",       [NAME] = "name",
	[GENERATION] = "generation", [ID] = "id",
	[STATE] = "state",           [ADDRESS] = "address",
	[HOSTNAME] = "hostname",     [CREATED_MS] = "created_ms",
	[RECLAIM_MS] = "reclaim_ms", [ENDED_MS] = "ended_ms",
	[ERROR] = "error",
};

struct row {
	struct jpull_value v[NFIELDS];
};

/* The field with this key, or NFIELDS.  The search starts after the field before, as rows are
 * usually in order. */
static unsigned field_of(const struct jpull_value *key, unsigned before)
{
	for (unsigned k = 1; k <= NFIELDS; k++)
		if (jpull_is(key, fields[(before + k) % NFIELDS]))
			return (before + k) % NFIELDS;
	return NFIELDS;
}

/* Read the next row; a repeated field is an error.  Returns 0 or -1. */
static int read_row(struct jpull *j, struct row *r)
{
	struct jpull_value key;
	unsigned last = NFIELDS - 1;

	*r = (struct row){0};
	(void)jpull_enter(j, '{');
	while (jpull_key(j, &key)) {
		struct jpull_value value = jpull_take(j);
		unsigned f = field_of(&key, last);

		if (f == NFIELDS)
			continue;
		if (r->v[f].type != JPULL_NONE)
			return -1;
		r->v[f] = value;
		last = f;
	}
	return j->bad ? -1 : 0;
}

/* Takes row i; -1 ends the reading. */
typedef int (*row_fn)(void *ctx, size_t i, const struct row *r);

/* Read {"LIST": [row, ...]}: at most max rows, each passed to fn, and the cursor if wanted.  -1:
 * not such a reply, or fn refused a row. */
static int read_rows(const struct provider_reply *reply, const char *list, size_t max, row_fn fn,
		     void *ctx, struct jpull_value *cursor)
{
	struct jpull_value key;
	bool found = false;
	struct jpull j;
	struct row r;
	size_t n = 0;

	jpull_init(&j, reply->body != NULL ? reply->body : "", reply->len);
	(void)jpull_enter(&j, '{');
	while (jpull_key(&j, &key)) {
		if (cursor != NULL && jpull_is(&key, "cursor")) {
			if (cursor->type != JPULL_NONE)
				return -1;
			*cursor = jpull_take(&j);
		} else if (!jpull_is(&key, list)) {
			(void)jpull_take(&j);
		} else {
			if (found || !jpull_enter(&j, '['))
				return -1;
			found = true;
			for (; jpull_item(&j); n++)
				if (n == max || read_row(&j, &r) != 0 || fn(ctx, n, &r) != 0)
					return -1;
		}
	}
	return jpull_end(&j) && found ? 0 : -1;
}

/* --- instances ----------------------------------------------------------------------------------
 */

/* Read id, state, address and times; 0 or -1. */
static int read_body(struct provider_instance *i, const struct row *r)
{
	char state[32];

	if (jpull_text(&r->v[ID], i->id, sizeof(i->id)) != 1 ||
	    !sim_is_plain(i->id, PROVIDER_ID_MAX) || i->id[0] == '\0' ||
	    jpull_text(&r->v[ADDRESS], i->addr, sizeof(i->addr)) < 0 ||
	    jpull_text(&r->v[HOSTNAME], i->hostname, sizeof(i->hostname)) < 0 ||
	    jpull_int(&r->v[CREATED_MS], &i->created_ms) < 0 ||
	    jpull_int(&r->v[ENDED_MS], &i->ended_ms) < 0 ||
	    jpull_int(&r->v[RECLAIM_MS], &i->reclaim_ms) < 0)
		return -1;
	/* An overlong or missing state is unknown: the instance exists (I14). */
	i->taken = i->reclaim_ms != 0;
	i->state = jpull_text(&r->v[STATE], state, sizeof(state)) == 1 ? state_of(state)
								       : PROVIDER_UNKNOWN;
	return 0;
}

static int read_tags(struct provider_instance *i, const struct row *r)
{
	int64_t gen;
	int name = jpull_text(&r->v[NAME], i->node, sizeof(i->node));
	int number = jpull_int(&r->v[GENERATION], &gen);

	i->gen = (uint64_t)gen;
	return name == 1 && number == 1 && hostlist_is_name(i->node) ? 0 : -1;
}

/* Read an instance of a list.  Unreadable tags count as none, whoever's instance it is
 * (core/provider.h).  The other fields must be readable if it is ours; of others only the id
 * must. */
static int read_listed(struct provider_instance *i, const struct row *r, const char *cluster)
{
	int tag = jpull_text(&r->v[CLUSTER], i->cluster, sizeof(i->cluster));
	bool ours = tag == 1 && strcmp(i->cluster, cluster) == 0;

	if (tag < 0 && r->v[CLUSTER].type != JPULL_STRING)
		return -1; /* a tag that is not a string may be ours, mangled */
	if (read_tags(i, r) != 0) {
		i->node[0] = '\0';
		i->gen = 0;
	}
	if (read_body(i, r) == 0)
		return 0;
	if (ours || i->id[0] == '\0')
		return -1;
	i->addr[0] = i->hostname[0] = '\0';
	return 0;
}

/* The code of an error object; `other` if it has none or is NULL. */
static enum provider_code read_error(const json_t *error, struct provider_result *out,
				     enum provider_code other)
{
	const char *code = json_string_value(json_object_get(error, "code"));
	int64_t ms;

	if (get_int(error, "retry_after_ms", &ms) == 1 && ms > out->retry_after_ms)
		out->retry_after_ms = ms < RETRY_MAX_MS ? ms : RETRY_MAX_MS;
	return code != NULL ? code_of_word(code, other) : other;
}

static enum provider_code row_error(const struct row *r, struct provider_result *out,
				    enum provider_code other)
{
	json_t *o = json_loadb(r->v[ERROR].p, r->v[ERROR].n, JSON_REJECT_DUPLICATES, NULL);
	enum provider_code code = read_error(o, out, other);

	json_decref(o);
	return code;
}

/* --- operations ---------------------------------------------------------------------------------
 */

struct created { /* a create and its result */
	const struct provider_create *c;
	struct provider_result *out;
};

/* The reply must list exactly the requested nodes, in that order; otherwise none of it is
 * trusted. */
static int read_created(void *ctx, size_t n, const struct row *r)
{
	const struct created *of = ctx;
	struct provider_item *item = &of->out->items[n];
	struct provider_instance *i = &item->instance;

	if (read_tags(i, r) != 0 || strcmp(i->node, of->c->wants[n].node) != 0 ||
	    i->gen != of->c->wants[n].gen)
		return -1;
	if (r->v[ERROR].type != JPULL_NONE)
		item->code = row_error(r, of->out, PROVIDER_AMBIGUOUS);
	else
		item->code = read_body(i, r) == 0 ? PROVIDER_OK : PROVIDER_AMBIGUOUS;
	memcpy(i->cluster, of->c->cluster, strlen(of->c->cluster) + 1);
	of->out->nitems++;
	return 0;
}

static bool all_different(const struct provider_result *out)
{
	struct map seen;
	bool different = true;

	map_init(&seen);
	for (size_t i = 0; i < out->nitems && different; i++) {
		const char *id = out->items[i].instance.id;

		if (out->items[i].code != PROVIDER_OK)
			continue;
		different = map_get(&seen, id) == NULL;
		map_put(&seen, id, &seen);
	}
	map_fini(&seen);
	return different;
}

static int parse_create(const struct provider_create *c, const struct provider_reply *reply,
			struct provider_result *out)
{
	struct created ctx = {c, out};

	out->items = mem_zalloc(c->nwants * sizeof(*out->items));
	if (read_rows(reply, "instances", c->nwants, read_created, &ctx, NULL) != 0)
		return -1;
	return out->nitems == c->nwants && all_different(out) ? 0 : -1;
}

struct listed {
	const char *cluster;
	struct provider_result *out;
	size_t cap;
};

static int read_one_listed(void *ctx, size_t n, const struct row *r)
{
	struct listed *of = ctx;
	struct provider_result *out = of->out;

	if (n == of->cap) {
		of->cap = n == 0 ? 64 : 2 * n;
		out->instances = mem_realloc(out->instances, of->cap * sizeof(*out->instances));
	}
	out->instances[n] = (struct provider_instance){0};
	out->ninstances = n + 1;
	return read_listed(&out->instances[n], r, of->cluster);
}

static int parse_list(const char *cluster, const char *before, const struct provider_reply *reply,
		      struct provider_result *out)
{
	struct jpull_value cursor = {.type = JPULL_NONE};
	struct listed ctx = {.cluster = cluster, .out = out};

	/* Without a cursor the list may be incomplete (I12). */
	if (read_rows(reply, "instances", SIM_BATCH_MAX, read_one_listed, &ctx, &cursor) != 0 ||
	    jpull_text(&cursor, out->cursor, sizeof(out->cursor)) != 1)
		return -1;
	/* A repeated cursor would loop for ever. */
	return out->cursor[0] == '\0' || strcmp(out->cursor, before) != 0 ? 0 : -1;
}

struct deleted {
	const char *const *ids;
	struct provider_result *out;
};

static int read_deleted(void *ctx, size_t n, const struct row *r)
{
	const struct deleted *of = ctx;
	struct provider_item *item = &of->out->items[n];
	char state[32];

	if (jpull_text(&r->v[ID], item->instance.id, sizeof(item->instance.id)) != 1 ||
	    strcmp(item->instance.id, of->ids[n]) != 0)
		return -1;
	if (r->v[ERROR].type != JPULL_NONE)
		item->code = row_error(r, of->out, PROVIDER_TRANSIENT);
	else if (jpull_text(&r->v[STATE], state, sizeof(state)) == 1)
		item->instance.state = state_of(state);
	else
		return -1;
	of->out->nitems++;
	return 0;
}

static int parse_delete(const char *const *ids, size_t n, const struct provider_reply *reply,
			struct provider_result *out)
{
	struct deleted ctx = {ids, out};

	out->items = mem_zalloc(n * sizeof(*out->items));
	if (read_rows(reply, "results", n, read_deleted, &ctx, NULL) != 0)
		return -1;
	return out->nitems == n ? 0 : -1;
}

static int read_offer(struct provider_quote *f, const json_t *o)
{
	char market[16], price[32];

	if (get_text(o, "type", f->type, sizeof(f->type)) != 1 ||
	    get_text(o, "region", f->region, sizeof(f->region)) != 1 ||
	    get_text(o, "zone", f->zone, sizeof(f->zone)) < 0 ||
	    get_text(o, "market", market, sizeof(market)) != 1 ||
	    get_text(o, "price", price, sizeof(price)) != 1 ||
	    get_text(o, "currency", f->currency, sizeof(f->currency)) != 1 ||
	    strlen(f->currency) != 3 || fmt_money_parse(price, &f->price_nano_h, NULL) != 0)
		return -1;
	return provider_market_parse(market, &f->market);
}

static int parse_quotes(const json_t *doc, struct provider_result *out)
{
	const json_t *list = json_object_get(doc, "offers");
	size_t n = json_array_size(list);

	if (!json_is_array(list) || n > OFFERS_MAX)
		return -1;
	out->quotes = mem_zalloc((n + 1) * sizeof(*out->quotes));
	out->nquotes = n;
	for (size_t i = 0; i < n; i++)
		if (read_offer(&out->quotes[i], json_array_get(list, i)) != 0)
			return -1;
	return 0;
}

/* Read a notice, or count it in nunread if it is malformed or its kind unknown. */
static void read_notice(const json_t *o, struct provider_result *out)
{
	struct provider_notice *n = &out->notices[out->nnotices];
	char kind[32];

	*n = (struct provider_notice){0};
	if (get_text(o, "id", n->id, sizeof(n->id)) == 1 && n->id[0] != '\0' &&
	    sim_is_plain(n->id, PROVIDER_ID_MAX) && get_text(o, "kind", kind, sizeof(kind)) == 1 &&
	    provider_notice_parse(kind, &n->kind) == 0 && get_int(o, "at_ms", &n->at_ms) >= 0)
		out->nnotices++;
	else
		out->nunread++;
}

static int parse_notices(const json_t *doc, struct provider_result *out)
{
	const json_t *list = json_object_get(doc, "notices");
	size_t n = json_array_size(list);

	if (!json_is_array(list) || n > NOTICES_MAX ||
	    get_text(doc, "cursor", out->cursor, sizeof(out->cursor)) != 1)
		return -1;
	out->notices = mem_zalloc((n + 1) * sizeof(*out->notices));
	for (size_t i = 0; i < n; i++)
		read_notice(json_array_get(list, i), out);
	return 0;
}

/* Skip other clusters' fabrics, which a provider that does not filter lists, too. */
static int parse_fabrics(const struct provider_op *op, const json_t *doc,
			 struct provider_result *out)
{
	const json_t *list = json_object_get(doc, "fabrics");
	size_t n = json_array_size(list);
	char cluster[PROVIDER_WORD_MAX + 1];

	if (!json_is_array(list) || n > SIM_BATCH_MAX ||
	    get_text(doc, "cursor", out->cursor, sizeof(out->cursor)) != 1 ||
	    (out->cursor[0] != '\0' && strcmp(out->cursor, provider_cursor(op)) == 0))
		return -1;
	out->fabrics = mem_zalloc((n + 1) * sizeof(*out->fabrics));
	for (size_t i = 0; i < n; i++) {
		const json_t *o = json_array_get(list, i);
		struct provider_fabric *f = &out->fabrics[out->nfabrics];

		if (get_text(o, "cluster", cluster, sizeof(cluster)) == 1 &&
		    strcmp(cluster, op->u.fabric.cluster) == 0 &&
		    get_text(o, "name", f->name, sizeof(f->name)) == 1)
			out->nfabrics++;
	}
	return 0;
}

static json_t *load(const struct provider_reply *reply)
{
	return json_loadb(reply->body != NULL ? reply->body : "", reply->len,
			  JSON_REJECT_DUPLICATES, NULL);
}

static int parse_ok(const struct provider_op *op, const struct provider_reply *reply,
		    struct provider_result *out)
{
	json_t *doc;
	int rc = -1;

	switch (op->kind) {
	case PROVIDER_CREATE:
		return parse_create(&op->u.create, reply, out);
	case PROVIDER_LIST:
		return parse_list(op->u.list.cluster, provider_cursor(op), reply, out);
	case PROVIDER_DELETE:
		return parse_delete(op->u.del.ids, op->u.del.nids, reply, out);
	case PROVIDER_QUOTES:
	case PROVIDER_NOTICES:
		doc = load(reply);
		rc = op->kind == PROVIDER_QUOTES ? parse_quotes(doc, out) : parse_notices(doc, out);
		json_decref(doc);
		break;
	case PROVIDER_REPORT:
		return 0; /* nothing to read: status 200 says that it was accepted */
	case PROVIDER_FABRIC_LIST:
		doc = load(reply);
		rc = parse_fabrics(op, doc, out);
		json_decref(doc);
		break;
	case PROVIDER_FABRIC_MAKE:
	case PROVIDER_FABRIC_DROP: /* the status says it all */
		doc = load(reply);
		rc = json_is_object(doc) ? 0 : -1;
		json_decref(doc);
		break;
	case PROVIDER_LOGIN:
	case PROVIDER_STEP:
	case PROVIDER_NOPS:
		break;
	}
	return rc;
}

void sim_parse(const void *self, const struct provider_op *op, const struct provider_reply *reply,
	       struct provider_result *out)
{
	const struct sim *s = self;
	const json_t *error;
	const char *words;
	json_t *doc;

	if (reply->status == 200) {
		if (parse_ok(op, reply, out) != 0) {
			provider_result_fini(out); /* half a result would be worse than none */
			out->code = senseless(op);
			set_message(s, out, "malformed reply");
		} else if (op->kind != PROVIDER_NOTICES && out->cursor[0] != '\0') {
			out->code = PROVIDER_MORE;
		}
		return;
	}
	doc = load(reply);
	error = json_object_get(doc, "error");
	out->retry_after_ms = headers_retry_after_ms(&reply->headers, RETRY_MAX_MS);
	out->code = read_error(error, out, code_of_status(reply->status, senseless(op)));
	if (out->code == PROVIDER_NOT_FOUND && op->kind != PROVIDER_FABRIC_DROP)
		out->code = PROVIDER_INVALID; /* the path is unknown, not an instance */
	words = json_string_value(json_object_get(error, "message"));
	set_message(s, out, words != NULL ? words : "error without a message");
	json_decref(doc);
}
