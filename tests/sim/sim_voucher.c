/* sim_voucher.c - checks of the tokens in user-data, by what is durable, and by what the store and
 * the machines know of who used which.
 *
 *   I36  a create carries one token: that of its one node, durable before it, good for as long as
 *        its machine may boot, for keys that are current as far as burstd was told; and no other
 *        create makes a machine with it.
 *   I37  a machine that became a node has opened its keys with its own token.
 *   I38  if somebody else used a token and its machine is no node, burstd says so, or says that it
 *        cannot know; and it says so of no other token.
 *   I39  a voucher goes only when its token opens nothing any more; when all is at rest, each
 *        voucher has a node. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_boot.h"
#include "sim_journal.h"
#include "sim_slurm.h"

enum { SLACK_MS = 2 * SIM_SECOND }; /* what burstd asks for takes so long to be begun */

static struct sim_voucher *find(const struct world *w, const char *node, uint64_t gen)
{
	return sim_vouchers_get(sim_journal_vouchers(w->journal), node, gen);
}

/* Of a restored journal (F58) nobody knows what it has lost. */
static bool is_older(const struct world *w, const struct sim_token *t)
{
	return w->cloud->restored_at != 0 && t->made <= w->cloud->restored_at;
}

/* Whether its time is over, burstd may have wrong (F57). */
static bool is_blurred(const struct world *w, const struct sim_token *t)
{
	return w->boot->jumped_at != 0 && t->made <= w->boot->jumped_at;
}

static bool is_open(const struct world *w, const struct sim_token *t)
{
	return !t->used && !t->revoked && w->now < t->until;
}

/* --- I36 -------------------------------------------------------------------------------------- */

static void check_lines(struct world *w, const struct create_request *rq)
{
	const struct sim_voucher *x = find(w, rq->wants[0].node, rq->wants[0].gen);
	const char *node = rq->wants[0].node;

	if (rq->n != 1)
		world_fail(w, "I36: a create of %u nodes with one token", (unsigned)rq->n);
	else if (rq->lines.token[0] == '\0')
		world_fail(w, "I36: create of %s without a token", node);
	else if (x == NULL || x->v.state != VOUCHER_HELD)
		world_fail(w, "I36: create of %s, whose token is durably %s", node,
			   x != NULL ? voucher_state_str(x->v.state) : "not there");
	else if (strcmp(x->token, rq->lines.token) != 0)
		world_fail(w, "I36: create of %s with another token than its own", node);
	else if (strcmp(rq->lines.node, node) != 0 ||
		 strtoull(rq->lines.gen, NULL, 10) != rq->wants[0].gen)
		world_fail(w, "I36: the machine of %s is told that it is %s/%s", node,
			   rq->lines.node, rq->lines.gen);
}

/* Was that known when it was decided? */
static bool is_current(const struct world *w, const struct sim_token *t, const struct node *n)
{
	return w->boot->told_version == 0 || t->version == w->boot->told_version ||
	       w->boot->told_at + w->skew >= n->sent_ms;
}

/* What is sent for the first time was decided a moment ago. */
static void check_fresh(struct world *w, const struct create_request *rq, const struct sim_token *t)
{
	const struct sim_row *r = sim_journal_row(w->journal, rq->wants[0].node, rq->wants[0].gen);

	if (t == NULL)
		world_fail(w, "I36: create of %s with a token that there never was",
			   rq->wants[0].node);
	else if (r == NULL || r->n.state != NODE_CREATING || is_older(w, t) || is_blurred(w, t))
		return;
	else if (!is_open(w, t) || t->until - w->now < w->set.boot_ms)
		world_fail(w, "I36: create of %s with a token that is %s", rq->wants[0].node,
			   t->used      ? "used"
			   : t->revoked ? "revoked"
					: "too old");
	else if (!is_current(w, t, &r->n))
		world_fail(w, "I36: create of %s with a token of older keys", rq->wants[0].node);
}

void sim_voucher_create(struct world *w, const struct create_request *rq, bool again)
{
	const char *digits = rq->lines.token + strspn(rq->lines.token, "t-");
	const struct sim_token *t = sim_store_token(w, strtoull(digits, NULL, 10));

	if (!w->set.vouchers)
		return;
	check_lines(w, rq);
	if (!again)
		check_fresh(w, rq, t);
}

/* What was throttled made nothing, and its token may be in another create. */
void sim_voucher_made(struct world *w, const struct inst *i, const char *create)
{
	struct sim_token *t = sim_store_token(w, i->wrap_token);

	if (t == NULL || is_older(w, t))
		return;
	if (t->create[0] != '\0' && strcmp(t->create, create) != 0)
		world_fail(w, "I36: the token of %s is in the machines of two creates", i->node);
	(void)snprintf(t->create, sizeof(t->create), "%s", create);
}

/* --- who let it go ---------------------------------------------------------------------------- */

/* Its own machine was the reason: it was late, or was seen to go.  That it was late burstd knows by
 * a snapshot of after its deadline (F48): until then it goes with its job, as what was let go. */
