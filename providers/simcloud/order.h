/* order.h - what all instances of one create have in common and the neutral API knows nothing of:
 * EC2's reservation, with its tags. */
#ifndef SIMCLOUD_ORDER_H
#define SIMCLOUD_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_TAGS_MAX = 50, ORDER_TOKEN_SIZE = 65 }; /* EC2's limits */

struct order { /* lives as long as one of its instances, and as whoever made it */
	unsigned refs;
	uint32_t id; /* the row of its first instance */
	char token[ORDER_TOKEN_SIZE];
	bool tokens_only; /* its metadata is not for who has none */
	size_t ntags;
	struct {
		char *key, *value;
	} tags[ORDER_TAGS_MAX];
};

struct order *order_new(void);
struct order *order_ref(struct order *o); /* NULL is fine in both */
void order_unref(struct order *o);
/* -1: there are too many, or there is one with this key. */
int order_tag(struct order *o, const char *key, const char *value);
const char *order_find(const struct order *o, const char *key); /* NULL: none */

#endif
