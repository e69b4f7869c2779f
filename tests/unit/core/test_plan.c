/* test_plan.c - a job gets all it lacks or nothing, and limits hold (I21). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan_round.h"

struct row {
	const char *name;
	uint32_t max_nodes;
	int64_t max_rate;
	const char *have; /* nodes that are READY */
	const char *list;
	const char *jobs[4]; /* node lists */
	const char *want;    /* one letter a node: Buy Have Wait Refuse Skip */
	const char *why;     /* part of the explanation, or NULL */
};

static const struct row rows[] = {
	{"all fit", 8, 100, "", "a[1-4]", {"a[1-4]"}, "BBBB", NULL},
	{"no job: each alone", 2, 100, "", "a[1-3]", {NULL}, "BBR", "max_nodes 2"},
	{"a job whole or not at all",
	 3,
	 100,
	 "",
	 "a[1-4]",
	 {"a[1-4]"},
	 "RRRR",
	 "pool a: this job needs 4 nodes, the pool allows 3"},
	{"the one that fits goes, the one that does not is refused",
	 4,
	 100,
	 "",
	 "a[1-6]",
	 {"a[1-4]", "a[5-6]"},
	 "BBBBRR",
	 "max_nodes 4"},
	{"a small one after a big one that did not fit",
	 3,
	 100,
	 "",
	 "a[1-6]",
	 {"a[1-4]", "a[5-6]"},
	 "RRRRBB",
	 "needs 4 nodes"},
	{"the rate is a limit of its own",
	 8,
	 25,
	 "",
	 "a[1-3]",
	 {"a[1-2]", "a3"},
	 "BBR",
	 "max_rate 25"},
	{"exactly at the rate", 8, 30, "", "a[1-3]", {"a[1-3]"}, "BBB", NULL},
	{"what is there is not bought again (F46)",
	 2,
	 100,
	 "a[1-2]",
	 "a[1-2]",
	 {"a[1-2]"},
	 "HH",
	 NULL},
	{"what is there counts", 2, 100, "a1", "a[2-3]", {"a2", "a3"}, "BR", "max_nodes 2"},
	{"only what a job lacks counts", 3, 100, "a1", "a[1-3]", {"a[1-3]"}, "HBB", NULL},
	{"pools have limits of their own",
	 2,
	 100,
	 "",
	 "a[1-2],b[1-2]",
	 {"a[1-2],b[1-2]"},
	 "BBBB",
	 NULL},
	{"one pool's limit refuses the whole job",
	 2,
	 100,
	 "",
	 "a1,b[1-3]",
	 {"a1,b[1-3]"},
	 "RRRR",
	 "pool b"},
	{"nodes no pool names", 8, 100, "", "a1,x[1-2]", {"a1,x[1-2]"}, "BSS", NULL},
	{"a repeated name is bought once", 8, 100, "", "a1,a1", {"a1"}, "BS", NULL},
	{"a job that repeats a name needs it once", 2, 100, "", "a[1-2]", {"a1,a2,a1"}, "BB", NULL},
	{"a job that shares a node with a refused one is refused",
	 2,
	 100,
	 "",
	 "a[1-4]",
	 {"a[1-3]", "a[3-4]"},
	 "RRRR",
	 "pool a: "},
	{"a job's nodes have one rate together",
	 8,
	 15,
	 "",
	 "a[1-2]",
	 {"a[1-2]"},
	 "RR",
	 "this job needs 20.00 /h, the pool allows 15.00: at most 1 node"},
	{"what a job has counts for good",
	 2,
	 100,
	 "a1",
	 "a[1-3]",
	 {"a[1-3]"},
	 "HRR",
	 "this job needs 3 nodes, the pool allows 2"},
	{"... at its price",
	 8,
	 25,
	 "a1",
	 "a[1-3]",
	 {"a[1-3]"},
	 "HRR",
	 "this job needs 30.00 /h, the pool allows 25.00: at most 2 nodes"},
	{"two of it are there, and a third is too dear for good",
	 8,
	 25,
	 "a[1-2]",
	 "a[1-3]",
	 {"a[1-3]"},
	 "HHR",
	 "this job needs 30.00 /h, the pool allows 25.00: at most 2 nodes"},
	{"not even one", 8, 5, "", "a1", {"a1"}, "R", "allows 5.00: not even one node"},
	{"a limit of nothing", 0, 100, "", "a1", {"a1"}, "R", "needs 1 node, the pool allows 0"},
	{"as many as may be, at too high a rate",
	 3,
	 25,
	 "",
	 "a[1-3]",
	 {"a[1-3]"},
	 "RRR",
	 "needs 30.00 /h, the pool allows 25.00: at most 2 nodes"},
	{"what is there has its rate", 8, 25, "a[1-2]", "a3", {"a3"}, "R", "max_rate 25"},
	{"what is there counts, in the second pool too",
	 2,
	 100,
	 "b1",
	 "b[2-3]",
	 {"b2", "b3"},
	 "BR",
	 "max_nodes 2"},
	{"the shared node need not be the first",
	 2,
	 100,
	 "",
	 "a[1-4]",
	 {"a[2-4]", "a[1-2]"},
	 "RRRR",
	 "pool a: "},
	{"a job that shares a node with a bought one",
	 8,
	 100,
	 "",
	 "a[1-3]",
	 {"a[1-2]", "a[2-3]"},
	 "BBB",
	 NULL},
};

