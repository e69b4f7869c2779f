/* burstctl nodes and node show. */
#include "lab.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define S "--socket SOCKET "

static const char page1[] = "{\"ok\":true,\"now_ms\":1000000000,\"currency\":\"USD\",\"nodes\":["
			    "{\"name\":\"h100-1\",\"generation\":2,\"state\":\"ready\",\"pool\":"
			    "\"h100\",\"instance\":\"i-77\","
			    "\"address\":\"10.0.0.1\",\"since_ms\":999100000,\"rate\":\"29.52\","
			    "\"reason\":\"\",\"refused\":\"\","
			    "\"older\":1,\"slurm\":\"IDLE+CLOUD\"},"
			    "{\"name\":\"h100-2\",\"generation\":0,\"state\":\"none\",\"pool\":"
			    "\"h100\",\"instance\":\"\","
			    "\"address\":\"\",\"since_ms\":0,\"rate\":\"0.00\",\"reason\":\"\","
			    "\"refused\":\"capacity\","
			    "\"older\":0,\"slurm\":\"\"}],\"next\":\"h100-2\"}";
static const char page2[] = "{\"ok\":true,\"now_ms\":1000000000,\"currency\":\"USD\",\"nodes\":["
			    "{\"name\":\"h100-3\",\"generation\":0,\"state\":\"none\",\"pool\":"
			    "\"h100\",\"instance\":\"\","
			    "\"address\":\"\",\"since_ms\":0,\"rate\":\"0.00\",\"reason\":\"\","
			    "\"refused\":\"\",\"older\":0,"
			    "\"slurm\":\"\"},"
			    "{\"name\":\"spot-1\",\"generation\":1,\"state\":\"gone\",\"pool\":"
			    "\"spot\",\"instance\":\"i-1\","
			    "\"address\":\"\",\"since_ms\":999999000,\"rate\":\"0.00\",\"reason\":"
			    "\"suspended\",\"refused\":\"\","
			    "\"older\":0,\"slurm\":\"\"}],\"next\":\"\"}";

static void test_nodes(void **state)
{
	static const char *const pages[] = {page1, page2};
	struct lab *l = lab_new();

	(void)state;
	lab_run(l, S "nodes", pages, 2);
	lab_want(l, 0,
		 "NODE    STATE     FOR  POOL  INSTANCE  ADDRESS   PER HOUR  SLURM       NOTE\n"
		 "h100-1  ready  15m00s  h100  i-77      10.0.0.1     29.52  IDLE+CLOUD  1 older "
		 "being "
		 "deleted\n"
		 "h100-2  none        -  h100  -         -                -  -           refused: "
		 "the "
		 "provider "
		 "has no capacity\n"
		 "\n"
		 "2 nodes (1 ready, 1 refused), 29.52 USD per hour; 2 more are off (--all shows "
		 "them)\n",
		 "");
	assert_int_equal(l->nrequests, 2);
	assert_string_equal(l->requests[0], "{\"op\":\"nodes\",\"after\":\"\",\"v\":1}");
	assert_string_equal(l->requests[1], "{\"op\":\"nodes\",\"after\":\"h100-2\",\"v\":1}");
	lab_run(l, S "nodes --all --pool spot", pages, 2);
	lab_want(l, 0,
		 "NODE    STATE  FOR  POOL  INSTANCE  ADDRESS  PER HOUR  SLURM  NOTE\n"
		 "spot-1  gone    1s  spot  -         -               -  -      Slurm powered it "
		 "down\n"
		 "\n"
		 "1 node (1 off)\n",
		 "");
	lab_run(l, S "nodes --all",
		(const char *const[]){
			"{\"ok\":true,\"nodes\":[{\"name\":\"a\",\"state\":\"deleting\","
			"\"reason\":\"boot-failed\",\"reason_text\":\"gpu: 7 GPUs\"},"
			"{\"name\":\"b\",\"state\":\"gone\",\"reason\":\"boot-failed\","
			"\"reason_text\":\"dcgm: no\",\"refused\":\"boot-failed\"},"
			"{\"name\":\"c\",\"state\":\"gone\",\"reason\":\"boot-failed\","
			"\"reason_text\":\"dcgm: no\",\"refused\":\"limit\"}]}"},
		1);
	assert_non_null(strstr(l->out, "gpu: 7 GPUs\n"));
	assert_non_null(strstr(l->out, "refused: dcgm: no\n"));
	assert_non_null(strstr(l->out, "refused: the pool's limit is reached\n"));
	lab_run(l, S "nodes --state ready", pages, 2);
	assert_non_null(strstr(l->out, "h100-1"));
	assert_null(strstr(l->out, "h100-2"));
	assert_non_null(strstr(l->out, "\n1 node (1 ready), 29.52 USD per hour\n"));
	lab_run(l, S "nodes", (const char *const[]){page2}, 1);
	lab_want(l, 0, "all 2 nodes are off (--all shows them)\n", "");
	/* In the words of `pause`, with --json too; a pool whose nodes are in other states exists.
	 */
	lab_run(l, S "nodes -p nothing", pages, 2);
	lab_want(l, 1, "", "burstctl: no pool is named \"nothing\"\n");
	lab_run(l, S "nodes -p nothing -s ready --json", pages, 2);
	lab_want(l, 1, "", "burstctl: no pool is named \"nothing\"\n");
	lab_run(l, S "nodes -p h100 -s quarantined", pages, 2);
	lab_want(l, 0, "0 nodes\n", "");
	lab_free(l);
}

