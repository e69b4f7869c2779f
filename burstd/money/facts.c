/* Writes what bills are computed from, each fact in the transaction of the step that it is about:
 * who buys what for which jobs, and each step in the life of an instance.  What slurmctld says of
 * the jobs is written a moment later: no create waits for it, and where it is lost the ledger asks
 * sacct.  burstd never reads them again; the ledger does. */
#include "money/money.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/mem.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "slurm/payer.h"
#include "store/journal_life.h"

enum { FACTS_AT_ONCE = 500 }; /* rows in one transaction, so that no hook waits long for it */

static void facts_free(struct engine *e)
{
	stages_fini(&e->money->stages);
	free(e->money->unsaid);
	free(e->money->later);
}

static void put_step(struct engine *e, const struct node *n, struct life_step step)
{
	const struct journal_life l = {.node = n->name,
				       .gen = n->gen,
				       .instance = n->instance,
				       .step = step,
				       .rate_nano_h = n->rate_nano_h};

	journal_put_life(engine_tx(e), &l);
}

static void put_machine(struct engine *e, const struct fleet_node *fn)
{
	const struct node *n = &fn->n;
	const struct conf_offer *o = engine_offer_of(e, n);
	struct provider_terms terms = {0};
	struct journal_machine m = {.node = n->name,
				    .gen = n->gen,
				    .at_ms = n->wanted_ms,
				    .pool = e->conf->pools[n->pool].name,
				    .provider = n->provider,
				    .offer = n->offer,
				    .type = o != NULL ? o->type : "",
				    .region = o != NULL ? o->region : "",
				    .zone = o != NULL ? o->zone : "",
				    .market = provider_market_str(n->market),
				    .currency = e->conf->currency,
				    .cpus = fn->name->cpus,
				    .gpus = fn->name->gpus,
				    .memory_mb = fn->name->memory_mb};

	if (o != NULL)
		terms = quote_terms(e, o);
	m.quantum_ms =
		terms.quantum_ms != 0 ? terms.quantum_ms : e->conf->pools[n->pool].quantum_ms;
	m.minimum_ms = terms.minimum_ms > 0 ? terms.minimum_ms : 0;
	journal_put_machine(engine_tx(e), &m);
}

/* The row is new. */
static void begin(struct engine *e, struct fleet_node *fn)
{
	put_machine(e, fn);
	for (size_t i = 0; i < fn->nbuyers; i++)
		journal_put_buyer(engine_tx(e), fn->n.name, fn->n.gen, fn->buyers[i]);
	fleet_forget_buyers(fn);
	put_step(e, &fn->n, (struct life_step){.kind = LIFE_WANTED, .at_ms = fn->n.wanted_ms});
}

static void measure(struct engine *e, const struct node *was, const struct node *is,
		    const struct life_step *step)
{
	struct stages *s = &e->money->stages;
	int64_t now = step->at_ms;

	if (step->kind == LIFE_SENT)
		stages_add(s, is, STAGE_WAIT, now - is->wanted_ms);
	else if (step->kind == LIFE_CREATED && is->sent_ms != 0 && was->instance[0] == '\0')
		stages_add(s, is, STAGE_CREATE, now - is->sent_ms);
	else if (step->kind == LIFE_RUNNING)
		stages_add(s, is, STAGE_RUN, now - is->since_ms);
	else if (step->kind == LIFE_ENDED && was->state == NODE_DELETING)
		stages_add(s, is, STAGE_DELETE, now - was->since_ms);
	if (step->kind != LIFE_READY)
		return;
	stages_add(s, is, STAGE_BOOT, now - was->since_ms);
	stages_add(s, is, STAGE_READY, now - is->wanted_ms);
}

static void facts_stepped(struct engine *e, struct fleet_node *fn, const struct node *was,
			  const struct node_event *ev)
{
	const struct node *is = fn->next != NULL ? fn->next : &fn->n;
	struct life_step steps[LIFE_STEPS_MAX + 1];
	size_t n;

	if (was == NULL) {
		begin(e, fn);
		return;
	}
	n = life_steps(was, is, ev, steps);
	if (!fn->ran && life_runs(is, ev)) {
		fn->ran = true;
		steps[n++] = (struct life_step){.kind = LIFE_RUNNING, .at_ms = ev->now_ms};
	}
	for (size_t i = 0; i < n; i++) {
		put_step(e, is, steps[i]);
		measure(e, was, is, &steps[i]);
	}
}

