/* Shows what a plan would set aside, by the sums with which intake_buy.c and holds.c do it. */
#include "buy/buy.h"
#include "money/money.h"

#include "base/clamp.h"

static struct budget_machine machine_of(const struct engine *e, const struct plan_ask *a,
					const struct plan_node *pn)
{
	const struct conf_pool *pool = &e->conf->pools[pn->pool];
	const struct conf_offer *o = &conf_rungs(pool, NULL)[pn->rung];

	return (struct budget_machine){.pool = pool->name,
				       .provider = o->provider,
				       .market = (enum provider_market)o->market,
				       .rate_nano_h = pn->price,
				       .boot_ms = pool->boot_ms,
				       .quantum_ms = a->terms[pn->pool].quantum_ms[pn->rung],
				       .minimum_ms = a->terms[pn->pool].minimum_ms[pn->rung],
				       .gpus = pn->name != NULL ? pn->name->gpus : 0,
				       .cpus = pn->name != NULL ? pn->name->cpus : 0};
}

static void add(int64_t *sum, const struct budget_hold *h)
{
	if (h->until_ms == INT64_MAX)
		return;
	*sum = clamp_add(*sum, budget_cost(h->rate_nano_h, h->from_ms, h->until_ms));
}

void preview_set_aside(struct engine *e, const struct plan_ask *a, const struct plan *plan,
		       const struct payer *p, struct engine_plan *out)
{
	struct budgets *b = holds_budgets(e);
	struct budget_want wants[BUDGET_WANTS_MAX];

	for (size_t i = 0; b != NULL && p != NULL && i < plan->n; i++) {
		const struct plan_node *pn = &plan->nodes[i];
		struct budget_machine m;
		size_t n;

		if (pn->verdict != PLAN_BUY)
			continue;
		m = machine_of(e, a, pn);
		n = budget_wants(b, p, &m, &e->money->times, a->now_ms, wants);
		for (size_t k = 0; k < n; k++)
			if (budgets_concern(b, wants[k].hold.spender))
				add(wants[k].hold.kind == BUDGET_MACHINE ? &out->aside_machines
									 : &out->aside_job,
				    &wants[k].hold);
	}
}
