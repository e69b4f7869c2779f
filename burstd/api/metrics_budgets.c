/* metrics_budgets.c writes the metrics about budgets. */
#include "api/metrics_private.h"
#include "money/money_api.h"

enum { LINES_MAX = 1000 }; /* series for each metric: each user may have a budget */

static int64_t amount_of(const struct engine_budget *b)
{
	return b->line.amount;
}

static int64_t spent_of(const struct engine_budget *b)
{
	return b->line.spent;
}

static int64_t held_of(const struct engine_budget *b)
{
	return b->line.held;
}

static int64_t left_of(const struct engine_budget *b)
{
	return b->line.left;
}

static int64_t beyond_of(const struct engine_budget *b)
{
	return b->beyond;
}

static int64_t rate_of(const struct engine_budget *b)
{
	return b->line.rate;
}

static int64_t rate_limit_of(const struct engine_budget *b)
{
	return b->line.budget->rate_nano_h;
}

static int64_t forecast_of(const struct engine_budget *b)
{
	return b->forecast.expected;
}

static bool is_foreseen(const struct engine_budget *b)
{
	return b->foreseen;
}

static bool has_amount(const struct engine_budget *b)
{
	return b->line.limited;
}

static bool has_rate(const struct engine_budget *b)
{
	return b->line.budget->rate_nano_h != 0;
}

static bool is_any(const struct engine_budget *b)
{
	(void)b;
	return true;
}

static const struct {
	const char *name, *help;
	int64_t (*of)(const struct engine_budget *b);
	bool (*has)(const struct engine_budget *b);
} sums[] = {
	{"burstd_budget_amount", "Most that the budget's jobs may cost in the period.", amount_of,
	 has_amount},
	{"burstd_budget_spent", "What has ended cost in the period.", spent_of, has_amount},
	{"burstd_budget_held", "What is set aside in the period for what runs.", held_of,
	 has_amount},
	{"burstd_budget_left", "What is left of the amount; less than 0: it was exceeded.", left_of,
	 has_amount},
	{"burstd_budget_forecast",
	 "What will have been spent at the end of the period, at the pace of the last week.",
	 forecast_of, is_foreseen},
	{"burstd_budget_beyond",
	 "How much more than the amount may be spent: docs/budgets.md, \"The bound\".", beyond_of,
	 has_amount},
	{"burstd_budget_rate", "What all that is set aside for costs per hour.", rate_of, is_any},
	{"burstd_budget_rate_limit", "Most that it may cost per hour.", rate_limit_of, has_rate},
};

static void write_sums(const struct api *a, struct str *s, const struct engine_budgets *all)
{
	for (size_t k = 0; k < sizeof(sums) / sizeof(sums[0]); k++) {
		metrics_family(s, sums[k].name, "gauge", sums[k].help);
		for (size_t i = 0; i < all->n && i < LINES_MAX; i++) {
			const struct metrics_label l[] = {
				{"budget", all->v[i].line.budget->name},
				{"value", all->v[i].line.value},
				{"currency", engine_conf(a->engine)->currency}};

			if (sums[k].has(&all->v[i]))
				metrics_sample_money(s, sums[k].name, l, 3, sums[k].of(&all->v[i]));
		}
	}
}

void metrics_budgets_write(const struct api *a, struct str *s)
{
	struct engine_budgets all;

	engine_budgets(a->engine, NULL, &all);
	write_sums(a, s, &all);
	metrics_family(s, "burstd_budget_refused_jobs", "gauge",
		       "Jobs that wait because the budget has too little left for them.");
	for (size_t i = 0; i < all.n && i < LINES_MAX; i++) {
		const struct metrics_label l[] = {{"budget", all.v[i].line.budget->name},
						  {"value", all.v[i].line.value}};

		metrics_sample_u64(s, "burstd_budget_refused_jobs", l, 2, all.v[i].waiting);
	}
	metrics_family(s, "burstd_budget_lines_left_out", "gauge",
		       "Budgets, or values of \"each\", that have no metrics: there are too many.");
	metrics_sample_u64(s, "burstd_budget_lines_left_out", NULL, 0,
			   all.n > LINES_MAX ? all.n - LINES_MAX : 0);
	engine_budgets_fini(&all);
}
