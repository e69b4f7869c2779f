/* What a journal holds as text, a line for each row, in order: so that two are compared. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/sim_journal.h"
#include "base/mem.h"
#include "base/str.h"
#include "crash.h"
#include "store/journal_price.h"

enum { DUMP_MAX = 1 << 20, LINES_MAX = 4096 };

struct dump {
	char *lines[LINES_MAX];
	size_t n;
};

static void add(struct dump *d, struct str *s)
{
	if (d->n == LINES_MAX)
		abort();
	d->lines[d->n++] = str_take(s);
}

static int dump_node(void *ctx, const struct node *n, const char *pool, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "node %s/%" PRIu64 " %s %s %s %d %d %u %u %" PRIu64 " %u %u %s %s", n->name,
		 n->gen, pool, node_state_str(n->state), node_reason_str(n->reason), n->release,
		 n->accepted, n->misses, n->attempts, n->batch, n->group, n->slot, n->instance,
		 n->addr);
	str_addf(&s,
		 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
		 " %" PRId64 " %" PRIu64 " %s '%s' %d",
		 n->rate_nano_h, n->wanted_ms, n->since_ms, n->sent_ms, n->missed_ms, n->wake_ms,
		 n->start_ms, n->end_ms, n->job, n->stale_addr, n->image, n->canary);
	add(ctx, &s);
	return 0;
}

static int dump_batch(void *ctx, const struct journal_batch *b, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "batch %" PRIu64 " %s %s %" PRIu64 " %" PRId64 " '%s'", b->id, b->token,
		 b->pool, b->body_hash, b->at_ms, b->image);
	add(ctx, &s);
	return 0;
}

static int dump_spent(void *ctx, const char *pool, int64_t cost, struct err *e)
{
	struct str s;

	(void)e;
	if (cost == 0)
		return 0;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "spent %s %" PRId64, pool, cost);
	add(ctx, &s);
	return 0;
}

static int dump_refusal(void *ctx, const struct journal_refusal *r, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "refusal %" PRIu64 " %u %" PRId64 " %" PRId64 " %" PRId64 " %d", r->job,
		 r->r.count, r->r.last_ms, r->r.told_wall_ms, r->r.had_wall_ms, r->r.money);
	add(ctx, &s);
	return 0;
}

static int dump_rescue(void *ctx, const struct journal_rescue *r, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "rescue %" PRIu64 " %s %s/%" PRIu64 " %" PRId64 " %s", r->job, r->id, r->node,
		 r->gen, r->at_ms, r->why);
	add(ctx, &s);
	return 0;
}

static int dump_drained(void *ctx, const char *node, uint64_t gen, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "drained %s/%" PRIu64, node, gen);
	add(ctx, &s);
	return 0;
}

static int dump_ending(void *ctx, const struct journal_ending *x, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "ending %" PRIu64 " %s %s %" PRId64 " %" PRId64 " %d %d %d %s/%s %s", x->job,
		 x->id, x->pool, x->first_ms, x->at_ms, x->tried, (int)x->ordered, (int)x->refused,
		 x->budget, x->value, x->period);
	for (int i = BUDGET_REQUEUES; i < BUDGET_NSTEPS; i++)
		str_addf(&s, " %d%d%d %" PRId64, x->at[i].told, x->at[i].signalled,
			 x->at[i].crowded, x->at[i].put_off_ms);
	add(ctx, &s);
	return 0;
}

static int dump_pool(void *ctx, const struct journal_pool *p, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "pool %s %d %u %" PRId64 " %" PRId64 " %s %" PRId64, p->name, p->paused,
		 p->breaker.waves, p->breaker.last_ms, p->breaker.until_ms, p->by, p->paused_ms);
	add(ctx, &s);
	return 0;
}

static int dump_roll(void *ctx, const struct journal_roll *x, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "roll %s/%s %s '%s' '%s' %u %" PRId64 " %s %s", x->pool, x->offer,
		 roll_stage_str(x->r.stage), x->r.old, x->r.next, x->r.passed, x->r.since_ms,
		 x->r.why, x->r.by);
	add(ctx, &s);
	return 0;
}

static int dump_claim(void *ctx, const struct claim *c, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "claim %s %s/%" PRIu64 " %s %s %u %d%d%d %s %s %s %" PRId64, c->id, c->node,
		 c->gen, claim_state_str(c->state), claim_reason_str(c->reason), c->alarms,
		 c->attested, c->weak, c->bound, c->addr, c->instance, c->serial, c->version);
	for (size_t i = 0; i < sizeof(c->spki); i++)
		str_addf(&s, "%s%02x", i == 0 ? " " : "", c->spki[i]);
	str_addf(&s, " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, c->issued_ms, c->expires_ms,
		 c->since_ms, c->released_ms);
	add(ctx, &s);
	return 0;
}

static int dump_voucher(void *ctx, struct voucher *v, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "voucher %s/%" PRIu64 " %s %s %s %" PRId64 " %u %s", v->node, v->gen,
		 voucher_state_str(v->state), v->token != NULL ? secret_text(v->token) : "",
		 v->accessor, v->version, v->gpus, v->gpu_type);
	str_addf(&s, " %" PRId64 " %" PRId64 " %" PRId64, v->made_ms, v->ends_ms, v->since_ms);
	add(ctx, &s);
	return 0;
}

static int dump_price(void *ctx, const struct price *p, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "price %s %s %s %s %s %s %s %" PRId64 " %" PRId64 " %" PRId64, p->provider,
		 p->region, p->zone, p->type, provider_market_str(p->market),
		 price_source_str(p->source), p->currency, p->nano_h, p->valid_from_ms,
		 p->observed_ms);
	add(ctx, &s);
	return 0;
}

static void add_spender(struct str *s, const struct budget_spender *o)
{
	str_addf(s, " %d %s %s %s %s %s %s %s %d", o->machine, o->account, o->user, o->qos,
		 o->wckey, o->partition, o->pool, o->provider, (int)o->market);
}

static int dump_hold(void *ctx, const struct journal_hold *h, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "hold %s/%" PRIu64 " %" PRIu64 " %d %" PRId64 " %" PRId64 " %" PRId64, h->node,
		 h->gen, h->job, (int)h->hold.kind, h->hold.rate_nano_h, h->hold.from_ms,
		 h->hold.until_ms);
	add_spender(&s, &h->spender);
	add(ctx, &s);
	return 0;
}

static int dump_day(void *ctx, const struct journal_spent *d, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "day %" PRId64 " %" PRId64, d->day, d->nano);
	add_spender(&s, &d->spender);
	add(ctx, &s);
	return 0;
}

/* What the simulator keeps of it: its stories are of one month. */
static int dump_budget(void *ctx, const struct journal_budget *b, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "budget %s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, b->budget,
		 b->value, b->begin_ms, b->amount, b->added, b->at_ms);
	for (int step = 0; step < BUDGET_NSTEPS; step++)
		str_addf(&s, " %" PRId64, b->since_ms[step]);
	add(ctx, &s);
	return 0;
}

