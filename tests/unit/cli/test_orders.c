/* test_orders.c - what burstctl orders (drain, terminate, notice, pause, resume), what it asks
 * before that, and how it shows what people have ordered. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define S        "--socket SOCKET "
#define ORDERED(nodes, busy, off)                                                                  \
	"{\"ok\":true,\"nodes\":" #nodes ",\"busy\":" #busy ",\"off\":" #off "}"

/* Each line of burstctl is answered so. */
struct order_row {
	const char *line, *reply;
	int rc;
	const char *out, *err;
	const char *last; /* request; NULL: there was none */
	size_t requests;
};

static void check_orders(const struct order_row *rows, size_t n)
{
	struct lab *l = lab_new();

	for (size_t i = 0; i < n; i++) {
		lab_run_once(l, rows[i].line, rows[i].reply);
		lab_want(l, rows[i].rc, rows[i].out, rows[i].err);
		assert_int_equal(l->nrequests, rows[i].requests);
		if (rows[i].last != NULL)
			assert_string_equal(l->requests[l->nrequests - 1], rows[i].last);
	}
	lab_run_once(l, S "drain h1 --json", ORDERED(1, 1, 0));
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "\"nodes\": 1,\n  \"busy\": 1,\n  \"off\": 0\n"));
	lab_free(l);
}

/* Without a terminal. */
static void test_order(void **state)
{
	static const struct order_row rows[] = {
		{S "drain h[1-3]", ORDERED(3, 2, 0), 0,
		 "3 nodes will be drained, 2 of them with jobs\n", "",
		 "{\"op\":\"drain\",\"nodes\":\"h[1-3]\",\"v\":1}", 1},
		{S "drain h[1-4]", ORDERED(3, 0, 1), 0,
		 "3 nodes will be drained, 0 of them with jobs; 1 was off already\n", "",
		 "{\"op\":\"drain\",\"nodes\":\"h[1-4]\",\"v\":1}", 1},
		{S "drain h1", ORDERED(1, 1, 0), 0, "1 node will be drained, with a job\n", "",
		 "{\"op\":\"drain\",\"nodes\":\"h1\",\"v\":1}", 1},
		{S "drain h1,h2", ORDERED(0, 0, 2), 0,
		 "nothing to do: all of these nodes are off\n", "",
		 "{\"op\":\"drain\",\"nodes\":\"h1,h2\",\"v\":1}", 1},
		{S "drain h\xff", "", 2, "", "not UTF-8", NULL, 0},
		{S "drain h1", ORDERED(0, 0, 1), 0, "nothing to do: the node is off\n", "",
		 "{\"op\":\"drain\",\"nodes\":\"h1\",\"v\":1}", 1},
		{S "drain h[1-", "", 2, "", "burstctl: ", NULL, 0},
		{S "drain", "", 2, "", "NODES is missing", NULL, 0},
		{S "drain h1", "{\"ok\":false,\"code\":\"not-found\",\"error\":\"no pool h1\"}", 1,
		 "", "burstctl: no pool h1\n", "{\"op\":\"drain\",\"nodes\":\"h1\",\"v\":1}", 1},
		/* one node needs no question */
		{S "terminate h1", ORDERED(1, 0, 0), 0,
		 "1 node will be terminated, without a job\n", "",
		 "{\"op\":\"terminate\",\"nodes\":\"h1\",\"v\":1}", 1},
		{S "terminate h[1-3] --yes", ORDERED(2, 1, 1), 0,
		 "2 nodes will be terminated, 1 of them with jobs; 1 was off already\n", "",
		 "{\"op\":\"terminate\",\"nodes\":\"h[1-3]\",\"v\":1}", 1},
		{S "terminate --all -y", ORDERED(2, 2, 62), 0,
		 "2 nodes will be terminated, 2 of them with jobs\n", "",
		 "{\"op\":\"terminate\",\"all\":true,\"v\":1}", 1},
		/* and nobody to ask is no "yes" */
		{S "terminate h[1-3]", ORDERED(2, 1, 1), 2, "",
		 "burstctl: terminate 2 nodes, 1 of them with jobs: say --yes\n",
		 "{\"op\":\"terminate\",\"nodes\":\"h[1-3]\",\"look\":true,\"v\":1}", 1},
		{S "terminate --all", ORDERED(2, 1, 1), 2, "", "say --yes",
		 "{\"op\":\"terminate\",\"all\":true,\"look\":true,\"v\":1}", 1},
		{S "terminate --all", ORDERED(0, 0, 8), 0,
		 "nothing to do: all of these nodes are off\n", "",
		 "{\"op\":\"terminate\",\"all\":true,\"v\":1}", 2},
		{S "terminate", "", 2, "", "name nodes, or say --all", NULL, 0},
		{S "terminate h1 --all", "", 2, "", "name nodes, or say --all", NULL, 0},
		{S "terminate ]", "", 2, "", "burstctl: ", NULL, 0},
	};

	(void)state;
	check_orders(rows, COUNT(rows));
}

