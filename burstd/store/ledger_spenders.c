#include "store/ledger_spenders.h"

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
	" FROM dims WHERE id = ?1 RETURNING id";

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
	" ON CONFLICT DO UPDATE SET nano = excluded.nano, changed_ms = excluded.changed_ms"
	" WHERE nano <> excluded.nano RETURNING day";
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
	" ON CONFLICT DO UPDATE SET state = excluded.state, spent = excluded.spent,"
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
		rc = ledger_ask(l, &c, spender, e);
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

/* Are these its rows already?  *day: the first of those that it has. */
static int is_there(struct ledger *l, const struct ledger_stays *s, bool *same, int64_t *day,
		    struct err *e)
{
	struct db_cursor c;
	size_t at = 0;
	int rc;

	*same = true;
	if (ledger_stmt(l, &c, sql_stays, e) < 0)
		return -1;
	db_put_int(&c, s->lifetime);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		int64_t want[STAY] = {0};

		c.at = 0;
		if (at < s->n)
			row_of(&s->v[at], want);
		for (size_t i = 0; i < STAY; i++) {
			int64_t has = ledger_int(&c);

			if (at == 0 && i == 0)
				*day = has;
			*same = *same && at < s->n && has == want[i];
		}
		at++;
	}
	*same = *same && at == s->n;
	return rc;
}

static int insert(struct ledger *l, int64_t lifetime, const struct ledger_stay *s, struct err *e)
{
	int64_t row[STAY];
	struct db_cursor c;

	row_of(s, row);
	if (ledger_stmt(l, &c, sql_put_stay, e) < 0)
		return -1;
	db_put_int(&c, lifetime);
	for (size_t i = 0; i < STAY; i++)
		db_put_int(&c, row[i]);
	return ledger_do(l, &c, e);
}

int ledger_compare_jobs_from(struct ledger *l, int64_t day, struct err *e)
{
	int64_t from;

	if (ledger_number(l, LEDGER_AGREE_JOBS, &from, e) < 0)
		return -1;
	return from == 0 || day < from ? ledger_put_number(l, LEDGER_AGREE_JOBS, day, e) : 0;
}

int ledger_set_stays(struct ledger *l, const struct ledger_stays *s, struct err *e)
{
	struct db_cursor c;
	int64_t day = INT64_MAX;
	bool same;

	if (is_there(l, s, &same, &day, e) < 0)
		return -1;
	if (same)
		return 0;
	if (ledger_stmt(l, &c, sql_del_stays, e) < 0)
		return -1;
	db_put_int(&c, s->lifetime);
	if (ledger_do(l, &c, e) < 0)
		return -1;
	for (size_t i = 0; i < s->n; i++)
		if (insert(l, s->lifetime, &s->v[i], e) < 0)
			return -1;
	return ledger_compare_jobs_from(l, s->n > 0 && s->v[0].day < day ? s->v[0].day : day, e);
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
	int64_t spender, day;
	struct db_cursor c;
	int rc;

	if (ledger_dims_id(l, &d, &spender, e) < 0 || ledger_stmt(l, &c, sql_put_spent, e) < 0)
		return -1;
	db_put_int(&c, s->day);
	db_put_int(&c, spender);
	db_put_int(&c, s->nano);
	db_put_int(&c, now_ms);
	rc = ledger_ask(l, &c, &day, e);
	return rc == 1 ? ledger_compare_jobs_from(l, day, e) : rc;
}

int ledger_forget_job_spent(struct ledger *l, int64_t day, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_del_spent, e) < 0)
		return -1;
	db_put_int(&c, day);
	return ledger_do(l, &c, e) < 0 ? -1 : ledger_compare_jobs_from(l, day, e);
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
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_both, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	db_put_int(&c, since_ms);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		struct ledger_job_both b = {0};
		int64_t *const fields[] = {&b.day, &b.spender, &b.spent,    &b.bill,
					   &b.low, &b.high,    &b.moment_ms};

		c.at = 0;
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			*fields[i] = ledger_int(&c);
		if (c.bad || fn(ctx, &b, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "stay", e) : -1;
		}
	}
	return rc;
}

int ledger_put_job_agreed(struct ledger *l, const struct ledger_job_agreed *a, struct err *e)
{
	const int64_t row[] = {a->day, a->spender, a->state, a->spent, a->bill};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_put_agreed, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		db_put_int(&c, row[i]);
	return ledger_do(l, &c, e);
}

int ledger_tidy_job_agreed(struct ledger *l, int64_t from_day, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_tidy, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	return ledger_do(l, &c, e);
}

int ledger_count_job_agreed(struct ledger *l, int64_t n[LEDGER_JOBS_NSTATES], struct err *e)
{
	for (int s = 0; s < LEDGER_JOBS_NSTATES; s++) {
		struct db_cursor c;

		if (ledger_stmt(l, &c, sql_count, e) < 0)
			return -1;
		db_put_int(&c, s);
		if (ledger_ask(l, &c, &n[s], e) < 0)
			return -1;
	}
	return 0;
}

int ledger_jobs_differing(struct ledger *l, unsigned limit, ledger_job_agreed_fn fn, void *ctx,
			  struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_differing, e) < 0)
		return -1;
	db_put_int(&c, LEDGER_JOBS_DIFFER);
	db_put_int(&c, limit);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		struct ledger_job_agreed a = {0};
		int64_t state = 0, *const fields[] = {&a.day, &a.spender, &state, &a.spent,
						      &a.bill};

		c.at = 0;
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			*fields[i] = ledger_int(&c);
		a.state = (enum ledger_job_agreement)state;
		if (c.bad || fn(ctx, &a, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "job_agreement", e) : -1;
		}
	}
	return rc;
}
