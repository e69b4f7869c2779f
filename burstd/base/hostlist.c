#include "base/hostlist.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* One name, or one name with brackets, as slices of the text. */
struct item {
	const char *prefix, *ranges, *suffix; /* ranges: after '[', NULL when there is none */
	size_t prefix_len, suffix_len;
	size_t n;      /* names it stands for */
	size_t digits; /* of the longest number */
};

struct range {
	uint64_t lo, hi;
	size_t width;  /* digits of lo: every number has at least so many */
	size_t digits; /* of hi */
};

struct cursor {
	const char *start, *p, *end;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Not isalnum(): what a valid name is must not depend on the locale. */
static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t word_len(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && (is_alnum(*q) || *q == '-' || *q == '_' || *q == '.'))
		q++;
	return (size_t)(q - p);
}

static bool at(const struct cursor *c, char want)
{
	return c->p < c->end && *c->p == want;
}

static int bad(struct err *e, const struct cursor *c, const char *why)
{
	return err_set(e, ERR_INVALID, "node list, byte %zu: %s", (size_t)(c->p - c->start), why);
}

static int too_many(struct err *e, const struct cursor *c, size_t most)
{
	return err_set(e, ERR_LIMIT, "node list, byte %zu: more than %zu names",
		       (size_t)(c->p - c->start), most);
}

static int number_read(struct cursor *c, uint64_t *value, size_t *digits, struct err *e)
{
	const char *start = c->p;

	*value = 0;
	for (; c->p < c->end && is_digit(*c->p); c->p++) {
		if (c->p - start == HOSTLIST_DIGITS_MAX)
			return bad(e, c, "number too long");
		*value = *value * 10 + (uint64_t)(*c->p - '0');
	}
	*digits = (size_t)(c->p - start);
	return *digits > 0 ? 0 : bad(e, c, "want a number");
}

/* Read "7" or "7-9", and the ',' after it; c stays on a ']'. */
static int range_read(struct cursor *c, struct range *r, struct err *e)
{
	*r = (struct range){.lo = 0};
	if (number_read(c, &r->lo, &r->width, e) != 0)
		return -1;
	r->hi = r->lo;
	r->digits = r->width;
	if (at(c, '-')) {
		const char *hi = ++c->p;

		if (number_read(c, &r->hi, &r->digits, e) != 0)
			return -1;
		if (r->digits < r->width || (r->digits > r->width && *hi == '0'))
			return bad(e, c, "range with two paddings, or reversed");
		if (r->hi < r->lo)
			return bad(e, c, "reversed range");
	}
	if (at(c, ',')) {
		c->p++;
		return at(c, ']') ? bad(e, c, "want a number") : 0;
	}
	return at(c, ']') ? 0 : bad(e, c, "want ',' or ']'");
}

static int brackets_read(struct cursor *c, struct item *it, struct err *e)
{
	struct range r;

	it->ranges = ++c->p;
	it->n = 0;
	do {
		if (range_read(c, &r, e) != 0)
			return -1;
		if (r.hi - r.lo >= HOSTLIST_NAMES_MAX - it->n)
			return too_many(e, c, HOSTLIST_NAMES_MAX);
		it->n += (size_t)(r.hi - r.lo) + 1;
		if (r.digits > it->digits)
			it->digits = r.digits;
	} while (!at(c, ']'));
	c->p++;
	it->suffix = c->p;
	it->suffix_len = word_len(c->p, c->end);
	c->p += it->suffix_len;
	return at(c, '[') ? bad(e, c, "more than one pair of brackets in a name") : 0;
}

/* Read one item and the ',' after it. */
static int item_read(struct cursor *c, struct item *it, struct err *e)
{
	const char *start = c->p;

	*it = (struct item){.prefix = c->p, .suffix = c->p, .n = 1};
	if (c->p == c->end || !is_alnum(*c->p))
		return bad(e, c, "a name starts with a letter or a digit");
	it->prefix_len = word_len(c->p, c->end);
	c->p += it->prefix_len;
	if (at(c, '[') && brackets_read(c, it, e) != 0)
		return -1;
	if (it->prefix_len + it->digits + it->suffix_len > HOSTLIST_NAME_MAX) {
		c->p = start;
		return bad(e, c, "name too long");
	}
	if (c->p == c->end)
		return 0;
	if (*c->p != ',')
		return bad(e, c, "not allowed in a node list");
	c->p++;
	return c->p < c->end ? 0 : bad(e, c, "want a name");
}

