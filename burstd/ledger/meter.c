#include "ledger/meter.h"

#include "base/fmt.h"

enum { HOUR_S = 3600 };

int64_t meter_end(const struct meter_bill *b)
{
	const struct meter_policy *p = b->policy;
	int64_t raw = b->end_s - b->start_s, s = raw > p->minimum_s ? raw : p->minimum_s;
	int64_t steps = s / p->granularity_s + (s % p->granularity_s != 0);

	return b->start_s + steps * p->granularity_s;
}

/* Index of the first price later than t_s. */
static size_t after(const struct meter_bill *b, int64_t t_s)
{
	size_t low = 0, high = b->nprices;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (b->prices[mid].at_s <= t_s)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int64_t hour_of(const struct meter_bill *b, int64_t t_s)
{
	return b->start_s + (t_s - b->start_s) / HOUR_S * HOUR_S;
}

/* The last second that the instance was there, for time that is billed beyond it. */
static int64_t real(const struct meter_bill *b, int64_t t_s)
{
	int64_t last = b->end_s > b->start_s ? b->end_s - 1 : b->start_s;

	return t_s < last ? t_s : last;
}

/* -1: none is known. */
static int64_t price(const struct meter_bill *b, int64_t t_s)
{
	int64_t at = real(b, t_s);
	size_t i;

	if (b->policy->mode == METER_HOUR)
		at = hour_of(b, at);
	else if (b->policy->mode == METER_LAUNCH)
		at = b->start_s;
	i = after(b, at);
	return i > 0 ? b->prices[i - 1].nano_h : -1;
}

int64_t meter_change(const struct meter_bill *b, int64_t t_s)
{
	int64_t next = INT64_MAX;
	size_t i;

	if (b->policy->mode == METER_HOUR) {
		next = hour_of(b, t_s) + HOUR_S;
	} else if (b->policy->mode == METER_INSTANT) {
		i = after(b, t_s);
		next = i < b->nprices ? b->prices[i].at_s : INT64_MAX;
	}
	return next < b->end_s ? next : INT64_MAX;
}

void meter_begin(struct meter *m, const struct meter_bill *b)
{
	*m = (struct meter){.bill = b, .at_s = b->start_s};
}

/* sum / 3600, half to even. */
static meter_sum rounded(meter_sum sum)
{
	meter_sum whole = sum / HOUR_S, rest = sum % HOUR_S * 2;

	return whole + (rest > HOUR_S || (rest == HOUR_S && whole % 2 != 0));
}

int meter_to(struct meter *m, int64_t to_s, int64_t *nano, struct err *e)
{
	char when[FMT_TIME_SIZE];

	while (m->at_s < to_s) {
		int64_t next = meter_change(m->bill, m->at_s), each = price(m->bill, m->at_s);

		if (each < 0)
			return err_set(e, ERR_INVALID, "no price is known at %s",
				       fmt_time(when, m->at_s * 1000));
		next = next < to_s ? next : to_s;
		m->sum += (meter_sum)each * (next - m->at_s);
		m->at_s = next;
		if (m->sum / HOUR_S >= INT64_MAX)
			return err_set(e, ERR_LIMIT, "the cost is larger than %lld nano-units",
				       (long long)INT64_MAX);
	}
	*nano = (int64_t)rounded(m->sum);
	return 0;
}
