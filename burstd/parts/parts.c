#include "parts/parts.h"

#include "base/mem.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "diff/diff.h"
#include "jobs/jobs.h"
#include "keys/keys.h"
#include "keys/vouchers.h"
#include "money/money.h"

/* Make the memory of each directory of parts, empty. */
static void make_memory(struct engine *e)
{
	e->cloud = mem_zalloc(sizeof(*e->cloud));
	e->jobs = mem_zalloc(sizeof(*e->jobs));
	e->keys = mem_zalloc(sizeof(*e->keys));
	e->money = mem_zalloc(sizeof(*e->money));
	e->buy = mem_zalloc(sizeof(*e->buy));
	e->diff = mem_zalloc(sizeof(*e->diff));
}

const struct engine_part memory_part = {
	.name = "what parts keep",
	.at = {[PART_INIT] = make_memory},
};

/* The parts, in the order of the turn.  `before` names those that must come after this one; the
 * comment above it says why. */
static const struct part_row rows[] = {
	/* Before pools and clouds: it makes removed sections that the journal names. */
	{.part = &off_part, .before = {&pool_part}},
	/* Before all parts, which keep their state there. */
	{.part = &memory_part, .before = {&pool_part, &clouds_part, &book_part}},
	/* Before the journal, which it has prices of. */
	{.part = &book_part, .before = {&restore_part}},
	/* Before the clouds: pools keep what clouds say about offers. */
	{.part = &pool_part, .before = {&clouds_part}},
	/* Before vouchers, which have the last word on a reload. */
	{.part = &clouds_part, .before = {&vouchers_part}},
	/* Before the offers of clouds: it switches off a provider whose roots are no good, and
	 * the offers of that do not matter.  It is freed before secrets, where it cancels what it
	 * waits for. */
	{.part = &claims_part, .before = {&clouds_quotes_part, &secrets_turn_part}},
	{.part = &clouds_quotes_part},
	/* Before vouchers and rotation, which open what they need there. */
	{.part = &secrets_part, .before = {&vouchers_part, &rotate_part}},
	/* After all others that may refuse a reload: to accept one changes something. */
	{.part = &vouchers_part},
	{.part = &rotate_part},
	/* Before all requests go out: nodes wait for the answers. */
	{.part = &door_part, .before = {&clouds_send_part, &slurmctld_part}},
	{.part = &restore_part},
	/* Before nodes that came up: an instance without an address in the journal is more urgent
	 * than a node that works already. */
	{.part = &launch_answer_part, .before = {&registered_part}},
	{.part = &registered_part},
	{.part = &inventory_part},
	{.part = &follow_part},
	/* Before places: an answer ends "away" before it makes a place cool down or ready. */
	{.part = &away_part, .before = {&place_part}},
	{.part = &place_part},
	{.part = &notice_part},
	/* Before calls: a node whose time is over counts for no job any more. */
	{.part = &deadline_part, .before = {&intake_part}},
	/* Before calls: they are acted on in the turn that reads them. */
	{.part = &intake_spool_part, .before = {&intake_part}},
	{.part = &intake_part},
	/* Before deletes: a broken host is reported before its machine is gone. */
	{.part = &report_part, .before = {&remove_part}},
	/* Before deletes: many providers forget a log with its machine. */
	{.part = &console_part, .before = {&remove_part}},
	/* Before creates: a delete saves money, and has the slots first (limit.h). */
	{.part = &remove_part, .before = {&launch_part}},
	/* Before creates, which ask it for the image. */
	{.part = &rolls_part, .before = {&launch_part}},
	/* Before refusals, which refuse in this turn what could not be bought in it, and before
	 * the nodes that are wanted, of which most are written with their creates. */
	{.part = &launch_part, .before = {&refuse_part, &unwritten_part}},
	/* Before jobs that wait: refusals make them wait; and before their srun is told why
	 * they end. */
	{.part = &refuse_part, .before = {&postpone_part, &rescue_part, &srun_part}},
	{.part = &postpone_part},
	/* After all that may order a node down; before srun is told why its job ends. */
	{.part = &rescue_part, .before = {&srun_part}},
	{.part = &placed_part},
	{.part = &joblist_part},
	{.part = &checkpoint_part},
	/* Before the table of jobs: a gate that closes still has its job there. */
	{.part = &gate_part, .before = {&job_table_part}},
	{.part = &cancel_part},
	{.part = &job_table_part},
	{.part = &prereq_part},
	/* Before the audit, which puts its orders on record. */
	{.part = &dynamic_part, .before = {&audit_part}},
	{.part = &facts_part},
	/* After the clouds, whose terms it asks. */
	{.part = &accounts_part},
	{.part = &holds_part},
	/* Before srun is told why its job ends. */
	{.part = &ladder_part, .before = {&srun_part}},
	/* After the gates, which it opens. */
	{.part = &holds_jobs_part},
	/* After what is set aside: it looks at the sums of this turn. */
	{.part = &alerts_part},
	{.part = &warm_part},
	{.part = &submit_part},
	/* Before the turn of secrets, as are vouchers and rotation: secrets asks in this turn for
	 * what they want. */
	{.part = &claims_turn_part, .before = {&secrets_turn_part}},
	{.part = &vouchers_turn_part, .before = {&secrets_turn_part}},
	{.part = &rotate_turn_part, .before = {&secrets_turn_part}},
	{.part = &secrets_turn_part},
	{.part = &unwritten_part, .before = {&intake_forget_part}},
	/* Before the audit, which puts what it tells on record. */
	{.part = &srun_part, .before = {&audit_part}},
	{.part = &audit_part},
	/* After all commits of the turn, also that of the nodes that are wanted. */
	{.part = &intake_forget_part},
	/* Requests go out after the answers of the door. */
	{.part = &clouds_send_part, .before = {&topology_part}},
	/* After all other requests: nothing waits for where machines are. */
	{.part = &topology_part},
	{.part = &jobs_part},
	{.part = &query_part},
	{.part = &slurmctld_part},
};

struct engine_parts parts_all(void)
{
	return (struct engine_parts){rows, sizeof(rows) / sizeof(rows[0])};
}
