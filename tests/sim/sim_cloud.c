/* sim_cloud.c - the provider's instances: how they come up, are reclaimed, and are deleted. */
#include "sim_cloud.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_boot.h"
#include "sim_journal.h"
#include "sim_slurm.h"

enum {
	STRAY_LOOK_MS = 10 * SIM_SECOND, /* from the first list that shows it to its delete */
};

/* --- instances -------------------------------------------------------------------------------- */

struct inst *sim_cloud_find(const struct sim_cloud *c, uint32_t number)
{
	return number >= 1 && number <= c->n ? c->all[number - 1] : NULL;
}

struct inst *sim_cloud_by_id(const struct sim_cloud *c, const char *id)
{
	return strncmp(id, "i-", 2) == 0 ? sim_cloud_find(c, (uint32_t)strtoul(id + 2, NULL, 10))
					 : NULL;
}

bool inst_live(const struct inst *i)
{
	return i->state != INST_ENDED;
}

void sim_cloud_end(struct sim_cloud *c, struct inst *i)
{
	if (i->state == INST_ENDED)
		return;
	i->state = INST_ENDED;
	i->ended = c->w->now;
	i->gone_at = c->w->now + c->w->set.linger_ms;
	sim_stock_back(c->w, i);
	for (size_t k = 0; k < c->nlive; k++)
		if (c->live[k] == i) {
			c->live[k] = c->live[--c->nlive];
			break;
		}
	SIM_TRACE(c->w, "  cloud: i-%u (%s/%llu) has ended", (unsigned)i->number, i->node,
		  (unsigned long long)i->gen);
	sim_ctld_instance_ended(c->w->ctld, i);
}

void sim_cloud_restored(struct sim_cloud *c)
{
	c->restored_at = c->w->now;
	for (size_t k = 0; k < c->nlive; k++) {
		struct inst *i = c->live[k];
		const struct sim_row *r = sim_journal_row(c->w->journal, i->node, i->gen);
		char id[24];

		(void)snprintf(id, sizeof(id), "i-%u", (unsigned)i->number);
		i->known = r != NULL && strcmp(r->n.instance, id) == 0;
		i->unknown = i->unknown || !i->known;
	}
}

static void on_end(struct world *w, void *ctx, uint64_t arg)
{
	(void)arg;
	sim_cloud_end(w->cloud, ctx);
}

void sim_cloud_reclaim(struct sim_cloud *c, struct inst *i, int64_t ms)
{
	i->excused = true;
	i->state = INST_RECLAIMING;
	i->reclaim_said = c->w->now;
	i->reclaim_at = c->w->now + ms;
	world_at(c->w, i->reclaim_at, on_end, i, 0);
	sim_notice_reclaim(c->w, i);
}

void sim_cloud_reclaim_all(struct sim_cloud *c)
{
	int64_t ms = world_between(c->w, 5, 120) * SIM_SECOND;

	for (size_t k = 0; k < c->nlive; k++) {
		struct inst *i = c->live[k];

		if (i->pool == SIM_POOLS_MAX || i->state != INST_RUNNING)
			continue;
		world_met(c->w, SIM_MASS_RECLAIM, i->node, i->gen);
		sim_cloud_reclaim(c, i, ms);
	}
}

void sim_cloud_stop(struct sim_cloud *c, struct inst *i)
{
	if (world_one_in(c->w, 2)) {
		sim_cloud_end(c, i);
		return;
	}
	SIM_TRACE(c->w, "  cloud: i-%u (%s/%llu) stops", (unsigned)i->number, i->node,
		  (unsigned long long)i->gen);
	i->state = INST_STOPPING;
	world_at(c->w, c->w->now + world_between(c->w, 1, 60) * SIM_SECOND, on_end, i, 0);
}

static void on_slurmd(struct world *w, void *ctx, uint64_t arg)
{
	(void)arg;
	sim_cloud_slurmd(w, ctx);
}

