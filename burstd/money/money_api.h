/* money_api.h - what burstd's API shows about money. */
#ifndef BURSTD_MONEY_API_H
#define BURSTD_MONEY_API_H

#include "core/alert.h"
#include "core/budget.h"
#include "core/budget_forecast.h"
#include "core/stages.h"
#include "engine/engine.h"

/* How long nodes took, by offer; valid until control returns to the loop. */
const struct stages *engine_stages(const struct engine *e);

struct money_override;

struct engine_budget { /* one budget, or one value of `each` */
	struct budget_line line;
	int64_t accrued; /* what is held has cost so much so far, in the period; part of line.held
			  */
	/* How much more than the amount may be spent, if all that it pays for is ended when it is
	 * used up: the sum, over its holds that have begun, of rate x (150 s + the machine's
	 * billing quantum), rounded up; 150 s are from the order to delete a machine until it
	 * bills no more.  In mode `full` the end is in what is held, so only machines count there
	 * whose deletes their provider does not take: then each further hour of that costs their
	 * rate again.  In the other modes requeue_at and kill_at end jobs, `grace` and 20 s later
	 * at most, which is added; without them nothing does, so each further hour of those jobs
	 * costs their rate again, too. */
	int64_t beyond;
	/* How far its ladder has got, and since when; 0: BUDGET_GOES_ON. */
	enum budget_step step;
	int64_t step_ms;
	bool foreseen; /* forecast is known */
	struct budget_forecast forecast;
	size_t waiting; /* jobs that were refused for want of it, and wait; since burstd started */
	const struct money_override *set; /* what its amount is by; NULL: as configured */
};

struct engine_budgets { /* in the order of the file, those of one budget by value */
	struct engine_budget *v;
	size_t n;
};

/* All lines; user not NULL: those that this user may see (budgets_lines_for()).  Their texts are
 * valid until control returns to the loop.  out is the caller's (engine_budgets_fini()). */
void engine_budgets(const struct engine *e, const char *user, struct engine_budgets *out);
void engine_budgets_fini(struct engine_budgets *all);
/* Why jobs wait whatever budgets have left; "": they do not.  Valid until control returns to the
 * loop. */
const char *engine_budgets_wait(const struct engine *e);

/* --- overrides --- */

enum { MONEY_OVERRIDES = 100000 }; /* an import may make some hundred a month, for years */

/* No end: of what is set until it is revoked.  As a time it is later than any. */
#define MONEY_NO_END INT64_MAX

/* What finance or an admin added to the amount of one line, or set instead of it; none is ever
 * forgotten. */
struct money_override {
	int64_t id; /* from 1 on */
	char *budget, *value;
	bool set;
	int64_t nano;
	int64_t made_ms, until_ms; /* it counts from the one to the other, which may be no end */
	char *by, *reason;
	char *revoked_by, *revoked_why; /* it was ended early, at until_ms; "": it was not */
};

struct engine_override {            /* an order; borrowed */
	const char *budget, *value; /* value: of `each`; "": the budget has none */
	/* It is the amount, in each period; else it is added to it. */
	bool set;
	int64_t nano;     /* > 0; what is set may be 0: nothing may be spent */
	int64_t until_ms; /* 0: until the period ends; of what is set, without end */
	const char *by, *reason;
};

/* Durable when 0; *id: its number.  -1: *err says why not, and nothing has changed. */
int engine_override(struct engine *e, const struct engine_override *o, int64_t *id,
		    struct err *err);
/* End one now.  Likewise. */
int engine_revoke(struct engine *e, int64_t id, const char *by, const char *why, struct err *err);
/* All of them, also those that have ended, in the order of their ids; until control returns to the
 * loop. */
const struct money_override *engine_overrides(const struct engine *e, size_t *n);

/* --- alerts --------------------------------------------------------------------------------------
 */

enum alert_test {
	ALERT_TEST_NONE,
	ALERT_TEST_WAITS,
	ALERT_TEST_SENT,
	ALERT_TEST_TAKEN,
	ALERT_TEST_FAILED
};

struct engine_receiver { /* a section alert; texts are valid until control returns to the loop */
	const struct conf_alert *conf;
	size_t pending, failed; /* messages; failed: given up within the last 7 days */
	int64_t ok_ms,
		failed_ms; /* the last attempts, that were taken or not; 0: none since the start */
	int64_t next_ms;   /* the next attempt; INT64_MAX: none */
	const char *error; /* of the last attempt; "": it was taken, or there was none */
	enum alert_test test;   /* of engine_alert_test() */
	int64_t test_ms;        /* its end */
	const char *test_error; /* ALERT_TEST_FAILED */
};
/* In the order of the file; i < engine_conf(e)->nalerts. */
struct engine_receiver engine_receiver(const struct engine *e, size_t i);

/* Alerts by number, from the newest of those below `before` on; NULL: there are no more. */
const struct alert *engine_alert(const struct engine *e, int64_t before);
/* What carries that alert: messages by number, behind `after`; NULL: there are no more. */
const struct alert_message *engine_alert_message(const struct engine *e, int64_t alert,
						 int64_t after);
struct engine_alerts {
	size_t kept;                /* alerts */
	size_t pending;             /* messages */
	bool full;                  /* so many are kept that nothing more is told */
	uint64_t delivered, failed; /* messages, since burstd started */
};
struct engine_alerts engine_alerts(const struct engine *e);
/* Send a message that says that it is a test; engine_receiver() shows what became of it.  -1: there
 * is no alert of that name, or a test is under way. */
int engine_alert_test(struct engine *e, const char *name, struct err *err);

#endif
