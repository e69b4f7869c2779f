/* test_hint.c - calls that only say "look now" (F45-F47): slurmctld is asked soon, whatever became
 * of squeue, and once more when it was being asked just then. */
#include "loaded_engine.h"

#include <fcntl.h>
#include <uv.h>

#include "base/clock.h"
#include "buy/buy.h"
#include "jobs/jobs.h"

enum { PATIENCE_MS = 15000 }; /* the next look without a hint is 30 s away */

static const struct err failed = {.code = ERR_NET, .msg = "squeue: exit status 1"};

static char *path(const struct fix *f, const char *name)
{
	static char text[128];

	(void)snprintf(text, sizeof(text), "%s/%s", f->dir, name);
	return text;
}

static void suspends(struct fix *f)
{
	const struct spool_call c = {.kind = CALL_SUSPEND, .list = "c1", .list_len = 2};

	assert_false(intake_take(f->e, &c));
	timer_at(f->e->timer, 0); /* as the spool wakes it */
}

/* The next look is an hour away. */
static void rests(struct fix *f)
{
	f->e->poll.began_ms = loop_now(f->loop) - 100000;
	f->e->poll.next_ms = loop_now(f->loop) + 3600000;
}

static void is_soon(const struct fix *f)
{
	assert_true(f->e->poll.next_ms == f->e->poll.began_ms + ENGINE_HINT_MS);
}

static void load(struct fix *f)
{
	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
	f->e->left = ENGINE_SEND;
}

static void test_calls_that_are_hints(void **state)
{
	static const struct {
		enum call_kind kind;
		int64_t age_ms;
		bool early, fresh;
	} rows[] = {
		{CALL_RESUME, 0, false, true},
		{CALL_RESUME, CALL_FRESH_MS, false, true},
		{CALL_RESUME, CALL_FRESH_MS + 1, false, false},
		{CALL_RESUME, -1, false, false}, /* of another boot, or another machine */
		{CALL_RESUME, INT64_MAX, false, false},
		{CALL_RESUME, 0, true, false},
		{CALL_SUSPEND, 0, false, false},
		{CALL_RESUME_FAIL, 0, false, false},
	};
	struct fix *f = *state;

	load(f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int polling = 0; polling < 2; polling++) {
			const struct spool_call c = {.name = "1.call",
						     .kind = rows[i].kind,
						     .age_ms = rows[i].age_ms,
						     .early = rows[i].early,
						     .list = "c1",
						     .list_len = 2};
			uint64_t before = f->e->count.calls[rows[i].kind];

			rests(f);
			f->e->poll.polling = polling;
			assert_int_equal(intake_take(f->e, &c), rows[i].fresh);
			assert_int_equal(f->e->count.calls[rows[i].kind], before + 1);
			if (!rows[i].fresh)
				is_soon(f);
			assert_int_equal(f->e->buy->ncalls, rows[i].fresh);
			intake_part.at[PART_RUN](f->e);
		}
	f->e->poll.polling = false;
}

/* F47: a snapshot that began later than the call knows more than it does. */
static void test_a_snapshot_that_began_later_decides(void **state)
{
	static const struct {
		int64_t began_ago_ms;
		bool fresh;
	} rows[] = {{0, false}, {499, false}, {500, false}, {501, true}, {60000, true}};
	static const char file[] = "{\"jobs\":[{\"job_id\":7,\"nodes_alloc\":\"c1\"}]}";
	const struct spool_call c = {.name = "1.call",
				     .kind = CALL_RESUME,
				     .age_ms = 500,
				     .list = "c1",
				     .list_len = 2,
				     .file = file,
				     .file_len = sizeof(file) - 1};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct fleet_name *nm;

		load(f);
		f->e->poll.began_ms = engine_now(f->e) - rows[i].began_ago_ms;
		f->e->poll.next_ms = INT64_MAX;
		assert_true(intake_take(f->e, &c));
		intake_part.at[PART_RUN](f->e);
		nm = fleet_find(&f->e->fleet, "c1");
		assert_int_equal(fleet_exists(nm), rows[i].fresh);
		assert_int_equal(f->e->poll.next_ms != INT64_MAX, !rows[i].fresh);
		/* It is known which job wants the node, should that end before it is bought (F53).
		 */
		assert_int_equal(nm->waits_for, rows[i].fresh ? 0 : 7);
		assert_int_equal(f->e->buy->ncalls, 0);
	}
}

