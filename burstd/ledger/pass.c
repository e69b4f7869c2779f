#include "ledger/pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ledger/counted.h"
#include "ledger/lifetimes.h"
#include "ledger/spenders.h"
#include "ledger/spending.h"
#include "store/journal_facts.h"
#include "store/ledger_budgets.h"
#include "store/ledger_overrides.h"
#include "store/ledger_spenders.h"

/* --- facts -------------------------------------------------------------------------------------
 */

struct generation {
	char *node;
	uint64_t gen;
};

struct copying {
	struct ledger *ledger;
	struct journal_facts *journal;
	struct generation *generations; /* that the rows are about */
	size_t n, cap;
	size_t rows;
	int64_t seq, at_ms; /* of the last row */
	bool prices;        /* there are new ones */
	const char *node;   /* for buyers */
	uint64_t gen;
	int64_t now_ms;
	struct calendar *calendar;
	int64_t budgets_ms; /* of which time the newest row of a budget is */
};

static void forget(struct copying *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->generations[i].node);
	free(c->generations);
	c->generations = NULL;
	c->n = c->cap = 0;
}

static void remember(struct copying *c, const char *node, uint64_t gen)
{
	if (c->n > 0 && c->generations[c->n - 1].gen == gen &&
	    strcmp(c->generations[c->n - 1].node, node) == 0)
		return;
	if (c->n == c->cap) {
		c->cap = c->cap == 0 ? 64 : 2 * c->cap;
		c->generations = mem_realloc(c->generations, c->cap * sizeof(*c->generations));
	}
	c->generations[c->n++] = (struct generation){mem_strdup(node), gen};
}

static int copy_life(void *ctx, const struct fact_life *f, struct err *e)
{
	struct copying *c = ctx;

	c->rows++;
	c->seq = f->seq;
	c->at_ms = f->at_ms;
	remember(c, f->node, f->gen);
	return ledger_put_life(c->ledger, f, e);
}

static int copy_machine(void *ctx, const struct fact_machine *m, struct err *e)
{
	return ledger_put_machine(((struct copying *)ctx)->ledger, m, e);
}

static int copy_buyer(void *ctx, uint64_t job, struct err *e)
{
	const struct copying *c = ctx;

	return ledger_put_buyer(c->ledger, c->node, c->gen, job, e);
}

static int copy_said(void *ctx, const struct fact_said *s, struct err *e)
{
	struct copying *c = ctx;

	c->rows++;
	c->seq = s->seq;
	c->at_ms = s->at_ms;
	return ledger_put_said(c->ledger, s, e);
}

static int copy_price(void *ctx, const struct fact_price *p, struct err *e)
{
	struct copying *c = ctx;
	bool fresh = false;

	c->rows++;
	c->seq = p->seq;
	c->at_ms = p->observed_ms;
	if (ledger_put_price(c->ledger, p, &fresh, e) < 0)
		return -1;
	c->prices = c->prices || fresh;
	return 0;
}

/* The tables without a seq: by what the rows of life are about. */
static int copy_generations(struct copying *c, struct err *e)
{
	for (size_t i = 0; i < c->n; i++) {
		c->node = c->generations[i].node;
		c->gen = c->generations[i].gen;
		if (journal_facts_machine(c->journal, c->node, c->gen, copy_machine, c, e) < 0 ||
		    journal_facts_buyers(c->journal, c->node, c->gen, copy_buyer, c, e) < 0)
			return -1;
	}
	return 0;
}

struct table {
	const char *mark, *at; /* names of numbers: the last row, and when it was made */
	int (*read)(struct copying *c, int64_t after, struct err *e);
};

static int read_lives(struct copying *c, int64_t after, struct err *e)
{
	if (journal_facts_lives(c->journal, after, PASS_ROWS, copy_life, c, e) < 0)
		return -1;
	return copy_generations(c, e);
}

static int read_said(struct copying *c, int64_t after, struct err *e)
{
	return journal_facts_said(c->journal, after, PASS_ROWS, copy_said, c, e);
}

static int read_prices(struct copying *c, int64_t after, struct err *e)
{
	if (journal_facts_prices(c->journal, after, PASS_ROWS, copy_price, c, e) < 0)
		return -1;
	return c->prices ? ledger_touch_unpriced(c->ledger, e) : 0;
}

