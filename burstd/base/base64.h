/* base64.h - decodes base64, strictly as RFC 4648 says.
 *
 * There is one text for one value: padding is required (in the URL alphabet: not allowed), spare
 * bits must be zero, and nothing may follow the end.  A text that two decoders read differently is
 * a way around a signature. */
#ifndef BURSTD_BASE64_H
#define BURSTD_BASE64_H

#include <stdbool.h>
#include <stddef.h>

enum base64_kind {
	BASE64_PLAIN, /* '+' and '/', padded */
	BASE64_LINES, /* likewise, in lines: blanks, CR and LF are skipped */
	BASE64_URL,   /* '-' and '_', without padding (JWT) */
};

/* Decode into out, which has size bytes; out may be text.  *n: how many bytes.  false: it is no
 * base64, or does not fit; the contents of out are undefined then. */
bool base64_decode(enum base64_kind kind, const char *text, size_t len, unsigned char *out,
		   size_t size, size_t *n);

#endif
