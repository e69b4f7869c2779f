/* The tables of refused jobs, of jobs that are about to lose a node, and of those that end since a
 * budget is used up. */
#include "store/journal_jobs.h"

#include "store/private.h"

#define RESCUE_COLUMNS "job, id, node, gen, at_ms, why, nodes, signal, hold_ms"

static const char sql_put_refusal[] =
	"INSERT INTO refusal (job, count, last_ms, first_ms, wait_ms, "
	"told_wall_ms, had_wall_ms, money)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT (job) DO UPDATE SET count = excluded.count,"
	" last_ms = excluded.last_ms, first_ms = excluded.first_ms,"
	" wait_ms = excluded.wait_ms, told_wall_ms = excluded.told_wall_ms,"
	" had_wall_ms = excluded.had_wall_ms, money = excluded.money";

static const char sql_del_refusal[] = "DELETE FROM refusal WHERE job = ?";

static const char sql_all_refusals[] =
	"SELECT job, count, last_ms, first_ms, wait_ms, told_wall_ms, had_wall_ms, money "
	"FROM refusal"
	" ORDER BY job";

static const char sql_put_rescue[] =
	"INSERT INTO rescue (" RESCUE_COLUMNS ")"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job) DO UPDATE SET"
	" id = excluded.id, node = excluded.node, gen = excluded.gen,"
	" at_ms = excluded.at_ms, why = excluded.why, nodes = excluded.nodes,"
	" signal = excluded.signal, hold_ms = excluded.hold_ms";

static const char sql_del_rescue[] = "DELETE FROM rescue WHERE job = ?";

static const char sql_all_rescues[] = "SELECT " RESCUE_COLUMNS " FROM rescue ORDER BY job";

#define ENDING_COLUMNS                                                                             \
	"job, id, pool, first_ms, at_ms, requeue_flags, requeue_off_ms, kill_flags, kill_off_ms,"  \
	" tried, ordered, refused, budget, value, period"

static const char sql_put_ending[] = "INSERT OR REPLACE INTO ending (" ENDING_COLUMNS ")"
				     " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

static const char sql_del_ending[] = "DELETE FROM ending WHERE job = ?";

static const char sql_all_endings[] = "SELECT " ENDING_COLUMNS " FROM ending ORDER BY job";

void journal_put_refusal(struct journal_tx *tx, const struct journal_refusal *r)
{
	tx_effect(tx, sql_put_refusal);
	tx_bits(tx, r->job);
	tx_int(tx, r->r.count);
	tx_int(tx, r->r.last_ms);
	tx_int(tx, r->r.first_ms);
	tx_int(tx, r->r.wait_ms);
	tx_int(tx, r->r.told_wall_ms);
	tx_int(tx, r->r.had_wall_ms);
	tx_int(tx, r->r.money);
}

void journal_del_refusal(struct journal_tx *tx, uint64_t job)
{
	tx_effect(tx, sql_del_refusal);
	tx_bits(tx, job);
}

static int read_refusal(const struct journal *j, struct db_cursor *c,
			const struct journal_visitor *v, struct err *e)
{
	struct journal_refusal r = {.job = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX)};

	r.r.count = (uint32_t)db_get_int(c, 0, UINT32_MAX);
	r.r.last_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	r.r.first_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	r.r.wait_ms = db_get_int(c, 0, INT64_MAX);
	r.r.told_wall_ms = db_get_int(c, 0, INT64_MAX);
	r.r.had_wall_ms = db_get_int(c, 0, INT64_MAX);
	r.r.money = db_get_int(c, 0, 1) != 0;
	return c->bad ? db_damaged(j->db, "refusal", e) : v->refusal(v->ctx, &r, e);
}

int journal_load_refusals(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->refusal != NULL ? journal_read(j, sql_all_refusals, read_refusal, v, e) : 0;
}

void journal_put_rescue(struct journal_tx *tx, const struct journal_rescue *r)
{
	tx_effect(tx, sql_put_rescue);
	tx_bits(tx, r->job);
	tx_text(tx, r->id);
	tx_text(tx, r->node);
	tx_bits(tx, r->gen);
	tx_int(tx, r->at_ms);
	tx_text(tx, r->why);
	tx_text(tx, r->nodes);
	tx_int(tx, r->signal);
	tx_int(tx, r->hold_ms);
}

