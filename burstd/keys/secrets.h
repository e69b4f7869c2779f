/* secrets.h - the engine's side of the secret store: it keeps one session, at one address at a
 * time, and fetches the cluster's keys for nodes.  Only keys/ includes it.
 *
 *   secrets_open.c    opens the driver from the configuration
 *   secrets_wire.c    sends a request and delivers its answer, exactly once
 *   secrets_session.c chooses the address, keeps the session
 *   secrets_trouble.c says how long to wait after a failure, and tells people
 *   secrets_wait.c    lists the requests for keys that wait
 *   secrets.c         asks for keys and delivers them to these requests
 *   secrets_rights.c  checks what the session may do
 *   secrets_look.c    looks whether a token is still there
 *   secrets_show.c    shows the store's state
 *   secrets_reload.c  checks another configuration
 *   secrets_logout.c  ends the session when burstd stops
 *   enroll.c          takes a wrapped credential
 *
 * The one thing to know: while the store is away, sealed or slow, requests for keys wait: there is
 * no weaker way to the keys.  When the store refuses burstd, they fail.
 *
 * A file that burstd cannot read counts as a refusal, and nothing is sent until it can be read.
 *
 *     PROBE --active--> LOGIN --session--> RIGHTS --enough--> READY
 *       ^  \              |                 ^ |                 |
 *       |   +- there is a session still, ---+-|- judged --------+
 *       |                 |      not judged   |                 |
 *       +---- away, standby, silent: the next address ----------+
 *                         +---- refused, or too much: REFUSED, and judged anew after minutes */
#ifndef BURSTD_KEYS_SECRETS_H
#define BURSTD_KEYS_SECRETS_H

#include "core/secret_store.h"
#include "keys/keys.h"

enum {
	SECRETS_WAITING_MAX = 16384, /* requests for keys: more than nodes that boot at a time */
	SECRETS_FLYING_MAX = 16,     /* of these on the wire */
	SECRETS_REVOKES_MAX = 64,    /* tokens revoked at a time: a thousand nodes that end
					together must leave room for requests to providers */
	SECRETS_TRIES_MAX = 6,       /* of one request for keys, while the store answers */
	SECRETS_BEHIND_MAX = 10,     /* 412s in a row, and of one request for keys in all */
	SECRETS_BASE_MS = 500,       /* back-off with full jitter: up to this, doubling ... */
	SECRETS_CAP_MS = 30000,      /* ... up to this */
	SECRETS_AWAY_MS = 1000,      /* likewise while the store is sealed or has no leader */
	SECRETS_AWAY_CAP_MS = 60000,
	SECRETS_BEHIND_MS = 900, /* after a 412: SECRETS_AGAIN_MS, and up to this more */
	SECRETS_AGAIN_MS = 100,  /* pause of a request for keys while the session recovers */
	/* After a refusal: Vault locks out whoever tries again and again. */
	SECRETS_REFUSED_MS = 300000,
	SECRETS_WRONG_MS = 60000,  /* after an answer that only an admin can mend */
	SECRETS_ALARM_MS = 120000, /* trouble that lasts so long is an event */
	SECRETS_BYE_MS = 2000,     /* timeout of the logout when burstd stops */
};

enum secrets_phase {
	SECRETS_PROBE,
	SECRETS_LOGIN,
	SECRETS_RIGHTS,
	SECRETS_READY,
	SECRETS_REFUSED,
	SECRETS_NPHASES
};

/* --- for files that give keys to nodes --- */
struct secrets_released { /* borrowed for the call */
	enum conf_release mode;
	const char *version; /* of the keys */
	/* CONF_WRAP, CONF_USER_DATA */
	const struct secret *token;
	const char *accessor;         /* names the token: to revoke it, and in the audit log */
	const char *path;             /* the token's creation_path, which the node compares */
	int64_t ttl_ms;               /* life of the token, from when the store made it ... */
	int64_t sent_ms;              /* ... which was after this */
	const char *const *addresses; /* NULL-terminated; the first is the one that made it */
	const char *ca_file;          /* NULL: the system's */
	/* CONF_BROKER: the bundle, which secret_bundle_read() has accepted */
	const struct secret *bundle;
};
/* r NULL: there are no keys; err says why (ERR_AUTH: the store refuses burstd; ERR_INVALID: its
 * bundle cannot be used; ERR_NET: it failed again and again). */
typedef void (*secrets_fn)(void *ctx, const struct secrets_released *r, const struct err *err);

bool secrets_ready(const struct engine *e); /* would a release go out at once? */
/* Likewise, and no rotation is about to replace the keys. */
bool secrets_serves(const struct engine *e);
/* The current version; "": not known.  A node that has another one must not be ready. */
const char *secrets_version(const struct engine *e);
/* Ask the store for the version at once, not at the next poll; if it is away, when it is back. */
void secrets_poll(struct engine *e);
/* Ask for the keys, for one node.  fn is called once, later, within a turn, however long the store
 * is away; not if the request is cancelled or the engine freed before.  -1: too many requests wait,
 * there is no store, or it cannot do that.  The caller ends with engine_turn(). */
int secrets_release(struct engine *e, enum conf_release mode, secrets_fn fn, void *ctx,
		    uint64_t *handle, struct err *err);