void sim_cloud_slurmd(struct world *w, struct inst *i)
{
	if (!inst_live(i) || i->state == INST_STOPPING)
		return;
	if (w->cloud->no_slurmd) {
		world_at(w, w->now + SIM_SECOND, on_slurmd, i, 0);
		return;
	}
	i->slurmd_at = w->now;
	sim_ctld_register(w->ctld, i);
}

static void on_reclaim(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;
	bool notice = arg != 0;

	if (i->state != INST_RUNNING || !w->faults)
		return;
	i->excused = true;
	world_met(w, notice ? SIM_RECLAIM : SIM_ENDED, i->node, i->gen);
	if (!notice) {
		sim_cloud_stop(w->cloud, i);
		return;
	}
	sim_cloud_reclaim(w->cloud, i, world_between(w, 5, 120) * SIM_SECOND);
}

static void on_running(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;
	int64_t boot = world_between(w, 2, 60) * SIM_SECOND;

	(void)arg;
	if (i->state != INST_PENDING || i->fate != MAKES_WELL)
		return;
	i->state = INST_RUNNING;
	if (world_fault(w, SIM_RECLAIM))
		world_at(w, w->now + world_between(w, 1, 400) * SIM_SECOND, on_reclaim, i, 1);
	else if (world_fault(w, SIM_ENDED))
		world_at(w, w->now + world_between(w, 1, 400) * SIM_SECOND, on_reclaim, i, 0);
	if (world_fault(w, SIM_NEVER_BOOTS)) {
		world_met(w, SIM_NEVER_BOOTS, i->node, i->gen);
		return;
	}
	if (i->mute)
		return;
	if (world_fault(w, SIM_SLOW_BOOT)) {
		world_met(w, SIM_SLOW_BOOT, i->node, i->gen);
		boot = world_between(w, 60, 500) * SIM_SECOND;
	}
	if (w->set.bootstrap)
		sim_machine_boots(w, i, boot);
	else if (w->set.vouchers)
		sim_token_boots(w, i, boot);
	else
		world_at(w, w->now + boot, on_slurmd, i, 0);
}

enum { HOSTS = 1 << 15 };

/* The first host that no other instance has (F37). */
static uint32_t free_host(const struct sim_cloud *c, const struct inst *i)
{
	bool taken[HOSTS] = {false};
	uint32_t host = 1;

	for (size_t k = 0; k < c->nlive; k++)
		if (c->live[k] != i)
			taken[c->live[k]->host % HOSTS] = true;
	while (taken[host])
		host++;
	return host;
}

static void choose_addr(const struct sim_cloud *c, struct inst *i)
{
	i->host = c->w->set.reuse ? free_host(c, i) : i->number;
	(void)snprintf(i->addr, sizeof(i->addr), "10.1.%u.%u", i->host >> 7 & 255,
		       (i->host & 127) + 1);
}

static struct inst *add(struct sim_cloud *c, const char *node, uint64_t gen)
{
	struct inst *i = mem_zalloc(sizeof(*i));

	if (c->n == c->cap) {
		c->cap = c->cap == 0 ? 64 : 2 * c->cap;
		c->all = mem_realloc(c->all, c->cap * sizeof(struct inst *));
		c->live = mem_realloc(c->live, c->cap * sizeof(struct inst *));
	}
	c->all[c->n++] = i;
	c->live[c->nlive++] = i;
	i->number = (uint32_t)c->n;
	i->gen = gen;
	i->created = i->visible_at = c->w->now;
	(void)snprintf(i->node, sizeof(i->node), "%s", node);
	choose_addr(c, i);
	return i;
}

struct inst *sim_cloud_boot(struct sim_cloud *c, const struct create_want *want,
			    const char *cluster)
{
	struct world *w = c->w;
	struct inst *i = add(c, want->node, want->gen);
	int64_t run = w->now + world_between(w, 1, 20) * SIM_SECOND;

	(void)snprintf(i->cluster, sizeof(i->cluster), "%s", cluster);
	i->addr_at = run;
	if (world_fault(w, SIM_LATE_VISIBLE)) {
		world_met(w, SIM_LATE_VISIBLE, i->node, i->gen);
		i->visible_at = w->now + world_between(w, 0, w->set.settle_ms);
	}
	sim_tags_born(w, i);
	if (world_fault(w, SIM_NO_ADDRESS)) {
		world_met(w, SIM_NO_ADDRESS, i->node, i->gen);
		i->addr_at = run + world_between(w, 0, 60) * SIM_SECOND;
	}
	world_at(w, run, on_running, i, 0);
	w->totals->instances++;
	SIM_TRACE(w, "  cloud: i-%u made for %s/%llu", (unsigned)i->number, i->node,
		  (unsigned long long)i->gen);
	return i;
}

