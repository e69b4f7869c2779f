#include "store/ledger_postings.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/ledger_booking.h"
#include "store/ledger_private.h"

static const char sql_dims[] =
	"SELECT id FROM dims WHERE account = ? AND user = ? AND partition = ? AND qos = ?"
	" AND wckey = ? AND provider = ? AND market = ? AND pool = ? AND type = ?"
	" AND currency = ?";
static const char sql_put_dims[] =
	"INSERT INTO dims (account, user, partition, qos, wckey, provider, market, pool, type,"
	" currency) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id";
static const char sql_all_dims[] =
	"SELECT id, account, user, partition, qos, wckey, provider, market, pool, type, currency"
	" FROM dims";
static const char sql_all_words[] = "SELECT id, text FROM word";

#define POSTING                                                                                    \
	"SELECT id, booking, lifetime, day, kind, dims, attempt, nano, gpu_s, cpu_s, from_s,"      \
	" to_s, time_s, part, whole, list_nano FROM posting WHERE "
static const char sql_of[] = POSTING "lifetime = ? ORDER BY day, kind, dims, attempt, id";
static const char sql_for[] = POSTING "attempt = ? AND attempt <> 0 ORDER BY lifetime, day, id";
static const char sql_between[] = POSTING "day >= ? AND day < ?";
static const char sql_amounts[] = "SELECT lifetime, day, kind, dims, attempt, nano, gpu_s, cpu_s"
				  " FROM posting WHERE day >= ? AND day < ?";
static const char sql_rollup[] = "SELECT day, kind, dims, n, nano, gpu_s, cpu_s FROM rollup"
				 " WHERE day >= ? AND day < ?";
static const char sql_insert[] =
	"INSERT INTO posting (booking, lifetime, day, kind, dims, attempt, nano, gpu_s, cpu_s,"
	" from_s, to_s, time_s, part, whole, list_nano)"
	" VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_delete[] = "DELETE FROM posting WHERE id = ?";
static const char sql_sum[] =
	"INSERT INTO rollup (day, dims, kind, n, nano, gpu_s, cpu_s) VALUES (?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT (day, dims, kind) DO UPDATE SET n = n + excluded.n,"
	" nano = nano + excluded.nano, gpu_s = gpu_s + excluded.gpu_s,"
	" cpu_s = cpu_s + excluded.cpu_s";
static const char sql_no_sum[] =
	"DELETE FROM rollup WHERE day = ? AND dims = ? AND kind = ? AND n = 0";
static const char sql_check[] =
	"SELECT COUNT(*) + (SELECT COUNT(*) FROM rollup WHERE n <= 0) FROM (SELECT 1 FROM"
	" (SELECT day, dims, kind, 1 AS n, nano, gpu_s, cpu_s FROM posting UNION ALL"
	" SELECT day, dims, kind, -n, -nano, -gpu_s, -cpu_s FROM rollup) GROUP BY day, dims, kind"
	" HAVING SUM(n) <> 0 OR SUM(nano) <> 0 OR SUM(gpu_s) <> 0 OR SUM(cpu_s) <> 0)";

/* --- dictionaries ------------------------------------------------------------------------------
 */

int ledger_dims_id(struct ledger *l, const struct ledger_dims *d, int64_t *id, struct err *e)
{
	const char *const texts[LEDGER_NDIMS] = {d->account, d->user,     d->partition, d->qos,
						 d->wckey,   d->provider, d->market,    d->pool,
						 d->type,    d->currency};
	int64_t words[LEDGER_NDIMS];
	struct db_cursor c;
	int rc = 0;

	for (size_t i = 0; i < LEDGER_NDIMS; i++)
		if (ledger_word(l, texts[i], &words[i], e) < 0)
			return -1;
	*id = 0;
	for (int try = 0; try < (l->to_read ? 1 : 2) && rc == 0; try++) {
		if (ledger_stmt(l, &c, try == 0 ? sql_dims : sql_put_dims, e) < 0)
			return -1;
		for (size_t i = 0; i < LEDGER_NDIMS; i++)
			db_put_int(&c, words[i]);
		rc = ledger_ask(l, &c, id, e);
	}
	return rc == 1 || (rc == 0 && l->to_read) ? 0 : -1;
}

