/* refused.h - how many nodes a provider has refused to each offer, by reason, since burstd started.
 *
 * It only counts, for people: core/cooldown.h decides when a place may be asked again. */
#ifndef BURSTD_REFUSED_H
#define BURSTD_REFUSED_H

#include <stddef.h>
#include <stdint.h>

#include "core/provider.h"

struct refused_line { /* of one offer */
	uint32_t pool;
	char offer[PROVIDER_WORD_MAX + 1];
	uint64_t nodes[PROVIDER_NCODES];
};

struct refused { /* all zero: nothing was refused */
	struct refused_line *v;
	size_t n;
};

/* Count nodes that were refused with this code.  Offers are configured, so the lines are few; that
 * of an offer which a reload removes stays. */
void refused_add(struct refused *r, uint32_t pool, const char *offer, enum provider_code code,
		 uint32_t nodes);
/* How many were refused to this offer; 0: none. */
uint64_t refused_of(const struct refused *r, uint32_t pool, const char *offer,
		    enum provider_code code);
void refused_fini(struct refused *r);

#endif
