/* What the two comparisons with burstd's budgets, of machines and of jobs, do alike: rows of
 * numbers of which the first is a day. */
#include "store/ledger_private.h"

int ledger_next(struct ledger *l, struct db_cursor *c, int64_t *row, size_t n, const char *table,
		struct err *e)
{
	int rc = db_step(l->db, c->st, e);

	if (rc != 1)
		return rc;
	c->at = 0;
	for (size_t i = 0; i < n; i++)
		row[i] = ledger_int(c);
	if (!c->bad)
		return 1;
	db_reset(c->st);
	return db_damaged(l->db, table, e);
}

int ledger_lower(struct ledger *l, const char *key, int64_t v, struct err *e)
{
	int64_t had;

	if (ledger_number(l, key, &had, e) < 0)
		return -1;
	return had == 0 || v < had ? ledger_put_number(l, key, v, e) : 0;
}

/* Are these its rows already?  *day: the first of those that it has.  A damaged one is no row of
 * these. */
static int is_there(struct ledger *l, const struct ledger_days_of *d, bool *same, int64_t *day,
		    struct err *e)
{
	struct db_cursor c;
	size_t at = 0;
	int rc;

	*same = true;
	if (ledger_stmt(l, &c, d->sql_select, e) < 0)
		return -1;
	db_put_int(&c, d->lifetime);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		c.at = 0;
		for (size_t i = 0; i < d->width; i++) {
			int64_t has = ledger_int(&c);

			if (at == 0 && i == 0)
				*day = has;
			*same = *same && at < d->n && has == d->rows[at * d->width + i];
		}
		at++;
	}
	*same = *same && at == d->n;
	return rc;
}

static int insert(struct ledger *l, const struct ledger_days_of *d, const int64_t *row,
		  struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, d->sql_insert, e) < 0)
		return -1;
	db_put_int(&c, d->lifetime);
	for (size_t i = 0; i < d->width; i++)
		db_put_int(&c, row[i]);
	return ledger_do(l, &c, e);
}

int ledger_set_days(struct ledger *l, const struct ledger_days_of *d, struct err *e)
{
	int64_t day = INT64_MAX;
	bool same;

	if (is_there(l, d, &same, &day, e) < 0)
		return -1;
	if (same)
		return 0;
	if (ledger_put_row(l, d->sql_delete, &d->lifetime, 1, e) < 0)
		return -1;
	for (size_t i = 0; i < d->n; i++)
		if (insert(l, d, d->rows + i * d->width, e) < 0)
			return -1;
	return ledger_lower(l, d->key, d->n > 0 && d->rows[0] < day ? d->rows[0] : day, e);
}

int ledger_count_states(struct ledger *l, const char *sql, int64_t *n, int nstates, struct err *e)
{
	for (int s = 0; s < nstates; s++) {
		struct db_cursor c;

		if (ledger_stmt(l, &c, sql, e) < 0)
			return -1;
		db_put_int(&c, s);
		if (ledger_ask(l, &c, &n[s], e) < 0)
			return -1;
	}
	return 0;
}

int ledger_put_row(struct ledger *l, const char *sql, const int64_t *row, size_t n, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		db_put_int(&c, row[i]);
	return ledger_do(l, &c, e);
}
