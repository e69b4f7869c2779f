/* test_desk.c - questions to the ledger on its socket: who is answered what. */
#include <poll.h>

#include "desk_lab.h"

static const struct {
	uid_t uid;
	gid_t group;
	const char *request;
	const char *has[3], *lacks[3];
} views[] = {
	/* who asks what, what the answer has, and what it lacks */
	{ANNA,
	 ANNA,
	 RQ("report", ALL ",\"by\":\"user,class\",\"form\":\"json\""),
	 {"\"user\":\"anna\"", "\"class\":\"run\""},
	 {"bob", "idle"}},
	{BOB,
	 BOB,
	 RQ("report", ALL ",\"by\":\"account,node\",\"form\":\"csv\""),
	 {"biology,c0,EUR", "biology,c1,EUR"},
	 {"physics", "c2", "GPU-hours"}},
	{CARL, CARL, RQ("report", ALL ",\"form\":\"json\""), {"\"rows\":[]"}, {"cost"}},
	{ANNA, ANNA, RQ("report", ALL ",\"by\":\"user\",\"user\":\"anna\""), {"anna"}, {"bob"}},
	{ANNA,
	 ANNA,
	 RQ("report", ALL ",\"by\":\"user\",\"user\":\"bob\""),
	 {"\"code\":\"denied\"", "only admins and finance", "uid 61001, user"},
	 {"bob"}},
	{ANNA, ANNA, RQ("report", ALL ",\"by\":\"user\",\"whose\":\"bob\""), {"anna"}, {"bob"}},
	{ANNA, ANNA, RQ("report", ALL ",\"by\":\"user\",\"mine\":false"), {"anna"}, {"bob"}},
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
	{ANNA, FINANCE, RQ("report", ALL ",\"by\":\"user\",\"user\":\"bob\""), {"bob"}, {"anna"}},
	{ANNA,
	 FINANCE,
	 RQ("report", ALL ",\"by\":\"user\",\"whose\":\"bob\""),
	 {"anna", "bob"},
	 {NULL}},
	{ANNA, FINANCE, RQ("report", ALL ",\"by\":\"user\",\"mine\":true"), {"anna"}, {"bob"}},
	{ANNA, OPERATORS, RQ("report", ALL ",\"by\":\"user,class\""), {"anna"}, {"bob", "idle"}},
	/* Jobs. */
	{ANNA,
	 ANNA,
	 RQ("job", ",\"job\":\"1\",\"explain\":true"),
	 {"user anna", "share "},
	 {"bob"}},
	{ANNA, ANNA, RQ("job", ",\"job\":\"1\""), {"job 1: "}, {"share "}},
	{ANNA,
	 ANNA,
	 RQ("job", ",\"job\":\"1\",\"form\":\"json\",\"explain\":true"),
	 {"\"job\":\"1\",\"attempts\":[{\"attempt\":1,",
	  "\"pieces\":[{\"from_ms\":", "\"totals\":[{\"currency\":\"EUR\","},
	 {"\"text\""}},
	{ANNA,
	 ANNA,
	 RQ("job", ",\"job\":\"2\",\"form\":\"json\""),
	 {"\"code\":\"not-found\""},
	 {"attempts"}},
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

static void each_sees_their_own(void **state)
{
	need_root();
	start_desk(*state, NULL);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		const char *answer = ask_as(views[i].uid, views[i].group, views[i].request);

		for (size_t k = 0; k < 3 && views[i].has[k] != NULL; k++)
			assert_non_null(strstr(answer, views[i].has[k]));
		for (size_t k = 0; k < 3 && views[i].lacks[k] != NULL; k++)
			assert_null(strstr(answer, views[i].lacks[k]));
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

/* Written anew, 0.1 has 19 digits: what fits when it is sent may be too long for a worker. */
static void numbers_that_grow_open_nothing(void **state)
{
	static const struct {
		const char *key, *has;
	} rows[] = {
		{"x", "\"user\":\"anna\""}, /* is not passed on */
		{"by", "\"code\":\"invalid\",\"error\":\"the request is too long\""},
		{"mine", "\"code\":\"invalid\",\"error\":\"the request is too long\""},
	};
	char request[2100];

	need_root();
	start_desk(*state, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int n = snprintf(request, sizeof(request),
				 "{\"v\":1,\"op\":\"report\"" ALL ",\"%s\":[0.1", rows[i].key);
		const char *answer;

		while (n < 2000)
			n += snprintf(request + n, sizeof(request) - (size_t)n, ",0.1");
		(void)snprintf(request + n, sizeof(request) - (size_t)n, "]}");
		answer = ask_as(ANNA, ANNA, request);
		assert_non_null(strstr(answer, rows[i].has));
		assert_null(strstr(answer, "biology"));
	}
	/* Nothing is left that waits. */
	assert_non_null(strstr(ask_as(ANNA, ANNA, RQ("report", ALL)), "\"ok\":true"));
}

/* What a worker says that is given this. */
static const char *answer_to(const struct fixture *f, const char *question)
{
	char self[200], input[80], cmd[500];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t len;
	FILE *p;

	assert_true(n > 0);
	self[n] = '\0';
	path_of(input, sizeof(input), "question");
	write_file(input, question);
	(void)snprintf(cmd, sizeof(cmd), "%s answer --ledger %s <%s", self, f->ledger, input);
	p = popen(cmd, "re"); /* NOLINT(cert-env33-c) */
	assert_non_null(p);
	len = fread(P.answer, 1, sizeof(P.answer) - 1, p);
	P.answer[len] = '\0';
	assert_int_equal(pclose(p), 0);
	print_message("# %.300s\n", P.answer);
	return P.answer;
}

/* Whatever the desk does: nobody's costs are shown unless it says whose. */
static void a_worker_must_be_told_whose(void **state)
{
	static const struct {
		const char *question, *has;
	} rows[] = {
		{"", "the question cannot be read"},
		{"x", "the question cannot be read"},
		{"null", "the question cannot be read"},
		{"[]", "the question cannot be read"},
		{"[\"whose\",true]", "the question cannot be read"},
		{"{}", "\\\"whose\\\": want a text, or true"},
		{"{\"by\":\"user\"" ALL "}", "\\\"whose\\\": want"},
		{"{\"job\":\"2\"}", "\\\"whose\\\": want"},
		{"{\"whose\":null" ALL "}", "\\\"whose\\\": want"},
		{"{\"whose\":false" ALL "}", "\\\"whose\\\": want"},
		{"{\"whose\":\"\"" ALL "}", "\\\"whose\\\": want"},
		{"{\"whose\":1" ALL "}", "\\\"whose\\\": want"},
		{"{\"whose\":[true]" ALL "}", "\\\"whose\\\": want"},
	};
	const struct fixture *f = *state;
	char *longest = mem_zalloc(DESK_QUESTION_MAX + 100);
	const char *answer;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		answer = answer_to(f, rows[i].question);
		assert_ptr_equal(strstr(answer, "{\"ok\":false,\"code\":\""), answer);
		assert_non_null(strstr(answer, rows[i].has));
	}
	(void)snprintf(longest, DESK_QUESTION_MAX + 100, "{\"whose\":\"anna\"" ALL "%*s}",
		       DESK_QUESTION_MAX, "");
	assert_non_null(strstr(answer_to(f, longest), "the question cannot be read"));
	free(longest);

	answer = answer_to(f, "{\"whose\":\"anna\",\"by\":\"user\"" ALL "}");
	assert_non_null(strstr(answer, "anna"));
	assert_null(strstr(answer, "bob"));
	answer = answer_to(f, "{\"whose\":true,\"by\":\"user\"" ALL "}");
	assert_non_null(strstr(answer, "anna"));
	assert_non_null(strstr(answer, "bob"));

	/* Nor is it told what is wrong with the ledger. */
	assert_int_equal(unlink(f->ledger), 0);
	assert_null(strstr(answer_to(f, ""), "ledger.db"));
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

/* From wherever the service was started: those who answer are elsewhere. */
static void a_path_may_be_relative(void **state)
{
	struct fixture here = *(struct fixture *)*state;
	char was[200];

	need_root();
	assert_non_null(getcwd(was, sizeof(was)));
	assert_int_equal(chdir(here.dir), 0);
	(void)snprintf(here.ledger, sizeof(here.ledger), "ledger.db");
	start_desk(&here, NULL);
	assert_int_equal(chdir(was), 0);
	assert_non_null(strstr(ask_as(ANNA, ANNA, RQ("report", ALL)), "\"ok\":true"));
}

/* It is refused as a whole, in every form, and nothing is half of one. */
static void an_answer_that_is_too_long_is_refused(void **state)
{
	static const char *const forms[] = {"table", "csv", "json"};
	const struct fixture *f = *state;

	need_root();
	exec(f->ledger,
	     "CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
	     "n "
	     "WHERE i < 40000) SELECT 1000 + i AS i FROM n;"
	     "INSERT INTO posting SELECT NULL, 0, 1, %d, 32, 1, i, 1, 2, 0, 0, 0, 1, 1, 8, -1, 0 "
	     "FROM "
	     "n;"
	     "INSERT INTO attempt SELECT i, i, 1, 2, 0, 0, i, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, "
	     "1, 0 "
	     "FROM n",
	     (int)(T0 / 86400));
	start_desk(f, NULL);
	for (size_t i = 0; i < 3; i++) {
		char request[200];

		(void)snprintf(request, sizeof(request),
			       RQ("report", ALL ",\"by\":\"job\",\"form\":\"%s\""), forms[i]);
		assert_string_equal(
			ask_as(NOBODY, FINANCE, request),
			"{\"ok\":false,\"code\":\"failed\",\"error\":\"the answer is longer than "
			"1024000 bytes: ask for fewer days, or by less\"}");
	}
	assert_non_null(strstr(ask_as(NOBODY, FINANCE, RQ("report", ALL)), "\"ok\":true"));
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

/* A file that could not be used is tried again, though it is the same: here, what it names comes
 * later. */
static void a_list_counts_when_it_can_be_read(void **state)
{
	static const char base[] =
		"cluster = lab\ncurrency = EUR\nfinance_groups = {\"62009\"}\n"
		"prices_file = \"%s\"\n"
		"provider sim {\ndriver = sim\nurl = \"http://127.0.0.1:1\"\n"
		"credential_file = \"/etc/x\"\n}\npool p {\nnodes = \"n[1-2]\"\n"
		"provider = sim\ntype = t\nregion = r\nmax_nodes = 2\nmax_rate = \"1\"\n}\n";
	const char *const question = RQ("report", ALL ",\"by\":\"user\"");
	char text[700], prices[80];
	int64_t until;

	need_root();
	path_of(prices, sizeof(prices), "prices.conf");
	start_desk(*state, NULL);
	(void)snprintf(text, sizeof(text), base, prices);
	write_file(P.conf, text);
	assert_int_equal(chmod(P.conf, 0644), 0);
	(void)usleep(500000); /* ten looks */
	assert_non_null(strstr(ask_as(ANNA, FINANCE, question), "bob"));
	write_file(prices, "");
	assert_int_equal(chmod(prices, 0644), 0);
	until = clock_boot_ms() + PATIENCE_MS;
	while (strstr(ask_as(ANNA, FINANCE, question), "bob") != NULL && clock_boot_ms() < until)
		(void)usleep(20000);
	assert_null(strstr(ask_as(ANNA, FINANCE, question), "bob"));
	assert_non_null(strstr(ask_as(ANNA, 62009, question), "bob"));
}

/* A unit that is started is one that burstctl can ask: who started the desk is told when. */
static void a_desk_says_when_it_can_be_asked(void **state)
{
	const int was = dup(STDOUT_FILENO);
	char word[16] = "";
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	(void)fflush(stdout);
	assert_true(was >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0);
	start_desk(*state, NULL);
	assert_true(dup2(was, STDOUT_FILENO) >= 0);
	(void)close(was);
	(void)close(ends[1]);
	assert_int_equal(poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, PATIENCE_MS),
			 1);
	assert_int_equal(read(ends[0], word, sizeof(word) - 1), 6);
	assert_string_equal(word, "ready\n");
	(void)close(ends[0]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		DESK(each_sees_their_own),
		DESK(bad_questions_are_refused),
		DESK(numbers_that_grow_open_nothing),
		DESK(a_worker_must_be_told_whose),
		DESK(a_user_is_not_told_of_the_ledgers_troubles),
		DESK(a_path_may_be_relative),
		DESK(an_answer_that_is_too_long_is_refused),
		DESK(an_unpriced_machine_is_told_to_who_sees_all),
		DESK(a_new_list_of_groups_counts_soon),
		DESK(a_list_counts_when_it_can_be_read),
		DESK(a_desk_says_when_it_can_be_asked),
	};
	int rc;

	if (is_answer(argc, argv, &rc))
		return rc;
	return cmocka_run_group_tests_name("ledger, desk", tests, NULL, NULL);
}
