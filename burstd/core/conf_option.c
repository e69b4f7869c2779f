#include "core/conf_option.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/paths.h"
#include "core/conf.h"
#include "core/conf_text.h"

enum {
	CONF_VALUE_MAX = 64 << 10, /* a list of 10,000 nodes that do not fold */
	CONF_HOUR_MS = 3600000,
	CONF_DAY_MS = 24 * CONF_HOUR_MS,
	CONF_CODES_MAX = 64, /* jurisdictions */
};

#define TOP(field)      offsetof(struct conf, field)
#define PROVIDER(field) offsetof(struct conf_provider, field)
#define POOL(field)     offsetof(struct conf_pool, field)
#define OFFER(field)    offsetof(struct conf_offer, field)

/* clang-format off */
const struct conf_option conf_options[] = {
	{"", "cluster", NULL,
	 "Slurm's ClusterName",
	 false, CONF_NAME, 0, 0, TOP(cluster)},
	{"", "currency", NULL,
	 "of every amount in this file and in reports, as in ISO 4217",
	 false, CONF_CURRENCY, 0, 0, TOP(currency)},
	{"", "state_dir", PATHS_STATE,
	 "where the journal and the cluster's uuid are",
	 false, CONF_PATH, 0, 0, TOP(state_dir)},
	{"", "listen", "",
	 "loopback address:port of /metrics; empty: none",
	 false, CONF_LISTEN, 0, 0, TOP(listen)},
	{"", "log_level", "info",
	 "debug, info, warn or error",
	 true, CONF_LEVEL, 0, 0, TOP(log_level)},
	{"", "events_keep", "90d",
	 "how long burstctl events has an event; the oldest go sooner when there are 2 million",
	 true, CONF_DURATION, CONF_HOUR_MS, INT64_C(366) * CONF_DAY_MS, TOP(events_keep_ms)},
	{"", "admins", "",
	 "may change things by burstctl, besides root and our own user: names or uids",
	 false, CONF_USERS, 0, 0, TOP(admins)},
	{"slurm", "bin_dir", "/usr/bin",
	 "directory of scontrol and squeue",
	 true, CONF_PATH, 0, 0, TOP(slurm_bin)},
	{"slurm", "conf", "",
	 "slurm.conf; empty: where Slurm looks for it",
	 true, CONF_PATH, 0, 0, TOP(slurm_conf)},
	{"secrets", "driver", "",
	 "where the cluster's keys are: vault, aws or file; empty: burstd hands out none",
	 false, CONF_NAME, 0, 0, TOP(secrets.driver)},
	{"secrets", "address", "",
	 "driver vault: https://HOST:PORT, with commas between several; aws: of Secrets Manager",
	 false, CONF_TEXT, 0, 0, TOP(secrets.address)},
	{"secrets", "ca_file", "",
	 "certificates it is trusted by; empty: the system's",
	 false, CONF_PATH, 0, 0, TOP(secrets.ca_file)},
	{"secrets", "namespace", "",
	 "driver vault: of Vault Enterprise or OpenBao; empty: none",
	 false, CONF_TEXT, 0, 0, TOP(secrets.namespace)},
	{"secrets", "mount", "kv",
	 "driver vault: where the KV engine, version 2, is mounted",
	 false, CONF_TEXT, 0, 0, TOP(secrets.mount)},
	{"secrets", "name", "",
	 "of the bundle: vault: its path in the engine; aws: ARN or name; file: of the file",
	 false, CONF_TEXT, 0, 0, TOP(secrets.name)},
	{"secrets", "auth_mount", "approle", "driver vault: where AppRole is mounted",
	 false, CONF_TEXT, 0, 0, TOP(secrets.auth_mount)},
	{"secrets", "role_id", "", "driver vault: role_id of burstd's AppRole",
	 false, CONF_TEXT, 0, 0, TOP(secrets.role_id)},
	{"secrets", "role_name", "",
	 "driver vault: name of that AppRole, for burstctl secrets enroll; empty: no enrolment",
	 false, CONF_NAME, 0, 0, TOP(secrets.role_name)},
	{"secrets", "credential_file", "",
	 "mode 0600; vault: the secret_id; aws: the key, as for a provider; empty: none",
	 false, CONF_PATH, 0, 0, TOP(secrets.credential_file)},
	{"secrets", "rotate_role_id", "",
	 "driver vault: role_id of an AppRole that may write the bundle, for a rotation",
	 false, CONF_TEXT, 0, 0, TOP(secrets.rotate_role_id)},
	{"secrets", "rotate_role_name", "",
	 "driver vault: name of that AppRole, for burstctl secrets rotate; empty: no rotation",
	 false, CONF_NAME, 0, 0, TOP(secrets.rotate_role_name)},
	{"secrets", "switch_command", "",
	 "run in a rotation with munge or jwks, and stage, switch or drop: slurmctld's own key",
	 true, CONF_ARGV, 0, 0, TOP(secrets.switch_command)},
	{"secrets", "region", "",
	 "driver aws: of Secrets Manager, such as eu-west-1",
	 false, CONF_TEXT, 0, 0, TOP(secrets.region)},
	{"secrets", "role", "",
	 "driver aws: ARN of a role to assume; empty: none",
	 false, CONF_TEXT, 0, 0, TOP(secrets.role)},
	{"secrets", "sts_url", "",
	 "driver aws: of STS; empty: the region's",
	 false, CONF_URL, 0, 0, TOP(secrets.sts_url)},
	{"secrets", "metadata_url", "",
	 "driver aws: of the instance metadata service; empty: EC2's",
	 false, CONF_URL, 0, 0, TOP(secrets.metadata_url)},
	{"secrets", "dir", "",
	 "driver file: directory of the file, nobody else's to read",
	 false, CONF_PATH, 0, 0, TOP(secrets.dir)},
	{"secrets", "release", "wrap",
	 "wrap: a node reads the keys from Vault itself, once; broker: burstd hands them on; "
	 "user-data: for nodes that reach Vault, not burstd",
	 true, CONF_RELEASE, 0, 0, TOP(secrets.release)},
	{"secrets", "wrap_ttl", "60s",
	 "release wrap: how long a node may take for that",
	 true, CONF_DURATION, 15000, CONF_HOUR_MS / 2, TOP(secrets.wrap_ms)},
	{"secrets", "poll", "60s",
	 "time between two looks for another version of the keys",
	 true, CONF_DURATION, 1000, CONF_HOUR_MS, TOP(secrets.poll_ms)},
	{"secrets", "timeout", "30s",
	 "of one request",
	 true, CONF_DURATION, 1000, CONF_HOUR_MS / 12, TOP(secrets.timeout_ms)},
	{"nodes", "listen", "",
	 "address:port for new machines, such as 0.0.0.0:8443; empty: they get nothing of burstd",
	 false, CONF_BIND, 0, 0, TOP(nodes.listen)},
	{"nodes", "url", "",
	 "that, as machines reach it: https://HOST[:PORT], or several",
	 false, CONF_URLS, 0, 0, TOP(nodes.urls)},
	{"nodes", "conf_server", "",
	 "HOST:PORT of slurmctld, or several: slurmd --conf-server",
	 true, CONF_HOSTS, 0, 0, TOP(nodes.conf_servers)},
	{"nodes", "claim_ttl", "0s",
	 "a machine must have claimed so long after its create; 0s: its pool's boot_timeout",
	 true, CONF_DURATION, 0, CONF_DAY_MS, TOP(nodes.claim_ms)},
	{"nodes", "deadman", "10m",
	 "a node that burstd has not answered for so long switches itself off; 0s: never",
	 true, CONF_DURATION, 0, CONF_DAY_MS, TOP(nodes.deadman_ms)},
	{"nodes", "auth", "munge",
	 "AuthType of slurm.conf: munge or slurm",
	 false, CONF_AUTH, 0, 0, TOP(nodes.auth)},
	{"nodes", "munge_socket", "",
	 "of the munged here that has the cluster's key; empty: the usual one",
	 false, CONF_FILE, 0, 0, TOP(nodes.munge_socket)},
	{"nodes", "node_init", "",
	 "file that is handed to machines whose image has another node-init; empty: none",
	 true, CONF_FILE, 0, 0, TOP(nodes.node_init)},
	{"nodes", "slurmd_options", "",
	 "more options of slurmd",
	 true, CONF_LINE, 0, 0, TOP(nodes.slurmd_options)},
	{"provider", "driver", NULL,
	 "how to talk to it",
	 false, CONF_NAME, 0, 0, PROVIDER(driver)},
	{"provider", "url", "",
	 "of its API; empty: the driver's own",
	 false, CONF_URL, 0, 0, PROVIDER(url)},
	{"provider", "credential_file", "",
	 "holds its API key, mode 0600; empty: none",
	 false, CONF_PATH, 0, 0, PROVIDER(credential_file)},
	{"provider", "ca_file", "",
	 "certificates it is trusted by; empty: the system's",
	 false, CONF_PATH, 0, 0, PROVIDER(ca_file)},
	{"provider", "settle", "60s",
	 "after this long its list shows what was created",
	 true, CONF_DURATION, 0, CONF_HOUR_MS, PROVIDER(settle_ms)},
	{"provider", "list_every", "30s",
	 "time between two lists of its instances",
	 true, CONF_DURATION, 1000, CONF_HOUR_MS, PROVIDER(list_ms)},
	{"provider", "cooldown", "1m",
	 "how long a place that has no capacity is left alone first; longer each time, up to 15 times",
	 true, CONF_DURATION, 1000, CONF_HOUR_MS, PROVIDER(cooldown_ms)},
	{"provider", "unreachable_after", "1m",
	 "when nothing was answered for so long, its nodes are bought elsewhere, or refused",
	 true, CONF_DURATION, 5000, CONF_HOUR_MS, PROVIDER(unreachable_ms)},
	{"provider", "timeout", "30s",
	 "of one request",
	 true, CONF_DURATION, 1000, CONF_HOUR_MS, PROVIDER(timeout_ms)},
	{"provider", "concurrency", "16",
	 "requests at the same time; some are kept for deletes, lists and creates",
	 true, CONF_COUNT, 1, 1024, PROVIDER(concurrency)},
	{"provider", "rate", "0",
	 "requests per second, of all kinds; 0: the provider's own limits, as far as they are known",
	 true, CONF_COUNT, 0, 10000, PROVIDER(rate)},
	{"provider", "on", "",
	 "driver static: the command that switches node %n on",
	 false, CONF_ARGV, 0, 0, PROVIDER(on)},
	{"provider", "off", "",
	 "driver static: the command that switches node %n off",
	 false, CONF_ARGV, 0, 0, PROVIDER(off)},
	{"provider", "status", "",
	 "driver static: the command that says whether node %n is on or off",
	 false, CONF_ARGV, 0, 0, PROVIDER(status)},
	{"provider", "records", "/var/lib/burstd/static",
	 "driver static: directory for what is switched on, and for whom",
	 false, CONF_PATH, 0, 0, PROVIDER(records)},
	{"provider", "program", "/usr/libexec/burstd/burst-static",
	 "driver static: what runs these commands",
	 false, CONF_PATH, 0, 0, PROVIDER(program)},
	{"provider", "region", "",
	 "driver aws: of EC2, such as eu-west-1",
	 false, CONF_TEXT, 0, 0, PROVIDER(region)},
	{"provider", "image", "",
	 "driver aws: AMI that instances are made of; empty: as launch_template says",
	 false, CONF_TEXT, 0, 0, PROVIDER(image)},
	{"provider", "subnets", "",
	 "driver aws: ZONE=SUBNET,ZONE=SUBNET; empty: those of the default VPC",
	 false, CONF_TEXT, 0, 0, PROVIDER(subnets)},
	{"provider", "security_groups", "",
	 "driver aws: ids of security groups, with commas between them",
	 false, CONF_TEXT, 0, 0, PROVIDER(security_groups)},
	{"provider", "instance_profile", "",
	 "driver aws: name or ARN: the rights that instances have",
	 false, CONF_TEXT, 0, 0, PROVIDER(instance_profile)},
	{"provider", "key_name", "",
	 "driver aws: SSH key pair of instances",
	 false, CONF_TEXT, 0, 0, PROVIDER(key_name)},
	{"provider", "launch_template", "",
	 "driver aws: id or name, with :VERSION behind it; empty: none",
	 false, CONF_TEXT, 0, 0, PROVIDER(launch_template)},
	{"provider", "user_data_file", "",
	 "driver aws: what instances run at their first boot; at most 16 KiB",
	 false, CONF_PATH, 0, 0, PROVIDER(user_data_file)},
	{"provider", "role", "",
	 "driver aws: ARN of a role that burstd assumes; empty: its own rights",
	 false, CONF_TEXT, 0, 0, PROVIDER(role)},
	{"provider", "sts_url", "",
	 "driver aws: where roles are assumed; empty: STS of the region",
	 false, CONF_URL, 0, 0, PROVIDER(sts_url)},
	{"provider", "metadata_url", "",
	 "driver aws: where this machine's role is; empty: EC2's own address",
	 false, CONF_URL, 0, 0, PROVIDER(metadata_url)},
	{"provider", "notice_queue", "",
	 "driver aws: URL of the SQS queue that hears of reclaims; empty: none",
	 false, CONF_URL, 0, 0, PROVIDER(notice_queue)},
	{"provider", "attest", "auto",
	 "how its machines show who they are: aws, gcp, azure, callback, address, off or auto",
	 false, CONF_ATTEST, 0, 0, PROVIDER(attest_as)},
	{"provider", "account", "",
	 "attest aws, gcp, azure: account, project or subscription it must be; empty: any",
	 false, CONF_TEXT, 0, 0, PROVIDER(account)},
	{"provider", "check_address", "true",
	 "true: a machine must claim from the address that the provider has for it",
	 true, CONF_YES, 0, 0, PROVIDER(check_address)},
	{"provider", "attest_ca_file", "",
	 "what its documents are checked with; empty: what is shipped",
	 false, CONF_PATH, 0, 0, PROVIDER(attest_ca_file)},
	{"pool", "nodes", NULL,
	 "Slurm nodes that are bought here",
	 false, CONF_NODES, 0, 0, POOL(nodes_text)},
	{"pool", "provider", "",
	 "whose machines they are",
	 false, CONF_NAME, 0, 0, POOL(provider)},
	{"pool", "type", "",
	 "instance type, in the provider's words",
	 false, CONF_WORD, 0, 0, POOL(type)},
	{"pool", "region", "",
	 "in the provider's words",
	 false, CONF_WORD, 0, 0, POOL(region)},
	{"pool", "zone", "",
	 "in the provider's words; empty: any",
	 false, CONF_WORD, 0, 0, POOL(zone)},
	{"pool", "market", "on-demand",
	 "on-demand or spot",
	 false, CONF_MARKET, 0, 0, POOL(spot)},
	{"pool", "jurisdiction", "",
	 "where the machines stand, e.g. DE; empty: by what is known of the region",
	 true, CONF_CODE, 0, 0, POOL(jurisdiction)},
	{"pool", "fabric", "",
	 "job: each job of several nodes gets a fabric; or the name of one; empty: anywhere",
	 false, CONF_WORD, 0, 0, POOL(fabric)},
	{"pool", "interconnect", "",
	 "what its machines are looked at for: none, ib, roce, efa or gib, and :PORTSxGBITS",
	 true, CONF_LINKS, 0, 0, POOL(interconnect)},
	{"pool", "max_nodes", NULL,
	 "instances at the same time; 0: nothing is bought",
	 true, CONF_COUNT, 0, HOSTLIST_NAMES_MAX, POOL(max_nodes)},
	{"pool", "max_rate", NULL,
	 "what all of them may cost per hour",
	 true, CONF_LIMIT, 0, 0, POOL(max_rate_nano_h)},
	{"pool", "price", "",
	 "of one instance per hour; empty: as the provider says",
	 true, CONF_MONEY, 0, 0, POOL(price_nano_h)},
	{"pool", "boot_timeout", "10m",
	 "from instance to registered node; then it is given up",
	 true, CONF_DURATION, 1000, CONF_DAY_MS, POOL(boot_ms)},
	{"pool", "warm", "0",
	 "nodes that are up whether a job has them or not; they cost money when idle",
	 true, CONF_COUNT, 0, HOSTLIST_NAMES_MAX, POOL(warm)},
	{"pool", "quantum", "0s",
	 "the provider bills in such steps: a node stays for what is paid; 0s: by the second",
	 true, CONF_DURATION, 0, 31 * (int64_t)CONF_DAY_MS, POOL(quantum_ms)},
	{"pool", "policy", "ordered",
	 "which offer goes first: ordered, as they are written, or cheapest",
	 true, CONF_POLICY, 0, 0, POOL(policy)},
	{"pool", "gang", "all_or_nothing",
	 "of a job whose nodes cannot all be had: all_or_nothing or best_effort",
	 true, CONF_GANG, 0, 0, POOL(gang)},
	{"pool", "max_price", "",
	 "nothing is bought that costs more per hour and instance; empty: no limit",
	 true, CONF_MONEY, 0, 0, POOL(max_price_nano_h)},
	{"pool", "spot_share", "100",
	 "percent of the pool's nodes that may be spot",
	 true, CONF_COUNT, 0, 100, POOL(spot_share)},
	{"pool", "fallback_refusals", "0",
	 "a job may have on-demand once it was refused so often; 0: this does not count",
	 true, CONF_COUNT, 0, 1000, POOL(fallback_refusals)},
	{"pool", "fallback_after", "0s",
	 "a job may have on-demand once it has waited so long; 0s: this does not count",
	 true, CONF_DURATION, 0, 30 * (int64_t)CONF_DAY_MS, POOL(fallback_ms)},
	{"pool", "job_comment", "false",
	 "true: a job's --comment may say where its nodes are bought, e.g. burst:spot,EU",
	 true, CONF_YES, 0, 0, POOL(job_comment)},
	{"pool", "checkpoint_signal", "",
	 "sent to the jobs of a node that is reclaimed, e.g. USR1; empty: none",
	 true, CONF_SIGNAL, 0, 0, POOL(checkpoint_signal)},
	{"pool", "checkpoint_to", "batch",
	 "who of a job gets the signal: batch, steps or full, which is both",
	 true, CONF_TO, 0, 0, POOL(checkpoint_to)},
	{"pool", "checkpoint_command", "",
	 "run for each job of a node that is reclaimed: %j job, %n node, %d until when",
	 true, CONF_HOOK, 0, 0, POOL(checkpoint_command)},
	{"pool", "rebalance", "ignore",
	 "of a word that a node may soon be reclaimed: ignore or drain",
	 true, CONF_REBALANCE, 0, 0, POOL(rebalance)},
	{"pool", "rebalance_wait", "0s",
	 "jobs of a drained node may go on for so long, if no end is said; 0s: until they end",
	 true, CONF_DURATION, 0, 30 * (int64_t)CONF_DAY_MS, POOL(rebalance_wait_ms)},
	{"pool", "jurisdictions", "",
	 "nothing is bought outside of these, e.g. EU; empty: anywhere",
	 true, CONF_CODES, 0, 0, POOL(jurisdictions)},
	{"offer", "provider", NULL,
	 "whose machines they are",
	 false, CONF_NAME, 0, 0, OFFER(provider)},
	{"offer", "type", NULL,
	 "instance type, in the provider's words",
	 false, CONF_WORD, 0, 0, OFFER(type)},
	{"offer", "region", NULL,
	 "in the provider's words",
	 false, CONF_WORD, 0, 0, OFFER(region)},
	{"offer", "zone", "",
	 "in the provider's words; empty: any",
	 false, CONF_WORD, 0, 0, OFFER(zone)},
	{"offer", "market", "on-demand",
	 "reserved, spot or on-demand",
	 false, CONF_MARKETS, 0, 0, OFFER(market)},
	{"offer", "price", "",
	 "of one instance per hour; empty: as the provider says",
	 true, CONF_MONEY, 0, 0, OFFER(price_nano_h)},
	{"offer", "max_price", "",
	 "it is left out while it costs more per hour and instance; empty: no limit",
	 true, CONF_MONEY, 0, 0, OFFER(max_price_nano_h)},
	{"offer", "jurisdiction", "",
	 "where the machines stand, e.g. DE; empty: by what is known of the region",
	 true, CONF_CODE, 0, 0, OFFER(jurisdiction)},
	{"offer", "fabric", "",
	 "as of the pool; none: anywhere; empty: as the pool says",
	 false, CONF_WORD, 0, 0, OFFER(fabric)},
	{"offer", "interconnect", "", "as of the pool; empty: as the pool says",
	 true, CONF_LINKS, 0, 0, OFFER(interconnect)},
};
/* clang-format on */
const size_t conf_noptions = sizeof(conf_options) / sizeof(conf_options[0]);

