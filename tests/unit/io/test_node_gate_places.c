/* test_node_gate_places.c - who may stay connected when all places are taken. */
#include "node_gate_lab.h"

/* --- rates ------------------------------------------------------------------------------------ */

/* 65,536 addresses in a table of 8192: nobody who is connected is forgotten. */
static void who_is_connected_keeps_his_place_among_many(void **state)
{
	const struct node_gate_opts o = {.accepts_per_addr_s = 1};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key me = four(200, 200), six1 = six(1, 1), six2 = six(1, 2);
	struct node_gate_conn mine, mine6;

	(void)state;
	(void)come(g, &mine, &me, 1000);
	(void)come(g, &mine6, &six1, 1000);
	assert_int_equal(knock(g, &six2, 1000), NODE_GATE_OPEN);
	for (unsigned i = 0; i < 65536; i++) {
		struct node_gate_key k = four((uint8_t)(i >> 8), (uint8_t)i);

		if (memcmp(&k, &me, sizeof(k)) != 0)
			(void)knock(g, &k, 1900);
	}
	assert_int_equal(knock(g, &me, 1900), NODE_GATE_RATE);
	for (uint8_t i = 3; i < 5; i++) { /* nor is his network */
		six2 = six(1, i);
		assert_int_equal(knock(g, &six2, 1900), i == 3 ? NODE_GATE_OPEN : NODE_GATE_RATE);
	}
	node_gate_leave(g, &mine, 3000);
	node_gate_leave(g, &mine, 3000);
	node_gate_leave(g, &mine6, 3000);
	assert_int_equal(node_gate_conns(g), 0);
	node_gate_free(g);
}

static void who_has_left_leaves_his_place(void **state)
{
	const struct node_gate_opts o = {.accepts_per_addr_s = 1};
	struct node_gate *g = node_gate_new(&o, 7, 1000);

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct node_gate_key k = six((uint8_t)i, 1);
		struct node_gate_conn c;

		k.octet[6] = (uint8_t)(i >> 8);
		assert_null(come(g, &c, &k, 1000));
		node_gate_leave(g, &c, 1000);
	}
	node_gate_free(g);
}

/* In a table that is nearly full an address may find no place but that of its network, which it
 * may not have: here it has the same set. */
static void an_address_does_not_take_the_place_of_its_network(void **state)
{
	enum { N = 6500 };
	const struct node_gate_opts o = {.accepts_per_addr_s = 4};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_conn *c = mem_zalloc(N * sizeof(*c));
	unsigned none = 0, all = 0;

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		struct node_gate_key k = four((uint8_t)(i >> 8), (uint8_t)i);

		node_gate_enter(g, &c[i], &k, 1000);
	}
	for (uint8_t i = 0; i < 200; i++) {
		struct node_gate_key k = six(i, 0);
		unsigned n = open_of(g, &k, 9, 1000);

		none += n == 0;
		all += n == 4;
	}
	assert_int_equal(none + all, 200);
	assert_true(none > 0 && all > 0);
	free(c);
	node_gate_free(g);
}

/* --- room ------------------------------------------------------------------------------------- */

static void the_oldest_stranger_goes_for_a_newcomer(void **state)
{
	const struct node_gate_opts o = {.max_strangers = 3};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1), b = four(0, 2);
	struct node_gate_conn c[6];

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_null(come(g, &c[i], &a, 1000));
	assert_ptr_equal(come(g, &c[3], &b, 1000), &c[0]);
	node_gate_leave(g, &c[2], 1000);
	assert_null(come(g, &c[4], &b, 1000));
	assert_ptr_equal(come(g, &c[5], &b, 1000), &c[1]);
	assert_int_equal(node_gate_strangers(g), 3);
	assert_int_equal(node_gate_conns(g), 3);
	node_gate_free(g);
}

static void an_address_makes_room_among_its_own(void **state)
{
	const struct node_gate_opts o = {.max_per_addr = 2};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1), b = four(0, 2);
	struct node_gate_conn c[5];

	(void)state;
	assert_null(come(g, &c[0], &b, 1000));
	assert_null(come(g, &c[1], &a, 1000));
	assert_null(come(g, &c[2], &a, 1000));
	assert_ptr_equal(come(g, &c[3], &a, 1000), &c[1]);
	assert_null(come(g, &c[4], &b, 1000));
	node_gate_free(g);
}

/* Whoever knocks in vain drives nobody out: not faster than the rates allow. */
static void a_knock_beyond_the_rates_drives_nobody_out(void **state)
{
	const struct node_gate_opts o = {.accepts_per_s = 2, .max_strangers = 1};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1);
	struct node_gate_conn c[2], *out;

	(void)state;
	assert_null(come(g, &c[0], &a, 1000));
	assert_ptr_equal(come(g, &c[1], &a, 1000), &c[0]);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(node_gate_knock(g, &a, 1000, &out), NODE_GATE_RATE);
		assert_null(out);
	}
	assert_int_equal(node_gate_strangers(g), 1);
	node_gate_free(g);
}

