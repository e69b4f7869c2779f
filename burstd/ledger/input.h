/* input.h - all that the ledger knows of one instance, as allocate() takes it, and who the owners
 * in its rows are. */
#ifndef BURSTD_LEDGER_INPUT_H
#define BURSTD_LEDGER_INPUT_H

#include "ledger/allocate.h"
#include "ledger/facts.h"
#include "ledger/prices.h"
#include "store/ledger_attempts.h"
#include "store/ledger_facts.h"

enum {
	/* A job begins, for Slurm, before its nodes are up, and begins anew when they are.  Resumes
	 * take slurmctld minutes at most: no attempt that began so long before an instance did is
	 * on it. */
	INPUT_BEFORE_S = 3600,
	/* So long may a machine be on its way out while its node has another already. */
	INPUT_TWIN_MS = 6 * 3600000,
	INPUT_JOBS_MAX = 1 << 20, /* attempts on one instance */
	/* EC2 bills nothing for a spot instance that it takes back within its first hour. */
	INPUT_AWS_FREE_S = 3600,
};

struct input_owner { /* of a row with this job and attempt */
	uint64_t job, attempt;
	int64_t id;          /* the attempt in the ledger */
	int64_t dims;        /* with the machine's place */
	bool lost, doubtful; /* doubtful: it counts whether a node of it was taken */
	bool running;        /* as far as Slurm told */
	bool runs;           /* it is or was on the instance, and does not only pay for its boot */
	int64_t submit_s, start_s, end_s, nnodes;
	struct allocate_part uses;
	/* Texts of its own, until the dims are found. */
	char *account, *user, *partition, *qos, *wckey;
};

struct input {
	struct facts facts;
	bool billed;   /* its bill has begun */
	bool running;  /* its bill goes on */
	bool unended;  /* it bills on, and its node has had another machine for INPUT_TWIN_MS */
	bool waits;    /* Slurm has not told the end of a job on it */
	bool measured; /* what the machine has is known */
	struct meter_policy policy;
	struct prices prices, list; /* list: on demand, without contracts */
	char *pool, *provider, *type, *region, *zone, *market, *currency; /* "": not known */
	int64_t dims;                                                     /* of what is nobody's */
	struct input_owner *owners;                                       /* by job and attempt */
	size_t nowners, owners_cap;
	struct allocate_run *runs;
	struct allocate_trigger *triggers;
	size_t nbuyers; /* jobs that it was bought for, also those of which nothing is known */
	struct allocate_instance in; /* borrows from here */
};

/* Read all about that lifetime; now_s: the end so far of what has not ended; currency: where the
 * facts name none.  Jobs of which only burstd tells get an attempt in the ledger, so a transaction
 * runs.  *in is input_fini()'s, also after -1. */
int input_load(struct input *in, struct ledger *l, const struct ledger_lifetime *t, int64_t now_s,
	       const char *currency, struct err *e);
void input_fini(struct input *in);
/* The owner of a row; NULL: nobody. */
const struct input_owner *input_owner_of(const struct input *in, const struct allocate_row *row);

/* Was the work of an attempt lost that ended in this state?  taken: a node of it was taken from
 * under it, or notice of that given. */
bool input_is_lost(const char *state, bool taken);

#endif
