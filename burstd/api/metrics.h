/* metrics.h - /metrics in Prometheus' text format (0.0.4).
 *
 * The cardinality is low on purpose: labels are pools, offers, providers, states and short fixed
 * words, never nodes, jobs or users; but of budgets, 1,000 at most, that may be a user's own.  An
 * age is exported as a timestamp: alert on time() minus that. */
#ifndef BURSTD_METRICS_H
#define BURSTD_METRICS_H

#include "api/api.h"
#include "base/str.h"
#include "io/http_server.h"

enum {
	METRICS_MAX = 32 << 20,  /* bytes: 256 pools of 32 offers with long names make half of it */
	METRICS_FRESH_MS = 1000, /* a page is reused for so long */
};

struct metrics { /* all zero at first, except api */
	const struct api *api;
	struct str page;
	int64_t made_ms;
};

/* Append the page to *out. */
void metrics_write(const struct api *a, struct str *out);

/* An http_handler_fn; ctx is a struct metrics. */
void metrics_handle(void *ctx, const struct http_request *rq, struct http_answer *an);
void metrics_fini(struct metrics *m);

#endif
