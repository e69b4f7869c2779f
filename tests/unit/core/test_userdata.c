/* test_userdata.c - stage0, filled in: what may be in it, and that it is short and harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/secret.h"
#include "core/userdata.h"

#define SECRET "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define BEGIN  "-----BEGIN CERTIFICATE-----\n"
#define END    "-----END CERTIFICATE-----\n"
#define CA     BEGIN "MIIBszCCAVmgAwIBAgIUabc+/=\nMIIBszCCAVmgAwIBAgIUabc+/=\n" END

static struct userdata good(void)
{
	return (struct userdata){
		.urls = "https://burst1.example.org:6830 https://[2001:db8::1]:6830",
		.claim_id = "8f3b.c-1_2",
		.claim_secret = SECRET,
		.identity = "aws",
		.node = "",
		.ca_pem = CA,
		.node_init = "/usr/libexec/burstd/node-init",
		.timeout_s = 1200,
		.roots_port = true,
	};
}

static void test_every_field_is_filled_in(void **state)
{
	struct userdata u = good();
	char *text;
	struct err e = {0};

	(void)state;
	assert_int_equal(userdata_fill(&text, &u, USERDATA_LIMIT, &e), 0);
	assert_memory_equal(text, "#!/bin/sh\nset -eu\n", 18);
	assert_non_null(strstr(text, "URLS='https://burst1.example.org:6830 "
				     "https://[2001:db8::1]:6830' ID='8f3b.c-1_2' PROV='aws' "
				     "NODE='' PORTS='800-863' INIT='/usr/libexec/burstd/node-init' "
				     "LIMIT='1200'\n"));
	assert_non_null(strstr(text, "printf %s '" SECRET "' >"));
	assert_non_null(strstr(text, "<<'PEM'\n" CA "PEM\n"));
	/* No place was forgotten. */
	for (const char *p = text; (p = strchr(p, '@')) != NULL; p++)
		assert_false(p[1] >= 'A' && p[1] <= 'Z');
	secret_wipe(&text);
}

static void test_no_comment_goes_along_but_the_first_line(void **state)
{
	struct userdata u = good();
	char *text;

	(void)state;
	assert_int_equal(userdata_fill(&text, &u, USERDATA_LIMIT, NULL), 0);
	for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
		assert_int_not_equal(p[1 + strspn(p + 1, " \t")], '#');
	secret_wipe(&text);
}

static void test_a_repeated_create_has_the_same_bytes(void **state)
{
	struct userdata u = good();
	char *a, *b;

	(void)state;
	assert_int_equal(userdata_fill(&a, &u, USERDATA_LIMIT, NULL), 0);
	assert_int_equal(userdata_fill(&b, &u, USERDATA_LIMIT, NULL), 0);
	assert_string_equal(a, b);
	secret_wipe(&a);
	secret_wipe(&b);
}

