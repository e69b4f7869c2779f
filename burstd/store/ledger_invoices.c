#include "store/ledger_invoices.h"

#include <string.h>

#include "store/ledger_private.h"

static const char sql_next[] = "SELECT COALESCE(MAX(id), 0) + 1 FROM invoice";
static const char sql_put[] =
	"INSERT INTO invoice (id, provider, month, number, format, rule, partial, currency, nano,"
	" counted, why, file, digest, at_ms, who, removed_ms, removed_by)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '')";
static const char sql_put_line[] =
	"INSERT INTO invoice_line (invoice, n, kind, lifetime, instance, account, name, nano,"
	" start_s, end_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_remove[] =
	"UPDATE invoice SET removed_ms = ?, removed_by = ? WHERE id = ? AND removed_ms = 0";
static const char sql_touch[] =
	"UPDATE lifetime SET dirty = 1 WHERE id IN (SELECT lifetime FROM invoice_line WHERE"
	" invoice = ?)";
/* What is booked at once is final: nothing more is awaited. */
static const char sql_touch_own[] =
	"INSERT INTO lifetime (node, gen, instance, state, dirty, flags, start_s, end_s, nano, why)"
	" VALUES ('', ?, '', 2, 1, 0, 0, 0, 0, '')"
	" ON CONFLICT (node, gen, instance) DO UPDATE SET dirty = 1";
/* What is billed beyond its end may be in the month after. */
static const char sql_touch_provider[] =
	"UPDATE lifetime SET dirty = 1 WHERE start_s < ?4 AND EXISTS (SELECT 1 FROM machine AS m"
	" WHERE m.node = lifetime.node AND m.gen = lifetime.gen AND m.provider = ?1"
	" AND m.currency IN (?2, '')"
	" AND lifetime.end_s + (m.quantum_ms + m.minimum_ms) / 1000 + 2 > ?3)";
static const char sql_late[] =
	"SELECT COALESCE(SUM(p.nano), 0) FROM posting AS p JOIN dims AS d ON d.id = p.dims"
	" JOIN word AS w ON w.id = d.provider JOIN word AS c ON c.id = d.currency"
	" WHERE p.kind & 384 = 256 AND p.kind & 15 < 9 AND p.of_day >= ? AND p.of_day < ?"
	" AND w.text = ? AND c.text = ?"; /* LEDGER_LATE, LEDGER_ADJUST, ALLOCATE_SHARED */
static const char sql_all[] =
	"SELECT id, provider, month, number, format, rule, partial, currency, nano, counted, why,"
	" file, digest, at_ms, who, removed_ms, removed_by FROM invoice ORDER BY id";
static const char sql_lines[] =
	"SELECT n, kind, lifetime, instance, account, name, nano, start_s, end_s FROM invoice_line"
	" WHERE invoice = ? ORDER BY n";
static const char sql_invoiced[] =
	"SELECT i.month, SUM(n.nano) FROM invoice_line AS n JOIN invoice AS i ON i.id = n.invoice"
	" WHERE n.lifetime = ? AND n.lifetime <> 0 AND i.removed_ms = 0 GROUP BY i.month";
static const char sql_whole[] =
	"SELECT DISTINCT month, 0 FROM invoice WHERE provider = ? AND currency = ?"
	" AND removed_ms = 0 AND partial = 0 ORDER BY month";
static const char sql_instances[] =
	"SELECT t.id, m.currency FROM lifetime AS t JOIN machine AS m ON m.node = t.node AND"
	" m.gen = t.gen WHERE t.instance = ? AND m.provider = ? AND t.node <> '' ORDER BY t.id";
static const char sql_provider_of[] =
	"SELECT m.provider FROM lifetime AS t JOIN machine AS m ON m.node = t.node AND"
	" m.gen = t.gen WHERE t.instance = ? AND t.node <> '' ORDER BY t.id LIMIT 1";
static const char sql_providers[] =
	"SELECT DISTINCT provider, currency FROM machine ORDER BY provider, currency";

int ledger_next_invoice(struct ledger *l, int64_t *id, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_next, e) < 0)
		return -1;
	return ledger_ask(l, &c, id, e) == 1 ? 0 : -1;
}

int ledger_put_invoice(struct ledger *l, const struct ledger_invoice *i, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_put, e) < 0)
		return -1;
	db_put_int(&c, i->id);
	ledger_put_text(&c, i->provider);
	db_put_int(&c, i->month);
	ledger_put_text(&c, i->number);
	ledger_put_text(&c, i->format);
	ledger_put_text(&c, i->rule);
	db_put_int(&c, i->partial);
	ledger_put_text(&c, i->currency);
	db_put_int(&c, i->nano);
	db_put_int(&c, i->counted);
	ledger_put_text(&c, i->why);
	ledger_put_text(&c, i->file);
	ledger_put_text(&c, i->digest);
	db_put_int(&c, i->at_ms);
	ledger_put_text(&c, i->who);
	return ledger_do(l, &c, e);
}

