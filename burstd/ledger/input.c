#include "ledger/input.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/provider.h"
#include "ledger/rows.h"
#include "ledger/sacct.h"
#include "store/ledger_postings.h"

void input_fini(struct input *in)
{
	facts_fini(&in->facts);
	prices_fini(&in->prices);
	prices_fini(&in->list);
	free(in->pool);
	free(in->provider);
	free(in->type);
	free(in->region);
	free(in->zone);
	free(in->market);
	free(in->currency);
	for (size_t i = 0; i < in->nowners; i++) {
		free(in->owners[i].account);
		free(in->owners[i].user);
		free(in->owners[i].partition);
		free(in->owners[i].qos);
		free(in->owners[i].wckey);
	}
	free(in->owners);
	free(in->runs);
	free(in->triggers);
	*in = (struct input){0};
}

/* --- facts -------------------------------------------------------------------------------------
 */

static int take_life(void *ctx, const struct fact_life *f, struct err *e)
{
	(void)e;
	facts_take(ctx, f->kind, f->at_ms, f->said_ms, f->rate_nano_h);
	return 0;
}

static void take_text(char **out, const char *text)
{
	free(*out);
	*out = mem_strdup(text);
}

static int take_machine(void *ctx, const struct fact_machine *m, struct err *e)
{
	struct input *in = ctx;

	(void)e;
	take_text(&in->pool, m->pool);
	take_text(&in->provider, m->provider);
	take_text(&in->type, m->type);
	take_text(&in->region, m->region);
	take_text(&in->zone, m->zone);
	take_text(&in->market, m->market);
	if (m->currency[0] != '\0')
		take_text(&in->currency, m->currency);
	in->policy.granularity_s = m->quantum_ms > 1000 ? (m->quantum_ms + 999) / 1000 : 1;
	in->policy.minimum_s = (m->minimum_ms + 999) / 1000;
	in->in.has = (struct allocate_part){.gpus = (uint64_t)m->gpus,
					    .cpus = (uint64_t)m->cpus,
					    .memory = (uint64_t)m->memory_mb};
	return 0;
}

static int take_price(void *ctx, const struct fact_price *p, struct err *e)
{
	struct input *in = ctx;
	int rank = prices_rank(p->source, p->region, p->zone, in->region, in->zone);

	(void)e;
	if (rank < 0 || strcmp(p->currency, in->currency) != 0)
		return 0;
	if (strcmp(p->market, in->market) == 0)
		prices_add(&in->prices, p->valid_from_ms / 1000, (unsigned)rank, p->nano_h);
	if (strcmp(p->market, provider_market_str(PROVIDER_ON_DEMAND)) == 0 && rank < PRICES_DEAL)
		prices_add(&in->list, p->valid_from_ms / 1000, (unsigned)rank, p->nano_h);
	return 0;
}

static int load_prices(struct input *in, struct ledger *l, struct err *e)
{
	for (size_t i = 0; i < in->facts.nrates; i++)
		prices_add(&in->prices, in->facts.rates[i].at_ms / 1000, PRICES_RATE,
			   in->facts.rates[i].nano_h);
	if (ledger_prices(l, in->provider, in->type, take_price, in, e) < 0)
		return -1;
	prices_finish(&in->prices);
	prices_finish(&in->list);
	in->in.bill.prices = in->prices.steps;
	in->in.bill.nprices = in->prices.nsteps;
	return 0;
}

static int64_t seconds(int64_t ms)
{
	return ms == FACTS_NEVER ? ALLOCATE_NEVER : ms / 1000;
}

static void set_times(struct input *in, int64_t now_s)
{
	const struct facts *f = &in->facts;
	struct allocate_instance *a = &in->in;

	in->billed = f->created_ms != FACTS_NEVER;
	in->running = f->ended_ms == FACTS_NEVER;
	if (!in->billed)
		return;
	a->bill.policy = &in->policy;
	a->bill.start_s = seconds(f->created_ms);
	a->bill.end_s = in->running ? now_s : seconds(f->ended_ms);
	if (a->bill.end_s < a->bill.start_s) /* two clocks */
		a->bill.end_s = a->bill.start_s;
	a->ready_s = seconds(f->ready_ms);
	a->drain_s = seconds(f->drained_ms);
	a->stop_s = seconds(f->stop_ms);
	a->orphan_until_s = ALLOCATE_NEVER;
	if (!f->bought)
		a->orphan_until_s = f->ready_ms != FACTS_NEVER ? a->ready_s : a->bill.end_s;
	/* A machine that still boots is not one that never became ready. */
	if (in->running && f->ready_ms == FACTS_NEVER)
		a->ready_s = a->bill.end_s;
	a->reclaimed = f->taken;
}

