#include "store/ledger_overrides.h"

#include "store/facts_private.h"
#include "store/ledger_private.h"

#define COLUMNS                                                                                    \
	"id, budget, value, nano, made_ms, until_ms, made_by, reason, revoked_by, revoked_why,"    \
	" replaces"

#define OPEN_DAY "(SELECT value FROM number WHERE key = 'open_day')"

static const char sql_put[] = "INSERT INTO budget_override (" COLUMNS ", made_day, until_day)"
			      " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13"
			      " WHERE ?12 >= COALESCE(" OPEN_DAY ", ?12) ON CONFLICT DO NOTHING";
static const char sql_end[] =
	"UPDATE budget_override SET until_ms = ?3, revoked_by = ?4, revoked_why = ?5,"
	" until_day = ?6 WHERE made_ms = ?1 AND id = ?2 AND until_ms <> ?3"
	" AND MIN(until_day, ?6) >= COALESCE(" OPEN_DAY ", ?6)";
static const char sql_of[] = "SELECT " COLUMNS " FROM budget_override"
			     " WHERE made_ms >= ? AND made_ms < ? ORDER BY made_ms, id";

static const char sql_days[] =
	"SELECT " COLUMNS
	", until_day FROM budget_override WHERE (made_day >= ?1 AND made_day < ?2)"
	" OR (until_day >= ?1 AND until_day < ?2) ORDER BY made_ms, id";

static int end_override(struct ledger *l, const struct fact_override *o, int64_t until_day,
			struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_end, e) < 0)
		return -1;
	db_put_int(&c, o->made_ms);
	db_put_int(&c, o->id);
	db_put_int(&c, o->until_ms);
	ledger_put_text(&c, o->revoked_by);
	ledger_put_text(&c, o->revoked_why);
	db_put_int(&c, until_day);
	return ledger_do(l, &c, e);
}

int ledger_put_override(struct ledger *l, const struct fact_override *o, int64_t made_day,
			int64_t until_day, struct err *e)
{
	struct db_cursor c;

	if (end_override(l, o, until_day, e) < 0 || ledger_stmt(l, &c, sql_put, e) < 0)
		return -1;
	db_put_int(&c, o->id);
	ledger_put_text(&c, o->budget);
	ledger_put_text(&c, o->value);
	db_put_int(&c, o->nano);
	db_put_int(&c, o->made_ms);
	db_put_int(&c, o->until_ms);
	ledger_put_text(&c, o->by);
	ledger_put_text(&c, o->reason);
	ledger_put_text(&c, o->revoked_by);
	ledger_put_text(&c, o->revoked_why);
	db_put_int(&c, o->set);
	db_put_int(&c, made_day);
	db_put_int(&c, until_day);
	return ledger_do(l, &c, e);
}

int ledger_overrides(struct ledger *l, int64_t from_ms, int64_t to_ms, fact_override_fn fn,
		     void *ctx, struct err *e)
{
	const struct facts_visit v = {.override = fn, .ctx = ctx, .table = "budget_override"};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_of, e) < 0)
		return -1;
	db_put_int(&c, from_ms);
	db_put_int(&c, to_ms);
	return facts_visit_all(l->db, &c, facts_read_override, &v, e);
}

static void digest_fixed(struct digest *d, const struct fact_override *o)
{
	const int64_t numbers[] = {o->id, o->nano, o->made_ms, o->set};
	const char *const texts[] = {o->budget, o->value, o->by, o->reason};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		digest_int(d, numbers[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		digest_text(d, texts[i]);
}

/* Its last column is until_day. */
struct digesting {
	struct digest *d;
	struct db_cursor *c;
	int64_t to_day, n;
};

static int digest_override(void *ctx, const struct fact_override *o, struct err *e)
{
	struct digesting *all = ctx;

	(void)e;
	digest_fixed(all->d, o);
	all->n++;
	if (ledger_int(all->c) >= all->to_day)
		return 0;
	digest_int(all->d, o->until_ms);
	digest_text(all->d, o->revoked_by);
	digest_text(all->d, o->revoked_why);
	return 0;
}

int ledger_digest_overrides(struct ledger *l, int64_t from_day, int64_t to_day, struct digest *d,
			    int64_t *n, struct err *e)
{
	struct db_cursor c;
	struct digesting all = {.d = d, .c = &c, .to_day = to_day};
	const struct facts_visit v = {
		.override = digest_override, .ctx = &all, .table = "budget_override"};
	int rc;

	*n = 0;
	if (ledger_stmt(l, &c, sql_days, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	db_put_int(&c, to_day);
	rc = facts_visit_all(l->db, &c, facts_read_override, &v, e);
	*n = all.n;
	return rc;
}
