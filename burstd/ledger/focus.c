#include "ledger/focus.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ledger/focus_private.h"
#include "ledger/rows.h"

enum {
	TEXT_MAX = 1 << 20, /* bytes of a column: a name of the longest, escaped */
	ROWS_MAX = 1000000, /* of an instance in a day, or a month: a job each second and more */
};

static const double PICO_HOURS = 3600e12;

struct writer {
	const struct focus_options *o;
	const struct focus_column *columns[FOCUS_COLUMNS_MAX];
	size_t ncolumns;
	struct csv csv;
	/* Of one instance and day, as what each has of it is a part of all; the last may grow. */
	struct focus_row *rows;
	size_t n, cap;
	struct focus_line line;
	struct focus_sum *sum;
};

enum focus_category focus_category_of(const struct charge *c)
{
	if (c->class == ALLOCATE_TAX)
		return FOCUS_TAX;
	if (c->credit)
		return FOCUS_CREDIT;
	/* What has no instance has no price by the hour. */
	return c->adjust || c->instance[0] == '\0' ? FOCUS_ADJUSTMENT : FOCUS_USAGE;
}

bool focus_is_correction(const struct focus_options *o, const struct charge *c)
{
	return c->late || (c->adjust && c->start_s < o->start_s);
}

int64_t focus_unit_price(const struct charge *c)
{
	return c->list_rate_nano_h >= 0 ? c->list_rate_nano_h : c->rate_nano_h;
}

static int64_t day_of(const struct focus_options *o, int64_t t_s)
{
	if (o->grain == FOCUS_MONTH)
		return 0;
	return zone_day(o->zone, t_s);
}

static int by_texts(const struct charge *a, const struct charge *b, const size_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *x = *(const char *const *)((const char *)a + at[i]);
		const char *y = *(const char *const *)((const char *)b + at[i]);
		const int by = strcmp(x, y);

		if (by != 0)
			return by;
	}
	return 0;
}

static int by_kind(const struct focus_options *o, const struct charge *a, const struct charge *b)
{
	const int by[] = {
		rows_compare_ids(a->gen, b->gen),
		rows_compare(day_of(o, a->start_s), day_of(o, b->start_s)),
		rows_compare(focus_is_correction(o, a), focus_is_correction(o, b)),
		rows_compare((int64_t)a->class, (int64_t)b->class),
		rows_compare((int64_t)focus_category_of(a), (int64_t)focus_category_of(b)),
		rows_compare((int64_t)a->owner, (int64_t)b->owner),
		rows_compare_ids(a->job, b->job),
		rows_compare_ids(a->attempt, b->attempt),
		rows_compare(focus_unit_price(a), focus_unit_price(b)),
		rows_compare((int64_t)a->market, (int64_t)b->market),
	};

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		if (by[i] != 0)
			return by[i];
	return 0;
}

/* Do two rows differ in nothing but time and amounts? */
int focus_compare(const struct focus_options *o, const struct charge *a, const struct charge *b)
{
	static const size_t what[] = {offsetof(struct charge, provider),
				      offsetof(struct charge, instance)};
	static const size_t who[] = {
		offsetof(struct charge, account),   offsetof(struct charge, user),
		offsetof(struct charge, partition), offsetof(struct charge, qos),
		offsetof(struct charge, wckey),     offsetof(struct charge, job_id),
		offsetof(struct charge, job_name),  offsetof(struct charge, node),
		offsetof(struct charge, pool),      offsetof(struct charge, type),
		offsetof(struct charge, region),    offsetof(struct charge, zone),
	};
	int by = by_texts(a, b, what, sizeof(what) / sizeof(what[0]));

	if (by == 0)
		by = by_kind(o, a, b);
	return by != 0 ? by : by_texts(a, b, who, sizeof(who) / sizeof(who[0]));
}

static int by_row(const void *a, const void *b, void *o)
{
	const struct charge *x = *(const struct charge *const *)a;
	const struct charge *y = *(const struct charge *const *)b;
	const int by = focus_compare(o, x, y);

	if (by != 0)
		return by;
	if (x->start_s != y->start_s)
		return rows_compare(x->start_s, y->start_s);
	if (x->end_s != y->end_s)
		return rows_compare(x->end_s, y->end_s);
	return rows_compare(x->nano, y->nano);
}

void focus_sort(const struct focus_options *o, const struct charge **v, size_t n)
{
	struct focus_options copy = *o; /* qsort_r passes no const */

	if (n > 0)
		qsort_r(v, n, sizeof(void *), by_row, &copy);
}

static int check(const struct focus_options *o, const struct charge *c, struct err *e)
{
	if (strcmp(c->currency, o->currency) != 0)
		return err_set(e, ERR_INVALID, "instance %.60s: %.8s in a file of %.8s",
			       c->instance, c->currency, o->currency);
	if (!c->adjust && (c->start_s < o->start_s || c->end_s > o->end_s))
		return err_set(e, ERR_INVALID, "instance %.60s: a charge outside of the period",
			       c->instance);
	if (c->share_whole <= 0 || c->share_part < 0 || c->billed_s < 0)
		return err_set(e, ERR_INVALID, "instance %.60s: a charge without a share",
			       c->instance);
	return 0;
}

static focus_wide picos_of(const struct charge *c)
{
	const focus_wide pico = 1000000000000;

	return (focus_wide)c->billed_s * c->share_part * pico / c->share_whole;
}

static struct focus_row *row_begin(struct writer *w, const struct charge *c)
{
	struct focus_row *r;

