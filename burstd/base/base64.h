/* base64.h - base64 to bytes, as RFC 4648 has it and not a byte more lenient.
 *
 * One text for one value: padding must be there (or, of the URL alphabet, must not), the bits that
 * are left over are zero, and nothing stands behind the end.  A text that two readers take for
 * different things is how a signature is got round. */
#ifndef BURSTD_BASE64_H
#define BURSTD_BASE64_H

#include <stdbool.h>
#include <stddef.h>

enum base64_kind {
	BASE64_PLAIN, /* '+' and '/', padded */
	BASE64_LINES, /* the same, in lines: blanks, CR and LF are passed over */
	BASE64_URL,   /* '-' and '_', without padding (JWT) */
};

/* The bytes into out, which has size; out may be text.  *n: how many.  false: it is not that, or
 * does not fit; what is in out then is of no use. */
bool base64_decode(enum base64_kind kind, const char *text, size_t len, unsigned char *out,
		   size_t size, size_t *n);

#endif
