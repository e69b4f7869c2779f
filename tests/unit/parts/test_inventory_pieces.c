/* test_inventory_pieces.c - a list that is compared in pieces, while rows change in between
 * (ADR 47). */
#include "buy/buy.h"
#include "listed_engine.h"

enum { PIECE = 2 * ENGINE_LOOKS };

static struct provider_instance machine(const char *id, const char *node, uint64_t gen)
{
	struct provider_instance in = {.state = PROVIDER_RUNNING, .gen = gen, .created_ms = 1};

	(void)snprintf(in.id, sizeof(in.id), "%s", id);
	(void)snprintf(in.node, sizeof(in.node), "%s", node);
	(void)snprintf(in.cluster, sizeof(in.cluster), "%s", uuid);
	return in;
}

static struct cloud *begin(struct fix *f)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};

	load(f, NODE_READY, &ours);
	f->e->slice.write = 5;
	return &f->e->cloud->all[0];
}

/* Put n instances into the list: others' but for those that the test sets. */
static struct provider_instance *fill(const struct fix *f, struct cloud *c, size_t n)
{
	c->seen = mem_zalloc(n * sizeof(*c->seen));
	c->nseen = n;
	for (size_t i = 0; i < n; i++) {
		char id[24];

		(void)snprintf(id, sizeof(id), "x-%zu", i);
		c->seen[i] = machine(id, "", 0);
		(void)snprintf(c->seen[i].cluster, sizeof(c->seen[i].cluster), "another");
	}
	c->list_began = loop_now(f->loop) + 1;
	c->unsure = false;
	return c->seen;
}

static unsigned take_all(struct fix *f, struct cloud *c)
{
	unsigned turns = 1;

	while (!inventory_part.listed(c)) {
		engine_commit(f->e);
		turns++;
	}
	engine_commit(f->e);
	free(c->seen);
	c->seen = NULL;
	c->nseen = 0;
	c->comparison = (struct comparison){.runs = false};
	return turns;
}

static void test_each_piece_is_as_long_as_a_turn_may_be(void **state)
{
	struct fix *f = *state;
	struct cloud *c = begin(f);
	struct provider_instance *seen = fill(f, c, 2 * PIECE + 5);
	struct fleet_node *c1 = fleet_find(&f->e->fleet, "c1")->newest;

	f->e->count.foreign = 77;
	seen[2] = machine("i-1", "c1", 5);
	seen[2 * PIECE + 1] = machine("i-1", "c1", 5); /* the same once more, in another piece */
	seen[2 * PIECE + 2] = machine("i-2", "x9", 5); /* a stray */
	f->e->left = 100;
	assert_false(inventory_part.listed(c));
	assert_int_equal(f->e->left, 98);
	assert_int_equal(c->comparison.at, PIECE);
	assert_int_not_equal(c1->seen_ms, c->list_began);
	assert_int_equal(f->e->count.foreign, 77); /* as of the last whole list */
	/* 45 entries are merged and 44 looked at, twenty in a turn; one turn is over. */
	assert_int_equal(take_all(f, c), 4);
	assert_int_equal(f->e->count.foreign, 2 * PIECE + 2);
	assert_true(c1->seen_ms == c->list_began);
	assert_int_equal(c->nstrays, 1);
}

/* The answer to its create comes between two pieces: it is no stray. */
static void test_who_gets_its_row_meanwhile_is_that_rows(void **state)
{
	struct fix *f = *state;
	struct cloud *c = begin(f);
	struct provider_instance *seen = fill(f, c, 2 * PIECE);
	struct provider_instance made = machine("i-2", "c2", 1);
	struct node_event ev = {.type = NODE_EV_START, .batch = 7};
	struct fleet_node *c2;

	seen[0] = machine("i-1", "c1", 5);
	seen[1] = made;
	assert_false(inventory_part.listed(c)); /* merged ... */
	assert_false(inventory_part.listed(c)); /* ... all of them */
	assert_false(inventory_part.listed(c)); /* the first piece, of which i-2 has no row */
	call(f, "c2", NULL);
	c2 = fleet_find(&f->e->fleet, "c2")->newest;
	ev.now_ms = engine_now(f->e);
	engine_post(f->e, c2, &ev);
	ev = (struct node_event){
		.type = NODE_EV_CREATED, .instance = &made, .now_ms = engine_now(f->e)};
	engine_post(f->e, c2, &ev);
	engine_commit(f->e);
	(void)take_all(f, c);
	assert_string_equal(c2->n.instance, "i-2");
	assert_true(c2->seen_ms == c->list_began);
	assert_int_equal(c->nstrays, 0);
	assert_ptr_equal(fleet_find(&f->e->fleet, "c2")->newest, c2);
}

/* A row that was not in the list, and one that came after it began (I9). */
static void test_who_is_absent_is_so_once_all_pieces_are_taken(void **state)
{
	struct fix *f = *state;
	struct cloud *c = begin(f);
	struct fleet_node *c1 = fleet_find(&f->e->fleet, "c1")->newest;

	c1->name->flags = SLURM_KNOWN | SLURM_CLOUD | SLURM_DOWN;
	(void)fill(f, c, 2 * PIECE);
	for (int i = 0; i < 3; i++) {
		assert_false(inventory_part.listed(c));
		engine_commit(f->e);
		assert_int_equal(c1->n.misses, 0);
	}
	(void)take_all(f, c);
	assert_int_equal(c1->n.misses, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_piece_is_as_long_as_a_turn_may_be, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_who_gets_its_row_meanwhile_is_that_rows, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_who_is_absent_is_so_once_all_pieces_are_taken,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
