/* learned.h - what the machines of each offer turned out to have: CPUs, sockets and memory, as
 * slurmd printed them at the last boot.
 *
 * In memory only: each boot tells it again.  It changes nothing by itself; what an admin should
 * change in burstd.conf is said where problems are. */
#ifndef BURSTD_LEARNED_H
#define BURSTD_LEARNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/hardware.h"
#include "core/provider.h"

enum { LEARNED_MAX = 256 }; /* offers; beyond, the one that was heard of longest ago goes */

struct learned_row {
	char pool[PROVIDER_WORD_MAX + 1];
	char offer[PROVIDER_WORD_MAX + 1]; /* "": the pool's own place */
	char node[HARDWARE_WORD_MAX + 1];  /* the last one, cut to what fits */
	struct hardware_node has;
	int64_t at_ms;
};

struct learned {
	struct learned_row v[LEARNED_MAX];
	size_t n;
};

/* Keep row instead of what was known of its pool and offer.  true: that was nothing, or something
 * else. */
bool learned_put(struct learned *l, const struct learned_row *row);

#endif
