/* What conf.h promises of a pool's offers, without a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/conf.h"
#include "core/conf_option.h"
#include "small_conf.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void drop_place(struct conf_pool *p)
{
	set("pool", "provider", p, "");
	set("pool", "type", p, "");
	set("pool", "region", p, "");
}

static void add_offer(struct conf_pool *p, const char *name, const char *provider, const char *type,
		      int line)
{
	struct conf_offer *o;

	p->offers = mem_realloc(p->offers, (p->noffers + 1) * sizeof(*o));
	o = &p->offers[p->noffers++];
	*o = (struct conf_offer){.name = mem_strdup(name), .line = line + 5, .provider_line = line};
	set("offer", "provider", o, provider);
	set("offer", "type", o, type);
	set("offer", "region", o, "r");
	set("offer", "zone", o, "");
}

/* A pool p with these offers, all of them of type t otherwise; their types are their names. */
static struct conf *with_offers(const char *const names[4])
{
	struct conf *c = small_conf();

	add_pool(c, "p", "one", "n[1-3]", 100);
	drop_place(c->pools);
	for (int i = 0; i < 4 && names[i] != NULL; i++)
		add_offer(c->pools, names[i], i % 2 == 0 ? "one" : "two", names[i], 100 + 10 * i);
	return c;
}

static void test_each_offer_is_a_rung_in_the_order_of_the_file(void **state)
{
	struct conf *c = with_offers((const char *const[4]){"x", "y", "z"});
	const struct conf_offer *rungs;
	size_t n;

	(void)state;
	assert_int_equal(conf_finish(c, NULL), 0);
	rungs = conf_rungs(c->pools, &n);
	assert_int_equal(n, 3);
	assert_string_equal(rungs[0].name, "x");
	assert_string_equal(rungs[2].name, "z");
	assert_int_equal(rungs[0].provider_index, 0);
	assert_int_equal(rungs[1].provider_index, 1);
	assert_int_equal(c->pools->provider_index, 0);
	assert_ptr_equal(conf_rung_named(c->pools, "y"), &rungs[1]);
	assert_null(conf_rung_named(c->pools, ""));
	assert_null(conf_rung_named(c->pools, "w"));
	conf_free(c);
}

static void test_a_pool_without_offers_has_its_place_as_its_only_rung(void **state)
{
	struct conf *c = small_conf();
	const struct conf_offer *rungs;
	size_t n;

	(void)state;
	add_pool(c, "p", "two", "n1", 100);
	set("pool", "market", c->pools, "spot");
	set("pool", "zone", c->pools, "z");
	set("pool", "price", c->pools, "7");
	set("pool", "jurisdiction", c->pools, "DE");
	assert_int_equal(conf_finish(c, NULL), 0);
	rungs = conf_rungs(c->pools, &n);
	assert_int_equal(n, 1);
	assert_string_equal(rungs->name, "");
	assert_string_equal(rungs->provider, "two");
	assert_int_equal(rungs->provider_index, 1);
	assert_string_equal(rungs->type, "t");
	assert_string_equal(rungs->region, "r");
	assert_string_equal(rungs->zone, "z");
	assert_int_equal(rungs->market, PROVIDER_SPOT);
	assert_int_equal(rungs->price_nano_h, INT64_C(7000000000));
	assert_int_equal(rungs->max_price_nano_h, 0);
	assert_string_equal(rungs->jurisdiction, "DE");
	assert_ptr_equal(conf_rung_named(c->pools, ""), rungs);
	conf_free(c);
}

