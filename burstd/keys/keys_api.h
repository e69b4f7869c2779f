/* keys_api.h - what burstd's API asks and shows about keys: the secret store, machines that boot
 * and claim their keys, and rotation. */
#ifndef BURSTD_KEYS_API_H
#define BURSTD_KEYS_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/learned.h"
#include "core/rotation.h"
#include "engine/engine.h"

struct http_answer;
struct node_request;

/* A node_handler_fn, for engine_deps.door. */
void engine_node_request(struct engine *e, const struct node_request *rq, struct http_answer *an);

/* End the sessions with the secret store, before engine_free() and without another turn.  true:
 * said(ctx) is called once, from the loop and within two seconds, unless d.http is closed before.
 * false: there is nothing to wait for. */
bool engine_logout(struct engine *e, void (*said)(void *ctx), void *ctx);

/* Alarms of the last days that no rotation has cleared, over restarts: somebody may have the
 * cluster's key. */
struct engine_breaches {
	uint64_t n;
	int64_t last_ms;
};
struct engine_breaches engine_breaches(const struct engine *e);
const char *engine_rotate_command(const struct engine *e); /* what an admin may do about it */

struct engine_secrets {              /* the secret store */
	const char *driver;          /* "": there is none */
	struct engine_source source; /* its name is the address in use, or the driver's name */
	const char *phase;           /* "ready", "login", ... */
	bool ready, insecure;        /* insecure: for development only */
	const char *version;         /* of the bundle; "": not known */
	int64_t version_ms;          /* since when that is known to be the current one */
	int64_t until_ms;            /* end of the session; 0: no session, INT64_MAX: never */
	int64_t trouble_ms;          /* since when the store fails; 0: it does not */
	size_t waiting;              /* nodes that wait for keys */
	uint64_t released[3];        /* by enum conf_release */
	uint64_t failed, requests, logins;
	enum engine_enrolment { /* the last one since burstd started */
				ENGINE_ENROL_NONE,
				ENGINE_ENROL_BUSY,
				ENGINE_ENROL_DONE,
				ENGINE_ENROL_FAILED
	} enrolment;
	const char *enrolled; /* why it failed; "" */
};
void engine_secrets(const struct engine *e, struct engine_secrets *out);
/* Take a wrapped credential of the store: look where it is from, unwrap it, keep it in
 * credential_file and log in with it.  The result is in engine_secrets.enrolment.  -1: the store
 * takes no wrapped credentials, or another enrolment runs. */
int engine_enroll(struct engine *e, const char *token, const char *by, struct err *err);

/* --- machines that boot, and what they report --- */

enum { ENGINE_BOOT_STEPS = 24 };

struct engine_boot {           /* of one generation; the texts are valid for this turn */
	const char *claim;     /* state of its claim: "issued", "claimed", ... */
	const char *why;       /* why the claim ended early; "": it did not */
	bool weak;             /* the machine proved nothing but its address */
	bool unproved;         /* it proved nothing: a token was in its user-data */
	bool faulty, old_keys; /* as its last heartbeat says */
	int64_t since_ms;      /* since when the claim is in its state */
	int64_t key_version;   /* of its keys, as far as is known; 0: none */
	int64_t heartbeat_ms;  /* the last one; 0: none since burstd started */
	int64_t ready_ms;      /* when node-init was through; 0: not since burstd started */
	int64_t boot_ms;       /* how long node-init took */
	int64_t cert_until_ms; /* end of its certificate; 0: not known */
};
/* false: the generation has no claim. */
bool engine_boot(const struct engine *e, const char *node, uint64_t gen, struct engine_boot *out);

/* Why no node can reach burstd: the listener's port is taken; NULL: nodes can, or need not. */
const char *engine_door_off(const struct engine *e);
/* Why no machine gets its keys: node_init cannot be read; NULL: it can, or there is none. */
const char *engine_init_off(const struct engine *e);
/* Why a WANTED row is not bought yet: its token is not made; NULL: that is not why. */
const char *engine_token_wait(const struct engine *e, const struct node *n);

struct engine_door_counters { /* since burstd started */
	uint64_t requests;    /* that reached the engine */
	uint64_t answers[4];  /* to these: 2xx, 3xx, 4xx, 5xx */
	uint64_t heartbeats, confirmed, ready, failed, events, renewed;
	uint64_t misuses;        /* a node spoke for another node, or with another key */
	uint64_t munge_refused;  /* credentials that munged refused */
	uint64_t hosts_left_out; /* nodes missing in the list of addresses, now */
	struct engine_boot_step {
		const char *name; /* of a step of node-init; the last is "other" */
		uint64_t n;       /* how often it was reported; 0: all else is unset */
		int64_t sum_ms, max_ms;
	} steps[ENGINE_BOOT_STEPS];
};
/* NULL: burstd takes no requests from nodes. */
const struct engine_door_counters *engine_door_counters(const struct engine *e);
/* states[CLAIM_NSTATES]: how many claims of existing generations are in each state.  Returns how
 * many of them proved nothing but an address. */
size_t engine_claims(const struct engine *e, size_t *states);

/* What machines that booted with node-init turned out to have; NULL: burstd takes no requests from
 * nodes. */
const struct learned *engine_learned(const struct engine *e);

/* --- rotation of keys --- */

enum engine_rotate_verb {
	ENGINE_ROTATE_START,
	ENGINE_ROTATE_SWITCH,
	ENGINE_ROTATE_ABORT,
	ENGINE_ROTATE_RESUME, /* with another credential, or just once more */
};
struct engine_rotate_ask { /* borrowed */
	enum engine_rotate_verb verb;
	enum rotation_kind kind; /* START */
	/* Vault: a wrapping token of rotate_role_name; else a text as in credential_file.  NULL:
	 * burstd's own credential. */
	const char *credential;
	int64_t in_ms;   /* SWITCH, munge: how long from now; 0: as soon as possible */
	int64_t life_ms; /* START, jwks: life of a token; 0: not said */
	const char *by;  /* the admin: "root", "uid 1000" */
};
/* The progress is in engine_rotation().  -1: the order does not fit the present state. */
int engine_rotate(struct engine *e, const struct engine_rotate_ask *ask, struct err *err);
struct engine_rotation {
	bool there; /* there is a secret store */
	struct rotation r;
	int64_t version; /* that nodes should have; 0: not known */
	struct engine_rotation_nodes {
		uint32_t have, lack; /* this version; another one */
		uint32_t unheard;    /* have not said which */
		uint32_t drained;    /* for outdated keys */
		uint32_t others;     /* get their keys without burstd */
		uint32_t fixed;      /* of those that are up: cannot change their keys */
	} nodes;
	bool alone; /* the admin need not give a credential */
	bool has_command, needs_credential, busy;
	const char *error; /* why it stands still; "": it does not */
};
void engine_rotation(const struct engine *e, struct engine_rotation *out);
/* The first nodes with other keys, or with unknown ones; returns how many there are. */
size_t engine_rotation_lack(const struct engine *e, const char **nodes, size_t max);

#endif