/* Likewise for a token that lasts life_ms. */
int secrets_wrap(struct engine *e, int64_t life_ms, secrets_fn fn, void *ctx, uint64_t *handle,
		 struct err *err);
void secrets_cancel(struct engine *e, uint64_t handle); /* a handle that is over is fine */
/* Revoke the unused token of a node that ends.  It is sent once, and nobody hears the result: the
 * token expires anyway.  false: it cannot be sent now, or too many are on the wire. */
bool secrets_revoke(struct engine *e, const char *accessor);

/* The answer to SECRET_LOOK: SECRET_OK: the token is unused; SECRET_SPENT: it is gone; else the
 * store did not say.  To SECRET_REVOKE likewise, but after SECRET_OK it is gone, too. */
struct secrets_look { /* the caller's until fn is called */
	void (*fn)(void *ctx, enum secret_code what);
	void *ctx;
};
/* fn is called once, later, unless the engine is freed before.  false: there is no session now, and
 * nothing was sent. */
bool secrets_look(struct engine *e, enum secret_op_kind kind, const char *accessor,
		  const struct secrets_look *look);
/* Can the store make tokens at all? */
bool secrets_wraps(const struct engine *e);
/* The same for all tokens: the store's addresses in the order of the configuration (NULL: no more),
 * and creation_path. */
const char *secrets_address(const struct engine *e, uint32_t i);
const char *secrets_path(const struct engine *e);

/* --- inside --- */
struct secrets_ask { /* a request for keys that waits */
	struct secrets_ask *next;
	uint64_t handle;
	enum conf_release mode;
	int64_t wrap_ms; /* life of the token; 0: as configured */
	secrets_fn fn;   /* NULL: it was cancelled */
	void *ctx;
	unsigned tries, behind; /* behind: 412s, which are no tries */
	int64_t at_ms;          /* not to be sent before */
	bool flying;
};

struct secrets_wire;
/* r: the answer, or why the request was not sent. */
typedef void (*secrets_wire_fn)(struct secrets *s, void *ctx, const struct secret_op *op,
				const struct secret_result *r);

struct secrets {
	struct engine *e;
	const struct secret_store_ops *ops;
	void *self;
	unsigned flags;
	uint32_t naddresses, at; /* at: index of the address in use */
	uint32_t round;          /* how many addresses failed, one after the other */
	enum secrets_phase phase;
	bool off;          /* its files cannot be read: REFUSED, and nothing is sent */
	bool busy;         /* the session's own request is on the wire */
	bool turned;       /* the server's redirect was followed; no second one is */
	int64_t next_ms;   /* when the session's next request goes out */
	unsigned failures; /* in a row */
	int64_t renew_ms;  /* when to renew the session; INT64_MAX: never */
	bool renewable;    /* if it is not, log in again instead */
	int64_t lease_ms;  /* life of the session, as the login said */
	int64_t doubt_ms;  /* when a denied request led to another login last */
	int64_t login_ms;  /* when the session began */
	unsigned rights;   /* of the session; 0: not known */
	bool judged;       /* the rights suffice, and are not too wide */
	char version[SECRET_VERSION_MAX + 1]; /* current version of the keys; "": not known */
	int64_t version_ms, version_next;     /* since when it is; the next poll */
	int64_t seen_ms;                      /* the last poll that was answered */
	struct secrets_ask *asks, **asks_last;
	size_t nasks, flying, revoking;
	uint64_t last_handle;
	struct secrets_wire *wires;
	struct enroll *enroll; /* NULL: no enrolment runs */
	enum engine_enrolment enrolment;
	char enrolled[256];
	/* for people */
	int64_t ok_ms, failed_ms, trouble_ms; /* trouble_ms: since when; 0: there is none */
	bool alarmed;
	bool held; /* a rotation is about to replace the keys: none are given out */
	char error[256];
	uint64_t released[3], failed, requests, logins;
	uint64_t dice;
};

/* --- secrets_wire.c --- */
/* Send op to the store's present address; fn is called once, later, unless the engine is freed
 * before.  The texts of op are copied. */
void secrets_send(struct secrets *s, const struct secret_op *op, secrets_wire_fn fn, void *ctx);
/* The driver's take() and good_until(), with the wall clock by which stores tell the time converted
 * from and to the engine's. */
static inline int secrets_take(struct secrets *s, const struct secret_result *r, struct err *e)
{
	return s->ops->take(s->self, r, engine_wall(s->e, engine_now(s->e)), e);
}

static inline int64_t secrets_until(const struct secrets *s)
{
	return engine_from_wall(s->e, s->ops->good_until(s->self));
}

void secrets_wire_run(struct secrets *s); /* deliver results that came without the network */
bool secrets_wire_due(const struct secrets *s);
void secrets_wire_free(struct secrets *s);

/* --- secrets_open.c --- */
/* Open the driver again with what its files hold now.  -1: they cannot be read, and nothing has
 * changed. */
int secrets_on(struct secrets *s, struct err *err);

/* --- secrets_rights.c --- */
/* Why a session with these rights is not used; NULL: it may be. */
const char *secrets_wrong_rights(const struct secrets *s, unsigned rights);

/* --- secrets_session.c --- */
/* Log in anew, since there is another credential. */
void secrets_again(struct secrets *s);

/* --- enroll.c --- */
void enroll_free(struct secrets *s);

#endif
