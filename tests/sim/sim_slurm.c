#include "sim_slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_boot.h"

enum { KILL_WAIT_MS = 30 * SIM_SECOND }; /* slurm.conf's default */

static void on_tick(struct world *w, void *ctx, uint64_t arg);

struct sim_ctld *sim_ctld_new(struct world *w)
{
	struct sim_ctld *c = mem_zalloc(sizeof(*c));

	c->w = w;
	for (uint32_t p = 0; p < w->set.npools; p++)
		for (uint32_t i = 1; i <= w->set.pools[p].nnodes; i++) {
			struct ctld_node *n = &c->nodes[c->n++];

			(void)snprintf(n->name, sizeof(n->name), "%c%u", w->set.pools[p].nodes[0],
				       (unsigned)i);
			n->pool = p;
			n->powered_down = true;
		}
	(void)snprintf(c->nodes[c->n].name, sizeof(c->nodes[0].name), "login1");
	(void)snprintf(c->nodes[c->n].reason, sizeof(c->nodes[0].reason),
		       "RMA=4711 State=POWERING_UP NodeName=c1 until=Monday");
	c->nodes[c->n++].pool = SIM_POOLS_MAX;
	for (size_t i = 0; i < c->n; i++) {
		(void)snprintf(c->nodes[i].addr, sizeof(c->nodes[i].addr), "%s", c->nodes[i].name);
		(void)snprintf(c->nodes[i].host, sizeof(c->nodes[i].host), "%s", c->nodes[i].name);
	}
	sim_dynamic_born(c);
	c->next_job = w->now + world_between(w, 1, 30) * SIM_SECOND;
	world_at(w, w->now + SIM_SECOND, on_tick, c, 0);
	return c;
}

void sim_ctld_free(struct sim_ctld *c)
{
	free(c);
}

bool sim_ctld_up(const struct sim_ctld *c)
{
	return c->w->now >= c->down_until;
}

void sim_ctld_trouble(struct sim_ctld *c, int64_t until)
{
	if (until > c->troubled)
		c->troubled = until;
}

struct ctld_node *sim_ctld_find(struct sim_ctld *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->nodes[i].name, name) == 0)
			return &c->nodes[i];
	return NULL;
}

void sim_ctld_excuse(struct sim_ctld *c, struct ctld_node *n)
{
	struct sim_cloud *cloud = c->w->cloud;

	n->unwanted_at = c->w->now;

	for (size_t k = 0; k < cloud->nlive; k++)
		if (strcmp(cloud->live[k]->node, n->name) == 0)
			cloud->live[k]->excused = true;
}

/* F46: of calls for what nobody wants only the first one of some minutes is worth a machine. */
void sim_ctld_event(struct sim_ctld *c, const char *node, const char *type, const char *detail)
{
	struct ctld_node *n = sim_ctld_find(c, node);
	int64_t now = c->w->now;

	sim_fate_event(c, type, detail);
	if (n == NULL)
		return;
	if (strcmp(type, "jobs-unknown") == 0)
		n->unknown_at = now;
	/* An older journal that was put back may hold one that was ready, of another purchase. */
	if (strcmp(type, "released") == 0 && strstr(detail, "Slurm powered it down") != NULL &&
	    strncmp(detail, "ready ", 6) != 0 && n->by_call) {
		n->let_go_at = now;
		n->let_go_life = c->w->life;
	}
	if (strcmp(type, "wanted") == 0 && strncmp(detail, "slurmctld called", 16) == 0 &&
	    n->let_go_at > n->wanted_at && n->let_go_life == c->w->life &&
	    now - n->let_go_at < 5 * SIM_MINUTE)
		world_fail(c->w, "F46: %s is bought again by a call, and nobody wants it", node);
	if (strcmp(type, "registered") == 0)
		n->let_go_at = 0; /* slurmctld has had it up since: its calls are worth something */
	if (strcmp(type, "wanted") == 0 || strcmp(type, "registered") == 0)
		n->by_call = strncmp(detail, "slurmctld called", 16) == 0;
}

