#include "ledger/spenders.h"

#include <stdlib.h>

#include "base/clamp.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "core/payer.h"
#include "ledger/book.h"
#include "ledger/rows.h"

enum {
	SECOND_MS = 1000,
	LATE_MS = SPENDERS_LATE_S * SECOND_MS,
	EARLY_MS = SPENDERS_EARLY_S * SECOND_MS,
};

struct owner { /* one of input's, by its number in the ledger */
	int64_t id, spender;
	const struct input_owner *is;
};

struct making {
	const struct input *in;
	struct calendar *calendar;
	struct owner *owners;
	int64_t low_nano_h, high_nano_h; /* rates that burstd may have counted by */
	bool doubtful;                   /* budgets may have less */
	struct ledger_stay *v;
	size_t n, cap;
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* --- rows --------------------------------------------------------------------------------------
 */

static void add(struct making *m, const struct ledger_stay *s)
{
	if (m->n == m->cap) {
		m->cap = m->cap == 0 ? 16 : 2 * m->cap;
		m->v = mem_realloc(m->v, m->cap * sizeof(*m->v));
	}
	m->v[m->n++] = *s;
}

static int by_key(const void *a, const void *b)
{
	const struct ledger_stay *x = a, *y = b;

	return x->day != y->day ? rows_compare(x->day, y->day)
				: rows_compare(x->spender, y->spender);
}

/* One row for each day and spender; those of nothing are left out. */
static void merge(struct making *m)
{
	size_t n = 0;

	if (m->n > 0)
		qsort(m->v, m->n, sizeof(*m->v), by_key);
	for (size_t i = 0; i < m->n; i++) {
		const struct ledger_stay *s = &m->v[i];
		struct ledger_stay *to = n > 0 ? &m->v[n - 1] : NULL;

		if (s->bill == 0 && s->low == 0 && s->high == 0)
			continue;
		if (to == NULL || by_key(to, s) != 0) {
			m->v[n++] = *s;
			continue;
		}
		to->bill = clamp_add(to->bill, s->bill);
		to->low = clamp_add(to->low, s->low);
		to->high = clamp_add(to->high, s->high);
		to->from_ms = least(to->from_ms, s->from_ms);
		to->until_ms = most(to->until_ms, s->until_ms);
	}
	m->n = n;
}

struct span {
	int64_t from_ms, to_ms, nano_h;
};

/* Add what the span costs on each day to low, or to high, as burstd cuts it: the costs of the days
 * are differences of the cost until then. */
static void spread(struct making *m, const struct ledger_stay *of, const struct span *p, bool high)
{
	int64_t before = 0;

	for (int64_t at = p->from_ms; at < p->to_ms;) {
		int64_t day = calendar_day(m->calendar, at / SECOND_MS), sum;
		int64_t next = SECOND_MS * calendar_day_begin(m->calendar, day + 1);
		struct ledger_stay s = *of;

		at = next > at && next < p->to_ms ? next : p->to_ms;
		sum = fmt_cost(at - p->from_ms, p->nano_h);
		s.day = day;
		if (high)
			s.high = clamp_add(sum - before, SPENDERS_ROUNDINGS);
		else
			s.low = most(sum - before - SPENDERS_ROUNDINGS, 0);
		before = sum;
		add(m, &s);
	}
}

/* --- as burstd counts it -----------------------------------------------------------------------
 */

/* What a job has of the machine by GPUs and CPUs.  Its CPUs on a node are those on all of them
 * divided by their number, and rounded up. */
static int64_t rate_of(const struct making *m, const struct input_owner *o, bool high)
{
	const struct allocate_part *has = &m->in->in.has;
	const int64_t nano_h = high ? m->high_nano_h : m->low_nano_h;
	struct payer p = {.nodes = 1,
			  .node_gpus = (uint32_t)least((int64_t)o->uses.gpus, INT32_MAX)};
	uint64_t cpus = o->uses.cpus;

	if (!m->in->measured)
		return high ? nano_h : 0;
	if (!high && o->nnodes > 1 && cpus > 1)
		cpus--;
	p.cpus = (uint32_t)least((int64_t)cpus, INT32_MAX);
	return payer_rate(&p, nano_h, (uint32_t)least((int64_t)has->gpus, INT32_MAX),
			  (uint32_t)least((int64_t)has->cpus, INT32_MAX));
}

/* The end of the job's time there, or FACTS_NEVER: it goes on. */
static int64_t end_of(const struct input *in, const struct input_owner *o)
{
	if (!o->running)
		return SECOND_MS * o->end_s;
	return in->running ? FACTS_NEVER : in->facts.found_gone_ms;
}

static void count_run(struct making *m, const struct owner *o, int64_t given_ms)
{
	const struct facts *f = &m->in->facts;
	const int64_t ready = f->ready_ms, end = end_of(m->in, o->is);
	struct ledger_stay s = {.spender = o->spender, .until_ms = end};
	struct span low, high;

	if (ready == FACTS_NEVER || end == FACTS_NEVER)
		return;
	high = (struct span){most(ready, given_ms - EARLY_MS), end + LATE_MS,
			     rate_of(m, o->is, true)};
	low = (struct span){most(ready, SECOND_MS * o->is->start_s) + LATE_MS, end,
			    rate_of(m, o->is, false)};
	if (!m->in->running) {
		high.to_ms = least(high.to_ms, f->found_gone_ms);
		low.to_ms = least(low.to_ms, f->counted_to_ms);
	}
	low.to_ms -= EARLY_MS;
	s.from_ms = high.from_ms;
	spread(m, &s, &high, true);
	if (!m->doubtful)
		spread(m, &s, &low, false);
}

/* The end of the boot; FACTS_NEVER: it goes on. */
static int64_t boot_end(const struct facts *f)
{
	return f->ready_ms != FACTS_NEVER ? f->ready_ms : f->counted_to_ms;
}

static void count_boot(struct making *m, const struct owner *o)
{
	const struct facts *f = &m->in->facts;
	const int64_t from = f->ready_ms != FACTS_NEVER ? f->boot_from_ms : f->counted_from_ms;
	struct span span = {from, boot_end(f), m->high_nano_h};
	const struct ledger_stay s = {
		.spender = o->spender, .from_ms = from, .until_ms = span.to_ms};
	/* Of one that was given up as it came up burstd puts down all to the boot. */
	const bool late = f->stop_ms != FACTS_NEVER && f->ready_ms != FACTS_NEVER &&
			  f->stop_ms <= f->ready_ms;

	if (from == FACTS_NEVER || span.to_ms == FACTS_NEVER)
		return;
	if (late && f->counted_to_ms != FACTS_NEVER)
		span.to_ms = f->counted_to_ms;
	spread(m, &s, &span, true);
	if (m->doubtful || m->in->nbuyers != 1)
		return;
	span.to_ms = boot_end(f);
	span.nano_h = m->low_nano_h;
	spread(m, &s, &span, false);
}

/* --- as the ledger has it ----------------------------------------------------------------------
 */

static int by_id(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return rows_compare(x->id, y->id);
}

/* Is what this posting pays for over? */
static bool is_over(const struct input *in, const struct ledger_posting *p,
		    const struct input_owner *o)
{
	if ((p->kind & LEDGER_CLASS) == ALLOCATE_BOOT)
		return boot_end(&in->facts) != FACTS_NEVER;
	return end_of(in, o) != FACTS_NEVER;
}

static void take_bill(struct making *m, const struct ledger_posting *p)
{
	const struct owner key = {.id = p->attempt};
	struct ledger_stay s = {.day = p->of_day, .bill = p->nano, .until_ms = INT64_MIN};
	const struct owner *o;

	if ((p->kind & LEDGER_OWNER) != LEDGER_OF_JOB || (p->kind & LEDGER_CREDIT) != 0)
		return;
	o = bsearch(&key, m->owners, m->in->nowners, sizeof(key), by_id);
	if (o == NULL || !is_over(m->in, p, o->is))
		return;
	s.spender = o->spender;
	s.from_ms = INT64_MAX;
	s.until_ms = SECOND_MS * p->to_s;
	add(m, &s);
}

/* --- an instance -------------------------------------------------------------------------------
 */

static void set_rates(struct making *m)
{
	const struct facts *f = &m->in->facts;

	m->low_nano_h = m->high_nano_h = most(f->counted_nano_h, 0);
	for (size_t i = 0; i < f->nrates; i++) {
		m->low_nano_h = least(m->low_nano_h, f->rates[i].nano_h);
		m->high_nano_h = most(m->high_nano_h, f->rates[i].nano_h);
	}
}

/* The attempt that pays for the boot, as it is in the postings. */
static bool pays_boot(const struct input *in, const struct input_owner *o)
{
	for (size_t i = 0; i < in->in.ntriggers; i++)
		if (in->triggers[i].job == o->job && in->triggers[i].attempt == o->attempt)
			return true;
	return false;
}

/* When the job got its nodes, at the earliest.  Its begin by Slurm is when all of them were up:
 * some may have booted for another job. */
static int find_given(struct ledger *l, const struct input_owner *o, int64_t *given_ms,
		      struct err *e)
{
	const int64_t begin = SECOND_MS * o->start_s;
	const int64_t first = begin - (int64_t)SECOND_MS * INPUT_BEFORE_S;

