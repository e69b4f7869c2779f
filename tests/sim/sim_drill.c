/* sim_drill.c - drills: without faults, how soon does burstd do what it should?  Where slurmctld
 * would do it by itself in the end, only a time limit shows that burstd did. */
#include <string.h>

#include "buy/buy_api.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_slurm.h"

enum {
	CANCEL_MS = 40 * SIM_SECOND, /* two snapshots, all jobs, and a command: 4 s each at most */
	MUTE_MS = 50 * SIM_SECOND,   /* a snapshot every 30 s while nothing moves, a command */
	START_MS = 10 * SIM_MINUTE,  /* a job, on machines that boot in 80 s at most */
	CLOSED_MS = 60 * SIM_MINUTE, /* the longest that a place is left alone */
	/* Likewise; three lost creates, known 135 s later each; its ResumeTimeout is over by then.
	 */
	FAILS_MS = 15 * SIM_MINUTE,
	GATE_MS = 26 * SIM_SECOND, /* a snapshot, asked for anew after 10 s; 30 s without burstd */
	REFUSE_MS = 40 * SIM_SECOND,    /* a create, the jobs, a command */
	THROTTLED_MS = 60 * SIM_SECOND, /* between two creates that are throttled */
	LIST_MS = 18 * SIM_SECOND,      /* a list of a few pages, the jobs, a command */
	/* from the last answer: lists 30 s apart in the end, a squeue, a command */
	AWAY_MS = 80 * SIM_SECOND,
	BACK_MS = 65 * SIM_SECOND, /* till the next one, and its time-out, say that it is back */
	LISTS_MAX = 40,            /* in NONE_MS, when all of them fail: every 30 s in the end */
	NONE_MS = 10 * SIM_MINUTE,
	/* The longest pause of a quota here, a job's last wait, and its boot. */
	FULL_MS = 24 * SIM_MINUTE,
	NONE_CREATES = 30, /* in that time: by the waits of a job, or of a create, that double */
};

typedef void (*step_fn)(struct world *w);

static void pass(struct world *w, step_fn step, int64_t until)
{
	while (!w->failed && w->now < until)
		step(w);
}

/* A job of one node, where slurmctld still has one, not of that pool; NULL: nowhere. */
static struct ctld_job *submit_elsewhere(struct world *w, uint32_t pool)
{
	for (size_t i = 0; i < w->ctld->n; i++) {
		const struct ctld_node *n = &w->ctld->nodes[i];

		if (n->pool != SIM_POOLS_MAX && n->pool != pool && !n->deleted)
			return sim_ctld_submit(w->ctld, n->pool, 1);
	}
	return NULL;
}

static struct ctld_job *submit(struct world *w)
{
	return submit_elsewhere(w, SIM_POOLS_MAX);
}

/* --- a job is cancelled while its nodes boot (F53) ---------------------------------------------
 */

static bool boots(const struct sim_ctld *c, const struct ctld_job *j)
{
	return j->state == JOB_CONFIGURING && c->nodes[j->nodes[0]].powering_up;
}

/* The next one may come while burstd makes up its mind: slurmctld gives it the node that boots. */
static void drill_cancel(struct world *w, step_fn step, bool next)
{
	struct ctld_job *j = submit(w);
	int64_t end = w->now + START_MS;
	struct ctld_node *n;
	int64_t boot_req;

	if (w->failed || j == NULL)
		return;
	while (!w->failed && !boots(w->ctld, j) && w->now < end)
		step(w);
	pass(w, step, w->now + world_between(w, 1, 10) * SIM_SECOND);
	if (w->failed || !boots(w->ctld, j)) {
		sim_ctld_end_job(w->ctld, j); /* it was quick */
		return;
	}
	n = &w->ctld->nodes[j->nodes[0]];
	boot_req = n->boot_req;
	SIM_TRACE(w, "*** the job of %s is cancelled", n->name);
	sim_ctld_end_job(w->ctld, j);
	if (next) {
		pass(w, step, w->now + world_between(w, 0, 10000));
		j = submit(w);
	}
	pass(w, step, w->now + CANCEL_MS);
	if (next)
		sim_ctld_end_job(w->ctld, j);
	else if (n->powering_up && n->boot_req == boot_req)
		world_fail(w, "F53: %s still boots %d s after its job was cancelled", n->name,
			   CANCEL_MS / SIM_SECOND);
}

