/* ledger_invoices.h - what providers want for a month, by their invoices.
 *
 * An invoice has lines: of instances, each assigned to a lifetime, and of what no machine is:
 * disks, traffic, support, tax.  Lifetimes are computed from these as from other facts
 * (ledger/true_up.h); what is of no machine is computed as the bill of a lifetime of its own, which
 * has no node, and whose generation is the invoice's number here.  An invoice that was removed
 * stays, and does not count. */
#ifndef BURSTD_STORE_LEDGER_INVOICES_H
#define BURSTD_STORE_LEDGER_INVOICES_H

#include "store/digest.h"
#include "store/ledger.h"

struct ledger_invoice { /* texts are borrowed */
	int64_t id;     /* its own number here */
	const char *provider;
	int64_t month;      /* date_month() */
	const char *number; /* the provider's */
	const char *format, *rule;
	/* Instances that are not on it stay as they were counted; else those in its currency cost
	 * 0. */
	bool partial;
	const char *currency;
	int64_t nano;       /* its total: the sum of its lines */
	int64_t counted;    /* what was counted before, of what is on it */
	const char *why;    /* the difference, in words */
	const char *file;   /* its name, and ... */
	const char *digest; /* ... of its rows */
	int64_t at_ms;
	const char *who;
	int64_t removed_ms; /* 0: it counts */
	const char *removed_by;
};

enum ledger_invoice_kind {
	LEDGER_INVOICE_INSTANCE, /* of a lifetime */
	LEDGER_INVOICE_UNKNOWN,  /* of an instance that is not known here */
	LEDGER_INVOICE_SHARED,
	LEDGER_INVOICE_TAX,
};

struct ledger_invoice_line { /* texts are borrowed */
	int64_t n;           /* 1, 2, ... */
	enum ledger_invoice_kind kind;
	int64_t lifetime;     /* 0: none */
	const char *instance; /* as the invoice has it; "": none */
	const char *account;  /* whose part it is; "": nobody's */
	const char *name;
	int64_t nano;
	int64_t start_s, end_s;
};

/* The number of the next one. */
int ledger_next_invoice(struct ledger *l, int64_t *id, struct err *e);
int ledger_put_invoice(struct ledger *l, const struct ledger_invoice *i, struct err *e);
int ledger_put_invoice_line(struct ledger *l, int64_t invoice, const struct ledger_invoice_line *n,
			    struct err *e);
/* From now on it does not count. */
int ledger_remove_invoice(struct ledger *l, int64_t id, int64_t at_ms, const char *who,
			  struct err *e);
/* Have all lifetimes computed again that are on it, and its own. */
int ledger_touch_invoice(struct ledger *l, int64_t id, struct err *e);
/* Likewise those of that provider with a bill in [from_s, to_s), what is billed beyond their end
 * included, in that currency, or in one that the facts do not name. */
int ledger_touch_provider(struct ledger *l, const char *provider, const char *currency,
			  int64_t from_s, int64_t to_s, struct err *e);

struct ledger_part { /* of a provider's bill, of days in [from_day, to_day) */
	const char *provider, *currency;
	int64_t from_day, to_day;
};
/* What was counted of its machines and turned out too late to be on these days; differences to
 * invoices are not in it. */
int ledger_late_of(struct ledger *l, const struct ledger_part *of, int64_t *nano, struct err *e);

typedef int (*ledger_invoice_fn)(void *ctx, const struct ledger_invoice *i, struct err *e);
/* All, those that were removed included, in the order in which they came. */
int ledger_invoices(struct ledger *l, ledger_invoice_fn fn, void *ctx, struct err *e);
typedef int (*ledger_invoice_line_fn)(void *ctx, const struct ledger_invoice_line *n,
				      struct err *e);
int ledger_invoice_lines(struct ledger *l, int64_t invoice, ledger_invoice_line_fn fn, void *ctx,
			 struct err *e);

typedef int (*ledger_month_fn)(void *ctx, int64_t month, int64_t nano, struct err *e);
/* What invoices that count want for the lifetime, by month. */
int ledger_invoiced(struct ledger *l, int64_t lifetime, ledger_month_fn fn, void *ctx,
		    struct err *e);
/* Months of which there is an invoice of that provider, in that currency, that counts and is not
 * partial; nano is 0. */
int ledger_whole_months(struct ledger *l, const char *provider, const char *currency,
			ledger_month_fn fn, void *ctx, struct err *e);

typedef int (*ledger_instance_fn)(void *ctx, int64_t lifetime, const char *currency, struct err *e);
/* Lifetimes of an instance of that provider; currency: "" if the facts name none. */
int ledger_instances(struct ledger *l, const char *provider, const char *instance,
		     ledger_instance_fn fn, void *ctx, struct err *e);
/* Whose instance that is, of any provider: the caller's; "": nobody's that is known. */
int ledger_provider_of(struct ledger *l, const char *instance, char **out, struct err *e);
typedef int (*ledger_provider_fn)(void *ctx, const char *provider, const char *currency,
				  struct err *e);
/* All of which there is a machine, each with each of its currencies. */
int ledger_providers(struct ledger *l, ledger_provider_fn fn, void *ctx, struct err *e);

struct ledger_invoices_of { /* a closed month */
	int64_t month;
	int64_t last; /* the id of the last that there was */
	bool lines;   /* theirs, too */
};
/* digest: of a month's postings; and then of these, and of all that its invoices say but whether
 * one was removed, each followed by all that its lines say.  A month without invoices keeps it. */
int ledger_digest_invoices(struct ledger *l, const struct ledger_invoices_of *of,
			   char digest[DIGEST_SIZE], struct err *e);

#endif
