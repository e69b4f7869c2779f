#include "store/journal_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/facts_private.h"
#include "store/journal_money.h"
#include "store/schema.h"

enum {
	FACTS_STEP = 16, /* the step of the schema that made their tables */
};

struct journal_facts {
	struct db *db;
	bool has_prices, has_spent, has_overrides;
	bool has_budgets; /* with what periods came to, and overrides that set an amount */
};

static const char sql_lives[] =
	"SELECT seq, node, gen, kind, instance, at_ms, said_ms, rate_nano_h FROM life"
	" WHERE seq > ? ORDER BY seq LIMIT ?";

static const char sql_said[] = "SELECT seq, at_ms, job, id, account, user, partition, qos, wckey,"
			       " limit_s, nodes, cpus, memory_mb, gpus FROM job_said"
			       " WHERE seq > ? ORDER BY seq LIMIT ?";

static const char sql_prices[] =
	"SELECT seq, provider, region, zone, type, market, currency, nano_h, valid_from_ms,"
	" observed_ms, source FROM price WHERE seq > ? ORDER BY seq LIMIT ?";

static const char sql_machine[] =
	"SELECT node, gen, at_ms, pool, provider, offer, type, region, zone, market, currency,"
	" quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine WHERE node = ? AND gen = ?";

static const char sql_buyers[] = "SELECT job FROM buyer WHERE node = ? AND gen = ? ORDER BY job";

static const char sql_last[] = "SELECT COALESCE(MAX(seq), 0) FROM life";

static const char sql_has_prices[] =
	"SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'price'";
static const char sql_has_spent[] =
	"SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'spent'";
static const char sql_has_overrides[] =
	"SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'budget_override'";
static const char sql_has_budgets[] =
	"SELECT COUNT(*) FROM pragma_table_info('budget_period') WHERE name = 'ended_ms'";
static const char sql_since[] =
	"SELECT COALESCE((SELECT value FROM meta WHERE key = '" JOURNAL_BUDGETS_SINCE "'), 0)";

/* The rows of each day that are about machines come first in the table: jobs, which are a thousand
 * times as many, are not read. */
static const char sql_spent[] =
	"WITH RECURSIVE days (day) AS (SELECT MIN(day) FROM spent UNION ALL"
	" SELECT (SELECT MIN(s.day) FROM spent AS s WHERE s.day > days.day) FROM days"
	" WHERE days.day IS NOT NULL)"
	" SELECT s.day, s.provider, s.market, s.pool, SUM(s.nano) FROM days CROSS JOIN spent AS s"
	" WHERE s.day = days.day AND s.machine = 1 GROUP BY s.day, s.provider, s.market, s.pool";

static const char sql_job_days[] = "SELECT day, SUM(nano) FROM spent WHERE day >= ?"
				   " AND machine = 0 GROUP BY day";
static const char sql_job_spent[] =
	"SELECT day, account, user, qos, partition, pool, provider, market, SUM(nano) FROM spent"
	" WHERE day = ? AND machine = 0 GROUP BY account, user, qos, partition, pool, provider,"
	" market";
static const char sql_held[] =
	"SELECT COALESCE(MIN(from_ms), 9223372036854775807) FROM hold WHERE job <> 0";

#define OVERRIDES(set)                                                                             \
	"SELECT id, budget, value, nano, made_ms, until_ms, made_by, reason, revoked_by,"          \
	" revoked_why, " set " FROM budget_override ORDER BY id"
static const char sql_overrides[] = OVERRIDES("replaces");
static const char sql_added[] = OVERRIDES("0"); /* nothing could be set yet */
#undef OVERRIDES

static const char sql_budgets[] =
	"SELECT budget, value, period, begin_ms, end_ms, amount_nano, added_nano, carried_nano,"
	" spent_nano, held_nano, MAX(at_ms, ended_ms) AS of_ms, counted FROM budget_period"
	" WHERE begin_ms > 0 AND of_ms >= ?";

static const struct db_kind kind_of_journal = {.steps = schema_steps, .nsteps = SCHEMA_STEPS};

