/* sim_private.h - the parts of the driver sim.  Only they include this header. */
#ifndef PROVIDERS_SIM_PRIVATE_H
#define PROVIDERS_SIM_PRIVATE_H

#include "core/provider.h"
#include "providers/common/doc.h"

/* --- sim_quote.c --- */
/* The answer to GET /v1/offers; *d notes what is wrong with it. */
int sim_quotes_read(const struct doc *d, struct provider_result *out);

/* --- sim_topology.c --- */
/* Likewise to POST /v1/topology. */
int sim_paths_read(struct doc *d, struct provider_result *out);

#endif
