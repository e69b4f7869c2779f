/* secrets.h - the engine's side of the secret store: one session, one address at a time, and those
 * who wait for the cluster's keys.  Only the files of keys/ that are about secrets, or that give
 * them to nodes, include it.
 *
 *   secrets_open.c    from the configuration
 *   secrets_wire.c    a request goes out, and its answer comes back, exactly once
 *   secrets_session.c address and session
 *   secrets_trouble.c how long to wait after a failure, and what is told to people
 *   secrets_wait.c    who waits for keys
 *   secrets.c         they are asked for, and given to who waits
 *   secrets_rights.c  what the session may do
 *   secrets_look.c    is a token still there?
 *   secrets_show.c    how it is
 *   secrets_reload.c  may another configuration take the place of this one?
 *   secrets_logout.c     the end of its session, when burstd stops
 *   enroll.c          a credential that comes wrapped
 *
 * The one thing to know: when the store is away, sealed or slow, those who ask wait: there is no
 * weaker way to the keys.  When it refuses us, they are told so.
 *
 * Files of ours that cannot be read are as a refusal; nothing is sent before they can.
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
	SECRETS_WAITING_MAX = 16384, /* asks: more than nodes that may boot at a time */
	SECRETS_FLYING_MAX = 16,     /* of those on the wire; one session's worth */
	SECRETS_REVOKES_MAX = 64,    /* tokens that are revoked at a time: a thousand nodes that go
					together must leave room for requests to providers */
	SECRETS_TRIES_MAX = 6,       /* of one ask, while the store is there */
	SECRETS_BEHIND_MAX = 10,     /* 412s in a row; of one ask, in all */
	SECRETS_BASE_MS = 500,       /* back-off with full jitter: up to this, doubling ... */
	SECRETS_CAP_MS = 30000,      /* ... up to this */
	SECRETS_AWAY_MS = 1000,      /* likewise, while it is sealed or has no leader ... */
	SECRETS_AWAY_CAP_MS = 60000,
	SECRETS_BEHIND_MS = 900, /* ... and SECRETS_AGAIN_MS */
	SECRETS_AGAIN_MS = 100,  /* an ask, while the session finds out what is wrong */
	SECRETS_REFUSED_MS =
		300000,            /* after a refusal: Vault locks out who tries again and again */
	SECRETS_WRONG_MS = 60000,  /* after an answer that an admin must do something about */
	SECRETS_ALARM_MS = 120000, /* trouble for so long is told of */
	SECRETS_BYE_MS = 2000,     /* burstd's end waits for the session's no longer */
};

enum secrets_phase {
	SECRETS_PROBE,
	SECRETS_LOGIN,
	SECRETS_RIGHTS,
	SECRETS_READY,
	SECRETS_REFUSED,
	SECRETS_NPHASES
};

/* --- for those who give keys to nodes --- */
struct secrets_released { /* borrowed for the call */
	enum conf_release mode;
	const char *version; /* which the node will have */
	/* CONF_WRAP, CONF_USER_DATA */
	const struct secret *token;
	const char *accessor;         /* names the token: to revoke it, and in the audit log */
	const char *path;             /* what its creation_path is; the node compares */
	int64_t ttl_ms;               /* ... from when it was made ... */
	int64_t sent_ms;              /* ... which was after this */
	const char *const *addresses; /* NULL-terminated; the first is the one that made it */
	const char *ca_file;          /* NULL: the system's */
	/* CONF_BROKER: as secret_bundle_read() takes it, which it was put to */
	const struct secret *bundle;
};
/* r NULL: there are no keys to be had, says err (ERR_AUTH: the store refuses us; ERR_INVALID: what
 * it has cannot be used; ERR_NET: it failed again and again). */
typedef void (*secrets_fn)(void *ctx, const struct secrets_released *r, const struct err *err);

bool secrets_ready(const struct engine *e); /* a release would go out at once */
/* ... and no other keys are about to be the right ones. */
bool secrets_serves(const struct engine *e);
/* The current version; "": not known.  A node that has another one must not be ready. */
const char *secrets_version(const struct engine *e);
/* The store is asked for it at once, not at the next poll; where it is away, when it is back. */
void secrets_poll(struct engine *e);
/* Ask for the keys, for one node.  fn is called once, later, within a turn, however long the store
 * is away; unless it is cancelled or the engine is freed before.  -1: too many wait, or there is no
 * store, or it cannot do that.  The caller ends with engine_turn(). */
int secrets_release(struct engine *e, enum conf_release mode, secrets_fn fn, void *ctx,
		    uint64_t *handle, struct err *err);
/* Likewise a token that is good for so long. */
int secrets_wrap(struct engine *e, int64_t life_ms, secrets_fn fn, void *ctx, uint64_t *handle,
		 struct err *err);
void secrets_cancel(struct engine *e, uint64_t handle); /* one that is over is fine */
/* A node dies with its token unused.  Once, and nobody is told what came of it: it ends anyway.
 * false: it cannot be asked for now, or too many are. */
