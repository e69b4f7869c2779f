/* The audit chain: what was written before each request can be proved to be as it was written. */
#include "store/journal.h"

#include <string.h>

#include "fixture.h"

#define HASH_1 "b6211a79c6c7536ec2d68d5f8ebf885a81447ef2e320aedc5995e63769705028"

static void put(struct journal_tx *tx, int64_t at_ms, const char *object)
{
	journal_put_audit(tx, &(struct journal_audit){.at_ms = at_ms,
						      .actor = "reconciler",
						      .verb = "create",
						      .target = "aws",
						      .object = object,
						      .reason = "wanted",
						      .request = "burstd-1"});
}

/* Records 1 to n, two in each commit, at 1000, 2000, ... */
static void fill_chain(struct fixture *f, int n)
{
	for (int i = 1; i <= n; i += 2) {
		struct journal_tx *tx = journal_begin(f->j);
		char name[16];

		for (int k = i; k < i + 2 && k <= n; k++) {
			(void)snprintf(name, sizeof(name), "c%d", k);
			put(tx, k * 1000, name);
		}
		commit(tx);
	}
}

static struct journal_chain check_known(struct fixture *f, const struct journal_mark *known)
{
	struct journal_chain c = {.known = known};
	struct err e = {0};

	do {
		if (journal_audit_check(f->j, &c, &e) < 0)
			fail_msg("%s", e.msg);
	} while (c.more);
	return c;
}

static void assert_bad(struct fixture *f, int64_t seq, const char *what)
{
	struct journal_chain c = check_known(f, NULL);

	assert_int_equal(c.bad, seq);
	assert_non_null(c.what);
	assert_string_equal(c.what, what);
}

static void assert_good(struct fixture *f, int64_t records)
{
	struct journal_chain c = check_known(f, NULL);

	if (c.bad != 0)
		fail_msg("record %lld: %s", (long long)c.bad, c.what);
	assert_int_equal(c.records, records);
}

static int keep_one(void *ctx, const struct journal_audit *a)
{
	char *text = ctx;

	(void)snprintf(text, 512, "%lld %lld %s %s %s %s %s %s %s", (long long)a->seq,
		       (long long)a->at_ms, a->actor, a->verb, a->target, a->object, a->reason,
		       a->request, a->hash);
	return 0;
}

/* The hash is what docs/operations.md says, so that another program can make it too:
 * printf '%064d1:1,4:1000,10:reconciler,6:create,3:aws,2:c1,6:wanted,8:burstd-1,' 0 | sha256sum */
static void test_a_record_comes_back_with_the_documented_hash(void **state)
{
	struct fixture *f = *state;
	char text[512] = "";

	fill_chain(f, 1);
	assert_int_equal(journal_audits(f->j, 0, 10, keep_one, text, NULL), 0);
	assert_string_equal(text, "1 1000 reconciler create aws c1 wanted burstd-1 " HASH_1);
	assert_string_equal(journal_audit_head(f->j)->hash, HASH_1);
}

static void test_the_chain_goes_on_over_commits_and_restarts(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx;

	assert_good(f, 0);
	fill_chain(f, 5);
	assert_good(f, 5);
	reopen(f);
	assert_good(f, 5);
	tx = journal_begin(f->j);
	put(tx, 6000, "c6");
	journal_abandon(tx); /* never was */
	fill_chain(f, 3);
	reopen(f);
	assert_good(f, 8);
	assert_int_equal(journal_audit_head(f->j)->seq, 8);
}

static void test_a_long_chain_is_looked_through_in_pieces(void **state)
{
	struct fixture *f = *state;
	struct journal_chain c = {.begun = false};

	fill_chain(f, 1200);
	assert_int_equal(journal_audit_check(f->j, &c, NULL), 0);
	assert_true(c.more);
	assert_int_equal(c.records, 500);
	assert_good(f, 1200);
	assert_int_equal(sql(f, "DROP TRIGGER audit_append_only;"
				"UPDATE audit SET object = 'c9' WHERE seq = 1100"),
			 0);
	assert_bad(f, 1100, "changed");
}

#define FREE "DROP TRIGGER audit_append_only; DROP TRIGGER audit_kept;"

static void test_records_are_append_only(void **state)
{
	struct fixture *f = *state;

	fill_chain(f, 3);
	assert_int_not_equal(sql(f, "UPDATE audit SET reason = ''"), 0);
	assert_int_not_equal(sql(f, "DELETE FROM audit"), 0);
	assert_int_not_equal(sql(f, "DELETE FROM audit WHERE seq = 3"), 0);
	assert_good(f, 3);
}

