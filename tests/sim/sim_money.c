#include "sim_money.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "money/money_api.h"
#include "sim_journal.h"

enum {
	MONEY_MAX = 100000,
	ORDER_MS = 5 * SIM_SECOND, /* an order about a job waits so long for others, at most */
};

#define COPY(to, from) (void)snprintf(to, sizeof(to), "%.15s", from)

struct sim_spender sim_spender_of(const struct budget_spender *s)
{
	struct sim_spender o;

	memset(&o, 0, sizeof(o)); /* compared as bytes */
	o.machine = s->machine;
	o.market = s->market;
	COPY(o.account, s->account);
	COPY(o.user, s->user);
	COPY(o.qos, s->qos);
	COPY(o.wckey, s->wckey);
	COPY(o.partition, s->partition);
	COPY(o.pool, s->pool);
	COPY(o.provider, s->provider);
	return o;
}

static struct budget_spender spender(const struct sim_spender *s)
{
	return (struct budget_spender){.machine = s->machine,
				       .market = s->market,
				       .account = s->account,
				       .user = s->user,
				       .qos = s->qos,
				       .wckey = s->wckey,
				       .partition = s->partition,
				       .pool = s->pool,
				       .provider = s->provider};
}

static void *grown(struct world *w, void *p, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return p;
	if (n >= MONEY_MAX)
		world_fail(w, "I25: holds or days grow without end");
	*cap = *cap == 0 ? 32 : 2 * *cap;
	return mem_realloc(p, *cap * size);
}

static size_t find(const struct sim_money *m, const struct sim_hold *h)
{
	size_t i = 0;

	while (i < m->nholds &&
	       (strcmp(m->holds[i].node, h->node) != 0 || m->holds[i].gen != h->gen ||
		m->holds[i].job != h->job || m->holds[i].h.kind != h->h.kind))
		i++;
	return i;
}

void sim_money_hold(struct world *w, struct sim_money *m, const struct sim_hold *h)
{
	size_t i = find(m, h);

	if (h->h.from_ms > h->h.until_ms || h->h.rate_nano_h < 0)
		world_fail(w, "P4: a hold for %s that makes no sense", h->node);
	if (h->s.machine != (h->h.kind == BUDGET_MACHINE) || h->s.machine != (h->job == 0))
		world_fail(w, "P4: a hold for %s of the wrong kind", h->node);
	if (!h->s.machine && h->s.account[0] == '\0')
		world_fail(w, "P4: a hold for job %" PRIu64 " without its account", h->job);
	if (i == m->nholds) {
		m->holds = grown(w, m->holds, m->nholds, &m->holds_cap, sizeof(*m->holds));
		m->nholds++;
	}
	m->holds[i] = *h;
}

static void note_paid(struct world *w, struct sim_money *m, const struct sim_hold *h)
{
	struct sim_paid *p;

	m->paid = grown(w, m->paid, m->npaid, &m->paid_cap, sizeof(*m->paid));
	p = &m->paid[m->npaid++];
	*p = (struct sim_paid){
		.gen = h->gen, .rate_nano_h = h->h.rate_nano_h, .until_ms = w->now + w->skew};
	memcpy(p->node, h->node, sizeof(p->node));
}

/* What ends with its machine is settled by that one's end, whenever that is known. */
static void ended_together(const struct world *w, struct sim_money *m, const struct sim_hold *h)
{
	size_t n = 0;

	for (size_t i = 0; i < m->npaid; i++)
		if (m->paid[i].gen != h->gen || strcmp(m->paid[i].node, h->node) != 0 ||
		    m->paid[i].until_ms != w->now + w->skew)
			m->paid[n++] = m->paid[i];
	m->npaid = n;
}

void sim_money_drop(struct world *w, struct sim_money *m, const struct sim_hold *h)
{
	size_t i = find(m, h);

	if (i == m->nholds) {
		world_fail(w, "P4: a hold for %s ends that there is not", h->node);
		return;
	}
	if (h->h.kind == BUDGET_MACHINE)
		ended_together(w, m, h);
	else
		note_paid(w, m, &m->holds[i]);
	m->holds[i] = m->holds[--m->nholds];
}

