#include "ledger/export_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/mem.h"
#include "base/str.h"

enum { OF_MAX = 512 };

struct sum { /* of all corrections of one month, provider and reason */
	int64_t month;
	char *provider;
	bool late, invoiced;
	int64_t nano;
};

struct making {
	const struct zone *zone;
	struct sum *v;
	size_t n, cap;
};

static int compare(const struct sum *a, const struct sum *b)
{
	int by;

	if (a->month != b->month)
		return a->month < b->month ? -1 : 1;
	by = strcmp(a->provider, b->provider);
	if (by != 0)
		return by;
	if (a->late != b->late)
		return a->late ? -1 : 1;
	return a->invoiced == b->invoiced ? 0 : a->invoiced ? 1 : -1;
}

static int by_what(const void *a, const void *b)
{
	return compare(a, b);
}

static struct sum *sum_of(struct making *m, const struct sum *key)
{
	for (size_t i = 0; i < m->n; i++)
		if (compare(&m->v[i], key) == 0)
			return &m->v[i];
	if (m->n == m->cap) {
		m->cap = m->cap == 0 ? 16 : 2 * m->cap;
		m->v = mem_realloc(m->v, m->cap * sizeof(*m->v));
	}
	m->v[m->n] = *key;
	m->v[m->n].provider = mem_strdup(key->provider);
	return &m->v[m->n++];
}

static int take(void *arg, const struct charge *c, struct err *e)
{
	struct making *m = arg;
	const struct sum key = {.month = date_month(zone_day(m->zone, c->start_s)),
				.provider = (char *)(uintptr_t)c->provider,
				.late = c->late,
				.invoiced = c->invoiced};

	struct sum *sum;

	if (!c->adjust)
		return 0;
	sum = sum_of(m, &key);
	if (__builtin_add_overflow(sum->nano, c->nano, &sum->nano))
		return err_set(e, ERR_LIMIT, "the sum of all corrections is too large");
	return 0;
}

static const char *why(const struct sum *s)
{
	if (s->late)
		return s->invoiced ? "the provider's invoice, met after the month was closed"
				   : "became known after the month was closed";
	return "what the provider's invoice says, less what was counted";
}

int export_notes_make(struct export_notes *n, const struct source *from, const struct zone *zone,
		      struct err *e)
{
	struct making m = {.zone = zone};
	int rc = from->visit(from->ctx, take, &m, e);

	*n = (struct export_notes){0};
	if (m.n > 0)
		qsort(m.v, m.n, sizeof(*m.v), by_what);
	n->corrections = mem_zalloc((m.n + 1) * sizeof(*n->corrections));
	for (size_t i = 0; i < m.n; i++) {
		char month[DATE_STR_SIZE];
		struct str of;

		str_init(&of, OF_MAX);
		str_addf(&of, "%s, %.200s", date_month_str(month, m.v[i].month), m.v[i].provider);
		n->corrections[n->ncorrections++] = (struct statement_correction){
			.of = str_take(&of), .why = why(&m.v[i]), .nano = m.v[i].nano};
		free(m.v[i].provider);
	}
	free(m.v);
	if (rc < 0)
		export_notes_fini(n);
	return rc;
}

void export_notes_fini(struct export_notes *n)
{
	for (size_t i = 0; i < n->ncorrections; i++)
		free((char *)(uintptr_t)n->corrections[i].of);
	free(n->corrections);
	*n = (struct export_notes){0};
}
