/* The days: a picture and a table. */
#include <stdlib.h>

#include "base/mem.h"
#include "ledger/cents.h"
#include "ledger/statement_private.h"

enum { NCOLUMNS = TALLY_NCOLUMNS + 1 }; /* the last: what adjusts days before the period */

struct days {
	int64_t *units[TALLY_NCOLUMNS]; /* of each day, rounded */
	int64_t sums[NCOLUMNS];         /* of each column, rounded */
};

/* First the sums of the columns, which add up to the total, then each column. */
static void days_init(struct days *d, const struct statement_page *p)
{
	const struct tally *t = p->t;
	int64_t *exact = mem_zalloc(t->ndays * sizeof(*exact)), sums[NCOLUMNS] = {0};

	for (size_t i = 0; i < t->ndays; i++)
		for (int m = 0; m < TALLY_NCOLUMNS; m++)
			sums[m] += t->days[i].nano[m];
	sums[TALLY_NCOLUMNS] = t->elsewhere;
	cents_split(sums, NCOLUMNS, p->unit, p->total, d->sums);
	for (int m = 0; m < TALLY_NCOLUMNS; m++) {
		d->units[m] = mem_zalloc(t->ndays * sizeof(*exact));
		for (size_t i = 0; i < t->ndays; i++)
			exact[i] = t->days[i].nano[m];
		cents_split(exact, t->ndays, p->unit, d->sums[m], d->units[m]);
	}
	free(exact);
}

static void cells(struct statement_page *p, const int64_t by_column[TALLY_NCOLUMNS], int64_t total)
{
	statement_units_cell(p, by_column[PROVIDER_SPOT]);
	statement_units_cell(p, by_column[PROVIDER_ON_DEMAND]);
	statement_units_cell(p, by_column[PROVIDER_RESERVED]);
	statement_units_cell(p, by_column[TALLY_NO_MACHINE]);
	statement_units_cell(p, total);
	statement_row_end(p);
}

static void day_row(struct statement_page *p, const struct days *d, size_t i)
{
	int64_t units[TALLY_NCOLUMNS], total = 0;

	for (int m = 0; m < TALLY_NCOLUMNS; m++)
		total += units[m] = d->units[m][i];
	str_adds(&p->s, "<tr><th scope=\"row\" class=\"d\">");
	statement_date(p, p->t->days[i].day);
	str_adds(&p->s, "</th>");
	cells(p, units, total);
}

void statement_days(struct statement_page *p)
{
	static const int64_t none[TALLY_NCOLUMNS];
	struct days d;

	days_init(&d, p);
	statement_section(p, "days", "Day by day");
	statement_day_chart(p);
	statement_table(
		p,
		"Cost of the machines on each day of the zone, by how they were bought, and what "
		"an invoice has for no machine",
		"Day|Spot|On demand|Reserved|No machine|Total");
	for (size_t i = 0; i < p->t->ndays; i++)
		day_row(p, &d, i);
	if (d.sums[TALLY_NCOLUMNS] != 0) {
		statement_own_row(p, "(corrections of days before)");
		cells(p, none, d.sums[TALLY_NCOLUMNS]);
	}
	statement_sum_row(p);
	cells(p, d.sums, p->total);
	statement_table_end(p);
	statement_section_end(p);
	for (int m = 0; m < TALLY_NCOLUMNS; m++)
		free(d.units[m]);
}
