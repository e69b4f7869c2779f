#include "ledger/allocate.h"

#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/mem.h"
#include "ledger/rows.h"
#include "ledger/split.h"

struct stay { /* a run, as far as the node was there for it */
	const struct allocate_run *run;
	int64_t start_s, end_s, saved_s;
};

struct moment {
	int64_t at_s;
	size_t stay; /* its index */
};

struct work {
	const struct allocate_instance *in;
	const struct allocate_calendar *cal;
	const struct allocate_report *to;
	int64_t end_s;      /* of what is billed */
	struct stay *stays; /* by job and attempt */
	int64_t *cuts;
	size_t ncuts;
	struct rows rows;
	uint64_t *weights; /* of one piece: those of the stays, then the rest */
	int64_t *parts;
	size_t *here; /* the stays that are there, in order */
	size_t nhere;
	struct moment *coming, *going; /* when each stay begins and ends, in order of time */
	size_t ncoming, came, went;
	uint64_t whole; /* weight of the whole machine; 0: it has nothing that counts */
};

/* --- shares of a machine -----------------------------------------------------------------------
 */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static bool multiply(uint64_t *v, uint64_t by)
{
	return !__builtin_mul_overflow(*v, by, v);
}

/* The least common multiple of what the machine has: in that unit all shares are whole numbers. */
static int measure(struct work *w, struct err *e)
{
	const struct allocate_part *has = &w->in->has;
	const bool all = w->in->share == ALLOCATE_DOMINANT;
	const uint64_t amounts[] = {has->gpus, all ? has->cpus : 0, all ? has->memory : 0};

	w->whole = 0;
	for (size_t i = 0; i < 3; i++) {
		if (amounts[i] == 0)
			continue;
		if (w->whole == 0)
			w->whole = amounts[i];
		else if (!multiply(&w->whole, amounts[i] / common_divisor(w->whole, amounts[i])))
			return err_set(e, ERR_LIMIT, "shares of this machine are too fine");
	}
	return 0;
}

static int weigh(const struct work *w, const struct allocate_part *uses, uint64_t *weight,
		 struct err *e)
{
	const struct allocate_part *has = &w->in->has;
	const bool all = w->in->share == ALLOCATE_DOMINANT;
	const uint64_t amounts[] = {has->gpus, all ? has->cpus : 0, all ? has->memory : 0};
	const uint64_t used[] = {uses->gpus, uses->cpus, uses->memory};

	*weight = 0;
	for (size_t i = 0; i < 3; i++) {
		uint64_t share = used[i];

		if (amounts[i] == 0)
			continue;
		if (!multiply(&share, w->whole / amounts[i]))
			return err_set(e, ERR_LIMIT, "a job has too large a share of a machine");
		*weight = share > *weight ? share : *weight;
	}
	return 0;
}

/* --- rows --------------------------------------------------------------------------------------
 */

struct piece {
	int64_t from_s, to_s, month, before, nano;
};

/* part: what its owner had meanwhile, or what was free. */
static void add(struct work *w, const struct piece *p, const struct allocate_row *row,
		const struct allocate_part *part, const uint64_t weights[2])
{
	const struct allocate_detail d = {.from_s = p->from_s,
					  .to_s = p->to_s,
					  .before = p->before,
					  .after = p->before + p->nano,
					  .weight = weights[0],
					  .whole = weights[1],
					  .gpus = part->gpus,
					  .cpus = part->cpus,
					  .row = row};

	rows_add(&w->rows, row);
	if (w->to->detail != NULL)
		w->to->detail(w->to->ctx, &d);
}

/* nano: its part of the piece. */
static void add_for_node(struct work *w, const struct piece *p, enum allocate_class class,
			 int64_t nano, const struct allocate_part *free_part,
			 const uint64_t weights[2])
{
	add(w, p,
	    &(struct allocate_row){.month = p->month,
				   .class = class,
				   .owner = class == ALLOCATE_ORPHAN ? ALLOCATE_CLUSTER
								     : ALLOCATE_POOL,
				   .nano = nano},
	    free_part, weights);
}

/* --- cuts --------------------------------------------------------------------------------------
 */

static int by_time(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return rows_compare(*x, *y);
}

static void cut(struct work *w, int64_t t_s)
{
	if (t_s > w->in->bill.start_s && t_s < w->end_s)
		w->cuts[w->ncuts++] = t_s;
}

/* How many moments of its calendar and its prices may cut it. */
static size_t count_steps(const struct work *w)
{
	size_t n = 0;

	for (int64_t t = w->in->bill.start_s; t < w->end_s; t = w->cal->next(w->cal->ctx, t))
		n++;
	for (int64_t t = w->in->bill.start_s; t < w->end_s; t = meter_change(&w->in->bill, t))
		n++;
	return n;
}

