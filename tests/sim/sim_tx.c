/* sim_tx.c - store/journal.h in memory: what a transaction collects, and the checks of it at
 * commit. */
#include "sim_tx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_rotate.h"
#include "sim_slurm.h"
#include "store/journal_claims.h"
#include "store/journal_events.h"
#include "store/journal_price.h"
#include "store/journal_vouchers.h"

struct journal_tx *journal_begin(struct journal *j)
{
	struct sim_txs *all = sim_journal_txs(j);
	struct journal_tx *tx = all->spare;

	if (sim_journal_world(j)->standing)
		world_fail(sim_journal_world(j), "burstd has a turn while it waits for the disk");
	if (tx != NULL) {
		all->spare = tx->next;
		tx->n = 0;
	} else {
		tx = mem_zalloc(sizeof(*tx));
		tx->j = j;
		tx->w = sim_journal_world(j);
	}
	all->open++;
	return tx;
}

static struct effect *add(struct journal_tx *tx, enum effect_kind kind, const char *name)
{
	struct effect *f;

	tx->effects = sim_journal_grow(tx->j, tx->effects, tx->n, &tx->cap,
				       (size_t[2]){100000, sizeof(*tx->effects)});
	f = &tx->effects[tx->n++];
	f->kind = kind;
	(void)snprintf(f->name, sizeof(f->name), "%s", name);
	return f;
}

void journal_put_node(struct journal_tx *tx, const struct node *n, const char *pool)
{
	add(tx, PUT_NODE, pool)->u.node = *n;
}

void journal_del_node(struct journal_tx *tx, const char *name, uint64_t gen)
{
	add(tx, DEL_NODE, name)->id = gen;
}

void journal_put_batch(struct journal_tx *tx, const struct journal_batch *b)
{
	add(tx, PUT_BATCH, "")->u.batch = *b;
}

void journal_del_batch(struct journal_tx *tx, uint64_t id)
{
	add(tx, DEL_BATCH, "")->id = id;
}

void journal_put_event(struct journal_tx *tx, int64_t at_ms, const char *node, uint64_t gen,
		       const char *type, const char *detail)
{
	struct effect *f = add(tx, PUT_EVENT, node);

	(void)at_ms;
	f->id = gen;
	f->value = strcmp(type, "breach") == 0 ? 1 : strcmp(type, "token-unknown") == 0 ? 2 : 0;
	if (strcmp(type, "started") == 0)
		sim_journal_audit(tx->j)->n =
			0; /* what the last burstd was about to do, it will not */
	if (strcmp(type, "cancelled") == 0)
		check_cancelled(tx->w, node);
	if (strcmp(type, "timer") == 0 && detail != NULL && strncmp(detail, "booting", 7) == 0)
		sim_row_deadline(tx->w, node, gen);
	if (strcmp(type, "powered-down") == 0)
		check_powered_down(tx->w, node);
	if (strcmp(type, "sent-back") == 0 && tx->w->ctld->telling_jobs)
		check_refused(tx->w, node);
	if (strcmp(type, "keys-old") == 0)
		sim_rotate_drained(tx->w, node);
	sim_ctld_event(tx->w->ctld, node, type, detail != NULL ? detail : "");
	SIM_TRACE(tx->w, "  event %s/%llu %s %s", node, (unsigned long long)gen, type,
		  detail != NULL ? detail : "");
}

void journal_put_usage(struct journal_tx *tx, const struct journal_usage *u)
{
	struct sim_bill *b = &add(tx, PUT_USAGE, u->pool)->u.bill;
	const struct sim_pool *p = world_pool_of(tx->w, u->node);

	sim_row_bill(tx->w, u);
	SIM_TRACE(tx->w, "  bill %s/%llu from %lld until %lld: %lld", u->node,
		  (unsigned long long)u->gen, (long long)u->start_ms, (long long)u->end_ms,
		  (long long)u->cost_nano);
	*b = (struct sim_bill){.gen = u->gen,
			       .pool = p != NULL ? (uint32_t)(p - tx->w->set.pools) : 0,
			       .start_ms = u->start_ms,
			       .end_ms = u->end_ms,
			       .rate_nano_h = u->rate_nano_h,
			       .cost_nano = u->cost_nano};
	(void)snprintf(b->node, sizeof(b->node), "%.23s", u->node);
	(void)snprintf(b->instance, sizeof(b->instance), "%.23s", u->instance);
}

