/* burstctl audit, and audit verify. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S    "--socket SOCKET "
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

#define RECORD(seq, actor, verb, target, object, reason, request)                                  \
	"{\"seq\":" seq ",\"at_ms\":1000,\"actor\":\"" actor "\",\"verb\":\"" verb                 \
	"\",\"target\":\"" target "\",\"object\":\"" object "\",\"reason\":\"" reason              \
	"\",\"request\":\"" request "\",\"hash\":\"ab\"}"

#define ORDER RECORD("7", "uid 0", "power-down", "slurmctld", "c[1-2]", "burstd: terminated", "")
#define BUY   RECORD("8", "hook", "create", "sim", "c1", "slurmctld called ResumeProgram", "token")
#define NOBODYS                                                                                    \
	RECORD("9", "uid 4294967295", "delete-again", "sim", "c[1-2]", "burstd: x (uid 0)", "i-1")
#define OF_JOBS(object) object "\",\"jobs\":true,\"x\":\""
#define WAIT                                                                                       \
	RECORD("10", "reconciler", "postpone", "slurmctld", OF_JOBS("7_1"), "no capacity",         \
	       "StartTime=now+30")
#define BACK RECORD("11", "reconciler", "requeue", "slurmctld", OF_JOBS("7,8"), "ended", "")
#define NONE "{\"ok\":true,\"records\":[],\"last\":0,\"more\":false}"

static void test_audit(void **state)
{
	static const char reply[] = "{\"ok\":true,\"records\":[" ORDER "," BUY "," NOBODYS "," WAIT
				    "," BACK "],\"last\":11,\"more\":false}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "audit", reply);
	/* In columns, and an admin has a name where he has one. */
	lab_want(l, 0,
		 "   SEQ  TIME                 BY          REQUEST       TO         ABOUT         "
		 "  WHY\n"
		 "     7  1970-01-01T09:00:01  root        power-down    slurmctld  c[1-2]        "
		 "  "
		 "terminated\n"
		 "     8  1970-01-01T09:00:01  hook        create        sim        c1            "
		 "  "
		 "slurmctld called ResumeProgram (token)\n"
		 "     9  1970-01-01T09:00:01  uid 4294967295  delete-again  sim        c[1-2]    "
		 "  "
		 "    x (uid 0) (i-1)\n"
		 "    10  1970-01-01T09:00:01  reconciler  postpone      slurmctld  job 7_1       "
		 "  "
		 "no capacity (StartTime=now+30)\n"
		 "    11  1970-01-01T09:00:01  reconciler  requeue       slurmctld  jobs 7,8      "
		 "  "
		 "ended\n",
		 "");
	assert_string_equal(l->requests[0], "{\"op\":\"audit\",\"tail\":20,\"v\":1}");
	lab_run_once(l, S "audit",
		     "{\"ok\":true,\"records\":[" RECORD(
			     "7", "uid 0, operator", "drain", "slurmctld", "c1", "x",
			     "") "," RECORD("8", "uid 0, friend", "drain", "slurmctld", "c1", "x",
					    "") "],\"last\":8,\"more\":false}");
	assert_non_null(strstr(l->out, "  root, operator  drain"));
	assert_non_null(strstr(l->out, "  uid 0, friend  drain")); /* words of somebody else */
	lab_run_once(l, S "audit --since 3 --json", reply);
	lab_want(l, 0, ORDER "\n" BUY "\n" NOBODYS "\n" WAIT "\n" BACK "\n", "");
	assert_string_equal(l->requests[0], "{\"op\":\"audit\",\"since\":3,\"v\":1}");
	/* Says that there is more and does not move: must not be asked for ever. */
	lab_run_once(l, S "audit --since 7",
		     "{\"ok\":true,\"records\":[],\"last\":7,\"more\":true}");
	lab_want(l, 0, "no records\n", "");
	assert_int_equal(l->nrequests, 1);
	/* Of a pool: all that are kept, page by page. */
	lab_run_once(l, S "audit --pool p", NONE);
	assert_string_equal(l->requests[0],
			    "{\"op\":\"audit\",\"since\":0,\"pool\":\"p\",\"v\":1}");
	lab_free(l);
}

static void test_audit_of_nothing_says_so(void **state)
{
	static const char verdict[] = "{\"ok\":true,\"records\":0,\"after\":0,\"hash\":\"00\","
				      "\"more\":false,\"bad\":0,\"what\":\"\"}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "audit", NONE);
	lab_want(l, 0, "no records\n", "");
	lab_run_once(l, S "audit --json", NONE);
	lab_want(l, 0, "", "");
	lab_run_once(l, S "audit verify", verdict);
	lab_want(l, 0, "no records: the journal is new, or was lost; --head shows which\n", "");
	lab_free(l);
}

#define PIECE(after, more, bad, what)                                                              \
	"{\"ok\":true,\"records\":500,\"after\":" after ",\"hash\":\"ab\",\"more\":" more          \
	",\"bad\":" bad ",\"what\":\"" what "\"}"

static void test_audit_verify_goes_on_to_the_end_and_fails_if_it_is_broken(void **state)
{
	static const char *const good[] = {PIECE("500", "true", "0", ""),
					   PIECE("1000", "false", "0", "")};
	static const char *const broken[] = {PIECE("500", "true", "0", ""),
					     PIECE("1000", "false", "1001", "missing")};
	struct lab *l = lab_new();

	(void)state;
	lab_run(l, S "audit verify", good, 2);
	lab_want(l, 0, "1000 records from 1 on, all as they were written; the last is 1000:ab\n",
		 "");
	assert_string_equal(l->requests[0], "{\"op\":\"audit-verify\",\"v\":1}");
	assert_string_equal(l->requests[1],
			    "{\"op\":\"audit-verify\",\"after\":500,\"hash\":\"ab\",\"v\":1}");
	lab_run(l, S "audit verify --head 9:" HASH "", broken, 2);
	lab_want(l, 1, "record 1001: missing (or --head is of another journal)\n", "");
	assert_string_equal(l->requests[0], "{\"op\":\"audit-verify\",\"known\":9,"
					    "\"known_hash\":\"" HASH "\",\"v\":1}");
	lab_run(l, S "audit verify --json", broken + 1, 1);
	lab_want(l, 1,
		 "{\"records\":500,\"last\":1000,\"hash\":\"ab\",\"bad\":1001,\"what\":"
		 "\"missing\"}\n",
		 "");
	lab_free(l);
}

/* What does not go on has not been looked through, and that is not "good". */
static void test_audit_verify_fails_if_it_gets_no_further(void **state)
{
	static const char *const stuck[] = {PIECE("500", "true", "0", ""),
					    PIECE("500", "true", "0", "")};
	struct lab *l = lab_new();

	(void)state;
	lab_run(l, S "audit verify", stuck, 2);
	lab_want(l, 1, "", "burstctl: burstd did not verify the whole log\n");
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit),
		cmocka_unit_test(test_audit_of_nothing_says_so),
		cmocka_unit_test(test_audit_verify_goes_on_to_the_end_and_fails_if_it_is_broken),
		cmocka_unit_test(test_audit_verify_fails_if_it_gets_no_further),
	};

	return cmocka_run_group_tests_name("audit", tests, NULL, NULL);
}
