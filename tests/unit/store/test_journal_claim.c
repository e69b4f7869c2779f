/* Claims: every field comes back, bit for bit; what nobody can have written is refused; and a file
 * of the schema before, which had none, is taken over. */
#include <string.h>

#include "fixture.h"
#include "store/journal_claims.h"
#include "store/schema.h"

enum { ROWS_MAX = 8, SCHEMA_BEFORE = 7, SCHEMA_WITHOUT_ACCESSORS = 9 };

struct claims {
	struct claim rows[ROWS_MAX];
	size_t n;
};

static int see_claim(void *ctx, const struct claim *c, struct err *e)
{
	struct claims *s = ctx;

	s->rows[s->n++] = *c;
	return strcmp(c->node, "stop") == 0 ? err_set(e, ERR_INVALID, "stopped") : 0;
}

static int try_claims(struct fixture *f, struct claims *s)
{
	const struct journal_visitor v = {.claim = see_claim, .ctx = s};

	memset(s, 0, sizeof(*s));
	return journal_load(f->j, &v, NULL);
}

static struct claims claims(struct fixture *f)
{
	struct claims s;

	reopen(f);
	assert_int_equal(try_claims(f, &s), 0);
	return s;
}

static void put(struct fixture *f, const struct claim *c)
{
	struct journal_tx *tx = journal_begin(f->j);

	journal_put_claim(tx, c);
	commit(tx);
}

/* A claim that has come as far as it goes, all of whose fields say something. */
static struct claim whole(void)
{
	unsigned char spki[CLAIM_SPKI_SIZE];
	struct claim_event ev = {
		.type = CLAIM_EV_ASK, .now_ms = 200, .spki = spki, .addr = "2001:db8::1"};
	struct claim c;

	for (size_t i = 0; i < sizeof(spki); i++)
		spki[i] = (unsigned char)(0xf0 + 7 * i);
	claim_init(&c, "batch-1.2", "c1", UINT64_MAX);
	claim_issue(&c, 100, 9000);
	c.shared = true;
	(void)claim_step(&c, &(struct claim_event){.type = CLAIM_EV_ALARM, .now_ms = 120});
	(void)claim_step(&c, &ev);
	ev = (struct claim_event){
		.type = CLAIM_EV_ATTESTED, .now_ms = 300, .weak = true, .instance = "i-0a"};
	(void)claim_step(&c, &ev);
	return c;
}

static void every_field_of_a_claim_comes_back(void **state)
{
	struct fixture *f = *state;
	struct claim a = whole(), b, other;
	struct claims s;
	struct claim_event ev = {
		.type = CLAIM_EV_RELEASE, .now_ms = 400, .serial = "0af1", .version = INT64_MAX};

	claim_init(&other, "batch-1.3", "c0", 1);
	claim_issue(&other, 1, INT64_MAX);
	put(f, &other);
	put(f, &a);
	s = claims(f);
	assert_int_equal(s.n, 2);
	assert_memory_equal(&s.rows[0], &other, sizeof(other));
	assert_memory_equal(&s.rows[1], &a, sizeof(a));
	assert_true(a.attested && a.weak && a.alarms == 1);
	b = a;
	assert_int_equal(claim_step(&b, &ev).answer, CLAIM_BYTES);
	memset(b.accessor, 'a', sizeof(b.accessor) - 1);
	put(f, &b); /* replaces it */
	(void)claim_step(&other, &(struct claim_event){.type = CLAIM_EV_REVOKE, .now_ms = 500});
	put(f, &other);
	s = claims(f);
	assert_int_equal(s.n, 2);
	assert_memory_equal(&s.rows[0], &other, sizeof(other));
	assert_memory_equal(&s.rows[1], &b, sizeof(b));
	assert_int_equal(s.rows[0].reason, CLAIM_BECAUSE_RELEASED);
}

static void a_claim_is_deleted_by_node_and_generation(void **state)
{
	struct fixture *f = *state;
	struct claim a = whole(), b = whole();
	struct journal_tx *tx;
	struct claims s;

	b.gen = 2;
	put(f, &a);
	put(f, &b);
	tx = journal_begin(f->j);
	journal_del_claim(tx, "c1", UINT64_MAX);
	journal_del_claim(tx, "c1", 3); /* not there */
	commit(tx);
	s = claims(f);
	assert_int_equal(s.n, 1);
	assert_memory_equal(&s.rows[0], &b, sizeof(b));
}

static void a_visit_that_does_not_want_to_go_on_ends_the_load(void **state)
{
	struct fixture *f = *state;
	struct claim c = whole();
	struct claims s;

	(void)snprintf(c.node, sizeof(c.node), "stop");
	put(f, &c);
	(void)snprintf(c.node, sizeof(c.node), "u");
	put(f, &c);
	assert_int_equal(try_claims(f, &s), -1);
	assert_int_equal(s.n, 1);
}

