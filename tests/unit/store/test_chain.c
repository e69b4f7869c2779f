/* The audit chain: what was written before each request can be proved to be as it was written. */
#include "store/journal.h"

#include <string.h>

#include "fixture.h"
#include "store/private.h"

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

#define FREE                                                                                       \
	"DROP TRIGGER audit_append_only; DROP TRIGGER audit_kept; DROP TRIGGER audit_once;"        \
	"DROP TRIGGER audit_mark_kept;"

static void test_records_are_append_only(void **state)
{
	struct fixture *f = *state;

	fill_chain(f, 3);
	assert_int_not_equal(sql(f, "UPDATE audit SET reason = ''"), 0);
	assert_int_not_equal(sql(f, "DELETE FROM audit"), 0);
	assert_int_not_equal(sql(f, "DELETE FROM audit WHERE seq = 3"), 0);
	assert_int_not_equal(sql(f, "REPLACE INTO audit SELECT seq, 0, actor, verb, target, object,"
				    " reason, request, hash FROM audit WHERE seq = 2"),
			     0);
	assert_int_not_equal(sql(f, "DELETE FROM audit_mark"), 0);
	assert_good(f, 3);
}

/* It costs a restart at most: what is wrong is told, and what costs money goes on being deleted. */
static void test_tampering_does_not_stop_burstd(void **state)
{
	static const char *const t[] = {
		"INSERT INTO audit VALUES (7, 0, '', '', '', '', '', '', '')",
		"INSERT INTO audit VALUES (99, 0, '', '', '', '', '', '', 'x')",
		FREE "DELETE FROM audit_mark",
		FREE "UPDATE audit_mark SET hash = 'x'",
		FREE "UPDATE audit_mark SET seq = -5",
		FREE "DELETE FROM audit",
		FREE "UPDATE audit SET hash = 'x'",
		FREE "UPDATE audit SET hash = hex(zeroblob(200))",
		FREE "UPDATE audit_mark SET hash = hex(zeroblob(200))",
		"INSERT INTO audit_mark VALUES ('forgotten', 70, 'x')",
		"INSERT INTO audit_mark VALUES ('forgotten', 'x', 'x')",
		"INSERT INTO audit_mark VALUES ('forgotten', 9223372036854775807, 'x')",
		("INSERT INTO audit_mark SELECT 'forgotten', 9223372036854775807, hash FROM "
		 "audit_mark"),
		"UPDATE audit_mark SET seq = 'x'",
		"UPDATE audit_mark SET seq = 9, hash = 'x'",
		"UPDATE audit_mark SET seq = 9223372036854775807",
		"INSERT INTO audit VALUES (9223372036854775807, 0, '', '', '', '', '', '', '')",
		"INSERT INTO audit_mark SELECT 'forgotten', 70, hash FROM audit_mark",
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		void *own = NULL;
		struct fixture *f;
		bool more;

		assert_int_equal(setup(&own), 0);
		f = own;
		fill_chain(f, 6);
		assert_int_equal(sql(f, t[i]), 0);
		reopen(f);
		fill_chain(f, JOURNAL_TRIM);
		assert_int_equal(journal_trim(f->j, INT64_MAX, 1000000, &more, NULL), 0);
		teardown(&own);
	}
	(void)state;
}

static void test_it_goes_on_behind_what_is_forgotten(void **state)
{
	struct fixture *f = *state;

	fill_chain(f, 6);
	assert_int_equal(
		sql(f, "INSERT INTO audit_mark SELECT 'forgotten', 70, hash FROM audit_mark"), 0);
	reopen(f);
	fill_chain(f, 1);
	assert_int_equal(journal_audit_head(f->j)->seq, 71);
}

