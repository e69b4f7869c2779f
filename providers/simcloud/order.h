/* order.h - what all instances of one create share as their face has it: names and tags, EC2's
 * reservation.  The neutral face has no such thing. */
#ifndef SIMCLOUD_ORDER_H
#define SIMCLOUD_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_TAGS_MAX = 50, ORDER_TOKEN_SIZE = 65 }; /* EC2's limits */
enum { ORDER_NAME_SIZE = 65 };                       /* Lambda's limit */

struct order { /* lives as long as its creator or one of its instances holds a reference */
	unsigned refs;
	uint32_t id; /* the row of its first instance */
	bool ec2;    /* by EC2's API, so that its metadata service answers */
	char token[ORDER_TOKEN_SIZE];
	bool tokens_only; /* metadata requires a token (IMDSv2) */
	/* Where a create makes one instance that has these; else "". */
	char name[ORDER_NAME_SIZE], hostname[ORDER_NAME_SIZE], key[ORDER_NAME_SIZE];
	size_t ntags;
	struct {
		char *key, *value;
	} tags[ORDER_TAGS_MAX];
};

struct order *order_new(void);
struct order *order_dup(const struct order *o); /* with the same tags, for other instances */
struct order *order_ref(struct order *o);       /* NULL is fine in both */
void order_unref(struct order *o);
/* -1: too many tags, or the key occurs twice. */
int order_tag(struct order *o, const char *key, const char *value);
const char *order_find(const struct order *o, const char *key); /* NULL: none */

#endif
