/* fleet.c: its lists and sums against a recount from scratch, after every one of many random
 * operations. */
#include "core/fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

enum { NAMES = 5, POOLS = 2, WALK = 4000 };

static uint64_t rng_state;

static uint32_t below(uint32_t n)
{
	uint64_t z = (rng_state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) >> 33) % n;
}

static struct node make(const char *name, uint64_t gen, enum node_state s, uint32_t pool)
{
	struct node n;

	node_init(&n, name, gen, 1000);
	n.state = s;
	n.pool = pool;
	n.rate_nano_h = 100;
	return n;
}

/* --- recount ---------------------------------------------------------------------------------- */

static void count(struct fleet_pool *sums, const struct node *n)
{
	struct fleet_pool *p = &sums[n->pool];

	p->count[n->state]++;
	if (n->state == NODE_GONE)
		return;
	p->nodes++;
	p->rate_nano_h += n->rate_nano_h;
	if (n->state == NODE_DELETING && n->accepted) {
		p->leaving++;
		p->leaving_nano_h += n->rate_nano_h;
	}
}

static size_t recount(const struct fleet *f, struct fleet_pool *sums)
{
	size_t total = 0;

	for (size_t i = 0; i < f->nall; i++) {
		const struct fleet_node *fn = f->all[i]->newest;

		for (; fn != NULL; fn = fn->older, total++) {
			assert_ptr_equal(fn->name, f->all[i]);
			assert_ptr_equal(fleet_gen(f->all[i], fn->n.gen), fn);
			assert_true(fn->older == NULL || fn->older->n.gen < fn->n.gen);
			assert_true(fn->n.gen <= f->all[i]->last_gen);
			assert_true(f->wake_ms <= fn->n.wake_ms);
			count(sums, &fn->n);
		}
	}
	return total;
}

static void check(const struct fleet *f)
{
	struct fleet_pool sums[POOLS] = {0};
	size_t total = recount(f, sums), listed = 0;

	for (int s = 0; s < NODE_NSTATES; s++)
		for (const struct fleet_node *fn = f->states[s]; fn != NULL; fn = fn->state_next) {
			assert_int_equal(fn->n.state, s);
			assert_ptr_equal(*fn->state_prev, fn);
			listed++;
		}
	assert_int_equal(listed, total);
	for (size_t p = 0; p < POOLS; p++)
		assert_memory_equal(&f->pools[p], &sums[p], sizeof(sums[p]));
}

static struct fleet_node *pick(struct fleet *f)
{
	struct fleet_node *fn;

	if (f->nall == 0)
		return NULL;
	fn = f->all[below((uint32_t)f->nall)]->newest;
	for (uint32_t i = below(3); i > 0 && fn != NULL && fn->older != NULL; i--)
		fn = fn->older;
	return fn;
}

static void operate(struct fleet *f)
{
	struct fleet_node *fn = pick(f);
	char name[16];
	struct node next;

	if (fn == NULL || below(4) == 0) {
		uint32_t k = below(NAMES);

		(void)snprintf(name, sizeof(name), "c%u", (unsigned)k);
		next = make(name, 1 + below(40), (enum node_state)below(NODE_NSTATES), k % POOLS);
		next.rate_nano_h = below(1000);
		if (fleet_gen(fleet_name(f, name, k % POOLS), next.gen) == NULL)
			assert_non_null(fleet_add(f, &next));
	} else if (fn->n.state == NODE_GONE && below(2) == 0) {
		fleet_del(f, fn);
	} else {
		next = fn->n;
		next.state = (enum node_state)below(NODE_NSTATES);
		next.accepted = below(2) == 0;
		next.wake_ms = below(100000);
		if (below(2) == 0) {
			*fleet_stage(fn) = next;
			fleet_publish(f, fn);
		} else {
			fleet_set(f, fn, &next);
		}
	}
}

static void test_sums_equal_a_recount(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct fleet f;

		rng_state = seed;
		fleet_init(&f, POOLS);
		for (int i = 0; i < WALK; i++) {
			operate(&f);
			check(&f);
		}
		assert_int_equal(f.nall, NAMES);
		fleet_fini(&f);
	}
}

/* --- names and generations -------------------------------------------------------------------- */

