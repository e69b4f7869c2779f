/* test_cloud.c - the simulated cloud on virtual time: life cycle, capacity, tokens, and its vices.
 */
#include "providers/simcloud/cloud.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

struct world {
	struct settings conf;
	struct meter *meter;
	struct events events;
	struct cloud cloud;
	int64_t now;
	unsigned started, killed;
	int names;
	bool refuse_start;
	enum market market;
};
static struct world W;

static void configure(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);
	struct err e = {0};

	assert_non_null(o);
	if (settings_merge(&W.conf, o, &e) != 0)
		fail_msg("%s", e.msg);
	json_decref(o);
	cloud_reconf(&W.cloud);
}

static int setup(void **state)
{
	(void)state;
	memset(&W, 0, sizeof(W));
	W.now = 1000000;
	settings_init(&W.conf);
	W.meter = meter_new();
	events_init(&W.events);
	return cloud_init(&W.cloud,
			  &(struct cloud_opts){.conf = &W.conf,
					       .meter = W.meter,
					       .events = &W.events,
					       .subnet = "10.77.0.0/24",
					       .seed = 1},
			  NULL);
}

static int teardown(void **state)
{
	(void)state;
	cloud_fini(&W.cloud);
	events_fini(&W.events);
	meter_free(W.meter);
	settings_fini(&W.conf);
	return 0;
}

static void pass(int64_t ms)
{
	/* Step by step, as a loop would. */
	for (int64_t end = W.now + ms; W.now < end;) {
		int64_t next = cloud_next(&W.cloud);

		W.now = next < end ? (next > W.now ? next : W.now) : end;
		cloud_tick(&W.cloud, W.now);
	}
}

/* "n1,n2:5" makes n1 alone and n2 in group 5; results in out. */
static enum code create(const char *token, const char *names, uint64_t hash, int32_t *out)
{
	static struct cloud_want wants[8];
	struct cloud_create rq = {.token = token,
				  .cluster = "c",
				  .type = "gpu_8x_h100",
				  .region = "eu-north-1",
				  .zone = "",
				  .market = W.market,
				  .wants = wants,
				  .body_hash = hash,
				  .body_len = 1};

	memset(wants, 0, sizeof(wants));
	for (const char *p = names; *p != '\0'; p += *p == ',') {
		struct cloud_want *w = &wants[rq.nwants++];
		size_t len = strcspn(p, ",:");

		memcpy(w->node, p, len);
		w->gen = 1;
		p += len;
		if (*p == ':')
			w->group = strtol(p + 1, (char **)(uintptr_t)&p, 10);
	}
	return cloud_create(&W.cloud, &rq, out, W.now);
}

static struct cloud_instance *one(const char *name)
{
	int32_t row;

	assert_int_equal(create("", name, 0, &row), CODE_OK);
	assert_true(row >= 0);
	return cloud_of_row(&W.cloud, (uint32_t)row);
}

static const struct meter_row *row_of(const struct cloud_instance *i)
{
	return &W.meter->rows[i->row];
}

static enum code del(const struct cloud_instance *i)
{
	char id[METER_ID_SIZE];
	int64_t retry = 0;

	return cloud_delete(&W.cloud, meter_id(id, i->row), W.now, &retry);
}

static void count_row(void *ctx, const struct cloud_instance *i)
{
	(void)i;
	++*(unsigned *)ctx;
}

static unsigned listed(const char *cluster)
{
	struct cloud_query q = {.cluster = cluster, .after = -1, .limit = 1000, .now = W.now};
	unsigned n = 0;

	assert_int_equal(cloud_list(&W.cloud, &q, count_row, &n), -1);
	return n;
}

