/* three_budgets.h - an engine with three budgets and four lines of them, and who asks for them. */
#ifndef TESTS_THREE_BUDGETS_H
#define TESTS_THREE_BUDGETS_H

#include "ctl_ask.h"

#include "base/fmt.h"

enum { LINES = 1200 };

#define EUR FMT_NANO

/* physics (500.00 a month), students (each user has 20.00 and 4.00 an hour), lab (a rate). */
static inline void add_budgets(struct engine *e)
{
	struct conf_budget *c = mem_zalloc(3 * sizeof(*c));

	c[0] = (struct conf_budget){.name = mem_strdup("physics"),
				    .accounts = mem_zalloc(2 * sizeof(char *)),
				    .market = CONF_MARKET_ANY,
				    .amount_nano = 500 * EUR,
				    .notify_at = {{80, 95}, 2},
				    .spot_only_at = 90,
				    .stop_at = 100,
				    .contact = mem_strdup("finance@example.org")};
	c[0].accounts[0] = mem_strdup("physics");
	c[1] = (struct conf_budget){.name = mem_strdup("students"),
				    .users = mem_zalloc(3 * sizeof(char *)),
				    .market = PROVIDER_SPOT,
				    .each = CONF_EACH_USER,
				    .amount_nano = 20 * EUR,
				    .rate_nano_h = 4 * EUR,
				    .reserve = CONF_RESERVE_LEASE,
				    .lease_ms = 14400000,
				    .stop_at = 100};
	c[1].users[0] = mem_strdup("ann");
	c[1].users[1] = mem_strdup("bob");
	c[2] = (struct conf_budget){.name = mem_strdup("lab"),
				    .market = CONF_MARKET_ANY,
				    .rate_nano_h = 9 * EUR,
				    .reserve = CONF_RESERVE_MINIMUM};
	e->conf->budgets = c;
	e->conf->nbudgets = 3;
}

static inline struct budget_line line_of(const struct conf_budget *b, const char *value)
{
	return (struct budget_line){.budget = b,
				    .value = value,
				    .period = {.begin_ms = 1000, .end_ms = 2000, .name = "2026-11"},
				    .limited = b->amount_nano != 0,
				    .amount = b->amount_nano,
				    .own = b->amount_nano,
				    .spent = 300 * EUR,
				    .held = 138800000000,
				    .later = 7 * EUR,
				    .rate = 2 * EUR,
				    .left = 61200000000};
}

static inline struct fixture *start_with_budgets(void)
{
	struct fixture *f = start("n[1-4]");
	struct conf_budget *c;

	add_budgets(&f->e);
	c = f->e.conf->budgets;
	f->e.budgets = mem_zalloc(LINES * sizeof(*f->e.budgets));
	f->e.nbudgets = 4;
	f->e.budgets[0] =
		(struct engine_budget){.line = line_of(&c[0], ""),
				       .accrued = 5 * EUR,
				       .beyond = EUR / 4,
				       .waiting = 2,
				       .step = BUDGET_REQUEUES,
				       .step_ms = 7000,
				       .foreseen = true,
				       .forecast = {EUR, 2 * EUR, 3 * EUR, 4 * EUR, 5000}};
	f->e.budgets[1] = (struct engine_budget){.line = line_of(&c[1], "ann")};
	f->e.budgets[2] = (struct engine_budget){.line = line_of(&c[1], "bob")};
	f->e.budgets[3] = (struct engine_budget){.line = line_of(&c[2], "")};
	f->e.budgets[1].line.left = -EUR;
	f->e.budgets[1].line.added = 3 * EUR;
	f->e.budgets[1].line.carried = 4 * EUR;
	f->e.budgets[3].line.left = INT64_MAX;
	f->api.names = mem_zalloc(sizeof(struct user_names));
	f->api.names->e = &f->e;
	f->e.name = "ann";
	return f;
}

static inline void stop_with_budgets(struct fixture *f)
{
	free(f->e.budgets);
	free(f->api.names);
	stop(f);
}

#endif
