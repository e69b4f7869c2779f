/* test_rest_pages.c - lists of a REST cloud: instances, states, and the way to the next page. */
#include "providers/common/rest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- instances ---------------------------------------------------------------------------------
 */

static void test_a_word_that_nobody_knows_is_an_unknown_state(void **state)
{
	static const struct rest_state states[] = {{"up", PROVIDER_RUNNING},
						   {"off", PROVIDER_ENDED}};

	(void)state;
	assert_int_equal(rest_state(states, 2, "up"), PROVIDER_RUNNING);
	assert_int_equal(rest_state(states, 2, "off"), PROVIDER_ENDED);
	assert_int_equal(rest_state(states, 1, "off"), PROVIDER_UNKNOWN);
	assert_int_equal(rest_state(states, 2, "UP"), PROVIDER_UNKNOWN);
	assert_int_equal(rest_state(states, 2, ""), PROVIDER_UNKNOWN);
}

static void test_a_list_grows(void **state)
{
	struct provider_result out = {0};

	(void)state;
	for (int64_t i = 0; i < 100; i++) {
		struct provider_instance *in = rest_add_instance(&out);

		assert_int_equal(in->created_ms, 0);
		in->created_ms = i + 1;
	}
	assert_int_equal(out.ninstances, 100);
	for (int64_t i = 0; i < 100; i++)
		assert_int_equal(out.instances[i].created_ms, i + 1);
	provider_result_fini(&out);
}

static void test_two_nodes_are_not_one_instance(void **state)
{
	struct provider_result out = {.items = calloc(3, sizeof(*out.items)), .nitems = 3};

	(void)state;
	(void)snprintf(out.items[0].instance.id, 8, "a");
	(void)snprintf(out.items[1].instance.id, 8, "b");
	(void)snprintf(out.items[2].instance.id, 8, "a");
	assert_false(rest_ids_differ(&out));
	out.items[2].code = PROVIDER_CAPACITY;
	assert_true(rest_ids_differ(&out));
	provider_result_fini(&out);
}

/* --- pages -------------------------------------------------------------------------------------
 */

static void test_a_cursor_leads_on_and_never_back(void **state)
{
	static char longest[PROVIDER_CURSOR_MAX + 2];
	struct provider_op op = {.kind = PROVIDER_LIST, .cursor = "c1"};
	struct provider_result out = {0};

	(void)state;
	assert_int_equal(rest_more(&op, &out, "c2"), 0);
	assert_int_equal(out.code, PROVIDER_MORE);
	assert_string_equal(out.cursor, "c2");
	assert_int_equal(rest_more(&op, &out, ""), 0);
	assert_int_equal(out.code, PROVIDER_OK);
	assert_string_equal(out.cursor, "");
	assert_int_equal(rest_more(&op, &out, "c1"), -1); /* F16 */
	op.cursor = "c";
	assert_int_equal(rest_more(&op, &out, "c"), -1);
	assert_int_equal(rest_more(&op, &out, "d"), 0);
	op.cursor = NULL;
	assert_int_equal(rest_more(&op, &out, ""), 0);
	memset(longest, 'x', sizeof(longest) - 1);
	assert_int_equal(rest_more(&op, &out, longest), -1);
	longest[PROVIDER_CURSOR_MAX] = '\0';
	assert_int_equal(rest_more(&op, &out, longest), 0);
	assert_string_equal(out.cursor, longest);
}

static void test_pages_are_numbered_from_one(void **state)
{
	struct provider_op op = {.kind = PROVIDER_LIST};
	struct provider_result out = {0};

	(void)state;
	assert_int_equal(rest_page(&op), 1);
	assert_int_equal(rest_more_pages(&op, &out, true), 0);
	assert_int_equal(out.code, PROVIDER_MORE);
	assert_string_equal(out.cursor, "2");
	op.cursor = "41";
	assert_int_equal(rest_page(&op), 41);
	assert_int_equal(rest_more_pages(&op, &out, true), 0);
	assert_string_equal(out.cursor, "42");
	assert_int_equal(rest_more_pages(&op, &out, false), 0);
	assert_int_equal(out.code, PROVIDER_OK);
	assert_string_equal(out.cursor, "");
}

