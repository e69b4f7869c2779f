#include "ledger/charges.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ledger/input.h"
#include "ledger/lifetimes.h"
#include "store/ledger_postings.h"

struct lines { /* the postings of one instance in the days that are asked for */
	struct ledger_posting *v;
	size_t n, cap;
	int64_t from_day, to_day;
};

struct owner { /* of some of them */
	int64_t id;
	uint64_t number;         /* of the attempt, among those of its job: 1 is the first */
	struct ledger_attempt a; /* texts are its own */
};

struct writing {
	struct ledger *l;
	struct ledger_lifetime *t;
	struct input in;
	struct lines lines;
	struct owner *owners;
	size_t nowners;
	char *cluster, *currency, *offer;
	source_fn fn;
	void *ctx;
};

/* --- attempts ----------------------------------------------------------------------------------
 */

static int take_attempt(void *ctx, const struct ledger_attempt *a, struct err *e)
{
	struct owner *o = ctx;

	(void)e;
	o->a = *a;
	o->a.job_id = mem_strdup(a->job_id);
	o->a.name = mem_strdup(a->name);
	o->a.account = mem_strdup(a->account);
	o->a.user = mem_strdup(a->user);
	o->a.partition = mem_strdup(a->partition);
	o->a.qos = mem_strdup(a->qos);
	o->a.wckey = mem_strdup(a->wckey);
	return 0;
}

static int count_attempt(void *ctx, const struct ledger_attempt *a, struct err *e)
{
	struct owner *o = ctx;

	(void)e;
	if (strcmp(a->source, LEDGER_SAID) != 0 && a->start_s <= o->a.start_s)
		o->number++;
	return 0;
}

static void owner_fini(struct owner *o)
{
	const char *const texts[] = {o->a.job_id,    o->a.name, o->a.account, o->a.user,
				     o->a.partition, o->a.qos,  o->a.wckey};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free((char *)(uintptr_t)texts[i]);
}

static void drop_owners(struct writing *w)
{
	for (size_t i = 0; i < w->nowners; i++)
		owner_fini(&w->owners[i]);
	free(w->owners);
	w->owners = NULL;
	w->nowners = 0;
}