	if (ledger_wanted_ms(l, o->job, first, begin, given_ms, e) < 0)
		return -1;
	if (*given_ms == begin && o->nnodes > 1)
		*given_ms = most(first, SECOND_MS * o->submit_s);
	return 0;
}

static int count_owner(struct making *m, struct ledger *l, const struct owner *o, struct err *e)
{
	int64_t given;

	if (o->is->runs && find_given(l, o->is, &given, e) < 0)
		return -1;
	if (o->is->runs)
		count_run(m, o, given);
	if (pays_boot(m->in, o->is))
		count_boot(m, o);
	return 0;
}

static int make(struct making *m, struct ledger *l, const struct ledger_posting *v, size_t nv,
		struct err *e)
{
	const size_t n = m->in->nowners;

	for (size_t i = 0; i < n; i++) {
		struct owner *o = &m->owners[i];

		*o = (struct owner){.id = m->in->owners[i].id, .is = &m->in->owners[i]};
		if (ledger_spender(l, o->is->dims, &o->spender, e) < 0)
			return -1;
	}
	qsort(m->owners, n, sizeof(*m->owners), by_id);
	for (size_t i = 0; i < n; i++)
		if (count_owner(m, l, &m->owners[i], e) < 0)
			return -1;
	for (size_t i = 0; i < nv; i++)
		take_bill(m, &v[i]);
	merge(m);
	return 0;
}

/* Has it ended before there were budgets? */
static bool is_before(const struct input *in, int64_t since_ms)
{
	return since_ms == 0 || (!in->running && in->facts.found_gone_ms < since_ms);
}

int spenders_stays(const struct input *in, struct ledger *l, struct calendar *calendar,
		   const struct ledger_posting *v, size_t nv, struct ledger_stay **out, size_t *n,
		   struct err *e)
{
	struct making m = {.in = in, .calendar = calendar, .doubtful = in->facts.seen_again};
	int64_t since;
	int rc;

