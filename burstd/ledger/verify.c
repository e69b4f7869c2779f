#include "ledger/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ledger/lifetimes.h"

struct had { /* the postings of one lifetime, by key */
	struct ledger_posting *v;
	size_t n, cap;
};

static int by_key(const void *a, const void *b)
{
	return ledger_posting_compare(a, b);
}

static int take_posting(void *ctx, const struct ledger_posting *p, struct err *e)
{
	struct had *h = ctx;

	(void)e;
	if (h->n == h->cap) {
		h->cap = h->cap == 0 ? 32 : 2 * h->cap;
		h->v = mem_realloc(h->v, h->cap * sizeof(*h->v));
	}
	h->v[h->n++] = *p;
	return 0;
}

/* Of one that is not what was written down once, but several, or that one. */
enum { NOT_ALONE = -1 };

/* Booked ones, their differences, whichever day these are on, and open ones of one key are one. */
static void merge(struct had *h)
{
	size_t n = 0;

	if (h->n > 0)
		qsort(h->v, h->n, sizeof(*h->v), by_key);
	for (size_t i = 0; i < h->n; i++) {
		struct ledger_posting *to = n > 0 ? &h->v[n - 1] : NULL;
		const struct ledger_posting *p = &h->v[i];

		if (to == NULL || ledger_posting_compare(to, p) != 0) {
			h->v[n] = *p;
			h->v[n++].booking = p->booking != 0 ? NOT_ALONE : 0;
			continue;
		}
		to->booking = NOT_ALONE;
		to->nano += p->nano;
		to->gpu_s += p->gpu_s;
		to->cpu_s += p->cpu_s;
		to->time_s += p->time_s;
		to->part += p->part;
		to->whole += p->whole;
	}
	h->n = n;
}

/* A posting that came to nothing is none. */
static bool is_nothing(const struct ledger_posting *p)
{
	return p->nano == 0 && p->gpu_s == 0 && p->cpu_s == 0 && p->time_s == 0;
}

/* t: as it is, or made again. */
static void digest(struct digest *d, const struct ledger_lifetime *t,
		   const struct ledger_posting *v, size_t n)
{
	const int64_t head[] = {t->id, t->flags, t->start_s, t->end_s};

	for (size_t k = 0; k < sizeof(head) / sizeof(head[0]); k++)
		digest_int(d, head[k]);
	for (size_t i = 0; i < n; i++) {
		const int64_t fields[] = {v[i].of_day, v[i].kind & ~(unsigned)LEDGER_LATE,
					  v[i].dims,   v[i].attempt,
					  v[i].nano,   v[i].gpu_s,
					  v[i].cpu_s,  v[i].time_s};

		if (is_nothing(&v[i]))
			continue;
		for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
			digest_int(d, fields[k]);
	}
}

/* Differences to what was booked are of money and time; what was written once is all the same. */
static bool is_same_posting(const struct ledger_posting *a, const struct ledger_posting *b)
{
	if (ledger_posting_compare(a, b) != 0 || a->nano != b->nano || a->gpu_s != b->gpu_s ||
	    a->cpu_s != b->cpu_s || a->time_s != b->time_s || a->part != b->part ||
	    a->whole != b->whole)
		return false;
	return a->booking == NOT_ALONE ||
	       (a->from_s == b->from_s && a->to_s == b->to_s && a->list_nano == b->list_nano);
}

/* a: as they are. */
static bool is_same(const struct ledger_posting *a, size_t n, const struct ledger_posting *b,
		    size_t m)
{
	size_t i = 0, k = 0;

	for (;;) {
		while (i < n && is_nothing(&a[i]))
			i++;
		while (k < m && is_nothing(&b[k]))
			k++;
		if (i == n || k == m)
			return i == n && k == m;
		if (!is_same_posting(&a[i], &b[k]))
			return false;
		i++;
		k++;
	}
}

struct checking {
	const struct book *book;
	struct verify *v;
	struct str *out;
	struct digest had, made;
	int64_t from_s, to_s; /* of bills that are looked at */
	bool interrupted;     /* the last pass did not come to its end */
};

static void say(struct checking *c, int64_t count, const struct ledger_lifetime *t,
		const char *what)
{
	if (count <= VERIFY_SHOWN)
		str_addf(c->out, "%s, instance %s: %s\n", t->node, t->instance, what);
}

/* What is wrong with it is a part of what it says. */
static bool is_same_bill(const struct ledger_lifetime *a, const struct ledger_lifetime *b)
{
	return a->flags == b->flags && a->start_s == b->start_s && a->end_s == b->end_s;
}

static void judge(struct checking *c, const struct ledger_lifetime *t, const struct had *h,
		  struct book_result *r)
{
	struct verify *v = c->v;
	int64_t sum = 0;

