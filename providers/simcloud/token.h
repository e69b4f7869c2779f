/* token.h - the answers to create tokens.
 *
 * A repeated token with the same body gets the first answer; with another body it is refused.  A
 * create that made nothing is not remembered: asking again with its token is a new attempt. */
#ifndef SIMCLOUD_TOKEN_H
#define SIMCLOUD_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

enum { TOKEN_TEXT_MAX = 128, TOKEN_KEPT_MAX = 1 << 20 };

struct token {
	char text[TOKEN_TEXT_MAX + 1];
	uint64_t hash; /* hash of the body */
	size_t len;
	int64_t expires;
	struct token *next;
	size_t nitems;
	int32_t items[]; /* for each instance: its meter row, or -(enum code) */
};

struct tokens {
	struct map map;
	struct token *oldest, *newest;
};

void tokens_init(struct tokens *t);
void tokens_fini(struct tokens *t);
/* NULL: never seen, or expired. */
const struct token *tokens_find(struct tokens *t, const char *text, int64_t now);
void tokens_put(struct tokens *t, const struct token *head, const int32_t *items);
uint64_t token_hash(const char *body, size_t len);

#endif
