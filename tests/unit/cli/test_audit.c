/* burstctl audit, and audit verify. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define S    "--socket SOCKET "
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

#define RECORD                                                                                     \
	"{\"seq\":7,\"at_ms\":1000,\"actor\":\"uid 1000\",\"verb\":\"power-down\","                \
	"\"target\":\"slurmctld\",\"object\":\"c[1-2]\",\"reason\":\"terminated\",\"request\":"    \
	"\"\","                                                                                    \
	"\"hash\":\"ab\"}"

static void test_audit(void **state)
{
	static const char reply[] =
		"{\"ok\":true,\"records\":[" RECORD "],\"last\":7,\"more\":false}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "audit", reply);
	lab_want(l, 0,
		 "     7  1970-01-01 00:00:01  uid 1000  power-down  slurmctld  c[1-2]: "
		 "terminated\n",
		 "");
	assert_string_equal(l->requests[0], "{\"op\":\"audit\",\"tail\":20,\"v\":1}");
	lab_run_once(l, S "audit --since 3 --json", reply);
	lab_want(l, 0, RECORD "\n", "");
	assert_string_equal(l->requests[0], "{\"op\":\"audit\",\"since\":3,\"v\":1}");
	/* Says that there is more and does not move: must not be asked for ever. */
	lab_run_once(l, S "audit --since 7",
		     "{\"ok\":true,\"records\":[],\"last\":7,\"more\":true}");
	lab_want(l, 0, "", "");
	assert_int_equal(l->nrequests, 1);
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
	lab_want(l, 1, "", "burstctl: burstd did not look through all of it\n");
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit),
		cmocka_unit_test(test_audit_verify_goes_on_to_the_end_and_fails_if_it_is_broken),
		cmocka_unit_test(test_audit_verify_fails_if_it_gets_no_further),
	};

	return cmocka_run_group_tests_name("audit", tests, NULL, NULL);
}
