/* prices.conf: what is read, every error with its file and line, and that of two files one may be
 * told from the other. */
#include "io/prices_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/rates.h"
#include "io/conf_file.h"
#include "providers/options.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define HEAD                                                                                       \
	"cluster = c\ncurrency = USD\n"                                                            \
	"provider \"aws\" { driver = sim credential_file = /x }\n"                                 \
	"provider \"other\" { driver = sim credential_file = /x }\n"

static struct conf *with(const char *more)
{
	struct conf *c;
	struct err e = {0};
	char text[1024];

	(void)snprintf(text, sizeof(text), "%sprices_file = /etc/prices.conf\n%s", HEAD, more);
	if (conf_file_parse(&c, "burstd.conf", text, provider_options, &e) < 0)
		fail_msg("%s", e.msg);
	return c;
}

static struct conf *rates_of(const char *text)
{
	struct conf *c = with("");
	struct err e = {0};

	if (prices_file_parse(c, text, &e) < 0)
		fail_msg("%s", e.msg);
	return c;
}

static void test_every_option_is_read(void **state)
{
	struct conf *c = rates_of("# what we have agreed on\n"
				  "price \"aws\" {\n"
				  "\tregion = \"eu-central-1\"\n"
				  "\tzone = \"eu-central-1a\"\n"
				  "\ttype = \"p5.48xlarge\"\n"
				  "\tmarket = \"spot\"\n"
				  "\tprice = \"55.04\" // list: 98.32\n"
				  "\tcurrency = \"USD\"\n"
				  "\tfrom = \"2026-11-01\"\n"
				  "\tuntil = \"2027-11-01\"\n"
				  "\tnote = \"EDP 2026\"\n"
				  "}\n");
	const struct conf_rate *r = c->rates;

	(void)state;
	assert_int_equal(c->nrates, 1);
	assert_string_equal(r->provider, "aws");
	assert_string_equal(r->region, "eu-central-1");
	assert_string_equal(r->zone, "eu-central-1a");
	assert_string_equal(r->type, "p5.48xlarge");
	assert_int_equal(r->market, PROVIDER_SPOT);
	assert_int_equal(r->price_nano_h, INT64_C(55040000000));
	assert_string_equal(r->currency, "USD");
	assert_int_equal(r->from_ms, INT64_C(1793491200000));
	assert_int_equal(r->until_ms, INT64_C(1825027200000));
	assert_string_equal(r->note, "EDP 2026");
	assert_int_equal(r->line, 12);
	conf_free(c);
}

/* libconfuse takes a second section of a title for the first one, changed. */
static void test_sections_of_one_provider(void **state)
{
	struct conf *c = rates_of(
		"price aws { type = a region = r zone = z price = 1 currency = USD note = x } "
		"price aws { type = b price = 2 currency = USD }\n"
		"price other { type = a price = 3 currency = USD }\n"
		"price aws { type = a price = 4 currency = USD }\n");

	(void)state;
	assert_int_equal(c->nrates, 4);
	assert_int_equal(c->rates[0].price_nano_h, INT64_C(4000000000));
	assert_string_equal(c->rates[1].zone, "z");
	assert_string_equal(c->rates[2].type, "b");
	assert_string_equal(c->rates[2].region, ""); /* nothing of the one before it */
	assert_string_equal(c->rates[2].zone, "");
	assert_string_equal(c->rates[2].note, "");
	assert_int_equal(c->rates[2].market, PROVIDER_ON_DEMAND);
	assert_int_equal(c->rates[2].from_ms, 0);
	assert_int_equal(c->rates[2].until_ms, 0);
	assert_string_equal(c->rates[3].provider, "other");
	conf_free(c);
	c = rates_of(" \n# nothing\n");
	assert_int_equal(c->nrates, 0);
	conf_free(c);
	c = rates_of("");
	assert_int_equal(c->nrates, 0);
	conf_free(c);
}

#define ONE "type = t price = 1 currency = USD "