static void test_generations_in_any_order(void **state)
{
	static const uint64_t gens[] = {3, 9, 1, 5};
	struct fleet_name *nm;
	struct fleet f;

	(void)state;
	fleet_init(&f, 1);
	assert_null(fleet_find(&f, "c1"));
	for (size_t i = 0; i < 4; i++) {
		struct node n = make("c1", gens[i], NODE_GONE, 0);

		(void)fleet_add(&f, &n);
	}
	nm = fleet_find(&f, "c1");
	assert_int_equal(nm->newest->n.gen, 9);
	assert_int_equal(nm->last_gen, 9);
	assert_null(fleet_gen(nm, 2));
	assert_int_equal(nm->forgot_ms, 0);
	nm->newest->n.since_ms = 1234;
	fleet_del(&f, nm->newest);
	assert_int_equal(nm->forgot_ms, 1234);
	assert_int_equal(nm->newest->n.gen, 5);
	assert_int_equal(nm->last_gen, 9); /* a generation is never used twice */
	fleet_fini(&f);
}

static void test_live_is_the_newest_as_it_will_be(void **state)
{
	struct node n = make("c1", 1, NODE_READY, 0);
	struct fleet_node *fn;
	struct fleet f;

	(void)state;
	fleet_init(&f, 1);
	fn = fleet_add(&f, &n);
	assert_ptr_equal(fleet_live(fn->name), fn);
	fleet_stage(fn)->release = true;
	assert_null(fleet_live(fn->name));
	assert_false(fn->n.release); /* as durable */
	fleet_publish(&f, fn);
	assert_null(fn->next);
	assert_true(fn->n.release);
	assert_null(fleet_live(fn->name));
	n = make("c1", 2, NODE_GONE, 0);
	(void)fleet_add(&f, &n);
	assert_null(fleet_live(fn->name)); /* an older one is not it */
	fleet_fini(&f);
}

/* F58: an instance that the journal does not know has a higher generation, and is sent away.  What
 * slurmctld uses must stay in sight: else nobody would ever release it. */
static void test_live_though_a_newer_one_leaves(void **state)
{
	static const enum node_state leaving[] = {NODE_DELETING, NODE_GONE, NODE_QUARANTINED};

	(void)state;
	for (size_t i = 0; i < sizeof(leaving) / sizeof(leaving[0]); i++) {
		struct node n = make("c1", 5, NODE_READY, 0);
		struct fleet_node *used, *stranger;
		struct fleet f;

		fleet_init(&f, 1);
		used = fleet_add(&f, &n);
		n = make("c1", 7, leaving[i], 0);
		n.release = true;
		stranger = fleet_add(&f, &n);
		assert_ptr_equal(used->name->newest, stranger);
		assert_ptr_equal(fleet_live(used->name), used);
		fleet_fini(&f);
	}
}

/* P2: the next generation goes out only when every older one is gone or going. */
static void test_clear(void **state)
{
	static const char clear_when_older_is[NODE_NSTATES + 1] = "------xG-";
	struct fleet_node *old, *new;
	struct fleet f;

	(void)state;
	for (int s = 0; s < NODE_NSTATES; s++) {
		struct node n = make("c1", 1, (enum node_state)s, 0);

		fleet_init(&f, 1);
		old = fleet_add(&f, &n);
		n = make("c1", 3, NODE_WANTED, 0);
		new = fleet_add(&f, &n);
		assert_true(fleet_clear(old, true)); /* the younger one waits for it */
		new->n.state = NODE_BOOTING;         /* found at the provider */
		assert_false(fleet_clear(old, true));
		new->n.state = NODE_WANTED;
		assert_int_equal(fleet_clear(new, true), clear_when_older_is[s] == 'G');
		old->n.accepted = true;
		assert_int_equal(fleet_clear(new, true), clear_when_older_is[s] != '-');
		/* Its name is all that such a provider knows of it. */
		assert_int_equal(fleet_clear(new, false), clear_when_older_is[s] == 'G');
		/* What is only staged does not count: it is not durable. */
		fleet_stage(old)->state = NODE_GONE;
		assert_int_equal(fleet_clear(new, true), clear_when_older_is[s] != '-');
		fleet_fini(&f);
	}
}

