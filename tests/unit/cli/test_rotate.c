/* What burstctl says of a rotation of keys, and how it asks for one. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define S "--socket SOCKET "
#define ROTATION(kind, phase, runs, more)                                                          \
	"{\"ok\":true,\"now_ms\":100000,\"rotation\":{\"kind\":\"" kind "\",\"phase\":\"" phase    \
	"\",\"runs\":" runs ",\"current\":\"7\",\"version\":7,\"since_ms\":90000,"                 \
	"\"switch_ms\":160000,\"nodes\":{\"have\":2,\"lack\":1,\"unheard\":0,\"drained\":0,"       \
	"\"others\":4},\"lacking\":[\"c3\"],\"driver\":\"vault\",\"mount\":\"kv\","                \
	"\"name\":\"slurm/prod/node\",\"role\":\"burst-rotate\"" more "}}"

static void test_status_says_what_is_next(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "secrets rotate", ROTATION("munge", "staged", "true", ""));
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "munge: staged"));
	assert_non_null(
		strstr(l->out, "2 have it, 1 have another, 0 have not reported; 4 have their"));
	assert_non_null(strstr(l->out, "without   c3"));
	assert_non_null(strstr(l->out, "restart munged on them: burstctl secrets rotate --switch"));
	lab_run_once(l, S "secrets rotate --status",
		     ROTATION("jwks", "switching", "true", ",\"needs_credential\":true"));
	assert_non_null(strstr(l->out, "--resume"));
	assert_null(strstr(l->out, "--abort")); /* it is in use */
	lab_run_once(
		l, S "secrets rotate", /* of a bundle that has none */
		ROTATION("jwks", "staging", "true",
			 ",\"needs_credential\":true,\"error\":\"the bundle has no slurm_jwks\""));
	assert_non_null(strstr(l->out, "--resume, or --abort"));
	lab_run_once(l, S "secrets rotate",
		     ROTATION("munge", "settling", "true",
			      ",\"switch_command\":true,\"error\":\"switch_command: 1\""));
	assert_non_null(strstr(l->out, "next      switch_command is run again each minute"));
	lab_run_once(l, S "secrets rotate",
		     ROTATION("munge", "settling", "true", ",\"switch_command\":true"));
	assert_non_null(strstr(l->out, "next      nodes restart munged"));
	lab_run_once(l, S "secrets rotate", ROTATION("none", "idle", "false", ""));
	assert_non_null(strstr(l->out, "no key was ever rotated"));
	assert_null(strstr(l->out, "next"));
	lab_run_once(l, S "secrets rotate", "{\"ok\":true,\"now_ms\":1}");
	lab_want(l, 0, "no secret store is configured\n", "");
	lab_run_once(l, S "secrets rotate --json", ROTATION("none", "idle", "false", ""));
	assert_non_null(strstr(l->out, "\"phase\""));
	lab_free(l);
}

static void test_the_plan_says_who_does_what(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "secrets rotate --plan", ROTATION("none", "idle", "false", ""));
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "munge's key"));
	assert_non_null(strstr(l->out, "slurm.jwks"));
	lab_run_once(l, S "secrets rotate --plan --munge",
		     ROTATION("none", "idle", "false", ",\"wrapped\":true"));
	assert_string_equal(l->requests[0], "{\"op\":\"secrets-rotation\",\"v\":1}");
	assert_int_equal(l->nrequests, 1);
	assert_non_null(strstr(l->out, "AppRole\n   \"burst-rotate\" on standard input"));
	assert_non_null(strstr(l->out, "     bao kv get -mount=kv -field=munge_key_next \\\n"
				       "       slurm/prod/node | base64 -d\n"));
	assert_non_null(strstr(l->out, "the old key is in version 7"));
	assert_null(strstr(l->out, "the key of slurm.jwks"));
	lab_run_once(l, S "secrets rotate --plan --jwks",
		     ROTATION("none", "idle", "false", ",\"switch_command\":true"));
	assert_null(strstr(l->out, "munge's key"));
	assert_non_null(strstr(l->out, "switch_command puts slurm.jwks"));
	lab_free(l);
}

/* In a pipe, too, where nothing is folded, nor may what is copied be. */
static void test_the_plan_fits_a_terminal(void **state)
{
	static const char *const more[] = {",\"wrapped\":true", ",\"switch_command\":true", ""};
	struct lab *l = lab_new();
	char reply[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		(void)snprintf(reply, sizeof(reply), ROTATION("none", "idle", "false", "%s"),
			       more[i]);
		lab_run_once(l, S "secrets rotate --plan", reply);
		assert_int_equal(l->rc, 0);
		for (const char *p = strstr(l->out, "\n\n"), *end; (end = strchr(p, '\n')) != NULL;
		     p = end + 1)
			if (end - p > 78)
				fail_msg("%d columns: %.*s", (int)(end - p), (int)(end - p), p);
	}
	lab_free(l);
}