static bool is_its_own(const struct world *w, const struct node *was, const struct node *next,
		       bool leaves)
{
	const struct inst *i;

	switch (next->reason) {
	case NODE_BECAUSE_BOOT: /* or its pool was closed */
		return was->state == NODE_BOOTING && w->ctld->told_at + w->skew >= was->wake_ms;
	case NODE_BECAUSE_SUSPENDED:
		return leaves;
	case NODE_BECAUSE_RECLAIMED: /* it was found so, or slurmctld was told so */
		return next->state == NODE_DELETING &&
		       (was->state == NODE_CREATING || was->state == NODE_INDOUBT ||
			was->state == NODE_DRAINING);
	case NODE_BECAUSE_MAINTENANCE:
	case NODE_BECAUSE_FAULTY:
		return was->state == NODE_DRAINING;
	case NODE_BECAUSE_STOPPED:
		return true;
	case NODE_BECAUSE_CAPACITY:
	case NODE_BECAUSE_QUOTA:
	case NODE_BECAUSE_DENIED:
	case NODE_BECAUSE_INVALID: /* it failed once it was accepted, and not another one of its job
				    */
		i = sim_cloud_by_id(w->cloud, next->instance);
		return i != NULL && i->error_known;
	default:
		return false;
	}
}

void sim_voucher_row(struct world *w, const struct sim_row *old, const struct node *next)
{
	struct sim_voucher *x = w->set.vouchers ? find(w, next->name, next->gen) : NULL;

	if (x == NULL || x->v.state != VOUCHER_HELD)
		return;
	x->leaves = x->leaves || (next->state == NODE_DRAINING && !next->release);
	if (!next->release || (old != NULL && old->n.release))
		return;
	x->let_go = old == NULL || !is_its_own(w, &old->n, next, x->leaves);
	x->unnoticed = x->let_go && next->noticed_ms == 0;
}

/* A snapshot of before its machine was known says nothing of it; nor does what a dead burstd was
 * told; nor that it is to be powered down, for so looks one that boots. */
void sim_voucher_up(struct world *w, const struct ctld_node *n, int64_t at)
{
	const struct sim_row *r = w->set.vouchers ? sim_journal_row(w->journal, n->name, 0) : NULL;
	struct sim_voucher *x = r != NULL ? find(w, n->name, r->n.gen) : NULL;
	const struct sim_token *t = x != NULL ? sim_store_token(w, x->number) : NULL;

	if (t == NULL || n->inst == 0 || t->by != n->inst || (n->power_down && n->job == 0))
		return;
	if (at + w->skew > r->n.since_ms + SLACK_MS &&
	    (r->n.state == NODE_BOOTING || r->n.state == NODE_DRAINING))
		x->up_life = w->life + 1;
}

/* --- I37, I38, I39 ---------------------------------------------------------------------------- */

/* Whose slurmd runs there slurmctld does not say: an older machine's, that is slow to go; or one of
 * the same generation, of which a restored journal knows nothing. */
static bool is_other_up(const struct world *w, const struct sim_voucher *x)
{
	for (size_t k = 0; k < w->ctld->n; k++) {
		const struct ctld_node *n = &w->ctld->told[k];
		const struct inst *i = sim_cloud_find(w->cloud, n->inst);

		if (i != NULL && strcmp(n->name, x->v.node) == 0 && strcmp(i->node, n->name) == 0)
			return i->gen != x->v.gen ||
			       (w->cloud->restored_at != 0 && i->wrap_token != x->number);
	}
	return false;
}

static void check_node(struct world *w, const struct sim_voucher *x, const struct sim_token *t)
{
	const struct inst *i = sim_cloud_find(w->cloud, t->by);

	if (is_older(w, t))
		return;
	if (!t->used)
		world_fail(w, "I37: %s/%" PRIu64 " is up, and nobody has used its token", x->v.node,
			   x->v.gen);
	else if (i == NULL || i->gen != x->v.gen || strcmp(i->node, x->v.node) != 0)
		world_fail(w, "I37: %s/%" PRIu64 " is up, and %s has used its token", x->v.node,
			   x->v.gen, i != NULL ? i->node : "somebody else");
}

void sim_voucher_put(struct world *w, const struct sim_voucher *next)
{
	struct sim_vouchers *all = sim_journal_vouchers(w->journal);
	const struct sim_voucher *old = find(w, next->v.node, next->v.gen);
	bool was_held = old != NULL && old->v.state == VOUCHER_HELD;
	bool mistaken;
	struct sim_voucher *x;
	struct sim_token *t = sim_store_token(w, next->number);

	if (t == NULL) {
		world_fail(w, "I39: a voucher for %s without a token", next->v.node);
		return;
	}
	t->kept = true;
	if (old != NULL && old->number != next->number)
		world_fail(w, "I36: the token of %s/%" PRIu64 " is another one now", next->v.node,
			   next->v.gen);
	mistaken = was_held && next->v.state == VOUCHER_SPENT && is_other_up(w, next);
	if (was_held && next->v.state == VOUCHER_SPENT && !mistaken)
		check_node(w, next, t);
	if ((next->token[0] != '\0') != (next->v.state == VOUCHER_HELD))
		world_fail(w, "I39: the journal of %s, which is %s, has %s token", next->v.node,
			   voucher_state_str(next->v.state), next->token[0] != '\0' ? "a" : "no");
	x = sim_vouchers_put(all, next);
	x->mistaken = x->mistaken || mistaken;
	x->doubted = x->doubted || next->v.state == VOUCHER_DOUBTED;
	x->was_up = x->was_up ||
		    (was_held && next->v.state == VOUCHER_DOUBTED && x->up_life == w->life + 1);
}

