/* What burstctl shows of what burstd says, and how it fails. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "core/conf_option.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define S "--socket SOCKET "

static const char status_bad[] =
	"{\"ok\":true,\"cluster\":\"falcon\",\"version\":\"1.2\",\"now_ms\":1000000000,\"uptime_"
	"ms\":11520000,"
	"\"currency\":\"USD\",\"slurm\":{\"ok\":true,\"ok_ms\":999998000,\"failed_ms\":0,\"error\":"
	"\"\"},"
	"\"providers\":[{\"name\":\"sim\",\"ok\":false,\"ok_ms\":999870000,\"failed_ms\":999999000,"
	"\"error\":\"refused\"},{\"name\":\"new\",\"ok\":false,\"ok_ms\":0,\"failed_ms\":0,"
	"\"error\":\"\"}],"
	"\"pools\":[{\"name\":\"h100\",\"states\":{\"booting\":1,\"ready\":4},\"nodes\":5,\"max_"
	"nodes\":16,"
	"\"rate\":\"147.6\",\"max_rate\":\"500\",\"spent\":\"12.345678901\"},"
	"{\"name\":\"a100-spot\",\"states\":{},\"nodes\":0,\"max_nodes\":8,\"rate\":\"0.00\","
	"\"max_rate\":\"100.00\",\"spent\":\"0.00\"}],"
	"\"problems\":[\"provider sim does not answer: \\u001b[31mrefused\"]}";

static void test_status(void **state)
{
	static const char well[] = "{\"ok\":true,\"cluster\":\"falcon\",\"version\":\"1.2\",\"now_"
				   "ms\":5,\"uptime_ms\":12000,"
				   "\"currency\":\"EUR\",\"slurm\":{\"ok\":true,\"ok_ms\":5},"
				   "\"providers\":[],\"pools\":[],"
				   "\"problems\":[]}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "status", status_bad);
	lab_want(l, 0,
		 "burstd 1.2 on cluster falcon, up 3h12m\n"
		 "\n"
		 "1 problem:\n"
		 "  ! provider sim does not answer: ?[31mrefused\n"
		 "\n"
		 "TALKS TO   STATE          LAST ANSWER\n"
		 "slurmctld  ok             2s ago\n"
		 "sim        failing        2m10s ago\n"
		 "new        not asked yet  -\n"
		 "\n"
		 "POOL         NODES      USD PER HOUR  USD SPENT  STATES\n"
		 "h100       5 of 16  147.60 of 500.00      12.35  1 booting, 4 ready\n"
		 "a100-spot   0 of 8    0.00 of 100.00       0.00  all off\n",
		 "");
	assert_int_equal(l->nrequests, 1);
	assert_string_equal(l->requests[0], "{\"op\":\"status\",\"v\":1}");
	lab_run_once(l, S "status", well);
	assert_non_null(strstr(l->out, "up 12s\n\nAll is well.\n\n"));
	lab_free(l);
}

/* --json is burstd's answer less "ok": nothing rounded, nothing lost, nothing added. */
static void test_json(void **state)
{
	static const struct {
		const char *line, *reply;
	} rows[] = {
		{S "status --json", status_bad},
		{S "--json nodes", "{\"ok\":true,\"nodes\":[{\"name\":\"n1\",\"x\":[1]}]}"},
		{S "node show n1 --json", "{\"ok\":true,\"name\":\"n1\",\"rate\":\"0.000000001\"}"},
		{S "config show --json", "{\"ok\":true,\"text\":\"a\\nb\"}"},
		{S "reconcile --json", "{\"ok\":true}"},
		{S "reload --json", "{\"ok\":true,\"new\":1}"},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *sent = json_loads(rows[i].reply, 0, NULL), *shown;

		lab_run_once(l, rows[i].line, rows[i].reply);
		assert_int_equal(l->rc, 0);
		shown = json_loads(l->out, 0, NULL);
		assert_non_null(shown);
		assert_int_equal(json_object_del(sent, "ok"), 0);
		assert_true(json_equal(sent, shown));
		json_decref(sent);
		json_decref(shown);
	}
	lab_free(l);
}

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
		"\"state\":\"ready\",\"pool\":\"h100\",\"instance\":\"i-77\",\"address\":\"10.0.0."
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
		 "  instance    i-77\n"
		 "  address     10.0.0.1\n"
		 "  in Slurm    IDLE+CLOUD\n"
		 "  since       1970-01-12T13:31:40Z\n"
		 "  rate        29.52 USD per hour\n"
		 "\n"
		 "  GENERATION  STATE  INSTANCE  WANTED AT             BILLED FOR   COST  REASON\n"
		 "           2  ready  i-77      1970-01-12T13:30:00Z      15m00s   7.38  -\n"
		 "           1  gone   i-3       1970-01-11T10:00:00Z       1h00m  29.52  the "
		 "provider "
		 "took its "
		 "capacity back\n"
		 "\n"
		 "  TIME                  GENERATION  EVENT    DETAIL\n"
		 "  1970-01-12T13:31:40Z           2  created  i-77\n",
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
	lab_free(l);
}

