/* imds_gcp.c - Google's metadata server: its header, its tokens, its hanging requests. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "providers/simcloud/imds_private.h"
#include "providers/simcloud/js.h"

#define BASE     "/computeMetadata/v1/"
#define IDENTITY BASE "instance/service-accounts/default/identity"
#define PROJECT  "simcloud"
#define NUMBER   "100000000000"
#define SUBJECT  "100000000000000000000" /* the number of the instances' service account */

enum {
	AUDIENCE_SIZE = 256,
	CLAIMS_MAX_BYTES = 8192,
	LIFE_S = 3600,     /* life of a token */
	WAIT_S_MAX = 3600, /* also the default */
};

static bool tell_project(struct asked *a)
{
	str_adds(&a->out, PROJECT);
	return true;
}

static bool tell_number(struct asked *a)
{
	str_adds(&a->out, NUMBER);
	return true;
}

static bool tell_email(struct asked *a)
{
	str_adds(&a->out, NUMBER "-compute@developer.gserviceaccount.com");
	return true;
}

static bool tell_machine_type(struct asked *a)
{
	str_addf(&a->out, "projects/" NUMBER "/machineTypes/%s", a->row->type);
	return true;
}

static bool tell_full_zone(struct asked *a)
{
	str_addf(&a->out, "projects/" NUMBER "/zones/%s", a->row->zone);
	return true;
}

static bool tell_preemptible(struct asked *a)
{
	str_adds(&a->out, a->row->market == MARKET_SPOT ? "TRUE" : "FALSE");
	return true;
}

static bool tell_preempted(struct asked *a)
{
	str_adds(&a->out, a->i->reclaim_at >= 0 ? "TRUE" : "FALSE");
	return true;
}

/* A machine with GPUs cannot be moved: it ends. */
static bool tell_maintenance(struct asked *a)
{
	str_adds(&a->out, a->i->repair_at >= 0 ? "TERMINATE_ON_HOST_MAINTENANCE" : "NONE");
	return true;
}

static const struct imds_path paths[] = {
	{BASE "instance/attributes/user-data", imds_tell_user_data},
	{BASE "instance/hostname", imds_tell_name},
	{BASE "instance/id", imds_tell_id},
	{BASE "instance/machine-type", tell_machine_type},
	{BASE "instance/maintenance-event", tell_maintenance},
	{BASE "instance/name", imds_tell_name},
	{BASE "instance/network-interfaces/0/ip", imds_tell_address},
	{BASE "instance/preempted", tell_preempted},
	{BASE "instance/scheduling/preemptible", tell_preemptible},
	{BASE "instance/service-accounts/default/email", tell_email},
	{BASE "instance/zone", tell_full_zone},
	{BASE "project/numeric-project-id", tell_number},
	{BASE "project/project-id", tell_project},
};

/* --- the identity token ----------------------------------------------------------------------- */

static void write_machine(const struct asked *a, struct str *s)
{
	char id[METER_ID_SIZE];

	js_open(s, "google", '{');
	js_open(s, "compute_engine", '{');
	js_int(s, "instance_creation_timestamp", a->row->start_ms / 1000);
	js_str(s, "instance_id", meter_id(id, a->i->row));
	js_str(s, "instance_name", a->row->node);
	js_str(s, "project_id", PROJECT);
	str_adds(s, ",\"project_number\":" NUMBER);
	js_str(s, "zone", a->row->zone);
	js_close(s, '}');
	js_close(s, '}');
}

/* Sign for whatever audience is asked for: the receiver must check it. */
static void write_claims(struct asked *a, const char *audience, bool full, struct str *s)
{
	js_open(s, NULL, '{');
	js_str(s, "aud", audience);
	js_str(s, "azp", SUBJECT);
	if (full) {
		js_str(s, "email", NUMBER "-compute@developer.gserviceaccount.com");
		js_bool(s, "email_verified", true);
	}
	js_int(s, "exp", a->now / 1000 + LIFE_S);
	if (full)
		write_machine(a, s);
	js_int(s, "iat", a->now / 1000);
	js_str(s, "iss", "https://accounts.google.com");
	js_str(s, "sub", SUBJECT);
	js_close(s, '}');
}

/* NULL: nothing. */
static const char *what_is_wrong(const struct http_request *rq, char audience[AUDIENCE_SIZE],
				 bool *full)
{
	char format[16];

	*full = false;
	if (http_query(rq->query, "audience", audience, AUDIENCE_SIZE) != 1 || audience[0] == '\0')
		return "non-empty audience parameter required";
	if (http_query(rq->query, "format", format, sizeof(format)) < 0)
		return "invalid format";
	*full = strcmp(format, "full") == 0;
	return *full || format[0] == '\0' || strcmp(format, "standard") == 0 ? NULL
									     : "invalid format";
}

static void get_token(struct asked *a, const struct http_request *rq, struct http_answer *an)
{
	char audience[AUDIENCE_SIZE], *token;
	bool full;
	const char *why = what_is_wrong(rq, audience, &full);
	struct str claims;

	if (why != NULL) {
		str_adds(&a->out, why);
		imds_answer(an, a);
		an->status = 400;
		return;
	}
	str_init(&claims, CLAIMS_MAX_BYTES);
	write_claims(a, audience, full, &claims);
	token = identity_jwt(a->m->identity, claims.p, claims.len);
	str_fini(&claims);
	an->status = token != NULL ? 200 : 500;
	an->body = token;
	an->len = token != NULL ? strlen(token) : 0;
}

/* --- values, and their changes ---------------------------------------------------------------- */

/* Hold a request with wait_for_change, unless last_etag shows that the value has changed. */
static bool waits(struct asked *a, const struct http_request *rq, tell_fn tell)
{
	char text[32];
	uint64_t etag = imds_etag(a);
	unsigned long s = WAIT_S_MAX;

	if (http_query(rq->query, "wait_for_change", text, sizeof(text)) != 1 ||
	    strcasecmp(text, "true") != 0)
		return false;
	if (http_query(rq->query, "last_etag", text, sizeof(text)) != 0 &&
	    strtoull(text, NULL, 16) != etag)
		return false;
	if (http_query(rq->query, "timeout_sec", text, sizeof(text)) == 1)
		s = strtoul(text, NULL, 10);
	if (s > WAIT_S_MAX)
		s = WAIT_S_MAX;
	return s > 0 && imds_hold(a, rq->ticket, tell, etag, a->now + (int64_t)s * 1000);
}

static void get(struct asked *a, const struct http_request *rq, struct http_answer *an)
{
	tell_fn tell = imds_find(paths, sizeof(paths) / sizeof(paths[0]), rq->path);

	if (tell == NULL || !tell(a))
		an->status = 404;
	else if (waits(a, rq, tell))
		an->later = true;
	else
		imds_gcp_answer(a, an);
}

/* Demand a header, since a proxy or browser may be tricked into a path, but not into a header. */
void imds_gcp(struct asked *a, const struct http_request *rq, struct http_answer *an)
{
	const char *flavor = http_header(rq, "Metadata-Flavor");

	imds_gcp_mark(an);
	if (flavor == NULL || strcmp(flavor, "Google") != 0 ||
	    http_header(rq, "X-Forwarded-For") != NULL)
		an->status = 403;
	else if (strcmp(rq->method, "GET") != 0)
		an->status = 405;
	else if (strcmp(rq->path, IDENTITY) == 0)
		get_token(a, rq, an);
	else
		get(a, rq, an);
}