static void cut_all(struct work *w)
{
	const struct allocate_instance *in = w->in;
	const int64_t own[] = {in->ready_s, in->drain_s, in->stop_s, in->orphan_until_s,
			       in->bill.end_s};
	size_t n = 0;

	w->cuts = mem_zalloc((sizeof(own) / sizeof(own[0]) + 4 * in->nruns + in->bill.nprices +
			      count_steps(w) + 2) *
			     sizeof(*w->cuts));
	w->cuts[w->ncuts++] = in->bill.start_s;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		cut(w, own[i]);
	for (size_t i = 0; i < in->nruns; i++) {
		cut(w, w->stays[i].start_s);
		cut(w, w->stays[i].end_s);
		cut(w, w->stays[i].saved_s);
		cut(w, w->stays[i].run->saved_s);
	}
	for (int64_t t = in->bill.start_s; t < w->end_s; t = w->cal->next(w->cal->ctx, t))
		cut(w, t);
	for (int64_t t = in->bill.start_s; t < w->end_s; t = meter_change(&in->bill, t))
		cut(w, t);
	for (size_t i = 0; i < in->bill.nprices; i++) /* whatever the mode */
		if (in->bill.prices[i].at_s < in->bill.end_s)
			cut(w, in->bill.prices[i].at_s);
	w->cuts[w->ncuts++] = w->end_s;
	qsort(w->cuts, w->ncuts, sizeof(*w->cuts), by_time);
	for (size_t i = 0; i < w->ncuts; i++)
		if (n == 0 || w->cuts[n - 1] != w->cuts[i])
			w->cuts[n++] = w->cuts[i];
	w->ncuts = n;
}

/* --- jobs --------------------------------------------------------------------------------------
 */

static int by_job(const void *a, const void *b)
{
	const struct allocate_run *x = ((const struct stay *)a)->run;
	const struct allocate_run *y = ((const struct stay *)b)->run;

	if (x->job != y->job)
		return rows_compare_ids(x->job, y->job);
	if (x->attempt != y->attempt)
		return rows_compare_ids(x->attempt, y->attempt);
	if (x->start_s != y->start_s)
		return rows_compare(x->start_s, y->start_s);
	if (x->end_s != y->end_s)
		return rows_compare(x->end_s, y->end_s);
	if (x->saved_s != y->saved_s)
		return rows_compare(x->saved_s, y->saved_s);
	return memcmp(&x->uses, &y->uses, sizeof(x->uses));
}

/* The provider says how long the node was there, Slurm who had it: what is beyond that is clipped.
 * On a node that was never ready a job had no time. */
static void clip(struct work *w, struct stay *s)
{
	const struct allocate_run *r = s->run;
	const int64_t begin = w->in->bill.start_s, end = w->in->bill.end_s;
	const int64_t ready = w->in->ready_s == ALLOCATE_NEVER ? end
			      : w->in->ready_s > begin         ? w->in->ready_s
							       : begin;
	int64_t low = ready < end ? ready : end, had = r->end_s - r->start_s;

	s->start_s = clamp(r->start_s, low, end);
	s->end_s = clamp(r->end_s, low, end);
	if (had < 0) {
		s->end_s = s->start_s;
		w->to->flag(w->to->ctx, ALLOCATE_NEGATIVE, r, -had);
	} else if (s->end_s - s->start_s < had) {
		w->to->flag(w->to->ctx, ALLOCATE_CLIPPED, r, had - (s->end_s - s->start_s));
	}
	s->saved_s = !r->lost                       ? s->end_s
		     : r->saved_s == ALLOCATE_NEVER ? s->start_s
						    : clamp(r->saved_s, s->start_s, s->end_s);
}

static void clip_all(struct work *w)
{
	const size_t n = w->in->nruns;

	w->stays = mem_zalloc((n + 1) * sizeof(*w->stays));
	for (size_t i = 0; i < n; i++)
		w->stays[i].run = &w->in->runs[i];
	if (n > 0)
		qsort(w->stays, n, sizeof(*w->stays), by_job);
	for (size_t i = 0; i < n; i++)
		clip(w, &w->stays[i]);
}

/* A job that had no time is listed all the same, in a month in which the node was there. */
static void list_the_timeless(struct work *w)
{
	const struct meter_bill *b = &w->in->bill;
	int64_t last = b->end_s > b->start_s ? b->end_s - 1 : b->start_s;

	for (size_t i = 0; i < w->in->nruns; i++) {
		const struct stay *s = &w->stays[i];

		if (s->start_s == s->end_s)
			rows_add(&w->rows,
				 &(struct allocate_row){
					 .month = w->cal->month(
						 w->cal->ctx, clamp(s->start_s, b->start_s, last)),
					 .class = s->run->lost ? ALLOCATE_LOST : ALLOCATE_RUN,
					 .owner = ALLOCATE_JOB,
					 .job = s->run->job,
					 .attempt = s->run->attempt});
	}
}

