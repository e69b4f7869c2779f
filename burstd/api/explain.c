#include "api/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "cloud/cloud_api.h"
#include "core/reclaim.h"
#include "jobs/jobs_api.h"
#include "keys/keys_api.h"
#include "slurm/parse.h"

enum {
	TOLD_FRESH_MS = 60000, /* so long slurmctld may take to show what it was told */
	TAKEN_MAX = 8,         /* jobs of one node that are named */
};

const char *explain_pool(const struct engine *e, uint32_t pool)
{
	const struct conf *c = engine_conf(e);

	return pool < c->npools ? c->pools[pool].name : "?";
}

static const char *provider_name(const struct engine *e, uint32_t pool)
{
	const struct conf *c = engine_conf(e);

	return pool < c->npools ? c->pools[pool].provider : "?";
}

/* "refused 12s ago: pool h100: the provider has no capacity (its words)" */
static void add_when(struct str *out, const struct engine *e, const struct fleet_name *nm)
{
	int64_t ago = engine_now(e) - nm->refused_ms;
	char text[FMT_DUR_SIZE];

	str_adds(out, "refused");
	if (nm->refused_ms != 0)
		str_addf(out, " %s ago", fmt_duration(text, ago > 0 ? ago : 0));
	str_addf(out, ": pool %s: ", explain_pool(e, nm->pool));
}

/* nm->refused is cleared when Slurm asks anew; until the node is bought the refusal still explains
 * it. */
static bool was_refused(const struct fleet_name *nm)
{
	return nm != NULL && nm->refused_ms != 0 && nm->why[0] != '\0' &&
	       (nm->newest == NULL || nm->refused_ms >= nm->newest->n.since_ms);
}

/* What anybody may read: how much is left in a budget is for those whom it concerns, and on their
 * job. */
static const char *public(const struct fleet_name *nm)
{
	return strncmp(nm->why, "budget ", 7) == 0 ? node_reason_text(NODE_BECAUSE_BUDGET)
						   : nm->why;
}

/* "sim: the provider has no capacity" says no more than "the provider has no capacity". */
static bool says_more(const char *why, const char *provider, const char *reason)
{
	size_t n = strlen(provider);

	if (strncmp(why, provider, n) == 0 && strncmp(why + n, ": ", 2) == 0)
		why += n + 2;
	return strcmp(why, reason) != 0;
}

/* "the provider has no capacity (its words)" */
void explain_refusal(struct str *out, const struct engine *e, const struct fleet_name *nm)
{
	const char *reason = node_reason_text(nm->refused);
	char pool[128];
	size_t n;
	bool of_pool;

	(void)snprintf(pool, sizeof(pool), "pool %.100s: ", explain_pool(e, nm->pool));
	n = strlen(pool);
	of_pool = (nm->refused == NODE_BECAUSE_OPERATOR || nm->refused == NODE_BECAUSE_BOOT) &&
		  strncmp(nm->why, pool, n) == 0;
	/* nm->why says all: the pool is paused, blocked or tried. */
	str_adds(out, of_pool ? nm->why + n : reason);
	if (!of_pool && nm->refused != NODE_BECAUSE_OPERATOR &&
	    nm->refused != NODE_BECAUSE_BUDGET && nm->why[0] != '\0' &&
	    says_more(nm->why, provider_name(e, nm->pool), reason))
		str_addf(out, " (%s)", nm->why);
	str_adds(out, "; next try when Slurm asks again");
}

/* Why slurmctld was told to take this generation away; NULL: it was not, or not by us. */
static const char *told(const struct fleet_name *nm, const struct node *n)
{
	return nm->told != NULL && nm->told_ms >= n->wanted_ms ? nm->told : NULL;
}

/* Prefer the reason that burstd gave slurmctld: that slurmctld then powered the node down says
 * nothing. */
