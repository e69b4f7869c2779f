/* metrics_flow.c writes how requests to providers flow: what a provider lets through, what was
 * sent, and what waits. */
#include <stdlib.h>

#include "api/metrics_private.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "cloud/cloud_api.h"
#include "core/pace.h"

struct flows {
	const struct conf *conf;
	struct str *s;
	struct engine_flow (*of)[PROVIDER_NOPS]; /* of each provider */
	int64_t now;
};

enum figure { SENT, THROTTLED, ALLOWED, INSTANCES, QUEUED, WAITING };

static const struct {
	enum figure what;
	const char *name, *type, *help;
} families[] = {
	{SENT, "burstd_provider_requests_total", "counter", "Requests sent to a provider."},
	{THROTTLED, "burstd_provider_throttled_total", "counter",
	 "Requests that a provider throttled; they are sent again later."},
	{ALLOWED, "burstd_provider_requests_allowed_per_second", "gauge",
	 "Requests that may be sent in a second, by what is configured, documented and learnt; "
	 "none if nothing limits them."},
	{INSTANCES, "burstd_provider_instances_allowed_per_second", "gauge",
	 "Instances that may be in the requests of a second, as documented; none if nothing limits "
	 "them."},
	{QUEUED, "burstd_provider_requests_queued", "gauge",
	 "What waits for the limit of requests: nodes to create, instances to delete, requests."},
	{WAITING, "burstd_provider_requests_waiting_seconds", "gauge",
	 "How long the first of these has waited; 0: none does."},
};

/* Per second, in nano-units; money is printed so. */
static void write_rate(const struct flows *f, const char *name, const struct metrics_label l[2],
		       int64_t rate)
{
	if (rate > 0)
		metrics_sample_money(f->s, name, l, 2, rate * (FMT_NANO / PACE_UNIT));
}

static void write_figure(const struct flows *f, size_t family, size_t provider, int kind)
{
	const struct engine_flow *of = &f->of[provider][kind];
	const char *name = families[family].name;
	const struct metrics_label l[] = {
		{"provider", f->conf->providers[provider].name},
		{"operation", provider_op_str((enum provider_op_kind)kind)}};

	switch (families[family].what) {
	case SENT:
		metrics_sample_u64(f->s, name, l, 2, of->sent);
		break;
	case THROTTLED:
		metrics_sample_u64(f->s, name, l, 2, of->throttled);
		break;
	case ALLOWED:
		write_rate(f, name, l, of->limit.allowed);
		break;
	case INSTANCES:
		write_rate(f, name, l, of->limit.instances);
		break;
	case QUEUED:
		metrics_sample_u64(f->s, name, l, 2, of->queued);
		break;
	case WAITING:
		metrics_sample_seconds(f->s, name, l, 2,
				       of->oldest_ms != 0 ? f->now - of->oldest_ms : 0);
		break;
	}
}

void metrics_flow_write(const struct api *a, struct str *s)
{
	struct flows f = {.conf = engine_conf(a->engine), .s = s, .now = engine_now(a->engine)};
	size_t n = f.conf->nproviders;

	f.of = mem_zalloc((n + 1) * sizeof(*f.of));
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < PROVIDER_NOPS; k++)
			f.of[i][k] = engine_flow(a->engine, i, (enum provider_op_kind)k);
	for (size_t at = 0; at < sizeof(families) / sizeof(families[0]); at++) {
		metrics_family(s, families[at].name, families[at].type, families[at].help);
		for (size_t i = 0; i < n; i++)
			for (int k = 0; k < PROVIDER_NOPS; k++)
				write_figure(&f, at, i, k);
	}
	free(f.of);
}
