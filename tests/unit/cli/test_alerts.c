/* What burstctl says of alerts, and how it waits for the end of a test. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S "--socket SOCKET "
#define OPS                                                                                        \
	"{\"name\":\"ops\",\"kind\":\"webhook\",\"pending\":1,\"failed\":0,\"ok_ms\":0,"           \
	"\"error\":\"the server answered 503\"},"                                                  \
	"{\"name\":\"mail\",\"kind\":\"smtp\",\"pending\":0,\"failed\":0,\"ok_ms\":0,"             \
	"\"error\":\"\"}"
#define ALERT(number, kind, percent, value, messages)                                              \
	"{\"number\":" number ",\"at_ms\":0,\"kind\":\"" kind "\",\"percent\":" percent            \
	",\"budget\":\"physics\",\"value\":\"" value                                               \
	"\",\"period\":\"2026-11\",\"messages\":[" messages "]}"
#define SENT(to, state, tries) "{\"to\":\"" to "\",\"state\":\"" state "\",\"attempts\":" tries "}"

static void test_the_list(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(
		l, S "budget alerts",
		"{\"ok\":true,\"receivers\":[" OPS "],\"alerts\":[" ALERT(
			"12", "beyond", "0", "",
			SENT("ops", "pending",
			     "0")) "," ALERT("11", "stop", "100", "",
					     SENT("ops", "failed",
						  "1")) "," ALERT("9", "used", "80", "ann",
								  SENT("ops", "pending",
								       "3") "," SENT("mail",
										     "delivered",
										     "1")) "]}");
	lab_want(l, 0,
		 "ALERT  KIND     WAITING  GIVEN UP  TAKEN  LAST ERROR\n"
		 "ops    webhook        1         0  -      the server answered 503\n"
		 "mail   smtp           0         0  -      -\n"
		 "\n"
		 "NUMBER  TIME  BUDGET       PERIOD   WHAT                MESSAGES\n"
		 "     9  -     physics/ann  2026-11  80 % used up        ops pending (3 tries), "
		 "mail delivered\n"
		 "    11  -     physics      2026-11  100 %: no new jobs  ops failed (1 try)\n"
		 "    12  -     physics      2026-11  may be exceeded     ops pending\n",
		 "");
	assert_string_equal(l->requests[0], "{\"op\":\"alerts\",\"count\":20,\"v\":1}");
	lab_run_once(l, S "budget alerts -n 200", "{\"ok\":true}");
	assert_string_equal(l->requests[0], "{\"op\":\"alerts\",\"count\":200,\"v\":1}");
	lab_want(l, 0,
		 "nobody is told: burstd.conf has no section alert\n"
		 "\nno budget has passed a limit yet\n",
		 "");
	lab_run_once(l, S "budget alerts -n 201", "{\"ok\":true}");
	assert_int_equal(l->rc, 2);
	lab_run_once(l, S "--json budget alerts", "{\"ok\":true,\"alerts\":[]}");
	assert_non_null(strstr(l->out, "\"alerts\": []"));
	lab_free(l);
}

#define TEST(what, error)                                                                          \
	"{\"ok\":true,\"receivers\":[{\"name\":\"x\"},{\"name\":\"ops\",\"test\":\"" what          \
	"\",\"test_error\":\"" error "\"}]}"

static void test_a_test(void **state)
{
	static const char *const good[] = {"{\"ok\":true}", TEST("busy", ""), TEST("busy", ""),
					   TEST("delivered", "")};
	static const char *const bad[] = {"{\"ok\":true}", TEST("failed", "connection refused")};
	static const char *const gone[] = {"{\"ok\":true}", "{\"ok\":true,\"receivers\":[]}"};
	static const char *const denied[] = {
		"{\"ok\":false,\"code\":\"denied\",\"error\":\"alert-test is for root\"}"};
	struct lab *l = lab_new();

	(void)state;
	lab_run(l, S "budget alert-test ops", good, 4);
	lab_want(l, 0, "alert ops: the test was delivered\n", "");
	assert_string_equal(l->requests[0], "{\"op\":\"alert-test\",\"alert\":\"ops\",\"v\":1}");
	assert_string_equal(l->requests[3], "{\"op\":\"alerts\",\"count\":0,\"v\":1}");
	assert_int_equal(l->nrequests, 4);
	lab_run(l, S "--json budget alert-test ops", good, 4);
	lab_want(l, 0, "{\"test\": \"delivered\"}\n", "");
	lab_run(l, S "budget alert-test ops", bad, 2);
	lab_want(l, 1, "", "alert ops: the test was not delivered: connection refused\n");
	lab_run(l, S "budget alert-test ops", gone, 2);
	lab_want(l, 1, "", "the alert is gone");
	lab_run(l, S "budget alert-test ops", denied, 1);
	lab_want(l, 1, "", "alert-test is for root");
	assert_int_equal(l->nrequests, 1);
	lab_free(l);
}

/* What was given up is red, whatever became of the same alert elsewhere. */
static void test_colours(void **state)
{
	static const struct {
		const char *messages, *want;
	} rows[] = {
		{SENT("a", "delivered", "1"), "\033[32ma delivered"},
		{SENT("a", "pending", "0"), "\033[33ma pending"},
		{SENT("a", "failed", "1") "," SENT("b", "pending", "1"), "\033[1;31ma failed"},
		{SENT("a", "pending", "1") "," SENT("b", "failed", "1"), "\033[1;31ma pending"},
	};
	struct lab *l = lab_new();

	(void)state;
	(void)setenv("TERM", "xterm", 1);
	(void)unsetenv("NO_COLOR");
	l->tty = true;
	l->columns = 200;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char reply[600];

		(void)snprintf(reply, sizeof(reply),
			       "{\"ok\":true,\"alerts\":[{\"number\":1,\"kind\":\"used\","
			       "\"messages\":[%s]}]}",
			       rows[i].messages);
		lab_run_once(l, S "budget alerts", reply);
		if (strstr(l->out, rows[i].want) == NULL)
			fail_msg("%s", l->out);
	}
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_list),
		cmocka_unit_test(test_a_test),
		cmocka_unit_test(test_colours),
	};

	return cmocka_run_group_tests_name("alerts", tests, NULL, NULL);
}
