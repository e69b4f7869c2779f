/* test_placed.c - what `burstctl node show` is told of where a machine is, and of how far from it
 * the others of its job are. */
#include "ctl_ask.h"

static struct fleet_node *buy(struct fixture *f, const char *name, uint64_t job, const char *path)
{
	struct fleet_node *fn;
	struct node n;

	node_init(&n, name, 3, FAKE_NOW);
	n.state = NODE_READY;
	n.job = job;
	fn = fleet_add(&f->e.fleet, &n);
	fn->path = path != NULL ? mem_strdup(path) : NULL;
	return fn;
}

static json_t *show(struct fixture *f, const char *name)
{
	char rq[100];

	(void)snprintf(rq, sizeof(rq), "{\"v\":1,\"op\":\"node\",\"name\":\"%s\"}", name);
	return ask_as(f, &viewer, rq);
}

static void test_where_a_jobs_machines_are(void **state)
{
	struct fixture *f = start("n[1-8]");
	struct fleet_node *late;
	json_t *r;

	(void)state;
	(void)buy(f, "n1", 7, "z/s/b1");
	(void)buy(f, "n2", 8, "y/s/b1"); /* another job's */
	(void)buy(f, "n3", 0, "z/s/b1");
	(void)buy(f, "n6", 0, "z/s/b2");
	r = show(f, "n1");
	assert_string_equal(text(r, "path"), "z/s/b1");
	assert_null(json_object_get(r, "job_hops")); /* it is alone */
	json_decref(r);
	(void)buy(f, "n4", 7, "z/s/b2");
	late = buy(f, "n5", 7, NULL);
	r = show(f, "n1");
	assert_int_equal(number(r, "job_hops"), 1);
	assert_int_equal(number(r, "job_placed"), 2);
	assert_int_equal(number(r, "job_unplaced"), 1);
	json_decref(r);
	r = show(f, "n5");
	assert_string_equal(text(r, "path"), "");
	assert_int_equal(number(r, "job_hops"), 1);
	json_decref(r);
	late->path = mem_strdup("x/s/b2");
	r = show(f, "n1");
	assert_int_equal(number(r, "job_hops"), -1);
	json_decref(r);
	r = show(f, "n3"); /* those without a job are no job */
	assert_null(json_object_get(r, "job_hops"));
	json_decref(r);
	r = show(f, "n7"); /* never bought */
	assert_null(json_object_get(r, "path"));
	json_decref(r);
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_a_jobs_machines_are),
	};

	return cmocka_run_group_tests_name("placed", tests, NULL, NULL);
}
