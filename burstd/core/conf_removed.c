#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/conf.h"
#include "core/conf_option.h"

/* Sections that the configuration no longer has, but of which the journal has rows. */

/* Set each option of the section to its default; a required text to "". */
static void set_initial(const char *section, void *object)
{
	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];
		bool text = o->type == CONF_NAME || o->type == CONF_WORD || o->type == CONF_NODES;

		if (strcmp(o->section, section) != 0 || conf_option_is_list(o))
			continue;
		if (o->initial != NULL)
			(void)conf_option_set(o, object, o->initial, NULL);
		else if (text)
			*(char **)(void *)((char *)object + o->offset) = mem_strdup("");
	}
}

uint32_t conf_keep_provider(struct conf *c, const char *name)
{
	uint32_t at = conf_provider_named(c, name);
	struct conf_provider *p;

	if (at < c->nproviders)
		return at;
	c->providers = mem_realloc(c->providers, (c->nproviders + 1) * sizeof(*p));
	p = &c->providers[c->nproviders++];
	*p = (struct conf_provider){.name = mem_strdup(name), .removed = true};
	set_initial("provider", p);
	return at;
}

static struct conf_pool make_pool(const char *name)
{
	struct conf_pool p = {.name = mem_strdup(name), .removed = true};

	set_initial("pool", &p);
	p.max_nodes = 0;
	p.max_rate_nano_h = 0;
	p.nodes = mem_zalloc(sizeof(*p.nodes));
	p.own.name = mem_strdup("");
	return p;
}

/* Index the nodes anew: the pools have moved, or a pool was inserted. */
static void index_nodes(struct conf *c)
{
	for (size_t i = 0; i < c->npools; i++)
		for (size_t k = 0; k < c->pools[i].nodes->n; k++)
			map_put(&c->by_node, c->pools[i].nodes->names[k], &c->pools[i]);
}

static void insert_pool(struct conf *c, size_t at, const char *name)
{
	c->pools = mem_realloc(c->pools, (c->npools + 1) * sizeof(*c->pools));
	memmove(c->pools + at + 1, c->pools + at, (c->npools - at) * sizeof(*c->pools));
	c->pools[at] = make_pool(name);
	c->npools++;
	index_nodes(c);
}

uint32_t conf_keep_pool(struct conf *c, const char *name)
{
	const struct conf_pool *p = conf_pool_named(c, name);

	if (p == NULL)
		insert_pool(c, c->npools, name);
	return p != NULL ? conf_pool_index(c, p) : (uint32_t)c->npools - 1;
}

void conf_keep_removed(struct conf *next, const struct conf *old)
{
	for (size_t i = 0; i < old->npools; i++)
		if (i <= next->npools && old->pools[i].removed &&
		    conf_pool_named(next, old->pools[i].name) == NULL)
			insert_pool(next, i, old->pools[i].name);
	/* A reload refuses new providers, so removed ones are the last in both. */
	for (size_t i = 0; i < old->nproviders; i++)
		if (old->providers[i].removed && i == next->nproviders)
			(void)conf_keep_provider(next, old->providers[i].name);
}
