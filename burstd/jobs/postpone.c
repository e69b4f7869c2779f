#include "cloud/cloud.h"
#include "jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/fnv.h"
#include "base/mem.h"

/* A job that was refused its nodes waits, longer each time, by its own StartTime: slurmctld would
 * start it again within seconds.  The count is durable, so that a restart of burstd does not make
 * it eager again.  What the researcher is told stands in the job's AdminComment.
 *
 * Its nodes are sent back first, for slurmctld sets a begin time of its own when it requeues a job;
 * then the job is looked at, and never made to start earlier than it would by itself.
 *
 * What no wait can mend (refusal_lasts()) waits a day, and is decided anew as soon as something
 * changes: the configuration, a price, or the job.
 *
 * A word that was true once is taken back: as long as it stands there the job is looked at, once a
 * minute, and its row stays.  When it has its nodes, or what was said is over, the comment is
 * cleared, if it is still what we wrote: until squeue shows that it is gone, for an order may fail.
 * What somebody else wrote, be it behind our words, is left alone.  Of a job that has ended
 * slurmctld takes no comment (slurm.md). */

enum {
	POSTPONE_AGAIN_MS = 300,  /* it is still being requeued: look again */
	POSTPONE_RETRY_MS = 5000, /* slurmctld did not answer */
	POSTPONE_GIVE_UP_MS = 10000,
	POSTPONE_CALM_MS = 5000,    /* so long an answer is looked for that no update overtook */
	POSTPONE_ROUND_MS = 2000,   /* a command takes so long, and slurmctld knows no fractions */
	POSTPONE_TELLS = 3,         /* slurmctld took it not, or did not hear it: so often in all */
	POSTPONE_WATCH_MS = 60000,  /* between two looks at one that was told */
	POSTPONE_BOUGHT_MS = 2000,  /* its nodes are bought: a refusal comes sooner */
	POSTPONE_HOLD_MS = 121000,  /* slurmctld holds a requeued job back so long, if not known */
	POSTPONE_SENT_MS = 9000,    /* so long until a refused job is requeued */
	POSTPONE_START_MS = 30000,  /* between our time and slurmctld's: the order took so long */
	POSTPONE_STALE_MS = 300000, /* a comment whose time is over stands so long */
	POSTPONE_HEARD_MS = 45000,  /* a comment is there by then, or not at all */
};

struct postponed { /* one job */
	struct postponed *next;
	char key[FMT_U64_SIZE];
	/* As durable.  last_ms 0: it has no row; count 0: that is for our words alone. */
	struct refusal refusal;
	char id[SLURM_JOB_ID_MAX + 1]; /* as people write it */
	int64_t until_ms;              /* what it was told to wait for; 0: nothing */
	int64_t told_wall_ms;          /* ... as slurmctld has it; 0: not by us */
	int64_t had_wall_ms;           /* ... or has it still, should it not have taken that */
	bool untold;                   /* slurmctld is still to be told: */
	char why[160];
	int64_t look_ms;
	int64_t first_ms; /* when it was looked at first; 0: not yet */
	bool asked;       /* in the question on the wire */
	uint64_t mark;    /* its nodes are sent back when slurm_past() says so */
	unsigned tells;   /* how often it was told */
	bool shown;       /* slurmctld knows it still, and it has not ended */
	bool unnamed;     /* id is its number: after a restart no more is known */
	bool worded;      /* what it wishes was asked in this round */
	bool wording;     /* ... by the question on the wire */
	/* What we wrote into its AdminComment last, and what of ours stood there before, should
	 * slurmctld not have taken that. */
	char said[SLURM_COMMENT_MAX + 1], was[SLURM_COMMENT_MAX + 1];
	bool words;  /* one of them may stand there */
	bool theirs; /* somebody has written there what could pass for ours */
	int64_t said_ms;
	int64_t good_ms; /* what it says is over then; before, if the job has its nodes */
	/* Of one that no wait can mend: */
	uint32_t pool;                  /* that it is about */
	int64_t costs[CONF_OFFERS_MAX]; /* of its rungs, then */
	uint64_t wishes;                /* what it asked for; 0: not looked at yet */
	uint64_t counts;                /* likewise, in tasks, processors and nodes */
	int64_t least_ms;               /* not before: slurmctld's own time, or somebody's */
	bool loaded;                    /* ... which is not known: it was told before our start */
	bool anew;                      /* something has changed since: it may start */
	bool lifting;                   /* ... and slurmctld is being told so */
	bool settled;                   /* it was seen with its nodes since it was told */
};

