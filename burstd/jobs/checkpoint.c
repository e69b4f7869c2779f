#include "jobs/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/proc.h"
#include "store/journal_audit.h"

/* Tells the jobs of a node whose machine will be taken away to save their work: by a signal, by a
 * command of the site, or by both, as the pool says.  Those whose budget is used up are told so by
 * money/ladder.c, in the same ways.
 *
 * That a job is to be told is written down before (rescue_node.c), and that it was told after: none
 * is forgotten, a job may be told twice if burstd dies in between, and none is told twice
 * otherwise.  The fence never waits for any of this; all of this waits for the fence. */

enum {
	CHECKPOINT_HOOKS_MAX = 16,  /* of a kind at a time; others wait for one to end */
	CHECKPOINT_RETRY_MS = 2000, /* slurmctld could not be reached */
	CHECKPOINT_OUT_MAX = 4096,
};

struct hook { /* a command that runs, or is about to */
	struct hook *next;
	struct engine *e; /* NULL: the engine is gone */
	enum checkpoint_kind kind;
	uint64_t job, gen;
	char id[JOURNAL_JOB_ID_MAX + 1];
	char node[HOSTLIST_NAME_MAX + 1];
	int64_t until_ms;
	const struct conf_pool *pool; /* until it runs */
};

/* The row that the job loses, if there is still time to save anything; NULL: none. */
static const struct fleet_node *machine_of(const struct engine *e, const struct rescue *r,
					   int64_t *until_ms)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, r->j.node);
	const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, r->j.gen) : NULL;
	struct reclaim_plan plan;

	if (fn == NULL || fn->n.state != NODE_DRAINING)
		return NULL;
	notice_plan(e, fn, &plan);
	*until_ms = plan.force_ms;
	return engine_now(e) < plan.force_ms ? fn : NULL;
}

/* --- a command of the site ---------------------------------------------------------------------
 */

static void add_word(struct str *out, const char *word, const struct hook *k)
{
	for (const char *p = word; *p != '\0'; p++) {
		if (*p != '%')
			str_addf(out, "%c", *p);
		else if (*++p == 'j')
			str_adds(out, k->id);
		else if (*p == 'n')
			str_adds(out, k->node);
		else if (*p == 'd')
			str_addf(out, "%" PRId64, engine_wall(k->e, k->until_ms) / 1000);
		else
			str_adds(out, "%");
	}
}

static void unlink_hook(struct hook *k)
{
	struct hook **at = &k->e->jobs->hooks;

	while (*at != k)
		at = &(*at)->next;
	*at = k->next;
	k->e->jobs->nhooks[k->kind]--;
}

static void say_failed(struct engine *e, const struct checkpoint *j, const char *what)
{
	char detail[320], job[SLURM_JOB_NAME_SIZE];

	(void)snprintf(detail, sizeof(detail), "job %s: checkpoint_command: %.200s",
		       slurm_job_name(job, j->id, j->job), what);
	engine_event(e, j->node, j->gen, "checkpoint-failed", detail);
}

static void complain(struct engine *e, const struct hook *k, const char *what)
{
	say_failed(e,
		   &(struct checkpoint){.job = k->job, .gen = k->gen, .id = k->id, .node = k->node},
		   what);
}

void checkpoint_missed(struct engine *e, const struct checkpoint *j)
{
	say_failed(e, j, "it did not run: there was no time for it");
}

static void on_hook(void *ctx, const struct proc_reply *r, const struct err *err)
{
	struct hook *k = ctx;
	struct engine *e = k->e;
	char what[200];

	if (e != NULL) {
		unlink_hook(k);
		if (err != NULL) {
			complain(e, k, err->msg);
		} else if (r->status != 0) {
			(void)snprintf(what, sizeof(what), "exit status %d: %.*s", r->status,
				       (int)strcspn(r->errors, "\n"), r->errors);
			complain(e, k, what);
		}
		engine_turn(e);
	}
	free(k);
}

static void run_hook(struct engine *e, struct hook *k)
{
	char conf[300];
	const char *const envp[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
				    e->conf->slurm_conf != NULL ? conf : NULL, NULL};
	char *const *words = k->pool->checkpoint_command;
	int64_t left = k->until_ms - engine_now(e);
	const char *argv[CONF_ARGS_MAX + 1];
	struct str args[CONF_ARGS_MAX];
	struct proc_call call = {.argv = argv,
				 .envp = envp,
				 .timeout_ms =
					 left < RECLAIM_LEAD_MS ? (uint32_t)left : RECLAIM_LEAD_MS,
				 .max_out = CHECKPOINT_OUT_MAX};
	struct err err;
	size_t n = 0;

	(void)snprintf(conf, sizeof(conf), "SLURM_CONF=%s",
		       e->conf->slurm_conf != NULL ? e->conf->slurm_conf : "");
	for (; words[n] != NULL; n++) {
		str_init(&args[n], CONF_ARG_MAX + HOSTLIST_NAME_MAX * 8);
		add_word(&args[n], words[n], k);
		argv[n] = args[n].p;
	}
	argv[n] = NULL;
	k->pool = NULL; /* the configuration may change while it runs */
	if (proc_run(e->d.proc, &call, on_hook, k, &err) != 0) {
		complain(e, k, err.msg);
		unlink_hook(k);
		free(k);
	}
	while (n > 0)
		str_fini(&args[--n]);
}