int ledger_all_dims(struct ledger *l, ledger_dims_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_all_dims, e) < 0)
		return -1;
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		int64_t words[LEDGER_NDIMS], id;

		c.at = 0;
		id = ledger_int(&c);
		for (size_t i = 0; i < LEDGER_NDIMS; i++)
			words[i] = ledger_int(&c);
		if (c.bad || fn(ctx, id, words, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "dims", e) : -1;
		}
	}
	return rc;
}

int ledger_all_words(struct ledger *l, ledger_word_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_all_words, e) < 0)
		return -1;
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		int64_t id;
		const char *text;

		c.at = 0;
		id = ledger_int(&c);
		text = db_get_text(&c, LEDGER_TEXT_MAX);
		if (c.bad || fn(ctx, id, text, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "word", e) : -1;
		}
	}
	return rc;
}

/* --- reading -----------------------------------------------------------------------------------
 */

static unsigned kind_of(int64_t kind)
{
	return (unsigned)kind & (LEDGER_CLASS | LEDGER_CREDIT | LEDGER_OWNER);
}

int booking_visit(struct ledger *l, struct db_cursor *c, ledger_posting_fn fn, void *ctx,
		  struct err *e)
{
	int rc;

	while ((rc = db_step(l->db, c->st, e)) == 1) {
		struct ledger_posting p = {0};
		int64_t kind = 0, *const fields[] = {
					  &p.id,     &p.booking, &p.lifetime, &p.day,
					  &kind,     &p.dims,    &p.attempt,  &p.nano,
					  &p.gpu_s,  &p.cpu_s,   &p.from_s,   &p.to_s,
					  &p.time_s, &p.part,    &p.whole,    &p.list_nano};

		c->at = 0;
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			*fields[i] = ledger_int(c);
		p.kind = kind_of(kind);
		if (c->bad || fn(ctx, &p, e) < 0) {
			db_reset(c->st);
			return c->bad ? db_damaged(l->db, "posting", e) : -1;
		}
	}
	return rc;
}

int ledger_postings_of(struct ledger *l, int64_t lifetime, ledger_posting_fn fn, void *ctx,
		       struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_of, e) < 0)
		return -1;
	db_put_int(&c, lifetime);
	return booking_visit(l, &c, fn, ctx, e);
}

int ledger_postings_for(struct ledger *l, int64_t attempt, ledger_posting_fn fn, void *ctx,
			struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_for, e) < 0)
		return -1;
	db_put_int(&c, attempt);
	return booking_visit(l, &c, fn, ctx, e);
}

int ledger_postings(struct ledger *l, int64_t from_day, int64_t to_day, ledger_posting_fn fn,
		    void *ctx, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_between, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	db_put_int(&c, to_day);
	return booking_visit(l, &c, fn, ctx, e);
}

int ledger_amounts(struct ledger *l, int64_t from_day, int64_t to_day, ledger_posting_fn fn,
		   void *ctx, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_amounts, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	db_put_int(&c, to_day);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		struct ledger_posting p = {0};

		c.at = 0;
		p.lifetime = ledger_int(&c);
		p.day = ledger_int(&c);
		p.kind = kind_of(ledger_int(&c));
		p.dims = ledger_int(&c);
		p.attempt = ledger_int(&c);
		p.nano = ledger_int(&c);
		p.gpu_s = ledger_int(&c);
		p.cpu_s = ledger_int(&c);
		if (c.bad || fn(ctx, &p, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "posting", e) : -1;
		}
	}
	return rc;
}

int ledger_rollup(struct ledger *l, int64_t from_day, int64_t to_day, ledger_posting_fn fn,
		  void *ctx, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_rollup, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	db_put_int(&c, to_day);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		struct ledger_posting p = {0};

		c.at = 0;
		p.day = ledger_int(&c);
		p.kind = (unsigned)ledger_int(&c) & (LEDGER_CLASS | LEDGER_CREDIT | LEDGER_OWNER);
		p.dims = ledger_int(&c);
		p.time_s = ledger_int(&c);
		p.nano = ledger_int(&c);
		p.gpu_s = ledger_int(&c);
		p.cpu_s = ledger_int(&c);
		if (c.bad || fn(ctx, &p, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "rollup", e) : -1;
		}
	}
	return rc;
}

