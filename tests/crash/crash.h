/* crash.h - burstd dies at the k-th thing it does, for every k, and starts again.
 *
 * One world (story.c): a 10-node gang, called by the hook, created in batches of two of which one
 * is made in part, refused for that, created again with one lost reply, registered; the job runs,
 * burstd is restarted by an admin with a new image in burstd.conf, one machine is reclaimed, the
 * job is requeued and gets another, by a call that came late: the first canary; it ends, all are
 * suspended, deleted and billed; then a call that makes no sense, and a job of two nodes, one of
 * them the second canary, which runs for ever while the image is rolled out.  Once with a provider
 * that has tokens, once with lists alone.  All calls of slurmctld are files in the spool; burstd
 * acts on the first of them while its hook still syncs.  Core, engine, driver, store/, io/spool.c
 * and burst-hook are the daemon's own objects; cloud, slurmctld and what inotify says are the
 * simulator's or ours.
 *
 * What counts as a thing to die before: each write, truncation, sync, creation, renaming, deletion
 * and sync of a directory below /var/lib/burstd and /var/spool/burstd; each request to the cloud or
 * to slurmctld, before it is sent and after.  Hooks are other processes: they outlive burstd, not a
 * power cut, and write while burstd is down, too.
 *
 * "The same final state" as without a crash:
 *   - the gang's job has run to its end, once; the second job runs, on two nodes;
 *   - each of its nodes has exactly one instance, the one that registered, its row is READY with
 *     this instance and slurmctld has its address; all other nodes are powered down, have no
 *     instance, and their rows are GONE or forgotten;
 *   - the new image is rolled out, or stopped where a canary could not reach burstd in time;
 *   - nobody's instance but ours was touched;
 *   - each instance of ours that has ended has exactly one bill, from its start and not to before
 *     its end, and none that lives has one;
 *   - no file is left in the spool but NAME.bad, or one half made, of hooks that died with the
 *     machine; and each that a hook said is there was offered to the engine;
 *   - what the journal holds is what was committed, row by row.
 * Names of instances, generations, times, and how often a machine had to be made may differ.
 *
 * And on the way: the invariants of tests/sim at every step; after each restart the journal has all
 * that was committed, and of a commit that was under way all or nothing; the uuid is the same for
 * ever once burstd was up; nothing is sent while a byte of the journal is not synced (I1).  Of each
 * call (I29): when its hook ends well the file and its name are synced; it is offered as the hook
 * wrote it, not twice in one life, and acted on only when it is fresh; a burstd deletes only what
 * it has offered itself, and what it has acted on only when all of that is synced; what was durable
 * is never set aside. */
#ifndef CRASH_CRASH_H
#define CRASH_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../sim/sim_spool.h"
#include "../sim/world.h"
#include "disk.h"
#include "store/journal.h"
#include "store/journal_alerts.h"
#include "store/journal_audit.h"
#include "store/journal_budget.h"
#include "store/journal_jobs.h"
#include "store/journal_life.h"
#include "store/journal_money.h"
#include "store/journal_nodes.h"
#include "store/journal_pools.h"
#include "store/journal_usage.h"
#include "store/state_dir.h"

#define CRASH_STATE_DIR "/var/lib/burstd"
#define CRASH_JOURNAL   CRASH_STATE_DIR "/journal.db"

struct crash_plan { /* die before operation `at`, and then before `again`; 0: not */
	uint64_t at, again;
	enum disk_model model, model_again;
};

struct crash { /* one world, with burstd in it */
	struct world w;
	struct crash_plan plan;
	uint64_t ops;            /* so far */
	uint64_t count[OP_NOPS]; /* of each kind */
	uint64_t deaths;
	unsigned calls;        /* of hooks */
	unsigned fresh, hints; /* ... as the engine took them */
	uint64_t commits;      /* so far */
	uint64_t moment;   /* changes with all but the disk: two crashes of one moment differ by it
			      alone */
	bool dead;         /* between the crash and its end by life_end() */
	bool muted;        /* nothing counts */
	bool lengthened;   /* the log was */
	bool in_hook;      /* a hook is writing, another process */
	int64_t booted_ms; /* when the machine was, last */
	unsigned begins;   /* of burstd that were ordered: only the last counts */
	uint64_t dice;
	/* burstd's parts that the simulator does not have */
	struct state_dir state;
	bool locked, uuid_known;
	struct timer *house_timer;
};

extern struct crash crash; /* the one there is: libc's functions have no argument for it */

/* story.c */
void story_begin(struct crash *c, bool tokens, bool trace);
void story_run(struct crash *c); /* to its end, or until w.failed */
void story_end(struct crash *c);
const char *story_lacks(const struct crash *c); /* NULL: nothing */

/* life.c: lives of burstd, from the disk. */
void life_begin(struct crash *c);
void life_restart(struct crash *c); /* by an admin */

/* The journal and the uuid are on the disk for good, or else: what, while they are not. */
void life_check_synced(struct crash *c, const char *what);
void life_again(struct crash *c); /* it died, and burstd was down already */
/* A hook is another process: it lives on when burstd is killed, and not when the power is cut. */
bool life_hook_lives(const struct crash *c);

/* hook.c: a hook leaves this call in the spool.  Is it durable, does it say? */
bool hook_run(struct crash *c, const struct sim_call *call);

