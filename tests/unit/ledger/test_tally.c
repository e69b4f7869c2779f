/* test_tally.c - sums by whatever they are grouped, which add up; rounding, which adds up, too. */
#include "ledger/tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/cents.h"
#include "tests/unit/ledger/statement_file.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static void test_rounding(void **state)
{
	static const struct {
		int64_t v, unit, want;
	} rows[] = {
		{0, 10, 0},
		{4, 10, 0},
		{5, 10, 0},
		{6, 10, 1},
		{15, 10, 2},
		{25, 10, 2},
		{-4, 10, 0},
		{-5, 10, 0},
		{-6, 10, -1},
		{-15, 10, -2},
		{-25, 10, -2},
		{7, 1, 7},
		{INT64_MAX, 10, INT64_MAX / 10 + 1},
		{INT64_MIN, 10, INT64_MIN / 10 - 1},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_true(cents_of(rows[i].v, rows[i].unit) == rows[i].want);
	assert_int_equal(cents_places("EUR"), 2);
	assert_int_equal(cents_places("JPY"), 0);
	assert_int_equal(cents_places("KWD"), 3);
}

static void test_rows_of_a_page(void **state)
{
	static const struct {
		int64_t v[3], total, want[3];
	} rows[] = {
		{{4, 4, 4}, 1, {1, 0, 0}}, /* of equal ones the first */
		{{14, 14, 12}, 4, {2, 1, 1}},
		{{-4, 14, 0}, 1, {0, 1, 0}}, /* down is away from zero, too */
		{{-15, -15, 0}, -3, {-1, -2, 0}},
		{{10, 20, 30}, 6, {1, 2, 3}},
	};
	int64_t out[3];

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		cents_split(rows[i].v, 3, 10, rows[i].total, out);
		print_message("# row %zu\n", i);
		for (int k = 0; k < 3; k++)
			assert_true(out[k] == rows[i].want[k]);
	}
	cents_split(NULL, 0, 10, 0, out);
}

static void test_any_rows_of_a_page(void **state)
{
	enum { N = 50, UNIT = 10000000 };

	int64_t v[N], out[N];

	(void)state;
	srandom(8);
	for (int round = 0; round < 2000; round++) {
		const size_t n = 1 + (size_t)random() % N;
		int64_t exact = 0, sum = 0;

		for (size_t i = 0; i < n; i++)
			exact += v[i] = (random() % 3 ? 1 : -1) * (random() << (random() % 20));
		cents_split(v, n, UNIT, cents_of(exact, UNIT), out);
		for (size_t i = 0; i < n; i++) {
			assert_true(llabs(out[i] * UNIT - v[i]) < UNIT);
			sum += out[i];
		}
		assert_true(sum == cents_of(exact, UNIT));
	}
}

static int make(struct tally *t, const struct tally_options *o, const struct charge *const *v,
		size_t n, struct err *e)
{
	struct source_array a = {v, n};
	struct source from = source_array(&a);

	return tally_make(t, o, &from, e);
}

static int64_t sum_groups(const struct tally_groups *g)
{
	int64_t sum = 0;

	for (size_t i = 0; i < g->n; i++)
		sum += g->v[i]->sum.nano + g->v[i]->overhead;
	return sum;
}

static void check_sums(const struct tally *t, const struct charges *c)
{
	int64_t days = t->elsewhere, classes = t->all.credit + t->all.adjust;

	for (size_t i = 0; i < t->ndays; i++)
		for (int m = 0; m < TALLY_NCOLUMNS; m++)
			days += t->days[i].nano[m];
	for (int k = 0; k < ALLOCATE_NCLASSES; k++)
		classes += t->all.classes[k];
	assert_int_equal(t->charges, c->n);
	assert_true(t->all.nano == charges_sum(c));
	assert_true(days == t->all.nano);
	assert_true(classes == t->all.nano);
	assert_true(sum_groups(&t->partitions) == t->all.nano);
	assert_true(sum_groups(&t->users) == t->all.direct);
	assert_true(sum_groups(&t->wckeys) == t->all.direct);
	assert_true(t->all.direct + t->overhead == t->all.nano);
	assert_true(sum_groups(&t->accounts) ==
		    (t->distributed ? t->all.nano : t->all.direct + t->assigned));
}

