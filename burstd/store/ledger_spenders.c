#include "store/ledger_spenders.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/ledger_postings.h"
#include "store/ledger_private.h"

static const char sql_spender[] =
	"SELECT s.id FROM dims AS d JOIN dims AS s ON s.account = d.account AND s.user = d.user"
	" AND s.partition = d.partition AND s.qos = d.qos AND s.wckey = ?2"
	" AND s.provider = d.provider AND s.market = d.market AND s.pool = d.pool AND s.type = ?2"
	" AND s.currency = ?2 WHERE d.id = ?1";
static const char sql_put_spender[] =
	"INSERT INTO dims (account, user, partition, qos, wckey, provider, market, pool, type,"
	" currency) SELECT account, user, partition, qos, ?2, provider, market, pool, ?2, ?2"
	" FROM dims WHERE id = ?1";

static const char sql_stays[] = "SELECT day, spender, bill, low, high, from_ms, until_ms FROM stay"
				" WHERE lifetime = ? ORDER BY day, spender";
static const char sql_del_stays[] = "DELETE FROM stay WHERE lifetime = ?";
static const char sql_put_stay[] =
	"INSERT INTO stay (lifetime, day, spender, bill, low, high, from_ms, until_ms)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

static const char sql_wanted[] =
	"SELECT COALESCE(MIN(l.at_ms), ?3) FROM buyer AS b JOIN life AS l ON l.node = b.node"
	" AND l.gen = b.gen AND l.kind = 'wanted' AND l.at_ms BETWEEN ?2 AND ?3 WHERE b.job = ?1";

static const char sql_put_spent[] =
	"INSERT INTO spent_job (day, spender, nano, changed_ms) VALUES (?, ?, ?, ?)"
	" ON CONFLICT (day, spender) DO UPDATE SET nano = excluded.nano, changed_ms = "
	"excluded.changed_ms"
	" WHERE nano <> excluded.nano";
static const char sql_del_spent[] = "DELETE FROM spent_job WHERE day = ?";
static const char sql_spent_on[] = "SELECT COALESCE(SUM(nano), 0) FROM spent_job WHERE day = ?";

static const char sql_both[] =
	"SELECT day, spender, SUM(spent), SUM(bill), SUM(low), SUM(high), MAX(moment) FROM"
	" (SELECT day, spender, 0 AS spent, bill, (from_ms >= ?2) * low AS low, high,"
	" until_ms AS moment FROM stay WHERE day >= ?1"
	" UNION ALL SELECT day, spender, nano, 0, 0, 0, changed_ms FROM spent_job WHERE day >= ?1)"
	" GROUP BY day, spender";

static const char sql_put_agreed[] =
	"INSERT INTO job_agreement (day, spender, state, spent, bill) VALUES (?, ?, ?, ?, ?)"
	" ON CONFLICT (day, spender) DO UPDATE SET state = excluded.state, spent = excluded.spent,"
	" bill = excluded.bill WHERE (state, spent, bill) <>"
	" (excluded.state, excluded.spent, excluded.bill)";
static const char sql_tidy[] =
	"DELETE FROM job_agreement AS a WHERE a.day >= ?1 AND NOT EXISTS (SELECT 1 FROM stay AS s"
	" WHERE s.day = a.day AND s.spender = a.spender) AND NOT EXISTS (SELECT 1 FROM spent_job AS"
	" s WHERE s.day = a.day AND s.spender = a.spender)";
static const char sql_count[] = "SELECT COUNT(*) FROM job_agreement WHERE state = ?";
static const char sql_differing[] =
	"SELECT day, spender, state, spent, bill FROM job_agreement WHERE state = ? AND state <> 0"
	" ORDER BY day DESC, spender LIMIT ?";

enum { STAY = 7 };

int ledger_spender(struct ledger *l, int64_t dims, int64_t *spender, struct err *e)
{
	struct db_cursor c;
	int64_t none;
	int rc = 0;

	*spender = 0;
	if (ledger_word(l, "", &none, e) < 0)
		return -1;
	for (int try = 0; try < (l->to_read ? 1 : 2) && rc == 0; try++) {
		if (ledger_stmt(l, &c, try == 0 ? sql_spender : sql_put_spender, e) < 0)
			return -1;
		db_put_int(&c, dims);
		db_put_int(&c, none);
		rc = try == 0 ? ledger_ask(l, &c, spender, e) : ledger_add(l, &c, spender, e);
	}
	return rc < 0 ? -1 : 0;
}

/* --- stays -------------------------------------------------------------------------------------
 */

static void row_of(const struct ledger_stay *s, int64_t row[STAY])
{
	const int64_t fields[STAY] = {s->day,  s->spender, s->bill,    s->low,
				      s->high, s->from_ms, s->until_ms};

	for (size_t i = 0; i < STAY; i++)
		row[i] = fields[i];
}

int ledger_compare_jobs_from(struct ledger *l, int64_t day, struct err *e)
{
	return ledger_lower(l, LEDGER_AGREE_JOBS, day, e);
}