/* spool.c: a name on the disk was made (from is ""), moved, or deleted (to is ""). */
void spool_saw(struct crash *c, const char *from, const char *to);
void spool_check_end(struct crash *c); /* nothing is left, and nothing was lost */
void spool_forget(void);               /* another world begins */

/* main.c: an operation is about to happen; true: now, and this process is the one to die. */
bool run_is_due(struct crash *c);
/* A life begins from a disk that looks so. */
void run_has_begun(struct crash *c, uint64_t disk);

/* calls.c, and what it asks for */
void calls_close_all(void);
int64_t crash_now(void);
int64_t crash_boot(void); /* since the machine was booted */
void crash_random(void *out, size_t len);

/* dump.c: a journal as text. */
typedef int (*crash_load_fn)(struct journal *j, const struct journal_visitor *v, struct err *e);
typedef int (*crash_number_fn)(struct journal *j, const char *key, int64_t *out, struct err *e);
/* What the journal holds, as text, by these two functions; *out is the caller's, also if -1. */
int crash_dump(struct journal *j, crash_load_fn load, crash_number_fn number, char **out,
	       struct err *e);

/* tee.c: two journals, the real one and the simulator's, which must say the same. */
struct journal *tee_real(void);
int tee_open(struct crash *c, struct err *e); /* and compare */
void tee_close(void);
void tee_compare(struct crash *c); /* while it is open */

/* shadow.c: the simulator's journal, under other names. */
struct journal_tx *shadow_begin(struct journal *j);
void shadow_put_node(struct journal_tx *tx, const struct node *n, const char *pool);
void shadow_del_node(struct journal_tx *tx, const char *name, uint64_t gen);
void shadow_put_batch(struct journal_tx *tx, const struct journal_batch *b);
void shadow_del_batch(struct journal_tx *tx, uint64_t id);
void shadow_put_event(struct journal_tx *tx, int64_t at_ms, const char *node, uint64_t gen,
		      const char *type, const char *detail);
void shadow_put_audit(struct journal_tx *tx, const struct journal_audit *a);
void shadow_put_usage(struct journal_tx *tx, const struct journal_usage *u);
void shadow_put_number(struct journal_tx *tx, const char *key, int64_t value);
void shadow_put_refusal(struct journal_tx *tx, const struct journal_refusal *r);
void shadow_del_refusal(struct journal_tx *tx, uint64_t job);
void shadow_put_rescue(struct journal_tx *tx, const struct journal_rescue *r);
void shadow_del_rescue(struct journal_tx *tx, uint64_t job);
void shadow_put_drained(struct journal_tx *tx, const char *node, uint64_t gen);
void shadow_del_drained(struct journal_tx *tx, const char *node, uint64_t gen);
void shadow_put_ending(struct journal_tx *tx, const struct journal_ending *x);
void shadow_del_ending(struct journal_tx *tx, uint64_t job);
void shadow_put_life(struct journal_tx *tx, const struct journal_life *l);
void shadow_put_machine(struct journal_tx *tx, const struct journal_machine *m);
void shadow_put_buyer(struct journal_tx *tx, const char *node, uint64_t gen, uint64_t job);
void shadow_put_job_said(struct journal_tx *tx, int64_t at_ms, uint64_t job, const struct payer *p);
void shadow_put_hold(struct journal_tx *tx, const struct journal_hold *h);
void shadow_del_hold(struct journal_tx *tx, const struct journal_hold *h);
void shadow_put_spent(struct journal_tx *tx, const struct journal_spent *s);
void shadow_del_spent(struct journal_tx *tx, int64_t day);
void shadow_put_pool(struct journal_tx *tx, const struct journal_pool *p);
void shadow_put_roll(struct journal_tx *tx, const struct journal_roll *x);
void shadow_put_budget(struct journal_tx *tx, const struct journal_budget *b);
void shadow_put_budget_steps(struct journal_tx *tx, const struct journal_budget *b);
void shadow_put_budget_end(struct journal_tx *tx, const struct journal_budget *b);
void shadow_del_budgets(struct journal_tx *tx, int64_t end_ms);
void shadow_put_override(struct journal_tx *tx, const struct journal_override *o);
void shadow_put_alert(struct journal_tx *tx, const struct alert *a);
void shadow_del_alert(struct journal_tx *tx, int64_t seq);
void shadow_put_alert_message(struct journal_tx *tx, const struct alert_message *m);
void shadow_del_alert_message(struct journal_tx *tx, int64_t seq);
void shadow_put_price(struct journal_tx *tx, const struct price *p);
void shadow_put_claim(struct journal_tx *tx, const struct claim *c);
void shadow_del_claim(struct journal_tx *tx, const char *node, uint64_t gen);
void shadow_put_voucher(struct journal_tx *tx, const struct voucher *v);
void shadow_del_voucher(struct journal_tx *tx, const char *node, uint64_t gen);
int shadow_commit(struct journal_tx *tx, struct err *e);
void shadow_abandon(struct journal_tx *tx);
int shadow_load(struct journal *j, const struct journal_visitor *v, struct err *e);
int shadow_get_number(struct journal *j, const char *key, int64_t *out, struct err *e);
int64_t shadow_last_event(struct journal *j);
int shadow_usage_of(struct journal *j, const struct journal_usage_key *k, journal_usage_fn fn,
		    void *ctx, struct err *e);

#endif