/* --- slurmd dies, its instance lives ---------------------------------------------------------- */

/* The place where it could be bought may be left alone for a while yet. */
static void start(struct world *w, step_fn step, const struct ctld_job *j, int64_t ms)
{
	int64_t end = w->now + ms, last = end + CLOSED_MS;

	while (!w->failed && j->state != JOB_RUNNING && w->now < end && w->now < last) {
		if (sim_place_cools(w))
			end = w->now + ms;
		step(w);
	}
	if (j->state != JOB_RUNNING)
		world_fail(w, "I24: a job does not start in %d minutes", (int)(ms / SIM_MINUTE));
}

static void drill_mute(struct world *w, step_fn step)
{
	struct ctld_job *j = submit(w);
	struct ctld_node *n;
	const struct inst *i;

	if (w->failed || j == NULL)
		return;
	start(w, step, j, START_MS);
	if (w->failed)
		return;
	pass(w, step, w->now + 10 * SIM_SECOND); /* burstd sees it up */
	n = &w->ctld->nodes[j->nodes[0]];
	i = sim_cloud_find(w->cloud, n->inst);
	sim_admin_kill_slurmd(w->ctld, n, true);
	pass(w, step, w->now + w->set.slurmd_timeout_s * SIM_SECOND + MUTE_MS);
	if (inst_live(i) && !i->accepted)
		world_fail(w, "i-%u of %s lives on %d s after slurmctld gave its slurmd up",
			   (unsigned)i->number, n->name, MUTE_MS / SIM_SECOND);
	start(w, step, j, START_MS);
	sim_ctld_end_job(w->ctld, j);
}

/* An admin terminates a node whose slurmd does not answer: slurmctld must not wait for it, which
 * hangs the job until SlurmdTimeout (slurm.md 2.2). */
static void drill_terminate(struct world *w, step_fn step)
{
	const int64_t half = w->set.slurmd_timeout_s * SIM_SECOND / 2;
	const struct ctld_job *j = half > MUTE_MS ? submit(w) : NULL;
	struct engine_request rq = {.order = ENGINE_TERMINATE, .by = "root"};
	struct engine_ordered out;
	struct ctld_node *n;

	if (w->failed || j == NULL)
		return; /* nowhere, or it would be over before burstd knows */
	start(w, step, j, START_MS);
	if (w->failed)
		return;
	pass(w, step, w->now + 10 * SIM_SECOND);
	n = &w->ctld->nodes[j->nodes[0]];
	sim_admin_kill_slurmd(w->ctld, n, true);
	pass(w, step, w->now + half + MUTE_MS - 10 * SIM_SECOND);
	rq.nodes = n->name;
	if (w->failed || engine_operate(w->engine, &rq, &out, NULL) != 0)
		return;
	for (int64_t end = w->now + 10 * SIM_SECOND; !w->failed && w->now < end; step(w))
		if (n->completing)
			world_fail(w, "I16: the job of %s hangs: it was forced down, and is dead",
				   n->name);
	sim_ctld_end_jobs(w->ctld);
}

/* --- the call is lost (F45) -------------------------------------------------------------------
 */

static void drill_hook(struct world *w, step_fn step)
{
	struct ctld_job *j;
	int64_t end;

	while (!w->failed && sim_place_cools(w))
		step(w); /* a drill before this one may have closed it: all are refused there */
	j = submit(w);
	end = w->now + START_MS;
	if (w->failed || j == NULL)
		return;
	w->ctld->lose_hooks = true;
	while (!w->failed && !boots(w->ctld, j) && j->state != JOB_RUNNING && w->now < end)
		step(w);
	w->ctld->lose_hooks = false;
	while (!w->failed && boots(w->ctld, j))
		step(w);
	if (!w->failed && j->state != JOB_RUNNING && j->state != JOB_CONFIGURING)
		world_fail(w, "F45: a job did not get its nodes when ResumeProgram was lost");
	sim_ctld_end_job(w->ctld, j);
}

/* --- the instance is taken away (F41) ----------------------------------------------------------
 */

/* Has slurmctld been told to let go of what it had there? */
static bool fenced(const struct ctld_node *n, const struct inst *i)
{
	return n->inst != i->number || n->power_down || n->powering_down || n->powered_down ||
	       n->down;
}

