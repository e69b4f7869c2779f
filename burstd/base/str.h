/* str.h - a growable string with a maximum length.
 *
 * Text that does not fit sets `full` and changes nothing else: build the whole text, then check
 * once. */
#ifndef BURSTD_STR_H
#define BURSTD_STR_H

#include <stdbool.h>
#include <stddef.h>

struct str {
	char *p; /* NUL-terminated, "" when empty; never NULL after str_init() */
	size_t len, cap, max;
	bool full;   /* some text did not fit, and was left out */
	bool secret; /* set by the caller: wipe memory before it is freed */
};

/* max: in bytes, without the NUL, below SIZE_MAX; memory grows as needed, to at most twice the
 * length, or that of a line. */
void str_init(struct str *s, size_t max);
void str_fini(struct str *s);
void str_clear(struct str *s); /* keeps the memory */
char *str_take(struct str *s); /* the caller's (free()); *s is finished */
/* Append all of data, or nothing, and set full.  data (and arguments below) must not point into *s;
 * NULL is fine if len is 0. */
void str_add(struct str *s, const void *data, size_t len);
void str_adds(struct str *s, const char *text);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
