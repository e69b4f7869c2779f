/* Compares what is held for jobs with the jobs that squeue shows on their nodes.  One that has no
 * hold came to machines that were up already, so no purchase has asked for its money: it is asked
 * for here, while the job's burst-prolog waits.  One that has ended gives back what it did not use.
 *
 * squeue is asked when a prolog waits, and now and then: a job that runs already, since there is no
 * prolog or burstd was away, is counted, whatever is left. */
#include "money/hold.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "slurm/payer.h"

enum {
	HOLDS_LOOK_MS = 30000,  /* between two looks at jobs if no prolog waits */
	HOLDS_START_MS = 60000, /* from its prolog's question until a job runs, with all nodes up */
};

struct look { /* at one job */
	struct engine *e;
	const struct slurm_job *job;
	const struct hostlist *nodes; /* its own */
	struct payer payer;
	bool known;
	bool early;               /* a machine of its own is still to be written down */
	int64_t boot_ms;          /* until all of its machines are up, at most */
	struct fleet_node **rows; /* its machines that have no hold for it */
	size_t n;
};

static struct hold *run_of(const struct engine *e, const struct hold_node *g, uint64_t job)
{
	struct hold *h = g != NULL ? g->first : NULL;

	while (h != NULL && (h->job != job || hold_of(e, h)->kind != BUDGET_RUN))
		h = h->next;
	return h;
}

static struct hold *machine_of(const struct engine *e, const struct hold_node *g)
{
	struct hold *h = g != NULL ? g->first : NULL;

	while (h != NULL && hold_of(e, h)->kind != BUDGET_MACHINE)
		h = h->next;
	return h;
}

/* Until when the machine must be held for the job, which is there since from_ms. */
static int64_t machine_until(const struct look *l, const struct fleet_node *fn, int64_t from_ms)
{
	const struct money_state *m = l->e->money;
	const struct hold *h = machine_of(l->e, hold_find(l->e, fn->n.name, fn->n.gen));
	struct budget_machine of = hold_machine(l->e, fn);

	of.boot_ms = 0;
	of.began_ms = h != NULL ? hold_of(l->e, h)->from_ms : 0;
	return budget_machine_until(m->budgets, &l->payer, &of, &m->times, from_ms);
}

/* When the job has the machine, if that is its own from now on: once it is up. */
static int64_t begin_of(const struct look *l, const struct fleet_node *fn)
{
	return engine_now(l->e) + hold_machine(l->e, fn).boot_ms;
}

/* When the job has started there, at the latest: one that waits does once all of its machines are
 * up. */
static int64_t start_of(const struct look *l, const struct fleet_node *fn)
{
	const int64_t wait = l->boot_ms > HOLDS_START_MS ? l->boot_ms : HOLDS_START_MS;
	const int64_t begin = begin_of(l, fn), start = engine_now(l->e) + wait;

	return slurm_job_configuring(l->job) && start > begin ? start : begin;
}

static struct budget_hold run_for(const struct look *l, const struct fleet_node *fn,
				  int64_t from_ms)
{
	const struct money_state *m = l->e->money;
	struct budget_machine of = hold_machine(l->e, fn);

	of.boot_ms = 0; /* from_ms is after it */
	return budget_run(m->budgets, &l->payer, &of, &m->times, from_ms);
}

/* What is held for the job on a machine that it comes to. */
static struct budget_hold run_of_new(const struct look *l, const struct fleet_node *fn)
{
	struct budget_hold h = run_for(l, fn, begin_of(l, fn));

	h.until_ms = run_for(l, fn, start_of(l, fn)).until_ms;
	return h;
}

/* How much later than it seemed the job may end, since it was suspended: slurmctld adds that to its
 * time.  When that began and ended between two looks is not known. */
static int64_t stood_still(const struct look *l, struct hold *run)
{
	const int64_t now = engine_now(l->e), since = run->stopped_ms;
	const bool stopped = slurm_text_is(l->job->state, "SUSPENDED");

	run->stopped_ms = stopped ? now : 0;
	if (since != 0)
		return now - since;
	return stopped ? HOLDS_LOOK_MS : 0;
}

/* Until when the job may run, which is there since the hold began: it starts when the last of its
 * nodes is up.  Its time limit may have been changed. */
static int64_t run_until(const struct look *l, struct hold *run, int64_t span_ms)
{
	const int64_t now = engine_now(l->e), from = hold_of(l->e, run)->from_ms;
	const int64_t most = now + (span_ms > HOLD_MORE_MS ? span_ms : HOLD_MORE_MS);
	int64_t until = clamp_add(hold_of(l->e, run)->until_ms, stood_still(l, run));

	if (run->span_ms != 0 && span_ms > run->span_ms)
		until = clamp_add(until, span_ms - run->span_ms);
	run->span_ms = span_ms;
	if (until < from + span_ms)
		until = from + span_ms;
	if (slurm_job_configuring(l->job))
		return until > now + span_ms ? until : now + span_ms;
	if (until > most) /* it runs, so it began before now */
		until = most;
	return until;
}

