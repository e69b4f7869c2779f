/* How much a budget may cost in its period: what is configured, what is left of the period before,
 * and what overrides add. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clamp.h"
#include "base/mem.h"
#include "core/budget_private.h"

enum { PERCENT = 100, KEY_SIZE = 2 * BUDGET_VALUE_MAX + 32 };

/* --- what was left -------------------------------------------------------------------------------
 */

static void past_key(char out[KEY_SIZE], const char *budget, int64_t begin_ms)
{
	(void)snprintf(out, KEY_SIZE, "%.*s\n%" PRId64, BUDGET_VALUE_MAX, budget, begin_ms);
}

void budgets_existed(struct budgets *b, const char *budget, int64_t begin_ms, int64_t amount)
{
	char key[KEY_SIZE];
	struct budget_past *p;

	past_key(key, budget, begin_ms);
	p = map_get(&b->past, key);
	if (p != NULL && p->amount == amount)
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

/* What still runs and began in the period before counts there with all that it may have cost. */
int64_t budget_carried(const struct budget_count *c)
{
	const budget_wide amount = c->b->amount_nano;
	const budget_wide most = amount * c->b->rollover / PERCENT;
	const budget_wide left = (budget_wide)c->last_amount - c->last_spent - c->held.last;

	if (!c->has_last || left <= 0)
		return 0;
	return budget_narrow(left < most ? left : most);
}

/* --- what is added -------------------------------------------------------------------------------
 */

static void line_key(char out[KEY_SIZE], const char *budget, const char *value)
{
	(void)snprintf(out, KEY_SIZE, "%.*s\n%.*s", BUDGET_VALUE_MAX, budget, BUDGET_VALUE_MAX,
		       value);
}

static int64_t added_to(const struct budgets *b, const struct budget_count *c)
{
	char key[KEY_SIZE];
	int64_t sum = 0;

	line_key(key, c->b->name, c->value);
	for (const struct budget_added *a = map_get(&b->added_to, key); a != NULL; a = a->next)
		if (a->until_ms > b->now_ms)
			sum = clamp_add(sum, a->nano);
	return sum;
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
				   .nano = o->nano,
				   .until_ms = o->until_ms,
				   .next = map_get(&b->added_to, key)};
	map_put(&b->added_to, a->key, a);
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
		int64_t had = c->added;

		c->added = c->b->amount_nano != 0 ? added_to(b, c) : 0;
		more = more || c->added > had;
	}
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

void budget_turn(struct budgets *b, struct budget_count *c)
{
	const struct budget_past *past;
	char key[KEY_SIZE];

	c->has_last = false;
	c->added = 0;
	if (c->b->amount_nano == 0)
		return;
	c->when = period_find(&c->b->period_rule, b->zone, b->now_ms, &c->period);
	c->added = added_to(b, c);
	if (!find_last(b, c))
		return;
	past_key(key, c->b->name, c->last.begin_ms);
	past = map_get(&b->past, key);
	c->has_last = past != NULL;
	c->last_amount = past != NULL ? past->amount : 0;
}

int64_t budget_amount(const struct budget_count *c)
{
	return clamp_add(clamp_add(c->b->amount_nano, budget_carried(c)), c->added);
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
