/* test_tariff.c - what a provider does not have, by its quotes.  Prices and what is sold out:
 * tests/unit/cloud/test_cloud.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/tariff.h"

static const struct provider_quote quotes[] = {
	{.type = "other", .region = "s", .zone = "sa", .market = PROVIDER_SPOT},
	{.type = "t", .region = "r", .zone = "ra", .market = PROVIDER_ON_DEMAND},
	{.type = "t", .region = "r", .zone = "rb", .market = PROVIDER_SPOT},
	{.type = "anywhere", .market = PROVIDER_ON_DEMAND},
};

enum { N = sizeof(quotes) / sizeof(quotes[0]) };

static char t[] = "t", u[] = "u", anywhere[] = "anywhere", r[] = "r", s[] = "s", ra[] = "ra",
	    rb[] = "rb", none[] = "";

static const struct {
	const char *name;
	struct conf_offer o;
	enum tariff_lack lack;
} rows[] = {
	{"all of it", {.type = t, .region = r, .zone = ra}, TARIFF_SOLD},
	{"in any zone", {.type = t, .region = r, .zone = none}, TARIFF_SOLD},
	{"as spot, in any zone",
	 {.type = t, .region = r, .zone = none, .market = PROVIDER_SPOT},
	 TARIFF_SOLD},
	{"the same everywhere", {.type = anywhere, .region = s, .zone = none}, TARIFF_SOLD},
	{"in a zone, which nobody quotes", {.type = anywhere, .region = r, .zone = s}, TARIFF_SOLD},
	{"no such type", {.type = u, .region = r, .zone = none}, TARIFF_TYPE},
	{"in another region", {.type = t, .region = s, .zone = none}, TARIFF_REGION},
	{"in a region that only others have",
	 {.type = t, .region = s, .zone = none, .market = PROVIDER_SPOT},
	 TARIFF_REGION},
	{"in no such zone", {.type = t, .region = r, .zone = s}, TARIFF_ZONE},
	{"as spot elsewhere",
	 {.type = t, .region = r, .zone = ra, .market = PROVIDER_SPOT},
	 TARIFF_MARKET},
	{"on demand elsewhere", {.type = t, .region = r, .zone = rb}, TARIFF_MARKET},
	{"never as reserved",
	 {.type = t, .region = r, .zone = none, .market = PROVIDER_RESERVED},
	 TARIFF_MARKET},
};

static void test_the_first_option_that_no_quote_has_is_lacking(void **state)
{
	const struct provider_caps caps = {.flags = 0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].name);
		assert_int_equal(tariff_lack(quotes, N, &rows[i].o, &caps), rows[i].lack);
		assert_int_equal(tariff_lack(quotes, 0, &rows[i].o, &caps), TARIFF_TYPE);
	}
}

/* A provider that quotes no types, or only spot, does not say what it has besides. */
static void test_what_quotes_cannot_tell_is_not_lacking(void **state)
{
	const struct provider_quote one_price = {.price_nano_h = 1};
	const struct provider_caps caps = {.flags = 0}, spot = {.spot_prices = "USD"};
	const struct conf_offer on_demand = {.type = u, .region = r, .zone = none};
	const struct conf_offer as_spot = {
		.type = u, .region = r, .zone = none, .market = PROVIDER_SPOT};

	(void)state;
	assert_int_equal(tariff_lack(&one_price, 1, &on_demand, &caps), TARIFF_SOLD);
	assert_int_equal(tariff_lack(quotes, N, &on_demand, &spot), TARIFF_SOLD);
	assert_int_equal(tariff_lack(quotes, N, &as_spot, &spot), TARIFF_TYPE);
}

