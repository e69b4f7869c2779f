/* command.h - one scontrol or scancel that is still to be run, and its command line.  order.c
 * puts them into queues, and give.c takes them out. */
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
	COMMAND_POSTPONE, /* from here on of jobs */
	COMMAND_START,
	COMMAND_CLEAR,
	COMMAND_REQUEUE,
	COMMAND_SIGNAL,
	COMMAND_NOTIFY,
	COMMAND_NKINDS
};

enum { COMMAND_TEXTS = 5, COMMAND_ARGV = SLURM_SIGNAL_MAX + 8 };

struct command { /* one scontrol or scancel to be */
	struct command *next, *prev;
	enum command_kind kind;
	size_t n;
	struct str names; /* of nodes, or of jobs */
	struct str addrs, hosts;
	/* Of jobs the comment, or what they are told; its times are UTC until they are told. */
	char reason[SLURM_COMMENT_MAX + 1];
	int64_t arg;      /* POSTPONE: until when, 0: no wait; SIGNAL: enum slurm_signal_to */
	char wait[40];    /* as scontrol takes it; SIGNAL: as scancel takes that; "": none */
	int64_t begin_ms; /* POSTPONE and START: a job of it may start then, by slurmctld's clock */
	uint64_t mark;    /* slurm_mark() since it was made */
	uint64_t ended;   /* commands about nodes that had ended then */
	int64_t made_ms;
	bool sealed;  /* slurm_next() gave it: what it says stays */
	bool cut;     /* out of another one, by halves */
	bool nowhere; /* FORCE: some of them are first to be given an address that leads nowhere */
};

const char *command_verb(enum command_kind kind); /* for people */
const char *command_what(enum command_kind kind); /* for the log; of nodes a state for scontrol */
bool command_of_jobs(enum command_kind kind);
bool command_verb_of_jobs(const char *verb); /* as an audit record has it */
size_t command_most(enum command_kind kind); /* nodes or jobs in one */
void command_free(struct command *c);        /* NULL: nothing */
/* The nodes behind the first n go from c to rest, which has none, with all that is said of them.
 * Both are to be given anew by slurm_next(): a record for each. */
void command_cut(struct command *c, size_t n, struct command *rest);
/* Takes this job out of the names of c.  false: no other job is left there. */
bool command_strike(struct command *c, const char *job);
/* The command line, up to a NULL, in memory that c and args keep.  Times that people will read are
 * local. */
void command_argv(const struct command *c, fmt_zone_fn zone, const char *program,
		  struct str args[COMMAND_TEXTS], const char *argv[COMMAND_ARGV]);

#endif
