/* What burstctl says of the secret store, and how it enrols burstd. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define S "--socket SOCKET "
#define STORE(enrolment, error)                                                                    \
	"{\"ok\":true,\"now_ms\":100000,\"secrets\":{\"driver\":\"vault\",\"address\":\"https://"  \
	"v1\",\"phase\":\"ready\",\"ok\":true,\"ok_ms\":90000,\"error\":\"\",\"version\":\"7\","   \
	"\"waiting\":2,\"wrapped\":3,\"brokered\":1,\"failed\":0,\"enrolment\":\"" enrolment       \
	"\",\"enrolment_error\":\"" error "\"}}"

static void test_show(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "secrets show", STORE("", ""));
	lab_want(l, 0,
		 "driver        vault\n"
		 "address       https://v1\n"
		 "state         ready\n"
		 "version       7\n"
		 "last answer   10s\n"
		 "keys          3 wrapped, 1 brokered, 0 refused, 2 waiting\n",
		 "");
	lab_run_once(l, S "secrets show",
		     "{\"ok\":true,\"now_ms\":1,\"secrets\":{\"wrapped\":0,\"brokered\":0,"
		     "\"user_data\":5,\"failed\":1,\"waiting\":0}}");
	assert_non_null(
		strstr(l->out, "0 wrapped, 0 brokered, 5 in user-data, 1 refused, 0 waiting\n"));
	lab_run_once(l, S "secrets show",
		     STORE("", "\",\"rotation\":\"munge: window\",\"rotation_error\":\""));
	assert_non_null(strstr(l->out, "rotation      munge: window\n"));
	lab_run_once(
		l, S "secrets show",
		STORE("", "\",\"rotation\":\"munge: settling\",\"rotation_error\":\"command: 1"));
	assert_non_null(strstr(l->out, "rotation      munge: settling, blocked: command: 1\n"));
	lab_run_once(l, S "secrets show", "{\"ok\":true,\"now_ms\":1}");
	lab_want(l, 0, "no secret store is configured\n", "");
	lab_free(l);
}

static void test_the_token_comes_from_standard_input_alone(void **state)
{
	static const char *const done[] = {"{\"ok\":true}", STORE("busy", ""), STORE("done", "")};
	static const char *const failed[] = {"{\"ok\":true}", STORE("failed", "used before")};
	struct lab *l = lab_new();

	(void)state;
	l->typed = "hvs.wrapping\n";
	lab_run(l, S "secrets enroll", done, 3);
	assert_int_equal(l->rc, 0);
	assert_string_equal(l->requests[0],
			    "{\"op\":\"secrets-enroll\",\"token\":\"hvs.wrapping\",\"v\":1}");
	assert_string_equal(l->requests[1], "{\"op\":\"secrets\",\"v\":1}");
	assert_non_null(strstr(l->out, "enrolled"));
	lab_run(l, S "secrets enroll --json", done, 3);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "\"enrolment\": \"done\""));
	assert_null(strstr(l->out, "enrolled:"));
	lab_run(l, S "secrets enroll --json", failed, 2);
	assert_int_equal(l->rc, 1);
	assert_string_equal(l->out, "");
	lab_run(l, S "secrets enroll", failed, 2);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->err, "used before"));
	lab_run_once(l, S "secrets enroll", "{\"ok\":false,\"error\":\"not a wrapping token\"}");
	assert_int_equal(l->rc, 1);
	lab_run_once(l, S "secrets enroll hvs.wrapping", "");
	assert_int_equal(l->rc, 2);
	l->typed = NULL; /* nothing */
	lab_run_once(l, S "secrets enroll", "");
	assert_int_equal(l->rc, 2);
	assert_int_equal(l->nrequests, 0);
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_the_token_comes_from_standard_input_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
