/* export_invoices.h - the invoices that a month was met with, for its statement and for FOCUS 1.4:
 * BillingPeriod says whether the month is closed, InvoiceDetail what is on the invoices. */
#ifndef BURSTD_LEDGER_EXPORT_INVOICES_H
#define BURSTD_LEDGER_EXPORT_INVOICES_H

#include "ledger/closing.h"
#include "ledger/focus.h"
#include "ledger/statement.h"

struct export_invoice { /* texts are its own */
	int64_t id, month, nano, counted, at_ms;
	char *provider, *number, *currency, *why;
	char *title; /* the provider, and the month if it is another */
	bool partial;
};

struct export_invoices {
	struct export_invoice *v;
	size_t n;
	struct statement_invoice *lines; /* for a statement: as many, borrowed from v */
};

/* Those of that currency that are in the month: of it, and met before it was closed; or of a month
 * before that was closed already.  -1: *e; *x is empty then. */
int export_invoices_load(struct export_invoices *x, struct ledger *l, int64_t month,
			 const char *currency, struct err *e);
void export_invoices_fini(struct export_invoices *x);

/* The numbers of the provider's invoices of the month, joined by '+': the caller's (free()).  NULL:
 * it is not wholly invoiced. */
char *export_invoices_of(const struct export_invoices *x, const char *provider, int64_t month);

/* One row for each provider in o. */
int export_billing_period(const struct focus_options *o, const struct closing_state *s,
			  const struct sink *to, struct err *e);
/* One row for each instance, and each name, of each invoice. */
int export_invoice_detail(const struct focus_options *o, const struct export_invoices *x,
			  struct ledger *l, const struct sink *to, struct err *e);

#endif
