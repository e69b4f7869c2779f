/* test_secret_store.c - the bundle: what may be handed to nodes as the cluster's keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/secret_store.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
/* 32 bytes that nobody else has. */
#define GOOD "kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE="

static void base64(char *out, const unsigned char *p, size_t n)
{
	static const char a[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		unsigned v = (unsigned)p[i] << 16 | (i + 1 < n ? (unsigned)p[i + 1] << 8 : 0) |
			     (i + 2 < n ? p[i + 2] : 0);

		*out++ = a[v >> 18];
		*out++ = a[v >> 12 & 63];
		*out++ = i + 1 < n ? a[v >> 6 & 63] : '=';
		*out++ = i + 2 < n ? a[v & 63] : '=';
	}
	*out = '\0';
}

static void fill(unsigned char *key, size_t n)
{
	uint32_t x = 1;

	for (size_t i = 0; i < n; i++) {
		x = x * 1664525 + 1013904223;
		key[i] = (unsigned char)(x >> 24);
	}
}

static int read_key(const unsigned char *key, size_t n, struct err *e)
{
	static char text[8192], all[9000];

	base64(text, key, n);
	(void)snprintf(all, sizeof(all), "{\"munge_key\":\"%s\"}", text);
	return secret_bundle_read(all, strlen(all), NULL, e);
}

static void test_a_good_bundle_is_read(void **state)
{
	static const char text[] = "{\"munge_key\":\"" GOOD "\",\"slurm_key\":\"" GOOD
				   "\",\"slurm_jwks\":\"eyJrZXlzIjpbXX0=\",\"kid\":\"2026-11\","
				   "\"created\":\"2026-11-01\",\"more\":{\"a\":[1]}}";
	struct secret_bundle b;
	struct err e = {0};

	(void)state;
	if (secret_bundle_read(text, strlen(text), &b, &e) != 0)
		fail_msg("%s", e.msg);
	assert_int_equal(b.munge_key.n, strlen(GOOD));
	assert_memory_equal(b.munge_key.p, GOOD, strlen(GOOD));
	assert_int_equal(b.slurm_jwks.n, 16);
	assert_string_equal(b.kid, "2026-11");
}

static void test_a_key_has_32_to_1024_bytes(void **state)
{
	unsigned char key[2000];
	struct err e = {0};

	(void)state;
	fill(key, sizeof(key));
	assert_int_equal(read_key(key, 31, &e), -1);
	assert_non_null(strstr(e.msg, "31 bytes"));
	assert_int_equal(read_key(key, 32, &e), 0);
	assert_int_equal(read_key(key, 33, &e), 0);
	assert_int_equal(read_key(key, 34, &e), 0);
	assert_int_equal(read_key(key, 1024, &e), 0);
	assert_int_equal(read_key(key, 1025, &e), -1);
}

static void test_a_key_that_the_world_knows_is_refused(void **state)
{
	static const char *const known[] = {
		"welcometoslurmamazonuserwelcometoslurmamazonuserwelcometoslurmamazonuser",
		"0000000000000000000000000000000000000000",
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
		"0101010101001010101101010101010101010110",
		"XYwelcometoslurmandthensomethingelse42",
	};
	unsigned char zero[64] = {0};
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(known); i++)
		if (read_key((const unsigned char *)known[i], strlen(known[i]), &e) != -1)
			fail_msg("%s", known[i]);
	assert_non_null(strstr(e.msg, "sample"));
	assert_int_equal(read_key(zero, sizeof(zero), &e), -1);
}

