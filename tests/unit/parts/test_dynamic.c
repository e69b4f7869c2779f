/* dynamic.c: nodes of dynamic pools are created in slurmctld, which keeps them, and never one that
 * is there. */
#include "ordered_engine.h"

#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

static struct conf *dynamic_conf(void)
{
	struct conf *c = one_pool("c[1-3]", 3);

	free(c->pools[0].node);
	c->pools[0].node = mem_strdup("CPUs=8 RealMemory=1000");
	free(c->pools[0].gres);
	c->pools[0].gres = mem_strdup("gpu:h100:8");
	c->pools[0].dynamic = true;
	assert_int_equal(conf_finish(c, NULL), 0);
	return c;
}

/* A scontrol that notes with what it is to create nodes, and fails with these words; "": it does
 * not fail. */
static void scontrol(struct fix *f, const char *words)
{
	char path[96];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/scontrol", f->dir);
	out = fopen(path, "w");
	assert_non_null(out);
	(void)fprintf(out, "#!/bin/sh\n[ \"$1\" = create ] || exit 0\necho \"$*\" >>%s/calls\n",
		      f->dir);
	if (words[0] != '\0')
		(void)fprintf(out, "echo '%s' >&2\nexit 1\n", words);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, 0700), 0);
	slurm_configure(f->e->slurm, f->dir, NULL);
}

static void begin(struct fix *f)
{
	assert_int_equal(load_conf(f, dynamic_conf(), NULL), 0);
	scontrol(f, "");
}

/* Let the part look, and its orders run to their end. */
static void turn(struct fix *f)
{
	uint64_t mark;

	dynamic_part.at[PART_RUN](f->e);
	mark = slurm_mark(f->e->slurm);
	while (audit_part.record(f->e))
		engine_commit(f->e);
	slurm_flush(f->e->slurm);
	while (!slurm_past(f->e->slurm, mark))
		(void)uv_run(loop_uv(f->loop), UV_RUN_ONCE);
}

/* Since the last time, one a line; "": none. */
static const char *called(const struct fix *f)
{
	static char text[2000];
	char path[96];
	size_t n = 0;
	FILE *in;

	(void)snprintf(path, sizeof(path), "%s/calls", f->dir);
	in = fopen(path, "r");
	if (in != NULL) {
		n = fread(text, 1, sizeof(text) - 1, in);
		(void)fclose(in);
		(void)unlink(path);
	}
	text[n] = '\0';
	return text;
}

#define WORDS " CPUs=8 RealMemory=1000 Gres=gpu:h100:8 Feature=cloud,pool State=CLOUD\n"

enum { SURE_MS = 10000 }; /* between two snapshots that are believed */

/* A snapshot that shows c1 alone began so long after the first that did so. */
static void c1_alone(struct fix *f, int64_t later_ms)
{
	show(f, "IDLE+CLOUD+POWERED_DOWN", "");
	for (int i = 2; i <= 3; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "c%d", i);
		fleet_find(&f->e->fleet, name)->missing_ms = f->e->poll.snapshot_ms - later_ms;
	}
}

/* Only those that two snapshots lack; and after an order none before two that begin after its end:
 * 25.11 dies of a node that is created twice. */
static void test_those_that_lack(void **state)
{
	struct fix *f = *state;
	int64_t ended;

	begin(f);
	turn(f);
	assert_string_equal(called(f), ""); /* slurmctld has not said what it has */
	c1_alone(f, SURE_MS);
	turn(f);
	assert_string_equal(called(f), "create nodename=c2,c3" WORDS);
	turn(f);
	ended = engine_now(f->e);
	(void)nanosleep(&(struct timespec){1, 100000000}, NULL); /* it may try again */
	uv_update_time(loop_uv(f->loop));
	f->e->poll.snapshot_ms = ended + SURE_MS - 1; /* since its end this was not sure yet */
	turn(f);
	assert_string_equal(called(f), "");
	f->e->poll.snapshot_ms = ended + SURE_MS;
	turn(f);
	assert_string_equal(called(f), "create nodename=c2,c3" WORDS);
	turn(f);
	snapshot(f, "IDLE+CLOUD+POWERED_DOWN", "IDLE", "IDLE");
	f->e->poll.snapshot_ms = ended + 3 * SURE_MS;
	turn(f);
	assert_string_equal(called(f), "");
	assert_null(dynamic_why(f->e));
}

/* F2, F49: an order of a burstd that was killed meanwhile may be obeyed seconds later, and one
 * answer may lack what is there: the first snapshot is not believed, and another one is asked for.
 */
