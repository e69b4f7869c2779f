/* lambda.h - Lambda Cloud's face of the simulated cloud: its REST API at /api/v1/, as far as a
 * driver needs it.
 *
 * One launch makes one instance, nothing is idempotent, and lists have no filter and no pages.  A
 * request is checked as Lambda's API description (OpenAPI) says, and a member that it does not name
 * is refused, so that a misspelt one is noticed.  The topology of instances is not in that
 * description.
 *
 * For the meter, which knows instances as nodes, the tags burstd-cluster, burstd-node and
 * burstd-generation are read, or without them the instance's name.
 *
 * Things of Lambda that the simulated cloud lacks are made up: all keys, images and firewall
 * rulesets exist, no file system does, and a price is in dollars. */
#ifndef SIMCLOUD_LAMBDA_H
#define SIMCLOUD_LAMBDA_H

#include <jansson.h>

#include "providers/simcloud/face.h"
#include "providers/simcloud/order.h"

enum {
	LAMBDA_BODY_MAX = 16 << 20,     /* bytes of one answer */
	LAMBDA_USER_DATA_MAX = 1000000, /* 1 MB */
	LAMBDA_TAG_KEY_MAX = 55,
	LAMBDA_TAG_VALUE_MAX = 128,
};

struct lambda_call { /* face_call.own, of a launch */
	struct order *order;
};

extern const struct face face_lambda;

/* --- lambda_parse.c --- */
bool lambda_is(const struct face_visit *v);
enum code lambda_authorize(struct face_visit *v, struct err *e);
enum code lambda_parse(struct face_call **out, const struct face_visit *v, struct err *e);
void lambda_call_free(void *own);

/* --- lambda_launch.c --- */
/* Read the body of a launch. */
int lambda_read_launch(struct face_call *f, const json_t *o, struct err *e);

/* --- lambda_instance.c --- */
/* An instance as an object under key, which is NULL in a list. */
void lambda_put_instance(struct str *s, const char *key, const struct cloud *c,
			 const struct cloud_instance *i, int64_t now);
/* An instance type as the object "instance_type". */
void lambda_put_type(struct str *s, const char *type, int64_t price_nano_h);
/* A region as an object under key, likewise. */
void lambda_put_region(struct str *s, const char *key, const char *region);

/* --- lambda_error.c --- */
/* message: "WORD: text" becomes the error WORD, such as "global/invalid-address"; any other text,
 * or NULL, the error that Lambda has for this code. */
void lambda_error(struct face_reply *out, enum code code, const char *message);

#endif
