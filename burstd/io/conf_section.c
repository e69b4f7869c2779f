/* Defines the sections of burstd.conf for libconfuse, and copies the options of each section that
 * was read into struct conf. */
#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/zone.h"
#include "core/conf_option.h"
#include "core/conf_text.h"
#include "io/conf_file_private.h"

/* --- values ----------------------------------------------------------------------------------- */

/* (uid_t)-1 and (gid_t)-1 are nobody's to the kernel. */
static int parse_id(const char *text, uint32_t *out)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	*out = (uint32_t)v;
	return errno == 0 && *end == '\0' && v < UINT32_MAX ? 0 : -1;
}

static int find_id(bool group, const char *name, uint32_t *out)
{
	const struct passwd *pw;
	const struct group *gr;

	if (name[0] >= '0' && name[0] <= '9')
		return parse_id(name, out);
	if (group) {
		gr = getgrnam(name);
		if (gr != NULL)
			*out = gr->gr_gid;
		return gr != NULL ? 0 : -1;
	}
	pw = getpwnam(name);
	if (pw != NULL)
		*out = pw->pw_uid;
	return pw != NULL ? 0 : -1;
}

static void set_ids(struct conf_loader *l, cfg_opt_t *opt, const struct conf_option *o, int line,
		    struct conf_ids *ids)
{
	const bool group = o->type == CONF_GROUPS;
	unsigned n = cfg_opt_size(opt);

	if (n == 0 || l->failed)
		return;
	if (n > CONF_IDS_MAX) {
		conf_loader_fail(l, line, "%s: more than %d %s", o->name, CONF_IDS_MAX,
				 group ? "groups" : "users");
		return;
	}
	ids->v = mem_zalloc(n * sizeof(*ids->v));
	for (unsigned i = 0; i < n; i++) {
		const char *name = cfg_opt_getnstr(opt, i);

		if (find_id(group, name, &ids->v[ids->n++]) < 0)
			conf_loader_fail(l, line, "%s: there is no %s \"%.60s\"", o->name,
					 group ? "group" : "user", name);
	}
}

/* Name an option in a message: `pool "h100": max_nodes`. */
static const char *label(char *out, size_t size, const cfg_t *cfg, const char *option)
{
	if (cfg->title != NULL)
		(void)snprintf(out, size, "%s \"%.30s\": %s", cfg->name, cfg->title, option);
	else
		(void)snprintf(out, size, "%s", option);
	return out;
}

static void set_argv(struct conf_loader *l, cfg_t *cfg, const struct conf_option *o, void *object)
{
	cfg_opt_t *opt = cfg_getopt(cfg, o->name);
	int line = l->lines[opt->def.number];
	struct err why = {0};
	char name[128];

	for (unsigned i = 0; i < cfg_opt_size(opt) && !l->failed; i++)
		if (conf_option_add_arg(o, object, cfg_opt_getnstr(opt, i), &why) < 0)
			conf_loader_fail(l, line, "%s: %.140s",
					 label(name, sizeof(name), cfg, o->name), why.msg);
}

/* A zone must be one that the system has. */
static int check_value(const struct conf_option *o, const char *text, struct err *e)
{
	return o->type == CONF_ZONE ? zone_check(text, e) : 0;
}

static void set_option(struct conf_loader *l, cfg_t *cfg, const struct conf_option *o, void *object)
{
	cfg_opt_t *opt = cfg_getopt(cfg, o->name);
	int line = l->lines[opt->def.number];
	const char *text = cfg_opt_size(opt) > 0 ? cfg_opt_getnstr(opt, 0) : o->initial;
	struct err why = {0};
	char name[128];

	if (o->type == CONF_USERS || o->type == CONF_GROUPS)
		set_ids(l, opt, o, line, (void *)((char *)object + o->offset));
	else if (conf_option_is_list(o))
		set_argv(l, cfg, o, object);
	else if (text == NULL)
		conf_loader_fail(l, cfg->line, "%s is missing (%s)",
				 label(name, sizeof(name), cfg, o->name), o->help);
	else if (conf_option_set(o, object, text, &why) < 0 || check_value(o, text, &why) < 0)
		conf_loader_fail(l, line, "%s: %.140s", label(name, sizeof(name), cfg, o->name),
				 why.msg);
}

/* Give the options of a section their values, and forget its lines. */
int conf_section_set(struct conf_loader *l, cfg_t *cfg, void *object)
{
	for (size_t i = 0; i < conf_noptions; i++) {
		if (strcmp(conf_options[i].section, conf_loader_section_of(cfg)) != 0)
			continue;
		set_option(l, cfg, &conf_options[i], object);
		l->lines[i] = 0;
	}
	return l->failed ? -1 : 0;
}