static void test_a_bad_bundle_is_refused_and_never_quoted(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{",
		"{}",
		"{\"kid\":\"x\"}",
		"{\"munge_key\":\"" GOOD "\"",
		"{\"munge_key\":\"" GOOD "\"} x",
		"{\"munge_key\":\"" GOOD "\",\"munge_key\":\"" GOOD "\"}",
		"{\"munge_key\":7}",
		"{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE\"}",
		"{\"munge_key\":\"=Z3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}",
		"{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtR=E=\"}",
		"{\"munge_key\":\"kZ3 Vh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}",
		"{\"munge_key\":\"kZ3q Vh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}",
		"{\"munge_key\":\"kZ3\\u0071Vh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}",
		"{\"slurm_jwks\":\"bm90IGpzb24=\"}",
		"{\"munge_key\":\"" GOOD "\",\"slurm_jwks\":\"W10=\"}",
		"{\"munge_key\":\"" GOOD "\",\"munge_key_next\":\"kZ3qVh0v\"}",
		"{\"munge_key\":\"" GOOD "\",\"kid\":"
		"\"0123456789012345678901234567890123456789012345678901234567890123\"}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct secret_bundle b = {.kid = "x"};
		struct err e = {0};

		if (secret_bundle_read(bad[i], strlen(bad[i]), &b, &e) != -1)
			fail_msg("row %zu was taken", i);
		assert_null(strstr(e.msg, "Vh0v8"));
		assert_int_equal(b.munge_key.n, 0);
		assert_string_equal(b.kid, "");
	}
}

/* Every member is checked, whatever else is there. */
static void test_a_refusal_says_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"[]", "the bundle is not a JSON object"},
		{"{\"munge_key\":\"" GOOD "\"} x", "the bundle is malformed JSON"},
		{"{\"kid\":\"x\"}", "the bundle has neither munge_key, slurm_key nor slurm_jwks"},
		{"{\"munge_key_next\":\"" GOOD "\"}",
		 "the bundle has neither munge_key, slurm_key nor slurm_jwks"},
		{"{\"munge_key\":7}", "munge_key is not a plain string, or occurs twice"},
		{"{\"kid\":\"a\",\"kid\":\"a\"}", "kid is not a plain string, or occurs twice"},
		{"{\"munge_key\":\"" GOOD "\",\"kid\":\"\\u0071\"}",
		 "kid is not a plain string, or occurs twice"},
		{"{\"munge_key\":\"A\"}", "munge_key is not base64"},
		{"{\"munge_key\":\"kZ3q\"}", "munge_key has 3 bytes: want 32 to 1024"},
		{"{\"munge_key\":\"" GOOD "\",\"munge_key_next\":\"kZ3q\"}",
		 "munge_key_next has 3 bytes: want 32 to 1024"},
		{"{\"munge_key\":\"" GOOD "\",\"slurm_key\":\"kZ3q\"}",
		 "slurm_key has 3 bytes: want 32 to 1024"},
		{"{\"slurm_key\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
		 "slurm_key is a sample or a pattern: make a key with \"mungekey\" or from random "
		 "bytes"},
		/* not json, [], {} x, x, and no base64 */
		{"{\"slurm_jwks\":\"bm90IGpzb24=\"}",
		 "slurm_jwks is not the base64 of a JSON object"},
		{"{\"slurm_jwks\":\"W10=\"}", "slurm_jwks is not the base64 of a JSON object"},
		{"{\"slurm_jwks\":\"e30geA==\"}", "slurm_jwks is not the base64 of a JSON object"},
		{"{\"slurm_jwks\":\"eA==\"}", "slurm_jwks is not the base64 of a JSON object"},
		{"{\"slurm_jwks\":\"A\"}", "slurm_jwks is not the base64 of a JSON object"},
		{"{\"munge_key\":\"" GOOD "\",\"kid\":"
		 "\"0123456789012345678901234567890123456789012345678901234567890123\"}",
		 "kid has more than 63 bytes"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};

		assert_int_equal(secret_bundle_read(rows[i].text, strlen(rows[i].text), NULL, &e),
				 -1);
		assert_int_equal(e.code, ERR_INVALID);
		assert_string_equal(e.msg, rows[i].why);
	}
}

