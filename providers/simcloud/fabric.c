#include "providers/simcloud/cloud.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Machines stand in blocks of fabric_size, within which the network is fast.  Instances of a named
 * fabric all go to one block; others are spread over all blocks, so that no job has its nodes
 * together by chance.  Blocks of one number in one zone are the same racks, whatever is bought
 * there.  Each block has a switch, below one of a spine for spine_size blocks, below the zone's. */

enum { BLOCKS_MIN = 4 }; /* blocks of a pool without a capacity */

static bool is_given(const char *fabric)
{
	return fabric != NULL && fabric[0] != '\0';
}

/* --- names ------------------------------------------------------------------------------------ */

const struct cloud_fabric *fabric_find(const struct cloud *c, const char *name)
{
	for (size_t i = 0; i < c->nfabrics; i++)
		if (strcmp(c->fabrics[i].name, name) == 0)
			return &c->fabrics[i];
	return NULL;
}

enum code fabric_make(struct cloud *c, const struct cloud_fabric *f)
{
	if (fabric_find(c, f->name) != NULL)
		return CODE_TOKEN_MISMATCH;
	if ((int64_t)c->nfabrics >= c->conf->fabric_max)
		return CODE_QUOTA;
	c->fabrics = mem_realloc(c->fabrics, (c->nfabrics + 1) * sizeof(*c->fabrics));
	c->fabrics[c->nfabrics++] = *f;
	return CODE_OK;
}

/* A live instance of the fabric in pool p (NULL: in any pool), or NULL. */
static const struct cloud_instance *member(const struct cloud *c, const struct cloud_pool *p,
					   const char *fabric)
{
	for (uint32_t k = c->first; k < c->cap && k < c->meter->n; k++) {
		const struct cloud_instance *i = c->by_row[k];

		if (i != NULL && i->state != CLOUD_ENDED && i->fabric != NULL &&
		    (p == NULL || i->pool == p) && strcmp(i->fabric, fabric) == 0)
			return i;
	}
	return NULL;
}

enum code fabric_drop(struct cloud *c, const char *name)
{
	const struct cloud_fabric *f = fabric_find(c, name);
	size_t at;

	if (f == NULL)
		return CODE_NOT_FOUND;
	if (member(c, NULL, name) != NULL)
		return CODE_NOT_YET;
	at = (size_t)(f - c->fabrics);
	memmove(c->fabrics + at, c->fabrics + at + 1, (c->nfabrics - at - 1) * sizeof(*c->fabrics));
	c->nfabrics--;
	return CODE_OK;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* How many blocks the pool may have. */
static uint32_t blocks_of(const struct cloud *c, const struct cloud_pool *p)
{
	int64_t size = c->conf->fabric_size;

	if (p->capacity >= 0)
		return (uint32_t)((p->capacity + size - 1) / size);
	return p->nblocks + 1 > BLOCKS_MIN ? p->nblocks + 1 : BLOCKS_MIN; /* one is empty */
}

static int64_t room_on(const struct cloud *c, const struct cloud_pool *p, uint32_t block)
{
	return c->conf->fabric_size - (block < p->nblocks ? p->blocks[block] : 0);
}

/* The first block with the most room. */
static uint32_t emptiest(const struct cloud *c, const struct cloud_pool *p)
{
	uint32_t best = 0;

	for (uint32_t k = 1; k < blocks_of(c, p); k++)
		if (room_on(c, p, k) > room_on(c, p, best))
			best = k;
	return best;
}

static uint32_t block_for(const struct cloud *c, const struct cloud_pool *p, const char *fabric)
{
	const struct cloud_instance *i = member(c, p, fabric);

	if (i == NULL) /* of another type or market, in the same racks */
		i = member(c, NULL, fabric);
	return i != NULL && i->block != CLOUD_NO_BLOCK && i->block < blocks_of(c, p)
		       ? i->block
		       : emptiest(c, p);
}

int64_t fabric_room(const struct cloud *c, const struct cloud_pool *p, const char *fabric,
		    int64_t max)
{
	const struct cloud_instance *i;
	int64_t room;

	if (c->conf->fabric_size == 0 || !is_given(fabric) || c->conf->fabric_apart)
		return max;
	i = member(c, NULL, fabric);
	if (i != NULL &&
	    (strcmp(i->pool->region, p->region) != 0 || strcmp(i->pool->zone, p->zone) != 0))
		return 0; /* it is in one zone, once there are machines in it */
	room = room_on(c, p, block_for(c, p, fabric));
	return room < max ? room : max;
}

/* The next block in turn that has room; all are full only if the capacity was made smaller. */
static uint32_t next_block(const struct cloud *c, struct cloud_pool *p)
{
	uint32_t n = blocks_of(c, p);

	for (uint32_t k = 0; k < n; k++) {
		uint32_t block = p->turn++ % n;

		if (room_on(c, p, block) > 0)
			return block;
	}
	return 0;
}

void fabric_take(struct cloud *c, struct cloud_instance *i, const char *fabric)
{
	struct cloud_pool *p = i->pool;

	i->block = CLOUD_NO_BLOCK;
	if (c->conf->fabric_size > 0)
		i->block = is_given(fabric) && !c->conf->fabric_apart ? block_for(c, p, fabric)
								      : next_block(c, p);
	if (is_given(fabric))
		i->fabric = mem_strdup(fabric);
	if (i->block == CLOUD_NO_BLOCK)
		return;
	if (i->block >= p->nblocks) {
		p->blocks = mem_realloc(p->blocks, (i->block + 1) * sizeof(*p->blocks));
		memset(p->blocks + p->nblocks, 0, (i->block + 1 - p->nblocks) * sizeof(*p->blocks));
		p->nblocks = i->block + 1;
	}
	p->blocks[i->block]++;
}

void fabric_leave(struct cloud_instance *i)
{
	if (i->block != CLOUD_NO_BLOCK)
		i->pool->blocks[i->block]--;
}

/* --- switches --------------------------------------------------------------------------------- */

void fabric_path(const struct cloud *c, const struct cloud_instance *i, struct fabric_path *out)
{
	const int64_t spine = c->conf->spine_size;
	const char *zone = i->pool->zone[0] != '\0' ? i->pool->zone : i->pool->region;

	out->n = 0;
	(void)snprintf(out->at[out->n++], sizeof(out->at[0]), "%s", zone);
	if (i->block == CLOUD_NO_BLOCK)
		return;
	if (spine > 0)
		(void)snprintf(out->at[out->n++], sizeof(out->at[0]), "%s-s%lld", zone,
			       (long long)(i->block / spine));
	(void)snprintf(out->at[out->n++], sizeof(out->at[0]), "%s-b%u", zone, (unsigned)i->block);
}