static void test_life(void **state)
{
	struct cloud_instance *i = one("n1");

	(void)state;
	assert_int_equal(i->state, CLOUD_PENDING);
	pass(1099);
	assert_int_equal(i->state, CLOUD_PENDING);
	pass(1);
	assert_int_equal(i->state, CLOUD_RUNNING);
	configure("{\"stop\":\"5s\"}");
	assert_int_equal(del(i), CODE_OK);
	assert_int_equal(del(i), CODE_OK);
	assert_int_equal(i->state, CLOUD_STOPPING);
	assert_int_equal(row_of(i)->deleted_ms, W.now);
	assert_int_equal(row_of(i)->end_ms, -1); /* F21: accepted, and bills on */
	pass(5000);
	assert_int_equal(i->state, CLOUD_ENDED);
	assert_int_equal(row_of(i)->end_ms, W.now);
	assert_int_equal(row_of(i)->end_ms - row_of(i)->start_ms, 6100);
	assert_int_equal(del(i), CODE_OK); /* of an ended one: fine */
	assert_int_equal(listed("c"), 1);
	pass(59999);
	assert_int_equal(listed("c"), 1);
	pass(1);
	assert_int_equal(listed("c"), 0);
	assert_int_equal(W.cloud.live, 0);
}

static void test_tokens(void **state)
{
	int32_t a[8], b[8];

	(void)state;
	assert_int_equal(create("t", "n1,n2", 1, a), CODE_OK);
	assert_int_equal(create("t", "n1,n2", 1, b), CODE_OK);
	assert_memory_equal(a, b, 2 * sizeof(a[0]));
	assert_int_equal(W.meter->n, 2);
	assert_int_equal(create("t", "n1,n2", 2, b), CODE_TOKEN_MISMATCH);
	pass(23 * 3600000 + 3599000);
	assert_int_equal(create("t", "n1,n2", 1, b), CODE_OK);
	assert_int_equal(W.meter->n, 2);
	pass(1000);
	assert_int_equal(create("t", "n1,n2", 1, b), CODE_OK); /* its life is over: F5 */
	assert_int_equal(W.meter->n, 4);
}

static void test_tokens_switched_off(void **state)
{
	int32_t a[8];

	(void)state;
	configure("{\"tokens\":false}");
	assert_int_equal(create("t", "n1", 1, a), CODE_OK);
	assert_int_equal(create("t", "n1", 1, a), CODE_OK);
	assert_int_equal(W.meter->n, 2);
}

static void test_token_of_a_create_that_made_nothing_is_free(void **state)
{
	int32_t a[8];

	(void)state;
	configure("{\"quota\":0}");
	assert_int_equal(create("t", "n1", 1, a), CODE_OK);
	assert_int_equal(a[0], -CODE_QUOTA);
	configure("{\"quota\":null}");
	assert_int_equal(create("t", "n1", 1, a), CODE_OK);
	assert_int_equal(a[0], 0);
}

#define POOL(zone, n)                                                                              \
	"{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"zone\":\"" zone                     \
	"\",\"price\":\"1\",\"capacity\":" #n "}"

