/* Writes what each budget came to in each of its periods: so a restart knows how far its ladder had
 * got, what was not spent in one month can roll over to the next, and the ledger can show it.
 *
 * Sums change with each job, so they are written some minutes late.  They can be computed from
 * holds and days again; that a budget was there in a period, with which amount, what was added to
 * it, and when a step was reached, cannot, and is written at once.  A period that has ended is
 * written as soon as the next one begins, and as what still ran at its end is settled. */
#include "money/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum {
	LINES_MS = 600000,   /* between two rows of one line if only sums have changed */
	LINES_AT_ONCE = 500, /* rows in one transaction, so that no hook waits long for it */
	LINES_LOOK = 5000,   /* lines that are looked at in one turn, likewise */
	LINES_DAYS_MS = 86400000,
	LINES_KEEP_DAYS = 800, /* as days are kept: a year's period, and the one before */
};

void money_line_key(char out[MONEY_LINE_SIZE], const char *budget, const char *value)
{
	(void)snprintf(out, MONEY_LINE_SIZE, "%s\n%s", budget, value);
}

static int64_t begin_of(const struct budget_line *l)
{
	return l->budget->period_rule.kind == PERIOD_ROLLING ? 0 : l->period.begin_ms;
}

static struct money_line *make(struct engine *e, const char *key)
{
	struct money_state *m = e->money;
	struct money_line *x = map_get(&m->lines, key);

	if (x != NULL)
		return x;
	x = mem_zalloc(sizeof(*x));
	(void)snprintf(x->key, sizeof(x->key), "%s", key);
	m->all_lines = mem_realloc(m->all_lines, (m->nlines + 1) * sizeof(struct money_line *));
	m->all_lines[m->nlines++] = x;
	map_put(&m->lines, x->key, x);
	return x;
}

struct money_line *money_line_of(struct engine *e, const struct budget_line *l)
{
	char key[MONEY_LINE_SIZE];
	struct money_line *x;

	money_line_key(key, l->budget->name, l->value);
	x = make(e, key);
	if (x->begin_ms != begin_of(l)) { /* a new period, in which nothing has happened yet */
		memset(x->since_ms, 0, sizeof(x->since_ms));
		x->written_ms = 0;
		x->begin_ms = begin_of(l);
	}
	return x;
}

const struct money_line *money_line_find(const struct engine *e, const struct budget_line *l)
{
	char key[MONEY_LINE_SIZE];
	const struct money_line *x;

	money_line_key(key, l->budget->name, l->value);
	x = map_get(&e->money->lines, key);
	return x != NULL && x->begin_ms == begin_of(l) ? x : NULL;
}

/* --- writing -------------------------------------------------------------------------------------
 */

/* Whose costs the budget counts, as text; a long one ends in "...". */
static const char *counted_of(char out[JOURNAL_BUDGET_COUNTED_MAX + 1], const struct conf_budget *b)
{
	struct str s;

	str_init(&s, JOURNAL_BUDGET_COUNTED_MAX - 3);
	budget_print_counted(&s, b);
	(void)snprintf(out, JOURNAL_BUDGET_COUNTED_MAX + 1, "%s%s", s.p, s.full ? "..." : "");
	str_fini(&s);
	return out;
}

void money_line_write(struct engine *e, struct money_line *m, const struct budget_line *l)
{
	char counted[JOURNAL_BUDGET_COUNTED_MAX + 1];
	struct budget_span span;
	struct journal_budget row = {.budget = l->budget->name,
				     .value = l->value,
				     .counted = counted_of(counted, l->budget),
				     .period = l->period.name,
				     .begin_ms = m->begin_ms,
				     .end_ms = l->period.end_ms,
				     .amount = l->amount,
				     .added = l->added,
				     .carried = l->carried,
				     .spent = l->spent,
				     .held = l->held,
				     .at_ms = engine_now(e)};

	for (int s = 0; s < BUDGET_NSTEPS; s++)
		row.since_ms[s] = m->since_ms[s];
	m->amount = l->amount;
	m->own = l->own;
	m->added = l->added;
	m->carried = l->carried;
	m->spent = l->spent;
	m->held = l->held;
	m->written_ms = row.at_ms;
	journal_put_budget(engine_tx(e), &row);
	if (m->begin_ms == 0)
		return;
	span = (struct budget_span){m->begin_ms, l->period.end_ms};
	budgets_existed(e->money->budgets, l->budget->name, "", &span,
			l->value[0] != '\0' ? l->budget->amount_nano : l->own);
	budgets_existed(e->money->budgets, l->budget->name, l->value, &span, l->own);
}

static bool has_changed(const struct money_line *m, const struct budget_line *l)
{
	return m->amount != l->amount || m->added != l->added || m->carried != l->carried ||
	       m->spent != l->spent || m->held != l->held;
}

/* Must its row be written now? */
static bool is_due(const struct money_line *m, const struct budget_line *l, int64_t now)
{
	if (m->written_ms == 0 || m->own != l->own || m->added != l->added)
		return true;
	return now >= m->written_ms + LINES_MS && has_changed(m, l);
}

/* Write what the period that ended last came to, if that has changed.  true: it has. */
static bool write_last(struct engine *e, struct money_line *m, const struct budget_line *l)
{
	const struct money_last had = m->last, last = {.begin_ms = l->last.begin_ms,
						       .spent = l->last_spent,
						       .held = l->last_held,
						       .written_ms = engine_now(e)};
	char counted[JOURNAL_BUDGET_COUNTED_MAX + 1];

	if (!l->has_last)
		return false;
	if (had.begin_ms == last.begin_ms && had.written_ms != 0 &&
	    (last.written_ms < had.written_ms + LINES_MS ||
	     (had.spent == last.spent && had.held == last.held)))
		return false;
	m->last = last;
	journal_put_budget_end(engine_tx(e),
			       &(struct journal_budget){.budget = l->budget->name,
							.value = l->value,
							.counted = counted_of(counted, l->budget),
							.period = l->last.name,
							.begin_ms = last.begin_ms,
							.end_ms = l->last.end_ms,
							.amount = l->last_amount,
							.spent = last.spent,
							.held = last.held,
							.at_ms = last.written_ms});
	return true;
}

