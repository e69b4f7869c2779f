/* The audit log, as docs/protocol.md has it. */
#include "ctl_ask.h"

#include <inttypes.h>

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
	assert_int_equal(number(a, "at_ms"), FAKE_NOW + 1500);
	assert_string_equal(text(a, "actor"), "hook");
	assert_string_equal(text(a, "verb"), "create");
	assert_string_equal(text(a, "target"), "sim");
	assert_string_equal(text(a, "reason"), "asked \"for\"");
	assert_string_equal(text(a, "object"), "n[1-4]");
	assert_string_equal(text(a, "request"), "burstd-1");
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
	refused_as(f, &admin, "{\"v\":1,\"op\":\"audit\",\"since\":\"x\"}", "invalid");
	refused_as(f, &admin, "{\"v\":1,\"op\":\"audit\",\"tail\":1001}", "invalid");
	refused_as(f, &viewer, "{\"v\":1,\"op\":\"audit\"}", "denied");
	refused_as(f, &viewer, "{\"v\":1,\"op\":\"audit-verify\"}", "denied");
	stop(f);
}

/* About a pool's nodes, about a job, from a time on. */
static void test_records_are_found(void **state)
{
	static const char *const lists[] = {"n[1-4]", "m[1-4]"};
	struct fixture *f = start_pools(lists, 2);
	static const struct {
		const char *request;
		size_t n;
	} rows[] = {
		{"{\"v\":1,\"op\":\"audit\",\"since\":0,\"pool\":\"pool0\"}", 5},
		{"{\"v\":1,\"op\":\"audit\",\"since\":0,\"pool\":\"pool1\"}", 5},
		{"{\"v\":1,\"op\":\"audit\",\"since\":0,\"job\":\"n9\"}", 0}, /* a node */
	};
	char request[100];
	json_t *r;

	(void)state;
	f->j.head.seq = 10;
	f->j.object = "m3,n9";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = ask(f, rows[i].request);
		assert_int_equal(json_array_size(json_object_get(r, "records")), rows[i].n);
		assert_int_equal(number(r, "last"), 10);
		json_decref(r);
	}
	(void)snprintf(request, sizeof(request),
		       "{\"v\":1,\"op\":\"audit\",\"since_ms\":%" PRId64 "}",
		       (int64_t)FAKE_NOW + 7);
	r = ask(f, request);
	assert_int_equal(number(json_array_get(json_object_get(r, "records"), 0), "seq"), 7);
	json_decref(r);
	refused_as(f, &admin, "{\"v\":1,\"op\":\"audit\",\"pool\":\"pool7\"}", "not-found");
	stop(f);
}

/* An order may be for several jobs, and what came of one be in another record. */
static void test_records_of_a_job_are_found(void **state)
{
	static const struct {
		const char *verb, *request, *object, *job;
		bool found;
	} rows[] = {
		{"requeue", "", "4711,4712_3", "4711", true},
		{"requeue", "", "4711,4712_3", "4712_3", true},
		{"signal", "TERM", "4711,4712_3", "4712", false},
		{"start", "", "4711,4712_3", "471", false},
		{"postpone", "StartTime=now+30", "4711", "4711", true},
		{"clear", "", "4711", "4711", true},
		{"notify", "", "4711", "4711", true},
		{"checkpoint", "c1", "4711", "4711", true},
		{"unsent", "postpone", "4711,4712", "4712", true},
		/* Nodes may be called so. */
		{"power-down", "", "4711,4712", "4712", false},
		{"unsent", "power-down", "4711", "4711", false},
		{"resume", "", "4711", "4711", false},
		{"delete", "i-1", "4711", "4711", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = start("n[1-4]");
		char request[100];
		json_t *r, *all;

		f->j.head.seq = 2;
		f->j.verb = rows[i].verb;
		f->j.request = rows[i].request;
		f->j.object = rows[i].object;
		(void)snprintf(request, sizeof(request),
			       "{\"v\":1,\"op\":\"audit\",\"since\":0,\"job\":\"%s\"}",
			       rows[i].job);
		print_message("# %s %s: %s\n", rows[i].verb, rows[i].object, rows[i].job);
		r = ask(f, request);
		all = json_object_get(r, "records");
		assert_int_equal(json_array_size(all), rows[i].found);
		if (rows[i].found)
			assert_true(json_is_true(json_object_get(json_array_get(all, 0), "jobs")));
		json_decref(r);
		r = ask(f, "{\"v\":1,\"op\":\"audit\",\"since\":1}");
		all = json_object_get(r, "records");
		assert_true(json_is_false(json_object_get(json_array_get(all, 0), "jobs")));
		json_decref(r);
		stop(f);
	}
}

static void test_all_there_is_is_the_answer_when_more_is_asked_for(void **state)
{
	static const struct {
		const char *request;
		int64_t n, last;
	} rows[] = {
		{"{\"v\":1,\"op\":\"audit\"}", 5, 5},
		{"{\"v\":1,\"op\":\"audit\",\"tail\":9}", 5, 5},
		{"{\"v\":1,\"op\":\"audit\",\"tail\":0}", 0, 5},
		{"{\"v\":1,\"op\":\"audit\",\"since\":5}", 0, 5},
		{"{\"v\":1,\"op\":\"audit\",\"since\":7}", 0, 7},
	};
	struct fixture *f = start("n[1-4]");

	(void)state;
	f->j.head.seq = 5;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *r = ask(f, rows[i].request);

		assert_int_equal(json_array_size(json_object_get(r, "records")), rows[i].n);
		assert_int_equal(number(r, "last"), rows[i].last);
		assert_false(json_is_true(json_object_get(r, "more")));
		json_decref(r);
	}
	f->j.fail = ERR_IO;
	refused_as(f, &admin, rows[0].request, "failed");
	stop(f);
}