static bool is_stolen(const struct sim_token *t)
{
	return t->used && t->by == 0;
}

void sim_voucher_told(struct world *w, const char *node, uint64_t gen, bool breach)
{
	struct sim_voucher *x = w->set.vouchers ? find(w, node, gen) : NULL;
	const struct sim_token *t = x != NULL ? sim_store_token(w, x->number) : NULL;

	if (t == NULL)
		return;
	x->told = true;
	if (is_older(w, t) || is_blurred(w, t))
		return;
	if (!breach && is_open(w, t) && w->now + SLACK_MS < t->until)
		world_fail(w, "I38: of the token of %s/%" PRIu64 " nobody knows, and it is there",
			   node, gen);
	else if (!breach && is_stolen(t) && !x->let_go && !x->doubted && w->now < t->until)
		world_fail(w, "I38: of the token of %s/%" PRIu64 " nobody knows, and it was stolen",
			   node, gen);
	else if (breach && !t->used)
		world_fail(w, "I38: an alarm for %s/%" PRIu64 ", whose token nobody has used", node,
			   gen);
	else if (breach && x->was_up)
		world_fail(w, "I38: an alarm for %s/%" PRIu64 ", which was up", node, gen);
	else if (breach && x->unnoticed)
		world_fail(w, "I38: an alarm for %s/%" PRIu64 ", which was let go", node, gen);
}

/* A provider that says no, and makes it, is believed. */
static bool is_lie(const struct world *w, uint64_t token)
{
	for (size_t k = 0; k < w->cloud->n; k++)
		if (w->cloud->all[k]->wrap_token == token && w->cloud->all[k]->lied)
			return true;
	return false;
}

void sim_voucher_del(struct world *w, const char *node, uint64_t gen)
{
	const struct sim_voucher *x = find(w, node, gen);
	const struct sim_token *t = x != NULL ? sim_store_token(w, x->number) : NULL;

	if (t != NULL && !is_older(w, t) && !x->mistaken) {
		if (is_open(w, t) && t->until > w->now + SLACK_MS && !is_blurred(w, t))
			world_fail(w,
				   "I39: the voucher of %s/%" PRIu64 " goes, and its token is good",
				   node, gen);
		/* Of one that was let go when its time was over nobody asks. */
		if (is_stolen(t) && !x->told && !is_lie(w, x->number) &&
		    !(x->let_go && (w->now + SLACK_MS >= t->until || is_blurred(w, t))))
			world_fail(w,
				   "I38: the token of %s/%" PRIu64
				   " was stolen, and nobody is told",
				   node, gen);
	}
	sim_vouchers_del(sim_journal_vouchers(w->journal), node, gen);
}

/* --- at rest ---------------------------------------------------------------------------------- */

static bool tokens_settled(const struct world *w, char *why, size_t size)
{
	for (size_t n = 1; n <= w->boot->ntokens; n++) {
		const struct sim_token *t = sim_store_token(w, n);

		if (!t->kept || is_older(w, t) || is_blurred(w, t) || !is_open(w, t))
			continue;
		(void)snprintf(why, size, "token %zu still opens the keys (I39)", n);
		return false;
	}
	return true;
}

/* Of what burstd found without a row nobody knows which token it had. */
static bool rows_settled(const struct world *w, char *why, size_t size)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);
	bool found = w->set.chance[SIM_RESTORED] != 0 || w->set.chance[SIM_REFUSED_YET_MADE] != 0;

	for (size_t k = 0; !found && k < n; k++) {
		if (r[k].n.state != NODE_READY || find(w, r[k].n.name, r[k].n.gen) != NULL)
			continue;
		(void)snprintf(why, size, "%s is in use, and has no voucher (I37)", r[k].n.name);
		return false;
	}
	return true;
}

bool sim_voucher_settled(const struct world *w, char *why, size_t size)
{
	const struct sim_vouchers *all = sim_journal_vouchers(w->journal);

	for (size_t i = 0; i < all->n; i++) {
		const struct voucher *v = &all->v[i].v;
		const struct sim_row *r = sim_journal_row(w->journal, v->node, v->gen);

		if (v->state == VOUCHER_SPENT && r != NULL && r->n.state == NODE_READY)
			continue;
		(void)snprintf(why, size, "the voucher of %s is still %s, and its node %s (I39)",
			       v->node, voucher_state_str(v->state),
			       r != NULL ? node_state_str(r->n.state) : "not there");
		return false;
	}
	return !w->set.vouchers || (rows_settled(w, why, size) && tokens_settled(w, why, size));
}
