/* room.h - watches the room on the journal's disk, and keeps a reserve there.
 *
 * Every purchase must be written to the journal, and so must every step of its end.  So buying
 * stops before the disk is full, and later writes have a reserve: a file beside the journal that
 * only holds blocks.  A write that finds the disk full gets a slice of it.  When there is room
 * again the reserve is refilled.  (On a file system that compresses zeros the reserve holds
 * nothing; there only the limits below protect.) */
#ifndef BURSTD_ROOM_H
#define BURSTD_ROOM_H

#include <stdbool.h>
#include <stdint.h>

enum {
	/* With less free space burstd buys nothing.  Between two looks 10,000 nodes can be bought
	 * and written, which is a few MiB, and the write-ahead log may grow as well. */
	ROOM_LOW = 32 << 20,
	/* With so much free space buying resumes, and the reserve is filled, which must leave more
	 * than ROOM_LOW, or the two would alternate for ever. */
	ROOM_ENOUGH = 48 << 20,
	/* Enough for the steps of some thousand deletes, and a checkpoint of the log. */
	ROOM_RESERVE = 8 << 20,
	/* Released at a time; not all at once, since whoever fills the disk may take it. */
	ROOM_SLICE = 1 << 20,
	/* Least free space to open the journal: SQLite needs it for the index of the log. */
	ROOM_OPEN = 512 << 10,
};

struct room {
	char *path;         /* of the reserve's file */
	char *dir;          /* its directory */
	int64_t free_bytes; /* available to burstd, at the last look; -1: not known */
	int64_t kept;       /* size of the reserve */
	bool low;           /* burstd must not buy */
};

/* The reserve is a file of this name in dir; it is not made yet. */
void room_init_in(struct room *r, const char *dir, const char *name);
/* The reserve is beside this file. */
void room_init(struct room *r, const char *file);
void room_fini(struct room *r); /* the reserve's file stays */

/* Read the free space, and fill the reserve if there is enough.  Normally one system call. */
void room_look(struct room *r);
/* Release a slice of the reserve to the file system.  false: nothing is left. */
bool room_give(struct room *r);

#endif
