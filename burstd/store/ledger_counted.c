#include "store/ledger_counted.h"

#include "store/ledger_private.h"

static const char sql_of[] = "SELECT day, provider, market, pool, bill, counted, slack, ended_ms"
			     " FROM counted WHERE lifetime = ? ORDER BY day";
static const char sql_delete[] = "DELETE FROM counted WHERE lifetime = ?";
static const char sql_insert[] =
	"INSERT INTO counted (lifetime, day, provider, market, pool, bill, counted, slack,"
	" ended_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_put_spent[] =
	"INSERT INTO spent (day, provider, market, pool, nano) VALUES (?, ?, ?, ?, ?)"
	" ON CONFLICT DO UPDATE SET nano = excluded.nano WHERE nano <> excluded.nano"
	" RETURNING day";
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

/* Are these its rows already?  *day: the first of those that it has. */
static int is_there(struct ledger *l, const struct ledger_days *d, const int64_t words[3],
		    bool *same, int64_t *day, struct err *e)
{
	struct db_cursor c;
	size_t at = 0;
	int rc;

	*same = true;
	if (ledger_stmt(l, &c, sql_of, e) < 0)
		return -1;
	db_put_int(&c, d->lifetime);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		int64_t want[ROW] = {0};

		c.at = 0;
		if (at < d->n)
			row_of(&d->v[at], words, want);
		for (size_t i = 0; i < ROW; i++) {
			int64_t has = ledger_int(&c);

			if (at == 0 && i == 0)
				*day = has;
			*same = *same && at < d->n && has == want[i];
		}
		at++;
	}
	*same = *same && at == d->n;
	return rc;
}

static int insert(struct ledger *l, int64_t lifetime, const int64_t row[ROW], struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_insert, e) < 0)
		return -1;
	db_put_int(&c, lifetime);
	for (size_t i = 0; i < ROW; i++)
		db_put_int(&c, row[i]);
	return ledger_do(l, &c, e);
}

int ledger_compare_from(struct ledger *l, int64_t day, struct err *e)
{
	int64_t from;

	if (ledger_number(l, LEDGER_AGREE_DAY, &from, e) < 0)
		return -1;
	return from == 0 || day < from ? ledger_put_number(l, LEDGER_AGREE_DAY, day, e) : 0;
}

int ledger_set_counted(struct ledger *l, const struct ledger_days *d, struct err *e)
{
	struct db_cursor c;
	int64_t day = INT64_MAX, words[3];
	bool same;

	if (words_of(l, &d->place, words, e) < 0 || is_there(l, d, words, &same, &day, e) < 0)
		return -1;
	if (same)
		return 0;
	if (ledger_stmt(l, &c, sql_delete, e) < 0)
		return -1;
	db_put_int(&c, d->lifetime);
	if (ledger_do(l, &c, e) < 0)
		return -1;
	for (size_t i = 0; i < d->n; i++) {
		int64_t row[ROW];

		row_of(&d->v[i], words, row);
		if (insert(l, d->lifetime, row, e) < 0)
			return -1;
	}
	return ledger_compare_from(l, d->n > 0 && d->v[0].day < day ? d->v[0].day : day, e);
}

int ledger_put_spent(struct ledger *l, const struct fact_spent *s, struct err *e)
{
	const struct ledger_place place = {s->provider, s->market, s->pool};
	int64_t words[3], day;
	struct db_cursor c;
	int rc;

	if (words_of(l, &place, words, e) < 0 || ledger_stmt(l, &c, sql_put_spent, e) < 0)
		return -1;
	db_put_int(&c, s->day);
	for (size_t i = 0; i < 3; i++)
		db_put_int(&c, words[i]);
	db_put_int(&c, s->nano);
	rc = ledger_ask(l, &c, &day, e);
	return rc == 1 ? ledger_compare_from(l, day, e) : rc;
}

int ledger_both(struct ledger *l, int64_t from_day, ledger_both_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_both, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		struct ledger_both b = {0};
		int64_t *const fields[] = {&b.day,  &b.provider, &b.market, &b.pool,    &b.spent,
					   &b.bill, &b.counted,  &b.slack,  &b.ended_ms};

		c.at = 0;
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			*fields[i] = ledger_int(&c);
		if (c.bad || fn(ctx, &b, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "counted", e) : -1;
		}
	}
	return rc;
}

int ledger_forget_agreed(struct ledger *l, int64_t from_day, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_forget, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	return ledger_do(l, &c, e);
}

int ledger_put_agreed(struct ledger *l, const struct ledger_agreed *a, struct err *e)
{
	const int64_t row[] = {a->day,   a->provider, a->market, a->pool,
			       a->state, a->spent,    a->bill};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_put, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		db_put_int(&c, row[i]);
	return ledger_do(l, &c, e);
}

int ledger_count_agreed(struct ledger *l, int64_t n[LEDGER_DIFFERS + 1], struct err *e)
{
	for (int s = 0; s <= LEDGER_DIFFERS; s++) {
		struct db_cursor c;

		if (ledger_stmt(l, &c, sql_count, e) < 0)
			return -1;
		db_put_int(&c, s);
		if (ledger_ask(l, &c, &n[s], e) < 0)
			return -1;
	}
	return 0;
}

int ledger_differing(struct ledger *l, unsigned limit, ledger_agreed_fn fn, void *ctx,
		     struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_differing, e) < 0)
		return -1;
	db_put_int(&c, LEDGER_DIFFERS);
	db_put_int(&c, limit);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		struct ledger_agreed a = {0};
		int64_t state = 0, *const fields[] = {&a.day, &a.provider, &a.market, &a.pool,
						      &state, &a.spent,    &a.bill};

		c.at = 0;
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			*fields[i] = ledger_int(&c);
		a.state = (enum ledger_agreement)state;
		if (c.bad || fn(ctx, &a, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "agreement", e) : -1;
		}
	}
	return rc;
}
