/* test_warm.c - nodes that stay up without a job: what slurmctld is told of them, and when nothing
 * is done about them.
 *
 * On a bare struct engine: the clock, slurmctld and the limits are the test's. */
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

enum { MINUTE = 60000, HOUR = 3600000, PRICE = 1000000000 };

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_pool pools[2];
	struct cloud cloud;
	int64_t now, settled_ms, price;
	bool old;                   /* slurmctld is 22.05 */
	bool paused, probed;        /* the first pool */
	const char *closed, *probe; /* likewise, why */
	char told[400];
} F;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return F.now;
}

int64_t place_next_price(struct engine *e, uint32_t pool)
{
	(void)e;
	(void)pool;
	return F.price;
}

bool doubt_looked(const struct engine *e, uint32_t pool)
{
	(void)e;
	(void)pool;
	return F.cloud.listed;
}

bool engine_paused(const struct engine *e, size_t i)
{
	(void)e;
	return i == 0 && F.paused;
}

const char *pool_blocked(const struct engine *e, size_t i)
{
	(void)e;
	return i == 0 ? F.closed : NULL;
}

const char *pool_probes(const struct engine *e, size_t i)
{
	(void)e;
	return i == 0 ? F.probe : NULL;
}

bool pool_is_probed(const struct engine *e, uint32_t i)
{
	(void)e;
	return i == 0 && F.probed;
}

bool prereq_has(const struct engine *e, enum slurm_trait t)
{
	(void)e;
	assert_int_equal(t, SLURM_EXCLUDES_BY_UPDATE);
	return !F.old;
}

int64_t slurm_settled_ms(const struct slurm *s)
{
	(void)s;
	return F.settled_ms;
}

static void tell(const char *what, const char *node)
{
	size_t n = strlen(F.told);

	(void)snprintf(F.told + n, sizeof(F.told) - n, "%s%s%s", n > 0 ? " " : "", what, node);
}

void slurm_keep(struct slurm *s, const char *node, bool keep)
{
	(void)s;
	tell(keep ? "+" : "-", node);
}

void slurm_wake(struct slurm *s, const char *node)
{
	(void)s;
	tell("up:", node);
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)node;
	(void)gen;
	assert_string_equal(type, "woken");
	assert_string_equal(detail, "its pool keeps nodes warm");
}

/* --- the world ---------------------------------------------------------------------------------
 */

static void add_pool(size_t i, const char *name, const char *nodes)
{
	struct conf_pool *p = &F.pools[i];

	p->name = mem_strdup(name);
	assert_int_equal(hostlist_parse(&p->nodes, nodes, strlen(nodes), NULL), 0);
	p->max_nodes = 4;
	p->max_rate_nano_h = 100 * (int64_t)PRICE;
	for (size_t k = 0; k < p->nodes->n; k++) {
		struct fleet_name *nm = fleet_name(&F.e.fleet, p->nodes->names[k], (uint32_t)i);

		nm->listed = true;
		nm->flags = SLURM_KNOWN | SLURM_CLOUD | SLURM_IDLE | SLURM_POWERED_DOWN;
	}
}

static int setup(void **state)
{
	(void)state;
	F = (struct fix){.now = INT64_C(1800000000000), .price = PRICE};
	bare_state(&F.e);
	F.settled_ms = F.now - 1000;
	F.cloud.listed = true;
	F.conf = (struct conf){.pools = F.pools, .npools = 2};
	F.e.conf = &F.conf;
	fleet_init(&F.e.fleet, 2);
	warm_part.at[PART_INIT](&F.e);
	add_pool(0, "gpu", "c[1-4]");
	add_pool(1, "cpu", "d[1-2]");
	F.pools[0].warm = 2;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	warm_part.at[PART_FREE](&F.e);
	fleet_fini(&F.e.fleet);
	for (size_t i = 0; i < 2; i++) {
		hostlist_free(F.pools[i].nodes);
		free(F.pools[i].name);
	}
	return 0;
}

static struct fleet_name *name(const char *node)
{
	return fleet_find(&F.e.fleet, node);
}

