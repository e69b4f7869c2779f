#include "ledger/figures.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/ledger_attempts.h"
#include "store/ledger_facts.h"

enum { MS = 1000, FIRST = 1024 };

__extension__ typedef __int128 wide;

struct dims {
	int64_t user, market, currency; /* words */
	int64_t credit;                 /* of spot machines; has no list price of its own */
	size_t figure;                  /* of the credit */
	bool listed;                    /* a list price is known */
};

struct held { /* by an attempt, in one currency */
	int64_t attempt, gpu_s;
	size_t figure;
};

struct making {
	struct figures *f;
	struct ledger *l;
	int64_t user, spot; /* words; user -1: all; 0: the ledger does not have it */
	struct dims *dims;  /* by their number; 0: none */
	size_t ndims;
	int64_t words[FIGURES_MAX]; /* of the currencies */
	struct held *held;          /* an open table, at most half full; attempt 0: free */
	size_t nheld, cap;
	bool too_many; /* attempts */
};

static int too_large(struct err *e)
{
	return err_set(e, ERR_LIMIT, "a sum is more than can be counted");
}

static bool add(int64_t *to, int64_t v)
{
	return __builtin_add_overflow(*to, v, to);
}

/* --- what attempts held -----------------------------------------------------------------------
 */

static struct held *slot_of(const struct making *m, int64_t attempt, size_t figure)
{
	size_t i = (size_t)((uint64_t)attempt * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (m->cap - 1);

	while (m->held[i].attempt != 0 &&
	       (m->held[i].attempt != attempt || m->held[i].figure != figure))
		i = (i + 1) & (m->cap - 1);
	return &m->held[i];
}

static void grow(struct making *m)
{
	struct held *old = m->held;
	const size_t cap = m->cap;

	m->cap = cap == 0 ? FIRST : 2 * cap;
	m->held = mem_zalloc(m->cap * sizeof(*m->held));
	for (size_t i = 0; i < cap; i++)
		if (old[i].attempt != 0)
			*slot_of(m, old[i].attempt, old[i].figure) = old[i];
	free(old);
}

static void note_held(struct making *m, int64_t attempt, size_t figure, int64_t gpu_s)
{
	struct held *h;

	if (attempt == 0 || gpu_s == 0 || m->too_many)
		return;
	if (2 * m->nheld >= m->cap)
		grow(m);
	h = slot_of(m, attempt, figure);
	if (h->attempt == 0 && m->nheld++ == FIGURES_JOBS_MAX) {
		m->too_many = true;
		return;
	}
	h->attempt = attempt;
	h->figure = figure;
	h->gpu_s += gpu_s; /* a part of held_s, which does not overflow */
}

/* --- postings ---------------------------------------------------------------------------------
 */

static int take_dims(void *ctx, int64_t id, const int64_t words[LEDGER_NDIMS], struct err *e)
{
	enum { USER = 1, MARKET = 6, CURRENCY = 9 }; /* of struct ledger_dims, in its order */
	struct making *m = ctx;
	size_t at = (size_t)id;

	(void)e;
	if (id <= 0)
		return 0;
	if (at >= m->ndims) {
		size_t n = at + 1 > 2 * m->ndims ? at + 1 : 2 * m->ndims;

		m->dims = mem_realloc(m->dims, n * sizeof(*m->dims));
		memset(&m->dims[m->ndims], 0, (n - m->ndims) * sizeof(*m->dims));
		m->ndims = n;
	}
	m->dims[at] = (struct dims){
		.user = words[USER], .market = words[MARKET], .currency = words[CURRENCY]};
	return 0;
}

/* -1: too many. */
static int figure_of(struct making *m, int64_t currency, size_t *at, struct err *e)
{
	struct figures *f = m->f;

	for (*at = 0; *at < f->n; ++*at)
		if (m->words[*at] == currency)
			return 0;
	if (f->n == FIGURES_MAX)
		return err_set(e, ERR_LIMIT, "more than %d currencies", FIGURES_MAX);
	f->v = mem_realloc(f->v, (f->n + 1) * sizeof(*f->v));
	f->v[f->n] = (struct figure){.currency = NULL};
	m->words[f->n++] = currency;
	return ledger_text(m->l, currency, &f->v[*at].currency, e);
}

/* A credit gives back money, not time: it has no GPU seconds. */
static bool sum_gpus(struct figure *f, const struct ledger_posting *p, unsigned class)
{
	if (class == ALLOCATE_RUN || class == ALLOCATE_LOST)
		return add(&f->held_s, p->gpu_s) || add(&f->ready_s, p->gpu_s) ||
		       (class == ALLOCATE_LOST && add(&f->lost_s, p->gpu_s));
	return (class == ALLOCATE_IDLE || class == ALLOCATE_DRAIN) && add(&f->ready_s, p->gpu_s);
}

/* What is given back counts where the time is that it was paid for: see settle_credits(). */
static bool sum_spot(struct making *m, size_t at, struct dims *d, const struct ledger_posting *p)
{
	struct figure *f = &m->f->v[at];

	if (m->spot == 0 || d->market != m->spot)
		return false;
	if ((p->kind & LEDGER_CREDIT) != 0) {
		d->figure = at;
		return add(&d->credit, p->nano);
	}
	if (p->list_nano == LEDGER_UNLISTED)
		return add(&f->spot_unlisted, p->nano);
	d->listed = true;
	return add(&f->spot_nano, p->nano) || add(&f->spot_list, p->list_nano);
}

static int settle_credits(struct making *m, struct err *e)
{
	for (size_t i = 0; i < m->ndims; i++) {
		struct dims *d = &m->dims[i];
		struct figure *f;

		if (d->credit == 0)
			continue;
		f = &m->f->v[d->figure];
		if (add(d->listed ? &f->spot_nano : &f->spot_unlisted, d->credit))
			return too_large(e);
	}
	return 0;
}

static int take_posting(void *ctx, const struct ledger_posting *p, struct err *e)
{
	struct making *m = ctx;
	struct dims *d = &m->dims[p->dims > 0 && (size_t)p->dims < m->ndims ? p->dims : 0];
	const unsigned class = p->kind & LEDGER_CLASS;
	const bool of_job = (p->kind & LEDGER_OWNER) == LEDGER_OF_JOB;
	struct figure *f;
	size_t at;

	if (m->f->of_user && (!of_job || d->user == 0 || d->user != m->user))
		return 0;
	if (figure_of(m, d->currency, &at, e) < 0)
		return -1;
	f = &m->f->v[at];
	if (add(&f->nano, p->nano) ||
	    (class < ALLOCATE_NCLASSES && add(&f->classes[class], p->nano)) ||
	    sum_gpus(f, p, class) || sum_spot(m, at, d, p))
		return too_large(e);
	if (class == ALLOCATE_RUN || class == ALLOCATE_LOST)
		note_held(m, p->attempt, at, p->gpu_s);
	return 0;
}

/* --- what was asked for -----------------------------------------------------------------------
 */

struct asked {
	uint64_t job;
	int64_t until_ms, gpus, said; /* gpus: that it had, on all nodes; said -1: nothing was */
};

static int take_attempt(void *ctx, const struct ledger_attempt *a, struct err *e)
{
	struct asked *x = ctx;

	(void)e;
	x->job = a->job;
	x->until_ms = (a->running ? INT64_MAX / MS : a->end_s) * MS;
	if (__builtin_mul_overflow(a->gpus, a->nnodes, &x->gpus))
		x->gpus = 0; /* of a damaged ledger; as if it were not known */
	return 0;
}

static int take_said(void *ctx, const struct fact_said *s, struct err *e)
{
	(void)e;
	((struct asked *)ctx)->said = s->gpus;
	return 0;
}

/* By so much as it had more than it asked for. */
static int ask_for(struct making *m, const struct held *h, struct err *e)
{
	struct figure *f = &m->f->v[h->figure];
	struct asked x = {.said = -1};
	wide asked;

	if (f->asked_s == FIGURES_UNKNOWN)
		return 0;
	if (ledger_attempt(m->l, h->attempt, take_attempt, &x, e) < 0 ||
	    ledger_said(m->l, x.job, x.until_ms, take_said, &x, e) < 0)
		return -1;
	if (x.said < 0 || x.gpus <= 0) {
		f->asked_s = FIGURES_UNKNOWN;
		return 0;
	}
	asked = (wide)h->gpu_s * x.said / x.gpus;
	if (asked > INT64_MAX || asked < INT64_MIN || add(&f->asked_s, (int64_t)asked))
		return too_large(e);
	return 0;
}

static int ask_all(struct making *m, struct err *e)
{
	for (size_t i = 0; i < m->f->n && m->too_many; i++)
		m->f->v[i].asked_s = FIGURES_UNKNOWN;
	for (size_t i = 0; i < m->cap && !m->too_many; i++)
		if (m->held[i].attempt != 0 && ask_for(m, &m->held[i], e) < 0)
			return -1;
	return 0;
}

static int by_currency(const void *a, const void *b)
{
	return strcmp(((const struct figure *)a)->currency, ((const struct figure *)b)->currency);
}

int figures_make(struct figures *f, struct ledger *l, const struct figures_want *w, struct err *e)
{
	struct making m = {.f = f, .l = l, .dims = mem_zalloc(sizeof(*m.dims)), .ndims = 1};
	int rc = 0;

	*f = (struct figures){.of_user = w->user != NULL};
	if ((w->user != NULL && ledger_word(l, w->user, &m.user, e) < 0) ||
	    ledger_word(l, "spot", &m.spot, e) < 0 || ledger_all_dims(l, take_dims, &m, e) < 0 ||
	    ledger_postings(l, w->from_day, w->to_day, take_posting, &m, e) < 0 ||
	    settle_credits(&m, e) < 0 || ask_all(&m, e) < 0)
		rc = -1;
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].currency == NULL)
			f->v[i].currency = mem_strdup("");
	if (f->n > 0)
		qsort(f->v, f->n, sizeof(*f->v), by_currency);
	free(m.dims);
	free(m.held);
	return rc;
}

void figures_fini(struct figures *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].currency);
	free(f->v);
	*f = (struct figures){0};
}

int64_t figures_tenths(int64_t part, int64_t whole)
{
	const wide scaled = (wide)part * 1000;
	wide tenths;

	if (whole == 0)
		return FIGURES_UNKNOWN;
	tenths = (2 * scaled / whole + ((part < 0) != (whole < 0) ? -1 : 1)) / 2;
	return tenths > INT64_MAX || tenths <= INT64_MIN ? FIGURES_UNKNOWN : (int64_t)tenths;
}

int64_t figures_useful_hour(const struct figure *f)
{
	const int64_t useful = f->held_s - f->lost_s;
	wide each;

	if (useful <= 0)
		return FIGURES_UNKNOWN;
	each = (wide)f->nano * 3600 / useful;
	return each > INT64_MAX || each <= INT64_MIN ? FIGURES_UNKNOWN : (int64_t)each;
}
