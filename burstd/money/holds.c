/* Sets aside what machines and jobs may cost before anything is bought, in the transaction of the
 * purchase, and turns it into what they did cost when they end. */
#include "money/hold.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/mem.h"
#include "jobs/jobs.h"
#include "slurm/show.h"

enum {
	HOLDS_LOOK_MS = 30000,  /* between two looks which jobs still run */
	HOLDS_WATCH_MS = 30000, /* between two looks at holds that are about to end */
	HOLDS_MORE_MS = 120000, /* a machine that outlives its hold is held for so much longer */
	HOLDS_AGAIN_MS = 5000,  /* between two tries of the jobs that wait for money */
	HOLDS_DAYS = 800,       /* what was spent is kept so long: two years, and more */
	/* Until slurmctld has told its settings. */
	HOLDS_OVER_MS = 60000,
	HOLDS_IDLE_MS = 600000,
};

struct budgets *holds_budgets(const struct engine *e)
{
	struct budgets *b = e->money->budgets;

	return b != NULL && budgets_any(b) ? b : NULL;
}

static void configure(struct engine *e)
{
	budgets_configure(e->money->budgets, e->conf->budgets, e->conf->nbudgets);
	e->money->freed = true;
}

static void holds_init(struct engine *e)
{
	struct money_state *m = e->money;

	map_init(&m->held);
	if (e->d.report_zone == NULL)
		return;
	m->budgets = budgets_new(e->d.report_zone, engine_wall(e, engine_now(e)));
	m->times = (struct budget_times){HOLDS_OVER_MS, HOLDS_IDLE_MS, HOLDS_END_MS};
	configure(e);
}

static void holds_free(struct engine *e)
{
	hold_free(e);
	budgets_free(e->money->budgets);
	free(e->money->refusals);
}

static void holds_reload(struct engine *e)
{
	if (e->money->budgets != NULL)
		configure(e);
}

/* KillWait, OverTimeLimit and SuspendTime bound how long a job, and its node, may outlive the
 * limit. */
static void holds_settings(struct engine *e, const char *text, size_t len, int64_t asked_ms)
{
	const struct slurm_text conf = {text, len};
	const int64_t kill_s = slurm_show_number(slurm_show_setting(conf, "KillWait"));
	const int64_t over_min = slurm_show_number(slurm_show_setting(conf, "OverTimeLimit"));
	const int64_t idle_s = slurm_show_number(slurm_show_setting(conf, "SuspendTime"));
	struct budget_times *t = &e->money->times;

	(void)asked_ms;
	if (kill_s >= 0 && kill_s < INT32_MAX && over_min >= 0 && over_min < INT32_MAX)
		t->over_ms = 1000 * kill_s + 60000 * over_min;
	if (idle_s >= 0 && idle_s < INT32_MAX)
		t->idle_ms = 1000 * idle_s;
}

/* --- a purchase ----------------------------------------------------------------------------------
 */

void holds_bought(struct engine *e, struct fleet_node *fn, const struct payer *p)
{
	struct budget_want wants[BUDGET_WANTS_MAX];
	struct budget_machine m;
	struct hold_node *g;
	size_t n;

	if (holds_budgets(e) == NULL)
		return;
	m = hold_machine(e, fn);
	g = hold_node_of(e, fn->n.name, fn->n.gen);
	n = budget_wants(e->money->budgets, p, &m, &e->money->times, engine_now(e), wants);
	for (size_t i = 0; i < n; i++)
		(void)hold_add(e, g, wants[i].hold.kind == BUDGET_MACHINE ? 0 : fn->n.job,
			       &wants[i].hold);
	show_bought(e, fn->n.job);
}

void holds_refused(struct engine *e, uint64_t job, const struct budget_no *no)
{
	e->money->refused = true;
	show_refused(e, job, no);
}

/* The row is being written.  One that was found, or is older than the budgets, has no holds yet. */
static void on_written(struct engine *e, struct fleet_node *fn)
{
	if (holds_budgets(e) == NULL)
		return;
	if (hold_find(e, fn->n.name, fn->n.gen) == NULL)
		holds_bought(e, fn, NULL);
	hold_write(e, hold_node_of(e, fn->n.name, fn->n.gen));
}

/* --- a life --------------------------------------------------------------------------------------
 */

static struct hold *first_of(const struct engine *e, const struct hold_node *g,
			     enum budget_kind kind)
{
	for (struct hold *h = g->first; h != NULL; h = h->next)
		if (hold_of(e, h)->kind == kind)
			return h;
	return NULL;
}

