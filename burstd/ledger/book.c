#include "ledger/book.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ledger/counted.h"
#include "ledger/lifetimes.h"
#include "ledger/rows.h"
#include "ledger/spenders.h"
#include "ledger/true_up.h"

enum { HOUR_S = 3600 };

struct sums { /* of all details with one key */
	int64_t day;
	enum allocate_class class;
	enum allocate_owner owner;
	uint64_t job, attempt;
	int64_t from_s, to_s, time_s, gpu_s, cpu_s, list_nano;
	meter_sum part, whole;
};

struct making {
	const struct book *book;
	const struct input *in;
	struct book_result *r;
	struct sums *sums;
	size_t nsums, sums_cap, cap;
	unsigned flags;
	int64_t debit; /* of all rows that are no credits */
	bool too_much; /* more than can be counted */
};

/* --- details -----------------------------------------------------------------------------------
 */

static int by_key(const void *a, const void *b)
{
	const struct sums *x = a, *y = b;
	const int by[] = {
		rows_compare(x->day, y->day), rows_compare((int64_t)x->class, (int64_t)y->class),
		rows_compare((int64_t)x->owner, (int64_t)y->owner),
		rows_compare_ids(x->job, y->job), rows_compare_ids(x->attempt, y->attempt)};

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		if (by[i] != 0)
			return by[i];
	return 0;
}

static void sum_up(struct sums *to, const struct sums *more)
{
	to->from_s = more->from_s < to->from_s ? more->from_s : to->from_s;
	to->to_s = more->to_s > to->to_s ? more->to_s : to->to_s;
	to->time_s += more->time_s;
	to->gpu_s += more->gpu_s;
	to->cpu_s += more->cpu_s;
	to->part += more->part;
	to->whole += more->whole;
	if (to->list_nano < 0 || more->list_nano < 0 ||
	    __builtin_add_overflow(to->list_nano, more->list_nano, &to->list_nano))
		to->list_nano = -1;
}

static void merge(struct making *m)
{
	size_t n = 0;

	if (m->nsums > 0)
		qsort(m->sums, m->nsums, sizeof(*m->sums), by_key);
	for (size_t i = 0; i < m->nsums; i++)
		if (n > 0 && by_key(&m->sums[n - 1], &m->sums[i]) == 0)
			sum_up(&m->sums[n - 1], &m->sums[i]);
		else
			m->sums[n++] = m->sums[i];
	m->nsums = n;
}

/* a * b, or 0 and too_much. */
static int64_t times(struct making *m, uint64_t a, int64_t b)
{
	int64_t out = 0;

	if (a > INT64_MAX || __builtin_mul_overflow((int64_t)a, b, &out)) {
		m->too_much = true;
		return 0;
	}
	return out;
}

/* What a share of the time costs on demand, half to even; -1: not known. */
static int64_t list_cost(const struct making *m, const struct allocate_detail *d)
{
	int64_t each = prices_at(&m->in->list, d->from_s);
	meter_sum sum, whole, rest, out;

	if (each < 0 || d->whole == 0 || d->whole > INT64_MAX / HOUR_S)
		return -1;
	sum = (meter_sum)each * (d->to_s - d->from_s);
	if (__builtin_mul_overflow(sum, (meter_sum)d->weight, &sum))
		return -1;
	whole = (meter_sum)d->whole * HOUR_S;
	out = sum / whole;
	rest = sum % whole * 2;
	out += rest > whole || (rest == whole && out % 2 != 0);
	return out < INT64_MAX ? (int64_t)out : -1;
}

