/* tally.h - the sums that the reports of a period show: by account, user, day, class and so on.
 *
 * Charges are read twice and never kept: once for the sums, and once more for the names of the jobs
 * that come out on top.  Memory grows with the number of accounts, users and jobs, each of which
 * has a limit. */
#ifndef BURSTD_LEDGER_TALLY_H
#define BURSTD_LEDGER_TALLY_H

#include "base/map.h"
#include "base/zone.h"
#include "ledger/held.h"
#include "ledger/source.h"

enum {
	TALLY_TOP = 20,
	TALLY_GROUPS_MAX = 100000, /* accounts, or users: ten times what the largest site has */
	TALLY_JOBS_MAX = 20000000, /* in a period: 1 GB of sums */
	TALLY_DAYS_MAX = 400,      /* a year, and the ends of the zone's days */
};

struct tally_sum { /* nano-units and GPU seconds */
	int64_t nano;
	int64_t direct; /* of nano: of jobs */
	int64_t classes[ALLOCATE_NCLASSES];
	int64_t credit, adjust; /* with the classes these are nano */
	int64_t list,
		listed; /* what the same would cost on demand, where known; what it did cost */
	int64_t spot_list, spot_listed; /* of these: on spot machines */
	int64_t run_gpu_s, lost_gpu_s;  /* of jobs: in vain is the second */
	int64_t idle_gpu_s;             /* ready, and nobody's */
	int64_t estimated;              /* of nano: of instances whose end was not told */
};

struct tally_group {
	char *name; /* "": of charges without one */
	struct tally_sum sum;
	/* Of accounts: what no job caused and is theirs, such as their part of an invoice's taxes,
	 * and their part of the rest, if that is distributed. */
	int64_t overhead;
};

struct tally_groups {
	struct map by_name;
	struct tally_group **v; /* at last the dearest first, equal ones by name */
	size_t n, cap;
};

enum {
	TALLY_NO_MACHINE = PROVIDER_NMARKETS, /* beside the markets: shared cost and taxes */
	TALLY_NCOLUMNS
};

struct tally_day {
	int64_t day; /* number */
	int64_t nano[TALLY_NCOLUMNS];
};

struct tally_job {
	uint64_t job;
	int64_t nano, lost, gpu_s;
	uint64_t attempts;
	const struct tally_group *user, *account; /* account: of one of its charges */
};
/* By number, and of one number by user. */
int tally_job_compare(const struct tally_job *a, const struct tally_job *b);

struct tally_top { /* one of the dearest jobs */
	struct tally_job sum;
	struct held about; /* any charge of it */
};

struct tally_options {
	const char *currency;    /* of all charges */
	int64_t start_s, end_s;  /* the period */
	const struct zone *zone; /* in which days begin; NULL: UTC */
	bool distribute;         /* what no job caused, over the accounts, by direct cost */
};

struct tally {
	struct tally_sum all;
	struct tally_groups accounts, partitions, users, wckeys; /* of jobs; partitions: of all */
	struct tally_day *days; /* in order, those without a charge included */
	size_t ndays;
	int64_t elsewhere;      /* what adjusts days before the period */
	struct tally_job *jobs; /* a table by hash; 0: free */
	size_t njobs, jobs_cap;
	struct tally_top top[TALLY_TOP], lost[TALLY_TOP]; /* by cost, and by what was lost */
	size_t ntop, nlost;
	int64_t overhead; /* what no job caused ... */
	int64_t assigned; /* ... of which this is of accounts by itself ... */
	bool distributed; /* ... and the rest is with the accounts, too */
	size_t charges;
};

/* -1: a charge of another currency or day, sums that are too large, or too many of something; *t
 * is empty then. */
int tally_make(struct tally *t, const struct tally_options *o, const struct source *from,
	       struct err *e);
void tally_fini(struct tally *t);

#endif
