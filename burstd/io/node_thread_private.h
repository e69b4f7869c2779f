/* node_thread_private.h - the thread for nodes: node_conn.c has the connections, node_exchange.c a
 * request and its answer, node_thread.c the main loop.  Only these include it. */
#ifndef BURSTD_NODE_THREAD_PRIVATE_H
#define BURSTD_NODE_THREAD_PRIVATE_H

#include <microhttpd.h>

#include "io/node_gate.h"
#include "io/node_server_private.h"
#include "io/node_tls.h"

enum { NODE_FULL_RETRY_S = 5 };

struct node_conn { /* a connection, from accept to close */
	struct node_conn *next, **prev;
	struct node_server *s;
	struct node_gate_conn gate;
	struct node_tls *tls;
	int fd;
	int64_t since_ms; /* since when it is in its present step */
	bool spoke;       /* it has made a request */
	bool busy;        /* it has an unanswered request */
	bool cut;
	unsigned refused; /* requests */
	bool met;         /* peer is set */
	struct node_peer peer;
	char address[NODE_ADDR_SIZE];
	uint16_t port;
	struct node_exchange *waiting; /* its request that waits for the loop */
};

struct node_exchange { /* a request, from its first line until its answer is sent */
	struct node_conn *nc;
	struct MHD_Connection *conn;
	char *query, *body;
	size_t len, cap, swallowed;
	size_t head; /* length of the first line and of the headers */
	uint32_t slot;
	bool started, too_long, answered;
	struct http_answer an; /* from the answer until MHD has it */
};

/* --- node_conn.c --- */
void node_count_add(struct node_server *s, enum node_count what);
/* Shut the connection down, once. */
void node_conn_cut(struct node_server *s, struct node_conn *nc, enum node_count why);
/* Cut a connection to make room; NULL is fine. */
void node_conn_oust(struct node_server *s, struct node_gate_conn *c);
/* MHD's callbacks; cls is the server. */
enum MHD_Result node_conn_on_accept(void *cls, const struct sockaddr *sa, socklen_t len);
void node_conn_on_connection(void *cls, struct MHD_Connection *conn, void **place,
			     enum MHD_ConnectionNotificationCode what);

/* --- node_exchange.c --- */
/* The exchange with this ticket; NULL: it is answered. */
struct node_exchange *node_exchange_find(const struct node_server *s, uint64_t ticket);
/* Resume the suspended connection with its answer; takes an->body. */
void node_exchange_resume(struct node_server *s, struct node_exchange *x,
			  const struct http_answer *an);
/* MHD's callbacks; cls is the server. */
enum MHD_Result node_exchange_on_access(void *cls, struct MHD_Connection *conn, const char *path,
					const char *method, const char *version, const char *data,
					size_t *len, void **con_cls);
void *node_exchange_on_uri(void *cls, const char *uri, struct MHD_Connection *conn);
void node_exchange_on_completed(void *cls, struct MHD_Connection *conn, void **con_cls,
				enum MHD_RequestTerminationCode why);

#endif
