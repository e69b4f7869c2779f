/* The tables of nodes and of the batches that they are bought in. */
#include "store/journal_nodes.h"

#include "core/reclaim.h"
#include "store/private.h"

#define NODE_COLUMNS                                                                               \
	"name, gen, epoch, pool, state, reason, released, accepted, misses, attempts, batch, "     \
	"gang, slot, instance, addr, rate_nano_h, wanted_ms, since_ms, sent_ms, missed_ms, "       \
	"wake_ms, start_ms, end_ms, job, offer, provider, market, notice, noticed_ms, "            \
	"deadline_ms, "                                                                            \
	"signal_ms, stale_addr, image, canary"

static const char sql_put_node[] =
	"INSERT INTO node (" NODE_COLUMNS ") VALUES"
	" (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
	" ?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT (name, gen) DO UPDATE SET epoch = excluded.epoch, pool = "
	"excluded.pool,"
	" state = excluded.state, reason = excluded.reason, released = excluded.released,"
	" accepted = excluded.accepted, misses = excluded.misses, attempts = "
	"excluded.attempts,"
	" batch = excluded.batch, gang = excluded.gang, slot = excluded.slot,"
	" instance = excluded.instance, addr = excluded.addr,"
	" rate_nano_h = excluded.rate_nano_h, wanted_ms = excluded.wanted_ms,"
	" since_ms = excluded.since_ms, sent_ms = excluded.sent_ms,"
	" missed_ms = excluded.missed_ms, wake_ms = excluded.wake_ms,"
	" start_ms = excluded.start_ms, end_ms = excluded.end_ms, job = "
	"excluded.job, offer = excluded.offer, provider = excluded.provider,"
	" market = excluded.market,"
	" notice = excluded.notice, noticed_ms = excluded.noticed_ms,"
	" deadline_ms = excluded.deadline_ms, signal_ms = excluded.signal_ms,"
	" stale_addr = excluded.stale_addr, image = excluded.image, canary = excluded.canary";

static const char sql_del_node[] = "DELETE FROM node WHERE name = ? AND gen = ?";

static const char sql_all_nodes[] = "SELECT " NODE_COLUMNS " FROM node ORDER BY name, gen";

static const char sql_put_batch[] =
	"INSERT INTO batch (id, epoch, token, pool, body_hash, at_ms, offer, provider, cursor, "
	"image)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, token = excluded.token,"
	" pool = excluded.pool, body_hash = excluded.body_hash, at_ms = excluded.at_ms,"
	" offer = excluded.offer, provider = excluded.provider, cursor = excluded.cursor,"
	" image = excluded.image";

static const char sql_del_batch[] = "DELETE FROM batch WHERE id = ?";

static const char sql_all_batches[] =
	"SELECT id, token, pool, body_hash, at_ms, offer, provider, cursor, image FROM batch"
	" ORDER BY id";

void journal_put_node(struct journal_tx *tx, const struct node *n, const char *pool)
{
	tx_effect(tx, sql_put_node); /* in the order of NODE_COLUMNS */
	tx_text(tx, n->name);
	tx_bits(tx, n->gen);
	tx_int(tx, JOURNAL_EPOCH);
	tx_text(tx, pool);
	tx_text(tx, node_state_str(n->state));
	tx_text(tx, node_reason_str(n->reason));
	tx_int(tx, n->release);
	tx_int(tx, n->accepted);
	tx_int(tx, n->misses);
	tx_int(tx, n->attempts);
	tx_bits(tx, n->batch);
	tx_int(tx, n->group);
	tx_int(tx, n->slot);
	tx_text(tx, n->instance);
	tx_text(tx, n->addr);
	tx_int(tx, n->rate_nano_h);
	tx_int(tx, n->wanted_ms);
	tx_int(tx, n->since_ms);
	tx_int(tx, n->sent_ms);
	tx_int(tx, n->missed_ms);
	tx_int(tx, n->wake_ms);
	tx_int(tx, n->start_ms);
	tx_int(tx, n->end_ms);
	tx_bits(tx, n->job);
	tx_text(tx, n->offer);
	tx_text(tx, n->provider);
	tx_text(tx, provider_market_str(n->market));
	tx_text(tx, reclaim_kind_str(n->notice));
	tx_int(tx, n->noticed_ms);
	tx_int(tx, n->deadline_ms);
	tx_int(tx, n->signal_ms);
	tx_text(tx, n->stale_addr);
	tx_text(tx, n->image);
	tx_int(tx, n->canary);
}

