/* test_aws_address.c - which of an instance's addresses slurmctld is told. */
#include "tests/unit/providers/aws_lab.h"

#define PRIVATE "<privateIpAddress>10.0.0.5</privateIpAddress>"
#define PUBLIC  "<ipAddress>198.51.100.7</ipAddress>"
#define SIX     "<ipv6Address>2001:db8::5</ipv6Address>"
/* Each interface has addresses, too: none of these is the instance's. */
#define INTERFACES                                                                                 \
	"<networkInterfaceSet><item><privateIpAddress>10.9.9.9</privateIpAddress>"                 \
	"<ipv6AddressesSet><item><ipv6Address>2001:db8::9</ipv6Address></item></ipv6AddressesSet>" \
	"</item></networkInterfaceSet>"

static void listed(const char *which, const char *addresses, const char *want)
{
	struct provider_op op = {.kind = PROVIDER_LIST};
	struct provider_conf conf = usual();
	struct provider_result r;
	struct str s;

	own.address = which;
	reopen(&conf);
	op.u.list.cluster = UUID;
	op.cursor = "";
	str_init(&s, 4096);
	str_addf(&s,
		 XML "<DescribeInstancesResponse><reservationSet><item><instancesSet><item>"
		     "<instanceId>i-1</instanceId>%s</item></instancesSet></item></reservationSet>"
		     "</DescribeInstancesResponse>",
		 addresses);
	parse(&r, &op, 200, s.p);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 1);
	assert_string_equal(r.instances[0].addr, want);
	provider_result_fini(&r);
	str_fini(&s);
}

static void test_the_address_is_the_one_that_is_wanted(void **state)
{
	static const struct {
		const char *which, *addresses, *want;
	} rows[] = {
		{NULL, INTERFACES PUBLIC SIX PRIVATE, "10.0.0.5"},
		{"private", PRIVATE SIX PUBLIC, "10.0.0.5"},
		{"public", PRIVATE SIX PUBLIC INTERFACES, "198.51.100.7"},
		{"ipv6", PRIVATE SIX PUBLIC INTERFACES, "2001:db8::5"},
		/* A subnet with IPv6 alone. */
		{NULL, INTERFACES SIX, "2001:db8::5"},
		{"private", SIX, "2001:db8::5"},
		/* It comes later, and no other is taken for it meanwhile. */
		{"public", PRIVATE SIX, ""},
		{"ipv6", PRIVATE PUBLIC INTERFACES, ""},
		{NULL, PUBLIC, ""},
		{NULL, INTERFACES, ""},
		{NULL, "", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		listed(rows[i].which, rows[i].addresses, rows[i].want);
}

/* In the answer to a create likewise: slurmctld must not have another one for a moment. */
static void test_the_answer_to_a_create_has_it_too(void **state)
{
	struct provider_op op = create(1);
	struct provider_conf conf = usual();
	struct provider_result r;

	(void)state;
	own.address = "ipv6";
	reopen(&conf);
	parse(&r, &op, 200,
	      XML "<RunInstancesResponse><instancesSet><item><instanceId>i-1</instanceId>"
		  "<amiLaunchIndex>0</amiLaunchIndex>" PRIVATE SIX
		  "</item></instancesSet></RunInstancesResponse>");
	assert_int_equal(r.items[0].code, PROVIDER_OK);
	assert_string_equal(r.items[0].instance.addr, "2001:db8::5");
	provider_result_fini(&r);
}

static void test_another_word_is_an_error(void **state)
{
	struct provider_conf conf = usual();
	struct err e = {0};
	void *other;

	(void)state;
	own.address = "IPv4";
	assert_int_equal(provider_aws.open(&other, &conf, &e), -1);
	assert_string_equal(e.msg, "address: want private, public or ipv6");
	assert_null(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_address_is_the_one_that_is_wanted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_answer_to_a_create_has_it_too, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_another_word_is_an_error, setup, teardown),
	};

	return cmocka_run_group_tests_name("aws_address", tests, NULL, NULL);
}
