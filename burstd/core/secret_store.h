/* secret_store.h - what a driver of a secret store is: operations in, request bytes out; reply
 * bytes in, result out.
 *
 * The store holds one bundle for the cluster: munge's key and what auth/slurm needs.  A driver is
 * sans-I/O as those of core/provider.h are: keys/secrets.c sends, waits, retries and chooses the
 * address; every word of a server is mapped to the short list below inside the driver.
 *
 * The one thing to know: a secret is a `struct secret` (base/secret.h) from the moment it is read
 * until it is wiped.  What build() gives and parse() takes holds secrets as well, so a request is
 * released by secret_request_fini(), which wipes it, and no message ever quotes a body. */
#ifndef BURSTD_SECRET_STORE_H
#define BURSTD_SECRET_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/secret.h"

enum secret_op_kind {
	SECRET_HEALTH,  /* is this address the one to talk to?  Without a session */
	SECRET_LOGIN,   /* the next step to a session */
	SECRET_RENEW,   /* the session lives longer */
	SECRET_LOGOUT,  /* ... or not */
	SECRET_RIGHTS,  /* what may we do? */
	SECRET_VERSION, /* which version is the current one?  Never touches the bundle */
	SECRET_READ,    /* the bundle, to be handed on (mode B) */
	SECRET_WRAP,    /* a token by which one other may read it, once (mode W) */
	SECRET_REVOKE,  /* such a token, unused */
	SECRET_LOOK,    /* is there such a token still?  It stays whole */
	SECRET_WRITE,   /* a new bundle, if the current one is still that of op.version */
	SECRET_PROMOTE, /* ... is the current one from now on (SECRET_TWO_STEPS), likewise */
	SECRET_PEEK,    /* at a wrapping token: who made it?  It stays whole */
	SECRET_UNWRAP,  /* what such a token holds, once: never sent again blindly */
	SECRET_NOPS
};

/* What became of a request. */
enum secret_code {
	SECRET_OK,
	SECRET_ELSEWHERE, /* not this address: see location, or try the next */
	SECRET_AWAY,      /* sealed, no leader, being kept: another address, later */
	SECRET_BEHIND,    /* this server does not know yet what another one wrote */
	SECRET_RATE,      /* throttled; nothing happened */
	SECRET_TRANSIENT, /* a failure that says nothing of the cause */
	SECRET_DENIED,    /* no session, or a session that may not */
	SECRET_MISSING,   /* there is no such bundle, or version */
	SECRET_CONFLICT,  /* somebody else wrote in between */
	SECRET_SPENT,   /* a wrapping token that was used, has ended, or never was: an alarm.  LOOK
			 * too: of such a one */
	SECRET_INVALID, /* it can never succeed as it is, or the answer makes no sense */
	SECRET_NEW,     /* the store was never set up */
	SECRET_NCODES
};

enum secret_flags {
	SECRET_WRAPS = 1 << 0,     /* SECRET_WRAP, SECRET_REVOKE and SECRET_LOOK */
	SECRET_RENEWS = 1 << 1,    /* SECRET_RENEW, SECRET_LOGOUT, SECRET_RIGHTS */
	SECRET_PROBES = 1 << 2,    /* SECRET_HEALTH */
	SECRET_INSECURE = 1 << 3,  /* for development only: say so everywhere */
	SECRET_ENROLS = 1 << 4,    /* its credential may come wrapped: SECRET_PEEK, SECRET_UNWRAP */
	SECRET_TWO_STEPS = 1 << 5, /* what is written is not read before SECRET_PROMOTE */
};

enum secret_rights {
	SECRET_MAY_READ = 1 << 0,
	SECRET_MAY_POLL = 1 << 1,
	SECRET_MAY_REVOKE = 1 << 2,
	SECRET_MAY_LOOK = 1 << 4,
	SECRET_MAY_ALL = 1 << 3, /* more than any program should: root, or sudo */
};

enum {
	SECRET_URL_MAX = 255,
	SECRET_ADDRESSES_MAX = 8,
	SECRET_VERSION_MAX = 64,     /* bytes: a number, or AWS's uuid */
	SECRET_TOKEN_MAX = 1024,     /* a batch token of Vault's has some hundred bytes */
	SECRET_ACCESSOR_MAX = 127,   /* of a token: names it, and opens nothing */
	SECRET_PATH_MAX = 255,       /* creation_path */
	SECRET_BUNDLE_MAX = 12288,   /* the whole, with base64: a claim's answer has room for it */
	SECRET_REPLY_MAX = 64 << 10, /* bytes of an answer: ours have 3 KiB */
	SECRET_RETRY_MAX_MS = 3600000, /* a longer Retry-After is a mistake or an attack */
};

struct secret_op { /* everything is borrowed */
	enum secret_op_kind kind;
	uint32_t address;    /* which of the store's */
	int64_t at_ms;       /* when it is sent, by the wall clock; signatures carry the time */
	int64_t sent_ms;     /* the same by the engine's time, for who asked */
	const char *version; /* READ, WRAP: this one, "" the current; WRITE: see above, "" none */
	/* PEEK, UNWRAP: a secret; REVOKE, LOOK: the accessor; WRITE: 32 to 64 bytes that make a
	 * repeat the same; PROMOTE: the version that is to be the current one */
	const char *token;
	const char *bundle; /* WRITE */
	uint32_t wrap_s;    /* WRAP: for how long */
};

