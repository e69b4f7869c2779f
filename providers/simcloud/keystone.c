#include "providers/simcloud/keystone.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"

static const char no_method[] = "The method is not allowed for the requested URL.";
static const char no_subject[] = "No token in the request";
static const char bad_subject[] = "Could not recognize Fernet token";

/* The path below Keystone's root; NULL: it is not Keystone's. */
static const char *below(const char *path)
{
	const char *at = os_under(path, "/identity");

	if (at != NULL)
		return at;
	return os_under(path, "/v3") != NULL ? path : NULL;
}

static bool is(const struct face_visit *v)
{
	return below(v->rq->path) != NULL;
}

static bool is_tokens(const struct face_visit *v)
{
	const char *at = below(v->rq->path);

	return at != NULL && strcmp(at, "/v3/auth/tokens") == 0;
}

static bool is_secret(const struct face_visit *v, const char *text)
{
	const char *want = v->keys->token;

	return want == NULL ||
	       (strlen(text) == strlen(want) && CRYPTO_memcmp(text, want, strlen(want)) == 0);
}

/* A body that cannot be read is no wrong credential: parse() says what is wrong with it. */
static enum code authorize(struct face_visit *v, struct err *e)
{
	struct keystone_login l;
	struct os_token t;
	bool good = true;

	if (is_tokens(v) && strcmp(v->rq->method, "POST") == 0) {
		good = keystone_login(&l, v->rq, e) != CODE_OK || is_secret(v, l.secret);
		OPENSSL_cleanse(&l, sizeof(l));
	} else if (is_tokens(v) && strcmp(v->rq->method, "GET") == 0) {
		good = os_token_read(&t, http_header(v->rq, "X-Auth-Token"), v);
	}
	return good ? CODE_OK : CODE_DENIED;
}

/* --- reading ---------------------------------------------------------------------------------- */

static struct keystone_call *make_call(struct face_call **out, const struct face_visit *v,
				       enum keystone_what what)
{
	struct keystone_call *x = mem_zalloc(sizeof(*x));

	x->what = what;
	os_origin(x->origin, v->rq);
	*out = face_call_new(v, OP_LOGIN);
	(*out)->own = x;
	return x;
}

static enum code parse_login(struct face_call **out, const struct face_visit *v, struct err *e)
{
	struct keystone_login l;
	enum code code = keystone_login(&l, v->rq, e);
	struct keystone_call *x;

	if (code == CODE_OK) {
		x = make_call(out, v, KEYSTONE_LOGIN);
		x->token = (struct os_token){.issued_ms = v->now,
					     .expires_ms = v->now + v->conf->login_life_ms,
					     .scoped = l.scoped,
					     .by_application = l.by_application};
		memcpy(x->user, l.user, sizeof(x->user));
		memcpy(x->credential, l.credential, sizeof(x->credential));
		os_token_write(x->text, &x->token, v->keys->token);
	}
	OPENSSL_cleanse(&l, sizeof(l));
	return code;
}

static enum code parse_show(struct face_call **out, const struct face_visit *v, struct err *e)
{
	const char *text = http_header(v->rq, "X-Subject-Token");
	struct keystone_call *x;
	struct os_token t;

	if (!os_token_read(&t, text, v)) {
		(void)err_set(e, ERR_INVALID, "%s", text == NULL ? no_subject : bad_subject);
		return CODE_NOT_FOUND;
	}
	x = make_call(out, v, KEYSTONE_SHOW);
	x->token = t;
	memcpy(x->text, text, strlen(text) + 1);
	return CODE_OK;
}

static enum code parse(struct face_call **out, const struct face_visit *v, struct err *e)
{
	const char *at = below(v->rq->path);
	bool get = strcmp(v->rq->method, "GET") == 0;

	assert(at != NULL); /* is() */
	if (is_tokens(v) && strcmp(v->rq->method, "POST") == 0)
		return parse_login(out, v, e);
	if (is_tokens(v) && get)
		return parse_show(out, v, e);
	if (get && (at[0] == '\0' || strcmp(at, "/") == 0))
		(void)make_call(out, v, KEYSTONE_VERSIONS);
	else if (get && (strcmp(at, "/v3") == 0 || strcmp(at, "/v3/") == 0))
		(void)make_call(out, v, KEYSTONE_VERSION);
	else {
		(void)err_set(e, ERR_INVALID, "%s", is_tokens(v) ? no_method : os_route);
		return CODE_NOT_FOUND;
	}
	return CODE_OK;
}

/* --- answering -------------------------------------------------------------------------------- */

/* The two headers of every answer. */
static void put_headers(struct face_reply *out)
{
	face_header(out, "Vary", "X-Auth-Token");
	face_header(out, "x-openstack-request-id", OS_REQUEST);
}

static void run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		int64_t now, struct face_reply *out)
{
	const struct keystone_call *x = f->own;
	struct str s;

	(void)rule;
	(void)now;
	str_init(&s, OS_BODY_MAX);
	if (x->what == KEYSTONE_LOGIN || x->what == KEYSTONE_SHOW)
		keystone_token(&s, x, c);
	else
		keystone_versions(&s, x);
	if (x->text[0] != '\0')
		face_header(out, "X-Subject-Token", x->text);
	put_headers(out);
	out->status = x->what == KEYSTONE_LOGIN ? 201 : x->what == KEYSTONE_VERSIONS ? 300 : 200;
	face_body(out, &s);
}

/* Titles are those of HTTP. */
static const struct {
	const char *title;
	unsigned status;
} errors[CODE_COUNT] = {
	[CODE_OK] = {"", 200},
	[CODE_CAPACITY] = {"Service Unavailable", 503},
	[CODE_QUOTA] = {"Forbidden", 403},
	[CODE_DENIED] = {"Unauthorized", 401},
	[CODE_INVALID] = {"Bad Request", 400},
	[CODE_NOT_FOUND] = {"Not Found", 404},
	[CODE_TOKEN_MISMATCH] = {"Conflict", 409},
	[CODE_NOT_YET] = {"Conflict", 409},
	[CODE_RATE] = {"Too Many Requests", 429}, /* invented: of a proxy before Keystone */
	[CODE_INTERNAL] = {"Internal Server Error", 500},
};

static void not_allowed(struct face_reply *out)
{
	struct str s;

	str_init(&s, OS_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "message", no_method);
	js_close(&s, '}');
	out->code = CODE_INVALID;
	out->status = 405;
	face_header(out, "Allow", "HEAD, DELETE, OPTIONS, POST, GET");
	face_body(out, &s);
}

/* Headers were put when the call ran, and a fault rule makes it fail after that. */
static void forget_headers(struct face_reply *out)
{
	memset(out->more, 0, sizeof(out->more));
}

static void error(struct face_reply *out, enum code code, const char *message)
{
	const char *text = message != NULL && message[0] != '\0' ? message : code_text(code);

	forget_headers(out);
	out->code = code;
	if (strcmp(text, os_route) == 0)
		os_no_route(out);
	else if (strcmp(text, no_method) == 0)
		not_allowed(out);
	else if (code == CODE_DENIED)
		os_unauthorized(out);
	else
		os_error(out, errors[code].status, errors[code].title, text);
	put_headers(out);
}

const struct face face_keystone = {
	.name = "Keystone",
	.type = "application/json",
	.is = is,
	.authorize = authorize,
	.parse = parse,
	.run = run,
	.error = error,
	.id_prefix = "req-5c000000-0000-4000-8000-",
};
