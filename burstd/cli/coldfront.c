#include "cli/coldfront.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/date.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/plain.h"
#include "core/budget.h"

#define ACCOUNT "slurm_account_name"

struct reading {
	struct coldfront *out;
	const char *attribute;
	int64_t today;
	int64_t id; /* of the allocation that is being read */
};

/* What somebody else wrote, short and fit for a terminal. */
static const char *shown(char out[64], const char *text)
{
	(void)snprintf(out, 64, "%.60s", text);
	plain_make(out, '?');
	return out;
}

/* The value of the attribute; NULL: it is not there.  -1: it is there twice, or is no text. */
static int attribute_of(const struct reading *r, const json_t *attributes, const char *name,
			const char **value, struct err *e)
{
	char text[64];
	const json_t *a;
	size_t i;

	*value = NULL;
	json_array_foreach(attributes, i, a)
	{
		const char *type =
			json_string_value(json_object_get(a, "allocation_attribute_type"));

		if (type == NULL)
			return err_set(e, ERR_INVALID,
				       "allocation %" PRId64 ": allocation_attributes[%zu]: has no "
				       "\"allocation_attribute_type\"",
				       r->id, i);
		if (strcmp(type, name) != 0)
			continue;
		if (*value != NULL)
			return err_set(e, ERR_INVALID,
				       "allocation %" PRId64 ": \"%s\": is there twice", r->id,
				       shown(text, name));
		*value = json_string_value(json_object_get(a, "value"));
		if (*value == NULL)
			return err_set(e, ERR_INVALID,
				       "allocation %" PRId64 ": \"%s\": the value is no text",
				       r->id, shown(text, name));
	}
	return 0;
}

static int read_account(const struct reading *r, const char *text, struct coldfront_row *row,
			struct err *e)
{
	char said[64];

	if (text == NULL)
		return err_set(e, ERR_INVALID,
			       "allocation %" PRId64 ": has an amount, and no \"" ACCOUNT "\"",
			       r->id);
	if (text[0] == '\0' || strlen(text) > PAYER_NAME_MAX || !plain_is(text) ||
	    strpbrk(text, " /,") != NULL)
		return err_set(e, ERR_INVALID,
			       "allocation %" PRId64 ": \"" ACCOUNT "\": \"%s\" is no account of "
			       "Slurm's",
			       r->id, shown(said, text));
	budget_fold(row->account, text);
	return 0;
}

static int read_amount(const struct reading *r, const char *text, struct coldfront_row *row,
		       struct err *e)
{
	char name[64], said[64];
	struct err why = {0};

	if (fmt_money_parse(text, &row->nano, &why) != 0 || row->nano < 0)
		return err_set(e, ERR_INVALID,
			       "allocation %" PRId64
			       ": \"%s\": \"%s\" is no amount, such as 500.00",
			       r->id, shown(name, r->attribute), shown(said, text));
	return 0;
}

static int read_end(const struct reading *r, const json_t *end, struct coldfront_row *row,
		    struct err *e)
{
	row->last_day = COLDFRONT_NO_END;
	if (end == NULL || json_is_null(end) ||
	    (json_is_string(end) && date_parse(json_string_value(end), &row->last_day)))
		return 0;
	return err_set(e, ERR_INVALID,
		       "allocation %" PRId64 ": \"end_date\": want a date, such as 2026-12-31, or "
		       "null",
		       r->id);
}

/* Those that ColdFront itself gives to Slurm. */
static bool is_active(const char *status)
{
	return strcmp(status, "Active") == 0 || strcmp(status, "Renewal Requested") == 0;
}

