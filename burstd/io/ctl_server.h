/* ctl_server.h - the control socket: one request, one answer, then the connection is over.
 *
 * The protocol is in base/frame.h.  The server knows its callers by what the kernel says of them
 * (io/ctl_role.h), never by what they say.  Each connection has five seconds in all; some slots are
 * kept for burst-prolog, so that no number of other callers can keep jobs from starting.  Replies
 * are capped, so that a long read is many short ones and never blocks the loop.  The server answers
 * one viewer in each pass of the loop, and a user who has most connections loses one to a user who
 * has fewer.
 *
 * An answer may come later: the handler holds the request, and has ten seconds to answer it, then
 * it is asked for what it can say.  Held requests have slots of their own, many of them. */
#ifndef BURSTD_CTL_SERVER_H
#define BURSTD_CTL_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "io/ctl_role.h"

struct conf_people;
struct loop;
struct ctl_server;
struct ctl_conn; /* the connection that a request came on */

enum {
	CTL_DEADLINE_MS = 5000,
	CTL_HOLD_MS = 10000,     /* a held request gets its answer by then */
	CTL_OWN_SLOTS = 32,      /* root and our own user, until they ask something */
	CTL_OPERATOR_SLOTS = 16, /* admins and operators, asking something */
	CTL_VIEWER_SLOTS = 32,   /* everybody else */
	CTL_HELD_SLOTS = 4096,   /* held requests of root and our own user: jobs that start */
	CTL_WATCH_SLOTS = 256,   /* those of all others */
	CTL_REQUEST_MAX = (1 << 17) + 4096, /* bytes of a request: a node list is the most */
	CTL_REPLY_MAX = 1 << 20,            /* bytes of one answer */
};

struct ctl_caller {
	unsigned roles; /* enum ctl_role */
	uint32_t uid, gid;
	int32_t pid;
};

struct ctl_handler {
	/* A request of one JSON frame.  Return the answer (JSON text, freed by the server); NULL
	 * only after ctl_server_hold(). */
	char *(*request)(void *ctx, struct ctl_conn *c, const struct ctl_caller *who,
			 const char *json, size_t len);
	/* The time of a held request is over: return its answer. */
	char *(*expired)(void *ctx, void *hold);
	/* Nobody is left to be answered: the peer has gone, or the server closes. */
	void (*gone)(void *ctx, void *hold);
	void *ctx;
};

struct ctl_server_opts {
	const char *path; /* of the socket; a stale one is replaced, its directory must exist */
	int fd;           /* it listens already, and is the server's from now on; 0: make it */
	bool stays;       /* the server's end leaves the socket's file */
	const struct conf_people *people; /* NULL: nobody besides root and our own user */
	uint32_t deadline_ms;             /* 0: CTL_DEADLINE_MS */
	uint32_t hold_ms;                 /* 0: CTL_HOLD_MS */
	unsigned held_max; /* 0: CTL_HELD_SLOTS; fewer where descriptors are scarce */
};

/* Refuses (ERR_IO) a path where somebody listens, or that is not a socket.  A request may close the
 * server that it came to. */
int ctl_server_new(struct ctl_server **out, struct loop *l, const struct ctl_server_opts *o,
		   const struct ctl_handler *h, struct err *e);
/* From now on these are who may do what; connections keep the roles that they have. */
void ctl_server_know(struct ctl_server *s, const struct conf_people *people);
int ctl_server_fd(const struct ctl_server *s); /* that listens; borrowed */
void ctl_server_close(struct ctl_server *s);   /* removes the socket; frees from the loop */

/* From inside request(): its answer comes later.  Then exactly one of these ends it: our
 * ctl_server_answer(), or the handler's expired(hold) or gone(hold).  False: there is no room for
 * one more, answer now. */
bool ctl_server_hold(struct ctl_conn *c, void *hold);
/* Answer a request that is held; takes json.  c is not to be used any more. */
void ctl_server_answer(struct ctl_conn *c, char *json);

#endif
