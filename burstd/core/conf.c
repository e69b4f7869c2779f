#include "core/conf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/conf_option.h"
#include "core/secret_store.h"

enum { CONF_TITLE_SIZE = 2 * PROVIDER_WORD_MAX + 2 }; /* POOL/OFFER */

struct conf *conf_new(const char *path)
{
	struct conf *c = mem_zalloc(sizeof(*c));

	c->path = mem_strdup(path);
	map_init(&c->by_node);
	return c;
}

/* Is o an option of the struct that holds `section`?  "" and these share struct conf. */
static bool held_by(const struct conf_option *o, const char *section)
{
	if (section[0] == '\0' &&
	    (strcmp(o->section, "slurm") == 0 || strcmp(o->section, "secrets") == 0 ||
	     strcmp(o->section, "nodes") == 0))
		return true;
	return strcmp(o->section, section) == 0;
}

static void fini_object(const char *section, void *object)
{
	for (size_t i = 0; i < conf_noptions; i++)
		if (held_by(&conf_options[i], section))
			conf_option_fini(&conf_options[i], object);
}

static void fini_pool(struct conf_pool *p)
{
	for (size_t i = 0; i < p->noffers; i++) {
		fini_object("offer", &p->offers[i]);
		free(p->offers[i].name);
	}
	free(p->offers);
	fini_object("pool", p);
	free(p->own.name);
	free(p->name);
	hostlist_free(p->nodes);
}

void conf_free(struct conf *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->nproviders; i++) {
		fini_object("provider", &c->providers[i]);
		free(c->providers[i].name);
		free(c->providers[i].user_data);
		free(c->providers[i].attest_ca);
	}
	for (size_t i = 0; i < c->npools; i++)
		fini_pool(&c->pools[i]);
	fini_object("", c);
	map_fini(&c->by_node);
	free(c->providers);
	free(c->pools);
	free(c->path);
	free(c);
}

static int find_provider(const struct conf *c, const struct conf_pool *p, struct conf_offer *o,
			 struct err *e)
{
	bool own = o->name[0] == '\0';

	o->provider_index = conf_provider_named(c, o->provider);
	if (o->provider_index < c->nproviders)
		return 0;
	o->provider_index = 0;
	return err_set(e, ERR_INVALID, "%.120s:%d: pool \"%s\": %s%s%sthere is no provider \"%s\"",
		       c->path, o->provider_line, p->name, own ? "" : "offer \"", o->name,
		       own ? "" : "\": ", o->provider);
}

