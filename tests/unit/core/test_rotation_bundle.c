/* test_rotation_bundle.c - what becomes of the bundle while a key is replaced. */
#include "base/str.h"
#include "rotation_steps.h"

#define MUNGE "kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE="

/* What roll() makes, all of it and the first 32 bytes. */
#define FRESH                                                                                      \
	"CzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8YYar0PUaP2SJrtP4HUJn"                             \
	"jLHW+yBFao+02f4jSG2St9wBJktwlbrfBClOc5i94gcsUXabwOUKL1R5nsPo"                             \
	"DTJXfKHG6xA1Wn+kye4TOF2Cp8zxFjtgharP9Bk+Y4it0vccQWY="
#define SECOND "CzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8YYY="

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

/* All that the rotation does not write stays, whatever it is, and in its order. */
static void all_else_in_the_bundle_stays_as_it_is(void **state)
{
	static const char first[] =
		"{\"a\":null,\"munge_key\":\"" MUNGE "\",\"munge_key_next\":\"" MUNGE
		"\", \"b\":[ 1 ],\"rotation\":\"77-done\",\"slurm_key\":\"" MUNGE
		"\",\"slurm_jwks\":\"e30=\",\"kid\":\"k\",\"c\":true}";
	static const struct {
		enum rotation_phase phase;
		const char *want;
	} rows[] = {
		{ROTATION_STAGING,
		 "{\"a\":null,\"b\":[ 1 ],\"slurm_key\":\"" MUNGE
		 "\",\"slurm_jwks\":\"e30=\",\"kid\":\"k\",\"c\":true,\"munge_key\":\"" MUNGE
		 "\",\"munge_key_next\":\"" FRESH "\",\"rotation\":\"5f3a-staging\"}"},
		{ROTATION_SWITCHING, "{\"a\":null,\"b\":[ 1 ],\"slurm_key\":\"" MUNGE
				     "\",\"slurm_jwks\":\"e30=\",\"c\":true,\"munge_key\":\"" MUNGE
				     "\",\"rotation\":\"5f3a-switching\",\"kid\":\"r5f3a\"}"},
		{ROTATION_ABORTING,
		 "{\"a\":null,\"b\":[ 1 ],\"slurm_key\":\"" MUNGE
		 "\",\"slurm_jwks\":\"e30=\",\"kid\":\"k\",\"c\":true,\"munge_key\":\"" MUNGE
		 "\",\"rotation\":\"5f3a-aborting\"}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rotation r = at(ROTATION_MUNGE, rows[i].phase);
		char *text = write_it(&r, first);

		assert_string_equal(text, rows[i].want);
		free(text);
	}
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

/* A bundle with this list of keys, and a key of munge's. */
static void with_list(char *out, size_t size, const char *list)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct str s, padded; /* by blanks, so that the base64 needs no '=' */

	str_init(&s, size);
	str_init(&padded, size);
	str_adds(&padded, list);
	while (padded.len % 3 != 0)
		str_adds(&padded, " ");
	str_adds(&s, "{\"munge_key\":\"" MUNGE "\",\"slurm_jwks\":\"");
	for (size_t i = 0; i < padded.len; i += 3) {
		const unsigned char *p = (const unsigned char *)padded.p + i;

		str_addf(&s, "%c%c%c%c", digits[p[0] >> 2], digits[(p[0] & 3) << 4 | p[1] >> 4],
			 digits[(p[1] & 15) << 2 | p[2] >> 6], digits[p[2] & 63]);
	}
	str_adds(&s, "\",\"kid\":\"k\"}");
	(void)snprintf(out, size, "%s", s.p);
	str_fini(&padded);
	str_fini(&s);
}

static void check_list(enum rotation_phase phase, const char *old, const char *want)
{
	static char bundle[SECRET_BUNDLE_MAX];
	const struct rotation r = at(ROTATION_JWKS, phase);
	char *text, *list;

	with_list(bundle, sizeof(bundle), old);
	text = write_it(&r, bundle);
	list = jwks_of(text);
	assert_string_equal(list, want);
	assert_non_null(strstr(text, "\"munge_key\":\"" MUNGE "\""));
	assert_int_equal(strstr(text, "\"kid\":\"k\"") != NULL, phase != ROTATION_SWITCHING);
	free(text);
	free(list);
}

#define OURS "{\"alg\":\"HS256\",\"kty\":\"oct\",\"kid\":\"r5f3a\",\"k\":\"" SECOND "\"}"

/* The new lists have lengths that leave each remainder by three. */
static void a_list_of_keys_changes_by_one_key_and_by_which_is_the_default(void **state)
{
	(void)state;
	check_list(ROTATION_STAGING, "{\"keys\":[{\"kid\":\"a\",\"use\":\"x\"}]}",
		   "{\"keys\":[{\"kid\":\"a\",\"use\":\"x\"}," OURS "]}");
	check_list(ROTATION_STAGING, "{\"more\":[1], \"keys\":[{\"kid\":\"abc\"},{}]}",
		   "{\"keys\":[{\"kid\":\"abc\"},{}," OURS "]}");
	check_list(ROTATION_STAGING, "{\"keys\":[{\"kid\":\"abcd\",\"exp\":77}]}",
		   "{\"keys\":[{\"kid\":\"abcd\",\"exp\":77}," OURS "]}");
	check_list(ROTATION_SWITCHING,
		   "{\"keys\":[{\"kid\":\"a\",\"use\":\"default\"},{\"kid\":\"r5f3a\"}]}",
		   "{\"keys\":[{\"kid\":\"a\"},{\"kid\":\"r5f3a\",\"use\":\"default\"}]}");
	check_list(ROTATION_DROPPING,
		   "{\"keys\":[{\"kid\":\"a\"},{\"kid\":\"r5f3a\",\"use\":\"default\"},{}]}",
		   "{\"keys\":[{\"kid\":\"r5f3a\",\"use\":\"default\"}]}");
	check_list(ROTATION_ABORTING,
		   "{\"keys\":[{\"kid\":\"a\",\"use\":\"x\"},{\"kid\":\"r5f3a\"},{}]}",
		   "{\"keys\":[{\"kid\":\"a\",\"use\":\"x\"},{}]}");
	check_list(ROTATION_ABORTING, "{\"keys\":[{\"kid\":\"r5f3a\"},{\"kid\":\"a\"}]}",
		   "{\"keys\":[{\"kid\":\"a\"}]}");
	/* It was not there: it was aborted before it was written. */
	check_list(ROTATION_ABORTING, "{\"keys\":[{\"kid\":\"a\"}]}",
		   "{\"keys\":[{\"kid\":\"a\"}]}");
}

static void check_refused(enum rotation_kind kind, enum rotation_phase phase, const char *bundle,
			  int code, const char *why)
{
	const struct rotation r = at(kind, phase);
	struct err e = {0};
	size_t size;

	assert_null(rotation_bundle(&r, bundle, strlen(bundle), fresh, &size, &e));
	assert_string_equal(e.msg, why);
	assert_int_equal(e.code, code);
}

static void a_list_that_is_none_is_refused(void **state)
{
	static const char *const lists[] = {
		"{}",
		"{\"keys\":7}",
		"{\"keys\":{}}",
		"{\"keys\":[]}",
		"{\"keys\":[7]}",
		"{\"keys\":[{},7]}",
		"{\"keys\":[{},\"a\"]}",
	};
	char bundle[512];

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		with_list(bundle, sizeof(bundle), lists[i]);
		check_refused(ROTATION_JWKS, ROTATION_STAGING, bundle, ERR_INVALID,
			      "slurm_jwks has no usable list of keys");
	}
	for (int drop = 0; drop < 2; drop++) { /* somebody took it out */
		with_list(bundle, sizeof(bundle), "{\"keys\":[{\"kid\":\"r5f3\"}]}");
		check_refused(ROTATION_JWKS, drop ? ROTATION_DROPPING : ROTATION_SWITCHING, bundle,
			      ERR_INVALID, "slurm_jwks no longer has the new key");
	}
}

