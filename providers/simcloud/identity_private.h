/* identity_private.h - shared by identity.c and identity_keys.c; nobody else includes it. */
#ifndef SIMCLOUD_IDENTITY_PRIVATE_H
#define SIMCLOUD_IDENTITY_PRIVATE_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "base/str.h"
#include "providers/simcloud/identity.h"

enum { IDENTITY_KID_SIZE = 41 };

struct identity {
	enum identity_kind kind;
	EVP_PKEY *key;               /* that signs */
	X509 *cert;                  /* certificate of key; NULL: gcp */
	char kid[IDENTITY_KID_SIZE]; /* gcp: the key's name */
	EVP_PKEY *kept;              /* azure: key of the intermediate, which the file has */
	X509 *inter, *root;          /* azure: the other certificates */
	unsigned char secret[32];    /* key of identity_token() */
};

/* --- identity_keys.c --- */

/* Make new keys and certificates, in memory only; with a key in the file, certificates for it. */
int identity_make(struct identity *i);
/* Write the two files, which must not exist.  A failure may leave the key. */
int identity_keep(const struct identity *i, const char *path, const char *key_path, struct err *e);
/* Read the key, whose other file is missing, since who wrote it was killed then; make that file. */
int identity_mend(struct identity *i, const char *path, const char *key_path, struct err *e);
int identity_load(struct identity *i, const char *path, const char *key_path, struct err *e);

/* Append base64url without padding, as in a JWT. */
void identity_add_url64(struct str *s, const void *data, size_t n);

#endif