/* Hold for as long as the job may run by what squeue says now, whatever is left. */
static void retime(const struct look *l, struct hold_node *g, struct hold *run,
		   const struct fleet_node *fn)
{
	struct engine *e = l->e;
	const int64_t from = hold_of(e, run)->from_ms, span = run_for(l, fn, 0).until_ms;
	struct hold *machine = machine_of(e, g);
	int64_t until, all;

	if (from > engine_now(e) || span == INT64_MAX) /* it boots, or has no limit */
		return;
	/* Since burstd's start it is held for as slurmctld's settings were known before, and what
	 * is used until they are told is longer. */
	if (run->made_ms == 0 && !e->money->times_known)
		return;
	until = run_until(l, run, span);
	hold_change(e, g, run, from, until);
	all = machine_until(l, fn, until - span);
	if (machine != NULL && all > hold_of(e, machine)->until_ms && all != INT64_MAX)
		hold_change(e, g, machine, hold_of(e, machine)->from_ms, all);
}

/* In the seconds after burstd's start it does not know slurmctld's release, and asks squeue for no
 * column that some do not have: then a job may be held for whole nodes that it shares. */
static void share(const struct look *l, struct hold_node *g, struct hold *run,
		  const struct fleet_node *fn)
{
	const struct budget_hold *h = hold_of(l->e, run);
	int64_t rate;

	if (run->shared || !slurm_payer_says_whose(l->job))
		return;
	run->shared = true;
	rate = run_for(l, fn, h->from_ms).rate_nano_h;
	if (rate > 0 && rate < h->rate_nano_h)
		hold_reprice(l->e, g, run, rate);
}

/* Look at one node of the job. */
static void look_at(struct look *l, const char *name)
{
	const struct fleet_name *nm = fleet_find(&l->e->fleet, name);
	struct fleet_node *fn = nm != NULL ? fleet_live(nm) : NULL;
	struct hold_node *g;
	struct hold *run;

	if (fn == NULL || fn->unwritten != NULL) {
		l->early = l->early || (nm != NULL && !slurm_is_on(nm->flags));
		return;
	}
	if (node_coming(&fn->n) && l->e->conf->pools[fn->n.pool].boot_ms > l->boot_ms)
		l->boot_ms = l->e->conf->pools[fn->n.pool].boot_ms;
	g = hold_find(l->e, name, fn->n.gen);
	run = run_of(l->e, g, l->job->number);
	if (run == NULL) {
		l->rows[l->n++] = fn;
		return;
	}
	run->seen = true;
	if (!l->known)
		return;
	share(l, g, run, fn);
	retime(l, g, run, fn);
}

/* What the job wants set aside on machines that are up: its part of each, and each machine for
 * longer. */
static size_t wants_of(const struct look *l, struct budget_want *out)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct hold *m =
			machine_of(l->e, hold_find(l->e, l->rows[i]->n.name, l->rows[i]->n.gen));
		struct budget_hold more;

		out[n] = (struct budget_want){.hold = run_of_new(l, l->rows[i]), .n = 1};
		n++;
		if (m == NULL)
			continue;
		more = *hold_of(l->e, m);
		more.from_ms = more.until_ms;
		more.until_ms = machine_until(l, l->rows[i], start_of(l, l->rows[i]));
		if (more.until_ms <= more.from_ms)
			continue;
		out[n] = (struct budget_want){.hold = more, .n = 1, .longer = true};
		n++;
	}
	return n;
}

static void take(struct look *l)
{
	struct engine *e = l->e;

	promises_end(e, l->job->number);
	for (size_t i = 0; i < l->n; i++) {
		const struct node *n = &l->rows[i]->n;
		struct hold_node *g = hold_node_of(e, n->name, n->gen);
		struct budget_hold run = run_of_new(l, l->rows[i]);
		int64_t until = machine_until(l, l->rows[i], start_of(l, l->rows[i]));
		struct hold *m;

		g->written = true;
		m = machine_of(e, g);
		if (run.until_ms == INT64_MAX) /* no limit, and it runs all the same */
			run.until_ms = run.from_ms + HOLD_MORE_MS;
		hold_add(e, g, l->job->number, &run)->seen = true;
		if (m != NULL && until != INT64_MAX && until > hold_of(e, m)->until_ms)
			hold_change(e, g, m, hold_of(e, m)->from_ms, until);
	}
}

/* The job goes back into the queue by its prolog's status, and waits for money. */
static void refuse(struct look *l, struct budget_no *no)
{
	struct postpone_why why = {.hint = {.lasting = true, .money = true, .job = l->job->number},
				   .pool = l->rows[0]->n.pool,
				   .reason = NODE_BECAUSE_BUDGET,
				   .nodes = (uint32_t)l->nodes->n};
	int64_t limit = l->payer.limit_s >= 0 ? 1000 * l->payer.limit_s : -1;
	char text[SLURM_COMMENT_MAX + 1];

	holds_whole_at(l->e, l->job->number, l->nodes, no);
	budget_no_print(no, l->e->conf->currency, limit, why.text, sizeof(why.text));
	(void)snprintf(text, sizeof(text),
		       "burstd: %s; the job ends: only sbatch jobs are requeued "
		       "and tried again",
		       why.text);
	engine_event(l->e, "", 0, "job-unpaid", why.text);
	srun_tell(l->e, l->job->number, text);
	postpone_job(l->e, l->job, &why);
	holds_refused(l->e, l->job->number, no);
	gate_unpaid(l->e, l->job->number);
}

