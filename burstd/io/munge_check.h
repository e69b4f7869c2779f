/* munge_check.h - has a node the cluster's munge key?  Asked of the munged on this host.
 *
 * A node shows a credential made for this very request: of root, for this host, method, path and
 * body, in its own name, with a nonce; and gets one with that nonce, for root alone.  libmunge
 * waits for munged, up to some ten seconds when that hangs, so all of it happens in threads of its
 * own: never more than two of them, and what is too much is refused.  Nobody waits for those: not
 * munge_check_free(), and not the end of the process.
 *
 * munged keeps which credentials it has seen.  One that is expired, of the future, or seen before
 * comes back with its payload and uid all the same; only its word counts. */
#ifndef BURSTD_MUNGE_CHECK_H
#define BURSTD_MUNGE_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct loop;
struct munge_check;

enum {
	MUNGE_CHECK_WAITING_MAX = 64,
	MUNGE_CHECK_AT_ONCE = 2,
	MUNGE_CHECK_CRED_MAX = 4096, /* bytes; a true one has some 400 */
	MUNGE_CHECK_PAYLOAD_MAX = 512,
	MUNGE_CHECK_NONCE = 32, /* hex digits */
	MUNGE_CHECK_TTL_S = 60,
};

enum munge_word {
	MUNGE_GOOD,
	MUNGE_REPLAYED, /* seen before */
	MUNGE_EXPIRED,  /* too old, by the two hosts' clocks */
	MUNGE_REWOUND,  /* of the future, likewise */
	MUNGE_WRONG,    /* another key, another user, another request */
	MUNGE_AWAY,     /* munged does not answer */
};

struct munge_ask {                /* borrowed during the call */
	const char *credential;   /* "MUNGE:...:" */
	const char *const *hosts; /* our names, NULL-terminated: one of them */
	const char *method, *path;
	const char *body;
	size_t len;
	const char *node;
	uint32_t uid; /* who must have made it: 0, but in tests */
};

struct munge_end { /* borrowed for the call */
	enum munge_word word;
	const char *why;  /* for people */
	const char *cred; /* MUNGE_GOOD: the answer's; else "" */
};

typedef void (*munge_check_fn)(void *ctx, const struct munge_end *end);

/* socket: of munged; "": libmunge's own. */
struct munge_check *munge_check_new(struct loop *l, const char *socket);
/* Takes ctx: it is freed after fn was called, once, later, from the loop; or in its place, when m
 * is freed before.  -1: too many wait (ERR_LIMIT), or that is no credential (ERR_INVALID); ctx is
 * the caller's then. */
int munge_check_begin(struct munge_check *m, const struct munge_ask *ask, munge_check_fn fn,
		      void *ctx, struct err *e);
void munge_check_free(struct munge_check *m); /* NULL is fine */

/* Is this payload for that request?  0 and the nonce in it; or -1, and *e says what differs. */
int munge_check_payload(const struct munge_ask *ask, const char *payload, size_t len,
			char nonce[MUNGE_CHECK_NONCE + 1], struct err *e);
const char *munge_word_str(enum munge_word w);

#endif