/* Any comment of ours: nobody knows which was the last. */
static const char any_of_ours[] = "burstd:";

static struct postponed *get(struct engine *e, uint64_t number)
{
	char key[FMT_U64_SIZE];
	struct postponed *p = map_get(&e->jobs->postponed_map, fmt_u64(key, number));

	if (p != NULL)
		return p;
	p = mem_zalloc(sizeof(*p));
	(void)fmt_u64(p->key, number);
	(void)snprintf(p->id, sizeof(p->id), "%s", p->key);
	(void)snprintf(p->said, sizeof(p->said), "%s", any_of_ours);
	p->next = e->jobs->postponed;
	e->jobs->postponed = p;
	map_put(&e->jobs->postponed_map, p->key, p);
	return p;
}

static void put_row(struct engine *e, struct postponed *p)
{
	p->refusal.told_wall_ms = p->told_wall_ms;
	p->refusal.had_wall_ms = p->had_wall_ms;
	journal_put_refusal(engine_tx(e),
			    &(struct journal_refusal){strtoull(p->key, NULL, 10), p->refusal});
}

void postpone_load(struct engine *e, const struct journal_refusal *r)
{
	struct postponed *p = get(e, r->job);

	p->refusal = r->r;
	if (p->refusal.last_ms > engine_now(e))
		p->refusal.last_ms = engine_now(e); /* the clock has gone back (F57) */
	if (p->refusal.first_ms > p->refusal.last_ms || p->refusal.first_ms == 0) /* an older one */
		p->refusal.first_ms = p->refusal.last_ms;
	p->until_ms = p->refusal.last_ms + refusal_wait_ms(&p->refusal);
	p->told_wall_ms = p->refusal.told_wall_ms;
	p->had_wall_ms = p->refusal.had_wall_ms;
	if (p->told_wall_ms != 0) /* its clock may have been set while we were away */
		p->until_ms = engine_from_wall(e, p->told_wall_ms);
	p->unnamed = true;
	/* The configuration may be another. */
	p->anew = refusal_lasts(&p->refusal) && p->until_ms > engine_now(e);
	p->words = p->loaded = true;
	p->good_ms = r->r.count > 0 ? p->until_ms + POSTPONE_STALE_MS : INT64_MAX;
	p->said_ms = p->look_ms = engine_now(e);
	e->jobs->postpone_words_ms = 0;
}

void postpone_init(struct engine *e)
{
	map_init(&e->jobs->postponed_map);
	e->jobs->postpone_next = INT64_MAX;
}

int64_t postpone_next_ms(const struct engine *e)
{
	return e->jobs->postpone_next;
}

void postpone_free(struct engine *e)
{
	while (e->jobs->postponed != NULL) {
		struct postponed *p = e->jobs->postponed;

		e->jobs->postponed = p->next;
		free(p);
	}
	map_fini(&e->jobs->postponed_map);
}

struct refusal postpone_look(const struct engine *e, uint64_t number)
{
	char key[FMT_U64_SIZE];
	const struct postponed *p = map_get(&e->jobs->postponed_map, fmt_u64(key, number));

	if (p == NULL || p->refusal.count == 0 || refusal_over(&p->refusal, engine_now(e)))
		return (struct refusal){0};
	return p->refusal;
}

int64_t postpone_left_ms(const struct engine *e, uint64_t number)
{
	char key[FMT_U64_SIZE];
	const struct postponed *p = map_get(&e->jobs->postponed_map, fmt_u64(key, number));

	return p != NULL && !p->untold && !p->lifting && p->until_ms > engine_now(e)
		       ? p->until_ms - engine_now(e)
		       : 0;
}

void postpone_job(struct engine *e, const struct slurm_job *j, const struct postpone_why *why)
{
	struct postponed *p = get(e, j->number);

	(void)refusal_add(&p->refusal, why->hint, engine_now(e));
	p->pool = why->pool;
	quote_costs(e, why->pool, p->costs);
	p->wishes = p->counts = 0;
	p->anew = p->lifting = p->unnamed = p->settled = false;
	(void)snprintf(p->id, sizeof(p->id), "%s", j->id);
	(void)snprintf(p->why, sizeof(p->why), "%s", why->text);
	p->untold = true;
	put_row(e, p);
	p->until_ms = 0;
	p->look_ms = engine_now(e);
	p->first_ms = 0;
	p->asked = false; /* an answer that is on its way is about another time */
	p->mark = slurm_mark(e->slurm);
	p->tells = 0;
}