/* What the first of the top jobs cost, by looking at each charge. */
static void check_top(const struct tally *t, const struct charges *c)
{
	for (size_t i = 0; i < t->ntop; i++) {
		const struct tally_job *j = &t->top[i].sum;
		int64_t nano = 0, lost = 0;

		for (size_t k = 0; k < c->n; k++) {
			const struct charge *x = &c->v[k];

			if (x->owner != ALLOCATE_JOB || x->job != j->job ||
			    strcmp(x->user, j->user->name) != 0)
				continue;
			nano += x->nano;
			lost += x->class == ALLOCATE_LOST && !x->adjust ? x->nano : 0;
		}
		assert_true(j->nano == nano);
		assert_true(j->lost == lost);
		assert_true(i == 0 || t->top[i - 1].sum.nano >= nano);
		assert_int_equal(t->top[i].about.c.job, j->job);
	}
}

static void test_any_charges(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		const struct tally_options o = statement_file_tally(i & 1);
		struct err e = {0};
		struct charges c;
		struct tally t;

		charges_make(&c, 40 + i, i < 8 ? 2000 : i - 8);
		if (make(&t, &o, c.all, c.n, &e) != 0)
			fail_msg("%s", e.msg);
		assert_int_equal(t.ndays, CHARGES_DAYS);
		assert_true(c.n < 100 || t.distributed == o.distribute);
		check_sums(&t, &c);
		check_top(&t, &c);
		assert_int_equal(t.ntop, c.n >= 100 ? TALLY_TOP : t.ntop);
		tally_fini(&t);
		charges_fini(&c);
	}
}

/* More jobs than the table begins with, and the top ones among them. */
static void test_many_jobs(void **state)
{
	enum { N = 20000 };

	struct charge *v = calloc(N, sizeof(*v));
	const struct charge **all = calloc(N, sizeof(*all));
	const struct tally_options o = statement_file_tally(false);
	struct tally t;

	(void)state;
	assert_non_null(v);
	assert_non_null(all);
	for (int i = 0; i < N; i++) {
		v[i] = charges_one();
		v[i].job = (uint64_t)i * 4096; /* whatever the hash does with these */
		v[i].attempt = i == 777 ? 0 : 2;
		v[i].nano = i == 777 ? 5000 : i == 4 ? 6000 : i % 1000;
		all[i] = &v[i];
	}
	assert_int_equal(make(&t, &o, all, N, NULL), 0);
	assert_int_equal(t.njobs, N);
	assert_int_equal(t.ntop, TALLY_TOP);
	assert_int_equal(t.top[0].sum.job, 4 * 4096);
	assert_int_equal(t.top[1].sum.job, 777 * 4096);
	assert_int_equal(t.top[2].sum.job, 999 * 4096); /* of equal ones the first job */
	assert_int_equal(t.top[3].sum.job, 1999 * 4096);
	assert_int_equal(t.top[0].sum.attempts, 2);
	tally_fini(&t);
	free(v);
	free(all);
}