#define EVENT(seq)                                                                                 \
	"{\"seq\":" seq ",\"at_ms\":1000,\"node\":\"n1\",\"generation\":3,\"type\":\"created\","   \
	"\"detail\":\"i-1\"}"
#define SHOWN(seq) "     " seq "  1970-01-01T00:00:01Z  n1#3            created          i-1\n"

static void test_events(void **state)
{
	static const char *const pages[] = {
		"{\"ok\":true,\"events\":[" EVENT("1") "],\"last\":1,\"more\":true}",
		"{\"ok\":true,\"events\":[" EVENT("2") "],\"last\":9,\"more\":false}",
	};
	/* Says that there is more and does not move: must not be asked for ever. */
	static const char stuck[] = "{\"ok\":true,\"events\":[],\"last\":0,\"more\":true}";
	struct lab *l = lab_new();

	(void)state;
	lab_run(l, S "events --since 0 -N n1", pages, 2);
	lab_want(l, 0, SHOWN("1") SHOWN("2"), "");
	assert_int_equal(l->nrequests, 2);
	assert_string_equal(l->requests[0],
			    "{\"op\":\"events\",\"since\":0,\"node\":\"n1\",\"v\":1}");
	assert_string_equal(l->requests[1],
			    "{\"op\":\"events\",\"since\":1,\"node\":\"n1\",\"v\":1}");
	lab_run(l, S "events --json", pages + 1, 1);
	lab_want(l, 0, EVENT("2") "\n", "");
	assert_string_equal(l->requests[0], "{\"op\":\"events\",\"tail\":20,\"v\":1}");
	lab_run(l, S "events -n 5", pages + 1, 1);
	assert_string_equal(l->requests[0], "{\"op\":\"events\",\"tail\":5,\"v\":1}");
	lab_run_once(l, S "events --since 0", stuck);
	lab_want(l, 0, "no events after 0\n", "");
	assert_int_equal(l->nrequests, 1);
	lab_free(l);
}

/* A node that was never bought, say: an empty screen could mean anything. */
static void test_no_events(void **state)
{
	static const char none[] = "{\"ok\":true,\"events\":[],\"last\":9,\"more\":false}";
	static const struct {
		const char *command, *out;
	} rows[] = {
		{S "events -N n1",
		 "no events of node n1: \"burstctl node show n1\" says how it is\n"},
		{S "events -N n1 --since 7",
		 "no events of node n1 after 7: \"burstctl node show n1\" says how it "
		 "is\n"},
		{S "events", "no events\n"},
		{S "events -N n1 --json", ""}, /* its line would be one */
		{S "events -n 0", ""},         /* as was asked */
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		lab_run_once(l, rows[i].command, none);
		lab_want(l, 0, rows[i].out, "");
	}
	lab_free(l);
}

