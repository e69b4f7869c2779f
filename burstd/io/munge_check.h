/* munge_check.h - checks that a node has the cluster's munge key, by the munged on this host.
 *
 * A node shows a credential made for this request: by root, for this host, method, path and body,
 * with the node's name and a nonce.  It gets one with that nonce, which only root can decode.
 * libmunge waits for munged, up to ten seconds if that hangs, so it runs in threads: at most two,
 * and further requests are refused.  Nothing waits for these threads: neither munge_check_free()
 * nor the end of the process.
 *
 * munged remembers credentials.  It returns payload and uid even for one that is expired, from the
 * future or seen before; only its result code counts. */
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
	MUNGE_CHECK_CRED_MAX = 4096, /* bytes; real ones have some 400 */
	MUNGE_CHECK_PAYLOAD_MAX = 512,
	MUNGE_CHECK_NONCE = 32, /* hex digits */
	MUNGE_CHECK_TTL_S = 60,
};

enum munge_word {
	MUNGE_GOOD,
	MUNGE_REPLAYED, /* seen before */
	MUNGE_EXPIRED,  /* too old, by the two hosts' clocks */
	MUNGE_REWOUND,  /* from the future, likewise */
	MUNGE_WRONG,    /* another key, another user, another request */
	MUNGE_AWAY,     /* munged does not answer */
};

struct munge_ask {                /* borrowed during the call */
	const char *credential;   /* "MUNGE:...:" */
	const char *const *hosts; /* the names of this host, NULL-terminated; one must match */
	const char *method, *path;
	const char *body;
	size_t len;
	const char *node;
	uint32_t uid; /* who must have made it: 0, except in tests */
};

struct munge_end { /* borrowed for the call */
	enum munge_word word;
	const char *why;  /* for people */
	const char *cred; /* MUNGE_GOOD: for the answer; else "" */
};

typedef void (*munge_check_fn)(void *ctx, const struct munge_end *end);

/* socket: of munged; "": libmunge's default. */
struct munge_check *munge_check_new(struct loop *l, const char *socket);
/* Takes ctx, and frees it after calling fn, once, later, from the loop; or without calling fn if m
 * is freed before.  -1: too many wait (ERR_LIMIT), or it is no credential (ERR_INVALID); ctx is
 * still the caller's. */
int munge_check_begin(struct munge_check *m, const struct munge_ask *ask, munge_check_fn fn,
		      void *ctx, struct err *e);
void munge_check_free(struct munge_check *m); /* NULL is fine */

/* Compare a credential's payload with the request.  0: nonce is set; -1: *e says what differs. */
int munge_check_payload(const struct munge_ask *ask, const char *payload, size_t len,
			char nonce[MUNGE_CHECK_NONCE + 1], struct err *e);
const char *munge_word_str(enum munge_word w);

#endif