static void test_one_snapshot_is_not_enough(void **state)
{
	struct fix *f = *state;

	begin(f);
	c1_alone(f, 0);
	f->e->poll.next_ms = f->e->poll.snapshot_ms + ENGINE_POLL_IDLE_MS;
	turn(f);
	assert_int_equal(f->e->poll.next_ms, f->e->poll.snapshot_ms + SURE_MS);
	turn(f);
	(void)nanosleep(&(struct timespec){0, 2000000}, NULL);
	uv_update_time(loop_uv(f->loop));
	c1_alone(f, SURE_MS - 1);
	f->e->poll.next_ms = f->e->poll.snapshot_ms; /* a later one would not be asked for */
	turn(f);
	assert_string_equal(called(f), "");
	assert_int_equal(f->e->poll.next_ms, f->e->poll.snapshot_ms);
	(void)nanosleep(&(struct timespec){0, 2000000}, NULL);
	uv_update_time(loop_uv(f->loop));
	c1_alone(f, SURE_MS);
	turn(f);
	assert_string_equal(called(f), "create nodename=c2,c3" WORDS);
	turn(f);
}

/* Of two that lack it is created what was lacking for long enough. */
static void test_each_for_itself(void **state)
{
	struct fix *f = *state;

	begin(f);
	c1_alone(f, SURE_MS);
	fleet_find(&f->e->fleet, "c2")->missing_ms = f->e->poll.snapshot_ms;
	turn(f);
	assert_string_equal(called(f), "create nodename=c3" WORDS);
	turn(f);
}

/* A snapshot without any of them, that began so long after all that was done before. */
static void lack_all(struct fix *f, int64_t later_ms)
{
	const struct timespec tick = {0, 20000000};

	(void)nanosleep(&tick, NULL);
	uv_update_time(loop_uv(f->loop));
	f->e->poll.polled = true;
	f->e->poll.snapshot_ms = engine_now(f->e) + later_ms;
	for (int i = 1; i <= 3; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "c%d", i);
		fleet_find(&f->e->fleet, name)->missing_ms = 1;
	}
}

/* What slurmctld refuses is said, and tried again a second later, until it works. */
static void test_a_refusal(void **state)
{
	struct fix *f = *state;
	int64_t began;

	begin(f);
	scontrol(f, "slurm_create error: no room");
	lack_all(f, 0);
	assert_null(dynamic_why(f->e));
	began = engine_now(f->e);
	turn(f);
	assert_string_equal(called(f), "create nodename=c1,c2,c3" WORDS);
	assert_non_null(strstr(dynamic_why(f->e), "no room"));
	for (int64_t later = SURE_MS; called(f)[0] == '\0'; later++) {
		lack_all(f, later);
		turn(f);
	}
	assert_true(engine_now(f->e) - began >= ENGINE_RETRY_MS);
	turn(f); /* it has ended, too */
	snapshot(f, "IDLE+CLOUD+POWERED_DOWN", "IDLE", "IDLE");
	f->e->poll.snapshot_ms = began + 3 * SURE_MS;
	turn(f);
	assert_null(dynamic_why(f->e));
	assert_string_equal(called(f), "");
}

/* A slurmctld without any node says so in words of its own.  22.05 says that, too, while it hides
 * all nodes: where slurm.conf is to have them, it is not believed. */
static void test_no_nodes_at_all(void **state)
{
	struct fix *f = *state;
	char path[96];
	FILE *out;

	for (int dynamic = 0; dynamic <= 1; dynamic++) {
		assert_int_equal(load_conf(f, dynamic ? dynamic_conf() : make_conf(), NULL), 0);
		(void)snprintf(path, sizeof(path), "%s/scontrol", f->dir);
		out = fopen(path, "w");
		assert_non_null(out);
		(void)fprintf(out, "#!/bin/sh\necho 'No nodes in the system'\n");
		assert_int_equal(fclose(out), 0);
		assert_int_equal(chmod(path, 0700), 0);
		slurm_configure(f->e->slurm, f->dir, NULL);
		assert_true(slurm_ask(f->e->slurm, SLURM_SNAPSHOT));
		while (!f->e->poll.polled && f->e->poll.error[0] == '\0')
			(void)uv_run(loop_uv(f->loop), UV_RUN_ONCE);
		assert_int_equal(f->e->poll.polled, dynamic);
		assert_int_equal(fleet_find(&f->e->fleet, "c1")->missing_ms != 0, dynamic);
	}
}

/* Pools that are not dynamic have their nodes in slurm.conf. */
static void test_other_pools(void **state)
{
	struct fix *f = *state;

	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
	scontrol(f, "");
	assert_false(dynamic_any(f->e));
	show(f, "IDLE+CLOUD+POWERED_DOWN", "");
	turn(f);
	assert_string_equal(called(f), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_those_that_lack), TEST(test_one_snapshot_is_not_enough),
		TEST(test_each_for_itself), TEST(test_a_refusal),
		TEST(test_no_nodes_at_all), TEST(test_other_pools),
	};

	return cmocka_run_group_tests_name("dynamic nodes", tests, NULL, NULL);
}