/* --- telling slurmctld ------------------------------------------------------------------------ */

/* Is it the time that we told slurmctld, give or take what the command took? */
static bool was_told(const struct engine *e, const struct postponed *p,
		     const struct slurm_job_detail *d)
{
	int64_t at = engine_wall(e, d->begin_ms);

	return p->told_wall_ms != 0 && at != 0 &&
	       (llabs(at - p->told_wall_ms) <= POSTPONE_ROUND_MS ||
		llabs(at - p->had_wall_ms) <= POSTPONE_ROUND_MS);
}

/* Until then slurmctld would not start a job that it has requeued, had nobody told it anything. */
static int64_t held_until(const struct engine *e, const struct postponed *p)
{
	int64_t hold_ms = prereq_hold_ms(e);

	if (hold_ms < POSTPONE_HOLD_MS)
		hold_ms = POSTPONE_HOLD_MS;
	return p->refusal.last_ms + hold_ms + POSTPONE_SENT_MS;
}

/* What slurmctld was told, and what the comment names, are at another time of ours now.  Set back,
 * it is further away than was meant: then it is told anew.  How long it holds a requeued job back
 * is a matter of what is left of that job's last run, and does not move (I17); a time of its user's
 * does. */
void postpone_clock_set(struct engine *e, int64_t by_ms)
{
	for (struct postponed *p = e->jobs->postponed; p != NULL; p = p->next) {
		int64_t meant = p->refusal.last_ms + refusal_wait_ms(&p->refusal);

		if (p->good_ms != 0 && p->good_ms != INT64_MAX)
			p->good_ms -= by_ms;
		if (p->least_ms > held_until(e, p))
			p->least_ms -= by_ms;
		if (p->untold || p->told_wall_ms == 0 || refusal_over(&p->refusal, engine_now(e)))
			continue;
		p->until_ms = engine_from_wall(e, p->told_wall_ms);
		p->asked = false; /* what is on its way was asked before that */
		if (p->until_ms <= meant + POSTPONE_ROUND_MS || p->why[0] == '\0')
			continue; /* of a process before us nobody knows the words */
		p->untold = true;
		p->lifting = false; /* it is told to wait once more: then it is let go anew */
		p->look_ms = engine_now(e);
		p->first_ms = 0;
		p->tells = 0;
	}
}

static bool is_like_ours(struct slurm_text comment)
{
	size_t n = sizeof(any_of_ours) - 1;

	return comment.n >= n && memcmp(comment.p, any_of_ours, n) == 0;
}

static bool is_ours(const struct postponed *p, struct slurm_text comment)
{
	if (strcmp(p->said, any_of_ours) == 0)
		return is_like_ours(comment);
	return comment.n > 0 && (slurm_text_is(comment, p->said) || slurm_text_is(comment, p->was));
}

static bool may_say(const struct postponed *p, const struct slurm_job_detail *d)
{
	return d->comment.n == 0 || is_ours(p, d->comment);
}

/* As scontrol will have it: what is compared with what squeue shows. */
static void note_said(struct engine *e, struct postponed *p, const struct slurm_job_detail *d,
		      const char *text)
{
	(void)snprintf(p->was, sizeof(p->was), "%.*s", (int)d->comment.n, d->comment.p);
	slurm_words(e->slurm, p->said, sizeof(p->said), text);
	p->words = true;
	p->said_ms = engine_now(e);
	p->good_ms = INT64_MAX;
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
	return slurm_job_name(out, p->id, strtoull(p->key, NULL, 10));
}