/* --- who is there ------------------------------------------------------------------------------
 */

static int by_moment(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return x->at_s != y->at_s ? rows_compare(x->at_s, y->at_s)
				  : rows_compare_ids(x->stay, y->stay);
}

static void plan_stays(struct work *w)
{
	for (size_t i = 0; i < w->in->nruns; i++) {
		const struct stay *s = &w->stays[i];

		if (s->start_s == s->end_s)
			continue;
		w->coming[w->ncoming] = (struct moment){s->start_s, i};
		w->going[w->ncoming++] = (struct moment){s->end_s, i};
	}
	if (w->ncoming > 0) {
		qsort(w->coming, w->ncoming, sizeof(*w->coming), by_moment);
		qsort(w->going, w->ncoming, sizeof(*w->going), by_moment);
	}
}

/* Where this stay is among those that are there, or would be. */
static size_t place_of(const struct work *w, size_t stay)
{
	size_t low = 0, high = w->nhere;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->here[mid] < stay)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Go on to t_s, a cut, in order of time. */
static void update_here(struct work *w, int64_t t_s)
{
	for (; w->went < w->ncoming && w->going[w->went].at_s <= t_s; w->went++) {
		size_t at = place_of(w, w->going[w->went].stay);

		memmove(&w->here[at], &w->here[at + 1], (--w->nhere - at) * sizeof(*w->here));
	}
	for (; w->came < w->ncoming && w->coming[w->came].at_s <= t_s; w->came++) {
		size_t at = place_of(w, w->coming[w->came].stay);

		memmove(&w->here[at + 1], &w->here[at], (w->nhere++ - at) * sizeof(*w->here));
		w->here[at] = w->coming[w->came].stay;
	}
}

/* --- pieces ------------------------------------------------------------------------------------
 */

/* What the node did at t_s, apart from its jobs. */
static enum allocate_class doing(const struct allocate_instance *in, int64_t t_s)
{
	if (t_s >= in->bill.end_s)
		return ALLOCATE_PAD;
	if (in->orphan_until_s != ALLOCATE_NEVER && t_s < in->orphan_until_s)
		return ALLOCATE_ORPHAN;
	if (in->ready_s == ALLOCATE_NEVER)
		return ALLOCATE_BOOT_FAILED;
	if (t_s < in->ready_s)
		return ALLOCATE_BOOT;
	if (in->stop_s != ALLOCATE_NEVER && t_s >= in->stop_s)
		return ALLOCATE_TEARDOWN;
	return in->drain_s != ALLOCATE_NEVER && t_s >= in->drain_s ? ALLOCATE_DRAIN : ALLOCATE_IDLE;
}

static int by_trigger(const void *a, const void *b)
{
	const struct allocate_trigger *x = a, *y = b;

	return x->job != y->job ? rows_compare_ids(x->job, y->job)
				: rows_compare_ids(x->attempt, y->attempt);
}

static uint64_t sum_of(const uint64_t *weights, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(sum, weights[i], &sum))
			return 0;
	return sum;
}