/* The begin of the bill is known, or corrected. */
static void on_begun(struct engine *e, struct hold_node *g, const struct node *is)
{
	for (struct hold *h = g->first; h != NULL; h = h->next)
		if (hold_of(e, h)->kind != BUDGET_RUN)
			hold_change(e, g, h, is->start_ms, hold_of(e, h)->until_ms);
}

/* The node is up: the boot is over, and the job's time begins. */
static void on_ready(struct engine *e, struct hold_node *g)
{
	struct hold *boot = first_of(e, g, BUDGET_BOOT);
	int64_t now = engine_now(e);

	if (boot != NULL)
		hold_settle(e, g, boot, now);
	for (struct hold *h = g->first; h != NULL; h = h->next) {
		const struct budget_hold *hold = hold_of(e, h);
		int64_t span = hold->until_ms - hold->from_ms;

		if (hold->kind == BUDGET_RUN && hold->from_ms > now && hold->until_ms != INT64_MAX)
			hold_change(e, g, h, now, now + span);
	}
}

/* The end of the time that is billed. */
static int64_t billed_until(const struct engine *e, const struct fleet_node *fn,
			    const struct node *is)
{
	const struct budget_machine m = hold_machine(e, fn);
	int64_t ms = is->end_ms - is->start_ms;

	if (ms < m.minimum_ms)
		ms = m.minimum_ms;
	if (m.quantum_ms > 0)
		ms = (ms + m.quantum_ms - 1) / m.quantum_ms * m.quantum_ms;
	return is->start_ms + ms;
}

static void settle_all(struct engine *e, struct hold_node *g, struct fleet_node *fn,
		       const struct node *is)
{
	int64_t billed = billed_until(e, fn, is);

	while (g->first != NULL)
		hold_settle(e, g, g->first,
			    hold_of(e, g->first)->kind == BUDGET_MACHINE ? billed : is->end_ms);
}

static void on_gone(struct engine *e, struct fleet_node *fn, const struct node *is)
{
	struct hold_node *g = hold_find(e, is->name, is->gen);

	if (g == NULL)
		return;
	if (is->start_ms != 0)
		settle_all(e, g, fn, is);
	hold_end(e, g);
}

/* It is there after all: its bill goes on where it ended, or begins. */
static void on_seen_again(struct engine *e, struct fleet_node *fn, const struct node *is)
{
	const struct budget_machine m = hold_machine(e, fn);
	struct budget_want wants[BUDGET_WANTS_MAX];
	struct hold_node *g = hold_node_of(e, is->name, is->gen);

	g->written = true;
	(void)budget_wants(e->money->budgets, NULL, &m, &e->money->times, engine_now(e), wants);
	wants[0].hold.from_ms = is->end_ms != 0 ? billed_until(e, fn, is) : is->start_ms;
	wants[0].hold.until_ms = engine_now(e) + HOLDS_MORE_MS;
	if (wants[0].hold.until_ms < wants[0].hold.from_ms) /* its time is paid for */
		wants[0].hold.until_ms = wants[0].hold.from_ms;
	(void)hold_add(e, g, 0, &wants[0].hold);
}

static void holds_stepped(struct engine *e, struct fleet_node *fn, const struct node *was,
			  const struct node_event *ev)
{
	const struct node *is = fn->next != NULL ? fn->next : &fn->n;
	struct hold_node *g;

	(void)ev;
	if (was == NULL)
		on_written(e, fn);
	if (was == NULL || e->money->budgets == NULL)
		return;
	g = hold_find(e, is->name, is->gen);
	if (g != NULL && is->start_ms != was->start_ms && is->start_ms != 0)
		on_begun(e, g, is);
	if (was->state == is->state)
		return;
	if (is->state == NODE_GONE)
		on_gone(e, fn, is);
	else if (was->state == NODE_GONE && holds_budgets(e) != NULL)
		on_seen_again(e, fn, is);
	else if (is->state == NODE_READY && g != NULL)
		on_ready(e, g);
}

/* --- holds that end
 * --------------------------------------------------------------------------------
 */

/* A machine or job that outlives its hold is held for longer: that is beyond the budget, and counts
 * against what others may have. */
static void extend(struct engine *e, struct hold_node *g, int64_t now)
{
	for (struct hold *h = g->first; h != NULL; h = h->next) {
		const struct budget_hold *hold = hold_of(e, h);

		if (hold->until_ms <= now + HOLDS_WATCH_MS)
			hold_change(e, g, h, hold->from_ms, now + HOLDS_MORE_MS);
	}
}

