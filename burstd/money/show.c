/* Shows budgets to the API: each line, what runs has cost so far, how far it may be overrun, and
 * how many jobs wait for it. */
#include "money/hold.h"
#include "money/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/map.h"
#include "base/mem.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"

/* --- what runs -----------------------------------------------------------------------------------
 */

/* Is a machine there waiting for a delete that the provider has not taken? */
static bool denies(const struct engine *e, size_t provider)
{
	const struct cloud *c = &e->cloud->all[provider];
	int64_t failed_ms = c->undeleted_ms;

	if (away_is(c))
		return true;
	for (const struct fleet_node *fn = e->fleet.states[NODE_DELETING];
	     fn != NULL && failed_ms != 0; fn = fn->state_next)
		if (fn->n.cloud == provider && !fn->n.accepted && fn->n.since_ms <= failed_ms)
			return true;
	return false;
}

struct summing {
	const struct engine *e;
	struct engine_budget *lines; /* in the order of budgets_line() */
	struct budget_days *days;    /* likewise */
	bool *denied;                /* by provider */
};

/* May a job have to wait until others' commands have run?  Without a grace none runs. */
static bool may_wait(const struct conf *c, const struct conf_budget *b)
{
	for (size_t i = 0; i < c->npools && b->grace_ms > 0; i++)
		if (c->pools[i].checkpoint_command != NULL)
			return true;
	return false;
}

/* How long the ladder lets run on what a used up budget pays for; 0: it ends nothing. */
static int64_t ladder_ms(const struct conf *c, const struct conf_budget *b)
{
	if (b->reserve == CONF_RESERVE_FULL || (b->requeue_at == 0 && b->kill_at == 0))
		return 0;
	return b->grace_ms + LADDER_LATE_MS + (may_wait(c, b) ? LADDER_SAVE_MS : 0);
}

/* late_ms: how much longer the machine may bill than somebody wants it. */
static void add_hold(const struct summing *s, const struct budget_hold *h, int64_t late_ms,
		     bool stays)
{
	const struct budgets *b = s->e->money->budgets;
	int64_t now = engine_now(s->e);
	const uint32_t *at;
	size_t n = budgets_lines_of(b, h->spender, &at);

	budget_days_add(b, s->days, h);
	for (size_t i = 0; i < n; i++) {
		struct engine_budget *l = &s->lines[at[i]];

		l->accrued = clamp_add(l->accrued, budgets_accrued(b, at[i], h, now));
		if (!l->line.limited || h->from_ms > now ||
		    (l->line.budget->reserve == CONF_RESERVE_FULL && !stays))
			continue;
		l->beyond = clamp_add(l->beyond,
				      budget_cost(h->rate_nano_h, 0,
						  HOLDS_END_MS + late_ms +
							  ladder_ms(s->e->conf, l->line.budget)));
	}
}

/* The holds of a generation.  One whose row is not there has a machine all the same. */
static void add_generation(const struct summing *s, const struct hold_node *g)
{
	const struct fleet_name *nm = fleet_find(&s->e->fleet, g->node);
	const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, g->gen) : NULL;
	int64_t late_ms = 0;
	bool stays = false;

	if (fn != NULL) {
		const struct budget_machine m = hold_machine(s->e, fn);

		late_ms = m.quantum_ms + m.unmount_ms;
		stays = fn->n.state == NODE_QUARANTINED ||
			(fn->n.cloud < s->e->conf->nproviders && s->denied[fn->n.cloud]);
	}
	for (const struct hold *h = g->first; h != NULL; h = h->next)
		add_hold(s, hold_of(s->e, h), late_ms, stays);
}

static void add_waiting(const struct summing *s, size_t n)
{
	const struct money_state *m = s->e->money;
	char key[MONEY_LINE_SIZE], (*lines)[MONEY_LINE_SIZE];
	struct map counts; /* of the jobs that wait, by line */
	size_t k = 0;

	map_init(&counts);
	lines = mem_zalloc((m->nwaits + 1) * sizeof(*lines)); /* the map borrows them */
	for (const struct money_wait *x = s->e->jobs->parts[JOB_UNPAID]; x != NULL;
	     x = x->in.next, k++) {
		money_line_key(lines[k], x->no.budget->name, x->no.value);
		if (holds_waits_is(s->e, x))
			map_put(&counts, lines[k],
				(void *)((uintptr_t)map_get(&counts, lines[k]) + 1));
	}
	for (size_t i = 0; counts.n > 0 && i < n; i++) {
		money_line_key(key, s->lines[i].line.budget->name, s->lines[i].line.value);
		s->lines[i].waiting = (uintptr_t)map_get(&counts, key);
	}
	map_fini(&counts);
	free(lines);
}

static int in_order(const void *a, const void *b)
{
	const struct budget_line *x = &((const struct engine_budget *)a)->line;
	const struct budget_line *y = &((const struct engine_budget *)b)->line;

	if (x->budget != y->budget)
		return x->budget < y->budget ? -1 : 1;
	return strcmp(x->value, y->value);
}

static void keep_those_of(const struct budgets *b, const char *user, struct engine_budgets *all)
{
	bool *shown = mem_zalloc((all->n + 1) * sizeof(*shown));
	size_t n = 0;

	budgets_lines_for(b, user, shown);
	for (size_t i = 0; i < all->n; i++)
		if (shown[i])
			all->v[n++] = all->v[i];
	all->n = n;
	free(shown);
}

static void begin(const struct engine *e, struct engine_budget *out, struct budget_line l)
{
	const struct money_line *m = money_line_find(e, &l);

	out->line = l;
	for (int s = BUDGET_DRAINS; m != NULL && s < BUDGET_NSTEPS; s++)
		if (m->since_ms[s] != 0) {
			out->step = (enum budget_step)s;
			out->step_ms = m->since_ms[s];
		}
	if (l.set_id != 0)
		out->set = override_find(e, l.set_id);
}

static void foresee(const struct budgets *b, struct engine_budget *x, const struct budget_days *d)
{
	x->foreseen =
		budget_forecast(b, &x->line, clamp_add(x->line.spent, x->accrued), d, &x->forecast);
}

void engine_budgets(const struct engine *e, const char *user, struct engine_budgets *out)
{
	struct budgets *b = e->money->budgets;
	struct summing s = {.e = e};

	*out = (struct engine_budgets){.n = b != NULL ? budgets_lines(b) : 0};
	out->v = mem_zalloc((out->n + 1) * sizeof(*out->v));
	s.lines = out->v;
	s.denied = mem_zalloc((e->conf->nproviders + 1) * sizeof(*s.denied));
	for (size_t i = 0; i < e->conf->nproviders; i++)
		s.denied[i] = denies(e, i);
	for (size_t i = 0; i < out->n; i++)
		begin(e, &out->v[i], budgets_line(b, i));
	s.days = b != NULL ? budgets_days(b) : NULL;
	for (const struct hold_node *g = e->money->nodes; out->n > 0 && g != NULL; g = g->next)
		add_generation(&s, g);
	add_waiting(&s, out->n);
	for (size_t i = 0; i < out->n; i++)
		foresee(b, &out->v[i], &s.days[i]);
	free(s.days);
	free(s.denied);
	if (user != NULL && b != NULL)
		keep_those_of(b, user, out);
	qsort(out->v, out->n, sizeof(*out->v), in_order);
}

void engine_budgets_fini(struct engine_budgets *all)
{
	free(all->v);
	*all = (struct engine_budgets){0};
}
