#include "api/metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "core/claim.h"
#include "core/reclaim.h"
#include "io/node_server.h"

/* A family begins with its HELP and TYPE and must be written in one piece. */
static void family(struct str *s, const char *name, const char *type, const char *help)
{
	str_addf(s, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_label_value(struct str *s, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			str_adds(s, "\\n");
		else if (*text == '"' || *text == '\\')
			str_addf(s, "\\%c", *text);
		else
			str_add(s, text, 1);
	}
}

struct label {
	const char *name, *value;
};

static void sample(struct str *s, const char *name, const struct label *labels, size_t n,
		   const char *value)
{
	str_adds(s, name);
	for (size_t i = 0; i < n; i++) {
		str_addf(s, "%s%s=\"", i == 0 ? "{" : ",", labels[i].name);
		add_label_value(s, labels[i].value);
		str_adds(s, "\"");
	}
	str_addf(s, "%s %s\n", n > 0 ? "}" : "", value);
}

static void sample_u64(struct str *s, const char *name, const struct label *labels, size_t n,
		       uint64_t v)
{
	char text[FMT_U64_SIZE];

	sample(s, name, labels, n, fmt_u64(text, v));
}

static void sample_money(struct str *s, const char *name, const struct label *labels, size_t n,
			 int64_t nano)
{
	char text[FMT_MONEY_SIZE];

	sample(s, name, labels, n, fmt_money(text, nano));
}

/* Milliseconds as seconds: nine decimals of money are nine decimals of anything. */
static void sample_seconds(struct str *s, const char *name, const struct label *labels, size_t n,
			   int64_t ms)
{
	sample_money(s, name, labels, n, ms * (FMT_NANO / 1000));
}

/* --- pools ---------------------------------------------------------------------------------------
 */

static size_t npools(const struct api *a)
{
	const struct conf *c = engine_conf(a->engine);
	const struct fleet *f = engine_fleet(a->engine);

	return c->npools < f->npools ? c->npools : f->npools;
}

static void write_states(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);
	const struct fleet *f = engine_fleet(a->engine);

	family(s, "burstd_nodes", "gauge",
	       "Cloud nodes that are bought or being bought, by state; each incarnation counts.");
	for (size_t i = 0; i < npools(a); i++)
		for (int state = 0; state < NODE_NSTATES; state++) {
			const struct label l[] = {
				{"pool", c->pools[i].name},
				{"state", node_state_str((enum node_state)state)},
			};

			if (state != NODE_GONE)
				sample_u64(s, "burstd_nodes", l, 2, f->pools[i].count[state]);
		}
}

/* What one pool has of one thing. */
typedef int64_t (*pool_value_fn)(const struct api *a, size_t pool);

static int64_t names_of(const struct api *a, size_t i)
{
	return (int64_t)engine_conf(a->engine)->pools[i].nodes->n;
}

static int64_t max_nodes_of(const struct api *a, size_t i)
{
	return engine_conf(a->engine)->pools[i].max_nodes;
}

static int64_t rate_of(const struct api *a, size_t i)
{
	return engine_fleet(a->engine)->pools[i].rate_nano_h;
}

static int64_t max_rate_of(const struct api *a, size_t i)
{
	return engine_conf(a->engine)->pools[i].max_rate_nano_h;
}

static int64_t spent_of(const struct api *a, size_t i)
{
	return engine_spent(a->engine, i);
}

static int64_t paused_of(const struct api *a, size_t i)
{
	return engine_paused(a->engine, i);
}

static int64_t closed_of(const struct api *a, size_t i)
{
	return engine_closed(a->engine, i) != NULL && !engine_paused(a->engine, i);
}

static int64_t warm_wanted_of(const struct api *a, size_t i)
{
	return engine_warm(a->engine, i).wanted;
}

static int64_t warm_of(const struct api *a, size_t i)
{
	return engine_warm(a->engine, i).up;
}