bool checkpoint_room(const struct engine *e, enum checkpoint_kind k)
{
	return e->jobs->nhooks[k] < CHECKPOINT_HOOKS_MAX;
}

static bool is_running(const struct engine *e, uint64_t job)
{
	for (const struct hook *k = e->jobs->hooks; k != NULL; k = k->next)
		if (k->job == job)
			return true;
	return false;
}

enum checkpoint_end checkpoint_command(struct engine *e, const struct conf_pool *p,
				       const struct checkpoint *j)
{
	struct hook *k;

	if (p->checkpoint_command == NULL)
		return CHECKPOINT_NONE;
	if (j->until_ms <= engine_now(e))
		return CHECKPOINT_LATE;
	if (is_running(e, j->job)) /* for another reason: two at once would write one file */
		return CHECKPOINT_STAGED;
	if (!checkpoint_room(e, j->kind))
		return CHECKPOINT_FULL;
	k = mem_zalloc(sizeof(*k));
	*k = (struct hook){.next = e->jobs->hooks,
			   .e = e,
			   .kind = j->kind,
			   .job = j->job,
			   .gen = j->gen,
			   .until_ms = j->until_ms,
			   .pool = p};
	(void)snprintf(k->id, sizeof(k->id), "%s", j->id);
	(void)snprintf(k->node, sizeof(k->node), "%s", j->node);
	e->jobs->hooks = k;
	e->jobs->nhooks[j->kind]++;
	journal_put_audit(engine_tx(e), &(struct journal_audit){.at_ms = engine_now(e),
								.actor = "reconciler",
								.verb = "checkpoint",
								.target = p->checkpoint_command[0],
								.object = k->id,
								.reason = j->why,
								.request = k->node});
	return CHECKPOINT_STAGED;
}

void checkpoint_commands_run(struct engine *e)
{
	struct hook *k = e->jobs->hooks, *next;

	engine_commit(e);
	for (; k != NULL && !e->dead; k = next) {
		next = k->next;
		if (k->pool != NULL)
			run_hook(e, k);
	}
}

static void checkpoint_free(struct engine *e)
{
	while (e->jobs->hooks != NULL) {
		struct hook *k = e->jobs->hooks;

		e->jobs->hooks = k->next;
		if (k->pool != NULL) /* it never ran */
			free(k);
		else
			k->e = NULL;
	}
}

/* --- telling -----------------------------------------------------------------------------------
 */

static bool has_signal(const struct conf_pool *p)
{
	return p->checkpoint_signal != NULL && p->checkpoint_signal[0] != '\0';
}

/* The option uses scancel's words. */
enum checkpoint_word checkpoint_signal(struct engine *e, const struct conf_pool *p, uint64_t job,
				       const char *id)
{
	static const enum slurm_signal_to to[] = {[CONF_TO_BATCH] = SLURM_TO_BATCH,
						  [CONF_TO_STEPS] = SLURM_TO_STEPS,
						  [CONF_TO_FULL] = SLURM_TO_BOTH};

	if (!has_signal(p))
		return CHECKPOINT_SILENT;
	if (told_is(e, job))
		return CHECKPOINT_TOLD_IT;
	if (!slurm_signal(e->slurm, id, p->checkpoint_signal, to[p->checkpoint_to]))
		return CHECKPOINT_SILENT;
	told_note(e, job, id);
	return CHECKPOINT_QUEUED;
}

static void send_signal(struct engine *e, struct rescue *r, const struct conf_pool *p)
{
	enum checkpoint_word w = checkpoint_signal(e, p, r->j.job, r->j.id);

	r->telling = w == CHECKPOINT_QUEUED;
	r->tell_ms = engine_now(e) + CHECKPOINT_RETRY_MS;
	if (w == CHECKPOINT_TOLD_IT)
		rescue_signalled(e, r, "a moment ago, as its budget is used up");
}

