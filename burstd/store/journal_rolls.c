/* The table of new images. */
#include "store/journal_rolls.h"

#include "store/private.h"

#define ROLL_COLUMNS "pool, offer, stage, old, next, passed, since_ms, why, made_by"

static const char sql_put_roll[] =
	"INSERT INTO roll (" ROLL_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT (pool, offer) DO UPDATE SET stage = excluded.stage, old = excluded.old,"
	" next = excluded.next, passed = excluded.passed, since_ms = excluded.since_ms,"
	" why = excluded.why, made_by = excluded.made_by";

static const char sql_all_rolls[] = "SELECT " ROLL_COLUMNS " FROM roll ORDER BY pool, offer";

void journal_put_roll(struct journal_tx *tx, const struct journal_roll *x)
{
	tx_effect(tx, sql_put_roll);
	tx_text(tx, x->pool);
	tx_text(tx, x->offer);
	tx_text(tx, roll_stage_str(x->r.stage));
	tx_text(tx, x->r.old);
	tx_text(tx, x->r.next);
	tx_int(tx, x->r.passed);
	tx_int(tx, x->r.since_ms);
	tx_text(tx, x->r.why);
	tx_text(tx, x->r.by);
}

static int read_roll(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		     struct err *e)
{
	char pool[PROVIDER_WORD_MAX + 1], offer[PROVIDER_WORD_MAX + 1];
	struct journal_roll x = {.pool = pool, .offer = offer};

	db_copy_text(c, pool, sizeof(pool));
	db_copy_text(c, offer, sizeof(offer));
	x.r.stage = (enum roll_stage)journal_get_word(c, roll_stage_parse);
	db_copy_text(c, x.r.old, sizeof(x.r.old));
	db_copy_text(c, x.r.next, sizeof(x.r.next));
	x.r.passed = (uint32_t)db_get_int(c, 0, UINT32_MAX);
	x.r.since_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	db_copy_text(c, x.r.why, sizeof(x.r.why));
	db_copy_text(c, x.r.by, sizeof(x.r.by));
	return c->bad ? db_damaged(j->db, "roll", e) : v->roll(v->ctx, &x, e);
}

int journal_load_rolls(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->roll != NULL ? journal_read(j, sql_all_rolls, read_roll, v, e) : 0;
}
