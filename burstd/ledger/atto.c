#include "ledger/atto.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	PLACES = 18,
	EXPONENT_MAX = 60, /* of what anybody writes */
};

static const atto NANO = 1000000000; /* attos in a nano-unit */
static const int64_t UNITS_MAX = 9000000000;

static int wrong(const char *text, struct err *e)
{
	return err_set(e, ERR_INVALID, "want an amount such as -12.5, not \"%.40s\"", text);
}

struct digits {
	atto v;
	int places; /* decimals that v has */
	bool any;
};

/* Digits after the 18th decimal only count for rounding. */
static int take_digit(struct digits *d, int digit, bool after)
{
	d->any = true;
	if (after && d->places >= PLACES + EXPONENT_MAX)
		return 0;
	if (d->v > ((atto)1 << 120) / 10)
		return after ? 0 : -1; /* more digits than any amount has */
	d->v = d->v * 10 + digit;
	d->places += after;
	return 0;
}

static const char *take_digits(struct digits *d, const char *p)
{
	bool after = false;

	for (; (*p >= '0' && *p <= '9') || (*p == '.' && !after); p++) {
		if (*p == '.')
			after = true;
		else if (take_digit(d, *p - '0', after) < 0)
			return NULL;
	}
	return d->any ? p : NULL;
}

/* "E-7" and the like. */
static const char *take_exponent(struct digits *d, const char *p)
{
	int sign = 1, exponent = 0;

	if (*p != 'e' && *p != 'E')
		return p;
	p++;
	if (*p == '+' || *p == '-')
		sign = *p++ == '-' ? -1 : 1;
	if (*p < '0' || *p > '9')
		return NULL;
	for (; *p >= '0' && *p <= '9'; p++) {
		exponent = exponent * 10 + (*p - '0');
		if (exponent > EXPONENT_MAX)
			return NULL;
	}
	d->places -= sign * exponent;
	return p;
}

/* To 18 places; -1: too large. */
static int scale(struct digits *d)
{
	atto divisor = 1, rest;

	for (; d->places < PLACES; d->places++) {
		if (d->v > ((atto)1 << 120) / 10)
			return -1;
		d->v *= 10;
	}
	for (; d->places > PLACES && divisor <= d->v; d->places--)
		divisor *= 10;
	if (d->places > PLACES) {
		d->v = 0; /* less than a tenth of the last place */
		return 0;
	}
	rest = d->v % divisor * 2;
	d->v /= divisor;
	d->v += rest > divisor || (rest == divisor && d->v % 2 != 0);
	return 0;
}

int atto_parse(const char *text, atto *out, struct err *e)
{
	struct digits d = {.v = 0};
	const char *p = text + strspn(text, " ");
	const bool negative = *p == '-';

	p += *p == '-' || *p == '+';
	p = take_digits(&d, p);
	if (p != NULL)
		p = take_exponent(&d, p);
	if (p == NULL || p[strspn(p, " ")] != '\0')
		return wrong(text, e);
	if (scale(&d) < 0 || d.v >= (atto)UNITS_MAX * NANO * NANO)
		return err_set(e, ERR_LIMIT, "an amount of nine billion or more: \"%.40s\"", text);
	*out = negative ? -d.v : d.v;
	return 0;
}

/* Towards minus infinity; *rest: 0 to NANO. */
static atto floor_of(atto v, atto *rest)
{
	atto q = v / NANO;

	*rest = v % NANO;
	if (*rest < 0) {
		*rest += NANO;
		q--;
	}
	return q;
}

int atto_nano(atto v, int64_t *out, struct err *e)
{
	atto rest, q = floor_of(v, &rest);

	q += 2 * rest > NANO || (2 * rest == NANO && q % 2 != 0);
	/* Far enough from what fits that what was counted can be taken from it. */
	if (q >= (atto)UNITS_MAX * NANO || q <= -(atto)UNITS_MAX * NANO)
		return err_set(e, ERR_LIMIT, "the sum of all amounts is too large");
	*out = (int64_t)q;
	return 0;
}

struct rest {
	atto fraction;
	size_t part;
};

static int by_fraction(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->fraction != y->fraction)
		return x->fraction > y->fraction ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

void atto_split(const atto *v, size_t n, int64_t sum, int64_t *out)
{
	struct rest *rests = mem_zalloc((n + 1) * sizeof(*rests));
	int64_t left = sum;

	for (size_t i = 0; i < n; i++) {
		out[i] = (int64_t)floor_of(v[i], &rests[i].fraction);
		rests[i].part = i;
		left -= out[i];
	}
	if (n > 0)
		qsort(rests, n, sizeof(*rests), by_fraction);
	for (size_t i = 0; i < n && left > 0; i++, left--)
		out[rests[i].part]++;
	free(rests);
}