bool secrets_revoke(struct engine *e, const char *accessor);

/* SECRET_LOOK: is that token there?  SECRET_OK: unused; SECRET_SPENT: it is not; else it did not
 * say.  SECRET_REVOKE: likewise, and it is there no more. */
struct secrets_look { /* the caller's, until it is told */
	void (*fn)(void *ctx, enum secret_code what);
	void *ctx;
};
/* It is told once, later, unless the engine is freed before.  false: there is no session now, and
 * nothing was asked. */
bool secrets_look(struct engine *e, enum secret_op_kind kind, const char *accessor,
		  const struct secrets_look *look);
/* Does it make tokens at all? */
bool secrets_wraps(const struct engine *e);
/* What is the same for all tokens: the store's addresses in the order of the configuration (NULL:
 * no more), and what creation_path is. */
const char *secrets_address(const struct engine *e, uint32_t i);
const char *secrets_path(const struct engine *e);

/* --- inside --- */
struct secrets_ask { /* one who waits for keys */
	struct secrets_ask *next;
	uint64_t handle;
	enum conf_release mode;
	int64_t wrap_ms; /* 0: as configured */
	secrets_fn fn;   /* NULL: nobody waits any more */
	void *ctx;
	unsigned tries, behind; /* behind: 412s, which are no tries */
	int64_t at_ms;          /* not before */
	bool flying;
};

struct secrets_wire;
/* r: what came back; also of what was never sent. */
typedef void (*secrets_wire_fn)(struct secrets *s, void *ctx, const struct secret_op *op,
				const struct secret_result *r);

struct secrets {
	struct engine *e;
	const struct secret_store_ops *ops;
	void *self;
	unsigned flags;
	uint32_t naddresses, at; /* at: the one that we talk to */
	uint32_t round;          /* addresses that failed, one after the other */
	enum secrets_phase phase;
	bool off;          /* its files cannot be read: REFUSED, and nothing is sent */
	bool busy;         /* the session's own request is on the wire */
	bool turned;       /* it was sent where the last one pointed: once */
	int64_t next_ms;   /* its next */
	unsigned failures; /* in a row */
	int64_t renew_ms;  /* the session; INT64_MAX: it need not be */
	bool renewable;    /* ... else there is another login */
	int64_t lease_ms;  /* that the login gave it */
	int64_t doubt_ms;  /* when a request was denied last, and we logged in again */
	int64_t login_ms;  /* when it began */
	unsigned rights;   /* of this one; 0: not known */
	bool judged;       /* they are enough, and not too much */
	char version[SECRET_VERSION_MAX + 1]; /* the current one; "": not known */
	int64_t version_ms, version_next;     /* since when; when it is asked for again */
	int64_t seen_ms;                      /* when it was asked for last, and answered */
	struct secrets_ask *asks, **asks_last;
	size_t nasks, flying, revoking;
	uint64_t last_handle;
	struct secrets_wire *wires;
	struct enroll *enroll; /* NULL: nobody enrols */
	enum engine_enrolment enrolment;
	char enrolled[256];
	/* how it is */
	int64_t ok_ms, failed_ms, trouble_ms; /* trouble_ms: since when; 0: there is none */
	bool alarmed;
	bool held; /* no keys are given out: they are about to be the wrong ones */
	char error[256];
	uint64_t released[3], failed, requests, logins;
	uint64_t dice;
};

/* --- secrets_wire.c --- */
/* Send op, at the store's present address; fn is called once, later, unless the engine is freed
 * before.  The texts of op are copied. */
void secrets_send(struct secrets *s, const struct secret_op *op, secrets_wire_fn fn, void *ctx);
/* The session: stores tell the time by the wall clock, and this is the driver's take() with that,
 * and its good_until() as a time of ours. */
static inline int secrets_take(struct secrets *s, const struct secret_result *r, struct err *e)
{
	return s->ops->take(s->self, r, engine_wall(s->e, engine_now(s->e)), e);
}

static inline int64_t secrets_until(const struct secrets *s)
{
	return engine_from_wall(s->e, s->ops->good_until(s->self));
}

void secrets_wire_run(struct secrets *s); /* tell of what needed no network, or got nowhere */
bool secrets_wire_due(const struct secrets *s);
void secrets_wire_free(struct secrets *s);

/* --- secrets_open.c --- */
/* With what its files hold now.  -1: they cannot be had, and nothing has changed. */
int secrets_on(struct secrets *s, struct err *err);

/* --- secrets_rights.c --- */
/* Why a session with these rights is not used; NULL: it may be. */
const char *secrets_wrong_rights(const struct secrets *s, unsigned rights);

/* --- secrets_session.c --- */
/* There is another credential: log in with it. */
void secrets_again(struct secrets *s);

/* --- enroll.c --- */
void enroll_free(struct secrets *s);

#endif
