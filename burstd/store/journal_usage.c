/* The table of bills. */
#include "store/journal_usage.h"

#include <string.h>

#include "base/clamp.h"
#include "base/fmt.h"
#include "core/provider.h"
#include "store/private.h"

static const char sql_put_usage[] =
	"INSERT INTO usage (node, gen, instance, pool, start_ms, end_ms, rate_nano_h,"
	" cost_nano) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT (node, gen, instance) DO UPDATE SET pool = excluded.pool,"
	" start_ms = excluded.start_ms, end_ms = excluded.end_ms,"
	" rate_nano_h = excluded.rate_nano_h, cost_nano = excluded.cost_nano";

static const char sql_sum_usage[] = "SELECT pool, SUM(cost_nano / 1000000000), SUM(cost_nano % "
				    "1000000000) FROM usage GROUP BY pool ORDER BY pool";

static const char sql_usages_of_node[] =
	"SELECT gen, instance, pool, start_ms, end_ms, rate_nano_h, cost_nano"
	" FROM usage WHERE node = ? ORDER BY gen DESC, instance";

static const char sql_usage_of[] =
	"SELECT gen, instance, pool, start_ms, end_ms, rate_nano_h, cost_nano"
	" FROM usage WHERE node = ? AND gen >= ? AND instance = ? ORDER BY gen LIMIT 1";

void journal_put_usage(struct journal_tx *tx, const struct journal_usage *u)
{
	tx_effect(tx, sql_put_usage);
	tx_text(tx, u->node);
	tx_bits(tx, u->gen);
	tx_text(tx, u->instance);
	tx_text(tx, u->pool);
	tx_int(tx, u->start_ms);
	tx_int(tx, u->end_ms);
	tx_int(tx, u->rate_nano_h);
	tx_int(tx, u->cost_nano);
}

static int read_usage(const struct journal *j, struct db_cursor *c, const char *node,
		      struct journal_usage *u, struct err *e)
{
	*u = (struct journal_usage){.node = node,
				    .gen = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX)};
	u->instance = db_get_text(c, JOURNAL_TEXT_MAX);
	u->pool = db_get_text(c, JOURNAL_TEXT_MAX);
	u->start_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	u->end_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	u->rate_nano_h = db_get_int(c, 0, INT64_MAX);
	u->cost_nano = db_get_int(c, INT64_MIN, INT64_MAX);
	return c->bad ? db_damaged(j->db, "usage", e) : 0;
}

struct visit {
	journal_usage_fn fn;
	void *ctx;
};

/* Visit the rows of a statement that has its parameters. */
static int visit_all(struct journal *j, struct db_cursor *c, const char *node,
		     const struct visit *v, struct err *e)
{
	struct journal_usage u;
	int rc = 1;

	while (rc == 1 && (rc = db_step(j->db, c->st, e)) == 1) {
		c->at = 0;
		rc = read_usage(j, c, node, &u, e) != 0 ? -1 : v->fn(v->ctx, &u) == 0 ? 1 : 0;
	}
	db_reset(c->st);
	return rc < 0 ? -1 : 0;
}

int journal_usages(struct journal *j, const char *node, journal_usage_fn fn, void *ctx,
		   struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, sql_usages_of_node, e)};
	const struct visit v = {fn, ctx};

	if (c.st == NULL)
		return -1;
	db_put_text(&c, node, strlen(node));
	return visit_all(j, &c, node, &v, e);
}

int journal_usage_of(struct journal *j, const struct journal_usage_key *k, journal_usage_fn fn,
		     void *ctx, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, sql_usage_of, e)};
	const struct visit v = {fn, ctx};

	if (c.st == NULL)
		return -1;
	db_put_text(&c, k->node, strlen(k->node));
	db_put_int(&c, (int64_t)k->gen);
	db_put_text(&c, k->instance, strlen(k->instance));
	return visit_all(j, &c, k->node, &v, e);
}

static int read_spent(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		      struct err *e)
{
	const char *pool = db_get_text(c, PROVIDER_WORD_MAX);
	int64_t units = db_get_int(c, INT64_MIN, INT64_MAX);
	int64_t nano = db_get_int(c, INT64_MIN, INT64_MAX), cost;

	units = clamp(units, INT64_MIN / FMT_NANO, INT64_MAX / FMT_NANO);
	cost = clamp_add(units * FMT_NANO, nano);

	return c->bad ? db_damaged(j->db, "usage", e) : v->spent(v->ctx, pool, cost, e);
}

int journal_load_spent(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->spent != NULL ? journal_read(j, sql_sum_usage, read_spent, v, e) : 0;
}