/* F4, F8: who gets a place, and who does not. */
static void test_capacity_and_gangs(void **state)
{
	static const struct {
		const char *offers, *names;
		int made[8]; /* 1: yes, 0: capacity */
	} rows[] = {
		{"{\"offers\":[" POOL("a", 2) "]}", "n1,n2,n3", {1, 1, 0}},
		{"{\"offers\":[" POOL("a", 2) "]}", "n1:1,n2:1,n3:1", {0, 0, 0}},
		{"{\"offers\":[" POOL("a", 3) "]}", "n1:1,n2:1,n3:1", {1, 1, 1}},
		{"{\"offers\":[" POOL("a", 2) "]}", "n1:1,n2:2,n3:1,n4:2", {1, 0, 1, 0}},
		{"{\"offers\":[" POOL("a", 2) "]}", "n1:1,n2:1,n3:1,n4", {0, 0, 0, 1}},
		{"{\"offers\":[" POOL("a", 1) "," POOL("b", 1) "]}", "n1,n2,n3", {1, 1, 0}},
		/* a gang is of one zone */
		{"{\"offers\":[" POOL("a", 1) "," POOL("b", 1) "]}", "n1:1,n2:1", {0, 0}},
		{"{\"offers\":[" POOL("a", 1) "," POOL("b", 2) "]}", "n1:1,n2:1", {1, 1}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int32_t out[8] = {0};

		if (i > 0)
			assert_int_equal(setup(NULL), 0);
		configure(rows[i].offers);
		assert_int_equal(create("", rows[i].names, 0, out), CODE_OK);
		for (size_t k = 0; k <= strlen(rows[i].names) / 5; k++)
			assert_int_equal(out[k] >= 0                ? 1
					 : out[k] == -CODE_CAPACITY ? 0
								    : -1,
					 rows[i].made[k]);
		if (i + 1 < sizeof(rows) / sizeof(rows[0]))
			(void)teardown(NULL);
	}
}

static void test_capacity_comes_back(void **state)
{
	int32_t out[8];
	struct cloud_instance *i;

	(void)state;
	configure("{\"offers\":[" POOL("a", 1) "]}");
	i = one("n1");
	assert_int_equal(create("", "n2", 0, out), CODE_OK);
	assert_int_equal(out[0], -CODE_CAPACITY);
	assert_int_equal(del(i), CODE_OK);
	assert_int_equal(create("", "n2", 0, out), CODE_OK);
	assert_true(out[0] >= 0);
}

static void test_unknown_place_is_invalid(void **state)
{
	int32_t out[8];

	(void)state;
	configure("{\"offers\":[]}");
	assert_int_equal(create("", "n1", 0, out), CODE_INVALID);
	assert_int_equal(W.meter->n, 0);
}

/* F41, F42: the notice counts from now, and a delete in between still ends it. */
static void test_reclaim(void **state)
{
	struct cloud_instance *a = one("n1"), *b = one("n2");

	(void)state;
	pass(2000);
	assert_true(cloud_reclaim(&W.cloud, a, 30000, W.now));
	assert_true(cloud_reclaim(&W.cloud, b, 30000, W.now));
	assert_int_equal(a->state, CLOUD_RECLAIMING);
	assert_int_equal(a->reclaim_at, W.now + 30000);
	assert_int_equal(del(b), CODE_OK);
	assert_int_equal(b->state, CLOUD_ENDED);
	assert_false(cloud_reclaim(&W.cloud, b, 1, W.now));
	pass(29999);
	assert_int_equal(a->state, CLOUD_RECLAIMING);
	pass(1);
	assert_int_equal(a->state, CLOUD_ENDED);
	assert_int_equal(row_of(a)->deleted_ms, -1);
}

static void test_spot_has_a_life_of_its_own(void **state)
{
	struct cloud_instance *od, *spot;

	(void)state;
	configure("{\"spot_life\":\"1h\",\"spot_notice\":\"30s\"}");
	od = one("n1");
	W.market = MARKET_SPOT;
	spot = one("n2");
	assert_string_equal(row_of(spot)->type, row_of(od)->type);
	assert_int_equal(row_of(spot)->price_nano_h, INT64_C(11800000000));
	pass(3600000 - 1);
	assert_int_equal(spot->state, CLOUD_RUNNING);
	pass(1);
	assert_int_equal(spot->state, CLOUD_RECLAIMING);
	pass(30000);
	assert_int_equal(spot->state, CLOUD_ENDED);
	pass(86400000);
	assert_int_equal(od->state, CLOUD_RUNNING);
}

/* F12, F14, F15, F20 */
static void test_vices_of_lists(void **state)
{
	struct cloud_instance *i;
	unsigned seen = 0;

	(void)state;
	configure("{\"visible\":\"5s\",\"state_lag\":\"3s\",\"address_after\":\"4s\"}");
	i = one("n1");
	assert_int_equal(listed("c"), 0);
	assert_int_equal(del(i), CODE_NOT_FOUND); /* alive, and yet a 404 (I9) */
	pass(5000);
	assert_int_equal(listed("c"), 1);
	assert_int_equal(listed("other"), 0);
	assert_int_equal(i->address_at, i->visible_at - 1000);
	configure("{\"stop\":\"10s\"}");
	assert_int_equal(del(i), CODE_OK);
	assert_int_equal(cloud_shown(i, W.now), CLOUD_RUNNING);
	pass(3000);
	assert_int_equal(cloud_shown(i, W.now), CLOUD_STOPPING);
	configure("{\"flap\":0.5}");
	for (int k = 0; k < 1000; k++)
		seen += listed("c");
	assert_in_range(seen, 400, 600);
}

static void test_without_filter_or_tags_all_is_listed(void **state)
{
	static const struct {
		const char *conf;
		unsigned mine, others;
	} rows[] = {
		{"{}", 1, 0},
		{"{\"filter\":false}", 1, 1},
		{"{\"filter\":null,\"tags\":false}", 1, 1},
	};

	(void)state;
	(void)one("n1");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		configure(rows[i].conf);
		assert_int_equal(listed("c"), rows[i].mine);
		assert_int_equal(listed("other"), rows[i].others);
		assert_int_equal(listed(""), 1);
	}
}

