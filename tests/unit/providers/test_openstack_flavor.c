/* test_openstack_flavor.c - the driver openstack: which flavor an offer means, and what the cloud
 * sells. */
#include "tests/unit/providers/openstack_lab.h"

/* --- spot --------------------------------------------------------------------------------------
 */

static void buys(enum provider_market market, const char *type, const char *flavor)
{
	struct provider_op op = create(1);
	struct provider_request rq;

	place.type = type;
	place.market = market;
	build(&rq, &op);
	has(&rq, flavor);
	provider_request_fini(&rq);
}

static void buys_not(enum provider_market market, const char *type, const char *why)
{
	struct provider_op op = create(1);

	place.type = type;
	place.market = market;
	refuse(&op, why);
}

#define LONG_TRAIT "MACHINES_THAT_ARE_TAKEN_BACK_WHEN_SOMEBODY_WHO_PAYS_MORE_WANTS_THEM"

static void test_preemptible_servers_are_known_by_suffix_or_trait(void **state)
{
	(void)state;
	buys_not(PROVIDER_SPOT, "g1.h100", "want spot_suffix or spot_trait");
	buys(PROVIDER_ON_DEMAND, "g1.h100.spot", "\"f-2\""); /* as far as one can know */
	buys(PROVIDER_RESERVED, "g1.h100", "\"f-1\"");
	options.spot_suffix = ".spot";
	reset(USUAL_FLAVORS);
	buys(PROVIDER_SPOT, "g1.h100", "\"f-2\"");
	buys(PROVIDER_ON_DEMAND, "g1.h100", "\"f-1\"");
	buys_not(PROVIDER_SPOT, "g9", "there is no flavor g9.spot");
	options.spot_suffix = "";
	options.spot_trait = "CUSTOM_PREEMPTIBLE";
	reset(USUAL_FLAVORS);
	buys(PROVIDER_SPOT, "g1.h100.spot", "\"f-2\"");
	buys_not(PROVIDER_SPOT, "g1.h100", "does not require the trait");
	buys_not(PROVIDER_ON_DEMAND, "g1.h100.spot", "want market = \"spot\"");
	buys_not(PROVIDER_RESERVED, "g1.h100.spot", "want market = \"spot\"");
	options.spot_trait = "CUSTOM_" LONG_TRAIT;
	reset(FLAVORS(FLAVOR("f-1", "a", SPECS("\"trait:CUSTOM_" LONG_TRAIT "\":\"required\""))));
	buys(PROVIDER_SPOT, "a", "\"f-1\"");
	buys_not(PROVIDER_ON_DEMAND, "a", "want market = \"spot\"");
	options.spot_trait = "CUSTOM_PREEMPTIBLE";
	options.spot_suffix = ".spot";
	reset(USUAL_FLAVORS);
	buys(PROVIDER_SPOT, "g1.h100", "\"f-2\"");
	reset(FLAVORS(
		FLAVOR("f-1", "a.spot", SPECS("\"trait:CUSTOM_PREEMPTIBLE\":\"forbidden\""))));
	buys_not(PROVIDER_SPOT, "a", "does not require the trait");
}

/* --- what the cloud sells ----------------------------------------------------------------------
 */

static const struct provider_op quotes_op = {.kind = PROVIDER_QUOTES};

static void quoted(const struct provider_quote *q, const char *type, enum provider_market market,
		   uint32_t gpus)
{
	assert_string_equal(q->type, type);
	assert_string_equal(q->region, "R1");
	assert_int_equal(q->market, market);
	assert_int_equal(q->price_nano_h, 0);
	assert_int_equal(q->cpus, 8);
	assert_int_equal(q->gpus, gpus);
	assert_int_equal(q->memory_mb, 1024);
}

static void test_flavors_are_quotes_without_a_price(void **state)
{
	struct provider_result r;

	(void)state;
	options.spot_suffix = ".spot";
	reset(USUAL_FLAVORS);
	parse(&r, &quotes_op, 200, USUAL_FLAVORS);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nquotes, 2);
	quoted(&r.quotes[0], "g1.h100", PROVIDER_ON_DEMAND, 8);
	quoted(&r.quotes[1], "g1.h100", PROVIDER_SPOT, 0);
	provider_result_fini(&r);
	options.spot_suffix = "";
	options.spot_trait = "CUSTOM_PREEMPTIBLE";
	reset(USUAL_FLAVORS);
	parse(&r, &quotes_op, 200, USUAL_FLAVORS);
	quoted(&r.quotes[0], "g1.h100", PROVIDER_ON_DEMAND, 8);
	quoted(&r.quotes[1], "g1.h100.spot", PROVIDER_SPOT, 0);
	provider_result_fini(&r);
}

static void test_sizes_of_flavors(void **state)
{
	static const struct {
		const char *specs;
		uint32_t cpus, gpus;
	} rows[] = {
		{SPECS(""), 8, 0},
		{"", 0, 0}, /* the cloud does not show them: nothing is known */
		{SPECS("\"pci_passthrough:alias\":\"a100:4,nic:1\""), 8, 5},
		{SPECS("\"pci_passthrough:alias\":\"a100\""), 8, 0},
		{SPECS("\"resources:VGPU\":\"2\""), 8, 2},
		{SPECS("\"resources:PGPU\":\"1\""), 8, 1},
		{SPECS("\"resources:PGPU\":7"), 8, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r;
		char body[512];

		(void)snprintf(body, sizeof(body), FLAVORS(FLAVOR("f", "t", "%s")), rows[i].specs);
		parse(&r, &quotes_op, 200, body);
		assert_int_equal(r.nquotes, 1);
		if (r.quotes[0].cpus != rows[i].cpus || r.quotes[0].gpus != rows[i].gpus)
			fail_msg("row %zu: %u %u", i, r.quotes[0].cpus, r.quotes[0].gpus);
		provider_result_fini(&r);
	}
}

static void test_pages_of_flavors(void **state)
{
	struct provider_op op = quotes_op;
	struct provider_result r;

	(void)state;
	parse_fixture(&r, &op, 200, "flavors");
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nquotes, 6);
	assert_string_equal(r.quotes[0].type, "m1.tiny");
	provider_result_fini(&r);
	parse_fixture(&r, &op, 200, "flavors-page");
	assert_int_equal(r.code, PROVIDER_MORE);
	assert_int_equal(r.nquotes, 2);
	assert_string_equal(r.cursor, "2");
	provider_result_fini(&r);
	op.cursor = "2";
	parse_fixture(&r, &op, 200, "flavors-page");
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	assert_int_equal(r.nquotes, 0);
	provider_result_fini(&r);
	parse(&r, &op, 200, "{\"flavors\":[{\"id\":\"f\",\"name\":\"t\",\"extra_specs\":{}}]}");
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	assert_non_null(strstr(r.message, "flavors[0].ram"));
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_preemptible_servers_are_known_by_suffix_or_trait),
		T(test_flavors_are_quotes_without_a_price),
		T(test_sizes_of_flavors),
		T(test_pages_of_flavors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
