/* test_desk_crowd.c - questions to the ledger that take long, fail, or are too many: nobody else
 * waits for them. */
#include "desk_lab.h"

static void what_takes_too_long_is_ended(void **state)
{
	int64_t began;

	need_root();
	write_file(P.script, "#!/bin/sh\nexec sleep 30\n");
	P.work_ms = 1500;
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
	assert_int_equal(unlink(P.script), 0); /* none can be started */
	assert_non_null(strstr(ask_as(ANNA, ANNA, RQ("report", ALL)),
			       "no answer could be made: the ledger"));
	assert_non_null(
		strstr(ask_as(BOB, BOB, RQ("report", ALL)), "no answer could be made: the ledger"));
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

/* In which line the word is; 0: in none. */
static unsigned line_of(const char *name, const char *word)
{
	char path[100], line[300];
	unsigned n = 0;
	bool found = false;
	FILE *f;

	path_of(path, sizeof(path), name);
	f = fopen(path, "re");
	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f) != NULL) {
		n++;
		found = strstr(line, word) != NULL;
	}
	(void)fclose(f);
	return found ? n : 0;
}

static void wait_for_lines(const char *name, unsigned n)
{
	int64_t until = clock_boot_ms() + PATIENCE_MS;

	while (lines_of(name) < n && clock_boot_ms() < until)
		(void)usleep(2000);
	assert_int_equal(lines_of(name), n);
}

enum { LATER_US = 500000 }; /* until a question that was asked is surely there */

/* Processes that say in "begun" that they began, and end when they are let go: by "go", or by "end"
 * the one whose question has "last".  The names of all who ask are known: to look one up takes a
 * while. */
static void start_with_names(const struct fixture *f)
{
	static const uid_t all[] = {ANNA, BOB, CARL, DORA, EMIL};
	char script[600];

	write_file(P.script, "#!/bin/sh\necho '{\"ok\":true}'\n");
	start_desk(f, P.script);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_string_equal(ask_as(all[i], all[i], RQ("report", "")), "{\"ok\":true}\n");
	(void)snprintf(script, sizeof(script),
		       "#!/bin/sh\nread -r q || true\nprintf '%%s\\n' \"$q\" >>%s/begun\n"
		       "case $q in *'\"last\"'*) f=end ;; *) f=go ;; esac\n"
		       "until [ -e %s/$f ]; do sleep 0.01; done\necho '{\"ok\":true}'\n",
		       P.dir, P.dir);
	write_file(P.script, script);
}

static void let_go(const char *which)
{
	char path[100];

	path_of(path, sizeof(path), which);
	write_file(path, "");
}

/* Of one user one at a time, two in all; and who has asked for a lot does not go before who has
 * asked once. */
static void nobody_keeps_others_waiting(void **state)
{
	enum { MANY = 6 };
	int fd[MANY], bobs, carls;
	pid_t pid[MANY], bob, carl;

	need_root();
	start_with_names(*state);
	for (int i = 0; i < MANY; i++)
		pid[i] = ask_later(ANNA, ANNA, RQ("report", ",\"by\":\"anna\""), &fd[i]);
	wait_for_lines("begun", 1);
	(void)usleep(LATER_US);
	assert_int_equal(lines_of("begun"), 1); /* though there is room for two */
	bob = ask_later(BOB, BOB, RQ("report", ",\"by\":\"bob\""), &bobs);
	wait_for_lines("begun", 2);
	carl = ask_later(CARL, CARL, RQ("report", ",\"by\":\"carl\""), &carls);
	(void)usleep(LATER_US);
	assert_int_equal(lines_of("begun"), 2); /* two at a time */
	let_go("go");
	assert_string_equal(hear(carl, carls), "{\"ok\":true}\n");
	assert_string_equal(hear(bob, bobs), "{\"ok\":true}\n");
	for (int i = 0; i < MANY; i++)
		assert_string_equal(hear(pid[i], fd[i]), "{\"ok\":true}\n");
	/* carl came last of eight, and was begun among the first six: the others are anna's. */
	assert_in_range(line_of("begun", "\"by\":\"carl"), 1, 6);
}

/* Two are answered, of which one to the end, and four wait: who came first goes first, but a second
 * question of one user waits until each has had one. */
static void who_asked_least_lately_is_next(void **state)
{
	static const struct {
		uid_t uid;
		const char *request;
	} asked[] = {
		{DORA, RQ("report", ",\"by\":\"last\"")}, {EMIL, RQ("report", ",\"by\":\"e\"")},
		{ANNA, RQ("report", ",\"by\":\"a\"")},    {BOB, RQ("report", ",\"by\":\"b1\"")},
		{BOB, RQ("report", ",\"by\":\"b2\"")},    {CARL, RQ("report", ",\"by\":\"c\"")}};
	enum { N = sizeof(asked) / sizeof(asked[0]) };
	int fd[N];
	pid_t pid[N];
	unsigned at[N];
	const char *const words[] = {"\"last\"", "\"e\"", "\"a\"", "\"b1\"", "\"b2\"", "\"c\""};

	need_root();
	start_with_names(*state);
	for (int i = 0; i < N; i++) {
		pid[i] = ask_later(asked[i].uid, asked[i].uid, asked[i].request, &fd[i]);
		if (i < 2)
			wait_for_lines("begun", (unsigned)i + 1);
		else
			(void)usleep(LATER_US);
	}
	let_go("go");
	for (int i = 1; i < N; i++)
		(void)hear(pid[i], fd[i]);
	let_go("end");
	(void)hear(pid[0], fd[0]);
	for (int i = 0; i < N; i++) {
		at[i] = line_of("begun", words[i]);
		assert_in_range(at[i], 1, N);
	}
	assert_true(at[2] < at[5]); /* anna before carl */
	assert_true(at[3] < at[5]); /* bob's first before carl */
	assert_true(at[5] < at[4]); /* carl before bob's second */
}

static void too_many_of_one_user_are_refused(void **state)
{
	int fd[DESK_EACH_MAX + 1];
	pid_t pid[DESK_EACH_MAX + 1];
	unsigned refused = 0;

	need_root();
	start_with_names(*state);
	for (int i = 0; i <= DESK_EACH_MAX; i++)
		pid[i] = ask_later(ANNA, ANNA, RQ("report", ALL), &fd[i]);
	(void)usleep(2 * LATER_US);
	let_go("go");
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		DESK(what_takes_too_long_is_ended),     DESK(a_process_that_fails_is_no_answer),
		DESK(nobody_keeps_others_waiting),      DESK(who_asked_least_lately_is_next),
		DESK(too_many_of_one_user_are_refused), DESK(who_goes_away_is_forgotten),
	};
	int rc;

	if (is_answer(argc, argv, &rc))
		return rc;
	return cmocka_run_group_tests_name("ledger, a crowd at the desk", tests, NULL, NULL);
}
