/* Vouchers: every field comes back, bit for bit; what nobody can have written is refused; a token
 * that was wiped is nowhere in the file; and a file of the schema before is taken over. */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "store/journal_vouchers.h"
#include "store/schema.h"
#include "tests/unit/watched_heap.h"

#define PART  "CAESIToken-of_c1_"
#define TOKEN "hvs." PART PART PART PART PART PART PART PART PART PART PART PART

static unsigned given_back; /* of those, unwiped */

#ifndef OWN_HEAP
/* As only a transaction has it that is not written yet. */
static const char staged[] = "held\0hvs.CAESIToken";

static void heap_given_back(const char *p, size_t size)
{
	given_back += memmem(p, size, staged, sizeof(staged) - 1) != NULL;
}
#endif

enum { ROWS_MAX = 8, SCHEMA_BEFORE = 8 };

struct vouchers {
	struct voucher rows[ROWS_MAX];
	char tokens[ROWS_MAX][SECRET_TOKEN_MAX + 1];
	size_t n;
};

static int see_voucher(void *ctx, struct voucher *v, struct err *e)
{
	struct vouchers *s = ctx;

	(void)e;
	s->rows[s->n] = *v;
	if (v->token != NULL)
		(void)snprintf(s->tokens[s->n], sizeof(s->tokens[0]), "%s", secret_text(v->token));
	s->rows[s->n++].token = NULL; /* the caller wipes what is not taken */
	return 0;
}

static int try_vouchers(struct fixture *f, struct vouchers *s)
{
	const struct journal_visitor v = {.voucher = see_voucher, .ctx = s};

	memset(s, 0, sizeof(*s));
	return journal_load(f->j, &v, NULL);
}

static void put(struct fixture *f, const struct voucher *v)
{
	struct journal_tx *tx = journal_begin(f->j);

	journal_put_voucher(tx, v);
	commit(tx);
}

static struct voucher held(void)
{
	return (struct voucher){.node = "c1",
				.gen = UINT64_MAX,
				.state = VOUCHER_HELD,
				.token = secret_new(TOKEN, strlen(TOKEN)),
				.accessor = "acc1",
				.version = 7,
				.gpus = 8,
				.gpu_type = "gb300",
				.made_ms = 100,
				.ends_ms = INT64_MAX,
				.since_ms = 101};
}

static void same(const struct voucher *a, const struct voucher *b)
{
	assert_string_equal(a->node, b->node);
	assert_int_equal(a->gen, b->gen);
	assert_int_equal(a->state, b->state);
	assert_string_equal(a->accessor, b->accessor);
	assert_int_equal(a->version, b->version);
	assert_int_equal(a->gpus, b->gpus);
	assert_string_equal(a->gpu_type, b->gpu_type);
	assert_int_equal(a->made_ms, b->made_ms);
	assert_int_equal(a->ends_ms, b->ends_ms);
	assert_int_equal(a->since_ms, b->since_ms);
}

static void every_field_of_a_voucher_comes_back(void **state)
{
	struct fixture *f = *state;
	struct voucher a = held(), b = held();
	struct vouchers s;
	struct journal_tx *tx;

	b.gen = 2;
	put(f, &a);
	put(f, &b);
	reopen(f);
	assert_int_equal(try_vouchers(f, &s), 0);
	assert_int_equal(s.n, 2);
	same(&s.rows[0], &a); /* as the file has numbers: that one is -1 there */
	assert_string_equal(s.tokens[0], TOKEN);
	same(&s.rows[1], &b);
	tx = journal_begin(f->j);
	journal_del_voucher(tx, "c1", 2);
	journal_del_voucher(tx, "c1", 3); /* not there */
	commit(tx);
	reopen(f);
	assert_int_equal(try_vouchers(f, &s), 0);
	assert_int_equal(s.n, 1);
	same(&s.rows[0], &a);
	voucher_fini(&a);
	voucher_fini(&b);
}

/* The log is gone once the file is closed. */
static bool file_has(const struct fixture *f, const char *text)
{
	static char bytes[1 << 20];
	FILE *file = fopen(f->path, "rb");
	size_t n;

	assert_non_null(file);
	n = fread(bytes, 1, sizeof(bytes), file);
	(void)fclose(file);
	return memmem(bytes, n, text, strlen(text)) != NULL;
}

static void a_token_that_was_wiped_is_nowhere_in_the_file(void **state)
{
	struct fixture *f = *state;
	struct voucher a = held();
	struct vouchers s;

	put(f, &a);
	close_journal(f);
	assert_true(file_has(f, "CAESIToken"));
	open_journal(f, true);
	voucher_fini(&a);
	a.state = VOUCHER_SPENT;
	put(f, &a);
	close_journal(f);
	assert_false(file_has(f, "CAESIToken"));
	open_journal(f, true);
	assert_int_equal(try_vouchers(f, &s), 0);
	assert_int_equal(s.rows[0].state, VOUCHER_SPENT);
	assert_string_equal(s.tokens[0], "");
}

/* Nor in what is given back to the heap, when it grows and when it is over. */
static void a_token_is_wiped_when_it_is_written(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct voucher a = held();

	given_back = 0;
	for (int i = 0; i < 40; i++)
		journal_put_voucher(tx, &a);
	commit(tx);
	assert_int_equal(given_back, 0);
	tx = journal_begin(f->j);
	journal_put_voucher(tx, &a);
	journal_abandon(tx);
	assert_int_equal(given_back, 0);
	voucher_fini(&a);
}

static void what_nobody_can_have_written_is_refused(void **state)
{
	static const char *const bad[] = {
		"UPDATE voucher SET state = 'issued'",
		"UPDATE voucher SET token = ''",
		"UPDATE voucher SET state = 'spent'",
		"UPDATE voucher SET node = 'c1; reboot'",
		"UPDATE voucher SET epoch = 9",
		"UPDATE voucher SET gpus = -1",
		"UPDATE voucher SET version = -1",
		"UPDATE voucher SET accessor = hex(zeroblob(100))",
		"UPDATE voucher SET token = hex(zeroblob(600))",
	};
	struct fixture *f = *state;
	struct voucher a = held();
	struct vouchers s;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put(f, &a);
		assert_int_equal(sql(f, bad[i]), SQLITE_OK);
		if (try_vouchers(f, &s) != -1)
			fail_msg("%s", bad[i]);
		assert_int_equal(sql(f, "DELETE FROM voucher"), SQLITE_OK);
	}
	voucher_fini(&a);
}

static void a_file_of_the_schema_before_is_taken_over(void **state)
{
	struct fixture *f = *state;
	struct voucher a = held();
	struct vouchers s;

	close_journal(f);
	assert_int_equal(unlink(f->path), 0);
	for (int i = 0; i < SCHEMA_BEFORE; i++)
		assert_int_equal(sql(f, schema_steps[i]), SQLITE_OK);
	assert_int_equal(sql(f, "PRAGMA user_version = 8"), SQLITE_OK);
	open_journal(f, true);
	assert_int_equal(try_vouchers(f, &s), 0);
	assert_int_equal(s.n, 0);
	put(f, &a);
	assert_int_equal(try_vouchers(f, &s), 0);
	assert_int_equal(s.n, 1);
	voucher_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_field_of_a_voucher_comes_back),
		TEST(a_token_that_was_wiped_is_nowhere_in_the_file),
		TEST(a_token_is_wiped_when_it_is_written),
		TEST(what_nobody_can_have_written_is_refused),
		TEST(a_file_of_the_schema_before_is_taken_over),
	};

	return cmocka_run_group_tests_name("journal_voucher", tests, NULL, NULL);
}
