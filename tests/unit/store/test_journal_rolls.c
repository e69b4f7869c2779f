/* test_journal_rolls.c - new images: every field of a roll comes back, and the image of a machine
 * and of a create.  A file of the schema before has none of these, and is taken over with all that
 * is in it. */
#include "core/roll.h"
#include "fixture.h"
#include "store/journal_rolls.h"
#include "store/schema.h"

enum { ROWS_MAX = 8 };

struct found {
	struct roll rolls[ROWS_MAX];
	char pools[ROWS_MAX][PROVIDER_WORD_MAX + 1], offers[ROWS_MAX][PROVIDER_WORD_MAX + 1];
	size_t nrolls;
	struct node nodes[ROWS_MAX];
	size_t nnodes;
	struct journal_batch batches[ROWS_MAX];
	size_t nbatches;
};

static int find_roll(void *ctx, const struct journal_roll *x, struct err *e)
{
	struct found *s = ctx;

	(void)e;
	(void)snprintf(s->pools[s->nrolls], sizeof(s->pools[0]), "%s", x->pool);
	(void)snprintf(s->offers[s->nrolls], sizeof(s->offers[0]), "%s", x->offer);
	s->rolls[s->nrolls++] = x->r;
	return strcmp(x->pool, "stop") == 0 ? err_set(e, ERR_INVALID, "stopped") : 0;
}

static int find_node(void *ctx, const struct node *n, const char *pool, struct err *e)
{
	struct found *s = ctx;

	(void)pool;
	(void)e;
	s->nodes[s->nnodes++] = *n;
	return 0;
}

static int find_batch(void *ctx, const struct journal_batch *b, struct err *e)
{
	struct found *s = ctx;

	(void)e;
	s->batches[s->nbatches++] = *b;
	return 0;
}

static int try(struct fixture *f, struct found *s, struct err *e)
{
	const struct journal_visitor v = {
		.roll = find_roll, .node = find_node, .batch = find_batch, .ctx = s};

	*s = (struct found){.nrolls = 0};
	return journal_load(f->j, &v, e);
}

static void put(struct fixture *f, const char *pool, const char *offer, const struct roll *r)
{
	struct journal_tx *tx = journal_begin(f->j);
	struct journal_roll x = {.pool = pool, .offer = offer, .r = *r};

	journal_put_roll(tx, &x);
	x = (struct journal_roll){0}; /* effects are copies */
	commit(tx);
}

static const struct roll stopped = {.stage = ROLL_STOPPED,
				    .old = "ami-1",
				    .next = "ami-2",
				    .passed = UINT32_MAX,
				    .since_ms = INT64_MAX,
				    .why = "c1 is drained",
				    .by = "uid 7"};

static void every_field_of_a_roll_comes_back(void **state)
{
	struct fixture *f = *state;
	struct roll first;
	struct found s;

	roll_init(&first, "", 5);
	put(f, "h100", "west", &first);
	put(f, "h100", "", &first);
	put(f, "h100", "west", &stopped); /* replaces it */
	reopen(f);
	assert_int_equal(try(f, &s, NULL), 0);
	assert_int_equal(s.nrolls, 2);
	assert_string_equal(s.offers[0], "");
	assert_memory_equal(&s.rolls[0], &first, sizeof(first));
	assert_string_equal(s.pools[1], "h100");
	assert_string_equal(s.offers[1], "west");
	assert_memory_equal(&s.rolls[1], &stopped, sizeof(stopped));
}

static void every_stage_comes_back(void **state)
{
	struct fixture *f = *state;
	struct roll r = stopped;
	struct found s;

	for (int i = 0; i < ROLL_NSTAGES; i++) {
		r.stage = (enum roll_stage)i;
		put(f, "h100", "", &r);
		assert_int_equal(try(f, &s, NULL), 0);
		assert_int_equal(s.rolls[0].stage, i);
	}
}

