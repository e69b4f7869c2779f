#include "providers/secrets/vault.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ipaddr.h"
#include "base/mem.h"
#include "providers/common/words.h"
#include "providers/secrets/parts.h"
#include "providers/secrets/vault_private.h"

enum {
	ROLE_MAX = 256,
	NAMESPACE_MAX = 128,
};

/* --- open, close ------------------------------------------------------------------------------
 */

/* Demand TLS except on loopback, for tests: anybody on the way could read the secrets. */
static int check_address(const char *url, struct err *e)
{
	bool tls = strncmp(url, "https://", 8) == 0, plain = strncmp(url, "http://", 7) == 0;
	const char *host = url + (tls ? 8 : plain ? 7 : 0);

	if (!words_is_plain(url, SECRET_URL_MAX) || (!tls && !plain) || host[0] == '\0' ||
	    strpbrk(host, "/?#@") != NULL)
		return err_set(e, ERR_INVALID,
			       "address: \"%.60s\": want https://HOST:PORT, with commas between "
			       "several",
			       url);
	if (plain && !ipaddr_host_is_loopback(host))
		return err_set(
			e, ERR_INVALID,
			"address: \"%.60s\": want https://, since secrets are read from there",
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

/* Does the name begin with "MOUNT/data/", as in Vault's policies and API?  Vault would look for it
 * in kv/data/kv/data/... */
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
	if (ns != NULL && (!words_is_plain(ns, NAMESPACE_MAX)))
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

	if (!words_is_plain(text, SECRET_TOKEN_MAX))
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
	if (c->role_id == NULL || !words_is_plain(c->role_id, ROLE_MAX)) {
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
	/* A Vault Agent or Proxy in between may demand this header. */
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

/* Needs no session: the wrapping token is enough. */
static int build_wrapped(const struct vault *v, const struct secret_op *op,
			 struct secret_request *out, struct err *e)
{
	if (op->token == NULL || !words_is_plain(op->token, SECRET_TOKEN_MAX))
		return err_set(e, ERR_INVALID, "not a wrapping token");
	if (op->kind == SECRET_PEEK) {
		begin(v, op, out, "POST", "sys/wrapping/lookup");
		set_body(out, parts_text("{\"token\":\"%s\"}", op->token));
	} else {
		/* Send the token in the header only: with it in the body as well, it would be used
		 * up and its content lost. */
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
					 "\"auth/token/revoke-accessor\",\"" VAULT_LOOK_PATH "\"]}",
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
		if (op->token == NULL || !words_is_plain(op->token, SECRET_ACCESSOR_MAX))
			return err_set(e, ERR_INVALID, "not an accessor");
		begin(v, op, out, "POST",
		      op->kind == SECRET_LOOK ? VAULT_LOOK_PATH : "auth/token/revoke-accessor");
		set_body(out, parts_text("{\"accessor\":\"%s\"}", op->token));
		break;
	default:
		return err_set(e, ERR_INVALID, "operation not supported by Vault");
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
		return err_set(e, ERR_INVALID, "unknown address, or not a version of Vault's");
	switch (op->kind) {
	case SECRET_HEALTH:
		/* Without standbyok: we look for the active server. */
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
		return err_set(e, ERR_INVALID, "not a session");
	if (r->value != NULL) {
		secret_free(v->token);
		v->token = secret_dup(r->value);
	}
	/* Lease 0: a new token never expires; a renewed one cannot be extended. */
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