/* *more: call again. */
static int copy_some(struct copying *c, const struct table *t, bool *more, struct err *e)
{
	int64_t after;

	c->rows = 0;
	if (ledger_begin(c->ledger, e) < 0)
		return -1;
	if (ledger_number(c->ledger, t->mark, &after, e) < 0)
		goto fail;
	c->seq = after;
	if (t->read(c, after, e) < 0 || ledger_put_number(c->ledger, t->mark, c->seq, e) < 0 ||
	    (c->rows > 0 && ledger_put_number(c->ledger, t->at, c->at_ms, e) < 0))
		goto fail;
	*more = c->rows == PASS_ROWS;
	forget(c);
	return ledger_commit(c->ledger, e);
fail:
	forget(c);
	ledger_rollback(c->ledger);
	return -1;
}

static int see_life(void *ctx, const struct fact_life *f, struct err *e)
{
	struct copying *c = ctx;

	(void)e;
	c->seq = f->seq;
	c->at_ms = f->at_ms;
	return 0;
}

static int see_said(void *ctx, const struct fact_said *s, struct err *e)
{
	struct copying *c = ctx;

	(void)e;
	c->seq = s->seq;
	c->at_ms = s->at_ms;
	return 0;
}

static int see_price(void *ctx, const struct fact_price *p, struct err *e)
{
	struct copying *c = ctx;

	(void)e;
	c->seq = p->seq;
	c->at_ms = p->observed_ms;
	return 0;
}

static int see_rows(struct copying *c, const int64_t marks[3], int64_t seqs[3], int64_t at_ms[3],
		    struct err *e)
{
	for (int i = 0; i < 3; i++) {
		int rc = 0;

		c->seq = c->at_ms = 0;
		if (marks[i] == 0)
			continue;
		if (i == 0)
			rc = journal_facts_lives(c->journal, marks[i] - 1, 1, see_life, c, e);
		else if (i == 1)
			rc = journal_facts_said(c->journal, marks[i] - 1, 1, see_said, c, e);
		else
			rc = journal_facts_prices(c->journal, marks[i] - 1, 1, see_price, c, e);
		if (rc < 0)
			return -1;
		seqs[i] = c->seq;
		at_ms[i] = c->at_ms;
	}
	return 0;
}

/* Is it the file that was read before?  Another one, such as a new journal after a loss, is read
 * from its begin; rows that are known change nothing.  Each table is looked at: an older copy that
 * was put back may lack rows of one alone, and gives their numbers to others. */