static void a_row_that_nobody_wrote_is_refused(void **state)
{
	static const char *const changes[] = {
		"node = 'a b'",
		"epoch = 1",
		"state = 'open'",
		"state = 'claimed', spki = ''",
		"state = 'confirmed', spki = ''",
		"spki = ''", /* it is being attested */
		"spki = '00'",
		"spki = upper(spki)",
		"spki = substr(spki, 2) || 'x'",
		"spki = spki || '00'",
		"reason = 'bored'",
		"alarms = 'many'",
		"attested = 2",
		"weak = -1",
		"addr = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
		"serial = '01234567890123456789012345678901234567890123456789'",
		"since_ms = 'soon'",
		"accessor = hex(zeroblob(64))",
	};
	struct fixture *f = *state;
	struct claim c = whole();
	struct claims s;
	char text[256];

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		put(f, &c);
		assert_int_equal(try_claims(f, &s), 0);
		(void)snprintf(text, sizeof(text), "UPDATE claim SET %s", changes[i]);
		assert_int_equal(sql(f, text), SQLITE_OK);
		if (try_claims(f, &s) == 0)
			fail_msg("taken: %s", changes[i]);
		assert_int_equal(s.n, 0);
		assert_int_equal(sql(f, "DELETE FROM claim"), SQLITE_OK);
	}
}

static void a_file_of_the_schema_before_is_taken_over(void **state)
{
	struct fixture *f = *state;
	struct claim c = whole();
	struct claims s;
	struct seen *old;

	close_journal(f);
	assert_int_equal(unlink(f->path), 0);
	for (int i = 0; i < SCHEMA_BEFORE; i++)
		assert_int_equal(sql(f, schema_steps[i]), SQLITE_OK);
	assert_int_equal(sql(f, "PRAGMA user_version = 7"), SQLITE_OK);
	assert_int_equal(sql(f, "INSERT INTO batch VALUES (1, 0, 't', 'p', 5, 6, '', '')"),
			 SQLITE_OK);
	open_journal(f, true);
	s = claims(f);
	assert_int_equal(s.n, 0);
	old = load(f);
	assert_int_equal(old->nbatches, 1);
	forget(old);
	put(f, &c);
	s = claims(f);
	assert_int_equal(s.n, 1);
	assert_memory_equal(&s.rows[0], &c, sizeof(c));
}

/* What older releases counted in a claim: they had one end by wrong secrets. */
static void what_older_releases_counted_is_not_read(void **state)
{
	struct fixture *f = *state;
	struct claim c = whole();
	struct claims s;

	put(f, &c);
	assert_int_equal(sql(f, "UPDATE claim SET turn = 7, wrong = 4, reason = 'secrets'"),
			 SQLITE_OK);
	s = claims(f);
	assert_int_equal(s.n, 1);
	c.reason = CLAIM_BECAUSE_SECRETS;
	assert_memory_equal(&s.rows[0], &c, sizeof(c));
}

/* Those that were made before accessors were kept, and whether a secret is one machine's alone. */
static void claims_of_before_have_no_accessor(void **state)
{
	struct fixture *f = *state;
	struct claims s;

	close_journal(f);
	assert_int_equal(unlink(f->path), 0);
	for (int i = 0; i < SCHEMA_WITHOUT_ACCESSORS; i++)
		assert_int_equal(sql(f, schema_steps[i]), SQLITE_OK);
	assert_int_equal(sql(f, "PRAGMA user_version = 9"), SQLITE_OK);
	assert_int_equal(sql(f, "INSERT INTO claim VALUES ('c1', 1, 0, 'id', 'expired', 'time', 0,"
				" 0, 0, 0, 0, '', '', '', '', 0, 1, 2, 3, 0),"
				" ('c2', 1, 0, 'of2', 'expired', 'time', 0,"
				" 0, 0, 0, 0, '', '', '', '', 0, 1, 2, 3, 0),"
				" ('c3', 1, 0, 'of2', 'expired', 'time', 0,"
				" 0, 0, 0, 0, '', '', '', '', 0, 1, 2, 3, 0)"),
			 SQLITE_OK);
	open_journal(f, true);
	s = claims(f);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.rows[0].since_ms, 3);
	assert_string_equal(s.rows[0].accessor, "");
	assert_false(s.rows[0].shared);
	assert_true(s.rows[1].shared && s.rows[2].shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_field_of_a_claim_comes_back),
		TEST(a_claim_is_deleted_by_node_and_generation),
		TEST(a_visit_that_does_not_want_to_go_on_ends_the_load),
		TEST(a_row_that_nobody_wrote_is_refused),
		TEST(a_file_of_the_schema_before_is_taken_over),
		TEST(what_older_releases_counted_is_not_read),
		TEST(claims_of_before_have_no_accessor),
	};

	return cmocka_run_group_tests_name("journal_claim", tests, NULL, NULL);
}
