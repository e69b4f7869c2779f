/* test_names.c - who an instance is, in its name. */
#include "providers/common/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char cluster[] = "0b1c2d3e-4f50-4000-8000-000000000001";
static const struct provider_names any = {.upper = true, .also = "_."};
static const struct provider_names label = {.max = 63};

static void test_a_name_says_who_it_is(void **state)
{
	static const struct {
		const char *node, *name;
		uint64_t gen;
	} rows[] = {
		{"gpu-07", "b0b1c2d3e4f50-1-gpu-07", 1},
		{"gpu-07", "b0b1c2d3e4f50-z-gpu-07", 35},
		{"gpu-07", "b0b1c2d3e4f50-10-gpu-07", 36},
		{"a", "b0b1c2d3e4f50-1y2p0ij32e8e7-a", INT64_MAX},
		{"1", "b0b1c2d3e4f50-2s-1", 100},
	};
	struct provider_instance i;
	char name[NAMES_SIZE];

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		const struct provider_want want = {rows[k].node, rows[k].gen, 0};

		assert_int_equal(names_pack(name, &label, cluster, &want, NULL), 0);
		assert_string_equal(name, rows[k].name);
		assert_int_equal(names_unpack(&label, name, cluster, &i), NAMES_OURS);
		assert_string_equal(i.cluster, cluster);
		assert_string_equal(i.node, rows[k].node);
		assert_int_equal(i.gen, rows[k].gen);
	}
}

/* The same dice each time: a failure can be looked at again. */
static uint64_t roll(uint64_t *dice)
{
	*dice = *dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *dice >> 33;
}

static void make_node(char node[HOSTLIST_NAME_MAX + 1], uint64_t *dice)
{
	static const char chars[] = "abcxyz019ABZ-_.";
	size_t n = 1 + roll(dice) % HOSTLIST_NAME_MAX;

	for (size_t i = 0; i < n; i++)
		node[i] = chars[roll(dice) % (sizeof(chars) - 1)];
	node[0] = 'n';
	node[n - 1] = node[n - 1] == '-' ? '0' : node[n - 1];
	node[n] = '\0';
}

static void test_whatever_is_packed_is_read_back(void **state)
{
	uint64_t dice = 7;

	(void)state;
	for (int k = 0; k < 20000; k++) {
		uint64_t gen = (roll(&dice) << 32 | roll(&dice)) >> roll(&dice) % 60 & INT64_MAX;
		char node[HOSTLIST_NAME_MAX + 1], name[NAMES_SIZE];
		struct provider_instance i;
		struct provider_want want = {node, gen > 0 ? gen : 1, 0};

		make_node(node, &dice);
		assert_int_equal(names_pack(name, &any, cluster, &want, NULL), 0);
		assert_int_equal(names_unpack(&any, name, cluster, &i), NAMES_OURS);
		assert_string_equal(i.node, node);
		assert_int_equal(i.gen, want.gen);
	}
}

/* Nothing is cut and nothing is changed to make it fit. */
static void test_a_node_that_does_not_fit_is_refused(void **state)
{
	static const struct {
		struct provider_names form;
		const char *node, *words; /* NULL: it fits */
	} rows[] = {
		{{.max = 63}, "Gpu", "node Gpu: this provider allows only letters in lower case"},
		{{.max = 63, .upper = true}, "Gpu", NULL},
		{{.max = 63, .upper = true}, "g_1", "letters, digits and - in names"},
		{{.max = 63, .also = "_"}, "g_1", NULL},
		{{.max = 63, .also = "_"}, "g.1", "digits and -_ in names"},
		{{.max = 63, .also = "_."}, "g.1", NULL},
		{{0}, "g-", "node g-"},
		{{0}, "-g", "node -g"},
		{{0}, "", "node :"},
		{{0}, "g\xc3\xa9", "node g"},
		{{.max = 20}, "gpu1", NULL},
		{{.max = 19}, "gpu1", "at most 19 bytes, and this one needs 20"},
		{{.max = 1}, "g", "at most 1 bytes"},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		const struct provider_want want = {rows[k].node, 3, 0};
		char name[NAMES_SIZE] = "left";
		struct provider_instance i;
		struct err e = {0};

		assert_int_equal(names_pack(name, &rows[k].form, cluster, &want, &e),
				 rows[k].words == NULL ? 0 : -1);
		if (rows[k].words == NULL) {
			assert_int_equal(names_unpack(&rows[k].form, name, cluster, &i),
					 NAMES_OURS);
			continue;
		}
		assert_int_equal(e.code, ERR_INVALID);
		assert_non_null(strstr(e.msg, rows[k].words));
		assert_string_equal(name, "");
	}
}

static void test_the_longest_node_name_fits_where_there_is_no_limit(void **state)
{
	char node[HOSTLIST_NAME_MAX + 2] = {0}, name[NAMES_SIZE];
	const struct provider_want want = {node, INT64_MAX, 0};
	struct provider_instance i;

	(void)state;
	memset(node, 'n', HOSTLIST_NAME_MAX);
	assert_int_equal(names_pack(name, &any, cluster, &want, NULL), 0);
	assert_int_equal(names_unpack(&any, name, cluster, &i), NAMES_OURS);
	assert_string_equal(i.node, node);
	node[HOSTLIST_NAME_MAX] = 'n';
	assert_int_equal(names_pack(name, &any, cluster, &want, NULL), -1);
}

