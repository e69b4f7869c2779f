/* slurm_scripts.h - the adapter to slurmctld, with scripts in place of scontrol and squeue that
 * record how they were called. */
#ifndef TESTS_SLURM_SCRIPTS_H
#define TESTS_SLURM_SCRIPTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/loop.h"
#include "io/proc.h"
#include "slurm/slurm.h"

enum { LINES = 2 }; /* lines of a snapshot read in one turn */

struct fix {
	char dir[64], calls[128];
	struct loop *loop;
	struct proc *proc;
	struct slurm *slurm;
	struct timer *guard, *tick;
	unsigned given, updated, failed, late, answers[SLURM_NQUESTIONS];
	unsigned unsent; /* late ones that had been given before */
	char error[256], text[1024];
	int code;
	unsigned nodes, known, most; /* nodes told of; by the last tick; most between two */
	bool hurt;                   /* stop as soon as some nodes are told of */
	uint64_t mark;
	bool past; /* slurm_past(mark) when the first update had run */
};

static time_t clock_set_s;           /* how far somebody has set the wall clock */
static struct timespec clock_stands; /* time of the boot clock; 0: it goes on */
static struct timespec wall_stands;  /* of the wall clock, before clock_set_s; both or none */

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, id, ts);

	if (id == CLOCK_BOOTTIME && clock_stands.tv_sec != 0)
		*ts = clock_stands;
	if (id == CLOCK_REALTIME && wall_stands.tv_sec != 0)
		*ts = wall_stands;
	ts->tv_sec += id == CLOCK_REALTIME ? clock_set_s : 0;
	return rc;
}

/* Take the orders on record, and send them. */
static inline void flush(struct fix *f)
{
	struct slurm_order o;

	while (slurm_next(f->slurm, &o))
		f->given++;
	slurm_flush(f->slurm);
}

static inline void on_node(void *ctx, const struct slurm_node *n)
{
	struct fix *f = ctx;

	f->nodes++;
	assert_int_equal(n->name[1] - '0', f->nodes);
}

static inline void on_answer(void *ctx, enum slurm_question q, const char *text, size_t len,
			     int64_t began_ms, const struct err *e)
{
	struct fix *f = ctx;

	assert_true(began_ms > 0 && began_ms <= loop_now(f->loop));
	f->answers[q]++;
	f->code = e != NULL ? e->code : ERR_NONE;
	if (e != NULL)
		(void)snprintf(f->error, sizeof(f->error), "%s", e->msg);
	else
		(void)snprintf(f->text, sizeof(f->text), "%.*s", (int)len, text);
	loop_stop(f->loop);
}

static inline void on_updated(void *ctx, const struct slurm_order *o, const struct err *e)
{
	struct fix *f = ctx;

	assert_true(o->names[0] != '\0');
	if (e != NULL && e->code == ERR_NOTSENT) {
		f->late++;
		f->unsent += o->given;
		loop_stop(f->loop);
		return;
	}
	f->updated++;
	f->failed += e != NULL;
	if (f->updated == 1)
		f->past = slurm_past(f->slurm, f->mark) && slurm_settled_ms(f->slurm) == INT64_MAX;
	flush(f);
	if (f->updated == f->given)
		loop_stop(f->loop);
}

static inline void too_long(void *ctx)
{
	(void)ctx;
	fail_msg("nothing happened for ten seconds");
}

static inline void script(const struct fix *f, const char *name, const char *text)
{
	char path[256];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	(void)fprintf(out, "#!/bin/sh\nd='%s'\n%s\n", f->dir, text);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, 0700), 0);
}

/* The time zone for readers of slurmctld's times. */
static inline int64_t east(int64_t wall_ms)
{
	assert_true(wall_ms > 0);
	return 7200000;
}

static inline int setup(void **state)
{
	struct fix *f = mem_zalloc(sizeof(*f));
	struct slurm_callbacks cb = {on_node, on_answer, on_updated, f, east};

	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/slurm-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->calls, sizeof(f->calls), "%s/calls", f->dir);
	script(f, "scontrol",
	       "printf '%s\\n' \"$*\" >>$d/calls; echo; [ ! -e $d/broken ] || "
	       "{ echo 'slurm_update error: Invalid node' >&2; exit 1; }");
	script(f, "squeue", "echo '1|c1'");
	assert_int_equal(loop_new(&f->loop, NULL), 0);
	f->proc = proc_new(f->loop);
	f->slurm = slurm_new(f->proc, f->loop, NULL, LINES, &cb);
	slurm_configure(f->slurm, f->dir, "/etc/slurm/slurm.conf");
	f->guard = timer_new(f->loop, too_long, NULL);
	timer_at(f->guard, loop_now(f->loop) + 10000);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fix *f = *state;
	char command[128];

	slurm_free(f->slurm);
	timer_free(f->guard);
	proc_close(f->proc);
	loop_free(f->loop);
	(void)snprintf(command, sizeof(command), "rm -r %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
	clock_stands.tv_sec = wall_stands.tv_sec = 0;
	clock_set_s = 0;
	return 0;
}

/* Setup for tests that count seconds: time stands until the test moves it, however slow this
 * machine is. */
static inline int setup_still(void **state)
{
	(void)clock_gettime(CLOCK_BOOTTIME, &clock_stands);
	(void)clock_gettime(CLOCK_REALTIME, &wall_stands);
	wall_stands.tv_nsec = 0;
	return setup(state);
}

static inline void settle(struct fix *f)
{
	flush(f);
	loop_run(f->loop);
}

/* The commands called, one a line; the caller's. */
static inline char *calls(const struct fix *f)
{
	char *text = mem_zalloc(400000);
	FILE *in = fopen(f->calls, "r");

	assert_non_null(in);
	assert_true(fread(text, 1, 399999, in) > 0);
	assert_int_equal(fclose(in), 0);
	return text;
}

static inline void assert_calls(const struct fix *f, const char *want)
{
	char *have = calls(f);

	assert_string_equal(have, want);
	free(have);
}

#endif
