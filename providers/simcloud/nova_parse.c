/* nova_parse.c - reads a request to Nova: its path, its microversion, its body.
 *
 * A wrong request is a call as well, which says so when it runs: Nova's errors have the
 * microversion in their headers, and take their time. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/nova.h"

struct route {                     /* a path below /v2.1/ and the project */
	const char *method, *path; /* "/" at the end: an id follows */
	enum nova_what what;
	enum op op;
	enum face_verb verb;
	bool detail;
};

static const struct route routes[] = {
	{"POST", "servers", NOVA_CREATE, OP_CREATE, FACE_MAKE, false},
	{"GET", "servers/detail", NOVA_LIST, OP_LIST, FACE_LIST, true},
	{"GET", "servers", NOVA_LIST, OP_LIST, FACE_LIST, false},
	{"GET", "servers/", NOVA_GET, OP_GET, FACE_LIST, true},
	{"DELETE", "servers/", NOVA_DELETE, OP_DELETE, FACE_DROP, false},
	{"GET", "flavors/detail", NOVA_FLAVORS, OP_OFFERS, FACE_LIST, true},
	{"GET", "flavors", NOVA_FLAVORS, OP_OFFERS, FACE_LIST, false},
	{"GET", "flavors/", NOVA_FLAVOR, OP_OFFERS, FACE_LIST, true},
	{"POST", "os-server-groups", NOVA_MAKE_GROUP, OP_FABRIC, FACE_MAKE, false},
	{"GET", "os-server-groups", NOVA_GROUPS, OP_FABRIC, FACE_LIST, false},
	{"GET", "os-server-groups/", NOVA_GROUP, OP_FABRIC, FACE_LIST, false},
	{"DELETE", "os-server-groups/", NOVA_DROP_GROUP, OP_FABRIC, FACE_DROP, false},
	{"GET", "limits", NOVA_LIMITS, OP_OFFERS, FACE_LIST, false},
	{"GET", "os-availability-zone", NOVA_ZONES, OP_OFFERS, FACE_LIST, false},
};

struct reading {
	const struct face_visit *v;
	struct err *e;
	char region[SETTINGS_WORD_SIZE];
	char root[OS_URL_SIZE]; /* URL up to the region */
	const char *below;      /* the path from there */
	const char *rest;       /* the path after /v2.1/ and the project */
	char project[SETTINGS_WORD_SIZE];
};

/* --- the path --------------------------------------------------------------------------------- */

/* "/compute/REGION" and what is below; or nothing, for the first region.  false: not Nova's. */
static bool split(struct reading *r, const char *path)
{
	const char *at = os_under(path, "/compute");
	char origin[OS_URL_SIZE];

	os_origin(origin, r->v->rq);
	if (at == NULL) {
		(void)snprintf(r->region, sizeof(r->region), "%s",
			       r->v->conf->noffers > 0 ? r->v->conf->offers[0].region : "");
		(void)snprintf(r->root, sizeof(r->root), "%.160s", origin);
		r->below = path;
		return os_under(path, "/v2.1") != NULL;
	}
	at += at[0] == '/';
	(void)snprintf(r->region, sizeof(r->region), "%.*s", (int)strcspn(at, "/"), at);
	(void)snprintf(r->root, sizeof(r->root), "%.160s/compute/%s", origin, r->region);
	r->below = at + strcspn(at, "/");
	return true;
}

bool nova_is(const struct face_visit *v)
{
	struct reading r = {.v = v};

	return split(&r, v->rq->path);
}

/* A word of 32 hexadecimal digits before the rest is a project, as older clients say it. */
static void skip_project(struct reading *r)
{
	size_t n = strspn(r->rest, "0123456789abcdef");

	if (n < 8 || n >= sizeof(r->project) || r->rest[n] != '/')
		return;
	memcpy(r->project, r->rest, n);
	r->rest += n + 1;
}

static bool split_version(struct reading *r)
{
	r->rest = os_under(r->below, "/v2.1");
	if (r->rest == NULL)
		return false;
	r->rest += r->rest[0] == '/';
	skip_project(r);
	return true;
}

bool nova_is_open(const struct face_visit *v)
{
	struct reading r = {.v = v};

	(void)split(&r, v->rq->path);
	return !split_version(&r) || r.rest[0] == '\0';
}

static bool fits(const struct route *rt, const struct reading *r)
{
	size_t n = strlen(rt->path);

	if (strcmp(rt->method, r->v->rq->method) != 0)
		return false;
	if (rt->path[n - 1] != '/')
		return strcmp(rt->path, r->rest) == 0;
	return strncmp(rt->path, r->rest, n) == 0 && r->rest[n] != '\0' &&
	       strchr(r->rest + n, '/') == NULL;
}

/* "servers/ID/action" */
static bool is_action(const struct reading *r)
{
	const char *tail = strrchr(r->rest, '/');

	return strcmp(r->v->rq->method, "POST") == 0 && strncmp(r->rest, "servers/", 8) == 0 &&
	       tail > r->rest + 8 && strcmp(tail, "/action") == 0;
}

