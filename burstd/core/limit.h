/* limit.h - how many requests may go to one provider, and which goes first.
 *
 * Each kind of request asks before it is sent: is there a slot, a token of the rate that the
 * configuration allows, and one of the provider's own limits on that kind?  Where there is not
 * enough for all who want something, the kind that has gone without for longest has it; deletes and
 * lists before creates.  Of the slots one is kept for deletes, one for lists and one for creates,
 * so that a thousand creates keep no delete waiting, nor a thousand deletes a create (P1, P2).
 *
 * Who asks in vain is remembered until the end of the next turn: by then it has asked again, or
 * wants nothing any more.  What a provider throttles is left alone for as long as it says or,
 * if it does not, longer each time (I30), and then goes one by one until one is answered; other
 * kinds go on.
 *
 * Two kinds that were throttled in the same minute may have one limit together, which nobody has
 * configured: each would find what the other has left.  So of these one goes at a time, and a short
 * pause of one is that of all.  Who is throttled because another got through keeps its turn, and is
 * the first to go behind that pause.  Time is passed in. */
#ifndef BURSTD_LIMIT_H
#define BURSTD_LIMIT_H

#include "core/bucket.h"
#include "core/provider.h"

enum {
	LIMIT_STEP_MS = 1000, /* the first pause of a kind that is throttled, doubling ... */
	LIMIT_STEP_MAX_MS = 30000,
	/* What a provider says is believed as long as this: one that said "in a day" of a delete
	 * would have machines run for a day (I10). */
	LIMIT_PAUSE_MAX_MS = 900000,
	LIMIT_SHARED_MS =
		60000, /* kinds that were throttled since then share a limit, perhaps ... */
	LIMIT_SHARED_PAUSE_MS = 2000, /* ... and a pause: a longer one may be of a kind alone ... */
	LIMIT_SHARED_WIRE_MS = 1000,  /* ... and the wire: some answers take long, or never come */
};

struct limit_kind {                        /* of requests: enum provider_op_kind */
	struct bucket requests, instances; /* as the provider has it */
	uint32_t out;                      /* on the wire */
	uint32_t needs;       /* of one that waits: instances that it is about, together */
	uint64_t waits;       /* the turn in which one asked in vain; 0: none since one went */
	uint64_t went;        /* when it had its turn last, in order; 0: never; ... */
	uint64_t before;      /* ... and before that; ... */
	uint64_t sent, tried; /* ... the last one that went, and the one before it */
	uint64_t again;    /* the turn in which one that was throttled is to come again; 0: none */
	int64_t until_ms;  /* throttled: till then ... */
	int64_t paused_ms; /* ... from this on, and ... */
	int64_t step_ms;   /* ... for so long, if nothing was said */
	int64_t troubled_ms; /* since when nothing else was answered; 0: not so */
	uint64_t throttled;  /* how often, in all */
};

struct limit {
	uint32_t slots;    /* requests on the wire, at most ... */
	uint32_t out;      /* ... and now, without those that the provider may hold */
	struct bucket all; /* requests of all kinds */
	uint64_t turn, order;
	uint64_t answered;          /* when one was that was not throttled, in that order */
	enum provider_op_kind last; /* of those that share a limit: which went last ... */
	int64_t last_ms;            /* ... and when; 0: it is answered */
	struct limit_kind kinds[PROVIDER_NOPS];
};

/* rate: requests per second of all kinds.  0: as `own` says of each (provider_caps.limits), and
 * NULL: nothing is known. */
void limit_init(struct limit *l, uint32_t slots, uint32_t rate, const struct provider_limit *own,
		int64_t now_ms);
/* Others, from now on.  What is on the wire and what is throttled stays so; of a rate that stays
 * nothing is given twice. */
void limit_change(struct limit *l, uint32_t slots, uint32_t rate, const struct provider_limit *own,
		  int64_t now_ms);
void limit_turn(struct limit *l); /* a turn begins: in it whoever wants something asks */
/* May one go out now?  If not it waits; who is told that it may need not. */
bool limit_may(struct limit *l, enum provider_op_kind kind, int64_t now_ms);
bool limit_waits(const struct limit *l, enum provider_op_kind kind); /* asked so in this turn? */
/* How many instances may be in one now; UINT32_MAX: as many as there are. */
uint32_t limit_room(const struct limit *l, enum provider_op_kind kind, int64_t now_ms);
/* Is there as much room as there ever is? */
bool limit_is_full(const struct limit *l, enum provider_op_kind kind, int64_t now_ms);
/* One waits until there is room for so many. */
void limit_wait(struct limit *l, enum provider_op_kind kind, uint32_t instances);
/* One goes out, about so many instances. */
void limit_take(struct limit *l, enum provider_op_kind kind, uint32_t instances, int64_t now_ms);
void limit_give(struct limit *l, enum provider_op_kind kind); /* it is not on the wire any more */
/* What was sent then was throttled; retry_ms: what the provider said of how long, or 0. */
void limit_throttled(struct limit *l, enum provider_op_kind kind, int64_t sent_ms, int64_t retry_ms,
		     int64_t now_ms);
void limit_answered(struct limit *l, enum provider_op_kind kind); /* it was not */
/* When the first of those that wait may go; INT64_MAX: none waits, or for an answer only. */
int64_t limit_next_ms(const struct limit *l, int64_t now_ms);

#endif
