/* case_private.h - the records of a case; only case*.c include it. */
#ifndef BURSTD_LEDGER_CASE_PRIVATE_H
#define BURSTD_LEDGER_CASE_PRIVATE_H

#include <stdbool.h>

#include "base/map.h"
#include "base/str.h"
#include "core/budget_job.h"
#include "ledger/allocate.h"

enum {
	CASE_FIELDS_MAX = 17,
	CASE_TIME_MAX = 1 << 30,
	CASE_NODES_MAX = 65536 /* of a job that asks a budget: each is held for on its own */
};
#define CASE_LIFE_MAX INT64_C(631152000) /* of an instance: twenty years, in seconds */

struct case_line {        /* one record */
	const char *name; /* of the text */
	unsigned number;
	char *fields[CASE_FIELDS_MAX]; /* the first is the kind; those that are missing are "" */
	size_t n;
};

struct case_policy {
	const char *name;
	struct meter_policy policy;
};

struct case_price {
	struct meter_price price;
	size_t number; /* of the record, among those of its key */
};

struct case_schedule { /* the prices of one key */
	const char *key;
	struct case_price *records;
	struct meter_price *prices; /* of these, in order of time; NULL until all are read */
	size_t n, cap;
};

struct case_instance {
	const char *id, *partition, *policy, *price;
	unsigned line;
	bool billed; /* it has a begin */
	struct allocate_instance in;
	struct allocate_trigger *triggers;
	struct allocate_run *runs;
	size_t triggers_cap, runs_cap;
};

struct case_attempt { /* of a job, on all of its nodes */
	char key[48]; /* "JOB.ATTEMPT" */
	bool lost;
	int64_t saved_s;
};

enum case_wish_state { CASE_WISH_WAITS, CASE_WISH_HELD, CASE_WISH_SETTLED };

struct case_wish { /* a job that asks the budget */
	uint64_t job;
	int64_t nodes, limit_s, priority; /* nodes and limit_s are not negative */
	enum case_wish_state state;
	bool fits;           /* by the last try; else: */
	struct budget_no no; /* what it lacks */
	uint32_t *holds;     /* one for each node */
};

struct case_budget {
	struct zone *zone;
	struct conf_budget conf;
	struct budgets *budgets; /* conf alone */
	struct budget_machine machine;
	struct budget_times times;
	struct case_wish *jobs;
	size_t njobs, jobs_cap;
};

struct case_book {              /* what a text has; fields are borrowed from it */
	const char *name, *eol; /* of the text; how its lines end */
	enum allocate_share share;
	struct case_policy **policies;
	struct case_schedule **schedules;
	struct case_instance **instances;
	struct case_attempt **attempts;
	size_t npolicies, nschedules, ninstances, nattempts;
	size_t policies_cap, schedules_cap, instances_cap, attempts_cap;
	struct map by_id, by_attempt; /* -> struct case_instance, struct case_attempt */
	struct map by_policy, by_key; /* -> struct case_policy, struct case_schedule */
	struct map by_wish;           /* jobs that ask a budget: not NULL */
	struct zone *zone;            /* of the months; NULL: no record meta yet */
	/* of a budget */
	struct case_budget *budget; /* NULL: none yet */
	uint64_t batch;             /* jobs that are still to come */
	struct str *out;
};

/* Make room for one more in the array *v of n, which has room for *cap of size bytes each. */
void case_grow(void *v, size_t n, size_t *cap, size_t size);

/* Numbers and times of a record.  -1: *e says which field is wrong.  field: its index; what: its
 * name. */
int case_number(const struct case_line *l, size_t field, const char *what, int64_t low,
		int64_t high, int64_t *out, struct err *e);
int case_count(const struct case_line *l, size_t field, const char *what, uint64_t *out,
	       struct err *e);
int case_time(const struct case_line *l, size_t field, const char *what, int64_t *out,
	      struct err *e);
int case_bad(const struct case_line *l, const char *why, struct err *e); /* -1 */

/* Take a record of a budget.  case_budget() makes b->budget. */
int case_budget(struct case_book *b, const struct case_line *l, struct err *e);
int case_batch(struct case_book *b, const struct case_line *l, struct err *e);
int case_wish(struct case_book *b, const struct case_line *l, struct err *e);
int case_settle(struct case_book *b, const struct case_line *l, struct err *e);
void case_budget_free(struct case_budget *x); /* NULL is fine */

#endif
