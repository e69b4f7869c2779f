/* What conf.h and conf_option.h promise, without a file. */
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

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void set(const char *section, const char *name, void *object, const char *text)
{
	struct err e = {0};

	if (conf_option_set(conf_option_find(section, name), object, text, &e) < 0)
		fail_msg("%s %s: %s", section, name, e.msg);
}

static void add_provider(struct conf *c, const char *name, int line)
{
	struct conf_provider *p;

	c->providers = mem_realloc(c->providers, (c->nproviders + 1) * sizeof(*p));
	p = &c->providers[c->nproviders++];
	*p = (struct conf_provider){.name = mem_strdup(name), .line = line};
	set("provider", "driver", p, "sim");
}

static void add_pool(struct conf *c, const char *name, const char *provider, const char *nodes,
		     int line)
{
	struct conf_pool *p;

	c->pools = mem_realloc(c->pools, (c->npools + 1) * sizeof(*p));
	p = &c->pools[c->npools++];
	*p = (struct conf_pool){.name = mem_strdup(name),
				.line = line + 9,
				.nodes_line = line,
				.provider_line = line + 1};
	set("pool", "nodes", p, nodes);
	set("pool", "provider", p, provider);
	set("pool", "type", p, "t");
	set("pool", "region", p, "r");
}

/* Every option with no initial value gets one that is good. */
static struct conf *small_conf(void)
{
	struct conf *c = conf_new("burstd.conf");

	set("", "cluster", c, "lab");
	set("", "currency", c, "EUR");
	set("", "state_dir", c, "/s");
	add_provider(c, "one", 5);
	add_provider(c, "two", 6);
	return c;
}

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
	 "burstd.conf:100: pool \"a\": node a2 is there twice"},
	{"bad list", {{"a", "one", "a[3-1]"}}, "burstd.conf:100: pool \"a\": node list"},
	{"pool twice",
	 {{"a", "one", "a1"}, {"a", "one", "a2"}},
	 "burstd.conf:209: pool \"a\" is there twice"},
	{"too many in all",
	 {{"a", "one", "a[1-60000]"}, {"b", "one", "b[1-6000]"}},
	 "burstd.conf:200: pool \"b\": more than 65536 nodes in all"},
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

static void test_provider_twice(void **state)
{
	struct conf *c = small_conf();
	struct err e = {0};

	(void)state;
	add_provider(c, "one", 7);
	assert_int_equal(conf_finish(c, &e), -1);
	assert_string_equal(e.msg, "burstd.conf:7: provider \"one\" is there twice");
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
	assert_non_null(strstr(e.msg, "provider \"three\" is new: this needs a restart"));
	assert_int_equal(conf_may_replace(next, old, &e), -1);
	assert_non_null(strstr(e.msg, "provider \"three\" is gone or has moved"));
	conf_free(old);
	conf_free(next);
}

static void note_change(void *ctx, const struct conf_change *change)
{
	struct str *all = ctx;

	conf_change_print(change, all);
	str_adds(all, "\n");
}

static void check_diff(const struct conf *old, const struct conf *next, const char *want)
{
	struct str all;

	str_init(&all, 4096);
	conf_diff(old, next, note_change, &all);
	assert_string_equal(all.p, want);
	str_fini(&all);
}

static void test_diff(void **state)
{
	struct conf *old = three_pools((const char *const[3]){"a", "b", NULL});
	struct conf *next = three_pools((const char *const[3]){"b", "c", NULL});

	(void)state;
	check_diff(old, old, "");
	set("", "log_level", next, "warn");
	set("slurm", "bin_dir", next, "/opt/bin");
	set("provider", "settle", &next->providers[1], "90s");
	set("pool", "max_nodes", &next->pools[0], "7");
	set("pool", "zone", &next->pools[0], "east-1");
	add_provider(next, "three", 7);
	check_diff(old, next,
		   "log_level: debug -> warn\n"
		   "slurm bin_dir: \"\" -> /opt/bin\n"
		   "provider \"two\" settle: 0s -> 90s\n"
		   "provider \"three\": new\n"
		   "pool \"a\": gone\n"
		   "pool \"b\" zone: \"\" -> east-1\n"
		   "pool \"b\" max_nodes: 0 -> 7\n"
		   "pool \"c\": new\n");
	conf_free(old);
	conf_free(next);
}

