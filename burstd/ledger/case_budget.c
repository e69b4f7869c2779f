#include "ledger/case_private.h"

#include <inttypes.h>

#include "base/clamp.h"

/* Cases of a budget (case.h). */

int case_budget(struct case_book *b, const struct case_line *l, struct err *e)
{
	static const char *const names[] = {"amount", "spent", "accrued", "committed"};
	int64_t v[4], left;

	if (b->has_budget)
		return case_bad(l, "a second budget", e);
	for (size_t i = 0; i < 4; i++)
		if (case_number(l, i + 1, names[i], 0, INT64_MAX, &v[i], e) != 0)
			return -1;
	left = v[0];
	for (size_t i = 1; i < 4; i++)
		if (__builtin_sub_overflow(left, v[i], &left))
			return case_bad(l, "its amounts are too large", e);
	b->budget.left = left;
	b->has_budget = true;
	if (case_number(l, 5, "ceiling", 0, INT64_MAX, &b->budget.ceiling_nano_h, e) != 0 ||
	    case_number(l, 6, "boot", 0, CASE_TIME_MAX, &b->budget.boot_s, e) != 0 ||
	    case_number(l, 7, "idle", 0, CASE_TIME_MAX, &b->budget.idle_s, e) != 0 ||
	    case_number(l, 8, "teardown", 0, CASE_TIME_MAX, &b->budget.teardown_s, e) != 0)
		return -1;
	return case_number(l, 9, "granularity", 1, CASE_TIME_MAX, &b->budget.granularity_s, e);
}

static int64_t shortage(const struct reserve_budget *budget, const struct reserve_job *j)
{
	return budget->left == INT64_MIN ? INT64_MAX : clamp_add(j->held, -budget->left);
}

static void tell(void *ctx, const struct reserve_budget *budget, const struct reserve_job *j)
{
	struct case_book *b = ctx;
	bool fits = j->state == RESERVE_HELD;

	str_addf(b->out, "%s,%" PRIu64 ",%" PRId64 ",%" PRId64 "%s", fits ? "admit" : "refuse",
		 j->job, j->held, fits ? budget->left : shortage(budget, j), b->eol);
}

/* Of those that were refused before only who fits now is told. */
static void tell_admitted(void *ctx, const struct reserve_budget *budget,
			  const struct reserve_job *j)
{
	if (j->state == RESERVE_HELD)
		tell(ctx, budget, j);
}

int case_batch(struct case_book *b, const struct case_line *l, struct err *e)
{
	if (!b->has_budget)
		return case_bad(l, "a batch without a budget before it", e);
	if (case_count(l, 1, "number of jobs", &b->batch, e) != 0)
		return -1;
	return 0;
}

int case_wish(struct case_book *b, const struct case_line *l, struct err *e)
{
	struct reserve_job j = {0};

	if (case_count(l, 1, "job", &j.job, e) != 0 ||
	    case_number(l, 2, "nodes", 0, INT32_MAX, &j.nodes, e) != 0 ||
	    case_number(l, 3, "limit", 0, INT64_MAX / 2, &j.limit_s, e) != 0 ||
	    case_number(l, 4, "priority", INT64_MIN, INT64_MAX, &j.priority, e) != 0)
		return -1;
	if (map_get(&b->by_wish, l->fields[1]) != NULL)
		return case_bad(l, "this job is there already", e);
	map_put(&b->by_wish, l->fields[1], b);
	case_grow(&b->jobs, b->njobs, &b->jobs_cap, sizeof(*b->jobs));
	b->jobs[b->njobs++] = j;
	if (--b->batch == 0)
		reserve_batch(&b->budget, b->jobs, b->njobs, tell, b);
	return 0;
}

int case_settle(struct case_book *b, const struct case_line *l, struct err *e)
{
	uint64_t job;
	int64_t nano;

	if (case_count(l, 1, "job", &job, e) != 0 ||
	    case_number(l, 2, "cost", 0, INT64_MAX, &nano, e) != 0)
		return -1;
	for (size_t i = 0; i < b->njobs; i++) {
		if (b->jobs[i].job != job || b->jobs[i].state != RESERVE_HELD)
			continue;
		reserve_settle(&b->budget, &b->jobs[i], nano);
		str_addf(b->out, "settle,%" PRIu64 ",%" PRId64 ",%" PRId64 "%s", job, nano,
			 b->budget.left, b->eol);
		reserve_batch(&b->budget, b->jobs, b->njobs, tell_admitted, b);
		return 0;
	}
	return case_bad(l, "no such job has a reservation", e);
}
