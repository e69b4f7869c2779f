/* The table of events, and how old ones are deleted. */
#include "store/journal_events.h"

#include <string.h>

#include "store/private.h"

static const char sql_put_event[] =
	"INSERT INTO event (at_ms, node, gen, type, detail) VALUES (?, ?, ?, ?, ?)";

static const char sql_events[] = "SELECT seq, at_ms, node, gen, type, detail FROM event"
				 " WHERE seq > ? ORDER BY seq LIMIT ?";

static const char sql_events_of_node[] = "SELECT seq, at_ms, node, gen, type, detail FROM event"
					 " WHERE node = ? AND seq > ? ORDER BY seq LIMIT ?";

/* The last number used, even if all events are forgotten. */
static const char sql_last_event[] =
	"SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'event'), 0)";

static const char sql_first_event[] = "SELECT COALESCE(MIN(seq), 0) FROM event";

/* Looks only at the oldest; their times need not grow, as a clock may have gone back. */
static const char sql_old_event[] =
	"SELECT COALESCE(MAX(seq), 0) FROM"
	" (SELECT seq, at_ms FROM event ORDER BY seq LIMIT ?) WHERE at_ms < ?";

static const char sql_del_events[] = "DELETE FROM event WHERE seq <= ?";

void journal_put_event(struct journal_tx *tx, int64_t at_ms, const char *node, uint64_t gen,
		       const char *type, const char *detail)
{
	tx_effect(tx, sql_put_event);
	tx_int(tx, at_ms);
	tx_text(tx, node);
	tx_bits(tx, gen);
	tx_text(tx, type);
	tx_text(tx, detail);
}

static int read_event(const struct journal *j, struct db_cursor *c, journal_event_fn fn, void *ctx,
		      struct err *e)
{
	struct journal_event ev = {.seq = db_get_int(c, 1, INT64_MAX)};

	ev.at_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	ev.node = db_get_text(c, JOURNAL_TEXT_MAX);
	ev.gen = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX);
	ev.type = db_get_text(c, JOURNAL_TEXT_MAX);
	ev.detail = db_get_text(c, JOURNAL_TEXT_MAX);
	if (c->bad)
		return db_damaged(j->db, "event", e);
	return fn(ctx, &ev) == 0 ? 1 : 0;
}

int journal_events(struct journal *j, int64_t after, const char *node, unsigned limit,
		   journal_event_fn fn, void *ctx, struct err *e)
{
	struct sqlite3_stmt *st = db_stmt(j->db, node != NULL ? sql_events_of_node : sql_events, e);
	struct db_cursor c = {.st = st};
	int rc = 1;

	if (st == NULL)
		return -1;
	if (node != NULL)
		db_put_text(&c, node, strlen(node));
	db_put_int(&c, after);
	db_put_int(&c, limit);
	while (rc == 1 && (rc = db_step(j->db, st, e)) == 1) {
		c.at = 0;
		rc = read_event(j, &c, fn, ctx, e);
	}
	db_reset(st);
	return rc < 0 ? -1 : 0;
}

int64_t journal_last_event(struct journal *j)
{
	struct db_cursor c = {.st = db_stmt(j->db, sql_last_event, NULL)};
	int64_t seq = 0;

	if (c.st != NULL && db_step(j->db, c.st, NULL) == 1) {
		seq = db_get_int(&c, 0, INT64_MAX);
		db_reset(c.st);
	}
	return seq;
}

/* --- forgetting --------------------------------------------------------------------------------
 */

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
	struct db_cursor lo = {.st = db_stmt(j->db, sql_first_event, e)};
	struct db_cursor hi = {.st = db_stmt(j->db, sql_last_event, e)};
	struct db_cursor old = {.st = db_stmt(j->db, sql_old_event, e)};
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
	struct db_cursor c = {.st = db_stmt(j->db, sql_del_events, e)};

	if (c.st == NULL)
		return -1;
	db_put_int(&c, upto);
	return db_step(j->db, c.st, e); /* a single statement is a transaction of its own */
}

int journal_trim_events(struct journal *j, int64_t before_ms, bool *more, struct err *e)
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