static void take_detail(void *ctx, const struct allocate_detail *d)
{
	struct making *m = ctx;
	const int64_t s = d->to_s - d->from_s;
	struct sums one = {.day = d->row->month,
			   .class = d->row->class,
			   .owner = d->row->owner,
			   .job = d->row->job,
			   .attempt = d->row->attempt,
			   .from_s = d->from_s,
			   .to_s = d->to_s,
			   .time_s = s,
			   .gpu_s = times(m, d->gpus, s),
			   .cpu_s = times(m, d->cpus, s),
			   .list_nano = list_cost(m, d),
			   .part = (meter_sum)d->weight * s,
			   .whole = (meter_sum)d->whole * s};

	if (m->book->detail != NULL)
		m->book->detail(m->book->ctx, m->in, d);
	if (m->nsums == m->sums_cap) {
		merge(m);
		if (m->nsums >= m->sums_cap / 2) {
			m->sums_cap = m->sums_cap == 0 ? 64 : 2 * m->sums_cap;
			m->sums = mem_realloc(m->sums, m->sums_cap * sizeof(*m->sums));
		}
	}
	m->sums[m->nsums++] = one;
}

/* --- rows --------------------------------------------------------------------------------------
 */

static unsigned kind_of(const struct allocate_row *row)
{
	static const unsigned owners[] = {[ALLOCATE_JOB] = LEDGER_OF_JOB,
					  [ALLOCATE_POOL] = LEDGER_OF_POOL,
					  [ALLOCATE_CLUSTER] = LEDGER_OF_CLUSTER};

	return (unsigned)row->class | owners[row->owner] | (row->credit ? LEDGER_CREDIT : 0);
}

/* The same ratio in numbers that fit. */
static void fit(meter_sum part, meter_sum whole, struct ledger_posting *p)
{
	while (whole > INT64_MAX) {
		part /= 2;
		whole /= 2;
	}
	p->part = (int64_t)part;
	p->whole = (int64_t)whole;
}

static void complete(struct making *m, const struct allocate_row *row, struct ledger_posting *p)
{
	const struct sums key = {.day = row->month,
				 .class = row->class,
				 .owner = row->owner,
				 .job = row->job,
				 .attempt = row->attempt};
	const struct sums *s =
		m->nsums > 0 ? bsearch(&key, m->sums, m->nsums, sizeof(key), by_key) : NULL;

	p->list_nano = -1;
	if (s == NULL) /* a job that had no time */
		return;
	p->from_s = s->from_s;
	p->to_s = s->to_s;
	if (row->credit) /* gives back money, not time */
		return;
	p->time_s = s->time_s;
	p->gpu_s = s->gpu_s;
	p->cpu_s = s->cpu_s;
	p->list_nano = s->list_nano;
	fit(s->part, s->whole, p);
}

static void take_row(void *ctx, const struct allocate_row *row)
{
	struct making *m = ctx;
	const struct input_owner *o = input_owner_of(m->in, row);
	struct ledger_posting *p;

	if (m->r->n == 0)
		merge(m);
	if (m->r->n == m->cap) {
		m->cap = m->cap == 0 ? 16 : 2 * m->cap;
		m->r->v = mem_realloc(m->r->v, m->cap * sizeof(*m->r->v));
	}
	assert(row->owner != ALLOCATE_JOB || o != NULL); /* only jobs that input_load() named */
	p = &m->r->v[m->r->n++];
	*p = (struct ledger_posting){.day = row->month,
				     .of_day = row->month,
				     .kind = kind_of(row),
				     .dims = o != NULL ? o->dims : m->in->dims,
				     .attempt = o != NULL ? o->id : 0,
				     .nano = row->nano};
	complete(m, row, p);
	if (!row->credit)
		m->debit += row->nano;
	m->r->lifetime.nano += row->nano;
}

/* A job that runs, or that lost its node, may begin while that boots: Slurm's begin is its
 * allocation until the node is up. */
static bool is_usual(const struct making *m, const struct allocate_run *run)
{
	const struct allocate_row row = {
		.owner = ALLOCATE_JOB, .job = run->job, .attempt = run->attempt};
	const struct input_owner *o = input_owner_of(m->in, &row);

	return o != NULL && (o->running || o->lost);
}

