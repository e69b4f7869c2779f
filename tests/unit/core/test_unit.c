/* What unit.h promises: how a pool is cut into placement units, and how their fabrics are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/conf_option.h"
#include "core/unit.h"
#include "small_conf.h"

#define UUID "0a1b2c3d-0000-4000-8000-001122334455"

static struct conf *with_units(const char *nodes, uint32_t unit)
{
	struct conf *c = small_conf();

	add_pool(c, "p", "one", nodes, 100);
	set("pool", "fabric", c->pools, CONF_FABRIC_UNIT);
	c->pools->unit = unit;
	return c;
}

static void test_consecutive_names_are_units_in_the_order_of_the_list(void **state)
{
	struct conf *c = with_units("c[9-16],c[1-8],gpu-[08-15]", 8);
	const struct conf_pool *p = c->pools;

	(void)state;
	assert_int_equal(conf_finish(c, NULL), 0);
	assert_int_equal(unit_count(p), 3);
	assert_int_equal(unit_of(p, "c9"), 1);
	assert_int_equal(unit_of(p, "c16"), 1);
	assert_int_equal(unit_of(p, "c1"), 2);
	assert_int_equal(unit_of(p, "c8"), 2);
	assert_int_equal(unit_of(p, "gpu-08"), 3);
	assert_int_equal(unit_of(p, "gpu-15"), 3);
	assert_int_equal(unit_of(p, "gpu-16"), 0);
	assert_string_equal(unit_nodes(p, 1)[0], "c9");
	assert_string_equal(unit_nodes(p, 2)[7], "c8");
	assert_string_equal(unit_nodes(p, 3)[0], "gpu-08");
	conf_free(c);
}

/* The pool has units, and another offer of it buys anywhere. */
static void test_only_an_offer_with_the_fabric_buys_by_units(void **state)
{
	const struct conf_offer lone = {.in_fabric = NULL}, job = {.in_fabric = (char[]){"job"}};
	struct conf *c = with_units("c[1-4]", 2);
	const struct conf_pool *p = c->pools;

	(void)state;
	assert_int_equal(conf_finish(c, NULL), 0);
	assert_int_equal(unit_by(p, &p->own, "c3"), 2);
	assert_int_equal(unit_by(p, &p->own, "c5"), 0);
	assert_int_equal(unit_by(p, &lone, "c3"), 0);
	assert_int_equal(unit_by(p, &job, "c3"), 0);
	conf_free(c);
}

static void test_a_pool_without_units_has_none(void **state)
{
	struct conf *c = small_conf();

	(void)state;
	add_pool(c, "p", "one", "c[1-3]", 100);
	set("pool", "fabric", c->pools, CONF_FABRIC_JOB);
	assert_int_equal(conf_finish(c, NULL), 0);
	assert_int_equal(unit_count(c->pools), 0);
	assert_int_equal(unit_of(c->pools, "c1"), 0);
	assert_false(unit_is_of(&c->pools->own));
	(void)conf_keep_pool(c, "gone"); /* only the journal names it */
	assert_int_equal(unit_count(&c->pools[1]), 0);
	conf_free(c);
}

/* A fabric's name tells its nodes: neither a name that goes before them in the list nor another
 * number of nodes makes it that of other machines. */
