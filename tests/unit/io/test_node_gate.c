/* test_node_gate.c - who may knock, and how often. */
#include "io/node_gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/node_server.h"

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
	struct node_gate_conn *out;
	unsigned open = 0;

	for (unsigned i = 0; i < n; i++)
		open += node_gate_knock(g, k, now, &out) == NODE_GATE_OPEN;
	return open;
}

/* One connection; who has to go for it. */
static struct node_gate_conn *come(struct node_gate *g, struct node_gate_conn *c,
				   const struct node_gate_key *k, int64_t now)
{
	struct node_gate_conn *out;

	assert_int_equal(node_gate_knock(g, k, now, &out), NODE_GATE_OPEN);
	node_gate_enter(g, c, k, now);
	return out;
}

static enum node_gate_word knock(struct node_gate *g, const struct node_gate_key *k, int64_t now)
{
	struct node_gate_conn *out;

	return node_gate_knock(g, k, now, &out);
}

static void spki_of(uint8_t out[NODE_GATE_SPKI], unsigned n)
{
	memset(out, 7, NODE_GATE_SPKI);
	out[0] = (uint8_t)(n >> 8);
	out[1] = (uint8_t)n;
	out[2] = (uint8_t)(n >> 16);
}

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

/* A key whose requests count for mine: it has the same place.  Of 4096 places some thousands of
 * keys find it; nobody can tell which without the seed. */
static unsigned beside(uint64_t seed, const uint8_t mine[NODE_GATE_SPKI],
		       uint8_t his[NODE_GATE_SPKI])
{
	const struct node_gate_opts o = {.asks_per_key_s = 1};
	struct node_gate *g = node_gate_new(&o, seed, 0);
	struct node_gate_key a = four(0, 1);
	struct node_gate_conn me, he;
	int64_t now = 0;
	bool same = false;
	unsigned n = 1;

	(void)come(g, &me, &a, now);
	assert_null(node_gate_know(g, &me, mine, now));
	while (!same) {
		now += 1000; /* every place has its token again */
		assert_true(node_gate_ask(g, &me, now));
		spki_of(his, ++n);
		(void)come(g, &he, &a, now);
		(void)node_gate_know(g, &he, his, now);
		same = !node_gate_ask(g, &he, now);
		node_gate_leave(g, &he, now);
	}
	node_gate_free(g);
	return n;
}

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
