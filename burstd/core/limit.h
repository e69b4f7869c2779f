/* limit.h - how many requests may go to one provider, and which goes first.
 *
 * A request may be sent if there is a slot, a token of the configured rate, and a token of the
 * provider's own limit on that kind of request: the one it documents, and the one that its answers
 * show.  If there is not enough for all kinds that wait, every other turn is for deletes, and of
 * the other kinds the one goes first that has waited longest; lists before creates.  One slot is
 * kept for deletes, one for lists and one for creates.  So a thousand creates keep no delete
 * waiting for longer than the next request may go, nor a thousand deletes a create (P1, P2).
 *
 * Where machines are (PROVIDER_TOPOLOGY) is asked after all else, and keeps nothing waiting.
 *
 * A kind that asked in vain waits in line until the end of the next turn: by then it has asked
 * again, or needs nothing any more.
 *
 * What is throttled says nothing about what the request was for: the limiter alone waits, and all
 * that is queued behind it keeps its order.  Each kind learns its pace from its answers, by pace.h.
 * Whatever the bucket of the provider, documented or not, larger or smaller than documented, shared
 * with another tenant or not: of what it gives nine tenths are used and at most one request of
 * twenty is throttled, once it is known (I30), which takes a minute, or 20 tokens.  Not so where
 * it gives less than the slowest pace (LIMIT_LEAST), or a quarter of what is documented, nor where
 * the bucket is too small to be found out (ADR 39 has the numbers): one token, and requests arrive
 * unevenly, by over 2 % of the gap between two, or a tenant takes some; fewer than 5 tokens, and a
 * tenant that comes regularly; fewer than 100 tokens or two a second, and a tenant that comes by
 * chance.
 *
 * A pause that the provider asks for is kept.  While nothing is answered at all, requests of that
 * kind go one by one, at most 30 s apart.  Other kinds go on.
 *
 * Kinds that are throttled in the same minute, and go once a second or less, may share a limit that
 * burstd does not know.  Then they have one pace together, and turns: one of them goes at a time,
 * and a short pause of one pauses them all.  A kind that was throttled while another got through
 * keeps its turn, and goes first after the pause.  A kind that is throttled whatever the others do
 * is alone again.
 *
 * Time is passed in, and a seed. */
#ifndef BURSTD_LIMIT_H
#define BURSTD_LIMIT_H

#include "core/bucket.h"
#include "core/pace.h"
#include "core/provider.h"
#include "core/window.h"

enum {
	/* The slowest paces that are learned, requests in PACE_UNIT seconds.  Throttles that a
	 * lower pace does not end, those of an overload for example, would lower it for ever; then
	 * lists and deletes would take minutes (P1). */
	LIMIT_LEAST = PACE_FIRST / 2,
	LIMIT_LEAST_CREATE = PACE_MIN,
	LIMIT_PASSED = 4, /* so many deletes pass a kind that waits, before it goes in its turn */
	LIMIT_STEP_MS = 1000, /* the shortest Retry-After */
	/* The longest Retry-After that is believed: "in a day" for a delete would have machines run
	 * for a day (I10). */
	LIMIT_PAUSE_MAX_MS = 900000,
	LIMIT_SHARED_MS = 60000,      /* kinds throttled in that time may share a limit */
	LIMIT_SHARED_PAUSE_MS = 2000, /* these share pauses up to this */
	LIMIT_SHARED_WIRE_MS = 1000,  /* and each waits so long for another's answer */
	LIMIT_ALONE = 3, /* throttled so often in turn, while they had turns: it shares nothing */
};

struct limit_kind {                        /* of requests: enum provider_op_kind */
	struct bucket requests, instances; /* the provider's own limits, as documented ... */
	struct window window;              /* ... of requests, too */
	struct pace pace;                  /* ... and what its answers show of them */
	uint32_t out;                      /* on the wire */
	uint32_t needs;                    /* instances that the waiting request is about */
	uint64_t waits;       /* the turn of the last vain question; 0: none since one went */
	uint32_t passed;      /* deletes that went while it waited */
	uint64_t went;        /* ordinal of its last turn; 0: none */
	uint64_t before;      /* likewise of the turn before */
	uint64_t sent, tried; /* ordinals of the last request, and of the one before */
	uint64_t again;       /* the turn in which a throttled request comes again; 0: none */
	int64_t until_ms;     /* end of the pause; 0: none */
	int64_t paused_ms;    /* begin of the pause */
	int64_t shares_ms;    /* the last throttle of the kinds that share a limit with it */
	uint32_t vain;        /* throttles since its last answer */
	bool joint;           /* its last request went at the pace of those */
	int64_t troubled_ms;  /* since when every answer was a throttle; 0: not so */
	uint64_t throttled;   /* how often, in all */
	int64_t throttled_ms; /* when last; 0: never */
	uint64_t lined;       /* the turn of the last vain question, if one went since, too */
	int64_t since_ms;     /* since when the next request waits; 0: it was not asked for */
	int64_t waited_ms;    /* likewise the last that went, for it may come again */
};

