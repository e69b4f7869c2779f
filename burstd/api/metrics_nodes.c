/* metrics_nodes.c writes the metrics of the secret store, and of nodes: their keys, their requests,
 * and their listener. */

#include "api/metrics_private.h"
#include "core/claim.h"
#include "io/node_server.h"
#include "keys/keys_api.h"

/* Somebody must give it a credential, or mend what it says. */
static void write_rotation(const struct api *a, struct str *s)
{
	struct engine_rotation r;

	engine_rotation(a->engine, &r);
	metrics_family(s, "burstd_rotation_blocked", "gauge",
		       "Has a rotation of the cluster's keys begun that cannot go on?");
	metrics_sample_u64(s, "burstd_rotation_blocked", NULL, 0,
			   r.there && (r.error[0] != '\0' || r.needs_credential));
}

/* Nothing at all where there is no secret store. */
static void write_secrets(const struct api *a, struct str *s)
{
	static const char *const modes[] = {"wrap", "broker", "user-data"};
	struct engine_secrets v;
	struct metrics_label l;

	engine_secrets(a->engine, &v);
	if (v.driver[0] == '\0')
		return;
	metrics_family(s, "burstd_secrets_up", "gauge", "Does the secret store give out keys now?");
	metrics_sample_u64(s, "burstd_secrets_up", NULL, 0, v.ready && v.source.error[0] == '\0');
	metrics_family(s, "burstd_secrets_insecure", "gauge", "Are the keys in a plain file?");
	metrics_sample_u64(s, "burstd_secrets_insecure", NULL, 0, v.insecure);
	metrics_family(s, "burstd_secrets_waiting", "gauge", "Nodes that wait for keys.");
	metrics_sample_u64(s, "burstd_secrets_waiting", NULL, 0, v.waiting);
	write_rotation(a, s);
	metrics_family(s, "burstd_secrets_last_success_timestamp_seconds", "gauge",
		       "When the secret store last answered; 0: never.");
	metrics_sample_seconds(s, "burstd_secrets_last_success_timestamp_seconds", NULL, 0,
			       engine_wall(a->engine, v.source.ok_ms));
	metrics_family(s, "burstd_secrets_released_total", "counter", "Keys given out, by mode.");
	for (size_t i = 0; i < 3; i++) {
		l = (struct metrics_label){"mode", modes[i]};
		metrics_sample_u64(s, "burstd_secrets_released_total", &l, 1, v.released[i]);
	}
	metrics_family(s, "burstd_secrets_failed_total", "counter",
		       "Nodes that could not get keys.");
	metrics_sample_u64(s, "burstd_secrets_failed_total", NULL, 0, v.failed);
	metrics_family(s, "burstd_secrets_requests_total", "counter",
		       "Requests to the secret store.");
	metrics_sample_u64(s, "burstd_secrets_requests_total", NULL, 0, v.requests);
	metrics_family(s, "burstd_secrets_logins_total", "counter", "Logins to the secret store.");
	metrics_sample_u64(s, "burstd_secrets_logins_total", NULL, 0, v.logins);
}

/* Only where nodes get keys: write_door(). */
static void write_claims(const struct api *a, struct str *s)
{
	size_t n[CLAIM_NSTATES], weak = engine_claims(a->engine, n);

	metrics_family(s, "burstd_claims", "gauge",
		       "Nodes that exist, by the state of their claim.");
	for (int i = 0; i < CLAIM_NSTATES; i++) {
		const struct metrics_label l = {"state", claim_state_str((enum claim_state)i)};

		metrics_sample_u64(s, "burstd_claims", &l, 1, n[i]);
	}
	metrics_family(s, "burstd_claims_weak", "gauge",
		       "Nodes that proved nothing but their address.");
	metrics_sample_u64(s, "burstd_claims_weak", NULL, 0, weak);
	metrics_family(s, "burstd_claims_breached_total", "counter",
		       "Claims that somebody else used, or tried to.");
	metrics_sample_u64(s, "burstd_claims_breached_total", NULL, 0,
			   engine_counters(a->engine)->claims_breached);
}

