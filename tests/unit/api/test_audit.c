/* The audit log, as docs/protocol.md has it. */
#include "ctl_ask.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void refused_as(struct fixture *f, const struct ctl_caller *who, const char *request,
		       const char *code)
{
	json_t *r = ask_as(f, who, request);

	assert_false(json_is_true(json_object_get(r, "ok")));
	assert_string_equal(text(r, "code"), code);
	json_decref(r);
}

static void test_audit_records_are_listed_for_operators(void **state)
{
	struct fixture *f = start("n[1-4]");
	const json_t *a;
	json_t *r;

	(void)state;
	f->j.head.seq = 1500;
	r = ask(f, "{\"v\":1,\"op\":\"audit\",\"tail\":2}");
	assert_int_equal(json_array_size(json_object_get(r, "records")), 2);
	a = json_array_get(json_object_get(r, "records"), 1);
	assert_int_equal(number(a, "seq"), 1500);
	assert_string_equal(text(a, "reason"), "asked \"for\"");
	assert_string_equal(text(a, "object"), "n[1-4]");
	assert_string_equal(text(a, "hash"), "ab");
	assert_false(json_is_true(json_object_get(r, "more")));
	json_decref(r);
	r = ask(f, "{\"v\":1,\"op\":\"audit\",\"since\":1}");
	assert_true(json_is_true(json_object_get(r, "more")));
	a = json_array_get(json_object_get(r, "records"), 0);
	assert_int_equal(number(a, "seq"), 2);
	assert_int_equal(number(r, "last"),
			 1 + (int64_t)json_array_size(json_object_get(r, "records")));
	json_decref(r);
	refused_as(f, &viewer, "{\"v\":1,\"op\":\"audit\"}", "denied");
	refused_as(f, &viewer, "{\"v\":1,\"op\":\"audit-verify\"}", "denied");
	stop(f);
}

static void test_the_audit_log_is_looked_through_in_pieces(void **state)
{
	struct fixture *f = start("n[1-4]");
	json_t *r;

	(void)state;
	f->j.found = (struct journal_chain){.at = {500, HASH}, .records = 500, .more = true};
	r = ask(f, "{\"v\":1,\"op\":\"audit-verify\"}");
	assert_false(f->j.asked.begun);
	assert_int_equal(f->j.known, -1);
	assert_int_equal(number(r, "after"), 500);
	assert_string_equal(text(r, "hash"), HASH);
	assert_true(json_is_true(json_object_get(r, "more")));
	json_decref(r);
	f->j.found = (struct journal_chain){.at = {700, HASH}, .bad = 701, .what = "cut"};
	r = ask(f, "{\"v\":1,\"op\":\"audit-verify\",\"after\":500,\"hash\":\"" HASH
		   "\",\"known\":9,\"known_hash\":\"" HASH "\"}");
	assert_true(f->j.asked.begun);
	assert_int_equal(f->j.asked.at.seq, 500);
	assert_string_equal(f->j.asked.at.hash, HASH);
	assert_int_equal(f->j.known, 9);
	assert_int_equal(number(r, "bad"), 701);
	assert_string_equal(text(r, "what"), "cut");
	json_decref(r);
	refused_as(f, &admin, "{\"v\":1,\"op\":\"audit-verify\",\"after\":5}", "invalid");
	refused_as(f, &admin, "{\"v\":1,\"op\":\"audit-verify\",\"known\":5,\"known_hash\":\"ab\"}",
		   "invalid");
	f->j.fail = ERR_INVALID;
	refused_as(f, &admin, "{\"v\":1,\"op\":\"audit-verify\"}", "invalid");
	f->j.fail = ERR_IO;
	refused_as(f, &admin, "{\"v\":1,\"op\":\"audit-verify\"}", "failed");
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_records_are_listed_for_operators),
		cmocka_unit_test(test_the_audit_log_is_looked_through_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
