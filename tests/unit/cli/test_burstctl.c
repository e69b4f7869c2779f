/* burstctl as a process of its own, against a burstd that says what the test wants.
 *
 * The child is forked, not exec'ed, and runs cli_main(): so sanitizers see it too. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/frame.h"
#include "base/mem.h"
#include "core/conf_option.h"

enum {
	ARGS_MAX = 16,
	REQUESTS_MAX = 16,
	TEXT_SIZE = 1 << 16,
	PATIENCE_MS = 20000, /* far beyond what anything here takes; a hang must not last */
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Replies that are none. */
static const char hang[] = "", hang_up[] = "hang up", garbage_frame[] = "garbage";

struct lab {
	char dir[32], socket[64];
	int listen_fd;
	/* What to do ... */
	const char *const *replies; /* one for each request; the last one again and again */
	size_t nreplies;
	size_t stop_after; /* end the child when it has asked so often; 0: let it end by itself */
	bool tty;          /* its standard output is a terminal */
	/* ... and what came of it. */
	char requests[REQUESTS_MAX][512];
	size_t nrequests;
	char out[TEXT_SIZE], err[TEXT_SIZE];
	int rc; /* exit code, -1: killed */
	int64_t took_ms;
};

static void lab_listen(struct lab *l)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", l->socket);
	l->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(l->listen_fd >= 0);
	assert_int_equal(bind(l->listen_fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(l->listen_fd, 8), 0);
}

static struct lab *lab_new(void)
{
	struct lab *l = mem_zalloc(sizeof(*l));

	(void)snprintf(l->dir, sizeof(l->dir), "/tmp/burstctlXXXXXX");
	assert_non_null(mkdtemp(l->dir));
	(void)snprintf(l->socket, sizeof(l->socket), "%s/ctl.sock", l->dir);
	lab_listen(l);
	return l;
}

static void lab_free(struct lab *l)
{
	if (l->listen_fd >= 0)
		(void)close(l->listen_fd);
	(void)unlink(l->socket);
	assert_int_equal(rmdir(l->dir), 0);
	free(l);
}

static void read_exactly(int fd, void *to, size_t n)
{
	for (size_t got = 0; got < n;) {
		ssize_t did = read(fd, (char *)to + got, n - got);

		assert_true(did > 0);
		got += (size_t)did;
	}
}