/* --- power saving ------------------------------------------------------------------------------
 */

static bool is_idle(const struct ctld_node *n)
{
	return n->job == 0 && !n->down && !n->drain && !n->completing && !n->powered_down &&
	       !n->powering_down && !n->powering_up;
}

/* Is it one of the first that are idle, of as many as slurm.conf has slurmctld keep? */
static bool is_counted(const struct sim_ctld *c, const struct ctld_node *n)
{
	uint32_t left = c->w->set.fixed ? c->w->set.pools[n->pool].warm : 0;

	for (const struct ctld_node *o = c->nodes; o < n; o++)
		left -= left > 0 && o->pool == n->pool && is_idle(o);
	return left > 0 && is_idle(n);
}

static bool to_suspend(const struct sim_ctld *c, const struct ctld_node *n)
{
	if (n->job != 0 || n->powering_up || n->powering_down || n->completing)
		return false;
	if (n->power_down)
		return true;
	return !n->powered_down && !n->reboot && !n->kept && !is_counted(c, n) &&
	       c->w->now > n->busy_at + c->w->set.suspend_s * SIM_SECOND;
}

static void suspend(struct sim_ctld *c, struct ctld_node *n)
{
	n->powering_down = true;
	n->power_down = n->powered_down = n->down = n->not_responding = false;
	n->drain = n->invalid = n->reboot = n->useless = false; /* idle_on_node_suspend */
	sim_ctld_set_reason(c, n, BY_NOBODY, "");
	n->power_req = c->w->now;
	n->inst = 0;
	n->dead_at = 0;
	if (!c->w->set.old_slurm) {
		(void)snprintf(n->addr, sizeof(n->addr), "%s", n->name);
		(void)snprintf(n->host, sizeof(n->host), "%s", n->name);
	}
	sim_ctld_excuse(c, n);
}

static void resume(struct sim_ctld *c, struct ctld_node *n)
{
	n->unwanted_at = n->wanted_at = c->w->now;
	n->powered_down = n->power_up = n->useless = false;
	n->booted = n->job;
	n->powering_up = n->not_responding = true;
	n->boot_req = c->w->now;
}

static bool time_out(struct sim_ctld *c, struct ctld_node *n)
{
	const struct sim_setting *s = &c->w->set;

	if (n->powering_down && c->w->now >= n->power_req + s->suspend_timeout_s * SIM_SECOND) {
		n->powering_down = false;
		n->powered_down = true;
	}
	if (n->completing && n->dead_at == 0 && c->w->now >= n->epilog_until &&
	    c->w->now >= n->forced_at + KILL_WAIT_MS)
		n->completing = false;
	if (n->dead_at != 0 && c->w->now >= n->dead_at + s->slurmd_timeout_s * SIM_SECOND / 2)
		n->not_responding = true; /* to pings */
	if (n->dead_at != 0 && c->w->now >= n->dead_at + s->slurmd_timeout_s * SIM_SECOND) {
		sim_lapse_missed(c, n);
		n->dead_at = 0;
		n->down = n->not_responding = true;
		n->completing = n->reboot = false;
		sim_het_unavail(c, n);
		sim_ctld_set_reason(c, n, BY_SLURM, "Not responding");
		sim_ctld_lose_jobs(c, n);
		sim_ctld_excuse(c, n);
	}
	if (!n->powering_up || c->w->now <= n->boot_req + s->resume_timeout_s * SIM_SECOND)
		return false;
	n->powering_up = n->not_responding = false;
	n->down = n->powered_down = true;
	sim_het_unavail(c, n);
	sim_ctld_set_reason(c, n, BY_SLURM, "ResumeTimeout reached");
	sim_ctld_lose_jobs(c, n);
	sim_ctld_excuse(c, n);
	return true;
}

void sim_ctld_set_reason(struct sim_ctld *c, struct ctld_node *n, enum ctld_by by,
			 const char *reason)
{
	if (by == BY_SLURM && n->by == BY_ADMIN)
		return;
	(void)snprintf(n->reason, sizeof(n->reason), "%s", reason);
	n->by = by;
	n->reason_at = c->w->now;
	n->reason_seen = 0;
}