static void test_one_key_of_any_kind_is_enough(void **state)
{
	static const char *const texts[] = {
		"{\"munge_key\":\"" GOOD "\"}",
		"{\"slurm_key\":\"" GOOD "\"}",
		"{\"slurm_jwks\":\"e30=\"}",
		"{\"munge_key\":\"" GOOD "\",\"slurm_key\":\"" GOOD "\"}",
		"{\"munge_key\":\"" GOOD
		"\",\"slurm_jwks\":\"e30gICAgICAgICAgICAgICAgICAgICAgICAgICAgIA==\"}",
		"{\"munge_key\":null,\"slurm_key\":\"" GOOD "\",\"slurm_jwks\":null}",
		"{\"munge_key\":\"" GOOD "\",\"munge_key_next\":\"" GOOD "\",\"kid\":"
		"\"012345678901234567890123456789012345678901234567890123456789012\"}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct err e = {0};

		if (secret_bundle_read(texts[i], strlen(texts[i]), NULL, &e) != 0)
			fail_msg("%s: %s", texts[i], e.msg);
	}
}

static void test_the_keys_name_may_be_one_letter(void **state)
{
	static const char text[] = "{\"munge_key\":\"" GOOD "\",\"kid\":\"7\"}";
	struct secret_bundle b;

	(void)state;
	assert_int_equal(secret_bundle_read(text, strlen(text), &b, NULL), 0);
	assert_string_equal(b.kid, "7");
}

/* Eight kinds of bytes are few, but they may be chance. */
static void test_a_key_of_few_bytes_is_a_pattern(void **state)
{
	unsigned char key[40];
	struct err e = {0};

	(void)state;
	for (unsigned kinds = 7; kinds <= 8; kinds++) {
		for (size_t i = 0; i < sizeof(key); i++)
			key[i] = (unsigned char)(i < kinds ? i : 1 + (i * i / 3 + i / 7) % 3);
		assert_int_equal(read_key(key, sizeof(key), &e), kinds == 7 ? -1 : 0);
	}
}

/* A text that is there twice, and nothing else, has half of its length as its period. */
static void test_a_key_that_repeats_itself_is_a_pattern(void **state)
{
	unsigned char key[66];
	struct err e = {0};

	(void)state;
	fill(key, 33);
	memcpy(key + 33, key, 33);
	assert_int_equal(read_key(key, 66, &e), -1);
	assert_non_null(strstr(e.msg, "a pattern"));
	key[65] ^= 1;
	assert_int_equal(read_key(key, 66, &e), 0);
}

static int read_jwks(size_t blanks, const char *object, struct err *e)
{
	static char list[8000], text[11000], all[11100];

	memset(list, ' ', blanks);
	(void)snprintf(list + blanks, sizeof(list) - blanks, "%s", object);
	base64(text, (const unsigned char *)list, strlen(list));
	(void)snprintf(all, sizeof(all), "{\"slurm_jwks\":\"%s\"}", text);
	return secret_bundle_read(all, strlen(all), NULL, e);
}

static void test_a_list_of_keys_has_4096_bytes(void **state)
{
	struct err e = {0};

	(void)state;
	assert_int_equal(read_jwks(4094, "{}", &e), 0);
	assert_int_equal(read_jwks(4095, "{}", &e), -1);
	assert_int_equal(read_jwks(7000, "{}", &e), -1);
	assert_int_equal(read_jwks(4094, "[]", &e), -1);
}