#define NOTE(machine, result, node)                                                                \
	"{\"machine\":\"" machine "\",\"result\":\"" result "\",\"node\":\"" node "\"}"
#define NOTED(machine, result, node) "{\"ok\":true,\"results\":[" NOTE(machine, result, node) "]}"
#define MANY_NOTED                                                                                 \
	"{\"ok\":true,\"results\":[" NOTE("i-1", "taken", "h1") "," NOTE(                          \
		"x", "unknown", "") "," NOTE("h2", "late", "h2") "]}"

static void test_notice(void **state)
{
	static const struct order_row rows[] = {
		{S "notice h1 --kind reclaim --in 120s", NOTED("h1", "taken", "h1"), 0,
		 "node h1 gets no more jobs and will be removed: \"burstctl node show h1\"\n", "",
		 "{\"op\":\"notice\",\"kind\":\"reclaim\",\"in_ms\":120000,\"machines\":[\"h1\"],"
		 "\"v\":1}",
		 1},
		{S "notice i-1 -k faulty --at 2026-01-02T03:04:05Z --reason x",
		 NOTED("i-1", "late", "h1"), 0,
		 "nothing to do: node h1 has no instance, or one that is already leaving\n", "",
		 "{\"op\":\"notice\",\"kind\":\"faulty\",\"reason\":\"x\",\"at_ms\":1767323045000,"
		 "\"machines\":[\"i-1\"],\"v\":1}",
		 1},
		{S "notice h1 -k rebalance", NOTED("h1", "ignored", "h1"), 0,
		 "noted; nothing is done: the pool ignores such notices, or an admin drained the "
		 "node\n",
		 "", "{\"op\":\"notice\",\"kind\":\"rebalance\",\"machines\":[\"h1\"],\"v\":1}", 1},
		{S "notice x -k faulty", NOTED("x", "unknown", ""), 1, "",
		 "burstctl: no node and no instance of ours is named \"x\"\n",
		 "{\"op\":\"notice\",\"kind\":\"faulty\",\"machines\":[\"x\"],\"v\":1}", 1},
		{S "notice i-7 -k faulty", NOTED("i-7", "several", ""), 1, "",
		 "burstctl: instances of several providers have the id \"i-7\": name the node\n",
		 "{\"op\":\"notice\",\"kind\":\"faulty\",\"machines\":[\"i-7\"],\"v\":1}", 1},
		{S "notice i-1 x h2 -k faulty", MANY_NOTED, 1,
		 "i-1: node h1 gets no more jobs and will be removed: \"burstctl node show h1\"\n"
		 "h2: nothing to do: node h2 has no instance, or one that is already leaving\n",
		 "burstctl: no node and no instance of ours is named \"x\"\n",
		 "{\"op\":\"notice\",\"kind\":\"faulty\",\"machines\":[\"i-1\",\"x\",\"h2\"],\"v\":"
		 "1}",
		 1},
		{S "notice i-1 x h2 -k faulty --json", MANY_NOTED, 1,
		 "{\n  \"results\": [\n"
		 "    {\n      \"machine\": \"i-1\",\n      \"result\": \"taken\",\n      "
		 "\"node\": "
		 "\"h1\"\n    },\n"
		 "    {\n      \"machine\": \"x\",\n      \"result\": \"unknown\",\n      "
		 "\"node\": "
		 "\"\"\n    },\n"
		 "    {\n      \"machine\": \"h2\",\n      \"result\": \"late\",\n      \"node\": "
		 "\"h2\"\n    }\n  ]\n}\n",
		 "",
		 "{\"op\":\"notice\",\"kind\":\"faulty\",\"machines\":[\"i-1\",\"x\",\"h2\"],\"v\":"
		 "1}",
		 1},
		{S "notice h1\xff -k faulty", "", 2, "", "argument 1: \"h1", NULL, 0},
		{S "notice h1 -k faulty --reason \xe9t\xe9", "", 2, "", "--reason: not UTF-8", NULL,
		 0},
		{S "drain c1\xc3", "", 2, "", "is not UTF-8", NULL, 0},
		{S "notice h1", "", 2, "", "say --kind reclaim", NULL, 0},
		{S "notice h1 -k soon", "", 2, "", "say --kind reclaim", NULL, 0},
		{S "notice h1 -k faulty --in 1s --at 2026-01-02T03:04:05Z", "", 2, "",
		 "only one of them", NULL, 0},
		{S "notice i-\xff -k faulty", "", 2, "", "not UTF-8", NULL, 0},
		{S "notice h1 -k faulty --at noon", "", 2, "", "\"noon\": want a time", NULL, 0},
	};

	(void)state;
	check_orders(rows, COUNT(rows));
}

