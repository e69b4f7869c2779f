/* spool.h - calls that a hook could not hand over, left as files.
 *
 * A file is exactly the bytes the hook would have sent (base/frame.h).  Names sort by time.  What
 * does not parse, or is no plain file, is moved aside to NAME.bad, never deleted and never tried
 * again.  Names that begin with a dot are being written: they are left alone until they are a
 * minute old. */
#ifndef BURSTD_SPOOL_H
#define BURSTD_SPOOL_H

#include <stddef.h>

#include "base/err.h"
#include "io/ctl_server.h"

enum {
	/* One pass holds the loop: it ends after so many files, or when so many bytes were read. */
	SPOOL_PASS_MAX = 64,
	SPOOL_PASS_BYTES = 32 << 20,
	SPOOL_FILE_MAX =
		64 << 20, /* bytes; the hook writes at most 17 MiB and the headers of frames */
	SPOOL_STALE_MS = 60000, /* a hook lives two seconds */
};

/* Take one spooled call: make it durable and return 0, and the file is deleted (and the directory
 * synced); return -1 and it stays for the next pass, or, with ERR_INVALID, is moved aside: it would
 * be refused for ever, and all behind it would wait. */
typedef int (*spool_fn)(void *ctx, const struct ctl_call *call, struct err *e);

/* Offer the files of dir, oldest first.  Return how many were taken (or moved aside), or -1 with
 * *e: also when fn refused one, for those behind it would overtake it.  A file that the disk cannot
 * read (EIO) stays and is skipped; then, too, -1 is returned.  A missing directory is an empty one.
 * Refuses a directory that others than root and ourselves can write to, and follows no link. */
int spool_drain(const char *dir, spool_fn fn, void *ctx, struct err *e);

#endif
