/* cooldown.h - which places cool down, as they have nothing to sell.
 *
 * A place that refused one job would refuse the next: all pools and jobs share what is known of a
 * place.  It pauses for one of four causes:
 *
 *   capacity  of (provider, type, region, zone, market, fabric): one minute, doubling up to 15
 *   quota     of the account, so of (provider, type, region, market), whatever the zone: 15
 *             minutes, doubling up to 4 hours; only an admin, or nodes that end, can mend it
 *   failing   of the same place as capacity: for a while no purchase there was served, for nobody
 *             answered it, though other calls are answered, or it was throttled; paused as for
 *             want of capacity, and after a purchase that may have bought something, from when it
 *             is known that it did not
 *   denied    of the provider as a whole (credentials, permission, funds): off, with an alarm,
 *             until a call of the kind that was denied succeeds
 *
 * A purchase may also be sent alone, for a job that was passed over: others wait for its answer,
 * half a minute at most, whatever the place's state.
 *
 * A throttled request now and then is no cause: the token bucket handles that (core/limit.h).
 *
 *        refused                      time is over, or the first purchase after it did not tell
 *   ready ------> cooling until t ---------------------------------------------> half-open
 *    ^  ^           ^                                                              |
 *    |  |           +-- refused, twice as long -------------- one purchase --------+
 *    |  +---------------- it was bought ---------------------------+
 *    +-- nobody tried for an hour (capacity, quota, failing)
 *
 * When a place runs out many creates are on the wire, and all are refused.  A purchase that was
 * sent before the refusal was known belongs to that refusal: it does not lengthen the pause when it
 * is refused, and does not end it when it succeeds.
 *
 * What was accepted may fail later for want of capacity.  Then the purchase did not open the place,
 * and the pause is twice the last one; unless the place has sold for a quarter of an hour by then.
 *
 * In memory only: after a restart each place costs one refused request.  Time is an argument; if it
 * goes back (F57) the times kept here go back with it. */
#ifndef BURSTD_COOLDOWN_H
#define BURSTD_COOLDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/places.h"

enum {
	COOLDOWN_CAPACITY_MS = 60000,
	COOLDOWN_CAPACITY_MAX_MS = 900000,
	COOLDOWN_QUOTA_MS = 900000,
	COOLDOWN_QUOTA_MAX_MS = 14400000,
	COOLDOWN_DENIED_MS = 300000, /* a purchase was denied: pause until the next try */
	COOLDOWN_DENIED_MAX_MS = 3600000,
	COOLDOWN_PROBE_MS = 900000,   /* a probe without a result ends after this */
	COOLDOWN_WAIT_MS = 30000,     /* purchases wait so long for a probe's answer */
	COOLDOWN_FORGET_MS = 3600000, /* a pause is forgotten so long after its end */
	/* Failures further apart than this are separate.  A throttling provider may ask for a pause
	 * of a quarter of an hour (limit.h). */
	COOLDOWN_RUN_MS = 1200000,
	COOLDOWN_PLACES_MAX = 4096, /* remembered; the one that ends first is forgotten */
};

struct cooldown_place { /* a place, and how it cools down */
	struct place place;
	/* The first pause for want of capacity; the others are in proportion.  0: the default. */
	int64_t first_ms;
	int64_t patience_ms; /* it is "failing" when purchases fail for so long; 0: never */
	int64_t heard_ms;    /* when the provider last answered any request */
	int64_t pause_ms;    /* RATE: the pause that the provider asked for; 0: not said */
};

struct cooldown {
	struct places places;
	int64_t seen_ms; /* the latest time that was passed in */
};

/* In order of severity. */
enum cooldown_state {
	COOLDOWN_READY,
	COOLDOWN_HALF,    /* one purchase may go out as a probe: cooldown_buy() */
	COOLDOWN_PROBING, /* the probe is out, or a purchase that was sent alone */
	COOLDOWN_CAPACITY,
	COOLDOWN_FAILING,
	COOLDOWN_QUOTA,
	COOLDOWN_DENIED,
};

