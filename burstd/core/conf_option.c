#include "core/conf_option.h"

#include <assert.h>
#include <string.h>

#include "base/opt.h"
#include "base/paths.h"
#include "core/conf.h"
#include "core/conf_private.h"

#define TOP(field)      offsetof(struct conf, field)
#define PROVIDER(field) offsetof(struct conf_provider, field)
#define POOL(field)     offsetof(struct conf_pool, field)
#define OFFER(field)    offsetof(struct conf_offer, field)
#define BUDGET(field)   offsetof(struct conf_budget, field)
#define ALERT(field)    offsetof(struct conf_alert, field)

/* clang-format off */
const struct conf_option conf_options[] = {
	{"", "cluster", NULL,
	 "Slurm's ClusterName",
	 false, CONF_NAME, 0, 0, TOP(cluster)},
	{"", "currency", NULL,
	 "currency of all amounts here and in reports, as in ISO 4217",
	 false, CONF_CURRENCY, 0, 0, TOP(currency)},
	{"", "report_zone", "UTC",
	 "time zone of days, months and budgets' periods, such as Europe/Berlin",
	 false, CONF_ZONE, 0, 0, TOP(report_zone)},
	{"", "state_dir", PATHS_STATE,
	 "directory of the journal and the cluster's uuid",
	 false, CONF_PATH, 0, 0, TOP(state_dir)},
	{"", "listen", "",
	 "loopback address:port of /metrics; empty: none",
	 false, CONF_LISTEN, 0, 0, TOP(listen)},
	{"", "log_level", "info",
	 "debug, info, warn or error",
	 true, CONF_LEVEL, 0, 0, TOP(log_level)},
	{"", "events_keep", "90d",
	 "how long events are kept; beyond 2 million the oldest are dropped earlier",
	 true, CONF_DURATION, CONF_HOUR_MS, INT64_C(366) * CONF_DAY_MS, TOP(events_keep_ms)},
	{"", "admins", "",
	 "users, besides root and burstd's own, who may do everything by burstctl: names or uids",
	 true, CONF_USERS, 0, 0, TOP(people.admins)},
	{"", "admin_groups", "",
	 "groups whose members may do everything by burstctl: names or gids",
	 true, CONF_GROUPS, 0, 0, TOP(people.admin_groups)},
	{"", "operator_groups", "",
	 "groups whose members look after nodes and pools: names or gids",
	 true, CONF_GROUPS, 0, 0, TOP(people.operator_groups)},
	{"", "finance_groups", "",
	 "groups whose members see all costs and budgets: names or gids",
	 true, CONF_GROUPS, 0, 0, TOP(people.finance_groups)},
	{"", "budgets_away", "start",
	 "with budgets, while burstd is away: jobs on nodes that are up start, or are requeued",
	 true, CONF_AWAY, 0, 0, TOP(budgets_away)},
	{"", "prices_file", "",
	 "file of negotiated prices, prices.conf(5), which win over all others; empty: none",
	 true, CONF_PATH, 0, 0, TOP(prices_file)},
	{"slurm", "bin_dir", "/usr/bin",
	 "directory of scontrol and squeue",
	 true, CONF_PATH, 0, 0, TOP(slurm_bin)},
	{"slurm", "conf", "",
	 "path of slurm.conf; empty: Slurm's default",
	 true, CONF_PATH, 0, 0, TOP(slurm_conf)},
	{"secrets", "driver", "",
	 "store of the cluster's keys: vault, aws or file; empty: burstd gives out no keys",
	 false, CONF_NAME, 0, 0, TOP(secrets.driver)},
	{"secrets", "address", "",
	 "driver vault: https://HOST:PORT, comma-separated; aws: URL of Secrets Manager",
	 false, CONF_TEXT, 0, 0, TOP(secrets.address)},
	{"secrets", "ca_file", "",
	 "CA certificates to verify it with; empty: the system's",
	 false, CONF_PATH, 0, 0, TOP(secrets.ca_file)},
	{"secrets", "namespace", "",
	 "driver vault: namespace of Vault Enterprise or OpenBao; empty: none",
	 false, CONF_TEXT, 0, 0, TOP(secrets.namespace)},
	{"secrets", "mount", "kv",
	 "driver vault: mount path of the KV engine, version 2",
	 false, CONF_TEXT, 0, 0, TOP(secrets.mount)},
	{"secrets", "name", "",
	 "name of the bundle: vault: path in the engine; aws: ARN or name; file: file name",
	 false, CONF_TEXT, 0, 0, TOP(secrets.name)},
	{"secrets", "auth_mount", "approle", "driver vault: mount path of AppRole",
	 false, CONF_TEXT, 0, 0, TOP(secrets.auth_mount)},
	{"secrets", "role_id", "", "driver vault: role_id of burstd's AppRole",
	 false, CONF_TEXT, 0, 0, TOP(secrets.role_id)},
	{"secrets", "role_name", "",
	 "driver vault: name of that AppRole, for burstctl secrets enroll; empty: no enrolment",
	 false, CONF_NAME, 0, 0, TOP(secrets.role_name)},
	{"secrets", "credential_file", "",
	 "file, mode 0600, with the secret_id (vault) or key (aws); empty: none",
	 false, CONF_PATH, 0, 0, TOP(secrets.credential_file)},
	{"secrets", "rotate_role_id", "",
	 "driver vault: role_id of an AppRole that may write the bundle, for a rotation",
	 false, CONF_TEXT, 0, 0, TOP(secrets.rotate_role_id)},
	{"secrets", "rotate_role_name", "",
	 "driver vault: name of that AppRole, for burstctl secrets rotate; empty: no rotation",
	 false, CONF_NAME, 0, 0, TOP(secrets.rotate_role_name)},
	{"secrets", "switch_command", "",
	 "command that changes slurmctld's key in a rotation; gets munge or jwks, then stage, switch or drop",
	 true, CONF_ARGV, 0, 0, TOP(secrets.switch_command)},
	{"secrets", "region", "",
	 "driver aws: region of Secrets Manager, such as eu-west-1",
	 false, CONF_TEXT, 0, 0, TOP(secrets.region)},
	{"secrets", "role", "",
	 "driver aws: ARN of a role to assume; empty: none",
	 false, CONF_TEXT, 0, 0, TOP(secrets.role)},
	{"secrets", "sts_url", "",
	 "driver aws: URL of STS; empty: the region's",
	 false, CONF_URL, 0, 0, TOP(secrets.sts_url)},
	{"secrets", "metadata_url", "",
	 "driver aws: URL of the instance metadata service; empty: EC2's",
	 false, CONF_URL, 0, 0, TOP(secrets.metadata_url)},
	{"secrets", "dir", "",
	 "driver file: directory of the file, readable by burstd only",
	 false, CONF_PATH, 0, 0, TOP(secrets.dir)},
	{"secrets", "release", "wrap",
	 "wrap: a node reads the keys from Vault itself, once; broker: burstd hands them on; "
	 "user-data: for nodes that reach Vault, not burstd",
	 true, CONF_RELEASE, 0, 0, TOP(secrets.release)},
	{"secrets", "wrap_ttl", "60s",
	 "release wrap: how long a node's token is valid",
	 true, CONF_DURATION, 15000, CONF_HOUR_MS / 2, TOP(secrets.wrap_ms)},
	{"secrets", "poll", "60s",
	 "time between two polls for a new version of the keys",
	 true, CONF_DURATION, 1000, CONF_HOUR_MS, TOP(secrets.poll_ms)},
	{"secrets", "timeout", "30s",
	 "timeout of one request",
	 true, CONF_DURATION, 1000, CONF_HOUR_MS / 12, TOP(secrets.timeout_ms)},
	{"nodes", "listen", "",
	 "address:port of the listener for nodes, such as 0.0.0.0:8443; empty: none",
	 false, CONF_BIND, 0, 0, TOP(nodes.listen)},
	{"nodes", "url", "",
	 "the listener as nodes reach it: https://HOST[:PORT], or several",
	 false, CONF_URLS, 0, 0, TOP(nodes.urls)},
	{"nodes", "conf_server", "",
	 "HOST:PORT of slurmctld, or several: slurmd --conf-server",
	 true, CONF_HOSTS, 0, 0, TOP(nodes.conf_servers)},
	{"nodes", "claim_ttl", "0s",
	 "time from a machine's create to its claim; 0s: the pool's boot_timeout",
	 true, CONF_DURATION, 0, CONF_DAY_MS, TOP(nodes.claim_ms)},
	{"nodes", "deadman", "10m",
	 "a node powers itself off after so long without an answer from burstd; 0s: never",
	 true, CONF_DURATION, 0, CONF_DAY_MS, TOP(nodes.deadman_ms)},
	{"nodes", "auth", "munge",
	 "AuthType of slurm.conf: munge or slurm",
	 false, CONF_AUTH, 0, 0, TOP(nodes.auth)},
	{"nodes", "munge_socket", "",
	 "socket of the munged here that has the cluster's key; empty: munge's default",
	 false, CONF_FILE, 0, 0, TOP(nodes.munge_socket)},
	{"nodes", "node_init", "",
	 "file for machines whose image has another node-init, or none; empty: none",
	 true, CONF_FILE, 0, 0, TOP(nodes.node_init)},
	{"nodes", "slurmd_options", "",
	 "more options of slurmd",
	 true, CONF_LINE, 0, 0, TOP(nodes.slurmd_options)},
	{"provider", "driver", NULL,
	 "driver for its API, such as aws",
	 false, CONF_NAME, 0, 0, PROVIDER(driver)},
	{"provider", "url", "",
	 "URL of its API; empty: the driver's own",
	 false, CONF_URL, 0, 0, PROVIDER(url)},
	{"provider", "credential_file", "",
	 "file, mode 0600, with its API key; empty: none",
	 false, CONF_PATH, 0, 0, PROVIDER(credential_file)},
	{"provider", "ca_file", "",
	 "CA certificates to verify it with; empty: the system's",
	 false, CONF_PATH, 0, 0, PROVIDER(ca_file)},
	{"provider", "settle", "60s",
	 "how long a created instance may be missing in its lists",
	 true, CONF_DURATION, 0, CONF_HOUR_MS, PROVIDER(settle_ms)},
	{"provider", "list_every", "30s",
	 "time between two lists of its instances while anything moves",
	 true, CONF_DURATION, 1000, CONF_HOUR_MS, PROVIDER(list_ms)},
	{"provider", "cooldown", "1m",
	 "first pause of a place without capacity; it doubles, up to 15 times as long",
	 true, CONF_DURATION, 1000, CONF_HOUR_MS, PROVIDER(cooldown_ms)},
	{"provider", "unreachable_after", "1m",
	 "after so long without an answer its nodes are bought elsewhere, or refused",
	 true, CONF_DURATION, 5000, CONF_HOUR_MS, PROVIDER(unreachable_ms)},
	{"provider", "timeout", "30s",
	 "timeout of one request",
	 true, CONF_DURATION, 1000, CONF_HOUR_MS, PROVIDER(timeout_ms)},
	{"provider", "concurrency", "16",
	 "concurrent requests; some slots are kept for deletes, lists and creates",
	 true, CONF_COUNT, 1, 1024, PROVIDER(concurrency)},
	{"provider", "rate", "0",
	 "requests per second, of all kinds; 0: the provider's own limits, as far as known",
	 true, CONF_COUNT, 0, 10000, PROVIDER(rate)},
	{"provider", "user_data_file", "",
	 "file with the user-data of instances; empty: none",
	 false, CONF_PATH, 0, 0, PROVIDER(user_data_file)},
	{"provider", "bootstrap", "user-data",
	 "what makes its machines nodes: user-data; image: the provider's; ssh: a program of yours",
	 true, CONF_BOOTSTRAP, 0, 0, PROVIDER(bootstrap)},
	{"provider", "attest", "auto",
	 "proof of its machines' identity: aws, gcp, azure, callback, address, off or auto",
	 false, CONF_ATTEST, 0, 0, PROVIDER(attest_as)},
	{"provider", "account", "",
	 "attest aws, gcp, azure: required account, project or subscription; empty: any",
	 false, CONF_TEXT, 0, 0, PROVIDER(account)},
	{"provider", "check_address", "true",
	 "true: a machine must claim from its address in the provider's list",
	 true, CONF_YES, 0, 0, PROVIDER(check_address)},
	{"provider", "attest_ca_file", "",
	 "certificates or keys to check its documents with; empty: the built-in ones",
	 false, CONF_PATH, 0, 0, PROVIDER(attest_ca_file)},
	{"pool", "nodes", NULL,
	 "Slurm nodes of this pool",
	 false, CONF_NODES, 0, 0, POOL(nodes_text)},
	{"pool", "provider", "",
	 "section of the provider to buy from",
	 false, CONF_NAME, 0, 0, POOL(provider)},
	{"pool", "type", "",
	 "instance type, as the provider names it",
	 false, CONF_WORD, 0, 0, POOL(type)},
	{"pool", "region", "",
	 "region, as the provider names it",
	 false, CONF_WORD, 0, 0, POOL(region)},
	{"pool", "zone", "",
	 "zone, as the provider names it; empty: any",
	 false, CONF_WORD, 0, 0, POOL(zone)},
	{"pool", "market", "on-demand",
	 "on-demand or spot",
	 false, CONF_MARKET, 0, 0, POOL(spot)},
	{"pool", "jurisdiction", "",
	 "where the machines are, e.g. DE; empty: as known for the region",
	 true, CONF_CODE, 0, 0, POOL(jurisdiction)},
	{"pool", "fabric", "",
	 "job: a fabric for each job of several nodes; or the name of one; empty: none",
	 false, CONF_WORD, 0, 0, POOL(fabric)},
	{"pool", "interconnect", "",
	 "required network of its machines: none, ib, roce, efa or gib, with :PORTSxGBITS",
	 true, CONF_LINKS, 0, 0, POOL(interconnect)},
	{"pool", "max_nodes", NULL,
	 "most instances at a time; 0: buy nothing",
	 true, CONF_COUNT, 0, HOSTLIST_NAMES_MAX, POOL(max_nodes)},
	{"pool", "max_rate", NULL,
	 "most that all its instances may cost per hour",
	 true, CONF_LIMIT, 0, 0, POOL(max_rate_nano_h)},
	{"pool", "price", "",
	 "price of an instance per hour; empty: the provider's",
	 true, CONF_MONEY, 0, 0, POOL(price_nano_h)},
	{"pool", "boot_timeout", "10m",
	 "time from instance to registered node; then burstd gives it up",
	 true, CONF_DURATION, 1000, CONF_DAY_MS, POOL(boot_ms)},
	{"pool", "warm", "0",
	 "nodes to keep up even without jobs; they cost money when idle",
	 true, CONF_COUNT, 0, HOSTLIST_NAMES_MAX, POOL(warm)},
	{"pool", "quantum", "0s",
	 "billing step of the provider: a node stays until its paid time ends; 0s: by the second",
	 true, CONF_DURATION, 0, 31 * (int64_t)CONF_DAY_MS, POOL(quantum_ms)},
	{"pool", "policy", "ordered",
	 "order of offers: ordered, as written here, or cheapest first",
	 true, CONF_POLICY, 0, 0, POOL(policy)},
	{"pool", "gang", "all_or_nothing",
	 "all_or_nothing: send a job back if it lacks a node; best_effort: keep its other nodes",
	 true, CONF_GANG, 0, 0, POOL(gang)},
	{"pool", "max_price", "",
	 "most that one instance may cost per hour; empty: no limit",
	 true, CONF_MONEY, 0, 0, POOL(max_price_nano_h)},
	{"pool", "spot_share", "100",
	 "most of the pool's nodes that may be spot, in percent",
	 true, CONF_COUNT, 0, 100, POOL(spot_share)},
	{"pool", "fallback_refusals", "0",
	 "number of refusals after which a job may have on-demand; 0: does not count",
	 true, CONF_COUNT, 0, 1000, POOL(fallback_refusals)},
	{"pool", "fallback_after", "0s",
	 "wait after which a job may have on-demand; 0s: does not count",
	 true, CONF_DURATION, 0, 30 * (int64_t)CONF_DAY_MS, POOL(fallback_ms)},
	{"pool", "job_comment", "false",
	 "true: a job's --comment may say where its nodes are bought, e.g. burst:spot,EU",
	 true, CONF_YES, 0, 0, POOL(job_comment)},
	{"pool", "checkpoint_signal", "",
	 "signal for the jobs of a node that is reclaimed, e.g. USR1; empty: none",
	 true, CONF_SIGNAL, 0, 0, POOL(checkpoint_signal)},
	{"pool", "checkpoint_to", "batch",
	 "processes that get the signal: batch, steps or full, which is both",
	 true, CONF_TO, 0, 0, POOL(checkpoint_to)},
	{"pool", "checkpoint_command", "",
	 "command for each job of a node that is reclaimed: %j job, %n node, %d end",
	 true, CONF_HOOK, 0, 0, POOL(checkpoint_command)},
	{"pool", "rebalance", "ignore",
	 "what to do on a rebalance recommendation: ignore or drain",
	 true, CONF_REBALANCE, 0, 0, POOL(rebalance)},
	{"pool", "rebalance_wait", "0s",
	 "time that jobs have on such a node if no end is announced; 0s: until they end",
	 true, CONF_DURATION, 0, 30 * (int64_t)CONF_DAY_MS, POOL(rebalance_wait_ms)},
	{"pool", "jurisdictions", "",
	 "places where nodes may be bought, e.g. EU; empty: anywhere",
	 true, CONF_CODES, 0, 0, POOL(jurisdictions)},
	{"offer", "provider", NULL,
	 "section of the provider to buy from",
	 false, CONF_NAME, 0, 0, OFFER(provider)},
	{"offer", "type", NULL,
	 "instance type, as the provider names it",
	 false, CONF_WORD, 0, 0, OFFER(type)},
	{"offer", "region", NULL,
	 "region, as the provider names it",
	 false, CONF_WORD, 0, 0, OFFER(region)},
	{"offer", "zone", "",
	 "zone, as the provider names it; empty: any",
	 false, CONF_WORD, 0, 0, OFFER(zone)},
	{"offer", "market", "on-demand",
	 "reserved, spot or on-demand",
	 false, CONF_MARKETS, 0, 0, OFFER(market)},
	{"offer", "price", "",
	 "price of an instance per hour; empty: the provider's",
	 true, CONF_MONEY, 0, 0, OFFER(price_nano_h)},
	{"offer", "max_price", "",
	 "most that one instance may cost per hour; else the offer is left out; empty: no limit",
	 true, CONF_MONEY, 0, 0, OFFER(max_price_nano_h)},
	{"offer", "jurisdiction", "",
	 "where the machines are, e.g. DE; empty: as known for the region",
	 true, CONF_CODE, 0, 0, OFFER(jurisdiction)},
	{"offer", "fabric", "",
	 "as fabric of a pool; none: no fabric; empty: the pool's",
	 false, CONF_WORD, 0, 0, OFFER(fabric)},
	{"offer", "interconnect", "", "as interconnect of a pool; empty: the pool's",
	 true, CONF_LINKS, 0, 0, OFFER(interconnect)},
	{"budget", "partitions", "",
	 "partitions whose jobs it is for; empty: any",
	 true, CONF_NAMES, 0, 0, BUDGET(partitions)},
	{"budget", "pools", "",
	 "pools whose nodes it is for; empty: any",
	 true, CONF_NAMES, 0, 0, BUDGET(pools)},
	{"budget", "accounts", "",
	 "accounts whose jobs it is for, with all accounts below them; empty: any",
	 true, CONF_NAMES, 0, 0, BUDGET(accounts)},
	{"budget", "users", "",
	 "users whose jobs it is for; empty: any",
	 true, CONF_NAMES, 0, 0, BUDGET(users)},
	{"budget", "qos", "",
	 "QOS whose jobs it is for; empty: any",
	 true, CONF_NAMES, 0, 0, BUDGET(qos)},
	{"budget", "wckeys", "",
	 "wckeys whose jobs it is for; empty: any",
	 true, CONF_NAMES, 0, 0, BUDGET(wckeys)},
	{"budget", "providers", "",
	 "providers whose machines it is for; empty: any",
	 true, CONF_NAMES, 0, 0, BUDGET(providers)},
	{"budget", "market", "any",
	 "machines that it is for: reserved, spot, on-demand or any",
	 true, CONF_ANYMARKET, 0, 0, BUDGET(market)},
	{"budget", "each", "",
	 "user, account or partition: each of these has the budget for itself; empty: all share it",
	 true, CONF_EACH, 0, 0, BUDGET(each)},
	{"budget", "amount", "",
	 "most that its jobs may cost in a period; empty: no limit",
	 true, CONF_MONEY, 0, 0, BUDGET(amount_nano)},
	{"budget", "rate", "",
	 "most that its machines may cost per hour at one time; empty: no limit",
	 true, CONF_MONEY, 0, 0, BUDGET(rate_nano_h)},
	{"budget", "period", "month",
	 "month, quarter, year, \"year from 04-01\", \"2026-01-01..2026-06-30\" or \"rolling 30d\"",
	 true, CONF_PERIOD, 0, 0, BUDGET(period)},
	{"budget", "rollover", "none",
	 "percent of the amount that may move to the next period if it is left, such as 20%; or none",
	 true, CONF_SHARE, 1, 100, BUDGET(rollover)},
	{"budget", "reserve", "full",
	 "what a job sets aside at its start: full, up to its time limit; lease; or minimum",
	 true, CONF_RESERVE, 0, 0, BUDGET(reserve)},
	{"budget", "lease", "4h",
	 "reserve lease: how long the money that is set aside lasts; then it is renewed",
	 true, CONF_DURATION, 10 * 60000, 7 * (int64_t)CONF_DAY_MS, BUDGET(lease_ms)},
	{"budget", "notify_at", "",
	 "percents of the amount at which somebody is told, such as {80, 90}",
	 true, CONF_PERCENTS, 1, 1000, BUDGET(notify_at)},
	{"budget", "spot_only_at", "0",
	 "percent of the amount from which on only spot is bought; 0: never",
	 true, CONF_COUNT, 0, 100, BUDGET(spot_only_at)},
	{"budget", "stop_at", "100",
	 "percent of the amount that no new job may go beyond; 0: never",
	 true, CONF_COUNT, 0, 100, BUDGET(stop_at)},
	{"budget", "drain_at", "0",
	 "percent of the amount from which on its nodes take no more jobs; 0: never",
	 true, CONF_COUNT, 0, 1000, BUDGET(drain_at)},
	{"budget", "requeue_at", "0",
	 "percent of the amount from which on its jobs are requeued and held; 0: never",
	 true, CONF_COUNT, 0, 1000, BUDGET(requeue_at)},
	{"budget", "kill_at", "0",
	 "percent of the amount from which on its jobs are cancelled; 0: never",
	 true, CONF_COUNT, 0, 1000, BUDGET(kill_at)},
	{"budget", "grace", "10m",
	 "time that a job has from the warning until it is requeued or cancelled",
	 true, CONF_DURATION, 0, CONF_DAY_MS, BUDGET(grace_ms)},
	{"budget", "unknown", "refuse",
	 "a job whose account or price is not known: refuse it, or allow it",
	 true, CONF_UNKNOWN, 0, 0, BUDGET(unknown)},
	{"budget", "contact", "",
	 "whom users may ask about it, such as a mail address; shown on refused jobs",
	 true, CONF_CONTACT, 0, 0, BUDGET(contact)},
	{"alert", "kind", NULL,
	 "what is sent: webhook, signed JSON; slack; or smtp, a mail",
	 true, CONF_ALERT_KIND, 0, 0, ALERT(kind)},
	{"alert", "url", "",
	 "where to: https://HOST/PATH; of a mail smtp://HOST[:PORT] or smtps://HOST[:PORT]",
	 true, CONF_TEXT, 0, 0, ALERT(url)},
	{"alert", "url_file", "",
	 "file, mode 0600, with the URL where that is a secret, as Slack's is; empty: url says it",
	 true, CONF_PATH, 0, 0, ALERT(url_file)},
	{"alert", "secret_file", "",
	 "kind webhook: file, mode 0600, with the key that messages are signed with",
	 true, CONF_PATH, 0, 0, ALERT(secret_file)},
	{"alert", "ca_file", "",
	 "CA certificates to verify the server with; empty: the system's",
	 true, CONF_PATH, 0, 0, ALERT(ca_file)},
	{"alert", "from", "",
	 "kind smtp: address that mails come from",
	 true, CONF_MAIL, 0, 0, ALERT(from)},
	{"alert", "to", "",
	 "kind smtp: addresses that mails go to",
	 true, CONF_MAILS, 0, 0, ALERT(to)},
	{"alert", "user", "",
	 "kind smtp: name to log in with; empty: no login",
	 true, CONF_TEXT, 0, 0, ALERT(user)},
	{"alert", "password_file", "",
	 "kind smtp: file, mode 0600, with the password of user",
	 true, CONF_PATH, 0, 0, ALERT(password_file)},
	{"alert", "budgets", "",
	 "budgets whose alerts it sends; empty: all",
	 true, CONF_NAMES, 0, 0, ALERT(budgets)},
};
/* clang-format on */
const size_t conf_noptions = sizeof(conf_options) / sizeof(conf_options[0]);

