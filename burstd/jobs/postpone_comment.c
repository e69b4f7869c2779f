#include "jobs/postpone_private.h"

#include <stdio.h>
#include <string.h>

/* Writes and clears burstd's words in a job's AdminComment, about a refusal or a lost node.
 *
 * A comment must not outlast what it says: as long as it stands there the job is looked at, once a
 * minute, and its row stays.  When the job has its nodes, or what was said is over, the comment is
 * cleared if it is still what we wrote, and again until squeue shows that it is gone, since an
 * order may fail.  What somebody else wrote, even behind our words, is left alone.  slurmctld takes
 * no comment on a job that has ended (slurm.md). */

enum {
	POSTPONE_BOUGHT_MS = 2000, /* after its nodes are bought; a refusal would come sooner */
};

static bool is_like_ours(struct slurm_text comment)
{
	size_t n = sizeof(POSTPONE_ANY_OF_OURS) - 1;

	return comment.n >= n && memcmp(comment.p, POSTPONE_ANY_OF_OURS, n) == 0;
}

/* How close together it runs is placed.c's to say. */
static bool is_ours(const struct postponed *p, struct slurm_text comment)
{
	if (placed_is_words(comment))
		return false;
	if (strcmp(p->said, POSTPONE_ANY_OF_OURS) == 0)
		return is_like_ours(comment);
	return comment.n > 0 && (slurm_text_is(comment, p->said) || slurm_text_is(comment, p->was));
}

bool postpone_may_say(const struct postponed *p, const struct slurm_job_detail *d)
{
	return d->comment.n == 0 || is_ours(p, d->comment) || placed_is_words(d->comment);
}

/* Note the comment as slurmctld will have it, to compare it with squeue's. */
void postpone_note_said(struct engine *e, struct postponed *p, const struct slurm_job_detail *d,
			const char *text)
{
	(void)snprintf(p->was, sizeof(p->was), "%.*s", (int)d->comment.n, d->comment.p);
	slurm_words(e->slurm, p->said, sizeof(p->said), text);
	p->words = true;
	p->said_ms = engine_now(e);
	p->good_ms = INT64_MAX;
}

/* A comment that was just sent may not show yet. */
void postpone_look_at_words(struct engine *e, struct postponed *p, const struct slurm_job_detail *d)
{
	int64_t now = engine_now(e);
	bool over = d->placed || (d->pending && now >= p->good_ms);

	p->foreign =
		is_like_ours(d->comment) && !is_ours(p, d->comment) && !placed_is_words(d->comment);
	if (p->words && is_ours(p, d->comment)) {
		if (over)
			slurm_clear_comment(e->slurm, p->id);
	} else if (now - p->said_ms >= POSTPONE_HEARD_MS) {
		p->words = false;
	}
}

void postpone_bought(struct engine *e, uint64_t number)
{
	struct postponed *p = postpone_find(e, number);

	if (p != NULL && !p->untold && p->words)
		p->look_ms = engine_now(e) + POSTPONE_BOUGHT_MS;
}

void postpone_say(struct engine *e, const struct slurm_job_detail *d, const char *id,
		  const char *text)
{
	struct postponed *p = postpone_get(e, d->number);

	if (!postpone_may_say(p, d) || !slurm_postpone(e->slurm, id, 0, 0, text))
		return;
	postpone_note_said(e, p, d, text);
	(void)snprintf(p->id, sizeof(p->id), "%s", id);
	p->unnamed = false;
	p->tells = 0; /* the order of a refusal has no words any more */
	p->look_ms = engine_now(e) + POSTPONE_WATCH_MS;
	if (p->refusal.last_ms == 0)
		p->refusal.last_ms = engine_now(e);
	postpone_put_row(e, p);
}
