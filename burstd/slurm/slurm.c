#include "slurm/slurm.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/plain.h"
#include "base/str.h"
#include "io/loop.h"
#include "io/proc.h"
#include "slurm/command.h"
#include "slurm/queue.h"

enum { UPDATE = SLURM_NQUESTIONS, UPDATE_JOBS, NOTIFY_JOBS, NRUNS, NQUEUES = NRUNS - UPDATE };

struct run {             /* one child; outlives a freed adapter */
	struct slurm *s; /* NULL: the adapter is gone */
	int what;        /* a question, or one of the others */
	int64_t began_ms;
	struct command *command; /* of an update */
};

/* A snapshot that is read, and what was read last: to give megabytes back takes as long as to read
 * a thousand lines, so that has a turn of its own. */
struct reading {
	struct run *run; /* NULL: it is read */
	const char *text;
	size_t len;
	struct slurm_reader r;
};

struct slurm {
	struct proc *proc;
	struct loop *loop;
	struct log *log;
	struct slurm_callbacks cb;
	char scontrol[256], squeue[256], scancel[256], slurm_conf[300];
	struct run *running[NRUNS];
	size_t lines; /* read in one turn */
	struct reading reading;
	struct timer *turn;
	struct queue queues[NQUEUES]; /* run by UPDATE, UPDATE_JOBS and NOTIFY_JOBS */
	bool talks; /* people are told of what the orders to come do to their jobs */
	size_t waiting;
	uint64_t orders, mark, ended; /* of nodes: queued; any: made; of nodes: run */
	struct queue late;            /* not run: those who queued them are still to hear that */
	struct timer *late_turn;
	unsigned cuts; /* of the last order that named an unknown node */
	int64_t settled_ms;
};

static void on_turn(void *ctx);
static void on_late(void *ctx);

struct slurm *slurm_new(struct proc *proc, struct loop *loop, struct log *log, size_t lines,
			const struct slurm_callbacks *cb)
{
	struct slurm *s = mem_zalloc(sizeof(*s));

	s->proc = proc;
	s->loop = loop;
	s->log = log;
	s->lines = lines;
	s->turn = timer_new(loop, on_turn, s);
	s->late_turn = timer_new(loop, on_late, s);
	s->cb = *cb;
	return s;
}

static void drop_text(struct slurm *s)
{
	if (s->reading.text != NULL)
		proc_drop(s->reading.text, s->reading.len);
	s->reading.text = NULL;
}

void slurm_free(struct slurm *s)
{
	if (s == NULL)
		return;
	if (s->reading.run != NULL) {
		s->running[SLURM_SNAPSHOT] = NULL; /* its child has ended */
		free(s->reading.run);
	}
	drop_text(s);
	timer_free(s->turn);
	timer_free(s->late_turn);
	for (int q = 0; q < NRUNS; q++)
		if (s->running[q] != NULL)
			s->running[q]->s = NULL;
	for (int q = 0; q < NQUEUES; q++)
		queue_fini(&s->queues[q]);
	queue_fini(&s->late);
	free(s);
}

void slurm_configure(struct slurm *s, const char *bin, const char *conf)
{
	(void)snprintf(s->scontrol, sizeof(s->scontrol), "%s/scontrol", bin);
	(void)snprintf(s->squeue, sizeof(s->squeue), "%s/squeue", bin);
	(void)snprintf(s->scancel, sizeof(s->scancel), "%s/scancel", bin);
	(void)snprintf(s->slurm_conf, sizeof(s->slurm_conf), "SLURM_CONF=%s",
		       conf != NULL ? conf : "");
}

int64_t slurm_settled_ms(const struct slurm *s)
{
	return s->queues[0].first != NULL || s->running[UPDATE] != NULL ? INT64_MAX : s->settled_ms;
}

uint64_t slurm_orders(const struct slurm *s)
{
	return s->orders;
}

