/* http_server.h - small HTTP server on a libuv loop, over GNU libmicrohttpd.
 *
 * A handler gets a complete request and fills in a complete answer, now or later; it needs no
 * socket, so tests call it directly.  The server handles slow clients, limits and keep-alive.  One
 * listener per server.
 *
 * Any number of clients cannot occupy the loop: a server works for some milliseconds, then rests
 * for as long, and the loop serves other events meanwhile. */
#ifndef BURSTD_HTTP_SERVER_H
#define BURSTD_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct uv_loop_s; /* libuv's loop; opaque, so that this header does not pull in uv.h */
struct http_server;

struct http_request {              /* borrowed during the handler only */
	const char *method, *path; /* path: decoded, without the query */
	const char *query;         /* as sent, without '?'; "" when there is none */
	const char *authorization; /* header Authorization, or NULL */
	const char *from;          /* the client's address; NULL: a test has none */
	const char *body;          /* NUL-terminated, never NULL */
	size_t len;
	uint64_t ticket; /* names this request for http_server_answer() */
	/* For http_header(); NULL in a test, or its own. */
	const char *(*header)(void *from, const char *name);
	void *headers_from;
};

enum { HTTP_MORE_MAX = 8, HTTP_VALUE_SIZE = 256 };

struct http_more {        /* another header of an answer */
	const char *name; /* static string; NULL: none */
	char value[HTTP_VALUE_SIZE];
};

struct http_answer {
	unsigned status;
	const char *type; /* static string; NULL: text/plain */
	char *body;       /* malloc'd or NULL; the server's from now on */
	size_t len;
	uint32_t retry_after_s; /* Retry-After header; 0: none */
	struct http_more more[HTTP_MORE_MAX];
	bool drop;   /* close the connection without a word */
	bool secret; /* body is wiped when it is sent */
	bool later;  /* from the handler only: http_server_answer() will give the answer */
};

/* *an is all zero but for status 500. */
typedef void (*http_handler_fn)(void *ctx, const struct http_request *rq, struct http_answer *an);

struct http_server_opts {
	const char *address; /* to listen on: "127.0.0.1", "::1", "0.0.0.0"; never NULL */
	uint16_t port;       /* 0: any, see http_server_port() */
	int fd; /* listens there already, non-blocking, and is the server's now; 0: make it */
	unsigned idle_s, max_per_ip; /* 0: no limit */
	/* 0: no limit.  Beyond it the connection that has been idle longest is closed; one that
	 * waits for an answer stays, so there may be twice as many for a while. */
	unsigned max_conns;
	unsigned max_asks; /* requests on one connection, which is then closed; 0: no limit */
	size_t max_body;   /* a longer one is answered 413 */
	uint8_t hops; /* TTL of sent packets: routers they may pass, plus one; 0: the default */
};

int http_server_start(struct http_server **out, struct uv_loop_s *loop,
		      const struct http_server_opts *o, http_handler_fn fn, void *ctx,
		      struct err *e);
uint16_t http_server_port(const struct http_server *s);
int http_server_fd(const struct http_server *s); /* that listens; borrowed */

/* Answer a request whose handler set an->later; takes an->body.  Never from inside the handler.  A
 * ticket that is unknown, answered or cut off by http_server_stop() is ignored. */
void http_server_answer(struct http_server *s, uint64_t ticket, const struct http_answer *an);

/* Stop listening: a copy of the socket that somebody else has goes on.  Close every connection,
 * also those that wait for an answer, and free *s from the loop. */
void http_server_stop(struct http_server *s);

/* A header of the request, borrowed; NULL: there is none. */
const char *http_header(const struct http_request *rq, const char *name);

/* The decoded value of key in a query string.  1: in out; 0: no such key (out is ""); -1:
 * malformed, or longer than size - 1. */
int http_query(const char *query, const char *key, char *out, size_t size);

#endif
