/* test_node_gate.c - who may knock, and how often. */
#include "node_gate_lab.h"

/* --- rates ------------------------------------------------------------------------------------ */

static void one_address_cannot_use_up_what_is_for_all(void **state)
{
	const struct node_gate_opts o = {.accepts_per_s = 40, .accepts_per_addr_s = 10};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1), b = four(0, 2), c = four(0, 3), d = four(0, 4);

	(void)state;
	assert_int_equal(open_of(g, &a, 1000, 1000), 10);
	assert_int_equal(open_of(g, &b, 1000, 1000), 10);
	assert_int_equal(open_of(g, &c, 1000, 1000), 10);
	assert_int_equal(open_of(g, &d, 1000, 1000), 1);
	assert_int_equal(knock(g, &d, 1000), NODE_GATE_RATE);
	assert_int_equal(open_of(g, &a, 1000, 1500), 5);
	assert_int_equal(open_of(g, &d, 1000, 3000), 10);
	node_gate_free(g);
}

/* Two hundred addresses knock all the time, as fast as they can; a new one comes each 200 ms. */
static void a_flood_leaves_a_way_in_for_who_is_new(void **state)
{
	const struct node_gate_opts o = {.accepts_per_s = 200, .accepts_per_addr_s = 50};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	unsigned flood = 0;

	(void)state;
	for (int64_t now = 1000; now < 21000; now += 2) {
		struct node_gate_key k = four(1, (uint8_t)(now / 2 % 200)),
				     me = four(2, (uint8_t)(now / 200));

		flood += knock(g, &k, now) == NODE_GATE_OPEN;
		if (now % 200 == 0)
			assert_int_equal(knock(g, &me, now), NODE_GATE_OPEN);
	}
	/* What is for all, what nobody else took, and what there was at first. */
	assert_in_range(flood, 20 * 150 - 100, 20 * 195 + 200);
	node_gate_free(g);
}

/* A quarter of three is none, which would be no limit. */
static void a_small_rate_is_a_rate(void **state)
{
	const struct node_gate_opts o = {.accepts_per_s = 3};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	unsigned open = 0;

	(void)state;
	for (uint8_t i = 0; i < 100; i++) {
		struct node_gate_key k = four(1, i);

		open += knock(g, &k, 1000) == NODE_GATE_OPEN;
	}
	assert_int_equal(open, 3);
	node_gate_free(g);
}

/* Ten thousand of a network, or any other number. */
static struct node_gate_key of_net(uint8_t net, unsigned i)
{
	struct node_gate_key k = six(net, (uint8_t)i);

	k.octet[14] = (uint8_t)(i >> 8);
	k.octet[13] = (uint8_t)(i >> 16);
	return k;
}

/* What burstd has. */
static struct node_gate *gate_of_burstd(int64_t now)
{
	struct node_server_opts o = {.queue_max = 0};

	node_server_limits(&o, 65536);
	return node_gate_new(&o.gate, 7, now);
}

/* A user of one node, who has its address alone, and a node that claims and is there again. */
static void one_address_does_not_cost_its_network(void **state)
{
	struct node_gate *g = gate_of_burstd(1000);
	struct node_gate_key user = six(1, 1), node = six(1, 2);

	(void)state;
	for (int64_t now = 1000; now < 61000; now += 10) {
		(void)open_of(g, &user, 10, now);
		if (now % 100 == 0)
			assert_int_equal(knock(g, &node, now), NODE_GATE_OPEN);
	}
	node_gate_free(g);
}

/* Nor do users of many nodes: who was not let in lately has some of their network's for himself. */
static void a_flood_of_some_leaves_a_way_into_its_network(void **state)
{
	struct node_gate *g = gate_of_burstd(1000);

	(void)state;
	for (int64_t now = 1000; now < 61000; now += 10) {
		struct node_gate_key node = of_net(1, 1000 + (unsigned)(now / 200));

		for (unsigned i = 0; i < 20; i++) {
			struct node_gate_key user = of_net(1, i);

			(void)knock(g, &user, now);
		}
		if (now % 200 == 0)
			assert_int_equal(knock(g, &node, now), NODE_GATE_OPEN);
	}
	node_gate_free(g);
}

/* Who has a network has 2^64 addresses.  All of them are no more than two: half of what all have.
 */
