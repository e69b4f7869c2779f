/* annex.h - what a single face keeps beside the instances of the cloud, for as long as the cloud
 * lives: Ironic's nodes, for example, which are there before any instance is. */
#ifndef SIMCLOUD_ANNEX_H
#define SIMCLOUD_ANNEX_H

struct annex; /* a list of such things; NULL: empty */

/* What the owner put there; NULL: nothing.  An owner is known by its address. */
void *annex_get(const struct annex *first, const void *owner);
/* The annex owns `own` from now on; free_own() frees it. */
void annex_put(struct annex **first, const void *owner, void *own, void (*free_own)(void *own));
void annex_free(struct annex *first);

#endif