static void a_visit_that_fails_ends_the_load(void **state)
{
	struct fixture *f = *state;
	struct found s;
	struct err e;

	put(f, "stop", "", &stopped);
	put(f, "zz", "", &stopped);
	assert_int_equal(try(f, &s, &e), -1);
	assert_int_equal(s.nrolls, 1);
}

static void what_nobody_can_have_written_is_refused(void **state)
{
	static const char *const bad[] = {"UPDATE roll SET stage = 'done'",
					  "UPDATE roll SET passed = -1",
					  "UPDATE roll SET next = printf('%.100c', 'x')",
					  "UPDATE roll SET why = printf('%.300c', 'x')"};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = {0};
		struct found s;

		put(f, "h100", "", &stopped);
		assert_int_equal(try(f, &s, NULL), 0);
		assert_int_equal(sql(f, bad[i]), SQLITE_OK);
		assert_int_equal(try(f, &s, &e), -1);
		assert_non_null(strstr(e.msg, "roll"));
	}
}

static void the_image_of_a_machine_comes_back(void **state)
{
	struct fixture *f = *state;
	struct node n = {.name = "c1", .gen = 3, .image = "ami-2", .canary = true};
	struct journal_batch b = {
		.id = 4, .token = "t", .pool = "h100", .provider = "aws", .image = "ami-2"};
	struct journal_tx *tx = journal_begin(f->j);
	struct found s;

	journal_put_node(tx, &n, "h100");
	journal_put_batch(tx, &b);
	commit(tx);
	reopen(f);
	assert_int_equal(try(f, &s, NULL), 0);
	assert_string_equal(s.nodes[0].image, "ami-2");
	assert_true(s.nodes[0].canary);
	assert_string_equal(s.batches[0].image, "ami-2");
	(void)snprintf(n.image, sizeof(n.image), "ami-3"); /* bought anew */
	n.canary = false;
	(void)snprintf(b.image, sizeof(b.image), "ami-3");
	tx = journal_begin(f->j);
	journal_put_node(tx, &n, "h100");
	journal_put_batch(tx, &b);
	commit(tx);
	assert_int_equal(try(f, &s, NULL), 0);
	assert_string_equal(s.nodes[0].image, "ami-3");
	assert_false(s.nodes[0].canary);
	assert_string_equal(s.batches[0].image, "ami-3");
}

static void a_file_of_the_schema_before_is_taken_over(void **state)
{
	struct fixture *f = *state;
	struct node n = {.name = "c1", .gen = 7, .instance = "i-1", .state = NODE_READY};
	struct journal_batch b = {.id = 9, .token = "t", .pool = "h100", .provider = "aws"};
	struct journal_tx *tx = journal_begin(f->j);
	struct found s;

	journal_put_node(tx, &n, "h100");
	journal_put_batch(tx, &b);
	commit(tx);
	close_journal(f);
	assert_int_equal(sql(f, BEFORE_IMAGES "PRAGMA user_version = 23"), SQLITE_OK);
	open_journal(f, true);
	assert_int_equal(try(f, &s, NULL), 0);
	assert_int_equal(s.nrolls, 0);
	assert_int_equal(s.nnodes, 1);
	assert_string_equal(s.nodes[0].instance, "i-1");
	assert_string_equal(s.nodes[0].image, ""); /* nobody noted it */
	assert_false(s.nodes[0].canary);
	assert_int_equal(s.nbatches, 1);
	assert_string_equal(s.batches[0].image, ""); /* so a repeat has the same bytes (I4) */
	put(f, "h100", "", &stopped);
	assert_int_equal(try(f, &s, NULL), 0);
	assert_int_equal(s.nrolls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_field_of_a_roll_comes_back),
		TEST(every_stage_comes_back),
		TEST(a_visit_that_fails_ends_the_load),
		TEST(what_nobody_can_have_written_is_refused),
		TEST(the_image_of_a_machine_comes_back),
		TEST(a_file_of_the_schema_before_is_taken_over),
	};

	return cmocka_run_group_tests_name("journal_rolls", tests, NULL, NULL);
}