/* What does not fit comes with the next question: each record once, whole, in order,
 * though a shorter one behind it would have fitted. */
static void test_long_audit_records_are_paged(void **state)
{
	enum { LONG = 5000, RECORDS = 700 }; /* 1.8 MB, half of them long */
	struct fixture *f = start("n[1-4]");
	char request[64], *object = mem_zalloc(LONG + 1);
	int64_t last = 0, pages = 0;
	bool more = true;

	(void)state;
	memset(object, 'n', LONG);
	f->j.object = object;
	f->j.head.seq = RECORDS;
	for (; more && pages < 10; pages++) {
		json_t *r;

		(void)snprintf(request, sizeof(request), "{\"v\":1,\"op\":\"audit\",\"since\":%d}",
			       (int)last);
		r = ask(f, request);
		for (size_t i = 0; i < json_array_size(json_object_get(r, "records")); i++) {
			const json_t *a = json_array_get(json_object_get(r, "records"), i);

			assert_int_equal(number(a, "seq"), ++last);
			assert_int_equal(strlen(text(a, "object")), last % 2 == 1 ? LONG : 6);
		}
		assert_int_equal(number(r, "last"), last);
		more = json_is_true(json_object_get(r, "more"));
		json_decref(r);
	}
	assert_int_equal(last, RECORDS);
	assert_int_equal(pages, 2);
	stop(f);
	free(object);
}

static void test_a_hash_is_64_small_hexadecimal_digits(void **state)
{
	static const char *const bad[] = {"",
					  "ab",
					  HASH "0",
					  HASH "g",
					  "g" HASH,
					  "g123456789abcdef0123456789abcdef"
					  "0123456789abcdef0123456789abcdef",
					  "0123456789abcdef0123456789abcdef"
					  "0123456789abcdef0123456789abcdeF"};
	static const char *const places[][2] = {{"after", "hash"}, {"known", "known_hash"}};
	struct fixture *f = start("n[1-4]");
	char request[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		for (size_t k = 0; k < 2; k++) {
			(void)snprintf(request, sizeof(request),
				       "{\"v\":1,\"op\":\"audit-verify\",\"%s\":5,\"%s\":\"%s\"}",
				       places[k][0], places[k][1], bad[i]);
			refused_as(f, &admin, request, "invalid");
		}
	refused_as(f, &admin,
		   "{\"v\":1,\"op\":\"audit-verify\",\"known\":0,\"known_hash\":\"" HASH "\"}",
		   "invalid");
	stop(f);
}

static void test_the_audit_log_is_looked_through_in_pieces(void **state)
{
	struct fixture *f = start("n[1-4]");
	json_t *r;

	(void)state;
	f->j.head = (struct journal_mark){900, HASH};
	f->j.found = (struct journal_chain){.at = {500, HASH}, .records = 400, .more = true};
	r = ask(f, "{\"v\":1,\"op\":\"audit-verify\"}");
	assert_false(f->j.asked.begun);
	assert_int_equal(f->j.asked.at.seq, 0);
	assert_string_equal(f->j.asked.at.hash, "");
	assert_int_equal(f->j.known, -1);
	assert_int_equal(number(r, "records"), 400);
	assert_int_equal(number(r, "head"), 900);
	assert_string_equal(text(r, "head_hash"), HASH);
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
		cmocka_unit_test(test_records_are_found),
		cmocka_unit_test(test_records_of_a_job_are_found),
		cmocka_unit_test(test_all_there_is_is_the_answer_when_more_is_asked_for),
		cmocka_unit_test(test_long_audit_records_are_paged),
		cmocka_unit_test(test_a_hash_is_64_small_hexadecimal_digits),
		cmocka_unit_test(test_the_audit_log_is_looked_through_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