static bool is_given(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* What the option comes to; NULL: none. */
static const char *fabric_in(const char *option)
{
	return is_given(option) && strcmp(option, CONF_FABRIC_NONE) != 0 ? option : NULL;
}

/* A pool without offers: its own place is its ladder. */
static int finish_own(const struct conf *c, struct conf_pool *p, struct err *e)
{
	const struct {
		const char *name, *text;
	} want[] = {{"provider", p->provider}, {"type", p->type}, {"region", p->region}};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (!is_given(want[i].text))
			return err_set(e, ERR_INVALID,
				       "%.120s:%d: pool \"%.30s\": %s is missing (%s), or an offer",
				       c->path, p->line, p->name, want[i].name,
				       conf_option_find("pool", want[i].name)->help);
	p->own = (struct conf_offer){.name = mem_strdup(""),
				     .provider = p->provider,
				     .type = p->type,
				     .region = p->region,
				     .zone = p->zone,
				     .market = p->spot ? PROVIDER_SPOT : PROVIDER_ON_DEMAND,
				     .price_nano_h = p->price_nano_h,
				     .jurisdiction = p->jurisdiction,
				     .interconnect = p->interconnect,
				     .in_fabric = fabric_in(p->fabric),
				     .line = p->line,
				     .provider_line = p->provider_line};
	return find_provider(c, p, &p->own, e);
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

/* Two offers of one place would be refused together: the second is a slip. */
static bool same_place(const struct conf_offer *a, const struct conf_offer *b)
{
	return same_text(a->provider, b->provider) && same_text(a->type, b->type) &&
	       same_text(a->region, b->region) && same_text(a->zone, b->zone) &&
	       a->market == b->market && same_text(a->in_fabric, b->in_fabric);
}

static int check_twice(const struct conf *c, const struct conf_pool *p, size_t i, struct err *e)
{
	const struct conf_offer *o = &p->offers[i];

	for (size_t k = 0; k < i; k++) {
		if (strcmp(o->name, p->offers[k].name) == 0)
			return err_set(e, ERR_INVALID,
				       "%.120s:%d: pool \"%.30s\": offer \"%.30s\" is there twice",
				       c->path, o->line, p->name, o->name);
		if (same_place(o, &p->offers[k]))
			return err_set(
				e, ERR_INVALID,
				"%.120s:%d: pool \"%.30s\": offer \"%.30s\" is the same place as "
				"offer \"%.30s\"",
				c->path, o->line, p->name, o->name, p->offers[k].name);
	}
	return 0;
}

static int finish_offers(const struct conf *c, struct conf_pool *p, struct err *e)
{
	if (p->place_line != 0 || is_given(p->provider) || is_given(p->type) || is_given(p->region))
		return err_set(
			e, ERR_INVALID,
			"%.120s:%d: pool \"%.30s\" has offers: provider, type, region, zone, "
			"market, price and jurisdiction are theirs",
			c->path, p->place_line != 0 ? p->place_line : p->line, p->name);
	if (p->noffers > CONF_OFFERS_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: pool \"%.30s\": more than %d offers",
			       c->path, p->offers[CONF_OFFERS_MAX].line, p->name, CONF_OFFERS_MAX);
	for (size_t i = 0; i < p->noffers; i++) {
		struct conf_offer *o = &p->offers[i];

		o->in_fabric = fabric_in(is_given(o->fabric) ? o->fabric : p->fabric);
	}
	for (size_t i = 0; i < p->noffers; i++)
		if (check_twice(c, p, i, e) < 0 || find_provider(c, p, &p->offers[i], e) < 0)
			return -1;
	return 0;
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
	map_put(&c->by_node, node, p);
	return 0;
}

/* A token is for one machine, so a create is of one: a job's own fabric is for several. */
static int check_vouchers(const struct conf *c, const struct conf_pool *p, struct err *e)
{
	size_t n;
	const struct conf_offer *o = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++)
		if (c->providers[o[i].provider_index].vouchers && o[i].in_fabric != NULL &&
		    strcmp(o[i].in_fabric, CONF_FABRIC_JOB) == 0)
			return err_set(e, ERR_INVALID,
				       "%.120s:%d: pool \"%.30s\": fabric = job: with release = "
				       "user-data each create is of one machine",
				       c->path, is_given(o[i].fabric) ? o[i].line : p->line,
				       p->name);
	return 0;
}

int64_t conf_pool_dearest(const struct conf_pool *p, const char **option)
{
	bool by_rate = p->max_price_nano_h == 0 || p->max_rate_nano_h < p->max_price_nano_h;

	*option = by_rate ? "max_rate" : "max_price";
	return by_rate ? p->max_rate_nano_h : p->max_price_nano_h;
}

static int finish_pool(struct conf *c, struct conf_pool *p, struct err *e)
{
	struct err why = {0};

	if (hostlist_parse(&p->nodes, p->nodes_text, strlen(p->nodes_text), &why) < 0)
		return err_set(e, (enum err_code)why.code, "%.120s:%d: pool \"%.30s\": %s%s",
			       c->path, p->nodes_line, p->name, why.msg,
			       why.code == ERR_LIMIT ? ", and Slurm has no more in a cluster" : "");
	if (c->by_node.n + p->nodes->n > HOSTLIST_NAMES_MAX)
		return err_set(e, ERR_LIMIT,
			       "%.120s:%d: pool \"%.30s\": its %zu nodes and the %zu of the pools "
			       "before it are more than the %d that Slurm can have in a cluster",
			       c->path, p->nodes_line, p->name, p->nodes->n, c->by_node.n,
			       HOSTLIST_NAMES_MAX);
	if ((p->noffers > 0 ? finish_offers(c, p, e) : finish_own(c, p, e)) < 0 ||
	    check_vouchers(c, p, e) < 0)
		return -1;
	if (p->warm > p->max_nodes || p->warm > p->nodes->n)
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: pool \"%.30s\": warm is %u, and there are at most %zu "
			       "nodes (max_nodes, nodes)",
			       c->path, p->line, p->name, p->warm,
			       p->max_nodes < p->nodes->n ? p->max_nodes : p->nodes->n);
	p->provider_index = conf_rungs(p, NULL)->provider_index;
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
	if (check_names(c, e) < 0 || conf_nodes_finish(c, e) < 0)
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

/* Offers come and change places: they are known by their names.  One that goes may have a create on
 * its way, and nobody could repeat it. */
static int may_replace_offers(const struct conf_pool *old, const struct conf_pool *next,
			      struct err *e)
{
	for (size_t i = 0; i < old->noffers; i++) {
		const struct conf_offer *o = &old->offers[i], *n = conf_rung_named(next, o->name);
		char title[CONF_TITLE_SIZE];

		if (n == NULL)
			return err_set(e, ERR_INVALID,
				       "pool \"%s\": offer \"%s\" is gone: this needs a restart",
				       old->name, o->name);
		(void)snprintf(title, sizeof(title), "%s/%s", old->name, o->name);
		if (may_keep("offer", title, o, n, e) < 0)
			return -1;
	}
	return 0;
}

int conf_may_replace(const struct conf *old, const struct conf *next, struct err *e)
{
	size_t p = 0; /* providers; those that are removed come last */

	if (may_keep("", NULL, old, next, e) < 0)
		return -1;
	if ((old->secrets.release == CONF_USER_DATA) != (next->secrets.release == CONF_USER_DATA))
		return err_set(e, ERR_INVALID,
			       "secrets release: from or to user-data: a change needs a restart");
	for (; p < old->nproviders && !old->providers[p].removed; p++) {
		const char *name = old->providers[p].name;

		if (p >= next->nproviders || strcmp(next->providers[p].name, name) != 0)
			return moved("provider", name, e);
		if (may_keep("provider", name, &old->providers[p], &next->providers[p], e) < 0)
			return -1;
	}
	if (p < next->nproviders && !next->providers[p].removed)
		return err_set(e, ERR_INVALID,
			       "%s:%d: provider \"%s\" is new: this needs a restart", next->path,
			       next->providers[p].line, next->providers[p].name);
	for (size_t i = 0; i < old->npools; i++) {
		const char *name = old->pools[i].name;

		if (i >= next->npools || strcmp(next->pools[i].name, name) != 0)
			return moved("pool", name, e);
		if (old->pools[i].removed) /* it is there again, or still gone */
			continue;
		if (may_keep("pool", name, &old->pools[i], &next->pools[i], e) < 0 ||
		    may_replace_offers(&old->pools[i], &next->pools[i], e) < 0)
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
				      .notice_queue = p->notice_queue,
				      .user_data = p->user_data};
}

struct secret_store_conf conf_for_store(const struct conf_secrets *s, const char *credential)
{
	return (struct secret_store_conf){.address = s->address,
					  .namespace = s->namespace,
					  .mount = s->mount,
					  .name = s->name,
					  .auth_mount = s->auth_mount,
					  .role_id = s->role_id,
					  .role_name = s->role_name,
					  .credential = credential,
					  .region = s->region,
					  .role = s->role,
					  .sts_url = s->sts_url,
					  .metadata_url = s->metadata_url,
					  .dir = s->dir};
}

int conf_secrets_line(const struct conf *c, const char *option)
{
	size_t k = 0;

	for (size_t i = 0; i < conf_noptions; i++) {
		if (strcmp(conf_options[i].section, "secrets") != 0)
			continue;
		if (strcmp(conf_options[i].name, option) == 0 && c->secrets.lines[k] != 0)
			return c->secrets.lines[k];
		k++;
	}
	return c->secrets.line;
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

/* NULL: the configuration does not have it. */
static const struct conf_provider *provider_in(const struct conf *c, const char *name)
{
	uint32_t at = conf_provider_named(c, name);

	return at < c->nproviders && !c->providers[at].removed ? &c->providers[at] : NULL;
}

static const struct conf_pool *pool_in(const struct conf *c, const char *name)
{
	const struct conf_pool *p = conf_pool_named(c, name);

	return p != NULL && !p->removed ? p : NULL;
}

static void diff_providers(const struct diff *d, const struct conf *old, const struct conf *next)
{
	for (size_t i = 0; i < old->nproviders; i++) {
		const struct conf_provider *p = &old->providers[i];

		if (!p->removed)
			diff_section(d, "provider", p->name, p, provider_in(next, p->name));
	}
	for (size_t i = 0; i < next->nproviders; i++)
		if (provider_in(old, next->providers[i].name) == NULL)
			diff_section(d, "provider", next->providers[i].name, NULL,
				     &next->providers[i]);
}

static void offer_names(const struct conf_pool *p, struct str *out)
{
	for (size_t i = 0; i < p->noffers; i++)
		str_addf(out, "%s%s", i > 0 ? ", " : "", p->offers[i].name);
}

/* Which there are and in what order, as one change; then what differs in those that stay. */
static void diff_offers(const struct diff *d, const struct conf_pool *old,
			const struct conf_pool *next)
{
	struct conf_change c = {.section = "pool", .title = old->name, .option = "offers"};
	struct str from, to;

	str_init(&from, VALUE_MAX);
	str_init(&to, VALUE_MAX);
	offer_names(old, &from);
	offer_names(next, &to);
	c.from = from.p;
	c.to = to.p;
	if (strcmp(from.p, to.p) != 0)
		d->fn(d->ctx, &c);
	str_fini(&from);
	str_fini(&to);
	for (size_t i = 0; i < old->noffers; i++) {
		const struct conf_offer *n = conf_rung_named(next, old->offers[i].name);
		char title[CONF_TITLE_SIZE];

		(void)snprintf(title, sizeof(title), "%s/%s", old->name, old->offers[i].name);
		if (n != NULL)
			diff_section(d, "offer", title, &old->offers[i], n);
	}
}

static void diff_pools(const struct diff *d, const struct conf *old, const struct conf *next)
{
	for (size_t i = 0; i < old->npools; i++) {
		const struct conf_pool *p = &old->pools[i];
		const struct conf_pool *n = pool_in(next, p->name);

		if (p->removed)
			continue;
		diff_section(d, "pool", p->name, p, n);
		if (n != NULL)
			diff_offers(d, p, n);
	}
	for (size_t i = 0; i < next->npools; i++)
		if (pool_in(old, next->pools[i].name) == NULL)
			diff_section(d, "pool", next->pools[i].name, NULL, &next->pools[i]);
}

void conf_diff(const struct conf *old, const struct conf *next, conf_change_fn fn, void *ctx)
{
	const struct diff d = {fn, ctx};

	diff_options(&d, (struct conf_change){.section = "", .title = ""}, old, next);
	diff_options(&d, (struct conf_change){.section = "slurm", .title = ""}, old, next);
	diff_options(&d, (struct conf_change){.section = "secrets", .title = ""}, old, next);
	diff_options(&d, (struct conf_change){.section = "nodes", .title = ""}, old, next);
	diff_providers(&d, old, next);
	diff_pools(&d, old, next);
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

uint32_t conf_provider_named(const struct conf *c, const char *name)
{
	uint32_t i = 0;

	while (i < c->nproviders && strcmp(c->providers[i].name, name) != 0)
		i++;
	return i;
}

const struct conf_offer *conf_rungs(const struct conf_pool *p, size_t *n)
{
	if (n != NULL)
		*n = p->removed ? 0 : p->noffers > 0 ? p->noffers : 1;
	return p->noffers > 0 ? p->offers : &p->own;
}

const struct conf_offer *conf_rung_named(const struct conf_pool *p, const char *name)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(rungs[i].name, name) == 0)
			return &rungs[i];
	return NULL;
}

const char *conf_interconnect(const struct conf_pool *p, const struct conf_offer *o)
{
	if (o != NULL && is_given(o->interconnect))
		return o->interconnect;
	return p->interconnect != NULL ? p->interconnect : "";
}

static void print_option(const struct conf_option *o, const char *indent, const void *object,
			 struct str *out)
{
	bool list = conf_option_is_list(o);

	str_addf(out, "%s%s = %s", indent, o->name, list ? "{" : "\"");
	conf_option_print(o, object, out);
	str_adds(out, list ? "}\n" : "\"\n");
}

static void print_options(const char *section, const char *indent, const void *object,
			  struct str *out)
{
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, section) == 0)
			print_option(&conf_options[i], indent, object, out);
}

