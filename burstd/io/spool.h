/* spool.h - the calls of slurmctld, as files that burst-hook leaves in a directory (base/call.h).
 *
 * The directory is the only way in for calls (ADR 33).  It is watched by inotify, and read besides
 * every few seconds: a watch may overflow, or be lost with the directory.  Names sort by time; a
 * pass offers the files that one listing shows, in that order, and none twice.
 *
 * A file that is no whole call, or no plain file of ours, is moved aside to NAME.bad, never
 * deleted and never read again.  A name that begins with a dot is being written: it is left alone
 * until it is a minute old.  A file that cannot be deleted is remembered and not offered again by
 * this process; the next one finds it as it finds all others that are there when it begins. */
#ifndef BURSTD_SPOOL_H
#define BURSTD_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/call.h"
#include "base/err.h"

struct loop;
struct spool;

/* A file that is never offered: what burstd keeps free for calls on a full disk (store/room.h). */
#define SPOOL_RESERVE ".reserve"

enum {
	SPOOL_EVERY_MS = 5000,    /* between two listings when nothing is heard */
	SPOOL_UNWATCHED_MS = 500, /* ... and when the directory cannot be watched */
	/* After a name is heard of, before the directory is listed: its hook still syncs the file,
	 * and would have to share its processor with a burstd that reads 10,000 nodes (2 to 5 ms
	 * more for the hook, measured). */
	SPOOL_SETTLE_MS = 2,
	/* One pass holds the loop: it ends after so many files, or when so many bytes were read. */
	SPOOL_PASS_MAX = 64,
	SPOOL_PASS_BYTES = 32 << 20,
	SPOOL_LIST_MAX = 65536, /* names of one listing; the others come with the next one */
	SPOOL_FILE_MAX = CALL_LIST_MAX + CALL_FILE_MAX + CALL_END,
	SPOOL_STALE_MS = 60000, /* a hook lives two seconds */
};

struct spool_call { /* one file; borrowed by the function that is given it */
	const char *name;
	enum call_kind kind;
	int64_t age_ms; /* since its hook was started; below 0 or INT64_MAX: it cannot be known */
	bool early;     /* it lay there when this process listed the directory for the first time */
	const char *list; /* not NUL-terminated */
	size_t list_len;
	const char *file; /* the resume file; NULL: there is none, or not all of it */
	size_t file_len;
};

/* Take one call.  true: its file is to stay until spool_done().  false: delete it. */
typedef bool (*spool_fn)(void *ctx, const struct spool_call *c);

struct spool *spool_new(struct loop *l, const char *dir); /* dir is borrowed */
void spool_free(struct spool *s);                         /* NULL is fine; frees from the loop */

/* Call wake(ctx), from the loop, when there is something for spool_pass(). */
void spool_on_wake(struct spool *s, void (*wake)(void *ctx), void *ctx);
/* When spool_pass() is due next, by loop_now(); a time that has passed: now. */
int64_t spool_next_ms(const struct spool *s);

/* If it is due, offer some of the files, oldest first.  -1 with *e: the directory cannot be read,
 * or is one that others than root and ourselves can write to, or a file of this listing could
 * not be read or taken away.  Follows no link. */
int spool_pass(struct spool *s, spool_fn fn, void *ctx, struct err *e);
/* Delete the file of a call that was to stay.  Nothing is synced: a file that comes back after a
 * crash is an early one. */
void spool_done(struct spool *s, const char *name);

uint64_t spool_bad(const struct spool *s); /* files moved aside since spool_new() */

/* As spool_check(), of this one's directory. */
int spool_look(const struct spool *s, const char **note, struct err *e);

/* Can hooks leave calls there, and burstd read and delete them?  -1 with *e: no.  *note: what is
 * good to know all the same, as the rest of a sentence about the directory; NULL: nothing. */
int spool_check(const char *dir, const char **note, struct err *e);

#endif