static void tell(struct engine *e, struct rescue *r)
{
	struct checkpoint c = {.kind = CHECKPOINT_RECLAIM,
			       .job = r->j.job,
			       .gen = r->j.gen,
			       .id = r->j.id,
			       .node = r->j.node,
			       .why = "its node will be taken away"};
	const struct fleet_node *fn = machine_of(e, r, &c.until_ms);
	const struct conf_pool *p = fn != NULL ? &e->conf->pools[fn->n.pool] : NULL;
	enum checkpoint_end end;

	if (p == NULL || !notice_signals(p)) {
		if (r->j.signal == JOURNAL_SIGNAL_DUE)
			r->j.signal = JOURNAL_SIGNAL_NONE; /* too late, or not any more */
		if (r->crowded && !r->commanded)
			checkpoint_missed(e, &c);
		r->commanded = true;
		return;
	}
	if (r->j.signal == JOURNAL_SIGNAL_DUE && !r->telling && has_signal(p) &&
	    engine_now(e) >= r->tell_ms)
		send_signal(e, r, p);
	/* Tried again once a command ends; the signal does not wait for that. */
	if (r->commanded)
		return;
	end = checkpoint_command(e, p, &c);
	r->crowded = end == CHECKPOINT_FULL;
	if (end != CHECKPOINT_STAGED)
		return;
	r->commanded = true;
	if (!has_signal(p))
		rescue_signalled(e, r, "the site's command");
}

/* Is the job to be told?  Not before its node is fenced: if it ended at once, slurmctld would start
 * another job there.  Not before the first snapshot either, which shows whether the node must be
 * fenced.  Other orders to slurmctld are not waited for. */
static bool is_due(const struct engine *e, const struct rescue *r)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, r->j.node);

	return e->poll.snapshot_ms != 0 && r->j.at_ms != 0 && r->j.signal != JOURNAL_SIGNAL_NONE &&
	       !r->waits && (r->j.signal == JOURNAL_SIGNAL_DUE || !r->commanded) &&
	       (nm == NULL || !nm->fencing);
}

/* Fence the node now if its notice came before the first snapshot since the start, when nobody knew
 * whether a fence was needed, and that snapshot is older than the notice.  A fence older than the
 * notice was for the machine that had the name then. */
static bool fence_first(struct engine *e, const struct rescue *r)
{
	struct fleet_name *nm = fleet_find(&e->fleet, r->j.node);
	const struct fleet_node *fn = nm != NULL ? fleet_live(nm) : NULL;

	if (fn == NULL || fn->n.state != NODE_DRAINING ||
	    (nm->fenced_ms != 0 && nm->fenced_ms >= fn->n.noticed_ms))
		return false;
	notice_fence(e, nm, &fn->n);
	return nm->fencing;
}

/* Have jobs save their work: by a signal, by the site's command, or both, as their pools say. */
static void checkpoint_run(struct engine *e)
{
	unsigned hooks = e->jobs->nhooks[CHECKPOINT_RECLAIM];

	for (struct rescue *r = e->jobs->parts[JOB_RESCUED]; r != NULL; r = r->in.next)
		if (is_due(e, r) && !fence_first(e, r))
			tell(e, r);
	if (e->jobs->nhooks[CHECKPOINT_RECLAIM] > hooks)
		checkpoint_commands_run(e);
	told_tidy(e);
}

static int64_t checkpoint_next_ms(const struct engine *e)
{
	int64_t next = INT64_MAX;

	for (const struct rescue *r = e->jobs->parts[JOB_RESCUED]; r != NULL; r = r->in.next)
		if (r->j.signal == JOURNAL_SIGNAL_DUE && !r->telling && !r->waits &&
		    r->tell_ms > engine_now(e) && r->tell_ms < next)
			next = r->tell_ms;
	return next;
}

/* scancel also fails if one of its jobs is gone: the others got the signal. */
void checkpoint_told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	bool lost = err != NULL && slurm_unheard(err);

	if (strcmp(o->verb, "signal") != 0)
		return;
	if (lost)
		told_unheard(e, o->names);
	for (struct rescue *r = e->jobs->parts[JOB_RESCUED]; r != NULL; r = r->in.next) {
		if (r->j.signal != JOURNAL_SIGNAL_DUE || !r->telling ||
		    !slurm_job_among(o->names, r->j.id))
			continue;
		if (lost) {
			r->telling = false;
			r->tell_ms = engine_now(e) + CHECKPOINT_RETRY_MS;
		} else {
			rescue_signalled(e, r, o->what);
		}
	}
}

const struct engine_part checkpoint_part = {
	.name = "checkpoints",
	.at = {[PART_RUN] = checkpoint_run, [PART_FREE] = checkpoint_free},
	.next_ms = checkpoint_next_ms,
};