static void test_pages_cover_all_once(void **state)
{
	static const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 1000};

	(void)state;
	for (int k = 0; k < 8; k++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "n%d", k);
		(void)one(name);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned n = 0, pages = 0;
		struct cloud_query q = {
			.cluster = "c", .after = -1, .limit = sizes[i], .now = W.now};

		do {
			q.after = cloud_list(&W.cloud, &q, count_row, &n);
			pages++;
		} while (q.after >= 0);
		assert_int_equal(n, 8);
		assert_int_equal(pages, (8 + sizes[i] - 1) / sizes[i]);
	}
}

/* F22, F23, F34 */
static void test_refusals_and_hangs(void **state)
{
	struct cloud_instance *i;
	char id[METER_ID_SIZE];
	int64_t retry = 0;

	(void)state;
	configure("{\"min_rental\":\"60s\",\"boot_never\":[\"n1\"],\"end_never\":[\"gpu_*\"]}");
	i = one("n1");
	pass(20000);
	assert_int_equal(cloud_delete(&W.cloud, meter_id(id, i->row), W.now, &retry), CODE_NOT_YET);
	assert_int_equal(retry, 40000);
	pass(40000);
	assert_int_equal(i->state, CLOUD_PENDING); /* it never boots */
	assert_int_equal(del(i), CODE_OK);
	pass(86400000);
	assert_int_equal(i->state, CLOUD_STOPPING); /* it never ends */
	assert_int_equal(row_of(i)->end_ms, -1);
	cloud_kill(&W.cloud, i, "killed", W.now);
	assert_int_equal(i->state, CLOUD_ENDED);
}

static void test_quota(void **state)
{
	int32_t out[8];

	(void)state;
	configure("{\"quota\":2}");
	assert_int_equal(create("", "n1,n2,n3", 0, out), CODE_OK);
	assert_int_equal(out[2], -CODE_QUOTA);
}

/* F37: the address freed last is the next to be given. */
static void test_address_reuse(void **state)
{
	struct cloud_instance *a, *b;
	uint32_t first;

	(void)state;
	a = one("n1");
	first = a->addr;
	assert_int_equal(del(a), CODE_OK);
	assert_int_not_equal(one("n2")->addr, first);
	configure("{\"addr_reuse\":\"0s\"}");
	b = one("n3");
	assert_int_equal(b->addr, first);
}

