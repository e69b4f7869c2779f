/* test_desk.c - questions to the ledger on its socket, by processes of real users in real groups.
 *
 * The desk is a process; for each question it starts this program anew, with the arguments of
 * burst-ledger, or a script of the test's.  Without root nobody can become somebody else. */
#include "people.h"

#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "io/ctl_client.h"
#include "ledger/command.h"
#include "ledger/desk.h"

enum {
	ANNA = 61001,
	BOB,
	CARL,
	NOBODY,
	SLOW,
	FINANCE = 62001,
	OPERATORS,
	ADMINS,
	PATIENCE_MS = 20000
};
enum { ANSWER = 1 << 16 };

static struct people {
	pid_t pid;
	char dir[64], socket[80], getent[80], script[80], conf[80];
	char answer[ANSWER];
} P;

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static void path_of(char *out, size_t size, const char *name)
{
	(void)snprintf(out, size, "%s/%s", P.dir, name);
}

static void start_desk(const struct fixture *f, const char *program)
{
	static uint32_t finance[] = {FINANCE}, operators[] = {OPERATORS}, admins[] = {ADMINS};
	static const struct conf_people people = {.admin_groups = {admins, 1},
						  .operator_groups = {operators, 1},
						  .finance_groups = {finance, 1}};
	const struct desk_opts o = {.socket = P.socket,
				    .ledger = f->ledger,
				    .config = P.conf,
				    .people = &people,
				    .program = program,
				    .getent = P.getent,
				    .work_ms = 1500,
				    .look_ms = 50};
	int64_t until = clock_boot_ms() + PATIENCE_MS;
	struct err e = {0};

	P.pid = fork();
	if (P.pid == 0)
		_exit(desk_run(&o, &e) == 0 ? 0 : 1);
	while (access(P.socket, F_OK) != 0 && clock_boot_ms() < until)
		(void)usleep(2000);
	assert_int_equal(access(P.socket, F_OK), 0);
}

static int setup_desk(void **state)
{
	static const char getent[] =
		"#!/bin/sh\ncase $2 in\n61001) n=anna ;;\n61002) n=bob ;;\n61003) n=carl "
		";;\n61005) sleep 20 ;;\n*) exit 2 ;;\nesac\necho \"$n:x:$2:$2::/:/bin/sh\"\n";
	int rc = setup(state);
	const struct fixture *f = *state;

	memset(&P, 0, sizeof(P));
	(void)snprintf(P.dir, sizeof(P.dir), "/tmp/deskXXXXXX");
	assert_non_null(mkdtemp(P.dir));
	assert_int_equal(chmod(P.dir, 0755), 0);
	path_of(P.socket, sizeof(P.socket), "s");
	path_of(P.getent, sizeof(P.getent), "getent");
	path_of(P.script, sizeof(P.script), "script");
	path_of(P.conf, sizeof(P.conf), "burstd.conf");
	write_file(P.getent, getent);
	make_people(f);
	return rc;
}

static int teardown_desk(void **state)
{
	char cmd[100];
	int status = 0;

	if (P.pid > 0) {
		assert_int_equal(kill(P.pid, SIGTERM), 0);
		assert_int_equal(waitpid(P.pid, &status, 0), P.pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
		assert_int_equal(access(P.socket, F_OK), -1);
	}
	(void)snprintf(cmd, sizeof(cmd), "rm -rf %s", P.dir);
	assert_int_equal(system(cmd), 0);
	return teardown(state);
}

/* Ask in a process of that user, who is in this group beside their own; fd: the answer comes. */
static pid_t ask_later(uid_t uid, gid_t group, const char *request, int *fd)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		struct err e = {0};
		char *answer;
		size_t len;

		if (setgroups(1, &group) != 0 || setresgid(uid, uid, uid) != 0 ||
		    setresuid(uid, uid, uid) != 0)
			_exit(2);
		if (ctl_client_ask(P.socket, request, PATIENCE_MS, &answer, &len, &e) != 0)
			_exit(3);
		_exit(write(ends[1], answer, len) == (ssize_t)len ? 0 : 4);
	}
	(void)close(ends[1]);
	*fd = ends[0];
	return pid;
}