static void write_boots(const struct engine_door_counters *n, struct str *s)
{
	struct metrics_label l = {"end", "ready"};

	metrics_family(s, "burstd_bootstraps_total", "counter", "Reports of node-init, by result.");
	metrics_sample_u64(s, "burstd_bootstraps_total", &l, 1, n->ready);
	l.value = "failed";
	metrics_sample_u64(s, "burstd_bootstraps_total", &l, 1, n->failed);
	metrics_family(s, "burstd_bootstrap_steps_total", "counter",
		       "Steps of node-init in these reports.");
	for (size_t i = 0; i < ENGINE_BOOT_STEPS; i++) {
		l = (struct metrics_label){"step", n->steps[i].name};
		if (n->steps[i].n > 0)
			metrics_sample_u64(s, "burstd_bootstrap_steps_total", &l, 1, n->steps[i].n);
	}
	metrics_family(s, "burstd_bootstrap_seconds_total", "counter",
		       "Total time of each step of node-init.");
	for (size_t i = 0; i < ENGINE_BOOT_STEPS; i++) {
		l = (struct metrics_label){"step", n->steps[i].name};
		if (n->steps[i].n > 0)
			metrics_sample_seconds(s, "burstd_bootstrap_seconds_total", &l, 1,
					       n->steps[i].sum_ms);
	}
	metrics_family(s, "burstd_bootstrap_seconds_max", "gauge",
		       "Longest run of each step of node-init.");
	for (size_t i = 0; i < ENGINE_BOOT_STEPS; i++) {
		l = (struct metrics_label){"step", n->steps[i].name};
		if (n->steps[i].n > 0)
			metrics_sample_seconds(s, "burstd_bootstrap_seconds_max", &l, 1,
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
		{"burstd_node_confirms_total", "Nodes that proved that they have the keys.",
		 n->confirmed},
		{"burstd_node_events_total",
		 "Events that node agents reported: the machine will be taken, or is faulty.",
		 n->events},
		{"burstd_node_renewals_total", "Certificates of nodes that were renewed.",
		 n->renewed},
		{"burstd_node_misuses_total",
		 "Requests of nodes for another node, or with another key.", n->misuses},
		{"burstd_node_munge_refused_total", "Munge credentials of nodes that were refused.",
		 n->munge_refused},
	};

	metrics_family(s, "burstd_node_requests_total", "counter",
		       "Requests of nodes that were answered after a decision.");
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		const struct metrics_label l = {"status", classes[i]};

		metrics_sample_u64(s, "burstd_node_requests_total", &l, 1, n->answers[i]);
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		metrics_family(s, all[i].name, "counter", all[i].help);
		metrics_sample_u64(s, all[i].name, NULL, 0, all[i].v);
	}
}

/* What the listener's thread did without a decision of the engine. */
static void write_listener(const struct api *a, struct str *s)
{
	struct node_server_stats n;

	metrics_family(s, "burstd_listener_up", "gauge", "Can nodes reach burstd?");
	metrics_sample_u64(s, "burstd_listener_up", NULL, 0, engine_door_off(a->engine) == NULL);
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

	metrics_family(s, "burstd_listener_connections", "gauge", "Open connections of nodes.");
	metrics_sample_u64(s, "burstd_listener_connections", NULL, 0, n.open);
	metrics_family(s, "burstd_listener_accepted_total", "counter",
		       "Connections of nodes accepted.");
	metrics_sample_u64(s, "burstd_listener_accepted_total", NULL, 0, n.accepted);
	metrics_family(s, "burstd_listener_dropped_total", "counter",
		       "Connections dropped or cut.");
	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++) {
		const struct metrics_label l = {"why", dropped[i].why};

		metrics_sample_u64(s, "burstd_listener_dropped_total", &l, 1, dropped[i].v);
	}
	metrics_family(s, "burstd_listener_requests_total", "counter", "Requests read.");
	metrics_sample_u64(s, "burstd_listener_requests_total", NULL, 0, n.requests);
	metrics_family(s, "burstd_listener_refused_total", "counter",
		       "Requests that were refused without a decision.");
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const struct metrics_label l = {"why", refused[i].why};

		metrics_sample_u64(s, "burstd_listener_refused_total", &l, 1, refused[i].v);
	}
}

static void write_left_out(const struct engine_door_counters *n, struct str *s)
{
	metrics_family(s, "burstd_hosts_left_out", "gauge",
		       "Nodes missing in the list of node names that nodes get: it is full.");
	metrics_sample_u64(s, "burstd_hosts_left_out", NULL, 0, n->hosts_left_out);
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

void metrics_nodes_write(const struct api *a, struct str *s)
{
	write_secrets(a, s);
	write_door(a, s);
}
