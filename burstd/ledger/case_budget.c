#include "ledger/case_private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/budget_job.h"

/* Cases of a budget (case.h): burstd's own budgets decide, as they do before a purchase. */

enum { HOUR_MS = 3600000, SECOND_MS = 1000 };

/* What is set aside and spent already. */
static void count_others(struct case_budget *x, int64_t spent, int64_t accrued, int64_t committed)
{
	static const struct budget_spender others = {.machine = true,
						     .account = "",
						     .user = "",
						     .qos = "",
						     .wckey = "",
						     .partition = "",
						     .pool = "",
						     .provider = ""};
	const uint32_t spender = budgets_spender(x->budgets, &others);
	struct budget_hold h = {.spender = spender, .rate_nano_h = accrued, .until_ms = HOUR_MS};

	(void)budgets_hold(x->budgets, &h);
	h.rate_nano_h = committed;
	(void)budgets_hold(x->budgets, &h);
	(void)budgets_spent(x->budgets, spender, 0, spent);
}

static int64_t left_of(const struct case_budget *x)
{
	return budgets_line(x->budgets, 0).left;
}

/* A rolling period, in which the whole of each hold counts: a case has no dates. */
static int open_budget(struct case_book *b, const int64_t v[4], struct err *e)
{
	struct case_budget *x = mem_zalloc(sizeof(*x));

	b->budget = x;
	x->zone = zone_new("UTC", e);
	if (x->zone == NULL)
		return -1;
	x->conf = (struct conf_budget){.market = CONF_MARKET_ANY,
				       .amount_nano = v[0],
				       .period_rule = {.kind = PERIOD_ROLLING, .days = 1},
				       .reserve = CONF_RESERVE_FULL,
				       .stop_at = 100};
	x->budgets = budgets_new(x->zone, 0);
	budgets_configure(x->budgets, &x->conf, 1);
	count_others(x, v[1], v[2], v[3]);
	return 0;
}

int case_budget(struct case_book *b, const struct case_line *l, struct err *e)
{
	static const char *const names[] = {"amount", "spent", "accrued", "committed"};
	static const char *const times[] = {"boot", "idle", "teardown", "granularity"};
	int64_t v[4], t[4];
	struct case_budget *x;

	if (b->budget != NULL)
		return case_bad(l, "a second budget", e);
	for (size_t i = 0; i < 4; i++)
		if (case_number(l, i + 1, names[i], i == 0, INT64_MAX - 1, &v[i], e) != 0)
			return -1;
	if (open_budget(b, v, e) != 0)
		return -1;
	x = b->budget;
	if (left_of(x) == INT64_MIN)
		return case_bad(l, "its amounts are too large", e);
	if (case_number(l, 5, "ceiling", 1, INT64_MAX, &x->machine.rate_nano_h, e) != 0)
		return -1;
	for (size_t i = 0; i < 4; i++)
		if (case_number(l, i + 6, times[i], i == 3, CASE_TIME_MAX, &t[i], e) != 0)
			return -1;
	x->machine.pool = x->machine.provider = "";
	x->machine.boot_ms = SECOND_MS * t[0];
	x->times = (struct budget_times){.idle_ms = SECOND_MS * t[1], .end_ms = SECOND_MS * t[2]};
	x->machine.quantum_ms = SECOND_MS * t[3];
	return 0;
}

void case_budget_free(struct case_budget *x)
{
	if (x == NULL)
		return;
	for (size_t i = 0; i < x->njobs; i++)
		free(x->jobs[i].holds);
	free(x->jobs);
	budgets_free(x->budgets);
	zone_free(x->zone);
	free(x);
}

/* --- decisions -----------------------------------------------------------------------------------
 */