	if (w->n == w->cap) {
		const size_t cap = w->cap == 0 ? 16 : 2 * w->cap;

		w->rows = mem_realloc(w->rows, cap * sizeof(*w->rows));
		memset(w->rows + w->cap, 0, (cap - w->cap) * sizeof(*w->rows));
		w->cap = cap;
	}
	assert(w->rows != NULL);
	r = &w->rows[w->n++];
	held_set(&r->held, c);
	r->start_s = c->start_s;
	r->end_s = c->end_s;
	r->nano = r->gpu_s = r->cpu_s = r->list_nano = 0;
	r->picos = 0;
	r->estimated = false;
	return r;
}

static int row_add(struct focus_row *r, const struct charge *c, struct err *e)
{
	bool over = __builtin_add_overflow(r->nano, c->nano, &r->nano);

	over |= __builtin_add_overflow(r->gpu_s, c->gpu_s, &r->gpu_s);
	over |= __builtin_add_overflow(r->cpu_s, c->cpu_s, &r->cpu_s);
	if (c->list_nano < 0 || r->list_nano < 0)
		r->list_nano = -1;
	else
		over |= __builtin_add_overflow(r->list_nano, c->list_nano, &r->list_nano);
	if (over)
		return err_set(e, ERR_LIMIT, "instance %.60s: amounts are too large", c->instance);
	r->picos += picos_of(c);
	r->start_s = c->start_s < r->start_s ? c->start_s : r->start_s;
	r->end_s = c->end_s > r->end_s ? c->end_s : r->end_s;
	r->estimated |= c->estimated;
	return 0;
}

static void line_set(struct focus_line *l, const struct focus_options *o, const struct focus_row *r)
{
	const struct charge *c = &r->held.c;

	l->o = o;
	l->row = r;
	l->c = c;
	l->provider = focus_find_provider(o, c->provider);
	l->driver = focus_driver(l->provider->driver);
	l->category = focus_category_of(c);
	l->correction = focus_is_correction(o, c);
	l->price = (double)focus_unit_price(c) / 1e9;
	l->quantity = (double)r->picos / PICO_HOURS;
}

static int put_row(struct writer *w, const struct focus_row *r, struct err *e)
{
	/* A job of no time and no cost has a line in our own reports; no bill has one. */
	if (r->nano == 0 && r->start_s == r->end_s)
		return 0;
	line_set(&w->line, w->o, r);
	for (size_t i = 0; i < w->ncolumns; i++)
		w->columns[i]->put(&w->line, &w->csv);
	if (w->line.full || w->line.text.full)
		return err_set(e, ERR_LIMIT, "instance %.60s: a text is too long",
			       w->line.c->instance);
	if (__builtin_add_overflow(w->sum->nano, r->nano, &w->sum->nano))
		return err_set(e, ERR_LIMIT, "the sum of all charges is too large");
	w->sum->rows++;
	return csv_end(&w->csv, e);
}

static int flush(struct writer *w, struct err *e)
{
	int rc = 0;

	w->line.origin_picos = 0;
	for (size_t i = 0; i < w->n; i++)
		if (focus_category_of(&w->rows[i].held.c) == FOCUS_USAGE)
			w->line.origin_picos += w->rows[i].picos;
	for (size_t i = 0; i < w->n && rc == 0; i++)
		rc = put_row(w, &w->rows[i], e);
	w->n = 0;
	return rc;
}

/* Of one instance, in one day. */
static bool is_of_one_origin(const struct focus_options *o, const struct charge *a,
			     const struct charge *b)
{
	return strcmp(a->provider, b->provider) == 0 && strcmp(a->instance, b->instance) == 0 &&
	       a->gen == b->gen && day_of(o, a->start_s) == day_of(o, b->start_s);
}

static int take(void *arg, const struct charge *c, struct err *e)
{
	struct writer *w = arg;
	struct focus_row *last = w->n > 0 ? &w->rows[w->n - 1] : NULL;

	if (check(w->o, c, e) != 0)
		return -1;
	w->sum->charges++;
	if (last != NULL && !is_of_one_origin(w->o, &last->held.c, c)) {
		if (flush(w, e) != 0)
			return -1;
		last = NULL;
	}
	if (w->n == ROWS_MAX)
		return err_set(e, ERR_LIMIT, "instance %.60s: more than %d rows in a day",
			       c->instance, ROWS_MAX);
	if (last == NULL || w->o->grain == FOCUS_SLICE ||
	    focus_compare(w->o, &last->held.c, c) != 0)
		last = row_begin(w, c);
	return row_add(last, c, e);
}

int focus_write(const struct focus_options *o, const struct source *from, const struct sink *to,
		struct focus_sum *sum, struct err *e)
{
	struct writer w = {.o = o, .sum = sum};
	int rc;

	*sum = (struct focus_sum){0};
	csv_init(&w.csv, to, o->spreadsheet);
	str_init(&w.line.text, TEXT_MAX);
	w.ncolumns = focus_columns_of(o->version, w.columns);
	for (size_t i = 0; i < w.ncolumns; i++)
		csv_own(&w.csv, w.columns[i]->name);
	rc = csv_end(&w.csv, e);
	if (rc == 0)
		rc = from->visit(from->ctx, take, &w, e);
	if (rc == 0)
		rc = flush(&w, e);
	str_fini(&w.line.text);
	for (size_t i = 0; i < w.cap; i++)
		held_fini(&w.rows[i].held);
	free(w.rows);
	csv_fini(&w.csv);
	return rc;
}
