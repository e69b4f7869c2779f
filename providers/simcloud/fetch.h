/* fetch.h - a whole file, or the body of one plain HTTP answer, for `simcloud audit`. */
#ifndef SIMCLOUD_FETCH_H
#define SIMCLOUD_FETCH_H

#include <stddef.h>

#include "base/err.h"

/* Get a URL (http://ADDR:PORT/...; numeric, no TLS) with a bearer token (NULL: none), or read a
 * file ("-": standard input).  *out is NUL-terminated; free() it.  -1: *out is NULL. */
int fetch(char **out, size_t *len, const char *what, const char *token, struct err *e);

#endif
