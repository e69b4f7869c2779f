/* order.h - EC2's reservation and its tags, which all instances of one create share; the neutral
 * API has no such thing. */
#ifndef SIMCLOUD_ORDER_H
#define SIMCLOUD_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_TAGS_MAX = 50, ORDER_TOKEN_SIZE = 65 }; /* EC2's limits */

struct order { /* lives as long as its creator or one of its instances holds a reference */
	unsigned refs;
	uint32_t id; /* the row of its first instance */
	char token[ORDER_TOKEN_SIZE];
	bool tokens_only; /* metadata requires a token (IMDSv2) */
	size_t ntags;
	struct {
		char *key, *value;
	} tags[ORDER_TAGS_MAX];
};

struct order *order_new(void);
struct order *order_ref(struct order *o); /* NULL is fine in both */
void order_unref(struct order *o);
/* -1: too many tags, or the key occurs twice. */
int order_tag(struct order *o, const char *key, const char *value);
const char *order_find(const struct order *o, const char *key); /* NULL: none */

#endif