void sim_money_day(struct world *w, struct sim_money *m, const struct sim_day *d)
{
	size_t i = 0;

	while (i < m->ndays &&
	       (m->days[i].day != d->day || memcmp(&m->days[i].s, &d->s, sizeof(d->s)) != 0))
		i++;
	if (i == m->ndays) {
		m->days = grown(w, m->days, m->ndays, &m->days_cap, sizeof(*m->days));
		m->ndays++;
	} else if (d->nano < m->days[i].nano) {
		world_fail(w, "P4: what was spent on a day gets less");
	}
	m->days[i] = *d;
}

static bool steps_end(const struct sim_came_to *was, const struct sim_came_to *is)
{
	for (int s = BUDGET_DRAINS; s < BUDGET_NSTEPS; s++)
		if (was->since_ms[s] != 0 && is->since_ms[s] == 0)
			return true;
	return false;
}

void sim_money_came(struct world *w, struct sim_money *m, const struct sim_came_to *b)
{
	int64_t over_at;
	size_t i = 0;

	while (i < m->ncame &&
	       (strcmp(m->came[i].budget, b->budget) != 0 ||
		strcmp(m->came[i].value, b->value) != 0 || m->came[i].begin_ms != b->begin_ms))
		i++;
	if (i == m->ncame) {
		m->came = grown(w, m->came, m->ncame, &m->came_cap, sizeof(*m->came));
		m->came[m->ncame++] = (struct sim_came_to){0};
	}
	for (int s = BUDGET_DRAINS; s < BUDGET_NSTEPS; s++)
		if (b->since_ms[s] > b->at_ms)
			world_fail(w, "P4: budget %s has reached a step that is to come",
				   b->budget);
	over_at = steps_end(&m->came[i], b) ? w->now : m->came[i].over_at;
	m->came[i] = *b;
	m->came[i].over_at = over_at;
}

void sim_money_steps(struct sim_money *m, const struct sim_came_to *b)
{
	for (size_t i = 0; i < m->ncame; i++)
		if (strcmp(m->came[i].budget, b->budget) == 0 &&
		    strcmp(m->came[i].value, b->value) == 0 && m->came[i].begin_ms == b->begin_ms)
			memcpy(m->came[i].since_ms, b->since_ms, sizeof(b->since_ms));
}

void sim_money_override(struct world *w, struct sim_money *m, const struct sim_override *o)
{
	size_t i = 0;

	while (i < m->noverrides && m->overrides[i].id != o->id)
		i++;
	if (i == m->noverrides) {
		m->overrides = grown(w, m->overrides, m->noverrides, &m->overrides_cap,
				     sizeof(*m->overrides));
		m->noverrides++;
	}
	m->overrides[i] = *o;
	for (size_t k = 0; o->set && o->until_ms > o->made_ms && k < m->noverrides; k++) {
		const struct sim_override *x = &m->overrides[k];

		if (k != i && x->set && x->until_ms > o->made_ms &&
		    strcmp(x->budget, o->budget) == 0 && strcmp(x->value, o->value) == 0)
			world_fail(w, "P4: budget %s/%s has two amounts that are set", o->budget,
				   o->value);
	}
}

bool sim_money_ends(const struct world *w, enum budget_step step)
{
	const struct sim_money *m = sim_journal_money(w->journal);

	for (size_t i = 0; i < m->ncame; i++) {
		if (m->came[i].over_at != 0 && w->now - m->came[i].over_at < ORDER_MS)
			return true;
		for (int s = (int)step; s < BUDGET_NSTEPS; s++)
			if (m->came[i].since_ms[s] != 0)
				return true;
	}
	return false;
}

#define SIM_ENOUGH (INT64_MAX / 4) /* for all that may be bought */

/* What is set is set anew a second later. */
static void raise(struct world *w, const struct budget_line *l)
{
	const bool set = w->seed / 24 % 2 != 0;
	const struct engine_override o = {.budget = l->budget->name,
					  .value = l->value,
					  .set = set,
					  .nano = set && l->set_id == 0 ? SIM_ENOUGH - 1
									: SIM_ENOUGH,
					  .by = "sim",
					  .reason = "faults end"};
	struct err e = {0};
	int64_t id;

	if (engine_override(w->engine, &o, &id, &e) != 0 && !w->crashed)
		world_fail(w, "P4: budget %s/%s cannot be raised: %s", o.budget, o.value, e.msg);
}

