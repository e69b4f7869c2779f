/* test_ctl_role.c - which role a caller has: real processes, of other users and in other groups,
 * connect to the socket.  Without root, who can become somebody else, most is skipped. */
#include "ctl_clients.h"

#include <grp.h>
#include <sys/wait.h>

#include "base/str.h"

enum { MANY = 1000 };

struct somebody {
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t n;
};

/* In a process of its own, which becomes that user: ask once, and read the answer. */
static void be_client(const struct somebody *who)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	unsigned char head[FRAME_HEADER];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	if (setgroups(who->n, who->groups) != 0 || setresgid(who->gid, who->gid, who->gid) != 0 ||
	    setresuid(who->uid, who->uid, who->uid) != 0)
		_exit(2);
	memcpy(sa.sun_path, F.path, strlen(F.path));
	frame_header(head, (uint32_t)strlen(ASK));
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) != 0 ||
	    send(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    send(fd, ASK, strlen(ASK), 0) != (ssize_t)strlen(ASK) || recv(fd, &byte, 1, 0) != 1)
		_exit(3);
	_exit(0);
}

/* The roles that the server gave it. */
static unsigned roles_of(const struct somebody *who)
{
	const unsigned before = F.requests;
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		be_client(who);
	while (waitpid(pid, &status, WNOHANG) == 0)
		turn();
	turn();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(F.requests, before + 1);
	assert_int_equal(F.who.uid, who->uid);
	assert_int_equal(F.who.gid, who->gid);
	assert_int_equal(F.who.pid, pid);
	return F.who.roles;
}

static void a_role_comes_of_the_user_and_of_each_group(void **state)
{
	static const gid_t operators[] = {7, OPERATORS}, finance[] = {FINANCE, 9},
			   both[] = {FINANCE, OPERATORS}, bosses[] = {8, BOSSES},
			   none[] = {NOBODYS};
	static const struct {
		struct somebody who;
		unsigned roles;
	} rows[] = {
		{{VIEWER, VIEWER, NULL, 0}, CTL_VIEWER},
		{{VIEWER, NOBODYS, none, 1}, CTL_VIEWER},
		{{VIEWER, VIEWER, operators, 2}, CTL_OPERATOR},
		{{VIEWER, VIEWER, finance, 2}, CTL_FINANCE},
		{{VIEWER, VIEWER, both, 2}, CTL_FINANCE | CTL_OPERATOR},
		{{VIEWER, VIEWER, bosses, 2}, CTL_ADMIN},
		{{VIEWER, 2, NULL, 0}, CTL_ADMIN},            /* the first of the groups */
		{{VIEWER, OPERATORS, NULL, 0}, CTL_OPERATOR}, /* as after newgrp, or sg */
		{{VIEWER, OPERATORS, finance, 2}, CTL_FINANCE | CTL_OPERATOR},
		{{ADMIN, ADMIN, NULL, 0}, CTL_ADMIN},
		{{ADMIN, FINANCE, NULL, 0}, CTL_ADMIN | CTL_FINANCE},
		{{1, 1, NULL, 0}, CTL_ADMIN},
		{{0, 0, NULL, 0}, CTL_OWN},
		{{0, 0, operators, 2}, CTL_OWN | CTL_OPERATOR},
		/* The number of a group is no user's. */
		{{OPERATORS, VIEWER, NULL, 0}, CTL_VIEWER},
		{{VIEWER, ADMIN, NULL, 0}, CTL_VIEWER},
	};

	(void)state;
	need_root();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# row %zu\n", i);
		assert_int_equal(roles_of(&rows[i].who), rows[i].roles);
	}
}

/* More groups than fit at first (SO_PEERGROUPS: ERANGE), the one that counts first or last. */
static void many_groups_are_all_looked_at(void **state)
{
	static const size_t counts[] = {31, 32, 33, 34, 100, MANY};
	gid_t groups[MANY];

	(void)state;
	need_root();
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (int first = 0; first < 2; first++) {
			const size_t n = counts[i];
			const struct somebody who = {VIEWER, VIEWER, groups, n};

			/* The kernel sorts them. */
			for (size_t k = 0; k < n; k++)
				groups[k] = (gid_t)(first ? 100000 + k : 10000 + k);
			assert_int_equal(roles_of(&who), CTL_VIEWER);
			groups[first ? 0 : n - 1] = FINANCE;
			assert_int_equal(roles_of(&who), CTL_FINANCE);
		}
}

