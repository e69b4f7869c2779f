/* budget_world.h - budgets and spenders, written as briefly as a test allows. */
#ifndef TESTS_BUDGET_WORLD_H
#define TESTS_BUDGET_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "core/budget.h"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define EUR       FMT_NANO
#define MINUTE    INT64_C(60000)
#define HOUR      INT64_C(3600000)
#define DAY       (24 * HOUR)
#define LIST(...) ((char **)(uintptr_t)(const char *[]){__VA_ARGS__, NULL})

static inline int64_t at(const char *text)
{
	int64_t ms;

	assert_int_equal(fmt_time_parse(text, &ms, NULL), 0);
	return ms;
}

/* So many euros a period. */
static inline struct conf_budget budget(const char *name, int64_t amount, const char *period)
{
	struct conf_budget b = {
		.name = (char *)(uintptr_t)name, .market = CONF_MARKET_ANY, .stop_at = 100};

	b.amount_nano = amount * EUR;
	assert_int_equal(period_parse(&b.period_rule, period, NULL), 0);
	return b;
}

static inline struct budget_spender job_of(const char *account, const char *user)
{
	return (struct budget_spender){.account = account,
				       .user = user,
				       .qos = "normal",
				       .wckey = "",
				       .partition = "gpu",
				       .pool = "h100",
				       .provider = "aws",
				       .market = PROVIDER_ON_DEMAND};
}

static inline struct budget_spender machine_of(const char *pool)
{
	struct budget_spender s = job_of("", "");

	s.machine = true;
	s.qos = "";
	s.pool = pool;
	return s;
}

struct world {
	struct zone *zone;
	struct budgets *b;
};

static inline struct world world_new(const char *zone, const char *now,
				     const struct conf_budget *list, size_t n)
{
	struct world w = {.zone = zone_new(zone, NULL)};

	assert_non_null(w.zone);
	w.b = budgets_new(w.zone, at(now));
	budgets_configure(w.b, list, n);
	return w;
}

static inline void world_free(struct world *w)
{
	budgets_free(w->b);
	zone_free(w->zone);
}

/* This spender, so many euros an hour. */
static inline struct budget_want want(struct world *w, struct budget_spender s, int64_t rate,
				      int64_t from_ms, int64_t until_ms)
{
	return (struct budget_want){.hold = {.spender = budgets_spender(w->b, &s),
					     .kind = s.machine ? BUDGET_MACHINE : BUDGET_RUN,
					     .rate_nano_h = rate * EUR,
					     .from_ms = from_ms,
					     .until_ms = until_ms},
				    .n = 1};
}

/* The line of this budget, or of this value of it. */
/* The budget, or a value of it, was there in the period that has this time in it: a month, unless
 * it has a line that says otherwise. */
static inline void existed(struct world *w, const char *budget, const char *value, int64_t then,
			   int64_t amount)
{
	struct period_rule rule = {.kind = PERIOD_MONTH};
	struct budget_span span;
	struct period p;

	for (size_t i = 0; i < budgets_lines(w->b); i++)
		if (strcmp(budgets_line(w->b, i).budget->name, budget) == 0)
			rule = budgets_line(w->b, i).budget->period_rule;
	(void)period_find(&rule, w->zone, then, &p);
	span = (struct budget_span){p.begin_ms, p.end_ms};
	budgets_existed(w->b, budget, value, &span, amount);
}

static inline struct budget_line line_of(struct world *w, const char *budget, const char *value)
{
	size_t n = budgets_lines(w->b);

	for (size_t i = 0; i < n; i++) {
		struct budget_line l = budgets_line(w->b, i);

		if (strcmp(l.budget->name, budget) == 0 && strcmp(l.value, value) == 0)
			return l;
	}
	fail_msg("no line %s/%s", budget, value);
	return (struct budget_line){.budget = NULL};
}

/* Does it fit?  What it lacks. */
static inline struct budget_no tried(struct world *w, struct budget_want one)
{
	struct budget_no no;
	bool fits = budgets_try(w->b, &one, 1, false, &no);

	assert_int_equal(fits, no.budget == NULL);
	return no;
}

#endif
