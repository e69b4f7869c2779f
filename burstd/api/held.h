/* held.h - held requests, which are answered later: a job's gate, events as they happen, and
 * requests about a job that slurmctld has to describe first, or for a caller whose name has to be
 * looked up.
 *
 * A held request is one struct hold from the moment the server keeps its connection until it is
 * answered, expires, or its peer is gone.  Nothing here is durable: a client can ask again. */
#ifndef BURSTD_HELD_H
#define BURSTD_HELD_H

#include <stddef.h>
#include <stdint.h>

#include "api/ctl_reply.h"

struct held;

enum {
	HELD_EVENTS_MS = 50,        /* how long the first event waits for more */
	HELD_REQUEST_MAX = 4096,    /* bytes of a held request; real ones have 100 */
	HELD_GATE_EXTRA_MS = 30000, /* how long a gate outlasts the boot timeout of its nodes */
};

/* The caller sets a->held to the result; a is borrowed. */
struct held *held_new(struct api *a, struct loop *l);
void held_free(struct held *h); /* after the server is closed; NULL is fine */

/* Hold the request on r->conn until the nodes of the job are up, or answer it now. */
int held_gate(struct ctl_reply *r, uint64_t job, const char *nodes);
/* Hold the request until there are events for it.  false: it cannot be held; answer now. */
bool held_events(struct ctl_reply *r, const char *json, size_t len);

/* Hold the request until slurmctld has described the job r->about.  false: it cannot be held. */
bool held_job(struct ctl_reply *r, const char *json, size_t len);
/* Hold the request until the name of its caller is known.  false: it cannot be held. */
bool held_name(struct ctl_reply *r, const char *json, size_t len);

/* A turn is over: answer requests for events if there are new ones.  Cheap. */
void held_turned(struct held *h);

/* For struct ctl_handler; ctx is a struct api. */
char *held_expired(void *ctx, void *hold);
void held_gone(void *ctx, void *hold);

#endif
