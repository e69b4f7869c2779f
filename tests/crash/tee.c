/* Every transaction goes into the real journal and, when that is durable, into the simulator's.
 * After a restart they must hold the same; a transaction that the crash cut short is in the real
 * one whole, or not at all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/sim_journal.h"
#include "base/mem.h"
#include "base/str.h"
#include "crash.h"
#include "store/journal_price.h"

enum { DUMP_MAX = 1 << 20, LINES_MAX = 4096 };

struct tee_tx {
	struct journal_tx *real, *shadow;
};

/* What the crash cut short. */
struct cut_tx {
	struct journal_tx *tx;
	int64_t at; /* 0: nothing */
};

static struct journal *real;
static struct cut_tx pending;

#define WRAP(type, name, ...)                                                                      \
	type __real_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__)

struct journal *tee_real(void)
{
	return real;
}

static struct tee_tx *tee(struct journal_tx *tx)
{
	return (struct tee_tx *)(void *)tx;
}

/* --- what they hold, as text -------------------------------------------------------------------
 */

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
		 " %" PRId64 " %" PRIu64 " %s",
		 n->rate_nano_h, n->wanted_ms, n->since_ms, n->sent_ms, n->missed_ms, n->wake_ms,
		 n->start_ms, n->end_ms, n->job, n->stale_addr);
	add(ctx, &s);
	return 0;
}

static int dump_batch(void *ctx, const struct journal_batch *b, struct err *e)
{
	struct str s;

	(void)e;
	str_init(&s, DUMP_MAX);
	str_addf(&s, "batch %" PRIu64 " %s %s %" PRIu64 " %" PRId64, b->id, b->token, b->pool,
		 b->body_hash, b->at_ms);
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

typedef int (*load_fn)(struct journal *j, const struct journal_visitor *v, struct err *e);
typedef int (*number_fn)(struct journal *j, const char *key, int64_t *out, struct err *e);

int __real_journal_load(struct journal *j, const struct journal_visitor *v, struct err *e);
int __real_journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e);
int64_t __real_journal_last_event(struct journal *j);

static int dump(struct journal *j, load_fn load, number_fn number, char **out, struct err *e)
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

static char *dump_shadow(const struct crash *c)
{
	char *text;

	(void)dump(c->w.journal, shadow_load, shadow_get_number, &text, NULL);
	return text;
}

/* The first line that only one of them has. */
static void differ(struct crash *c, const char *what, const char *a, const char *b)
{
	while (*a != '\0' && *b != '\0') {
		size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");

		if (n != m || strncmp(a, b, n) != 0)
			break;
		a += n + 1;
		b += m + 1;
	}
	world_fail(&c->w, "%s: committed: %.*s; on the disk: %.*s", what, (int)strcspn(a, "\n"), a,
		   (int)strcspn(b, "\n"), b);
}

/* --- after a crash ---------------------------------------------------------------------------- */

/* When it happened is when the crash did. */
static void apply(struct crash *c)
{
	int64_t now = c->w.now;

	c->w.now = pending.at;
	(void)shadow_commit(pending.tx, NULL);
	c->w.now = now;
}

static void settle(struct crash *c, const char *found)
{
	char *want = dump_shadow(c);
	bool same = strcmp(want, found) == 0;

	if (pending.at == 0) {
		if (!same)
			differ(c, "durability", want, found);
	} else if (same) {
		shadow_abandon(pending.tx);
	} else {
		apply(c);
		free(want);
		want = dump_shadow(c);
		if (strcmp(want, found) != 0)
			differ(c, "atomicity or durability", want, found);
	}
	free(want);
	pending = (struct cut_tx){0};
}

/* No death leaves a gap in the audit log (I28). */
static void check_chain(struct crash *c)
{
	struct journal_chain chain = {.begun = false};
	struct err e = {0};

	do {
		if (journal_audit_check(real, &chain, &e) != 0)
			world_fail(&c->w, "I28: the audit log cannot be read: %s", e.msg);
	} while (chain.more && chain.bad == 0);
	if (chain.bad != 0)
		world_fail(&c->w, "I28: audit record %lld: %s", (long long)chain.bad, chain.what);
}

