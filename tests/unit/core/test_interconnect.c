/* test_interconnect.c - the network that a machine is to have, as people write it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/interconnect.h"

static void test_a_kind_and_perhaps_how_many_ports_of_which_rate(void **state)
{
	static const struct {
		const char *text, *kind;
		uint32_t ports, gbits;
	} all[] = {
		{"none", "none", 0, 0},
		{"ib", "ib", 0, 0},
		{"roce:16x200", "roce", 16, 200},
		{"efa:32x100", "efa", 32, 100},
		{"gib", "gib", 0, 0},
		{"ib:64x3200", "ib", 64, 3200},
		{"ib:1x900", "ib", 1, 900},
		{"ib:9x1", "ib", 9, 1},
	};
	struct interconnect got;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(interconnect_parse(all[i].text, &got, NULL), 0);
		assert_string_equal(got.kind, all[i].kind);
		assert_int_equal(got.ports, all[i].ports);
		assert_int_equal(got.gbits, all[i].gbits);
	}
}

static void test_anything_else_is_refused_with_what_is_wanted(void **state)
{
	static const char *const all[] = {
		"",
		"infiniband",
		"IB",
		"ib:",
		"ib:8",
		"ib:8x",
		"ib:x400",
		"ib:0x400",
		"ib:8x0",
		"ib:65x1",
		"ib:1x3201",
		"ib:8x400 ",
		"none:1x1",
		"ib8x400",
		"ib:-8x4",
		"ib:08x400",
		"efax",
		"ib:99999999999999999999x1",
		"ib:4294967304x400",
		"ib:8x4294967696",
		"ib:8y400",
		"ib;8x400",
	};
	struct interconnect got;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct err e = {0};

		assert_int_equal(interconnect_parse(all[i], &got, &e), -1);
		assert_non_null(strstr(e.msg, "such as ib:8x400"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_kind_and_perhaps_how_many_ports_of_which_rate),
		cmocka_unit_test(test_anything_else_is_refused_with_what_is_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