/* --- jobs --------------------------------------------------------------------------------------
 */

static struct input_owner *add_owner(struct input *in, const struct ledger_attempt *a)
{
	struct input_owner *o;

	if (in->nowners == in->owners_cap) {
		in->owners_cap = in->owners_cap == 0 ? 8 : 2 * in->owners_cap;
		in->owners = mem_realloc(in->owners, in->owners_cap * sizeof(*in->owners));
	}
	o = &in->owners[in->nowners++];
	*o = (struct input_owner){.job = a->job,
				  .attempt = (uint64_t)a->start_s,
				  .id = a->id,
				  .running = a->running,
				  .submit_s = a->submit_s,
				  .start_s = a->start_s,
				  .end_s = a->end_s,
				  .nnodes = a->nnodes,
				  .uses = {.gpus = (uint64_t)a->gpus,
					   .cpus = (uint64_t)a->cpus,
					   .memory = (uint64_t)a->memory_mb},
				  .account = mem_strdup(a->account),
				  .user = mem_strdup(a->user),
				  .partition = mem_strdup(a->partition),
				  .qos = mem_strdup(a->qos),
				  .wckey = mem_strdup(a->wckey)};
	return o;
}

bool input_is_lost(const char *state, bool taken)
{
	if (strncmp(state, "NODE_FAIL", 9) == 0 || strncmp(state, "BOOT_FAIL", 9) == 0)
		return true;
	return taken && (strncmp(state, "REQUEUED", 8) == 0 || strncmp(state, "PREEMPTED", 9) == 0);
}

/* Did it end before the instance began?  One of no time is this one's if it was wanted by then. */
static bool is_of_another(const struct input *in, const struct ledger_attempt *a)
{
	if (a->running || a->end_s > in->in.bill.start_s)
		return false;
	return a->end_s > a->start_s || in->facts.wanted_ms == FACTS_NEVER ||
	       a->start_s < in->facts.wanted_ms / 1000;
}

