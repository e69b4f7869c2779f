/* prices_file.h - reads prices.conf, the negotiated prices (core/rates.h), by libconfuse.
 *
 * Every error is one line that begins "FILE:LINE: ", as for burstd.conf (conf_file.h), and the
 * syntax is the same.  Use it in the thread that reads burstd.conf. */
#ifndef BURSTD_PRICES_FILE_H
#define BURSTD_PRICES_FILE_H

#include "base/err.h"
#include "core/conf.h"

/* Put what text says into c->rates, and check it (rates_finish()).  c has been finished, has no
 * rates yet, and its prices_file names the file in errors.  -1: c->rates is only good for
 * conf_free(). */
int prices_file_parse(struct conf *c, const char *text, struct err *e);

#endif