/* Of a budget with `each` nobody may spend anything in a period in which it is there all the same.
 * true: its row was written. */
static bool write_bare(struct engine *e, const struct conf_budget *of)
{
	struct budget_line l = {
		.budget = of, .value = "", .amount = of->amount_nano, .own = of->amount_nano};
	struct money_line *m;

	if (of->each == CONF_EACH_NONE || of->amount_nano == 0 || of->rollover == 0)
		return false;
	l.when = period_find(&of->period_rule, e->d.report_zone, engine_now(e), &l.period);
	m = money_line_of(e, &l);
	if (m->written_ms != 0 && m->own == l.own)
		return false;
	money_line_write(e, m, &l);
	return true;
}

/* Returns how many rows it wrote. */
static size_t watch_line(struct engine *e, const struct budget_line *l, int64_t now)
{
	struct money_line *m = money_line_of(e, l);
	size_t written = write_last(e, m, l);

	if (l->when != PERIOD_NOW || !is_due(m, l, now))
		return written;
	money_line_write(e, m, l);
	return written + 1;
}

void money_lines_watch(struct engine *e)
{
	struct budgets *b = e->money->budgets;
	int64_t now = engine_now(e);
	size_t written = 0, n = budgets_lines(b), *next = &e->money->lines_next;

	for (size_t k = 0; k < n && k < LINES_LOOK && written < LINES_AT_ONCE; k++) {
		const struct budget_line l = budgets_line(b, (*next)++ % n);

		if (l.limited)
			written += watch_line(e, &l, now);
	}
	for (size_t i = 0; i < e->conf->nbudgets && written < LINES_AT_ONCE; i++)
		written += write_bare(e, &e->conf->budgets[i]);
	if (now < e->money->lines_forget_ms)
		return;
	e->money->lines_forget_ms = now + LINES_DAYS_MS;
	journal_del_budgets(engine_tx(e), now - LINES_KEEP_DAYS * (int64_t)LINES_DAYS_MS);
}

/* The budget that the line is of now; NULL: none, or it has other lines. */
static const struct conf_budget *budget_of(const struct engine *e, const struct money_line *m,
					   char name[MONEY_LINE_SIZE], const char **value)
{
	size_t n = strcspn(m->key, "\n");

	(void)snprintf(name, MONEY_LINE_SIZE, "%.*s", (int)n, m->key);
	*value = m->key + n + 1;
	return conf_budget_lacks(e->conf, name, *value) == NULL ? conf_budget_named(e->conf, name)
								: NULL;
}

static void configure_line(struct engine *e, struct money_line *m)
{
	char name[MONEY_LINE_SIZE];
	const char *value;
	const struct conf_budget *of = budget_of(e, m, name, &value);
	const uint32_t at[BUDGET_NSTEPS] = {0, of != NULL ? of->drain_at : 0,
					    of != NULL ? of->requeue_at : 0,
					    of != NULL ? of->kill_at : 0};
	struct journal_budget row = {.budget = name, .value = value, .begin_ms = m->begin_ms};
	bool changed = false;

	for (int s = BUDGET_DRAINS; s < BUDGET_NSTEPS; s++) {
		if (at[s] == 0 && m->since_ms[s] != 0) {
			m->since_ms[s] = 0;
			changed = true;
		}
		row.since_ms[s] = m->since_ms[s];
	}
	if (changed)
		journal_put_budget_steps(engine_tx(e), &row);
}

void money_lines_configure(struct engine *e)
{
	for (size_t i = 0; i < e->money->nlines; i++)
		configure_line(e, e->money->all_lines[i]);
}

/* --- life ----------------------------------------------------------------------------------------
 */

void money_lines_init(struct engine *e)
{
	map_init(&e->money->lines);
}

void money_lines_free(struct engine *e)
{
	for (size_t i = 0; i < e->money->nlines; i++)
		free(e->money->all_lines[i]);
	free(e->money->all_lines);
	map_fini(&e->money->lines);
}

int money_lines_load(struct engine *e, const struct journal_budget *b)
{
	char key[MONEY_LINE_SIZE];
	struct money_line *m;

	money_line_key(key, b->budget, b->value);
	m = make(e, key);
	m->begin_ms = b->begin_ms;
	for (int s = 0; s < BUDGET_NSTEPS; s++)
		m->since_ms[s] = b->since_ms[s] < engine_now(e) ? b->since_ms[s] : engine_now(e);
	m->amount = b->amount;
	m->own = b->amount - b->added - b->carried;
	m->added = b->added;
	m->carried = b->carried;
	m->spent = b->spent;
	m->held = b->held;
	m->written_ms = b->at_ms < engine_now(e) ? b->at_ms : engine_now(e);
	return 0;
}

int money_lines_load_past(struct engine *e, const struct journal_past *p)
{
	const struct conf_budget *of = conf_budget_named(e->conf, p->budget);
	int64_t amount = p->amount >= 0 || of == NULL ? p->amount : of->amount_nano;

	if (e->money->budgets != NULL && p->span.begin_ms != 0 && amount >= 0)
		budgets_existed(e->money->budgets, p->budget, p->value, &p->span, amount);
	return 0;
}