/* --- options -----------------------------------------------------------------------------------
 */

union any { /* the largest field, at offset 0 of nothing in particular */
	struct conf conf;
	struct conf_provider provider;
	struct conf_pool pool;
};

static const struct {
	const char *section, *name, *text;
	const char *want;     /* as printed */
	const char *want_err; /* if want is NULL */
} value_rows[] = {
	{"", "cluster", "lab-1.x_y", "lab-1.x_y", NULL},
	{"", "cluster", "", NULL, "want a name"},
	{"", "cluster", "-lab", NULL, "want a name"},
	{"", "cluster", "a b", NULL, "want a name"},
	{"", "cluster",
	 "l\xc3\xa4"
	 "b",
	 NULL, "want a name"},
	{"", "cluster", "0123456789012345678901234567890123456789012345678901234567890123", NULL,
	 "at most 63"},
	{"", "currency", "EUR", "EUR", NULL},
	{"", "currency", "eur", NULL, "three capital letters"},
	{"", "currency", "EURO", NULL, "three capital letters"},
	{"", "state_dir", "/var/lib/x y", "/var/lib/x y", NULL},
	{"", "state_dir", "var/lib", NULL, "absolute path"},
	{"", "state_dir", "", NULL, "absolute path"},
	{"", "state_dir", "/a\"b", NULL, "a quote"},
	{"", "state_dir", "/a\nb", NULL, "control byte"},
	{"", "state_dir", "/a${HOME}", NULL, "${"},
	{"", "listen", "127.0.0.1:9818", "127.0.0.1:9818", NULL},
	{"", "listen", "127.255.255.254:65535", "127.255.255.254:65535", NULL},
	{"", "listen", "[::1]:1", "[::1]:1", NULL},
	{"", "listen", "", "", NULL},
	{"", "listen", "0.0.0.0:9818", NULL, "loopback"},
	{"", "listen", "localhost:9818", NULL, "loopback"},
	{"", "listen", "127.0.0.256:1", NULL, "loopback"},
	{"", "listen", "127.0.0.1", NULL, "loopback"},
	{"", "listen", "127.0.0.1:0", NULL, "loopback"},
	{"", "listen", "127.0.0.1:65536", NULL, "loopback"},
	{"", "listen", "127.0.0.1:80x", NULL, "loopback"},
	{"", "listen", "127.0.0:80", NULL, "loopback"},
	{"", "listen", "[::]:80", NULL, "loopback"},
	{"", "log_level", "debug", "debug", NULL},
	{"", "log_level", "loud", NULL, "want debug, info, warn or error"},
	{"", "events_keep", "366d", "366d", NULL},
	{"", "events_keep", "1h", "1h", NULL},
	{"", "events_keep", "36h", "36h", NULL},
	{"", "events_keep", "2160h", "90d", NULL},
	{"", "events_keep", "59m", NULL, "\"59m\": want 1h to 366d"},
	{"slurm", "conf", "", "", NULL},
	{"slurm", "conf", "/etc/slurm.conf", "/etc/slurm.conf", NULL},
	{"provider", "url", "https://api.example.org/v1", "https://api.example.org/v1", NULL},
	{"provider", "url", "", "", NULL},
	{"provider", "url", "ftp://x", NULL, "want http://"},
	{"provider", "url", "http:///x", NULL, "want http://"},
	{"provider", "settle", "0s", "0s", NULL},
	{"provider", "settle", "60m", "1h", NULL},
	{"provider", "settle", "120s", "2m", NULL},
	{"provider", "settle", "90s", "90s", NULL},
	{"provider", "settle", "1500ms", "1500ms", NULL},
	{"provider", "settle", "2h", NULL, "\"2h\": want 0s to 1h"},
	{"provider", "settle", "60", NULL,
	 "\"60\": want a unit behind the number: ms, s, m, h or d"},
	{"provider", "settle", "1m30s", NULL,
	 "\"1m30s\": want one number and one unit, such as 30s, 15m or 24h"},
	{"provider", "settle", "soon", NULL, "want one number and one unit"},
	{"provider", "settle", "s", NULL, "want one number and one unit"},
	{"provider", "settle", "", NULL, "want one number and one unit"},
	{"provider", "list_every", "999ms", NULL, "want 1s to 1h"},
	{"provider", "concurrency", "1024", "1024", NULL},
	{"provider", "concurrency", "0", NULL, "want a number from 1 to 1024"},
	{"provider", "concurrency", "1025", NULL, "want a number from 1 to 1024"},
	{"provider", "rate", "0", "0", NULL},
	{"pool", "max_nodes", "1", "1", NULL},
	{"pool", "max_nodes", "65536", "65536", NULL},
	{"pool", "max_nodes", "0", "0", NULL},
	{"pool", "max_nodes", "65537", NULL, "want a number from 0 to 65536"},
	{"pool", "max_nodes", "99999999999999999999", NULL, "want a number from 0 to 65536"},
	{"pool", "max_nodes", "-1", NULL, "want a number"},
	{"pool", "max_nodes", "8 ", NULL, "want a number"},
	{"pool", "max_nodes", "", NULL, "want a number"},
	{"pool", "max_rate", "300", "300.00", NULL},
	{"pool", "max_rate", "0", "0.00", NULL},
	{"pool", "max_rate", "1e3", NULL, "want an amount"},
	{"pool", "max_rate", "-1", NULL, "want an amount"},
	{"pool", "price", "", "", NULL},
	{"pool", "price", "29.520000001", "29.520000001", NULL},
	{"pool", "price", "0", NULL, "want more than 0"},
	{"pool", "market", "spot", "spot", NULL},
	{"pool", "market", "on-demand", "on-demand", NULL},
	{"pool", "market", "Spot", NULL, "want on-demand or spot"},
	{"pool", "boot_timeout", "25h", NULL, "\"25h\": want 1s to 1d"},
	{"pool", "boot_timeout", "1d00h", NULL, "\"1d00h\": want one number and one unit"},
	{"pool", "boot_timeout", "999999d", NULL, "want 1s to 1d"},
	{"pool", "boot_timeout", "1d", "1d", NULL},
	{"pool", "zone", "", "", NULL},
	{"pool", "type", "gpu_8x h100", NULL, "want one word"},
	{"pool", "type", "", NULL, "want one word"},
	{"pool", "nodes", "", NULL, "want a node list"},
};

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(value_rows); i++) {
		const struct conf_option *o =
			conf_option_find(value_rows[i].section, value_rows[i].name);
		union any object, again;
		struct err e = {0};
		struct str s;

		print_message("# row %zu: %s\n", i, value_rows[i].name);
		memset(&object, 0, sizeof(object));
		memset(&again, 0, sizeof(again));
		assert_non_null(o);
		str_init(&s, 1000);
		if (value_rows[i].want == NULL) {
			assert_int_equal(conf_option_set(o, &object, value_rows[i].text, &e), -1);
			if (strstr(e.msg, value_rows[i].want_err) == NULL)
				fail_msg("got: %s", e.msg);
		} else {
			assert_int_equal(conf_option_set(o, &object, value_rows[i].text, &e), 0);
			conf_option_print(o, &object, &s);
			assert_string_equal(s.p, value_rows[i].want);
			assert_int_equal(conf_option_set(o, &again, s.p, &e), 0);
			assert_true(conf_option_same(o, &object, &again));
		}
		str_fini(&s);
		conf_option_fini(o, &object);
		conf_option_fini(o, &again);
	}
}

