#include "providers/lambda_remove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct removal {
	size_t from, size;                 /* the ids to ask for now */
	char known[LAMBDA_REMOVE_MAX + 1]; /* letters of those before */
};

static const struct {
	char letter;
	enum provider_code code;
} letters[] = {
	{'o', PROVIDER_OK},
	{'n', PROVIDER_NOT_FOUND},
	{'y', PROVIDER_NOT_YET},
	{'t', PROVIDER_TRANSIENT},
};
enum { NLETTERS = sizeof(letters) / sizeof(letters[0]) };

static char letter_of(enum provider_code code)
{
	for (size_t i = 0; i < NLETTERS; i++)
		if (letters[i].code == code)
			return letters[i].letter;
	return 't';
}

static enum provider_code code_of(char letter)
{
	for (size_t i = 0; i < NLETTERS; i++)
		if (letters[i].letter == letter)
			return letters[i].code;
	return PROVIDER_TRANSIENT;
}

/* What to ask for now; -1: no such request. */
static int read_cursor(const struct provider_op *op, struct removal *s)
{
	const char *cursor = provider_cursor(op);
	const size_t n = op->u.del.nids;
	char *known;

	*s = (struct removal){.size = n};
	if (n == 0 || n > LAMBDA_REMOVE_MAX)
		return -1;
	if (cursor[0] == '\0')
		return 0;
	s->size = strtoul(cursor, &known, 10);
	if (*known++ != ':' || strlen(known) >= n)
		return -1;
	s->from = strlen(known);
	memcpy(s->known, known, s->from + 1);
	return s->size > 0 && s->size <= n - s->from ? 0 : -1;
}

int lambda_remove_build(struct rest_call *c, const struct provider_op *op, struct err *e)
{
	struct removal s;

	if (read_cursor(op, &s) != 0)
		return err_set(e, ERR_INVALID, "delete: want 1 to %d ids", LAMBDA_REMOVE_MAX);
	rest_open(c, NULL, '{');
	rest_open(c, "instance_ids", '[');
	for (size_t i = 0; i < s.size; i++)
		rest_text(c, NULL, op->u.del.ids[s.from + i]);
	rest_close(c, ']');
	rest_close(c, '}');
	return 0;
}

/* "The list of instances that were successfully terminated": another was not. */
static int read_terminated(const struct rest *r, const struct provider_op *op, struct doc *d,
			   struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "data.terminated_instances", LAMBDA_REMOVE_MAX);
	const size_t n = op->u.del.nids;

	(void)r;
	out->items = mem_zalloc(n * sizeof(*out->items));
	out->nitems = n;
	for (size_t i = 0; i < n; i++)
		out->items[i].code = PROVIDER_TRANSIENT;
	for (size_t k = 0; k < list.n; k++) {
		struct doc_at o = doc_item(&list, k);

		for (size_t i = 0; i < n; i++)
			if (strcmp(doc_word(&o, "id"), op->u.del.ids[i]) == 0)
				out->items[i].code = PROVIDER_OK;
	}
	return 0;
}

static void ask_again(const struct removal *s, struct provider_result *out)
{
	provider_result_fini(out);
	out->code = PROVIDER_MORE;
	(void)snprintf(out->cursor, sizeof(out->cursor), "%zu:%s", s->size, s->known);
}

/* All ids have an answer. */
static void finish(const struct provider_op *op, const struct removal *s,
		   struct provider_result *out)
{
	const size_t n = op->u.del.nids;
	int64_t retry_ms = out->retry_after_ms;

	provider_result_fini(out);
	out->retry_after_ms = retry_ms;
	out->items = mem_zalloc(n * sizeof(*out->items));
	out->nitems = n;
	for (size_t i = 0; i < n; i++) {
		struct provider_item *item = &out->items[i];

		item->code = code_of(s->known[i]);
		/* A list says when it has ended. */
		item->instance.state =
			item->code == PROVIDER_OK ? PROVIDER_STOPPING : PROVIDER_UNKNOWN;
		(void)snprintf(item->instance.id, sizeof(item->instance.id), "%s",
			       op->u.del.ids[i]);
	}
}

void lambda_remove_parse(const struct rest *r, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out)
{
	struct provider_op part = *op;
	struct removal s;

	if (read_cursor(op, &s) != 0) {
		out->code = PROVIDER_INVALID;
		return;
	}
	part.u.del.ids += s.from;
	part.u.del.nids = s.size;
	rest_parse(r, &part, reply, read_terminated, out);
	/* One of these ids spoils the request for all.  Of a request for one id, either is the
	 * item's code. */
	if (out->code == PROVIDER_NOT_FOUND || out->code == PROVIDER_NOT_YET) {
		s.size /= 2;
		ask_again(&s, out);
		return;
	}
	if (out->code != PROVIDER_OK)
		return;
	for (size_t i = 0; i < s.size; i++)
		s.known[s.from++] = letter_of(out->items[i].code);
	s.known[s.from] = '\0';
	if (s.from == op->u.del.nids) {
		finish(op, &s, out);
		return;
	}
	s.size *= 2;
	if (s.size > op->u.del.nids - s.from)
		s.size = op->u.del.nids - s.from;
	ask_again(&s, out);
}
