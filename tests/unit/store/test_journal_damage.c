/* test_journal_damage.c - a file that is damaged, newer, or not a journal of burstd's. */
#include "broken_journal.h"

/* --- files that are not good -------------------------------------------------------------------
 */

/* F55: a row that is not what was written is never taken for one that is. */
static void test_damaged_rows(void **state)
{
	static const char *const rows[] = {
		"UPDATE node SET state = 'sleeping' WHERE name = 'c2'",
		"UPDATE node SET reason = 'whim'",
		"UPDATE node SET name = 'c1,state=IDLE' WHERE name = 'c2'",
		"UPDATE node SET name = hex(zeroblob(100)) WHERE name = 'c2'",
		"UPDATE node SET gen = 'x' WHERE name = 'c1'",
		"UPDATE node SET misses = 256",
		"UPDATE node SET released = 2",
		"UPDATE node SET epoch = 1",
		"UPDATE node SET slot = -1",
		"UPDATE node SET rate_nano_h = -1",
		"UPDATE node SET pool = "
		"'0123456789012345678901234567890123456789012345678901234567890123'",
		"UPDATE batch SET token = "
		"'0123456789012345678901234567890123456789012345678901234567890123'",
		"UPDATE usage SET cost_nano = 'much'",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f;
		struct seen *s = mem_zalloc(sizeof(*s));
		struct err e = {0};

		print_message("# %s\n", rows[i]);
		teardown(state);
		setup(state);
		f = *state;
		fill(f);
		assert_int_equal(sql(f, rows[i]), SQLITE_OK);
		if (strstr(rows[i], "much") == NULL) { /* a sum takes it for 0 */
			assert_int_equal(try_load(f, s, &e), -1);
			assert_non_null(strstr(e.msg, "damaged"));
			assert_int_equal(e.code, ERR_DAMAGED);
			assert_non_null(strstr(e.msg, f->path));
		}
		forget(s);
	}
}

static void put_file(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

static char *get_file(const char *path, size_t *len)
{
	char *data = mem_zalloc(1 << 20);
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	*len = fread(data, 1, 1 << 20, in);
	fclose(in);
	return data;
}

/* Opening fails as `code`, says `want`, and leaves the file as it is. */
static void refused(struct fixture *f, enum err_code code, const char *want)
{
	size_t before_len, after_len;
	char *before = get_file(f->path, &before_len), *after;
	struct err e = {0};
	bool existed;

	assert_int_equal(journal_open(&f->j, f->path, &existed, &e), -1);
	assert_null(f->j);
	assert_int_equal(e.code, code);
	if (strstr(e.msg, want) == NULL || strncmp(e.msg, f->path, strlen(f->path)) != 0)
		fail_msg("got: %s", e.msg);
	after = get_file(f->path, &after_len);
	assert_int_equal(before_len, after_len);
	assert_memory_equal(before, after, before_len);
	free(before);
	free(after);
}

/* F60 */
static void test_newer_schema(void **state)
{
	struct fixture *f = *state;

	fill(f);
	close_journal(f);
	assert_int_equal(sql(f, "PRAGMA user_version = 1000"), SQLITE_OK);
	refused(f, ERR_INVALID, "schema 1000 is from a newer burstd; this one knows ");
}

static void test_not_ours(void **state)
{
	struct fixture *f = *state;
	static const char text[] =
		"this is a letter and not a database, whatever its name may say; "
		"it is long enough for a header of one hundred bytes, though\n";

	close_journal(f);
	put_file(f->path, text, sizeof(text));
	refused(f, ERR_DAMAGED, "damaged: file is not a database");
	unlink(f->path);
	assert_int_equal(sql(f, "CREATE TABLE mail (x)"), SQLITE_OK);
	refused(f, ERR_DAMAGED, "not a burstd journal");
	unlink(f->path);
	assert_int_equal(mkdir(f->path, 0700), 0);
	assert_int_equal(journal_open(&f->j, f->path, &(bool){false}, NULL), -1);
	rmdir(f->path);
	assert_int_equal(symlink("elsewhere", f->path), 0);
	assert_int_equal(journal_open(&f->j, f->path, &(bool){false}, NULL), -1);
}

/* Tables that are not as our steps made them: no second try is any better (F55). */
static void test_other_tables(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct err e = {0};

	assert_int_equal(sql(f, "CREATE TRIGGER odd BEFORE INSERT ON event BEGIN"
				" SELECT * FROM nowhere; END"),
			 SQLITE_OK);
	journal_put_event(tx, 1, "c1", 1, "type", "detail");
	assert_int_equal(journal_commit(tx, &e), -1);
	assert_int_equal(e.code, ERR_DAMAGED);
	assert_non_null(strstr(e.msg, "damaged: no such table"));
	tx = journal_begin(f->j);
	journal_put_number(tx, "n", 1);
	assert_int_equal(journal_commit(tx, &e), -1);
	assert_int_equal(e.code, ERR_DAMAGED);
	assert_string_equal(e.msg, "journal: an earlier write failed");
	close_journal(f);
	assert_int_equal(sql(f, "DROP TABLE audit"), SQLITE_OK);
	refused(f, ERR_DAMAGED, "damaged: no such table: audit");
}

/* An empty file is what a crash leaves between the file and its tables, or a journal that was lost.
 */
static void test_empty_file(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	close_journal(f);
	put_file(f->path, "", 0);
	open_journal(f, false);
	fill(f);
	reopen(f);
}

/* F55: cut anywhere, a journal is refused or read whole; never read in part without a word. */
static void test_truncated(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	size_t len;
	char *data;

	fill(f);
	for (int i = 0; i < 500; i++)
		journal_put_event(tx, i, "c1", 1, "type",
				  "a detail of some length, to fill more than a page");
	commit(tx);
	close_journal(f); /* all of it is in the main file now */
	data = get_file(f->path, &len);
	assert_true(len > 16 * 4096 && len % 4096 == 0);
	for (size_t cut = 512; cut < len; cut += 4096) {
		put_file(f->path, data, cut);
		refused(f, ERR_DAMAGED, "damaged");
	}
	put_file(f->path, data, len);
	open_journal(f, true);
	free(data);
}

/* F55: a page of noise anywhere is an error or is not met; nothing crashes (ASan looks). */
static void test_noise(void **state)
{
	struct fixture *f = *state;
	unsigned errors = 0;
	size_t len;
	char *data, noise[512];

	fill(f);
	close_journal(f);
	data = get_file(f->path, &len);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 167 + 13);
	for (size_t at = 0; at + sizeof(noise) <= len; at += sizeof(noise)) {
		struct seen *s = mem_zalloc(sizeof(*s));
		struct err e = {0};
		bool existed;

		put_file(f->path, data, len);
		{
			int fd = open(f->path, O_WRONLY);

			assert_int_equal(pwrite(fd, noise, sizeof(noise), (off_t)at),
					 sizeof(noise));
			close(fd);
		}
		if (journal_open(&f->j, f->path, &existed, &e) < 0 || try_load(f, s, &e) < 0) {
			errors++;
			assert_true(strlen(e.msg) > strlen(f->path));
		}
		close_journal(f);
		forget(s);
	}
	assert_true(errors > len / 4096 / 4); /* the header and every table in use */
	put_file(f->path, data, len);
	open_journal(f, true);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_damaged_rows), TEST(test_other_tables), TEST(test_newer_schema),
		TEST(test_not_ours),     TEST(test_empty_file),   TEST(test_truncated),
		TEST(test_noise),
	};

	return cmocka_run_group_tests_name("journal_damage", tests, NULL, NULL);
}
