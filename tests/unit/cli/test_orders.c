/* What burstctl orders (drain, terminate, pause, resume), what it asks before that, and `check`. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/cli.h"

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

/* --- check -------------------------------------------------------------------------------------
 */

#define OK_FILE "ok: FILE: cluster lab, 1 provider, 1 pool, 8 nodes\n"
#define BAD_SLURM                                                                                  \
	"[{\"setting\":\"ReturnToService\",\"severity\":\"error\",\"found\":\"0\",\"wanted\":"     \
	"\"2\",\"why\":\"It stays DOWN.\"},{\"setting\":\"AuthInfo\",\"severity\":\"advice\","     \
	"\"found\":\"x\",\"wanted\":\"y\",\"why\":\"Slow.\"}]"
#define ADVICE                                                                                     \
	"[{\"setting\":\"AuthInfo\",\"severity\":\"advice\",\"found\":\"x\",\"wanted\":\"y\","     \
	"\"why\":\"Slow.\"}]"
#define REPORT(list)                                                                               \
	"{\"error\":\"\",\"pools\":true,\"version\":\"24.11.5\",\"slurm_conf\":" list "}"

/* `burstd --check --slurm --json -- FILE`, as a script: what it says, and how it ends. */
static const struct {
	const char *name, *said, *errors;
	int status, rc;
	const char *out, *err;
} check_rows[] = {
	{"good", REPORT("[]"), "", 0, 0,
	 OK_FILE "ok: slurm.conf as slurmctld 24.11.5 has read it\n", ""},
	{"advice", REPORT(ADVICE), "", 0, 0,
	 OK_FILE "ok: slurm.conf as slurmctld 24.11.5 has read it:\n"
		 "  advice   AuthInfo is x; wanted: y\n           Slow.\n",
	 ""},
	{"bad", REPORT(BAD_SLURM), "note: mind the gap\n", 1, 1,
	 OK_FILE "note: mind the gap\nnot ok: slurm.conf as slurmctld 24.11.5 has read it:\n"
		 "  error    ReturnToService is 0; wanted: 2\n           It stays DOWN.\n"
		 "  advice   AuthInfo is x; wanted: y\n           Slow.\n",
	 ""},
	{"several of one line",
	 "{\"error\":\"\",\"pools\":true,\"version\":\"24.11.5\",\"slurm_conf\":" BAD_SLURM
	 ",\"slurmctld_parameters\":\"x\\u001b,cloud_dns,idle_on_node_suspend\"}",
	 "", 1, 1,
	 OK_FILE "not ok: slurm.conf as slurmctld 24.11.5 has read it:\n"
		 "  error    ReturnToService is 0; wanted: 2\n           It stays DOWN.\n"
		 "  advice   AuthInfo is x; wanted: y\n           Slow.\n"
		 "  write    SlurmctldParameters=x?,cloud_dns,idle_on_node_suspend\n",
	 ""},
	{"silent", "{\"error\":\"scontrol: exit status 1\",\"pools\":true}", "", 69, 3, OK_FILE,
	 "burstctl: slurm.conf was not checked, slurmctld does not answer: scontrol: exit status "
	 "1\n"},
	{"a bad configuration, and silence", "{\"error\":\"no scontrol\",\"pools\":true}",
	 "f:2: two\n", 78, 1, "",
	 "burstctl: f:2: two\nburstctl: slurm.conf was not checked, slurmctld does not answer: no "
	 "scontrol\n"},
	{"a bad configuration alone",
	 "{\"error\":\"\",\"pools\":false,\"version\":\"24.11.5\",\"slurm_conf\":[]}", "f:2: two\n",
	 78, 1,
	 "ok: slurm.conf as slurmctld 24.11.5 has read it\nnote: without a good configuration, "
	 "what depends on pools was not checked in slurm.conf\n",
	 "burstctl: f:2: two\n"},
	{"an older one", "", "no option --slurm\n", 2, 1, "",
	 "burstctl: no option --slurm\n"
	 "burstctl: burstd --check failed: exit status 2\n"
	 "burstctl: slurm.conf was not checked: the burstd program was not found or failed\n"},
	{"killed", REPORT("[]"), "", 137, 1, "ok: slurm.conf as slurmctld 24.11.5 has read it\n",
	 "burstctl: burstd --check failed: exit status 137\n"},
};

