/* sim_money.h - what is held and was spent, durably, and the judge of both: nothing is created that
 * no money was set aside for, and what was spent is what was billed. */
#ifndef SIM_MONEY_H
#define SIM_MONEY_H

#include "store/journal_budget.h"
#include "store/journal_money.h"
#include "world.h"

struct sim_spender {
	bool machine;
	char account[16], user[16], qos[16], wckey[16], partition[16], pool[16], provider[16];
	enum provider_market market;
};

struct sim_hold {
	char node[24];
	uint64_t gen, job;
	struct budget_hold h; /* but for its spender */
	struct sim_spender s;
};

struct sim_day {
	int64_t day, nano;
	struct sim_spender s;
};

struct sim_paid { /* a job's hold was settled, and the machine went on, for burstd */
	char node[24];
	uint64_t gen;
	int64_t rate_nano_h, until_ms;
};

struct sim_came_to { /* what a budget came to in a period */
	char budget[16], value[16];
	int64_t begin_ms, end_ms, since_ms[BUDGET_NSTEPS];
	int64_t amount, added, at_ms;
	int64_t over_at; /* a step was over then: it had room again; by the world's clock */
};

struct sim_override {
	int64_t id, nano, made_ms, until_ms;
	bool set;
	char budget[16], value[16];
};

struct sim_money {
	struct sim_came_to *came;
	struct sim_override *overrides;
	size_t ncame, came_cap, noverrides, overrides_cap;
	struct sim_hold *holds;
	struct sim_day *days;
	struct sim_paid *paid;
	size_t nholds, holds_cap, ndays, days_cap, npaid, paid_cap;
};

struct journal_visitor;
struct sim_bills;

struct sim_spender sim_spender_of(const struct budget_spender *s);
void sim_money_hold(struct world *w, struct sim_money *m, const struct sim_hold *h);
void sim_money_drop(struct world *w, struct sim_money *m, const struct sim_hold *h);
void sim_money_day(struct world *w, struct sim_money *m, const struct sim_day *d);
int sim_money_load(const struct sim_money *m, const struct journal_visitor *v, struct err *e);
void sim_money_free(struct sim_money *m);

void sim_money_came(struct world *w, struct sim_money *m, const struct sim_came_to *b);
/* Of what is there change the steps alone. */
void sim_money_steps(struct sim_money *m, const struct sim_came_to *b);
void sim_money_override(struct world *w, struct sim_money *m, const struct sim_override *o);
/* Does the journal say of any budget that it has reached this step, or one above, or that it had a
 * moment ago?  An order may be on its way. */
bool sim_money_ends(const struct world *w, enum budget_step step);
/* An admin adds to each budget, or sets it: nothing is used up any more. */
void sim_money_heal(struct world *w);

/* A create of this generation is on the wire. */
void sim_money_created(struct world *w, const char *node, uint64_t gen);
/* Its row is GONE: nothing is held for it any more. */
void sim_money_gone(struct world *w, const struct sim_money *m, const char *node, uint64_t gen);
/* After each commit: what budgets have spent on machines is what the bills say, in all. */
void sim_money_billed(struct world *w, const struct sim_money *m, const struct sim_bills *bills);
/* In the end: jobs have spent no more than their machines. */
bool sim_money_settled(struct world *w, char *why, size_t size);

#endif
