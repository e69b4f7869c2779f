#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/budget_private.h"

/* Tries whether a job fits: what its holds want of each budget together, against what is left. */

enum { PERCENT = 100 };

/* How much of the amount purchases of this market may use in all: far more than there can be, if
 * the budget only counts. */
static budget_wide cap_of(const struct conf_budget *of, int64_t amount_nano,
			  enum provider_market market)
{
	uint32_t percent = of->stop_at;

	if (market != PROVIDER_SPOT && of->spot_only_at != 0 &&
	    (percent == 0 || of->spot_only_at < percent))
		percent = of->spot_only_at;
	return percent != 0 ? (budget_wide)amount_nano * percent / PERCENT : (budget_wide)1 << 100;
}

/* Likewise of the period that is now. */
static budget_wide cap_now(const struct budget_count *c, enum provider_market market)
{
	return cap_of(c->b, budget_amount(c), market);
}

/* Likewise of the next one: what will roll over into it is not known yet, and what overrides add is
 * for what is wanted now. */
static budget_wide cap_later(const struct budget_count *c, enum provider_market market)
{
	return cap_of(c->b, budget_next_own(c), market);
}

struct budget_trial { /* of one count */
	struct budget_count *c;
	struct budget_sum wants; /* all holds of the job together */
	enum provider_market market;
	bool forever;
};

/* When more money is there by itself; 0: never. */
static int64_t resets(const struct budget_count *c)
{
	if (c->when == PERIOD_NOT_YET)
		return c->period.begin_ms;
	return c->b->period_rule.kind != PERIOD_RANGE ? c->period.end_ms : 0;
}

/* Note that the job lacks something there, if that is more than what it lacks elsewhere. */
static void lacks(struct budget_no *no, const struct budget_trial *t, enum budget_lack lack,
		  budget_wide needs, budget_wide left)
{
	const struct budget_count *c = t->c;
	int64_t needs_nano = budget_narrow(needs), left_nano = budget_narrow(left > 0 ? left : 0);

	if (no->budget != NULL && needs_nano - left_nano <= no->needs - no->left)
		return;
	*no = (struct budget_no){.budget = c->b,
				 .lack = lack,
				 .needs = needs_nano,
				 .left = left_nano,
				 .market = t->market};
	(void)snprintf(no->value, sizeof(no->value), "%s", c->value);
	no->limit = lack == BUDGET_LACKS_RATE    ? c->b->rate_nano_h
		    : lack == BUDGET_LACKS_LATER ? budget_next_own(c)
						 : budget_amount(c);
	if (lack == BUDGET_LACKS_RATE)
		return;
	(void)snprintf(no->period, sizeof(no->period), "%s", c->period.name);
	no->resets_ms = resets(c);
}

/* true: the job never fits. */
static bool try_amount(const struct budget_trial *t, struct budget_no *no)
{
	const struct budget_count *c = t->c;
	const budget_wide cap = cap_now(c, t->market), whole = cap_now(c, PROVIDER_SPOT);
	const budget_wide next = cap_later(c, t->market);
	const budget_wide used = budget_used(c) + c->tried.now;
	const budget_wide after = budget_after(c) + c->tried.later;

	if (!budget_limits(c->b, t->market))
		return false;
	if (c->when != PERIOD_NOW)
		lacks(no, t, c->when == PERIOD_OVER ? BUDGET_OVER : BUDGET_NOT_YET, INT64_MAX, 0);
	else if (t->forever && c->b->reserve == CONF_RESERVE_FULL)
		lacks(no, t, BUDGET_NO_LIMIT, INT64_MAX, 0);
	else if (t->forever) /* another budget of its spender refuses it */
		return true;
	else if (t->wants.now > cap - used || used >= cap)
		lacks(no, t,
		      t->wants.now <= whole - used && used < whole ? BUDGET_WANTS_SPOT
								   : BUDGET_LACKS_MONEY,
		      t->wants.now, cap - used);
	else if (t->wants.later > next - after)
		lacks(no, t, BUDGET_LACKS_LATER, t->wants.later, next - after);
	return t->forever || t->wants.now > whole || t->wants.later > cap_later(c, PROVIDER_SPOT) ||
	       c->when == PERIOD_OVER;
}

