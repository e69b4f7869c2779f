/* What conf.h promises, without a file. */
#include "core/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/conf_option.h"
#include "small_conf.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *name;
	struct {
		const char *name, *provider, *nodes;
	} pools[3];
	const char *want_err; /* NULL: good */
} finish_rows[] = {
	{"no pool", {{NULL, NULL, NULL}}, NULL},
	{"two pools", {{"a", "two", "a[1-3]"}, {"b", "one", "b[1-3],a4"}}, NULL},
	{"no such provider",
	 {{"a", "tow", "a1"}},
	 "burstd.conf:101: pool \"a\": there is no provider \"tow\""},
	{"node in two pools",
	 {{"a", "one", "a[1-3]"}, {"b", "one", "b1,a2"}},
	 "burstd.conf:200: node a2 is in pool \"a\" and in pool \"b\""},
	{"node twice in one",
	 {{"a", "one", "a[1-3],a2"}},
	 "burstd.conf:100: pool \"a\": node a2 is listed twice"},
	{"bad list", {{"a", "one", "a[3-1]"}}, "burstd.conf:100: pool \"a\": node list"},
	{"pool twice",
	 {{"a", "one", "a1"}, {"a", "one", "a2"}},
	 "burstd.conf:209: pool \"a\" is defined twice"},
	{"too many in all",
	 {{"a", "one", "a[1-60000]"}, {"b", "one", "b[1-6000]"}},
	 "burstd.conf:200: pool \"b\": its 6000 nodes and the 60000 of the pools before it are "
	 "more "
	 "than the 65536 that Slurm can have in a cluster"},
	{"too many in one",
	 {{"a", "one", "a[1-65537]"}},
	 "burstd.conf:100: pool \"a\": node list, byte 9: more than 65536 names, the most that a "
	 "Slurm cluster can have"},
	{"just not too many", {{"a", "one", "a[1-60000]"}, {"b", "one", "b[1-5536]"}}, NULL},
};

static void test_finish(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(finish_rows); i++) {
		struct conf *c = small_conf();
		struct err e = {0};

		print_message("# %s\n", finish_rows[i].name);
		for (int k = 0; k < 3 && finish_rows[i].pools[k].name != NULL; k++)
			add_pool(c, finish_rows[i].pools[k].name, finish_rows[i].pools[k].provider,
				 finish_rows[i].pools[k].nodes, 100 * (k + 1));
		if (finish_rows[i].want_err == NULL) {
			assert_int_equal(conf_finish(c, &e), 0);
		} else {
			assert_int_equal(conf_finish(c, &e), -1);
			if (strncmp(e.msg, finish_rows[i].want_err,
				    strlen(finish_rows[i].want_err)) != 0)
				fail_msg("got: %s", e.msg);
		}
		conf_free(c);
	}
	conf_free(NULL);
}

static void test_a_map_of_addresses(void **state)
{
	static char bad[] = "10.20.0.0/16=198.18.0.0/15", good[] = "10.20.0.0/16=198.18.0.0/16";
	struct conf *c = small_conf();
	struct err e = {0};
	char *was = c->providers[1].address_map;

	(void)state;
	c->providers[1].address_map = bad;
	assert_int_equal(conf_finish(c, &e), -1);
	assert_non_null(strstr(e.msg, ": provider \"two\": address_map: want NETWORK/BITS="));
	c->providers[1].address_map = good;
	assert_int_equal(conf_finish(c, &e), 0);
	c->providers[1].address_map = was;
	conf_free(c);
}

static void test_provider_twice(void **state)
{
	struct conf *c = small_conf();
	struct err e = {0};

	(void)state;
	add_provider(c, "one", 7);
	assert_int_equal(conf_finish(c, &e), -1);
	assert_string_equal(e.msg, "burstd.conf:7: provider \"one\" is defined twice");
	conf_free(c);
	c = small_conf();
	add_provider(c, "two", 8);
	assert_int_equal(conf_finish(c, &e), -1);
	assert_string_equal(e.msg, "burstd.conf:8: provider \"two\" is defined twice");
	conf_free(c);
}

