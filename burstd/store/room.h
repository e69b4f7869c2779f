/* room.h - is there room on the journal's disk; and some of it, set aside.
 *
 * What is bought must be written down, and so must every step of getting rid of it.  So buying
 * stops while there is room left, and what must be written after that has a reserve: a file beside
 * the journal that holds blocks and says nothing.  A write that finds the disk full gets a slice
 * of it.  With room again it is made whole.  (A file system that compresses zeros keeps none of
 * it; there the limits below do alone.) */
#ifndef BURSTD_ROOM_H
#define BURSTD_ROOM_H

#include <stdbool.h>
#include <stdint.h>

enum {
	/* Less is free: nothing is bought.  Between two looks 10,000 nodes can be bought and
	 * written, which is a few MiB, and the log beside the journal may grow by some more. */
	ROOM_LOW = 32 << 20,
	/* So much is free: buying goes on, and the reserve is made; which must leave more than the
	 * above, or the one would follow the other for ever. */
	ROOM_ENOUGH = 48 << 20,
	/* The steps of some thousand deletes, and a log that is worth tidying up after. */
	ROOM_RESERVE = 8 << 20,
	/* Given away at once: whoever fills the disk takes what we leave, so not all of it. */
	ROOM_SLICE = 1 << 20,
	/* Less is free when the journal is to be opened: SQLite's index of the log may not fit. */
	ROOM_OPEN = 512 << 10,
};

struct room {
	char *path;         /* of the reserve */
	char *dir;          /* where it is */
	int64_t free_bytes; /* for us, at the last look; -1: never known */
	int64_t kept;       /* in the reserve */
	bool low;           /* nothing may be bought */
};

/* The reserve is a file of that name in dir; nothing is made yet. */
void room_init_in(struct room *r, const char *dir, const char *name);
/* Beside this file. */
void room_init(struct room *r, const char *file);
void room_fini(struct room *r); /* the reserve stays */

/* See how much is free, and make the reserve whole when that is enough.  One system call as a
 * rule. */
void room_look(struct room *r);
/* Give a slice of the reserve to the file system.  false: there is none left. */
bool room_give(struct room *r);

#endif
