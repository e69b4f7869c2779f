/* What is no table of who: the head, totals, budgets, classes, days, method, signatures. */
#include <string.h>

#include "ledger/cents.h"
#include "ledger/statement_private.h"

enum { NROWS = ALLOCATE_NCLASSES + 2, HOUR_S = 3600, BARS_MAX = 40 };

static void fact(struct statement_page *p, const char *name)
{
	str_addf(&p->s, "<dt>%s</dt><dd>", name);
}

static void fact_end(struct statement_page *p)
{
	str_adds(&p->s, "</dd>\n");
}

static void page_begin(struct statement_page *p)
{
	const struct statement *in = p->in;

	str_adds(&p->s,
		 "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
		 "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
		 /* Should a text have got out of its element: it can load and run nothing. */
		 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
		 "'none'; style-src 'unsafe-inline'\"/>\n<title>Cost statement ");
	html_text(&p->s, in->period);
	str_adds(&p->s, ", ");
	html_text(&p->s, in->cluster);
	str_adds(&p->s, "</title>\n<style>");
	for (size_t i = 0; statement_style[i] != NULL; i++)
		str_adds(&p->s, statement_style[i]);
	str_adds(&p->s, "</style></head>\n<body><main>\n");
	str_adds(&p->s, "<header><h1>Cost statement ");
	html_text(&p->s, in->period);
	str_adds(&p->s, in->closed ? " <span class=\"badge closed\">CLOSED</span>"
				   : " <span class=\"badge draft\">DRAFT</span>");
	str_adds(&p->s, "</h1>\n<p class=\"soft\">What machines rented for the cluster ");
	html_bdi(&p->s, in->cluster);
	str_adds(&p->s, " cost, and who caused it.");
	if (!in->closed)
		str_adds(&p->s, " This is a draft: late records may change it.");
	str_adds(&p->s, "</p>\n");
}

void statement_head(struct statement_page *p)
{
	const struct statement *in = p->in;

	page_begin(p);
	str_adds(&p->s, "<dl class=\"facts\">\n");
	fact(p, "Period");
	statement_date(p, zone_day(p->in->zone, in->start_s));
	str_adds(&p->s, " to ");
	statement_date(p, zone_day(p->in->zone, in->end_s - 1));
	str_adds(&p->s, ", both included, in the time zone ");
	html_text(&p->s, zone_name(in->zone));
	fact_end(p);
	fact(p, "In UTC");
	statement_time(p, in->start_s);
	str_adds(&p->s, " to ");
	statement_time(p, in->end_s);
	str_adds(&p->s, ", the end not included");
	fact_end(p);
	fact(p, "Currency");
	html_text(&p->s, in->currency);
	fact_end(p);
	fact(p, "Revision");
	str_addf(&p->s, "%u, made ", in->revision);
	statement_time(p, in->made_s);
	fact_end(p);
	fact(p, "Hash of the ledger");
	html_text(&p->s, in->hash[0] != '\0' ? in->hash : "none yet");
	fact_end(p);
	str_adds(&p->s, "</dl></header>\n");
}

static void tile(struct statement_page *p, const char *name)
{
	str_addf(&p->s, "<div class=\"tile\"><span>%s</span><b>", name);
}

static void tile_end(struct statement_page *p, const char *note)
{
	str_addf(&p->s, "</b><span>%s</span></div>\n", note);
}

static void change_tile(struct statement_page *p)
{
	const struct statement *in = p->in;
	int64_t change;

	tile(p, "Change to the period before");
	if (!in->has_previous || __builtin_sub_overflow(p->t->all.nano, in->previous, &change)) {
		str_adds(&p->s, "\xe2\x80\x93");
		tile_end(p, "no figure for it");
		return;
	}
	str_adds(&p->s, change > 0 ? "+" : "");
	statement_units(p, p->total - cents_of(in->previous, p->unit));
	str_adds(&p->s, "</b><span>");
	statement_percent(p, change, in->previous);
	str_adds(&p->s, " of ");
	statement_money(p, in->previous);
	str_adds(&p->s, "</span></div>\n");
}