/* With a notice, or (0) without one where the provider still shows what has ended. */
static void drill_reclaim(struct world *w, step_fn step, int64_t notice_ms)
{
	const int64_t known = w->set.list_ms + LIST_MS;
	bool late = notice_ms == 0 &&
		    (w->set.linger_ms < known || w->set.slurmd_timeout_s * SIM_SECOND / 2 < known);
	struct ctld_job *j = late ? NULL : submit(w);
	struct ctld_node *n;
	struct inst *i;

	if (w->failed || j == NULL)
		return;
	start(w, step, j, START_MS);
	if (w->failed)
		return;
	pass(w, step, w->now + 10 * SIM_SECOND);
	n = &w->ctld->nodes[j->nodes[0]];
	i = sim_cloud_find(w->cloud, n->inst);
	SIM_TRACE(w, "*** %s is taken back", n->name);
	if (notice_ms > 0)
		sim_cloud_reclaim(w->cloud, i, notice_ms);
	else
		sim_cloud_end(w->cloud, i);
	pass(w, step, w->now + known);
	if (!w->failed && !fenced(n, i))
		world_fail(w, "I16: slurmctld was not told in %d s that %s is taken back",
			   (int)(known / SIM_SECOND), n->name);
	sim_ctld_end_job(w->ctld, j);
}

/* --- the provider has none (F7, F8, F9) --------------------------------------------------------
 */

static void drill_none(struct world *w, step_fn step, const char *code)
{
	bool throttled = strcmp(code, "rate") == 0, climbs;
	struct ctld_job *j = submit(w);
	int64_t end = w->now + START_MS, known = REFUSE_MS, boot_req;
	uint64_t creates = w->totals->creates;
	struct ctld_node *n;

	if (w->failed || j == NULL)
		return;
	SIM_TRACE(w, "*** from now on: %s", code);
	w->cloud->none = code;
	while (!w->failed && !boots(w->ctld, j) && w->now < end)
		step(w);
	n = &w->ctld->nodes[j->nodes[0]];
	boot_req = n->boot_req;
	end = w->now + NONE_MS;
	if (throttled) { /* now and then that is nothing, but not for so long */
		pass(w, step, w->now + w->set.unreachable_ms - SIM_SECOND);
		if (!w->failed && !w->throttled && (!n->powering_up || n->boot_req != boot_req))
			world_fail(w, "F7: %s is sent back, and the create was only throttled",
				   n->name);
		w->throttled = true;
		known += THROTTLED_MS;
	}
	pass(w, step, w->now + known);
	climbs = throttled && w->set.pools[j->pool].ladder; /* each offer takes as long */
	if (!w->failed && !climbs && n->powering_up && n->boot_req == boot_req)
		world_fail(w, "F8: %s still boots %d s after it was refused (%s)", n->name,
			   (int)(known / SIM_SECOND), code);
	pass(w, step, end);
	/* Who climbs has another provider to ask, and that is throttled by itself. */
	if (!w->failed && w->totals->creates - creates > NONE_CREATES * (climbs ? 2 : 1))
		world_fail(w, "I30: %d creates in %d minutes, all of them refused (%s)",
			   (int)(w->totals->creates - creates), NONE_MS / SIM_MINUTE, code);
	w->cloud->none = NULL;
	sim_ctld_end_job(w->ctld, j);
}

/* --- nobody is there (F26) -----------------------------------------------------------------------
 *
 * The job is told, and where the pool has offers of another provider it gets its nodes there. */

/* A create in doubt counts against the limits, and keeps its node. */
static bool has_room_for_doubt(const struct world *w, uint32_t pool)
{
	const struct sim_pool *p = &w->set.pools[pool];
	uint32_t names = 0;

	for (size_t i = 0; i < w->ctld->n; i++)
		names += w->ctld->nodes[i].pool == pool && !w->ctld->nodes[i].deleted;
	return p->max_nodes >= 2 && p->max_rate >= 2 * p->price && names >= 2;
}

