#include "agent/poller.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>

#include "base/clock.h"

bool poller_room(const struct poller *p, unsigned n)
{
	return p->n + n <= POLLER_MAX;
}

void poller_add(struct poller *p, struct poller_item *it)
{
	assert(poller_room(p, 1) && it->prevp == NULL);
	it->turn = p->turn; /* a new item has its first turn next time */
	it->next = p->items;
	it->prevp = &p->items;
	if (it->next != NULL)
		it->next->prevp = &it->next;
	p->items = it;
	p->n++;
}

void poller_del(struct poller *p, struct poller_item *it)
{
	if (it->prevp == NULL)
		return;
	*it->prevp = it->next;
	if (it->next != NULL)
		it->next->prevp = it->prevp;
	it->next = NULL;
	it->prevp = NULL;
	p->n--;
}

static int wait_ms(const struct poller *p, int64_t now)
{
	int64_t first = now + POLLER_WAIT_MS;

	for (const struct poller_item *it = p->items; it != NULL; it = it->next)
		if (it->deadline < first)
			first = it->deadline;
	return first > now ? (int)(first - now) : 0;
}

/* The events that poll() returned for an item. */
static short look(const struct pollfd *fds, unsigned n, const struct poller_item *it)
{
	if (it->fd < 0)
		return 0;
	for (unsigned i = 0; i < n; i++)
		if (fds[i].fd == it->fd)
			return fds[i].revents;
	return 0;
}

/* The next item that has not had this turn.  Search from the beginning: the list may have changed.
 */
static struct poller_item *next_of_turn(const struct poller *p)
{
	struct poller_item *it = p->items;

	while (it != NULL && it->turn == p->turn)
		it = it->next;
	return it;
}

void poller_turn(struct poller *p)
{
	struct pollfd fds[POLLER_MAX];
	struct poller_item *it;
	unsigned n = 0;
	int64_t now;
	int rc;

	for (it = p->items; it != NULL; it = it->next)
		if (it->fd >= 0)
			fds[n++] = (struct pollfd){.fd = it->fd, .events = it->want};
	rc = poll(fds, n, wait_ms(p, clock_boot_ms()));
	assert(rc >= 0 || errno == EINTR || errno == ENOMEM);
	if (rc < 0)
		n = 0;
	now = clock_boot_ms();
	p->turn++;
	while ((it = next_of_turn(p)) != NULL) {
		short got = look(fds, n, it);

		it->turn = p->turn;
		if (got != 0) {
			it->fn(it, got, now);
		} else if (it->deadline <= now) {
			it->deadline = POLLER_NEVER;
			it->fn(it, 0, now);
		}
	}
}
