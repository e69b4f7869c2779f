/* test_pool.c - pools that an admin paused, or whose machines come up wrong: what is written down,
 * what people read, and what becomes of it over a reload and a restart.
 *
 * On a bare struct engine: the clock, the journal and the events are the test's. */
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

static int setup(void **state)
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
	pool_init(&F.e);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(F.e.buy->pools);
	fleet_fini(&F.e.fleet);
	return 0;
}

/* A node of a pool, bought ms ago, is useless. */
static void fails(uint32_t pool, int64_t ms)
{
	struct node n = {.pool = pool, .wanted_ms = F.now - ms, .gen = ++F.gen};

	(void)snprintf(n.name, sizeof(n.name), "%s", F.name);
	(void)snprintf(n.offer, sizeof(n.offer), "%s", F.offer);
	pool_failed(&F.e, &n, "registered wrong: gres/gpu count reported lower than configured");
	F.name = "c7";
}

/* Two waves, a minute apart. */
static void close_pool(uint32_t pool)
{
	F.name = "c6";
	fails(pool, 1000);
	F.now += 60000;
	fails(pool, 1000);
}

static void works(struct fleet_name *nm, const char *offer)
{
	struct node n = {.pool = 0};

	(void)snprintf(n.offer, sizeof(n.offer), "%s", offer);
	pool_works(&F.e, nm, &n);
}

static struct fleet_node *want(const char *name, uint32_t pool)
{
	struct node n;

	node_init(&n, name, 1, F.now);
	n.pool = pool;
	(void)fleet_name(&F.e.fleet, name, pool);
	return fleet_add(&F.e.fleet, &n);
}

/* --- what people read --------------------------------------------------------------------------
 */

static void test_closed(void **state)
{
	(void)state;
	fails(1, 1000);
	assert_null(engine_blocked(&F.e, 1)); /* the first is bad luck, and written down */
	assert_int_equal(F.events, 0);
	assert_int_equal(F.rows, 1);
	fails(1, 2000); /* the rest of its gang */
	assert_int_equal(F.rows, 1);
	F.now += 60000;
	fails(1, 1000);
	assert_string_equal(F.type, "pool-blocked");
	assert_string_equal(F.detail,
			    "pool beta: its nodes come up wrong: c7: registered wrong: "
			    "gres/gpu count reported lower than configured; buys nothing until "
			    "2027-01-15T08:06:00Z");
	assert_string_equal(F.row, "beta");
	assert_int_equal(F.put.breaker.waves, 2);
	assert_int_equal(F.put.breaker.until_ms, F.now + BREAKER_MS);
	assert_false(F.put.paused);
	assert_null(engine_blocked(&F.e, 0)); /* the other one is open */
	F.now += BREAKER_MS;
	assert_null(engine_blocked(&F.e, 1));
}

/* One broken machine, and seven others that are fine. */
static void test_one_node_alone(void **state)
{
	struct fleet_name *c6 = fleet_name(&F.e.fleet, "c6", 0);

	(void)state;
	for (int i = 0; i < 4; i++) {
		F.name = "c6";
		fails(0, 1000);
		F.now += 3 * BREAKER_MAX_MS;
	}
	assert_null(engine_blocked(&F.e, 0));
	assert_null(pool_probes(&F.e, 0));
	assert_int_equal(c6->fails, 4);
	fails(0, 1000); /* c7 */
	assert_non_null(engine_blocked(&F.e, 0));
	F.now += BREAKER_MAX_MS;
	F.name = "c6";
	fails(0, 1000); /* from now on it counts too */
	assert_int_equal(F.put.breaker.waves, 3);
}

static void test_a_node_rests(void **state)
{
	static const int64_t rests[] = {BREAKER_REST_MS, BREAKER_MS, 2 * BREAKER_MS};
	struct fleet_name *c6 = fleet_name(&F.e.fleet, "c6", 0);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		pool_node_failed(&F.e, c6, i + 1);
		pool_node_failed(&F.e, c6, i + 1); /* seen again */
		assert_int_equal(c6->fails, i + 1);
		assert_int_equal(c6->rests_ms, F.now + rests[i]);
		pool_rested(&F.e);
		assert_int_not_equal(c6->rests_ms, 0);
		F.now += rests[i];
		pool_rested(&F.e);
		assert_int_equal(c6->rests_ms, 0);
	}
	pool_node_failed(&F.e, c6, 9);
	pool_rest(&F.e, c6);
	assert_string_equal(F.type, "rests");
	assert_string_equal(F.down,
			    "c6: burstd: it did not come up; rests until 2027-01-15T08:36:00Z");
	works(c6, "here");
	assert_int_equal(c6->fails + c6->rests_ms, 0);
}

