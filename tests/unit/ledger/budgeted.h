/* budgeted.h - puts into a fixture's journal what budgets came to, and what was added to them. */
#ifndef TESTS_LEDGER_BUDGETED_H
#define TESTS_LEDGER_BUDGETED_H

#include "tests/unit/ledger/closing.h"

enum { NOV = -9 * DAY_S }; /* the first of November, in seconds after T0 */

/* What a budget came to; times in seconds after T0, money in units. */
static inline void came_to(const struct fixture *f, const char *name, int64_t begin, int64_t end,
			   const char *figures)
{
	exec(f->journal,
	     "INSERT OR REPLACE INTO budget_period (budget, value, period, begin_ms, end_ms,"
	     " amount_nano, added_nano, carried_nano, spent_nano, held_nano, drain_ms, requeue_ms,"
	     " kill_ms, at_ms, counted, ended_ms) VALUES (%s, 'a period', %lld, %lld, %s)",
	     name, (long long)(T0 + begin) * 1000, (long long)(T0 + end) * 1000, figures);
}

/* amount, added, carried, spent, held, drain, requeue, kill, at, counted, ended */
#define UNITS(amount, added, spent, held, at)                                                      \
#amount "000000000, " #added "000000000, 0, " #spent "000000000, " #held "000000000,"      \
		" 0, 0, 0, " #at ", 'accounts physics', 0"

/* One of the budget "team", by the minister. */
static inline void override(const struct fixture *f, int id, const char *value, int64_t at,
			    int64_t until)
{
	exec(f->journal,
	     "INSERT INTO budget_override VALUES (%d, 'team', '%s', %d000000000, %lld, %lld,"
	     " 'minister', 'a <deadline> of %d', '', '', 0)",
	     id, value, 100 + id, (long long)(T0 + at) * 1000, (long long)(T0 + until) * 1000, id);
}

static inline void take_back(const struct fixture *f, int id, int64_t at)
{
	exec(f->journal,
	     "UPDATE budget_override SET until_ms = %lld, revoked_by = 'auditor',"
	     " revoked_why = 'too much' WHERE id = %d",
	     (long long)(T0 + at) * 1000, id);
}

#endif
