/* The tables of alerts, and of their messages. */
#include "store/journal_alerts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/private.h"

static const char sql_put_alert[] =
	"INSERT INTO alert (seq, at_ms, until_ms, kind, percent, budget, value, period, ends_ms,"
	" amount_nano, spent_nano, accrued_nano, held_nano, beyond_nano, carried_nano)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

static const char sql_del_alert[] = "DELETE FROM alert WHERE seq = ?";

static const char sql_put_message[] =
	"INSERT INTO alert_message (seq, receiver, state, attempts, made_ms, tried_ms, error, "
	"alerts)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (seq) DO UPDATE SET state = excluded.state,"
	" attempts = excluded.attempts, tried_ms = excluded.tried_ms, error = excluded.error";

static const char sql_del_message[] = "DELETE FROM alert_message WHERE seq = ?";

static const char sql_alerts[] =
	"SELECT seq, at_ms, until_ms, kind, percent, budget, value, period, ends_ms, amount_nano,"
	" spent_nano, accrued_nano, held_nano, beyond_nano, carried_nano FROM alert ORDER BY seq";

static const char sql_messages[] =
	"SELECT seq, receiver, state, attempts, made_ms, tried_ms, error, alerts"
	" FROM alert_message ORDER BY seq";

void journal_put_alert(struct journal_tx *tx, const struct alert *a)
{
	tx_effect(tx, sql_put_alert);
	tx_int(tx, a->seq);
	tx_int(tx, a->at_ms);
	tx_int(tx, a->until_ms);
	tx_text(tx, alert_kind_str(a->kind));
	tx_int(tx, a->percent);
	tx_text(tx, a->budget);
	tx_text(tx, a->value);
	tx_text(tx, a->period);
	tx_int(tx, a->ends_ms);
	tx_int(tx, a->amount);
	tx_int(tx, a->spent);
	tx_int(tx, a->accrued);
	tx_int(tx, a->held);
	tx_int(tx, a->beyond);
	tx_int(tx, a->carried);
}

void journal_del_alert(struct journal_tx *tx, int64_t seq)
{
	tx_effect(tx, sql_del_alert);
	tx_int(tx, seq);
}

/* Numbers with blanks between them. */
static void put_list(struct journal_tx *tx, const struct alert_message *m)
{
	struct str s;

	str_init(&s, JOURNAL_TEXT_MAX);
	for (size_t i = 0; i < m->n; i++)
		str_addf(&s, "%s%" PRId64, i > 0 ? " " : "", m->alerts[i]);
	tx_text(tx, s.p);
	str_fini(&s);
}

void journal_put_alert_message(struct journal_tx *tx, const struct alert_message *m)
{
	tx_effect(tx, sql_put_message);
	tx_int(tx, m->seq);
	tx_text(tx, m->to);
	tx_text(tx, alert_state_str(m->state));
	tx_int(tx, m->attempts);
	tx_int(tx, m->made_ms);
	tx_int(tx, m->tried_ms);
	tx_text(tx, m->error);
	put_list(tx, m);
}

void journal_del_alert_message(struct journal_tx *tx, int64_t seq)
{
	tx_effect(tx, sql_del_message);
	tx_int(tx, seq);
}

/* --- loading -------------------------------------------------------------------------------------
 */

static int read_alert(const struct journal *j, struct db_cursor *c, const struct journal_visitor *v,
		      struct err *e)
{
	struct alert a = {.seq = db_get_int(c, 1, INT64_MAX)};

	a.at_ms = db_get_int(c, 0, INT64_MAX);
	a.until_ms = db_get_int(c, 0, INT64_MAX);
	a.kind = (enum alert_kind)journal_get_word(c, alert_kind_parse);
	a.percent = (uint32_t)db_get_int(c, 0, UINT32_MAX);
	db_copy_text(c, a.budget, sizeof(a.budget));
	db_copy_text(c, a.value, sizeof(a.value));
	db_copy_text(c, a.period, sizeof(a.period));
	a.ends_ms = db_get_int(c, 0, INT64_MAX);
	a.amount = db_get_int(c, 0, INT64_MAX);
	a.spent = db_get_int(c, INT64_MIN, INT64_MAX);
	a.accrued = db_get_int(c, 0, INT64_MAX);
	a.held = db_get_int(c, 0, INT64_MAX);
	a.beyond = db_get_int(c, 0, INT64_MAX);
	a.carried = db_get_int(c, 0, INT64_MAX);
	return c->bad ? db_damaged(j->db, "alert", e) : v->alert(v->ctx, &a, e);
}

/* 0: m has the numbers, which increase; -1: text is no such list. */
static int take_list(struct alert_message *m, const char *text)
{
	size_t cap = 0;

	while (*text != '\0') {
		char *end;
		int64_t seq = strtoll(text, &end, 10);

		if (*text < '1' || *text > '9' || (*end != ' ' && *end != '\0') ||
		    (*end == ' ' && end[1] == '\0') || (m->n > 0 && seq <= m->alerts[m->n - 1]))
			return -1;
		if (m->n == cap) {
			cap = cap == 0 ? 4 : 2 * cap;
			m->alerts = mem_realloc(m->alerts, cap * sizeof(*m->alerts));
		}
		m->alerts[m->n++] = seq;
		text = *end == ' ' ? end + 1 : end;
	}
	return m->n > 0 ? 0 : -1;
}

static int read_message(const struct journal *j, struct db_cursor *c,
			const struct journal_visitor *v, struct err *e)
{
	struct alert_message m = {.seq = db_get_int(c, 1, INT64_MAX)};
	int rc;

	db_copy_text(c, m.to, sizeof(m.to));
	m.state = (enum alert_state)journal_get_word(c, alert_state_parse);
	m.attempts = (uint32_t)db_get_int(c, 0, UINT32_MAX);
	m.made_ms = db_get_int(c, 0, INT64_MAX);
	m.tried_ms = db_get_int(c, 0, INT64_MAX);
	db_copy_text(c, m.error, sizeof(m.error));
	if (take_list(&m, db_get_text(c, JOURNAL_TEXT_MAX)) < 0 || c->bad)
		rc = db_damaged(j->db, "alert_message", e);
	else
		rc = v->alert_message(v->ctx, &m, e);
	alert_message_fini(&m);
	return rc;
}

int journal_load_alerts(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->alert != NULL ? journal_read(j, sql_alerts, read_alert, v, e) : 0;
}

int journal_load_alert_messages(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	return v->alert_message != NULL ? journal_read(j, sql_messages, read_message, v, e) : 0;
}
