/* test_console_request.c - the request for a console log: it has no more time than anybody waits
 * for it, and says nothing of the provider. */
#include "bare_cloud.h"
#include "cloud/cloud.h"

static enum provider_code code, told;

static void parse(const void *self, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out)
{
	(void)self;
	(void)op;
	(void)reply;
	out->code = code;
}

static const struct provider_ops ops = {.name = "test", .build = bare_build, .parse = parse};

static int setup(void **state)
{
	(void)state;
	bare_init(&ops, 1, 8, 0);
	B.c->quotes_next = B.c->list_next = INT64_MAX;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bare_fini();
	return 0;
}

static void keep(struct cloud *c, void *ctx, const struct provider_result *r)
{
	(void)c;
	(void)ctx;
	told = r->code;
}

static void ask(enum provider_code answered)
{
	const struct provider_op op = {.kind = PROVIDER_CONSOLE};

	told = PROVIDER_NCODES;
	code = answered;
	cloud_send(B.c, &op, keep, NULL);
	answer("console", 200, "");
	assert_int_equal(told, answered);
}

static void test_it_has_five_seconds(void **state)
{
	(void)state;
	B.provider.timeout_ms = 30000;
	ask(PROVIDER_OK);
	assert_int_equal(B.wire[0].timeout_ms, 5000);
	B.provider.timeout_ms = 3000;
	ask(PROVIDER_OK);
	assert_int_equal(B.wire[1].timeout_ms, 3000);
}

/* It needs a right of its own, which nothing else does. */
static void test_it_says_nothing_of_the_provider(void **state)
{
	(void)state;
	ask(PROVIDER_DENIED);
	assert_string_equal(B.c->error, "");
	assert_false(B.c->login_doubted);
	(void)snprintf(B.c->error, sizeof(B.c->error), "list: slowly");
	ask(PROVIDER_OK);
	assert_string_equal(B.c->error, "list: slowly");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_it_has_five_seconds),
		TEST(test_it_says_nothing_of_the_provider),
	};

	return cmocka_run_group_tests_name("console request", tests, NULL, NULL);
}