static int check_file(struct copying *c, struct log *log, struct err *e)
{
	static const char *const names[][2] = {{LEDGER_LIFE_MARK, LEDGER_LIFE_AT},
					       {LEDGER_SAID_MARK, LEDGER_SAID_AT},
					       {LEDGER_PRICE_MARK, LEDGER_PRICE_AT}};
	int64_t marks[3], at_ms[3], seqs[3] = {0}, has_ms[3] = {0};
	bool same = true;

	for (int i = 0; i < 3; i++)
		if (ledger_number(c->ledger, names[i][0], &marks[i], e) < 0 ||
		    ledger_number(c->ledger, names[i][1], &at_ms[i], e) < 0)
			return -1;
	if (see_rows(c, marks, seqs, has_ms, e) < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		if (marks[i] != 0 &&
		    (seqs[i] != marks[i] || (at_ms[i] != 0 && has_ms[i] != at_ms[i])))
			same = false;
	if (same)
		return 0;
	log_write(log, LOG_WARN, "the journal is another one, and is read from its begin", NULL);
	if (ledger_begin(c->ledger, e) < 0)
		return -1;
	if (ledger_put_number(c->ledger, LEDGER_LIFE_MARK, 0, e) == 0 &&
	    ledger_put_number(c->ledger, LEDGER_SAID_MARK, 0, e) == 0 &&
	    ledger_put_number(c->ledger, LEDGER_PRICE_MARK, 0, e) == 0 &&
	    ledger_put_number(c->ledger, LEDGER_JOURNAL_MS, c->now_ms, e) == 0)
		return ledger_commit(c->ledger, e);
	ledger_rollback(c->ledger);
	return -1;
}

static bool stops(const struct pass *p)
{
	return p->stops != NULL && p->stops();
}

/* --- what budgets have -------------------------------------------------------------------------
 */

enum { SPENT_TRIES = 8 /* burstd writes while this reads */ };

static int copy_spent(void *ctx, const struct fact_spent *s, struct err *e)
{
	return ledger_put_spent(((struct copying *)ctx)->ledger, s, e);
}

static int compare_since(const struct pass *p, int64_t day, struct err *e)
{
	if (ledger_compare_from(p->ledger, day, e) < 0)
		return -1;
	return ledger_compare_jobs_from(p->ledger, day, e);
}

/* Budgets miss the ends that an older journal, put back, does not have. */
static int put_since(const struct pass *p, const struct fact_spending *s, struct err *e)
{
	int64_t since = s->since_ms, file_ms, had;

	if (ledger_number(p->ledger, LEDGER_JOURNAL_MS, &file_ms, e) < 0 ||
	    ledger_number(p->ledger, LEDGER_SINCE_MS, &had, e) < 0)
		return -1;
	if (since != 0 && since < file_ms)
		since = file_ms;
	if (since == had)
		return 0;
	if (since != 0 && compare_since(p, calendar_day(p->calendar, since / 1000), e) < 0)
		return -1;
	return ledger_put_number(p->ledger, LEDGER_SINCE_MS, since, e);
}

static int try_spent(const struct pass *p, struct copying *c, bool *same, struct err *e)
{
	struct fact_spending s;
	int64_t mark;

	if (ledger_begin(p->ledger, e) < 0)
		return -1;
	if (journal_facts_spent(c->journal, &s, copy_spent, c, e) < 0 ||
	    ledger_number(p->ledger, LEDGER_LIFE_MARK, &mark, e) < 0 || put_since(p, &s, e) < 0 ||
	    ledger_put_number(p->ledger, LEDGER_SPENT_MARK, s.seq, e) < 0) {
		ledger_rollback(p->ledger);
		return -1;
	}
	*same = s.seq == mark;
	return ledger_commit(p->ledger, e);
}

/* Copy what budgets have of the moment of which the facts are. */
static int copy_spending(const struct pass *p, struct copying *c, const struct table *lives,
			 struct err *e)
{
	bool same = false;

	for (int i = 0; i < SPENT_TRIES && !same && !stops(p); i++) {
		bool more = true;

		while (more && !stops(p))
			if (copy_some(c, lives, &more, e) < 0)
				return -1;
		if (try_spent(p, c, &same, e) < 0)
			return -1;
	}
	return 0;
}

enum { FAR_DAYS = 365 * 1000 }; /* what ends later has no end: it has no day of the zone */

static int copy_override(void *ctx, const struct fact_override *o, struct err *e)
{
	const struct copying *c = ctx;
	const int64_t until_day = o->until_ms / 86400000 < FAR_DAYS
					  ? calendar_day(c->calendar, o->until_ms / 1000)
					  : INT64_MAX;

	return ledger_put_override(c->ledger, o, calendar_day(c->calendar, o->made_ms / 1000),
				   until_day, e);
}

static int copy_overrides(struct copying *c, struct err *e)
{
	if (ledger_begin(c->ledger, e) < 0)
		return -1;
	if (journal_facts_overrides(c->journal, copy_override, c, e) == 0)
		return ledger_commit(c->ledger, e);
	ledger_rollback(c->ledger);
	return -1;
}

/* --- what budgets came to ----------------------------------------------------------------------
 */

enum { BUDGETS_AGAIN_MS = 3600000 }; /* burstd's clock may have been set back */

static int copy_budget(void *ctx, const struct fact_budget *b, struct err *e)
{
	struct copying *c = ctx;

	if (b->at_ms > c->budgets_ms)
		c->budgets_ms = b->at_ms;
	return ledger_put_budget(c->ledger, b, calendar_day(c->calendar, (b->end_ms - 1) / 1000),
				 e);
}

static int copy_budgets(struct copying *c, struct err *e)
{
	if (ledger_begin(c->ledger, e) < 0)
		return -1;
	if (ledger_number(c->ledger, LEDGER_BUDGETS_MARK, &c->budgets_ms, e) == 0 &&
	    journal_facts_budgets(c->journal, c->budgets_ms - BUDGETS_AGAIN_MS, copy_budget, c,
				  e) == 0 &&
	    ledger_put_number(c->ledger, LEDGER_BUDGETS_MARK, c->budgets_ms, e) == 0)
		return ledger_commit(c->ledger, e);
	ledger_rollback(c->ledger);
	return -1;
}

static int copy_all(const struct pass *p, struct copying *c, struct err *e)
{
	static const struct table tables[] = {{LEDGER_SAID_MARK, LEDGER_SAID_AT, read_said},
					      {LEDGER_PRICE_MARK, LEDGER_PRICE_AT, read_prices}};
	static const struct table lives = {LEDGER_LIFE_MARK, LEDGER_LIFE_AT, read_lives};
	const struct spending jobs = {.ledger = p->ledger,
				      .journal = c->journal,
				      .calendar = p->calendar,
				      .now_ms = c->now_ms,
				      .stops = p->stops};

	if (check_file(c, p->log, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (bool more = true; more && !stops(p);)
			if (copy_some(c, &tables[i], &more, e) < 0)
				return -1;
	if (copy_overrides(c, e) < 0 || copy_budgets(c, e) < 0)
		return -1;
	return copy_spending(p, c, &lives, e) < 0 ? -1 : spending_copy(&jobs, e);
}

static int note(const struct pass *p, const char *why, int64_t now_ms, struct err *e)
{
	if (ledger_begin(p->ledger, e) < 0)
		return -1;
	if (ledger_put_note(p->ledger, LEDGER_FACTS_WHY, why, e) == 0 &&
	    (why[0] != '\0' || ledger_put_number(p->ledger, LEDGER_FACTS_MS, now_ms, e) == 0))
		return ledger_commit(p->ledger, e);
	ledger_rollback(p->ledger);
	return -1;
}

int pass_facts(const struct pass *p, int64_t now_ms, struct err *e)
{
	struct copying c = {.ledger = p->ledger, .now_ms = now_ms, .calendar = p->calendar};
	struct err why = {0};
	int rc;

	if (journal_facts_open(&c.journal, p->journal, &why) < 0) {
		log_write(p->log, LOG_WARN, "the journal cannot be read", "why", why.msg, NULL);
		if (note(p, why.msg, now_ms, e) < 0)
			return -1;
		if (why.code == ERR_INVALID || why.code == ERR_DAMAGED)
			return err_set(e, (enum err_code)why.code, "%s", why.msg);
		return 0; /* it may come back */
	}
	rc = copy_all(p, &c, &why);
	journal_facts_close(c.journal);
	if (rc == 0)
		return note(p, "", now_ms, e);
	if (why.code != ERR_IO)
		return err_set(e, (enum err_code)why.code, "%s", why.msg);
	log_write(p->log, LOG_WARN, "the facts cannot be copied", "why", why.msg, NULL);
	return note(p, why.msg, now_ms, e);
}

/* --- computing ---------------------------------------------------------------------------------
 */

static int write_some(const struct book *book, const struct lifetimes *t, struct err *e)
{
	bool changed;

	if (ledger_begin(book->ledger, e) < 0)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		if (book_write(book, &t->v[i], &changed, e) < 0) {
			ledger_rollback(book->ledger);
			return err_wrap(e, "%s, instance %s", t->v[i].node, t->v[i].instance);
		}
	return ledger_commit(book->ledger, e);
}

static int compute_all(const struct pass *p, const struct book *book, struct lifetimes *t,
		       struct err *e)
{
	do {
		if (lifetimes_next(t, p->ledger, true, e) < 0 ||
		    (t->n > 0 && write_some(book, t, e) < 0))
			return -1;
	} while (!t->over && !stops(p));
	return 0;
}

int pass_compute(const struct pass *p, int64_t now_ms, struct err *e)
{
	struct book book = {.ledger = p->ledger,
			    .calendar = p->calendar,
			    .now_ms = now_ms,
			    .currency = p->currency};
	struct lifetimes *all = mem_zalloc(sizeof(*all));
	int rc = ledger_number(p->ledger, LEDGER_JOBS_MS, &book.jobs_ms, e);

	if (rc == 0)
		rc = compute_all(p, &book, all, e);
	lifetimes_fini(all);
	free(all);
	if (rc < 0 || ledger_begin(p->ledger, e) < 0)
		return -1;
	if ((!stops(p) && (counted_compare(p->ledger, p->calendar, e) < 0 ||
			   spenders_compare(p->ledger, p->calendar, e) < 0)) ||
	    ledger_put_number(p->ledger, LEDGER_PASS_MS, now_ms, e) < 0) {
		ledger_rollback(p->ledger);
		return -1;
	}
	return ledger_commit(p->ledger, e) < 0 ? -1 : ledger_tidy(p->ledger, e);
}

int pass_run(const struct pass *p, int64_t now_ms, struct err *e)
{
	int64_t facts_ms;

	if (pass_facts(p, now_ms, e) < 0 ||
	    ledger_number(p->ledger, LEDGER_FACTS_MS, &facts_ms, e) < 0)
		return -1;
	/* A job is kept for its nodes, which the facts name. */
	if (facts_ms == now_ms && jobs_read(&p->jobs, now_ms, e) < 0)
		return -1;
	return pass_compute(p, now_ms, e);
}
