#include "providers/secrets/vault.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ipaddr.h"
#include "base/mem.h"
#include "providers/secrets/parts.h"

/* The tests in tests/fixtures/vault/ are answers of a real OpenBao. */

enum {
	ROLE_MAX = 256,
	NAMESPACE_MAX = 128,
	LEASE_MAX_S = 10 * 366 * 86400, /* a longer one is as good as none */
	STATUS_STANDBY = 429,           /* of sys/health alone */
	STATUS_DR = 472,
	STATUS_PERF_STANDBY = 473,
	STATUS_LOST_LEADER = 474,
	STATUS_REMOVED = 530,
};

#define LOOK_PATH "auth/token/lookup-accessor"

struct vault {
	char *address[SECRET_ADDRESSES_MAX + 1]; /* "https://host:port" */
	char *namespace;                         /* NULL: none */
	char *data, *metadata;                   /* "kv/data/slurm/prod/node" */
	char *login, *enrol;                     /* enrol: creation_path of a secret_id */
	char *role_id;
	struct secret *secret_id, *token;
	int64_t until;
};

/* --- open, close ------------------------------------------------------------------------------
 */

/* Without TLS anybody on the way could read it: for tests on one machine only. */
static int check_address(const char *url, struct err *e)
{
	bool tls = strncmp(url, "https://", 8) == 0, plain = strncmp(url, "http://", 7) == 0;
	const char *host = url + (tls ? 8 : plain ? 7 : 0);

	if (!parts_is_plain(url, SECRET_URL_MAX) || (!tls && !plain) || host[0] == '\0' ||
	    strpbrk(host, "/?#@") != NULL)
		return err_set(e, ERR_INVALID,
			       "address: \"%.60s\": want https://HOST:PORT, with commas between "
			       "several",
			       url);
	if (plain && !ipaddr_host_is_loopback(host))
		return err_set(e, ERR_INVALID,
			       "address: \"%.60s\": want https://, for secrets are fetched there",
			       url);
	return 0;
}

static int set_addresses(struct vault *v, const char *text, struct err *e)
{
	size_t count = 0;

	if (text == NULL || text[0] == '\0')
		return err_set(e, ERR_INVALID, "address is missing: of Vault, https://HOST:PORT");
	while (text[0] != '\0') {
		size_t n = strcspn(text, ","), len = n;

		if (count == SECRET_ADDRESSES_MAX)
			return err_set(e, ERR_LIMIT, "address: at most %d", SECRET_ADDRESSES_MAX);
		while (len > 0 && text[len - 1] == '/')
			len--;
		v->address[count] = mem_strdup(text);
		v->address[count][len] = '\0';
		if (check_address(v->address[count++], e) < 0)
			return -1;
		text += n + (text[n] == ',');
	}
	return 0;
}

static const char *given(const char *text, const char *otherwise)
{
	return text != NULL && text[0] != '\0' ? text : otherwise;
}

/* As Vault's policies have it, and its API: it would be sought in kv/data/kv/data/... */
static bool begins_with_mount(const char *name, const char *mount)
{
	size_t n = strlen(mount);

	return strncmp(name, mount, n) == 0 && strncmp(name + n, "/data/", 6) == 0;
}

static int set_paths(struct vault *v, const struct secret_store_conf *c, struct err *e)
{
	const char *mount = given(c->mount, "kv"), *auth = given(c->auth_mount, "approle");
	const char *ns = given(c->namespace, NULL);

	if (!parts_is_path(mount) || !parts_is_path(auth))
		return err_set(e, ERR_INVALID, "mount, auth_mount: want the path of a mount");
	if (c->name == NULL || !parts_is_path(c->name))
		return err_set(e, ERR_INVALID,
			       "name: want the bundle's path in the KV engine, such as "
			       "\"slurm/prod/node\"");
	if (begins_with_mount(c->name, mount))
		return err_set(
			e, ERR_INVALID,
			"name: want the bundle's path in the KV engine: without \"%s/data/\"",
			mount);
	if (ns != NULL && (!parts_is_plain(ns, NAMESPACE_MAX)))
		return err_set(e, ERR_INVALID, "namespace: want a path");
	v->data = parts_text("%s/data/%s", mount, c->name);
	v->metadata = parts_text("%s/metadata/%s", mount, c->name);
	v->login = parts_text("auth/%s/login", auth);
	v->namespace = ns != NULL ? mem_strdup(ns) : NULL;
	if (given(c->role_name, NULL) != NULL) {
		if (!parts_is_path(c->role_name) || strchr(c->role_name, '/') != NULL)
			return err_set(e, ERR_INVALID, "role_name: want the name of an AppRole");
		v->enrol = parts_text("auth/%s/role/%s/secret-id", auth, c->role_name);
	}
	return 0;
}