static void drill_away(struct world *w, step_fn step)
{
	const int64_t known = w->set.unreachable_ms + AWAY_MS;
	struct ctld_job *j = submit(w);
	bool elsewhere = j != NULL && w->set.twins && w->set.pools[j->pool].ladder;
	int64_t end = w->now + START_MS, boot_req;
	struct ctld_node *n;

	if (w->failed || j == NULL)
		return;
	SIM_TRACE(w, "*** nobody is there any more");
	for (int k = 0; k < (elsewhere ? 1 : 2); k++)
		w->cloud->away[k] = (struct sim_away){
			.until = INT64_MAX,
			.how = has_room_for_doubt(w, j->pool) && world_one_in(w, 2) ? AWAY_FAILS
										    : AWAY_REFUSES};
	while (!w->failed && !boots(w->ctld, j) && w->now < end)
		step(w);
	n = &w->ctld->nodes[j->nodes[0]];
	boot_req = n->boot_req;
	if (elsewhere) {
		start(w, step, j, START_MS);
	} else {
		pass(w, step, w->now + known);
		if (!w->failed && n->powering_up && n->boot_req == boot_req)
			world_fail(w, "F26: %s still boots %d s after nobody answered any more",
				   n->name, (int)(known / SIM_SECOND));
	}
	w->cloud->away[0].until = w->cloud->away[1].until = 0;
	sim_ctld_end_job(w->ctld, j);
	pass(w, step, w->now + BACK_MS);
}

/* --- a job of two nodes, and there is only one (F4) --------------------------------------------
 */

static struct ctld_job *submit_two(struct world *w)
{
	uint32_t free_nodes[SIM_POOLS_MAX + 1] = {0};

	for (size_t i = 0; i < w->ctld->n; i++)
		free_nodes[w->ctld->nodes[i].pool] += !w->ctld->nodes[i].deleted;
	for (uint32_t p = 0; p < w->set.npools; p++) {
		const struct sim_pool *sp = &w->set.pools[p];

		if (free_nodes[p] >= 2 && sp->max_nodes >= 2 && sp->max_rate >= 2 * sp->price)
			return sim_ctld_submit(w->ctld, p, 2);
	}
	return NULL;
}

static void drill_gang(struct world *w, step_fn step)
{
	struct ctld_job *j = submit_two(w);
	int64_t end = w->now + START_MS;
	uint32_t nodes[2];

	if (w->failed || j == NULL)
		return;
	w->cloud->single = true;
	while (!w->failed && j->state == JOB_PENDING && w->now < end)
		step(w);
	memcpy(nodes, j->nodes, sizeof(nodes));
	while (!w->failed && j->state == JOB_CONFIGURING && w->now < end)
		step(w);
	if (j->state == JOB_PENDING) /* else they were two creates */
		pass(w, step, w->now + 20 * SIM_SECOND);
	for (size_t k = 0; !w->failed && j->state == JOB_PENDING && k < w->cloud->nlive; k++) {
		const struct inst *i = w->cloud->live[k];

		if (!i->accepted && i->slurmd_at == 0 &&
		    (strcmp(i->node, w->ctld->nodes[nodes[0]].name) == 0 ||
		     strcmp(i->node, w->ctld->nodes[nodes[1]].name) == 0) &&
		    i->pool != SIM_POOLS_MAX)
			world_fail(w, "F4: %s boots on, and its job was sent back for another node",
				   i->node);
	}
	w->cloud->single = false;
	sim_ctld_end_job(w->ctld, j);
}

/* --- burst-prolog ------------------------------------------------------------------------------
 */

static void drill_gate(struct world *w, step_fn step)
{
	struct ctld_job *j = w->set.prolog ? submit(w) : NULL;
	int64_t end = w->now + START_MS;

	if (w->failed || j == NULL)
		return;
	while (!w->failed && !boots(w->ctld, j) && j->state != JOB_RUNNING && w->now < end)
		step(w);
	while (!w->failed && boots(w->ctld, j) && w->now < end)
		step(w);
	for (end = w->now + GATE_MS; !w->failed && w->now < end; step(w))
		if (!sim_gate_waits(w->ctld, j->id))
			break;
	if (!w->failed && sim_gate_waits(w->ctld, j->id) && j->state == JOB_CONFIGURING)
		world_fail(w, "the gate of a job is closed %d s after its node is up",
			   GATE_MS / SIM_SECOND);
	sim_ctld_end_job(w->ctld, j);
}

