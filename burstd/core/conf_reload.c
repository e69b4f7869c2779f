/* Reload: conf_may_replace() says whether a running burstd may take a new configuration,
 * conf_diff() what that changes. */
#include <stdio.h>
#include <string.h>

#include "core/conf.h"
#include "core/conf_option.h"
#include "core/conf_private.h"
#include "core/rates.h"

enum { CONF_TITLE_SIZE = 2 * PROVIDER_WORD_MAX + 2 }; /* POOL/OFFER */

/* --- may the new configuration be taken? -------------------------------------------------------
 */

/* The first option of a section that differs and must not, or NULL. */
static const struct conf_option *fixed_change(const char *section, const void *old,
					      const void *next)
{
	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];

		if (!o->reload && conf_held_by(o, section) && !conf_option_same(o, old, next))
			return o;
	}
	return NULL;
}

/* Likewise of the driver's own options.  Another driver is a change of `driver`. */
static const struct conf_option *fixed_own_change(const struct conf_provider *old,
						  const struct conf_provider *next)
{
	if (old->own == NULL || old->own_options != next->own_options)
		return NULL;
	for (size_t i = 0; i < old->own_options->noptions; i++) {
		const struct conf_option *o = &old->own_options->options[i];

		if (!o->reload && !conf_option_same(o, old->own, next->own))
			return o;
	}
	return NULL;
}

static int needs_restart(const char *section, const char *name, const struct conf_option *o,
			 struct err *e)
{
	return err_set(e, ERR_INVALID, "%s%s%s%s%s: a change needs a restart", section,
		       name != NULL ? " \"" : "", name != NULL ? name : "",
		       name != NULL ? "\" " : "", o->name);
}

static int may_keep(const char *section, const char *name, const void *old, const void *next,
		    struct err *e)
{
	const struct conf_option *o = fixed_change(section, old, next);

	return o != NULL ? needs_restart(section, name, o, e) : 0;
}

static int may_keep_provider(const struct conf_provider *old, const struct conf_provider *next,
			     struct err *e)
{
	const struct conf_option *own = fixed_own_change(old, next);

	if (may_keep("provider", old->name, old, next, e) < 0)
		return -1;
	return own != NULL ? needs_restart("provider", old->name, own, e) : 0;
}

static int moved(const char *section, const char *name, struct err *e)
{
	return err_set(e, ERR_INVALID,
		       "%s \"%s\" is gone or has moved: this needs a restart (new pools come last)",
		       section, name);
}

/* Offers are known by their names, so they may be added and reordered.  One that goes may have a
 * create on its way, which could not be repeated. */
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
		if (may_keep_provider(&old->providers[p], &next->providers[p], e) < 0)
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
		if (old->pools[i].removed) /* the section is back, or still gone */
			continue;
		if (may_keep("pool", name, &old->pools[i], &next->pools[i], e) < 0 ||
		    may_replace_offers(&old->pools[i], &next->pools[i], e) < 0)
			return -1;
	}
	return 0;
}

/* --- what a reload changes ---------------------------------------------------------------------
 */

enum { VALUE_MAX = 1 << 20 }; /* bytes of an option as text */

struct diff {
	conf_change_fn fn;
	void *ctx;
};

static void diff_option(const struct diff *d, struct conf_change c, const struct conf_option *o,
			const void *old, const void *next)
{
	struct str from, to;

	if (conf_option_same(o, old, next))
		return;
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

static void diff_options(const struct diff *d, struct conf_change c, const void *old,
			 const void *next)
{
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, c.section) == 0)
			diff_option(d, c, &conf_options[i], old, next);
}

static void diff_own_options(const struct diff *d, const struct conf_provider *old,
			     const struct conf_provider *next)
{
	const struct conf_change c = {.section = "provider", .title = old->name};

	if (old->own == NULL || old->own_options != next->own_options)
		return;
	for (size_t i = 0; i < old->own_options->noptions; i++)
		diff_option(d, c, &old->own_options->options[i], old->own, next->own);
}

/* Report one provider, pool, budget or alert; old or next is NULL if it is new or gone. */
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
		const struct conf_provider *p = &old->providers[i], *n = provider_in(next, p->name);

		if (p->removed)
			continue;
		diff_section(d, "provider", p->name, p, n);
		if (n != NULL)
			diff_own_options(d, p, n);
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

/* Report the list of offers, in its order, as one change; then changes of the offers that stay. */
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

static void map_budgets(struct map *m, const struct conf *c)
{
	map_init(m);
	for (size_t i = 0; i < c->nbudgets; i++)
		map_put(m, c->budgets[i].name, &c->budgets[i]);
}

static void diff_budgets(const struct diff *d, const struct conf *old, const struct conf *next)
{
	struct map had, has;

	map_budgets(&had, old);
	map_budgets(&has, next);
	for (size_t i = 0; i < old->nbudgets; i++)
		diff_section(d, "budget", old->budgets[i].name, &old->budgets[i],
			     map_get(&has, old->budgets[i].name));
	for (size_t i = 0; i < next->nbudgets; i++)
		if (map_get(&had, next->budgets[i].name) == NULL)
			diff_section(d, "budget", next->budgets[i].name, NULL, &next->budgets[i]);
	map_fini(&had);
	map_fini(&has);
}

static void diff_alerts(const struct diff *d, const struct conf *old, const struct conf *next)
{
	for (size_t i = 0; i < old->nalerts; i++)
		diff_section(d, "alert", old->alerts[i].name, &old->alerts[i],
			     conf_alert_named(next, old->alerts[i].name));
	for (size_t i = 0; i < next->nalerts; i++)
		if (conf_alert_named(old, next->alerts[i].name) == NULL)
			diff_section(d, "alert", next->alerts[i].name, NULL, &next->alerts[i]);
}

/* The same file may say something else. */
static void diff_prices(const struct diff *d, const struct conf *old, const struct conf *next)
{
	const struct conf_change c = {.section = "",
				      .title = "",
				      .option = "prices_file",
				      .from = old->prices_file,
				      .to = "the same file, with other prices"};

	if (old->prices_file != NULL && next->prices_file != NULL &&
	    strcmp(old->prices_file, next->prices_file) == 0 && !rates_same(old, next))
		d->fn(d->ctx, &c);
}

void conf_diff(const struct conf *old, const struct conf *next, conf_change_fn fn, void *ctx)
{
	const struct diff d = {fn, ctx};

	diff_options(&d, (struct conf_change){.section = "", .title = ""}, old, next);
	diff_prices(&d, old, next);
	diff_options(&d, (struct conf_change){.section = "slurm", .title = ""}, old, next);
	diff_options(&d, (struct conf_change){.section = "secrets", .title = ""}, old, next);
	diff_options(&d, (struct conf_change){.section = "nodes", .title = ""}, old, next);
	diff_providers(&d, old, next);
	diff_pools(&d, old, next);
	diff_budgets(&d, old, next);
	diff_alerts(&d, old, next);
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