#undef TOP
#undef PROVIDER
#undef POOL
#undef OFFER

/* A section and the one it stands in. */
static const struct {
	const char *name, *parent;
} sections[] = {{"slurm", ""},    {"secrets", ""}, {"nodes", ""},
		{"provider", ""}, {"pool", ""},    {"offer", "pool"}};

/* The types that are one of a few words, in the order of their enums. */
static const struct {
	enum conf_option_type type;
	const char *words[CONF_ATTEST_AUTO + 2];
	const char *want;
} choices[] = {
	{CONF_RELEASE, {"wrap", "broker", "user-data"}, "wrap, broker or user-data"},
	{CONF_AUTH, {"munge", "slurm"}, "munge or slurm"},
	{CONF_ATTEST,
	 {"off", "aws", "gcp", "azure", "callback", "address", "auto"},
	 "aws, gcp, azure, callback, address, off or auto"},
	{CONF_MARKETS, {"on-demand", "spot", "reserved"}, "reserved, spot or on-demand"},
	{CONF_POLICY, {"ordered", "cheapest"}, "ordered or cheapest"},
	{CONF_GANG, {"all_or_nothing", "best_effort"}, "all_or_nothing or best_effort"},
	{CONF_YES, {"false", "true"}, "true or false"},
	{CONF_TO, {"batch", "steps", "full"}, "batch, steps or full"},
	{CONF_REBALANCE, {"ignore", "drain"}, "ignore or drain"},
};
static const char *const levels[] = {
	[LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error"};

const struct conf_option *conf_option_find(const char *section, const char *name)
{
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, section) == 0 &&
		    strcmp(conf_options[i].name, name) == 0)
			return &conf_options[i];
	return NULL;
}

