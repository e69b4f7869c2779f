/* lyceum_parse.c - reads a request to Lyceum's API into a call. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/lyceum.h"
#include "providers/simcloud/path.h"

static const char prefix[] = "/api/v2/external/";

const char *const lyceum_profiles[LYCEUM_PROFILES] = {"a100", "b200", "b300",
						      "h100", "h200", "l40s"};
const unsigned lyceum_counts[LYCEUM_COUNTS] = {1, 2, 4, 8};

bool lyceum_is(const struct face_visit *v)
{
	return strncmp(v->rq->path, prefix, sizeof(prefix) - 1) == 0;
}

void lyceum_call_free(void *own)
{
	struct lyceum_call *x = own;

	order_unref(x->order);
	explicit_bzero(x, sizeof(*x));
	free(x);
}

/* --- the body of a create --------------------------------------------------------------------- */

static int read_text(char *out, size_t size, const json_t *o, const char *member, struct err *e)
{
	if (json_object_get(o, member) == NULL)
		return 0;
	if (js_get_str(o, member, out, size, e) != 0)
		return err_set(e, ERR_INVALID,
			       LYCEUM_WRONG "%s: string_type: Input should be a valid string",
			       member);
	return 0;
}

static int need_text(char *out, size_t size, const json_t *o, const char *member, struct err *e)
{
	const json_t *v = json_object_get(o, member);

	if (v == NULL)
		return err_set(e, ERR_INVALID, LYCEUM_WRONG "%s: missing: Field required", member);
	if (json_is_null(v))
		return err_set(e, ERR_INVALID,
			       LYCEUM_WRONG "%s: string_type: Input should be a valid string",
			       member);
	return read_text(out, size, o, member, e);
}

/* A count of 0 is 1, and so is none; one beside instance_specs is not looked at. */
static int read_count(unsigned *out, const json_t *o, struct err *e)
{
	const json_t *specs = json_object_get(o, "instance_specs");
	const json_t *v = json_object_get(specs, "gpu_count");
	json_int_t n = json_integer_value(v);

	if (specs != NULL && !json_is_object(specs) && !json_is_null(specs))
		return err_set(e, ERR_INVALID,
			       LYCEUM_WRONG "instance_specs: dict_type: Input should be a valid "
					    "dictionary");
	if (v != NULL && !json_is_null(v) && !json_is_integer(v))
		return err_set(e, ERR_INVALID,
			       LYCEUM_WRONG "instance_specs/gpu_count: int_type: Input should be "
					    "a valid integer");
	*out = n == 0 ? 1 : n > 0 && n < 1000 ? (unsigned)n : UINT32_MAX;
	for (unsigned k = 0; k < LYCEUM_COUNTS; k++)
		if (*out == lyceum_counts[k])
			return 0;
	return err_set(e, ERR_INVALID, "%s", ""); /* Lyceum's text says no more */
}

static int read_market(enum market *out, const json_t *o, struct err *e)
{
	char text[16] = "on-demand";

	if (js_get_str(o, "instance_type", text, sizeof(text), e) != 0 ||
	    market_parse(text, out, e) != 0 || *out == MARKET_RESERVED)
		return err_set(e, ERR_INVALID,
			       LYCEUM_WRONG "instance_type: literal_error: Input should be "
					    "'on-demand' or 'spot'");
	return 0;
}

static int check_profile(const char *profile, struct err *e)
{
	for (unsigned k = 0; k < LYCEUM_PROFILES; k++)
		if (strcmp(profile, lyceum_profiles[k]) == 0)
			return 0;
	return err_set(e, ERR_INVALID,
		       "Unknown hardware_profile '%.40s'. Valid options: a100, b200, b300, h100, "
		       "h200, l40s",
		       profile);
}

