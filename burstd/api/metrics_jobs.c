/* metrics_jobs.c writes how many jobs wait since they were refused their nodes; never which. */
#include "api/metrics_private.h"
#include "jobs/jobs_api.h"

void metrics_jobs_write(const struct api *a, struct str *s)
{
	size_t n[NODE_NREASONS];

	engine_waiting(a->engine, n);
	metrics_family(
		s, "burstd_jobs_waiting", "gauge",
		"Jobs that were refused their nodes and wait for their next try, by reason.");
	for (int i = 0; i < NODE_NREASONS; i++) {
		const char *word = node_reason_str((enum node_reason)i);
		const struct metrics_label l = {"reason",
						i == NODE_BECAUSE_NONE ? "unknown" : word};

		metrics_sample_u64(s, "burstd_jobs_waiting", &l, 1, n[i]);
	}
}