static uint64_t hash_of(const struct payer *p)
{
	uint64_t h = fnv_text(FNV_BEGIN, p->account);
	char numbers[4 * FMT_U64_SIZE];

	h = fnv_text(fnv_text(h, "|"), p->user);
	h = fnv_text(fnv_text(h, "|"), p->partition);
	h = fnv_text(fnv_text(h, "|"), p->qos);
	h = fnv_text(fnv_text(h, "|"), p->wckey);
	(void)snprintf(numbers, sizeof(numbers), "|%" PRId64 "|%u|%u|%u", p->limit_s, p->nodes,
		       p->cpus, p->node_gpus);
	return fnv_text(h, numbers);
}

void facts_said(struct engine *e, uint64_t job, const struct payer *p)
{
	struct money_state *m = e->money;
	struct money_said *s = &m->said[job % MONEY_SAID];
	uint64_t hash = hash_of(p);

	if (s->job == job && s->hash == hash)
		return;
	*s = (struct money_said){job, hash};
	if (m->nlater == MONEY_LATER) {
		journal_put_job_said(engine_tx(e), engine_now(e), job, p);
		return;
	}
	if (m->nlater == m->later_cap) {
		m->later_cap = m->later_cap == 0 ? 16 : 2 * m->later_cap;
		m->later = mem_realloc(m->later, m->later_cap * sizeof(*m->later));
	}
	m->later[m->nlater++] =
		(struct money_later){.job = job, .at_ms = engine_now(e), .payer = *p};
}

/* Write what was said once nothing that is bought waits for the journal. */
static void facts_run(struct engine *e)
{
	struct money_state *m = e->money;
	const size_t n = m->nlater < FACTS_AT_ONCE ? m->nlater : FACTS_AT_ONCE;

	if (n == 0 || e->staging.n > 0 || e->unwritten.v != NULL)
		return;
	for (size_t i = 0; i < n; i++)
		journal_put_job_said(engine_tx(e), m->later[i].at_ms, m->later[i].job,
				     &m->later[i].payer);
	m->nlater -= n;
	memmove(m->later, m->later + n, m->nlater * sizeof(*m->later));
	if (m->nlater > 0)
		return;
	free(m->later);
	m->later = NULL;
	m->later_cap = 0;
}

static int64_t facts_next_ms(const struct engine *e)
{
	return e->money->nlater > 0 ? engine_now(e) : INT64_MAX;
}

void facts_ask(struct engine *e, uint64_t job)
{
	struct money_state *m = e->money;

	if (m->nunsaid == MONEY_UNSAID)
		return;
	if (m->nunsaid == m->unsaid_cap) {
		m->unsaid_cap = m->unsaid_cap == 0 ? 64 : 2 * m->unsaid_cap;
		m->unsaid = mem_realloc(m->unsaid, m->unsaid_cap * sizeof(*m->unsaid));
	}
	m->unsaid[m->nunsaid++] = job;
	jobs_want(e, JOBS_FOR_FACTS);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void facts_begin(struct engine *e)
{
	struct money_state *m = e->money;

	m->asked = m->nunsaid;
	if (m->asked > 0)
		qsort(m->unsaid, m->asked, sizeof(*m->unsaid), by_number);
}

static void on_job(void *ctx, const struct slurm_job *j)
{
	struct engine *e = ctx;
	struct money_state *m = e->money;
	struct payer p;

	if (m->asked > 0 &&
	    bsearch(&j->number, m->unsaid, m->asked, sizeof(*m->unsaid), by_number) != NULL &&
	    slurm_payer_read(j, &p))
		facts_said(e, j->number, &p);
}

/* Jobs that squeue does not show have ended: the ledger asks sacct.  Without an answer the next
 * purchase asks again. */
static void facts_jobs(struct engine *e, const char *text, size_t len, const struct err *err)
{
	struct money_state *m = e->money;

	if (err != NULL)
		return;
	slurm_job_parse(text, len, on_job, e);
	m->nunsaid -= m->asked;
	if (m->nunsaid > 0)
		memmove(m->unsaid, m->unsaid + m->asked, m->nunsaid * sizeof(*m->unsaid));
	m->asked = 0;
	facts_run(e);
	engine_commit(e);
}

const struct stages *engine_stages(const struct engine *e)
{
	return &e->money->stages;
}

const struct engine_part facts_part = {
	.name = "facts for bills",
	.at = {[PART_RUN] = facts_run, [PART_FREE] = facts_free},
	.next_ms = facts_next_ms,
	.stepped = facts_stepped,
	.reads = JOBS_FOR_FACTS,
	.squeue_begins = facts_begin,
	.squeue_says = facts_jobs,
};
