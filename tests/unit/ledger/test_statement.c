/* test_statement.c - the page is well formed whatever users type, needs nothing else, and each of
 * its tables adds up as printed. */
#include "ledger/statement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <expat.h>

#include "ledger/html.h"
#include "tests/unit/ledger/statement_file.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

enum { OUT_MAX = 1 << 24, COLUMNS_MAX = 10 };

static char *page_of(const struct statement *in, const struct tally_options *o,
		     const struct charge *const *v, size_t n)
{
	struct source_array a = {v, n};
	struct source from = source_array(&a);
	struct err e = {0};
	struct sink to;
	struct tally t;
	struct str s;

	str_init(&s, OUT_MAX);
	to = sink_str(&s);
	if (tally_make(&t, o, &from, &e) != 0 || statement_write(in, &t, &to, &e) != 0)
		fail_msg("%s", e.msg);
	tally_fini(&t);
	return str_take(&s);
}

/* A page is read as XML, which it is as well: an element that a text opened or closed would be an
 * error, and a column is added up until its total. */
struct reader {
	XML_Parser xml;
	struct str cell;
	bool in_cell, is_sum;
	size_t column, rows, tables, sums; /* sums: columns that were compared with their total */
	int64_t sum[COLUMNS_MAX];
	bool text[COLUMNS_MAX]; /* the column is not of amounts */
};

/* "-12.34" without its point; false: something else. */
static bool amount(const char *text, int64_t *v)
{
	static const char minus[] = "\xe2\x88\x92";
	const bool negative = strncmp(text, minus, 3) == 0;

	*v = 0;
	text += negative ? 3 : 0;
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (*text == '.')
			continue;
		if (*text < '0' || *text > '9')
			return false;
		*v = *v * 10 + *text - '0';
	}
	*v = negative ? -*v : *v;
	return true;
}

static const char *attribute(const XML_Char **attributes, const char *name)
{
	for (; *attributes != NULL; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	return "";
}

static void begin(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
	struct reader *r = ctx;

	assert_null(strcmp(name, "script") == 0 ? name : NULL);
	for (size_t i = 0; attributes[i] != NULL; i += 2)
		assert_true(strncmp(attributes[i], "on", 2) != 0 &&
			    strcmp(attributes[i], "src") != 0 &&
			    strcmp(attributes[i], "href") != 0);
	if (strcmp(name, "table") == 0) {
		memset(r->sum, 0, sizeof(r->sum));
		memset(r->text, 0, sizeof(r->text));
		r->tables++;
	} else if (strcmp(name, "tr") == 0) {
		r->column = 0;
		r->is_sum = strcmp(attribute(attributes, "class"), "sum") == 0;
	} else if (strcmp(name, "td") == 0 || strcmp(name, "th") == 0) {
		str_clear(&r->cell);
		r->in_cell = true;
	}
}

static void cell_end(struct reader *r)
{
	int64_t v = 0;

	assert_true(r->column < COLUMNS_MAX);
	r->text[r->column] |= !amount(r->cell.p, &v);
	if (r->is_sum && r->column > 0 && !r->text[r->column]) {
		assert_true(v == r->sum[r->column]);
		r->sums++;
	}
	r->sum[r->column++] += v;
	r->in_cell = false;
}

static void end(void *ctx, const XML_Char *name)
{
	struct reader *r = ctx;

	if (strcmp(name, "td") == 0)
		cell_end(r);
	else if (strcmp(name, "th") == 0) {
		/* The last column of these is money an hour, which does not add up. */
		r->text[r->column] |= strcmp(r->cell.p, "Per GPU hour") == 0;
		r->column++;
		r->in_cell = false;
	} else if (strcmp(name, "tr") == 0)
		r->rows++;
}

static void text(void *ctx, const XML_Char *p, int n)
{
	struct reader *r = ctx;

	if (r->in_cell)
		str_add(&r->cell, p, (size_t)n);
}

static void read_page(struct reader *r, const char *page)
{
	*r = (struct reader){.xml = XML_ParserCreate("UTF-8")};
	str_init(&r->cell, OUT_MAX);
	XML_SetUserData(r->xml, r);
	XML_SetElementHandler(r->xml, begin, end);
	XML_SetCharacterDataHandler(r->xml, text);
	if (XML_Parse(r->xml, page, (int)strlen(page), 1) != XML_STATUS_OK)
		fail_msg("line %lu: %s", XML_GetCurrentLineNumber(r->xml),
			 XML_ErrorString(XML_GetErrorCode(r->xml)));
	XML_ParserFree(r->xml);
	str_fini(&r->cell);
}

static void test_any_page_adds_up(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct statement in = statement_file_input();
		struct tally_options o = statement_file_tally(i & 1);
		struct reader r;
		struct charges c;
		char *page;

		charges_make(&c, 60 + i, i < 10 ? 1500 : i);
		if (i & 2) {
			in.currency = o.currency = i & 4 ? "JPY" : "KWD";
			for (size_t k = 0; k < c.n; k++)
				c.v[k].currency = in.currency;
		}
		page = page_of(&in, &o, c.all, c.n);
		read_page(&r, page);
		/* accounts 4 (direct, overhead, total, hours), partitions 2, users 2, wckeys 2,
		 * classes 1, days 5 */
		assert_true(r.sums >= 14);
		assert_true(i >= 10 || r.sums == 16);
		free(page);
		charges_fini(&c);
	}
}