static void power_scan(struct sim_ctld *c)
{
	bool down[SIM_NODES_MAX + 1] = {false}, up[SIM_NODES_MAX + 1] = {false};
	bool failed[SIM_NODES_MAX + 1] = {false};

	for (size_t i = 0; i < c->n; i++) {
		struct ctld_node *n = &c->nodes[i];

		if (n->pool == SIM_POOLS_MAX || n->deleted)
			continue;
		down[i] = to_suspend(c, n);
		sim_climate_idles(c->w, n, down[i]);
		if (down[i])
			suspend(c, n);
		up[i] = (n->job != 0 || n->power_up) && n->powered_down && !n->down;
	}
	sim_lapse_split(c, up);
	for (size_t i = 0; i < c->n; i++) {
		struct ctld_node *n = &c->nodes[i];

		if (n->pool == SIM_POOLS_MAX || n->deleted)
			continue;
		if (up[i])
			resume(c, n);
		failed[i] = time_out(c, n);
		if (n->powering_up)
			n->wanted_at = c->w->now;
	}
	sim_hook_false(c);
	sim_hook_call(c, CALL_SUSPEND, down);
	sim_hook_call(c, CALL_RESUME, up);
	sim_hook_call(c, CALL_RESUME_FAIL, failed);
}

static void go_down(struct sim_ctld *c)
{
	struct world *w = c->w;

	c->down_until = w->now + world_between(w, 5, 600) * SIM_SECOND;
	c->up_since = c->down_until;
	c->hung = world_one_in(w, 3);
	sim_ctld_trouble(c, c->down_until);
	for (size_t i = 0; i < c->n; i++)
		c->nodes[i].kept = false; /* slurm.conf counts again */
	sim_het_reconfigure(c);
	for (size_t i = 0; i + 1 < c->n; i++)
		world_met(w, SIM_CTLD_DOWN, c->nodes[i].name, 0);
}

static void go_deaf(struct sim_ctld *c)
{
	struct world *w = c->w;

	c->deaf_until = w->now + world_between(w, 30, 600) * SIM_SECOND;
	c->up_since = c->deaf_until;
	sim_ctld_trouble(c, c->deaf_until);
	for (size_t i = 0; i + 1 < c->n; i++)
		world_met(w, SIM_CTLD_DEAF, c->nodes[i].name, 0);
}

/* F51: an idle node is taken out of slurm.conf; no program is called for it any more. */
static void delete_a_node(struct sim_ctld *c)
{
	struct ctld_node *n = &c->nodes[world_below(c->w, (uint32_t)c->n)];

	if (n->pool == SIM_POOLS_MAX || n->deleted || n->job != 0 || n->completing ||
	    !world_fault(c->w, SIM_NODE_DELETED))
		return;
	world_met(c->w, SIM_NODE_DELETED, n->name, 0);
	sim_ctld_unplug(c, n);
	n->deleted = true;
}

void sim_ctld_unplug(struct sim_ctld *c, struct ctld_node *n)
{
	suspend(c, n);
	n->powering_down = n->powering_up = n->completing = false;
	n->powered_down = true;
}

static void on_tick(struct world *w, void *ctx, uint64_t arg)
{
	struct sim_ctld *c = ctx;

	(void)arg;
	world_at(w, w->now + SIM_SECOND, on_tick, c, 0);
	if (!sim_ctld_up(c))
		return;
	sim_lapse_end(c);
	if (world_fault(w, SIM_CTLD_DOWN)) {
		go_down(c);
		return;
	}
	if (world_fault(w, SIM_CTLD_FORGETS)) {
		go_down(c);
		sim_lapse_begin(c);
		return;
	}
	if (sim_lapse_save(c)) {
		go_down(c);
		sim_lapse_revert(c);
		return;
	}
	if (w->now >= c->deaf_until && world_fault(w, SIM_CTLD_DEAF))
		go_deaf(c);
	sim_job_submit(c);
	if (world_one_in(w, 200))
		delete_a_node(c);
	if (w->set.prolog)
		sim_gate_tick(c);
	sim_job_tick(c);
	power_scan(c);
}

