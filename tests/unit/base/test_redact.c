/* test_redact.c - what looks like a secret, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/redact.h"

#define T20 "abcdefghij0123456789"
#define H63 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

static void test_what_is_cut(void **state)
{
	static const struct {
		const char *text, *want; /* NULL: nothing */
	} rows[] = {
		{"", NULL},
		{"node c1 is up", NULL},
		{"s." T20, "[redacted]"},
		{"hvs." T20 "_-x", "[redacted]"},
		{"hvb." T20, "[redacted]"},
		{"b." T20 "-" T20 "_" T20 "01", "[redacted]"},
		{"b." T20 "-" T20 "_" T20 "0", NULL},
		{"bad token \"s." T20 "ABCD\", said Vault", "bad token \"[redacted]\", said Vault"},
		{"a=s." T20 ",b=hvs." T20 ".", "a=[redacted],b=[redacted]."},
		{"X-Vault-Token:s." T20, "X-Vault-Token:[redacted]"},
		{"s.abcdefghij012345678", NULL}, /* too short */
		{"s.ab-" T20, NULL},
		{"k8s." T20, NULL}, /* a host's name */
		{"hvs.example.com", NULL},
		{H63, NULL},
		{H63 "f", "[redacted]"},
		{"secret:" H63 "F" H63 " ", "secret:[redacted] "},
		{"\"claim_secret\":\"" H63 "0\"", "\"claim_secret\":\"[redacted]\""},
		{"x" H63 "0", NULL},     /* longer than a word of hex */
		{"4711:" H63 "0", NULL}, /* where the audit log ends */
		{"\"x\":" H63 "0", "\"x\":[redacted]"},
		{":" H63 "0", ":[redacted]"},
		{H63 "0 s." T20, "[redacted] [redacted]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *got = redact(rows[i].text);

		if (rows[i].want == NULL && got != NULL)
			fail_msg("%s became %s", rows[i].text, got);
		if (rows[i].want != NULL && (got == NULL || strcmp(got, rows[i].want) != 0))
			fail_msg("%s became %s", rows[i].text, got != NULL ? got : "nothing");
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_cut)};

	return cmocka_run_group_tests_name("redact", tests, NULL, NULL);
}
