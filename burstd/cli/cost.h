/* cost.h - what the nodes of a plan cost until their job's time limit, for each offer. */
#ifndef BURSTD_CLI_COST_H
#define BURSTD_CLI_COST_H

#include <stdint.h>

#include <jansson.h>

#include "cli/out.h"

/* Add "cost" to each offer with a known price, of all new nodes of its pool together, and
 * "limit_ms" to the answer.  limit_ms > 0. */
void cost_add(json_t *reply, int64_t limit_ms);
/* Print them as a table, if they were added. */
void cost_print(const struct out *o, const json_t *pool, const json_t *reply);

#endif