static bool try_rate(const struct budget_trial *t, struct budget_no *no)
{
	const struct budget_count *c = t->c;
	const budget_wide left = c->b->rate_nano_h - c->held.rate - c->tried.rate;

	if (t->wants.rate > left)
		lacks(no, t, BUDGET_LACKS_RATE, t->wants.rate, left);
	return t->wants.rate > c->b->rate_nano_h;
}

static bool try_count(const struct budget_trial *t, struct budget_no *no)
{
	bool never = false;

	if (t->c->b->amount_nano != 0)
		never = try_amount(t, no);
	if (t->c->b->rate_nano_h != 0)
		never = try_rate(t, no) || never;
	return never;
}

/* The trial of this count; makes it. */
static struct budget_trial *trial_of(struct budgets *b, struct budget_count *c)
{
	size_t at = 0;

	while (at < b->ntrials && b->trials[at].c != c)
		at++;
	if (at < b->ntrials)
		return &b->trials[at];
	if (at == b->trials_cap) {
		b->trials_cap = b->trials_cap == 0 ? 16 : 2 * b->trials_cap;
		b->trials = mem_realloc(b->trials, b->trials_cap * sizeof(*b->trials));
	}
	b->trials[at] = (struct budget_trial){.c = c, .market = PROVIDER_SPOT};
	b->ntrials++;
	return &b->trials[at];
}

/* Add what these holds want of the count. */
static void want(struct budgets *b, struct budget_trial *t, const struct budget_want *of)
{
	struct budget_sum s = budget_part(t->c, &of->hold);
	enum provider_market market = b->who[of->hold.spender]->s.market;

	if (of->longer)
		s.rate = 0;
	budget_sum_add(&t->wants, &s, (int)of->n);
	if (of->hold.until_ms == INT64_MAX)
		t->forever = true;
	if (market != PROVIDER_SPOT)
		t->market = market;
}

/* The budget that refuses a job whose machines have no price; NULL: none does. */
static const struct conf_budget *needs_price(const struct budgets *b, const struct budget_who *w)
{
	for (size_t i = 0; i < w->ncounts; i++)
		if (b->counts[w->counts[i]]->b->unknown == CONF_UNKNOWN_REFUSE)
			return b->counts[w->counts[i]]->b;
	return NULL;
}

static bool is_unknown(const struct budgets *b, const struct budget_want *wants, size_t n,
		       struct budget_no *no)
{
	for (size_t i = 0; i < n && no->budget == NULL; i++) {
		const struct budget_who *w = b->who[wants[i].hold.spender];

		if (w->unknown != NULL)
			*no = (struct budget_no){.budget = w->unknown, .lack = BUDGET_NO_ACCOUNT};
		else if (wants[i].hold.rate_nano_h <= 0)
			*no = (struct budget_no){.budget = needs_price(b, w),
						 .lack = BUDGET_NO_PRICE};
	}
	return no->budget != NULL;
}

bool budgets_try(struct budgets *b, const struct budget_want *wants, size_t n, bool take,
		 struct budget_no *no)
{
	bool never = false;

	budget_refresh(b);
	b->ntrials = 0;
	*no = (struct budget_no){.budget = NULL};
	if (b->nlist == 0)
		return true;
	if (is_unknown(b, wants, n, no))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct budget_who *w = b->who[wants[i].hold.spender];