static const char *end_of(const struct fleet_name *nm, const struct node *n)
{
	if (told(nm, n) != NULL &&
	    (n->reason == NODE_BECAUSE_SUSPENDED || n->reason == NODE_BECAUSE_NONE))
		return told(nm, n);
	return n->reason != NODE_BECAUSE_NONE ? fleet_why(nm->newest, n) : NULL;
}

/* Was slurmctld told to take the node away, and does it show that, or had no time to? */
static bool is_told_away(const struct engine *e, const struct fleet_name *nm, const struct node *n)
{
	return told(nm, n) != NULL && ((nm->flags & (SLURM_DRAIN | SLURM_POWER_DOWN)) != 0 ||
				       engine_now(e) - nm->told_ms < TOLD_FRESH_MS);
}

const char *explain_told(const struct engine *e, const struct fleet_name *nm)
{
	const struct node *n = nm != NULL && nm->newest != NULL ? &nm->newest->n : NULL;

	if (n == NULL)
		return "";
	if (n->state == NODE_BOOTING || n->state == NODE_READY)
		return is_told_away(e, nm, n) ? nm->told : "";
	if (n->state != NODE_DELETING && n->state != NODE_GONE)
		return "";
	return told(nm, n) != NULL && end_of(nm, n) == nm->told ? nm->told : "";
}

static void explain_off(struct str *out, const struct engine *e, const struct fleet_name *nm)
{
	if (nm != NULL && nm->refused != NODE_BECAUSE_NONE) {
		add_when(out, e, nm);
		explain_refusal(out, e, nm);
	} else if (was_refused(nm)) {
		add_when(out, e, nm);
		str_adds(out, public(nm));
	} else if (nm == NULL || nm->newest == NULL) {
		str_adds(out, "off: Slurm has not asked for it");
	} else {
		const char *end = end_of(nm, &nm->newest->n);

		str_addf(out, "off: %s", end != NULL ? end : "its last instance is gone");
	}
}

static void add_job(struct str *out, const struct node *n)
{
	if (n->job != 0)
		str_addf(out, "; bought for job %" PRIu64, n->job);
}

static void add_wake(struct str *out, const struct engine *e, const struct node *n,
		     const char *what)
{
	char text[FMT_DUR_SIZE];

	if (n->wake_ms == INT64_MAX)
		return;
	if (n->wake_ms <= engine_now(e))
		str_addf(out, "; %s now", what);
	else
		str_addf(out, "; %s in %s", what, fmt_duration(text, n->wake_ms - engine_now(e)));
}

static void explain_wanted(struct str *out, const struct engine *e, const struct node *n)
{
	const char *token = engine_token_wait(e, n), *keys = engine_keys_wait(e, n);

	str_addf(out, "waiting: to be bought from provider %s", provider_name(e, n->pool));
	if (token != NULL)
		str_addf(out, ", once there is a token for its keys (%s)", token);
	if (keys != NULL)
		str_addf(out, ", once its machine can get its keys (%s)", keys);
	if (n->attempts > 0) {
		str_addf(out, ", %" PRIu32 " %s put off", n->attempts,
			 n->attempts == 1 ? "try was" : "tries were");
		add_wake(out, e, n, "next try");
	}
}

static void explain_deleting(struct str *out, const struct fleet_name *nm, const struct node *n)
{
	const char *end = end_of(nm, n);

	str_addf(out, "leaving: %s; ", end != NULL ? end : "it is not wanted any more");
	if (n->instance[0] == '\0')
		str_adds(out, "making sure that no instance exists");
	else if (n->accepted)
		str_addf(
			out,
			"the delete of instance %s was accepted, waiting for proof that it is gone",
			n->instance);
	else
		str_addf(out, "instance %s is being deleted", n->instance);
}

