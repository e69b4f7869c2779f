/* The adapter to slurmctld: creates it, asks questions, and tells which orders have been run. */
#include "slurm/slurm.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "io/loop.h"
#include "slurm/command.h"
#include "slurm/slurm_private.h"

struct slurm *slurm_new(struct proc *proc, struct loop *loop, struct log *log, size_t lines,
			const struct slurm_callbacks *cb)
{
	struct slurm *s = mem_zalloc(sizeof(*s));

	s->proc = proc;
	s->loop = loop;
	s->log = log;
	s->lines = lines;
	s->turn = timer_new(loop, run_on_turn, s);
	s->late_turn = timer_new(loop, give_on_late, s);
	s->cb = *cb;
	return s;
}

void slurm_free(struct slurm *s)
{
	if (s == NULL)
		return;
	if (s->reading.run != NULL) {
		s->running[SLURM_SNAPSHOT] = NULL; /* its child has ended */
		free(s->reading.run);
	}
	run_drop_text(s);
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

void slurm_set_release(struct slurm *s, const struct slurm_version *v)
{
	s->has_exclusive_column = slurm_version_has(v, SLURM_HAS_EXCLUSIVE_COLUMN);
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

bool slurm_ask(struct slurm *s, enum slurm_question q)
{
	if (q == SLURM_CONFIGURING || q == SLURM_JOBS)
		return slurm_ask_wishes(s, q, WISH_NOTHING, false);
	return s->running[q] == NULL && run_question(s, (int)q, NULL);
}

bool slurm_ask_wishes(struct slurm *s, enum slurm_question q, enum wish_need need, bool payers)
{
	static const char *const formats[][2] = {
		[WISH_NOTHING] = {SLURM_JOB_FORMAT, SLURM_PAYER_FORMAT},
		[WISH_CONSTRAINT] = {SLURM_CONSTRAINT_FORMAT, SLURM_PAYER_WISHES_FORMAT},
		[WISH_COMMENT] = {SLURM_COMMENT_FORMAT, SLURM_PAYER_COMMENT_FORMAT}};
	const char *const args[] = {formats[need][payers], NULL};

	return s->running[q] == NULL && run_question(s, (int)q, args);
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
	ok = run_question(s, (int)q, args);
	str_fini(&list);
	return ok;
}