static char *with_path(const struct lab *l, const char *text)
{
	const char *at = strstr(text, "FILE");
	char *out = mem_zalloc(strlen(text) + 64);

	if (at == NULL)
		(void)memcpy(out, text, strlen(text));
	else
		(void)snprintf(out, strlen(text) + 64, "%.*s%s/good.conf%s", (int)(at - text), text,
			       l->dir, at + 4);
	return out;
}

static void check_one(struct lab *l, size_t row)
{
	char script[2048], file[64], *out = with_path(l, check_rows[row].out);
	json_t *r;

	print_message("# %s\n", check_rows[row].name);
	(void)snprintf(script, sizeof(script),
		       "#!/bin/sh\n[ \"$*\" = \"--check --slurm --json -- %s/good.conf\" ] || exit "
		       "99\nprintf '%%s' '%s'\nprintf '%%s' '%s' >&2\nexit %d\n",
		       l->dir, check_rows[row].said, check_rows[row].errors,
		       check_rows[row].status);
	lab_write(l, "burstd", script);
	(void)snprintf(file, sizeof(file), "%s/burstd", l->dir);
	assert_int_equal(chmod(file, 0700), 0);
	lab_run_once(l, "check DIR/good.conf", lab_hang_up);
	assert_string_equal(l->err, check_rows[row].err);
	assert_string_equal(l->out, out);
	assert_int_equal(l->rc, check_rows[row].rc);
	lab_run_once(l, "check DIR/good.conf --json", lab_hang_up);
	assert_int_equal(l->rc, check_rows[row].rc);
	assert_string_equal(l->err, "");
	r = json_loads(l->out, 0, NULL);
	assert_non_null(r);
	assert_int_equal(json_is_array(json_object_get(r, "slurm_conf")),
			 strstr(check_rows[row].said, "slurm_conf") != NULL);
	if (strcmp(check_rows[row].name, "bad") == 0)
		assert_string_equal(cli_text(cli_row(r, "slurm_conf", 0), "setting"),
				    "ReturnToService");
	json_decref(r);
	free(out);
}

static void test_check(void **state)
{
	char *path = mem_strdup(getenv("PATH"));
	struct lab *l = lab_new();

	(void)state;
	lab_write(l, "good.conf",
		  "cluster = lab\ncurrency = EUR\nprovider sim { driver = sim }\n"
		  "pool p { nodes = \"c[1-8]\" provider = sim type = t region = r "
		  "max_nodes = 8 max_rate = \"300\" price = \"29.52\" }\n");
	(void)setenv("PATH", l->dir, 1);
	for (size_t i = 0; i < COUNT(check_rows); i++)
		check_one(l, i);
	/* What a burstd that runs has, and the file does not: known before a restart. */
	lab_run_once(l, S "check DIR/good.conf",
		     "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"nodes\":1},{\"name\":\"old\","
		     "\"nodes\":2},{\"name\":\"empty\",\"nodes\":0}],\"providers\":[{\"name\":"
		     "\"sim\",\"nodes\":1},{\"name\":\"far\",\"nodes\":2}]}");
	assert_int_equal(l->rc, 1);
	assert_non_null(
		strstr(l->err, "good.conf: pool \"old\" is not in it, and burstd has 2 nodes"));
	assert_non_null(
		strstr(l->err, "provider \"far\" is not in it, and burstd has 2 nodes there"));
	assert_null(strstr(l->err, "empty"));
	lab_remove(l, "burstd");
	lab_run_once(l, "check DIR/good.conf", lab_hang_up);
	assert_int_equal(l->rc, 1); /* half a check is none */
	assert_non_null(strstr(
		l->err, "slurm.conf was not checked: the burstd program was not found or failed"));
	lab_run_once(l, "check DIR/none.conf", lab_hang_up);
	assert_int_equal(l->rc, 1);
	assert_non_null(strstr(l->err, "none.conf"));
	(void)setenv("PATH", path, 1);
	free(path);
	lab_remove(l, "good.conf");
	lab_free(l);
}