static void test_nothing_is_fetched(void **state)
{
	static const char *const no[] = {"http:",   "https:", "url(", "@import",
					 "<script", "<link",  "<img", "<iframe"};
	struct statement in = statement_file_input();
	const struct tally_options o = statement_file_tally(true);
	struct charges c;
	char *page;

	(void)state;
	charges_make(&c, 1, 1000);
	page = page_of(&in, &o, c.all, c.n);
	for (size_t i = 0; i < LENGTH(no); i++)
		assert_null(strstr(page, no[i]));
	assert_non_null(strstr(page, "default-src 'none'"));
	assert_non_null(strstr(page, "@media print"));
	assert_non_null(strstr(page, "prefers-color-scheme:dark"));
	free(page);
	charges_fini(&c);
}

static void test_order_changes_no_byte(void **state)
{
	struct statement in = statement_file_input();
	const struct tally_options o = statement_file_tally(true);
	struct charges c;
	char *one, *other;

	(void)state;
	charges_make(&c, 2, 2000);
	one = page_of(&in, &o, c.all, c.n);
	for (size_t i = 0; i < c.n / 2; i++) {
		const struct charge *x = c.all[i];

		c.all[i] = c.all[c.n - 1 - i];
		c.all[c.n - 1 - i] = x;
	}
	other = page_of(&in, &o, c.all, c.n);
	assert_string_equal(one, other);
	free(one);
	free(other);
	charges_fini(&c);
}