static const char *hear(pid_t pid, int fd)
{
	size_t len = 0;
	int status;
	ssize_t n;

	while ((n = read(fd, P.answer + len, sizeof(P.answer) - 1 - len)) > 0)
		len += (size_t)n;
	P.answer[len] = '\0';
	(void)close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 0);
	print_message("# %.300s\n", P.answer);
	return P.answer;
}

static const char *ask_as(uid_t uid, gid_t group, const char *request)
{
	int fd;
	pid_t pid = ask_later(uid, group, request, &fd);

	return hear(pid, fd);
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

#define RQ(op, rest) "{\"v\":1,\"op\":\"" op "\"" rest "}"
#define ALL          ",\"from\":\"2026-11-01\",\"to\":\"2026-11-30\""

static void each_sees_their_own(void **state)
{
	static const struct {
		uid_t uid;
		gid_t group;
		const char *request;
		const char *has[3], *lacks[3];
	} rows[] = {
		{ANNA,
		 ANNA,
		 RQ("report", ALL ",\"by\":\"user,class\",\"form\":\"json\""),
		 {"\"user\":\"anna\"", "\"class\":\"run\""},
		 {"bob", "idle"}},
		{BOB,
		 BOB,
		 RQ("report", ALL ",\"by\":\"account,node\",\"form\":\"csv\""),
		 {"biology,c0,EUR", "biology,c1,EUR"},
		 {"physics", "c2"}},
		{CARL, CARL, RQ("report", ALL ",\"form\":\"json\""), {"\"rows\":[]"}, {"cost"}},
		{ANNA,
		 ANNA,
		 RQ("report", ALL ",\"by\":\"user\",\"user\":\"anna\""),
		 {"anna"},
		 {"bob"}},
		{ANNA,
		 ANNA,
		 RQ("report", ALL ",\"by\":\"user\",\"user\":\"bob\""),
		 {"\"code\":\"denied\"", "only admins and finance", "uid 61001, user"},
		 {"bob"}},
		{ANNA,
		 ANNA,
		 RQ("report", ALL ",\"by\":\"user\",\"whose\":\"bob\""),
		 {"anna"},
		 {"bob"}},
		{ANNA,
		 ANNA,
		 RQ("report", ALL ",\"by\":\"user\",\"mine\":false"),
		 {"anna"},
		 {"bob"}},
		{NOBODY,
		 NOBODY,
		 RQ("report", ALL),
		 {"\"code\":\"denied\"", "uid 61004 has no name on this host"},
		 {"text"}},
		/* Who may see all. */
		{NOBODY,
		 FINANCE,
		 RQ("report", ALL ",\"by\":\"user,class\""),
		 {"anna", "bob", "idle"},
		 {NULL}},
		{NOBODY,
		 ADMINS,
		 RQ("report", ALL ",\"by\":\"user,class\""),
		 {"anna", "bob", "idle"},
		 {NULL}},
		{0, 0, RQ("report", ALL ",\"by\":\"user,class\""), {"anna", "bob", "idle"}, {NULL}},
		{ANNA,
		 FINANCE,
		 RQ("report", ALL ",\"by\":\"user\",\"user\":\"bob\""),
		 {"bob"},
		 {"anna"}},
		{ANNA,
		 FINANCE,
		 RQ("report", ALL ",\"by\":\"user\",\"mine\":true"),
		 {"anna"},
		 {"bob"}},
		{ANNA,
		 OPERATORS,
		 RQ("report", ALL ",\"by\":\"user,class\""),
		 {"anna"},
		 {"bob", "idle"}},
		/* Jobs. */
		{ANNA,
		 ANNA,
		 RQ("job", ",\"job\":\"1\",\"explain\":true"),
		 {"user anna", "share "},
		 {"bob"}},
		{ANNA, ANNA, RQ("job", ",\"job\":\"1\""), {"job 1: "}, {"share "}},
		{ANNA,
		 ANNA,
		 RQ("job", ",\"job\":\"2\""),
		 {"\"code\":\"not-found\"", "no job 2 of user anna on"},
		 {"bob"}},
		{ANNA,
		 ANNA,
		 RQ("job", ",\"job\":\"99\""),
		 {"\"code\":\"not-found\"", "no job 99 of user anna on"},
		 {NULL}},
		{ANNA, FINANCE, RQ("job", ",\"job\":\"2\""), {"user bob"}, {NULL}},
		{ANNA, OPERATORS, RQ("job", ",\"job\":\"2\""), {"\"code\":\"not-found\""}, {"bob"}},
	};

	need_root();
	start_desk(*state, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *answer = ask_as(rows[i].uid, rows[i].group, rows[i].request);

		for (size_t k = 0; k < 3 && rows[i].has[k] != NULL; k++)
			assert_non_null(strstr(answer, rows[i].has[k]));
		for (size_t k = 0; k < 3 && rows[i].lacks[k] != NULL; k++)
			assert_null(strstr(answer, rows[i].lacks[k]));
	}
}

static void bad_questions_are_refused(void **state)
{
	static const struct {
		const char *request, *has;
	} rows[] = {
		{"x", "\"code\":\"invalid\",\"error\":\"the request is not JSON\""},
		{"[]", "a request is a JSON object"},
		{"{\"op\":\"report\"}", "version 1 only"},
		{RQ("status", ""), "want report, or job"},
		{RQ("job", ""), "want report, or job"},
		{RQ("job", ",\"job\":7"), "want report, or job"},
		{RQ("report", ",\"by\":\"x\""), "cannot report by"},
		{RQ("report", ",\"by\":7"), "\\\"by\\\": want a text"},
		{RQ("report", ",\"form\":\"xlsx\""), "want table, csv or json"},
		{RQ("report", ",\"period\":\"2026\""), "want a month such as"},
		{RQ("report", ",\"period\":\"2026-11\",\"to\":\"2026-11-02\""),
		 "or \\\"from\\\" and"},
		{RQ("job", ",\"job\":\"; drop\""), "want the id of a job"},
	};
	char *longest = mem_zalloc(5000);

	need_root();
	start_desk(*state, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *answer = ask_as(ANNA, ANNA, rows[i].request);

		assert_ptr_equal(strstr(answer, "{\"ok\":false,\"code\":\""), answer);
		assert_non_null(strstr(answer, rows[i].has));
	}
	(void)snprintf(longest, 5000, RQ("job", ",\"job\":\"%04000d\""), 1);
	assert_non_null(strstr(ask_as(ANNA, ANNA, longest), "the request is too long"));
	free(longest);
}

/* The ledger's troubles are for its log, and for those who see all. */
static void a_user_is_not_told_of_the_ledgers_troubles(void **state)
{
	const struct fixture *f = *state;

	need_root();
	start_desk(f, NULL);
	assert_int_equal(unlink(f->ledger), 0);
	assert_non_null(strstr(ask_as(ANNA, ANNA, RQ("report", ALL)),
			       "\"code\":\"failed\",\"error\":\"the ledger cannot be read now\""));
	assert_non_null(strstr(ask_as(ANNA, FINANCE, RQ("report", ALL)), "ledger.db"));
}

static void an_unpriced_machine_is_told_to_who_sees_all(void **state)
{
	const struct fixture *f = *state;

	need_root();
	exec(f->ledger, "UPDATE lifetime SET flags = flags | 1 WHERE node = 'c2'");
	start_desk(f, NULL);
	assert_non_null(strstr(ask_as(ANNA, FINANCE, RQ("report", ALL)),
			       "\"warning\":\"1 instances have no price"));
	assert_null(strstr(ask_as(ANNA, ANNA, RQ("report", ALL)), "warning"));
}

/* --- those who make trouble -------------------------------------------------------------------
 */

static void what_takes_too_long_is_ended(void **state)
{
	int64_t began;

	need_root();
	write_file(P.script, "#!/bin/sh\nexec sleep 30\n");
	start_desk(*state, P.script);
	began = clock_boot_ms();
	assert_non_null(strstr(ask_as(ANNA, ANNA, RQ("report", ALL)), "it took too long"));
	assert_in_range(clock_boot_ms() - began, 1000, 10000);
}

static void a_process_that_fails_is_no_answer(void **state)
{
	static const struct {
		const char *script, *has;
	} rows[] = {
		{"#!/bin/sh\nkill -9 $$\n", "too much time or memory"},
		{"#!/bin/sh\necho '{\"ok\":true}'\nexit 1\n", "the ledger's log says why"},
		{"#!/bin/sh\necho hello\n", "the ledger's log says why"},
		{"#!/bin/sh\nhead -c 9000000 /dev/zero\n", "the ledger's log says why"},
		{"#!/bin/sh\necho '{\"ok\":true,\"text\":\"x\"}'\n",
		 "{\"ok\":true,\"text\":\"x\"}"},
	};

	need_root();
	write_file(P.script, "");
	start_desk(*state, P.script);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		write_file(P.script, rows[i].script);
		assert_non_null(strstr(ask_as(ANNA, ANNA, RQ("report", ALL)), rows[i].has));
	}
}