static void test_too_many_sections(void **state)
{
	struct conf *c = small_conf();
	struct err e = {0};
	char name[16];

	(void)state;
	for (int i = 0; i <= CONF_POOLS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "p%d", i);
		add_pool(c, name, "one", name, i);
	}
	assert_int_equal(conf_finish(c, &e), -1);
	assert_string_equal(e.msg, "burstd.conf:265: more than 256 pools");
	conf_free(c);
}

static void test_no_more_is_kept_warm_than_there_can_be(void **state)
{
	static const struct {
		const char *max_nodes, *warm, *want_err;
	} rows[] = {
		{"4", "4", NULL},
		{"4", "5", "burstd.conf:109: pool \"a\": warm is 5, and there are at most 4 nodes"},
		{"9", "7", "burstd.conf:109: pool \"a\": warm is 7, and there are at most 6 nodes"},
		{"9", "6", NULL},
		{"0", "0", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *c = small_conf();
		struct err e = {0};

		add_pool(c, "a", "one", "a[1-6]", 100);
		set("pool", "max_nodes", &c->pools[0], rows[i].max_nodes);
		set("pool", "warm", &c->pools[0], rows[i].warm);
		assert_int_equal(conf_finish(c, &e), rows[i].want_err != NULL ? -1 : 0);
		if (rows[i].want_err != NULL)
			assert_non_null(strstr(e.msg, rows[i].want_err));
		conf_free(c);
	}
}

static void test_lookup(void **state)
{
	struct conf *c = small_conf();

	(void)state;
	add_pool(c, "a", "two", "a[1-2]", 100);
	add_pool(c, "b", "one", "b[01-02]", 200);
	assert_int_equal(conf_finish(c, NULL), 0);
	assert_int_equal(c->pools[0].provider_index, 1);
	assert_int_equal(c->pools[1].provider_index, 0);
	assert_int_equal(c->pools[1].nodes->n, 2);
	assert_string_equal(c->pools[1].nodes->names[1], "b02");
	assert_ptr_equal(conf_pool_of(c, "a2"), &c->pools[0]);
	assert_ptr_equal(conf_pool_of(c, "b02"), &c->pools[1]);
	assert_null(conf_pool_of(c, "b2")); /* not ours to touch */
	assert_null(conf_pool_of(c, ""));
	assert_ptr_equal(conf_pool_named(c, "b"), &c->pools[1]);
	assert_null(conf_pool_named(c, "c"));
	assert_int_equal(conf_pool_index(c, &c->pools[1]), 1);
	conf_free(c);
}

static void test_too_many_providers(void **state)
{
	struct conf *c = small_conf(), *good = small_conf();
	struct err e = {0};
	char name[16];

	(void)state;
	for (int i = 2; i <= CONF_PROVIDERS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "p%d", i);
		add_provider(c, name, 100 + i);
		if (i < CONF_PROVIDERS_MAX)
			add_provider(good, name, 100 + i);
	}
	assert_int_equal(conf_finish(c, &e), -1);
	assert_string_equal(e.msg, "burstd.conf:164: more than 64 providers");
	assert_int_equal(conf_finish(good, &e), 0);
	conf_free(c);
	conf_free(good);
}

static void test_as_many_pools_as_there_may_be(void **state)
{
	struct conf *c = small_conf();
	char name[16];

	(void)state;
	for (int i = 0; i < CONF_POOLS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "p%d", i);
		add_pool(c, name, "one", name, i);
	}
	assert_int_equal(conf_finish(c, NULL), 0);
	conf_free(c);
}

static void test_the_path_is_copied(void **state)
{
	char path[] = "burstd.conf";
	struct conf *c = conf_new(path);

	(void)state;
	path[0] = 'x';
	assert_string_equal(c->path, "burstd.conf");
	conf_free(c);
}