static void run(const struct row *r)
{
	static const char letters[] = "SHBWR";
	struct round t;
	struct ladder_known known[2] = {{.price = 10 * FMT_NANO}, {.price = 10 * FMT_NANO}};
	struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};
	struct hostlist *have = NULL;
	char got[32] = "";

	round_init(&t, r->max_nodes, r->max_rate, r->list);
	if (r->have[0] != '\0')
		assert_int_equal(hostlist_parse(&have, r->have, strlen(r->have), NULL), 0);
	for (size_t i = 0; have != NULL && i < have->n; i++) {
		struct node n;

		node_init(&n, have->names[i], 1, 0);
		n.state = NODE_READY;
		n.pool = n.name[0] == 'b';
		n.rate_nano_h = 10 * FMT_NANO;
		(void)fleet_add(&t.f, &n);
	}
	hostlist_free(have);
	for (size_t j = 0; j < 4 && r->jobs[j] != NULL; j++)
		add_job(&t, j + 1, r->jobs[j]);
	make_plan(&t, pools);
	for (size_t i = 0; i < t.p.n; i++)
		got[i] = letters[t.p.nodes[i].verdict];
	assert_string_equal(got, r->want);
	for (size_t i = 0; i < t.p.n; i++) {
		char why[160];

		if (t.p.nodes[i].verdict != PLAN_REFUSE)
			continue;
		plan_explain(&t.p, &t.p.nodes[i], &t.ask, why, sizeof(why));
		if (strstr(why, r->why) == NULL)
			fail_msg("why: %s", why);
		assert_int_equal(plan_hint(&t.p, &t.p.nodes[i]).lasting,
				 strstr(why, "this job needs") != NULL);
	}
	round_fini(&t);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].name);
		run(&rows[i]);
	}
}

/* The job on a3 and a4 could wait for other nodes, and no limit is reached: the one that is refused
 * with it needs too much. */
static void test_beside_a_job_that_needs_too_much(void **state)
{
	static const struct {
		uint32_t max_nodes;
		int64_t max_rate;
		const char *list, *first, *why;
	} cases[] = {
		{2, 100, "a[1-5]", "a[1-3]",
		 "pool a: this job shares nodes with one that exceeds max_nodes 2"},
		{8, 25, "a[1-5]", "a[1-3]",
		 "pool a: this job shares nodes with one that exceeds max_rate 25.00 EUR/h"},
		{3, 100, "a[1-5]", "a[1-3]", "pool a: max_nodes 3 reached"}, /* no job's need */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ladder_known known[2] = {{.price = 10 * FMT_NANO}, {.price = 0}};
		struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};
		struct round t;
		char why[160];
		size_t last;

		round_init(&t, cases[i].max_nodes, cases[i].max_rate, cases[i].list);
		(void)snprintf(t.c->currency, sizeof(t.c->currency), "EUR");
		add_job(&t, 1, cases[i].first);
		add_job(&t, 2, i < 2 ? "a[3-4]" : "a[4-5]");
		if (i < 2)
			add_job(&t, 3, "a[4-5]"); /* by way of the second */
		make_plan(&t, pools);
		last = t.p.n - 1;
		assert_int_equal(t.p.nodes[last].verdict, PLAN_REFUSE);
		plan_explain(&t.p, &t.p.nodes[last], &t.ask, why, sizeof(why));
		assert_string_equal(why, cases[i].why);
		assert_false(plan_hint(&t.p, &t.p.nodes[last]).lasting);
		round_fini(&t);
	}
}

