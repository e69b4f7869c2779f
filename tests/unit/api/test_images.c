/* New images, and what an operator orders about them: "images", "image-stop", "image-resume". */
#include "ctl_ask.h"

#include "buy/buy_api.h"
#include "jobs/jobs_api.h"

#define RQ(op, rest) "{\"v\":1,\"op\":\"" op "\"" rest "}"

static struct fixture *two_pools(void)
{
	static const char *const lists[] = {"n[1-9]", "m[1-9]"};

	return start_pools(lists, 2);
}

/* ADR 72: how far a new image is, for everybody. */
static void test_images(void **state)
{
	struct fixture *f = two_pools();
	const json_t *one;
	json_t *r;

	(void)state;
	f->e.roll = (struct roll){.stage = ROLL_STOPPED,
				  .old = "ami-1",
				  .next = "ami-2",
				  .since_ms = FAKE_NOW,
				  .why = "n1 is down",
				  .by = "root"};
	r = ask_as(f, &viewer, RQ("images", ""));
	assert_int_equal(json_array_size(json_object_get(r, "images")), 2);
	one = json_array_get(json_object_get(r, "images"), 0);
	assert_string_equal(json_string_value(json_object_get(one, "stage")), "none");
	assert_null(json_object_get(one, "image"));
	one = json_array_get(json_object_get(r, "images"), 1);
	assert_string_equal(json_string_value(json_object_get(one, "pool")), "pool1");
	assert_string_equal(json_string_value(json_object_get(one, "stage")), "stopped");
	assert_string_equal(json_string_value(json_object_get(one, "old")), "ami-1");
	assert_string_equal(json_string_value(json_object_get(one, "image")), "ami-2");
	assert_string_equal(json_string_value(json_object_get(one, "buys")), "ami-1");
	assert_string_equal(json_string_value(json_object_get(one, "why")), "n1 is down");
	assert_string_equal(json_string_value(json_object_get(one, "by")), "root");
	assert_int_equal(json_integer_value(json_object_get(one, "untried")), 1);
	assert_int_equal(json_integer_value(json_object_get(one, "with_image")), 1);
	assert_int_equal(json_integer_value(json_object_get(one, "with_others")), 5);
	assert_string_equal(json_string_value(json_object_get(r, "next")), "");
	json_decref(r);
	r = ask_as(f, &viewer, RQ("images", ",\"pool\":\"pool1\""));
	assert_int_equal(json_array_size(json_object_get(r, "images")), 1);
	json_decref(r);
	r = ask_as(f, &viewer, RQ("images", ",\"after\":\"pool0\""));
	assert_int_equal(json_array_size(json_object_get(r, "images")), 1);
	json_decref(r);
	r = ask_as(f, &viewer, RQ("images", ",\"pool\":\"nosuch\""));
	assert_string_equal(json_string_value(json_object_get(r, "code")), "not-found");
	json_decref(r);
	stop(f);
}

static void test_image_orders(void **state)
{
	static const struct {
		const char *request, *code, *order;
		const struct ctl_caller *who;
	} rows[] = {
		{RQ("image-stop", ",\"pool\":\"pool1\""), NULL, "stop pool1 root", &root},
		{RQ("image-resume", ",\"pool\":\"pool0\""), NULL, "resume pool0 uid 1001, admin",
		 &admin},
		{RQ("image-stop", ",\"pool\":\"nosuch\""), "not-found", "", &root},
		{RQ("image-stop", ""), "invalid", "", &root},
		{RQ("image-stop", ",\"pool\":\"pool1\""), "denied", "", &viewer},
		{RQ("image-resume", ",\"pool\":\"pool1\""), "denied", "", &viewer},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = two_pools();
		json_t *r = ask_as(f, rows[i].who, rows[i].request);
		const char *code = json_string_value(json_object_get(r, "code"));

		assert_string_equal(code != NULL ? code : "",
				    rows[i].code != NULL ? rows[i].code : "");
		assert_string_equal(f->e.image_order, rows[i].order);
		if (rows[i].code == NULL)
			assert_int_equal(json_integer_value(json_object_get(r, "offers")), 2);
		json_decref(r);
		stop(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_image_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
