#include "lab.h"

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
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/frame.h"
#include "base/mem.h"
#include "cli/cli.h"

enum {
	ARGS_MAX = 40,
	PATIENCE_MS = 20000, /* far beyond what anything here takes; a hang must not last */
};

const char lab_hang[] = "", lab_hang_up[] = "hang up", lab_garbage[] = "garbage";

static void lab_listen(struct lab *l)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", l->socket);
	l->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(l->listen_fd >= 0);
	assert_int_equal(bind(l->listen_fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(l->listen_fd, 8), 0);
}

struct lab *lab_new(void)
{
	struct lab *l = mem_zalloc(sizeof(*l));

	(void)snprintf(l->dir, sizeof(l->dir), "/tmp/burstctlXXXXXX");
	assert_non_null(mkdtemp(l->dir));
	(void)snprintf(l->socket, sizeof(l->socket), "%s/ctl.sock", l->dir);
	lab_listen(l);
	return l;
}

void lab_free(struct lab *l)
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
	size_t len, kept = sizeof(l->requests[0]) - 1;
	char rest;

	assert_true(fd >= 0 && l->nrequests < LAB_REQUESTS_MAX);
	read_exactly(fd, head, sizeof(head));
	len = (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
	assert_int_equal(head[0], FRAME_JSON);
	read_exactly(fd, l->requests[l->nrequests], len < kept ? len : kept);
	for (size_t i = kept; i < len; i++)
		read_exactly(fd, &rest, 1);
	reply = l->replies[l->nrequests < l->nreplies ? l->nrequests : l->nreplies - 1];
	l->nrequests++;
	if (reply == lab_hang)
		return fd;
	if (reply == lab_garbage) {
		assert_true(write(fd, "HTTP/1.1 400 Bad Request\r\n", 26) == 26);
	} else if (reply != lab_hang_up) {
		frame_header(head, (uint32_t)strlen(reply));
		assert_true(write(fd, head, sizeof(head)) == (ssize_t)sizeof(head));
		assert_true(write(fd, reply, strlen(reply)) == (ssize_t)strlen(reply));
	}
	(void)close(fd);
	return -1;
}

static void open_terminal(int ends[2])
{
	char name[64];

	ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(ends[0] >= 0 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0);
	assert_int_equal(ptsname_r(ends[0], name, sizeof(name)), 0);
	ends[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(ends[1] >= 0);
}

static void open_stream(const struct lab *l, int ends[2])
{
	const struct winsize size = {.ws_col = (unsigned short)l->columns};

	if (l->tty) {
		open_terminal(ends);
		assert_int_equal(ioctl(ends[1], TIOCSWINSZ, &size), 0);
	} else {
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	}
}

/* [1] is what the child reads. */
static void open_input(const struct lab *l, int ends[2])
{
	char path[64] = "/dev/null";

	if (l->fed != NULL) {
		lab_write(l, "fed", l->fed);
		(void)snprintf(path, sizeof(path), "%s/fed", l->dir);
	}
	if (l->typed == NULL) {
		ends[0] = -1;
		ends[1] = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(ends[1] >= 0);
		if (l->fed != NULL)
			lab_remove(l, "fed");
		return;
	}
	open_terminal(ends);
	assert_int_equal(write(ends[0], l->typed, strlen(l->typed)), (ssize_t)strlen(l->typed));
}

static _Noreturn void child(int in, int out, int err, char **args, int n)
{
	(void)dup2(in, STDIN_FILENO);
	(void)dup2(out, STDOUT_FILENO);
	(void)dup2(err, STDERR_FILENO);
	(void)setenv("TZ", "JST-9", 1); /* what people read is local; tzdata need not be there */
	exit(cli_main(n, args));
}

static bool drain(int fd, char *text)
{
	size_t len = strlen(text);
	ssize_t n = read(fd, text + len, LAB_TEXT_SIZE - 1 - len);

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

void lab_run(struct lab *l, const char *line, const char *const *replies, size_t n)
{
	char copy[1024], *args[ARGS_MAX + 2], *save = NULL, word[ARGS_MAX][128];
	int nargs = 0, in[2], out[2], err[2], status;
	int64_t start = clock_boot_ms();
	pid_t pid;

	print_message("# burstctl %s\n", line);
	(void)snprintf(copy, sizeof(copy), "burstctl %s", line);
	for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
		if (strncmp(w, "DIR", 3) == 0)
			(void)snprintf(word[nargs], sizeof(word[0]), "%s%s", l->dir, w + 3);
		else
			(void)snprintf(word[nargs], sizeof(word[0]), "%s",
				       strcmp(w, "SOCKET") == 0  ? l->socket
				       : strcmp(w, "EMPTY") == 0 ? ""
								 : w);
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
	open_input(l, in);
	open_stream(l, out);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		child(in[1], out[1], err[1], args, nargs);
	(void)close(in[1]);
	(void)close(out[1]);
	(void)close(err[1]);
	converse(l, pid, out[0], err[0]);
	(void)close(out[0]);
	if (in[0] >= 0)
		(void)close(in[0]);
	(void)close(err[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	l->rc = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	l->took_ms = clock_boot_ms() - start;
}

void lab_run_once(struct lab *l, const char *line, const char *reply)
{
	lab_run(l, line, &reply, 1);
}

void lab_want(const struct lab *l, int rc, const char *out, const char *err)
{
	if (l->rc != rc || strcmp(l->out, out) != 0 || strstr(l->err, err) == NULL)
		print_error("exit code %d\n--- out\n%s--- err\n%s---\n", l->rc, l->out, l->err);
	assert_int_equal(l->rc, rc);
	assert_string_equal(l->out, out);
	assert_non_null(strstr(l->err, err));
	if (rc == CLI_OK)
		assert_string_equal(l->err, "");
}

void lab_write(const struct lab *l, const char *name, const char *text)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	(void)close(fd);
}

void lab_remove(const struct lab *l, const char *name)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	assert_int_equal(unlink(path), 0);
}