static int64_t paid_of(const struct api *a, size_t i)
{
	return engine_warm(a->engine, i).paid;
}

static const struct {
	const char *name, *type, *help;
	bool money;
	pool_value_fn value;
} pool_families[] = {
	{"burstd_pool_names", "gauge", "Slurm nodes that the pool names.", false, names_of},
	{"burstd_pool_max_nodes", "gauge", "The pool's limit on nodes.", false, max_nodes_of},
	{"burstd_pool_rate", "gauge",
	 "What the pool's nodes cost now, held against its limit, in currency units per hour.",
	 true, rate_of},
	{"burstd_pool_max_rate", "gauge", "The pool's limit on cost, in currency units per hour.",
	 true, max_rate_of},
	{"burstd_pool_paused", "gauge", "Has an admin stopped buying in the pool?", false,
	 paused_of},
	{"burstd_pool_closed", "gauge",
	 "Is nothing bought in the pool because its nodes come up wrong?", false, closed_of},
	{"burstd_pool_warm_wanted", "gauge",
	 "Nodes that are to be up whether a job has them or not.", false, warm_wanted_of},
	{"burstd_pool_warm", "gauge", "How many of those are up.", false, warm_of},
	{"burstd_pool_paid", "gauge",
	 "Nodes beyond those that stay, for their time is paid to the end of a quantum.", false,
	 paid_of},
	{"burstd_spent_total", "counter",
	 "Instance time so far at the price of the offer, in currency units.", true, spent_of},
};

static void write_pools(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);

	for (size_t k = 0; k < sizeof(pool_families) / sizeof(pool_families[0]); k++) {
		const char *name = pool_families[k].name;

		family(s, name, pool_families[k].type, pool_families[k].help);
		for (size_t i = 0; i < npools(a); i++) {
			const struct label l[] = {{"pool", c->pools[i].name},
						  {"currency", c->currency}};
			int64_t v = pool_families[k].value(a, i);

			if (pool_families[k].money)
				sample_money(s, name, l, 2, v);
			else
				sample_u64(s, name, l, 1, (uint64_t)v);
		}
	}
}

static void write_refused(const struct api *a, struct str *s)
{
	const struct fleet *f = engine_fleet(a->engine);
	uint32_t *n = mem_zalloc((f->npools * NODE_NREASONS + 1) * sizeof(*n));

	for (size_t i = 0; i < f->nall; i++)
		if (fleet_live(f->all[i]) == NULL)
			n[f->all[i]->pool * NODE_NREASONS + f->all[i]->refused]++;
	family(s, "burstd_nodes_refused", "gauge",
	       "Nodes that Slurm asked for and that were not bought, until it asks again.");
	for (size_t i = 0; i < npools(a); i++)
		for (int why = NODE_BECAUSE_NONE + 1; why < NODE_NREASONS; why++) {
			const struct label l[] = {
				{"pool", engine_conf(a->engine)->pools[i].name},
				{"reason", node_reason_str((enum node_reason)why)},
			};
			uint32_t v = n[i * NODE_NREASONS + (size_t)why];

			if (v > 0)
				sample_u64(s, "burstd_nodes_refused", l, 2, v);
		}
	free(n);
}

/* --- sources -------------------------------------------------------------------------------------
 */

static bool is_up(const struct engine_source *src)
{
	return src->ok_ms != 0 && src->error[0] == '\0';
}

static void write_slurm(const struct api *a, struct str *s)
{
	struct engine_source src = engine_slurm_source(a->engine);

	family(s, "burstd_slurm_up", "gauge", "Did slurmctld answer the last poll?");
	sample_u64(s, "burstd_slurm_up", NULL, 0, is_up(&src));
	family(s, "burstd_slurm_last_success_timestamp_seconds", "gauge",
	       "When slurmctld last answered; 0: never.");
	sample_seconds(s, "burstd_slurm_last_success_timestamp_seconds", NULL, 0,
		       engine_wall(a->engine, src.ok_ms));
}

