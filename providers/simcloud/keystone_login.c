/* keystone_login.c - reads the body of a login: who says to be whom, and by what secret. */
#include <string.h>

#include <jansson.h>

#include "providers/simcloud/js.h"
#include "providers/simcloud/keystone.h"

static int want_in(struct err *e, const char *what, const char *where)
{
	return err_set(
		e, ERR_INVALID,
		"Expecting to find %.60s in %s. The server could not comply with the request "
		"since it is either malformed or otherwise incorrect. The client is assumed to "
		"be in error.",
		what, where);
}

/* jsonschema's words. */
static int want_type(struct err *e, const char *what, const char *type)
{
	return err_set(e, ERR_INVALID, "%s is not of type '%s'", what, type);
}

static const json_t *get_object(const json_t *o, const char *key, const char *where, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (v == NULL)
		(void)want_in(e, key, where);
	else if (!json_is_object(v))
		(void)want_type(e, key, "object");
	return json_is_object(v) ? v : NULL;
}

/* A user is an id, or a name in a domain, which has an id or a name. */
static int read_user(struct keystone_login *l, const json_t *user, struct err *e)
{
	char id[SETTINGS_WORD_SIZE] = "", domain[SETTINGS_WORD_SIZE] = "";
	const json_t *in = json_object_get(user, "domain");

	if (js_get_str(user, "id", id, sizeof(id), e) != 0 ||
	    js_get_str(user, "name", l->user, sizeof(l->user), e) != 0 ||
	    js_get_str(in, "id", domain, sizeof(domain), e) != 0 ||
	    js_get_str(in, "name", domain, sizeof(domain), e) != 0)
		return -1;
	if (id[0] == '\0' && l->user[0] == '\0')
		return want_in(e, "id or name", "user");
	if (id[0] == '\0' && in == NULL)
		return want_in(e, "domain", "user");
	if (id[0] == '\0' && domain[0] == '\0')
		return want_in(e, "id or name", "domain");
	return 0;
}

static int read_password(struct keystone_login *l, const json_t *identity, struct err *e)
{
	const json_t *method = get_object(identity, "password", "identity", e), *user;

	if (method == NULL)
		return -1;
	user = get_object(method, "user", "password", e);
	if (user == NULL || read_user(l, user, e) != 0)
		return -1;
	return js_get_str(user, "password", l->secret, sizeof(l->secret), e);
}

static int read_application(struct keystone_login *l, const json_t *identity, struct err *e)
{
	const json_t *c = get_object(identity, "application_credential", "identity", e), *user;
	char id[SETTINGS_WORD_SIZE] = "";

	if (c == NULL || js_get_str(c, "id", id, sizeof(id), e) != 0 ||
	    js_get_str(c, "name", l->credential, sizeof(l->credential), e) != 0 ||
	    js_get_str(c, "secret", l->secret, sizeof(l->secret), e) != 0)
		return -1;
	l->by_application = l->scoped = true;
	if (id[0] != '\0')
		return 0;
	if (l->credential[0] == '\0')
		return want_in(e, "id or name", "application credential");
	user = get_object(c, "user", "application credential", e);
	return user != NULL ? read_user(l, user, e) : -1;
}

static int read_methods(struct keystone_login *l, const json_t *identity, struct err *e)
{
	const json_t *methods = json_object_get(identity, "methods"), *v;
	size_t i;

	if (!json_is_object(identity) || methods == NULL)
		return err_set(e, ERR_INVALID, "'%s' is a required property",
			       methods == NULL && identity != NULL ? "methods" : "identity");
	if (!json_is_array(methods))
		return want_type(e, "methods", "array");
	json_array_foreach(methods, i, v)
	{
		const char *word = json_string_value(v);

		if (word == NULL)
			return want_type(e, "method", "string");
		if (strcmp(word, "password") == 0 && read_password(l, identity, e) != 0)
			return -1;
		if (strcmp(word, "application_credential") == 0 &&
		    read_application(l, identity, e) != 0)
			return -1;
		if (json_object_get(identity, word) == NULL)
			return want_in(e, word, "identity");
	}
	return 0;
}

/* An application credential has its scope, and may not ask for one. */
static void read_scope(struct keystone_login *l, const json_t *auth)
{
	const json_t *scope = json_object_get(auth, "scope");

	if (json_is_object(json_object_get(scope, "project")))
		l->scoped = true;
	if (scope != NULL && l->by_application)
		l->secret[0] = '\0';
}

enum code keystone_login(struct keystone_login *out, const struct http_request *rq, struct err *e)
{
	const char *type = http_header(rq, "Content-Type");
	json_t *doc = json_loadb(rq->body, rq->len, 0, NULL);
	const json_t *auth;
	int rc;

	*out = (struct keystone_login){.scoped = false};
	if (type == NULL || strncmp(type, "application/json", 16) != 0)
		rc = want_in(e, "application/json", "Content-Type header");
	else if (doc == NULL)
		rc = want_in(e, "valid JSON", "request body");
	else if ((auth = get_object(doc, "auth", "request body", e)) == NULL)
		rc = -1;
	else if ((rc = read_methods(out, json_object_get(auth, "identity"), e)) == 0)
		read_scope(out, auth);
	json_decref(doc);
	return rc == 0 ? CODE_OK : CODE_INVALID;
}
