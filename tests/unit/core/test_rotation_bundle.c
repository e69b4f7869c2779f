/* test_rotation_bundle.c - what becomes of the bundle while a key is replaced. */
#include "rotation_steps.h"

#define MUNGE "kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE="

/* --- every story ------------------------------------------------------------------------------ */

static void words_and_numbers_are_checked(void **state)
{
	struct rotation r = begun(ROTATION_JWKS);

	(void)state;
	assert_int_equal(rotation_kind_parse("munge"), ROTATION_MUNGE);
	assert_int_equal(rotation_kind_parse("jwks"), ROTATION_JWKS);
	assert_int_equal(rotation_kind_parse("none"), -1);
	assert_string_equal(rotation_phase_str(ROTATION_AGING), "aging");
	assert_string_equal(rotation_kind_str(ROTATION_JWKS), "jwks");
	r.phase = ROTATION_NPHASES;
	assert_false(rotation_good(&r));
	r = begun(ROTATION_JWKS);
	r.kind = ROTATION_NONE;
	assert_false(rotation_good(&r));
}

/* --- the bundle ------------------------------------------------------------------------------- */

static char *write_it(const struct rotation *r, const char *old)
{
	struct err e = {0};
	size_t size = 0;
	char *out = rotation_bundle(r, old, strlen(old), fresh, &size, &e);

	if (out == NULL)
		fail_msg("%s", e.msg);
	assert_true(size > strlen(out));
	return out;
}

static void munge_key_is_staged_then_switched(void **state)
{
	static const char first[] = "{\"munge_key\":\"" MUNGE "\",\"site\":{\"a\":[1,2]},"
				    "\"kid\":\"2026-11\"}";
	struct rotation r = at(ROTATION_MUNGE, ROTATION_STAGING);
	char *one = write_it(&r, first), *two, next[512];
	struct secret_bundle b;

	(void)state;
	assert_int_equal(secret_bundle_read(one, strlen(one), &b, NULL), 0);
	assert_memory_equal(b.munge_key.p, MUNGE, strlen(MUNGE));
	assert_int_equal(b.munge_key_next.n, 172); /* 128 bytes */
	assert_string_equal(b.kid, "2026-11");
	assert_non_null(strstr(one, "\"site\":{\"a\":[1,2]}"));
	assert_non_null(strstr(one, "\"rotation\":\"5f3a-staging\""));
	(void)snprintf(next, sizeof(next), "%.*s", (int)b.munge_key_next.n, b.munge_key_next.p);
	r.phase = ROTATION_SWITCHING;
	two = write_it(&r, one);
	assert_int_equal(secret_bundle_read(two, strlen(two), &b, NULL), 0);
	assert_int_equal(b.munge_key.n, strlen(next));
	assert_memory_equal(b.munge_key.p, next, strlen(next));
	assert_int_equal(b.munge_key_next.n, 0);
	assert_string_equal(b.kid, "r5f3a");
	assert_null(strstr(two, MUNGE));
	free(two);
	r.phase = ROTATION_ABORTING;
	two = write_it(&r, one);
	assert_int_equal(secret_bundle_read(two, strlen(two), &b, NULL), 0);
	assert_memory_equal(b.munge_key.p, MUNGE, strlen(MUNGE));
	assert_int_equal(b.munge_key_next.n, 0);
	assert_string_equal(b.kid, "2026-11");
	free(one);
	free(two);
}

static char *jwks_of(const char *bundle)
{
	struct secret_bundle b;
	char *out = mem_zalloc(8192);
	size_t n = 0;

	assert_int_equal(secret_bundle_read(bundle, strlen(bundle), &b, NULL), 0);
	assert_true(base64_decode(BASE64_PLAIN, b.slurm_jwks.p, b.slurm_jwks.n,
				  (unsigned char *)out, 8191, &n));
	return out;
}