/* Without a value as long as it is not known. */
static void write_slurm_conf(const struct api *a, struct str *s)
{
	const struct slurm_report *r = engine_prereq(a->engine);

	if (r == NULL)
		return;
	family(s, "burstd_slurm_conf_problems", "gauge",
	       "Settings of slurm.conf that are not as burstd needs them.");
	for (int severity = SLURM_ADVICE; severity <= SLURM_ERROR; severity++) {
		const struct label l = {"severity",
					slurm_severity_name((enum slurm_severity)severity)};

		sample_u64(s, "burstd_slurm_conf_problems", &l, 1, r->by_severity[severity]);
	}
}

static void write_providers(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);

	family(s, "burstd_provider_up", "gauge", "Did the provider answer the last time?");
	for (size_t i = 0; i < c->nproviders; i++) {
		struct engine_source src = engine_provider_source(a->engine, i);
		const struct label l = {"provider", c->providers[i].name};

		sample_u64(s, "burstd_provider_up", &l, 1, is_up(&src));
	}
	family(s, "burstd_provider_away", "gauge",
	       "Has the provider not answered for so long that nothing is bought there?");
	for (size_t i = 0; i < c->nproviders; i++) {
		const struct label l = {"provider", c->providers[i].name};

		sample_u64(s, "burstd_provider_away", &l, 1, engine_away_since(a->engine, i) != 0);
	}
	family(s, "burstd_provider_last_success_timestamp_seconds", "gauge",
	       "When the provider last gave a whole answer; 0: never.");
	for (size_t i = 0; i < c->nproviders; i++) {
		const struct label l = {"provider", c->providers[i].name};

		sample_seconds(s, "burstd_provider_last_success_timestamp_seconds", &l, 1,
			       engine_wall(a->engine, engine_provider_source(a->engine, i).ok_ms));
	}
}

/* --- places --------------------------------------------------------------------------------------
 */

enum { CAPACITY, QUOTA, FAILING, DENIED, NCLOSED };

static const char *const closed_words[NCLOSED] = {"capacity", "quota", "failing", "denied"};

struct closed { /* of each provider */
	const struct conf *conf;
	uint32_t (*n)[NCLOSED]; /* what is closed now; DENIED: or waits for somebody to act */
};

static void count_closed(void *ctx, const struct cooldown_row *c)
{
	struct closed *to = ctx;

	for (size_t i = 0; i < to->conf->nproviders; i++)
		for (int k = 0; k < NCLOSED; k++)
			if (strcmp(to->conf->providers[i].name, c->provider) == 0 &&
			    strcmp(closed_words[k], c->reason) == 0)
				to->n[i][k] += k == DENIED || c->view.state >= COOLDOWN_CAPACITY;
}

static void write_closed(const struct api *a, struct str *s)
{
	struct closed all = {.conf = engine_conf(a->engine)};
	size_t n = all.conf->nproviders;

	all.n = mem_zalloc((n + 1) * sizeof(*all.n));
	engine_cooldowns(a->engine, count_closed, &all);
	family(s, "burstd_places_closed", "gauge",
	       "Places where nothing is tried for now, by what they answered.");
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < DENIED; k++) {
			const struct label l[] = {{"provider", all.conf->providers[i].name},
						  {"reason", closed_words[k]}};

			sample_u64(s, "burstd_places_closed", l, 2, all.n[i][k]);
		}
	family(s, "burstd_provider_off", "gauge",
	       "Is nothing bought from the provider, because it denied us, its credential is "
	       "missing, or the configuration has it no more? An admin must act.");
	for (size_t i = 0; i < n; i++) {
		const struct label l = {"provider", all.conf->providers[i].name};

		sample_u64(s, "burstd_provider_off", &l, 1,
			   engine_off(a->engine, i) != NULL ? 1 : all.n[i][DENIED]);
	}
	free(all.n);
}

