/* jsonw.h - writes JSON into a struct str, piece by piece.
 *
 * A text may have any bytes (a provider's message, a name cut in the middle of a character): what
 * is not UTF-8 becomes U+FFFD, so that the result is always valid JSON.  The caller closes what it
 * opens, and checks out->full at the end. */
#ifndef BURSTD_JSONW_H
#define BURSTD_JSONW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct jsonw {
	struct str *out;
	bool first; /* the innermost bracket is empty so far */
};

/* key is NULL inside an array; keys are not escaped. */
void jsonw_open(struct jsonw *w, const char *key, char bracket); /* '{' or '[' */
void jsonw_close(struct jsonw *w, char bracket);                 /* '}' or ']' */
void jsonw_text(struct jsonw *w, const char *key, const char *text);
void jsonw_int(struct jsonw *w, const char *key, int64_t v);
void jsonw_bool(struct jsonw *w, const char *key, bool v);
void jsonw_money(struct jsonw *w, const char *key, int64_t nano); /* a decimal string */

#endif
