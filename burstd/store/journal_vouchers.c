/* The table of vouchers. */
#include "store/journal_vouchers.h"

#include <string.h>

#include "store/private.h"

#define VOUCHER_COLUMNS                                                                            \
	"node, gen, epoch, state, token, accessor, version, gpus, gpu_type, made_ms, ends_ms, "    \
	"since_ms"

static const char sql_put_voucher[] =
	"INSERT INTO voucher (" VOUCHER_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT (node, gen) DO UPDATE SET epoch = excluded.epoch,"
	" state = excluded.state, token = excluded.token, accessor = excluded.accessor,"
	" version = excluded.version, gpus = excluded.gpus, gpu_type = excluded.gpu_type,"
	" made_ms = excluded.made_ms,"
	" ends_ms = excluded.ends_ms, since_ms = excluded.since_ms";

static const char sql_del_voucher[] = "DELETE FROM voucher WHERE node = ? AND gen = ?";

static const char sql_all_vouchers[] = "SELECT " VOUCHER_COLUMNS " FROM voucher ORDER BY node, gen";

void journal_put_voucher(struct journal_tx *tx, const struct voucher *v)
{
	tx_effect(tx, sql_put_voucher); /* in the order of VOUCHER_COLUMNS */
	tx_text(tx, v->node);
	tx_bits(tx, v->gen);
	tx_int(tx, JOURNAL_EPOCH);
	tx_text(tx, voucher_state_str(v->state));
	tx_text(tx, v->token != NULL ? secret_text(v->token) : "");
	tx_text(tx, v->accessor);
	tx_int(tx, v->version);
	tx_int(tx, v->gpus);
	tx_text(tx, v->gpu_type);
	tx_int(tx, v->made_ms);
	tx_int(tx, v->ends_ms);
	tx_int(tx, v->since_ms);
}

void journal_del_voucher(struct journal_tx *tx, const char *node, uint64_t gen)
{
	tx_effect(tx, sql_del_voucher);
	tx_text(tx, node);
	tx_bits(tx, gen);
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
	out.state = (enum voucher_state)journal_get_word(c, voucher_state_parse);
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

int journal_load_vouchers(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->voucher != NULL ? journal_read(j, sql_all_vouchers, read_voucher, v, e) : 0;
}
