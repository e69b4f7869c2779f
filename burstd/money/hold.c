/* The table of what is held: for each generation, in memory and, once its row is there, in the
 * journal. */
#include "money/hold.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "cloud/cloud.h"

static void key_of(char out[HOSTLIST_NAME_MAX + 32], const char *node, uint64_t gen)
{
	const size_t n = strlen(node);

	assert(n <= HOSTLIST_NAME_MAX);
	memcpy(out, node, n);
	out[n] = '/';
	(void)fmt_u64(out + n + 1, gen);
}

struct hold_node *hold_find(const struct engine *e, const char *node, uint64_t gen)
{
	char key[HOSTLIST_NAME_MAX + 32];

	key_of(key, node, gen);
	return map_get(&e->money->held, key);
}

struct hold_node *hold_node_of(struct engine *e, const char *node, uint64_t gen)
{
	struct money_state *m = e->money;
	struct hold_node *g = hold_find(e, node, gen);

	if (g != NULL)
		return g;
	g = mem_zalloc(sizeof(*g));
	*g = (struct hold_node){.gen = gen, .next = m->nodes, .prev = &m->nodes};
	if (g->next != NULL)
		g->next->prev = &g->next;
	m->nodes = g;
	key_of(g->key, node, gen);
	memcpy(g->node, node, strlen(node) + 1);
	map_put(&m->held, g->key, g);
	return g;
}

const struct budget_hold *hold_of(const struct engine *e, const struct hold *h)
{
	return budgets_hold_at(e->money->budgets, h->hold);
}

/* As the journal has it; borrows from g and the budgets. */
static struct journal_hold row_of(const struct engine *e, const struct hold_node *g,
				  const struct hold *h)
{
	struct journal_hold j = {
		.node = g->node, .gen = g->gen, .job = h->job, .hold = *hold_of(e, h)};

	j.spender = *budgets_spender_at(e->money->budgets, j.hold.spender);
	return j;
}

static void write_one(struct engine *e, const struct hold_node *g, const struct hold *h)
{
	const struct journal_hold j = row_of(e, g, h);

	journal_put_hold(engine_tx(e), &j);
}

struct hold *hold_add(struct engine *e, struct hold_node *g, uint64_t job,
		      const struct budget_hold *h)
{
	struct hold *x = mem_zalloc(sizeof(*x));

	*x = (struct hold){.next = g->first,
			   .job = job,
			   .hold = budgets_hold(e->money->budgets, h),
			   .made_ms = engine_now(e)};
	g->first = x;
	if (g->written)
		write_one(e, g, x);
	return x;
}

static void replace(struct engine *e, struct hold_node *g, struct hold *h,
		    const struct budget_hold *next)
{
	budgets_release(e->money->budgets, h->hold);
	e->money->freed = true; /* it may be less */
	h->hold = budgets_hold(e->money->budgets, next);
	if (g->written)
		write_one(e, g, h);
}

void hold_change(struct engine *e, struct hold_node *g, struct hold *h, int64_t from_ms,
		 int64_t until_ms)
{
	struct budget_hold next = *hold_of(e, h);

	until_ms = until_ms > from_ms ? until_ms : from_ms;
	if (next.from_ms == from_ms && next.until_ms == until_ms)
		return;
	next.from_ms = from_ms;
	next.until_ms = until_ms;
	replace(e, g, h, &next);
}

void hold_reprice(struct engine *e, struct hold_node *g, struct hold *h, int64_t rate_nano_h)
{
	struct budget_hold next = *hold_of(e, h);

	if (next.rate_nano_h == rate_nano_h)
		return;
	next.rate_nano_h = rate_nano_h;
	replace(e, g, h, &next);
}

void hold_drop(struct engine *e, struct hold_node *g, struct hold *h)
{
	const struct journal_hold j = row_of(e, g, h);
	struct hold **at = &g->first;

	if (g->written)
		journal_del_hold(engine_tx(e), &j);
	budgets_release(e->money->budgets, h->hold);
	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	free(h);
	e->money->freed = true;
}

/* Note what was spent from from_ms to to_ms, day by day: the pieces add up to the whole. */
static void spend(struct engine *e, const struct budget_hold *h, int64_t from_ms, int64_t to_ms)
{
	struct budgets *b = e->money->budgets;
	int64_t before = 0;

	for (int64_t at = from_ms; at < to_ms;) {
		int64_t day = budgets_day(b, at), next = budgets_day_begin_ms(b, day + 1);
		struct journal_spent s = {.day = day,
					  .spender = *budgets_spender_at(b, h->spender)};
		int64_t sum;

		at = next > at && next < to_ms ? next : to_ms;
		sum = fmt_cost(at - from_ms, h->rate_nano_h);
		s.nano = budgets_spent(b, h->spender, day, sum - before);
		before = sum;
		journal_put_spent(engine_tx(e), &s);
	}
}

void hold_settle(struct engine *e, struct hold_node *g, struct hold *h, int64_t end_ms)
{
	const struct budget_hold hold = *hold_of(e, h);

	if (end_ms > hold.from_ms)
		spend(e, &hold, hold.from_ms, end_ms);
	hold_drop(e, g, h);
}

void hold_write(struct engine *e, struct hold_node *g)
{
	g->written = true;
	for (const struct hold *h = g->first; h != NULL; h = h->next)
		write_one(e, g, h);
}

void hold_end(struct engine *e, struct hold_node *g)
{
	while (g->first != NULL)
		hold_drop(e, g, g->first);
	if (g->drained)
		journal_del_drained(engine_tx(e), g->node, g->gen);
	map_del(&e->money->held, g->key);
	*g->prev = g->next;
	if (g->next != NULL)
		g->next->prev = g->prev;
	free(g);
}

void hold_free(struct engine *e)
{
	while (e->money->nodes != NULL) {
		struct hold_node *g = e->money->nodes;

		e->money->nodes = g->next;
		while (g->first != NULL) {
			struct hold *h = g->first;

			g->first = h->next;
			free(h);
		}
		free(g);
	}
	map_fini(&e->money->held);
}

struct budget_machine hold_machine(const struct engine *e, const struct fleet_node *fn)
{
	const struct node *n = &fn->n;
	const struct conf_pool *p = &e->conf->pools[n->pool];
	const struct conf_offer *o = engine_offer_of(e, n);
	struct provider_terms terms = {0};

	if (o != NULL)
		terms = quote_terms(e, o);
	return (struct budget_machine){.pool = p->name,
				       .provider = n->provider,
				       .market = n->market,
				       .rate_nano_h = n->rate_nano_h,
				       .boot_ms = node_coming(n) ? p->boot_ms : 0,
				       .unmount_ms = p->unmount_wait_ms,
				       .quantum_ms = terms.quantum_ms != 0 ? terms.quantum_ms
									   : p->quantum_ms,
				       .minimum_ms = terms.minimum_ms > 0 ? terms.minimum_ms : 0,
				       .gpus = fn->name->gpus,
				       .cpus = fn->name->cpus};
}
