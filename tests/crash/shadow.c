/* The simulator's journal under other names, beside the real one: what was committed, by a program
 * that has no disk. */
#define journal_begin             shadow_begin
#define journal_put_node          shadow_put_node
#define journal_del_node          shadow_del_node
#define journal_put_batch         shadow_put_batch
#define journal_del_batch         shadow_del_batch
#define journal_put_event         shadow_put_event
#define journal_put_audit         shadow_put_audit
#define journal_put_usage         shadow_put_usage
#define journal_put_life          shadow_put_life
#define journal_put_machine       shadow_put_machine
#define journal_put_buyer         shadow_put_buyer
#define journal_put_job_said      shadow_put_job_said
#define journal_put_hold          shadow_put_hold
#define journal_del_hold          shadow_del_hold
#define journal_put_spent         shadow_put_spent
#define journal_del_spent         shadow_del_spent
#define journal_put_price         shadow_put_price
#define journal_put_budget        shadow_put_budget
#define journal_put_budget_end    shadow_put_budget_end
#define journal_put_budget_steps  shadow_put_budget_steps
#define journal_del_budgets       shadow_del_budgets
#define journal_put_override      shadow_put_override
#define journal_put_alert         shadow_put_alert
#define journal_del_alert         shadow_del_alert
#define journal_put_alert_message shadow_put_alert_message
#define journal_del_alert_message shadow_del_alert_message
#define journal_put_number        shadow_put_number
#define journal_put_refusal       shadow_put_refusal
#define journal_del_refusal       shadow_del_refusal
#define journal_put_rescue        shadow_put_rescue
#define journal_del_rescue        shadow_del_rescue
#define journal_put_drained       shadow_put_drained
#define journal_del_drained       shadow_del_drained
#define journal_put_ending        shadow_put_ending
#define journal_del_ending        shadow_del_ending
#define journal_put_pool          shadow_put_pool
#define journal_put_roll          shadow_put_roll
#define journal_put_claim         shadow_put_claim
#define journal_del_claim         shadow_del_claim
#define journal_put_voucher       shadow_put_voucher
#define journal_del_voucher       shadow_del_voucher
#define journal_commit            shadow_commit
#define journal_abandon           shadow_abandon
#define journal_load              shadow_load
#define journal_get_number        shadow_get_number
#define journal_usage_of          shadow_usage_of
#define journal_events            shadow_events
#define journal_last_event        shadow_last_event
#define journal_look              shadow_look
#define world_alive               shadow_alive

#include "../sim/sim_journal.c" /* NOLINT: so that there is one of it */
#include "../sim/sim_tx.c"      /* NOLINT: likewise */
#include "store/journal_audit.h"
#include "store/journal_claims.h"
#include "store/journal_events.h"
#include "store/journal_jobs.h"
#include "store/journal_life.h"
#include "store/journal_money.h"
#include "store/journal_nodes.h"
#include "store/journal_pools.h"
#include "store/journal_price.h"
#include "store/journal_rolls.h"
#include "store/journal_usage.h"
#include "store/journal_vouchers.h"

/* It takes part in no crash. */
bool shadow_alive(struct world *w)
{
	(void)w;
	return true;
}
