#include "io/ctl_server.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/frame.h"
#include "base/mem.h"
#include "io/ctl_path.h"
#include "io/loop.h"

enum {
	CTL_BACKLOG = 1024,        /* 1,000 hooks at once wait a moment rather than spool */
	CTL_ACCEPT_BATCH = 32,     /* connections taken before others have their turn */
	CTL_ACCEPT_PAUSE_MS = 100, /* no descriptor left: trying at once would only spin (F56) */
	CTL_SILENT_MS = 100,
	CTL_CHUNK = 65536,
};

/* Every connection is in one of these; only hooks and root can fill the first and the fourth. */
enum slot { SLOT_HOOK, SLOT_OPERATOR, SLOT_VIEWER, SLOT_HELD, SLOT_WATCH, SLOTS };

static const unsigned slot_max[SLOTS] = {
	[SLOT_HOOK] = CTL_HOOK_SLOTS,     [SLOT_OPERATOR] = CTL_OPERATOR_SLOTS,
	[SLOT_VIEWER] = CTL_VIEWER_SLOTS, [SLOT_HELD] = CTL_HELD_SLOTS,
	[SLOT_WATCH] = CTL_WATCH_SLOTS,
};

/* One connection.
 *
 *         +---held---> HELD --answered, or its time is over
 *         |             v
 *   FIRST --a request--> ANSWER --written--> closed
 *     | ^ |                ^
 *     | | +---head of a call-> CALL --its end (or nonsense)
 *     v |
 *    TURN: a viewer's request, until those who came with it have been heard
 *
 * The deadline, nonsense where there is nobody to answer, and the end of the peer close it from
 * anywhere. */
enum conn_state { CONN_FIRST, CONN_TURN, CONN_CALL, CONN_HELD, CONN_ANSWER };

/* Connections that all have the same time: in order of arrival, so the first is the next one due.
 */
struct fifo {
	struct ctl_conn *first, **lastp;
};

struct ctl_conn {
	struct ctl_conn *next, **prevp;
	struct fifo *in;
	struct ctl_server *server;
	enum conn_state state;
	enum slot slot;
	bool closed;
	bool maybe_hook; /* root or our own user */
	int64_t due;
	int fd;
	uv_poll_t poll;
	struct ctl_caller who;
	struct frame_reader reader;
	struct ctl_collect *collect; /* in CALL */
	char *request;               /* in TURN */
	size_t request_len;
	void *hold;   /* in HELD: the handler's */
	char *answer; /* a whole frame, from CONN_ANSWER on */
	size_t answer_len, written;
};

struct ctl_server {
	struct loop *loop;
	struct ctl_handler handler;
	uint32_t *admins;
	size_t nadmins;
	uint32_t deadline_ms, hold_ms;
	struct ctl_path path;
	int fd;
	uv_poll_t poll;
	struct timer *resume;   /* of accepting */
	struct timer *deadline; /* of the first connection */
	struct timer *turn;     /* of the first viewer who waits for it */
	struct fifo quick;      /* all but the held ones */
	struct fifo held;
	unsigned used[SLOTS], max[SLOTS];
	unsigned handles;     /* not yet closed */
	bool closing, paused; /* paused: not accepting, until `resume` */
	char chunk[CTL_CHUNK];
};

/* --- closing ---------------------------------------------------------------------------------- */

static void maybe_free(struct ctl_server *s)
{
	if (--s->handles > 0)
		return;
	ctl_path_fini(&s->path);
	free(s->admins);
	free(s);
}

static void on_conn_closed(uv_handle_t *h)
{
	struct ctl_conn *c = h->data;
	struct ctl_server *s = c->server;

	frame_reader_fini(&c->reader);
	ctl_collect_free(c->collect);
	free(c->answer);
	free(c->request);
	free(c);
	maybe_free(s);
}

static void set_deadline(struct ctl_server *s)
{
	int64_t quick = s->quick.first != NULL ? s->quick.first->due : INT64_MAX;
	int64_t held = s->held.first != NULL ? s->held.first->due : INT64_MAX;

	timer_at(s->deadline, quick < held ? quick : held);
}