static void test_subnet_used_up_is_no_capacity(void **state)
{
	int32_t out[8];
	unsigned made = 0;

	(void)state;
	for (int k = 0; k < 300; k++) {
		assert_int_equal(create("", "n1", 0, out), CODE_OK);
		made += out[0] >= 0;
	}
	assert_int_equal(made, 254 - ADDR_HOST_KEEPS + 1);
	assert_int_equal(out[0], -CODE_CAPACITY);
}

/* --- instances that are processes --------------------------------------------------------------
 */

static bool on_start(void *ctx, const struct cloud_instance *i)
{
	(void)ctx;
	(void)i;
	W.started++;
	return !W.refuse_start;
}

static void on_kill(void *ctx, const struct cloud_instance *i)
{
	(void)ctx;
	(void)i;
	W.killed++;
}

static void on_named(void *ctx, const struct cloud_instance *i, bool live)
{
	(void)ctx;
	(void)i;
	W.names += live ? 1 : -1;
}

static void with_host(void)
{
	W.cloud.host = (struct cloud_host){.start = on_start, .kill = on_kill, .named = on_named};
}

static void test_process_ends_it(void **state)
{
	struct cloud_instance *a, *b;

	(void)state;
	with_host();
	a = one("n1");
	b = one("n2");
	assert_int_equal(W.names, 2);
	pass(1100);
	assert_int_equal(W.started, 2);
	assert_int_equal(del(a), CODE_OK);
	assert_int_equal(W.killed, 1);
	assert_int_equal(a->state, CLOUD_STOPPING); /* until the process is gone it bills */
	pass(70);
	cloud_exited(&W.cloud, a->row, W.now);
	assert_int_equal(a->state, CLOUD_ENDED);
	assert_int_equal(row_of(a)->end_ms, W.now);
	assert_string_equal(a->why, "deleted");
	cloud_exited(&W.cloud, b->row, W.now); /* by itself */
	assert_int_equal(b->state, CLOUD_ENDED);
	assert_string_equal(b->why, "exited");
	cloud_exited(&W.cloud, b->row, W.now); /* and never twice */
	assert_int_equal(W.names, 0);
}

/* F10: what powers itself off is listed as stopping, and billed, before it has ended. */
static void test_what_exits_stops_first(void **state)
{
	struct cloud_instance *a, *b;

	(void)state;
	with_host();
	W.conf.stop = (struct dist){.kind = DIST_CONSTANT, .a_ms = 500};
	a = one("n1");
	b = one("n2");
	pass(1100);
	cloud_exited(&W.cloud, a->row, W.now);
	cloud_exited(&W.cloud, b->row, W.now);
	assert_int_equal(a->state, CLOUD_STOPPING);
	assert_int_equal(del(a), CODE_OK);
	cloud_kill(&W.cloud, b, "killed", W.now);
	assert_string_equal(b->why, "killed");
	pass(499);
	assert_int_equal(a->state, CLOUD_STOPPING);
	pass(1);
	assert_int_equal(a->state, CLOUD_ENDED);
	assert_int_equal(row_of(a)->end_ms, W.now);
	assert_string_equal(a->why, "exited");
	assert_int_equal(b->state, CLOUD_ENDED);
	assert_int_equal(W.killed, 0);
}

static void test_deleted_before_it_booted_is_never_started(void **state)
{
	struct cloud_instance *i;

	(void)state;
	with_host();
	i = one("n1");
	assert_int_equal(del(i), CODE_OK);
	assert_int_equal(i->state, CLOUD_ENDED);
	pass(5000);
	assert_int_equal(W.started, 0);
}

static void test_cannot_boot(void **state)
{
	struct cloud_instance *i;

	(void)state;
	with_host();
	W.refuse_start = true;
	i = one("n1");
	pass(1100);
	assert_int_equal(i->state, CLOUD_ENDED);
	assert_string_equal(i->why, "cannot boot");
}