const char *conf_option_nearest(const char *section, const char *name)
{
	const char *best = NULL;
	size_t least = 0;

	for (size_t i = 0; i < conf_noptions; i++) {
		size_t d = opt_distance(name, conf_options[i].name);

		if (strcmp(conf_options[i].section, section) == 0 && (best == NULL || d < least)) {
			best = conf_options[i].name;
			least = d;
		}
	}
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		size_t d = opt_distance(name, sections[i].name);

		if (strcmp(section, sections[i].parent) == 0 && d < least) {
			best = sections[i].name;
			least = d;
		}
	}
	assert(best != NULL); /* asked about a section that does not exist */
	return best;
}

bool conf_option_is_list(const struct conf_option *o)
{
	return o->type == CONF_USERS || o->type == CONF_ARGV || o->type == CONF_CODES ||
	       o->type == CONF_HOOK || o->type == CONF_URLS || o->type == CONF_HOSTS;
}

static int set_count(const struct conf_option *o, uint32_t *out, const char *text, struct err *e)
{
	const char *p = text;
	int64_t v;

	if (!conf_text_number(&p, o->max, &v) || *p != '\0' || v < o->min)
		return err_set(e, ERR_INVALID,
			       "\"%.40s\": want a number from %" PRId64 " to %" PRId64, text,
			       o->min, o->max);
	*out = (uint32_t)v;
	return 0;
}

