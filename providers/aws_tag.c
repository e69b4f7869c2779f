#include "providers/aws_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
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

static bool fit(const struct provider_create *c, size_t n)
{
	struct str names, gens;
	bool ok;

	str_init(&names, AWS_TAG_TEXT_MAX);
	str_init(&gens, AWS_TAG_TEXT_MAX);
	fold_names(&names, c, n);
	fold_gens(&gens, c, n);
	ok = !names.full && !gens.full;
	str_fini(&names);
	str_fini(&gens);
	return ok;
}

size_t aws_tags_fit(const struct provider_create *c, size_t max)
{
	size_t good = 1, bad;

	if (max > c->nwants)
		max = c->nwants;
	if (max <= 1 || fit(c, max))
		return max;
	for (bad = max; bad - good > 1;) { /* one more name never makes the text shorter */
		size_t middle = good + (bad - good) / 2;

		if (fit(c, middle))
			good = middle;
		else
			bad = middle;
	}
	return good;
}

struct writing {
	struct str *body;
	const char *prefix;
	size_t n;
};

static void put(struct writing *w, const char *key, const char *value)
{
	w->n++;
	query_add(w->body, key, "%s.Tag.%zu.Key", w->prefix, w->n);
	query_add(w->body, value, "%s.Tag.%zu.Value", w->prefix, w->n);
}

/* Split a text into as many tags as it needs: KEY, KEY-2, KEY-3 ... */
static void put_parts(struct writing *w, const char *key, const struct str *text)
{
	for (size_t at = 0, part = 1; at < text->len; at += AWS_TAG_VALUE_MAX, part++) {
		char name[32], value[AWS_TAG_VALUE_MAX + 1];

		(void)snprintf(name, sizeof(name), part > 1 ? "%s-%zu" : "%s", key, part);
		(void)snprintf(value, sizeof(value), "%.*s", AWS_TAG_VALUE_MAX, text->p + at);
		put(w, name, value);
	}
}

void aws_tags_add(struct str *body, const char *prefix, const struct provider_create *c)
{
	struct writing w = {.body = body, .prefix = prefix};
	struct str names, gens;
	char name[AWS_TAG_VALUE_MAX + 1];

	str_init(&names, AWS_TAG_TEXT_MAX);
	str_init(&gens, AWS_TAG_TEXT_MAX);
	fold_names(&names, c, c->nwants);
	fold_gens(&gens, c, c->nwants);
	/* The tag Name is for people, in consoles; all instances of a call share it. */
	if (names.len <= AWS_TAG_VALUE_MAX)
		(void)snprintf(name, sizeof(name), "%s", names.p);
	else
		(void)snprintf(name, sizeof(name), "%s and %zu more", c->wants[0].node,
			       c->nwants - 1);
	put(&w, "Name", name);
	put(&w, AWS_TAG_CLUSTER, c->cluster);
	put(&w, AWS_TAG_BATCH, c->token);
	put_parts(&w, AWS_TAG_NODE, &names);
	put_parts(&w, AWS_TAG_GEN, &gens);
	body->full = body->full || names.full || gens.full;
	str_fini(&names);
	str_fini(&gens);
}

/* --- reading ----------------------------------------------------------------------------------
 */

void aws_tags_init(struct aws_tags *t)
{
	*t = (struct aws_tags){0};
	str_init(&t->names, AWS_TAG_TEXT_MAX);
	str_init(&t->gens, AWS_TAG_TEXT_MAX);
}

void aws_tags_fini(struct aws_tags *t)
{
	str_fini(&t->names);
	str_fini(&t->gens);
	hostlist_free(t->nodes);
	free(t->gen);
}

static const char *tag(const struct xml_node *item, const char *key)
{
	const struct xml_node *t = xml_child(xml_child(item, "tagSet"), "item");

	for (; t != NULL; t = xml_again(t))
		if (strcmp(xml_text(t, "key"), key) == 0)
			return xml_text(t, "value");
	return NULL;
}

static void get_parts(struct str *out, const struct xml_node *item, const char *key)
{
	for (int part = 1; part <= AWS_TAG_PARTS; part++) {
		char name[32];
		const char *value;

		(void)snprintf(name, sizeof(name), part > 1 ? "%s-%d" : "%s", key, part);
		value = tag(item, name);
		if (value == NULL)
			return;
		str_adds(out, value);
	}
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

static void understand(struct aws_tags *t)
{
	hostlist_free(t->nodes);
	free(t->gen);
	t->nodes = NULL;
	t->gen = NULL;
	if (t->names.full || t->gens.full || t->names.len == 0 ||
	    hostlist_parse(&t->nodes, t->names.p, t->names.len, NULL) != 0)
		return;
	t->gen = mem_zalloc(t->nodes->n * sizeof(*t->gen));
	if (parse_gens(t->gens.p, t->gen, t->nodes->n) == 0)
		return;
	hostlist_free(t->nodes);
	t->nodes = NULL;
}

static bool same(const struct str *a, const struct str *b)
{
	return a->len == b->len && a->full == b->full && memcmp(a->p, b->p, a->len) == 0;
}

void aws_tags_read(struct aws_tags *t, const struct xml_node *item)
{
	const char *cluster = tag(item, AWS_TAG_CLUSTER);
	struct str names, gens;

	str_init(&names, AWS_TAG_TEXT_MAX);
	str_init(&gens, AWS_TAG_TEXT_MAX);
	get_parts(&names, item, AWS_TAG_NODE);
	get_parts(&gens, item, AWS_TAG_GEN);
	t->readable = cluster == NULL || strlen(cluster) < sizeof(t->cluster);
	(void)snprintf(t->cluster, sizeof(t->cluster), "%.63s",
		       cluster != NULL && t->readable ? cluster : "");
	if (same(&names, &t->names) && same(&gens, &t->gens)) {
		str_fini(&names); /* same batch as the instance before */
		str_fini(&gens);
		return;
	}
	str_fini(&t->names);
	str_fini(&t->gens);
	t->names = names;
	t->gens = gens;
	understand(t);
}

void aws_tags_who(const struct aws_tags *t, const char *index, struct provider_instance *i)
{
	uint64_t at;

	memcpy(i->cluster, t->cluster, sizeof(i->cluster));
	i->node[0] = '\0';
	i->gen = 0;
	if (t->nodes == NULL || get_number(&index, t->nodes->n - 1, &at) != 0 || *index != '\0')
		return;
	(void)snprintf(i->node, sizeof(i->node), "%s", t->nodes->names[at]);
	i->gen = t->gen[at];
}
