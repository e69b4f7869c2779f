#include "core/conf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/conf_option.h"

struct conf *conf_new(const char *path)
{
	struct conf *c = mem_zalloc(sizeof(*c));

	c->path = mem_strdup(path);
	map_init(&c->by_node);
	return c;
}

/* Is o an option of the struct that holds `section`?  "" and "slurm" share struct conf. */
static bool held_by(const struct conf_option *o, const char *section)
{
	if (section[0] == '\0' && strcmp(o->section, "slurm") == 0)
		return true;
	return strcmp(o->section, section) == 0;
}

static void fini_object(const char *section, void *object)
{
	for (size_t i = 0; i < conf_noptions; i++)
		if (held_by(&conf_options[i], section))
			conf_option_fini(&conf_options[i], object);
}

void conf_free(struct conf *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->nproviders; i++) {
		fini_object("provider", &c->providers[i]);
		free(c->providers[i].name);
		free(c->providers[i].user_data);
	}
	for (size_t i = 0; i < c->npools; i++) {
		fini_object("pool", &c->pools[i]);
		free(c->pools[i].name);
		hostlist_free(c->pools[i].nodes);
	}
	fini_object("", c);
	map_fini(&c->by_node);
	free(c->providers);
	free(c->pools);
	free(c->path);
	free(c);
}

static int find_provider(const struct conf *c, struct conf_pool *p, struct err *e)
{
	for (size_t i = 0; i < c->nproviders; i++)
		if (strcmp(c->providers[i].name, p->provider) == 0) {
			p->provider_index = (uint32_t)i;
			return 0;
		}
	return err_set(e, ERR_INVALID, "%.120s:%d: pool \"%s\": there is no provider \"%s\"",
		       c->path, p->provider_line, p->name, p->provider);
}

static int add_node(struct conf *c, struct conf_pool *p, const char *node, struct err *e)
{
	const struct conf_pool *other = map_get(&c->by_node, node);

	if (other == p)
		return err_set(e, ERR_INVALID, "%.120s:%d: pool \"%s\": node %s is there twice",
			       c->path, p->nodes_line, p->name, node);
	if (other != NULL)
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: node %s is in pool \"%.30s\" and in pool \"%.30s\"",
			       c->path, p->nodes_line, node, other->name, p->name);
	if (c->by_node.n == HOSTLIST_NAMES_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: pool \"%s\": more than %d nodes in all",
			       c->path, p->nodes_line, p->name, HOSTLIST_NAMES_MAX);
	map_put(&c->by_node, node, p);
	return 0;
}

static int finish_pool(struct conf *c, struct conf_pool *p, struct err *e)
{
	struct err why = {0};

	if (hostlist_parse(&p->nodes, p->nodes_text, strlen(p->nodes_text), &why) < 0)
		return err_set(e, (enum err_code)why.code, "%.120s:%d: pool \"%.30s\": %s", c->path,
			       p->nodes_line, p->name, why.msg);
	if (find_provider(c, p, e) < 0)
		return -1;
	for (size_t i = 0; i < p->nodes->n; i++)
		if (add_node(c, p, p->nodes->names[i], e) < 0)
			return -1;
	return 0;
}

/* Two of one name?  Quadratic in a number that is small. */
static int check_names(const struct conf *c, struct err *e)
{
	for (size_t i = 0; i < c->nproviders; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(c->providers[i].name, c->providers[k].name) == 0)
				return err_set(e, ERR_INVALID,
					       "%.120s:%d: provider \"%s\" is there twice", c->path,
					       c->providers[i].line, c->providers[i].name);
	for (size_t i = 0; i < c->npools; i++)
		if (conf_pool_named(c, c->pools[i].name) != &c->pools[i])
			return err_set(e, ERR_INVALID, "%.120s:%d: pool \"%s\" is there twice",
				       c->path, c->pools[i].line, c->pools[i].name);
	return 0;
}

