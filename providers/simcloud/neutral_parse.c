/* neutral_parse.c - parses a request to the REST API into a call: its path, its query, its body. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/neutral.h"

enum { GROUP_MAX = 1 << 30 };

static bool is_word(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

static bool is_name(const char *text)
{
	if (!isalnum((unsigned char)text[0]))
		return false;
	for (; *text != '\0'; text++)
		if (!isalnum((unsigned char)*text) && strchr("-_.", *text) == NULL)
			return false;
	return true;
}

static int read_user_data(struct cloud_want *w, const json_t *o, struct err *e)
{
	const json_t *v = json_object_get(o, "user_data");

	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_string(v) || json_string_length(v) > USERDATA_MAX)
		return err_set(e, ERR_INVALID, "user_data: want a string of at most %d bytes",
			       USERDATA_MAX);
	w->user_data = userdata_new(json_string_value(v), json_string_length(v));
	return 0;
}

static int read_want(struct cloud_want *w, const json_t *o, struct err *e)
{
	if (!json_is_object(o) || js_get_str(o, "name", w->node, sizeof(w->node), e) != 0 ||
	    js_get_int(o, "generation", &w->gen, e) != 0 ||
	    js_get_int(o, "group", &w->group, e) != 0 || read_user_data(w, o, e) != 0)
		return err_wrap(e, "instances");
	if (!is_name(w->node) || w->group > GROUP_MAX)
		return err_set(e, ERR_INVALID, "instances: want a host name and a small group");
	return 0;
}

/* User-data beside the list is for all instances that have none of their own. */
static int share_user_data(struct face_call *f, const json_t *o, struct err *e)
{
	struct cloud_want all = {0};

	if (read_user_data(&all, o, e) != 0)
		return -1;
	for (size_t i = 0; i < f->n; i++)
		if (f->wants[i].user_data == NULL)
			f->wants[i].user_data = userdata_ref(all.user_data);
	userdata_unref(all.user_data);
	return 0;
}

static int read_create(struct face_call *f, const json_t *o, const struct settings *conf,
		       struct err *e)
{
	const json_t *list = json_object_get(o, "instances"), *v;
	char market[16] = "on-demand";
	size_t i;

	if (js_get_str(o, "token", f->token, sizeof(f->token), e) != 0 ||
	    js_get_str(o, "cluster", f->cluster, sizeof(f->cluster), e) != 0 ||
	    js_get_str(o, "type", f->type, sizeof(f->type), e) != 0 ||
	    js_get_str(o, "region", f->region, sizeof(f->region), e) != 0 ||
	    js_get_str(o, "zone", f->zone, sizeof(f->zone), e) != 0 ||
	    js_get_str(o, "fabric", f->fabric, sizeof(f->fabric), e) != 0 ||
	    js_get_str(o, "image", f->image, sizeof(f->image), e) != 0 ||
	    js_get_str(o, "market", market, sizeof(market), e) != 0)
		return -1;
	if (!is_word(f->token) || !is_word(f->cluster))
		return err_set(e, ERR_INVALID, "token, cluster: want printable characters");
	if (market_parse(market, &f->market, e) != 0)
		return -1;
	f->n = json_array_size(list);
	if (f->n == 0 || f->n > (size_t)conf->create_max)
		return err_set(e, ERR_INVALID, "instances: want 1 to %d", (int)conf->create_max);
	f->wants = mem_zalloc(f->n * sizeof(*f->wants));
	json_array_foreach(list, i, v) if (read_want(&f->wants[i], v, e) != 0) return -1;
	return share_user_data(f, o, e);
}

static int read_ids(struct face_call *f, const json_t *o, const struct settings *conf,
		    struct err *e)
{
	const json_t *list = json_object_get(o, "ids"), *v;
	size_t i;

