#include "ledger/charges.h"

#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/mem.h"
#include "ledger/input.h"
#include "ledger/lifetimes.h"
#include "store/ledger_periods.h"
#include "store/ledger_postings.h"
#include "store/ledger_shown.h"

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

struct frozen { /* what lines of one instance in closed months say; texts are its own */
	struct ledger_shown *v; /* by posting */
	size_t n, cap;
};

struct closed { /* months in which there may be lines */
	int64_t month, seq;
};

struct writing {
	struct ledger *l;
	struct ledger_lifetime *t;
	struct input in;
	bool loaded; /* what is known of it now */
	struct lines lines;
	struct owner *owners;
	size_t nowners;
	struct frozen frozen;
	struct closed *closed;
	size_t nclosed, closed_cap;
	int64_t open_day;
	struct ledger_dims dims; /* of dims_id; texts are its own */
	int64_t dims_id;
	char *cluster, *currency, *offer;
	source_fn fn; /* NULL: what they say is written for ... */
	int64_t closing;
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
static bool is_nothing(const struct ledger_posting *p, bool merged)
{
	return p->nano == 0 && p->gpu_s == 0 && p->cpu_s == 0 &&
	       (p->from_s == p->to_s || (merged && p->time_s == 0));
}

static int take_posting(void *ctx, const struct ledger_posting *p, struct err *e)
{
	struct lines *x = ctx;

	(void)e;
	if (p->day < x->from_day || p->day >= x->to_day)
		return 0;
	if (x->n == x->cap) {
		x->cap = x->cap == 0 ? 64 : 2 * x->cap;
		x->v = mem_realloc(x->v, x->cap * sizeof(*x->v));
	}
	x->v[x->n++] = *p;
	return 0;
}

static bool is_of_one_line(const struct ledger_posting *a, const struct ledger_posting *b)
{
	return a->day == b->day && a->kind == b->kind && ledger_posting_compare(a, b) == 0;
}

/* A later one is what had to be added for all of them to be right. */
static void add_difference(struct ledger_posting *to, const struct ledger_posting *p)
{
	to->id = p->id;
	to->nano += p->nano;
	to->gpu_s += p->gpu_s;
	to->cpu_s += p->cpu_s;
	to->time_s += p->time_s;
	to->part += p->part;
	to->whole += p->whole;
	to->from_s = p->from_s;
	to->to_s = p->to_s;
	to->list_nano = ledger_list_add(to->list_nano, p->list_nano);
}

/* Postings become lines, each known by the last posting that is in it. */
static void merge(struct lines *x)
{
	size_t n = 0;

	for (size_t i = 0, k; i < x->n; i = k) {
		struct ledger_posting p = x->v[i];

		for (k = i + 1; k < x->n && is_of_one_line(&p, &x->v[k]); k++)
			add_difference(&p, &x->v[k]);
		if (!is_nothing(&p, k > i + 1))
			x->v[n++] = p;
	}
	x->n = n;
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

static void dims_fini(struct writing *w)
{
	const char *const texts[LEDGER_NDIMS] = {w->dims.account, w->dims.user,  w->dims.partition,
						 w->dims.qos,     w->dims.wckey, w->dims.provider,
						 w->dims.market,  w->dims.pool,  w->dims.type,
						 w->dims.currency};

	for (size_t i = 0; i < LEDGER_NDIMS; i++)
		free((char *)(uintptr_t)texts[i]);
	w->dims = (struct ledger_dims){0};
	w->dims_id = 0;
}

static int take_dims(void *ctx, const struct ledger_dims *d, struct err *e)
{
	struct ledger_dims *own = ctx;

	(void)e;
	*own = (struct ledger_dims){.account = mem_strdup(d->account),
				    .user = mem_strdup(d->user),
				    .partition = mem_strdup(d->partition),
				    .qos = mem_strdup(d->qos),
				    .wckey = mem_strdup(d->wckey),
				    .provider = mem_strdup(d->provider),
				    .market = mem_strdup(d->market),
				    .pool = mem_strdup(d->pool),
				    .type = mem_strdup(d->type),
				    .currency = mem_strdup(d->currency)};
	return 0;
}

/* Who and where is what the posting says, whatever became known of its job. */
static int name_dims(struct writing *w, int64_t dims, struct charge *c, struct err *e)
{
	if (dims != w->dims_id) {
		dims_fini(w);
		if (ledger_dims(w->l, dims, take_dims, &w->dims, e) < 0)
			return -1;
		w->dims_id = dims;
	}
	c->account = text(w->dims.account);
	c->user = text(w->dims.user);
	c->partition = text(w->dims.partition);
	c->qos = text(w->dims.qos);
	c->wckey = text(w->dims.wckey);
	c->provider = text(w->dims.provider);
	c->pool = text(w->dims.pool);
	c->type = text(w->dims.type);
	c->currency = text(w->dims.currency);
	if (provider_market_parse(text(w->dims.market), &c->market) < 0)
		c->market = PROVIDER_ON_DEMAND;
	return 0;
}

/* What is known now of the machine, its place and its job. */
static void describe(const struct writing *w, const struct ledger_posting *p, struct charge *c)
{
	const struct input *in = &w->in;
	const struct owner *o = owner_of(w, p->attempt);

	c->offer = text(w->offer);
	c->region = text(in->region);
	c->zone = text(in->zone);
	c->gpus = (uint32_t)in->in.has.gpus;
	c->cpus = (uint32_t)in->in.has.cpus;
	c->memory_mb = in->in.has.memory;
	c->rate_nano_h = prices_at(&in->prices, p->from_s);
	c->list_rate_nano_h = prices_at(&in->list, p->from_s);
	c->estimated = (w->t->flags & LEDGER_ESTIMATED) != 0;
	if (o == NULL)
		return;
	c->job = o->a.job;
	c->attempt = o->number;
	c->job_id = text(o->a.job_id);
	c->job_name = text(o->a.name);
}

/* What was known when the month was closed. */
static void repeat(const struct ledger_shown *s, struct charge *c)
{
	c->offer = s->offer;
	c->region = s->region;
	c->zone = s->zone;
	c->gpus = (uint32_t)s->gpus;
	c->cpus = (uint32_t)s->cpus;
	c->memory_mb = (uint64_t)s->memory_mb;
	c->rate_nano_h = s->rate_nano_h;
	c->list_rate_nano_h = s->list_nano_h;
	c->estimated = s->estimated;
	c->job = (uint64_t)s->job;
	c->attempt = (uint64_t)s->number;
	c->job_id = s->job_id;
	c->job_name = s->name;
}

static const struct ledger_shown *frozen_of(const struct writing *w, const struct ledger_posting *p)
{
	size_t from = 0, to = w->frozen.n;

	while (from < to) {
		const size_t mid = (from + to) / 2;

		if (w->frozen.v[mid].posting < p->id)
			from = mid + 1;
		else
			to = mid;
	}
	return from < w->frozen.n && w->frozen.v[from].posting == p->id ? &w->frozen.v[from] : NULL;
}

/* Give it, or write down what it says. */
static int put_line(struct writing *w, const struct ledger_posting *p, const struct charge *c,
		    struct err *e)
{
	const struct ledger_shown s = {.lifetime = p->lifetime,
				       .posting = p->id,
				       .offer = c->offer,
				       .region = c->region,
				       .zone = c->zone,
				       .gpus = c->gpus,
				       .cpus = c->cpus,
				       .memory_mb = (int64_t)c->memory_mb,
				       .estimated = c->estimated,
				       .rate_nano_h = c->rate_nano_h,
				       .list_nano_h = c->list_rate_nano_h,
				       .job = (int64_t)c->job,
				       .number = (int64_t)c->attempt,
				       .job_id = c->job_id,
				       .name = c->job_name};

	if (w->fn != NULL)
		return w->fn(w->ctx, c, e);
	return ledger_put_shown(w->l, w->closing, &s, e);
}

/* It has money and no share of the machine's time. */
static void adjust(const struct ledger_posting *p, struct charge *c)
{
	c->late = (p->kind & LEDGER_LATE) != 0;
	c->invoiced = (p->kind & LEDGER_ADJUST) != 0 || c->node[0] == '\0';
	c->adjust = c->late || (p->kind & LEDGER_ADJUST) != 0;
	if (!c->adjust && c->node[0] != '\0')
		return;
	c->list_nano = -1;
	c->billed_s = c->share_part = 0;
	c->share_whole = 1;
}

static int write_line(struct writing *w, const struct ledger_posting *p, struct err *e)
{
	const struct ledger_shown *frozen = frozen_of(w, p);
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
			   .cluster = w->cluster,
			   .node = w->t->node,
			   .gen = w->t->gen,
			   .instance = w->t->instance,
			   .list_rate_nano_h = -1,
			   .offer = "",
			   .region = "",
			   .zone = "",
			   .job_id = "",
			   .job_name = ""};

	if ((unsigned)c.class >= ALLOCATE_NCLASSES)
		return err_set(e, ERR_DAMAGED, "posting %lld is of no class", (long long)p->id);
	if (name_dims(w, p->dims, &c, e) < 0)
		return -1;
	adjust(p, &c);
	if (frozen != NULL)
		repeat(frozen, &c);
	else if (w->loaded)
		describe(w, p, &c);
	return put_line(w, p, &c, e);
}

static int take_frozen(void *ctx, const struct ledger_shown *s, struct err *e)
{
	struct frozen *f = ctx;
	struct ledger_shown *own;

	(void)e;
	if (f->n == f->cap) {
		f->cap = f->cap == 0 ? 64 : 2 * f->cap;
		f->v = mem_realloc(f->v, f->cap * sizeof(*f->v));
	}
	own = &f->v[f->n++];
	*own = *s;
	own->offer = mem_strdup(s->offer);
	own->region = mem_strdup(s->region);
	own->zone = mem_strdup(s->zone);
	own->job_id = mem_strdup(s->job_id);
	own->name = mem_strdup(s->name);
	return 0;
}

static void drop_frozen(struct frozen *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const char *const texts[] = {f->v[i].offer, f->v[i].region, f->v[i].zone,
					     f->v[i].job_id, f->v[i].name};

		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
			free((char *)(uintptr_t)texts[k]);
	}
	f->n = 0;
}

