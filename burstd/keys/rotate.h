/* rotate.h - the rotation of a key.  Only keys/ includes it.
 *
 *   rotate.c          keeps the durable state, and has the turn
 *   rotate_event.c    moves the state by an event, tells people
 *   rotate_nodes.c    tells nodes which keys to have, drains those with outdated ones
 *   rotate_command.c  tells slurmctld, and the munged beside it, by the site's command
 *   rotate_order.c    takes an admin's orders
 *   rotate_store.c    reads and writes the bundle, with a session of its own
 *
 * core/rotation.h decides which step follows which; here each step is done once the one before it
 * is durable, and again after a restart. */
#ifndef BURSTD_ROTATE_H
#define BURSTD_ROTATE_H

#include "core/rotation.h"
#include "keys/claims.h"
#include "keys/secrets.h"

enum {
	ROTATE_LOOK_MS = 5000,       /* between two looks at all nodes during a rotation ... */
	ROTATE_IDLE_MS = 30000,      /* ... and while there is none */
	ROTATE_AGAIN_MS = 2000,      /* pause after a failure, doubling ... */
	ROTATE_AGAIN_MAX_MS = 30000, /* ... up to this */
	ROTATE_TELL_MS = 60000,      /* timeout of the site's command, and pause between two */
	ROTATE_UNWRAPS_MAX = 3,      /* tries to unwrap a credential */
	ROTATE_KEYS_MS = 60000,      /* a node may fetch its keys again so often */
};

struct rotate_store {     /* exists while there is something to write, or may be */
	struct secrets s; /* only the members that secrets_wire.c needs */
	enum rotate_step {
		ROTATE_IDLE,
		ROTATE_PEEK,
		ROTATE_UNWRAP,
		ROTATE_LOGIN,
		ROTATE_READ,
		ROTATE_WRITE,
		ROTATE_PROMOTE,
		ROTATE_LOGOUT,
		ROTATE_OVER, /* it may be freed */
	} step;
	struct secret *token; /* wrapped, not yet unwrapped; NULL */
	unsigned unwraps, failures;
	int64_t next_ms;
	bool stuck; /* an admin must give a credential */
	/* the write that runs */
	enum rotation_phase phase;
	int64_t id;
	char read[SECRET_VERSION_MAX + 1], written[SECRET_VERSION_MAX + 1];
};

struct rotate {
	struct engine *e;
	struct rotation r;          /* as of the next commit */
	struct rotate_store *store; /* NULL: there is no session, and no credential */
	bool dirty;                 /* r is not in the journal yet */
	int64_t look_ms, looked_ms; /* the next look, and the last */
	int64_t due_ms;             /* look_ms as the last look set it */
	/* How long no node could have fetched keys: since the last look, and in this phase. */
	int64_t still_ms, stood_ms;
	struct engine_rotation_nodes nodes; /* as of the last look */
	/* the site's command, or scontrol */
	struct rotate_child *child; /* NULL: none runs */
	bool commanded;             /* the command has run in this phase */
	int64_t tell_ms;            /* it is not run before this */
	int64_t reconfigured_ms;    /* when scontrol reconfigure was started last; 0: it was not */
	unsigned unstarted;         /* how often in a row it could not be started */
	char error[256];            /* why the rotation stands still; "": it does not */
};

/* --- rotate.c --- */
/* Commit r, if it is dirty. */
void rotate_write_down(struct rotate *rt);

/* --- rotate_event.c --- */
/* rotation_step(); false: the event changes nothing. */
bool rotate_advance(struct rotate *rt, const struct rotation_event *ev);
void rotate_event(struct rotate *rt, enum rotation_event_type type, int64_t version);
void rotate_tell_people(struct rotate *rt, const char *text);
/* Note why the rotation stands still, and raise one alarm. */
void rotate_complain(struct rotate *rt, const char *what, const char *why);

/* --- rotate_nodes.c --- */
/* The version that nodes should have; 0: not known. */
int64_t rotate_wanted(const struct rotate *rt);
/* Could nodes fetch keys now? */
bool rotate_may_fetch(const struct rotate *rt);
/* Look at all nodes that are up or boot, if look_ms has come. */
void rotate_look(struct rotate *rt);

/* --- rotate_command.c --- */
bool rotate_has_command(const struct engine *e);
bool rotate_is_to_tell(const struct rotate *rt); /* is the command, or scontrol, still to run? */
/* Run it, if tell_ms has come. */
void rotate_tell_slurmctld(struct rotate *rt);
void rotate_command_free(struct rotate *rt); /* a child that runs is left to itself */

/* --- rotate_store.c --- */
/* credential: a wrapping token, or a text as credential_file has it; NULL: burstd's own. */
int rotate_store_open(struct rotate *rt, const char *credential, struct err *err);
/* Can it be opened without a credential from an admin? */
bool rotate_store_alone(const struct engine *e);
void rotate_store_run(struct rotate *rt);
int64_t rotate_store_next_ms(const struct rotate *rt);
void rotate_store_free(struct rotate *rt);

#endif
