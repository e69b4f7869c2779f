/* test_conf_command.c - options that are commands, and the longest of each kind. */
#include "conf_values.h"

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
		{{"/site", "a\nb"}, NULL, "a control character"},
		{{"/site", "\\"}, NULL, "a backslash"},
		{{"/site", "%N"}, NULL, "\"%N\": only %n, %a and %% are allowed"},
		{{"/site", "100%"}, NULL, "only %n, %a and %% are allowed"},
		{{"/site", "%%%"}, NULL, "only %n, %a and %% are allowed"},
	};
	const struct conf_option *o = conf_option_find("secrets", "switch_command");

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf p = {0};
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
		assert_null(p.secrets.switch_command);
	}
}

static void test_command_too_long(void **state)
{
	const struct conf_option *o = conf_option_find("secrets", "switch_command");
	struct conf p = {0};
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

static void test_the_longest_word_of_a_command(void **state)
{
	const struct conf_option *o = conf_option_find("secrets", "switch_command");
	struct conf p = {0};
	char word[1025];

	(void)state;
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(conf_option_add_arg(o, &p, "/site", NULL), 0);
	assert_int_equal(conf_option_add_arg(o, &p, word, NULL), 0);
	assert_int_equal(conf_option_add_arg(o, &p, "%n%a%%", NULL), 0);
	assert_string_equal(p.secrets.switch_command[1], word);
	assert_null(p.secrets.switch_command[3]);
	conf_option_fini(o, &p);
}

/* A reload must see a change at its very end. */
static void test_the_longest_commands_are_compared_to_their_end(void **state)
{
	const struct conf_option *o = conf_option_find("secrets", "switch_command");
	struct conf a = {0}, b = {0};
	char word[1025];

	(void)state;
	memset(word, '/', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	for (int i = 0; i < 64; i++) {
		assert_int_equal(conf_option_add_arg(o, &a, word, NULL), 0);
		if (i == 63)
			word[sizeof(word) - 2] = 'x';
		assert_int_equal(conf_option_add_arg(o, &b, word, NULL), 0);
	}
	assert_true(conf_option_same(o, &a, &a));
	assert_false(conf_option_same(o, &a, &b));
	conf_option_fini(o, &a);
	conf_option_fini(o, &b);
}

static void test_the_longest_value(void **state)
{
	const struct conf_option *o = conf_option_find("pool", "nodes");
	struct conf_pool p = {0};
	struct err e = {0};
	char *text = mem_zalloc((64 << 10) + 2);

	(void)state;
	memset(text, 'a', (64 << 10) + 1);
	assert_int_equal(conf_option_set(o, &p, text, &e), -1);
	assert_string_equal(e.msg, "longer than 65536 bytes");
	assert_int_equal(e.code, ERR_LIMIT);
	text[64 << 10] = '\0';
	assert_int_equal(conf_option_set(o, &p, text, &e), 0);
	assert_true(conf_option_same(o, &p, &p));
	conf_option_fini(o, &p);
	free(text);
}

/* A command about a job is told other things than one about a machine. */
static void test_a_hook_has_letters_of_its_own(void **state)
{
	static const char *const bad[] = {"%a", "%", "%J", "%%%"};
	const struct conf_option *o = conf_option_find("pool", "checkpoint_command");
	struct conf_pool p = {0};
	struct err e = {0};
	struct str s;

	(void)state;
	str_init(&s, 1000);
	conf_option_print(o, &p, &s);
	assert_string_equal(s.p, "");
	assert_int_equal(conf_option_add_arg(o, &p, "/save", &e), 0);
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(conf_option_add_arg(o, &p, bad[i], &e), -1);
		assert_non_null(strstr(e.msg, "only %j, %n, %d and %% are allowed"));
	}
	assert_int_equal(conf_option_add_arg(o, &p, "%j-%n-%d-%%", &e), 0);
	conf_option_print(o, &p, &s);
	assert_string_equal(s.p, "\"/save\", \"%j-%n-%d-%%\"");
	str_fini(&s);
	conf_option_fini(o, &p);
	assert_null(p.checkpoint_command);
}

static void test_urls_and_hosts_are_eight_and_none_twice(void **state)
{
	static const struct {
		const char *name, *bad, *why;
	} rows[] = {
		{"url", "http://h", "\"http://h\": want https://HOST[:PORT]"},
		{"conf_server", "h", "\"h\": want HOST:PORT"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct conf_option *o = conf_option_find("nodes", rows[i].name);
		struct conf c = {0};
		struct err e = {0};
		char text[32];

		assert_int_equal(conf_option_add_arg(o, &c, rows[i].bad, &e), -1);
		assert_memory_equal(e.msg, rows[i].why, strlen(rows[i].why));
		for (int k = 0; k < 8; k++) {
			(void)snprintf(text, sizeof(text), i == 0 ? "https://h%d:1" : "h%d:1", k);
			assert_int_equal(conf_option_add_arg(o, &c, text, &e), 0);
			if (k < 7)
				assert_int_equal(conf_option_add_arg(o, &c, text, &e), -1);
		}
		assert_non_null(strstr(e.msg, "h6:1 is listed twice"));
		assert_int_equal(conf_option_add_arg(o, &c, "h9:1", &e), -1);
		assert_string_equal(e.msg, "more than 8 values");
		assert_int_equal(e.code, ERR_LIMIT);
		conf_option_fini(o, &c);
		assert_true(c.nodes.urls == NULL && c.nodes.conf_servers == NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_command_too_long),
		cmocka_unit_test(test_a_hook_has_letters_of_its_own),
		cmocka_unit_test(test_urls_and_hosts_are_eight_and_none_twice),
		cmocka_unit_test(test_the_longest_word_of_a_command),
		cmocka_unit_test(test_the_longest_commands_are_compared_to_their_end),
		cmocka_unit_test(test_the_longest_value),
	};

	return cmocka_run_group_tests_name("conf_command", tests, NULL, NULL);
}
