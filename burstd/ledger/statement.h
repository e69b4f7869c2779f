/* statement.h - a period's costs as a page for people who sign bills: one HTML file, which needs
 * nothing else, on a screen or printed.
 *
 * The reader need not know Slurm.  All amounts are rounded once, so that each table adds up to the
 * total at its head as printed; nothing a user typed becomes part of the page.  The same input
 * gives the same bytes. */
#ifndef BURSTD_LEDGER_STATEMENT_H
#define BURSTD_LEDGER_STATEMENT_H

#include "ledger/sink.h"
#include "ledger/tally.h"

struct statement_budget {
	const char *name, *match;  /* match: what it is for, in words */
	int64_t amount, overrides; /* nano-units; what was added to it */
	int64_t spent, committed;  /* committed: promised to jobs, not yet spent */
};

struct statement_correction { /* of a month that was closed before, or to an invoice */
	const char *of;       /* "2026-10, aws-eu" */
	const char *why;
	int64_t nano;
};

struct statement_invoice { /* what we counted, and what the provider wants */
	const char *provider, *invoice;
	int64_t ours, theirs;
	const char *why; /* of a difference; "": there is none, or nobody knows */
};

struct statement_override {
	int64_t at_s;
	const char *budget, *by, *reason;
	int64_t nano;
	bool set;        /* nano is the amount; else it was added to it */
	int64_t until_s; /* 0: to the period's end, or later */
};

struct statement {
	const char *cluster;
	const struct zone *zone;
	const char *currency;
	const char *period;     /* "2026-11" */
	int64_t start_s, end_s; /* as instants; end_s is outside */
	bool closed;            /* else a draft, which may change */
	unsigned revision;
	const char *hash; /* of the ledger up to here; "": none */
	int64_t made_s;
	const char *share; /* how a machine is divided: "dominant-share" */
	bool has_previous;
	int64_t previous; /* the total of the period before */
	const struct statement_budget *budgets;
	size_t nbudgets;
	const struct statement_correction *corrections;
	size_t ncorrections;
	const struct statement_invoice *invoices;
	size_t ninvoices;
	const struct statement_override *overrides;
	size_t noverrides;
};

/* t is of the same period and currency.  -1: the sink failed, or a section is longer than 64 MiB;
 * what was written is useless. */
int statement_write(const struct statement *in, const struct tally *t, const struct sink *to,
		    struct err *e);

#endif