/* A boot is for the jobs that the node was bought for, by what they asked of it. */
static int charge_boot(struct work *w, const struct piece *p, struct err *e)
{
	const size_t n = w->in->ntriggers;
	struct allocate_trigger *all = mem_zalloc((n + 1) * sizeof(*all));
	uint64_t sum;
	int rc = 0;

	if (n > 0)
		memcpy(all, w->in->triggers, n * sizeof(*all));
	if (n > 1)
		qsort(all, n, sizeof(*all), by_trigger);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = weigh(w, &all[i].wants, &w->weights[i], e);
	if (rc == 0 && (n == 0 || split(p->nano, w->weights, n, w->parts) != 0)) {
		add_for_node(w, p, ALLOCATE_BOOT, p->nano, &w->in->has, (uint64_t[]){1, 1});
		free(all);
		return 0;
	}
	sum = rc == 0 ? sum_of(w->weights, n) : 0;
	for (size_t i = 0; i < n && rc == 0; i++)
		add(w, p,
		    &(struct allocate_row){.month = p->month,
					   .class = ALLOCATE_BOOT,
					   .owner = ALLOCATE_JOB,
					   .job = all[i].job,
					   .attempt = all[i].attempt,
					   .nano = w->parts[i]},
		    &all[i].wants, (uint64_t[]){w->weights[i], sum});
	free(all);
	return rc;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Jobs that have more than there is share all of it; else the rest is the node's. */
static int charge_jobs(struct work *w, const struct piece *p, enum allocate_class node,
		       struct err *e)
{
	struct allocate_part left = w->in->has;
	const size_t n = w->nhere;
	uint64_t used = 0, whole;

	for (size_t i = 0; i < n; i++)
		if (weigh(w, &w->stays[w->here[i]].run->uses, &w->weights[i], e) != 0)
			return -1;
		else if (__builtin_add_overflow(used, w->weights[i], &used))
			return err_set(e, ERR_LIMIT, "jobs have too large a share of a machine");
	w->weights[n] = used < w->whole ? w->whole - used : used == 0;
	whole = used + w->weights[n];
	(void)split(p->nano, w->weights, n + 1, w->parts);
	for (size_t i = 0; i < n; i++) {
		const struct stay *s = &w->stays[w->here[i]];

		left.gpus = less(left.gpus, s->run->uses.gpus);
		left.cpus = less(left.cpus, s->run->uses.cpus);
		add(w, p,
		    &(struct allocate_row){.month = p->month,
					   .class = p->from_s >= s->saved_s ? ALLOCATE_LOST
									    : ALLOCATE_RUN,
					   .owner = ALLOCATE_JOB,
					   .job = s->run->job,
					   .attempt = s->run->attempt,
					   .nano = w->parts[i]},
		    &s->run->uses, (uint64_t[]){w->weights[i], whole});
	}
	if (w->parts[n] != 0)
		add_for_node(w, p, node, w->parts[n], &left, (uint64_t[]){w->weights[n], whole});
	return 0;
}

static int charge(struct work *w, const struct piece *p, struct err *e)
{
	enum allocate_class node = doing(w->in, p->from_s);

	if (node == ALLOCATE_BOOT)
		return charge_boot(w, p, e);
	return charge_jobs(w, p, node, e);
}

static int charge_all(struct work *w, int64_t *bill, struct err *e)
{
	struct meter m;
	int64_t before = 0;

	*bill = 0;
	meter_begin(&m, &w->in->bill);
	for (size_t i = 0; i + 1 < w->ncuts; i++) {
		struct piece p = {.from_s = w->cuts[i],
				  .to_s = w->cuts[i + 1],
				  .month = w->cal->month(w->cal->ctx, w->cuts[i]),
				  .before = before};

		if (meter_to(&m, w->cuts[i + 1], bill, e) != 0)
			return -1;
		p.nano = *bill - before;
		before = *bill;
		update_here(w, p.from_s);
		if (charge(w, &p, e) != 0)
			return -1;
	}
	return 0;
}

/* --- all ---------------------------------------------------------------------------------------
 */

static void report(struct work *w)
{
	const struct allocate_instance *in = w->in;
	bool free_of_charge = in->reclaimed &&
			      in->bill.end_s - in->bill.start_s < in->bill.policy->reclaim_free_s;
	bool *shown = mem_zalloc(w->rows.n + 1);

	rows_shown(&w->rows, shown);
	for (size_t i = 0; i < w->rows.n; i++) {
		struct allocate_row r = w->rows.v[i];

		if (shown[i])
			w->to->row(w->to->ctx, &r);
		r.credit = true;
		r.nano = -r.nano;
		if (free_of_charge && r.nano != 0)
			w->to->row(w->to->ctx, &r);
	}
	free(shown);
}

int allocate(const struct allocate_instance *in, const struct allocate_calendar *cal,
	     const struct allocate_report *to, struct err *e)
{
	struct work w = {.in = in, .cal = cal, .to = to, .end_s = meter_end(&in->bill)};
	size_t n = in->nruns > in->ntriggers ? in->nruns : in->ntriggers;
	int64_t bill = 0, sum = 0;
	int rc;

	w.weights = mem_zalloc((n + 1) * sizeof(*w.weights));
	w.parts = mem_zalloc((n + 1) * sizeof(*w.parts));
	w.here = mem_zalloc((n + 1) * sizeof(*w.here));
	w.coming = mem_zalloc((n + 1) * sizeof(*w.coming));
	w.going = mem_zalloc((n + 1) * sizeof(*w.going));
	clip_all(&w);
	plan_stays(&w);
	list_the_timeless(&w);
	cut_all(&w);
	rc = measure(&w, e) == 0 ? charge_all(&w, &bill, e) : -1;
	rows_merge(&w.rows);
	for (size_t i = 0; i < w.rows.n; i++)
		sum += w.rows.v[i].nano;
	/* Loud, but no end of the process: of a thousand instances the others are right. */
	if (rc == 0 && sum != bill)
		rc = err_set(e, ERR_DAMAGED, "its parts add up to %lld, and it costs %lld",
			     (long long)sum, (long long)bill);
	if (rc == 0)
		report(&w);
	free(w.weights);
	free(w.parts);
	free(w.here);
	free(w.coming);
	free(w.going);
	free(w.stays);
	free(w.cuts);
	rows_fini(&w.rows);
	return rc;
}
