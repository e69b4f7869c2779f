/* sim_scontrol.c - scontrol update: what it makes the simulated slurmctld do to nodes and jobs, and
 * the judge of what burstd orders so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/hostlist.h"
#include "sim_boot.h"
#include "sim_slurm.h"

enum {
	JUMPED_MS = 20 * SIM_MINUTE, /* longer than any wait that was told before */
	ORDER_MS = 5 * SIM_SECOND,   /* from what burstd sees to the order that follows */
	REASON_MS = 2 * SIM_MINUTE,  /* commands that were decided before may hang so long */
	REFUSALS_MS = 10 * SIM_MINUTE,
	REFUSALS_MAX = 7, /* of one job in that time; with waits of 30 s, doubling, it is 5 */
};

static void set_reason(struct sim_ctld *c, struct ctld_node *n, const char *reason)
{
	if (reason != NULL)
		sim_ctld_set_reason(c, n, BY_BURSTD, reason);
}

/* The machine of this node is taken from its jobs. */
static void take_machine(struct sim_ctld *c, const struct ctld_node *n)
{
	struct inst *i = n->inst != 0 ? sim_cloud_find(c->w->cloud, n->inst) : NULL;

	if (i != NULL && i->taken_at == 0)
		i->taken_at = c->w->now;
}

void sim_ctld_down(struct sim_ctld *c, struct ctld_node *n)
{
	take_machine(c, n);
	n->down = true; /* before its jobs lose it */
	sim_het_unavail(c, n);
	sim_ctld_lose_jobs(c, n);
	n->completing = false;
}

/* I30: slurmctld starts a requeued job again after seconds, and burstd makes it wait, longer each
 * time that it cannot have its nodes, until something changes, such as the configuration. */
static void count_refusal(struct sim_ctld *c, struct ctld_job *j)
{
	if (j->refused == 0 || j->refused_since <= c->troubled || j->refused_since <= j->user_at ||
	    j->refused_since <= c->w->reloaded || c->w->now - j->refused_since > REFUSALS_MS) {
		j->refused = 0;
		j->refused_since = c->w->now;
	}
	if (++j->refused > REFUSALS_MAX)
		world_fail(c->w, "I30: job %u was refused %u times in %d s", (unsigned)j->id,
			   (unsigned)j->refused, (int)((c->w->now - j->refused_since) / 1000));
}

static void force(struct sim_ctld *c, struct ctld_node *n)
{
	if (n->powering_down)
		return;
	take_machine(c, n);
	n->completing = n->completing || sim_ctld_completes(c, n);
	sim_ctld_lose_jobs(c, n);
	sim_het_unavail(c, n);
	n->powering_up = n->not_responding = false;
	n->power_down = true;
	sim_ctld_excuse(c, n);
}

void sim_ctld_back(struct sim_ctld *c, struct ctld_node *n)
{
	struct inst *i = n->inst != 0 ? sim_cloud_find(c->w->cloud, n->inst) : NULL;

	if (i != NULL && !n->power_down && !n->powering_down)
		i->taken_at = 0; /* it works on, for other jobs */
	n->down = n->drain = n->invalid = n->unmapped = false;
	/* It is missed once more, be it that nobody is there or that its slurmd has died. */
	if (i != NULL && (!inst_live(i) || (n->not_responding && !n->reboot)) && n->dead_at == 0)
		n->dead_at = c->w->now;
	if (n->powering_down) {
		n->powering_down = false;
		n->powered_down = true;
	}
	sim_ctld_set_reason(c, n, BY_NOBODY, "");
	n->busy_at = c->w->now;
}

static const char *option(const char *const *args, const char *key)
{
	for (size_t i = 0; args[i] != NULL; i++)
		if (strncmp(args[i], key, strlen(key)) == 0)
			return args[i] + strlen(key);
	return NULL;
}

/* Somebody ordered it, through burstd. */
static bool is_ordered(const char *reason)
{
	return reason != NULL && strstr(reason, "by an admin") != NULL;
}

/* F51: what an admin has taken in hand is left alone, unless its machine is not there, is going, or
 * that was ordered. */
