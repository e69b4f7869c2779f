/* test_failures.c - why instances failed is kept from each page of a list, until all of it is
 * known.
 */
#include "bare_cloud.h"
#include "cloud/cloud.h"

static struct fix {
	const struct provider_failure *says[3]; /* of each page, NULL: none */
	unsigned page;
	enum provider_code last; /* of the last page */
	unsigned looked;
} F;

static void parse(const void *self, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out)
{
	const struct provider_failure *f = F.says[F.page++];

	(void)self;
	(void)op;
	(void)reply;
	out->code = F.page < 3 ? PROVIDER_MORE : F.last;
	if (F.page < 3)
		(void)snprintf(out->cursor, sizeof(out->cursor), "page %u", F.page);
	if (f == NULL)
		return;
	out->failures = mem_zalloc(sizeof(*f));
	out->failures[0] = *f;
	out->nfailures = 1;
}

static const struct provider_ops ops = {.name = "test", .build = bare_build, .parse = parse};

static int setup(void **state)
{
	(void)state;
	F = (struct fix){.last = PROVIDER_OK};
	bare_init(&ops, 1, 8, 0);
	B.c->quotes_next = INT64_MAX;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bare_fini();
	return 0;
}

static const struct provider_failure z = {.id = "i-z",
					  .code = PROVIDER_CAPACITY,
					  .message = "none"},
				     m = {.id = "i-m", .code = PROVIDER_QUOTA},
				     a = {.id = "i-a", .code = PROVIDER_TRANSIENT};

static void look(const struct cloud *c)
{
	F.looked++;
	assert_string_equal(list_failure(c, "i-z")->message, "none");
	assert_int_equal(list_failure(c, "i-z")->code, PROVIDER_CAPACITY);
	assert_int_equal(list_failure(c, "i-m")->code, PROVIDER_QUOTA);
	assert_int_equal(list_failure(c, "i-a")->code, PROVIDER_TRANSIENT);
	assert_null(list_failure(c, "i-b"));
}

static void look_at_none(const struct cloud *c)
{
	F.looked++;
	assert_null(list_failure(c, "i-z"));
}

static void list(void (*listed)(const struct cloud *c))
{
	F.page = 0;
	B.listed = listed;
	B.c->list_next = 0;
	engine_turn(&B.e);
	for (int i = 0; i < 3; i++)
		answer("list", 200, "");
}

static void test_those_of_all_pages_are_found(void **state)
{
	(void)state;
	F.says[0] = &z;
	F.says[1] = &m;
	F.says[2] = &a;
	list(look);
	assert_int_equal(F.looked, 1);
}

/* The instance may be another's by then, or run. */
static void test_those_of_a_list_that_is_over_are_gone(void **state)
{
	(void)state;
	F.says[0] = &z;
	list(NULL);
	assert_null(list_failure(B.c, "i-z"));
	F.says[0] = NULL;
	list(look_at_none);
	assert_int_equal(F.looked, 1);
}

/* F17 */
static void test_those_of_a_list_that_failed_are_gone(void **state)
{
	(void)state;
	F.says[0] = &z;
	F.last = PROVIDER_TRANSIENT;
	list(NULL);
	assert_int_equal(B.lists, 0);
	F.says[0] = NULL;
	F.last = PROVIDER_OK;
	W.now += 60000;
	list(look_at_none);
	assert_int_equal(F.looked, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_those_of_all_pages_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(test_those_of_a_list_that_is_over_are_gone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_those_of_a_list_that_failed_are_gone, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
