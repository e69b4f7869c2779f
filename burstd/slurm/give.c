/* Runs commands in two steps: slurm_next() gives a command that may run, so that it can be put on
 * record, and slurm_flush() starts it once the record is written, unless it is too late by then. */
#include <inttypes.h>
#include <stdio.h>

#include "base/fmt.h"
#include "io/loop.h"
#include "slurm/command.h"
#include "slurm/slurm_private.h"

/* Set what is left of the wait, as the command may have waited itself. */
static void set_wait(const struct slurm *s, struct command *c)
{
	(void)snprintf(c->wait, sizeof(c->wait), "StartTime=now+%" PRId64,
		       (c->arg - order_wall_ms(s) + 999) / 1000);
}

static bool is_wait(const struct command *c)
{
	return c->kind == COMMAND_POSTPONE && c->arg > 0;
}

/* Is the command too late?  Its wait is over; a job to be requeued may be at work by now; one of
 * its jobs may have started and been requeued since; or somebody may have written another
 * comment. */
static bool is_late(const struct slurm *s, const struct command *c)
{
	if (order_writes_comment(c) && loop_now(s->loop) - c->made_ms >= SLURM_COMMENT_MS)
		return true;
	if ((c->kind == COMMAND_REQUEUE || c->kind == COMMAND_CANCEL) &&
	    loop_now(s->loop) - c->made_ms >= SLURM_REQUEUE_MS)
		return true;
	if (!is_wait(c) && c->kind != COMMAND_START)
		return false;
	return (is_wait(c) && c->arg <= order_wall_ms(s)) ||
	       (c->begin_ms <= order_wall_ms(s) && c->ended != s->ended);
}

/* slurmctld handles a command node by node.  As soon as it requeues a job for one of the nodes it
 * writes to the job's other nodes, which must have their addresses by then. */
static struct command *addresses_first(struct slurm *s, struct queue *q, struct command *force)
{
	struct command *c = order_alloc(s, COMMAND_SET_ADDR);

	force->nowhere = false;
	c->n = force->n;
	str_adds(&c->names, force->names.p);
	str_adds(&c->addrs, force->addrs.p);
	str_adds(&c->hosts, force->hosts.p);
	queue_insert(q, NULL, c);
	s->waiting++;
	return c;
}

void slurm_talks(struct slurm *s, bool talks)
{
	s->talks = talks;
}

bool slurm_notifies(const struct slurm *s)
{
	return s->queues[NOTIFY_JOBS - UPDATE].first != NULL || s->running[NOTIFY_JOBS] != NULL;
}

/* The command ends jobs whose srun or salloc is still to be told why. */
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

/* updated() is called for them from the loop. */
static void drop_late(struct slurm *s, struct queue *q)
{
	while (q->first != NULL && is_late(s, q->first)) {
		queue_insert(&s->late, s->late.last, queue_take(q));
		s->waiting--;
		timer_at(s->late_turn, loop_now(s->loop));
	}
}

void give_on_late(void *ctx)
{
	static const struct err late = {
		.code = ERR_NOTSENT, .msg = "the job may have changed since the order was queued"};
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

/* Is updated() still due for a given command?  The next may be about the same job. */
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
		set_wait(s, c); /* the record has what was left then */
	for (size_t i = 0; i < COMMAND_TEXTS; i++)
		str_init(&args[i], SLURM_ARG_MAX + 64);
	command_argv(c, s->cb.zone, command_by_scancel(c->kind) ? s->scancel : s->scontrol, args,
		     argv);
	log_write(s->log, LOG_DEBUG, "telling slurmctld", "of", c->names.p, "what",
		  command_what(c->kind), "count", fmt_u64(count, c->n), NULL);
	if (run_spawn(s, UPDATE + q, argv, c)) {
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