/* In the words that fmt_duration_parse() takes back, which those of fmt_duration() are not. */
static void print_duration(int64_t ms, struct str *out)
{
	if (ms >= CONF_DAY_MS && ms % CONF_DAY_MS == 0)
		str_addf(out, "%" PRId64 "d", ms / CONF_DAY_MS);
	else if (ms >= CONF_HOUR_MS && ms % CONF_HOUR_MS == 0)
		str_addf(out, "%" PRId64 "h", ms / CONF_HOUR_MS);
	else if (ms >= 60000 && ms % 60000 == 0)
		str_addf(out, "%" PRId64 "m", ms / 60000);
	else if (ms % 1000 == 0)
		str_addf(out, "%" PRId64 "s", ms / 1000);
	else
		str_addf(out, "%" PRId64 "ms", ms);
}

static int bad_range(const struct conf_option *o, const char *text, struct err *e)
{
	struct str range;

	str_init(&range, 64);
	print_duration(o->min, &range);
	str_adds(&range, " to ");
	print_duration(o->max, &range);
	(void)err_set(e, ERR_INVALID, "\"%.40s\": want %s", text, range.p);
	str_fini(&range);
	return -1;
}

static int set_duration(const struct conf_option *o, int64_t *out, const char *text, struct err *e)
{
	const char *unit = text + strspn(text, "0123456789");
	bool one = unit > text && (strcmp(unit, "ms") == 0 ||
				   (strlen(unit) == 1 && strchr("smhd", unit[0]) != NULL));
	int64_t v;

	if (unit > text && unit[0] == '\0')
		return err_set(e, ERR_INVALID,
			       "\"%.40s\": want a unit behind the number: ms, s, m, h or d", text);
	if (!one)
		return err_set(e, ERR_INVALID,
			       "\"%.40s\": want one number and one unit, such as 30s, 15m or 24h",
			       text);
	if (fmt_duration_parse(text, &v, NULL) < 0 || v < o->min || v > o->max)
		return bad_range(o, text, e);
	*out = v;
	return 0;
}