static unsigned lines_of(const char *name)
{
	char path[100];
	unsigned n = 0;
	FILE *f;

	path_of(path, sizeof(path), name);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	for (int c; (c = fgetc(f)) != EOF;)
		n += c == '\n';
	(void)fclose(f);
	return n;
}

static void wait_for_lines(const char *name, unsigned n)
{
	int64_t until = clock_boot_ms() + PATIENCE_MS;

	while (lines_of(name) < n && clock_boot_ms() < until)
		(void)usleep(2000);
	assert_int_equal(lines_of(name), n);
}

/* Of one user one at a time, two in all; and who has asked for a lot does not go before who has
 * asked once. */
static void nobody_keeps_others_waiting(void **state)
{
	enum { MANY = 6 };
	int fd[MANY], bobs, carls;
	pid_t pid[MANY], bob, carl;
	char script[600];

	need_root();
	(void)snprintf(
		script, sizeof(script),
		"#!/bin/sh\nread -r q || true\ncase $q in *anna*) echo a >>%s/begun ;; *) echo "
		"b >>%s/begun ;; esac\nuntil [ -e %s/go ]; do sleep 0.01; done\necho "
		"'{\"ok\":true}'\nprintf '%%s\\n' \"$q\" >>%s/order\n",
		P.dir, P.dir, P.dir, P.dir);
	write_file(P.script, script);
	start_desk(*state, P.script);
	for (int i = 0; i < MANY; i++)
		pid[i] = ask_later(ANNA, ANNA, RQ("report", ",\"by\":\"anna\""), &fd[i]);
	wait_for_lines("begun", 1);
	(void)usleep(100000);
	assert_int_equal(lines_of("begun"), 1); /* though there is room for two */
	bob = ask_later(BOB, BOB, RQ("report", ",\"by\":\"bob\""), &bobs);
	wait_for_lines("begun", 2);
	carl = ask_later(CARL, CARL, RQ("report", ",\"by\":\"carl\""), &carls);
	(void)usleep(100000);
	assert_int_equal(lines_of("begun"), 2); /* two at a time */
	{
		char path[100];

		path_of(path, sizeof(path), "go");
		write_file(path, "");
	}
	assert_string_equal(hear(carl, carls), "{\"ok\":true}\n");
	/* carl came last, and is among the first four, for the others are anna's. */
	assert_in_range(lines_of("order"), 1, 4);
	assert_string_equal(hear(bob, bobs), "{\"ok\":true}\n");
	for (int i = 0; i < MANY; i++)
		assert_string_equal(hear(pid[i], fd[i]), "{\"ok\":true}\n");
}