/* When a closed pool opens again, one purchase is tried, not one for each job that waits. */
static void test_probes(void **state)
{
	struct fleet_node *fn, *other;
	struct node n;

	(void)state;
	fails(0, 1000);
	assert_null(pool_probes(&F.e, 0)); /* bad luck closes nothing */
	close_pool(0);
	assert_null(pool_probes(&F.e, 0)); /* nothing at all is bought */
	assert_int_equal(pool_blocked_because(&F.e, 0), NODE_BECAUSE_BOOT);
	F.now += BREAKER_MS;
	assert_non_null(pool_probes(&F.e, 0));
	assert_int_equal(pool_blocked_because(&F.e, 0), NODE_BECAUSE_BOOT); /* of those that wait */
	F.cloud.conf = &(const struct conf_provider){.name = (char *)(uintptr_t) "far"};
	F.unlisted = &F.cloud; /* that says more */
	assert_int_equal(pool_blocked_because(&F.e, 0), NODE_BECAUSE_UNREACHABLE);
	F.unlisted = NULL;
	assert_false(pool_is_probed(&F.e, 0));
	fn = want("a1", 0);
	assert_true(pool_is_probed(&F.e, 0));
	assert_int_equal(pool_tried_for(&F.e, 0), 0); /* nobody knows for which job */
	n = fn->n;
	n.job = 7;
	fleet_set(&F.e.fleet, fn, &n);
	assert_int_equal(pool_tried_for(&F.e, 0), 7);
	other = want("a2", 0);
	n = other->n;
	n.state = NODE_BOOTING;
	n.job = 8;
	fleet_set(&F.e.fleet, other, &n);
	assert_int_equal(pool_tried_for(&F.e, 0), 0);
	n.job = 7;
	fleet_set(&F.e.fleet, other, &n);
	assert_int_equal(pool_tried_for(&F.e, 0), 7);
	assert_int_equal(pool_tried_for(&F.e, 1), 0);
	n.state = NODE_READY;
	fleet_set(&F.e.fleet, other, &n);
	n = fn->n;
	n.state = NODE_READY;
	fleet_set(&F.e.fleet, fn, &n);
	assert_false(pool_is_probed(&F.e, 0));
	assert_int_equal(pool_tried_for(&F.e, 0), 0);
}

static void test_works(void **state)
{
	struct fleet_name *nm = fleet_name(&F.e.fleet, "c7", 0);

	(void)state;
	close_pool(0);
	F.rows = 0;
	works(nm, "here");
	assert_null(engine_blocked(&F.e, 0));
	assert_null(pool_probes(&F.e, 0));
	assert_int_equal(F.rows, 1);
	assert_int_equal(F.put.breaker.waves, 0);
	works(nm, "here"); /* nothing to forget: nothing to write */
	assert_int_equal(F.rows, 1);
}

/* Elsewhere is tried first, and still is when the pool opens again; what was bought together counts
 * once. */