	f->n = json_array_size(list);
	if (f->n == 0 || f->n > (size_t)conf->delete_max)
		return err_set(e, ERR_INVALID, "ids: want 1 to %d", (int)conf->delete_max);
	f->ids = mem_zalloc(f->n * sizeof(*f->ids));
	json_array_foreach(list, i, v)
	{
		if (!json_is_string(v) || json_string_length(v) >= FACE_ID_SIZE)
			return err_set(e, ERR_INVALID, "ids: want strings");
		memcpy(f->ids[i], json_string_value(v), json_string_length(v) + 1);
	}
	return 0;
}

/* Read "id,state": show only these fields, which many clouds offer because lists are long. */
static int read_fields(unsigned *out, char *text, struct err *e)
{
	char *save = NULL;

	*out = 0;
	for (char *w = strtok_r(text, ",", &save); w != NULL; w = strtok_r(NULL, ",", &save)) {
		unsigned f = 0;

		while (f < NEUTRAL_NFIELDS && strcmp(neutral_field_names[f], w) != 0)
			f++;
		if (f == NEUTRAL_NFIELDS)
			return err_set(e, ERR_INVALID, "fields: an instance has no \"%.40s\"", w);
		*out |= 1U << f;
	}
	return 0;
}

static int read_list(struct face_call *f, const struct http_request *rq,
		     const struct settings *conf, struct err *e)
{
	char limit[16], cursor[32], fields[256], *end = limit;
	int rc;

	f->limit = conf->page_max;
	f->after = -1;
	if (http_query(rq->query, "cluster", f->cluster, sizeof(f->cluster)) < 0)
		return err_set(e, ERR_INVALID, "cluster: malformed");
	rc = http_query(rq->query, "limit", limit, sizeof(limit));
	if (rc == 1)
		f->limit = strtol(limit, &end, 10);
	if (rc < 0 || (rc == 1 && (*end != '\0' || f->limit < 1)))
		return err_set(e, ERR_INVALID, "limit: want a number from 1");
	if (f->limit > conf->page_max)
		f->limit = conf->page_max; /* F16: the cap may be smaller than what was asked */
	f->fields = NEUTRAL_ALL;
	rc = http_query(rq->query, "fields", fields, sizeof(fields));
	if (rc < 0)
		return err_set(e, ERR_INVALID, "fields: malformed");
	if (rc == 1 && read_fields(&f->fields, fields, e) != 0)
		return -1;
	if (http_query(rq->query, "cursor", cursor, sizeof(cursor)) < 0)
		return err_set(e, ERR_INVALID, "cursor: malformed");
	if (cursor[0] == '\0')
		return 0;
	f->after = strtol(cursor + 1, &end, 10);
	if (cursor[0] != 'c' || *end != '\0' || f->after < 0 || f->after >= METER_ROWS_MAX)
		return err_set(e, ERR_INVALID, "cursor: not one of ours");
	return 0;
}

static int read_number(const struct http_request *rq, const char *name, int64_t max, int64_t *out,
		       struct err *e)
{
	char text[24];
	int rc = http_query(rq->query, name, text, sizeof(text));

	if (rc == 0 || (rc == 1 && text[0] == '\0'))
		return 0;
	if (rc < 0 || strlen(text) > 18 || text[strspn(text, "0123456789")] != '\0')
		return err_set(e, ERR_INVALID, "%s: want a number", name);
	*out = strtoll(text, NULL, 10);
	*out = *out < max ? *out : max;
	return 0;
}

static int read_notices(struct face_call *f, const struct http_request *rq, struct err *e)
{
	if (http_query(rq->query, "cluster", f->cluster, sizeof(f->cluster)) < 0)
		return err_set(e, ERR_INVALID, "cluster: malformed");
	if (read_number(rq, "after", INT64_MAX, &f->after, e) != 0)
		return -1;
	return read_number(rq, "wait", NEUTRAL_WAIT_MAX_MS, &f->wait_ms, e);
}

static int read_reason(struct face_call *f, const json_t *o, struct err *e)
{
	static const char *const known[] = {"reason", NULL};

	return js_only(o, known, e) != 0 ? -1
					 : js_get_str(o, "reason", f->reason, sizeof(f->reason), e);
}