static void conn_queue(struct ctl_conn *c, struct fifo *f, uint32_t ms)
{
	c->in = f;
	c->next = NULL;
	c->prevp = f->lastp;
	*f->lastp = c;
	f->lastp = &c->next;
	c->due = loop_now(c->server->loop) + ms;
	set_deadline(c->server);
}

static void conn_unqueue(struct ctl_conn *c)
{
	*c->prevp = c->next;
	if (c->next != NULL)
		c->next->prevp = c->prevp;
	else
		c->in->lastp = c->prevp;
}

static void release_slot(struct ctl_server *s, enum slot slot)
{
	s->used[slot]--;
	if (slot == SLOT_HOOK && s->paused && !s->closing)
		timer_at(s->resume, 0);
}

/* The memory lives until the loop calls back, for a handler or a frame reader may be on the stack.
 */
static void conn_close(struct ctl_conn *c)
{
	struct ctl_server *s = c->server;

	if (c->closed)
		return;
	c->closed = true;
	conn_unqueue(c);
	release_slot(s, c->slot);
	uv_close((uv_handle_t *)&c->poll, on_conn_closed);
	(void)close(c->fd); /* after uv_close(), which stops watching it */
	if (!s->closing)
		set_deadline(s);
	if (c->state == CONN_HELD)
		s->handler.gone(s->handler.ctx, c->hold);
}

/* --- answering -------------------------------------------------------------------------------- */

static void watch(struct ctl_conn *c, int events);

/* The rest of what the peer sends is of no interest. */
static void on_writable(struct ctl_conn *c)
{
	while (c->written < c->answer_len) {
		ssize_t n = send(c->fd, c->answer + c->written, c->answer_len - c->written,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			watch(c, UV_WRITABLE);
			return;
		}
		if (n < 0)
			break;
		c->written += (size_t)n;
	}
	conn_close(c);
}

static void answer(struct ctl_conn *c, const char *json, size_t len)
{
	unsigned char head[FRAME_HEADER];

	assert(c->state != CONN_ANSWER);
	c->state = CONN_ANSWER;
	frame_header(head, FRAME_JSON, (uint32_t)len);
	c->answer = mem_zalloc(sizeof(head) + len);
	memcpy(c->answer, head, sizeof(head));
	memcpy(c->answer + sizeof(head), json, len);
	c->answer_len = sizeof(head) + len;
	on_writable(c);
}

static void refuse(struct ctl_conn *c, const char *why)
{
	json_t *root = mem_check(json_pack("{s:b,s:s}", "ok", 0, "error", why));
	char *json = mem_check(json_dumps(root, JSON_COMPACT));

	json_decref(root);
	answer(c, json, strlen(json));
	free(json);
}

/* The handler's answer; takes json. */
static void answer_take(struct ctl_conn *c, char *json)
{
	size_t len;

	assert(json != NULL);
	len = strlen(json);
	if (c->closed) /* the handler closed the server */
		;
	else if (len > CTL_REPLY_MAX)
		refuse(c, "the answer is too long");
	else
		answer(c, json, len);
	free(json);
}

/* --- answering later -------------------------------------------------------------------------- */

/* From a slot that is scarce, once it is known what the peer wants. */
static bool move_to(struct ctl_conn *c, enum slot slot)
{
	struct ctl_server *s = c->server;

	if (c->slot == slot)
		return true;
	if (s->used[slot] >= s->max[slot])
		return false;
	release_slot(s, c->slot);
	s->used[slot]++;
	c->slot = slot;
	return true;
}

static unsigned count_of(const struct fifo *f, enum slot slot, uint32_t uid)
{
	unsigned n = 0;

	for (const struct ctl_conn *c = f->first; c != NULL; c = c->next)
		n += c->slot == slot && c->who.uid == uid;
	return n;
}

/* Slots that are for many users are not for one of them: for a newcomer who has fewer, whoever has
 * most gives up his oldest.  NULL: nobody has more than his share. */
