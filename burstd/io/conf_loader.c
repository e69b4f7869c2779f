/* Notes the line of each option while libconfuse reads, and the first error in words for people. */
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
			 : section[0] == 'o'                      ? "in an "
			 : section[1] == 'e' || section[0] == 'n' ? "in "
								  : "in a ",
			 section, conf_option_nearest(section, name));
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

/* Report a title that is used twice.  libconfuse does not name the kind of section, and a provider
 * and a pool may both have that title. */
static void title_twice(cfg_t *cfg, const char *title)
{
	struct conf_loader *l = conf_loader_of(cfg);
	const struct conf_pool *pool = conf_pool_named(l->conf, title);
	const struct conf_provider *p = NULL;

	for (size_t i = 0; i < l->conf->nproviders; i++)
		if (strcmp(l->conf->providers[i].name, title) == 0)
			p = &l->conf->providers[i];
	if (strcmp(conf_loader_section_of(cfg), "pool") == 0)
		offer_twice(l, cfg->line, title);
	else if (p != NULL && pool != NULL)
		conf_loader_fail(l, cfg->line,
				 "title \"%.60s\" is defined twice for this kind of section",
				 title);
	else
		conf_loader_fail(l, cfg->line,
				 "%s \"%.60s\" is defined twice; the first ends in line %d",
				 p != NULL ? "provider" : "pool", title,
				 p != NULL      ? p->line
				 : pool != NULL ? pool->line
						: 1);
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

/* Note the line of an option.  def.number is its index in conf_options. */
static int on_option(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);
	const struct conf_option *o = &conf_options[opt->def.number];
	int *line = &l->lines[opt->def.number];

	if (strcmp(o->section, conf_loader_section_of(cfg)) != 0) /* written as "slurm|conf" = */
		conf_loader_fail(l, cfg->line, "%s belongs inside its section", o->name);
	else if (*line != 0 && !conf_option_is_list(o))
		conf_loader_fail(l, cfg->line, "%s is defined twice, first in line %d", o->name,
				 *line);
	*line = cfg->line;
	return l->failed ? -1 : 0;
}

/* The options of one section for libconfuse: to it all are text, and conf_option_set() parses them.
 */
size_t conf_loader_options(struct conf_loader *l, const char *section, cfg_opt_t *out)
{
	size_t n = 0;

	out[n++] = (cfg_opt_t){
		.name = loader_option, .type = CFGT_PTR, .simple_value.ptr = (void **)(void *)l};
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, section) == 0)
			out[n++] = (cfg_opt_t){
				.name = conf_options[i].name,
				.type = CFGT_STR,
				.flags = CFGF_NODEFAULT |
					 (conf_option_is_list(&conf_options[i]) ? CFGF_LIST : 0),
				.def.number = (long)i,
				.validcb = on_option};
	return n;
}
