#include "store/ledger_facts.h"

#include "store/facts_private.h"
#include "store/ledger_attempts.h"
#include "store/ledger_private.h"

static const char sql_put_life[] =
	"INSERT OR IGNORE INTO life (node, gen, kind, instance, at_ms, said_ms, rate_nano_h)"
	" VALUES (?, ?, ?, ?, ?, ?, ?)";
static const char sql_put_lifetime[] =
	"INSERT INTO lifetime (node, gen, instance, state, dirty, flags, start_s, end_s, nano, why)"
	" VALUES (?, ?, ?, 0, 1, 0, 0, 0, 0, '')"
	" ON CONFLICT (node, gen, instance) DO UPDATE SET dirty = 1";
static const char sql_touch[] = "UPDATE lifetime SET dirty = 1 WHERE node = ? AND gen = ?";
static const char sql_put_machine[] =
	"INSERT OR IGNORE INTO machine (node, gen, at_ms, pool, provider, offer, type, region,"
	" zone, market, currency, quantum_ms, minimum_ms, cpus, memory_mb, gpus)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_put_buyer[] = "INSERT OR IGNORE INTO buyer (node, gen, job) VALUES (?, ?, ?)";
static const char sql_put_said[] =
	"INSERT OR IGNORE INTO said (at_ms, job, id, account, user, partition, qos, wckey,"
	" limit_s, nodes, cpus, memory_mb, gpus) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_put_price[] =
	"INSERT OR IGNORE INTO price (provider, region, zone, type, market, currency, nano_h,"
	" valid_from_ms, observed_ms, source) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

static const char sql_lives[] =
	"SELECT id, node, gen, kind, instance, at_ms, said_ms, rate_nano_h FROM life"
	" WHERE node = ? AND gen = ? AND instance IN (?, '') ORDER BY id";
static const char sql_machine[] =
	"SELECT node, gen, at_ms, pool, provider, offer, type, region, zone, market, currency,"
	" quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine WHERE node = ? AND gen = ?";
static const char sql_buyers[] = "SELECT job FROM buyer WHERE node = ? AND gen = ? ORDER BY job";
static const char sql_said[] =
	"SELECT 0, at_ms, job, id, account, user, partition, qos, wckey, limit_s, nodes, cpus,"
	" memory_mb, gpus FROM said WHERE job = ? AND at_ms <= ? ORDER BY at_ms DESC LIMIT 1";
static const char sql_prices[] =
	"SELECT id, provider, region, zone, type, market, currency, nano_h, valid_from_ms,"
	" observed_ms, source FROM price WHERE provider = ? AND type = ?"
	" ORDER BY valid_from_ms, id";
static const char sql_knows[] = "SELECT COUNT(*) FROM (SELECT 1 FROM life WHERE node = ? LIMIT 1)";
static const char sql_first[] = "SELECT at_ms FROM life ORDER BY id LIMIT 1";

static const char sql_lost[] =
	"SELECT COUNT(*) FROM life AS f WHERE f.instance <> '' AND NOT EXISTS (SELECT 1 FROM"
	" lifetime AS t WHERE t.node = f.node AND t.gen = f.gen AND t.instance = f.instance)";
static const char sql_next[] =
	"SELECT COALESCE(MIN(at_ms), 0) FROM life WHERE node = ? AND gen > ? AND kind = ?";

#define LIFETIME                                                                                   \
	"SELECT id, node, gen, instance, state, dirty, flags, start_s, end_s, nano, why"           \
	" FROM lifetime WHERE "
static const char sql_all[] = LIFETIME "id > ? ORDER BY id LIMIT ?";
static const char sql_due[] = LIFETIME "id > ? AND (state < 2 OR dirty <> 0) ORDER BY id LIMIT ?";
static const char sql_one[] = LIFETIME "id = ?";
static const char sql_set[] = "UPDATE lifetime SET state = ?, dirty = 0, flags = ?, start_s = ?,"
			      " end_s = ?, nano = ?, why = ? WHERE id = ?";
static const char sql_touch_priced[] =
	"UPDATE lifetime SET dirty = 1 WHERE state = 2 AND end_s >= ?1 AND EXISTS (SELECT 1 FROM"
	" machine AS m WHERE m.node = lifetime.node AND m.gen = lifetime.gen AND m.provider = ?2"
	" AND m.type = ?3)";
static const char sql_touch_unpriced[] = "UPDATE lifetime SET dirty = 1 WHERE flags & 1 <> 0";
static const char sql_touch_late[] =
	"UPDATE lifetime SET dirty = 1 WHERE id IN (SELECT lifetime FROM posting WHERE day >= ?"
	" AND kind & 256 <> 0)"; /* LEDGER_LATE */

/* --- copies ------------------------------------------------------------------------------------
 */

/* A fact without an instance is about all of the generation. */
static int touch(struct ledger *l, const char *node, uint64_t gen, const char *instance,
		 struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, instance[0] != '\0' ? sql_put_lifetime : sql_touch, e) < 0)
		return -1;
	ledger_put_text(&c, node);
	db_put_int(&c, (int64_t)gen);
	if (instance[0] != '\0')
		ledger_put_text(&c, instance);
	return ledger_do(l, &c, e);
}

