#include "ledger/true_up.h"

#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/mem.h"
#include "ledger/rows.h"
#include "ledger/split.h"
#include "store/ledger_invoices.h"

struct month {
	int64_t month, nano;
	bool named; /* an invoice has an amount for the instance */
};

struct months {
	struct month *v;
	size_t n, cap;
};

/* Who had the instance: a job's attempt, the pool, the cluster. */
struct share {
	const struct ledger_posting *largest; /* of its postings: the one that cost most ... */
	const struct ledger_posting *last;    /* ... and the last */
	uint64_t job, attempt;
	int64_t net, gross;
};

struct dividing {
	const struct book *book;
	const struct input *in;
	struct book_result *r;
	size_t counted; /* postings that are no differences */
	struct share *shares;
	size_t n;
};

/* --- months ------------------------------------------------------------------------------------
 */

static int add_month(struct months *all, int64_t month, int64_t nano, bool named)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].month == month)
			return 0;
	if (all->n == all->cap) {
		all->cap = all->cap == 0 ? 8 : 2 * all->cap;
		all->v = mem_realloc(all->v, all->cap * sizeof(*all->v));
	}
	all->v[all->n++] = (struct month){month, nano, named};
	return 0;
}

static int take_named(void *ctx, int64_t month, int64_t nano, struct err *e)
{
	(void)e;
	return add_month(ctx, month, nano, true);
}

static int take_whole(void *ctx, int64_t month, int64_t nano, struct err *e)
{
	(void)e;
	return add_month(ctx, month, nano, false);
}

static bool is_named(const struct months *all, int64_t month)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].month == month)
			return all->v[i].named;
	return false;
}

static int by_month(const void *a, const void *b)
{
	const struct month *x = a, *y = b;

	return rows_compare(x->month, y->month);
}

static int find_months(const struct dividing *d, struct months *all, struct err *e)
{
	if (ledger_invoiced(d->book->ledger, d->r->lifetime.id, take_named, all, e) < 0)
		return -1;
	if (d->counted > 0 && d->in->provider != NULL && d->in->provider[0] != '\0' &&
	    ledger_whole_months(d->book->ledger, d->in->provider, d->in->currency, take_whole, all,
				e) < 0)
		return -1;
	if (all->n > 0)
		qsort(all->v, all->n, sizeof(*all->v), by_month);
	return 0;
}

/* --- shares ------------------------------------------------------------------------------------
 */

static bool is_of(const struct share *s, const struct ledger_posting *p)
{
	return (s->last->kind & LEDGER_OWNER) == (p->kind & LEDGER_OWNER) &&
	       s->last->dims == p->dims && s->last->attempt == p->attempt;
}

struct rank { /* an attempt's place in the order of jobs */
	int64_t id;
	uint64_t job, attempt;
};

static int by_id(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return rows_compare(x->id, y->id);
}

/* As remainders are given: jobs by number and attempt, the pool, the cluster. */
static int by_owner(const void *a, const void *b)
{
	const struct share *x = a, *y = b;
	const int by[] = {rows_compare(x->last->kind & LEDGER_OWNER, y->last->kind & LEDGER_OWNER),
			  rows_compare_ids(x->job, y->job),
			  rows_compare_ids(x->attempt, y->attempt),
			  rows_compare(x->last->dims, y->last->dims),
			  rows_compare(x->last->attempt, y->last->attempt)};

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		if (by[i] != 0)
			return by[i];
	return 0;
}

static int by_posting(const void *a, const void *b)
{
	const struct ledger_posting *x = *(const struct ledger_posting *const *)a;
	const struct ledger_posting *y = *(const struct ledger_posting *const *)b;
	const int by[] = {rows_compare(x->kind & LEDGER_OWNER, y->kind & LEDGER_OWNER),
			  rows_compare(x->attempt, y->attempt), rows_compare(x->dims, y->dims),
			  rows_compare(x->of_day, y->of_day), rows_compare(x->kind, y->kind)};

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		if (by[i] != 0)
			return by[i];
	return 0;
}

