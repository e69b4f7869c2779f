/* str.h - a growable string with a cap given at birth.
 *
 * Going over the cap sets `full` and changes nothing else: build the whole text, then ask once. */
#ifndef BURSTD_STR_H
#define BURSTD_STR_H

#include <stdbool.h>
#include <stddef.h>

struct str {
	char *p; /* NUL-terminated, "" when empty; never NULL after str_init() */
	size_t len, cap, max;
	bool full;   /* something did not fit and was left out */
	bool secret; /* the caller's to set: what it moves from, or is left in it, is wiped */
};

/* max: bytes, without the NUL, below SIZE_MAX; memory is taken as needed, twice the length at most,
 * or that of a line. */
void str_init(struct str *s, size_t max);
void str_fini(struct str *s);
void str_clear(struct str *s); /* keeps the memory */
char *str_take(struct str *s); /* caller's (free()); *s is fini'd */
/* All of it, or nothing and full.  data (and the arguments below) may not point into *s; NULL is
 * fine when len is 0. */
void str_add(struct str *s, const void *data, size_t len);
void str_adds(struct str *s, const char *text);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
