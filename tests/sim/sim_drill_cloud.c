/* sim_drill_cloud.c - drills: a provider that has nothing, takes back, denies, makes one twice, or
 * does not answer. */
#include <string.h>

#include "buy/buy_api.h"
#include "sim_cloud.h"
#include "sim_drill.h"
#include "sim_journal.h"
#include "sim_slurm.h"

/* --- the instance is taken away (F41) ----------------------------------------------------------
 */

bool drill_fenced(const struct ctld_node *n, const struct inst *i)
{
	return n->inst != i->number || n->power_down || n->powering_down || n->powered_down ||
	       n->down;
}

/* The longest pause between two lists while nothing moves (ADR 41). */
static int64_t rarely_ms(const struct world *w)
{
	int64_t most = 130 * SIM_SECOND -
		       (w->set.settle_ms < 10 * SIM_SECOND ? w->set.settle_ms : 10 * SIM_SECOND);

	return 4 * w->set.list_ms < most ? 4 * w->set.list_ms : most;
}

/* Lists are rare only where notices are heard; without a notice, that one which is not spot was
 * taken back may be seen late. */
static bool is_spot(const struct world *w, const struct inst *i)
{
	const struct sim_row *r = sim_journal_row(w->journal, i->node, i->gen);

	return r != NULL && r->n.market == PROVIDER_SPOT;
}

/* With a notice, or (0) without one where the provider still shows what has ended. */
void drill_reclaim(struct world *w, step_fn step, int64_t notice_ms)
{
	int64_t known = rarely_ms(w) + LIST_MS;
	bool late = notice_ms == 0 &&
		    (w->set.linger_ms < known || w->set.slurmd_timeout_s * SIM_SECOND / 2 < known);
	struct ctld_job *j = late ? NULL : drill_submit(w);
	struct ctld_node *n;
	struct inst *i;

	if (w->failed || j == NULL)
		return;
	drill_start(w, step, j, START_MS);
	if (w->failed)
		return;
	drill_pass(w, step, w->now + 10 * SIM_SECOND);
	n = &w->ctld->nodes[j->nodes[0]];
	i = sim_cloud_find(w->cloud, n->inst);
	if (notice_ms > 0 || is_spot(w, i))
		known = w->set.list_ms + LIST_MS;
	SIM_TRACE(w, "*** %s is taken back", n->name);
	if (notice_ms > 0)
		sim_cloud_reclaim(w->cloud, i, notice_ms);
	else
		sim_cloud_end(w->cloud, i);
	drill_pass(w, step, w->now + known);
	if (!w->failed && !drill_fenced(n, i))
		world_fail(w, "I16: slurmctld was not told in %d s that %s is taken back",
			   (int)(known / SIM_SECOND), n->name);
	sim_ctld_end_job(w->ctld, j);
}

/* --- the provider has none (F7, F8, F9) --------------------------------------------------------
 */

