/* attest.h - what proves which machine it is that asks: the contract of an identity document.
 *
 * Some clouds sign who an instance is.  A verifier (providers/attest/) turns such a document into
 * an identity, or says in one line why not.  It is pure: what it trusts is given when it is opened,
 * and the time and what is expected with each document; it fetches nothing.  What it has to have
 * from elsewhere, keys that change or an intermediate certificate, it names (lacks()), the engine
 * gets it by HTTPS from the cloud itself, and hands it in (learn()).
 *
 * A document that verifies says which instance it was made for, not who sends it: AWS's has neither
 * nonce nor audience and is readable by every user of the node.  That it may be used, and once, is
 * for the claim to say (core/claim.h). */
#ifndef BURSTD_ATTEST_H
#define BURSTD_ATTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/provider.h"

enum attest_kind {               /* as a node names it */
		   ATTEST_NONE,  /* this cloud signs nothing: address and port must do */
		   ATTEST_AWS,   /* "aws-rsa2048" */
		   ATTEST_GCP,   /* "gcp-jwt" */
		   ATTEST_AZURE, /* "azure-attested" */
		   ATTEST_NKINDS
};

enum {
	ATTEST_DOC_MAX = 16384, /* a document; AWS's have 2 KiB, Azure's, with their chain, 8 KiB */
	ATTEST_WORD_MAX = 127,  /* each word in it */
	ATTEST_URL_MAX = 255,
	ATTEST_SKEW_MS = 60000, /* that the clock of who signs may be ahead of ours */
};

struct attest_identity {                   /* "" and 0: it does not say */
	char account[ATTEST_WORD_MAX + 1]; /* AWS account, GCP project, Azure subscription */
	char region[ATTEST_WORD_MAX + 1];
	char zone[ATTEST_WORD_MAX + 1];
	char instance[PROVIDER_ID_MAX + 1]; /* the provider's id of it; Azure: vmId */
	char name[ATTEST_WORD_MAX + 1];     /* the provider's name of it */
	char image[ATTEST_WORD_MAX + 1];
	char type[ATTEST_WORD_MAX + 1];
	char nonce[ATTEST_WORD_MAX + 1]; /* the nonce or audience that it was made for */
	int64_t created_ms;              /* when the instance was started */
	int64_t issued_ms, expires_ms;   /* when the document was made, and when it ends */
};

struct attest_expect { /* NULL: anything will do; what must be there is said per kind */
	const char *account;
	const char *region; /* AWS: must be given, for it decides whose signature counts */
	const char *instance;
	const char *nonce; /* GCP: the audience, Azure: the nonce; must be given */
};

struct attest_conf {       /* borrowed during open() */
	const char *trust; /* AWS: PEM by region, NULL: what is shipped.  GCP: NULL, or keys.
			    * Azure: roots, and intermediates, in PEM; must be given */
	size_t trust_len;
	const char *domain; /* Azure: of its certificates; NULL: metadata.azure.com */
};

struct attest_lack {                   /* a key, or a certificate, that a document needs */
	char what[ATTEST_URL_MAX + 1]; /* its name, which differs where it differs */
	char url[ATTEST_URL_MAX + 1];  /* where it would be: always https, at the cloud itself */
	bool said; /* the document says where: if it is not there, the document is wrong */
};

struct attest_ops {
	enum attest_kind kind;
	int (*open)(void **self, const struct attest_conf *conf, struct err *e);
	void (*close)(void *self); /* NULL is fine */
	/* 0 and *out, which is wanted; or -1 with *e: ERR_INVALID: it is no such document;
	 * ERR_AUTH: it is one, but not signed by who should have, or not what is expected;
	 * ERR_LIMIT: what it is signed with is not known (lacks()); ERR_TIME: it is signed, and
	 * what is expected, but not good at now_ms: then *out says what it is all the same.  That
	 * is a wrong clock more often than a thief. */
	int (*verify)(const void *self, const struct attest_expect *want, const char *doc,
		      size_t len, int64_t now_ms, struct attest_identity *out, struct err *e);
	/* What to get before this document can be judged: 1 and *out; 0: there is nothing to get,
	 * and what verify() does not know nobody does.  NULL in who never lacks a thing. */
	int (*lacks)(const void *self, const char *doc, size_t len, struct attest_lack *out);
	/* What was there.  -1: that makes no sense, or nobody vouches for it, and nothing has
	 * changed. */
	int (*learn)(void *self, const char *body, size_t len, struct err *e);
};

const char *attest_kind_str(enum attest_kind k);
int attest_kind_parse(const char *word); /* -1: none of these */

/* Is it what is expected?  -1 with *e (ERR_AUTH), which names the first thing that differs.  A word
 * that is expected and that the document does not have differs too. */
int attest_match(const struct attest_identity *id, const struct attest_expect *want, struct err *e);

#endif