/* Of 1,001 the last is a request of its own; blank lines are none, and a bad one is named. */
static void many_machines_come_by_standard_input(void **state)
{
	static const char *const replies[] = {NOTED("i-1", "taken", "h1"),
					      NOTED("i-1001", "late", "h2")};
	static char typed[16000];
	struct lab *l = lab_new();
	size_t n = 0;

	(void)state;
	for (int i = 1; i <= 1001; i++)
		n += (size_t)snprintf(typed + n, sizeof(typed) - n, "%s i-%d \n",
				      i % 100 == 0 ? " \n" : "", i);
	l->fed = typed;
	lab_run(l, S "notice - -k reclaim", replies, 2);
	lab_want(l, 0,
		 "i-1: node h1 gets no more jobs and will be removed: \"burstctl node show h1\"\n"
		 "i-1001: nothing to do: node h2 has no instance, or one that is already leaving\n",
		 "");
	assert_int_equal(l->nrequests, 2);
	assert_string_equal(l->requests[1], "{\"op\":\"notice\",\"kind\":\"reclaim\",\"machines\":"
					    "[\"i-1001\"],\"v\":1}");
	l->fed = "\n \n";
	lab_run(l, S "notice - -k reclaim", replies, 2);
	lab_want(l, 2, "", "standard input names no node and no instance");
	l->fed = "i-1\ni-\xff\n";
	lab_run(l, S "notice h1 - -k reclaim", replies, 2);
	lab_want(l, 2, "", "line 2: not a node or an instance: not UTF-8");
	assert_int_equal(l->nrequests, 0);
	lab_free(l);
}

/* On a terminal it asks, and does nothing unless it is told yes. */
static void test_asked(void **state)
{
	static const struct {
		const char *line, *typed;
		bool done;
	} rows[] = {
		{S "terminate h[1-3]", "y\n", true},   {S "terminate h[1-3]", "yes\n", true},
		{S "terminate h[1-3]", "n\n", false},  {S "terminate h[1-3]", "\n", false},
		{S "terminate h[1-3]", "\004", false}, {S "terminate --all", "yellow\n", false},
		{S "terminate --all", "Y\n", true},
	};
	static const char *const replies[] = {ORDERED(3, 2, 0), ORDERED(3, 2, 0)};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("# typed: %s\n", rows[i].typed);
		l->typed = rows[i].typed;
		lab_run(l, rows[i].line, replies, 2);
		assert_memory_equal(l->err, "terminate 3 nodes, 2 of them with jobs? [y/N] ", 46);
		assert_int_equal(l->nrequests, rows[i].done ? 2 : 1);
		assert_non_null(strstr(l->requests[0], "\"look\":true"));
		assert_int_equal(l->rc, rows[i].done ? 0 : 1);
		if (rows[i].done)
			assert_null(strstr(l->requests[1], "look"));
		else
			assert_non_null(strstr(l->err, "burstctl: nothing was done\n"));
	}
	lab_free(l);
}