/* --- what burstd and the judges are told ------------------------------------------------------ */

bool sim_ctld_unwanted_since(struct sim_ctld *c, const char *node, int64_t since)
{
	const struct ctld_node *n = sim_ctld_find(c, node);

	return n != NULL && (n->powered_down || n->powering_down || n->power_down || n->down ||
			     n->unwanted_at >= since);
}

bool sim_ctld_launch_is_stale(struct sim_ctld *c, const char *node)
{
	enum { STALE_MS = 2 * SIM_MINUTE }; /* a few polls, some of which fail */
	const struct ctld_node *n = sim_ctld_find(c, node);

	return n != NULL && n->powered_down && c->w->now - n->wanted_at > STALE_MS &&
	       c->w->now - n->called_at > STALE_MS && c->w->now - c->up_since > STALE_MS &&
	       sim_ctld_up(c);
}

void sim_ctld_tell_nodes(struct sim_ctld *c, const struct ctld_node *nodes, size_t n, int64_t at)
{
	c->told_at = at;
	c->w->told = true;
	for (size_t i = 0; i < c->n; i++) {
		if (!nodes[i].deleted && n-- == 0)
			break;
		c->told[i] = nodes[i];
		if (!nodes[i].powering_up && !nodes[i].powered_down && !nodes[i].powering_down &&
		    !nodes[i].down && !nodes[i].not_responding) {
			c->nodes[i].seen_up = nodes[i].inst;
			sim_voucher_up(c->w, &nodes[i], at);
		}
		if (c->nodes[i].by == BY_ADMIN && c->nodes[i].reason_at < at &&
		    c->nodes[i].reason_seen == 0)
			c->nodes[i].reason_seen = c->w->now;
		if (nodes[i].invalid && !nodes[i].power_down && !nodes[i].reboot)
			sim_pool_saw_wrong(c->w, nodes[i].name);
	}
}

void sim_ctld_tell_jobs(struct sim_ctld *c, const struct ctld_job *jobs, int64_t at, bool all)
{
	c->told_run_at = at;
	memcpy(c->told_run, jobs, sizeof(c->told_run));
	if (!all)
		return;
	c->told_jobs_at = at;
	memcpy(c->told_jobs, jobs, sizeof(c->told_jobs));
}

static void tell_detail(struct ctld_job *j, const struct ctld_job *told, int64_t at)
{
	if (told->id != j->id)
		return;
	j->details_at = at;
	if (j->requeued_to == 0 && told->state == JOB_PENDING)
		j->requeued_to = told->begin_at;
}

void sim_ctld_tell_details(struct sim_ctld *c, const struct ctld_job *jobs, const char *ids,
			   int64_t at)
{
	for (const char *id = ids; id != NULL; id = strchr(id, ',')) {
		id += *id == ',';
		for (size_t i = 0; i < JOBS_MAX; i++)
			if (sim_ctld_is_named(&c->jobs[i], id))
				tell_detail(&c->jobs[i], &jobs[i], at);
	}
}

bool sim_ctld_told(const struct sim_ctld *c, const struct inst *i)
{
	for (size_t k = 0; k < c->n; k++)
		if (c->nodes[k].inst == i->number)
			return c->told_at > c->nodes[k].up_at &&
			       (c->w->set.instance_ids ||
				(i->addr_shown && strcmp(c->nodes[k].addr, i->addr) == 0));
	return false;
}

void sim_ctld_given_up(struct sim_ctld *c, const char *node)
{
	struct ctld_node *n = sim_ctld_find(c, node);
	struct inst *i = n != NULL ? sim_cloud_find(c->w->cloud, n->inst) : NULL;

	if (i != NULL && n->up_at >= c->told_at)
		i->excused = true;
}

static bool has_epilog(const struct sim_ctld *c, const struct ctld_node *n)
{
	return n->completing && n->dead_at == 0 && c->w->now < n->epilog_until;
}