	*out = NULL;
	*n = 0;
	if (ledger_number(l, LEDGER_SINCE_MS, &since, e) < 0)
		return -1;
	if (in->nowners == 0 || is_before(in, since) || in->in.bill.start_s < 0 ||
	    in->in.bill.end_s - in->in.bill.start_s > BOOK_LIFE_MAX_S)
		return 0;
	set_rates(&m);
	m.owners = mem_zalloc(in->nowners * sizeof(*m.owners));
	rc = make(&m, l, v, nv, e);
	free(m.owners);
	if (rc < 0) {
		free(m.v);
		return -1;
	}
	*out = m.v;
	*n = m.n;
	return 0;
}

/* --- all of them -------------------------------------------------------------------------------
 */

struct comparing {
	struct ledger *l;
	int64_t known_ms; /* both sides know all until then */
	int64_t waits;    /* the first day that does; INT64_MAX: none */
};

static int compare(void *ctx, const struct ledger_job_both *b, struct err *e)
{
	struct comparing *c = ctx;
	struct ledger_job_agreed a = {
		.day = b->day, .spender = b->spender, .spent = b->spent, .bill = b->bill};

	if (b->spent >= b->low && b->spent <= b->high) {
		a.state = b->bill >= b->low && b->bill <= b->high ? LEDGER_JOBS_AGREE
								  : LEDGER_JOBS_EXPLAINED;
	} else if (c->known_ms < clamp_add(b->moment_ms, BOOK_SETTLE_MS)) {
		a.state = LEDGER_JOBS_WAIT;
		c->waits = least(c->waits, b->day);
	} else {
		a.state = LEDGER_JOBS_DIFFER;
	}
	return ledger_put_job_agreed(c->l, &a, e);
}

static int compare_from(struct comparing *c, int64_t from, int64_t since_ms, struct err *e)
{
	if (ledger_job_both(c->l, from, since_ms, compare, c, e) < 0 ||
	    ledger_tidy_job_agreed(c->l, from, e) < 0)
		return -1;
	return ledger_put_number(c->l, LEDGER_AGREE_JOBS, c->waits < INT64_MAX ? c->waits : 0, e);
}

int spenders_compare(struct ledger *l, struct calendar *calendar, struct err *e)
{
	struct comparing c = {.l = l, .waits = INT64_MAX};
	int64_t from, since, jobs, facts;

	if (ledger_number(l, LEDGER_AGREE_JOBS, &from, e) < 0 ||
	    ledger_number(l, LEDGER_SINCE_MS, &since, e) < 0 ||
	    ledger_number(l, LEDGER_JOBS_MS, &jobs, e) < 0 ||
	    ledger_number(l, LEDGER_FACTS_MS, &facts, e) < 0)
		return -1;
	if (from == 0 || since == 0)
		return 0;
	c.known_ms = least(jobs, facts);
	from = most(from, calendar_day(calendar, since / SECOND_MS));
	return compare_from(&c, from, since, e);
}
