/* fold.c and follow.c: what follows from a commit may want more, of any node, in its turn: that is
 * of the next transaction, and nothing of this one is lost by it. */
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
#include "core/unit.h"
#include "jobs/jobs.h"
#include "parts/parts.h"
#include "store/journal_events.h"
#include "store/journal_usage.h"
#include "tests/unit/engine/bare_state.h"

enum { NODES = 200, NOW = 1000000 };

static struct {
	struct engine e;
	struct conf conf;
	struct conf_pool pool;
	struct conf_offer rung;
	struct cloud cloud;
	struct fleet_node *fn[NODES];
	unsigned followed[NODES];             /* so often its address was told */
	unsigned states[NODES][NODE_NSTATES]; /* written to the journal */
	unsigned commits, failed, taken;
	enum node_reason refused; /* the last one, and why */
	bool stages;              /* what follows does */
	bool dead;                /* the node that was powered down last */
	char event[200];          /* the last */
} F;

static size_t number_of(const char *name)
{
	return (size_t)strtoul(name + 1, NULL, 10);
}

static void post(size_t i, enum node_event_type type)
{
	const struct provider_instance in = {.id = "i-1", .addr = "10.0.0.1"};
	const struct node_event ev = {
		.type = type, .now_ms = NOW, .instance = &in, .reason = NODE_BECAUSE_OPERATOR};

	engine_post(&F.e, F.fn[i], &ev);
}

/* --- what fold.c calls -------------------------------------------------------------------------
 */

/* The first node's address releases the last two and, once more, itself. */
void slurm_set_addr(struct slurm *s, const char *node, const char *addr, const char *hostname)
{
	(void)s;
	(void)addr;
	(void)hostname;
	F.followed[number_of(node)]++;
	if (!F.stages || number_of(node) != 0)
		return;
	post(0, NODE_EV_RELEASE);
	post(NODES - 2, NODE_EV_RELEASE);
	post(NODES - 1, NODE_EV_RELEASE);
}

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return NOW;
}

const struct node_limits *engine_limits(const struct engine *e, const struct node *n,
					struct node_limits *out)
{
	(void)e;
	(void)n;
	*out = (struct node_limits){.settle_ms = 1, .boot_ms = 1000};
	return out;
}

void journal_put_event(struct journal_tx *t, int64_t at_ms, const char *node, uint64_t gen,
		       const char *type, const char *detail)
{
	(void)t;
	(void)at_ms;
	(void)node;
	(void)gen;
	(void)type;
	(void)snprintf(F.event, sizeof(F.event), "%s", detail);
}

static char tx;

struct journal_tx *journal_begin(struct journal *j)
{
	(void)j;
	return (void *)&tx;
}

void journal_put_node(struct journal_tx *t, const struct node *n, const char *pool)
{
	(void)t;
	(void)pool;
	F.states[number_of(n->name)][n->state]++;
}

int journal_commit(struct journal_tx *t, struct err *e)
{
	(void)t;
	(void)e;
	F.commits++;
	return 0;
}

