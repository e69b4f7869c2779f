/* Reads requests from the control socket, frame by frame, and answers them: at once, when it is a
 * viewer's turn, or later, if the handler holds the request. */
#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "io/ctl_server_private.h"
#include "io/loop.h"

/* --- answering -------------------------------------------------------------------------------- */

/* Send the answer.  Nothing more is read from the peer. */
static void on_writable(struct ctl_conn *c)
{
	while (c->written < c->answer_len) {
		ssize_t n = send(c->fd, c->answer + c->written, c->answer_len - c->written,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			ctl_request_watch(c, UV_WRITABLE);
			return;
		}
		if (n < 0)
			break;
		c->written += (size_t)n;
	}
	ctl_conn_close(c);
}

static void answer(struct ctl_conn *c, const char *json, size_t len)
{
	unsigned char head[FRAME_HEADER];

	assert(c->state != CONN_ANSWER);
	c->state = CONN_ANSWER;
	frame_header(head, (uint32_t)len);
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

/* Send the handler's answer; takes json. */
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

static void expire(struct ctl_conn *c);

/* Move the connection to a watch slot.  If there is none, expire one of the user who has most: its
 * peer asks again, and then must wait for room itself. */
static bool move_to_watch(struct ctl_conn *c)
{
	struct ctl_server *s = c->server;
	struct ctl_conn *other;

	if (ctl_conn_move_to(c, SLOT_WATCH))
		return true;
	other = ctl_conn_greediest(&s->held, SLOT_WATCH, c->who.uid);
	if (other == NULL)
		return false;
	expire(other);
	if (!s->closing)
		ctl_conn_close(other); /* if its answer was not sent at once */
	return !c->closed && ctl_conn_move_to(c, SLOT_WATCH);
}

bool ctl_server_hold(struct ctl_conn *c, void *hold)
{
	struct ctl_server *s = c->server;

	assert(c->state == CONN_FIRST && !c->closed);
	if (!(c->is_own ? ctl_conn_move_to(c, SLOT_HELD) : move_to_watch(c)))
		return false;
	c->state = CONN_HELD;
	c->hold = hold;
	ctl_conn_unqueue(c);
	ctl_conn_queue(c, &s->held, s->hold_ms);
	return true;
}

/* End the hold: from now on the usual deadline applies. */
static void unhold(struct ctl_conn *c)
{
	struct ctl_server *s = c->server;

	assert(c->state == CONN_HELD && !c->closed);
	c->state = CONN_FIRST;
	c->hold = NULL;
	ctl_conn_unqueue(c);
	ctl_conn_queue(c, &s->quick, s->deadline_ms);
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

void ctl_request_on_deadline(void *ctx)
{
	struct ctl_server *s = ctx;
	int64_t now = loop_now(s->loop);

	while (s->quick.first != NULL && s->quick.first->due <= now)
		ctl_conn_close(s->quick.first);
	while (s->held.first != NULL && s->held.first->due <= now)
		expire(s->held.first);
	if (!s->closing)
		ctl_server_set_deadline(s);
}

/* Close a held connection that becomes readable: after one whole request only its end, or an error,
 * can follow. */
static void on_held_readable(struct ctl_conn *c)
{
	char byte;
	ssize_t n = recv(c->fd, &byte, 1, MSG_DONTWAIT);

	if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		ctl_conn_close(c);
}

/* --- understanding ---------------------------------------------------------------------------- */

static void handle(struct ctl_conn *c, const char *data, size_t len)
{
	struct ctl_server *s = c->server;
	char *json;

	json = s->handler.request(s->handler.ctx, c, &c->who, data, len);
	assert(json != NULL || c->state == CONN_HELD || c->closed);
	if (json != NULL)
		answer_take(c, json);
}

/* Queue a viewer's request: each pass of the loop handles one, so that a hook waits for one answer
 * to somebody else and not for as many as there are slots.  Parsing is deferred, too: 128 KiB of
 * brackets take a while. */
static void await_turn(struct ctl_conn *c, const char *data, size_t len)
{
	c->state = CONN_TURN;
	c->request = mem_zalloc(len + 1);
	memcpy(c->request, data, len);
	c->request_len = len;
	(void)uv_poll_stop(&c->poll); /* nothing more is read from him */
	timer_at(c->server->turn, 0);
}

static struct ctl_conn *next_turn(const struct ctl_server *s)
{
	struct ctl_conn *c = s->quick.first;

	while (c != NULL && c->state != CONN_TURN)
		c = c->next;
	return c;
}

void ctl_request_on_turn(void *ctx)
{
	struct ctl_server *s = ctx;
	struct ctl_conn *c = next_turn(s);

	if (c == NULL)
		return; /* it was closed meanwhile */
	c->state = CONN_FIRST;
	ctl_request_watch(c, UV_READABLE);
	if (!c->closed)
		handle(c, c->request, c->request_len);
	if (!s->closing && next_turn(s) != NULL)
		timer_at(s->turn, 0);
}

static void on_request(struct ctl_conn *c, const char *data, size_t len)
{
	/* Free an own slot for a connection that has not asked yet.  If the operators' slots are
	 * full, keep it: this may be burst-prolog, whose job must start. */
	if (c->slot == SLOT_OWN)
		(void)ctl_conn_move_to(c, SLOT_OPERATOR);
	handle(c, data, len);
}

/* Is there an answer, will there be one, or is the peer gone? */
static bool is_over(const struct ctl_conn *c)
{
	return c->state == CONN_ANSWER || c->state == CONN_HELD || c->state == CONN_TURN ||
	       c->closed;
}

/* -1 ends the reading: a request is one frame. */
static int on_frame(void *ctx, const char *data, size_t len, struct err *e)
{
	struct ctl_conn *c = ctx;

	(void)e;
	if (c->slot == SLOT_VIEWER)
		await_turn(c, data, len);
	else
		on_request(c, data, len);
	return -1;
}

void ctl_request_readable(struct ctl_conn *c)
{
	struct ctl_server *s = c->server;
	ssize_t n = recv(c->fd, s->chunk, sizeof(s->chunk), MSG_DONTWAIT);
	struct err e = {0};
	int rc;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) { /* half a request is no request */
		ctl_conn_close(c);
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
		ctl_conn_close(c);
	else if (c->state == CONN_ANSWER)
		on_writable(c);
	else if (c->state == CONN_HELD)
		on_held_readable(c);
	else
		ctl_request_readable(c);
}

void ctl_request_watch(struct ctl_conn *c, int events)
{
	if (uv_poll_start(&c->poll, events, on_poll) != 0)
		ctl_conn_close(c);
}
