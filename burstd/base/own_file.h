/* own_file.h - writes a small file of burstd's own atomically and durably.  Running nodes depend on
 * the keys and names in such files: half a file would be useless, and is never replaced. */
#ifndef BURSTD_OWN_FILE_H
#define BURSTD_OWN_FILE_H

#include <stddef.h>

enum own_file_how {
	OWN_FILE_REPLACE,
	OWN_FILE_NEW,        /* keep an existing file: EEXIST */
	OWN_FILE_NEW_PUBLIC, /* likewise, and others may read it */
};

/* The directory of a path ("." if it names none), the caller's (free()); *name is the rest of it.
 */
char *own_file_split(const char *path, const char **name);

/* Write NAME, mode 0600 (0644 if public), in the open directory dir, by way of NAME.tmp; an old
 * NAME.tmp of a crash is removed.  -1: errno. */
int own_file_write(int dir, const char *name, const void *bytes, size_t len, enum own_file_how how);

/* Write all of it to fd, and have it on disk.  -1: errno; a part may be written. */
int own_file_put(int fd, const char *bytes, size_t len);

#endif
