#include "ledger/spending.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/ledger_spenders.h"

enum { SECOND_MS = 1000 };

struct days { /* that are not as the copies have them */
	struct ledger *ledger;
	int64_t *v;
	size_t n, cap;
};

static int take_day(void *ctx, int64_t day, int64_t nano, struct err *e)
{
	struct days *d = ctx;
	int64_t had;

	if (ledger_job_spent_on(d->ledger, day, &had, e) < 0)
		return -1;
	if (had == nano)
		return 0;
	if (d->n == d->cap) {
		d->cap = d->cap == 0 ? 64 : 2 * d->cap;
		d->v = mem_realloc(d->v, d->cap * sizeof(*d->v));
	}
	d->v[d->n++] = day;
	return 0;
}

struct copying {
	const struct spending *s;
	int64_t nano; /* in all, on that day */
};

static int copy(void *ctx, const struct fact_job_spent *f, struct err *e)
{
	struct copying *c = ctx;

	c->nano += f->nano;
	return ledger_put_job_spent(c->s->ledger, f, c->s->now_ms, e);
}

static int copy_rows(const struct spending *s, int64_t day, int64_t *nano, struct err *e)
{
	struct copying c = {.s = s};
	int rc = journal_facts_job_spent(s->journal, day, copy, &c, e);

	*nano = c.nano;
	return rc;
}

/* An older journal that was put back lacks some that were copied: those are no more. */
static int copy_day(const struct spending *s, int64_t day, struct err *e)
{
	int64_t nano, has;

	if (ledger_begin(s->ledger, e) < 0)
		return -1;
	if (copy_rows(s, day, &nano, e) < 0 || ledger_job_spent_on(s->ledger, day, &has, e) < 0)
		goto fail;
	if (has != nano &&
	    (ledger_forget_job_spent(s->ledger, day, e) < 0 || copy_rows(s, day, &nano, e) < 0))
		goto fail;
	return ledger_commit(s->ledger, e);
fail:
	ledger_rollback(s->ledger);
	return -1;
}

static int put_mark(const struct spending *s, int64_t day, struct err *e)
{
	int64_t had;

	if (ledger_number(s->ledger, LEDGER_HELD_DAY, &had, e) < 0)
		return -1;
	if (had == day)
		return 0;
	if (ledger_begin(s->ledger, e) < 0)
		return -1;
	if (ledger_put_number(s->ledger, LEDGER_HELD_DAY, day, e) == 0)
		return ledger_commit(s->ledger, e);
	ledger_rollback(s->ledger);
	return -1;
}

int spending_copy(const struct spending *s, struct err *e)
{
	struct days d = {.ledger = s->ledger};
	int64_t from, held_ms, since;
	size_t done = 0;
	int rc;

	if (ledger_number(s->ledger, LEDGER_SINCE_MS, &since, e) < 0 ||
	    ledger_number(s->ledger, LEDGER_HELD_DAY, &from, e) < 0)
		return -1;
	if (since == 0)
		return 0;
	if (from == 0)
		from = calendar_day(s->calendar, since / SECOND_MS);
	/* First: what ends after this is held now, or begins later. */
	rc = journal_facts_held_ms(s->journal, &held_ms, e);
	if (rc == 0)
		rc = journal_facts_job_days(s->journal, from, take_day, &d, e);
	while (rc == 0 && done < d.n && (s->stops == NULL || !s->stops()))
		rc = copy_day(s, d.v[done++], e);
	if (rc == 0 && done == d.n) {
		if (held_ms > s->now_ms)
			held_ms = s->now_ms;
		/* A provider may say later that its bill began a moment earlier. */
		rc = put_mark(s, calendar_day(s->calendar, held_ms / SECOND_MS) - 1, e);
	}
	free(d.v);
	return rc;
}
