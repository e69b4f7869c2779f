/* http_client.h - HTTPS requests on the loop, through libcurl's multi_socket.
 *
 * One client per loop.  Every request that http_client_send() accepts gets its
 * callback exactly once: with a reply, or with an error, or with ERR_CANCELLED
 * from http_client_cancel() or http_client_close().  Callbacks never run inside
 * http_client_send() and never inside a libcurl callback.
 *
 * ERR_NOTSENT: no byte of the request went out, so it cannot have had an effect (no address,
 * refused, an untrusted certificate).  ERR_NET: it may have.  ERR_LIMIT: it may have, and the reply
 * was too long.  Only GET and HEAD may reach the server twice, on a connection that it closed.
 *
 * No proxy, .netrc, redirects, cookies, compression; HTTP/1.1; http and https.  No queue: a request
 * starts at once, so the caller limits their number. */
#ifndef BURSTD_HTTP_CLIENT_H
#define BURSTD_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/headers.h"

struct loop;
struct http_client;

enum {
	HTTP_CLIENT_MAX = 1024,          /* requests at a time: each may hold a descriptor */
	HTTP_CLIENT_IDLE = 128,          /* connections kept open for the next request */
	HTTP_CLIENT_STALL_S = 30,        /* so long below HTTP_CLIENT_STALL_RATE ends a transfer */
	HTTP_CLIENT_STALL_RATE = 16,     /* bytes a second */
	HTTP_CLIENT_CONNECT_MS = 10000,  /* for name, TCP and TLS together */
	HTTP_CLIENT_HEADERS_MAX = 65536, /* bytes of all headers of one reply */
};

typedef void (*http_data_fn)(void *ctx, const char *data, size_t len);

struct http_call {          /* borrowed during http_client_send() only */
	const char *method; /* "GET", "POST", ... */
	const char *url;
	const char *const *headers; /* NULL-terminated, or NULL */
	const void *body;
	size_t body_len;
	const char *ca_file; /* PEM file to trust instead of the system's, or NULL */
	uint32_t timeout_ms; /* whole transfer, connecting included; not 0 */
	uint32_t stall_s;    /* instead of HTTP_CLIENT_STALL_S; 0: that */
	/* The server may be silent until timeout_ms: its rate is not checked, which would cost a
	 * wakeup a second. */
	bool held;
	size_t max_reply; /* a longer body is an error */
	/* If it is set: the body of a reply with status 200 goes there as it comes, with done's
	 * ctx, and is not kept.  Runs inside libcurl: it must not call the client. */
	http_data_fn on_data;
	/* The reply holds a secret: its only copy is wiped.  (Copies of headers and body of the
	 * request always are.)  libcurl's own buffers are not wiped: a request's head with up to 64
	 * KiB of body, received bytes, and those of TLS. */
	bool secret;
};

struct http_reply {       /* borrowed during the callback only */
	long status;      /* 100 to 999 */
	const char *body; /* NUL-terminated; "" if it went to on_data */
	size_t len;
	struct headers headers;
	int64_t date_ms; /* its Date, parsed; 0: none, or unreadable */
};

typedef void (*http_done_fn)(void *ctx, const struct http_reply *reply, const struct err *e);
typedef void (*http_closed_fn)(void *ctx);

int http_client_new(struct http_client **out, struct loop *loop, struct err *e);

/* Start a request; *handle (may be NULL) names it for http_client_cancel().
 * -1: not sent, and done will not be called.  ERR_INVALID: a control byte in method, URL or header.
 */
int http_client_send(struct http_client *c, const struct http_call *call, http_done_fn done,
		     void *ctx, uint64_t *handle, struct err *e);
/* Calls done from inside; a handle that is over is fine. */
void http_client_cancel(struct http_client *c, uint64_t handle);

/* Cancel everything (calling back from inside), then free *c and call closed(ctx) from the loop. */
void http_client_close(struct http_client *c, http_closed_fn closed, void *ctx);

#endif
