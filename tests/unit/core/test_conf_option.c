/* What conf_option.h promises: every option, what it takes and what it refuses. */
#include "conf_reloaded.h"
#include "conf_values.h"

static void set(const char *section, const char *name, void *object, const char *text)
{
	struct err e = {0};

	if (conf_option_set(conf_option_find(section, name), object, text, &e) < 0)
		fail_msg("%s %s: %s", section, name, e.msg);
}

union any { /* the largest field, at offset 0 of nothing in particular */
	struct conf conf;
	struct conf_provider provider;
	struct conf_pool pool;
	struct conf_offer offer;
	struct conf_budget budget;
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
	{"", "state_dir", "/a\nb", NULL, "control character"},
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
	{"", "prices_file", "/etc/prices.conf", "/etc/prices.conf", NULL},
	{"", "prices_file", "prices.conf", NULL, "absolute path"},
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
	{"provider", "unreachable_after", "90s", "90s", NULL},
	{"provider", "unreachable_after", "4s", NULL, "\"4s\": want 5s to 1h"},
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
	{"pool", "max_rate", "", NULL, "want an amount"},
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
	{"pool", "warm", "65536", "65536", NULL},
	{"pool", "warm", "65537", NULL, "want a number from 0 to 65536"},
	{"pool", "quantum", "31d", "31d", NULL},
	{"pool", "quantum", "1h", "1h", NULL},
	{"pool", "quantum", "32d", NULL, "want 0s to 31d"},
	{"pool", "zone", "", "", NULL},
	{"pool", "type", "gpu_8x h100", NULL, "want one word"},
	{"pool", "type", "", "", NULL}, /* its offers have one */
	{"pool", "provider", "", "", NULL},
	{"pool", "policy", "cheapest", "cheapest", NULL},
	{"pool", "policy", "ordered", "ordered", NULL},
	{"pool", "policy", "best", NULL, "\"best\": want ordered or cheapest"},
	{"pool", "policy", "", NULL, "want ordered or cheapest"},
	{"pool", "gang", "all_or_nothing", "all_or_nothing", NULL},
	{"pool", "gang", "best_effort", "best_effort", NULL},
	{"pool", "gang", "true", NULL, "want all_or_nothing or best_effort"},
	{"pool", "max_price", "29.52", "29.52", NULL},
	{"pool", "max_price", "", "", NULL},
	{"pool", "max_price", "0", NULL, "want more than 0"},
	{"pool", "spot_share", "100", "100", NULL},
	{"pool", "spot_share", "101", NULL, "want a number from 0 to 100"},
	{"pool", "spot_share", "50%", NULL, "want a number from 0 to 100"},
	{"pool", "fallback_refusals", "1000", "1000", NULL},
	{"pool", "fallback_refusals", "1001", NULL, "want a number from 0 to 1000"},
	{"pool", "fallback_after", "30d", "30d", NULL},
	{"pool", "fallback_after", "31d", NULL, "want 0s to 30d"},
	{"pool", "job_comment", "true", "true", NULL},
	{"pool", "job_comment", "false", "false", NULL},
	{"pool", "job_comment", "yes", NULL, "\"yes\": want true or false"},
	{"pool", "job_comment", "", NULL, "want true or false"},
	{"pool", "jurisdiction", "DE", "DE", NULL},
	{"pool", "jurisdiction", "", "", NULL},
	{"pool", "jurisdiction", "de", NULL, "\"de\": want capital letters"},
	{"offer", "type", "", NULL, "want one word"},
	{"offer", "provider", "", NULL, "want a name"},
	{"offer", "market", "reserved", "reserved", NULL},
	{"offer", "market", "spot", "spot", NULL},
	{"offer", "market", "on-demand", "on-demand", NULL},
	{"offer", "market", "ondemand", NULL, "\"ondemand\": want reserved, spot or on-demand"},
	{"offer", "jurisdiction", "US-GOV", "US-GOV", NULL},
	{"offer", "jurisdiction", "ABCDEFGH", "ABCDEFGH", NULL},
	{"offer", "jurisdiction", "ABCDEFGHI", NULL, "want capital letters"},
	{"offer", "jurisdiction", "D", NULL, "want capital letters"},
	{"offer", "jurisdiction", "-E", NULL, "want capital letters"},
	{"offer", "jurisdiction", "E1", NULL, "want capital letters"},
	{"offer", "jurisdiction", "D E", NULL, "want capital letters"},
	{"pool", "nodes", "", NULL, "want a node list"},
	{"", "cluster", "azAZ09", "azAZ09", NULL},
	{"", "cluster", "012345678901234567890123456789012345678901234567890123456789012",
	 "012345678901234567890123456789012345678901234567890123456789012", NULL},
	{"", "cluster", "a/b", NULL, "want a name"},
	{"", "cluster", "a:b", NULL, "want a name"},
	{"", "cluster", "a@b", NULL, "want a name"},
	{"", "cluster", "a[b", NULL, "want a name"},
	{"", "cluster", "a`b", NULL, "want a name"},
	{"", "cluster", "a{b", NULL, "want a name"},
	{"", "currency", "EU", NULL, "three capital letters"},
	{"", "state_dir", "/a\x1f", NULL, "control character"},
	{"", "state_dir", "/a\x7f", NULL, "control character"},
	{"", "state_dir", "/a\\b", NULL, "a backslash"},
	{"", "state_dir", "/a ~!#$", "/a ~!#$", NULL},
	{"", "listen", "127.0.0.1:", NULL, "loopback"},
	{"", "listen", "127.0.0.:80", NULL, "loopback"},
	{"", "listen", "127.0.0.1.1:80", NULL, "loopback"},
	{"", "listen", "127.0.0x1:80", NULL, "loopback"},
	{"", "listen", "127.0.0.1x80", NULL, "loopback"},
	{"", "listen", "[::1]", NULL, "loopback"},
	{"", "listen", "[::1]x80", NULL, "loopback"},
	{"", "listen", "[::1x:80", NULL, "loopback"},
	{"", "listen", "[::1]:80 ", NULL, "loopback"},
	{"", "listen", "127.0.0.255:10", "127.0.0.255:10", NULL},
	{"", "log_level", "error", "error", NULL},
	{"", "log_level", "info", "info", NULL},
	{"", "log_level", "warn", "warn", NULL},
	{"", "events_keep", "48h", "2d", NULL},
	{"", "events_keep", "25h", "25h", NULL},
	{"", "events_keep", "90m", "90m", NULL},
	{"", "events_keep", "3661s", "3661s", NULL},
	{"", "events_keep", "3600001ms", "3600001ms", NULL},
	{"", "events_keep", "86400s", "1d", NULL},
	{"", "events_keep", "86460s", "1441m", NULL},
	{"provider", "settle", "60s", "1m", NULL},
	{"provider", "settle", "59s", "59s", NULL},
	{"provider", "settle", "61s", "61s", NULL},
	{"provider", "settle", "59m", "59m", NULL},
	{"provider", "settle", "1ms", "1ms", NULL},
	{"provider", "settle", "999ms", "999ms", NULL},
	{"provider", "settle", "1000ms", "1s", NULL},
	{"provider", "settle", "1001ms", "1001ms", NULL},
	{"provider", "settle", "1x", NULL, "want one number and one unit"},
	{"provider", "settle", "1ss", NULL, "want one number and one unit"},
	{"provider", "settle", "1mss", NULL, "want one number and one unit"},
	{"provider", "settle", "ms", NULL, "want one number and one unit"},
	{"provider", "url", "http://", NULL, "want http://"},
	{"provider", "url", "https://", NULL, "want http://"},
	{"provider", "url", "https:///x", NULL, "want http://"},
	{"provider", "url", "http://a b", NULL, "want http://"},
	{"provider", "url", "http://a", "http://a", NULL},
	{"provider", "url", "https://a", "https://a", NULL},
	{"provider", "concurrency", "1", "1", NULL},
	{"pool", "price", "0.000000001", "0.000000001", NULL},
	{"pool", "market", "Spot ", NULL, "want on-demand or spot"},
	{"pool", "market", "", NULL, "want on-demand or spot"},
	{"pool", "type", "0123456789012345678901234567890123456789012345678901234567890123", NULL,
	 "want one word of at most 63 bytes"},
	{"pool", "type", "012345678901234567890123456789012345678901234567890123456789012",
	 "012345678901234567890123456789012345678901234567890123456789012", NULL},
	{"pool", "type", "a", "a", NULL},
	{"pool", "nodes", "a", "a", NULL},
	{"", "cluster", "a", "a", NULL},
	{"", "currency", "EUR1", NULL, "three capital letters"},
	{"", "listen", "128.0.0.1:80", NULL, "loopback"},
	{"", "events_keep", "60001m", "60001m", NULL},
	{"provider", "url", "https:/xab", NULL, "want http://"},
	{"provider", "url", "http:/xab", NULL, "want http://"},
	{"pool", "max_nodes", "18446744073709551617", NULL, "want a number from 0 to 65536"},
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

static void test_a_currency_is_written_with_its_end_and_nothing_behind(void **state)
{
	struct conf c, want;

	(void)state;
	memset(&c, 'x', sizeof(c));
	memset(&want, 'x', sizeof(want));
	memcpy(want.currency, "EUR", 4);
	set("", "currency", &c, "EUR\0y");
	assert_memory_equal(&c, &want, sizeof(c));
}

static void test_a_list_of_jurisdictions(void **state)
{
	const struct conf_option *o = conf_option_find("pool", "jurisdictions");
	struct conf_pool p = {0};
	struct err e = {0};
	struct str s;
	char code[3] = "AA";

	(void)state;
	str_init(&s, 1000);
	assert_true(conf_option_is_list(o));
	conf_option_print(o, &p, &s);
	assert_string_equal(s.p, "");
	assert_int_equal(conf_option_add_arg(o, &p, "EU", &e), 0);
	assert_int_equal(conf_option_add_arg(o, &p, "CH", &e), 0);
	assert_int_equal(conf_option_add_arg(o, &p, "EU", &e), -1);
	assert_string_equal(e.msg, "EU is listed twice");
	assert_int_equal(conf_option_add_arg(o, &p, "CH", &e), -1);
	assert_int_equal(conf_option_add_arg(o, &p, "eu", &e), -1);
	assert_string_equal(e.msg, "\"eu\": want capital letters: a country such as DE, EU or EEA");
	conf_option_print(o, &p, &s);
	assert_string_equal(s.p, "\"EU\", \"CH\"");
	for (int i = 2; i < 64; i++) {
		code[0] = (char)('K' + i / 26);
		code[1] = (char)('A' + i % 26);
		assert_int_equal(conf_option_add_arg(o, &p, code, &e), 0);
	}
	assert_int_equal(conf_option_add_arg(o, &p, "ZZ", &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	str_fini(&s);
	conf_option_fini(o, &p);
	assert_null(p.jurisdictions);
}

static void test_what_is_empty(void **state)
{
	struct conf c = {.slurm_conf = mem_strdup("/x")};

	(void)state;
	set("slurm", "conf", &c, "");
	assert_null(c.slurm_conf);
	set("", "listen", &c, "");
	assert_string_equal(c.listen, "");
	conf_option_fini(conf_option_find("", "listen"), &c);
	assert_null(c.listen);
}

static void test_users(void **state)
{
	const struct conf_option *o = conf_option_find("", "admins");
	struct conf a = {.people.admins = {mem_zalloc(2 * sizeof(uint32_t)), 2}};
	const struct conf none = {0};
	struct str s;

	(void)state;
	memcpy(a.people.admins.v, (uint32_t[]){7, UINT32_MAX}, 2 * sizeof(uint32_t));
	str_init(&s, 100);
	conf_option_print(o, &a, &s);
	assert_string_equal(s.p, "\"7\", \"4294967295\"");
	assert_false(conf_option_same(o, &a, &none));
	str_fini(&s);
	conf_option_fini(o, &a);
	assert_null(a.people.admins.v);
}

/* No other option has a range, or may be changed by a reload. */
static void test_reload_and_ranges(void **state)
{
	size_t k = 0;

	(void)state;
	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];
		bool unit = strcmp(o->name, "unit") == 0; /* has a limit, though it is fixed */
		bool here = k < COUNT(reloaded) && strcmp(o->section, reloaded[k].section) == 0 &&
			    strcmp(o->name, reloaded[k].name) == 0;

		assert_int_equal(o->reload, here || strcmp(o->section, "alert") == 0);
		assert_int_equal(o->min, here ? reloaded[k].min : 0);
		assert_int_equal(o->max, here ? reloaded[k].max : unit ? HOSTLIST_NAMES_MAX : 0);
		k += here;
	}
	assert_int_equal(k, COUNT(reloaded));
}

/* Each initial value is one that the option takes; each has its help and a name of its own. */
static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];
		union any object = {0};
		struct err e = {0};

		assert_ptr_equal(conf_option_find(o->section, o->name), o);
		assert_true(strlen(o->help) > 5 && strchr(o->help, '\n') == NULL);
		if (o->initial == NULL || conf_option_is_list(o))
			continue;
		if (conf_option_set(o, &object, o->initial, &e) < 0)
			fail_msg("%s %s: %s", o->section, o->name, e.msg);
		conf_option_fini(o, &object);
	}
	assert_null(conf_option_find("pool", "cluster"));
}

