#include "engine/slurm/slurm.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/loop.h"
#include "io/proc.h"

enum kind { SET_ADDR, DOWN, FORCE, RESUME, NKINDS };

struct command { /* one scontrol update to be */
	struct command *next, *prev;
	enum kind kind;
	size_t n;
	struct str nodes, addrs, hosts;
	char reason[200];
};

enum query { SNAPSHOT, JOBS, UPDATE, NQUERIES };

struct run {             /* one child; outlives a freed adapter */
	struct slurm *s; /* NULL: the adapter is gone */
	enum query query;
	int64_t began_ms;
};

struct slurm {
	struct proc *proc;
	struct loop *loop;
	struct log *log;
	struct slurm_callbacks cb;
	char scontrol[256], squeue[256], slurm_conf[300];
	struct run *running[NQUERIES];
	struct command *first, *last;
	size_t waiting;
	int64_t settled_ms;
};

struct slurm *slurm_new(struct proc *proc, struct loop *loop, struct log *log,
			const struct slurm_callbacks *cb)
{
	struct slurm *s = mem_zalloc(sizeof(*s));

	s->proc = proc;
	s->loop = loop;
	s->log = log;
	s->cb = *cb;
	return s;
}

static void command_free(struct command *c)
{
	str_fini(&c->nodes);
	str_fini(&c->addrs);
	str_fini(&c->hosts);
	free(c);
}

void slurm_free(struct slurm *s)
{
	if (s == NULL)
		return;
	for (int q = 0; q < NQUERIES; q++)
		if (s->running[q] != NULL)
			s->running[q]->s = NULL;
	while (s->first != NULL) {
		struct command *c = s->first;

		s->first = c->next;
		command_free(c);
	}
	free(s);
}

void slurm_configure(struct slurm *s, const char *bin, const char *conf)
{
	(void)snprintf(s->scontrol, sizeof(s->scontrol), "%s/scontrol", bin);
	(void)snprintf(s->squeue, sizeof(s->squeue), "%s/squeue", bin);
	(void)snprintf(s->slurm_conf, sizeof(s->slurm_conf), "SLURM_CONF=%s",
		       conf != NULL ? conf : "");
}

int64_t slurm_settled_ms(const struct slurm *s)
{
	return s->first != NULL || s->running[UPDATE] != NULL ? INT64_MAX : s->settled_ms;
}

/* What went wrong, in one line: slurmctld's own words where there are any. */
static int failed(const char *what, const struct proc_reply *r, struct err *e)
{
	size_t n = strcspn(r->errors, "\n");

	return err_set(e, ERR_NET, "%s: exit status %d%s%.*s", what, r->status, n > 0 ? ": " : "",
		       (int)(n < 180 ? n : 180), r->errors);
}

static void on_done(void *ctx, const struct proc_reply *r, const struct err *e)
{
	static const char *const what[NQUERIES] = {"scontrol show nodes", "squeue",
						   "scontrol update"};
	struct run run = *(struct run *)ctx;
	struct slurm *s = run.s;
	struct err own = {0};

	free(ctx);
	if (s == NULL)
		return;
	s->running[run.query] = NULL;
	if (e == NULL && r->status != 0) {
		(void)failed(what[run.query], r, &own);
		e = &own;
	}
	switch (run.query) {
	case SNAPSHOT:
		s->cb.snapshot(s->cb.ctx, e ? NULL : r->out, e ? 0 : r->len, run.began_ms, e);
		break;
	case JOBS:
		s->cb.jobs(s->cb.ctx, e ? NULL : r->out, e ? 0 : r->len, e);
		break;
	default:
		s->settled_ms = loop_now(s->loop);
		s->cb.updated(s->cb.ctx, e);
		break;
	}
}

static bool start(struct slurm *s, enum query q, const char *const *argv)
{
	const char *const envp[] = {"PATH=/usr/bin:/bin", "LC_ALL=C",
				    s->slurm_conf[strlen("SLURM_CONF=")] ? s->slurm_conf : NULL,
				    NULL};
	struct proc_call call = {.argv = argv,
				 .envp = envp,
				 .timeout_ms = SLURM_TIMEOUT_MS,
				 .max_out = SLURM_OUT_MAX};
	struct run *run = mem_zalloc(sizeof(*run));
	struct err e;

	assert(s->running[q] == NULL);
	*run = (struct run){.s = s, .query = q, .began_ms = loop_now(s->loop)};
	if (proc_run(s->proc, &call, on_done, run, &e) != 0) {
		log_write(s->log, LOG_ERROR, "cannot run a Slurm command", "command", argv[0],
			  "error", e.msg, NULL);
		free(run);
		return false;
	}
	s->running[q] = run;
	return true;
}

bool slurm_poll(struct slurm *s)
{
	const char *const argv[] = {s->scontrol, "-o", "show", "nodes", NULL};

	return s->running[SNAPSHOT] == NULL && start(s, SNAPSHOT, argv);
}

bool slurm_ask_jobs(struct slurm *s)
{
	const char *const argv[] = {s->squeue,     "-h", "-a",    "-t",
				    "CONFIGURING", "-o", "%A|%N", NULL};

	return s->running[JOBS] == NULL && start(s, JOBS, argv);
}

