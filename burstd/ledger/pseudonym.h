/* pseudonym.h - stands for a user in what is given away: the same for the same user and key, and
 * nobody without the key can tell who it is, or try names. */
#ifndef BURSTD_LEDGER_PSEUDONYM_H
#define BURSTD_LEDGER_PSEUDONYM_H

#include "base/err.h"
#include "base/secret.h"

enum {
	PSEUDONYM_SIZE = 2 + 16 + 1, /* "u-", 8 bytes of HMAC-SHA256 in hex, NUL */
	PSEUDONYM_KEY_MIN = 16,      /* bytes: a shorter key could be tried */
};

/* Read the site's key: a file that others cannot read.  -1: *e; *out is NULL. */
int pseudonym_load(struct secret **out, const char *path, struct err *e);
/* "" stays "", nobody. */
const char *pseudonym_of(char out[PSEUDONYM_SIZE], const struct secret *key, const char *user);

#endif
