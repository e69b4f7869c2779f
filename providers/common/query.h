/* query.h - the body of a request in AWS's Query protocol: an HTML form, escaped as RFC 3986 says.
 *
 * A parameter's name is written as a format, because most carry numbers: query_add(&q, id,
 * "InstanceId.%zu", i + 1).  Names are not escaped. */
#ifndef PROVIDERS_COMMON_QUERY_H
#define PROVIDERS_COMMON_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Append to *s; check s->full at the end. */
void query_begin(struct str *s, const char *action, const char *version);
void query_add(struct str *s, const char *value, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
/* Likewise, but nothing for "" and NULL. */
void query_add_given(struct str *s, const char *value, const char *name);
void query_add_number(struct str *s, uint64_t value, const char *name);

/* Append text as a value: all but letters, digits and "-_.~" as %XX. */
void query_escape(struct str *s, const char *text, size_t len);

#endif