static void test_failed_set_changes_nothing(void **state)
{
	struct conf_provider p = {0};

	(void)state;
	set("provider", "url", &p, "http://a");
	set("provider", "rate", &p, "7");
	assert_int_equal(conf_option_set(conf_option_find("provider", "url"), &p, "x", NULL), -1);
	assert_int_equal(conf_option_set(conf_option_find("provider", "rate"), &p, "x", NULL), -1);
	assert_string_equal(p.url, "http://a");
	assert_int_equal(p.rate, 7);
	set("provider", "url", &p, "http://b"); /* releases the first: ASan looks */
	assert_string_equal(p.url, "http://b");
	conf_option_fini(conf_option_find("provider", "url"), &p);
}

static void test_command(void **state)
{
	static const struct {
		const char *words[3], *want; /* as printed ... */
		const char *want_err;        /* ... or why the last word is refused */
	} rows[] = {
		{{"/site"}, "\"/site\"", NULL},
		{{"/site", "-H", "%n-bmc"}, "\"/site\", \"-H\", \"%n-bmc\"", NULL},
		{{"/site", "%a:%%n", "two words; $HOME"},
		 "\"/site\", \"%a:%%n\", \"two words; $HOME\"",
		 NULL},
		{{"site"}, NULL, "want the absolute path of a program first"},
		{{"%n"}, NULL, "want the absolute path"},
		{{"/site/%n"}, NULL, "none in the program's path"},
		{{""}, NULL, "absolute path"},
		{{"/site", ""}, NULL, "a word is empty"},
		{{"/site", "a\nb"}, NULL, "a control byte"},
		{{"/site", "\\"}, NULL, "a backslash"},
		{{"/site", "%N"}, NULL, "\"%N\": want %n, %a or %%"},
		{{"/site", "100%"}, NULL, "want %n, %a or %%"},
		{{"/site", "%%%"}, NULL, "want %n, %a or %%"},
	};
	const struct conf_option *o = conf_option_find("provider", "on");

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_provider p = {0};
		struct err e = {0};
		struct str s;
		int rc = 0;

		print_message("# row %zu\n", i);
		for (int k = 0; k < 3 && rows[i].words[k] != NULL && rc == 0; k++)
			rc = conf_option_add_arg(o, &p, rows[i].words[k], &e);
		str_init(&s, 1000);
		conf_option_print(o, &p, &s);
		if (rows[i].want != NULL) {
			assert_int_equal(rc, 0);
			assert_string_equal(s.p, rows[i].want);
		} else {
			assert_int_equal(rc, -1);
			if (strstr(e.msg, rows[i].want_err) == NULL)
				fail_msg("got: %s", e.msg);
		}
		str_fini(&s);
		conf_option_fini(o, &p);
		assert_null(p.on);
	}
}

