/* spheron_parse.c - recognizes, authorizes and parses a request to Spheron's API. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/path.h"
#include "providers/simcloud/spheron.h"

/* {id}: one word. */
static const struct route {
	const char *method, *path;
	enum op op;
	enum spheron_action action;
} routes[] = {
	{"GET", "/api/gpu-offers", OP_OFFERS, SPHERON_OFFERS},
	{"POST", "/api/deployments", OP_CREATE, SPHERON_CREATE},
	{"GET", "/api/deployments", OP_LIST, SPHERON_LIST},
	{"GET", "/api/deployments/{id}/can-terminate", OP_GET, SPHERON_CAN_TERMINATE},
	{"GET", "/api/deployments/{id}", OP_GET, SPHERON_GET},
	{"PATCH", "/api/deployments/{id}", OP_GET, SPHERON_RENAME},
	{"DELETE", "/api/deployments/{id}", OP_DELETE, SPHERON_DELETE},
	{"GET", "/api/balance", OP_OFFERS, SPHERON_BALANCE},
	{"GET", "/api/teams", OP_OFFERS, SPHERON_TEAMS},
	{"GET", "/api/providers", OP_OFFERS, SPHERON_PROVIDERS},
	{"GET", "/api/ssh-keys", OP_OFFERS, SPHERON_KEYS},
	{"POST", "/api/ssh-keys", OP_OFFERS, SPHERON_ADD_KEY},
	{"DELETE", "/api/ssh-keys/{id}", OP_OFFERS, SPHERON_DROP_KEY},
};

enum { NROUTES = sizeof(routes) / sizeof(routes[0]) };

/* Other faces have versions in their paths: /api/v1/. */
bool spheron_is(const struct face_visit *v)
{
	const char *path = v->rq->path;

	return strncmp(path, "/api/", 5) == 0 &&
	       !(path[5] == 'v' && path[6] >= '0' && path[6] <= '9');
}

void spheron_call_free(void *own)
{
	struct spheron_call *x = own;

	order_unref(x->order);
	free(x->key);
	free(x);
}

/* --- who asks --------------------------------------------------------------------------------- */

/* Is it refused for its User-Agent alone, whatever the key?  None, and Python's own; that of
 * python-requests and curl are known to pass. */
static bool is_robot(const struct http_request *rq)
{
	const char *agent = http_header(rq, "User-Agent");

	return agent == NULL || agent[0] == '\0' || strncmp(agent, "Python-urllib", 13) == 0;
}

enum code spheron_authorize(struct face_visit *v, struct err *e)
{
	const char *key = v->keys->token;

	/* Offers are public; a robot is refused by spheron_parse(), with 403 instead of 401. */
	if (key == NULL || is_robot(v->rq) || strcmp(v->rq->path, "/api/gpu-offers") == 0 ||
	    face_bearer(v->rq->authorization, key))
		return CODE_OK;
	(void)err_set(e, ERR_AUTH, "UNAUTHORIZED: Invalid or missing API key");
	return CODE_DENIED;
}

/* --- the query -------------------------------------------------------------------------------- */

static int read_number(int64_t *out, const char *query, const char *name, int64_t max,
		       struct err *e)
{
	char text[16], *end = text;
	int rc = http_query(query, name, text, sizeof(text));

	if (rc == 0)
		return 0;
	if (rc == 1)
		*out = strtol(text, &end, 10);
	if (rc < 0 || *end != '\0' || *out < 1)
		return err_set(e, ERR_INVALID, "%s must be a positive number", name);
	if (*out > max)
		*out = max;
	return 0;
}

static int read_word(char *out, size_t size, const char *query, const char *name, struct err *e)
{
	return http_query(query, name, out, size) >= 0
		       ? 0
		       : err_set(e, ERR_INVALID, "%s is malformed", name);
}

static int one_of(const char *word, const char *const *words, const char *name, struct err *e)
{
	for (; *words != NULL; words++)
		if (strcmp(word, *words) == 0)
			return 0;
	return err_set(e, ERR_INVALID, "%s: unknown value \"%.40s\"", name, word);
}

static int read_query(struct spheron_call *x, const char *query, struct err *e)
{
	static const char *const kinds[] = {"", "SPOT", "DEDICATED", "CLUSTER", "BARE_METAL", NULL};
	static const char *const orders[] = {"", "lowestPrice", "highestPrice", "averagePrice",
					     NULL};
	char way[8] = "";

	x->limit = SPHERON_PAGE;
	if (read_number(&x->page, query, "page", METER_ROWS_MAX, e) != 0 ||
	    read_number(&x->limit, query, "limit", SPHERON_PAGE_MAX, e) != 0 ||
	    read_word(x->status, sizeof(x->status), query, "status", e) != 0 ||
	    read_word(x->kind, sizeof(x->kind), query, "instanceType", e) != 0 ||
	    read_word(x->search, sizeof(x->search), query, "search", e) != 0 ||
	    read_word(x->sort_by, sizeof(x->sort_by), query, "sortBy", e) != 0 ||
	    read_word(way, sizeof(way), query, "sortOrder", e) != 0 ||
	    one_of(x->kind, kinds, "instanceType", e) != 0 ||
	    one_of(x->sort_by, orders, "sortBy", e) != 0)
		return -1;
	x->descending = strcmp(way, "desc") == 0;
	return 0;
}

/* --- the path --------------------------------------------------------------------------------- */

static const struct route *find(const struct http_request *rq, char id[PATH_ID_SIZE], bool *known)
{
	*known = false;
	for (size_t k = 0; k < NROUTES; k++) {
		if (!path_fits(routes[k].path, rq->path, id))
			continue;
		*known = true;
		if (strcmp(routes[k].method, rq->method) == 0)
			return &routes[k];
	}
	return NULL;
}

static enum code read_call(struct face_call *f, const struct http_request *rq, struct err *e)
{
	switch (((const struct spheron_call *)f->own)->action) {
	case SPHERON_LIST:
	case SPHERON_OFFERS:
		return read_query(f->own, rq->query, e) == 0 ? CODE_OK : CODE_INVALID;
	case SPHERON_CREATE:
	case SPHERON_RENAME:
	case SPHERON_ADD_KEY:
		return spheron_read_body(f, rq, e);
	default:
		return CODE_OK;
	}
}

enum code spheron_parse(struct face_call **out, const struct face_visit *v, struct err *e)
{
	const struct route *r;
	struct spheron_call *x;
	struct face_call *f;
	char id[PATH_ID_SIZE];
	enum code code;
	bool known;

	*out = NULL;
	if (is_robot(v->rq)) {
		(void)err_set(e, ERR_AUTH, "Forbidden");
		return CODE_DENIED;
	}
	r = find(v->rq, id, &known);
	if (r == NULL) {
		(void)err_set(e, ERR_INVALID, "%s", known ? SPHERON_NO_METHOD : "Not found");
		return CODE_NOT_FOUND;
	}
	f = face_call_new(v, r->op);
	f->own = x = mem_zalloc(sizeof(*x));
	x->action = r->action;
	face_call_id(f, id);
	code = read_call(f, v->rq, e);
	if (code != CODE_OK)
		face_call_free(f);
	else
		*out = f;
	return code;
}