/* A drain waits for jobs; all else is by force. */
static const char *how_it_leaves(const struct fleet_name *nm)
{
	if ((nm->flags & (SLURM_DRAIN | SLURM_POWER_DOWN)) == 0)
		return "Slurm was told to power it down";
	if (nm->forced_ms < nm->told_ms)
		return "Slurm powers it down when its jobs are done";
	if ((nm->flags & (SLURM_ALLOCATED | SLURM_COMPLETING)) != 0)
		return "Slurm powers it down now, and its jobs are requeued or end";
	return "Slurm powers it down now";
}

/* BOOTING and READY. */
static void explain_up(struct str *out, const struct engine *e, const struct fleet_name *nm,
		       const struct node *n)
{
	if (is_told_away(e, nm, n)) {
		str_addf(out, "leaving: %s; %s", nm->told, how_it_leaves(nm));
	} else if (n->state == NODE_READY) {
		str_adds(out, "ready: Slurm can run jobs on it");
		add_job(out, n);
	} else {
		str_addf(out, "starting: instance %s exists, its slurmd has not registered yet",
			 n->instance);
		add_job(out, n);
		add_wake(out, e, n, "given up");
	}
}

static void add_at(struct str *out, const struct engine *e, const char *before, int64_t ms)
{
	char at[FMT_TIME_SIZE];

	str_addf(out, "%s%.19sZ", before, engine_time(e, at, ms));
}

/* "; job 17 was sent USR1 and is requeued at 2026-01-02T03:04:05Z at the latest" */
static void add_taken(struct str *out, const struct engine *e, const char *node, int64_t force_ms)
{
	struct engine_taken t;

	for (size_t i = 0; i < TAKEN_MAX && engine_taken(e, node, i, &t); i++) {
		if (t.signal[0] == '\0') {
			str_addf(out, "; job %s is requeued or ends", t.job);
			continue;
		}
		str_addf(out, "; job %s was sent %s", t.job, t.signal);
		if (force_ms != INT64_MAX)
			add_at(out, e, " and is requeued at the latest at ", force_ms);
	}
	if (engine_taken(e, node, TAKEN_MAX, &t))
		str_adds(out, "; and more jobs");
}

static void explain_draining(struct str *out, const struct engine *e, const struct node *n)
{
	int64_t force_ms = engine_force_ms(e, n->name);

	str_addf(out, "leaving: %s", reclaim_kind_text(n->notice));
	if (n->deadline_ms != 0)
		add_at(out, e, " at ", n->deadline_ms);
	if (force_ms == INT64_MAX)
		str_adds(out, "; it gets no more jobs, and is removed when those on it have ended");
	else if (force_ms > engine_now(e))
		add_at(out, e, "; it gets no more jobs, and those on it have until ", force_ms);
	else
		str_adds(out, "; its jobs are requeued or end");
	add_taken(out, e, n->name, force_ms);
}

void explain_node(struct str *out, const struct engine *e, const struct fleet_name *nm)
{
	const struct node *n = nm != NULL && nm->newest != NULL ? &nm->newest->n : NULL;

	switch (n != NULL ? n->state : NODE_GONE) {
	case NODE_WANTED:
		explain_wanted(out, e, n);
		add_job(out, n);
		break;
	case NODE_CREATING:
		str_addf(out, "starting: provider %s was asked for the instance",
			 provider_name(e, n->pool));
		add_job(out, n);
		break;
	case NODE_INDOUBT:
		str_adds(out,
			 "in doubt: the answer to the create was lost; the instance is looked for "
			 "before anything else is done");
		break;
	case NODE_BOOTING:
	case NODE_READY:
		explain_up(out, e, nm, n);
		break;
	case NODE_DRAINING:
		explain_draining(out, e, n);
		break;
	case NODE_DELETING:
		explain_deleting(out, nm, n);
		break;
	case NODE_QUARANTINED:
		str_addf(out,
			 "stuck: the provider refuses to delete instance %s, which bills on; "
			 "delete it "
			 "at the provider and see why it refused",
			 n->instance);
		break;
	case NODE_GONE:
	case NODE_NSTATES:
		explain_off(out, e, nm);
		break;
	}
}
