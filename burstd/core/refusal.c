#include "core/refusal.h"

/* The wait by the count alone. */
static int64_t backoff(uint32_t count)
{
	int64_t ms = REFUSAL_MS;

	if (count == 0)
		return 0;
	for (uint32_t i = 1; i < count && ms < REFUSAL_MAX_MS; i++)
		ms *= 2;
	return ms < REFUSAL_MAX_MS ? ms : REFUSAL_MAX_MS;
}

int64_t refusal_wait_ms(const struct refusal *r)
{
	return r->count != 0 && r->wait_ms > 0 ? r->wait_ms : backoff(r->count);
}

/* Allow twice the wait: slurmctld has other jobs to start, too. */
bool refusal_over(const struct refusal *r, int64_t now_ms)
{
	return now_ms - r->last_ms > 2 * refusal_wait_ms(r) + REFUSAL_SLACK_MS;
}

int64_t refusal_add(struct refusal *r, struct refusal_hint hint, int64_t now_ms)
{
	int64_t wait;

	if (refusal_over(r, now_ms))
		r->count = 0;
	if (r->count == 0 || r->first_ms > now_ms) /* the clock has gone back (F57) */
		r->first_ms = now_ms;
	r->count++;
	r->last_ms = now_ms;
	r->money = hint.money;
	wait = backoff(r->count);
	if (hint.not_before_ms - now_ms > wait)
		wait = hint.not_before_ms - now_ms;
	if (hint.surely_ms > now_ms && hint.surely_ms - now_ms < wait)
		wait = hint.surely_ms - now_ms;
	r->wait_ms = wait < REFUSAL_HOLD_MS ? wait : REFUSAL_HOLD_MS;
	if (hint.lasting)
		r->wait_ms = REFUSAL_DAY_MS;
	return r->wait_ms;
}

bool refusal_lasts(const struct refusal *r)
{
	return r->count != 0 && r->wait_ms >= REFUSAL_DAY_MS;
}
