/* neutral.h - the neutral face of the simulated cloud: a REST API of its own (docs/simcloud.md). */
#ifndef SIMCLOUD_NEUTRAL_H
#define SIMCLOUD_NEUTRAL_H

#include "providers/simcloud/face.h"

extern const struct face face_neutral;

/* Fields of an instance in answers; a set of fields has these bits. */
enum neutral_field {
	NEUTRAL_CLUSTER,
	NEUTRAL_NAME,
	NEUTRAL_GENERATION,
	NEUTRAL_ID,
	NEUTRAL_STATE,
	NEUTRAL_TYPE,
	NEUTRAL_REGION,
	NEUTRAL_ZONE,
	NEUTRAL_MARKET,
	NEUTRAL_ADDRESS,
	NEUTRAL_HOSTNAME,
	NEUTRAL_CREATED,
	NEUTRAL_RECLAIM,
	NEUTRAL_ENDED,
	NEUTRAL_FABRIC,
	NEUTRAL_NFIELDS
};

/* Names of the fields in requests and answers. */
extern const char *const neutral_field_names[NEUTRAL_NFIELDS];

enum {
	NEUTRAL_WAIT_MAX_MS = 60000, /* longest time that a request for notices is held */
	NEUTRAL_NOTICES_MAX = 1000,  /* notices in one answer */
	NEUTRAL_BODY_MAX = 4 << 20,  /* bytes of one answer */
	NEUTRAL_ALL = (1 << NEUTRAL_NFIELDS) - 1,
	NEUTRAL_TAGS = 1 << NEUTRAL_CLUSTER | 1 << NEUTRAL_NAME | 1 << NEUTRAL_GENERATION,
};

/* One instance as the API shows it, with these fields. */
void neutral_instance(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		      unsigned fields, int64_t now);

/* --- neutral_parse.c --- */
enum code neutral_parse(struct face_call **out, const struct face_visit *v, struct err *e);

/* --- neutral_error.c --- */
/* Answer {"error":{"code","message"}}; message NULL: the code's own. */
void neutral_error(struct face_reply *out, enum code code, const char *message);
/* "error":{...} alone, within an object; retry_ms 0: without a time to ask again. */
void neutral_put_error(struct str *s, enum code code, const char *message, int64_t retry_ms);

/* --- neutral_fabric.c: /v1/fabrics, /v1/topology --- */
#define NEUTRAL_PATHS "/v1/topology"
bool neutral_fabric_is(const struct http_request *rq);
enum code neutral_fabric_parse(struct face_call **out, const struct face_visit *v, struct err *e);
void neutral_fabric_run(const struct face_call *f, struct cloud *c, int64_t now,
			struct face_reply *out);

#endif
