/* test_pem.c - one row per rule in pem.h. */
#include "base/pem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK(body) "-----BEGIN X-----\n" body "\n-----END X-----\n"

static int next(const char **text, size_t *len, unsigned char *out, size_t size, size_t *n)
{
	return pem_next(text, len, "X", out, size, n);
}

static void blocks_are_read_one_after_the_other(void **state)
{
	const char *text = "# what it is\n" BLOCK("Zm9v") "between\n" BLOCK("Ym\nFy") "behind";
	size_t len = strlen(text), n;
	unsigned char out[3];

	(void)state;
	assert_int_equal(next(&text, &len, out, sizeof(out), &n), 1);
	assert_int_equal(n, 3);
	assert_memory_equal(out, "foo", 3);
	assert_int_equal(next(&text, &len, out, sizeof(out), &n), 1);
	assert_memory_equal(out, "bar", 3);
	assert_string_equal(text, "\nbehind");
	assert_int_equal(len, strlen(text));
	assert_int_equal(next(&text, &len, out, sizeof(out), &n), 0);
}

static void what_is_no_such_block_is_refused(void **state)
{
	static const char *const texts[] = {
		"-----BEGIN Y-----\nZm9v\n-----END Y-----\n",
		"-----BEGIN X-----\nZm9v\n-----END Y-----\n",
		"-----BEGIN X-----\nZm9v\n",
		"-----BEGIN X",
		"-----BEGIN ",
		BLOCK(""),
		BLOCK("Zm9vZm9v"), /* does not fit */
		BLOCK("Zm9"),
		BLOCK("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nZm9v"),
		"-----BEGIN Y-----\n" BLOCK("Zm9v"),
		"-----BEGIN X-----\n" BLOCK("Zm9v"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *text = texts[i];
		size_t len = strlen(text), n;
		unsigned char out[5];

		if (next(&text, &len, out, sizeof(out), &n) != -1)
			fail_msg("taken: %s", texts[i]);
		assert_ptr_equal(text, texts[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_read_one_after_the_other),
		cmocka_unit_test(what_is_no_such_block_is_refused),
	};

	return cmocka_run_group_tests_name("pem", tests, NULL, NULL);
}