static void test_elsewhere_first(void **state)
{
	static const int64_t rests[] = {BREAKER_MS, 2 * BREAKER_MS, 4 * BREAKER_MS};
	struct fleet_name *nm = fleet_name(&F.e.fleet, "c7", 0);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		fails(0, 1000);
		F.now += 500;
		fails(0, 1000);
		assert_int_equal(pool_wrong_until(&F.e, 0, 0), F.now - 500 + rests[i]);
		assert_int_equal(pool_wrong_until(&F.e, 0, 1), 0);
		assert_int_equal(pool_wrong_until(&F.e, 1, 0), 0); /* images are a pool's */
		F.now += rests[i] - 501;
		assert_int_not_equal(pool_wrong_until(&F.e, 0, 0), 0);
		F.now++;
		assert_int_equal(pool_wrong_until(&F.e, 0, 0), 0);
	}
	F.offer = "there";
	fails(0, 1000);
	assert_int_equal(pool_wrong_until(&F.e, 0, 1), F.now + BREAKER_MS);
	works(nm, "there");
	assert_int_equal(pool_wrong_until(&F.e, 0, 1), 0);
	F.now += 2000;
	F.offer = "here";
	fails(0, 1000);
	assert_int_equal(pool_wrong_until(&F.e, 0, 0), F.now + 8 * BREAKER_MS);
	F.offer = "gone"; /* from the configuration */
	fails(0, 1000);
	works(nm, "gone");
	assert_int_not_equal(pool_wrong_until(&F.e, 0, 0), 0);
	F.now -= 2 * BREAKER_MAX_MS; /* F57 */
	assert_int_equal(pool_wrong_until(&F.e, 0, 0), 0);
}

/* An admin has mended something, or the rungs have changed places. */
static void test_elsewhere_is_forgotten(void **state)
{
	(void)state;
	fails(0, 1000);
	assert_int_equal(engine_pause(&F.e, "alpha", false, "root", NULL), 0);
	assert_int_equal(pool_wrong_until(&F.e, 0, 0), 0);
	F.now += 2000;
	fails(0, 1000);
	assert_int_equal(pool_wrong_until(&F.e, 0, 0), F.now + BREAKER_MS);
	pool_set_cost(&F.e, 0, 0, 7);
	pool_grow(&F.e, 2, 2);
	assert_int_equal(pool_wrong_until(&F.e, 0, 0), 0);
	assert_int_equal(pool_cost(&F.e, 0, 0), 0); /* it may be another offer's */
}

static void test_admin(void **state)
{
	int64_t since_ms;

	(void)state;
	close_pool(0);
	assert_int_equal(engine_pause(&F.e, "alpha", true, "root", NULL), 0);
	assert_string_equal(engine_blocked(&F.e, 0), "paused by an admin");
	assert_true(F.put.paused && F.put.breaker.waves == 2);
	assert_string_equal(engine_paused_by(&F.e, 0, &since_ms), "root");
	assert_true(since_ms == F.now && F.put.paused_ms == F.now);
	assert_string_equal(F.put.by, "root");
	assert_true(F.turns > 0);   /* what was not sent yet is not sent */
	assert_true(F.hurries > 0); /* nor is anything kept warm there */
	assert_int_equal(engine_pause(&F.e, NULL, false, "uid 7", NULL), 0);
	assert_null(engine_blocked(&F.e, 0)); /* its machines are forgiven too */
	assert_true(!F.put.paused && F.put.breaker.waves == 0);
	assert_string_equal(engine_paused_by(&F.e, 0, &since_ms), "");
	assert_true(since_ms == 0 && F.put.paused_ms == 0 && F.put.by[0] == '\0');
	assert_string_equal(F.detail, "pool alpha, ordered by uid 7");
	F.events = 0;
	close_pool(1);
	assert_int_equal(engine_pause(&F.e, "beta", false, "root", NULL), 0);
	assert_null(engine_blocked(&F.e, 1)); /* it was not paused: that is forgiven */
	assert_int_equal(F.events, 2);
}

/* --- reload and restart ------------------------------------------------------------------------
 */

static void test_more_pools(void **state)
{
	(void)state;
	close_pool(1);
	assert_int_equal(engine_pause(&F.e, "alpha", true, "root", NULL), 0);
	F.conf.npools = 3;
	pool_grow(&F.e, 2, 3);
	assert_true(engine_paused(&F.e, 0));
	assert_non_null(strstr(engine_blocked(&F.e, 1), "c7: registered wrong"));
	assert_false(engine_paused(&F.e, 2));
	assert_null(engine_blocked(&F.e, 2));
	close_pool(2);
	assert_non_null(engine_blocked(&F.e, 2));
}

static void load(const char *name, struct breaker b, bool paused)
{
	pool_load(&F.e, &(struct journal_pool){.name = name,
					       .paused = paused,
					       .breaker = b,
					       .by = "uid 7",
					       .paused_ms = 4711});
}

