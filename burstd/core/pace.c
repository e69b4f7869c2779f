#include "core/pace.h"

#include "base/clamp.h"

enum {
	SLACK_US = 50000, /* who is late by up to so much, may be followed sooner */
	REST_MS = 10000,  /* who has nothing to send for so long and four requests more, rests */
	STEADY = 16,      /* so many answers between two throttles measure the rate */
	PRICE = 25,       /* answers that pay for a throttle: at most one of so many is one */
	DEBT_MAX = 4 * PRICE,
	RECENT = 16,   /* answers that make the recent share of throttles */
	OUTAGE = 4,    /* throttled so often in turn: the pauses were longer than any pace needs */
	OVER_MAX = 20, /* the pace grows by at most a hundredth with each answer */
	OVER_PART = 2000,
};

static uint32_t percent(int64_t of, int n)
{
	return (uint32_t)(of * n / 100);
}

static void set(struct pace *p, int64_t rate)
{
	int64_t least = p->least;

	if (p->took_ms < p->free_ms)
		least = PACE_MIN;
	p->rate = (uint32_t)clamp(rate, least, PACE_MAX);
}

/* Is the slowest pace too fast?  Where throttles do not depend on the pace, a third of all requests
 * makes a quarter here, since those in a row count as one; at twice what the provider gives it is a
 * half. */
static void note_refused(struct pace *p, bool throttled, int64_t now_ms)
{
	p->refused -= p->refused / RECENT;
	p->refused += throttled ? PACE_ALL / RECENT : 0;
	if (throttled && p->refused > PACE_ALL * 3 / 8)
		p->free_ms = now_ms + PACE_FREE_MS;
}

static int64_t gap_us(const struct pace *p)
{
	int64_t rate = clamp(p->rate, PACE_MIN, PACE_MAX);

	return (int64_t)PACE_UNIT * 1000000 / rate;
}

int64_t pace_next_ms(const struct pace *p, int64_t now_ms)
{
	int64_t at = (p->next_us + 999) / 1000;

	return p->rate != 0 && at > now_ms ? at : now_ms;
}

/* Was there nothing to send for a while?  Then what was answered says nothing of the rate. */
static bool rested(const struct pace *p, int64_t now_ms)
{
	return p->rate != 0 && p->vain == 0 && now_ms - p->took_ms > REST_MS + 4 * gap_us(p) / 1000;
}

void pace_take(struct pace *p, bool waited, int64_t now_ms)
{
	int64_t now_us = now_ms * 1000, gap, late;

	if (rested(p, now_ms)) {
		p->got = p->waited = p->long_got = 0;
		p->from_ms = now_ms;
	}
	if (p->long_got == 0)
		p->long_from_ms = now_ms;
	p->took_ms = now_ms;
	p->queued = waited;
	if (p->rate == 0)
		return;
	gap = gap_us(p);
	p->held = now_us < p->next_us + gap / 2;
	late = now_us - (gap / 2 < SLACK_US ? gap / 2 : SLACK_US);
	p->next_us = (p->next_us > late ? p->next_us : late) + gap;
}

static int64_t rate_of(uint32_t got, int64_t from_ms, int64_t now_ms)
{
	int64_t ms = now_ms > from_ms ? now_ms - from_ms : 1;

	return (int64_t)got * PACE_UNIT * 1000 / ms;
}

/* Answers in a second, since the last throttle. */
static int64_t measured(const struct pace *p, uint32_t got, int64_t now_ms)
{
	return rate_of(got, p->from_ms, now_ms);
}

/* In the long run the provider gave what it answered, or, if its bucket was full, part of it: the
 * ceiling is not much lower. */
static void note_long(struct pace *p)
{
	if (p->long_got++ < STEADY)
		return;
	p->long_rate = (uint32_t)clamp(rate_of(STEADY, p->long_from_ms, p->took_ms), 0, PACE_MAX);
	p->long_got = 1;
	p->long_from_ms = p->took_ms;
}

static void set_known(struct pace *p, int64_t known)
{
	int64_t low = percent(p->long_rate < p->rate ? p->long_rate : p->rate, 60);

	p->known = (uint32_t)(known > low ? known : low);
}

/* No ceiling was found yet. */
static int64_t searched(const struct pace *p)
{
	int64_t seen = 4 * measured(p, p->got, p->took_ms), next = 2 * (int64_t)p->rate;

	if (next > seen)
		next = seen;
	return next > p->rate ? next : p->rate;
}