/* ... and nothing of them is left that a new one would have to wait for. */
static bool all_sleep(const struct world *w)
{
	const struct sim_ctld *c = w->ctld;
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);

	for (size_t i = 0; i < c->n; i++)
		if (c->nodes[i].pool != SIM_POOLS_MAX && !c->nodes[i].powered_down)
			return false;
	for (size_t k = 0; k < n; k++)
		if (r[k].n.state != NODE_GONE)
			return false;
	return !sim_gate_waits(c, 0);
}

static void sleep_all(struct world *w, step_fn step)
{
	pass(w, step, sim_place_calm_at(w));
	int64_t end = w->now + START_MS;

	while (!w->failed && !all_sleep(w) && w->now < end)
		step(w);
}

/* --- purchases fail at one place, and all else is answered (F26) ---------------------------------
 *
 * They do not leave us, are never answered, or are answered that it is the provider's fault.  The
 * job gets its nodes at another one, once that is known, and what may have been made is not. */

static void drill_fails(struct world *w, step_fn step)
{
	struct ctld_job *j = submit(w);

	if (w->failed || j == NULL)
		return;
	SIM_TRACE(w, "*** purchases fail where the next one goes");
	if (w->set.pools[j->pool].ladder) {
		w->next_fails = (enum sim_fails)(FAILS_REFUSES + w->seed / 6 % 3);
		start(w, step, j, FAILS_MS);
	}
	w->next_fails = FAILS_NOT;
	sim_place_heal(w);
	sim_ctld_end_job(w->ctld, j);
	sleep_all(w, step);
}

/* --- a create is accepted, and fails later (F10) -------------------------------------------------
 *
 * What ended is known by a list, or two a settle time apart that do not show it, and what is there
 * as an error goes when its time to boot is over.  The job is told, and gets its nodes at another
 * place. */

static struct inst *stillborn_of(const struct world *w, const struct ctld_node *n)
{
	for (size_t k = w->cloud->n; k > 0; k--)
		if (w->cloud->all[k - 1]->fate != MAKES_WELL &&
		    strcmp(w->cloud->all[k - 1]->node, n->name) == 0)
			return w->cloud->all[k - 1];
	return NULL;
}

static void drill_stillborn(struct world *w, step_fn step, enum sim_makes how)
{
	const int64_t known = how == MAKES_AN_ERROR
				      ? w->set.boot_ms + LIST_MS
				      : 2 * (w->set.settle_ms + w->set.list_ms + LIST_MS);
	struct ctld_job *j = submit(w);
	int64_t end = w->now + START_MS, boot_req;
	const struct ctld_node *n;
	const struct inst *i;

	if (w->failed || j == NULL)
		return;
	SIM_TRACE(w, "*** what is made where the next one goes fails");
	w->next_makes = how;
	while (!w->failed && w->next_makes != MAKES_WELL && w->now < end)
		step(w);
	n = &w->ctld->nodes[j->nodes[0]];
	boot_req = n->boot_req;
	i = stillborn_of(w, n);
	while (!w->failed && i != NULL && inst_live(i) && !i->error)
		step(w);
	pass(w, step, (how == MAKES_AN_ERROR && i != NULL ? i->created : w->now) + known);
	if (!w->failed && i != NULL && inst_live(i) && !i->asked)
		world_fail(w, "F10: i-%u of %s has failed, and bills on %d s after it was made",
			   (unsigned)i->number, n->name, (int)(known / SIM_SECOND));
	if (!w->failed && n->powering_up && n->boot_req == boot_req)
		world_fail(w, "F10: %s still boots %d s after its machine has failed", n->name,
			   (int)(known / SIM_SECOND));
	if (w->set.pools[j->pool].ladder)
		start(w, step, j, START_MS);
	w->next_makes = MAKES_WELL;
	sim_place_heal(w);
	sim_ctld_end_job(w->ctld, j);
	sleep_all(w, step);
}

/* --- there are so many, and no more (F8, F9) -----------------------------------------------------
 *
 * A job of two waits while one node is another's, and there are two machines in all: it is not
 * asked for again and again, and soon after that one is free it runs. */

static struct ctld_job *submit_two_more(struct world *w, const struct ctld_job *j)
{
	const struct sim_pool *p = &w->set.pools[j->pool];
	uint32_t names = 0;

