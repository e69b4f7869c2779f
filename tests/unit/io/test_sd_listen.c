/* test_sd_listen.c - sockets that systemd hands over: whose they are, what they are, and who
 * inherits them.  Each case is a process of its own, for the descriptors begin with 3. */
#include "io/sd_listen.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { HIGH = 30 };

static char dir[] = "/tmp/sdXXXXXX", path[64], gone[64];

/* Both listen; the number of the descriptor. */
static int unix_socket(const char *at)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), high;

	memcpy(sa.sun_path, at, strlen(at));
	(void)unlink(at);
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) != 0 || listen(fd, 1) != 0)
		return -1;
	high = fcntl(fd, F_DUPFD, HIGH);
	(void)close(fd);
	return high;
}

static int tcp_socket(int family, uint16_t *port)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr *sa = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
	socklen_t len = family == AF_INET ? sizeof(v4) : sizeof(v6);
	int fd = socket(family, SOCK_STREAM, 0), high;

	if (bind(fd, sa, len) != 0 || listen(fd, 1) != 0 || getsockname(fd, sa, &len) != 0)
		return -1;
	*port = ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port);
	high = fcntl(fd, F_DUPFD, HIGH);
	(void)close(fd);
	return high;
}

static void hand_over(const int *fds, int n, const char *listen_names, long pid)
{
	char text[24];

	for (int i = 0; i < n; i++)
		(void)dup2(fds[i], 3 + i);
	(void)snprintf(text, sizeof(text), "%d", n);
	(void)setenv("LISTEN_FDS", text, 1);
	(void)snprintf(text, sizeof(text), "%ld", pid);
	(void)setenv("LISTEN_PID", text, 1);
	if (listen_names != NULL)
		(void)setenv("LISTEN_FDNAMES", listen_names, 1);
}

static bool has_no_words(void)
{
	return getenv("LISTEN_FDS") == NULL && getenv("LISTEN_PID") == NULL &&
	       getenv("LISTEN_FDNAMES") == NULL;
}

#define WANT(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			_exit(__LINE__ % 200 + 10);                                                \
	} while (0)