/* Our credential goes to no address but the configured one. */
static void test_the_next_page_is_below_the_base(void **state)
{
	static const struct {
		const char *next, *url; /* NULL: refused */
	} table[] = {
		{"https://cloud.example/api/v1/x?page=2", "https://cloud.example/api/v1/x?page=2"},
		{"http://cloud.example/api/v1/x?page=2", "https://cloud.example/api/v1/x?page=2"},
		{"https://cloud.example/api?page=2", "https://cloud.example/api?page=2"},
		{"/api/v1/x?a=%2F&b", "https://cloud.example/api/v1/x?a=%2F&b"},
		{"/v1/x?page=2", NULL},
		{"/apis/x", NULL},
		{"//evil.example/api/x", NULL},
		{"https://evil.example/api/x", NULL},
		{"https://evil0.example/api/x", NULL}, /* as long as ours */
		{"http:/cloud.example/api/x", NULL},
		{"https:/cloud.example/api/x", NULL},
		{"/api/x?~", "https://cloud.example/api/x?~"},
		{"/", NULL},
		{"https://cloud.example.evil/api/x", NULL},
		{"https://cloud.example@evil/api/x", NULL},
		{"https://cloud.example/apis", NULL},
		{"https://cloud.example/api", NULL},
		{"ftp://cloud.example/api/x", NULL},
		{"x?page=2", NULL},
		{"?page=2", NULL},
		{"/api/../admin", NULL},
		{"/api/x y", NULL},
		{"/api/x#y", NULL},
		{"/api/x\r\nY: z", NULL},
		{"/api/old", NULL}, /* the page itself */
	};
	static const struct rest_api api = {.auth = REST_BEARER, .open = true};
	const struct provider_conf conf = {.name = "p", .url = "https://cloud.example/api"};
	struct rest r;
	struct provider_op op = {.kind = PROVIDER_LIST};
	struct provider_request rq = {0};
	struct provider_result out = {0};
	struct rest_call c;

	(void)state;
	assert_int_equal(rest_init(&r, &api, &conf, NULL), 0);
	rest_begin_url(&c, &r, &op, "/v1/x?limit=7");
	assert_int_equal(rest_end(&c, &rq, "list", NULL), 0);
	assert_string_equal(rq.url, "https://cloud.example/api/v1/x?limit=7");
	assert_string_equal(rq.method, "GET");
	provider_request_fini(&rq);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		op.cursor = "/old";
		if ((rest_more_url(&r, &op, &out, table[i].next) == 0) != (table[i].url != NULL))
			fail_msg("%s", table[i].next);
		if (table[i].url == NULL)
			continue;
		assert_int_equal(out.code, PROVIDER_MORE);
		op.cursor = out.cursor;
		rest_begin_url(&c, &r, &op, "/v1/x");
		assert_int_equal(rest_end(&c, &rq, "list", NULL), 0);
		assert_string_equal(rq.url, table[i].url);
		provider_request_fini(&rq);
	}
	assert_int_equal(rest_more_url(&r, &op, &out, ""), 0);
	r.base[strlen("https://cloud.example")] = '\0';
	assert_int_equal(rest_more_url(&r, &op, &out, "//evil.example/x"), -1);
	assert_int_equal(rest_more_url(&r, &op, &out, "/x"), 0);
	assert_string_equal(out.cursor, "/x");
	assert_int_equal(rest_more_url(&r, &op, &out, ""), 0);
	assert_int_equal(out.code, PROVIDER_OK);
	rest_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_word_that_nobody_knows_is_an_unknown_state),
		cmocka_unit_test(test_a_list_grows),
		cmocka_unit_test(test_two_nodes_are_not_one_instance),
		cmocka_unit_test(test_a_cursor_leads_on_and_never_back),
		cmocka_unit_test(test_pages_are_numbered_from_one),
		cmocka_unit_test(test_the_next_page_is_below_the_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
