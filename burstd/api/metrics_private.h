/* metrics_private.h - writes metrics in Prometheus' format, and the functions that add to the page.
 */
#ifndef BURSTD_METRICS_PRIVATE_H
#define BURSTD_METRICS_PRIVATE_H

#include "api/api.h"
#include "base/str.h"

/* --- metrics_text.c --- */

struct metrics_label {
	const char *name, *value;
};

/* Begin a family with its HELP and TYPE.  All its samples must follow. */
void metrics_family(struct str *s, const char *name, const char *type, const char *help);
/* Write one sample, with n labels. */
void metrics_sample_u64(struct str *s, const char *name, const struct metrics_label *labels,
			size_t n, uint64_t v);
void metrics_sample_money(struct str *s, const char *name, const struct metrics_label *labels,
			  size_t n, int64_t nano);
void metrics_sample_seconds(struct str *s, const char *name, const struct metrics_label *labels,
			    size_t n, int64_t ms);

/* --- metrics_money.c, metrics_budgets.c, metrics_alerts.c, metrics_pools.c, metrics_sources.c,
 * metrics_flow.c, metrics_nodes.c, metrics_offers.c, metrics_jobs.c --- */
void metrics_money_write(const struct api *a, struct str *s);
void metrics_budgets_write(const struct api *a, struct str *s);
void metrics_alerts_write(const struct api *a, struct str *s);
void metrics_pools_write(const struct api *a, struct str *s);
void metrics_offers_write(const struct api *a, struct str *s);
void metrics_jobs_write(const struct api *a, struct str *s);
void metrics_sources_write(const struct api *a, struct str *s); /* slurmctld and providers */
void metrics_sources_write_places(const struct api *a, struct str *s);
void metrics_flow_write(const struct api *a, struct str *s);  /* requests to providers */
void metrics_nodes_write(const struct api *a, struct str *s); /* and the secret store */

#endif