/* One connection: note the request, answer as told.  Returns a connection to keep open, or -1. */
static int serve(struct lab *l)
{
	int fd = accept4(l->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	const char *reply;
	unsigned char head[FRAME_HEADER];
	size_t len;

	assert_true(fd >= 0 && l->nrequests < REQUESTS_MAX);
	read_exactly(fd, head, sizeof(head));
	len = (size_t)head[3] << 8 | head[4];
	assert_true(head[0] == FRAME_JSON && len < sizeof(l->requests[0]));
	read_exactly(fd, l->requests[l->nrequests], len);
	reply = l->replies[l->nrequests < l->nreplies ? l->nrequests : l->nreplies - 1];
	l->nrequests++;
	if (reply == hang)
		return fd;
	if (reply == garbage_frame) {
		assert_true(write(fd, "HTTP/1.1 400 Bad Request\r\n", 26) == 26);
	} else if (reply != hang_up) {
		frame_header(head, FRAME_JSON, (uint32_t)strlen(reply));
		assert_true(write(fd, head, sizeof(head)) == (ssize_t)sizeof(head));
		assert_true(write(fd, reply, strlen(reply)) == (ssize_t)strlen(reply));
	}
	(void)close(fd);
	return -1;
}

static void open_stream(struct lab *l, int ends[2])
{
	char name[64];

	if (!l->tty) {
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		return;
	}
	ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(ends[0] >= 0 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0);
	assert_int_equal(ptsname_r(ends[0], name, sizeof(name)), 0);
	ends[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(ends[1] >= 0);
}

static _Noreturn void child(int out, int err, char **args, int n)
{
	(void)dup2(out, STDOUT_FILENO);
	(void)dup2(err, STDERR_FILENO);
	(void)setenv("TZ", "UTC", 1);
	exit(cli_main(n, args));
}

static bool drain(int fd, char *text)
{
	size_t len = strlen(text);
	ssize_t n = read(fd, text + len, TEXT_SIZE - 1 - len);

	return n > 0; /* a terminal says EIO when the other end is closed */
}

static void converse(struct lab *l, pid_t pid, int out, int err)
{
	struct pollfd p[] = {{out, POLLIN, 0}, {err, POLLIN, 0}, {l->listen_fd, POLLIN, 0}};
	int64_t until = clock_boot_ms() + PATIENCE_MS;
	int kept = -1;

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		assert_true(clock_boot_ms() < until);
		assert_true(poll(p, 3, 100) >= 0 || errno == EINTR);
		if ((p[0].revents & (POLLIN | POLLHUP)) != 0 && !drain(out, l->out))
			p[0].fd = -1;
		if ((p[1].revents & (POLLIN | POLLHUP)) != 0 && !drain(err, l->err))
			p[1].fd = -1;
		if ((p[2].revents & POLLIN) != 0)
			kept = serve(l);
		if (l->stop_after > 0 && l->nrequests >= l->stop_after)
			(void)kill(pid, SIGTERM);
	}
	if (kept >= 0)
		(void)close(kept);
}

/* Run "burstctl LINE"; SOCKET in it stands for our socket and DIR for our directory. */
static void run(struct lab *l, const char *line, const char *const *replies, size_t n)
{
	char copy[1024], *args[ARGS_MAX + 2], *save = NULL, word[ARGS_MAX][128];
	int nargs = 0, out[2], err[2], status;
	int64_t start = clock_boot_ms();
	pid_t pid;

	print_message("# burstctl %s\n", line);
	(void)snprintf(copy, sizeof(copy), "burstctl %s", line);
	for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
		if (strncmp(w, "DIR", 3) == 0)
			(void)snprintf(word[nargs], sizeof(word[0]), "%s%s", l->dir, w + 3);
		else
			(void)snprintf(word[nargs], sizeof(word[0]), "%s",
				       strcmp(w, "SOCKET") == 0 ? l->socket : w);
		args[nargs] = word[nargs];
		nargs++;
	}
	args[nargs] = NULL;
	l->replies = replies;
	l->nreplies = n;
	l->nrequests = 0;
	memset(l->requests, 0, sizeof(l->requests));
	memset(l->out, 0, sizeof(l->out));
	memset(l->err, 0, sizeof(l->err));
	open_stream(l, out);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		child(out[1], err[1], args, nargs);
	(void)close(out[1]);
	(void)close(err[1]);
	converse(l, pid, out[0], err[0]);
	(void)close(out[0]);
	(void)close(err[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	l->rc = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	l->took_ms = clock_boot_ms() - start;
}

static void run_once(struct lab *l, const char *line, const char *reply)
{
	run(l, line, &reply, 1);
}

static void want(const struct lab *l, int rc, const char *out, const char *err)
{
	if (l->rc != rc || strcmp(l->out, out) != 0 || strstr(l->err, err) == NULL)
		print_error("exit code %d\n--- out\n%s--- err\n%s---\n", l->rc, l->out, l->err);
	assert_int_equal(l->rc, rc);
	assert_string_equal(l->out, out);
	assert_non_null(strstr(l->err, err));
	if (rc == CLI_OK)
		assert_string_equal(l->err, "");
}

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
	run_once(l, S "status", status_bad);
	want(l, 0,
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
	run_once(l, S "status", well);
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

		run_once(l, rows[i].line, rows[i].reply);
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
	run(l, S "nodes", pages, 2);
	want(l, 0,
	     "NODE    STATE     FOR  POOL  INSTANCE  ADDRESS   PER HOUR  SLURM       NOTE\n"
	     "h100-1  ready  15m00s  h100  i-77      10.0.0.1     29.52  IDLE+CLOUD  1 older being "
	     "deleted\n"
	     "h100-2  none        -  h100  -         -                -  -           waits: the "
	     "provider "
	     "has no capacity\n"
	     "\n"
	     "2 nodes, 29.52 USD per hour; 2 more are off (--all shows them)\n",
	     "");
	assert_int_equal(l->nrequests, 2);
	assert_string_equal(l->requests[0], "{\"op\":\"nodes\",\"after\":\"\",\"v\":1}");
	assert_string_equal(l->requests[1], "{\"op\":\"nodes\",\"after\":\"h100-2\",\"v\":1}");
	run(l, S "nodes --all --pool spot", pages, 2);
	want(l, 0,
	     "NODE    STATE  FOR  POOL  INSTANCE  ADDRESS  PER HOUR  SLURM  NOTE\n"
	     "spot-1  gone    1s  spot  i-1       -               -  -      Slurm powered it down\n"
	     "\n"
	     "1 node\n",
	     "");
	run(l, S "nodes --state ready", pages, 2);
	assert_non_null(strstr(l->out, "h100-1"));
	assert_null(strstr(l->out, "h100-2"));
	assert_non_null(strstr(l->out, "\n1 node, 29.52 USD per hour\n"));
	run(l, S "nodes", (const char *const[]){page2}, 1);
	want(l, 0, "all 2 nodes are off (--all shows them)\n", "");
	run(l, S "nodes -p nothing", pages, 2);
	want(l, 0, "0 nodes\n", "");
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
	run(l, S "nodes --json", pages, 2);
	assert_int_equal(l->rc, 0);
	r = json_loads(l->out, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(r, "nodes")), 4);
	assert_null(json_object_get(r, "next"));
	assert_null(json_object_get(r, "ok"));
	json_decref(r);
	run(l, S "nodes", broken, 2);
	want(l, 1, "", "busy");
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
	run_once(l, S "node show h100-1", reply);
	want(l, 0,
	     "h100-1  ready\n"
	     "  ready: Slurm can run jobs on it\n"
	     "\n"
	     "  pool        h100\n"
	     "  instance    i-77\n"
	     "  address     10.0.0.1\n"
	     "  in Slurm    IDLE+CLOUD\n"
	     "  since       1970-01-12 13:31:40\n"
	     "  rate        29.52 USD per hour\n"
	     "\n"
	     "  GENERATION  STATE  INSTANCE  WANTED AT            BILLED FOR   COST  REASON\n"
	     "           2  ready  i-77      1970-01-12 13:30:00      15m00s   7.38  -\n"
	     "           1  gone   i-3       1970-01-11 10:00:00       1h00m  29.52  the provider "
	     "took its "
	     "capacity back\n"
	     "\n"
	     "  TIME                 GENERATION  EVENT    DETAIL\n"
	     "  1970-01-12 13:31:40           2  created  i-77\n",
	     "");
	assert_string_equal(l->requests[0], "{\"op\":\"node\",\"name\":\"h100-1\",\"v\":1}");
	run_once(l, S "node show nope",
		 "{\"ok\":false,\"code\":\"not-found\",\"error\":\"no pool names a node\"}");
	want(l, 1, "", "burstctl: no pool names a node\n");
	lab_free(l);
}

#define EVENT(seq)                                                                                 \
	"{\"seq\":" seq ",\"at_ms\":1000,\"node\":\"n1\",\"generation\":3,\"type\":\"created\","   \
	"\"detail\":\"i-1\"}"
#define SHOWN(seq) "     " seq "  1970-01-01 00:00:01  n1#3            created          i-1\n"

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
	run(l, S "events --since 0 -N n1", pages, 2);
	want(l, 0, SHOWN("1") SHOWN("2"), "");
	assert_int_equal(l->nrequests, 2);
	assert_string_equal(l->requests[0],
			    "{\"op\":\"events\",\"since\":0,\"node\":\"n1\",\"v\":1}");
	assert_string_equal(l->requests[1],
			    "{\"op\":\"events\",\"since\":1,\"node\":\"n1\",\"v\":1}");
	run(l, S "events --json", pages + 1, 1);
	want(l, 0, EVENT("2") "\n", "");
	assert_string_equal(l->requests[0], "{\"op\":\"events\",\"tail\":20,\"v\":1}");
	run(l, S "events -n 5", pages + 1, 1);
	assert_string_equal(l->requests[0], "{\"op\":\"events\",\"tail\":5,\"v\":1}");
	run_once(l, S "events --since 0", stuck);
	want(l, 0, "", "");
	assert_int_equal(l->nrequests, 1);
	lab_free(l);
}

