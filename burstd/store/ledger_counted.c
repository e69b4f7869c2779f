#include "store/ledger_counted.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/ledger_private.h"

static const char sql_of[] = "SELECT day, provider, market, pool, bill, counted, slack, ended_ms"
			     " FROM counted WHERE lifetime = ? ORDER BY day";
static const char sql_delete[] = "DELETE FROM counted WHERE lifetime = ?";
static const char sql_insert[] =
	"INSERT INTO counted (lifetime, day, provider, market, pool, bill, counted, slack,"
	" ended_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_put_spent[] =
	"INSERT INTO spent (day, provider, market, pool, nano) VALUES (?, ?, ?, ?, ?)"
	" ON CONFLICT (day, provider, market, pool) DO UPDATE SET nano = excluded.nano"
	" WHERE nano <> excluded.nano";
static const char sql_both[] =
	"SELECT day, provider, market, pool, SUM(spent), SUM(bill), SUM(counted), SUM(slack),"
	" MIN(ended_ms) FROM (SELECT day, provider, market, pool, 0 AS spent, bill, counted,"
	" slack, ended_ms FROM counted WHERE day >= ?1 UNION ALL SELECT day, provider, market,"
	" pool, nano, 0, 0, 0, 9223372036854775807 FROM spent WHERE day >= ?1)"
	" GROUP BY day, provider, market, pool";
static const char sql_forget[] = "DELETE FROM agreement WHERE day >= ?";
static const char sql_put[] =
	"INSERT INTO agreement (day, provider, market, pool, state, spent, bill)"
	" VALUES (?, ?, ?, ?, ?, ?, ?)";
static const char sql_count[] = "SELECT COUNT(*) FROM agreement WHERE state = ?";
static const char sql_differing[] =
	"SELECT day, provider, market, pool, state, spent, bill FROM agreement"
	" WHERE state = ? AND state <> 0 ORDER BY day DESC, provider, market, pool LIMIT ?";

enum { ROW = 8 };

static int words_of(struct ledger *l, const struct ledger_place *p, int64_t words[3], struct err *e)
{
	if (ledger_word(l, p->provider, &words[0], e) < 0 ||
	    ledger_word(l, p->market, &words[1], e) < 0)
		return -1;
	return ledger_word(l, p->pool, &words[2], e);
}

static void row_of(const struct ledger_counted *c, const int64_t words[3], int64_t row[ROW])
{
	const int64_t fields[ROW] = {c->day,  words[0],   words[1], words[2],
				     c->bill, c->counted, c->slack, c->ended_ms};

	for (size_t i = 0; i < ROW; i++)
		row[i] = fields[i];
}

int ledger_compare_from(struct ledger *l, int64_t day, struct err *e)
{
	return ledger_lower(l, LEDGER_AGREE_DAY, day, e);
}

int ledger_set_counted(struct ledger *l, const struct ledger_days *d, struct err *e)
{
	struct ledger_days_of all = {.sql_select = sql_of,
				     .sql_delete = sql_delete,
				     .sql_insert = sql_insert,
				     .key = LEDGER_AGREE_DAY,
				     .lifetime = d->lifetime,
				     .width = ROW,
				     .n = d->n};
	int64_t words[3], *rows;
	int rc;

	if (words_of(l, &d->place, words, e) < 0)
		return -1;
	rows = mem_zalloc((d->n + 1) * ROW * sizeof(*rows));
	for (size_t i = 0; i < d->n; i++)
		row_of(&d->v[i], words, rows + i * ROW);
	all.rows = rows;
	rc = ledger_set_days(l, &all, e);
	free(rows);
	return rc;
}

int ledger_put_spent(struct ledger *l, const struct fact_spent *s, struct err *e)
{
	const struct ledger_place place = {s->provider, s->market, s->pool};
	int64_t words[3];
	struct db_cursor c;
	int rc;

	if (words_of(l, &place, words, e) < 0 || ledger_stmt(l, &c, sql_put_spent, e) < 0)
		return -1;
	db_put_int(&c, s->day);
	for (size_t i = 0; i < 3; i++)
		db_put_int(&c, words[i]);
	db_put_int(&c, s->nano);
	rc = ledger_add(l, &c, NULL, e);
	return rc == 1 ? ledger_compare_from(l, s->day, e) : rc;
}

int ledger_both(struct ledger *l, int64_t from_day, ledger_both_fn fn, void *ctx, struct err *e)
{
	enum { BOTH = 9 };
	int64_t row[BOTH];
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_both, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	while ((rc = ledger_next(l, &c, row, BOTH, "counted", e)) == 1) {
		const struct ledger_both b = {.day = row[0],
					      .provider = row[1],
					      .market = row[2],
					      .pool = row[3],
					      .spent = row[4],
					      .bill = row[5],
					      .counted = row[6],
					      .slack = row[7],
					      .ended_ms = row[8]};

		if (fn(ctx, &b, e) < 0) {
			db_reset(c.st);
			return -1;
		}
	}
	return rc;
}

int ledger_forget_agreed(struct ledger *l, int64_t from_day, struct err *e)
{
	return ledger_put_row(l, sql_forget, &from_day, 1, e);
}

int ledger_put_agreed(struct ledger *l, const struct ledger_agreed *a, struct err *e)
{
	const int64_t row[] = {a->day,   a->provider, a->market, a->pool,
			       a->state, a->spent,    a->bill};

	return ledger_put_row(l, sql_put, row, sizeof(row) / sizeof(row[0]), e);
}

int ledger_count_agreed(struct ledger *l, int64_t n[LEDGER_DIFFERS + 1], struct err *e)
{
	return ledger_count_states(l, sql_count, n, LEDGER_DIFFERS + 1, e);
}

int ledger_differing(struct ledger *l, unsigned limit, ledger_agreed_fn fn, void *ctx,
		     struct err *e)
{
	enum { AGREED = 7 };
	int64_t row[AGREED];
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_differing, e) < 0)
		return -1;
	db_put_int(&c, LEDGER_DIFFERS);
	db_put_int(&c, limit);
	while ((rc = ledger_next(l, &c, row, AGREED, "agreement", e)) == 1) {
		const struct ledger_agreed a = {.day = row[0],
						.provider = row[1],
						.market = row[2],
						.pool = row[3],
						.state = (enum ledger_agreement)row[4],
						.spent = row[5],
						.bill = row[6]};

		if (fn(ctx, &a, e) < 0) {
			db_reset(c.st);
			return -1;
		}
	}
	return rc;
}