/* What is counted where. */
static void test_one_charge(void **state)
{
	static const struct {
		enum allocate_class class;
		bool credit, adjust;
		int64_t list_nano, run, lost, idle, list, listed, spot;
	} rows[] = {
		{ALLOCATE_RUN, false, false, 30, 28800, 0, 0, 30, 12, 12},
		{ALLOCATE_LOST, false, false, 30, 28800, 28800, 0, 30, 12, 12},
		{ALLOCATE_IDLE, false, false, 30, 0, 0, 28800, 30, 12, 12},
		{ALLOCATE_DRAIN, false, false, 30, 0, 0, 28800, 30, 12, 12},
		{ALLOCATE_BOOT, false, false, 30, 0, 0, 0, 30, 12, 12},
		{ALLOCATE_RUN, true, false, 30, 0, 0, 0, 0, 12, 12}, /* given back: no sale */
		{ALLOCATE_RUN, false, true, 30, 0, 0, 0, 0, 0, 0},
		{ALLOCATE_RUN, false, false, -1, 28800, 0, 0, 0, 0, 0}, /* no list price */
	};
	const struct tally_options o = statement_file_tally(false);

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct charge c = charges_one();
		const struct charge *p = &c;
		struct tally t;

		c.class = rows[i].class;
		c.credit = rows[i].credit;
		c.adjust = rows[i].adjust;
		c.list_nano = rows[i].list_nano;
		c.nano = 12;
		c.estimated = i == 0;
		assert_int_equal(make(&t, &o, &p, 1, NULL), 0);
		assert_true(t.all.run_gpu_s == rows[i].run);
		assert_true(t.all.lost_gpu_s == rows[i].lost);
		assert_true(t.all.idle_gpu_s == rows[i].idle);
		assert_true(t.all.list == rows[i].list);
		assert_true(t.all.listed == rows[i].listed);
		assert_true(t.all.spot_listed == rows[i].spot);
		assert_true(t.all.estimated == (i == 0 ? 12 : 0));
		assert_true(t.days[0].nano[PROVIDER_SPOT] == 12);
		tally_fini(&t);
	}
}

/* What an invoice has for no machine was bought in no market; what it has for a machine, was. */
static void test_of_no_machine(void **state)
{
	const struct tally_options o = statement_file_tally(true);
	struct charge disks = charges_one(), tax, machine;
	const struct charge *v[] = {&disks, &tax, &machine};
	struct tally t;

	(void)state;
	disks.owner = ALLOCATE_CLUSTER;
	disks.class = ALLOCATE_SHARED;
	disks.market = PROVIDER_ON_DEMAND;
	disks.nano = 100;
	machine = disks;
	machine.nano = 3;
	disks.node = disks.instance = "";
	tax = disks;
	tax.class = ALLOCATE_TAX;
	tax.nano = 20;
	assert_int_equal(make(&t, &o, v, 3, NULL), 0);
	assert_true(t.days[0].nano[TALLY_NO_MACHINE] == 120);
	assert_true(t.days[0].nano[PROVIDER_ON_DEMAND] == 3);
	assert_true(t.all.nano == 123);
	tally_fini(&t);
}

/* Who was given back more than they had cost pays for nobody's idle time, nor is paid for it. */
static void test_who_carries_the_overhead(void **state)
{
	const struct tally_options o = statement_file_tally(true);
	struct charge a = charges_one(), b = a, c = a, pool = a;
	const struct charge *v[] = {&a, &b, &c, &pool};
	struct tally t;

	(void)state;
	a.nano = -500;
	b.nano = c.nano = 100;
	b.account = "chem";
	c.account = "bio";
	pool.owner = ALLOCATE_POOL;
	pool.nano = 7;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(make(&t, &o, v, 4, NULL), 0);
		assert_int_equal(t.accounts.n, 3);
		assert_string_equal(t.accounts.v[0]->name, "bio"); /* equal to chem but for it */
		assert_true(t.accounts.v[0]->overhead == 4);
		assert_true(t.accounts.v[1]->overhead == 3);
		assert_string_equal(t.accounts.v[2]->name, "physics");
		assert_true(t.accounts.v[2]->overhead == 0);
		tally_fini(&t);
		v[1] = &c;
		v[2] = &b;
	}
}

/* Should the charges of a job not agree whose it is, it is still the same one each time. */
static void test_a_job_of_two(void **state)
{
	const struct tally_options o = statement_file_tally(true);
	struct charge a = charges_one(), b = a;
	const struct charge *v[] = {&a, &b};

	(void)state;
	b.account = "bio";
	for (int i = 0; i < 2; i++) {
		struct tally t;

		assert_int_equal(make(&t, &o, v, 2, NULL), 0);
		assert_int_equal(t.njobs, 1);
		for (size_t k = 0; k < t.jobs_cap; k++)
			if (t.jobs[k].attempts != 0) {
				assert_string_equal(t.jobs[k].user->name, "alice");
				assert_string_equal(t.jobs[k].account->name, "bio");
			}
		assert_string_equal(t.top[0].about.c.user, "alice");
		tally_fini(&t);
		v[0] = &b;
		v[1] = &a;
	}
}

