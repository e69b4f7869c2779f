/* form.h - reads the body of an HTML form, and writes text as XML.
 *
 * Reading a parameter takes it; a parameter that is left in the end is unknown. */
#ifndef SIMCLOUD_FORM_H
#define SIMCLOUD_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { FORM_MAX = 4096 }; /* parameters: a delete of 1000 ids is the longest */

struct form_pair {
	const char *name, *value;
	bool taken;
};

struct form {
	char *text; /* decoded; the pairs point into it */
	struct form_pair *v;
	size_t n;
};

/* -1: malformed, or too many; *f is empty then.  form_fini() in either case. */
int form_parse(struct form *f, const char *body, size_t len);
void form_fini(struct form *f);
/* Take the parameter with this name, which is given as a format; NULL: there is none. */
const char *form_take(struct form *f, const char *name, ...) __attribute__((format(printf, 2, 3)));
/* A parameter that nobody took; NULL: there is none. */
const char *form_left(const struct form *f);

/* <name>text</name> */
void xmlw_text(struct str *s, const char *name, const char *text);
void xmlw_int(struct str *s, const char *name, long long v);

#endif