static void test_a_cluster_is_a_uuid_and_a_generation_is_a_number(void **state)
{
	static const struct {
		const char *cluster;
		uint64_t gen;
		int rc;
	} rows[] = {
		{cluster, 1, 0},
		{"0B1C2D3E4F50", 1, 0},
		{cluster, 0, -1},
		{cluster, UINT64_MAX, -1},
		{cluster, (uint64_t)INT64_MAX + 1, -1},
		{"", 1, -1},
		{"0b1c2d3e-4f5", 1, -1},
		{"0b1c2d3e-4f5g-4000", 1, -1},
		{"my cluster's name", 1, -1},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		const struct provider_want want = {"n1", rows[k].gen, 0};
		char name[NAMES_SIZE];
		struct err e = {0};

		assert_int_equal(names_pack(name, &any, rows[k].cluster, &want, &e), rows[k].rc);
		assert_string_equal(name, rows[k].rc == 0 ? "b0b1c2d3e4f50-1-n1" : "");
	}
}

#define OURS "b0b1c2d3e4f50"

/* A name that we would not have written so is never read as a node: it would be taken for it. */
static void test_names_of_others_and_names_that_were_changed(void **state)
{
	static const struct {
		const char *name;
		enum names_whose whose;
	} rows[] = {
		{OURS "-1-n1", NAMES_OURS},
		{OURS "-1-n1-1", NAMES_OURS}, /* a node may be called so */
		{"", NAMES_FOREIGN},
		{"b", NAMES_FOREIGN},
		{"My VM", NAMES_FOREIGN},
		{"b0b1c2d3e4f5", NAMES_FOREIGN},
		{"b0b1c2d3e4f51-1-n1", NAMES_FOREIGN},
		{"c0b1c2d3e4f50-1-n1", NAMES_FOREIGN},
		{"B0B1C2D3E4F50-1-n1", NAMES_FOREIGN},
		{" b0b1c2d3e4f50-1-n1", NAMES_FOREIGN},
		{"copy of " OURS "-1-n1", NAMES_FOREIGN},
		{OURS, NAMES_UNREADABLE},
		{OURS "-", NAMES_UNREADABLE},
		{OURS "-1", NAMES_UNREADABLE},
		{OURS "-1-", NAMES_UNREADABLE},
		{OURS "--n1", NAMES_UNREADABLE},
		{OURS "_1-n1", NAMES_UNREADABLE},
		{OURS "51-n1", NAMES_UNREADABLE},
		{OURS "-0-n1", NAMES_UNREADABLE},
		{OURS "-01-n1", NAMES_UNREADABLE},
		{OURS "-A-n1", NAMES_UNREADABLE},
		{OURS "-+1-n1", NAMES_UNREADABLE},
		{OURS "-1-N1", NAMES_UNREADABLE},
		{OURS "-1-n_1", NAMES_UNREADABLE},
		{OURS "-1-n1 ", NAMES_UNREADABLE},
		{OURS "-1-n1-", NAMES_UNREADABLE},
		{OURS "-1--n1", NAMES_UNREADABLE},
		{OURS "-1y2p0ij32e8e8-n1", NAMES_UNREADABLE}, /* 2^63 */
		{OURS "-zzzzzzzzzzzzz-n1", NAMES_UNREADABLE},
		{OURS "-1zzzzzzzzzzzzzzzz-n1", NAMES_UNREADABLE},
		{OURS "-1-n234567890123456789012345678901234567890123456789", NAMES_UNREADABLE},
	};
	struct provider_instance i;

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		memset(&i, 'x', sizeof(i));
		if (names_unpack(&label, rows[k].name, cluster, &i) != rows[k].whose)
			fail_msg("%s", rows[k].name);
		assert_string_equal(i.cluster, rows[k].whose == NAMES_FOREIGN ? "" : cluster);
		assert_true((i.node[0] != '\0') == (rows[k].whose == NAMES_OURS));
		assert_true((i.gen != 0) == (rows[k].whose == NAMES_OURS));
	}
	assert_int_equal(names_unpack(&label, OURS "-1-n1", "no uuid", &i), NAMES_FOREIGN);
	assert_int_equal(names_unpack(&label, OURS "-1-n1", "0b1c2d3e-4f51-", &i), NAMES_FOREIGN);
}

static void test_all_names_of_a_cluster_begin_alike(void **state)
{
	char out[NAMES_PREFIX_SIZE];

	(void)state;
	assert_int_equal(names_prefix(out, cluster), 0);
	assert_string_equal(out, OURS);
	assert_int_equal(names_prefix(out, "A9fF-0aBc-dE19"), 0);
	assert_string_equal(out, "ba9ff0abcde19");
	assert_int_equal(names_prefix(out, "0b1c"), -1);
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name_says_who_it_is),
		cmocka_unit_test(test_whatever_is_packed_is_read_back),
		cmocka_unit_test(test_a_node_that_does_not_fit_is_refused),
		cmocka_unit_test(test_the_longest_node_name_fits_where_there_is_no_limit),
		cmocka_unit_test(test_a_cluster_is_a_uuid_and_a_generation_is_a_number),
		cmocka_unit_test(test_names_of_others_and_names_that_were_changed),
		cmocka_unit_test(test_all_names_of_a_cluster_begin_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