static int read_create(struct face_call *f, const json_t *o, struct err *e)
{
	struct lyceum_call *x = f->own;
	char key[4096] = "";

	x->order = order_new();
	f->n = 1;
	f->wants = mem_zalloc(sizeof(*f->wants));
	if (need_text(key, sizeof(key), o, "user_public_key", e) != 0 ||
	    need_text(x->profile, sizeof(x->profile), o, "hardware_profile", e) != 0 ||
	    read_text(x->order->name, sizeof(x->order->name), o, "display_name", e) != 0 ||
	    read_market(&f->market, o, e) != 0 || read_count(&x->count, o, e) != 0 ||
	    check_profile(x->profile, e) != 0)
		return -1;
	face_call_named(f, x->order->name);
	return 0;
}

static int read_rename(struct face_call *f, const json_t *o, struct err *e)
{
	struct lyceum_call *x = f->own;

	return need_text(x->name, sizeof(x->name), o, "display_name", e);
}

static int read_body(struct face_call *f, const struct http_request *rq, struct err *e)
{
	const struct lyceum_call *x = f->own;
	json_error_t je;
	json_t *o = json_loadb(rq->body, rq->len, 0, &je);
	int rc;

	if (o == NULL)
		rc = err_set(e, ERR_INVALID, LYCEUM_WRONG "%d: json_invalid: JSON decode error",
			     je.position);
	else if (!json_is_object(o))
		rc = err_set(e, ERR_INVALID,
			     "body: model_attributes_type: Input should be a valid "
			     "dictionary or object to extract fields from");
	else
		rc = x->action == LYCEUM_CREATE ? read_create(f, o, e) : read_rename(f, o, e);
	json_decref(o);
	return rc;
}

/* --- the query of a list ---------------------------------------------------------------------- */

/* As pydantic reads one.  -1: it is none. */
static int read_bool(const char *text)
{
	static const char *const words[] = {"false", "true", "0",  "1",   "off", "on",
					    "f",     "t",    "no", "yes", "n",   "y"};

	for (unsigned k = 0; k < sizeof(words) / sizeof(words[0]); k++)
		if (strcasecmp(text, words[k]) == 0)
			return (int)(k & 1);
	return -1;
}

static int read_list(struct face_call *f, const struct http_request *rq, struct err *e)
{
	static const struct {
		const char *name;
		unsigned states;
	} flags[] = {
		{"include_provisioning", 1U << LYCEUM_PENDING | 1U << LYCEUM_PROVISIONING},
		{"include_ready", 1U << LYCEUM_READY},
		{"include_failed", 1U << LYCEUM_FAILED | 1U << LYCEUM_ERROR},
		{"include_terminated", 1U << LYCEUM_TERMINATED},
	};
	struct lyceum_call *x = f->own;

	for (unsigned k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
		char text[16];
		int rc = http_query(rq->query, flags[k].name, text, sizeof(text));
		int yes = rc == 0 ? 1 : rc < 0 ? -1 : read_bool(text);

		if (yes < 0)
			return err_set(e, ERR_INVALID,
				       "query/%s: bool_parsing: Input should be a valid boolean, "
				       "unable to interpret input",
				       flags[k].name);
		if (yes == 0)
			x->hidden |= flags[k].states;
	}
	return 0;
}

/* --- paths ------------------------------------------------------------------------------------ */

/* {id}: one word.  Those of the account are answered by a text; what no client has shown is
 * invented. */
