/* explain.h - the state of nodes, pools and providers in plain sentences.
 *
 * A sentence gives the state, the cause, and what happens next.  It begins with a lower-case word
 * and has no full stop, so that callers can put it after a name or a colon. */
#ifndef BURSTD_EXPLAIN_H
#define BURSTD_EXPLAIN_H

#include "base/jsonw.h"
#include "base/str.h"
#include "core/fleet.h"
#include "engine/engine.h"
#include "slurm/require.h"

enum {
	EXPLAIN_PROBLEMS_MAX = 50, /* sentences; more would only bury the first ones */
};

/* Explain the state of a node.  nm NULL: the fleet does not have it. */
void explain_node(struct str *out, const struct engine *e, const struct fleet_name *nm);

/* The reason of burstd's last order to slurmctld to drain this node or power it down, in a phrase;
 * "": there was none since burstd started, or the node ended for another reason.  nm may be NULL.
 */
const char *explain_told(const struct engine *e, const struct fleet_name *nm);

/* Explain the node's last refusal, and what follows. */
void explain_refusal(struct str *out, const struct engine *e, const struct fleet_name *nm);
const char *explain_pool(const struct engine *e, uint32_t pool); /* its name; "?": there is none */

/* How many generations are at this provider; *rate: what they cost per hour. */
uint32_t explain_nodes_at(const struct engine *e, size_t provider, int64_t *rate);

typedef void (*explain_fn)(void *ctx, const char *sentence);
/* Report problems that an admin should look at, most urgent first, at most EXPLAIN_PROBLEMS_MAX. */
void explain_problems(const struct engine *e, explain_fn fn, void *ctx);
/* Likewise about budgets, for admins only: money that is somebody else's is nobody's business. */
void explain_budgets(const struct engine *e, explain_fn fn, void *ctx);
/* Likewise overrides that last, and add to nothing, since burstd.conf has no such budget. */
void explain_overrides(const struct engine *e, explain_fn fn, void *ctx);
/* Likewise alerts about budgets that are not delivered; for admins. */
void explain_alerts(const struct engine *e, explain_fn fn, void *ctx);
/* Likewise only the problems of the secret store. */
void explain_secrets(const struct engine *e, explain_fn fn, void *ctx);

/* Write a wrong setting of slurm.conf: setting, severity, found, wanted, why. */
void explain_put_slurm_problem(struct jsonw *w, const struct slurm_problem *p);

#endif
