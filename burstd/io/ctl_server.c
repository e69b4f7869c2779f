#include "io/ctl_server.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "io/ctl_path.h"
#include "io/ctl_server_private.h"
#include "io/loop.h"

enum {
	CTL_BACKLOG = 1024,        /* 1,000 jobs may start at once */
	CTL_ACCEPT_BATCH = 32,     /* connections taken before others have their turn */
	CTL_ACCEPT_PAUSE_MS = 100, /* no descriptor left: trying at once would only spin (F56) */
	CTL_SILENT_MS = 100,
};

static const unsigned slot_max[SLOTS] = {
	[SLOT_OWN] = CTL_OWN_SLOTS,       [SLOT_OPERATOR] = CTL_OPERATOR_SLOTS,
	[SLOT_VIEWER] = CTL_VIEWER_SLOTS, [SLOT_HELD] = CTL_HELD_SLOTS,
	[SLOT_WATCH] = CTL_WATCH_SLOTS,
};

/* --- accepting -------------------------------------------------------------------------------- */

static enum ctl_slot first_slot(const struct ctl_conn *c)
{
	if (c->is_own)
		return SLOT_OWN;
	return ctl_is(&c->who, CTL_OPERATOR) ? SLOT_OPERATOR : SLOT_VIEWER;
}

/* Has the connection sent no whole frame for a while, and is there nothing to read?  burst-prolog
 * sends its request at once. */
static bool is_silent(const struct ctl_conn *c, int64_t now)
{
	int64_t age = now - (c->due - c->server->deadline_ms);
	char byte;

	return c->state == CONN_FIRST && age >= CTL_SILENT_MS &&
	       recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1;
}

/* Is there an own slot for the next connection, which may be burst-prolog's?  If not, it waits in
 * the backlog rather than to be refused; but a silent connection is closed for it. */
static bool have_own_slot(struct ctl_server *s)
{
	int64_t now = loop_now(s->loop);

	if (s->used[SLOT_OWN] < CTL_OWN_SLOTS)
		return true;
	for (struct ctl_conn *c = s->quick.first; c != NULL; c = c->next)
		if (c->slot == SLOT_OWN && is_silent(c, now)) {
			ctl_conn_close(c);
			return true;
		}
	return false;
}

static bool has_room(struct ctl_server *s, const struct ctl_conn *c)
{
	struct ctl_conn *other;

	if (s->used[c->slot] < s->max[c->slot])
		return true;
	other = c->slot == SLOT_VIEWER ? ctl_conn_greediest(&s->quick, SLOT_VIEWER, c->who.uid)
				       : NULL;
	if (other != NULL)
		ctl_conn_close(other);
	return other != NULL;
}

static void conn_link(struct ctl_conn *c)
{
	struct ctl_server *s = c->server;

	s->used[c->slot]++;
	s->handles++;
	ctl_conn_queue(c, &s->quick, s->deadline_ms);
}

/* Takes fd. */
static void conn_new(struct ctl_server *s, int fd)
{
	struct ctl_conn *c = mem_zalloc(sizeof(*c));

	c->server = s;
	c->fd = fd;
	c->poll.data = c;
	frame_reader_init(&c->reader);
	if (ctl_role_find(&c->who, fd, &s->people) != 0)
		goto no;
	c->is_own = (c->who.roles & CTL_OWN) != 0;
	c->slot = first_slot(c);
	if (!has_room(s, c) || uv_poll_init(loop_uv(s->loop), &c->poll, fd) != 0)
		goto no;
	conn_link(c);
	ctl_request_watch(c, UV_READABLE);
	if (!c->closed)
		ctl_request_readable(c); /* burst-prolog has sent its request by now */
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

		/* Only the first connection surely exists, and may cost another one its slot. */
		if (i > 0 && s->used[SLOT_OWN] >= CTL_OWN_SLOTS)
			return;
		if (!have_own_slot(s)) {
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

void ctl_server_know(struct ctl_server *s, const struct conf_people *people)
{
	ctl_people_fini(&s->people);
	ctl_people_dup(&s->people, people);
}

/* --- listening -------------------------------------------------------------------------------- */

static void copy_opts(struct ctl_server *s, const struct ctl_server_opts *o)
{
	s->deadline_ms = o->deadline_ms ? o->deadline_ms : CTL_DEADLINE_MS;
	s->hold_ms = o->hold_ms ? o->hold_ms : CTL_HOLD_MS;
	memcpy(s->max, slot_max, sizeof(slot_max));
	if (o->held_max != 0 && o->held_max < s->max[SLOT_HELD])
		s->max[SLOT_HELD] = o->held_max;
	if (o->people != NULL)
		ctl_server_know(s, o->people);
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
	s->handles = 1; /* released by ctl_server_maybe_free() */
	copy_opts(s, o);
	if (o->fd > 0)
		s->fd = o->fd;
	else if (ctl_path_listen(&s->path, o->path, CTL_BACKLOG, &s->fd, e) != 0)
		goto fail;
	if (o->stays)
		ctl_path_fini(&s->path);
	rc = uv_poll_init(loop_uv(l), &s->poll, s->fd);
	if (rc != 0) {
		(void)err_set(e, ERR_IO, "%s: %s", o->path, uv_strerror(rc));
		ctl_path_remove(&s->path);
		goto fail;
	}
	s->poll.data = s;
	s->resume = timer_new(l, on_resume, s);
	s->deadline = timer_new(l, ctl_request_on_deadline, s);
	s->turn = timer_new(l, ctl_request_on_turn, s);
	on_resume(s);
	*out = s;
	return 0;
fail:
	if (s->fd >= 0)
		(void)close(s->fd);
	ctl_server_maybe_free(s);
	return -1;
}

int ctl_server_fd(const struct ctl_server *s)
{
	return s->fd;
}

static void on_listener_closed(uv_handle_t *h)
{
	ctl_server_maybe_free(h->data);
}

void ctl_server_close(struct ctl_server *s)
{
	if (s == NULL)
		return;
	assert(!s->closing);
	s->closing = true;
	while (s->quick.first != NULL)
		ctl_conn_close(s->quick.first);
	while (s->held.first != NULL)
		ctl_conn_close(s->held.first);
	timer_free(s->resume);
	timer_free(s->deadline);
	timer_free(s->turn);
	ctl_path_remove(&s->path);
	uv_close((uv_handle_t *)&s->poll, on_listener_closed);
	(void)close(s->fd);
}
