/* test_node_gate.c - who may knock, and how often. */
#include "io/node_gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct node_gate_key four(uint8_t a, uint8_t b)
{
	return (struct node_gate_key){
		.octet = {[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 0, [14] = a, [15] = b}};
}

static struct node_gate_key six(uint8_t net, uint8_t host)
{
	return (struct node_gate_key){.octet = {0x20, 0x01, 0x0d, 0xb8, [7] = net, [15] = host}};
}

static unsigned open_of(struct node_gate *g, const struct node_gate_key *k, unsigned n, int64_t now)
{
	unsigned open = 0;

	for (unsigned i = 0; i < n; i++)
		open += node_gate_knock(g, k, now) == NODE_GATE_OPEN;
	return open;
}

static void one_address_cannot_use_up_what_is_for_all(void **state)
{
	const struct node_gate_opts o = {.accepts_per_s = 30, .accepts_per_addr_s = 10};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1), b = four(0, 2), c = four(0, 3), d = four(0, 4);

	(void)state;
	assert_int_equal(open_of(g, &a, 1000, 1000), 10);
	assert_int_equal(open_of(g, &b, 1000, 1000), 10);
	assert_int_equal(open_of(g, &c, 1000, 1000), 10);
	assert_int_equal(open_of(g, &d, 1000, 1000), 0);
	assert_int_equal(node_gate_knock(g, &d, 1000), NODE_GATE_RATE);
	assert_int_equal(open_of(g, &a, 1000, 1500), 5);
	assert_int_equal(open_of(g, &d, 1000, 3000), 10);
	node_gate_free(g);
}

static void connections_are_counted_for_each_address_and_in_all(void **state)
{
	const struct node_gate_opts o = {.max_conns = 3, .max_per_addr = 2};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1), b = four(0, 2);
	struct node_gate_addr *first;

	(void)state;
	first = node_gate_enter(g, &a, 1000);
	(void)node_gate_enter(g, &a, 1000);
	assert_int_equal(node_gate_knock(g, &a, 1000), NODE_GATE_FULL);
	assert_int_equal(node_gate_knock(g, &b, 1000), NODE_GATE_OPEN);
	(void)node_gate_enter(g, &b, 1000);
	assert_int_equal(node_gate_knock(g, &b, 1000), NODE_GATE_FULL);
	assert_int_equal(node_gate_conns(g), 3);
	node_gate_leave(g, first, 1000);
	assert_int_equal(node_gate_knock(g, &a, 1000), NODE_GATE_OPEN);
	node_gate_free(g);
}

static void a_network_of_ipv6_is_one_address(void **state)
{
	const struct node_gate_opts o = {.accepts_per_addr_s = 5};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = six(1, 1), b = six(1, 2), c = six(2, 1);

	(void)state;
	assert_int_equal(open_of(g, &a, 9, 1000), 5);
	assert_int_equal(open_of(g, &b, 9, 1000), 0);
	assert_int_equal(open_of(g, &c, 9, 1000), 5);
	node_gate_free(g);
}

/* 65,536 addresses in a table of 8192: nobody who is connected is forgotten. */
static void who_is_connected_keeps_his_place_among_many(void **state)
{
	const struct node_gate_opts o = {.accepts_per_addr_s = 1, .max_per_addr = 1};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key me = four(200, 200);
	struct node_gate_addr *mine;

	(void)state;
	assert_int_equal(node_gate_knock(g, &me, 1000), NODE_GATE_OPEN);
	mine = node_gate_enter(g, &me, 1000);
	for (unsigned i = 0; i < 65536; i++) {
		struct node_gate_key k = four((uint8_t)(i >> 8), (uint8_t)i);

		(void)node_gate_knock(g, &k, 2000);
	}
	assert_int_equal(node_gate_knock(g, &me, 3000), NODE_GATE_FULL);
	node_gate_leave(g, mine, 3000);
	assert_int_equal(node_gate_conns(g), 0);
	node_gate_free(g);
}

static void asking_is_limited_for_each_address(void **state)
{
	const struct node_gate_opts o = {.asks_per_addr_s = 2};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1), b = four(0, 2);
	struct node_gate_addr *x = node_gate_enter(g, &a, 1000), *y = node_gate_enter(g, &b, 1000);

	(void)state;
	assert_true(node_gate_ask(x, 1000) && node_gate_ask(x, 1000));
	assert_false(node_gate_ask(x, 1000));
	assert_true(node_gate_ask(y, 1000));
	assert_true(node_gate_ask(x, 1500));
	node_gate_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_address_cannot_use_up_what_is_for_all),
		cmocka_unit_test(connections_are_counted_for_each_address_and_in_all),
		cmocka_unit_test(a_network_of_ipv6_is_one_address),
		cmocka_unit_test(who_is_connected_keeps_his_place_among_many),
		cmocka_unit_test(asking_is_limited_for_each_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
