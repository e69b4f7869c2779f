/* parts.h - helpers of the drivers of secret stores: texts with secrets that leave no copies
 * behind, and JSON that is parsed in place. */
#ifndef PROVIDERS_SECRETS_PARTS_H
#define PROVIDERS_SECRETS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/jpull.h"
#include "core/secret_store.h"

/* Format a text in one allocation of the right size; the caller's to wipe (secret_wipe()). */
char *parts_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Add a header, at most SECRET_HEADERS_MAX.  Takes line. */
void parts_header(struct secret_request *out, char *line);

/* A path of words: letters, digits and "-_.", with single slashes between, no "." or "..". */
bool parts_is_path(const char *text);

/* Parse all of text as one value; false: it is no JSON. */
bool parts_json(const char *text, size_t len, struct jpull_value *out);
/* The first member of this name; JPULL_NONE: there is none, or obj is no object. */
struct jpull_value parts_member(const struct jpull_value *obj, const char *name);
/* Copy a plain string; "" for any other value. */
void parts_copy(const struct jpull_value *v, char *out, size_t size);
/* A plain string as a secret; NULL: it is no string, empty, or longer than max. */
struct secret *parts_secret(const struct jpull_value *v, size_t max);

/* Set the message for people and logs: one line. */
void parts_message(struct secret_result *out, const char *text, size_t len);

#endif