static const struct route *find_route(struct reading *r)
{
	static const struct route action = {"POST",     "servers/", NOVA_CONSOLE,
					    OP_CONSOLE, FACE_LIST,  false};
	static const struct route versions = {"GET",     "",        NOVA_VERSIONS,
					      OP_OFFERS, FACE_LIST, false};
	static const struct route version = {"GET", "", NOVA_VERSION, OP_OFFERS, FACE_LIST, false};
	bool get = strcmp(r->v->rq->method, "GET") == 0;

	if (get && (r->below[0] == '\0' || strcmp(r->below, "/") == 0))
		return &versions;
	if (!split_version(r))
		return NULL;
	if (get && r->rest[0] == '\0')
		return &version;
	if (is_action(r))
		return &action;
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (fits(&routes[i], r))
			return &routes[i];
	return NULL;
}

/* --- the microversion ------------------------------------------------------------------------- */

/* The word of the new header ("compute 2.96", among other services) or of the old one. */
static void find_version(const struct http_request *rq, char out[NOVA_TEXT_SIZE])
{
	const char *text = http_header(rq, "OpenStack-API-Version");
	const char *at = text != NULL ? strstr(text, "compute ") : NULL;
	size_t n;

	if (text == NULL)
		at = http_header(rq, "X-OpenStack-Nova-API-Version");
	else if (at != NULL)
		at += strlen("compute ");
	at = at != NULL ? at + strspn(at, " ") : "2.1";
	n = strcspn(at, ", ");
	(void)snprintf(out, NOVA_TEXT_SIZE, "%.*s", n < 60 ? (int)n : 60, at);
}

static void refuse(struct nova_call *x, unsigned status, const char *why)
{
	x->refused = status;
	(void)snprintf(x->why, sizeof(x->why), "%s", why);
}

