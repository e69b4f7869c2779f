/* slurm_private.h - what slurm.c, order.c, give.c and run.c share; nobody else includes it.
 *
 * order.c puts commands into queues, give.c takes them out, run.c runs these and asks questions;
 * slurm.c makes the adapter, and says how far it is. */
#ifndef BURSTD_SLURM_SLURM_PRIVATE_H
#define BURSTD_SLURM_SLURM_PRIVATE_H

#include "slurm/command.h"
#include "slurm/queue.h"
#include "slurm/slurm.h"

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

/* --- run.c --- */
/* argv: up to a NULL; copied.  Takes c if it starts. */
bool run_spawn(struct slurm *s, int what, const char *const *argv, struct command *c);
/* args: what follows the arguments of the table, or NULL. */
bool run_question(struct slurm *s, int what, const char *const *args);
void run_drop_text(struct slurm *s); /* of the last snapshot */
void run_on_turn(void *ctx);         /* ctx: the adapter, as below */

/* --- order.c --- */
/* A command that is in no queue yet. */
struct command *order_alloc(struct slurm *s, enum command_kind kind);
void order_of(const struct command *c, struct slurm_order *out); /* borrows */
bool order_writes_comment(const struct command *c);
/* By the wall clock, as slurmctld's own times are: when that is set, a command that waits here is
 * moved with the begin times that it was decided by (F57). */
int64_t order_wall_ms(const struct slurm *s);

/* --- give.c --- */
void give_on_late(void *ctx);

#endif