static void test_what_is_wrong_with_offers_has_its_line(void **state)
{
	static const struct {
		const char *name;
		const char *offers[4];
		const char *option, *text; /* of the pool */
		int place_line;
		int of;               /* this offer has ... */
		const char *provider; /* ... this provider */
		const char *want;     /* behind "burstd.conf:" */
	} rows[] = {
		{.name = "neither a place nor an offer",
		 .want = "109: pool \"p\": provider is missing (section of the provider to buy "
			 "from); set it, or add an offer"},
		{.name = "a provider, too",
		 .offers = {"x"},
		 .option = "provider",
		 .text = "one",
		 .want = "109: pool \"p\" has offers: provider, type, region, zone, market, price "
			 "and "
			 "jurisdiction belong in the offers"},
		{.name = "a type, too",
		 .offers = {"x"},
		 .option = "type",
		 .text = "t",
		 .want = "109: pool \"p\" has offers: "},
		{.name = "a region, too",
		 .offers = {"x"},
		 .option = "region",
		 .text = "r",
		 .want = "109: pool \"p\" has offers: "},
		{.name = "an option of a place that has a default",
		 .offers = {"x"},
		 .place_line = 103,
		 .want = "103: pool \"p\" has offers: "},
		{.name = "a name twice",
		 .offers = {"x", "y", "x"},
		 .want = "125: pool \"p\": offer \"x\" is defined twice"},
		{.name = "a name twice, not that of the first",
		 .offers = {"x", "y", "y"},
		 .want = "125: pool \"p\": offer \"y\" is defined twice"},
		{.name = "no such provider, of the second",
		 .offers = {"x", "y"},
		 .of = 1,
		 .provider = "three",
		 .want = "110: pool \"p\": offer \"y\": there is no provider \"three\""},
		{.name = "no such provider, of the first",
		 .offers = {"x", "y"},
		 .provider = "three",
		 .want = "100: pool \"p\": offer \"x\": there is no provider \"three\""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *c = with_offers(rows[i].offers);
		struct err e = {0};

		print_message("# %s\n", rows[i].name);
		c->pools->place_line = rows[i].place_line;
		if (rows[i].option != NULL)
			set("pool", rows[i].option, c->pools, rows[i].text);
		if (rows[i].provider != NULL)
			set("offer", "provider", &c->pools->offers[rows[i].of], rows[i].provider);
		assert_int_equal(conf_finish(c, &e), -1);
		assert_memory_equal(e.msg, "burstd.conf:", 12);
		if (strncmp(e.msg + 12, rows[i].want, strlen(rows[i].want)) != 0)
			fail_msg("got: %s", e.msg);
		conf_free(c);
	}
}

/* Empty in the file, or not there at all. */
static void test_each_half_of_a_place_is_missed(void **state)
{
	static const char *const names[] = {"provider", "type", "region"};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct conf *c = small_conf();
		struct err e = {0};
		char want[60];

		add_pool(c, "p", "one", "n1", 100);
		if (i == 1)
			conf_option_fini(conf_option_find("pool", names[i]), c->pools);
		else
			set("pool", names[i], c->pools, "");
		assert_int_equal(conf_finish(c, &e), -1);
		(void)snprintf(want, sizeof(want), "burstd.conf:109: pool \"p\": %s is missing",
			       names[i]);
		assert_memory_equal(e.msg, want, strlen(want));
		conf_free(c);
	}
}

static void test_the_place_of_a_pool_is_its_own_options(void **state)
{
	(void)state;
	assert_true(conf_is_place(conf_option_find("pool", "provider")));
	assert_true(conf_is_place(conf_option_find("pool", "jurisdiction")));
	assert_false(conf_is_place(conf_option_find("pool", "max_nodes")));
	assert_false(conf_is_place(conf_option_find("offer", "provider")));
}

static void test_two_offers_of_one_place_are_a_slip(void **state)
{
	static const char *const differ[][2] = {{"provider", "two"},
						{"type", "u"},
						{"region", "s"},
						{"zone", "z"},
						{"market", "spot"}};

	(void)state;
	for (size_t i = 0; i <= COUNT(differ); i++) {
		struct conf *c = with_offers((const char *const[4]){"x"});
		struct err e = {0};

		add_offer(c->pools, "y", "one", "x", 120);
		if (i < COUNT(differ)) {
			set("offer", differ[i][0], &c->pools->offers[1], differ[i][1]);
			assert_int_equal(conf_finish(c, &e), 0);
		} else {
			assert_int_equal(conf_finish(c, &e), -1);
			assert_string_equal(e.msg,
					    "burstd.conf:125: pool \"p\": offer \"y\" is the "
					    "same place as offer \"x\"");
		}
		conf_free(c);
	}
}

static void test_too_many_offers(void **state)
{
	struct conf *c = with_offers((const char *const[4]){NULL});
	struct err e = {0};
	char name[16];

	(void)state;
	for (int i = 0; i <= CONF_OFFERS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "o%d", i);
		add_offer(c->pools, name, "one", name, 1000 + i);
	}
	assert_int_equal(conf_finish(c, &e), -1);
	assert_string_equal(e.msg, "burstd.conf:1037: pool \"p\": more than 32 offers");
	conf_free(c);
}

