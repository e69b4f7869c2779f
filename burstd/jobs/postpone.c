#include "cloud/cloud.h"
#include "jobs/postpone_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"

/* Makes a job wait that was refused its nodes, longer each time, by its own StartTime: slurmctld
 * would start it again within seconds.  The count is durable, so that a restart of burstd does not
 * make the job eager again.  The job's AdminComment tells the researcher.
 *
 * The nodes are sent back first, since slurmctld sets a begin time of its own when it requeues a
 * job; then burstd reads the job, and never makes it start earlier than it would by itself.
 *
 * A job that no wait can help (refusal_lasts()) waits a day, and is decided anew as soon as
 * something changes: the configuration, a price, or the job. */

enum {
	POSTPONE_AGAIN_MS = 300,  /* to the next look at a job that is still being requeued */
	POSTPONE_RETRY_MS = 5000, /* slurmctld did not answer */
	POSTPONE_GIVE_UP_MS = 10000,
	POSTPONE_CALM_MS = 5000,  /* how long to look for an answer that no update overtook */
	POSTPONE_ROUND_MS = 2000, /* a command takes so long, and slurmctld knows no fractions */
	POSTPONE_SOON_MS = 1000,  /* to the look at what a job asks for */
	POSTPONE_LATE_MAX = 6, /* answers that updates overtook, before one counts all the same */
	POSTPONE_TELLS = 3,    /* orders about one refusal, if slurmctld does not take them */
	POSTPONE_HOLD_MS = 121000, /* slurmctld holds a requeued job back so long, if not known */
	POSTPONE_SENT_MS = 9000,   /* a refused job is requeued within this */
	POSTPONE_START_MS = 30000, /* tolerance between our clock and slurmctld's */
};

/* Whose turn it is comes as soon as its place opens, however often it was refused.  Of any other
 * reason to wait that says nothing. */
static struct refusal_hint hint_for(const struct postponed *p, struct refusal_hint hint,
				    int64_t now_ms)
{
	if (p->passed >= POSTPONE_PASSED && hint.not_before_ms != 0)
		hint.surely_ms = hint.not_before_ms > now_ms + REFUSAL_MS ? hint.not_before_ms
									  : now_ms + REFUSAL_MS;
	return hint;
}

void postpone_job(struct engine *e, const struct slurm_job *j, const struct postpone_why *why)
{
	struct postponed *p = postpone_get(e, j->number);

	if (p->refusal.count == 0 || refusal_over(&p->refusal, engine_now(e)))
		p->passed = 0;
	p->passed += why->passed_over;
	(void)refusal_add(&p->refusal, hint_for(p, why->hint, engine_now(e)), engine_now(e));
	p->pool = why->pool;
	p->reason = why->reason;
	p->nodes = why->nodes;
	quote_costs(e, why->pool, p->costs);
	p->wishes = p->counts = 0;
	p->anew = p->lifting = p->unnamed = p->settled = false;
	(void)snprintf(p->id, sizeof(p->id), "%s", j->id);
	(void)snprintf(p->why, sizeof(p->why), "%s", why->text);
	p->untold = true;
	postpone_put_row(e, p);
	p->until_ms = 0;
	p->look_ms = engine_now(e);
	p->first_ms = 0;
	p->asked = false; /* an answer that is on its way is older */
	p->mark = slurm_mark(e->slurm);
	p->tells = 0;
	/* What it asks for now is looked at soon, so that a change by its user is seen as one. */
	if (refusal_lasts(&p->refusal) &&
	    e->jobs->postpone_words_ms > engine_now(e) + POSTPONE_SOON_MS)
		e->jobs->postpone_words_ms = engine_now(e) + POSTPONE_SOON_MS;
}

/* --- telling slurmctld ------------------------------------------------------------------------ */

/* Is the job's begin time one that we told slurmctld, give or take the command's duration? */
static bool was_told(const struct engine *e, const struct postponed *p,
		     const struct slurm_job_detail *d)
{
	int64_t at = engine_wall(e, d->begin_ms);

	return p->told_wall_ms != 0 && at != 0 &&
	       (llabs(at - p->told_wall_ms) <= POSTPONE_ROUND_MS ||
		llabs(at - p->had_wall_ms) <= POSTPONE_ROUND_MS);
}

