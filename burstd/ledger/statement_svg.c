/* Pictures.  Each has a title and a sentence for those who do not see it, and a table says the same
 * in numbers. */
#include <stdio.h>

#include "base/fmt.h"
#include "ledger/number.h"
#include "ledger/statement_private.h"

enum { WIDTH = 960, LEFT = 100, RIGHT = 8, CLASS_H = 44, BAR_H = 22, TICKS = 4 };

static const char *const column_names[TALLY_NCOLUMNS] = {"on demand", "spot", "reserved",
							 "no machine"};

/* Spot has the first colour. */
static const int colour_of[TALLY_NCOLUMNS] = {1, 0, 2, 3};

/* part of whole, in `size` steps; both at least 0, whole above it. */
static int scaled(int64_t part, int64_t whole, int size)
{
	__extension__ const __int128 v = (__int128)part * size * 10 / whole;

	return (int)v; /* tenths of a step */
}

static void length(struct str *s, const char *name, int tenths)
{
	str_addf(s, " %s=\"%d.%d\"", name, tenths / 10, tenths % 10);
}

static void picture(struct statement_page *p, const char *id, const char *title, int height)
{
	str_addf(&p->s,
		 "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-t %s-d\"><title "
		 "id=\"%s-t\">%s</title><desc id=\"%s-d\">",
		 WIDTH, height, id, id, id, title, id);
}

static void rect(struct statement_page *p, const char *class, const int at[4])
{
	static const char *const names[] = {"x", "y", "width", "height"};

	str_addf(&p->s, "<rect class=\"%s\"", class);
	for (int i = 0; i < 4; i++)
		length(&p->s, names[i], at[i]);
	str_adds(&p->s, ">");
}

/* A round number of units, at least v: 1, 2 or 5 and zeros. */
static int64_t round_up(int64_t v)
{
	static const int factors[] = {1, 2, 5};

	for (int64_t ten = 1; ten < INT64_MAX / 10; ten *= 10)
		for (int i = 0; i < 3; i++)
			if (factors[i] * ten >= v)
				return factors[i] * ten;
	return v;
}

struct plot {                /* of days: amounts above and below zero */
	int64_t top, bottom; /* nano-units, both at least 0 */
	int zero;            /* y, in tenths */
	bool column[TALLY_NCOLUMNS];
};

enum { DAYS_TOP = 14, DAYS_H = 220, DAYS_BOTTOM = 40 };

/* Beyond billions a day a picture says nothing anyway, and sums of these fit. */
static int64_t drawn(int64_t v)
{
	const int64_t most = INT64_MAX / 32;

	return v > most ? most : v < -most ? -most : v;
}

static struct plot plot_of(const struct tally *t)
{
	struct plot k = {0};

	for (size_t i = 0; i < t->ndays; i++) {
		int64_t up = 0, down = 0;

		for (int m = 0; m < TALLY_NCOLUMNS; m++) {
			const int64_t v = drawn(t->days[i].nano[m]);

			k.column[m] |= v != 0;
			up += v > 0 ? v : 0;
			down += v < 0 ? -v : 0;
		}
		k.top = up > k.top ? up : k.top;
		k.bottom = down > k.bottom ? down : k.bottom;
	}
	k.top = k.top > 0 ? round_up(k.top) : 0;
	k.zero = DAYS_TOP * 10 +
		 (k.top + k.bottom > 0 ? scaled(k.top, k.top + k.bottom, DAYS_H) : DAYS_H * 10);
	return k;
}

static void day_title(struct statement_page *p, const struct tally_day *d, int column)
{
	str_adds(&p->s, "<title>");
	statement_date(p, d->day);
	str_addf(&p->s, ", %s: ", column_names[column]);
	statement_money(p, d->nano[column]);
	str_adds(&p->s, "</title></rect>");
}

