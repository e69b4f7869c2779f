/* jobs.h - what burstd does about jobs: it sends back those that lack a node, makes them wait, has
 * those whose nodes will be taken save their work, and follows those that lost one.
 *
 * All of it goes through squeue and scontrol, whose answers come later.  x_jobs(), x_details() and
 * the like take an answer, or in err why there is none.  x_told() takes what became of an order
 * to slurmctld: err NULL, or ok, means that it was done. */
#ifndef BURSTD_JOBS_JOBS_H
#define BURSTD_JOBS_JOBS_H

#include "core/drift.h"
#include "core/reclaim.h"
#include "core/wish.h"
#include "engine/kernel.h"
#include "jobs/job.h"
#include "jobs/jobs_api.h"
#include "slurm/version.h"
#include "store/journal_jobs.h"

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

struct rescue_leaving { /* jobs with machines on their way out, by number (rescue_hold.c) */
	uint64_t *jobs;
	size_t n, cap;
	bool known; /* in this pass */
};

/* Why a job is to save its work: commands of one kind never wait for those of the other. */
enum checkpoint_kind {
	CHECKPOINT_RECLAIM, /* its machine goes */
	CHECKPOINT_MONEY,   /* its budget is used up */
	CHECKPOINT_KINDS,
};

struct jobs_state {
	struct map by_number;       /* all jobs: job.h */
	void *parts[JOB_NCONCERNS]; /* of each concern, the newest first */
	void *oldest[JOB_NCONCERNS];
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
	struct job_lookup *lookups; /* nodes whose jobs squeue is to name */
	struct rescue_leaving leaving;
	struct notice_index notices;
	struct hook *hooks; /* checkpoint commands that run */
	unsigned nhooks[CHECKPOINT_KINDS];
	struct prereq *prereq;
	struct dynamic *dynamic;
	struct joblist *joblist;
	uint64_t placed_known;     /* machines whose place was known when placed.c last looked */
	int64_t placed_next;       /* when it looks again */
	bool placed_asks;          /* for the comments of jobs */
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
	JOBS_FOR_FACTS = 32,
	JOBS_FOR_HOLDS = 64,
	JOBS_FOR_LADDER = 128,
	JOBS_FOR_PLACED = 256,
	JOBS_FOR_LIST = 512,
	/* These read who pays for the jobs. */
	JOBS_WITH_PAYERS = JOBS_FOR_INTAKE | JOBS_FOR_FACTS | JOBS_FOR_HOLDS,
};
/* Ask for a list of all jobs.  Concurrent requests share one squeue; a request made while squeue
 * runs waits for the next run, since the running one may have read the jobs before. */