		for (size_t k = 0; k < w->ncounts; k++)
			want(b, trial_of(b, b->counts[w->counts[k]]), &wants[i]);
	}
	for (size_t i = 0; i < b->ntrials; i++)
		never = try_count(&b->trials[i], no) || never;
	if (no->budget != NULL)
		b->ntrials = 0;
	else if (take)
		budgets_take(b);
	no->lasting = no->budget != NULL && never;
	return no->budget == NULL;
}

void budgets_take(struct budgets *b)
{
	for (size_t i = 0; i < b->ntrials; i++)
		budget_sum_add(&b->trials[i].c->tried, &b->trials[i].wants, 1);
	b->ntrials = 0;
}

void budgets_forget_tries(struct budgets *b)
{
	b->ntrials = 0;
	for (size_t i = 0; i < b->ncounts; i++)
		b->counts[i]->tried = (struct budget_sum){0};
}

static struct budget_count *count_of(const struct budgets *b, const struct budget_no *no)
{
	char key[BUDGET_KEY_SIZE];
	uintptr_t at;

	if (no->budget == NULL)
		return NULL;
	budget_key(key, (size_t)(no->budget - b->list), no->value);
	at = (uintptr_t)map_get(&b->by_key, key);
	return at != 0 ? b->counts[at - 1] : NULL;
}

static bool concerns(const struct budgets *b, uint32_t spender, const struct budget_count *c)
{
	const struct budget_who *w = b->who[spender];
	size_t i = 0;

	while (i < w->ncounts && b->counts[w->counts[i]] != c)
		i++;
	return i < w->ncounts;
}

static int64_t lacked_of(enum budget_lack lack, const struct budget_sum *s)
{
	switch (lack) {
	case BUDGET_LACKS_MONEY:
	case BUDGET_WANTS_SPOT:
		return budget_narrow(s->now);
	case BUDGET_LACKS_LATER:
		return budget_narrow(s->later);
	case BUDGET_LACKS_RATE:
		return budget_narrow(s->rate);
	default:
		return 0;
	}
}

void budgets_add_held(const struct budgets *b, const struct budget_hold *h, struct budget_no *no)
{
	const struct budget_count *c = count_of(b, no);
	struct budget_sum s;
	int64_t nano;

	if (c == NULL || !concerns(b, h->spender, c))
		return;
	s = budget_part(c, h);
	nano = lacked_of(no->lack, &s);
	no->needs = budget_narrow((budget_wide)no->needs + nano);
	no->left = budget_narrow((budget_wide)no->left + nano);
}

void budgets_promise(struct budgets *b, const struct budget_no *no, int sign)
{
	struct budget_count *c = count_of(b, no);
	struct budget_sum s = {0};

	if (c == NULL)
		return;
	if (no->lack == BUDGET_LACKS_MONEY || no->lack == BUDGET_WANTS_SPOT)
		s.now = no->needs;
	else if (no->lack == BUDGET_LACKS_LATER)
		s.later = no->needs;
	else if (no->lack == BUDGET_LACKS_RATE)
		s.rate = no->needs;
	budget_sum_add(&c->promised, &s, sign);
}

bool budgets_lack(const struct budgets *b, const struct budget_no *no)
{
	const struct budget_count *c = count_of(b, no);
	const budget_wide needs = no->needs;
	budget_wide left;

	if (c == NULL)
		return no->lack == BUDGET_NO_ACCOUNT || no->lack == BUDGET_NO_PRICE;
	switch (no->lack) {
	case BUDGET_LACKS_MONEY:
	case BUDGET_WANTS_SPOT:
		left = cap_now(c, no->market) - budget_used(c) - c->promised.now;
		return needs > left || left <= 0; /* as try_amount() */
	case BUDGET_LACKS_LATER:
		return needs > cap_later(c, no->market) - budget_after(c) - c->promised.later;
	case BUDGET_LACKS_RATE:
		return needs > c->b->rate_nano_h - c->held.rate - c->promised.rate;
	case BUDGET_NOT_YET:
		return c->when == PERIOD_NOT_YET;
	default:
		return true;
	}
}
