/* burstd's sockets outlive it: systemd has a copy of each and gives it to the next burstd, so that
 * whoever connects in between waits.  Here the test is systemd (F60 and sd_listen_fds(3)). */
#include "lab.h"
#include "running.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/frame.h"
#include "base/mem.h"

enum { FIRST = 3, KEPT_MAX = 8, SOON_MS = 500 };

static const char op[] = "{\"v\":1,\"op\":\"status\"}",
		  get[] = "GET /metrics HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n";

static struct burstd *b;
static struct sockaddr_in page, door; /* of /metrics, and for nodes */
static int notify = -1;

static struct {
	int fd[KEPT_MAX]; /* all above LAB_FDS */
	char name[KEPT_MAX][16];
	int n;
	char said[4096]; /* all messages, a line each */
} kept;

/* --- systemd -----------------------------------------------------------------------------------
 */

static void take(const char *text, int fd)
{
	const char *name = strstr(text, "FDNAME=");

	assert_true(fd > 0 && name != NULL && kept.n < KEPT_MAX);
	(void)snprintf(kept.name[kept.n], sizeof(kept.name[0]), "%s", name + strlen("FDNAME="));
	kept.fd[kept.n] = fcntl(fd, F_DUPFD_CLOEXEC, LAB_FDS);
	assert_true(kept.fd[kept.n++] >= LAB_FDS);
	(void)close(fd);
}

/* All that it has said so far. */
static void listen_to_it(void)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
	char text[256];
	ssize_t n;

	do {
		struct iovec part = {text, sizeof(text) - 1};
		struct msghdr m = {.msg_iov = &part,
				   .msg_iovlen = 1,
				   .msg_control = room,
				   .msg_controllen = sizeof(room)};
		int fd = -1;

		n = recvmsg(notify, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n <= 0)
			break;
		text[n] = '\0';
		if (m.msg_controllen > 0)
			memcpy(&fd, CMSG_DATA((struct cmsghdr *)(void *)room), sizeof(fd));
		if (strstr(text, "FDSTORE=1") != NULL)
			take(text, fd);
		(void)snprintf(kept.said + strlen(kept.said), sizeof(kept.said) - strlen(kept.said),
			       "%s\n", text);
	} while (true);
}

static void hand_over(void)
{
	char text[160] = "", number[16];

	for (int i = 0; i < kept.n; i++) {
		(void)dup2(kept.fd[i], FIRST + i);
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			       i > 0 ? ":" : "", kept.name[i]);
	}
	(void)snprintf(number, sizeof(number), "%d", kept.n);
	(void)setenv("LISTEN_FDS", number, 1);
	(void)setenv("LISTEN_FDNAMES", text, 1);
	(void)snprintf(number, sizeof(number), "%d", (int)getpid());
	(void)setenv("LISTEN_PID", number, 1);
}

static void forget_kept(void)
{
	for (int i = 0; i < kept.n; i++)
		(void)close(kept.fd[i]);
	memset(&kept, 0, sizeof(kept));
}

/* --- burstd ------------------------------------------------------------------------------------
 */

static void write_conf(void)
{
	char top[64];

	(void)snprintf(top, sizeof(top), "listen = \"127.0.0.1:%d\"", ntohs(page.sin_port));
	write_conf_nodes(top, "127.0.0.1", ntohs(door.sin_port));
}

static void start_again(void)
{
	lab_in_child = hand_over;
	lab_start_ready(b);
	lab_in_child = NULL;
}

static int set_up(void **state)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	(void)state;
	b = mem_zalloc(sizeof(*b));
	page = lab_free_place();
	do
		door = lab_free_place();
	while (door.sin_port == page.sin_port);
	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", lab_path("notify"));
	notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(notify, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", sa.sun_path, 1), 0);
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_conf();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	forget_kept();
	(void)close(notify);
	(void)unlink(lab_path("notify"));
	(void)unlink(PATHS_SOCKET);
	(void)unlink(lab_path("bin/scontrol"));
	(void)unsetenv("NOTIFY_SOCKET");
	free(b);
	return 0;
}

