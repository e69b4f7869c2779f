/* nodelist.h - which nodes the instances of one create are, by lists in its tags.
 *
 * For the meter alone.  All instances of a create share its tags, so burstd-node has a list of
 * hosts and burstd-generation a list such as "3*5,4": an instance has the entry at its launch
 * index.  A long list goes on in burstd-node-2, and so on. */
#ifndef SIMCLOUD_NODELIST_H
#define SIMCLOUD_NODELIST_H

#include "providers/simcloud/cloud.h"

/* The value of a tag, borrowed; NULL: there is none. */
typedef const char *(*nodelist_find_fn)(const void *ctx, const char *key);

/* Set node and gen of each; "" and 0 where the lists say nothing. */
void nodelist_name(struct cloud_want *wants, size_t n, nodelist_find_fn find, const void *ctx);

#endif