static void test_a_bundle_has_its_limit(void **state)
{
	static const char text[] = "{\"munge_key\":\"" GOOD "\"}";
	static char all[SECRET_BUNDLE_MAX + 1];
	struct err e = {0};

	(void)state;
	memset(all, ' ', sizeof(all));
	memcpy(all, text, sizeof(text) - 1);
	assert_int_equal(secret_bundle_read(all, SECRET_BUNDLE_MAX, NULL, &e), 0);
	assert_int_equal(secret_bundle_read(all, SECRET_BUNDLE_MAX + 1, NULL, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
}

static bool is_mapped(const char *p)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	return msync((void *)((uintptr_t)p / page * page), page, MS_ASYNC) == 0;
}

/* What a request and a result own goes with them, and they may be used again. */
static void test_what_has_ended_is_empty(void **state)
{
	const struct secret_request no_request = {0};
	const struct secret_result no_result = {0};
	struct secret_request q = {.kind = SECRET_FILE, .method = "PUT", .url = mem_strdup("/b")};
	struct secret_result r = {.code = SECRET_DENIED, .value = secret_new("k", 1)};
	const char *text = secret_text(r.value);

	(void)state;
	for (size_t i = 0; i < SECRET_HEADERS_MAX; i++)
		q.headers[i] = mem_strdup("X-Vault-Token: t");
	q.body = mem_strdup("key");
	q.body_len = 3;
	secret_request_fini(&q);
	assert_memory_equal(&q, &no_request, sizeof(q));
	secret_request_fini(&q); /* without a body */
	assert_true(is_mapped(text));
	secret_result_fini(&r);
	assert_false(is_mapped(text)); /* no page of a secret is left */
	assert_memory_equal(&r, &no_result, sizeof(r));
	secret_result_fini(&r);
}

static const char *address(const void *self, uint32_t i)
{
	static const char *const ours[] = {"https://vault:8200", "https://vault-b:8200",
					   "https://v"};

	(void)self;
	return i < COUNT(ours) ? ours[i] : NULL;
}

/* Whoever answers for a store must not lead our session to another host. */
static void test_a_location_is_ours_only_if_all_of_its_origin_is(void **state)
{
	static const struct {
		const char *location;
		int at;
	} cases[] = {
		{"https://vault:8200/v1/sys/health", 0},
		{"HTTPS://Vault-B:8200", 1},
		{"https://vault:8200@evil/v1", -1},
		{"https://vault:82000/v1", -1},
		{"https://vault:8200.evil:443/", -1},
		{"https://v", 2},
		{"https://v/v1", 2},
		{"https://fault:8200/v1", -1},
		{"https://vault/v1", -1},
		{"/v1/sys/health", -1},
		{"https://", -1},
	};
	const struct secret_store_ops ops = {.address = address};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(secret_address_of(&ops, NULL, cases[i].location), cases[i].at);
}

static void test_every_word_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < SECRET_NCODES; i++)
		assert_string_not_equal(secret_code_str((enum secret_code)i), "?");
	for (int i = 0; i < SECRET_NOPS; i++)
		assert_string_not_equal(secret_op_str((enum secret_op_kind)i), "?");
	assert_string_equal(secret_code_str(SECRET_NCODES), "?");
	assert_string_equal(secret_op_str(SECRET_NOPS), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_good_bundle_is_read),
		cmocka_unit_test(test_a_key_has_32_to_1024_bytes),
		cmocka_unit_test(test_a_key_that_the_world_knows_is_refused),
		cmocka_unit_test(test_a_bad_bundle_is_refused_and_never_quoted),
		cmocka_unit_test(test_a_location_is_ours_only_if_all_of_its_origin_is),
		cmocka_unit_test(test_a_refusal_says_what_is_wrong),
		cmocka_unit_test(test_one_key_of_any_kind_is_enough),
		cmocka_unit_test(test_the_keys_name_may_be_one_letter),
		cmocka_unit_test(test_a_key_of_few_bytes_is_a_pattern),
		cmocka_unit_test(test_a_key_that_repeats_itself_is_a_pattern),
		cmocka_unit_test(test_a_list_of_keys_has_4096_bytes),
		cmocka_unit_test(test_a_bundle_has_its_limit),
		cmocka_unit_test(test_what_has_ended_is_empty),
		cmocka_unit_test(test_every_word_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
