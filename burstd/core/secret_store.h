/* secret_store.h - what a driver of a secret store is: operations in, request bytes out; reply
 * bytes in, result out.
 *
 * The store holds one bundle for the cluster: munge's key and what auth/slurm needs.  A driver is
 * sans-I/O as those of core/provider.h are: keys/secrets.c sends, waits, retries and chooses the
 * address; the driver maps every error of its server to the short list below.
 *
 * The one thing to know: a secret is a `struct secret` (base/secret.h) from the moment it is read
 * until it is wiped.  Requests and replies hold secrets as well, so secret_request_fini() wipes a
 * request, and no message ever quotes a body. */
#ifndef BURSTD_SECRET_STORE_H
#define BURSTD_SECRET_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/headers.h"
#include "base/secret.h"

enum secret_op_kind {
	SECRET_HEALTH,  /* is this the address to use?  Needs no session */
	SECRET_LOGIN,   /* the next step to a session */
	SECRET_RENEW,   /* extend the session */
	SECRET_LOGOUT,  /* end the session */
	SECRET_RIGHTS,  /* the rights of the session */
	SECRET_VERSION, /* the current version; does not read the bundle */
	SECRET_READ,    /* the bundle (mode B) */
	SECRET_WRAP,    /* a token by which a node may read the bundle, once (mode W) */
	SECRET_REVOKE,  /* revoke such a token, unused */
	SECRET_LOOK,    /* does such a token still exist?  Does not use it */
	SECRET_WRITE,   /* write a bundle, if the current version is still op.version */
	SECRET_PROMOTE, /* make the written bundle the current one (SECRET_TWO_STEPS), likewise */
	SECRET_PEEK,    /* who made a wrapping token?  Does not use it */
	SECRET_UNWRAP,  /* the contents of a wrapping token, once: never repeated blindly */
	SECRET_NOPS
};

/* The result of a request. */
enum secret_code {
	SECRET_OK,
	SECRET_ELSEWHERE, /* another address: see location, or try the next */
	SECRET_AWAY,      /* sealed, no leader, maintenance: try another address, later */
	SECRET_BEHIND,    /* this server has not yet seen what another one wrote */
	SECRET_RATE,      /* throttled; nothing happened */
	SECRET_TRANSIENT, /* it failed for an unknown cause */
	SECRET_DENIED,    /* no session, or not enough rights */
	SECRET_MISSING,   /* no such bundle, or version */
	SECRET_CONFLICT,  /* somebody else wrote meanwhile */
	SECRET_SPENT, /* the wrapping token was used, has expired or never existed: an alarm.  LOOK,
			 too */
	SECRET_INVALID, /* it can never succeed, or the answer cannot be read */
	SECRET_NEW,     /* the store was never initialised */
	SECRET_NCODES
};

enum secret_flags {
	SECRET_WRAPS = 1 << 0,     /* SECRET_WRAP, SECRET_REVOKE and SECRET_LOOK */
	SECRET_RENEWS = 1 << 1,    /* SECRET_RENEW, SECRET_LOGOUT, SECRET_RIGHTS */
	SECRET_PROBES = 1 << 2,    /* SECRET_HEALTH */
	SECRET_INSECURE = 1 << 3,  /* for development only: burstd says so everywhere */
	SECRET_ENROLS = 1 << 4,    /* takes a wrapped credential: SECRET_PEEK, SECRET_UNWRAP */
	SECRET_TWO_STEPS = 1 << 5, /* a written bundle is not current before SECRET_PROMOTE */
};

enum secret_rights {
	SECRET_MAY_READ = 1 << 0,
	SECRET_MAY_POLL = 1 << 1,
	SECRET_MAY_REVOKE = 1 << 2,
	SECRET_MAY_LOOK = 1 << 4,
	SECRET_MAY_ALL = 1 << 3, /* more than any program should have: root, or sudo */
};

enum {
	SECRET_URL_MAX = 255,
	SECRET_ADDRESSES_MAX = 8,
	SECRET_VERSION_MAX = 64,       /* bytes: a number, or AWS's uuid */
	SECRET_TOKEN_MAX = 1024,       /* a batch token of Vault has some hundred bytes */
	SECRET_ACCESSOR_MAX = 127,     /* names a token, and opens nothing */
	SECRET_PATH_MAX = 255,         /* creation_path */
	SECRET_BUNDLE_MAX = 12288,     /* with base64; fits into the answer to a claim */
	SECRET_REPLY_MAX = 64 << 10,   /* bytes of an answer; real ones have 3 KiB */
	SECRET_RETRY_MAX_MS = 3600000, /* a longer Retry-After is a mistake or an attack */
};

struct secret_op { /* everything is borrowed */
	enum secret_op_kind kind;
	uint32_t address;    /* index of the address */
	int64_t at_ms;       /* when it is sent, by the wall clock, for signatures */
	int64_t sent_ms;     /* the same by the engine's time */
	const char *version; /* READ, WRAP: the one to read, "": the current; WRITE: see above, "":
				none */
	/* PEEK, UNWRAP: a secret; REVOKE, LOOK: the accessor; WRITE: 32 to 64 bytes by which the
	 * store knows a repeat; PROMOTE: the new current version */
	const char *token;
	const char *bundle; /* WRITE */
	uint32_t wrap_s;    /* WRAP: life of the token */
};