static struct ctl_conn *greediest(const struct fifo *f, enum slot slot, uint32_t newcomer)
{
	unsigned most = count_of(f, slot, newcomer) + 1;
	struct ctl_conn *found = NULL;

	for (struct ctl_conn *c = f->first; c != NULL; c = c->next) {
		unsigned n = c->slot == slot ? count_of(f, slot, c->who.uid) : 0;

		found = n > most ? c : found;
		most = n > most ? n : most;
	}
	return found;
}

static void expire(struct ctl_conn *c);

/* One who is told that his time is over asks again, and then it is his turn to wait for room. */
static bool move_to_watch(struct ctl_conn *c)
{
	struct ctl_server *s = c->server;
	struct ctl_conn *other;

	if (move_to(c, SLOT_WATCH))
		return true;
	other = greediest(&s->held, SLOT_WATCH, c->who.uid);
	if (other == NULL)
		return false;
	expire(other);
	if (!s->closing)
		conn_close(other); /* if it has not taken all of that at once */
	return !c->closed && move_to(c, SLOT_WATCH);
}

bool ctl_server_hold(struct ctl_conn *c, void *hold)
{
	struct ctl_server *s = c->server;

	assert(c->state == CONN_FIRST && !c->closed);
	if (!(c->maybe_hook ? move_to(c, SLOT_HELD) : move_to_watch(c)))
		return false;
	c->state = CONN_HELD;
	c->hold = hold;
	conn_unqueue(c);
	conn_queue(c, &s->held, s->hold_ms);
	return true;
}

/* It has the usual time to take its answer. */
static void unhold(struct ctl_conn *c)
{
	struct ctl_server *s = c->server;

	assert(c->state == CONN_HELD && !c->closed);
	c->state = CONN_FIRST;
	c->hold = NULL;
	conn_unqueue(c);
	conn_queue(c, &s->quick, s->deadline_ms);
}

void ctl_server_answer(struct ctl_conn *c, char *json)
{
	unhold(c);
	answer_take(c, json);
}

static void expire(struct ctl_conn *c)
{
	struct ctl_server *s = c->server;
	void *hold = c->hold;

	unhold(c);
	answer_take(c, s->handler.expired(s->handler.ctx, hold));
}

static void on_deadline(void *ctx)
{
	struct ctl_server *s = ctx;
	int64_t now = loop_now(s->loop);

	while (s->quick.first != NULL && s->quick.first->due <= now)
		conn_close(s->quick.first);
	while (s->held.first != NULL && s->held.first->due <= now)
		expire(s->held.first);
	if (!s->closing)
		set_deadline(s);
}

/* Its request was whole: what comes now is its end, or nothing that we know. */
static void on_held_readable(struct ctl_conn *c)
{
	char byte;
	ssize_t n = recv(c->fd, &byte, 1, MSG_DONTWAIT);

	if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		conn_close(c);
}

/* --- understanding ---------------------------------------------------------------------------- */

static bool is_call(const char *json, size_t len)
{
	json_error_t je;
	json_t *root = json_loadb(json, len, JSON_REJECT_DUPLICATES, &je);
	const char *op = json_string_value(json_object_get(root, "op"));
	bool yes = op != NULL && strcmp(op, "call") == 0;

	json_decref(root);
	return yes;
}

static void refuse_call(struct ctl_conn *c)
{
	refuse(c, "only root and burstd's own user may hand over calls");
}

static void handle(struct ctl_conn *c, const char *data, size_t len)
{
	struct ctl_server *s = c->server;
	char *json;

	json = s->handler.request(s->handler.ctx, c, &c->who, data, len);
	assert(json != NULL || c->state == CONN_HELD || c->closed);
	if (json != NULL)
		answer_take(c, json);
}

/* A viewer waits for his turn: one of them in each pass of the loop, so that a hook that comes
 * meanwhile waits for one answer to somebody else and not for as many as there are slots.  Nor is
 * what he says read before that: 128 KiB of brackets take a while, too. */