static int take_attempt(void *ctx, const struct ledger_attempt *a, struct err *e)
{
	struct input *in = ctx;
	struct input_owner *o;

	if (strcmp(a->source, LEDGER_SAID) == 0 || is_of_another(in, a))
		return 0;
	if (in->nowners == INPUT_JOBS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d jobs on one instance", INPUT_JOBS_MAX);
	o = add_owner(in, a);
	o->runs = true;
	o->lost = input_is_lost(a->state, false);
	o->doubtful = !o->lost && input_is_lost(a->state, true);
	in->waits = in->waits || a->running;
	return 0;
}

static int load_runs(struct input *in, struct ledger *l, const struct ledger_lifetime *t,
		     struct err *e)
{
	const struct meter_bill *b = &in->in.bill;

	if (ledger_attempts_on(l, t->node, b->start_s - INPUT_BEFORE_S, b->end_s, take_attempt, in,
			       e) < 0)
		return -1;
	for (size_t i = 0; i < in->nowners; i++) {
		struct input_owner *o = &in->owners[i];

		if (o->doubtful &&
		    ledger_was_taken(l, o->id, o->start_s, o->end_s, &o->lost, e) < 0)
			return -1;
	}
	return 0;
}

/* --- buyers ------------------------------------------------------------------------------------
 */

struct buyers {
	uint64_t *v;
	size_t n, cap;
};

static int take_buyer(void *ctx, uint64_t job, struct err *e)
{
	struct buyers *b = ctx;

	(void)e;
	if (b->n == b->cap) {
		b->cap = b->cap == 0 ? 8 : 2 * b->cap;
		b->v = mem_realloc(b->v, b->cap * sizeof(*b->v));
	}
	b->v[b->n++] = job;
	return 0;
}

struct search { /* for the attempt of a job that a node was bought for */
	struct input *in;
	int64_t from_s, to_s, said_s; /* said_s: the begin of the attempt that burstd tells of */
	struct input_owner *found;    /* on other nodes; in in->owners */
};

static int take_other(void *ctx, const struct ledger_attempt *a, struct err *e)
{
	struct search *s = ctx;
	bool said = strcmp(a->source, LEDGER_SAID) == 0;

	(void)e;
	if (s->found != NULL)
		return 0;
	if (said ? a->start_s == s->said_s : a->start_s >= s->from_s && a->start_s < s->to_s)
		s->found = add_owner(s->in, a);
	return 0;
}

static int64_t per_node(int64_t all, int64_t nodes)
{
	return nodes > 1 ? (all + nodes - 1) / nodes : all;
}

struct saying {
	struct ledger *l;
	int64_t start_s, id;
	bool found;
};

static int take_said(void *ctx, const struct fact_said *s, struct err *e)
{
	struct saying *x = ctx;
	const struct ledger_attempt a = {.job = s->job,
					 .start_s = x->start_s,
					 .end_s = x->start_s,
					 .job_id = s->id,
					 .name = "",
					 .state = "",
					 .account = s->account,
					 .user = s->user,
					 .partition = s->partition,
					 .qos = s->qos,
					 .wckey = sacct_wckey(s->wckey),
					 .source = LEDGER_SAID,
					 .cpus = per_node(s->cpus, s->nodes),
					 .gpus = per_node(s->gpus, s->nodes),
					 .memory_mb = per_node(s->memory_mb, s->nodes),
					 .nnodes = s->nodes};

	x->found = true;
	return ledger_put_attempt(x->l, &a, NULL, 0, &x->id, e);
}

static const struct input_owner *owner_on_it(const struct input *in, uint64_t job)
{
	for (size_t i = 0; i < in->nowners; i++)
		if (in->owners[i].job == job && in->owners[i].runs)
			return &in->owners[i];
	return NULL;
}

/* Its run on this instance; else one on another that was up sooner; else what burstd was told of it
 * when it bought.  NULL, and 0: nothing is known of it. */
static int find_buyer(struct input *in, struct ledger *l, uint64_t job,
		      const struct input_owner **out, struct err *e)
{
	const int64_t wanted_ms =
		in->facts.wanted_ms != FACTS_NEVER ? in->facts.wanted_ms : in->facts.created_ms;
	struct search s = {.in = in,
			   .from_s = in->in.bill.start_s - INPUT_BEFORE_S,
			   .to_s = in->in.bill.end_s,
			   .said_s = -(wanted_ms / 1000)};
	struct saying x = {.l = l, .start_s = s.said_s};

	*out = owner_on_it(in, job);
	if (*out != NULL)
		return 0;
	if (ledger_attempts_of(l, job, take_other, &s, e) < 0)
		return -1;
	/* What is said of a job is written as it is bought for, or a moment later. */
	if (s.found == NULL &&
	    (ledger_said(l, job, in->in.bill.end_s * 1000, take_said, &x, e) < 0 ||
	     (x.found && ledger_attempts_of(l, job, take_other, &s, e) < 0)))
		return -1;
	*out = s.found;
	return 0;
}

static int load_buyers(struct input *in, struct ledger *l, const struct ledger_lifetime *t,
		       struct err *e)
{
	struct buyers b = {0};
	int rc = ledger_buyers(l, t->node, t->gen, take_buyer, &b, e);

	in->triggers = mem_zalloc((b.n + 1) * sizeof(*in->triggers));
	for (size_t i = 0; i < b.n && rc == 0; i++) {
		const struct input_owner *o;

		rc = find_buyer(in, l, b.v[i], &o, e);
		if (rc == 0 && o != NULL)
			in->triggers[in->in.ntriggers++] =
				(struct allocate_trigger){o->job, o->attempt, o->uses};
	}
	in->in.triggers = in->triggers;
	in->nbuyers = b.n;
	free(b.v);
	return rc;
}

/* --- all ---------------------------------------------------------------------------------------
 */

static int by_key(const void *a, const void *b)
{
	const struct input_owner *x = a, *y = b;

	return x->job != y->job ? rows_compare_ids(x->job, y->job)
				: rows_compare_ids(x->attempt, y->attempt);
}

const struct input_owner *input_owner_of(const struct input *in, const struct allocate_row *row)
{
	const struct input_owner key = {.job = row->job, .attempt = row->attempt};

	if (row->owner != ALLOCATE_JOB || in->nowners == 0)
		return NULL;
	return bsearch(&key, in->owners, in->nowners, sizeof(key), by_key);
}

static int find_dims(struct input *in, struct ledger *l, struct err *e)
{
	struct ledger_dims d = {.account = "",
				.user = "",
				.partition = "",
				.qos = "",
				.wckey = "",
				.provider = in->provider,
				.market = in->market,
				.pool = in->pool,
				.type = in->type,
				.currency = in->currency};

	if (ledger_dims_id(l, &d, &in->dims, e) < 0)
		return -1;
	for (size_t i = 0; i < in->nowners; i++) {
		struct input_owner *o = &in->owners[i];

		d.account = o->account;
		d.user = o->user;
		d.partition = o->partition;
		d.qos = o->qos;
		d.wckey = o->wckey;
		if (ledger_dims_id(l, &d, &o->dims, e) < 0)
			return -1;
	}
	return 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void set_runs(struct input *in)
{
	struct allocate_part most = {0};

	in->runs = mem_zalloc((in->nowners + 1) * sizeof(*in->runs));
	for (size_t i = 0; i < in->nowners; i++) {
		const struct input_owner *o = &in->owners[i];

		if (!o->runs)
			continue;
		most.gpus = larger(most.gpus, o->uses.gpus);
		most.cpus = larger(most.cpus, o->uses.cpus);
		most.memory = larger(most.memory, o->uses.memory);
		in->runs[in->in.nruns++] =
			(struct allocate_run){.job = o->job,
					      .attempt = o->attempt,
					      .start_s = o->start_s,
					      .end_s = o->running ? in->in.bill.end_s : o->end_s,
					      .uses = o->uses,
					      .lost = o->lost,
					      .saved_s = ALLOCATE_NEVER};
	}
	in->in.runs = in->runs;
	in->measured = in->in.has.gpus != 0 || in->in.has.cpus != 0 || in->in.has.memory != 0;
	if (!in->measured)
		in->in.has = most;
}

/* What the provider's driver tells of its bills. */
static int load_terms(struct input *in, struct ledger *l, struct err *e)
{
	char *driver = NULL;
	struct str key;
	int rc;

	str_init(&key, PROVIDER_WORD_MAX + sizeof(LEDGER_DRIVER));
	str_addf(&key, "%s%s", LEDGER_DRIVER, in->provider);
	rc = ledger_note(l, key.p, &driver, e);
	if (rc == 0 && strcmp(driver, "aws") == 0 &&
	    strcmp(in->market, provider_market_str(PROVIDER_SPOT)) == 0)
		in->policy.reclaim_free_s = INPUT_AWS_FREE_S;
	free(driver);
	str_fini(&key);
	return rc;
}

static int look_for_twin(struct input *in, struct ledger *l, const struct ledger_lifetime *t,
			 struct err *e)
{
	int64_t ms;

	if (!in->running)
		return 0;
	if (ledger_next_ms(l, t->node, t->gen, FACTS_CREATED, &ms, e) < 0)
		return -1;
	in->unended = ms != 0 && in->in.bill.end_s * 1000 - ms > INPUT_TWIN_MS;
	return 0;
}

static void begin(struct input *in, const char *currency)
{
	char **const texts[] = {&in->pool,   &in->provider, &in->type,
				&in->region, &in->zone,     &in->market};

	*in = (struct input){.policy = {.granularity_s = 1}, .currency = mem_strdup(currency)};
	in->list.list = true;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = mem_strdup("");
	facts_init(&in->facts);
}

int input_load(struct input *in, struct ledger *l, const struct ledger_lifetime *t, int64_t now_s,
	       const char *currency, struct err *e)
{
	begin(in, currency);
	if (ledger_lives(l, t->node, t->gen, t->instance, take_life, &in->facts, e) < 0 ||
	    ledger_machine(l, t->node, t->gen, take_machine, in, e) < 0)
		return -1;
	set_times(in, now_s);
	if (!in->billed)
		return 0;
	if (look_for_twin(in, l, t, e) < 0 || load_terms(in, l, e) < 0 ||
	    load_prices(in, l, e) < 0 || load_runs(in, l, t, e) < 0 || load_buyers(in, l, t, e) < 0)
		return -1;
	if (in->nowners > 0)
		qsort(in->owners, in->nowners, sizeof(*in->owners), by_key);
	set_runs(in);
	return find_dims(in, l, e);
}