static int64_t grown(struct pace *p)
{
	int64_t rate = p->rate;

	if (p->known == 0)
		return searched(p);
	if (rate < p->known / 2)
		return 2 * rate;
	if (rate < percent(p->known, 85))
		return rate + rate / 10;
	if (p->debt > 0)
		return rate < percent(p->known, 97) ? rate + rate / 200 : rate;
	if (rate < p->known)
		return rate + rate / 200 + 1;
	p->over += p->over < OVER_MAX;
	return rate + rate * p->over / OVER_PART;
}

void pace_answered(struct pace *p)
{
	bool back = p->vain >= OUTAGE;
	int64_t gap;

	if (p->vain > 0 && p->took_ms <= p->from_ms)
		return; /* it was on the wire when another was throttled */
	p->vain = 0;
	note_refused(p, false, 0);
	note_long(p);
	p->got++;
	p->waited += p->queued;
	p->debt -= p->debt > 0;
	if (p->rate == 0)
		return;
	gap = gap_us(p);
	set(p, back ? 4 * (int64_t)p->rate : p->held ? grown(p) : p->rate);
	p->next_us -= gap - gap_us(p);
}

/* How far a throttle that measured nothing may lower the ceiling: the first one may be bad luck. */
static int trust(const struct pace *p)
{
	if (p->debt >= 2 * PRICE)
		return 85;
	if (p->debt >= PRICE)
		return 95;
	return p->debt > 0 ? 98 : 100;
}

/* The ceiling, now that there is a throttle after some answers.  Where the bucket is small it
 * overflows while the pace is low, and what was measured is too little; where it was full at the
 * beginning, the pace is too much. */
static uint32_t ceiling(const struct pace *p, int64_t now_ms)
{
	int64_t seen = measured(p, p->got, now_ms);

	if (2 * p->waited <= p->got) /* there was little to send: that is what was measured */
		return percent(p->known != 0 ? p->known : p->rate, trust(p));
	seen = seen < p->rate ? seen : p->rate;
	if (p->known == 0)
		return (uint32_t)clamp(seen, percent(p->rate, 50), p->rate);
	if (p->got >= STEADY)
		return (uint32_t)(seen * 6 / 5 < p->rate ? seen : (seen + p->rate) / 2);
	return (uint32_t)clamp(measured(p, p->got + 2, now_ms), percent(p->known, 60),
			       percent(p->known, trust(p)));
}

static void slow_down(struct pace *p, int64_t now_ms)
{
	const int part = p->got >= STEADY ? 95 : p->got >= 4 ? 88 : 80;

	set_known(p, ceiling(p, now_ms));
	set(p, percent(p->rate < p->known ? p->rate : p->known, part));
}

/* No answer since the last throttle.  While there is none, pauses grow whatever the slowest pace
 * is. */
static void back_off(struct pace *p)
{
	if (p->known != 0 && p->vain == 1) {
		set(p, percent(p->rate, 80));
		return;
	}
	p->rate = p->rate / 2 > PACE_MIN ? p->rate / 2 : PACE_MIN;
	if (p->known != 0 && p->debt < DEBT_MAX) /* an outage is no limit */
		set_known(p, percent(p->known, 80));
}

int64_t pace_throttled(struct pace *p, uint32_t least, unsigned dice, int64_t now_ms)
{
	bool first = p->rate == 0;
	int64_t pause;

	p->least = least;
	if (p->vain == 0)
		note_refused(p, true, now_ms);
	if (first)
		set(p, PACE_FIRST);
	else if (p->got == 0 && p->vain > 0)
		back_off(p);
	else
		slow_down(p, now_ms);
	if (p->known != 0)
		p->debt = p->debt + PRICE < DEBT_MAX ? p->debt + PRICE : DEBT_MAX;
	p->vain += first ? 2 : 1;
	p->over = p->got = p->waited = 0;
	p->from_ms = now_ms;
	pause = gap_us(p) / 1000;
	if (p->vain == 1) /* it lacked only a part of a token */
		pause /= 3;
	pause += pause * dice / (4 * PACE_DICE);
	return pause < PACE_PAUSE_MS ? pause : PACE_PAUSE_MS;
}

void pace_wait(struct pace *p, int64_t until_ms)
{
	p->next_us = until_ms * 1000;
}

bool pace_doubts(const struct pace *p)
{
	return p->vain >= 2;
}
