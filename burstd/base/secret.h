/* secret.h - secrets in memory: API keys, from files that only burstd can read, and other keys.
 *
 * A secret has a file of its own, and is never in burstd.conf, so that the configuration can be
 * shown, logged and kept in git.  A file that others can read or write is refused, except below
 * systemd's $CREDENTIALS_DIRECTORY; protecting other directories is up to the admin.  In memory a
 * secret has its own pages: locked if the limit allows it, never in a core dump, and wiped at the
 * end. */
#ifndef BURSTD_SECRET_H
#define BURSTD_SECRET_H

#include <stddef.h>

#include "base/err.h"

struct secret;

enum { SECRET_MAX = 16384 }; /* bytes; an RSA key in PEM is about 3 KiB */

/* Read path without trailing white space; a NUL byte is an error.  *out is the caller's
 * (secret_free()), NULL on failure. */
int secret_load(struct secret **out, const char *path, struct err *e);
/* Copy up to SECRET_MAX bytes; the caller wipes the original.  NULL: too many. */
struct secret *secret_new(const void *bytes, size_t len);
struct secret *secret_dup(const struct secret *s); /* NULL gives NULL */
const char *secret_text(const struct secret *s);   /* NUL-terminated; borrowed from s */
size_t secret_len(const struct secret *s);
/* Can as many secrets as a busy burstd has be locked in memory?  -1: *e says why not; secrets may
 * be swapped out then. */
int secret_try_lock(struct err *e);
void secret_free(struct secret *s); /* wipes it; NULL is fine */
/* Wipe and free a copy of a secret that was made elsewhere, *text, and set it to NULL; NULL is
 * fine.  Only the text is wiped, so it must fill its memory. */
void secret_wipe(char **text);

#endif
