#include "store/ledger_overrides.h"

#include "store/facts_private.h"
#include "store/ledger_private.h"

#define COLUMNS                                                                                    \
	"id, budget, value, nano, made_ms, until_ms, made_by, reason, revoked_by, revoked_why,"    \
	" replaces"

static const char sql_put[] =
	"INSERT INTO budget_override (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT DO UPDATE SET until_ms = excluded.until_ms,"
	" revoked_by = excluded.revoked_by, revoked_why = excluded.revoked_why"
	" WHERE until_ms <> excluded.until_ms";
static const char sql_of[] = "SELECT " COLUMNS " FROM budget_override"
			     " WHERE made_ms >= ? AND made_ms < ? ORDER BY made_ms, id";

int ledger_put_override(struct ledger *l, const struct fact_override *o, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_put, e) < 0)
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