int ledger_set_stays(struct ledger *l, const struct ledger_stays *s, struct err *e)
{
	int64_t *rows = mem_zalloc((s->n + 1) * STAY * sizeof(*rows));
	const struct ledger_days_of all = {.sql_select = sql_stays,
					   .sql_delete = sql_del_stays,
					   .sql_insert = sql_put_stay,
					   .key = LEDGER_AGREE_JOBS,
					   .lifetime = s->lifetime,
					   .rows = rows,
					   .width = STAY,
					   .n = s->n};
	int rc;

	for (size_t i = 0; i < s->n; i++)
		row_of(&s->v[i], rows + i * STAY);
	rc = ledger_set_days(l, &all, e);
	free(rows);
	return rc;
}

int ledger_wanted_ms(struct ledger *l, uint64_t job, int64_t from_ms, int64_t to_ms, int64_t *ms,
		     struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_wanted, e) < 0)
		return -1;
	db_put_int(&c, (int64_t)job);
	db_put_int(&c, from_ms);
	db_put_int(&c, to_ms);
	return ledger_ask(l, &c, ms, e) < 0 ? -1 : 0;
}

/* --- what budgets have -------------------------------------------------------------------------
 */

int ledger_put_job_spent(struct ledger *l, const struct fact_job_spent *s, int64_t now_ms,
			 struct err *e)
{
	const struct ledger_dims d = {.account = s->account,
				      .user = s->user,
				      .partition = s->partition,
				      .qos = s->qos,
				      .wckey = "",
				      .provider = s->provider,
				      .market = s->market,
				      .pool = s->pool,
				      .type = "",
				      .currency = ""};
	int64_t spender;
	struct db_cursor c;
	int rc;

	if (ledger_dims_id(l, &d, &spender, e) < 0 || ledger_stmt(l, &c, sql_put_spent, e) < 0)
		return -1;
	db_put_int(&c, s->day);
	db_put_int(&c, spender);
	db_put_int(&c, s->nano);
	db_put_int(&c, now_ms);
	rc = ledger_add(l, &c, NULL, e);
	return rc == 1 ? ledger_compare_jobs_from(l, s->day, e) : rc;
}

int ledger_forget_job_spent(struct ledger *l, int64_t day, struct err *e)
{
	return ledger_put_row(l, sql_del_spent, &day, 1, e) < 0
		       ? -1
		       : ledger_compare_jobs_from(l, day, e);
}

int ledger_job_spent_on(struct ledger *l, int64_t day, int64_t *nano, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_spent_on, e) < 0)
		return -1;
	db_put_int(&c, day);
	return ledger_ask(l, &c, nano, e) < 0 ? -1 : 0;
}

/* --- both --------------------------------------------------------------------------------------
 */

int ledger_job_both(struct ledger *l, int64_t from_day, int64_t since_ms, ledger_job_both_fn fn,
		    void *ctx, struct err *e)
{
	enum { BOTH = 7 };
	int64_t row[BOTH];
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_both, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	db_put_int(&c, since_ms);
	while ((rc = ledger_next(l, &c, row, BOTH, "stay", e)) == 1) {
		const struct ledger_job_both b = {.day = row[0],
						  .spender = row[1],
						  .spent = row[2],
						  .bill = row[3],
						  .low = row[4],
						  .high = row[5],
						  .moment_ms = row[6]};

		if (fn(ctx, &b, e) < 0) {
			db_reset(c.st);
			return -1;
		}
	}
	return rc;
}

int ledger_put_job_agreed(struct ledger *l, const struct ledger_job_agreed *a, struct err *e)
{
	const int64_t row[] = {a->day, a->spender, a->state, a->spent, a->bill};

	return ledger_put_row(l, sql_put_agreed, row, sizeof(row) / sizeof(row[0]), e);
}

int ledger_tidy_job_agreed(struct ledger *l, int64_t from_day, struct err *e)
{
	return ledger_put_row(l, sql_tidy, &from_day, 1, e);
}

int ledger_count_job_agreed(struct ledger *l, int64_t n[LEDGER_JOBS_NSTATES], struct err *e)
{
	return ledger_count_states(l, sql_count, n, LEDGER_JOBS_NSTATES, e);
}

int ledger_jobs_differing(struct ledger *l, unsigned limit, ledger_job_agreed_fn fn, void *ctx,
			  struct err *e)
{
	enum { AGREED = 5 };
	int64_t row[AGREED];
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_differing, e) < 0)
		return -1;
	db_put_int(&c, LEDGER_JOBS_DIFFER);
	db_put_int(&c, limit);
	while ((rc = ledger_next(l, &c, row, AGREED, "job_agreement", e)) == 1) {
		const struct ledger_job_agreed a = {.day = row[0],
						    .spender = row[1],
						    .state = (enum ledger_job_agreement)row[2],
						    .spent = row[3],
						    .bill = row[4]};

		if (fn(ctx, &a, e) < 0) {
			db_reset(c.st);
			return -1;
		}
	}
	return rc;
}
