/* jobs.h - what becomes of jobs: told that they cannot run, made to wait, followed when their nodes
 * go, given time to save their work. */
#ifndef BURSTD_JOBS_JOBS_H
#define BURSTD_JOBS_JOBS_H

#include "core/drift.h"
#include "core/reclaim.h"
#include "core/wish.h"
#include "engine/kernel.h"
#include "jobs/job.h"
#include "slurm/version.h"

enum {
	ENGINE_GATE_POLL_MS = 250,     /* while a job waits for its nodes */
	ENGINE_PARTITIONS_MAX = 65536, /* bytes of the names of those that jobs wait for */
};

struct notice_early { /* about an instance that may be of a create whose answer is still to come */
	size_t provider;
	struct provider_notice n;
	int64_t first_ms;
};

struct notice_index {
	struct notice_early *early; /* the oldest first */
	size_t nearly;
	bool due; /* some instances became known: perhaps one of those */
};

struct gates {              /* jobs that wait for their nodes */
	struct gate *first; /* the newest */
	size_t names;
	int64_t seen_ms;           /* the last snapshot that they were compared with */
	int64_t asked_ms, took_ms; /* when squeue was asked, and how long it took */
};

struct cloud;

struct jobs_state {
	struct map by_number;       /* all jobs: job.h */
	void *parts[JOB_NCONCERNS]; /* of each concern, the newest first */
	/* squeue, for all who want to know */
	unsigned wanted, running;     /* who waits for an answer: enum jobs_for */
	struct engine_query *queries; /* about one job each, in order */
	bool query_asked;             /* the first of them, of squeue */
	uint64_t runs;                /* how often it was asked */
	enum wish_need wishes_wanted; /* what intake wants it to tell besides */
	bool refuse_due;              /* jobs to be told */
	struct gates gates;
	size_t nsruns;            /* jobs that have a struct srun */
	bool srun_speaks;         /* some are being told */
	int64_t srun_heard_ms;    /* when those that were told last have heard it */
	int64_t srun_forgot_ms;   /* when it was last looked who may be forgotten */
	bool srun_due, srun_asks; /* squeue is to be asked, or is asked, which are srun's */
	int64_t postpone_next, postpone_words_ms;
	struct doomed *doomed; /* nodes that are about to be forced down */
	struct notice_index notices;
	struct hook *hooks; /* checkpoint commands that run */
	unsigned nhooks;
	struct prereq *prereq;
	struct str cancel_waiting; /* partitions for which a job waited when all were seen */
	int64_t cancel_asked_ms;   /* ... and when that was asked */
};

