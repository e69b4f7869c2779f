/* slurm_private.h - the structs that slurm.c, order.c, give.c and run.c share; only these include
 * it.
 *
 * order.c puts commands into queues, give.c takes them out, run.c runs them and asks questions;
 * slurm.c makes the adapter, and tells how far its queues are. */
#ifndef BURSTD_SLURM_SLURM_PRIVATE_H
#define BURSTD_SLURM_SLURM_PRIVATE_H

#include "slurm/command.h"
#include "slurm/queue.h"
#include "slurm/slurm.h"

enum { UPDATE = SLURM_NQUESTIONS, UPDATE_JOBS, NOTIFY_JOBS, NRUNS, NQUEUES = NRUNS - UPDATE };

struct run {             /* one child; outlives a freed adapter */
	struct slurm *s; /* NULL: the adapter is gone */
	int what;        /* enum slurm_question, or UPDATE, UPDATE_JOBS, NOTIFY_JOBS */
	int64_t began_ms;
	struct command *command; /* of an update */
};

/* The snapshot that is being read, and then the last text: freeing megabytes takes as long as
 * reading a thousand lines, so it has a turn of its own. */
struct reading {
	struct run *run; /* NULL: all of it is read */
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
	bool has_exclusive_column; /* SLURM_HAS_EXCLUSIVE_COLUMN */
	size_t lines;              /* read in one turn */
	struct reading reading;
	struct timer *turn;
	struct queue queues[NQUEUES]; /* run by UPDATE, UPDATE_JOBS and NOTIFY_JOBS */
	bool talks;                   /* slurm_talks() */
	size_t waiting;
	uint64_t orders, mark,
		ended;     /* updates of nodes queued; commands made; updates of nodes run */
	struct queue late; /* not run; updated() has still to say so */
	struct timer *late_turn;
	unsigned cuts; /* halvings of the last order with an unknown node */
	int64_t settled_ms;
};

/* --- run.c --- */
/* argv: NULL-terminated, copied.  Takes c if it starts. */
bool run_spawn(struct slurm *s, int what, const char *const *argv, struct command *c);
/* args: appended to the arguments of the table; NULL: none. */
bool run_question(struct slurm *s, int what, const char *const *args);
void run_drop_text(struct slurm *s); /* free the last snapshot */
void run_on_turn(void *ctx);         /* ctx: struct slurm */

/* --- order.c --- */
/* A command that is in no queue yet. */
struct command *order_alloc(struct slurm *s, enum command_kind kind);
void order_of(const struct command *c, struct slurm_order *out); /* borrows */
bool order_writes_comment(const struct command *c);
/* Now by the wall clock, as slurmctld's times are.  If somebody sets the clock, a command that
 * waits moves with the begin times that it was made for (F57). */
int64_t order_wall_ms(const struct slurm *s);

/* --- give.c --- */
void give_on_late(void *ctx);

#endif