static void test_offers_may_come_and_move_and_not_go(void **state)
{
	static const struct {
		const char *name, *offers[4], *diff, *want_err;
	} rows[] = {
		{"the same", {"x", "y"}, "", NULL},
		{"a new one in between",
		 {"x", "z", "y"},
		 "pool \"p\" offers: x, y -> x, z, y\n",
		 NULL},
		{"another order", {"y", "x"}, "pool \"p\" offers: x, y -> y, x\n", NULL},
		{"one gone",
		 {"x"},
		 "pool \"p\" offers: x, y -> x\n",
		 "pool \"p\": offer \"y\" is gone: this needs a restart"},
	};
	struct conf *old = with_offers((const char *const[4]){"x", "y"});

	(void)state;
	assert_int_equal(conf_finish(old, NULL), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *next = with_offers(rows[i].offers);
		struct err e = {0};

		print_message("# %s\n", rows[i].name);
		for (size_t k = 0; k < next->pools->noffers; k++)
			set("offer", "provider", &next->pools->offers[k],
			    strcmp(next->pools->offers[k].name, "y") == 0 ? "two" : "one");
		assert_int_equal(conf_finish(next, NULL), 0);
		assert_int_equal(conf_may_replace(old, next, &e),
				 rows[i].want_err == NULL ? 0 : -1);
		if (rows[i].want_err != NULL)
			assert_string_equal(e.msg, rows[i].want_err);
		check_diff(old, next, rows[i].diff);
		conf_free(next);
	}
	conf_free(old);
}

static void test_what_of_an_offer_needs_a_restart(void **state)
{
	static const struct {
		int of;
		const char *name, *text, *diff, *want_err;
	} rows[] = {
		{1, "type", "u", "offer \"p/y\" type: y -> u\n",
		 "offer \"p/y\" type: a change needs a restart"},
		{0, "market", "spot", "offer \"p/x\" market: on-demand -> spot\n",
		 "offer \"p/x\" market: a change needs a restart"},
		{0, "max_price", "3", "offer \"p/x\" max_price: \"\" -> 3.00\n", NULL},
		{1, "jurisdiction", "DE", "offer \"p/y\" jurisdiction: \"\" -> DE\n", NULL},
		{1, "fabric", "job", "offer \"p/y\" fabric: \"\" -> job\n",
		 "offer \"p/y\" fabric: a change needs a restart"},
	};
	struct conf *old = with_offers((const char *const[4]){"x", "y"});

	(void)state;
	assert_int_equal(conf_finish(old, NULL), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *next = with_offers((const char *const[4]){"x", "y"});
		struct err e = {0};

		set("offer", rows[i].name, &next->pools->offers[rows[i].of], rows[i].text);
		assert_int_equal(conf_finish(next, NULL), 0);
		assert_int_equal(conf_may_replace(old, next, &e),
				 rows[i].want_err == NULL ? 0 : -1);
		assert_string_equal(e.msg, rows[i].want_err == NULL ? "" : rows[i].want_err);
		check_diff(old, next, rows[i].diff);
		conf_free(next);
	}
	conf_free(old);
}

/* What is theirs is not printed of the pool: it would not load again. */
static void test_offers_are_printed_within_their_pool(void **state)
{
	struct conf *c = with_offers((const char *const[4]){"x", "y"});
	struct str s;

	(void)state;
	assert_int_equal(conf_finish(c, NULL), 0);
	str_init(&s, CONF_PRINT_MAX);
	conf_print(c, &s);
	assert_non_null(strstr(
		s.p,
		"\npool \"p\" {\n\tnodes = \"n[1-3]\"\n\tunit = \"0\"\n"
		"\tfabric = \"\"\n\tfabric_hops = \"0\"\n\tinterconnect = \"\"\n\timage = \"\"\n"
		"\timage_canaries = \"0\"\n\timage_trial = \"0s\"\n\timage_at_once = \"0\"\n"
		"\tmax_nodes = "));
	assert_non_null(strstr(s.p, "\tjurisdictions = {}\n"
				    "\n\toffer \"x\" {\n\t\tprovider = \"one\"\n"));
	assert_non_null(strstr(s.p, "\t\tjurisdiction = \"\"\n\t\tfabric = \"\"\n\t\tinterconnect "
				    "= \"\"\n\t\timage = \"\"\n\t}\n"
				    "\n\toffer \"y\" {\n\t\tprovider = \"two\"\n"));
	assert_null(strstr(s.p, "\n\tprovider = "));
	assert_null(strstr(s.p, "\n\tzone = "));
	assert_null(strstr(s.p, "\n\tmarket = "));
	assert_null(strstr(s.p, "\n\tprice = "));
	assert_string_equal(s.p + s.len - 8, "\"\"\n\t}\n}\n");
	str_fini(&s);
	conf_free(c);
}