static void test_a_driver_is_told_its_section(void **state)
{
	char url[] = "u", ca[] = "c", name[] = "n", data[] = "d", own[] = "o";
	const struct conf_provider p = {.name = name,
					.url = url,
					.ca_file = ca,
					.timeout_ms = 1500,
					.concurrency = 7,
					.user_data = data,
					.own = own};
	const struct provider_conf d = conf_for_driver(&p, "secret");

	(void)state;
	assert_ptr_equal(d.name, name);
	assert_ptr_equal(d.url, url);
	assert_ptr_equal(d.ca_file, ca);
	assert_string_equal(d.credential, "secret");
	assert_int_equal(d.timeout_ms, 1500);
	assert_int_equal(d.concurrency, 7);
	assert_ptr_equal(d.user_data, data);
	assert_ptr_equal(d.options, own);
}

/* Every option written out, under its section, and each provider and pool by its title. */
static void test_print(void **state)
{
	static const char *const want[] = {
		"cluster = \"lab\"\ncurrency = \"EUR\"\nreport_zone = \"UTC\"\nstate_dir = "
		"\"/s\"\n",
		"\"\nadmins = {\"7\", \"8\"}\nadmin_groups = {}\noperator_groups = {}\n"
		"finance_groups = {}\nbudgets_away = \"start\"\nprices_file = \"\"\n\nslurm "
		"{\n\tbin_dir = "
		"\"/bin\"\n\tconf = \"\"\n\tbilling_unit = \"\"",
		"\n}\n\nsecrets {\n\tdriver = \"\"\n",
		"\n\tswitch_command = {\"/site\", \"%n\"}\n",
		"\n}\n\nnodes {\n\tlisten = \"\"\n",
		"\n}\n\nprovider \"one\" {\n\tdriver = \"sim\"\n",
		"\n}\n\nprovider \"two\" {\n\tdriver = \"sim\"\n",
		"\n}\n\npool \"a\" {\n\tnodes = \"a1\"\n\tprovider = \"one\"\n",
		("\n\tboot_timeout = \"0s\"\n\tnode = \"\"\n\tgres = \"\"\n\tdynamic = "
		 "\"false\"\n\twarm = "
		 "\"0\"\n\tquantum = \"0s\"\n\tpolicy = "
		 "\"ordered\"\n"),
		"\n\tjurisdictions = {\"EU\"}\n}\n\npool \"b\" {\n\tnodes = \"b1\"\n",
		"\n\tjurisdictions = {}\n}\n",
	};
	struct conf *c = small_conf();
	const char *at;
	struct str s;

	(void)state;
	set("slurm", "bin_dir", c, "/bin");
	c->people.admins = (struct conf_ids){mem_zalloc(2 * sizeof(uint32_t)), 2};
	c->people.admins.v[0] = 7;
	c->people.admins.v[1] = 8;
	add_pool(c, "a", "one", "a1", 100);
	add_pool(c, "b", "one", "b1", 200);
	for (int i = 0; i < 2; i++)
		assert_int_equal(conf_option_add_arg(conf_option_find("secrets", "switch_command"),
						     c, i == 0 ? "/site" : "%n", NULL),
				 0);
	assert_int_equal(conf_option_add_arg(conf_option_find("pool", "jurisdictions"),
					     &c->pools[0], "EU", NULL),
			 0);
	str_init(&s, CONF_PRINT_MAX);
	conf_print(c, &s);
	assert_memory_equal(s.p, want[0], strlen(want[0]));
	at = s.p;
	for (size_t i = 0; i < COUNT(want); i++) {
		at = strstr(at, want[i]);
		if (at == NULL)
			fail_msg("not there: %s", want[i]);
	}
	assert_string_equal(s.p + s.len - 4, "}\n}\n");
	str_fini(&s);
	conf_free(c);
}

/* --- reload ------------------------------------------------------------------------------------
 */