int ledger_put_life(struct ledger *l, const struct fact_life *life, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_put_life, e) < 0)
		return -1;
	ledger_put_text(&c, life->node);
	db_put_int(&c, (int64_t)life->gen);
	ledger_put_text(&c, life->kind);
	ledger_put_text(&c, life->instance);
	db_put_int(&c, life->at_ms);
	db_put_int(&c, life->said_ms);
	db_put_int(&c, life->rate_nano_h);
	rc = ledger_add(l, &c, NULL, e);
	if (rc != 1)
		return rc;
	return touch(l, life->node, life->gen, life->instance, e) < 0
		       ? -1
		       : ledger_touch_beside(l, life, e);
}

int ledger_put_machine(struct ledger *l, const struct fact_machine *m, struct err *e)
{
	const char *const texts[] = {m->pool,   m->provider, m->offer,  m->type,
				     m->region, m->zone,     m->market, m->currency};
	const int64_t numbers[] = {m->quantum_ms, m->minimum_ms, m->cpus, m->memory_mb, m->gpus};
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_put_machine, e) < 0)
		return -1;
	ledger_put_text(&c, m->node);
	db_put_int(&c, (int64_t)m->gen);
	db_put_int(&c, m->at_ms);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ledger_put_text(&c, texts[i]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		db_put_int(&c, numbers[i]);
	rc = ledger_add(l, &c, NULL, e);
	return rc == 1 ? touch(l, m->node, m->gen, "", e) : rc;
}

int ledger_put_buyer(struct ledger *l, const char *node, uint64_t gen, uint64_t job, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_put_buyer, e) < 0)
		return -1;
	ledger_put_text(&c, node);
	db_put_int(&c, (int64_t)gen);
	db_put_int(&c, (int64_t)job);
	rc = ledger_add(l, &c, NULL, e);
	return rc == 1 ? touch(l, node, gen, "", e) : rc;
}

int ledger_put_said(struct ledger *l, const struct fact_said *s, struct err *e)
{
	const char *const texts[] = {s->id, s->account, s->user, s->partition, s->qos, s->wckey};
	const int64_t numbers[] = {s->limit_s, s->nodes, s->cpus, s->memory_mb, s->gpus};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_put_said, e) < 0)
		return -1;
	db_put_int(&c, s->at_ms);
	db_put_int(&c, (int64_t)s->job);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ledger_put_text(&c, texts[i]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		db_put_int(&c, numbers[i]);
	return ledger_do(l, &c, e);
}

/* A price of the past, such as one that the provider told later. */
static int touch_priced(struct ledger *l, const struct fact_price *p, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_touch_priced, e) < 0)
		return -1;
	db_put_int(&c, p->valid_from_ms / 1000);
	ledger_put_text(&c, p->provider);
	ledger_put_text(&c, p->type);
	return ledger_do(l, &c, e);
}

int ledger_put_price(struct ledger *l, const struct fact_price *p, bool *fresh, struct err *e)
{
	const char *const texts[] = {p->provider, p->region, p->zone,
				     p->type,     p->market, p->currency};
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_put_price, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ledger_put_text(&c, texts[i]);
	db_put_int(&c, p->nano_h);
	db_put_int(&c, p->valid_from_ms);
	db_put_int(&c, p->observed_ms);
	ledger_put_text(&c, p->source);
	rc = ledger_add(l, &c, NULL, e);
	*fresh = rc == 1;
	return rc == 1 ? touch_priced(l, p, e) : rc;
}

/* --- reading -----------------------------------------------------------------------------------
 */

int ledger_lives(struct ledger *l, const char *node, uint64_t gen, const char *instance,
		 fact_life_fn fn, void *ctx, struct err *e)
{
	const struct facts_visit v = {.life = fn, .ctx = ctx, .table = "life"};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_lives, e) < 0)
		return -1;
	ledger_put_text(&c, node);
	db_put_int(&c, (int64_t)gen);
	ledger_put_text(&c, instance);
	return facts_visit_all(l->db, &c, facts_read_life, &v, e);
}

int ledger_machine(struct ledger *l, const char *node, uint64_t gen, fact_machine_fn fn, void *ctx,
		   struct err *e)
{
	const struct facts_visit v = {.machine = fn, .ctx = ctx, .table = "machine"};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_machine, e) < 0)
		return -1;
	ledger_put_text(&c, node);
	db_put_int(&c, (int64_t)gen);
	return facts_visit_all(l->db, &c, facts_read_machine, &v, e);
}

int ledger_buyers(struct ledger *l, const char *node, uint64_t gen, fact_buyer_fn fn, void *ctx,
		  struct err *e)
{
	const struct facts_visit v = {.buyer = fn, .ctx = ctx, .table = "buyer"};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_buyers, e) < 0)
		return -1;
	ledger_put_text(&c, node);
	db_put_int(&c, (int64_t)gen);
	return facts_visit_all(l->db, &c, facts_read_buyer, &v, e);
}