static int dump_override(void *ctx, const struct journal_override *o, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "override %" PRId64 " %s %s %d %" PRId64 " %" PRId64 " %" PRId64, o->id,
		 o->budget, o->value, o->set, o->nano, o->made_ms, o->until_ms);
	add(ctx, &s);
	return 0;
}

static int dump_alert(void *ctx, const struct alert *a, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "alert %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %s %u %s %s %s", a->seq,
		 a->at_ms, a->until_ms, a->ends_ms, alert_kind_str(a->kind), (unsigned)a->percent,
		 a->budget, a->value, a->period);
	str_addf(&s, " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, a->amount,
		 a->spent, a->accrued, a->held, a->beyond);
	add(ctx, &s);
	return 0;
}

static int dump_message(void *ctx, struct alert_message *m, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "message %" PRId64 " %s %s %u %" PRId64 " %" PRId64 " %s", m->seq, m->to,
		 alert_state_str(m->state), (unsigned)m->attempts, m->made_ms, m->tried_ms,
		 m->error);
	for (size_t i = 0; i < m->n; i++)
		str_addf(&s, " %" PRId64, m->alerts[i]);
	add(ctx, &s);
	return 0;
}

static void dump_number(struct dump *d, int64_t v)
{
	struct str s;

	str_init(&s, DUMP_MAX);
	str_addf(&s, "number %" PRId64, v);
	add(d, &s);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int64_t __real_journal_last_event(struct journal *j);

int crash_dump(struct journal *j, crash_load_fn load, crash_number_fn number, char **out,
	       struct err *e)
{
	static const char *const keys[] = {"last_batch", "gen_floor", "cluster_uuid"};
	static struct dump d;
	const struct journal_visitor v = {.node = dump_node,
					  .batch = dump_batch,
					  .spent = dump_spent,
					  .refusal = dump_refusal,
					  .rescue = dump_rescue,
					  .drained = dump_drained,
					  .ending = dump_ending,
					  .pool = dump_pool,
					  .roll = dump_roll,
					  .claim = dump_claim,
					  .voucher = dump_voucher,
					  .price = dump_price,
					  .hold = dump_hold,
					  .day = dump_day,
					  .budget = dump_budget,
					  .override = dump_override,
					  .alert = dump_alert,
					  .alert_message = dump_message,
					  .ctx = &d};
	int rc = load(j, &v, e);
	struct str s;

	for (size_t i = 0; rc == 0 && i < sizeof(keys) / sizeof(keys[0]); i++) {
		int64_t n;

		rc = number(j, keys[i], &n, e);
		dump_number(&d, n);
	}
	if (rc == 0)
		dump_number(&d, load == shadow_load ? shadow_last_event(j)
						    : __real_journal_last_event(j));
	qsort(d.lines, d.n, sizeof(d.lines[0]), by_text);
	str_init(&s, DUMP_MAX);
	for (size_t i = 0; i < d.n; i++) {
		str_addf(&s, "%s\n", d.lines[i]);
		free(d.lines[i]);
	}
	d.n = 0;
	*out = str_take(&s);
	return rc;
}
