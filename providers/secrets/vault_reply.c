/* vault_reply.c - reads Vault's replies: results and errors. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "providers/secrets/parts.h"
#include "providers/secrets/vault_private.h"

/* tests/fixtures/vault/ has replies of a real OpenBao, for the tests. */

enum {
	LEASE_MAX_S = 10 * 366 * 86400, /* a longer lease is a mistake */
	STATUS_STANDBY = 429,           /* from sys/health only */
	STATUS_DR = 472,
	STATUS_PERF_STANDBY = 473,
	STATUS_LOST_LEADER = 474,
	STATUS_REMOVED = 530,
};

/* --- errors -----------------------------------------------------------------------------------
 */

static int64_t number(const struct jpull_value *obj, const char *name)
{
	struct jpull_value v = parts_member(obj, name);
	int64_t n;

	return jpull_int(&v, &n) == 1 ? n : -1;
}

static bool is_true(const struct jpull_value *obj, const char *name)
{
	struct jpull_value v = parts_member(obj, name);

	return v.type == JPULL_BOOL && v.p[0] == 't';
}

static bool is_false(const struct jpull_value *obj, const char *name)
{
	struct jpull_value v = parts_member(obj, name);

	return v.type == JPULL_BOOL && v.p[0] == 'f';
}

/* Does the text contain a secret that we sent?  Servers may quote it. */
static bool quotes(const struct vault *v, const char *text)
{
	return (v->token != NULL && strstr(text, secret_text(v->token)) != NULL) ||
	       (v->secret_id != NULL && strstr(text, secret_text(v->secret_id)) != NULL);
}

/* Set the message of {"errors":["..."]}: people need only the first. */
static void take_words(const struct vault *v, const struct secret_reply *reply,
		       struct secret_result *out)
{
	struct jpull_value root, list;
	struct jpull j;

	(void)snprintf(out->message, sizeof(out->message), "HTTP status %ld", reply->status);
	if (!parts_json(reply->body, reply->len, &root))
		return;
	if (is_true(&root, "sealed"))
		(void)snprintf(out->message, sizeof(out->message), "the server is sealed");
	if (is_false(&root, "initialized"))
		(void)snprintf(out->message, sizeof(out->message),
			       "the server was never initialised");
	list = parts_member(&root, "errors");
	if (list.type != JPULL_ARRAY)
		return;
	jpull_init(&j, list.p, list.n);
	(void)jpull_enter(&j, '[');
	if (jpull_item(&j)) {
		struct jpull_value first = jpull_take(&j);

		if (first.type == JPULL_STRING && first.n > 0)
			parts_message(out, first.p, first.n);
	}
	if (quotes(v, out->message))
		(void)snprintf(out->message, sizeof(out->message),
			       "(message withheld: it contains a secret)");
}

static enum secret_code bad_request(const struct secret_op *op, const char *words)
{
	if (strstr(words, "wrapping token is not valid") != NULL)
		return SECRET_SPENT;
	if (strstr(words, "check-and-set parameter did not match") != NULL)
		return SECRET_CONFLICT;
	return op->kind == SECRET_LOGIN ? SECRET_DENIED : SECRET_INVALID;
}

static enum secret_code health_of(long status)
{
	switch (status) {
	case STATUS_STANDBY:
	case STATUS_DR:
	case STATUS_PERF_STANDBY:
	case STATUS_LOST_LEADER:
	case STATUS_REMOVED:
		return SECRET_ELSEWHERE;
	case 501:
		return SECRET_NEW;
	case 503:
		return SECRET_AWAY;
	default:
		return SECRET_TRANSIENT;
	}
}

static enum secret_code code_of(const struct secret_op *op, long status, const char *words)
{
	if (op->kind == SECRET_HEALTH && (status < 300 || status > 399))
		return health_of(status);
	switch (status) {
	case 301:
	case 302:
	case 307:
	case 308:
	case STATUS_DR:
	case STATUS_PERF_STANDBY:
	case STATUS_LOST_LEADER:
	case STATUS_REMOVED:
		return SECRET_ELSEWHERE;
	case 400:
		return bad_request(op, words);
	case 401:
	case 403:
		return SECRET_DENIED;
	case 404:
		return SECRET_MISSING;
	case 412:
		return SECRET_BEHIND;
	case 429:
		return SECRET_RATE;
	case 501:
		return SECRET_NEW;
	case 503:
		return SECRET_AWAY;
	default:
		return status >= 500 ? SECRET_TRANSIENT : SECRET_INVALID;
	}
}

