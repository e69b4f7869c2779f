/* Notes the line of each option while libconfuse reads, and the first error in words for people. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf_option.h"
#include "io/conf_file_private.h"

/* libconfuse's callbacks take no argument of ours.  Every section carries an option that no text
 * can set (it has neither a parser nor a printable name) and that points to the loader. */
static char loader_option[] = "\001loader";

void conf_loader_fail(struct conf_loader *l, int line, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	if (l->failed)
		return;
	l->failed = true;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)err_set(l->e, ERR_INVALID, "%.120s:%d: %s", l->name, line > 0 ? line : 1, text);
}

/* Sections nest, two deep. */
int conf_loader_last_line(cfg_t *cfg)
{
	int line = cfg->line;

	for (cfg_opt_t *o = cfg->opts; o->name != NULL; o++)
		for (unsigned i = 0; o->type == CFGT_SEC && i < cfg_opt_size(o); i++) {
			int below = conf_loader_last_line(cfg_opt_getnsec(o, i));

			line = below > line ? below : line;
		}
	return line;
}

const char *conf_loader_section_of(const cfg_t *cfg)
{
	return strcmp(cfg->name, "root") == 0 ? "" : cfg->name;
}

struct conf_loader *conf_loader_of(const cfg_t *cfg)
{
	for (const cfg_opt_t *o = cfg->opts; o->name != NULL; o++)
		if (strcmp(o->name, loader_option) == 0)
			return (struct conf_loader *)(void *)o->simple_value.ptr;
	abort(); /* every section is made by conf_loader_options() */
}

static void unknown_option(cfg_t *cfg, const char *name)
{
	const char *section = conf_loader_section_of(cfg);

	conf_loader_fail(conf_loader_of(cfg), cfg->line,
			 "unknown option \"%.40s\" %s%s; did you mean \"%s\"?", name,
			 section[0] == '\0'                       ? "outside the sections"
			 : strchr("oa", section[0]) != NULL       ? "in an "
			 : section[1] == 'e' || section[0] == 'n' ? "in "
								  : "in a ",
			 section, conf_option_nearest(section, name, conf_loader_of(cfg)->drivers));
}

static void offer_twice(struct conf_loader *l, int line, const char *title)
{
	int first = 1;

	for (size_t i = 0; i < l->noffers; i++)
		if (strcmp(l->offers[i].name, title) == 0)
			first = l->offers[i].line;
	conf_loader_fail(l, line, "offer \"%.60s\" is defined twice; the first ends in line %d",
			 title, first);
}

/* The line where the section of that kind and title ends; 0: there is none yet. */
static int line_of(const struct conf *c, const char *kind, const char *title)
{
	const struct conf_pool *pool = conf_pool_named(c, title);
	const struct conf_alert *alert = conf_alert_named(c, title);
	uint32_t p = conf_provider_named(c, title);

	if (strcmp(kind, "alert") == 0)
		return alert != NULL ? alert->line : 0;
	if (strcmp(kind, "provider") == 0)
		return p < c->nproviders ? c->providers[p].line : 0;
	return pool != NULL ? pool->line : 0;
}

/* Report a title that is used twice, but for a budget's.  libconfuse does not name the kind of
 * section, and a section of each kind may have that title. */
