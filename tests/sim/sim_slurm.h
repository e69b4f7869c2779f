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

enum {
	JOBS_MAX = 24,
	JOB_NODES_MAX = 10,
	JOB_NODES_DICE = 4,
	JOB_ANY_POOL = SIM_POOLS_MAX,
	PROLOGS_MAX = 64
};

/* Whose a node's reason is. */
enum ctld_by { BY_NOBODY, BY_SLURM, BY_BURSTD, BY_ADMIN };

struct ctld_node {
	char name[16], addr[20], host[24], reason[200];
	uint32_t pool; /* SIM_POOLS_MAX: not ours */
	uint32_t job;  /* one of those that have it, the last that came; 0: none */
	bool dynamic;  /* burstd creates it */
	bool deleted;  /* from slurm.conf, for good; a dynamic one until it is created (again) */
	bool powered_down, powering_up, powering_down, power_down, down, not_responding, completing;
	bool drain, invalid, reboot;
	bool power_up;   /* an admin or burstd wants it up, whatever for */
	bool kept;       /* in SuspendExcNodes, by burstd */
	bool unmapped;   /* no heterogeneous job starts there: sim_het.c */
	bool useless;    /* burstd has decided that the job it boots for has ended */
	uint32_t booted; /* the last job it was resumed for, or had since; 0: none */
	enum ctld_by by;
	int64_t reason_at, reason_seen; /* when it was given, and when burstd had read it */
	int64_t boot_req, power_req, busy_at, dead_at;
	int64_t forced_at; /* its job was told to end, and takes KillWait for that; 0: it was not */
	int64_t epilog_until; /* its last job has ended by itself, and cleans up until then */
	int64_t unknown_at;   /* squeue had not said in time who is on it: it goes all the same */
	int64_t lost_addr_at; /* slurmctld has forgotten where its slurmd is; 0: it has not */
	int64_t wanted_at;    /* last time it was powering up */
	int64_t called_at;    /* last time that it was asked for though nobody wanted it */
	int64_t let_go_at;    /* one that a call had bought was let go before it was up ... */
	unsigned let_go_life; /* ... in this life */
	bool by_call;
	uint32_t undrained;  /* the instance that slurmctld forgot to have drained last */
	int64_t unwanted_at; /* last time slurmctld did not want it up */
	uint32_t inst;       /* whose slurmd is registered; 0: none */
	int64_t up_at;       /* since when */
	uint32_t seen_up;    /* the last instance that burstd was told it is up on */
};

/* One that completes has ended, and its epilog runs: it has no node any more. */
enum job_state { JOB_FREE, JOB_PENDING, JOB_CONFIGURING, JOB_RUNNING, JOB_FAILED, JOB_COMPLETING };

struct ctld_job {
	uint32_t id, n;
	uint32_t het;  /* the number of the first part of its heterogeneous job; 0: it is none */
	uint32_t pool; /* whose nodes it may have; JOB_ANY_POOL: of all, mixed */
	enum job_state state;
	uint32_t nodes[JOB_NODES_MAX]; /* indices */
	int64_t begin_at, submitted, end_at, runtime;
	int64_t requeued_at; /* the last time; 0: never */
	int64_t given_at;    /* when it got its nodes */
	bool held;           /* by somebody */
	bool listens;        /* of srun or salloc: somebody waits for it at a terminal */
	bool once;           /* it is not requeued, but ends */
	bool node_fail;      /* that is how it ended */
	bool requeued;       /* once at least */
	int64_t told_at;     /* a sentence, at its terminal; 0: never */
	bool shares;         /* its nodes, with others that do */
	bool task;           /* of an array */
	bool started;        /* it has its nodes, and its prolog has ended */
	int64_t alone_at; /* it had all parts that it needs then, or none was refused: sim_het.c */
	bool launched;    /* the first part: its script works, for all of them have their nodes */
	int64_t look_at;  /* with a prolog: when slurmctld looks at its nodes by itself */
	int64_t user_at;  /* when somebody last changed its begin time or held it */
	uint32_t refused; /* times that burstd sent its nodes back, since ... */
	int64_t refused_since;
	const char *constraint; /* NULL: none */
	int64_t details_at;     /* burstd has seen it as it was then */
	/* Its begin time when burstd looked at it first since it was requeued: as far as burstd can
	 * know, that is slurmctld's.  0: it has not looked. */
	int64_t requeued_to;
	int64_t back_to;      /* slurmctld itself holds it back until then; 0: it does not */
	int64_t signalled_at; /* in this run; 0: it was not */
	bool owed;            /* ... for its budget, and it died of that: it is to be requeued */
	bool goes_on;         /* ... and burstd has said since that it does: it may be told anew */
	int64_t waits_to;     /* its begin time, when burstd set it */
	int64_t said_to;      /* ... and said so in its comment */
	int64_t said_at;      /* when that was */
	char comment[256];    /* AdminComment */
	int64_t comment_at;   /* somebody else wrote it then; 0: burstd did, or nobody */
	bool returned;        /* slurmctld has it from before: burstd may not look there any more */
	int64_t stale_at;     /* what burstd wrote is over since then, or not yet */
	uint32_t lost[JOB_NODES_MAX]; /* the instances that it ran on before it was requeued */
	uint32_t nlost;
};

