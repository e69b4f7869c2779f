/* sim_queue.c - a thousand deletes at a provider that takes one request in 0.85 s (F7, P1): other
 * requests go on meanwhile, and all machines are deleted.
 *
 * It is a world of its own, without dice: with so many machines the checks of the others, which
 * compare each machine with each other at every step, would take hours. */
#include "sim_cloud.h"
#include "sim_slurm.h"

enum {
	SEED = 4, /* plain: no claims, no fabrics, nothing warm */
	STRAYS = 1000,
	PAGE = 500,
	GAP_MS = 850,
	LISTS = 2,     /* each delete lets one page of a list go behind it ... */
	WIRE_MS = 150, /* ... and each is throttled once, for a second: so long until it knows */
	BUSY_MS = 2 * SIM_MINUTE, /* of deletes, before a job comes */
	HOOK_MS = SIM_MINUTE,     /* slurmctld takes its time */
	/* What is no delete: the first list, the settle time, the job. */
	REST_MS = 5 * SIM_MINUTE,
	START_MS = 10 * SIM_MINUTE,
};

struct play {
	const char *name;
	uint32_t rate;     /* as configured; 0: burstd has only what the provider says */
	int64_t create_ms; /* the job's create is on the wire by then */
	int64_t delete_ms; /* what one of the deletes may take, on average */
};

static void step_until(struct world *w, int64_t end)
{
	while (!w->failed && w->now < end)
		if (!world_step(w))
			world_fail(w, "nothing is left to happen");
}

static void settle(struct world *w, const struct play *p)
{
	struct sim_limits *l = &w->set.limits;

	*l = (struct sim_limits){.some = true, .one = true};
	for (int k = 0; k < SIM_LIMITS; k++) {
		l->gap_ms[k] = GAP_MS;
		l->size[k] = 1;
		l->tells[k] = true;
	}
	w->set.single = true;
	w->set.rate = p->rate;
	w->set.concurrency = 16;
	w->set.page = PAGE;
	w->set.ladder = false;
	w->faults = false;
	w->queue = true;
}

static size_t left(const struct world *w)
{
	size_t n = 0;

	for (size_t k = 0; k < w->cloud->nlive; k++)
		n += w->cloud->live[k]->node[0] == 'x';
	return n;
}

static void delete_all(struct world *w, const struct play *p, int64_t began)
{
	int64_t end = began + STRAYS * p->delete_ms + REST_MS;

	while (!w->failed && left(w) > 0 && w->now < end)
		step_until(w, w->now + 1);
	if (!w->failed && left(w) > 0)
		world_fail(w, "P1: %zu of %d machines are not deleted after %d s (%s)", left(w),
			   STRAYS, (int)((end - began) / SIM_SECOND), p->name);
	SIM_TRACE(w, "*** all are gone after %d s", (int)((w->now - began) / SIM_SECOND));
}

static void create(struct world *w, const struct play *p)
{
	struct ctld_job *j = sim_ctld_submit(w->ctld, 0, 1);
	uint64_t creates = w->totals->creates;
	int64_t end = w->now + HOOK_MS;

	while (!w->failed && j->state != JOB_CONFIGURING && w->now < end)
		step_until(w, w->now + 1);
	SIM_TRACE(w, "*** a job wants a node");
	end = w->now + p->create_ms;
	while (!w->failed && w->totals->creates == creates && w->now < end)
		step_until(w, w->now + 1);
	SIM_TRACE(w, "*** its create is out");
	if (!w->failed && w->totals->creates == creates)
		world_fail(w, "P2: no create in %d s (%s)", (int)(p->create_ms / SIM_SECOND),
			   p->name);
	end = w->now + START_MS;
	while (!w->failed && j->state != JOB_RUNNING && w->now < end)
		step_until(w, w->now + 1);
	SIM_TRACE(w, "*** it runs");
	if (!w->failed && j->state != JOB_RUNNING)
		world_fail(w, "P2: a job does not start in %d minutes (%s)", START_MS / SIM_MINUTE,
			   p->name);
}

static void play(struct world *w, const struct play *p, struct sim_totals *t, bool echo)
{
	int64_t began;

	world_init(w, SEED, t, true);
	w->echo = echo;
	settle(w, p);
	for (unsigned n = 0; n < STRAYS; n++)
		sim_cloud_stray(w->cloud, n);
	life_start(w);
	began = w->now;
	step_until(w, began + BUSY_MS);
	create(w, p);
	delete_all(w, p, began);
	world_fini(w);
}

bool sim_queue(struct world *w, bool echo)
{
	static const struct play plays[] = {
		{"the limit is configured", 1, 20 * SIM_SECOND, LISTS * SIM_SECOND},
		{"the limit is not known", 0, SIM_MINUTE, LISTS * (SIM_SECOND + 2 * WIRE_MS)},
	};
	static struct sim_totals totals;

	for (size_t i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
		play(w, &plays[i], &totals, echo);
		if (w->failed)
			return false;
	}
	return true;
}
