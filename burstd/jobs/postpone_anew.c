#include "cloud/cloud.h"
#include "jobs/postpone_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fnv.h"

/* Notes when a job may be tried again that no wait could help: the configuration has changed, or
 * what its offers cost, or what it asks for, which squeue is asked once a minute.  postpone.c then
 * lets the job start. */

static bool is_waiting(const struct engine *e, const struct postponed *p)
{
	return refusal_lasts(&p->refusal) && !p->untold && p->until_ms > engine_now(e);
}

/* Likewise if slurmctld is still to be told: then it is decided at the next look at the job. */
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
	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next)
		if (is_to_wait(e, p))
			change(e, p);
}

void postpone_paid(struct engine *e, uint64_t number)
{
	struct postponed *p = postpone_find(e, number);

	if (p != NULL && is_to_wait(e, p))
		change(e, p);
}

void postpone_money(struct engine *e)
{
	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next)
		if (p->refusal.money && is_to_wait(e, p))
			change(e, p);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void postpone_money_but(struct engine *e, uint64_t *numbers, size_t n)
{
	qsort(numbers, n, sizeof(*numbers), by_number);
	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next)
		if (p->refusal.money && is_waiting(e, p) && !p->anew && !p->lifting &&
		    bsearch(&p->in.job->number, numbers, n, sizeof(*numbers), by_number) == NULL)
			change(e, p);
}

/* Has any offer of the pool become cheaper, or available?  Which of them the job may have is not
 * known here. */
static bool is_cheaper(const struct engine *e, const struct postponed *p)
{
	int64_t now[CONF_OFFERS_MAX];

	quote_costs(e, p->pool, now);
	for (size_t i = 0; i < CONF_OFFERS_MAX; i++)
		if (now[i] < p->costs[i])
			return true;
	return false;
}

/* Compare with what the offers cost when the job was refused, not with the last offers. */
void postpone_quotes(struct engine *e, bool cheaper)
{
	(void)cheaper;
	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next)
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
	struct postponed *p = postpone_find(e, w->job.number);
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
	h = add_text(add_text(h, w->excluded), w->job.payer.limit);
	h = add_text(add_text(h, w->job.payer.account), w->job.payer.qos);
	h = add_text(add_text(h, w->job.payer.user), w->job.payer.wckey);
	if (is_waiting(e, p) && p->wishes != 0 && p->wishes != h)
		change(e, p);
	p->wishes = h;
}

/* A job from before our start that slurmctld does not know any more has ended meanwhile. */
void postpone_words(struct engine *e, const char *text, size_t len)
{
	bool whole = slurm_job_parse_words(text, len, on_words, e);

	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next) {
		if (whole && p->wording && p->unnamed) {
			p->unnamed = false;
			postpone_settle(e, p, true);
		}
		p->wording = false;
	}
}

/* Choose the jobs for one question, others each time if it does not hold all.  *more: some are
 * left. */
static size_t pick_words(const struct engine *e, struct postponed *out[SLURM_ASK_MAX], bool *more)
{
	size_t n = 0;

	*more = false;
	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL && !*more;
	     p = p->in.next) {
		if (p->worded || !(p->unnamed || is_waiting(e, p)))
			continue;
		*more = n == SLURM_ASK_MAX;
		if (!*more)
			out[n++] = p;
	}
	return n;
}

/* Ask squeue whether somebody has changed a waiting job. */
void postpone_ask_words(struct engine *e)
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
		ids[i] = asked[i]->in.job->key;
	if (n > 0 && !slurm_ask_jobs(e->slurm, SLURM_SOME_JOBS, ids, n))
		return;
	if (n > 0)
		e->jobs->postpone_words_ms = now + POSTPONE_WATCH_MS;
	for (struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next) {
		p->worded = p->worded && more; /* else the next round begins */
		p->wording = false;
	}
	for (size_t i = 0; i < n; i++) {
		asked[i]->worded = more;
		asked[i]->wording = true;
	}
}
