/* sim_faults.c - the table of faults. */
#include "sim_faults.h"

#include "core/node.h"

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
static const char why_path[] = "only of what is up somebody asks where it is";
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
	[SIM_NO_ROOM] = {"no room for dynamic nodes", 300, NODES, why_one},
	[SIM_CREATED_LATE] = {"nodes created late", 500, NODES, why_one},
	[SIM_PATHS_REFUSED] = {"place of one refused", 300, (NODES & ~W(READY)) | NO_ROW, why_path},
	[SIM_PATHS_DENIED] = {"places are denied", 150, (NODES & ~W(READY)) | NO_ROW, why_path},
	[SIM_PATHS_SLOW] = {"places are told late", 400, (NODES & ~W(READY)) | NO_ROW, why_path},
	[SIM_STILLBORN] = {"F10 fails once accepted", 500, OTHER_THAN_BOOT, why_boot},
};

#undef W