/* F56: what waits has bounds; what is beyond them the poll finds. */
static void test_calls_that_wait_have_bounds(void **state)
{
	struct fix *f = *state;
	static char long_file[INTAKE_BYTES_MAX / 4];
	struct spool_call c = {.name = "1.call",
			       .kind = CALL_RESUME,
			       .list = "c[1-2]", /* waits for squeue */
			       .list_len = 6,
			       .file = long_file,
			       .file_len = sizeof(long_file)};

	load(f);
	c.list = "c1"; /* over at once */
	c.list_len = 2;
	assert_true(intake_take(f->e, &c));
	assert_true(f->e->buy->call_bytes > sizeof(long_file));
	intake_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->buy->call_bytes, 0);
	c.list = "c[1-2]";
	c.list_len = 6;
	for (size_t i = 0; i < 5; i++)
		assert_true(intake_take(f->e, &c));
	assert_true(f->e->buy->call_bytes <= INTAKE_BYTES_MAX);
	assert_null(f->e->buy->calls->next->next->next->file); /* the fourth: the lists have room */
	c.file = NULL;
	for (size_t i = 5; i < INTAKE_CALLS_MAX; i++)
		assert_true(intake_take(f->e, &c));
	rests(f);
	assert_false(intake_take(f->e, &c));
	is_soon(f);
}

/* The one that squeue was asked for is over, and nothing was bought for it. */
static void test_squeue_failed_for_a_call(void **state)
{
	struct fix *f = *state;

	load(f);
	call(f, "c[1-2]", NULL);
	assert_int_equal(f->e->jobs->wanted, JOBS_FOR_INTAKE);
	rests(f);
	f->e->jobs->running = f->e->jobs->wanted;
	f->e->jobs->wanted = 0;
	intake_part.squeue_begins(f->e);
	jobs_answer(f->e, NULL, 0, &failed);
	assert_null(f->e->buy->calls);
	is_soon(f);
}

static void test_squeue_failed_for_the_next_offer(void **state)
{
	struct fix *f = *state;

	load(f);
	call(f, "c1", NULL); /* so that it is known */
	fleet_find(&f->e->fleet, "c3")->climbs = true;
	f->e->buy->climb_asked = true;
	rests(f);
	intake_part.squeue_says(f->e, NULL, 0, &failed);
	is_soon(f);
	assert_false(f->e->buy->climb_asked);
}

/* --- while slurmctld is being asked ----------------------------------------------------------- */

static void write_scontrol(const struct fix *f)
{
	int fd = open(path(f, "scontrol"), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	char text[800];
	int n = snprintf(
		text, sizeof(text),
		"#!/bin/sh\ncd %s\n[ \"$*\" = '-do show nodes' ] || exit 1\n"
		"echo >>polls\nwhile [ -e hold ]; do sleep 0.02; done\n"
		"for i in 1 2 3; do echo NodeName=c$i State=IDLE+CLOUD+POWERED_DOWN; done\n",
		f->dir);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, (size_t)n), n);
	(void)close(fd);
	assert_int_equal(symlink("/bin/false", path(f, "squeue")), 0);
}

static void hold(const struct fix *f, bool on)
{
	if (!on)
		assert_int_equal(unlink(path(f, "hold")), 0);
	else
		(void)close(open(path(f, "hold"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static size_t polls(const struct fix *f)
{
	struct stat st = {0};

	(void)stat(path(f, "polls"), &st);
	return (size_t)st.st_size;
}

/* Until slurmctld was asked so often, and has answered, or not. */
static void runs_until(struct fix *f, size_t n, bool answered)
{
	const int64_t until = clock_boot_ms() + PATIENCE_MS;

	while ((polls(f) < n || f->e->poll.polling == answered) && clock_boot_ms() < until)
		(void)uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	assert_int_equal(polls(f), n);
	assert_int_equal(f->e->poll.polling, !answered);
}

/* What is on its way was asked for before the call, and may not know of it. */
static void test_a_hint_during_a_poll(void **state)
{
	struct fix *f = *state;
	struct conf *c = make_conf();

	free(c->slurm_bin);
	c->slurm_bin = mem_strdup(f->dir);
	write_scontrol(f);
	assert_int_equal(load_conf(f, c, NULL), 0);
	engine_start(f->e);
	runs_until(f, 1, true);
	hold(f, true);
	suspends(f); /* so that it asks now */
	runs_until(f, 2, false);
	suspends(f);
	for (int i = 0; i < 3; i++) /* it is taken in */
		(void)uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
	hold(f, false);
	runs_until(f, 3, true);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_calls_that_are_hints),
		T(test_a_snapshot_that_began_later_decides),
		T(test_calls_that_wait_have_bounds),
		T(test_squeue_failed_for_a_call),
		T(test_squeue_failed_for_the_next_offer),
		T(test_a_hint_during_a_poll),
	};
#undef T

	return cmocka_run_group_tests_name("hint", tests, NULL, NULL);
}