static int ask_number(struct journal_facts *f, const char *sql, int64_t *out, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(f->db, sql, e)};

	*out = 0;
	if (c.st == NULL || db_step(f->db, c.st, e) != 1)
		return -1;
	*out = db_get_int(&c, 0, INT64_MAX);
	db_reset(c.st);
	return c.bad ? db_damaged(f->db, "life", e) : 0;
}

int journal_facts_open(struct journal_facts **out, const char *path, struct err *e)
{
	struct journal_facts *f = mem_zalloc(sizeof(*f));
	int64_t prices, spent, overrides, budgets;
	int version = 0;

	*out = NULL;
	if (db_open_to_read(&f->db, path, &kind_of_journal, &version, e) < 0)
		goto fail;
	if (version < FACTS_STEP) {
		(void)err_set(e, ERR_IO, "%.120s: has no facts: its burstd is older", path);
		goto fail;
	}
	if (ask_number(f, sql_has_prices, &prices, e) < 0)
		goto fail;
	if (ask_number(f, sql_has_spent, &spent, e) < 0)
		goto fail;
	if (ask_number(f, sql_has_overrides, &overrides, e) < 0)
		goto fail;
	if (ask_number(f, sql_has_budgets, &budgets, e) < 0)
		goto fail;
	f->has_budgets = budgets > 0;
	f->has_prices = prices > 0;
	f->has_spent = spent > 0;
	f->has_overrides = overrides > 0;
	*out = f;
	return 0;
fail:
	journal_facts_close(f);
	return -1;
}

void journal_facts_close(struct journal_facts *f)
{
	if (f == NULL)
		return;
	db_close(f->db);
	free(f);
}

int journal_facts_last(struct journal_facts *f, int64_t *seq, struct err *e)
{
	return ask_number(f, sql_last, seq, e);
}

/* --- rows --------------------------------------------------------------------------------------
 */

static int visit_after(struct journal_facts *f, const char *sql, int64_t after, unsigned limit,
		       struct db_cursor *c, struct err *e)
{
	c->st = db_stmt(f->db, sql, e);
	if (c->st == NULL)
		return -1;
	db_put_int(c, after);
	db_put_int(c, limit);
	return 0;
}

int journal_facts_lives(struct journal_facts *f, int64_t after, unsigned limit, fact_life_fn fn,
			void *ctx, struct err *e)
{
	const struct facts_visit v = {.life = fn, .ctx = ctx, .table = "life"};
	struct db_cursor c = {0};

	if (visit_after(f, sql_lives, after, limit, &c, e) < 0)
		return -1;
	return facts_visit_all(f->db, &c, facts_read_life, &v, e);
}

int journal_facts_said(struct journal_facts *f, int64_t after, unsigned limit, fact_said_fn fn,
		       void *ctx, struct err *e)
{
	const struct facts_visit v = {.said = fn, .ctx = ctx, .table = "job_said"};
	struct db_cursor c = {0};

	if (visit_after(f, sql_said, after, limit, &c, e) < 0)
		return -1;
	return facts_visit_all(f->db, &c, facts_read_said, &v, e);
}

int journal_facts_prices(struct journal_facts *f, int64_t after, unsigned limit, fact_price_fn fn,
			 void *ctx, struct err *e)
{
	const struct facts_visit v = {.price = fn, .ctx = ctx, .table = "price"};
	struct db_cursor c = {0};

	if (!f->has_prices)
		return 0;
	if (visit_after(f, sql_prices, after, limit, &c, e) < 0)
		return -1;
	return facts_visit_all(f->db, &c, facts_read_price, &v, e);
}

static int visit_generation(struct journal_facts *f, const char *sql, const char *node,
			    uint64_t gen, struct db_cursor *c, struct err *e)
{
	c->st = db_stmt(f->db, sql, e);
	if (c->st == NULL)
		return -1;
	db_put_text(c, node, strlen(node));
	db_put_int(c, (int64_t)gen);
	return 0;
}

