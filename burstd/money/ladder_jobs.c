/* Ends the jobs that a used-up budget counts for: each is told, has time to save its work, and is
 * then requeued or cancelled.
 *
 * What a job was told, and which order slurmctld was given about it, is a row of the journal until
 * the job has gone: so a restart neither tells nor signals it anew, and one that it had requeued
 * waits for money all the same.  Orders follow from the budget and from what slurmctld shows, and
 * are given again as long as the job is there.  A signal counts once slurmctld has answered, so
 * that none is forgotten; a command may have died with us, and runs again while there is time. */
#include "money/ladder.h"

#include <stdio.h>
#include <string.h>

#include "base/clamp.h"
#include "base/fmt.h"
#include "base/hostlist.h"
#include "core/reclaim.h"
#include "jobs/jobs.h"
#include "money/hold.h"

enum {
	LADDER_AGAIN_MS = 60000,    /* from an order to the next one about the same job */
	LADDER_REFUSED_MS = 600000, /* ... if slurmctld refused it */
};

struct end {                   /* of one job */
	struct ending_at {     /* when it is requeued, and when it is cancelled */
		int64_t at_ms; /* INT64_MAX: it is not */
		struct budget_line line;
	} at[BUDGET_NSTEPS];
	uint32_t pool; /* of the first of its nodes here, and which that is */
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
	bool held;        /* something is held for it, or for a machine of its */
	int64_t begin_ms; /* when it began on the first of them; INT64_MAX: not known */
};

/* --- when it ends --------------------------------------------------------------------------------
 */

static bool ends(const struct end *end, enum budget_step s)
{
	return end->at[s].line.budget != NULL;
}

/* The hold is of the job, or of a machine that it runs on; begin_ms: when the job began there. */
static void find_end(const struct engine *e, const struct budget_hold *h, int64_t begin_ms,
		     struct end *out)
{
	out->held = true;
	for (int s = BUDGET_REQUEUES; s < BUDGET_NSTEPS; s++) {
		struct budget_line l;
		int64_t at = ladder_since(e, h, (enum budget_step)s, &l);

		if (at == 0)
			continue;
		at = (at > begin_ms ? at : begin_ms) + l.budget->grace_ms;
		if (at < out->at[s].at_ms)
			out->at[s] = (struct ending_at){at, l};
	}
}

/* first_ms: when the ladder first saw the job. */
static void find_end_at(const struct engine *e, const char *node, uint64_t job, int64_t first_ms,
			struct end *out)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, node);
	const struct fleet_node *fn = nm != NULL ? fleet_live(nm) : NULL;
	const struct hold_node *g = fn != NULL ? hold_find(e, node, fn->n.gen) : NULL;
	int64_t begin_ms = first_ms;

	if (g == NULL)
		return;
	if (out->node[0] == '\0') {
		out->pool = fn->n.pool;
		out->gen = fn->n.gen;
		(void)snprintf(out->node, sizeof(out->node), "%s", node);
	}
	for (const struct hold *h = g->first; h != NULL; h = h->next)
		if (h->job == job && hold_of(e, h)->kind == BUDGET_RUN) {
			begin_ms = hold_of(e, h)->from_ms;
			if (begin_ms < out->begin_ms)
				out->begin_ms = begin_ms;
		}
	for (const struct hold *h = g->first; h != NULL; h = h->next)
		if (h->job == job || hold_of(e, h)->kind == BUDGET_MACHINE)
			find_end(e, hold_of(e, h), begin_ms, out);
}

/* --- telling its user ----------------------------------------------------------------------------
 */

void ladder_say(struct engine *e, const struct ending *x, const char *type, const char *what)
{
	char text[300], job[SLURM_JOB_NAME_SIZE];

	(void)snprintf(text, sizeof(text), "job %s: %s", slurm_job_name(job, x->j.id, x->j.job),
		       what);
	engine_event(e, "", 0, type, text);
}

/* "budget physics is used up for 2026-11" */
static void add_why(char out[LADDER_WHY_SIZE], const char *budget, const char *value,
		    const char *period)
{
	(void)snprintf(out, LADDER_WHY_SIZE, "budget %.60s%s%.60s is used up for %.31s", budget,
		       value[0] != '\0' ? "/" : "", value, period);
}

static void why_of(char out[LADDER_WHY_SIZE], const struct budget_line *l)
{
	add_why(out, l->budget->name, l->value, l->period.name);
}

