/* sim_row.c - checks what no commit may ever do to a row, and what no bill may say. */
#include <string.h>

#include "base/fmt.h"
#include "sim_cloud.h"
#include "sim_journal.h"

enum { OFF_MS = 20000 };

static void check_row(struct world *w, const struct sim_row *old, const struct node *n)
{
	if (old == NULL)
		return;
	if (old->n.release && !n->release)
		world_fail(w, "fold: release of %s was taken back", n->name);
	if (old->n.instance[0] != '\0' && strcmp(old->n.instance, n->instance) != 0)
		world_fail(w, "fold: the instance of %s changed", n->name);
	if (old->n.batch != 0 && n->batch != 0 && old->n.batch != n->batch)
		world_fail(w, "I5: %s moved to another batch", n->name);
}

/* I20: an instance is a node's by its tags, never by its place in an answer, its name or its
 * address.  Its generation is another one only when there are two of one (F3, F58). */
static void check_instance(struct world *w, const struct node *n)
{
	struct inst *i = sim_cloud_by_id(w->cloud, n->instance);

	if (i != NULL)
		i->had_row = i->known = true;
	if (n->instance[0] == '\0')
		return;
	if (i == NULL || strcmp(i->node, n->name) != 0)
		world_fail(w, "I20: the row of %s has %s, which is another node's", n->name,
			   n->instance);
	else if (i->gen != n->gen && w->set.chance[SIM_RESTORED] == 0 &&
		 w->set.chance[SIM_REFUSED_YET_MADE] == 0)
		world_fail(w, "I20: the row of %s/%llu has %s, which is another generation's",
			   n->name, (unsigned long long)n->gen, n->instance);
}

/* A refusal that ends a node is one that the provider gave (F7: throttled is not refused). */
static void check_refusal(struct world *w, const struct node *was, const struct node *n)
{
	const struct journal_batch *b = sim_journal_batch(w->journal, was->batch);
	bool by_provider = n->reason == NODE_BECAUSE_CAPACITY || n->reason == NODE_BECAUSE_QUOTA ||
			   n->reason == NODE_BECAUSE_DENIED || n->reason == NODE_BECAUSE_INVALID;

	if (n->state != NODE_GONE || was->state == NODE_GONE || was->state == NODE_WANTED ||
	    was->release || !by_provider || b == NULL || n->instance[0] != '\0')
		return;
	if (!sim_cloud_refused(w->cloud, b->token, n->name))
		world_fail(w, "F7: %s is refused (%s), and the provider never said so", n->name,
			   node_reason_str(n->reason));
}

/* F57: whatever the clock did over a restart, a node has its time to boot, or a minute of ours. */
void sim_row_deadline(struct world *w, const char *node, uint64_t gen)
{
	const struct sim_row *r = sim_journal_row(w->journal, node, gen);
	const struct inst *i = r != NULL ? sim_cloud_by_id(w->cloud, r->n.instance) : NULL;

	if (i != NULL && w->now - i->created < w->set.boot_ms - SIM_MINUTE &&
	    w->now - w->life_began < NODE_GRACE_MS)
		world_fail(w, "F57: %s is given up %lld s after it was made", node,
			   (long long)((w->now - i->created) / 1000));
}

void sim_row_change(struct world *w, const struct sim_row *old, const struct node *n)
{
	check_row(w, old, n);
	check_instance(w, n);
	if (old == NULL) {
		sim_price_row(w, n);
		return;
	}
	check_refusal(w, &old->n, n);
	sim_absent_row(w, &old->n, n);
	sim_topology_row(w, &old->n, n);
}

/* I3: of each node at most one generation is meant to be of use. */
void sim_row_alone(struct world *w, const struct sim_row *r)
{
	const struct sim_row *all;
	size_t n = sim_journal_rows(w->journal, &all);

	for (size_t i = 0; i < n && node_lives(&r->n); i++)
		if (&all[i] != r && node_lives(&all[i].n) && strcmp(all[i].n.name, r->n.name) == 0)
			world_fail(w, "I3: two generations of %s are to live: %llu and %llu",
				   r->n.name, (unsigned long long)all[i].n.gen,
				   (unsigned long long)r->n.gen);
}

/* Is it the time that the provider said?  A wrong clock here leaves what its Date and the way of an
 * answer leave open. */
static bool is_time(const struct world *w, int64_t is, int64_t true_ms)
{
	int64_t by = is - w->skew - true_ms;

	if (w->set.chance[SIM_CLOCK_SET] == 0 && w->set.chance[SIM_CLOCK_JUMP] == 0)
		return by == 0;
	return by > -OFF_MS && by < OFF_MS;
}

/* Had a list left it out by then, though it lived, and has none shown it since? */
static bool was_hidden(const struct inst *i, int64_t end_ms)
{
	return i->hidden_at != 0 && end_ms >= i->hidden_at;
}

/* I22, F57: a bill begins when the instance did and does not end before it, whatever the wall clock
 * did in this life; one of an earlier life may be by another time. */
void sim_row_bill(struct world *w, const struct journal_usage *u)
{
	const struct inst *i = sim_cloud_by_id(w->cloud, u->instance);
	bool judged =
		i != NULL && (w->set.chance[SIM_CLOCK_JUMP] == 0 || i->created >= w->life_began);

	if (u->end_ms < u->start_ms || u->start_ms <= 0 || u->cost_nano < 0 || i == NULL)
		world_fail(w, "I22: a bill for %s that makes no sense", u->node);
	else if (judged &&
		 (!is_time(w, u->start_ms, i->created) ||
		  (!i->lied && u->end_ms - w->skew < i->ended && !is_time(w, u->end_ms, i->ended) &&
		   !was_hidden(i, u->end_ms - w->skew))))
		world_fail(w, "I22: the bill of %s is not for the time it lived", u->instance);
	else if (judged && i->ended_life == w->life + 1 &&
		 !w->set.twins && /* the other one's list may have shown it */
		 !i->revived && !is_time(w, u->end_ms, i->ended))
		world_fail(w, "I22: the bill of %s ends when it was seen, not when it ended",
			   u->instance);
	else if (u->cost_nano != fmt_cost(u->end_ms - u->start_ms, u->rate_nano_h))
		world_fail(w, "I22: the bill of %s is not time by rate", u->instance);
}