/* Refuse options of other drivers, and forget the lines of all that drivers have. */
static void check_own(struct conf_loader *l, cfg_t *cfg, const struct conf_provider *p)
{
	for (size_t i = 0; l->drivers[i] != NULL; i++)
		for (size_t k = 0; k < l->drivers[i]->noptions; k++) {
			const char *name = l->drivers[i]->options[k].name;
			int line = l->lines[cfg_getopt(cfg, name)->def.number];

			if (line != 0 && (p->own_options == NULL ||
					  conf_option_of(p->own_options, name) == NULL))
				conf_loader_fail(l, line,
						 "provider \"%.30s\": %s is an option of driver "
						 "%s, not of %.30s",
						 p->name, name, l->drivers[i]->name, p->driver);
		}
	memset(l->lines + conf_noptions, 0, sizeof(l->lines) - conf_noptions * sizeof(l->lines[0]));
}

/* Give the options that only its driver has their values. */
static int set_own(struct conf_loader *l, cfg_t *cfg, struct conf_provider *p)
{
	const struct conf_driver *d = conf_driver_find(l->drivers, p->driver);

	p->own_options = d;
	if (d != NULL && d->size > 0)
		p->own = mem_zalloc(d->size);
	for (size_t i = 0; d != NULL && i < d->noptions; i++)
		set_option(l, cfg, &d->options[i], p->own);
	check_own(l, cfg, p);
	return l->failed ? -1 : 0;
}

int conf_section_line_of(const struct conf_loader *l, const char *section, const char *name)
{
	return l->lines[conf_option_find(section, name) - conf_options];
}

static int check_title(struct conf_loader *l, const cfg_t *cfg)
{
	if (!conf_text_is_name(cfg->title))
		conf_loader_fail(
			l, cfg->line,
			"%s \"%.40s\": want a name: letters, digits, '-', '_' and '.', at most %d",
			cfg->name, cfg->title, PROVIDER_WORD_MAX);
	return l->failed ? -1 : 0;
}

/* --- a section that was read ------------------------------------------------------------------ */

static int on_slurm(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);

	(void)opt;
	if (l->slurm)
		conf_loader_fail(l, cfg->line, "slurm is defined twice");
	l->slurm = true;
	return l->failed ? -1 : 0;
}

/* Note the lines of all options of a section; out has room for `most`. */
static void keep_lines(const struct conf_loader *l, const char *section, int *out, size_t most)
{
	size_t k = 0;

	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, section) == 0) {
			assert(k < most);
			out[k++] = l->lines[i];
		}
}

static int on_secrets(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);

	if (l->secrets)
		conf_loader_fail(l, cfg->line, "secrets is defined twice");
	l->secrets = true;
	l->conf->secrets.line = cfg_opt_getnsec(opt, 0)->line;
	keep_lines(l, "secrets", l->conf->secrets.lines, CONF_SECRETS_MAX);
	return l->failed ? -1 : 0;
}

static int on_nodes(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);

	if (l->nodes)
		conf_loader_fail(l, cfg->line, "nodes is defined twice");
	l->nodes = true;
	l->conf->nodes.line = cfg_opt_getnsec(opt, 0)->line;
	return l->failed ? -1 : 0;
}

static int on_provider(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);
	struct conf *c = l->conf;
	cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	struct conf_provider *p;

	if (check_title(l, section) < 0)
		return -1;
	c->providers = mem_realloc(c->providers, (c->nproviders + 1) * sizeof(*p));
	p = &c->providers[c->nproviders++];
	*p = (struct conf_provider){.name = mem_strdup(section->title),
				    .line = section->line,
				    .driver_line = conf_section_line_of(l, "provider", "driver"),
				    .credential_line =
					    conf_section_line_of(l, "provider", "credential_file"),
				    .ca_line = conf_section_line_of(l, "provider", "ca_file")};
	return conf_section_set(l, section, p) == 0 ? set_own(l, section, p) : -1;
}

void conf_section_drop_offers(struct conf_loader *l)
{
	for (size_t i = 0; i < l->noffers; i++) {
		for (size_t k = 0; k < conf_noptions; k++)
			if (strcmp(conf_options[k].section, "offer") == 0)
				conf_option_fini(&conf_options[k], &l->offers[i]);
		free(l->offers[i].name);
	}
	free(l->offers);
	l->offers = NULL;
	l->noffers = 0;
}

/* An offer ends before its pool does. */
static int on_offer(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);
	cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	struct conf_offer *o;

	if (check_title(l, section) < 0)
		return -1;
	l->offers = mem_realloc(l->offers, (l->noffers + 1) * sizeof(*o));
	o = &l->offers[l->noffers++];
	*o = (struct conf_offer){.name = mem_strdup(section->title),
				 .line = section->line,
				 .provider_line = conf_section_line_of(l, "offer", "provider")};
	return conf_section_set(l, section, o);
}

/* The line of the first option of the current pool that says where to buy. */
static int place_line(const struct conf_loader *l)
{
	int first = 0;

	for (size_t i = 0; i < conf_noptions; i++)
		if (conf_is_place(&conf_options[i]) && l->lines[i] != 0 &&
		    (first == 0 || l->lines[i] < first))
			first = l->lines[i];
	return first;
}