/* A store without a key is of no use. */
static void the_last_key_is_not_taken_out(void **state)
{
	const struct rotation r = at(ROTATION_JWKS, ROTATION_ABORTING);
	char bundle[512];
	struct err e = {0};
	size_t size;

	(void)state;
	with_list(bundle, sizeof(bundle), "{\"keys\":[{\"kid\":\"r5f3a\"}]}");
	assert_null(rotation_bundle(&r, bundle, strlen(bundle), fresh, &size, &e));
	assert_int_equal(e.code, ERR_LIMIT);
}

static void room_has_its_end(void **state)
{
	static char bundle[SECRET_BUNDLE_MAX + 1], list[5000];
	const size_t more = strlen("{\"keys\":[{\"kid\":\"\"}," OURS "]}");

	(void)state;
	for (int over = 0; over < 18; over += over + 1) { /* so many bytes more than 4096 */
		const size_t n = 4096 - more + (size_t)over;

		(void)snprintf(list, sizeof(list), "{\"keys\":[{\"kid\":\"%0*d\"}]}", (int)n, 0);
		with_list(bundle, sizeof(bundle), list);
		if (over) {
			check_refused(ROTATION_JWKS, ROTATION_STAGING, bundle, ERR_LIMIT,
				      "slurm_jwks has no room for another key");
		} else {
			struct rotation r = at(ROTATION_JWKS, ROTATION_STAGING);
			char *staged = write_it(&r, bundle);

			r.phase = ROTATION_ABORTING;
			free(write_it(&r, staged));
			free(staged);
		}
	}
	memset(bundle, ' ', SECRET_BUNDLE_MAX);
	(void)snprintf(bundle, sizeof(bundle), "{\"munge_key\":\"" MUNGE "\",\"site\":\"%0*d\"}",
		       SECRET_BUNDLE_MAX - 100, 0);
	check_refused(ROTATION_MUNGE, ROTATION_STAGING, bundle, ERR_LIMIT,
		      "the bundle has more than 12288 bytes");
}

