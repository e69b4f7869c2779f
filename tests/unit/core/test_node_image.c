/* test_node_image.c - the image that a machine is made from, and whether it has shown that it works
 * (core/roll.h). */
#include "node_steps.h"

/* The image is that of the create, whichever that is in the end. */
static void test_image(void **state)
{
	struct node n = node_at(NODE_WANTED);

	(void)state;
	assert_true(step(&n, (struct node_event){.type = NODE_EV_START,
						 .now_ms = T0,
						 .image = "ami-10",
						 .canary = true}));
	assert_string_equal(n.image, "ami-10");
	assert_true(n.canary);
	assert_true(step(&n, (struct node_event){.type = NODE_EV_NOTSENT, .now_ms = T0}));
	assert_true(step(
		&n, (struct node_event){.type = NODE_EV_START, .now_ms = T0 + 9000, .image = "a"}));
	assert_string_equal(n.image, "a");
	assert_false(n.canary);
	assert_string_equal(n.image + 2, ""); /* all bytes are compared */
	assert_true(step(&n, (struct node_event){.type = NODE_EV_THROTTLED, .now_ms = T0}));
	assert_true(step(&n, (struct node_event){.type = NODE_EV_START, .now_ms = T0 + 9000}));
	assert_string_equal(n.image, "");
}

/* Only one that is up has shown anything. */
static void test_proven(void **state)
{
	(void)state;
	for (int s = 0; s < NODE_NSTATES; s++) {
		struct node n = node_at((enum node_state)s);
		bool changed;

		n.canary = true;
		changed = step(&n, (struct node_event){.type = NODE_EV_PROVEN, .now_ms = T0 + 1});

		assert_int_equal(changed, s == NODE_READY);
		assert_int_equal(n.canary, s != NODE_READY);
		assert_false(
			step(&n, (struct node_event){.type = NODE_EV_PROVEN, .now_ms = T0 + 2}));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_proven),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
