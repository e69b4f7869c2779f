/* face_reply.h - the answer to one request to the simulated cloud, and what all faces need for it.
 *
 * Each face (face.h) writes a text of its own.  Which instances a fault rule leaves out of it
 * is decided here, for all faces alike. */
#ifndef SIMCLOUD_FACE_REPLY_H
#define SIMCLOUD_FACE_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "io/http_server.h"
#include "providers/simcloud/fault.h"

struct face;

struct face_reply {
	const struct face *face;
	enum code code; /* of the request as a whole */
	unsigned status;
	const char *type; /* static string; NULL: the face's */
	char *body;       /* NULL: none */
	size_t len;
	int64_t retry_ms;                     /* 0: no Retry-After */
	struct http_more more[HTTP_MORE_MAX]; /* other headers */
	uint64_t items[CODE_COUNT];           /* create, delete: number of instances by outcome */
};

/* Move s into the answer's body, and free s and the former body. */
void face_body(struct face_reply *out, struct str *s);
/* Add a header; name is a static string, value is copied. */
void face_header(struct face_reply *out, const char *name, const char *value);
/* Length of WORD in "WORD: text"; 0: the text has none. */
size_t face_word(const char *message);

/* Does a partial rule leave the i-th of n out?  It leaves out the nodes that it names, or all after
 * the first `keep`.  rule may be NULL. */
bool face_left_out(const struct fault_rule *rule, const char *node, size_t i, size_t n);

/* --- for a list --- */
enum { FACE_CURSOR_SIZE = 32 };
/* Does the rule hide the i-th of n in a list?  rule may be NULL. */
bool face_hides(const struct fault_rule *rule, const char *node, size_t i, size_t n);
/* The cursor of the next page, when cloud_list() returned `next`; "": this is the last page, as far
 * as the rule shows. */
const char *face_cursor(char out[FACE_CURSOR_SIZE], const struct fault_rule *rule, int64_t next);

#endif