static void test_command_too_long(void **state)
{
	const struct conf_option *o = conf_option_find("provider", "off");
	struct conf_provider p = {0};
	struct err e = {0};
	char word[1026];

	(void)state;
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(conf_option_add_arg(o, &p, "/site", &e), 0);
	assert_int_equal(conf_option_add_arg(o, &p, word, &e), -1);
	for (int i = 1; i < 64; i++)
		assert_int_equal(conf_option_add_arg(o, &p, "%n", &e), 0);
	assert_int_equal(conf_option_add_arg(o, &p, "%n", &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	conf_option_fini(o, &p);
}

/* The table itself: each initial value is one the option takes, each has its help and a name of its
 * own. */
static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];
		union any object;
		struct err e = {0};

		memset(&object, 0, sizeof(object));
		assert_ptr_equal(conf_option_find(o->section, o->name), o);
		assert_true(strlen(o->help) > 5 && strchr(o->help, '\n') == NULL);
		if (o->initial == NULL || o->type == CONF_USERS || o->type == CONF_ARGV)
			continue;
		if (conf_option_set(o, &object, o->initial, &e) < 0)
			fail_msg("%s %s: %s", o->section, o->name, e.msg);
		conf_option_fini(o, &object);
	}
	assert_null(conf_option_find("pool", "cluster"));
}

static void test_nearest(void **state)
{
	static const struct {
		const char *section, *name, *want;
	} rows[] = {
		{"", "clustre", "cluster"},        {"", "pol", "pool"},
		{"", "provder", "provider"},       {"", "admin", "admins"},
		{"pool", "max_node", "max_nodes"}, {"slurm", "bindir", "bin_dir"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got = conf_option_nearest(rows[i].section, rows[i].name);

		print_message("# %s -> %s\n", rows[i].name, got);
		assert_string_equal(got, rows[i].want);
	}
	assert_non_null(conf_option_nearest("pool", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finish),
		cmocka_unit_test(test_provider_twice),
		cmocka_unit_test(test_too_many_sections),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_may_replace_pools),
		cmocka_unit_test(test_may_replace_providers),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_failed_set_changes_nothing),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_command_too_long),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