static void check_hands_off(struct sim_ctld *c, const struct ctld_node *n, const char *state,
			    const char *reason)
{
	const struct inst *i = sim_cloud_find(c->w->cloud, n->inst);

	if (n->by != BY_ADMIN || n->reason_seen == 0 || c->w->now - n->reason_seen < REASON_MS ||
	    is_ordered(reason))
		return;
	if (strcmp(state, "RESUME") == 0 || strcmp(state, "POWER_UP") == 0)
		world_fail(c->w, "F51: %s is resumed, which an admin took out: %s", n->name,
			   n->reason);
	if (n->powering_up || n->powered_down || n->powering_down || n->invalid || n->dead_at != 0)
		return;
	if (i != NULL && check_given_up(c->w, i))
		return;
	if (i != NULL && i->state == INST_RUNNING && !i->excused && !i->lied && !i->unknown &&
	    n->seen_up == n->inst)
		world_fail(c->w, "F51: %s is told %s, which an admin took in hand: %s", n->name,
			   state, n->reason);
}

/* F53: see check_cancelled(). */
static void check_useless(struct sim_ctld *c, struct ctld_node *n, const char *reason)
{
	if (reason == NULL || strstr(reason, "the job it boots for has ended") == NULL) {
		for (struct ctld_job *j = sim_ctld_next_on(c, n, NULL); j != NULL && n->powering_up;
		     j = sim_ctld_next_on(c, n, j))
			if (j->state == JOB_CONFIGURING)
				count_refusal(c, j);
		return;
	}
	/* It may have lost its state since the snapshot that showed it (F50).  If slurmctld powers
	 * it down by itself, while burstd waits for squeue, or has done so by this order when that
	 * failed for another node, this one changes nothing. */
	if (!n->useless && !n->powering_down && !n->power_down && c->forgot_at <= c->told_at)
		world_fail(c->w, "F53: %s is sent back, and nobody decided so", n->name);
	n->useless = false;
}

static int update_state(struct sim_ctld *c, struct ctld_node *n, const char *const *args)
{
	const char *state = option(args, "state="), *reason = option(args, "reason=");

	if (state == NULL)
		return 0;
	SIM_TRACE(c->w, "  ctld: %s is told %s: %s", n->name, state, reason != NULL ? reason : "");
	check_hands_off(c, n, state, reason);
	sim_roll_told(c, n, state, reason);
	if (strcmp(state, "DOWN") == 0) {
		sim_fate_ordered(c, n);
		sim_ctld_down(c, n);
		sim_ctld_excuse(c, n);
		set_reason(c, n, reason);
	} else if (strcmp(state, "POWER_DOWN_FORCE") == 0) {
		check_useless(c, n, reason);
		if (reason != NULL && strstr(reason, "drained") != NULL)
			world_fail(c->w, "%s is forced down where an admin ordered to drain it",
				   n->name);
		set_reason(c, n, reason);
		sim_fate_ordered(c, n);
		force(c, n);
	} else if (strcmp(state, "POWER_DOWN_ASAP") == 0) {
		set_reason(c, n, reason);
		n->drain = n->power_down = true;
	} else if (strcmp(state, "RESUME") == 0) {
		sim_ctld_back(c, n);
	} else if (strcmp(state, "POWER_UP") == 0) {
		n->power_up = n->power_up || n->powered_down;
	} else {
		world_fail(c->w, "scontrol: a state nobody taught the simulator: %s", state);
		return -1;
	}
	return 0;
}

static struct hostlist *expand(const char *text)
{
	struct hostlist *h = NULL;

	if (text != NULL)
		(void)hostlist_parse(&h, text, strlen(text), NULL);
	return h;
}

static int update_all(struct sim_ctld *c, const char *const *args, const struct hostlist *names,
		      size_t only)
{
	struct hostlist *addrs = expand(option(args, "nodeaddr="));
	struct hostlist *hosts = expand(option(args, "nodehostname="));
	int rc = 0;

	if ((addrs != NULL && addrs->n != names->n) || (hosts != NULL && hosts->n != names->n))
		rc = -1;
	for (size_t i = 0; rc == 0 && i < names->n && i < only; i++) {
		struct ctld_node *n = sim_ctld_find(c, names->names[i]);

		if (n == NULL || n->pool == SIM_POOLS_MAX) {
			world_fail(c->w, "scontrol: %s is not a node of burstd's", names->names[i]);
			rc = -1;
			break;
		}
		if (n->deleted) { /* as for any unknown name: what comes before it is done */
			rc = -1;
			break;
		}
		if (addrs != NULL)
			(void)snprintf(n->addr, sizeof(n->addr), "%s", addrs->names[i]);
		if (addrs != NULL)
			sim_lapse_addr(c, n);
		if (hosts != NULL)
			(void)snprintf(n->host, sizeof(n->host), "%s", hosts->names[i]);
		rc = update_state(c, n, args);
	}
	hostlist_free(addrs);
	hostlist_free(hosts);
	return rc;
}

