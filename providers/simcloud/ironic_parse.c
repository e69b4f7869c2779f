/* ironic_parse.c - reads a request: its path, its microversion, its body as JSON.  What the body
 * says is judged when it runs, as Ironic does, after it has looked for the node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/ironic.h"

#define VERSION_HEADER "X-OpenStack-Ironic-API-Version"

/* "*" is one word of the path; the first is the node or allocation, the second a trait. */
static const struct {
	const char *method, *path;
	enum ironic_what what;
	enum op op;
} routes[] = {
	{"GET", "", IRONIC_ROOT, OP_OFFERS},
	{"GET", "v1", IRONIC_V1, OP_OFFERS},
	{"GET", "v1/nodes", IRONIC_NODES, OP_LIST},
	{"GET", "v1/nodes/detail", IRONIC_DETAIL, OP_LIST},
	{"GET", "v1/nodes/*", IRONIC_NODE, OP_GET},
	{"PATCH", "v1/nodes/*", IRONIC_NODE_PATCH, OP_CREATE},
	{"GET", "v1/nodes/*/states", IRONIC_STATES, OP_GET},
	{"PUT", "v1/nodes/*/states/provision", IRONIC_PROVISION, OP_CREATE},
	{"PUT", "v1/nodes/*/states/power", IRONIC_POWER, OP_REPORT},
	{"PUT", "v1/nodes/*/maintenance", IRONIC_MAINTENANCE, OP_REPORT},
	{"DELETE", "v1/nodes/*/maintenance", IRONIC_MAINTENANCE_END, OP_REPORT},
	{"GET", "v1/nodes/*/traits", IRONIC_TRAITS, OP_GET},
	{"PUT", "v1/nodes/*/traits", IRONIC_TRAITS_SET, OP_REPORT},
	{"PUT", "v1/nodes/*/traits/*", IRONIC_TRAITS_SET, OP_REPORT},
	{"DELETE", "v1/nodes/*/traits", IRONIC_TRAITS_DROP, OP_REPORT},
	{"DELETE", "v1/nodes/*/traits/*", IRONIC_TRAITS_DROP, OP_REPORT},
	{"GET", "v1/nodes/*/allocation", IRONIC_NODE_ALLOC, OP_GET},
	{"DELETE", "v1/nodes/*/allocation", IRONIC_NODE_ALLOC_DROP, OP_DELETE},
	{"GET", "v1/allocations", IRONIC_ALLOCS, OP_LIST},
	{"POST", "v1/allocations", IRONIC_ALLOC_MAKE, OP_CREATE},
	{"GET", "v1/allocations/*", IRONIC_ALLOC, OP_GET},
	{"PATCH", "v1/allocations/*", IRONIC_ALLOC_PATCH, OP_REPORT},
	{"DELETE", "v1/allocations/*", IRONIC_ALLOC_DROP, OP_DELETE},
};

enum { NROUTES = sizeof(routes) / sizeof(routes[0]) };

bool ironic_is(const struct face_visit *v)
{
	const char *path = v->rq->path;

	if (strcmp(path, "/") == 0)
		return http_header(v->rq, VERSION_HEADER) != NULL;
	return strcmp(path, "/v1") == 0 || strcmp(path, "/v1/") == 0 ||
	       strncmp(path, "/v1/nodes", 9) == 0 || strncmp(path, "/v1/allocations", 15) == 0;
}

void ironic_call_free(void *own)
{
	struct ironic_call *q = own;

	json_decref(q->body);
	free(q->query);
	free(q);
}

/* Does path have the form?  words gets what stands for each "*". */
static bool fits(const char *form, const char *path, char words[2][FACE_ID_SIZE])
{
	size_t k = 0;

	while (*form != '\0') {
		size_t n = strcspn(path, "/");

		if (*form != '*') {
			if (*form++ != *path++)
				return false;
			continue;
		}
		if (n == 0 || n >= FACE_ID_SIZE)
			return false;
		memcpy(words[k], path, n);
		words[k++][n] = '\0';
		form++;
		path += n;
	}
	return *path == '\0';
}