static int add_to(struct share *s, const struct ledger_posting *p, struct err *e)
{
	if (__builtin_add_overflow(s->net, p->nano, &s->net) ||
	    (p->nano > 0 && __builtin_add_overflow(s->gross, p->nano, &s->gross)))
		return err_set(e, ERR_LIMIT, "what it costs is more than can be counted");
	s->last = p;
	if (p->nano > s->largest->nano)
		s->largest = p;
	return 0;
}

/* Who had it on days in [from, to). */
static int find_shares(struct dividing *d, int64_t from, int64_t to, struct err *e)
{
	const struct ledger_posting **v = mem_zalloc((d->counted + 1) * sizeof(void *));
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < d->counted; i++)
		if (d->r->v[i].of_day >= from && d->r->v[i].of_day < to)
			v[n++] = &d->r->v[i];
	if (n > 0)
		qsort(v, n, sizeof(void *), by_posting);
	free(d->shares);
	d->shares = mem_zalloc((n + 1) * sizeof(*d->shares));
	d->n = 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (d->n == 0 || !is_of(&d->shares[d->n - 1], v[i]))
			d->shares[d->n++] = (struct share){.largest = v[i], .last = v[i]};
		rc = add_to(&d->shares[d->n - 1], v[i], e);
	}
	free(v);
	return rc;
}

static void rank_shares(struct dividing *d)
{
	struct rank *ranks = mem_zalloc((d->in->nowners + 1) * sizeof(*ranks));

	for (size_t i = 0; i < d->in->nowners; i++)
		ranks[i] = (struct rank){d->in->owners[i].id, d->in->owners[i].job,
					 d->in->owners[i].attempt};
	if (d->in->nowners > 0)
		qsort(ranks, d->in->nowners, sizeof(*ranks), by_id);
	for (size_t i = 0; i < d->n && d->in->nowners > 0; i++) {
		const struct rank key = {.id = d->shares[i].last->attempt};
		const struct rank *own = bsearch(&key, ranks, d->in->nowners, sizeof(key), by_id);

		if (own == NULL || key.id == 0)
			continue;
		d->shares[i].job = own->job;
		d->shares[i].attempt = own->attempt;
	}
	free(ranks);
	if (d->n > 0)
		qsort(d->shares, d->n, sizeof(*d->shares), by_owner);
}

/* By what each has; if what each has was given back, by what that was; if nothing cost anything,
 * equally. */
static void divide(const struct dividing *d, int64_t nano, int64_t *parts)
{
	uint64_t *weights = mem_zalloc((d->n + 1) * sizeof(*weights));

	for (int way = 0; way < 3; way++) {
		for (size_t i = 0; i < d->n; i++) {
			const struct share *s = &d->shares[i];
			const int64_t w = way == 0 ? s->net : way == 1 ? s->gross : 1;

			weights[i] = w > 0 ? (uint64_t)w : 0;
		}
		if (split(nano, weights, d->n, parts) == 0)
			break;
	}
	free(weights);
}

/* --- differences -------------------------------------------------------------------------------
 */

static void append(struct book_result *r, const struct ledger_posting *p)
{
	r->v = mem_realloc(r->v, (r->n + 1) * sizeof(*r->v));
	r->v[r->n++] = *p;
}

/* On the last day that the owner had it; if that is in another month, on the nearest of this. */
static struct ledger_posting difference(const struct dividing *d, const struct share *s,
					int64_t month, int64_t nano)
{
	const int64_t first = date_month_day(month), end = date_month_day(month + 1);
	struct ledger_posting p = {.of_day = s->last->of_day,
				   .kind = (s->largest->kind & (LEDGER_CLASS | LEDGER_OWNER)) |
					   LEDGER_ADJUST,
				   .dims = s->last->dims,
				   .attempt = s->last->attempt,
				   .nano = nano,
				   .from_s = s->last->from_s,
				   .to_s = s->last->to_s,
				   .list_nano = -1};

	if (p.of_day >= first && p.of_day < end)
		return p;
	p.of_day = p.of_day < first ? first : end - 1;
	p.from_s = calendar_day_begin(d->book->calendar, p.of_day);
	p.to_s = calendar_day_begin(d->book->calendar, p.of_day + 1);
	return p;
}

