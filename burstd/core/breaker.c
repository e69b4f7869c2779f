#include "core/breaker.h"

/* BREAKER_MS, doubled for each time after the first, at most BREAKER_MAX_MS. */
static int64_t doubled(uint32_t times)
{
	int64_t ms = BREAKER_MS;

	while (times-- > 1 && ms < BREAKER_MAX_MS)
		ms *= 2;
	return ms < BREAKER_MAX_MS ? ms : BREAKER_MAX_MS;
}

bool breaker_fail(struct breaker *b, int64_t bought_ms, int64_t now_ms)
{
	if (b->waves > 0 && bought_ms <= b->last_ms)
		return false;
	b->waves++;
	b->last_ms = now_ms;
	if (b->waves > BREAKER_FREE)
		b->until_ms = now_ms + doubled(b->waves - BREAKER_FREE);
	return true;
}

bool breaker_ok(struct breaker *b)
{
	bool had = b->waves > 0;

	*b = (struct breaker){0};
	return had;
}

bool breaker_is_open(const struct breaker *b, int64_t now_ms)
{
	return now_ms < b->until_ms;
}

bool breaker_probes(const struct breaker *b, int64_t now_ms)
{
	return b->waves > BREAKER_FREE && !breaker_is_open(b, now_ms);
}

int64_t breaker_rest_ms(uint32_t fails)
{
	return fails <= 1 ? BREAKER_REST_MS : doubled(fails - 1);
}
