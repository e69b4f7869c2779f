/* jpull.h - walk a long JSON text from front to back, without building it.
 *
 * A provider's list or a resume file has ten thousand rows.  As jansson's objects they are a
 *hundred thousand small allocations, and most of what a pass costs; here a value is a piece of the
 *text. What is short, or has to be kept, is jansson's (ADR 12).
 *
 *	jpull_init(&j, text, len);
 *	jpull_enter(&j, '{');
 *	while (jpull_key(&j, &key))
 *		value = jpull_take(&j);
 *	if (!jpull_end(&j)) ...
 *
 * The first mistake ends the walk: every loop ends, values are JPULL_NONE, and jpull_end() says so.
 * So nothing that was read may be believed before.  A key that comes twice is the caller's to see.
 */
#ifndef BURSTD_JPULL_H
#define BURSTD_JPULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JPULL_DEPTH_MAX = 32
}; /* values in values: deeper is a mistake, or an attack on the stack */

enum jpull_type {
	JPULL_NONE, /* there is none */
	JPULL_NULL,
	JPULL_BOOL,
	JPULL_NUMBER,
	JPULL_STRING,
	JPULL_OBJECT,
	JPULL_ARRAY
};

struct jpull_value { /* borrowed from the text */
	enum jpull_type type;
	bool plain;    /* a string of ASCII without escapes: what is written is what is meant */
	const char *p; /* as written, with brackets but without quotes */
	size_t n;
};

struct jpull {
	const char *at, *begin, *end;
	unsigned depth; /* of what was entered */
	bool first;     /* nothing was read since the last bracket was entered */
	bool bad;
};

void jpull_init(struct jpull *j, const char *text, size_t len);
/* Go into the next value, which must be an object ('{') or an array ('['). */
bool jpull_enter(struct jpull *j, char bracket);
/* The next member of the object we are in: its key, and its value is next.  false: that was all,
 * and we are out of it. */
bool jpull_key(struct jpull *j, struct jpull_value *key);
bool jpull_item(struct jpull *j);               /* likewise, of an array */
struct jpull_value jpull_take(struct jpull *j); /* the next value, whole, and go on behind it */
/* Was it one JSON text, all of it read? */
bool jpull_end(struct jpull *j);
size_t jpull_at(const struct jpull *j); /* bytes read; of a bad text about where the mistake is */

/* Is it a string, written like this? */
bool jpull_is(const struct jpull_value *v, const char *text);
/* 1: a string, copied to out; 0: null or none, and out is ""; -1: anything else, or too long. */
int jpull_text(const struct jpull_value *v, char *out, size_t size);
/* 1: a whole number >= 0; 0: null or none, and 0; -1: anything else, or too large. */
int jpull_int(const struct jpull_value *v, int64_t *out);

#endif
