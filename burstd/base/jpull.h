/* jpull.h - parses a long JSON text from front to back, without building a tree.
 *
 * A provider's list or a resume file has ten thousand rows.  As jansson's objects these would be a
 * hundred thousand small allocations, and most of the cost of a pass; here a value is a piece of
 * the text.  Short texts, and values to keep, are parsed by jansson (ADR 12).
 *
 *	jpull_init(&j, text, len);
 *	jpull_enter(&j, '{');
 *	while (jpull_key(&j, &key))
 *		value = jpull_take(&j);
 *	if (!jpull_end(&j)) ...
 *
 * The first error ends the walk: loops end, values are JPULL_NONE, and jpull_end() returns false.
 * So do not believe any value before.  The caller must look for keys that come twice. */
#ifndef BURSTD_JPULL_H
#define BURSTD_JPULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JPULL_DEPTH_MAX = 32
}; /* values in values: deeper is a mistake, or an attack on the stack */

enum jpull_type {
	JPULL_NONE, /* no value */
	JPULL_NULL,
	JPULL_BOOL,
	JPULL_NUMBER,
	JPULL_STRING,
	JPULL_OBJECT,
	JPULL_ARRAY
};

struct jpull_value { /* borrowed from the text */
	enum jpull_type type;
	bool plain;    /* an ASCII string without escapes, so p is its value */
	const char *p; /* as written, with brackets but without quotes */
	size_t n;
};

struct jpull {
	const char *at, *begin, *end;
	unsigned depth; /* of entered values */
	bool first;     /* nothing was read since the last jpull_enter() */
	bool bad;
};

void jpull_init(struct jpull *j, const char *text, size_t len);
/* Enter the next value, which must be an object ('{') or an array ('['). */
bool jpull_enter(struct jpull *j, char bracket);
/* Read the key of the entered object's next member; its value is next.  false: there are no more,
 * and the object is left. */
bool jpull_key(struct jpull *j, struct jpull_value *key);
bool jpull_item(struct jpull *j);               /* likewise for an array */
struct jpull_value jpull_take(struct jpull *j); /* read the next value as a whole */
/* Was the text valid JSON, and is all of it read? */
bool jpull_end(struct jpull *j);
size_t jpull_at(const struct jpull *j); /* bytes read; in a bad text about the place of the error */

/* Is the value a string with this text? */
bool jpull_is(const struct jpull_value *v, const char *text);
/* 1: a string, copied to out; 0: null or none, and out is ""; -1: anything else, or too long. */
int jpull_text(const struct jpull_value *v, char *out, size_t size);
/* 1: a whole number >= 0; 0: null or none, and 0; -1: anything else, or too large. */
int jpull_int(const struct jpull_value *v, int64_t *out);

#endif