#define POOL(name, nodes, price)                                                                   \
	"pool " name " { nodes = \"" nodes "\" provider = sim type = t region = r max_nodes = 1 "  \
	"max_rate = \"20\" " price " }\n"
#define SOLD "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"offers\":[{\"price\":\"29.52\"}]}]}"
#define US   "{\"offer\":\"us\",\"price\":\"1.00\"},"
#define EU   "{\"offer\":\"eu\",\"price\":\"29.52\"},"
#define LADDER                                                                                     \
	"pool p { nodes = c1 max_nodes = 1 max_rate = \"20\" jurisdictions = {\"EU\"}\n"           \
	"offer us { provider = sim type = t region = us-east-1 jurisdiction = US }\n"              \
	"offer eu { provider = sim type = t region = eu-north-1 jurisdiction = SE }\n"             \
	"}\n"
static const struct {
	const char *pools, *reply, *note, *err; /* "": none; NULL: nothing about a price */
} price_rows[] = {
	{POOL("p", "c1", ""), NULL, "price limit of pool \"p\" was not compared with that\n", ""},
	{POOL("a", "c1", "price = \"5\"") POOL("b", "c2", "") POOL("c", "c3", ""), NULL,
	 "price limit of pool \"b\" and others was not compared with that\n", ""},
	{POOL("p", "c1", "price = \"5\""), NULL, "", ""},
	{POOL("p", "c1", ""), SOLD, "",
	 "max_rate is 20.00 EUR per hour, and its cheapest node costs 29.52"},
	/* The lower of two limits counts. */
	{POOL("p", "c1", "max_price = \"2\""), SOLD, "",
	 ":4: pool \"p\": max_price is 2.00 EUR per hour, and its cheapest node costs "
	 "29.52: nothing can be bought\n"},
	{POOL("p", "c1", "max_price = \"21\""), SOLD, "",
	 "max_rate is 20.00 EUR per hour, and its cheapest node costs 29.52"},
	{POOL("p", "c1", "max_price = \"2\""),
	 "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"offers\":[{\"price\":\"2.00\"}]}]}", "", NULL},
	/* Of what the pool may never have no price counts. */
	{LADDER, "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"offers\":[" US EU "{}]}]}", "",
	 "max_rate is 20.00 EUR per hour, and its cheapest node costs 29.52"},
	{LADDER,
	 "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"offers\":[" US
	 "{\"offer\":\"eu\",\"price\":\"\"}]}]}",
	 "", ""},
	{LADDER,
	 "{\"ok\":true,\"pools\":[{\"name\":\"p\",\"offers\":[" EU
	 "{\"offer\":\"fr\",\"price\":\"\",\"cause\":\"not-offered\"}]}]}",
	 "", "costs 29.52"},
};
#undef LADDER
#undef SOLD
#undef US
#undef EU
#undef POOL

/* Prices that the file does not have only a burstd that runs can tell: without it check says so. */
static void test_check_says_what_it_did_not_compare(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(price_rows); i++) {
		char file[1024];

		(void)snprintf(file, sizeof(file),
			       "cluster = lab\ncurrency = EUR\nprovider sim { driver = sim }\n%s",
			       price_rows[i].pools);
		lab_write(l, "good.conf", file);
		lab_run_once(l, S "check DIR/good.conf",
			     price_rows[i].reply != NULL ? price_rows[i].reply : lab_hang_up);
		assert_int_equal(strstr(l->out, "only it knows what providers charge") != NULL,
				 price_rows[i].note[0] != '\0');
		assert_non_null(strstr(l->out, price_rows[i].note));
		if (price_rows[i].err != NULL)
			assert_non_null(strstr(l->err, price_rows[i].err));
		else
			assert_null(strstr(l->err, "costs"));
	}
	lab_remove(l, "good.conf");
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
		"{\"ok\":true,\"problems\":[\"pool a: paused by an admin (uid 0, since x)\","
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
	assert_non_null(strstr(l->out, "pool a: paused by an admin (root, since x)\n"));
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
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_check_says_what_it_did_not_compare),
		cmocka_unit_test(test_for_job),
	};

	return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