static int by_posting(const void *a, const void *b)
{
	const struct ledger_shown *x = a, *y = b;

	return x->posting < y->posting ? -1 : x->posting > y->posting;
}

/* Of the closed months in which this instance has a line. */
static int load_frozen(struct writing *w, struct err *e)
{
	int64_t seq = 0;

	for (size_t i = 0; i < w->lines.n && w->lines.v[i].day < w->open_day; i++)
		for (size_t k = 0; k < w->nclosed; k++) {
			if (w->closed[k].month != date_month(w->lines.v[i].day) ||
			    w->closed[k].seq == seq)
				continue;
			seq = w->closed[k].seq;
			if (ledger_shown_of(w->l, seq, w->t->id, take_frozen, &w->frozen, e) < 0)
				return -1;
		}
	if (w->frozen.n > 0)
		qsort(w->frozen.v, w->frozen.n, sizeof(*w->frozen.v), by_posting);
	return 0;
}

/* An invoice is no machine: what it is about, its lines say. */
static int load_live(struct writing *w, struct err *e)
{
	bool needed = false;

	for (size_t i = 0; i < w->lines.n; i++)
		needed = needed || frozen_of(w, &w->lines.v[i]) == NULL;
	if (!needed || w->t->node[0] == '\0')
		return 0;
	w->loaded = true;
	if (input_load(&w->in, w->l, w->t, w->t->end_s, w->currency, e) < 0 ||
	    ledger_machine(w->l, w->t->node, w->t->gen, take_offer, &w->offer, e) < 0)
		return -1;
	return load_owners(w, e);
}