/* When slurmctld would start the requeued job by itself. */
static int64_t held_until(const struct engine *e, const struct postponed *p)
{
	int64_t hold_ms = prereq_hold_ms(e);

	if (hold_ms < POSTPONE_HOLD_MS)
		hold_ms = POSTPONE_HOLD_MS;
	return p->refusal.last_ms + hold_ms + POSTPONE_SENT_MS;
}

/* The times that slurmctld was told, and that comments name, are wall times: convert them.  If the
 * clock was set back, the job would wait longer than meant, and is told anew.  slurmctld's own hold
 * on a requeued job is for what is left of its last run, so it does not move (I17); a begin time of
 * the user's does. */
static void postpone_clock_set(struct engine *e, int64_t by_ms)
{
	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next) {
		int64_t meant = p->refusal.last_ms + refusal_wait_ms(&p->refusal);

		if (p->good_ms != 0 && p->good_ms != INT64_MAX)
			p->good_ms -= by_ms;
		if (p->least_ms > held_until(e, p))
			p->least_ms -= by_ms;
		/* One that was refused again has been told nothing yet. */
		if (p->told_wall_ms != 0 && (!p->untold || p->until_ms != 0))
			p->until_ms = engine_from_wall(e, p->told_wall_ms);
		if (p->untold || p->told_wall_ms == 0 || refusal_over(&p->refusal, engine_now(e)))
			continue;
		p->asked = false; /* an answer that is on its way was asked for before that */
		if (p->until_ms <= meant + POSTPONE_ROUND_MS || p->why[0] == '\0')
			continue; /* an earlier process told it; its words are not known */
		p->untold = true;
		p->lifting = false; /* it is told to wait once more, then let go anew */
		p->look_ms = engine_now(e);
		p->first_ms = 0;
		p->tells = 0;
	}
}

/* "none left; next try 2026-01-02T03:04:05Z (in 27s)" */
static void describe(char *out, size_t size, const struct engine *e, const struct postponed *p,
		     int64_t start)
{
	char at[FMT_TIME_SIZE], in[FMT_DUR_SIZE];
	int64_t left = start > engine_now(e) ? start - engine_now(e) : 0;

	(void)snprintf(out, size, "%s; %s %.19sZ (in %s)", p->why,
		       refusal_lasts(&p->refusal) ? "tried again when that changes, or at"
						  : "next try",
		       engine_time(e, at, start), fmt_duration(in, left));
}

static uint64_t counts_of(const struct slurm_job_detail *d)
{
	return d->counts.n > 0 ? fnv_bytes(FNV_BEGIN, d->counts.p, d->counts.n) : 0;
}

static const char *job_name(char out[SLURM_JOB_NAME_SIZE], const struct postponed *p)
{
	return slurm_job_name(out, p->id, p->in.job->number);
}

/* slurmctld holds the requeued job back for longer than burstd would: so long it waits, and its
 * next refusal comes after that.  A later time is its user's, and says nothing of how long it lacks
 * what it was refused for.  Returns whether the row has changed. */
static bool waits_as_held(const struct engine *e, struct postponed *p, int64_t begin_ms)
{
	int64_t wait_ms = begin_ms - p->refusal.last_ms;

	if (begin_ms > held_until(e, p) || wait_ms <= refusal_wait_ms(&p->refusal) ||
	    wait_ms > REFUSAL_HOLD_MS)
		return false;
	p->refusal.wait_ms = wait_ms;
	return true;
}

