#include "core/breaker.h"

bool breaker_fail(struct breaker *b, int64_t bought_ms, int64_t now_ms)
{
	int64_t ms = BREAKER_MS;

	if (b->waves > 0 && bought_ms <= b->last_ms)
		return false;
	b->waves++;
	b->last_ms = now_ms;
	if (b->waves <= BREAKER_FREE)
		return true;
	for (uint32_t i = BREAKER_FREE + 1; i < b->waves && ms < BREAKER_MAX_MS; i++)
		ms *= 2;
	b->until_ms = now_ms + (ms < BREAKER_MAX_MS ? ms : BREAKER_MAX_MS);
	return true;
}

bool breaker_ok(struct breaker *b)
{
	bool had = b->waves > 0;

	*b = (struct breaker){0};
	return had;
}

bool breaker_closed(const struct breaker *b, int64_t now_ms)
{
	return now_ms < b->until_ms;
}
