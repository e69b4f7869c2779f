#include "ledger/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hostlist.h"
#include "base/mem.h"
#include "ledger/child.h"
#include "ledger/sacct.h"
#include "store/ledger_attempts.h"
#include "store/ledger_facts.h"

enum { PATH_SIZE = 4096, NENV = 6 };

/* --- asking ------------------------------------------------------------------------------------
 */

/* No user can know it, so no user's text has it. */
static void draw_delimiter(char out[SACCT_DELIMITER_MAX + 1])
{
	uint64_t dice = 0;

	if (getrandom(&dice, sizeof(dice), 0) != (ssize_t)sizeof(dice))
		abort(); /* only before the kernel has any randomness, and then it waits */
	(void)snprintf(out, SACCT_DELIMITER_MAX + 1, "|%016" PRIx64 "|", dice);
}

struct reply {
	struct str out, errors;
	int status;
};

static void reply_init(struct reply *r)
{
	str_init(&r->out, JOBS_OUT_MAX);
	str_init(&r->errors, CHILD_ERRORS_MAX);
}

static void reply_fini(struct reply *r)
{
	str_fini(&r->out);
	str_fini(&r->errors);
}

static int ask(const struct jobs *j, const struct sacct_args *a, struct reply *r, struct err *e)
{
	char conf[PATH_SIZE];
	const char *env[NENV] = {"SLURM_TIME_FORMAT=%s", "TZ=UTC", "LC_ALL=C", "HOME=/"};
	const struct child_call call = {
		.argv = a->argv, .envp = env, .timeout_ms = JOBS_TIMEOUT_MS, .stops = j->stops};

	(void)snprintf(conf, sizeof(conf), "SLURM_CONF=%s",
		       j->slurm_conf != NULL ? j->slurm_conf : "");
	if (j->slurm_conf != NULL)
		env[NENV - 2] = conf;
	if (child_run(&call, &r->out, &r->errors, &r->status, e) < 0)
		return -1;
	r->errors.p[strcspn(r->errors.p, "\n")] = '\0';
	if (r->status != 0)
		return err_set(e, ERR_IO, "%.100s: exit status %d: %.120s", a->argv[0], r->status,
			       r->errors.p);
	return 0;
}

/* --- keeping -----------------------------------------------------------------------------------
 */

struct keeping {
	struct ledger *ledger;
	size_t kept, bad; /* bad: whose node list cannot be read */
};

/* Only what touches a node that burstd ever had: the rest of the cluster costs nothing here. */
static int keep(void *ctx, const struct ledger_attempt *a, const char *nodes, struct err *e)
{
	struct keeping *k = ctx;
	struct hostlist *h = NULL;
	const char **ours;
	size_t n = 0;
	int64_t id;
	int rc = 0;

	if (hostlist_parse(&h, nodes, strlen(nodes), NULL) < 0) {
		k->bad++;
		return 0;
	}
	ours = mem_zalloc(h->n * sizeof(*ours));
	for (size_t i = 0; i < h->n && rc == 0; i++) {
		bool knows = false;

		rc = ledger_knows_node(k->ledger, h->names[i], &knows, e);
		if (knows)
			ours[n++] = h->names[i];
	}
	if (rc == 0 && n > 0) {
		rc = ledger_put_attempt(k->ledger, a, ours, n, &id, e);
		k->kept++;
	}
	free(ours);
	hostlist_free(h);
	return rc;
}

typedef int (*parse_fn)(const struct sacct_text *t, sacct_fn fn, void *ctx, struct sacct_count *n,
			struct err *e);

/* *whole: all could be read; else *e says what could not, and nothing was kept. */
static int keep_all(const struct jobs *j, const struct sacct_text *t, parse_fn parse, bool *whole,
		    struct err *e)
{
	struct keeping k = {.ledger = j->ledger};
	struct sacct_count n;
	char text[24], more[24];

