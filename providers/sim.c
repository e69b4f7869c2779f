#include "providers/sim.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/str.h"
#include "providers/sim_private.h"

enum {
	BODY_MAX = 1 << 20,
	URL_MAX = 2048,
	HEADER_MAX = 8192, /* the longest credentials are tokens of a few KiB */
	TOKEN_MAX = 128,
	TOKEN_LIFE_MS = 86400000,
};

/* The only fields of a list that sim_parse() reads: with ten thousand rows every byte counts. */
#define LIST_FIELDS "cluster,name,generation,id,state,address,created_ms,ended_ms,reclaim_ms"

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
	secret_wipe(&s->credential);
	free(s->base);
	free(s);
}

static struct provider_caps sim_caps(const void *self)
{
	(void)self;
	return (struct provider_caps){
		.flags = PROVIDER_TOKENS | PROVIDER_TAGS | PROVIDER_GANGS | PROVIDER_TELLS |
			 PROVIDER_REPORTS | PROVIDER_FABRICS,
		.create_max = SIM_BATCH_MAX,
		.delete_max = SIM_BATCH_MAX,
		.token_ms = TOKEN_LIFE_MS,
	};
}

/* --- requests --------------------------------------------------------------------------------- */

bool sim_is_plain(const char *text, size_t max)
{
	for (const char *p = text; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
			return false;
	return strlen(text) <= max;
}

static bool is_create(const struct provider_create *c)
{
	const struct provider_place *p = c->place;

	if (c->nwants == 0 || c->nwants > SIM_BATCH_MAX || c->token[0] == '\0' ||
	    c->cluster[0] == '\0')
		return false;
	if (!sim_is_plain(c->token, TOKEN_MAX) || !sim_is_plain(c->cluster, PROVIDER_WORD_MAX) ||
	    !sim_is_plain(p->type, PROVIDER_WORD_MAX) ||
	    !sim_is_plain(p->region, PROVIDER_WORD_MAX) ||
	    !sim_is_plain(p->zone, PROVIDER_WORD_MAX) ||
	    (provider_in_fabric(p) && !sim_is_plain(p->fabric, PROVIDER_WORD_MAX)))
		return false;
	for (size_t i = 0; i < c->nwants; i++)
		if (c->wants[i].node[0] == '\0' ||
		    !sim_is_plain(c->wants[i].node, HOSTLIST_NAME_MAX) ||
		    c->wants[i].gen > INT64_MAX)
			return false;
	return true;
}

/* User-data is secret for a while: wipe the copy. */
static int add_user_data(struct str *s, const char *text)
{
	json_t *value = text != NULL ? json_string(text) : NULL;
	char *quoted = value != NULL ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

	json_decref(value);
	if (quoted != NULL)
		str_addf(s, "\"user_data\":%s,", quoted);
	if (text != NULL && quoted == NULL)
		return -1;
	secret_wipe(&quoted);
	return 0;
}

static int build_create(const struct provider_create *c, struct provider_request *out,
			struct str *url, struct err *e)
{
	char gen[FMT_U64_SIZE];
	struct str s;

	if (!is_create(c))
		return err_set(e, ERR_INVALID, "create: 1 to %d instances of plain names",
			       SIM_BATCH_MAX);
	str_adds(url, "/v1/instances");
	str_init(&s, BODY_MAX);
	s.secret = true;
	str_addf(&s, "{\"token\":\"%s\",\"cluster\":\"%s\",\"type\":\"%s\",\"region\":\"%s\",",
		 c->token, c->cluster, c->place->type, c->place->region);
	str_addf(&s, "\"zone\":\"%s\",\"market\":\"%s\",", c->place->zone,
		 provider_market_str(c->place->market));
	if (provider_in_fabric(c->place))
		str_addf(&s, "\"fabric\":\"%s\",", c->place->fabric);
	if (add_user_data(&s, c->user_data) != 0) {
		str_fini(&s);
		return err_set(e, ERR_INVALID, "create: user-data is not valid UTF-8");
	}
	str_adds(&s, "\"instances\":[");
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

	if (n == 0 || n > SIM_BATCH_MAX)
		return err_set(e, ERR_INVALID, "delete: want 1 to %d ids", SIM_BATCH_MAX);
	for (size_t i = 0; i < n; i++)
		if (ids[i][0] == '\0' || !sim_is_plain(ids[i], PROVIDER_ID_MAX))
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
	str_addf(url, "/v1/instances?limit=%d&fields=" LIST_FIELDS "&cluster=", SIM_BATCH_MAX);
	add_escaped(url, cluster);
	if (cursor[0] != '\0') {
		str_adds(url, "&cursor=");
		add_escaped(url, cursor);
	}
}

static int build_fabric(const struct provider_op *op, struct provider_request *out, struct str *url,
			struct err *e)
{
	const char *cluster = op->u.fabric.cluster, *name = op->u.fabric.name;
	bool list = op->kind == PROVIDER_FABRIC_LIST;
	struct str s;

	if (!sim_is_plain(cluster, PROVIDER_WORD_MAX) ||
	    (!list && (name[0] == '\0' || !sim_is_plain(name, PROVIDER_WORD_MAX))))
		return err_set(e, ERR_INVALID, "fabric: not a plain name");
	str_adds(url, "/v1/fabrics");
	if (list) {
		str_addf(url, "?limit=%d&cluster=", SIM_BATCH_MAX);
		add_escaped(url, cluster);
		str_adds(url, provider_cursor(op)[0] != '\0' ? "&cursor=" : "");
		add_escaped(url, provider_cursor(op));
		return 0;
	}
	if (op->kind == PROVIDER_FABRIC_DROP) {
		str_adds(url, "/");
		add_escaped(url, name);
		out->method = "DELETE";
		return 0;
	}
	str_init(&s, BODY_MAX);
	str_addf(&s, "{\"cluster\":\"%s\",\"name\":\"%s\"}", cluster, name);
	out->method = "POST";
	out->body_len = s.len;
	out->body = str_take(&s);
	return 0;
}

static void build_notices(const struct provider_op *op, struct str *url)
{
	str_addf(url, "/v1/notices?wait=%u&after=", (unsigned)op->u.notices.wait_ms);
	add_escaped(url, provider_cursor(op));
	str_adds(url, "&cluster=");
	add_escaped(url, op->u.notices.cluster);
}

static int build_report(const struct provider_op *op, struct provider_request *out, struct str *url,
			struct err *e)
{
	const char *id = op->u.report.id;
	json_t *body = json_pack("{s:s}", "reason", op->u.report.words);

	if (body == NULL || id[0] == '\0' || !sim_is_plain(id, PROVIDER_ID_MAX)) {
		json_decref(body);
		return err_set(e, ERR_INVALID, "report: want an id of this provider, and text");
	}
	str_adds(url, "/v1/instances/");
	add_escaped(url, id);
	str_adds(url, "/report");
	out->method = "POST";
	out->body = mem_check(json_dumps(body, JSON_COMPACT));
	out->body_len = strlen(out->body);
	json_decref(body);
	return 0;
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
		build_list(op->u.list.cluster, provider_cursor(op), &url);
		break;
	case PROVIDER_DELETE:
		rc = build_delete(op->u.del.ids, op->u.del.nids, out, &url, e);
		break;
	case PROVIDER_QUOTES:
		str_adds(&url, "/v1/offers");
		break;
	case PROVIDER_NOTICES:
		build_notices(op, &url);
		break;
	case PROVIDER_REPORT:
		rc = build_report(op, out, &url, e);
		break;
	case PROVIDER_FABRIC_MAKE:
	case PROVIDER_FABRIC_LIST:
	case PROVIDER_FABRIC_DROP:
		rc = build_fabric(op, out, &url, e);
		break;
	case PROVIDER_LOGIN:
	case PROVIDER_STEP:
	case PROVIDER_NOPS:
		rc = err_set(e, ERR_INVALID, "there is no such request");
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

const struct provider_ops provider_sim = {
	.name = "sim",
	.open = sim_open,
	.close = sim_close,
	.caps = sim_caps,
	.build = sim_build,
	.parse = sim_parse,
};
