/* The table of claims. */
#include "store/journal_claims.h"

#include <assert.h>
#include <string.h>

#include "base/fmt.h"
#include "store/private.h"

#define CLAIM_COLUMNS                                                                              \
	"node, gen, epoch, id, state, reason, alarms, attested, weak, spki, addr, instance, "      \
	"serial, version, issued_ms, expires_ms, since_ms, released_ms, accessor, shared"

static const char sql_put_claim[] =
	"INSERT INTO claim (" CLAIM_COLUMNS ", turn, wrong) VALUES"
	" (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)"
	" ON CONFLICT (node, gen) DO UPDATE SET epoch = excluded.epoch, id = excluded.id,"
	" state = excluded.state, reason = excluded.reason,"
	" alarms = excluded.alarms, attested = excluded.attested,"
	" weak = excluded.weak, spki = excluded.spki, addr = excluded.addr,"
	" instance = excluded.instance, serial = excluded.serial,"
	" version = excluded.version, issued_ms = excluded.issued_ms,"
	" expires_ms = excluded.expires_ms, since_ms = excluded.since_ms,"
	" released_ms = excluded.released_ms, accessor = excluded.accessor,"
	" shared = excluded.shared";

static const char sql_del_claim[] = "DELETE FROM claim WHERE node = ? AND gen = ?";

static const char sql_all_claims[] = "SELECT " CLAIM_COLUMNS " FROM claim ORDER BY node, gen";

static void add_hex(struct journal_tx *tx, const unsigned char *bytes, size_t n)
{
	char text[2 * CLAIM_SPKI_SIZE + 1];

	assert(2 * n < sizeof(text));
	tx_text(tx, fmt_hex(text, bytes, n));
}

void journal_put_claim(struct journal_tx *tx, const struct claim *c)
{
	tx_effect(tx, sql_put_claim); /* in the order of CLAIM_COLUMNS */
	tx_text(tx, c->node);
	tx_bits(tx, c->gen);
	tx_int(tx, JOURNAL_EPOCH);
	tx_text(tx, c->id);
	tx_text(tx, claim_state_str(c->state));
	tx_text(tx, claim_reason_str(c->reason));
	tx_int(tx, c->alarms);
	tx_int(tx, c->attested);
	tx_int(tx, c->weak);
	add_hex(tx, c->spki, c->bound ? sizeof(c->spki) : 0);
	tx_text(tx, c->addr);
	tx_text(tx, c->instance);
	tx_text(tx, c->serial);
	tx_int(tx, c->version);
	tx_int(tx, c->issued_ms);
	tx_int(tx, c->expires_ms);
	tx_int(tx, c->since_ms);
	tx_int(tx, c->released_ms);
	tx_text(tx, c->accessor);
	tx_int(tx, c->shared);
}

void journal_del_claim(struct journal_tx *tx, const char *node, uint64_t gen)
{
	tx_effect(tx, sql_del_claim);
	tx_text(tx, node);
	tx_bits(tx, gen);
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
	out.state = (enum claim_state)journal_get_word(c, claim_state_parse);
	out.reason = (enum claim_reason)journal_get_word(c, claim_reason_parse);
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

int journal_load_claims(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->claim != NULL ? journal_read(j, sql_all_claims, read_claim, v, e) : 0;
}