static void await_turn(struct ctl_conn *c, const char *data, size_t len)
{
	c->state = CONN_TURN;
	c->request = mem_zalloc(len + 1);
	memcpy(c->request, data, len);
	c->request_len = len;
	(void)uv_poll_stop(&c->poll); /* what he sends now is of no interest */
	timer_at(c->server->turn, 0);
}

static struct ctl_conn *next_turn(const struct ctl_server *s)
{
	struct ctl_conn *c = s->quick.first;

	while (c != NULL && c->state != CONN_TURN)
		c = c->next;
	return c;
}

static void on_turn(void *ctx)
{
	struct ctl_server *s = ctx;
	struct ctl_conn *c = next_turn(s);

	if (c == NULL)
		return; /* it was closed meanwhile */
	c->state = CONN_FIRST;
	watch(c, UV_READABLE);
	if (!c->closed && is_call(c->request, c->request_len))
		refuse_call(c);
	else if (!c->closed)
		handle(c, c->request, c->request_len);
	if (!s->closing && next_turn(s) != NULL)
		timer_at(s->turn, 0);
}

static void on_request(struct ctl_conn *c, const char *data, size_t len)
{
	if (c->slot == SLOT_HOOK && !move_to(c, SLOT_OPERATOR))
		refuse(c, "busy: too many requests at a time");
	else
		handle(c, data, len);
}

/* There is room for all lists and heads, but not for every resume file. */
static void keep_budget(struct ctl_conn *c, size_t more)
{
	size_t held = more;

	for (const struct ctl_conn *i = c->server->quick.first; i != NULL; i = i->next)
		if (i->collect != NULL)
			held += ctl_collect_held(i->collect);
	if (held > CTL_CALLS_MAX)
		ctl_collect_drop(c->collect);
}

static void on_call_frame(struct ctl_conn *c, enum frame_type type, const char *data, size_t len)
{
	struct ctl_server *s = c->server;
	struct ctl_call call;
	struct err e;

	if (type == FRAME_FILE)
		keep_budget(c, len);
	if (ctl_collect_frame(c->collect, (int)type, data, len, &e) != 0) {
		refuse(c, e.msg);
	} else if (ctl_collect_done(c->collect)) {
		ctl_collect_get(c->collect, &call);
		answer_take(c, s->handler.call(s->handler.ctx, &c->who, &call));
	}
}

static void on_first_frame(struct ctl_conn *c, enum frame_type type, const char *data, size_t len)
{
	if (type != FRAME_JSON) {
		refuse(c, "the first frame must be JSON");
	} else if (c->slot == SLOT_VIEWER) {
		await_turn(c, data, len);
	} else if (!is_call(data, len)) {
		on_request(c, data, len);
	} else if (!c->maybe_hook) {
		refuse_call(c);
	} else {
		c->state = CONN_CALL;
		c->collect = ctl_collect_new(FRAME_FILE_MAX);
		on_call_frame(c, type, data, len);
	}
}

/* There is an answer or will be, or nobody to answer. */
static bool is_over(const struct ctl_conn *c)
{
	return c->state == CONN_ANSWER || c->state == CONN_HELD || c->state == CONN_TURN ||
	       c->closed;
}

/* -1 ends the reading. */
static int on_frame(void *ctx, enum frame_type type, const char *data, size_t len, struct err *e)
{
	struct ctl_conn *c = ctx;

	(void)e;
	if (c->state == CONN_FIRST)
		on_first_frame(c, type, data, len);
	else
		on_call_frame(c, type, data, len);
	return is_over(c) ? -1 : 0;
}

static void on_readable(struct ctl_conn *c)
{
	struct ctl_server *s = c->server;
	ssize_t n = recv(c->fd, s->chunk, sizeof(s->chunk), MSG_DONTWAIT);
	struct err e = {0};
	int rc;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) { /* half a request is no request */
		conn_close(c);
		return;
	}
	rc = frame_reader_feed(&c->reader, s->chunk, (size_t)n, on_frame, c, &e);
	if (is_over(c))
		return;
	if (rc != 0)
		refuse(c, e.msg);
	else if (c->reader.body != NULL && c->reader.want > CTL_REQUEST_MAX)
		refuse(c, "the frame is too long");
}