/* A value that could end a shell's word, a here-document or a URL. */
static void test_a_field_with_a_character_that_cannot_be_there_is_refused(void **state)
{
	static const struct {
		size_t at; /* offset of the member */
		const char *text;
	} rows[] = {
		{offsetof(struct userdata, urls), ""},
		{offsetof(struct userdata, urls), " "},
		{offsetof(struct userdata, urls), "http://burst1:1"},
		{offsetof(struct userdata, urls), "https://"},
		{offsetof(struct userdata, urls), "https://a:1 b"},
		{offsetof(struct userdata, urls), "https://a:1/path"},
		{offsetof(struct userdata, urls), "https://a:1'; reboot; '"},
		{offsetof(struct userdata, urls), "https://a:1\nhttps://b:1"},
		{offsetof(struct userdata, urls), "https://user@a:1"},
		{offsetof(struct userdata, urls),
		 "https://a https://a https://a https://a https://a "
		 "https://a https://a https://a https://a"},
		{offsetof(struct userdata, claim_id), ""},
		{offsetof(struct userdata, claim_id), "a'b"},
		{offsetof(struct userdata, claim_id), "a\"b"},
		{offsetof(struct userdata, claim_id), "a/b"},
		{offsetof(struct userdata, claim_id), "a\nb"},
		{offsetof(struct userdata, claim_secret), "too-short"},
		{offsetof(struct userdata, claim_secret), SECRET "'"},
		{offsetof(struct userdata, claim_secret), SECRET "$(id)"},
		{offsetof(struct userdata, claim_secret), SECRET SECRET},
		{offsetof(struct userdata, identity), ""},
		{offsetof(struct userdata, identity), "oracle"},
		{offsetof(struct userdata, node), "n'1"},
		{offsetof(struct userdata, node), "-n"},
		{offsetof(struct userdata, node), "n[1-2]"},
		{offsetof(struct userdata, ca_pem), ""},
		{offsetof(struct userdata, ca_pem), "PEM\nreboot\n"},
		{offsetof(struct userdata, ca_pem), BEGIN "PEM\nreboot\n" END},
		{offsetof(struct userdata, ca_pem), BEGIN "AAAA" END},
		{offsetof(struct userdata, ca_pem), CA "PEM\n"},
		{offsetof(struct userdata, ca_pem), CA "reboot"},
		{offsetof(struct userdata, ca_pem), "\n" CA},
		{offsetof(struct userdata, ca_pem), BEGIN "`reboot`\n" END},
		{offsetof(struct userdata, node_init), "relative/node-init"},
		{offsetof(struct userdata, node_init), "/a b"},
		{offsetof(struct userdata, node_init), "/a';reboot;'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct userdata u = good();
		char *text;
		struct err e = {0};

		memcpy((char *)&u + rows[i].at, &rows[i].text, sizeof(rows[i].text));
		if (userdata_fill(&text, &u, USERDATA_LIMIT, &e) == 0)
			fail_msg("row %zu: '%s' was taken", i, rows[i].text);
		assert_null(text);
		assert_int_equal(e.code, ERR_INVALID);
		assert_null(strstr(e.msg, "0011"));
	}
}

static void test_numbers_have_their_range(void **state)
{
	struct userdata u = good();
	char *text;

	(void)state;
	u.timeout_s = 0;
	assert_int_equal(userdata_fill(&text, &u, USERDATA_LIMIT, NULL), -1);
	u.timeout_s = USERDATA_TIMEOUT_MAX + 1;
	assert_int_equal(userdata_fill(&text, &u, USERDATA_LIMIT, NULL), -1);
	u = good();
	u.roots_port = false;
	assert_int_equal(userdata_fill(&text, &u, USERDATA_LIMIT, NULL), 0);
	assert_non_null(strstr(text, " PORTS='' "));
	secret_wipe(&text);
}

static void test_two_certificates_are_two_authorities(void **state)
{
	struct userdata u = good();
	char *text;

	(void)state;
	u.ca_pem = CA CA;
	assert_int_equal(userdata_fill(&text, &u, USERDATA_LIMIT, NULL), 0);
	assert_non_null(strstr(text, "<<'PEM'\n" CA CA "PEM\n"));
	secret_wipe(&text);
}

/* With the largest of certificates it is 8 KiB at most, and every provider takes that. */
static void test_it_fits_every_provider(void **state)
{
	static const char *const drivers[] = {"aws",     "azure",     "digitalocean", "gcp",
					      "hetzner", "lambda",    "linode",       "sim",
					      "oci",     "openstack", "unheard-of"};
	struct userdata u = good();
	char ca[1400] = BEGIN;
	char *text;

	(void)state;
	for (size_t n = 0; n < 17; n++) {
		char line[65];

		memset(line, 'A', 64);
		line[64] = '\0';
		strncat(ca, line, sizeof(ca) - strlen(ca) - 1);
		strncat(ca, "\n", sizeof(ca) - strlen(ca) - 1);
	}
	strncat(ca, END, sizeof(ca) - strlen(ca) - 1);
	u.ca_pem = ca;
	assert_int_equal(userdata_fill(&text, &u, 8192, NULL), 0);
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		size_t limit = userdata_limit(drivers[i]);

		assert_true(limit >= 16384);
		assert_true(strlen(text) <= limit);
	}
	secret_wipe(&text);
}

static void test_too_long_a_text_is_an_error_and_no_text(void **state)
{
	struct userdata u = good();
	char *text;
	struct err e = {0};
	size_t len;

	(void)state;
	assert_int_equal(userdata_fill(&text, &u, USERDATA_LIMIT, NULL), 0);
	len = strlen(text);
	secret_wipe(&text);
	assert_int_equal(userdata_fill(&text, &u, len, NULL), 0);
	secret_wipe(&text);
	assert_int_equal(userdata_fill(&text, &u, len - 1, &e), -1);
	assert_null(text);
	assert_int_equal(e.code, ERR_LIMIT);
}