int ledger_check_rollup(struct ledger *l, int64_t *bad, struct err *e)
{
	struct db_cursor c;

	*bad = 0;
	if (ledger_stmt(l, &c, sql_check, e) < 0)
		return -1;
	return ledger_ask(l, &c, bad, e) < 0 ? -1 : 0;
}

/* --- writing -----------------------------------------------------------------------------------
 */

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
	const int64_t fields[] = {lifetime,  p->day,   p->kind,  p->dims,     p->attempt,
				  p->nano,   p->gpu_s, p->cpu_s, p->from_s,   p->to_s,
				  p->time_s, p->part,  p->whole, p->list_nano};
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

static int compare(const struct ledger_posting *a, const struct ledger_posting *b)
{
	const int64_t x[] = {a->day, a->kind, a->dims, a->attempt};
	const int64_t y[] = {b->day, b->kind, b->dims, b->attempt};

	for (size_t i = 0; i < 4; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	return compare(a, b);
}

static void subtract(struct ledger_posting *p, const struct ledger_posting *booked)
{
	p->nano -= booked->nano;
	p->gpu_s -= booked->gpu_s;
	p->cpu_s -= booked->cpu_s;
	p->time_s -= booked->time_s;
	p->part -= booked->part;
	p->whole -= booked->whole;
	if (p->list_nano >= 0 && booked->list_nano >= 0)
		p->list_nano -= booked->list_nano;
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

/* had[0..n) and *want, or NULL, have one key: make what is not booked what is wanted. */
static int settle(struct ledger *l, int64_t lifetime, const struct ledger_posting *had, size_t n,
		  const struct ledger_posting *want, bool *changed, struct err *e)
{
	struct ledger_posting p = want != NULL ? *want : had[0];
	const struct ledger_posting *open = NULL;
	bool booked = want == NULL;

	if (want == NULL) {
		p.nano = p.gpu_s = p.cpu_s = p.time_s = p.part = p.whole = 0;
		p.list_nano = p.list_nano < 0 ? -1 : 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (had[i].booking == 0) {
			open = &had[i];
			continue;
		}
		booked = true;
		subtract(&p, &had[i]);
	}
	if (open != NULL && is_wanted(&p, booked) && is_same(&p, open))
		return 0;
	*changed = *changed || open != NULL || is_wanted(&p, booked);
	if (open != NULL && delete (l, open, e) < 0)
		return -1;
	return is_wanted(&p, booked) ? insert(l, lifetime, &p, e) : 0;
}

static int settle_all(struct ledger *l, const struct ledger_change *ch, const struct had *h,
		      bool *changed, struct err *e)
{
	size_t i = 0, k = 0;

	while (i < h->n || k < ch->n) {
		int order = i == h->n ? 1 : k == ch->n ? -1 : compare(&h->v[i], &ch->v[k]);
		const struct ledger_posting *key = order <= 0 ? &h->v[i] : &ch->v[k];
		size_t first = i;

		while (i < h->n && compare(&h->v[i], key) == 0)
			i++;
		if (settle(l, ch->lifetime, &h->v[first], i - first, order >= 0 ? &ch->v[k] : NULL,
			   changed, e) < 0)
			return -1;
		k += order >= 0;
	}
	return 0;
}

int ledger_set_postings(struct ledger *l, const struct ledger_change *ch, bool *changed,
			struct err *e)
{
	struct had h = {0};
	int rc;

	*changed = false;
	if (ch->n > 0)
		qsort(ch->v, ch->n, sizeof(*ch->v), by_key);
	rc = ledger_postings_of(l, ch->lifetime, keep, &h, e);
	if (rc == 0)
		rc = settle_all(l, ch, &h, changed, e);
	if (rc == 0 && ch->book)
		rc = booking_make(l, ch->lifetime, ch->at_ms, e);
	free(h.v);
	return rc;
}
