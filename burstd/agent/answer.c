#include "agent/answer.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

enum { DIGITS_MAX = 9 }; /* of a length or of a chunk's size: far more than any body may have */

void answer_init(struct answer *a, size_t body_max, bool to_eof_ok)
{
	memset(a, 0, sizeof(*a));
	assert(body_max <= ANSWER_BODY_MAX);
	str_init(&a->body, body_max);
	a->to_eof_ok = to_eof_ok;
}

void answer_fini(struct answer *a)
{
	str_fini(&a->body);
}

static int bad(struct err *e, const char *what)
{
	return err_set(e, ERR_INVALID, "invalid HTTP answer: %s", what);
}

static int too_much(const struct answer *a, struct err *e)
{
	return err_set(e, ERR_LIMIT, "answer has more than %zu bytes of body", a->body.max);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int take_status(struct answer *a, struct err *e)
{
	const char *p = a->line;

	if (a->n < 12 || memcmp(p, "HTTP/1.", 7) != 0 || (p[7] != '0' && p[7] != '1') ||
	    p[8] != ' ' || !is_digit(p[9]) || !is_digit(p[10]) || !is_digit(p[11]) ||
	    (p[12] != ' ' && p[12] != '\0'))
		return bad(e, "malformed status line");
	a->status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
	a->close = p[7] == '0';
	if (a->status < 100 || a->status == 101)
		return bad(e, "unexpected status");
	if (a->status < 200 && ++a->interim > ANSWER_INTERIM_MAX)
		return bad(e, "too many interim answers");
	a->state = ANSWER_HEADER;
	return 0;
}

static int take_length(struct answer *a, const char *value, struct err *e)
{
	size_t n = strspn(value, "0123456789");
	int64_t sum = 0;

	if (n == 0 || n > DIGITS_MAX || value[n] != '\0')
		return bad(e, "malformed Content-Length");
	for (size_t i = 0; i < n; i++)
		sum = sum * 10 + (value[i] - '0');
	if (a->has_length && a->left != sum)
		return bad(e, "two Content-Lengths that differ");
	a->has_length = true;
	a->left = sum;
	return 0;
}

/* Is `word` one of the words of a list with commas? */
static bool lists(const char *value, const char *word)
{
	size_t n = strlen(word);

	while (*value != '\0') {
		size_t len;

		value += strspn(value, " \t,");
		len = strcspn(value, " \t,");
		if (len == n && strncasecmp(value, word, n) == 0)
			return true;
		value += len;
	}
	return false;
}

static int take_header(struct answer *a, const char *name, const char *value, struct err *e)
{
	if (strcasecmp(name, "content-length") == 0)
		return take_length(a, value, e);
	if (strcasecmp(name, "transfer-encoding") == 0) {
		if (a->chunked || strcasecmp(value, "chunked") != 0)
			return bad(e, "unsupported Transfer-Encoding");
		a->chunked = true;
	} else if (strcasecmp(name, "connection") == 0) {
		a->close = a->close || lists(value, "close");
	} else if (strcasecmp(name, "metadata-flavor") == 0) {
		a->google = strcasecmp(value, "google") == 0;
	} else if (strcasecmp(name, "etag") == 0 && strlen(value) < sizeof(a->etag)) {
		memcpy(a->etag, value, strlen(value) + 1);
	}
	return 0;
}

/* What RFC 9110 calls a token. */
static bool is_name(const char *p)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";

	if (*p == '\0')
		return false;
	for (; *p != '\0'; p++)
		if (!is_digit(*p) && !((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') &&
		    strchr(marks, *p) == NULL)
			return false;
	return true;
}

static int split_header(struct answer *a, struct err *e)
{
	char *colon = strchr(a->line, ':'), *value;
	size_t n;

	if (colon == NULL)
		return bad(e, "a header without a colon");
	*colon = '\0';
	if (!is_name(a->line))
		return bad(e, "malformed name of a header");
	value = colon + 1 + strspn(colon + 1, " \t");
	n = strlen(value);
	while (n > 0 && (value[n - 1] == ' ' || value[n - 1] == '\t'))
		value[--n] = '\0';
	return a->state == ANSWER_TRAILER ? 0 : take_header(a, a->line, value, e);
}

/* The head has ended: find out what follows. */
static int end_head(struct answer *a, struct err *e)
{
	if (a->has_length && a->chunked)
		return bad(e, "Content-Length beside chunks");
	if (a->status < 200) {
		if (a->chunked || (a->has_length && a->left > 0))
			return bad(e, "an interim answer with a body");
		a->has_length = a->close = a->google = false;
		a->etag[0] = '\0';
		a->state = ANSWER_STATUS;
	} else if (a->status == 204 || a->status == 304) {
		a->state = ANSWER_DONE;
	} else if (a->chunked) {
		a->state = ANSWER_SIZE;
	} else if (a->has_length) {
		if (a->left > (int64_t)a->body.max)
			return too_much(a, e);
		a->state = a->left > 0 ? ANSWER_LENGTH : ANSWER_DONE;
	} else if (a->to_eof_ok) {
		a->close = true;
		a->state = ANSWER_TO_EOF;
	} else {
		return bad(e, "neither Content-Length nor chunks");
	}
	return 0;
}

static int hex(char c)
{
	if (is_digit(c))
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int take_size(struct answer *a, struct err *e)
{
	int64_t sum = 0;
	size_t n = 0;

	while (n <= DIGITS_MAX && hex(a->line[n]) >= 0)
		sum = sum * 16 + hex(a->line[n++]);
	if (n == 0 || n > DIGITS_MAX || strchr(" \t;", a->line[n]) == NULL)
		return bad(e, "malformed size of a chunk");
	if (sum > (int64_t)(a->body.max - a->body.len))
		return too_much(a, e);
	a->left = sum;
	a->state = sum > 0 ? ANSWER_DATA : ANSWER_TRAILER;
	return 0;
}

static int take_line(struct answer *a, struct err *e)
{
	switch (a->state) {
	case ANSWER_STATUS:
		return take_status(a, e);
	case ANSWER_HEADER:
		return a->n == 0 ? end_head(a, e) : split_header(a, e);
	case ANSWER_SIZE:
		return take_size(a, e);
	case ANSWER_AFTER:
		if (a->n > 0)
			return bad(e, "a chunk longer than its size");
		a->state = ANSWER_SIZE;
		return 0;
	case ANSWER_TRAILER:
		if (a->n > 0)
			return split_header(a, e);
		a->state = ANSWER_DONE;
		return 0;
	case ANSWER_LENGTH:
	case ANSWER_DATA:
	case ANSWER_TO_EOF:
	case ANSWER_DONE:
		break;
	}
	assert(0);
	return -1;
}

/* Take one byte of a line.  Lines between chunks count as head, too: ten million empty chunks are
 * no answer. */
static int feed_line(struct answer *a, char c, struct err *e)
{
	if (++a->head > ANSWER_HEAD_MAX || a->n + 1 == sizeof(a->line))
		return err_set(e, ERR_LIMIT, "answer has more than %d bytes of head",
			       ANSWER_HEAD_MAX);
	if (c == '\n') {
		int rc;

		if (a->n == 0 || a->line[a->n - 1] != '\r')
			return bad(e, "a bare line feed");
		a->line[--a->n] = '\0';
		rc = take_line(a, e);
		a->n = 0;
		return rc;
	}
	if (a->n > 0 && a->line[a->n - 1] == '\r')
		return bad(e, "a bare carriage return");
	if ((unsigned char)c < ' ' && c != '\t' && c != '\r')
		return bad(e, "a control character");
	a->line[a->n++] = c;
	return 0;
}

static bool in_body(const struct answer *a)
{
	return a->state == ANSWER_LENGTH || a->state == ANSWER_DATA || a->state == ANSWER_TO_EOF;
}

/* Take the bytes that belong to the body; returns how many; 0: the body is too long. */
static size_t feed_body(struct answer *a, const char *p, size_t len, struct err *e)
{
	if (a->state != ANSWER_TO_EOF && (int64_t)len > a->left)
		len = (size_t)a->left;
	str_add(&a->body, p, len);
	if (a->body.full) {
		(void)too_much(a, e);
		return 0;
	}
	if (a->state == ANSWER_TO_EOF)
		return len;
	a->left -= (int64_t)len;
	if (a->left == 0)
		a->state = a->state == ANSWER_LENGTH ? ANSWER_DONE : ANSWER_AFTER;
	return len;
}

int answer_feed(struct answer *a, const char *p, size_t len, struct err *e)
{
	while (len > 0 && a->state != ANSWER_DONE) {
		size_t n = 1;

		if (in_body(a))
			n = feed_body(a, p, len, e);
		else if (feed_line(a, *p, e) != 0)
			n = 0;
		if (n == 0)
			return -1;
		p += n;
		len -= n;
	}
	if (len > 0)
		return bad(e, "bytes after its end");
	return a->state == ANSWER_DONE;
}

int answer_eof(struct answer *a, struct err *e)
{
	if (a->state == ANSWER_DONE)
		return 1;
	if (a->state != ANSWER_TO_EOF)
		return err_set(e, ERR_NET, "the connection ended within the answer");
	a->state = ANSWER_DONE;
	return 1;
}