static void tell(struct engine *e, struct postponed *p, const struct slurm_job_detail *d)
{
	int64_t now = engine_now(e), start = p->refusal.last_ms + refusal_wait_ms(&p->refusal);
	char comment[SLURM_COMMENT_MAX + 1], what[SLURM_COMMENT_MAX], detail[320];
	char job[SLURM_JOB_NAME_SIZE];
	int64_t begin_ms = d->begin_ms;
	bool later, say = postpone_may_say(p, d), ours = was_told(e, p, d), held = false;

	/* The begin time is not the job's own, but one that we told before the clock was set back:
	 * it may become earlier.  One that is almost the new time stays: it may be slurmctld's own,
	 * by chance. */
	if (ours && (p->tells == 0 || begin_ms > start + POSTPONE_ROUND_MS)) {
		if (begin_ms > start && begin_ms <= start + POSTPONE_ROUND_MS)
			start = begin_ms;
		begin_ms = 0;
	}
	if (start <= now && begin_ms == 0)
		start = now + 1000;
	later = begin_ms + 1000 < start; /* slurmctld knows no fractions */

	if (p->tells > 0 && !later) { /* slurmctld took the order after all */
		p->until_ms = start;
		p->untold = false;
		return;
	}
	if (!later)
		start = begin_ms;
	describe(what, sizeof(what), e, p, start);
	(void)snprintf(comment, sizeof(comment), "burstd: %.*s", SLURM_COMMENT_MAX - 8, what);
	if (!slurm_postpone(e->slurm, p->id, later ? start - now : 0, d->begin_ms,
			    say ? comment : NULL))
		return; /* it is looked at again */
	if (p->tells++ == 0 && !ours) {
		p->least_ms = begin_ms;
		p->loaded = false;
	}
	p->counts = counts_of(d);
	if (say) {
		postpone_note_said(e, p, d, comment);
		p->good_ms = start + POSTPONE_STALE_MS;
	}
	(void)snprintf(detail, sizeof(detail), "job %s, refusal %u: %s", job_name(job, p),
		       p->refusal.count, what);
	engine_event(e, "", 0, "job-postponed", detail);
	p->until_ms = later ? start : 0; /* 0: its own begin time is late enough */
	p->told_wall_ms = later ? engine_wall(e, start) : 0;
	p->had_wall_ms = ours ? engine_wall(e, d->begin_ms) : 0;
	p->untold = false;
	p->told_ms = now;
	if (!later)
		held = waits_as_held(e, p, start);
	if (held || p->refusal.told_wall_ms != p->told_wall_ms ||
	    p->refusal.had_wall_ms != p->had_wall_ms)
		postpone_put_row(e, p);
}

/* --- one that was told -------------------------------------------------------------------------
 */

/* When the job would start without our order to wait.  Not before: what is left of its last run
 * could meet the next one (I17). */
static int64_t own_time(const struct engine *e, const struct postponed *p)
{
	return p->loaded ? held_until(e, p) : p->least_ms;
}

/* For a job that was told before our start, own_time() needs slurm.conf, known in a moment. */
static bool is_time_known(const struct engine *e, const struct postponed *p)
{
	return !p->loaded || prereq_known_ms(e) != 0 ||
	       engine_now(e) - e->started_ms >= POSTPONE_WATCH_MS;
}

/* Has the job another begin time than we told, give or take what the order took? */
static bool is_another_time(const struct engine *e, const struct postponed *p,
			    const struct slurm_job_detail *d)
{
	return !was_told(e, p, d) && llabs(d->begin_ms - p->until_ms) > POSTPONE_START_MS;
}

/* The order may still be queued or on its way: then another begin time is nobody's will. */
static bool is_unheard(const struct engine *e, const struct postponed *p,
		       const struct slurm_job_detail *d)
{
	return p->told_wall_ms != 0 && p->told_ms != 0 && is_another_time(e, p, d) &&
	       engine_now(e) - p->told_ms < POSTPONE_HEARD_MS;
}

static void let_go(struct engine *e, struct postponed *p)
{
	p->anew = false;
	p->until_ms = p->told_wall_ms = p->good_ms = 0;
	p->refusal.wait_ms = REFUSAL_MS; /* it waits no longer */
	postpone_put_row(e, p);
}

/* Respect a begin time that somebody has set since. */
static void start_anew(struct engine *e, struct postponed *p, const struct slurm_job_detail *d)
{
	int64_t least_ms = own_time(e, p), now = engine_now(e);

	if (is_another_time(e, p, d))
		let_go(e, p);
	else if (least_ms > now)
		p->lifting = slurm_postpone(e->slurm, p->id, least_ms - now, d->begin_ms, NULL);
	else
		p->lifting = slurm_start_now(e->slurm, p->id, d->begin_ms);
}

/* Look again at the jobs of a failed command: slurmctld may have taken it for some.  A job that
 * slurmctld has started again meanwhile is refused again.  A command that was not sent reached no
 * job; one that would only have let its job start sooner (until_ms 0, and no words) is not needed
 * any more, and what rescue_hold.c had to say is in the events. */
