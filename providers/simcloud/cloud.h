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
 * An instance whose process exits by itself is STOPPING for as long as a deleted one.
 * An ended instance stays listed for a while, then it is forgotten; the meter never forgets. */
#ifndef SIMCLOUD_CLOUD_H
#define SIMCLOUD_CLOUD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "providers/simcloud/addr.h"
#include "providers/simcloud/annex.h"
#include "providers/simcloud/events.h"
#include "providers/simcloud/heap.h"
#include "providers/simcloud/meter.h"
#include "providers/simcloud/notice.h"
#include "providers/simcloud/op.h"
#include "providers/simcloud/order.h"
#include "providers/simcloud/rng.h"
#include "providers/simcloud/settings.h"
#include "providers/simcloud/sshkeys.h"
#include "providers/simcloud/token.h"
#include "providers/simcloud/userdata.h"

enum { CLOUD_CONSOLE_MAX = 64 << 10 };

#define CLOUD_NO_BLOCK UINT32_MAX /* too large for an enumerator */

enum cloud_state { CLOUD_PENDING, CLOUD_RUNNING, CLOUD_RECLAIMING, CLOUD_STOPPING, CLOUD_ENDED };

struct cloud_pool { /* instances of one type, zone and market */
	char type[SETTINGS_WORD_SIZE], region[SETTINGS_WORD_SIZE], zone[SETTINGS_WORD_SIZE];
	char currency[4];
	enum market market;
	bool offered;
	int64_t price_nano_h, capacity, used; /* capacity -1: unlimited */
	struct settings_curve curve;
	/* Machines in use on each block of fabric_size; NULL: blocks were never needed. */
	int64_t *blocks;
	uint32_t nblocks, turn;
};

struct cloud_instance {
	uint32_t row; /* row in the meter, which identifies the instance */
	uint32_t addr;
	enum cloud_state state, shown; /* shown: state that lists show until shown_until */
	struct cloud_pool *pool;
	int64_t shown_until, visible_at, address_at;
	int64_t stop_at, reclaim_at; /* -1: not planned; INT64_MAX: never */
	int64_t repair_at;           /* time of a planned repair; likewise */
	bool process;                /* cloud_host has a process to kill */
	const char *why;             /* reason of its end; static string */
	bool faulty;                 /* its host was said to be broken */
	int64_t warned_at;           /* when a rebalance was recommended; -1: never */
	struct order *order;         /* EC2 reservation; NULL: created by the neutral API */
	struct userdata *user_data;  /* NULL: none */
	uint32_t index;              /* index of the instance in its create */
	uint32_t block;              /* block of its pool; CLOUD_NO_BLOCK: none */
	char *fabric;                /* name of the fabric that it asked for; NULL: none */
};

/* Starts and ends the processes of instances; every pointer may be NULL. */
struct cloud_host {
	void *ctx;
	bool (*start)(void *ctx, const struct cloud_instance *i); /* false: the start failed */
	void (*kill)(void *ctx, const struct cloud_instance *i);  /* cloud_exited() follows */
	void (*named)(void *ctx, const struct cloud_instance *i,
		      bool live); /* live: it got its address; else it lost it */
	/* As cloud_console(). */
	char *(*console)(void *ctx, const struct cloud_instance *i);
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
	struct cloud_instance **by_row; /* instances; NULL: forgotten */
	uint32_t cap, first;            /* no instance is kept below first */
	struct cloud_pool **pools;
	size_t npools;
	int64_t start_ms; /* price curves begin at this time */
	struct notices notices;
	struct sshkeys sshkeys;
	struct cloud_fabric { /* a name for machines close to each other */
		char name[SETTINGS_WORD_SIZE], cluster[SETTINGS_WORD_SIZE];
		char region[SETTINGS_WORD_SIZE]; /* "": any */
	} * fabrics;
	size_t nfabrics;
	int64_t live;
	bool closing;        /* cloud_end_all() was called: creates are refused */
	struct annex *annex; /* what single faces keep; NULL: nothing */
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
	const char *fabric; /* put all on the block of this fabric; NULL or "": anywhere */
	const char *image;  /* what they boot; NULL or "": not said */
	enum market market;
	const struct cloud_want *wants;
	size_t nwants;
	uint64_t body_hash; /* the token is valid for this body only */
	size_t body_len;
	struct order *order; /* EC2 reservation that instances keep, or NULL */
};