/* --- who comes ---------------------------------------------------------------------------------
 */

static int come(const struct sockaddr *sa, socklen_t len)
{
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, sa, len) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static int come_to_ctl(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = PATHS_SOCKET};

	return come((const struct sockaddr *)&sa, sizeof(sa));
}

static int come_to(const struct sockaddr_in *sa)
{
	return come((const struct sockaddr *)sa, sizeof(*sa));
}

static void say(int fd, const void *text, size_t n)
{
	assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), (ssize_t)n);
}

static bool hears(int fd, const char *word)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char text[1024] = "";
	ssize_t n;

	if (poll(&p, 1, LAB_PATIENCE_MS) != 1)
		return false;
	n = recv(fd, text, sizeof(text) - 1, 0);
	(void)close(fd);
	return n > 0 && memmem(text, (size_t)n, word, strlen(word)) != NULL;
}

/* --- tests -------------------------------------------------------------------------------------
 */

static void check_that_they_wait(void)
{
	unsigned char head[FRAME_HEADER];
	int ctl, metrics, node;
	struct pollfd p = {.events = POLLIN};

	ctl = come_to_ctl();
	metrics = come_to(&page);
	node = come_to(&door);
	assert_true(ctl >= 0 && metrics >= 0 && node >= 0);
	frame_header(head, (uint32_t)strlen(op));
	say(ctl, head, sizeof(head));
	say(ctl, op, strlen(op));
	say(metrics, get, strlen(get));
	say(node, get, strlen(get)); /* no TLS: it is thrown out, by who has read it */
	p.fd = ctl;
	assert_int_equal(poll(&p, 1, SOON_MS), 0);
	start_again();
	assert_true(hears(ctl, "\"ok\":true"));
	assert_true(hears(metrics, "200 OK"));
	p.fd = node;
	assert_int_equal(poll(&p, 1, LAB_PATIENCE_MS), 1);
	(void)close(node);
}

/* Whoever connects while burstd is restarted, or after it was killed, is answered by the next one,
 * which takes the sockets as they are. */
