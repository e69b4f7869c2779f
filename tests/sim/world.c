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

/* What a fault cannot meet, or only by a chain of accidents: `make sim` does not ask for it. */
#define W(s) (1u << NODE_##s)
enum {
	NO_ROW = 1u << NODE_NSTATES,
	NODES = NO_ROW - 1,
	OTHER_THAN_CREATE = (NODES & ~(W(CREATING) | W(INDOUBT))) | NO_ROW,
	OTHER_THAN_BOOT = OTHER_THAN_CREATE & ~W(BOOTING),
	OTHER_THAN_DELETE = (NODES & ~W(DELETING)) | NO_ROW,
	OTHER_THAN_UP = (NODES & ~(W(BOOTING) | W(READY))) | NO_ROW,
};
static const char why_cr[] =
	"a create is about what is being created; the rest of a repeat seldom matters";
static const char why_rows[] = "it is about rows: what has none is not counted";
static const char why_one[] = "it is not about a node";
static const char why_del[] = "a delete is about what is being deleted";
static const char why_end[] =
	"only what has ended is shown so; a row seldom says otherwise by then";
static const char why_dr[] = "a node drains for seconds: it would take two accidents at once";
static const char why_list[] =
	"what is not sent for or is gone has no instance, but by two accidents";
static const char why_boot[] = "a node is booting then, or its create is in doubt";
static const char why_up[] = "only what slurmctld has up; our row is late at most";
static const char why_hook[] = "what is bought is sent for at once, and hooks come before or after";
static const char why_idle[] = "only what no job has is deleted, so it is not on its way";
static const char why_claim[] = "it is about a claim, or the way to it: counted once";
static const char why_share[] = "the first of them has it, so it was sent for";
static const char why_tags[] =
	"it is about what burstd knows by its id; seldom of what is shortly so";
static const char why_off[] = "only what slurmctld has off is powered up; our row is late at most";