static void write_unsold(const struct api *a, struct str *s)
{
	static const enum provider_code codes[] = {PROVIDER_CAPACITY, PROVIDER_QUOTA,
						   PROVIDER_DENIED, PROVIDER_INVALID};
	const struct conf *c = engine_conf(a->engine);

	family(s, "burstd_nodes_unsold_total", "counter",
	       "Nodes that a provider was asked for and refused, by what it said.");
	for (size_t i = 0; i < c->nproviders; i++)
		for (size_t k = 0; k < sizeof(codes) / sizeof(codes[0]); k++) {
			const struct label l[] = {{"provider", c->providers[i].name},
						  {"reason", provider_code_str(codes[k])}};

			sample_u64(s, "burstd_nodes_unsold_total", l, 2,
				   engine_unsold(a->engine, i, codes[k]));
		}
}

static void write_throttled(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);

	family(s, "burstd_provider_throttled_total", "counter",
	       "Requests that a provider throttled; they are sent again later.");
	for (size_t i = 0; i < c->nproviders; i++)
		for (int k = 0; k < PROVIDER_NOPS; k++) {
			const char *kind = provider_op_str((enum provider_op_kind)k);
			const struct label l[] = {{"provider", c->providers[i].name},
						  {"operation", kind}};

			sample_u64(s, "burstd_provider_throttled_total", l, 2,
				   engine_throttled(a->engine, i, (enum provider_op_kind)k));
		}
}

/* --- counters ------------------------------------------------------------------------------------
 */

#define AT(field) offsetof(struct engine_counters, field)

/* Rows of one family are neighbours; the first of them has its help. */
static const struct {
	const char *name, *type, *help, *label, *value;
	size_t at;
} counters[] = {
	{"burstd_calls_total", "counter", "Calls of Slurm's hooks, made durable.", "kind", "resume",
	 AT(calls[JOURNAL_RESUME])},
	{"burstd_calls_total", NULL, NULL, "kind", "suspend", AT(calls[JOURNAL_SUSPEND])},
	{"burstd_calls_total", NULL, NULL, "kind", "resume-fail", AT(calls[JOURNAL_RESUME_FAIL])},
	{"burstd_calls_refused_total", "counter",
	 "Calls that could not be read or named no node of ours.", NULL, NULL, AT(calls_refused)},
	{"burstd_provider_requests_total", "counter", "Requests sent to providers.", "operation",
	 "create", AT(creates)},
	{"burstd_provider_requests_total", NULL, NULL, "operation", "delete", AT(deletes)},
	{"burstd_provider_requests_total", NULL, NULL, "operation", "list", AT(lists)},
	{"burstd_provider_requests_total", NULL, NULL, "operation", "offers", AT(offers)},
	{"burstd_provider_requests_total", NULL, NULL, "operation", "notices", AT(notices)},
	{"burstd_provider_requests_total", NULL, NULL, "operation", "report", AT(reports)},
	{"burstd_provider_requests_total", NULL, NULL, "operation", "fabrics", AT(fabrics)},
	{"burstd_notices_odd_total", "counter",
	 "What providers told of instances and was not understood.", NULL, NULL, AT(notices_odd)},
	{"burstd_notices_others_total", "counter",
	 "What providers told of instances that are not ours.", NULL, NULL, AT(notices_others)},
	{"burstd_instances_created_total", "counter", "Instances that a provider created for us.",
	 NULL, NULL, AT(instances_created)},
	{"burstd_instances_refused_total", "counter", "Instances that a provider refused.", NULL,
	 NULL, AT(instances_refused)},
	{"burstd_instances_lost_total", "counter",
	 "Creates whose answer was lost, each resolved before any retry.", NULL, NULL,
	 AT(instances_lost)},
	{"burstd_jobs_taken_total", "counter", "Jobs that lost a node while they ran.", NULL, NULL,
	 AT(jobs_taken)},
	{"burstd_jobs_taken_end_total", "counter", "What became of them.", "end", "requeued",
	 AT(jobs_requeued)},
	{"burstd_jobs_taken_end_total", NULL, NULL, "end", "ended", AT(jobs_ended)},
	{"burstd_jobs_signalled_total", "counter",
	 "Jobs that were told to save their work, for their node goes.", NULL, NULL,
	 AT(jobs_signalled)},
	{"burstd_jobs_lifted_total", "counter",
	 "Requeued jobs that were let start before slurmctld would have.", NULL, NULL,
	 AT(jobs_lifted)},
	{"burstd_jobs_notified_total", "counter",
	 "Sentences that jobs of srun and salloc were told before they ended.", NULL, NULL,
	 AT(jobs_notified)},
	{"burstd_notice_fences_total", "counter",
	 "Notices after which slurmctld was told to give the node no more jobs.", NULL, NULL,
	 AT(fences)},
	{"burstd_orphans_total", "counter", "Instances seen with our tag that were not known.",
	 NULL, NULL, AT(orphans)},
	{"burstd_instances_foreign", "gauge",
	 "Instances of others in the last lists; never touched.", NULL, NULL, AT(foreign)},
	{"burstd_instances_unreadable", "gauge",
	 "Instances with our tag in the last lists whose node or generation cannot be read.", NULL,
	 NULL, AT(unreadable)},
	{"burstd_slurm_requests_total", "counter", "Runs of scontrol.", "kind", "poll", AT(polls)},
	{"burstd_slurm_requests_total", NULL, NULL, "kind", "update", AT(updates)},
	{"burstd_gates_waiting", "gauge", "Jobs that wait for their nodes in burst-prolog.", NULL,
	 NULL, AT(gates_waiting)},
	{"burstd_gates_total", "counter", "Jobs that have waited for their nodes, by the end.",
	 "end", "up", AT(gates_up)},
	{"burstd_gates_total", NULL, NULL, "end", "gone", AT(gates_gone)},
	{"burstd_journal_commits_total", "counter", "Durable transactions of the journal.", NULL,
	 NULL, AT(commits)},
};