static void take_flag(void *ctx, enum allocate_flag flag, const struct allocate_run *run, int64_t s)
{
	struct making *m = ctx;

	if (flag == ALLOCATE_CLIPPED && (s <= BOOK_SKEW_S || is_usual(m, run)))
		return;
	m->flags |= flag == ALLOCATE_CLIPPED ? LEDGER_CLIPPED : LEDGER_NEGATIVE;
	if (flag == ALLOCATE_NEGATIVE || s > BOOK_SKEW_MAX_S)
		m->flags |= LEDGER_QUARANTINED;
}

/* --- one instance ------------------------------------------------------------------------------
 */

/* The bill once more, in one reading of the meter, against what the postings add up to. */
static int check_sum(const struct input *in, const struct making *m, struct err *e)
{
	struct meter meter;
	int64_t bill = 0;

	if (m->too_much)
		return err_set(e, ERR_LIMIT, "its time is more than can be counted");
	meter_begin(&meter, &in->in.bill);
	if (meter_to(&meter, meter_end(&in->in.bill), &bill, e) < 0)
		return -1;
	if (bill != m->debit)
		return err_set(e, ERR_DAMAGED,
			       "its postings add up to %" PRId64 ", and it costs %" PRId64,
			       m->debit, bill);
	return 0;
}

static void divide(const struct book *b, const struct input *in, struct book_result *r)
{
	struct making m = {.book = b, .in = in, .r = r};
	const struct allocate_calendar calendar = calendar_of_days(b->calendar);
	const struct allocate_report report = {
		.row = take_row, .flag = take_flag, .detail = take_detail, .ctx = &m};
	struct err e = {0};
	int rc = 0;

	if (in->in.bill.end_s - in->in.bill.start_s > BOOK_LIFE_MAX_S)
		rc = err_set(&e, ERR_LIMIT, "it lives for more than twenty years");
	if (rc < 0 || allocate(&in->in, &calendar, &report, &e) < 0 || check_sum(in, &m, &e) < 0) {
		m.flags |= e.code == ERR_INVALID ? LEDGER_UNPRICED : LEDGER_BROKEN;
		(void)snprintf(r->why, sizeof(r->why), "%s", e.msg);
		r->n = 0;
		r->lifetime.nano = 0;
	}
	r->lifetime.flags |= m.flags;
	free(m.sums);
}

/* Nobody but the provider can say what an instance cost that has no price, or when it ended. */
static int meet_invoices(const struct book *b, const struct input *in, struct book_result *r,
			 struct err *e)
{
	struct err why = {0};
	struct true_up t;

	if ((r->lifetime.flags & LEDGER_BROKEN) != 0)
		return 0;
	if (true_up(b, in, r, &t, &why) < 0) {
		if (why.code != ERR_LIMIT)
			return err_set(e, (enum err_code)why.code, "%s", why.msg);
		r->lifetime.flags |= LEDGER_BROKEN;
		(void)snprintf(r->why, sizeof(r->why), "%s", why.msg);
		r->n = 0;
		r->lifetime.nano = 0;
		return 0;
	}
	if (t.end_is_known)
		r->lifetime.flags &= ~(unsigned)LEDGER_ESTIMATED;
	if (t.all_is_known && !in->running && (r->lifetime.flags & LEDGER_UNPRICED) != 0) {
		r->lifetime.flags &= ~(unsigned)LEDGER_UNPRICED;
		r->why[0] = '\0';
	}
	return 0;
}

static bool is_final(const struct book *b, const struct input *in)
{
	const int64_t end_ms = in->in.bill.end_s * 1000;

	if (in->running)
		return false;
	if (b->now_ms >= end_ms + BOOK_LATE_MS)
		return true;
	return !in->waits && b->jobs_ms >= end_ms + BOOK_SETTLE_MS;
}

int book_compute(const struct book *b, const struct ledger_lifetime *t, int64_t as_of_s,
		 struct book_result *r, struct err *e)
{
	struct input in;
	int rc;

	if (t->node[0] == '\0')
		return true_up_shared(b, t, r, e);
	rc = input_load(&in, b->ledger, t, as_of_s, b->currency, e);