static int update_nodes(struct sim_ctld *c, const char *const *args, size_t only)
{
	struct hostlist *names = expand(option(args, "nodename="));
	int rc = -1;

	if (names != NULL)
		rc = update_all(c, args, names, only);
	else
		world_fail(c->w, "scontrol: update without a node list");
	hostlist_free(names);
	return rc;
}

/* Is its begin time what burstd set?  One that a user set within seconds of that burstd cannot tell
 * from its own, for slurmctld knows no fractions. */
static bool is_burstds(const struct ctld_job *j)
{
	return j->waits_to != 0 && llabs(j->begin_at - j->waits_to) <= 2 * SIM_SECOND;
}

/* Had burstd looked at it since somebody, or slurmctld itself, set its begin time, when it gave the
 * order that is here now? */
static bool is_seen(const struct sim_ctld *c, const struct ctld_job *j)
{
	int64_t set_at = j->user_at > j->requeued_at ? j->user_at : j->requeued_at;

	return set_at < j->details_at && c->w->now - set_at > ORDER_MS;
}

/* I17: slurmctld holds a requeued job back because something of its last run may be left; before
 * that time it is let start when the machines are gone that it was taken from, and never against
 * anybody's wish. */
static void let_start(struct sim_ctld *c, struct ctld_job *j)
{
	SIM_TRACE(c->w, "  ctld: job %u may start now", (unsigned)j->id);
	if (is_seen(c, j) && (j->held || (j->begin_at != j->requeued_to && !is_burstds(j))))
		world_fail(c->w, "job %u is made to start earlier than somebody wants",
			   (unsigned)j->id);
	for (uint32_t k = 0; k < j->nlost && c->w->now < j->back_to; k++) {
		const struct inst *i = sim_cloud_find(c->w->cloud, j->lost[k]);

		if (i != NULL && inst_live(i) && !i->unknown && !i->lied && i->taken_at != 0 &&
		    i->taken_at < c->told_at)
			world_fail(c->w,
				   "I17: job %u is let start, and i-%u, on which it ran, "
				   "may still live",
				   (unsigned)j->id, (unsigned)i->number);
	}
	j->begin_at = c->w->now;
}

/* F57: people read the time of the next try by their clock, which is slurmctld's, in its zone and
 * in squeue's form. */
static void check_told(struct world *w, const char *comment, int64_t at)
{
	const char *said = comment != NULL ? strstr(comment, "; next try ") : NULL;
	char text[FMT_TIME_SIZE];
	int64_t told;

	if (said == NULL || w->now < w->set_at + SIM_MINUTE)
		return;
	(void)snprintf(text, sizeof(text), "%.19sZ", said + strlen("; next try "));
	if (fmt_time_parse(text, &told, NULL) != 0 || llabs(told - w->wall - at) > 30 * SIM_SECOND)
		world_fail(w, "F57: a job waits until %lld, and is told %s",
			   (long long)(at + w->wall), text);
}

/* F57: nobody has let it start: what its comment says is so, whatever the clock did. */
static void check_cleared(struct world *w, const struct ctld_job *j)
{
	if (j->state != JOB_PENDING || j->held || j->begin_at != j->said_to ||
	    j->user_at >= j->details_at || w->skew != 0 ||
	    llabs(j->said_at - w->set_at) < ORDER_MS ||
	    (w->boot->jumped_at != 0 && w->now - w->boot->jumped_at < JUMPED_MS))
		return; /* its begin times do not go with a clock that jumps over a restart, nor
			 * with one that is set while the order is on its way */
	if (w->now < j->begin_at && strncmp(j->comment, "burstd:", 7) == 0)
		world_fail(w, "F57: job %u waits, and \"%s\" is taken back", (unsigned)j->id,
			   j->comment);
}

