/* first_conf.h - makes a first burstd.conf of words OPTION=VALUE, for init.
 *
 * An option is written as burstd.conf(5) names it, alone or with its section before it
 * (pool.region=...).  Alone, it is one of the file's top, of the provider, of that provider's
 * driver, or of the pool; a name that two of them have, such as region, is written in both.  There
 * is one provider and one pool.  Values are not checked here: conf_file_parse() does that. */
#ifndef BURSTD_CLI_FIRST_CONF_H
#define BURSTD_CLI_FIRST_CONF_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "core/conf_option.h"

enum { FIRST_CONF_WORDS_MAX = 256 };

struct first_conf {
	const char *pool;                        /* name of the pool, and so of its partition */
	const char *words[FIRST_CONF_WORDS_MAX]; /* OPTION=VALUE, borrowed */
	const struct conf_option *options[FIRST_CONF_WORDS_MAX];
	size_t n;
	const struct conf_driver *driver; /* NULL: none was named */
};

/* Find the option of each word; words are borrowed for as long as *f is used.  -1: *e. */
int first_conf_init(struct first_conf *f, const char *pool, char **words, struct err *e);

/* The value of an option; NULL: it is not among the words. */
const char *first_conf_get(const struct first_conf *f, const char *section, const char *name);
/* Add a word; it is borrowed.  The option must be one of conf_options[]. */
void first_conf_add(struct first_conf *f, const char *section, const char *name, const char *word);

/* Call fn for each option that has to be given and is not. */
typedef void (*first_conf_fn)(void *ctx, const struct conf_option *o);
void first_conf_missing(const struct first_conf *f, first_conf_fn fn, void *ctx);

/* Append the file. */
void first_conf_write(const struct first_conf *f, struct str *out);

#endif