static int read_row(struct reading *r, const json_t *row, struct err *e)
{
	const json_t *attributes = json_object_get(row, "allocation_attributes");
	const char *status = json_string_value(json_object_get(row, "status"));
	const char *account, *amount;
	struct coldfront_row x = {.id = r->id};

	if (status == NULL)
		return err_set(e, ERR_INVALID, "allocation %" PRId64 ": \"status\": is no text",
			       r->id);
	if (!json_is_array(attributes))
		return err_set(e, ERR_INVALID,
			       "allocation %" PRId64 ": \"allocation_attributes\": is no list; ask "
			       "ColdFront with ?allocation_attributes=true",
			       r->id);
	if (read_end(r, json_object_get(row, "end_date"), &x, e) != 0)
		return -1;
	if (!is_active(status) || x.last_day < r->today) {
		r->out->inactive++;
		return 0;
	}
	if (attribute_of(r, attributes, ACCOUNT, &account, e) != 0 ||
	    attribute_of(r, attributes, r->attribute, &amount, e) != 0)
		return -1;
	if (amount == NULL) {
		r->out->without++;
		return 0;
	}
	if (read_account(r, account, &x, e) != 0 || read_amount(r, amount, &x, e) != 0)
		return -1;
	r->out->v[r->out->n++] = x;
	return 0;
}

static int by_account(const void *a, const void *b)
{
	const struct coldfront_row *x = a, *y = b;
	int order = strcmp(x->account, y->account);

	return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

/* Of two amounts for one account none is the right one. */
static int check_accounts(const struct coldfront *c, struct err *e)
{
	for (size_t i = 1; i < c->n; i++)
		if (strcmp(c->v[i - 1].account, c->v[i].account) == 0)
			return err_set(e, ERR_INVALID,
				       "allocation %" PRId64 ": \"" ACCOUNT "\": %.64s is that of "
				       "allocation %" PRId64 ", too",
				       c->v[i].id, c->v[i].account, c->v[i - 1].id);
	return 0;
}

static int read_rows(struct reading *r, const json_t *rows, struct err *e)
{
	const json_t *row;
	size_t i;

	if (json_array_size(rows) > COLDFRONT_ROWS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d allocations", COLDFRONT_ROWS_MAX);
	r->out->v = mem_zalloc((json_array_size(rows) + 1) * sizeof(*r->out->v));
	json_array_foreach(rows, i, row)
	{
		const json_t *id = json_object_get(row, "id");

		if (!json_is_integer(id))
			return err_set(e, ERR_INVALID,
				       "allocation number %zu in the list: \"id\": "
				       "is no number",
				       i + 1);
		r->id = json_integer_value(id);
		if (read_row(r, row, e) != 0)
			return -1;
	}
	qsort(r->out->v, r->out->n, sizeof(*r->out->v), by_account);
	return check_accounts(r->out, e);
}

/* The list; NULL: *e. */
static const json_t *rows_of(const json_t *root, struct err *e)
{
	const json_t *next = json_object_get(root, "next");

	if (json_is_array(root))
		return root;
	if (!json_is_array(json_object_get(root, "results"))) {
		(void)err_set(e, ERR_INVALID, "is no list of allocations");
		return NULL;
	}
	if (next != NULL && !json_is_null(next)) {
		(void)err_set(e, ERR_INVALID,
			      "\"next\": is one page of several; all are wanted at once");
		return NULL;
	}
	return json_object_get(root, "results");
}

int coldfront_parse(struct coldfront *out, const char *text, size_t len, const char *attribute,
		    int64_t today, struct err *e)
{
	struct reading r = {.out = out, .attribute = attribute, .today = today};
	const json_t *rows;
	json_error_t je;
	char said[64];
	json_t *root;
	int rc = -1;

	*out = (struct coldfront){.v = NULL};
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
	if (root == NULL)
		return err_set(e, ERR_INVALID, "line %d is no JSON: %s", je.line,
			       shown(said, je.text));
	rows = rows_of(root, e);
	if (rows != NULL)
		rc = read_rows(&r, rows, e);
	json_decref(root);
	if (rc != 0)
		coldfront_fini(out);
	return rc;
}

void coldfront_fini(struct coldfront *c)
{
	free(c->v);
	*c = (struct coldfront){.v = NULL};
}
