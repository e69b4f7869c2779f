/* statement_private.h - the page in the making, for statement*.c alone. */
#ifndef BURSTD_LEDGER_STATEMENT_PRIVATE_H
#define BURSTD_LEDGER_STATEMENT_PRIVATE_H

#include "ledger/html.h"
#include "ledger/statement.h"

struct statement_page {
	struct str s; /* the section in the making */
	const struct statement *in;
	const struct tally *t;
	int places;    /* of the currency */
	int64_t unit;  /* nano-units in the last of these */
	int64_t total; /* of all, in units: what the tables add up to */
};

extern const char *const statement_style[]; /* of CSS, until NULL */

/* Sections, in the order of the page. */
void statement_head(struct statement_page *p);
void statement_summary(struct statement_page *p);
void statement_budgets(struct statement_page *p);
void statement_accounts(struct statement_page *p);
void statement_partitions(struct statement_page *p);
void statement_users(struct statement_page *p);
void statement_wckeys(struct statement_page *p);
void statement_classes(struct statement_page *p);
void statement_days(struct statement_page *p);
void statement_savings(struct statement_page *p);
void statement_jobs(struct statement_page *p);
void statement_waste(struct statement_page *p);
void statement_corrections(struct statement_page *p);
void statement_invoices(struct statement_page *p);
void statement_overrides(struct statement_page *p);
void statement_method(struct statement_page *p);
void statement_sign(struct statement_page *p);

/* The parts of a section.  what: an id, without blanks. */
void statement_section(struct statement_page *p, const char *what, const char *title);
void statement_section_end(struct statement_page *p);
/* heads: of the columns, separated by '|'; the first is of texts, the rest of numbers, but those
 * that begin with '<'. */
void statement_table(struct statement_page *p, const char *caption, const char *heads);
void statement_table_end(struct statement_page *p);
void statement_row(struct statement_page *p, const char *name); /* begin it; a stranger's name */
void statement_own_row(struct statement_page *p, const char *name); /* ours: in other letters */
void statement_sum_row(struct statement_page *p);
void statement_row_end(struct statement_page *p);
void statement_cell(struct statement_page *p, const char *text); /* escaped */
void statement_text_cell(struct statement_page *p, const char *text);
void statement_units_cell(struct statement_page *p, int64_t units);
void statement_money_cell(struct statement_page *p, int64_t nano);
void statement_percent_cell(struct statement_page *p, int64_t part, int64_t whole);

void statement_units(struct statement_page *p, int64_t units); /* money, without its currency */
void statement_money(struct statement_page *p, int64_t nano);  /* rounded by itself, with it */
void statement_percent(struct statement_page *p, int64_t part, int64_t whole); /* "12.3 %" */
void statement_time(struct statement_page *p, int64_t t_s);                    /* UTC */
void statement_date(struct statement_page *p, int64_t day);
/* Money an hour of so many GPU seconds; a dash without any. */
void statement_per_hour_cell(struct statement_page *p, int64_t nano, int64_t gpu_s);
void statement_hours(struct statement_page *p, int64_t tenths);

int64_t statement_plus(int64_t a, int64_t b); /* not below 0; saturates: amounts are an admin's */

enum { STATEMENT_HOUR_UNIT = 360 }; /* seconds: a tenth of an hour, the unit of GPU hours */

/* Pictures. */
void statement_day_chart(struct statement_page *p);
void statement_class_chart(struct statement_page *p);
void statement_bar(struct statement_page *p, const struct statement_budget *b);
void statement_bars_end(struct statement_page *p); /* what their colours mean */

#endif