static int set_money(const struct conf_option *o, int64_t *out, const char *text, struct err *e)
{
	int64_t v = 0;

	if (text[0] != '\0' && fmt_money_parse(text, &v, e) < 0)
		return -1;
	if (o->type == CONF_LIMIT && text[0] == '\0')
		return err_set(e, ERR_INVALID, "want an amount; \"0\" buys nothing");
	if (o->type == CONF_MONEY && text[0] != '\0' && v == 0)
		return err_set(e, ERR_INVALID, "want more than 0, or \"\"");
	*out = v;
	return 0;
}

static int set_level(int *out, const char *text, struct err *e)
{
	int level = log_level_parse(text);

	if (level < 0)
		return err_set(e, ERR_INVALID, "\"%.40s\": want debug, info, warn or error", text);
	*out = level;
	return 0;
}

static int set_market(bool *out, const char *text, struct err *e)
{
	if (strcmp(text, "on-demand") != 0 && strcmp(text, "spot") != 0)
		return err_set(e, ERR_INVALID, "\"%.40s\": want on-demand or spot", text);
	*out = text[0] == 's';
	return 0;
}

static size_t choice_of(enum conf_option_type type)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (choices[i].type == type)
			return i;
	abort(); /* asked about a type that is no choice */
}

static int set_choice(const struct conf_option *o, int *out, const char *text, struct err *e)
{
	size_t i = choice_of(o->type);

	for (int k = 0; choices[i].words[k] != NULL; k++)
		if (strcmp(choices[i].words[k], text) == 0) {
			*out = k;
			return 0;
		}
	return err_set(e, ERR_INVALID, "\"%.40s\": want %s", text, choices[i].want);
}