static void warn(struct engine *e, struct ending *x, enum budget_step s,
		 const struct ending_at *end)
{
	char text[400], why[LADDER_WHY_SIZE], at[FMT_TIME_SIZE];

	x->j.at[s].told = x->changed = true;
	why_of(why, &end->line);
	(void)snprintf(text, sizeof(text), "burstd: %s: this job is %s at %.19sZ%s%s", why,
		       s == BUDGET_KILLS ? "cancelled" : "requeued",
		       engine_time(e, at, end->at_ms > engine_now(e) ? end->at_ms : engine_now(e)),
		       end->line.budget->contact[0] != '\0' ? "; ask " : "",
		       end->line.budget->contact);
	srun_tell(e, x->j.job, text);
	ladder_say(e, x, "job-warned", text + strlen("burstd: "));
}

/* The job is not ended before its command has had its time.  Where too many run, it waits for one
 * to end, up to LADDER_SAVE_MS after its time. */
static void run_command(struct engine *e, struct ending *x, const struct end *end,
			enum budget_step s)
{
	const struct ending_at *at = &end->at[s];
	struct journal_end *j = &x->j.at[s];
	const bool crowded = j->crowded;
	const int64_t off_ms = j->put_off_ms;
	int64_t last_ms = at->at_ms + LADDER_SAVE_MS, whole_ms = engine_now(e) + RECLAIM_LEAD_MS;
	char why[LADDER_WHY_SIZE];
	struct checkpoint c = {.kind = CHECKPOINT_MONEY,
			       .job = x->j.job,
			       .gen = end->gen,
			       .id = x->j.id,
			       .node = end->node,
			       .until_ms = at->at_ms,
			       .why = why};

	why_of(why, &at->line);
	if (crowded && whole_ms > at->at_ms)
		c.until_ms = whole_ms < last_ms ? whole_ms : last_ms;
	switch (checkpoint_command(e, &e->conf->pools[x->pool], &c)) {
	case CHECKPOINT_NONE:
		break;
	case CHECKPOINT_LATE:
		x->at[s].commanded = true;
		if (crowded)
			checkpoint_missed(e, &c);
		break;
	case CHECKPOINT_FULL:
		j->crowded = e->money->ladders.crowded = true;
		j->put_off_ms = LADDER_SAVE_MS;
		break;
	case CHECKPOINT_STAGED:
		x->at[s].commanded = true;
		j->put_off_ms = c.until_ms - at->at_ms;
		break;
	}
	x->changed = x->changed || j->crowded != crowded || j->put_off_ms != off_ms;
}

/* It is requeued for this budget: it is tried again when there is any money. */
static void lacks(const struct engine *e, struct ending *x)
{
	const struct conf_budget *b = conf_budget_named(e->conf, x->j.budget);

	x->no = (struct budget_no){.budget = b,
				   .lack = BUDGET_LACKS_MONEY,
				   .needs = 1,
				   .limit = b != NULL ? b->amount_nano : 0,
				   .market = PROVIDER_SPOT}; /* which may use all of the amount */
	(void)snprintf(x->no.value, sizeof(x->no.value), "%s", x->j.value);
	(void)snprintf(x->no.period, sizeof(x->no.period), "%s", x->j.period);
}

static void remember(const struct engine *e, struct ending *x, const struct budget_line *l)
{
	(void)snprintf(x->j.budget, sizeof(x->j.budget), "%s", l->budget->name);
	(void)snprintf(x->j.value, sizeof(x->j.value), "%s", l->value);
	(void)snprintf(x->j.period, sizeof(x->j.period), "%.31s", l->period.name);
	lacks(e, x);
}

/* The job may end of it, and is requeued for its budget then: ladder_fate.c. */
static void send_signal(struct engine *e, struct ending *x, enum budget_step s,
			const struct budget_line *l)
{
	enum checkpoint_word w = checkpoint_signal(e, &e->conf->pools[x->pool], x->j.job, x->j.id);

	if (s == BUDGET_REQUEUES && w != CHECKPOINT_SILENT) {
		remember(e, x, l);
		x->changed = true; /* before slurmctld has the order */
	}
	x->at[s].signalling = w == CHECKPOINT_QUEUED;
	if (w != CHECKPOINT_TOLD_IT)
		return;
	x->j.at[s].signalled = x->changed = true;
}

/* Have the job save its work, as if its node were to go: if it is, the job is told for that, and
 * once.  One that is suspended would not get the signal.  What was saved before the job's end was
 * put off is old by then. */
static void save_work(struct engine *e, struct ending *x, const struct end *end, enum budget_step s,
		      bool runs)
{
	const struct ending_at *at = &end->at[s];

	if (engine_now(e) < at->at_ms - RECLAIM_LEAD_MS) {
		x->changed = x->changed || x->j.at[s].signalled;
		x->j.at[s].signalled = x->at[s].signalling = x->at[s].commanded = false;
		return;
	}
	if (rescue_tells(e, x->j.job))
		return;
	if (runs && !x->j.at[s].signalled && !x->at[s].signalling)
		send_signal(e, x, s, &at->line);
	if (!x->at[s].commanded)
		run_command(e, x, end, s);
}

