/* test_members.c - who the instances of one create are, by two lists that all of them carry. */
#include "providers/common/members.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct provider_want wants[] = {
	{"c1", 3, 0}, {"c2", 3, 0}, {"c3", 3, 0}, {"gpu-9", 12, 1}};
static const struct provider_create four = {.wants = wants, .nwants = 4};

static void read_lists(struct members *m, const char *names, const char *gens)
{
	struct str a, b;

	str_init(&a, MEMBERS_TEXT_MAX);
	str_init(&b, MEMBERS_TEXT_MAX);
	str_adds(&a, names);
	str_adds(&b, gens);
	members_read(m, &a, &b);
}

static void test_lists_say_who_each_is(void **state)
{
	struct provider_instance i = {.node = "old", .gen = 7};
	struct str names, gens;
	struct members m;

	(void)state;
	str_init(&names, 64);
	str_init(&gens, 64);
	members_write(&names, &gens, &four, 4);
	assert_string_equal(names.p, "c[1-3],gpu-9");
	assert_string_equal(gens.p, "3*3,12");
	members_init(&m);
	members_read(&m, &names, &gens);
	members_who(&m, "3", 0, &i);
	assert_string_equal(i.node, "gpu-9");
	assert_int_equal(i.gen, 12);
	members_who(&m, "3", 1, &i);
	assert_string_equal(i.node, "c3");
	assert_int_equal(i.gen, 3);
	members_fini(&m);
}

/* Nobody is better than somebody else. */
static void test_what_cannot_be_read_is_nobody(void **state)
{
	static const struct {
		const char *names, *gens, *number;
		uint64_t first;
	} rows[] = {
		{"c[1-3]", "3*3", "3", 0},
		{"c[1-3]", "3*3", "4", 1},
		{"c[1-3]", "3*3", "0", 1},
		{"c[1-3]", "3*3", "", 0},
		{"c[1-3]", "3*3", "01", 0},
		{"c[1-3]", "3*3", "1x", 0},
		{"c[1-3]", "3*3", "-1", 0},
		{"c[1-3]", "3*2", "0", 0},
		{"c[1-3]", "3*4", "0", 0},
		{"c[1-3]", "3*0,1", "0", 0},
		{"c[1-3]", "3*3,", "0", 0},
		{"c[1-3]", "", "0", 0},
		{"", "3", "0", 0},
		{"c[1-", "3*3", "0", 0},
		{"c1,c2", "1,x", "0", 0},
		{"c1", "99999999999999999999", "0", 0},
		{"c[1-1001]", "3*1001", "0", 0}, /* it would take milliseconds for each row */
	};

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct provider_instance i = {.node = "old", .gen = 7};
		struct members m;

		members_init(&m);
		read_lists(&m, rows[k].names, rows[k].gens);
		members_who(&m, rows[k].number, rows[k].first, &i);
		if (i.node[0] != '\0' || i.gen != 0)
			fail_msg("row %zu: %s %llu", k, i.node, (unsigned long long)i.gen);
		members_fini(&m);
	}
}

static void test_each_create_has_its_own_lists(void **state)
{
	struct provider_instance i = {0};
	struct members m;

	(void)state;
	members_init(&m);
	read_lists(&m, "c1,c2", "1,2");
	read_lists(&m, "c1,c2", "1,2");
	members_who(&m, "1", 0, &i);
	assert_int_equal(i.gen, 2);
	read_lists(&m, "c1,c2", "1,3");
	members_who(&m, "1", 0, &i);
	assert_int_equal(i.gen, 3);
	read_lists(&m, "", "");
	members_who(&m, "1", 0, &i);
	assert_string_equal(i.node, "");
	members_fini(&m);
}

static void test_as_many_go_together_as_the_lists_hold(void **state)
{
	(void)state;
	assert_int_equal(members_fit(&four, 4, 12), 4);
	assert_int_equal(members_fit(&four, 9, 12), 4);
	assert_int_equal(members_fit(&four, 4, 11), 3);
	assert_int_equal(members_fit(&four, 2, 11), 2);
	assert_int_equal(members_fit(&four, 4, 1), 1);
	assert_int_equal(members_fit(&four, 1, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_say_who_each_is),
		cmocka_unit_test(test_what_cannot_be_read_is_nobody),
		cmocka_unit_test(test_each_create_has_its_own_lists),
		cmocka_unit_test(test_as_many_go_together_as_the_lists_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