static int set_currency(char *out, const char *text, struct err *e)
{
	if (!conf_text_is_currency(text))
		return err_set(e, ERR_INVALID, "\"%.40s\": want three capital letters such as EUR",
			       text);
	memcpy(out, text, 4);
	return 0;
}

static int set_text(const struct conf_option *o, char **out, const char *text, struct err *e)
{
	bool empty = text[0] == '\0' && o->initial != NULL && o->initial[0] == '\0';

	if (!empty && conf_text_check(o->type, text, e) < 0)
		return -1;
	free(*out);
	*out = empty && o->type == CONF_PATH ? NULL : mem_strdup(text);
	return 0;
}

int conf_option_set(const struct conf_option *o, void *object, const char *text, struct err *e)
{
	void *field = (char *)object + o->offset;

	if (strlen(text) > CONF_VALUE_MAX)
		return err_set(e, ERR_LIMIT, "longer than %d bytes", CONF_VALUE_MAX);
	if (!conf_text_is_plain(text))
		return err_set(e, ERR_INVALID,
			       "holds a control byte, a quote, a backslash or \"${\"");
	switch (o->type) {
	case CONF_CURRENCY:
		return set_currency(field, text, e);
	case CONF_LEVEL:
		return set_level(field, text, e);
	case CONF_MARKET:
		return set_market(field, text, e);
	case CONF_COUNT:
		return set_count(o, field, text, e);
	case CONF_DURATION:
		return set_duration(o, field, text, e);
	case CONF_MONEY:
	case CONF_LIMIT:
		return set_money(o, field, text, e);
	case CONF_MARKETS:
	case CONF_POLICY:
	case CONF_GANG:
	case CONF_YES:
	case CONF_TO:
	case CONF_REBALANCE:
	case CONF_RELEASE:
	case CONF_AUTH:
	case CONF_ATTEST:
		return set_choice(o, field, text, e);
	case CONF_USERS:
	case CONF_ARGV:
	case CONF_HOOK:
	case CONF_CODES:
	case CONF_URLS:
	case CONF_HOSTS:
		assert(!conf_option_is_list(o));
		return -1;
	default:
		return set_text(o, field, text, e);
	}
}

