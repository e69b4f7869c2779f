/* secret_file.h - a secret in a file that is replaced now and then: which version is it, and may it
 * be believed?
 *
 * Beside NAME may lie NAME.version, one word of at most 64 bytes that says which it is; without it
 * the time of the last change does.  Both, and the directory, must be root's or our own and nobody
 * else's to read. */
#ifndef BURSTD_SECRET_FILE_H
#define BURSTD_SECRET_FILE_H

#include "base/err.h"
#include "base/secret.h"

enum { SECRET_FILE_VERSION_SIZE = 65 };

/* 0: *out is the caller's (secret_free()); 1: there is no such file; -1: *e.  *out NULL in both. */
int secret_file_read(const char *path, struct secret **out, char version[SECRET_FILE_VERSION_SIZE],
		     struct err *e);
/* Whole or not at all, durable, mode 0600; version NULL: none is written beside it.  The directory
 * must be there. */
int secret_file_write(const char *path, const void *bytes, size_t len, const char *version,
		      struct err *e);

#endif
