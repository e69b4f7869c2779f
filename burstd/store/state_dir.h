/* state_dir.h - the directory burstd owns: its lock, and the cluster's uuid in a file of its own.
 *
 * The uuid is in the tags of the cluster's instances.  It is not in the journal, so that after a
 * loss of the journal these instances do not become foreign. */
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
	bool fresh; /* the uuid was made just now: no instance can have it */
	/* The number in the file last-batch: the last purchase that a journal had; 0: none, -1:
	 * there is no file.  A journal without this purchase is an older copy (F58). */
	int64_t last_batch;
	int dir_fd;
};

/* Lock path (made with mode 0700 if its parent exists) and read or make the uuid, durably.  The
 * lock ends with the process or state_dir_close(), not with a child.  -1: *e, and nothing is
 * locked: another burstd has the lock (ERR_LIMIT with its pid; F59); path is a link, of another
 * user, writable by others, or not writable (ERR_AUTH); the uuid is damaged, or lost while other
 * files of burstd are there (ERR_INVALID): it is never replaced by a new one. */
int state_dir_open(struct state_dir *d, const char *path, struct err *e);
void state_dir_close(struct state_dir *d); /* twice is fine */

/* Only look for the uuid in path, beside a burstd that may run: no lock, and nothing is made.  0:
 * there is one; 1: there is none yet, and *out is "".  -1: *e. */
int state_dir_look(const char *path, char out[STATE_DIR_UUID_SIZE], struct err *e);

/* Tie the journal to the uuid.  1: the journal is new, or made by a burstd that was killed before
 * this call; now it has both numbers.  2: it may be an older copy.  In both cases it is
 * JOURNAL_DOUBTFUL from now on, unless the uuid is new as well.  *gen_floor: generations begin
 * above it; not 0 if an older journal may be lost: then it is above all generations of that.  -1:
 * the journal is of another uuid (ERR_INVALID), so that its instances would be foreign and bill on;
 * or a commit failed. */
int state_dir_begin(struct state_dir *d, struct journal *j, int64_t now_ms, int64_t *gen_floor,
		    struct err *e);
/* Note the number of a purchase that is in the journal.  Best effort: without the note an older
 * copy of the journal is not recognised by it. */
void state_dir_note(struct state_dir *d, int64_t batch);

#endif
