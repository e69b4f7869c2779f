#include "core/plan.h"

#include <stdio.h>

#include "base/fmt.h"

/* Says for people why a job is refused its nodes, and when another try makes sense. */

/* Why the node cannot be bought: an earlier instance has its name. */
static void explain_stuck(const struct conf_pool *p, const struct fleet_node *unreached, char *out,
			  size_t size)
{
	if (unreached == NULL)
		(void)snprintf(out, size, "pool %s: an earlier instance of the node is quarantined",
			       p->name);
	else
		(void)snprintf(out, size,
			       "pool %s: %.60s cannot be reached, and may have an instance of %s",
			       p->name, unreached->n.provider, unreached->n.name);
}

enum { HELD_SIZE = 120 };

/* Names the nodes that count against a limit, though it is not known whether they exist. */
static const char *held(const struct plan_pool *p, char out[HELD_SIZE])
{
	out[0] = '\0';
	if (p->unreached > 0)
		(void)snprintf(out, HELD_SIZE,
			       "; %u of its nodes may be at %.50s, which cannot be reached",
			       p->unreached, p->unreached_at);
	return out;
}

/* "this job needs 118.08 EUR/h, the pool allows 60.00: at most 2 nodes" */
static void explain_need(const struct plan_node *pn, const struct plan_ask *a, char *out,
			 size_t size)
{
	const struct conf_pool *p = &a->conf->pools[pn->full];
	char needs[FMT_MONEY_SIZE], most[FMT_MONEY_SIZE], nodes[40];

	if (pn->cause == PLAN_MAX_NODES) {
		(void)snprintf(out, size, "pool %s: this job needs %u node%s, the pool allows %u",
			       p->name, pn->need.nodes, pn->need.nodes == 1 ? "" : "s",
			       p->max_nodes);
		return;
	}
	if (pn->need.most == 0)
		(void)snprintf(nodes, sizeof(nodes), "not even one node");
	else
		(void)snprintf(nodes, sizeof(nodes), "at most %u node%s", pn->need.most,
			       pn->need.most == 1 ? "" : "s");
	(void)snprintf(out, size, "pool %s: this job needs %s %s/h, the pool allows %s: %s",
		       p->name, fmt_money(needs, pn->need.rate), a->conf->currency,
		       fmt_money(most, p->max_rate_nano_h), nodes);
}

static void explain_limit(const struct plan_node *pn, const struct plan_ask *a, char *out,
			  size_t size)
{
	const struct conf_pool *p = &a->conf->pools[pn->full];
	char rate[FMT_MONEY_SIZE], more[HELD_SIZE];

	(void)fmt_money(rate, p->max_rate_nano_h);
	if (pn->lasting)
		explain_need(pn, a, out, size);
	else if (pn->beside && pn->cause == PLAN_MAX_RATE)
		(void)snprintf(out, size,
			       "pool %s: this job shares nodes with one that exceeds max_rate "
			       "%s %s/h",
			       p->name, rate, a->conf->currency);
	else if (pn->beside)
		(void)snprintf(out, size,
			       "pool %s: this job shares nodes with one that exceeds "
			       "max_nodes %u",
			       p->name, p->max_nodes);
	else if (pn->cause == PLAN_MAX_RATE)
		(void)snprintf(out, size, "pool %s: max_rate %s %s/h reached%s", p->name, rate,
			       a->conf->currency, held(&a->pools[pn->full], more));
	else
		(void)snprintf(out, size, "pool %s: max_nodes %u reached%s", p->name, p->max_nodes,
			       held(&a->pools[pn->full], more));
}

void plan_explain(const struct plan *plan, const struct plan_node *pn, const struct plan_ask *a,
		  char *out, size_t size)
{
	const struct conf_pool *p = &a->conf->pools[pn->full];

	switch (pn->cause) {
	case PLAN_STUCK:
		explain_stuck(p, fleet_unreached(pn->stuck), out, size);
		break;
	case PLAN_RESTS:
		(void)snprintf(
			out, size,
			"pool %s: a node of the job did not come up, and is not used for a while",
			p->name);
		break;
	case PLAN_BLOCKED:
		(void)snprintf(out, size, "pool %s: %s", p->name, a->pools[pn->full].blocked);
		break;
	case PLAN_PROBES:
		(void)snprintf(out, size, "pool %s: %s", p->name, a->pools[pn->full].probes);
		break;
	case PLAN_LADDER:
		(void)snprintf(out, size, "pool %s: %s", p->name, plan->no_rungs[pn->no_rung].why);
		break;
	case PLAN_BUDGET:
		budget_no_print(&plan->no_budgets[pn->no_budget].no, a->conf->currency,
				plan->no_budgets[pn->no_budget].limit_ms, out, size);
		break;
	default:
		explain_limit(pn, a, out, size);
		break;
	}
}

struct refusal_hint plan_hint(const struct plan *p, const struct plan_node *pn)
{
	struct refusal_hint hint = {.lasting = pn->lasting, .money = pn->cause == PLAN_BUDGET};

	if (pn->cause == PLAN_LADDER)
		hint = p->no_rungs[pn->no_rung].hint;
	if (hint.lasting)
		hint.job = pn->job;
	return hint;
}
