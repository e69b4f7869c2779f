/* rotate.h - what the files about the rotation of keys share; nobody else includes it.
 *
 *   rotate.c          the state, as durable; the turn
 *   rotate_event.c    an event moves it on; people are told
 *   rotate_nodes.c    nodes are told which keys to have; those that have old ones
 *   rotate_command.c  slurmctld is told, and the munged beside it
 *   rotate_order.c    what an admin orders
 *   rotate_store.c    the bundle is read and written, by a session of its own
 *
 * core/rotation.h says what follows what; here it is done, each thing once what it follows from is
 * durable, and again after a restart. */
#ifndef BURSTD_ROTATE_H
#define BURSTD_ROTATE_H

#include "core/rotation.h"
#include "keys/claims.h"
#include "keys/secrets.h"

enum {
	ROTATE_LOOK_MS = 5000,       /* between two looks at all nodes, in a rotation ... */
	ROTATE_IDLE_MS = 30000,      /* ... and else */
	ROTATE_AGAIN_MS = 2000,      /* to the next try, doubling ... */
	ROTATE_AGAIN_MAX_MS = 30000, /* ... up to this */
	ROTATE_TELL_MS = 60000,      /* for the site's command, and between two tries */
	ROTATE_UNWRAPS_MAX = 3,
	ROTATE_KEYS_MS = 60000, /* a node has its keys again so often */
};

struct rotate_store {     /* while there is something to write, or may be */
	struct secrets s; /* what secrets_wire.c needs of it */
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
	/* of the write on its way */
	enum rotation_phase phase;
	int64_t id;
	char read[SECRET_VERSION_MAX + 1], written[SECRET_VERSION_MAX + 1];
};

struct rotate {
	struct engine *e;
	struct rotation r;          /* as of the next commit */
	struct rotate_store *store; /* NULL: there is no session, and no credential */
	bool dirty;                 /* r is to be written down */
	int64_t look_ms, looked_ms; /* the next look, and the last */
	int64_t due_ms;             /* when the last look set the next, before any phase changed */
	/* How long nobody could have fetched keys: between these two, and of this phase. */
	int64_t still_ms, stood_ms;
	struct engine_rotation_nodes nodes; /* as of the last look */
	/* the site's command, or scontrol */
	struct rotate_child *child; /* NULL: none runs */
	bool commanded;             /* of this phase: the command has run */
	int64_t tell_ms;            /* not before */
	unsigned unstarted;         /* times in a row that it could not even be started */
	char error[256];            /* why it stands still; "" */
};

/* --- rotate.c --- */
/* What is dirty is durable then. */
void rotate_write_down(struct rotate *rt);

/* --- rotate_event.c --- */
/* false: it moves nothing. */
bool rotate_advance(struct rotate *rt, const struct rotation_event *ev);
void rotate_event(struct rotate *rt, enum rotation_event_type type, int64_t version);
void rotate_tell_people(struct rotate *rt, const char *text);
/* It stands still for that; an alarm, once. */
void rotate_complain(struct rotate *rt, const char *what, const char *why);

/* --- rotate_nodes.c --- */
/* What a node should have; 0: not known. */
int64_t rotate_wanted(const struct rotate *rt);
/* Could nodes fetch keys now? */
bool rotate_may_fetch(const struct rotate *rt);
/* At all nodes that are up, or soon will be, if it is time. */
void rotate_look(struct rotate *rt);

/* --- rotate_command.c --- */
bool rotate_has_command(const struct engine *e);
bool rotate_is_to_tell(const struct rotate *rt);
/* If it is time for that. */
void rotate_tell_slurmctld(struct rotate *rt);
void rotate_command_free(struct rotate *rt); /* its child may still run, for nobody */

/* --- rotate_store.c --- */
/* credential: a wrapping token, or what credential_file has; NULL: as burstd's own. */
int rotate_store_open(struct rotate *rt, const char *credential, struct err *err);
/* May it be opened without anybody's help? */
bool rotate_store_alone(const struct engine *e);
void rotate_store_run(struct rotate *rt);
int64_t rotate_store_next_ms(const struct rotate *rt);
void rotate_store_free(struct rotate *rt);

#endif