void journal_del_rescue(struct journal_tx *tx, uint64_t job)
{
	tx_effect(tx, sql_del_rescue);
	tx_bits(tx, job);
}

static int read_rescue(const struct journal *j, struct db_cursor *c,
		       const struct journal_visitor *v, struct err *e)
{
	struct journal_rescue r = {.job = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX)};

	db_copy_text(c, r.id, sizeof(r.id));
	db_copy_text(c, r.node, sizeof(r.node));
	r.gen = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);
	r.at_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	db_copy_text(c, r.why, sizeof(r.why));
	db_copy_text(c, r.nodes, sizeof(r.nodes));
	r.signal = (enum journal_signal)db_get_int(c, 0, JOURNAL_NSIGNALS - 1);
	r.hold_ms = db_get_int(c, 0, INT64_MAX);
	return c->bad ? db_damaged(j->db, "rescue", e) : v->rescue(v->ctx, &r, e);
}

int journal_load_rescues(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->rescue != NULL ? journal_read(j, sql_all_rescues, read_rescue, v, e) : 0;
}

enum { ENDING_TOLD = 1, ENDING_SIGNALLED = 2, ENDING_CROWDED = 4, ENDING_FLAGS = 8 };

void journal_put_ending(struct journal_tx *tx, const struct journal_ending *x)
{
	tx_effect(tx, sql_put_ending);
	tx_bits(tx, x->job);
	tx_text(tx, x->id);
	tx_text(tx, x->pool);
	tx_int(tx, x->first_ms);
	tx_int(tx, x->at_ms);
	for (int s = BUDGET_REQUEUES; s < BUDGET_NSTEPS; s++) {
		tx_int(tx, (x->at[s].told ? ENDING_TOLD : 0) |
				   (x->at[s].signalled ? ENDING_SIGNALLED : 0) |
				   (x->at[s].crowded ? ENDING_CROWDED : 0));
		tx_int(tx, x->at[s].put_off_ms);
	}
	tx_int(tx, x->tried);
	tx_int(tx, x->ordered);
	tx_int(tx, x->refused);
	tx_text(tx, x->budget);
	tx_text(tx, x->value);
	tx_text(tx, x->period);
}

void journal_del_ending(struct journal_tx *tx, uint64_t job)
{
	tx_effect(tx, sql_del_ending);
	tx_bits(tx, job);
}

static int read_ending(const struct journal *j, struct db_cursor *c,
		       const struct journal_visitor *v, struct err *e)
{
	struct journal_ending x = {.job = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX)};

	db_copy_text(c, x.id, sizeof(x.id));
	db_copy_text(c, x.pool, sizeof(x.pool));
	x.first_ms = db_get_int(c, 0, INT64_MAX);
	x.at_ms = db_get_int(c, 0, INT64_MAX);
	for (int s = BUDGET_REQUEUES; s < BUDGET_NSTEPS; s++) {
		int64_t flags = db_get_int(c, 0, ENDING_FLAGS - 1);

		x.at[s].told = (flags & ENDING_TOLD) != 0;
		x.at[s].signalled = (flags & ENDING_SIGNALLED) != 0;
		x.at[s].crowded = (flags & ENDING_CROWDED) != 0;
		x.at[s].put_off_ms = db_get_int(c, 0, INT64_MAX);
	}
	x.tried = db_get_int(c, 0, 1) != 0;
	x.ordered = (enum budget_step)db_get_int(c, 0, BUDGET_NSTEPS - 1);
	x.refused = (enum budget_step)db_get_int(c, 0, BUDGET_NSTEPS - 1);
	db_copy_text(c, x.budget, sizeof(x.budget));
	db_copy_text(c, x.value, sizeof(x.value));
	db_copy_text(c, x.period, sizeof(x.period));
	return c->bad ? db_damaged(j->db, "ending", e) : v->ending(v->ctx, &x, e);
}

int journal_load_endings(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->ending != NULL ? journal_read(j, sql_all_endings, read_ending, v, e) : 0;
}