static void title_twice(cfg_t *cfg, const char *title)
{
	static const char *const kinds[] = {"provider", "pool", "alert"};
	struct conf_loader *l = conf_loader_of(cfg);
	const char *kind = NULL;
	size_t n = 0;

	if (strcmp(conf_loader_section_of(cfg), "pool") == 0) {
		offer_twice(l, cfg->line, title);
		return;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (line_of(l->conf, kinds[i], title) != 0) {
			kind = kinds[i];
			n++;
		}
	if (n != 1)
		conf_loader_fail(l, cfg->line,
				 "title \"%.60s\" is defined twice for this kind of section",
				 title);
	else
		conf_loader_fail(l, cfg->line,
				 "%s \"%.60s\" is defined twice; the first ends in line %d", kind,
				 title, line_of(l->conf, kind, title));
}

static void no_title(cfg_t *cfg, const char *section)
{
	conf_loader_fail(conf_loader_of(cfg), cfg->line,
			 "%s has no title: want %s \"NAME\" { ... }", section, section);
}

/* Replace common messages of libconfuse, which are for programmers. */
void conf_loader_on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	static const struct {
		const char *begin;
		void (*say)(cfg_t *cfg, const char *word);
	} better[] = {
		{"no such option '", unknown_option},
		{"found duplicate title '", title_twice},
		{"missing title for section '", no_title},
	};
	char text[160];
	size_t n;

	(void)vsnprintf(text, sizeof(text), fmt, ap);
	n = strlen(text);
	for (size_t i = 0; i < sizeof(better) / sizeof(better[0]); i++) {
		size_t len = strlen(better[i].begin);

		if (n <= len || strncmp(text, better[i].begin, len) != 0 || text[n - 1] != '\'')
			continue;
		text[n - 1] = '\0';
		better[i].say(cfg, text + len);
		return;
	}
	conf_loader_fail(conf_loader_of(cfg), cfg->line, "%s", text);
}

/* The section of an option, by its index in conf_loader.lines. */
static const char *section_of_line(long k)
{
	return (size_t)k < conf_noptions ? conf_options[k].section : "provider";
}

/* Note the line of an option.  def.number is its index in conf_loader.lines. */
static int on_option(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);
	int *line = &l->lines[opt->def.number];

	/* Written as "slurm|conf" = ... */
	if (strcmp(section_of_line(opt->def.number), conf_loader_section_of(cfg)) != 0)
		conf_loader_fail(l, cfg->line, "%s belongs inside its section", opt->name);
	else if (*line != 0 && (opt->flags & CFGF_LIST) == 0)
		conf_loader_fail(l, cfg->line, "%s is defined twice, first in line %d", opt->name,
				 *line);
	*line = cfg->line;
	return l->failed ? -1 : 0;
}

/* To libconfuse all options are text, and conf_option_set() parses them. */
static cfg_opt_t entry(const struct conf_option *o, size_t line)
{
	return (cfg_opt_t){.name = o->name,
			   .type = CFGT_STR,
			   .flags = CFGF_NODEFAULT | (conf_option_is_list(o) ? CFGF_LIST : 0),
			   .def.number = (long)line,
			   .validcb = on_option};
}

static bool has_entry(const cfg_opt_t *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].name, name) == 0)
			return true;
	return false;
}

/* Add the options that only one or several drivers have, each name once: which driver it is stands
 * elsewhere in the section. */
static size_t own_options(const struct conf_loader *l, cfg_opt_t *table, size_t n)
{
	size_t line = conf_noptions;

	for (size_t i = 0; l->drivers[i] != NULL; i++)
		for (size_t k = 0; k < l->drivers[i]->noptions; k++) {
			const struct conf_option *o = &l->drivers[i]->options[k];

			if (has_entry(table, n, o->name))
				continue;
			assert(line < sizeof(l->lines) / sizeof(l->lines[0]));
			table[n++] = entry(o, line++);
		}
	return n;
}

size_t conf_loader_most(const struct conf_loader *l)
{
	size_t most = conf_noptions + 1; /* the loader's own */

	for (size_t i = 0; l->drivers[i] != NULL; i++)
		most += l->drivers[i]->noptions;
	return most;
}

cfg_opt_t conf_loader_option(struct conf_loader *l)
{
	return (cfg_opt_t){
		.name = loader_option, .type = CFGT_PTR, .simple_value.ptr = (void **)(void *)l};
}

size_t conf_loader_options(struct conf_loader *l, const char *section, cfg_opt_t *out)
{
	size_t n = 0;

	out[n++] = conf_loader_option(l);
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, section) == 0)
			out[n++] = entry(&conf_options[i], i);
	return strcmp(section, "provider") == 0 ? own_options(l, out, n) : n;
}
