/* tariff.h - what all quotes of a provider together say of an offer.
 *
 * A quote may be of one zone or region, or of all; an offer may leave its zone open.  So several
 * quotes may be of one offer. */
#ifndef BURSTD_TARIFF_H
#define BURSTD_TARIFF_H

#include "core/conf.h"
#include "core/provider.h"

/* Is the quote of this offer's type, place and market? */
bool tariff_fits(const struct provider_quote *q, const struct conf_offer *o);
/* The highest price in this currency of all quotes that fit; 0: none has one. */
int64_t tariff_price(const struct provider_quote *quotes, size_t n, const struct conf_offer *o,
		     const char *currency);
/* Do quotes that fit say that none is free now, and none that some are? */
bool tariff_dry(const struct provider_quote *quotes, size_t n, const struct conf_offer *o);
/* The terms of the offer: what quotes that fit say of them, else what `known` says.  Where quotes
 * differ the longest quantum and minimum count; the interconnect is of all quotes of the type, and
 * "" if these differ. */
struct provider_terms tariff_terms(const struct provider_quote *quotes, size_t n,
				   const struct conf_offer *o, const struct provider_terms *known);
/* What a machine of the offer's type has, by all quotes of the type there, in whichever market: the
 * least of each where they differ; 0: none says. */
struct tariff_machine {
	uint32_t cpus, gpus; /* cpus 0: neither is known */
	uint64_t memory_mb;
};
struct tariff_machine tariff_machine(const struct provider_quote *quotes, size_t n,
				     const struct conf_offer *o);
/* Why the provider has nothing like the offer: the option that no quote has.  TARIFF_SOLD: it has,
 * or its quotes cannot tell. */
enum tariff_lack {
	TARIFF_SOLD,
	TARIFF_TYPE,
	TARIFF_REGION,
	TARIFF_ZONE,
	TARIFF_MARKET,
};
enum tariff_lack tariff_lack(const struct provider_quote *quotes, size_t n,
			     const struct conf_offer *o, const struct provider_caps *caps);

#endif
