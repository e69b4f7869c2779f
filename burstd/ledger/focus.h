/* focus.h - charges as a FOCUS data set, the FinOps Foundation's form of a cloud bill, in CSV.
 *
 * Two views.  The provider's: each row is a part of what the cloud charges, so it replaces the
 * cloud's own rows for these resources, and must not be added to them.  The internal one: the
 * cluster is the provider, and Slurm's accounts are what it bills.  Both add up to the ledger, to
 * the last nano-unit: BilledCost is exact.  ListCost is not, as readers of the format multiply the
 * unit price by the quantity in binary and want just that; x_ListCostExact is.
 *
 * FOCUS wants times in UTC and ASCII; one file has one currency and one billing period. */
#ifndef BURSTD_LEDGER_FOCUS_H
#define BURSTD_LEDGER_FOCUS_H

#include "base/secret.h"
#include "base/zone.h"
#include "ledger/sink.h"
#include "ledger/source.h"

enum focus_version { FOCUS_1_2, FOCUS_1_4 };
enum focus_view { FOCUS_PROVIDER, FOCUS_INTERNAL };
enum focus_grain { FOCUS_SLICE, FOCUS_DAY, FOCUS_MONTH }; /* what is merged into one row */

struct focus_provider {
	const char *name;         /* as charges have it */
	const char *driver;       /* "aws"; "": not known */
	const char *account;      /* the cloud's account; "": not known */
	const char *account_name; /* "": none */
	const char *invoice;      /* of its rows, if focus_options has none for all; "": none */
};

struct focus_options {
	enum focus_version version;
	enum focus_view view;
	enum focus_grain grain;
	const char *cluster;
	const char *currency; /* of all charges */
	/* The billing period, UTC; charges outside of it are an error, unless they adjust. */
	int64_t start_s, end_s;
	const char *invoice; /* of all rows; "": there is none yet */
	const char *method;  /* of dividing an instance: "dominant-share" */
	const struct focus_provider *providers;
	size_t nproviders;
	/* If there is one, users are pseudonyms (HMAC-SHA256 by it), and jobs have no names. */
	const struct secret *site_key;
	const struct zone *zone; /* in which days begin; NULL: UTC */
	bool spreadsheet;        /* csv_init() */
};

struct focus_sum {
	size_t charges, rows;
	int64_t nano; /* of all rows */
};

/* Write a header and the rows; charges that follow each other become one row if the grain says so.
 * Sort them before (focus_sort()), or there are more rows.  The rows of one instance and day are in
 * memory at once, as each says which part of it it is.  -1: a charge is of another currency or
 * period, has no share, or sums are too large, or the sink failed; what was written is useless. */
int focus_write(const struct focus_options *o, const struct source *from, const struct sink *to,
		struct focus_sum *sum, struct err *e);
/* Sort so that what can be merged is together; the same charges in any order then give the same
 * bytes. */
void focus_sort(const struct focus_options *o, const struct charge **v, size_t n);

/* The metadata that belongs beside the file: version, time, what each column is.  JSON. */
char *focus_metadata(const struct focus_options *o, int64_t created_s); /* the caller's (free()) */

/* A driver's provider as FOCUS names it: "aws" is "AWS". */
const char *focus_provider_name(const char *driver);

#endif
