/* nova_reply.c - the frame of Nova's answers: headers, errors, versions. */
#include <stdio.h>
#include <string.h>

#include "providers/simcloud/js.h"
#include "providers/simcloud/nova.h"

static void put_request_ids(struct face_reply *out)
{
	face_header(out, "x-openstack-request-id", OS_REQUEST);
	face_header(out, "x-compute-request-id", OS_REQUEST);
}

/* Which microversion it was is said where it is known. */
static void put_headers(struct face_reply *out, const struct nova_call *x)
{
	char version[32];

	if (x->version > 0) {
		(void)snprintf(version, sizeof(version), "compute %u.%u", x->major, x->version);
		face_header(out, "OpenStack-API-Version", version);
		face_header(out, "X-OpenStack-Nova-API-Version", version + strlen("compute "));
		face_header(out, "Vary", "OpenStack-API-Version");
		face_header(out, "Vary", "X-OpenStack-Nova-API-Version");
	}
	put_request_ids(out);
}

void nova_answer(struct face_reply *out, const struct nova_call *x, unsigned status, struct str *s)
{
	out->status = status;
	if (x->what != NOVA_VERSIONS)
		put_headers(out, x);
	if (s != NULL)
		face_body(out, s);
}

/* --- errors ----------------------------------------------------------------------------------- */

/* As nova.api.openstack.wsgi has them; a status that is not there is a computeFault. */
static const struct {
	unsigned status;
	const char *name;
} names[] = {
	{400, "badRequest"}, {403, "forbidden"},          {404, "itemNotFound"},
	{405, "badMethod"},  {409, "conflictingRequest"}, {413, "overLimit"},
	{429, "overLimit"},  {501, "notImplemented"},     {503, "serviceUnavailable"},
};

static void put_fault(struct face_reply *out, unsigned status, const char *message)
{
	const char *name = "computeFault";
	struct str s;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].status == status)
			name = names[i].name;
	out->status = status;
	str_init(&s, OS_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, name, '{');
	js_int(&s, "code", status);
	js_str(&s, "message", message);
	js_close(&s, '}');
	js_close(&s, '}');
	face_body(out, &s);
	out->type = "application/json; charset=UTF-8";
}

static enum code code_of(unsigned status)
{
	return status == 403   ? CODE_QUOTA
	       : status == 404 ? CODE_NOT_FOUND
	       : status == 409 ? CODE_NOT_YET
	       : status == 500 ? CODE_INTERNAL
			       : CODE_INVALID;
}

void nova_fault(struct face_reply *out, const struct nova_call *x, unsigned status,
		const char *message)
{
	out->code = code_of(status);
	put_fault(out, status, message);
	put_headers(out, x);
}

/* Statuses and words of what a fault rule or a limit of simcloud's says.  Nova has no rate limit
 * and no lack of capacity that it tells at once: 429 and 503 are invented, as a proxy would say
 * them. */
static const struct {
	unsigned status;
	const char *message;
} errors[CODE_COUNT] = {
	[CODE_OK] = {200, ""},
	[CODE_CAPACITY] = {503, "No valid host was found. There are not enough hosts available."},
	[CODE_QUOTA] = {403, "Quota exceeded for instances: Requested 1, but already used 1 of 1 "
			     "instances"},
	[CODE_DENIED] = {403,
			 "Policy doesn't allow os_compute_api:servers:create to be performed."},
	[CODE_INVALID] = {400, "The server could not comply with the request since it is either "
			       "malformed or otherwise incorrect."},
	[CODE_NOT_FOUND] = {404, "Instance could not be found."},
	[CODE_TOKEN_MISMATCH] = {409, "Conflict"},
	[CODE_NOT_YET] = {409, "Conflict"},
	[CODE_RATE] = {429, "This request was rate-limited."},
	[CODE_INTERNAL] = {500, "Unexpected API Error. Please contact the administrator\n"
				"<class 'RuntimeError'>"},
};

/* From the middleware before Nova: a refused token; from its router: an unknown path. */
void nova_error(struct face_reply *out, enum code code, const char *message)
{
	const char *text = message != NULL && message[0] != '\0' ? message : errors[code].message;

	memset(out->more, 0, sizeof(out->more));
	out->code = code;
	if (strcmp(text, os_route) == 0)
		os_no_route(out);
	else if (code == CODE_DENIED && message != NULL && strcmp(message, "token") == 0)
		os_unauthorized(out);
	else
		put_fault(out, errors[code].status, text);
	put_request_ids(out);
}

/* --- links ------------------------------------------------------------------------------------ */

void nova_put_link(struct str *s, const char *rel, const char *root, const char *kind,
		   const char *id)
{
	char href[2 * OS_URL_SIZE];

	(void)snprintf(href, sizeof(href), "%s/%s/%.200s", root, kind, id);
	js_open(s, NULL, '{');
	js_str(s, "rel", rel);
	js_str(s, "href", href);
	js_close(s, '}');
}

void nova_put_links(struct str *s, const struct nova_call *x, const char *kind, const char *id)
{
	js_open(s, "links", '[');
	nova_put_link(s, "self", x->base, kind, id);
	nova_put_link(s, "bookmark", x->root, kind, id);
	js_close(s, ']');
}

/* --- versions --------------------------------------------------------------------------------- */

static void put_link(struct str *s, const char *rel, const char *type, const char *href)
{
	js_open(s, NULL, '{');
	js_str(s, "rel", rel);
	if (type != NULL)
		js_str(s, "type", type);
	js_str(s, "href", href);
	js_close(s, '}');
}

static void put_version(struct str *s, const char *key, const struct nova_call *x, bool legacy)
{
	char version[16], href[OS_URL_SIZE + 8];

	(void)snprintf(version, sizeof(version), "2.%d", NOVA_VERSION_MAX);
	(void)snprintf(href, sizeof(href), "%s/%s/", x->root, legacy ? "v2" : "v2.1");
	js_open(s, key, '{');
	js_str(s, "id", legacy ? "v2.0" : "v2.1");
	js_str(s, "status", legacy ? "DEPRECATED" : "CURRENT");
	js_str(s, "version", legacy ? "" : version);
	js_str(s, "min_version", legacy ? "" : "2.1");
	js_str(s, "updated", legacy ? "2025-07-04T12:00:00Z" : "2013-07-23T11:33:21Z");
	js_open(s, "links", '[');
	put_link(s, "self", NULL, href);
	if (key != NULL)
		put_link(s, "describedby", "text/html", "http://docs.openstack.org/");
	js_close(s, ']');
	if (key != NULL) {
		js_open(s, "media-types", '[');
		js_open(s, NULL, '{');
		js_str(s, "base", "application/json");
		js_str(s, "type", "application/vnd.openstack.compute+json;version=2.1");
		js_close(s, '}');
		js_close(s, ']');
	}
	js_close(s, '}');
}

void nova_put_versions(struct str *s, const struct nova_call *x)
{
	js_open(s, NULL, '{');
	if (x->what == NOVA_VERSION) {
		put_version(s, "version", x, false);
	} else {
		js_open(s, "versions", '[');
		put_version(s, NULL, x, true);
		put_version(s, NULL, x, false);
		js_close(s, ']');
	}
	js_close(s, '}');
}