#undef AT

static void write_counters(const struct api *a, struct str *s)
{
	const char *base = (const char *)engine_counters(a->engine);

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		const struct label l = {counters[i].label, counters[i].value};
		uint64_t v;

		memcpy(&v, base + counters[i].at, sizeof(v));
		if (counters[i].help != NULL)
			family(s, counters[i].name, counters[i].type, counters[i].help);
		sample_u64(s, counters[i].name, &l, l.name != NULL, v);
	}
}

static void write_gate_time(const struct api *a, struct str *s)
{
	family(s, "burstd_gate_seconds_total", "counter",
	       "Time that jobs have waited for their nodes in burst-prolog, all together.");
	sample_seconds(s, "burstd_gate_seconds_total", NULL, 0,
		       (int64_t)engine_counters(a->engine)->gate_ms);
}

/* Sum and count are enough for a mean, and the longest one for an alert. */
static void write_fence_time(const struct api *a, struct str *s)
{
	const struct engine_counters *n = engine_counters(a->engine);

	family(s, "burstd_notice_fence_seconds_total", "counter",
	       "Time from a notice until slurmctld had taken that, all together.");
	sample_seconds(s, "burstd_notice_fence_seconds_total", NULL, 0, (int64_t)n->fence_ms);
	family(s, "burstd_notice_fence_seconds_max", "gauge", "The longest such time.");
	sample_seconds(s, "burstd_notice_fence_seconds_max", NULL, 0, (int64_t)n->fence_max_ms);
}

static void write_notices(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);

	family(s, "burstd_notices_total", "counter",
	       "Words that a machine will be taken away, or is broken.");
	for (size_t i = 0; i < c->nproviders; i++)
		for (int k = 0; k < PROVIDER_NNOTICES; k++) {
			enum provider_notice_kind kind = (enum provider_notice_kind)k;
			const struct label l[] = {{"provider", c->providers[i].name},
						  {"kind", reclaim_kind_str(kind)}};

			sample_u64(s, "burstd_notices_total", l, 2,
				   engine_notices(a->engine, i, kind));
		}
}

