/* How the postings of a lifetime become others: what is booked stays, so the rest is the
 * difference, and what is about a closed day is on the first that is open. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/ledger_booking.h"
#include "store/ledger_periods.h"
#include "store/ledger_private.h"

static const char sql_insert[] =
	"INSERT INTO posting (booking, lifetime, day, kind, dims, attempt, nano, gpu_s, cpu_s,"
	" from_s, to_s, time_s, part, whole, list_nano, of_day)"
	" VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_delete[] = "DELETE FROM posting WHERE id = ?";
static const char sql_sum[] =
	"INSERT INTO rollup (day, dims, kind, n, nano, gpu_s, cpu_s) VALUES (?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT (day, dims, kind) DO UPDATE SET n = n + excluded.n,"
	" nano = nano + excluded.nano, gpu_s = gpu_s + excluded.gpu_s,"
	" cpu_s = cpu_s + excluded.cpu_s";
static const char sql_no_sum[] =
	"DELETE FROM rollup WHERE day = ? AND dims = ? AND kind = ? AND n = 0";

/* sign 1: count it in; -1: out. */
static int sum(struct ledger *l, const struct ledger_posting *p, int64_t sign, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_sum, e) < 0)
		return -1;
	db_put_int(&c, p->day);
	db_put_int(&c, p->dims);
	db_put_int(&c, p->kind);
	db_put_int(&c, sign);
	db_put_int(&c, sign * p->nano);
	db_put_int(&c, sign * p->gpu_s);
	db_put_int(&c, sign * p->cpu_s);
	if (ledger_do(l, &c, e) < 0)
		return -1;
	if (sign > 0)
		return 0;
	if (ledger_stmt(l, &c, sql_no_sum, e) < 0)
		return -1;
	db_put_int(&c, p->day);
	db_put_int(&c, p->dims);
	db_put_int(&c, p->kind);
	return ledger_do(l, &c, e);
}

static int insert(struct ledger *l, int64_t lifetime, const struct ledger_posting *p, struct err *e)
{
	const int64_t fields[] = {lifetime,  p->day,   p->kind,  p->dims,      p->attempt,
				  p->nano,   p->gpu_s, p->cpu_s, p->from_s,    p->to_s,
				  p->time_s, p->part,  p->whole, p->list_nano, p->of_day};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_insert, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		db_put_int(&c, fields[i]);
	return ledger_do(l, &c, e) < 0 ? -1 : sum(l, p, 1, e);
}

static int delete (struct ledger *l, const struct ledger_posting *p, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_delete, e) < 0)
		return -1;
	db_put_int(&c, p->id);
	return ledger_do(l, &c, e) < 0 ? -1 : sum(l, p, -1, e);
}

struct had { /* the postings that there are */
	struct ledger_posting *v;
	size_t n, cap;
};

static int keep(void *ctx, const struct ledger_posting *p, struct err *e)
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