struct cooldown_view {
	enum cooldown_state state; /* the most severe of what is known */
	/* CAPACITY, FAILING, QUOTA, DENIED: end of the pause; 0: it ends when a call succeeds.
	 * PROBING: when the probe's answer is due. */
	int64_t until_ms;
};

/* What an answer changed, for events and alarms. */
enum cooldown_news {
	COOLDOWN_SAME,
	COOLDOWN_AGAIN,    /* the place sells again */
	COOLDOWN_COOLS,    /* no capacity */
	COOLDOWN_FAILS,    /* purchases fail */
	COOLDOWN_NO_QUOTA, /* an admin should know */
	COOLDOWN_OFF,      /* the whole provider: an admin must act */
};

void cooldown_init(struct cooldown *c);
void cooldown_fini(struct cooldown *c);

struct cooldown_view cooldown_look(struct cooldown *c, const struct cooldown_place *p,
				   int64_t now_ms);

/* May a purchase be sent there now?  false: nothing has changed.  true: in state HALF it is the
 * probe, and the state is PROBING until cooldown_bought(). */
bool cooldown_buy(struct cooldown *c, const struct cooldown_place *p, int64_t now_ms);

/* The purchase that goes out now goes alone: the state is PROBING until it is answered, or
 * COOLDOWN_WAIT_MS are over. */
void cooldown_alone(struct cooldown *c, const struct cooldown_place *p, int64_t now_ms);

/* Note the answer to a purchase sent at sent_ms; code: the worst of its instances. */
enum cooldown_news cooldown_bought(struct cooldown *c, const struct cooldown_place *p,
				   enum provider_code code, int64_t sent_ms, int64_t now_ms);
/* A purchase sent at sent_ms was accepted, and a list shows that it has failed since, for this
 * reason.  That is no answer to a purchase: it says nothing of how others fare. */
enum cooldown_news cooldown_failed_later(struct cooldown *c, const struct cooldown_place *p,
					 enum provider_code code, int64_t sent_ms, int64_t now_ms);
/* A purchase sent at sent_ms was never answered, and only now it is known that it bought nothing.
 * It has failed since sent_ms.  If that makes the place cool down, the pause counts from now and is
 * no shorter than the doubt was: otherwise it would be over when the next purchase is in doubt. */
enum cooldown_news cooldown_doubt_ends(struct cooldown *c, const struct cooldown_place *p,
				       int64_t sent_ms, int64_t now_ms);
/* The place takes its machines back: as if a purchase had been refused for want of capacity. */
enum cooldown_news cooldown_taken_back(struct cooldown *c, const struct cooldown_place *p,
				       int64_t now_ms);
enum provider_code cooldown_worse(enum provider_code a, enum provider_code b);

/* Note the answer to another request: a list, a delete, offers. */
enum cooldown_news cooldown_heard(struct cooldown *c, const char *provider, enum provider_code code,
				  int64_t sent_ms, int64_t now_ms);

/* The provider answers again.  Purchases that failed meanwhile failed like all requests, and say
 * nothing about their places; a place that is paused already stays so. */
void cooldown_back(struct cooldown *c, const char *provider);

/* Forget all about this place, and about its provider as a whole: an admin knows better. */
void cooldown_clear(struct cooldown *c, const struct cooldown_place *p);

struct cooldown_row {         /* borrowed, for the call */
	const char *reason;   /* "capacity", "quota", "failing", "denied" */
	const char *provider; /* "aws" ... */
	const char *place;    /* "p5.48xlarge eu-north-1 a spot"; "": the whole provider */
	struct cooldown_view view;
	uint32_t times; /* refusals in a row */
};
typedef void (*cooldown_fn)(void *ctx, const struct cooldown_row *row);
/* Call fn for each place that is not ready, the latest first. */
void cooldown_each(const struct cooldown *c, int64_t now_ms, cooldown_fn fn, void *ctx);

#endif