static void read_version(struct nova_call *x, const struct http_request *rq)
{
	char text[NOVA_TEXT_SIZE], why[NOVA_TEXT_SIZE];
	char *end;
	unsigned long minor;

	find_version(rq, text);
	if (strcmp(text, "latest") == 0) {
		x->major = 2;
		x->version = NOVA_VERSION_MAX;
		return;
	}
	minor = isdigit((unsigned char)text[0]) && text[1] == '.' ? strtoul(text + 2, &end, 10) : 0;
	if (minor == 0 || minor > 9999 || *end != '\0') {
		(void)snprintf(why, sizeof(why),
			       "API Version String %.60s is of invalid format. Must be of format "
			       "MajorNum.MinorNum.",
			       text);
		refuse(x, 400, why);
		return;
	}
	x->major = (unsigned)(text[0] - '0');
	x->version = (unsigned)minor;
	if (text[0] == '2' && minor <= NOVA_VERSION_MAX)
		return;
	(void)snprintf(
		why, sizeof(why),
		"Version %.60s is not supported by the API. Minimum is 2.1 and maximum is 2.%d.",
		text, NOVA_VERSION_MAX);
	refuse(x, 406, why);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void read_id(struct face_call *f, const char *path, const char *rest)
{
	struct nova_call *x = f->own;
	char id[METER_ID_SIZE];

	rest += strlen(path);
	(void)snprintf(x->id, sizeof(x->id), "%.*s", (int)strcspn(rest, "/"), rest);
	if (x->what != NOVA_GET && x->what != NOVA_DELETE && x->what != NOVA_CONSOLE)
		return;
	f->n = 1;
	f->ids = mem_zalloc(FACE_ID_SIZE);
	(void)snprintf(f->ids[0], FACE_ID_SIZE, "%.95s", nova_row_of(x->id, id) ? id : x->id);
}

static void read_body(struct face_call *f, struct reading *r)
{
	struct nova_call *x = f->own;
	json_t *doc = json_loadb(r->v->rq->body, r->v->rq->len, 0, NULL);
	struct err e = {0};
	int rc;

	if (doc == NULL) {
		refuse(x, 400, "Malformed request body");
		return;
	}
	if (!json_is_object(doc))
		rc = err_set(&e, ERR_INVALID, "it is not of type 'object'");
	else if (x->what == NOVA_CREATE)
		rc = nova_check_create(doc, x->version, &e) != 0 ? -1
								 : nova_spec_read(f, doc, r->v, &e);
	else
		rc = nova_check_group(doc, x->version, &e);
	if (rc != 0)
		refuse(x, 400, e.msg);
	else if (x->what == NOVA_MAKE_GROUP)
		x->group = json_incref(json_object_get(doc, "server_group"));
	json_decref(doc);
}

/* The length may be a text, too; -1: all lines (nova/api/openstack/compute/schemas). */
static int read_lines(struct nova_call *x, const json_t *action, struct err *e)
{
	static const char *const known[] = {"length", NULL};
	const json_t *length = json_object_get(action, "length");
	const char *text = json_string_value(length), *digits;

	if (!json_is_object(action) || js_only(action, known, e) != 0)
		return err_set(e, ERR_INVALID,
			       "Invalid input for field/attribute "
			       "os-getConsoleOutput.");
	x->lines = -1;
	digits = text != NULL ? text + (text[0] == '-') : "";
	if (digits[0] != '\0' && digits[strspn(digits, "0123456789")] == '\0')
		x->lines = strtol(text, NULL, 10);
	else if (json_is_integer(length))
		x->lines = json_integer_value(length);
	else if (length != NULL && !json_is_null(length))
		x->lines = -2;
	return x->lines >= -1
		       ? 0
		       : err_set(e, ERR_INVALID, "Invalid input for field/attribute length.");
}

/* nova/api/openstack/compute/schemas/admin_actions.py */
static int read_reset(struct nova_call *x, const json_t *action, struct err *e)
{
	static const char *const known[] = {"state", NULL};
	const char *state = json_string_value(json_object_get(action, "state"));

	x->what = NOVA_RESET;
	if (!json_is_object(action) || js_only(action, known, e) != 0)
		return err_set(e, ERR_INVALID, "Invalid input for field/attribute os-resetState.");
	if (state == NULL || (strcmp(state, "active") != 0 && strcmp(state, "error") != 0))
		return err_set(e, ERR_INVALID, "Invalid input for field/attribute state.");
	x->to_error = strcmp(state, "error") == 0;
	return 0;
}

static void read_action(struct face_call *f, const struct http_request *rq)
{
	struct nova_call *x = f->own;
	json_t *doc = json_loadb(rq->body, rq->len, 0, NULL);
	const json_t *console = json_object_get(doc, "os-getConsoleOutput");
	const json_t *reset = json_object_get(doc, "os-resetState");
	struct err e = {0};

	if (doc == NULL)
		refuse(x, 400, "Malformed request body");
	else if ((console == NULL && reset == NULL) || json_object_size(doc) != 1)
		refuse(x, 400, "There is no such action");
	else if ((reset != NULL ? read_reset(x, reset, &e) : read_lines(x, console, &e)) != 0)
		refuse(x, 400, e.msg);
	if (x->what == NOVA_RESET)
		f->op = OP_REPORT;
	json_decref(doc);
}

static void read_rest(struct face_call *f, struct reading *r, const struct route *rt)
{
	struct nova_call *x = f->own;
	struct err e = {0};
	char why[NOVA_TEXT_SIZE];

	if (r->project[0] != '\0' && strcmp(r->project, OS_PROJECT) != 0) {
		(void)snprintf(
			why, sizeof(why),
			"Malformed request URL: URL's project_id '%s' doesn't match Context's "
			"project_id '" OS_PROJECT "'",
			r->project);
		refuse(x, 400, why);
		return;
	}
	if (x->what == NOVA_LIST || x->what == NOVA_FLAVORS || x->what == NOVA_GROUPS) {
		if (nova_query(&x->query, r->v->rq->query, x->what, &e) != 0)
			refuse(x, 400, e.msg);
	} else if (x->what == NOVA_CREATE || x->what == NOVA_MAKE_GROUP) {
		read_body(f, r);
	} else if (rt->path[0] != '\0' && rt->path[strlen(rt->path) - 1] == '/') {
		read_id(f, rt->path, r->rest);
		if (x->what == NOVA_CONSOLE)
			read_action(f, r->v->rq);
	}
}

static void begin(struct nova_call *x, const struct reading *r, const struct route *rt)
{
	x->what = rt->what;
	x->detail = rt->detail;
	memcpy(x->root, r->root, sizeof(x->root));
	(void)snprintf(x->base, sizeof(x->base), "%.180s/v2.1%s%s", r->root,
		       r->project[0] != '\0' ? "/" : "", r->project);
	read_version(x, r->v->rq);
}

void nova_call_free(void *own)
{
	struct nova_call *x = own;

	nova_spec_unref(x->spec);
	json_decref(x->group);
	free(x);
}

/* An unscoped token reaches nothing: invented. */
static enum code check_scope(const struct face_visit *v, struct err *e)
{
	struct os_token t;

	if (nova_is_open(v) ||
	    (os_token_read(&t, http_header(v->rq, "X-Auth-Token"), v) && t.scoped))
		return CODE_OK;
	(void)err_set(e, ERR_AUTH, "The token has no project");
	return CODE_DENIED;
}

enum code nova_parse(struct face_call **out, const struct face_visit *v, struct err *e)
{
	struct reading r = {.v = v, .e = e};
	const struct route *rt = split(&r, v->rq->path) ? find_route(&r) : NULL;
	struct nova_call *x;

	*out = NULL;
	if (rt == NULL) {
		(void)err_set(e, ERR_INVALID, "%s", os_route);
		return CODE_NOT_FOUND;
	}
	if (check_scope(v, e) != CODE_OK)
		return CODE_DENIED;
	x = mem_zalloc(sizeof(*x));
	*out = face_call_new(v, rt->op);
	(*out)->own = x;
	(*out)->verb = rt->verb;
	memcpy((*out)->region, r.region, sizeof((*out)->region));
	begin(x, &r, rt);
	if (x->refused == 0)
		read_rest(*out, &r, rt);
	return CODE_OK;
}