const struct sim_fault_info sim_faults[SIM_NFAULTS] = {
	[SIM_CREATE_REPLY_LOST] = {"F1 create's reply lost", 700, OTHER_THAN_BOOT, why_cr},
	[SIM_CRASH] = {"F2 F54 crash", 8, NO_ROW, why_rows},
	[SIM_FAIL_THEN_SUCCESS] = {"F3 success after 500", 100, OTHER_THAN_CREATE, why_cr},
	[SIM_REFUSED_YET_MADE] = {"F3 success after refusal", 150, OTHER_THAN_CREATE, why_cr},
	[SIM_PARTIAL] = {"F4 partial create", 250, OTHER_THAN_CREATE, why_cr},
	[SIM_THROTTLED] = {"F7 throttled", 100, NO_ROW, why_rows},
	[SIM_CAPACITY] = {"F8 capacity", 150, OTHER_THAN_CREATE, why_cr},
	[SIM_QUOTA] = {"F9 quota", 120, OTHER_THAN_CREATE, why_cr},
	[SIM_LATE_VISIBLE] = {"F12 visible late", 500, OTHER_THAN_CREATE, why_cr},
	[SIM_NO_ADDRESS] = {"F13 no address yet", 500, OTHER_THAN_CREATE, why_cr},
	[SIM_STALE] = {"F14 stale: ended shown running", 300,
		       W(WANTED) | W(CREATING) | W(INDOUBT) | W(BOOTING) | W(READY) | W(DRAINING) |
			       W(QUARANTINED),
		       why_end},
	[SIM_FLAP] = {"F15 flapping", 150, W(WANTED) | W(GONE), why_list},
	[SIM_LIST_BROKEN] = {"F16 broken list", 100, NO_ROW, why_rows},
	[SIM_LIST_EMPTY] = {"F17 empty list", 150, W(WANTED) | W(DRAINING) | W(GONE) | NO_ROW,
			    why_list},
	[SIM_LIST_OTHER] = {"F18 another account's list", 20, W(WANTED) | W(DRAINING) | W(GONE),
			    why_list},
	[SIM_UNKNOWN_STATE] = {"F19 unknown state", 150, W(WANTED) | W(GONE), why_list},
	[SIM_DELETE_404] = {"F20 delete: 404 early", 700, OTHER_THAN_DELETE, why_del},
	[SIM_DELETE_IGNORED] = {"F21 delete: 200, runs on", 200, OTHER_THAN_DELETE, why_del},
	[SIM_DELETE_DENIED] = {"F22 delete refused", 150, OTHER_THAN_DELETE, why_del},
	[SIM_STUCK_STOPPING] = {"F23 stuck stopping", 100, OTHER_THAN_DELETE, why_del},
	[SIM_DELETE_5XX] = {"F24 delete: 500", 150, OTHER_THAN_DELETE, why_del},
	[SIM_DELETE_REPLY_LOST] = {"F1 delete's reply lost", 150, OTHER_THAN_DELETE, why_del},
	[SIM_NOT_SENT] = {"F26 not sent", 100, NO_ROW, why_rows},
	[SIM_GARBAGE] = {"F30 garbage", 60, NO_ROW, why_rows},
	[SIM_NEVER_BOOTS] = {"F34 never boots", 200, OTHER_THAN_BOOT, why_boot},
	[SIM_SLOW_BOOT] = {"F35 boots late", 250, OTHER_THAN_BOOT, why_boot},
	[SIM_AUTH] = {"F33 credentials refused", 3, NO_ROW, why_rows},
	[SIM_MASS_RECLAIM] = {"F42 mass reclaim", 4,
			      W(WANTED) | W(CREATING) | W(INDOUBT) | W(DRAINING) | W(GONE) |
				      W(QUARANTINED) | NO_ROW,
			      why_list},
	[SIM_RECLAIM] = {"F41 reclaimed", 350,
			 W(WANTED) | W(CREATING) | W(INDOUBT) | W(DRAINING) | W(GONE) |
				 W(QUARANTINED) | NO_ROW,
			 why_list},
	[SIM_ENDED] = {"F41 F10 ended", 400,
		       W(WANTED) | W(CREATING) | W(INDOUBT) | W(DRAINING) | W(GONE) |
			       W(QUARANTINED) | NO_ROW,
		       why_list},
	[SIM_NOTICE] = {"F41 notice", 700,
			W(WANTED) | W(CREATING) | W(INDOUBT) | W(GONE) | W(QUARANTINED) | NO_ROW,
			why_list},
	[SIM_FALSE_NOTICE] = {"F41 notice of nothing", 60,
			      W(WANTED) | W(CREATING) | W(INDOUBT) | W(QUARANTINED), why_list},
	[SIM_HOOK_LOST] = {"F45 hook lost", 300, W(WANTED), why_hook},
	[SIM_HOOK_TWICE] = {"F46 hook twice", 300, W(WANTED), why_hook},
	[SIM_HOOK_ORDER] = {"F47 hooks out of order", 300, W(WANTED), why_hook},
	[SIM_HOOK_LATE] = {"F47 hook late", 150, W(WANTED), why_hook},
	[SIM_HOOK_FALSE] = {"F46 hook for nothing", 300, NODES & ~W(GONE), why_hook},
	[SIM_NO_RESUME_FILE] = {"no resume file", 400,
				W(WANTED) | W(CREATING) | W(BOOTING) | W(DRAINING), why_hook},
	[SIM_CTLD_DOWN] = {"F48 slurmctld down", 3, W(DRAINING), why_dr},
	[SIM_CTLD_DEAF] = {"F48 slurmctld is deaf", 2, W(DRAINING), why_dr},
	[SIM_SCONTROL_FAILS] = {"F49 scontrol fails", 150, NODES, why_one},
	[SIM_SCONTROL_HANGS] = {"F49 scontrol times out", 60, NODES, why_one},
	[SIM_NODE_DELETED] = {"F51 node deleted", 700,
			      W(WANTED) | W(CREATING) | W(INDOUBT) | W(DRAINING) | W(QUARANTINED),
			      why_idle},
	[SIM_JOB_CANCELLED] = {"F53 job cancelled", 300, W(DRAINING) | W(QUARANTINED), why_dr},
	[SIM_COMMIT_FAILS] = {"F55 commit fails", 8, NODES, why_one},
	[SIM_DISK_FULL] = {"F55 disk full", 20, W(DRAINING) | NO_ROW, why_dr},
	[SIM_CLOCK_JUMP] = {"F57 clock jumps", 150, NODES, why_one},
	[SIM_CLOCK_SET] = {"F57 clock set", 100, NODES, why_one},
	[SIM_RESTORED] = {"F58 journal restored", 700, W(DRAINING) | NO_ROW, why_dr},
	[SIM_CONF_CHANGED] = {"conf changed, restart", 500, W(DRAINING) | NO_ROW, why_dr},
	[SIM_RELOADED] = {"conf reloaded", 400, W(DRAINING) | NO_ROW, why_dr},
	[SIM_RELOAD_REFUSED] = {"reload that needs a restart", 300,
				W(DRAINING) | W(QUARANTINED) | NO_ROW, why_dr},
	[SIM_WRONG_NODE] = {"F36 registers wrong", 700, OTHER_THAN_BOOT, why_boot},
	[SIM_WRONG_IMAGE] = {"F36 wrong image", 150,
			     W(WANTED) | W(READY) | W(DRAINING) | W(GONE) | W(QUARANTINED) | NO_ROW,
			     why_boot},
	[SIM_SLURMD_DIES] = {"slurmd dies", 60, OTHER_THAN_UP, why_up},
	[SIM_ADMIN_PAUSES] = {"pool paused or resumed", 30, NODES, why_one},
	[SIM_ADMIN_ORDERS] = {"drain or terminate", 40, W(DRAINING), why_dr},
	[SIM_ADMIN_DRAINS] = {"F51 drained or undrained", 90, W(DRAINING), why_dr},
	[SIM_ADMIN_DOWNS] = {"F51 set down or resumed", 60, W(DRAINING) | W(QUARANTINED), why_dr},
	[SIM_ADMIN_POWERS_UP] = {"F51 powered up", 200,
				 W(WANTED) | W(CREATING) | W(BOOTING) | W(DRAINING), why_off},
	[SIM_ADMIN_REBOOTS] = {"F51 rebooted", 250, OTHER_THAN_UP, why_up},
	[SIM_NEVER_CLAIMS] = {"never claims", 100, NODES, why_claim},
	[SIM_THIEF] = {"a thief", 400, NODES, why_claim},
	[SIM_DOOR_LOST] = {"request of a node lost", 80, NODES, why_claim},
	[SIM_DOOR_REPLY_LOST] = {"answer to a node lost", 80, NODES, why_claim},
	[SIM_EARLY] = {"ready before it confirmed", 300, NODES, why_claim},
	[SIM_STEP_FAILS] = {"node-init fails", 100, NODES, why_claim},
	[SIM_ALARM] = {"alarm of a node", 100, NODES, why_claim},
	[SIM_MISUSE] = {"node speaks for another", 200, NODES, why_claim},
	[SIM_MUNGE_AWAY] = {"munged away", 150, NODES, why_claim},
	[SIM_MUNGE_WRONG] = {"wrong munge key", 150, NODES, why_claim},
	[SIM_STORE_AWAY] = {"secret store sealed", 60, NODES, why_claim},
	[SIM_STORE_SLOW] = {"secret store is silent", 100, NODES, why_claim},
	[SIM_KEYS_CHANGED] = {"keys in the store changed", 60, NODES, why_claim},
	[SIM_LIST_TWICE] = {"F16 a row twice", 120, W(WANTED) | W(GONE), why_list},
	[SIM_SHARED] = {"jobs share a node", 1000, W(WANTED) | W(QUARANTINED), why_share},
	[SIM_COMPLETES] = {"job completes slowly", 1000, OTHER_THAN_UP, why_up},
	[SIM_CTLD_FORGETS] = {"F50 slurmctld forgets", 3, W(DRAINING) | W(QUARANTINED), why_dr},
	[SIM_CALLS_SPLIT] = {"F47 calls are split", 1000, NODES, why_one},
	[SIM_ARRAYS] = {"array", 1000, NODES, why_one},
	[SIM_NO_REQUEUE] = {"job is not requeued", 300, NODES, why_one},
	[SIM_AWAY] = {"F26 provider away", 4, NO_ROW, why_rows},
	[SIM_FROZEN] = {"F54 stands still", 300, W(DRAINING), why_dr},
	[SIM_PLACE_FAILS] = {"F26 purchases fail", 60, OTHER_THAN_CREATE, why_cr},
	[SIM_DISK_SLOW] = {"F55 disk slow", 300, W(DRAINING) | NO_ROW, why_dr},
	[SIM_ABSENT] = {"provider off", 1000, W(DRAINING) | W(QUARANTINED) | NO_ROW, why_dr},
	[SIM_FULL] = {"F8 place is full", 1000, OTHER_THAN_CREATE, why_cr},
	[SIM_NO_QUOTA] = {"F9 quota is used up", 1000, OTHER_THAN_CREATE, why_cr},
	[SIM_TAGS_LATE] = {"F13 no tags yet", 500, OTHER_THAN_BOOT, why_boot},
	[SIM_TAGS_EDITED] = {"F13 tags edited", 40,
			     NO_ROW | W(WANTED) | W(CREATING) | W(INDOUBT) | W(DRAINING) | W(GONE) |
				     W(QUARANTINED),
			     why_tags},
	[SIM_PRICE_MOVES] = {"prices move", 300, NODES, why_one},
	[SIM_OFFER_GONE] = {"F8 offer is gone", 200, OTHER_THAN_CREATE | W(INDOUBT), why_cr},
	[SIM_CTLD_REVERTS] = {"F50 slurmctld reverts", 100,
			      (NODES & ~(W(READY) | W(DRAINING))) | NO_ROW, why_up},
	[SIM_SPOOL_DEAF] = {"F47 the spool is not watched", 100, 0, "calls come at any time"},
	[SIM_SPOOL_STAYS] = {"F55 a call stays", 100, 0, "calls come at any time"},
	[SIM_STILLBORN] = {"F10 fails once accepted", 500, OTHER_THAN_BOOT, why_boot},
};

#undef W

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
