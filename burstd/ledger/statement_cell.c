/* The bricks of the page: tables, cells, amounts, times. */
#include <string.h>

#include "base/fmt.h"
#include "ledger/cents.h"
#include "ledger/statement_private.h"

enum { DAY_MS = 86400000, THOUSAND = 1000 };

void statement_section(struct statement_page *p, const char *what, const char *title)
{
	str_addf(&p->s, "<section aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2>\n", what, what,
		 title);
}

void statement_section_end(struct statement_page *p)
{
	str_adds(&p->s, "</section>\n");
}

void statement_table(struct statement_page *p, const char *caption, const char *heads)
{
	/* A region that scrolls must be reachable by keyboard. */
	str_adds(&p->s, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
	html_text(&p->s, caption);
	str_adds(&p->s, "\"><table><caption>");
	html_text(&p->s, caption);
	str_adds(&p->s, ", in ");
	html_text(&p->s, p->in->currency);
	str_adds(&p->s, "</caption>\n<thead><tr>");
	for (const char *h = heads; *h != '\0';) {
		const size_t n = strcspn(h, "|");
		const bool text = *h == '<' || h == heads;

		str_adds(&p->s, text ? "<th scope=\"col\" class=\"t\">" : "<th scope=\"col\">");
		str_add(&p->s, h + (*h == '<'), n - (*h == '<'));
		str_adds(&p->s, "</th>");
		h += n + (h[n] == '|');
	}
	str_adds(&p->s, "</tr></thead>\n<tbody>\n");
}

void statement_table_end(struct statement_page *p)
{
	str_adds(&p->s, "</tbody></table></div>\n");
}

void statement_row(struct statement_page *p, const char *name)
{
	if (name[0] == '\0') {
		statement_own_row(p, "(none)");
		return;
	}
	str_adds(&p->s, "<tr><th scope=\"row\">");
	html_bdi(&p->s, name);
	str_adds(&p->s, "</th>");
}

void statement_own_row(struct statement_page *p, const char *name)
{
	str_adds(&p->s, "<tr class=\"own\"><th scope=\"row\">");
	html_text(&p->s, name);
	str_adds(&p->s, "</th>");
}

void statement_sum_row(struct statement_page *p)
{
	str_adds(&p->s, "<tr class=\"sum\"><th scope=\"row\">Total</th>");
}

void statement_row_end(struct statement_page *p)
{
	str_adds(&p->s, "</tr>\n");
}

void statement_cell(struct statement_page *p, const char *text)
{
	str_adds(&p->s, "<td>");
	html_text(&p->s, text);
	str_adds(&p->s, "</td>");
}

void statement_text_cell(struct statement_page *p, const char *text)
{
	str_adds(&p->s, "<td class=\"t\">");
	html_bdi(&p->s, text);
	str_adds(&p->s, "</td>");
}

/* In whole units money may be more than an int64 of nano-units has. */
void statement_units(struct statement_page *p, int64_t units)
{
	const uint64_t m = units < 0 ? -(uint64_t)units : (uint64_t)units;
	uint64_t one = 1;

	for (int i = 0; i < p->places; i++)
		one *= 10;
	str_adds(&p->s, units < 0 ? "\xe2\x88\x92" : "");
	str_addf(&p->s, "%llu", (unsigned long long)(m / one));
	if (p->places > 0)
		str_addf(&p->s, ".%0*llu", p->places, (unsigned long long)(m % one));
}

void statement_units_cell(struct statement_page *p, int64_t units)
{
	str_adds(&p->s, "<td>");
	statement_units(p, units);
	str_adds(&p->s, "</td>");
}

void statement_money(struct statement_page *p, int64_t nano)
{
	statement_units(p, cents_of(nano, p->unit));
	str_adds(&p->s, "\xc2\xa0"); /* no line ends between an amount and its currency */
	html_text(&p->s, p->in->currency);
}

void statement_money_cell(struct statement_page *p, int64_t nano)
{
	statement_units_cell(p, cents_of(nano, p->unit));
}

void statement_percent(struct statement_page *p, int64_t part, int64_t whole)
{
	__extension__ const __int128 scaled = (__int128)part * THOUSAND;
	int64_t tenths;

	if (whole == 0) {
		str_adds(&p->s, "\xe2\x80\x93");
		return;
	}
	tenths = (int64_t)((2 * scaled / whole + ((part < 0) != (whole < 0) ? -1 : 1)) / 2);
	str_addf(&p->s, "%s%lld.%lld\xc2\xa0%%", tenths < 0 ? "\xe2\x88\x92" : "",
		 (long long)(tenths < 0 ? -tenths : tenths) / 10,
		 (long long)(tenths < 0 ? -tenths : tenths) % 10);
}

void statement_percent_cell(struct statement_page *p, int64_t part, int64_t whole)
{
	str_adds(&p->s, "<td>");
	statement_percent(p, part, whole);
	str_adds(&p->s, "</td>");
}

void statement_time(struct statement_page *p, int64_t t_s)
{
	char text[FMT_TIME_SIZE];

	(void)fmt_time(text, t_s * THOUSAND);
	str_addf(&p->s, "%.*sZ", (int)(strrchr(text, '.') - text), text);
}

void statement_date(struct statement_page *p, int64_t day)
{
	char text[FMT_TIME_SIZE];

	(void)fmt_time(text, day * DAY_MS);
	str_addf(&p->s, "%.*s", (int)(strchr(text, 'T') - text), text);
}

void statement_per_hour_cell(struct statement_page *p, int64_t nano, int64_t gpu_s)
{
	enum { HOUR_S = 3600 };

	__extension__ const __int128 each = gpu_s > 0 ? (__int128)nano * HOUR_S / gpu_s : 0;

	if (gpu_s <= 0 || each > INT64_MAX || each < INT64_MIN)
		statement_cell(p, "\xe2\x80\x93");
	else
		statement_money_cell(p, (int64_t)each);
}

void statement_hours(struct statement_page *p, int64_t tenths)
{
	str_addf(&p->s, "%lld.%lld", (long long)(tenths / 10), (long long)(tenths % 10));
}

int64_t statement_plus(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