struct prolog { /* one burst-prolog that waits */
	struct sim_ctld *c;
	uint32_t job;
	int64_t since;     /* it was started */
	int64_t opened;    /* it asked burstd last */
	struct gate *gate; /* NULL: it will ask again */
	bool nodes[SIM_NODES_MAX + 1];
};

struct sim_ctld {
	uint32_t false_for; /* the node that is asked for though nobody wants it */
	struct world *w;
	struct prolog prologs[PROLOGS_MAX]; /* job 0: none */
	struct ctld_node nodes[SIM_NODES_MAX + 1];
	size_t n;
	struct ctld_job jobs[JOBS_MAX];
	uint32_t last_job;
	int64_t down_until; /* unreachable until then (F48) */
	int64_t deaf_until; /* to burstd */
	int64_t next_job;
	int64_t up_since;                         /* it answers since then */
	bool hung;                                /* down: does not even refuse */
	int64_t told_at;                          /* burstd has a snapshot of then ... */
	struct ctld_node told[SIM_NODES_MAX + 1]; /* ... that showed this */
	int64_t told_jobs_at;                     /* it has a list of all jobs of then ... */
	struct ctld_job told_jobs[JOBS_MAX];      /* ... that showed these */
	int64_t told_run_at;                      /* or of those that have nodes, of then ... */
	struct ctld_job told_run[JOBS_MAX];       /* ... likewise */
	bool lose_hooks;                          /* for a drill: no call reaches burstd */
	bool telling_jobs;                        /* burstd is reading a list of jobs */
	int64_t troubled; /* when something last went wrong between it and burstd */
	enum ctld_loss {
		LOSS_NONE,
		LOSS_ADDRESSES,
		LOSS_JOBS,
		LOSS_ALL,
		LOSS_ORDERS
	} loses;            /* when it is up again */
	int64_t forgot_at;  /* it had lost jobs when it was up again ... */
	int64_t full_until; /* it has no room for more dynamic nodes */
	int64_t resume_at;  /* with a rate: it calls for no more nodes before this time */
	struct ctld_node
		saved[SIM_NODES_MAX + 1]; /* on its disk, which is seconds to minutes old */
	struct ctld_job saved_jobs[JOBS_MAX];
};

struct sim_ctld *sim_ctld_new(struct world *w);
void sim_ctld_free(struct sim_ctld *c);
void sim_ctld_heal(struct sim_ctld *c); /* no new jobs; what cannot fit is cancelled */
void sim_ctld_event(struct sim_ctld *c, const char *node, const char *type, const char *detail);
void sim_ctld_clock_set(struct sim_ctld *c, int64_t by);
void sim_ctld_end_jobs(struct sim_ctld *c); /* everything ends: all nodes become unwanted */

