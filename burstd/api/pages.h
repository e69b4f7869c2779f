/* pages.h - what the listener of option listen serves over HTTP, to any user of this machine:
 *
 *   /metrics  for Prometheus (metrics.h)
 *   /targets  the nodes that run, as Prometheus' HTTP service discovery reads them (targets.h)
 *   /jobs     a table of jobs, if option listen_jobs is on (job_table.h)
 *
 * Nobody says who asks, so nothing here is what slurmctld or `burstctl` would not tell everybody.
 */
#ifndef BURSTD_PAGES_H
#define BURSTD_PAGES_H

#include "api/metrics.h"

struct pages { /* all zero at first, except metrics.api */
	struct metrics metrics;
	struct str targets;
	int64_t targets_ms;
};

/* An http_handler_fn; ctx is a struct pages. */
void pages_handle(void *ctx, const struct http_request *rq, struct http_answer *an);
void pages_fini(struct pages *p);

#endif