/* Nothing was counted: there is no price, or no begin.  What it costs is the pool's. */
static void add_unowned(struct dividing *d, int64_t month, int64_t nano)
{
	const struct ledger_posting none = {
		.of_day = date_month_day(month),
		.kind = ALLOCATE_SHARED | LEDGER_OF_POOL,
		.dims = d->in->dims,
		.from_s = calendar_day_begin(d->book->calendar, date_month_day(month)),
		.to_s = calendar_day_begin(d->book->calendar, date_month_day(month + 1))};
	const struct share s = {.largest = &none, .last = &none};
	const struct ledger_posting p = difference(d, &s, month, nano);

	append(d->r, &p);
}

static int sum_of(const struct dividing *d, int64_t from, int64_t to, int64_t *sum, struct err *e)
{
	*sum = 0;
	for (size_t i = 0; i < d->counted; i++)
		if (d->r->v[i].of_day >= from && d->r->v[i].of_day < to &&
		    __builtin_add_overflow(*sum, d->r->v[i].nano, sum))
			return err_set(e, ERR_LIMIT, "what it costs is more than can be counted");
	return 0;
}

static int adjust(struct dividing *d, const struct month *m, struct err *e)
{
	const int64_t from = date_month_day(m->month), to = date_month_day(m->month + 1);
	int64_t counted, nano, *parts;

	if (sum_of(d, from, to, &counted, e) < 0)
		return -1;
	if (__builtin_sub_overflow(m->nano, counted, &nano) || nano == INT64_MIN ||
	    __builtin_add_overflow(d->r->lifetime.nano, nano, &d->r->lifetime.nano))
		return err_set(e, ERR_LIMIT, "what it costs is more than can be counted");
	if (nano == 0)
		return 0;
	if (find_shares(d, from, to, e) < 0 ||
	    (d->n == 0 && find_shares(d, INT64_MIN, INT64_MAX, e) < 0))
		return -1;
	if (d->n == 0) {
		add_unowned(d, m->month, nano);
		return 0;
	}
	rank_shares(d);
	parts = mem_zalloc((d->n + 1) * sizeof(*parts));
	divide(d, nano, parts);
	{
		/* Appending moves the postings that shares point to. */
		struct ledger_posting *all = mem_zalloc(d->n * sizeof(*all));

		for (size_t i = 0; i < d->n; i++)
			all[i] = difference(d, &d->shares[i], m->month, parts[i]);
		for (size_t i = 0; i < d->n; i++)
			if (all[i].nano != 0)
				append(d->r, &all[i]);
		free(all);
	}
	free(parts);
	return 0;
}

static void judge(const struct book *b, const struct months *all, const struct book_result *r,
		  struct true_up *t)
{
	const int64_t start_s = r->lifetime.start_s, end_s = r->lifetime.end_s;
	int64_t first, last;

	t->months = all->n;
	if (end_s <= start_s)
		return;
	first = date_month(calendar_day(b->calendar, start_s));
	last = date_month(calendar_day(b->calendar, end_s - 1));
	t->end_is_known = is_named(all, last);
	t->all_is_known = true;
	for (int64_t m = first; m <= last; m++)
		t->all_is_known = t->all_is_known && is_named(all, m);
}

int true_up(const struct book *b, const struct input *in, struct book_result *r, struct true_up *t,
	    struct err *e)
{
	struct dividing d = {.book = b, .in = in, .r = r, .counted = r->n};
	struct months all = {.n = 0};
	int rc = find_months(&d, &all, e);

	*t = (struct true_up){.months = 0};
	for (size_t i = 0; i < all.n && rc == 0; i++)
		rc = adjust(&d, &all.v[i], e);
	if (rc == 0)
		judge(b, &all, r, t);
	free(d.shares);
	free(all.v);
	return rc;
}

/* --- what is of no machine ---------------------------------------------------------------------
 */

struct sharing {
	const struct book *book;
	struct book_result *r;
	const struct ledger_lifetime *t;
	bool counts;
	char *texts[2]; /* of the invoice: provider, currency */
};

