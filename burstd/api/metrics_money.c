/* metrics_money.c writes the metrics about money, and how long nodes take to be worth theirs. */
#include <stdio.h>

#include "api/metrics_private.h"
#include "money/money_api.h"

#define STAGE_METRIC "burstd_node_stage_seconds"

enum { STAGE_LABELS = 4 };

static uint64_t write_buckets(struct str *s, struct metrics_label l[STAGE_LABELS],
			      const uint64_t counts[STAGES_BUCKETS])
{
	uint64_t n = 0;

	for (size_t b = 0; b < STAGES_BUCKETS; b++) {
		int64_t bound = stages_bound_ms(b);
		char le[24];

		(void)snprintf(le, sizeof(le), "%g", (double)bound / 1000);
		n += counts[b];
		l[STAGE_LABELS - 1] =
			(struct metrics_label){"le", bound == INT64_MAX ? "+Inf" : le};
		metrics_sample_u64(s, STAGE_METRIC "_bucket", l, STAGE_LABELS, n);
	}
	return n;
}

static void write_stage(const struct api *a, struct str *s, const struct stages_line *line,
			enum stage stage)
{
	struct metrics_label l[STAGE_LABELS] = {
		{"pool", engine_conf(a->engine)->pools[line->pool].name},
		{"offer", line->offer},
		{"stage", stages_str(stage)},
	};
	uint64_t n = write_buckets(s, l, line->counts[stage]);

	metrics_sample_seconds(s, STAGE_METRIC "_sum", l, STAGE_LABELS - 1, line->sum_ms[stage]);
	metrics_sample_u64(s, STAGE_METRIC "_count", l, STAGE_LABELS - 1, n);
}

static bool was_measured(const struct stages_line *line, enum stage stage)
{
	for (size_t b = 0; b < STAGES_BUCKETS; b++)
		if (line->counts[stage][b] != 0)
			return true;
	return false;
}

void metrics_money_write(const struct api *a, struct str *s)
{
	const struct stages *all = engine_stages(a->engine);

	metrics_family(
		s, STAGE_METRIC, "histogram",
		"How long nodes took, by offer and stage: wait, create, run, boot, ready (from "
		"wanted to up), delete.");
	for (size_t i = 0; i < all->n; i++)
		for (int stage = 0; stage < STAGE_N; stage++)
			if (was_measured(&all->v[i], (enum stage)stage))
				write_stage(a, s, &all->v[i], (enum stage)stage);
}
