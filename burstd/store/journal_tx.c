/* What a transaction collects until journal_commit(). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/private.h"

struct journal_tx *journal_begin(struct journal *j)
{
	struct journal_tx *tx = mem_zalloc(sizeof(*tx));

	tx->j = j;
	return tx;
}

/* The text may contain a token. */
static void wipe_text(struct journal_tx *tx)
{
	if (tx->text != NULL)
		explicit_bzero(tx->text, tx->ntext);
	free(tx->text);
}

static void grow_text(struct journal_tx *tx, size_t need)
{
	size_t cap = 2 * need;
	char *text = mem_zalloc(cap);

	if (tx->text != NULL)
		memcpy(text, tx->text, tx->ntext);
	wipe_text(tx);
	tx->text = text;
	tx->text_cap = cap;
}

void tx_free(struct journal_tx *tx)
{
	free(tx->effects);
	free(tx->values);
	wipe_text(tx);
	free(tx);
}

void journal_abandon(struct journal_tx *tx)
{
	if (tx != NULL)
		tx_free(tx);
}

static void *grown(void *p, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return p;
	*cap = 2 * need;
	return mem_realloc(p, *cap * size);
}

static void add_effect(struct journal_tx *tx, struct tx_effect f)
{
	tx->effects = grown(tx->effects, &tx->effects_cap, tx->neffects + 1, sizeof(*tx->effects));
	f.first = tx->nvalues;
	tx->effects[tx->neffects++] = f;
}

void tx_effect(struct journal_tx *tx, const char *sql)
{
	add_effect(tx, (struct tx_effect){.sql = sql});
}

void tx_effect_by(struct journal_tx *tx, tx_write_fn write)
{
	add_effect(tx, (struct tx_effect){.write = write});
}

static void add_value(struct journal_tx *tx, struct tx_value v)
{
	tx->values = grown(tx->values, &tx->values_cap, tx->nvalues + 1, sizeof(*tx->values));
	tx->values[tx->nvalues++] = v;
	tx->effects[tx->neffects - 1].n++;
}

void tx_int(struct journal_tx *tx, int64_t v)
{
	add_value(tx, (struct tx_value){.number = v});
}

void tx_bits(struct journal_tx *tx, uint64_t v)
{
	tx_int(tx, (int64_t)v);
}

void tx_text(struct journal_tx *tx, const char *text)
{
	size_t len = strlen(text);

	if (tx->ntext + len + 1 > tx->text_cap)
		grow_text(tx, tx->ntext + len + 1);
	memcpy(tx->text + tx->ntext, text, len + 1);
	add_value(tx, (struct tx_value){.is_text = true, .number = (int64_t)len, .at = tx->ntext});
	tx->ntext += len + 1;
}
