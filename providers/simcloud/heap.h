/* heap.h - a queue by due time: a binary heap of (time, order of arrival, what, row).
 *
 * No entry is ever cancelled: when one comes due, the owner checks whether it still applies. */
#ifndef SIMCLOUD_HEAP_H
#define SIMCLOUD_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_item {
	int64_t at;
	uint64_t seq; /* entries of one time come out in the order they went in */
	int what;
	uint32_t row;
};

struct heap {
	struct heap_item *v;
	size_t n, cap;
	uint64_t seq;
};

void heap_fini(struct heap *h);
void heap_push(struct heap *h, int64_t at, int what, uint32_t row);
int64_t heap_next(const struct heap *h); /* time of the first entry; INT64_MAX: empty */
bool heap_pop(struct heap *h, int64_t now, struct heap_item *out); /* false: nothing due by now */

#endif