/* A number of hours of GPUs, and what an hour of use cost. */
static void use_tiles(struct statement_page *p)
{
	const struct tally_sum *s = &p->t->all;
	const int64_t useful = s->run_gpu_s - s->lost_gpu_s;

	tile(p, "GPU hours of jobs");
	statement_hours(p, cents_of(s->run_gpu_s, STATEMENT_HOUR_UNIT));
	str_adds(&p->s, "</b><span>of them lost: ");
	statement_hours(p, cents_of(s->lost_gpu_s, STATEMENT_HOUR_UNIT));
	str_adds(&p->s, "</span></div>\n");
	tile(p, "Cost of a useful GPU hour");
	if (useful > 0) {
		__extension__ const __int128 each = (__int128)s->nano * HOUR_S / useful;

		statement_money(p, each > INT64_MAX ? INT64_MAX : (int64_t)each);
	} else {
		str_adds(&p->s, "\xe2\x80\x93");
	}
	tile_end(p, "all cost, by hours not lost");
	tile(p, "Use of what was ready");
	statement_percent(p, s->run_gpu_s, s->run_gpu_s + s->idle_gpu_s);
	tile_end(p, "GPU hours of jobs, of those ready");
}

void statement_summary(struct statement_page *p)
{
	str_adds(&p->s, "<section aria-label=\"Summary\"><div class=\"tiles\">\n");
	tile(p, "Total");
	statement_units(p, p->total);
	str_adds(&p->s, " ");
	html_text(&p->s, p->in->currency);
	str_adds(&p->s, "</b><span>");
	str_adds(&p->s, p->t->all.estimated != 0 ? "of it estimated: " : "nothing of it estimated");
	if (p->t->all.estimated != 0)
		statement_money(p, p->t->all.estimated);
	str_adds(&p->s, "</span></div>\n");
	change_tile(p);
	use_tiles(p);
	str_adds(&p->s, "</div></section>\n");
}

static void budget_row(struct statement_page *p, const struct statement_budget *b)
{
	const int64_t amount = statement_plus(b->amount, b->overrides);

	statement_row(p, b->name);
	statement_text_cell(p, b->match);
	statement_money_cell(p, amount);
	statement_money_cell(p, b->spent);
	statement_money_cell(p, b->committed);
	statement_units_cell(p, cents_of(amount, p->unit) - cents_of(b->spent, p->unit) -
					cents_of(b->committed, p->unit));
	statement_percent_cell(p, b->spent, amount);
	statement_row_end(p);
}

void statement_budgets(struct statement_page *p)
{
	statement_section(p, "budgets", "Budgets");
	if (p->in->nbudgets == 0) {
		str_adds(&p->s, "<p>No budget has a period within that of this statement.</p>\n");
		statement_section_end(p);
		return;
	}
	statement_table(p, "Amount with overrides, what is spent, and what is promised to jobs",
			"Budget|<For|Amount|Spent|Promised|Left|Used");
	for (size_t i = 0; i < p->in->nbudgets; i++)
		budget_row(p, &p->in->budgets[i]);
	statement_table_end(p);
	for (size_t i = 0; i < p->in->nbudgets && i < BARS_MAX; i++)
		statement_bar(p, &p->in->budgets[i]);
	statement_bars_end(p);
	statement_section_end(p);
}

static void class_row(struct statement_page *p, int c, int64_t nano, int64_t units)
{
	static const char *const names[] = {"given back", "adjustments"};
	static const char *const texts[] = {
		"The provider gave it back, for machines that it took away.",
		"What differs from the provider's invoice, or turned out after a close.",
	};
	const int more = c - ALLOCATE_NCLASSES;

	if (nano == 0)
		return;
	str_adds(&p->s, "<tr><th scope=\"row\" class=\"d\">");
	if (more < 0)
		str_addf(&p->s,
			 "<svg class=\"key\" viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect "
			 "class=\"k%d\" width=\"1\" height=\"1\"/></svg>",
			 c);
	html_text(&p->s, more < 0 ? allocate_class_str((enum allocate_class)c) : names[more]);
	str_adds(&p->s, "</th><td class=\"t\">");
	html_text(&p->s, more < 0 ? allocate_class_text((enum allocate_class)c) : texts[more]);
	str_adds(&p->s, "</td>");
	statement_units_cell(p, units);
	statement_percent_cell(p, units, p->total);
	statement_row_end(p);
}

