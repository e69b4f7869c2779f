/* test_spool_turn.c - the engine reads the spool in its turn: when the file of a call goes, and
 * what people are told of a spool that is not as it should be (I29, F54, F55). */
#include "loaded_engine.h"

#include <fcntl.h>
#include <uv.h>

#include "base/clock.h"
#include "base/fnv.h"
#include "buy/buy.h"
#include "store/journal_events.h"

static char dir[96];

/* A file as burst-hook writes it, age_ms ago. */
static void put(const char *name, enum call_kind kind, int64_t age_ms)
{
	static const char list[] = "c1";
	struct call_end end = {
		.kind = kind, .boot_ms = clock_boot_ms() - age_ms, .list_len = sizeof(list) - 1};
	char path[128], hidden[128], text[CALL_END];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	(void)snprintf(hidden, sizeof(hidden), "%s/.new-%s", dir, name);
	fd = open(hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	call_end_print(&end, fnv_bytes(FNV_BEGIN, list, sizeof(list) - 1), text);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, list, sizeof(list) - 1), sizeof(list) - 1);
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	(void)close(fd);
	assert_int_equal(rename(hidden, path), 0);
}

static bool is_there(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static bool is_bought(const struct fix *f)
{
	const struct fleet_name *nm = fleet_find(&f->e->fleet, "c1");

	return nm != NULL && fleet_exists(nm);
}

/* What inotify tells, then as in a turn. */
static void look(struct fix *f)
{
	timer_at(f->e->timer, loop_now(f->loop) + 3600000); /* libuv polls for somebody alone */
	do
		(void)uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
	while (loop_now(f->loop) < spool_next_ms(f->e->d.spool));
	intake_spool_part.at[PART_RUN](f->e);
}

static void load(struct fix *f)
{
	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
	f->e->left = ENGINE_SEND;
	f->e->d.spool = spool_new(f->loop, dir); /* whose news are for look() alone */
}

static void unload(struct fix *f)
{
	struct spool *s = f->e->d.spool;

	engine_free(f->e);
	f->e = NULL;
	spool_free(s);
}

static int setup_spool(void **state)
{
	struct fix *f;

	if (setup(state) != 0)
		return -1;
	f = *state;
	(void)snprintf(dir, sizeof(dir), "%s/spool", f->dir);
	return mkdir(dir, 0700);
}

static void test_a_file_goes_after_the_commit(void **state)
{
	struct fix *f = *state;

	load(f);
	look(f); /* the first listing is over */
	put("1.call", CALL_RESUME, 0);
	look(f);
	assert_int_equal(f->e->buy->ncalls, 1);
	assert_false(is_bought(f));
	assert_true(is_there("1.call"));
	intake_part.at[PART_RUN](f->e);
	assert_true(is_bought(f));
	intake_forget_part.at[PART_SEND](f->e);
	assert_true(is_there("1.call")); /* the row is in memory only */
	unwritten_part.at[PART_RUN](f->e);
	intake_forget_part.at[PART_SEND](f->e);
	assert_true(is_there("1.call"));
	engine_commit(f->e);
	intake_forget_part.at[PART_SEND](f->e);
	assert_false(is_there("1.call"));
	unload(f);
}

/* F55: what came of it may not be on the disk. */
static void test_a_file_stays_where_the_journal_failed(void **state)
{
	struct fix *f = *state;

	load(f);
	look(f);
	put("1.call", CALL_RESUME, 0);
	look(f);
	intake_part.at[PART_RUN](f->e);
	unwritten_part.at[PART_RUN](f->e);
	f->e->dead = true;
	intake_forget_part.at[PART_SEND](f->e);
	assert_true(is_there("1.call"));
	unload(f);
	assert_true(is_there("1.call"));
	/* F54: the next burstd cannot know what became of it. */
	load(f);
	look(f);
	intake_part.at[PART_RUN](f->e);
	assert_false(is_there("1.call"));
	assert_false(is_bought(f));
	unload(f);
}

/* Likewise where the commit that failed had no row of a node. */
static void test_a_file_stays_once_the_journal_failed(void **state)
{
	struct fix *f = *state;

	load(f);
	look(f);
	put("1.call", CALL_RESUME, 0);
	look(f);
	intake_part.at[PART_RUN](f->e);
	unwritten_part.at[PART_RUN](f->e);
	engine_commit(f->e);
	f->e->dead = true;
	intake_forget_part.at[PART_SEND](f->e);
	assert_true(is_there("1.call"));
	unload(f);
}

static void test_the_file_of_a_hint_goes_at_once(void **state)
{
	static const struct {
		enum call_kind kind;
		int64_t age_ms;
	} rows[] = {{CALL_SUSPEND, 0}, {CALL_RESUME_FAIL, 0}, {CALL_RESUME, CALL_FRESH_MS + 500}};
	struct fix *f = *state;

	load(f);
	look(f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f->e->poll.next_ms = INT64_MAX;
		put("1.call", rows[i].kind, rows[i].age_ms);
		look(f);
		assert_false(is_there("1.call"));
		assert_true(f->e->poll.next_ms != INT64_MAX);
		intake_part.at[PART_RUN](f->e);
		assert_false(is_bought(f));
	}
	unload(f);
}

static int count_bad(void *ctx, const struct journal_event *ev)
{
	*(int *)ctx += strcmp(ev->type, "call-bad") == 0;
	return 0;
}

static void test_what_is_no_call_is_told_and_looked_after(void **state)
{
	struct fix *f = *state;
	char path[128];
	int told = 0, fd;

	load(f);
	look(f);
	put("2.call", CALL_SUSPEND, 0);
	(void)snprintf(path, sizeof(path), "%s/2.call", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(write(fd, "d", 1), 1);
	(void)close(fd);
	f->e->poll.next_ms = INT64_MAX;
	look(f);
	engine_commit(f->e);
	assert_true(is_there("2.call.bad"));
	assert_int_equal(f->e->count.calls_bad, 1);
	assert_true(f->e->poll.next_ms != INT64_MAX);
	assert_int_equal(journal_events(f->journal, 0, NULL, 100, count_bad, &told, NULL), 0);
	assert_int_equal(told, 1);
	unload(f);
}

static size_t lines_of(int fd)
{
	char text[4096];
	ssize_t len = pread(fd, text, sizeof(text), 0);
	size_t n = 0;

	for (ssize_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

/* A turn is due when the spool is, though nothing else happens. */
static void test_the_spool_has_its_turns(void **state)
{
	struct fix *f = *state;

	load(f);
	look(f);
	assert_true(intake_spool_part.next_ms(f->e) == INT64_MAX); /* not before it was started */
	f->e->started = true;
	assert_true(intake_spool_part.next_ms(f->e) == spool_next_ms(f->e->d.spool));
	assert_true(intake_spool_part.next_ms(f->e) <= loop_now(f->loop) + SPOOL_EVERY_MS);
	f->e->started = false;
	unload(f);
}

static void test_a_spool_that_is_gone_is_told(void **state)
{
	struct fix *f = *state;
	const char *note;
	struct err err = {0};
	struct log *log;
	int fd;

	load(f);
	fd = open(f->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	f->e->d.log = log = log_new(fd, LOG_INFO);
	look(f);
	assert_int_equal(engine_spool(f->e, &note, &err), 0);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(engine_spool(f->e, &note, &err), -1);
	assert_non_null(strstr(err.msg, dir));
	look(f);
	assert_non_null(strstr(f->e->buy->spool_trouble, "No such file"));
	look(f);
	assert_int_equal(lines_of(fd), 1); /* once, not at each look */
	assert_int_equal(mkdir(dir, 0700), 0);
	/* Until it was read again, nobody knows whether it can be. */
	assert_int_equal(engine_spool(f->e, &note, &err), -1);
	look(f);
	assert_string_equal(f->e->buy->spool_trouble, "");
	assert_int_equal(engine_spool(f->e, &note, &err), 0);
	look(f);
	assert_int_equal(lines_of(fd), 2); /* and that it is over */
	unload(f);
	log_free(log);
	(void)close(fd);
}

static void on_alive(void *ctx)
{
	(void)ctx;
}

/* It outlives the engine: what comes then wakes nobody. */
static void test_a_freed_engine_is_not_woken(void **state)
{
	struct fix *f = *state;
	struct spool *s;
	char moved[128];
	struct timer *alive;

	(void)snprintf(moved, sizeof(moved), "%s-moved", dir);
	load(f);
	look(f);
	s = f->e->d.spool;
	intake_spool_part.at[PART_INIT](f->e);
	engine_free(f->e);
	f->e = NULL;
	alive = timer_new(f->loop, on_alive, NULL); /* libuv polls for somebody alone */
	timer_at(alive, loop_now(f->loop) + 3600000);
	put("1.part", CALL_SUSPEND, 0);
	assert_int_equal(renameat(AT_FDCWD, dir, AT_FDCWD, moved), 0);
	for (int i = 0; i < 3; i++)
		(void)uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
	assert_int_equal(renameat(AT_FDCWD, moved, AT_FDCWD, dir), 0);
	/* It was heard, and there is something to read. */
	assert_true(spool_next_ms(s) <= loop_now(f->loop) + SPOOL_SETTLE_MS);
	timer_free(alive);
	spool_free(s);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup_spool, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_file_goes_after_the_commit),
		T(test_a_file_stays_where_the_journal_failed),
		T(test_a_file_stays_once_the_journal_failed),
		T(test_the_file_of_a_hint_goes_at_once),
		T(test_what_is_no_call_is_told_and_looked_after),
		T(test_the_spool_has_its_turns),
		T(test_a_spool_that_is_gone_is_told),
		T(test_a_freed_engine_is_not_woken),
	};
#undef T

	return cmocka_run_group_tests_name("spool_turn", tests, NULL, NULL);
}
