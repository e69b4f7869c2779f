#include <string.h>
#include <strings.h>

#include "base/fmt.h"
#include "core/budget_private.h"

/* What people are shown of budgets beside what they have left: what runs has cost so far, and whom
 * a budget is shown to. */

int64_t budgets_accrued(const struct budgets *b, size_t line, const struct budget_hold *h,
			int64_t now_ms)
{
	const struct budget_count *c = b->counts[line];
	int64_t from = h->from_ms, until = h->until_ms < now_ms ? h->until_ms : now_ms;

	if (c->b->amount_nano == 0)
		return 0;
	if (from < c->period.begin_ms)
		from = c->period.begin_ms;
	if (until > c->period.end_ms)
		until = c->period.end_ms;
	return until > from ? fmt_cost(until - from, h->rate_nano_h) : 0;
}

size_t budgets_lines_of(const struct budgets *b, uint32_t spender, const uint32_t **lines)
{
	*lines = b->who[spender]->counts;
	return b->who[spender]->ncounts;
}

/* w NULL: a place that is free. */
static bool is_of_user(const struct budget_who *w, const char *user)
{
	return w != NULL && !w->s.machine && strcmp(w->s.user, user) == 0;
}

static bool spent_in_period(const struct budgets *b, const struct budget_who *w,
			    const struct budget_count *c)
{
	int64_t from = zone_day(b->zone, c->period.begin_ms / 1000);
	int64_t until = zone_day(b->zone, c->period.end_ms / 1000);

	for (size_t i = 0; i < w->ndays; i++)
		if (w->days[i].nano != 0 && w->days[i].day >= from && w->days[i].day < until)
			return true;
	return false;
}

/* A list may have a user's name in capitals, as budget_match() takes it. */
static bool names(const struct budget_count *c, const char *user)
{
	const struct conf_budget *of = c->b;

	if (of->each == CONF_EACH_USER)
		return strcmp(c->value, user) == 0;
	if (of->users == NULL || of->each == CONF_EACH_ACCOUNT)
		return false;
	for (char *const *u = of->users; *u != NULL; u++)
		if (strcasecmp(*u, user) == 0)
			return true;
	return false;
}

void budgets_lines_for(const struct budgets *b, const char *user, bool *lines)
{
	for (size_t i = 0; i < b->ncounts; i++)
		lines[i] = names(b->counts[i], user);
	for (size_t i = 0; i < b->nwho; i++)
		for (size_t k = 0; is_of_user(b->who[i], user) && k < b->who[i]->ncounts; k++) {
			uint32_t at = b->who[i]->counts[k];

			if (b->counts[at]->b->amount_nano != 0 &&
			    spent_in_period(b, b->who[i], b->counts[at]))
				lines[at] = true;
		}
	for (size_t i = 0; i < b->nholds; i++) {
		const struct budget_who *w;

		if (!b->holds[i].used)
			continue;
		w = b->who[b->holds[i].h.spender];
		for (size_t k = 0; is_of_user(w, user) && k < w->ncounts; k++)
			lines[w->counts[k]] = true;
	}
}
