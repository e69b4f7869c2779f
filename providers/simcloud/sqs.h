/* sqs.h - SQS's face of the simulated cloud: a queue to which EventBridge delivers events.
 *
 * POST / in SQS's JSON protocol, signed for the service sqs.  All URLs name the same queue: a
 * message goes to the first client that asks, is hidden then, and comes again unless it is
 * deleted. */
#ifndef SIMCLOUD_SQS_H
#define SIMCLOUD_SQS_H

#include "providers/simcloud/face.h"

extern const struct face face_sqs;

#endif