/* Its PrologSlurmctld runs, and may ask in a moment: a job that was counted before could not be
 * refused any more. */
static bool may_ask(const struct look *l)
{
	return !l->e->money->no_prolog && slurm_job_configuring(l->job);
}

static void decide(struct look *l)
{
	bool waits = gate_asks(l->e, l->job->number);
	struct budget_no no = {.budget = NULL};
	struct budget_want *wants;

	if (!waits && may_ask(l))
		return;
	wants = mem_zalloc((2 * l->n + 1) * sizeof(*wants));
	if (waits && !budgets_try(l->e->money->budgets, wants, wants_of(l, wants), false, &no))
		refuse(l, &no);
	else
		take(l);
	free(wants);
}

/* A list that cannot be read may have any node. */
static void see_anywhere(struct engine *e, uint64_t job)
{
	for (struct hold_node *g = e->money->nodes; g != NULL; g = g->next) {
		struct hold *run = run_of(e, g, job);

		if (run != NULL)
			run->seen = true;
	}
}

static void look_at_job(struct engine *e, const struct slurm_job *j, bool decides)
{
	struct look l = {.e = e, .job = j};
	struct hostlist *h;

	if (!slurm_job_placed(j))
		return;
	if (hostlist_parse(&h, j->nodes.p, j->nodes.n, NULL) != 0) {
		see_anywhere(e, j->number);
		return;
	}
	l.nodes = h;
	l.known = slurm_payer_read(j, &l.payer);
	decides = decides && l.known && !accounts_lack_place(e, l.payer.account);
	l.rows = mem_zalloc((h->n + 1) * sizeof(struct fleet_node *));
	for (size_t i = 0; i < h->n; i++)
		look_at(&l, h->names[i]);
	/* What is bought for somebody else now the job must pay for, too: its prolog waits until
	 * that can be asked. */
	decides = decides && (!l.early || !gate_asks(e, j->number));
	if (decides && l.n > 0)
		decide(&l);
	if (decides)
		gate_paid(l.e, j->number);
	free(l.rows);
	hostlist_free(h);
}

static void see_job(void *ctx, const struct slurm_job *j)
{
	look_at_job(ctx, j, false);
}

static void decide_job(void *ctx, const struct slurm_job *j)
{
	look_at_job(ctx, j, true);
}

/* --- jobs that have ended ------------------------------------------------------------------------
 */

static void forget_seen(struct engine *e)
{
	for (struct hold_node *g = e->money->nodes; g != NULL; g = g->next)
		for (struct hold *h = g->first; h != NULL; h = h->next)
			h->seen = false;
}

/* A job has its nodes from when slurmctld asks for them, so one that squeue does not show there has
 * ended, or was requeued; the time is when that was seen. */
static void settle_unseen(struct engine *e)
{
	for (struct hold_node *g = e->money->nodes; g != NULL; g = g->next)
		for (struct hold *h = g->first, *next; h != NULL; h = next) {
			next = h->next;
			if (hold_of(e, h)->kind == BUDGET_RUN && !h->seen &&
			    h->made_ms < e->money->asked_ms)
				hold_settle(e, g, h, engine_now(e));
		}
}

static void holds_asks(struct engine *e)
{
	e->money->asked_ms = engine_now(e);
}

static void holds_jobs(struct engine *e, const char *text, size_t len, const struct err *err)
{
	if (err != NULL || e->money->budgets == NULL)
		return;
	holds_now(e);
	forget_seen(e);
	slurm_job_parse(text, len, see_job, e);
	settle_unseen(e); /* before others ask for that money */
	if (holds_budgets(e) != NULL && !accounts_lack(e))
		slurm_job_parse(text, len, decide_job, e);
	engine_commit(e);
}

/* A job may end while there are no budgets: what it gave back is free when there are some again. */
static void holds_jobs_run(struct engine *e)
{
	struct money_state *m = e->money;

	if (m->budgets == NULL || m->nodes == NULL || engine_now(e) < m->look_ms ||
	    jobs_coming(e, JOBS_FOR_HOLDS))
		return;
	m->look_ms = engine_now(e) + HOLDS_LOOK_MS;
	jobs_want(e, JOBS_FOR_HOLDS);
}

static int64_t holds_jobs_next_ms(const struct engine *e)
{
	const struct money_state *m = e->money;

	return m->nodes != NULL && m->budgets != NULL && !jobs_coming(e, JOBS_FOR_HOLDS)
		       ? m->look_ms
		       : INT64_MAX;
}

const struct engine_part holds_jobs_part = {
	.name = "money of jobs",
	.at = {[PART_RUN] = holds_jobs_run},
	.next_ms = holds_jobs_next_ms,
	.reads = JOBS_FOR_HOLDS,
	.squeue_begins = holds_asks,
	.squeue_says = holds_jobs,
};