void statement_classes(struct statement_page *p)
{
	int64_t nano[NROWS], units[NROWS];

	memcpy(nano, p->t->all.classes, sizeof(p->t->all.classes));
	nano[ALLOCATE_NCLASSES] = p->t->all.credit;
	nano[ALLOCATE_NCLASSES + 1] = p->t->all.adjust;
	cents_split(nano, NROWS, p->unit, p->total, units);
	statement_section(p, "classes", "What it was for");
	statement_class_chart(p);
	statement_table(p, "All cost by what the machines did", "Class|<What it is|Cost|Share");
	for (int c = 0; c < NROWS; c++)
		class_row(p, c, nano[c], units[c]);
	statement_sum_row(p);
	str_adds(&p->s, "<td class=\"t\"></td>");
	statement_units_cell(p, p->total);
	statement_percent_cell(p, 1, 1);
	statement_row_end(p);
	statement_table_end(p);
	statement_section_end(p);
}

/* Without a list price there is nothing to compare with. */
static void no_savings(struct statement_page *p, int64_t unknown)
{
	str_adds(&p->s, "<p>There is no figure: ");
	if (unknown != 0) {
		str_adds(&p->s, "for ");
		statement_money(p, unknown);
		str_adds(&p->s, " of machine time no list price is known.</p>\n");
	} else {
		str_adds(&p->s, "there is no machine time in the period.</p>\n");
	}
	statement_section_end(p);
}

void statement_savings(struct statement_page *p)
{
	const struct tally_sum *s = &p->t->all;
	const int64_t saved = s->list - s->listed;
	/* Nobody sells by list what is of no machine. */
	const int64_t unknown = s->nano - s->adjust - s->listed - s->classes[ALLOCATE_SHARED] -
				s->classes[ALLOCATE_TAX];

	statement_section(p, "savings", "Savings");
	if (s->list == 0 && s->listed == 0) {
		no_savings(p, unknown);
		return;
	}
	str_adds(&p->s, "<p>The same machine time costs ");
	statement_money(p, s->list);
	str_adds(&p->s, " on demand by list price, and cost ");
	statement_money(p, s->listed);
	str_adds(&p->s, saved >= 0 ? ": saved <b>" : ": <b class=\"over\">more by ");
	statement_money(p, saved >= 0 ? saved : -saved);
	str_adds(&p->s, "</b>, ");
	statement_percent(p, saved >= 0 ? saved : -saved, s->list);
	str_adds(&p->s, ".");
	if (s->spot_list != 0 || s->spot_listed != 0) {
		const int64_t spot = s->spot_list - s->spot_listed;

		str_adds(&p->s, " Spot machines alone saved ");
		statement_money(p, spot);
		str_adds(&p->s, ", lost work and what was given back for it included.");
	}
	if (unknown != 0) {
		str_adds(&p->s, " For ");
		statement_money(p, unknown);
		str_adds(&p->s, " no list price is known; they are not in these figures.");
	}
	str_adds(&p->s, "</p>\n");
	statement_section_end(p);
}

void statement_corrections(struct statement_page *p)
{
	const struct statement *in = p->in;

	statement_section(p, "corrections", "Corrections and adjustments");
	str_adds(&p->s, "<p>");
	if (p->t->all.adjust != 0) {
		str_adds(&p->s, "In the total: ");
		statement_money(p, p->t->all.adjust);
		str_adds(&p->s, "; of it for days before the period: ");
		statement_money(p, p->t->elsewhere);
		str_adds(&p->s, ".</p>\n");
	} else {
		str_adds(&p->s, "None.</p>\n");
	}
	if (in->ncorrections > 0) {
		statement_table(p, "Each with what it corrects", "Of|<Why|Amount");
		for (size_t i = 0; i < in->ncorrections; i++) {
			statement_row(p, in->corrections[i].of);
			statement_text_cell(p, in->corrections[i].why);
			statement_money_cell(p, in->corrections[i].nano);
			statement_row_end(p);
		}
		statement_table_end(p);
	}
	statement_section_end(p);
}

