/* test_simcloud_words.c - what simcloud's faces share to read the words of a vendor's API: types,
 * paths, and the keys of an account. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "providers/simcloud/gpu.h"
#include "providers/simcloud/path.h"
#include "providers/simcloud/sshkeys.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_a_type_says_how_many_gpus_of_which_kind(void **state)
{
	static const struct {
		const char *type;
		bool good;
		enum gpu_shape shape;
		unsigned count;
		const char *name;
	} table[] = {
		{"gpu_8x_h100", true, GPU_VM, 8, "h100"},
		{"gpu_16x_h100_sxm5", true, GPU_VM, 16, "h100_sxm5"},
		{"cluster_8x_h100", true, GPU_CLUSTER, 8, "h100"},
		{"bm_8x_a100", true, GPU_BARE_METAL, 8, "a100"},
		{"cpu_4x", false, GPU_VM, 0, NULL},
		{"gpu_8x_", false, GPU_VM, 0, NULL},
		{"gpu_8x", false, GPU_VM, 0, NULL},
		{"gpu_x_h100", false, GPU_VM, 0, NULL},
		{"gpu_-8x_h100", false, GPU_VM, 0, NULL},
		{"gpu_1000x_h100", false, GPU_VM, 0, NULL},
		{"gpu_8_h100", false, GPU_VM, 0, NULL},
		{"", false, GPU_VM, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct gpu_type got;

		if (gpu_type_read(&got, table[i].type) != table[i].good)
			fail_msg("%s", table[i].type);
		assert_int_equal(got.shape, table[i].shape);
		assert_int_equal(got.count, table[i].count);
		if (table[i].good)
			assert_string_equal(got.name, table[i].name);
		else
			assert_null(got.name);
	}
}

static void test_a_path_fits_a_pattern_with_one_word(void **state)
{
	static const struct {
		const char *pattern, *path;
		bool fits;
		const char *id;
	} table[] = {
		{"vms/list", "vms/list", true, ""},
		{"vms/list", "vms/list/", false, ""},
		{"vms/{id}", "vms/a1", true, "a1"},
		{"vms/{id}", "vms/", false, ""},
		{"vms/{id}", "vms/a1/status", false, ""},
		{"vms/{id}/status", "vms/a1/status", true, "a1"},
		{"vms/{id}/status", "vms/a1", false, ""},
		{"vms/{id}/status", "vms//status", false, ""},
		{"vms/{id}", "vm/a1", false, ""},
	};
	char id[PATH_ID_SIZE], path[2 * PATH_ID_SIZE];

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		if (path_fits(table[i].pattern, table[i].path, id) != table[i].fits)
			fail_msg("%s: %s", table[i].pattern, table[i].path);
		assert_string_equal(id, table[i].id);
	}
	memset(path, 'a', sizeof(path));
	memcpy(path, "vms/", 4);
	path[sizeof(path) - 1] = '\0';
	assert_true(path_fits("vms/{id}", path, id));
	assert_int_equal(strlen(id), PATH_ID_SIZE - 1);
}

static void test_keys_keep_their_ids(void **state)
{
	struct sshkeys keys = {0};
	char ids[3][SSHKEY_ID_SIZE];

	(void)state;
	for (size_t i = 0; i < COUNT(ids); i++) {
		const struct sshkey *k = sshkeys_add(&keys, "lab", "ssh-ed25519 A", 7);

		memcpy(ids[i], k->id, sizeof(ids[i]));
	}
	assert_true(sshkeys_drop(&keys, ids[1]));
	assert_false(sshkeys_drop(&keys, ids[1]));
	assert_null(sshkeys_find(&keys, ids[1]));
	assert_string_equal(sshkeys_find(&keys, ids[2])->text, "ssh-ed25519 A");
	assert_int_equal(sshkeys_find(&keys, ids[0])->created_ms, 7);
	assert_string_not_equal(sshkeys_add(&keys, "lab", "B", 8)->id, ids[2]);
	while (keys.n < SSHKEYS_MAX)
		assert_non_null(sshkeys_add(&keys, "lab", "C", 9));
	assert_null(sshkeys_add(&keys, "lab", "D", 10));
	sshkeys_fini(&keys);
	assert_int_equal(keys.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_type_says_how_many_gpus_of_which_kind),
		cmocka_unit_test(test_a_path_fits_a_pattern_with_one_word),
		cmocka_unit_test(test_keys_keep_their_ids),
	};

	return cmocka_run_group_tests_name("simcloud_words", tests, NULL, NULL);
}
