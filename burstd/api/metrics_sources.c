/* metrics_sources.c writes the metrics of slurmctld and the providers: whether they answer,
 * notices, and places that have nothing to sell. */
#include <stdlib.h>
#include <string.h>

#include "api/metrics_private.h"
#include "base/mem.h"
#include "buy/buy_api.h"
#include "cloud/cloud_api.h"
#include "core/reclaim.h"
#include "jobs/jobs_api.h"

static bool is_up(const struct engine_source *src)
{
	return src->ok_ms != 0 && src->error[0] == '\0';
}

static void write_slurm(const struct api *a, struct str *s)
{
	struct engine_source src = engine_slurm_source(a->engine);

	metrics_family(s, "burstd_slurm_up", "gauge", "Did slurmctld answer the last poll?");
	metrics_sample_u64(s, "burstd_slurm_up", NULL, 0, is_up(&src));
	metrics_family(s, "burstd_slurm_last_success_timestamp_seconds", "gauge",
		       "When slurmctld last answered; 0: never.");
	metrics_sample_seconds(s, "burstd_slurm_last_success_timestamp_seconds", NULL, 0,
			       engine_wall(a->engine, src.ok_ms));
}

/* Nothing while it is not known. */
static void write_slurm_conf(const struct api *a, struct str *s)
{
	const struct slurm_report *r = engine_prereq(a->engine);

	if (r == NULL)
		return;
	metrics_family(s, "burstd_slurm_conf_problems", "gauge",
		       "Settings of slurm.conf that are not as burstd needs them.");
	for (int severity = SLURM_ADVICE; severity <= SLURM_ERROR; severity++) {
		const struct metrics_label l = {"severity",
						slurm_severity_name((enum slurm_severity)severity)};

		metrics_sample_u64(s, "burstd_slurm_conf_problems", &l, 1,
				   r->by_severity[severity]);
	}
}

static void write_providers(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);

	metrics_family(s, "burstd_provider_up", "gauge", "Did the provider answer the last time?");
	for (size_t i = 0; i < c->nproviders; i++) {
		struct engine_source src = engine_provider_source(a->engine, i);
		const struct metrics_label l = {"provider", c->providers[i].name};

		metrics_sample_u64(s, "burstd_provider_up", &l, 1, is_up(&src));
	}
	metrics_family(s, "burstd_provider_away", "gauge",
		       "Has the provider not answered for so long that nothing is bought there?");
	for (size_t i = 0; i < c->nproviders; i++) {
		const struct metrics_label l = {"provider", c->providers[i].name};

		metrics_sample_u64(s, "burstd_provider_away", &l, 1,
				   engine_away_since(a->engine, i) != 0);
	}
	metrics_family(s, "burstd_provider_last_success_timestamp_seconds", "gauge",
		       "When the provider last gave a whole answer; 0: never.");
	for (size_t i = 0; i < c->nproviders; i++) {
		const struct metrics_label l = {"provider", c->providers[i].name};

		metrics_sample_seconds(
			s, "burstd_provider_last_success_timestamp_seconds", &l, 1,
			engine_wall(a->engine, engine_provider_source(a->engine, i).ok_ms));
	}
}

static void write_clocks(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);

	metrics_family(
		s, "burstd_provider_clock_ahead_seconds", "gauge",
		"How far the clock of this machine is ahead of the provider's, as far as its "
		"answers prove; less than 0: behind.");
	for (size_t i = 0; i < c->nproviders; i++) {
		const struct metrics_label l = {"provider", c->providers[i].name};

		metrics_sample_seconds(s, "burstd_provider_clock_ahead_seconds", &l, 1,
				       engine_clock_ahead(a->engine, i));
	}
}

static void write_notices(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);

	metrics_family(s, "burstd_notices_total", "counter",
		       "Notices that a machine will be taken away, or is broken.");
	for (size_t i = 0; i < c->nproviders; i++)
		for (int k = 0; k < PROVIDER_NNOTICES; k++) {
			enum provider_notice_kind kind = (enum provider_notice_kind)k;
			const struct metrics_label l[] = {{"provider", c->providers[i].name},
							  {"kind", reclaim_kind_str(kind)}};

			metrics_sample_u64(s, "burstd_notices_total", l, 2,
					   engine_notices(a->engine, i, kind));
		}
}

void metrics_sources_write(const struct api *a, struct str *s)
{
	write_slurm(a, s);
	write_slurm_conf(a, s);
	write_providers(a, s);
	write_clocks(a, s);
	write_notices(a, s);
}

/* --- places --------------------------------------------------------------------------------------
 */

enum { CAPACITY, QUOTA, FAILING, DENIED, NCAUSES };

static const char *const cause_words[NCAUSES] = {"capacity", "quota", "failing", "denied"};

struct cooling { /* of each provider */
	const struct conf *conf;
	uint32_t (*n)[NCAUSES]; /* places that cool down now; DENIED: and those that wait for an
				   admin */
};

static void count_cooling(void *ctx, const struct cooldown_row *c)
{
	struct cooling *to = ctx;

	for (size_t i = 0; i < to->conf->nproviders; i++)
		for (int k = 0; k < NCAUSES; k++)
			if (strcmp(to->conf->providers[i].name, c->provider) == 0 &&
			    strcmp(cause_words[k], c->reason) == 0)
				to->n[i][k] += k == DENIED || c->view.state >= COOLDOWN_CAPACITY;
}

static void write_cooling(const struct api *a, struct str *s)
{
	struct cooling all = {.conf = engine_conf(a->engine)};
	size_t n = all.conf->nproviders;

	all.n = mem_zalloc((n + 1) * sizeof(*all.n));
	engine_cooldowns(a->engine, count_cooling, &all);
	metrics_family(s, "burstd_places_cooling", "gauge",
		       "Places where no purchase is tried for now, by reason.");
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < DENIED; k++) {
			const struct metrics_label l[] = {{"provider", all.conf->providers[i].name},
							  {"reason", cause_words[k]}};

			metrics_sample_u64(s, "burstd_places_cooling", l, 2, all.n[i][k]);
		}
	metrics_family(s, "burstd_provider_off", "gauge",
		       "Is nothing bought from the provider, because it denied us, its credential "
		       "is missing, or it was removed from the configuration? An admin must act.");
	for (size_t i = 0; i < n; i++) {
		const struct metrics_label l = {"provider", all.conf->providers[i].name};

		metrics_sample_u64(s, "burstd_provider_off", &l, 1,
				   engine_off(a->engine, i) != NULL ? 1 : all.n[i][DENIED]);
	}
	free(all.n);
}

static void write_unsold(const struct api *a, struct str *s)
{
	static const enum provider_code codes[] = {PROVIDER_CAPACITY, PROVIDER_QUOTA,
						   PROVIDER_DENIED, PROVIDER_INVALID};
	const struct conf *c = engine_conf(a->engine);

	metrics_family(s, "burstd_nodes_unsold_total", "counter",
		       "Nodes that a provider was asked for and refused, by reason.");
	for (size_t i = 0; i < c->nproviders; i++)
		for (size_t k = 0; k < sizeof(codes) / sizeof(codes[0]); k++) {
			const struct metrics_label l[] = {{"provider", c->providers[i].name},
							  {"reason", provider_code_str(codes[k])}};

			metrics_sample_u64(s, "burstd_nodes_unsold_total", l, 2,
					   engine_unsold(a->engine, i, codes[k]));
		}
}

void metrics_sources_write_places(const struct api *a, struct str *s)
{
	write_cooling(a, s);
	write_unsold(a, s);
}
