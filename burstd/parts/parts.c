#include "parts/parts.h"

#include "base/mem.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "diff/diff.h"
#include "jobs/jobs.h"
#include "keys/keys.h"
#include "keys/vouchers.h"

void parts_init(struct engine *e)
{
	e->cloud = mem_zalloc(sizeof(*e->cloud));
	e->jobs = mem_zalloc(sizeof(*e->jobs));
	e->keys = mem_zalloc(sizeof(*e->keys));
	e->buy = mem_zalloc(sizeof(*e->buy));
	e->diff = mem_zalloc(sizeof(*e->diff));
}

/* The parts, in the order of the turn.  `before` names the rows that must come after this one; the
 * comment above it says why. */
static const struct engine_part parts[] = {
	{
		/* Before pools and clouds: it makes removed sections that the journal names. */
		.name = "removed sections",
		.before = {"pools"},
		.complete = off_keep,
	},
	{
		/* Before all parts, which keep their state there. */
		.name = "what parts keep",
		.before = {"pools", "clouds"},
		.at = {[PART_INIT] = parts_init},
	},
	{
		/* Before the clouds: pools keep what clouds say about offers. */
		.name = "pools",
		.before = {"clouds"},
		.at = {[PART_INIT] = pool_init,
		       [PART_START] = pool_start,
		       [PART_RELOAD] = pool_reload,
		       [PART_FREE] = pool_free},
		.on_trial = pool_is_probed,
	},
	{
		/* Before vouchers: see there. */
		.name = "clouds",
		.before = {"vouchers"},
		.at = {[PART_INIT] = clouds_init,
		       [PART_START] = clouds_start,
		       [PART_RELOAD] = clouds_reload,
		       [PART_PASS] = cloud_fail_unsent,
		       [PART_TAKE] = clouds_take,
		       [PART_STOP] = cloud_cancel_all,
		       [PART_FREE] = clouds_free},
		.open = clouds_open,
		.limits = clouds_limits,
		.may_use = fabric_may_use,
		.may_reload = fabric_check,
		.next_ms = clouds_next_ms,
	},
	{
		/* Before the offers of clouds: it switches off a provider whose roots are no good,
		 * and the offers of that do not matter.  It is freed before secrets, where it
		 * cancels what it waits for. */
		.name = "claims",
		.before = {"quotes of clouds", "secrets: their turn"},
		.at = {[PART_FREE] = claims_free},
		.open = claims_open,
		.may_use = claims_may_use,
		.keyless = claims_keyless,
		.row_in_tx = claims_row,
	},
	{
		.name = "quotes of clouds",
		.open = clouds_check,
	},
	{
		/* Before vouchers and rotation, which open what they need there. */
		.name = "secrets",
		.before = {"vouchers", "rotation"},
		.at = {[PART_RELOAD] = secrets_hurry},
		.open = secrets_open,
		.may_reload = secrets_may_replace,
	},
	{
		/* After all others that may refuse a reload: to accept one changes something. */
		.name = "vouchers",
		.open = vouchers_open,
		.keyless = vouchers_keyless,
		.may_reload = vouchers_reload,
		.posted = vouchers_posted,
		.row_in_tx = vouchers_row,
	},
	{
		.name = "rotation",
		.open = rotate_load,
	},
	{
		/* Before all requests go out: nodes wait for the answers. */
		.name = "door",
		.before = {"requests to clouds", "slurmctld"},
		.at = {[PART_RELOAD] = door_reload,
		       [PART_SEND] = door_run,
		       [PART_FREE] = door_free},
		.open = door_open,
		.next_ms = node_init_next_ms,
	},
	{
		.name = "journal",
		.open = restore_open,
	},

	{
		/* Before nodes that came up: an instance without an address in the journal is more
		 * urgent than a node that works already. */
		.name = "answers to creates",
		.before = {"nodes that came up"},
		.at = {[PART_INIT] = launch_init, [PART_TAKE] = launch_take},
		.next_ms = launch_next_ms,
	},
	{
		.name = "nodes that came up",
		.at = {[PART_TAKE] = registered_run, [PART_FREE] = registered_free},
		.next_ms = registered_next_ms,
	},

	{
		.name = "inventory",
		.listed = inventory_take,
	},
	{
		.name = "what follows from a row",
		.row_durable = follow_row,
	},
	{
		/* Before places: an answer ends "away" before it makes a place cool down or ready.
		 */
		.name = "providers that are away",
		.before = {"places"},
		.heard = away_reply,
	},
	{
		.name = "places",
		.heard = place_heard,
		.quoted = place_quotes,
	},
	{
		.name = "notices",
		.noticed = notice_take,
		.at = {[PART_RUN] = notice_run, [PART_FREE] = notice_free},
	},
	{
		/* Before calls: a node whose time is over counts for no job any more. */
		.name = "deadlines",
		.before = {"calls"},
		.at = {[PART_RUN] = deadline_run},
	},
	{
		/* Before calls: they are acted on in the turn that reads them. */
		.name = "spool",
		.before = {"calls"},
		.at = {[PART_INIT] = intake_watch,
		       [PART_RUN] = intake_look,
		       [PART_FREE] = intake_unwatch},
		.next_ms = intake_look_next_ms,
	},
	{
		.name = "calls",
		.at = {[PART_INIT] = intake_init,
		       [PART_RUN] = intake_run,
		       [PART_FREE] = intake_free},
		.next_ms = intake_next_ms,
		.reads = JOBS_FOR_INTAKE,
		.squeue_begins = intake_asks,
		.squeue_says = intake_jobs,
	},
	{
		/* Before deletes: a broken host is reported before its machine is gone. */
		.name = "reports",
		.before = {"deletes"},
		.at = {[PART_RUN] = report_run, [PART_FREE] = report_free},
		.next_ms = report_next_ms,
	},
	{
		/* Before creates: a delete saves money, and has the slots first (limit.h). */
		.name = "deletes",
		.before = {"creates"},
		.at = {[PART_RUN] = remove_run},
	},
	{
		/* Before refusals, which refuse in this turn what could not be bought in it, and
		 * before "nodes that are wanted", of which most are written with their creates. */
		.name = "creates",
		.before = {"refusals", "nodes that are wanted"},
		.needs = launch_needs,
		.at = {[PART_START] = place_write_back,
		       [PART_RUN] = launch_run,
		       [PART_FREE] = launch_free},
	},
	{
		/* Before "jobs that wait": refusals make them wait; and before their srun is told
		 * why they end. */
		.name = "refusals",
		.before = {"jobs that wait", "jobs that lose a node", "srun and salloc"},
		.at = {[PART_RUN] = refuse_run, [PART_RELOAD] = refuse_anew},
		.repriced = refuse_quotes,
		.reads = JOBS_FOR_REFUSE,
		.squeue_says = refuse_jobs,
	},
	{
		.name = "jobs that wait",
		.at = {[PART_INIT] = postpone_init,
		       [PART_RELOAD] = postpone_anew,
		       [PART_RUN] = postpone_run},
		.clock_set = postpone_clock_set,
		.repriced = postpone_quotes,
		.next_ms = postpone_next_ms,
	},
	{
		/* After all that may order a node down; before srun is told why its job ends. */
		.name = "jobs that lose a node",
		.before = {"srun and salloc"},
		.at = {[PART_RUN] = rescue_run, [PART_FREE] = rescue_free},
		.next_ms = rescue_next_ms,
		.reads = JOBS_FOR_RESCUE,
		.squeue_says = rescue_jobs,
	},
	{
		.name = "checkpoints",
		.at = {[PART_RUN] = checkpoint_run, [PART_FREE] = checkpoint_free},
		.next_ms = checkpoint_next_ms,
	},
	{
		/* Before the table of jobs: a gate that closes still has its job there. */
		.name = "jobs that wait for their nodes",
		.before = {"jobs"},
		.at = {[PART_RUN] = gate_run, [PART_FREE] = gate_free},
		.reads = JOBS_FOR_GATE,
		.squeue_says = gate_jobs,
	},
	{
		.name = "jobs that are cancelled",
		.at = {[PART_INIT] = cancel_init, [PART_FREE] = cancel_free},
		.reads = JOBS_FOR_CANCEL,
		.squeue_begins = cancel_asks,
		.squeue_says = cancel_jobs,
	},
	{
		.name = "jobs",
		.at = {[PART_INIT] = job_init, [PART_FREE] = job_free},
	},
	{
		.name = "prerequisites",
		.at = {[PART_INIT] = prereq_init,
		       [PART_RUN] = prereq_run,
		       [PART_FREE] = prereq_free},
		.next_ms = prereq_next_ms,
	},
	{
		.name = "warm nodes",
		.at = {[PART_INIT] = warm_init,
		       [PART_RELOAD] = warm_hurry,
		       [PART_PAUSE] = warm_hurry,
		       [PART_RUN] = warm_run,
		       [PART_FREE] = warm_free},
		.next_ms = warm_next_ms,
		.settings = warm_config,
	},
	{
		/* Before the turn of secrets, as are vouchers and rotation: secrets asks in this
		 * turn for what they want. */
		.name = "claims: their turn",
		.before = {"secrets: their turn"},
		.at = {[PART_RUN] = claims_run},
		.next_ms = claims_next_ms,
	},
	{
		.name = "vouchers: their turn",
		.before = {"secrets: their turn"},
		.at = {[PART_RUN] = vouchers_run, [PART_FREE] = vouchers_free},
		.next_ms = vouchers_next_ms,
	},
	{
		.name = "rotation: its turn",
		.before = {"secrets: their turn"},
		.at = {[PART_RUN] = rotate_run, [PART_FREE] = rotate_free},
		.next_ms = rotate_next_ms,
	},
	{
		.name = "secrets: their turn",
		.at = {[PART_RUN] = secrets_run, [PART_FREE] = secrets_free},
		.next_ms = secrets_next_ms,
	},
	{
		.name = "nodes that are wanted",
		.before = {"files of calls"},
		.at = {[PART_RUN] = engine_write_fresh},
	},
	{
		/* Before the audit, which puts what it tells on record. */
		.name = "srun and salloc",
		.before = {"audit"},
		.at = {[PART_RUN] = srun_run},
		.next_ms = srun_next_ms,
	},
	{
		.name = "audit",
		.record = audit_order,
	},

	{
		/* After all commits of the turn, also that of "nodes that are wanted". */
		.name = "files of calls",
		.at = {[PART_SEND] = intake_forget},
	},
	/* Requests go out after the answers of the door. */
	{
		.name = "requests to clouds",
		.at = {[PART_SEND] = clouds_send},
	},
	{
		.name = "squeue",
		.at = {[PART_SEND] = jobs_run},
	},
	{
		.name = "squeue of one job",
		.at = {[PART_SEND] = query_run, [PART_FREE] = query_free},
	},
	{
		.name = "slurmctld",
		.at = {[PART_INIT] = slurmctld_init,
		       [PART_RELOAD] = slurmctld_reload,
		       [PART_SEND] = slurmctld_send,
		       [PART_STOP] = slurmctld_stop,
		       [PART_FREE] = observe_free},
		.next_ms = slurmctld_next_ms,
	},
};

struct engine_parts parts_all(void)
{
	return (struct engine_parts){parts, sizeof(parts) / sizeof(parts[0])};
}

void engine_reconcile(struct engine *e)
{
	e->poll.next_ms = engine_now(e);
	prereq_hurry(e);
	for (size_t i = 0; i < e->conf->nproviders; i++)
		e->cloud->all[i].list_next = e->cloud->all[i].quotes_next = engine_now(e);
	engine_turn(e);
}