int ledger_posting_compare(const struct ledger_posting *a, const struct ledger_posting *b)
{
	const int64_t x[] = {a->of_day, a->kind & ~(unsigned)LEDGER_LATE, a->dims, a->attempt};
	const int64_t y[] = {b->of_day, b->kind & ~(unsigned)LEDGER_LATE, b->dims, b->attempt};

	for (size_t i = 0; i < 4; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Those of one key by the day on which they are, and then as they were written. */
static int by_key(const void *a, const void *b)
{
	const struct ledger_posting *x = a, *y = b;
	const int order = ledger_posting_compare(x, y);

	if (order != 0)
		return order;
	if (x->day != y->day)
		return x->day < y->day ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Where one of them is not known, the difference is all that is known since. */
int64_t ledger_list_add(int64_t list_nano, int64_t difference)
{
	return list_nano == LEDGER_UNLISTED || difference == LEDGER_UNLISTED
		       ? difference
		       : list_nano + difference;
}

/* What makes a list price of the booked one.  A difference that would read as not known is none:
 * the price is too high by 1e-9. */
static int64_t subtract_list(int64_t list_nano, int64_t booked)
{
	if (list_nano == LEDGER_UNLISTED || booked == LEDGER_UNLISTED)
		return list_nano;
	return list_nano - booked == LEDGER_UNLISTED ? 0 : list_nano - booked;
}

/* But for the list price; *list: of all that were subtracted so far. */
static void subtract(struct ledger_posting *p, const struct ledger_posting *booked, int64_t *list)
{
	p->nano -= booked->nano;
	p->gpu_s -= booked->gpu_s;
	p->cpu_s -= booked->cpu_s;
	p->time_s -= booked->time_s;
	p->part -= booked->part;
	p->whole -= booked->whole;
	*list = ledger_list_add(*list, booked->list_nano);
}

/* A posting of nothing is kept if it is all that a job has on the instance; a difference of nothing
 * is none. */
static bool is_wanted(const struct ledger_posting *p, bool booked)
{
	return !booked || p->nano != 0 || p->gpu_s != 0 || p->cpu_s != 0 || p->time_s != 0 ||
	       p->part != 0 || p->whole != 0;
}

static bool is_same(const struct ledger_posting *a, const struct ledger_posting *b)
{
	return a->nano == b->nano && a->gpu_s == b->gpu_s && a->cpu_s == b->cpu_s &&
	       a->from_s == b->from_s && a->to_s == b->to_s && a->time_s == b->time_s &&
	       a->part == b->part && a->whole == b->whole && a->list_nano == b->list_nano;
}

/* All postings of one key. */
struct group {
	const struct ledger_posting *had;
	size_t n;
	const struct ledger_posting *want; /* NULL: nothing */
};

struct settling {
	struct ledger *l;
	int64_t lifetime, open_day;
	bool changed;
};

static void make_nothing(struct ledger_posting *p)
{
	p->nano = p->gpu_s = p->cpu_s = p->time_s = p->part = p->whole = 0;
}

/* Where it is not known, that of nothing is not known either. */
static int64_t list_of_nothing(int64_t booked)
{
	return booked == LEDGER_UNLISTED ? LEDGER_UNLISTED : 0;
}

/* Of what the group has on that day, make what is not booked *p. */
static int put_open(struct settling *s, const struct group *g, const struct ledger_posting *p,
		    bool wanted, struct err *e)
{
	const struct ledger_posting *open = NULL;

	for (size_t i = 0; i < g->n; i++)
		if (g->had[i].booking == 0 && g->had[i].day == p->day)
			open = &g->had[i];
	if (open != NULL && wanted && is_same(p, open))
		return 0;
	s->changed = s->changed || open != NULL || wanted;
	if (open != NULL && delete (s->l, open, e) < 0)
		return -1;
	return wanted ? insert(s->l, s->lifetime, p, e) : 0;
}

/* What was late when its month was closed, and that month, or one before it, is open again: it is
 * taken back from where it is. */
static int take_back(struct settling *s, const struct group *g, int64_t target, struct err *e)
{
	for (size_t i = 0, k; i < g->n; i = k) {
		struct ledger_posting p = g->had[i];
		int64_t list = 0;

		make_nothing(&p);
		for (k = i; k < g->n && g->had[k].day == p.day; k++)
			if (g->had[k].booking != 0)
				subtract(&p, &g->had[k], &list);
		p.list_nano = subtract_list(list_of_nothing(list), list);
		if (p.day < s->open_day || p.day == target)
			continue;
		if (put_open(s, g, &p, is_wanted(&p, true), e) < 0)
			return -1;
	}
	return 0;
}

static int settle(struct settling *s, const struct group *g, struct err *e)
{
	struct ledger_posting p = g->want != NULL ? *g->want : g->had[0];
	const int64_t target = p.of_day < s->open_day ? s->open_day : p.of_day;
	bool booked = g->want == NULL || target != p.of_day;
	int64_t list = 0;

	if (g->want == NULL)
		make_nothing(&p);
	for (size_t i = 0; i < g->n; i++) {
		if (g->had[i].booking == 0)
			continue;
		booked = true;
		if (g->had[i].day < s->open_day || g->had[i].day == target)
			subtract(&p, &g->had[i], &list);
	}
	p.list_nano = subtract_list(g->want != NULL ? p.list_nano : list_of_nothing(list), list);
	p.kind &= ~(unsigned)LEDGER_LATE;
	p.kind |= target != p.of_day ? LEDGER_LATE : 0;
	p.day = target;
	return put_open(s, g, &p, is_wanted(&p, booked), e) < 0 ? -1 : take_back(s, g, target, e);
}

static int settle_all(struct settling *s, const struct ledger_change *ch, const struct had *h,
		      struct err *e)
{
	size_t i = 0, k = 0;

	while (i < h->n || k < ch->n) {
		int order = i == h->n    ? 1
			    : k == ch->n ? -1
					 : ledger_posting_compare(&h->v[i], &ch->v[k]);
		const struct ledger_posting *key = order <= 0 ? &h->v[i] : &ch->v[k];
		struct group g = {.had = &h->v[i], .want = order >= 0 ? &ch->v[k] : NULL};

		while (i < h->n && ledger_posting_compare(&h->v[i], key) == 0)
			i++;
		g.n = i - (size_t)(g.had - h->v);
		if (settle(s, &g, e) < 0)
			return -1;
		k += order >= 0;
	}
	return 0;
}

int ledger_set_postings(struct ledger *l, const struct ledger_change *ch, bool *changed,
			struct err *e)
{
	struct settling s = {.l = l, .lifetime = ch->lifetime};
	struct had h = {0};
	int rc = ledger_open_day(l, &s.open_day, e);

	if (ch->n > 0)
		qsort(ch->v, ch->n, sizeof(*ch->v), by_key);
	if (rc == 0)
		rc = ledger_postings_of(l, ch->lifetime, keep, &h, e);
	if (h.n > 0)
		qsort(h.v, h.n, sizeof(*h.v), by_key);
	if (rc == 0)
		rc = settle_all(&s, ch, &h, e);
	if (rc == 0 && ch->book)
		rc = ledger_book(l, ch->lifetime, INT64_MAX, ch->at_ms, e);
	free(h.v);
	*changed = s.changed;
	return rc;
}