/* Sentences and figures that a reader of one charge sees. */
static const struct {
	const char *what, *want; /* want: "!" and a text that must not be there */
} sayings[] = {
	{"", "Cost statement 2026-11"},
	{"", "DRAFT"},
	{"", "!CLOSED<"},
	{"closed", "CLOSED"},
	{"closed", "!DRAFT"},
	{"closed", "!This is a draft"},
	{"", "2026-11-01 to 2026-11-30, both included, in the time zone Europe/Berlin"},
	{"", "2026-10-31T23:00:00Z to 2026-11-30T23:00:00Z, the end not included"},
	{"", "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"},
	{"no hash", "none yet"},
	{"", "12.00\xc2\xa0"
	     "EUR"},
	{"", "\xe2\x88\x92"
	     "50988.00"}, /* the change */
	{"no previous", "no figure for it"},
	{"no budgets", "No budget has a period within that of this statement."},
	{"", "&lt;b&gt;gpu&lt;/b&gt;"},
	{"", "<td>2676.54</td>"}, /* left of a budget: 25000, less 18200, less 4123.46 */
	{"", "A job had the machine, or a part of it."},
	{"", "saved <b>18.00\xc2\xa0"
	     "EUR</b>, 60.0\xc2\xa0%"},
	{"even", "saved <b>0.00\xc2\xa0"
		 "EUR</b>, 0.0\xc2\xa0%"},
	{"tiny", "A job had the machine, or a part of it."}, /* 0.00, and yet it is there */
	{"dear", "more by 10.00\xc2\xa0"
		 "EUR"},
	{"unlisted", "There is no figure: for 12.00\xc2\xa0"
		     "EUR of machine time no list price is known."},
	{"unlisted", "!saved"},
	{"only tax", "There is no figure: there is no machine time in the period."},
	{"", "!no list price is known"},
	{"pool", "No job had a cost."},
	{"", "401"},
	{"id", "<bdi>&lt;7&gt;</bdi>"},
	{"lost", "Jobs that lost the most"},
	{"lost", "100.0\xc2\xa0% of all."},
	{"", "!Jobs that lost the most"},
	{"", "a credit that was not given"},
	{"no invoices", "No invoice was compared"},
	{"", "a deadline &lt;script&gt;"},
	{"no overrides", "None."},
	{"", "dominant-share"},
	{"", "Approved"},
	{"estimated", "of it estimated: 12.00"},
	{"", "nothing of it estimated"},
	{"given", "The provider gave it back"},
	{"yen", "<b>12 JPY</b>"},
};

static void test_what_it_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(sayings); i++) {
		struct statement in = statement_file_input();
		struct tally_options o = statement_file_tally(false);
		struct charge c = charges_one();
		const struct charge *p = &c;
		const bool not = sayings[i].want[0] == '!';
		char *page;

#define IS(word) (strcmp(sayings[i].what, word) == 0)
		in.closed = IS("closed");
		in.hash = IS("no hash") ? "" : in.hash;
		in.has_previous = !IS("no previous");
		in.nbudgets = IS("no budgets") ? 0 : in.nbudgets;
		in.ninvoices = IS("no invoices") ? 0 : in.ninvoices;
		in.noverrides = IS("no overrides") ? 0 : in.noverrides;
		in.currency = o.currency = c.currency = IS("yen") ? "JPY" : "EUR";
		c.nano = IS("dear") ? 40000000000 : c.nano;
		c.nano = IS("even") ? 30000000000 : IS("tiny") ? 1 : c.nano;
		c.list_nano = IS("unlisted") ? -1 : c.list_nano;
		c.owner = IS("pool") ? ALLOCATE_POOL : c.owner;
		c.class = IS("lost") ? ALLOCATE_LOST : IS("only tax") ? ALLOCATE_TAX : c.class;
		c.list_nano = IS("only tax") ? -1 : c.list_nano;
		c.job_id = IS("id") ? "<7>" : c.job_id;
		c.estimated = IS("estimated");
		c.credit = IS("given");
#undef IS
		page = page_of(&in, &o, &p, 1);
		print_message("# %s: %s\n", sayings[i].what, sayings[i].want);
		assert_true((strstr(page, sayings[i].want + not ) == NULL) == not );
		free(page);
	}
}

static double number_after(const char *p, const char *name)
{
	p = strstr(p, name);
	assert_non_null(p);
	return strtod(p + strlen(name), NULL);
}

