/* metrics.h - /metrics in Prometheus' text format (0.0.4).
 *
 * Low cardinality on purpose: labels are pools, providers, states and short fixed words, never
 * nodes, jobs or users.  What changes with time is given as the time it happened: alert on time()
 * minus it. */
#ifndef BURSTD_METRICS_H
#define BURSTD_METRICS_H

#include "api/api.h"
#include "base/str.h"
#include "io/http_server.h"

enum {
	METRICS_MAX = 1 << 20,   /* bytes: 256 pools make about a quarter of it */
	METRICS_FRESH_MS = 1000, /* an answer is reused for so long */
};

struct metrics { /* the page, and what it is made from; all zero but for api at first */
	const struct api *api;
	struct str page;
	int64_t made_ms;
};

/* Append all of it to *out. */
void metrics_write(const struct api *a, struct str *out);

/* Fits http_handler_fn; ctx is a struct metrics. */
void metrics_handle(void *ctx, const struct http_request *rq, struct http_answer *an);
void metrics_fini(struct metrics *m);

#endif
