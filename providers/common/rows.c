#include "providers/common/rows.h"

#include <assert.h>
#include <string.h>

/* The field with this key, or nfields.  The search starts after the field before, as rows are
 * usually in order. */
static size_t field_of(const struct rows *rows, const struct jpull_value *key, size_t before)
{
	for (size_t k = 1; k <= rows->nfields; k++)
		if (jpull_is(key, rows->fields[(before + k) % rows->nfields]))
			return (before + k) % rows->nfields;
	return rows->nfields;
}

static int read_row(const struct rows *rows, struct jpull *j, struct jpull_value *v)
{
	struct jpull_value key;
	size_t last = rows->nfields - 1;

	memset(v, 0, rows->nfields * sizeof(*v));
	(void)jpull_enter(j, '{');
	while (jpull_key(j, &key)) {
		struct jpull_value value = jpull_take(j);
		size_t f = field_of(rows, &key, last);

		if (f == rows->nfields)
			continue;
		if (v[f].type != JPULL_NONE)
			return -1;
		v[f] = value;
		last = f;
	}
	return j->bad ? -1 : 0;
}

static int read_list(const struct rows *rows, struct jpull *j)
{
	struct jpull_value v[ROWS_FIELDS_MAX];

	if (!jpull_enter(j, '['))
		return -1;
	for (size_t i = 0; jpull_item(j); i++)
		if (i == rows->max || read_row(rows, j, v) != 0 || rows->fn(rows->ctx, i, v) != 0)
			return -1;
	return 0;
}

int rows_read(const struct rows *rows, const char *body, size_t len, struct jpull_value *cursor)
{
	struct jpull_value key, first = {.type = JPULL_NONE};
	const char *next = rows->cursor != NULL ? rows->cursor : "cursor";
	bool found = false;
	struct jpull j;

	assert(rows->nfields > 0 && rows->nfields <= ROWS_FIELDS_MAX);
	jpull_init(&j, body != NULL ? body : "", len);
	(void)jpull_enter(&j, '{');
	while (jpull_key(&j, &key)) {
		if (cursor != NULL && jpull_is(&key, next)) {
			if (first.type != JPULL_NONE)
				return -1;
			*cursor = first = jpull_take(&j);
		} else if (!jpull_is(&key, rows->list)) {
			(void)jpull_take(&j);
		} else if (found || read_list(rows, &j) != 0) {
			return -1;
		} else {
			found = true;
		}
	}
	return jpull_end(&j) && found ? 0 : -1;
}