/* Lines come up as their first job does. */
static void on_raise(struct world *w, void *ctx, uint64_t arg)
{
	struct engine_budgets all;

	world_at(w, w->now + SIM_SECOND, on_raise, ctx, arg);
	if (w->engine == NULL || w->crashed || sim_frozen(w))
		return;
	engine_budgets(w->engine, NULL, &all);
	for (size_t i = 0; i < all.n && !w->crashed; i++)
		if (all.v[i].line.budget->each != CONF_EACH_NONE && all.v[i].line.added == 0 &&
		    all.v[i].line.own != SIM_ENOUGH && all.v[i].line.value[0] != '\0')
			raise(w, &all.v[i].line);
	engine_budgets_fini(&all);
}

void sim_money_heal(struct world *w)
{
	if (w->set.ladder)
		on_raise(w, NULL, 0);
}

/* Was the line's amount set when this was written? */
static bool was_set(const struct sim_money *m, const struct sim_came_to *b)
{
	for (size_t i = 0; i < m->noverrides; i++) {
		const struct sim_override *x = &m->overrides[i];

		if (x->set && strcmp(x->budget, b->budget) == 0 &&
		    strcmp(x->value, b->value) == 0 && x->made_ms <= b->at_ms &&
		    x->until_ms > b->at_ms)
			return true;
	}
	return false;
}

static int load_past(const struct sim_money *m, const struct sim_came_to *b,
		     const struct journal_visitor *v, struct err *e)
{
	const int64_t own = b->amount - b->added;
	struct journal_past p = {.budget = b->budget,
				 .value = "",
				 .span = {b->begin_ms, b->end_ms},
				 .amount = was_set(m, b) ? -1 : own};

	if (v->budget_past == NULL)
		return 0;
	if (v->budget_past(v->ctx, &p, e) != 0)
		return -1;
	p.value = b->value;
	p.amount = own;
	return v->budget_past(v->ctx, &p, e);
}

static int load_came(const struct sim_money *m, const struct journal_visitor *v, struct err *e)
{
	for (size_t i = 0; v->budget != NULL && i < m->ncame; i++) {
		const struct sim_came_to *b = &m->came[i];
		struct journal_budget row = {.budget = b->budget,
					     .value = b->value,
					     .period = "a month",
					     .begin_ms = b->begin_ms,
					     .end_ms = b->begin_ms,
					     .amount = b->amount,
					     .added = b->added,
					     .at_ms = b->at_ms,
					     .counted = ""};

		memcpy(row.since_ms, b->since_ms, sizeof(row.since_ms));
		if (v->budget(v->ctx, &row, e) != 0 || load_past(m, b, v, e) != 0)
			return -1;
	}
	for (size_t i = 0; v->override != NULL && i < m->noverrides; i++) {
		const struct sim_override *x = &m->overrides[i];
		const struct journal_override o = {.id = x->id,
						   .budget = x->budget,
						   .value = x->value,
						   .set = x->set,
						   .nano = x->nano,
						   .made_ms = x->made_ms,
						   .until_ms = x->until_ms,
						   .by = "sim",
						   .reason = "faults end",
						   .revoked_by = "",
						   .revoked_why = ""};

		if (v->override(v->ctx, &o, e) != 0)
			return -1;
	}
	return 0;
}

int sim_money_load(const struct sim_money *m, const struct journal_visitor *v, struct err *e)
{
	for (size_t i = 0; v->hold != NULL && i < m->nholds; i++) {
		const struct sim_hold *x = &m->holds[i];
		const struct journal_hold h = {.node = x->node,
					       .gen = x->gen,
					       .job = x->job,
					       .hold = x->h,
					       .spender = spender(&x->s)};

		if (v->hold(v->ctx, &h, e) != 0)
			return -1;
	}
	for (size_t i = 0; v->day != NULL && i < m->ndays; i++) {
		const struct journal_spent s = {m->days[i].day, spender(&m->days[i].s),
						m->days[i].nano};

		if (v->day(v->ctx, &s, e) != 0)
			return -1;
	}
	return load_came(m, v, e);
}

