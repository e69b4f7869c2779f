#include "store/journal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/private.h"
#include "store/schema.h"

static const struct db_kind kind_of_journal = {
	.steps = schema_steps, .nsteps = SCHEMA_STEPS, .sql = journal_sql, .nsql = NSTATEMENTS};

int journal_open(struct journal **out, const char *path, bool *existed, struct err *e)
{
	struct journal *j = mem_zalloc(sizeof(*j));

	*out = NULL;
	room_init(&j->room, path);
	room_look(&j->room);
	if (j->room.free_bytes < ROOM_OPEN)
		(void)room_give(&j->room);
	if (db_open(&j->db, path, &kind_of_journal, existed, e) < 0 || chain_open(j, e) < 0) {
		db_close(j->db);
		room_fini(&j->room);
		free(j);
		return -1;
	}
	*out = j;
	return 0;
}

void journal_close(struct journal *j)
{
	if (j == NULL)
		return;
	db_close(j->db);
	room_fini(&j->room);
	free(j);
}

/* --- writing -----------------------------------------------------------------------------------
 */

bool journal_may_retry(struct journal *j)
{
	return db_was_full(j->db) && room_give(&j->room);
}

int journal_check_usable(const struct journal *j, struct err *e)
{
	if (!j->broken)
		return 0;
	return err_set(e, db_was_damaged(j->db) ? ERR_DAMAGED : ERR_IO,
		       "journal: an earlier write failed");
}

int journal_tidy(struct journal *j, struct err *e)
{
	int rc;

	if (journal_check_usable(j, e) < 0)
		return -1;
	do
		rc = db_tidy(j->db, e);
	while (rc < 0 && journal_may_retry(j));
	if (rc < 0 && db_was_full(j->db))
		return 0;
	j->broken = rc < 0;
	return rc;
}

struct journal_room journal_look(struct journal *j)
{
	room_look(&j->room);
	return (struct journal_room){.free_bytes = j->room.free_bytes, .low = j->room.low};
}

/* --- reading -----------------------------------------------------------------------------------
 */

int journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, GET_NUMBER, e)};
	int rc;

	*out = 0;
	if (c.st == NULL)
		return -1;
	db_put_text(&c, key, strlen(key));
	rc = db_step(j->db, c.st, e);
	if (rc == 1) {
		c.at = 0;
		*out = db_get_int(&c, INT64_MIN, INT64_MAX);
		db_reset(c.st);
	}
	if (rc == 1 && c.bad)
		return db_damaged(j->db, "meta", e);
	return rc < 0 ? -1 : 0;
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
	struct sqlite3_stmt *st = db_stmt(j->db, node != NULL ? EVENTS_OF_NODE : EVENTS, e);
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

static int read_usage(const struct journal *j, struct db_cursor *c, const char *node,
		      struct journal_usage *u, struct err *e)
{
	*u = (struct journal_usage){.node = node,
				    .gen = (uint64_t)db_get_int(c, INT64_MIN, INT64_MAX)};
	u->instance = db_get_text(c, JOURNAL_TEXT_MAX);
	u->pool = db_get_text(c, JOURNAL_TEXT_MAX);
	u->start_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	u->end_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	u->rate_nano_h = db_get_int(c, 0, INT64_MAX);
	u->cost_nano = db_get_int(c, INT64_MIN, INT64_MAX);
	return c->bad ? db_damaged(j->db, "usage", e) : 0;
}

int journal_usages(struct journal *j, const char *node, journal_usage_fn fn, void *ctx,
		   struct err *e)
{
	struct sqlite3_stmt *st = db_stmt(j->db, USAGES_OF_NODE, e);
	struct db_cursor c = {.st = st};
	struct journal_usage u;
	int rc = 1;

	if (st == NULL)
		return -1;
	db_put_text(&c, node, strlen(node));
	while (rc == 1 && (rc = db_step(j->db, st, e)) == 1) {
		c.at = 0;
		rc = read_usage(j, &c, node, &u, e) != 0 ? -1 : fn(ctx, &u) == 0 ? 1 : 0;
	}
	db_reset(st);
	return rc < 0 ? -1 : 0;
}

int64_t journal_last_event(struct journal *j)
{
	struct db_cursor c = {.st = db_stmt(j->db, LAST_EVENT, NULL)};
	int64_t seq = 0;

	if (c.st != NULL && db_step(j->db, c.st, NULL) == 1) {
		seq = db_get_int(&c, 0, INT64_MAX);
		db_reset(c.st);
	}
	return seq;
}
