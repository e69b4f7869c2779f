#include "api/metrics.h"

#include <stddef.h>
#include <string.h>

#include "api/explain.h"
#include "api/metrics_private.h"
#include "base/mem.h"
#include "buy/buy_api.h"

/* --- counters --------------------------------------------------------------------------------- */

#define AT(field) offsetof(struct engine_counters, field)

/* Rows of one family are neighbours; the first of them has its help. */
static const struct {
	const char *name, *type, *help, *label, *value;
	size_t at;
} counters[] = {
	{"burstd_calls_total", "counter", "Calls of slurmctld, read from the spool.", "kind",
	 "resume", AT(calls[CALL_RESUME])},
	{"burstd_calls_total", NULL, NULL, "kind", "suspend", AT(calls[CALL_SUSPEND])},
	{"burstd_calls_total", NULL, NULL, "kind", "resume-fail", AT(calls[CALL_RESUME_FAIL])},
	{"burstd_calls_bad_total", "counter",
	 "Files in the spool that were not complete calls, renamed to NAME.bad.", NULL, NULL,
	 AT(calls_bad)},
	{"burstd_calls_refused_total", "counter",
	 "Calls that could not be read or named no node of ours.", NULL, NULL, AT(calls_refused)},
	{"burstd_notices_unreadable_total", "counter",
	 "Notices of providers that were not understood.", NULL, NULL, AT(notices_unreadable)},
	{"burstd_notices_foreign_total", "counter",
	 "Notices of providers about instances that are not ours.", NULL, NULL,
	 AT(notices_foreign)},
	{"burstd_instances_created_total", "counter", "Instances that a provider created for us.",
	 NULL, NULL, AT(instances_created)},
	{"burstd_instances_refused_total", "counter", "Instances that a provider refused.", NULL,
	 NULL, AT(instances_refused)},
	{"burstd_instances_lost_total", "counter",
	 "Creates whose answer was lost, each resolved before any retry.", NULL, NULL,
	 AT(instances_lost)},
	{"burstd_jobs_taken_total", "counter", "Jobs that lost a node while they ran.", NULL, NULL,
	 AT(jobs_taken)},
	{"burstd_jobs_taken_end_total", "counter",
	 "Jobs that lost a node while they ran, by what became of them.", "end", "requeued",
	 AT(jobs_requeued)},
	{"burstd_jobs_taken_end_total", NULL, NULL, "end", "ended", AT(jobs_ended)},
	{"burstd_jobs_signalled_total", "counter",
	 "Jobs that were told to save their work because their node will be taken.", NULL, NULL,
	 AT(jobs_signalled)},
	{"burstd_jobs_lifted_total", "counter",
	 "Requeued jobs that burstd let start earlier than slurmctld would have.", NULL, NULL,
	 AT(jobs_lifted)},
	{"burstd_jobs_notified_total", "counter",
	 "Messages to srun and salloc jobs before they ended.", NULL, NULL, AT(jobs_notified)},
	{"burstd_notice_fences_total", "counter",
	 "Notices after which slurmctld was told to give the node no more jobs.", NULL, NULL,
	 AT(fences)},
	{"burstd_strays_total", "counter", "Strays: instances with our tag that no row had.", NULL,
	 NULL, AT(strays)},
	{"burstd_instances_foreign", "gauge",
	 "Instances of others in the last lists; never touched.", NULL, NULL, AT(foreign)},
	{"burstd_instances_unreadable", "gauge",
	 "Instances with our tag in the last lists whose node or generation cannot be read.", NULL,
	 NULL, AT(unreadable)},
	{"burstd_slurm_requests_total", "counter", "Runs of scontrol.", "kind", "poll", AT(polls)},
	{"burstd_slurm_requests_total", NULL, NULL, "kind", "update", AT(updates)},
	{"burstd_gates_waiting", "gauge", "Jobs that wait for their nodes in burst-prolog.", NULL,
	 NULL, AT(gates_waiting)},
	{"burstd_gates_total", "counter",
	 "Jobs whose wait for their nodes has ended, by how it ended.", "end", "up", AT(gates_up)},
	{"burstd_gates_total", NULL, NULL, "end", "gone", AT(gates_gone)},
	{"burstd_journal_commits_total", "counter", "Durable transactions of the journal.", NULL,
	 NULL, AT(commits)},
};

