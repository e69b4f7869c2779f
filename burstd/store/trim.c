/* Deletes old events: journal_trim(). */
#include "store/private.h"

/* Get the single number of a query. */
static int ask(struct journal *j, struct db_cursor *c, int64_t *out, struct err *e)
{
	int rc = db_step(j->db, c->st, e);

	if (rc < 1)
		return -1;
	c->at = 0;
	*out = db_get_int(c, 0, INT64_MAX);
	db_reset(c->st);
	return c->bad ? db_damaged(j->db, "event", e) : 0;
}

/* *upto: the newest event to forget, 0 for none; *first: the oldest there is. */
static int find_old(struct journal *j, int64_t before_ms, int64_t *upto, int64_t *first,
		    struct err *e)
{
	struct db_cursor lo = {.st = db_stmt(j->db, FIRST_EVENT, e)};
	struct db_cursor hi = {.st = db_stmt(j->db, LAST_EVENT, e)};
	struct db_cursor old = {.st = db_stmt(j->db, OLD_EVENT, e)};
	int64_t last;

	if (lo.st == NULL || hi.st == NULL || old.st == NULL)
		return -1;
	db_put_int(&old, JOURNAL_TRIM);
	db_put_int(&old, before_ms);
	if (ask(j, &lo, first, e) < 0 || ask(j, &hi, &last, e) < 0 || ask(j, &old, upto, e) < 0)
		return -1;
	/* Numbers have no gaps unless somebody made them, so this is a count. */
	if (last - JOURNAL_EVENTS_MAX > *upto)
		*upto = last - JOURNAL_EVENTS_MAX;
	return 0;
}

static int del_events(struct journal *j, int64_t upto, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, DEL_EVENTS, e)};

	if (c.st == NULL)
		return -1;
	db_put_int(&c, upto);
	return db_step(j->db, c.st, e); /* a single statement is a transaction of its own */
}

static int trim_events(struct journal *j, int64_t before_ms, bool *more, struct err *e)
{
	int64_t upto, first;

	*more = false;
	if (find_old(j, before_ms, &upto, &first, e) < 0) {
		j->broken = true;
		return -1;
	}
	if (first == 0 || upto < first)
		return 0;
	*more = upto >= first + JOURNAL_TRIM - 1;
	if (*more)
		upto = first + JOURNAL_TRIM - 1;
	if (del_events(j, upto, e) == 0)
		return 0;
	*more = false;
	j->broken = !db_was_full(j->db); /* trimming gets no room from the reserve */
	return j->broken ? -1 : 0;
}

int journal_trim(struct journal *j, int64_t before_ms, int64_t now_ms, bool *more, struct err *e)
{
	bool events, audits;

	*more = false;
	if (journal_check_usable(j, e) < 0 || trim_events(j, before_ms, &events, e) < 0 ||
	    chain_trim(j, before_ms, now_ms, &audits, e) < 0)
		return -1;
	*more = events || audits;
	return 0;
}