static void jwks_has_both_keys_until_the_old_one_is_dropped(void **state)
{
	/* {"keys":[{"alg":"HS256","kty":"oct","kid":"old","use":"default","k":"c2VjcmV0","exp":9}]}
	 */
	static const char first[] =
		"{\"slurm_jwks\":\"eyJrZXlzIjpbeyJhbGciOiJIUzI1NiIsImt0eSI6Im9jdCIsImtpZCI6Im9sZCIs"
		"InVzZSI6ImRlZmF1bHQiLCJrIjoiYzJWamNtVjAiLCJleHAiOjl9XX0=\"}";
	struct rotation r = at(ROTATION_JWKS, ROTATION_STAGING);
	char *bundle[4], *text[4];

	(void)state;
	bundle[0] = write_it(&r, first);
	r.phase = ROTATION_SWITCHING;
	bundle[1] = write_it(&r, bundle[0]);
	r.phase = ROTATION_DROPPING;
	bundle[2] = write_it(&r, bundle[1]);
	r.phase = ROTATION_ABORTING;
	bundle[3] = write_it(&r, bundle[0]);
	for (int i = 0; i < 4; i++)
		text[i] = jwks_of(bundle[i]);
	assert_non_null(strstr(text[0], "{\"alg\":\"HS256\",\"kty\":\"oct\",\"kid\":\"old\","
					"\"use\":\"default\",\"k\":\"c2VjcmV0\",\"exp\":9},{"));
	assert_non_null(strstr(text[0], "\"kid\":\"r5f3a\",\"k\":\""));
	assert_non_null(strstr(text[1], "\"kid\":\"old\",\"k\":\"c2VjcmV0\",\"exp\":9}"));
	assert_non_null(strstr(text[1], "\"use\":\"default\"}]}"));
	assert_null(strstr(text[2], "\"old\""));
	assert_non_null(strstr(text[2], "\"kid\":\"r5f3a\""));
	assert_null(strstr(text[3], "r5f3a"));
	assert_non_null(strstr(text[3], "\"kid\":\"old\",\"use\":\"default\""));
	for (int i = 0; i < 4; i++) {
		free(bundle[i]);
		free(text[i]);
	}
}

static void a_bundle_that_cannot_be_rotated_stays_as_it_is(void **state)
{
	static const struct {
		enum rotation_kind kind;
		enum rotation_phase phase;
		const char *bundle, *why;
	} cases[] = {
		{ROTATION_JWKS, ROTATION_STAGING, "{\"munge_key\":\"" MUNGE "\"}", "no slurm_jwks"},
		{ROTATION_MUNGE, ROTATION_STAGING, "{\"slurm_key\":\"" MUNGE "\"}", "no munge_key"},
		{ROTATION_MUNGE, ROTATION_SWITCHING, "{\"munge_key\":\"" MUNGE "\"}",
		 "no munge_key_next"},
		/* {"keys":[]} */
		{ROTATION_JWKS, ROTATION_STAGING, "{\"slurm_jwks\":\"eyJrZXlzIjpbXX0=\"}",
		 "no usable list of keys"},
		/* {"keys":[{"kid":"a"}]} */
		{ROTATION_JWKS, ROTATION_SWITCHING,
		 "{\"slurm_jwks\":\"eyJrZXlzIjpbeyJraWQiOiJhIn1dfQ==\"}",
		 "no longer has the new key"},
		{ROTATION_MUNGE, ROTATION_STAGING, "nonsense", "JSON"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rotation r = at(cases[i].kind, cases[i].phase);
		struct err e = {0};
		size_t size;

		assert_null(rotation_bundle(&r, cases[i].bundle, strlen(cases[i].bundle), fresh,
					    &size, &e));
		if (strstr(e.msg, cases[i].why) == NULL)
			fail_msg("%zu: %s", i, e.msg);
	}
}

static void a_write_whose_answer_was_lost_is_found_again(void **state)
{
	static const char ours[] = "{\"rotation\":\"5f3a-switching\"}";
	static const char before[] = "{\"rotation\":\"5f3a-staging\"}";
	static const char others[] = "{\"rotation\":\"77-staging\"}";
	struct rotation r = at(ROTATION_MUNGE, ROTATION_SWITCHING);
	struct err e = {0};

	(void)state;
	assert_int_equal(rotation_look(&r, 99, ours, strlen(ours), &e), ROTATION_FOUND_OURS);
	assert_int_equal(rotation_look(&r, FIRST, before, strlen(before), &e), ROTATION_FOUND_OLD);
	assert_int_equal(rotation_look(&r, 99, before, strlen(before), &e), ROTATION_FOUND_OTHER);
	assert_int_equal(rotation_look(&r, 99, others, strlen(others), &e), ROTATION_FOUND_OTHER);
	/* Aborted before anybody knew whether the new key was written. */
	r.phase = ROTATION_ABORTING;
	assert_int_equal(rotation_look(&r, 99, before, strlen(before), &e), ROTATION_FOUND_OLD);
	assert_int_equal(rotation_look(&r, 99, others, strlen(others), &e), ROTATION_FOUND_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_and_numbers_are_checked),
		cmocka_unit_test(munge_key_is_staged_then_switched),
		cmocka_unit_test(jwks_has_both_keys_until_the_old_one_is_dropped),
		cmocka_unit_test(a_bundle_that_cannot_be_rotated_stays_as_it_is),
		cmocka_unit_test(a_write_whose_answer_was_lost_is_found_again),
	};

	roll();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