/* slurmctld shows it up, on an instance that bills since start_ms. */
static void up(const char *node, int64_t start_ms)
{
	struct fleet_name *nm = name(node);
	struct node n;

	nm->flags = SLURM_KNOWN | SLURM_CLOUD | SLURM_IDLE;
	node_init(&n, node, ++nm->last_gen, F.now);
	n.state = NODE_READY;
	n.pool = nm->pool;
	n.rate_nano_h = PRICE;
	n.start_ms = start_ms;
	(void)fleet_add(&F.e.fleet, &n);
}

static void off(const char *node)
{
	struct fleet_name *nm = name(node);
	struct node n = nm->newest->n;

	n.state = NODE_GONE;
	fleet_set(&F.e.fleet, nm->newest, &n);
	nm->flags = SLURM_KNOWN | SLURM_CLOUD | SLURM_IDLE | SLURM_POWERED_DOWN;
}

static void settings(const char *excluded)
{
	char text[200];

	(void)snprintf(text, sizeof(text), "SuspendExcNodes         = %s\nSuspendRate = 0\n",
		       excluded);
	warm_part.settings(&F.e, text, strlen(text), F.now);
}

/* A snapshot has come in; what is slurmctld told for it?  It knows it then. */
static const char *look(void)
{
	F.told[0] = '\0';
	F.e.poll.snapshot_ms = F.now;
	warm_part.at[PART_RUN](&F.e);
	return F.told;
}

/* --- powering up -------------------------------------------------------------------------------
 */

static void test_what_lacks_is_powered_up_and_kept_when_it_is_up(void **state)
{
	(void)state;
	settings("(null)");
	assert_string_equal(look(), "up:c1 up:c2");
	assert_true(F.e.poll.moving);
	assert_true(name("c1")->flags & SLURM_POWERED_DOWN);
	for (int i = 1; i <= 2; i++)
		name(i == 1 ? "c1" : "c2")->flags |= SLURM_POWER_UP;
	F.now += 1000;
	assert_string_equal(look(), "");
	assert_int_equal(engine_warm(&F.e, 0).coming, 2);
	assert_true(name("c1")->warm && name("c2")->warm && !name("c3")->warm);
	up("c1", F.now);
	up("c2", F.now);
	F.now += 1000;
	assert_string_equal(look(), "+c1 +c2");
	assert_int_equal(engine_warm(&F.e, 0).up, 2);
	assert_int_equal(engine_warm(&F.e, 0).wanted, 2);
	assert_int_equal(engine_warm(&F.e, 1).wanted, 0);
	F.now += 1000;
	assert_string_equal(look(), "");
}

static void test_nothing_is_done_before_it_is_known_what_slurmctld_keeps(void **state)
{
	(void)state;
	assert_string_equal(look(), "");
	/* Nor by an answer to what was asked before our last update. */
	F.settled_ms = F.now + 1;
	settings("(null)");
	assert_string_equal(look(), "");
	F.settled_ms = F.now;
	warm_part.settings(&F.e, "SuspendRate = 0\n", 16, F.now); /* cut short */
	assert_string_equal(look(), "");
	settings("(null)");
	assert_string_equal(look(), "up:c1 up:c2");
}

