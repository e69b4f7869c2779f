/* limit_world.h - a provider with a token bucket for each kind of request, and a burstd that has
 * more to send than it may. */
#ifndef LIMIT_WORLD_H
#define LIMIT_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/limit.h"

#define CREATE PROVIDER_CREATE
#define DELETE PROVIDER_DELETE
#define LIST   PROVIDER_LIST

enum { WORLD_WIRE = 64, MINUTE = 60000, TOKEN = 1000000 /* per second: in a million seconds */ };

enum tenant { NOBODY, REGULAR, RANDOM };

struct supply { /* the provider's bucket */
	uint32_t size;
	uint32_t gains;       /* in a million seconds */
	enum tenant tenant;   /* another one takes half */
	int64_t level, at_ms; /* tokens x TOKEN x 1000 */
	int64_t next_ms;      /* when the tenant comes */
	bool tells;           /* Retry-After, in seconds */
	uint64_t gone;        /* the tenant's tokens */
};

struct letter {
	enum provider_op_kind kind;
	int64_t sent_ms, there_ms, back_ms;
	bool there, throttled;
	int64_t retry_ms;
};

static struct world {
	struct limit l;
	struct supply *of[PROVIDER_NOPS]; /* kinds may share one; NULL: nothing is sent */
	int64_t now, wire_ms, jitter_ms;
	uint64_t rng;
	struct letter wire[WORLD_WIRE];
	size_t nwire;
	unsigned sent[PROVIDER_NOPS], taken[PROVIDER_NOPS], throttled[PROVIDER_NOPS];
} W;

static inline uint32_t world_dice(uint32_t below)
{
	W.rng ^= W.rng << 13;
	W.rng ^= W.rng >> 7;
	W.rng ^= W.rng << 17;
	return (uint32_t)((W.rng >> 16) % below);
}

static inline void supply_fill(struct supply *s, int64_t now)
{
	int64_t full = (int64_t)s->size * TOKEN * 1000;

	s->level += (now - s->at_ms) * s->gains;
	s->level = s->level < full ? s->level : full;
	s->at_ms = now;
}

static inline bool supply_take(struct supply *s, int64_t now)
{
	supply_fill(s, now);
	if (s->level < (int64_t)TOKEN * 1000)
		return false;
	s->level -= (int64_t)TOKEN * 1000;
	return true;
}

/* What the other tenant takes until now.  Its own throttled requests are lost. */
static inline void tenant_until(struct supply *s, int64_t now)
{
	int64_t gap = 2 * (int64_t)TOKEN * 1000 / s->gains;

	while (s->tenant != NOBODY && s->next_ms <= now) {
		s->gone += supply_take(s, s->next_ms);
		if (s->tenant == REGULAR)
			s->next_ms += gap - gap / 10 + world_dice((uint32_t)(gap / 5 + 1));
		else /* one of ten moments in a gap */
			do
				s->next_ms += gap / 10 > 0 ? gap / 10 : 1;
			while (world_dice(10) != 0);
	}
}

static inline void world_arrives(struct letter *m)
{
	struct supply *s = W.of[m->kind];

	m->there = true;
	tenant_until(s, m->there_ms);
	m->throttled = !supply_take(s, m->there_ms);
	if (m->throttled && s->tells)
		m->retry_ms = (((int64_t)TOKEN * 1000 - s->level) / s->gains + 999) / 1000 * 1000;
}

static inline void world_answered(const struct letter *m)
{
	limit_give(&W.l, m->kind);
	if (m->throttled) {
		W.throttled[m->kind]++;
		limit_throttled(&W.l, m->kind, m->sent_ms, m->retry_ms, W.now);
	} else {
		W.taken[m->kind]++;
		limit_answered(&W.l, m->kind);
	}
}

static inline void world_send(enum provider_op_kind k)
{
	int64_t there = W.now + W.wire_ms / 2 + world_dice((uint32_t)W.jitter_ms + 1);

	assert_true(W.nwire < WORLD_WIRE);
	limit_take(&W.l, k, 1, W.now);
	W.sent[k]++;
	W.wire[W.nwire++] = (struct letter){
		.kind = k, .sent_ms = W.now, .there_ms = there, .back_ms = there + W.wire_ms / 2};
}

/* In order of arrival. */
static inline void world_deliver(void)
{
	struct letter *first;

	do {
		first = NULL;
		for (size_t i = 0; i < W.nwire; i++)
			if (!W.wire[i].there && W.wire[i].there_ms <= W.now &&
			    (first == NULL || W.wire[i].there_ms < first->there_ms))
				first = &W.wire[i];
		if (first != NULL)
			world_arrives(first);
	} while (first != NULL);
	for (size_t i = 0; i < W.nwire;)
		if (W.wire[i].there && W.wire[i].back_ms <= W.now) {
			const struct letter m = W.wire[i];

			W.wire[i] = W.wire[--W.nwire];
			world_answered(&m);
		} else {
			i++;
		}
}

static inline int64_t world_next(void)
{
	int64_t next = limit_next_ms(&W.l, W.now);

	for (size_t i = 0; i < W.nwire; i++) {
		int64_t at = W.wire[i].there ? W.wire[i].back_ms : W.wire[i].there_ms;

		next = at < next ? at : next;
	}
	return next > W.now ? next : W.now + 1;
}

/* Where nothing is on the wire and every kind that asks is open, one of them goes. */
static inline void world_moves(void)
{
	bool open = true;

	for (int k = 0; k < PROVIDER_NOPS; k++)
		open = open && (W.of[k] == NULL || W.l.kinds[k].until_ms <= W.now);
	assert_false(open && W.nwire == 0 && limit_next_ms(&W.l, W.now) <= W.now);
}

/* Send as much as may be sent until to_ms. */
static inline void world_run(int64_t to_ms)
{
	while (W.now < to_ms) {
		int64_t next;

		limit_turn(&W.l);
		world_deliver();
		for (int k = 0; k < PROVIDER_NOPS; k++)
			while (W.of[k] != NULL && limit_may(&W.l, (enum provider_op_kind)k, W.now))
				world_send((enum provider_op_kind)k);
		world_moves();
		next = world_next();
		W.now = next < to_ms ? next : to_ms;
	}
}

static inline struct supply supply_of(uint32_t size, uint32_t gains)
{
	return (struct supply){
		.size = size, .gains = gains, .level = (int64_t)size * TOKEN * 1000, .next_ms = 1};
}

#endif
