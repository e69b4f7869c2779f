/* secret_file.h - a secret in a file that is replaced now and then, with its version.
 *
 * NAME.version beside NAME may hold the version, one word of at most 64 bytes; without it the
 * version is the time of the last change.  Both files, and the directory, must belong to root or to
 * burstd's user, and nobody else may read them. */
#ifndef BURSTD_SECRET_FILE_H
#define BURSTD_SECRET_FILE_H

#include "base/err.h"
#include "base/secret.h"

enum { SECRET_FILE_VERSION_SIZE = 65 };

/* 0: *out is the caller's (secret_free()); 1: there is no such file; -1: *e.  *out is NULL after 1
 * and -1. */
int secret_file_read(const char *path, struct secret **out, char version[SECRET_FILE_VERSION_SIZE],
		     struct err *e);
/* Write atomically and durably, mode 0600; version NULL: without NAME.version.  The directory must
 * exist. */
int secret_file_write(const char *path, const void *bytes, size_t len, const char *version,
		      struct err *e);

#endif
