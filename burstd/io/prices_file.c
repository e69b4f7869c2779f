#include "io/prices_file.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"
#include "core/rates.h"
#include "io/conf_file.h"
#include "io/conf_file_private.h"

/* A section that was taken has this line, which no section that was read has. */
enum {
	TAKEN = -1,
	NAMES_MAX = 16, /* options of a section */
};

static const char section_name[] = "price";

static const char *nearest(const char *name)
{
	const char *names[NAMES_MAX];

	assert(rates_noptions <= NAMES_MAX);
	for (size_t i = 0; i < rates_noptions; i++)
		names[i] = rates_options[i].name;
	return opt_nearest(name, names, rates_noptions);
}

static void on_error(cfg_t *cfg, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	static const char unknown[] = "no such option '", untitled[] = "missing title";
	struct conf_loader *l = conf_loader_of(cfg);
	const char *word, *like;
	char text[160];

	(void)vsnprintf(text, sizeof(text), fmt, ap);
	if (strncmp(text, untitled, strlen(untitled)) == 0) {
		conf_loader_fail(l, cfg->line,
				 "price has no title: want price \"PROVIDER\" { ... }");
		return;
	}
	if (strncmp(text, unknown, strlen(unknown)) != 0) {
		conf_loader_fail(l, cfg->line, "%s", text);
		return;
	}
	text[strlen(text) - 1] = '\0'; /* the quote */
	word = text + strlen(unknown);
	like = nearest(word);
	if (strcmp(cfg->name, section_name) != 0)
		conf_loader_fail(l, cfg->line,
				 "\"%.40s\": want nothing but sections: price \"PROVIDER\" { ... }",
				 word);
	else
		conf_loader_fail(l, cfg->line, "unknown option \"%.40s\" in a price%s%s%s", word,
				 like != NULL ? "; did you mean \"" : "", like != NULL ? like : "",
				 like != NULL ? "\"?" : "");
}

static int on_option(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);
	int *line = &l->lines[opt->def.number];

	if (strcmp(cfg->name, section_name) != 0)
		conf_loader_fail(l, cfg->line, "%s belongs inside its section", opt->name);
	else if (*line != 0)
		conf_loader_fail(l, cfg->line, "%s is defined twice, first in line %d", opt->name,
				 *line);
	*line = cfg->line;
	return l->failed ? -1 : 0;
}

static void set_option(struct conf_loader *l, cfg_t *cfg, size_t i, struct conf_rate *r)
{
	const struct conf_option *o = &rates_options[i];
	cfg_opt_t *opt = cfg_getopt(cfg, o->name);
	const char *text = cfg_opt_size(opt) > 0 ? cfg_opt_getnstr(opt, 0) : o->initial;
	struct err why = {0};

	if (text == NULL)
		conf_loader_fail(l, cfg->line, "price \"%.30s\": %s is missing (%s)", cfg->title,
				 o->name, o->help);
	else if (conf_option_set(o, r, text, &why) < 0)
		conf_loader_fail(l, l->lines[i], "price \"%.30s\": %s: %.140s", cfg->title, o->name,
				 why.msg);
	l->lines[i] = 0;
}

/* The section that has just ended.  One with the title of an earlier one stands in its place. */
static cfg_t *ended(cfg_opt_t *opt)
{
	for (unsigned i = 0; i < cfg_opt_size(opt); i++)
		if (cfg_opt_getnsec(opt, i)->line != TAKEN)
			return cfg_opt_getnsec(opt, i);
	abort(); /* libconfuse calls at the end of each section */
}

static int on_price(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_loader *l = conf_loader_of(cfg);
	struct conf *c = l->conf;
	cfg_t *section = ended(opt);
	struct conf_rate *r;

	if ((c->nrates & (c->nrates - 1)) == 0) /* a power of two is full */
		c->rates = mem_realloc(c->rates, (2 * c->nrates + 1) * sizeof(*c->rates));
	r = &c->rates[c->nrates++];
	*r = (struct conf_rate){.provider = mem_strdup(section->title), .line = section->line};
	for (size_t i = 0; i < rates_noptions; i++)
		set_option(l, section, i, r);
	section->line = TAKEN;
	return l->failed ? -1 : 0;
}

static cfg_t *parser(struct conf_loader *l)
{
	cfg_opt_t *in = mem_zalloc((rates_noptions + 2) * sizeof(*in));
	cfg_opt_t top[3] = {conf_loader_option(l)};
	cfg_t *cfg;

	in[0] = conf_loader_option(l);
	for (size_t i = 0; i < rates_noptions; i++)
		in[i + 1] = (cfg_opt_t){.name = rates_options[i].name,
					.type = CFGT_STR,
					.flags = CFGF_NODEFAULT,
					.def.number = (long)i,
					.validcb = on_option};
	top[1] = (cfg_opt_t){.name = section_name,
			     .type = CFGT_SEC,
			     .flags = CFGF_MULTI | CFGF_TITLE,
			     .subopts = in,
			     .validcb = on_price};
	cfg = mem_check(cfg_init(top, CFGF_NONE)); /* copies them and their section */
	(void)cfg_set_error_function(cfg, on_error);
	free(in);
	return cfg;
}

static void parse(struct conf_loader *l, char *text, size_t len)
{
	cfg_t *cfg = parser(l);
	char blank[] = " "; /* fmemopen() may refuse to open nothing */
	FILE *in = mem_check(fmemopen(len > 0 ? text : blank, len > 0 ? len : 1, "r"));

	if (cfg_parse_fp(cfg, in) != CFG_SUCCESS)
		conf_loader_fail(l, conf_loader_last_line(cfg), "syntax error");
	(void)fclose(in);
	(void)cfg_free(cfg);
}

int prices_file_parse(struct conf *c, const char *text, struct err *e)
{
	static const struct conf_driver *const none[] = {NULL};
	struct conf_loader l = {.name = c->prices_file, .conf = c, .e = e, .drivers = none};
	size_t len = strnlen(text, CONF_FILE_MAX + 1);
	char *copy = mem_zalloc(len + 2);

	memcpy(copy, text, len);
	if (len > CONF_FILE_MAX)
		conf_loader_fail(&l, 1, "longer than %d bytes", CONF_FILE_MAX);
	else if (conf_scan_text(&l, copy) == 0)
		parse(&l, copy, len);
	free(copy);
	return l.failed ? -1 : rates_finish(c, e);
}
