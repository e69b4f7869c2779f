/* test_userdata.c - stage0, filled in: what may be in it, and that it is short and harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hostlist.h"
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
		{offsetof(struct userdata, urls), "https:// https://b"},
		{offsetof(struct userdata, urls), "https:///"},
		{offsetof(struct userdata, urls), "https://a/"},
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
		{offsetof(struct userdata, node), "-"},
		{offsetof(struct userdata, node), "n[1-2]"},
		{offsetof(struct userdata, ca_pem), ""},
		{offsetof(struct userdata, ca_pem), "PEM\nreboot\n"},
		{offsetof(struct userdata, ca_pem), BEGIN "PEM\nreboot\n" END},
		{offsetof(struct userdata, ca_pem), BEGIN "AAAA" END},
		{offsetof(struct userdata, ca_pem), BEGIN "AAAA\n"},
		{offsetof(struct userdata, ca_pem), BEGIN "AAAA\n-----END CERTIFICATES----"},
		{offsetof(struct userdata, ca_pem), BEGIN "AAAA\n-----END CERTIFICATE-----X"},
		{offsetof(struct userdata, ca_pem), CA "PEM\n"},
		{offsetof(struct userdata, ca_pem), CA "reboot"},
		{offsetof(struct userdata, ca_pem), "\n" CA},
		{offsetof(struct userdata, ca_pem), BEGIN "`reboot`\n" END},
		{offsetof(struct userdata, node_init), "relative/node-init"},
		{offsetof(struct userdata, node_init), "x"},
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

/* With the largest of certificates it is 8 KiB at most: no provider is known to take less than 16.
 */
static void test_it_fits_every_provider(void **state)
{
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
	secret_wipe(&text);
}

static void check_taken(const struct userdata *u, const char *part)
{
	char *text;
	struct err e = {0};

	if (userdata_fill(&text, u, 2 * USERDATA_LIMIT, &e) != 0)
		fail_msg("%s", e.msg);
	assert_non_null(strstr(text, part));
	secret_wipe(&text);
}

static void check_refused(const struct userdata *u, const char *why)
{
	char none[] = "", *text = none;
	struct err e = {0};

	assert_int_equal(userdata_fill(&text, u, 2 * USERDATA_LIMIT, &e), -1);
	assert_null(text);
	assert_int_equal(e.code, ERR_INVALID);
	assert_string_equal(e.msg, why);
}

/* What begins and ends a value, with as many letters between as make n bytes. */
static void put_long(struct userdata *u, size_t at, const char *const ends[2], size_t n)
{
	static char text[USERDATA_CA_MAX + 2];
	const size_t begin = strlen(ends[0]), end = strlen(ends[1]);
	const char *p = text;

	memset(text, 'a', n);
	memcpy(text, ends[0], begin);
	memcpy(text + n - end, ends[1], end);
	text[n] = '\0';
	memcpy((char *)u + at, &p, sizeof(p));
}

