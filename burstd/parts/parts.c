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

/* In the order of the turn; where two may not change places, the reason stands there. */
static const struct engine_part parts[] = {
	{
		/* Rows of the journal name these pools and providers: nothing is made before. */
		.name = "removed sections",
		.complete = off_keep,
	},
	{
		/* Before all that keep something there. */
		.name = "what parts keep",
		.at = {[PART_INIT] = parts_init},
	},
	{
		/* Before the clouds: what they say of offers is kept for each pool. */
		.name = "pools",
		.at = {[PART_INIT] = pool_init,
		       [PART_START] = pool_start,
		       [PART_RELOAD] = pool_reload,
		       [PART_FREE] = pool_free},
		.on_trial = pool_is_probed,
	},
	{
		.name = "clouds",
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
		.name = "claims",
		/* Freed before secrets: it cancels what it waits for there. */
		.at = {[PART_FREE] = claims_free},
		.open = claims_open,
		.may_use = claims_may_use,
		.keyless = claims_keyless,
		.row_in_tx = claims_row,
	},
	{
		/* After claims, which set a provider off whose roots are no good: its offers do not
		 * matter then. */
		.name = "offers of clouds",
		.open = clouds_check,
	},
	{
		/* Before vouchers and rotation, which open what they need there; its turn is after
		 * theirs. */
		.name = "secrets",
		.at = {[PART_RELOAD] = secrets_hurry},
		.open = secrets_open,
		.may_reload = secrets_may_replace,
	},
	{
		/* The last that may refuse a reload: it has changed something when it does not. */
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
		.name = "door",
		/* Nodes wait for its answers: they go out before all requests. */
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

	/* What has come in: what is to be bought goes out before answers are taken in, and those
	 * before nodes that are up; what is to be deleted before both. */
	{
		.name = "answers to creates",
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
		/* Before places: an answer ends "away" before it closes or opens a place. */
		.name = "providers that are away",
		.heard = away_reply,
	},
	{
		.name = "places",
		.heard = place_heard,
		.quotes = place_quotes,
	},
	{
		.name = "notices",
		.noticed = notice_take,
		.at = {[PART_RUN] = notice_run, [PART_FREE] = notice_free},
	},
	{
		/* Before calls: a node whose time is over counts for no job any more. */
		.name = "deadlines",
		.at = {[PART_RUN] = deadline_run},
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
		.at = {[PART_RUN] = report_run, [PART_FREE] = report_free},
		.next_ms = report_next_ms,
	},
	{
		/* Before creates: a delete saves money (limit.h). */
		.name = "deletes",
		.at = {[PART_RUN] = remove_run},
	},
	{
		.name = "creates",
		.needs = launch_needs,
		.at = {[PART_START] = place_write_back,
		       [PART_RUN] = launch_run,
		       [PART_FREE] = launch_free},
	},
	{
		/* After creates: what could not be bought in this turn is refused in it. */
		.name = "refusals",
		.at = {[PART_RUN] = refuse_run, [PART_RELOAD] = refuse_anew},
		.offers = refuse_offers,
		.reads = JOBS_FOR_REFUSE,
		.squeue_says = refuse_jobs,
	},
	{
		/* After refusals, which make a job wait. */
		.name = "jobs that wait",
		.at = {[PART_INIT] = postpone_init,
		       [PART_RELOAD] = postpone_anew,
		       [PART_RUN] = postpone_run,
		       [PART_FREE] = postpone_free},
		.clock_set = postpone_clock_set,
		.offers = postpone_offers,
		.next_ms = postpone_next_ms,
	},
	{
		/* After all above, which may order a node down. */
		.name = "jobs that lose a node",
		.at = {[PART_INIT] = rescue_init,
		       [PART_RUN] = rescue_run,
		       [PART_FREE] = rescue_free},
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
		.name = "jobs that wait for their nodes",
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
		.name = "claims: their turn",
		.at = {[PART_RUN] = claims_run},
		.next_ms = claims_next_ms,
	},
	{
		.name = "vouchers: their turn",
		.at = {[PART_RUN] = vouchers_run, [PART_FREE] = vouchers_free},
		.next_ms = vouchers_next_ms,
	},
	{
		.name = "rotation: its turn",
		.at = {[PART_RUN] = rotate_run, [PART_FREE] = rotate_free},
		.next_ms = rotate_next_ms,
	},
	{
		/* After those that want keys: it asks for them in this turn. */
		.name = "secrets: their turn",
		.at = {[PART_RUN] = secrets_run, [PART_FREE] = secrets_free},
		.next_ms = secrets_next_ms,
	},
	{
		/* After creates, with which most of them go out. */
		.name = "nodes that are wanted",
		.at = {[PART_RUN] = engine_write_fresh},
	},
	{
		/* After all that may end a job: its srun is told before. */
		.name = "srun and salloc",
		.at = {[PART_INIT] = srun_init, [PART_RUN] = srun_run, [PART_FREE] = srun_free},
		.next_ms = srun_next_ms,
	},
	{
		.name = "audit",
		.record = audit_order,
	},

	/* What goes out, behind the answers of the door. */
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
