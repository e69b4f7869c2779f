/* place.h - a server's URL, and the addresses of its name.
 *
 * A lookup can take half a minute, and the agent must not wait so long: a child process does it,
 * and sends its answer through a pipe.  Old addresses stay in use while the name servers do not
 * answer. */
#ifndef AGENT_PLACE_H
#define AGENT_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/err.h"

enum {
	PLACE_HOST_MAX = 256,
	PLACE_NAME_MAX = PLACE_HOST_MAX + 10, /* [host]:65535 */
	PLACE_ADDR_MAX = 4,                   /* addresses of a name that are tried */
	PLACE_GOOD_MS = 60000, /* how long addresses are used before another lookup */
};

struct place_addr {
	struct sockaddr_storage sa;
	socklen_t len;
};

struct place {
	bool tls, numeric;
	char host[PLACE_HOST_MAX]; /* without brackets */
	char port[6];
	char name[PLACE_NAME_MAX]; /* for the Host header */
	unsigned n, at;            /* how many addresses; index of the next */
	int64_t good_until;
	struct place_addr addr[PLACE_ADDR_MAX];
};

/* Parse "https://host[:port]" or "http://..."; an IPv6 address in brackets; no path, user or query.
 */
int place_parse(struct place *p, const char *url, struct err *e);

/* Must the name be looked up before connecting? */
bool place_stale(const struct place *p, int64_t now);
/* Start a lookup.  Returns the pipe to read from; -1: *e. */
int place_lookup(const struct place *p, pid_t *child, struct err *e);
/* Take n bytes of the child's answer and end it.  -1: there is no address, not even an old one. */
int place_found(struct place *p, pid_t child, const struct place_addr *found, size_t n,
		int64_t now);

#endif