void sim_money_free(struct sim_money *m)
{
	free(m->holds);
	free(m->days);
	free(m->paid);
	free(m->came);
	free(m->overrides);
}

static bool is_held(const struct sim_money *m, const char *node, uint64_t gen)
{
	for (size_t i = 0; i < m->nholds; i++)
		if (m->holds[i].gen == gen && strcmp(m->holds[i].node, node) == 0 &&
		    m->holds[i].h.kind == BUDGET_MACHINE)
			return true;
	return false;
}

void sim_money_created(struct world *w, const char *node, uint64_t gen)
{
	if (w->set.budgets && w->set.chance[SIM_RESTORED] == 0 &&
	    !is_held(sim_journal_money(w->journal), node, gen))
		world_fail(w, "P4: %s is created, and no money is set aside for it", node);
}

void sim_money_gone(struct world *w, const struct sim_money *m, const char *node, uint64_t gen)
{
	for (size_t i = 0; w->set.budgets && i < m->nholds; i++)
		if (m->holds[i].gen == gen && strcmp(m->holds[i].node, node) == 0)
			world_fail(w, "P4: %s is gone, and money is held for it", node);
}

/* Each job has its nodes for itself, and no clock moves what it cost: then jobs pay for machines at
 * most, and for no time of them twice. */
static bool are_whole(const struct world *w)
{
	return w->set.chance[SIM_SHARED] == 0 && w->set.chance[SIM_CLOCK_SET] == 0 &&
	       w->set.chance[SIM_CLOCK_JUMP] == 0;
}

/* A quantum is in no bill of burstd's, and an older journal lacks some. */
static bool are_comparable(const struct world *w)
{
	return w->set.budgets && w->set.chance[SIM_RESTORED] == 0 && !w->set.warm;
}

static int64_t spent_by(const struct sim_money *m, bool machines)
{
	int64_t sum = 0;

	for (size_t i = 0; i < m->ndays; i++)
		if (m->days[i].s.machine == machines)
			sum += m->days[i].nano;
	return sum;
}

/* What jobs have paid for the time between their machine's end and burstd's look at them: the
 * provider tells the end later. */
static int64_t paid_late(const struct sim_money *m, const struct sim_bills *bills)
{
	int64_t sum = 0;

	for (size_t i = 0; i < m->npaid; i++) {
		const struct sim_paid *p = &m->paid[i];
		int64_t end = INT64_MAX;

		for (size_t k = 0; k < bills->n; k++)
			if (bills->v[k].gen == p->gen && strcmp(bills->v[k].node, p->node) == 0)
				end = bills->v[k].end_ms;
		if (p->until_ms > end)
			sum += budget_cost(p->rate_nano_h, end, p->until_ms);
	}
	return sum;
}

/* Days cut each bill, so each may be off by the rounding of its pieces: none is, in a story of an
 * hour or two; one that was seen again was rounded twice. */
void sim_money_billed(struct world *w, const struct sim_money *m, const struct sim_bills *bills)
{
	int64_t spent, billed, off;

	if (!are_comparable(w))
		return;
	spent = spent_by(m, true);
	billed = sim_bills_sum(bills, &off);
	if (spent - billed > off || billed - spent > off)
		world_fail(w, "P6: budgets say %lld was spent on machines, the bills %lld",
			   (long long)spent, (long long)billed);
}

bool sim_money_settled(struct world *w, char *why, size_t size)
{
	const struct sim_money *m = sim_journal_money(w->journal);
	int64_t spent = spent_by(m, true), jobs = spent_by(m, false), off;

	(void)sim_bills_sum(sim_journal_bills(w->journal), &off);
	if (!are_comparable(w) || !are_whole(w) ||
	    jobs - spent <= off + paid_late(m, sim_journal_bills(w->journal)))
		return true;
	(void)snprintf(why, size, "P6: jobs have spent %lld, their machines %lld", (long long)jobs,
		       (long long)spent);
	return false;
}