static void test_follow(void **state)
{
	/* The third answer is no answer, as when burstd restarts; it goes on where it was. */
	static const char *const replies[] = {
		"{\"ok\":true,\"events\":[" EVENT("1") "],\"last\":1,\"more\":false}",
		"{\"ok\":true,\"events\":[" EVENT("2") "],\"last\":2,\"more\":false}",
		lab_hang_up,
		"{\"ok\":true,\"events\":[" EVENT("3") "],\"last\":3,\"more\":false}",
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
	};
	struct lab *l = lab_new();

	(void)state;
	l->stop_after = 5;
	lab_run(l, S "events -f -n 1", replies, COUNT(replies));
	assert_int_equal(l->rc, -1); /* it would have gone on */
	assert_string_equal(l->out, SHOWN("1") SHOWN("2") SHOWN("3"));
	assert_string_equal(l->err, "burstctl: burstd went away; waiting for it\n");
	assert_string_equal(l->requests[0], "{\"op\":\"events\",\"tail\":1,\"v\":1}");
	assert_string_equal(l->requests[1],
			    "{\"op\":\"events\",\"since\":1,\"wait\":true,\"v\":1}");
	assert_string_equal(l->requests[3],
			    "{\"op\":\"events\",\"since\":2,\"wait\":true,\"v\":1}");
	assert_string_equal(l->requests[4],
			    "{\"op\":\"events\",\"since\":3,\"wait\":true,\"v\":1}");
	assert_in_range(l->took_ms, 500, 999); /* a pause where there was no answer, no other */
	lab_free(l);
}

/* A burstd that answers at once though there is nothing must not be asked without end; one that
 * says nothing has the time to wait for events, and the usual time. */
static void test_follow_is_patient(void **state)
{
	static const char *const nothing[] = {
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
	};
	static const char *const silent[] = {
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
		lab_hang,
		lab_hang,
	};
	struct lab *l = lab_new();

	(void)state;
	l->stop_after = 4;
	lab_run(l, S "events -f", nothing, COUNT(nothing));
	assert_true(l->took_ms >= 2 * 500);
	l->stop_after = 3;
	lab_run(l, S "events -f --timeout 300ms", silent, COUNT(silent));
	assert_string_equal(l->err, "burstctl: burstd went away; waiting for it\n");
	assert_in_range(l->took_ms, 10300, 11500);
	lab_free(l);
}

static void test_orders(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "reconcile", "{\"ok\":true}");
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "compares"));
	assert_string_equal(l->requests[0], "{\"op\":\"reconcile\",\"v\":1}");
	lab_run_once(l, S "reload", "{\"ok\":true}"); /* an older burstd */
	lab_want(l, 0, "burstd uses the new configuration\n", "");
	lab_run_once(l, S "reload", "{\"ok\":true,\"changes\":[],\"at_restart\":[]}");
	lab_want(l, 0, "nothing changed\n", "");
	lab_run_once(l, S "reload",
		     "{\"ok\":true,\"changes\":[{\"section\":\"pool\",\"name\":\"p\",\"option\":"
		     "\"zone\","
		     "\"from\":\"\",\"to\":\"a\",\"text\":\"pool \\\"p\\\" zone: \\\"\\\" -> a\"},"
		     "{\"text\":\"pool \\\"q\\\": new\"}],\"at_restart\":[\"a secret\",7]}");
	lab_want(l, 0,
		 "burstd uses the new configuration:\n"
		 "  pool \"p\" zone: \"\" -> a\n"
		 "  pool \"q\": new\n"
		 "only when burstd is restarted:\n"
		 "  a secret\n"
		 "  \n",
		 "");
	assert_string_equal(l->requests[0], "{\"op\":\"reload\",\"v\":1}");
	lab_run_once(l, S "reload",
		     "{\"ok\":false,\"code\":\"failed\",\"error\":\"burstd.conf:3: no\"}");
	lab_want(l, 1, "", "burstctl: burstd.conf:3: no\n");
	lab_run_once(l, S "config show",
		     "{\"ok\":true,\"path\":\"/x\",\"text\":\"cluster = \\\"a\\\"\\n\"}");
	lab_want(l, 0, "cluster = \"a\"\n", "");
	lab_free(l);
}

