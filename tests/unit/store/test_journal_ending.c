/* Jobs that a budget ends: every field comes back, one row replaces another, and what nobody can
 * have written is refused (F55). */
#include "store/journal_budget.h"
#include "store/journal_jobs.h"

#include "fixture.h"
#include "store/schema.h"

enum { ROWS_MAX = 4 };

struct endings {
	struct journal_ending v[ROWS_MAX];
	size_t n;
	bool stop;
};

static int see_ending(void *ctx, const struct journal_ending *x, struct err *e)
{
	struct endings *all = ctx;

	assert_true(all->n < ROWS_MAX);
	all->v[all->n++] = *x;
	return all->stop ? err_set(e, ERR_INVALID, "stopped") : 0;
}

static int load_endings(struct fixture *f, struct endings *all, struct err *e)
{
	const struct journal_visitor v = {.ending = see_ending, .ctx = all};

	return journal_load(f->j, &v, e);
}

static struct journal_ending full(void)
{
	return (struct journal_ending){.job = UINT64_C(0xfedcba9876543210),
				       .id = "7_12",
				       .pool = "h100",
				       .first_ms = 1,
				       .at_ms = 2,
				       .at = {[BUDGET_REQUEUES] = {true, false, true, 3},
					      [BUDGET_KILLS] = {false, true, false, 4}},
				       .tried = true,
				       .ordered = BUDGET_KILLS,
				       .refused = BUDGET_REQUEUES,
				       .budget = "physics",
				       .value = "ann",
				       .period = "2026-11"};
}

static void put(struct fixture *f, const struct journal_ending *x)
{
	struct journal_tx *tx = journal_begin(f->j);

	journal_put_ending(tx, x);
	commit(tx);
}

static void same(const struct journal_ending *a, const struct journal_ending *b)
{
	assert_true(a->job == b->job);
	assert_string_equal(a->id, b->id);
	assert_string_equal(a->pool, b->pool);
	assert_int_equal(a->first_ms, b->first_ms);
	assert_int_equal(a->at_ms, b->at_ms);
	for (int s = BUDGET_REQUEUES; s < BUDGET_NSTEPS; s++) {
		assert_int_equal(a->at[s].told, b->at[s].told);
		assert_int_equal(a->at[s].signalled, b->at[s].signalled);
		assert_int_equal(a->at[s].crowded, b->at[s].crowded);
		assert_int_equal(a->at[s].put_off_ms, b->at[s].put_off_ms);
	}
	assert_int_equal(a->tried, b->tried);
	assert_int_equal(a->ordered, b->ordered);
	assert_int_equal(a->refused, b->refused);
	assert_string_equal(a->budget, b->budget);
	assert_string_equal(a->value, b->value);
	assert_string_equal(a->period, b->period);
}

static void test_every_field_comes_back(void **state)
{
	struct fixture *f = *state;
	struct journal_ending x = full();
	struct endings all = {.n = 0};
	struct journal_tx *tx;
	struct err e;

	put(f, &x);
	x.at[BUDGET_REQUEUES] = (struct journal_end){false, true, false, 5};
	x.at[BUDGET_KILLS] = (struct journal_end){true, false, true, 6};
	x.tried = false;
	x.at_ms = 7;
	put(f, &x);
	reopen(f);
	assert_int_equal(load_endings(f, &all, &e), 0);
	assert_int_equal(all.n, 1);
	same(&all.v[0], &x);
	all = (struct endings){.stop = true};
	assert_int_equal(load_endings(f, &all, &e), -1);
	tx = journal_begin(f->j);
	journal_del_ending(tx, x.job);
	journal_del_ending(tx, 1); /* there is none */
	commit(tx);
	all = (struct endings){.n = 0};
	assert_int_equal(load_endings(f, &all, &e), 0);
	assert_int_equal(all.n, 0);
}

static void test_damaged(void **state)
{
	static const char *const rows[] = {
		"UPDATE ending SET id = hex(zeroblob(100))",
		"UPDATE ending SET pool = hex(zeroblob(100))",
		"UPDATE ending SET first_ms = -1",
		"UPDATE ending SET at_ms = 'noon'",
		"UPDATE ending SET requeue_flags = 8",
		"UPDATE ending SET kill_flags = -1",
		"UPDATE ending SET requeue_off_ms = -1",
		"UPDATE ending SET kill_off_ms = 'late'",
		"UPDATE ending SET tried = 2",
		"UPDATE ending SET ordered = 4",
		"UPDATE ending SET refused = -1",
		"UPDATE ending SET budget = hex(zeroblob(100))",
		"UPDATE ending SET value = hex(zeroblob(100))",
		"UPDATE ending SET period = hex(zeroblob(100))",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct journal_ending x = full();
		struct endings all = {.n = 0};
		struct err e = {0};
		struct fixture *f;

		print_message("# %s\n", rows[i]);
		teardown(state);
		setup(state);
		f = *state;
		put(f, &x);
		assert_int_equal(sql(f, rows[i]), SQLITE_OK);
		assert_int_equal(load_endings(f, &all, &e), -1);
		assert_int_equal(e.code, ERR_DAMAGED);
		assert_non_null(strstr(e.msg, "ending"));
	}
}

