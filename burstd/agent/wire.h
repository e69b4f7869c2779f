/* wire.h - one connection to one place: a request at a time, kept open between them.
 *
 * Redirects are answers like any other (nobody follows them), there is no proxy, and nothing waits
 * longer than the request's own time, which counts from wire_send() to the last byte. */
#ifndef AGENT_WIRE_H
#define AGENT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/answer.h"
#include "base/err.h"

struct place;
struct poller;
struct tls;
struct wire;

enum { WIRE_REQUEST_MAX = 20480 }; /* a body of 16 KiB, and its head */

struct wire_call {
	const char *method, *path;
	const char *headers; /* each with its line end; NULL: none */
	const char *body;    /* JSON; NULL: none */
	size_t answer_max;   /* bytes of body */
	unsigned timeout_ms;
};

/* Exactly one of a and e; both live as long as the call.  The wire may be used again from here. */
typedef void (*wire_done_fn)(void *ctx, const struct answer *a, const struct err *e);

/* place and tls (NULL for http) outlive it. */
struct wire *wire_new(struct poller *p, struct place *place, struct tls *tls);
void wire_free(struct wire *w); /* nobody is told; NULL is fine */

bool wire_busy(const struct wire *w);
/* Not while it is busy.  done is told later, never from here. */
void wire_send(struct wire *w, const struct wire_call *call, wire_done_fn done, void *ctx);
/* Forget the request, if any, without telling, and close the connection. */
void wire_drop(struct wire *w);
/* Of the last answer: was their certificate out of date by our clock? */
bool wire_clock_odd(const struct wire *w);

#endif