	*r = (struct book_result){.lifetime = *t, .shown_ms = FACTS_NEVER};
	r->lifetime.flags = 0;
	r->lifetime.start_s = r->lifetime.end_s = r->lifetime.nano = 0;
	if (rc == 0 && in.billed) {
		r->lifetime.start_s = in.in.bill.start_s;
		r->lifetime.end_s = in.in.bill.end_s;
		if (!in.running && !in.facts.ended_said)
			r->lifetime.flags |= LEDGER_ESTIMATED;
		r->shown_ms = in.facts.shown_ms;
		if (in.unended)
			r->lifetime.flags |= LEDGER_UNENDED;
		if (!in.measured)
			r->lifetime.flags |= LEDGER_UNMEASURED;
		divide(b, &in, r);
		r->ncounted = counted_days(&in, b->calendar, r->v, r->n, &r->counted);
		r->provider = mem_strdup(in.provider);
		r->market = mem_strdup(in.market);
		r->pool = mem_strdup(in.pool);
		rc = spenders_stays(&in, b->ledger, b->calendar, r->v, r->n, &r->stays, &r->nstays,
				    e);
	}
	if (rc == 0)
		rc = meet_invoices(b, &in, r, e);
	if (rc == 0) {
		r->final = (in.billed ? is_final(b, &in) : !in.running) &&
			   (r->lifetime.flags & (LEDGER_UNPRICED | LEDGER_BROKEN)) == 0;
		/* What is booked stays booked. */
		r->lifetime.state = t->state == LEDGER_FINAL || r->final ? LEDGER_FINAL
				    : in.running                         ? LEDGER_OPEN
									 : LEDGER_ENDED;
	}
	input_fini(&in);
	return rc;
}

void book_result_fini(struct book_result *r)
{
	free(r->v);
	free(r->counted);
	free(r->stays);
	free(r->provider);
	free(r->market);
	free(r->pool);
	*r = (struct book_result){0};
}

static int write_counted(const struct book *b, const struct ledger_lifetime *t,
			 const struct book_result *r, struct err *e)
{
	const struct ledger_days d = {.lifetime = t->id,
				      .place = {r->provider, r->market, r->pool},
				      .v = r->counted,
				      .n = r->ncounted};

	const struct ledger_stays s = {.lifetime = t->id, .v = r->stays, .n = r->nstays};

	if (r->provider == NULL)
		return 0;
	return ledger_set_counted(b->ledger, &d, e) < 0 ? -1 : ledger_set_stays(b->ledger, &s, e);
}

int book_write(const struct book *b, const struct ledger_lifetime *t, bool *changed, struct err *e)
{
	struct book_result r;
	struct ledger_change ch = {.lifetime = t->id, .at_ms = b->now_ms};
	int rc = book_compute(b, t, b->now_ms / 1000, &r, e);

	*changed = false;
	if (rc == 0) {
		ch.v = r.v;
		ch.n = r.n;
		ch.book = r.lifetime.state == LEDGER_FINAL;
		r.lifetime.why = r.why;
		/* A bill that cannot be computed any more is not taken back: the flag is loud. */
		if ((r.lifetime.flags & (LEDGER_UNPRICED | LEDGER_BROKEN)) == 0 ||
		    t->state != LEDGER_FINAL)
			rc = ledger_set_postings(b->ledger, &ch, changed, e);
		else
			r.lifetime.nano = t->nano;
	}
	if (rc == 0)
		rc = write_counted(b, t, &r, e);
	if (rc == 0)
		rc = ledger_put_lifetime(b->ledger, &r.lifetime, e);
	book_result_fini(&r);
	return rc;
}

int book_write_news(const struct book *b, struct err *e)
{
	struct lifetimes *all = mem_zalloc(sizeof(*all));
	bool changed;
	int rc = 0;

	while (!all->over && rc == 0) {
		rc = lifetimes_next(all, b->ledger, true, e);
		for (size_t i = 0; i < all->n && rc == 0; i++)
			if (all->v[i].dirty)
				rc = book_write(b, &all->v[i], &changed, e);
	}
	lifetimes_fini(all);
	free(all);
	return rc;
}