static void tell(struct engine *e, struct postponed *p, const struct slurm_job_detail *d)
{
	int64_t now = engine_now(e), start = p->refusal.last_ms + refusal_wait_ms(&p->refusal);
	char comment[SLURM_COMMENT_MAX + 1], what[SLURM_COMMENT_MAX], detail[320];
	char job[SLURM_JOB_NAME_SIZE];
	int64_t begin_ms = d->begin_ms;
	bool later, say = may_say(p, d), ours = was_told(e, p, d);

	/* Not its own time, but what we told before the clock was set back: it may be sooner.  What
	 * is as good as the same may be slurmctld's own, by chance. */
	if (ours && (p->tells == 0 || begin_ms > start + POSTPONE_ROUND_MS)) {
		if (begin_ms > start && begin_ms <= start + POSTPONE_ROUND_MS)
			start = begin_ms;
		begin_ms = 0;
	}
	if (start <= now && begin_ms == 0)
		start = now + 1000;
	later = begin_ms + 1000 < start; /* slurmctld knows no fractions */

	if (p->tells > 0 && !later) { /* it was heard after all */
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
		note_said(e, p, d, comment);
		p->good_ms = start + POSTPONE_STALE_MS;
	}
	(void)snprintf(detail, sizeof(detail), "job %s, refusal %u: %s", job_name(job, p),
		       p->refusal.count, what);
	engine_event(e, "", 0, "job-postponed", detail);
	p->until_ms = later ? start : 0; /* 0: its user says when */
	p->told_wall_ms = later ? engine_wall(e, start) : 0;
	p->had_wall_ms = ours ? engine_wall(e, d->begin_ms) : 0;
	p->untold = false;
	if (p->refusal.told_wall_ms != p->told_wall_ms || p->refusal.had_wall_ms != p->had_wall_ms)
		put_row(e, p);
}

/* --- words that were true once -----------------------------------------------------------------
 */

/* As long as its refusals count, too: when it is over its number may be another job's next (F50).
 */
static bool is_watched(const struct engine *e, const struct postponed *p)
{
	return p->until_ms > engine_now(e) || p->refusal.count > 0 || p->words || p->theirs;
}

static void drop_refusal(struct engine *e, struct postponed *p)
{
	if (p->refusal.last_ms != 0)
		journal_del_refusal(engine_tx(e), strtoull(p->key, NULL, 10));
	p->refusal = (struct refusal){0};
}

/* It waits no more: it has its nodes, or it has ended. */
static void settle(struct engine *e, struct postponed *p, bool ended)
{
	uint64_t job = strtoull(p->key, NULL, 10);

	p->until_ms = p->told_wall_ms = 0;
	p->anew = p->lifting = false;
	p->settled = true;
	if (ended) {
		p->words = p->theirs = false; /* slurmctld takes no other comment */
		drop_refusal(e, p);
	}
	for (size_t i = 0; i < e->fleet.nall; i++) {
		struct fleet_name *nm = e->fleet.all[i];

		if (nm->refused_for != job || nm->barred) /* in the latter case, refused anew */
			continue;
		nm->refused_for = 0;
		nm->refused = NODE_BECAUSE_NONE;
	}
}

/* What is on its way to slurmctld may not be there yet. */
static void look_at_words(struct engine *e, struct postponed *p, const struct slurm_job_detail *d)
{
	int64_t now = engine_now(e);
	bool over = d->placed || (d->pending && now >= p->good_ms);

	p->theirs = is_like_ours(d->comment) && !is_ours(p, d->comment);
	if (p->words && is_ours(p, d->comment)) {
		if (over)
			slurm_clear_comment(e->slurm, p->id);
	} else if (now - p->said_ms >= POSTPONE_HEARD_MS) {
		p->words = false;
	}
}

/* When slurmctld would start it, had we not told it to wait: what is left of its last run could
 * meet the next one before (I17). */
static int64_t own_time(const struct engine *e, const struct postponed *p)
{
	return p->loaded ? held_until(e, p) : p->least_ms;
}

/* Of a job that was told before our start, slurm.conf says so: that is known in a moment. */
static bool is_time_known(const struct engine *e, const struct postponed *p)
{
	return !p->loaded || prereq_known_ms(e) != 0 ||
	       engine_now(e) - e->started_ms >= POSTPONE_WATCH_MS;
}

static void let_go(struct engine *e, struct postponed *p)
{
	p->anew = false;
	p->until_ms = p->told_wall_ms = p->good_ms = 0;
	p->refusal.wait_ms = REFUSAL_MS; /* it waits no longer */
	put_row(e, p);
}

/* Whoever has changed its begin time since has his will. */
static void start_anew(struct engine *e, struct postponed *p, const struct slurm_job_detail *d)
{
	int64_t off = d->begin_ms - p->until_ms, least_ms = own_time(e, p), now = engine_now(e);

	if (!was_told(e, p, d) && (off > POSTPONE_START_MS || off < -POSTPONE_START_MS))
		let_go(e, p);
	else if (least_ms > now)
		p->lifting = slurm_postpone(e->slurm, p->id, least_ms - now, d->begin_ms, NULL);
	else
		p->lifting = slurm_start_now(e->slurm, p->id, d->begin_ms);
}

