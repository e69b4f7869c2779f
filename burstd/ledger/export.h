/* export.h - a period's lines of the ledger in the forms that other programs read, and a statement
 * for people. */
#ifndef BURSTD_LEDGER_EXPORT_H
#define BURSTD_LEDGER_EXPORT_H

#include "base/zone.h"
#include "ledger/focus.h"
#include "ledger/sink.h"
#include "store/ledger.h"

enum export_form {
	EXPORT_FOCUS, /* focus.h */
	EXPORT_FOCUS_METADATA,
	EXPORT_BILLING_PERIOD, /* export_invoices.h: of FOCUS 1.4, for a month */
	EXPORT_INVOICE_DETAIL,
	EXPORT_STATEMENT, /* statement.h */
	EXPORT_XLSX,      /* xlsx.h */
	EXPORT_WALDUR,    /* export_usage.h */
	EXPORT_COLDFRONT,
	EXPORT_XDMOD, /* export_xdmod.h: the sizes by day */
	EXPORT_XDMOD_EVENTS,
};

struct export
{
	enum export_form form;
	const struct zone *zone;
	int64_t from_day, to_day; /* to_day is outside */
	const char *period;       /* the name of these days: "2026-11" */
	const char *currency;     /* charges of others are left out */
	int64_t now_s;
	bool distribute; /* what no job caused, over the accounts: EXPORT_STATEMENT, _XLSX,
			    _COLDFRONT */
	enum focus_version version; /* EXPORT_FOCUS, _FOCUS_METADATA */
	enum focus_view view;
	bool spreadsheet;
	/* If there is one, users are pseudonyms by it (pseudonym.h), and jobs have no names. */
	const struct secret *site_key;
	const char *cost_component, *gpu_component; /* EXPORT_WALDUR: export_usage.h */
	const char *attribute;                      /* EXPORT_COLDFRONT; NULL: by the currency */
	/* EXPORT_XLSX: the file, and where it has room for rows meanwhile; NULL: /tmp. */
	const char *path, *tmp_dir;
};

/* "focus", "statement" ... -1: *e names those that there are. */
int export_parse_form(enum export_form *out, const char *text, struct err *e);

/* The i-th of them; NULL: there are not so many. */
const char *export_form_str(size_t i);

/* Write it to the sink, or a workbook to its path; *left_out: charges of other currencies.  -1:
 * what was written is useless. */
int export_write(const struct export *x, struct ledger *l, const struct sink *to, size_t *left_out,
		 struct err *e);

#endif
