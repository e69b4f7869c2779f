#include "core/warm.h"

#include "core/slurm_flag.h"

/* Nodes that people took out of use, that do not work, or that are reserved: a reservation is for
 * its own jobs. */
enum {
	OUT_OF_USE = SLURM_DOWN | SLURM_DRAIN | SLURM_FAIL | SLURM_MAINT | SLURM_RESERVED |
		     SLURM_INVALID_REG | SLURM_POWER_DOWN | SLURM_POWERING_DOWN | SLURM_VANISHED,
};

static enum warm_state state_off(const struct fleet_name *nm, int64_t now_ms)
{
	/* The node has a job or an order to power up: slurmctld will ask for it in a moment. */
	if ((nm->flags & (SLURM_ALLOCATED | SLURM_POWER_UP)) != 0)
		return WARM_COMING;
	/* slurmctld expects the node to answer, and gives it no job (is_mute() in drift.c). */
	if ((nm->flags & SLURM_NOT_RESPONDING) != 0)
		return WARM_OUT;
	/* Its last instance may still exist. */
	return nm->rests_ms <= now_ms && !fleet_exists(nm) ? WARM_OFF : WARM_OUT;
}

enum warm_state warm_state(const struct fleet_name *nm, int64_t now_ms)
{
	const struct fleet_node *fn = fleet_live(nm);

	if (!nm->listed || (nm->flags & SLURM_KNOWN) == 0 || (nm->flags & OUT_OF_USE) != 0 ||
	    nm->barred)
		return WARM_OUT;
	if ((nm->flags & SLURM_POWERING_UP) != 0)
		return WARM_COMING;
	if ((nm->flags & SLURM_POWERED_DOWN) != 0)
		return state_off(nm, now_ms);
	/* Not up for long: no instance of ours, or one that the provider takes back. */
	if (fn == NULL || fn->n.state == NODE_DRAINING)
		return WARM_OUT;
	return WARM_UP;
}

/* End of the present quantum, or of the first one if start_ms is in the future, as a provider's
 * clock may be ahead of ours. */
static int64_t quantum_end(int64_t start_ms, int64_t quantum_ms, int64_t now_ms)
{
	int64_t done = now_ms > start_ms ? (now_ms - start_ms) / quantum_ms : 0;

	return start_ms + (done + 1) * quantum_ms;
}

int64_t warm_paid_until(int64_t start_ms, int64_t quantum_ms, int64_t margin_ms, int64_t now_ms)
{
	int64_t until;

	if (quantum_ms == 0 || start_ms == 0)
		return 0;
	until = quantum_end(start_ms, quantum_ms, now_ms) - margin_ms;
	return until > now_ms ? until : 0;
}

/* Count nodes of one kind until there are enough.  Return how many are still lacking. */
static uint32_t count(struct warm_node *nodes, size_t n, enum warm_state state, bool kept,
		      uint32_t lacking)
{
	for (size_t i = 0; i < n && lacking > 0; i++) {
		if (nodes[i].state != state || nodes[i].kept != kept)
			continue;
		nodes[i].counted = true;
		lacking--;
	}
	return lacking;
}

static void wake(struct warm_node *nodes, size_t n, uint32_t most)
{
	for (size_t i = 0; i < n && most > 0; i++)
		if (nodes[i].state == WARM_OFF) {
			nodes[i].wake = true;
			most--;
		}
}

/* Keep a node whose quantum is paid for.  A node with a job that was kept stays kept over the end
 * of its quantum: the next one is billed anyway, and slurmctld need not be told twice. */
static void keep_paid(struct warm_node *d, const struct warm_pool *p, int64_t now_ms,
		      struct warm_sum *out)
{
	const int64_t margin = WARM_MARGIN_MS + p->unmount_ms;
	int64_t until = warm_paid_until(d->start_ms, p->quantum_ms, margin, now_ms);

	if (p->quantum_ms <= margin || d->start_ms == 0)
		return;
	d->keep = d->keep || until != 0 || (d->busy && d->kept);
	if (until == 0)
		until = quantum_end(d->start_ms, p->quantum_ms, now_ms);
	if (until < out->next_ms)
		out->next_ms = until;
}

void warm_decide(struct warm_node *nodes, size_t n, const struct warm_pool *p, int64_t now_ms,
		 struct warm_sum *out)
{
	uint32_t lacking = p->want;

	*out = (struct warm_sum){.next_ms = INT64_MAX};
	for (size_t i = 0; i < n; i++)
		nodes[i].keep = nodes[i].wake = nodes[i].counted = false;
	lacking = count(nodes, n, WARM_UP, true, lacking); /* kept ones first: little changes */
	lacking = count(nodes, n, WARM_UP, false, lacking);
	lacking = count(nodes, n, WARM_COMING, true, lacking);
	lacking = count(nodes, n, WARM_COMING, false, lacking);
	wake(nodes, n, lacking < p->room ? lacking : p->room);
	for (size_t i = 0; i < n; i++) {
		struct warm_node *d = &nodes[i];

		d->keep = d->counted && d->state == WARM_UP;
		out->up += d->keep;
		out->coming += d->counted && d->state == WARM_COMING;
		if (d->state == WARM_UP)
			keep_paid(d, p, now_ms, out);
		out->paid += d->keep && !d->counted;
	}
}
