#include "providers/simcloud/openstack.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "providers/simcloud/js.h"

enum { MAC_HEX = 40, TIME_HEX = 16, SIGNED_LEN = 8 + 2 * TIME_HEX };

const char os_route[] = "no such route";

/* --- tokens ----------------------------------------------------------------------------------- */

static void sign(char out[MAC_HEX + 1], const char *text, size_t len, const char *secret)
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	const char *key = secret != NULL ? secret : "";
	char hex[2 * EVP_MAX_MD_SIZE + 1];

	(void)HMAC(EVP_sha256(), key, (int)strlen(key), (const unsigned char *)text, len, mac, &n);
	(void)fmt_hex(hex, mac, n);
	memcpy(out, hex, MAC_HEX);
	out[MAC_HEX] = '\0';
}

/* "gAAAAA", as all of Keystone's begin, two letters for what it is, and two times. */
void os_token_write(char out[OS_TOKEN_SIZE], const struct os_token *t, const char *secret)
{
	char mac[MAC_HEX + 1];

	(void)snprintf(out, OS_TOKEN_SIZE, "gAAAAA%c%c%016llx%016llx",
		       t->by_application ? 'a' : 'p', t->scoped ? 's' : 'u',
		       (unsigned long long)t->issued_ms, (unsigned long long)t->expires_ms);
	sign(mac, out, SIGNED_LEN, secret);
	memcpy(out + SIGNED_LEN, mac, sizeof(mac));
}

static int64_t read_time(const char *text)
{
	char hex[TIME_HEX + 1] = "";

	memcpy(hex, text, TIME_HEX);
	return strtoll(hex, NULL, 16);
}

bool os_token_read(struct os_token *out, const char *text, const struct face_visit *v)
{
	char mac[MAC_HEX + 1];

	if (text == NULL || strlen(text) != SIGNED_LEN + MAC_HEX)
		return false;
	sign(mac, text, SIGNED_LEN, v->keys->token);
	if (CRYPTO_memcmp(mac, text + SIGNED_LEN, MAC_HEX) != 0)
		return false;
	*out = (struct os_token){.by_application = text[6] == 'a',
				 .scoped = text[7] == 's',
				 .issued_ms = read_time(text + 8),
				 .expires_ms = read_time(text + 8 + TIME_HEX)};
	return v->now < out->expires_ms && v->now - out->issued_ms < v->conf->login_life_ms;
}

/* --- words ------------------------------------------------------------------------------------ */

const char *os_under(const char *path, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(path, word, n) != 0 || (path[n] != '\0' && path[n] != '/'))
		return NULL;
	return path + n;
}

void os_origin(char out[OS_URL_SIZE], const struct http_request *rq)
{
	const char *host = http_header(rq, "Host");

	(void)snprintf(out, OS_URL_SIZE, "http://%.128s", host != NULL ? host : "localhost");
}

char *os_time(char out[OS_TIME_SIZE], int64_t ms, const char *rest)
{
	char text[FMT_TIME_SIZE];

	(void)snprintf(out, OS_TIME_SIZE, "%.19s%s", fmt_time(text, ms), rest);
	return out;
}

/* --- errors ----------------------------------------------------------------------------------- */

void os_error(struct face_reply *out, unsigned status, const char *title, const char *message)
{
	struct str s;

	out->status = status;
	str_init(&s, OS_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "error", '{');
	js_int(&s, "code", status);
	js_str(&s, "message", message);
	js_str(&s, "title", title);
	js_close(&s, '}');
	js_close(&s, '}');
	face_body(out, &s);
}

/* The header names no host: it is the same for all, and nobody follows it. */
void os_unauthorized(struct face_reply *out)
{
	out->code = CODE_DENIED;
	os_error(out, 401, "Unauthorized", "The request you have made requires authentication.");
	face_header(out, "WWW-Authenticate", "Keystone uri=\"http://localhost/identity/v3\"");
}

void os_no_route(struct face_reply *out)
{
	struct str s;

	str_init(&s, OS_BODY_MAX);
	str_adds(&s, "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n"
		     "  <h1>404 Not Found</h1>\n  The resource could not be found.<br /><br />\n"
		     " </body>\n</html>\n");
	out->code = CODE_NOT_FOUND;
	out->status = 404;
	out->type = "text/html; charset=UTF-8";
	face_body(out, &s);
}
