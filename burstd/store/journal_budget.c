/* The tables of budgets by period, and of overrides. */
#include "store/journal_budget.h"

#include "base/hostlist.h"
#include "store/private.h"

#define BUDGET_COLUMNS                                                                             \
	"budget, value, period, begin_ms, end_ms, amount_nano, added_nano, carried_nano,"          \
	" spent_nano, held_nano, drain_ms, requeue_ms, kill_ms, at_ms, counted"

static const char sql_put_budget[] = "INSERT OR REPLACE INTO budget_period (" BUDGET_COLUMNS ")"
				     " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/* at_ms stays, and is before the end in a new row: the row of the period that is now is the last.
 */
static const char sql_put_end[] =
	"INSERT INTO budget_period (" BUDGET_COLUMNS ", ended_ms)"
	" SELECT ?1, ?2, ?3, ?4, ?5, ?6, 0, 0, ?7, ?8, 0, 0, 0, ?5 - 1, ?9, ?10"
	" WHERE ?7 <> 0 OR ?8 <> 0 OR EXISTS (SELECT 1 FROM budget_period"
	" WHERE budget = ?1 AND value = ?2 AND begin_ms = ?4 AND period = ?3)"
	" ON CONFLICT (budget, value, begin_ms, period) DO UPDATE SET spent_nano = "
	"excluded.spent_nano,"
	" held_nano = excluded.held_nano, ended_ms = excluded.ended_ms";

static const char sql_put_steps[] =
	"UPDATE budget_period SET drain_ms = ?, requeue_ms = ?, kill_ms = ?"
	" WHERE budget = ? AND value = ? AND begin_ms = ?";

static const char sql_del_budgets[] = "DELETE FROM budget_period WHERE end_ms < ?";

/* The row of each line that was written last: of another kind of period one may begin later ... */
static const char sql_last_budgets[] =
	"SELECT " BUDGET_COLUMNS " FROM budget_period AS b WHERE (begin_ms, period) ="
	" (SELECT begin_ms, period FROM budget_period WHERE budget = b.budget AND value = b.value"
	" ORDER BY at_ms DESC, begin_ms DESC, period LIMIT 1)";

/* ... and all periods in which a budget was there, with the amount that it had by itself: in the
 * row of the budget, else in that row of a value for which none was set that was written last; -1:
 * there is none.  Then the values that had another one. */
static const char sql_past_budgets[] =
	"WITH own AS (SELECT budget, value, begin_ms, end_ms, at_ms,"
	" max(0, amount_nano - added_nano - carried_nano) AS nano FROM budget_period),"
	" latest AS (SELECT o.budget, o.begin_ms, o.end_ms, o.nano, MAX(CASE WHEN o.value = ''"
	" THEN 9223372036854775807 WHEN x.id IS NULL THEN o.at_ms ELSE -1 END) AS said"
	" FROM own AS o LEFT JOIN budget_override AS x ON x.budget = o.budget"
	" AND x.value = o.value AND x.replaces AND x.made_ms <= o.at_ms AND x.until_ms > o.at_ms"
	" GROUP BY o.budget, o.begin_ms, o.end_ms),"
	" shared AS (SELECT budget, begin_ms, end_ms,"
	" CASE WHEN said < 0 THEN -1 ELSE nano END AS nano FROM latest)"
	" SELECT budget, '', begin_ms, end_ms, nano FROM shared"
	" UNION ALL SELECT o.budget, o.value, o.begin_ms, o.end_ms, o.nano FROM own AS o"
	" JOIN shared AS s ON s.budget = o.budget AND s.begin_ms = o.begin_ms"
	" AND s.end_ms = o.end_ms"
	" WHERE o.value <> '' AND o.nano <> s.nano";

static const char sql_put_drained[] = "INSERT OR REPLACE INTO drained (node, gen) VALUES (?, ?)";

static const char sql_del_drained[] = "DELETE FROM drained WHERE node = ? AND gen = ?";

static const char sql_all_drained[] = "SELECT node, gen FROM drained ORDER BY node, gen";

#define OVERRIDE_COLUMNS                                                                           \
	"id, budget, value, nano, made_ms, until_ms, made_by, reason, revoked_by, revoked_why,"    \
	" replaces"

static const char sql_put_override[] =
	"INSERT INTO budget_override (" OVERRIDE_COLUMNS ") VALUES"
	" (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET until_ms = "
	"excluded.until_ms,"
	" revoked_by = excluded.revoked_by, revoked_why = excluded.revoked_why";

static const char sql_all_overrides[] =
	"SELECT " OVERRIDE_COLUMNS " FROM budget_override ORDER BY id";

void journal_put_budget(struct journal_tx *tx, const struct journal_budget *b)
{
	tx_effect(tx, sql_put_budget);
	tx_text(tx, b->budget);
	tx_text(tx, b->value);
	tx_text(tx, b->period);
	tx_int(tx, b->begin_ms);
	tx_int(tx, b->end_ms);
	tx_int(tx, b->amount);
	tx_int(tx, b->added);
	tx_int(tx, b->carried);
	tx_int(tx, b->spent);
	tx_int(tx, b->held);
	for (int s = BUDGET_DRAINS; s < BUDGET_NSTEPS; s++)
		tx_int(tx, b->since_ms[s]);
	tx_int(tx, b->at_ms);
	tx_text(tx, b->counted);
}

void journal_put_budget_steps(struct journal_tx *tx, const struct journal_budget *b)
{
	tx_effect(tx, sql_put_steps);
	for (int s = BUDGET_DRAINS; s < BUDGET_NSTEPS; s++)
		tx_int(tx, b->since_ms[s]);
	tx_text(tx, b->budget);
	tx_text(tx, b->value);
	tx_int(tx, b->begin_ms);
}