static void test_who_connects_meanwhile_waits(void **state)
{
	struct stat before, after;

	(void)state;
	lab_start_ready(b);
	listen_to_it();
	assert_int_equal(kept.n, 3);
	assert_int_equal(stat(PATHS_SOCKET, &before), 0);
	assert_int_equal(before.st_mode & 0777, 0666);
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	check_that_they_wait();
	assert_int_equal(kill(b->pid, SIGKILL), 0);
	lab_finish(b);
	check_that_they_wait();
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	assert_int_equal(stat(PATHS_SOCKET, &after), 0);
	assert_true(before.st_ino == after.st_ino);
	listen_to_it();
	assert_int_equal(kept.n, 3); /* nothing was given twice */
	assert_null(strstr(kept.said, "FDSTOREREMOVE"));
	for (int i = 0; i < kept.n; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(kept.name[i], kept.name[k]);
}

/* A place that burstd.conf has no more is left, and another one is kept. */
static void test_another_address(void **state)
{
	const struct sockaddr_in former = page;
	int fd;

	(void)state;
	lab_start_ready(b);
	listen_to_it();
	lab_stop(b);
	page = lab_free_place();
	lab_write_conf(NULL, NULL);
	{
		char text[80];

		(void)snprintf(text, sizeof(text), "listen = \"127.0.0.1:%d\"\ncurrency",
			       ntohs(page.sin_port));
		lab_write_conf("currency", text);
	}
	start_again();
	kept.said[0] = '\0';
	listen_to_it();
	assert_non_null(strstr(kept.said, "FDSTOREREMOVE=1\nFDNAME=metrics\n"
					  "FDSTORE=1\nFDNAME=metrics\n"));
	assert_non_null(strstr(kept.said, "FDSTOREREMOVE=1\nFDNAME=nodes\n"));
	assert_null(strstr(kept.said, "FDNAME=ctl"));
	fd = come_to(&page);
	say(fd, get, strlen(get));
	assert_true(hears(fd, "200 OK"));
	forget_kept(); /* as systemd has */
	assert_int_equal(come_to(&former), -1);
	assert_int_equal(come_to(&door), -1);
	lab_stop(b);
	assert_int_equal(b->rc, 0);
}

/* A socket that has no file any more reaches nobody: burstd makes one that does. */
static void test_no_file_any_more(void **state)
{
	int fd;

	(void)state;
	lab_start_ready(b);
	listen_to_it();
	lab_stop(b);
	assert_int_equal(unlink(PATHS_SOCKET), 0);
	start_again();
	kept.said[0] = '\0';
	listen_to_it();
	assert_non_null(strstr(kept.said, "FDSTOREREMOVE=1\nFDNAME=ctl\nFDSTORE=1\nFDNAME=ctl\n"));
	fd = come_to_ctl();
	assert_true(fd >= 0);
	(void)close(fd);
	ASK_OP("status", "\"ok\":true");
	lab_stop(b);
}

/* systemd gives its variables to the process that it starts.  What that one starts gets neither
 * these nor a socket. */
static void test_children_inherit_nothing(void **state)
{
	const int64_t until = clock_boot_ms() + LAB_PATIENCE_MS;
	char text[4096] = "";
	int fd;

	(void)state;
	lab_start_ready(b);
	listen_to_it();
	lab_stop(b);
	(void)snprintf(text, sizeof(text),
		       "#!/bin/sh\n{ env; ls -l /proc/$$/fd; } >%s/new && mv %s/new %s/seen\n"
		       "exit 1\n",
		       lab_dir, lab_dir, lab_dir);
	lab_write("bin/scontrol", text, 0755);
	(void)unlink(lab_path("seen"));
	start_again();
	while (access(lab_path("seen"), F_OK) != 0 && clock_boot_ms() < until)
		(void)poll(NULL, 0, 20);
	fd = open(lab_path("seen"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	memset(text, 0, sizeof(text));
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	(void)close(fd);
	assert_non_null(strstr(text, "LC_ALL=C"));
	assert_null(strstr(text, "LISTEN_"));
	assert_int_equal(count(text, "socket:"), 0);
	lab_stop(b);
}

static void refuse(int fd, const char *name, const char *why)
{
	kept.n = 1;
	kept.fd[0] = fcntl(fd, F_DUPFD_CLOEXEC, LAB_FDS);
	(void)close(fd);
	(void)snprintf(kept.name[0], sizeof(kept.name[0]), "%s", name);
	lab_in_child = hand_over;
	lab_start(b, "-c", lab_path("burstd.conf"));
	lab_in_child = NULL;
	lab_finish(b);
	assert_int_equal(b->rc, LAB_BAD_CONF);
	if (strstr(b->text, why) == NULL)
		fail_msg("got: %s", b->text);
	forget_kept();
}

/* What a socket unit of the site's hands over by mistake is one sentence, and no loop of starts. */
static void test_what_is_no_socket_of_ours(void **state)
{
	(void)state;
	refuse(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "ctl",
	       "\\\"ctl\\\" that systemd hands over is no listening UNIX stream socket");
	refuse(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "ctl", "is no listening UNIX");
	refuse(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "metrics",
	       "\\\"metrics\\\" that systemd hands over is no listening TCP socket");
	refuse(open("/dev/null", O_RDONLY | O_CLOEXEC), "nodes", "is no listening TCP socket");
	refuse(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "burstd.socket",
	       "named \\\"burstd.socket\\\": burstd knows ctl, nodes and metrics");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_who_connects_meanwhile_waits),
		TEST(test_another_address),
		TEST(test_no_file_any_more),
		TEST(test_children_inherit_nothing),
		TEST(test_what_is_no_socket_of_ours),
	};
	int rc;

	if (!lab_open(&rc))
		return rc;
	return cmocka_run_group_tests_name("sockets", tests, NULL, NULL);
}
