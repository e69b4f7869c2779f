/* face_call.h - one parsed request to the simulated cloud: an operation and its arguments.
 *
 * Each face (face.h) reads its own wire format into such a call, and keeps what no other face has
 * behind `own`. */
#ifndef SIMCLOUD_FACE_CALL_H
#define SIMCLOUD_FACE_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "providers/simcloud/cloud.h"

enum { FACE_ID_SIZE = 96, FACE_REASON_MAX = 255 };

struct face;
struct face_visit;

enum face_verb { FACE_MAKE, FACE_LIST, FACE_DROP, FACE_PATHS };

struct face_call {
	const struct face *face;
	void *own; /* further members of its face; NULL: none */
	enum op op;
	enum face_verb verb;             /* OP_FABRIC: what to do */
	char fabric[SETTINGS_WORD_SIZE]; /* fabric's name; OP_FABRIC: not with a list; create: may
					    be "" */
	char image[SETTINGS_WORD_SIZE];  /* create: what the instances boot; "": not said */
	bool many;                       /* delete: came by POST /v1/instances/delete */
	char token[TOKEN_TEXT_MAX + 1];
	char cluster[SETTINGS_WORD_SIZE], type[SETTINGS_WORD_SIZE];
	char region[SETTINGS_WORD_SIZE], zone[SETTINGS_WORD_SIZE];
	enum market market;
	uint64_t body_hash;
	size_t body_len;
	struct cloud_want *wants;         /* create: n of them */
	char (*ids)[FACE_ID_SIZE];        /* get, delete, report, FACE_PATHS: n of them */
	char reason[FACE_REASON_MAX + 1]; /* report: the reporter's text */
	size_t n;
	int64_t limit, after; /* list; notices: after only */
	int64_t wait_ms;      /* notices: longest wait for one */
	unsigned fields;      /* list: fields of each instance (enum face_field) */
};

/* A call of v's face, without arguments yet. */
struct face_call *face_call_new(const struct face_visit *v, enum op op);
void face_call_free(struct face_call *f); /* NULL is fine */
/* The call is about this instance; "": about none. */
void face_call_id(struct face_call *f, const char *id);
/* A create of one instance, whose name says which node it is for (name.h); the meter takes another
 * name for that of the node. */
void face_call_named(struct face_call *f, const char *name);
/* The node name of the i-th of f->n instances; "": unknown. */
const char *face_node(const struct face_call *f, const struct cloud *c, size_t i);

#endif
