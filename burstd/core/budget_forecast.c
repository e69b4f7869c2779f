#include "core/budget_forecast.h"

#include "base/clamp.h"
#include "base/mem.h"
#include "core/budget_private.h"

enum { HOUR_MS = 3600000, TODAY = BUDGET_PACE_DAYS - 1 };

static int64_t today(const struct budgets *b)
{
	return zone_day(b->zone, b->now_ms / 1000);
}

static int64_t begin_of(const struct budgets *b, int at)
{
	return budgets_day_begin_ms(b, today(b) - TODAY + at);
}

struct budget_days *budgets_days(const struct budgets *b)
{
	struct budget_days *all = mem_zalloc((b->ncounts + 1) * sizeof(*all));
	int64_t first = today(b) - TODAY;

	for (size_t i = 0; i < b->nwho; i++) {
		const struct budget_who *w = b->who[i];

		for (size_t d = w != NULL ? w->ndays : 0; d > 0 && w->days[d - 1].day >= first; d--)
			for (size_t k = 0; k < w->ncounts && w->days[d - 1].day <= first + TODAY;
			     k++) {
				int64_t *sum = &all[w->counts[k]].nano[w->days[d - 1].day - first];

				*sum = clamp_add(*sum, w->days[d - 1].nano);
			}
	}
	return all;
}

void budget_days_add(const struct budgets *b, struct budget_days *all, const struct budget_hold *h)
{
	const struct budget_who *w = b->who[h->spender];

	for (int at = 0; at < BUDGET_PACE_DAYS; at++) {
		int64_t from = begin_of(b, at), until = begin_of(b, at + 1);
		int64_t cost;

		from = h->from_ms > from ? h->from_ms : from;
		until = h->until_ms < until ? h->until_ms : until;
		cost = budget_cost(h->rate_nano_h, from, b->now_ms < until ? b->now_ms : until);
		for (size_t k = 0; cost > 0 && k < w->ncounts; k++) {
			int64_t *sum = &all[w->counts[k]].nano[at];

			*sum = clamp_add(*sum, cost);
		}
	}
}

/* nano per hour */
static int64_t per_hour(budget_wide nano, int64_t ms)
{
	return ms > 0 ? budget_narrow(nano * HOUR_MS / ms) : 0;
}

static int64_t at_end(int64_t used, int64_t nano_h, int64_t left_ms)
{
	return clamp_add(used, budget_narrow((budget_wide)nano_h * left_ms / HOUR_MS));
}

/* Of the whole days from `first` on. */
static void find_bounds(const struct budgets *b, const struct budget_days *days, int first,
			int64_t *least, int64_t *most)
{
	for (int at = first; at < TODAY; at++) {
		int64_t pace = per_hour(days->nano[at], begin_of(b, at + 1) - begin_of(b, at));

		if (at == first || pace < *least)
			*least = pace;
		if (at == first || pace > *most)
			*most = pace;
	}
}

bool budget_forecast(const struct budgets *b, const struct budget_line *l, int64_t used_nano,
		     const struct budget_days *days, struct budget_forecast *out)
{
	int64_t left_ms = l->period.end_ms - b->now_ms, least, most;
	budget_wide sum = 0;
	int first = 0;

	*out = (struct budget_forecast){.pace_nano_h = 0};
	if (!l->limited || l->when != PERIOD_NOW || l->budget->period_rule.kind == PERIOD_ROLLING)
		return false;
	while (first < TODAY && days->nano[first] == 0)
		first++;
	for (int at = first; at < BUDGET_PACE_DAYS; at++)
		sum += days->nano[at];
	out->pace_nano_h = per_hour(sum, b->now_ms - begin_of(b, first));
	least = most = out->pace_nano_h;
	find_bounds(b, days, first, &least, &most);
	out->least = at_end(used_nano, least, left_ms);
	out->expected = at_end(used_nano, out->pace_nano_h, left_ms);
	out->most = at_end(used_nano, most, left_ms);
	if (used_nano >= l->amount)
		out->used_up_ms = b->now_ms;
	else if (out->expected >= l->amount && out->pace_nano_h > 0)
		out->used_up_ms = b->now_ms + budget_narrow((budget_wide)(l->amount - used_nano) *
							    HOUR_MS / out->pace_nano_h);
	return true;
}