/* The route of the request; -1: there is none, and *status says why. */
static int route(const struct http_request *rq, char words[2][FACE_ID_SIZE], int *status)
{
	const char *path = rq->path + (rq->path[0] == '/');
	size_t len = strlen(path);
	char *trimmed = mem_strdup(path);
	int found = -1;

	if (len > 0 && trimmed[len - 1] == '/')
		trimmed[len - 1] = '\0';
	*status = 404;
	for (int i = 0; i < NROUTES && found < 0; i++) {
		memset(words, 0, 2 * sizeof(words[0]));
		if (!fits(routes[i].path, trimmed, words))
			continue;
		*status = 405;
		if (strcmp(routes[i].method, rq->method) == 0)
			found = i;
	}
	free(trimmed);
	return found;
}

/* The version that the header asks for; the lowest without one.  -1: none of ours. */
static int read_version(int64_t *minor, const char *text, struct err *e)
{
	char *end;
	long major;

	*minor = IRONIC_MINOR_MIN;
	if (text == NULL)
		return 0;
	if (strcmp(text, "latest") == 0) {
		*minor = IRONIC_MINOR_MAX;
		return 0;
	}
	major = strtol(text, &end, 10);
	if (end == text || *end != '.' || end[1] < '0' || end[1] > '9')
		return err_set(e, ERR_INVALID, "406 Invalid value for " VERSION_HEADER " header");
	*minor = strtol(end + 1, &end, 10);
	if (*end != '\0')
		return err_set(e, ERR_INVALID, "406 Invalid value for " VERSION_HEADER " header");
	if (major != 1)
		return err_set(e, ERR_INVALID,
			       "406 Mutually exclusive versions requested. Version %.20s requested "
			       "but not supported by this service. The supported version range is: "
			       "[1.1, 1.115].",
			       text);
	if (*minor < IRONIC_MINOR_MIN || *minor > IRONIC_MINOR_MAX)
		return err_set(e, ERR_INVALID,
			       "406 Version %.20s was requested but the minor version is not "
			       "supported by this service. The supported version range is: [1.1, "
			       "1.115].",
			       text);
	return 0;
}

static void read_body(struct ironic_call *q, const struct http_request *rq)
{
	if (rq->len == 0)
		return;
	q->body = json_loadb(rq->body, rq->len, JSON_DECODE_ANY, NULL);
	q->torn = q->body == NULL;
}

static enum op op_of(const struct ironic_call *q, enum op op)
{
	const char *target = json_string_value(json_object_get(q->body, "target"));

	if (q->what == IRONIC_PROVISION && target != NULL &&
	    (strcmp(target, "deleted") == 0 || strcmp(target, "undeploy") == 0))
		return OP_DELETE;
	return op;
}

/* A call of that route; rq's headers are read. */
static struct face_call *call_new(const struct face_visit *v, int at, int64_t minor,
				  char words[2][FACE_ID_SIZE])
{
	struct ironic_call *q = mem_zalloc(sizeof(*q));
	const char *host = http_header(v->rq, "Host");
	struct face_call *f;

	q->what = routes[at].what;
	q->minor = minor;
	(void)snprintf(q->host, sizeof(q->host), "%s", host != NULL ? host : "localhost");
	memcpy(q->ident, words[0], FACE_ID_SIZE);
	memcpy(q->trait, words[1], FACE_ID_SIZE);
	q->query = mem_strdup(v->rq->query);
	read_body(q, v->rq);
	f = face_call_new(v, op_of(q, routes[at].op));
	f->own = q;
	f->n = q->ident[0] != '\0' || q->what == IRONIC_ALLOC_MAKE;
	if (q->what == IRONIC_ALLOC_MAKE)
		(void)ironic_who(&q->who, json_object_get(q->body, "extra"),
				 ironic_string(q->body, "name"));
	return f;
}

enum code ironic_parse(struct face_call **out, const struct face_visit *v, struct err *e)
{
	char words[2][FACE_ID_SIZE];
	int status, at = route(v->rq, words, &status);
	int64_t minor;

	*out = NULL;
	if (read_version(&minor, http_header(v->rq, VERSION_HEADER), e) != 0)
		return CODE_INVALID;
	if (at < 0) {
		(void)err_set(e, ERR_INVALID, "%d ", status);
		return CODE_NOT_FOUND;
	}
	*out = call_new(v, at, minor, words);
	return CODE_OK;
}