static const struct route {
	const char *method, *path;
	enum op op;
	enum lyceum_action action;
	const char *answer;
} routes[] = {
	{"POST", "vms/create", OP_CREATE, LYCEUM_CREATE, NULL},
	{"GET", "vms/list", OP_LIST, LYCEUM_LIST, NULL},
	{"GET", "vms/availability", OP_OFFERS, LYCEUM_AVAILABILITY, NULL},
	{"GET", "pricing", OP_OFFERS, LYCEUM_PRICING, NULL},
	{"GET", "vms/{id}/status", OP_GET, LYCEUM_STATUS, NULL},
	{"PATCH", "vms/{id}", OP_GET, LYCEUM_RENAME, NULL},
	{"DELETE", "vms/{id}", OP_DELETE, LYCEUM_DELETE, NULL},
	{"POST", "auth/login", OP_OFFERS, LYCEUM_SESSION, NULL},
	{"POST", "auth/refresh", OP_OFFERS, LYCEUM_SESSION, NULL},
	{"GET", "user/status", OP_OFFERS, LYCEUM_ACCOUNT,
	 "{\"user_id\":\"" LYCEUM_USER "\",\"org_id\":\"" LYCEUM_ORG "\",\"email\":"
	 "\"user@example.com\",\"full_name\":null,\"created_at\":"
	 "\"2026-01-01T00:00:00.000000+00:00\",\"is_active\":true,\"active_api_keys_count\":1,"
	 "\"credit_balance\":500.0,\"status\":\"authenticated\"}"},
	{"GET", "user/org", OP_OFFERS, LYCEUM_ACCOUNT,
	 "{\"org_id\":\"" LYCEUM_ORG "\",\"slug\":\"" LYCEUM_SLUG "\",\"name\":\"simcloud\","
	 "\"is_personal\":true,\"is_key_scoped\":false}"},
	{"GET", "orgs", OP_OFFERS, LYCEUM_ACCOUNT,
	 "[{\"slug\":\"" LYCEUM_SLUG "\",\"name\":\"simcloud\",\"role\":\"owner\","
	 "\"is_default\":true}]"},
	{"GET", "machine-types", OP_OFFERS, LYCEUM_ACCOUNT, "{\"machine_types\":[]}"},
	{"GET", "billing/credits", OP_OFFERS, LYCEUM_ACCOUNT,
	 "{\"available_credits\":500.0,\"used_credits\":0.0,\"total_credits_used\":0.0,"
	 "\"remaining_credits\":500.0,\"monthly_free_credits\":0.0,\"purchased_credits\":500.0,"
	 "\"signup_grant_claimed_at\":null}"},
};

/* NULL: none; *known says whether another method has that path. */
static const struct route *find(const struct http_request *rq, char id[PATH_ID_SIZE], bool *known)
{
	const char *path = rq->path + sizeof(prefix) - 1;

	*known = false;
	for (size_t k = 0; k < sizeof(routes) / sizeof(routes[0]); k++) {
		if (!path_fits(routes[k].path, path, id))
			continue;
		*known = true;
		if (strcmp(routes[k].method, rq->method) == 0)
			return &routes[k];
	}
	return NULL;
}

/* A session may name its organization; a key has one of its own. */
static bool is_member(const struct face_visit *v)
{
	const char *slug = http_header(v->rq, "X-Org-Slug");
	const char *key = v->keys->token;

	return slug == NULL || strcmp(slug, LYCEUM_SLUG) == 0 || key == NULL ||
	       face_bearer(v->rq->authorization, key);
}

static enum code read_call(struct face_call *f, const struct face_visit *v, struct err *e)
{
	struct lyceum_call *x = f->own;
	int rc = 0;

	if (x->action == LYCEUM_SESSION)
		return lyceum_read_session(x, v, e);
	if (x->action == LYCEUM_LIST)
		rc = read_list(f, v->rq, e);
	else if (x->action == LYCEUM_CREATE || x->action == LYCEUM_RENAME)
		rc = read_body(f, v->rq, e);
	return rc == 0 ? CODE_OK : CODE_INVALID;
}

enum code lyceum_parse(struct face_call **out, const struct face_visit *v, struct err *e)
{
	const struct route *r;
	struct lyceum_call *x;
	struct face_call *f;
	char id[PATH_ID_SIZE];
	enum code code;
	bool known;

	*out = NULL;
	r = find(v->rq, id, &known);
	if (r == NULL || !is_member(v)) {
		(void)err_set(e, ERR_INVALID, "%s",
			      r != NULL ? "Organization not found"
			      : known   ? LYCEUM_NO_METHOD
					: "Not Found");
		return CODE_NOT_FOUND;
	}
	f = face_call_new(v, r->op);
	f->own = x = mem_zalloc(sizeof(*x));
	x->action = r->action;
	x->answer = r->answer;
	face_call_id(f, id);
	code = read_call(f, v, e);
	if (code != CODE_OK)
		face_call_free(f);
	else
		*out = f;
	return code;
}
