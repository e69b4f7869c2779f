#include "ledger/split.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

__extension__ typedef unsigned __int128 u128;

struct rest { /* what a part lacks of its exact share, in nano-units / the sum of the weights */
	u128 fraction;
	size_t part;
};

static int by_fraction(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->fraction != y->fraction)
		return x->fraction > y->fraction ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

int split(int64_t nano, const uint64_t *weights, size_t n, int64_t *parts)
{
	const uint64_t amount = nano < 0 ? (uint64_t)-nano : (uint64_t)nano;
	uint64_t left = amount;
	struct rest *rests;
	u128 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += weights[i];
	if (sum == 0)
		return -1;
	rests = mem_zalloc(n * sizeof(*rests));
	for (size_t i = 0; i < n; i++) {
		const u128 share = (u128)amount * weights[i];

		parts[i] = (int64_t)(share / sum);
		left -= (uint64_t)parts[i];
		rests[i] = (struct rest){share % sum, i};
	}
	qsort(rests, n, sizeof(*rests), by_fraction);
	for (size_t i = 0; i < left; i++)
		parts[rests[i].part]++;
	for (size_t i = 0; i < n && nano < 0; i++)
		parts[i] = -parts[i];
	free(rests);
	return 0;
}
