/* sim_slurm.h - the simulated slurmctld: nodes, jobs, power saving, hooks; its rules are
 * slurmctld's.
 *
 * One tick a second: schedule, suspend, resume, time-outs, as power_save.c does, with the states
 * and commands of scontrol.  It knows nothing of burstd but its hooks. */
#ifndef SIM_SLURM_H
#define SIM_SLURM_H

#include "base/str.h"
#include "sim_cloud.h"
#include "world.h"

enum { JOBS_MAX = 24, JOB_NODES_MAX = 4, JOB_ANY_POOL = SIM_POOLS_MAX };

struct ctld_node {
	char name[16], addr[20], host[24], reason[200];
	uint32_t pool; /* SIM_POOLS_MAX: not ours */
	uint32_t job;  /* 0: none */
	bool deleted;  /* from slurm.conf, for good */
	bool powered_down, powering_up, powering_down, power_down, down, not_responding, completing;
	int64_t boot_req, power_req, busy_at, dead_at;
	int64_t wanted_at;   /* last time it was powering up */
	int64_t unwanted_at; /* last time slurmctld did not want it up */
	uint32_t inst;       /* whose slurmd is registered; 0: none */
};

enum job_state { JOB_FREE, JOB_PENDING, JOB_CONFIGURING, JOB_RUNNING };

struct ctld_job {
	uint32_t id, n;
	uint32_t pool; /* whose nodes it may have; JOB_ANY_POOL: of all, mixed */
	enum job_state state;
	uint32_t nodes[JOB_NODES_MAX]; /* indices */
	int64_t begin_at, submitted, end_at, runtime;
};

struct sim_ctld {
	struct world *w;
	struct ctld_node nodes[SIM_NODES_MAX + 1];
	size_t n;
	struct ctld_job jobs[JOBS_MAX];
	uint32_t last_job;
	int64_t down_until; /* unreachable until then (F48) */
	int64_t next_job;
	int64_t up_since; /* it answers since then */
	bool hung;        /* down: does not even refuse */
};

struct sim_ctld *sim_ctld_new(struct world *w);
void sim_ctld_free(struct sim_ctld *c);
void sim_ctld_heal(struct sim_ctld *c);     /* no new jobs; what cannot fit is cancelled */
void sim_ctld_end_jobs(struct sim_ctld *c); /* everything ends: all nodes become unwanted */

bool sim_ctld_up(const struct sim_ctld *c);
void sim_ctld_register(struct sim_ctld *c, struct inst *i);
void sim_ctld_instance_ended(struct sim_ctld *c, const struct inst *i);
/* Has slurmctld not wanted this node at some time since? */
bool sim_ctld_unwanted_since(struct sim_ctld *c, const char *node, int64_t since);
/* A launch for a node that slurmctld has not wanted for long, though it would have said so. */
bool sim_ctld_launch_is_stale(struct sim_ctld *c, const char *node);
bool sim_ctld_runs_job_on(const struct sim_ctld *c, const struct inst *i);

/* --- scontrol and squeue --- */
void sim_ctld_show_nodes(const struct sim_ctld *c, struct str *out);
void sim_ctld_show_jobs(const struct sim_ctld *c, struct str *out);
/* `scontrol update NAME=VALUE ...`: 0, or -1: refused with nothing or a part done. */
int sim_ctld_update(struct sim_ctld *c, const char *const *args, size_t only);

/* --- sim_hook.c: the three programs --- */
void sim_hook_call(struct sim_ctld *c, enum journal_call_kind kind, const bool *nodes);

#endif