static void test_sorted(void **state)
{
	static const char *const names[] = {"n10", "n2", "a", "n1", "n02"};
	static const char *const want[] = {"a", "b", "n02", "n1", "n2", "n10"};
	struct fleet_name *const *all;
	struct fleet f;

	(void)state;
	fleet_init(&f, 1);
	for (size_t i = 0; i < 5; i++)
		(void)fleet_name(&f, names[i], 0);
	assert_string_equal(fleet_sorted(&f)[4]->name, "n10");
	assert_ptr_equal(f.all[0], fleet_find(&f, "n10")); /* theirs is the order of arrival */
	all = fleet_sorted(&f);
	assert_ptr_equal(all, fleet_sorted(&f)); /* not sorted again for nothing */
	(void)fleet_name(&f, "b", 0);
	all = fleet_sorted(&f);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(all[i]->name, want[i]);
	fleet_fini(&f);
}

static void test_many_names(void **state)
{
	struct fleet f;
	char name[16];

	(void)state;
	fleet_init(&f, POOLS);
	for (uint32_t i = 0; i < 300; i++) {
		(void)snprintf(name, sizeof(name), "n%u", (unsigned)i);
		assert_int_equal(fleet_name(&f, name, i % POOLS)->pool, i % POOLS);
	}
	assert_int_equal(f.nall, 300);
	assert_string_equal(fleet_sorted(&f)[299]->name, "n299");
	fleet_fini(&f);
	assert_true(f.nall == 0 && f.all == NULL && f.npools == 0);
}

/* A reload brings pools; those that were there keep their sums, and the new ones have none. */
static void test_grow(void **state)
{
	const struct node n = make("c1", 1, NODE_READY, 1);
	static const struct fleet_pool none;
	struct fleet f;

	(void)state;
	fleet_init(&f, POOLS);
	(void)fleet_add(&f, &n);
	for (size_t to = POOLS; to < 200; to += 99) {
		fleet_grow(&f, to);
		assert_int_equal(f.npools, to);
		assert_int_equal(f.pools[1].nodes, 1);
		for (size_t p = 2; p < to; p++)
			assert_memory_equal(&f.pools[p], &none, sizeof(none));
	}
	(void)fleet_add(&f, &(struct node){.name = "d1", .gen = 1, .pool = 100});
	assert_int_equal(f.pools[100].nodes, 1);
	fleet_fini(&f);
}

static void test_addr(void **state)
{
	struct node n = make("c1", 1, NODE_READY, 0);
	struct fleet_name *nm;
	struct fleet_node *fn;
	struct fleet f;

	(void)state;
	n.wanted_ms = 10;
	(void)snprintf(n.stale_addr, sizeof(n.stale_addr), "10.0.0.9");
	fleet_init(&f, 1);
	nm = fleet_name(&f, "c1", 0);
	fleet_addr(nm, "");
	assert_null(nm->addr);
	fleet_addr_seen(nm, "10.0.0.8", 5);
	assert_string_equal(nm->addr, "10.0.0.8");
	fn = fleet_add(&f, &n);
	fleet_addr_seen(nm, "", 10); /* before it was wanted */
	assert_null(nm->addr);
	assert_false(fn->moved);
	fleet_addr_seen(nm, "::ffff:10.0.0.9", 11);
	assert_false(fn->moved);
	fleet_addr(nm, "10.0.0.7"); /* an order, which need not be carried out */
	assert_string_equal(nm->addr, "10.0.0.7");
	assert_false(fn->moved);
	fleet_addr_seen(nm, "", 11);
	assert_true(fn->moved);
	fleet_addr_seen(nm, "10.0.0.9", 12);
	assert_true(fn->moved); /* it is another time */
	fleet_fini(&f);         /* with the address */
}

static void test_tell(void **state)
{
	struct fleet_name *nm;
	struct fleet f;

	(void)state;
	fleet_init(&f, 1);
	nm = fleet_name(&f, "c1", 0);
	nm->elsewhere = mem_zalloc(sizeof(*nm->elsewhere)); /* freed with it */
	fleet_tell(nm, "none left", 5);
	fleet_tell(nm, "no quota", 6);
	assert_string_equal(nm->told, "no quota");
	assert_int_equal(nm->told_ms, 6);
	fleet_fini(&f);
}

static void test_exists(void **state)
{
	const struct node gone = make("c1", 2, NODE_GONE, 0),
			  going = make("c1", 1, NODE_DELETING, 0);
	struct fleet_name *nm;
	struct fleet f;

	(void)state;
	fleet_init(&f, 1);
	nm = fleet_name(&f, "c1", 0);
	assert_false(fleet_exists(nm));
	(void)fleet_add(&f, &gone);
	assert_false(fleet_exists(nm));
	(void)fleet_add(&f, &going);
	assert_true(fleet_exists(nm));
	fleet_fini(&f);
}

