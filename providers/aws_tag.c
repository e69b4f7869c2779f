#include "providers/aws_private.h"

#include <stdio.h>
#include <string.h>

/* --- writing ----------------------------------------------------------------------------------
 */

size_t aws_tags_fit(const struct provider_create *c, size_t max)
{
	return members_fit(c, max, AWS_TAG_TEXT_MAX);
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
	members_write(&names, &gens, c, c->nwants);
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
	members_init(&t->members);
}

void aws_tags_fini(struct aws_tags *t)
{
	members_fini(&t->members);
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
	members_read(&t->members, &names, &gens);
}

void aws_tags_who(const struct aws_tags *t, const char *index, struct provider_instance *i)
{
	memcpy(i->cluster, t->cluster, sizeof(i->cluster));
	members_who(&t->members, index, 0, i);
}
