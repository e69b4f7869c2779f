/* origin.h - an origin: the URL of a server, and the addresses of its name.
 *
 * A lookup can take half a minute, and the agent must not wait so long: a child process does it,
 * and sends its answer through a pipe.  Old addresses stay in use while the name servers do not
 * answer. */
#ifndef AGENT_ORIGIN_H
#define AGENT_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/err.h"

enum {
	ORIGIN_HOST_MAX = 256,
	ORIGIN_NAME_MAX = ORIGIN_HOST_MAX + 10, /* [host]:65535 */
	ORIGIN_ADDR_MAX = 4,                    /* addresses of a name that are tried */
	ORIGIN_GOOD_MS = 60000, /* how long addresses are used before another lookup */
};

struct origin_addr {
	struct sockaddr_storage sa;
	socklen_t len;
};

struct origin {
	bool tls, numeric;
	char host[ORIGIN_HOST_MAX]; /* without brackets */
	char port[6];
	char name[ORIGIN_NAME_MAX]; /* for the Host header */
	unsigned n, at;             /* how many addresses; index of the next */
	int64_t good_until;
	struct origin_addr addr[ORIGIN_ADDR_MAX];
};

/* Parse "https://host[:port]" or "http://..."; an IPv6 address in brackets; no path, user or query.
 */
int origin_parse(struct origin *p, const char *url, struct err *e);

/* Must the name be looked up before connecting? */
bool origin_stale(const struct origin *p, int64_t now);
/* Start a lookup.  Returns the pipe to read from; -1: *e. */
int origin_lookup(const struct origin *p, pid_t *child, struct err *e);
/* Take n bytes of the child's answer and end it.  -1: there is no address, not even an old one. */
int origin_found(struct origin *p, pid_t child, const struct origin_addr *found, size_t n,
		 int64_t now);

#endif
