/* invoice_file.h - reads a provider's invoice from CSV, and adds up its lines: those of each
 * instance, and those of each name that no instance has.  A cloud's file has a line for each
 * instance and hour; what is kept grows with the number of instances. */
#ifndef BURSTD_LEDGER_INVOICE_FILE_H
#define BURSTD_LEDGER_INVOICE_FILE_H

#include "ledger/atto.h"
#include "store/digest.h"
#include "store/ledger_invoices.h"

enum invoice_format {
	INVOICE_PLAIN, /* instance, amount, currency; start, end, description, kind, invoice */
	INVOICE_FOCUS, /* ResourceId, BilledCost, BillingCurrency, ChargeCategory, ... */
	INVOICE_CUR,   /* AWS: lineItem/ResourceId or line_item_resource_id, ... */
	INVOICE_NFORMATS,
};

const char *invoice_format_str(enum invoice_format f);
int invoice_format_parse(const char *text, enum invoice_format *out, struct err *e);

enum {
	INVOICE_ITEMS_MAX = 1000000,
	INVOICE_NAME_MAX = 200,   /* bytes */
	INVOICE_NUMBER_MAX = 100, /* likewise */
};

struct invoice_item { /* texts are its own */
	enum ledger_invoice_kind kind;
	char *instance; /* as the file has it; "": none */
	char *name;
	atto amount;
	int64_t start_s, end_s; /* in the month */
	int64_t line;           /* the first that is in it */
};

struct invoice_file {
	struct invoice_item *items; /* in the order in which they first come */
	size_t n, cap;
	char *number, *currency; /* number: "" if no line has one */
	int64_t rows, left_out;  /* left_out: of other invoices, or without a number */
	char digest[DIGEST_SIZE];
	struct map *index; /* of the items by what they are about, while they are read: at + 1 */
};

struct invoice_ask {
	const char *path;
	enum invoice_format format;
	const char *number;     /* all other lines are left out; NULL: all must be of one */
	int64_t start_s, end_s; /* the month */
	/* Is that an instance of the provider? 1: yes; 2: what is behind its last '/' is; 0: no;
	 * -1: *e. */
	int (*knows)(void *ctx, const char *instance, struct err *e);
	void *ctx;
};

/* -1: *e has the file, and the line of what is wrong; *f is empty then. */
int invoice_file_read(struct invoice_file *f, const struct invoice_ask *ask, struct err *e);
void invoice_file_fini(struct invoice_file *f);

#endif
