/* spheron_offer.h - for spheron.c: offers of Spheron as places of pools, and their prices.
 *
 * A create must repeat what the list of offers says of its one offer.  A place has all of it: the
 * type is the offerId, the region one of the offer's clusters, market spot its instanceType SPOT,
 * and the zone the rest, as "voltage-park:8xH100":
 *
 *	PROVIDER:COUNTxGPU[:KIND][:no-cloud-init]
 *
 * KIND is the instanceType, if it is neither SPOT nor DEDICATED.  So a create needs no list, and
 * prices are quoted for just the places that are written right. */
#ifndef PROVIDERS_SPHERON_OFFER_H
#define PROVIDERS_SPHERON_OFFER_H

#include "providers/common/doc.h"
#include "providers/common/rest.h"

struct spheron_offer {
	char provider[PROVIDER_WORD_MAX + 1], gpu[PROVIDER_WORD_MAX + 1];
	char kind[PROVIDER_WORD_MAX + 1]; /* instanceType */
	uint32_t count;                   /* of GPUs; 0: it has none */
	bool cloud_init;
};

/* -1: the zone is not of that form. */
int spheron_offer_read(struct spheron_offer *out, const struct provider_place *place,
		       struct err *e);
/* A page of GET /api/gpu-offers. */
int spheron_offer_quotes(const struct provider_op *op, struct doc *d, struct provider_result *out);

#endif