int tee_open(struct crash *c, struct err *e)
{
	bool existed;
	char *found;
	int rc;

	if (journal_open(&real, CRASH_JOURNAL, &existed, e) != 0)
		return -1;
	if (c->dead)
		return 0;
	rc = dump(real, __real_journal_load, __real_journal_get_number, &found, e);
	if (rc == 0)
		settle(c, found);
	check_chain(c);
	free(found);
	return rc;
}

void tee_close(void)
{
	journal_close(real);
	real = NULL;
}

void tee_compare(struct crash *c)
{
	char *want = dump_shadow(c), *found = NULL;
	struct err e;

	if (dump(real, __real_journal_load, __real_journal_get_number, &found, &e) != 0)
		world_fail(&c->w, "the journal cannot be read: %s", e.msg);
	else if (strcmp(want, found) != 0)
		differ(c, "at the end", want, found);
	check_chain(c);
	if (journal_audit_head(real)->seq == 0)
		world_fail(&c->w, "I28: nothing is on record");
	free(want);
	free(found);
}

/* --- what burstd calls ------------------------------------------------------------------------ */

WRAP(struct journal_tx *, journal_begin, struct journal *j)
{
	struct tee_tx *t = mem_zalloc(sizeof(*t));

	(void)j;
	t->real = __real_journal_begin(real);
	t->shadow = shadow_begin(crash.w.journal);
	return (struct journal_tx *)(void *)t;
}

#define BOTH(name, params, tail)                                                                   \
	void __real_journal_##name params;                                                         \
	void __wrap_journal_##name params;                                                         \
	void __wrap_journal_##name params                                                          \
	{                                                                                          \
		struct tee_tx *t = tee(tx);                                                        \
                                                                                                   \
		tx = t->real;                                                                      \
		__real_journal_##name tail;                                                        \
		tx = t->shadow;                                                                    \
		if (!crash.dead)                                                                   \
			shadow_##name tail;                                                        \
	}
BOTH(put_node, (struct journal_tx * tx, const struct node *n, const char *pool), (tx, n, pool))
BOTH(del_node, (struct journal_tx * tx, const char *name, uint64_t gen), (tx, name, gen))
BOTH(put_batch, (struct journal_tx * tx, const struct journal_batch *b), (tx, b))
BOTH(del_batch, (struct journal_tx * tx, uint64_t id), (tx, id))
BOTH(put_event,
     (struct journal_tx * tx, int64_t at_ms, const char *node, uint64_t gen, const char *type,
      const char *detail),
     (tx, at_ms, node, gen, type, detail))
BOTH(put_audit, (struct journal_tx * tx, const struct journal_audit *a), (tx, a))
BOTH(put_usage, (struct journal_tx * tx, const struct journal_usage *u), (tx, u))
BOTH(put_life, (struct journal_tx * tx, const struct journal_life *l), (tx, l))
BOTH(put_machine, (struct journal_tx * tx, const struct journal_machine *m), (tx, m))
BOTH(put_buyer, (struct journal_tx * tx, const char *node, uint64_t gen, uint64_t job),
     (tx, node, gen, job))
BOTH(put_job_said, (struct journal_tx * tx, int64_t at_ms, uint64_t job, const struct payer *p),
     (tx, at_ms, job, p))
