/* paused_pools.h - pools on a bare struct engine. */
#ifndef TESTS_PAUSED_POOLS_H
#define TESTS_PAUSED_POOLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "tests/unit/engine/bare_state.h"

enum { POSTED_MAX = 8 };

static struct fix {
	struct cloud cloud;
	struct engine e;
	struct conf conf;
	struct conf_pool pools[3];
	struct conf_offer offers[2]; /* of each */
	const char *offer;           /* that the next node which fails is of */
	int64_t now;
	bool low;                     /* on disk */
	const struct cloud *unlisted; /* that keeps pools from buying */
	const char *name;             /* of the next node that fails */
	uint64_t gen;
	char down[200]; /* what slurmctld was told */
	unsigned turns, hurries;
	/* the last event */
	char type[32], detail[512];
	unsigned events;
	/* the last row */
	char row[32];
	struct journal_pool put;
	unsigned rows;
	/* what became of nodes */
	char posted[POSTED_MAX][16];
	enum node_reason reasons[POSTED_MAX];
	size_t nposted;
} F;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return F.now;
}

const struct cloud *doubt_unlisted(const struct engine *e, uint32_t pool)
{
	(void)e;
	(void)pool;
	return F.unlisted;
}

void engine_turn(struct engine *e)
{
	(void)e;
	F.turns++;
}

void engine_at(struct engine *e, enum part_moment moment)
{
	(void)e;
	assert_int_equal(moment, PART_PAUSE);
	F.hurries++;
}

struct journal_tx *engine_tx(struct engine *e)
{
	(void)e;
	return NULL;
}

void engine_commit(struct engine *e)
{
	(void)e;
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)node;
	(void)gen;
	(void)snprintf(F.type, sizeof(F.type), "%s", type);
	(void)snprintf(F.detail, sizeof(F.detail), "%s", detail);
	F.events++;
}

void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev)
{
	(void)e;
	assert_int_equal(ev->type, NODE_EV_REFUSED);
	assert_true(F.nposted < POSTED_MAX);
	(void)snprintf(F.posted[F.nposted], sizeof(F.posted[0]), "%.15s", fn->n.name);
	F.reasons[F.nposted++] = ev->reason;
}

void journal_put_pool(struct journal_tx *tx, const struct journal_pool *p)
{
	(void)tx;
	(void)snprintf(F.row, sizeof(F.row), "%s", p->name);
	F.put = *p;
	F.rows++;
}

struct journal_room journal_look(struct journal *j)
{
	(void)j;
	return (struct journal_room){.low = F.low};
}

void slurm_down(struct slurm *s, const char *node, const char *reason)
{
	(void)s;
	(void)snprintf(F.down, sizeof(F.down), "%s: %s", node, reason);
}

static inline int setup(void **state)
{
	static char names[3][8] = {"alpha", "beta", "gamma"}, here[] = "here", there[] = "there";

	(void)state;
	F = (struct fix){.now = INT64_C(1800000000000), .name = "c6", .offer = "here"};
	bare_state(&F.e);
	F.offers[0].name = here;
	F.offers[1].name = there;
	for (size_t i = 0; i < 3; i++)
		F.pools[i] = (struct conf_pool){.name = names[i], .offers = F.offers, .noffers = 2};
	F.conf = (struct conf){.pools = F.pools, .npools = 2, .state_dir = names[0]};
	F.e.conf = &F.conf;
	F.e.cloud->all = &F.cloud;
	F.e.slice.write = F.e.left = 500;
	fleet_init(&F.e.fleet, 3);
	pool_part.at[PART_INIT](&F.e);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	free(F.e.buy->pools);
	fleet_fini(&F.e.fleet);
	return 0;
}

/* A node of a pool, bought ms ago, is useless. */
static inline void fails(uint32_t pool, int64_t ms)
{
	struct node n = {.pool = pool, .wanted_ms = F.now - ms, .gen = ++F.gen};

	(void)snprintf(n.name, sizeof(n.name), "%s", F.name);
	(void)snprintf(n.offer, sizeof(n.offer), "%s", F.offer);
	pool_failed(&F.e, &n, "registered wrong: gres/gpu count reported lower than configured");
	F.name = "c7";
}

/* Two waves, a minute apart. */
static inline void close_pool(uint32_t pool)
{
	F.name = "c6";
	fails(pool, 1000);
	F.now += 60000;
	fails(pool, 1000);
}

static inline struct fleet_node *want(const char *name, uint32_t pool)
{
	struct node n;

	node_init(&n, name, 1, F.now);
	n.pool = pool;
	(void)fleet_name(&F.e.fleet, name, pool);
	return fleet_add(&F.e.fleet, &n);
}

static inline void load(const char *name, struct breaker b, bool paused)
{
	pool_load(&F.e, &(struct journal_pool){.name = name,
					       .paused = paused,
					       .breaker = b,
					       .by = "uid 7",
					       .paused_ms = 4711});
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
