#include "core/conf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/conf_option.h"
#include "core/conf_private.h"
#include "core/rates.h"
#include "core/secret_store.h"

struct conf *conf_new(const char *path)
{
	struct conf *c = mem_zalloc(sizeof(*c));

	c->path = mem_strdup(path);
	map_init(&c->by_node);
	return c;
}

/* Is o in the struct that holds `section`?  struct conf holds "", slurm, secrets and nodes. */
bool conf_held_by(const struct conf_option *o, const char *section)
{
	if (section[0] == '\0' &&
	    (strcmp(o->section, "slurm") == 0 || strcmp(o->section, "secrets") == 0 ||
	     strcmp(o->section, "nodes") == 0))
		return true;
	return strcmp(o->section, section) == 0;
}

/* The values of a driver's own options. */
static void fini_own(struct conf_provider *p)
{
	for (size_t i = 0; p->own != NULL && i < p->own_options->noptions; i++)
		conf_option_fini(&p->own_options->options[i], p->own);
	free(p->own);
}

static void fini_object(const char *section, void *object)
{
	for (size_t i = 0; i < conf_noptions; i++)
		if (conf_held_by(&conf_options[i], section))
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
	map_fini(&p->unit_of);
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
		fini_own(&c->providers[i]);
		free(c->providers[i].name);
		free(c->providers[i].user_data);
		free(c->providers[i].attest_ca);
	}
	for (size_t i = 0; i < c->npools; i++)
		fini_pool(&c->pools[i]);
	for (size_t i = 0; i < c->nbudgets; i++) {
		fini_object("budget", &c->budgets[i]);
		free(c->budgets[i].name);
	}
	for (size_t i = 0; i < c->nalerts; i++) {
		fini_object("alert", &c->alerts[i]);
		free(c->alerts[i].name);
	}
	fini_object("", c);
	rates_fini(c);
	map_fini(&c->by_node);
	free(c->providers);
	free(c->pools);
	free(c->budgets);
	free(c->alerts);
	free(c->path);
	free(c);
}

bool conf_is_given(const char *text)
{
	return text != NULL && text[0] != '\0';
}

struct provider_conf conf_for_driver(const struct conf_provider *p, const char *credential)
{
	return (struct provider_conf){.name = p->name,
				      .url = p->url,
				      .ca_file = p->ca_file,
				      .credential = credential,
				      .timeout_ms = (uint32_t)p->timeout_ms,
				      .concurrency = p->concurrency,
				      .options = p->own,
				      .user_data = p->user_data};
}

bool conf_makes_fabrics(const struct conf_offer *o)
{
	return o->in_fabric != NULL && (strcmp(o->in_fabric, CONF_FABRIC_JOB) == 0 ||
					strcmp(o->in_fabric, CONF_FABRIC_UNIT) == 0);
}

struct provider_place conf_place(const struct conf_offer *o)
{
	return (struct provider_place){.type = o->type,
				       .region = o->region,
				       .zone = o->zone,
				       .market = (enum provider_market)o->market,
				       .fabric = o->in_fabric};
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

int64_t conf_pool_dearest(const struct conf_pool *p, const char **option)
{
	bool by_rate = p->max_price_nano_h == 0 || p->max_rate_nano_h < p->max_price_nano_h;

	*option = by_rate ? "max_rate" : "max_price";
	return by_rate ? p->max_rate_nano_h : p->max_price_nano_h;
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
	if (o != NULL && conf_is_given(o->interconnect))
		return o->interconnect;
	return p->interconnect != NULL ? p->interconnect : "";
}

const char *conf_own_image_text(const struct conf_provider *p)
{
	const struct conf_option *o =
		p->own_options != NULL ? conf_option_of(p->own_options, "image") : NULL;
	const char *image = NULL;

	if (o != NULL && p->own != NULL)
		image = *(char *const *)((const char *)p->own + o->offset);
	return image != NULL ? image : "";
}

const char *conf_own_image(const struct conf_provider *p)
{
	const char *image = conf_own_image_text(p);

	return strlen(image) <= PROVIDER_IMAGE_MAX ? image : "";
}

const char *conf_image(const struct conf *c, const struct conf_pool *p, const struct conf_offer *o)
{
	if (conf_is_given(o->image))
		return o->image;
	if (conf_is_given(p->image))
		return p->image;
	return conf_own_image(&c->providers[o->provider_index]);
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

static void print_section(const char *section, const void *object, struct str *out)
{
	if (section[0] != '\0')
		str_addf(out, "\n%s {\n", section);
	print_options(section, section[0] != '\0' ? "\t" : "", object, out);
	if (section[0] != '\0')
		str_adds(out, "}\n");
}

static void print_provider(const struct conf_provider *p, struct str *out)
{
	str_addf(out, "\nprovider \"%s\" {\n", p->name);
	print_options("provider", "\t", p, out);
	for (size_t i = 0; p->own != NULL && i < p->own_options->noptions; i++)
		print_option(&p->own_options->options[i], "\t", p->own, out);
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

static void print_budget(const struct conf_budget *b, struct str *out)
{
	str_addf(out, "\nbudget \"%s\" {\n", b->name);
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, "budget") == 0 &&
		    conf_budget_takes(b, &conf_options[i]))
			print_option(&conf_options[i], "\t", b, out);
	str_adds(out, "}\n");
}

static void print_alert(const struct conf_alert *a, struct str *out)
{
	str_addf(out, "\nalert \"%s\" {\n", a->name);
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, "alert") == 0 &&
		    conf_alert_takes(a, &conf_options[i]))
			print_option(&conf_options[i], "\t", a, out);
	str_adds(out, "}\n");
}

void conf_print(const struct conf *c, struct str *out)
{
	print_section("", c, out);
	print_section("slurm", c, out);
	print_section("secrets", c, out);
	print_section("nodes", c, out);
	for (size_t i = 0; i < c->nproviders; i++)
		if (!c->providers[i].removed)
			print_provider(&c->providers[i], out);
	for (size_t i = 0; i < c->npools; i++)
		if (!c->pools[i].removed)
			print_pool(&c->pools[i], out);
	for (size_t i = 0; i < c->nbudgets; i++)
		print_budget(&c->budgets[i], out);
	for (size_t i = 0; i < c->nalerts; i++)
		print_alert(&c->alerts[i], out);
}
