/* test_base64.c - RFC 4648's own vectors, and what more lenient readers let through. */
#include "base/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct row {
	enum base64_kind kind;
	const char *text, *want; /* NULL: refused */
};

static void check(const struct row *r)
{
	unsigned char out[64];
	size_t n;
	bool ok = base64_decode(r->kind, r->text, strlen(r->text), out, sizeof(out), &n);

	if (ok != (r->want != NULL))
		fail_msg("'%s' is %s", r->text, ok ? "taken" : "refused");
	if (ok) {
		assert_int_equal(n, strlen(r->want));
		assert_memory_equal(out, r->want, n);
	}
}

static void the_vectors_of_the_rfc(void **state)
{
	static const struct row rows[] = {
		{BASE64_PLAIN, "", ""},
		{BASE64_PLAIN, "Zg==", "f"},
		{BASE64_PLAIN, "Zm8=", "fo"},
		{BASE64_PLAIN, "Zm9v", "foo"},
		{BASE64_PLAIN, "Zm9vYg==", "foob"},
		{BASE64_PLAIN, "Zm9vYmE=", "fooba"},
		{BASE64_PLAIN, "Zm9vYmFy", "foobar"},
		{BASE64_PLAIN, "+/+/", "\xfb\xff\xbf"},
		{BASE64_URL, "-_-_", "\xfb\xff\xbf"},
		{BASE64_URL, "Zg", "f"},
		{BASE64_URL, "Zm8", "fo"},
		{BASE64_LINES, "Zm9v\r\nYm\tFy\n", "foobar"},
		{BASE64_LINES, "Zm9vYg=\n=\n", "foob"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i]);
}

static void a_second_spelling_is_refused(void **state)
{
	static const struct row rows[] = {
		{BASE64_PLAIN, "Zg", NULL},  /* no padding */
		{BASE64_PLAIN, "Zg=", NULL}, /* too little */
		{BASE64_PLAIN, "Zg===", NULL},
		{BASE64_PLAIN, "Zm9v====", NULL},
		{BASE64_PLAIN, "Zm9v=", NULL},
		{BASE64_PLAIN, "Zh==", NULL}, /* bits left over */
		{BASE64_PLAIN, "Zm9=", NULL},
		{BASE64_PLAIN, "Z", NULL},
		{BASE64_PLAIN, "=", NULL},
		{BASE64_PLAIN, "Zg==Zg==", NULL}, /* behind the end */
		{BASE64_PLAIN, "Zm9v\n", NULL},
		{BASE64_PLAIN, "Zm 9v", NULL},
		{BASE64_PLAIN, "-_-_", NULL},
		{BASE64_URL, "+/+/", NULL},
		{BASE64_URL, "Zg==", NULL},
		{BASE64_URL, "Zh", NULL},
		{BASE64_URL, "Z", NULL},
		{BASE64_LINES, "Zm9v\vYmFy", NULL},
		{BASE64_PLAIN, "Zm9\xc3", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i]);
	check(&(struct row){BASE64_PLAIN, "Zm9v", "foo"});
}

static void it_ends_where_the_place_ends_and_may_be_in_place(void **state)
{
	char text[] = "Zm9vYmFy";
	unsigned char out[6];
	size_t n;

	(void)state;
	assert_false(base64_decode(BASE64_PLAIN, text, 8, out, 5, &n));
	assert_true(base64_decode(BASE64_PLAIN, text, 8, out, 6, &n));
	assert_true(base64_decode(BASE64_PLAIN, text, 8, (unsigned char *)text, 6, &n));
	assert_memory_equal(text, "foobar", 6);
	assert_false(base64_decode(BASE64_PLAIN, "Zm9v\0Zg", 8, out, 6, &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors_of_the_rfc),
		cmocka_unit_test(a_second_spelling_is_refused),
		cmocka_unit_test(it_ends_where_the_place_ends_and_may_be_in_place),
	};

	return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