bool sim_ctld_up(const struct sim_ctld *c);
/* Until then burstd may not hear from it, nor be heard: the judges wait. */
void sim_ctld_trouble(struct sim_ctld *c, int64_t until);
/* Has slurmctld not wanted this node at some time since? */
bool sim_ctld_unwanted_since(struct sim_ctld *c, const char *node, int64_t since);
/* A launch for a node that slurmctld has not wanted for long, though it would have said so. */
bool sim_ctld_launch_is_stale(struct sim_ctld *c, const char *node);
/* Could burstd know which of two instances of a generation the node is on?  22.05 does not say,
 * once burstd has set the address. */
bool sim_ctld_told(const struct sim_ctld *c, const struct inst *i);
/* Burstd has given up what it has of this node: that may have come up since its last snapshot. */
void sim_ctld_given_up(struct sim_ctld *c, const char *node);
/* ... or its epilog. */
bool sim_ctld_runs_job_on(struct sim_ctld *c, const struct inst *i);

/* Burstd was told this: the first n nodes that there are, or jobs, as they were then. */
void sim_ctld_tell_nodes(struct sim_ctld *c, const struct ctld_node *nodes, size_t n, int64_t at);
void sim_ctld_tell_details(struct sim_ctld *c, const struct ctld_job *jobs, const char *ids,
			   int64_t at);
void sim_ctld_tell_jobs(struct sim_ctld *c, const struct ctld_job *jobs, int64_t at, bool all);

/* --- what sim_slurm.c lends to the others of slurmctld, and to sim_admin.c --- */
struct ctld_node *sim_ctld_find(struct sim_ctld *c, const char *name); /* NULL: unknown */
/* slurmctld has given a reason to delete what this node has now (I18). */
void sim_ctld_excuse(struct sim_ctld *c, struct ctld_node *n);
void sim_ctld_set_reason(struct sim_ctld *c, struct ctld_node *n, enum ctld_by by,
			 const char *reason);

/* --- sim_slurmd.c: machines, as slurmctld hears of them --- */
void sim_ctld_register(struct sim_ctld *c, struct inst *i);
void sim_ctld_instance_ended(struct sim_ctld *c, const struct inst *i);
/* state=POWER_DOWN_FORCE, on a node that may be dead, or has a job that may not end at once */
bool sim_ctld_completes(struct sim_ctld *c, struct ctld_node *n);

/* --- sim_job.c --- */
int64_t sim_ctld_seconds(int64_t ms); /* slurmctld knows no fractions */
bool sim_ctld_fits(const struct ctld_node *n, const struct ctld_job *j);
/* Does this job wait for this node, or run on it? */
bool sim_ctld_is_on(const struct sim_ctld *c, const struct ctld_job *j, const struct ctld_node *n);
/* The first job that does so, or the next one after j; NULL: there is none. */
struct ctld_job *sim_ctld_next_on(struct sim_ctld *c, const struct ctld_node *n,
				  struct ctld_job *j);
struct ctld_job *sim_ctld_running(struct sim_ctld *c, const struct ctld_node *n); /* NULL: none */
/* With all parts of a heterogeneous job: it goes back into the queue, is over, or ended badly. */
void sim_ctld_requeue(struct sim_ctld *c, struct ctld_job *j);
void sim_ctld_end_job(struct sim_ctld *c, struct ctld_job *j);
void sim_ctld_fail_job(struct sim_ctld *c, struct ctld_job *j);
void sim_ctld_requeue_part(struct sim_ctld *c, struct ctld_job *j); /* this one alone */
/* The jobs of this node are requeued, all of them, or end, each after its kind. */
void sim_ctld_lose_jobs(struct sim_ctld *c, const struct ctld_node *n);
/* A job of n nodes of one pool that runs for ever; NULL: no room for one more. */
struct ctld_job *sim_ctld_submit(struct sim_ctld *c, uint32_t pool, uint32_t n);
/* As people write it: "7", "4_1" of a task, or "7+1" of a part. */
const char *sim_ctld_id(const struct ctld_job *j, char out[24]);
/* Is it this one's id?  The number of an array is that of all of its tasks, too. */
bool sim_ctld_is_named(const struct ctld_job *j, const char *id);
/* Does squeue show this one for the id that begins at id, in the list ids, and not for one before?
 * By the number or any id of a heterogeneous job it shows all of that. */
