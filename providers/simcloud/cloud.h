/* cloud.h - the simulated cloud itself: instances, what they cost, and what happens to them in
 * time.
 *
 * A pure machine: it is told the time, draws from its own seed, and never looks at a socket or a
 * clock.  What an instance really is (nothing, or a process with an address) is behind cloud_host.
 *
 *            create             boot                      delete accepted        stop
 *   (none) ---------> PENDING ---------> RUNNING ------------------------> STOPPING ----> ENDED
 *                        |                  |   reclaim        notice over     |            ^
 *                        |                  +---------> RECLAIMING ------------|------------+
 *                        |                                   |  delete         |            |
 *                        +-----------------------------------+-----------------+   killed: any
 *
 * One whose process exits by itself is STOPPING for as long as one that is deleted.
 * An ended instance stays listed for a while, then it is forgotten; the meter never forgets. */
#ifndef SIMCLOUD_CLOUD_H
#define SIMCLOUD_CLOUD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "providers/simcloud/addr.h"
#include "providers/simcloud/events.h"
#include "providers/simcloud/heap.h"
#include "providers/simcloud/meter.h"
#include "providers/simcloud/notice.h"
#include "providers/simcloud/op.h"
#include "providers/simcloud/order.h"
#include "providers/simcloud/rng.h"
#include "providers/simcloud/settings.h"
#include "providers/simcloud/token.h"
#include "providers/simcloud/userdata.h"

#define CLOUD_NO_BLOCK UINT32_MAX /* no enumerator has room for it */

enum cloud_state { CLOUD_PENDING, CLOUD_RUNNING, CLOUD_RECLAIMING, CLOUD_STOPPING, CLOUD_ENDED };

struct cloud_pool { /* what is sold of one type in one zone and market */
	char type[SETTINGS_WORD_SIZE], region[SETTINGS_WORD_SIZE], zone[SETTINGS_WORD_SIZE];
	char currency[4];
	enum market market;
	bool offered;
	int64_t price_nano_h, capacity, used; /* capacity -1: no end */
	struct settings_curve curve;
	/* Machines in use on each block of fabric_size; NULL: none was ever told apart. */
	int64_t *blocks;
	uint32_t nblocks, turn;
};

struct cloud_instance {
	uint32_t row; /* in the meter: its identity */
	uint32_t addr;
	enum cloud_state state, shown; /* shown: what lists say until shown_until */
	struct cloud_pool *pool;
	int64_t shown_until, visible_at, address_at;
	int64_t stop_at, reclaim_at; /* -1: not to be; INT64_MAX: never */
	int64_t repair_at;           /* likewise */
	bool process;                /* cloud_host has something of it to kill */
	const char *why;             /* it will have ended; static string */
	int64_t warned_at;           /* a rebalance was recommended; -1: never */
	struct order *order;         /* it was made with; NULL: by the neutral API */
	struct userdata *user_data;  /* NULL: none */
	uint32_t index;              /* of it in its create */
	uint32_t block;              /* of its pool it is on; CLOUD_NO_BLOCK: not told apart */
	char *fabric;                /* that it asked for; NULL: none */
};

/* How instances are made real; every pointer may be NULL. */
struct cloud_host {
	void *ctx;
	bool (*start)(void *ctx, const struct cloud_instance *i); /* false: it cannot start */
	void (*kill)(void *ctx, const struct cloud_instance *i);  /* cloud_exited() follows */
	void (*named)(void *ctx, const struct cloud_instance *i,
		      bool live); /* has address, or lost it */
};

struct cloud {
	const struct settings *conf; /* may change between calls; then call cloud_reconf() */
	struct meter *meter;
	struct events *events;
	struct cloud_host host;
	struct addr_pool addrs;
	struct tokens tokens;
	struct heap due;
	struct rng rng;
	struct cloud_instance **by_row; /* NULL: forgotten */
	uint32_t cap, first;            /* no instance is kept below first */
	struct cloud_pool **pools;
	size_t npools;
	int64_t start_ms; /* prices change from here on */
	struct notices notices;
	struct cloud_fabric { /* a name for machines that are to be close to each other */
		char name[SETTINGS_WORD_SIZE], cluster[SETTINGS_WORD_SIZE];
		char region[SETTINGS_WORD_SIZE]; /* "": any */
	} * fabrics;
	size_t nfabrics;
	int64_t live;
	bool closing; /* cloud_end_all() was called: nothing more is made */
};

struct cloud_want {
	char node[SETTINGS_WORD_SIZE];
	int64_t gen, group; /* group: instances of one non-zero group come whole or not at all */
	enum code refuse;   /* not CODE_OK: a fault rule refuses it, and with it its group */
	struct userdata *user_data; /* NULL: none */
};

