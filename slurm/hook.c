#include "slurm/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/frame.h"
#include "base/paths.h"

enum {
	RETRY_MS = 10,         /* between two tries when the backlog of the socket is full */
	PATIENT_RETRY_MS = 25, /* ... when nobody listens */
	LINE_MAX_BYTES = 255,
};

int64_t hook_now_ns(clockid_t id)
{
	struct timespec ts = {0};

	(void)clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Not syslog(3): it may block, and must not be called by a signal handler. */
void hook_complain(const char *text)
{
	const struct sockaddr_un log = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
	static const char start[] = "<27>burst-hook: "; /* daemon.err */
	char line[sizeof(start) + LINE_MAX_BYTES + 1];
	const size_t skip = sizeof(start) - 1;
	size_t len = strnlen(text, LINE_MAX_BYTES);
	struct pollfd err = {.fd = STDERR_FILENO, .events = POLLOUT};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	memcpy(line, start, skip);
	memcpy(line + skip, text, len);
	if (fd >= 0) {
		(void)sendto(fd, line, skip + len, MSG_NOSIGNAL, (const struct sockaddr *)&log,
			     sizeof(log));
		(void)close(fd);
	}
	line[skip + len] = '\n';
	/* Standard error is /dev/null if slurmctld gave us none; a pipe that nobody reads must not
	 * block. */
	if (poll(&err, 1, 0) == 1 && (err.revents & POLLOUT) != 0 &&
	    write(STDERR_FILENO, line + 4, skip + len + 1 - 4) < 0)
		return;
}

void hook_reset_process(void)
{
	struct sigaction act = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", O_RDWR); /* takes the lowest free one: fd */
	(void)sigemptyset(&act.sa_mask);
	for (int sig = 1; sig < SIGRTMAX; sig++)
		(void)sigaction(sig, &act, NULL);
	act.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &act, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static enum hook_rc wait_ready(const struct hook_conn *c, short events)
{
	struct pollfd p = {.fd = c->fd, .events = events};
	int64_t left;
	int n;

	do {
		left = c->deadline - hook_now_ns(CLOCK_MONOTONIC);
		if (left <= 0)
			return HOOK_FAILED;
		n = poll(&p, 1, (int)(left / 1000000) + 1);
	} while (n == 0 || (n < 0 && errno == EINTR));
	return n < 0 ? HOOK_FAILED : HOOK_OK;
}

int hook_connect(struct hook_conn *c, bool patient)
{
	const struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = PATHS_SOCKET};

	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return -1;
	while (connect(c->fd, (const struct sockaddr *)&to, sizeof(to)) != 0) {
		const bool full = errno == EAGAIN || errno == EINTR;
		const bool absent = errno == ECONNREFUSED || errno == ENOENT;

		if (!full && !(absent && patient))
			return -1;
		if (hook_now_ns(CLOCK_MONOTONIC) >= c->deadline)
			return -1;
		(void)poll(NULL, 0, full ? RETRY_MS : PATIENT_RETRY_MS);
	}
	return 0;
}

void hook_close(struct hook_conn *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
}

enum hook_rc hook_send(const struct hook_conn *c, const void *data, size_t len)
{
	const char *p = data;
	enum hook_rc rc;

	while (len > 0) {
		ssize_t n = send(c->fd, p, len, MSG_NOSIGNAL);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			rc = wait_ready(c, POLLOUT);
			if (rc != HOOK_OK)
				return rc;
		} else if (n == 0 || errno != EINTR)
			return HOOK_LOST;
	}
	return HOOK_OK;
}

static enum hook_rc read_exactly(const struct hook_conn *c, void *to, size_t len)
{
	unsigned char *p = to;
	enum hook_rc rc;

	while (len > 0) {
		ssize_t n = recv(c->fd, p, len, 0);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			return HOOK_LOST;
		} else {
			rc = wait_ready(c, POLLIN);
			if (rc != HOOK_OK)
				return rc;
		}
	}
	return HOOK_OK;
}

/* Is it {"ok":true} or {"ok":true,...}, spelled exactly so? */
static bool says_ok(const char *answer, size_t len)
{
	static const char ok[] = "{\"ok\":true";

	if (len < sizeof(ok) || memcmp(answer, ok, sizeof(ok) - 1) != 0 || answer[len - 1] != '}')
		return false;
	return len == sizeof(ok) || answer[sizeof(ok) - 1] == ',';
}

enum hook_rc hook_read_answer(const struct hook_conn *c, char answer[HOOK_ANSWER_MAX + 1])
{
	unsigned char head[FRAME_HEADER], want[FRAME_HEADER];
	enum hook_rc rc = read_exactly(c, head, sizeof(head));
	size_t len;

	if (rc != HOOK_OK)
		return rc;
	len = (size_t)head[3] << 8 | head[4];
	frame_header(want, (uint32_t)len);
	if (memcmp(head, want, sizeof(head)) != 0 || len > HOOK_ANSWER_MAX)
		return HOOK_FAILED;
	rc = read_exactly(c, answer, len);
	if (rc != HOOK_OK)
		return rc;
	answer[len] = '\0';
	return says_ok(answer, len) ? HOOK_OK : HOOK_FAILED;
}