/* Nothing is bought of b while its price is not known; who shares a node with a job that waits for
 * that waits too, and the node stays the first one's. */
static void test_waits_with_what_it_shares(void **state)
{
	static const char *const jobs[] = {"a1,b1", "a[1-2]", "a1"};
	struct round t;
	struct ladder_known known[2] = {{.price = 1}, {.price = 0}};
	struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};

	(void)state;
	round_init(&t, 8, 1000, "a[1-3],b1");
	for (size_t j = 0; j < 3; j++)
		add_job(&t, j + 1, jobs[j]);
	make_plan(&t, pools);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(t.p.nodes[i].verdict, i == 2 ? PLAN_BUY : PLAN_WAIT);
	assert_int_equal(t.p.nodes[0].job, 1);
	assert_int_equal(t.p.nodes[1].job, 2);
	assert_int_equal(t.p.nodes[2].job, 0); /* of no job */
	round_fini(&t);
}

/* That it was there once is no reason to refuse it. */
static void test_what_is_gone_is_bought_again(void **state)
{
	struct round t;
	struct ladder_known known[2] = {{.price = 1}, {.price = 1}};
	struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};
	struct node n;

	(void)state;
	round_init(&t, 8, 1000, "a1");
	node_init(&n, "a1", 1, 0);
	n.state = NODE_GONE;
	(void)fleet_add(&t.f, &n);
	make_plan(&t, pools);
	assert_int_equal(t.p.nodes[0].verdict, PLAN_BUY);
	round_fini(&t);
}

static void test_groups(void **state)
{
	struct round t;
	struct ladder_known known[2] = {{.price = 1}, {.price = 1}};
	struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};

	(void)state;
	round_init(&t, 8, 1000, "a[1-5]");
	add_job(&t, 1, "a[1-2]");
	add_job(&t, 2, "a[3-4]");
	add_job(&t, 3, "a5");
	make_plan(&t, pools);
	assert_int_equal(t.p.groups, 2);
	assert_int_equal(t.p.nodes[0].group, t.p.nodes[1].group);
	assert_int_equal(t.p.nodes[2].group, t.p.nodes[3].group);
	assert_int_not_equal(t.p.nodes[0].group, t.p.nodes[2].group);
	assert_int_equal(t.p.nodes[4].group, 0); /* one node is no gang */
	assert_int_equal(t.p.nodes[1].job, 1);
	assert_int_equal(t.p.nodes[4].job, 3);
	round_fini(&t);
}

/* A node whose earlier instance cannot be deleted is refused, with its job, and it is said why. */
static void test_quarantined(void **state)
{
	struct round t;
	struct ladder_known known[2] = {{.price = 1}, {.price = 1}};
	struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};
	char why[160];
	struct node n;

	(void)state;
	round_init(&t, 8, 1000, "a[1-3]");
	node_init(&n, "a1", 1, 0);
	n.state = NODE_QUARANTINED;
	n.release = true;
	(void)fleet_add(&t.f, &n);
	add_job(&t, 1, "a[1-2]");
	make_plan(&t, pools);
	assert_int_equal(t.p.nodes[0].verdict, PLAN_REFUSE);
	assert_int_equal(t.p.nodes[1].verdict, PLAN_REFUSE);
	assert_int_equal(t.p.nodes[2].verdict, PLAN_BUY);
	plan_explain(&t.p, &t.p.nodes[1], &t.ask, why, sizeof(why));
	assert_non_null(strstr(why, "quarantined"));
	round_fini(&t);
}

/* P2: what may be at a provider that cannot be reached keeps its node, and counts; the one who is
 * refused for it is told so. */