static int on_pool(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);
	struct conf *c = l->conf;
	cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	struct conf_pool *p;

	if (check_title(l, section) < 0)
		return -1;
	c->pools = mem_realloc(c->pools, (c->npools + 1) * sizeof(*p));
	p = &c->pools[c->npools++];
	*p = (struct conf_pool){.name = mem_strdup(section->title),
				.line = section->line,
				.nodes_line = conf_section_line_of(l, "pool", "nodes"),
				.provider_line = conf_section_line_of(l, "pool", "provider"),
				.place_line = place_line(l),
				.offers = l->offers,
				.noffers = l->noffers};
	l->offers = NULL;
	l->noffers = 0;
	return conf_section_set(l, section, p);
}

static int on_budget(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);
	struct conf *c = l->conf;
	cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	struct conf_budget *b;
	int first, rc;

	if (check_title(l, section) < 0)
		return -1;
	first = (int)(intptr_t)map_get(&l->budgets, section->title);
	if (first != 0)
		conf_loader_fail(l, section->line,
				 "budget \"%.60s\" is defined twice; the first ends in line %d",
				 section->title, first);
	if ((c->nbudgets & (c->nbudgets - 1)) == 0) /* they may be thousands: double the room */
		c->budgets = mem_realloc(c->budgets, (2 * c->nbudgets + 1) * sizeof(*b));
	b = &c->budgets[c->nbudgets++];
	*b = (struct conf_budget){.name = mem_strdup(section->title), .line = section->line};
	map_put(&l->budgets, b->name, (void *)(intptr_t)b->line);
	keep_lines(l, "budget", b->lines, CONF_BUDGET_OPTIONS_MAX);
	rc = conf_section_set(l, section, b);
	/* libconfuse compares each title with all before it: with thousands that takes minutes. */
	(void)cfg_opt_rmnsec(opt, cfg_opt_size(opt) - 1);
	return rc;
}

static int on_alert(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);
	struct conf *c = l->conf;
	cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	struct conf_alert *a;

	if (check_title(l, section) < 0)
		return -1;
	c->alerts = mem_realloc(c->alerts, (c->nalerts + 1) * sizeof(*a));
	a = &c->alerts[c->nalerts++];
	*a = (struct conf_alert){.name = mem_strdup(section->title), .line = section->line};
	keep_lines(l, "alert", a->lines, CONF_ALERT_OPTIONS_MAX);
	return conf_section_set(l, section, a);
}

/* --- all of them ------------------------------------------------------------------------------ */

enum {
	SEC_TOP,
	SEC_SLURM,
	SEC_SECRETS,
	SEC_NODES,
	SEC_PROVIDER,
	SEC_POOL,
	SEC_OFFER,
	SEC_BUDGET,
	SEC_ALERT,
	NSECTIONS
};

cfg_t *conf_section_parser(struct conf_loader *l)
{
	static const cfg_flag_t titled = CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES;
	const struct {
		const char *name;
		int parent; /* earlier in this table */
		cfg_flag_t flags;
		cfg_validate_callback_t done;
	} sections[NSECTIONS] = {
		[SEC_TOP] = {"", 0, CFGF_NONE, NULL},
		[SEC_SLURM] = {"slurm", SEC_TOP, CFGF_NONE, on_slurm},
		[SEC_SECRETS] = {"secrets", SEC_TOP, CFGF_NONE, on_secrets},
		[SEC_NODES] = {"nodes", SEC_TOP, CFGF_NONE, on_nodes},
		[SEC_PROVIDER] = {"provider", SEC_TOP, titled, on_provider},
		[SEC_POOL] = {"pool", SEC_TOP, titled, on_pool},
		[SEC_OFFER] = {"offer", SEC_POOL, titled, on_offer},
		[SEC_BUDGET] = {"budget", SEC_TOP, titled, on_budget},
		[SEC_ALERT] = {"alert", SEC_TOP, titled, on_alert},
	};
	const size_t most = conf_loader_most(l) + NSECTIONS + 1; /* and the last, empty one */
	cfg_opt_t *opts[NSECTIONS];
	size_t n[NSECTIONS];
	cfg_t *cfg;

	for (int i = 0; i < NSECTIONS; i++) {
		int up = sections[i].parent;

		opts[i] = mem_zalloc(most * sizeof(*opts[i]));
		n[i] = conf_loader_options(l, sections[i].name, opts[i]);
		if (i != SEC_TOP)
			opts[up][n[up]++] = (cfg_opt_t){.name = sections[i].name,
							.type = CFGT_SEC,
							.flags = sections[i].flags,
							.subopts = opts[i],
							.validcb = sections[i].done};
	}
	cfg = mem_check(cfg_init(opts[SEC_TOP], CFGF_NONE)); /* copies them and their sections */
	(void)cfg_set_error_function(cfg, conf_loader_on_error);
	for (int i = 0; i < NSECTIONS; i++)
		free(opts[i]);
	return cfg;
}