BOTH(put_hold, (struct journal_tx * tx, const struct journal_hold *h), (tx, h))
BOTH(del_hold, (struct journal_tx * tx, const struct journal_hold *h), (tx, h))
BOTH(put_spent, (struct journal_tx * tx, const struct journal_spent *s), (tx, s))
BOTH(del_spent, (struct journal_tx * tx, int64_t day), (tx, day))
BOTH(put_budget, (struct journal_tx * tx, const struct journal_budget *b), (tx, b))
BOTH(put_budget_steps, (struct journal_tx * tx, const struct journal_budget *b), (tx, b))
BOTH(put_budget_end, (struct journal_tx * tx, const struct journal_budget *b), (tx, b))
BOTH(del_budgets, (struct journal_tx * tx, int64_t end_ms), (tx, end_ms))
BOTH(put_override, (struct journal_tx * tx, const struct journal_override *o), (tx, o))
BOTH(put_alert, (struct journal_tx * tx, const struct alert *a), (tx, a))
BOTH(del_alert, (struct journal_tx * tx, int64_t seq), (tx, seq))
BOTH(put_alert_message, (struct journal_tx * tx, const struct alert_message *m), (tx, m))
BOTH(del_alert_message, (struct journal_tx * tx, int64_t seq), (tx, seq))
BOTH(put_number, (struct journal_tx * tx, const char *key, int64_t value), (tx, key, value))
BOTH(put_refusal, (struct journal_tx * tx, const struct journal_refusal *r), (tx, r))
BOTH(del_refusal, (struct journal_tx * tx, uint64_t job), (tx, job))
BOTH(put_rescue, (struct journal_tx * tx, const struct journal_rescue *r), (tx, r))
BOTH(del_rescue, (struct journal_tx * tx, uint64_t job), (tx, job))
BOTH(put_drained, (struct journal_tx * tx, const char *node, uint64_t gen), (tx, node, gen))
BOTH(del_drained, (struct journal_tx * tx, const char *node, uint64_t gen), (tx, node, gen))
BOTH(put_ending, (struct journal_tx * tx, const struct journal_ending *x), (tx, x))
BOTH(del_ending, (struct journal_tx * tx, uint64_t job), (tx, job))
BOTH(put_claim, (struct journal_tx * tx, const struct claim *c), (tx, c))
BOTH(del_claim, (struct journal_tx * tx, const char *node, uint64_t gen), (tx, node, gen))
BOTH(put_voucher, (struct journal_tx * tx, const struct voucher *v), (tx, v))
BOTH(del_voucher, (struct journal_tx * tx, const char *node, uint64_t gen), (tx, node, gen))
BOTH(put_pool, (struct journal_tx * tx, const struct journal_pool *p), (tx, p))
BOTH(put_price, (struct journal_tx * tx, const struct price *p), (tx, p))
#undef BOTH

void __real_journal_abandon(struct journal_tx *tx);
void __wrap_journal_abandon(struct journal_tx *tx);
void __wrap_journal_abandon(struct journal_tx *tx)
{
	if (tx == NULL)
		return;
	__real_journal_abandon(tee(tx)->real);
	shadow_abandon(tee(tx)->shadow);
	free(tx);
}

/* The dead are told that all went well: nothing that they do now is seen. */
WRAP(int, journal_commit, struct journal_tx *tx, struct err *e)
{
	struct tee_tx t = *tee(tx);
	int rc;

	if (crash.dead) {
		__wrap_journal_abandon(tx);
		return 0;
	}
	free(tx);
	rc = __real_journal_commit(t.real, e);
	if (crash.dead) {
		pending = (struct cut_tx){.tx = t.shadow, .at = crash.w.now};
		return 0;
	}
	crash.commits++;
	if (rc == 0)
		return shadow_commit(t.shadow, e);
	world_fail(&crash.w, "a commit failed: %s", e != NULL ? e->msg : "");
	shadow_abandon(t.shadow);
	return rc;
}

int __wrap_journal_load(struct journal *j, const struct journal_visitor *v, struct err *e);
int __wrap_journal_load(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	(void)j;
	return __real_journal_load(real, v, e);
}

int __wrap_journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e);
int __wrap_journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e)
{
	(void)j;
	return __real_journal_get_number(real, key, out, e);
}

int __real_journal_usage_of(struct journal *j, const struct journal_usage_key *k,
			    journal_usage_fn fn, void *ctx, struct err *e);
int __wrap_journal_usage_of(struct journal *j, const struct journal_usage_key *k,
			    journal_usage_fn fn, void *ctx, struct err *e);
int __wrap_journal_usage_of(struct journal *j, const struct journal_usage_key *k,
			    journal_usage_fn fn, void *ctx, struct err *e)
{
	(void)j;
	return __real_journal_usage_of(real, k, fn, ctx, e);
}

int64_t __wrap_journal_last_event(struct journal *j);
int64_t __wrap_journal_last_event(struct journal *j)
{
	(void)j;
	return __real_journal_last_event(real);
}

WRAP(struct journal_room, journal_look, struct journal *j)
{
	(void)j;
	return __real_journal_look(real);
}