static void test_each_kind_of_tampering_is_found(void **state)
{
	static const struct {
		const char *sql, *what;
		int64_t seq;
	} t[] = {
		{"UPDATE audit SET actor = 'root' WHERE seq = 3", "changed", 3},
		{"UPDATE audit SET verb = 'delete' WHERE seq = 3", "changed", 3},
		{"UPDATE audit SET target = 'gcp' WHERE seq = 3", "changed", 3},
		{"UPDATE audit SET object = 'c4' WHERE seq = 3", "changed", 3},
		{"UPDATE audit SET reason = '' WHERE seq = 3", "changed", 3},
		{"UPDATE audit SET request = 'burstd-2' WHERE seq = 3", "changed", 3},
		{"UPDATE audit SET at_ms = 0 WHERE seq = 1", "changed", 1},
		{"UPDATE audit SET hash = upper(hash) WHERE seq = 6", "changed", 6},
		/* What leaves one field for another. */
		{"UPDATE audit SET verb = 'createa', target = 'ws' WHERE seq = 2", "changed", 2},
		{"DELETE FROM audit WHERE seq = 3", "missing", 3},
		{"DELETE FROM audit WHERE seq = 1", "missing", 1},
		{"UPDATE audit SET seq = 99 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = 4;"
		 "UPDATE audit SET seq = 4 WHERE seq = 99",
		 "reordered", 3},
		{"DELETE FROM audit WHERE seq = 3; UPDATE audit SET seq = seq - 1 WHERE seq > 3",
		 "changed", 3},
		{"DELETE FROM audit WHERE seq > 4", "cut", 5},
		{"DELETE FROM audit", "cut", 1},
		{"DELETE FROM audit_mark", "added", 1},
		{"INSERT INTO audit SELECT 7, at_ms, actor, verb, target, object, reason, request,"
		 " hash FROM audit WHERE seq = 6",
		 "changed", 7},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct fixture *f;
		void *own = NULL;

		assert_int_equal(setup(&own), 0);
		f = own;
		fill_chain(f, 6);
		assert_int_equal(sql(f, FREE), 0);
		assert_int_equal(sql(f, t[i].sql), 0);
		reopen(f); /* whether it was at work then or not */
		assert_bad(f, t[i].seq, t[i].what);
		teardown(&own);
	}
	(void)state;
}

/* Who can write the file can make a chain of its own; not in a log on another machine. */
static void test_a_chain_made_anew_is_not_the_one_in_the_log(void **state)
{
	struct fixture *f = *state;
	struct journal_mark known, middle = {.seq = 0};
	struct journal_chain c;

	fill_chain(f, 2);
	middle = *journal_audit_head(f->j);
	fill_chain(f, 4);
	known = *journal_audit_head(f->j);
	assert_int_equal(check_known(f, &known).bad, 0);
	assert_int_equal(check_known(f, &middle).bad, 0);
	assert_int_equal(sql(f, FREE "DELETE FROM audit; DELETE FROM audit_mark"), 0);
	reopen(f);
	assert_good(f, 0);
	c = check_known(f, &known);
	assert_int_equal(c.bad, 1);
	assert_string_equal(c.what, "cut");
	for (int i = 0; i < 8; i++)
		fill_chain(f, 1);
	assert_good(f, 8);
	c = check_known(f, &middle);
	assert_int_equal(c.bad, 2);
	assert_string_equal(c.what, "changed");
}

static void test_what_is_kept_holds_after_a_trim(void **state)
{
	struct fixture *f = *state;
	struct journal_mark old, head;
	struct err e = {0};
	struct journal_chain c = {.known = &old};
	bool more;

	fill_chain(f, 4);
	old = *journal_audit_head(f->j);
	fill_chain(f, 10);
	head = *journal_audit_head(f->j);
	assert_int_equal(journal_trim(f->j, 4500, &more, NULL), 0);
	assert_false(more);
	assert_good(f, 6); /* 1 to 8 are gone: the fourth was the last at 4000 twice over */
	reopen(f);
	assert_good(f, 6);
	assert_int_equal(check_known(f, &head).bad, 0);
	assert_int_equal(journal_audit_check(f->j, &c, &e), -1); /* nobody can say */
	assert_int_equal(e.code, ERR_INVALID);
	assert_int_equal(sql(f, "DELETE FROM audit"), SQLITE_CONSTRAINT);
	/* All of it, and the chain goes on from there. */
	assert_int_equal(journal_trim(f->j, 100000, &more, NULL), 0);
	assert_good(f, 0);
	reopen(f);
	fill_chain(f, 1);
	assert_int_equal(journal_audit_head(f->j)->seq, 15);
	assert_good(f, 1);
	assert_int_equal(sql(f, FREE "DELETE FROM audit"), 0);
	assert_bad(f, 15, "cut");
}

static void test_many_are_forgotten_in_pieces(void **state)
{
	struct fixture *f = *state;
	bool more;

	fill_chain(f, JOURNAL_TRIM + 10);
	assert_int_equal(journal_trim(f->j, INT64_MAX, &more, NULL), 0);
	assert_true(more);
	assert_good(f, 10);
	assert_int_equal(journal_trim(f->j, INT64_MAX, &more, NULL), 0);
	assert_false(more);
	assert_good(f, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_record_comes_back_with_the_documented_hash),
		TEST(test_the_chain_goes_on_over_commits_and_restarts),
		TEST(test_a_long_chain_is_looked_through_in_pieces),
		TEST(test_records_are_append_only),
		TEST(test_each_kind_of_tampering_is_found),
		TEST(test_a_chain_made_anew_is_not_the_one_in_the_log),
		TEST(test_what_is_kept_holds_after_a_trim),
		TEST(test_many_are_forgotten_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
