#include "base/jpull.h"

#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

void jpull_init(struct jpull *j, const char *text, size_t len)
{
	*j = (struct jpull){.at = text, .begin = text, .end = text + len};
}

size_t jpull_at(const struct jpull *j)
{
	return (size_t)(j->at - j->begin);
}

static bool fail(struct jpull *j)
{
	j->bad = true;
	j->end = j->at; /* read no more, and keep the place */
	return false;
}

/* The next byte that is not blank; '\0' at the end, since JSON has none there. */
static char peek(struct jpull *j)
{
	while (j->at < j->end &&
	       (*j->at == ' ' || *j->at == '\n' || *j->at == '\t' || *j->at == '\r'))
		j->at++;
	return j->at < j->end ? *j->at : '\0';
}

bool jpull_enter(struct jpull *j, char bracket)
{
	if (peek(j) != bracket || j->depth == JPULL_DEPTH_MAX)
		return fail(j);
	j->at++;
	j->depth++;
	j->first = true;
	return true;
}

/* Move to the next element in brackets; false: at `close`, or at an error. */
static bool next(struct jpull *j, char close)
{
	char c = peek(j);

	if (j->depth == 0)
		return fail(j);
	if (c == close) {
		j->at++;
		j->depth--;
		j->first = false;
		return false;
	}
	if (!j->first) {
		if (c != ',')
			return fail(j);
		j->at++;
	}
	j->first = false;
	return true;
}

bool jpull_item(struct jpull *j)
{
	return next(j, ']');
}

/* Take a string, of which the opening quote is next. */
static void take_string(struct jpull *j, struct jpull_value *v)
{
	const char *p = j->at + 1, *end = j->end;

	*v = (struct jpull_value){.type = JPULL_STRING, .plain = true, .p = p};
	for (; p < end && *p != '"'; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < ' ')
			break;
		v->plain = v->plain && c != '\\' && c < 0x80;
		if (c == '\\' && ++p == end)
			break;
	}
	if (p == end || *p != '"') {
		(void)fail(j);
		return;
	}
	v->n = (size_t)(p - v->p);
	j->at = p + 1;
}

bool jpull_key(struct jpull *j, struct jpull_value *key)
{
	if (!next(j, '}'))
		return false;
	if (peek(j) != '"')
		return fail(j);
	take_string(j, key);
	if (peek(j) != ':')
		return fail(j);
	j->at++;
	return true;
}

static bool is_digit(const struct jpull *j)
{
	return j->at < j->end && *j->at >= '0' && *j->at <= '9';
}

static bool digits(struct jpull *j)
{
	if (!is_digit(j))
		return fail(j);
	while (is_digit(j))
		j->at++;
	return true;
}

static bool skip_byte(struct jpull *j, const char *any)
{
	if (j->at == j->end || strchr(any, *j->at) == NULL || *j->at == '\0')
		return false;
	j->at++;
	return true;
}

static void take_number(struct jpull *j, struct jpull_value *v)
{
	*v = (struct jpull_value){.type = JPULL_NUMBER, .p = j->at};
	(void)skip_byte(j, "-");
	if (!skip_byte(j, "0") && !digits(j))
		return;
	if (skip_byte(j, ".") && !digits(j))
		return;
	if (skip_byte(j, "eE")) {
		(void)skip_byte(j, "+-");
		(void)digits(j);
	}
	v->n = (size_t)(j->at - v->p);
}

static void take_word(struct jpull *j, const char *word, enum jpull_type type,
		      struct jpull_value *v)
{
	size_t n = strlen(word);

	if ((size_t)(j->end - j->at) < n || memcmp(j->at, word, n) != 0) {
		(void)fail(j);
		return;
	}
	*v = (struct jpull_value){.type = type, .p = j->at, .n = n};
	j->at += n;
}

/* jpull_enter() limits the depth. */
static void take_nested(struct jpull *j, char bracket,
			struct jpull_value *v) // NOLINT(misc-no-recursion)
{
	struct jpull_value key;

	*v = (struct jpull_value){.type = bracket == '{' ? JPULL_OBJECT : JPULL_ARRAY, .p = j->at};
	if (!jpull_enter(j, bracket))
		return;
	while (bracket == '{' ? jpull_key(j, &key) : jpull_item(j))
		(void)jpull_take(j);
	v->n = (size_t)(j->at - v->p);
}

struct jpull_value jpull_take(struct jpull *j) // NOLINT(misc-no-recursion)
{
	struct jpull_value v = {.type = JPULL_NONE};
	char c = peek(j);

	switch (c) {
	case '"':
		take_string(j, &v);
		break;
	case '{':
	case '[':
		take_nested(j, c, &v);
		break;
	case 't':
		take_word(j, "true", JPULL_BOOL, &v);
		break;
	case 'f':
		take_word(j, "false", JPULL_BOOL, &v);
		break;
	case 'n':
		take_word(j, "null", JPULL_NULL, &v);
		break;
	default:
		take_number(j, &v);
		break;
	}
	if (j->bad)
		v = (struct jpull_value){.type = JPULL_NONE};
	return v;
}

bool jpull_end(struct jpull *j)
{
	if (!j->bad && (peek(j) != '\0' || j->at < j->end || j->depth > 0))
		(void)fail(j);
	return !j->bad;
}

bool jpull_is(const struct jpull_value *v, const char *text)
{
	return v->type == JPULL_STRING && v->plain && strlen(text) == v->n &&
	       memcmp(v->p, text, v->n) == 0;
}

/* Have jansson decode escapes and UTF-8.  The quotes around v are in the text, too. */
static int decode(const struct jpull_value *v, char *out, size_t size)
{
	json_t *s = json_loadb(v->p - 1, v->n + 2, JSON_DECODE_ANY, NULL);
	int rc = -1;

	if (json_is_string(s) && json_string_length(s) < size) {
		memcpy(out, json_string_value(s), json_string_length(s) + 1);
		rc = 1;
	}
	json_decref(s);
	return rc;
}

int jpull_text(const struct jpull_value *v, char *out, size_t size)
{
	out[0] = '\0';
	if (v->type == JPULL_NONE || v->type == JPULL_NULL)
		return 0;
	if (v->type != JPULL_STRING)
		return -1;
	if (!v->plain)
		return decode(v, out, size);
	if (v->n >= size)
		return -1;
	memcpy(out, v->p, v->n);
	out[v->n] = '\0';
	return 1;
}

int jpull_int(const struct jpull_value *v, int64_t *out)
{
	int64_t sum = 0;

	*out = 0;
	if (v->type == JPULL_NONE || v->type == JPULL_NULL)
		return 0;
	if (v->type != JPULL_NUMBER)
		return -1;
	for (size_t i = 0; i < v->n; i++) {
		int digit = v->p[i] - '0';

		if (digit < 0 || digit > 9 || sum > (INT64_MAX - digit) / 10)
			return -1;
		sum = sum * 10 + digit;
	}
	*out = sum;
	return 1;
}