static void watch(struct engine *e)
{
	struct money_state *m = e->money;
	int64_t now = engine_now(e), day;

	if (m->budgets == NULL || now < m->watch_ms)
		return;
	m->watch_ms = now + HOLDS_WATCH_MS;
	show_forget(e);
	for (struct hold_node *g = m->nodes; g != NULL; g = g->next)
		extend(e, g, now);
	if (budgets_now(m->budgets, now))
		m->freed = true;
	day = budgets_day(m->budgets, now) - HOLDS_DAYS;
	if (day <= m->forget_day)
		return;
	m->forget_day = day;
	budgets_forget(m->budgets, day);
	journal_del_spent(engine_tx(e), day);
}

/* --- jobs that end
 * ---------------------------------------------------------------------------------
 */

struct run { /* a hold of a job that runs */
	uint64_t job;
	struct hold_node *g;
	struct hold *h;
};

struct runs {
	struct run *v;
	size_t n;
};

static int by_job(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->job < y->job ? -1 : x->job > y->job;
}

static struct runs collect_runs(struct engine *e)
{
	struct runs r = {mem_zalloc((e->money->nruns + 1) * sizeof(*r.v)), 0};

	for (struct hold_node *g = e->money->nodes; g != NULL; g = g->next)
		for (struct hold *h = g->first; h != NULL; h = h->next)
			if (hold_of(e, h)->kind == BUDGET_RUN) {
				h->seen = false;
				r.v[r.n++] = (struct run){h->job, g, h};
			}
	qsort(r.v, r.n, sizeof(*r.v), by_job);
	return r;
}

static size_t first_run(const struct runs *r, uint64_t job)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->v[middle].job < job)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void mark(void *ctx, const struct slurm_job *j)
{
	const struct runs *r = ctx;
	size_t at = first_run(r, j->number);
	struct hostlist *h;
	struct map on;

	if (at == r->n || r->v[at].job != j->number || !slurm_job_placed(j) ||
	    hostlist_parse(&h, j->nodes.p, j->nodes.n, NULL) != 0)
		return;
	map_init(&on);
	for (size_t i = 0; i < h->n; i++)
		map_put(&on, h->names[i], h);
	for (; at < r->n && r->v[at].job == j->number; at++)
		r->v[at].h->seen = map_get(&on, r->v[at].g->node) != NULL;
	map_fini(&on);
	hostlist_free(h);
}

static void holds_asks(struct engine *e)
{
	e->money->asked_ms = engine_now(e);
}

/* A job has its nodes from when slurmctld asks for them, so one that squeue does not show there has
 * ended, or was requeued; the time is when that was seen. */
static void holds_jobs(struct engine *e, const char *text, size_t len, const struct err *err)
{
	struct runs r;

	if (err != NULL || e->money->budgets == NULL)
		return;
	r = collect_runs(e);
	slurm_job_parse(text, len, mark, &r);
	for (size_t i = 0; i < r.n; i++)
		if (!r.v[i].h->seen && r.v[i].h->made_ms < e->money->asked_ms)
			hold_settle(e, r.v[i].g, r.v[i].h, engine_now(e));
	free(r.v);
	engine_commit(e);
}

/* --- the turn
 * --------------------------------------------------------------------------------------
 */

static void holds_run(struct engine *e)
{
	struct money_state *m = e->money;
	int64_t now = engine_now(e);

	if (m->budgets == NULL)
		return;
	watch(e);
	if (m->nruns > 0 && now >= m->look_ms && !jobs_coming(e, JOBS_FOR_HOLDS)) {
		m->look_ms = now + HOLDS_LOOK_MS;
		jobs_want(e, JOBS_FOR_HOLDS);
	}
	if (!m->refused || !m->freed || now < m->freed_ms + HOLDS_AGAIN_MS)
		return;
	m->freed_ms = now;
	m->freed = m->refused = false;
	postpone_anew(e);
}

static int64_t holds_next_ms(const struct engine *e)
{
	const struct money_state *m = e->money;
	int64_t next = m->nodes != NULL || m->refused ? m->watch_ms : INT64_MAX;

	if (m->budgets == NULL)
		return INT64_MAX;
	if (m->nruns > 0 && m->look_ms < next && !jobs_coming(e, JOBS_FOR_HOLDS))
		next = m->look_ms;
	if (m->refused && m->freed && m->freed_ms + HOLDS_AGAIN_MS < next)
		next = m->freed_ms + HOLDS_AGAIN_MS;
	return next;
}

const struct engine_part holds_part = {
	.name = "money that is set aside",
	.at = {[PART_INIT] = holds_init,
	       [PART_RELOAD] = holds_reload,
	       [PART_RUN] = holds_run,
	       [PART_FREE] = holds_free},
	.next_ms = holds_next_ms,
	.settings = holds_settings,
	.stepped = holds_stepped,
	.reads = JOBS_FOR_HOLDS,
	.squeue_begins = holds_asks,
	.squeue_says = holds_jobs,
};