static void test_no_more_is_powered_up_than_may_be_bought(void **state)
{
	static const struct {
		const char *what, *expect;
		uint32_t max_nodes;
		int64_t price, max_rate;
		bool paused, probed, unlisted, unsettled;
		const char *closed, *probe;
	} rows[] = {
		{.what = "max_nodes", .expect = "up:c1", .max_nodes = 1},
		{.what = "max_rate", .expect = "up:c1", .max_rate = PRICE + PRICE / 2},
		{.what = "max_rate is used up", .expect = "", .max_rate = PRICE / 2},
		{.what = "no price yet", .expect = "", .price = -2},
		{.what = "not sold", .expect = "", .price = -1},
		{.what = "paused", .expect = "", .paused = true},
		{.what = "closed", .expect = "", .closed = "its nodes come up wrong"},
		{.what = "one is tried first", .expect = "up:c1", .probe = "one is tried first"},
		{.what = "and is on its way", .expect = "", .probe = "x", .probed = true},
		{.what = "what exists is not known", .expect = "", .unlisted = true},
		{.what = "an update is on its way", .expect = "", .unsettled = true},
		{.what = "all is well", .expect = "up:c1 up:c2"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		teardown(NULL);
		setup(NULL);
		print_message("# %s\n", rows[i].what);
		settings("(null)");
		if (rows[i].max_nodes != 0)
			F.pools[0].max_nodes = rows[i].max_nodes;
		if (rows[i].max_rate != 0)
			F.pools[0].max_rate_nano_h = rows[i].max_rate;
		F.price = rows[i].price == -2 ? 0 : rows[i].price == -1 ? -1 : PRICE;
		F.paused = rows[i].paused;
		F.probed = rows[i].probed;
		F.cloud.listed = !rows[i].unlisted;
		F.closed = rows[i].closed;
		F.probe = rows[i].probe;
		if (rows[i].unsettled)
			F.settled_ms = INT64_MAX;
		assert_string_equal(look(), rows[i].expect);
	}
}

/* Those that are bought already count. */
static void test_limits_are_about_all_nodes_of_the_pool(void **state)
{
	(void)state;
	settings("(null)");
	F.pools[0].max_nodes = 2;
	up("c4", F.now);
	name("c4")->flags |= SLURM_DRAIN;
	assert_string_equal(look(), "up:c1");
	F.now += HOUR;
	up("c3", F.now);
	name("c3")->flags |= SLURM_DRAIN;
	assert_string_equal(look(), "");
}

static void test_what_comes_to_nothing_is_tried_later_and_later(void **state)
{
	static const int64_t waits[] = {30, 60, 120, 240, 480, 900, 900};

	(void)state;
	settings("(null)");
	assert_string_equal(look(), "up:c1 up:c2");
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		F.now += waits[i] * 1000 - 1;
		assert_string_equal(look(), ""); /* slurmctld was asked, and has them off again */
		assert_int_equal(warm_part.next_ms(&F.e), F.now + 1);
		F.now += 1;
		assert_string_equal(look(), "up:c1 up:c2");
	}
	/* When all are up that is over, and only so soon one after the other. */
	up("c1", F.now);
	up("c2", F.now);
	F.now += 900 * 1000;
	assert_string_equal(look(), "+c1 +c2");
	off("c2");
	F.now += 1;
	assert_string_equal(look(), "-c2 up:c2");
	F.now += 29999;
	assert_string_equal(look(), "");
	F.now += 1;
	assert_string_equal(look(), "up:c2");
}

/* --- keeping -----------------------------------------------------------------------------------
 */

static void test_one_that_is_of_no_use_is_replaced_and_let_go(void **state)
{
	(void)state;
	settings("(null)");
	up("c1", F.now);
	up("c2", F.now);
	assert_string_equal(look(), "+c1 +c2");
	name("c1")->flags |= SLURM_DRAIN;
	F.now += MINUTE;
	assert_string_equal(look(), "-c1 up:c3");
	assert_false(name("c1")->warm);
}

static void test_what_slurmctld_has_forgotten_it_is_told_again(void **state)
{
	(void)state;
	settings("(null)");
	up("c1", F.now);
	up("c2", F.now);
	assert_string_equal(look(), "+c1 +c2");
	settings("c[1-2],own[1-3]");
	assert_string_equal(look(), "");
	settings("own[1-3]"); /* it was reconfigured */
	F.told[0] = '\0';
	warm_part.at[PART_RUN](&F.e); /* and that is enough */
	assert_string_equal(F.told, "+c1 +c2");
}

static void test_what_was_asked_before_slurmctld_was_told_is_not_believed(void **state)
{
	(void)state;
	settings("(null)");
	up("c1", F.now);
	up("c2", F.now);
	assert_string_equal(look(), "+c1 +c2");
	F.settled_ms = F.now + 500; /* then it was told */
	settings("(null)");
	F.now += 1000;
	assert_string_equal(look(), "");
	settings("(null)"); /* it did not do it */
	assert_string_equal(look(), "+c1 +c2");
}

