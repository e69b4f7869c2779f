/* test_aws_prices.c - what the driver aws makes of replies about instance types and spot prices. */
#include "tests/unit/providers/aws_lab.h"

#define TYPE(name, classes)                                                                        \
	"<item><instanceType>" name "</instanceType><supportedUsageClasses>" classes               \
	"</supportedUsageClasses><vCpuInfo><defaultVCpus>192</defaultVCpus></vCpuInfo>"            \
	"<memoryInfo><sizeInMiB>2097152</sizeInMiB></memoryInfo><gpuInfo><gpus><item>"             \
	"<count>8</count></item></gpus></gpuInfo></item>"
#define TYPES(items, more)                                                                         \
	"<DescribeInstanceTypesResponse><instanceTypeSet>" items "</instanceTypeSet>" more         \
	"</DescribeInstanceTypesResponse>"

static void test_types_come_before_prices_and_have_none(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_result r;

	(void)state;
	op.cursor = "";
	parse(&r, &op, 200,
	      TYPES(TYPE("p5.48xlarge", "<item>on-demand</item><item>spot</item>")
			    TYPE("p6.x", "<item>capacity-block</item>"),
		    "<nextToken>n</nextToken>"));
	assert_int_equal(r.code, PROVIDER_MORE);
	assert_int_equal(r.nquotes, 1);
	assert_string_equal(r.quotes[0].type, "p5.48xlarge");
	assert_int_equal(r.quotes[0].market, PROVIDER_ON_DEMAND);
	assert_int_equal(r.quotes[0].price_nano_h, 0);
	assert_int_equal(r.quotes[0].cpus, 192);
	assert_int_equal(r.quotes[0].gpus, 8);
	assert_int_equal(r.quotes[0].memory_mb, 2097152);
	assert_string_equal(r.cursor, "tn");
	provider_result_fini(&r);
	op.cursor = "tn";
	parse(&r, &op, 200, TYPES("", "<nextToken>n</nextToken>")); /* it goes round */
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	provider_result_fini(&r);
	parse(&r, &op, 200, TYPES("", ""));
	assert_int_equal(r.code, PROVIDER_MORE);
	assert_string_equal(r.cursor, "p");
	provider_result_fini(&r);
	op.cursor = "p"; /* the other call's answer */
	parse(&r, &op, 200, TYPES("", ""));
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	provider_result_fini(&r);
}

#define EFA(name, network)                                                                         \
	"<item><instanceType>" name "</instanceType><supportedUsageClasses><item>on-demand"        \
	"</item></supportedUsageClasses>" network "</item>"
#define NETWORK(word)                                                                              \
	"<networkInfo><maximumNetworkInterfaces>8</maximumNetworkInterfaces><efaSupported>" word   \
	"</efaSupported></networkInfo>"

static void test_a_type_has_efa_or_none_or_does_not_say(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_result r;

	(void)state;
	op.cursor = "";
	parse(&r, &op, 200,
	      TYPES(EFA("a", NETWORK("true")) EFA("b", NETWORK("false")) EFA("c", ""), ""));
	assert_int_equal(r.nquotes, 3);
	assert_string_equal(r.quotes[0].terms.interconnect, "efa");
	assert_string_equal(r.quotes[1].terms.interconnect, "none");
	assert_string_equal(r.quotes[2].terms.interconnect, "");
	provider_result_fini(&r);
}

static void test_gpus_of_several_kinds_are_added_up(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_result r;

	(void)state;
	op.cursor = "";
	parse(&r, &op, 200,
	      TYPES("<item><instanceType>t</instanceType><supportedUsageClasses><item>on-demand"
		    "</item></supportedUsageClasses><gpuInfo><gpus><item><count>2</count></item>"
		    "<item><count>1</count></item></gpus></gpuInfo></item>",
		    ""));
	assert_int_equal(r.nquotes, 1);
	assert_int_equal(r.quotes[0].gpus, 3);
	provider_result_fini(&r);
}

