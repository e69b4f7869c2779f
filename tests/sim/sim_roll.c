/* sim_roll.c - the judge of how new images are rolled out (ADR 72): a create asks for the image
 * that its offer's roll says, a few canaries for the new one; what was stopped stays so until
 * somebody says otherwise, whenever burstd dies; no job loses its node for an image; each roll
 * comes to an end; and no image is blamed for a spot machine that the provider took. */
#include <stdio.h>
#include <string.h>

#include "core/roll.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_opinions.h"
#include "sim_slurm.h"

enum { COUNTED_MS = 4 * SIM_MINUTE }; /* image_trial, and a minute and more to be seen in */

static const char replaced[] = "its image is not the one in force";

static const struct roll *roll_of(const struct world *w, const struct sim_row *r)
{
	return sim_opinions_roll_of(sim_journal_opinions(w->journal), r->pool, r->n.offer);
}

static bool is_of(const struct sim_row *r, const char *pool, const char *offer)
{
	return strcmp(r->pool, pool) == 0 && strcmp(r->n.offer, offer) == 0;
}

/* --- canaries that fail ------------------------------------------------------------------------
 */

/* One for each offer, whatever burstd.conf lists first; NULL: none of ours. */
static struct sim_bad_canary *slot(struct world *w, const char *pool, const char *offer)
{
	size_t rung = strcmp(offer, "spot") == 0 ? 1 : strcmp(offer, "away") == 0 ? 2 : 0;

	for (size_t i = 0; i < w->set.npools; i++)
		if (strcmp(w->set.pools[i].name, pool) == 0)
			return &w->images.failed[i][rung];
	return NULL;
}

void sim_roll_failed(struct world *w, const struct node *n)
{
	const struct sim_pool *p = world_pool_of(w, n->name);
	const struct roll *r =
		sim_opinions_roll_of(sim_journal_opinions(w->journal), p->name, n->offer);
	struct sim_bad_canary *f = slot(w, p->name, n->offer);

	if (!n->canary || r == NULL || r->stage != ROLL_CANARY || strcmp(r->next, n->image) != 0)
		return;
	*f = (struct sim_bad_canary){
		.has_failed = true, .turn = w->turn, .step = w->step, .commits = w->commits};
	(void)snprintf(f->image, sizeof(f->image), "%.7s", n->image);
}

/* As sim_pool_crashed() says of the pool: the commit that stops it may not have come. */
void sim_roll_crashed(struct world *w)
{
	for (size_t i = 0; i < w->set.npools; i++)
		for (size_t k = 0; k < SIM_RUNGS; k++) {
			struct sim_bad_canary *f = &w->images.failed[i][k];

			if (f->step + 1 >= w->step || w->commits <= f->commits + 1)
				f->has_failed = false;
		}
}

/* It compares a snapshot in several turns; see knows_closed() in sim_pool.c. */
static bool knows(const struct world *w, const struct sim_bad_canary *f)
{
	return w->set.slice > SIM_NODES_MAX || w->idle_turn > f->turn;
}

/* --- what becomes of a roll ---------------------------------------------------------------------
 */

/* F41: it ended, and nobody had killed its slurmd before. */
static bool was_taken(const struct world *w, const char *node)
{
	const struct sim_row *r = sim_journal_row(w->journal, node, 0);
	const struct inst *i = r != NULL ? sim_cloud_by_id(w->cloud, r->n.instance) : NULL;
	const struct ctld_node *n = sim_ctld_find(w->ctld, node);

	return r != NULL && r->n.market == PROVIDER_SPOT && i != NULL && n != NULL &&
	       i->state == INST_ENDED && n->inst == i->number && n->dead_at >= i->ended &&
	       n->by != BY_ADMIN && !i->lied && !i->unknown;
}

static void check_stop(struct world *w, const struct roll *r)
{
	char node[24];

	if (sscanf(r->why, "%23s is down", node) == 1 && strstr(r->why, " is down") != NULL &&
	    was_taken(w, node))
		world_fail(w, "F41: %s is stopped for %s, which the provider took", r->next, node);
}