int journal_facts_machine(struct journal_facts *f, const char *node, uint64_t gen,
			  fact_machine_fn fn, void *ctx, struct err *e)
{
	const struct facts_visit v = {.machine = fn, .ctx = ctx, .table = "machine"};
	struct db_cursor c = {0};

	if (visit_generation(f, sql_machine, node, gen, &c, e) < 0)
		return -1;
	return facts_visit_all(f->db, &c, facts_read_machine, &v, e);
}

int journal_facts_buyers(struct journal_facts *f, const char *node, uint64_t gen, fact_buyer_fn fn,
			 void *ctx, struct err *e)
{
	const struct facts_visit v = {.buyer = fn, .ctx = ctx, .table = "buyer"};
	struct db_cursor c = {0};

	if (visit_generation(f, sql_buyers, node, gen, &c, e) < 0)
		return -1;
	return facts_visit_all(f->db, &c, facts_read_buyer, &v, e);
}

/* --- what budgets have -------------------------------------------------------------------------
 */

int journal_facts_spent(struct journal_facts *f, struct fact_spending *s, fact_spent_fn fn,
			void *ctx, struct err *e)
{
	const struct facts_visit v = {.spent = fn, .ctx = ctx, .table = "spent"};
	struct db_cursor c = {0};
	int rc;

	*s = (struct fact_spending){0};
	if (!f->has_spent)
		return 0;
	if (db_begin_to_read(f->db, e) < 0)
		return -1;
	rc = ask_number(f, sql_last, &s->seq, e);
	if (rc == 0)
		rc = ask_number(f, sql_since, &s->since_ms, e);
	if (rc == 0) {
		c.st = db_stmt(f->db, sql_spent, e);
		rc = c.st != NULL ? facts_visit_all(f->db, &c, facts_read_spent, &v, e) : -1;
	}
	db_rollback(f->db);
	return rc;
}

int journal_facts_job_days(struct journal_facts *f, int64_t from_day, fact_day_fn fn, void *ctx,
			   struct err *e)
{
	const struct facts_visit v = {.day = fn, .ctx = ctx, .table = "spent"};
	struct db_cursor c = {0};

	if (!f->has_spent)
		return 0;
	c.st = db_stmt(f->db, sql_job_days, e);
	if (c.st == NULL)
		return -1;
	db_put_int(&c, from_day);
	return facts_visit_all(f->db, &c, facts_read_day, &v, e);
}

int journal_facts_job_spent(struct journal_facts *f, int64_t day, fact_job_spent_fn fn, void *ctx,
			    struct err *e)
{
	const struct facts_visit v = {.job_spent = fn, .ctx = ctx, .table = "spent"};
	struct db_cursor c = {0};

	if (!f->has_spent)
		return 0;
	c.st = db_stmt(f->db, sql_job_spent, e);
	if (c.st == NULL)
		return -1;
	db_put_int(&c, day);
	return facts_visit_all(f->db, &c, facts_read_job_spent, &v, e);
}

int journal_facts_held_ms(struct journal_facts *f, int64_t *ms, struct err *e)
{
	*ms = INT64_MAX;
	return f->has_spent ? ask_number(f, sql_held, ms, e) : 0;
}

int journal_facts_overrides(struct journal_facts *f, fact_override_fn fn, void *ctx, struct err *e)
{
	const struct facts_visit v = {.override = fn, .ctx = ctx, .table = "budget_override"};
	struct db_cursor c = {0};

	if (!f->has_overrides)
		return 0;
	c.st = db_stmt(f->db, f->has_budgets ? sql_overrides : sql_added, e);
	return c.st != NULL ? facts_visit_all(f->db, &c, facts_read_override, &v, e) : -1;
}

int journal_facts_budgets(struct journal_facts *f, int64_t after_ms, fact_budget_fn fn, void *ctx,
			  struct err *e)
{
	const struct facts_visit v = {.budget = fn, .ctx = ctx, .table = "budget_period"};
	struct db_cursor c = {0};

	if (!f->has_budgets)
		return 0;
	c.st = db_stmt(f->db, sql_budgets, e);
	if (c.st == NULL)
		return -1;
	db_put_int(&c, after_ms);
	return facts_visit_all(f->db, &c, facts_read_budget, &v, e);
}
