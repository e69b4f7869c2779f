/* conf_file.h - burstd.conf to struct conf, by libconfuse.
 *
 * Every error is one line that begins "FILE:LINE: " and says what was wrong and what is wanted; a
 * file that cannot be read at all is "FILE: ".  The parser below has state of its own: one thread
 * only. */
#ifndef BURSTD_CONF_FILE_H
#define BURSTD_CONF_FILE_H

#include "base/err.h"
#include "core/conf.h"

enum { CONF_FILE_MAX = 1 << 20 }; /* bytes; 256 pools with long node lists are a quarter of it */

/* The configuration at path, whole and checked (conf_finish()), in *out, the caller's; NULL on
 * failure. A file that others than root and ourselves can write is refused. */
int conf_file_load(struct conf **out, const char *path, struct err *e);

/* The same from text; `name` is what errors call the file. */
int conf_file_parse(struct conf **out, const char *name, const char *text, struct err *e);

/* Read what user_data_file names, if any, into user_data: once, by who is about to open the driver.
 */
int conf_file_load_user_data(struct conf_provider *p, struct err *e);
/* Likewise attest_ca_file, into attest_ca. */
int conf_file_load_attest_ca(struct conf_provider *p, struct err *e);
/* What is in secrets.ca_file, for machines that boot: *out is the caller's, NULL: there is none. */
int conf_file_load_store_ca(const struct conf *c, char **out, struct err *e);

#endif