static void on_fate(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;

	(void)arg;
	if (i->state != INST_PENDING)
		return; /* it was deleted */
	world_met(w, SIM_STILLBORN, i->node, i->gen);
	if (i->fate == MAKES_AN_END)
		sim_cloud_stop(w->cloud, i);
	else
		i->error = true;
}

void sim_cloud_doom(struct sim_cloud *c, struct inst *i, enum sim_makes how)
{
	i->fate = how;
	i->excused = true;
	i->addr_at = INT64_MAX;
	world_at(c->w, c->w->now + world_between(c->w, 1, 120) * SIM_SECOND, on_fate, i, 0);
}

struct inst *sim_cloud_twin(struct sim_cloud *c, const struct inst *i)
{
	struct inst *twin = add(c, i->node, i->gen);

	memcpy(twin->cluster, i->cluster, sizeof(twin->cluster));
	twin->pool = i->pool;
	twin->state = INST_RUNNING;
	twin->lied = true;
	return twin;
}

void sim_cloud_stray(struct sim_cloud *c, unsigned n)
{
	char node[24];
	struct inst *i;

	(void)snprintf(node, sizeof(node), "x%u", n);
	i = add(c, node, 1);
	(void)snprintf(i->cluster, sizeof(i->cluster), "%s", SIM_UUID);
	i->state = INST_RUNNING;
}

/* Others live in the same account: with names like ours, and without any tag. */
static void add_foreign(struct sim_cloud *c)
{
	static const char *const clusters[] = {"some-other-cluster", ""};

	for (size_t k = 0; k < 2; k++) {
		struct inst *i = add(c, "c1", 1);

		(void)snprintf(i->cluster, sizeof(i->cluster), "%s", clusters[k]);
		i->pool = SIM_POOLS_MAX;
		i->state = INST_RUNNING;
	}
}

struct sim_cloud *sim_cloud_new(struct world *w)
{
	struct sim_cloud *c = mem_zalloc(sizeof(*c));

	c->w = w;
	add_foreign(c);
	sim_fabric_init(c);
	return c;
}

void sim_cloud_free(struct sim_cloud *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->all[i]->machine);
		free(c->all[i]);
	}
	free(c->all);
	free(c->live);
	free(c->tokens);
	sim_operations_free(c);
	free(c);
}

void sim_cloud_heal(struct sim_cloud *c)
{
	c->w->set.polled = false; /* drills count how long a refusal takes */
	c->other_until = c->auth_until = c->away[0].until = c->away[1].until = 0;
	c->places_denied_until = 0;
	sim_place_heal(c->w);
	sim_price_heal(c->w);
	for (size_t k = 0; k < c->nlive; k++) {
		c->live[k]->odd = false;
		c->live[k]->denied_until = 0;
		if (c->live[k]->state == INST_STOPPING)
			world_at(c->w, c->w->now + 20 * SIM_SECOND, on_end, c->live[k], 0);
	}
}

/* --- delete ----------------------------------------------------------------------------------- */

/* A provider that made two of one generation and lied about one: nobody can say by its list which
 * of them the job is on. */
static bool twin_of_a_lie(const struct sim_cloud *c, const struct inst *i)
{
	for (size_t k = 0; k < c->nlive; k++)
		if (c->live[k]->lied && c->live[k]->gen == i->gen &&
		    strcmp(c->live[k]->node, i->node) == 0)
			return true;
	return false;
}

