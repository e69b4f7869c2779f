/* test_version.c - what slurmctld may call itself, and what each release does differently. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "slurm/version.h"

static const struct {
	const char *text;
	uint32_t number; /* 0: refused */
	bool pre;
	enum slurm_support support;
} versions[] = {
	{"22.05.8", 220508, false, SLURM_TESTED},
	{"23.02.0-0rc1", 230200, true, SLURM_UNTESTED},
	{"23.11.0rc1", 231100, true, SLURM_UNTESTED},
	{"24.11.5", 241105, false, SLURM_TESTED},
	{"24.11.5-4", 241105, false, SLURM_TESTED},
	{"24.11.5-0.9+az~1", 241105, false, SLURM_TESTED},
	{"25.05.9-pre1", 250509, true, SLURM_UNTESTED},
	{"25.11.0-rc1", 251100, true, SLURM_UNTESTED},
	{"26.05.12", 260512, false, SLURM_TESTED},
	{"slurm 24.05.1", 240501, false, SLURM_TESTED},
	{"slurm-wlm 22.05.8", 220508, false, SLURM_TESTED},
	{"26.11.0", 261100, false, SLURM_UNTESTED},
	{"99.99.99", 999999, false, SLURM_UNTESTED},
	{"24.08.1", 240801, false, SLURM_UNTESTED}, /* there never was one */
	{"21.08.8", 210808, false, SLURM_TOO_OLD},
	{"2.6.0", 20600, false, SLURM_TOO_OLD},
	{"", 0, false, 0},
	{"22", 0, false, 0},
	{"22.05", 0, false, 0},
	{"22.05.", 0, false, 0},
	{"22..5", 0, false, 0},
	{"122.05.8", 0, false, 0},
	{"22.05.123", 0, false, 0},
	{"22.05.8 ", 0, false, 0},
	{"22.05.8\n", 0, false, 0},
	{"22.05.8;rm", 0, false, 0},
	{"v22.05.8", 0, false, 0},
	{"-2.05.8", 0, false, 0},
	{"slurm ", 0, false, 0},
	{"22.05.8-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, false, 0},
};

static void test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		const char *text = versions[i].text;
		struct slurm_version v = {0};
		struct err e = {0};

		print_message("# \"%s\"\n", text);
		if (versions[i].number == 0) {
			assert_int_equal(slurm_version_parse(&v, text, strlen(text), &e), -1);
			assert_non_null(strstr(e.msg, "is not a version of Slurm"));
			continue;
		}
		assert_int_equal(slurm_version_parse(&v, text, strlen(text), &e), 0);
		assert_int_equal(v.number, versions[i].number);
		assert_int_equal(v.pre, versions[i].pre);
		assert_string_equal(v.text,
				    strncmp(text, "slurm", 5) == 0 ? strchr(text, ' ') + 1 : text);
		assert_int_equal(slurm_version_support(&v), versions[i].support);
	}
	/* Not one byte further than told. */
	struct slurm_version v;

	assert_int_equal(slurm_version_parse(&v, "22.05.89", 7, NULL), 0);
	assert_int_equal(v.number, 220508);
}

/* For each trait the last release without it, the first with it, and the end. */
static const struct {
	enum slurm_trait trait;
	const char *without, *with, *after; /* NULL: none */
} turns[] = {
	{SLURM_ALWAYS, NULL, "22.05.0", NULL},
	{SLURM_HIDES_POWERED_DOWN, NULL, "22.05.11", "23.02.0"},
	{SLURM_ADDR_BY_OPTION, NULL, "23.02.8", "23.11.0-0rc1"},
	{SLURM_FORWARDS_BY_NAME, NULL, "23.02.8", "23.11.0"},
	{SLURM_CACHES_ADDR, NULL, "23.02.8", "23.11.0"},
	{SLURM_NO_ADDR_CACHE_IS_GONE, "24.05.8", "24.11.0", NULL},
	{SLURM_EXCLUDES_STATES, "22.05.11", "23.02.0", NULL},
	{SLURM_EXCLUDES_BY_UPDATE, "22.05.11", "23.02.0", NULL},
	{SLURM_RESUME_TIMEOUT_INFINITE, "24.11.7", "25.05.0", NULL},
	{SLURM_REQUEUE_ON_RESUME_FAILURE, "24.11.7", "25.05.0", NULL},
	{SLURM_REQUEUE_DELAY, "25.05.9", "25.11.0", NULL},
	{SLURM_MAX_TRES_GRES, "24.11.5", "25.05.0", NULL},
	{SLURM_FIFO_UNLESS_TOLD, NULL, "24.11.5", "25.05.0"},
	{SLURM_CGROUP_DISABLED, "23.11.11", "24.05.0", NULL},
	{SLURM_FULL_UNITS, NULL, "24.11.5", "25.05.0"},
	{SLURM_TOPOLOGY_YAML, "24.11.5", "25.05.0", NULL},
	{SLURM_KEEPS_LEAVES, "24.11.7", "25.05.0", NULL},
	{SLURM_KEEPS_BLOCKS, "25.05.9", "25.11.0", NULL},
	{SLURM_POWER_ACTIONS, "25.11.8", "26.05.0", NULL},
	{SLURM_HAS_EXCLUSIVE_COLUMN, "25.11.8", "26.05.0", NULL},
	{SLURM_BUG_STOP_WAITS, "24.11.7", "25.05.3", "25.05.4"},
	{SLURM_BUG_REQUEUE_LOST, NULL, "23.02.8", "23.11.0"},
	{SLURM_BUG_TOPOLOGY_LOST, "25.05.9", "25.11.2", "25.11.3"},
};

static bool has(const char *text, enum slurm_trait t)
{
	struct slurm_version v;

	assert_int_equal(slurm_version_parse(&v, text, strlen(text), NULL), 0);
	return slurm_version_has(&v, t);
}

static void test_traits(void **state)
{
	(void)state;
	assert_int_equal(sizeof(turns) / sizeof(turns[0]), SLURM_NTRAITS);
	for (size_t i = 0; i < SLURM_NTRAITS; i++) {
		print_message("# trait %zu\n", i);
		assert_int_equal(turns[i].trait, i);
		assert_true(has(turns[i].with, turns[i].trait));
		if (turns[i].without != NULL)
			assert_false(has(turns[i].without, turns[i].trait));
		if (turns[i].after != NULL)
			assert_false(has(turns[i].after, turns[i].trait));
		assert_true(strlen(slurm_trait_releases(turns[i].trait)) > 2);
	}
	assert_string_equal(slurm_trait_releases(SLURM_CACHES_ADDR), "up to 23.02");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_traits),
	};

	return cmocka_run_group_tests_name("slurm version", tests, NULL, NULL);
}
