/* face.h - a face: one of the APIs of the simulated cloud, as a row of the table in faces.c.
 *
 * A request passes through the functions of its face in the order in which they stand here: it is
 * recognized, authorized, read into a call, run on the cloud.  Reading and running are apart
 * because a request may be kept between the two (fault rules hold and late).
 *
 * To add a face: define a `const struct face` beside its functions, declare it in its header, and
 * add a row in faces.c. */
#ifndef SIMCLOUD_FACE_H
#define SIMCLOUD_FACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "io/http_server.h"
#include "providers/simcloud/face_call.h"
#include "providers/simcloud/face_reply.h"

struct ec2_key;

struct face_keys {                 /* borrowed */
	const char *token;         /* bearer token; NULL: no credential asked */
	const struct ec2_key *ec2; /* key that signs Amazon's requests; NULL: not served */
};

struct face_visit { /* a request that is not read yet */
	const struct face *face;
	const struct http_request *rq;
	const struct face_keys *keys;
	const struct settings *conf;
	int64_t now;
	char region[SETTINGS_WORD_SIZE]; /* authorize() may set it for parse(); else "" */
};

struct face {
	const char *name; /* for messages */
	const char *type; /* content type of its answers */
	bool (*is)(const struct face_visit *v);
	/* Not CODE_OK: *e says why, in words for error(); the answer's status is 401. */
	enum code (*authorize)(struct face_visit *v, struct err *e);
	/* CODE_OK: *out, made by face_call_new(), is the caller's (face_call_free()).  Else NULL,
	 * and *e says why. */
	enum code (*parse)(struct face_call **out, const struct face_visit *v, struct err *e);
	/* Does the call ask for notices, and there are none yet?  NULL: it never waits. */
	bool (*waits)(const struct face_call *f, struct cloud *c, int64_t now);
	/* Run the call.  rule is NULL, or one of FAULT_PARTIAL and FAULT_EMPTY.  *out is a success
	 * without a body. */
	void (*run)(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		    int64_t now, struct face_reply *out);
	/* Make *out an error; message NULL: the code's own. */
	void (*error)(struct face_reply *out, enum code code, const char *message);
	/* The node name of the i-th of f->n things that the call is about; "": unknown.  NULL: it
	 * follows from the call's wants or ids. */
	const char *(*node)(const struct face_call *f, const struct cloud *c, size_t i);
	/* What the id of a request begins with, which has 12 digits behind it; NULL: none is known
	 * of this cloud. */
	const char *id_prefix;
	/* The header that has it in each answer; NULL: run() and error() put it where it belongs,
	 * for some answers have none. */
	const char *id_header;
	/* Free face_call.own, never NULL; NULL: free() does. */
	void (*free_own)(void *own);
};

bool face_waits(const struct face_call *f, struct cloud *c, int64_t now);
void face_run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
	      int64_t now, struct face_reply *out);
/* The error of out->face. */
void face_error(struct face_reply *out, enum code code, const char *message);

/* Give an answer the id of its request: in the header, in each other that is named alike, and in
 * the body in place of the first id of a request that is all 0 (FACE_NO_ID). */
void face_number(struct face_reply *out, uint64_t number);
#define FACE_NO_ID "00000000-0000-4000-8000-000000000000"

/* Is the header "Bearer TOKEN"?  Takes the same time whatever differs. */
bool face_bearer(const char *header, const char *token);

#endif