static void test_restart(void **state)
{
	int64_t since_ms;

	(void)state;
	load("gone", (struct breaker){.waves = 9, .until_ms = INT64_MAX}, true); /* not ours now */
	load("beta", (struct breaker){2, F.now - 1000, F.now + 240000}, false);
	load("alpha", (struct breaker){0}, true);
	assert_string_equal(engine_blocked(&F.e, 1),
			    "its nodes come up wrong; buys nothing until 2027-01-15T08:04:00Z");
	assert_true(engine_paused(&F.e, 0));
	assert_string_equal(engine_paused_by(&F.e, 0, &since_ms), "uid 7");
	assert_int_equal(since_ms, 4711);
	fails(1, 2000); /* bought before the last failure: of the same wave */
	assert_int_equal(F.rows, 0);
}

/* F57: a clock that went back by years does not close a pool for years, nor keep it from being
 * closed. */
static void test_clock_back(void **state)
{
	const int64_t year = INT64_C(365) * 86400 * 1000;

	(void)state;
	load("alpha", (struct breaker){2, F.now + year, F.now + year + BREAKER_MS}, false);
	assert_non_null(engine_blocked(&F.e, 0));
	F.now += BREAKER_MAX_MS;
	assert_null(engine_blocked(&F.e, 0));
	fails(0, 1000);
	assert_non_null(engine_blocked(&F.e, 0));
	assert_int_equal(F.put.breaker.waves, 3);
}

/* --- what is wanted and was not sent -----------------------------------------------------------
 */

static void test_refuse_wanted(void **state)
{
	struct fleet_node *busy, *paused, *closed;

	(void)state;
	F.e.poll.snapshot_ms = 1;
	(void)want("b1", 1);
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 0); /* all pools are open */
	paused = want("a1", 0);
	busy = want("a2", 0);
	busy->busy = true;
	assert_int_equal(engine_pause(&F.e, "alpha", true, "root", NULL), 0);
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 1);
	assert_string_equal(F.posted[0], "a1");
	assert_int_equal(F.reasons[0], NODE_BECAUSE_OPERATOR);
	assert_string_equal(pool_refusal(&F.e, &paused->n), "pool alpha: paused by an admin");
	assert_int_equal(engine_pause(&F.e, "alpha", false, "root", NULL), 0);
	close_pool(1);
	closed = want("b2", 1);
	F.nposted = 0;
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 2);
	assert_int_equal(F.reasons[0], NODE_BECAUSE_BOOT);
	assert_non_null(strstr(pool_refusal(&F.e, &closed->n), "pool beta: its nodes come up wro"));
	assert_null(pool_refusal(&F.e, &paused->n));
}

/* What was wanted before we started may be up by now: slurmctld says so first. */
static void test_refuse_after_a_look(void **state)
{
	(void)state;
	(void)want("a1", 0);
	F.e.started_ms = F.now;
	load("alpha", (struct breaker){0}, true);
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 0);
	F.e.poll.snapshot_ms = F.now + 1;
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 1);
}

/* F58: what it has is not known since the journal was lost: nothing is bought, and people are told
 * whose list it is.  An admin's word, and what comes up wrong, say more. */
static void test_refuse_for_what_is_not_listed(void **state)
{
	const struct conf_provider provider = {.name = (char *)(uintptr_t) "far"};
	const struct cloud far = {.conf = &provider};

	(void)state;
	F.e.poll.snapshot_ms = 1;
	(void)want("a1", 0);
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 0);
	F.unlisted = &far;
	assert_non_null(strstr(pool_blocked(&F.e, 0), "far has not listed its instances"));
	assert_string_equal(engine_blocked(&F.e, 0), pool_blocked(&F.e, 0));
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 1);
	assert_int_equal(F.reasons[0], NODE_BECAUSE_UNREACHABLE);
	assert_int_equal(engine_pause(&F.e, "alpha", true, "root", NULL), 0);
	assert_int_equal(pool_blocked_because(&F.e, 0), NODE_BECAUSE_OPERATOR);
	assert_null(strstr(pool_blocked(&F.e, 0), "far"));
}

