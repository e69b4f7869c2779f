/* waits.c - what burstd does in one go for jobs that wait for money: with ten of them, and with
 * thousands.
 *
 *	waits ROUNDS FEW MANY    last line: {"few_ns":...,"many_ns":...,"longest_ms":...}
 *
 * In each round all of them are refused their nodes, while others have the machines; it is found
 * twice that there is money, for none of them and for all; each is let go, slurmctld is told so,
 *and it buys.  few_ns, many_ns: all of that, for one job.  longest_ms: the longest step with MANY,
 *as none of it is cut into turns.  In processor time, of each the best round, for a busy machine
 *only makes them longer. The engine is that of the unit tests: loaded, never started, with a clock
 *that runs. */
#include "tests/unit/parts/holds_lab.h"

#include "core/plan.h"
#include "jobs/postpone_private.h"

enum { FIRST = 1000 }; /* the number of the first job that waits */

static struct {
	uint64_t rounds, few, many;
	double few_ns, many_ns, longest_ms;
} B;

static double now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* Machines of others: n nodes, each with a job. */
static void hold_others(struct fix *f, uint64_t n)
{
	const struct budget_hold h = of(f, "c1", BUDGET_RUN);
	char name[32];

	for (uint64_t i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "other%llu", (unsigned long long)i);
		(void)fleet_name(&f->e->fleet, name, 0);
		(void)hold_add(f->e, hold_node_of(f->e, name, 1), 1 + i % (FIRST - 1), &h);
	}
}

static void refuse_all(struct fix *f, uint64_t n, int64_t needs)
{
	struct plan_no_budget *v = mem_zalloc(n * sizeof(*v));

	for (uint64_t i = 0; i < n; i++)
		v[i] = (struct plan_no_budget){.no = {.budget = &f->e->conf->budgets[0],
						      .lack = BUDGET_LACKS_MONEY,
						      .needs = needs,
						      .market = PROVIDER_ON_DEMAND},
					       .job = FIRST + i};
	holds_whole(f->e, v, n);
	for (uint64_t i = 0; i < n; i++)
		holds_refused(f->e, v[i].job, &v[i].no);
	free(v);
}

/* slurmctld was told that they wait. */
static void have_them_wait(struct fix *f, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		struct postponed *p = postpone_get(f->e, FIRST + i);

		p->until_ms = engine_now(f->e) + HOUR;
		p->untold = p->anew = false;
		p->refusal = (struct refusal){.count = 1,
					      .wait_ms = REFUSAL_DAY_MS,
					      .last_ms = engine_now(f->e),
					      .money = true};
	}
}

static void turn(struct fix *f)
{
	f->e->money->freed = true;
	f->e->money->freed_ms = 0;
	holds_waits_turn(f->e);
}

/* slurmctld was told so of as many of them as one command takes. */
static void told(struct fix *f, uint64_t n)
{
	struct str names;
	struct slurm_order o = {.verb = "start", .reason = ""};

	str_init(&names, 1 << 20);
	for (uint64_t i = n > SLURM_BATCH_MAX ? n - SLURM_BATCH_MAX : 0; i < n; i++)
		str_addf(&names, "%s%llu", names.len > 0 ? "," : "",
			 (unsigned long long)(FIRST + i));
	o.names = names.p;
	postpone_told(f->e, &o, NULL);
	str_fini(&names);
}

static void all_buy(struct fix *f, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		holds_waits_bought(f->e, FIRST + i);
}

/* Add the time since *at to *sum, and note it if it is long. */
static void lap(double *at, double *sum, double *longest)
{
	const double now = now_ns(), ns = now - *at;

	*sum += ns;
	if (ns > *longest)
		*longest = ns;
	*at = now_ns();
}

/* ns for each job, in the best round. */
static double measure(struct fix *f, uint64_t n, double *longest_ms)
{
	double best = 1e18;

	for (uint64_t r = 0; r < B.rounds; r++) {
		double sum = 0, longest = 0, at = now_ns();

		refuse_all(f, n, 100 * EUR);
		lap(&at, &sum, &longest);
		have_them_wait(f, n);
		at = now_ns();
		turn(f);
		lap(&at, &sum, &longest);
		assert_int_equal(f->e->money->nwaits, n);
		refuse_all(f, n, 1);
		lap(&at, &sum, &longest);
		have_them_wait(f, n);
		at = now_ns();
		turn(f);
		lap(&at, &sum, &longest);
		assert_int_equal(f->e->money->npromises, n);
		told(f, n);
		lap(&at, &sum, &longest);
		all_buy(f, n);
		lap(&at, &sum, &longest);
		assert_int_equal(f->e->money->npromises, 0);
		if (sum / (double)n >= best)
			continue;
		best = sum / (double)n;
		*longest_ms = longest / 1e6;
	}
	return best;
}

static void run(void **state)
{
	struct fix *f = *state;
	double ms;

	bought(f);
	B.few_ns = measure(f, B.few, &ms);
	hold_others(f, B.many);
	B.many_ns = measure(f, B.many, &B.longest_ms);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {TEST(run)};

	if (argc != 4) {
		(void)fprintf(stderr, "usage: waits ROUNDS FEW MANY\n");
		return 2;
	}
	B.rounds = strtoull(argv[1], NULL, 10);
	B.few = strtoull(argv[2], NULL, 10);
	B.many = strtoull(argv[3], NULL, 10);
	if (cmocka_run_group_tests(tests, zone_begins, zone_ends) != 0)
		return 1;
	(void)printf("{\"few_ns\":%.1f,\"many_ns\":%.1f,\"longest_ms\":%.3f}\n", B.few_ns,
		     B.many_ns, B.longest_ms);
	return 0;
}
