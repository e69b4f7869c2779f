/* sqs.h - SQS's face of the simulated cloud: a queue to which EventBridge delivers events.
 *
 * POST / in SQS's JSON protocol, signed for the service sqs.  All URLs name the same queue: a
 * message goes to the first client that asks, is hidden then, and comes again unless it is
 * deleted. */
#ifndef SIMCLOUD_SQS_H
#define SIMCLOUD_SQS_H

#include "io/http_server.h"
#include "providers/simcloud/face_call.h"
#include "providers/simcloud/face_reply.h"

enum { SQS_BATCH_MAX = 10, SQS_WORD_SIZE = 81 };

struct sqs_call {               /* further members of a face_call that came by SQS's API */
	bool remove;            /* DeleteMessageBatch; else ReceiveMessage */
	int64_t max, hidden_ms; /* receive */
	char ids[SQS_BATCH_MAX][SQS_WORD_SIZE];      /* remove: the caller's names of entries */
	char receipts[SQS_BATCH_MAX][SQS_WORD_SIZE]; /* remove: what to delete */
	size_t n;
};

bool sqs_is(const struct http_request *rq);
/* As face_parse(), face_run(), face_error(). */
enum code sqs_parse(struct face_call **out, const struct http_request *rq, struct err *e);
void sqs_run(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out);
void sqs_error(struct face_reply *out, enum code code, const char *message);

#endif