/* A piece of many instances is as long as one of many records, whichever text is long. */
static void test_a_piece_ends_after_a_megabyte_too(void **state)
{
	char *text = mem_zalloc(600001);

	(void)state;
	memset(text, 'x', 600000);
	for (int k = 0; k < 3; k++) {
		struct journal_chain c = {.begun = false};
		struct fixture *f;
		void *own = NULL;

		assert_int_equal(setup(&own), 0);
		f = own;
		for (int i = 0; i < 3; i++) {
			struct journal_tx *tx = journal_begin(f->j);

			journal_put_audit(tx,
					  &(struct journal_audit){.actor = "reconciler",
								  .verb = "create",
								  .target = "aws",
								  .object = k == 0 ? text : "c1",
								  .reason = k == 1 ? text : "",
								  .request = k == 2 ? text : ""});
			commit(tx);
		}
		assert_int_equal(journal_audit_check(f->j, &c, NULL), 0);
		assert_int_equal(c.records, 2);
		assert_true(c.more);
		assert_int_equal(journal_audit_check(f->j, &c, NULL), 0);
		assert_int_equal(c.records, 3);
		assert_false(c.more);
		teardown(&own);
	}
	free(text);
}

/* One who is at work knows what it wrote last. */
static void test_the_last_record_cannot_be_changed_beneath_it(void **state)
{
	struct fixture *f = *state;
	char other[JOURNAL_HASH_SIZE] = "", text[512];
	void *own = NULL;

	assert_int_equal(setup(&own), 0); /* a chain that is good, but not ours */
	{
		struct journal_tx *tx = journal_begin(((struct fixture *)own)->j);

		put(tx, 1000, "c2");
		commit(tx);
		(void)snprintf(other, sizeof(other), "%s",
			       journal_audit_head(((struct fixture *)own)->j)->hash);
	}
	teardown(&own);
	fill_chain(f, 1);
	(void)snprintf(text, sizeof(text),
		       FREE "UPDATE audit SET object = 'c2', hash = '%s' WHERE seq = 1", other);
	assert_int_equal(sql(f, text), 0);
	assert_bad(f, 1, "changed");
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
		{"UPDATE audit SET reason = reason || char(0) || 'x' WHERE seq = 3", "changed", 3},
		{"UPDATE audit SET at_ms = 'x' WHERE seq = 3", "changed", 3},
		{"UPDATE audit SET reason = char(0) || 'x' WHERE seq = 3", "changed", 3},
		{"UPDATE audit SET hash = x'00' WHERE seq = 3", "changed", 3},
		{"INSERT INTO audit SELECT -1, at_ms, actor, verb, target, object, reason,"
		 " request, hash FROM audit WHERE seq = 6",
		 "added", -1},
		{"INSERT INTO audit SELECT 70, at_ms, actor, verb, target, object, reason,"
		 " request, hash FROM audit WHERE seq = 6",
		 "missing", 7},
		{"UPDATE audit_mark SET seq = 9", "cut", 7},
		{"INSERT INTO audit_mark SELECT 'forgotten', seq, hash FROM audit WHERE seq = 4;"
		 "DELETE FROM audit WHERE seq <= 4",
		 "cut", 4},
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

static bool trim(struct fixture *f, int64_t before_ms)
{
	struct err e = {0};
	bool more;

	if (journal_trim(f->j, before_ms, 1000000, &more, &e) != 0)
		fail_msg("%s", e.msg);
	return more;
}

static void test_what_is_kept_holds_after_a_trim(void **state)
{
	struct fixture *f = *state;
	struct journal_mark old, head;
	struct err e = {0};
	struct journal_chain c = {.known = &old};
	char text[512] = "";

	fill_chain(f, 4);
	old = *journal_audit_head(f->j);
	fill_chain(f, JOURNAL_TRIM + 6);
	head = *journal_audit_head(f->j);
	assert_true(trim(f, INT64_MAX));
	assert_good(f, 11);
	assert_int_equal(journal_audits(f->j, head.seq, 10, keep_one, text, NULL), 0);
	(void)snprintf(text + strcspn(text, ":"), 2, "%s", "");
	assert_string_equal(text, "267 1000000 reconciler forget journal 1-256 older than "
				  "events_keep, or beyond the maximum number of records 256");
	reopen(f);
	assert_good(f, 11);
	assert_int_equal(check_known(f, &head).bad, 0);
	assert_int_equal(journal_audit_check(f->j, &c, &e), -1); /* nobody can say */
	assert_int_equal(e.code, ERR_INVALID);
	assert_int_equal(sql(f, "DELETE FROM audit"), SQLITE_CONSTRAINT);
	/* What is slipped in before it is seen, and not listed. */
	assert_int_equal(sql(f, FREE "INSERT INTO audit VALUES (100, 0, '', '', '', 'c9', '', '', "
				     "'')"),
			 0);
	assert_bad(f, 100, "added");
	assert_int_equal(journal_audits(f->j, 0, 1, keep_one, text, NULL), 0);
	assert_int_equal(strncmp(text, "257 ", 4), 0);
}

/* Each time leaves a record, so it is not done for a few: they would never get fewer. */
static void test_records_are_forgotten_many_at_once(void **state)
{
	struct fixture *f = *state;

	fill_chain(f, JOURNAL_TRIM - 1);
	assert_false(trim(f, INT64_MAX));
	assert_good(f, JOURNAL_TRIM - 1);
	fill_chain(f, JOURNAL_TRIM + 1);
	assert_true(trim(f, INT64_MAX));
	assert_good(f, JOURNAL_TRIM + 1);
	assert_true(trim(f, INT64_MAX));
	assert_false(trim(f, INT64_MAX));
	assert_good(f, 2);
}

/* How much the database does to find that none may go. */
static int steps_to_find_none(struct fixture *f)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	int n;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, chain_old_audit, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_bind_int(st, 2, JOURNAL_TRIM - 1), SQLITE_OK);
	assert_int_equal(sqlite3_bind_int(st, 6, JOURNAL_TRIM), SQLITE_OK);
	for (int i = 1; i <= 5; i += i == 1 ? 2 : 1)
		assert_int_equal(sqlite3_bind_int(st, i, 0), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_DONE);
	n = sqlite3_stmt_status(st, SQLITE_STMTSTATUS_VM_STEP, 0);
	assert_int_equal(sqlite3_finalize(st), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return n;
}

