/* test_allocate.c - whatever happened on a machine: the parts add up to the bill, the order of the
 * records changes nothing, and a second way to count, second by second, finds the same. */
#include "ledger/allocate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

enum { RUNS = 12, PRICES = 6, TRIGGERS = 3, ROWS = 400, SPAN = 3000, MONTH = 700, ROUNDS = 400 };

static struct world {
	struct meter_policy policy;
	struct meter_price prices[PRICES + 1];
	struct allocate_trigger triggers[TRIGGERS];
	struct allocate_run runs[RUNS];
	struct allocate_instance in;
} W;

struct rows {
	struct allocate_row row[ROWS];
	size_t n;
};

static uint64_t dice = 88172645463325252;

static int64_t roll(int64_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (int64_t)(dice % (uint64_t)below);
}

static int64_t month(void *ctx, int64_t t_s)
{
	(void)ctx;
	return t_s / MONTH;
}

static int64_t next_month(void *ctx, int64_t t_s)
{
	(void)ctx;
	return (t_s / MONTH + 1) * MONTH;
}

static const struct allocate_calendar calendar = {month, next_month, NULL};

static void keep(void *ctx, const struct allocate_row *row)
{
	struct rows *r = ctx;

	assert_true(r->n < ROWS);
	r->row[r->n++] = *row;
}

static void ignore(void *ctx, enum allocate_flag flag, const struct allocate_run *run, int64_t s)
{
	(void)ctx;
	(void)flag;
	(void)run;
	assert_true(s > 0);
}

static struct allocate_part some(void)
{
	return (struct allocate_part){(uint64_t)roll(9), (uint64_t)roll(97), (uint64_t)roll(1000)};
}

static int64_t maybe(int64_t t_s)
{
	return roll(3) == 0 ? ALLOCATE_NEVER : t_s;
}

static void begin(void)
{
	int64_t start = 100 + roll(SPAN), life = roll(SPAN);

	W = (struct world){.policy = {.granularity_s = 1 + roll(2) * roll(3600),
				      .minimum_s = roll(2) * roll(2000),
				      .mode = (enum meter_mode)roll(3)}};
	for (size_t i = 0; i < PRICES; i++)
		W.prices[i] = (struct meter_price){
			i == 0 ? 0 : W.prices[i - 1].at_s + 1 + roll(900), roll(100) * 997000001};
	for (size_t i = 0; i < TRIGGERS; i++)
		W.triggers[i] =
			(struct allocate_trigger){(uint64_t)(10 + i), (uint64_t)roll(2), some()};
	for (size_t i = 0; i < RUNS; i++) {
		int64_t from = start - 50 + roll(life + 100);

		W.runs[i] = (struct allocate_run){.job = 100 + i / 2,
						  .attempt = i % 2,
						  .start_s = from,
						  .end_s = from + roll(life + 100) - 20,
						  .uses = some(),
						  .lost = roll(3) == 0,
						  .saved_s = maybe(from + roll(life + 1))};
	}
	W.in = (struct allocate_instance){
		.bill = {&W.policy, W.prices, PRICES, start, start + life},
		.has = {8, 96, (uint64_t)roll(2) * 960},
		.share = (enum allocate_share)roll(2),
		.ready_s = maybe(start + roll(life / 4 + 1)),
		.drain_s = maybe(start + roll(life + 1)),
		.stop_s = maybe(start + roll(life + 1)),
		.orphan_until_s = roll(4) == 0 ? start + roll(life + 1) : ALLOCATE_NEVER,
		.triggers = W.triggers,
		.ntriggers = (size_t)roll(TRIGGERS + 1),
		.runs = W.runs,
		.nruns = (size_t)roll(RUNS + 1)};
}

static void run(struct rows *r)
{
	const struct allocate_report to = {.row = keep, .flag = ignore, .ctx = r};

	r->n = 0;
	assert_int_equal(allocate(&W.in, &calendar, &to, NULL), 0);
}

static int64_t sum(const struct rows *r)
{
	int64_t all = 0;

	for (size_t i = 0; i < r->n; i++)
		all += r->row[i].nano;
	return all;
}

/* --- a second way to count ---------------------------------------------------------------------
 */

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double distance(double a, double b)
{
	return a > b ? a - b : b - a;
}

static double price_of(int64_t t)
{
	const struct meter_bill *b = &W.in.bill;
	int64_t last = b->end_s > b->start_s ? b->end_s - 1 : b->start_s, at = t < last ? t : last;
	double found = 0;

	if (W.policy.mode == METER_LAUNCH)
		at = b->start_s;
	if (W.policy.mode == METER_HOUR)
		at -= (at - b->start_s) % 3600;
	for (size_t i = 0; i < b->nprices; i++)
		if (b->prices[i].at_s <= at)
			found = (double)b->prices[i].nano_h / 3600;
	return found;
}

static double share_of(const struct allocate_part *p)
{
	const struct allocate_part *has = &W.in.has;
	double most = has->gpus > 0 ? (double)p->gpus / (double)has->gpus : 0;

	if (W.in.share == ALLOCATE_GPU)
		return most;
	if (has->cpus > 0)
		most = larger(most, (double)p->cpus / (double)has->cpus);
	return has->memory > 0 ? larger(most, (double)p->memory / (double)has->memory) : most;
}

static bool is_there(const struct allocate_run *r, int64_t t)
{
	return W.in.ready_s != ALLOCATE_NEVER && t >= W.in.ready_s && t < W.in.bill.end_s &&
	       t >= r->start_s && t < r->end_s;
}

static enum allocate_class node_class(int64_t t)
{
	const struct allocate_instance *in = &W.in;

