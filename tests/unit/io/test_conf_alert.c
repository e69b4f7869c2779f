/* test_conf_alert.c - sections alert in a file: each error says where and what, none quotes a URL,
 * and what is printed loads again. */
#include "conf_equal.h"

#define HOOK "alert a { kind = webhook\n"
#define KEY  "secret_file = \"/k\"\n"
#define MAIL "alert a { kind = smtp\n"
#define ENDS "from = \"b@c.d\" to = {\"o@p\"}\n"

static const struct {
	const char *name, *text;
	const char *want; /* behind "f:" */
} bad[] = {
	{"no title", HEAD "alert { kind = slack }\n",
	 "3: alert has no title: want alert \"NAME\" { ... }"},
	{"no kind", HEAD "alert a {\n}\n", "4: alert \"a\": kind is missing"},
	{"another kind", HEAD "alert a { kind = irc }\n",
	 "3: alert \"a\": kind: \"irc\": want webhook, slack or smtp"},
	{"an unknown option", HEAD "alert a {\nurls = x }\n",
	 "4: unknown option \"urls\" in an alert; did you mean \"url\"?"},
	{"twice", HEAD HOOK KEY "url = \"https://h/p\" }\n" HOOK "}\n",
	 "6: alert \"a\" is defined twice; the first ends in line 5"},
	{"no URL", HEAD HOOK KEY "}\n", "5: alert \"a\": url: missing: set url, or url_file"},
	{"two URLs", HEAD HOOK KEY "url = \"https://h/p\"\nurl_file = \"/u\" }\n",
	 "6: alert \"a\": url_file: url says another one: set one of them"},
	{"without a key", HEAD HOOK "url = \"https://h/p\" }\n",
	 "4: alert \"a\": secret_file: missing: kind = webhook needs it"},
	{"http", HEAD HOOK KEY "url = \"http://h/p\" }\n",
	 "5: alert \"a\": url: http:// only to this host (127.0.0.1, [::1], localhost): want "
	 "https://"},
	{"http to a host that begins so", HEAD HOOK KEY "url = \"http://localhost.h/p\" }\n",
	 "5: alert \"a\": url: http:// only to this host"},
	{"another scheme", HEAD HOOK KEY "url = \"ftp://secret-path\" }\n",
	 "5: alert \"a\": url: want https://HOST[:PORT]/PATH"},
	{"no host", HEAD HOOK KEY "url = \"https:///secret-path\" }\n",
	 "5: alert \"a\": url: want https://HOST"},
	{"a password in the URL", HEAD HOOK KEY "url = \"https://a:secret@h/\" }\n",
	 "5: alert \"a\": url: want https://HOST"},
	{"Slack's URL in the file", HEAD "alert a { kind = slack\nurl = \"https://h/secret\" }\n",
	 "4: alert \"a\": url: Slack's is a secret: put it into url_file"},
	{"Slack without a URL", HEAD "alert a { kind = slack\n}\n",
	 "4: alert \"a\": url_file: missing: kind = slack needs it"},
	{"Slack with a key", HEAD "alert a { kind = slack url_file = \"/u\"\n" KEY "}\n",
	 "4: alert \"a\": secret_file: not with kind = slack"},
	{"a mail with a key", HEAD MAIL ENDS "url = \"smtp://h\"\n" KEY "}\n",
	 "6: alert \"a\": secret_file: not with kind = smtp"},
	{"a mail by https", HEAD MAIL ENDS "url = \"https://h\" }\n",
	 "5: alert \"a\": url: want smtp://HOST[:PORT] or smtps://HOST[:PORT]"},
	{"a mail with a path", HEAD MAIL ENDS "url = \"smtp://h/x\" }\n",
	 "5: alert \"a\": url: want smtp://HOST[:PORT], without a path"},
	{"a mail to nobody", HEAD MAIL "from = \"b@c.d\"\nurl = \"smtp://h\" }\n",
	 "5: alert \"a\": to: missing: kind = smtp needs it"},
	{"a mail from nobody", HEAD MAIL "to = {\"b@c.d\"}\nurl = \"smtp://h\" }\n",
	 "5: alert \"a\": from: missing"},
	{"a webhook with receivers", HEAD HOOK KEY "url = \"https://h/p\"\nto = {\"o@p\"} }\n",
	 "6: alert \"a\": to: not with kind = webhook"},
	{"half a login", HEAD MAIL ENDS "url = \"smtp://h\"\nuser = u }\n",
	 "6: alert \"a\": user: set both, user and password_file, or none"},
	{"the other half", HEAD MAIL ENDS "url = \"smtp://h\"\npassword_file = \"/p\" }\n",
	 "6: alert \"a\": password_file: set both"},
	{"no such budget", HEAD HOOK KEY "url = \"https://h/p\"\nbudgets = {\"b\"} }\n",
	 "6: alert \"a\": budgets: there is no budget \"b\""},
	{"no address", HEAD MAIL "from = \"burstd\" }\n",
	 "4: alert \"a\": from: \"burstd\": want a mail address, NAME@DOMAIN"},
	{"a header in an address", HEAD MAIL "from = \"b@c\\nBcc: x@y\" }\n", "4: "},
	{"an address with a name", HEAD MAIL "from = \"B <b@c>\" }\n", "4: alert \"a\": from: "},
	{"two addresses in one", HEAD MAIL "to = {\"a@b,c@d\"} }\n", "4: alert \"a\": to: "},
	{"two at", HEAD MAIL "to = {\"a@b@c\"} }\n", "4: alert \"a\": to: "},
	{"no domain", HEAD MAIL "to = {\"a@\"} }\n", "4: alert \"a\": to: "},
	{"no name", HEAD MAIL "to = {\"@a\"} }\n", "4: alert \"a\": to: "},
	{"an address twice", HEAD MAIL "to = {\"a@b\", \"a@b\"} }\n",
	 "4: alert \"a\": to: a@b is listed twice"},
};

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = {0};
		struct conf *c;

		print_message("# %s\n", bad[i].name);
		assert_int_equal(conf_file_parse(&c, "f", bad[i].text, provider_options, &e), -1);
		assert_null(c);
		if (strncmp(e.msg, "f:", 2) != 0 ||
		    strncmp(e.msg + 2, bad[i].want, strlen(bad[i].want)) != 0)
			fail_msg("%s", e.msg);
		assert_null(strstr(e.msg, "secret-path"));
	}
}

