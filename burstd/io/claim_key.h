/* claim_key.h - the key for the HMAC of claims' secrets, in the state directory.
 *
 * A claim's secret is stored in user-data only: burstd computes it again from this key.  Whoever
 * has the key can do that, too, so only burstd may read the file.  A file that others can read, or
 * a damaged one, is refused and never replaced, for booting machines have secrets of the old key.
 */
#ifndef BURSTD_CLAIM_KEY_H
#define BURSTD_CLAIM_KEY_H

#include "base/err.h"

enum { CLAIM_KEY_BYTES = 32 };

/* Read the key in dir/claim-key, or make the file, durably.  -1: *e names the file; ERR_AUTH:
 * others can read it, or it is no plain file; ERR_INVALID: damaged; ERR_IO. */
int claim_key_open(unsigned char key[CLAIM_KEY_BYTES], const char *dir, struct err *e);

#endif
