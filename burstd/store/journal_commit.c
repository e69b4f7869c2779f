/* Writes all effects of a transaction, or none. */
#include "store/private.h"

static int write_effect(const struct journal_tx *tx, const struct tx_effect *f, struct err *e)
{
	struct db_cursor c = {.st = NULL};

	if (f->write != NULL)
		return f->write(tx, f, e);
	c.st = db_stmt(tx->j->db, f->sql, e);
	if (c.st == NULL)
		return -1;
	for (size_t i = f->first; i < f->first + f->n; i++) {
		const struct tx_value *v = &tx->values[i];

		if (v->is_text)
			db_put_text(&c, tx->text + v->at, (size_t)v->number);
		else
			db_put_int(&c, v->number);
	}
	return db_step(tx->j->db, c.st, e);
}

static int write_all(const struct journal_tx *tx, struct err *e)
{
	struct journal *j = tx->j;
	int rc = 0;

	j->next_head = j->head; /* a second try starts from there, too */
	if (db_begin(j->db, e) < 0)
		return -1;
	for (size_t i = 0; i < tx->neffects && rc == 0; i++)
		rc = write_effect(tx, &tx->effects[i], e);
	if (rc == 0)
		rc = chain_put_head(j, e);
	if (rc < 0) {
		db_rollback(j->db);
		return -1;
	}
	if (db_commit(j->db, e) < 0)
		return -1;
	j->head = j->next_head;
	return 0;
}

int journal_commit(struct journal_tx *tx, struct err *e)
{
	struct journal *j = tx->j;
	int rc = journal_check_usable(j, e);

	if (rc == 0 && tx->neffects > 0) {
		do
			rc = write_all(tx, e);
		while (rc < 0 && journal_may_retry(j));
		j->broken = rc < 0;
	}
	tx_free(tx);
	return rc;
}
