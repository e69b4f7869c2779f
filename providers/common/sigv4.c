#include "providers/common/sigv4.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "providers/common/query.h"

enum {
	DAY = 8,              /* bytes of the day in a date */
	PARAMETERS_MAX = 256, /* in one URL */
	SEGMENTS_MAX = 256,
	HEX_SIZE = 2 * SHA256_DIGEST_LENGTH + 1,
};

/* "2015-08-30T12:36:00.000Z" -> "20150830T123600Z" */
static void make_date(char *out, int64_t at_ms)
{
	char text[FMT_TIME_SIZE];
	size_t n = 0;

	(void)fmt_time(text, at_ms);
	for (const char *p = text; *p != '\0' && *p != '.' && n < SIGV4_DATE_SIZE - 2; p++)
		if (*p != '-' && *p != ':')
			out[n++] = *p;
	out[n++] = 'Z';
	out[n] = '\0';
}

static void hex(char out[HEX_SIZE], const unsigned char digest[SHA256_DIGEST_LENGTH])
{
	for (size_t i = 0; i < SHA256_DIGEST_LENGTH; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static void sha256_hex(char out[HEX_SIZE], const void *data, size_t len)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	(void)mem_check(SHA256(data != NULL ? data : (const void *)"", len, digest));
	hex(out, digest);
}

static void hmac(unsigned char out[SHA256_DIGEST_LENGTH], const void *key, size_t key_len,
		 const char *text)
{
	(void)mem_check(HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text,
			     strlen(text), out, NULL));
}

/* --- path and query ---------------------------------------------------------------------------
 */

/* Append the path without ".", ".." and double slashes. */
static void normal_path(struct str *out, const char *path)
{
	const char *seg[SEGMENTS_MAX];
	size_t len[SEGMENTS_MAX], n = 0;
	bool slash = true; /* at the end */

	for (const char *p = path; *p != '\0';) {
		size_t l = strcspn(p, "/");

		slash = p[l] == '/';
		if (l == 2 && p[0] == '.' && p[1] == '.')
			n -= n > 0;
		else if (l > 0 && !(l == 1 && p[0] == '.') && n < SEGMENTS_MAX) {
			seg[n] = p;
			len[n++] = l;
		}
		p += l + (p[l] == '/');
	}
	for (size_t i = 0; i < n; i++) {
		str_adds(out, "/");
		query_escape(out, seg[i], len[i]);
	}
	if (n == 0 || slash)
		str_adds(out, "/");
}

static void add_path(struct str *out, const struct sigv4_request *rq)
{
	if (!rq->path_as_is) {
		normal_path(out, rq->path);
		return;
	}
	for (const char *p = rq->path; *p != '\0';) {
		size_t l = strcspn(p, "/");

		query_escape(out, p, l);
		if (p[l] == '/')
			str_adds(out, "/");
		p += l + (p[l] == '/');
	}
}

/* Escape the text, except for what is escaped already. */
static void add_escaped_once(struct str *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '%' && i + 2 < len && isxdigit((unsigned char)text[i + 1]) &&
		    isxdigit((unsigned char)text[i + 2])) {
			str_add(out, text + i, 3);
			i += 2;
		} else {
			query_escape(out, text + i, 1);
		}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Append the parameters escaped, and sorted by name, then by value.  Each is compared as one text
 * with '\001' for '=': it sorts before all bytes of a longer name. */
static int add_query(struct str *out, const char *query)
{
	char *part[PARAMETERS_MAX] = {NULL};
	size_t n = 0;
	int rc = 0;

	for (const char *p = query; *p != '\0' && rc == 0;) {
		size_t l = strcspn(p, "&"), name = strcspn(p, "=&");
		struct str s;

		str_init(&s, SIGV4_TEXT_MAX);
		add_escaped_once(&s, p, name);
		str_adds(&s, "\001");
		if (name < l)
			add_escaped_once(&s, p + name + 1, l - name - 1);
		if (n == PARAMETERS_MAX || s.full)
			rc = -1;
		else
			part[n++] = mem_strdup(s.p);
		str_fini(&s);
		p += l + (p[l] == '&');
	}
	qsort(part, n, sizeof(part[0]), by_text);
	for (size_t i = 0; i < n; i++) {
		*strchr(part[i], '\001') = '=';
		str_addf(out, "%s%s", i > 0 ? "&" : "", part[i]);
		free(part[i]);
	}
	return rc;
}

/* --- headers ----------------------------------------------------------------------------------
 */

struct headers {
	struct sigv4_header v[SIGV4_HEADERS_MAX + 2];
	size_t n;
};

/* Insert a header sorted by name; those of one name stay in their order. */
static void put_header(struct headers *h, const char *name, const char *value)
{
	size_t i = h->n++;

	for (; i > 0 && strcasecmp(h->v[i - 1].name, name) > 0; i--)
		h->v[i] = h->v[i - 1];
	h->v[i] = (struct sigv4_header){name, value};
}