struct limit {
	uint32_t slots;    /* most requests on the wire */
	uint32_t out;      /* requests on the wire now, without those that the provider holds */
	uint32_t rate;     /* as configured */
	struct bucket all; /* requests of all kinds */
	uint64_t turn, order;
	bool deleted;               /* the last request was a delete */
	uint64_t dice;              /* state of its generator; 0: no dice */
	uint64_t answered;          /* ordinal of the last request that was answered */
	struct pace joint;          /* of the kinds that share a limit */
	int64_t joint_ms;           /* its last throttle */
	enum provider_op_kind last; /* of the kinds that share a limit: the last that went ... */
	int64_t last_ms;            /* ... and when; 0: it is answered */
	struct limit_kind kinds[PROVIDER_NOPS];
};

/* rate: requests per second of all kinds.  0: by `own`, the limits of each kind
 * (provider_caps.limits), NULL if these are not known. */
void limit_init(struct limit *l, uint32_t slots, uint32_t rate, const struct provider_limit *own,
		int64_t now_ms);
/* Lengthen pauses by up to a quarter, by chance, so that many burstds do not fall into step. */
void limit_seed(struct limit *l, uint64_t seed);
/* Change the limits.  Requests on the wire and pauses stay; a limit that does not change keeps its
 * tokens. */
void limit_change(struct limit *l, uint32_t slots, uint32_t rate, const struct provider_limit *own,
		  int64_t now_ms);
/* After either: the provider's own limit of all kinds together, while rate is 0. */
void limit_together(struct limit *l, const struct provider_bucket *all, int64_t now_ms);
void limit_turn(struct limit *l); /* a turn begins, in which each kind asks again */
/* May a request go out now?  false: it is in line.  true: it need not be sent. */
bool limit_may(struct limit *l, enum provider_op_kind kind, int64_t now_ms);
bool limit_waits(const struct limit *l, enum provider_op_kind kind); /* in line, in this turn? */
/* How many instances a request may be about now; UINT32_MAX: no limit. */
uint32_t limit_room(const struct limit *l, enum provider_op_kind kind, int64_t now_ms);
/* Is the bucket of instances full? */
bool limit_is_full(const struct limit *l, enum provider_op_kind kind, int64_t now_ms);
/* Wait in line until there is room for so many instances. */
void limit_wait(struct limit *l, enum provider_op_kind kind, uint32_t instances, int64_t now_ms);
/* A request about so many instances goes out. */
void limit_take(struct limit *l, enum provider_op_kind kind, uint32_t instances, int64_t now_ms);
void limit_give(struct limit *l, enum provider_op_kind kind); /* one is answered */
/* A request sent at sent_ms was throttled; retry_ms: the pause that the provider asks for, or 0. */
void limit_throttled(struct limit *l, enum provider_op_kind kind, int64_t sent_ms, int64_t retry_ms,
		     int64_t now_ms);
void limit_answered(struct limit *l, enum provider_op_kind kind); /* a request was not throttled */
/* When the first kind in line may go; INT64_MAX: none waits, or only for an answer. */
int64_t limit_next_ms(const struct limit *l, int64_t now_ms);

/* --- for people --- */

/* What holds a kind back most. */
enum limit_by {
	LIMIT_BY_NONE,    /* nothing is known to */
	LIMIT_BY_RATE,    /* as configured, for all kinds together */
	LIMIT_BY_ALL,     /* as the provider documents, for all kinds together */
	LIMIT_BY_KIND,    /* as it documents, for this kind */
	LIMIT_BY_ANSWERS, /* its answers show it */
	LIMIT_BY_SHARED,  /* likewise, for this kind and others together */
};

struct limit_view {           /* of one kind, now */
	enum limit_by by;     /* what allows no more than ... */
	int64_t allowed;      /* ... so many requests in PACE_UNIT seconds, in the long run; 0: any
				 number */
	int64_t instances;    /* likewise instances in these, as documented */
	bool waits;           /* one asked in vain, in this turn or the one before ... */
	int64_t since_ms;     /* ... and since when it waits, times that it was throttled included;
				 0: none does */
	int64_t until_ms;     /* end of the pause after a throttle; 0: there is none now */
	int64_t throttled_ms; /* when a request was throttled last; 0: never */
};

struct limit_view limit_view(const struct limit *l, enum provider_op_kind kind, int64_t now_ms);
const char *limit_by_str(enum limit_by by); /* "", "rate", "all", "kind", "answers", "shared" */

#endif