static struct effect *add_fact(struct journal_tx *tx, const char *node, uint64_t gen)
{
	struct effect *f = add(tx, PUT_FACT, node);

	f->value = 0;
	f->u.fact.is = (struct sim_life){.gen = gen};
	(void)snprintf(f->u.fact.is.node, sizeof(f->u.fact.is.node), "%.23s", node);
	return f;
}

void journal_put_life(struct journal_tx *tx, const struct journal_life *l)
{
	struct effect *f = add_fact(tx, l->node, l->gen);

	f->value = 1;
	f->u.fact.step = l->step;
	(void)snprintf(f->u.fact.is.instance, sizeof(f->u.fact.is.instance), "%.23s", l->instance);
	SIM_TRACE(tx->w, "  fact %s/%llu %s %lld", l->node, (unsigned long long)l->gen,
		  life_str(l->step.kind), (long long)l->step.said_ms);
}

void journal_put_machine(struct journal_tx *tx, const struct journal_machine *m)
{
	if (m->pool[0] == '\0' || m->provider[0] == '\0')
		world_fail(tx->w, "I22: a machine of no pool or provider");
	add_fact(tx, m->node, m->gen)->u.fact.is.machine = true;
}

void journal_put_buyer(struct journal_tx *tx, const char *node, uint64_t gen, uint64_t job)
{
	if (job == 0)
		world_fail(tx->w, "I22: %s was bought for no job", node);
	add_fact(tx, node, gen)->u.fact.is.buyer = true;
}

void journal_put_job_said(struct journal_tx *tx, int64_t at_ms, uint64_t job, const struct payer *p)
{
	(void)at_ms;
	if (job == 0 || p->account[0] == '\0')
		world_fail(tx->w, "I22: a job that nobody pays for");
}

static void add_hold(struct journal_tx *tx, enum effect_kind kind, const struct journal_hold *h)
{
	struct sim_hold *x = &add(tx, kind, h->node)->u.hold;

	*x = (struct sim_hold){
		.gen = h->gen, .job = h->job, .h = h->hold, .s = sim_spender_of(&h->spender)};
	(void)snprintf(x->node, sizeof(x->node), "%.23s", h->node);
}

void journal_put_hold(struct journal_tx *tx, const struct journal_hold *h)
{
	add_hold(tx, PUT_HOLD, h);
	SIM_TRACE(tx->w, "  hold %s/%llu job %llu kind %d: %lld from %lld until %lld", h->node,
		  (unsigned long long)h->gen, (unsigned long long)h->job, (int)h->hold.kind,
		  (long long)h->hold.rate_nano_h, (long long)h->hold.from_ms,
		  (long long)h->hold.until_ms);
}

void journal_del_hold(struct journal_tx *tx, const struct journal_hold *h)
{
	add_hold(tx, DEL_HOLD, h);
	SIM_TRACE(tx->w, "  hold %s/%llu job %llu kind %d ends", h->node,
		  (unsigned long long)h->gen, (unsigned long long)h->job, (int)h->hold.kind);
}

void journal_put_spent(struct journal_tx *tx, const struct journal_spent *s)
{
	struct sim_day *d = &add(tx, PUT_DAY, "")->u.day;

	memset(d, 0, sizeof(*d));
	SIM_TRACE(tx->w, "  spent %s%s: %lld", s->spender.machine ? "machine " : s->spender.account,
		  s->spender.pool, (long long)s->nano);
	*d = (struct sim_day){.day = s->day, .nano = s->nano, .s = sim_spender_of(&s->spender)};
}

void journal_del_spent(struct journal_tx *tx, int64_t day)
{
	(void)tx;
	(void)day; /* no story is so long */
}