static void test_refuse_for_the_disk(void **state)
{
	(void)state;
	F.e.poll.snapshot_ms = 1;
	(void)want("a1", 0);
	F.low = true;
	assert_false(pool_look(&F.e));
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 1);
	assert_int_equal(F.reasons[0], NODE_BECAUSE_DISK);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* --- what providers take (F41) -----------------------------------------------------------------
 */

static void lose(const char *name, enum node_state at, enum node_reason why, int64_t since_ms)
{
	struct node n;

	node_init(&n, name, 1, since_ms);
	n.pool = 1;
	n.state = at;
	n.reason = why;
	n.release = at == NODE_DELETING;
	(void)snprintf(n.instance, sizeof(n.instance), "i-1");
	pool_lost(&F.e, &n);
}

static void test_what_a_provider_takes_is_counted_for_an_hour(void **state)
{
	const struct engine_losses *l;

	(void)state;
	lose("c1", NODE_DELETING, NODE_BECAUSE_SUSPENDED, F.now);
	lose("c1", NODE_DRAINING, NODE_BECAUSE_NONE, F.now);
	lose("c1", NODE_GONE, NODE_BECAUSE_OPERATOR, F.now);
	lose("c1", NODE_GONE, NODE_BECAUSE_STOPPED, F.now);   /* nobody took it (F10) ... */
	lose("c1", NODE_DELETING, NODE_BECAUSE_ENDED, F.now); /* ... nor what goes for that */
	lose("c1", NODE_GONE, NODE_BECAUSE_RECLAIMED, F.now - 3600001);
	assert_null(engine_losses(&F.e, 1));
	lose("c1", NODE_DELETING, NODE_BECAUSE_RECLAIMED, F.now);
	lose("c2", NODE_GONE, NODE_BECAUSE_ENDED, F.now - 1000); /* told later */
	l = engine_losses(&F.e, 1);
	assert_non_null(l);
	assert_int_equal(l->n, 2);
	assert_int_equal(l->last_ms, F.now);
	assert_string_equal(l->node, "c1");
	assert_int_equal(l->why, NODE_BECAUSE_RECLAIMED);
	assert_null(engine_losses(&F.e, 0));
	F.now += 3600000;
	assert_non_null(engine_losses(&F.e, 1));
	F.now++;
	assert_null(engine_losses(&F.e, 1));
	lose("c3", NODE_GONE, NODE_BECAUSE_MAINTENANCE, F.now);
	assert_int_equal(engine_losses(&F.e, 1)->n, 1); /* the others are an old story */
}

/* A restart finds them in the rows. */
static void test_what_was_taken_before_a_restart_is_counted(void **state)
{
	struct node n;

	(void)state;
	node_init(&n, "c1", 1, F.now - 60000);
	n.state = NODE_GONE;
	n.reason = NODE_BECAUSE_RECLAIMED;
	(void)fleet_add(&F.e.fleet, &n); /* its create was never answered: nothing was taken */
	n.gen = 2;
	(void)snprintf(n.instance, sizeof(n.instance), "i-1");
	(void)fleet_add(&F.e.fleet, &n);
	n.gen = 3;
	n.state = NODE_READY;
	n.reason = NODE_BECAUSE_NONE;
	(void)fleet_add(&F.e.fleet, &n);
	pool_count_lost(&F.e);
	assert_int_equal(engine_losses(&F.e, 0)->n, 1);
	assert_int_equal(engine_losses(&F.e, 0)->last_ms, F.now - 60000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_closed),
		TEST(test_refuse_for_what_is_not_listed),
		TEST(test_one_node_alone),
		TEST(test_a_node_rests),
		TEST(test_probes),
		TEST(test_works),
		TEST(test_elsewhere_first),
		TEST(test_elsewhere_is_forgotten),
		TEST(test_admin),
		TEST(test_more_pools),
		TEST(test_restart),
		TEST(test_clock_back),
		TEST(test_refuse_wanted),
		TEST(test_refuse_after_a_look),
		TEST(test_refuse_for_the_disk),
		cmocka_unit_test_setup_teardown(test_what_a_provider_takes_is_counted_for_an_hour,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_was_taken_before_a_restart_is_counted,
						setup, teardown),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
