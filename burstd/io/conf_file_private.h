/* conf_file_private.h - what the files of conf_file share: conf_file.c reads files, conf_scan.c
 * looks through the text before libconfuse sees it, conf_section.c gives libconfuse the sections
 * and takes their values, conf_loader.c notes lines and the first error. */
#ifndef BURSTD_CONF_FILE_PRIVATE_H
#define BURSTD_CONF_FILE_PRIVATE_H

#include <confuse.h>
#include <stdarg.h>
#include <stdbool.h>

#include "core/conf.h"

struct conf_loader {
	const char *name; /* of the file, for messages */
	struct conf *conf;
	struct err *e;
	bool failed;                /* *e is set; the first error is the one that counts */
	bool slurm, secrets, nodes; /* these sections were there */
	int lines[192]; /* of each option of conf_options in the present sections; 0: not given */
	struct conf_offer *offers; /* of the pool that is being read */
	size_t noffers;
};

/* --- conf_loader.c --- */
/* Note an error; the first one stays. */
void conf_loader_fail(struct conf_loader *l, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
struct conf_loader *conf_loader_of(const cfg_t *cfg);
const char *conf_loader_section_of(const cfg_t *cfg); /* as in conf_options; "": none */
/* The options of one section as libconfuse wants them; returns how many, one more than it has. */
size_t conf_loader_options(struct conf_loader *l, const char *section, cfg_opt_t *out);
/* libconfuse's callback: it found an error. */
void conf_loader_on_error(cfg_t *cfg, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* --- conf_section.c --- */
cfg_t *conf_section_parser(struct conf_loader *l); /* cfg_free() it */
/* Give the options of a section their values, and forget its lines. */
int conf_section_set(struct conf_loader *l, cfg_t *cfg, void *object);
/* Where the option was read in the present section; 0: it was not. */
int conf_section_line_of(const struct conf_loader *l, const char *section, const char *name);
void conf_section_drop_offers(struct conf_loader *l); /* which no pool has taken */

/* --- conf_scan.c --- */
/* Blank the comments, and refuse what libconfuse would take for something else.  -1: refused. */
int conf_scan_text(struct conf_loader *l, char *text);

#endif
