#include "agent/deadman.h"

void deadman_init(struct deadman *d, int64_t limit, int64_t job_limit, int64_t now)
{
	*d = (struct deadman){.limit = limit, .job_limit = job_limit, .last = now};
}

void deadman_heard(struct deadman *d, int64_t now)
{
	deadman_init(d, d->limit, d->job_limit, now);
}

void deadman_failed(struct deadman *d)
{
	if (d->tries < DEADMAN_TRIES)
		d->tries++;
}

static enum deadman_order fire(struct deadman *d)
{
	d->state = DEADMAN_FIRED;
	d->again = DEADMAN_AGAIN_MS;
	return DEADMAN_POWEROFF;
}

static enum deadman_order in_silence(struct deadman *d, bool job, int64_t step)
{
	const bool begins = d->state == DEADMAN_ALIVE;

	d->state = DEADMAN_SILENT;
	d->idle = d->free && !job ? d->idle + step : 0;
	d->free = !job;
	if (job && !begins)
		d->waited += step;
	if (job ? d->waited >= d->job_limit : d->idle >= DEADMAN_IDLE_MS)
		return fire(d);
	return begins && job ? DEADMAN_WARN : DEADMAN_NOTHING;
}

enum deadman_order deadman_turn(struct deadman *d, bool job, int64_t now)
{
	int64_t step = now - d->last;

	d->last = now;
	if (step < 0)
		step = 0;
	if (step > DEADMAN_TURN_MS)
		step = DEADMAN_TURN_MS;
	if (d->limit == 0)
		return DEADMAN_NOTHING;
	d->silent += step;
	if (d->state == DEADMAN_FIRED) {
		d->again -= step;
		return d->again <= 0 ? fire(d) : DEADMAN_NOTHING;
	}
	if (d->state == DEADMAN_ALIVE && (d->silent < d->limit || d->tries < DEADMAN_TRIES))
		return DEADMAN_NOTHING;
	return in_silence(d, job, step);
}
