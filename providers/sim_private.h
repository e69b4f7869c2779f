/* sim_private.h - the struct and functions that sim*.c share; only these include it.
 *
 *   sim.c         open and close; requests
 *   sim_reply.c   replies
 */
#ifndef PROVIDERS_SIM_PRIVATE_H
#define PROVIDERS_SIM_PRIVATE_H

#include "core/provider.h"

enum {
	SIM_BATCH_MAX = 1000, /* instances in one create, ids in one delete, and in one page */
};

struct sim {
	char *base; /* URL without a slash at its end */
	char *credential;
};

/* --- sim.c --- */
/* Can the text stand in JSON without escapes? */
bool sim_is_plain(const char *text, size_t max);

/* --- sim_reply.c --- */
void sim_parse(const void *self, const struct provider_op *op, const struct provider_reply *reply,
	       struct provider_result *out);

#endif
