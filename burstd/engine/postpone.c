#include "engine/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

/* A job that was refused its nodes waits, longer each time, by its own StartTime: slurmctld would
 * start it again within seconds.  The count is durable, so that a restart of burstd does not make
 * it eager again.  What the researcher is told stands in the job's AdminComment.
 *
 * Its nodes are sent back first, for slurmctld sets a begin time of its own when it requeues a job;
 * then the job is looked at, and never made to start earlier than it would by itself. */

enum {
	POSTPONE_AGAIN_MS = 300,  /* it is still being requeued: look again */
	POSTPONE_RETRY_MS = 5000, /* slurmctld did not answer */
	POSTPONE_GIVE_UP_MS = 10000,
	POSTPONE_CALM_MS = 5000, /* so long an answer is looked for that no update overtook */
	POSTPONE_ROUND_MS = 2000,
	POSTPONE_TELLS = 3, /* slurmctld took it not, or did not hear it: so often in all */
};

struct postponed { /* one job */
	struct postponed *next;
	char key[FMT_U64_SIZE];
	struct refusal refusal;        /* as durable */
	char id[SLURM_JOB_ID_MAX + 1]; /* as people write it */
	int64_t until_ms;              /* what it was told to wait for; 0: nothing */
	int64_t told_wall_ms;          /* ... as slurmctld has it; 0: not by us */
	bool untold;                   /* slurmctld is still to be told: */
	char why[160];
	int64_t look_ms;
	int64_t first_ms; /* when it was looked at first; 0: not yet */
	bool asked;       /* in the question on the wire */
	uint64_t mark;    /* its nodes are sent back when slurm_past() says so */
	unsigned tells;   /* how often it was told */
};

static struct postponed *get(struct engine *e, uint64_t number)
{
	char key[FMT_U64_SIZE];
	struct postponed *p = map_get(&e->postponed_map, fmt_u64(key, number));

	if (p != NULL)
		return p;
	p = mem_zalloc(sizeof(*p));
	(void)fmt_u64(p->key, number);
	(void)snprintf(p->id, sizeof(p->id), "%s", p->key);
	p->next = e->postponed;
	e->postponed = p;
	map_put(&e->postponed_map, p->key, p);
	return p;
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
}

void postpone_free(struct engine *e)
{
	while (e->postponed != NULL) {
		struct postponed *p = e->postponed;

		e->postponed = p->next;
		free(p);
	}
	map_fini(&e->postponed_map);
}

struct refusal postpone_look(const struct engine *e, uint64_t number)
{
	char key[FMT_U64_SIZE];
	const struct postponed *p = map_get(&e->postponed_map, fmt_u64(key, number));

	return p != NULL && !refusal_over(&p->refusal, engine_now(e)) ? p->refusal
								      : (struct refusal){0};
}

void postpone_job(struct engine *e, const struct slurm_job *j, const char *why,
		  struct refusal_hint hint)
{
	struct postponed *p = get(e, j->number);

	(void)refusal_add(&p->refusal, hint, engine_now(e));
	journal_put_refusal(engine_tx(e), &(struct journal_refusal){j->number, p->refusal});
	(void)snprintf(p->id, sizeof(p->id), "%s", j->id);
	(void)snprintf(p->why, sizeof(p->why), "%s", why);
	p->untold = true;
	p->until_ms = 0;
	p->look_ms = engine_now(e);
	p->first_ms = 0;
	p->asked = false; /* an answer that is on its way is about another time */
	p->mark = slurm_mark(e->slurm);
	p->tells = 0;
}

/* --- telling slurmctld ------------------------------------------------------------------------ */

/* Is it the time that we told slurmctld, give or take what the command took? */
static bool is_ours(const struct postponed *p, const struct slurm_job_detail *d)
{
	int64_t by = d->begin_ms - p->told_wall_ms;

	return p->told_wall_ms != 0 && by >= -POSTPONE_ROUND_MS && by <= POSTPONE_ROUND_MS;
}

/* slurmctld's clock was set back: what it was told to wait for is further away than was meant. */
void postpone_clock_set(struct engine *e)
{
	for (struct postponed *p = e->postponed; p != NULL; p = p->next) {
		if (p->untold || p->told_wall_ms == 0 || refusal_over(&p->refusal, engine_now(e)))
			continue;
		p->untold = true;
		p->look_ms = engine_now(e);
		p->first_ms = 0;
		p->asked = false;
		p->tells = 0;
	}
}

