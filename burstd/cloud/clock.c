#include "cloud/cloud.h"
#include "engine/times.h"

/* The clock of one provider, which every answer of it may set (times.h). */

enum { QUICK_MS = 1000 }; /* a Date leaves as much open anyway */

static int64_t ahead_of(const struct cloud *c)
{
	return c->dated ? c->ahead_ms : c->e->ahead_ms;
}

/* It was written between our sending and now, and has whole seconds: a slow answer allows many
 * differences, and says little.  The wall clock's is right if a quick one allows it; else the one
 * that is known moves no further than it must, so that a time of the provider's is the same time of
 * ours from answer to answer, though the wall clock was set. */
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
