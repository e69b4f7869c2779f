#include "ledger/counted.h"

#include <stdlib.h>

#include "base/clamp.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "ledger/book.h"

enum {
	SECOND_MS = 1000, /* the ledger cuts times to seconds */
	ROUNDINGS = 4,    /* nano-units, of the two costs of a day */
};

/* --- an instance -------------------------------------------------------------------------------
 */

static int64_t up_to(int64_t ms, int64_t step_ms)
{
	return step_ms > 0 ? (ms + step_ms - 1) / step_ms * step_ms : ms;
}

struct days {
	struct calendar *calendar;
	struct ledger_counted *v;
	int64_t first, n;
};

static struct ledger_counted *day_of(const struct days *d, int64_t day)
{
	return day >= d->first && day < d->first + d->n ? &d->v[day - d->first] : NULL;
}

/* As burstd does: the costs of the days are differences of the cost until then. */
static void count(const struct days *d, int64_t rate, int64_t from_ms, int64_t to_ms)
{
	int64_t before = 0;

	for (int64_t at = from_ms; at < to_ms;) {
		int64_t day = calendar_day(d->calendar, at / SECOND_MS), sum;
		int64_t next = SECOND_MS * calendar_day_begin(d->calendar, day + 1);
		struct ledger_counted *of = day_of(d, day);

		at = next > at && next < to_ms ? next : to_ms;
		sum = fmt_cost(at - from_ms, rate);
		if (of != NULL)
			of->counted = clamp_add(of->counted, sum - before);
		before = sum;
	}
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Days without a cost are left out. */
static size_t compact(const struct days *d)
{
	size_t n = 0;

	for (int64_t i = 0; i < d->n; i++)
		if (d->v[i].bill != 0 || d->v[i].counted != 0)
			d->v[n++] = d->v[i];
	return n;
}

size_t counted_days(const struct input *in, struct calendar *calendar,
		    const struct ledger_posting *v, size_t n, struct ledger_counted **out)
{
	const struct facts *f = &in->facts;
	const int64_t step_ms =
		in->policy.granularity_s > 1 ? SECOND_MS * in->policy.granularity_s : 0;
	int64_t from = f->counted_from_ms, to, slack;
	struct days d = {.calendar = calendar};

	*out = NULL;
	if (in->running || from == FACTS_NEVER || f->counted_to_ms == FACTS_NEVER || from < 0 ||
	    f->counted_to_ms / SECOND_MS - from / SECOND_MS > BOOK_LIFE_MAX_S)
		return 0;
	to = from + up_to(most(f->counted_to_ms - from, SECOND_MS * in->policy.minimum_s), step_ms);
	d.first = calendar_day(calendar, from / SECOND_MS);
	d.n = calendar_day(calendar, to / SECOND_MS) + 1;
	for (size_t i = 0; i < n; i++) {
		d.first = least(d.first, v[i].day);
		d.n = most(d.n, v[i].day + 1);
	}
	d.n -= d.first;
	d.v = mem_zalloc((size_t)d.n * sizeof(*d.v));
	slack = clamp_add(fmt_cost(SECOND_MS + step_ms, f->counted_nano_h), ROUNDINGS);
	for (int64_t i = 0; i < d.n; i++)
		d.v[i] = (struct ledger_counted){
			.day = d.first + i, .slack = slack, .ended_ms = f->counted_to_ms};
	for (size_t i = 0; i < n; i++)
		if ((v[i].kind & LEDGER_CREDIT) == 0)
			d.v[v[i].day - d.first].bill =
				clamp_add(d.v[v[i].day - d.first].bill, v[i].nano);
	count(&d, f->counted_nano_h, from, to);
	*out = d.v;
	return compact(&d);
}

/* --- all of them -------------------------------------------------------------------------------
 */

struct comparing {
	struct ledger *l;
	int64_t since_ms, since_day;
};

static bool is_near(int64_t a, int64_t b, int64_t slack)
{
	return a > b ? clamp_add(b, slack) >= a : clamp_add(a, slack) >= b;
}

static int compare(void *ctx, const struct ledger_both *b, struct err *e)
{
	const struct comparing *c = ctx;
	struct ledger_agreed a = {.day = b->day,
				  .provider = b->provider,
				  .market = b->market,
				  .pool = b->pool,
				  .spent = b->spent,
				  .bill = b->bill};

	/* On the day on which burstd got budgets, what had ended by then is in none. */
	if (b->day == c->since_day && b->ended_ms < c->since_ms)
		return 0;
	if (is_near(b->spent, b->bill, b->slack))
		a.state = LEDGER_AGREES;
	else if (is_near(b->spent, b->counted, b->slack))
		a.state = LEDGER_EXPLAINED;
	else
		a.state = LEDGER_DIFFERS;
	return ledger_put_agreed(c->l, &a, e);
}

int counted_compare(struct ledger *l, struct calendar *calendar, struct err *e)
{
	struct comparing c = {.l = l};
	int64_t from, mark, spent;

	if (ledger_number(l, LEDGER_AGREE_DAY, &from, e) < 0 ||
	    ledger_number(l, LEDGER_LIFE_MARK, &mark, e) < 0 ||
	    ledger_number(l, LEDGER_SPENT_MARK, &spent, e) < 0 ||
	    ledger_number(l, LEDGER_SINCE_MS, &c.since_ms, e) < 0)
		return -1;
	/* Only figures of one moment can agree. */
	if (from == 0 || c.since_ms == 0 || mark != spent)
		return 0;
	c.since_day = calendar_day(calendar, c.since_ms / SECOND_MS);
	from = most(from, c.since_day);
	if (ledger_forget_agreed(l, from, e) < 0 || ledger_both(l, from, compare, &c, e) < 0)
		return -1;
	return ledger_put_number(l, LEDGER_AGREE_DAY, 0, e);
}