static bool takes(const struct command *c, enum kind kind, const char *reason)
{
	return c != NULL && c->kind == kind && c->n < SLURM_BATCH_MAX &&
	       strncmp(c->reason, reason, sizeof(c->reason) - 1) == 0 &&
	       c->nodes.len + HOSTLIST_NAME_MAX < SLURM_ARG_MAX &&
	       c->addrs.len + 64 < SLURM_ARG_MAX &&
	       c->hosts.len + HOSTLIST_NAME_MAX < SLURM_ARG_MAX;
}

static struct command *command_new(struct slurm *s, enum kind kind, const char *reason)
{
	struct command *c;

	if (s->waiting == SLURM_QUEUE_MAX)
		return NULL;
	c = mem_zalloc(sizeof(*c));
	c->kind = kind;
	(void)snprintf(c->reason, sizeof(c->reason), "%s", reason);
	str_init(&c->nodes, SLURM_ARG_MAX);
	str_init(&c->addrs, SLURM_ARG_MAX);
	str_init(&c->hosts, SLURM_ARG_MAX);
	c->prev = s->last;
	if (s->last != NULL)
		s->last->next = c;
	else
		s->first = c;
	s->last = c;
	s->waiting++;
	return c;
}

/* The command that one more node of this kind goes into: the last one waiting, or a new one.  A
 * DOWN may also join the one before a last FORCE: nobody is in that FORCE who is not in that DOWN.
 */
static struct command *command_for(struct slurm *s, enum kind kind, const char *reason)
{
	struct command *last = s->last;

	if (takes(last, kind, reason))
		return last;
	if (kind == DOWN && takes(last, FORCE, reason) && takes(last->prev, DOWN, reason) &&
	    last->prev->n == last->n)
		return last->prev;
	return command_new(s, kind, reason);
}

static struct command *add_node(struct slurm *s, enum kind kind, const char *node,
				const char *reason)
{
	struct command *c = command_for(s, kind, reason);

	if (c == NULL)
		return NULL;
	str_addf(&c->nodes, "%s%s", c->n > 0 ? "," : "", node);
	c->n++;
	return c;
}

static void add_addr(struct command *c, const char *addr, const char *host)
{
	str_addf(&c->addrs, "%s%s", c->n > 1 ? "," : "", addr);
	str_addf(&c->hosts, "%s%s", c->n > 1 ? "," : "", host);
}

void slurm_set_addr(struct slurm *s, const char *node, const char *addr, const char *host)
{
	struct command *c = add_node(s, SET_ADDR, node, "");

	if (c != NULL)
		add_addr(c, addr != NULL ? addr : node, addr != NULL ? host : node);
}

/* A reason is shown by many programs and parsed by some: no control bytes, no '=' or quotes. */
static void clean_reason(char *out, size_t size, const char *reason)
{
	(void)snprintf(out, size, "%s", reason);
	for (char *p = out; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || *p == '=' || *p == '"' || *p == '\'' || *p == '\\')
			*p = ' ';
}

void slurm_power_down(struct slurm *s, const char *node, const char *addr, bool dead,
		      const char *reason)
{
	static const char nowhere[] = "192.0.2.1"; /* RFC 5737: for documentation only */
	char clean[sizeof(s->first->reason)];
	struct command *c;

	clean_reason(clean, sizeof(clean), reason);
	if (dead)
		(void)add_node(s, DOWN, node, clean);
	c = add_node(s, FORCE, node, clean);
	if (c != NULL)
		add_addr(c, addr != NULL && addr[0] != '\0' ? addr : nowhere, node);
}

void slurm_resume(struct slurm *s, const char *node)
{
	(void)add_node(s, RESUME, node, "");
}

/* The arguments of a command, in memory that *args keeps. */
static void make_argv(const struct command *c, struct str *args, const char **argv)
{
	static const char *const states[NKINDS] = {
		[DOWN] = "DOWN", [FORCE] = "POWER_DOWN_FORCE", [RESUME] = "RESUME"};
	size_t n = 2;

	str_addf(&args[0], "nodename=%s", c->nodes.p);
	argv[n++] = args[0].p;
	if (c->addrs.len > 0) {
		str_addf(&args[1], "nodeaddr=%s", c->addrs.p);
		str_addf(&args[2], "nodehostname=%s", c->hosts.p);
		argv[n++] = args[1].p;
		argv[n++] = args[2].p;
	}
	if (states[c->kind] != NULL) {
		str_addf(&args[3], "state=%s", states[c->kind]);
		argv[n++] = args[3].p;
	}
	if (c->reason[0] != '\0') {
		str_addf(&args[4], "reason=%s", c->reason);
		argv[n++] = args[4].p;
	}
	argv[n] = NULL;
}

void slurm_flush(struct slurm *s)
{
	enum { ARGS = 5 };
	const char *argv[ARGS + 3] = {s->scontrol, "update"};
	struct command *c = s->first;
	struct str args[ARGS];
	char count[FMT_U64_SIZE];

	if (c == NULL || s->running[UPDATE] != NULL)
		return;
	for (size_t i = 0; i < ARGS; i++)
		str_init(&args[i], SLURM_ARG_MAX + 64);
	make_argv(c, args, argv);
	log_write(s->log, LOG_DEBUG, "telling slurmctld", "nodes", c->nodes.p, "what",
		  args[3].len > 0 ? args[3].p : "address", "count", fmt_u64(count, c->n), NULL);
	if (start(s, UPDATE, argv)) {
		s->first = c->next;
		if (s->first == NULL)
			s->last = NULL;
		else
			s->first->prev = NULL;
		s->waiting--;
		command_free(c);
	}
	for (size_t i = 0; i < ARGS; i++)
		str_fini(&args[i]);
}
