/* How much a budget may cost in its period: what is configured or set instead, what is left of the
 * period before, and what overrides add. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/mem.h"
#include "core/budget_private.h"

enum { PERCENT = 100, KEY_SIZE = 2 * BUDGET_VALUE_MAX + 64 };

/* --- what was left -------------------------------------------------------------------------------
 */

static void past_key(char out[KEY_SIZE], const char *budget, const char *value,
		     const struct budget_span *s)
{
	(void)snprintf(out, KEY_SIZE, "%.*s\n%.*s\n%" PRId64 "-%" PRId64, BUDGET_VALUE_MAX, budget,
		       BUDGET_VALUE_MAX, value, s->begin_ms, s->end_ms);
}

void budgets_existed(struct budgets *b, const char *budget, const char *value,
		     const struct budget_span *span, int64_t amount)
{
	const struct budget_past *all;
	char key[KEY_SIZE];
	struct budget_past *p;

	past_key(key, budget, "", span);
	all = map_get(&b->past, key);
	past_key(key, budget, value, span);
	p = map_get(&b->past, key);
	if (p != NULL ? p->amount == amount : all != NULL && all->amount == amount)
		return;
	b->stale = true;
	if (p != NULL) {
		p->amount = amount;
		return;
	}
	p = mem_zalloc(sizeof(*p));
	*p = (struct budget_past){.key = mem_strdup(key), .amount = amount, .next = b->pasts};
	b->pasts = p;
	map_put(&b->past, p->key, p);
}

static const struct budget_past *past_of(const struct budgets *b, const struct budget_count *c)
{
	const struct budget_span span = {c->last.begin_ms, c->last.end_ms};
	const struct budget_past *p;
	char key[KEY_SIZE];

	past_key(key, c->b->name, c->value, &span);
	p = map_get(&b->past, key);
	if (p != NULL || c->value[0] == '\0')
		return p;
	past_key(key, c->b->name, "", &span);
	return map_get(&b->past, key);
}

/* What still runs and began in the period before counts there with all that it may have cost. */
int64_t budget_carried(const struct budget_count *c)
{
	const budget_wide amount = budget_own(c);
	const budget_wide most = amount * c->b->rollover / PERCENT;
	const budget_wide left = (budget_wide)c->last_amount - c->last_spent - c->held.last;

	if (!c->has_last || left <= 0)
		return 0;
	return budget_narrow(left < most ? left : most);
}

/* --- overrides -----------------------------------------------------------------------------------
 */

static void line_key(char out[KEY_SIZE], const char *budget, const char *value)
{
	(void)snprintf(out, KEY_SIZE, "%.*s\n%.*s", BUDGET_VALUE_MAX, budget, BUDGET_VALUE_MAX,
		       value);
}

static const struct budget_added *newest_of(const struct budgets *b, const struct budget_count *c)
{
	char key[KEY_SIZE];

	line_key(key, c->b->name, c->value);
	return map_get(&b->added_to, key);
}

static int64_t added_to(const struct budgets *b, const struct budget_count *c)
{
	int64_t sum = 0;

	for (const struct budget_added *a = newest_of(b, c); a != NULL; a = a->next)
		if (!a->set && a->until_ms > b->now_ms)
			sum = clamp_add(sum, a->nano);
	return sum;
}

/* The one that sets the line's amount then; NULL: none does. */
static const struct budget_added *set_at(const struct budgets *b, const struct budget_count *c,
					 int64_t ms)
{
	const struct budget_added *a = newest_of(b, c);

	while (a != NULL && (!a->set || a->until_ms <= ms))
		a = a->next;
	return a;
}

/* Apply the overrides that have not ended. */
static void apply(const struct budgets *b, struct budget_count *c)
{
	const struct budget_added *now = set_at(b, c, b->now_ms);
	const struct budget_added *next = set_at(b, c, c->period.end_ms);

	c->added = added_to(b, c);
	c->set = now != NULL ? now->nano : -1;
	c->set_id = now != NULL ? now->id : 0;
	c->next_set = next != NULL ? next->nano : -1;
}

int64_t budget_own(const struct budget_count *c)
{
	return c->set >= 0 ? c->set : c->b->amount_nano;
}

int64_t budget_next_own(const struct budget_count *c)
{
	return c->next_set >= 0 ? c->next_set : c->b->amount_nano;
}

bool budget_amounts_rise(const struct budgets *b)
{
	for (size_t i = 0; i < b->ncounts; i++) {
		const struct budget_count *c = b->counts[i];
		const struct budget_added *now;

		if (c->b->amount_nano == 0 || c->set_id == 0)
			continue;
		now = set_at(b, c, b->now_ms);
		if ((now != NULL ? now->nano : c->b->amount_nano) > c->set)
			return true;
	}
	return false;
}

void budget_lapses(struct budgets *b)
{
	b->lapse_ms = INT64_MAX;
	for (const struct budget_added *a = b->added; a != NULL && a->key != NULL; a++)
		if (a->until_ms > b->now_ms && a->until_ms < b->lapse_ms)
			b->lapse_ms = a->until_ms;
}

