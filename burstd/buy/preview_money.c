/* Shows what a plan would set aside, by the sums with which intake_buy.c and holds.c do it. */
#include "buy/buy.h"
#include "jobs/jobs.h"
#include "money/money.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/map.h"

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
		m = plan_machine(a, pn->pool, pn->rung, pn->price, pn->name);
		n = budget_wants(b, p, &m, &e->money->times, a->now_ms, wants);
		for (size_t k = 0; k < n; k++)
			if (budgets_concern(b, wants[k].hold.spender))
				add(wants[k].hold.kind == BUDGET_MACHINE ? &out->aside_machines
									 : &out->aside_job,
				    &wants[k].hold);
	}
}

void preview_wait_for_accounts(struct engine *e, const struct payer *p, struct engine_plan *out)
{
	const char *why = engine_budgets_wait(e);
	const bool placed = !accounts_lack_place(e, p->account);

	if (out->verdict == PLAN_HAVE || (why[0] == '\0' && placed))
		return;
	out->verdict = PLAN_WAIT;
	if (why[0] != '\0')
		(void)snprintf(out->why, sizeof(out->why), "%.255s", why);
	else
		(void)snprintf(out->why, sizeof(out->why),
			       "account %.100s is new: slurmctld is being asked below which others "
			       "it is, for their budgets",
			       p->account);
}

/* --- a job of several partitions
 * ------------------------------------------------------------------
 */

/* Are all these nodes in the partition, as far as slurmctld has said? */
static bool has_all(const struct engine *e, const char *partition, const char *list)
{
	struct hostlist *of = NULL, *all = NULL;
	char *names = engine_partition(e, partition);
	struct map in;
	bool has = true;

	map_init(&in);
	if (names != NULL && hostlist_parse(&of, names, strlen(names), NULL) == 0 &&
	    hostlist_parse(&all, list, strlen(list), NULL) == 0) {
		for (size_t i = 0; i < of->n; i++)
			map_put(&in, of->names[i], of);
		for (size_t i = 0; i < all->n && has; i++)
			has = map_get(&in, all->names[i]) != NULL;
	}
	map_fini(&in);
	hostlist_free(of);
	hostlist_free(all);
	free(names);
	return has;
}

bool preview_next_partition(const struct engine *e, const char **names, const char *list,
			    char out[PAYER_NAME_MAX + 1])
{
	while (**names != '\0') {
		size_t n = strcspn(*names, ",");

		(void)snprintf(out, PAYER_NAME_MAX + 1, "%.*s", (int)n, *names);
		*names += n + ((*names)[n] == ',');
		if (n > 0 && (list == NULL || has_all(e, out, list)))
			return true;
	}
	return false;
}

bool preview_is_worse(const struct engine_plan *a, const struct engine_plan *b)
{
	static const int rank[] = {
		[PLAN_HAVE] = 0, [PLAN_BUY] = 1, [PLAN_WAIT] = 2, [PLAN_REFUSE] = 3};

	if (rank[a->verdict] != rank[b->verdict])
		return rank[a->verdict] > rank[b->verdict];
	return clamp_add(a->aside_job, a->aside_machines) >
	       clamp_add(b->aside_job, b->aside_machines);
}
