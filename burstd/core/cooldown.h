/* cooldown.h - market places that have nothing to sell are left alone for a while.
 *
 * What one job was refused, the next would be too: all pools and jobs share what is known of a
 * place.  There are four things to know, and they are never mixed up:
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
 * Being throttled now and then is none of them: that is the token bucket's business.
 *
 *        refused                      time is over, or the first purchase after it did not tell
 *   open -------> closed until t ----------------------------------------------> half-open
 *    ^  ^           ^                                                              |
 *    |  |           +-- refused, twice as long -------------- one purchase --------+
 *    |  +---------------- it was bought ---------------------------+
 *    +-- nobody tried for an hour (capacity, quota, failing)
 *
 * Many creates are on the wire when a place runs out, and all of them come back refused: what was
 * sent before a refusal was known belongs to it, counts as nothing when refused too, and opens
 * nothing when it was bought.
 *
 * In memory only: after a restart each place costs one refused call.  Time is an argument; where it
 * goes back (F57) what is noted here goes back with it. */
#ifndef BURSTD_COOLDOWN_H
#define BURSTD_COOLDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "core/provider.h"

enum {
	COOLDOWN_CAPACITY_MS = 60000,
	COOLDOWN_CAPACITY_MAX_MS = 900000,
	COOLDOWN_QUOTA_MS = 900000,
	COOLDOWN_QUOTA_MAX_MS = 14400000,
	COOLDOWN_DENIED_MS = 300000, /* a purchase was denied: until one is tried again */
	COOLDOWN_DENIED_MAX_MS = 3600000,
	COOLDOWN_PROBE_MS = 900000,   /* a purchase that never told what became of it */
	COOLDOWN_WAIT_MS = 30000,     /* for the answer to it others may wait, from its begin */
	COOLDOWN_FORGET_MS = 3600000, /* after its end, without a purchase */
	/* Failures that are further apart are not one trouble; a provider that throttles may say:
	 * not before a quarter of an hour (limit.h). */
	COOLDOWN_RUN_MS = 1200000,
	COOLDOWN_PLACES_MAX = 4096, /* remembered; the one that ends first is forgotten */
};

struct cooldown_place { /* borrowed; zone may be "" */
	const char *provider, *type, *region, *zone;
	enum provider_market market;
	/* The first pause for want of capacity; all others are in proportion.  0: as below. */
	int64_t first_ms;
	const char *fabric;  /* it asks for machines of one fabric: this one; NULL: anywhere */
	int64_t patience_ms; /* purchases that fail for so long close it; 0: they never do */
	int64_t heard_ms;    /* when the provider answered last, whatever it was asked */
	int64_t pause_ms; /* RATE: for so long it will not be asked again, as it said; 0: not said
			   */
};

struct cooldown {
	struct map by_key;
	struct cooldown_entry *first;
	size_t n;
	int64_t seen_ms; /* the latest time that was given */
};

/* From harmless to grave. */
enum cooldown_state {
	COOLDOWN_OPEN,
	COOLDOWN_HALF,    /* one purchase may be tried: cooldown_buy() */
	COOLDOWN_PROBING, /* it is being tried */
	COOLDOWN_CAPACITY,
	COOLDOWN_FAILING,
	COOLDOWN_QUOTA,
	COOLDOWN_DENIED,
};

struct cooldown_view {
	enum cooldown_state state; /* the gravest of what is known of a place */
	/* CAPACITY, FAILING, QUOTA, DENIED: till then; 0: till a call succeeds.  PROBING: its
	 * answer should be there by then. */
	int64_t until_ms;
};

/* What an answer changed, for the event and the alarm. */
enum cooldown_news {
	COOLDOWN_SAME,
	COOLDOWN_AGAIN,    /* it may be bought from again */
	COOLDOWN_COOLS,    /* no capacity */
	COOLDOWN_FAILS,    /* no answers */
	COOLDOWN_NO_QUOTA, /* an admin should know */
	COOLDOWN_OFF,      /* the provider: an admin must act */
};

void cooldown_init(struct cooldown *c);
void cooldown_fini(struct cooldown *c);

struct cooldown_view cooldown_look(struct cooldown *c, const struct cooldown_place *p,
				   int64_t now_ms);

/* A purchase is about to be sent there.  false: it must not; nothing changed.  true: where it is
 * the one that may be tried, it is now being tried, until cooldown_bought(). */
bool cooldown_buy(struct cooldown *c, const struct cooldown_place *p, int64_t now_ms);

/* What became of a purchase sent at sent_ms.  Of an answer about several instances: the worst. */
enum cooldown_news cooldown_bought(struct cooldown *c, const struct cooldown_place *p,
				   enum provider_code code, int64_t sent_ms, int64_t now_ms);
/* A purchase sent at sent_ms was never answered and has bought nothing, as is known only now.  It
 * has failed for so long, repeated or not.  If such purchases close the place its pause counts from
 * now, and is no shorter than the doubt was: else whoever was in doubt would find it over, and be
 * so again. */
enum cooldown_news cooldown_doubt_ends(struct cooldown *c, const struct cooldown_place *p,
				       int64_t sent_ms, int64_t now_ms);
/* It takes back what it has sold: as if a purchase had been refused for want of capacity. */
enum cooldown_news cooldown_taken_back(struct cooldown *c, const struct cooldown_place *p,
				       int64_t now_ms);
enum provider_code cooldown_worse(enum provider_code a, enum provider_code b);

/* What became of any other call to a provider: a list, a delete. */
enum cooldown_news cooldown_heard(struct cooldown *c, const char *provider, enum provider_code code,
				  int64_t sent_ms, int64_t now_ms);

/* The provider answers again.  Purchases that had failed until then failed as all else did, and say
 * nothing of their places; one that is closed already stays so. */
void cooldown_back(struct cooldown *c, const char *provider);

/* An admin knows better: forget all there is of this place, its provider included. */
void cooldown_clear(struct cooldown *c, const struct cooldown_place *p);

struct cooldown_row {         /* borrowed, for the call */
	const char *reason;   /* "capacity", "quota", "failing", "denied" */
	const char *provider; /* "aws" ... */
	const char *place;    /* ... and "p5.48xlarge eu-north-1 a spot"; "": all of it */
	struct cooldown_view view;
	uint32_t times; /* one after the other */
};
typedef void (*cooldown_fn)(void *ctx, const struct cooldown_row *row);
/* All that is not open, the latest first. */
void cooldown_each(const struct cooldown *c, int64_t now_ms, cooldown_fn fn, void *ctx);

#endif