/* Why it was taken away says more than that it was. */
static void test_nodes_told(void **state)
{
	static const char reply[] =
		"{\"ok\":true,\"now_ms\":1,\"nodes\":[{\"name\":\"n1\",\"state\":\"gone\","
		"\"reason\":\"suspended\",\"told\":\"terminated by an admin\"},{\"name\":\"n2\","
		"\"state\":\"ready\",\"reason\":\"\",\"told\":\"drained by an admin\"},"
		"{\"name\":\"n3\",\"state\":\"gone\",\"reason\":\"suspended\",\"told\":\"\"}]}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "nodes --all", reply);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "  terminated by an admin\n"));
	assert_non_null(strstr(l->out, "  drained by an admin\n"));
	assert_non_null(strstr(l->out, "  Slurm powered it down\n"));
	lab_free(l);
}

/* All pages become one answer, and a page that fails spoils the whole. */
static void test_nodes_json(void **state)
{
	static const char *const pages[] = {page1, page2};
	static const char *const broken[] = {page1, "{\"ok\":false,\"error\":\"busy\"}"};
	struct lab *l = lab_new();
	json_t *r;

	(void)state;
	lab_run(l, S "nodes --json", pages, 2);
	assert_int_equal(l->rc, 0);
	r = json_loads(l->out, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(r, "nodes")), 4);
	assert_null(json_object_get(r, "next"));
	assert_null(json_object_get(r, "ok"));
	json_decref(r);
	lab_run(l, S "nodes", broken, 2);
	lab_want(l, 1, "", "busy");
	lab_free(l);
}

static void test_node_show(void **state)
{
	static const char reply[] =
		"{\"ok\":true,\"now_ms\":1000000000,\"currency\":\"USD\",\"name\":\"h100-1\","
		"\"generation\":2,"
		"\"state\":\"ready\",\"pool\":\"h100\",\"unit\":3,\"fabric\":\"pg-3\","
		"\"instance\":\"i-77\",\"address\":\"10.0.0."
		"1\","
		"\"since_ms\":999100000,\"rate\":\"29.52\",\"slurm\":\"IDLE+CLOUD\","
		"\"why\":\"ready: Slurm can run jobs on it\",\"generations\":[{\"generation\":2,"
		"\"state\":\"ready\",\"instance\":\"i-77\",\"wanted_ms\":999000000,\"start_ms\":"
		"999100000,"
		"\"end_ms\":0,\"cost\":\"7.38\",\"reason\":\"\"},{\"generation\":1,\"state\":"
		"\"gone\","
		"\"instance\":\"i-3\",\"wanted_ms\":900000000,\"start_ms\":900000000,\"end_ms\":"
		"903600000,"
		"\"cost\":\"29.52\",\"reason\":\"reclaimed\"}],\"events\":[{\"seq\":9,\"at_ms\":"
		"999100000,"
		"\"node\":\"h100-1\",\"generation\":2,\"type\":\"created\",\"detail\":\"i-77\"}]}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "node show h100-1", reply);
	lab_want(l, 0,
		 "h100-1  ready\n"
		 "  ready: Slurm can run jobs on it\n"
		 "\n"
		 "  pool        h100\n"
		 "  unit        3\n"
		 "  fabric      pg-3\n"
		 "  instance    i-77\n"
		 "  address     10.0.0.1\n"
		 "  in Slurm    IDLE+CLOUD\n"
		 "  since       1970-01-12T22:31:40\n"
		 "  rate        29.52 USD per hour\n"
		 "\n"
		 "  GENERATION  STATE  INSTANCE  WANTED AT            BILLED FOR   COST  REASON\n"
		 "           2  ready  i-77      1970-01-12T22:30:00      15m00s   7.38  -\n"
		 "           1  gone   i-3       1970-01-11T19:00:00       1h00m  29.52  the "
		 "provider "
		 "took its "
		 "capacity back\n"
		 "\n"
		 "  TIME                 GENERATION  EVENT    DETAIL\n"
		 "  1970-01-12T22:31:40           2  created  i-77\n",
		 "");
	assert_string_equal(l->requests[0], "{\"op\":\"node\",\"name\":\"h100-1\",\"v\":1}");
	lab_run_once(l, S "node h100-1", reply); /* the same, for short */
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "h100-1  ready\n"));
	assert_string_equal(l->requests[0], "{\"op\":\"node\",\"name\":\"h100-1\",\"v\":1}");
	lab_run_once(l, S "node h100-1 --json", reply);
	assert_int_equal(l->rc, 0);
	assert_int_equal(l->out[0], '{');
	lab_run_once(l, S "node --json h100-1", reply);
	assert_int_equal(l->rc, 0);
	assert_int_equal(l->out[0], '{');
	lab_run_once(l, S "node show nope",
		     "{\"ok\":false,\"code\":\"not-found\",\"error\":\"no pool names a node\"}");
	lab_want(l, 1, "", "burstctl: no pool names a node\n");
	lab_free(l);
}

