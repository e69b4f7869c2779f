#include <string.h>

#include "core/reclaim.h"
#include "store/journal.h"
#include "store/private.h"

/* Loads the journal at the start; refuses rows that burstd cannot have written. */

typedef int (*read_fn)(const struct journal *j, struct db_cursor *c,
		       const struct journal_visitor *v, struct err *e);

static int get_word(struct db_cursor *c, int (*parse)(const char *))
{
	int v = parse(db_get_text(c, JOURNAL_TEXT_MAX));

	c->bad = c->bad || v < 0;
	return v < 0 ? 0 : v;
}

static void get_node(struct db_cursor *c, struct node *n, const char **pool)
{
	db_copy_text(c, n->name, sizeof(n->name));
	c->bad = c->bad || !hostlist_is_name(n->name); /* it is passed to scontrol */
	n->gen = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);
	(void)db_get_int(c, JOURNAL_EPOCH, JOURNAL_EPOCH);
	*pool = db_get_text(c, PROVIDER_WORD_MAX);
	n->state = (enum node_state)get_word(c, node_state_parse);
	n->reason = (enum node_reason)get_word(c, node_reason_parse);
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
	n->notice = (enum provider_notice_kind)get_word(c, reclaim_kind_parse);
	n->noticed_ms = db_get_int(c, 0, INT64_MAX);
	n->deadline_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	n->signal_ms = db_get_int(c, 0, INT64_MAX);
	db_copy_text(c, n->stale_addr, sizeof(n->stale_addr));
}

static int read_node(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		     struct err *e)
{
	struct node n = {.gen = 0};
	const char *pool;

	get_node(c, &n, &pool);
	return c->bad ? db_damaged(j->db, "node", e) : v->node(v->ctx, &n, pool, e);
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
	return c->bad ? db_damaged(j->db, "batch", e) : v->batch(v->ctx, &b, e);
}

static int read_spent(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		      struct err *e)
{
	const char *pool = db_get_text(c, PROVIDER_WORD_MAX);
	int64_t cost = db_get_int(c, INT64_MIN, INT64_MAX);

	return c->bad ? db_damaged(j->db, "usage", e) : v->spent(v->ctx, pool, cost, e);
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
	return c->bad ? db_damaged(j->db, "refusal", e) : v->refusal(v->ctx, &r, e);
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

/* Read the hash that add_hex() wrote; none means that no machine has claimed yet. */
static void get_spki(struct db_cursor *c, struct claim *out)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * CLAIM_SPKI_SIZE + 1];

	db_copy_text(c, text, sizeof(text));
	out->bound = text[0] != '\0';
	c->bad = c->bad || (out->bound && strlen(text) != sizeof(text) - 1);
	for (size_t i = 0; out->bound && !c->bad && i < 2 * sizeof(out->spki); i++) {
		const char *d = strchr(digits, text[i]);

		c->bad = d == NULL;
		if (d != NULL)
			out->spki[i / 2] = (unsigned char)(out->spki[i / 2] << 4 | (d - digits));
	}
}

static int read_claim(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		      struct err *e)
{
	struct claim out;

	memset(&out, 0, sizeof(out)); /* claims are compared by memcmp() */
	db_copy_text(c, out.node, sizeof(out.node));
	c->bad = c->bad || !hostlist_is_name(out.node);
	out.gen = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);
	(void)db_get_int(c, JOURNAL_EPOCH, JOURNAL_EPOCH);
	db_copy_text(c, out.id, sizeof(out.id));
	out.state = (enum claim_state)get_word(c, claim_state_parse);
	out.reason = (enum claim_reason)get_word(c, claim_reason_parse);
	out.alarms = (uint32_t)db_get_int(c, 0, UINT32_MAX);
	out.attested = db_get_int(c, 0, 1) != 0;
	out.weak = db_get_int(c, 0, 1) != 0;
	get_spki(c, &out);
	db_copy_text(c, out.addr, sizeof(out.addr));
	db_copy_text(c, out.instance, sizeof(out.instance));
	db_copy_text(c, out.serial, sizeof(out.serial));
	out.version = db_get_int(c, INT64_MIN, INT64_MAX);
	out.issued_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	out.expires_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	out.since_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	out.released_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	db_copy_text(c, out.accessor, sizeof(out.accessor));
	out.shared = db_get_int(c, 0, 1) != 0;
	/* In these states a claim without a key's hash would give the keys to any machine. */
	c->bad = c->bad ||
		 (!out.bound && (out.state == CLAIM_ATTESTING || out.state == CLAIM_CLAIMED ||
				 out.state == CLAIM_CONFIRMED));
	return c->bad ? db_damaged(j->db, "claim", e) : v->claim(v->ctx, &out, e);
}

static int read_voucher(const struct journal *j, struct db_cursor *c,
			const struct journal_visitor *v, struct err *e)
{
	struct voucher out = {.token = NULL};
	char token[SECRET_TOKEN_MAX + 1];
	int rc;

	db_copy_text(c, out.node, sizeof(out.node));
	c->bad = c->bad || !hostlist_is_name(out.node);
	out.gen = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);
	(void)db_get_int(c, JOURNAL_EPOCH, JOURNAL_EPOCH);
	out.state = (enum voucher_state)get_word(c, voucher_state_parse);
	db_copy_text(c, token, sizeof(token));
	db_copy_text(c, out.accessor, sizeof(out.accessor));
	out.version = db_get_int(c, 0, INT64_MAX);
	out.gpus = (uint32_t)db_get_int(c, 0, UINT32_MAX);
	db_copy_text(c, out.gpu_type, sizeof(out.gpu_type));
	out.made_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	out.ends_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	out.since_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	/* Without the token a create would be sent with nothing in its user-data. */
	c->bad = c->bad || (out.state == VOUCHER_HELD) != (token[0] != '\0');
	if (!c->bad && token[0] != '\0')
		out.token = secret_new(token, strlen(token));
	explicit_bzero(token, sizeof(token));
	rc = c->bad ? db_damaged(j->db, "voucher", e) : v->voucher(v->ctx, &out, e);
	voucher_fini(&out);
	return rc;
}

static int read_all(struct journal *j, enum statement what, read_fn read,
		    const struct journal_visitor *v, struct err *e)
{
	struct sqlite3_stmt *st = db_stmt(j->db, what, e);
	int rc = -1;

	if (st == NULL)
		return -1;
	while ((rc = db_step(j->db, st, e)) == 1) {
		struct db_cursor c = {.st = st};

		if (read(j, &c, v, e) < 0) {
			db_reset(st);
			return -1;
		}
	}
	return rc;
}

int journal_load(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	if (v->batch != NULL && read_all(j, ALL_BATCHES, read_batch, v, e) < 0)
		return -1;
	if (v->node != NULL && read_all(j, ALL_NODES, read_node, v, e) < 0)
		return -1;
	if (v->spent != NULL && read_all(j, SUM_USAGE, read_spent, v, e) < 0)
		return -1;
	if (v->refusal != NULL && read_all(j, ALL_REFUSALS, read_refusal, v, e) < 0)
		return -1;
	if (v->pool != NULL && read_all(j, ALL_POOLS, read_pool, v, e) < 0)
		return -1;
	if (v->rescue != NULL && read_all(j, ALL_RESCUES, read_rescue, v, e) < 0)
		return -1;
	if (v->claim != NULL && read_all(j, ALL_CLAIMS, read_claim, v, e) < 0)
		return -1;
	return v->voucher != NULL ? read_all(j, ALL_VOUCHERS, read_voucher, v, e) : 0;
}
