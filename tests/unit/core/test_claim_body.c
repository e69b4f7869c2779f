/* test_claim_body.c - one row per rule in claim_body.h. */
#include "core/claim_body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

#define HEAD "{\"v\":1,\"claim_id\":\"b-1\",\"claim_secret\":\"00ff\",\"csr\":\"Zm9v\""

static int parse(struct claim_body *b, const char *text, struct err *e)
{
	*e = (struct err){0};
	return claim_body_parse(b, text, strlen(text), e);
}

static void a_whole_body_is_read(void **state)
{
	static const char text[] =
		"{\"v\":1,\"claim_id\":\"b-1.3\",\"claim_secret\":\"00ff\",\"node\":\"h100-1\","
		"\"provider\":\"aws\",\"instance_id\":\"i-0a\",\"boot_id\":\"u-u\",\"csr\":"
		"\"Zm9v\","
		"\"attest\":{\"type\":\"aws-rsa2048\",\"doc\":\"AAEC\",\"nonce\":\"n1\"},"
		"\"facts\":{\"kernel\":\"6.1\",\"gpus\":8,"
		"\"driver\":\"550\",\"mem_mb\":2048,\"cpus\":96}}\n";
	struct claim_body *b = mem_zalloc(sizeof(*b));
	struct err e;

	(void)state;
	if (parse(b, text, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(b->id, "b-1.3");
	assert_string_equal(b->secret, "00ff");
	assert_string_equal(b->node, "h100-1");
	assert_string_equal(b->provider, "aws");
	assert_string_equal(b->instance, "i-0a");
	assert_string_equal(b->boot, "u-u");
	assert_string_equal(b->csr, "foo");
	assert_int_equal(b->attest, ATTEST_AWS);
	assert_int_equal(b->doc_len, 3);
	assert_memory_equal(b->doc, "\0\1\2", 4);
	assert_string_equal(b->nonce, "n1");
	assert_string_equal(b->facts.kernel, "6.1");
	assert_string_equal(b->facts.driver, "550");
	assert_true(b->facts.gpus == 8 && b->facts.mem_mb == 2048 && b->facts.cpus == 96);
	free(b);
}

static void what_is_not_said_is_empty(void **state)
{
	static const char *const texts[] = {
		HEAD "}",
		HEAD ",\"attest\":{},\"facts\":{}}",
		HEAD ",\"attest\":{\"type\":\"none\"},\"node\":null}",
		HEAD ",\"later\":{\"deep\":[1,{\"v\":2}]},\"later\":1}",
		HEAD ",\"facts\":{\"gpus\":null}}",
	};
	struct claim_body *b = mem_zalloc(sizeof(*b));
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		memset(b, 'x', sizeof(*b)); /* nothing is left of the last one */
		if (parse(b, texts[i], &e) < 0)
			fail_msg("%s: %s", texts[i], e.msg);
		assert_int_equal(b->attest, ATTEST_NONE);
		assert_true(b->node[0] == '\0' && b->doc_len == 0 && b->facts.gpus == 0);
	}
	free(b);
}

static void what_makes_no_sense_is_refused_and_wiped(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"", "not a JSON object"},
		{"[]", "not a JSON object"},
		{HEAD, "malformed JSON"},
		{HEAD "} {}", "followed by other data"},
		{HEAD "}x", "followed by other data"},
		{HEAD ",\"v\":1}", "\"v\" occurs twice"},
		{HEAD ",\"claim_secret\":\"11\"}", "\"claim_secret\" occurs twice"},
		{HEAD ",\"cla\\u0069m_id\":\"x\"}", "escaped name"},
		{HEAD ",\"attest\":{\"type\":\"none\",\"type\":\"none\"}}",
		 "\"type\" occurs twice"},
		{HEAD ",\"attest\":{},\"attest\":{}}", "\"attest\" occurs twice"},
		{HEAD ",\"attest\":\"AAEC\"}", "\"attest\" is not an object"},
		{HEAD ",\"attest\":null}", "\"attest\" is not an object"},
		{HEAD ",\"attest\":{\"type\":\"oracle\",\"doc\":\"AAEC\"}}", "\"type\""},
		{HEAD ",\"attest\":{\"type\":\"x\"}}", "\"type\""},
		{HEAD ",\"attest\":{\"type\":\"gcp-jwt\"}}", "\"doc\" is missing"},
		{HEAD ",\"attest\":{\"type\":\"gcp-jwt\",\"doc\":\"A?==\"}}", "\"doc\" is not"},
		{HEAD ",\"node\":\"a b\"}", "\"node\" is not a node name"},
		{HEAD ",\"node\":\"a[1-9]\"}", "\"node\" is not a node name"},
		{HEAD ",\"node\":\"[\"}", "\"node\" is not a node name"},
		{HEAD ",\"node\":7}", "\"node\" is not a plain string"},
		{HEAD ",\"facts\":{\"gpus\":2147483648}}", "\"gpus\""},
		{HEAD ",\"facts\":{\"gpus\":-1}}", "\"gpus\""},
		{HEAD ",\"facts\":{\"gpus\":1.5}}", "\"gpus\""},
		{HEAD ",\"provider\":\"a\\nb\"}", "\"provider\" is not a plain string"},
		{HEAD ",\"provider\":\"\xc3\xa4\"}", "\"provider\" is not a plain string"},
		{HEAD ",\"boot_id\":\"a\x7f\"}", "\"boot_id\" has other characters"},
		{"{\"v\":2,\"claim_id\":\"b\",\"claim_secret\":\"0\",\"csr\":\"Zm9v\"}", "\"v\""},
		{"{\"claim_id\":\"b\",\"claim_secret\":\"0\",\"csr\":\"Zm9v\"}", "\"v\""},
		{"{\"v\":1,\"claim_secret\":\"0\",\"csr\":\"Zm9v\"}",
		 "claim_id, claim_secret or csr is missing"},
		{"{\"v\":1,\"claim_id\":\"b\",\"csr\":\"Zm9v\"}",
		 "claim_id, claim_secret or csr is missing"},
		{"{\"v\":1,\"claim_id\":\"b\",\"claim_secret\":\"0\"}",
		 "claim_id, claim_secret or csr is missing"},
		{"{\"v\":1,\"claim_id\":\"b\",\"claim_secret\":\"0\",\"csr\":\"Zg\"}", "\"csr\""},
		{"{\"v\":1,\"claim_id\":\"b\",\"claim_secret\":\"0\",\"csr\":1234}",
		 "\"csr\" is not base64"},
		{"{\"v\":1,\"claim_id\":\"b\",\"claim_secret\":\"0\",\"csr\":\"AAAA\"}",
		 "\"csr\" contains a NUL byte"},
	};
	struct claim_body *b = mem_zalloc(sizeof(*b)), *empty = mem_zalloc(sizeof(*b));
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (parse(b, rows[i].text, &e) == 0)
			fail_msg("taken: %s", rows[i].text);
		if (strstr(e.msg, rows[i].why) == NULL)
			fail_msg("%s: %s", rows[i].text, e.msg);
		assert_null(strstr(e.msg, "00ff"));
		assert_memory_equal(b, empty, sizeof(*b));
	}
	free(b);
	free(empty);
}