	*whole = parse(t, keep, &k, &n, e) == 0;
	if (!*whole)
		return e->code == ERR_INVALID ? 0 : -1;
	if (n.bad + k.bad > 0) {
		(void)snprintf(text, sizeof(text), "%zu", n.bad + k.bad);
		(void)snprintf(more, sizeof(more), "%zu", n.records);
		log_write(j->log, LOG_WARN, "records of jobs cannot be read, and are left out",
			  "records", text, "of", more, "why", n.bad > 0 ? n.why : "a node list",
			  NULL);
	}
	return 0;
}

static int mark(const struct jobs *j, const char *source, int64_t until_ms, struct err *e)
{
	int64_t before;

	if (ledger_number(j->ledger, LEDGER_JOBS_MS, &before, e) < 0)
		return -1;
	if (until_ms > before && ledger_put_number(j->ledger, LEDGER_JOBS_MS, until_ms, e) < 0)
		return -1;
	return ledger_put_note(j->ledger, LEDGER_SOURCE, source, e) < 0
		       ? -1
		       : ledger_put_note(j->ledger, LEDGER_JOBS_WHY, "", e);
}

/* Slurm does not answer: say so, and go on without. */
static int note(const struct jobs *j, const char *why, struct err *e)
{
	log_write(j->log, LOG_WARN, "jobs cannot be read from Slurm", "why", why, NULL);
	if (ledger_begin(j->ledger, e) < 0)
		return -1;
	if (ledger_put_note(j->ledger, LEDGER_JOBS_WHY, why, e) < 0) {
		ledger_rollback(j->ledger);
		return -1;
	}
	return ledger_commit(j->ledger, e);
}

struct window {
	int64_t from_ms, to_ms, now_ms;
	const char *source; /* SACCT or SQUEUE */
};

/* Keep what was printed, in one transaction with the mark.  1: it was no good, and *e says why. */
static int keep_window(const struct jobs *j, const struct window *w, struct reply *r,
		       const char *delimiter, struct err *e)
{
	const struct sacct_text t = {
		.p = r->out.p, .len = r->out.len, .delimiter = delimiter, .seen_ms = w->now_ms};
	const bool accounting = strcmp(w->source, SACCT) == 0;
	bool whole = false;
	int rc;

	if (ledger_begin(j->ledger, e) < 0)
		return -1;
	rc = keep_all(j, &t, accounting ? sacct_parse : sacct_parse_squeue, &whole, e);
	if (rc == 0 && whole && !accounting)
		rc = ledger_end_unseen(j->ledger, SQUEUE, w->now_ms - JOBS_UNSEEN_MS, e);
	if (rc == 0 && whole)
		rc = mark(j, w->source, w->to_ms, e);
	if (rc == 0 && whole)
		return ledger_commit(j->ledger, e);
	ledger_rollback(j->ledger);
	return rc < 0 ? -1 : 1;
}

/* --- windows -----------------------------------------------------------------------------------
 */

/* 0: read; 1: not, and *e says why; -1: the ledger failed. */
static int read_window(const struct jobs *j, const struct window *w, bool *disabled, struct err *e)
{
	char delimiter[SACCT_DELIMITER_MAX + 1], program[PATH_SIZE];
	struct sacct_args args;
	struct reply r;
	int rc = 1;

	draw_delimiter(delimiter);
	(void)snprintf(program, sizeof(program), "%s/%s", j->slurm_bin, w->source);
	if (strcmp(w->source, SACCT) == 0)
		sacct_args(&args, program, delimiter, w->from_ms / 1000, (w->to_ms + 999) / 1000);
	else
		sacct_args_of_squeue(&args, program, delimiter);
	reply_init(&r);
	if (ask(j, &args, &r, e) == 0)
		rc = keep_window(j, w, &r, delimiter, e);
	else
		*disabled = sacct_is_disabled(r.errors.p);
	reply_fini(&r);
	sacct_args_fini(&args);
	return rc;
}

/* From where on jobs are not all known. */
static int find_begin(const struct jobs *j, int64_t now_ms, int64_t *from_ms, bool *deep,
		      struct err *e)
{
	int64_t first, until, deep_ms;

