/* explain.h - the state of things in plain sentences, for people who have not read the code.
 *
 * A sentence says what is so, why, and what happens next.  It begins with a lower-case word and has
 * no full stop, so that callers can put it after a name or a colon. */
#ifndef BURSTD_EXPLAIN_H
#define BURSTD_EXPLAIN_H

#include "api/jsonw.h"
#include "base/str.h"
#include "core/fleet.h"
#include "engine/engine.h"

enum {
	EXPLAIN_PROBLEMS_MAX = 50, /* sentences; more would only bury the first ones */
};

/* Why this node is what it is.  nm may be NULL: never heard of beyond the configuration. */
void explain_node(struct str *out, const struct engine *e, const struct fleet_name *nm);

/* Why slurmctld was told to take away what there is of this node, or was last, in a phrase; "": it
 * was not told so, or it ended otherwise.  Known until burstd ends.  nm may be NULL. */
const char *explain_told(const struct engine *e, const struct fleet_name *nm);

/* Why it was refused last, and what follows. */
void explain_refusal(struct str *out, const struct engine *e, const struct fleet_name *nm);
const char *explain_pool(const struct engine *e, uint32_t pool); /* its name; "?": there is none */

/* How many incarnations are at that provider, and what they cost per hour. */
uint32_t explain_nodes_at(const struct engine *e, size_t provider, int64_t *rate);

typedef void (*explain_fn)(void *ctx, const char *sentence);
/* What a person should look at, most urgent first, at most EXPLAIN_PROBLEMS_MAX; none: all is well.
 */
void explain_problems(const struct engine *e, explain_fn fn, void *ctx);
/* Those of them that are about the secret store. */
void explain_secrets(const struct engine *e, explain_fn fn, void *ctx);

/* A setting of slurm.conf that is not as it must be: setting, severity, found, wanted, why. */
void explain_put_slurm_problem(struct jsonw *w, const struct slurm_problem *p);

#endif
