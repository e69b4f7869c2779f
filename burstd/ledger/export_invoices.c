#include "ledger/export_invoices.h"

#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/mem.h"
#include "ledger/ascii.h"
#include "ledger/focus_private.h"
#include "store/ledger_invoices.h"

enum { TEXT_MAX = 1 << 16 };

/* --- which -------------------------------------------------------------------------------------
 */

static int take_invoice(void *ctx, const struct ledger_invoice *i, struct err *e)
{
	struct export_invoices *x = ctx;

	(void)e;
	if (i->removed_ms != 0)
		return 0;
	x->v = mem_realloc(x->v, (x->n + 1) * sizeof(*x->v));
	x->v[x->n++] = (struct export_invoice){.id = i->id,
					       .month = i->month,
					       .nano = i->nano,
					       .counted = i->counted,
					       .at_ms = i->at_ms,
					       .provider = mem_strdup(i->provider),
					       .number = mem_strdup(i->number),
					       .currency = mem_strdup(i->currency),
					       .why = mem_strdup(i->why),
					       .partial = i->partial};
	return 0;
}

static void drop(struct export_invoice *i)
{
	free(i->provider);
	free(i->number);
	free(i->currency);
	free(i->why);
	free(i->title);
}

/* The first month from its own on that was open when it came, or is. */
static int is_in(struct ledger *l, const struct export_invoice *i, int64_t month, bool *is,
		 struct err *e)
{
	*is = false;
	for (int64_t m = i->month; m <= month; m++) {
		struct closing_state s;

		if (closing_state(l, m, &s, e) < 0)
			return -1;
		if (s.closed && i->id > s.invoice)
			continue;
		*is = m == month;
		return 0;
	}
	return 0;
}

static int keep(struct export_invoices *x, struct ledger *l, int64_t month, const char *currency,
		struct err *e)
{
	struct export_invoice *kept = mem_zalloc((x->n + 1) * sizeof(*kept));
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < x->n; i++) {
		bool is = false;

		if (rc == 0 && strcmp(x->v[i].currency, currency) == 0)
			rc = is_in(l, &x->v[i], month, &is, e);
		if (is || rc < 0)
			kept[n++] = x->v[i];
		else
			drop(&x->v[i]);
	}
	free(x->v);
	x->v = kept;
	x->n = n;
	return rc;
}

static char *title_of(const struct export_invoice *i, int64_t month)
{
	char name[DATE_STR_SIZE];
	struct str s;

	str_init(&s, TEXT_MAX);
	str_adds(&s, i->provider);
	if (i->month != month)
		str_addf(&s, ", %s", date_month_str(name, i->month));
	return str_take(&s);
}

int export_invoices_load(struct export_invoices *x, struct ledger *l, int64_t month,
			 const char *currency, struct err *e)
{
	int rc;

	*x = (struct export_invoices){0};
	rc = ledger_invoices(l, take_invoice, x, e);
	if (rc == 0)
		rc = keep(x, l, month, currency, e);
	if (rc < 0) {
		export_invoices_fini(x);
		return -1;
	}
	x->lines = mem_zalloc((x->n + 1) * sizeof(*x->lines));
	for (size_t i = 0; i < x->n; i++)
		x->v[i].title = title_of(&x->v[i], month);
	for (size_t i = 0; i < x->n; i++)
		x->lines[i] = (struct statement_invoice){.provider = x->v[i].title,
							 .invoice = x->v[i].number,
							 .ours = x->v[i].counted,
							 .theirs = x->v[i].nano,
							 .why = x->v[i].why};
	return 0;
}

void export_invoices_fini(struct export_invoices *x)
{
	for (size_t i = 0; i < x->n; i++)
		drop(&x->v[i]);
	free(x->v);
	free(x->lines);
	*x = (struct export_invoices){0};
}

