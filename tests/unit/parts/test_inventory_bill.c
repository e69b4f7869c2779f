/* inventory.c: an instance that was billed, and whose row is forgotten, is shown once more, as a
 * stale list does (F14): its bill goes on, and nothing of it counts twice. */
#include "diff/diff.h"
#include "journal_rows.h"
#include "listed_engine.h"

#include "buy/buy_api.h"
#include "money/hold.h"
#include "store/journal_money.h"
#include "store/journal_usage.h"

#define EUR  INT64_C(1000000000)
#define HOUR INT64_C(3600000)

static struct zone *utc;

static const struct shown again = {"i-1", 1, "10.0.0.1", PROVIDER_RUNNING};

/* Nodes c1 to c3 are of "pool"; "old" has c9.  One budget, for all machines. */
static struct conf *make(bool budgeted)
{
	struct conf *c = one_pool("c[1-3]", 3);

	c->pools = mem_realloc(c->pools, 2 * sizeof(*c->pools));
	c->pools[c->npools++] = make_pool("old", "c9", 3);
	c->budgets = mem_zalloc(sizeof(*c->budgets));
	c->nbudgets = budgeted ? 1 : 0;
	if (budgeted)
		c->budgets[0] =
			(struct conf_budget){.name = mem_strdup("all"),
					     .market = CONF_MARKET_ANY,
					     .amount_nano = 100 * EUR,
					     .period = mem_strdup("rolling 9d"),
					     .period_rule = {.kind = PERIOD_ROLLING, .days = 9},
					     .stop_at = 100,
					     .contact = mem_strdup("")};
	assert_int_equal(conf_finish(c, NULL), 0);
	return c;
}

/* i-1 ran for an hour at 2 EUR, and ended two hours ago: it has a bill, of this pool and
 * generation, and budgets know it.  Of c1 the row is left of generation 5, which is gone. */
static struct journal_usage billed(struct fix *f, const char *pool, uint64_t gen)
{
	const int64_t now = loop_now(f->loop);
	const struct journal_usage u = {.pool = pool,
					.node = "c1",
					.instance = "i-1",
					.gen = gen,
					.start_ms = now - 3 * HOUR,
					.end_ms = now - 2 * HOUR,
					.rate_nano_h = 2 * EUR,
					.cost_nano = 2 * EUR};
	const struct journal_spent s = {.day = u.end_ms / (24 * HOUR),
					.spender = {.machine = true,
						    .account = "",
						    .user = "",
						    .qos = "",
						    .wckey = "",
						    .partition = "",
						    .pool = pool,
						    .provider = "cloud"},
					.nano = 2 * EUR};
	struct journal_tx *tx = journal_begin(f->journal);
	struct node n;

	node_init(&n, "c1", 5, now - HOUR);
	n.state = NODE_GONE;
	n.wake_ms = INT64_MAX;
	(void)snprintf(n.instance, sizeof(n.instance), "i-5");
	for (uint64_t g = 0; g < 5; g++)
		journal_del_node(tx, "c1", g);
	journal_put_node(tx, &n, "pool");
	journal_put_usage(tx, &u);
	journal_put_spent(tx, &s);
	assert_int_equal(journal_commit(tx, NULL), 0);
	f->created_ms = u.start_ms;
	assert_int_equal(load_conf(f, make(true), NULL), 0);
	return u;
}

static const struct fleet_node *c1(const struct fix *f, uint64_t gen)
{
	return fleet_gen(fleet_find(&f->e->fleet, "c1"), gen);
}

/* In EUR/1000, for the time of the test counts, too. */
static int64_t spent(const struct fix *f, size_t pool)
{
	return engine_spent(f->e, pool) / (EUR / 1000);
}

static int64_t of_budget(const struct fix *f)
{
	return budgets_line(f->e->money->budgets, 0).spent / (EUR / 1000);
}