/* Of a command that failed some jobs may have been told: they are looked at again.  One that
 * slurmctld had started again meanwhile is refused again.  Of one that was not sent none was; one
 * that it would have let start sooner (until_ms 0, and no words) needs it no more, and what
 * rescue.c had to say is in the events. */
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

/* Until slurmctld has taken it the job waits as before, and after a restart too. */
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
	p->look_ms = engine_now(e); /* what stands in its comment is over */
	(void)snprintf(detail, sizeof(detail), "job %s may try again: something has changed",
		       job_name(job, p));
	engine_event(e, "", 0, "job-anew", detail);
}

void postpone_told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	bool postpone = strcmp(o->verb, "postpone") == 0;
	bool lifts = (postpone && o->reason[0] == '\0') || strcmp(o->verb, "start") == 0;

	for (struct postponed *p = e->jobs->postponed; p != NULL && (postpone || lifts);
	     p = p->next) {
		if (!slurm_job_among(o->names, p->id))
			continue;
		if (lifts && p->lifting)
			was_let_go(e, p, err);
		else if (postpone && err != NULL)
			was_not_told(e, p, o, err->code == ERR_NOTSENT);
	}
}

/* A job that was requeued shows the nodes of its last run until it starts again, and its tasks as
 * they are. */
static bool is_edited(struct postponed *p, const struct slurm_job_detail *d)
{
	uint64_t had = p->counts;

	p->counts = counts_of(d);
	return refusal_lasts(&p->refusal) && had != 0 && had != p->counts;
}

/* One that was told. */
static void look_back(struct engine *e, struct postponed *p, const struct slurm_job_detail *d)
{
	if (d->ended) {
		settle(e, p, true);
	} else if (d->placed) {
		if (!p->settled)
			settle(e, p, false);
	} else if (d->pending && !p->lifting && (is_edited(p, d) || p->anew)) {
		p->anew = true;
		if (is_time_known(e, p) && !d->held) /* else once somebody releases it */
			start_anew(e, p, d);
	} else if (d->pending && d->begin_ms + POSTPONE_START_MS < p->until_ms) {
		p->until_ms = p->told_wall_ms = p->good_ms = 0; /* somebody lets it start */
	}
	look_at_words(e, p, d);
}

void postpone_bought(struct engine *e, uint64_t number)
{
	char key[FMT_U64_SIZE];
	struct postponed *p = map_get(&e->jobs->postponed_map, fmt_u64(key, number));

	if (p != NULL && !p->untold && p->words)
		p->look_ms = engine_now(e) + POSTPONE_BOUGHT_MS;
}

void postpone_say(struct engine *e, const struct slurm_job_detail *d, const char *id,
		  const char *text)
{
	struct postponed *p = get(e, d->number);

	if (!may_say(p, d) || !slurm_postpone(e->slurm, id, 0, 0, text))
		return;
	note_said(e, p, d, text);
	(void)snprintf(p->id, sizeof(p->id), "%s", id);
	p->unnamed = false;
	p->tells = 0; /* of a refusal: its order has no words any more */
	p->look_ms = engine_now(e) + POSTPONE_WATCH_MS;
	if (p->refusal.last_ms == 0)
		p->refusal.last_ms = engine_now(e);
	put_row(e, p);
}

/* --- looking -----------------------------------------------------------------------------------
 */

struct details { /* one answer */
	struct engine *e;
	int64_t began_ms;
};

/* An update of nodes that ran since, or is about to, may requeue the job once more: slurmctld had
 * given it one of those as well.  Then its begin time is not what the answer says; nor may its
 * comment be, if nobody has read the answer for long.  In a storm there is no such moment. */
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
	char key[FMT_U64_SIZE];
	struct postponed *p = map_get(&e->jobs->postponed_map, fmt_u64(key, d.number));

	if (p == NULL || !p->asked || p->refusal.last_ms >= all->began_ms)
		return; /* not asked about, or refused again since */
	p->shown = !d.ended;
	if (d.begin_ms != 0)
		d.begin_ms = engine_from_wall(e, d.begin_ms); /* as are all times here */
	if (!p->untold)
		look_back(e, p, &d);
	else if (d.pending && !d.held && !is_overtaken(e, p, all->began_ms))
		tell(e, p, &d);
	else if (d.held)
		p->untold = false; /* somebody decides about it already */
}

