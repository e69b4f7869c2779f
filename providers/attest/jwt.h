/* jwt.h - JSON Web Tokens: RS256 and nothing else.
 *
 * The header of a token comes from whoever made it: it may name a key that we have, and it is
 * refused when it names another algorithm than the one that is used anyway. */
#ifndef PROVIDERS_ATTEST_JWT_H
#define PROVIDERS_ATTEST_JWT_H

#include <jansson.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { JWT_KEYS_MAX = 16, JWT_KID_MAX = 127, JWT_TOKEN_MAX = 16384 };

struct jwt_keys;

/* Google's two forms: {"kid": "PEM certificate", ...} and JWK, {"keys": [{"kty": "RSA", ...}]}.
 * One that cannot be used, of another kind or too short, is an error: it is known what is sent.
 * *out is the caller's, NULL on failure. */
int jwt_keys_parse(struct jwt_keys **out, const char *text, size_t len, struct err *e);
void jwt_keys_free(struct jwt_keys *keys); /* NULL is fine */

/* Is the token's key, which is named in kid, among them?  true too for what is no token: it needs
 * no key.  NULL: none are known. */
bool jwt_has_key(const struct jwt_keys *keys, const char *token, size_t len,
		 char kid[JWT_KID_MAX + 1]);
/* *claims, the caller's, when the signature holds; they are not looked at.  *cert, borrowed: the
 * certificate that the key came in, whose time is not looked at either; NULL: it came without. */
int jwt_verify(const struct jwt_keys *keys, const char *token, size_t len, json_t **claims,
	       const X509 **cert, struct err *e);

#endif