/* Is there another one of this node, lost: one of which burstd may have no row? */
static bool has_twin(const struct sim_cloud *c, const struct inst *i, bool lost)
{
	for (size_t k = 0; k < c->nlive; k++)
		if (c->live[k] != i && c->live[k]->pool != SIM_POOLS_MAX &&
		    (c->live[k]->unknown || !lost) && strcmp(c->live[k]->node, i->node) == 0)
			return true;
	return false;
}

/* Once its journal is an older one, burstd may take the wrong one of two for the node's. */
static bool is_clear(const struct sim_cloud *c, const struct inst *i)
{
	if (sim_ctld_told(c->w->ctld, i))
		return true;
	return i->unknown ? i->known && !has_twin(c, i, false) : !has_twin(c, i, true);
}

/* I18: a node that works is taken away only for a reason.  What stops does not work any more. */
static void check_delete(struct sim_cloud *c, const struct inst *i)
{
	if (i->pool == SIM_POOLS_MAX) {
		world_fail(c->w, "I11: delete of a foreign instance, i-%u", (unsigned)i->number);
		return;
	}
	if (!i->excused && !i->lied && i->state < INST_STOPPING && !twin_of_a_lie(c, i) &&
	    is_clear(c, i) && sim_ctld_runs_job_on(c->w->ctld, i))
		world_fail(c->w, "I18: delete of %s/%llu, on which a job runs", i->node,
			   (unsigned long long)i->gen);
}

void sim_cloud_check_delete(const struct sim_cloud *c, const struct inst *i)
{
	int64_t settle = c->w->set.settle_ms, now = c->w->now;
	bool knows = c->w->set.chance[SIM_CLOCK_SET] == 0 && c->w->set.chance[SIM_CLOCK_JUMP] == 0;
	int64_t look = settle < STRAY_LOOK_MS ? settle : (int64_t)STRAY_LOOK_MS;

	if (!i->known && i->shown_life == c->w->life + 1 &&
	    (now - i->shown_at < look || (knows && now - i->created < settle)))
		world_fail(c->w,
			   "I10: delete of i-%u of %s, without a row, %d ms after a list, and "
			   "%d ms old",
			   (unsigned)i->number, i->node, (int)(now - i->shown_at),
			   (int)(now - i->created));
}

static void stop(struct sim_cloud *c, struct inst *i)
{
	struct world *w = c->w;
	int64_t after = world_between(w, 0, 20) * SIM_SECOND;

	if (i->state == INST_STOPPING)
		return;
	i->state = INST_STOPPING;
	if (world_fault(w, SIM_STUCK_STOPPING)) {
		world_met(w, SIM_STUCK_STOPPING, i->node, i->gen);
		after = world_between(w, 2, 40) * SIM_MINUTE;
	}
	world_at(w, w->now + after, on_end, i, 0);
}

static bool denied(struct sim_cloud *c, struct inst *i)
{
	struct world *w = c->w;

	if (i->denied_until == 0 && world_fault(w, SIM_DELETE_DENIED))
		i->denied_until = w->now + world_between(w, 1, 1200) * SIM_SECOND;
	if (w->now >= i->denied_until)
		return false;
	world_met(w, SIM_DELETE_DENIED, i->node, i->gen);
	return true;
}

const char *sim_cloud_delete(struct sim_cloud *c, uint32_t number)
{
	struct inst *i = sim_cloud_find(c, number);
	struct world *w = c->w;

	if (i != NULL)
		check_delete(c, i);
	if (i == NULL || (i->state == INST_ENDED && w->now >= i->gone_at))
		return "not-found";
	if (i->state == INST_ENDED)
		return "ok";
	if (w->now < i->visible_at ||
	    (w->now < i->created + w->set.settle_ms && world_fault(w, SIM_DELETE_404))) {
		world_met(w, SIM_DELETE_404, i->node, i->gen);
		return "not-found";
	}
	if (denied(c, i))
		return i->number % 2 ? "denied" : "not-yet";
	i->accepted = true;
	if (world_fault(w, SIM_DELETE_IGNORED))
		world_met(w, SIM_DELETE_IGNORED, i->node, i->gen);
	else
		stop(c, i);
	return "ok";
}