/* slurmctld has lost its state: another user's job has the number, and nobody has both costs. */
static void test_a_number_of_two_jobs(void **state)
{
	const struct tally_options o = statement_file_tally(true);
	struct charge a = charges_one(), b = a, c = a;
	const struct charge *v[] = {&a, &b, &c};

	(void)state;
	b.user = c.user = "zoe";
	for (int i = 0; i < 2; i++) {
		struct tally t;

		assert_int_equal(make(&t, &o, v, 3, NULL), 0);
		assert_int_equal(t.njobs, 2);
		assert_int_equal(t.ntop, 2);
		assert_string_equal(t.top[0].about.c.user, "zoe");
		assert_true(t.top[0].sum.nano == 2 * a.nano);
		assert_string_equal(t.top[1].about.c.user, "alice");
		assert_true(t.top[1].sum.nano == a.nano);
		tally_fini(&t);
		v[0] = &c;
		v[2] = &a;
	}
	v[0] = &a; /* of equal ones in order of users */
	for (int i = 0; i < 2; i++) {
		struct tally t;

		assert_int_equal(make(&t, &o, v, 2, NULL), 0);
		assert_string_equal(t.top[0].about.c.user, "alice");
		assert_string_equal(t.top[1].about.c.user, "zoe");
		tally_fini(&t);
		v[0] = &b;
		v[1] = &a;
	}
}

static void test_overhead_stays_where_nobody_had_a_cost(void **state)
{
	const struct tally_options o = statement_file_tally(true);
	struct charge c = charges_one();
	const struct charge *p = &c;
	struct tally t;

	(void)state;
	c.owner = ALLOCATE_POOL;
	assert_int_equal(make(&t, &o, &p, 1, NULL), 0);
	assert_false(t.distributed);
	assert_true(t.overhead == c.nano);
	assert_int_equal(t.accounts.n, 0);
	tally_fini(&t);
}

static void test_what_is_refused(void **state)
{
	(void)state;
	for (int i = 0; i < 7; i++) {
		struct tally_options o = statement_file_tally(false);
		struct charge a = charges_one(), b = a;
		const struct charge *v[] = {&a, &b};
		struct err e = {0};
		struct tally t;

		b.currency = i == 0 ? "USD" : b.currency;
		b.start_s = i == 1 ? o.start_s - 1 : i == 2 ? o.end_s : b.start_s;
		b.nano = i == 3 ? INT64_MAX : b.nano;
		b.gpu_s = i == 4 ? INT64_MAX : b.gpu_s;
		o.end_s = i == 5 ? o.start_s : i == 6 ? o.start_s + 500 * INT64_C(86400) : o.end_s;
		assert_int_equal(make(&t, &o, v, 2, &e), -1);
		assert_int_not_equal(e.msg[0], '\0');
		assert_null(t.days);
		tally_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_rows_of_a_page),
		cmocka_unit_test(test_any_rows_of_a_page),
		cmocka_unit_test(test_any_charges),
		cmocka_unit_test(test_many_jobs),
		cmocka_unit_test(test_one_charge),
		cmocka_unit_test(test_of_no_machine),
		cmocka_unit_test(test_who_carries_the_overhead),
		cmocka_unit_test(test_a_job_of_two),
		cmocka_unit_test(test_a_number_of_two_jobs),
		cmocka_unit_test(test_overhead_stays_where_nobody_had_a_cost),
		cmocka_unit_test(test_what_is_refused),
	};

	return cmocka_run_group_tests_name("ledger, sums", tests, NULL, NULL);
}