static void write_self(const struct api *a, struct str *s)
{
	const struct label l[] = {{"version", BURSTD_VERSION},
				  {"cluster", engine_conf(a->engine)->cluster}};

	family(s, "burstd_build_info", "gauge", "Always 1; what runs is in the labels.");
	sample_u64(s, "burstd_build_info", l, 2, 1);
	family(s, "burstd_start_time_seconds", "gauge", "When burstd started.");
	sample_seconds(s, "burstd_start_time_seconds", NULL, 0,
		       engine_wall(a->engine, engine_started_ms(a->engine)));
}

/* Nothing at all where there is no secret store. */
static void write_secrets(const struct api *a, struct str *s)
{
	static const char *const modes[] = {"wrap", "broker", "user-data"};
	struct engine_secrets v;
	struct label l;

	engine_secrets(a->engine, &v);
	if (v.driver[0] == '\0')
		return;
	family(s, "burstd_secrets_up", "gauge", "Does the secret store give out keys now?");
	sample_u64(s, "burstd_secrets_up", NULL, 0, v.ready && v.source.error[0] == '\0');
	family(s, "burstd_secrets_insecure", "gauge", "Are the keys in a plain file?");
	sample_u64(s, "burstd_secrets_insecure", NULL, 0, v.insecure);
	family(s, "burstd_secrets_waiting", "gauge", "Nodes that wait for keys.");
	sample_u64(s, "burstd_secrets_waiting", NULL, 0, v.waiting);
	family(s, "burstd_secrets_last_success_timestamp_seconds", "gauge",
	       "When the secret store last answered; 0: never.");
	sample_seconds(s, "burstd_secrets_last_success_timestamp_seconds", NULL, 0,
		       engine_wall(a->engine, v.source.ok_ms));
	family(s, "burstd_secrets_released_total", "counter", "Keys given out, by how.");
	for (size_t i = 0; i < 3; i++) {
		l = (struct label){"mode", modes[i]};
		sample_u64(s, "burstd_secrets_released_total", &l, 1, v.released[i]);
	}
	family(s, "burstd_secrets_failed_total", "counter", "Nodes that could not have keys.");
	sample_u64(s, "burstd_secrets_failed_total", NULL, 0, v.failed);
	family(s, "burstd_secrets_requests_total", "counter", "Requests to the secret store.");
	sample_u64(s, "burstd_secrets_requests_total", NULL, 0, v.requests);
	family(s, "burstd_secrets_logins_total", "counter", "Sessions begun with it.");
	sample_u64(s, "burstd_secrets_logins_total", NULL, 0, v.logins);
}

/* Nothing at all where nodes do not talk to us. */
static void write_claims(const struct api *a, struct str *s)
{
	size_t n[CLAIM_NSTATES], weak = engine_claims(a->engine, n);

	family(s, "burstd_claims", "gauge", "Nodes that exist by how far they are to their keys.");
	for (int i = 0; i < CLAIM_NSTATES; i++) {
		const struct label l = {"state", claim_state_str((enum claim_state)i)};

		sample_u64(s, "burstd_claims", &l, 1, n[i]);
	}
	family(s, "burstd_claims_weak", "gauge",
	       "Nodes of which nothing but their address was proved.");
	sample_u64(s, "burstd_claims_weak", NULL, 0, weak);
	family(s, "burstd_claims_breached_total", "counter",
	       "Claims that somebody else used, or tried to.");
	sample_u64(s, "burstd_claims_breached_total", NULL, 0,
		   engine_counters(a->engine)->claims_breached);
}

