/* jsonw.h - writes JSON into a struct str, piece by piece.
 *
 * Any bytes may come in as text (a provider's message, a name cut in the middle of a character):
 * what is not UTF-8 becomes U+FFFD, so that the answer is always valid JSON.  The caller keeps
 * brackets in pairs and looks at out->full when he is done. */
#ifndef BURSTD_JSONW_H
#define BURSTD_JSONW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct jsonw {
	struct str *out;
	bool first; /* nothing yet in the innermost bracket */
};

/* key is NULL inside an array; keys are ours and need no escape. */
void jsonw_open(struct jsonw *w, const char *key, char bracket); /* '{' or '[' */
void jsonw_close(struct jsonw *w, char bracket);                 /* '}' or ']' */
void jsonw_text(struct jsonw *w, const char *key, const char *text);
void jsonw_int(struct jsonw *w, const char *key, int64_t v);
void jsonw_bool(struct jsonw *w, const char *key, bool v);
void jsonw_money(struct jsonw *w, const char *key, int64_t nano); /* a decimal string */

#endif
