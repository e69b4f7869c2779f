/* Bills: each as it was written, the newest first, and their sum for each pool. */
#include "store/journal_usage.h"

#include <string.h>

#include "fixture.h"

static int on_usage(void *ctx, const struct journal_usage *u)
{
	char *to = ctx;
	size_t n = strlen(to);

	(void)snprintf(to + n, 200 - n, "%llu %s %s %lld %lld %lld %lld;",
		       (unsigned long long)u->gen, u->instance, u->pool, (long long)u->start_ms,
		       (long long)u->end_ms, (long long)u->rate_nano_h, (long long)u->cost_nano);
	return to[0] == '.';
}

/* A sum beyond all numbers is the largest there is, and no reason not to start. */
static void test_bills_beyond_all_numbers(void **state)
{
	static const int64_t costs[] = {INT64_MAX - 5, 3, 4, INT64_MAX};
	static const int64_t sums[] = {INT64_MAX - 5, INT64_MAX - 2, INT64_MAX, INT64_MAX};
	struct fixture *f = *state;
	struct journal_usage u = {.pool = "h100", .node = "c1", .instance = "i-1"};

	for (size_t i = 0; i < 4; i++) {
		struct journal_tx *tx = journal_begin(f->j);
		struct seen *s;

		u.gen = i + 1;
		u.cost_nano = costs[i];
		journal_put_usage(tx, &u);
		commit(tx);
		s = load(f);
		assert_int_equal(s->nspent, 1);
		assert_true(s->spent[0] == sums[i]);
		forget(s);
	}
}

static void test_usage(void **state)
{
	char texts[200];
	struct journal_usage u = {.pool = "h100",
				  .node = "c1",
				  .instance = "i-1",
				  .gen = 1,
				  .start_ms = 1,
				  .end_ms = 2,
				  .rate_nano_h = 3,
				  .cost_nano = INT64_C(5000000000000)};
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct seen *s;

	journal_put_usage(tx, &u);
	u.gen = 2;
	u.cost_nano = 7;
	journal_put_usage(tx, &u);
	u.pool = "a100";
	u.node = "a1";
	journal_put_usage(tx, &u);
	u.cost_nano = 8; /* billed again: not twice */
	journal_put_usage(tx, &u);
	commit(tx);
	reopen(f);
	s = load(f);
	assert_int_equal(s->nspent, 2);
	assert_string_equal(s->spent_pool[0], "a100");
	assert_int_equal(s->spent[0], 8);
	assert_string_equal(s->spent_pool[1], "h100");
	assert_int_equal(s->spent[1], INT64_C(5000000000007));
	forget(s);
	/* Those of one node, the newest first, as they were written; a visit may end it. */
	texts[0] = '\0';
	assert_int_equal(journal_usages(f->j, "c1", on_usage, texts, NULL), 0);
	assert_string_equal(texts, "2 i-1 h100 1 2 3 7;1 i-1 h100 1 2 3 5000000000000;");
	texts[0] = '\0';
	assert_int_equal(journal_usages(f->j, "a1", on_usage, texts, NULL), 0);
	assert_string_equal(texts, "2 i-1 a100 1 2 3 8;");
	texts[0] = '.';
	texts[1] = '\0';
	assert_int_equal(journal_usages(f->j, "c1", on_usage, texts, NULL), 0);
	assert_string_equal(texts, ".2 i-1 h100 1 2 3 7;");
}

/* One instance's, of no other node: its generation's, or the next one's, and no older one's. */
static void test_usage_of_an_instance(void **state)
{
	static const struct {
		struct journal_usage_key key;
		const char *want;
	} asked[] = {{{"c1", "i-1", 1}, "1 i-1 h100 1 2 3 4;"},
		     {{"c1", "i-1", 2}, "2 i-1 h100 1 2 3 4;"},
		     {{"c1", "i-1", 3}, ""},
		     {{"c1", "i-2", 1}, "3 i-2 h100 1 2 3 4;"},
		     {{"c2", "i-1", 1}, "9 i-1 h100 1 2 3 4;"},
		     {{"c2", "i-2", 1}, ""},
		     {{"c3", "i-1", 1}, ""}};
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct journal_usage u = {
		.pool = "h100", .start_ms = 1, .end_ms = 2, .rate_nano_h = 3, .cost_nano = 4};

	for (uint64_t gen = 1; gen <= 4; gen++) {
		u.node = gen < 4 ? "c1" : "c2";
		u.gen = gen < 4 ? gen : 9;
		u.instance = gen == 3 ? "i-2" : "i-1";
		journal_put_usage(tx, &u);
	}
	commit(tx);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		char texts[200] = "";

		assert_int_equal(journal_usage_of(f->j, &asked[i].key, on_usage, texts, NULL), 0);
		assert_string_equal(texts, asked[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_usage),
		TEST(test_usage_of_an_instance),
		TEST(test_bills_beyond_all_numbers),
	};

	return cmocka_run_group_tests_name("journal, bills", tests, NULL, NULL);
}
