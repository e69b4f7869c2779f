#include "core/refusal.h"

int64_t refusal_wait_ms(const struct refusal *r)
{
	int64_t ms = REFUSAL_MS;

	if (r->count == 0)
		return 0;
	for (uint32_t i = 1; i < r->count && ms < REFUSAL_MAX_MS; i++)
		ms *= 2;
	return ms < REFUSAL_MAX_MS ? ms : REFUSAL_MAX_MS;
}

/* Twice its wait: it is started by a scheduler that has other jobs too. */
bool refusal_over(const struct refusal *r, int64_t now_ms)
{
	return now_ms - r->last_ms > 2 * refusal_wait_ms(r) + REFUSAL_SLACK_MS;
}

int64_t refusal_add(struct refusal *r, int64_t now_ms)
{
	if (refusal_over(r, now_ms))
		r->count = 0;
	r->count++;
	r->last_ms = now_ms;
	return refusal_wait_ms(r);
}
