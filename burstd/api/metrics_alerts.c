/* metrics_alerts.c writes the metrics about alerts of budgets. */
#include "api/metrics_private.h"
#include "money/money_api.h"

void metrics_alerts_write(const struct api *a, struct str *s)
{
	const struct engine_alerts all = engine_alerts(a->engine);
	const struct metrics_label delivered = {"state", "delivered"}, failed = {"state", "failed"};
	const struct conf *c = engine_conf(a->engine);

	metrics_family(s, "burstd_alerts_total", "counter",
		       "Messages about budgets that were delivered, or given up, since the start.");
	metrics_sample_u64(s, "burstd_alerts_total", &delivered, 1, all.delivered);
	metrics_sample_u64(s, "burstd_alerts_total", &failed, 1, all.failed);
	metrics_family(s, "burstd_alerts_pending", "gauge",
		       "Messages about budgets that wait to be delivered.");
	for (size_t i = 0; i < c->nalerts; i++) {
		const struct metrics_label l = {"alert", c->alerts[i].name};

		metrics_sample_u64(s, "burstd_alerts_pending", &l, 1,
				   engine_receiver(a->engine, i).pending);
	}
}
