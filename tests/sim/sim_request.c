/* sim_request.c - reads a driver's requests as the provider does, in simcloud's neutral API. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_wire.h"

static uint64_t hash(const char *p, size_t n)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * UINT64_C(1099511628211);
	return h;
}

static void copy(char *out, size_t size, const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	(void)snprintf(out, size, "%s", s != NULL ? s : "");
}

/* Of lines key=value. */
static void copy_line(char *out, size_t size, const char *text, const char *key)
{
	const char *at = strstr(text, key);

	at = at != NULL ? at + strlen(key) : "";
	(void)snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
}

/* What stage0 would find in its user-data. */
static void read_user_data(struct create_request *rq, const json_t *o)
{
	const char *text = json_string_value(json_object_get(o, "user_data"));
	const char *id = text != NULL ? strstr(text, " ID='") : NULL;
	const char *secret = text != NULL ? strstr(text, "\nprintf %s '") : NULL;

	if (text != NULL) {
		copy_line(rq->lines.token, sizeof(rq->lines.token), text, "\nwrap_token=");
		copy_line(rq->lines.node, sizeof(rq->lines.node), text, "\nnode=");
		copy_line(rq->lines.gen, sizeof(rq->lines.gen), text, "\ngeneration=");
	}
	if (id == NULL || secret == NULL)
		return;
	(void)snprintf(rq->claim_id, sizeof(rq->claim_id), "%.*s", (int)strcspn(id + 5, "'"),
		       id + 5);
	(void)snprintf(rq->claim_secret, sizeof(rq->claim_secret), "%.*s",
		       (int)strcspn(secret + 12, "'"), secret + 12);
}

static int read_create(struct wire *q, const json_t *o)
{
	const json_t *list = json_object_get(o, "instances");
	struct create_request *rq = &q->create;

	copy(rq->token, sizeof(rq->token), o, "token");
	copy(rq->cluster, sizeof(rq->cluster), o, "cluster");
	copy(rq->type, sizeof(rq->type), o, "type");
	copy(rq->region, sizeof(rq->region), o, "region");
	copy(rq->market, sizeof(rq->market), o, "market");
	copy(rq->fabric, sizeof(rq->fabric), o, "fabric");
	copy(rq->image, sizeof(rq->image), o, "image");
	read_user_data(rq, o);
	rq->n = json_array_size(list);
	if (rq->n == 0 || rq->n > CLOUD_WANTS_MAX || rq->token[0] == '\0')
		return -1;
	for (size_t i = 0; i < rq->n; i++) {
		const json_t *v = json_array_get(list, i);

		copy(rq->wants[i].node, sizeof(rq->wants[i].node), v, "name");
		rq->wants[i].gen = (uint64_t)json_integer_value(json_object_get(v, "generation"));
		rq->wants[i].group = (uint32_t)json_integer_value(json_object_get(v, "group"));
	}
	return 0;
}

static int read_id(struct wire *q, const char *id)
{
	if (id == NULL || strncmp(id, "i-", 2) != 0 || q->nids == CLOUD_WANTS_MAX)
		return -1;
	q->ids[q->nids++] = (uint32_t)strtoul(id + 2, NULL, 10);
	return 0;
}

static int read_body(struct wire *q, const struct http_call *call)
{
	json_t *o = json_loadb(call->body, call->body_len, 0, NULL);
	int rc = -1;

	q->create.hash = hash(call->body, call->body_len);
	if (q->kind == WIRE_MAKE) {
		copy(q->create.fabric, sizeof(q->create.fabric), o, "name");
		copy(q->create.cluster, sizeof(q->create.cluster), o, "cluster");
		rc = q->create.fabric[0] != '\0' ? 0 : -1;
	} else if (q->kind == WIRE_CREATE)
		rc = read_create(q, o);
	else if (o != NULL) {
		const json_t *ids = json_object_get(o, "ids"), *v;
		size_t i;

		rc = json_array_size(ids) > 0 ? 0 : -1;
		json_array_foreach(ids, i, v) rc = rc | read_id(q, json_string_value(v));
	}
	json_decref(o);
	return rc;
}

int sim_wire_read(const struct world *w, struct wire *q, const struct http_call *call)
{
	const char *path = call->url + strlen(w->url), *at;
	bool get = strcmp(call->method, "GET") == 0, post = strcmp(call->method, "POST") == 0;

	q->kind = WIRE_NONE;
	if (strncmp(call->url, "https://", 8) == 0) {
		q->kind = WIRE_STORE;
		(void)snprintf(q->url, sizeof(q->url), "%s", call->url);
		if (call->body_len > 0)
			q->put = mem_strdup(call->body);
		return 0;
	}
	if (get && strncmp(path, "/v1/offers", 10) == 0)
		q->kind = WIRE_OFFERS;
	else if (get && strncmp(path, "/v1/instances?", 14) == 0)
		q->kind = WIRE_LIST;
	else if (get && strncmp(path, "/v1/notices?wait=", 17) == 0)
		q->kind = WIRE_NOTICES;
	else if (post && strcmp(path, "/v1/fabrics") == 0)
		q->kind = WIRE_MAKE;
	else if (get && strncmp(path, "/v1/fabrics?", 12) == 0)
		q->kind = WIRE_NAMES;
	else if (post && strcmp(path, "/v1/instances") == 0)
		q->kind = WIRE_CREATE;
	else if (get && strncmp(path, "/v1/operations/", 15) == 0)
		q->kind = WIRE_STEP;
	else if (post && strcmp(path, "/v1/instances/delete") == 0)
		q->kind = WIRE_DELETE;
	else if (post && strcmp(path, "/v1/topology") == 0)
		q->kind = WIRE_PATHS;
	if (q->kind == WIRE_CREATE || q->kind == WIRE_DELETE || q->kind == WIRE_MAKE ||
	    q->kind == WIRE_PATHS)
		return read_body(q, call);
	at = strstr(path, "/report");
	if (post && strncmp(path, "/v1/instances/", 14) == 0 && at != NULL) {
		char id[24];

		q->kind = WIRE_REPORT;
		(void)snprintf(id, sizeof(id), "%.*s", (int)(at - path - 14), path + 14);
		return read_id(q, id);
	}
	at = strstr(path, "/console");
	if (get && strncmp(path, "/v1/instances/", 14) == 0 && at != NULL) {
		char id[24];

		q->kind = WIRE_CONSOLE;
		(void)snprintf(id, sizeof(id), "%.*s", (int)(at - path - 14), path + 14);
		return read_id(q, id);
	}
	if (strcmp(call->method, "DELETE") == 0 && strncmp(path, "/v1/fabrics/", 12) == 0) {
		q->kind = WIRE_DROP;
		(void)snprintf(q->create.fabric, sizeof(q->create.fabric), "%.63s", path + 12);
	}
	if (q->kind == WIRE_STEP)
		(void)snprintf(q->cursor, sizeof(q->cursor), "%s", path + 15);
	at = q->kind == WIRE_LIST ? strstr(path, "cursor=") : NULL;
	if (at != NULL)
		(void)snprintf(q->cursor, sizeof(q->cursor), "%.*s", (int)strcspn(at + 7, "&"),
			       at + 7);
	if (strcmp(call->method, "DELETE") == 0 && strncmp(path, "/v1/instances/", 14) == 0) {
		q->kind = WIRE_DELETE;
		q->single = true;
		return read_id(q, path + 14);
	}
	return q->kind == WIRE_NONE ? -1 : 0;
}