/* A field of n letters between head and tail. */
static int with_length(struct claim_body *b, const char *head, size_t n, const char *tail)
{
	struct err e;
	struct str s;
	int rc;

	str_init(&s, 2 * CLAIM_BODY_MAX);
	str_adds(&s, head);
	for (size_t i = 0; i < n; i++)
		str_adds(&s, "A");
	str_adds(&s, tail);
	rc = parse(b, s.p, &e);
	str_fini(&s);
	return rc;
}

static void each_field_has_its_limit(void **state)
{
	static const struct {
		const char *head, *tail;
		size_t max, step;
	} rows[] = {
		{"{\"v\":1,\"claim_secret\":\"0\",\"csr\":\"Zm9v\",\"claim_id\":\"", "\"}",
		 CLAIM_ID_MAX, 1},
		{"{\"v\":1,\"claim_id\":\"0\",\"csr\":\"Zm9v\",\"claim_secret\":\"", "\"}",
		 CLAIM_BODY_SECRET_MAX, 1},
		{HEAD ",\"instance_id\":\"", "\"}", PROVIDER_ID_MAX, 1},
		{HEAD ",\"attest\":{\"nonce\":\"", "\"}}", CLAIM_BODY_NONCE_MAX, 1},
		{HEAD ",\"attest\":{\"doc\":\"", "\"}}", ATTEST_DOC_MAX / 3 * 4, 4},
		{HEAD ",\"facts\":{\"kernel\":\"", "\"}}", CLAIM_BODY_FACT_MAX, 1},
	};
	struct claim_body *b = mem_zalloc(sizeof(*b));

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(with_length(b, rows[i].head, rows[i].max, rows[i].tail), 0);
		assert_int_equal(
			with_length(b, rows[i].head, rows[i].max + rows[i].step, rows[i].tail), -1);
	}
	assert_int_equal(with_length(b, HEAD ",\"new\":\"", 60000, "\"}"), 0);
	assert_int_equal(with_length(b, HEAD ",\"new\":\"", CLAIM_BODY_MAX, "\"}"), -1);
	free(b);
}

