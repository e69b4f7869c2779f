/* Who spends: each spender once, with the budgets that it concerns, until it has neither holds nor
 * anything spent. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/budget_private.h"

/* --- the budgets that it concerns ---------------------------------------------------------------
 */

static void add_count(struct budgets *b, struct budget_who *w, uint32_t order)
{
	struct budget_count *c;

	w->counts = mem_realloc(w->counts, (w->ncounts + 1) * sizeof(*w->counts));
	w->counts[w->ncounts] = budget_count_of(b, order, &w->s);
	c = b->counts[w->counts[w->ncounts++]];
	for (size_t i = 0; i < w->ndays; i++)
		budget_count_day(c, w->days[i].day, w->days[i].nano);
}

void budget_who_match(struct budgets *b, struct budget_who *w)
{
	const uint32_t *v;
	size_t n = budget_index_find(b, &w->s, &v);

	free(w->counts);
	w->counts = NULL;
	w->ncounts = 0;
	w->unknown = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct conf_budget *of = &b->list[v[i]];
		enum budget_match m = budget_match(b, of, &w->s);

		if (m == BUDGET_PERHAPS && of->unknown == CONF_UNKNOWN_REFUSE && w->unknown == NULL)
			w->unknown = of;
		if (m == BUDGET_YES)
			add_count(b, w, v[i]);
	}
}

/* --- each once ----------------------------------------------------------------------------------
 */

static char *copy_text(char **at, const char *text)
{
	char *to = *at;
	size_t n = strlen(text) + 1;

	memcpy(to, text, n);
	*at += n;
	return to;
}

/* A spender's key: its texts with a line between them, which none of them has. */
static char *key_of(const struct budget_spender *s)
{
	struct str k;

	str_init(&k, 8 * 256);
	str_addf(&k, "%d\n%d\n%s\n%s\n%s\n%s\n%s\n%s\n%s", s->machine, (int)s->market, s->account,
		 s->user, s->qos, s->wckey, s->partition, s->pool, s->provider);
	assert(!k.full); /* else two would be one */
	return str_take(&k);
}

static struct budget_who *who_new(const struct budget_spender *s, const char *key)
{
	const char *const texts[] = {s->account,   s->user, s->qos,     s->wckey,
				     s->partition, s->pool, s->provider};
	struct budget_who *w = mem_zalloc(sizeof(*w));
	size_t n = strlen(key) + 1;
	char *at;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		n += strlen(texts[i]) + 1;
	w->text = at = mem_zalloc(n);
	(void)copy_text(&at, key);
	w->s = (struct budget_spender){.machine = s->machine, .market = s->market};
	w->s.account = copy_text(&at, s->account);
	w->s.user = copy_text(&at, s->user);
	w->s.qos = copy_text(&at, s->qos);
	w->s.wckey = copy_text(&at, s->wckey);
	w->s.partition = copy_text(&at, s->partition);
	w->s.pool = copy_text(&at, s->pool);
	w->s.provider = copy_text(&at, s->provider);
	return w;
}

/* A place in b->who that is free. */
static uint32_t free_place(struct budgets *b)
{
	if (b->nfree > 0)
		return b->free_who[--b->nfree];
	if (b->nwho == b->who_cap) {
		b->who_cap = b->who_cap == 0 ? 64 : 2 * b->who_cap;
		b->who = mem_realloc(b->who, b->who_cap * sizeof(struct budget_who *));
		b->free_who = mem_realloc(b->free_who, b->who_cap * sizeof(*b->free_who));
	}
	return (uint32_t)b->nwho++;
}

static bool is_same(const struct budget_spender *a, const struct budget_spender *b)
{
	return a->machine == b->machine && a->market == b->market &&
	       strcmp(a->user, b->user) == 0 && strcmp(a->account, b->account) == 0 &&
	       strcmp(a->qos, b->qos) == 0 && strcmp(a->wckey, b->wckey) == 0 &&
	       strcmp(a->partition, b->partition) == 0 && strcmp(a->pool, b->pool) == 0 &&
	       strcmp(a->provider, b->provider) == 0;
}

/* Whose place is this?  It may be free by now, or another's. */
static bool is_at(const struct budgets *b, uint32_t at, const struct budget_spender *s)
{
	return at < b->nwho && b->who[at] != NULL && is_same(&b->who[at]->s, s);
}

uint32_t budgets_spender(struct budgets *b, const struct budget_spender *spender)
{
	struct budget_spender s = *spender;
	char account[BUDGET_VALUE_MAX + 1];
	uint32_t *last = &b->last_who[s.machine ? 0 : 1];
	uintptr_t at;
	char *key;

	budget_refresh(b);
	budget_fold(account, s.account);
	s.account = account;
	/* A job asks for the same ones several times, and many have one payer. */
	if (is_at(b, *last, &s))
		return *last;
	key = key_of(&s);
	at = (uintptr_t)map_get(&b->by_spender, key);
	if (at == 0) {
		at = free_place(b) + (uintptr_t)1;
		b->who[at - 1] = who_new(&s, key);
		map_put(&b->by_spender, b->who[at - 1]->text, (void *)at);
		budget_who_match(b, b->who[at - 1]);
	}
	free(key);
	*last = (uint32_t)(at - 1);
	return *last;
}

void budget_who_free(struct budget_who *w)
{
	if (w == NULL)
		return;
	free(w->text);
	free(w->days);
	free(w->counts);
	free(w);
}

/* A user may give each of his jobs another wckey. */
void budget_who_sweep(struct budgets *b)
{
	for (size_t i = 0; i < b->nwho; i++) {
		struct budget_who *w = b->who[i];

		if (w == NULL || w->nholds > 0 || w->ndays > 0)
			continue;
		map_del(&b->by_spender, w->text);
		budget_who_free(w);
		b->who[i] = NULL;
		b->free_who[b->nfree++] = (uint32_t)i;
	}
}

const struct budget_spender *budgets_spender_at(const struct budgets *b, uint32_t spender)
{
	assert(spender < b->nwho && b->who[spender] != NULL);
	return &b->who[spender]->s;
}

bool budgets_concern(const struct budgets *b, uint32_t spender)
{
	return b->who[spender]->ncounts > 0 || b->who[spender]->unknown != NULL;
}

static int64_t least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t budgets_reserve_ms(const struct budgets *b, uint32_t spender, int64_t limit_ms,
			   int64_t minimum_ms)
{
	const struct budget_who *w = b->who[spender];
	int64_t most = 0;

	for (size_t i = 0; i < w->ncounts; i++) {
		const struct conf_budget *of = b->counts[w->counts[i]]->b;
		int64_t wants = minimum_ms;

		if (!budget_limits(of, w->s.market)) /* a rate is the same however long it lasts */
			continue;
		if (of->reserve == CONF_RESERVE_FULL && limit_ms < 0)
			return -1;
		if (of->reserve == CONF_RESERVE_FULL)
			wants = limit_ms;
		else if (of->reserve == CONF_RESERVE_LEASE)
			wants = limit_ms >= 0 ? least_of(limit_ms, of->lease_ms) : of->lease_ms;
		most = wants > most ? wants : most;
	}
	return most;
}