/* What is staged stays staged until it is published. */
static void test_stage(void **state)
{
	const struct node n = make("c1", 1, NODE_BOOTING, 0);
	struct fleet_node *fn;
	struct fleet f;

	(void)state;
	fleet_init(&f, 1);
	fn = fleet_add(&f, &n);
	fleet_stage(fn)->state = NODE_READY;
	assert_int_equal(fleet_stage(fn)->state, NODE_READY);
	assert_int_equal(fn->n.state, NODE_BOOTING);
	fleet_publish(&f, fn);
	assert_int_equal(fn->n.state, NODE_READY);
	fleet_fini(&f);
}

static void move_to(struct fleet *f, struct fleet_node *fn, enum node_state s, int64_t wake_ms)
{
	struct node next = fn->n;

	next.state = s;
	next.since_ms = 10;
	next.wake_ms = wake_ms;
	fleet_set(f, fn, &next);
}

/* Jobs are sent in the order in which they came, whole, and a hundred that are throttled together
 * come back in any order. */
static void test_who_was_throttled_has_the_place_that_it_had(void **state)
{
	static const size_t back[] = {3, 0, 2, 1};
	struct fleet_node *fn[6], *at;
	struct fleet f;

	(void)state;
	fleet_init(&f, POOLS);
	for (size_t i = 0; i < 6; i++) {
		const char name[] = {'c', (char)('1' + i), '\0'};
		const struct node n = make(name, 1, NODE_WANTED, 0);

		fn[i] = fleet_add(&f, &n);
	}
	for (size_t i = 0; i < 4; i++)
		move_to(&f, fn[i], NODE_CREATING, INT64_MAX);
	for (size_t i = 0; i < 4; i++)
		move_to(&f, fn[back[i]], NODE_WANTED, 10);
	at = f.states[NODE_WANTED];
	for (size_t i = 0; i < 6; i++, at = at->state_next)
		assert_ptr_equal(at, fn[i]);
	assert_null(at);
	/* One that waits for something else keeps no other; and the end is still the end. */
	move_to(&f, fn[0], NODE_CREATING, INT64_MAX);
	move_to(&f, fn[0], NODE_WANTED, 11);
	assert_ptr_equal(f.states[NODE_WANTED], fn[1]);
	assert_ptr_equal(fn[5]->state_next, fn[0]);
	fleet_fini(&f);
}

/* A gang is found by its nodes standing side by side. */
static void test_who_stays_in_a_state_keeps_his_place(void **state)
{
	struct fleet_node *fn[3];
	struct node next;
	struct fleet f;

	(void)state;
	fleet_init(&f, POOLS);
	for (size_t i = 0; i < 3; i++) {
		const char name[] = {'c', (char)('1' + i), '\0'};
		const struct node n = make(name, 1, NODE_WANTED, 0);

		fn[i] = fleet_add(&f, &n);
	}
	next = fn[0]->n;
	next.wake_ms = 7;
	fleet_set(&f, fn[0], &next);
	assert_ptr_equal(f.states[NODE_WANTED], fn[0]);
	assert_int_equal(f.wake_ms, 7);
	fleet_last(&f, fn[0]);
	assert_ptr_equal(f.states[NODE_WANTED], fn[1]);
	assert_ptr_equal(fn[2]->state_next, fn[0]);
	next.state = NODE_CREATING;
	fleet_set(&f, fn[0], &next);
	assert_ptr_equal(f.states[NODE_WANTED], fn[1]);
	assert_ptr_equal(fn[1]->state_next, fn[2]);
	assert_ptr_equal(f.states[NODE_CREATING], fn[0]);
	check(&f);
	fleet_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_equal_a_recount),
		cmocka_unit_test(test_generations_in_any_order),
		cmocka_unit_test(test_live_is_the_newest_as_it_will_be),
		cmocka_unit_test(test_live_though_a_newer_one_leaves),
		cmocka_unit_test(test_clear),
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_addr),
		cmocka_unit_test(test_tell),
		cmocka_unit_test(test_exists),
		cmocka_unit_test(test_stage),
		cmocka_unit_test(test_who_stays_in_a_state_keeps_his_place),
		cmocka_unit_test(test_who_was_throttled_has_the_place_that_it_had),
	};

	return cmocka_run_group_tests_name("fleet", tests, NULL, NULL);
}
