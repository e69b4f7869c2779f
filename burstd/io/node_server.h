/* node_server.h - the HTTPS listener that nodes talk to, in a thread of its own.
 *
 * The whole internet may knock here.  So connections, TLS, reading and every refusal that needs no
 * decision happen in a thread of lower priority, and the loop sees whole requests only, a bounded
 * number of them:
 *
 *	accept -- node_gate: rate, number --> TLS -- node_tls: certificate --> request
 *	  -- size, time --> check (node_claims.h) --> queue, full: 503 --> the loop's handler
 *
 * A client may show a certificate and is refused if it is not good; who showed it is in rq->peer.
 * Answers go back by ticket, as in http_server.h.  What is not answered in time is answered 503. */
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
	NODE_BODY_MAX = 64 << 10,  /* the longest true one is a claim of some 16 KiB */
	NODE_HEADER_MAX = 8 << 10, /* the request line too */
	NODE_ADDR_SIZE = 46,       /* IPv4 as such, not ::ffff:... */
	NODE_REFUSED_MAX = 8,      /* a machine that boots has a new connection each time */
	NODE_LAZY_MS = 1000,       /* ten thousand heartbeats in 30 s wake the loop once a second */
};

struct node_request {             /* borrowed during the handler only */
	struct http_request http; /* http_header(): Accept, Authorization, Content-Type */
	struct node_peer peer;
	char address[NODE_ADDR_SIZE]; /* it came from */
	uint16_t port;                /* ... there */
	bool lazy; /* set by the check: the loop need not be woken for it, and gets it within
		    * NODE_LAZY_MS */
};

/* On the loop; *an is all zero but for status 500. */
typedef void (*node_handler_fn)(void *ctx, const struct node_request *rq, struct http_answer *an);
/* In the thread, before the queue.  true: *an is the answer.  May neither block nor set an->later.
 */
typedef bool (*node_check_fn)(void *ctx, struct node_request *rq, struct http_answer *an);

struct node_server_opts {
	const char *address; /* to listen on */
	uint16_t port;       /* 0: any */
	const char *cert_pem, *key_pem, *client_ca_pem;
	struct node_gate_opts gate;
	unsigned request_ms; /* from accept, or its first line, until a request is read or an answer
				taken */
	unsigned keep_ms;    /* a connection with a certificate may rest between two requests; one
				without has request_ms for that too */
	unsigned answer_ms;  /* the loop has for an answer */
	unsigned queue_max;  /* requests the loop has not seen yet */
	unsigned max_refused; /* requests (4xx) on one connection, then it is closed; 0: no limit */
	node_check_fn check;  /* NULL: none */
	void *check_ctx;
};

/* What burstd has: gate, times and queue_max.  files: descriptors that it may use. */
void node_server_limits(struct node_server_opts *o, uint64_t files);

struct node_server_stats {                         /* since the start, but for open */
	uint64_t accepted, over_rate, over_number; /* the last two: dropped at accept */
	uint64_t mute;   /* closed without a request: no TLS, a bad certificate, silence */
	uint64_t slow;   /* cut */
	uint64_t ousted; /* cut, for who needs the room more: node_gate.h */
	uint64_t requests, too_long, refused, asked_too_often;
	uint64_t queue_full, unanswered, answered;
	uint64_t open;
};

int node_server_start(struct node_server **out, struct uv_loop_s *loop,
		      const struct node_server_opts *o, node_handler_fn fn, void *ctx,
		      struct err *e);
uint16_t node_server_port(const struct node_server *s);

/* New certificates, for connections that are made from now on.  -1: nothing has changed. */
int node_server_renew(struct node_server *s, const char *cert_pem, const char *key_pem,
		      const char *client_ca_pem, struct err *e);

/* As http_server_answer(): takes an->body, ignores a ticket that is unknown.  Never from inside the
 * handler. */
void node_server_answer(struct node_server *s, uint64_t ticket, const struct http_answer *an);

void node_server_stats(const struct node_server *s, struct node_server_stats *out);

/* Ends the thread (which takes no longer than what it is doing), closes every connection, and frees
 * *s from the loop. */
void node_server_stop(struct node_server *s);

#endif