/* One that is still to be told is looked at again in a moment, for a while: a job is not pending at
 * once. */
static void looked(struct engine *e, struct postponed *p, bool failed)
{
	int64_t now = engine_now(e);

	p->look_ms = now + (failed ? POSTPONE_RETRY_MS : POSTPONE_AGAIN_MS);
	if (!failed && p->first_ms == 0)
		p->first_ms = now;
	if (!failed && now - p->first_ms > POSTPONE_GIVE_UP_MS)
		p->untold = false; /* it has ended, or runs elsewhere */
	if (!p->untold)
		p->look_ms = now + (failed ? POSTPONE_RETRY_MS : POSTPONE_WATCH_MS);
	if (!failed && !p->untold && !p->shown)
		settle(e, p, true); /* slurmctld has forgotten it, or will */
}

void postpone_details(struct engine *e, const char *text, size_t len, int64_t began_ms,
		      const struct err *err)
{
	struct details all = {e, began_ms};

	for (struct postponed *p = e->jobs->postponed; p != NULL; p = p->next)
		p->shown = false;
	if (err == NULL)
		slurm_job_parse_detail(text, len, on_detail, &all);
	for (struct postponed *p = e->jobs->postponed; p != NULL; p = p->next) {
		if (!p->asked)
			continue;
		p->asked = false;
		looked(e, p, err != NULL);
	}
}

/* --- what no wait can mend ---------------------------------------------------------------------
 */

static bool is_waiting(const struct engine *e, const struct postponed *p)
{
	return refusal_lasts(&p->refusal) && !p->untold && p->until_ms > engine_now(e);
}

/* ... or will, once slurmctld is told: it is then decided anew when the job is looked at again. */
static bool is_to_wait(const struct engine *e, const struct postponed *p)
{
	return is_waiting(e, p) || (p->untold && refusal_lasts(&p->refusal));
}

static void change(struct engine *e, struct postponed *p)
{
	p->anew = true;
	p->look_ms = engine_now(e);
}

void postpone_anew(struct engine *e)
{
	for (struct postponed *p = e->jobs->postponed; p != NULL; p = p->next)
		if (is_to_wait(e, p))
			change(e, p);
}

/* Which of them the job may have is not known here: any that has become cheaper, or can be had. */
static bool is_cheaper(const struct engine *e, const struct postponed *p)
{
	int64_t now[CONF_OFFERS_MAX];

	quote_costs(e, p->pool, now);
	for (size_t i = 0; i < CONF_OFFERS_MAX; i++)
		if (now[i] < p->costs[i])
			return true;
	return false;
}

/* A job compares with what its offers cost when it was refused, not with the last offers. */
void postpone_offers(struct engine *e, bool cheaper)
{
	(void)cheaper;
	for (struct postponed *p = e->jobs->postponed; p != NULL; p = p->next)
		if (is_to_wait(e, p) && is_cheaper(e, p))
			change(e, p);
}

static uint64_t add_text(uint64_t h, struct slurm_text t)
{
	return fnv_bytes(fnv_bytes(h, t.p, t.n), "|", 1);
}

static void on_words(void *ctx, const struct slurm_job_words *w)
{
	struct engine *e = ctx;
	char key[FMT_U64_SIZE];
	struct postponed *p = map_get(&e->jobs->postponed_map, fmt_u64(key, w->job.number));
	uint64_t h = fnv_bytes(FNV_BEGIN, &w->count, sizeof(w->count));

	if (p == NULL)
		return;
	p->wording = false;
	if (p->unnamed && w->job.id[0] != '\0') {
		(void)snprintf(p->id, sizeof(p->id), "%s", w->job.id);
		p->unnamed = false;
	}
	h = add_text(add_text(h, w->job.partition), w->job.constraint);
	h = add_text(add_text(h, w->job.comment), w->required);
	h = add_text(h, w->excluded);
	if (is_waiting(e, p) && p->wishes != 0 && p->wishes != h)
		change(e, p);
	p->wishes = h;
}