/* What else it calls. */
#define NOTHING(name, ...)                                                                         \
	void name(__VA_ARGS__)                                                                     \
	{                                                                                          \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
NOTHING(journal_abandon, struct journal_tx *t)
NOTHING(journal_del_node, struct journal_tx *t, const char *name, uint64_t gen)
NOTHING(journal_put_usage, struct journal_tx *t, const struct journal_usage *u)
NOTHING(notice_follow, struct engine *e, struct fleet_node *fn, const struct node *was)
NOTHING(away_found, struct fleet_name *nm)
NOTHING(place_doubt_ends, struct engine *e, const struct node *n)
NOTHING(pool_node_failed, struct engine *e, struct fleet_name *nm, uint64_t gen)
NOTHING(pool_works, struct engine *e, struct fleet_name *nm, const struct node *n)
NOTHING(pool_lost, struct engine *e, const struct node *n)

void place_reclaimed(struct engine *e, const struct fleet_node *fn)
{
	F.taken++;
}

void refuse_mark(struct engine *e, struct fleet_name *nm, enum node_reason why, const char *text)
{
	F.refused = why;
}

void rescue_power_down(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	F.dead = dead;
}

bool rolls_failed(struct engine *e, const struct node *n, const char *why)
{
	(void)e;
	(void)n;
	(void)why;
	return false;
}

void rolls_look(struct engine *e, const struct node *was, const struct node *is, const char *why)
{
	(void)e;
	(void)was;
	(void)is;
	(void)why;
}

void pool_failed(struct engine *e, const struct node *n, const char *why)
{
	F.failed++;
}

int64_t place_ready_ms(struct engine *e, const struct conf_offer *o)
{
	return 0;
}

const char *pool_refusal(const struct engine *e, const struct node *n)
{
	return NULL;
}
#pragma GCC diagnostic pop

/* --- tests -------------------------------------------------------------------------------------
 */

static const struct part_row follow = {.part = &follow_part};

/* All of them go from CREATING to BOOTING by one commit. */
static int setup(void **state)
{
	static char pool[] = "pool", rung[] = "";

	(void)state;
	memset(&F, 0, sizeof(F));
	bare_state(&F.e);
	F.e.cloud->all = &F.cloud;
	F.pool.name = pool;
	F.pool.own.name = rung;
	F.conf.pools = &F.pool;
	F.conf.npools = 1;
	F.e.conf = &F.conf;
	F.e.d.parts = (struct engine_parts){&follow, 1};
	fleet_init(&F.e.fleet, 1);
	for (int i = 0; i < NODES; i++) {
		char name[16];
		struct node n;

		(void)snprintf(name, sizeof(name), "c%d", i);
		node_init(&n, name, 1, NOW);
		n.state = NODE_CREATING;
		F.fn[i] = fleet_add(&F.e.fleet, &n);
		post((size_t)i, NODE_EV_CREATED);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(F.e.staging.rows);
	fleet_fini(&F.e.fleet);
	return 0;
}

static void test_what_follows_may_stage(void **state)
{
	(void)state;
	F.stages = true;
	engine_commit(&F.e);
	assert_int_equal(F.commits, 1);
	for (int i = 0; i < NODES; i++) {
		assert_int_equal(F.fn[i]->n.state, NODE_BOOTING);
		assert_int_equal(F.followed[i], 1);
		assert_int_equal(F.states[i][NODE_BOOTING], 1);
		assert_int_equal(F.states[i][NODE_DELETING], 0); /* it was not in that commit */
	}
	assert_int_equal(F.e.staging.n, 3);
	engine_commit(&F.e);
	assert_int_equal(F.commits, 2);
	assert_int_equal(F.e.staging.n, 0);
	for (int i = 0; i < NODES; i++) {
		bool released = i == 0 || i >= NODES - 2;

		assert_int_equal(F.fn[i]->n.state, released ? NODE_DELETING : NODE_BOOTING);
		assert_int_equal(F.states[i][NODE_DELETING], released);
		assert_null(F.fn[i]->next);
		assert_int_equal(F.followed[i], 1);
	}
}

/* What a job got, and where it was bought in a fabric of its unit. */
static void test_the_event_of_a_machine_says_its_unit(void **state)
{
	static const struct {
		const char *in_fabric, *want;
	} rows[] = {{CONF_FABRIC_UNIT, "creating -> booting in unit 2, instance i-1, address "
				       "10.0.0.1"},
		    {NULL, "creating -> booting, instance i-1, address 10.0.0.1"}};

	(void)state;
	assert_string_equal(F.event, rows[1].want);
	F.pool.unit = NODES / 2;
	F.pool.own.in_fabric = CONF_FABRIC_UNIT;
	assert_int_equal(hostlist_parse(&F.pool.nodes, "c[0-199]", 8, NULL), 0);
	assert_int_equal(unit_finish(&F.conf, &F.pool, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		struct node n;

		F.pool.own.in_fabric = rows[i].in_fabric;
		node_init(&n, "c150", 2 + i, NOW);
		n.state = NODE_CREATING;
		F.fn[150] = fleet_add(&F.e.fleet, &n);
		post(150, NODE_EV_CREATED);
		assert_string_equal(F.event, rows[i].want);
	}
	map_fini(&F.pool.unit_of);
	hostlist_free(F.pool.nodes);
}

static bool is_needed(const struct engine *e, const struct node *n)
{
	(void)e;
	return n->batch == 9;
}

/* I4: an older generation that has ended is forgotten, unless a repeat of its create must name it.
 */
static void test_what_a_part_needs_is_not_forgotten(void **state)
{
	static const struct engine_part needs = {.needs = is_needed};
	static const struct part_row row = {.part = &needs};

	(void)state;
	engine_commit(&F.e);
	F.e.d.parts = (struct engine_parts){&row, 1};
	for (int i = 0; i < 2; i++) {
		struct node gone = F.fn[i]->n, n;

		gone.state = NODE_GONE;
		gone.batch = i == 0 ? 9 : 8;
		fleet_set(&F.e.fleet, F.fn[i], &gone);
		node_init(&n, i == 0 ? "c0" : "c1", 2, NOW);
		(void)engine_insert(&F.e, &n, "again");
	}
	engine_commit(&F.e);
	assert_non_null(fleet_find(&F.e.fleet, "c0")->newest->older);
	assert_null(fleet_find(&F.e.fleet, "c1")->newest->older);
}

static void is_shown(int64_t ms, enum provider_state state)
{
	const struct provider_instance in = {.id = "i-1", .state = state};
	const struct node_event ev = {.type = NODE_EV_SEEN, .now_ms = ms, .instance = &in};

	engine_post(&F.e, F.fn[0], &ev);
	engine_commit(&F.e);
}

/* I22: one that is shown again after its end is billed anew, and the first bill is replaced. */
static void test_what_is_shown_again_is_not_paid_for_twice(void **state)
{
	enum { HOUR = 3600000 };

	(void)state;
	F.fn[0]->n.rate_nano_h = F.fn[0]->next->rate_nano_h = 1000;
	engine_commit(&F.e);
	is_shown(NOW + HOUR, PROVIDER_ENDED);
	assert_int_equal(F.e.fleet.pools[0].spent_nano, 1000);
	is_shown(NOW + 2 * HOUR, PROVIDER_RUNNING);
	assert_int_equal(F.fn[0]->n.state, NODE_DELETING);
	is_shown(NOW + 3 * HOUR, PROVIDER_ENDED);
	assert_int_equal(F.e.fleet.pools[0].spent_nano, 3000);
}

/* I16: slurmctld must not wait for one that nobody will hear from again. */
static void test_who_is_dead_is_set_down(void **state)
{
	(void)state;
	engine_commit(&F.e);
	post(0, NODE_EV_REGISTERED);
	post(0, NODE_EV_NOTICE);
	engine_commit(&F.e);
	assert_int_equal(F.fn[0]->n.state, NODE_DRAINING);
	is_shown(NOW + 1, PROVIDER_ENDED); /* its jobs go, too, and nobody orders that */
	assert_true(F.dead);
}

/* slurmctld has another use for its name. */
static void test_no_address_is_told_of_one_that_goes(void **state)
{
	(void)state;
	engine_commit(&F.e);
	for (int released = 0; released < 2; released++) {
		struct node *n = &F.fn[1]->n;

		n->state = NODE_CREATING;
		n->release = released != 0;
		n->instance[0] = n->addr[0] = '\0';
		F.followed[1] = 0;
		post(1, NODE_EV_CREATED);
		engine_commit(&F.e);
		assert_int_equal(n->state, released ? NODE_DELETING : NODE_BOOTING);
		assert_string_equal(n->addr, "10.0.0.1");
		assert_int_equal(F.followed[1], !released);
	}
}

static void test_nothing_is_committed_twice(void **state)
{
	(void)state;
	engine_commit(&F.e);
	engine_commit(&F.e);
	assert_int_equal(F.commits, 1);
	for (int i = 0; i < NODES; i++)
		assert_int_equal(F.states[i][NODE_BOOTING], 1);
}

/* F10: what a provider accepts and cannot make is no better than what never comes up. */
static void test_what_never_came_counts_against_its_pool(void **state)
{
	static const struct {
		enum node_state was;
		enum node_event_type event;
		enum provider_state shown;
		enum node_reason released; /* before that; NONE: it was not */
		bool counts;
		enum node_reason why; /* as the provider says */
	} rows[] = {
		{NODE_BOOTING, NODE_EV_SEEN, PROVIDER_ENDED, NODE_BECAUSE_NONE, true, 0},
		/* F4: it is its place that has none. */
		{NODE_BOOTING, NODE_EV_SEEN, PROVIDER_ENDED, NODE_BECAUSE_NONE, false,
		 NODE_BECAUSE_CAPACITY},
		{NODE_BOOTING, NODE_EV_SEEN, PROVIDER_STOPPING, NODE_BECAUSE_NONE, true, 0},
		{NODE_BOOTING, NODE_EV_TIMER, PROVIDER_RUNNING, NODE_BECAUSE_NONE, true, 0},
		{NODE_CREATING, NODE_EV_CREATED, PROVIDER_ENDED, NODE_BECAUSE_NONE, true, 0},
		{NODE_INDOUBT, NODE_EV_SEEN, PROVIDER_ENDED, NODE_BECAUSE_NONE, true, 0},
		{NODE_BOOTING, NODE_EV_SEEN, PROVIDER_RUNNING, NODE_BECAUSE_NONE, false, 0},
		{NODE_BOOTING, NODE_EV_SEEN, PROVIDER_RECLAIMING, NODE_BECAUSE_NONE, false, 0},
		{NODE_BOOTING, NODE_EV_SEEN, PROVIDER_STOPPING, NODE_BECAUSE_SUSPENDED, false, 0},
		{NODE_READY, NODE_EV_SEEN, PROVIDER_STOPPING, NODE_BECAUSE_NONE, false, 0},
		{NODE_BOOTING, NODE_EV_SEEN, PROVIDER_ENDED, NODE_BECAUSE_SUSPENDED, false, 0},
		{NODE_WANTED, NODE_EV_SEEN, PROVIDER_ENDED, NODE_BECAUSE_NONE, false, 0}, /* F58 */
		{NODE_CREATING, NODE_EV_REFUSED, PROVIDER_UNKNOWN, NODE_BECAUSE_NONE, false,
		 NODE_BECAUSE_CAPACITY},
		{NODE_READY, NODE_EV_SEEN, PROVIDER_ENDED, NODE_BECAUSE_NONE, false, 0},
		{NODE_DRAINING, NODE_EV_SEEN, PROVIDER_ENDED, NODE_BECAUSE_NONE, false, 0},
		{NODE_DELETING, NODE_EV_SEEN, PROVIDER_ENDED, NODE_BECAUSE_BOOT, false, 0},
	};

	(void)state;
	engine_commit(&F.e);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct provider_instance in = {.id = "i-1", .state = rows[i].shown};
		const struct node_event ev = {.type = rows[i].event,
					      .now_ms = NOW,
					      .instance = &in,
					      .reason = rows[i].why};
		struct node *n = &F.fn[i]->n;

		n->state = rows[i].was;
		n->wake_ms = 0;
		n->instance[0] = '\0';
		n->release = rows[i].released != NODE_BECAUSE_NONE;
		n->reason = rows[i].released;
		F.failed = 0;
		engine_post(&F.e, F.fn[i], &ev);
		engine_commit(&F.e);
		if (F.failed != rows[i].counts)
			fail_msg("row %zu: counted %u times", i, F.failed);
	}
}

static void is_told(enum provider_notice_kind kind)
{
	const struct node_event ev = {.type = NODE_EV_NOTICE, .now_ms = NOW, .notice = kind};

	engine_post(&F.e, F.fn[0], &ev);
	engine_commit(&F.e);
}

/* F10: a machine that switches itself off is listed as one that stops, and then as ended: once it
 * counts, against its pool and nobody else.  Had somebody said that it would be taken, it was. */
static void test_who_stops_as_it_boots_counts_once(void **state)
{
	(void)state;
	engine_commit(&F.e);
	is_shown(NOW + 1, PROVIDER_STOPPING);
	assert_int_equal(F.failed, 1);
	assert_int_equal(F.fn[0]->n.state, NODE_DELETING);
	assert_int_equal(F.refused, NODE_BECAUSE_STOPPED);
	is_shown(NOW + 2, PROVIDER_STOPPING);
	is_shown(NOW + 3, PROVIDER_ENDED);
	assert_int_equal(F.fn[0]->n.state, NODE_GONE);
	assert_string_equal(fleet_why(F.fn[0], &F.fn[0]->n), "its machine stopped as it booted");
	assert_int_equal(F.failed, 1);
	assert_int_equal(F.taken, 0);
}

static void test_who_was_to_be_taken_as_it_booted_counts_against_no_pool(void **state)
{
	(void)state;
	engine_commit(&F.e);
	is_told(PROVIDER_NOTICE_RECLAIM);
	is_shown(NOW + 1, PROVIDER_STOPPING);
	is_shown(NOW + 2, PROVIDER_ENDED);
	assert_int_equal(F.fn[0]->n.reason, NODE_BECAUSE_RECLAIMED);
	assert_int_equal(F.failed, 0);
}

/* A6: a list that says that the machine was reclaimed, whatever its node was: others of that place
 * may go as well. */
static void test_who_is_shown_as_taken_counts_for_its_place(void **state)
{
	static const struct {
		enum node_state state;
		bool taken;
		unsigned counts, failed;
	} rows[] =
		{
			{NODE_BOOTING, true, 1, 0},  {NODE_READY, true, 1, 0},
			{NODE_READY, false, 1, 0},   {NODE_BOOTING, false, 0, 1},
			{NODE_DRAINING, true, 0, 0}, /* that was counted with its notice */
		};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct provider_instance in = {
			.id = "i-1", .state = PROVIDER_ENDED, .taken = rows[i].taken};
		const struct node_event ev = {
			.type = NODE_EV_SEEN, .now_ms = NOW + 1, .instance = &in};
		struct node n;

		(void)teardown(state);
		assert_int_equal(setup(state), 0);
		engine_commit(&F.e);
		n = F.fn[0]->n;
		n.state = rows[i].state;
		fleet_set(&F.e.fleet, F.fn[0], &n);
		F.taken = F.failed = 0;
		engine_post(&F.e, F.fn[0], &ev);
		engine_commit(&F.e);
		if (F.taken != rows[i].counts || F.failed != rows[i].failed)
			fail_msg("row %zu: %u, %u", i, F.taken, F.failed);
	}
}

/* A reclaim counts for its place when it is first told, and not with each change of the row. */
static void test_a_reclaim_counts_once_for_its_place(void **state)
{
	static const struct {
		enum node_state was;
		enum provider_notice_kind notice;
		unsigned taken;
	} rows[] = {{NODE_READY, PROVIDER_NOTICE_RECLAIM, 1},
		    {NODE_DRAINING, PROVIDER_NOTICE_RECLAIM, 1},
		    {NODE_DRAINING, PROVIDER_NOTICE_REBALANCE, 2}};
	struct node *is = &F.fn[0]->n;

	(void)state;
	engine_commit(&F.e);
	is->state = NODE_DRAINING;
	is->notice = PROVIDER_NOTICE_RECLAIM;
	is->deadline_ms = NOW + 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node was = *is;

		was.state = rows[i].was;
		was.notice = rows[i].notice;
		was.deadline_ms = NOW;
		follow_part.row_durable(&F.e, F.fn[0], &was);
		assert_int_equal(F.taken, rows[i].taken);
	}
	is->state = NODE_BOOTING; /* as its list has it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_event_of_a_machine_says_its_unit, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_follows_may_stage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_reclaim_counts_once_for_its_place, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_a_part_needs_is_not_forgotten, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_no_address_is_told_of_one_that_goes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_committed_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_shown_again_is_not_paid_for_twice,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_is_dead_is_set_down, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_never_came_counts_against_its_pool, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_who_stops_as_it_boots_counts_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_who_is_shown_as_taken_counts_for_its_place,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_who_was_to_be_taken_as_it_booted_counts_against_no_pool, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