static void test_prices_are_in_dollars_per_hour(void **state)
{
	char *text = fixture("spot-prices.xml");
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_result r;

	(void)state;
	op.cursor = "p";
	parse(&r, &op, 200, text);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nquotes, 3);
	assert_string_equal(r.quotes[0].type, "c5.large");
	assert_string_equal(r.quotes[0].region, "eu-west-1");
	assert_string_equal(r.quotes[0].zone, "eu-west-1a");
	assert_int_equal(r.quotes[0].market, PROVIDER_SPOT);
	assert_int_equal(r.quotes[0].price_nano_h, 10000);
	assert_string_equal(r.quotes[0].currency, "USD");
	provider_result_fini(&r);
	/* Of one type in one zone the newest counts, which comes first. */
	parse(&r, &op, 200,
	      "<DescribeSpotPriceHistoryResponse><spotPriceHistorySet>"
	      "<item><instanceType>t</instanceType><availabilityZone>z</availabilityZone>"
	      "<spotPrice>1.2500</spotPrice></item>"
	      "<item><instanceType>t</instanceType><availabilityZone>z</availabilityZone>"
	      "<spotPrice>9</spotPrice></item></spotPriceHistorySet><nextToken>m</nextToken>"
	      "</DescribeSpotPriceHistoryResponse>");
	assert_int_equal(r.nquotes, 1);
	assert_int_equal(r.quotes[0].price_nano_h, 1250000000);
	assert_string_equal(r.cursor, "p0,m");
	provider_result_fini(&r);
	parse(&r, &op, 200,
	      "<DescribeSpotPriceHistoryResponse><spotPriceHistorySet><item>"
	      "<instanceType>t</instanceType><availabilityZone>z</availabilityZone>"
	      "<spotPrice>1e3</spotPrice></item></spotPriceHistorySet>"
	      "</DescribeSpotPriceHistoryResponse>");
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	assert_int_equal(r.nquotes, 0);
	provider_result_fini(&r);
	free(text);
}

#define PRICE(zone, amount, at)                                                                    \
	"<item><instanceType>t</instanceType><availabilityZone>" zone "</availabilityZone>"        \
	"<spotPrice>" amount "</spotPrice><timestamp>" at "</timestamp></item>"
#define PRICES(items)                                                                              \
	"<DescribeSpotPriceHistoryResponse><spotPriceHistorySet>" items "</spotPriceHistorySet>"   \
	"</DescribeSpotPriceHistoryResponse>"

/* Each price with the moment since when it is so; without that no order could be made of them. */
static void test_prices_of_the_past(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_result r;

	(void)state;
	op.cursor = "p";
	op.u.quotes.since_ms = 1;
	parse(&r, &op, 200,
	      PRICES(PRICE("a", "3", "2026-11-18T12:00:00.000Z")
			     PRICE("b", "4", "2026-11-18T11:30:00Z")
				     PRICE("a", "5", "2026-11-18T11:00:00.000Z")));
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nquotes, 3);
	assert_int_equal(r.quotes[0].valid_from_ms, INT64_C(1795003200000));
	assert_int_equal(r.quotes[0].price_nano_h, INT64_C(3000000000));
	assert_string_equal(r.quotes[1].zone, "b");
	assert_int_equal(r.quotes[1].valid_from_ms, INT64_C(1795001400000));
	assert_string_equal(r.quotes[2].zone, "a");
	assert_int_equal(r.quotes[2].valid_from_ms, INT64_C(1794999600000));
	assert_int_equal(r.quotes[2].price_nano_h, INT64_C(5000000000));
	provider_result_fini(&r);
	parse(&r, &op, 200, PRICES(PRICE("a", "3", "yesterday")));
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	assert_int_equal(r.nquotes, 0);
	provider_result_fini(&r);
	op.u.quotes.since_ms = 0;
	parse(&r, &op, 200, PRICES(PRICE("a", "3", "yesterday"))); /* now, whenever it began */
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.quotes[0].valid_from_ms, 0);
	provider_result_fini(&r);
}

/* More than was asked for: looking for each among all before it would take minutes. */
static void test_a_page_of_prices_is_not_longer_than_ec2_allows(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_result r;

	(void)state;
	op.cursor = "p";
	for (int n = 1000; n <= 1001; n++) {
		struct str s;

		str_init(&s, 1 << 20);
		str_adds(&s, "<DescribeSpotPriceHistoryResponse><spotPriceHistorySet>");
		for (int i = 0; i < n; i++)
			str_addf(&s,
				 "<item><instanceType>t%d</instanceType><availabilityZone>z"
				 "</availabilityZone><spotPrice>1</spotPrice></item>",
				 i);
		str_adds(&s, "</spotPriceHistorySet></DescribeSpotPriceHistoryResponse>");
		parse(&r, &op, 200, s.p);
		assert_int_equal(r.code, n == 1000 ? PROVIDER_OK : PROVIDER_TRANSIENT);
		provider_result_fini(&r);
		str_fini(&s);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_types_come_before_prices_and_have_none),
		T(test_gpus_of_several_kinds_are_added_up),
		T(test_prices_of_the_past),
		T(test_a_type_has_efa_or_none_or_does_not_say),
		T(test_prices_are_in_dollars_per_hour),
		T(test_a_page_of_prices_is_not_longer_than_ec2_allows),
	};
#undef T

	return cmocka_run_group_tests_name("aws prices", tests, NULL, NULL);
}
