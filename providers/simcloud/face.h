/* face.h - the neutral REST face: a request read into a call, a call run on the cloud, its answer.
 *
 * The wire format is docs/simcloud.md.  Reading and running are apart because a request may be kept
 * between the two (fault rules hold and late). */
#ifndef SIMCLOUD_FACE_H
#define SIMCLOUD_FACE_H

#include <stdint.h>

#include "base/err.h"
#include "io/http_server.h"
#include "providers/simcloud/face_call.h"
#include "providers/simcloud/face_reply.h"

/* Fields of an instance in answers; a set of fields has these bits. */
enum face_field {
	FACE_CLUSTER,
	FACE_NAME,
	FACE_GENERATION,
	FACE_ID,
	FACE_STATE,
	FACE_TYPE,
	FACE_REGION,
	FACE_ZONE,
	FACE_MARKET,
	FACE_ADDRESS,
	FACE_HOSTNAME,
	FACE_CREATED,
	FACE_RECLAIM,
	FACE_ENDED,
	FACE_FABRIC,
	FACE_NFIELDS
};

/* Names of the fields in requests and answers. */
extern const char *const face_field_names[FACE_NFIELDS];

enum {
	FACE_WAIT_MAX_MS = 60000, /* longest time that a request for notices is held */
	FACE_NOTICES_MAX = 1000,  /* notices in one answer */
	FACE_BODY_MAX = 4 << 20,  /* bytes of one answer */
	FACE_ALL = (1 << FACE_NFIELDS) - 1,
	FACE_TAGS = 1 << FACE_CLUSTER | 1 << FACE_NAME | 1 << FACE_GENERATION,
};

enum face_style face_style_of(const struct face_call *f);
/* Does the call ask for notices, and there are none yet? */
bool face_waits(const struct face_call *f, struct cloud *c, int64_t now);
/* Run the call.  rule is NULL, or one of FAULT_PARTIAL and FAULT_EMPTY. */
void face_run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
	      int64_t now, struct face_reply *out);
/* One instance as the API shows it, with these fields. */
void face_instance(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		   unsigned fields, int64_t now);

/* --- face_parse.c --- */
/* CODE_OK: *out is the caller's (face_call_free()).  Else NULL, and *e says why. */
enum code face_parse(struct face_call **out, const struct http_request *rq,
		     const struct settings *conf, struct err *e);

/* --- face_error.c --- */
/* Answer {"error":{"code","message"}}, or as out->style requires; message NULL: the code's own. */
void face_error(struct face_reply *out, enum code code, const char *message);
/* "error":{...} alone, within an object; retry_ms 0: without a time to ask again. */
void face_put_error(struct str *s, enum code code, const char *message, int64_t retry_ms);

/* --- face_fabric.c: /v1/fabrics --- */
bool face_fabric_is(const struct http_request *rq);
/* As face_parse(), face_run(). */
enum code face_fabric_parse(struct face_call **out, const struct http_request *rq, struct err *e);
void face_fabric_run(const struct face_call *f, struct cloud *c, struct face_reply *out);

#endif
