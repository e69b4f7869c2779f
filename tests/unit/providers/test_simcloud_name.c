/* test_simcloud_name.c - which node an instance is, by its name, and what a face keeps in the
 * cloud. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/simcloud/annex.h"
#include "providers/simcloud/name.h"

static void test_a_name_says_cluster_generation_and_node(void **state)
{
	struct name n;

	(void)state;
	assert_true(name_read(&n, "b0b1c2d3e0000-7-gpu-1"));
	assert_string_equal(n.cluster, "0b1c2d3e0000");
	assert_int_equal(n.gen, 7);
	assert_string_equal(n.node, "gpu-1");
	assert_true(name_read(&n, "b0b1c2d3e0000-1z-n"));
	assert_int_equal(n.gen, 71);
	assert_true(name_read(&n, "b0b1c2d3e0000-1y2p0ij32e8e7-n"));
	assert_int_equal(n.gen, INT64_MAX);
}

static void test_other_names_say_nothing(void **state)
{
	static const char *const rows[] = {
		"",
		"b",
		"web-1",
		"a0b1c2d3e0000-7-n",
		"b0b1c2d3e000-7-n",
		"b0b1c2d3e0000",
		"b0b1c2d3e00007-n",
		"b0B1C2D3E0000-7-n",
		"b0b1c2d3e0000--n",
		"b0b1c2d3e0000-7",
		"b0b1c2d3e0000-7-",
		"b0b1c2d3e0000-7A-n",
		"b0b1c2d3e0000-1y2p0ij32e8e8-n", /* more than there are */
		"b0b1c2d3e0000-7-n23456789012345678901234567890123456789012345678901234567890"
		"1234",
	};
	struct name n = {.node = "as it was"};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (name_read(&n, rows[i]))
			fail_msg("%s", rows[i]);
	assert_string_equal(n.node, "as it was");
}

static void test_each_owner_finds_what_is_its_own(void **state)
{
	struct annex *all = NULL;
	static const char one = 'a', two = 'b', other = 'c';
	char *a = malloc(1), *b = malloc(1);

	(void)state;
	assert_null(annex_get(all, &one));
	annex_put(&all, &one, a, free);
	annex_put(&all, &two, b, free);
	assert_ptr_equal(annex_get(all, &one), a);
	assert_ptr_equal(annex_get(all, &two), b);
	assert_null(annex_get(all, &other));
	annex_free(all);
	annex_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name_says_cluster_generation_and_node),
		cmocka_unit_test(test_other_names_say_nothing),
		cmocka_unit_test(test_each_owner_finds_what_is_its_own),
	};

	return cmocka_run_group_tests_name("simcloud_name", tests, NULL, NULL);
}