static void write_boots(const struct engine_door_counters *n, struct str *s)
{
	struct label l = {"end", "ready"};

	family(s, "burstd_bootstraps_total", "counter", "Reports of node-init, by what it said.");
	sample_u64(s, "burstd_bootstraps_total", &l, 1, n->ready);
	l.value = "failed";
	sample_u64(s, "burstd_bootstraps_total", &l, 1, n->failed);
	family(s, "burstd_bootstrap_steps_total", "counter",
	       "Steps of node-init in these reports.");
	for (size_t i = 0; i < ENGINE_BOOT_STEPS; i++) {
		l = (struct label){"step", n->steps[i].name};
		if (n->steps[i].n > 0)
			sample_u64(s, "burstd_bootstrap_steps_total", &l, 1, n->steps[i].n);
	}
	family(s, "burstd_bootstrap_seconds_total", "counter", "How long they took, all together.");
	for (size_t i = 0; i < ENGINE_BOOT_STEPS; i++) {
		l = (struct label){"step", n->steps[i].name};
		if (n->steps[i].n > 0)
			sample_seconds(s, "burstd_bootstrap_seconds_total", &l, 1,
				       n->steps[i].sum_ms);
	}
	family(s, "burstd_bootstrap_seconds_max", "gauge", "The longest of each.");
	for (size_t i = 0; i < ENGINE_BOOT_STEPS; i++) {
		l = (struct label){"step", n->steps[i].name};
		if (n->steps[i].n > 0)
			sample_seconds(s, "burstd_bootstrap_seconds_max", &l, 1,
				       n->steps[i].max_ms);
	}
}

static void write_said(const struct engine_door_counters *n, struct str *s)
{
	static const char *const classes[] = {"2xx", "3xx", "4xx", "5xx"};
	const struct {
		const char *name, *help;
		uint64_t v;
	} all[] = {
		{"burstd_node_heartbeats_total", "Heartbeats of nodes.", n->heartbeats},
		{"burstd_node_confirms_total", "Nodes that showed that they have the keys.",
		 n->confirmed},
		{"burstd_node_events_total", "What agents told: that the machine goes, is faulty.",
		 n->events},
		{"burstd_node_renewals_total", "Certificates of nodes renewed.", n->renewed},
		{"burstd_node_misuses_total", "Nodes that spoke for another, or with another key.",
		 n->misuses},
		{"burstd_node_munge_refused_total", "Credentials of nodes that were refused.",
		 n->munge_refused},
	};

	family(s, "burstd_node_requests_total", "counter",
	       "Requests of nodes that were answered after a decision.");
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		const struct label l = {"status", classes[i]};

		sample_u64(s, "burstd_node_requests_total", &l, 1, n->answers[i]);
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		family(s, all[i].name, "counter", all[i].help);
		sample_u64(s, all[i].name, NULL, 0, all[i].v);
	}
}

/* What its thread did without a decision. */
static void write_listener(const struct api *a, struct str *s)
{
	struct node_server_stats n;

	family(s, "burstd_listener_up", "gauge", "Can nodes reach burstd?");
	sample_u64(s, "burstd_listener_up", NULL, 0, engine_door_off(a->engine) == NULL);
	if (a->nodes == NULL)
		return;
	node_server_stats(a->nodes, &n);
	const struct {
		const char *why;
		uint64_t v;
	} dropped[] = {{"rate", n.over_rate},
		       {"number", n.over_number},
		       {"mute", n.mute},
		       {"slow", n.slow},
		       {"room", n.ousted}},
	  refused[] = {{"unknown", n.refused},
		       {"too-long", n.too_long},
		       {"too-often", n.asked_too_often},
		       {"queue", n.queue_full},
		       {"late", n.unanswered}};

	family(s, "burstd_listener_connections", "gauge", "Open connections of nodes.");
	sample_u64(s, "burstd_listener_connections", NULL, 0, n.open);
	family(s, "burstd_listener_accepted_total", "counter", "Connections of nodes accepted.");
	sample_u64(s, "burstd_listener_accepted_total", NULL, 0, n.accepted);
	family(s, "burstd_listener_dropped_total", "counter", "Connections dropped or cut.");
	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++) {
		const struct label l = {"why", dropped[i].why};

		sample_u64(s, "burstd_listener_dropped_total", &l, 1, dropped[i].v);
	}
	family(s, "burstd_listener_requests_total", "counter", "Requests read.");
	sample_u64(s, "burstd_listener_requests_total", NULL, 0, n.requests);
	family(s, "burstd_listener_refused_total", "counter",
	       "Requests that were refused without a decision.");
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const struct label l = {"why", refused[i].why};

		sample_u64(s, "burstd_listener_refused_total", &l, 1, refused[i].v);
	}
}