/* What answers badly, not in time or not at all. */
static void test_trouble(void **state)
{
	static const struct {
		const char *reply;
		int rc;
		const char *err;
	} rows[] = {
		{"{\"ok\":false,\"error\":\"no\"}", 1, "burstctl: no\n"},
		{"{\"ok\":false}", 1, "without saying why"},
		{"{\"ok\":false,\"error\":\"\\u001b]0;x\"}", 1, "burstctl: ?]0;x\n"},
		{"{\"ok\":1}", 1, "not burstd"},
		{"{}", 1, "not burstd"},
		{"[true]", 1, "not burstd"},
		{"{\"ok\":true", 1, "not burstd"},
		{lab_garbage, 3, "cannot reach burstd: "},
		{lab_hang_up, 3, "cannot reach burstd: "},
		{lab_hang, 3, "is it stuck?"},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		lab_run_once(l, S "status --timeout 300ms", rows[i].reply);
		lab_want(l, rows[i].rc, "", rows[i].err);
		assert_non_null(strchr(l->err, '\n'));
		assert_string_equal(strchr(l->err, '\n'), "\n"); /* one sentence, one line */
		if (rows[i].reply == lab_hang)
			assert_true(l->took_ms >= 300);
	}
	lab_free(l);
}

/* Fields that an older or odd burstd leaves out, or gives another type, cost a word, never the
 * command. */
static void test_sparse(void **state)
{
	static const char *const lines[] = {S "status", S "nodes --all", S "node show n1",
					    S "events -n 1", S "config show"};
	static const char odd[] =
		"{\"ok\":true,\"nodes\":[{},3,{\"name\":5,\"rate\":\"x\"}],\"pools\":[{},4],"
		"\"providers\":[{}],\"slurm\":7,\"problems\":[{}],\"events\":[{}],"
		"\"generations\":[{},\"x\"],\"last\":\"x\"}";
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		lab_run_once(l, lines[i], "{\"ok\":true}");
		assert_int_equal(l->rc, 0);
		lab_run_once(l, lines[i], odd);
		assert_int_equal(l->rc, 0);
	}
	lab_free(l);
}

static void test_nobody_there(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	(void)close(l->listen_fd); /* the socket is left, as after a kill -9 */
	l->listen_fd = -1;
	lab_run_once(l, S "status", lab_hang);
	lab_want(l, 3, "", "is it running?");
	assert_non_null(strstr(l->err, l->socket));
	(void)unlink(l->socket);
	lab_run_once(l, S "events -f", lab_hang);
	lab_want(l, 3, "", "is it running?");
	lab_free(l);
}

static void test_usage(void **state)
{
	static const struct {
		const char *line, *err;
	} rows[] = {
		{"", "usage: burstctl COMMAND"},
		{"launch", "no command \"launch\""},
		{"staus", "did you mean \"status\"?"},
		{"node", "node show NAME"},
		{"node shwo n1", "did you mean \"node show\"?"},
		{"audit verif", "no command \"audit verif\"; did you mean \"audit verify\"?"},
		{"audit verif --head 1:a", "did you mean \"audit verify\"?"},
		{"config shwo", "did you mean \"config show\"?"},
		{"help audit verif", "did you mean \"audit verify\"?"},
		{"help config shwo", "did you mean \"config show\"?"},
		{"node show", "NAME is missing"},
		{"node show n1 n2", "one word too many: n2"},
		{"node show n[1-2]", "not the name of a node"},
		{"config", "config check [FILE]"},
		{"status x", "one word too many: x"},
		{"status --pool x", "no option --pool"},
		{"--colour status", "no option --colour"},
		{"nodes --stat ready", "did you mean --state?"},
		{"nodes --state sleepy", "no such state; they are wanted, creating, indoubt, "
					 "booting, ready, draining, deleting, gone, quarantined, "
					 "none\n"},
		{"drain h1 h2", "burstctl: NODES is one list: h1,h2\nusage: burstctl drain"},
		{"terminate -y h1 h[2-3] h7", "burstctl: NODES is one list: h1,h[2-3],h7\n"},
		{"drain a aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaa",
		 "burstctl: NODES is one list, without blanks\n"},
		{"events --since yesterday",
		 "burstctl: --since: \"yesterday\": want a number as in the first column, such as "
		 "4711; times are not looked for\n"},
		{"events --since -1", "--since: \"-1\": want a number"},
		{"events --since 9223372036854775808", "want a number"},
		{"audit --since 2h", "--since: \"2h\": want a number as in the first column"},
		{"events -n 1001", "from 0 to 1000"},
		{"events -n 1 --since 1", "only one"},
		{"audit -n 1 --since 1", "only one"},
		{"audit verify --head 5", "want SEQ:HASH"},
		{"audit verify --head 5:ab", "64 digits"},
		{"events --node ../x", "not the name of a node"},
		{"status --timeout 5", "want a duration"},
		{"status --socket", "want PATH after it"},
		{"help launch", "no command \"launch\""},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		lab_run_once(l, rows[i].line, lab_hang_up);
		lab_want(l, 2, "", rows[i].err);
		assert_int_equal(l->nrequests, 0);
	}
	lab_free(l);
}

