/* metrics_private.h - what the files of metrics.c share: how a metric is written, and what each of
 * them adds to the page. */
#ifndef BURSTD_METRICS_PRIVATE_H
#define BURSTD_METRICS_PRIVATE_H

#include "api/api.h"
#include "base/str.h"

/* --- metrics_text.c --- */

struct metrics_label {
	const char *name, *value;
};

/* A family begins with its HELP and TYPE and must be written in one piece. */
void metrics_family(struct str *s, const char *name, const char *type, const char *help);
/* One line of it, with n labels. */
void metrics_sample_u64(struct str *s, const char *name, const struct metrics_label *labels,
			size_t n, uint64_t v);
void metrics_sample_money(struct str *s, const char *name, const struct metrics_label *labels,
			  size_t n, int64_t nano);
void metrics_sample_seconds(struct str *s, const char *name, const struct metrics_label *labels,
			    size_t n, int64_t ms);

/* --- metrics_pools.c, metrics_sources.c, metrics_nodes.c --- */
void metrics_pools_write(const struct api *a, struct str *s);
void metrics_sources_write(const struct api *a, struct str *s); /* slurmctld and providers */
void metrics_sources_write_places(const struct api *a, struct str *s);
void metrics_nodes_write(const struct api *a, struct str *s); /* with where their keys are from */

#endif