void statement_invoices(struct statement_page *p)
{
	const struct statement *in = p->in;

	statement_section(p, "reconciliation", "Compared with the providers' invoices");
	if (in->ninvoices == 0)
		str_adds(&p->s, "<p>No invoice was compared with this statement yet.</p>\n");
	else
		statement_table(p, "What we counted, and what the provider wants",
				"Provider|<Invoice|Counted|Invoiced|Difference|<Why");
	for (size_t i = 0; i < in->ninvoices; i++) {
		const struct statement_invoice *v = &in->invoices[i];

		statement_row(p, v->provider);
		statement_text_cell(p, v->invoice);
		statement_money_cell(p, v->ours);
		statement_money_cell(p, v->theirs);
		statement_units_cell(p, cents_of(v->theirs, p->unit) - cents_of(v->ours, p->unit));
		statement_text_cell(p, v->why);
		statement_row_end(p);
	}
	if (in->ninvoices > 0)
		statement_table_end(p);
	statement_section_end(p);
}

void statement_overrides(struct statement_page *p)
{
	const struct statement *in = p->in;

	statement_section(p, "overrides", "Overrides of budgets");
	if (in->noverrides == 0)
		str_adds(&p->s, "<p>None.</p>\n");
	else
		statement_table(p, "Who changed the amount of a budget, and why",
				"When|<Budget|<By|<Reason|<Change|Amount|<Until");
	for (size_t i = 0; i < in->noverrides; i++) {
		const struct statement_override *o = &in->overrides[i];

		str_adds(&p->s, "<tr><th scope=\"row\" class=\"d\">");
		statement_time(p, o->at_s);
		str_adds(&p->s, "</th>");
		statement_text_cell(p, o->budget);
		statement_text_cell(p, o->by);
		statement_text_cell(p, o->reason);
		str_adds(&p->s,
			 o->set ? "<td class=\"t\">set to</td>" : "<td class=\"t\">raised by</td>");
		statement_money_cell(p, o->nano);
		str_adds(&p->s, "<td class=\"t\">");
		if (o->until_s != 0)
			statement_time(p, o->until_s);
		else
			str_adds(&p->s, "the end of the period, or later");
		str_adds(&p->s, "</td>");
		statement_row_end(p);
	}
	if (in->noverrides > 0)
		statement_table_end(p);
	statement_section_end(p);
}

void statement_method(struct statement_page *p)
{
	statement_section(p, "method", "How it was computed");
	str_adds(
		&p->s,
		"<p>The providers say when each machine began and ended, and at which price; the "
		"cluster's accounting says which jobs ran on it, and whose they are. The life of a "
		"machine is cut wherever something changes, and each piece costs the difference of "
		"two readings of its meter. So pieces add up to its bill, to the last billionth of "
		"a unit, wherever it is cut.</p>\n"
		"<p>A piece is divided among the jobs on the machine by their share of it (");
	html_text(&p->s, p->in->share);
	str_adds(&p->s,
		 "); what no job had is the machine's own time, by what it did then. Remainders go "
		 "to the largest fraction.</p>\n"
		 "<p>Amounts here are rounded once, from the exact ones, so that the rows of a "
		 "table "
		 "add up to its total as printed; a row is less than one unit of the last decimal "
		 "from its exact amount. GPU hours are those that jobs held, whether they used the "
		 "GPUs or not. Use of what was ready is the jobs' part of the GPU hours in which "
		 "machines could run jobs.</p>\n<p>");
	str_addf(&p->s,
		 "This statement was computed from %zu charges, by burst-ledger " BURSTD_VERSION
		 ". A closed period gives the same statement again: what turns out later is a "
		 "correction in the next one.</p>\n",
		 p->t->charges);
	statement_section_end(p);
}

void statement_sign(struct statement_page *p)
{
	static const char *const roles[] = {"Prepared", "Reviewed", "Approved"};

	statement_section(p, "signatures", "Signatures");
	str_adds(&p->s, "<p class=\"soft\">For revision ");
	str_addf(&p->s, "%u, ledger ", p->in->revision);
	html_text(&p->s, p->in->hash[0] != '\0' ? p->in->hash : "without a hash");
	str_adds(&p->s, ".</p>\n<div class=\"sign\">\n");
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		str_addf(&p->s, "<div><b>%s</b><span>Name, date, signature</span></div>\n",
			 roles[i]);
	str_adds(&p->s, "</div>\n");
	statement_section_end(p);
}