static void all_of_a_network_is_less_than_what_all_have(void **state)
{
	struct node_gate *g = gate_of_burstd(1000);
	unsigned bad = 0, good = 0, i = 0;

	(void)state;
	for (int64_t now = 1000; now < 61000; now += 10) {
		struct node_gate_key k;

		for (int n = 0; n < 20; n++) {
			k = of_net(1, i++);
			bad += knock(g, &k, now) == NODE_GATE_OPEN;
		}
		k = four((uint8_t)(now / 2560), (uint8_t)(now / 10));
		good += knock(g, &k, now) == NODE_GATE_OPEN;
	}
	assert_in_range(bad, 60 * 95, 60 * 100 + 100);
	assert_in_range(good, 60 * 95, 60 * 100);
	node_gate_free(g);
}

/* Where nodes are it is more, and others still have some. */
static void a_network_of_nodes_leaves_some_for_others(void **state)
{
	struct node_gate *g = gate_of_burstd(1000);
	struct node_gate_conn c;
	uint8_t spki[NODE_GATE_SPKI];
	unsigned bad = 0, i = 1;
	struct node_gate_key k = of_net(1, 0);

	(void)state;
	spki_of(spki, 1);
	assert_null(come(g, &c, &k, 1000));
	assert_null(node_gate_know(g, &c, spki, 1000));
	for (int64_t now = 1000; now < 61000; now += 10) {
		struct node_gate_key other = six(2, (uint8_t)(now / 100));

		for (int n = 0; n < 20; n++) {
			k = of_net(1, i++);
			bad += knock(g, &k, now) == NODE_GATE_OPEN;
		}
		if (now % 100 == 0)
			assert_int_equal(knock(g, &other, now), NODE_GATE_OPEN);
		if (now % 1000 == 0) { /* with each node that comes it is no more */
			node_gate_leave(g, &c, now);
			k = of_net(1, 0);
			node_gate_enter(g, &c, &k, now);
			assert_null(node_gate_know(g, &c, spki, now));
		}
	}
	assert_in_range(bad, 60 * 160, 60 * 175 + 175);
	node_gate_free(g);
}

/* burstd was started again and knows nobody; each node tries again after a second. */
static void ten_thousand_of_one_network_are_back_within_a_minute(void **state)
{
	enum { N = 10000 };
	struct node_gate *g = gate_of_burstd(1000);
	struct node_gate_conn *c = mem_zalloc(N * sizeof(*c));
	uint8_t spki[NODE_GATE_SPKI];
	unsigned back = 0;

	(void)state;
	for (int64_t now = 1000; now < 61000; now++)
		for (unsigned i = (unsigned)(now % 1000); i < N; i += 1000) {
			struct node_gate_key k = of_net(1, i);

			if (c[i].state != NODE_GATE_GONE || knock(g, &k, now) != NODE_GATE_OPEN)
				continue;
			node_gate_enter(g, &c[i], &k, now);
			spki_of(spki, i);
			assert_null(node_gate_know(g, &c[i], spki, now));
			back++;
		}
	assert_int_equal(back, N);
	free(c);
	node_gate_free(g);
}

/* All that one network has does not make an address forgotten, which then had a full bucket. */
static void a_network_takes_no_places_beyond_its_rate(void **state)
{
	const struct node_gate_opts o = {.accepts_per_addr_s = 5};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1), net = six(1, 0), k;

	(void)state;
	assert_int_equal(open_of(g, &a, 9, 1000), 5);
	for (unsigned i = 0; i < 200000; i++) {
		k = of_net(1, i);
		(void)knock(g, &k, 1001);
	}
	assert_int_equal(knock(g, &a, 1001), NODE_GATE_RATE);
	/* The first address of a network is not the network. */
	assert_int_equal(knock(g, &net, 1001), NODE_GATE_RATE);
	assert_int_equal(open_of(g, &net, 9, 60000), 5);
	assert_int_equal(open_of(g, &k, 9, 60000), 3);
	node_gate_free(g);
}

/* Of what a network has some is left for who comes next; and a /64 is one, not a bit more. */
static void what_a_network_is(void **state)
{
	const struct node_gate_opts o = {.accepts_per_addr_s = 4};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = six(1, 1), b = six(1, 2), c = six(2, 1), d = a;

	(void)state;
	d.octet[8] = 1; /* the first octet that is the owner's */
	assert_int_equal(open_of(g, &a, 9, 1000), 4);
	assert_int_equal(open_of(g, &b, 9, 1000), 2);
	assert_int_equal(open_of(g, &d, 9, 1000), 1);
	assert_int_equal(open_of(g, &c, 9, 1000), 4);
	node_gate_free(g);
}

