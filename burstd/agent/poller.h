/* poller.h - the agent's event loop: descriptors, deadlines, one poll().
 *
 * It has a few dozen items at most, so a list will do. */
#ifndef AGENT_POLLER_H
#define AGENT_POLLER_H

#include <stdbool.h>
#include <stdint.h>

enum {
	POLLER_MAX = 64,       /* items: addresses, watchers, programs */
	POLLER_WAIT_MS = 10000 /* longest wait: the dead-man's switch counts turns */
};

#define POLLER_NEVER INT64_MAX

struct poller_item;
/* got: revents of poll(); 0: the deadline has passed.  May add, remove and free any item. */
typedef void (*poller_fn)(struct poller_item *it, short got, int64_t now);

struct poller_item { /* the owner's; zeroed before poller_add() */
	int fd;      /* -1: only a deadline */
	short want;
	int64_t deadline; /* by clock_boot_ms(); POLLER_NEVER: none, and so after it has passed */
	poller_fn fn;
	void *ctx;
	struct poller_item *next, **prevp;
	unsigned turn;
};

struct poller {
	struct poller_item *items;
	unsigned n, turn;
};

bool poller_room(const struct poller *p, unsigned n); /* is there room for n more? */
void poller_add(struct poller *p, struct poller_item *it);
void poller_del(struct poller *p, struct poller_item *it); /* an absent item is fine */
/* Wait for the first event, and call the fn of every item that has one. */
void poller_turn(struct poller *p);

#endif