/* Every command has help with an example, by all three ways to ask for it. */
static void test_help(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < cli_ncommands; i++) {
		static const struct {
			const char *before, *after;
		} forms[] = {{"", " --help"}, {"help ", ""}, {"--help ", ""}};
		char line[64], usage[64];

		(void)snprintf(usage, sizeof(usage), "usage: burstctl %s", cli_commands[i]->name);
		for (size_t k = 0; k < COUNT(forms); k++) {
			(void)snprintf(line, sizeof(line), "%s%s%s", forms[k].before,
				       cli_commands[i]->name, forms[k].after);
			lab_run_once(l, line, lab_hang_up);
			assert_int_equal(l->rc, 0);
			assert_memory_equal(l->out, usage, strlen(usage));
			assert_non_null(strstr(l->out, "\nExample:\n  burstctl "));
			assert_non_null(strstr(l->out, "--json"));
			assert_string_equal(l->err, "");
		}
	}
	lab_run_once(l, "--help", lab_hang_up);
	assert_int_equal(l->rc, 0);
	for (size_t i = 0; i < cli_ncommands; i++) {
		char line[64];

		(void)snprintf(line, sizeof(line), "\n  %s ", cli_commands[i]->name);
		assert_int_equal(strstr(l->out, line) == NULL, cli_commands[i]->hidden);
	}
	lab_run_once(l, "config --help", lab_hang_up);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "config check"));
	assert_null(strstr(l->out, "reconcile"));
	for (size_t i = 0; i < 4; i++) {
		static const char *const lines[] = {"--version", "-V", "version", "status -V"};

		lab_run_once(l, lines[i], lab_hang_up);
		lab_want(l, 0, "burstctl " BURSTD_VERSION "\n", "");
	}
	lab_run_once(l, "node --help", lab_hang_up);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "node show NAME"));
	assert_non_null(strstr(l->out, "\nExample:\n  burstctl node show h100-1\n\n"));
	assert_null(strstr(l->out, "  nodes ")); /* of another group */
	lab_free(l);
}

static void test_config(void **state)
{
	static const char good[] = "cluster = lab\ncurrency = EUR\nprovider sim { driver = sim }\n"
				   "pool p { nodes = \"c[1-8]\" provider = sim type = t region = r "
				   "max_nodes = 8 max_rate = \"300\" }\n";
	struct lab *l = lab_new();
	char *first;

	(void)state;
	lab_write(l, "good.conf", good);
	lab_write(l, "bad.conf", "cluster = lab\nnonsense = 1\n");
	lab_run_once(l, "config check DIR/bad.conf", lab_hang_up);
	lab_want(l, 1, "", "bad.conf:2: ");
	lab_run_once(l, "config check DIR/none.conf", lab_hang_up);
	lab_want(l, 1, "", "none.conf");
	/* What is shown is a good configuration itself, and shows the same again. */
	lab_run_once(l, "config show DIR/good.conf", lab_hang_up);
	assert_int_equal(l->rc, 0);
	first = mem_strdup(l->out);
	lab_write(l, "shown.conf", first);
	lab_run_once(l, "config show DIR/shown.conf", lab_hang_up);
	lab_want(l, 0, first, "");
	free(first);
	lab_run_once(l, "config show DIR/bad.conf", lab_hang_up);
	lab_want(l, 1, "", "bad.conf:2: ");
	assert_int_equal(l->nrequests, 0);
	lab_remove(l, "good.conf");
	lab_remove(l, "bad.conf");
	lab_remove(l, "shown.conf");
	lab_free(l);
}