int ledger_put_invoice_line(struct ledger *l, int64_t invoice, const struct ledger_invoice_line *n,
			    struct err *e)
{
	const int64_t first[] = {invoice, n->n, (int64_t)n->kind, n->lifetime};
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_put_line, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		db_put_int(&c, first[i]);
	ledger_put_text(&c, n->instance);
	ledger_put_text(&c, n->account);
	ledger_put_text(&c, n->name);
	db_put_int(&c, n->nano);
	db_put_int(&c, n->start_s);
	db_put_int(&c, n->end_s);
	return ledger_do(l, &c, e);
}

int ledger_remove_invoice(struct ledger *l, int64_t id, int64_t at_ms, const char *who,
			  struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_remove, e) < 0)
		return -1;
	db_put_int(&c, at_ms);
	ledger_put_text(&c, who);
	db_put_int(&c, id);
	return ledger_do(l, &c, e);
}

int ledger_touch_invoice(struct ledger *l, int64_t id, struct err *e)
{
	static const char *const both[] = {sql_touch, sql_touch_own};

	for (size_t i = 0; i < 2; i++) {
		struct db_cursor c;

		if (ledger_stmt(l, &c, both[i], e) < 0)
			return -1;
		db_put_int(&c, id);
		if (ledger_do(l, &c, e) < 0)
			return -1;
	}
	return 0;
}

int ledger_touch_provider(struct ledger *l, const char *provider, const char *currency,
			  int64_t from_s, int64_t to_s, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_touch_provider, e) < 0)
		return -1;
	ledger_put_text(&c, provider);
	ledger_put_text(&c, currency);
	db_put_int(&c, from_s);
	db_put_int(&c, to_s);
	return ledger_do(l, &c, e);
}

int ledger_late_of(struct ledger *l, const struct ledger_part *of, int64_t *nano, struct err *e)
{
	struct db_cursor c;

	*nano = 0;
	if (ledger_stmt(l, &c, sql_late, e) < 0)
		return -1;
	db_put_int(&c, of->from_day);
	db_put_int(&c, of->to_day);
	ledger_put_text(&c, of->provider);
	ledger_put_text(&c, of->currency);
	return ledger_ask(l, &c, nano, e) < 0 ? -1 : 0;
}

int ledger_invoices(struct ledger *l, ledger_invoice_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_all, e) < 0)
		return -1;
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		struct ledger_invoice i = {0};

		c.at = 0;
		i.id = ledger_int(&c);
		i.provider = db_get_text(&c, LEDGER_TEXT_MAX);
		i.month = ledger_int(&c);
		i.number = db_get_text(&c, LEDGER_TEXT_MAX);
		i.format = db_get_text(&c, LEDGER_TEXT_MAX);
		i.rule = db_get_text(&c, LEDGER_TEXT_MAX);
		i.partial = ledger_int(&c) != 0;
		i.currency = db_get_text(&c, LEDGER_TEXT_MAX);
		i.nano = ledger_int(&c);
		i.counted = ledger_int(&c);
		i.why = db_get_text(&c, LEDGER_TEXT_MAX);
		i.file = db_get_text(&c, LEDGER_TEXT_MAX);
		i.digest = db_get_text(&c, LEDGER_TEXT_MAX);
		i.at_ms = ledger_int(&c);
		i.who = db_get_text(&c, LEDGER_TEXT_MAX);
		i.removed_ms = ledger_int(&c);
		i.removed_by = db_get_text(&c, LEDGER_TEXT_MAX);
		if (c.bad || fn(ctx, &i, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "invoice", e) : -1;
		}
	}
	return rc;
}

int ledger_invoice_lines(struct ledger *l, int64_t invoice, ledger_invoice_line_fn fn, void *ctx,
			 struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_lines, e) < 0)
		return -1;
	db_put_int(&c, invoice);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		struct ledger_invoice_line n;

		c.at = 0;
		n.n = ledger_int(&c);
		n.kind = (enum ledger_invoice_kind)db_get_int(&c, LEDGER_INVOICE_INSTANCE,
							      LEDGER_INVOICE_TAX);
		n.lifetime = ledger_int(&c);
		n.instance = db_get_text(&c, LEDGER_TEXT_MAX);
		n.account = db_get_text(&c, LEDGER_TEXT_MAX);
		n.name = db_get_text(&c, LEDGER_TEXT_MAX);
		n.nano = ledger_int(&c);
		n.start_s = ledger_int(&c);
		n.end_s = ledger_int(&c);
		if (c.bad || fn(ctx, &n, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "invoice_line", e) : -1;
		}
	}
	return rc;
}

