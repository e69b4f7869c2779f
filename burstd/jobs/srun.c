#include "jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/fnv.h"
#include "base/mem.h"

/* Why a job of srun or salloc ends, in the terminal of whoever waits for it: slurmctld itself says
 * "Node failure" and no more, and there is no queue in which such a job could wait with a comment.
 *
 * The sentence goes out before the order that ends the job (slurm_talks()).  A batch job is never
 * told: slurmctld would write into its output.  So squeue is asked which of them have a script,
 * once for each job.  Nothing here is durable: it is for people who look at it now. */

enum {
	SRUN_KEEP_MS = 7200000, /* a job is remembered so long after its last sentence */
	SRUN_JOBS_MAX = 65536,  /* remembered; others are not told */
	/* slurmctld hands a word on by itself, beside what it does next. */
	SRUN_HEARD_MS = 250,
	SRUN_FORGET_MS = 60000, /* between two looks at who may be forgotten */
	SRUN_SURE_MS = 60000,   /* slurmctld may lose its state, and give a number again */
	SRUN_TOLD = 8,          /* sentences that are remembered of a job */
};

enum srun_kind { SRUN_UNKNOWN, SRUN_BATCH, SRUN_LISTENS };

struct srun {
	struct srun *next;
	char key[FMT_U64_SIZE]; /* the job's number */
	enum srun_kind kind;
	bool asked;                       /* in the question on the wire */
	int64_t at_ms;                    /* of the last sentence */
	char text[SLURM_COMMENT_MAX + 1]; /* ... which it was; "": none yet */
	uint64_t told[SRUN_TOLD];         /* hashes of those that went out, a ring ... */
	unsigned ntold;                   /* ... and how many there were */
};

static struct srun *get(struct engine *e, uint64_t job)
{
	char key[FMT_U64_SIZE];
	struct srun *s = map_get(&e->jobs->sruns_map, fmt_u64(key, job));

	if (s != NULL || e->jobs->nsruns == SRUN_JOBS_MAX)
		return s;
	s = mem_zalloc(sizeof(*s));
	(void)fmt_u64(s->key, job);
	s->next = e->jobs->sruns;
	e->jobs->sruns = s;
	e->jobs->nsruns++;
	map_put(&e->jobs->sruns_map, s->key, s);
	return s;
}

void srun_init(struct engine *e)
{
	map_init(&e->jobs->sruns_map);
}

void srun_free(struct engine *e)
{
	while (e->jobs->sruns != NULL) {
		struct srun *s = e->jobs->sruns;

		e->jobs->sruns = s->next;
		free(s);
	}
	map_fini(&e->jobs->sruns_map);
}

static uint64_t hash(const char *text)
{
	return fnv_bytes(FNV_BEGIN, text, strnlen(text, SLURM_COMMENT_MAX));
}

/* Or about to be. */
static bool was_told(const struct srun *s, const char *text)
{
	for (unsigned i = 0; i < s->ntold && i < SRUN_TOLD; i++)
		if (s->told[i] == hash(text))
			return true;
	return strncmp(s->text, text, sizeof(s->text) - 1) == 0;
}

static void notify(struct engine *e, struct srun *s)
{
	slurm_notify(e->slurm, s->key, s->text);
	s->told[s->ntold++ % SRUN_TOLD] = hash(s->text);
	e->count.jobs_notified++;
}

void srun_tell(struct engine *e, uint64_t job, const char *text)
{
	struct srun *s = get(e, job);

	if (s == NULL || s->kind == SRUN_BATCH)
		return;
	if (was_told(s, text))
		return; /* once */
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
	char key[FMT_U64_SIZE];
	struct srun *s = map_get(&e->jobs->sruns_map, fmt_u64(key, job));

	if (s == NULL || s->kind != SRUN_UNKNOWN)
		return;
	s->kind = batch ? SRUN_BATCH : SRUN_LISTENS;
	/* Asked about one component of a heterogeneous job, squeue names them all. */
	if (!batch && s->text[0] != '\0')
		notify(e, s);
}

/* What slurmctld does not say, nobody is told: the job may have ended. */
void srun_who(struct engine *e, const char *text, size_t len, const struct err *err)
{
	if (err == NULL)
		slurm_job_parse_who(text, len, on_who, e);
	for (struct srun *s = e->jobs->sruns; s != NULL; s = s->next) {
		if (s->asked && s->kind == SRUN_UNKNOWN)
			s->text[0] = '\0';
		s->asked = false;
	}
	e->jobs->srun_asks = false;
}

static void forget(struct engine *e)
{
	struct srun **link = &e->jobs->sruns;
	int64_t now = engine_now(e), old = now - SRUN_KEEP_MS;

	if (now >= e->jobs->srun_forgot_ms && now < e->jobs->srun_forgot_ms + SRUN_FORGET_MS)
		return;
	e->jobs->srun_forgot_ms = now;
	while (*link != NULL) {
		struct srun *s = *link;

		if (s->at_ms > old || s->asked) {
			link = &s->next;
			continue;
		}
		*link = s->next;
		map_del(&e->jobs->sruns_map, s->key);
		e->jobs->nsruns--;
		free(s);
	}
}

static void ask(struct engine *e)
{
	struct srun *asked[SLURM_ASK_MAX];
	const char *ids[SLURM_ASK_MAX];
	size_t n = 0;

	e->jobs->srun_due = false;
	for (struct srun *s = e->jobs->sruns; s != NULL; s = s->next) {
		if (s->kind != SRUN_UNKNOWN || s->text[0] == '\0')
			continue;
		if (n == SLURM_ASK_MAX) {
			e->jobs->srun_due = true; /* with the next question */
			break;
		}
		asked[n++] = s;
	}
	for (size_t i = 0; i < n; i++)
		ids[i] = asked[i]->key;
	e->jobs->srun_asks = n > 0 && slurm_ask_jobs(e->slurm, SLURM_WHO, ids, n);
	for (size_t i = 0; i < n; i++) {
		asked[i]->asked = e->jobs->srun_asks;
		if (!e->jobs->srun_asks)
			asked[i]->text[0] = '\0'; /* squeue cannot be started */
	}
}

/* Words are on their way, or were a moment ago. */
static bool is_talking(struct engine *e)
{
	bool speaks = slurm_notifies(e->slurm);

	if (e->jobs->srun_speaks && !speaks)
		e->jobs->srun_heard_ms = engine_now(e) + SRUN_HEARD_MS;
	e->jobs->srun_speaks = speaks;
	return e->jobs->srun_due || e->jobs->srun_asks || speaks || srun_next_ms(e) != INT64_MAX;
}

void srun_run(struct engine *e)
{
	if (e->jobs->sruns == NULL)
		return;
	if (e->jobs->srun_due && !e->jobs->srun_asks)
		ask(e);
	forget(e);
	slurm_talks(e->slurm, is_talking(e));
}

int64_t srun_next_ms(const struct engine *e)
{
	int64_t now = engine_now(e);

	return now < e->jobs->srun_heard_ms && e->jobs->srun_heard_ms <= now + SRUN_HEARD_MS
		       ? e->jobs->srun_heard_ms
		       : INT64_MAX;
}