static int take_invoice(void *ctx, const struct ledger_invoice *i, struct err *e)
{
	struct sharing *s = ctx;

	(void)e;
	if (i->id != (int64_t)s->t->gen)
		return 0;
	s->counts = i->removed_ms == 0;
	s->texts[0] = mem_strdup(i->provider);
	s->texts[1] = mem_strdup(i->currency);
	return 0;
}

struct lines {
	struct ledger_invoice_line *v; /* texts are its own */
	size_t n;
};

static int take_line(void *ctx, const struct ledger_invoice_line *n, struct err *e)
{
	struct lines *all = ctx;

	(void)e;
	if (n->lifetime != 0)
		return 0;
	all->v = mem_realloc(all->v, (all->n + 1) * sizeof(*all->v));
	all->v[all->n] = *n;
	all->v[all->n].account = mem_strdup(n->account);
	all->v[all->n].name = mem_strdup(n->name);
	all->n++;
	return 0;
}

static int post_line(struct sharing *s, const struct ledger_invoice_line *n, struct err *e)
{
	const struct ledger_dims dims = {.account = n->account,
					 .user = "",
					 .partition = "",
					 .qos = "",
					 .wckey = "",
					 .provider = s->texts[0],
					 .market = "",
					 .pool = "",
					 .type = n->name,
					 .currency = s->texts[1]};
	struct ledger_posting p = {
		.of_day = calendar_day(s->book->calendar, n->start_s),
		.kind = (n->kind == LEDGER_INVOICE_TAX ? ALLOCATE_TAX : ALLOCATE_SHARED) |
			LEDGER_OF_CLUSTER,
		.nano = n->nano,
		.from_s = n->start_s,
		.to_s = n->end_s,
		.list_nano = -1};

	if (ledger_dims_id(s->book->ledger, &dims, &p.dims, e) < 0)
		return -1;
	if (__builtin_add_overflow(s->r->lifetime.nano, n->nano, &s->r->lifetime.nano))
		return err_set(e, ERR_LIMIT, "an invoice is more than can be counted");
	append(s->r, &p);
	return 0;
}

static int by_key(const void *a, const void *b)
{
	return ledger_posting_compare(a, b);
}

/* Lines of one name and account on one day are one. */
static int merge_lines(struct book_result *r, struct err *e)
{
	size_t n = 0;

	if (r->n > 0)
		qsort(r->v, r->n, sizeof(*r->v), by_key);
	for (size_t i = 0; i < r->n; i++) {
		struct ledger_posting *to = n > 0 ? &r->v[n - 1] : NULL;

		if (to == NULL || ledger_posting_compare(to, &r->v[i]) != 0)
			r->v[n++] = r->v[i];
		else if (__builtin_add_overflow(to->nano, r->v[i].nano, &to->nano))
			return err_set(e, ERR_LIMIT, "an invoice is more than can be counted");
	}
	r->n = n;
	return 0;
}

int true_up_shared(const struct book *b, const struct ledger_lifetime *t, struct book_result *r,
		   struct err *e)
{
	struct sharing s = {.book = b, .r = r, .t = t};
	struct lines all = {.n = 0};
	int rc;

	*r = (struct book_result){.lifetime = *t, .final = true};
	r->lifetime.flags = 0;
	r->lifetime.nano = 0;
	r->lifetime.state = LEDGER_FINAL;
	rc = ledger_invoices(b->ledger, take_invoice, &s, e);
	if (rc == 0 && s.counts)
		rc = ledger_invoice_lines(b->ledger, (int64_t)t->gen, take_line, &all, e);
	for (size_t i = 0; i < all.n; i++) {
		if (rc == 0)
			rc = post_line(&s, &all.v[i], e);
		free((char *)(uintptr_t)all.v[i].account);
		free((char *)(uintptr_t)all.v[i].name);
	}
	free(all.v);
	if (rc == 0)
		rc = merge_lines(r, e);
	free(s.texts[0]);
	free(s.texts[1]);
	return rc;
}