#undef AT

static void write_counters(const struct api *a, struct str *s)
{
	const char *base = (const char *)engine_counters(a->engine);

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		const struct metrics_label l = {counters[i].label, counters[i].value};
		uint64_t v;

		memcpy(&v, base + counters[i].at, sizeof(v));
		if (counters[i].help != NULL)
			metrics_family(s, counters[i].name, counters[i].type, counters[i].help);
		metrics_sample_u64(s, counters[i].name, &l, l.name != NULL, v);
	}
}

static void write_gate_time(const struct api *a, struct str *s)
{
	metrics_family(s, "burstd_gate_seconds_total", "counter",
		       "Total time that jobs have waited for their nodes in burst-prolog.");
	metrics_sample_seconds(s, "burstd_gate_seconds_total", NULL, 0,
			       (int64_t)engine_counters(a->engine)->gate_ms);
}

/* Sum and count are enough for a mean, and the longest one for an alert. */
static void write_fence_time(const struct api *a, struct str *s)
{
	const struct engine_counters *n = engine_counters(a->engine);

	metrics_family(s, "burstd_notice_fence_seconds_total", "counter",
		       "Total time from a notice until slurmctld gave the node no more jobs.");
	metrics_sample_seconds(s, "burstd_notice_fence_seconds_total", NULL, 0,
			       (int64_t)n->fence_ms);
	metrics_family(s, "burstd_notice_fence_seconds_max", "gauge",
		       "Longest time from a notice until slurmctld gave the node no more jobs.");
	metrics_sample_seconds(s, "burstd_notice_fence_seconds_max", NULL, 0,
			       (int64_t)n->fence_max_ms);
}

/* --- the page --------------------------------------------------------------------------------- */

static void write_self(const struct api *a, struct str *s)
{
	const struct metrics_label l[] = {{"version", BURSTD_VERSION},
					  {"cluster", engine_conf(a->engine)->cluster}};

	metrics_family(s, "burstd_build_info", "gauge",
		       "Always 1; its labels are the version and the cluster.");
	metrics_sample_u64(s, "burstd_build_info", l, 2, 1);
	metrics_family(s, "burstd_start_time_seconds", "gauge", "When burstd started.");
	metrics_sample_seconds(s, "burstd_start_time_seconds", NULL, 0,
			       engine_wall(a->engine, engine_started_ms(a->engine)));
}

static void count_problem(void *ctx, const char *sentence)
{
	uint64_t *n = ctx;

	(void)sentence;
	*n += 1;
}

/* Budgets are left out, as they are of what status tells everybody. */
static void write_problems(const struct api *a, struct str *s)
{
	uint64_t n = 0;

	explain_problems(a->engine, count_problem, &n);
	metrics_family(s, "burstd_problems", "gauge",
		       "Problems that burstctl status tells everybody.");
	metrics_sample_u64(s, "burstd_problems", NULL, 0, n);
}

static void write_room(const struct api *a, struct str *s)
{
	const struct journal_room *room = engine_room(a->engine);

	metrics_family(s, "burstd_disk_free_bytes", "gauge",
		       "Bytes free on the disk of the journal.");
	metrics_sample_u64(s, "burstd_disk_free_bytes", NULL, 0,
			   room->free_bytes > 0 ? (uint64_t)room->free_bytes : 0);
	metrics_family(s, "burstd_buying_stopped", "gauge",
		       "Is nothing bought, because the disk is nearly full?");
	metrics_sample_u64(s, "burstd_buying_stopped", NULL, 0, room->low);
}

void metrics_write(const struct api *a, struct str *out)
{
	write_self(a, out);
	write_problems(a, out);
	write_room(a, out);
	metrics_pools_write(a, out);
	metrics_offers_write(a, out);
	metrics_jobs_write(a, out);
	metrics_money_write(a, out);
	metrics_budgets_write(a, out);
	metrics_alerts_write(a, out);
	metrics_sources_write(a, out);
	metrics_nodes_write(a, out);
	metrics_sources_write_places(a, out);
	metrics_flow_write(a, out);
	write_counters(a, out);
	write_fence_time(a, out);
	write_gate_time(a, out);
}

/* A page from before the clock was set back is not fresh. */
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
		an->body = mem_strdup("only /metrics, /targets and /jobs are here\n");
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