struct cloud_create {      /* borrowed */
	const char *token; /* "": none */
	const char *cluster, *type, *region, *zone;
	const char
		*fabric; /* all on one block, that of its other instances; NULL or "": anywhere */
	enum market market;
	const struct cloud_want *wants;
	size_t nwants;
	uint64_t body_hash; /* what the token is good for */
	size_t body_len;
	struct order *order; /* that instances remember, or NULL */
};

struct cloud_opts { /* borrowed for as long as the cloud lives, but for subnet */
	const struct settings *conf;
	struct meter *meter;
	struct events *events;
	const char *subnet;
	uint64_t seed;
	int64_t start_ms;
};

int cloud_init(struct cloud *c, const struct cloud_opts *o, struct err *e);
void cloud_fini(struct cloud *c);
void cloud_reconf(struct cloud *c);

/* Fill results[0..nwants): the row of the instance, or -(enum code).  Anything but CODE_OK: nothing
 * happened. */
enum code cloud_create(struct cloud *c, const struct cloud_create *rq, int32_t *results,
		       int64_t now);
/* How many of these one zone has room for now, up to max, whatever the quota; -1: they are not sold
 * here. */
int64_t cloud_room(struct cloud *c, const struct cloud_create *rq, int64_t max, int64_t now);
/* --- fabric.c --- */
const struct cloud_fabric *fabric_find(const struct cloud *c, const char *name);
/* CODE_OK, CODE_QUOTA, or CODE_TOKEN_MISMATCH: there is one of that name. */
enum code fabric_make(struct cloud *c, const struct cloud_fabric *f);
/* CODE_OK, CODE_NOT_FOUND, or CODE_NOT_YET: an instance is in it. */
enum code fabric_drop(struct cloud *c, const char *name);
/* For how many more of that fabric one block of p has room, up to max. */
int64_t fabric_room(const struct cloud *c, const struct cloud_pool *p, const char *fabric,
		    int64_t max);
/* Put an instance that is being made onto a block; and it has ended. */
void fabric_take(struct cloud *c, struct cloud_instance *i, const char *fabric);
void fabric_leave(struct cloud_instance *i);

/* --- cloud.c --- */
/* The instance of an id, if the API would admit to it; NULL otherwise. */
struct cloud_instance *cloud_find(const struct cloud *c, const char *id, int64_t now);
struct cloud_instance *cloud_of_row(const struct cloud *c, uint32_t row); /* also hidden ones */
/* CODE_OK, CODE_NOT_FOUND or CODE_NOT_YET (*retry_ms says when). */
enum code cloud_delete(struct cloud *c, const char *id, int64_t now, int64_t *retry_ms);
/* One page of a list: up to limit instances after row `after` (-1: from the start). */
struct cloud_query {
	const char *cluster; /* "": all */
	const char *region;  /* NULL: all */
	int64_t after, limit, now;
};

typedef void (*cloud_visit_fn)(void *ctx, const struct cloud_instance *i);
/* Calls fn for each.  Returns the row to go on after, or -1 when that was all. */
int64_t cloud_list(struct cloud *c, const struct cloud_query *q, cloud_visit_fn fn, void *ctx);

enum cloud_state cloud_shown(const struct cloud_instance *i, int64_t now);
const char *cloud_state_word(enum cloud_state s);

bool cloud_reclaim(struct cloud *c, struct cloud_instance *i, int64_t notice_ms, int64_t now);
/* Tell of something else: kind is none of a reclaim.  What is to be repaired ends after notice_ms.
 */
bool cloud_warn(struct cloud *c, struct cloud_instance *i, enum notice_kind kind, int64_t notice_ms,
		int64_t now);
/* What is planned for it, a reclaim or a repair, may begin at once.  false: there is none. */
bool cloud_hasten(struct cloud *c, struct cloud_instance *i, enum notice_kind kind, int64_t now);
/* Somebody says that its host is broken: an event, and nothing else.  CODE_OK, CODE_NOT_FOUND, or
 * CODE_INVALID: it is on its way out. */
enum code cloud_report(struct cloud *c, const char *id, const char *why, int64_t now);
void cloud_kill(struct cloud *c, struct cloud_instance *i, const char *why, int64_t now);
void cloud_exited(struct cloud *c, uint32_t row, int64_t now); /* the process is no more */
void cloud_end_all(struct cloud *c, int64_t now);

struct cloud_pool *cloud_pool_get(struct cloud *c, const char *type, const char *region,
				  const char *zone, enum market market);
/* What an instance costs that is made now. */
int64_t cloud_price(const struct cloud *c, const struct cloud_pool *p, int64_t now);

void cloud_tick(struct cloud *c, int64_t now); /* do what is due */
int64_t cloud_next(const struct cloud *c);     /* when something is; INT64_MAX: never */

#endif