/* Two markets of one day are upon each other, and as high as their parts. */
static void test_bars_are_stacked(void **state)
{
	struct statement in = statement_file_input();
	const struct tally_options o = statement_file_tally(true);
	struct charge a = charges_one(), b = a;
	const struct charge *v[] = {&a, &b};
	const char *chart, *spot, *demand;
	char *page;

	(void)state;
	a.nano = 4000000000;
	b.nano = 6000000000;
	b.market = PROVIDER_ON_DEMAND;
	page = page_of(&in, &o, v, 2);
	chart = strstr(page, "id=\"day-chart-d\"");
	assert_non_null(chart);
	spot = strstr(chart, "<rect class=\"c0\"");
	demand = strstr(chart, "<rect class=\"c1\"");
	assert_non_null(spot);
	assert_non_null(demand);
	/* The axis ends at 10, 220 steps above zero. */
	assert_true(number_after(spot, " height=\"") == 88);
	assert_true(number_after(demand, " height=\"") == 132);
	assert_true(number_after(demand, " y=\"") + 132 == number_after(spot, " y=\""));
	assert_true(number_after(spot, " x=\"") == number_after(demand, " x=\""));
	free(page);
}

static void test_nothing_happened(void **state)
{
	struct statement in = statement_file_input();
	const struct tally_options o = statement_file_tally(true);
	struct reader r;
	char *page = page_of(&in, &o, NULL, 0);

	(void)state;
	assert_non_null(strstr(page, "<b>0.00 EUR</b>"));
	read_page(&r, page);
	assert_true(r.sums > 0);
	free(page);
}

/* More users than a page has rows for: the rest is one. */
static void test_many_users(void **state)
{
	enum { N = 1200 };

	static char names[N][8];
	struct charge *v = calloc(N, sizeof(*v));
	const struct charge **all = calloc(N, sizeof(*all));
	struct statement in = statement_file_input();
	const struct tally_options o = statement_file_tally(true);
	struct reader r;
	char *page;

	(void)state;
	assert_non_null(v);
	assert_non_null(all);
	for (int i = 0; i < N; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "u%d", i);
		v[i] = charges_one();
		v[i].user = v[i].account = names[i];
		v[i].nano = 1000003 + i;
		all[i] = &v[i];
	}
	page = page_of(&in, &o, all, N);
	read_page(&r, page);
	assert_non_null(strstr(page, "(all others)"));
	assert_null(strstr(page, "<bdi>u3</bdi></th>"));
	assert_true(r.rows < 1200);
	free(page);
	free(v);
	free(all);
}

static void test_a_sink_that_fails(void **state)
{
	struct statement in = statement_file_input();
	const struct tally_options o = statement_file_tally(true);
	struct source_array a = {0};
	struct source from = source_array(&a);
	struct tally t;
	struct sink to;
	struct str s;

	(void)state;
	str_init(&s, 9000);
	to = sink_str(&s);
	assert_int_equal(tally_make(&t, &o, &from, NULL), 0);
	assert_int_equal(statement_write(&in, &t, &to, NULL), -1);
	tally_fini(&t);
	str_fini(&s);
}

static void test_html(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"plain", "plain"},
		{"<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;"},
		{"J\xc3\xbc", "J\xc3\xbc"},
		{"a\xff"
		 "b\x01\n",
		 "a\xef\xbf\xbd"
		 "b\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xe2\x80\xae"
		 "x",
		 "\xef\xbf\xbd"
		 "x"}, /* right to left */
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct str s;

		str_init(&s, 100);
		html_text(&s, rows[i].text);
		assert_string_equal(s.p, rows[i].want);
		str_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_page_adds_up),
		cmocka_unit_test(test_nothing_is_fetched),
		cmocka_unit_test(test_order_changes_no_byte),
		cmocka_unit_test(test_what_it_says),
		cmocka_unit_test(test_bars_are_stacked),
		cmocka_unit_test(test_nothing_happened),
		cmocka_unit_test(test_many_users),
		cmocka_unit_test(test_a_sink_that_fails),
		cmocka_unit_test(test_html),
	};

	return cmocka_run_group_tests_name("ledger, statement", tests, NULL, NULL);
}
