/* test_console.c - what is kept of a machine's console log: its last lines, safe for a terminal,
 * and without secrets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/plain.h"
#include "core/console.h"
#include "core/provider.h"

#define B31 "Abcdefghij0123456789ABCDEFGHIJk"
#define H39 "0123456789abcdef0123456789abcdef0123456"

static void test_lines(void **state)
{
	static const struct {
		const char *log, *want;
	} rows[] = {
		{"", NULL},
		{"\n\r\n\033[0m", NULL},
		{"Kernel panic", "Kernel panic\n"},
		{"a\r\nb\r\n\n\nc\n", "a\nb\nc\n"},
		{"10%\r20%\r100%\n", "10%\n20%\n100%\n"},
		{"\ta\tb", " a b\n"},
		{"\033[0;32m[  OK  ]\033[0m up\n", "[  OK  ] up\n"},
		{"\033]0;title\aa\033]2;x\033\\b\033c\033[2J\033[?25h", "ab\n"},
		{"a\033", "a\n"},
		{"a\033[1;2", "a\n"},
		{"a\033]never\nended", "a\nended\n"},
		{"a\001\b\177b", "ab\n"},
		{"gr\303\274n \342\200\256x \302\233 \377", "gr\303\274n ???x ?? ?\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *got = console_show(rows[i].log);

		if (rows[i].want == NULL)
			assert_null(got);
		else
			assert_string_equal(got, rows[i].want);
		free(got);
	}
}

static void test_secrets(void **state)
{
	static const struct {
		const char *log, *want;
	} rows[] = {
		{B31, B31 "\n"},
		{B31 "l", "[redacted]\n"},
		{"key: " B31 "/+_-= end", "key: [redacted] end\n"},
		{"abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnopqrstuvwxyz0123456789\n"},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\n"},
		{"abcdefghijklmnOPQRSTUVWXYZabcdefghij", "abcdefghijklmnOPQRSTUVWXYZabcdefghij\n"},
		{H39, H39 "\n"},
		{H39 "a", "[redacted]\n"},
		{"got hvs.abcdefghij0123456789 of it", "got [redacted] of it\n"},
		{"hv\033[0ms.abcdefghij0123456789", "[redacted]\n"}, /* hidden by a sequence */
		{"password=x y z\nnext", "password=[redacted]\nnext\n"},
		{"+ VAULT_TOKEN=a", "+ VAULT_TOKEN=[redacted]\n"},
		{"\"Secret\" : \"a\"", "\"Secret\" : [redacted]\n"},
		{"X-Vault-Token:  a", "X-Vault-Token:  [redacted]\n"},
		{"Authorization: Bearer a", "Authorization: [redacted]\n"},
		{"aws_secret_access_key = a", "aws_secret_access_key = [redacted]\n"},
		{"password:", "password:\n"},
		{B31 "l_token=a", "[redacted]token=[redacted]\n"},
		{"Started Forward Password Requests to Wall: ok",
		 "Started Forward Password Requests to Wall: ok\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *got = console_show(rows[i].log);

		assert_non_null(got);
		assert_string_equal(got, rows[i].want);
		free(got);
	}
}

static void test_only_the_last_whole_lines_are_kept(void **state)
{
	char *log = mem_zalloc(10000), *got;

	(void)state;
	for (size_t i = 0; i < 900; i++)
		memcpy(log + 10 * i, "line 1234\n", 11);
	got = console_show(log);
	assert_int_equal(strlen(got), CONSOLE_SHOWN_MAX - CONSOLE_SHOWN_MAX % 10);
	assert_int_equal(strncmp(got, "line 1234\n", 10), 0);
	free(got);
	log[4096] = '\0'; /* just as many as fit */
	log[4095] = '\n';
	got = console_show(log);
	assert_int_equal(strlen(got), CONSOLE_SHOWN_MAX);
	free(got);
	free(log);
}

static void test_a_line_that_is_too_long_is_cut_at_a_character(void **state)
{
	char *log = mem_zalloc(6001), *got;

	(void)state;
	for (size_t i = 0; i < 6000; i += 2)
		memcpy(log + i, "\303\274", 2);
	got = console_show(log);
	assert_int_equal(strlen(got), CONSOLE_SHOWN_MAX - 1);
	got[strlen(got) - 1] = '\0';
	assert_true(plain_is(got));
	free(got);
	free(log);
}

/* The part of a secret that is left would not look like one. */
static void test_a_log_that_was_cut_loses_its_first_line(void **state)
{
	char *log = mem_zalloc(PROVIDER_CONSOLE_MAX + 2), *end, *got;

	(void)state;
	memset(log, '\001', PROVIDER_CONSOLE_MAX + 1); /* of which nothing is left */
	memcpy(log, "token=half\n", 11);
	memcpy(log + PROVIDER_CONSOLE_MAX - 8, "\nthe end\n", 10);
	end = console_end(log, PROVIDER_CONSOLE_MAX + 1);
	assert_int_equal(strlen(end), PROVIDER_CONSOLE_MAX);
	got = console_show(end);
	assert_string_equal(got, "the end\n");
	free(got);
	free(end);
	free(log);
}

static void test_whatever_a_machine_writes_is_safe_to_show(void **state)
{
	static const char *const bits[] = {
		"\033[", "\033]", "\r\n", "token=", "\303", "\342\200\256",
		B31 "l", "m",     "\n",   "\001",   ": ",   "hvs."};
	uint32_t dice = 7;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		char log[6000] = "", *got;
		size_t n = 0;

		while (n < sizeof(log) - 64) {
			const char *bit;

			dice = dice * 1664525U + 1013904223U;
			bit = bits[(dice >> 8) % (sizeof(bits) / sizeof(bits[0]))];
			memcpy(log + n, bit, strlen(bit) + 1);
			n += strlen(bit);
			if ((dice >> 20) % 4000 == 0)
				break;
		}
		got = console_show(log);
		if (got == NULL)
			continue;
		n = strlen(got);
		assert_true(n > 0 && n <= CONSOLE_SHOWN_MAX && got[n - 1] == '\n');
		assert_null(strstr(got, "\n\n"));
		for (char *p = got; *p != '\0'; p++)
			*p = *p == '\n' ? ' ' : *p;
		assert_true(plain_is(got));
		assert_null(strstr(got, B31 "l"));
		free(got);
	}
}

static void test_the_end_of_a_log(void **state)
{
	char *end;

	(void)state;
	assert_null(console_end("", 0));
	end = console_end("a\0b", 3);
	assert_string_equal(end, "a?b");
	free(end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_secrets),
		cmocka_unit_test(test_only_the_last_whole_lines_are_kept),
		cmocka_unit_test(test_a_line_that_is_too_long_is_cut_at_a_character),
		cmocka_unit_test(test_a_log_that_was_cut_loses_its_first_line),
		cmocka_unit_test(test_whatever_a_machine_writes_is_safe_to_show),
		cmocka_unit_test(test_the_end_of_a_log),
	};

	return cmocka_run_group_tests_name("console", tests, NULL, NULL);
}
