/* face_call.h - one parsed request to the simulated cloud: an operation and its arguments.
 *
 * A face is one of the APIs that clients may use: the neutral one (face.h), EC2's (ec2.h), SQS's
 * (sqs.h).  Each reads its own wire format into such a call, and keeps what no other face has
 * behind a pointer of its own. */
#ifndef SIMCLOUD_FACE_CALL_H
#define SIMCLOUD_FACE_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "providers/simcloud/cloud.h"

enum { FACE_ID_SIZE = 96, FACE_REASON_MAX = 255 };

enum face_verb { FACE_MAKE, FACE_LIST, FACE_DROP };

struct face_call {
	enum op op;
	enum face_verb verb;             /* OP_FABRIC: what to do */
	char fabric[SETTINGS_WORD_SIZE]; /* fabric's name; OP_FABRIC: not with a list; create: may
					    be "" */
	bool many;                       /* delete: came by POST /v1/instances/delete */
	char token[TOKEN_TEXT_MAX + 1];
	char cluster[SETTINGS_WORD_SIZE], type[SETTINGS_WORD_SIZE];
	char region[SETTINGS_WORD_SIZE], zone[SETTINGS_WORD_SIZE];
	enum market market;
	uint64_t body_hash;
	size_t body_len;
	struct cloud_want *wants;         /* create: n of them */
	char (*ids)[FACE_ID_SIZE];        /* get, delete, report: n of them */
	char reason[FACE_REASON_MAX + 1]; /* report: the reporter's text */
	size_t n;
	int64_t limit, after; /* list; notices: after only */
	int64_t wait_ms;      /* notices: longest wait for one */
	unsigned fields;      /* list: fields of each instance (enum face_field) */
	struct ec2_call *ec2; /* EC2's API (ec2.h): its members; NULL: came by another */
	struct sqs_call *sqs; /* likewise SQS's API (sqs.h) */
};

void face_call_free(struct face_call *f); /* NULL is fine */
/* The node name of the i-th of f->n instances; "": unknown. */
const char *face_node(const struct face_call *f, const struct cloud *c, size_t i);

#endif
