#include "io/sd.h"

#include <errno.h>
#include <stddef.h>
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

void sd_notify_state(const char *state)
{
	const struct timeval patience = {.tv_usec = SD_SEND_MS * 1000};
	struct sockaddr_un sa;
	socklen_t len = notify_address(&sa);
	int fd;

	if (len == 0)
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	while (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&sa, len) < 0 &&
	       errno == EINTR) {
	}
	(void)close(fd);
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
