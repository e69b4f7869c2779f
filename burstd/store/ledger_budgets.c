#include "store/ledger_budgets.h"

#include "store/facts_private.h"
#include "store/ledger_private.h"

#define COLUMNS                                                                                    \
	"budget, value, period, begin_ms, end_ms, amount_nano, added_nano, carried_nano,"          \
	" spent_nano, held_nano, at_ms, counted"

static const char sql_put[] =
	"INSERT INTO budget_period (" COLUMNS ", last_day)"
	" SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13"
	" WHERE ?13 >= COALESCE((SELECT value FROM number WHERE key = 'open_day'), ?13)"
	" ON CONFLICT (budget, value, begin_ms, period) DO UPDATE SET end_ms = excluded.end_ms,"
	" amount_nano = excluded.amount_nano, added_nano = excluded.added_nano,"
	" carried_nano = excluded.carried_nano, spent_nano = excluded.spent_nano,"
	" held_nano = excluded.held_nano, at_ms = excluded.at_ms, counted = excluded.counted,"
	" last_day = excluded.last_day WHERE at_ms < excluded.at_ms";
static const char sql_of[] = "SELECT " COLUMNS " FROM budget_period"
			     " WHERE begin_ms >= ? AND end_ms <= ?"
			     " ORDER BY budget, begin_ms, end_ms, value";

static const char sql_days[] = "SELECT " COLUMNS " FROM budget_period"
			       " WHERE last_day >= ? AND last_day < ?"
			       " ORDER BY budget, value, begin_ms, period";

int ledger_put_budget(struct ledger *l, const struct fact_budget *b, int64_t last_day,
		      struct err *e)
{
	const int64_t numbers[] = {b->begin_ms, b->end_ms, b->amount, b->added,
				   b->carried,  b->spent,  b->held,   b->at_ms};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_put, e) < 0)
		return -1;
	ledger_put_text(&c, b->budget);
	ledger_put_text(&c, b->value);
	ledger_put_text(&c, b->period);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		db_put_int(&c, numbers[i]);
	ledger_put_text(&c, b->counted);
	db_put_int(&c, last_day);
	return ledger_do(l, &c, e);
}

int ledger_budgets(struct ledger *l, int64_t from_ms, int64_t to_ms, fact_budget_fn fn, void *ctx,
		   struct err *e)
{
	const struct facts_visit v = {.budget = fn, .ctx = ctx, .table = "budget_period"};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_of, e) < 0)
		return -1;
	db_put_int(&c, from_ms);
	db_put_int(&c, to_ms);
	return facts_visit_all(l->db, &c, facts_read_budget, &v, e);
}

struct digesting {
	struct digest *d;
	int64_t n;
};

static int digest_budget(void *ctx, const struct fact_budget *b, struct err *e)
{
	const int64_t numbers[] = {b->begin_ms, b->end_ms, b->amount, b->added,
				   b->carried,  b->spent,  b->held,   b->at_ms};
	const char *const texts[] = {b->budget, b->value, b->period, b->counted};
	struct digesting *all = ctx;

	(void)e;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		digest_int(all->d, numbers[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		digest_text(all->d, texts[i]);
	all->n++;
	return 0;
}

int ledger_digest_budgets(struct ledger *l, int64_t from_day, int64_t to_day, struct digest *d,
			  int64_t *n, struct err *e)
{
	struct digesting all = {.d = d};
	const struct facts_visit v = {
		.budget = digest_budget, .ctx = &all, .table = "budget_period"};
	struct db_cursor c;
	int rc;

	*n = 0;
	if (ledger_stmt(l, &c, sql_days, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	db_put_int(&c, to_day);
	rc = facts_visit_all(l->db, &c, facts_read_budget, &v, e);
	*n = all.n;
	return rc;
}