static const struct {
	const char *text, *want; /* want: how the error goes on behind the file's name */
} bad_rows[] = {
	{"\nprice \"asw\" { " ONE "}", ":2: there is no provider \"asw\" in burstd.conf"},
	{"price aws {\n" ONE "\n}\nprice aws {\n" ONE "\n}\n",
	 ":6: overlaps the price that ends in line 3"},
	{"price aws { " ONE "until = 2026-02-02 }\nprice aws { " ONE "from = 2026-02-01 }",
	 ":2: overlaps the price that ends in line 1"},
	{"price aws { " ONE "from = 2026-02-01 }\nprice aws { " ONE "until = 2026-02-02 }",
	 ":2: overlaps the price that ends in line 1"},
	{"price aws { type = t price = 1 currency = EUR }", ":1: currency is EUR, and USD in"},
	{"price aws { type = t price = 0 currency = USD }", ":1: price \"aws\": price: want more"},
	{"price aws { type = t price = \"\" currency = USD }", ":1: price: want more than 0"},
	{"price aws {\ntype = t\nprice = -1\ncurrency = USD }", ":3: price \"aws\": price: "},
	{"price aws {\ntype = t\nprice = 1e3\ncurrency = USD }", ":3: price \"aws\": price: "},
	{"price aws {\ntype = t\nprice = 9999999999\n}", ":3: price \"aws\": price: "},
	{"price aws {\ntype = t\nprice = 1 }", ":3: price \"aws\": currency is missing"},
	{"price aws {\nprice = 1 currency = USD }", ":2: price \"aws\": type is missing"},
	{"price aws {\ntype = t currency = USD }", ":2: price \"aws\": price is missing"},
	{"price aws { " ONE "market = sport }",
	 ":1: price \"aws\": market: \"sport\": want reserved, spot or on-demand"},
	{"price aws { " ONE "zone = a }", ":1: zone a: its region is missing"},
	{"price aws { " ONE "from = 2026-02-01\nuntil = 2026-02-01 }",
	 ":2: until is not after from"},
	{"price aws { " ONE "\nfrom = 2026-2-1 }",
	 ":2: price \"aws\": from: \"2026-2-1\": want a day such as 2026-11-01"},
	{"price aws { " ONE "from = 2026-02-30 }",
	 ":1: price \"aws\": from: \"2026-02-30\": there is no such day"},
	{"price aws { " ONE "from = 2026-02-01x }",
	 ":1: price \"aws\": from: \"2026-02-01x\": want"},
	{"price aws { " ONE "from = 1969-12-31 }",
	 ":1: price \"aws\": from: \"1969-12-31\": there"},
	{"price aws { " ONE "until = 01.02.2026 }", ":1: price \"aws\": until: "},
	{"price aws { " ONE "type = t }", ":1: type is defined twice, first in line 1"},
	{"price aws {\n" ONE "\nzones = a }",
	 ":3: unknown option \"zones\" in a price; did you mean \"zone\"?"},
	{"price { " ONE "}", ":1: price has no title"},
	{"prices aws { " ONE "}", ":1: \"prices\": want nothing but sections"},
	{"type = t", ":1: \"type\": want nothing but sections"},
	{"price aws { " ONE, ":1: "},
	{"price aws { " ONE "note = \"x }\n", ":1: a quote is not closed in its line"},
	{"price aws { " ONE "note = ${HOME} }", ":1: "},
	{"price aws { " ONE "} }", ":1: "},
	{"price aws { " ONE "note = \"\x01\" }", ":1: "},
};

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_rows); i++) {
		struct conf *c = with("");
		struct err e = {0};
		char want[300];

		print_message("# %s\n", bad_rows[i].want);
		(void)snprintf(want, sizeof(want), "/etc/prices.conf%s", bad_rows[i].want);
		assert_int_equal(prices_file_parse(c, bad_rows[i].text, &e), -1);
		if (strncmp(e.msg, want, strlen(want)) != 0)
			fail_msg("got: %s", e.msg);
		assert_int_equal(e.code, ERR_INVALID);
		conf_free(c);
	}
}

static void test_too_many_and_too_long(void **state)
{
	struct str s;
	struct conf *c = with("");
	struct err e = {0};
	char *text = mem_zalloc(CONF_FILE_MAX + 2);

	(void)state;
	str_init(&s, CONF_FILE_MAX);
	for (int i = 0; i <= CONF_RATES_MAX; i++)
		str_addf(&s, "price aws { type = t%d price = 1 currency = USD }\n", i);
	assert_int_equal(prices_file_parse(c, s.p, &e), -1);
	assert_string_equal(e.msg, "/etc/prices.conf:4097: more than 4096 prices");
	conf_free(c);
	c = with("");
	s.p[s.len - strlen("price aws { type = t4096 price = 1 currency = USD }\n")] = '\0';
	assert_int_equal(prices_file_parse(c, s.p, &e), 0);
	assert_int_equal(c->nrates, CONF_RATES_MAX);
	conf_free(c);
	str_fini(&s);
	c = with("");
	memset(text, '\n', CONF_FILE_MAX + 1);
	assert_int_equal(prices_file_parse(c, text, &e), -1);
	assert_string_equal(e.msg, "/etc/prices.conf:1: longer than 8388608 bytes");
	conf_free(c);
	free(text);
}

static void put_file(const char *path, const char *text, mode_t mode)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* With burstd.conf, from the file that it names; a fault of either refuses both. */
static void test_file(void **state)
{
	char dir[] = "/tmp/pricesXXXXXX", path[64], prices[64], text[1024], want[200];
	struct err e = {0};
	struct conf *c;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/burstd.conf", dir);
	(void)snprintf(prices, sizeof(prices), "%s/prices.conf", dir);
	(void)snprintf(text, sizeof(text), "%sprices_file = %s\n", HEAD, prices);
	put_file(path, text, 0600);
	assert_int_equal(conf_file_load(&c, path, provider_options, &e), -1);
	assert_null(c);
	(void)snprintf(want, sizeof(want), "%s:5: prices_file: %s: No such file or directory", path,
		       prices);
	assert_string_equal(e.msg, want);
	put_file(prices, "price aws { " ONE "}\n", 0600);
	assert_int_equal(conf_file_load(&c, path, provider_options, &e), 0);
	assert_int_equal(c->nrates, 1);
	conf_free(c);
	put_file(prices, "price aws { " ONE "}\n", 0622);
	assert_int_equal(conf_file_load(&c, path, provider_options, &e), -1);
	assert_non_null(strstr(e.msg, "chmod go-w"));
	put_file(prices, "\nprice aws { }\n", 0600);
	assert_int_equal(conf_file_load(&c, path, provider_options, &e), -1);
	assert_null(c);
	(void)snprintf(want, sizeof(want), "%s:2: ", prices);
	assert_memory_equal(e.msg, want, strlen(want));
	put_file(path, HEAD, 0600); /* none is named: none is read */
	assert_int_equal(conf_file_load(&c, path, provider_options, &e), 0);
	assert_int_equal(c->nrates, 0);
	conf_free(c);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(prices), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_option_is_read),
		cmocka_unit_test(test_sections_of_one_provider),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_too_many_and_too_long),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
