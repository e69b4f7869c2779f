#include "io/sd.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	SD_SEND_MS = 200, /* if systemd's queue is full: the loop is worth more than one message */
	SD_WATCHDOG_MAX_MS =
		24 * 3600 * 1000, /* so that nothing overflows; a day is as good as never */
	SD_TEXT_SIZE = 80,        /* a name of sd_listen.h, and its words */
};

/* The address in $NOTIFY_SOCKET; its length, or 0 when there is none that we understand. */
static socklen_t notify_address(struct sockaddr_un *sa)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;

	if (len < 2 || len >= sizeof(sa->sun_path) || (path[0] != '/' && path[0] != '@'))
		return 0;
	*sa = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(sa->sun_path, path, len);
	if (path[0] == '@') /* the abstract namespace */
		sa->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

/* Send text, with a copy of the descriptor; pass -1: without one. */
static void tell(const char *text, int pass)
{
	const struct timeval patience = {.tv_usec = SD_SEND_MS * 1000};
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text)};
	struct sockaddr_un sa;
	struct msghdr m = {.msg_name = &sa, .msg_iov = &part, .msg_iovlen = 1};
	int fd;

	m.msg_namelen = notify_address(&sa);
	if (m.msg_namelen == 0)
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (pass >= 0) {
		struct cmsghdr *c = (struct cmsghdr *)(void *)room;

		*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS,
				      .cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(c), &pass, sizeof(int));
		m.msg_control = room;
		m.msg_controllen = sizeof(room);
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	while (sendmsg(fd, &m, MSG_NOSIGNAL) < 0 && errno == EINTR) {
	}
	(void)close(fd);
}

void sd_notify_state(const char *state)
{
	tell(state, -1);
}

void sd_watchdog_feed(int64_t now_ms, int64_t moved_ms)
{
	if (now_ms - moved_ms <= SD_STILL_MS)
		sd_notify_state("WATCHDOG=1");
}

bool sd_is_there(void)
{
	struct sockaddr_un sa;

	return notify_address(&sa) > 0;
}

void sd_keep(const char *name, int fd)
{
	char text[SD_TEXT_SIZE];

	(void)snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s", name);
	tell(text, fd);
}

void sd_drop(const char *name)
{
	char text[SD_TEXT_SIZE];

	(void)snprintf(text, sizeof(text), "FDSTOREREMOVE=1\nFDNAME=%s", name);
	tell(text, -1);
}

/* A decimal number and nothing else; 0 for anything that is not one. */
static uint64_t env_number(const char *name)
{
	const char *text = getenv(name);
	unsigned long long v;
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return 0;
	errno = 0;
	v = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' ? v : 0;
}

int64_t sd_watchdog_ms(void)
{
	uint64_t half_ms = env_number("WATCHDOG_USEC") / 2000;

	if (getenv("WATCHDOG_PID") != NULL && env_number("WATCHDOG_PID") != (uint64_t)getpid())
		return 0;
	return (int64_t)(half_ms < SD_WATCHDOG_MAX_MS ? half_ms : SD_WATCHDOG_MAX_MS);
}
