/* invoice.h - meets a provider's invoice: what it has for instances becomes theirs (true_up.h), and
 * what it has for no machine is there by name, so that the month adds up to the invoice. */
#ifndef BURSTD_LEDGER_INVOICE_H
#define BURSTD_LEDGER_INVOICE_H

#include "base/str.h"
#include "ledger/book.h"
#include "ledger/invoice_file.h"

enum invoice_rule {                       /* whose what is of no machine is */
		    INVOICE_NONE,         /* nobody's: it is there by name */
		    INVOICE_EVEN,         /* the same for each account with jobs on the provider */
		    INVOICE_PROPORTIONAL, /* by what these jobs cost */
};

const char *invoice_rule_str(enum invoice_rule r);
int invoice_rule_parse(const char *text, enum invoice_rule *out, struct err *e);

struct invoice_import {
	const char *path, *provider;
	int64_t month;
	enum invoice_format format;
	const char *number; /* NULL: as the file says */
	const char *total;  /* a decimal: what the invoice says it comes to; NULL: the sum */
	enum invoice_rule rule;
	bool partial; /* instances that are not on it are on another invoice */
	const char *who;
};

struct invoice_result {
	int64_t id;
	char *number, *currency;           /* its own */
	int64_t nano, counted;             /* its total; what was counted of what is on it */
	int64_t instances, unknown, names; /* lines of known instances, of others, of no machine */
	int64_t on, counted_on;            /* money of known instances, and what was counted */
	int64_t missing;                   /* what was counted of instances that are not on it */
	int64_t unknown_nano, shared, tax, rounding;
	int64_t rows, left_out; /* lines of the file; of other invoices, or without a number */
	bool late;              /* its month is closed */
};

/* Read the file, write it, and compute all that it changes, within a transaction.  -1: *e has the
 * file, and the line if one is wrong; nothing is to be committed. */
int invoice_import(const struct book *b, const struct invoice_import *in, struct invoice_result *r,
		   struct err *e);
void invoice_result_fini(struct invoice_result *r);
/* The difference in words, as it is kept. */
void invoice_explain(const struct invoice_result *r, struct str *out);

/* Compute all that the invoice is about, once it is there, or does not count any more. */
int invoice_compute(const struct book *b, const struct ledger_invoice *i, struct err *e);

/* It does not count any more.  -1: there is none, or its month is closed. */
int invoice_remove(const struct book *b, int64_t id, const char *who, struct err *e);

/* What was counted of a lifetime in the month, and what invoices have made of it. */
int invoice_counted(struct ledger *l, int64_t lifetime, int64_t month, int64_t *counted,
		    int64_t *adjusted, struct err *e);

#endif