uint64_t slurm_mark(const struct slurm *s)
{
	return s->mark;
}

bool slurm_past(const struct slurm *s, uint64_t mark)
{
	const struct run *run = s->running[UPDATE];

	for (const struct command *c = s->queues[0].first; c != NULL; c = c->next)
		if (c->mark <= mark)
			return false;
	return run == NULL || run->command->mark > mark;
}

/* What went wrong, in one line: slurmctld's own words where there are any. */
static int failed(const char *what, const struct proc_reply *r, struct err *e)
{
	size_t n = strcspn(r->errors, "\n");

	return err_set(e, ERR_NET, "%s: exit status %d%s%.*s", what, r->status, n > 0 ? ": " : "",
		       (int)(n < 180 ? n : 180), r->errors);
}

static const struct {
	const char *what;
	bool squeue;
	const char *args[10];
} questions[NRUNS] = {
	/* Without -d there is no GresUsed=. */
	[SLURM_SNAPSHOT] = {"scontrol show nodes", false, {"-do", "show", "nodes"}},
	[SLURM_CONFIGURING] = {"squeue", true, {"-h", "-a", "-t", SLURM_JOB_PLACED, "-o"}},
	[SLURM_JOBS] = {"squeue", true, {"-h", "-a", "-o"}},
	/* The columns are one text.  NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
	[SLURM_DETAILS] = {"squeue", true, {SLURM_DETAIL_ARGS}},
	/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
	[SLURM_FATES] = {"squeue", true, {SLURM_DETAIL_ARGS}},
	[SLURM_WHO] = {"squeue", true, {SLURM_WHO_ARGS}},
	[SLURM_SOME_JOBS] = {"squeue",
			     true,
			     {"-h", "-a", "--noconvert", "-t", "all", "-o", SLURM_WORDS_FORMAT,
			      "-j"}},
	[SLURM_ONE_JOB] = {"squeue",
			   true,
			   {"-h", "-a", "--noconvert", "-t", "all", "-o", SLURM_WORDS_FORMAT,
			    "-j"}},
	[SLURM_CONFIG] = {"scontrol show config", false, {"show", "config"}},
	[SLURM_PARTITIONS] = {"scontrol show partitions", false, {"-o", "show", "partitions"}},
	[UPDATE] = {"scontrol update", false, {NULL}},
	[UPDATE_JOBS] = {"scontrol or scancel, of jobs", false, {NULL}},
	[NOTIFY_JOBS] = {"scontrol notify", false, {NULL}},
};

/* Asked about one job that slurmctld does not know, squeue fails; about several, it says nothing of
 * that one. */
static bool answered(const struct run *run, const struct proc_reply *r)
{
	bool of_jobs = run->what == SLURM_DETAILS || run->what == SLURM_FATES ||
		       run->what == SLURM_WHO || run->what == SLURM_SOME_JOBS ||
		       run->what == SLURM_ONE_JOB;

	return r->status == 0 || (of_jobs && strstr(r->errors, "Invalid job id specified") != NULL);
}

/* slurmctld has obeyed up to that node, in its own order of names, and has not looked at the rest
 * (slurm.md); orders about jobs have a request for each. */
static bool names_unknown(const struct command *c, const struct proc_reply *r)
{
	return c != NULL && !command_of_jobs(c->kind) &&
	       strstr(r->errors, "Invalid node name") != NULL;
}

static void order_of(const struct command *c, struct slurm_order *out)
{
	*out = (struct slurm_order){.verb = command_verb(c->kind),
				    .names = c->names.p,
				    .reason = c->reason,
				    .what = c->kind == COMMAND_SET_ADDR ? c->addrs.p : c->wait,
				    .of_jobs = command_of_jobs(c->kind),
				    .given = c->sealed};
}

/* Some lines; the answer when these were the last. */
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

/* In a turn of its own, as that takes its time. */
void slurm_seen(struct slurm *s)
{
	if (s->reading.run == NULL && s->reading.text != NULL)
		timer_at(s->turn, loop_now(s->loop));
}

static void on_turn(void *ctx)
{
	struct slurm *s = ctx;

	if (s->reading.run != NULL)
		read_on(s);
	else
		drop_text(s);
}

/* The question counts as running until all of it is read. */
static void read_snapshot(struct slurm *s, struct run *run, const struct proc_reply *r)
{
	drop_text(s);
	*r->kept = true;
	s->reading = (struct reading){.run = run, .text = r->out, .len = r->len};
	slurm_reader_init(&s->reading.r, r->out, r->len);
	read_on(s);
}

static struct command *command_alloc(struct slurm *s, enum command_kind kind)
{
	struct command *c = mem_zalloc(sizeof(*c));

	c->kind = kind;
	c->mark = ++s->mark;
	c->ended = s->ended;
	c->begin_ms = INT64_MAX;
	c->made_ms = loop_now(s->loop);
	str_init(&c->names, SLURM_ARG_MAX);
	str_init(&c->addrs, SLURM_ARG_MAX);
	str_init(&c->hosts, SLURM_ARG_MAX);
	return c;
}

/* Before all that waits.  Takes c, unless it stays as it is. */
static bool cut_in_two(struct slurm *s, struct command *c)
{
	struct queue *q = &s->queues[0];
	struct command *rest;

	if (!c->cut)
		s->cuts = 0;
	if (c->n < 2 || s->cuts == SLURM_CUTS_MAX)
		return false;
	s->cuts++;
	rest = command_alloc(s, c->kind);
	command_cut(c, c->n / 2, rest);
	queue_insert(q, NULL, rest);
	queue_insert(q, NULL, c);
	s->waiting += 2;
	return true;
}

/* unknown: it named a node that slurmctld does not know. */
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

/* argv: up to a NULL; copied.  Takes c if it starts. */
static bool spawn(struct slurm *s, int what, const char *const *argv, struct command *c)
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

/* args: what follows the arguments of the table, or NULL. */
static bool start(struct slurm *s, int what, const char *const *args)
{
	const char *argv[16] = {questions[what].squeue ? s->squeue : s->scontrol};
	size_t n = 1;

	for (size_t i = 0; questions[what].args[i] != NULL; i++)
		argv[n++] = questions[what].args[i];
	for (size_t i = 0; args != NULL && args[i] != NULL; i++)
		argv[n++] = args[i];
	return spawn(s, what, argv, NULL);
}

bool slurm_ask(struct slurm *s, enum slurm_question q)
{
	if (q == SLURM_CONFIGURING || q == SLURM_JOBS)
		return slurm_ask_wishes(s, q, WISH_NOTHING);
	return s->running[q] == NULL && start(s, (int)q, NULL);
}

bool slurm_ask_wishes(struct slurm *s, enum slurm_question q, enum wish_need need)
{
	static const char *const formats[] = {[WISH_NOTHING] = SLURM_JOB_FORMAT,
					      [WISH_CONSTRAINT] = SLURM_CONSTRAINT_FORMAT,
					      [WISH_COMMENT] = SLURM_COMMENT_FORMAT};
	const char *const args[] = {formats[need], NULL};

	return s->running[q] == NULL && start(s, (int)q, args);
}

bool slurm_ask_jobs(struct slurm *s, enum slurm_question q, const char *const *ids, size_t n)
{
	const char *args[2] = {NULL};
	struct str list;
	bool ok;

	assert(n <= SLURM_ASK_MAX);
	if (s->running[q] != NULL)
		return false;
	str_init(&list, n * (SLURM_JOB_ID_MAX + 1));
	for (size_t i = 0; i < n; i++)
		str_addf(&list, "%s%s", i > 0 ? "," : "", ids[i]);
	args[0] = list.p;
	ok = start(s, (int)q, args);
	str_fini(&list);
	return ok;
}

static bool takes(const struct command *c, enum command_kind kind, const char *reason, int64_t arg)
{
	return c != NULL && !c->sealed && c->kind == kind && c->arg == arg &&
	       c->n < command_most(kind) &&
	       strncmp(c->reason, reason, sizeof(c->reason) - 1) == 0 &&
	       c->names.len + HOSTLIST_NAME_MAX < SLURM_ARG_MAX &&
	       c->addrs.len + 64 < SLURM_ARG_MAX &&
	       c->hosts.len + HOSTLIST_NAME_MAX < SLURM_ARG_MAX;
}

/* What changes when a job may start keeps its place among the orders about nodes: told late, it
 * would overrule what those have led to since. */
static struct queue *queue_of(struct slurm *s, enum command_kind kind, int64_t arg)
{
	bool later = kind == COMMAND_SIGNAL || kind == COMMAND_REQUEUE || kind == COMMAND_CLEAR ||
		     (kind == COMMAND_POSTPONE && arg == 0);

	return &s->queues[kind == COMMAND_NOTIFY ? NOTIFY_JOBS - UPDATE : later];
}

static struct command *command_new(struct slurm *s, enum command_kind kind, const char *reason,
				   int64_t arg, struct command *after)
{
	struct command *c;

	if (s->waiting >= SLURM_QUEUE_MAX)
		return NULL;
	c = command_alloc(s, kind);
	c->arg = arg;
	(void)snprintf(c->reason, sizeof(c->reason), "%s", reason);
	queue_insert(queue_of(s, kind, arg), after, c);
	s->waiting++;
	return c;
}

/* Where a command of this kind goes: signals before what else is for jobs and has not begun, and
 * the fence of a node before what else is for nodes; but for a RESUME, which would take it down. */
static struct command *place_of(const struct queue *q, enum command_kind kind)
{
	struct command *c = q->last;

	while ((kind == COMMAND_SIGNAL || kind == COMMAND_ASAP) && c != NULL && !c->sealed &&
	       c->kind != kind && c->kind != COMMAND_RESUME)
		c = c->prev;
	return c;
}

/* The command that one more of this kind goes into: the last one waiting, or a new one.  A DOWN may
 * also join the one before a last FORCE: nobody is in that FORCE who is not in that DOWN. */
static struct command *command_for(struct slurm *s, enum command_kind kind, const char *reason,
				   int64_t arg)
{
	struct command *last = place_of(queue_of(s, kind, arg), kind);

	if (takes(last, kind, reason, arg))
		return last;
	if (kind == COMMAND_DOWN && takes(last, COMMAND_FORCE, reason, 0) &&
	    takes(last->prev, COMMAND_DOWN, reason, 0) && last->prev->n == last->n)
		return last->prev;
	return command_new(s, kind, reason, arg, last);
}

static struct command *add(struct slurm *s, enum command_kind kind, const char *name,
			   const char *reason, int64_t arg)
{
	struct command *c = command_for(s, kind, reason, arg);

	if (c == NULL)
		return NULL;
	str_addf(&c->names, "%s%s", c->n > 0 ? "," : "", name);
	c->n++;
	s->orders += queue_of(s, kind, arg) == &s->queues[0];
	return c;
}

static struct command *add_node(struct slurm *s, enum command_kind kind, const char *node,
				const char *reason)
{
	return add(s, kind, node, reason, 0);
}

static void add_addr(struct command *c, const char *addr, const char *host)
{
	str_addf(&c->addrs, "%s%s", c->n > 1 ? "," : "", addr);
	str_addf(&c->hosts, "%s%s", c->n > 1 ? "," : "", host);
}

void slurm_set_addr(struct slurm *s, const char *node, const char *addr, const char *host)
{
	struct command *c = add_node(s, COMMAND_SET_ADDR, node, "");

	if (c != NULL)
		add_addr(c, addr != NULL ? addr : node, addr != NULL ? host : node);
}

bool slurm_power_down(struct slurm *s, const char *node, const char *addr, bool dead,
		      const char *reason)
{
	static const char nowhere[] = "192.0.2.1"; /* RFC 5737: for documentation only */
	char clean[SLURM_COMMENT_MAX + 1];
	struct command *c;

	slurm_clean(clean, sizeof(clean), reason);
	if (dead)
		(void)add_node(s, COMMAND_DOWN, node, clean);
	c = add_node(s, COMMAND_FORCE, node, clean);
	if (c == NULL)
		return false;
	c->nowhere = c->nowhere || addr == NULL || addr[0] == '\0';
	add_addr(c, addr != NULL && addr[0] != '\0' ? addr : nowhere, node);
	return true;
}

bool slurm_drain(struct slurm *s, const char *node, const char *reason)
{
	char clean[SLURM_COMMENT_MAX + 1];

	slurm_clean(clean, sizeof(clean), reason);
	return add_node(s, COMMAND_ASAP, node, clean) != NULL;
}

void slurm_down(struct slurm *s, const char *node, const char *reason)
{
	char clean[SLURM_COMMENT_MAX + 1];

	slurm_clean(clean, sizeof(clean), reason);
	(void)add_node(s, COMMAND_DOWN, node, clean);
}

void slurm_resume(struct slurm *s, const char *node)
{
	(void)add_node(s, COMMAND_RESUME, node, "");
}

/* By the wall clock, as slurmctld's own times are: when that is set, a command that waits here is
 * moved with the begin times that it was decided by (F57). */
static int64_t wall_ms(const struct slurm *s)
{
	return loop_now(s->loop) - loop_ahead(s->loop);
}

/* slurmctld knows no fractions of a second: not sooner than that, or the job meets what it waited
 * for a moment before it is over. */
static int64_t start_ms(const struct slurm *s, int64_t wait_ms)
{
	return (wall_ms(s) + wait_ms + 999) / 1000 * 1000;
}

/* What is left of the wait, for the command may have waited itself. */
static void set_wait(const struct slurm *s, struct command *c)
{
	(void)snprintf(c->wait, sizeof(c->wait), "StartTime=now+%" PRId64,
		       (c->arg - wall_ms(s) + 999) / 1000);
}

static bool is_wait(const struct command *c)
{
	return c->kind == COMMAND_POSTPONE && c->arg > 0;
}

static bool writes_comment(const struct command *c)
{
	return c->kind == COMMAND_CLEAR || (c->kind == COMMAND_POSTPONE && c->reason[0] != '\0');
}

/* Its time is over; a job to be requeued may be at work by now; or one of its jobs may have
 * started, and have been requeued since; or somebody may have written another comment. */
static bool is_late(const struct slurm *s, const struct command *c)
{
	if (writes_comment(c) && loop_now(s->loop) - c->made_ms >= SLURM_COMMENT_MS)
		return true;
	if (c->kind == COMMAND_REQUEUE && loop_now(s->loop) - c->made_ms >= SLURM_REQUEUE_MS)
		return true;
	if (!is_wait(c) && c->kind != COMMAND_START)
		return false;
	return (is_wait(c) && c->arg <= wall_ms(s)) ||
	       (c->begin_ms <= wall_ms(s) && c->ended != s->ended);
}

/* For some jobs: good as long as none of them can have started. */
static bool set_begin(const struct slurm *s, struct command *c, int64_t begin_ms)
{
	int64_t wall = begin_ms - loop_ahead(s->loop);

	if (c != NULL && wall < c->begin_ms)
		c->begin_ms = wall;
	return c != NULL;
}

void slurm_wake(struct slurm *s, const char *node)
{
	(void)add_node(s, COMMAND_WAKE, node, "");
}

void slurm_keep(struct slurm *s, const char *node, bool keep)
{
	(void)add_node(s, keep ? COMMAND_KEEP : COMMAND_LET_GO, node, "");
}

/* What was to stand in its comment before is not written any more: the orders that make a job wait
 * have a queue of their own, and may pass those that do not.  One that runs already began before:
 * it is not waited for, since what the new order was decided by would grow old. */
static void drop_words(struct slurm *s, const char *job)
{
	struct queue *q = &s->queues[UPDATE_JOBS - UPDATE];
	struct command *next;

	for (struct command *c = q->first; c != NULL; c = next) {
		next = c->next;
		if (!writes_comment(c) || !slurm_job_among(c->names.p, job))
			continue;
		if (command_strike(c, job)) {
			c->sealed = false; /* it is given anew: a record of what is left */
			continue;
		}
		queue_remove(q, c);
		command_free(c);
		s->waiting--;
	}
}

bool slurm_postpone(struct slurm *s, const char *job, int64_t wait_ms, int64_t begin_ms,
		    const char *comment)
{
	char clean[SLURM_COMMENT_MAX + 1];
	int64_t arg = wait_ms > 0 ? start_ms(s, wait_ms) : 0;

	slurm_clean(clean, sizeof(clean), comment != NULL ? comment : "");
	if (arg == 0 && comment == NULL)
		return true;
	if (comment != NULL)
		drop_words(s, job);
	return set_begin(s, add(s, COMMAND_POSTPONE, job, clean, arg), begin_ms);
}

void slurm_clear_comment(struct slurm *s, const char *job)
{
	(void)add(s, COMMAND_CLEAR, job, "", 0);
}

bool slurm_start_now(struct slurm *s, const char *job, int64_t begin_ms)
{
	struct command *c = add(s, COMMAND_START, job, "", 0);

	if (c != NULL)
		(void)snprintf(c->wait, sizeof(c->wait), "StartTime=now");
	return set_begin(s, c, begin_ms);
}

bool slurm_requeue(struct slurm *s, const char *job, const char *why)
{
	const struct command *last = queue_of(s, COMMAND_REQUEUE, 0)->last;
	char whole[SLURM_JOB_ID_MAX + 1];

	slurm_job_to_requeue(whole, job);
	if (takes(last, COMMAND_REQUEUE, why, 0) && slurm_job_among(last->names.p, whole))
		return true; /* for another component of it */
	return add(s, COMMAND_REQUEUE, whole, why, 0) != NULL;
}

bool slurm_signal(struct slurm *s, const char *job, const char *signal, enum slurm_signal_to to)
{
	struct command *c = add(s, COMMAND_SIGNAL, job, signal, to);

	if (c != NULL)
		(void)snprintf(c->wait, sizeof(c->wait), "%.38s", signal);
	return c != NULL;
}

/* slurmctld goes through a command node by node, and as soon as it requeues a job for one of them
 * it writes to the others of that job: these must have their addresses by then. */
static struct command *addresses_first(struct slurm *s, struct queue *q, struct command *force)
{
	struct command *c = command_alloc(s, COMMAND_SET_ADDR);

	force->nowhere = false;
	c->n = force->n;
	str_adds(&c->names, force->names.p);
	str_adds(&c->addrs, force->addrs.p);
	str_adds(&c->hosts, force->hosts.p);
	queue_insert(q, NULL, c);
	s->waiting++;
	return c;
}

void slurm_words(const struct slurm *s, char *out, size_t size, const char *text)
{
	slurm_clean(out, size, text);
	fmt_local(out, s->cb.zone);
}

void slurm_notify(struct slurm *s, const char *job, const char *text)
{
	char clean[SLURM_COMMENT_MAX + 1];

	if (s->waiting >= SLURM_QUEUE_MAX / 2)
		return; /* each is a command of its own: orders must find room */
	slurm_clean(clean, sizeof(clean), text);
	(void)add(s, COMMAND_NOTIFY, job, clean, 0);
}

void slurm_talks(struct slurm *s, bool talks)
{
	s->talks = talks;
}

bool slurm_notifies(const struct slurm *s)
{
	return s->queues[NOTIFY_JOBS - UPDATE].first != NULL || s->running[NOTIFY_JOBS] != NULL;
}

/* It ends jobs, and their people are still to hear why. */
static bool is_held(const struct slurm *s, const struct command *c)
{
	return s->talks && !c->sealed && (c->kind == COMMAND_FORCE || c->kind == COMMAND_DOWN) &&
	       loop_now(s->loop) < c->made_ms + SLURM_NOTIFY_MS;
}

int64_t slurm_held_until(const struct slurm *s)
{
	const struct command *c = s->queues[0].first;

	return c != NULL && is_held(s, c) ? c->made_ms + SLURM_NOTIFY_MS : INT64_MAX;
}

/* Those who queued them hear it from the loop. */
static void drop_late(struct slurm *s, struct queue *q)
{
	while (q->first != NULL && is_late(s, q->first)) {
		queue_insert(&s->late, s->late.last, queue_take(q));
		s->waiting--;
		timer_at(s->late_turn, loop_now(s->loop));
	}
}

static void on_late(void *ctx)
{
	static const struct err late = {.code = ERR_NOTSENT, .msg = "the job may be another since"};
	struct slurm *s = ctx;
	struct slurm_order order;
	struct command *c = queue_take(&s->late);

	if (c == NULL)
		return;
	timer_at(s->late_turn, loop_now(s->loop));
	order_of(c, &order);
	s->cb.updated(s->cb.ctx, &order, &late);
	command_free(c);
}

/* Was one given, and dropped, and nobody has heard it?  The next may be about the same job. */
static bool owes_word(const struct slurm *s)
{
	const struct command *c = s->late.first;

	while (c != NULL && !c->sealed)
		c = c->next;
	return c != NULL;
}

bool slurm_next(struct slurm *s, struct slurm_order *out)
{
	for (int q = 0; q < NQUEUES; q++) {
		struct command *c;

		if (s->running[UPDATE + q] == NULL)
			drop_late(s, &s->queues[q]);
		if (owes_word(s))
			return false;
		c = s->queues[q].first;
		if (c == NULL || c->sealed || s->running[UPDATE + q] != NULL || is_held(s, c))
			continue;
		if (c->nowhere && c->n > 1)
			c = addresses_first(s, &s->queues[q], c);
		c->sealed = true;
		if (is_wait(c))
			set_wait(s, c);
		order_of(c, out);
		return true;
	}
	return false;
}

static void flush(struct slurm *s, int q)
{
	const char *argv[COMMAND_ARGV];
	struct command *c;
	struct str args[COMMAND_TEXTS];
	char count[FMT_U64_SIZE];

	if (s->running[UPDATE + q] != NULL)
		return;
	drop_late(s, &s->queues[q]);
	c = s->queues[q].first;
	if (c == NULL || !c->sealed)
		return;
	if (is_wait(c))
		set_wait(s, c); /* on record was what was left of it then */
	for (size_t i = 0; i < COMMAND_TEXTS; i++)
		str_init(&args[i], SLURM_ARG_MAX + 64);
	command_argv(c, s->cb.zone, c->kind == COMMAND_SIGNAL ? s->scancel : s->scontrol, args,
		     argv);
	log_write(s->log, LOG_DEBUG, "telling slurmctld", "of", c->names.p, "what",
		  command_what(c->kind), "count", fmt_u64(count, c->n), NULL);
	if (spawn(s, UPDATE + q, argv, c)) {
		(void)queue_take(&s->queues[q]);
		s->waiting--;
	}
	for (size_t i = 0; i < COMMAND_TEXTS; i++)
		str_fini(&args[i]);
}

void slurm_flush(struct slurm *s)
{
	for (int q = 0; q < NQUEUES; q++)
		flush(s, q);
}