static int collect_headers(struct headers *h, const char *date, const struct sigv4_key *key,
			   const struct sigv4_request *rq)
{
	h->n = 0;
	if (rq->nheaders > SIGV4_HEADERS_MAX)
		return -1;
	for (size_t i = 0; i < rq->nheaders; i++)
		put_header(h, rq->headers[i].name, rq->headers[i].value);
	put_header(h, "x-amz-date", date);
	if (key->token != NULL && !rq->token_beside)
		put_header(h, "x-amz-security-token", key->token);
	return 0;
}

static bool is_first(const struct headers *h, size_t i)
{
	return i == 0 || strcasecmp(h->v[i - 1].name, h->v[i].name) != 0;
}

static void add_lower(struct str *out, const char *text)
{
	for (; *text != '\0'; text++) {
		char c = (char)tolower((unsigned char)*text);

		str_add(out, &c, 1);
	}
}

/* Append the text without blanks around it, and with one for many inside. */
static void add_trimmed(struct str *out, const char *text)
{
	bool any = false, gap = false;

	for (; *text != '\0'; text++) {
		if (strchr(" \t\r\n", *text) != NULL) {
			gap = any;
			continue;
		}
		if (gap)
			str_adds(out, " ");
		str_add(out, text, 1);
		any = true;
		gap = false;
	}
}

static void add_names(struct str *out, const struct headers *h)
{
	for (size_t i = 0; i < h->n; i++) {
		if (!is_first(h, i))
			continue;
		if (i > 0)
			str_adds(out, ";");
		add_lower(out, h->v[i].name);
	}
}

static void add_headers(struct str *out, const struct headers *h)
{
	for (size_t i = 0; i < h->n; i++) {
		if (is_first(h, i)) {
			add_lower(out, h->v[i].name);
			str_adds(out, ":");
		}
		add_trimmed(out, h->v[i].value);
		str_adds(out, i + 1 < h->n && !is_first(h, i + 1) ? "," : "\n");
	}
}

/* --- the three texts --------------------------------------------------------------------------
 */

int sigv4_canonical(struct str *out, const struct sigv4_key *key, const struct sigv4_request *rq)
{
	char date[SIGV4_DATE_SIZE], hash[HEX_SIZE];
	struct headers h;

	make_date(date, rq->at_ms);
	if (collect_headers(&h, date, key, rq) != 0)
		return -1;
	str_addf(out, "%s\n", rq->method);
	add_path(out, rq);
	str_adds(out, "\n");
	if (add_query(out, rq->query) != 0)
		return -1;
	str_adds(out, "\n");
	add_headers(out, &h);
	str_adds(out, "\n");
	add_names(out, &h);
	sha256_hex(hash, rq->body, rq->len);
	str_addf(out, "\n%s", hash);
	return out->full ? -1 : 0;
}

int sigv4_to_sign(struct str *out, const struct sigv4_key *key, const struct sigv4_request *rq)
{
	char date[SIGV4_DATE_SIZE], hash[HEX_SIZE];
	struct str text;
	int rc;

	make_date(date, rq->at_ms);
	str_init(&text, SIGV4_TEXT_MAX);
	rc = sigv4_canonical(&text, key, rq);
	sha256_hex(hash, text.p, text.len);
	OPENSSL_cleanse(text.p, text.len); /* it contains the session's token */
	str_fini(&text);
	str_addf(out, "AWS4-HMAC-SHA256\n%s\n%.*s/%s/%s/aws4_request\n%s", date, DAY, date,
		 rq->region, rq->service, hash);
	return rc != 0 || out->full ? -1 : 0;
}

static void make_signature(char out[HEX_SIZE], const char *date, const struct sigv4_key *key,
			   const struct sigv4_request *rq, const char *text)
{
	unsigned char k[SHA256_DIGEST_LENGTH];
	char day[DAY + 1];
	struct str first;

	(void)snprintf(day, sizeof(day), "%.*s", DAY, date);
	str_init(&first, SIGV4_TEXT_MAX);
	str_addf(&first, "AWS4%s", key->secret);
	hmac(k, first.p, first.len, day);
	OPENSSL_cleanse(first.p, first.len);
	str_fini(&first);
	hmac(k, k, sizeof(k), rq->region);
	hmac(k, k, sizeof(k), rq->service);
	hmac(k, k, sizeof(k), "aws4_request");
	hmac(k, k, sizeof(k), text);
	hex(out, k);
	OPENSSL_cleanse(k, sizeof(k));
}

int sigv4_sign(struct str *out, char date[SIGV4_DATE_SIZE], const struct sigv4_key *key,
	       const struct sigv4_request *rq)
{
	char signature[HEX_SIZE];
	struct headers h;
	struct str text;
	int rc;

	make_date(date, rq->at_ms);
	str_init(&text, SIGV4_TEXT_MAX);
	rc = sigv4_to_sign(&text, key, rq);
	if (rc == 0)
		rc = collect_headers(&h, date, key, rq);
	if (rc == 0) {
		make_signature(signature, date, key, rq, text.p);
		str_addf(out,
			 "AWS4-HMAC-SHA256 Credential=%s/%.*s/%s/%s/aws4_request, "
			 "SignedHeaders=",
			 key->id, DAY, date, rq->region, rq->service);
		add_names(out, &h);
		str_addf(out, ", Signature=%s", signature);
	}
	str_fini(&text);
	return rc != 0 || out->full ? -1 : 0;
}