static void too_many_of_one_user_are_refused(void **state)
{
	int fd[DESK_EACH_MAX + 1];
	pid_t pid[DESK_EACH_MAX + 1];
	unsigned refused = 0;

	need_root();
	write_file(P.script, "#!/bin/sh\nsleep 0.2\necho '{\"ok\":true}'\n");
	start_desk(*state, P.script);
	(void)ask_as(ANNA, ANNA, RQ("report", ALL)); /* the name is known */
	for (int i = 0; i <= DESK_EACH_MAX; i++)
		pid[i] = ask_later(ANNA, ANNA, RQ("report", ALL), &fd[i]);
	for (int i = 0; i <= DESK_EACH_MAX; i++)
		refused += strstr(hear(pid[i], fd[i]), "too much at a time") != NULL;
	assert_int_equal(refused, 1);
}

/* A client that hangs up, and a name that cannot be found in time: the desk goes on. */
static void who_goes_away_is_forgotten(void **state)
{
	int fd, other;
	pid_t pid, slow;

	need_root();
	write_file(P.script, "#!/bin/sh\nsleep 0.3\necho '{\"ok\":true}'\n");
	start_desk(*state, P.script);
	slow = ask_later(SLOW, SLOW, RQ("report", ALL), &other);
	pid = ask_later(ANNA, ANNA, RQ("report", ALL), &fd);
	(void)usleep(100000);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(kill(slow, SIGKILL), 0);
	(void)waitpid(pid, NULL, 0);
	(void)waitpid(slow, NULL, 0);
	(void)close(fd);
	(void)close(other);
	assert_string_equal(ask_as(ANNA, ANNA, RQ("report", ALL)), "{\"ok\":true}\n");
	/* It ends while one waits for a name: nobody waits for that. */
	slow = ask_later(SLOW, SLOW, RQ("report", ALL), &other);
	(void)usleep(50000);
	assert_int_equal(kill(slow, SIGKILL), 0);
	(void)waitpid(slow, NULL, 0);
	(void)close(other);
}