/* Each word of the options that are one of a few, in the order of the enum. */
static void test_choices(void **state)
{
	static const struct {
		const char *section, *name, *words[8];
	} rows[] = {
		{"", "listen_jobs", {"false", "true"}},
		{"secrets", "release", {"wrap", "broker", "user-data"}},
		{"nodes", "auth", {"munge", "slurm"}},
		{"provider",
		 "attest",
		 {"off", "aws", "gcp", "azure", "callback", "address", "auto"}},
		{"provider", "bootstrap", {"user-data", "image", "ssh"}},
		{"offer", "market", {"on-demand", "spot", "reserved"}},
		{"pool", "policy", {"ordered", "cheapest"}},
		{"pool", "gang", {"all_or_nothing", "best_effort"}},
		{"pool", "job_comment", {"false", "true"}},
		{"pool", "checkpoint_to", {"batch", "steps", "full"}},
		{"pool", "rebalance", {"ignore", "drain"}},
		{"budget", "market", {"on-demand", "spot", "reserved", "any"}},
		{"budget", "each", {"", "user", "account", "partition"}},
		{"budget", "reserve", {"full", "lease", "minimum"}},
		{"budget", "unknown", {"refuse", "allow"}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct conf_option *o = conf_option_find(rows[i].section, rows[i].name);
		int k = 0;

		for (; rows[i].words[k] != NULL; k++) {
			union any object;
			struct str s;
			int got;

			memset(&object, 0xff, sizeof(object));
			set(rows[i].section, rows[i].name, &object, rows[i].words[k]);
			memcpy(&got, (const char *)&object + o->offset, sizeof(got));
			assert_int_equal(got, k);
			str_init(&s, 100);
			conf_option_print(o, &object, &s);
			assert_string_equal(s.p, rows[i].words[k]);
			str_fini(&s);
		}
		assert_true(k >= 2);
	}
}

static void test_which_options_are_lists(void **state)
{
	static const char *const lists[] = {
		"admins",         "admin_groups", "operator_groups", "finance_groups",
		"switch_command", "url",          "conf_server",     "checkpoint_command",
		"jurisdictions",  "partitions",   "pools",           "accounts",
		"users",          "qos",          "wckeys",          "providers",
		"notify_at",      "to",           "budgets"};
	size_t k = 0;

	(void)state;
	for (size_t i = 0; i < conf_noptions; i++)
		if (conf_option_is_list(&conf_options[i])) {
			assert_true(k < COUNT(lists));
			assert_string_equal(conf_options[i].name, lists[k++]);
		}
	assert_int_equal(k, COUNT(lists));
}

static void test_nearest(void **state)
{
	static const struct {
		const char *section, *name, *want;
	} rows[] = {
		{"", "clustre", "cluster"},
		{"", "pol", "pool"},
		{"", "provder", "provider"},
		{"pool", "max_node", "max_nodes"},
		{"slurm", "bindir", "bin_dir"},
		{"pool", "", "type"},
		{"pool", "ofer", "offer"},
		{"pool", "max_prize", "max_price"},
		{"offer", "regoin", "region"},
		{"", "slrum", "slurm"},
		{"slurm", "clustr", "conf"}, /* though another section has a nearer one */
		{"", "provider", "provider"},
		{"", "admodes", "admins"}, /* nodes is as near: an option goes first */
	};
	static const struct conf_driver *const none[] = {NULL};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got = conf_option_nearest(rows[i].section, rows[i].name, none);

		print_message("# %s -> %s\n", rows[i].name, got);
		assert_string_equal(got, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_failed_set_changes_nothing),
		cmocka_unit_test(test_a_currency_is_written_with_its_end_and_nothing_behind),
		cmocka_unit_test(test_a_list_of_jurisdictions),
		cmocka_unit_test(test_what_is_empty),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_reload_and_ranges),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_which_options_are_lists),
		cmocka_unit_test(test_nearest),
	};
	return cmocka_run_group_tests_name("conf_option", tests, NULL, NULL);
}
