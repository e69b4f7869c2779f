/* pace.h - learns how many requests a second a provider takes, from its answers.
 *
 * A throttle says exactly one thing: the provider's bucket was empty.  So what it answered between
 * two throttles is what the bucket gained in that time, less what others took: that is the ceiling.
 * After a throttle the pace goes a little below it, waits there until the throttle is paid for,
 * goes back to it and then beyond, at first slowly, until the next throttle.  Nothing is learnt
 * before the first throttle, nor while there was less to send than the pace allows.
 *
 * The curve is that of CUBIC (RFC 9438), which remembers the ceiling and probes beyond it; AWS's
 * SDKs do likewise in their "adaptive" mode.  Here it is counted in answers and not in time, so
 * that one of forty is throttled where one goes in a minute as well as where twenty go in a second.
 * The ceiling is measured, as in BBR, and the search for a first one is bounded by twice what was
 * measured.
 *
 * Time and dice are passed in. */
#ifndef BURSTD_PACE_H
#define BURSTD_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PACE_UNIT = 1000000,  /* rates are requests in so many seconds */
	PACE_FIRST = 1000000, /* one a second: after the first throttle */
	PACE_MIN = 16667,     /* one a minute: slower would be an outage */
	PACE_MAX = 1000000000,
	PACE_PAUSE_MS = 30000, /* the longest pause of its own: what is throttled is tried again */
	PACE_DICE = 256,
	PACE_ALL = 4096, /* a share of this is the whole */
	PACE_FREE_MS = 600000,
};

struct pace {
	uint32_t least;       /* the slowest pace while there are answers; not before free_ms */
	uint32_t refused;     /* recent share of throttles among answers, of PACE_ALL */
	int64_t free_ms;      /* PACE_FREE_MS after that share was too large; 0: it never was */
	uint32_t rate;        /* the pace; 0: none is known, all may go */
	uint32_t known;       /* its ceiling; 0: none was found */
	uint32_t got;         /* answers since ... */
	int64_t from_ms;      /* ... the last throttle, or the last rest */
	uint32_t waited;      /* of these, answers to requests that had to wait in line */
	uint32_t long_got;    /* answers since ... */
	int64_t long_from_ms; /* ... the begin of this count, throttles and all */
	uint32_t long_rate; /* what the last 16 answers came to, throttles and all; 0: not known */
	uint32_t vain;      /* throttles since the last answer */
	uint32_t debt;      /* answers until the last throttles are paid for */
	uint32_t over;      /* answers since the pace is above the ceiling */
	bool queued;        /* the last request had to wait in line, ... */
	bool held;          /* ... and for the pace */
	int64_t took_ms;    /* when it went */
	int64_t next_us;    /* when the next one may go */
};

int64_t pace_next_ms(const struct pace *p, int64_t now_ms); /* when a request may go */
/* A request goes.  waited: it was in line before, whatever for. */
void pace_take(struct pace *p, bool waited, int64_t now_ms);
void pace_answered(struct pace *p); /* one was not throttled */
/* A request that was sent after the last throttle was known is throttled.  least: the slowest pace
 * from now on while there are answers, at least PACE_MIN.  dice: 0 to PACE_DICE - 1, so that many
 * burstds do not fall into step.  Return how long to pause, if the provider does not say. */
int64_t pace_throttled(struct pace *p, uint32_t least, unsigned dice, int64_t now_ms);
void pace_wait(struct pace *p, int64_t until_ms); /* nothing goes before that */
/* Is it unknown whether the provider answers at all?  Then one request at a time is enough. */
bool pace_doubts(const struct pace *p);

#endif
