/* unit.h - placement units: a pool whose offers say `fabric = "unit"` is cut into units of so many
 * nodes each, all of whose machines burstd buys in one fabric (ADR 63).
 *
 * Which unit a node is in follows from its name and the pool's `nodes` alone, so that nothing of it
 * is in the journal, and no name ever moves to another unit.  Each unit is one range of consecutive
 * names; units are numbered from 1, in the order of `nodes`. */
#ifndef BURSTD_UNIT_H
#define BURSTD_UNIT_H

#include "core/conf.h"

/* Does the offer buy each unit in a fabric of its own? */
bool unit_is_of(const struct conf_offer *o);

/* A step of conf_finish(), after the offers: check the pool's units and fill in p->unit_of.  -1: *e
 * begins "FILE:LINE: ". */
int unit_finish(const struct conf *c, struct conf_pool *p, struct err *e);

/* The unit of this node; 0: the pool has no units, or not this node. */
uint32_t unit_of(const struct conf_pool *p, const char *node);
/* Likewise, if that offer buys it in the unit's fabric; else 0. */
uint32_t unit_by(const struct conf_pool *p, const struct conf_offer *o, const char *node);
uint32_t unit_count(const struct conf_pool *p); /* 0: the pool has none */
/* The names of a unit's nodes, p->unit of them; borrowed from p. */
const char *const *unit_nodes(const struct conf_pool *p, uint32_t unit);

/* The name of a unit's fabric, which tells all of its nodes: the first, and how many.  So it stays
 * the same over restarts, and a unit that was cut in another way has another one.  Returns out. */
const char *unit_fabric(char out[PROVIDER_WORD_MAX + 1], const char *uuid,
			const struct conf_pool *p, uint32_t unit);
/* Is this the name of a fabric that this cluster made for a unit, of whatever configuration? */
bool unit_is_fabric(const char *name, const char *uuid);

#endif