static void print_users(const struct conf *c, struct str *out)
{
	for (size_t i = 0; i < c->nadmins; i++)
		str_addf(out, "%s\"%" PRIu32 "\"", i > 0 ? ", " : "", c->admins[i]);
}

/* Only what there is behind a %; a lone one is somebody's mistake. */
static bool is_template(const char *text, const char *letters)
{
	for (const char *p = strchr(text, '%'); p != NULL; p = strchr(p + 2, '%'))
		if (p[1] == '\0' || strchr(letters, p[1]) == NULL)
			return false;
	return true;
}

static int check_arg(const struct conf_option *o, const char *text, size_t n, struct err *e)
{
	bool hook = o->type == CONF_HOOK;

	if (n == CONF_ARGS_MAX || strlen(text) > CONF_ARG_MAX)
		return err_set(e, ERR_LIMIT, "more than %d words, or a word of more than %d bytes",
			       CONF_ARGS_MAX, CONF_ARG_MAX);
	if (n == 0 && text[0] != '/')
		return err_set(e, ERR_INVALID,
			       "\"%.40s\": want the absolute path of a program first", text);
	if (!conf_text_is_plain(text) || text[0] == '\0')
		return err_set(e, ERR_INVALID,
			       "a word is empty or holds a control byte, a quote, a backslash or "
			       "\"${\"");
	if (!is_template(text, hook ? "jnd%" : "na%") || (n == 0 && strchr(text, '%') != NULL))
		return err_set(e, ERR_INVALID,
			       "\"%.40s\": want %s or %%%%, and none in the program's path", text,
			       hook ? "%j, %n, %d" : "%n, %a");
	return 0;
}