/* What cannot be read again could be neither switched to nor taken out. */
static void a_list_has_sixteen_keys_with_the_new_one(void **state)
{
	static char bundle[SECRET_BUNDLE_MAX];
	struct rotation r = at(ROTATION_JWKS, ROTATION_STAGING);
	char list[256] = "{\"keys\":[{}", *staged;

	(void)state;
	for (int i = 1; i < 15; i++)
		strncat(list, ",{}", 4);
	strncat(list, "]}", 3);
	with_list(bundle, sizeof(bundle), list);
	staged = write_it(&r, bundle);
	r.phase = ROTATION_SWITCHING;
	free(write_it(&r, staged));
	free(staged);
	list[strlen(list) - 2] = '\0';
	strncat(list, ",{}]}", 6);
	with_list(bundle, sizeof(bundle), list);
	check_refused(ROTATION_JWKS, ROTATION_STAGING, bundle, ERR_LIMIT,
		      "slurm_jwks has no room for another key");
	list[strlen(list) - 2] = '\0';
	strncat(list, ",{}]}", 6);
	with_list(bundle, sizeof(bundle), list);
	check_refused(ROTATION_JWKS, ROTATION_STAGING, bundle, ERR_INVALID,
		      "slurm_jwks has no usable list of keys");
}

static void a_bundle_that_is_of_no_use_is_refused_for_its_own_fault(void **state)
{
	(void)state;
	check_refused(ROTATION_MUNGE, ROTATION_STAGING, "{\"munge_key\":\"kZ3q\"}", ERR_INVALID,
		      "munge_key has 3 bytes: want 32 to 1024");
	check_refused(ROTATION_MUNGE, ROTATION_STAGING, "[]", ERR_INVALID,
		      "the bundle is not a JSON object");
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

static void another_mark_is_somebody_elses_write(void **state)
{
	static const struct {
		enum rotation_phase phase;
		int64_t version;
		const char *bundle;
		enum rotation_found found;
	} rows[] = {
		{ROTATION_STAGING, 99, "{}", ROTATION_FOUND_OTHER},
		{ROTATION_STAGING, FIRST, "{}", ROTATION_FOUND_OLD},
		{ROTATION_STAGING, FIRST, "{\"rotation\":\"5f3a-staging\"}", ROTATION_FOUND_OURS},
		{ROTATION_STAGING, 99, "{\"a\":1,\"rotation\":\"5f3a-staging\",\"b\":[]}",
		 ROTATION_FOUND_OURS},
		{ROTATION_STAGING, 99, "{\"rotation\":\"5f3a-staging\"", ROTATION_FOUND_OTHER},
		{ROTATION_STAGING, 99, "{\"rotation\":\"5f3a-staging\",\"rotation\":7}",
		 ROTATION_FOUND_OTHER},
		{ROTATION_STAGING, 99, "[\"rotation\"]", ROTATION_FOUND_OTHER},
		{ROTATION_ABORTING, 99, "{\"rotation\":\"5f3a-staging\"}", ROTATION_FOUND_OLD},
		{ROTATION_SWITCHING, 99, "{\"rotation\":\"5f3a-staging\"}", ROTATION_FOUND_OTHER},
		{ROTATION_ABORTING, 99, "{\"rotation\":\"5f3a\"}", ROTATION_FOUND_OLD},
		{ROTATION_ABORTING, 99, "{\"rotation\":\"5f3-staging\"}", ROTATION_FOUND_OTHER},
		{ROTATION_ABORTING, 99, "{\"rotation\":\"5f3a0-staging\"}", ROTATION_FOUND_OTHER},
		{ROTATION_ABORTING, 99, "{\"rotation\":\"5f3b-staging\"}", ROTATION_FOUND_OTHER},
		{ROTATION_ABORTING, 99, "{\"rotation\":7}", ROTATION_FOUND_OTHER},
		{ROTATION_ABORTING, 99,
		 "{\"rotation\":\"5f3a-\\u0061aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
		 ROTATION_FOUND_OTHER},
		{ROTATION_ABORTING, 99, "{}", ROTATION_FOUND_OTHER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct rotation r = at(ROTATION_MUNGE, rows[i].phase);
		struct err e = {0};

		if (rotation_look(&r, rows[i].version, rows[i].bundle, strlen(rows[i].bundle),
				  &e) != rows[i].found)
			fail_msg("row %zu: %s", i, rows[i].bundle);
		assert_string_equal(e.msg,
				    rows[i].found == ROTATION_FOUND_OTHER
					    ? "somebody else has written the bundle meanwhile"
					    : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_and_numbers_are_checked),
		cmocka_unit_test(munge_key_is_staged_then_switched),
		cmocka_unit_test(all_else_in_the_bundle_stays_as_it_is),
		cmocka_unit_test(a_list_of_keys_changes_by_one_key_and_by_which_is_the_default),
		cmocka_unit_test(a_list_that_is_none_is_refused),
		cmocka_unit_test(the_last_key_is_not_taken_out),
		cmocka_unit_test(room_has_its_end),
		cmocka_unit_test(a_bundle_that_is_of_no_use_is_refused_for_its_own_fault),
		cmocka_unit_test(a_list_has_sixteen_keys_with_the_new_one),
		cmocka_unit_test(another_mark_is_somebody_elses_write),
		cmocka_unit_test(jwks_has_both_keys_until_the_old_one_is_dropped),
		cmocka_unit_test(a_bundle_that_cannot_be_rotated_stays_as_it_is),
		cmocka_unit_test(a_write_whose_answer_was_lost_is_found_again),
	};

	roll();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