bool conf_is_place(const struct conf_option *o)
{
	static const char *const names[] = {"provider", "type",  "region",      "zone",
					    "market",   "price", "jurisdiction"};

	if (strcmp(o->section, "pool") != 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], o->name) == 0)
			return true;
	return false;
}

static void print_section(const char *section, const char *title, const void *object,
			  struct str *out)
{
	if (title != NULL)
		str_addf(out, "\n%s \"%s\" {\n", section, title);
	else if (section[0] != '\0')
		str_addf(out, "\n%s {\n", section);
	print_options(section, section[0] != '\0' ? "\t" : "", object, out);
	if (section[0] != '\0')
		str_adds(out, "}\n");
}

static void print_pool(const struct conf_pool *p, struct str *out)
{
	str_addf(out, "\npool \"%s\" {\n", p->name);
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, "pool") == 0 &&
		    (p->noffers == 0 || !conf_is_place(&conf_options[i])))
			print_option(&conf_options[i], "\t", p, out);
	for (size_t i = 0; i < p->noffers; i++) {
		str_addf(out, "\n\toffer \"%s\" {\n", p->offers[i].name);
		print_options("offer", "\t\t", &p->offers[i], out);
		str_adds(out, "\t}\n");
	}
	str_adds(out, "}\n");
}

void conf_print(const struct conf *c, struct str *out)
{
	print_section("", NULL, c, out);
	print_section("slurm", NULL, c, out);
	print_section("secrets", NULL, c, out);
	print_section("nodes", NULL, c, out);
	for (size_t i = 0; i < c->nproviders; i++)
		if (!c->providers[i].removed)
			print_section("provider", c->providers[i].name, &c->providers[i], out);
	for (size_t i = 0; i < c->npools; i++)
		if (!c->pools[i].removed)
			print_pool(&c->pools[i], out);
}