/* burstd.conf says who sees all, and is read again when it changes; with an error it is not. */
static void a_new_list_of_groups_counts_soon(void **state)
{
	static const char good[] =
		"cluster = lab\ncurrency = EUR\nfinance_groups = {\"62001\"}\n"
		"provider sim {\ndriver = sim\nurl = \"http://127.0.0.1:1\"\n"
		"credential_file = \"/etc/x\"\n}\npool p {\nnodes = \"n[1-2]\"\n"
		"provider = sim\ntype = t\nregion = r\nmax_nodes = 2\nmax_rate = \"1\"\n}\n";
	const char *const question = RQ("report", ALL ",\"by\":\"user\"");
	int64_t until = clock_boot_ms() + PATIENCE_MS;
	char text[600], *group;

	need_root();
	start_desk(*state, NULL);
	assert_non_null(strstr(ask_as(ANNA, FINANCE, question), "bob"));
	(void)snprintf(text, sizeof(text), "%s", good);
	group = strstr(text, "62001");
	memcpy(group, "62009", 5);
	write_file(P.conf, text);
	assert_int_equal(chmod(P.conf, 0644), 0);
	while (strstr(ask_as(ANNA, FINANCE, question), "bob") != NULL && clock_boot_ms() < until)
		(void)usleep(20000);
	assert_null(strstr(ask_as(ANNA, FINANCE, question), "bob"));
	assert_non_null(strstr(ask_as(ANNA, 62009, question), "bob"));
	write_file(P.conf, "cluster = \n");
	(void)usleep(200000);
	assert_non_null(strstr(ask_as(ANNA, 62009, question), "bob"));
}

#define DESK(t) cmocka_unit_test_setup_teardown(t, setup_desk, teardown_desk)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		DESK(each_sees_their_own),
		DESK(bad_questions_are_refused),
		DESK(a_user_is_not_told_of_the_ledgers_troubles),
		DESK(an_unpriced_machine_is_told_to_who_sees_all),
		DESK(what_takes_too_long_is_ended),
		DESK(a_process_that_fails_is_no_answer),
		DESK(nobody_keeps_others_waiting),
		DESK(too_many_of_one_user_are_refused),
		DESK(who_goes_away_is_forgotten),
		DESK(a_new_list_of_groups_counts_soon),
	};

	if (argc > 1 && strcmp(argv[1], "answer") == 0) {
		const struct settings s = {.ledger = argv[3]};

		return command_answer(&s);
	}
	return cmocka_run_group_tests_name("ledger, desk", tests, NULL, NULL);
}
