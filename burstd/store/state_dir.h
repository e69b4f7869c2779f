/* state_dir.h - the directory burstd owns: its lock, and the cluster's uuid in a file of its own.
 *
 * The uuid is what marks instances as ours.  It outlives the journal on purpose: with a lost
 * journal our own instances must not become foreign. */
#ifndef BURSTD_STATE_DIR_H
#define BURSTD_STATE_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct journal;

enum { STATE_DIR_UUID_SIZE = 37 };

struct state_dir {
	int lock_fd;
	char uuid[STATE_DIR_UUID_SIZE];
	bool fresh; /* the uuid was made just now: there can be nothing of ours out there */
	/* Of the file last-batch: the journal knew of that purchase once; 0: none, -1: there is no
	 * such file.  A journal that does not is an older one (F58). */
	int64_t last_batch;
	int dir_fd;
};

/* Lock path (created 0700 if its parent exists) and read or make the uuid, durably.  The lock ends
 * with the process or state_dir_close(), not with a child.  -1 with *e, and nothing held: another
 * burstd holds it (ERR_LIMIT, its pid is named; F59); it is not ours alone: a link, of another
 * user, writable by group or others, or by not even us (ERR_AUTH); the uuid is damaged or lost,
 * while other files of ours are there (ERR_INVALID): it is never repaired by a new one. */
int state_dir_open(struct state_dir *d, const char *path, struct err *e);
void state_dir_close(struct state_dir *d); /* twice is fine */

/* Tie the journal to the uuid.  1: it is a new one, or was made by a burstd that was killed before
 * it came here; now it has both numbers.  2: it may be an older copy.  In both cases, but where all
 * is new, it is JOURNAL_DOUBTFUL from now on.  *gen_floor: generations begin above it.  Not 0 where
 * an older journal may be lost: above any that it can have given out.  -1: it belongs to another
 * uuid (ERR_INVALID), by which all that it knows would be foreign and bill on; or a failed commit.
 */
int state_dir_begin(struct state_dir *d, struct journal *j, int64_t now_ms, int64_t *gen_floor,
		    struct err *e);
/* A purchase of that number is in the journal.  Best effort: one that is not noted here is not
 * missed in a journal without it. */
void state_dir_note(struct state_dir *d, int64_t batch);

#endif
