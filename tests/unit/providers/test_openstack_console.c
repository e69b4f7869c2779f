/* test_openstack_console.c - the driver openstack: the console log of a server. */
#include "tests/unit/providers/openstack_lab.h"

static void test_a_console(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum provider_code code;
		const char *log; /* NULL: none */
	} rows[] = {
		{200, "{\"output\": \"[ 0.1] a\\r\\n\\u001b[0mb\\n\"}", PROVIDER_OK,
		 "[ 0.1] a\r\n\033[0mb\n"},
		{200, "{\"output\": \"\"}", PROVIDER_OK, NULL},
		{200, "{\"output\": null}", PROVIDER_OK, NULL},
		{200, "{}", PROVIDER_OK, NULL},
		{200, "{\"output\": \"a", PROVIDER_TRANSIENT, NULL},
		{200, "", PROVIDER_TRANSIENT, NULL},
		{404,
		 "{\"itemNotFound\":{\"code\":404,\"message\":\"Instance could not be found.\"}}",
		 PROVIDER_INVALID, NULL},
		{409, "{\"conflictingRequest\":{\"code\":409,\"message\":\"not ready\"}}",
		 PROVIDER_TRANSIENT, NULL},
		{403, "{\"forbidden\":{\"code\":403,\"message\":\"Policy doesn't allow\"}}",
		 PROVIDER_DENIED, NULL},
		{501, "{\"notImplemented\":{\"code\":501,\"message\":\"no\"}}", PROVIDER_TRANSIENT,
		 NULL},
	};
	struct provider_op op = {.kind = PROVIDER_CONSOLE};
	struct provider_request rq;
	struct provider_result r;

	(void)state;
	op.u.console.id = "88947f67-bc37-4ebc-ab16-075677006e6f";
	build(&rq, &op);
	assert_string_equal(rq.method, "POST");
	assert_string_equal(rq.url, NOVA "/servers/88947f67-bc37-4ebc-ab16-075677006e6f/action");
	assert_string_equal(rq.body, "{\"os-getConsoleOutput\":{\"length\":200}}");
	assert_string_equal(header(&rq, "X-Auth-Token"), THE_TOKEN);
	provider_request_fini(&rq);
	for (size_t i = 0; i < COUNT(rows); i++) {
		parse(&r, &op, rows[i].status, rows[i].body);
		assert_int_equal(r.code, rows[i].code);
		if (rows[i].log == NULL)
			assert_null(r.console);
		else
			assert_string_equal(r.console, rows[i].log);
		provider_result_fini(&r);
	}
	op.u.console.id = "a b";
	refuse(&op, "want an id");
}

static void test_of_a_long_console_the_end_is_kept(void **state)
{
	struct provider_op op = {.kind = PROVIDER_CONSOLE};
	char *body = mem_zalloc(200100);
	struct provider_result r;

	(void)state;
	op.u.console.id = "88947f67-bc37-4ebc-ab16-075677006e6f";
	memcpy(body, "{\"output\":\"", 11);
	memset(body + 11, 'x', 200000);
	memcpy(body + 200011, "end\"}", 6);
	parse(&r, &op, 200, body);
	assert_int_equal(strlen(r.console), PROVIDER_CONSOLE_MAX);
	assert_string_equal(r.console + PROVIDER_CONSOLE_MAX - 4, "xend");
	provider_result_fini(&r);
	free(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_console),
		T(test_of_a_long_console_the_end_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
