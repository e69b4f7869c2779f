/* journal_nodes.h - rows of nodes, and the batches that they are bought in. */
#ifndef BURSTD_JOURNAL_NODES_H
#define BURSTD_JOURNAL_NODES_H

#include <stdint.h>

#include "core/node.h"
#include "core/provider.h"

struct journal_tx;

struct journal_batch { /* one create request: its members never change (I5) */
	uint64_t id;
	char token[PROVIDER_WORD_MAX + 1];
	char pool[PROVIDER_WORD_MAX + 1];
	char offer[PROVIDER_WORD_MAX + 1], provider[PROVIDER_WORD_MAX + 1]; /* of its members */
	uint64_t body_hash; /* of the request as first sent: a repeat must be identical (I4) */
	int64_t at_ms;
	/* Of a create of several requests: where it goes on; "": the first has no answer yet. */
	char cursor[PROVIDER_CURSOR_MAX + 1];
	char image[PROVIDER_IMAGE_MAX + 1]; /* of its place: a repeat has the same (I4) */
};

void journal_put_node(struct journal_tx *tx, const struct node *n,
		      const char *pool); /* insert or replace */
void journal_del_node(struct journal_tx *tx, const char *name, uint64_t gen);
void journal_put_batch(struct journal_tx *tx, const struct journal_batch *b);
void journal_del_batch(struct journal_tx *tx, uint64_t id);

#endif