	if (t >= in->bill.end_s)
		return ALLOCATE_PAD;
	if (t < in->orphan_until_s)
		return ALLOCATE_ORPHAN;
	if (in->ready_s == ALLOCATE_NEVER)
		return ALLOCATE_BOOT_FAILED;
	if (t < in->ready_s)
		return ALLOCATE_BOOT;
	if (in->stop_s != ALLOCATE_NEVER && t >= in->stop_s)
		return ALLOCATE_TEARDOWN;
	return in->drain_s != ALLOCATE_NEVER && t >= in->drain_s ? ALLOCATE_DRAIN : ALLOCATE_IDLE;
}

/* What second t has of this row. */
static double second(const struct allocate_row *row, int64_t t)
{
	double used = 0, mine = 0, boot = 0;
	enum allocate_class node = node_class(t);

	for (size_t i = 0; i < W.in.nruns; i++) {
		const struct allocate_run *r = &W.runs[i];
		bool lost = r->lost && (r->saved_s == ALLOCATE_NEVER || t >= r->saved_s);

		if (!is_there(r, t))
			continue;
		used += share_of(&r->uses);
		if (row->owner == ALLOCATE_JOB && row->job == r->job &&
		    row->attempt == r->attempt &&
		    row->class == (lost ? ALLOCATE_LOST : ALLOCATE_RUN))
			mine += share_of(&r->uses);
	}
	for (size_t i = 0; i < W.in.ntriggers && node == ALLOCATE_BOOT; i++)
		boot += share_of(&W.triggers[i].wants);
	if (row->owner == ALLOCATE_JOB && row->class != ALLOCATE_BOOT)
		return used > 1 ? mine / used : mine;
	if (row->class != node)
		return 0;
	if (node == ALLOCATE_BOOT && boot > 0) {
		for (size_t i = 0; i < W.in.ntriggers; i++)
			if (row->owner == ALLOCATE_JOB && row->job == W.triggers[i].job &&
			    row->attempt == W.triggers[i].attempt)
				return share_of(&W.triggers[i].wants) / boot;
		return 0;
	}
	return used > 1 ? 0 : 1 - used;
}

static double counted(const struct allocate_row *row)
{
	double all = 0;

	for (int64_t t = W.in.bill.start_s; t < meter_end(&W.in.bill); t++)
		if (t / MONTH == row->month)
			all += price_of(t) * second(row, t);
	return all;
}

/* --- tests -------------------------------------------------------------------------------------
 */

static void test_the_parts_add_up_and_are_right(void **state)
{
	struct rows r;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct meter m;
		int64_t bill;

		begin();
		run(&r);
		meter_begin(&m, &W.in.bill);
		assert_int_equal(meter_to(&m, meter_end(&W.in.bill), &bill, NULL), 0);
		assert_true(sum(&r) == bill);
		for (size_t i = 0; i < r.n; i++) /* each piece is off by less than two nano-units */
			if (distance(counted(&r.row[i]), (double)r.row[i].nano) > 200)
				fail_msg("round %d, row %zu: %s, job %llu: %.0f, not %lld", round,
					 i, allocate_class_str(r.row[i].class),
					 (unsigned long long)r.row[i].job, counted(&r.row[i]),
					 (long long)r.row[i].nano);
	}
}

static void shuffle(void)
{
	for (size_t i = RUNS - 1; i > 0; i--) {
		size_t k = (size_t)roll((int64_t)i + 1);
		struct allocate_run r = W.runs[i];

		if (i < W.in.nruns) {
			W.runs[i] = W.runs[k];
			W.runs[k] = r;
		}
	}
	for (size_t i = 0; i + 1 < W.in.ntriggers; i++) {
		struct allocate_trigger t = W.triggers[i];

		W.triggers[i] = W.triggers[i + 1];
		W.triggers[i + 1] = t;
	}
}

static void test_the_order_of_records_changes_nothing(void **state)
{
	struct rows a, b;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		begin();
		if (round % 2 == 0) { /* the same record twice, but for what it says of its share */
			W.runs[1] = W.runs[0];
			W.runs[1].uses = some();
		}
		run(&a);
		shuffle();
		run(&b);
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.row, b.row, a.n * sizeof(a.row[0]));
	}
}

/* The same price once more is a cut, and changes no sum; nobody's by more than a few nano-units. */
static void test_a_cut_more_changes_no_sum(void **state)
{
	struct rows a, b;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		begin();
		run(&a);
		W.prices[PRICES] = (struct meter_price){W.prices[PRICES - 1].at_s + 1 + roll(SPAN),
							W.prices[PRICES - 1].nano_h};
		W.in.bill.nprices++;
		run(&b);
		assert_true(sum(&a) == sum(&b));
		assert_int_equal(a.n, b.n);
		for (size_t i = 0; i < a.n; i++)
			assert_in_range(a.row[i].nano - b.row[i].nano + 2, 0, 4);
	}
}

static void test_each_class_has_words(void **state)
{
	(void)state;
	for (int c = 0; c < ALLOCATE_NCLASSES; c++) {
		assert_true(strlen(allocate_class_str((enum allocate_class)c)) > 2);
		assert_true(strlen(allocate_class_text((enum allocate_class)c)) > 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_parts_add_up_and_are_right),
		cmocka_unit_test(test_the_order_of_records_changes_nothing),
		cmocka_unit_test(test_a_cut_more_changes_no_sum),
		cmocka_unit_test(test_each_class_has_words),
	};

	return cmocka_run_group_tests_name("ledger, allocation", tests, NULL, NULL);
}
