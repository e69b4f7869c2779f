#include "core/budget.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/budget_private.h"

enum { HOUR_MS = 3600000 };

int64_t budget_cost(int64_t rate_nano_h, int64_t from_ms, int64_t until_ms)
{
	budget_wide product;
	int64_t small;

	if (until_ms <= from_ms)
		return 0;
	/* As a rule it fits into 64 bits, whose division costs a tenth. */
	if (!__builtin_sub_overflow(until_ms, from_ms, &small) &&
	    !__builtin_mul_overflow(small, rate_nano_h, &small) &&
	    !__builtin_add_overflow(small, HOUR_MS - 1, &small))
		return small / HOUR_MS;
	product = ((budget_wide)until_ms - from_ms) * rate_nano_h;
	product = (product + HOUR_MS - 1) / HOUR_MS;
	return product < INT64_MAX ? (int64_t)product : INT64_MAX;
}

/* --- life ----------------------------------------------------------------------------------------
 */

struct budgets *budgets_new(const struct zone *zone, int64_t now_ms)
{
	struct budgets *b = mem_zalloc(sizeof(*b));

	b->zone = zone;
	b->now_ms = now_ms;
	b->free_hold = BUDGET_NO_HOLD;
	b->turn_ms = INT64_MAX;
	map_init(&b->by_key);
	map_init(&b->by_spender);
	map_init(&b->parents);
	budget_amounts_init(b);
	return b;
}

static void forget_counts(struct budgets *b)
{
	budget_index_fini(&b->index);
	for (size_t i = 0; i < b->ncounts; i++) {
		free(b->counts[i]->key);
		free(b->counts[i]);
	}
	free(b->counts);
	b->counts = NULL;
	b->ncounts = b->counts_cap = 0;
	b->ntrials = 0; /* they name counts */
	b->turn_ms = INT64_MAX;
	map_fini(&b->by_key);
	map_init(&b->by_key);
}

void budgets_free(struct budgets *b)
{
	if (b == NULL)
		return;
	forget_counts(b);
	for (size_t i = 0; i < b->nwho; i++)
		budget_who_free(b->who[i]);
	for (size_t i = 0; i < b->nparents; i++)
		free(b->parent_texts[i]);
	free(b->parent_texts);
	free(b->who);
	free(b->free_who);
	free(b->trials);
	free(b->holds);
	map_fini(&b->by_key);
	map_fini(&b->by_spender);
	map_fini(&b->parents);
	budget_amounts_fini(b);
	free(b);
}

bool budgets_any(const struct budgets *b)
{
	return b->nlist > 0;
}

/* --- sums ----------------------------------------------------------------------------------------
 */

static int64_t later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t sooner_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

struct budget_sum budget_part(const struct budget_count *c, const struct budget_hold *h)
{
	bool rolls = c->b->period_rule.kind == PERIOD_ROLLING;
	int64_t from = later_of(h->from_ms, c->period.begin_ms);
	int64_t until = rolls ? h->until_ms : sooner_of(h->until_ms, c->period.end_ms);
	struct budget_sum s = {.rate = h->kind == BUDGET_BOOT ? 0 : h->rate_nano_h};

	if (c->b->amount_nano == 0)
		return s;
	if (c->when != PERIOD_OVER)
		s.now = budget_cost(h->rate_nano_h, from, until);
	if (c->has_last)
		s.last = budget_cost(h->rate_nano_h, later_of(h->from_ms, c->last.begin_ms),
				     sooner_of(h->until_ms, c->last.end_ms));
	if (!rolls && c->b->period_rule.kind != PERIOD_RANGE)
		s.later = budget_cost(h->rate_nano_h, later_of(h->from_ms, c->period.end_ms),
				      h->until_ms);
	return s;
}

static bool rolls(const struct budget_count *c)
{
	return c->b->period_rule.kind == PERIOD_ROLLING;
}

budget_wide budget_used(const struct budget_count *c)
{
	return c->held.now + c->spent + (rolls(c) ? c->ahead : 0);
}

budget_wide budget_after(const struct budget_count *c)
{
	return c->held.later + (rolls(c) ? 0 : c->ahead);
}

static bool is_in(const struct budget_days_of *d, int64_t day)
{
	return day >= d->begin && day < d->end;
}

void budget_count_day(struct budget_count *c, int64_t day, int64_t nano)
{
	if (c->has_last && is_in(&c->last_days, day))
		c->last_spent = clamp_add(c->last_spent, nano);
	if (c->b->amount_nano == 0)
		return;
	if (is_in(&c->days, day))
		c->spent = clamp_add(c->spent, nano);
	else if (c->b->period_rule.kind != PERIOD_RANGE && day >= c->days.end)
		c->ahead = clamp_add(c->ahead, nano);
}

