/* Runs Slurm's commands, one child of a kind at a time; the output becomes an answer, a snapshot
 * that is read some lines a turn, or the end of an order. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "io/loop.h"
#include "io/proc.h"
#include "slurm/command.h"
#include "slurm/slurm_private.h"

static const struct {
	const char *what;
	bool squeue;
	const char *args[10];
} questions[NRUNS] = {
	/* Without -d there is no GresUsed=. */
	[SLURM_SNAPSHOT] = {"scontrol show nodes", false, {"-do", "show", "nodes"}},
	[SLURM_CONFIGURING] = {"squeue", true, {"-h", "-a", "-t", SLURM_JOB_PLACED, "-O"}},
	[SLURM_JOBS] = {"squeue", true, {"-h", "-a", "-O"}},
	/* The columns are one text.  NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
	[SLURM_DETAILS] = {"squeue", true, {SLURM_DETAIL_ARGS}},
	/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
	[SLURM_FATES] = {"squeue", true, {SLURM_DETAIL_ARGS}},
	/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
	[SLURM_PLACED] = {"squeue", true, {SLURM_DETAIL_ARGS}},
	[SLURM_WHO] = {"squeue", true, {SLURM_WHO_ARGS}},
	[SLURM_SOME_JOBS] = {"squeue",
			     true,
			     /* The columns are one text. */
			     /* NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
			     {"-h", "-a", "--noconvert", "-t", "all", "-O", SLURM_WORDS_FORMAT,
			      "-j"}},
	[SLURM_ONE_JOB] = {"squeue",
			   true,
			   /* The columns are one text. */
			   /* NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
			   {"-h", "-a", "--noconvert", "-t", "all", "-O", SLURM_WORDS_FORMAT,
			    "-j"}},
	[SLURM_CONFIG] = {"scontrol show config", false, {"show", "config"}},
	[SLURM_PARTITIONS] = {"scontrol show partitions", false, {"-o", "show", "partitions"}},
	[SLURM_ACCOUNTS] = {"scontrol show assoc_mgr",
			    false,
			    {"-o", "show", "assoc_mgr", "flags=assoc"}},
	[UPDATE] = {"scontrol update", false, {NULL}},
	[UPDATE_JOBS] = {"scontrol or scancel for jobs", false, {NULL}},
	[NOTIFY_JOBS] = {"scontrol notify", false, {NULL}},
};

/* Set *e to one line, with slurmctld's own words if there are any. */
static int failed(const char *what, const struct proc_reply *r, struct err *e)
{
	size_t n = strcspn(r->errors, "\n");

	return err_set(e, ERR_NET, "%s: exit status %d%s%.*s", what, r->status, n > 0 ? ": " : "",
		       (int)(n < 180 ? n : 180), r->errors);
}

/* If slurmctld does not know a job, squeue fails when asked about it alone, and leaves it out when
 * asked about several. */
static bool answered(const struct run *run, const struct proc_reply *r)
{
	bool of_jobs = run->what == SLURM_DETAILS || run->what == SLURM_FATES ||
		       run->what == SLURM_PLACED || run->what == SLURM_WHO ||
		       run->what == SLURM_SOME_JOBS || run->what == SLURM_ONE_JOB;

	return r->status == 0 || (of_jobs && strstr(r->errors, "Invalid job id specified") != NULL);
}

/* Did the command name a node that slurmctld does not know?  slurmctld has obeyed up to that node,
 * in its own order of names, and has not looked at the rest (slurm.md).  Orders about jobs are
 * never cut: they have a request for each job.  Nor is one that creates nodes: a half would create
 * some again. */
static bool names_unknown(const struct command *c, const struct proc_reply *r)
{
	return c != NULL && !command_of_jobs(c->kind) && c->kind != COMMAND_CREATE &&
	       strstr(r->errors, "Invalid node name") != NULL;
}

void run_drop_text(struct slurm *s)
{
	if (s->reading.text != NULL)
		proc_drop(s->reading.text, s->reading.len);
	s->reading.text = NULL;
}

/* Read some lines; call answer() if these were the last. */
static void read_on(struct slurm *s)
{
	struct reading *g = &s->reading;
	struct run run = *g->run;
	struct err e;
	int rc = slurm_read_nodes(&g->r, s->lines, s->cb.node, s->cb.ctx, &e);

	if (rc == 1) {
		timer_at(s->turn, loop_now(s->loop));
		return;
	}
	free(g->run);
	g->run = s->running[SLURM_SNAPSHOT] = NULL;
	s->cb.answer(s->cb.ctx, SLURM_SNAPSHOT, rc == 0 ? g->text : NULL, rc == 0 ? g->len : 0,
		     run.began_ms, rc == 0 ? NULL : &e);
}

/* Free the text in a turn of its own, as that takes long. */
void slurm_seen(struct slurm *s)
{
	if (s->reading.run == NULL && s->reading.text != NULL)
		timer_at(s->turn, loop_now(s->loop));
}

void run_on_turn(void *ctx)
{
	struct slurm *s = ctx;

	if (s->reading.run != NULL)
		read_on(s);
	else
		run_drop_text(s);
}