static int vault_credential(void *self, const char *text, struct err *e)
{
	struct vault *v = self;

	if (!parts_is_plain(text, SECRET_TOKEN_MAX))
		return err_set(e, ERR_INVALID, "credential_file: want a secret_id");
	secret_free(v->secret_id);
	v->secret_id = secret_new(text, strlen(text));
	return 0;
}

static void forget(struct vault *v)
{
	secret_free(v->token);
	v->token = NULL;
	v->until = 0;
}

static void vault_close(void *self)
{
	struct vault *v = self;

	if (v == NULL)
		return;
	for (size_t i = 0; v->address[i] != NULL; i++)
		free(v->address[i]);
	free(v->namespace);
	free(v->data);
	free(v->metadata);
	free(v->login);
	free(v->enrol);
	free(v->role_id);
	secret_free(v->secret_id);
	forget(v);
	free(v);
}

static int vault_open(void **self, const struct secret_store_conf *c, struct err *e)
{
	struct vault *v = mem_zalloc(sizeof(*v));

	*self = NULL;
	if (set_addresses(v, c->address, e) < 0 || set_paths(v, c, e) < 0)
		goto fail;
	if (c->role_id == NULL || !parts_is_plain(c->role_id, ROLE_MAX)) {
		(void)err_set(e, ERR_INVALID, "role_id: want the role_id of burstd's AppRole");
		goto fail;
	}
	v->role_id = mem_strdup(c->role_id);
	if (c->credential != NULL && vault_credential(v, c->credential, e) < 0)
		goto fail;
	*self = v;
	return 0;
fail:
	vault_close(v);
	return -1;
}

static unsigned vault_flags(const void *self)
{
	const struct vault *v = self;

	return SECRET_WRAPS | SECRET_RENEWS | SECRET_PROBES |
	       (v->enrol != NULL ? SECRET_ENROLS : 0u);
}

static const char *vault_address(const void *self, uint32_t i)
{
	const struct vault *v = self;

	return i < SECRET_ADDRESSES_MAX ? v->address[i] : NULL;
}

static const char *vault_path(const void *self, enum secret_op_kind kind)
{
	const struct vault *v = self;

	return kind == SECRET_WRAP ? v->data : v->enrol;
}

static int64_t vault_good_until(const void *self)
{
	const struct vault *v = self;

	return v->token != NULL ? v->until : 0;
}

/* --- requests ---------------------------------------------------------------------------------
 */

static void begin(const struct vault *v, const struct secret_op *op, struct secret_request *out,
		  const char *method, const char *path)
{
	out->kind = SECRET_HTTP;
	out->method = method;
	out->url = parts_text("%s/v1/%s", v->address[op->address], path);
	/* A Vault Agent or Proxy in between may insist on it. */
	parts_header(out, mem_strdup("X-Vault-Request: true"));
	if (v->namespace != NULL && op->kind != SECRET_HEALTH)
		parts_header(out, parts_text("X-Vault-Namespace: %s", v->namespace));
}

static void set_body(struct secret_request *out, char *body)
{
	out->body = body;
	out->body_len = strlen(body);
	parts_header(out, mem_strdup("Content-Type: application/json"));
}

static void set_token(struct secret_request *out, const char *token)
{
	parts_header(out, parts_text("X-Vault-Token: %s", token));
}

static int build_login(const struct vault *v, const struct secret_op *op,
		       struct secret_request *out, struct err *e)
{
	if (v->secret_id == NULL)
		return err_set(e, ERR_AUTH,
			       "there is no secret_id yet: \"burstctl secrets enroll\", or "
			       "credential_file");
	begin(v, op, out, "POST", v->login);
	set_body(out, parts_text("{\"role_id\":\"%s\",\"secret_id\":\"%s\"}", v->role_id,
				 secret_text(v->secret_id)));
	return 0;
}

