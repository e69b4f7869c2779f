/* text_file.h - a file that the configuration names, whole.  What is in it is no secret; those are
 * secret.h's. */
#ifndef BURSTD_TEXT_FILE_H
#define BURSTD_TEXT_FILE_H

#include <stddef.h>

#include "base/err.h"

/* A plain file of at most max bytes; *text is the caller's (free()), with a NUL byte behind it,
 * NULL on failure.  The file's name is in *e. */
int text_file_read(const char *path, size_t max, char **text, size_t *len, struct err *e);

#endif