/* The question counts as running until the whole snapshot is read. */
static void read_snapshot(struct slurm *s, struct run *run, const struct proc_reply *r)
{
	run_drop_text(s);
	*r->kept = true;
	s->reading = (struct reading){.run = run, .text = r->out, .len = r->len};
	slurm_reader_init(&s->reading.r, r->out, r->len);
	read_on(s);
}

/* Queue the two halves of c before all that waits.  Takes c, unless it returns false. */
static bool cut_in_two(struct slurm *s, struct command *c)
{
	struct queue *q = &s->queues[0];
	struct command *rest;

	if (!c->cut)
		s->cuts = 0;
	if (c->n < 2 || s->cuts == SLURM_CUTS_MAX)
		return false;
	s->cuts++;
	rest = order_alloc(s, c->kind);
	command_cut(c, c->n / 2, rest);
	queue_insert(q, NULL, rest);
	queue_insert(q, NULL, c);
	s->waiting += 2;
	return true;
}

/* unknown: the command named a node that slurmctld does not know. */
static void ended(struct slurm *s, const struct run *run, bool unknown, const struct err *e)
{
	struct command *c = run->command;
	bool again = unknown && cut_in_two(s, c);
	struct slurm_order order;

	if (run->what == UPDATE)
		s->settled_ms = loop_now(s->loop);
	s->ended += !command_of_jobs(c->kind);
	order_of(c, &order);
	order.again = again;
	s->cb.updated(s->cb.ctx, &order, e);
	if (!again)
		command_free(c);
}

static void on_done(void *ctx, const struct proc_reply *r, const struct err *e)
{
	struct run run = *(struct run *)ctx;
	struct slurm *s = run.s;
	struct err own = {0};
	bool unknown = false;

	if (s != NULL && run.what == SLURM_SNAPSHOT && e == NULL && answered(&run, r)) {
		read_snapshot(s, ctx, r);
		return;
	}
	free(ctx);
	if (s == NULL) {
		command_free(run.command);
		return;
	}
	s->running[run.what] = NULL;
	if (e == NULL && !answered(&run, r)) {
		(void)failed(questions[run.what].what, r, &own);
		unknown = names_unknown(run.command, r);
		if (unknown && run.command->n == 1)
			(void)err_wrap(&own, "slurmctld does not know %s", run.command->names.p);
		e = &own;
	}
	if (run.command == NULL) {
		s->cb.answer(s->cb.ctx, (enum slurm_question)run.what, e ? NULL : r->out,
			     e ? 0 : r->len, run.began_ms, e);
		return;
	}
	ended(s, &run, unknown, e);
}

bool run_spawn(struct slurm *s, int what, const char *const *argv, struct command *c)
{
	/* Times are read as numbers, whatever the zone. */
	const char *const envp[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", "SLURM_TIME_FORMAT=%s",
				    s->slurm_conf[strlen("SLURM_CONF=")] ? s->slurm_conf : NULL,
				    NULL};
	struct proc_call call = {.argv = argv,
				 .envp = envp,
				 .timeout_ms =
					 what == NOTIFY_JOBS ? SLURM_NOTIFY_MS : SLURM_TIMEOUT_MS,
				 .max_out = SLURM_OUT_MAX};
	struct run *run = mem_zalloc(sizeof(*run));
	struct err e;

	assert(s->running[what] == NULL);
	*run = (struct run){.s = s, .what = what, .began_ms = loop_now(s->loop), .command = c};
	if (proc_run(s->proc, &call, on_done, run, &e) != 0) {
		log_write(s->log, LOG_ERROR, "cannot run a Slurm command", "command", argv[0],
			  "error", e.msg, NULL);
		free(run);
		return false;
	}
	s->running[what] = run;
	return true;
}

enum { COLUMNS_MAX = 2048 }; /* bytes of a format with all columns; the longest has 500 */

/* An argument with the columns that this release has; *own has its memory, if it is not arg.  One
 * argument of a command has columns. */
static const char *for_release(const struct slurm *s, const char *arg, struct str *own)
{
	const char *shares = s->has_exclusive_column ? strstr(arg, SLURM_SHARES) : NULL;

	if (shares == NULL)
		return arg;
	assert(own->len == 0);
	str_addf(own, "%.*s" SLURM_SHARES_OR_OWNS "%s", (int)(shares - arg), arg,
		 shares + strlen(SLURM_SHARES));
	assert(!own->full);
	return own->p;
}

bool run_question(struct slurm *s, int what, const char *const *args)
{
	const char *argv[16] = {questions[what].squeue ? s->squeue : s->scontrol};
	size_t n = 1;
	struct str own;
	bool ok;

	str_init(&own, COLUMNS_MAX);
	for (size_t i = 0; questions[what].args[i] != NULL; i++)
		argv[n++] = for_release(s, questions[what].args[i], &own);
	for (size_t i = 0; args != NULL && args[i] != NULL; i++)
		argv[n++] = for_release(s, args[i], &own);
	ok = run_spawn(s, what, argv, NULL);
	str_fini(&own);
	return ok;
}