static void count(struct world *w, const struct roll *was, const struct roll *r)
{
	if (was == NULL || was->stage == r->stage || strcmp(r->old, r->next) == 0)
		return;
	w->totals->images_tried += r->stage == ROLL_CANARY;
	w->totals->images_rolled += r->stage == ROLL_ROLLING;
	w->totals->images_stopped += r->stage == ROLL_STOPPED;
}

void sim_roll_put(struct world *w, const char *pool, const char *offer, const struct roll *was,
		  const struct roll *r)
{
	struct sim_bad_canary *f = slot(w, pool, offer);
	bool same = was != NULL && strcmp(was->next, r->next) == 0;

	count(w, was, r);
	/* A circuit that opens while an image is rolled out closes: the old one is bought again. */
	for (uint32_t p = 0; p < w->set.npools; p++)
		if (strcmp(w->set.pools[p].name, pool) == 0 && r->stage == ROLL_STOPPED &&
		    strstr(r->why, "its machines come up wrong") != NULL)
			sim_pool_forgive(w, p);
	if (r->stage == ROLL_ROLLING && strcmp(r->old, r->next) != 0 &&
	    sim_image_is_bad(w, r->next))
		world_fail(w, "ADR 72: pool %s rolls out %s, which does not work", pool, r->next);
	if (same && was->stage == ROLL_STOPPED && r->stage != ROLL_STOPPED && !w->images.resumes)
		world_fail(w, "ADR 72: %s of pool %s was stopped, and nobody resumed it", r->next,
			   pool);
	if (r->stage == ROLL_STOPPED && r->by[0] == '\0')
		check_stop(w, r);
	if (f != NULL && (!same || r->stage != ROLL_CANARY || w->images.resumes))
		f->has_failed = false;
}

/* --- creates ------------------------------------------------------------------------------------
 */

static uint32_t untried(const struct world *w, const struct sim_row *of, const struct roll *roll)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);
	uint32_t sum = 0;

	for (size_t k = 0; k < n; k++)
		sum += r[k].n.canary && node_counts(&r[k].n) &&
		       is_of(&r[k], of->pool, of->n.offer) && strcmp(r[k].n.image, roll->old) != 0;
	return sum;
}

static void check_new(struct world *w, const struct create_request *rq, const struct sim_row *r,
		      const struct roll *roll)
{
	bool canary = roll->stage == ROLL_CANARY && strcmp(rq->image, roll->next) == 0;
	struct sim_bad_canary *f = slot(w, r->pool, r->n.offer);

	if (rq->fabric[0] != '\0')
		return; /* much may have become of the roll while that was made */
	if (!canary && strcmp(rq->image, roll_usual(roll)) != 0)
		world_fail(w, "ADR 72: create of %s with image '%s', and its offer buys '%s' (%s)",
			   r->n.name, rq->image, roll_usual(roll), roll_stage_str(roll->stage));
	if (canary != r->n.canary)
		world_fail(w, "ADR 72: create of %s, whose row says that it is %s canary",
			   r->n.name, r->n.canary ? "a" : "no");
	/* Where a job is in one create its nodes may be too many. */
	if (!canary && !w->set.fabric && roll_room(roll, SIM_CANARIES, untried(w, r, roll)) > 0)
		world_fail(w, "ADR 72: create of %s with the old image, and %s lacks a canary",
			   r->n.name, roll->next);
	if (canary && f != NULL && f->has_failed && strcmp(f->image, rq->image) == 0 && knows(w, f))
		world_fail(w, "ADR 72: create of %s with image '%s', of which a canary has failed",
			   r->n.name, rq->image);
}

void sim_roll_create(struct world *w, const struct create_request *rq, bool anew)
{
	for (size_t i = 0; i < rq->n && sim_image_world(w); i++) {
		const struct sim_row *r =
			sim_journal_row(w->journal, rq->wants[i].node, rq->wants[i].gen);
		const struct roll *roll = r != NULL ? roll_of(w, r) : NULL;

		if (r == NULL || (r->n.state != NODE_CREATING && r->n.state != NODE_INDOUBT))
			continue;
		if (strcmp(r->n.image, rq->image) != 0)
			world_fail(w, "I4: create of %s with image '%s', and its row has '%s'",
				   r->n.name, rq->image, r->n.image);
		if (anew && r->n.state == NODE_CREATING && roll != NULL)
			check_new(w, rq, r, roll);
	}
}