/* Who left a group, or is named no longer, has the role no longer. */
static void a_new_list_is_in_force_at_once(void **state)
{
	static const gid_t operators[] = {OPERATORS};
	uint32_t others[] = {NOBODYS}, admins[] = {VIEWER};
	const struct conf_people people = {.admins = {admins, 1}, .operator_groups = {others, 1}};
	const struct somebody one = {VIEWER + 5, VIEWER + 5, operators, 1},
			      left = {VIEWER + 5, VIEWER + 5, NULL, 0},
			      boss = {ADMIN, ADMIN, NULL, 0}, next = {VIEWER, NOBODYS, NULL, 0};

	(void)state;
	need_root();
	assert_int_equal(roles_of(&one), CTL_OPERATOR);
	assert_int_equal(roles_of(&left), CTL_VIEWER);
	assert_int_equal(roles_of(&boss), CTL_ADMIN);
	ctl_server_know(F.s, &people);
	others[0] = OPERATORS; /* it was copied */
	assert_int_equal(roles_of(&one), CTL_VIEWER);
	assert_int_equal(roles_of(&boss), CTL_VIEWER);
	assert_int_equal(roles_of(&next), CTL_ADMIN | CTL_OPERATOR);
}

/* What somebody was when connecting counts, not what they are when asking. */
static void roles_are_those_of_the_connect(void **state)
{
	static const gid_t operators[] = {OPERATORS};
	gid_t mine[64];
	int n = getgroups(64, mine), fd;

	(void)state;
	need_root();
	assert_true(n >= 0);
	assert_int_equal(setgroups(1, operators), 0);
	fd = dial(VIEWER);
	assert_int_equal(setgroups((size_t)n, mine), 0);
	assert_int_equal(say(fd, ASK), 0);
	assert_string_equal(hear(fd), "{\"ok\":true}");
	assert_int_equal(F.who.roles, CTL_OPERATOR);
}

/* Finance has no orders to give, so it has the slots of those who look. */
static void slots_are_for_those_who_act(void **state)
{
	static const gid_t operators[] = {OPERATORS}, finance[] = {FINANCE};
	int fd[CTL_VIEWER_SLOTS], one;
	gid_t mine[64];
	int n = getgroups(64, mine);

	(void)state;
	need_root();
	for (int i = 0; i < CTL_VIEWER_SLOTS; i++)
		fd[i] = dial(VIEWER + 10 + (uid_t)i);
	assert_int_equal(setgroups(1, finance), 0);
	one = dial(VIEWER + 100);
	assert_false(is_open(one));
	(void)close(one);
	assert_int_equal(setgroups(1, operators), 0);
	one = dial(VIEWER + 100);
	assert_true(is_open(one));
	(void)close(one);
	assert_int_equal(setgroups((size_t)n, mine), 0);
	drop(fd, CTL_VIEWER_SLOTS);
}

static void test_words(void **state)
{
	static const struct {
		unsigned roles;
		const char *one, *all;
	} rows[] = {
		{CTL_VIEWER, "user", "admins"},
		{CTL_FINANCE, "finance", "admins and finance"},
		{CTL_OPERATOR, "operator", "admins and operators"},
		{CTL_OPERATOR | CTL_FINANCE, "operator,finance", "admins, operators and finance"},
		{CTL_ADMIN, "admin", "admins"},
		{CTL_ADMIN | CTL_FINANCE, "admin,finance", "admins and finance"},
		{CTL_OWN, "admin", "root and burstd's own user"},
	};
	char one[CTL_ROLES_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str all;

		str_init(&all, 128);
		assert_string_equal(ctl_roles_str(one, rows[i].roles), rows[i].one);
		ctl_roles_name(&all, rows[i].roles);
		assert_string_equal(all.p, rows[i].all);
		str_fini(&all);
	}
	assert_string_equal(ctl_roles_str(one, 7), "admin,operator,finance");
}

static void test_who_is_what(void **state)
{
	static const struct {
		unsigned has, wanted;
		bool is;
	} rows[] = {
		{CTL_VIEWER, CTL_OPERATOR, false},
		{CTL_VIEWER, CTL_ADMIN, false},
		{CTL_FINANCE, CTL_OPERATOR, false},
		{CTL_FINANCE, CTL_FINANCE, true},
		{CTL_FINANCE, CTL_FINANCE | CTL_OPERATOR, true},
		{CTL_OPERATOR, CTL_FINANCE, false},
		{CTL_OPERATOR, CTL_ADMIN, false},
		{CTL_OPERATOR | CTL_FINANCE, CTL_ADMIN, false},
		{CTL_ADMIN, CTL_FINANCE, true},
		{CTL_ADMIN, CTL_OPERATOR, true},
		{CTL_ADMIN, CTL_OWN, false},
		{CTL_OWN, CTL_ADMIN, true},
		{CTL_OWN, CTL_FINANCE, true},
		{CTL_OWN, CTL_OWN, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ctl_caller who = {.roles = rows[i].has};

		assert_int_equal(ctl_is(&who, rows[i].wanted), rows[i].is);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CTL_TEST_DEFAULT(a_role_comes_of_the_user_and_of_each_group),
		CTL_TEST_DEFAULT(many_groups_are_all_looked_at),
		CTL_TEST_DEFAULT(a_new_list_is_in_force_at_once),
		CTL_TEST_DEFAULT(roles_are_those_of_the_connect),
		CTL_TEST_DEFAULT(slots_are_for_those_who_act),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_who_is_what),
	};

	return cmocka_run_group_tests(tests, first_loop, NULL);
}
