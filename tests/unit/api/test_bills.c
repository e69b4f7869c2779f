/* test_bills.c - every time that a node was bought, from the bills that are kept (I22). */
#include "core/unit.h"
#include "ctl_ask.h"

static const json_t *generation(const json_t *r, size_t i)
{
	return json_array_get(json_object_get(r, "generations"), i);
}

/* Those in memory say more; a bill of one of them is not shown beside it. */
static void test_what_only_bills_still_tell(void **state)
{
	struct fixture *f = start("n[1-4]");
	json_t *r;

	(void)state;
	(void)fake_node(&f->e, "n1", 4, NODE_READY);
	f->j.nbills = 3;
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
	assert_int_equal(json_array_size(json_object_get(r, "generations")), 4);
	assert_string_equal(text(generation(r, 0), "state"), "ready");
	assert_int_equal(number(generation(r, 1), "generation"), 3);
	assert_int_equal(number(generation(r, 3), "generation"), 1);
	assert_string_equal(text(generation(r, 3), "state"), "gone");
	assert_string_equal(text(generation(r, 3), "instance"), "i-1");
	assert_string_equal(text(generation(r, 3), "pool"), "pool0");
	assert_string_equal(text(generation(r, 3), "cost"), "2.00");
	assert_int_equal(number(generation(r, 3), "end_ms"), FAKE_NOW - 3600000);
	assert_int_equal(number(r, "left_out"), 0);
	json_decref(r);
	/* It has ended, and its row is still there. */
	fake_node(&f->e, "n2", 3, NODE_GONE);
	(void)snprintf(fleet_find(&f->e.fleet, "n2")->newest->n.instance, PROVIDER_ID_MAX, "i-1");
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n2\"}");
	assert_int_equal(json_array_size(json_object_get(r, "generations")), 3);
	json_decref(r);
	stop(f);
}

/* Its unit says where it would be; a fabric is of a machine. */
static void test_a_node_shows_its_unit_and_its_fabric(void **state)
{
	struct fixture *f = start("n[1-4]");
	struct conf_pool *p = &f->e.conf->pools[0];
	json_t *r;

	(void)state;
	f->e.fabric = "pg";
	(void)fake_node(&f->e, "n3", 1, NODE_READY);
	(void)fake_node(&f->e, "n2", 1, NODE_GONE);
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"node\",\"name\":\"n3\"}");
	assert_int_equal(number(r, "unit"), 0);
	assert_string_equal(text(r, "fabric"), "pg-of-n3");
	json_decref(r);
	p->unit = 2;
	p->own.in_fabric = CONF_FABRIC_UNIT;
	assert_int_equal(unit_finish(f->e.conf, p, NULL), 0);
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n3\"}");
	assert_int_equal(number(r, "unit"), 2);
	json_decref(r);
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n2\"}"); /* gone; and one never bought */
	assert_int_equal(number(r, "unit"), 1);
	assert_string_equal(text(r, "fabric"), "");
	json_decref(r);
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n4\"}");
	assert_int_equal(number(r, "unit"), 2);
	assert_string_equal(text(r, "fabric"), "");
	json_decref(r);
	stop(f);
}

static void test_very_many_are_counted(void **state)
{
	struct fixture *f = start("n[1-4]");
	json_t *r;

	(void)state;
	f->j.nbills = CTL_API_GENERATIONS_MAX + 5;
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
	assert_int_equal(json_array_size(json_object_get(r, "generations")),
			 CTL_API_GENERATIONS_MAX);
	assert_int_equal(number(r, "left_out"), 5);
	assert_string_equal(text(r, "left_out_cost"), "10.00");
	json_decref(r);
	stop(f);
}

/* No pool names it any more, and it was paid for. */
static void test_a_node_that_was_taken_out(void **state)
{
	struct fixture *f = start("n[1-4]");
	json_t *r;

	(void)state;
	r = ask_as(f, &admin, "{\"v\":1,\"op\":\"node\",\"name\":\"old1\"}");
	assert_string_equal(text(r, "code"), "not-found");
	json_decref(r);
	f->j.nbills = 1;
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"old1\"}");
	assert_string_equal(text(generation(r, 0), "cost"), "2.00");
	json_decref(r);
	f->j.fail = 1;
	r = ask_as(f, &admin, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
	assert_true(json_is_false(json_object_get(r, "ok")));
	json_decref(r);
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_only_bills_still_tell),
		cmocka_unit_test(test_a_node_shows_its_unit_and_its_fabric),
		cmocka_unit_test(test_very_many_are_counted),
		cmocka_unit_test(test_a_node_that_was_taken_out),
	};

	return cmocka_run_group_tests_name("api/bills", tests, NULL, NULL);
}