	if (ledger_first_fact(j->ledger, &first, e) < 0 ||
	    ledger_number(j->ledger, LEDGER_JOBS_MS, &until, e) < 0 ||
	    ledger_number(j->ledger, LEDGER_DEEP_MS, &deep_ms, e) < 0)
		return -1;
	*from_ms = (until > first ? until : first) - JOBS_OVERLAP_MS;
	*deep = now_ms - deep_ms >= JOBS_DEEP_EVERY_MS;
	if (*deep && now_ms - JOBS_DEEP_MS < *from_ms)
		*from_ms = now_ms - JOBS_DEEP_MS;
	if (*from_ms < first - JOBS_OVERLAP_MS)
		*from_ms = first - JOBS_OVERLAP_MS;
	if (first == 0 || *from_ms > now_ms) /* nothing was bought yet; or a clock was set back */
		*from_ms = now_ms - JOBS_OVERLAP_MS;
	return 0;
}

static int put_deep(const struct jobs *j, int64_t now_ms, struct err *e)
{
	if (ledger_begin(j->ledger, e) < 0)
		return -1;
	if (ledger_put_number(j->ledger, LEDGER_DEEP_MS, now_ms, e) < 0) {
		ledger_rollback(j->ledger);
		return -1;
	}
	return ledger_commit(j->ledger, e);
}

struct begins {
	int64_t v[JOBS_AGAIN_MAX];
	size_t n;
};

static int take_begin(void *ctx, int64_t s, struct err *e)
{
	struct begins *b = ctx;

	(void)e;
	b->v[b->n++] = s;
	return 0;
}

/* Jobs that ran and are in no window.  As for read_window(). */
static int read_lost(const struct jobs *j, int64_t now_ms, bool *disabled, struct err *e)
{
	struct begins b = {.n = 0};
	int rc = 0;

	if (ledger_unseen(j->ledger, SACCT, now_ms, JOBS_AGAIN_MAX, take_begin, &b, e) < 0)
		return -1;
	for (size_t i = 0; i < b.n && rc == 0; i++) {
		const struct window w = {.from_ms = b.v[i] * 1000,
					 .to_ms = b.v[i] * 1000 + 1000,
					 .now_ms = now_ms,
					 .source = SACCT};

		rc = read_window(j, &w, disabled, e);
	}
	return rc;
}

/* As for read_window(). */
static int read_accounting(const struct jobs *j, int64_t now_ms, bool *disabled, struct err *e)
{
	int64_t at, step = JOBS_WINDOW_MS;
	bool deep;

	if (find_begin(j, now_ms, &at, &deep, e) < 0)
		return -1;
	while (at < now_ms) {
		const struct window w = {.from_ms = at,
					 .to_ms = now_ms - at > step ? at + step : now_ms,
					 .now_ms = now_ms,
					 .source = SACCT};
		int rc = read_window(j, &w, disabled, e);

		if (rc == 0) {
			at = w.to_ms;
			continue;
		}
		if (rc < 0 || e->code != ERR_LIMIT || step <= JOBS_WINDOW_MIN_MS)
			return rc;
		step /= 2;
	}
	if (!deep)
		return 0;
	{
		const int rc = read_lost(j, now_ms, disabled, e);

		return rc == 0 ? put_deep(j, now_ms, e) : rc;
	}
}

int jobs_read(const struct jobs *j, int64_t now_ms, struct err *e)
{
	const struct window all = {.to_ms = now_ms, .now_ms = now_ms, .source = SQUEUE};
	struct err why = {0};
	bool disabled = false;
	int rc = read_accounting(j, now_ms, &disabled, &why);

	if (rc > 0 && disabled)
		rc = read_window(j, &all, &disabled, &why);
	if (rc > 0)
		return note(j, why.msg, e);
	if (rc < 0)
		return err_set(e, (enum err_code)why.code, "%s", why.msg);
	return 0;
}