void drill_none(struct world *w, step_fn step, const char *code)
{
	bool throttled = strcmp(code, "rate") == 0, climbs;
	struct ctld_job *j = drill_submit(w);
	int64_t end = w->now + START_MS, known = REFUSE_MS, boot_req;
	uint64_t creates = w->totals->creates;
	struct ctld_node *n;

	if (w->failed || j == NULL)
		return;
	SIM_TRACE(w, "*** from now on: %s", code);
	w->cloud->none = code;
	while (!w->failed && !drill_boots(w->ctld, j) && w->now < end)
		step(w);
	n = &w->ctld->nodes[j->nodes[0]];
	boot_req = n->boot_req;
	end = w->now + NONE_MS;
	if (throttled) { /* now and then that is nothing, but not for so long */
		drill_pass(w, step, w->now + w->set.unreachable_ms - SIM_SECOND);
		if (!w->failed && !w->throttled && (!n->powering_up || n->boot_req != boot_req))
			world_fail(w, "F7: %s is sent back, and the create was only throttled",
				   n->name);
		w->throttled = true;
		known += THROTTLED_MS;
	}
	drill_pass(w, step, w->now + known);
	climbs = w->throttled && w->set.pools[j->pool].ladder; /* each offer takes as long */
	if (!w->failed && !climbs && n->powering_up && n->boot_req == boot_req)
		world_fail(w, "F8: %s still boots %d s after it was refused (%s)", n->name,
			   (int)(known / SIM_SECOND), code);
	drill_pass(w, step, end);
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
bool drill_has_room_for_doubt(const struct world *w, uint32_t pool)
{
	const struct sim_pool *p = &w->set.pools[pool];
	uint32_t names = 0;

	for (size_t i = 0; i < w->ctld->n; i++)
		names += w->ctld->nodes[i].pool == pool && !w->ctld->nodes[i].deleted;
	return p->max_nodes >= 2 && p->max_rate >= 2 * p->price && names >= 2;
}

void drill_away(struct world *w, step_fn step)
{
	const int64_t known = w->set.unreachable_ms + AWAY_MS;
	struct ctld_job *j = drill_submit(w);
	bool elsewhere = j != NULL && w->set.twins && w->set.pools[j->pool].ladder;
	int64_t end = w->now + START_MS, boot_req;
	struct ctld_node *n;

	if (w->failed || j == NULL)
		return;
	SIM_TRACE(w, "*** nobody is there any more");
	for (int k = 0; k < (elsewhere ? 1 : 2); k++)
		w->cloud->away[k] = (struct sim_away){.until = INT64_MAX,
						      .how = drill_has_room_for_doubt(w, j->pool) &&
									     world_one_in(w, 2)
								     ? AWAY_FAILS
								     : AWAY_REFUSES};
	while (!w->failed && !drill_boots(w->ctld, j) && w->now < end)
		step(w);
	n = &w->ctld->nodes[j->nodes[0]];
	boot_req = n->boot_req;
	if (elsewhere) {
		drill_start(w, step, j, START_MS);
	} else {
		drill_pass(w, step, w->now + known);
		if (!w->failed && n->powering_up && n->boot_req == boot_req)
			world_fail(w, "F26: %s still boots %d s after nobody answered any more",
				   n->name, (int)(known / SIM_SECOND));
	}
	w->cloud->away[0].until = w->cloud->away[1].until = 0;
	sim_ctld_end_job(w->ctld, j);
	drill_pass(w, step, w->now + BACK_MS);
}

/* --- a job of two nodes, and there is only one (F4) --------------------------------------------
 */

void drill_gang(struct world *w, step_fn step)
{
	struct ctld_job *j = drill_submit_two(w);
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
		drill_pass(w, step, w->now + 20 * SIM_SECOND);
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

/* --- purchases fail at one place, and all else is answered (F26) ---------------------------------
 *
 * They do not leave us, are never answered, or are answered that it is the provider's fault.  The
 * job gets its nodes at another one, once that is known, and what may have been made is not. */

void drill_fails(struct world *w, step_fn step)
{
	struct ctld_job *j = drill_submit(w);

	if (w->failed || j == NULL)
		return;
	SIM_TRACE(w, "*** purchases fail where the next one goes");
	if (w->set.pools[j->pool].ladder) {
		w->next_fails = (enum sim_fails)(FAILS_REFUSES + w->seed / 6 % 3);
		drill_start(w, step, j, FAILS_MS);
	}
	w->next_fails = FAILS_NOT;
	sim_place_heal(w);
	sim_ctld_end_job(w->ctld, j);
	drill_sleep_all(w, step);
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

/* Has its node a machine of a later generation, from another offer of its pool? */
static bool is_followed(const struct world *w, const struct inst *i)
{
	for (size_t k = 0; k < w->cloud->nlive; k++)
		if (strcmp(w->cloud->live[k]->node, i->node) == 0 &&
		    w->cloud->live[k]->gen > i->gen)
			return true;
	return false;
}

static bool has_room_for_one(const struct sim_pool *p)
{
	return p->max_nodes < 2 || p->max_rate < 2 * p->price;
}

/* Until then; was any place left alone meanwhile? */
static bool pass_and_look(struct world *w, step_fn step, int64_t until)
{
	bool cools = false;

	while (!w->failed && w->now < until) {
		step(w);
		cools = cools || sim_place_cools(w);
	}
	return cools;
}

void drill_stillborn(struct world *w, step_fn step, enum sim_makes how)
{
	const int64_t lists = w->set.settle_ms + w->set.list_ms + LIST_MS;
	const int64_t known = how == MAKES_AN_ERROR    ? w->set.boot_ms + LIST_MS
			      : how == MAKES_A_FAILURE ? lists
						       : 2 * lists;
	struct ctld_job *j = drill_submit(w);
	int64_t end = w->now + START_MS, boot_req;
	const struct ctld_node *n;
	const struct inst *i;
	bool cools;

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
	end = (how == MAKES_AN_ERROR && i != NULL ? i->created : w->now) + known;
	cools = pass_and_look(w, step, end);
	if (!w->failed && how == MAKES_A_FAILURE && i != NULL && i->error && !cools)
		world_fail(w,
			   "F10: i-%u of %s failed since there was no host, and its place is not "
			   "left alone",
			   (unsigned)i->number, n->name);
	if (!w->failed && i != NULL && inst_live(i) && !i->asked)
		world_fail(w, "F10: i-%u of %s has failed, and bills on %d s after it was made",
			   (unsigned)i->number, n->name, (int)(known / SIM_SECOND));
	/* It waits for its own end if there is no room beside it: two lists after the delete. */
	if (has_room_for_one(&w->set.pools[j->pool]))
		drill_pass(w, step, w->now + 2 * lists);
	if (!w->failed && n->powering_up && n->boot_req == boot_req &&
	    (i == NULL || !is_followed(w, i)))
		world_fail(w, "F10: %s still boots %d s after its machine has failed", n->name,
			   (int)((w->now - end + known) / SIM_SECOND));
	if (w->set.pools[j->pool].ladder)
		drill_start(w, step, j, START_MS);
	w->next_makes = MAKES_WELL;
	sim_place_heal(w);
	sim_ctld_end_job(w->ctld, j);
	drill_sleep_all(w, step);
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

void drill_full(struct world *w, step_fn step, const char *why)
{
	struct ctld_job *j = drill_submit(w), *next;
	uint64_t creates;

	if (w->failed || j == NULL)
		return;
	drill_start(w, step, j, START_MS);
	next = w->failed ? NULL : submit_two_more(w, j);
	creates = w->totals->creates;
	if (next != NULL) {
		SIM_TRACE(w, "*** there are two of a type: %s", why);
		w->cloud->most = 2;
		w->cloud->most_why = why;
		drill_pass(w, step, w->now + NONE_MS);
		if (!w->failed && w->totals->creates - creates > NONE_CREATES)
			world_fail(w, "I30: %d creates in %d minutes of what there is not (%s)",
				   (int)(w->totals->creates - creates), NONE_MS / SIM_MINUTE, why);
		sim_ctld_end_job(w->ctld, j);
		drill_pass(w, step, w->now + FULL_MS);
		if (!w->failed && next->state != JOB_RUNNING && next->state != JOB_FREE)
			world_fail(w, "F8: a job does not start %d minutes after there was room",
				   FULL_MS / SIM_MINUTE);
	}
	w->cloud->most = 0;
	sim_ctld_end_jobs(w->ctld);
	drill_sleep_all(w, step);
}

/* --- all lists fail (I30) -----------------------------------------------------------------------
 */

void drill_lists(struct world *w, step_fn step)
{
	uint64_t lists;

	w->cloud->no_lists = true;
	drill_pass(w, step, w->now + 30 * SIM_SECOND);
	lists = w->totals->lists;
	drill_pass(w, step, w->now + NONE_MS);
	if (!w->failed && w->totals->lists - lists > LISTS_MAX * (w->set.twins ? 2U : 1U))
		world_fail(w, "I30: %d lists in %d minutes, and all of them failed",
			   (int)(w->totals->lists - lists), NONE_MS / SIM_MINUTE);
	w->cloud->no_lists = false;
	drill_pass(w, step, w->now + BACK_MS);
}

/* --- two of one generation (F5, I3) ------------------------------------------------------------
 */

void drill_twin(struct world *w, step_fn step)
{
	struct ctld_job *j = drill_submit(w);
	const struct inst *i, *twin;

	if (w->failed || j == NULL)
		return;
	drill_start(w, step, j, START_MS);
	if (w->failed)
		return;
	i = sim_cloud_find(w->cloud, w->ctld->nodes[j->nodes[0]].inst);
	twin = sim_cloud_twin(w->cloud, i);
	SIM_TRACE(w, "*** i-%u is another %s", (unsigned)twin->number, twin->node);
	drill_pass(w, step, w->now + w->set.settle_ms + 2 * (rarely_ms(w) + LIST_MS));
	if (!w->failed && (!twin->accepted || i->accepted))
		world_fail(w, "I10, F25: of two instances of one generation the wrong one lives");
	sim_ctld_end_job(w->ctld, j);
}

/* --- an instance that nobody knows (P1) ----------------------------------------------------------
 *
 * It comes while nothing moves, so that lists are as rare as they may be, and when one has just
 * been read: the next one is the first to show it. */

enum { RESTS_MS = 200 * SIM_SECOND, PAGES_IN_MS = 5 * SIM_SECOND, STRAY_MS = 150 * SIM_SECOND };

static void one_stray(struct world *w, step_fn step, const char *when, bool old)
{
	int64_t end = w->now + 2 * RESTS_MS;
	struct inst *i;
	uint64_t lists;

	drill_pass(w, step, w->now + RESTS_MS);
	lists = w->totals->lists;
	while (!w->failed && w->totals->lists == lists && w->now < end)
		step(w);
	drill_pass(w, step, w->now + PAGES_IN_MS);
	if (w->failed)
		return;
	SIM_TRACE(w, "*** a stray comes %s", when);
	sim_cloud_stray(w->cloud, (unsigned)w->cloud->n);
	i = w->cloud->all[w->cloud->n - 1];
	i->lied = true;
	if (old)
		i->created -= 10 * SIM_MINUTE;
	drill_pass(w, step, w->now + STRAY_MS);
	if (!w->failed && inst_live(i) && !i->accepted)
		world_fail(w, "P1: i-%u is nobody's, and not deleted after %d s, %s",
			   (unsigned)i->number, STRAY_MS / SIM_SECOND, when);
}

void drill_stray(struct world *w, step_fn step)
{
	struct ctld_job *j;

	drill_sleep_all(w, step);
	one_stray(w, step, "while all nodes sleep", world_one_in(w, 2));
	j = w->failed ? NULL : drill_submit(w);
	if (j == NULL)
		return;
	drill_start(w, step, j, START_MS);
	one_stray(w, step, "while a job runs", world_one_in(w, 2));
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
void drill_right(struct world *w, step_fn step)
{
	struct ctld_job *j = w->set.fabric && w->set.npools == 2 ? drill_submit_two(w) : NULL,
			*other;

	if (w->failed || j == NULL)
		return;
	SIM_TRACE(w, "*** fabrics may not be made");
	w->cloud->no_make = true;
	for (int n = 0; n < 3; n++) /* what would close it for longer each time */
		if (tries(w, step, j))
			world_fail(w, "a job of two nodes runs, and could have no fabric");
	other = w->failed ? NULL : drill_submit_elsewhere(w, j->pool);
	if (other != NULL && !tries(w, step, other))
		world_fail(w, "a job of one node is refused, and needs no fabric");
	w->cloud->no_make = false;
	sim_ctld_end_jobs(w->ctld);
	drill_sleep_all(w, step);
}
