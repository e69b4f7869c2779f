/* text_file.h - reads a whole file that the configuration names.  Secrets are read by secret.h. */
#ifndef BURSTD_TEXT_FILE_H
#define BURSTD_TEXT_FILE_H

#include <stddef.h>

#include "base/err.h"

/* Read a plain file of at most max bytes; *text is the caller's (free()), NUL-terminated, NULL on
 * failure.  *e has the file's name. */
int text_file_read(const char *path, size_t max, char **text, size_t *len, struct err *e);

#endif
