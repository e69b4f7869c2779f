/* conf_file_private.h - conf_file.c reads files, conf_scan.c checks the text before libconfuse sees
 * it, conf_section.c gives libconfuse the sections and takes their values, conf_loader.c notes
 * lines and the first error; prices_file.c uses them for prices.conf.  Only these include this
 * header. */
#ifndef BURSTD_CONF_FILE_PRIVATE_H
#define BURSTD_CONF_FILE_PRIVATE_H

#include <confuse.h>
#include <stdarg.h>
#include <stdbool.h>

#include "base/map.h"
#include "core/conf.h"

struct conf_loader {
	const char *name; /* of the file, for messages */
	struct conf *conf;
	struct err *e;
	bool failed;                /* *e has the first error */
	bool slurm, secrets, nodes; /* whether these sections were in the file */
	const struct conf_driver *const *drivers;
	/* Of each option in the present sections, those of conf_options first, then the names of
	 * drivers' own; 0: not given. */
	int lines[512];
	struct conf_offer *offers; /* of the pool being read */
	size_t noffers;
	struct map budgets; /* name -> its line; borrows the names from conf */
};

/* --- conf_loader.c --- */
/* Set *e, unless it is set. */
void conf_loader_fail(struct conf_loader *l, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
struct conf_loader *conf_loader_of(const cfg_t *cfg);
/* The line where a parser stopped without a message. */
int conf_loader_last_line(cfg_t *cfg);
/* The entry of a section's table by which conf_loader_of() finds the loader; no text can set it. */
cfg_opt_t conf_loader_option(struct conf_loader *l);
const char *conf_loader_section_of(const cfg_t *cfg); /* as in conf_options; "": none */
/* The most entries that the table of a section can have. */
size_t conf_loader_most(const struct conf_loader *l);
/* Make libconfuse's table of a section's options; returns how many entries it has. */
size_t conf_loader_options(struct conf_loader *l, const char *section, cfg_opt_t *out);
/* libconfuse's callback for errors. */
void conf_loader_on_error(cfg_t *cfg, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* --- conf_section.c --- */
cfg_t *conf_section_parser(struct conf_loader *l); /* cfg_free() it */
/* Set the options of a section in object, and clear its lines. */
int conf_section_set(struct conf_loader *l, cfg_t *cfg, void *object);
/* The line of the option in the present section; 0: it is not there. */
int conf_section_line_of(const struct conf_loader *l, const char *section, const char *name);
void conf_section_drop_offers(struct conf_loader *l); /* free offers that no pool took */

/* --- conf_scan.c --- */
/* Blank out comments, and refuse text that libconfuse would misread.  -1: refused. */
int conf_scan_text(struct conf_loader *l, char *text);

#endif
