/* Calls of hooks wait here for their turn, and for squeue where they do not name jobs; so does what
 * slurmctld wants though no call says so. */
#include "buy/buy.h"
#include "jobs/jobs.h"
#include "money/money.h"
#include "slurm/payer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	INTAKE_DOUBT_MS = 5 * 60000,
	INTAKE_FRESH_MS = 60000, /* a call that has waited for longer is a late one */
};

static void drop(struct fresh_call *p)
{
	if (p->read)
		demand_fini(&p->demand);
	free(p->name);
	free(p->list);
	free(p->file);
	free(p);
}

static void intake_init(struct engine *e)
{
	e->buy->calls_last = &e->buy->calls;
}

static int64_t intake_next_ms(const struct engine *e)
{
	return e->buy->calls != NULL && !e->buy->calls->asks ? engine_now(e) : INT64_MAX;
}

static void drop_all(struct fresh_call **calls)
{
	while (*calls != NULL) {
		struct fresh_call *p = *calls;

		*calls = p->next;
		drop(p);
	}
}

/* Files of calls that were not acted on stay in the spool, for the next start. */
static void intake_free(struct engine *e)
{
	drop_all(&e->buy->calls);
	drop_all(&e->buy->acted);
	free(e->buy->wanted);
	e->buy->wanted = NULL;
}

static char *copy(const char *p, size_t n)
{
	char *out = mem_zalloc(n + 1);

	if (n > 0)
		memcpy(out, p, n);
	return out;
}

/* --- taking ------------------------------------------------------------------------------------
 */

/* Suspend, resume-fail and late calls only say: look now.  The snapshot decides (I18, F46, F47).
 * One that is on its way may know nothing of it: when it has come the next one is due. */
void intake_hint(struct engine *e)
{
	int64_t soon = e->poll.began_ms + ENGINE_HINT_MS;

	if (soon < e->poll.next_ms)
		e->poll.next_ms = soon;
}

/* Is it more than a hint (ADR 33)?  No earlier process can have acted on it, and slurmctld has not
 * given its nodes up meanwhile. */
static bool is_fresh(const struct engine *e, const struct spool_call *c)
{
	return c->kind == CALL_RESUME && !c->early && c->age_ms >= 0 &&
	       c->age_ms <= CALL_FRESH_MS && e->buy->ncalls < INTAKE_CALLS_MAX;
}

bool intake_take(void *ctx, const struct spool_call *c)
{
	struct engine *e = ctx;
	struct buy_state *b = e->buy;
	struct fresh_call *p;

	e->count.calls[c->kind]++;
	if (!is_fresh(e, c)) {
		intake_hint(e);
		return false;
	}
	p = mem_zalloc(sizeof(*p));
	*p = (struct fresh_call){.name = mem_strdup(c->name),
				 .since_ms = engine_now(e),
				 .overtaken = e->poll.began_ms >= engine_now(e) - c->age_ms,
				 .list = copy(c->list, c->list_len),
				 .list_len = c->list_len};
	/* Without its file squeue is asked. */
	if (c->file != NULL && b->call_bytes + c->file_len <= INTAKE_BYTES_MAX) {
		p->file = copy(c->file, c->file_len);
		p->file_len = c->file_len;
	}
	b->call_bytes += p->list_len + p->file_len;
	*b->calls_last = p;
	b->calls_last = &p->next;
	b->ncalls++;
	return true;
}

/* --- calls -------------------------------------------------------------------------------------
 */

static void end_call(struct engine *e)
{
	struct buy_state *b = e->buy;
	struct fresh_call *p = b->calls;

	b->calls = p->next;
	if (b->calls == NULL)
		b->calls_last = &b->calls;
	b->ncalls--;
	b->call_bytes -= p->list_len + p->file_len;
	p->next = b->acted;
	b->acted = p;
}

/* Delete the files of calls that were acted on, once what came of them is durable: rows that are
 * wanted wait in memory for their creates.  Where the journal failed the files stay: they are hints
 * after the next start. */