/* What somebody else wrote stays. */
static void comment_on(struct sim_ctld *c, struct ctld_job *j, const char *comment)
{
	if (*comment == '\0')
		check_cleared(c->w, j);
	sim_topology_said(c, j, comment);
	SIM_TRACE(c->w, "  ctld: job %u has the comment \"%s\"", (unsigned)j->id, comment);
	if (j->comment_at != 0 && j->comment_at < j->details_at)
		world_fail(c->w, "job %u: \"%s\" is overwritten, which burstd did not write",
			   (unsigned)j->id, j->comment);
	(void)snprintf(j->comment, sizeof(j->comment), "%s", comment);
	j->comment_at = 0;
	j->returned = false;
}

/* Nobody's begin time is made earlier, nobody's hold is overruled; but what burstd itself has set
 * it may take back, and a clock that was set since burstd looked has moved slurmctld's own.  Where
 * orders hang, one may have been given before all that, and waited for another. */
static void postpone(struct sim_ctld *c, struct ctld_job *j, const char *wait, const char *comment)
{
	int64_t at = sim_ctld_seconds(c->w->now) + strtoll(wait, NULL, 10) * SIM_SECOND;
	bool waited = c->w->now - c->troubled < SIM_MINUTE;
	bool moved =
		c->w->set_at >= j->details_at || (waited && c->w->now < c->w->set_at + SIM_MINUTE);
	bool earlier = at < j->begin_at && !is_burstds(j) && !moved;

	SIM_TRACE(c->w, "  ctld: job %u waits %s", (unsigned)j->id, wait);
	check_told(c->w, comment, at);
	if (is_seen(c, j) && ((j->held && !waited) || earlier))
		world_fail(c->w, "job %u is made to start earlier", (unsigned)j->id);
	j->begin_at = j->waits_to = at;
	if (comment != NULL) /* by another clock it is not what stands there */
		j->said_to = c->w->skew == 0 ? at : 0;
	j->said_at = c->w->now;
}

static int update_jobs(struct sim_ctld *c, const char *const *args, size_t only)
{
	static const char now[] = "now+";
	const char *ids = option(args, "jobid="), *start = option(args, "StartTime=");
	const char *comment = option(args, "AdminComment=");
	int rc = 0;

	for (size_t n = 0; n < only && *ids != '\0'; n++) {
		struct ctld_job *j = sim_ctld_job_named(c, ids);

		ids += strcspn(ids, ",");
		ids += *ids == ',';
		if (j == NULL || j->state == JOB_FAILED || j->state == JOB_COMPLETING ||
		    (start != NULL && j->state != JOB_PENDING)) {
			rc = -1; /* and the others have it */
			continue;
		}
		if (comment != NULL)
			comment_on(c, j, comment);
		if (start != NULL && strcmp(start, "now") == 0)
			let_start(c, j);
		if (start != NULL && strncmp(start, now, sizeof(now) - 1) == 0)
			postpone(c, j, start + sizeof(now) - 1, comment);
	}
	return rc;
}

/* All of it or nothing; refused while a list has a count. */
static int update_kept(struct sim_ctld *c, const char *list, bool keep, size_t only)
{
	struct hostlist *names = expand(list);
	bool ok = names != NULL && !c->w->set.fixed && only > 0;

	for (size_t i = 0; ok && i < names->n; i++) {
		struct ctld_node *n = sim_ctld_find(c, names->names[i]);

		if (n == NULL || n->pool == SIM_POOLS_MAX)
			world_fail(c->w, "scontrol: %s is not a node of burstd's", names->names[i]);
		else
			n->kept = keep;
	}
	hostlist_free(names);
	return ok ? 0 : -1;
}

int sim_ctld_update(struct sim_ctld *c, const char *const *args, size_t only)
{
	const char *keep = option(args, "SuspendExcNodes+="),
		   *go = option(args, "SuspendExcNodes-=");

	if (keep != NULL || go != NULL)
		return update_kept(c, keep != NULL ? keep : go, keep != NULL, only);
	if (option(args, "jobid=") != NULL)
		return update_jobs(c, args, only);
	return update_nodes(c, args, only);
}
