/* Ends what runs when a budget is used up, if the budget says so: it drains the nodes of its
 * machines (drain_at), and requeues (requeue_at) or cancels (kill_at) the jobs that it counts for,
 * `grace` after the step was reached.
 *
 * What counts is what was really spent, not what is set aside.  When a step was reached is in the
 * journal, so the grace does not begin anew with burstd.  The rest is memory: each order follows
 * from the budget and from what slurmctld shows, and is given again as long as the job is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/fmt.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "core/reclaim.h"
#include "jobs/jobs.h"
#include "money/hold.h"
#include "money/line.h"

enum {
	LADDER_MS = 10000,          /* between two looks at sums, and at jobs that are to end */
	LADDER_AGAIN_MS = 60000,    /* from an order to the next one about the same job */
	LADDER_REFUSED_MS = 600000, /* ... if slurmctld refused it */
	LADDER_CROWD_MS = 2000,     /* between two looks at jobs while some wait for a command */
	WHY_SIZE = 192,
};

struct ending { /* a job whose budget is used up */
	struct job_part in;
	char id[SLURM_JOB_ID_MAX + 1];
	uint32_t pool; /* of one of its nodes */
	bool seen;     /* squeue shows it */
	struct ending_step {
		bool told; /* its user, that it ends by this step */
		/* It was told to save its work: by the signal, by the site's command. */
		bool signalled, commanded;
		bool crowded; /* too many commands ran when it was to be told */
		/* So much later than at its time it ends, since its command waits, or had to. */
		int64_t put_off_ms;
	} at[BUDGET_NSTEPS];
	bool tried; /* slurmctld has answered its requeue */
	bool alone; /* slurmctld refused a requeue of several: it is asked for this one */
	/* When it was first seen here: a job that no hold is for yet may have begun then. */
	int64_t first_ms;
	enum budget_step ordered; /* the last order to slurmctld ... */
	enum budget_step refused; /* ... and the last that slurmctld refused */
	int64_t again_ms;         /* then the order is repeated */
	struct budget_no no;
};

static bool ends_jobs(const struct conf_budget *b)
{
	return b->drain_at != 0 || b->requeue_at != 0 || b->kill_at != 0;
}

static void configure(struct engine *e)
{
	struct ladders *l = &e->money->ladders;

	l->any = l->due = false;
	for (size_t i = 0; i < e->conf->nbudgets; i++)
		l->any = l->any || ends_jobs(&e->conf->budgets[i]);
	l->look_ms = engine_now(e);
}

/* --- which step ----------------------------------------------------------------------------------
 */

/* What was spent of each line up to now. */
static int64_t *used_of(struct engine *e, size_t n)
{
	struct budgets *b = e->money->budgets;
	int64_t *used = mem_zalloc((n + 1) * sizeof(*used)), now = engine_now(e);

	for (size_t i = 0; i < n; i++)
		used[i] = budgets_line(b, i).spent;
	for (const struct hold_node *g = e->money->nodes; g != NULL; g = g->next)
		for (const struct hold *h = g->first; h != NULL; h = h->next) {
			const struct budget_hold *hold = hold_of(e, h);
			const uint32_t *at;
			size_t lines = budgets_lines_of(b, hold->spender, &at);

			for (size_t k = 0; k < lines; k++)
				used[at[k]] = clamp_add(used[at[k]],
							budgets_accrued(b, at[k], hold, now));
		}
	return used;
}

/* The percent of the amount from which on the step is taken; 0: never. */
static uint32_t percent_of(const struct conf_budget *b, enum budget_step s)
{
	const uint32_t at[BUDGET_NSTEPS] = {0, b->drain_at, b->requeue_at, b->kill_at};

	return at[s];
}

