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
				   "\"problems\":[],\"slurm_conf\":[]}";
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

#define STATUS(slurm, providers, more)                                                             \
	"{\"ok\":true,\"problems\":[],\"slurm\":" slurm ",\"providers\":[" providers "]" more "}"
#define OK     "{\"ok\":true,\"ok_ms\":5,\"failed_ms\":0}"
#define SILENT "{\"ok\":false,\"ok_ms\":0,\"failed_ms\":0}"
#define CONF   ",\"slurm_conf\":[]"

/* Nobody says so before slurmctld, each provider and the secret store have answered, and slurmctld
 * what slurm.conf says. */
static void test_all_is_well_when_all_have_answered(void **state)
{
	static const struct {
		const char *reply;
		bool well;
	} rows[] = {
		{STATUS(OK, OK "," OK, CONF), true},
		{STATUS(OK, OK, CONF ",\"secrets\":" OK), true},
		{STATUS(OK, "{\"ok_ms\":0,\"failed_ms\":5}", CONF), true}, /* else a problem */
		{STATUS(SILENT, OK, CONF), false},
		{STATUS(OK, SILENT "," OK, CONF), false},
		{STATUS(OK, OK "," SILENT, CONF), false},
		{STATUS(OK, OK, CONF ",\"secrets\":" SILENT), false},
		{STATUS(OK, OK, ""), false},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		lab_run_once(l, S "status", rows[i].reply);
		assert_int_equal(strstr(l->out, "All is well.\n") != NULL, rows[i].well);
		assert_int_equal(strstr(l->out,
					"Not known yet: slurmctld, a provider or the "
					"secret store has not answered since the start.\n") != NULL,
				 !rows[i].well);
	}
	lab_free(l);
}

#define FLOW(more)                                                                                 \
	"{\"ok\":true,\"now_ms\":1000000,\"slurm\":" OK                                            \
	",\"problems\":[],\"providers\":[{\"name\":"                                               \
	"\"ec2\",\"requests\":[" more "]}]}"

/* Only what waits, or was throttled a moment ago; each says what an admin can do something about.
 */
