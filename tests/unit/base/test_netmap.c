/* test_netmap.c - addresses as another network knows them. */
#include "base/netmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_an_address_is_translated(void **state)
{
	static const char two[] = "10.20.0.0/16=198.18.0.0/16, 10.0.0.0/8=100.0.0.0/8";
	static const struct {
		const char *map, *addr, *want;
	} rows[] = {
		{two, "10.20.3.4", "198.18.3.4"},
		{two, "10.21.3.4", "100.21.3.4"}, /* the first that has it */
		{two, "11.20.3.4", "11.20.3.4"},
		{two, "198.18.3.4", "198.18.3.4"},
		{"10.20.3.4/32=192.0.2.1/32", "10.20.3.4", "192.0.2.1"},
		{"10.20.3.4/32=192.0.2.1/32", "10.20.3.5", "10.20.3.5"},
		{"10.99.0.128/25=198.18.0.0/25", "10.99.0.200", "198.18.0.72"},
		{"10.99.0.128/25=198.18.0.0/25", "10.99.0.100", "10.99.0.100"},
		{"128.0.0.0/1=0.0.0.0/1", "255.0.0.1", "127.0.0.1"},
		{"", "10.20.3.4", "10.20.3.4"},
		{two, "fd00::a14:304", "fd00::a14:304"},
		{two, "node-10.20.3.4", "node-10.20.3.4"},
		{two, "10.20.3.4 ", "10.20.3.4 "},
		{two, "", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char addr[64];

		(void)snprintf(addr, sizeof(addr), "%s", rows[i].addr);
		netmap_translate(rows[i].map, addr, sizeof(addr));
		assert_string_equal(addr, rows[i].want);
	}
}

static void test_what_does_not_fit_stays(void **state)
{
	char addr[12] = "10.20.0.4";

	(void)state;
	netmap_translate("10.20.0.0/16=198.118.0.0/16", addr, 11);
	assert_string_equal(addr, "10.20.0.4");
	netmap_translate("10.20.0.0/16=198.118.0.0/16", addr, 12);
	assert_string_equal(addr, "198.118.0.4");
}

static void test_what_is_no_map(void **state)
{
	static const char *const good[] = {"", " ", "10.0.0.0/8=11.0.0.0/8",
					   "10.0.0.0/8=11.0.0.0/8,12.0.0.0/8=13.0.0.0/8"};
	static const char *const bad[] = {"10.0.0.0/8",
					  "10.0.0.0/8=",
					  "=10.0.0.0/8",
					  "10.0.0.0=11.0.0.0",
					  "10.0.0.0/8=11.0.0.0/16",
					  "10.0.0.1/8=11.0.0.0/8",
					  "10.0.0.0/8=11.0.0.1/8",
					  "10.0.0.0/0=11.0.0.0/0",
					  "10.0.0.0/33=11.0.0.0/33",
					  "10.0.0.0/8x=11.0.0.0/8",
					  "10.0.0.0/+8=11.0.0.0/8",
					  "10.0.0/8=11.0.0.0/8",
					  "fd00::/8=fd01::/8",
					  "10.0.0.0/8=11.0.0.0/8=12.0.0.0/8",
					  "10.0.0.0/8=11.0.0.0/8,x"};
	struct err e = {0};
	char many[800] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(netmap_check(good[i], &e), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		print_message("# %s\n", bad[i]);
		assert_int_equal(netmap_check(bad[i], &e), -1);
		assert_int_equal(e.code, ERR_INVALID);
	}
	for (int i = 0; i < NETMAP_MAX; i++)
		(void)snprintf(many + strlen(many), sizeof(many) - strlen(many),
			       "10.%d.0.0/16=11.%d.0.0/16,", i, i);
	assert_int_equal(netmap_check(many, &e), 0);
	(void)snprintf(many + strlen(many), sizeof(many) - strlen(many), "12.0.0.0/8=13.0.0.0/8");
	assert_int_equal(netmap_check(many, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_address_is_translated),
		cmocka_unit_test(test_what_does_not_fit_stays),
		cmocka_unit_test(test_what_is_no_map),
	};

	return cmocka_run_group_tests_name("netmap", tests, NULL, NULL);
}