char *export_invoices_of(const struct export_invoices *x, const char *provider, int64_t month)
{
	bool whole = false;
	struct str s;

	str_init(&s, TEXT_MAX);
	for (size_t i = 0; i < x->n; i++) {
		if (strcmp(x->v[i].provider, provider) != 0 || x->v[i].month != month)
			continue;
		str_addf(&s, "%s%s", s.len > 0 ? "+" : "", x->v[i].number);
		whole = whole || !x->v[i].partial;
	}
	if (whole)
		return str_take(&s);
	str_fini(&s);
	return NULL;
}

/* --- FOCUS 1.4 ---------------------------------------------------------------------------------
 */

static const char *issuer(struct focus_line *l)
{
	focus_clear(l);
	if (l->o->view == FOCUS_PROVIDER)
		return l->driver->name;
	ascii_name(&l->text, l->o->cluster);
	str_adds(&l->text, " burst");
	return l->text.p;
}

static void heads(struct csv *out, const char *const *names)
{
	for (; *names != NULL; names++)
		csv_own(out, *names);
}

static void begin(struct focus_line *l, const struct focus_options *o, const char *provider,
		  struct charge *c)
{
	l->o = o;
	l->provider = focus_find_provider(o, provider);
	l->driver = focus_driver(l->provider->driver);
	*c = (struct charge){.provider = provider};
	l->c = c;
}

/* Two providers of burstd.conf may be one issuer's, and inside a house there is one. */
static bool is_first(const struct focus_options *o, size_t i)
{
	if (i == 0)
		return true;
	if (o->view == FOCUS_INTERNAL)
		return false;
	for (size_t k = 0; k < i; k++)
		if (strcmp(focus_provider_name(o->providers[k].driver),
			   focus_provider_name(o->providers[i].driver)) == 0)
			return false;
	return true;
}

int export_billing_period(const struct focus_options *o, const struct closing_state *s,
			  const struct sink *to, struct err *e)
{
	static const char *const names[] = {"BillingPeriodCreated",
					    "BillingPeriodEnd",
					    "BillingPeriodLastUpdated",
					    "BillingPeriodStart",
					    "BillingPeriodStatus",
					    "InvoiceIssuerName",
					    NULL};
	const int64_t updated_s = s->at_ms / 1000 > o->start_s ? s->at_ms / 1000 : o->start_s;
	struct focus_line l = {.o = o};
	struct charge c;
	struct csv out;
	int rc;

	str_init(&l.text, TEXT_MAX);
	csv_init(&out, to, o->spreadsheet);
	heads(&out, names);
	rc = csv_end(&out, e);
	for (size_t i = 0; i < o->nproviders && rc == 0; i++) {
		if (!is_first(o, i))
			continue;
		begin(&l, o, o->providers[i].name, &c);
		csv_own(&out, focus_time(&l, o->start_s));
		csv_own(&out, focus_time(&l, o->end_s));
		csv_own(&out, focus_time(&l, updated_s));
		csv_own(&out, focus_time(&l, o->start_s));
		csv_own(&out, s->closed ? "Closed" : "Open");
		csv_text(&out, issuer(&l));
		rc = csv_end(&out, e);
	}
	csv_fini(&out);
	str_fini(&l.text);
	return rc;
}

struct detail { /* of an invoice: lines of one name, which may be several accounts' */
	enum ledger_invoice_kind kind;
	char *name, *instance;
	int64_t nano;
};

struct details {
	struct detail *v;
	size_t n, cap;
};

static int take_line(void *ctx, const struct ledger_invoice_line *n, struct err *e)
{
	struct details *all = ctx;
	struct detail *last = all->n > 0 ? &all->v[all->n - 1] : NULL;

	(void)e;
	if (last != NULL && last->kind == n->kind && strcmp(last->name, n->name) == 0) {
		last->nano += n->nano; /* parts of what fits */
		return 0;
	}
	if (all->v == NULL || all->n == all->cap) {
		all->cap = all->cap == 0 ? 64 : 2 * all->cap;
		all->v = mem_realloc(all->v, all->cap * sizeof(*all->v));
	}
	all->v[all->n++] =
		(struct detail){n->kind, mem_strdup(n->name), mem_strdup(n->instance), n->nano};
	return 0;
}