	for (size_t i = 0; i < w->ctld->n; i++)
		names += w->ctld->nodes[i].pool == j->pool && !w->ctld->nodes[i].deleted;
	if (names < 3 || p->max_nodes < 3 || p->max_rate < 3 * p->price)
		return NULL;
	return sim_ctld_submit(w->ctld, j->pool, 2);
}

static void drill_full(struct world *w, step_fn step, const char *why)
{
	struct ctld_job *j = submit(w), *next;
	uint64_t creates;

	if (w->failed || j == NULL)
		return;
	start(w, step, j, START_MS);
	next = w->failed ? NULL : submit_two_more(w, j);
	creates = w->totals->creates;
	if (next != NULL) {
		SIM_TRACE(w, "*** there are two of a type: %s", why);
		w->cloud->most = 2;
		w->cloud->most_why = why;
		pass(w, step, w->now + NONE_MS);
		if (!w->failed && w->totals->creates - creates > NONE_CREATES)
			world_fail(w, "I30: %d creates in %d minutes of what there is not (%s)",
				   (int)(w->totals->creates - creates), NONE_MS / SIM_MINUTE, why);
		sim_ctld_end_job(w->ctld, j);
		pass(w, step, w->now + FULL_MS);
		if (!w->failed && next->state != JOB_RUNNING && next->state != JOB_FREE)
			world_fail(w, "F8: a job does not start %d minutes after there was room",
				   FULL_MS / SIM_MINUTE);
	}
	w->cloud->most = 0;
	sim_ctld_end_jobs(w->ctld);
	sleep_all(w, step);
}

/* --- a node that waited for a job, and is powered up for none ----------------------------------
 *
 * Nothing is bought while the price is not known; its job ends meanwhile.  Then an admin powers the
 * node up, and the call is lost: the job must be forgotten by then (F51, F53). */

/* A job whose node waits to be bought. */
static struct ctld_job *submit_unpriced(struct world *w, step_fn step)
{
	int64_t end = w->now + START_MS;
	struct ctld_job *j;

	w->no_offers = w->crashed = true;
	do
		step(w);
	while (!w->failed && w->engine == NULL && w->now < end);
	pass(w, step, w->now + LIST_MS);
	j = w->failed ? NULL : submit(w);
	while (!w->failed && j != NULL && !boots(w->ctld, j) && w->now < end)
		step(w);
	pass(w, step, w->now + 10 * SIM_SECOND);
	return w->failed ? NULL : j;
}

static void drill_ghost(struct world *w, step_fn step)
{
	struct ctld_job *j = submit_unpriced(w, step);
	int64_t end = w->now + START_MS;
	struct ctld_node *n;

	if (j == NULL)
		return;
	n = &w->ctld->nodes[j->nodes[0]];
	sim_ctld_end_job(w->ctld, j);
	while (!w->failed && !n->powered_down && w->now < end)
		step(w);
	SIM_TRACE(w, "*** %s is powered up for no job", n->name);
	w->ctld->lose_hooks = n->power_up = true;
	pass(w, step, w->now + CANCEL_MS);
	w->ctld->lose_hooks = w->no_offers = false;
	end = w->now + START_MS;
	while (!w->failed && n->powering_up && w->now < end)
		step(w);
	if (!w->failed && (n->powering_up || n->inst == 0))
		world_fail(w, "F51: %s, which an admin powered up, does not come up", n->name);
}

/* --- that one job is over says nothing of the next (F53) ---------------------------------------
 *
 * Burstd learns that the job of a node that waits is over.  Before it sees the node again, that was
 * powered down, and up for the next job, which then went back into the queue. */

static bool is_bought_for(const struct world *w, const struct ctld_node *n,
			  const struct ctld_job *j)
{
	const struct sim_row *r = sim_journal_row(w->journal, n->name, 0);

	return r != NULL && node_lives(&r->n) && r->n.job == j->id;
}

