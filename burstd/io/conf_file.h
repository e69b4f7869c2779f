/* conf_file.h - reads burstd.conf into struct conf, by libconfuse.
 *
 * Every error is one line that begins "FILE:LINE: " and says what is wrong and what is wanted; for
 * an unreadable file it begins "FILE: ".  libconfuse has global state: use it in one thread only.
 */
#ifndef BURSTD_CONF_FILE_H
#define BURSTD_CONF_FILE_H

#include "base/err.h"
#include "core/conf.h"

/* Bytes; 20,000 budgets with a few lists each are half of it, 256 pools with long node lists little
 * more. */
enum { CONF_FILE_MAX = 8 << 20 };

/* Load and check (conf_finish()) the configuration at path, and the file of negotiated prices that
 * it may name (prices_file.h); *out is the caller's, NULL on failure.
 * A file that anybody but root and this user can write is refused.  drivers, NULL-terminated and of
 * static lifetime: whose own options it may have; a driver that is not among them has none. */
int conf_file_load(struct conf **out, const char *path, const struct conf_driver *const *drivers,
		   struct err *e);

/* Likewise from text; name: of the file, for errors. */
int conf_file_parse(struct conf **out, const char *name, const char *text,
		    const struct conf_driver *const *drivers, struct err *e);

/* Read the file user_data_file, if one is named, into user_data: once, before the driver is opened.
 */
int conf_file_load_user_data(struct conf_provider *p, struct err *e);
/* Likewise attest_ca_file into attest_ca. */
int conf_file_load_attest_ca(struct conf_provider *p, struct err *e);
/* Read secrets.ca_file, for booting machines; *out is the caller's, NULL: there is none. */
int conf_file_load_store_ca(const struct conf *c, char **out, struct err *e);

#endif
