/* test_lines.c - what a node is told is said whole, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cloud/cloud.h"
#include "keys/lines.h"

static struct lines *L;

static int setup(void **state)
{
	(void)state;
	L = lines_new(true);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	lines_free(L);
	return 0;
}

static void test_lines_for_a_shell(void **state)
{
	static const char *const two[] = {"a:1", "b:2", NULL}, *const none[] = {NULL};

	(void)state;
	lines_add(L, "node", "c1");
	lines_add(L, "empty", "");
	lines_add(L, "no", NULL);
	lines_add_number(L, "zero", 0);
	lines_add_number(L, "most", UINT64_MAX);
	lines_add_base64(L, "pem", "ab\n");
	lines_add_base64(L, "nothing", NULL);
	lines_add_list(L, "two", two, ",");
	lines_add_list(L, "none", none, ",");
	lines_end(L);
	assert_false(L->bad);
	assert_string_equal(L->p, "node=c1\nzero=0\nmost=18446744073709551615\npem=YWIK\n"
				  "two=a:1,b:2\nend=1\n");
}

/* What slurmd of a dynamic pool's node is told beside the configured options. */
static void test_options_of_slurmd(void **state)
{
	static const struct {
		bool dynamic;
		const char *gres, *options, *want;
	} rows[] = {
		{false, "gpu:h100:8", "", ""},
		{false, "gpu:h100:8", "-v", "slurmd_opts=-v\n"},
		{true, "", "", "slurmd_opts=-Z\n"},
		{true, "gpu:h100:8,nic:2", "", "slurmd_opts=-Z --conf Gres=gpu:h100:8,nic:2\n"},
		{true, "gpu:h100:8", "-v", "slurmd_opts=-Z --conf Gres=gpu:h100:8 -v\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct conf_pool p = {.dynamic = rows[i].dynamic,
					    .gres = (char *)(uintptr_t)rows[i].gres};
		const struct conf_nodes n = {.slurmd_options = (char *)(uintptr_t)rows[i].options};

		L->n = 0;
		L->p[0] = '\0';
		lines_add_slurmd(L, &p, &n);
		assert_string_equal(L->p, rows[i].want);
	}
	L->n = 0;
	lines_add_slurmd(L, NULL, &(struct conf_nodes){.slurmd_options = (char *)(uintptr_t) "-b"});
	assert_string_equal(L->p, "slurmd_opts=-b\n"); /* its pool is gone */
}

static void test_members_of_an_object(void **state)
{
	(void)state;
	L->text = false;
	lines_add(L, "node", "c1");
	lines_add_number(L, "n", 7);
	lines_end(L);
	assert_string_equal(L->p, "{\"v\":1,\"node\":\"c1\",\"n\":\"7\"}");
}

/* A shell reads it, or a reader of JSON that knows no escapes; node-init ends a machine at an odd
 * one. */
static void test_what_a_shell_acts_on_is_not_said(void **state)
{
	static const char *const odd[] = {"a\nb", "a\tb", "\x7f", "'",   "\"",      "$x",
					  "`x`",  "a\\b", "a;b",  "a|b", "a&b",     "<a",
					  ">a",   "\x01", "(a)",  "a%",  "a^",      "{a}",
					  "a*",   "a?",   "a!",   "#a",  "\xc3\xa9"};

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		L->bad = false;
		L->n = 0;
		lines_add(L, "k", odd[i]);
		assert_true(L->bad);
		assert_int_equal(L->n, 0);
	}
	L->bad = false;
	lines_add(L, "k", "aZ09 ._:/,@+=~[]-");
	assert_false(L->bad);
}

/* node-init's claim() ends a machine at these, which are good in other lines. */
static void test_a_word_that_a_node_does_not_take_is_left_out(void **state)
{
	static const char *const odd[] = {"a b", "a~b", "a[1]", "(a)", "$x", "a\nb"};

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		lines_add_word(L, "k", odd[i]);
	assert_false(L->bad);
	assert_int_equal(L->n, 0);
	lines_add_word(L, "k", "aZ09._:/,@+=-");
	assert_string_equal(L->p, "k=aZ09._:/,@+=-\n");
}

static void test_what_is_too_much_is_bad_and_within(void **state)
{
	char *long_one = mem_zalloc(LINES_MAX + 1);

	(void)state;
	memset(long_one, 'a', LINES_MAX);
	lines_add(L, "k", long_one);
	assert_true(L->bad);
	assert_true(L->n < LINES_MAX);
	L->bad = false;
	L->n = 0;
	lines_add_base64(L, "k", long_one);
	assert_true(L->bad);
	assert_true(L->n < LINES_MAX);
	L->bad = false;
	L->n = 0;
	long_one[LINES_MAX - 4] = '\0'; /* "k=", the end of the line, and of the text */
	lines_add(L, "k", long_one);
	assert_false(L->bad);
	assert_int_equal(L->n, LINES_MAX - 1);
	lines_add(L, "k", "a");
	assert_true(L->bad);
	free(long_one);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_lines_for_a_shell),
		T(test_options_of_slurmd),
		T(test_members_of_an_object),
		T(test_what_a_shell_acts_on_is_not_said),
		T(test_a_word_that_a_node_does_not_take_is_left_out),
		T(test_what_is_too_much_is_bad_and_within),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