void journal_put_budget(struct journal_tx *tx, const struct journal_budget *b)
{
	struct sim_came_to *x = &add(tx, PUT_BUDGET, "")->u.came;

	memset(x, 0, sizeof(*x));
	(void)snprintf(x->budget, sizeof(x->budget), "%.15s", b->budget);
	(void)snprintf(x->value, sizeof(x->value), "%.15s", b->value);
	x->begin_ms = b->begin_ms;
	x->end_ms = b->end_ms;
	memcpy(x->since_ms, b->since_ms, sizeof(x->since_ms));
	x->amount = b->amount;
	x->added = b->added;
	x->at_ms = b->at_ms;
	SIM_TRACE(tx->w, "  budget %s/%s: requeues since %lld, kills since %lld", b->budget,
		  b->value, (long long)b->since_ms[BUDGET_REQUEUES],
		  (long long)b->since_ms[BUDGET_KILLS]);
}

void journal_put_budget_steps(struct journal_tx *tx, const struct journal_budget *b)
{
	struct sim_came_to *x = &add(tx, PUT_STEPS, "")->u.came;

	memset(x, 0, sizeof(*x));
	(void)snprintf(x->budget, sizeof(x->budget), "%.15s", b->budget);
	(void)snprintf(x->value, sizeof(x->value), "%.15s", b->value);
	x->begin_ms = b->begin_ms;
	memcpy(x->since_ms, b->since_ms, sizeof(x->since_ms));
}

void journal_put_budget_end(struct journal_tx *tx, const struct journal_budget *b)
{
	(void)tx;
	(void)b; /* no story is so long */
}

void journal_del_budgets(struct journal_tx *tx, int64_t end_ms)
{
	(void)tx;
	(void)end_ms; /* no story is so long */
}

void journal_put_override(struct journal_tx *tx, const struct journal_override *o)
{
	struct sim_override *x = &add(tx, PUT_OVERRIDE, "")->u.override;

	memset(x, 0, sizeof(*x));
	*x = (struct sim_override){.id = o->id,
				   .set = o->set,
				   .nano = o->nano,
				   .made_ms = o->made_ms,
				   .until_ms = o->until_ms};
	(void)snprintf(x->budget, sizeof(x->budget), "%.15s", o->budget);
	(void)snprintf(x->value, sizeof(x->value), "%.15s", o->value);
}

void journal_put_alert(struct journal_tx *tx, const struct alert *a)
{
	add(tx, PUT_ALERT, a->budget)->u.alert = *a;
	SIM_TRACE(tx->w, "  alert %lld: budget %s %s: %s %u", (long long)a->seq, a->budget,
		  a->value, alert_kind_str(a->kind), (unsigned)a->percent);
}

void journal_del_alert(struct journal_tx *tx, int64_t seq)
{
	add(tx, DEL_ALERT, "")->id = (uint64_t)seq;
}

void journal_put_alert_message(struct journal_tx *tx, const struct alert_message *m)
{
	struct effect *f = add(tx, PUT_MESSAGE, m->to);

	f->u.message = mem_zalloc(sizeof(*f->u.message));
	*f->u.message = sim_message_of(tx->w, m);
	SIM_TRACE(tx->w, "  message %lld to %s: %s, %u attempts", (long long)m->seq, m->to,
		  alert_state_str(m->state), (unsigned)m->attempts);
}

void journal_del_alert_message(struct journal_tx *tx, int64_t seq)
{
	add(tx, DEL_MESSAGE, "")->id = (uint64_t)seq;
}

/* Those that name what may be asked for twice at once: two generations of one node, and the fabric
 * of a unit, by two creates in it or by two sections of one account. */
static bool may_be_twice(const struct world *w, const struct journal_audit *a)
{
	return strcmp(a->verb, "delete-again") == 0 ||
	       (w->set.units && strncmp(a->verb, "fabric-", 7) == 0);
}

void journal_put_audit(struct journal_tx *tx, const struct journal_audit *a)
{
	bool deed = strcmp(a->verb, "answered") != 0 && strcmp(a->target, "claims") != 0 &&
		    strcmp(a->target, "burstd") != 0 && strcmp(a->target, "secrets") != 0 &&
		    strcmp(a->target, "vouchers") != 0; /* not what happened to us */

	if (deed)
		*add(tx, PUT_AUDIT, a->target) =
			(struct effect){.kind = PUT_AUDIT,
					.id = sim_audit_key(a),
					.value = may_be_twice(tx->w, a)           ? 1
						 : strcmp(a->verb, "unsent") == 0 ? 2
										  : 0};
	if (a->actor[0] == '\0' || a->object[0] == '\0' || a->reason[0] == '\0')
		world_fail(tx->w, "I28: a record does not say who, what and why");
	SIM_TRACE(tx->w, "  audit %s: %s %s %s %s: %s", a->actor, a->verb, a->target, a->object,
		  a->request, a->reason);
}

