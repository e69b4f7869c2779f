/* explain_budgets.c says which budgets an admin should look at. */
#include <inttypes.h>
#include <stdlib.h>

#include "api/explain_private.h"
#include "base/clamp.h"
#include "base/fmt.h"
#include "core/alert.h"
#include "money/money_api.h"

enum { SENTENCE_MAX = 512, CENT = 10000000 };

/* "budget physics: ", "budget students/ann: " */
static void begin(struct explain_report *r, const struct budget_line *l)
{
	str_addf(&r->s, "budget %s%s%s: ", l->budget->name, l->value[0] != '\0' ? "/" : "",
		 l->value);
}

static void check_all(struct explain_report *r)
{
	const char *why = engine_budgets_wait(r->e);

	if (why[0] == '\0')
		return;
	str_addf(&r->s, "jobs wait, and nothing is bought for them: %s", why);
	explain_report_say(r);
}

/* In cents, as the reasons of the jobs that wait have it: rounded down. */
static const char *cents(char out[FMT_MONEY_SIZE], int64_t nano)
{
	return fmt_money(out, nano / CENT * CENT);
}

static void check_used(struct explain_report *r, const struct engine_budget *b)
{
	const struct budget_line *l = &b->line;
	char used[FMT_MONEY_SIZE], amount[FMT_MONEY_SIZE], runs[FMT_MONEY_SIZE];
	int64_t sum = clamp_add(l->spent, b->accrued);
	uint32_t percent;

	if (!l->limited || l->when != PERIOD_NOW)
		return;
	percent = alert_percent(l, sum);
	if (percent == 0)
		return;
	begin(r, l);
	str_addf(&r->s,
		 "%" PRIu32 " %% of its %s %s for %s are used up: %s spent, %s by what runs now",
		 percent, fmt_money(amount, l->amount), engine_conf(r->e)->currency, l->period.name,
		 cents(used, l->spent), cents(runs, b->accrued));
	explain_report_say(r);
}

static void check_waiting(struct explain_report *r, const struct engine_budget *b)
{
	const struct budget_line *l = &b->line;
	char left[FMT_MONEY_SIZE], amount[FMT_MONEY_SIZE];

	if (b->waiting == 0)
		return;
	begin(r, l);
	str_addf(&r->s, "%zu %s for money", b->waiting,
		 b->waiting == 1 ? "job waits" : "jobs wait");
	if (l->limited)
		str_addf(&r->s, ": %s of %s %s left in %s", cents(left, l->left),
			 fmt_money(amount, l->amount), engine_conf(r->e)->currency, l->period.name);
	if (l->budget->rate_nano_h != 0)
		str_addf(&r->s, "%s %s of %s %s/h in use", l->limited ? "," : ":",
			 cents(left, l->rate), fmt_money(amount, l->budget->rate_nano_h),
			 engine_conf(r->e)->currency);
	explain_report_say(r);
}

static void check_over(struct explain_report *r, const struct engine_budget *b)
{
	const struct budget_line *l = &b->line;

	if (!l->limited || l->when != PERIOD_OVER)
		return;
	begin(r, l);
	str_addf(
		&r->s,
		"its period %s is over: nothing is bought for its jobs until it has another, or is "
		"removed",
		l->period.name);
	explain_report_say(r);
}

void explain_overrides(const struct engine *e, explain_fn fn, void *ctx)
{
	struct explain_report r = {.e = e, .fn = fn, .ctx = ctx};
	size_t n;
	const struct money_override *all = engine_overrides(e, &n);

	str_init(&r.s, SENTENCE_MAX);
	for (size_t i = 0; i < n; i++) {
		const struct money_override *x = &all[i];
		const char *why = x->until_ms > engine_now(e)
					  ? conf_budget_lacks(engine_conf(e), x->budget, x->value)
					  : NULL;

		if (why == NULL)
			continue;
		str_addf(&r.s, "override %" PRId64 " of budget %s%s%s has no effect: %s", x->id,
			 x->budget, x->value[0] != '\0' ? "/" : "", x->value, why);
		explain_report_say(&r);
	}
	str_fini(&r.s);
}

void explain_budgets(const struct engine *e, explain_fn fn, void *ctx)
{
	struct explain_report r = {.e = e, .fn = fn, .ctx = ctx};
	struct engine_budgets all;

	str_init(&r.s, SENTENCE_MAX);
	engine_budgets(e, NULL, &all);
	check_all(&r);
	for (size_t i = 0; i < all.n; i++)
		check_over(&r, &all.v[i]);
	for (size_t i = 0; i < all.n; i++)
		check_waiting(&r, &all.v[i]);
	for (size_t i = 0; i < all.n; i++)
		check_used(&r, &all.v[i]);
	engine_budgets_fini(&all);
	str_fini(&r.s);
}