void journal_del_node(struct journal_tx *tx, const char *name, uint64_t gen)
{
	tx_effect(tx, sql_del_node);
	tx_text(tx, name);
	tx_bits(tx, gen);
}

static void get_node(struct db_cursor *c, struct node *n, const char **pool)
{
	db_copy_text(c, n->name, sizeof(n->name));
	c->bad = c->bad || !hostlist_is_name(n->name); /* it is passed to scontrol */
	n->gen = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);
	(void)db_get_int(c, JOURNAL_EPOCH, JOURNAL_EPOCH);
	*pool = db_get_text(c, PROVIDER_WORD_MAX);
	n->state = (enum node_state)journal_get_word(c, node_state_parse);
	n->reason = (enum node_reason)journal_get_word(c, node_reason_parse);
	n->release = db_get_int(c, 0, 1) != 0;
	n->accepted = db_get_int(c, 0, 1) != 0;
	n->misses = (uint8_t)db_get_int(c, 0, UINT8_MAX);
	n->attempts = (uint32_t)db_get_int(c, 0, UINT32_MAX);
	n->batch = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);
	n->group = (uint32_t)db_get_int(c, 0, UINT32_MAX);
	n->slot = (uint32_t)db_get_int(c, 0, UINT32_MAX);
	db_copy_text(c, n->instance, sizeof(n->instance));
	db_copy_text(c, n->addr, sizeof(n->addr));
	n->rate_nano_h = db_get_int(c, 0, INT64_MAX);
	n->wanted_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	n->since_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	n->sent_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	n->missed_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	n->wake_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	n->start_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	n->end_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	n->job = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);
	db_copy_text(c, n->offer, sizeof(n->offer));
	db_copy_text(c, n->provider, sizeof(n->provider));
	c->bad =
		c->bad || provider_market_parse(db_get_text(c, PROVIDER_WORD_MAX), &n->market) != 0;
	n->notice = (enum provider_notice_kind)journal_get_word(c, reclaim_kind_parse);
	n->noticed_ms = db_get_int(c, 0, INT64_MAX);
	n->deadline_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	n->signal_ms = db_get_int(c, 0, INT64_MAX);
	db_copy_text(c, n->stale_addr, sizeof(n->stale_addr));
	db_copy_text(c, n->image, sizeof(n->image));
	n->canary = db_get_int(c, 0, 1) != 0;
}

static int read_node(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		     struct err *e)
{
	struct node n = {.gen = 0};
	const char *pool;

	get_node(c, &n, &pool);
	return c->bad ? db_damaged(j->db, "node", e) : v->node(v->ctx, &n, pool, e);
}

int journal_load_nodes(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->node != NULL ? journal_read(j, sql_all_nodes, read_node, v, e) : 0;
}

void journal_put_batch(struct journal_tx *tx, const struct journal_batch *b)
{
	tx_effect(tx, sql_put_batch);
	tx_bits(tx, b->id);
	tx_int(tx, JOURNAL_EPOCH);
	tx_text(tx, b->token);
	tx_text(tx, b->pool);
	tx_bits(tx, b->body_hash);
	tx_int(tx, b->at_ms);
	tx_text(tx, b->offer);
	tx_text(tx, b->provider);
	tx_text(tx, b->cursor);
	tx_text(tx, b->image);
}

void journal_del_batch(struct journal_tx *tx, uint64_t id)
{
	tx_effect(tx, sql_del_batch);
	tx_bits(tx, id);
}

static int read_batch(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		      struct err *e)
{
	struct journal_batch b = {.id = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX)};

	db_copy_text(c, b.token, sizeof(b.token));
	db_copy_text(c, b.pool, sizeof(b.pool));
	b.body_hash = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);
	b.at_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	db_copy_text(c, b.offer, sizeof(b.offer));
	db_copy_text(c, b.provider, sizeof(b.provider));
	db_copy_text(c, b.cursor, sizeof(b.cursor));
	db_copy_text(c, b.image, sizeof(b.image));
	return c->bad ? db_damaged(j->db, "batch", e) : v->batch(v->ctx, &b, e);
}

int journal_load_batches(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->batch != NULL ? journal_read(j, sql_all_batches, read_batch, v, e) : 0;
}
