/* The table of pools. */
#include "store/journal_pools.h"

#include "core/provider.h"
#include "store/private.h"

#define POOL_COLUMNS "name, paused, waves, last_ms, until_ms, paused_by, paused_ms"

static const char sql_put_pool[] =
	"INSERT INTO pool (" POOL_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT (name) DO UPDATE SET paused = excluded.paused, waves = "
	"excluded.waves, last_ms = excluded.last_ms, until_ms = excluded.until_ms,"
	" paused_by = excluded.paused_by, paused_ms = excluded.paused_ms";

static const char sql_all_pools[] = "SELECT " POOL_COLUMNS " FROM pool ORDER BY name";

void journal_put_pool(struct journal_tx *tx, const struct journal_pool *p)
{
	tx_effect(tx, sql_put_pool);
	tx_text(tx, p->name);
	tx_int(tx, p->paused);
	tx_int(tx, p->breaker.waves);
	tx_int(tx, p->breaker.last_ms);
	tx_int(tx, p->breaker.until_ms);
	tx_text(tx, p->by);
	tx_int(tx, p->paused_ms);
}

static int read_pool(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		     struct err *e)
{
	struct journal_pool p = {.name = db_get_text(c, PROVIDER_WORD_MAX)};

	p.paused = db_get_int(c, 0, 1) != 0;
	p.breaker.waves = (uint32_t)db_get_int(c, 0, UINT32_MAX);
	p.breaker.last_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	p.breaker.until_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	db_copy_text(c, p.by, sizeof(p.by));
	p.paused_ms = db_get_int(c, 0, INT64_MAX);
	return c->bad ? db_damaged(j->db, "pool", e) : v->pool(v->ctx, &p, e);
}

int journal_load_pools(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->pool != NULL ? journal_read(j, sql_all_pools, read_pool, v, e) : 0;
}
