#include "buy/buy.h"
#include "diff/diff.h"
#include "jobs/jobs.h"
#include "money/money.h"

#include <stdio.h>
#include <string.h>

#include "io/loop.h"

/* Polls slurmctld, and gives its answers to the parts. */

/* Is anything under way that a snapshot will show? */
static bool moving(const struct engine *e)
{
	return e->poll.moving || !e->poll.polled || e->buy->calls != NULL ||
	       e->fleet.states[NODE_WANTED] != NULL || e->fleet.states[NODE_CREATING] != NULL ||
	       e->fleet.states[NODE_INDOUBT] != NULL || e->fleet.states[NODE_BOOTING] != NULL ||
	       notice_moving(e);
}

static void poll(struct engine *e)
{
	int64_t every = gate_poll_ms(e, moving(e) ? ENGINE_POLL_MS : ENGINE_POLL_IDLE_MS);
	int64_t now = engine_now(e);

	if (e->poll.polling)
		return;
	if (e->poll.error[0] == '\0' && e->poll.next_ms > e->poll.began_ms + every)
		e->poll.next_ms = e->poll.began_ms + every;
	if (now < e->poll.next_ms)
		return;
	e->poll.began_ms = now;
	e->poll.next_ms = now + every;
	e->poll.polling = slurm_ask(e->slurm, SLURM_SNAPSHOT);
	e->count.polls += e->poll.polling;
}

/* --- its answers -------------------------------------------------------------------------------
 */

static void slurm_failed(struct engine *e, const struct err *err)
{
	e->poll.failed_ms = engine_now(e);
	if (strcmp(e->poll.error, err->msg) != 0)
		log_write(e->d.log, LOG_WARN, "slurmctld does not answer", "error", err->msg, NULL);
	(void)snprintf(e->poll.error, sizeof(e->poll.error), "%s", err->msg);
	e->poll.step_ms = engine_longer(e->poll.step_ms);
	e->poll.next_ms = engine_now(e) + e->poll.step_ms;
}

/* All of a snapshot is compared. */
static void snapshot_ends(struct engine *e)
{
	e->poll.polling = false;
	engine_spend(e, e->slice.read / ENGINE_LOOKS); /* the last piece, in this turn */
	engine_turn(e);
}

static void on_look(void *ctx)
{
	struct engine *e = ctx;

	if (e->diff->look == NULL || e->dead)
		return;
	log_hold(e->d.log);
	if (observe_some(e))
		snapshot_ends(e);
	log_release(e->d.log);
}

/* Before burstd has created the nodes of dynamic pools slurmctld may have none at all.  Where
 * slurm.conf is to have them, such an answer is not to be believed: 22.05 gives it while all nodes
 * are powered down, without PrivateData=cloud. */
static bool has_no_nodes(const struct engine *e, const struct err *err)
{
	return err->code == ERR_INVALID && dynamic_any(e) &&
	       strstr(err->msg, "\"No nodes in the system") != NULL;
}

/* The poll counts as running until all of the snapshot is compared. */
static void take_snapshot(struct engine *e, int64_t began_ms, const struct err *err)
{
	if (err != NULL && has_no_nodes(e, err))
		err = NULL;
	if (err != NULL && err->code != ERR_INVALID) {
		e->poll.polling = false;
		slurm_failed(e, err);
		engine_turn(e);
		return;
	}
	e->poll.step_ms = 0;
	if (e->poll.failed_ms > e->poll.ok_ms)
		prereq_hurry(e); /* slurmctld may have another slurm.conf now */
	e->poll.took_ms = engine_now(e) - began_ms;
	if (observe_snapshot(e, began_ms, err))
		snapshot_ends(e);
}

static void on_answer(void *ctx, enum slurm_question q, const char *text, size_t len,
		      int64_t began_ms, const struct err *err)
{
	struct engine *e = ctx;

	log_hold(e->d.log);
	engine_look_at_clock(e);
	switch (q) {
	case SLURM_SNAPSHOT: /* and a turn when it is looked at */
		take_snapshot(e, began_ms, err);
		log_release(e->d.log);
		return;
	case SLURM_CONFIGURING:
	case SLURM_JOBS:
		jobs_answer(e, text, len, err);
		break;
	case SLURM_ONE_JOB:
		query_answer(e, text, len, err);
		break;
	case SLURM_DETAILS:
		postpone_details(e, text, len, began_ms, err);
		recall_details(e, text, len, err);
		break;
	case SLURM_SOME_JOBS:
		if (err == NULL) /* else in a minute */
			postpone_words(e, text, len);
		break;
	case SLURM_WHO:
		srun_who(e, text, len, err);
		break;
	case SLURM_FATES:
		rescue_fates(e, text, len, err);
		ladder_fates(e, text, len, err);
		break;
	case SLURM_PLACED:
		placed_details(e, text, len, err);
		break;
	case SLURM_ACCOUNTS:
		accounts_answer(e, text, len, err);
		break;
	default:
		prereq_answer(e, q, text, len);
		break;
	}
	engine_turn(e);
	log_release(e->d.log);
}

static void told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	bool sent = err == NULL || err->code != ERR_NOTSENT;

	if (err != NULL)
		log_write(e->d.log, sent ? LOG_WARN : LOG_INFO,
			  sent ? "slurmctld refused an update" : "an update was not sent", "error",
			  err->msg, NULL);
	if (!sent && o->given)
		audit_unsent(e, o, err->msg);
	insist_told(e, o, err);
	notice_told(e, o, err == NULL);
	cancel_told(e, o, err == NULL);
	postpone_told(e, o, err);
	placed_told(e, o, err);
	checkpoint_told(e, o, err);
	rescue_told(e, o, err);
	ladder_told(e, o, err);
	dynamic_told(e, o, err);
}

static void on_updated(void *ctx, const struct slurm_order *o, const struct err *err)
{
	struct engine *e = ctx;

	e->count.updates += err == NULL || err->code != ERR_NOTSENT;
	if (!o->again)
		told(e, o, err);
	engine_turn(e);
}

/* --- the part ----------------------------------------------------------------------------------
 */

static void slurmctld_reload(struct engine *e)
{
	slurm_configure(e->slurm, e->conf->slurm_bin, e->conf->slurm_conf);
}

static void slurmctld_init(struct engine *e)
{
	const struct slurm_callbacks cb = {observe_node, on_answer, on_updated, e, e->d.zone};

	e->slurm = slurm_new(e->d.proc, e->d.loop, e->d.log, e->slice.read, &cb);
	slurmctld_reload(e);
	e->diff->look_timer = timer_new(e->d.loop, on_look, e);
}

static void slurmctld_send(struct engine *e)
{
	if (e->diff->look == NULL) /* otherwise a job's nodes would be sent back in two steps */
		slurm_flush(e->slurm);
	poll(e);
}

static int64_t slurmctld_next_ms(const struct engine *e)
{
	int64_t next = e->poll.polling ? INT64_MAX : e->poll.next_ms;

	return slurm_held_until(e->slurm) < next ? slurm_held_until(e->slurm) : next;
}

static void slurmctld_stop(struct engine *e)
{
	slurm_free(e->slurm);
	timer_free(e->diff->look_timer);
}

const struct engine_part slurmctld_part = {
	.name = "slurmctld",
	.at = {[PART_INIT] = slurmctld_init,
	       [PART_RELOAD] = slurmctld_reload,
	       [PART_SEND] = slurmctld_send,
	       [PART_STOP] = slurmctld_stop,
	       [PART_FREE] = observe_free},
	.next_ms = slurmctld_next_ms,
};