/* The shell reads it as it was meant. */
static void test_a_shell_finds_no_fault_with_it(void **state)
{
	struct userdata u = good();
	char *text;
	FILE *sh;

	(void)state;
	assert_int_equal(userdata_fill(&text, &u, USERDATA_LIMIT, NULL), 0);
	sh = popen("sh -n", "w");
	assert_non_null(sh);
	assert_int_equal(fwrite(text, 1, strlen(text), sh), strlen(text));
	assert_int_equal(pclose(sh), 0);
	secret_wipe(&text);
}

static struct userdata_token good_token(void)
{
	return (struct userdata_token){.lines = "node=c1\nvault=https://[::1]:8200\n"
						"wrap_token=hvs.CAES-x_y\nend=1\n",
				       .node_init = "/usr/libexec/burstd/node-init",
				       .sha256 = SECRET};
}

static void test_a_token_is_told_between_the_firewall_and_node_init(void **state)
{
	struct userdata_token u = good_token();
	char *text, *again;
	const char *told;

	(void)state;
	assert_int_equal(userdata_fill_token(&text, &u, USERDATA_LIMIT, NULL), 0);
	told = strstr(text, "<<'LINES'\nnode=c1\nvault=https://[::1]:8200\n"
			    "wrap_token=hvs.CAES-x_y\nend=1\nLINES\n");
	assert_non_null(told);
	assert_true(strstr(text, "nft -f") < told);
	assert_true(strstr(told, "exec sh \"$INIT\"") != NULL);
	assert_non_null(strstr(text, "WANT='" SECRET "'"));
	assert_null(strstr(text, "LINES@"));
	assert_null(strstr(text, "SHA256@"));
	assert_null(strstr(text, "NODE_INIT@"));
	assert_int_equal(userdata_fill_token(&again, &u, USERDATA_LIMIT, NULL), 0);
	assert_string_equal(text, again);
	secret_wipe(&text);
	secret_wipe(&again);
	assert_int_equal(userdata_fill_token(&text, &u, 100, NULL), -1);
	assert_null(text);
	u.sha256 = "";
	assert_int_equal(userdata_fill_token(&text, &u, USERDATA_LIMIT, NULL), 0);
	secret_wipe(&text);
}

static void test_what_a_shell_would_act_on_is_no_line(void **state)
{
	static const char *const lines[] = {
		"",        "node",        "node=c1",   "=c1\n",    "Node=c1\n", "a=b\nLINES\n",
		"a=b;c\n", "a='b'\n",     "a=$(id)\n", "a=`id`\n", "a=b\n\n",   "a=b\\\n",
		"a=\"\n",  "a=b\n#c=d\n", "a=b|c\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct userdata_token u = good_token();
		char *text;

		u.lines = lines[i];
		if (userdata_fill_token(&text, &u, USERDATA_LIMIT, NULL) == 0)
			fail_msg("taken: %s", lines[i]);
	}
	for (int i = 0; i < 3; i++) {
		struct userdata_token u = good_token();
		char *text;

		if (i == 0)
			u.node_init = "node-init";
		else if (i == 1)
			u.node_init = "/a';reboot;'";
		else
			u.sha256 = "0123";
		assert_int_equal(userdata_fill_token(&text, &u, USERDATA_LIMIT, NULL), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_is_filled_in),
		cmocka_unit_test(test_no_comment_goes_along_but_the_first_line),
		cmocka_unit_test(test_a_repeated_create_has_the_same_bytes),
		cmocka_unit_test(test_a_token_is_told_between_the_firewall_and_node_init),
		cmocka_unit_test(test_what_a_shell_would_act_on_is_no_line),
		cmocka_unit_test(test_a_field_with_a_character_that_cannot_be_there_is_refused),
		cmocka_unit_test(test_numbers_have_their_range),
		cmocka_unit_test(test_two_certificates_are_two_authorities),
		cmocka_unit_test(test_it_fits_every_provider),
		cmocka_unit_test(test_too_long_a_text_is_an_error_and_no_text),
		cmocka_unit_test(test_a_shell_finds_no_fault_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
