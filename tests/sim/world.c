#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/zone.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_rotate.h"
#include "sim_slurm.h"
#include "sim_spool.h"

/* --- dice ------------------------------------------------------------------------------------- */

uint64_t world_random(struct world *w)
{
	uint64_t z = (w->rng += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t world_below(struct world *w, uint32_t n)
{
	return (uint32_t)((world_random(w) >> 32) * n >> 32);
}

int64_t world_between(struct world *w, int64_t low, int64_t high)
{
	return low + (int64_t)world_below(w, (uint32_t)(high - low + 1));
}

bool world_one_in(struct world *w, uint32_t n)
{
	return world_below(w, n) == 0;
}

bool world_fault(struct world *w, enum sim_fault f)
{
	return w->faults && w->set.chance[f] != 0 && world_below(w, 1000) < w->set.chance[f];
}

void world_met(struct world *w, enum sim_fault f, const char *node, uint64_t gen)
{
	const struct sim_row *r = sim_journal_row(w->journal, node, gen);

	w->totals->met[f][r != NULL ? r->n.state : NODE_NSTATES]++;
	SIM_TRACE(w, "  fault: %s (%s)", sim_faults[f].name, node);
}

/* --- what this seed is like --------------------------------------------------------------------
 */

static void choose_pools(struct world *w)
{
	static const char *const names[] = {"alpha", "beta"};
	static const char *const types[] = {"h100", "a100"};
	uint32_t left = (uint32_t)world_between(w, 4, SIM_NODES_DICE);

	w->set.npools = world_one_in(w, 3) ? 2 : 1;
	for (size_t i = 0; i < w->set.npools; i++) {
		struct sim_pool *p = &w->set.pools[i];
		uint32_t n = i + 1 < w->set.npools ? left / 2 : left;

		left -= n;
		p->nnodes = n;
		(void)snprintf(p->name, sizeof(p->name), "%s", names[i]);
		(void)snprintf(p->type, sizeof(p->type), "%s", types[i]);
		(void)snprintf(p->nodes, sizeof(p->nodes), "%c[1-%u]", 'c' + (int)i, (unsigned)n);
		p->ladder = world_one_in(w, 2);
		p->price = world_between(w, 1, 100) * 1000000000;
		p->max_nodes = world_one_in(w, 3) ? 1 + world_below(w, n) : n;
		p->max_rate =
			world_one_in(w, 3) ? p->price * (1 + world_below(w, n)) + 5 : p->price * n;
	}
}

/* Swarm: a random half of the faults, each with its own rate. */
static void choose_fault(struct world *w, enum sim_fault f)
{
	if (world_one_in(w, 2))
		w->set.chance[f] = 1 + sim_faults[f].per_mille * (1 + world_below(w, 4)) / 4;
}

static void choose_faults(struct world *w)
{
	for (int f = 0; f < SIM_NEVER_CLAIMS; f++)
		choose_fault(w, (enum sim_fault)f);
}

static void choose(struct world *w)
{
	struct sim_setting *s = &w->set;

	s->tokens = !world_one_in(w, 3);
	s->gangs = world_one_in(w, 2);
	s->old_slurm = world_one_in(w, 3);
	s->settings = w->seed % 2 == 1; /* choose_warm() needs them */
	s->instance_ids = !s->old_slurm && world_one_in(w, 2);
	s->create_max = world_one_in(w, 2) ? 1000 : 1 + world_below(w, 3);
	s->delete_max = world_one_in(w, 2) ? 1000 : 1 + world_below(w, 3);
	s->page = world_one_in(w, 2) ? 1000 : 1 + world_below(w, 4);
	s->settle_ms = world_between(w, 5, 60) * SIM_SECOND;
	s->list_ms = world_between(w, 10, 30) * SIM_SECOND;
	s->timeout_ms = world_between(w, 5, 30) * SIM_SECOND;
	s->linger_ms = world_one_in(w, 2) ? world_between(w, 10, 120) * SIM_SECOND : 0;
	s->suspend_s = world_between(w, 20, 90);
	s->suspend_timeout_s = world_between(w, 5, 30);
	s->resume_timeout_s = world_between(w, 240, 400);
	s->boot_ms = (s->resume_timeout_s - world_between(w, 10, 60)) * SIM_SECOND;
	s->requeue_s = world_between(w, 6, 121);
	s->slice = world_one_in(w, 2) ? 1 + world_below(w, 3) : 500;
	s->slurmd_timeout_s = world_between(w, 30, 120);
	s->concurrency = (uint32_t)world_between(w, 2, 16);
	s->rate = world_one_in(w, 2) ? 0 : (uint32_t)world_between(w, 2, 10);
	s->prolog = world_one_in(w, 2);
	s->afresh = world_one_in(w, 2);
	s->reuse = world_one_in(w, 2);
	choose_pools(w);
	s->twins = s->pools[0].ladder && world_one_in(w, 2);
	s->claims = w->seed % 3 == 0;
	s->polled = w->seed % 5 == 0;
	choose_faults(w);
	if (s->twins) /* what each of two lists may lack, after its last one, is not told apart */
		s->chance[SIM_LIST_OTHER] = s->chance[SIM_LIST_EMPTY] = s->chance[SIM_FLAP] = 0;
	s->checkpoint = world_one_in(w, 2);
	s->rebalance = world_one_in(w, 2);
	s->wait_ms = world_between(w, 1, 20) * SIM_MINUTE;
	if (s->chance[SIM_RESTORED] != 0) /* both at once could give a number out twice (ADR 5) */
		s->chance[SIM_CLOCK_JUMP] = 0;
	/* A real one is known for longer than clocks are wrong by. */
	s->token_ms = s->chance[SIM_CLOCK_JUMP] != 0 || world_one_in(w, 2) ? 24 * 60 * SIM_MINUTE
									   : SIM_TOKEN_MS;
}

/* Nodes that stay up without a job.  By dice of its own, so that the other worlds stay as they are
 * without it. */
static void choose_warm(struct world *w)
{
	uint64_t rng = w->rng;

	if (w->seed % 4 != 3)
		return;
	w->set.warm = true;
	w->set.fixed = w->set.old_slurm || world_one_in(w, 4);
	for (size_t i = 0; i < w->set.npools; i++) {
		struct sim_pool *p = &w->set.pools[i];

		p->warm = world_below(w, (p->max_nodes < p->nnodes ? p->max_nodes : p->nnodes) + 1);
		if (!w->set.fixed && world_one_in(w, 2))
			p->quantum_ms = world_between(w, 5, 30) * SIM_MINUTE;
	}
	w->rng = rng;
}

/* Likewise. */
static void choose_claims(struct world *w)
{
	static const int attests[] = {CONF_ATTEST_ADDRESS, CONF_ATTEST_CALLBACK, CONF_ATTEST_AWS};
	uint64_t rng = w->rng;

	w->set.bootstrap = w->set.claims;
	if (!w->set.bootstrap)
		return;
	w->set.wrap = world_one_in(w, 2);
	w->set.attest = attests[world_below(w, 3)];
	w->set.check_address = world_one_in(w, 2);
	w->set.claim_ms = world_one_in(w, 2) ? world_between(w, 150, 300) * SIM_SECOND : 0;
	for (int f = SIM_NEVER_CLAIMS; f < SIM_LIST_TWICE; f++)
		choose_fault(w, (enum sim_fault)f);
	/* After that a node has two minutes to say that it is one, which takes more than one try if
	 * those get lost. */
	if (w->set.chance[SIM_RESTORED] != 0)
		w->set.chance[SIM_DOOR_LOST] = w->set.chance[SIM_DOOR_REPLY_LOST] = 0;
	w->rng = rng;
}

/* One in six, neither of those that claim nor of those with fabrics: a token is for one machine. */
static void choose_vouchers(struct world *w)
{
	static const enum sim_fault faults[] = {SIM_THIEF, SIM_STEP_FAILS, SIM_STORE_AWAY,
						SIM_STORE_SLOW, SIM_KEYS_CHANGED};
	uint64_t rng = w->rng;

	w->set.vouchers = w->seed % 12 == 7 || w->seed % 12 == 10;
	for (size_t i = 0; w->set.vouchers && i < sizeof(faults) / sizeof(faults[0]); i++)
		choose_fault(w, faults[i]);
	w->rng = rng;
}

/* Likewise. */
static void choose_own(struct world *w)
{
	uint64_t rng = w->rng;

	w->rng = ~rng; /* nor by those of the others again */
	for (int f = SIM_LIST_TWICE; f < SIM_FROZEN; f++)
		choose_fault(w, (enum sim_fault)f);
	/* What comes in several calls is not bought together, and has no fabric between it. */
	if (w->set.fabric)
		w->set.chance[SIM_CALLS_SPLIT] = 0;
	w->set.unreachable_ms = world_between(w, 20, 90) * SIM_SECOND;
	w->rng = rng;
}

const struct sim_pool *world_pool_of(const struct world *w, const char *node)
{
	for (size_t i = 0; i < w->set.npools; i++)
		if (w->set.pools[i].nodes[0] == node[0])
			return &w->set.pools[i];
	return NULL;
}

void world_init(struct world *w, uint64_t seed, struct sim_totals *t, bool tracing)
{
	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->rng = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
	w->now = SIM_BEGIN_MS;
	w->faults = true;
	w->tracing = tracing;
	w->totals = t;
	choose(w);
	choose_warm(w);
	sim_fabric_choose(w);
	choose_claims(w);
	choose_vouchers(w);
	sim_limit_choose(w);
	choose_own(w);
	sim_climate_choose(w);
	sim_freeze_choose(w);
	sim_place_choose(w);
	sim_absent_choose(w);
	sim_slow_choose(w);
	sim_spool_choose(w);
	sim_stock_choose(w);
	sim_tags_choose(w);
	sim_price_choose(w);
	sim_lapse_choose(w);
	sim_het_choose(w);
	sim_rotate_choose(w);
	sim_dynamic_choose(w);
	sim_topology_choose(w);
	w->set.images = seed % 4 == 3;
	w->set.budgets = seed % 3 == 1; /* no dice: other seeds go on as before */
	w->set.ladder = seed % 12 == 4;
	if (w->set.budgets)
		w->report_zone = zone_new("UTC", NULL);
	sim_boot_init(w);
	(void)snprintf(w->url, sizeof(w->url), "http://cloud.test");
	(void)snprintf(w->twin_url, sizeof(w->twin_url), "http://twins.test");
	w->loop = sim_loop_new(w);
	w->http = sim_http_new(w);
	w->proc = sim_proc_new(w);
	w->journal = sim_journal_new(w);
	w->spool = sim_spool_new(w);
	w->cloud = sim_cloud_new(w);
	w->ctld = sim_ctld_new(w);
	sim_admin_start(w);
	sim_life_init(w);
	sim_freeze_start(w);
	sim_absent_start(w);
	sim_image_start(w);
	sim_slow_start(w);
}

void world_fini(struct world *w)
{
	if (w->engine != NULL)
		life_end(w);
	sim_ctld_free(w->ctld);
	sim_cloud_free(w->cloud);
	sim_journal_free(w->journal);
	sim_spool_free(w->spool);
	sim_proc_free(w->proc);
	sim_http_free(w->http);
	sim_loop_free(w->loop);
	sim_boot_fini(w);
	zone_free(w->report_zone);
	free(w->heap);
}

/* --- time ------------------------------------------------------------------------------------- */

static bool before(const struct task *a, const struct task *b)
{
	return a->at < b->at || (a->at == b->at && a->seq < b->seq);
}

void world_at(struct world *w, int64_t at, task_fn fn, void *ctx, uint64_t arg)
{
	struct task t = {at > w->now ? at : w->now, w->task_seq++, fn, ctx, arg};
	size_t i = w->ntasks++;

	if (w->ntasks > w->cap) {
		w->cap = w->cap == 0 ? 256 : 2 * w->cap;
		w->heap = mem_realloc(w->heap, w->cap * sizeof(*w->heap));
	}
	for (; i > 0 && before(&t, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = t;
}

static struct task pop(struct world *w)
{
	struct task top = w->heap[0], last = w->heap[--w->ntasks];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < w->ntasks) {
		if (child + 1 < w->ntasks && before(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!before(&w->heap[child], &last))
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = last;
	return top;
}

static void advance(struct world *w, int64_t to)
{
	if (to > w->now) {
		w->now = to;
		w->same_ms = 0;
	} else if (++w->same_ms > SIM_SAME_MS_MAX) {
		world_fail(w, "I25: more than %d steps at one instant", SIM_SAME_MS_MAX);
	}
	if (w->now / SIM_MINUTE != w->minute) {
		w->minute = w->now / SIM_MINUTE;
		if (w->requests > w->totals->peak_requests)
			w->totals->peak_requests = w->requests;
		if (w->commands > w->totals->peak_commands)
			w->totals->peak_commands = w->commands;
		w->requests = 0;
		w->commands = 0;
	}
}

/* false: none is due by then. */
static bool run_task(struct world *w, int64_t by)
{
	struct task t;

	if (w->ntasks == 0 || w->heap[0].at > by)
		return false;
	t = pop(w);
	advance(w, t.at);
	t.fn(w, t.ctx, t.arg);
	return true;
}

static void count_step(struct world *w)
{
	w->step++;
	w->totals->steps++;
}

void world_stand(struct world *w)
{
	w->standing = true;
	while (run_task(w, w->frozen_until - 1)) /* what is held comes then, and after this */
		count_step(w);
	advance(w, w->frozen_until);
	w->standing = false;
}

bool world_step(struct world *w)
{
	int64_t timer = sim_loop_next(w->loop);
	bool idle = timer > w->now;

	if (timer < w->frozen_until)
		timer = w->frozen_until;
	count_step(w);
	w->turn++;
	if (idle)
		w->idle_turn = w->turn;
	if (!run_task(w, timer)) {
		if (timer == INT64_MAX)
			return false;
		advance(w, timer);
		sim_loop_fire(w->loop);
	}
	if (w->crashed && w->engine != NULL)
		life_end(w);
	return true;
}

/* --- crashes, failures, trace ------------------------------------------------------------------
 */

bool world_alive(struct world *w)
{
	if (!w->crashed && w->engine != NULL && world_fault(w, SIM_CRASH)) {
		SIM_TRACE(w, "*** crash");
		w->crashed = true;
		sim_journal_met_all(w->journal, SIM_CRASH);
	}
	return !w->crashed;
}

void world_fail(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->failed)
		return;
	w->failed = true;
	va_start(ap, fmt);
	(void)vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
	SIM_TRACE(w, "!!! %s", w->why);
}

void world_trace(struct world *w, const char *fmt, ...)
{
	char *line = w->trace[w->trace_n++ % SIM_TRACE_LINES];
	int64_t t = w->now - SIM_BEGIN_MS;
	int n = snprintf(line, SIM_TRACE_WIDTH, "%7lld.%03lld ", (long long)(t / 1000),
			 (long long)(t % 1000));
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line + n, SIM_TRACE_WIDTH - (size_t)n, fmt, ap);
	va_end(ap);
	if (w->echo)
		(void)fprintf(stderr, "%s\n", line);
}