struct cloud_opts { /* borrowed as long as the cloud lives, except subnet */
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

/* Fill results[0..nwants): the row of the instance, or -(enum code).  Without CODE_OK nothing was
 * created. */
enum code cloud_create(struct cloud *c, const struct cloud_create *rq, int32_t *results,
		       int64_t now);
/* For how many of these instances one zone has room now, up to max, regardless of the quota; -1:
 * the zone does not offer them. */
int64_t cloud_room(struct cloud *c, const struct cloud_create *rq, int64_t max, int64_t now);
/* --- fabric.c --- */
const struct cloud_fabric *fabric_find(const struct cloud *c, const char *name);
/* CODE_OK, CODE_QUOTA, or CODE_TOKEN_MISMATCH: a fabric of that name exists. */
enum code fabric_make(struct cloud *c, const struct cloud_fabric *f);
/* CODE_OK, CODE_NOT_FOUND, or CODE_NOT_YET: an instance is in it. */
enum code fabric_drop(struct cloud *c, const char *name);
/* For how many more instances of that fabric one block of p has room, up to max. */
int64_t fabric_room(const struct cloud *c, const struct cloud_pool *p, const char *fabric,
		    int64_t max);
/* Put a new instance on a block; take an ended one off it. */
void fabric_take(struct cloud *c, struct cloud_instance *i, const char *fabric);
void fabric_leave(struct cloud_instance *i);
struct fabric_path { /* the switches above an instance, the outermost first */
	char at[3][SETTINGS_WORD_SIZE + 16];
	size_t n;
};
void fabric_path(const struct cloud *c, const struct cloud_instance *i, struct fabric_path *out);

/* --- cloud.c --- */
/* The instance of an id, if the API shows it now; else NULL. */
struct cloud_instance *cloud_find(const struct cloud *c, const char *id, int64_t now);
struct cloud_instance *cloud_of_row(const struct cloud *c,
				    uint32_t row); /* including hidden ones */
/* CODE_OK, CODE_NOT_FOUND or CODE_NOT_YET (*retry_ms says when). */
enum code cloud_delete(struct cloud *c, const char *id, int64_t now, int64_t *retry_ms);
/* One page of a list: up to limit instances after row `after` (-1: from the start). */
struct cloud_query {
	const char *cluster; /* "": all */
	const char *region;  /* NULL: all */
	int64_t after, limit, now;
};

typedef void (*cloud_visit_fn)(void *ctx, const struct cloud_instance *i);
/* Call fn for each instance.  Returns the row after which the next page begins, or -1 at the end.
 */
int64_t cloud_list(struct cloud *c, const struct cloud_query *q, cloud_visit_fn fn, void *ctx);

enum cloud_state cloud_shown(const struct cloud_instance *i, int64_t now);
const char *cloud_state_word(enum cloud_state s);

bool cloud_reclaim(struct cloud *c, struct cloud_instance *i, int64_t notice_ms, int64_t now);
/* Announce something other than a reclaim.  An instance to be repaired ends after notice_ms. */
bool cloud_warn(struct cloud *c, struct cloud_instance *i, enum notice_kind kind, int64_t notice_ms,
		int64_t now);
/* Let a planned reclaim or repair begin at once.  false: none is planned. */
bool cloud_hasten(struct cloud *c, struct cloud_instance *i, enum notice_kind kind, int64_t now);
/* Note a report that its host is broken: it is an event, and nothing else.  CODE_OK,
 * CODE_NOT_FOUND, or CODE_INVALID: the instance is stopping or ended. */
enum code cloud_report(struct cloud *c, const char *id, const char *why, int64_t now);
void cloud_kill(struct cloud *c, struct cloud_instance *i, const char *why, int64_t now);
void cloud_exited(struct cloud *c, uint32_t row, int64_t now); /* its process has exited */
void cloud_end_all(struct cloud *c, int64_t now);

/* --- console.c --- */
/* The end of what the instance has written to its console, at most CLOUD_CONSOLE_MAX bytes without
 * a NUL; the caller's. */
char *cloud_console(const struct cloud *c, const struct cloud_instance *i, int64_t now);
/* The last so many lines of a log; < 0: all of it. */
const char *cloud_console_lines(const char *log, int64_t lines);

/* --- stock.c, with cloud_reconf() --- */
struct cloud_pool *cloud_pool_get(struct cloud *c, const char *type, const char *region,
				  const char *zone, enum market market);
/* The price of an instance created now. */
int64_t cloud_price(const struct cloud *c, const struct cloud_pool *p, int64_t now);
/* Since when the price at at_ms is so: simcloud's start at the earliest. */
int64_t cloud_price_began(const struct cloud *c, const struct cloud_pool *p, int64_t at_ms);

/* --- cloud.c --- */
void cloud_tick(struct cloud *c, int64_t now); /* do what is due */
int64_t cloud_next(const struct cloud *c);     /* when something is due; INT64_MAX: never */

#endif
