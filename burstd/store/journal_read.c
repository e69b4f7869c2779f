/* Reads the rows of a table at the start. */
#include "store/private.h"

int journal_get_word(struct db_cursor *c, int (*parse)(const char *))
{
	int v = parse(db_get_text(c, JOURNAL_TEXT_MAX));

	c->bad = c->bad || v < 0;
	return v < 0 ? 0 : v;
}

int journal_read(struct journal *j, const char *sql, journal_read_fn read,
		 const struct journal_visitor *v, struct err *e)
{
	struct sqlite3_stmt *st = db_stmt(j->db, sql, e);
	int rc = -1;

	if (st == NULL)
		return -1;
	while ((rc = db_step(j->db, st, e)) == 1) {
		struct db_cursor c = {.st = st};

		if (read(j, &c, v, e) < 0) {
			db_reset(st);
			return -1;
		}
	}
	return rc;
}
