/* attest.h - identity documents: how a cloud signs which machine an instance is.
 *
 * A verifier (providers/attest/) turns such a document into an identity, or says in one line why
 * not.  It is pure: it gets its trust anchors when it is opened, and the time and the expected
 * identity with each document; it fetches nothing.  If it needs keys that change, or an
 * intermediate certificate, lacks() names them, the engine fetches them by HTTPS from the cloud
 * itself, and hands them in by learn().
 *
 * A valid document says which instance it was made for, not who sends it: AWS's has neither nonce
 * nor audience, and every user of the node can read it.  core/claim.h decides whether a document
 * may be used, and that it is used once. */
#ifndef BURSTD_ATTEST_H
#define BURSTD_ATTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/provider.h"

enum attest_kind {               /* the word that a node uses */
		   ATTEST_NONE,  /* the cloud signs nothing: address and port are the proof */
		   ATTEST_AWS,   /* "aws-rsa2048" */
		   ATTEST_GCP,   /* "gcp-jwt" */
		   ATTEST_AZURE, /* "azure-attested" */
		   ATTEST_NKINDS
};

enum {
	ATTEST_DOC_MAX = 16384, /* a document; AWS's have 2 KiB, Azure's, with their chain, 8 KiB */
	ATTEST_WORD_MAX = 127,  /* each word in it */
	ATTEST_URL_MAX = 255,
	ATTEST_SKEW_MS = 60000, /* how far the signer's clock may be ahead of ours */
};

struct attest_identity {                   /* "" and 0: not in the document */
	char account[ATTEST_WORD_MAX + 1]; /* AWS account, GCP project, Azure subscription */
	char region[ATTEST_WORD_MAX + 1];
	char zone[ATTEST_WORD_MAX + 1];
	char instance[PROVIDER_ID_MAX + 1]; /* the provider's id; Azure: vmId */
	char name[ATTEST_WORD_MAX + 1];     /* the provider's name for the instance */
	char image[ATTEST_WORD_MAX + 1];
	char type[ATTEST_WORD_MAX + 1];
	char nonce[ATTEST_WORD_MAX + 1]; /* the nonce or audience of the document */
	int64_t created_ms;              /* when the instance was started */
	int64_t issued_ms, expires_ms;   /* of the document */
};

struct attest_expect { /* NULL: anything; some kinds require some of these */
	const char *account;
	const char *region; /* AWS: required, since it selects the signer's certificate */
	const char *instance;
	const char *nonce; /* GCP: the audience, Azure: the nonce; required */
};

struct attest_conf {       /* borrowed during open() */
	const char *trust; /* AWS: PEM by region, NULL: the built-in ones.  GCP: NULL, or keys.
			      Azure: roots and intermediates in PEM; required */
	size_t trust_len;
	const char *domain; /* Azure: of its certificates; NULL: metadata.azure.com */
};

struct attest_lack { /* a key or certificate that is missing to check a document */
	char what[ATTEST_URL_MAX + 1]; /* a name, different for each key or certificate */
	char url[ATTEST_URL_MAX + 1];  /* where to fetch it: always https, at the cloud itself */
	bool said; /* url is from the document, which is wrong if nothing is there */
};

struct attest_ops {
	enum attest_kind kind;
	int (*open)(void **self, const struct attest_conf *conf, struct err *e);
	void (*close)(void *self); /* NULL is fine */
	/* 0: *out is the expected identity.  -1: *e says why: ERR_INVALID: it is no such document;
	 * ERR_AUTH: the signature is wrong, or the identity is another one; ERR_LIMIT: the signing
	 * key is not known (lacks()); ERR_TIME: all is right, but the document is not valid at
	 * now_ms; *out is filled in then, too, for a wrong clock is more likely than a thief. */
	int (*verify)(const void *self, const struct attest_expect *want, const char *doc,
		      size_t len, int64_t now_ms, struct attest_identity *out, struct err *e);
	/* 1: *out must be fetched before this document can be checked; 0: there is nothing to
	 * fetch.  NULL: this verifier never lacks anything. */
	int (*lacks)(const void *self, const char *doc, size_t len, struct attest_lack *out);
	/* Take what was fetched.  -1: it cannot be read, or is not signed by a trusted root, and
	 * nothing has changed. */
	int (*learn)(void *self, const char *body, size_t len, struct err *e);
};

const char *attest_kind_str(enum attest_kind k);
int attest_kind_parse(const char *word); /* -1: none of these */

/* Compare an identity with the expected one.  -1: *e (ERR_AUTH) names the first field that differs,
 * or is missing in the document. */
int attest_match(const struct attest_identity *id, const struct attest_expect *want, struct err *e);

#endif