void journal_put_budget_end(struct journal_tx *tx, const struct journal_budget *b)
{
	tx_effect(tx, sql_put_end);
	tx_text(tx, b->budget);
	tx_text(tx, b->value);
	tx_text(tx, b->period);
	tx_int(tx, b->begin_ms);
	tx_int(tx, b->end_ms);
	tx_int(tx, b->amount);
	tx_int(tx, b->spent);
	tx_int(tx, b->held);
	tx_text(tx, b->counted);
	tx_int(tx, b->at_ms);
}

void journal_del_budgets(struct journal_tx *tx, int64_t end_ms)
{
	tx_effect(tx, sql_del_budgets);
	tx_int(tx, end_ms);
}

void journal_put_drained(struct journal_tx *tx, const char *node, uint64_t gen)
{
	tx_effect(tx, sql_put_drained);
	tx_text(tx, node);
	tx_bits(tx, gen);
}

void journal_del_drained(struct journal_tx *tx, const char *node, uint64_t gen)
{
	tx_effect(tx, sql_del_drained);
	tx_text(tx, node);
	tx_bits(tx, gen);
}

void journal_put_override(struct journal_tx *tx, const struct journal_override *o)
{
	tx_effect(tx, sql_put_override);
	tx_int(tx, o->id);
	tx_text(tx, o->budget);
	tx_text(tx, o->value);
	tx_int(tx, o->nano);
	tx_int(tx, o->made_ms);
	tx_int(tx, o->until_ms);
	tx_text(tx, o->by);
	tx_text(tx, o->reason);
	tx_text(tx, o->revoked_by);
	tx_text(tx, o->revoked_why);
	tx_int(tx, o->set);
}

static int read_budget(const struct journal *j, struct db_cursor *c,
		       const struct journal_visitor *v, struct err *e)
{
	struct journal_budget b = {.budget = db_get_text(c, BUDGET_VALUE_MAX)};

	b.value = db_get_text(c, BUDGET_VALUE_MAX);
	b.period = db_get_text(c, PERIOD_NAME_SIZE - 1);
	b.begin_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	b.end_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	b.amount = db_get_int(c, 0, INT64_MAX);
	b.added = db_get_int(c, 0, INT64_MAX);
	b.carried = db_get_int(c, 0, INT64_MAX);
	b.spent = db_get_int(c, INT64_MIN, INT64_MAX);
	b.held = db_get_int(c, INT64_MIN, INT64_MAX);
	for (int s = BUDGET_DRAINS; s < BUDGET_NSTEPS; s++)
		b.since_ms[s] = db_get_int(c, 0, INT64_MAX);
	b.at_ms = db_get_int(c, 0, INT64_MAX);
	b.counted = db_get_text(c, JOURNAL_BUDGET_COUNTED_MAX);
	return c->bad ? db_damaged(j->db, "budget_period", e) : v->budget(v->ctx, &b, e);
}

static int read_past(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		     struct err *e)
{
	struct journal_past p = {.budget = db_get_text(c, BUDGET_VALUE_MAX)};

	p.value = db_get_text(c, BUDGET_VALUE_MAX);
	p.span.begin_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	p.span.end_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	p.amount = db_get_int(c, p.value[0] == '\0' ? -1 : 0, INT64_MAX);
	return c->bad ? db_damaged(j->db, "budget_period", e) : v->budget_past(v->ctx, &p, e);
}

static int read_override(const struct journal *j, struct db_cursor *c,
			 const struct journal_visitor *v, struct err *e)
{
	struct journal_override o = {.id = db_get_int(c, 1, INT64_MAX)};

	o.budget = db_get_text(c, BUDGET_VALUE_MAX);
	o.value = db_get_text(c, BUDGET_VALUE_MAX);
	o.nano = db_get_int(c, 0, INT64_MAX);
	o.made_ms = db_get_int(c, 0, INT64_MAX);
	o.until_ms = db_get_int(c, 0, INT64_MAX);
	o.by = db_get_text(c, JOURNAL_OVERRIDE_BY_MAX);
	o.reason = db_get_text(c, JOURNAL_OVERRIDE_TEXT_MAX);
	o.revoked_by = db_get_text(c, JOURNAL_OVERRIDE_BY_MAX);
	o.revoked_why = db_get_text(c, JOURNAL_OVERRIDE_TEXT_MAX);
	o.set = db_get_int(c, 0, 1) == 1;
	if (c->bad || (o.nano == 0 && !o.set))
		return db_damaged(j->db, "budget_override", e);
	return v->override(v->ctx, &o, e);
}

static int read_drained(const struct journal *j, struct db_cursor *c,
			const struct journal_visitor *v, struct err *e)
{
	const char *node = db_get_text(c, HOSTLIST_NAME_MAX);
	uint64_t gen = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);

	return c->bad ? db_damaged(j->db, "drained", e) : v->drained(v->ctx, node, gen, e);
}

int journal_load_budgets(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	if (v->budget != NULL && journal_read(j, sql_last_budgets, read_budget, v, e) < 0)
		return -1;
	if (v->budget_past != NULL && journal_read(j, sql_past_budgets, read_past, v, e) < 0)
		return -1;
	if (v->drained != NULL && journal_read(j, sql_all_drained, read_drained, v, e) < 0)
		return -1;
	return v->override != NULL ? journal_read(j, sql_all_overrides, read_override, v, e) : 0;
}
