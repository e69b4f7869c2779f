/* identity.h - what simcloud's metadata service signs with: keys of its own, in the vendor's form.
 *
 * aws: one certificate, which belongs to no CA: who verifies has to know it beforehand.
 * gcp: an RSA key that has a name in a set of keys (JWK), for tokens.
 * azure: a certificate for metadata.azure.com, made at each start, of an intermediate of a root.
 * It alone is in what it signs; the other two are in the file, for it says of nobody where to get
 * them. */
#ifndef SIMCLOUD_IDENTITY_H
#define SIMCLOUD_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum identity_kind { IDENTITY_AWS, IDENTITY_GCP, IDENTITY_AZURE, IDENTITY_KINDS };

struct identity;

int identity_kind_parse(const char *word, enum identity_kind *k, struct err *e);

/* What it is verified with is in path (PEM; gcp: JSON), its RSA-2048 key in path + ".key" (0600);
 * both are made when there is neither, and what is in path when there is the key alone.  path NULL:
 * both are made, and kept nowhere. */
int identity_open(struct identity **out, enum identity_kind kind, const char *path, struct err *e);
void identity_close(struct identity *i); /* NULL is fine */
enum identity_kind identity_kind(const struct identity *i);

/* A PKCS#7 signature of the text, with the text and the certificate in it, as base64 in lines of
 * that many, without the lines of PEM; the caller's.  NULL: it cannot be signed (gcp). */
char *identity_sign(const struct identity *i, const char *text, size_t len, size_t line);
/* A token (JWT, RS256) with these claims; the caller's.  NULL: it cannot be signed. */
char *identity_jwt(const struct identity *i, const char *claims, size_t len);

enum { IDENTITY_TOKEN_SIZE = 64 };

/* A token that says what until when; good as long as simcloud runs. */
void identity_token(const struct identity *i, uint32_t what, int64_t until_ms,
		    char out[IDENTITY_TOKEN_SIZE]);
bool identity_check(const struct identity *i, const char *token, uint32_t what, int64_t now_ms);

#endif
