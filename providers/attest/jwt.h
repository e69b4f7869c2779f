/* jwt.h - verifies JSON Web Tokens: RS256 and nothing else.
 *
 * A token's header is not trusted: it only selects one of the known keys, and a token that names
 * another algorithm is refused. */
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

/* Parse Google's two forms of keys: {"kid": "PEM certificate", ...} and JWK, {"keys": [{"kty":
 * "RSA", ...}]}.  A key of another kind, or one that is too short, is an error.  *out is the
 * caller's, NULL on failure. */
int jwt_keys_parse(struct jwt_keys **out, const char *text, size_t len, struct err *e);
void jwt_keys_free(struct jwt_keys *keys); /* NULL is fine */

/* Is the token's key, whose name is put into kid, among the keys?  true for a text that is no
 * token, since no key would help.  keys NULL: no keys. */
bool jwt_has_key(const struct jwt_keys *keys, const char *token, size_t len,
		 char kid[JWT_KID_MAX + 1]);
/* Verify the signature.  *claims, the caller's, are not checked.  *cert, borrowed: the certificate
 * of the key, whose dates are not checked; NULL: the key came without one. */
int jwt_verify(const struct jwt_keys *keys, const char *token, size_t len, json_t **claims,
	       const X509 **cert, struct err *e);

#endif
