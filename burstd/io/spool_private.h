/* spool_private.h - what spool.c has in files of their own: the watch of the directory, and files
 * of the former format. */
#ifndef BURSTD_SPOOL_PRIVATE_H
#define BURSTD_SPOOL_PRIVATE_H

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/spool.h"

/* Nobody but root and ourselves can have written it. */
static inline bool spool_is_trusted(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) &&
	       (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static inline bool spool_is_aside(const char *name)
{
	const size_t len = strlen(name);

	return len >= 4 && strcmp(name + len - 4, ".bad") == 0;
}

/* --- spool_watch.c --- */
struct spool_watch;
/* came(ctx), from the loop: a file was put there, or something may have been missed. */
struct spool_watch *spool_watch_new(struct loop *l, const char *dir, void (*came)(void *ctx),
				    void *ctx);
void spool_watch_free(struct spool_watch *w); /* from the loop */
/* Watch what has the directory's name now, which may be another one than before. */
void spool_watch_renew(struct spool_watch *w);
bool spool_watch_works(const struct spool_watch *w);

/* --- spool_former.c --- */
/* A file as burst-hook wrote it until version 0.1: frames (docs/protocol.md of then).  Only its
 * kind is of use, as it says no age that can be believed.  false: it is not one. */
bool spool_read_former(struct spool_call *c, const char *bytes, size_t len);

#endif