static void drill_next(struct world *w, step_fn step)
{
	struct ctld_job *j = submit_unpriced(w, step), *next;
	int64_t end = w->now + START_MS, over = w->now;
	struct ctld_node *n;

	if (j == NULL)
		return;
	n = &w->ctld->nodes[j->nodes[0]];
	next = sim_ctld_submit(w->ctld, n->pool, 1);
	next->held = true;
	sim_ctld_end_job(w->ctld, j);
	while (!w->failed && w->ctld->told_jobs_at <= over && w->now < end)
		step(w);
	SIM_TRACE(w, "*** %s is powered down, and up for job %u", n->name, (unsigned)next->id);
	w->ctld->deaf_until = INT64_MAX;
	w->no_offers = n->powering_up = false;
	n->power_down = true;
	pass(w, step, w->now + CANCEL_MS);
	while (!w->failed && !n->powered_down && w->now < end)
		step(w);
	next->held = false;
	while (!w->failed && !is_bought_for(w, n, next) && w->now < end)
		step(w);
	next->held = true;
	sim_ctld_requeue(w->ctld, next);
	w->ctld->deaf_until = 0;
	pass(w, step, w->now + CANCEL_MS); /* F53 is judged when it is sent back */
	sim_ctld_end_job(w->ctld, next);
}

/* --- all lists fail (I30) -----------------------------------------------------------------------
 */

static void drill_lists(struct world *w, step_fn step)
{
	uint64_t lists;

	w->cloud->no_lists = true;
	pass(w, step, w->now + 30 * SIM_SECOND);
	lists = w->totals->lists;
	pass(w, step, w->now + NONE_MS);
	if (!w->failed && w->totals->lists - lists > LISTS_MAX * (w->set.twins ? 2U : 1U))
		world_fail(w, "I30: %d lists in %d minutes, and all of them failed",
			   (int)(w->totals->lists - lists), NONE_MS / SIM_MINUTE);
	w->cloud->no_lists = false;
	pass(w, step, w->now + BACK_MS);
}

/* --- two of one generation (F5, I3) ------------------------------------------------------------
 */

static void drill_twin(struct world *w, step_fn step)
{
	struct ctld_job *j = submit(w);
	const struct inst *i, *twin;

	if (w->failed || j == NULL)
		return;
	start(w, step, j, START_MS);
	if (w->failed)
		return;
	i = sim_cloud_find(w->cloud, w->ctld->nodes[j->nodes[0]].inst);
	twin = sim_cloud_twin(w->cloud, i);
	SIM_TRACE(w, "*** i-%u is another %s", (unsigned)twin->number, twin->node);
	pass(w, step, w->now + w->set.settle_ms + 2 * (w->set.list_ms + LIST_MS));
	if (!w->failed && (!twin->accepted || i->accepted))
		world_fail(w, "I10, F25: of two instances of one generation the wrong one lives");
	sim_ctld_end_job(w->ctld, j);
}

/* --- powered down and up again while burstd sees nothing (F48) ---------------------------------
 */

static void drill_replace(struct world *w, step_fn step)
{
	struct ctld_job *j = submit(w);
	int64_t end = w->now + START_MS;
	const struct ctld_node *n;

	if (w->failed || j == NULL)
		return;
	start(w, step, j, START_MS);
	pass(w, step, w->now + MUTE_MS); /* burstd has seen it up */
	n = &w->ctld->nodes[j->nodes[0]];
	sim_ctld_end_job(w->ctld, j);
	w->ctld->deaf_until = INT64_MAX;
	while (!w->failed && !n->powered_down && w->now < end)
		step(w);
	j = w->failed ? NULL : submit(w);
	while (!w->failed && j != NULL && !boots(w->ctld, j) && w->now < end)
		step(w);
	w->ctld->deaf_until = 0;
	while (!w->failed && j != NULL && boots(w->ctld, j))
		step(w);
	if (!w->failed && j != NULL && j->state == JOB_PENDING && n->down && n->by == BY_SLURM)
		world_fail(w,
			   "F38: a node that was powered up afresh was left to its ResumeTimeout");
	if (j != NULL)
		sim_ctld_end_job(w->ctld, j);
}

/* --- up after all (F58, I18) --------------------------------------------------------------------
 *
 * A node is given up at its deadline, and burstd dies before anybody was told.  The node comes up
 * meanwhile and has a job: slurmctld must let go of it before it is deleted. */