bool sim_ctld_is_shown(const struct ctld_job *j, const char *ids, const char *id);
/* The job that an order is for; NULL: there is none.  An order for a whole array is a failure. */
struct ctld_job *sim_ctld_job_named(struct sim_ctld *c, const char *id);
void sim_job_submit(struct sim_ctld *c); /* now and then somebody does */
void sim_job_tick(struct sim_ctld *c);
/* What sim_job.c lends to sim_het.c: the job gets these nodes, or would some that are not taken. */
void sim_ctld_start_job(struct sim_ctld *c, struct ctld_job *j, const uint32_t *nodes);
bool sim_ctld_pick(struct sim_ctld *c, const struct ctld_job *j, const bool *taken,
		   uint32_t *nodes);
void sim_ctld_complete(struct sim_ctld *c, struct ctld_job *j);

/* --- sim_het.c: heterogeneous jobs --- */
void sim_het_submit(struct sim_ctld *c, struct ctld_job *j); /* it may become the first part */
void sim_het_tick(struct sim_ctld *c, struct ctld_job *j);   /* once a second, of each job */
/* All parts of this job, one after the other: itself alone if it is none.  NULL: that was all. */
struct ctld_job *sim_het_next(struct sim_ctld *c, const struct ctld_job *of, struct ctld_job *last);
/* This job loses this node: what becomes of all parts? */
void sim_het_lose(struct sim_ctld *c, struct ctld_job *j, const struct ctld_node *n);
void sim_het_unavail(struct sim_ctld *c, struct ctld_node *n); /* set down, or forced down */
void sim_het_reconfigure(struct sim_ctld *c);
/* The whole job that a requeue or cancel of this id is for; NULL: there is none. */
struct ctld_job *sim_het_whole(struct sim_ctld *c, const char *id);
bool sim_het_waits(struct sim_ctld *c, const struct ctld_job *j);       /* for nodes of any part */
bool sim_het_settled(const struct sim_ctld *c, char *why, size_t size); /* whole, or not at all */

/* --- sim_lapse.c: what slurmctld forgets --- */
void sim_lapse_begin(struct sim_ctld *c);  /* it goes down, and will have forgotten something */
bool sim_lapse_save(struct sim_ctld *c);   /* a second of its life; true: it dies ... */
void sim_lapse_revert(struct sim_ctld *c); /* ... and knows only what it had saved */
void sim_lapse_end(struct sim_ctld *c);    /* it is up again */
/* Burstd has told the address of this node. */
void sim_lapse_addr(struct sim_ctld *c, struct ctld_node *n);
/* Its slurmd was not heard for SlurmdTimeout: is that because nobody told where it is? */
void sim_lapse_missed(struct sim_ctld *c, struct ctld_node *n);
/* No call has more nodes than ResumeRate allows: of those that are to be resumed, the others wait.
 */
void sim_lapse_split(struct sim_ctld *c, bool *up);
void sim_ctld_unplug(struct sim_ctld *c, struct ctld_node *n); /* as one that was never up */

/* --- sim_fate.c: the judge of jobs --- */
bool sim_fate_is_calm(const struct sim_ctld *c); /* burstd has heard all of the last minute */
void sim_fate_missed(struct sim_ctld *c, const struct ctld_node *n, const struct inst *i);
/* A refusal of this job is durable now. */
void sim_fate_postponed(struct sim_ctld *c, uint64_t job, const struct refusal *r);
void sim_fate_refused(struct sim_ctld *c, const char *node); /* it is about to be sent back */
/* Burstd has a node set down, or forced down: that is about to happen. */
void sim_fate_ordered(struct sim_ctld *c, const struct ctld_node *n);
void sim_fate_event(struct sim_ctld *c, const char *type, const char *detail);
void sim_fate_words(struct sim_ctld *c, struct ctld_job *j); /* once a second */

