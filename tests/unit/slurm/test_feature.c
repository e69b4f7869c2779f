/* test_feature.c - the first node of a pool that lacks what its offers differ in. */
#include "slurm/feature.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static char one[] = "one", two[] = "two", s[] = "s", o[] = "o", r[] = "r";
static struct conf_provider providers[] = {{.name = one}, {.name = two}};
static struct conf_offer offers[] = {
	{.name = s, .provider = one, .type = r, .region = r, .market = PROVIDER_SPOT},
	{.name = o, .provider = two, .type = r, .region = r, .market = PROVIDER_ON_DEMAND}};
static char plain[] = "plain", mixed[] = "mixed", a[] = "a[1-9]", m[] = "m[1-9]";
static struct conf_pool pools[] = {
	{.name = plain, .nodes_text = a, .provider = one, .type = r, .region = r},
	{.name = mixed, .nodes_text = m, .offers = offers, .noffers = 2}};

static void finish(struct conf *c, size_t npools)
{
	struct err e = {0};
	char path[] = "x";

	*c = (struct conf){.path = path,
			   .providers = providers,
			   .nproviders = 2,
			   .pools = pools,
			   .npools = npools};
	map_init(&c->by_node);
	if (conf_finish(c, &e) != 0)
		fail_msg("%s", e.msg);
	c->path = NULL;
}

static void fini(struct conf *c)
{
	for (size_t i = 0; i < c->npools; i++) {
		free(pools[i].own.name);
		pools[i].own.name = NULL;
		hostlist_free(pools[i].nodes);
	}
	map_fini(&c->by_node);
}

static void on_node(void *ctx, const struct slurm_node *n)
{
	void **both = ctx;

	slurm_features_look(both[0], both[1], n);
}

#define LINE(name, features)                                                                       \
	"NodeName=" name " Arch=x86_64 AvailableFeatures=" features                                \
	" ActiveFeatures=spot,ondemand,one,two State=IDLE+CLOUD Reason=AvailableFeatures=x\n"
#define ALL "cloud,two,one,ondemand,spot"

static const struct {
	const char *name, *nodes, *bare;
} rows[] = {
	{"all of them", LINE("m1", ALL) LINE("m2", ALL), ""},
	{"one is missing", LINE("m1", ALL) LINE("m2", "spot,ondemand,one"), "m2"},
	{"the first of two", LINE("m3", "spot") LINE("m2", "x"), "m3"},
	{"none at all", LINE("m1", "(null)"), "m1"},
	{"a longer word is another", LINE("m1", "spots,ondemand,one,two"), "m1"},
	{"case counts", LINE("m1", "Spot,ondemand,one,two"), "m1"},
	{"not shown", "NodeName=m1 State=IDLE\n", "m1"},
	{"of another pool", LINE("a1", "(null)"), ""},
	{"of nobody's", LINE("x1", "(null)"), ""},
};

static void test_the_first_node_without_a_feature_is_found(void **state)
{
	struct conf c;

	(void)state;
	finish(&c, 2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slurm_feature *f = slurm_features_new(&c);
		void *both[] = {f, &c};
		struct err e;

		print_message("# %s\n", rows[i].name);
		assert_non_null(f);
		assert_true(slurm_parse_nodes(rows[i].nodes, strlen(rows[i].nodes), on_node, both,
					      &e) > 0);
		assert_null(f[0].wanted);
		assert_string_equal(f[1].wanted, "spot,ondemand,one,two");
		assert_string_equal(f[0].bare, "");
		assert_string_equal(f[1].bare, rows[i].bare);
		slurm_features_free(f, c.npools);
	}
	fini(&c);
}

static void test_where_nothing_differs_nothing_is_wanted(void **state)
{
	struct conf c;

	(void)state;
	finish(&c, 1);
	assert_null(slurm_features_new(&c));
	slurm_features_free(NULL, c.npools);
	fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_node_without_a_feature_is_found),
		cmocka_unit_test(test_where_nothing_differs_nothing_is_wanted),
	};

	return cmocka_run_group_tests_name("features", tests, NULL, NULL);
}
