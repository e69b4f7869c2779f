/* ctl_server.h - the control socket: one request, one answer, then the connection is over.
 *
 * The protocol is in base/frame.h.  Who calls is known from SO_PEERCRED, never from what he says.
 * Each connection has five seconds in all; some slots are kept for hooks, so that no number of
 * other callers can keep slurmctld waiting.  Replies are capped, so that a long read is many short
 * ones and never blocks the loop; of those who may only look one is answered in each pass of it,
 * and no user among them keeps the others out: who has most connections loses one for who has
 * fewer.
 *
 * An answer may come later: the handler holds the request, and has ten seconds to answer it, then
 * it is asked for what it can say.  Held requests have slots of their own, many of them. */
#ifndef BURSTD_CTL_SERVER_H
#define BURSTD_CTL_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct loop;
struct ctl_server;
struct ctl_conn; /* the connection that a request came on */

enum {
	CTL_DEADLINE_MS = 5000,
	CTL_HOLD_MS = 10000,     /* a held request gets its answer by then */
	CTL_HOOK_SLOTS = 32,     /* root and our own user, until they ask something */
	CTL_OPERATOR_SLOTS = 16, /* operators, asking something */
	CTL_VIEWER_SLOTS = 32,   /* everybody else */
	CTL_HELD_SLOTS = 4096,   /* held requests of root and our own user: jobs that start */
	CTL_WATCH_SLOTS = 256,   /* those of all others */
	CTL_REQUEST_MAX = (1 << 17) + 4096, /* bytes of one frame to us: a node list is the most */
	CTL_HEAD_MAX = 4096,      /* bytes of the first frame of a call; the hook's has about 100 */
	CTL_REPLY_MAX = 1 << 20,  /* bytes of one answer */
	CTL_CALLS_MAX = 64 << 20, /* bytes of all unfinished calls; more resume files are dropped */
};

enum ctl_role {
	CTL_VIEWER,   /* any local user: may look */
	CTL_OPERATOR, /* one of the admins: may also act */
	CTL_OWN,      /* root or our own user, for so slurmctld runs */
};

struct ctl_caller {
	enum ctl_role role;
	uint32_t uid, gid;
	int32_t pid;
};

struct ctl_call {         /* one whole call from slurmctld; borrowed */
	const char *head; /* the JSON of its first frame, NUL-terminated */
	const char *list; /* node list, NUL-terminated */
	size_t list_len;
	const char *file; /* resume file; NULL: none, or dropped */
	size_t file_len;
	bool dropped;   /* the file was too long, or there was no room for it */
	bool truncated; /* the list was too long */
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
	/* A whole call, from root or our own user, for so slurmctld runs; nobody else may make one.
	 * The answer says whether it is durable: {"ok":true... or {"ok":false..., without spaces.
	 */
	char *(*call)(void *ctx, const struct ctl_caller *who, const struct ctl_call *call);
	void *ctx;
};

struct ctl_server_opts {
	const char *path; /* of the socket; a stale one is replaced, its directory must exist */
	const uint32_t *admins; /* uids that are operators besides root and our own */
	size_t nadmins;
	uint32_t deadline_ms; /* 0: CTL_DEADLINE_MS */
	uint32_t hold_ms;     /* 0: CTL_HOLD_MS */
	unsigned held_max;    /* 0: CTL_HELD_SLOTS; fewer where descriptors are scarce */
};

/* Refuses (ERR_IO) a path where somebody listens, or that is not a socket.  A request may close the
 * server that it came to. */
int ctl_server_new(struct ctl_server **out, struct loop *l, const struct ctl_server_opts *o,
		   const struct ctl_handler *h, struct err *e);
void ctl_server_close(struct ctl_server *s); /* removes the socket; frees from the loop */

/* From inside request(): its answer comes later.  Then exactly one of these ends it: our
 * ctl_server_answer(), or the handler's expired(hold) or gone(hold).  False: there is no room for
 * one more, answer now. */
bool ctl_server_hold(struct ctl_conn *c, void *hold);
/* Answer a request that is held; takes json.  c is not to be used any more. */
void ctl_server_answer(struct ctl_conn *c, char *json);

/* Collects the frames of one call; the spool uses it too, for it holds the same bytes. */
struct ctl_collect;
struct ctl_collect *ctl_collect_new(size_t max_file);
void ctl_collect_free(struct ctl_collect *c); /* NULL is fine */
/* frame_fn-shaped: feed one frame.  -1 with *e: not a call. */
int ctl_collect_frame(struct ctl_collect *c, int type, const char *data, size_t len, struct err *e);
bool ctl_collect_done(const struct ctl_collect *c);                      /* 'Z' was seen */
void ctl_collect_get(const struct ctl_collect *c, struct ctl_call *out); /* once it is done */
size_t ctl_collect_held(const struct ctl_collect *c);                    /* bytes in memory */
void ctl_collect_drop(
	struct ctl_collect *c); /* forget the file, and what comes of it, and flag it */

#endif
