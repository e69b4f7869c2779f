/* Slots, queues and closing of the connections of the control socket.  Each has a slot of its kind,
 * and is in a queue of connections with the same time limit. */
#include <stdlib.h>
#include <unistd.h>

#include "io/ctl_server_private.h"
#include "io/loop.h"

/* --- queues and slots ------------------------------------------------------------------------- */

void ctl_server_set_deadline(struct ctl_server *s)
{
	int64_t quick = s->quick.first != NULL ? s->quick.first->due : INT64_MAX;
	int64_t held = s->held.first != NULL ? s->held.first->due : INT64_MAX;

	timer_at(s->deadline, quick < held ? quick : held);
}

void ctl_conn_queue(struct ctl_conn *c, struct ctl_fifo *f, uint32_t ms)
{
	c->in = f;
	c->next = NULL;
	c->prevp = f->lastp;
	*f->lastp = c;
	f->lastp = &c->next;
	c->due = loop_now(c->server->loop) + ms;
	ctl_server_set_deadline(c->server);
}

void ctl_conn_unqueue(struct ctl_conn *c)
{
	*c->prevp = c->next;
	if (c->next != NULL)
		c->next->prevp = c->prevp;
	else
		c->in->lastp = c->prevp;
}

static void release_slot(struct ctl_server *s, enum ctl_slot slot)
{
	s->used[slot]--;
	if (slot == SLOT_OWN && s->paused && !s->closing)
		timer_at(s->resume, 0);
}

/* Move a connection from a scarce slot, once it is known what the peer wants. */
bool ctl_conn_move_to(struct ctl_conn *c, enum ctl_slot slot)
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

static unsigned count_of(const struct ctl_fifo *f, enum ctl_slot slot, uint32_t uid)
{
	unsigned n = 0;

	for (const struct ctl_conn *c = f->first; c != NULL; c = c->next)
		n += c->slot == slot && c->who.uid == uid;
	return n;
}

/* Keep one user from taking the slots of all: find the oldest connection of the user who has most,
 * if that is more than the newcomer would have.  NULL: nobody has more than a fair share. */
struct ctl_conn *ctl_conn_greediest(const struct ctl_fifo *f, enum ctl_slot slot, uint32_t newcomer)
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

/* --- closing ---------------------------------------------------------------------------------- */

void ctl_server_maybe_free(struct ctl_server *s)
{
	if (--s->handles > 0)
		return;
	ctl_path_fini(&s->path);
	ctl_people_fini(&s->people);
	free(s);
}

static void on_conn_closed(uv_handle_t *h)
{
	struct ctl_conn *c = h->data;
	struct ctl_server *s = c->server;

	frame_reader_fini(&c->reader);
	free(c->answer);
	free(c->request);
	free(c);
	ctl_server_maybe_free(s);
}

/* Memory is freed only when the loop calls back: a handler or a frame reader may be on the stack.
 */
void ctl_conn_close(struct ctl_conn *c)
{
	struct ctl_server *s = c->server;

	if (c->closed)
		return;
	c->closed = true;
	ctl_conn_unqueue(c);
	release_slot(s, c->slot);
	uv_close((uv_handle_t *)&c->poll, on_conn_closed);
	(void)close(c->fd); /* after uv_close(), which stops watching it */
	if (!s->closing)
		ctl_server_set_deadline(s);
	if (c->state == CONN_HELD)
		s->handler.gone(s->handler.ctx, c->hold);
}