static void failed(const struct vault *v, const struct secret_op *op,
		   const struct secret_reply *reply, struct secret_result *out)
{
	const char *location;

	take_words(v, reply, out);
	out->code = code_of(op, reply->status, out->message);
	/* OpenBao sends 400 and Vault 403, as if we had no right to ask. */
	if ((op->kind == SECRET_LOOK || op->kind == SECRET_REVOKE) &&
	    (reply->status == 400 || reply->status == 403) &&
	    strstr(out->message, "invalid accessor") != NULL)
		out->code = SECRET_SPENT;
	out->retry_after_ms = headers_retry_after_ms(&reply->headers, SECRET_RETRY_MAX_MS);
	location = headers_get(&reply->headers, "Location");
	if (out->code == SECRET_ELSEWHERE && location != NULL && strlen(location) <= SECRET_URL_MAX)
		(void)snprintf(out->location, sizeof(out->location), "%s", location);
}

/* --- what was asked for -----------------------------------------------------------------------
 */

static const char *read_auth(const struct secret_op *op, const struct jpull_value *root,
			     struct secret_result *out)
{
	struct jpull_value auth = parts_member(root, "auth"),
			   token = parts_member(&auth, "client_token");
	int64_t lease = number(&auth, "lease_duration");

	if (lease < 0 || lease > LEASE_MAX_S)
		return "lease_duration is missing or out of range";
	out->lease_ms = lease * 1000;
	out->renewable = is_true(&auth, "renewable");
	if (op->kind == SECRET_RENEW)
		return NULL;
	out->value = parts_secret(&token, SECRET_TOKEN_MAX);
	return out->value != NULL ? NULL : "no token in it";
}

/* Returns `right` if a path's capabilities ("read", "update", ...) have `want`; all for root or
 * sudo. */
static unsigned read_path(const struct jpull_value *data, const char *path, const char *want,
			  unsigned right)
{
	struct jpull_value list = parts_member(data, path);
	unsigned rights = 0;
	struct jpull j;

	if (list.type != JPULL_ARRAY)
		return 0;
	jpull_init(&j, list.p, list.n);
	(void)jpull_enter(&j, '[');
	while (jpull_item(&j)) {
		struct jpull_value word = jpull_take(&j);

		if (jpull_is(&word, want))
			rights |= right;
		if (jpull_is(&word, "root") || jpull_is(&word, "sudo"))
			rights |= SECRET_MAY_ALL | right;
	}
	return rights;
}

static const char *read_rights(const struct vault *v, const struct jpull_value *root,
			       struct secret_result *out)
{
	struct jpull_value data = parts_member(root, "data");

	if (data.type != JPULL_OBJECT)
		return "no rights in it";
	out->rights = read_path(&data, v->data, "read", SECRET_MAY_READ) |
		      read_path(&data, v->metadata, "read", SECRET_MAY_POLL) |
		      read_path(&data, "auth/token/revoke-accessor", "update", SECRET_MAY_REVOKE) |
		      read_path(&data, VAULT_LOOK_PATH, "update", SECRET_MAY_LOOK);
	return NULL;
}

static bool is_gone(const struct jpull_value *metadata)
{
	struct jpull_value deleted = parts_member(metadata, "deletion_time");

	return is_true(metadata, "destroyed") || (deleted.type == JPULL_STRING && deleted.n > 0);
}

static const char *gone(struct secret_result *out)
{
	out->code = SECRET_MISSING;
	(void)snprintf(out->message, sizeof(out->message), "version %s was deleted", out->version);
	return NULL;
}

static const char *read_version(const struct jpull_value *root, struct secret_result *out)
{
	struct jpull_value data = parts_member(root, "data"), all = parts_member(&data, "versions"),
			   one;
	int64_t n = number(&data, "current_version");

	if (n < 0)
		return "no version in it";
	(void)snprintf(out->version, sizeof(out->version), "%" PRId64, n);
	one = parts_member(&all, out->version);
	if (n == 0) {
		out->code = SECRET_MISSING;
		(void)snprintf(out->message, sizeof(out->message), "nothing was written there yet");
		return NULL;
	}
	return is_gone(&one) ? gone(out) : NULL;
}

static const char *read_bundle(const struct jpull_value *root, struct secret_result *out)
{
	struct jpull_value outer = parts_member(root, "data"),
			   bundle = parts_member(&outer, "data"),
			   metadata = parts_member(&outer, "metadata");
	int64_t n = number(&metadata, "version");

	if (bundle.type != JPULL_OBJECT || bundle.n > SECRET_BUNDLE_MAX || n <= 0)
		return "no bundle in it, or one that is too long";
	(void)snprintf(out->version, sizeof(out->version), "%" PRId64, n);
	out->value = secret_new(bundle.p, bundle.n);
	return NULL;
}