static void test_names_of_others_are_left_alone(void **state)
{
	(void)state;
	settings("own1,d1,c4"); /* d1: of a pool that keeps nothing; c4: of one that does */
	up("c1", F.now);
	up("c2", F.now);
	up("c4", F.now);
	assert_string_equal(look(), "+c1"); /* c4 is kept already, and counts */
	F.pools[0].warm = 0;
	warm_part.at[PART_RELOAD](&F.e);
	assert_string_equal(look(), "-c1 -c4");
	assert_true(name("d1")->kept);
	assert_string_equal(look(), "");
	F.now += 1;
	settings("own1,d1,c4"); /* that update failed */
	assert_string_equal(look(), "-c4");
	F.now += 1;
	settings("own1,d1");
	assert_string_equal(look(), "");
	F.now += 1;
	settings("own1,d1,c4"); /* not ours any more: an admin's */
	assert_string_equal(look(), "");
}

static void test_a_paused_pool_keeps_none_and_a_closed_one_what_it_has(void **state)
{
	(void)state;
	settings("(null)");
	up("c1", F.now);
	assert_string_equal(look(), "+c1 up:c2");
	F.closed = "its nodes come up wrong";
	F.now += HOUR;
	assert_string_equal(look(), "");
	assert_int_equal(engine_warm(&F.e, 0).up, 1);
	F.paused = true;
	F.told[0] = '\0';
	warm_part.at[PART_RELOAD](&F.e);
	warm_part.at[PART_RUN](&F.e);
	assert_string_equal(F.told, "-c1");
}

/* --- slurm.conf keeps them ---------------------------------------------------------------------
 */