#undef TOP
#undef PROVIDER
#undef POOL
#undef OFFER
#undef BUDGET
#undef ALERT

/* Each section, and the one that contains it. */
static const struct {
	const char *name, *parent;
} sections[] = {{"slurm", ""}, {"secrets", ""},   {"nodes", ""},  {"provider", ""},
		{"pool", ""},  {"offer", "pool"}, {"budget", ""}, {"alert", ""}};

const struct conf_option *conf_option_find(const char *section, const char *name)
{
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, section) == 0 &&
		    strcmp(conf_options[i].name, name) == 0)
			return &conf_options[i];
	return NULL;
}

const struct conf_option *conf_option_of(const struct conf_driver *d, const char *name)
{
	for (size_t i = 0; i < d->noptions; i++)
		if (strcmp(d->options[i].name, name) == 0)
			return &d->options[i];
	return NULL;
}

const struct conf_driver *conf_driver_find(const struct conf_driver *const *drivers,
					   const char *name)
{
	for (size_t i = 0; drivers[i] != NULL; i++)
		if (strcmp(drivers[i]->name, name) == 0)
			return drivers[i];
	return NULL;
}

/* The most similar name so far. */
struct nearest {
	const char *to, *best; /* best NULL: none yet */
	size_t least;
};

static void consider(struct nearest *n, const char *name)
{
	size_t d = opt_distance(n->to, name);

	if (n->best == NULL || d < n->least) {
		n->best = name;
		n->least = d;
	}
}

const char *conf_option_nearest(const char *section, const char *name,
				const struct conf_driver *const *drivers)
{
	struct nearest n = {.to = name};

	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, section) == 0)
			consider(&n, conf_options[i].name);
	for (size_t i = 0; strcmp(section, "provider") == 0 && drivers[i] != NULL; i++)
		for (size_t k = 0; k < drivers[i]->noptions; k++)
			consider(&n, drivers[i]->options[k].name);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strcmp(section, sections[i].parent) == 0)
			consider(&n, sections[i].name);
	assert(n.best != NULL); /* asked about a section that does not exist */
	return n.best;
}

bool conf_option_is_list(const struct conf_option *o)
{
	return o->type == CONF_USERS || o->type == CONF_GROUPS || o->type == CONF_ARGV ||
	       o->type == CONF_CODES || o->type == CONF_HOOK || o->type == CONF_URLS ||
	       o->type == CONF_HOSTS || o->type == CONF_NAMES || o->type == CONF_PERCENTS ||
	       o->type == CONF_MAILS;
}