static void test_requests_that_are_held_back(void **state)
{
	static const struct {
		const char *flow, *want; /* NULL: nothing */
	} rows[] = {
		{"", NULL},
		{"{\"operation\":\"list\",\"sent\":9,\"throttled\":2,\"throttled_ms\":700000,"
		 "\"allowed\":\"1.00\",\"allowed_by\":\"answers\"}",
		 NULL},
		{"{\"operation\":\"list\",\"sent\":9,\"throttled\":1,\"throttled_ms\":700001,"
		 "\"allowed\":\"1.00\",\"allowed_by\":\"answers\"}",
		 "ec2, list: none waits; 1.00 a second may go, as its answers show; of 9 sent 1 "
		 "was "
		 "throttled, the last 4m59s ago"},
		{"{\"operation\":\"create\",\"sent\":1274,\"throttled\":37,\"throttled_ms\":988000,"
		 "\"queued\":812,\"oldest_ms\":750000,\"paused_until_ms\":1003000,\"allowed\":"
		 "\"0.016667\",\"allowed_by\":\"shared\"}",
		 "ec2, create: 812 nodes wait, the oldest for 4m10s; none may go for 3s, then "
		 "0.0167 a second, together with others that its answers slow down; of 1274 sent "
		 "37 were throttled, the last 12s ago"},
		{"{\"operation\":\"delete\",\"sent\":5,\"queued\":1,\"oldest_ms\":998000,"
		 "\"allowed\":"
		 "\"5.00\",\"allowed_by\":\"kind\"}",
		 "ec2, delete: 1 instance waits, the oldest for 2s; 5.00 a second may go, as the "
		 "provider documents"},
		{"{\"operation\":\"step\",\"sent\":5,\"queued\":2,\"oldest_ms\":998000,\"allowed\":"
		 "\"5.00\",\"allowed_by\":\"rate\"}",
		 "ec2, step: 2 requests wait, the oldest for 2s; 5.00 a second may go, of all "
		 "operations together, as \"rate\" says"},
		{"{\"operation\":\"list\",\"sent\":5,\"queued\":1,\"oldest_ms\":998000,\"allowed\":"
		 "\"1.00\",\"allowed_by\":\"all\"}",
		 "ec2, list: 1 request waits, the oldest for 2s; 1.00 a second may go, of all "
		 "operations together, as the provider documents"},
		{"{\"operation\":\"list\",\"queued\":1,\"oldest_ms\":998000,\"allowed\":\"\","
		 "\"allowed_by\":\"\"}",
		 "ec2, list: 1 request waits, the oldest for 2s"},
	};
	static const char head[] =
		"\nRequests that wait for a provider, or were throttled in the last 5m:\n";
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char reply[1024], want[512];

		(void)snprintf(reply, sizeof(reply), FLOW("%s"), rows[i].flow);
		(void)snprintf(want, sizeof(want), "%s  %s\n\n", head, rows[i].want);
		lab_run_once(l, S "status", reply);
		print_message("# row %zu: %s\n", i, l->out);
		assert_int_equal(strstr(l->out, "Requests that wait") != NULL,
				 rows[i].want != NULL);
		assert_true(rows[i].want == NULL || strstr(l->out, want) != NULL);
	}
	lab_run_once(
		l, S "status",
		FLOW("{\"operation\":\"list\",\"queued\":1,\"oldest_ms\":998000},{\"operation\":"
		     "\"quotes\",\"queued\":1,\"oldest_ms\":998000}"));
	assert_non_null(strstr(l->out, "5m:\n  ec2, list: 1 request waits, the oldest for 2s\n"
				       "  ec2, quotes: 1 request waits, the oldest for 2s\n\n"));
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
		     "{\"ok\":true,\"changes\":[],\"at_restart\":[],\"overrides\":[\"one\"]}");
	lab_want(l, 0,
		 "nothing changed\n"
		 "what was added to budgets, or set, and has no effect:\n"
		 "  one\n",
		 "");
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
		{"{\"ok\":1}", 1, "not from burstd"},
		{"{}", 1, "not from burstd"},
		{"[true]", 1, "not from burstd"},
		{"{\"ok\":true", 1, "not from burstd"},
		{lab_garbage, 3, "cannot reach burstd: "},
		{lab_hang_up, 3, "cannot reach burstd: "},
		{lab_hang, 3, "is it stuck? (systemctl status burstd)"},
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

/* burstd is restarted, and breaks off what it has not answered: the next one is asked, but only
 * what nobody can do twice by asking, and once. */