/* --- jobs.c --- */
enum jobs_for {
	JOBS_FOR_INTAKE = 1,
	JOBS_FOR_REFUSE = 2,
	JOBS_FOR_GATE = 4,
	JOBS_FOR_CANCEL = 8,
	JOBS_FOR_RESCUE = 16,
};
void jobs_want(struct engine *e, enum jobs_for who); /* an answer begun from now on */
/* Likewise for intake, with what the jobs wish. */
void jobs_want_wishes(struct engine *e, enum wish_need need);
bool jobs_coming(const struct engine *e, enum jobs_for who);
void jobs_run(struct engine *e);
void jobs_answer(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- query.c --- */
void query_run(struct engine *e);
void query_answer(struct engine *e, const char *text, size_t len, const struct err *failure);
void query_free(struct engine *e);

/* --- refuse.c --- */
void refuse_mark(struct engine *e, struct fleet_name *nm, enum node_reason why, const char *text);
/* Something has changed: of whom slurmctld is still to be told, what no wait could mend is decided
 * anew after an ordinary wait. */
void refuse_anew(struct engine *e);
void refuse_offers(struct engine *e, bool cheaper); /* calls refuse_anew() if one got cheaper */
void refuse_run(struct engine *e);
void refuse_jobs(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- postpone.c --- */
/* The nodes of this job were just sent back. */
struct postpone_why {
	char text[160];
	struct refusal_hint hint;
	uint32_t pool; /* that it is about */
};
void postpone_job(struct engine *e, const struct slurm_job *j, const struct postpone_why *why);
void postpone_run(struct engine *e);
void postpone_clock_set(struct engine *e, int64_t by_ms); /* by_ms < 0: back */
/* slurmctld took it, or not. */
void postpone_told(struct engine *e, const struct slurm_order *o, const struct err *err);
void postpone_details(struct engine *e, const char *text, size_t len, int64_t began_ms,
		      const struct err *err);
int64_t postpone_next_ms(const struct engine *e);

/* --- postpone_comment.c --- */
/* Write this into its AdminComment, unless somebody else has, and take it back when it has its
 * nodes. */
void postpone_say(struct engine *e, const struct slurm_job_detail *d, const char *id,
		  const char *text);
void postpone_bought(struct engine *e, uint64_t number); /* its nodes are */

/* --- postpone_anew.c --- */
/* What no wait could mend is decided anew: the configuration has changed, prices may have. */
void postpone_anew(struct engine *e);
void postpone_offers(struct engine *e, bool cheaper);
void postpone_words(struct engine *e, const char *text, size_t len); /* SLURM_SOME_JOBS */

/* --- postpone_table.c --- */
void postpone_load(struct engine *e, const struct journal_refusal *r);
/* Does it wait for so long still, because we told slurmctld so?  0: it does not. */
int64_t postpone_left_ms(const struct engine *e, uint64_t number);
/* Its refusals so far; all zero: none, or so long ago that they do not count. */
struct refusal postpone_look(const struct engine *e, uint64_t number);
void postpone_init(struct engine *e);

/* --- recall.c --- */
/* Heterogeneous jobs of which one component was refused its nodes: the others give theirs back. */
void recall_details(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- cancel.c --- */
/* One that is powering up, as a snapshot begun at began_ms has it. */
void cancel_look(struct engine *e, struct fleet_name *nm, const struct slurm_node *sn,
		 int64_t began_ms);
void cancel_asks(struct engine *e);
void cancel_jobs(struct engine *e, const char *text, size_t len, const struct err *err); /* all */
/* slurmctld has answered an order about nodes. */
void cancel_told(struct engine *e, const struct slurm_order *o, bool ok);
void cancel_init(struct engine *e);
void cancel_free(struct engine *e);

/* --- gate.c --- */
void gate_run(struct engine *e);
/* Those that are CONFIGURING. */
void gate_jobs(struct engine *e, const char *text, size_t len, const struct err *err);
/* How often slurmctld is to be polled, if there were no gates: `otherwise`. */
int64_t gate_poll_ms(const struct engine *e, int64_t otherwise);
void gate_free(struct engine *e);

/* --- srun.c --- */
/* Have the job's srun or salloc print this, if it is one of theirs and has not heard it: before any
 * order to slurmctld that is given after this. */
void srun_tell(struct engine *e, uint64_t job, const char *text);
void srun_who(struct engine *e, const char *text, size_t len, const struct err *err);
void srun_run(struct engine *e);
int64_t srun_next_ms(const struct engine *e);

/* --- notice.c, notice_text.c --- */
enum { NOTICE_WHY_SIZE = 96 };
/* When it will be, by our clock, if the provider says `at` by its own; 0: not said.  What it cannot
 * mean is not believed: no end lies in the past, and no reclaim is told longer before it than the
 * provider ever does. */
int64_t notice_when(const struct cloud *c, enum provider_notice_kind kind, int64_t at_ms);
/* Durable with the next commit; then what must be done about it is done.  false: whom it means may
 * become known soon; until then it is kept here, and is not to be forgotten by who told it. */
bool notice_take(struct cloud *c, const struct provider_notice *n);
void notice_run(struct engine *e); /* those that were kept, if their instances are known by now */
/* A notice that somebody else than a provider gives, staged: for the next commit. */
void notice_said(struct engine *e, const struct engine_notice *n, struct engine_notice_end *out);
/* A node has become DRAINING, or is and its row has changed. */
void notice_follow(struct engine *e, struct fleet_node *fn, const struct node *was);
void notice_fence(struct engine *e, struct fleet_name *nm, const struct node *n);
void notice_plan(const struct engine *e, const struct fleet_node *fn, struct reclaim_plan *out);
void notice_text(char out[NOTICE_WHY_SIZE], const struct node *n); /* "burstd: ..." */
bool notice_signals(const struct conf_pool *p); /* are the pool's jobs told to save their work? */
void notice_told(struct engine *e, const struct slurm_order *o, bool ok); /* slurmctld took it? */
bool notice_moving(const struct engine *e); /* is a machine about to be taken? */
void notice_free(struct engine *e);

/* --- checkpoint.c --- */
/* Tell jobs that are due, as their pools say. */
void checkpoint_run(struct engine *e);
void checkpoint_told(struct engine *e, const struct slurm_order *o, const struct err *err);
int64_t checkpoint_next_ms(const struct engine *e);
void checkpoint_free(struct engine *e);

/* --- rescue.c --- */
struct rescue { /* one job */
	struct job_part in;
	struct journal_rescue j; /* as durable */
	int64_t look_ms, step_ms;
	int64_t tell_ms;   /* DUE: not before then */
	int64_t doubt_ms;  /* requeued, and its begin time was odd: since then; 0: not so */
	bool fits;         /* j.hold_ms is slurmctld's own; memory only */
	bool asked, stuck; /* in the question on the wire; told of */
	bool waits;        /* DUE, and not at work as far as is known: it can be told nothing */
	bool returns;      /* ... and came to work: is it still there? */
	bool telling;      /* the signal is queued */
	bool commanded;    /* the site's command runs, or has */
	bool counted;      /* in count.jobs_taken */
	/* It has ended before its node did, and is to be requeued. */
	enum rescue_back { RESCUE_AWAY, RESCUE_ASKED, RESCUE_TOLD } back;
};
/* r->j.signal is SENT from now on. */
void rescue_signalled(struct engine *e, struct rescue *r, const char *how);
/* slurmctld took it, or not. */
void rescue_told(struct engine *e, const struct slurm_order *o, const struct err *err);
void rescue_run(struct engine *e);
void rescue_fates(struct engine *e, const char *text, size_t len, const struct err *err);
int64_t rescue_next_ms(const struct engine *e);

/* --- rescue_node.c --- */
/* As slurm_power_down(), once the jobs that may be on the node are written down. */
void rescue_node(struct engine *e, struct fleet_name *nm, bool dead, const char *why);
/* Have slurmctld power a node down, with the reason; its jobs are followed. */
void rescue_power_down(struct engine *e, struct fleet_name *nm, bool dead, const char *why);
/* The jobs on the node are to be told to save their work. */
void rescue_signal(struct engine *e, struct fleet_name *nm);
void rescue_jobs(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- rescue_table.c --- */
void rescue_load(struct engine *e, const struct journal_rescue *j);
void rescue_free(struct engine *e);

/* --- insist.c --- */
/* Orders that are given again if slurmctld does not take them, or forgets them.  why: a literal. */
void insist_drain(struct engine *e, struct fleet_name *nm, const char *why);
void insist_end(struct engine *e, struct fleet_name *nm); /* an admin powers it down */
/* slurmctld took it, or not. */
void insist_told(struct engine *e, const struct slurm_order *o, const struct err *err);
/* A snapshot that began then has the node with nm->flags. */
void insist_look(struct engine *e, struct fleet_name *nm, int64_t began_ms);

/* --- prereq.c --- */
void prereq_init(struct engine *e);
void prereq_free(struct engine *e);
void prereq_run(struct engine *e);
void prereq_hurry(struct engine *e); /* slurmctld is back */
/* All our nodes in a snapshot: their features are looked at, not every time. */
void prereq_nodes(struct engine *e, const struct slurm_node *nodes, size_t n);
int64_t prereq_next_ms(const struct engine *e);
/* Has this slurmctld that trait, or is its version not known yet? */
bool prereq_may_have(const struct engine *e, enum slurm_trait t);
bool prereq_has(const struct engine *e, enum slurm_trait t); /* false: it is not known, too */
/* How long slurmctld holds a requeued job back, as of the last minute; 0: not known. */
int64_t prereq_hold_ms(const struct engine *e);
/* Of RealMemory, that a node must have; 0: slurmctld takes any, or it is not known. */
uint32_t prereq_memory_percent(const struct engine *e);
int64_t prereq_known_ms(const struct engine *e); /* when that was asked; 0: never */
void prereq_answer(struct engine *e, enum slurm_question q, const char *text, size_t len);
/* The node list of a partition, as of the last minute; p NULL: there is none, or not known yet. */
struct slurm_text prereq_partition(const struct engine *e, const char *name);

#endif
