/* fuzz_period.c - any text as a period: it is refused, or what is printed of it is the same rule,
 * and the periods at any time are in order.  The first 8 bytes are the time. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/period.h"

#define NOW_MAX INT64_C(253402300799999) /* the year 9999 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_at(const struct period_rule *r, const struct zone *z, int64_t now)
{
	struct period p, next;
	enum period_when when = period_find(r, z, now, &p);

	assert(p.begin_ms <= p.end_ms && p.name[0] != '\0');
	assert((when == PERIOD_NOW) == (p.begin_ms <= now && now < p.end_ms));
	assert(when != PERIOD_NOT_YET || now < p.begin_ms);
	assert(when == PERIOD_NOW || r->kind == PERIOD_RANGE);
	if (!period_next(r, z, &p, &next)) {
		assert(r->kind == PERIOD_RANGE);
		return;
	}
	assert(next.end_ms > p.end_ms);
	assert(r->kind == PERIOD_ROLLING || next.begin_ms == p.end_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct zone *z; /* read once: it takes longer than all else */
	struct period_rule r, again;
	char text[PERIOD_STR_SIZE];
	uint64_t now = 0;
	char *in;

	if (size < sizeof(now))
		return 0;
	if (z == NULL)
		z = zone_new("America/St_Johns", NULL);
	memcpy(&now, data, sizeof(now));
	in = mem_zalloc(size - sizeof(now) + 1);
	memcpy(in, data + sizeof(now), size - sizeof(now));
	if (z != NULL && period_parse(&r, in, NULL) == 0) {
		assert(period_parse(&again, period_str(text, &r), NULL) == 0);
		assert(period_same(&r, &again));
		check_at(&r, z, (int64_t)(now % (uint64_t)NOW_MAX));
	}
	free(in);
	return 0;
}