static void only_strangers_go_when_all_is_full(void **state)
{
	const struct node_gate_opts o = {.max_conns = 3};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1);
	struct node_gate_conn c[5];
	uint8_t spki[NODE_GATE_SPKI];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		spki_of(spki, i);
		assert_null(come(g, &c[i], &a, 1000));
		assert_null(node_gate_know(g, &c[i], spki, 1000));
	}
	assert_null(come(g, &c[2], &a, 1000));
	assert_ptr_equal(come(g, &c[3], &a, 1000), &c[2]);
	spki_of(spki, 3);
	assert_null(node_gate_know(g, &c[3], spki, 1000));
	assert_int_equal(knock(g, &a, 1000), NODE_GATE_FULL);
	node_gate_leave(g, &c[0], 1000);
	assert_null(come(g, &c[4], &a, 1000));
	node_gate_free(g);
}

/* A good claim, which waits for the secret store. */
static void who_waits_for_an_answer_stays(void **state)
{
	const struct node_gate_opts o = {.max_strangers = 2, .max_per_addr = 2};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1);
	struct node_gate_conn c[6];

	(void)state;
	assert_null(come(g, &c[0], &a, 1000));
	node_gate_hold(g, &c[0], true);
	node_gate_hold(g, &c[0], true);
	assert_null(come(g, &c[1], &a, 1000));
	assert_null(come(g, &c[2], &a, 1000));
	assert_ptr_equal(come(g, &c[3], &a, 1000), &c[1]);
	/* With his answer he is the youngest, so that he can read it. */
	node_gate_hold(g, &c[0], false);
	assert_int_equal(node_gate_strangers(g), 3);
	assert_ptr_equal(come(g, &c[4], &a, 1000), &c[2]);
	assert_ptr_equal(come(g, &c[5], &a, 1000), &c[3]);
	for (int i = 0; i < 6; i++)
		node_gate_leave(g, &c[i], 1000);
	assert_int_equal(node_gate_conns(g), 0);
	node_gate_free(g);
}

/* Ten thousand nodes with an address each are more than the table of addresses has places. */
static void nodes_take_no_room_from_each_other(void **state)
{
	enum { N = 10000 };
	const struct node_gate_opts o = {
		.max_conns = 14000, .max_strangers = 2000, .max_per_addr = 1};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_conn *c = mem_zalloc(N * sizeof(*c));
	uint8_t spki[NODE_GATE_SPKI];

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		struct node_gate_key k = four((uint8_t)(i >> 8), (uint8_t)i);

		spki_of(spki, i);
		assert_null(come(g, &c[i], &k, 1000));
		assert_null(node_gate_know(g, &c[i], spki, 1000));
	}
	assert_int_equal(node_gate_conns(g), N);
	assert_int_equal(node_gate_strangers(g), 0);
	for (unsigned i = 0; i < N; i++)
		node_gate_leave(g, &c[i], 1000);
	assert_int_equal(node_gate_conns(g), 0);
	free(c);
	node_gate_free(g);
}

/* Nor all of them behind one address. */
static void nodes_do_not_count_for_their_address(void **state)
{
	const struct node_gate_opts o = {.max_per_addr = 2};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1);
	struct node_gate_conn c[100];
	uint8_t spki[NODE_GATE_SPKI];

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		spki_of(spki, i);
		assert_null(come(g, &c[i], &a, 1000));
		assert_null(node_gate_know(g, &c[i], spki, 1000));
	}
	node_gate_free(g);
}

/* One node, taken over, does not fill the listener either. */
static void a_key_has_so_many_connections_and_the_oldest_goes(void **state)
{
	const struct node_gate_opts o = {.max_per_key = 2};
	struct node_gate *g = node_gate_new(&o, 7, 1000);
	struct node_gate_key a = four(0, 1);
	struct node_gate_conn c[5], other;
	uint8_t mine[NODE_GATE_SPKI], his[NODE_GATE_SPKI];

	(void)state;
	spki_of(mine, 1);
	(void)beside(7, mine, his);
	for (int i = 0; i < 5; i++)
		(void)come(g, &c[i], &a, 1000);
	(void)come(g, &other, &a, 1000);
	assert_null(node_gate_know(g, &c[0], mine, 1000));
	assert_null(node_gate_know(g, &other, his, 1000));
	assert_null(node_gate_know(g, &c[1], mine, 1000));
	assert_ptr_equal(node_gate_know(g, &c[2], mine, 1000), &c[0]);
	assert_ptr_equal(node_gate_know(g, &c[3], mine, 1000), &c[1]);
	node_gate_leave(g, &c[3], 1000);
	assert_null(node_gate_know(g, &c[4], mine, 1000));
	assert_int_equal(node_gate_conns(g), 3);
	node_gate_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_connected_keeps_his_place_among_many),
		cmocka_unit_test(who_has_left_leaves_his_place),
		cmocka_unit_test(an_address_does_not_take_the_place_of_its_network),
		cmocka_unit_test(the_oldest_stranger_goes_for_a_newcomer),
		cmocka_unit_test(an_address_makes_room_among_its_own),
		cmocka_unit_test(a_knock_beyond_the_rates_drives_nobody_out),
		cmocka_unit_test(only_strangers_go_when_all_is_full),
		cmocka_unit_test(who_waits_for_an_answer_stays),
		cmocka_unit_test(nodes_take_no_room_from_each_other),
		cmocka_unit_test(nodes_do_not_count_for_their_address),
		cmocka_unit_test(a_key_has_so_many_connections_and_the_oldest_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