static void test_the_name_of_a_fabric_tells_its_nodes(void **state)
{
	static const struct {
		const char *nodes;
		uint32_t size, unit;
		const char *want;
	} rows[] = {
		{"c[1-16]", 8, 1, "burstd-0a1b2c3d-c1-8"},
		{"c[1-16]", 8, 2, "burstd-0a1b2c3d-c9-8"},
		{"a[1-8],c[1-16]", 8, 3, "burstd-0a1b2c3d-c9-8"},
		{"c[1-16]", 4, 3, "burstd-0a1b2c3d-c9-4"},
		{"gpu-a-[01-02]", 2, 1, "burstd-0a1b2c3d-gpu-a-01-2"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf *c = with_units(rows[i].nodes, rows[i].size);
		char name[PROVIDER_WORD_MAX + 1];

		assert_int_equal(conf_finish(c, NULL), 0);
		assert_string_equal(unit_fabric(name, UUID, c->pools, rows[i].unit), rows[i].want);
		assert_true(unit_is_fabric(name, UUID));
		assert_false(unit_is_fabric(name, "0a1b2c3e-0000-4000-8000-001122334455"));
		conf_free(c);
	}
}

/* I11: only what burstd makes; and a job's fabric is no unit's. */
static void test_only_names_that_burstd_gives_are_of_units(void **state)
{
	static const char *const not [] = {"",
					   "lab",
					   "burstd-0a1b2c3d-",
					   "burstd-0a1b2c3d-17",
					   "burstd-0a1b2c3d--17",
					   "burstd-0a1b2c3d-c1",
					   "burstd-0a1b2c3d-c1-",
					   "burstd-0a1b2c3d-c1-0",
					   "burstd-0a1b2c3d-c1-08",
					   "burstd-0a1b2c3d-c1-8x",
					   "xburstd-0a1b2c3d-c1-8"};

	(void)state;
	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		assert_false(unit_is_fabric(not [i], UUID));
	assert_true(unit_is_fabric("burstd-0a1b2c3d-c1-8", UUID));
}

#define LONG "a234567890123456789012345678901234567890123"

static void test_what_is_wrong_with_units_has_its_line(void **state)
{
	static const struct {
		const char *nodes, *fabric;
		uint32_t unit;
		const char *want;
	} rows[] = {
		{"c[1-6]", "unit", 4,
		 "pool \"p\": unit: its 6 nodes are no multiple of 4: give it whole units"},
		{"c[1-2]", "unit", 4,
		 "pool \"p\": unit: its 2 nodes are no multiple of 4: give it whole units"},
		{"c[1-3,5]", "unit", 2, "pool \"p\": unit: c3 and the 1 nodes behind it are not"},
		{"c[1-3],d4", "unit", 2, "pool \"p\": unit: c3 and the 1 nodes behind it are not"},
		{"c2,c1", "unit", 2, "pool \"p\": unit: c2 and the 1 nodes behind it are not"},
		{"c[1-4]", "unit", 0, "pool \"p\": fabric = unit: unit is missing (nodes of each)"},
		{"c[1-4]", "job", 2, "pool \"p\": unit: no offer has fabric = unit"},
		{"c[1-4]", "", 2, "pool \"p\": unit: no offer has fabric = unit"},
		{LONG "[1-9]", "unit", 9, NULL},
		{LONG "4[1-9]", "unit", 9, NULL},
		{LONG "4[01-10]", "unit", 10, "pool \"p\": unit: the name " LONG "401 is too long"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf *c = with_units(rows[i].nodes, rows[i].unit);
		char name[PROVIDER_WORD_MAX + 1];
		struct err e = {0};

		set("pool", "fabric", c->pools, rows[i].fabric);
		if (rows[i].want == NULL) {
			assert_int_equal(conf_finish(c, &e), 0);
			assert_true(unit_is_fabric(unit_fabric(name, UUID, c->pools, 1), UUID));
		} else {
			assert_int_equal(conf_finish(c, &e), -1);
			assert_memory_equal(e.msg, "burstd.conf:1", strlen("burstd.conf:1"));
			if (strstr(e.msg, rows[i].want) == NULL)
				fail_msg("row %zu: %s", i, e.msg);
		}
		conf_free(c);
	}
}

/* Of two offers: what differs. */
static void test_a_unit_is_in_one_place(void **state)
{
	static const struct {
		const char *option, *text;
		bool good;
	} rows[] = {{"type", "other", true},    {"market", "spot", true}, {"region", "r2", false},
		    {"provider", "two", false}, {"zone", "z", false},     {"fabric", "none", true},
		    {"fabric", "pg-1", true}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf *c = with_units("c[1-4]", 2);
		struct conf_pool *p = c->pools;
		struct err e = {0};

		set("pool", "provider", p, "");
		set("pool", "type", p, "");
		set("pool", "region", p, "");
		p->offers = mem_zalloc(2 * sizeof(*p->offers));
		p->noffers = 2;
		for (size_t k = 0; k < 2; k++) {
			struct conf_offer *o = &p->offers[k];

			*o = (struct conf_offer){.name = mem_strdup(k == 0 ? "x" : "y"),
						 .line = 120 + (int)k,
						 .provider_line = 110};
			set("offer", "provider", o, "one");
			set("offer", "type", o, k == 0 ? "t" : "u");
			set("offer", "region", o, "r");
			set("offer", "zone", o, "");
		}
		set("offer", rows[i].option, &p->offers[1], rows[i].text);
		assert_int_equal(conf_finish(c, &e), rows[i].good ? 0 : -1);
		if (!rows[i].good)
			assert_string_equal(
				e.msg, "burstd.conf:121: pool \"p\": offer \"y\": a unit is in one "
				       "fabric, so all offers with fabric = unit must have the "
				       "provider, region and zone of offer \"x\"");
		conf_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_consecutive_names_are_units_in_the_order_of_the_list),
		cmocka_unit_test(test_only_an_offer_with_the_fabric_buys_by_units),
		cmocka_unit_test(test_a_pool_without_units_has_none),
		cmocka_unit_test(test_the_name_of_a_fabric_tells_its_nodes),
		cmocka_unit_test(test_only_names_that_burstd_gives_are_of_units),
		cmocka_unit_test(test_what_is_wrong_with_units_has_its_line),
		cmocka_unit_test(test_a_unit_is_in_one_place),
	};

	return cmocka_run_group_tests_name("unit", tests, NULL, NULL);
}