enum secret_request_kind { SECRET_HTTP, SECRET_FILE };
enum { SECRET_HEADERS_MAX = 8 };

/* What to send; every pointer is owned. */
struct secret_request {
	enum secret_request_kind kind;
	const char *method; /* static; SECRET_FILE: "GET" or "PUT" */
	char *url;          /* SECRET_FILE: a path */
	char *headers[SECRET_HEADERS_MAX + 1];
	char *body; /* NULL: none */
	size_t body_len;
};

struct secret_reply { /* borrowed; SECRET_FILE: 200, or 404, or 403 with the reason as its body */
	long status;
	const char *body;
	size_t len;
	const char *retry_after, *location; /* headers as sent, or NULL */
	const char *version;                /* SECRET_FILE: of the file */
};

/* What the reply means.  Filled by parse(), released by secret_result_fini(). */
struct secret_result {
	enum secret_code code;
	int64_t retry_after_ms;               /* 0: not said */
	char message[160];                    /* for people; "" when OK; no secret is in it */
	char location[SECRET_URL_MAX + 1];    /* ELSEWHERE: where, if that was said */
	char version[SECRET_VERSION_MAX + 1]; /* VERSION, READ, WRITE; "": not said */
	int64_t lease_ms;                     /* LOGIN, RENEW: how long the session lives */
	bool renewable;                       /* ... and may it be made to live longer? */
	unsigned rights;                      /* RIGHTS: enum secret_rights */
	/* LOGIN: for take() alone; READ: the bundle; WRAP: the token; UNWRAP: what was in it */
	struct secret *value;
	char accessor[SECRET_ACCESSOR_MAX + 1]; /* WRAP */
	char path[SECRET_PATH_MAX + 1];         /* WRAP, PEEK: creation_path */
	int64_t ttl_ms;                         /* WRAP */
};

struct secret_store_conf {      /* section "secrets" of burstd.conf; "" or NULL: not said */
	const char *address;    /* URLs, with commas between them */
	const char *namespace;  /* Vault Enterprise's, OpenBao's */
	const char *mount;      /* of the KV v2 engine */
	const char *name;       /* of the bundle: a path in the mount; SecretId; a file */
	const char *auth_mount; /* of AppRole */
	const char *role_id, *role_name;
	const char *credential; /* a secret's text, or NULL */
	const char *region, *role, *sts_url, *metadata_url;
	const char *dir;
};

struct secret_store_ops {
	const char *name; /* driver = "name" */
	/* *e says which option is wrong. */
	int (*open)(void **self, const struct secret_store_conf *conf, struct err *e);
	void (*close)(void *self); /* wipes; NULL is fine */
	unsigned (*flags)(const void *self);
	/* The i-th address as "https://host:port", NULL: there are no more. */
	const char *(*address)(const void *self, uint32_t i);
	/* Fill *out (zeroed by the caller).  -1: it cannot be asked (ERR_AUTH: something of ours
	 * is missing, such as a credential); *out needs no fini. */
	int (*build)(const void *self, const struct secret_op *op, struct secret_request *out,
		     struct err *e);
	/* Fill *out (zeroed by the caller) from any bytes at all. */
	void (*parse)(const void *self, const struct secret_op *op,
		      const struct secret_reply *reply, struct secret_result *out);
	/* When the session ends; 0: there is none; INT64_MAX: there need not be one. */
	int64_t (*good_until)(const void *self);
	/* Take what SECRET_LOGIN or SECRET_RENEW brought, and which time it is.  1: another step is
	 * needed; 0: there is a session; -1: it makes no sense.  r NULL: forget the session. */
	int (*take)(void *self, const struct secret_result *r, int64_t now_ms, struct err *e);
	/* Another credential, as if open() had had it.  NULL: it has none to be given. */
	int (*credential)(void *self, const char *text, struct err *e);
	/* What creation_path of the bundle, and of a wrapped credential, must be; NULL: none. */
	const char *(*path)(const void *self, enum secret_op_kind kind);
};

void secret_request_fini(struct secret_request *r);
void secret_result_fini(struct secret_result *r);
const char *secret_code_str(enum secret_code c);  /* "away", "denied", ... */
const char *secret_op_str(enum secret_op_kind k); /* "health", "read", ... */
/* Is the server's location one of the store's addresses?  Which one; -1: none of them. */
int secret_address_of(const struct secret_store_ops *ops, const void *self, const char *location);

/* --- the bundle --- */

struct secret_piece { /* borrowed from the bundle's text: base64, as it stands there */
	const char *p;
	size_t n; /* 0: the bundle has none */
};

struct secret_bundle {
	struct secret_piece munge_key, slurm_key, slurm_jwks;
	struct secret_piece munge_key_next; /* while munge_key is being replaced by it */
	char kid[64];                       /* public: which key this is; "" when not said */
};

enum { SECRET_KEY_MIN = 32, SECRET_KEY_MAX = 1024 }; /* bytes of munge's key, decoded */

/* Read a bundle and look whether it may be used: one key at least, each of a sane length, and none
 * that the world knows.  *e never quotes it.  out may be NULL. */
int secret_bundle_read(const char *text, size_t len, struct secret_bundle *out, struct err *e);

#endif