static void ends(struct fix *f, int64_t end_ms)
{
	struct provider_instance p = row_of(f, &again);

	p.state = PROVIDER_ENDED;
	p.ended_ms = end_ms;
	take(f, &p, 1);
}

static int64_t held_from(const struct fix *f, uint64_t gen)
{
	const struct hold_node *g = hold_find(f->e, "c1", gen);

	assert_true(g != NULL && g->first != NULL && g->first->next == NULL);
	return hold_of(f->e, g->first)->from_ms;
}

static void check_bills(const struct fix *f, uint64_t gen, int64_t end_ms, int64_t cost_nano)
{
	char want[100];

	(void)snprintf(want, sizeof(want), "%d i-1 %lld %lld;", (int)gen, (long long)end_ms,
		       (long long)cost_nano);
	assert_string_equal(rows(f, "SELECT gen, instance, end_ms, cost_nano FROM usage"), want);
}

/* It had ended, as the next list says.  A restart in between changes nothing. */
static void test_a_stale_list_adds_nothing(void **state)
{
	struct fix *f = *state;

	for (int restart = 0; restart <= 1; restart++) {
		const struct journal_usage u = billed(f, "pool", 1);

		f->e->conf->pools[0].own.price_nano_h = 0; /* only the bill knows it */
		f->e->cloud->all[0].quotes_known = true;
		show(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1");
		list(f, &again, 1);
		assert_int_equal(c1(f, 1)->n.state, NODE_DELETING);
		assert_true(c1(f, 1)->n.start_ms == u.start_ms);
		assert_true(c1(f, 1)->n.end_ms == u.end_ms);
		assert_int_equal(c1(f, 1)->n.rate_nano_h, 2 * EUR);
		assert_true(held_from(f, 1) == u.end_ms);
		assert_int_equal(of_budget(f), 2000);
		assert_int_equal(spent(f, 0), 6000); /* two hours more, if it is true */
		if (restart) {
			assert_int_equal(load_conf(f, make(true), NULL), 0);
			show(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1");
			assert_true(held_from(f, 1) == u.end_ms);
		}
		ends(f, u.end_ms);
		assert_int_equal(c1(f, 1)->n.state, NODE_GONE);
		assert_int_equal(spent(f, 0), 2000);
		assert_int_equal(of_budget(f), 2000);
		check_bills(f, 1, u.end_ms, 2 * EUR);
	}
	assert_non_null(strstr(rows(f, "SELECT type, detail FROM event WHERE node = 'c1'"),
			       "wanted found at the provider, after its bill had ended;"));
	assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type = 'unpriced'"), "0;");
	/* The ledger reads that it is there again, and not that it begins. */
	assert_string_equal(rows(f, "SELECT DISTINCT kind FROM life WHERE node = 'c1' AND kind IN"
				    " ('created', 'seen', 'ended') ORDER BY kind"),
			    "ended;seen;");
}

/* It had not: what it has cost since is added, once. */
static void test_what_lived_on_is_billed_on(void **state)
{
	struct fix *f = *state;
	const struct journal_usage u = billed(f, "pool", 1);

	show(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.1");
	list(f, &again, 1);
	assert_string_equal(kept(f), "i-1");
	assert_int_equal(c1(f, 1)->n.state, NODE_READY);
	assert_true(held_from(f, 1) == u.end_ms);
	ends(f, u.end_ms + HOUR);
	assert_int_equal(spent(f, 0), 4000);
	assert_int_equal(of_budget(f), 4000);
	check_bills(f, 1, u.end_ms + HOUR, 4 * EUR);
}

/* Nothing is held without budgets; what the pool has cost is right all the same. */
static void test_without_budgets(void **state)
{
	struct fix *f = *state;
	const struct journal_usage u = billed(f, "pool", 1);

	assert_int_equal(load_conf(f, make(false), NULL), 0);
	show(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1");
	list(f, &again, 1);
	assert_null(hold_find(f->e, "c1", 1));
	ends(f, u.end_ms);
	assert_int_equal(spent(f, 0), 2000);
	assert_string_equal(rows(f, "SELECT count(*) FROM hold"), "0;");
}

/* With a quantum of two hours these were paid for at its first end. */
static void test_what_is_paid_for_is_not_paid_again(void **state)
{
	struct fix *f = *state;
	const struct journal_usage u = billed(f, "pool", 1);

	f->e->conf->pools[0].quantum_ms = 2 * HOUR;
	show(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1");
	list(f, &again, 1);
	assert_true(held_from(f, 1) == u.start_ms + 2 * HOUR);
	ends(f, u.end_ms);
	assert_int_equal(of_budget(f), 2000);
}

/* The bill knows better than its tag which generation it was, and than the configuration of which
 * pool its node was. */
static void test_generation_and_pool_are_those_of_the_bill(void **state)
{
	struct fix *f = *state;
	const struct journal_usage u = billed(f, "old", 3);

	show(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1");
	list(f, &again, 1);
	assert_null(c1(f, 1));
	assert_int_equal(c1(f, 3)->n.state, NODE_DELETING);
	assert_int_equal(c1(f, 3)->n.pool, 1);
	ends(f, u.end_ms);
	assert_int_equal(spent(f, 0), 0);
	assert_int_equal(spent(f, 1), 2000);
	check_bills(f, 3, u.end_ms, 2 * EUR);
}

/* Bills that are not of the instance that is shown. */
static void test_a_bill_that_is_not_gone_on_with(void **state)
{
	static const struct {
		uint64_t gen; /* of the bill */
		struct shown in;
		bool younger; /* than the bill */
	} t[] = {
		/* The generation has another instance, as in a journal that was put back. */
		{5, {"i-1", 1, "10.0.0.1", PROVIDER_RUNNING}, false},
		/* Another instance of the node. */
		{1, {"i-2", 1, "10.0.0.2", PROVIDER_RUNNING}, false},
		/* The provider has given out its id again: to the next generation, or this one. */
		{1, {"i-1", 2, "10.0.0.1", PROVIDER_RUNNING}, false},
		{1, {"i-1", 1, "10.0.0.1", PROVIDER_RUNNING}, true},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct journal_usage u = billed(f, "pool", t[i].gen);
		const struct node *n;

		f->created_ms = t[i].younger ? u.end_ms + 1 : u.start_ms + 1;
		show(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1");
		list(f, &t[i].in, 1);
		n = &c1(f, t[i].in.gen)->n;
		assert_int_equal(n->state, NODE_DELETING);
		assert_true(n->start_ms == f->created_ms && n->end_ms == 0);
		assert_true(held_from(f, t[i].in.gen) == n->start_ms);
	}
}

/* Better that it is deleted, and its cost counts twice, than that it runs on. */
static void test_a_bill_that_cannot_be_read(void **state)
{
	struct fix *f = *state;
	char path[96];
	sqlite3 *db;

	(void)billed(f, "pool", 1);
	(void)snprintf(path, sizeof(path), "%s/journal.db", f->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE usage SET end_ms = 'soon'", NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	show(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1");
	list(f, &again, 1);
	assert_int_equal(c1(f, 1)->n.state, NODE_DELETING);
	assert_int_equal(c1(f, 1)->n.end_ms, 0);
}

static int zone_begins(void **state)
{
	(void)state;
	utc = zone_new("UTC", NULL);
	fake_zone = utc;
	return utc != NULL ? 0 : -1;
}

static int zone_ends(void **state)
{
	(void)state;
	zone_free(utc);
	return 0;
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_stale_list_adds_nothing),
		T(test_what_lived_on_is_billed_on),
		T(test_without_budgets),
		T(test_what_is_paid_for_is_not_paid_again),
		T(test_generation_and_pool_are_those_of_the_bill),
		T(test_a_bill_that_is_not_gone_on_with),
		T(test_a_bill_that_cannot_be_read),
	};
#undef T

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
