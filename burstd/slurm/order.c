/* Queues orders: each goes into the last waiting command of its kind that takes one more, or into a
 * new command behind it. */
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "io/loop.h"
#include "slurm/command.h"
#include "slurm/node_words.h"
#include "slurm/slurm_private.h"

void order_of(const struct command *c, struct slurm_order *out)
{
	*out = (struct slurm_order){.verb = command_verb(c->kind),
				    .names = c->names.p,
				    .reason = c->reason,
				    .what = c->kind == COMMAND_SET_ADDR ? c->addrs.p
					    : c->kind == COMMAND_CREATE
						    ? c->spec.p + (c->spec.len > 0)
						    : c->wait,
				    .of_jobs = command_of_jobs(c->kind),
				    .given = c->sealed};
}

struct command *order_alloc(struct slurm *s, enum command_kind kind)
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
	str_init(&c->spec, SLURM_NODE_WORDS_MAX);
	return c;
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

/* Orders that change when a job may start stay in line with those about nodes: run late, they would
 * overrule what those have led to since. */
static struct queue *queue_of(struct slurm *s, enum command_kind kind, int64_t arg)
{
	bool later = command_by_scancel(kind) || kind == COMMAND_REQUEUE || kind == COMMAND_CLEAR ||
		     (kind == COMMAND_POSTPONE && arg == 0);

	return &s->queues[kind == COMMAND_NOTIFY ? NOTIFY_JOBS - UPDATE : later];
}

static struct command *command_new(struct slurm *s, enum command_kind kind, const char *reason,
				   int64_t arg, struct command *after)
{
	struct command *c;

	if (s->waiting >= SLURM_QUEUE_MAX)
		return NULL;
	c = order_alloc(s, kind);
	c->arg = arg;
	(void)snprintf(c->reason, sizeof(c->reason), "%s", reason);
	queue_insert(queue_of(s, kind, arg), after, c);
	s->waiting++;
	return c;
}

/* The command behind which one of this kind goes.  A signal goes before other waiting commands for
 * jobs, a drain before those for nodes, but not before a RESUME, which would undo it. */
static struct command *place_of(const struct queue *q, enum command_kind kind)
{
	struct command *c = q->last;

	while ((kind == COMMAND_SIGNAL || kind == COMMAND_ASAP) && c != NULL && !c->sealed &&
	       c->kind != kind && c->kind != COMMAND_RESUME)
		c = c->prev;
	return c;
}

/* The command to add an order of this kind to: the last one waiting, or a new one.  A DOWN may also
 * join the DOWN before a last FORCE, if that FORCE has no other nodes. */
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

void slurm_wake(struct slurm *s, const char *node)
{
	(void)add_node(s, COMMAND_WAKE, node, "");
}

void slurm_keep(struct slurm *s, const char *node, bool keep)
{
	(void)add_node(s, keep ? COMMAND_KEEP : COMMAND_LET_GO, node, "");
}

bool slurm_create(struct slurm *s, const char *node, uint32_t pool, const char *spec)
{
	struct command *c = add(s, COMMAND_CREATE, node, "", pool);

	if (c != NULL && c->n == 1)
		str_adds(&c->spec, spec);
	return c != NULL;
}

int64_t order_wall_ms(const struct slurm *s)
{
	return loop_now(s->loop) - loop_ahead(s->loop);
}

/* slurmctld has no fractions of a second.  Round up: a job that starts a moment too early meets
 * what it was to wait for. */
static int64_t start_ms(const struct slurm *s, int64_t wait_ms)
{
	return (order_wall_ms(s) + wait_ms + 999) / 1000 * 1000;
}

bool order_writes_comment(const struct command *c)
{
	return c->kind == COMMAND_CLEAR || (c->kind == COMMAND_POSTPONE && c->reason[0] != '\0');
}

/* Note when the first of the command's jobs may start: the command is good until then. */
static bool set_begin(const struct slurm *s, struct command *c, int64_t begin_ms)
{
	int64_t wall = begin_ms - loop_ahead(s->loop);

	if (c != NULL && wall < c->begin_ms)
		c->begin_ms = wall;
	return c != NULL;
}

/* Drop waiting commands that would write an older comment of this job: orders that make a job wait
 * are in another queue, and may pass these.  A command that runs already is not waited for, since
 * the facts behind the new order would grow old. */
static void drop_words(struct slurm *s, const char *job)
{
	struct queue *q = &s->queues[UPDATE_JOBS - UPDATE];
	struct command *next;

	for (struct command *c = q->first; c != NULL; c = next) {
		next = c->next;
		if (!order_writes_comment(c) || !slurm_job_among(c->names.p, job))
			continue;
		if (command_strike(c, job)) {
			c->sealed = false; /* give it anew, with a record of what is left */
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
		return true; /* queued for another component */
	return add(s, COMMAND_REQUEUE, whole, why, 0) != NULL;
}

bool slurm_cancel(struct slurm *s, const char *job, const char *why)
{
	const struct command *last = queue_of(s, COMMAND_CANCEL, 0)->last;
	char whole[SLURM_JOB_ID_MAX + 1];

	slurm_job_to_requeue(whole, job);
	if (takes(last, COMMAND_CANCEL, why, 0) && slurm_job_among(last->names.p, whole))
		return true; /* queued for another component */
	return add(s, COMMAND_CANCEL, whole, why, 0) != NULL;
}

bool slurm_signal(struct slurm *s, const char *job, const char *signal, enum slurm_signal_to to)
{
	struct command *c = add(s, COMMAND_SIGNAL, job, signal, to);

	if (c != NULL)
		(void)snprintf(c->wait, sizeof(c->wait), "%.38s", signal);
	return c != NULL;
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