static int by_turn(const void *a, const void *b)
{
	const struct case_wish *x = a, *y = b;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

/* Only the whole machine counts in a budget that names no job. */
static struct budget_want want_of(struct case_budget *x, const struct case_wish *j)
{
	const struct payer p = {.limit_s = j->limit_s};
	struct budget_want wants[BUDGET_WANTS_MAX];
	size_t n = budget_wants(x->budgets, &p, &x->machine, &x->times, 0, wants);

	assert(n > 0 && wants[0].hold.kind == BUDGET_MACHINE);
	wants[0].n = (uint32_t)j->nodes;
	return wants[0];
}

static void hold_for(struct case_budget *x, struct case_wish *j)
{
	const struct budget_want want = want_of(x, j);

	j->holds = mem_zalloc((want.n + 1) * sizeof(*j->holds));
	for (uint32_t i = 0; i < want.n; i++)
		j->holds[i] = budgets_hold(x->budgets, &want.hold);
	j->state = CASE_WISH_HELD;
}

static void tell(const struct case_book *b, const struct case_wish *j, const char *what,
		 int64_t nano, int64_t rest)
{
	str_addf(b->out, "%s,%" PRIu64 ",%" PRId64 ",%" PRId64 "%s", what, j->job, nano, rest,
		 b->eol);
}

static void hold_and_tell(const struct case_book *b, struct case_wish *j)
{
	int64_t before = left_of(b->budget), after;

	hold_for(b->budget, j);
	after = left_of(b->budget);
	tell(b, j, "admit", before - after, after);
}

/* What it lacks once those before it have what they want, and what is overdrawn as well. */
static void refuse_and_tell(const struct case_book *b, const struct case_wish *j)
{
	int64_t left = left_of(b->budget), lacks;

	if (__builtin_sub_overflow(j->no.needs, left, &lacks))
		lacks = INT64_MAX;
	tell(b, j, "refuse", j->no.needs, lacks);
}

/* Decide on every job that waits, by priority, of equal ones by number: all of a batch first, as
 * burstd does, and then set aside what those who fit want. */
static void decide(const struct case_book *b, bool refusals)
{
	struct case_budget *x = b->budget;

	if (x->njobs > 0)
		qsort(x->jobs, x->njobs, sizeof(*x->jobs), by_turn);
	for (size_t i = 0; i < x->njobs; i++) {
		struct case_wish *j = &x->jobs[i];
		struct budget_want want;

		if (j->state != CASE_WISH_WAITS)
			continue;
		want = want_of(x, j);
		j->fits = budgets_try(x->budgets, &want, 1, true, &j->no);
	}
	budgets_forget_tries(x->budgets);
	for (size_t i = 0; i < x->njobs; i++) {
		struct case_wish *j = &x->jobs[i];

		if (j->state == CASE_WISH_WAITS && j->fits)
			hold_and_tell(b, j);
		else if (j->state == CASE_WISH_WAITS && refusals)
			refuse_and_tell(b, j);
	}
}

int case_batch(struct case_book *b, const struct case_line *l, struct err *e)
{
	if (b->budget == NULL)
		return case_bad(l, "a batch without a budget before it", e);
	if (case_count(l, 1, "number of jobs", &b->batch, e) != 0)
		return -1;
	return 0;
}

int case_wish(struct case_book *b, const struct case_line *l, struct err *e)
{
	struct case_budget *x = b->budget;
	struct case_wish j = {0};

	if (case_count(l, 1, "job", &j.job, e) != 0 ||
	    case_number(l, 2, "nodes", 0, CASE_NODES_MAX, &j.nodes, e) != 0 ||
	    case_number(l, 3, "limit", 0, INT64_MAX / 2, &j.limit_s, e) != 0 ||
	    case_number(l, 4, "priority", INT64_MIN, INT64_MAX, &j.priority, e) != 0)
		return -1;
	if (map_get(&b->by_wish, l->fields[1]) != NULL)
		return case_bad(l, "this job is there already", e);
	map_put(&b->by_wish, l->fields[1], b);
	case_grow(&x->jobs, x->njobs, &x->jobs_cap, sizeof(*x->jobs));
	x->jobs[x->njobs++] = j;
	if (--b->batch == 0)
		decide(b, true);
	return 0;
}

/* As burstd does when machines are gone: the holds end, and what they did cost is spent. */
static void settle(struct case_budget *x, struct case_wish *j, int64_t nano)
{
	uint32_t spender = want_of(x, j).hold.spender;

	for (int64_t i = 0; i < j->nodes; i++)
		budgets_release(x->budgets, j->holds[i]);
	(void)budgets_spent(x->budgets, spender, 0, nano);
	j->state = CASE_WISH_SETTLED;
}

int case_settle(struct case_book *b, const struct case_line *l, struct err *e)
{
	struct case_budget *x = b->budget;
	uint64_t job;
	int64_t nano;

	if (case_count(l, 1, "job", &job, e) != 0 ||
	    case_number(l, 2, "cost", 0, INT64_MAX, &nano, e) != 0)
		return -1;
	for (size_t i = 0; x != NULL && i < x->njobs; i++) {
		if (x->jobs[i].job != job || x->jobs[i].state != CASE_WISH_HELD)
			continue;
		settle(x, &x->jobs[i], nano);
		tell(b, &x->jobs[i], "settle", nano, left_of(x));
		decide(b, false);
		return 0;
	}
	return case_bad(l, "no such job has a reservation", e);
}