static void test_the_console_of_a_machine_that_did_not_boot(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(
		l, S "node show n1",
		"{\"ok\":true,\"name\":\"n1\",\"state\":\"gone\",\"console\":{\"generation\":2,"
		"\"instance\":\"i-1\",\"at_ms\":999100000,\"text\":"
		"\"a\\u001b[2J\\nKernel panic\\n\"}}");
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "\n  last lines on the console of generation 2, i-1, at "
				       "1970-01-12T22:31:40:\n"
				       "    a?[2J\n"
				       "    Kernel panic\n"));
	lab_run_once(l, S "node show n1", "{\"ok\":true,\"name\":\"n1\",\"state\":\"gone\"}");
	assert_null(strstr(l->out, "console"));
	lab_free(l);
}

static void test_where_its_machine_is(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "node show n1",
		     "{\"ok\":true,\"name\":\"n1\",\"state\":\"ready\",\"job\":7,\"path\":\"z/z-s0/"
		     "z-b1\","
		     "\"job_hops\":1,\"job_placed\":4,\"job_unplaced\":0}");
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "\n  for job     7\n"
				       "  switches    z/z-s0/z-b1\n"
				       "  placement   4 of its machines 1 hop from each other\n"));
	lab_run_once(l, S "node show n1",
		     "{\"ok\":true,\"name\":\"n1\",\"state\":\"ready\",\"path\":\"\"}");
	assert_null(strstr(l->out, "switches"));
	assert_null(strstr(l->out, "placement"));
	lab_free(l);
}

/* How it came by its keys, and that nothing but its address was proved. */
static void test_a_node_that_gets_its_keys_from_burstd(void **state)
{
	static const char boot[] =
		"\"boot\":{\"claim\":\"confirmed\",\"claim_why\":\"\",\"attest\":\"weak\","
		"\"key_version\":6,\"old_keys\":true,\"faulty\":true,\"heartbeat_ms\":995000,"
		"\"took_ms\":42000}";
	struct lab *l = lab_new();
	char reply[1024];

	(void)state;
	(void)snprintf(reply, sizeof(reply),
		       "{\"ok\":true,\"now_ms\":1000000,\"name\":\"n1\",\"state\":\"ready\",%s}",
		       boot);
	lab_run_once(l, S "node show n1", reply);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "  claim       confirmed, attest=weak\n"
				       "  keys        version 6, not the current\n"
				       "  booted in   42s\n"
				       "  heartbeat   5s ago, faulty\n"));
	lab_run_once(l, S "node show n1",
		     "{\"ok\":true,\"name\":\"n1\",\"boot\":{\"claim\":\"breached\",\"claim_why\":"
		     "\"its secret was used with a second key\"}}");
	assert_non_null(strstr(l->out, "  claim       breached: its secret was used with a second "
				       "key\n"));
	assert_null(strstr(l->out, "heartbeat"));
	(void)snprintf(reply, sizeof(reply),
		       "{\"ok\":true,\"now_ms\":1000000,\"next\":\"\",\"nodes\":[{\"name\":\"n1\","
		       "\"state\":\"ready\",%s}]}",
		       boot);
	lab_run_once(l, S "nodes", reply);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "attest=weak\n"));
	(void)snprintf(reply, sizeof(reply),
		       "{\"ok\":true,\"now_ms\":1000000,\"next\":\"\",\"nodes\":[{\"name\":\"n1\","
		       "\"state\":\"ready\",\"older\":1,%s}]}",
		       boot);
	lab_run_once(l, S "nodes", reply);
	assert_non_null(strstr(l->out, "attest=weak; 1 older being deleted\n"));
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_a_node_that_gets_its_keys_from_burstd),
		cmocka_unit_test(test_nodes_json),
		cmocka_unit_test(test_nodes_told),
		cmocka_unit_test(test_node_show),
		cmocka_unit_test(test_the_console_of_a_machine_that_did_not_boot),
		cmocka_unit_test(test_where_its_machine_is),
	};

	return cmocka_run_group_tests_name("nodes", tests, NULL, NULL);
}