/* The offer's word counts, and none is one. */
static void test_the_fabric_of_an_offer(void **state)
{
	static const struct {
		const char *pool, *offer, *want; /* NULL: anywhere */
	} rows[] = {
		{"", "", NULL},      {"job", "", "job"},   {"none", "", NULL},
		{"", "job", "job"},  {"", "pg-1", "pg-1"}, {"job", "none", NULL},
		{"job", "pg", "pg"}, {"pg", "job", "job"}, {"", "none", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *c = with_offers((const char *const[4]){"x"}), *own = small_conf();
		const char *got;

		set("pool", "fabric", c->pools, rows[i].pool);
		set("offer", "fabric", c->pools->offers, rows[i].offer);
		assert_int_equal(conf_finish(c, NULL), 0);
		got = c->pools->offers[0].in_fabric;
		assert_string_equal(got != NULL ? got : "", rows[i].want ? rows[i].want : "");
		assert_int_equal(got == NULL, rows[i].want == NULL);
		conf_free(c);
		add_pool(own, "p", "one", "n1", 100); /* its own place: the pool's word */
		set("pool", "fabric", own->pools, rows[i].pool);
		assert_int_equal(conf_finish(own, NULL), 0);
		got = conf_rungs(own->pools, &(size_t){0})->in_fabric;
		assert_string_equal(got != NULL ? got : "none",
				    rows[i].pool[0] != '\0' ? rows[i].pool : "none");
		conf_free(own);
	}
}

/* Once with a fabric and once without are two places: the second is for who found no room. */
static void test_one_place_with_and_without_a_fabric(void **state)
{
	struct conf *c = with_offers((const char *const[4]){"x", "y"});
	struct err e = {0};

	(void)state;
	set("offer", "type", &c->pools->offers[1], "x");
	set("offer", "provider", &c->pools->offers[1], "one");
	set("pool", "fabric", c->pools, "job");
	set("offer", "fabric", &c->pools->offers[1], "none");
	assert_int_equal(conf_finish(c, &e), 0);
	conf_free(c);
	c = with_offers((const char *const[4]){"x", "y"});
	set("offer", "type", &c->pools->offers[1], "x");
	set("offer", "provider", &c->pools->offers[1], "one");
	set("pool", "fabric", c->pools, "job");
	assert_int_equal(conf_finish(c, &e), -1);
	assert_non_null(strstr(e.msg, "is the same place as"));
	conf_free(c);
}

/* A token in user-data is for one machine, and a fabric for each job for several. */
static void test_no_job_has_a_fabric_of_machines_with_a_token_each(void **state)
{
	static const struct {
		const char *own, *offers[2]; /* provider two has tokens */
		int line;                    /* 0: good */
	} rows[] = {
		{"job", {NULL, NULL}, 109}, {"pg", {NULL, NULL}, 0}, {"", {NULL, NULL}, 0},
		{"job", {"", ""}, 109},     {"", {"", "job"}, 115},  {"", {"job", ""}, 0},
		{"job", {"", "none"}, 0},   {"", {"", "pg"}, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *c = rows[i].offers[0] != NULL
					 ? with_offers((const char *const[4]){"x", "y"})
					 : small_conf();
		struct err e = {0};
		char want[120];

		if (rows[i].offers[0] == NULL)
			add_pool(c, "p", "two", "n1", 100);
		set("pool", "fabric", c->pools, rows[i].own);
		for (int k = 0; k < 2 && rows[i].offers[k] != NULL; k++)
			set("offer", "fabric", &c->pools->offers[k], rows[i].offers[k]);
		c->providers[1].vouchers = true;
		assert_int_equal(conf_finish(c, &e), rows[i].line != 0 ? -1 : 0);
		(void)snprintf(want, sizeof(want),
			       "burstd.conf:%d: pool \"p\": fabric = job is impossible with "
			       "release = user-data: each create makes one machine",
			       rows[i].line);
		assert_string_equal(e.msg, rows[i].line != 0 ? want : "");
		conf_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_offer_is_a_rung_in_the_order_of_the_file),
		cmocka_unit_test(test_a_pool_without_offers_has_its_place_as_its_only_rung),
		cmocka_unit_test(test_what_is_wrong_with_offers_has_its_line),
		cmocka_unit_test(test_the_place_of_a_pool_is_its_own_options),
		cmocka_unit_test(test_each_half_of_a_place_is_missed),
		cmocka_unit_test(test_two_offers_of_one_place_are_a_slip),
		cmocka_unit_test(test_too_many_offers),
		cmocka_unit_test(test_offers_may_come_and_move_and_not_go),
		cmocka_unit_test(test_what_of_an_offer_needs_a_restart),
		cmocka_unit_test(test_offers_are_printed_within_their_pool),
		cmocka_unit_test(test_the_fabric_of_an_offer),
		cmocka_unit_test(test_one_place_with_and_without_a_fabric),
		cmocka_unit_test(test_no_job_has_a_fabric_of_machines_with_a_token_each),
	};

	return cmocka_run_group_tests_name("conf_offer", tests, NULL, NULL);
}