static int write_instance(struct writing *w, struct err *e)
{
	int rc;

	w->lines.n = 0;
	if (ledger_postings_of(w->l, w->t->id, take_posting, &w->lines, e) < 0)
		return -1;
	merge(&w->lines);
	if (w->lines.n == 0)
		return 0;
	w->loaded = false;
	rc = load_frozen(w, e);
	if (rc == 0)
		rc = load_live(w, e);
	for (size_t i = 0; i < w->lines.n && rc == 0; i++)
		rc = write_line(w, &w->lines.v[i], e);
	drop_frozen(&w->frozen);
	if (w->loaded) {
		drop_owners(w);
		input_fini(&w->in);
	}
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

static int take_closing(void *ctx, const struct ledger_closing *c, struct err *e)
{
	struct writing *w = ctx;

	(void)e;
	for (size_t i = 0; i < w->nclosed; i++)
		if (w->closed[i].month == c->month)
			w->closed[i] = w->closed[--w->nclosed];
	if (!c->closed)
		return 0;
	if (w->nclosed == w->closed_cap) {
		w->closed_cap = w->closed_cap == 0 ? 16 : 2 * w->closed_cap;
		w->closed = mem_realloc(w->closed, w->closed_cap * sizeof(*w->closed));
	}
	w->closed[w->nclosed++] = (struct closed){c->month, c->seq};
	return 0;
}

static int visit(struct writing *w, struct err *e)
{
	struct lifetimes *all = mem_zalloc(sizeof(*all));
	int rc = ledger_note(w->l, LEDGER_CLUSTER, &w->cluster, e);

	if (rc == 0)
		rc = ledger_note(w->l, LEDGER_CURRENCY, &w->currency, e);
	if (rc == 0)
		rc = ledger_open_day(w->l, &w->open_day, e);
	if (rc == 0)
		rc = ledger_closings(w->l, take_closing, w, e);
	if (rc == 0)
		rc = write_all(w, all, e);
	lifetimes_fini(all);
	free(all);
	dims_fini(w);
	free(w->frozen.v);
	free(w->closed);
	free(w->lines.v);
	free(w->cluster);
	free(w->currency);
	free(w->offer);
	return rc;
}

int charges_visit(struct ledger *l, int64_t from_day, int64_t to_day, source_fn fn, void *ctx,
		  struct err *e)
{
	struct writing w = {
		.l = l, .lines = {.from_day = from_day, .to_day = to_day}, .fn = fn, .ctx = ctx};

	return visit(&w, e);
}

int charges_freeze(struct ledger *l, int64_t closing, int64_t month, struct err *e)
{
	struct writing w = {
		.l = l,
		.lines = {.from_day = date_month_day(month), .to_day = date_month_day(month + 1)},
		.closing = closing};

	return visit(&w, e);
}
