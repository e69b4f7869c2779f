/* Negotiated prices: which one an offer has, and from when to when. */
#include "core/rates.h"

#include <stdio.h>
#include <stdlib.h>

#include "small_conf.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { DAY = 86400000 };

struct rate_row {
	const char *provider, *region, *zone, *type, *market, *price;
	int64_t from_ms, until_ms;
};

static void add_rate(struct conf *c, const struct rate_row *row)
{
	struct conf_rate *r;
	const char *text[] = {row->region, row->zone, row->type, row->market, row->price, "EUR"};

	c->rates = mem_realloc(c->rates, (c->nrates + 1) * sizeof(*r));
	r = &c->rates[c->nrates++];
	*r = (struct conf_rate){.provider = mem_strdup(row->provider), .line = (int)c->nrates};
	for (size_t i = 0; i < COUNT(text); i++)
		assert_int_equal(conf_option_set(&rates_options[i], r, text[i], NULL), 0);
	r->from_ms = row->from_ms;
	r->until_ms = row->until_ms;
}

static struct conf *rated(const struct rate_row *rows, size_t n)
{
	struct conf *c = small_conf();
	struct err e = {0};

	set("", "prices_file", c, "/p.conf");
	for (size_t i = 0; i < n; i++)
		add_rate(c, &rows[i]);
	assert_int_equal(conf_finish(c, &e), 0);
	if (rates_finish(c, &e) < 0)
		fail_msg("%s", e.msg);
	return c;
}

static const struct rate_row rows[] = {
	{"one", "", "", "t", "on-demand", "1", 0, 0},
	{"one", "r", "", "t", "on-demand", "2", 0, 10 * DAY},
	{"one", "r", "", "t", "on-demand", "3", 10 * DAY, 20 * DAY},
	{"one", "r", "z", "t", "on-demand", "4", 5 * DAY, 15 * DAY},
	{"one", "r", "", "t", "spot", "5", 0, 0},
	{"one", "r", "", "u", "on-demand", "6", 7 * DAY, 0},
	{"two", "q", "", "t", "on-demand", "7", 0, 0},
	{"one", "q", "z", "t", "on-demand", "8", 0, 0},
};

static const struct {
	const char *what;
	uint32_t provider;
	const char *region, *zone, *type;
	int market;
	int64_t at_ms, want; /* in whole units; 0: none */
} asked[] = {
	{"any region", 0, "s", "", "t", PROVIDER_ON_DEMAND, 0, 1},
	{"a region's is more exact", 0, "r", "", "t", PROVIDER_ON_DEMAND, 0, 2},
	{"the last moment", 0, "r", "", "t", PROVIDER_ON_DEMAND, 10 * DAY - 1, 2},
	{"the first moment of the next", 0, "r", "", "t", PROVIDER_ON_DEMAND, 10 * DAY, 3},
	{"over: any region again", 0, "r", "", "t", PROVIDER_ON_DEMAND, 20 * DAY, 1},
	{"a zone's is most exact", 0, "r", "z", "t", PROVIDER_ON_DEMAND, 12 * DAY, 4},
	{"before it", 0, "r", "z", "t", PROVIDER_ON_DEMAND, 5 * DAY - 1, 2},
	{"another zone", 0, "r", "y", "t", PROVIDER_ON_DEMAND, 12 * DAY, 3},
	{"the zone of another region", 0, "s", "z", "t", PROVIDER_ON_DEMAND, 12 * DAY, 1},
	{"no zone is any, so perhaps another", 0, "q", "", "t", PROVIDER_ON_DEMAND, 0, 1},
	{"its own", 0, "q", "z", "t", PROVIDER_ON_DEMAND, 0, 8},
	{"another market", 0, "r", "z", "t", PROVIDER_SPOT, 12 * DAY, 5},
	{"in a market without", 0, "r", "z", "t", PROVIDER_RESERVED, 12 * DAY, 0},
	{"another type", 0, "r", "", "u", PROVIDER_ON_DEMAND, 7 * DAY, 6},
	{"not yet", 0, "r", "", "u", PROVIDER_ON_DEMAND, 7 * DAY - 1, 0},
	{"for good", 0, "r", "", "u", PROVIDER_ON_DEMAND, 99999 * (int64_t)DAY, 6},
	{"another provider", 1, "q", "z", "t", PROVIDER_ON_DEMAND, 12 * DAY, 7},
	{"that has none there", 1, "r", "z", "t", PROVIDER_ON_DEMAND, 12 * DAY, 0},
	{"a type without", 0, "r", "", "v", PROVIDER_ON_DEMAND, 0, 0},
};