static void on_poll(uv_poll_t *p, int status, int events)
{
	struct ctl_conn *c = p->data;

	(void)events;
	if (status < 0)
		conn_close(c);
	else if (c->state == CONN_ANSWER)
		on_writable(c);
	else if (c->state == CONN_HELD)
		on_held_readable(c);
	else
		on_readable(c);
}

static void watch(struct ctl_conn *c, int events)
{
	if (uv_poll_start(&c->poll, events, on_poll) != 0)
		conn_close(c);
}

/* --- accepting -------------------------------------------------------------------------------- */

static bool is_admin(const struct ctl_server *s, uint32_t uid)
{
	for (size_t i = 0; i < s->nadmins; i++)
		if (s->admins[i] == uid)
			return true;
	return false;
}

static void know_caller(struct ctl_conn *c, const struct ucred *peer)
{
	c->who = (struct ctl_caller){.uid = peer->uid, .gid = peer->gid, .pid = peer->pid};
	c->maybe_hook = peer->uid == 0 || peer->uid == geteuid();
	if (c->maybe_hook)
		c->who.role = CTL_OWN;
	else if (is_admin(c->server, peer->uid))
		c->who.role = CTL_OPERATOR;
	if (c->maybe_hook)
		c->slot = SLOT_HOOK;
	else
		c->slot = c->who.role == CTL_OPERATOR ? SLOT_OPERATOR : SLOT_VIEWER;
}

/* It has sent no whole frame for a while, and nothing waits to be read: a hook sends its head at
 * once. */
static bool is_silent(const struct ctl_conn *c, int64_t now)
{
	int64_t age = now - (c->due - c->server->deadline_ms);
	char byte;

	return c->state == CONN_FIRST && age >= CTL_SILENT_MS &&
	       recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1;
}

/* The next one may be a hook.  It waits in the backlog rather than to be turned away (it would
 * spool), but never for those who hold a hook's slot in silence. */
static bool have_hook_slot(struct ctl_server *s)
{
	int64_t now = loop_now(s->loop);

	if (s->used[SLOT_HOOK] < CTL_HOOK_SLOTS)
		return true;
	for (struct ctl_conn *c = s->quick.first; c != NULL; c = c->next)
		if (c->slot == SLOT_HOOK && is_silent(c, now)) {
			conn_close(c);
			return true;
		}
	return false;
}

static bool has_room(struct ctl_server *s, const struct ctl_conn *c)
{
	struct ctl_conn *other;

	if (s->used[c->slot] < s->max[c->slot])
		return true;
	other = c->slot == SLOT_VIEWER ? greediest(&s->quick, SLOT_VIEWER, c->who.uid) : NULL;
	if (other != NULL)
		conn_close(other);
	return other != NULL;
}

static void conn_link(struct ctl_conn *c)
{
	struct ctl_server *s = c->server;

	s->used[c->slot]++;
	s->handles++;
	conn_queue(c, &s->quick, s->deadline_ms);
}

/* Takes fd. */
static void conn_new(struct ctl_server *s, int fd)
{
	struct ctl_conn *c = mem_zalloc(sizeof(*c));
	struct ucred peer;
	socklen_t len = sizeof(peer);

	c->server = s;
	c->fd = fd;
	c->poll.data = c;
	frame_reader_init(&c->reader);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		goto no;
	know_caller(c, &peer);
	if (!has_room(s, c) || uv_poll_init(loop_uv(s->loop), &c->poll, fd) != 0)
		goto no;
	conn_link(c);
	watch(c, UV_READABLE);
	if (!c->closed)
		on_readable(c); /* a hook has sent all of a short call by now */
	return;
no:
	(void)close(fd);
	free(c);
}