static void tell(struct engine *e, struct postponed *p, const struct slurm_job_detail *d)
{
	int64_t now = engine_now(e), start = p->refusal.last_ms + refusal_wait_ms(&p->refusal);
	char comment[SLURM_COMMENT_MAX + 1], at[FMT_TIME_SIZE], detail[320];
	int64_t begin_ms = engine_from_wall(e, d->begin_ms);
	bool later;

	if (is_ours(p, d) && begin_ms > start + POSTPONE_ROUND_MS)
		begin_ms = 0; /* it may be sooner again */
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
	p->tells++;
	(void)engine_time(e, at, start);
	(void)snprintf(comment, sizeof(comment), "burstd: %s; next try %.19sZ", p->why, at);
	slurm_postpone(e->slurm, p->id, later ? start - now : 0, d->comment_free ? comment : NULL);
	(void)snprintf(detail, sizeof(detail), "job %s, refusal %u: %s; next try %.19sZ", p->id,
		       p->refusal.count, p->why, at);
	engine_event(e, "", 0, "job-postponed", detail);
	p->until_ms = later ? start : 0; /* 0: its user says when */
	p->told_wall_ms = later ? engine_wall(e, start) : 0;
	p->untold = false;
}

/* Of a command that failed some jobs may have been told: they are looked at again.  One that
 * slurmctld had started again meanwhile is refused again. */
void postpone_told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	if (err == NULL || strcmp(o->verb, "postpone") != 0)
		return;
	for (struct postponed *p = e->postponed; p != NULL; p = p->next) {
		if (p->untold || p->tells == POSTPONE_TELLS || !slurm_job_among(o->names, p->id))
			continue;
		p->untold = true;
		p->until_ms = 0;
		p->look_ms = engine_now(e) + POSTPONE_AGAIN_MS;
		p->first_ms = 0;
		p->asked = false;
	}
}

struct details { /* one answer */
	struct engine *e;
	int64_t began_ms;
};

/* An update of nodes that ran since, or is about to, may requeue the job once more: slurmctld had
 * given it one of those as well.  Then its begin time is not what the answer says.  In a storm
 * there is no such moment. */
static bool is_overtaken(const struct engine *e, const struct postponed *p, int64_t began_ms)
{
	int64_t now = engine_now(e), first = p->first_ms != 0 ? p->first_ms : now;

	return slurm_settled_ms(e->slurm) > began_ms && now - first < POSTPONE_CALM_MS;
}

static void on_detail(void *ctx, const struct slurm_job_detail *d)
{
	const struct details *all = ctx;
	struct engine *e = all->e;
	char key[FMT_U64_SIZE];
	struct postponed *p = map_get(&e->postponed_map, fmt_u64(key, d->number));

	if (p == NULL || !p->untold || !p->asked || p->refusal.last_ms >= all->began_ms)
		return; /* not asked about, or refused again since */
	if (d->pending && !d->held && !is_overtaken(e, p, all->began_ms))
		tell(e, p, d);
	else if (d->held)
		p->untold = false; /* somebody decides about it already */
}

/* Those that are still to be told are looked at again for a while: a job is not pending at once. */
void postpone_details(struct engine *e, const char *text, size_t len, int64_t began_ms,
		      const struct err *err)
{
	struct details all = {e, began_ms};
	int64_t now = engine_now(e);

	if (err == NULL)
		slurm_job_parse_detail(text, len, on_detail, &all);
	for (struct postponed *p = e->postponed; p != NULL; p = p->next) {
		if (!p->untold || !p->asked)
			continue;
		p->asked = false;
		p->look_ms = now + (err == NULL ? POSTPONE_AGAIN_MS : POSTPONE_RETRY_MS);
		if (err == NULL && p->first_ms == 0)
			p->first_ms = now;
		if (err == NULL && now - p->first_ms > POSTPONE_GIVE_UP_MS)
			p->untold = false; /* it has ended, or runs elsewhere */
	}
}

/* Begin times that slurmctld set are forgotten with the refusal that they were about. */
static void forget(struct engine *e)
{
	struct postponed **link = &e->postponed;

	while (*link != NULL) {
		struct postponed *p = *link;

		if (p->untold || !refusal_over(&p->refusal, engine_now(e))) {
			link = &p->next;
			continue;
		}
		journal_del_refusal(engine_tx(e), strtoull(p->key, NULL, 10));
		*link = p->next;
		map_del(&e->postponed_map, p->key);
		free(p);
	}
}

void postpone_run(struct engine *e)
{
	struct postponed *asked[SLURM_ASK_MAX];
	const char *ids[SLURM_ASK_MAX];
	int64_t now = engine_now(e);
	size_t n = 0;

	forget(e);
	e->postpone_next = INT64_MAX;
	for (struct postponed *p = e->postponed; p != NULL && n < SLURM_ASK_MAX; p = p->next) {
		if (!p->untold)
			continue;
		if (p->look_ms <= now && slurm_past(e->slurm, p->mark))
			asked[n++] = p;
		else if (p->look_ms > now && p->look_ms < e->postpone_next)
			e->postpone_next = p->look_ms;
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

	for (const struct postponed *p = e->postponed; p != NULL; p = p->next) {
		if (p->until_ms <= engine_now(e))
			continue;
		if (n++ == 0 || p->until_ms < soonest->until_ms)
			*soonest = (struct engine_postponed){p->id, p->refusal.count, p->until_ms};
	}
	return n;
}