static void what_is_just_within_its_limits_is_taken(void **state)
{
	const size_t empty = strlen(HEAD ",\"new\":\"\"}");
	struct claim_body *b = mem_zalloc(sizeof(*b));
	struct err e;

	(void)state;
	assert_int_equal(with_length(b, HEAD ",\"new\":\"", CLAIM_BODY_MAX - empty, "\"}"), 0);
	assert_int_equal(with_length(b, HEAD ",\"new\":\"", CLAIM_BODY_MAX - empty + 1, "\"}"), -1);
	assert_int_equal(parse(b, HEAD ",\"facts\":{\"gpus\":2147483647}}", &e), 0);
	assert_int_equal(b->facts.gpus, INT32_MAX);
	assert_int_equal(parse(b, HEAD ",\"boot_id\":\"a ~\"}", &e), 0);
	assert_string_equal(b->boot, "a ~");
	assert_int_equal(parse(b,
			       "{\"v\":1,\"claim_id\":\"b\",\"claim_secret\":\"0\","
			       "\"csr\":\"Zg==\"}",
			       &e),
			 0);
	assert_string_equal(b->csr, "f");
	free(b);
}

/* It is kept with a NUL byte behind it. */
static void a_request_for_a_certificate_has_its_limit_in_bytes(void **state)
{
	struct claim_body *b = mem_zalloc(sizeof(*b));
	struct err e;
	struct str s;

	(void)state;
	for (int more = 0; more < 2; more++) {
		str_init(&s, CLAIM_BODY_MAX);
		str_adds(&s, "{\"v\":1,\"claim_id\":\"b\",\"claim_secret\":\"0\",\"csr\":\"");
		for (int i = 0; i < CLAIM_BODY_CSR_MAX / 3; i++)
			str_adds(&s, "QUFB");
		str_adds(&s, more ? "QQ==\"}" : "\"}");
		assert_int_equal(parse(b, s.p, &e), more ? -1 : 0);
		assert_int_equal(strlen(b->csr), more ? 0 : CLAIM_BODY_CSR_MAX);
		str_fini(&s);
	}
	free(b);
}

static void too_many_members_and_too_deep_ones_are_refused(void **state)
{
	struct claim_body *b = mem_zalloc(sizeof(*b));
	struct err e;
	struct str s;

	(void)state;
	str_init(&s, CLAIM_BODY_MAX);
	str_adds(&s, HEAD);
	for (int i = 4; i < CLAIM_BODY_MEMBERS_MAX; i++)
		str_addf(&s, ",\"x%d\":0", i);
	str_adds(&s, "}");
	assert_int_equal(parse(b, s.p, &e), 0);
	s.p[s.len - 1] = ',';
	str_adds(&s, "\"one\":1}");
	assert_int_equal(parse(b, s.p, &e), -1);
	str_clear(&s);
	str_adds(&s, HEAD ",\"x\":");
	for (int i = 0; i < 20000; i++)
		str_adds(&s, "[");
	assert_int_equal(parse(b, s.p, &e), -1);
	str_fini(&s);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_body_is_read),
		cmocka_unit_test(what_is_not_said_is_empty),
		cmocka_unit_test(what_makes_no_sense_is_refused_and_wiped),
		cmocka_unit_test(each_field_has_its_limit),
		cmocka_unit_test(what_is_just_within_its_limits_is_taken),
		cmocka_unit_test(a_request_for_a_certificate_has_its_limit_in_bytes),
		cmocka_unit_test(too_many_members_and_too_deep_ones_are_refused),
	};

	return cmocka_run_group_tests_name("claim_body", tests, NULL, NULL);
}