/* Without a session of ours: the wrapping token is all that it takes. */
static int build_wrapped(const struct vault *v, const struct secret_op *op,
			 struct secret_request *out, struct err *e)
{
	if (op->token == NULL || !parts_is_plain(op->token, SECRET_TOKEN_MAX))
		return err_set(e, ERR_INVALID, "that is no wrapping token");
	if (op->kind == SECRET_PEEK) {
		begin(v, op, out, "POST", "sys/wrapping/lookup");
		set_body(out, parts_text("{\"token\":\"%s\"}", op->token));
	} else {
		/* In the header, and nowhere else: with it in the body as well it would be used up
		 * and its content lost. */
		begin(v, op, out, "POST", "sys/wrapping/unwrap");
		set_token(out, op->token);
	}
	return 0;
}

static void build_read(const struct vault *v, const struct secret_op *op,
		       struct secret_request *out)
{
	bool exact = op->version != NULL && op->version[0] != '\0';
	char *path =
		parts_text("%s%s%s", v->data, exact ? "?version=" : "", exact ? op->version : "");

	begin(v, op, out, "GET", path);
	if (op->kind == SECRET_WRAP)
		parts_header(out, parts_text("X-Vault-Wrap-TTL: %" PRIu32 "s", op->wrap_s));
	free(path);
}

static int build_write(const struct vault *v, const struct secret_op *op,
		       struct secret_request *out, struct err *e)
{
	const char *cas = given(op->version, "0");

	if (op->bundle == NULL || strspn(cas, "0123456789") != strlen(cas))
		return err_set(e, ERR_INVALID, "want a bundle, and a version that is a number");
	begin(v, op, out, "POST", v->data);
	set_body(out, parts_text("{\"options\":{\"cas\":%s},\"data\":%s}", cas, op->bundle));
	return 0;
}

static int build_own(const struct vault *v, const struct secret_op *op, struct secret_request *out,
		     struct err *e)
{
	switch (op->kind) {
	case SECRET_RENEW:
		begin(v, op, out, "POST", "auth/token/renew-self");
		set_body(out, mem_strdup("{}"));
		break;
	case SECRET_LOGOUT:
		begin(v, op, out, "POST", "auth/token/revoke-self");
		break;
	case SECRET_RIGHTS:
		begin(v, op, out, "POST", "sys/capabilities-self");
		set_body(out, parts_text("{\"paths\":[\"%s\",\"%s\","
					 "\"auth/token/revoke-accessor\",\"" LOOK_PATH "\"]}",
					 v->data, v->metadata));
		break;
	case SECRET_VERSION:
		begin(v, op, out, "GET", v->metadata);
		break;
	case SECRET_READ:
	case SECRET_WRAP:
		build_read(v, op, out);
		break;
	case SECRET_WRITE:
		if (build_write(v, op, out, e) < 0)
			return -1;
		break;
	case SECRET_REVOKE:
	case SECRET_LOOK:
		if (op->token == NULL || !parts_is_plain(op->token, SECRET_ACCESSOR_MAX))
			return err_set(e, ERR_INVALID, "that is no accessor");
		begin(v, op, out, "POST",
		      op->kind == SECRET_LOOK ? LOOK_PATH : "auth/token/revoke-accessor");
		set_body(out, parts_text("{\"accessor\":\"%s\"}", op->token));
		break;
	default:
		return err_set(e, ERR_INVALID, "not asked of Vault");
	}
	set_token(out, secret_text(v->token));
	return 0;
}

static bool is_version(const char *text)
{
	return text == NULL ||
	       (strlen(text) <= SECRET_VERSION_MAX && strspn(text, "0123456789") == strlen(text));
}

static int vault_build(const void *self, const struct secret_op *op, struct secret_request *out,
		       struct err *e)
{
	const struct vault *v = self;

	if (vault_address(v, op->address) == NULL || !is_version(op->version))
		return err_set(e, ERR_INVALID, "no such address, or no version of Vault's");
	switch (op->kind) {
	case SECRET_HEALTH:
		/* Without standbyok: what is asked for is the one that is active. */
		begin(v, op, out, "GET", "sys/health");
		return 0;
	case SECRET_LOGIN:
		return build_login(v, op, out, e);
	case SECRET_PEEK:
	case SECRET_UNWRAP:
		return build_wrapped(v, op, out, e);
	default:
		if (v->token == NULL)
			return err_set(e, ERR_AUTH, "there is no session");
		return build_own(v, op, out, e);
	}
}

/* --- replies: errors --------------------------------------------------------------------------
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

/* What a server says may not hold what we sent it. */
static bool quotes(const struct vault *v, const char *text)
{
	return (v->token != NULL && strstr(text, secret_text(v->token)) != NULL) ||
	       (v->secret_id != NULL && strstr(text, secret_text(v->secret_id)) != NULL);
}