static void test_each_field_has_its_length(void **state)
{
	static const struct {
		const char *name;
		size_t at, min, max;
		const char *const ends[2];
	} rows[] = {
		{"URLS", offsetof(struct userdata, urls), 0, USERDATA_TEXT_MAX, {"https://", ""}},
		{"CLAIM_ID", offsetof(struct userdata, claim_id), 1, USERDATA_ID_MAX, {"", ""}},
		{"CLAIM_SECRET",
		 offsetof(struct userdata, claim_secret),
		 USERDATA_SECRET_MIN,
		 USERDATA_SECRET_MAX,
		 {"", ""}},
		{"NODE", offsetof(struct userdata, node), 0, HOSTLIST_NAME_MAX, {"", ""}},
		{"NODE_INIT",
		 offsetof(struct userdata, node_init),
		 0,
		 USERDATA_TEXT_MAX,
		 {"/", ""}},
		{"CA_PEM",
		 offsetof(struct userdata, ca_pem),
		 0,
		 USERDATA_CA_MAX,
		 {BEGIN, "\n" END}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct userdata u = good();
		char why[80];

		put_long(&u, rows[i].at, rows[i].ends, rows[i].max);
		check_taken(&u, "aaaaaaaaaaaaaaaa");
		put_long(&u, rows[i].at, rows[i].ends, rows[i].max + 1);
		(void)snprintf(why, sizeof(why), "user-data: %s has more than %zu bytes",
			       rows[i].name, rows[i].max);
		check_refused(&u, why);
		if (rows[i].min == 0)
			continue;
		put_long(&u, rows[i].at, rows[i].ends, rows[i].min);
		check_taken(&u, "'a");
		put_long(&u, rows[i].at, rows[i].ends, rows[i].min - 1);
		(void)snprintf(why, sizeof(why), "user-data: %s has fewer than %zu bytes",
			       rows[i].name, rows[i].min);
		check_refused(&u, why);
	}
}

static void test_a_refusal_says_which_field_is_wrong(void **state)
{
	struct userdata u = good();

	(void)state;
	u.node = NULL;
	check_refused(&u, "user-data: NODE is missing");
	u = good();
	u.identity = "oracle";
	check_refused(&u, "user-data: PROVIDER must be aws, gcp, azure or none");
	u = good();
	u.claim_id = "a'b";
	check_refused(&u, "user-data: CLAIM_ID has a character that is not allowed");
	u = good();
	u.urls = " ";
	check_refused(&u, "user-data: URLS: each must be https://HOST[:PORT], without a path");
	u.urls = "https://a https://a https://a https://a https://a https://a https://a https://a "
		 "https://a";
	check_refused(&u, "user-data: URLS: want 1 to 8");
	u = good();
	u.ca_pem = BEGIN "PEM\n" END;
	check_refused(&u, "user-data: CA_PEM: malformed line");
	u.ca_pem = BEGIN "AAAA\n";
	check_refused(&u, "user-data: CA_PEM is not certificates in PEM");
}

static void test_what_may_be_left_out_and_what_is_just_allowed_is_taken(void **state)
{
	static const char *const identities[] = {"aws", "gcp", "azure", "none"};
	struct userdata u = good();

	(void)state;
	for (size_t i = 0; i < sizeof(identities) / sizeof(identities[0]); i++) {
		char part[32];

		u.identity = identities[i];
		(void)snprintf(part, sizeof(part), " PROV='%s' ", identities[i]);
		check_taken(&u, part);
	}
	u.node = "n1";
	check_taken(&u, " NODE='n1' ");
	u.node_init = "";
	check_taken(&u, " INIT='' ");
	u.timeout_s = 1;
	check_taken(&u, " LIMIT='1'\n");
	u.timeout_s = USERDATA_TIMEOUT_MAX;
	check_taken(&u, " LIMIT='86400'\n");
	u.urls =
		"https://a https://b  https://c https://d https://e https://f https://g https://h ";
	check_taken(&u, "URLS='https://a https://b  https://c ");
	u.ca_pem = BEGIN "AAAA\n-----END CERTIFICATE-----";
	check_taken(&u, "<<'PEM'\n" BEGIN "AAAA\n" END "PEM\n");
}

/* Indentation is for readers of the template. */
static void test_no_line_begins_with_a_blank(void **state)
{
	struct userdata u = good();
	char *text;

	(void)state;
	assert_int_equal(userdata_fill(&text, &u, USERDATA_LIMIT, NULL), 0);
	for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
		assert_false(p[1] == ' ' || p[1] == '\t');
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

static void check_token_refused(const struct userdata_token *u, const char *why)
{
	char none[] = "", *text = none;
	struct err e = {0};

	assert_int_equal(userdata_fill_token(&text, u, 2 * USERDATA_LIMIT, &e), -1);
	assert_null(text);
	assert_int_equal(e.code, ERR_INVALID);
	assert_string_equal(e.msg, why);
}

static void test_the_fields_of_a_token_are_checked(void **state)
{
	struct userdata_token u = good_token();

	(void)state;
	u.lines = NULL;
	check_token_refused(&u, "user-data: LINES is missing");
	u.lines = "a=b\nLINES\n";
	check_token_refused(&u, "user-data: a line for the node is malformed");
	u = good_token();
	u.node_init = "node-init";
	check_token_refused(&u, "user-data: NODE_INIT is not an absolute path");
	u = good_token();
	u.sha256 = "0";
	check_token_refused(&u, "user-data: SHA256 is not 64 hex digits");
	u.sha256 = SECRET "0";
	check_token_refused(&u, "user-data: SHA256 has more than 64 bytes");
	u.sha256 = "A";
	check_token_refused(&u, "user-data: SHA256 has a character that is not allowed");
}

static void test_lines_may_be_short_and_many(void **state)
{
	static char lines[USERDATA_LINES_MAX + 2];
	struct userdata_token u = good_token();
	char *text;

	(void)state;
	u.lines = "b=c\na=\n";
	assert_int_equal(userdata_fill_token(&text, &u, USERDATA_LIMIT, NULL), 0);
	assert_non_null(strstr(text, "<<'LINES'\nb=c\na=\nLINES\n"));
	secret_wipe(&text);
	memset(lines, 'a', USERDATA_LINES_MAX);
	lines[1] = '=';
	lines[USERDATA_LINES_MAX - 1] = '\n';
	u.lines = lines;
	assert_int_equal(userdata_fill_token(&text, &u, 2 * USERDATA_LIMIT, NULL), 0);
	assert_non_null(strstr(text, lines));
	secret_wipe(&text);
	lines[USERDATA_LINES_MAX - 1] = 'a';
	lines[USERDATA_LINES_MAX] = '\n';
	check_token_refused(&u, "user-data: LINES has more than 12288 bytes");
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
		cmocka_unit_test(test_each_field_has_its_length),
		cmocka_unit_test(test_a_refusal_says_which_field_is_wrong),
		cmocka_unit_test(test_what_may_be_left_out_and_what_is_just_allowed_is_taken),
		cmocka_unit_test(test_no_line_begins_with_a_blank),
		cmocka_unit_test(test_the_fields_of_a_token_are_checked),
		cmocka_unit_test(test_lines_may_be_short_and_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