static void write_left_out(const struct engine_door_counters *n, struct str *s)
{
	family(s, "burstd_hosts_left_out", "gauge",
	       "Nodes whose names other nodes are not told: the list is too long.");
	sample_u64(s, "burstd_hosts_left_out", NULL, 0, n->hosts_left_out);
}

static void write_door(const struct api *a, struct str *s)
{
	const struct engine_door_counters *n = engine_door_counters(a->engine);

	if (n != NULL || engine_conf(a->engine)->secrets.release == CONF_USER_DATA)
		write_claims(a, s);
	if (n == NULL)
		return;
	write_boots(n, s);
	write_said(n, s);
	write_left_out(n, s);
	write_listener(a, s);
}

static void write_room(const struct api *a, struct str *s)
{
	const struct journal_room *room = engine_room(a->engine);

	family(s, "burstd_disk_free_bytes", "gauge", "Free where the journal is.");
	sample_u64(s, "burstd_disk_free_bytes", NULL, 0,
		   room->free_bytes > 0 ? (uint64_t)room->free_bytes : 0);
	family(s, "burstd_buying_stopped", "gauge",
	       "Is nothing bought, because the disk is nearly full?");
	sample_u64(s, "burstd_buying_stopped", NULL, 0, room->low);
}

void metrics_write(const struct api *a, struct str *out)
{
	write_self(a, out);
	write_room(a, out);
	write_states(a, out);
	write_pools(a, out);
	write_refused(a, out);
	write_slurm(a, out);
	write_slurm_conf(a, out);
	write_providers(a, out);
	write_notices(a, out);
	write_secrets(a, out);
	write_door(a, out);
	write_closed(a, out);
	write_unsold(a, out);
	write_throttled(a, out);
	write_counters(a, out);
	write_fence_time(a, out);
	write_gate_time(a, out);
}

/* A clock that was set back makes nothing fresh for longer. */
static bool is_fresh(const struct metrics *m, int64_t now)
{
	return m->page.p != NULL && now >= m->made_ms && now - m->made_ms < METRICS_FRESH_MS;
}

static const struct str *page(struct metrics *m)
{
	int64_t now = engine_now(m->api->engine);

	if (is_fresh(m, now))
		return &m->page;
	metrics_fini(m);
	str_init(&m->page, METRICS_MAX);
	metrics_write(m->api, &m->page);
	m->made_ms = now;
	return &m->page;
}

void metrics_fini(struct metrics *m)
{
	str_fini(&m->page);
}

void metrics_handle(void *ctx, const struct http_request *rq, struct http_answer *an)
{
	const struct str *s;

	if (strcmp(rq->path, "/metrics") != 0) {
		an->status = 404;
		an->body = mem_strdup("only /metrics is here\n");
		an->len = strlen(an->body);
		return;
	}
	if (strcmp(rq->method, "GET") != 0 && strcmp(rq->method, "HEAD") != 0) {
		an->status = 405;
		return;
	}
	s = page(ctx);
	if (s->full)
		return; /* 500: half of it would look like the whole */
	an->status = 200;
	an->type = "text/plain; version=0.0.4; charset=utf-8";
	an->len = s->len;
	an->body = mem_zalloc(s->len + 1);
	memcpy(an->body, s->p, s->len);
}
