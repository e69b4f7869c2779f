#include "io/ctl_client.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/frame.h"
#include "base/mem.h"

enum {
	CLIENT_RETRY_MS = 10, /* between two tries when the backlog is full */
	CLIENT_CHUNK = 16384,
};

struct ask {
	const char *path;
	int fd;
	int64_t deadline; /* by clock_boot_ms() */
	uint32_t timeout_ms;
	char *reply;
	size_t len;
};

/* Wait for events, or (events 0) for ms.  -1: the time is over. */
static int wait_for(const struct ask *a, short events, int64_t ms, struct err *e)
{
	struct pollfd p = {.fd = events ? a->fd : -1, .events = events};
	int64_t left = a->deadline - clock_boot_ms();

	if (left <= 0)
		return err_set(e, ERR_NET, "%s: no answer within %u ms", a->path, a->timeout_ms);
	(void)poll(&p, 1, (int)(left < ms ? left : ms));
	return 0;
}

static int connect_to(struct ask *a, struct err *e)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	if (strlen(a->path) >= sizeof(sa.sun_path))
		return err_set(e, ERR_INVALID, "%s: too long for a socket", a->path);
	memcpy(sa.sun_path, a->path, strlen(a->path));
	a->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (a->fd < 0)
		return err_set(e, ERR_NOTSENT, "socket: %s", strerror(errno));
	while (connect(a->fd, (struct sockaddr *)&sa, sizeof(sa)) != 0) {
		if (errno == EACCES)
			return err_set(e, ERR_AUTH, "%s: %s", a->path, strerror(errno));
		if (errno != EAGAIN && errno != EINTR)
			return err_set(e, ERR_NOTSENT, "nobody listens at %s: %s", a->path,
				       strerror(errno));
		if (wait_for(a, 0, CLIENT_RETRY_MS, e) != 0) {
			e->code = ERR_NOTSENT;
			return -1;
		}
	}
	return 0;
}

/* On an error go on to read: a server that refuses may answer before it has read everything. */
static int send_all(struct ask *a, const char *p, size_t n, struct err *e)
{
	while (n > 0) {
		ssize_t did = send(a->fd, p, n, MSG_NOSIGNAL);

		if (did < 0 && errno != EAGAIN && errno != EINTR)
			return 0;
		if (did < 0) {
			if (wait_for(a, POLLOUT, INT32_MAX, e) != 0)
				return -1;
			continue;
		}
		p += did;
		n -= (size_t)did;
	}
	return 0;
}

static int send_request(struct ask *a, const char *json, struct err *e)
{
	size_t len = strlen(json);
	unsigned char head[FRAME_HEADER];
	char *frame;
	int rc;

	if (len > FRAME_PAYLOAD_MAX)
		return err_set(e, ERR_LIMIT, "a request of %zu bytes, at most %d", len,
			       FRAME_PAYLOAD_MAX);
	frame_header(head, (uint32_t)len);
	frame = mem_zalloc(sizeof(head) + len + 1);
	memcpy(frame, head, sizeof(head));
	memcpy(frame + sizeof(head), json, len);
	rc = send_all(a, frame, sizeof(head) + len, e);
	free(frame);
	return rc;
}

static int on_frame(void *ctx, const char *data, size_t len, struct err *e)
{
	struct ask *a = ctx;

	if (a->reply != NULL)
		return err_set(e, ERR_NET, "%s: unexpected second answer", a->path);
	a->reply = mem_zalloc(len + 1);
	memcpy(a->reply, data, len);
	a->len = len;
	return 0;
}

static int read_some(struct ask *a, struct frame_reader *r, struct err *e)
{
	char buf[CLIENT_CHUNK];
	ssize_t n = recv(a->fd, buf, sizeof(buf), 0);

	if (n > 0 && frame_reader_feed(r, buf, (size_t)n, on_frame, a, e) != 0) {
		if (e != NULL)
			e->code = ERR_NET; /* to our caller a malformed answer is a network error */
		return -1;
	}
	if (n > 0)
		return 0;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return wait_for(a, POLLIN, INT32_MAX, e);
	return err_set(e, ERR_NET, "%s: closed without an answer", a->path);
}

static int read_reply(struct ask *a, struct err *e)
{
	struct frame_reader r;
	int rc = 0;

	frame_reader_init(&r);
	while (rc == 0 && a->reply == NULL)
		rc = read_some(a, &r, e);
	frame_reader_fini(&r);
	return rc;
}

int ctl_client_ask(const char *path, const char *json, uint32_t timeout_ms, char **reply,
		   size_t *len, struct err *e)
{
	struct ask a = {.path = path,
			.fd = -1,
			.timeout_ms = timeout_ms,
			.deadline = clock_boot_ms() + timeout_ms};
	struct err mine;
	int rc = -1;

	*reply = NULL;
	*len = 0;
	if (e == NULL)
		e = &mine;
	if (connect_to(&a, e) == 0 && send_request(&a, json, e) == 0)
		rc = read_reply(&a, e);
	if (a.fd >= 0)
		(void)close(a.fd);
	if (rc != 0) {
		free(a.reply);
		return -1;
	}
	*reply = a.reply;
	*len = a.len;
	return 0;
}
