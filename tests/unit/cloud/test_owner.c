/* test_owner.c - which row an instance belongs to, or once belonged to. */
#include "bare_cloud.h"
#include "cloud/cloud.h"

static const struct provider_ops ops = {.name = "test"};

static int setup(void **state)
{
	(void)state;
	bare_init(&ops, 1, 8, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	map_fini(&B.c->ids);
	bare_fini();
	return 0;
}

static struct fleet_node *add_row(const char *node, uint64_t gen, enum node_state is,
				  const char *provider)
{
	struct node n;

	(void)fleet_name(&B.e.fleet, node, 0);
	node_init(&n, node, gen, W.now);
	n.state = is;
	(void)snprintf(n.instance, sizeof(n.instance), "i-1");
	(void)snprintf(n.provider, sizeof(n.provider), "%s", provider);
	B.e.count.commits++;
	return fleet_add(&B.e.fleet, &n);
}

static void test_what_is_gone_has_no_owner_that_counts(void **state)
{
	struct fleet_node *fn;

	(void)state;
	assert_null(owner_once(B.c, "i-1"));
	fn = add_row("c1", 1, NODE_GONE, "ec2");
	assert_ptr_equal(owner_once(B.c, "i-1"), fn);
	assert_null(owner_of(B.c, "i-1"));
	fn = add_row("c1", 2, NODE_READY, "ec2");
	assert_ptr_equal(owner_once(B.c, "i-1"), fn);
	assert_ptr_equal(owner_of(B.c, "i-1"), fn);
}

/* A journal that was an older copy: the instance was another generation's, too. */
static void test_of_two_rows_the_one_that_counts_has_it(void **state)
{
	struct fleet_node *fn = add_row("c1", 1, NODE_READY, "ec2");

	(void)state;
	(void)add_row("c1", 2, NODE_GONE, "ec2");
	assert_ptr_equal(owner_of(B.c, "i-1"), fn);
	assert_ptr_equal(owner_once(B.c, "i-1"), fn);
}

static void test_a_row_of_a_provider_that_was_removed_has_none(void **state)
{
	(void)state;
	(void)add_row("c1", 1, NODE_GONE, "another");
	assert_null(owner_once(B.c, "i-1"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_what_is_gone_has_no_owner_that_counts),
		T(test_of_two_rows_the_one_that_counts_has_it),
		T(test_a_row_of_a_provider_that_was_removed_has_none),
	};
#undef T

	return cmocka_run_group_tests_name("owner", tests, NULL, NULL);
}
