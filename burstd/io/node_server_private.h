/* node_server_private.h - shared by node_server.c, which runs on the loop, and node_thread.c, which
 * runs in the thread.  They exchange struct node_mail under its lock, and the counters without one;
 * every other member belongs to one of them. */
#ifndef BURSTD_NODE_SERVER_PRIVATE_H
#define BURSTD_NODE_SERVER_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "io/node_server.h"

struct MHD_Daemon;

struct node_job { /* a request on its way to the loop, with copies of all its texts */
	struct node_request rq;
	char method[16];
	char *path, *query, *accept, *authorization, *content_type, *body;
};

struct node_reply { /* an answer on its way back */
	struct node_reply *next;
	uint64_t ticket;
	struct http_answer an;
};

struct node_mail {
	pthread_mutex_t lock;
	struct node_job **ring; /* ring buffer of queue_max */
	unsigned first, n;
	int64_t lazy_ms; /* since when lazy requests wait for a wake-up; 0: none do */
	struct node_reply *replies, **last;
	struct node_tls *tls; /* new certificates, or NULL */
	bool stop;
};

/* In the order of struct node_server_stats. */
enum node_count {
	NODE_ACCEPTED,
	NODE_OVER_RATE,
	NODE_OVER_NUMBER,
	NODE_MUTE,
	NODE_SLOW,
	NODE_OUSTED,
	NODE_REQUESTS,
	NODE_TOO_LONG,
	NODE_REFUSED,
	NODE_ASKED_TOO_OFTEN,
	NODE_QUEUE_FULL,
	NODE_UNANSWERED,
	NODE_ANSWERED,
	NODE_OPEN,
	NODE_NCOUNTS
};

struct node_slot {               /* ticket = serial << 32 | index */
	struct node_exchange *x; /* NULL: free */
	uint32_t serial, next_free;
};

struct node_server {
	struct node_server_opts o; /* its texts are not kept */
	struct node_mail mail;
	atomic_uint_least64_t count[NODE_NCOUNTS];
	uint16_t port;
	int fd; /* that listens */
	/* used by the loop */
	uv_async_t async;
	pthread_t thread;
	node_handler_fn fn;
	void *ctx;
	/* used by the thread, once it runs */
	struct MHD_Daemon *mhd;
	struct node_tls *tls;
	struct node_gate *gate;
	struct node_conn *conns;
	struct node_slot *slots;
	uint32_t nslots, free_slot; /* free_slot == nslots: none free */
	int epoll, wake;            /* wake: an eventfd that the loop writes to */
	int64_t scan_ms;
	unsigned unheard; /* connections without a request so far */
	uint64_t moves;   /* callbacks of MHD so far */
};

/* --- node_thread.c --- */
/* Listen; the thread does not run yet. */
int node_thread_open(struct node_server *s, const struct node_server_opts *o, struct err *e);
void *node_thread_run(void *server); /* returns after closing MHD */
void node_thread_close(struct node_server *s);

/* --- node_server.c; these take the lock --- */
/* -1: the queue is full, and the job is still the caller's. */
int node_mail_send(struct node_server *s, struct node_job *j, int64_t now_ms);
/* Wake the loop, if lazy requests have waited long enough. */
void node_mail_push(struct node_server *s, int64_t now_ms);
bool node_mail_waits(struct node_server *s); /* do lazy requests wait? */
void node_job_free(struct node_job *j);
void node_answer_free(struct http_answer *an); /* free its body */

#endif
