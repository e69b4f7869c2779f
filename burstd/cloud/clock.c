#include "cloud/cloud.h"
#include "engine/times.h"

/* Tracks a provider's clock by the Dates of its answers (times.h). */

enum { QUICK_MS = 1000 }; /* a Date is no more precise anyway */

static int64_t ahead_of(const struct cloud *c)
{
	return c->dated ? c->ahead_ms : c->e->ahead_ms;
}

/* The provider wrote the Date between sent_ms and now, in whole seconds, so a slow answer allows
 * many differences.  If a quick answer allows the wall clock's, that is taken.  Otherwise the known
 * difference moves no further than it must, so that the provider's times stay the same for the
 * engine from answer to answer, even if somebody sets the wall clock. */
void times_date(struct cloud *c, int64_t sent_ms, int64_t now_ms, int64_t date_ms)
{
	int64_t least = sent_ms - date_ms - 999, most = now_ms - date_ms;
	int64_t wall = c->e->ahead_ms, ahead = ahead_of(c);

	if (date_ms <= 0)
		return;
	if (now_ms - sent_ms <= QUICK_MS && wall >= least && wall <= most)
		ahead = wall;
	if (ahead < least)
		ahead = least;
	c->ahead_ms = ahead > most ? most : ahead;
	c->dated = true;
}

int64_t times_from(const struct cloud *c, int64_t theirs_ms)
{
	return times_shift(theirs_ms, ahead_of(c));
}

int64_t times_of(const struct cloud *c, int64_t ms)
{
	return times_shift(ms, -ahead_of(c));
}

void times_instance(const struct cloud *c, struct provider_instance *in)
{
	in->created_ms = times_from(c, in->created_ms);
	in->ended_ms = times_from(c, in->ended_ms);
}
