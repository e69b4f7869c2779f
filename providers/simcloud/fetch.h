/* fetch.h - a whole file, or the body of one plain HTTP answer, for `simcloud audit`. */
#ifndef SIMCLOUD_FETCH_H
#define SIMCLOUD_FETCH_H

#include <stddef.h>

#include "base/err.h"

/* What is a URL (http://ADDR:PORT/...; numeric, no TLS) is asked for with that bearer token (NULL:
 * none); all else is a file, and "-" standard input.  NUL-terminated; free() it.  -1: *out is NULL.
 */
int fetch(char **out, size_t *len, const char *what, const char *token, struct err *e);

#endif