static void announce(struct engine *e, const struct budget_line *l, enum budget_step step)
{
	static const char *const what[BUDGET_NSTEPS] = {
		"it has room again: nothing more is ended for it",
		"the nodes of its machines are drained", "its jobs are requeued",
		"its jobs are cancelled"};
	char text[200], grace[FMT_DUR_SIZE];
	int n = snprintf(text, sizeof(text), "budget %s%s%s: ", l->budget->name,
			 l->value[0] != '\0' ? "/" : "", l->value);

	if (step != BUDGET_GOES_ON)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "%u %% used up: ", percent_of(l->budget, step));
	n += snprintf(text + n, sizeof(text) - (size_t)n, "%s", what[step]);
	if (step >= BUDGET_REQUEUES && l->budget->grace_ms > 0)
		(void)snprintf(text + n, sizeof(text) - (size_t)n, " in %s",
			       fmt_duration(grace, l->budget->grace_ms));
	engine_event(e, "", 0, "budget-step", text);
}

/* Note which of the budget's steps are reached; true: some has just been, or is not any more. */
static bool note_steps(const struct engine *e, struct money_line *m, const struct conf_budget *b,
		       enum budget_step now_at)
{
	bool changed = false;

	for (int s = BUDGET_NSTEPS - 1; s > BUDGET_GOES_ON; s--) {
		bool is = s <= (int)now_at && percent_of(b, (enum budget_step)s) != 0;
		bool was = m->since_ms[s] != 0;

		if (is == was)
			continue;
		m->since_ms[s] = is ? engine_now(e) : 0;
		changed = true;
	}
	return changed;
}

/* Is it the time that the line is about?  Holds are looked at less often than jobs are. */
static bool is_now(const struct engine *e, const struct budget_line *l)
{
	return l->when == PERIOD_NOW && engine_now(e) < l->period.end_ms;
}

static void look_at_sums(struct engine *e)
{
	struct budgets *b = e->money->budgets;
	size_t n = budgets_lines(b);
	int64_t *used = used_of(e, n);

	e->money->ladders.due = false;
	for (size_t i = 0; i < n; i++) {
		const struct budget_line l = budgets_line(b, i);
		struct money_line *m;
		enum budget_step step;

		if (!ends_jobs(l.budget) || !is_now(e, &l))
			continue;
		step = budget_step(&l, used[i]);
		m = money_line_of(e, &l);
		if (note_steps(e, m, l.budget, step)) {
			announce(e, &l, step);
			money_line_write(e, m, &l);
			e->money->ladders.squeue_ms = engine_now(e); /* its jobs are warned now */
		}
		if (step != BUDGET_GOES_ON)
			e->money->ladders.due = true;
	}
	free(used);
}

/* --- nodes ---------------------------------------------------------------------------------------
 */

/* The time since when a line of the hold has reached the step, the earliest; 0: none has.  at: the
 * line. */
static int64_t since_of(const struct engine *e, const struct budget_hold *h, enum budget_step step,
			struct budget_line *at)
{
	struct budgets *b = e->money->budgets;
	int64_t first = 0;
	const uint32_t *lines;
	size_t n = budgets_lines_of(b, h->spender, &lines);

	for (size_t i = 0; i < n; i++) {
		const struct budget_line l = budgets_line(b, lines[i]);
		const struct money_line *m =
			ends_jobs(l.budget) && is_now(e, &l) ? money_line_find(e, &l) : NULL;

		if (m == NULL || m->since_ms[step] == 0 ||
		    (first != 0 && first <= m->since_ms[step]))
			continue;
		first = m->since_ms[step];
		*at = l;
	}
	return first;
}

/* Drain the node, once: if an admin resumes it, that is the last word. */
static void drain(struct engine *e, struct hold_node *g)
{
	struct fleet_name *nm = fleet_find(&e->fleet, g->node);
	const struct fleet_node *fn = nm != NULL ? fleet_live(nm) : NULL;
	const uint32_t goes = SLURM_DRAIN | SLURM_DOWN | SLURM_POWER_DOWN | SLURM_POWERING_DOWN;
	struct budget_line l;
	bool used_up = false;

	if (g->drained)
		return;
	for (const struct hold *h = g->first; h != NULL; h = h->next)
		used_up = used_up || (hold_of(e, h)->kind == BUDGET_MACHINE &&
				      since_of(e, hold_of(e, h), BUDGET_DRAINS, &l) != 0);
	if (!used_up || fn == NULL || fn->n.gen != g->gen || fn->n.state != NODE_READY ||
	    !slurm_is_on(nm->flags))
		return;
	g->drained = true;
	if ((nm->flags & goes) == 0)
		insist_drain(e, nm, ENGINE_WHY_USED_UP);
}

