/* submit.h - the table by which slurmctld refuses a job at its submission that can never run.
 *
 * slurm/job_submit.lua reads it, under slurmctld's locks: so the table has figures and ready texts,
 * and no decision there needs more than a comparison.  It says of each partition with nodes of
 * pools how many nodes these can have at most, where they are bought and for how much at least, and
 * of budgets how much their jobs may cost at most.  All is rounded in favour of the job: what is
 * not known, what changes by itself (a price of spot), and what does not fit into the table refuses
 * nothing.  docs/adr/0065 has the format.
 *
 * Pure. */
#ifndef BURSTD_SUBMIT_H
#define BURSTD_SUBMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "core/budget.h"
#include "core/conf.h"
#include "core/ladder.h"

/* Limits of the table, which slurmctld reads under its locks: the largest costs it 1 ms where it is
 * new.  What is left out refuses nothing. */
enum {
	SUBMIT_VERSION = 1,
	SUBMIT_TEXT_MAX = 128 << 10,
	SUBMIT_HEAD_MAX = 128, /* its first line */
	SUBMIT_PARTITIONS_MAX = 512,
	SUBMIT_LIST_MAX = 16 << 10, /* bytes of a partition's node list */
	SUBMIT_BUDGETS_MAX = 500,   /* pairs of a budget, and an account or user of it */
	SUBMIT_FOR_ALL_MAX = 50,    /* budgets for all accounts and users: each job tries all */
	SUBMIT_ACCOUNTS_MAX = 1000, /* with more, budgets are for the accounts that they name */
};

enum {
	SUBMIT_EVERY_MS = 60000, /* how old the file gets; job_submit.lua ignores one of 5 min */
};

struct submit_written { /* the file */
	uint64_t hash;  /* of the text in it */
	int64_t at_ms;  /* when it was written; 0: never */
};

struct submit_partition {
	char *name, *list; /* list: its nodes, as slurmctld shows them */
	uint32_t total;    /* of its nodes */
	uint32_t others;   /* nodes that no pool has */
	uint32_t *of_pool; /* how many of each pool; one for each of conf */
};

struct submit_live {          /* what a pool has now */
	uint32_t nodes;       /* these are there, whatever its limits are now */
	int64_t least_nano_h; /* the rate of the cheapest */
	int64_t rate_nano_h;  /* of all */
	uint32_t rungs;       /* bit i: some are of this rung ... */
	bool strange;         /* ... or of an offer that the configuration does not have */
	bool own_gres;        /* slurm.conf has other GPUs for some, up or not, than `gres` */
};

struct submit { /* everything is borrowed */
	const struct conf *conf;
	struct ladder_known *const *known; /* of each pool's rungs; only prices count */
	const struct submit_live *live;    /* of each pool */
	const struct submit_partition *partitions;
	size_t npartitions;
	const struct budgets *budgets; /* NULL: there are none */
};

/* Append the table without its first line to *out, which is empty. */
void submit_print(const struct submit *s, struct str *out);
/* Must a file with this text be written?  If so, *w is it. */
bool submit_is_due(struct submit_written *w, const struct str *text, int64_t now_ms);
/* Write the first line for this text into head. */
void submit_head(char head[SUBMIT_HEAD_MAX], const struct str *text, int64_t wall_ms);

#endif
