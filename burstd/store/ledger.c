#include "store/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/ledger_private.h"

static const char sql_number[] = "SELECT value FROM number WHERE key = ?";
static const char sql_put_number[] = "INSERT INTO number (key, value) VALUES (?, ?)"
				     " ON CONFLICT (key) DO UPDATE SET value = excluded.value";
static const char sql_note[] = "SELECT text FROM note WHERE key = ?";
static const char sql_put_note[] = "INSERT INTO note (key, text) VALUES (?, ?)"
				   " ON CONFLICT (key) DO UPDATE SET text = excluded.text";
static const char sql_word[] = "SELECT id FROM word WHERE text = ?";
static const char sql_put_word[] = "INSERT INTO word (text) VALUES (?)";
static const char sql_text[] = "SELECT text FROM word WHERE id = ?";

int ledger_open(struct ledger **out, const char *path, struct err *e)
{
	struct ledger *l = mem_zalloc(sizeof(*l));
	bool existed;

	*out = NULL;
	if (db_open(&l->db, path, &ledger_kind, &existed, e) < 0) {
		free(l);
		return -1;
	}
	*out = l;
	return 0;
}

int ledger_open_to_read(struct ledger **out, const char *path, struct err *e)
{
	struct ledger *l = mem_zalloc(sizeof(*l));
	int version = 0;

	*out = NULL;
	l->to_read = true;
	if (db_open_to_read(&l->db, path, &ledger_kind, &version, e) < 0) {
		free(l);
		return -1;
	}
	if (version < ledger_kind.nsteps) {
		ledger_close(l);
		return err_set(e, ERR_IO, "%.120s: its service must be started anew, to upgrade it",
			       path);
	}
	*out = l;
	return 0;
}

void ledger_close(struct ledger *l)
{
	if (l == NULL)
		return;
	db_close(l->db);
	free(l);
}

int ledger_begin(struct ledger *l, struct err *e)
{
	return l->to_read ? db_begin_to_read(l->db, e) : db_begin(l->db, e);
}

int ledger_commit(struct ledger *l, struct err *e)
{
	return db_commit(l->db, e);
}

void ledger_rollback(struct ledger *l)
{
	db_rollback(l->db);
}

int ledger_tidy(struct ledger *l, struct err *e)
{
	return db_tidy(l->db, e);
}

/* --- for the other files -----------------------------------------------------------------------
 */

int ledger_stmt(struct ledger *l, struct db_cursor *c, const char *sql, struct err *e)
{
	*c = (struct db_cursor){.st = db_stmt(l->db, sql, e)};
	return c->st != NULL ? 0 : -1;
}

void ledger_put_text(struct db_cursor *c, const char *text)
{
	db_put_text(c, text, strlen(text));
}

int ledger_do(struct ledger *l, struct db_cursor *c, struct err *e)
{
	return db_step(l->db, c->st, e) < 0 ? -1 : 0;
}

int ledger_ask(struct ledger *l, struct db_cursor *c, int64_t *out, struct err *e)
{
	int rc = db_step(l->db, c->st, e);

	if (rc != 1)
		return rc;
	c->at = 0;
	*out = ledger_int(c);
	db_reset(c->st);
	return c->bad ? db_damaged(l->db, "number", e) : 1;
}

int ledger_add(struct ledger *l, struct db_cursor *c, int64_t *id, struct err *e)
{
	if (db_step(l->db, c->st, e) < 0)
		return -1;
	return db_added(l->db, id) ? 1 : 0;
}

int ledger_ask_text(struct ledger *l, struct db_cursor *c, char **out, struct err *e)
{
	int rc = db_step(l->db, c->st, e);

	*out = NULL;
	if (rc < 0)
		return -1;
	c->at = 0;
	*out = mem_strdup(rc == 1 ? db_get_text(c, LEDGER_TEXT_MAX) : "");
	if (rc == 1)
		db_reset(c->st);
	return 0;
}

/* --- numbers and texts -------------------------------------------------------------------------
 */

int ledger_number(struct ledger *l, const char *key, int64_t *out, struct err *e)
{
	struct db_cursor c;

	*out = 0;
	if (ledger_stmt(l, &c, sql_number, e) < 0)
		return -1;
	ledger_put_text(&c, key);
	return ledger_ask(l, &c, out, e) < 0 ? -1 : 0;
}

int ledger_put_number(struct ledger *l, const char *key, int64_t v, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_put_number, e) < 0)
		return -1;
	ledger_put_text(&c, key);
	db_put_int(&c, v);
	return ledger_do(l, &c, e);
}

int ledger_note(struct ledger *l, const char *key, char **out, struct err *e)
{
	struct db_cursor c;

	*out = NULL;
	if (ledger_stmt(l, &c, sql_note, e) < 0)
		return -1;
	ledger_put_text(&c, key);
	return ledger_ask_text(l, &c, out, e);
}

int ledger_put_note(struct ledger *l, const char *key, const char *text, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_put_note, e) < 0)
		return -1;
	ledger_put_text(&c, key);
	ledger_put_text(&c, text);
	return ledger_do(l, &c, e);
}

int ledger_word(struct ledger *l, const char *text, int64_t *id, struct err *e)
{
	struct db_cursor c;
	int rc;

	if (ledger_stmt(l, &c, sql_word, e) < 0)
		return -1;
	ledger_put_text(&c, text);
	*id = 0;
	rc = ledger_ask(l, &c, id, e);
	if (rc != 0 || l->to_read)
		return rc < 0 ? -1 : 0;
	if (ledger_stmt(l, &c, sql_put_word, e) < 0)
		return -1;
	ledger_put_text(&c, text);
	return ledger_add(l, &c, id, e) == 1 ? 0 : -1;
}

int ledger_text(struct ledger *l, int64_t id, char **out, struct err *e)
{
	struct db_cursor c;

	if (ledger_stmt(l, &c, sql_text, e) < 0)
		return -1;
	db_put_int(&c, id);
	return ledger_ask_text(l, &c, out, e);
}