static struct conf *three_pools(const char *const names[3])
{
	struct conf *c = small_conf();

	for (int i = 0; i < 3 && names[i] != NULL; i++)
		add_pool(c, names[i], "one", names[i], 100 * (i + 1));
	assert_int_equal(conf_finish(c, NULL), 0);
	return c;
}

static void test_may_replace_pools(void **state)
{
	static const struct {
		const char *name, *pools[3], *want_err;
	} rows[] = {
		{"the same", {"a", "b"}, NULL},
		{"a new one at the end", {"a", "b", "c"}, NULL},
		{"one gone", {"a"}, "pool \"b\" is gone or has moved"},
		{"moved", {"b", "a"}, "pool \"a\" is gone or has moved"},
		{"a new one in between", {"a", "c", "b"}, "pool \"b\" is gone or has moved"},
		{"renamed", {"a", "c"}, "pool \"b\" is gone or has moved"},
	};
	struct conf *old = three_pools((const char *const[3]){"a", "b", NULL});

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *next = three_pools(rows[i].pools);
		struct err e = {0};

		print_message("# %s\n", rows[i].name);
		assert_int_equal(conf_may_replace(old, next, &e),
				 rows[i].want_err == NULL ? 0 : -1);
		if (rows[i].want_err != NULL)
			assert_non_null(strstr(e.msg, rows[i].want_err));
		conf_free(next);
	}
	conf_free(old);
}

static void test_may_replace_providers(void **state)
{
	struct conf *old = small_conf(), *next = small_conf();
	struct err e = {0};

	(void)state;
	assert_int_equal(conf_may_replace(old, next, &e), 0);
	add_provider(next, "three", 7);
	assert_int_equal(conf_may_replace(old, next, &e), -1);
	assert_string_equal(e.msg,
			    "burstd.conf:7: provider \"three\" is new: this needs a restart");
	assert_int_equal(conf_may_replace(next, old, &e), -1);
	assert_non_null(strstr(e.msg, "provider \"three\" is gone or has moved"));
	free(next->providers[0].name);
	next->providers[0].name = mem_strdup("uno");
	assert_int_equal(conf_may_replace(old, next, &e), -1);
	assert_non_null(strstr(e.msg, "provider \"one\" is gone or has moved"));
	conf_free(old);
	conf_free(next);
}

/* Of each section what needs a restart is refused, and the rest is not. */
static void test_may_replace_options(void **state)
{
	static const struct {
		const char *section, *name, *text, *want_err;
	} rows[] = {
		{"", "cluster", "other", "cluster: a change needs a restart"},
		{"", "log_level", "error", NULL},
		{"slurm", "bin_dir", "/elsewhere", NULL},
		{"secrets", "release", "broker", NULL},
		{"secrets", "driver", "vault", "driver: a change needs a restart"},
		{"nodes", "auth", "slurm", "auth: a change needs a restart"},
		{"secrets", "release", "user-data",
		 "secrets release: from or to user-data: a change needs a restart"},
		{"provider", "url", "http://x", "provider \"two\" url: a change needs a restart"},
		{"provider", "rate", "9", NULL},
		{"pool", "zone", "z", "pool \"b\" zone: a change needs a restart"},
		{"pool", "max_nodes", "9", NULL},
	};
	struct conf *old = three_pools((const char *const[3]){"a", "b", NULL});

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *next = three_pools((const char *const[3]){"a", "b", NULL});
		void *object = next;
		struct err e = {0};

		if (strcmp(rows[i].section, "provider") == 0)
			object = &next->providers[1];
		if (strcmp(rows[i].section, "pool") == 0)
			object = &next->pools[1];
		set(rows[i].section, rows[i].name, object, rows[i].text);
		assert_int_equal(conf_may_replace(old, next, &e),
				 rows[i].want_err == NULL ? 0 : -1);
		assert_string_equal(e.msg, rows[i].want_err == NULL ? "" : rows[i].want_err);
		conf_free(next);
	}
	conf_free(old);
}