static void asking_is_limited_for_each_network(void **state)
{
	const struct node_gate_opts o = {.asks_per_addr_s = 2};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_conn c[20];
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct node_gate_key k = of_net(1, i);

		(void)come(g, &c[i], &k, 1000);
		n += node_gate_ask(g, &c[i], 1000);
	}
	assert_int_equal(n, 8);
	assert_true(node_gate_ask(g, &c[19], 1125));
	for (unsigned i = 0; i < 20; i++)
		node_gate_leave(g, &c[i], 1200);
	assert_int_equal(node_gate_conns(g), 0);
	node_gate_free(g);
}

static void asking_is_limited_for_each_address(void **state)
{
	const struct node_gate_opts o = {.asks_per_addr_s = 2};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1), b = four(0, 2);
	struct node_gate_conn x, y;

	(void)state;
	(void)come(g, &x, &a, 1000);
	(void)come(g, &y, &b, 1000);
	assert_true(node_gate_ask(g, &x, 1000) && node_gate_ask(g, &x, 1000));
	assert_false(node_gate_ask(g, &x, 1000));
	assert_true(node_gate_ask(g, &y, 1000));
	assert_true(node_gate_ask(g, &x, 1500));
	node_gate_leave(g, &y, 1500);
	assert_false(node_gate_ask(g, &y, 9000));
	node_gate_free(g);
}

/* --- room ------------------------------------------------------------------------------------- */

static void asking_is_limited_for_each_key(void **state)
{
	const struct node_gate_opts o = {.asks_per_addr_s = 1, .asks_per_key_s = 3};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1);
	struct node_gate_conn x, again, y;
	uint8_t mine[NODE_GATE_SPKI], his[NODE_GATE_SPKI];

	(void)state;
	spki_of(mine, 1);
	spki_of(his, 2);
	(void)come(g, &x, &a, 1000);
	(void)come(g, &again, &a, 1000);
	(void)come(g, &y, &a, 1000);
	assert_null(node_gate_know(g, &x, mine, 1000));
	assert_null(node_gate_know(g, &again, mine, 1000));
	assert_null(node_gate_know(g, &y, his, 1000));
	assert_true(node_gate_ask(g, &x, 1000) && node_gate_ask(g, &again, 1000));
	assert_true(node_gate_ask(g, &x, 1000));
	assert_false(node_gate_ask(g, &x, 1000) || node_gate_ask(g, &again, 1000));
	assert_true(node_gate_ask(g, &y, 1000));
	assert_true(node_gate_ask(g, &again, 1400));
	node_gate_leave(g, &x, 1400);
	assert_false(node_gate_ask(g, &x, 9000));
	node_gate_free(g);
}

/* Or he would make keys until one has the place of the node that he wants silent. */
static void whose_place_a_key_has_depends_on_the_seed(void **state)
{
	uint8_t mine[NODE_GATE_SPKI], his[NODE_GATE_SPKI];

	(void)state;
	spki_of(mine, 1);
	assert_int_not_equal(beside(7, mine, his), beside(8, mine, his));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_address_cannot_use_up_what_is_for_all),
		cmocka_unit_test(a_flood_leaves_a_way_in_for_who_is_new),
		cmocka_unit_test(a_small_rate_is_a_rate),
		cmocka_unit_test(what_a_network_is),
		cmocka_unit_test(one_address_does_not_cost_its_network),
		cmocka_unit_test(a_flood_of_some_leaves_a_way_into_its_network),
		cmocka_unit_test(all_of_a_network_is_less_than_what_all_have),
		cmocka_unit_test(a_network_of_nodes_leaves_some_for_others),
		cmocka_unit_test(ten_thousand_of_one_network_are_back_within_a_minute),
		cmocka_unit_test(a_network_takes_no_places_beyond_its_rate),
		cmocka_unit_test(asking_is_limited_for_each_address),
		cmocka_unit_test(asking_is_limited_for_each_network),
		cmocka_unit_test(asking_is_limited_for_each_key),
		cmocka_unit_test(whose_place_a_key_has_depends_on_the_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
