/* digest.h - SHA-256 over a row of fields, for chains of records that nobody can change unnoticed.
 *
 * Each field is hashed as its length, ':', its text and ',', so that no two rows of fields give the
 * same bytes. */
#ifndef BURSTD_DIGEST_H
#define BURSTD_DIGEST_H

#include <stdint.h>

enum { DIGEST_SIZE = 65 }; /* 64 hex digits and the NUL */

struct digest {
	struct evp_md_ctx_st *md; /* EVP_MD_CTX of OpenSSL */
};

/* before: what is hashed first, as it is; "": nothing. */
void digest_begin(struct digest *d, const char *before);
void digest_text(struct digest *d, const char *text);
void digest_int(struct digest *d, int64_t v); /* as its decimal digits */
void digest_end(struct digest *d, char out[DIGEST_SIZE]);

#endif