static void test_diff(void **state)
{
	struct conf *old = three_pools((const char *const[3]){"a", "b", NULL});
	struct conf *next = three_pools((const char *const[3]){"b", "c", NULL});

	(void)state;
	check_diff(old, old, "");
	set("", "log_level", next, "warn");
	set("slurm", "bin_dir", next, "/opt/bin");
	set("slurm", "billing_unit", next, "0.01");
	set("secrets", "poll", next, "90s");
	set("nodes", "deadman", next, "5m");
	set("provider", "settle", &next->providers[1], "90s");
	set("pool", "max_nodes", &next->pools[0], "7");
	set("pool", "zone", &next->pools[0], "east-1");
	add_provider(next, "three", 7);
	check_diff(old, next,
		   "log_level: debug -> warn\n"
		   "slurm bin_dir: \"\" -> /opt/bin\n"
		   "slurm billing_unit: \"\" -> 0.01\n"
		   "secrets poll: 0s -> 90s\n"
		   "nodes deadman: 0s -> 5m\n"
		   "provider \"two\" settle: 0s -> 90s\n"
		   "provider \"three\": new\n"
		   "pool \"a\": gone\n"
		   "pool \"b\" zone: \"\" -> east-1\n"
		   "pool \"b\" max_nodes: 0 -> 7\n"
		   "pool \"c\": new\n");
	conf_free(old);
	conf_free(next);
}

/* The first of each is compared as the others are. */
static void test_diff_of_the_first(void **state)
{
	struct conf *old = three_pools((const char *const[3]){"a", NULL});
	struct conf *next = three_pools((const char *const[3]){"b", NULL});

	(void)state;
	set("", "cluster", next, "bal");
	set("provider", "rate", &next->providers[0], "9");
	check_diff(old, next,
		   "cluster: lab -> bal\n"
		   "provider \"one\" rate: 0 -> 9\n"
		   "pool \"a\": gone\n"
		   "pool \"b\": new\n");
	free(next->providers[0].name);
	next->providers[0].name = mem_strdup("uno");
	check_diff(old, next,
		   "cluster: lab -> bal\n"
		   "provider \"one\": gone\n"
		   "provider \"uno\": new\n"
		   "pool \"a\": gone\n"
		   "pool \"b\": new\n");
	conf_free(old);
	conf_free(next);
}

/* Who signs for a machine knows whose it is, whatever driver buys it there. */
static void test_whose_machine_it_is(void **state)
{
	char driver[] = "sim";
	struct conf_provider p = {.driver = driver, .attest = CONF_ATTEST_GCP};

	(void)state;
	assert_string_equal(conf_cloud(&p), "gcp");
	p.attest = CONF_ATTEST_AZURE;
	assert_string_equal(conf_cloud(&p), "azure");
	p.attest = CONF_ATTEST_AWS;
	assert_string_equal(conf_cloud(&p), "aws");
	p.attest = CONF_ATTEST_CALLBACK;
	assert_string_equal(conf_cloud(&p), "sim");
	p.attest = CONF_ATTEST_OFF;
	assert_string_equal(conf_cloud(&p), "sim");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finish),
		cmocka_unit_test(test_provider_twice),
		cmocka_unit_test(test_a_map_of_addresses),
		cmocka_unit_test(test_too_many_sections),
		cmocka_unit_test(test_too_many_providers),
		cmocka_unit_test(test_as_many_pools_as_there_may_be),
		cmocka_unit_test(test_the_path_is_copied),
		cmocka_unit_test(test_a_driver_is_told_its_section),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_no_more_is_kept_warm_than_there_can_be),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_may_replace_pools),
		cmocka_unit_test(test_may_replace_providers),
		cmocka_unit_test(test_may_replace_options),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_diff_of_the_first),
		cmocka_unit_test(test_whose_machine_it_is),
	};

	return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