	for (size_t i = 0; i < h->n; i++)
		sum += h->v[i].nano;
	if (sum != t->nano || (t->flags & LEDGER_BROKEN) != 0)
		say(c, ++v->uneven, t, "its postings do not add up to its bill");
	if (r->n > 0)
		qsort(r->v, r->n, sizeof(*r->v), by_key);
	digest(&c->had, t, h->v, h->n);
	digest(&c->made, &r->lifetime, r->v, r->n);
	if (is_same(h->v, h->n, r->v, r->n) && is_same_bill(t, &r->lifetime))
		return;
	if (t->dirty || (c->interrupted && t->state != LEDGER_FINAL))
		v->late++;
	else
		say(c, ++v->differ, t, "computed again it is not the same");
}

static int check_one(struct checking *c, const struct ledger_lifetime *t, struct err *e)
{
	struct book_result r;
	struct had h = {0};
	int rc = ledger_postings_of(c->book->ledger, t->id, take_posting, &h, e);

	if (rc == 0) {
		merge(&h);
		rc = book_compute(c->book, t, t->end_s, &r, e);
		if (rc == 0)
			judge(c, t, &h, &r);
		book_result_fini(&r);
	}
	free(h.v);
	c->v->lifetimes += t->node[0] != '\0'; /* an invoice is no instance */
	return rc;
}

/* An invoice has no time of its own. */
static bool is_asked_for(const struct checking *c, const struct ledger_lifetime *t)
{
	return t->node[0] == '\0' || (t->start_s < c->to_s && t->end_s > c->from_s) ||
	       (c->from_s == INT64_MIN && c->to_s == INT64_MAX);
}

static int check_all(struct checking *c, struct lifetimes *t, struct err *e)
{
	while (!t->over) {
		if (lifetimes_next(t, c->book->ledger, false, e) < 0)
			return -1;
		for (size_t i = 0; i < t->n; i++)
			if (is_asked_for(c, &t->v[i]) && check_one(c, &t->v[i], e) < 0)
				return -1;
	}
	return 0;
}

static void say_all(const struct verify *v, struct str *out)
{
	if (v->chain.bad != 0)
		str_addf(out, "booking %" PRId64 ": %s\n", v->chain.bad, v->chain.what);
	if (v->periods.bad != 0)
		str_addf(out, "closing %" PRId64 ": %s\n", v->periods.bad, v->periods.what);
	if (v->lost != 0)
		str_addf(out, "%" PRId64 " steps of machines are of none that has a bill\n",
			 v->lost);
	if (v->rollups != 0)
		str_addf(out, "%" PRId64 " sums by day are not those of the postings\n",
			 v->rollups);
}

static int verify(struct checking *c, struct err *e)
{
	struct ledger *l = c->book->ledger;
	struct verify *v = c->v;
	struct lifetimes *all;
	int64_t facts_ms, pass_ms;
	int rc;

	*v = (struct verify){0};
	if (ledger_number(l, LEDGER_FACTS_MS, &facts_ms, e) < 0 ||
	    ledger_number(l, LEDGER_PASS_MS, &pass_ms, e) < 0)
		return -1;
	all = mem_zalloc(sizeof(*all));
	c->interrupted = facts_ms > pass_ms;
	digest_begin(&c->had, "");
	digest_begin(&c->made, "");
	rc = ledger_check_chain(l, &v->chain, e);
	if (rc == 0)
		rc = ledger_check_periods(l, &v->periods, e);
	if (rc == 0)
		rc = ledger_check_rollup(l, &v->rollups, e);
	if (rc == 0)
		rc = ledger_count_lost_lives(l, &v->lost, e);
	if (rc == 0)
		rc = check_all(c, all, e);
	digest_end(&c->had, v->had);
	digest_end(&c->made, v->made);
	lifetimes_fini(all);
	free(all);
	return rc;
}

int verify_time(const struct book *b, int64_t from_s, int64_t to_s, struct verify *v,
		struct str *out, struct err *e)
{
	struct checking c = {.book = b, .v = v, .out = out, .from_s = from_s, .to_s = to_s};

	if (verify(&c, e) < 0)
		return -1;
	say_all(v, out);
	return 0;
}

int verify_ledger(const struct book *b, struct verify *v, struct str *out, struct err *e)
{
	struct checking c = {.book = b, .v = v, .out = out, .from_s = INT64_MIN, .to_s = INT64_MAX};

	if (verify(&c, e) < 0)
		return -1;
	say_all(v, out);
	return 0;
}

bool verify_is_good(const struct verify *v)
{
	return v->chain.bad == 0 && v->periods.bad == 0 && v->rollups == 0 && v->lost == 0 &&
	       v->uneven == 0 && v->differ == 0;
}