/* --- ending it -----------------------------------------------------------------------------------
 */

bool ladder_order(struct engine *e, struct ending *x, enum budget_step s, const char *because)
{
	bool first = x->j.ordered != s;
	char why[LADDER_WHY_SIZE];

	(void)snprintf(why, sizeof(why), "%s", because);
	if (x->alone) /* orders with one reason become one command */
		(void)snprintf(why + strlen(why), sizeof(why) - strlen(why), " (%s)", x->j.id);
	if (!(s == BUDGET_KILLS ? slurm_cancel(e->slurm, x->j.id, why)
				: slurm_requeue(e->slurm, x->j.id, why)))
		return false; /* too many wait */
	x->again_ms = engine_now(e) + LADDER_AGAIN_MS;
	x->j.ordered = s;
	x->changed = x->changed || first;
	return first;
}

static void order(struct engine *e, struct ending *x, enum budget_step s,
		  const struct budget_line *l)
{
	char why[LADDER_WHY_SIZE];

	why_of(why, l);
	if (!ladder_order(e, x, s, why))
		return;
	if (s == BUDGET_REQUEUES)
		remember(e, x, l);
	ladder_say(e, x, s == BUDGET_KILLS ? "job-cancelled" : "job-sent-back", why);
}

/* A job that can be requeued is: it is cancelled only after slurmctld has answered. */
static void end_job(struct engine *e, struct ending *x, const struct end *end)
{
	int64_t now = engine_now(e);
	bool requeues = ends(end, BUDGET_REQUEUES) && now >= end->at[BUDGET_REQUEUES].at_ms;
	bool kills = ends(end, BUDGET_KILLS) && now >= end->at[BUDGET_KILLS].at_ms &&
		     (!requeues || x->j.tried);
	enum budget_step s = kills ? BUDGET_KILLS : BUDGET_REQUEUES;
	bool goes_on = x->j.ordered == BUDGET_REQUEUES && x->j.refused == BUDGET_REQUEUES;

	for (int i = BUDGET_REQUEUES; i < BUDGET_NSTEPS; i++)
		if (now >= end->at[i].at_ms && now - end->at[i].at_ms < x->j.at[i].put_off_ms)
			return;
	if ((requeues || kills) && (now >= x->again_ms || (kills && goes_on)))
		order(e, x, s, &end->at[s].line);
}

/* --- its row -------------------------------------------------------------------------------------
 */

void ladder_write_row(struct engine *e, struct ending *x)
{
	if (!x->changed)
		return;
	x->changed = false;
	x->j.at_ms = engine_now(e);
	journal_put_ending(engine_tx(e), &x->j);
}

static bool is_forgotten(struct engine *e, void *part)
{
	const struct ending *x = part;

	journal_del_ending(engine_tx(e), x->j.job);
	return true;
}

void ladder_drop(struct engine *e, struct ending *x)
{
	(void)is_forgotten(e, x);
	job_drop(e, x);
}

static struct ending *make(struct engine *e, uint64_t job, int64_t first_ms)
{
	struct ending *x = job_get(e, job, JOB_ENDING, sizeof(*x));

	x->j.job = job;
	x->j.first_ms = first_ms;
	x->changed = true;
	return x;
}

/* Of a start: what is there may be about an earlier run, which ended while burstd was away, or
 * about another job of that number (F50). */
static struct ending *continued(struct engine *e, struct ending *x, const struct end *end)
{
	const uint64_t job = x->j.job;
	const bool requeued = x->j.tried && x->j.refused < BUDGET_REQUEUES;

	x->loaded = false;
	if (!requeued && (end->begin_ms == INT64_MAX || end->begin_ms <= x->j.at_ms))
		return x;
	ladder_drop(e, x);
	return make(e, job, engine_now(e));
}

/* --- what squeue says ----------------------------------------------------------------------------
 */

