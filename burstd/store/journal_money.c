/* The tables of money that is set aside, and of what was spent by day. */
#include "store/journal_money.h"

#include <string.h>

#include "store/private.h"

static const char sql_put_hold[] =
	"INSERT INTO hold (node, gen, job, kind, rate_nano_h, from_ms, until_ms, machine, account,"
	" user, qos, wckey, partition, pool, provider, market)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT (node, gen, job, kind) DO UPDATE SET rate_nano_h = excluded.rate_nano_h,"
	" from_ms = excluded.from_ms, until_ms = excluded.until_ms,"
	" machine = excluded.machine, account = excluded.account, user = excluded.user,"
	" qos = excluded.qos, wckey = excluded.wckey, partition = excluded.partition,"
	" pool = excluded.pool, provider = excluded.provider, market = excluded.market";

static const char sql_del_hold[] =
	"DELETE FROM hold WHERE node = ? AND gen = ? AND job = ? AND kind = ?";

static const char sql_put_spent[] =
	"INSERT INTO spent (day, machine, account, user, qos, wckey, partition, pool, provider,"
	" market, nano) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT (day, machine, account, user, qos, wckey, partition, pool, provider,"
	" market) DO UPDATE SET nano = excluded.nano";

static const char sql_del_spent[] = "DELETE FROM spent WHERE day < ?";

static const char sql_holds[] =
	"SELECT node, gen, job, kind, rate_nano_h, from_ms, until_ms, machine, account, user, qos,"
	" wckey, partition, pool, provider, market FROM hold";

static const char sql_days[] = "SELECT day, machine, account, user, qos, wckey, partition, pool,"
			       " provider, market, nano FROM spent";

static const char *const kinds[BUDGET_NKINDS] = {
	[BUDGET_MACHINE] = "machine", [BUDGET_BOOT] = "boot", [BUDGET_RUN] = "run"};

static int kind_parse(const char *word)
{
	for (int k = 0; k < BUDGET_NKINDS; k++)
		if (strcmp(kinds[k], word) == 0)
			return k;
	return -1;
}

static int market_parse(const char *word)
{
	enum provider_market m;

	return provider_market_parse(word, &m) == 0 ? (int)m : -1;
}

static void put_spender(struct journal_tx *tx, const struct budget_spender *s)
{
	tx_int(tx, s->machine);
	tx_text(tx, s->account);
	tx_text(tx, s->user);
	tx_text(tx, s->qos);
	tx_text(tx, s->wckey);
	tx_text(tx, s->partition);
	tx_text(tx, s->pool);
	tx_text(tx, s->provider);
	tx_text(tx, provider_market_str(s->market));
}

static void put_key(struct journal_tx *tx, const struct journal_hold *h)
{
	tx_text(tx, h->node);
	tx_bits(tx, h->gen);
	tx_bits(tx, h->job);
	tx_text(tx, kinds[h->hold.kind]);
}

void journal_put_hold(struct journal_tx *tx, const struct journal_hold *h)
{
	tx_effect(tx, sql_put_hold);
	put_key(tx, h);
	tx_int(tx, h->hold.rate_nano_h);
	tx_int(tx, h->hold.from_ms);
	tx_int(tx, h->hold.until_ms);
	put_spender(tx, &h->spender);
}

void journal_del_hold(struct journal_tx *tx, const struct journal_hold *h)
{
	tx_effect(tx, sql_del_hold);
	put_key(tx, h);
}

void journal_put_spent(struct journal_tx *tx, const struct journal_spent *s)
{
	tx_effect(tx, sql_put_spent);
	tx_int(tx, s->day);
	put_spender(tx, &s->spender);
	tx_int(tx, s->nano);
}

void journal_del_spent(struct journal_tx *tx, int64_t day)
{
	tx_effect(tx, sql_del_spent);
	tx_int(tx, day);
}

static struct budget_spender get_spender(struct db_cursor *c)
{
	struct budget_spender s = {.machine = db_get_int(c, 0, 1) != 0};

	s.account = db_get_text(c, BUDGET_VALUE_MAX);
	s.user = db_get_text(c, BUDGET_VALUE_MAX);
	s.qos = db_get_text(c, BUDGET_VALUE_MAX);
	s.wckey = db_get_text(c, BUDGET_VALUE_MAX);
	s.partition = db_get_text(c, BUDGET_VALUE_MAX);
	s.pool = db_get_text(c, BUDGET_VALUE_MAX);
	s.provider = db_get_text(c, BUDGET_VALUE_MAX);
	s.market = (enum provider_market)journal_get_word(c, market_parse);
	return s;
}

/* A hold is of a machine, by a machine, and for no job; or none of these. */
static bool is_whole(const struct journal_hold *h)
{
	bool machine = h->hold.kind == BUDGET_MACHINE;

	return h->spender.machine == machine && (h->job == 0) == machine &&
	       h->hold.from_ms <= h->hold.until_ms;
}

static int read_hold(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		     struct err *e)
{
	struct journal_hold h = {.node = db_get_text(c, HOSTLIST_NAME_MAX)};

	h.gen = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);
	h.job = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);
	h.hold.kind = (enum budget_kind)journal_get_word(c, kind_parse);
	h.hold.rate_nano_h = db_get_int(c, 0, INT64_MAX);
	h.hold.from_ms = db_get_int(c, 0, INT64_MAX);
	h.hold.until_ms = db_get_int(c, 0, INT64_MAX);
	h.spender = get_spender(c);
	return c->bad || !is_whole(&h) ? db_damaged(j->db, "hold", e) : v->hold(v->ctx, &h, e);
}

static int read_day(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		    struct err *e)
{
	struct journal_spent s = {.day = db_get_int(c, INT32_MIN, INT32_MAX)};

	s.spender = get_spender(c);
	s.nano = db_get_int(c, INT64_MIN, INT64_MAX);
	return c->bad ? db_damaged(j->db, "spent", e) : v->day(v->ctx, &s, e);
}

int journal_load_holds(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->hold != NULL ? journal_read(j, sql_holds, read_hold, v, e) : 0;
}

int journal_load_days(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->day != NULL ? journal_read(j, sql_days, read_day, v, e) : 0;
}
