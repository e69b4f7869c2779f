#include "jobs/jobs.h"

#include <stdio.h>
#include <string.h>

#include "base/fnv.h"

/* Tells users of srun and salloc, in their terminal, why their job ends: slurmctld itself says
 * "Node failure" and no more, and such a job cannot wait in the queue with a comment.
 *
 * The sentence goes out before the order that ends the job (slurm_talks()).  A batch job is never
 * told: slurmctld would write into its output.  So squeue is asked which jobs have a script, once
 * for each job.  Nothing here is durable: it is for people who look at it now. */

enum {
	SRUN_KEEP_MS = 7200000, /* a job is remembered so long after its last sentence */
	SRUN_JOBS_MAX = 65536,  /* remembered; others are not told */
	/* slurmctld passes a notify on in the background, while it does what comes next. */
	SRUN_HEARD_MS = 250,
	SRUN_FORGET_MS = 60000, /* between two looks for jobs to forget */
	SRUN_SURE_MS = 60000,   /* then ask again: the number may be reused (F50) */
	SRUN_TOLD = 8,          /* sentences that are remembered of a job */
};

enum srun_kind { SRUN_UNKNOWN, SRUN_BATCH, SRUN_LISTENS };

struct srun { /* one job */
	struct job_part in;
	enum srun_kind kind;
	bool asked;                       /* in the question on the wire */
	int64_t at_ms;                    /* of the last sentence */
	char text[SLURM_COMMENT_MAX + 1]; /* ... which it was; "": none yet */
	uint64_t told[SRUN_TOLD];         /* hashes of those that went out, a ring ... */
	unsigned ntold;                   /* ... and how many there were */
};

static struct srun *get(struct engine *e, uint64_t job)
{
	struct srun *s = job_find(e, job, JOB_SRUN);

	if (s != NULL || e->jobs->nsruns == SRUN_JOBS_MAX)
		return s;
	e->jobs->nsruns++;
	return job_get(e, job, JOB_SRUN, sizeof(*s));
}

static uint64_t hash(const char *text)
{
	return fnv_bytes(FNV_BEGIN, text, strnlen(text, SLURM_COMMENT_MAX));
}

/* Was the text sent, or is it about to be? */
static bool was_told(const struct srun *s, const char *text)
{
	for (unsigned i = 0; i < s->ntold && i < SRUN_TOLD; i++)
		if (s->told[i] == hash(text))
			return true;
	return strncmp(s->text, text, sizeof(s->text) - 1) == 0;
}

static void notify(struct engine *e, struct srun *s)
{
	slurm_notify(e->slurm, s->in.job->key, s->text);
	s->told[s->ntold++ % SRUN_TOLD] = hash(s->text);
	e->count.jobs_notified++;
}

void srun_tell(struct engine *e, uint64_t job, const char *text)
{
	struct srun *s = get(e, job);

	if (s == NULL || s->kind == SRUN_BATCH)
		return;
	if (was_told(s, text))
		return; /* each text once */
	if (s->kind == SRUN_LISTENS && engine_now(e) - s->at_ms >= SRUN_SURE_MS)
		s->kind = SRUN_UNKNOWN;
	(void)snprintf(s->text, sizeof(s->text), "%s", text);
	s->at_ms = engine_now(e);
	if (s->kind == SRUN_LISTENS)
		notify(e, s);
	else
		e->jobs->srun_due = true;
	slurm_talks(e->slurm, true);
}

static void on_who(void *ctx, uint64_t job, bool batch)
{
	struct engine *e = ctx;
	struct srun *s = job_find(e, job, JOB_SRUN);

	if (s == NULL || s->kind != SRUN_UNKNOWN)
		return;
	s->kind = batch ? SRUN_BATCH : SRUN_LISTENS;
	/* Asked about one component of a heterogeneous job, squeue names them all. */
	if (!batch && s->text[0] != '\0')
		notify(e, s);
}

/* Drop the text for jobs that squeue did not show: they may have ended. */
void srun_who(struct engine *e, const char *text, size_t len, const struct err *err)
{
	if (err == NULL)
		slurm_job_parse_who(text, len, on_who, e);
	for (struct srun *s = e->jobs->parts[JOB_SRUN]; s != NULL; s = s->in.next) {
		if (s->asked && s->kind == SRUN_UNKNOWN)
			s->text[0] = '\0';
		s->asked = false;
	}
	e->jobs->srun_asks = false;
}

static bool is_old(struct engine *e, void *part)
{
	const struct srun *s = part;
	bool old = !s->asked && s->at_ms <= engine_now(e) - SRUN_KEEP_MS;

	e->jobs->nsruns -= old;
	return old;
}

static void forget(struct engine *e)
{
	int64_t now = engine_now(e);

	if (now >= e->jobs->srun_forgot_ms && now < e->jobs->srun_forgot_ms + SRUN_FORGET_MS)
		return;
	e->jobs->srun_forgot_ms = now;
	job_forget(e, JOB_SRUN, is_old);
}

static void ask(struct engine *e)
{
	struct srun *asked[SLURM_ASK_MAX];
	const char *ids[SLURM_ASK_MAX];
	size_t n = 0;

	e->jobs->srun_due = false;
	for (struct srun *s = e->jobs->parts[JOB_SRUN]; s != NULL; s = s->in.next) {
		if (s->kind != SRUN_UNKNOWN || s->text[0] == '\0')
			continue;
		if (n == SLURM_ASK_MAX) {
			e->jobs->srun_due = true; /* with the next question */
			break;
		}
		asked[n++] = s;
	}
	for (size_t i = 0; i < n; i++)
		ids[i] = asked[i]->in.job->key;
	e->jobs->srun_asks = n > 0 && slurm_ask_jobs(e->slurm, SLURM_WHO, ids, n);
	for (size_t i = 0; i < n; i++) {
		asked[i]->asked = e->jobs->srun_asks;
		if (!e->jobs->srun_asks)
			asked[i]->text[0] = '\0'; /* squeue cannot be started */
	}
}

static int64_t srun_next_ms(const struct engine *e)
{
	int64_t now = engine_now(e);

	return now < e->jobs->srun_heard_ms && e->jobs->srun_heard_ms <= now + SRUN_HEARD_MS
		       ? e->jobs->srun_heard_ms
		       : INT64_MAX;
}

/* Is any text on its way, or was a moment ago? */
static bool is_talking(struct engine *e)
{
	bool speaks = slurm_notifies(e->slurm);

	if (e->jobs->srun_speaks && !speaks)
		e->jobs->srun_heard_ms = engine_now(e) + SRUN_HEARD_MS;
	e->jobs->srun_speaks = speaks;
	return e->jobs->srun_due || e->jobs->srun_asks || speaks || srun_next_ms(e) != INT64_MAX;
}

bool srun_talks(struct engine *e)
{
	return is_talking(e);
}

static void srun_run(struct engine *e)
{
	if (e->jobs->parts[JOB_SRUN] == NULL)
		return;
	if (e->jobs->srun_due && !e->jobs->srun_asks)
		ask(e);
	forget(e);
	slurm_talks(e->slurm, is_talking(e));
}

const struct engine_part srun_part = {
	.name = "srun and salloc",
	.at = {[PART_RUN] = srun_run},
	.next_ms = srun_next_ms,
};
