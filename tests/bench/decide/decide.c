/* decide.c - what it costs burstd to decide about a job that ten budgets concern, beside as many
 * again and thousands that do not concern it.
 *
 *	decide RUNS OTHERS    {"few_ns":...,"many_ns":...,"few_new_ns":...,"many_new_ns":...}
 *
 * A decision is what a purchase asks for: the three holds of a machine and its job, tried in all
 * budgets that they concern.  `new`: of a user whom burstd has not seen yet, for whom these budgets
 * are looked up first.  By turns, in processor time; of each the best run, for a busy machine only
 * makes them longer. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "core/budget_job.h"

enum { MATCH = 10, DECISIONS = 2000, HOUR_MS = 3600000 };

static const struct budget_times times = {.over_ms = 60000, .idle_ms = 600000, .end_ms = 150000};
static const struct budget_machine machine = {.pool = "p",
					      .provider = "sim",
					      .market = PROVIDER_ON_DEMAND,
					      .rate_nano_h = INT64_C(1000000000),
					      .boot_ms = 600000,
					      .gpus = 8,
					      .cpus = 96};

struct world {
	struct conf_budget *list;
	struct budgets *budgets;
	uint64_t users; /* that were new */
};

static double now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static char **list_of(const char *name)
{
	char **v = mem_zalloc(2 * sizeof(*v));

	v[0] = mem_strdup(name);
	return v;
}

static void begin(struct world *w, const struct zone *utc, size_t others)
{
	w->list = mem_zalloc((MATCH + others) * sizeof(*w->list));
	for (size_t i = 0; i < MATCH + others; i++) {
		char account[32];

		(void)snprintf(account, sizeof(account), "account%zu", i);
		w->list[i] = (struct conf_budget){
			.name = mem_strdup(account),
			.accounts = list_of(i % (1 + others / MATCH) == 0 ? "physics" : account),
			.market = CONF_MARKET_ANY,
			.amount_nano = INT64_MAX / 2,
			.period_rule = {.kind = PERIOD_MONTH},
			.stop_at = 100};
	}
	w->budgets = budgets_new(utc, (int64_t)time(NULL) * 1000);
	budgets_configure(w->budgets, w->list, MATCH + others);
	budgets_account(w->budgets, "physics", "root");
}

/* How many budgets concern the job. */
static size_t decide(struct world *w, const char *user, int64_t now_ms)
{
	struct payer p = {.limit_s = 3600, .nodes = 1, .cpus = 96, .node_gpus = 8};
	struct budget_want wants[BUDGET_WANTS_MAX];
	const uint32_t *lines;
	struct budget_no no;
	size_t n;

	(void)snprintf(p.account, sizeof(p.account), "physics");
	(void)snprintf(p.user, sizeof(p.user), "%s", user);
	(void)snprintf(p.qos, sizeof(p.qos), "normal");
	n = budget_wants(w->budgets, &p, &machine, &times, now_ms, wants);
	if (!budgets_try(w->budgets, wants, n, true, &no))
		return 0;
	return budgets_lines_of(w->budgets, wants[1].hold.spender, &lines);
}

/* Nanoseconds for one. */
static double run(struct world *w, bool fresh)
{
	const int64_t now_ms = (int64_t)time(NULL) * 1000;
	double began = now_ns(), took;

	for (int i = 0; i < DECISIONS; i++) {
		char user[32] = "ann";

		if (fresh)
			(void)snprintf(user, sizeof(user), "user%llu",
				       (unsigned long long)w->users++);
		if (decide(w, user, now_ms) != MATCH) {
			(void)fprintf(stderr, "decide: %d budgets must concern the job\n", MATCH);
			exit(1);
		}
	}
	took = now_ns() - began;
	budgets_forget_tries(w->budgets);
	(void)budgets_now(w->budgets, now_ms); /* forgets the users */
	return took / DECISIONS;
}

static void keep_best(double *best, double ns)
{
	if (*best == 0 || ns < *best)
		*best = ns;
}

int main(int argc, char **argv)
{
	double best[2][2] = {{0}};
	struct zone *utc = zone_new("UTC", NULL);
	struct world w[2] = {{0}};
	int runs = argc == 3 ? (int)strtol(argv[1], NULL, 10) : 0;
	size_t others = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (runs <= 0 || utc == NULL) {
		(void)fputs("usage: decide RUNS OTHERS\n", stderr);
		return 2;
	}
	begin(&w[0], utc, 0);
	begin(&w[1], utc, others);
	for (int r = 0; r < runs; r++)
		for (int fresh = 0; fresh < 2; fresh++)
			for (int many = 0; many < 2; many++)
				keep_best(&best[fresh][many], run(&w[many], fresh));
	(void)printf(
		"{\"few_ns\":%.1f,\"many_ns\":%.1f,\"few_new_ns\":%.1f,\"many_new_ns\":%.1f}\n",
		best[0][0], best[0][1], best[1][0], best[1][1]);
	return 0;
}