bool sim_ctld_runs_job_on(struct sim_ctld *c, const struct inst *i)
{
	for (size_t k = 0; k < c->n; k++)
		if (c->nodes[k].inst == i->number &&
		    (sim_ctld_running(c, &c->nodes[k]) != NULL || has_epilog(c, &c->nodes[k])))
			return true;
	return false;
}

/* --- the second phase --------------------------------------------------------------------------
 */

static uint32_t room(const struct sim_pool *p)
{
	int64_t by_rate = p->max_rate / p->price;
	uint32_t n = p->max_nodes < p->nnodes ? p->max_nodes : p->nnodes;

	return by_rate < n ? (uint32_t)by_rate : n;
}

/* A job of more nodes than one create can have is refused, not cut over two fabrics. */
static uint32_t on_one_fabric(const struct world *w)
{
	return w->set.fabric && w->set.create_max < 1000 ? SIM_CREATE_FEW : SIM_NODES_MAX;
}

static bool some_deleted(const struct sim_ctld *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->nodes[i].deleted && !c->nodes[i].dynamic &&
		    c->nodes[i].pool != SIM_POOLS_MAX)
			return true;
	return false;
}

/* Those that run first; of a heterogeneous job all parts must. */
static bool runs(struct sim_ctld *c, const struct ctld_job *j)
{
	for (struct ctld_job *k = sim_het_next(c, j, NULL); k != NULL; k = sim_het_next(c, j, k))
		if (k->state != JOB_RUNNING)
			return false;
	return true;
}

/* With all its parts, beside those that stay already, of which it is one then. */
static bool has_room(struct sim_ctld *c, const struct ctld_job *j, uint32_t used[SIM_POOLS_MAX])
{
	uint32_t with[SIM_POOLS_MAX];

	memcpy(with, used, sizeof(with));
	for (struct ctld_job *k = sim_het_next(c, j, NULL); k != NULL; k = sim_het_next(c, j, k)) {
		if (k->pool == JOB_ANY_POOL || k->n > on_one_fabric(c->w))
			return false;
		with[k->pool] += k->n;
		if (with[k->pool] > room(&c->w->set.pools[k->pool]))
			return false;
	}
	memcpy(used, with, sizeof(with));
	return true;
}

static void lasts(struct sim_ctld *c, struct ctld_job *j)
{
	j->held = false;
	if (j->state == JOB_PENDING) {
		j->begin_at = c->w->now;
		j->back_to = 0; /* nor is it held back for what is left of its last run */
	}
	if (j->requeued_to != 0) /* that is nobody's wish */
		j->requeued_to = j->begin_at;
	j->runtime = 365 * (int64_t)24 * 60 * SIM_MINUTE;
	j->end_at = c->w->now + j->runtime;
}

void sim_ctld_heal(struct sim_ctld *c)
{
	uint32_t used[SIM_POOLS_MAX] = {0};

	c->down_until = c->deaf_until = c->full_until = 0;
	c->troubled = c->w->now;
	sim_ctld_trouble(c, c->w->frozen_until);
	for (int running = 1; running >= 0; running--)
		for (size_t i = 0; i < JOBS_MAX; i++) {
			struct ctld_job *j = &c->jobs[i];

			if (j->state != JOB_FREE &&
			    some_deleted(c)) /* what was room enough may not be any more */
				sim_ctld_end_job(c, j);
			if (j->state == JOB_FAILED || j->state == JOB_COMPLETING)
				sim_ctld_end_job(c, j);
			if (j->state == JOB_FREE || runs(c, j) != (running == 1) ||
			    (j->het != 0 && j->het != j->id))
				continue;
			if (!has_room(c, j, used)) {
				sim_ctld_end_job(c, j);
				continue;
			}
			for (struct ctld_job *k = sim_het_next(c, j, NULL); k != NULL;
			     k = sim_het_next(c, j, k))
				lasts(c, k);
		}
}

void sim_ctld_end_jobs(struct sim_ctld *c)
{
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (c->jobs[i].state != JOB_FREE)
			sim_ctld_end_job(c, &c->jobs[i]);
}