static void intake_forget(struct engine *e)
{
	if (e->dead || e->staging.due || e->staging.n > 0 || e->unwritten.v != NULL)
		return;
	while (e->buy->acted != NULL) {
		struct fresh_call *p = e->buy->acted;

		e->buy->acted = p->next;
		if (e->d.spool != NULL)
			spool_done(e->d.spool, p->name);
		drop(p);
	}
}

/* slurmctld asks anew: what was refused before may be tried again. */
static void forgive(struct engine *e, const struct demand *d)
{
	for (size_t i = 0; i < demand_count(d); i++) {
		struct fleet_name *nm = fleet_find(&e->fleet, demand_name(d, i));

		if (nm == NULL)
			continue;
		fleet_unbar(nm);
		fleet_forget_refusal(nm);
		nm->forced_ms = 0;
		fleet_wait_for_none(nm);
		nm->climbs = false;
		nm->tried = 0;
		nm->missing_ms = 0; /* it knows the node, whatever the last snapshot showed */
	}
}

static void note_strangers(struct engine *e, const struct demand *d)
{
	size_t n = 0;
	char text[120];

	for (size_t i = 0; i < demand_count(d); i++)
		n += conf_pool_of(e->conf, demand_name(d, i)) == NULL;
	if (n == 0)
		return;
	(void)snprintf(text, sizeof(text), "%zu nodes that no pool names were left alone", n);
	engine_event(e, "", 0, "call-strangers", text);
	if (n == demand_count(d))
		e->count.calls_refused++;
}

/* Whoever wrote a comment that is not understood is to find out; one event a call, whatever is in
 * ten thousand of them. */
static void note_comments(struct engine *e, const struct demand *d)
{
	struct err first = {0};
	size_t n = 0;

	for (size_t i = 0; i < d->njobs; i++) {
		const struct demand_job *j = &d->jobs[i];
		struct wish w;
		struct err err;

		if (j->comment == NULL || j->n == 0 ||
		    wish_need(e->conf, demand_name(d, j->nodes[0])) != WISH_COMMENT)
			continue;
		wish_init(&w, j->comment, e->conf, &err);
		wish_fini(&w);
		if (err.code == 0)
			continue;
		if (n++ == 0) {
			first = err;
			(void)err_wrap(&first, "job %" PRIu64, j->id);
		}
	}
	if (n > 1)
		(void)err_wrap(&first, "%zu jobs, such as", n);
	if (n > 0)
		engine_event(e, "", 0, "job-comment", first.msg);
}

/* What a fresh resume call says; false: nothing that could be acted on. */
static bool read_call(struct engine *e, struct fresh_call *p)
{
	struct demand *d = &p->demand;
	struct err err;

	if (demand_init(d, p->list, p->list_len, &err) != 0) {
		e->count.calls_refused++;
		engine_event(e, "", 0, "call-refused", err.msg);
		intake_hint(e); /* what it was about, slurmctld can still say */
		return false;
	}
	p->read = true;
	if (p->file != NULL && demand_add_file(d, p->file, p->file_len, &err) != 0)
		engine_event(e, "", 0, "resume-file-unreadable", err.msg);
	engine_spend(e, demand_count(d));
	return true;
}

/* Was one of its nodes bought a moment ago, and let go before it was up, as slurmctld did not want
 * it?  A program that calls again and again would buy one machine after the other (ADR 2). */
static bool is_doubtful(const struct engine *e, const struct demand *d)
{
	for (size_t i = 0; i < demand_count(d); i++) {
		const struct fleet_name *nm = fleet_find(&e->fleet, demand_name(d, i));

		if (nm != NULL && nm->unused_ms != 0 &&
		    engine_now(e) - nm->unused_ms < INTAKE_DOUBT_MS)
			return true;
	}
	return false;
}

/* Nodes that a snapshot is to show first: if their job has ended by then, they are sent back. */
static void wait_for_jobs(struct engine *e, const struct demand *d)
{
	for (size_t i = 0; i < d->njobs; i++)
		for (size_t k = 0; k < d->jobs[i].n; k++) {
			const char *name = demand_name(d, d->jobs[i].nodes[k]);
			struct fleet_name *nm = fleet_find(&e->fleet, name);

			if (nm == NULL || fleet_exists(nm))
				continue;
			fleet_wait_for(nm, d->jobs[i].id, engine_now(e));
		}
}