static int read_body(struct face_call *f, const struct http_request *rq,
		     const struct settings *conf, struct err *e)
{
	json_error_t je;
	json_t *o = json_loadb(rq->body, rq->len, JSON_REJECT_DUPLICATES, &je);
	int rc;

	if (!json_is_object(o))
		rc = err_set(e, ERR_INVALID, "body: %.100s",
			     o == NULL ? je.text : "want an object");
	else
		rc = f->op == OP_CREATE   ? read_create(f, o, conf, e)
		     : f->op == OP_REPORT ? read_reason(f, o, e)
					  : read_ids(f, o, conf, e);
	json_decref(o);
	f->body_hash = token_hash(rq->body, rq->len);
	f->body_len = rq->len;
	return rc;
}

/* Read the id in the path; in that of a report or a console it stands before the last word. */
static int read_one_id(struct face_call *f, const char *id, struct err *e)
{
	size_t n = f->op == OP_REPORT || f->op == OP_CONSOLE ? (size_t)(strrchr(id, '/') - id)
							     : strlen(id);

	if (n == 0 || n >= FACE_ID_SIZE)
		return err_set(e, ERR_INVALID, "want an id");
	f->n = 1;
	f->ids = mem_zalloc(sizeof(*f->ids));
	memcpy(f->ids[0], id, n);
	return 0;
}

static bool ends(const char *path, const char *with)
{
	const char *tail = strrchr(path, '/');

	return tail != NULL && strcmp(tail, with) == 0;
}

/* The operation that method and path name; -1: none of this API. */
static int route(const struct http_request *rq, const char **id, bool *many)
{
	static const char all[] = "/v1/instances";
	bool get = strcmp(rq->method, "GET") == 0, post = strcmp(rq->method, "POST") == 0;

	*id = NULL;
	*many = post && strcmp(rq->path, "/v1/instances/delete") == 0;
	if (*many)
		return OP_DELETE;
	if (post && strcmp(rq->path, NEUTRAL_PATHS) == 0)
		return OP_FABRIC;
	if (get && strcmp(rq->path, "/v1/offers") == 0)
		return OP_OFFERS;
	if (get && strcmp(rq->path, "/v1/notices") == 0)
		return OP_NOTICES;
	if (strncmp(rq->path, all, sizeof(all) - 1) != 0)
		return -1;
	if (rq->path[sizeof(all) - 1] == '\0')
		return post ? OP_CREATE : get ? OP_LIST : -1;
	if (rq->path[sizeof(all) - 1] != '/')
		return -1;
	*id = rq->path + sizeof(all);
	if (post && ends(*id, "/report"))
		return OP_REPORT;
	if (get && ends(*id, "/console"))
		return OP_CONSOLE;
	return get ? OP_GET : strcmp(rq->method, "DELETE") == 0 ? OP_DELETE : -1;
}

enum code neutral_parse(struct face_call **out, const struct face_visit *v, struct err *e)
{
	const struct http_request *rq = v->rq;
	struct face_call *f;
	const char *id;
	bool many;
	int op = route(rq, &id, &many), rc = 0;

	*out = NULL;
	if (neutral_fabric_is(rq))
		return neutral_fabric_parse(out, v, e);
	if (op < 0) {
		(void)err_set(e, ERR_INVALID, "no such method and path");
		return CODE_NOT_FOUND;
	}
	f = face_call_new(v, (enum op)op);
	f->many = many;
	f->verb = FACE_PATHS; /* of OP_FABRIC here */
	if (id != NULL)
		rc = read_one_id(f, id, e);
	if (rc != 0 || (id != NULL && op != OP_REPORT) || op == OP_OFFERS)
		; /* there is nothing more to read */
	else if (op == OP_LIST)
		rc = read_list(f, rq, v->conf, e);
	else if (op == OP_NOTICES)
		rc = read_notices(f, rq, e);
	else
		rc = read_body(f, rq, v->conf, e);
	if (rc != 0) {
		face_call_free(f);
		return CODE_INVALID;
	}
	*out = f;
	return CODE_OK;
}
