/* ladder_lab.h - a job on two machines whose budget is used up, for tests of money/ladder.c. */
#ifndef TESTS_PARTS_LADDER_LAB_H
#define TESTS_PARTS_LADDER_LAB_H

#include "holds_lab.h"

#include "core/budget_private.h"
#include "money/line.h"
#include "slurm/slurm_private.h"

enum { AT = 100 }; /* percent */

/* Job 7 runs on c1, and on c2, since an hour; its account has `account`, all machines have `all`.
 */
static inline void runs_with(struct fix *f, struct conf *c)
{
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
	holds_part.at[PART_START](f->e);
	buy_7(f);
	write_down(f);
	ready(f, "c1");
	ready(f, "c2");
	age(f, "c1", HOUR);
	age(f, "c2", HOUR);
	engine_commit(f->e);
}

static inline struct conf *ladder(int64_t all, int64_t account)
{
	struct conf *c = conf_of(all, account);

	c->budgets[1].grace_ms = 10 * MINUTE;
	c->budgets[0].grace_ms = 10 * MINUTE;
	return c;
}

/* A turn of the part, in which sums are looked at. */
static inline void turn(struct fix *f)
{
	f->e->money->ladders.look_ms = 0;
	ladder_part.at[PART_RUN](f->e);
	engine_commit(f->e);
}

/* squeue says this to the part alone. */
static inline void jobs(struct fix *f, const char *text)
{
	f->e->jobs->wanted = 0;
	f->e->jobs->running = JOBS_FOR_LADDER;
	jobs_answer(f->e, text, strlen(text), NULL);
}

/* The commands that orders() gave have run. */
static inline void ran(struct fix *f)
{
	struct slurm *s = f->e->slurm;

	for (int q = 0; q < NQUEUES; q++)
		while (s->queues[q].first != NULL && s->queues[q].first->sealed) {
			command_free(queue_take(&s->queues[q]));
			s->waiting--;
		}
}

/* "requeue 7: budget account/physics is used up for 2 days;" */
static inline const char *orders(struct fix *f)
{
	static char out[1000];
	struct slurm_order o;
	size_t n = 0;

	out[0] = '\0';
	while (slurm_next(f->e->slurm, &o))
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s %s: %s;", o.verb, o.names,
				      o.reason);
	return out;
}

static inline void reached(struct fix *f, enum budget_step s, int64_t ago_ms)
{
	const struct budget_line l = line(f, "account");

	money_line_of(f->e, &l)->since_ms[s] = engine_now(f->e) - ago_ms;
}

#define RUNS "7|7|RUNNING|gpu|None|c[1-2]\n"

static inline struct fix *used_up(void **state, uint32_t requeue, uint32_t kill)
{
	struct conf *c = ladder(1000 * EUR, 2 * EUR);
	struct fix *f;

	(void)teardown(state);
	(void)setup(state);
	f = *state;
	c->budgets[0].amount_nano = 1000 * EUR;
	c->budgets[1].amount_nano = 1000 * EUR;
	c->budgets[1].requeue_at = requeue;
	c->budgets[1].kill_at = kill;
	runs_with(f, c);
	f->e->conf->budgets[1].amount_nano = 2 * EUR;
	(void)orders(f);
	f->e->jobs->wanted = 0;
	f->e->money->ladders.squeue_ms = engine_now(f->e) + HOUR; /* asked all the same */
	turn(f);
	return f;
}

#define USED_UP "budget account/physics is used up for 2 days"

static inline void refuses(struct fix *f, const char *verb)
{
	const struct slurm_order o = {
		.verb = verb, .names = "7", .reason = "", .what = "", .of_jobs = true};
	struct err e;

	(void)err_set(&e, ERR_NET, "Only batch jobs are accepted or processed");
	ladder_told(f->e, &o, &e);
	engine_commit(f->e);
}

/* The requeue before it has not run yet, so no order is given. */
static inline int cancels(struct fix *f)
{
	engine_commit(f->e);
	return atoi(rows(f, "SELECT count(*) FROM event WHERE type = 'job-cancelled'"));
}

#endif