static void test_where_names_cannot_be_told_slurm_conf_counts(void **state)
{
	static const struct {
		const char *excluded, *expect;
		bool old;
	} rows[] = {
		{"(null)", "", true},                       /* none would stay */
		{"c[1-4]:2", "up:c1 up:c2", true},          /* as many as are wanted */
		{"c[1-4]:1", "up:c1", true},                /* fewer */
		{"c[1-4]:9", "up:c1 up:c2", true},          /* more */
		{"c1:9", "up:c1", true},                    /* than there are in the list */
		{"c[1-2]:1,c[3-4]:1", "up:c1 up:c2", true}, /* in two lists */
		{"c[1-4],d1:1", "", true},                  /* c has no count */
		{"c[1-4],d[1-2]:2", "", true},              /* nor here */
		{"c[1-2,9]:2", "", true},                   /* with nodes of others */
		{"d[1-2]:2", "", true},                     /* another pool's */
		{"c[1-4]:x", "", true},                     /* no number */
		{"c[1-4]:2", "up:c1 up:c2", false},         /* where names could be told */
		{"own[1-9]:1", "", false},                  /* a count anywhere forbids that */
		{"own[1-9]:1,c[1-4]:1", "up:c1", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		teardown(NULL);
		setup(NULL);
		print_message("# %s\n", rows[i].excluded);
		F.old = rows[i].old;
		settings(rows[i].excluded);
		assert_string_equal(look(), rows[i].expect);
		if (rows[i].expect[0] == '\0')
			continue;
		up("c1", F.now); /* nobody is told of it */
		F.now += 1000;
		(void)look();
		assert_null(strchr(F.told, '+'));
	}
}

/* Of a list with nodes of two pools nobody can say whose will stay. */
static void test_a_count_for_nodes_of_two_pools_is_of_no_use(void **state)
{
	(void)state;
	F.old = true;
	name("c4")->pool = 1;
	settings("c[1-4]:2");
	assert_string_equal(look(), "");
	settings("c[1-3]:2");
	assert_string_equal(look(), "up:c1 up:c2");
}

/* What slurm.conf had is not added to what it has now. */
static void test_a_count_that_is_taken_away_counts_no_more(void **state)
{
	(void)state;
	F.old = true;
	settings("c[1-4]:1");
	settings("c[1-4]:1");
	assert_string_equal(look(), "up:c1");
}

/* --- a quantum ---------------------------------------------------------------------------------
 */

static void test_what_is_paid_is_kept_and_let_go_in_time(void **state)
{
	(void)state;
	F.pools[0].warm = 0;
	F.pools[0].quantum_ms = HOUR;
	settings("(null)");
	up("c1", F.now - 10 * MINUTE);
	assert_string_equal(look(), "+c1");
	assert_int_equal(engine_warm(&F.e, 0).paid, 1);
	assert_int_equal(warm_part.next_ms(&F.e), F.now + 48 * MINUTE);
	F.now += 48 * MINUTE - 1;
	F.told[0] = '\0';
	F.e.poll.next_ms = F.now + MINUTE;
	warm_part.at[PART_RUN](&F.e); /* nothing has happened: it is not looked at */
	assert_string_equal(F.told, "");
	F.now += 1;
	warm_part.at[PART_RUN](&F.e); /* without a snapshot */
	assert_string_equal(F.told, "-c1");
	assert_int_equal(F.e.poll.next_ms, F.now);
	assert_int_equal(engine_warm(&F.e, 0).paid, 0);
	assert_int_equal(warm_part.next_ms(&F.e), F.now + 2 * MINUTE);
	F.now += 2 * MINUTE; /* slurmctld did not let go of it: the next one is paid */
	assert_string_equal(look(), "+c1");
}

static void test_one_with_a_job_is_kept_into_the_next_quantum(void **state)
{
	(void)state;
	F.pools[0].warm = 0;
	F.pools[0].quantum_ms = HOUR;
	settings("(null)");
	up("c1", F.now);
	assert_string_equal(look(), "+c1");
	name("c1")->flags = SLURM_KNOWN | SLURM_ALLOCATED;
	F.now += 59 * MINUTE;
	assert_string_equal(look(), "");
	name("c1")->flags = SLURM_KNOWN | SLURM_IDLE;
	F.now += 1000;
	assert_string_equal(look(), "-c1");
}

static void test_where_names_cannot_be_told_nothing_is_kept_for_being_paid(void **state)
{
	(void)state;
	F.pools[0].warm = 0;
	F.pools[0].quantum_ms = HOUR;
	F.old = true;
	settings("(null)");
	up("c1", F.now);
	assert_string_equal(look(), "");
	F.old = false;
	settings("own[1-3]:1");
	assert_string_equal(look(), "");
	assert_int_equal(engine_warm(&F.e, 0).paid, 0);
	assert_int_equal(warm_part.next_ms(&F.e), INT64_MAX);
}

/* More pools after a reload, before slurmctld was asked again. */
static void test_a_pool_that_is_new(void **state)
{
	(void)state;
	F.conf.npools = 1;
	settings("(null)");
	(void)look();
	F.conf.npools = 2;
	assert_int_equal(engine_warm(&F.e, 1).wanted, 0);
	F.pools[1].warm = 1;
	warm_part.at[PART_RELOAD](&F.e);
	assert_int_equal(engine_warm(&F.e, 1).wanted, 1);
	F.now += 1;
	assert_string_equal(look(), "up:d1");
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_what_lacks_is_powered_up_and_kept_when_it_is_up),
		T(test_nothing_is_done_before_it_is_known_what_slurmctld_keeps),
		T(test_no_more_is_powered_up_than_may_be_bought),
		T(test_limits_are_about_all_nodes_of_the_pool),
		T(test_what_comes_to_nothing_is_tried_later_and_later),
		T(test_one_that_is_of_no_use_is_replaced_and_let_go),
		T(test_what_slurmctld_has_forgotten_it_is_told_again),
		T(test_what_was_asked_before_slurmctld_was_told_is_not_believed),
		T(test_names_of_others_are_left_alone),
		T(test_a_count_for_nodes_of_two_pools_is_of_no_use),
		T(test_a_count_that_is_taken_away_counts_no_more),
		T(test_a_paused_pool_keeps_none_and_a_closed_one_what_it_has),
		T(test_where_names_cannot_be_told_slurm_conf_counts),
		T(test_what_is_paid_is_kept_and_let_go_in_time),
		T(test_one_with_a_job_is_kept_into_the_next_quantum),
		T(test_where_names_cannot_be_told_nothing_is_kept_for_being_paid),
		T(test_a_pool_that_is_new),
	};
#undef T

	return cmocka_run_group_tests_name("warm", tests, NULL, NULL);
}