void budget_sum_add(struct budget_sum *to, const struct budget_sum *s, int times)
{
	to->now += times * s->now;
	to->later += times * s->later;
	to->last += times * s->last;
	to->rate += times * s->rate;
}

int64_t budget_narrow(budget_wide v)
{
	if (v > INT64_MAX)
		return INT64_MAX;
	return v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

static void count_hold(struct budgets *b, const struct budget_hold *h, int sign)
{
	struct budget_who *w = b->who[h->spender];

	for (size_t i = 0; i < w->ncounts; i++) {
		struct budget_count *c = b->counts[w->counts[i]];
		const struct budget_sum s = budget_part(c, h);

		budget_sum_add(&c->held, &s, sign);
	}
}

/* --- what counts -------------------------------------------------------------------------------
 */

void budget_key(char out[BUDGET_KEY_SIZE], size_t order, const char *value)
{
	(void)snprintf(out, BUDGET_KEY_SIZE, "%zu|%.*s", order, BUDGET_VALUE_MAX, value);
}

uint32_t budget_count_of(struct budgets *b, size_t order, const struct budget_spender *s)
{
	return budget_count_for(b, order, budget_value(&b->list[order], s));
}

uint32_t budget_count_for(struct budgets *b, size_t order, const char *value)
{
	const struct conf_budget *of = &b->list[order];
	char key[BUDGET_KEY_SIZE];
	struct budget_count *c;
	uintptr_t at;

	budget_key(key, order, value);
	at = (uintptr_t)map_get(&b->by_key, key);
	if (at != 0)
		return (uint32_t)(at - 1);
	c = mem_zalloc(sizeof(*c));
	*c = (struct budget_count){
		.b = of, .order = order, .key = mem_strdup(key), .set = -1, .next_set = -1};
	(void)snprintf(c->value, sizeof(c->value), "%s", value);
	budget_turn(b, c);
	if (b->ncounts == b->counts_cap) {
		b->counts_cap = b->counts_cap == 0 ? 64 : 2 * b->counts_cap;
		b->counts = mem_realloc(b->counts, b->counts_cap * sizeof(struct budget_count *));
	}
	b->counts[b->ncounts++] = c;
	map_put(&b->by_key, c->key, (void *)(uintptr_t)b->ncounts);
	return (uint32_t)(b->ncounts - 1);
}

void budget_recount(struct budgets *b)
{
	b->turn_ms = INT64_MAX;
	for (size_t i = 0; i < b->ncounts; i++) {
		struct budget_count *c = b->counts[i];

		c->spent = c->ahead = c->last_spent = 0;
		c->held = c->tried = (struct budget_sum){0};
		budget_turn(b, c);
	}
	for (size_t i = 0; i < b->nwho; i++)
		if (b->who[i] != NULL)
			budget_who_match(b, b->who[i]);
	for (size_t i = 0; i < b->nholds; i++)
		if (b->holds[i].used)
			count_hold(b, &b->holds[i].h, 1);
	budget_lapses(b);
	b->stale = false;
}

void budget_refresh(struct budgets *b)
{
	if (b->stale)
		budget_recount(b);
}

/* A budget without jobs is shown, too. */
static void count_all(struct budgets *b)
{
	static const struct budget_spender nobody = {.account = "",
						     .user = "",
						     .qos = "",
						     .wckey = "",
						     .partition = "",
						     .pool = "",
						     .provider = ""};

	for (size_t i = 0; i < b->nlist; i++)
		if (b->list[i].each == CONF_EACH_NONE)
			(void)budget_count_of(b, i, &nobody);
}

void budgets_configure(struct budgets *b, const struct conf_budget *list, size_t n)
{
	forget_counts(b);
	b->list = list;
	b->nlist = n;
	budget_index_init(&b->index, list, n);
	count_all(b);
	budget_amounts_count(b);
	budget_recount(b);
}

void budgets_account(struct budgets *b, const char *account, const char *parent)
{
	char below[BUDGET_VALUE_MAX + 1], above[BUDGET_VALUE_MAX + 1];
	const char *had;

	budget_fold(below, account);
	budget_fold(above, parent);
	had = map_get(&b->parents, below);
	if (had != NULL && strcmp(had, above) == 0)
		return;
	b->parent_texts = mem_realloc(b->parent_texts, (b->nparents + 2) * sizeof(char *));
	b->parent_texts[b->nparents++] = mem_strdup(below);
	b->parent_texts[b->nparents++] = mem_strdup(above);
	map_put(&b->parents, b->parent_texts[b->nparents - 2], b->parent_texts[b->nparents - 1]);
	b->stale = true; /* a tree of thousands is counted once */
}

int64_t budgets_day(const struct budgets *b, int64_t ms)
{
	return zone_day(b->zone, ms / 1000);
}

int64_t budgets_day_begin_ms(const struct budgets *b, int64_t day)
{
	return 1000 * zone_day_begin(b->zone, day);
}

static struct budget_day *day_of(struct budget_who *w, int64_t day)
{
	size_t at = w->ndays;

	while (at > 0 && w->days[at - 1].day > day)
		at--;
	if (at > 0 && w->days[at - 1].day == day)
		return &w->days[at - 1];
	w->days = mem_realloc(w->days, (w->ndays + 1) * sizeof(*w->days));
	memmove(w->days + at + 1, w->days + at, (w->ndays - at) * sizeof(*w->days));
	w->days[at] = (struct budget_day){.day = day};
	w->ndays++;
	return &w->days[at];
}

int64_t budgets_spent(struct budgets *b, uint32_t spender, int64_t day, int64_t nano)
{
	struct budget_who *w = b->who[spender];
	int64_t *total;

	budget_refresh(b);
	total = &day_of(w, day)->nano;

	*total = clamp_add(*total, nano);
	for (size_t i = 0; i < w->ncounts; i++)
		budget_count_day(b->counts[w->counts[i]], day, nano);
	return *total;
}

int64_t budgets_forget(struct budgets *b, int64_t day)
{
	for (size_t i = 0; i < b->ncounts; i++) {
		const struct budget_count *c = b->counts[i];
		const struct period *first = c->has_last ? &c->last : &c->period;

		if (c->b->amount_nano != 0)
			day = sooner_of(day, zone_day(b->zone, first->begin_ms / 1000));
	}
	for (size_t i = 0; i < b->nwho; i++) {
		struct budget_who *w = b->who[i];
		size_t n = 0;

		while (w != NULL && n < w->ndays && w->days[n].day < day)
			n++;
		if (n == 0)
			continue;
		w->ndays -= n;
		memmove(w->days, w->days + n, w->ndays * sizeof(*w->days));
	}
	return day;
}

uint32_t budgets_hold(struct budgets *b, const struct budget_hold *h)
{
	uint32_t at = b->free_hold;

	assert(h->spender < b->nwho && b->who[h->spender] != NULL && h->rate_nano_h >= 0);
	budget_refresh(b);
	if (at == BUDGET_NO_HOLD) {
		if (b->nholds == b->holds_cap) {
			b->holds_cap = b->holds_cap == 0 ? 64 : 2 * b->holds_cap;
			b->holds = mem_realloc(b->holds, b->holds_cap * sizeof(*b->holds));
		}
		at = (uint32_t)b->nholds++;
	} else {
		b->free_hold = b->holds[at].next_free;
	}
	b->holds[at] = (struct budget_slot){.h = *h, .used = true};
	b->who[h->spender]->nholds++;
	count_hold(b, h, 1);
	return at;
}

void budgets_release(struct budgets *b, uint32_t hold)
{
	assert(hold < b->nholds && b->holds[hold].used);
	budget_refresh(b);
	b->who[b->holds[hold].h.spender]->nholds--;
	count_hold(b, &b->holds[hold].h, -1);
	b->holds[hold] = (struct budget_slot){.next_free = b->free_hold};
	b->free_hold = hold;
}

const struct budget_hold *budgets_hold_at(const struct budgets *b, uint32_t hold)
{
	assert(hold < b->nholds && b->holds[hold].used);
	return &b->holds[hold].h;
}

int64_t budgets_turn_ms(const struct budgets *b)
{
	return sooner_of(b->turn_ms, b->lapse_ms);
}

bool budgets_now(struct budgets *b, int64_t now_ms)
{
	bool turns = false;

	b->now_ms = now_ms;
	for (size_t i = 0; i < b->ncounts; i++) {
		const struct budget_count *c = b->counts[i];

		turns = turns || (c->b->amount_nano != 0 && c->when != PERIOD_OVER &&
				  (now_ms >= c->period.end_ms ||
				   (c->when == PERIOD_NOT_YET && now_ms >= c->period.begin_ms)));
	}
	budget_who_sweep(b);
	if (now_ms >= b->lapse_ms)
		turns = turns || budget_amounts_rise(b);
	if (turns || b->stale || now_ms >= b->lapse_ms)
		budget_recount(b);
	return turns;
}
