#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/neutral.h"

enum { BODY_MAX = 512 << 10 };

static const char path[] = "/v1/fabrics";

bool neutral_fabric_is(const struct http_request *rq)
{
	return strncmp(rq->path, path, sizeof(path) - 1) == 0 &&
	       (rq->path[sizeof(path) - 1] == '\0' || rq->path[sizeof(path) - 1] == '/');
}

static bool is_name(const char *text)
{
	const char *p = text;

	while (*p > ' ' && *p <= '~' && *p != '/' && *p != '"' && *p != '\\')
		p++;
	return p > text && *p == '\0' && strlen(text) < SETTINGS_WORD_SIZE;
}

static int read_make(struct face_call *f, const struct http_request *rq, struct err *e)
{
	json_error_t je;
	json_t *o = json_loadb(rq->body, rq->len, JSON_REJECT_DUPLICATES, &je);
	int rc;

	if (!json_is_object(o))
		rc = err_set(e, ERR_INVALID, "body: %.100s",
			     o == NULL ? je.text : "want an object");
	else
		rc = js_get_str(o, "name", f->fabric, sizeof(f->fabric), e) |
		     js_get_str(o, "cluster", f->cluster, sizeof(f->cluster), e);
	json_decref(o);
	if (rc == 0 && !is_name(f->fabric))
		rc = err_set(e, ERR_INVALID, "name: want one word");
	return rc;
}

static int read_call(struct face_call *f, const struct http_request *rq, struct err *e)
{
	const char *name = rq->path + sizeof(path) - 1;

	if (strcmp(rq->method, "POST") == 0 && name[0] == '\0') {
		f->verb = FACE_MAKE;
		return read_make(f, rq, e);
	}
	if (strcmp(rq->method, "GET") == 0 && name[0] == '\0') {
		f->verb = FACE_LIST;
		return http_query(rq->query, "cluster", f->cluster, sizeof(f->cluster)) >= 0
			       ? 0
			       : err_set(e, ERR_INVALID, "cluster: malformed");
	}
	f->verb = FACE_DROP;
	if (strcmp(rq->method, "DELETE") != 0 || !is_name(name + 1))
		return err_set(e, ERR_INVALID, "no such method and path");
	memcpy(f->fabric, name + 1, strlen(name + 1) + 1);
	return 0;
}

enum code neutral_fabric_parse(struct face_call **out, const struct face_visit *v, struct err *e)
{
	struct face_call *f = face_call_new(v, OP_FABRIC);

	*out = NULL;
	if (read_call(f, v->rq, e) != 0) {
		face_call_free(f);
		return CODE_INVALID;
	}
	*out = f;
	return CODE_OK;
}

static void put_one(struct str *s, const struct cloud_fabric *fab)
{
	js_open(s, NULL, '{');
	js_str(s, "name", fab->name);
	js_str(s, "cluster", fab->cluster);
	js_close(s, '}');
}

static void put_all(struct str *s, const struct face_call *f, const struct cloud *c)
{
	js_open(s, NULL, '{');
	js_open(s, "fabrics", '[');
	for (size_t i = 0; i < c->nfabrics; i++)
		if (f->cluster[0] == '\0' || !c->conf->filter ||
		    strcmp(c->fabrics[i].cluster, f->cluster) == 0)
			put_one(s, &c->fabrics[i]);
	js_close(s, ']');
	js_str(s, "cursor", "");
	js_close(s, '}');
}

/* The paths of those that run; the answer leaves out all others. */
static void run_paths(const struct face_call *f, const struct cloud *c, int64_t now,
		      struct face_reply *out)
{
	struct fabric_path to;
	struct str s;

	str_init(&s, BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "instances", '[');
	for (size_t i = 0; i < f->n; i++) {
		const struct cloud_instance *in = cloud_find(c, f->ids[i], now);

		if (in == NULL || cloud_shown(in, now) != CLOUD_RUNNING)
			continue;
		fabric_path(c, in, &to);
		js_open(&s, NULL, '{');
		js_str(&s, "id", f->ids[i]);
		js_open(&s, "path", '[');
		for (size_t k = 0; k < to.n; k++)
			js_str(&s, NULL, to.at[k]);
		js_close(&s, ']');
		js_close(&s, '}');
	}
	js_close(&s, ']');
	js_close(&s, '}');
	out->len = s.len;
	out->body = str_take(&s);
}

void neutral_fabric_run(const struct face_call *f, struct cloud *c, int64_t now,
			struct face_reply *out)
{
	const struct cloud_fabric *there = fabric_find(c, f->fabric);
	struct cloud_fabric fab = {.region = ""};
	enum code code = CODE_OK;
	struct str s;

	if (f->verb == FACE_PATHS) {
		run_paths(f, c, now, out);
		return;
	}
	memcpy(fab.name, f->fabric, sizeof(fab.name));
	memcpy(fab.cluster, f->cluster, sizeof(fab.cluster));
	if (f->verb == FACE_MAKE)
		code = fabric_make(c, &fab);
	else if (f->verb == FACE_DROP)
		code = fabric_drop(c, f->fabric);
	if (code == CODE_TOKEN_MISMATCH && strcmp(there->cluster, f->cluster) == 0)
		code = CODE_OK; /* the caller's own, made before */
	if (code != CODE_OK) {
		neutral_error(out, code,
			      code == CODE_NOT_FOUND ? "no such fabric"
			      : code == CODE_NOT_YET ? "an instance is in it"
						     : NULL);
		return;
	}
	str_init(&s, BODY_MAX);
	if (f->verb == FACE_LIST)
		put_all(&s, f, c);
	else
		put_one(&s, &fab);
	out->len = s.len;
	out->body = str_take(&s);
}