/* It is enough to buy.  But in doubt, and where a snapshot was begun after it, a snapshot decides:
 * that knows more than the call does (F47). */
static void act_on_fresh(struct engine *e, const struct fresh_call *p, struct demand *d)
{
	note_strangers(e, d);
	forgive(e, d);
	if (!p->overtaken && !is_doubtful(e, d)) {
		intake_act_on(e, d, ENGINE_WHY_CALL);
		return;
	}
	wait_for_jobs(e, d);
	intake_hint(e);
}

/* It has waited for squeue, behind one that did, or while this process stood still: slurmctld may
 * have given its nodes up meanwhile, and the next snapshot decides (F47, F54). */
static bool is_old(const struct engine *e, const struct fresh_call *p)
{
	return engine_now(e) - p->since_ms > INTAKE_FRESH_MS;
}

/* With budgets burstd must know who pays, before it buys. */
static bool lacks_payers(struct engine *e, const struct demand *d)
{
	if (holds_budgets(e) == NULL)
		return false;
	for (size_t i = 0; i < d->njobs; i++)
		if (d->jobs[i].payer == NULL)
			return true;
	return !d->has_jobs;
}

/* One fresh resume call.  false: not now, it must wait for squeue, or for its turn: to read it and
 * to act on it are two steps when it is long. */
static bool resume(struct engine *e, struct fresh_call *p)
{
	struct demand *d = &p->demand;
	enum wish_need need;

	if (!p->read) {
		if (!read_call(e, p))
			return true;
		if (e->left == 0)
			return false;
	}
	need = wish_missing(d, e->conf);
	if ((!d->has_jobs && demand_count(d) > 1) || need != WISH_NOTHING || lacks_payers(e, d)) {
		p->asks = true; /* squeue must say which nodes are one job, or what jobs wish */
		jobs_want_wishes(e, need);
		return false;
	}
	act_on_fresh(e, p, d);
	return true;
}

static void add_wishes(void *ctx, const struct slurm_job *j)
{
	struct demand *d = ctx;
	struct payer p;

	if (slurm_payer_read(j, &p))
		demand_set_payer(d, j->number, &p);
	if (j->constraint.p != NULL)
		demand_set_constraint(d, j->number, j->constraint.p, j->constraint.n);
	if (j->comment.p != NULL)
		demand_set_comment(d, j->number, j->comment.p, j->comment.n);
}

static void add_job(void *ctx, const struct slurm_job *j)
{
	if (slurm_job_configuring(j))
		(void)demand_add_job(ctx, j->number, j->nodes.p, j->nodes.n, NULL);
}

/* Both jobs and wishes, or the wishes of jobs that are known: a resume file is believed. */
static void read_jobs(struct demand *d, const char *text, size_t len)
{
	if (!d->has_jobs)
		slurm_job_parse(text, len, add_job, d);
	d->has_jobs = true;
	slurm_job_parse(text, len, add_wishes, d);
}

static void act_on_call(struct engine *e, struct fresh_call *p, const char *text, size_t len)
{
	read_jobs(&p->demand, text, len);
	note_comments(e, &p->demand);
	act_on_fresh(e, p, &p->demand);
}

/* What slurmctld wants though no call that we have says so. */
static void act_on_wanted(struct engine *e, const char *list, const char *text, size_t len,
			  const char *why)
{
	struct demand d;

	if (demand_init(&d, list, strlen(list), NULL) != 0)
		return;
	read_jobs(&d, text, len);
	note_strangers(e, &d);
	note_comments(e, &d);
	intake_act_on(e, &d, why);
	demand_fini(&d);
}

/* squeue is about to be asked, for calls, too. */
static void intake_asks(struct engine *e)
{
	e->buy->call_asked = e->buy->calls != NULL && e->buy->calls->asks;
	e->buy->wanted_asked = e->buy->wanted != NULL;
	e->buy->climb_asked = e->buy->climbing;
}

/* Of what a snapshot showed wanted before squeue was asked: some may have been refused since, or
 * powered down, and of an old one slurmctld may want nothing any more (F47, F54). */