/* `burstd --check` as a script in PATH; "$3" is the file. */
static const struct {
	const char *name, *script;
	int rc;
	const char *out, *err; /* out: behind the path */
	const char *json;      /* "checked" and the rest */
} check_rows[] = {
	{"no burstd", NULL, 0,
	 ": cluster lab, 1 provider, 1 pool, 8 nodes\n"
	 "note: only the file was checked: there is no burstd beside burstctl, in ../sbin or in "
	 "PATH\n",
	 "", "{\"checked\":\"file\",\"problems\":[],\"notes\":1,\"nodes\":8}"},
	{"good", "echo ignored; exit 0", 0, ": cluster lab, 1 provider, 1 pool, 8 nodes\n", "",
	 "{\"checked\":\"all\",\"problems\":[],\"notes\":0,\"nodes\":8}"},
	{"worth knowing", "echo 'note: mind the gap' >&2; exit 0", 0,
	 ": cluster lab, 1 provider, 1 pool, 8 nodes\nnote: mind the gap\n", "",
	 "{\"checked\":\"all\",\"problems\":[],\"notes\":1,\"nodes\":8}"},
	{"two problems", "echo \"$1 $2\" >&2; echo 'f:2: \033[31mtwo' >&2; exit 78", 1, NULL,
	 "burstctl: --check --\nburstctl: f:2: ?[31mtwo\n",
	 "{\"checked\":\"all\",\"problems\":[\"--check --\",\"f:2: ?[31mtwo\"],\"notes\":0,"
	 "\"nodes\":8}"},
	{"an older one", "echo 'no option --check' >&2; exit 2", 1, NULL,
	 "burstctl: no option --check\nburstctl: burstd --check failed: exit status 2\n",
	 "{\"checked\":\"file\",\"problems\":[\"no option --check\",\"burstd --check failed: exit "
	 "status 2\"],\"notes\":0,\"nodes\":8}"},
	{"killed", "kill -9 $$", 1, NULL, "burstctl: burstd --check failed: exit status 137\n",
	 "{\"checked\":\"file\",\"problems\":[\"burstd --check failed: exit status "
	 "137\"],\"notes\":0,"
	 "\"nodes\":8}"},
	{"bad and silent", "exit 78", 1, NULL, "burstctl: burstd --check failed: exit status 78\n",
	 "{\"checked\":\"all\",\"problems\":[\"burstd --check failed: exit status "
	 "78\"],\"notes\":0,"
	 "\"nodes\":8}"},
};

static void check_check(struct lab *l, size_t row)
{
	json_t *r, *sought = json_loads(check_rows[row].json, 0, NULL);
	char out[256] = "";

	print_message("# %s\n", check_rows[row].name);
	lab_run_once(l, "config check DIR/good.conf", lab_hang_up);
	if (check_rows[row].out != NULL)
		(void)snprintf(out, sizeof(out), "ok: %s/good.conf%s", l->dir, check_rows[row].out);
	lab_want(l, check_rows[row].rc, out, "");
	assert_string_equal(l->err, check_rows[row].err);
	lab_run_once(l, "config check DIR/good.conf --json", lab_hang_up);
	assert_int_equal(l->rc, check_rows[row].rc);
	r = json_loads(l->out, 0, NULL);
	assert_non_null(r);
	assert_true(json_equal(json_object_get(r, "checked"), json_object_get(sought, "checked")));
	assert_true(
		json_equal(json_object_get(r, "problems"), json_object_get(sought, "problems")));
	assert_true(json_equal(json_object_get(r, "nodes"), json_object_get(sought, "nodes")));
	assert_int_equal(json_array_size(json_object_get(r, "notes")),
			 json_integer_value(json_object_get(sought, "notes")));
	json_decref(r);
	json_decref(sought);
}

