/* poller.h - the agent's event loop: descriptors, deadlines, one poll().
 *
 * A few dozen things at most, so they are in a list and are looked at one by one. */
#ifndef AGENT_POLLER_H
#define AGENT_POLLER_H

#include <stdbool.h>
#include <stdint.h>

enum {
	POLLER_MAX = 64,       /* things at once: addresses, watchers, programs */
	POLLER_WAIT_MS = 10000 /* at most: the dead-man's switch counts turns, not only time */
};

#define POLLER_NEVER INT64_MAX

struct poller_item;
/* got: revents of poll(); 0: the deadline has passed.  May add, remove, free any item. */
typedef void (*poller_fn)(struct poller_item *it, short got, int64_t now);

struct poller_item { /* the owner's; zeroed before poller_add() */
	int fd;      /* -1: only a deadline */
	short want;
	int64_t deadline; /* by clock_boot_ms(); POLLER_NEVER: none.  Passes once: then it is never
			   */
	poller_fn fn;
	void *ctx;
	struct poller_item *next, **prevp;
	unsigned turn;
};

struct poller {
	struct poller_item *items;
	unsigned n, turn;
};

bool poller_room(const struct poller *p, unsigned n); /* for n more? */
void poller_add(struct poller *p, struct poller_item *it);
void poller_del(struct poller *p, struct poller_item *it); /* nothing when it is not in */
/* Wait for the first thing, and tell all whose time has come. */
void poller_turn(struct poller *p);

#endif