/* One day's bar: markets upon each other, what is negative below zero. */
static void day_bar(struct statement_page *p, const struct plot *k, size_t i)
{
	const struct tally_day *d = &p->t->days[i];
	const int step = (WIDTH - LEFT - RIGHT) * 10 / (int)p->t->ndays;
	int up = k->zero, down = up;

	for (int m = TALLY_NCOLUMNS - 1; m >= 0; m--) {
		const int64_t v = drawn(d->nano[m]);
		const int h = v == 0 ? 0 : scaled(v < 0 ? -v : v, k->top + k->bottom, DAYS_H);
		const int at[] = {LEFT * 10 + (int)i * step + step / 8, v > 0 ? up - h : down,
				  step * 3 / 4, h};
		char class[16];

		if (h == 0)
			continue;
		(void)snprintf(class, sizeof(class), "c%d", colour_of[m]);
		rect(p, class, at);
		day_title(p, d, m);
		up -= v > 0 ? h : 0;
		down += v < 0 ? h : 0;
	}
}

static void line(struct statement_page *p, const char *class, int y)
{
	str_addf(&p->s, "<line class=\"%s\" x1=\"%d\" x2=\"%d\"", class, LEFT, WIDTH - RIGHT);
	length(&p->s, "y1", y);
	length(&p->s, "y2", y);
	str_adds(&p->s, "/>");
}

/* Decimals only where the scale needs them. */
static void money_label(struct statement_page *p, int64_t nano, int64_t top, int y)
{
	char text[NUMBER_MONEY_SIZE];

	str_addf(&p->s, "<text text-anchor=\"end\" x=\"%d\"", LEFT - 6);
	length(&p->s, "y", y + 40);
	str_addf(&p->s, ">%s</text>",
		 top >= TICKS * FMT_NANO ? number_money_round(text, nano, 0)
					 : number_money(text, nano, false));
}

static void axes(struct statement_page *p, const struct plot *k)
{
	for (int i = TICKS; i > 0 && k->top > 0; i--) {
		const int64_t v = k->top / TICKS * i;
		const int y = k->zero - scaled(v, k->top + k->bottom, DAYS_H);

		line(p, "axis", y);
		money_label(p, v, k->top, y);
	}
	line(p, "zero", k->zero);
	money_label(p, 0, k->top, k->zero);
}

/* "11-06": the year is at the page's head. */
static void day_label(struct statement_page *p, int64_t day)
{
	enum { DAY_MS = 86400000, YEAR = 5, MONTH_DAY = 5 };
	char text[FMT_TIME_SIZE];

	(void)fmt_time(text, day * DAY_MS);
	str_add(&p->s, text + YEAR, MONTH_DAY);
}

/* Of 30 days every fifth has room for its date. */
static void day_labels(struct statement_page *p)
{
	/* A period has a day. */
	const size_t n = p->t->ndays > 0 ? p->t->ndays : 1, every = n <= 10   ? 1
								    : n <= 70 ? 5
									      : n / 10;
	const int step = (WIDTH - LEFT - RIGHT) * 10 / (int)n;

	for (size_t i = 0; i < n; i += every) {
		str_adds(&p->s, "<text text-anchor=\"middle\"");
		length(&p->s, "x", LEFT * 10 + (int)i * step + step / 2);
		str_addf(&p->s, " y=\"%d\">", DAYS_TOP + DAYS_H + DAYS_BOTTOM / 2);
		day_label(p, p->t->days[i].day);
		str_adds(&p->s, "</text>");
	}
}

static void key(struct statement_page *p, const char *class, const char *text)
{
	str_addf(&p->s,
		 "<span><svg class=\"key\" viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect "
		 "class=\"%s\" width=\"1\" height=\"1\"/></svg>%s</span>",
		 class, text);
}

static void legend(struct statement_page *p, const struct plot *k)
{
	static const int order[] = {PROVIDER_SPOT, PROVIDER_ON_DEMAND, PROVIDER_RESERVED,
				    TALLY_NO_MACHINE};
	static const char *const classes[] = {"c0", "c1", "c2", "c3"};

	str_adds(&p->s, "<div class=\"legend\">");
	for (int i = 0; i < TALLY_NCOLUMNS; i++)
		if (k->column[order[i]])
			key(p, classes[i], column_names[order[i]]);
	str_adds(&p->s, "</div>\n");
}

