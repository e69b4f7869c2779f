/* identity.h - what simcloud's metadata service signs with: a key and a certificate of its own.
 *
 * As with EC2's, the certificate belongs to no CA: who verifies has to know it beforehand. */
#ifndef SIMCLOUD_IDENTITY_H
#define SIMCLOUD_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct identity;

/* The certificate is in path (PEM), its RSA-2048 key in path + ".key" (0600); both are made when
 * there is neither.  path NULL: they are made, and kept nowhere. */
int identity_open(struct identity **out, const char *path, struct err *e);
void identity_close(struct identity *i); /* NULL is fine */

/* A PKCS#7 signature of the text, with the text in it, as base64 in lines of 64, without the lines
 * of PEM; the caller's.  NULL: it cannot be signed. */
char *identity_sign(const struct identity *i, const char *text, size_t len);

enum { IDENTITY_TOKEN_SIZE = 64 };

/* A token that says what until when; good as long as simcloud runs. */
void identity_token(const struct identity *i, uint32_t what, int64_t until_ms,
		    char out[IDENTITY_TOKEN_SIZE]);
bool identity_check(const struct identity *i, const char *token, uint32_t what, int64_t now_ms);

#endif
