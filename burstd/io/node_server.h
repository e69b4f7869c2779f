/* node_server.h - the HTTPS listener for nodes, in a thread of its own.
 *
 * The whole internet may connect to it.  So connections, TLS, reading and all refusals that need no
 * decision are in a thread of lower priority, and the loop gets only complete requests, a bounded
 * number of them:
 *
 * 	accept -- node_gate: rate, number --> TLS -- node_tls: certificate --> request
 * 	  -- size, time --> check (node_claims.h) --> queue, full: 503 --> the loop's handler
 *
 * A client may show a certificate, and is refused if that is not good; its owner is in rq->peer.
 * Answers go back by ticket, as in http_server.h.  A request that is not answered in time gets 503.
 */
#ifndef BURSTD_NODE_SERVER_H
#define BURSTD_NODE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "io/http_server.h"
#include "io/node_gate.h"
#include "io/node_tls.h"

struct node_server;

enum {
	NODE_BODY_MAX = 64 << 10,  /* the longest real one is a claim of some 16 KiB */
	NODE_HEADER_MAX = 8 << 10, /* with the request line */
	NODE_ADDR_SIZE = 46,       /* IPv4 without ::ffff: */
	NODE_REFUSED_MAX = 8,      /* a booting machine makes a new connection each time */
	NODE_LAZY_MS = 1000, /* so ten thousand heartbeats in 30 s wake the loop once a second */
};

struct node_request {             /* borrowed during the handler only */
	struct http_request http; /* with http_header() for Accept, Authorization, Content-Type */
	struct node_peer peer;
	char address[NODE_ADDR_SIZE]; /* of the client */
	uint16_t port;                /* of the client */
	bool lazy; /* set by the check: the loop need not be woken, and gets it within NODE_LAZY_MS
		    */
};

/* Called on the loop; *an is all zero except status 500. */
typedef void (*node_handler_fn)(void *ctx, const struct node_request *rq, struct http_answer *an);
/* Called in the thread, before the queue.  true: *an is the answer.  Must not block, nor set
 * an->later. */
typedef bool (*node_check_fn)(void *ctx, struct node_request *rq, struct http_answer *an);

struct node_server_opts {
	const char *address; /* to listen on */
	uint16_t port;       /* 0: any */
	int fd; /* listens there already, non-blocking, and is the server's now; 0: make it */
	const char *cert_pem, *key_pem, *client_ca_pem;
	struct node_gate_opts gate;
	unsigned request_ms; /* limit from accept, or a request's first line, until it is read; and
				for sending an answer */
	unsigned keep_ms; /* how long a connection with a certificate may be idle; without one it is
			     request_ms */
	unsigned answer_ms;   /* how long the loop may take for an answer */
	unsigned queue_max;   /* requests that the loop has not taken yet */
	unsigned max_refused; /* 4xx answers on a connection, which is then closed; 0: no limit */
	node_check_fn check;  /* NULL: none */
	void *check_ctx;
};

/* Fill in burstd's limits: gate, times and queue_max.  files: descriptors that it may use. */
void node_server_limits(struct node_server_opts *o, uint64_t files);

struct node_server_stats {                         /* since the start, except open */
	uint64_t accepted, over_rate, over_number; /* over_...: closed at accept */
	uint64_t mute;   /* closed without a request: no TLS, bad certificate, silence */
	uint64_t slow;   /* closed as too slow */
	uint64_t ousted; /* closed to make room: node_gate.h */
	uint64_t requests, too_long, refused, asked_too_often;
	uint64_t queue_full, unanswered, answered;
	uint64_t open;
};

int node_server_start(struct node_server **out, struct uv_loop_s *loop,
		      const struct node_server_opts *o, node_handler_fn fn, void *ctx,
		      struct err *e);
uint16_t node_server_port(const struct node_server *s);
int node_server_fd(const struct node_server *s); /* that listens; borrowed */

/* Use new certificates for new connections.  -1: nothing has changed. */
int node_server_renew(struct node_server *s, const char *cert_pem, const char *key_pem,
		      const char *client_ca_pem, struct err *e);

/* As http_server_answer(): takes an->body, ignores an unknown ticket.  Never from inside the
 * handler. */
void node_server_answer(struct node_server *s, uint64_t ticket, const struct http_answer *an);

void node_server_stats(const struct node_server *s, struct node_server_stats *out);

/* Stop listening; a copy of the socket that somebody else has goes on.  End the thread, which only
 * finishes its present step, close every connection, and free *s from the loop. */
void node_server_stop(struct node_server *s);

#endif