#define WAITERS                                                                                    \
	"Jobs that were refused start at their next try, in 15 min at most; \"scontrol update "    \
	"JobId=JOB StartTime=now\" does not wait for it.\n"

static void test_pause(void **state)
{
	static const struct {
		const char *line, *reply, *out, *request;
	} rows[] = {
		{S "pause h100", "{\"ok\":true,\"changed\":[\"h100\"],\"unchanged\":[]}",
		 "pool h100 is paused: nothing is bought for it; its nodes run on, and are deleted "
		 "when they are idle, as always\n",
		 "{\"op\":\"pause\",\"pool\":\"h100\",\"v\":1}"},
		{S "pause", "{\"ok\":true,\"changed\":[],\"unchanged\":[\"a\",\"b\"]}",
		 "pool a was paused already\npool b was paused already\n",
		 "{\"op\":\"pause\",\"v\":1}"},
		{S "resume h100", "{\"ok\":true,\"changed\":[\"h100\"],\"unchanged\":[]}",
		 "pool h100 is resumed: its nodes are bought again\n" WAITERS,
		 "{\"op\":\"resume\",\"pool\":\"h100\",\"v\":1}"},
		{S "resume", "{\"ok\":true,\"changed\":[\"a\"],\"unchanged\":[\"b\"]}",
		 "pool a is resumed: its nodes are bought again\npool b was not paused\n" WAITERS,
		 "{\"op\":\"resume\",\"v\":1}"},
		{S "resume", "{\"ok\":true,\"changed\":[],\"unchanged\":[\"b\"]}",
		 "pool b was not paused\n", "{\"op\":\"resume\",\"v\":1}"},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		lab_run_once(l, rows[i].line, rows[i].reply);
		lab_want(l, 0, rows[i].out, "");
		assert_string_equal(l->requests[0], rows[i].request);
	}
	lab_run_once(l, S "pause x", "{\"ok\":false,\"error\":\"no pool is named \\\"x\\\"\"}");
	lab_want(l, 1, "", "burstctl: no pool is named \"x\"\n");
	lab_run_once(l, S "pause x --json", rows[0].reply);
	assert_non_null(strstr(l->out, "\"changed\": [\n    \"h100\"\n  ]"));
	lab_free(l);
}

/* A pool for which nothing is bought shows in the table, too. */
static void test_stopped_pool(void **state)
{
	static const char reply[] =
		"{\"ok\":true,\"pools\":[{\"name\":\"a\",\"states\":{\"ready\":2},\"paused\":true},"
		"{\"name\":\"b\",\"states\":{},\"paused\":false,\"blocked\":\"no GPU\"},"
		"{\"name\":\"c\",\"states\":{},\"paused\":false,\"blocked\":\"\"}]}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "status", reply);
	assert_non_null(strstr(l->out, "  2 ready; paused\n"));
	assert_non_null(strstr(l->out, "  all off; blocked\n"));
	assert_non_null(strstr(l->out, "  all off\n"));
	lab_free(l);
}

static void test_what_stays_up_without_a_job_shows_in_the_table(void **state)
{
	static const char reply[] =
		"{\"ok\":true,\"pools\":["
		"{\"name\":\"a\",\"states\":{\"ready\":2},\"warm_wanted\":3,\"warm\":2,"
		"\"warm_coming\":1},"
		"{\"name\":\"b\",\"states\":{\"ready\":4},\"warm_wanted\":1,\"warm\":1,"
		"\"paid\":3},"
		"{\"name\":\"c\",\"states\":{\"ready\":1},\"paid\":1},"
		"{\"name\":\"d\",\"states\":{\"booting\":1},\"paid\":0},"
		"{\"name\":\"e\",\"states\":{},\"warm_wanted\":1,\"warm\":0,\"paused\":true}]}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "status", reply);
	assert_non_null(strstr(l->out, "  2 ready; 2 of 3 warm\n"));
	assert_non_null(strstr(l->out, "  4 ready; 1 of 1 warm, 3 paid for\n"));
	assert_non_null(strstr(l->out, "  1 ready; 1 paid for\n"));
	assert_non_null(strstr(l->out, "  1 booting\n"));
	assert_non_null(strstr(l->out, "  all off; paused; 0 of 1 warm\n"));
	lab_free(l);
}

