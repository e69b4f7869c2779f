/* face_reply.h - the answer to one request to the simulated cloud, and what all faces need for it.
 *
 * Each face (face_call.h) writes a text of its own.  Which instances a fault rule leaves out of it
 * is decided here, for all faces alike. */
#ifndef SIMCLOUD_FACE_REPLY_H
#define SIMCLOUD_FACE_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "providers/simcloud/fault.h"

enum face_style { FACE_JSON, FACE_XML, FACE_SQS }; /* neutral, EC2's, SQS's */

struct face_reply {
	enum code code; /* of the request as a whole */
	unsigned status;
	char *body; /* NULL: none */
	size_t len;
	enum face_style style;
	int64_t retry_ms;           /* 0: no Retry-After */
	uint64_t items[CODE_COUNT]; /* create, delete: how many instances came to what */
};

/* The answer's body, of what is in s, which ends with it; a body of before is released. */
void face_body(struct face_reply *out, struct str *s);
/* How long the word at the beginning of "Word: text" is; 0: there is none. */
size_t face_word(const char *message);

/* What a partial rule leaves out of n: the nodes it names, or everything after the first `keep`.
 * rule may be NULL. */
bool face_left_out(const struct fault_rule *rule, const char *node, size_t i, size_t n);

/* --- for a list --- */
enum { FACE_CURSOR_SIZE = 32 };
/* Does the rule keep the i-th of n from being shown?  rule may be NULL. */
bool face_hides(const struct fault_rule *rule, const char *node, size_t i, size_t n);
/* The cursor behind which the rest is, when cloud_list() gave `next`; "": there is none, as far as
 * the rule shows. */
const char *face_cursor(char out[FACE_CURSOR_SIZE], const struct fault_rule *rule, int64_t next);

#endif
