#include "ledger/cents.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct rest {
	int64_t rest;
	size_t row;
};

static int64_t down(int64_t v, int64_t unit)
{
	return v / unit - (v % unit < 0);
}

/* What down() leaves. */
static int64_t rest_of(int64_t v, int64_t unit)
{
	const int64_t rest = v % unit;

	return rest < 0 ? rest + unit : rest;
}

int64_t cents_of(int64_t v, int64_t unit)
{
	const int64_t whole = down(v, unit), rest = rest_of(v, unit);

	if (rest != unit - rest)
		return whole + (rest > unit - rest);
	return whole + (whole % 2 != 0);
}

static int by_rest(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->rest != y->rest)
		return x->rest > y->rest ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

void cents_split(const int64_t *v, size_t n, int64_t unit, int64_t total, int64_t *out)
{
	struct rest *rests = mem_zalloc((n + 1) * sizeof(*rests));
	int64_t left = total;

	for (size_t i = 0; i < n; i++) {
		out[i] = down(v[i], unit);
		rests[i] = (struct rest){rest_of(v[i], unit), i};
		left -= out[i];
	}
	assert(left >= 0 && left <= (int64_t)n);
	qsort(rests, n, sizeof(*rests), by_rest);
	for (int64_t i = 0; i < left; i++)
		out[rests[i].row]++;
	free(rests);
}

int cents_places(const char *currency)
{
	static const char *const none[] = {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW",
					   "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"};
	static const char *const three[] = {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (strcmp(none[i], currency) == 0)
			return 0;
	for (size_t i = 0; i < sizeof(three) / sizeof(three[0]); i++)
		if (strcmp(three[i], currency) == 0)
			return 3;
	return 2;
}
