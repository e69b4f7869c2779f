/* ctl_server_private.h - what the files of ctl_server share: ctl_server.c listens and accepts,
 * ctl_conn.c has the connections in slots and queues and closes them, ctl_request.c reads what they
 * ask and answers it. */
#ifndef BURSTD_CTL_SERVER_PRIVATE_H
#define BURSTD_CTL_SERVER_PRIVATE_H

#include <uv.h>

#include "base/frame.h"
#include "core/conf.h"
#include "io/ctl_path.h"
#include "io/ctl_server.h"

struct timer;

enum { CTL_CHUNK = 65536 };

/* Every connection is in one of these; only hooks and root can fill the first and the fourth. */
enum ctl_slot { SLOT_OWN, SLOT_OPERATOR, SLOT_VIEWER, SLOT_HELD, SLOT_WATCH, SLOTS };

/* One connection.
 *
 *         +---held---> HELD --answered, or its time is over
 *         |             v
 *   FIRST --a request--> ANSWER --written--> closed
 *     | ^
 *     v |
 *    TURN: a viewer's request, until those who came with it have been heard
 *
 * The deadline, nonsense where there is nobody to answer, and the end of the peer close it from
 * anywhere. */
enum ctl_conn_state { CONN_FIRST, CONN_TURN, CONN_HELD, CONN_ANSWER };

/* Connections that all have the same time: in order of arrival, so the first is the next one due.
 */
struct ctl_fifo {
	struct ctl_conn *first, **lastp;
};

struct ctl_conn {
	struct ctl_conn *next, **prevp;
	struct ctl_fifo *in;
	struct ctl_server *server;
	enum ctl_conn_state state;
	enum ctl_slot slot;
	bool closed;
	bool is_own; /* root or our own user */
	int64_t due;
	int fd;
	uv_poll_t poll;
	struct ctl_caller who;
	struct frame_reader reader;
	char *request; /* in TURN */
	size_t request_len;
	void *hold;   /* in HELD: the handler's */
	char *answer; /* a whole frame, from CONN_ANSWER on */
	size_t answer_len, written;
};

struct ctl_server {
	struct loop *loop;
	struct ctl_handler handler;
	struct conf_people people;
	uint32_t deadline_ms, hold_ms;
	struct ctl_path path;
	int fd;
	uv_poll_t poll;
	struct timer *resume;   /* of accepting */
	struct timer *deadline; /* of the first connection */
	struct timer *turn;     /* of the first viewer who waits for it */
	struct ctl_fifo quick;  /* all but the held ones */
	struct ctl_fifo held;
	unsigned used[SLOTS], max[SLOTS];
	unsigned handles;     /* not yet closed */
	bool closing, paused; /* paused: not accepting, until `resume` */
	char chunk[CTL_CHUNK];
};

/* --- ctl_conn.c --- */
/* Put it last into a queue, and take it out of the one it is in; its time is over after ms. */
void ctl_conn_queue(struct ctl_conn *c, struct ctl_fifo *f, uint32_t ms);
void ctl_conn_unqueue(struct ctl_conn *c);
/* False: there is no slot of that kind left, and it keeps the one it has. */
bool ctl_conn_move_to(struct ctl_conn *c, enum ctl_slot slot);
/* Who in the queue is to give up such a slot for a newcomer of that uid; NULL: nobody. */
struct ctl_conn *ctl_conn_greediest(const struct ctl_fifo *f, enum ctl_slot slot,
				    uint32_t newcomer);
/* Once more is fine.  It may be used until the loop goes on. */
void ctl_conn_close(struct ctl_conn *c);
/* Of the first in the queues. */
void ctl_server_set_deadline(struct ctl_server *s);
/* One handle is closed; the last one takes the server with it. */
void ctl_server_maybe_free(struct ctl_server *s);

/* --- ctl_request.c --- */
/* Wait until it can be read or written; closes it if that is not possible. */
void ctl_request_watch(struct ctl_conn *c, int events);
void ctl_request_readable(struct ctl_conn *c); /* read what is there, and answer what is whole */
/* Fit timer_new(); ctx is the server. */
void ctl_request_on_turn(void *ctx);
void ctl_request_on_deadline(void *ctx);

#endif