static void act(struct engine *e, struct ending *x, const struct slurm_job *j,
		const struct end *end)
{
	enum budget_step next = end->at[BUDGET_REQUEUES].at_ms <= end->at[BUDGET_KILLS].at_ms &&
						x->j.refused < BUDGET_REQUEUES
					? BUDGET_REQUEUES
					: BUDGET_KILLS;
	int64_t at_ms;

	(void)snprintf(x->j.id, sizeof(x->j.id), "%s", j->id);
	x->pool = end->pool;
	(void)snprintf(x->j.pool, sizeof(x->j.pool), "%s", e->conf->pools[end->pool].name);
	if (ends(end, next) && !x->j.at[next].told)
		warn(e, x, next, &end->at[next]);
	if (ends(end, next))
		save_work(e, x, end, next, slurm_job_running(j));
	end_job(e, x, end);
	ladder_write_row(e, x);
	at_ms = clamp_add(end->at[next].at_ms, x->j.at[next].put_off_ms);
	if (ends(end, next) && at_ms > engine_now(e) && at_ms < e->money->ladders.squeue_ms)
		e->money->ladders.squeue_ms = at_ms;
}

/* Note where the job is.  One that had gone, and has nodes, is at its next run: NULL. */
static struct ending *noted(struct engine *e, struct ending *x, const struct slurm_job *j)
{
	if (x == NULL)
		return NULL;
	if (x->gone && (slurm_job_placed(j) || slurm_job_leaving(j))) {
		told_forget(e, x->j.job);
		ladder_drop(e, x);
		return NULL;
	}
	x->waits = slurm_text_is(j->state, "PENDING");
	x->seen = x->seen || slurm_job_leaving(j); /* it is told to wait when it is back there */
	return x;
}

/* Nothing ends it any more.  It may still end of the signal that it had. */
static bool let_go_of(struct engine *e, void *part)
{
	struct ending *x = part;

	if (!ladder_may_fail(x))
		return is_forgotten(e, x);
	if (!x->over)
		ladder_follow(e, x);
	x->over = true;
	return false;
}

static void let_go(struct engine *e, struct ending *x)
{
	if (let_go_of(e, x))
		job_drop(e, x);
}

static void on_job(void *ctx, const struct slurm_job *j)
{
	struct engine *e = ctx;
	struct end end = {.at = {[BUDGET_REQUEUES] = {.at_ms = INT64_MAX},
				 [BUDGET_KILLS] = {.at_ms = INT64_MAX}},
			  .begin_ms = INT64_MAX};
	struct ending *x = noted(e, job_find(e, j->number, JOB_ENDING), j);
	const int64_t first_ms = x != NULL ? x->j.first_ms : engine_now(e);
	struct hostlist *h;

	if (!slurm_job_placed(j) || slurm_job_leaving(j) ||
	    hostlist_parse(&h, j->nodes.p, j->nodes.n, NULL) != 0)
		return;
	for (size_t i = 0; i < h->n; i++)
		find_end_at(e, h->names[i], j->number, first_ms, &end);
	hostlist_free(h);
	if (x != NULL && !end.held) { /* nobody knows yet who pays for it */
		x->seen = true;
		return;
	}
	if (!ends(&end, BUDGET_REQUEUES) && !ends(&end, BUDGET_KILLS)) {
		if (x != NULL) { /* it goes on; should it ever end, its user is told anew */
			x->seen = true;
			let_go(e, x);
		}
		return;
	}
	if (x == NULL)
		x = make(e, j->number, first_ms);
	else if (x->loaded)
		x = continued(e, x, &end);
	x->seen = true;
	x->over = false;
	act(e, x, j, &end);
}

/* It is back in the queue, or has ended: have it wait there, with the reason. */
static void have_it_wait(struct engine *e, const struct ending *x)
{
	struct postpone_why why = {.hint = {.lasting = true, .money = true, .job = x->j.job},
				   .pool = x->pool,
				   .reason = NODE_BECAUSE_BUDGET};
	struct slurm_job j = {.number = x->j.job};
	char text[LADDER_WHY_SIZE];

	(void)snprintf(j.id, sizeof(j.id), "%s", x->j.id);
	add_why(text, x->no.budget->name, x->no.value, x->no.period);
	(void)snprintf(why.text, sizeof(why.text), "%.120s, so it was requeued", text);
	postpone_job(e, &j, &why);
	holds_refused(e, j.number, &x->no);
}

void ladder_back(struct engine *e, struct ending *x)
{
	told_forget(e, x->j.job);
	if (x->j.ordered == BUDGET_REQUEUES && x->no.budget != NULL && !x->over)
		have_it_wait(e, x);
	ladder_drop(e, x);
}

/* What became of one that may have ended of the signal squeue does not say here. */
static bool is_gone(struct engine *e, void *part)
{
	struct ending *x = part;

	if (x->seen) {
		x->seen = false;
		return false;
	}
	if (x->waits || !ladder_may_fail(x)) {
		ladder_back(e, x);
		return false;
	}
	if (!x->gone) {
		told_forget(e, x->j.job);
		ladder_follow(e, x);
	}
	x->gone = true;
	return false;
}

