/* command.h - a command for slurmctld, one run of scontrol or scancel, and its command line.
 * order.c puts commands into queues, give.c takes them out. */
#ifndef BURSTD_SLURM_COMMAND_H
#define BURSTD_SLURM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fmt.h"
#include "base/str.h"
#include "slurm/slurm.h"

enum command_kind {
	COMMAND_SET_ADDR,
	COMMAND_DOWN,
	COMMAND_FORCE,
	COMMAND_ASAP,
	COMMAND_RESUME,
	COMMAND_WAKE,
	COMMAND_KEEP,
	COMMAND_LET_GO,
	COMMAND_CREATE,
	COMMAND_POSTPONE, /* from here on commands for jobs */
	COMMAND_START,
	COMMAND_CLEAR,
	COMMAND_REQUEUE,
	COMMAND_CANCEL,
	COMMAND_SIGNAL,
	COMMAND_NOTIFY,
	COMMAND_NKINDS
};

enum { COMMAND_TEXTS = 5, COMMAND_ARGV = SLURM_SIGNAL_MAX + 8 };

struct command { /* one run of scontrol or scancel */
	struct command *next, *prev;
	enum command_kind kind;
	size_t n;
	struct str names; /* nodes, or ids of jobs */
	struct str addrs, hosts;
	struct str spec; /* CREATE: what slurmctld is to know of each node */
	/* The node's Reason, the job's comment, or the text for srun; times in it are UTC until it
	 * is run. */
	char reason[SLURM_COMMENT_MAX + 1];
	/* POSTPONE: end of the wait, 0: none; SIGNAL: enum slurm_signal_to; CREATE: whose spec */
	int64_t arg;
	char wait[40]; /* the begin time for scontrol; SIGNAL: the signal for scancel; "": none */
	int64_t begin_ms; /* POSTPONE, START: the first time at which one of its jobs may start, by
			     slurmctld's clock */
	uint64_t mark;    /* slurm_mark() when it was made */
	uint64_t ended;   /* how many commands about nodes had ended then */
	int64_t made_ms;
	bool sealed;  /* slurm_next() gave it: no nodes or jobs are added */
	bool cut;     /* a half of another command */
	bool nowhere; /* FORCE: some nodes first get an address that leads nowhere */
};

const char *command_verb(enum command_kind kind); /* for people */
const char *
command_what(enum command_kind kind); /* for the log; for nodes the state for scontrol */
bool command_of_jobs(enum command_kind kind);
bool command_verb_of_jobs(const char *verb);     /* verb: as in an audit record */
bool command_by_scancel(enum command_kind kind); /* else by scontrol */
size_t command_most(enum command_kind kind);     /* nodes or jobs in one command */
void command_free(struct command *c);            /* NULL is fine */
/* Move all nodes after the first n, with their addresses, from c to rest, which is empty.
 * slurm_next() must give both again, so that each has an audit record. */
void command_cut(struct command *c, size_t n, struct command *rest);
/* Remove this job from c.  false: no other job is left in it. */
bool command_strike(struct command *c, const char *job);
/* Make the command line, NULL-terminated, in memory of c and args.  Times that people will read are
 * converted to local time. */
void command_argv(const struct command *c, fmt_zone_fn zone, const char *program,
		  struct str args[COMMAND_TEXTS], const char *argv[COMMAND_ARGV]);

#endif