/* --- sim_show.c: scontrol show and squeue --- */
void sim_ctld_trace(const struct sim_ctld *c); /* all nodes */
void sim_ctld_show_config(const struct sim_ctld *c, struct str *out);
void sim_ctld_show_nodes(const struct sim_ctld *c, struct str *out);
/* squeue -j IDS in SLURM_WORDS_FORMAT. */
void sim_ctld_show_words(struct sim_ctld *c, const char *ids, struct str *out);
/* What the job of this number wants, if it was there then; NULL: nothing special, or it is over. */
const char *sim_ctld_constraint(const struct sim_ctld *c, uint64_t job, int64_t then);
struct sim_columns { /* of squeue */
	bool all, constraints, payers;
};
void sim_ctld_show_jobs(const struct sim_ctld *c, struct sim_columns which, struct str *out);
/* squeue -j IDS in the columns of SLURM_DETAIL_ARGS: -1: there is only one, and that is unknown. */
int sim_ctld_show_details(struct sim_ctld *c, const char *ids, struct str *out);

/* --- sim_told.c: what jobs are told --- */
/* `scontrol requeue ID,ID`, and `scancel --signal=S [--batch|--full] ID ...`: of the first `only`
 * jobs that are named.  -1: one of them was refused. */
int sim_ctld_requeue_ended(struct sim_ctld *c, const char *ids, size_t only);
/* A job that failed: the last moment in which it could be requeued. */
void sim_ctld_forgets(struct sim_ctld *c, const struct ctld_job *j);
int sim_ctld_signal(struct sim_ctld *c, const char *const *ids, size_t only);
int sim_ctld_cancel(struct sim_ctld *c, const char *const *ids, size_t only); /* scancel ID ... */
/* `scontrol notify JOB TEXT`, and squeue in the columns of SLURM_WHO_ARGS. */
int sim_ctld_notify(struct sim_ctld *c, const char *job, const char *text);
void sim_ctld_show_who(struct sim_ctld *c, const char *ids, struct str *out);

/* --- sim_scontrol.c: scontrol update --- */
/* `scontrol update NAME=VALUE ...`: 0, or -1: refused with nothing or a part done. */
int sim_ctld_update(struct sim_ctld *c, const char *const *args, size_t only);
void sim_ctld_down(struct sim_ctld *c, struct ctld_node *n); /* state=DOWN */
void sim_ctld_back(struct sim_ctld *c, struct ctld_node *n); /* state=RESUME */

/* --- sim_admin.c: people, and machines that are not what they should be --- */
void sim_admin_start(struct world *w);
void sim_admin_heal(struct world *w); /* they undo what they did */
/* The slurmd of an instance that lives stops, for good or for a while. */
void sim_admin_kill_slurmd(struct sim_ctld *c, struct ctld_node *n, bool for_good);

/* --- sim_gate.c: PrologSlurmctld --- */
void sim_gate_start(struct sim_ctld *c, const struct ctld_job *j); /* it has its nodes now */
void sim_gate_tick(struct sim_ctld *c);                      /* those that are to ask (again) do */
void sim_gate_crashed(struct sim_ctld *c);                   /* their connections are closed */
bool sim_gate_waits(const struct sim_ctld *c, uint32_t job); /* 0: any job */

/* --- sim_dynamic.c: nodes that burstd creates --- */
void sim_dynamic_born(struct sim_ctld *c); /* slurmctld has none of them yet */
/* `scontrol create NAME=VALUE ...`: 0, or -1: refused with nothing or a part done. */
int sim_dynamic_create(struct sim_ctld *c, const char *const *args, size_t only);
int64_t sim_dynamic_late(struct world *w);    /* how much later it is done; 0: it is not */
int64_t sim_dynamic_late_ms(struct world *w); /* of one that is, after its scontrol has gone */
/* It is gone with slurmctld's state, or as the older one, o, did not have it yet. */
void sim_dynamic_lose(struct sim_ctld *c, struct ctld_node *n);
void sim_dynamic_revert(struct sim_ctld *c, struct ctld_node *n, const struct ctld_node *o);
bool sim_dynamic_settled(const struct world *w, char *why, size_t size); /* it has all of them */

/* --- sim_topology.c --- */
void sim_topology_said(struct sim_ctld *c, const struct ctld_job *j, const char *comment);

/* --- sim_hook.c: the three programs --- */
void sim_hook_false(struct sim_ctld *c);
void sim_hook_call(struct sim_ctld *c, enum call_kind kind, const bool *nodes);

#endif
