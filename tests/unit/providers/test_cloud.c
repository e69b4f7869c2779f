/* test_cloud.c - the simulated cloud on virtual time: life cycle, capacity, tokens, and its vices.
 */
#include "cloud_world.h"
#include "providers/simcloud/cloud.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

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

static void test_some_never_come_up(void **state)
{
	struct cloud_instance *bad, *good;

	(void)state;
	configure("{\"boot_fails\":[\"n1\"]}");
	bad = one("n1");
	good = one("n2");
	pass(2000);
	assert_int_equal(bad->state, CLOUD_ENDED);
	assert_string_equal(bad->why, "cannot boot");
	assert_int_equal(good->state, CLOUD_RUNNING);
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

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_life),
		T(test_tokens),
		T(test_tokens_switched_off),
		T(test_token_of_a_create_that_made_nothing_is_free),
		T(test_capacity_and_gangs),
		T(test_capacity_comes_back),
		T(test_unknown_place_is_invalid),
		T(test_reclaim),
		T(test_vices_of_lists),
		T(test_without_filter_or_tags_all_is_listed),
		T(test_pages_cover_all_once),
		T(test_refusals_and_hangs),
		T(test_some_never_come_up),
		T(test_quota),
		T(test_address_reuse),
		T(test_subnet_used_up_is_no_capacity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