static void test_unreached(void **state)
{
	struct round t;
	struct ladder_known known[2] = {{.price = 1}, {.price = 1}};
	struct plan_pool pools[2] = {{.known = &known[0], .unreached = 1, .unreached_at = "far"},
				     {.known = &known[1]}};
	struct fleet_node *fn;
	char why[160];
	struct node n;

	(void)state;
	for (int unreached = 0; unreached < 2; unreached++) {
		round_init(&t, 2, 1000, "a[1-3]");
		node_init(&n, "a1", 1, 0);
		n.state = NODE_INDOUBT;
		n.release = true;
		(void)snprintf(n.provider, sizeof(n.provider), "far");
		fn = fleet_add(&t.f, &n);
		fn->unreached = unreached;
		add_job(&t, 1, "a1");
		add_job(&t, 2, "a[2-3]");
		make_plan(&t, pools);
		assert_int_equal(t.p.nodes[0].verdict, unreached ? PLAN_REFUSE : PLAN_BUY);
		assert_int_equal(t.p.nodes[1].verdict, PLAN_REFUSE);
		plan_explain(&t.p, &t.p.nodes[1], &t.ask, why, sizeof(why));
		assert_non_null(strstr(why, "max_nodes 2 reached; 1 of its nodes may be at far, "
					    "which cannot be reached"));
		if (unreached) {
			plan_explain(&t.p, &t.p.nodes[0], &t.ask, why, sizeof(why));
			assert_non_null(strstr(why, "far cannot be reached, and may have an "
						    "instance of a1"));
		}
		fn->n.release = false; /* it is to live: then it is the node's */
		assert_false(fleet_stuck(fn->name));
		round_fini(&t);
	}
}

/* A limit that is only taken by nodes on their way out is waited for; a price not yet known too. */
static void test_wait(void **state)
{
	struct round t;
	struct ladder_known known[2] = {{.price = 10 * FMT_NANO}, {.price = 0}};
	struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};
	struct node n;

	(void)state;
	round_init(&t, 1, 1000, "a2,b1");
	node_init(&n, "a1", 1, 0);
	n.state = NODE_DELETING;
	n.release = n.accepted = true;
	(void)fleet_add(&t.f, &n);
	make_plan(&t, pools);
	assert_int_equal(t.p.nodes[0].verdict, PLAN_WAIT);
	assert_int_equal(t.p.nodes[1].verdict, PLAN_WAIT);
	plan_fini(&t.p);
	assert_null(t.p.nodes);
	/* Likewise the rate, to the last nano-unit. */
	t.f.pools[0].rate_nano_h = t.f.pools[0].leaving_nano_h = 5 * FMT_NANO;
	for (int64_t less = 0; less < 2; less++) {
		t.c->pools[0].max_rate_nano_h = 10 * FMT_NANO - less;
		make_plan(&t, pools);
		assert_int_equal(t.p.nodes[0].verdict, less ? PLAN_REFUSE : PLAN_WAIT);
		plan_fini(&t.p);
	}
	t.c->pools[0].max_nodes = 8;
	for (int64_t less = 0; less < 2; less++) {
		t.c->pools[0].max_rate_nano_h = 15 * FMT_NANO - less;
		make_plan(&t, pools);
		assert_int_equal(t.p.nodes[0].verdict, less ? PLAN_WAIT : PLAN_BUY);
		plan_fini(&t.p);
	}
	t.c->pools[0].max_rate_nano_h = 10 * FMT_NANO - 1;
	fleet_fini(&t.f); /* nothing leaves, and one nano-unit is too much */
	fleet_init(&t.f, 2);
	make_plan(&t, pools);
	assert_int_equal(t.p.nodes[0].verdict, PLAN_REFUSE);
	round_fini(&t);
}

