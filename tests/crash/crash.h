/* crash.h - burstd dies at the k-th thing it does, for every k, and starts again.
 *
 * One world (story.c): a 10-node gang, called by the hook, created in batches of two of which one
 * is made in part, refused for that, created again with one lost reply, registered; the job runs,
 * burstd is restarted by an admin, one machine is reclaimed, the job is requeued and gets another,
 * by a call that went through the spool; it ends, all are suspended, deleted and billed; then a job
 * of two nodes, which runs for ever.  Once with a provider that has tokens, once with lists alone.
 * Core, engine, driver, store/, io/spool.c and the spool of burst-hook are the daemon's own
 * objects; cloud and slurmctld are the simulator's.
 *
 * What counts as a thing to die before: each write, truncation, sync, creation, renaming, deletion
 * and sync of a directory below /var/lib/burstd and /var/spool/burstd; each request to the cloud or
 * to slurmctld, before it is sent and after; each answer to a hook.
 *
 * "The same final state" as without a crash:
 *   - the gang's job has run to its end, once; the second job runs, on two nodes;
 *   - each of its nodes has exactly one instance, the one that registered, its row is READY with
 *     this instance and slurmctld has its address; all other nodes are powered down, have no
 *     instance, and their rows are GONE or forgotten;
 *   - nobody's instance but ours was touched;
 *   - each instance of ours that has ended has exactly one bill, from its start and not to before
 *     its end, and none that lives has one;
 *   - no call waits in the journal, no file in the spool, and each that the hook said is there was
 *     taken from there;
 *   - what the journal holds is what was committed, row by row.
 * Names of instances, generations, times, and how often a machine had to be made may differ.
 *
 * And on the way: the invariants of tests/sim at every step; after each restart the journal has all
 * that was committed, and of a commit that was under way all or nothing; the uuid is the same for
 * ever once burstd was up; nothing is sent and no call acknowledged while a byte of the journal is
 * not synced (I1, I29); each acknowledged call is there after the restart. */
#ifndef CRASH_CRASH_H
#define CRASH_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../sim/world.h"
#include "disk.h"
#include "store/journal.h"
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
	unsigned calls;  /* of hooks */
	uint64_t moment; /* changes with all but the disk: two crashes of one moment differ by it
			    alone */
	bool dead;       /* between the crash and its end by life_end() */
	bool muted;      /* nothing counts */
	bool lengthened; /* the log was */
	bool in_hook;    /* a hook is writing, another process */
	uint64_t dice;
	/* burstd's parts that the simulator does not have */
	struct state_dir state;
	bool locked, uuid_known;
	struct timer *spool_timer;
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

/* hook.c: a call that burstd did not take goes into the spool, by burst-hook's own code. */
void hook_keep(struct crash *c, const struct journal_call *call);
int hook_drain(struct crash *c, struct err *e);
/* Every call that the hook said is in the spool was taken from there (I29). */
void hook_check(struct crash *c);
void hook_forget(void); /* another world begins */

/* main.c: an operation is about to happen; true: now, and this process is the one to die. */
bool run_is_due(struct crash *c);
/* A life begins from a disk that looks so. */
void run_has_begun(struct crash *c, uint64_t disk);

/* calls.c, and what it asks for */
void calls_close_all(void);
int64_t crash_now(void);
void crash_random(void *out, size_t len);

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
void shadow_put_pool(struct journal_tx *tx, const struct journal_pool *p);
void shadow_put_claim(struct journal_tx *tx, const struct claim *c);
void shadow_del_claim(struct journal_tx *tx, const char *node, uint64_t gen);
void shadow_put_voucher(struct journal_tx *tx, const struct voucher *v);
void shadow_del_voucher(struct journal_tx *tx, const char *node, uint64_t gen);
void shadow_end_call(struct journal_tx *tx, int64_t seq);
int shadow_commit(struct journal_tx *tx, struct err *e);
void shadow_abandon(struct journal_tx *tx);
int shadow_add_call(struct journal *j, const struct journal_call *c, int64_t *seq, struct err *e);
int shadow_load(struct journal *j, const struct journal_visitor *v, struct err *e);
int shadow_get_number(struct journal *j, const char *key, int64_t *out, struct err *e);
int64_t shadow_last_event(struct journal *j);

#endif