void statement_day_chart(struct statement_page *p)
{
	const struct plot k = plot_of(p->t);

	picture(p, "day-chart", "Cost of each day", DAYS_TOP + DAYS_H + DAYS_BOTTOM);
	str_adds(&p->s, "A bar for each day, spot and on demand upon each other. The table below "
			"has the numbers.</desc>");
	axes(p, &k);
	for (size_t i = 0; i < p->t->ndays && k.top + k.bottom > 0; i++)
		day_bar(p, &k, i);
	day_labels(p);
	str_adds(&p->s, "</svg>\n");
	legend(p, &k);
}

void statement_class_chart(struct statement_page *p)
{
	const int64_t *v = p->t->all.classes;
	int64_t all = 0, from = 0;

	for (int c = 0; c < ALLOCATE_NCLASSES; c++)
		all += v[c] > 0 ? v[c] : 0;
	if (all == 0)
		return;
	str_adds(&p->s, "<div>");
	picture(p, "class-chart", "What the cost was for", CLASS_H);
	str_adds(&p->s, "One bar, divided by what it was for. The table below has the "
			"numbers.</desc>");
	for (int c = 0; c < ALLOCATE_NCLASSES; c++) {
		const int x = scaled(from, all, WIDTH);
		int at[] = {x, 0, 0, CLASS_H * 10};
		char class[16];

		if (v[c] <= 0)
			continue;
		from += v[c];
		at[2] = scaled(from, all, WIDTH) - x;
		(void)snprintf(class, sizeof(class), "k%d", c);
		rect(p, class, at);
		str_addf(&p->s, "<title>%s: ", allocate_class_str((enum allocate_class)c));
		statement_money(p, v[c]);
		str_adds(&p->s, "</title></rect>");
	}
	str_adds(&p->s, "</svg></div>\n");
}

/* Spent, promised, and where the amount ends; it may end before them.  The bar is as wide as the
 * page, whatever that is, so its name is not in the picture. */
void statement_bar(struct statement_page *p, const struct statement_budget *b)
{
	enum { SIZE = 1000, MARK = 4 };

	const int64_t amount = statement_plus(b->amount, b->overrides);
	const int64_t spent = b->spent > 0 ? b->spent : 0;
	const int64_t taken = statement_plus(spent, b->committed > 0 ? b->committed : 0);
	const int64_t whole = taken > amount ? taken : amount;
	const int x1 = whole > 0 ? scaled(spent, whole, SIZE) : 0;
	const int x2 = whole > 0 ? scaled(taken, whole, SIZE) : 0;
	const int end = whole > 0 ? scaled(amount > 0 ? amount : 0, whole, SIZE - MARK) : 0;

	str_adds(&p->s, "<div class=\"bar\"><span>");
	html_bdi(&p->s, b->name);
	str_addf(&p->s,
		 "</span><svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
		 "aria-label=\"",
		 SIZE, BAR_H);
	html_text(&p->s, b->name);
	str_adds(&p->s, ": spent ");
	statement_percent(p, spent, amount);
	str_adds(&p->s, "\">");
	rect(p, "track", (const int[]){0, 0, SIZE * 10, BAR_H * 10});
	str_adds(&p->s, "</rect>");
	rect(p, "c0", (const int[]){0, 0, x1, BAR_H * 10});
	str_adds(&p->s, "</rect>");
	rect(p, "hatch", (const int[]){x1, 0, x2 - x1, BAR_H * 10});
	str_adds(&p->s, "</rect>");
	rect(p, "limit", (const int[]){end, 0, MARK * 10, BAR_H * 10});
	str_adds(&p->s, "</rect></svg></div>\n");
}

void statement_bars_end(struct statement_page *p)
{
	str_adds(&p->s, "<div class=\"legend\">");
	key(p, "c0", "spent");
	key(p, "hatch", "promised");
	key(p, "limit", "the amount");
	str_adds(&p->s, "</div>\n");
}