static void test_follow(void **state)
{
	/* The third answer is no answer, as when burstd restarts; it goes on where it was. */
	static const char *const replies[] = {
		"{\"ok\":true,\"events\":[" EVENT("1") "],\"last\":1,\"more\":false}",
		"{\"ok\":true,\"events\":[" EVENT("2") "],\"last\":2,\"more\":false}",
		hang_up,
		"{\"ok\":true,\"events\":[" EVENT("3") "],\"last\":3,\"more\":false}",
		"{\"ok\":true,\"events\":[],\"last\":3,\"more\":false}",
	};
	struct lab *l = lab_new();

	(void)state;
	l->stop_after = 5;
	run(l, S "events -f -n 1", replies, COUNT(replies));
	assert_int_equal(l->rc, -1); /* it would have gone on */
	assert_string_equal(l->out, SHOWN("1") SHOWN("2") SHOWN("3"));
	assert_string_equal(l->err, "burstctl: burstd went away; waiting for it\n");
	assert_string_equal(l->requests[0], "{\"op\":\"events\",\"tail\":1,\"v\":1}");
	assert_string_equal(l->requests[1], "{\"op\":\"events\",\"since\":1,\"v\":1}");
	assert_string_equal(l->requests[3], "{\"op\":\"events\",\"since\":2,\"v\":1}");
	assert_string_equal(l->requests[4], "{\"op\":\"events\",\"since\":3,\"v\":1}");
	assert_true(l->took_ms >= 4 * 500);
	lab_free(l);
}

