#include "providers/common/rest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/plain.h"
#include "base/secret.h"
#include "providers/common/query.h"
#include "providers/common/words.h"

enum { HEADER_MAX = 2 * REST_CREDENTIAL_MAX };

/* --- init, fini --------------------------------------------------------------------------------
 */

bool rest_is_url(const char *url)
{
	const char *host;

	if (strncmp(url, "http://", 7) == 0)
		host = url + 7;
	else if (strncmp(url, "https://", 8) == 0)
		host = url + 8;
	else
		return false;
	for (const char *p = host; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || strchr("@?#\\\"<>", *p) != NULL)
			return false;
	return *host != '\0' && *host != '/' && strlen(url) <= REST_BASE_MAX;
}

static bool is_credential(const char *text)
{
	for (const char *p = text; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~')
			return false; /* a line break would end the header and begin another */
	return *text != '\0' && strlen(text) <= REST_CREDENTIAL_MAX;
}

/* What must not be seen of "USER:PASSWORD"; with "KEY:" it is the key. */
static char *basic_secret(const char *credential)
{
	const char *colon = strchr(credential, ':');
	char *key;

	assert(colon != NULL); /* rest_init() */
	if (colon[1] != '\0')
		return mem_strdup(colon + 1);
	key = mem_strdup(credential);
	key[colon - credential] = '\0';
	return key;
}

static void set_auth(struct rest *r, const char *credential)
{
	struct str h;

	r->secrets[0] = mem_strdup(credential);
	if (r->api->auth == REST_BASIC) {
		r->secrets[1] = words_base64(credential);
		r->secrets[2] = basic_secret(credential);
	}
	str_init(&h, HEADER_MAX);
	h.secret = true;
	if (r->api->auth == REST_HEADER)
		str_addf(&h, "%s: %s", r->api->auth_header, credential);
	else if (r->api->auth == REST_BASIC)
		str_addf(&h, "Authorization: Basic %s", r->secrets[1]);
	else
		str_addf(&h, "Authorization: Bearer %s", credential);
	assert(!h.full);
	r->auth = str_take(&h);
}

int rest_init(struct rest *r, const struct rest_api *api, const struct provider_conf *conf,
	      struct err *e)
{
	const char *credential = conf->credential;
	size_t n;

	*r = (struct rest){.api = api};
	if (conf->url == NULL || !rest_is_url(conf->url))
		return err_set(e, ERR_INVALID, "provider %s: want url = \"http(s)://HOST[:PORT]\"",
			       conf->name);
	if (credential == NULL && !api->open)
		return err_set(e, ERR_INVALID, "provider %s: credential_file is missing",
			       conf->name);
	if (credential != NULL && !is_credential(credential))
		return err_set(e, ERR_INVALID, "provider %s: the credential is not one word",
			       conf->name);
	if (credential != NULL && api->auth == REST_BASIC && strchr(credential, ':') == NULL)
		return err_set(e, ERR_INVALID, "provider %s: want a credential USER:PASSWORD",
			       conf->name);
	r->base = mem_strdup(conf->url);
	for (n = strlen(r->base); r->base[n - 1] == '/';)
		r->base[--n] = '\0';
	if (credential != NULL)
		set_auth(r, credential);
	return 0;
}

void rest_fini(struct rest *r)
{
	for (size_t i = 0; i < REST_SECRETS_MAX; i++)
		secret_wipe(&r->secrets[i]);
	secret_wipe(&r->auth);
	free(r->base);
	*r = (struct rest){0};
}

/* --- address -----------------------------------------------------------------------------------
 */

void rest_begin(struct rest_call *c, const struct rest *r, const char *method, const char *path)
{
	*c = (struct rest_call){.rest = r, .method = method};
	str_init(&c->url, REST_URL_MAX);
	str_init(&c->body, REST_BODY_MAX);
	c->body.secret = true;
	str_adds(&c->url, r->base);
	str_adds(&c->url, path);
}

void rest_part(struct rest_call *c, const char *text)
{
	c->bad = c->bad || text[0] == '\0' || strcmp(text, ".") == 0 || strcmp(text, "..") == 0;
	str_adds(&c->url, "/");
	query_escape(&c->url, text, strlen(text));
}

void rest_query(struct rest_call *c, const char *name, const char *value)
{
	str_addf(&c->url, "%c%s=", strchr(c->url.p, '?') == NULL ? '?' : '&', name);
	query_escape(&c->url, value, strlen(value));
}

void rest_query_given(struct rest_call *c, const char *name, const char *value)
{
	if (value[0] != '\0')
		rest_query(c, name, value);
}

void rest_query_number(struct rest_call *c, const char *name, uint64_t value)
{
	char number[FMT_U64_SIZE];

	rest_query(c, name, fmt_u64(number, value));
}

/* --- body --------------------------------------------------------------------------------------
 */

/* May stand in a JSON string as it is? */
static bool is_plain(char c)
{
	return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

static void add_escaped(struct rest_call *c, const char *text, size_t n)
{
	static const char raw[] = "\"\\\n\r\t", letters[] = "\"\\nrt";
	const char *known = strchr(raw, *text);

	c->bad = c->bad || n == 0;
	if (known != NULL)
		str_addf(&c->body, "\\%c", letters[known - raw]);
	else if (n == 1 && *text != 0x7f)
		str_addf(&c->body, "\\u%04x", (unsigned)*text);
	else
		str_add(&c->body, text, n);
}

static void add_quoted(struct rest_call *c, const char *text)
{
	str_add(&c->body, "\"", 1);
	while (*text != '\0' && !c->bad) {
		size_t n = 0;

		while (is_plain(text[n]))
			n++;
		if (n > 0)
			str_add(&c->body, text, n);
		else
			add_escaped(c, text, n = plain_utf8(text));
		text += n;
	}
	str_add(&c->body, "\"", 1);
}

/* A comma, unless this is the first of its list, and the key. */
static void lead_in(struct rest_call *c, const char *key)
{
	const char last = c->body.len > 0 ? c->body.p[c->body.len - 1] : '{';

	if (last != '{' && last != '[')
		str_add(&c->body, ",", 1);
	if (key == NULL)
		return;
	str_add(&c->body, "\"", 1); /* str_addf() would double the time of a large create */
	str_adds(&c->body, key);
	str_add(&c->body, "\":", 2);
}

void rest_open(struct rest_call *c, const char *key, char bracket)
{
	lead_in(c, key);
	str_add(&c->body, &bracket, 1);
}

void rest_close(struct rest_call *c, char bracket)
{
	str_add(&c->body, &bracket, 1);
}

void rest_text(struct rest_call *c, const char *key, const char *text)
{
	lead_in(c, key);
	add_quoted(c, text);
}

void rest_base64(struct rest_call *c, const char *key, const char *text)
{
	char *coded = words_base64(text);

	rest_text(c, key, coded);
	secret_wipe(&coded);
}

void rest_number(struct rest_call *c, const char *key, uint64_t value)
{
	char number[FMT_U64_SIZE];

	lead_in(c, key);
	str_adds(&c->body, fmt_u64(number, value));
}

void rest_flag(struct rest_call *c, const char *key, bool value)
{
	lead_in(c, key);
	str_adds(&c->body, value ? "true" : "false");
}

void rest_json(struct rest_call *c, json_t *v)
{
	char *text = v != NULL ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	c->bad = c->bad || text == NULL;
	str_adds(&c->body, text != NULL ? text : "");
	secret_wipe(&text);
	json_decref(v);
}

/* --- end ---------------------------------------------------------------------------------------
 */

static void add_headers(const struct rest *r, struct provider_request *out)
{
	const char *const *more = r->api->headers;
	size_t n = 0;

	out->headers[n++] = mem_strdup("Accept: application/json");
	if (out->body != NULL)
		out->headers[n++] = mem_strdup("Content-Type: application/json");
	if (r->auth != NULL)
		out->headers[n++] = mem_strdup(r->auth);
	for (; more != NULL && *more != NULL; more++) {
		assert(n < PROVIDER_HEADERS_MAX);
		out->headers[n++] = mem_strdup(*more);
	}
}

static void drop(struct rest_call *c)
{
	str_fini(&c->url);
	str_fini(&c->body);
}

int rest_finish(struct rest_call *c, int rc, struct provider_request *out, const char *what,
		struct err *e)
{
	if (rc == 0)
		return rest_end(c, out, what, e);
	drop(c);
	return -1;
}

int rest_delete_one(struct rest_call *c, const struct provider_op *op, const char *who,
		    struct err *e)
{
	if (op->u.del.nids != 1)
		return err_set(e, ERR_INVALID, "delete: %s takes one id a call", who);
	rest_part(c, op->u.del.ids[0]);
	return 0;
}

int rest_end(struct rest_call *c, struct provider_request *out, const char *what, struct err *e)
{
	if (c->bad || c->url.full || c->body.full) {
		drop(c);
		return err_set(e, ERR_INVALID, "%s: %s", what,
			       c->bad ? "a text in it cannot be sent" : "the request is too long");
	}
	*out = (struct provider_request){.kind = PROVIDER_HTTP, .method = c->method};
	out->url = str_take(&c->url);
	out->body_len = c->body.len;
	if (c->body.len > 0)
		out->body = str_take(&c->body);
	else
		str_fini(&c->body);
	add_headers(c->rest, out);
	return 0;
}
