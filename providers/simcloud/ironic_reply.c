/* ironic_reply.c - answers: headers, links, and errors in the two forms that Ironic has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "providers/simcloud/ironic.h"
#include "providers/simcloud/js.h"

#define REQUEST_ID "req-00000000-0000-4000-8000-000000000000"

/* Ironic itself has no quota and no throttle: [invented] 403 and 429, as a proxy may answer. */
static const struct {
	unsigned status;
	const char *text;
} errors[CODE_COUNT] = {
	[CODE_OK] = {200, ""},
	[CODE_CAPACITY] = {503, "Requested action cannot be performed due to lack of free "
				"conductor workers."},
	[CODE_QUOTA] = {403, "Access was denied to the following resource: quota"},
	[CODE_DENIED] = {403, "Access was denied to the following resource: baremetal"},
	[CODE_INVALID] = {400, "Unable to validate the request."},
	[CODE_NOT_FOUND] = {404, "The resource could not be found."},
	[CODE_TOKEN_MISMATCH] = {409, "Resource already exists."},
	[CODE_NOT_YET] = {409, "Node is locked by host simcloud, please retry after the current "
			       "operation is completed."},
	[CODE_RATE] = {429, "Too many requests."},
	[CODE_INTERNAL] = {500, "Internal server error."},
};

static const struct {
	unsigned status;
	enum code code;
	const char *title;
} titles[] = {
	{400, CODE_INVALID, "Bad Request"},    {401, CODE_DENIED, "Unauthorized"},
	{404, CODE_NOT_FOUND, "Not Found"},    {405, CODE_NOT_FOUND, "Method Not Allowed"},
	{406, CODE_INVALID, "Not Acceptable"},
};

static void range_headers(struct face_reply *out)
{
	face_header(out, "X-OpenStack-Ironic-API-Minimum-Version", "1.1");
	face_header(out, "X-OpenStack-Ironic-API-Maximum-Version", "1.115");
}

static void id_headers(struct face_reply *out)
{
	face_header(out, "x-openstack-request-id", REQUEST_ID);
	face_header(out, "openstack-request-id", REQUEST_ID);
}

static void headers(const struct ironic_run *r)
{
	char version[FMT_U64_SIZE + 2];

	(void)snprintf(version, sizeof(version), "1.%d", (int)r->q->minor);
	range_headers(r->out);
	face_header(r->out, "X-OpenStack-Ironic-API-Version", version);
	id_headers(r->out);
}

void ironic_empty(const struct ironic_run *r, unsigned status)
{
	r->out->status = status;
	headers(r);
}

void ironic_body(const struct ironic_run *r, unsigned status, struct str *s)
{
	r->out->status = status;
	headers(r);
	face_body(r->out, s);
}

void ironic_location(const struct ironic_run *r, const char *what)
{
	char url[IRONIC_URL_SIZE];

	(void)snprintf(url, sizeof(url), "http://%s/v1/%.110s", r->q->host, what);
	face_header(r->out, "Location", url);
}

/* {"error_message":"TEXT"}, where TEXT is what `inner` has; frees it. */
static void wrap(struct face_reply *out, struct str *inner)
{
	struct str s;

	str_init(&s, IRONIC_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "error_message", inner->p);
	js_close(&s, '}');
	str_fini(inner);
	face_body(out, &s);
}

static void put_fault(struct face_reply *out, unsigned status, const char *text)
{
	struct str s;

	out->status = status;
	str_init(&s, IRONIC_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "faultcode", status >= 500 ? "Server" : "Client");
	js_str(&s, "faultstring", text);
	js_null(&s, "debuginfo");
	js_close(&s, '}');
	wrap(out, &s);
}

static enum code code_of(unsigned status)
{
	switch (status) {
	case 404:
		return CODE_NOT_FOUND;
	case 409:
		return CODE_NOT_YET;
	case 500:
		return CODE_INTERNAL;
	default:
		return CODE_INVALID;
	}
}

void ironic_fail(const struct ironic_run *r, unsigned status, const char *fmt, ...)
{
	char text[IRONIC_TEXT_SIZE];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	headers(r);
	r->out->code = code_of(status);
	put_fault(r->out, status, text);
}

void ironic_refuse_locked(const struct ironic_run *r, const struct ironic_node *n)
{
	ironic_fail(r, 409,
		    "Node %s is locked by host simcloud, please retry after the current operation "
		    "is completed.",
		    n->uuid);
}

/* The credential is judged before Ironic sees the request, in a third form. */
static void put_unauthorized(struct face_reply *out, const char *text)
{
	struct str s;

	str_init(&s, IRONIC_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "error", '{');
	js_str(&s, "message", text);
	js_int(&s, "code", 401);
	js_close(&s, '}');
	js_close(&s, '}');
	face_body(out, &s);
	face_header(out, "WWW-Authenticate", "Basic realm=\"Baremetal API\"");
}

static void put_title(struct face_reply *out, size_t i, const char *text)
{
	struct str s;

	out->status = titles[i].status;
	out->code = titles[i].code;
	id_headers(out);
	if (out->status == 401) {
		put_unauthorized(out, text);
		return;
	}
	if (strstr(text, "version range") != NULL)
		range_headers(out);
	str_init(&s, IRONIC_BODY_MAX);
	js_open(&s, NULL, '{');
	js_int(&s, "code", out->status);
	js_str(&s, "title", titles[i].title);
	js_str(&s, "description", text);
	js_close(&s, '}');
	wrap(out, &s);
}

/* A former answer may have headers: this one has its own. */
void ironic_error(struct face_reply *out, enum code code, const char *message)
{
	const char *text = message != NULL ? message : "";
	unsigned status = text[0] != '\0' ? (unsigned)strtoul(text, NULL, 10) : 0;

	memset(out->more, 0, sizeof(out->more));
	out->code = code;
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (titles[i].status == status && strlen(text) > 3) {
			put_title(out, i, text + 4);
			return;
		}
	range_headers(out);
	id_headers(out);
	put_fault(out, errors[code].status, text[0] != '\0' ? text : errors[code].text);
}

void ironic_time(struct str *s, const char *key, int64_t ms)
{
	char text[FMT_TIME_SIZE], zoned[FMT_TIME_SIZE + 16];

	if (ms < 0) {
		js_null(s, key);
		return;
	}
	(void)fmt_time(text, ms);
	(void)snprintf(zoned, sizeof(zoned), "%.*s000+00:00", (int)strcspn(text, "Z"), text);
	js_str(s, key, zoned);
}

void ironic_href(struct str *s, const struct ironic_run *r, const char *path)
{
	struct str url;

	str_init(&url, 2 * (size_t)IRONIC_URL_SIZE);
	str_addf(&url, "http://%s/%s", r->q->host, path);
	js_str(s, "href", url.p);
	str_fini(&url);
}

static void put_link(struct str *s, const char *rel, const struct ironic_run *r, const char *path)
{
	js_open(s, NULL, '{');
	ironic_href(s, r, path);
	js_str(s, "rel", rel);
	js_close(s, '}');
}

void ironic_links(struct str *s, const char *key, const struct ironic_run *r, const char *path)
{
	char versioned[IRONIC_URL_SIZE + 3];

	(void)snprintf(versioned, sizeof(versioned), "v1/%s", path);
	js_open(s, key, '[');
	put_link(s, "self", r, versioned);
	put_link(s, "bookmark", r, path);
	js_close(s, ']');
}

void ironic_text(struct str *s, const char *key, const char *text)
{
	if (text != NULL)
		js_str(s, key, text);
	else
		js_null(s, key);
}
