/* rolls_lab.h - new images on a bare struct engine: time, events, rows of the journal and orders to
 * slurmctld are the test's. */
#ifndef TESTS_ROLLS_LAB_H
#define TESTS_ROLLS_LAB_H

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
#include "jobs/jobs.h"
#include "tests/unit/engine/bare_state.h"

enum { NODES = 8, UP = SLURM_KNOWN | SLURM_CLOUD | SLURM_IDLE };

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_pool pool;
	struct conf_provider provider;
	struct cloud cloud;
	int64_t now;
	struct journal_roll put; /* the last row */
	unsigned puts, commits;
	char event[32], detail[400], node[16]; /* the last one */
	char drained[200];                     /* nodes that were told to go */
	struct engine_warm warm;
	bool open, closed; /* the circuit */
	unsigned rests;
	char image[16];
} F;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return F.now;
}

void engine_turn(struct engine *e)
{
	(void)e;
}

struct journal_tx *engine_tx(struct engine *e)
{
	(void)e;
	return NULL;
}

void engine_commit(struct engine *e)
{
	(void)e;
	F.commits++;
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	(void)snprintf(F.node, sizeof(F.node), "%s", node);
	(void)snprintf(F.event, sizeof(F.event), "%s", type);
	(void)snprintf(F.detail, sizeof(F.detail), "%s", detail);
}

void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev)
{
	const struct node_limits lim = {.boot_ms = 1};
	struct node next = fn->n;

	if (node_step(&next, ev, &lim))
		fleet_set(&e->fleet, fn, &next);
}

void journal_put_roll(struct journal_tx *tx, const struct journal_roll *x)
{
	(void)tx;
	F.put = *x;
	F.puts++;
}

void insist_drain(struct engine *e, struct fleet_name *nm, const char *why)
{
	(void)e;
	assert_string_equal(why, ENGINE_WHY_IMAGE);
	nm->insist.why = why;
	(void)snprintf(F.drained + strlen(F.drained), sizeof(F.drained) - strlen(F.drained), "%s ",
		       nm->name);
}

struct engine_warm engine_warm(const struct engine *e, size_t pool)
{
	(void)e;
	(void)pool;
	return F.warm;
}

bool pool_is_open(const struct engine *e, size_t i)
{
	(void)e;
	(void)i;
	return F.open;
}

void pool_close(struct engine *e, size_t i)
{
	(void)e;
	(void)i;
	F.closed = true;
}

void pool_node_failed(struct engine *e, struct fleet_name *nm, uint64_t gen)
{
	(void)e;
	(void)nm;
	(void)gen;
	F.rests++;
}

/* --- the world ---------------------------------------------------------------------------------
 */

static const struct provider_ops ops = {.name = "test"};

/* A machine of the pool, up and idle since a second ago; with the image b it is a canary. */
static inline struct fleet_node *add(int i, const char *image)
{
	struct fleet_name *nm;
	struct fleet_node *fn;
	struct node n;
	char name[16];

	(void)snprintf(name, sizeof(name), "c%d", i);
	node_init(&n, name, 1, F.now - 1000);
	n.state = NODE_READY;
	(void)snprintf(n.image, sizeof(n.image), "%s", image);
	n.canary = strcmp(image, "b") == 0;
	fn = fleet_add(&F.e.fleet, &n);
	nm = fn->name;
	nm->flags = UP;
	return fn;
}

static inline int setup(void **state)
{
	static char name[] = "h100", provider[] = "cloud", none[] = "";

	(void)state;
	F = (struct fix){.now = 1000000, .image = "a"};
	bare_state(&F.e);
	F.pool = (struct conf_pool){.name = name,
				    .image = F.image,
				    .image_canaries = 1,
				    .image_trial_ms = 600000,
				    .image_at_once = 2,
				    .own = {.name = none, .provider = provider}};
	F.provider = (struct conf_provider){.name = provider};
	F.conf = (struct conf){
		.pools = &F.pool, .npools = 1, .providers = &F.provider, .nproviders = 1};
	F.cloud = (struct cloud){
		.e = &F.e, .conf = &F.provider, .ops = &ops, .caps.flags = PROVIDER_IMAGES};
	F.e.conf = &F.conf;
	F.e.cloud->all = &F.cloud;
	fleet_init(&F.e.fleet, 1);
	rolls_part.at[PART_START](&F.e);
	rolls_part.at[PART_RUN](&F.e);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	rolls_free(&F.e);
	fleet_fini(&F.e.fleet);
	return 0;
}

static inline void reload(const char *image)
{
	(void)snprintf(F.image, sizeof(F.image), "%s", image);
	rolls_part.at[PART_RELOAD](&F.e);
	assert_int_equal(rolls_part.next_ms(&F.e), F.now);
	rolls_part.at[PART_RUN](&F.e);
	assert_true(rolls_part.next_ms(&F.e) == INT64_MAX);
}

/* A snapshot of slurmctld, so much later. */
static inline void snapshot(int64_t ms)
{
	F.now += ms;
	F.e.poll.snapshot_ms = F.now;
	rolls_part.at[PART_RUN](&F.e);
}

static inline struct roll *roll(void)
{
	return rolls_of(&F.e, 0, "");
}

static inline const char *choose(struct fleet_node *fn, bool whole, size_t *n)
{
	struct roll_image image = rolls_choose(&F.e, &fn->n, whole, n);

	assert_int_equal(image.canary, strcmp(image.name, "b") == 0);
	return image.name;
}

/* c8 keeps it from ending at once. */
static inline void begin(void)
{
	if (fleet_find(&F.e.fleet, "c8") == NULL)
		add(8, "a")->name->flags = UP | SLURM_RESERVED;
	reload("b");
	assert_int_equal(roll()->stage, ROLL_CANARY);
	assert_string_equal(F.event, "image-canary");
	assert_string_equal(F.detail, "pool h100: a -> b");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
