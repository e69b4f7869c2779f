/* wire.h - one connection to one origin, kept open between requests, one request at a time.
 *
 * Redirects are not followed, proxies are not used, and a request's timeout counts from wire_send()
 * to the last byte of the answer. */
#ifndef AGENT_WIRE_H
#define AGENT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/answer.h"
#include "base/err.h"

struct origin;
struct poller;
struct tls;
struct wire;

enum { WIRE_REQUEST_MAX = 20480 }; /* a body of 16 KiB, and its head */

struct wire_call {
	const char *method, *path;
	const char *headers; /* each with its line end; NULL: no more */
	const char *body;    /* JSON; NULL: none */
	size_t answer_max;   /* bytes of the answer's body */
	unsigned timeout_ms;
};

/* Exactly one of a and e is set; both are valid for the call.  The wire may be used again from
 * here. */
typedef void (*wire_done_fn)(void *ctx, const struct answer *a, const struct err *e);

/* origin and tls (NULL: http) must outlive it. */
struct wire *wire_new(struct poller *p, struct origin *origin, struct tls *tls);
void wire_free(struct wire *w); /* does not call done; NULL is fine */

bool wire_busy(const struct wire *w);
/* Send a request; not while busy.  done is called later, never from here. */
void wire_send(struct wire *w, const struct wire_call *call, wire_done_fn done, void *ctx);
/* Drop the request, if any, without calling done, and close the connection. */
void wire_drop(struct wire *w);
/* Was the server's certificate out of date by this node's clock, at the last answer? */
bool wire_clock_wrong(const struct wire *w);

#endif