static void test_for_job(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "node show n1", "{\"ok\":true,\"name\":\"n1\",\"job\":17}");
	assert_non_null(strstr(l->out, "\n  for job     17\n"));
	lab_run_once(l, S "node show n1", "{\"ok\":true,\"name\":\"n1\",\"job\":0}");
	assert_null(strstr(l->out, "for job"));
	lab_free(l);
}

/* Not only that an operator asked for something: what, and how it ends.  And a state that a newer
 * burstd may have is no more than counted. */
static void test_nodes_of_a_paused_pool(void **state)
{
	static const char reply[] =
		"{\"ok\":true,\"now_ms\":1,\"nodes\":[{\"name\":\"n1\",\"state\":\"gone\","
		"\"instance\":\"i-1\",\"address\":\"10.0.0.1\",\"reason\":\"suspended\","
		"\"refused\":\"operator\"},{\"name\":\"n2\",\"state\":\"sleeping\"}]}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "nodes", reply);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "  refused: an admin's order\n"));
	assert_null(strstr(l->out, "i-1")); /* it is gone */
	assert_null(strstr(l->out, "10.0.0.1"));
	assert_non_null(strstr(l->out, "\n2 nodes (1 refused)\n"));
	lab_free(l);
}

/* An admin is a number to burstd, and a name to people: but not in JSON. */
static void test_people_have_names(void **state)
{
	static const char event[] =
		"{\"seq\":1,\"type\":\"paused\",\"detail\":\"pool a, ordered by "
		"uid 0\"}";
	static const char node[] =
		"{\"ok\":true,\"name\":\"n1\",\"events\":[{\"type\":\"terminated\",\"detail\":"
		"\"ordered by uid 0\"}]}";
	static const char status[] =
		"{\"ok\":true,\"problems\":[\"pool a: paused by an admin (uid 0, operator, since "
		"x)\","
		"\"ordered by uid 4294967295, ordered by uid , ordered by uid 00000000000, ordered "
		"by uid x, ordered by uid 0x\",\"sim: quota of uid 0 used up (uid 0)\"]}";
	char events[256];
	struct lab *l = lab_new();

	(void)state;
	(void)snprintf(events, sizeof(events), "{\"ok\":true,\"events\":[%s],\"last\":1}", event);
	lab_run_once(l, S "events", events);
	assert_non_null(strstr(l->out, "pool a, ordered by root\n"));
	lab_run_once(l, S "events --json", events);
	assert_non_null(strstr(l->out, "ordered by uid 0"));
	lab_run_once(l, S "node n1", node);
	assert_non_null(strstr(l->out, "ordered by root\n"));
	lab_run_once(l, S "status", status);
	assert_non_null(strstr(l->out, "pool a: paused by an admin (root, operator, since x)\n"));
	assert_non_null(strstr(l->out, "! ordered by uid 4294967295, ordered by uid , ordered by "
				       "uid 00000000000, ordered by uid x, ordered by uid 0x\n"));
	assert_non_null(strstr(l->out, "! sim: quota of uid 0 used up (uid 0)\n"));
	lab_run_once(l, S "pause",
		     "{\"ok\":false,\"error\":\"pause is for others; you are uid 0\"}");
	lab_want(l, 1, "", "burstctl: pause is for others; you are root\n");
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_notice),
		cmocka_unit_test(many_machines_come_by_standard_input),
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_nodes_of_a_paused_pool),
		cmocka_unit_test(test_people_have_names),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_stopped_pool),
		cmocka_unit_test(test_what_stays_up_without_a_job_shows_in_the_table),
		cmocka_unit_test(test_for_job),
	};

	return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