/* It is looked for every five seconds, and hooks wait meanwhile. */
static void test_looking_for_old_ones_costs_the_same_with_many(void **state)
{
	struct fixture *f = *state;
	int few;

	fill_chain(f, 300);
	few = steps_to_find_none(f);
	fill_chain(f, 3000);
	assert_in_range(steps_to_find_none(f), few / 2, few + few / 4);
}

/* A clock that was wrong once does not take the young ones along. */
static void test_the_youngest_of_them_must_be_old(void **state)
{
	struct fixture *f = *state;

	fill_chain(f, JOURNAL_TRIM); /* the last at 256000 */
	assert_false(trim(f, 256000));
	assert_true(trim(f, 256001));
}

static void test_more_than_are_kept_are_forgotten_young(void **state)
{
	struct fixture *f = *state;

	fill_chain(f, JOURNAL_TRIM + 10);
	assert_int_equal(sql(f, "UPDATE audit_mark SET seq = 2000255"), 0);
	reopen(f);
	assert_false(trim(f, 0));
	assert_int_equal(sql(f, "UPDATE audit_mark SET seq = 2000256"), 0);
	reopen(f);
	assert_true(trim(f, 0));
}

static void test_a_trim_may_come_between_two_pieces(void **state)
{
	struct fixture *f = *state;
	struct journal_mark known = {.seq = 600};
	struct journal_chain c = {.begun = false}, with = {.known = &known};
	struct err e;

	fill_chain(f, 1200);
	assert_int_equal(journal_audit_check(f->j, &with, NULL), 0);
	assert_int_equal(journal_audit_check(f->j, &c, NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_true(trim(f, INT64_MAX)); /* 768 of which 500 were looked through */
	assert_int_equal(journal_audit_check(f->j, &c, NULL), 0);
	assert_int_equal(c.bad, 0);
	assert_false(c.more);
	assert_int_equal(c.at.seq, 1203);
	assert_int_equal(journal_audit_check(f->j, &with, &e), -1); /* 600 was never looked at */
	assert_int_equal(e.code, ERR_INVALID);
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
		TEST(test_records_are_forgotten_many_at_once),
		TEST(test_looking_for_old_ones_costs_the_same_with_many),
		TEST(test_the_youngest_of_them_must_be_old),
		TEST(test_more_than_are_kept_are_forgotten_young),
		TEST(test_a_trim_may_come_between_two_pieces),
		TEST(test_tampering_does_not_stop_burstd),
		TEST(test_it_goes_on_behind_what_is_forgotten),
		TEST(test_a_piece_ends_after_a_megabyte_too),
		TEST(test_the_last_record_cannot_be_changed_beneath_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