void journal_put_number(struct journal_tx *tx, const char *key, int64_t value)
{
	add(tx, PUT_NUMBER, key)->value = value;
}

void journal_put_refusal(struct journal_tx *tx, const struct journal_refusal *r)
{
	struct effect *f = add(tx, PUT_REFUSAL, "");

	f->id = r->job;
	f->u.refusal = r->r;
}

void journal_del_refusal(struct journal_tx *tx, uint64_t job)
{
	add(tx, DEL_REFUSAL, "")->id = job;
}

void journal_put_pool(struct journal_tx *tx, const struct journal_pool *p)
{
	add(tx, PUT_POOL, p->name)->u.pool = *p;
}

void journal_put_roll(struct journal_tx *tx, const struct journal_roll *x)
{
	struct effect *f = add(tx, PUT_ROLL, "");

	f->u.roll = (struct sim_roll){.r = x->r};
	(void)snprintf(f->u.roll.pool, sizeof(f->u.roll.pool), "%s", x->pool);
	(void)snprintf(f->u.roll.offer, sizeof(f->u.roll.offer), "%s", x->offer);
}

void journal_put_rescue(struct journal_tx *tx, const struct journal_rescue *r)
{
	struct effect *f = add(tx, PUT_RESCUE, "");

	f->id = r->job;
	f->u.rescue = *r;
}

void journal_del_rescue(struct journal_tx *tx, uint64_t job)
{
	add(tx, DEL_RESCUE, "")->id = job;
}

void journal_put_ending(struct journal_tx *tx, const struct journal_ending *x)
{
	struct effect *f = add(tx, PUT_ENDING, "");

	f->id = x->job;
	f->u.ending = *x;
	SIM_TRACE(tx->w, "  job %llu ends by a budget: order %d", (unsigned long long)x->job,
		  (int)x->ordered);
}

void journal_del_ending(struct journal_tx *tx, uint64_t job)
{
	add(tx, DEL_ENDING, "")->id = job;
}

void journal_put_drained(struct journal_tx *tx, const char *node, uint64_t gen)
{
	add(tx, PUT_DRAINED, node)->id = gen;
}

void journal_del_drained(struct journal_tx *tx, const char *node, uint64_t gen)
{
	add(tx, DEL_DRAINED, node)->id = gen;
}

void journal_put_claim(struct journal_tx *tx, const struct claim *c)
{
	struct effect *f = add(tx, PUT_CLAIM, c->node);

	f->id = c->gen;
	f->u.claim = *c;
}

void journal_del_claim(struct journal_tx *tx, const char *node, uint64_t gen)
{
	add(tx, DEL_CLAIM, node)->id = gen;
}

void journal_put_voucher(struct journal_tx *tx, const struct voucher *v)
{
	sim_vouchers_copy(&add(tx, PUT_VOUCHER, v->node)->u.voucher, v);
}

void journal_del_voucher(struct journal_tx *tx, const char *node, uint64_t gen)
{
	add(tx, DEL_VOUCHER, node)->id = gen;
}

void journal_put_price(struct journal_tx *tx, const struct price *p)
{
	add(tx, PUT_PRICE, "")->u.quote = sim_quote_of(p);
	SIM_TRACE(tx->w, "  price %s %s %s %s: %lld", price_source_str(p->source), p->type,
		  p->region, provider_market_str(p->market), (long long)p->nano_h);
}

void journal_abandon(struct journal_tx *tx)
{
	struct sim_txs *all = sim_journal_txs(tx->j);

	all->open--;
	for (size_t i = 0; i < tx->n; i++)
		if (tx->effects[i].kind == PUT_MESSAGE)
			free(tx->effects[i].u.message);
	tx->next = all->spare;
	all->spare = tx;
}

void sim_txs_free(struct world *w, struct sim_txs *all)
{
	if (all->open != 0)
		world_fail(w, "a transaction was left open");
	while (all->spare != NULL) {
		struct journal_tx *tx = all->spare;

		all->spare = tx->next;
		free(tx->effects);
		free(tx);
	}
}