static void test_vaults_credential_comes_from_standard_input(void **state)
{
	static const char *const begun[] = {
		ROTATION("none", "idle", "false", ",\"wrapped\":true"), "{\"ok\":true}",
		ROTATION("munge", "staging", "true", ",\"wrapped\":true")};
	static const char *const alone[] = {ROTATION("none", "idle", "false", ""), "{\"ok\":true}",
					    ROTATION("jwks", "staging", "true", "")};
	struct lab *l = lab_new();

	(void)state;
	l->typed = "hvs.wrapping\n";
	lab_run(l, S "secrets rotate --munge", begun, 3);
	assert_int_equal(l->rc, 0);
	assert_string_equal(l->requests[1],
			    "{\"op\":\"secrets-rotate\",\"verb\":\"start\",\"kind\":\"munge\","
			    "\"credential\":\"hvs.wrapping\",\"v\":1}");
	assert_non_null(strstr(l->out, "munge: staging"));
	l->typed = NULL;
	lab_run(l, S "secrets rotate --jwks --token-life 2m", alone, 3);
	assert_int_equal(l->rc, 0);
	assert_string_equal(l->requests[1],
			    "{\"op\":\"secrets-rotate\",\"verb\":\"start\",\"kind\":\"jwks\","
			    "\"token_life_ms\":120000,\"v\":1}");
	lab_run(l, S "secrets rotate --munge", begun, 1); /* nothing on standard input */
	assert_int_equal(l->rc, 2);
	assert_int_equal(l->nrequests, 1);
	lab_free(l);
}

/* F56: what wrote it ended, or the disk failed, midway.  Nothing is sent then: half a credential is
 * refused by the store, which ends the rotation. */
static void test_half_a_credential_is_not_sent(void **state)
{
	static char long_line[9000];
	static const struct {
		const char *typed, *fed, *args, *why;
	} rows[] = {
		{NULL, NULL, "-", "it is empty"},
		{NULL, " \n\n", "-", "it is empty"},
		{NULL, long_line, "-", "it is too long"},
		{NULL, "aws_access_key_id = A\naws_secret_access_k", "-", "no newline"},
		{NULL, "{\"type\": \"service_account\",\n", "-", "brace is missing"},
		{"hvs.wrap\4\4", NULL, "-", "no newline"}, /* twice control and D */
		{NULL, NULL, "DIR", "Is a directory"},     /* what cannot be read */
		{NULL, NULL, "DIR/none", "No such file"},
	};
	struct lab *l = lab_new();
	char words[80];

	(void)state;
	memset(long_line, 'x', sizeof(long_line) - 2);
	long_line[sizeof(long_line) - 2] = '\n';
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		l->typed = rows[i].typed;
		l->fed = rows[i].fed;
		(void)snprintf(words, sizeof(words), S "secrets rotate --jwks --credential %s",
			       rows[i].args);
		lab_run_once(l, words, "{\"ok\":true}");
		lab_want(l, 2, "", rows[i].why);
		assert_int_equal(l->nrequests, 0);
	}
	lab_free(l);
}

static void test_a_whole_credential_is_sent(void **state)
{
	static const char *const fed[] = {"hvs.a", "hvs.a\n", "{\"type\":\n1}", "{}\n\n",
					  "id = A\nkey = B\n"};
	static const char *const answers[] = {"{\"ok\":true}",
					      ROTATION("jwks", "staging", "true", "")};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < sizeof(fed) / sizeof(fed[0]); i++) {
		l->fed = fed[i];
		lab_run(l, S "secrets rotate --jwks --credential -", answers, 2);
		assert_int_equal(l->rc, 0);
		assert_non_null(strstr(l->requests[0], "\"credential\":\""));
	}
	lab_free(l);
}

static void test_the_switch_is_ordered_with_its_time(void **state)
{
	static const char *const answers[] = {"{\"ok\":true}",
					      ROTATION("munge", "window", "true", "")};
	struct lab *l = lab_new();

	(void)state;
	lab_run(l, S "secrets rotate --switch --in 2m", answers, 2);
	assert_int_equal(l->rc, 0);
	assert_string_equal(l->requests[0],
			    "{\"op\":\"secrets-rotate\",\"verb\":\"switch\",\"in_ms\":120000,"
			    "\"v\":1}");
	assert_non_null(strstr(l->out, "switch    "));
	lab_run_once(l, S "secrets rotate --abort",
		     "{\"ok\":false,\"error\":\"no rotation is under way\"}");
	assert_int_equal(l->rc, 1);
	assert_string_equal(l->requests[0],
			    "{\"op\":\"secrets-rotate\",\"verb\":\"abort\",\"v\":1}");
	lab_free(l);
}

static void test_two_orders_at_once_are_none(void **state)
{
	static const char *const bad[] = {
		"--munge --jwks",   "--switch --abort", "--in 2m",         "--switch --munge",
		"--switch --in 5s", "--resume --plan",  "--token-life 2m", "x"};
	struct lab *l = lab_new();
	char words[120];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(words, sizeof(words), S "secrets rotate %s", bad[i]);
		lab_run_once(l, words, "");
		assert_int_equal(l->rc, 2);
		assert_int_equal(l->nrequests, 0);
	}
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_says_what_is_next),
		cmocka_unit_test(test_the_plan_says_who_does_what),
		cmocka_unit_test(test_the_plan_fits_a_terminal),
		cmocka_unit_test(test_vaults_credential_comes_from_standard_input),
		cmocka_unit_test(test_half_a_credential_is_not_sent),
		cmocka_unit_test(test_a_whole_credential_is_sent),
		cmocka_unit_test(test_the_switch_is_ordered_with_its_time),
		cmocka_unit_test(test_two_orders_at_once_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
