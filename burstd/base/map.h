/* map.h - string to pointer, open addressing.  Keys are borrowed: they must outlive their entry. */
#ifndef BURSTD_MAP_H
#define BURSTD_MAP_H

#include <stddef.h>

struct map {
	struct map_slot *slots;
	size_t n, used, cap; /* entries; entries and tombstones; a power of two, or 0 */
};

void map_init(struct map *m);
void map_fini(struct map *m);                        /* does not free the values */
void *map_get(const struct map *m, const char *key); /* NULL when absent */
/* Replaces the value and borrows the new key.  value is not NULL. */
void map_put(struct map *m, const char *key, void *value);
void map_del(struct map *m, const char *key); /* absent is fine */

#endif