static char *name_put(char *to, const struct item *it, uint64_t value, size_t width)
{
	char digits[HOSTLIST_DIGITS_MAX];
	size_t n = 0;

	memcpy(to, it->prefix, it->prefix_len);
	to += it->prefix_len;
	for (; it->ranges != NULL && (value > 0 || n < width); value /= 10)
		digits[n++] = (char)('0' + value % 10);
	while (n > 0)
		*to++ = digits[--n];
	memcpy(to, it->suffix, it->suffix_len);
	to += it->suffix_len;
	*to++ = '\0';
	return to;
}

/* The text was checked before: nothing can fail here. */
static void expand(struct cursor c, const char **names, char *to)
{
	struct item it;

	while (c.p < c.end && item_read(&c, &it, NULL) == 0) {
		struct range r = {.lo = 0, .hi = 0};
		struct cursor in = {.start = c.start, .p = it.ranges, .end = c.end};

		do {
			if (it.ranges != NULL)
				(void)range_read(&in, &r, NULL);
			for (uint64_t v = r.lo; v <= r.hi; v++) {
				*names++ = to;
				to = name_put(to, &it, v, r.width);
			}
		} while (it.ranges != NULL && !at(&in, ']'));
	}
}

int hostlist_parse(struct hostlist **out, const char *text, size_t len, struct err *e)
{
	return hostlist_parse_few(out, text, len, HOSTLIST_NAMES_MAX, e);
}

int hostlist_parse_few(struct hostlist **out, const char *text, size_t len, size_t most,
		       struct err *e)
{
	const struct cursor begin = {.start = text, .p = text, .end = text + len};
	struct cursor c = begin;
	size_t n = 0, bytes = 0;
	struct hostlist *h;
	struct item it;
	const char **names;

	*out = NULL;
	do {
		if (item_read(&c, &it, e) != 0)
			return -1;
		if (it.n > most - n)
			return too_many(e, &c, most);
		n += it.n;
		bytes += it.n * (it.prefix_len + it.digits + it.suffix_len + 1);
	} while (c.p < c.end);
	h = mem_zalloc(sizeof(*h) + n * sizeof(*names) + bytes);
	names = (const char **)(h + 1);
	expand(begin, names, (char *)(names + n));
	*h = (struct hostlist){.n = n, .names = names};
	*out = h;
	return 0;
}

void hostlist_free(struct hostlist *h)
{
	free(h);
}

bool hostlist_is_name(const char *text)
{
	size_t len = strnlen(text, HOSTLIST_NAME_MAX + 1);

	return len > 0 && len <= HOSTLIST_NAME_MAX && is_alnum(*text) &&
	       word_len(text, text + len) == len;
}

/* A name cut before the number at its end. */
struct split {
	size_t prefix;
	const char *digits; /* none: "" */
	size_t ndigits;
	uint64_t value;
};

/* At least one byte stays in the prefix: "[1-2]" alone is not a name. */
static struct split split(const char *name)
{
	size_t len = strlen(name), i = len;
	struct split s;

	while (i > 1 && is_digit(name[i - 1]) && len - i < HOSTLIST_DIGITS_MAX)
		i--;
	s = (struct split){.prefix = i, .digits = name + i, .ndigits = len - i};
	for (; i < len; i++)
		s.value = s.value * 10 + (uint64_t)(name[i] - '0');
	return s;
}

static bool follows(const struct split *a, const struct split *b)
{
	return b->value == a->value + 1 &&
	       (b->ndigits == a->ndigits || (b->ndigits > a->ndigits && b->digits[0] != '0'));
}

static size_t group_end(const char *const *names, size_t from, size_t n)
{
	const struct split first = split(names[from]);
	size_t i = from + 1;

	for (; i < n && first.ndigits > 0; i++) {
		const struct split s = split(names[i]);

		if (s.ndigits == 0 || s.prefix != first.prefix ||
		    memcmp(names[i], names[from], s.prefix) != 0)
			break;
	}
	return i;
}

static void fold_group(struct str *s, const char *const *names, size_t n)
{
	struct split first = split(names[0]), last = first;

	str_add(s, names[0], first.prefix);
	str_adds(s, "[");
	for (size_t i = 1; i <= n; i++) {
		const struct split next = i < n ? split(names[i]) : last;

		if (i < n && follows(&last, &next)) {
			last = next;
			continue;
		}
		str_add(s, first.digits, first.ndigits);
		if (last.digits != first.digits) {
			str_adds(s, "-");
			str_add(s, last.digits, last.ndigits);
		}
		str_adds(s, i < n ? "," : "]");
		first = last = next;
	}
}

void hostlist_fold(struct str *s, const char *const *names, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		end = group_end(names, i, n);
		if (i > 0)
			str_adds(s, ",");
		if (end - i == 1)
			str_adds(s, names[i]);
		else
			fold_group(s, names + i, end - i);
	}
}