int ledger_said(struct ledger *l, uint64_t job, int64_t until_ms, fact_said_fn fn, void *ctx,
		struct err *e)
{
	const struct facts_visit v = {.said = fn, .ctx = ctx, .table = "said"};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_said, e) < 0)
		return -1;
	db_put_int(&c, (int64_t)job);
	db_put_int(&c, until_ms);
	return facts_visit_all(l->db, &c, facts_read_said, &v, e);
}

int ledger_prices(struct ledger *l, const char *provider, const char *type, fact_price_fn fn,
		  void *ctx, struct err *e)
{
	const struct facts_visit v = {.price = fn, .ctx = ctx, .table = "price"};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_prices, e) < 0)
		return -1;
	ledger_put_text(&c, provider);
	ledger_put_text(&c, type);
	return facts_visit_all(l->db, &c, facts_read_price, &v, e);
}

int ledger_knows_node(struct ledger *l, const char *node, bool *knows, struct err *e)
{
	struct db_cursor c;
	int64_t n = 0;

	if (ledger_stmt(l, &c, sql_knows, e) < 0)
		return -1;
	ledger_put_text(&c, node);
	if (ledger_ask(l, &c, &n, e) < 0)
		return -1;
	*knows = n > 0;
	return 0;
}

int ledger_next_ms(struct ledger *l, const char *node, uint64_t gen, const char *kind, int64_t *ms,
		   struct err *e)
{
	struct db_cursor c;

	*ms = 0;
	if (ledger_stmt(l, &c, sql_next, e) < 0)
		return -1;
	ledger_put_text(&c, node);
	db_put_int(&c, (int64_t)gen);
	ledger_put_text(&c, kind);
	return ledger_ask(l, &c, ms, e) < 0 ? -1 : 0;
}

int ledger_first_fact(struct ledger *l, int64_t *ms, struct err *e)
{
	struct db_cursor c;

	*ms = 0;
	if (ledger_stmt(l, &c, sql_first, e) < 0)
		return -1;
	return ledger_ask(l, &c, ms, e) < 0 ? -1 : 0;
}

/* --- lifetimes ---------------------------------------------------------------------------------
 */

static int visit_lifetimes(struct ledger *l, struct db_cursor *c, ledger_lifetime_fn fn, void *ctx,
			   struct err *e)
{
	int rc;

	while ((rc = db_step(l->db, c->st, e)) == 1) {
		struct ledger_lifetime t = {0};

		c->at = 0;
		t.id = ledger_int(c);
		t.node = db_get_text(c, LEDGER_TEXT_MAX);
		t.gen = (uint64_t)ledger_int(c);
		t.instance = db_get_text(c, LEDGER_TEXT_MAX);
		t.state = (enum ledger_state)db_get_int(c, LEDGER_OPEN, LEDGER_FINAL);
		t.dirty = ledger_int(c) != 0;
		t.flags = (unsigned)db_get_int(c, 0, UINT32_MAX);
		t.start_s = ledger_int(c);
		t.end_s = ledger_int(c);
		t.nano = ledger_int(c);
		t.why = db_get_text(c, LEDGER_TEXT_MAX);
		if (c->bad || fn(ctx, &t, e) < 0) {
			db_reset(c->st);
			return c->bad ? db_damaged(l->db, "lifetime", e) : -1;
		}
	}
	return rc;
}

int ledger_lifetimes(struct ledger *l, int64_t after, unsigned limit, bool due,
		     ledger_lifetime_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, due ? sql_due : sql_all, e) < 0)
		return -1;
	db_put_int(&c, after);
	db_put_int(&c, limit);
	return visit_lifetimes(l, &c, fn, ctx, e);
}

int ledger_lifetime(struct ledger *l, int64_t id, ledger_lifetime_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_one, e) < 0)
		return -1;
	db_put_int(&c, id);
	return visit_lifetimes(l, &c, fn, ctx, e);
}

int ledger_put_lifetime(struct ledger *l, const struct ledger_lifetime *t, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_set, e) < 0)
		return -1;
	db_put_int(&c, (int64_t)t->state);
	db_put_int(&c, t->flags);
	db_put_int(&c, t->start_s);
	db_put_int(&c, t->end_s);
	db_put_int(&c, t->nano);
	ledger_put_text(&c, t->why);
	db_put_int(&c, t->id);
	return ledger_do(l, &c, e);
}

int ledger_touch_unpriced(struct ledger *l, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_touch_unpriced, e) < 0)
		return -1;
	return ledger_do(l, &c, e);
}

int ledger_touch_late(struct ledger *l, int64_t from_day, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_touch_late, e) < 0)
		return -1;
	db_put_int(&c, from_day);
	return ledger_do(l, &c, e);
}

int ledger_count_lost_lives(struct ledger *l, int64_t *n, struct err *e)
{
	struct db_cursor c;

	*n = 0;
	if (ledger_stmt(l, &c, sql_lost, e) < 0)
		return -1;
	return ledger_ask(l, &c, n, e) < 0 ? -1 : 0;
}