static void test_what_is_printed_loads_again(void **state)
{
	static const char *const texts[] = {
		HEAD HOOK KEY "url = \"https://h/p?q=1\" }\n",
		HEAD HOOK KEY "url = \"http://127.0.0.1:8080/p\" }\n",
		HEAD HOOK KEY
		"url = \"http://[::1]/\" }\nalert b { kind = slack url_file = \"/u\" }\n",
		HEAD MAIL ENDS "url = \"smtp://h:25\" user = u password_file = \"/p\" }\n",
		HEAD MAIL ENDS "url = \"smtps://[fd00::1]:465\" ca_file = \"/c\" }\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct conf *a = parsed(texts[i]), *b;
		struct str s;

		str_init(&s, CONF_PRINT_MAX);
		conf_print(a, &s);
		b = parsed(s.p);
		assert_conf_equal(a, b);
		str_fini(&s);
		conf_free(a);
		conf_free(b);
	}
}

static void test_most(void **state)
{
	struct err e = {0};
	struct conf *c;
	struct str s;

	(void)state;
	str_init(&s, 1 << 16);
	str_adds(&s, HEAD);
	for (int i = 0; i < CONF_ALERTS_MAX; i++)
		str_addf(&s, "alert a%d { kind = slack url_file = \"/u\" }\n", i);
	c = parsed(s.p);
	assert_int_equal(c->nalerts, CONF_ALERTS_MAX);
	conf_free(c);
	str_adds(&s, "alert x { kind = slack url_file = \"/u\" }\n");
	assert_int_equal(conf_file_parse(&c, "f", s.p, provider_options, &e), -1);
	assert_string_equal(e.msg, "f:19: more than 16 sections alert");
	str_fini(&s);
}

static void test_reload(void **state)
{
	struct conf *a = parsed(HEAD HOOK KEY "url = \"https://h/p\" }\n");
	struct conf *b = parsed(HEAD "alert b { kind = slack url_file = \"/u\" }\n");
	struct err e;

	(void)state;
	assert_int_equal(conf_may_replace(a, b, &e), 0);
	assert_true(conf_alert_is_for(&a->alerts[0], "any"));
	assert_true(conf_alert_is_near("smtp://localhost:25"));
	assert_true(conf_alert_is_near("smtp://127.0.0.2"));
	assert_false(conf_alert_is_near("smtp://mail.example"));
	conf_free(a);
	conf_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_what_is_printed_loads_again),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_reload),
	};

	return cmocka_run_group_tests_name("sections alert", tests, NULL, NULL);
}