static void was_not_told(struct engine *e, struct postponed *p, const struct slurm_order *o,
			 bool unsent)
{
	if (p->untold || p->tells == 0)
		return;
	if (unsent ? p->until_ms == 0 && o->reason[0] == '\0' : p->tells == POSTPONE_TELLS)
		return;
	p->tells -= unsent;
	p->untold = true;
	p->until_ms = 0;
	p->look_ms = engine_now(e) + POSTPONE_AGAIN_MS;
	p->first_ms = 0;
	p->asked = false;
}

/* The job waits as before until slurmctld has taken the order, even over a restart. */
static void was_let_go(struct engine *e, struct postponed *p, const struct err *err)
{
	char detail[128], job[SLURM_JOB_NAME_SIZE];

	p->lifting = false;
	if (err != NULL) {
		p->look_ms = engine_now(e) +
			     (slurm_unheard(err) ? POSTPONE_RETRY_MS : POSTPONE_WATCH_MS);
		return;
	}
	let_go(e, p);
	p->look_ms = engine_now(e); /* its comment is outdated */
	(void)snprintf(detail, sizeof(detail), "job %s may try again: something has changed",
		       job_name(job, p));
	engine_event(e, "", 0, "job-anew", detail);
}

void postpone_told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	bool postpone = strcmp(o->verb, "postpone") == 0;
	bool lifts = (postpone && o->reason[0] == '\0') || strcmp(o->verb, "start") == 0;
	struct slurm_job_ids ids;

	if (!lifts && (!postpone || err == NULL))
		return;
	slurm_job_ids_init(&ids, o->names);
	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next) {
		if (!slurm_job_ids_have(&ids, p->id))
			continue;
		if (lifts && p->lifting)
			was_let_go(e, p, err);
		else if (postpone && err != NULL)
			was_not_told(e, p, o, err->code == ERR_NOTSENT);
	}
	slurm_job_ids_fini(&ids);
}

/* Has the user changed what the job asks for?  A requeued job shows the nodes of its last run until
 * it starts again, but its tasks as they are. */
static bool is_edited(struct postponed *p, const struct slurm_job_detail *d)
{
	uint64_t had = p->counts;

	p->counts = counts_of(d);
	return refusal_lasts(&p->refusal) && had != 0 && had != p->counts;
}

/* Is it safe to let the job start by an answer asked for at began_ms?  Not if an update of nodes
 * ran since, or is about to: slurmctld may have started the job and requeued it by that, and holds
 * it back then for what is left of its run (I17).  Under constant updates there is always one. */
static bool is_recent(struct engine *e, struct postponed *p, int64_t began_ms)
{
	if (slurm_settled_ms(e->slurm) <= began_ms || p->late == POSTPONE_LATE_MAX) {
		p->late = 0;
		return true;
	}
	p->late++;
	return false;
}

/* Look again at a job that was told to wait. */
static void look_back(struct engine *e, struct postponed *p, const struct slurm_job_detail *d,
		      int64_t began_ms)
{
	p->unheard = d->pending && is_unheard(e, p, d);
	if (d->ended) {
		postpone_settle(e, p, true);
	} else if (d->placed) {
		if (!p->settled)
			postpone_settle(e, p, false);
	} else if (d->pending && !p->lifting && (is_edited(p, d) || p->anew)) {
		p->anew = true;
		if (is_time_known(e, p) && !d->held && !p->unheard &&
		    is_recent(e, p, began_ms)) /* else at a later look, once all of this holds */
			start_anew(e, p, d);
	} else if (d->pending && !p->unheard && d->begin_ms + POSTPONE_START_MS < p->until_ms) {
		p->until_ms = p->told_wall_ms = p->good_ms = 0; /* somebody has let it start */
	}
	postpone_look_at_words(e, p, d);
}

/* --- looking -----------------------------------------------------------------------------------
 */

struct details { /* one answer */
	struct engine *e;
	int64_t began_ms;
};

/* May the answer be outdated?  An update of nodes that ran since it began, or is about to, may
 * requeue the job once more, if slurmctld had given it one of those nodes as well: then its begin
 * time is another.  So may its comment be, if the answer has waited for long.  Under constant
 * updates there is always one, hence POSTPONE_CALM_MS. */
