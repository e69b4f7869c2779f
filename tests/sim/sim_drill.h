/* sim_drill.h - what the files of drills share: steps, jobs and the time that each thing may take.
 */
#ifndef SIM_DRILL_H
#define SIM_DRILL_H

#include "sim_cloud.h"
#include "sim_slurm.h"
#include "world.h"

enum {
	CANCEL_MS = 40 * SIM_SECOND, /* two snapshots, all jobs, and a command: 4 s each at most */
	MUTE_MS = 50 * SIM_SECOND,   /* a snapshot every 30 s while nothing moves, a command */
	START_MS = 10 * SIM_MINUTE,  /* a job, on machines that boot in 80 s at most */
	CLOSED_MS = 60 * SIM_MINUTE, /* the longest that a place is left alone */
	/* Likewise; three lost creates, known 135 s later each; its ResumeTimeout is over by then.
	 */
	FAILS_MS = 15 * SIM_MINUTE,
	GATE_MS = 26 * SIM_SECOND, /* a snapshot, asked for anew after 10 s; 30 s without burstd */
	REFUSE_MS = 40 * SIM_SECOND,    /* a create, the jobs, a command */
	THROTTLED_MS = 60 * SIM_SECOND, /* between two creates that are throttled */
	LIST_MS = 18 * SIM_SECOND,      /* a list of a few pages, the jobs, a command */
	/* from the last answer: lists 30 s apart in the end, a squeue, a command */
	AWAY_MS = 80 * SIM_SECOND,
	BACK_MS = 65 * SIM_SECOND, /* till the next one, and its time-out, say that it is back */
	LISTS_MAX = 40,            /* in NONE_MS, when all of them fail: every 30 s in the end */
	NONE_MS = 10 * SIM_MINUTE,
	/* The longest pause of a quota here, a job's last wait, and its boot. */
	FULL_MS = 24 * SIM_MINUTE,
	NONE_CREATES = 30, /* in that time: by the waits of a job, or of a create, that double */
};

typedef void (*step_fn)(struct world *w);

void drill_pass(struct world *w, step_fn step, int64_t until);
struct ctld_job *drill_submit_elsewhere(struct world *w, uint32_t pool);
struct ctld_job *drill_submit(struct world *w);
struct ctld_job *drill_submit_two(struct world *w);
bool drill_boots(const struct sim_ctld *c, const struct ctld_job *j);
void drill_start(struct world *w, step_fn step, const struct ctld_job *j, int64_t ms);
void drill_sleep_all(struct world *w, step_fn step);

/* --- sim_drill_slurm.c --- */

void drill_cancel(struct world *w, step_fn step, bool next);
void drill_mute(struct world *w, step_fn step);
void drill_terminate(struct world *w, step_fn step);
void drill_hook(struct world *w, step_fn step);
void drill_gate(struct world *w, step_fn step);
void drill_ghost(struct world *w, step_fn step);
void drill_next(struct world *w, step_fn step);
void drill_replace(struct world *w, step_fn step);
void drill_late(struct world *w, step_fn step);

/* --- sim_dynamic.c --- */

void drill_lost(struct world *w, step_fn step);

/* --- sim_drill_cloud.c --- */

void drill_reclaim(struct world *w, step_fn step, int64_t notice_ms);
void drill_none(struct world *w, step_fn step, const char *code);
void drill_away(struct world *w, step_fn step);
void drill_gang(struct world *w, step_fn step);
void drill_fails(struct world *w, step_fn step);
void drill_stillborn(struct world *w, step_fn step, enum sim_makes how);
void drill_full(struct world *w, step_fn step, const char *why);
void drill_lists(struct world *w, step_fn step);
void drill_twin(struct world *w, step_fn step);
void drill_stray(struct world *w, step_fn step);
void drill_right(struct world *w, step_fn step);
/* Has the pool room for a create in doubt, and one more? */
bool drill_has_room_for_doubt(const struct world *w, uint32_t pool);
/* Has slurmctld been told to let go of what it had there? */
bool drill_fenced(const struct ctld_node *n, const struct inst *i);

/* --- sim_beside.c --- */

void drill_beside(struct world *w, step_fn step, enum sim_bad how);

#endif
