#include "providers/sim.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

enum {
	BATCH_MAX = 1000, /* instances in one create, ids in one delete, and in one page */
	BODY_MAX = 1 << 20,
	URL_MAX = 2048,
	HEADER_MAX = 8192, /* the longest credentials are tokens of a few KiB */
	TOKEN_MAX = 128,
	TOKEN_LIFE_MS = 86400000,
	RETRY_MAX_S = 86400, /* a longer Retry-After is a mistake or an attack */
	OFFERS_MAX = 10000,
};

/* All that read_listed() looks at: of ten thousand rows every byte counts. */
#define LIST_FIELDS "cluster,name,generation,id,state,address,created_ms,ended_ms,reclaim_ms"

struct sim {
	char *base; /* URL without a slash at its end */
	char *credential;
};

/* --- open, close ------------------------------------------------------------------------------ */

static bool is_url(const char *url)
{
	const char *host;

	if (strncmp(url, "http://", 7) == 0)
		host = url + 7;
	else if (strncmp(url, "https://", 8) == 0)
		host = url + 8;
	else
		return false;
	for (const char *p = host; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || strchr("@?#\\\"<>", *p) != NULL)
			return false;
	return *host != '\0' && *host != '/' && strlen(url) < URL_MAX / 2;
}

static bool is_credential(const char *text)
{
	for (const char *p = text; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~')
			return false; /* a line break would end the header and begin another */
	return *text != '\0' && strlen(text) < HEADER_MAX / 2;
}

static int sim_open(void **self, const struct provider_conf *conf, struct err *e)
{
	struct sim *s;
	size_t n;

	*self = NULL;
	if (conf->url == NULL || !is_url(conf->url))
		return err_set(e, ERR_INVALID, "provider %s: want url = \"http(s)://HOST[:PORT]\"",
			       conf->name);
	if (conf->credential != NULL && !is_credential(conf->credential))
		return err_set(e, ERR_INVALID, "provider %s: the credential is not one word",
			       conf->name);
	s = mem_zalloc(sizeof(*s));
	s->base = mem_strdup(conf->url);
	n = strlen(s->base);
	while (s->base[n - 1] == '/')
		s->base[--n] = '\0';
	if (conf->credential != NULL)
		s->credential = mem_strdup(conf->credential);
	*self = s;
	return 0;
}

static void sim_close(void *self)
{
	struct sim *s = self;

	if (s == NULL)
		return;
	if (s->credential != NULL)
		explicit_bzero(s->credential, strlen(s->credential));
	free(s->credential);
	free(s->base);
	free(s);
}

static struct provider_caps sim_caps(const void *self)
{
	(void)self;
	return (struct provider_caps){
		.flags = PROVIDER_TOKENS | PROVIDER_TAGS | PROVIDER_GANGS,
		.create_max = BATCH_MAX,
		.delete_max = BATCH_MAX,
		.token_ms = TOKEN_LIFE_MS,
	};
}

/* --- requests --------------------------------------------------------------------------------- */

/* Words of ours need no escaping in JSON: anything that would is refused. */
static bool is_plain(const char *text, size_t max)
{
	for (const char *p = text; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
			return false;
	return strlen(text) <= max;
}

static bool is_create(const struct provider_create *c)
{
	const struct provider_place *p = c->place;

	if (c->nwants == 0 || c->nwants > BATCH_MAX || c->token[0] == '\0' || c->cluster[0] == '\0')
		return false;
	if (!is_plain(c->token, TOKEN_MAX) || !is_plain(c->cluster, PROVIDER_WORD_MAX) ||
	    !is_plain(p->type, PROVIDER_WORD_MAX) || !is_plain(p->region, PROVIDER_WORD_MAX) ||
	    !is_plain(p->zone, PROVIDER_WORD_MAX))
		return false;
	for (size_t i = 0; i < c->nwants; i++)
		if (c->wants[i].node[0] == '\0' || !is_plain(c->wants[i].node, HOSTLIST_NAME_MAX) ||
		    c->wants[i].gen > INT64_MAX)
			return false;
	return true;
}

static int build_create(const struct provider_create *c, struct provider_request *out,
			struct str *url, struct err *e)
{
	char gen[FMT_U64_SIZE];
	struct str s;

	if (!is_create(c))
		return err_set(e, ERR_INVALID, "create: 1 to %d instances of plain names",
			       BATCH_MAX);
	str_adds(url, "/v1/instances");
	str_init(&s, BODY_MAX);
	str_addf(&s, "{\"token\":\"%s\",\"cluster\":\"%s\",\"type\":\"%s\",\"region\":\"%s\",",
		 c->token, c->cluster, c->place->type, c->place->region);
	str_addf(&s, "\"zone\":\"%s\",\"market\":\"%s\",\"instances\":[", c->place->zone,
		 c->place->spot ? "spot" : "on-demand");
	for (size_t i = 0; i < c->nwants; i++)
		str_addf(&s, "%s{\"name\":\"%s\",\"generation\":%s,\"group\":%u}", i > 0 ? "," : "",
			 c->wants[i].node, fmt_u64(gen, c->wants[i].gen), c->wants[i].group);
	str_adds(&s, "]}");
	out->method = "POST";
	out->body_len = s.len;
	out->body = str_take(&s);
	return 0;
}

static int build_delete(const char *const *ids, size_t n, struct provider_request *out,
			struct str *url, struct err *e)
{
	struct str s;

	if (n == 0 || n > BATCH_MAX)
		return err_set(e, ERR_INVALID, "delete: want 1 to %d ids", BATCH_MAX);
	for (size_t i = 0; i < n; i++)
		if (ids[i][0] == '\0' || !is_plain(ids[i], PROVIDER_ID_MAX))
			return err_set(e, ERR_INVALID, "delete: not an id of this provider");
	str_adds(url, "/v1/instances/delete");
	str_init(&s, BODY_MAX);
	str_adds(&s, "{\"ids\":[");
	for (size_t i = 0; i < n; i++)
		str_addf(&s, "%s\"%s\"", i > 0 ? "," : "", ids[i]);
	str_adds(&s, "]}");
	out->method = "POST";
	out->body_len = s.len;
	out->body = str_take(&s);
	return 0;
}

static void add_escaped(struct str *s, const char *text)
{
	for (; *text != '\0'; text++)
		if (isalnum((unsigned char)*text) || strchr("-_.~", *text) != NULL)
			str_add(s, text, 1);
		else
			str_addf(s, "%%%02X", (unsigned)(unsigned char)*text);
}

static void build_list(const char *cluster, const char *cursor, struct str *url)
{
	str_addf(url, "/v1/instances?limit=%d&fields=" LIST_FIELDS "&cluster=", BATCH_MAX);
	add_escaped(url, cluster);
	if (cursor[0] != '\0') {
		str_adds(url, "&cursor=");
		add_escaped(url, cursor);
	}
}

static void add_headers(const struct sim *s, struct provider_request *out)
{
	struct str h;
	int n = 0;

	out->headers[n++] = mem_strdup("Accept: application/json");
	if (out->body != NULL)
		out->headers[n++] = mem_strdup("Content-Type: application/json");
	if (s->credential == NULL)
		return;
	str_init(&h, HEADER_MAX);
	str_addf(&h, "Authorization: Bearer ");
	str_adds(&h, s->credential);
	out->headers[n] = str_take(&h);
}

static int sim_build(const void *self, const struct provider_op *op, struct provider_request *out,
		     struct err *e)
{
	const struct sim *s = self;
	struct str url;
	int rc = 0;

	str_init(&url, URL_MAX);
	str_adds(&url, s->base);
	out->kind = PROVIDER_HTTP;
	out->method = "GET";
	switch (op->kind) {
	case PROVIDER_CREATE:
		rc = build_create(&op->u.create, out, &url, e);
		break;
	case PROVIDER_LIST:
		build_list(op->u.list.cluster, op->u.list.cursor, &url);
		break;
	case PROVIDER_DELETE:
		rc = build_delete(op->u.del.ids, op->u.del.nids, out, &url, e);
		break;
	case PROVIDER_OFFERS:
		str_adds(&url, "/v1/offers");
		break;
	}
	if (rc != 0) {
		str_fini(&url);
		return -1;
	}
	out->url = str_take(&url);
	add_headers(s, out);
	return 0;
}

/* --- replies: words and numbers ----------------------------------------------------------------
 */

/* What a request came to when the reply says nothing that can be believed. */
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
	return other; /* "internal" too: it may have happened */
}

static enum provider_code code_of_status(long status, enum provider_code other)
{
	switch (status) {
	case 400:
	case 404:
	case 405:
	case 413:
	case 422:
		return PROVIDER_INVALID;
	case 401:
	case 402:
	case 403:
		return PROVIDER_DENIED;
	case 409:
		return PROVIDER_CONFLICT;
	case 429:
		return PROVIDER_RATE;
	default:
		return other;
	}
}

static enum provider_state state_of(const char *word)
{
	static const char *const words[] = {
		[PROVIDER_UNKNOWN] = "",          [PROVIDER_PENDING] = "pending",
		[PROVIDER_RUNNING] = "running",   [PROVIDER_RECLAIMING] = "reclaiming",
		[PROVIDER_STOPPING] = "stopping", [PROVIDER_ENDED] = "ended",
	};

	if (strcmp(word, "booting") == 0)
		return PROVIDER_PENDING;
	for (int i = PROVIDER_PENDING; i <= PROVIDER_ENDED; i++)
		if (strcmp(words[i], word) == 0)
			return (enum provider_state)i;
	return PROVIDER_UNKNOWN;
}

/* Seconds; a date would need a clock, so it is as if nothing had been said. */
static int64_t retry_after(const char *header)
{
	int64_t s = 0;

	if (header == NULL || *header == '\0')
		return 0;
	for (const char *p = header; *p != '\0'; p++) {
		if (!isdigit((unsigned char)*p))
			return 0;
		s = s * 10 + (*p - '0');
		if (s > RETRY_MAX_S)
			s = RETRY_MAX_S;
	}
	return s * 1000;
}

/* For people and logs: one line, and never the credential, should the provider repeat it. */
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

/* --- replies: instances ------------------------------------------------------------------------
 */

/* Id, state, address and times; 0 or -1. */
static int read_body(struct provider_instance *i, const json_t *o)
{
	char state[32];

	if (get_text(o, "id", i->id, sizeof(i->id)) != 1 || !is_plain(i->id, PROVIDER_ID_MAX) ||
	    i->id[0] == '\0' || get_text(o, "address", i->addr, sizeof(i->addr)) < 0 ||
	    get_text(o, "hostname", i->hostname, sizeof(i->hostname)) < 0 ||
	    get_int(o, "created_ms", &i->created_ms) < 0 ||
	    get_int(o, "ended_ms", &i->ended_ms) < 0 ||
	    get_int(o, "reclaim_ms", &i->reclaim_ms) < 0)
		return -1;
	/* A word that is too long or no word at all is a state we do not know: it exists (I14). */
	i->state = get_text(o, "state", state, sizeof(state)) == 1 ? state_of(state)
								   : PROVIDER_UNKNOWN;
	return 0;
}

static int read_tags(struct provider_instance *i, const json_t *o)
{
	int64_t gen;
	int name = get_text(o, "name", i->node, sizeof(i->node));
	int number = get_int(o, "generation", &gen);

	i->gen = (uint64_t)gen;
	return name == 1 && number == 1 && hostlist_is_name(i->node) ? 0 : -1;
}

/* One of a list.  Ours must be readable whole; of others, who may call theirs what they like, only
 * what keeps them apart is needed. */
static int read_listed(struct provider_instance *i, const json_t *o, const char *cluster)
{
	int tag = get_text(o, "cluster", i->cluster, sizeof(i->cluster));
	bool ours = tag == 1 && strcmp(i->cluster, cluster) == 0;

	if (!json_is_object(o))
		return -1;
	if (tag < 0 && !json_is_string(json_object_get(o, "cluster")))
		return -1; /* a tag that is no text may be ours, mangled */
	if (read_tags(i, o) != 0) {
		if (ours)
			return -1;
		i->node[0] = '\0';
		i->gen = 0;
	}
	if (read_body(i, o) == 0)
		return 0;
	if (ours || i->id[0] == '\0')
		return -1;
	i->addr[0] = i->hostname[0] = '\0';
	return 0;
}

static enum provider_code read_error(const json_t *o, struct provider_result *out,
				     enum provider_code other)
{
	const json_t *v = json_object_get(o, "error");
	const char *code = json_string_value(json_object_get(v, "code"));
	int64_t ms;

	if (get_int(v, "retry_after_ms", &ms) == 1 && ms > out->retry_after_ms)
		out->retry_after_ms =
			ms < RETRY_MAX_S * INT64_C(1000) ? ms : RETRY_MAX_S * INT64_C(1000);
	return code != NULL ? code_of_word(code, other) : other;
}

/* --- replies: operations -----------------------------------------------------------------------
 */

/* The reply must speak of exactly what was asked, in that order: else nothing in it can be
 * believed. */
static int read_created(const struct provider_want *w, const json_t *o, struct provider_item *item,
			struct provider_result *out)
{
	struct provider_instance *i = &item->instance;

	if (!json_is_object(o) || read_tags(i, o) != 0 || strcmp(i->node, w->node) != 0 ||
	    i->gen != w->gen)
		return -1;
	if (json_object_get(o, "error") != NULL)
		item->code = read_error(o, out, PROVIDER_AMBIGUOUS);
	else
		item->code = read_body(i, o) == 0 ? PROVIDER_OK : PROVIDER_AMBIGUOUS;
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

static int parse_create(const struct provider_create *c, const json_t *doc,
			struct provider_result *out)
{
	const json_t *list = json_object_get(doc, "instances");

	if (!json_is_array(list) || json_array_size(list) != c->nwants)
		return -1;
	out->nitems = c->nwants;
	out->items = mem_zalloc(c->nwants * sizeof(*out->items));
	for (size_t i = 0; i < c->nwants; i++) {
		struct provider_item *item = &out->items[i];

		if (read_created(&c->wants[i], json_array_get(list, i), item, out) != 0)
			return -1;
		memcpy(item->instance.cluster, c->cluster, strlen(c->cluster) + 1);
	}
	return all_different(out) ? 0 : -1;
}

static int parse_list(const char *cluster, const char *cursor, const json_t *doc,
		      struct provider_result *out)
{
	const json_t *list = json_object_get(doc, "instances");
	size_t n = json_array_size(list);

	/* Without a cursor nobody can say whether this was all (I12). */
	if (!json_is_array(list) || n > BATCH_MAX ||
	    get_text(doc, "cursor", out->cursor, sizeof(out->cursor)) != 1)
		return -1;
	if (out->cursor[0] != '\0' && strcmp(out->cursor, cursor) == 0)
		return -1; /* it would go round for ever */
	out->instances = mem_zalloc((n + 1) * sizeof(*out->instances));
	out->ninstances = n;
	for (size_t i = 0; i < n; i++)
		if (read_listed(&out->instances[i], json_array_get(list, i), cluster) != 0)
			return -1;
	return 0;
}

static int parse_delete(const char *const *ids, size_t n, const json_t *doc,
			struct provider_result *out)
{
	const json_t *list = json_object_get(doc, "results");

	if (!json_is_array(list) || json_array_size(list) != n)
		return -1;
	out->nitems = n;
	out->items = mem_zalloc(n * sizeof(*out->items));
	for (size_t i = 0; i < n; i++) {
		const json_t *o = json_array_get(list, i);
		struct provider_item *item = &out->items[i];
		char state[32];

		if (get_text(o, "id", item->instance.id, sizeof(item->instance.id)) != 1 ||
		    strcmp(item->instance.id, ids[i]) != 0)
			return -1;
		if (json_object_get(o, "error") != NULL)
			item->code = read_error(o, out, PROVIDER_TRANSIENT);
		else if (get_text(o, "state", state, sizeof(state)) == 1)
			item->instance.state = state_of(state);
		else
			return -1;
	}
	return 0;
}

static int read_offer(struct provider_offer *f, const json_t *o)
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
	f->spot = strcmp(market, "spot") == 0;
	return f->spot || strcmp(market, "on-demand") == 0 ? 0 : -1;
}

static int parse_offers(const json_t *doc, struct provider_result *out)
{
	const json_t *list = json_object_get(doc, "offers");
	size_t n = json_array_size(list);

	if (!json_is_array(list) || n > OFFERS_MAX)
		return -1;
	out->offers = mem_zalloc((n + 1) * sizeof(*out->offers));
	out->noffers = n;
	for (size_t i = 0; i < n; i++)
		if (read_offer(&out->offers[i], json_array_get(list, i)) != 0)
			return -1;
	return 0;
}

static int parse_ok(const struct provider_op *op, const json_t *doc, struct provider_result *out)
{
	switch (op->kind) {
	case PROVIDER_CREATE:
		return parse_create(&op->u.create, doc, out);
	case PROVIDER_LIST:
		return parse_list(op->u.list.cluster, op->u.list.cursor, doc, out);
	case PROVIDER_DELETE:
		return parse_delete(op->u.del.ids, op->u.del.nids, doc, out);
	case PROVIDER_OFFERS:
		return parse_offers(doc, out);
	}
	return -1;
}

static void sim_parse(const void *self, const struct provider_op *op,
		      const struct provider_reply *reply, struct provider_result *out)
{
	const struct sim *s = self;
	json_t *doc = json_loadb(reply->body != NULL ? reply->body : "", reply->len,
				 JSON_REJECT_DUPLICATES, NULL);
	const char *words;

	if (reply->status == 200) {
		if (parse_ok(op, doc, out) != 0) {
			provider_result_fini(out); /* half a result would be worse than none */
			out->code = senseless(op);
			set_message(s, out, "the reply makes no sense");
		}
		json_decref(doc);
		return;
	}
	out->retry_after_ms = retry_after(reply->retry_after);
	out->code = read_error(doc, out, code_of_status(reply->status, senseless(op)));
	if (out->code == PROVIDER_NOT_FOUND)
		out->code = PROVIDER_INVALID; /* not an instance but what we asked for is unknown */
	words = json_string_value(json_object_get(json_object_get(doc, "error"), "message"));
	set_message(s, out, words != NULL ? words : "an error without words");
	json_decref(doc);
}

const struct provider_ops provider_sim = {
	.name = "sim",
	.open = sim_open,
	.close = sim_close,
	.caps = sim_caps,
	.build = sim_build,
	.parse = sim_parse,
};