void jobs_want(struct engine *e, enum jobs_for who);
/* Likewise for intake, with the columns that show what each job asks for. */
void jobs_want_wishes(struct engine *e, enum wish_need need);
bool jobs_coming(const struct engine *e, enum jobs_for who); /* an answer is still to come */
extern const struct engine_part jobs_part;
/* Give squeue's answer to each part that asked for it: squeue_says() of part.h. */
void jobs_answer(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- query.c --- */
extern const struct engine_part query_part;
void query_answer(struct engine *e, const char *text, size_t len, const struct err *failure);

/* --- refuse.c --- */
/* Mark a node as refused; the next turn sends it and the other nodes of its job back to
 * slurmctld.  text is shown to people; NULL: the text of `why`, or what the provider said. */
void refuse_mark(struct engine *e, struct fleet_name *nm, enum node_reason why, const char *text);
/* There is more money than when some were refused for want of it. */
void refuse_money(struct engine *e);
extern const struct engine_part refuse_part;

/* --- postpone.c --- */
/* Why a job's nodes were sent back. */
struct postpone_why {
	char text[160];
	struct refusal_hint hint;
	uint32_t pool; /* that it is about */
	enum node_reason reason;
	uint32_t nodes; /* of the job; 0: not known */
	/* It needs several nodes, which could not be had at once, and since its last refusal the
	 * pool bought others there. */
	bool passed_over;
};
/* Make a job wait whose nodes were just sent back: by its StartTime, longer with each refusal. */
void postpone_job(struct engine *e, const struct slurm_job *j, const struct postpone_why *why);
extern const struct engine_part postpone_part;
void postpone_told(struct engine *e, const struct slurm_order *o, const struct err *err);
void postpone_details(struct engine *e, const char *text, size_t len, int64_t began_ms,
		      const struct err *err);

/* --- postpone_comment.c --- */
/* Write text into the job's AdminComment, unless it holds words of somebody else, and clear it when
 * the job has its nodes. */
void postpone_say(struct engine *e, const struct slurm_job_detail *d, const char *id,
		  const char *text);
void postpone_bought(struct engine *e, uint64_t number); /* the job's nodes were bought */

/* --- postpone_anew.c --- */
/* Let jobs that no wait could help try again: the configuration has changed. */
void postpone_anew(struct engine *e);
/* Likewise for this job: there is money for it. */
void postpone_paid(struct engine *e, uint64_t number);
/* Likewise for all jobs that lacked money. */
void postpone_money(struct engine *e);
/* Likewise for those of them that wait, but for these n, which it sorts. */
void postpone_money_but(struct engine *e, uint64_t *numbers, size_t n);
/* Likewise for each job of whose pool an offer costs less than when the job was refused. */
void postpone_quotes(struct engine *e, bool cheaper);
/* Likewise for each job that its user has edited, by the answer to SLURM_SOME_JOBS. */
void postpone_words(struct engine *e, const char *text, size_t len);

/* --- postpone_table.c --- */
void postpone_load(struct engine *e, const struct journal_refusal *r);
/* The next job that waits since its nodes were refused, from `*at` (NULL: the first); false: no
 * more.
 */
bool postpone_each(const struct engine *e, const void **at, struct engine_joblist_job *out);
/* How long the job still waits by burstd's order; 0: it does not. */
int64_t postpone_left_ms(const struct engine *e, uint64_t number);
/* Is slurmctld still to be told that the job waits?  It may not answer for minutes. */
bool postpone_is_untold(const struct engine *e, uint64_t number);
/* When it was told so last, by this life of burstd; 0: it was not. */
int64_t postpone_told_ms(const struct engine *e, uint64_t number);
/* Was the job passed over so often that it is its turn, alone and before others (ADR 48)? */
bool postpone_goes_first(const struct engine *e, uint64_t number);
void postpone_went_first(struct engine *e, uint64_t number); /* it has had its turn */
/* The job's refusals so far; all zero: none, or too long ago to count. */
struct refusal postpone_look(const struct engine *e, uint64_t number);
void postpone_init(struct engine *e);

/* --- placed.c --- */
extern const struct engine_part placed_part;
void placed_details(struct engine *e, const char *text, size_t len, const struct err *err);
void placed_told(struct engine *e, const struct slurm_order *o, const struct err *err);
/* What each comment of placed.c begins with, which may be overwritten with what matters more. */
#define PLACED_WORDS "burstd: placed: "
static inline bool placed_is_words(struct slurm_text comment)
{
	size_t n = sizeof(PLACED_WORDS) - 1;

	return comment.n >= n && memcmp(comment.p, PLACED_WORDS, n) == 0;
}

/* --- joblist.c --- */
extern const struct engine_part joblist_part;

/* --- recall.c --- */
/* Requeue a heterogeneous job whose components have nodes while another one was refused its own. */
void recall_details(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- cancel.c --- */
/* Look at a node that is powering up, as a snapshot begun at began_ms has it, and send it back if
 * the job it boots for has ended. */
void cancel_look(struct engine *e, struct fleet_name *nm, const struct slurm_node *sn,
		 int64_t began_ms);
void cancel_told(struct engine *e, const struct slurm_order *o, bool ok);
extern const struct engine_part cancel_part;

/* --- gate.c --- */
extern const struct engine_part gate_part;
/* With budgets the job's gate opens only when there is money for it: it asks until then.  paid:
 * there is; unpaid: it ends the gate, once the job's srun has heard why. */
bool gate_asks(const struct engine *e, uint64_t number);
void gate_paid(struct engine *e, uint64_t number);
void gate_unpaid(struct engine *e, uint64_t number);
/* The pause between two snapshots: `otherwise`, or less while a gate waits. */
int64_t gate_poll_ms(const struct engine *e, int64_t otherwise);

/* --- srun.c --- */
/* Have the job's srun or salloc print text, once, before slurmctld gets any order that is given
 * after this call.  A batch job is told nothing. */
void srun_tell(struct engine *e, uint64_t job, const char *text);
/* Is any such text on its way, so that what ends jobs should wait? */
bool srun_talks(struct engine *e);
/* squeue says which of the jobs have a batch script. */
void srun_who(struct engine *e, const char *text, size_t len, const struct err *err);
extern const struct engine_part srun_part;

/* --- notice.c, notice_text.c --- */
enum { NOTICE_WHY_SIZE = 96 };
/* Convert the time of a notice from the provider's clock to ours; 0: not said.  The result is never
 * in the past, and never further away than the provider warns of a reclaim (caps.reclaim_ms). */
int64_t notice_when(const struct cloud *c, enum provider_notice_kind kind, int64_t at_ms);
extern const struct engine_part notice_part;
/* Stage a notice of an admin or a node. */
void notice_said(struct engine *e, const struct engine_notice *n, struct engine_notice_end *out);
/* Act on a durable row that has become DRAINING, or is DRAINING with another notice. */
void notice_follow(struct engine *e, struct fleet_node *fn, const struct node *was);
/* Drain the node in slurmctld, so that no job starts there; not if it is drained or down already.
 */
void notice_fence(struct engine *e, struct fleet_name *nm, const struct node *n);
/* When to tell the node's jobs, and when to power it down. */
void notice_plan(const struct engine *e, const struct fleet_node *fn, struct reclaim_plan *out);
void notice_text(char out[NOTICE_WHY_SIZE], const struct node *n); /* "burstd: ..." */
bool notice_signals(const struct conf_pool *p); /* are the pool's jobs told to save their work? */
void notice_told(struct engine *e, const struct slurm_order *o, bool ok);
bool notice_moving(const struct engine *e); /* is a machine about to be taken? */

/* --- told.c --- */
/* The job gets the signal to save its work. */
void told_note(struct engine *e, uint64_t job, const char *id);
/* Has it had the signal within RECLAIM_LEAD_MS?  Then it is at it. */
bool told_is(struct engine *e, uint64_t job);
/* slurmctld did not hear of the signal to these jobs. */
void told_unheard(struct engine *e, const char *names);
/* The job is back in the queue: its next run has not had the signal. */
void told_forget(struct engine *e, uint64_t job);
void told_tidy(struct engine *e); /* forget whom it was long ago */

/* --- checkpoint.c --- */
struct checkpoint { /* a job that is to save its work; all is borrowed */
	enum checkpoint_kind kind;
	uint64_t job, gen;
	const char *id, *node; /* its Slurm id; a node of it, and gen, that node's generation */
	int64_t until_ms;      /* then it is requeued, or ended */
	const char *why;       /* for the audit log */
};
extern const struct engine_part checkpoint_part;
enum checkpoint_word {
	CHECKPOINT_SILENT,  /* the pool has no checkpoint_signal, or too many orders wait */
	CHECKPOINT_QUEUED,  /* slurmctld is being told */
	CHECKPOINT_TOLD_IT, /* it had the signal RECLAIM_LEAD_MS ago, or later, and saves its work
			     */
};
/* Send the job the pool's checkpoint_signal, unless it has just had it for another reason: a
 * handler need not expect a second one. */
enum checkpoint_word checkpoint_signal(struct engine *e, const struct conf_pool *p, uint64_t job,
				       const char *id);
enum checkpoint_end {
	CHECKPOINT_NONE,   /* the pool has no checkpoint_command */
	CHECKPOINT_LATE,   /* no time is left for it */
	CHECKPOINT_FULL,   /* too many of this kind run: try again when one has ended */
	CHECKPOINT_STAGED, /* or it runs already, for another reason */
};
/* Stage the pool's checkpoint_command for the job. */
enum checkpoint_end checkpoint_command(struct engine *e, const struct conf_pool *p,
				       const struct checkpoint *j);
bool checkpoint_room(const struct engine *e, enum checkpoint_kind k);
/* Say that the job ends without its command, since there was no time for it. */
void checkpoint_missed(struct engine *e, const struct checkpoint *j);
/* Commit, and run what was staged (I28). */
void checkpoint_commands_run(struct engine *e);
void checkpoint_told(struct engine *e, const struct slurm_order *o, const struct err *err);

/* --- rescue.c --- */
struct rescue { /* one job */
	struct job_part in;
	struct journal_rescue j; /* as durable */
	int64_t look_ms, step_ms;
	int64_t tell_ms;   /* DUE: not before then */
	int64_t doubt_ms;  /* requeued, and its begin time makes no sense: since then; 0: not so */
	bool fits;         /* j.hold_ms is slurmctld's own; memory only */
	bool asked, stuck; /* in the question on the wire; told of */
	bool waits;        /* DUE, and not at work as far as is known: it can be told nothing */
	bool returns;      /* ... and came to work: is it still there? */
	bool telling;      /* the signal is queued */
	bool commanded;    /* the site's command runs, or has */
	bool crowded;      /* ... or waits until others of them have ended */
	bool counted;      /* in count.jobs_taken */
	/* It has ended before its node did, and is to be requeued. */
	enum rescue_back { RESCUE_AWAY, RESCUE_ASKED, RESCUE_TOLD } back;
};
/* Record that the job was told to save its work; how: for the event. */
void rescue_signalled(struct engine *e, struct rescue *r, const char *how);
void rescue_told(struct engine *e, const struct slurm_order *o, const struct err *err);
/* What people are told of a job that has ended, and is not requeued. */
enum { RESCUE_ENDED_SIZE = 96 };
void rescue_ended_text(char out[RESCUE_ENDED_SIZE], const struct slurm_job_detail *d);
extern const struct engine_part rescue_part;
/* squeue shows what became of the jobs that are followed. */
void rescue_fates(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- rescue_node.c --- */
/* Have slurmctld power a node down, as slurm_power_down() does, once the jobs on it are in the
 * journal; they are followed from then on (I16).  The node goes down without that if squeue does
 * not answer in RESCUE_WAIT_MS.  All code but tests calls this one. */
void rescue_power_down(struct engine *e, struct fleet_name *nm, bool dead, const char *why);
/* The second half of rescue_power_down(), without a word in the node's history; for tests. */
void rescue_node(struct engine *e, struct fleet_name *nm, bool dead, const char *why);
/* Ask squeue for the jobs on the node, which checkpoint.c then tells to save their work. */
void rescue_signal(struct engine *e, struct fleet_name *nm);
/* squeue shows the jobs on nodes that are to go down or to be told. */
void rescue_jobs(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- rescue_table.c --- */
/* Was the job told to save its work since it loses a node, or is it about to be? */
bool rescue_tells(const struct engine *e, uint64_t job);
void rescue_load(struct engine *e, const struct journal_rescue *j);
void rescue_free(struct engine *e);

/* --- insist.c --- */
/* Drain a node, or power it down, and repeat the order if slurmctld does not take it, or forgets
 * it.  why: a literal. */
void insist_drain(struct engine *e, struct fleet_name *nm, const char *why);
void insist_end(struct engine *e, struct fleet_name *nm); /* by an admin's order */
void insist_told(struct engine *e, const struct slurm_order *o, const struct err *err);
/* Repeat the order if a snapshot begun at began_ms shows, by nm->flags, that it was lost.  true: it
 * may still be lost, so ask slurmctld often: only who asks notices that it ended and came back. */
bool insist_look(struct engine *e, struct fleet_name *nm, int64_t began_ms);

/* --- prereq.c --- */
extern const struct engine_part prereq_part;
void prereq_hurry(struct engine *e); /* slurmctld is back: read slurm.conf in this turn */
/* Compare the features of our nodes in a snapshot, once a minute. */
void prereq_nodes(struct engine *e, const struct slurm_node *nodes, size_t n);
bool prereq_may_have(const struct engine *e, enum slurm_trait t); /* true if not known yet */
bool prereq_has(const struct engine *e, enum slurm_trait t);      /* false if not known yet */
/* How long slurmctld holds a requeued job back, as of the last minute; 0: not known. */
int64_t prereq_hold_ms(const struct engine *e);
/* What `scontrol -o show partitions` printed, while parts are told of settings; else empty. */
struct slurm_text prereq_shown_partitions(const struct engine *e);
/* Has slurm.conf other GPUs for some node of the pool than the pool's `gres`?  By the last snapshot
 * that was looked at, once a minute. */
bool prereq_has_own_gres(const struct engine *e, size_t pool);
/* Of each partition its name and node list, one a line, as of prereq_known_ms(). */
struct slurm_text prereq_partitions(const struct engine *e);
/* The percentage of RealMemory that a node must have; 0: slurmctld takes any, or not known yet. */
uint32_t prereq_memory_percent(const struct engine *e);
int64_t prereq_known_ms(const struct engine *e); /* when these settings were read; 0: never */
void prereq_answer(struct engine *e, enum slurm_question q, const char *text, size_t len);
/* The node list of a partition, as of the last minute; p NULL: no such partition, or not known yet.
 */
struct slurm_text prereq_partition(const struct engine *e, const char *name);

/* --- dynamic.c --- */
extern const struct engine_part dynamic_part;
bool dynamic_any(const struct engine *e); /* is any pool dynamic? */
void dynamic_told(struct engine *e, const struct slurm_order *o, const struct err *err);
/* Why nodes of dynamic pools that slurmctld lacks are not there yet, though burstd ordered them;
 * NULL: it has not ordered them yet, or none lack.  Borrowed until the next turn. */
const char *dynamic_why(const struct engine *e);

#endif