static const char *read_wrap(const struct vault *v, const struct jpull_value *root,
			     struct secret_result *out)
{
	struct jpull_value info = parts_member(root, "wrap_info"),
			   token = parts_member(&info, "token"),
			   accessor = parts_member(&info, "accessor"),
			   path = parts_member(&info, "creation_path");
	int64_t ttl = number(&info, "ttl");

	if (info.type != JPULL_OBJECT)
		return "it is not wrapped";
	parts_copy(&accessor, out->accessor, sizeof(out->accessor));
	parts_copy(&path, out->path, sizeof(out->path));
	/* Compare the whole path: a token for anything else is forged. */
	if (strcmp(out->path, v->data) != 0)
		return "its token wraps something other than the bundle";
	if (ttl <= 0 || ttl > LEASE_MAX_S || out->accessor[0] == '\0')
		return "the wrapping token has no ttl or no accessor";
	out->ttl_ms = ttl * 1000;
	out->value = parts_secret(&token, SECRET_TOKEN_MAX);
	return out->value != NULL ? NULL : "no wrapping token in it";
}

static const char *read_peek(const struct jpull_value *root, struct secret_result *out)
{
	struct jpull_value data = parts_member(root, "data"),
			   path = parts_member(&data, "creation_path");
	int64_t ttl = number(&data, "creation_ttl");

	parts_copy(&path, out->path, sizeof(out->path));
	out->ttl_ms = ttl > 0 && ttl <= LEASE_MAX_S ? ttl * 1000 : 0;
	return out->path[0] != '\0' ? NULL : "no creation_path in it";
}

/* A spent token has no uses left, however long Vault shows it. */
static const char *read_look(const struct jpull_value *root)
{
	struct jpull_value data = parts_member(root, "data");

	return number(&data, "num_uses") > 0 ? NULL : "no wrapping token in it";
}

static const char *read_secret_id(const struct jpull_value *root, struct secret_result *out)
{
	struct jpull_value data = parts_member(root, "data"), id = parts_member(&data, "secret_id");

	out->value = parts_secret(&id, SECRET_TOKEN_MAX);
	return out->value != NULL ? NULL : "no secret_id in it";
}

static const char *read_written(const struct jpull_value *root, struct secret_result *out)
{
	struct jpull_value data = parts_member(root, "data");
	int64_t n = number(&data, "version");

	if (n <= 0)
		return "no version in it";
	(void)snprintf(out->version, sizeof(out->version), "%" PRId64, n);
	return NULL;
}

/* Read a reply; returns what is wrong with it, or NULL. */
static const char *read_reply(const struct vault *v, const struct secret_op *op,
			      const struct jpull_value *root, struct secret_result *out)
{
	switch (op->kind) {
	case SECRET_LOGIN:
	case SECRET_RENEW:
		return read_auth(op, root, out);
	case SECRET_RIGHTS:
		return read_rights(v, root, out);
	case SECRET_VERSION:
		return read_version(root, out);
	case SECRET_READ:
		return read_bundle(root, out);
	case SECRET_WRAP:
		return read_wrap(v, root, out);
	case SECRET_PEEK:
		return read_peek(root, out);
	case SECRET_LOOK:
		return read_look(root);
	case SECRET_UNWRAP:
		return read_secret_id(root, out);
	case SECRET_WRITE:
		return read_written(root, out);
	default:
		return NULL;
	}
}

static bool needs_body(enum secret_op_kind kind)
{
	return kind != SECRET_LOGOUT && kind != SECRET_REVOKE;
}

void vault_parse(const void *self, const struct secret_op *op, const struct secret_reply *reply,
		 struct secret_result *out)
{
	const struct vault *v = self;
	const char *wrong = NULL;
	struct jpull_value root;

	if (reply->status != 200 && reply->status != 204) {
		failed(v, op, reply, out);
		return;
	}
	if (needs_body(op->kind)) {
		wrong = parts_json(reply->body, reply->len, &root) && root.type == JPULL_OBJECT
				? read_reply(v, op, &root, out)
				: "not JSON";
	}
	if (wrong == NULL)
		return;
	secret_result_fini(out);
	out->code = SECRET_INVALID;
	(void)snprintf(out->message, sizeof(out->message), "malformed reply: %s", wrong);
}