/* --- slurmctld ----------------------------------------------------------------------------------
 */

static bool is_told(const struct ctld_node *n)
{
	return n->drain && n->power_down && !n->powering_down && !n->powered_down &&
	       strstr(n->reason, replaced) != NULL;
}

/* No job ends for it, and a pool keeps most of its machines: so many that idle, and as many that
 * have jobs. */
void sim_roll_told(struct sim_ctld *c, const struct ctld_node *n, const char *state,
		   const char *reason)
{
	const struct sim_row *own = sim_journal_row(c->w->journal, n->name, 0);
	const struct roll *roll = own != NULL ? roll_of(c->w, own) : NULL;
	int64_t told = 0;

	if (reason == NULL || strstr(reason, replaced) == NULL)
		return;
	c->w->totals->images_replaced++;
	if (strcmp(state, "POWER_DOWN_ASAP") != 0)
		world_fail(c->w, "ADR 72: %s is told %s for its image", n->name, state);
	for (size_t i = 0; i < c->n && roll != NULL; i++) {
		const struct sim_row *r = sim_journal_row(c->w->journal, c->nodes[i].name, 0);

		told += r != NULL && (&c->nodes[i] == n || is_told(&c->nodes[i])) &&
			is_of(r, own->pool, own->n.offer) && roll_replaces(roll, r->n.image);
	}
	if (told > 2 * sim_image_at_once(c->w))
		world_fail(c->w, "ADR 72: %s is told to go, and %d are at a time", n->name,
			   (int)told);
}

/* --- the end ------------------------------------------------------------------------------------
 */

/* In the judge's words, not burstd's: may a machine with this image live on? */
static bool may_stay(const struct roll *r, const char *image)
{
	bool old = strcmp(image, r->old) == 0, next = strcmp(image, r->next) == 0;

	switch (r->stage) {
	case ROLL_CANARY:
		return old || next || image[0] == '\0';
	case ROLL_STOPPED:
		return old || (image[0] == '\0' && !next);
	case ROLL_ROLLING:
		return next;
	default:
		return true;
	}
}

static bool is_idle(const struct world *w, const struct sim_row *r)
{
	const struct ctld_node *n = sim_ctld_find(w->ctld, r->n.name);

	return r->n.state == NODE_READY && !r->n.release && n != NULL && n->job == 0;
}

/* Of the roll of one offer: what is left to be done? */
static const char *left(const struct world *w, const struct sim_roll *x)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);
	unsigned old = 0;

	for (size_t k = 0; k < n; k++) {
		if (!is_of(&r[k], x->pool, x->offer) || !node_lives(&r[k].n))
			continue;
		if (!may_stay(&x->r, r[k].n.image)) {
			old++;
			if (is_idle(w, &r[k]))
				return "an idle machine is to be replaced";
		}
		if (x->r.stage == ROLL_CANARY && r[k].n.canary && r[k].n.state == NODE_READY &&
		    strcmp(r[k].n.image, x->r.next) == 0 &&
		    r[k].n.since_ms + COUNTED_MS < w->now + w->skew)
			return "a canary that works is not counted";
	}
	if (x->r.stage == ROLL_ROLLING && old == 0)
		return "no machine with another image is left";
	if (x->r.stage == ROLL_CANARY && x->r.passed >= SIM_CANARIES)
		return "all canaries work";
	return NULL;
}

bool sim_roll_settled(const struct world *w, char *why, size_t size)
{
	const struct sim_opinions *o = sim_journal_opinions(w->journal);

	for (size_t i = 0; i < o->nrolls && sim_image_world(w); i++) {
		const struct sim_roll *x = &o->rolls[i];
		const char *what = left(w, x);

		if (what == NULL)
			continue;
		(void)snprintf(why, size, "pool %s, offer '%s': its image %s is %s, and %s",
			       x->pool, x->offer, x->r.next, roll_stage_str(x->r.stage), what);
		return false;
	}
	return true;
}
