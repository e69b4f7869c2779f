#include "providers/simcloud/throttle.h"

enum { MICRO = 1000000, WEEK_MS = 604800000 };

int64_t throttle_take(struct throttle *b, const struct settings_bucket *c, int64_t n, int64_t now)
{
	int64_t full = c->burst * MICRO, need, elapsed;

	if (c->rate_milli == 0)
		return 0;
	/* rate_milli thousandths a second are as many millionths a millisecond. */
	elapsed = now - b->at > WEEK_MS ? WEEK_MS : now - b->at;
	b->level_micro += elapsed * c->rate_milli;
	if (b->at == 0 || b->level_micro > full)
		b->level_micro = full;
	b->at = now;
	need = n * MICRO > full ? full : n * MICRO;
	if (b->level_micro < need)
		return (need - b->level_micro + c->rate_milli - 1) / c->rate_milli;
	b->level_micro -= n * MICRO;
	return 0;
}