int conf_finish(struct conf *c, struct err *e)
{
	assert(c->by_node.n == 0);
	if (c->nproviders > CONF_PROVIDERS_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d providers", c->path,
			       c->providers[CONF_PROVIDERS_MAX].line, CONF_PROVIDERS_MAX);
	if (c->npools > CONF_POOLS_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d pools", c->path,
			       c->pools[CONF_POOLS_MAX].line, CONF_POOLS_MAX);
	if (check_names(c, e) < 0)
		return -1;
	for (size_t i = 0; i < c->npools; i++)
		if (finish_pool(c, &c->pools[i], e) < 0)
			return -1;
	return 0;
}

/* The first option of a section that differs and must not, or NULL. */
static const struct conf_option *fixed_change(const char *section, const void *old,
					      const void *next)
{
	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];

		if (!o->reload && held_by(o, section) && !conf_option_same(o, old, next))
			return o;
	}
	return NULL;
}

static int may_keep(const char *section, const char *name, const void *old, const void *next,
		    struct err *e)
{
	const struct conf_option *o = fixed_change(section, old, next);

	if (o == NULL)
		return 0;
	return err_set(e, ERR_INVALID, "%s%s%s%s%s: a change needs a restart", section,
		       name != NULL ? " \"" : "", name != NULL ? name : "",
		       name != NULL ? "\" " : "", o->name);
}

static int moved(const char *section, const char *name, struct err *e)
{
	return err_set(e, ERR_INVALID,
		       "%s \"%s\" is gone or has moved: this needs a restart (new pools come last)",
		       section, name);
}

int conf_may_replace(const struct conf *old, const struct conf *next, struct err *e)
{
	if (may_keep("", NULL, old, next, e) < 0)
		return -1;
	for (size_t i = 0; i < old->nproviders; i++) {
		const char *name = old->providers[i].name;

		if (i >= next->nproviders || strcmp(next->providers[i].name, name) != 0)
			return moved("provider", name, e);
		if (may_keep("provider", name, &old->providers[i], &next->providers[i], e) < 0)
			return -1;
	}
	if (next->nproviders > old->nproviders)
		return err_set(e, ERR_INVALID,
			       "%s:%d: provider \"%s\" is new: this needs a restart", next->path,
			       next->providers[old->nproviders].line,
			       next->providers[old->nproviders].name);
	for (size_t i = 0; i < old->npools; i++) {
		const char *name = old->pools[i].name;

		if (i >= next->npools || strcmp(next->pools[i].name, name) != 0)
			return moved("pool", name, e);
		if (may_keep("pool", name, &old->pools[i], &next->pools[i], e) < 0)
			return -1;
	}
	return 0;
}

struct provider_conf conf_for_driver(const struct conf_provider *p, const char *credential)
{
	return (struct provider_conf){.name = p->name,
				      .url = p->url,
				      .ca_file = p->ca_file,
				      .credential = credential,
				      .timeout_ms = (uint32_t)p->timeout_ms,
				      .concurrency = p->concurrency,
				      .on = (const char *const *)p->on,
				      .off = (const char *const *)p->off,
				      .status = (const char *const *)p->status,
				      .records = p->records,
				      .program = p->program,
				      .region = p->region,
				      .image = p->image,
				      .subnets = p->subnets,
				      .security_groups = p->security_groups,
				      .instance_profile = p->instance_profile,
				      .key_name = p->key_name,
				      .launch_template = p->launch_template,
				      .role = p->role,
				      .sts_url = p->sts_url,
				      .metadata_url = p->metadata_url,
				      .user_data = p->user_data};
}

/* --- what a reload changes ---------------------------------------------------------------------
 */

enum { VALUE_MAX = 1 << 20 }; /* bytes of an option as text */

struct diff {
	conf_change_fn fn;
	void *ctx;
};

static void diff_options(const struct diff *d, struct conf_change c, const void *old,
			 const void *next)
{
	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];
		struct str from, to;

		if (strcmp(o->section, c.section) != 0 || conf_option_same(o, old, next))
			continue;
		str_init(&from, VALUE_MAX);
		str_init(&to, VALUE_MAX);
		conf_option_print(o, old, &from);
		conf_option_print(o, next, &to);
		c.option = o->name;
		c.from = from.p;
		c.to = to.p;
		d->fn(d->ctx, &c);
		str_fini(&from);
		str_fini(&to);
	}
}

