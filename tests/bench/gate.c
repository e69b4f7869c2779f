/* gate.c - preloaded into slurmd: many of them on one host, each at its own address, that tell
 * slurmctld of themselves all at one moment.
 *
 *   GATE_FILE   the first connection to slurmctld waits until nobody has this file locked
 *   GATE_ADDR   the address that slurmd listens at and calls from, as if it had a host of its own
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLURMCTLD_PORT = 6817, SLURMD_PORT = 6818 };

typedef int call_fn(int fd, const struct sockaddr *to, socklen_t len);

static call_fn *next(const char *name)
{
	return (call_fn *)dlsym(RTLD_NEXT, name);
}

static struct sockaddr_in own(in_port_t port)
{
	const char *addr = getenv("GATE_ADDR");
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

	if (addr != NULL)
		(void)inet_pton(AF_INET, addr, &in.sin_addr);
	return in;
}

static in_port_t port_of(const struct sockaddr *to)
{
	struct sockaddr_in in;

	if (to->sa_family != AF_INET)
		return 0;
	memcpy(&in, to, sizeof(in));
	return ntohs(in.sin_port);
}

static void wait_for_gate(void)
{
	int fd = open(getenv("GATE_FILE"), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)flock(fd, LOCK_SH);
	close(fd);
}

int bind(int fd, const struct sockaddr *to, socklen_t len)
{
	struct sockaddr_in in = own(SLURMD_PORT);

	if (port_of(to) == SLURMD_PORT)
		return next("bind")(fd, (struct sockaddr *)&in, sizeof(in));
	return next("bind")(fd, to, len);
}

int connect(int fd, const struct sockaddr *to, socklen_t len)
{
	struct sockaddr_in in = own(0);

	if (port_of(to) == SLURMCTLD_PORT) {
		wait_for_gate();
		(void)next("bind")(fd, (struct sockaddr *)&in, sizeof(in));
	}
	return next("connect")(fd, to, len);
}