/* What makes it one line of the invoice. */
static const char *grain(struct focus_line *l, const struct detail *d)
{
	const bool instance =
		d->kind == LEDGER_INVOICE_INSTANCE || d->kind == LEDGER_INVOICE_UNKNOWN;

	focus_clear(l);
	str_adds(&l->text, instance ? "{\"ResourceId\":" : "{\"x_Name\":");
	ascii_json(&l->text, instance ? d->instance : d->name);
	str_adds(&l->text, "}");
	return l->text.p;
}

static const char *id_of(struct focus_line *l, const char *number, size_t n)
{
	(void)focus_invoice(l, number);
	if (n > 0)
		str_addf(&l->text, "/%zu", n);
	return l->text.p;
}

static int put_detail(struct focus_line *l, const struct export_invoice *i, const struct detail *d,
		      size_t n, struct csv *out, struct err *e)
{
	csv_money(out, d->nano, true);
	csv_own(out, focus_billing_account(l));
	csv_own(out, i->currency);
	csv_own(out, focus_time(l, l->o->end_s));
	csv_own(out, focus_time(l, l->o->start_s));
	csv_own(out, d->kind == LEDGER_INVOICE_TAX ? "Tax" : "Usage");
	csv_own(out, focus_time(l, i->at_ms / 1000));
	focus_clear(l);
	ascii_name(&l->text, d->name);
	csv_text(out, l->text.p);
	csv_own(out, grain(l, d));
	csv_own(out, id_of(l, i->number, n));
	csv_own(out, focus_time(l, i->at_ms / 1000));
	csv_own(out, id_of(l, i->number, 0));
	csv_null(out); /* when it was issued, and how it is to be paid, no CSV says */
	csv_own(out, "Issued");
	csv_text(out, issuer(l));
	csv_own(out, i->currency);
	csv_null(out);
	csv_null(out);
	csv_null(out);
	return csv_end(out, e);
}

static int put_invoice(struct focus_line *l, const struct export_invoice *i, struct ledger *ledger,
		       struct csv *out, struct err *e)
{
	struct details all = {.n = 0};
	struct charge c;
	int rc = ledger_invoice_lines(ledger, i->id, take_line, &all, e);

	begin(l, l->o, i->provider, &c);
	for (size_t k = 0; k < all.n; k++) {
		if (rc == 0)
			rc = put_detail(l, i, &all.v[k], k + 1, out, e);
		free(all.v[k].name);
		free(all.v[k].instance);
	}
	free(all.v);
	l->c = NULL;
	return rc;
}

int export_invoice_detail(const struct focus_options *o, const struct export_invoices *x,
			  struct ledger *l, const struct sink *to, struct err *e)
{
	static const char *const names[] = {"BilledCost",
					    "BillingAccountId",
					    "BillingCurrency",
					    "BillingPeriodEnd",
					    "BillingPeriodStart",
					    "ChargeCategory",
					    "InvoiceDetailCreated",
					    "InvoiceDetailDescription",
					    "InvoiceDetailGrain",
					    "InvoiceDetailId",
					    "InvoiceDetailLastUpdated",
					    "InvoiceId",
					    "InvoiceIssueDate",
					    "InvoiceIssueStatus",
					    "InvoiceIssuerName",
					    "PaymentCurrency",
					    "PaymentDueDate",
					    "PaymentTerms",
					    "ReferenceInvoiceId",
					    NULL};
	struct focus_line line = {.o = o};
	struct csv out;
	int rc;

	str_init(&line.text, TEXT_MAX);
	csv_init(&out, to, o->spreadsheet);
	heads(&out, names);
	rc = csv_end(&out, e);
	for (size_t i = 0; i < x->n && rc == 0; i++)
		rc = put_invoice(&line, &x->v[i], l, &out, e);
	csv_fini(&out);
	str_fini(&line.text);
	return rc;
}