/* One provider or pool; old or next is NULL when it is new or gone. */
static void diff_section(const struct diff *d, const char *section, const char *title,
			 const void *old, const void *next)
{
	const struct conf_change c = {.section = section,
				      .title = title,
				      .from = old != NULL ? "" : NULL,
				      .to = next != NULL ? "" : NULL};

	if (old != NULL && next != NULL)
		diff_options(d, c, old, next);
	else
		d->fn(d->ctx, &c);
}

static const struct conf_provider *provider_named(const struct conf *c, const char *name)
{
	for (size_t i = 0; i < c->nproviders; i++)
		if (strcmp(c->providers[i].name, name) == 0)
			return &c->providers[i];
	return NULL;
}

static void diff_providers(const struct diff *d, const struct conf *old, const struct conf *next)
{
	for (size_t i = 0; i < old->nproviders; i++) {
		const struct conf_provider *p = &old->providers[i];

		diff_section(d, "provider", p->name, p, provider_named(next, p->name));
	}
	for (size_t i = 0; i < next->nproviders; i++)
		if (provider_named(old, next->providers[i].name) == NULL)
			diff_section(d, "provider", next->providers[i].name, NULL,
				     &next->providers[i]);
}

void conf_diff(const struct conf *old, const struct conf *next, conf_change_fn fn, void *ctx)
{
	const struct diff d = {fn, ctx};

	diff_options(&d, (struct conf_change){.section = "", .title = ""}, old, next);
	diff_options(&d, (struct conf_change){.section = "slurm", .title = ""}, old, next);
	diff_providers(&d, old, next);
	for (size_t i = 0; i < old->npools; i++)
		diff_section(&d, "pool", old->pools[i].name, &old->pools[i],
			     conf_pool_named(next, old->pools[i].name));
	for (size_t i = 0; i < next->npools; i++)
		if (conf_pool_named(old, next->pools[i].name) == NULL)
			diff_section(&d, "pool", next->pools[i].name, NULL, &next->pools[i]);
}

static const char *shown(const char *value)
{
	return value[0] != '\0' ? value : "\"\"";
}

void conf_change_print(const struct conf_change *c, struct str *out)
{
	str_adds(out, c->section);
	if (c->title[0] != '\0')
		str_addf(out, " \"%s\"", c->title);
	if (c->option != NULL)
		str_addf(out, "%s%s: %s -> %s", c->section[0] != '\0' ? " " : "", c->option,
			 shown(c->from), shown(c->to));
	else
		str_adds(out, c->from == NULL ? ": new" : ": gone");
}

const struct conf_pool *conf_pool_of(const struct conf *c, const char *node)
{
	return map_get(&c->by_node, node);
}

uint32_t conf_pool_index(const struct conf *c, const struct conf_pool *p)
{
	assert(p >= c->pools && p < c->pools + c->npools);
	return (uint32_t)(p - c->pools);
}

const struct conf_pool *conf_pool_named(const struct conf *c, const char *name)
{
	for (size_t i = 0; i < c->npools; i++)
		if (strcmp(c->pools[i].name, name) == 0)
			return &c->pools[i];
	return NULL;
}

static void print_section(const char *section, const char *title, const void *object,
			  struct str *out)
{
	const char *indent = section[0] != '\0' ? "\t" : "";

	if (title != NULL)
		str_addf(out, "\n%s \"%s\" {\n", section, title);
	else if (section[0] != '\0')
		str_addf(out, "\n%s {\n", section);
	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];
		bool list = o->type == CONF_USERS || o->type == CONF_ARGV;

		if (strcmp(o->section, section) != 0)
			continue;
		str_addf(out, "%s%s = %s", indent, o->name, list ? "{" : "\"");
		conf_option_print(o, object, out);
		str_adds(out, list ? "}\n" : "\"\n");
	}
	if (section[0] != '\0')
		str_adds(out, "}\n");
}

void conf_print(const struct conf *c, struct str *out)
{
	print_section("", NULL, c, out);
	print_section("slurm", NULL, c, out);
	for (size_t i = 0; i < c->nproviders; i++)
		print_section("provider", c->providers[i].name, &c->providers[i], out);
	for (size_t i = 0; i < c->npools; i++)
		print_section("pool", c->pools[i].name, &c->pools[i], out);
}
