/* status.h - what the ledger has, how far it is behind, where its jobs come from, and which
 * instances are not as they should be. */
#ifndef BURSTD_LEDGER_STATUS_H
#define BURSTD_LEDGER_STATUS_H

#include "base/str.h"
#include "store/ledger_counted.h"
#include "store/ledger_facts.h"
#include "store/ledger_spenders.h"

enum { STATUS_SHOWN = 20 /* instances listed by name */ };

struct status_problem {
	char node[64], instance[64], why[128];
	unsigned flags;
};

struct status_differs { /* what budgets have, and the bill, of one day */
	int64_t day, spent, bill;
	char *provider, *market, *pool;
	char *account, *user, *qos, *partition; /* of a spender's jobs; NULL: of machines */
};

struct status {
	int64_t pass_ms, facts_ms, jobs_ms; /* 0: never */
	char *source, *facts_why, *jobs_why, *cluster, *zone;
	int64_t states[LEDGER_FINAL + 1]; /* instances */
	int64_t unpriced, estimated, broken, unmeasured, skewed, quarantined,
		unended;         /* lifetimes with that flag */
	int64_t open_day;        /* all days before it are closed; 0: none is */
	int64_t attempts, bytes; /* of the files */
	struct status_problem problems[STATUS_SHOWN]; /* what somebody must look at */
	size_t nproblems;
	int64_t agreed[LEDGER_DIFFERS + 1]; /* days of a provider, market and pool */
	struct status_differs differs[STATUS_SHOWN];
	size_t ndiffers;
	int64_t jobs_agreed[LEDGER_JOBS_NSTATES]; /* days of a spender */
	struct status_differs jobs_differ[STATUS_SHOWN];
	size_t njobs_differ;
	char *currency;
};

/* path: of the ledger, for its size. */
int status_read(struct status *s, struct ledger *l, const char *path, struct err *e);
void status_fini(struct status *s);
/* now_ms: to say how long ago. */
void status_print(const struct status *s, int64_t now_ms, struct str *out);
void status_json(const struct status *s, int64_t now_ms, struct str *out);

#endif