static void test_orders(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	run_once(l, S "reconcile", "{\"ok\":true}");
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "compares"));
	assert_string_equal(l->requests[0], "{\"op\":\"reconcile\",\"v\":1}");
	run_once(l, S "reload", "{\"ok\":true}");
	want(l, 0, "burstd uses the new configuration\n", "");
	assert_string_equal(l->requests[0], "{\"op\":\"reload\",\"v\":1}");
	run_once(l, S "reload",
		 "{\"ok\":false,\"code\":\"failed\",\"error\":\"burstd.conf:3: no\"}");
	want(l, 1, "", "burstctl: burstd.conf:3: no\n");
	run_once(l, S "config show",
		 "{\"ok\":true,\"path\":\"/x\",\"text\":\"cluster = \\\"a\\\"\\n\"}");
	want(l, 0, "cluster = \"a\"\n", "");
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
		{garbage_frame, 3, "cannot reach burstd: "},
		{hang_up, 3, "cannot reach burstd: "},
		{hang, 3, "is it stuck?"},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		run_once(l, S "status --timeout 300ms", rows[i].reply);
		want(l, rows[i].rc, "", rows[i].err);
		assert_non_null(strchr(l->err, '\n'));
		assert_string_equal(strchr(l->err, '\n'), "\n"); /* one sentence, one line */
		if (rows[i].reply == hang)
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
		run_once(l, lines[i], "{\"ok\":true}");
		assert_int_equal(l->rc, 0);
		run_once(l, lines[i], odd);
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
	run_once(l, S "status", hang);
	want(l, 3, "", "is it running?");
	assert_non_null(strstr(l->err, l->socket));
	(void)unlink(l->socket);
	run_once(l, S "events -f", hang);
	want(l, 3, "", "is it running?");
	lab_free(l);
}

static void test_usage(void **state)
{
	static const struct {
		const char *line, *err;
	} rows[] = {
		{"", "Usage: burstctl COMMAND"},
		{"launch", "no command \"launch\""},
		{"staus", "did you mean \"status\"?"},
		{"node", "node show NAME"},
		{"node shwo n1", "did you mean \"node show\"?"},
		{"node show", "something is missing"},
		{"node show n1 n2", "one word too many: n2"},
		{"node show n[1-2]", "not the name of a node"},
		{"config", "config check [FILE]"},
		{"status x", "one word too many: x"},
		{"status --pool x", "no option --pool"},
		{"--colour status", "no option --colour"},
		{"nodes --stat ready", "did you mean --state?"},
		{"nodes --state sleepy", "no such state"},
		{"events -n 1001", "from 0 to 1000"},
		{"events -n 1 --since 1", "only one"},
		{"events --node ../x", "not the name of a node"},
		{"status --timeout 5", "want a duration"},
		{"status --socket", "want PATH after it"},
		{"help launch", "no command \"launch\""},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		run_once(l, rows[i].line, hang_up);
		want(l, 2, "", rows[i].err);
		assert_int_equal(l->nrequests, 0);
	}
	lab_free(l);
}

