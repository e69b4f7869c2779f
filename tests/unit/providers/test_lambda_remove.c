/* test_lambda_remove.c - the driver lambda: terminates of many, some of them unknown to Lambda or
 * not to be ended now. */
#include "lambda_lab.h"

#define GONE                                                                                       \
	"{\"error\":{\"code\":\"global/object-does-not-exist\",\"message\":\"Specified instance "  \
	"does not "                                                                                \
	"exist.\"}}"
#define CONFLICT                                                                                   \
	"{\"error\":{\"code\":\"global/conflict\",\"message\":\"The request conflicts with the "   \
	"current state of the resource.\"}}"

static struct provider_op delete_of(size_t n)
{
	struct provider_op op = op_of(PROVIDER_DELETE);

	op.u.del.nids = n;
	return op;
}

static void items_are(const struct provider_result *r, const char *letters)
{
	assert_int_equal(r->code, PROVIDER_OK);
	assert_int_equal(r->nitems, strlen(letters));
	for (size_t i = 0; i < r->nitems; i++) {
		enum provider_code code = letters[i] == 'o'   ? PROVIDER_OK
					  : letters[i] == 'n' ? PROVIDER_NOT_FOUND
					  : letters[i] == 'y' ? PROVIDER_NOT_YET
							      : PROVIDER_TRANSIENT;

		assert_string_equal(r->items[i].instance.id, ids[i]);
		if (r->items[i].code != code)
			fail_msg("%s: %s", ids[i], provider_code_str(r->items[i].code));
	}
}

/* "The list of instances that were successfully terminated", in any order. */
static void test_what_is_not_in_the_answer_is_not_terminated(void **state)
{
	struct provider_op op = delete_of(3);
	struct provider_result r = parse_op(
		&op, 200,
		"{\"data\":{\"terminated_instances\":[{\"id\":\"i-3\",\"status\":\"terminating\"},"
		"{\"id\":\"other\"},{},{\"id\":\"i-1\",\"status\":\"terminating\"}]}}");

	(void)state;
	items_are(&r, "oto");
	assert_int_equal(r.items[0].instance.state, PROVIDER_STOPPING); /* not yet ended */
	assert_int_equal(r.items[1].instance.state, PROVIDER_UNKNOWN);
	provider_result_fini(&r);
	r = parse_op(&op, 200, "{\"data\":{\"terminated_instances\":[]}}");
	items_are(&r, "ttt");
	provider_result_fini(&r);
}

static void test_one_instance(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum provider_code code, item;
	} rows[] = {
		{200, "{\"data\":{\"terminated_instances\":[{\"id\":\"i-1\"}]}}", PROVIDER_OK,
		 PROVIDER_OK},
		{404, GONE, PROVIDER_OK, PROVIDER_NOT_FOUND},
		{409, "{\"error\":{\"code\":\"global/conflict\"}}", PROVIDER_OK, PROVIDER_NOT_YET},
		/* The path: it says nothing about the instance. */
		{404, "{\"error\":{\"code\":\"global/not-found\"}}", PROVIDER_INVALID, 0},
		{404, "<html>", PROVIDER_INVALID, 0},
		{400, "{\"error\":{\"code\":\"global/invalid-parameters\"}}", PROVIDER_INVALID, 0},
		{401, "", PROVIDER_DENIED, 0},
		{403, "", PROVIDER_DENIED, 0},
		{429, "error code: 1015", PROVIDER_RATE, 0},
		{500, "", PROVIDER_TRANSIENT, 0},
		{400, "{\"error\":{\"code\":\"provider/internal-unavailable\"}}",
		 PROVIDER_TRANSIENT, 0},
		{200, "", PROVIDER_TRANSIENT, 0},
		{200, "<html>", PROVIDER_TRANSIENT, 0},
		{200, "{\"data\":{}}", PROVIDER_TRANSIENT, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = delete_of(1);
		struct provider_result r = parse_op(&op, rows[i].status, rows[i].body);

		if (r.code != rows[i].code)
			fail_msg("row %zu: %s: %s", i, provider_code_str(r.code), r.message);
		if (r.code == PROVIDER_OK) {
			assert_int_equal(r.nitems, 1);
			assert_int_equal(r.items[0].code, rows[i].item);
			assert_string_equal(r.items[0].instance.id, "i-1");
		}
		provider_result_fini(&r);
	}
}

/* --- some spoil the request ---------------------------------------------------------------------
 */

static const struct spoilt { /* how Lambda refuses a request with one of these ids */
	long status;
	const char *body;
} unknown = {404, GONE}, stuck = {409, CONFLICT};

