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
	" currency) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_all_dims[] =
	"SELECT id, account, user, partition, qos, wckey, provider, market, pool, type, currency"
	" FROM dims";
static const char sql_texts[] =
	"SELECT w1.text, w2.text, w3.text, w4.text, w5.text, w6.text, w7.text, w8.text, w9.text,"
	" w0.text FROM dims AS d"
	" JOIN word AS w1 ON w1.id = d.account JOIN word AS w2 ON w2.id = d.user"
	" JOIN word AS w3 ON w3.id = d.partition JOIN word AS w4 ON w4.id = d.qos"
	" JOIN word AS w5 ON w5.id = d.wckey JOIN word AS w6 ON w6.id = d.provider"
	" JOIN word AS w7 ON w7.id = d.market JOIN word AS w8 ON w8.id = d.pool"
	" JOIN word AS w9 ON w9.id = d.type JOIN word AS w0 ON w0.id = d.currency WHERE d.id = ?";
static const char sql_all_words[] = "SELECT id, text FROM word";

#define POSTING                                                                                    \
	"SELECT id, booking, lifetime, day, kind, dims, attempt, nano, gpu_s, cpu_s, from_s,"      \
	" to_s, time_s, part, whole, list_nano, of_day FROM posting WHERE "
static const char sql_of[] = POSTING "lifetime = ? ORDER BY day, kind, dims, attempt, id";
static const char sql_for[] = POSTING "attempt = ? AND attempt <> 0 ORDER BY lifetime, day, id";
static const char sql_between[] = POSTING "day >= ? AND day < ?";
static const char sql_amounts[] = "SELECT lifetime, day, kind, dims, attempt, nano, gpu_s, cpu_s"
				  " FROM posting WHERE day >= ? AND day < ?";
static const char sql_rollup[] = "SELECT day, kind, dims, n, nano, gpu_s, cpu_s FROM rollup"
				 " WHERE day >= ? AND day < ?";
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
		rc = try == 0 ? ledger_ask(l, &c, id, e) : ledger_add(l, &c, id, e);
	}
	return rc == 1 || (rc == 0 && l->to_read) ? 0 : -1;
}

int ledger_dims(struct ledger *l, int64_t id, ledger_texts_fn fn, void *ctx, struct err *e)
{
	struct ledger_dims d = {0};
	const char **const texts[LEDGER_NDIMS] = {&d.account, &d.user,     &d.partition, &d.qos,
						  &d.wckey,   &d.provider, &d.market,    &d.pool,
						  &d.type,    &d.currency};
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_texts, e) < 0)
		return -1;
	db_put_int(&c, id);
	rc = db_step(l->db, c.st, e);
	if (rc != 1)
		return rc;
	c.at = 0;
	for (size_t i = 0; i < LEDGER_NDIMS; i++)
		*texts[i] = db_get_text(&c, LEDGER_TEXT_MAX);
	rc = c.bad ? db_damaged(l->db, "dims", e) : fn(ctx, &d, e);
	db_reset(c.st);
	return rc;
}

static int64_t array_index(struct db_cursor *c)
{
	const int64_t id = ledger_int(c);

	c->bad |= id < 0 || id > LEDGER_IDS_MAX;
	return id;
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
		id = array_index(&c);
		for (size_t i = 0; i < LEDGER_NDIMS; i++)
			words[i] = array_index(&c);
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
		id = array_index(&c);
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
	return (unsigned)kind & LEDGER_KIND;
}

int booking_visit(struct ledger *l, struct db_cursor *c, ledger_posting_fn fn, void *ctx,
		  struct err *e)
{
	int rc;

	while ((rc = db_step(l->db, c->st, e)) == 1) {
		struct ledger_posting p = {0};
		int64_t kind = 0, *const fields[] = {
					  &p.id,        &p.booking, &p.lifetime, &p.day,   &kind,
					  &p.dims,      &p.attempt, &p.nano,     &p.gpu_s, &p.cpu_s,
					  &p.from_s,    &p.to_s,    &p.time_s,   &p.part,  &p.whole,
					  &p.list_nano, &p.of_day};

		c->at = 0;
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			*fields[i] = ledger_int(c);
		p.kind = kind_of(kind);
		if ((p.kind & LEDGER_LATE) == 0)
			p.of_day = p.day;
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
		p.day = p.of_day = ledger_int(&c);
		p.kind = (unsigned)ledger_int(&c) & LEDGER_KIND;
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