static int visit_months(struct ledger *l, struct db_cursor *c, ledger_month_fn fn, void *ctx,
			struct err *e)
{
	int rc;

	while ((rc = db_step(l->db, c->st, e)) == 1) {
		int64_t month, nano;

		c->at = 0;
		month = ledger_int(c);
		nano = ledger_int(c);
		if (c->bad || fn(ctx, month, nano, e) < 0) {
			db_reset(c->st);
			return c->bad ? db_damaged(l->db, "invoice", e) : -1;
		}
	}
	return rc;
}

int ledger_invoiced(struct ledger *l, int64_t lifetime, ledger_month_fn fn, void *ctx,
		    struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_invoiced, e) < 0)
		return -1;
	db_put_int(&c, lifetime);
	return visit_months(l, &c, fn, ctx, e);
}

int ledger_whole_months(struct ledger *l, const char *provider, const char *currency,
			ledger_month_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_whole, e) < 0)
		return -1;
	ledger_put_text(&c, provider);
	ledger_put_text(&c, currency);
	return visit_months(l, &c, fn, ctx, e);
}

int ledger_instances(struct ledger *l, const char *provider, const char *instance,
		     ledger_instance_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_instances, e) < 0)
		return -1;
	ledger_put_text(&c, instance);
	ledger_put_text(&c, provider);
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		int64_t id;
		const char *currency;

		c.at = 0;
		id = ledger_int(&c);
		currency = db_get_text(&c, LEDGER_TEXT_MAX);
		if (c.bad || fn(ctx, id, currency, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "lifetime", e) : -1;
		}
	}
	return rc;
}

int ledger_provider_of(struct ledger *l, const char *instance, char **out, struct err *e)
{
	struct db_cursor c;

	*out = NULL;
	if (ledger_stmt(l, &c, sql_provider_of, e) < 0)
		return -1;
	ledger_put_text(&c, instance);
	return ledger_ask_text(l, &c, out, e);
}

int ledger_providers(struct ledger *l, ledger_provider_fn fn, void *ctx, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_providers, e) < 0)
		return -1;
	while ((rc = db_step(l->db, c.st, e)) == 1) {
		const char *provider, *currency;

		c.at = 0;
		provider = db_get_text(&c, LEDGER_TEXT_MAX);
		currency = db_get_text(&c, LEDGER_TEXT_MAX);
		if (c.bad || fn(ctx, provider, currency, e) < 0) {
			db_reset(c.st);
			return c.bad ? db_damaged(l->db, "machine", e) : -1;
		}
	}
	return rc;
}

/* --- for a month's record ----------------------------------------------------------------------
 */

struct digesting {
	struct ledger *l;
	const struct ledger_invoices_of *of;
	struct digest d;
	int64_t n;
};

static int digest_line(void *ctx, const struct ledger_invoice_line *n, struct err *e)
{
	const int64_t numbers[] = {n->n,    (int64_t)n->kind, n->lifetime,
				   n->nano, n->start_s,       n->end_s};
	const char *const texts[] = {n->instance, n->account, n->name};
	struct digesting *all = ctx;

	(void)e;
	for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
		digest_int(&all->d, numbers[k]);
	for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
		digest_text(&all->d, texts[k]);
	return 0;
}

static int digest_invoice(void *ctx, const struct ledger_invoice *i, struct err *e)
{
	const int64_t numbers[] = {i->id, i->month, i->partial, i->nano, i->counted, i->at_ms};
	const char *const texts[] = {i->provider, i->number, i->format, i->rule, i->currency,
				     i->why,      i->file,   i->digest, i->who};
	struct digesting *all = ctx;

	if (i->month != all->of->month || i->id > all->of->last)
		return 0;
	for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
		digest_int(&all->d, numbers[k]);
	for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
		digest_text(&all->d, texts[k]);
	all->n++;
	return all->of->lines ? ledger_invoice_lines(all->l, i->id, digest_line, all, e) : 0;
}

int ledger_digest_invoices(struct ledger *l, const struct ledger_invoices_of *of,
			   char digest[DIGEST_SIZE], struct err *e)
{
	struct digesting all = {.l = l, .of = of};
	char with[DIGEST_SIZE];
	int rc;

	digest_begin(&all.d, digest);
	rc = ledger_invoices(l, digest_invoice, &all, e);
	digest_end(&all.d, with);
	if (rc == 0 && all.n > 0)
		memcpy(digest, with, sizeof(with));
	return rc;
}