static bool is_overtaken(const struct engine *e, const struct postponed *p, int64_t began_ms)
{
	int64_t now = engine_now(e), first = p->first_ms != 0 ? p->first_ms : now;

	return (slurm_settled_ms(e->slurm) > began_ms || now - began_ms >= SLURM_COMMENT_MS) &&
	       now - first < POSTPONE_CALM_MS;
}

static void on_detail(void *ctx, const struct slurm_job_detail *shown)
{
	const struct details *all = ctx;
	struct engine *e = all->e;
	struct slurm_job_detail d = *shown;
	struct postponed *p = postpone_find(e, d.number);

	if (p == NULL || !p->asked || p->refusal.last_ms >= all->began_ms)
		return; /* not asked about, or refused again since */
	/* slurmctld has lost its state and given the number to a heterogeneous job: an order to
	 * that number would reach all its components (F50).  The job that was refused is gone. */
	if (d.het != 0 && strchr(p->id, '+') == NULL)
		return;
	p->shown = !d.ended;
	if (d.begin_ms != 0)
		d.begin_ms = engine_from_wall(e, d.begin_ms); /* by our clock, as all times here */
	if (!p->untold)
		look_back(e, p, &d, all->began_ms);
	else if (d.pending && !d.held && !is_overtaken(e, p, all->began_ms))
		tell(e, p, &d);
	else if (d.held)
		p->untold = false; /* held: an admin or the user decides when it starts */
}

/* Look again soon at a job that is still to be told, for a while: slurmctld takes a moment to
 * requeue it. */
static void looked(struct engine *e, struct postponed *p, bool failed)
{
	int64_t now = engine_now(e);

	p->look_ms = now + (failed ? POSTPONE_RETRY_MS : POSTPONE_AGAIN_MS);
	if (!failed && p->first_ms == 0)
		p->first_ms = now;
	if (!failed && now - p->first_ms > POSTPONE_GIVE_UP_MS)
		p->untold = false; /* it has ended, or runs elsewhere */
	if (!p->untold)
		p->look_ms = now + (failed || p->unheard || p->late > 0 ? POSTPONE_RETRY_MS
									: POSTPONE_WATCH_MS);
	if (!failed && !p->untold && !p->shown)
		postpone_settle(e, p, true); /* slurmctld has forgotten it, or will */
}

void postpone_details(struct engine *e, const char *text, size_t len, int64_t began_ms,
		      const struct err *err)
{
	struct details all = {e, began_ms};

	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next)
		p->shown = false;
	if (err == NULL)
		slurm_job_parse_detail(text, len, on_detail, &all);
	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next) {
		if (!p->asked)
			continue;
		p->asked = false;
		looked(e, p, err != NULL);
	}
}

static bool is_due(const struct engine *e, const struct postponed *p)
{
	if (!p->untold)
		return postpone_is_watched(e, p) && !p->unnamed;
	return slurm_past(e->slurm, p->mark);
}

static void postpone_run(struct engine *e)
{
	struct postponed *asked[SLURM_ASK_MAX];
	const char *ids[SLURM_ASK_MAX];
	int64_t now = engine_now(e);
	size_t n = 0;

	postpone_forget(e);
	postpone_ask_words(e);
	e->jobs->postpone_next = INT64_MAX;
	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL && n < SLURM_ASK_MAX;
	     p = p->in.next) {
		if (!p->untold && !postpone_is_watched(e, p))
			continue;
		if (p->look_ms <= now && is_due(e, p))
			asked[n++] = p;
		else if (p->look_ms > now && p->look_ms < e->jobs->postpone_next)
			e->jobs->postpone_next = p->look_ms;
	}
	for (size_t i = 0; i < n; i++)
		ids[i] = asked[i]->id;
	if (n == 0 || !slurm_ask_jobs(e->slurm, SLURM_DETAILS, ids, n))
		return; /* a question is on its way; the next one follows its answer */
	for (size_t i = 0; i < n; i++)
		asked[i]->asked = true;
}

static int64_t postpone_next_ms(const struct engine *e)
{
	return e->jobs->postpone_next;
}

const struct engine_part postpone_part = {
	.name = "jobs that wait",
	.at = {[PART_INIT] = postpone_init,
	       [PART_RELOAD] = postpone_anew,
	       [PART_RUN] = postpone_run},
	.clock_set = postpone_clock_set,
	.repriced = postpone_quotes,
	.next_ms = postpone_next_ms,
};
