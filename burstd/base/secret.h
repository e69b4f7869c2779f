/* secret.h - API keys, read from files that only we can read, and other bytes that nobody may see.
 *
 * A secret lives in its own file, never in burstd.conf, so that the configuration can be shown,
 * logged and kept in git.  A file that others can read or write is refused, but for what systemd
 * hands to us below $CREDENTIALS_DIRECTORY; any other directory is the admin's to guard.  In memory
 * it has pages of its own: locked where the limit allows it, never in a core dump, and wiped at the
 * end. */
#ifndef BURSTD_SECRET_H
#define BURSTD_SECRET_H

#include <stddef.h>

#include "base/err.h"

struct secret;

enum { SECRET_MAX = 16384 }; /* bytes; an RSA key in PEM is about 3 KiB */

/* Read path, less trailing white space; a NUL byte within is an error.  *out is the caller's
 * (secret_free()), NULL on failure. */
int secret_load(struct secret **out, const char *path, struct err *e);
/* A copy of up to SECRET_MAX bytes: the caller wipes its own.  NULL: too many. */
struct secret *secret_new(const void *bytes, size_t len);
struct secret *secret_dup(const struct secret *s); /* NULL is fine, and gives NULL */
const char *secret_text(const struct secret *s);   /* with a NUL behind it; lives as long as s */
size_t secret_len(const struct secret *s);
/* Can as many as a busy burstd has be locked?  -1: *e says why not; what is loaded then may be
 * swapped out. */
int secret_try_lock(struct err *e);
void secret_free(struct secret *s); /* wipes it; NULL is fine */
/* Wipe and free a copy of one that was made elsewhere, *text, and set it to NULL; NULL is fine.  It
 * must end where its memory does: what is behind the end of the text is not wiped. */
void secret_wipe(char **text);

#endif
