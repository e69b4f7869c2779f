/* ipaddr.c: one address in its spellings, and what only looks alike. */
#include "base/ipaddr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct row {
	const char *a, *b;
};

static void same_address(void **state)
{
	static const struct row rows[] = {
		{"10.77.0.1", "10.77.0.1"},
		{"2001:db8::1", "2001:DB8::1"},
		{"2001:db8::1", "2001:0db8:0000:0000:0000:0000:0000:0001"},
		{"2001:db8::1", "2001:db8:0:0::1"},
		{"2001:db8:0:0:1::1", "2001:db8::1:0:0:1"},
		{"::1", "0:0:0:0:0:0:0:1"},
		{"::", "0::0"},
		{"fe80::", "fe80:0:0:0:0:0:0:0"},
		{"::ffff:10.77.0.1", "10.77.0.1"},
		{"::ffff:a4d:1", "10.77.0.1"},
		{"64:ff9b::192.0.2.1", "64:ff9b::c000:201"},
		{"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
		{"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
		{"gpu-1.example.org", "gpu-1.example.org"},
		{"", ""},
		{"1:2:3", "1:2:3"}, /* no address, but the same text */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(ipaddr_same(rows[i].a, rows[i].b));
		assert_true(ipaddr_same(rows[i].b, rows[i].a));
	}
}

static void is_an_address(void **state)
{
	static const char *const are[] = {"10.77.0.1", "::", "2001:DB8::1", "::ffff:10.77.0.1",
					  "1:2:3:4:5:6:7:8"};
	static const char *const are_not[] = {
		"",      "gpu-1",        "10.77.0.256", "10.77.0.1:22", "[::1]:22",
		"[::1]", "fe80::1%eth0", "1:2:3",       "10.77.0.1 ",   "10.77.0.1:22:22"};

	(void)state;
	for (size_t i = 0; i < sizeof(are) / sizeof(are[0]); i++)
		assert_true(ipaddr_is(are[i]));
	for (size_t i = 0; i < sizeof(are_not) / sizeof(are_not[0]); i++)
		assert_false(ipaddr_is(are_not[i]));
}

static void another_address(void **state)
{
	static const struct row rows[] = {
		{"10.77.0.1", "10.77.0.2"},
		{"10.77.0.1", ""},
		{"10.77.0.1", "::10.77.0.1"},
		{"10.77.0.256", "10.77.1.0"},
		{"10.77.1", "10.77.0.1"},
		{"10.77.0.1.", "10.77.0.1"},
		{"2001:db8::1", "2001:db8::2"},
		{"2001:db8::1", "2001:db8:1::"},
		{"::1", ":::1"},
		{"::1", "0:0:0:0:0:0:0:0:1"},
		{"::1", "1::0::"},
		{"::1", "00000::1"},
		{"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:"},
		{"1:2:3:4:5:6:7:8", "1:2:3:4::5:6:7:8"},
		{"1::", "1:"},
		{"1.2.3.4::5", "102:304::5"},
		{"::ffff:10.77.0.1:0", "10.77.0.1"},
		{"gpu-1", "GPU-1"},
		{"fe80::1%eth0", "fe80::1"},
		{"0000000000000000000000000000000000000000000000::1", "::1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_false(ipaddr_same(rows[i].a, rows[i].b));
		assert_false(ipaddr_same(rows[i].b, rows[i].a));
	}
}

static void this_machine(void **state)
{
	static const char *const yes[] = {
		"127.0.0.1",     "127.0.0.1:80",   "127.1.2.3/x", "127.255.255.255:1/", "localhost",
		"localhost:443", "localhost/a:b/", "[::1]",       "[::1]:8200",         "[::1]/x"};
	static const char *const no[] = {
		"",
		"127.",
		"127.0.0",
		"127.0.0.1.",
		"127.0.0.256",
		"127.example.com",
		"127.0.0.1.example.com",
		"127.0.0.1@example.com",
		"127.0.0.1?",
		"128.0.0.1",
		"10.127.0.1",
		"localhost.example.com",
		"localhosts",
		"example.com/127.0.0.1",
		"[::1",
		"[::1].example.com",
		"[::2]",
		"::1",
		"[::11]",
		"a-name-that-is-longer-than-any-address-can-be.example.com"};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!ipaddr_host_is_loopback(yes[i]))
			fail_msg("%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (ipaddr_host_is_loopback(no[i]))
			fail_msg("%s", no[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_address),
		cmocka_unit_test(is_an_address),
		cmocka_unit_test(another_address),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