/* What was due of an instance that is long forgotten comes due all the same. */
static void test_late_events_of_a_forgotten_instance(void **state)
{
	struct cloud_instance *i;

	(void)state;
	configure("{\"boot\":\"10m\"}");
	i = one("n1");
	cloud_kill(&W.cloud, i, "killed", W.now);
	pass(1200000);
	assert_int_equal(cloud_next(&W.cloud), INT64_MAX);
	assert_int_equal(listed(""), 0);
}

static void test_end_all(void **state)
{
	int32_t out[8];

	(void)state;
	(void)one("n1");
	(void)one("n2");
	cloud_end_all(&W.cloud, W.now);
	assert_int_equal(W.cloud.live, 0);
	assert_int_equal(create("", "n3", 0, out), CODE_OK);
	assert_int_equal(out[0], -CODE_INTERNAL);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* --- the spot market -------------------------------------------------------------------------- */

/* The price at the beginning of each hour of the instance holds for that hour, as at EC2. */
static void test_a_price_holds_for_an_hour_of_the_instance(void **state)
{
	const struct cloud_instance *a, *b;
	const struct meter_row *row;
	const int64_t minute = 60000;

	(void)state;
	W.market = MARKET_SPOT;
	configure("{\"offers\":[{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"market\":"
		  "\"spot\",\"prices\":[[\"0s\",\"36\"],[\"90m\",\"72\"],[\"150m\",\"18\"]],"
		  "\"period\":\"4h\"}]}");
	W.cloud.start_ms = W.now;
	a = one("a");
	pass(100 * minute); /* 36, 36 */
	assert_int_equal(meter_price_now(row_of(a)), INT64_C(36000000000));
	b = one("b");
	assert_int_equal(meter_price_now(row_of(b)), INT64_C(72000000000));
	pass(30 * minute); /* a: 72 since the 120th minute */
	assert_int_equal(meter_cost(row_of(a), W.now), INT64_C(84000000000));
	pass(110 * minute); /* 18 at the 180th, and at the 240th it begins anew with 36 */
	pass(15 * minute);
	assert_int_equal(row_of(a)->nlater, 3);
	assert_int_equal(meter_cost(row_of(a), W.now),
			 INT64_C(1000000000) * (36 + 36 + 72 + 18 + 9));
	/* b: 72 from 100 to 160, then 18, also at 220 */
	assert_int_equal(row_of(b)->nlater, 1);
	assert_int_equal(meter_cost(row_of(b), W.now),
			 INT64_C(1000000000) * 72 + INT64_C(18000000000) * 95 / 60);
	row = row_of(a);
	cloud_kill(&W.cloud, cloud_of_row(&W.cloud, a->row), "killed", W.now);
	pass(120 * minute); /* it changes no more */
	assert_int_equal(row->nlater, 3);
}

static void test_a_price_is_of_its_moment(void **state)
{
	static const struct {
		int64_t s, price;
	} rows[] = {{0, 1}, {9, 1}, {10, 2}, {29, 2}, {30, 3}, {59, 3}, {60, 1}, {70, 2}, {691, 3}};
	const struct cloud_pool *p;

	(void)state;
	configure("{\"offers\":[{\"type\":\"t\",\"region\":\"r\",\"market\":\"spot\",\"prices\":[["
		  "\"0s\","
		  "\"1\"],[\"10s\",\"2\"],[\"30s\",\"3\"]],\"period\":\"60s\"}]}");
	p = cloud_pool_get(&W.cloud, "t", "r", "", MARKET_SPOT);
	assert_non_null(p);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(cloud_price(&W.cloud, p, rows[i].s * 1000),
				 INT64_C(1000000000) * rows[i].price);
}

static void test_each_market_has_its_own_capacity(void **state)
{
	int32_t rows[2];

	(void)state;
	configure(
		"{\"offers\":[{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"market\":"
		"\"reserved\",\"price\":\"0\",\"capacity\":1},{\"type\":\"gpu_8x_h100\",\"region\":"
		"\"eu-north-1\",\"price\":\"5\"}]}");
	W.market = MARKET_RESERVED;
	assert_int_equal(create("", "a,b", 0, rows), CODE_OK);
	assert_true(rows[0] >= 0);
	assert_int_equal(rows[1], -CODE_CAPACITY);
	assert_int_equal(W.meter->rows[rows[0]].market, MARKET_RESERVED);
	W.market = MARKET_ON_DEMAND;
	assert_int_equal(create("", "b", 0, rows), CODE_OK);
	W.market = MARKET_SPOT;
	assert_int_equal(create("", "c", 0, rows), CODE_INVALID);
}

static void test_a_reclaim_leaves_as_much_time_as_it_says(void **state)
{
	static const int64_t notices[] = {120000, 30000, 5000, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(notices) / sizeof(notices[0]); i++) {
		struct cloud_instance *a = one("a");
		uint64_t told = W.cloud.notices.n;

		pass(2000);
		assert_true(cloud_reclaim(&W.cloud, a, notices[i], W.now));
		assert_int_equal(W.cloud.notices.n, told + 1);
		assert_int_equal(W.cloud.notices.ring[told].kind, NOTICE_RECLAIM);
		assert_int_equal(W.cloud.notices.ring[told].at_ms, W.now + notices[i]);
		if (notices[i] > 0)
			pass(notices[i] - 1);
		assert_int_equal(a->state, CLOUD_RECLAIMING);
		pass(1);
		assert_int_equal(a->state, CLOUD_ENDED);
		assert_string_equal(a->why, "reclaimed");
		assert_int_equal(W.cloud.notices.ring[told + 1].kind, NOTICE_ENDED);
	}
}

static void test_a_repair_ends_an_instance_and_other_warnings_do_not(void **state)
{
	struct cloud_instance *a = one("a"), *b = one("b");

	(void)state;
	pass(2000);
	assert_true(cloud_warn(&W.cloud, a, NOTICE_MAINTENANCE, 60000, W.now));
	assert_true(cloud_warn(&W.cloud, b, NOTICE_REBALANCE, 60000, W.now));
	assert_true(cloud_warn(&W.cloud, b, NOTICE_FAULTY, 60000, W.now));
	assert_int_equal(W.cloud.notices.ring[0].at_ms, W.now + 60000);
	assert_int_equal(W.cloud.notices.ring[1].at_ms, 0);
	pass(59999);
	assert_int_equal(a->state, CLOUD_RUNNING);
	pass(1);
	assert_int_equal(a->state, CLOUD_ENDED);
	assert_string_equal(a->why, "taken for repair");
	assert_false(cloud_warn(&W.cloud, a, NOTICE_REBALANCE, 0, W.now));
	pass(100000);
	assert_int_equal(b->state, CLOUD_RUNNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_life),
		T(test_tokens),
		T(test_tokens_switched_off),
		T(test_token_of_a_create_that_made_nothing_is_free),
		T(test_capacity_and_gangs),
		T(test_capacity_comes_back),
		T(test_a_price_holds_for_an_hour_of_the_instance),
		T(test_a_price_is_of_its_moment),
		T(test_each_market_has_its_own_capacity),
		T(test_a_reclaim_leaves_as_much_time_as_it_says),
		T(test_a_repair_ends_an_instance_and_other_warnings_do_not),
		T(test_unknown_place_is_invalid),
		T(test_reclaim),
		T(test_spot_has_a_life_of_its_own),
		T(test_vices_of_lists),
		T(test_without_filter_or_tags_all_is_listed),
		T(test_pages_cover_all_once),
		T(test_refusals_and_hangs),
		T(test_quota),
		T(test_address_reuse),
		T(test_subnet_used_up_is_no_capacity),
		T(test_process_ends_it),
		T(test_what_exits_stops_first),
		T(test_deleted_before_it_booted_is_never_started),
		T(test_cannot_boot),
		T(test_late_events_of_a_forgotten_instance),
		T(test_end_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
