/* parts.h - what the drivers of secret stores share: text that holds secrets without copies left
 * behind, and JSON that is read where it lies. */
#ifndef PROVIDERS_SECRETS_PARTS_H
#define PROVIDERS_SECRETS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/jpull.h"
#include "core/secret_store.h"

/* Made in one piece of the right size; the caller's, who wipes it (secret_wipe()). */
char *parts_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* One more header; at most SECRET_HEADERS_MAX.  Takes line. */
void parts_header(struct secret_request *out, char *line);

/* Printable ASCII without blank, quote or backslash, 1 to max bytes. */
bool parts_is_plain(const char *text, size_t max);
/* A path of words: letters, digits and "-_.", with single slashes between, no "." or "..". */
bool parts_is_path(const char *text);

/* All of it as one value; false: it is no JSON. */
bool parts_json(const char *text, size_t len, struct jpull_value *out);
/* The first member of that name; JPULL_NONE: there is none, or obj is no object. */
struct jpull_value parts_member(const struct jpull_value *obj, const char *name);
/* A plain string, copied; anything else gives "". */
void parts_copy(const struct jpull_value *v, char *out, size_t size);
/* A plain string as a secret; NULL: it is none, empty, or longer than max. */
struct secret *parts_secret(const struct jpull_value *v, size_t max);

int64_t parts_retry_after(const char *header); /* seconds to ms; 0: none, or a date */
/* For people and logs: one line. */
void parts_message(struct secret_result *out, const char *text, size_t len);

#endif