static int by_id(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static const struct owner *owner_of(const struct writing *w, int64_t attempt)
{
	const struct owner key = {.id = attempt};

	if (attempt == 0 || w->nowners == 0)
		return NULL;
	return bsearch(&key, w->owners, w->nowners, sizeof(key), by_id);
}

/* Each attempt once, in order. */
static int load_owners(struct writing *w, struct err *e)
{
	size_t n = 0;

	w->owners = mem_zalloc((w->lines.n + 1) * sizeof(*w->owners));
	for (size_t i = 0; i < w->lines.n; i++)
		if (w->lines.v[i].attempt != 0)
			w->owners[n++].id = w->lines.v[i].attempt;
	if (n > 0)
		qsort(w->owners, n, sizeof(*w->owners), by_id);
	for (size_t i = 0; i < n; i++)
		if (w->nowners == 0 || w->owners[w->nowners - 1].id != w->owners[i].id)
			w->owners[w->nowners++].id = w->owners[i].id;
	n = w->nowners;
	for (w->nowners = 0; w->nowners < n;) {
		struct owner *o = &w->owners[w->nowners];

		if (ledger_attempt(w->l, o->id, take_attempt, o, e) < 0)
			return -1;
		w->nowners++;
		if (ledger_attempts_of(w->l, o->a.job, count_attempt, o, e) < 0)
			return -1;
	}
	return 0;
}

/* --- lines -------------------------------------------------------------------------------------
 */

/* Such as that of an attempt which ended when it began: it has no time. */
static bool is_nothing(const struct ledger_posting *p)
{
	return p->nano == 0 && p->gpu_s == 0 && p->cpu_s == 0 && p->from_s == p->to_s;
}

static int take_posting(void *ctx, const struct ledger_posting *p, struct err *e)
{
	struct lines *x = ctx;

	(void)e;
	if (p->day < x->from_day || p->day >= x->to_day || is_nothing(p))
		return 0;
	if (x->n == x->cap) {
		x->cap = x->cap == 0 ? 64 : 2 * x->cap;
		x->v = mem_realloc(x->v, x->cap * sizeof(*x->v));
	}
	x->v[x->n++] = *p;
	return 0;
}

static int take_offer(void *ctx, const struct fact_machine *m, struct err *e)
{
	char **out = ctx;

	(void)e;
	free(*out);
	*out = mem_strdup(m->offer);
	return 0;
}

static const char *text(const char *t)
{
	return t != NULL ? t : "";
}

/* What it says of the machine and its place. */
static void describe(const struct writing *w, const struct ledger_posting *p, struct charge *c)
{
	const struct input *in = &w->in;

	c->cluster = w->cluster;
	c->node = w->t->node;
	c->gen = w->t->gen;
	c->instance = w->t->instance;
	c->pool = in->pool;
	c->provider = in->provider;
	c->offer = text(w->offer);
	c->type = in->type;
	c->region = in->region;
	c->zone = in->zone;
	if (provider_market_parse(in->market, &c->market) < 0)
		c->market = PROVIDER_ON_DEMAND;
	c->currency = in->currency;
	c->gpus = (uint32_t)in->in.has.gpus;
	c->cpus = (uint32_t)in->in.has.cpus;
	c->memory_mb = in->in.has.memory;
	c->rate_nano_h = prices_at(&in->prices, p->from_s);
	c->list_rate_nano_h = prices_at(&in->list, p->from_s);
	c->estimated = (w->t->flags & LEDGER_ESTIMATED) != 0;
}

static void name_owner(const struct owner *o, struct charge *c)
{
	c->job = o->a.job;
	c->attempt = o->number;
	c->job_id = text(o->a.job_id);
	c->job_name = text(o->a.name);
	c->account = text(o->a.account);
	c->user = text(o->a.user);
	c->partition = text(o->a.partition);
	c->qos = text(o->a.qos);
	c->wckey = text(o->a.wckey);
}

static int write_line(struct writing *w, const struct ledger_posting *p, struct err *e)
{
	const struct owner *o = owner_of(w, p->attempt);
	struct charge c = {.start_s = p->from_s,
			   .end_s = p->to_s,
			   .nano = p->nano,
			   .list_nano = p->list_nano,
			   .billed_s = p->time_s,
			   .share_part = p->part,
			   .share_whole = p->whole,
			   .gpu_s = p->gpu_s,
			   .cpu_s = p->cpu_s,
			   .class = (enum allocate_class)(p->kind & LEDGER_CLASS),
			   .credit = (p->kind & LEDGER_CREDIT) != 0,
			   .owner = (p->kind & LEDGER_OWNER) == LEDGER_OF_JOB    ? ALLOCATE_JOB
				    : (p->kind & LEDGER_OWNER) == LEDGER_OF_POOL ? ALLOCATE_POOL
										 : ALLOCATE_CLUSTER,
			   .job_id = "",
			   .job_name = "",
			   .account = "",
			   .user = "",
			   .partition = "",
			   .qos = "",
			   .wckey = ""};

	if ((unsigned)c.class >= ALLOCATE_NCLASSES)
		return err_set(e, ERR_DAMAGED, "posting %lld is of no class", (long long)p->id);
	describe(w, p, &c);
	if (o != NULL)
		name_owner(o, &c);
	return w->fn(w->ctx, &c, e);
}

static int write_instance(struct writing *w, struct err *e)
{
	int rc;

	w->lines.n = 0;
	if (ledger_postings_of(w->l, w->t->id, take_posting, &w->lines, e) < 0)
		return -1;
	if (w->lines.n == 0)
		return 0;
	rc = input_load(&w->in, w->l, w->t, w->t->end_s, w->currency, e);
	if (rc == 0)
		rc = ledger_machine(w->l, w->t->node, w->t->gen, take_offer, &w->offer, e);
	if (rc == 0)
		rc = load_owners(w, e);
	for (size_t i = 0; i < w->lines.n && rc == 0; i++)
		rc = write_line(w, &w->lines.v[i], e);
	drop_owners(w);
	input_fini(&w->in);
	return rc;
}

/* --- instances ---------------------------------------------------------------------------------
 */

static int write_all(struct writing *w, struct lifetimes *t, struct err *e)
{
	while (!t->over) {
		if (lifetimes_next(t, w->l, false, e) < 0)
			return -1;
		for (size_t i = 0; i < t->n; i++) {
			w->t = &t->v[i];
			if (write_instance(w, e) < 0)
				return -1;
		}
	}
	return 0;
}

int charges_visit(struct ledger *l, int64_t from_day, int64_t to_day, source_fn fn, void *ctx,
		  struct err *e)
{
	struct writing w = {
		.l = l, .lines = {.from_day = from_day, .to_day = to_day}, .fn = fn, .ctx = ctx};
	struct lifetimes *all = mem_zalloc(sizeof(*all));
	int rc = ledger_note(l, LEDGER_CLUSTER, &w.cluster, e);

	if (rc == 0)
		rc = ledger_note(l, LEDGER_CURRENCY, &w.currency, e);
	if (rc == 0)
		rc = write_all(&w, all, e);
	lifetimes_fini(all);
	free(all);
	free(w.lines.v);
	free(w.cluster);
	free(w.currency);
	free(w.offer);
	return rc;
}