void ladder_jobs_says(struct engine *e, const char *text, size_t len, const struct err *err)
{
	if (err != NULL || holds_budgets(e) == NULL)
		return;
	e->money->ladders.crowded = false;
	slurm_job_parse(text, len, on_job, e);
	job_forget(e, JOB_ENDING, is_gone);
	checkpoint_commands_run(e);
}

/* --- what slurmctld answers ----------------------------------------------------------------------
 */

/* One that slurmctld did not hear of is given again. */
static void told_signal(struct ending *x, const struct err *err)
{
	bool lost = err != NULL && (err->code == ERR_NOTSENT || slurm_unheard(err));

	for (int s = BUDGET_REQUEUES; s < BUDGET_NSTEPS; s++) {
		if (!x->at[s].signalling)
			continue;
		x->at[s].signalling = false;
		x->j.at[s].signalled = !lost;
		x->changed = true;
		if (lost && s == BUDGET_REQUEUES && x->j.ordered == BUDGET_GOES_ON)
			x->j.budget[0] = '\0';
	}
}

static void told_one(struct engine *e, struct ending *x, const struct slurm_order *o,
		     const struct err *err)
{
	const enum budget_step s = strcmp(o->verb, "requeue") == 0 ? BUDGET_REQUEUES : BUDGET_KILLS;
	const bool again = x->j.refused == s;
	char text[240];

	if (err != NULL && (err->code == ERR_NOTSENT || strchr(o->names, ',') != NULL)) {
		/* Which of several it does not take is not said. */
		x->alone = x->alone || err->code != ERR_NOTSENT;
		x->again_ms = 0;
		return;
	}
	x->changed = x->changed || (s == BUDGET_REQUEUES && !x->j.tried);
	x->j.tried = x->j.tried || s == BUDGET_REQUEUES;
	if (err == NULL)
		return;
	x->again_ms = engine_now(e) + LADDER_REFUSED_MS;
	if (again) /* it was said */
		return;
	x->j.refused = s;
	x->changed = true;
	if (x->gone) /* ... when slurmctld shows how it ended */
		return;
	(void)snprintf(text, sizeof(text), "slurmctld refuses to %s it, and it goes on: %.160s",
		       o->verb, err->msg);
	ladder_say(e, x, "job-goes-on", text);
}

static void told_end(struct engine *e, struct ending *x, const struct slurm_order *o,
		     const struct err *err)
{
	bool unheard = err != NULL && err->code != ERR_NOTSENT && slurm_unheard(err);

	x->asked = false; /* what squeue is about to say of it is older */
	if (!unheard)
		told_one(e, x, o, err);
	else if (x->gone)
		x->again_ms = 0; /* slurmctld does not know it for ever */
}

/* A job of srun, or of sbatch --no-requeue, is not requeued: it goes on until kill_at. */
void ladder_told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	bool ends_it = strcmp(o->verb, "requeue") == 0 || strcmp(o->verb, "cancel") == 0;
	bool signals = strcmp(o->verb, "signal") == 0;

	if (!ends_it && !signals)
		return;
	for (struct ending *x = e->jobs->parts[JOB_ENDING]; x != NULL; x = x->in.next) {
		if (signals && slurm_job_among(o->names, x->j.id))
			told_signal(x, err);
		else if (ends_it && slurm_job_requeued_by(o->names, x->j.id))
			told_end(e, x, o, err);
		ladder_write_row(e, x);
	}
}

/* --- life ----------------------------------------------------------------------------------------
 */

void ladder_jobs_load(struct engine *e, const struct journal_ending *j)
{
	struct ending *x = job_get(e, j->job, JOB_ENDING, sizeof(*x));

	x->j = *j;
	if (x->j.first_ms > engine_now(e)) /* the clock has gone back (F57) */
		x->j.first_ms = engine_now(e);
	if (x->j.at_ms > engine_now(e))
		x->j.at_ms = engine_now(e);
	x->loaded = true;
	if (ladder_may_fail(x)) /* while burstd was away: slurmctld forgets it soon */
		ladder_follow(e, x);
}

void ladder_jobs_reload(struct engine *e)
{
	for (struct ending *x = e->jobs->parts[JOB_ENDING]; x != NULL; x = x->in.next) {
		const struct conf_pool *p = conf_pool_named(e->conf, x->j.pool);

		x->pool = p != NULL ? conf_pool_index(e->conf, p) : 0;
		lacks(e, x);
	}
}

void ladder_jobs_forget(struct engine *e)
{
	job_forget(e, JOB_ENDING, let_go_of);
}