/* Every command has help with an example, by all three ways to ask for it. */
static void test_help(void **state)
{
	static const char *const commands[] = {
		"status",       "nodes",       "node show",      "events",
		"config check", "config show", "config options", "reconcile",
		"reload",       "version",     "help",
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < COUNT(commands); i++) {
		static const struct {
			const char *before, *after;
		} forms[] = {{"", " --help"}, {"help ", ""}, {"--help ", ""}};
		char line[64], usage[64];

		(void)snprintf(usage, sizeof(usage), "Usage: burstctl %s", commands[i]);
		for (size_t k = 0; k < COUNT(forms); k++) {
			(void)snprintf(line, sizeof(line), "%s%s%s", forms[k].before, commands[i],
				       forms[k].after);
			run_once(l, line, hang_up);
			assert_int_equal(l->rc, 0);
			assert_memory_equal(l->out, usage, strlen(usage));
			assert_non_null(strstr(l->out, "\nExample:\n  burstctl "));
			assert_non_null(strstr(l->out, "--json"));
			assert_string_equal(l->err, "");
		}
	}
	run_once(l, "--help", hang_up);
	assert_int_equal(l->rc, 0);
	for (size_t i = 0; i < COUNT(commands); i++)
		assert_non_null(strstr(l->out, commands[i]));
	run_once(l, "config --help", hang_up);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "config check"));
	assert_null(strstr(l->out, "reconcile"));
	run_once(l, "--version", hang_up);
	assert_int_equal(l->rc, 0);
	assert_memory_equal(l->out, "burstctl ", 9);
	lab_free(l);
}

static void write_file(const struct lab *l, const char *name, const char *text)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	(void)close(fd);
}

static void remove_file(const struct lab *l, const char *name)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	assert_int_equal(unlink(path), 0);
}

static void test_config(void **state)
{
	static const char good[] = "cluster = lab\ncurrency = EUR\nprovider sim { driver = sim }\n"
				   "pool p { nodes = \"c[1-8]\" provider = sim type = t region = r "
				   "max_nodes = 8 max_rate = \"300\" }\n";
	struct lab *l = lab_new();
	char *first;

	(void)state;
	write_file(l, "good.conf", good);
	write_file(l, "bad.conf", "cluster = lab\nnonsense = 1\n");
	run_once(l, "config check DIR/good.conf", hang_up);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "good.conf: cluster lab, 1 provider, 1 pool, 8 nodes\n"));
	run_once(l, "config check DIR/bad.conf", hang_up);
	want(l, 1, "", "bad.conf:2: ");
	run_once(l, "config check DIR/none.conf", hang_up);
	want(l, 1, "", "none.conf");
	/* What is shown is a good configuration itself, and shows the same again. */
	run_once(l, "config show DIR/good.conf", hang_up);
	assert_int_equal(l->rc, 0);
	first = mem_strdup(l->out);
	write_file(l, "shown.conf", first);
	run_once(l, "config show DIR/shown.conf", hang_up);
	want(l, 0, first, "");
	free(first);
	run_once(l, "config show DIR/bad.conf", hang_up);
	want(l, 1, "", "bad.conf:2: ");
	assert_int_equal(l->nrequests, 0);
	remove_file(l, "good.conf");
	remove_file(l, "bad.conf");
	remove_file(l, "shown.conf");
	lab_free(l);
}

static void test_config_options(void **state)
{
	struct lab *l = lab_new();
	json_t *r;

	(void)state;
	run_once(l, "config options", hang_up);
	assert_int_equal(l->rc, 0);
	for (size_t i = 0; i < conf_noptions; i++) {
		assert_non_null(strstr(l->out, conf_options[i].name));
		assert_non_null(strstr(l->out, conf_options[i].help));
	}
	run_once(l, "config options --json", hang_up);
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
	run_once(l, S "status", status_bad);
	assert_non_null(strstr(l->out, "\033[1;31m1 problem\033[0m"));
	assert_null(strstr(l->out, "\033[31mrefused")); /* the provider's own */
	(void)setenv("NO_COLOR", "1", 1);
	run_once(l, S "status", status_bad);
	assert_null(strchr(l->out, '\033'));
	(void)unsetenv("NO_COLOR");
	(void)setenv("TERM", "dumb", 1);
	run_once(l, S "status", status_bad);
	assert_null(strchr(l->out, '\033'));
	l->tty = false;
	(void)setenv("TERM", "xterm", 1);
	run_once(l, S "status", status_bad);
	assert_null(strchr(l->out, '\033'));
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),         cmocka_unit_test(test_json),
		cmocka_unit_test(test_nodes),          cmocka_unit_test(test_nodes_json),
		cmocka_unit_test(test_node_show),      cmocka_unit_test(test_events),
		cmocka_unit_test(test_follow),         cmocka_unit_test(test_orders),
		cmocka_unit_test(test_trouble),        cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_nobody_there),   cmocka_unit_test(test_usage),
		cmocka_unit_test(test_help),           cmocka_unit_test(test_config),
		cmocka_unit_test(test_config_options), cmocka_unit_test(test_colors),
	};

	return cmocka_run_group_tests_name("burstctl", tests, NULL, NULL);
}
