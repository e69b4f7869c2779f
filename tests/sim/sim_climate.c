/* sim_climate.c - how rough a world is.  In most worlds everything goes wrong at once.  A fourth
 * are calm and long: jobs end, nodes idle, are used again and stay warm.  In a few, deletes are
 * refused for so long that nodes are quarantined while slurmctld goes on asking for them. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "sim_slurm.h"
#include "world.h"

enum {
	CALM_STEPS = 4, /* as many times as long */
	STUBBORN_STEPS = 2,
};

/* By dice of its own, so that the other worlds stay as they are without it. */
static void choose_calm(struct world *w)
{
	for (int f = 0; f < SIM_NFAULTS; f++)
		w->set.chance[f] = world_one_in(w, 8) ? (w->set.chance[f] + 3) / 4 : 0;
}

static void choose_stubborn(struct world *w)
{
	uint32_t *chance = w->set.chance;

	chance[SIM_DELETE_DENIED] = 600;
	chance[SIM_HOOK_LATE] = chance[SIM_NO_RESUME_FILE] = 200;
	chance[SIM_ADMIN_POWERS_UP] = 200;
	chance[SIM_CRASH] /= 4;
	if (!w->set.twins) /* as world.c says */
		chance[SIM_LIST_OTHER] = 16;
}

/* Where creates are long on their way, much can come meanwhile. */
static void choose_slow(struct world *w)
{
	w->set.chance[SIM_HOOK_LATE] = 300;
	w->set.chance[SIM_RELOADED] = w->set.chance[SIM_RELOAD_REFUSED] = 600;
}

void sim_climate_choose(struct world *w)
{
	uint64_t rng = w->rng;

	w->set.calm = w->seed / 4 % 4 == 1; /* of all that go by seed % 3, % 4 and % 5 */
	w->set.stubborn = !w->set.calm && w->seed % 20 == 9;
	if (w->set.calm)
		choose_calm(w);
	if (w->set.stubborn)
		choose_stubborn(w);
	if (w->set.limits.slow)
		choose_slow(w);
	w->rng = rng;
}

uint64_t sim_climate_steps(const struct world *w, int64_t steps)
{
	int64_t times = w->set.calm ? CALM_STEPS : w->set.stubborn ? STUBBORN_STEPS : 1;

	return (uint64_t)(steps * times);
}

int64_t sim_climate_gap(struct world *w)
{
	int64_t gap = world_between(w, 5, 240);

	return (w->set.calm ? 20 + 2 * gap : gap) * SIM_SECOND;
}

/* --- what is seldom played in a storm -----------------------------------------------------------
 */

static bool is_up(const struct ctld_node *n)
{
	return n->inst != 0 && !n->powered_down && !n->powering_up && !n->powering_down;
}

void sim_climate_starts(struct world *w, const struct ctld_node *n)
{
	w->totals->reuses += w->faults && is_up(n);
}

/* With a scan each second a node that stays up for longer is seen once at the end of its time. */
void sim_climate_idles(struct world *w, const struct ctld_node *n, bool to_suspend)
{
	int64_t over = w->now - n->busy_at - w->set.suspend_s * SIM_SECOND;

	if (!w->faults || !is_up(n) || n->power_down || n->down || n->drain || n->job != 0)
		return;
	w->totals->idle_suspends += to_suspend;
	w->totals->warm += !to_suspend && over > 0 && over <= SIM_SECOND;
}

static const struct class
{
	const char *what;
	size_t at;      /* the counter, in struct sim_totals */
	uint64_t least; /* in a hundred worlds */
} classes[] = {
	{"jobs done", offsetof(struct sim_totals, jobs_done), 90},
	{"heterogeneous jobs done", offsetof(struct sim_totals, het_done), 4},
	{"heterogeneous jobs of which only a part was requeued",
	 offsetof(struct sim_totals, het_cut), 8},
	{"nodes used again", offsetof(struct sim_totals, reuses), 100},
	{"nodes powered down for being idle", offsetof(struct sim_totals, idle_suspends), 100},
	{"nodes that stayed warm", offsetof(struct sim_totals, warm), 20},
	{"places left alone as purchases failed", offsetof(struct sim_totals, place_fails), 3},
	{"rotations of keys", offsetof(struct sim_totals, rotations), 5},
	{"rotations that were aborted", offsetof(struct sim_totals, rotations_aborted), 5},
	{"rotations that burstd died in", offsetof(struct sim_totals, rotations_cut), 5},
	{"nodes drained for old keys", offsetof(struct sim_totals, rotations_drained), 1},
	{"jobs requeued since their budget was used up",
	 offsetof(struct sim_totals, ladder_requeues), 2},
	{"jobs cancelled since their budget was used up",
	 offsetof(struct sim_totals, ladder_cancels), 1},
	{"dynamic nodes created", offsetof(struct sim_totals, created), 60},
	{"dynamic nodes lost", offsetof(struct sim_totals, lost), 2},
	{"machines located", offsetof(struct sim_totals, placed), 10},
	{"images rolled out", offsetof(struct sim_totals, images_rolled), 2},
	{"images stopped", offsetof(struct sim_totals, images_stopped), 8},
	{"creates refused for an image", offsetof(struct sim_totals, images_refused), 1},
	{"machines replaced for an image", offsetof(struct sim_totals, images_replaced), 2},
	{"creates to try one of these", offsetof(struct sim_totals, place_probes), 3},
};

static uint64_t counted(const struct sim_totals *t, const struct class *c)
{
	return *(const uint64_t *)((const char *)t + c->at);
}

unsigned sim_climate_missed(const struct sim_totals *t)
{
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (counted(t, &classes[i]) < classes[i].least * t->seeds / 100) {
			(void)fprintf(stderr,
				      "# FAILED: too few %s: %" PRIu64 " in %" PRIu64 " worlds\n",
				      classes[i].what, counted(t, &classes[i]), t->seeds);
			n++;
		}
	return n;
}