/* {"errors":["..."]}; the first is what people need. */
static void take_words(const struct vault *v, const struct secret_reply *reply,
		       struct secret_result *out)
{
	struct jpull_value root, list;
	struct jpull j;

	(void)snprintf(out->message, sizeof(out->message), "HTTP status %ld", reply->status);
	if (!parts_json(reply->body, reply->len, &root))
		return;
	if (is_true(&root, "sealed"))
		(void)snprintf(out->message, sizeof(out->message), "it is sealed");
	if (is_false(&root, "initialized"))
		(void)snprintf(out->message, sizeof(out->message), "it was never initialised");
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
		(void)snprintf(out->message, sizeof(out->message), "(its words hold a secret)");
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
	take_words(v, reply, out);
	out->code = code_of(op, reply->status, out->message);
	/* 400 of OpenBao, 403 of Vault: as if we might not ask. */
	if ((op->kind == SECRET_LOOK || op->kind == SECRET_REVOKE) &&
	    (reply->status == 400 || reply->status == 403) &&
	    strstr(out->message, "invalid accessor") != NULL)
		out->code = SECRET_SPENT;
	out->retry_after_ms = parts_retry_after(reply->retry_after);
	if (out->code == SECRET_ELSEWHERE && reply->location != NULL &&
	    strlen(reply->location) <= SECRET_URL_MAX)
		(void)snprintf(out->location, sizeof(out->location), "%s", reply->location);
}

/* --- replies: what was asked for --------------------------------------------------------------
 */

static const char *read_auth(const struct secret_op *op, const struct jpull_value *root,
			     struct secret_result *out)
{
	struct jpull_value auth = parts_member(root, "auth"),
			   token = parts_member(&auth, "client_token");
	int64_t lease = number(&auth, "lease_duration");

	if (lease < 0 || lease > LEASE_MAX_S)
		return "a session without an end, or with a strange one";
	out->lease_ms = lease * 1000;
	out->renewable = is_true(&auth, "renewable");
	if (op->kind == SECRET_RENEW)
		return NULL;
	out->value = parts_secret(&token, SECRET_TOKEN_MAX);
	return out->value != NULL ? NULL : "no token in it";
}

/* "read", "update", ... of one path. */
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
		      read_path(&data, LOOK_PATH, "update", SECRET_MAY_LOOK);
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
		return "it was not wrapped";
	parts_copy(&accessor, out->accessor, sizeof(out->accessor));
	parts_copy(&path, out->path, sizeof(out->path));
	/* Equal, not only the beginning: a token for something else is somebody's forgery. */
	if (strcmp(out->path, v->data) != 0)
		return "it wraps something else than the bundle";
	if (ttl <= 0 || ttl > LEASE_MAX_S || out->accessor[0] == '\0')
		return "a wrapping token without an end, or without a name";
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

/* One that is used up has no uses left, however long it stays there. */
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

/* What is wrong with it, or NULL. */
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

static void vault_parse(const void *self, const struct secret_op *op,
			const struct secret_reply *reply, struct secret_result *out)
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
				: "it is no JSON";
	}
	if (wrong == NULL)
		return;
	secret_result_fini(out);
	out->code = SECRET_INVALID;
	(void)snprintf(out->message, sizeof(out->message), "the answer makes no sense: %s", wrong);
}

/* --- the session ------------------------------------------------------------------------------
 */

static int vault_take(void *self, const struct secret_result *r, int64_t now_ms, struct err *e)
{
	struct vault *v = self;

	if (r == NULL) {
		forget(v);
		return 1;
	}
	if (r->code != SECRET_OK || (r->value == NULL && v->token == NULL))
		return err_set(e, ERR_INVALID, "that is no session");
	if (r->value != NULL) {
		secret_free(v->token);
		v->token = secret_dup(r->value);
	}
	/* 0: a token without an end, or one that will not live longer than it does. */
	if (r->lease_ms > 0)
		v->until = now_ms + r->lease_ms;
	else if (r->value != NULL)
		v->until = INT64_MAX;
	return 0;
}

const struct secret_store_ops secrets_vault = {
	.name = "vault",
	.open = vault_open,
	.close = vault_close,
	.flags = vault_flags,
	.address = vault_address,
	.build = vault_build,
	.parse = vault_parse,
	.good_until = vault_good_until,
	.take = vault_take,
	.credential = vault_credential,
	.path = vault_path,
};