/* One more of a list in which none may be twice. */
static int check_member(const struct conf_option *o, char *const *have, const char *text, size_t n,
			struct err *e)
{
	size_t most = o->type == CONF_CODES ? CONF_CODES_MAX : CONF_NODE_URLS_MAX;

	if (n == most)
		return err_set(e, ERR_LIMIT, "more than %zu", most);
	if (o->type == CONF_CODES ? conf_text_code(text, e) < 0
				  : conf_text_check(o->type, text, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (strcmp(have[i], text) == 0)
			return err_set(e, ERR_INVALID, "%s is there twice", text);
	return 0;
}

int conf_option_add_arg(const struct conf_option *o, void *object, const char *text, struct err *e)
{
	char ***field = (char ***)(void *)((char *)object + o->offset);
	size_t n = 0;

	assert(conf_option_is_list(o) && o->type != CONF_USERS);
	while (*field != NULL && (*field)[n] != NULL)
		n++;
	if (o->type == CONF_ARGV || o->type == CONF_HOOK ? check_arg(o, text, n, e) < 0
							 : check_member(o, *field, text, n, e) < 0)
		return -1;
	*field = mem_realloc(*field, (n + 2) * sizeof(**field));
	(*field)[n] = mem_strdup(text);
	(*field)[n + 1] = NULL;
	return 0;
}

static void print_argv(char *const *argv, struct str *out)
{
	for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
		str_addf(out, "%s\"%s\"", i > 0 ? ", " : "", argv[i]);
}

static void free_argv(char **argv)
{
	for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
}

void conf_option_print(const struct conf_option *o, const void *object, struct str *out)
{
	const void *field = (const char *)object + o->offset;
	char money[FMT_MONEY_SIZE];
	int64_t v;

	switch (o->type) {
	case CONF_CURRENCY:
		str_adds(out, field);
		return;
	case CONF_LEVEL:
		str_adds(out, levels[*(const int *)field]);
		return;
	case CONF_MARKET:
		str_adds(out, *(const bool *)field ? "spot" : "on-demand");
		return;
	case CONF_COUNT:
		str_addf(out, "%" PRIu32, *(const uint32_t *)field);
		return;
	case CONF_DURATION:
		print_duration(*(const int64_t *)field, out);
		return;
	case CONF_MONEY:
	case CONF_LIMIT:
		v = *(const int64_t *)field;
		str_adds(out, v == 0 && o->type == CONF_MONEY ? "" : fmt_money(money, v));
		return;
	case CONF_USERS:
		print_users(object, out);
		return;
	case CONF_ARGV:
	case CONF_HOOK:
	case CONF_CODES:
	case CONF_URLS:
	case CONF_HOSTS:
		print_argv(*(char *const *const *)field, out);
		return;
	case CONF_MARKETS:
	case CONF_POLICY:
	case CONF_GANG:
	case CONF_YES:
	case CONF_TO:
	case CONF_REBALANCE:
	case CONF_RELEASE:
	case CONF_AUTH:
	case CONF_ATTEST:
		str_adds(out, choices[choice_of(o->type)].words[*(const int *)field]);
		return;
	default:
		str_adds(out, *(char *const *)field != NULL ? *(char *const *)field : "");
	}
}

bool conf_option_same(const struct conf_option *o, const void *a, const void *b)
{
	struct str x, y;
	bool same;

	str_init(&x, 2 * CONF_VALUE_MAX);
	str_init(&y, 2 * CONF_VALUE_MAX);
	conf_option_print(o, a, &x);
	conf_option_print(o, b, &y);
	same = strcmp(x.p, y.p) == 0;
	str_fini(&x);
	str_fini(&y);
	return same;
}

void conf_option_fini(const struct conf_option *o, void *object)
{
	void *field = (char *)object + o->offset;

	switch (o->type) {
	case CONF_NAME:
	case CONF_WORD:
	case CONF_TEXT:
	case CONF_PATH:
	case CONF_URL:
	case CONF_LISTEN:
	case CONF_BIND:
	case CONF_FILE:
	case CONF_LINE:
	case CONF_NODES:
	case CONF_CODE:
	case CONF_LINKS:
	case CONF_SIGNAL:
		free(*(char **)field);
		*(char **)field = NULL;
		return;
	case CONF_USERS:
		free(*(uint32_t **)field);
		*(uint32_t **)field = NULL;
		return;
	case CONF_ARGV:
	case CONF_HOOK:
	case CONF_CODES:
	case CONF_URLS:
	case CONF_HOSTS:
		free_argv(*(char ***)field);
		*(char ***)field = NULL;
		return;
	default:
		return;
	}
}