enum secret_request_kind { SECRET_HTTP, SECRET_FILE };
enum { SECRET_HEADERS_MAX = 8 };

/* What to send; it owns every pointer. */
struct secret_request {
	enum secret_request_kind kind;
	const char *method; /* static; SECRET_FILE: "GET" or "PUT" */
	char *url;          /* SECRET_FILE: a path */
	char *headers[SECRET_HEADERS_MAX + 1];
	char *body; /* NULL: none */
	size_t body_len;
};

struct secret_reply { /* borrowed; SECRET_FILE: status is 200, 404, or 403 with the reason as body
		       */
	long status;
	const char *body;
	size_t len;
	struct headers headers; /* of HTTP */
	const char *version;    /* SECRET_FILE: of the file */
};

/* What the reply means.  Filled in by parse(), freed by secret_result_fini(). */
struct secret_result {
	enum secret_code code;
	int64_t retry_after_ms;               /* 0: not said */
	char message[160];                    /* for people; "" when OK; holds no secret */
	char location[SECRET_URL_MAX + 1];    /* ELSEWHERE: the other address; "": not said */
	char version[SECRET_VERSION_MAX + 1]; /* VERSION, READ, WRITE; "": not said */
	int64_t lease_ms;                     /* LOGIN, RENEW: life of the session */
	bool renewable;                       /* LOGIN, RENEW: the session can be renewed */
	unsigned rights;                      /* RIGHTS: enum secret_rights */
	/* LOGIN: for take() only; READ: the bundle; WRAP: the token; UNWRAP: its contents */
	struct secret *value;
	char accessor[SECRET_ACCESSOR_MAX + 1]; /* WRAP */
	char path[SECRET_PATH_MAX + 1];         /* WRAP, PEEK: creation_path */
	int64_t ttl_ms;                         /* WRAP */
};

struct secret_store_conf {      /* section "secrets" of burstd.conf; "" or NULL: not given */
	const char *address;    /* URLs, comma-separated */
	const char *namespace;  /* Vault Enterprise's, OpenBao's */
	const char *mount;      /* of the KV v2 engine */
	const char *name;       /* of the bundle: a path in the mount, a SecretId, or a file */
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
	/* The i-th address as "https://host:port"; NULL: no more. */
	const char *(*address)(const void *self, uint32_t i);
	/* Fill in *out (zeroed by the caller).  -1: there can be no such request (ERR_AUTH: a
	 * credential, say, is missing); *out needs no fini. */
	int (*build)(const void *self, const struct secret_op *op, struct secret_request *out,
		     struct err *e);
	/* Fill in *out (zeroed by the caller) from any bytes. */
	void (*parse)(const void *self, const struct secret_op *op,
		      const struct secret_reply *reply, struct secret_result *out);
	/* When the session ends; 0: there is none; INT64_MAX: none is needed. */
	int64_t (*good_until)(const void *self);
	/* Take the result of SECRET_LOGIN or SECRET_RENEW.  1: another step is needed; 0: there is
	 * a session; -1: the result cannot be read.  r NULL: forget the session. */
	int (*take)(void *self, const struct secret_result *r, int64_t now_ms, struct err *e);
	/* Use another credential, as if open() had been given it.  NULL: the driver takes none. */
	int (*credential)(void *self, const char *text, struct err *e);
	/* The creation_path that tokens for the bundle, or wrapped credentials, must have; NULL:
	 * any. */
	const char *(*path)(const void *self, enum secret_op_kind kind);
};

void secret_request_fini(struct secret_request *r);
void secret_result_fini(struct secret_result *r);
const char *secret_code_str(enum secret_code c);  /* "away", "denied", ... */
const char *secret_op_str(enum secret_op_kind k); /* "health", "read", ... */
/* The index of the store's address that a server's location has; -1: none. */
int secret_address_of(const struct secret_store_ops *ops, const void *self, const char *location);

/* --- the bundle --- */

struct secret_piece { /* base64, borrowed from the bundle's text */
	const char *p;
	size_t n; /* 0: not in the bundle */
};

struct secret_bundle {
	struct secret_piece munge_key, slurm_key, slurm_jwks;
	struct secret_piece munge_key_next; /* will replace munge_key */
	char kid[64];                       /* public id of the key; "": not said */
};

enum { SECRET_KEY_MIN = 32, SECRET_KEY_MAX = 1024 }; /* bytes of munge's key, decoded */

/* Parse a bundle and check that it can be used: at least one key, each of a sane length, and no
 * publicly known one.  *e never quotes it.  out may be NULL. */
int secret_bundle_read(const char *text, size_t len, struct secret_bundle *out, struct err *e);

#endif
