/* identity_private.h - between the two halves of identity; nobody else includes it. */
#ifndef SIMCLOUD_IDENTITY_PRIVATE_H
#define SIMCLOUD_IDENTITY_PRIVATE_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "base/str.h"
#include "providers/simcloud/identity.h"

enum { IDENTITY_KID_SIZE = 41 };

struct identity {
	enum identity_kind kind;
	EVP_PKEY *key;
	X509 *cert;                  /* of it; NULL: gcp */
	char kid[IDENTITY_KID_SIZE]; /* gcp: the key's name */
	EVP_PKEY *kept;              /* the key that is in the file: azure's intermediate's */
	X509 *inter, *root;          /* azure */
	unsigned char secret[32];    /* of tokens */
};

/* --- identity_keys.c --- */

/* New ones, in memory alone; but the key that is in the file, if it is given. */
int identity_make(struct identity *i);
/* To the two files, which must not be there.  A failure may leave the key. */
int identity_keep(const struct identity *i, const char *path, const char *key_path, struct err *e);
/* Read the key, whose other file is missing, since who wrote it was killed then; make that file. */
int identity_mend(struct identity *i, const char *path, const char *key_path, struct err *e);
int identity_load(struct identity *i, const char *path, const char *key_path, struct err *e);

/* As JWT has it: base64 of URLs, without padding. */
void identity_add_url64(struct str *s, const void *data, size_t n);

#endif