static void drill_late(struct world *w, step_fn step)
{
	struct ctld_job *j = submit(w);
	int64_t end = w->now + START_MS;

	if (w->failed || j == NULL)
		return;
	w->cloud->no_slurmd = w->gives_up = true;
	while (!w->failed && j->state != JOB_CONFIGURING && w->now < end)
		step(w);
	while (!w->failed && j->state == JOB_CONFIGURING && w->engine != NULL)
		step(w);
	SIM_TRACE(w, "*** it comes up after all");
	w->cloud->no_slurmd = false;
	while (!w->failed && boots(w->ctld, j))
		step(w);
	pass(w, step, w->now + 10 * SIM_SECOND); /* the job runs */
	w->gives_up = false;
	pass(w, step, w->now + CANCEL_MS); /* I18 is judged when a delete comes */
	sim_ctld_end_job(w->ctld, j);
}

/* --- we have not the right to make fabrics ------------------------------------------------------
 *
 * That is no reason not to buy from the provider what needs none. */

/* Does it run when it has got nodes?  Else it was sent back. */
static bool tries(struct world *w, step_fn step, const struct ctld_job *j)
{
	int64_t end = w->now + START_MS;

	while (!w->failed && j->state == JOB_PENDING && w->now < end)
		step(w);
	while (!w->failed && j->state == JOB_CONFIGURING && w->now < end)
		step(w);
	return j->state == JOB_RUNNING;
}

/* The other one is of another pool: this one's place has cooled down. */
static void drill_right(struct world *w, step_fn step)
{
	struct ctld_job *j = w->set.fabric && w->set.npools == 2 ? submit_two(w) : NULL, *other;

	if (w->failed || j == NULL)
		return;
	SIM_TRACE(w, "*** fabrics may not be made");
	w->cloud->no_make = true;
	for (int n = 0; n < 3; n++) /* what would close it for longer each time */
		if (tries(w, step, j))
			world_fail(w, "a job of two nodes runs, and could have no fabric");
	other = w->failed ? NULL : submit_elsewhere(w, j->pool);
	if (other != NULL && !tries(w, step, other))
		world_fail(w, "a job of one node is refused, and needs no fabric");
	w->cloud->no_make = false;
	sim_ctld_end_jobs(w->ctld);
	sleep_all(w, step);
}

static void some_drill(struct world *w, step_fn step)
{
	static const char *const codes[] = {"capacity", "quota", "rate"};
	uint32_t which = world_below(w, 13);

	if (which < 3)
		drill_none(w, step, codes[which]);
	else if (which == 3)
		drill_hook(w, step);
	else if (which == 4)
		drill_gang(w, step);
	else if (which == 5)
		drill_gate(w, step);
	else if (which == 8)
		drill_ghost(w, step);
	else if (which == 9)
		drill_lists(w, step);
	else if (which == 10)
		drill_twin(w, step);
	else if (which == 11)
		drill_replace(w, step);
	else if (which == 12)
		drill_away(w, step);
	else
		drill_reclaim(w, step, which == 6 ? 2 * SIM_MINUTE : 0);
}

void sim_drill(struct world *w, step_fn step)
{
	SIM_TRACE(w, "*** drills");
	for (uint32_t p = 0; p < w->set.npools; p++)
		sim_pool_forgive(w, p);
	(void)engine_pause(w->engine, NULL, false, "root", NULL);
	for (int next = 0; next < 2; next++) {
		sleep_all(w, step);
		drill_cancel(w, step, next == 1);
	}
	sleep_all(w, step);
	drill_mute(w, step);
	sleep_all(w, step);
	drill_terminate(w, step);
	for (int n = 0; n < 3 && !w->failed; n++) { /* they cost time: some in each world */
		sleep_all(w, step);
		some_drill(w, step);
	}
	sleep_all(w, step);
	drill_right(w, step);
	if (w->seed % 6 == 4) /* by no dice, as it came later */
		drill_fails(w, step);
	if (w->seed % 6 == 2)
		drill_stillborn(w, step, w->seed % 4 == 0 ? MAKES_AN_END : MAKES_AN_ERROR);
	if (w->seed % 6 == 0)
		drill_full(w, step, w->seed % 4 == 0 ? "capacity" : "quota");
	if (world_one_in(w, 4))
		drill_next(w, step);
	sleep_all(w, step);
	if (world_one_in(w, 4)) /* the last: its node comes up wrong, and rests */
		drill_late(w, step);
}
