#include "store/journal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/private.h"
#include "store/schema.h"

static const char sql_put_number[] = "INSERT INTO meta (key, value) VALUES (?, ?)"
				     " ON CONFLICT (key) DO UPDATE SET value = excluded.value";

static const char sql_get_number[] = "SELECT value FROM meta WHERE key = ?";

static const struct db_kind kind_of_journal = {.steps = schema_steps, .nsteps = SCHEMA_STEPS};

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

int journal_look_at(const char *path, struct err *e)
{
	return db_look(path, &kind_of_journal, e);
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

int journal_trim(struct journal *j, int64_t before_ms, int64_t now_ms, bool *more, struct err *e)
{
	bool events, audits;

	*more = false;
	if (journal_check_usable(j, e) < 0 || journal_trim_events(j, before_ms, &events, e) < 0 ||
	    chain_trim(j, before_ms, now_ms, &audits, e) < 0)
		return -1;
	*more = events || audits;
	return 0;
}

struct journal_room journal_look(struct journal *j)
{
	room_look(&j->room);
	return (struct journal_room){.free_bytes = j->room.free_bytes, .low = j->room.low};
}

/* --- numbers -----------------------------------------------------------------------------------
 */

void journal_put_number(struct journal_tx *tx, const char *key, int64_t value)
{
	tx_effect(tx, sql_put_number);
	tx_text(tx, key);
	tx_int(tx, value);
}

int journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, sql_get_number, e)};
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