/* A journal from before has no such jobs; what it has stays. */
static void test_a_journal_from_before(void **state)
{
	const struct journal_ending x = full();
	struct fixture *f = *state;
	struct endings all = {.n = 0};
	struct seen *s;
	struct err e;

	fill(f);
	close_journal(f);
	assert_int_equal(sql(f, BEFORE_IMAGES
			     "DROP TABLE ending; DROP TABLE drained; ALTER TABLE alert DROP "
			     "COLUMN carried_nano; PRAGMA user_version = 21"),
			 SQLITE_OK);
	open_journal(f, true);
	put(f, &x);
	assert_int_equal(load_endings(f, &all, &e), 0);
	assert_int_equal(all.n, 1);
	s = load(f);
	assert_int_equal(s->nnodes, 2);
	forget(s);
}

static int see_drained(void *ctx, const char *node, uint64_t gen, struct err *e)
{
	char *out = ctx;
	size_t n = strlen(out);

	(void)snprintf(out + n, 100 - n, "%s/%llx ", node, (unsigned long long)gen);
	return strcmp(node, "stop") == 0 ? err_set(e, ERR_INVALID, "stopped") : 0;
}

/* A machine that was drained is so once, by its name and generation. */
static void test_drained_machines(void **state)
{
	struct fixture *f = *state;
	char all[100] = "";
	const struct journal_visitor v = {.drained = see_drained, .ctx = all};
	struct journal_tx *tx = journal_begin(f->j);
	struct err e = {0};

	journal_put_drained(tx, "c2", 1);
	journal_put_drained(tx, "c1", UINT64_C(0xfedcba9876543210));
	journal_put_drained(tx, "c2", 2);
	journal_put_drained(tx, "c2", 2);
	journal_del_drained(tx, "c2", 1);
	journal_del_drained(tx, "c3", 2);
	commit(tx);
	reopen(f);
	assert_int_equal(journal_load(f->j, &v, &e), 0);
	assert_string_equal(all, "c1/fedcba9876543210 c2/2 ");
	assert_int_equal(sql(f, "UPDATE drained SET node = 'stop' WHERE node = 'c1'"), SQLITE_OK);
	assert_int_equal(journal_load(f->j, &v, &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
	assert_int_equal(sql(f, "UPDATE drained SET node = hex(zeroblob(200))"), SQLITE_OK);
	assert_int_equal(journal_load(f->j, &v, &e), -1);
	assert_int_equal(e.code, ERR_DAMAGED);
}

static int see_budget(void *ctx, const struct journal_budget *b, struct err *e)
{
	(void)e;
	*(struct journal_budget *)ctx = *b;
	return 0;
}

/* Steps of a budget change alone, in the row of that period, and make no row. */
static void test_steps_of_a_budget(void **state)
{
	struct fixture *f = *state;
	const struct journal_budget b = {.budget = "physics",
					 .value = "ann",
					 .period = "2026-11",
					 .counted = "all",
					 .begin_ms = 5,
					 .end_ms = 6,
					 .amount = 7,
					 .since_ms = {0, 1, 2, 3},
					 .at_ms = 8};
	struct journal_budget got = {.amount = 0};
	const struct journal_visitor v = {.budget = see_budget, .ctx = &got};
	struct journal_tx *tx = journal_begin(f->j);
	static const char *const others[][2] = {{"physics", ""}, {"chem", "ann"}};
	struct err e;

	journal_put_budget(tx, &b);
	for (size_t i = 0; i < 2; i++) {
		struct journal_budget o = {
			.budget = others[i][0], .value = others[i][1], .begin_ms = 5};

		journal_put_budget_steps(tx, &o);
	}
	journal_put_budget_steps(
		tx, &(struct journal_budget){.budget = "physics", .value = "ann", .begin_ms = 4});
	commit(tx);
	assert_int_equal(journal_load(f->j, &v, &e), 0);
	assert_int_equal(got.since_ms[BUDGET_DRAINS], 1);
	assert_int_equal(got.since_ms[BUDGET_KILLS], 3);
	tx = journal_begin(f->j);
	journal_put_budget_steps(tx, &(struct journal_budget){.budget = "physics",
							      .value = "ann",
							      .begin_ms = 5,
							      .since_ms = {0, 0, 9, 0}});
	commit(tx);
	assert_int_equal(journal_load(f->j, &v, &e), 0);
	assert_int_equal(got.since_ms[BUDGET_DRAINS], 0);
	assert_int_equal(got.since_ms[BUDGET_REQUEUES], 9);
	assert_int_equal(got.since_ms[BUDGET_KILLS], 0);
	assert_int_equal(got.amount, 7);
	assert_int_equal(got.at_ms, 8);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_every_field_comes_back), TEST(test_damaged),
		TEST(test_a_journal_from_before),  TEST(test_steps_of_a_budget),
		TEST(test_drained_machines),
	};

	return cmocka_run_group_tests_name("journal_ending", tests, NULL, NULL);
}
