/* admin.h - the side door for tests and operators: everything under /admin/.
 *
 * It shows and does what no cloud would: true states, faults, held requests, capacity, reclaims,
 * the meter.  Answers at once, whatever latency and faults are set. */
#ifndef SIMCLOUD_ADMIN_H
#define SIMCLOUD_ADMIN_H

#include "io/http_server.h"
#include "providers/simcloud/front.h"

struct admin {
	struct front *front;
	const char *token; /* NULL: no credential asked; the listener is then loopback */
};

void admin_handle(struct admin *a, const struct http_request *rq, struct http_answer *an,
		  int64_t now);

#endif
