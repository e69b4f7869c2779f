/* secret.h - API keys, read from files that only we can read.
 *
 * A secret lives in its own file, never in burstd.conf, so that the configuration can be shown,
 * logged and kept in git.  A file that others can read or write is refused; its directory is the
 * admin's to guard. */
#ifndef BURSTD_SECRET_H
#define BURSTD_SECRET_H

#include "base/err.h"

struct secret;

/* Read path, less trailing white space; a NUL byte within is an error.  *out is the caller's
 * (secret_free()), NULL on failure. */
int secret_load(struct secret **out, const char *path, struct err *e);
const char *secret_text(const struct secret *s); /* lives as long as s */
void secret_free(struct secret *s);              /* wipes it; NULL is fine */
/* Wipe and free a copy of one that was made elsewhere, *text, and set it to NULL; NULL is fine.  It
 * must end where its memory does: what is behind the end of the text is not wiped. */
void secret_wipe(char **text);

#endif