static void pause_accept(struct ctl_server *s)
{
	(void)uv_poll_stop(&s->poll);
	s->paused = true;
	timer_at(s->resume, loop_now(s->loop) + CTL_ACCEPT_PAUSE_MS);
}

static void on_connection(uv_poll_t *p, int status, int events)
{
	struct ctl_server *s = p->data;

	(void)status;
	(void)events;
	for (int i = 0; i < CTL_ACCEPT_BATCH && !s->closing; i++) {
		int fd;

		/* Only the first is sure to be there, and worth somebody else's slot. */
		if (i > 0 && s->used[SLOT_HOOK] >= CTL_HOOK_SLOTS)
			return;
		if (!have_hook_slot(s)) {
			pause_accept(s);
			return;
		}
		fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0) {
			conn_new(s, fd);
		} else if (errno != EINTR && errno != ECONNABORTED) {
			if (errno != EAGAIN) /* EMFILE, ENFILE, ENOMEM: they wait in the backlog */
				pause_accept(s);
			return;
		}
	}
}

static void on_resume(void *ctx)
{
	struct ctl_server *s = ctx;

	s->paused = false;
	if (uv_poll_start(&s->poll, UV_READABLE, on_connection) != 0)
		pause_accept(s);
}

/* --- listening -------------------------------------------------------------------------------- */

static void copy_opts(struct ctl_server *s, const struct ctl_server_opts *o)
{
	s->deadline_ms = o->deadline_ms ? o->deadline_ms : CTL_DEADLINE_MS;
	s->hold_ms = o->hold_ms ? o->hold_ms : CTL_HOLD_MS;
	memcpy(s->max, slot_max, sizeof(slot_max));
	if (o->held_max != 0 && o->held_max < s->max[SLOT_HELD])
		s->max[SLOT_HELD] = o->held_max;
	s->nadmins = o->nadmins;
	s->admins = mem_zalloc(o->nadmins * sizeof(*s->admins) + 1);
	if (o->nadmins > 0)
		memcpy(s->admins, o->admins, o->nadmins * sizeof(*s->admins));
}

int ctl_server_new(struct ctl_server **out, struct loop *l, const struct ctl_server_opts *o,
		   const struct ctl_handler *h, struct err *e)
{
	struct ctl_server *s = mem_zalloc(sizeof(*s));
	int rc;

	*out = NULL;
	s->loop = l;
	s->fd = -1;
	s->handler = *h;
	s->quick.lastp = &s->quick.first;
	s->held.lastp = &s->held.first;
	s->handles = 1; /* the one that maybe_free() takes off */
	copy_opts(s, o);
	if (ctl_path_listen(&s->path, o->path, CTL_BACKLOG, &s->fd, e) != 0)
		goto fail;
	rc = uv_poll_init(loop_uv(l), &s->poll, s->fd);
	if (rc != 0) {
		(void)err_set(e, ERR_IO, "%s: %s", o->path, uv_strerror(rc));
		ctl_path_remove(&s->path);
		goto fail;
	}
	s->poll.data = s;
	s->resume = timer_new(l, on_resume, s);
	s->deadline = timer_new(l, on_deadline, s);
	s->turn = timer_new(l, on_turn, s);
	on_resume(s);
	*out = s;
	return 0;
fail:
	if (s->fd >= 0)
		(void)close(s->fd);
	maybe_free(s);
	return -1;
}

static void on_listener_closed(uv_handle_t *h)
{
	maybe_free(h->data);
}

void ctl_server_close(struct ctl_server *s)
{
	if (s == NULL)
		return;
	assert(!s->closing);
	s->closing = true;
	while (s->quick.first != NULL)
		conn_close(s->quick.first);
	while (s->held.first != NULL)
		conn_close(s->held.first);
	timer_free(s->resume);
	timer_free(s->deadline);
	timer_free(s->turn);
	ctl_path_remove(&s->path);
	uv_close((uv_handle_t *)&s->poll, on_listener_closed);
	(void)close(s->fd);
}