/* Whatever the order of the file. */
static void test_the_most_exact_one_counts(void **state)
{
	struct rate_row turned[COUNT(rows)];

	(void)state;
	for (size_t by = 0; by < COUNT(rows); by++) {
		struct conf *c;

		for (size_t i = 0; i < COUNT(rows); i++)
			turned[i] = rows[(i + by) % COUNT(rows)];
		c = rated(turned, COUNT(turned));
		for (size_t i = 0; i < COUNT(asked); i++) {
			char region[8], zone[8], type[8];
			const struct conf_offer o = {.provider_index = asked[i].provider,
						     .region = region,
						     .zone = zone,
						     .type = type,
						     .market = asked[i].market};

			(void)snprintf(region, sizeof(region), "%s", asked[i].region);
			(void)snprintf(zone, sizeof(zone), "%s", asked[i].zone);
			(void)snprintf(type, sizeof(type), "%s", asked[i].type);
			if (rates_price(c, &o, asked[i].at_ms) != asked[i].want * 1000000000)
				fail_msg("%s, turned by %zu", asked[i].what, by);
		}
		conf_free(c);
	}
}

static void test_next(void **state)
{
	static const struct {
		int64_t at, want;
	} at[] = {{0, 5 * DAY},         {5 * DAY - 1, 5 * DAY}, {5 * DAY, 7 * DAY},
		  {10 * DAY, 15 * DAY}, {15 * DAY, 20 * DAY},   {20 * DAY, INT64_MAX}};
	struct conf *c = rated(rows, COUNT(rows));

	(void)state;
	for (size_t i = 0; i < COUNT(at); i++)
		assert_int_equal(rates_next_ms(c, at[i].at), at[i].want);
	conf_free(c);
	c = rated(rows, 0);
	assert_int_equal(rates_next_ms(c, 0), INT64_MAX);
	conf_free(c);
}

/* Two of one place, end to begin, are none too many; of two places neither. */
static void test_overlap(void **state)
{
	static const struct {
		struct rate_row a, b;
		bool good;
	} pairs[] = {
		{{"one", "", "", "t", "spot", "1", 0, 5},
		 {"one", "", "", "t", "spot", "2", 5, 0},
		 true},
		{{"one", "", "", "t", "spot", "1", 0, 6},
		 {"one", "", "", "t", "spot", "1", 5, 0},
		 false},
		{{"one", "", "", "t", "spot", "1", 5, 0},
		 {"one", "", "", "t", "spot", "2", 0, 5},
		 true},
		{{"one", "", "", "t", "spot", "1", 5, 0},
		 {"one", "", "", "t", "spot", "2", 9, 0},
		 false},
		{{"one", "", "", "t", "spot", "1", 0, 0},
		 {"one", "r", "", "t", "spot", "2", 0, 0},
		 true},
		{{"one", "r", "", "t", "spot", "1", 0, 0},
		 {"one", "r", "z", "t", "spot", "2", 0, 0},
		 true},
		{{"one", "r", "y", "t", "spot", "1", 0, 0},
		 {"one", "r", "z", "t", "spot", "2", 0, 0},
		 true},
		{{"one", "", "", "t", "spot", "1", 0, 0},
		 {"two", "", "", "t", "spot", "2", 0, 0},
		 true},
		{{"one", "", "", "t", "spot", "1", 0, 0},
		 {"one", "", "", "u", "spot", "2", 0, 0},
		 true},
		{{"one", "", "", "t", "spot", "1", 0, 0},
		 {"one", "", "", "t", "on-demand", "2", 0, 0},
		 true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		struct conf *c = small_conf();
		struct err e = {0};

		set("", "prices_file", c, "/p.conf");
		add_rate(c, &pairs[i].a);
		add_rate(c, &pairs[i].b);
		assert_int_equal(rates_finish(c, &e), pairs[i].good ? 0 : -1);
		if (!pairs[i].good)
			assert_non_null(strstr(e.msg, "/p.conf:2: overlaps the price that ends in "
						      "line 1"));
		conf_free(c);
	}
}

static void test_same(void **state)
{
	const struct rate_row first = rows[0];
	struct rate_row other;
	struct conf *a = rated(rows, COUNT(rows)), *b = rated(rows, COUNT(rows));

	(void)state;
	assert_true(rates_same(a, b));
	b->rates[0].price_nano_h++;
	assert_false(rates_same(a, b));
	conf_free(b);
	b = rated(rows, COUNT(rows) - 1);
	assert_false(rates_same(a, b));
	conf_free(a);
	a = rated(&first, 1);
	for (int i = 0; i < 4; i++) {
		other = first;
		if (i == 0)
			other.from_ms = 1;
		else if (i == 1)
			other.until_ms = 1;
		else if (i == 2)
			other.region = "x";
		else
			other.market = "spot";
		conf_free(b);
		b = rated(&other, 1);
		assert_false(rates_same(a, b));
	}
	conf_free(a);
	conf_free(b);
}

/* What a reload says of a file that has changed, and of another file. */
static void test_diff(void **state)
{
	struct conf *a = rated(rows, 2), *b = rated(rows, 2);

	(void)state;
	check_diff(a, b, "");
	b->rates[1].price_nano_h++;
	check_diff(a, b, "prices_file: /p.conf -> the same file, with other prices\n");
	set("", "prices_file", b, "/q.conf");
	check_diff(a, b, "prices_file: /p.conf -> /q.conf\n");
	assert_int_equal(conf_may_replace(a, b, NULL), 0);
	conf_free(a);
	conf_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_most_exact_one_counts),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