static void forget_added(struct budgets *b)
{
	for (struct budget_added *a = b->added; a != NULL && a->key != NULL; a++)
		free(a->key);
	free(b->added);
	map_fini(&b->added_to);
	map_init(&b->added_to);
}

static void add(struct budgets *b, struct budget_added *a, const struct budget_override *o)
{
	char key[KEY_SIZE];

	line_key(key, o->budget, o->value);
	*a = (struct budget_added){.key = mem_strdup(key),
				   .value_at = strcspn(key, "\n") + 1,
				   .set = o->set,
				   .nano = o->nano,
				   .until_ms = o->until_ms,
				   .id = o->id,
				   .next = map_get(&b->added_to, key)};
	map_put(&b->added_to, a->key, a);
}

void budget_amounts_count(struct budgets *b)
{
	struct map orders; /* a budget's name -> its index in the list, plus 1 */

	map_init(&orders);
	for (size_t i = 0; b->added != NULL && b->added[0].key != NULL && i < b->nlist; i++)
		map_put(&orders, b->list[i].name, (void *)(uintptr_t)(i + 1));
	for (const struct budget_added *a = b->added; a != NULL && a->key != NULL; a++) {
		const char *value = a->key + a->value_at;
		char name[KEY_SIZE];
		uintptr_t order;

		(void)snprintf(name, sizeof(name), "%.*s", (int)a->value_at - 1, a->key);
		order = (uintptr_t)map_get(&orders, name);
		if (order != 0 && (b->list[order - 1].each == CONF_EACH_NONE) == (value[0] == '\0'))
			(void)budget_count_for(b, order - 1, value);
	}
	map_fini(&orders);
}

bool budgets_overrides(struct budgets *b, const struct budget_override *v, size_t n)
{
	bool more = false;

	forget_added(b);
	b->added = mem_zalloc((n + 1) * sizeof(*b->added)); /* the last one has no key */
	for (size_t i = 0; i < n; i++)
		add(b, &b->added[i], &v[i]);
	for (size_t i = 0; i < b->ncounts; i++) {
		struct budget_count *c = b->counts[i];
		int64_t had = budget_amount(c), next = budget_next_own(c);

		if (c->b->amount_nano == 0)
			continue;
		apply(b, c);
		more = more || budget_amount(c) > had || budget_next_own(c) > next;
	}
	budget_amounts_count(b);
	budget_lapses(b);
	return more;
}

/* --- all of it -----------------------------------------------------------------------------------
 */

/* The period that ended last.  false: there is none. */
static bool find_last(const struct budgets *b, struct budget_count *c)
{
	const struct period_rule *rule = &c->b->period_rule;

	if (rule->kind == PERIOD_ROLLING)
		return false;
	if (rule->kind == PERIOD_RANGE) {
		c->last = c->period;
		return c->when == PERIOD_OVER;
	}
	if (c->period.begin_ms <= 0)
		return false;
	(void)period_find(rule, b->zone, c->period.begin_ms - 1, &c->last);
	return true;
}

static struct budget_days_of days_of(const struct budgets *b, const struct period *p)
{
	return (struct budget_days_of){zone_day(b->zone, p->begin_ms / 1000),
				       zone_day(b->zone, p->end_ms / 1000)};
}

/* When its period begins, or ends. */
static int64_t turns_ms(const struct budget_count *c)
{
	if (c->when == PERIOD_OVER)
		return INT64_MAX;
	return c->when == PERIOD_NOT_YET ? c->period.begin_ms : c->period.end_ms;
}

void budget_turn(struct budgets *b, struct budget_count *c)
{
	const struct budget_past *past;

	c->has_last = false;
	if (c->b->amount_nano == 0)
		return;
	c->when = period_find(&c->b->period_rule, b->zone, b->now_ms, &c->period);
	c->days = days_of(b, &c->period);
	if (turns_ms(c) < b->turn_ms)
		b->turn_ms = turns_ms(c);
	apply(b, c);
	if (!find_last(b, c))
		return;
	c->last_days = days_of(b, &c->last);
	past = past_of(b, c);
	c->has_last = past != NULL;
	c->last_amount = past != NULL ? past->amount : 0;
}

int64_t budget_amount(const struct budget_count *c)
{
	return clamp_add(clamp_add(budget_own(c), budget_carried(c)), c->added);
}

void budget_amounts_init(struct budgets *b)
{
	map_init(&b->added_to);
	map_init(&b->past);
	b->lapse_ms = INT64_MAX;
}

void budget_amounts_fini(struct budgets *b)
{
	forget_added(b);
	map_fini(&b->added_to);
	map_fini(&b->past);
	for (struct budget_past *p = b->pasts, *next; p != NULL; p = next) {
		next = p->next;
		free(p->key);
		free(p);
	}
}