static char *still_wanted(const struct engine *e)
{
	struct hostlist *h;
	struct str s;

	str_init(&s, strlen(e->buy->wanted));
	if (wanted_is_fresh(e, e->poll.snapshot_ms) &&
	    hostlist_parse(&h, e->buy->wanted, strlen(e->buy->wanted), NULL) == 0) {
		for (size_t i = 0; i < h->n; i++) {
			const struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

			if (nm != NULL && !nm->barred && (nm->flags & SLURM_POWERING_UP) != 0)
				str_addf(&s, "%s%s", s.len > 0 ? "," : "", nm->name);
		}
		hostlist_free(h);
	}
	return str_take(&s);
}

/* A snapshot of since it was bought shows whether slurmctld still wants it, as after a restart. */
static bool is_climber(const struct engine *e, const struct fleet_name *nm)
{
	const struct fleet_node *fn = nm->newest;
	const int64_t wanted_ms = fn != NULL ? fn->n.wanted_ms : 0;
	const bool off = slurm_is_off(nm->flags) && e->poll.snapshot_ms > wanted_ms;

	return nm->climbs && !nm->barred && fleet_live(nm) == NULL && !off &&
	       wanted_is_fresh(e, wanted_ms);
}

/* What one place refused and slurmctld still wants, as far as we know: whatever is left of their
 * ladders, for the jobs that squeue shows now.  Without an answer, or when it came late, the next
 * snapshot says what is wanted. */
static void climb(struct engine *e, const char *text, size_t len, const struct err *err)
{
	struct str list;
	char *names;

	str_init(&list, (HOSTLIST_NAME_MAX + 1) * e->fleet.nall);
	for (size_t i = 0; i < e->fleet.nall; i++) {
		struct fleet_name *nm = e->fleet.all[i];

		if (is_climber(e, nm))
			str_addf(&list, "%s%s", list.len > 0 ? "," : "", nm->name);
		nm->climbs = false;
	}
	names = str_take(&list);
	if (names[0] != '\0' && err == NULL)
		act_on_wanted(e, names, text, len, ENGINE_WHY_NEXT);
	else if (err != NULL)
		intake_hint(e);
	free(names);
}

/* The poll will find out what is wanted when there is no answer. */
static void intake_jobs(struct engine *e, const char *text, size_t len, const struct err *err)
{
	if (e->buy->call_asked) {
		if (err == NULL && !is_old(e, e->buy->calls))
			act_on_call(e, e->buy->calls, text, len);
		else
			intake_hint(e);
		end_call(e);
	}
	if (e->buy->wanted_asked) {
		char *still = still_wanted(e);

		if (err == NULL)
			act_on_wanted(e, still, text, len, "slurmctld has it powering up");
		free(still);
		free(e->buy->wanted);
		e->buy->wanted = NULL;
	}
	if (e->buy->climb_asked)
		climb(e, text, len, err);
	e->buy->climbing = e->buy->climbing && !e->buy->climb_asked;
	e->buy->call_asked = e->buy->wanted_asked = e->buy->climb_asked = false;
}

static void intake_run(struct engine *e)
{
	while (e->buy->calls != NULL && !e->dead) {
		struct fresh_call *p = e->buy->calls;

		if (p->asks)
			break; /* in order: the next ones wait behind it */
		if (is_old(e, p))
			intake_hint(e);
		else if (!resume(e, p))
			break;
		end_call(e);
	}
	if ((e->buy->wanted != NULL || e->buy->climbing) && !jobs_coming(e, JOBS_FOR_INTAKE))
		jobs_want_wishes(e, wish_most(e->conf));
	engine_commit(e);
}

const struct engine_part intake_part = {
	.name = "calls",
	.at = {[PART_INIT] = intake_init, [PART_RUN] = intake_run, [PART_FREE] = intake_free},
	.next_ms = intake_next_ms,
	.reads = JOBS_FOR_INTAKE,
	.squeue_begins = intake_asks,
	.squeue_says = intake_jobs,
};

const struct engine_part intake_forget_part = {
	.name = "files of calls",
	.at = {[PART_SEND] = intake_forget},
};
