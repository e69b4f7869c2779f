#include "io/sd_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/sd.h"

enum {
	FIRST_FD = 3, /* SD_LISTEN_FDS_START */
	FDS_MAX = 64, /* more than any unit of ours hands over */
};

static const char *const names[SD_LISTEN_NAMES] = {SD_CTL, SD_NODES, SD_METRICS};

static size_t index_of(const char *name, size_t len)
{
	size_t i = 0;

	while (i < SD_LISTEN_NAMES &&
	       (strlen(names[i]) != len || strncmp(names[i], name, len) != 0))
		i++;
	return i;
}

/* --- at the start ------------------------------------------------------------------------------
 */

/* A whole number and nothing else; -1 for anything that is not one. */
static long number(const char *text)
{
	char *end;
	long v;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return -1;
	errno = 0;
	v = strtol(text, &end, 10);
	return errno == 0 && *end == '\0' ? v : -1;
}

/* How many descriptors are for this process; the variables may have been another one's. */
static int count(struct err *e)
{
	const char *fds = getenv("LISTEN_FDS");
	const long n = number(fds);

	if (fds == NULL || number(getenv("LISTEN_PID")) != (long)getpid())
		return 0;
	if (n < 0 || n > FDS_MAX)
		return err_set(e, ERR_INVALID, "LISTEN_FDS=%.20s: want a number up to %d", fds,
			       FDS_MAX);
	return (int)n;
}

static int option(int fd, int name)
{
	int v = -1;
	socklen_t len = sizeof(v);

	return getsockopt(fd, SOL_SOCKET, name, &v, &len) == 0 ? v : -1;
}

/* Is it a listening stream socket, of the domain that the name wants? */
static bool is_sound(int fd, size_t i)
{
	const int domain = option(fd, SO_DOMAIN);

	return option(fd, SO_TYPE) == SOCK_STREAM && option(fd, SO_ACCEPTCONN) == 1 &&
	       (strcmp(names[i], SD_CTL) == 0 ? domain == AF_UNIX
					      : domain == AF_INET || domain == AF_INET6);
}

/* Takes fd. */
static int keep(struct sd_listen *l, int fd, const char *name, size_t len, struct err *e)
{
	const size_t i = index_of(name, len);
	const int flags = fcntl(fd, F_GETFL);
	int rc = 0;

	if (i == SD_LISTEN_NAMES)
		rc = err_set(e, ERR_INVALID,
			     "systemd hands over a socket named \"%.*s\": burstd knows ctl, nodes "
			     "and metrics (FileDescriptorName= of a socket unit)",
			     (int)(len < 60 ? len : 60), name);
	else if (!is_sound(fd, i))
		rc = err_set(e, ERR_INVALID,
			     "the socket \"%s\" that systemd hands over is no listening %s",
			     names[i],
			     strcmp(names[i], SD_CTL) == 0 ? "UNIX stream socket" : "TCP socket");
	if (rc == 0 && l->fd[i] == 0 && flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0)
		l->fd[i] = fd;
	else
		(void)close(fd);
	return rc;
}

int sd_listen_init(struct sd_listen *l, struct err *e)
{
	const char *at = getenv("LISTEN_FDNAMES");
	const int n = count(e);
	int rc = n < 0 ? -1 : 0;

	*l = (struct sd_listen){0};
	for (int fd = FIRST_FD; fd < FIRST_FD + n; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	for (int fd = FIRST_FD; fd < FIRST_FD + n && rc == 0; fd++) {
		const char *name = at != NULL ? at : "";
		const size_t len = strcspn(name, ":");

		rc = keep(l, fd, name, len, e);
		at = name[len] == ':' ? name + len + 1 : NULL;
	}
	for (size_t i = 0; i < SD_LISTEN_NAMES && rc != 0; i++) {
		if (l->fd[i] != 0)
			(void)close(l->fd[i]);
		l->fd[i] = 0;
	}
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	return rc;
}

/* --- taking ------------------------------------------------------------------------------------
 */

/* Close it: nobody can reach us there, or nobody should any more. */
static void drop(int *fd, const char *name)
{
	if (*fd == 0)
		return;
	(void)close(*fd);
	*fd = 0;
	sd_drop(name);
}

static int take(struct sd_listen *l, const char *name, bool fits)
{
	int *const at = &l->fd[index_of(name, strlen(name))], fd;

	if (!fits)
		drop(at, name);
	fd = *at;
	*at = 0;
	return fd;
}

int sd_listen_take_path(struct sd_listen *l, const char *name, const char *path)
{
	const int fd = l->fd[index_of(name, strlen(name))];
	struct sockaddr_un sa = {0};
	socklen_t len = sizeof(sa) - 1; /* so that it ends with a NUL */
	struct stat st;

	return take(l, name,
		    fd != 0 && getsockname(fd, (struct sockaddr *)&sa, &len) == 0 &&
			    strcmp(sa.sun_path, path) == 0 && lstat(path, &st) == 0 &&
			    S_ISSOCK(st.st_mode));
}

static bool is_at(int fd, const char *address, uint16_t port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} sa = {0};
	socklen_t len = sizeof(sa);
	struct in6_addr a6;
	struct in_addr a4;

	if (fd == 0 || getsockname(fd, &sa.any, &len) != 0)
		return false;
	if (sa.any.sa_family == AF_INET)
		return inet_pton(AF_INET, address, &a4) == 1 &&
		       a4.s_addr == sa.v4.sin_addr.s_addr && ntohs(sa.v4.sin_port) == port;
	return inet_pton(AF_INET6, address, &a6) == 1 &&
	       memcmp(&a6, &sa.v6.sin6_addr, sizeof(a6)) == 0 && ntohs(sa.v6.sin6_port) == port;
}

int sd_listen_take_address(struct sd_listen *l, const char *name, const char *address,
			   uint16_t port)
{
	return take(l, name, is_at(l->fd[index_of(name, strlen(name))], address, port));
}

void sd_listen_fini(struct sd_listen *l)
{
	for (size_t i = 0; i < SD_LISTEN_NAMES; i++)
		drop(&l->fd[i], names[i]);
}
