/* claim_key.h - the key from which the secrets of claims are made, in the state directory.
 *
 * A secret is in user-data and nowhere else: after a start burstd makes all of them again from this
 * key.  Whoever has it can make them too, so the file is burstd's alone; one that is not, or that
 * is damaged, is refused and never replaced, for machines that boot have what came of the old one.
 */
#ifndef BURSTD_CLAIM_KEY_H
#define BURSTD_CLAIM_KEY_H

#include "base/err.h"

enum { CLAIM_KEY_BYTES = 32 };

/* The key in dir/claim-key; if there is no such file it is made, durably.  -1 with *e, which names
 * the file: ERR_AUTH: others can read it, or it is no plain file; ERR_INVALID: damaged; ERR_IO. */
int claim_key_open(unsigned char key[CLAIM_KEY_BYTES], const char *dir, struct err *e);

#endif