/* --- jobs ----------------------------------------------------------------------------------------
 */

struct end {                   /* of one job */
	struct ending_at {     /* when it is requeued, and when it is cancelled */
		int64_t at_ms; /* INT64_MAX: it is not */
		struct budget_line line;
	} at[BUDGET_NSTEPS];
	uint32_t pool; /* of the first of its nodes here, and which that is */
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
};

static bool ends(const struct end *end, enum budget_step s)
{
	return end->at[s].line.budget != NULL;
}

/* The hold is of the job, or of a machine that it runs on; begin_ms: when the job began there. */
static void find_end(const struct engine *e, const struct budget_hold *h, int64_t begin_ms,
		     struct end *out)
{
	for (int s = BUDGET_REQUEUES; s < BUDGET_NSTEPS; s++) {
		struct budget_line l;
		int64_t at = since_of(e, h, (enum budget_step)s, &l);

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
		if (h->job == job && hold_of(e, h)->kind == BUDGET_RUN)
			begin_ms = hold_of(e, h)->from_ms;
	for (const struct hold *h = g->first; h != NULL; h = h->next)
		if (h->job == job || hold_of(e, h)->kind == BUDGET_MACHINE)
			find_end(e, hold_of(e, h), begin_ms, out);
}

static void say(struct engine *e, const struct ending *x, const char *type, const char *what)
{
	char text[300], job[SLURM_JOB_NAME_SIZE];

	(void)snprintf(text, sizeof(text), "job %s: %s",
		       slurm_job_name(job, x->id, x->in.job->number), what);
	engine_event(e, "", 0, type, text);
}

/* "budget physics is used up for 2026-11" */
static void add_why(char out[WHY_SIZE], const char *budget, const char *value, const char *period)
{
	(void)snprintf(out, WHY_SIZE, "budget %.60s%s%.60s is used up for %.31s", budget,
		       value[0] != '\0' ? "/" : "", value, period);
}

static void why_of(char out[WHY_SIZE], const struct budget_line *l)
{
	add_why(out, l->budget->name, l->value, l->period.name);
}

static void warn(struct engine *e, struct ending *x, enum budget_step s,
		 const struct ending_at *end)
{
	char text[400], why[WHY_SIZE], at[FMT_TIME_SIZE];

	x->at[s].told = true;
	why_of(why, &end->line);
	(void)snprintf(text, sizeof(text), "burstd: %s: this job is %s at %.19sZ%s%s", why,
		       s == BUDGET_KILLS ? "cancelled" : "requeued",
		       engine_time(e, at, end->at_ms > engine_now(e) ? end->at_ms : engine_now(e)),
		       end->line.budget->contact[0] != '\0' ? "; ask " : "",
		       end->line.budget->contact);
	srun_tell(e, x->in.job->number, text);
	say(e, x, "job-warned", text + strlen("burstd: "));
}

/* The job is not ended before its command has had its time.  Where too many run, it waits for one
 * to end, up to LADDER_SAVE_MS after its time. */
static void run_command(struct engine *e, struct ending *x, const struct end *end,
			enum budget_step s)
{
	const struct ending_at *at = &end->at[s];
	int64_t last_ms = at->at_ms + LADDER_SAVE_MS, whole_ms = engine_now(e) + RECLAIM_LEAD_MS;
	char why[WHY_SIZE];
	struct checkpoint c = {.kind = CHECKPOINT_MONEY,
			       .job = x->in.job->number,
			       .gen = end->gen,
			       .id = x->id,
			       .node = end->node,
			       .until_ms = at->at_ms,
			       .why = why};