/* Answer as Lambda does if it refuses those in `bad`; *asked: how many the request is about. */
static const char *answer(const char *body, const char *bad, const struct spoilt *as, long *status,
			  size_t *asked)
{
	static char text[512];
	size_t n = 0;

	*asked = 0;
	*status = 200;
	n += (size_t)snprintf(text, sizeof(text), "{\"data\":{\"terminated_instances\":[");
	for (size_t i = 0; i < COUNT(ids); i++) {
		char quoted[16];

		(void)snprintf(quoted, sizeof(quoted), "\"%s\"", ids[i]);
		if (strstr(body, quoted) == NULL)
			continue;
		if (strstr(bad, ids[i]) != NULL)
			*status = as->status;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s{\"id\":%s}",
				      (*asked)++ > 0 ? "," : "", quoted);
	}
	(void)snprintf(text + n, sizeof(text) - n, "]}}");
	return *status == 200 ? text : as->body;
}

/* Run a delete of all ids to its end; returns the sizes of the requests, "521...". */
static const char *run(const char *bad, const struct spoilt *as, const char *letters)
{
	static char sizes[32];
	char cursor[PROVIDER_CURSOR_MAX + 1] = "";
	struct provider_op op = delete_of(COUNT(ids));
	struct provider_result r = {0};

	memset(sizes, 0, sizeof(sizes));
	for (size_t i = 0; i < sizeof(sizes) - 1; i++) {
		size_t asked;
		long status;
		const char *text;
		char *body;

		op.cursor = cursor;
		body = body_of(&op);
		text = answer(body, bad, as, &status, &asked);
		r = parse_op(&op, status, text);
		free(body);
		sizes[i] = (char)('0' + asked);
		if (r.code != PROVIDER_MORE)
			break;
		assert_int_equal(r.retry_after_ms, 0);
		assert_string_equal(r.message, "");
		memcpy(cursor, r.cursor, sizeof(cursor));
		provider_result_fini(&r);
	}
	items_are(&r, letters);
	provider_result_fini(&r);
	return sizes;
}

static void test_an_unknown_one_is_found_in_few_requests(void **state)
{
	(void)state;
	assert_string_equal(run("", &unknown, "ooooo"), "5");
	assert_string_equal(run("i-1", &unknown, "noooo"), "52122");
	assert_string_equal(run("i-3", &unknown, "oonoo"), "52312");
	assert_string_equal(run("i-5", &unknown, "oooon"), "5231211");
	assert_string_equal(run("i-1 i-2 i-3 i-4 i-5", &unknown, "nnnnn"), "5212121211");
}

/* One that may not be ended now keeps no other: the bills of all others end. */
static void test_one_that_may_not_go_yet_keeps_no_other(void **state)
{
	static const struct spoilt locked = {423, ""};

	(void)state;
	assert_string_equal(run("i-1", &stuck, "yoooo"), "52122");
	assert_string_equal(run("i-3", &stuck, "ooyoo"), "52312");
	assert_string_equal(run("i-5", &stuck, "ooooy"), "5231211");
	assert_string_equal(run("i-2 i-4", &locked, "oyoyo"), "5212121211");
	assert_string_equal(run("i-1 i-2 i-3 i-4 i-5", &stuck, "yyyyy"), "5212121211");
}

/* A step that fails is no result of an instance: the engine sends it again. */
static void test_a_step_that_fails_tells_nothing(void **state)
{
	static const struct {
		long status;
		enum provider_code code;
	} rows[] = {{429, PROVIDER_RATE}, {500, PROVIDER_TRANSIENT}, {401, PROVIDER_DENIED}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = delete_of(COUNT(ids));
		struct provider_result r;

		op.cursor = "2:on";
		r = parse_op(&op, rows[i].status, "");
		assert_int_equal(r.code, rows[i].code);
		provider_result_fini(&r);
	}
}

static void test_cursors_that_cannot_be(void **state)
{
	static const char *const cursors[] = {"0:",    "6:",  "1", "1:ooooo",
					      "3:ooo", "x:o", ":", "1;o"};

	(void)state;
	for (size_t i = 0; i < COUNT(cursors); i++) {
		struct provider_op op = delete_of(COUNT(ids));
		struct provider_request rq = {0};
		struct provider_result r;

		op.cursor = cursors[i];
		assert_int_equal(provider_lambda.build(self, &op, &rq, NULL), -1);
		r = parse_op(&op, 200, "{}");
		assert_int_equal(r.code, PROVIDER_INVALID);
		provider_result_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_what_is_not_in_the_answer_is_not_terminated),
		T(test_one_instance),
		T(test_an_unknown_one_is_found_in_few_requests),
		T(test_one_that_may_not_go_yet_keeps_no_other),
		T(test_a_step_that_fails_tells_nothing),
		T(test_cursors_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