/* A closed pool refuses what it would have to buy, with the whole job; what it has stays. */
static void test_closed(void **state)
{
	struct round t;
	struct ladder_known known[2] = {{.price = 1}, {.price = 1}};
	struct plan_pool pools[2] = {{.known = &known[0], .blocked = "paused"},
				     {.known = &known[1]}};
	char why[160];
	struct node n;

	(void)state;
	round_init(&t, 8, 1000, "a[1-2],b[1-2]");
	node_init(&n, "a1", 1, 0);
	n.state = NODE_READY;
	(void)fleet_add(&t.f, &n);
	add_job(&t, 1, "a2,b1");
	make_plan(&t, pools);
	assert_int_equal(t.p.nodes[0].verdict, PLAN_HAVE);
	assert_int_equal(t.p.nodes[1].verdict, PLAN_REFUSE);
	assert_int_equal(t.p.nodes[2].verdict, PLAN_REFUSE);
	assert_int_equal(t.p.nodes[3].verdict, PLAN_BUY);
	plan_explain(&t.p, &t.p.nodes[2], &t.ask, why, sizeof(why));
	assert_string_equal(why, "pool a: paused");
	round_fini(&t);
}

/* A node that rests is refused, with its job and no other; and of a pool that is tried again one
 * job's nodes are bought. */
static void test_rests_and_probes(void **state)
{
	struct round t;
	struct ladder_known known[2] = {{.price = 1}, {.price = 1}};
	struct plan_pool pools[2] = {{.known = &known[0]},
				     {.known = &known[1], .probes = "one is tried"}};
	char why[160];
	struct node n;

	(void)state;
	round_init(&t, 8, 1000, "a[1-3],b[1-4],a4,b5");
	fleet_name(&t.f, "a1", 0)->rests_ms = 5;
	node_init(&n, "a4", 1, 0);
	fleet_add(&t.f, &n)->name->rests_ms = 5; /* it has come since */
	fleet_name(&t.f, "b5", 1)->rests_ms = 5;
	add_job(&t, 1, "a[1-2]");
	add_job(&t, 2, "a3");
	add_job(&t, 3, "b1");
	add_job(&t, 4, "b[2-3]");
	make_plan(&t, pools);
	assert_int_equal(t.p.nodes[0].verdict, PLAN_REFUSE);
	assert_int_equal(t.p.nodes[1].verdict, PLAN_REFUSE);
	assert_int_equal(t.p.nodes[2].verdict, PLAN_BUY);
	plan_explain(&t.p, &t.p.nodes[1], &t.ask, why, sizeof(why));
	assert_string_equal(
		why, "pool a: a node of the job did not come up, and is not used for a while");
	assert_int_equal(t.p.nodes[3].verdict, PLAN_BUY);
	assert_int_equal(t.p.nodes[4].verdict, PLAN_REFUSE);
	assert_int_equal(t.p.nodes[5].verdict, PLAN_REFUSE);
	assert_int_equal(t.p.nodes[6].verdict, PLAN_REFUSE); /* of no job */
	assert_int_equal(t.p.nodes[7].verdict, PLAN_HAVE);
	plan_explain(&t.p, &t.p.nodes[8], &t.ask, why, sizeof(why));
	assert_string_equal(
		why, "pool b: a node of the job did not come up, and is not used for a while");
	plan_explain(&t.p, &t.p.nodes[5], &t.ask, why, sizeof(why));
	assert_string_equal(why, "pool b: one is tried");
	round_fini(&t);
}

/* F47: with a ResumeRate the nodes of a job come in several calls: one that is tried with the first
 * of them gets the others, and nobody else does. */
static void test_who_is_tried_gets_its_other_nodes(void **state)
{
	static const char *const want[] = {"RRR", "BRR", "RBR"};
	struct ladder_known known[2] = {{.price = 1}, {.price = 1}};
	struct plan_pool pools[2] = {
		{.known = &known[0], .probes = "one is tried", .blocked = "one is tried"},
		{.known = &known[1]}};

	(void)state;
	for (uint64_t job = 0; job < 3; job++) {
		struct round t;

		round_init(&t, 8, 1000, "a[2-3],a4");
		add_job(&t, 1, "a[1-2]"); /* a1 came before */
		add_job(&t, 2, "a3");
		pools[0].tried_for = job;
		make_plan(&t, pools);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(t.p.nodes[i].verdict,
					 want[job][i] == 'B' ? PLAN_BUY : PLAN_REFUSE);
		round_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_is_tried_gets_its_other_nodes),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_beside_a_job_that_needs_too_much),
		cmocka_unit_test(test_waits_with_what_it_shares),
		cmocka_unit_test(test_what_is_gone_is_bought_again),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_quarantined),
		cmocka_unit_test(test_unreached),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_rests_and_probes),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