	why_of(why, &at->line);
	if (x->at[s].crowded && whole_ms > at->at_ms)
		c.until_ms = whole_ms < last_ms ? whole_ms : last_ms;
	switch (checkpoint_command(e, &e->conf->pools[x->pool], &c)) {
	case CHECKPOINT_NONE:
		break;
	case CHECKPOINT_LATE:
		x->at[s].commanded = true;
		if (x->at[s].crowded)
			checkpoint_missed(e, &c);
		break;
	case CHECKPOINT_FULL:
		x->at[s].crowded = e->money->ladders.crowded = true;
		x->at[s].put_off_ms = LADDER_SAVE_MS;
		break;
	case CHECKPOINT_STAGED:
		x->at[s].commanded = true;
		x->at[s].put_off_ms = c.until_ms - at->at_ms;
		break;
	}
}

/* Have the job save its work, as if its node were to go: if it is, the job is told for that, and
 * once.  What it saved before its end was put off is old by then. */
static void save_work(struct engine *e, struct ending *x, const struct end *end, enum budget_step s)
{
	const struct conf_pool *p = &e->conf->pools[x->pool];
	const struct ending_at *at = &end->at[s];

	if (engine_now(e) < at->at_ms - RECLAIM_LEAD_MS)
		x->at[s].signalled = x->at[s].commanded = false;
	if (engine_now(e) < at->at_ms - RECLAIM_LEAD_MS || rescue_tells(e, x->in.job->number))
		return;
	x->at[s].signalled = x->at[s].signalled || checkpoint_signal(e, p, x->id);
	if (!x->at[s].commanded)
		run_command(e, x, end, s);
}

/* It is tried again when there is any money. */
static void remember(struct ending *x, const struct budget_line *l)
{
	x->no = (struct budget_no){.budget = l->budget,
				   .lack = BUDGET_LACKS_MONEY,
				   .needs = 1,
				   .limit = l->amount,
				   .market = PROVIDER_SPOT}; /* which may use all of the amount */
	(void)snprintf(x->no.value, sizeof(x->no.value), "%s", l->value);
	(void)snprintf(x->no.period, sizeof(x->no.period), "%.31s", l->period.name);
}

static void order(struct engine *e, struct ending *x, enum budget_step s,
		  const struct budget_line *l)
{
	bool first = x->ordered != s;
	char why[WHY_SIZE];

	why_of(why, l);
	if (x->alone) /* orders with one reason become one command */
		(void)snprintf(why + strlen(why), sizeof(why) - strlen(why), " (%s)", x->id);
	if (!(s == BUDGET_KILLS ? slurm_cancel(e->slurm, x->id, why)
				: slurm_requeue(e->slurm, x->id, why)))
		return; /* too many wait */
	x->ordered = s;
	x->again_ms = engine_now(e) + LADDER_AGAIN_MS;
	if (s == BUDGET_REQUEUES)
		remember(x, l);
	if (first)
		say(e, x, s == BUDGET_KILLS ? "job-cancelled" : "job-sent-back", why);
}

/* A job that can be requeued is: it is cancelled only after slurmctld has answered. */
static void end_job(struct engine *e, struct ending *x, const struct end *end)
{
	int64_t now = engine_now(e);
	bool requeues = ends(end, BUDGET_REQUEUES) && now >= end->at[BUDGET_REQUEUES].at_ms;
	bool kills = ends(end, BUDGET_KILLS) && now >= end->at[BUDGET_KILLS].at_ms &&
		     (!requeues || x->tried);
	enum budget_step s = kills ? BUDGET_KILLS : BUDGET_REQUEUES;
	bool goes_on = x->ordered == BUDGET_REQUEUES && x->refused == BUDGET_REQUEUES;

	for (int i = BUDGET_REQUEUES; i < BUDGET_NSTEPS; i++)
		if (now >= end->at[i].at_ms && now - end->at[i].at_ms < x->at[i].put_off_ms)
			return;
	if ((requeues || kills) && (now >= x->again_ms || (kills && goes_on)))
		order(e, x, s, &end->at[s].line);
}

static void on_job(void *ctx, const struct slurm_job *j)
{
	struct engine *e = ctx;
	struct end end = {
		.at = {[BUDGET_REQUEUES].at_ms = INT64_MAX, [BUDGET_KILLS].at_ms = INT64_MAX}};
	enum budget_step next;
	struct ending *x = job_find(e, j->number, JOB_ENDING);
	int64_t at_ms, first_ms = x != NULL ? x->first_ms : engine_now(e);
	struct hostlist *h;

	if (x != NULL && slurm_job_leaving(j))
		x->seen = true; /* it can be told to wait when it is back in the queue */
	if (!slurm_job_placed(j) || slurm_job_leaving(j) ||
	    hostlist_parse(&h, j->nodes.p, j->nodes.n, NULL) != 0)
		return;
	for (size_t i = 0; i < h->n; i++)
		find_end_at(e, h->names[i], j->number, first_ms, &end);
	hostlist_free(h);
	if (!ends(&end, BUDGET_REQUEUES) && !ends(&end, BUDGET_KILLS)) {
		if (x != NULL) /* it goes on; should it ever end, its user is told anew */
			job_drop(e, x);
		return;
	}
	x = job_get(e, j->number, JOB_ENDING, sizeof(*x));
	x->first_ms = first_ms;
	(void)snprintf(x->id, sizeof(x->id), "%s", j->id);
	x->seen = true;
	x->pool = end.pool;
	next = end.at[BUDGET_REQUEUES].at_ms <= end.at[BUDGET_KILLS].at_ms &&
			       x->refused < BUDGET_REQUEUES
		       ? BUDGET_REQUEUES
		       : BUDGET_KILLS;
	if (ends(&end, next) && !x->at[next].told)
		warn(e, x, next, &end.at[next]);
	if (ends(&end, next))
		save_work(e, x, &end, next);
	end_job(e, x, &end);
	at_ms = clamp_add(end.at[next].at_ms, x->at[next].put_off_ms);
	if (ends(&end, next) && at_ms > engine_now(e) && at_ms < e->money->ladders.squeue_ms)
		e->money->ladders.squeue_ms = at_ms;
}

/* --- jobs that are gone from their nodes ---------------------------------------------------------
 */

/* It is back in the queue, or has ended: have it wait there, with the reason. */
static void have_it_wait(struct engine *e, const struct ending *x)
{
	struct postpone_why why = {
		.hint = {.lasting = true, .money = true, .job = x->in.job->number},
		.pool = x->pool};
	struct slurm_job j = {.number = x->in.job->number};

	char text[WHY_SIZE];

	(void)snprintf(j.id, sizeof(j.id), "%s", x->id);
	add_why(text, x->no.budget->name, x->no.value, x->no.period);
	(void)snprintf(why.text, sizeof(why.text), "%.120s, so it was requeued", text);
	postpone_job(e, &j, &why);
	holds_refused(e, j.number, &x->no);
}

static bool is_gone(struct engine *e, void *part)
{
	struct ending *x = part;

	if (x->seen) {
		x->seen = false;
		return false;
	}
	if (x->ordered == BUDGET_REQUEUES)
		have_it_wait(e, x);
	return true;
}

/* --- life ----------------------------------------------------------------------------------------
 */

static void ladder_says(struct engine *e, const char *text, size_t len, const struct err *err)
{
	if (err != NULL || holds_budgets(e) == NULL)
		return;
	e->money->ladders.crowded = false;
	slurm_job_parse(text, len, on_job, e);
	job_forget(e, JOB_ENDING, is_gone);
	checkpoint_commands_run(e);
}

static void told_one(struct engine *e, struct ending *x, const struct slurm_order *o,
		     const struct err *err)
{
	const bool requeue = strcmp(o->verb, "requeue") == 0;
	char text[240];

	if (err != NULL && (err->code == ERR_NOTSENT || strchr(o->names, ',') != NULL)) {
		/* Which of several it does not take is not said. */
		x->alone = x->alone || err->code != ERR_NOTSENT;
		x->again_ms = 0;
		return;
	}
	x->tried = x->tried || requeue;
	if (err == NULL)
		return;
	x->again_ms = engine_now(e) + LADDER_REFUSED_MS;
	x->refused = requeue ? BUDGET_REQUEUES : BUDGET_KILLS;
	(void)snprintf(text, sizeof(text), "slurmctld refuses to %s it, and it goes on: %.160s",
		       o->verb, err->msg);
	say(e, x, "job-goes-on", text);
}

/* A job of srun, or of sbatch --no-requeue, is not requeued: it goes on until kill_at. */
void ladder_told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	bool requeue = strcmp(o->verb, "requeue") == 0;

