#include "providers/simcloud/ec2.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "providers/common/sigv4.h"

static void value_of(char *out, size_t size, const char *text, const char *name)
{
	const char *p = strstr(text, name);

	out[0] = '\0';
	if (p == NULL)
		return;
	p += strlen(name);
	p += strspn(p, " \t=");
	(void)snprintf(out, size, "%.*s", (int)strcspn(p, " \t\r\n"), p);
}

int ec2_key_load(struct ec2_key **out, const char *path, struct err *e)
{
	struct secret *s;

	*out = NULL;
	if (secret_load(&s, path, e) != 0)
		return -1;
	*out = mem_zalloc(sizeof(**out));
	value_of((*out)->id, sizeof((*out)->id), secret_text(s), "aws_access_key_id");
	value_of((*out)->secret, sizeof((*out)->secret), secret_text(s), "aws_secret_access_key");
	secret_free(s);
	if ((*out)->id[0] != '\0' && (*out)->secret[0] != '\0')
		return 0;
	ec2_key_free(*out);
	*out = NULL;
	return err_set(e, ERR_INVALID,
		       "%s: want aws_access_key_id = ... and aws_secret_access_key = ...", path);
}

void ec2_key_free(struct ec2_key *k)
{
	if (k != NULL)
		OPENSSL_cleanse(k, sizeof(*k));
	free(k);
}

struct claim { /* the parts of an Authorization header */
	char id[129], day[9], region[SETTINGS_WORD_SIZE], service[16];
	char names[1024]; /* names of the signed headers */
	char signature[65];
};

/* Copy the text before `until` and move *p past both.  -1: no `until`, or the text is too long. */
static int cut(const char **p, const char *until, char *out, size_t size)
{
	const char *end = strstr(*p, until);

	if (end == NULL || (size_t)(end - *p) >= size)
		return -1;
	memcpy(out, *p, (size_t)(end - *p));
	out[end - *p] = '\0';
	*p = end + strlen(until);
	return 0;
}

/* Read the header as all clients write it, with one blank after each comma. */
static int read_claim(struct claim *cl, const char *header)
{
	static const char begin[] = "AWS4-HMAC-SHA256 Credential=";
	const char *p = header;

	if (p == NULL || strncmp(p, begin, sizeof(begin) - 1) != 0)
		return -1;
	p += sizeof(begin) - 1;
	if (cut(&p, "/", cl->id, sizeof(cl->id)) != 0 ||
	    cut(&p, "/", cl->day, sizeof(cl->day)) != 0 ||
	    cut(&p, "/", cl->region, sizeof(cl->region)) != 0 ||
	    cut(&p, "/aws4_request, SignedHeaders=", cl->service, sizeof(cl->service)) != 0 ||
	    cut(&p, ", Signature=", cl->names, sizeof(cl->names)) != 0 ||
	    strlen(p) != sizeof(cl->signature) - 1)
		return -1;
	memcpy(cl->signature, p, sizeof(cl->signature));
	return 0;
}

static int64_t number(const char *digits, size_t n)
{
	int64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v * 10 + (digits[i] - '0');
	return v;
}

/* Parse "20260102T030405Z"; -1: not such a date.  Days by the civil calendar. */
static int64_t read_date(const char *t)
{
	int64_t y, m, era, yoe, doy;

	if (t == NULL || strspn(t, "0123456789") != 8 || t[8] != 'T' ||
	    strspn(t + 9, "0123456789") != 6 || strcmp(t + 15, "Z") != 0)
		return -1;
	m = number(t + 4, 2);
	y = number(t, 4) - (m <= 2);
	if (m < 1 || m > 12)
		return -1;
	era = y / 400;
	yoe = y % 400;
	doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + number(t + 6, 2) - 1;
	return (((era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468) * 24 +
		 number(t + 9, 2)) *
			3600 +
		number(t + 11, 2) * 60 + number(t + 13, 2)) *
	       1000;
}

/* Collect the headers that the client says it signed, but those that sigv4_sign() adds itself.  -1:
 * one is missing. */
static int collect(struct sigv4_header *out, size_t *n, char *names, const struct http_request *rq)
{
	char *save = NULL;

	*n = 0;
	for (char *w = strtok_r(names, ";", &save); w != NULL; w = strtok_r(NULL, ";", &save)) {
		const char *value = http_header(rq, w);

		if (value == NULL || *n == SIGV4_HEADERS_MAX)
			return -1;
		if (strcasecmp(w, "x-amz-date") != 0 && strcasecmp(w, "x-amz-security-token") != 0)
			out[(*n)++] = (struct sigv4_header){w, value};
	}
	return 0;
}

static bool is_signed(const struct ec2_key *k, const struct claim *cl,
		      const struct http_request *rq, int64_t at_ms)
{
	struct sigv4_header headers[SIGV4_HEADERS_MAX];
	struct sigv4_key key = {
		.id = k->id, .secret = k->secret, .token = http_header(rq, "X-Amz-Security-Token")};
	struct sigv4_request sr = {.method = rq->method,
				   .path = rq->path,
				   .query = rq->query,
				   .headers = headers,
				   .body = rq->body,
				   .len = rq->len,
				   .region = cl->region,
				   .service = cl->service,
				   .at_ms = at_ms};
	char date[SIGV4_DATE_SIZE], names[sizeof(cl->names)];
	struct str s;
	bool good;

	memcpy(names, cl->names, sizeof(names));
	if (collect(headers, &sr.nheaders, names, rq) != 0)
		return false;
	str_init(&s, SIGV4_TEXT_MAX);
	good = sigv4_sign(&s, date, &key, &sr) == 0 && s.len > 64 &&
	       CRYPTO_memcmp(s.p + s.len - 64, cl->signature, 64) == 0;
	str_fini(&s);
	return good;
}

bool ec2_is(const struct face_visit *v)
{
	return v->keys->ec2 != NULL && strcmp(v->rq->path, "/") == 0 &&
	       strcmp(v->rq->method, "POST") == 0;
}

enum code ec2_authorize(struct face_visit *v, const char *service, struct err *e)
{
	const struct http_request *rq = v->rq;
	const struct ec2_key *k = v->keys->ec2;
	const char *date = http_header(rq, "X-Amz-Date");
	int64_t at_ms = read_date(date);
	struct claim cl;

	if (read_claim(&cl, rq->authorization) != 0 || at_ms < 0 || strncmp(date, cl.day, 8) != 0 ||
	    strcmp(cl.service, service) != 0) {
		(void)err_set(e, ERR_AUTH,
			      "MissingAuthenticationToken: want a request signed for %s", service);
		return CODE_DENIED;
	}
	memcpy(v->region, cl.region, sizeof(v->region));
	if (at_ms < v->now - EC2_SKEW_MS || at_ms > v->now + EC2_SKEW_MS)
		(void)err_set(e, ERR_AUTH, "RequestExpired: Request has expired.");
	else if (strcmp(cl.id, k->id) != 0 || !is_signed(k, &cl, rq, at_ms))
		(void)err_set(e, ERR_AUTH,
			      "AuthFailure: AWS was not able to validate the provided access "
			      "credentials");
	else
		return CODE_OK;
	return CODE_DENIED;
}