static void test_asked_over_a_restart(void **state)
{
	static const char good[] = "{\"ok\":true}";
	static const char *const once[] = {lab_hang_up, good};
	static const struct {
		const char *line;
		int rc;
		size_t requests;
	} rows[] = {
		{S "status", 0, 2},
		{S "nodes --all", 0, 2},
		{S "pools", 0, 2},
		{S "config show", 0, 2},
		{S "pause p", 3, 1},
		{S "reconcile", 3, 1},
		{S "notice i-1 --kind reclaim", 3, 1},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		lab_run(l, rows[i].line, once, COUNT(once));
		if (l->rc != rows[i].rc || l->nrequests != rows[i].requests)
			fail_msg("%s: %d, %zu: %s", rows[i].line, l->rc, l->nrequests, l->err);
		if (l->nrequests == 2)
			assert_string_equal(l->requests[0], l->requests[1]);
	}
	lab_run_once(l, S "status", lab_hang_up);
	assert_int_equal(l->rc, 3);
	assert_int_equal(l->nrequests, 2);
	lab_run_once(l, S "status --timeout 300ms", lab_hang); /* its time is over */
	assert_int_equal(l->nrequests, 1);
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
		{"job", "no command \"job\"; did you mean \"cost job\"?"},
		{"jobs", "no command \"jobs\"; did you mean \"report\"?"},
		{"why", "no command \"why\"; did you mean \"plan\"?"},
		{"bill", "no command \"bill\"; did you mean \"report\"?"},
		{"list", "no command \"list\"; did you mean \"nodes\"?"},
		{"ls", "no command \"ls\"; did you mean \"nodes\"?"},
		{"delete", "no command \"delete\"; did you mean \"terminate\"?"},
		{"kill", "no command \"kill\"; did you mean \"terminate\"?"},
		{"stop", "no command \"stop\"; did you mean \"pause\"?"},
		{"start", "no command \"start\"; did you mean \"resume\"?"},
		{"continue", "no command \"continue\"; did you mean \"resume\"?"},
		{"budgets", "no command \"budgets\"; did you mean \"budget list\"?"},
		{"staus", "did you mean \"status\"?"},
		{"node", "node show NAME"},
		{"node shwo n1", "did you mean \"node show\"?"},
		{"audit verif", "no command \"audit verif\"; did you mean \"audit verify\"?"},
		{"audit verif --head 1:a", "did you mean \"audit verify\"?"},
		{"config shwo", "did you mean \"config show\"?"},
		{"help audit verif", "did you mean \"audit verify\"?"},
		{"help config shwo", "did you mean \"config show\"?"},
		{"node show", "NAME is missing"},
		{"node show n1 n2", "unexpected argument: n2"},
		{"node show n[1-2]", "not the name of a node"},
		{"config", "config check [FILE]"},
		{"status x", "unexpected argument: x"},
		{"status --pool x", "unknown option --pool"},
		{"--colour status", "unknown option --colour"},
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
		{"events --since yesteryear",
		 "burstctl: --since: want a number of the first column, or a time: \"yesteryear\" "
		 "is not a time: want yesterday, 2h (ago), 13:30, 2026-01-02, 2026-01-02T13:30, or "
		 "that with a Z for UTC\n"},
		{"events --since -1", "\"-1\" is not a time"},
		{"events --since 9223372036854775808", "is not a time"},
		{"events --since 2026-02-30", "is not a time"},
		{"audit --since 25:00", "\"25:00\" is not a time"},
		{"events --job x", "--job: want a job's id"},
		{"events --job 1 -n 2", "only one"},
		{"events -n 1001", "from 0 to 1000"},
		{"events -n 1 --since 1", "only one"},
		{"audit -n 1 --since 1", "only one"},
		{"audit verify --head 5", "want SEQ:HASH"},
		{"audit verify --head 5:ab", "64 hexadecimal digits"},
		{"events --node ../x", "not the name of a node"},
		{"status --timeout 5", "want a duration"},
		{"status --socket", "--socket needs a value: PATH"},
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
/* On 80 columns no line is broken by the terminal. */
static void check_width(const char *out)
{
	for (const char *p = out; *p != '\0'; p += strcspn(p, "\n") + 1)
		if (strcspn(p, "\n") > 80)
			fail_msg("%zu columns: %.*s", strcspn(p, "\n"), (int)strcspn(p, "\n"), p);
}

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
			check_width(l->out);
		}
	}
	lab_run_once(l, "--help", lab_hang_up);
	assert_int_equal(l->rc, 0);
	check_width(l->out);
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

/* A provider's words do not turn ours around, nor hide in them (I25); JSON has them, as numbers. */
static void test_words_of_others(void **state)
{
	static const char answer[] =
		"{\"ok\":true,\"cluster\":\"falcon\",\"version\":\"1.2\",\"now_ms\":5,\"uptime_"
		"ms\":"
		"12000,\"currency\":\"EUR\",\"slurm\":{\"ok\":true,\"ok_ms\":5},\"providers\":[],"
		"\"pools\":[],\"problems\":[\"sim says: \u202egood\u202c \u200bf\u00fcr dich\"]}";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "status", answer);
	assert_non_null(strstr(l->out, "sim says: ???good??? ???f\xc3\xbcr dich"));
	lab_run_once(l, S "status --json", answer);
	assert_non_null(strstr(l->out, "sim says: \\u202Egood\\u202C \\u200Bf\\u00FCr dich"));
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
		cmocka_unit_test(test_requests_that_are_held_back),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_all_is_well_when_all_have_answered),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_trouble),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_colors),
		cmocka_unit_test(test_words_of_others),
		cmocka_unit_test(test_asked_over_a_restart),
	};

	return cmocka_run_group_tests_name("burstctl", tests, NULL, NULL);
}
