/* lambda_parse.c - recognizes, authorizes and parses a request to Lambda's API. */
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/lambda.h"

enum { KEY_MAX = 4096 };

static const char prefix[] = "/api/v1/";

bool lambda_is(const struct face_visit *v)
{
	return strncmp(v->rq->path, prefix, sizeof(prefix) - 1) == 0;
}

void lambda_call_free(void *own)
{
	struct lambda_call *x = own;

	order_unref(x->order);
	free(x);
}

/* --- the key ---------------------------------------------------------------------------------- */

/* "Basic BASE64", of the key as a user without a password, or "Basic KEY". */
static bool is_basic(const char *header, const char *token)
{
	static const char scheme[] = "Basic ";
	size_t want = strlen(token), n = 0;
	unsigned char text[KEY_MAX];

	if (header == NULL || strncmp(header, scheme, sizeof(scheme) - 1) != 0)
		return false;
	header += sizeof(scheme) - 1;
	if (strlen(header) == want && CRYPTO_memcmp(header, token, want) == 0)
		return true;
	return base64_decode(BASE64_PLAIN, header, strlen(header), text, sizeof(text), &n) &&
	       n == want + 1 && text[want] == ':' && CRYPTO_memcmp(text, token, want) == 0;
}

enum code lambda_authorize(struct face_visit *v, struct err *e)
{
	const char *header = v->rq->authorization, *token = v->keys->token;

	if (token == NULL || face_bearer(header, token) || is_basic(header, token))
		return CODE_OK;
	(void)err_set(e, ERR_AUTH,
		      "global/invalid-api-key: API key was invalid, expired, or deleted.");
	return CODE_DENIED;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int one_id(struct face_call *f, const char *id, struct err *e)
{
	if (id[0] == '\0' || strlen(id) >= FACE_ID_SIZE)
		return err_set(e, ERR_INVALID, "id: want an id");
	f->n = 1;
	f->ids = mem_zalloc(sizeof(*f->ids));
	memcpy(f->ids[0], id, strlen(id) + 1);
	return 0;
}

static int read_terminate(struct face_call *f, const json_t *o, size_t max, struct err *e)
{
	static const char *const known[] = {"instance_ids", NULL};
	const json_t *list = json_object_get(o, "instance_ids"), *v;
	size_t i;

	if (js_only(o, known, e) != 0)
		return -1;
	f->many = true;
	f->n = json_array_size(list);
	if (f->n == 0 || f->n > max)
		return err_set(e, ERR_INVALID, "instance_ids: want 1 to %zu ids", max);
	f->ids = mem_zalloc(f->n * sizeof(*f->ids));
	json_array_foreach(list, i, v)
	{
		if (!json_is_string(v) || json_string_length(v) >= FACE_ID_SIZE)
			return err_set(e, ERR_INVALID, "instance_ids: want strings");
		memcpy(f->ids[i], json_string_value(v), json_string_length(v) + 1);
	}
	return 0;
}

static int read_body(struct face_call *f, const struct face_visit *v, struct err *e)
{
	json_error_t je;
	json_t *o = json_loadb(v->rq->body, v->rq->len, JSON_REJECT_DUPLICATES, &je);
	int rc;

	if (!json_is_object(o))
		rc = err_set(e, ERR_INVALID, "body: %.100s",
			     o == NULL ? je.text : "want an object");
	else
		rc = f->op == OP_CREATE ? lambda_read_launch(f, o, e)
					: read_terminate(f, o, (size_t)v->conf->delete_max, e);
	json_decref(o);
	return rc;
}

/* Read the query of a list: those of a cluster, which are none, or of a region. */
static int read_query(struct face_call *f, const struct http_request *rq, struct err *e)
{
	if (http_query(rq->query, "cluster_id", f->cluster, sizeof(f->cluster)) < 0 ||
	    http_query(rq->query, "region", f->region, sizeof(f->region)) < 0)
		return err_set(e, ERR_INVALID, "query: malformed");
	return 0;
}

static int read_page(struct face_call *f, const struct face_visit *v, struct err *e)
{
	char size[16], token[16], *end = size;
	int rc;

	f->limit = v->conf->page_max;
	f->after = -1;
	rc = http_query(v->rq->query, "page_size", size, sizeof(size));
	if (rc == 1)
		f->limit = strtol(size, &end, 10);
	if (rc < 0 || *end != '\0' || f->limit < 1)
		return err_set(e, ERR_INVALID, "page_size: want a number from 1");
	if (f->limit > v->conf->page_max)
		f->limit = v->conf->page_max;
	if (http_query(v->rq->query, "page_token", token, sizeof(token)) < 0)
		return err_set(e, ERR_INVALID, "page_token: malformed");
	if (token[0] == '\0')
		return read_query(f, v->rq, e);
	f->after = strtol(token + 1, &end, 10);
	if (token[0] != 'c' || *end != '\0' || f->after < 0 || f->after >= METER_ROWS_MAX)
		return err_set(e, ERR_INVALID, "page_token: not one of ours");
	return read_query(f, v->rq, e);
}

/* The operation that method and path name; -1: none that there is.  *id is the path's, or "". */
static int route(const struct http_request *rq, const char **id)
{
	static const struct {
		const char *method, *path;
		enum op op;
	} routes[] = {
		{"POST", "instance-operations/launch", OP_CREATE},
		{"POST", "instance-operations/terminate", OP_DELETE},
		{"GET", "instances", OP_LIST},
		{"GET", "instance-types", OP_OFFERS},
		{"GET", "topology/instance", OP_FABRIC},
	};
	static const char one[] = "instances/";
	const char *path = rq->path + sizeof(prefix) - 1;

	*id = "";
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (strcmp(rq->method, routes[i].method) == 0 && strcmp(path, routes[i].path) == 0)
			return (int)routes[i].op;
	if (strcmp(rq->method, "GET") != 0 || strncmp(path, one, sizeof(one) - 1) != 0)
		return -1;
	*id = path + sizeof(one) - 1;
	return OP_GET;
}

enum code lambda_parse(struct face_call **out, const struct face_visit *v, struct err *e)
{
	struct face_call *f;
	const char *id;
	int op = route(v->rq, &id), rc = 0;

	*out = NULL;
	if (op < 0) {
		(void)err_set(e, ERR_INVALID,
			      "global/not-found: The requested resource was not found.");
		return CODE_NOT_FOUND;
	}
	f = face_call_new(v, (enum op)op);
	if (op == OP_CREATE || op == OP_DELETE)
		rc = read_body(f, v, e);
	else if (op == OP_LIST)
		rc = read_query(f, v->rq, e);
	else if (op == OP_FABRIC)
		rc = read_page(f, v, e);
	else if (op == OP_GET)
		rc = one_id(f, id, e);
	if (rc != 0) {
		face_call_free(f);
		return CODE_INVALID;
	}
	*out = f;
	return CODE_OK;
}