	if (!requeue && strcmp(o->verb, "cancel") != 0)
		return;
	if (err != NULL && err->code != ERR_NOTSENT && slurm_unheard(err))
		return;
	for (struct ending *x = e->jobs->parts[JOB_ENDING]; x != NULL; x = x->in.next)
		if (slurm_job_requeued_by(o->names, x->id))
			told_one(e, x, o, err);
}

/* What jobs lacked names budgets that are gone, and they may end at another time: they are told of
 * that, and ordered to end, anew.  Work that was saved for the same time is not saved again. */
static void ladder_reload(struct engine *e)
{
	configure(e);
	if (!e->money->ladders.any)
		job_forget(e, JOB_ENDING, NULL);
	for (struct ending *x = e->jobs->parts[JOB_ENDING]; x != NULL; x = x->in.next) {
		x->ordered = BUDGET_GOES_ON; /* x->no is of an order */
		for (int s = 0; s < BUDGET_NSTEPS; s++)
			x->at[s].told = false;
	}
}

static void ladder_run(struct engine *e)
{
	struct ladders *l = &e->money->ladders;

	if (!l->any || holds_budgets(e) == NULL)
		return;
	if (engine_now(e) >= l->look_ms) {
		l->look_ms = engine_now(e) + LADDER_MS;
		look_at_sums(e);
		for (struct hold_node *g = l->due ? e->money->nodes : NULL; g != NULL; g = g->next)
			drain(e, g);
		if (!l->due) /* nothing ends by it: what was said of jobs is over */
			job_forget(e, JOB_ENDING, NULL);
	}
	if (!l->due)
		return;
	if (l->crowded && checkpoint_room(e, CHECKPOINT_MONEY) &&
	    l->squeue_ms > l->asked_ms + LADDER_CROWD_MS)
		l->squeue_ms = l->asked_ms + LADDER_CROWD_MS;
	if (engine_now(e) < l->squeue_ms || jobs_coming(e, JOBS_FOR_LADDER))
		return;
	l->asked_ms = engine_now(e);
	l->squeue_ms = l->asked_ms + LADDER_MS;
	jobs_want(e, JOBS_FOR_LADDER);
}

static int64_t ladder_next_ms(const struct engine *e)
{
	const struct ladders *l = &e->money->ladders;

	if (!l->any || holds_budgets(e) == NULL || e->money->nodes == NULL)
		return INT64_MAX;
	return l->due && l->squeue_ms < l->look_ms && !jobs_coming(e, JOBS_FOR_LADDER)
		       ? l->squeue_ms
		       : l->look_ms;
}

const struct engine_part ladder_part = {
	.name = "budgets that are used up",
	.at = {[PART_INIT] = configure, [PART_RELOAD] = ladder_reload, [PART_RUN] = ladder_run},
	.next_ms = ladder_next_ms,
	.reads = JOBS_FOR_LADDER,
	.squeue_says = ladder_says,
};