/* Of a zone that is left open the longest counts, and what no quote says the driver knows. */
static void test_terms_are_of_all_that_fits(void **state)
{
	const struct provider_quote q[] = {
		{.type = "t",
		 .region = "r",
		 .zone = "ra",
		 .terms = {.quantum_ms = 1000,
			   .minimum_ms = PROVIDER_NO_MINIMUM,
			   .stock = PROVIDER_STOCK_NONE,
			   .interconnect = "efa"}},
		{.type = "t",
		 .region = "r",
		 .zone = "rb",
		 .terms = {.minimum_ms = 60000, .stock = PROVIDER_STOCK_SOME}},
		{.type = "t", .region = "r", .market = PROVIDER_SPOT},
		{.type = "u",
		 .region = "r",
		 .terms = {.quantum_ms = 9, .minimum_ms = 9, .interconnect = "ib"}},
		{.type = "t", .region = "s", .terms = {.interconnect = "ib"}},
	};
	const struct provider_terms known = {.quantum_ms = 7,
					     .minimum_ms = 8,
					     .data = PROVIDER_DATA_ANY,
					     .data_max = 5,
					     .own_image = true};
	struct conf_offer o = {.type = t, .region = r, .zone = none};
	struct provider_terms got = tariff_terms(q, 5, &o, &known);

	(void)state;
	assert_int_equal(got.quantum_ms, 1000);
	assert_int_equal(got.minimum_ms, 60000);
	assert_int_equal(got.stock, PROVIDER_STOCK_SOME);
	assert_int_equal(got.data, PROVIDER_DATA_ANY);
	assert_int_equal(got.data_max, 5);
	assert_true(got.own_image);
	assert_string_equal(got.interconnect, "efa");
	assert_false(tariff_dry(q, 5, &o));
	o.zone = ra;
	got = tariff_terms(q, 5, &o, &known);
	assert_int_equal(got.minimum_ms, PROVIDER_NO_MINIMUM);
	assert_true(tariff_dry(q, 5, &o));
	/* As spot it costs another price, on the same network. */
	o = (struct conf_offer){.type = t, .region = r, .zone = none, .market = PROVIDER_SPOT};
	got = tariff_terms(q, 5, &o, &known);
	assert_int_equal(got.quantum_ms, 7);
	assert_int_equal(got.minimum_ms, 8);
	assert_int_equal(got.stock, PROVIDER_STOCK_UNSAID);
	assert_string_equal(got.interconnect, "efa");
}

static void test_networks_that_differ_are_not_known(void **state)
{
	const struct provider_quote q[] = {
		{.type = "t", .region = "r", .terms = {.interconnect = "efa"}},
		{.type = "t", .region = "r", .terms = {.interconnect = "none"}},
	};
	const struct provider_terms known = {.data_max = 0};
	const struct conf_offer o = {.type = t, .region = r, .zone = none};

	(void)state;
	assert_string_equal(tariff_terms(q, 2, &o, &known).interconnect, "");
	assert_string_equal(tariff_terms(q, 1, &o, &known).interconnect, "efa");
}

/* What a machine of a type has does not depend on how it is bought, but where. */
static void test_the_machine_is_the_least_of_all_that_are_quoted(void **state)
{
	static const struct provider_quote q[] = {
		{.type = "other", .region = "r", .cpus = 1, .gpus = 1, .memory_mb = 1},
		{.type = "t", .region = "s", .cpus = 2, .gpus = 2, .memory_mb = 2},
		{.type = "t", .region = "r"},
		{.type = "t", .region = "r", .cpus = 208, .gpus = 8, .memory_mb = 2000000},
		{.type = "t", .region = "r", .market = PROVIDER_SPOT, .cpus = 192, .gpus = 8},
		{.type = "t", .region = "r", .zone = "ra", .memory_mb = 1900000},
		{.type = "u", .cpus = 4, .memory_mb = 9},
		{.type = "u", .cpus = 8, .gpus = 2},
	};
	const struct conf_offer o = {.type = t, .region = r, .zone = none},
				of_u = {.type = u, .region = r, .zone = none},
				of_none = {.type = anywhere, .region = r, .zone = none};
	struct tariff_machine m = tariff_machine(q, sizeof(q) / sizeof(q[0]), &o);

	(void)state;
	assert_int_equal(m.cpus, 192);
	assert_int_equal(m.gpus, 8);
	assert_int_equal(m.memory_mb, 1900000);
	m = tariff_machine(q, sizeof(q) / sizeof(q[0]), &of_u);
	assert_int_equal(m.cpus, 4);
	assert_int_equal(m.gpus, 0);
	assert_int_equal(m.memory_mb, 9);
	m = tariff_machine(q, sizeof(q) / sizeof(q[0]), &of_none);
	assert_int_equal(m.cpus, 0);
	assert_int_equal(m.memory_mb, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_option_that_no_quote_has_is_lacking),
		cmocka_unit_test(test_what_quotes_cannot_tell_is_not_lacking),
		cmocka_unit_test(test_terms_are_of_all_that_fits),
		cmocka_unit_test(test_the_machine_is_the_least_of_all_that_are_quoted),
		cmocka_unit_test(test_networks_that_differ_are_not_known),
	};

	return cmocka_run_group_tests_name("tariff", tests, NULL, NULL);
}