/* What only burstd can say is asked of burstd. */
static void test_config_check(void **state)
{
	char *path = mem_strdup(getenv("PATH")), script[256], file[64];
	struct lab *l = lab_new();
	json_t *r;

	(void)state;
	lab_write(l, "good.conf",
		  "cluster = lab\ncurrency = EUR\nprovider sim { driver = sim }\n"
		  "pool p { nodes = \"c[1-8]\" provider = sim type = t region = r "
		  "max_nodes = 8 max_rate = \"300\" }\n");
	(void)setenv("PATH", l->dir, 1);
	(void)snprintf(file, sizeof(file), "%s/burstd", l->dir);
	for (size_t i = 0; i < COUNT(check_rows); i++) {
		if (check_rows[i].script != NULL) {
			(void)snprintf(script, sizeof(script), "#!/bin/sh\n%s\n",
				       check_rows[i].script);
			lab_write(l, "burstd", script);
			assert_int_equal(chmod(file, 0700), 0);
		}
		check_check(l, i);
	}
	/* The file itself is bad: burstd need not be asked. */
	lab_write(l, "bad.conf", "cluster = lab\nnonsense = 1\n");
	lab_run_once(l, "config check DIR/bad.conf --json", lab_hang_up);
	assert_int_equal(l->rc, 1);
	r = json_loads(l->out, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(r, "problems")), 1);
	assert_string_equal(cli_text(r, "checked"), "file");
	json_decref(r);
	(void)setenv("PATH", path, 1);
	free(path);
	lab_remove(l, "bad.conf");
	lab_remove(l, "burstd");
	lab_remove(l, "good.conf");
	lab_free(l);
}

static void test_config_options(void **state)
{
	struct lab *l = lab_new();
	json_t *r;

	(void)state;
	lab_run_once(l, "config options", lab_hang_up);
	assert_int_equal(l->rc, 0);
	for (size_t i = 0; i < conf_noptions; i++) {
		assert_non_null(strstr(l->out, conf_options[i].name));
		assert_non_null(strstr(l->out, conf_options[i].help));
	}
	lab_run_once(l, "config options --json", lab_hang_up);
	r = json_loads(l->out, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(r, "options")), conf_noptions);
	json_decref(r);
	lab_free(l);
}

/* Colours on a terminal only, and never against NO_COLOR. */
static void test_colors(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	l->tty = true;
	(void)setenv("TERM", "xterm", 1);
	(void)unsetenv("NO_COLOR");
	lab_run_once(l, S "status", status_bad);
	assert_non_null(strstr(l->out, "\033[1;31m1 problem\033[0m"));
	assert_null(strstr(l->out, "\033[31mrefused")); /* the provider's own */
	(void)setenv("NO_COLOR", "1", 1);
	lab_run_once(l, S "status", status_bad);
	assert_null(strchr(l->out, '\033'));
	(void)unsetenv("NO_COLOR");
	(void)setenv("TERM", "dumb", 1);
	lab_run_once(l, S "status", status_bad);
	assert_null(strchr(l->out, '\033'));
	l->tty = false;
	(void)setenv("TERM", "xterm", 1);
	lab_run_once(l, S "status", status_bad);
	assert_null(strchr(l->out, '\033'));
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_a_node_that_gets_its_keys_from_burstd),
		cmocka_unit_test(test_nodes_json),
		cmocka_unit_test(test_nodes_told),
		cmocka_unit_test(test_node_show),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_follow_is_patient),
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_trouble),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_config_options),
		cmocka_unit_test(test_colors),
		cmocka_unit_test(test_config_check),
		cmocka_unit_test(test_no_events),
	};

	return cmocka_run_group_tests_name("burstctl", tests, NULL, NULL);
}
