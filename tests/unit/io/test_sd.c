/* test_sd.c - systemd's datagram protocol, against a socket of our own. */
#include "io/sd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

static int listen_at(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	size_t len = strlen(path);

	memcpy(sa.sun_path, path, len);
	if (path[0] == '@')
		sa.sun_path[0] = '\0';
	len += offsetof(struct sockaddr_un, sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, (socklen_t)len), 0);
	return fd;
}

static void check_notify(const char *path)
{
	int fd = listen_at(path);
	char buf[64] = "";

	assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
	sd_notify_state("READY=1");
	assert_int_equal(recv(fd, buf, sizeof(buf) - 1, 0), 7);
	assert_string_equal(buf, "READY=1");
	(void)close(fd);
}

static void test_notify_path(void **state)
{
	char dir[] = "/tmp/sdXXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/notify", dir);
	check_notify(path);
	(void)unlink(path);
	(void)rmdir(dir);
}

static void test_notify_abstract(void **state)
{
	char path[64];

	(void)state;
	(void)snprintf(path, sizeof(path), "@burstd-test-%d", (int)getpid());
	check_notify(path);
}

/* None of these may block, crash or leak a descriptor. */
static void test_notify_nobody(void **state)
{
	static const char *const paths[] = {"", "/", "relative", "/nowhere/at/all", "vsock:2:1234"};
	char longer[300];
	int before = dup(0);

	(void)state;
	(void)close(before);
	(void)unsetenv("NOTIFY_SOCKET");
	sd_notify_state("READY=1");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(setenv("NOTIFY_SOCKET", paths[i], 1), 0);
		sd_notify_state("READY=1");
	}
	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(setenv("NOTIFY_SOCKET", longer, 1), 0);
	sd_notify_state("READY=1");
	assert_int_equal(dup(0), before);
	(void)close(before);
}

static void test_full_queue_does_not_block_for_long(void **state)
{
	char path[64];
	int64_t before;
	int fd;

	(void)state;
	(void)snprintf(path, sizeof(path), "@burstd-full-%d", (int)getpid());
	fd = listen_at(path);
	assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
	(void)alarm(20); /* ends the test program if one of them blocks */
	for (int i = 0; i < 4; i++)
		sd_notify_state("WATCHDOG=1");
	for (int i = 0; i < 600 && recv(fd, path, 1, MSG_PEEK) == 1; i++) {
		struct sockaddr_un sa = {.sun_family = AF_UNIX};
		socklen_t len = sizeof(sa);
		int out = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
		ssize_t n;

		assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
		n = sendto(out, "x", 1, 0, (struct sockaddr *)&sa, len);
		(void)close(out);
		if (n < 0)
			break;
	}
	before = clock_boot_ms();
	sd_notify_state("WATCHDOG=1");
	assert_in_range(clock_boot_ms() - before, 0, 2000);
	(void)alarm(0);
	(void)close(fd);
}

static void test_watchdog(void **state)
{
	char own[16];
	const struct {
		const char *usec, *pid;
		int64_t want;
	} rows[] = {
		{NULL, NULL, 0},
		{"30000000", NULL, 15000},
		{"30000000", own, 15000},
		{"30000000", "1", 0},
		{"30000000", "", 0},
		{"30000000", "x", 0},
		{"", own, 0},
		{"0", own, 0},
		{"-30000000", own, 0},
		{" 30000000", own, 0},
		{"30s", own, 0},
		{"99999999999999999999999", own, 0},
		{"18446744073709551615", own, 24 * 3600 * 1000},
	};

	(void)state;
	(void)snprintf(own, sizeof(own), "%d", (int)getpid());
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)unsetenv("WATCHDOG_USEC");
		(void)unsetenv("WATCHDOG_PID");
		if (rows[i].usec != NULL)
			(void)setenv("WATCHDOG_USEC", rows[i].usec, 1);
		if (rows[i].pid != NULL)
			(void)setenv("WATCHDOG_PID", rows[i].pid, 1);
		assert_int_equal(sd_watchdog_ms(), rows[i].want);
	}
}

/* Of what a listening socket is to be kept for the next start, systemd gets a copy and its name. */
static void test_keep_and_drop(void **state)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
	char path[64], buf[80] = "";
	struct iovec part = {buf, sizeof(buf) - 1};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room};
	int fd, got, pair[2];
	char c = 0;

	(void)state;
	(void)snprintf(path, sizeof(path), "@burstd-keep-%d", (int)getpid());
	fd = listen_at(path);
	assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
	assert_true(sd_is_there());
	assert_int_equal(pipe(pair), 0);
	sd_keep("ctl", pair[0]);
	m.msg_controllen = sizeof(room);
	assert_true(recvmsg(fd, &m, MSG_CMSG_CLOEXEC) > 0);
	assert_string_equal(buf, "FDSTORE=1\nFDNAME=ctl");
	assert_true(m.msg_controllen >= CMSG_LEN(sizeof(int)));
	memcpy(&got, CMSG_DATA((struct cmsghdr *)(void *)room), sizeof(got));
	assert_int_equal(write(pair[1], "x", 1), 1);
	assert_int_equal(read(got, &c, 1), 1);
	assert_int_equal(c, 'x');
	memset(buf, 0, sizeof(buf));
	sd_drop("metrics");
	m.msg_controllen = sizeof(room);
	assert_true(recvmsg(fd, &m, MSG_CMSG_CLOEXEC) > 0);
	assert_string_equal(buf, "FDSTOREREMOVE=1\nFDNAME=metrics");
	assert_int_equal(m.msg_controllen, 0);
	(void)close(fd);
	(void)close(got);
	(void)close(pair[0]);
	(void)close(pair[1]);
	(void)unsetenv("NOTIFY_SOCKET");
	assert_false(sd_is_there());
}

/* Who lives but does nothing is not alive. */
static void test_no_food_without_work(void **state)
{
	char path[64], buf[32] = "";
	int fd;

	(void)state;
	(void)snprintf(path, sizeof(path), "@burstd-still-%d", (int)getpid());
	fd = listen_at(path);
	assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
	sd_watchdog_feed(SD_STILL_MS + 8, 7);
	assert_int_equal(recv(fd, buf, sizeof(buf) - 1, 0), -1);
	sd_watchdog_feed(SD_STILL_MS + 7, 7);
	assert_true(recv(fd, buf, sizeof(buf) - 1, 0) > 0);
	assert_string_equal(buf, "WATCHDOG=1");
	(void)close(fd);
	(void)unsetenv("NOTIFY_SOCKET");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notify_path),
		cmocka_unit_test(test_notify_abstract),
		cmocka_unit_test(test_notify_nobody),
		cmocka_unit_test(test_full_queue_does_not_block_for_long),
		cmocka_unit_test(test_watchdog),
		cmocka_unit_test(test_keep_and_drop),
		cmocka_unit_test(test_no_food_without_work),
	};

	return cmocka_run_group_tests_name("sd", tests, NULL, NULL);
}
