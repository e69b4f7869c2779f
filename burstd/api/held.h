/* held.h - requests that are answered later: a job's gate, events as they happen, and what is to be
 * said of a job once slurmctld has said what it is.
 *
 * A held request is one struct hold from the moment the server keeps its connection until it is
 * answered, its time is over, or its peer is gone.  Whoever asks may ask again: nothing here is
 * durable, and nothing is lost with it. */
#ifndef BURSTD_HELD_H
#define BURSTD_HELD_H

#include <stddef.h>
#include <stdint.h>

#include "api/ctl_reply.h"

struct held;

enum {
	HELD_EVENTS_MS = 50,        /* events are given in handfuls: so long after the first */
	HELD_REQUEST_MAX = 4096,    /* bytes of a request that is kept; these have 100 */
	HELD_GATE_EXTRA_MS = 30000, /* a gate waits so much longer than its nodes may boot */
};

/* a->held is to be this one; a is borrowed. */
struct held *held_new(struct api *a, struct loop *l);
void held_free(struct held *h); /* after the server is closed; NULL is fine */

/* The request on r->conn: hold it until the nodes of the job are up, or answer now. */
int held_gate(struct ctl_reply *r, uint64_t job, const char *nodes);
/* Hold this request until there are events for it.  False: it cannot be held, answer now. */
bool held_events(struct ctl_reply *r, const char *json, size_t len);

/* Hold this request until slurmctld has said what the job r->about is.  False: it cannot be held.
 */
bool held_job(struct ctl_reply *r, const char *json, size_t len);

/* There may be new events; cheap. */
void held_turned(struct held *h);

/* These fit struct ctl_handler; ctx is a struct api. */
char *held_expired(void *ctx, void *hold);
void held_gone(void *ctx, void *hold);

#endif
