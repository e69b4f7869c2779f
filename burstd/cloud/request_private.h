/* request_private.h - a request to a provider; only cloud.c and steps.c include it. */
#ifndef BURSTD_CLOUD_REQUEST_PRIVATE_H
#define BURSTD_CLOUD_REQUEST_PRIVATE_H

#include "cloud/cloud.h"

struct request {
	struct request *next, **prev;
	struct cloud *cloud; /* NULL: the engine is gone */
	struct provider_op op;
	request_fn fn;
	void *ctx;
	uint64_t handle; /* of an HTTP request */
	bool http;
	void *reader; /* of the driver, for a reply that is read as it comes; NULL: none */
	const struct provider_ops *reads; /* whose */
	int64_t sent_ms;
	struct request *detached; /* what prev points to once the engine is gone */
	struct err unsent;        /* code is set: it could not be sent */
	/* Of an operation of several requests: */
	char *cursor;                  /* op.cursor, if it came with an answer; else NULL */
	bool rests;                    /* its next request is to be sent, not before next_ms */
	enum provider_op_kind counted; /* what the limit counts: the kind, then PROVIDER_STEP */
	unsigned steps;
	char first_id[PROVIDER_REQUEST_MAX + 1]; /* the provider's, of its first request */
	int64_t began_ms, next_ms, pause_ms;
};

/* --- steps.c --- */
enum steps {
	STEPS_OVER,    /* the result is the operation's */
	STEPS_ON,      /* another request follows */
	STEPS_ENDLESS, /* it does not end: the operation has failed */
};
/* What the limit counts: the kind of the operation, or a step of one that has begun. */
enum provider_op_kind steps_counted(const struct request *rq);
/* Take the answer to a request, and keep its cursor. */
enum steps steps_take(struct request *rq, const struct provider_result *r);

#endif
