/* identity.h - the keys with which simcloud's metadata service signs, in the vendor's form.
 *
 * aws: one certificate, issued by no CA: whoever verifies must know it beforehand.
 * gcp: an RSA key for tokens, with a name, in a set of keys (JWK).
 * azure: a certificate for metadata.azure.com, made at each start and issued by an intermediate of
 * a root.  Signatures contain that certificate alone; the other two are in the file, since the
 * certificate does not say where to get them. */
#ifndef SIMCLOUD_IDENTITY_H
#define SIMCLOUD_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum identity_kind { IDENTITY_AWS, IDENTITY_GCP, IDENTITY_AZURE, IDENTITY_KINDS };

struct identity;

int identity_kind_parse(const char *word, enum identity_kind *k, struct err *e);

/* path has what verifies signatures (PEM; gcp: JSON), path + ".key" (0600) the RSA-2048 key.  Both
 * are made if neither exists, the first is made anew if only the key does.  path NULL: they are
 * made and kept nowhere. */
int identity_open(struct identity **out, enum identity_kind kind, const char *path, struct err *e);
void identity_close(struct identity *i); /* NULL is fine */
enum identity_kind identity_kind(const struct identity *i);

/* A PKCS#7 signature of the text, with text and certificate in it, as base64 in lines of `line`
 * bytes, without PEM's first and last line; the caller frees it.  NULL: it cannot be signed (gcp).
 */
char *identity_sign(const struct identity *i, const char *text, size_t len, size_t line);
/* A token (JWT, RS256) with these claims; the caller frees it.  NULL: it cannot be signed. */
char *identity_jwt(const struct identity *i, const char *claims, size_t len);

enum { IDENTITY_TOKEN_SIZE = 64 };

/* A token for `what` that expires at until_ms; valid as long as simcloud runs. */
void identity_token(const struct identity *i, uint32_t what, int64_t until_ms,
		    char out[IDENTITY_TOKEN_SIZE]);
bool identity_check(const struct identity *i, const char *token, uint32_t what, int64_t now_ms);

#endif
