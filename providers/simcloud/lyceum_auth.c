/* lyceum_auth.c - who may ask: a key, or a session's token, which ends and is had anew.
 *
 * A key is the text of --token-file (at the vendor "lk_" and more).  A session begins with an
 * e-mail address and a password, which here is the key; its access token is a JWT that the key
 * signs (HS256), so that simcloud need not remember it.  The shape of a login is invented: the
 * vendor's client logs in by a browser.  That of a refresh is the client's. */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "providers/simcloud/identity_private.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/lyceum.h"

enum { CLAIMS_MAX = 256, PASSWORD_SIZE = 256 };

static const char login[] = "/api/v2/external/auth/login";
static const char refresh[] = "/api/v2/external/auth/refresh";

static const char *key_of(const struct face_visit *v)
{
	return v->keys->token != NULL ? v->keys->token : "";
}

/* --- tokens ----------------------------------------------------------------------------------- */

static void add_signature(struct str *s, const char *key, size_t len)
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	(void)HMAC(EVP_sha256(), key, (int)strlen(key), (const unsigned char *)s->p, len, mac, &n);
	str_adds(s, ".");
	identity_add_url64(s, mac, n);
}

/* A token of that use, "access" or "refresh", until then. */
static void make_token(char out[LYCEUM_TOKEN_SIZE], const char *key, const char *use,
		       int64_t until_ms)
{
	static const char head[] = "{\"alg\":\"HS256\",\"typ\":\"JWT\"}";
	char claims[CLAIMS_MAX];
	struct str s;
	int n = snprintf(claims, sizeof(claims), "{\"sub\":\"%s\",\"use\":\"%s\",\"exp\":%lld}",
			 LYCEUM_USER, use, (long long)(until_ms / 1000));

	str_init(&s, LYCEUM_TOKEN_SIZE - 1);
	identity_add_url64(&s, head, sizeof(head) - 1);
	str_adds(&s, ".");
	identity_add_url64(&s, claims, (size_t)n);
	add_signature(&s, key, s.len);
	memcpy(out, s.p, s.len + 1);
	str_fini(&s);
}

static bool is_signed(const char *token, size_t head, const char *key)
{
	struct str s;
	bool same;

	str_init(&s, LYCEUM_TOKEN_SIZE);
	str_add(&s, token, head);
	add_signature(&s, key, head);
	same = s.len == strlen(token) && CRYPTO_memcmp(s.p, token, s.len) == 0;
	str_fini(&s);
	return same;
}

/* Is it one of ours, for that use, and still good? */
static bool is_token(const char *token, const char *key, const char *use, int64_t now)
{
	const char *claims = strchr(token, '.');
	const char *mac = claims != NULL ? strchr(claims + 1, '.') : NULL;
	unsigned char text[CLAIMS_MAX];
	size_t n = 0;
	json_t *o;
	const char *said;
	bool good;

	if (mac == NULL || strlen(token) >= LYCEUM_TOKEN_SIZE ||
	    !is_signed(token, (size_t)(mac - token), key) ||
	    !base64_decode(BASE64_URL, claims + 1, (size_t)(mac - claims - 1), text, sizeof(text),
			   &n))
		return false;
	o = json_loadb((const char *)text, n, 0, NULL);
	said = json_string_value(json_object_get(o, "use"));
	good = said != NULL && strcmp(said, use) == 0 &&
	       json_integer_value(json_object_get(o, "exp")) > now / 1000;
	json_decref(o);
	return good;
}

/* --- the credential of a request -------------------------------------------------------------- */

bool lyceum_is_open(const struct http_request *rq)
{
	return strcmp(rq->path, login) == 0 || strcmp(rq->path, refresh) == 0;
}

enum code lyceum_authorize(struct face_visit *v, struct err *e)
{
	const char *header = v->rq->authorization, *key = v->keys->token;

	if (key == NULL || lyceum_is_open(v->rq) || face_bearer(header, key))
		return CODE_OK;
	if (header != NULL && strncmp(header, "Bearer ", 7) == 0 &&
	    is_token(header + 7, key, "access", v->now))
		return CODE_OK;
	(void)err_set(e, ERR_AUTH, "%s",
		      header == NULL ? "Not authenticated" : "Could not validate credentials");
	return CODE_DENIED;
}

/* --- sessions --------------------------------------------------------------------------------- */

static int read_member(char *out, size_t size, const json_t *o, const char *member, struct err *e)
{
	if (json_object_get(o, member) == NULL)
		return err_set(e, ERR_INVALID, LYCEUM_WRONG "%s: missing: Field required", member);
	if (!json_is_string(json_object_get(o, member)) || js_get_str(o, member, out, size, e) != 0)
		return err_set(e, ERR_INVALID,
			       LYCEUM_WRONG "%s: string_type: Input should be a valid string",
			       member);
	return 0;
}

static bool is_password(const char *text, const struct face_visit *v)
{
	size_t n = strlen(text);

	return v->keys->token == NULL ||
	       (n == strlen(v->keys->token) && CRYPTO_memcmp(text, v->keys->token, n) == 0);
}

enum code lyceum_read_session(struct lyceum_call *x, const struct face_visit *v, struct err *e)
{
	bool first = strcmp(v->rq->path, login) == 0;
	char email[PASSWORD_SIZE] = "", secret[LYCEUM_TOKEN_SIZE] = "";
	json_t *o = json_loadb(v->rq->body, v->rq->len, 0, NULL);
	int rc = 0;

	if (first)
		rc = read_member(email, sizeof(email), o, "email", e);
	if (rc == 0)
		rc = read_member(secret, sizeof(secret), o, first ? "password" : "refresh_token",
				 e);
	json_decref(o);
	if (rc != 0)
		return CODE_INVALID;
	if (first ? !is_password(secret, v) : !is_token(secret, key_of(v), "refresh", v->now)) {
		(void)err_set(e, ERR_AUTH, "%s",
			      first ? "Invalid login credentials" : "Invalid refresh token");
		return CODE_DENIED;
	}
	make_token(x->access, key_of(v), "access", v->now + LYCEUM_TOKEN_MS);
	make_token(x->refresh, key_of(v), "refresh", v->now + LYCEUM_REFRESH_MS);
	return CODE_OK;
}
