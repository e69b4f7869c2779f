/* test_conf_form.c - the forms of texts in burstd.conf: what conf_text.h promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/conf_text.h"

static const char *const want_text = "want text of at most 4096 bytes, without a blank";
static const char *const want_phrase =
	"want text of at most 4096 bytes, without a blank at either end";
static const char *const want_bind = "want an address and port such as 0.0.0.0:8443";
static const char *const want_signal = "want a signal such as USR1";
static const char *const want_line =
	"want words of letters, digits and \"._:/,@+=-\", at most 4096 bytes: nodes accept nothing "
	"else";

static void check(enum conf_option_type type, const char *text, const char *why)
{
	struct err e = {0};

	if (conf_text_check(type, text, &e) != (why != NULL ? -1 : 0))
		fail_msg("\"%s\": %s", text, e.msg);
	if (why != NULL && strstr(e.msg, why) == NULL)
		fail_msg("\"%s\": %s", text, e.msg);
}

static void test_texts_words_and_files(void **state)
{
	static const char *const no_secret[] = {"",
						"a",
						"credential:",
						"credential:a/b",
						"credential:..",
						"credential:.hidden",
						"credential:/a",
						"Credential:a"};
	(void)state;
	check(CONF_TEXT, "a", NULL);
	check(CONF_TEXT, "", want_text);
	check(CONF_TEXT, "a b", want_text);
	check(CONF_PHRASE, "a  b", NULL);
	check(CONF_PHRASE, "", want_phrase);
	check(CONF_PHRASE, " a", want_phrase);
	check(CONF_PHRASE, "a ", want_phrase);
	check(CONF_PHRASE, " ", want_phrase);
	check(CONF_WORD, "a", NULL);
	check(CONF_WORD, "", "want one word of at most 63 bytes");
	check(CONF_WORD, "a b", "want one word of at most 63 bytes");
	check(CONF_FILE, "/", NULL);
	check(CONF_FILE, "a/b", "want an absolute path");
	check(CONF_FILE, "", "want an absolute path");
	check(CONF_NODES, "a", NULL);
	check(CONF_NODES, "", "want a node list");
	check(CONF_LINKS, "ib", NULL);
	check(CONF_LINKS, "token-ring", "");
	check(CONF_HARDWARE, "CPUs=4 RealMemory=1", NULL);
	check(CONF_HARDWARE, "CPUs=4", "");
	check(CONF_GRES, "gpu:8", NULL);
	check(CONF_GRES, "gpu", "");
	check(CONF_LINE, "", NULL);
	check(CONF_LINE, " ", NULL);
	check(CONF_LINE, "a;b", want_line);
	check(CONF_NAME, "a", NULL);
	check(CONF_NAME, "-", "want a name: letters, digits, '-', '_' and '.', at most 63");
	check(CONF_PATH, "/a", NULL);
	check(CONF_PATH, "a", "want an absolute path");
	check(CONF_PATH, "credential:a", "want an absolute path");
	check(CONF_SECRET, "/a", NULL);
	check(CONF_SECRET, "credential:cloud.key", NULL);
	for (size_t i = 0; i < sizeof(no_secret) / sizeof(no_secret[0]); i++)
		check(CONF_SECRET, no_secret[i], "want an absolute path, or credential:NAME");
	check(CONF_URL, "http://h", NULL);
	check(CONF_URL, "h", "want http://... or https://...");
	check(CONF_LISTEN, "127.0.0.1:1", NULL);
	check(CONF_LISTEN, "10.0.0.1:1", "want a loopback address and port");
	check(CONF_CODE, "DE", NULL);
	check(CONF_CODE, "de", "\"de\": want capital letters");
}

static void test_what_may_be_long_has_4096_bytes(void **state)
{
	char text[4098];

	(void)state;
	memset(text, 'a', sizeof(text));
	text[4097] = '\0';
	check(CONF_TEXT, text, want_text);
	check(CONF_LINE, text, want_line);
	text[4096] = '\0';
	check(CONF_TEXT, text, NULL);
	check(CONF_LINE, text, NULL);
}

static void test_addresses_and_ports(void **state)
{
	static const char *const good[] = {"0.0.0.0:8443", "10.0.0.1:65535", "[::]:1",
					   "[2001:db8::Ff]:80"};
	static const char *const bad[] = {
		"",       "0.0.0.0", "0.0.0.0:",   "0.0.0.0:0", "0.0.0.0:65536", "0.0.0.0:1x",
		":1",     "host:1",  "0.0.0.0x:1", "[]:1",      "[:]:1",         "[::1:1",
		"[::1]1", "[::1]",   "[::g]:1",    "::1",       "0.0.0.0 :1",    "x0.0.0.0:1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		check(CONF_BIND, good[i], NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(CONF_BIND, bad[i], want_bind);
}

static void test_urls_and_hosts_of_nodes(void **state)
{
	static const char *const urls[] = {"https://h", "https://h:1", "https://a_1-b.C:65535",
					   "https://[::1]", "https://[::1]:443"};
	static const char *const no_urls[] = {
		"",
		"h",
		"http://ab",
		"https:/xh",
		"http://h",
		"https://",
		"https:///",
		"https://h/",
		"https://h:",
		"https://:1",
		"https://h:0",
		"https://h:65536",
		"https://h b",
		"https://[]",
		"https://[:",
		"https://[::1",
		"https://[::1]x",
	};
	static const char *const no_hosts[] = {"",   "h",       "h:",   "h:0", "h:65536",
					       ":1", "[::1]:1", "h:1 ", "h/:1"};

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
		check(CONF_URLS, urls[i], NULL);
	for (size_t i = 0; i < sizeof(no_urls) / sizeof(no_urls[0]); i++)
		check(CONF_URLS, no_urls[i], "want https://HOST[:PORT], and no path");
	check(CONF_HOSTS, "h:65535", NULL);
	check(CONF_HOSTS, "a-1.b_c:1", NULL);
	for (size_t i = 0; i < sizeof(no_hosts) / sizeof(no_hosts[0]); i++)
		check(CONF_HOSTS, no_hosts[i], "want HOST:PORT, without [ ]");
}

static void test_signals_that_a_job_can_catch(void **state)
{
	static const char *const good[] = {"USR1",  "SIGUSR1",  "RTMIN+1", "10",    "1",
					   "KILLS", "SIGSTOPS", "90",      "KILL9", "SIXKILL"};
	static const char *const bad[] = {"", "usr1", "USR 1", "ABCDEFGHIJKLMNOPQ", "-9"};
	static const char *const deaf[] = {"KILL", "SIGKILL", "9",  "SIG9",
					   "STOP", "SIGSTOP", "19", "SIG19"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		check(CONF_SIGNAL, good[i], NULL);
	check(CONF_SIGNAL, "ABCDEFGHIJKLMNOP", NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(CONF_SIGNAL, bad[i], want_signal);
	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		check(CONF_SIGNAL, deaf[i], "a job cannot catch ");
}

static void test_forms_of_words(void **state)
{
	static const struct {
		bool (*is)(const char *text);
		const char *const good[8], *const bad[8];
	} rows[] = {
		{conf_text_is_plain,
		 {"", "a", "$", "{", "a b", "\xc3\xa4", "~", NULL},
		 {"\"", "\\", "\x1f", "\x7f", "${", "a${b", "a\nb", NULL}},
		{conf_text_is_nodes_word,
		 {"", "a", "Z9", "._:/,@+=-", NULL},
		 {" ", "a b", "a;", "'", "a\xc3\xa4", NULL}},
		{conf_text_is_name,
		 {"a", "9", "Z", "a-_.", "a9", NULL},
		 {"", "-a", ".", "_", "a/", "a b", "a:", NULL}},
		{conf_text_is_code,
		 {"DE", "EEA", "US-GOV", "ABCDEFGH", NULL},
		 {"", "D", "de", "De", "-E", "D1", "ABCDEFGHI", NULL}},
		{conf_text_is_currency,
		 {"EUR", "USD", NULL},
		 {"", "EU", "EURO", "EuR", "EU1", NULL}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t k = 0; rows[i].good[k] != NULL; k++)
			if (!rows[i].is(rows[i].good[k]))
				fail_msg("%zu: \"%s\"", i, rows[i].good[k]);
		for (size_t k = 0; rows[i].bad[k] != NULL; k++)
			if (rows[i].is(rows[i].bad[k]))
				fail_msg("%zu: \"%s\"", i, rows[i].bad[k]);
	}
}

static void test_a_number_ends_where_its_digits_do(void **state)
{
	static const struct {
		const char *text;
		int64_t max, want; /* want -1: none */
		const char *rest;
	} rows[] = {
		{"12x", 99, 12, "x"}, {"0", 0, 0, ""},      {"255:1", 255, 255, ":1"},
		{"007", 9, 7, ""},    {"256", 255, -1, ""}, {"", 9, -1, ""},
		{"x1", 9, -1, ""},    {"-1", 9, -1, ""},    {"99999999999999999999", 65535, -1, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *p = rows[i].text;
		int64_t v;

		assert_int_equal(conf_text_number(&p, rows[i].max, &v), rows[i].want >= 0);
		if (rows[i].want < 0)
			continue;
		assert_int_equal(v, rows[i].want);
		assert_string_equal(p, rows[i].rest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_words_and_files),
		cmocka_unit_test(test_what_may_be_long_has_4096_bytes),
		cmocka_unit_test(test_addresses_and_ports),
		cmocka_unit_test(test_urls_and_hosts_of_nodes),
		cmocka_unit_test(test_signals_that_a_job_can_catch),
		cmocka_unit_test(test_forms_of_words),
		cmocka_unit_test(test_a_number_ends_where_its_digits_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