/* One of before our start that slurmctld does not know any more has ended meanwhile. */
void postpone_words(struct engine *e, const char *text, size_t len)
{
	bool whole = slurm_job_parse_words(text, len, on_words, e);

	for (struct postponed *p = e->jobs->postponed; p != NULL; p = p->next) {
		if (whole && p->wording && p->unnamed) {
			p->unnamed = false;
			settle(e, p, true);
		}
		p->wording = false;
	}
}

/* Of so many that one question does not hold all, others each time.  *more: not all of them. */
static size_t pick_words(const struct engine *e, struct postponed *out[SLURM_ASK_MAX], bool *more)
{
	size_t n = 0;

	*more = false;
	for (struct postponed *p = e->jobs->postponed; p != NULL && !*more; p = p->next) {
		if (p->worded || !(p->unnamed || is_waiting(e, p)))
			continue;
		*more = n == SLURM_ASK_MAX;
		if (!*more)
			out[n++] = p;
	}
	return n;
}

/* Who has changed the job? */
static void ask_words(struct engine *e)
{
	struct postponed *asked[SLURM_ASK_MAX];
	const char *ids[SLURM_ASK_MAX];
	int64_t now = engine_now(e);
	size_t n;
	bool more;

	if (now < e->jobs->postpone_words_ms)
		return;
	n = pick_words(e, asked, &more);
	for (size_t i = 0; i < n; i++)
		ids[i] = asked[i]->key;
	if (n > 0 && !slurm_ask_jobs(e->slurm, SLURM_SOME_JOBS, ids, n))
		return;
	if (n > 0)
		e->jobs->postpone_words_ms = now + POSTPONE_WATCH_MS;
	for (struct postponed *p = e->jobs->postponed; p != NULL; p = p->next) {
		p->worded = p->worded && more; /* else the next round begins */
		p->wording = false;
	}
	for (size_t i = 0; i < n; i++) {
		asked[i]->worded = more;
		asked[i]->wording = true;
	}
}

/* --- the rest ----------------------------------------------------------------------------------
 */

/* Begin times that slurmctld set are forgotten with the refusal that they were about; but not
 * before our words, of which nobody would know after a restart. */
static void forget_refusal(struct engine *e, struct postponed *p)
{
	if (!p->untold && !p->words && refusal_over(&p->refusal, engine_now(e)))
		drop_refusal(e, p);
}

static void forget(struct engine *e)
{
	struct postponed **link = &e->jobs->postponed;

	while (*link != NULL) {
		struct postponed *p = *link;

		forget_refusal(e, p);
		if (p->untold || is_watched(e, p)) {
			link = &p->next;
			continue;
		}
		*link = p->next;
		map_del(&e->jobs->postponed_map, p->key);
		free(p);
	}
}

static bool is_due(const struct engine *e, const struct postponed *p)
{
	if (!p->untold)
		return is_watched(e, p) && !p->unnamed;
	return slurm_past(e->slurm, p->mark);
}

void postpone_run(struct engine *e)
{
	struct postponed *asked[SLURM_ASK_MAX];
	const char *ids[SLURM_ASK_MAX];
	int64_t now = engine_now(e);
	size_t n = 0;

	forget(e);
	ask_words(e);
	e->jobs->postpone_next = INT64_MAX;
	for (struct postponed *p = e->jobs->postponed; p != NULL && n < SLURM_ASK_MAX;
	     p = p->next) {
		if (!p->untold && !is_watched(e, p))
			continue;
		if (p->look_ms <= now && is_due(e, p))
			asked[n++] = p;
		else if (p->look_ms > now && p->look_ms < e->jobs->postpone_next)
			e->jobs->postpone_next = p->look_ms;
	}
	for (size_t i = 0; i < n; i++)
		ids[i] = asked[i]->id;
	if (n == 0 || !slurm_ask_jobs(e->slurm, SLURM_DETAILS, ids, n))
		return; /* an answer is on its way, and is followed by the next question */
	for (size_t i = 0; i < n; i++)
		asked[i]->asked = true;
}

size_t engine_postponed(const struct engine *e, struct engine_postponed *soonest)
{
	size_t n = 0;

	for (const struct postponed *p = e->jobs->postponed; p != NULL; p = p->next) {
		if (p->until_ms <= engine_now(e))
			continue;
		if (n++ == 0 || p->until_ms < soonest->until_ms)
			*soonest = (struct engine_postponed){p->id, p->refusal.count, p->until_ms};
	}
	return n;
}
