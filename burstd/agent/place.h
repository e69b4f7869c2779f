/* place.h - where a server is: its URL, and the addresses its name has.
 *
 * Looking up a name can take half a minute, and nothing of an agent's life may: a child process
 * does it, and its answer comes through a pipe.  What was found is kept, and used on when the
 * name servers do not answer. */
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
	PLACE_ADDR_MAX = 4,                   /* of one name that are tried */
	PLACE_GOOD_MS = 60000,                /* then the name is looked up again */
};

struct place_addr {
	struct sockaddr_storage sa;
	socklen_t len;
};

struct place {
	bool tls, numeric;
	char host[PLACE_HOST_MAX]; /* without brackets */
	char port[6];
	char name[PLACE_NAME_MAX]; /* as in a Host header */
	unsigned n, at;            /* addresses, and which is next */
	int64_t good_until;
	struct place_addr addr[PLACE_ADDR_MAX];
};

/* "https://host[:port]" or "http://..."; an address in brackets when it has colons; no path, no
 * user, no query. */
int place_parse(struct place *p, const char *url, struct err *e);

/* Must the name be looked up before it is connected to? */
bool place_stale(const struct place *p, int64_t now);
/* Returns the pipe to read, and the child; -1: *e. */
int place_lookup(const struct place *p, pid_t *child, struct err *e);
/* End the child, having read n bytes of its answer.  -1: there is no address at all. */
int place_found(struct place *p, pid_t child, const struct place_addr *found, size_t n,
		int64_t now);

#endif
