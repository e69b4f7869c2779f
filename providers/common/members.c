#include "providers/common/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/hostlist.h"
#include "base/mem.h"

enum { NUMBER_DIGITS_MAX = 19 };

/* --- writing ----------------------------------------------------------------------------------
 */

static void fold_names(struct str *s, const struct provider_create *c, size_t n)
{
	const char **names = mem_zalloc(n * sizeof(*names));

	for (size_t i = 0; i < n; i++)
		names[i] = c->wants[i].node;
	hostlist_fold(s, names, n);
	free(names);
}

static void fold_gens(struct str *s, const struct provider_create *c, size_t n)
{
	for (size_t i = 0, run; i < n; i += run) {
		char number[FMT_U64_SIZE];

		for (run = 1; i + run < n && c->wants[i + run].gen == c->wants[i].gen;)
			run++;
		str_addf(s, "%s%s", i > 0 ? "," : "", fmt_u64(number, c->wants[i].gen));
		if (run > 1)
			str_addf(s, "*%zu", run);
	}
}

void members_write(struct str *names, struct str *gens, const struct provider_create *c, size_t n)
{
	fold_names(names, c, n);
	fold_gens(gens, c, n);
}

static bool fit(const struct provider_create *c, size_t n, size_t bytes)
{
	struct str names, gens;
	bool ok;

	str_init(&names, bytes);
	str_init(&gens, bytes);
	members_write(&names, &gens, c, n);
	ok = !names.full && !gens.full;
	str_fini(&names);
	str_fini(&gens);
	return ok;
}

size_t members_fit(const struct provider_create *c, size_t max, size_t bytes)
{
	size_t good = 1, bad;

	if (max > c->nwants)
		max = c->nwants;
	if (max <= 1 || fit(c, max, bytes))
		return max;
	for (bad = max; bad - good > 1;) { /* one more name never makes the text shorter */
		size_t middle = good + (bad - good) / 2;

		if (fit(c, middle, bytes))
			good = middle;
		else
			bad = middle;
	}
	return good;
}

/* --- reading ----------------------------------------------------------------------------------
 */

void members_init(struct members *m)
{
	*m = (struct members){0};
	str_init(&m->names, MEMBERS_TEXT_MAX);
	str_init(&m->gens, MEMBERS_TEXT_MAX);
}

void members_fini(struct members *m)
{
	str_fini(&m->names);
	str_fini(&m->gens);
	hostlist_free(m->nodes);
	free(m->gen);
}

/* Parse digits without a leading zero and move *p past them; 0 or -1. */
static int get_number(const char **p, uint64_t max, uint64_t *out)
{
	size_t n = strspn(*p, "0123456789");

	*out = 0;
	if (n == 0 || n > NUMBER_DIGITS_MAX || (n > 1 && **p == '0'))
		return -1;
	for (; n > 0; n--, (*p)++)
		*out = *out * 10 + (uint64_t)(**p - '0');
	return *out <= max ? 0 : -1;
}

/* Parse "3*5,4" into exactly n generations. */
static int parse_gens(const char *p, uint64_t *out, size_t n)
{
	size_t have = 0;

	for (;;) {
		uint64_t gen, run = 1;

		if (get_number(&p, INT64_MAX, &gen) != 0)
			return -1;
		if (*p == '*' && (p++, get_number(&p, HOSTLIST_NAMES_MAX, &run)) != 0)
			return -1;
		if (run == 0 || run > n - have)
			return -1;
		while (run-- > 0)
			out[have++] = gen;
		if (*p == '\0')
			return have == n ? 0 : -1;
		if (*p++ != ',')
			return -1;
	}
}

static void understand(struct members *m)
{
	hostlist_free(m->nodes);
	free(m->gen);
	m->nodes = NULL;
	m->gen = NULL;
	if (m->names.full || m->gens.full || m->names.len == 0 ||
	    hostlist_parse_few(&m->nodes, m->names.p, m->names.len, MEMBERS_MAX, NULL) != 0)
		return;
	m->gen = mem_zalloc(m->nodes->n * sizeof(*m->gen));
	if (parse_gens(m->gens.p, m->gen, m->nodes->n) == 0)
		return;
	hostlist_free(m->nodes);
	m->nodes = NULL;
}

static bool same(const struct str *a, const struct str *b)
{
	return a->len == b->len && a->full == b->full && memcmp(a->p, b->p, a->len) == 0;
}

void members_read(struct members *m, struct str *names, struct str *gens)
{
	if (same(names, &m->names) && same(gens, &m->gens)) {
		str_fini(names); /* same create as the instance before */
		str_fini(gens);
		return;
	}
	str_fini(&m->names);
	str_fini(&m->gens);
	m->names = *names;
	m->gens = *gens;
	understand(m);
}

void members_who(const struct members *m, const char *number, uint64_t first,
		 struct provider_instance *i)
{
	uint64_t at;

	i->node[0] = '\0';
	i->gen = 0;
	if (m->nodes == NULL || get_number(&number, m->nodes->n - 1 + first, &at) != 0 ||
	    *number != '\0' || at < first)
		return;
	(void)snprintf(i->node, sizeof(i->node), "%s", m->nodes->names[at - first]);
	i->gen = m->gen[at - first];
}