/* Run in a child; its status is 0, or the line that was not so (modulo 200, plus 10). */
static void in_child(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void all_three(void)
{
	uint16_t v4, v6;
	const int fds[] = {tcp_socket(AF_INET6, &v6), unix_socket(path), tcp_socket(AF_INET, &v4)};
	struct sd_listen l;
	struct err e;

	WANT(fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0);
	hand_over(fds, 3, "nodes:ctl:metrics", (long)getpid());
	WANT(sd_listen_init(&l, &e) == 0);
	WANT(has_no_words());
	for (int fd = 3; fd < 6; fd++)
		WANT((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0 &&
		     (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
	WANT(sd_listen_take_path(&l, SD_CTL, path) == 4);
	WANT(sd_listen_take_path(&l, SD_CTL, path) == 0); /* once */
	WANT(sd_listen_take_address(&l, SD_METRICS, "127.0.0.1", v4) == 5);
	WANT(sd_listen_take_address(&l, SD_NODES, "::1", v6) == 3);
	sd_listen_fini(&l);
	WANT(fcntl(3, F_GETFD) >= 0); /* they are the caller's */
}

/* Of another place each is closed; of what nobody takes there is no more at the end. */
static void other_places(void)
{
	uint16_t v4, v6;
	const int fds[] = {tcp_socket(AF_INET6, &v6), unix_socket(path), tcp_socket(AF_INET, &v4)};
	struct sd_listen l;
	struct err e;

	hand_over(fds, 3, "nodes:ctl:metrics", (long)getpid());
	WANT(sd_listen_init(&l, &e) == 0);
	WANT(sd_listen_take_address(&l, SD_METRICS, "127.0.0.1", (uint16_t)(v4 + 1)) == 0);
	WANT(fcntl(5, F_GETFD) < 0);
	WANT(sd_listen_take_path(&l, SD_CTL, gone) == 0);
	WANT(fcntl(4, F_GETFD) < 0);
	sd_listen_fini(&l);
	WANT(fcntl(3, F_GETFD) < 0);
}

static void another_address(void)
{
	uint16_t v4, v6;
	const int fds[] = {tcp_socket(AF_INET6, &v6), tcp_socket(AF_INET, &v4)};
	struct sd_listen l;
	struct err e;

	hand_over(fds, 2, "nodes:metrics", (long)getpid());
	WANT(sd_listen_init(&l, &e) == 0);
	WANT(sd_listen_take_address(&l, SD_METRICS, "127.0.0.2", v4) == 0);
	WANT(sd_listen_take_address(&l, SD_NODES, "::", v6) == 0);
}

static void a_file_that_is_gone(void)
{
	const int fds[] = {unix_socket(path)};
	struct sd_listen l;
	struct err e;

	hand_over(fds, 1, "ctl", (long)getpid());
	WANT(sd_listen_init(&l, &e) == 0 && unlink(path) == 0);
	WANT(sd_listen_take_path(&l, SD_CTL, path) == 0);
}

/* Variables that a parent has got are not for its children. */
static void for_another_process(void)
{
	const int fds[] = {unix_socket(path)};
	struct sd_listen l;
	struct err e;

	hand_over(fds, 1, "ctl", (long)getppid());
	WANT(sd_listen_init(&l, &e) == 0);
	WANT(sd_listen_take_path(&l, SD_CTL, path) == 0);
	WANT(has_no_words());
	WANT((fcntl(3, F_GETFD) & FD_CLOEXEC) == 0); /* whatever that is */
}

static void none(void)
{
	struct sd_listen l;
	struct err e;

	WANT(sd_listen_init(&l, &e) == 0);
	WANT(sd_listen_take_path(&l, SD_CTL, path) == 0);
	WANT(sd_listen_take_address(&l, SD_NODES, "::1", 1) == 0);
	sd_listen_fini(&l);
}

static void two_of_a_name(void)
{
	const int fds[] = {unix_socket(path), unix_socket(gone)};
	struct sd_listen l;
	struct err e;

	hand_over(fds, 2, "ctl:ctl", (long)getpid());
	WANT(sd_listen_init(&l, &e) == 0);
	WANT(sd_listen_take_path(&l, SD_CTL, path) == 3);
	WANT(fcntl(4, F_GETFD) < 0);
}

/* All of them are closed then, and nobody inherits anything. */
static void one_is_not_ours(void)
{
	const int fds[] = {unix_socket(path), unix_socket(gone)};
	struct sd_listen l;
	struct err e;

	hand_over(fds, 2, "ctl:contro", (long)getpid());
	WANT(sd_listen_init(&l, &e) == -1 && e.code == ERR_INVALID);
	WANT(strstr(e.msg, "a socket named \"contro\"") != NULL);
	WANT(fcntl(3, F_GETFD) < 0 && fcntl(4, F_GETFD) < 0);
	WANT(has_no_words());
	WANT(sd_listen_take_path(&l, SD_CTL, path) == 0);
}

static void without_names(void)
{
	const int fds[] = {unix_socket(path)};
	struct sd_listen l;
	struct err e;

	hand_over(fds, 1, NULL, (long)getpid());
	WANT(sd_listen_init(&l, &e) == -1 && strstr(e.msg, "named \"\"") != NULL);
}

static void bad_numbers(void)
{
	static const char *const bad[] = {"", "-1", "x", "1x", "65", "99999999999999999999"};
	struct sd_listen l;
	struct err e;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		hand_over(NULL, 0, "ctl", (long)getpid());
		(void)setenv("LISTEN_FDS", bad[i], 1);
		WANT(sd_listen_init(&l, &e) == -1 && e.code == ERR_INVALID);
		WANT(strstr(e.msg, "want a number up to 64") != NULL);
		WANT(has_no_words());
	}
}

static int setup(void **state)
{
	(void)state;
	(void)unsetenv("NOTIFY_SOCKET");
	if (mkdtemp(dir) == NULL)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/a.sock", dir);
	(void)snprintf(gone, sizeof(gone), "%s/b.sock", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	(void)unlink(path);
	(void)unlink(gone);
	return rmdir(dir);
}

#define CASE(name)                                                                                 \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		in_child(name);                                                                    \
	}
CASE(all_three)
CASE(other_places)
CASE(another_address)
CASE(a_file_that_is_gone)
CASE(for_another_process)
CASE(none)
CASE(two_of_a_name)
CASE(one_is_not_ours)
CASE(without_names)
CASE(bad_numbers)
#undef CASE

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_three),
		cmocka_unit_test(test_other_places),
		cmocka_unit_test(test_another_address),
		cmocka_unit_test(test_a_file_that_is_gone),
		cmocka_unit_test(test_for_another_process),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_two_of_a_name),
		cmocka_unit_test(test_one_is_not_ours),
		cmocka_unit_test(test_without_names),
		cmocka_unit_test(test_bad_numbers),
	};

	return cmocka_run_group_tests_name("sd_listen", tests, setup, teardown);
}
