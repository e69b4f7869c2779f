/* The table of rules (require.h), and the functions that most of them call, which compare a setting
 * with a value, a word or a release.  Rules on programs and power saving call other files. */
#include <assert.h>
#include <string.h>

#include "slurm/look.h"
#include "slurm/require.h"
#include "slurm/rules_private.h"
#include "slurm/show.h"

static bool not_too_old(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	return slurm_version_support(&l->version) != SLURM_TOO_OLD || slurm_look_found_value(l);
}

static bool tested(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	return slurm_version_support(&l->version) != SLURM_UNTESTED || slurm_look_found_value(l);
}

/* Always fails: for traits that are bugs. */
static bool never(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	return slurm_look_found_value(l);
}

static bool no_topology(struct slurm_look *l, const struct slurm_rule *r)
{
	struct slurm_text plugin = slurm_show_setting(l->config, "TopologyPlugin");

	(void)r;
	if (!slurm_show_is(plugin, "topology/tree") && !slurm_show_is(plugin, "topology/block"))
		return true;
	return slurm_look_found(l, "%s with %.*s", l->version.text, (int)plugin.n, plugin.p);
}

static bool same_cluster(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	if (l->need->cluster == NULL || slurm_show_is(l->value, l->need->cluster))
		return true;
	slurm_look_wanted(l, "%s", l->need->cluster);
	return slurm_look_found_value(l);
}

static bool in_range(struct slurm_look *l, const struct slurm_rule *r)
{
	int64_t n = slurm_show_number(l->value);

	return (n >= r->low && n <= r->high) || slurm_look_found_value(l);
}

static bool has_word(struct slurm_look *l, const struct slurm_rule *r)
{
	return slurm_show_has(l->value, r->arg) || slurm_look_found(l, "without %s", r->arg);
}

static bool lacks_word(struct slurm_look *l, const struct slurm_rule *r)
{
	return !slurm_show_has(l->value, r->arg) || slurm_look_found(l, "with %s", r->arg);
}

static bool option_in_range(struct slurm_look *l, const struct slurm_rule *r)
{
	struct slurm_text value;
	int64_t n;

	if (!slurm_show_option(l->value, r->arg, &value))
		return (r->normal >= r->low && r->normal <= r->high) ||
		       slurm_look_found(l, "without %s, which means %lld", r->arg,
					(long long)r->normal);
	n = slurm_show_number(value);
	return (n >= r->low && n <= r->high) ||
	       slurm_look_found(l, "%s=%.*s", r->arg, (int)(value.n < 80 ? value.n : 80), value.p);
}

static bool serves_conf(struct slurm_look *l, const struct slurm_rule *r)
{
	return l->need->auth == NULL || has_word(l, r);
}

static bool has_our_auth(struct slurm_look *l, const struct slurm_rule *r)
{
	const char *auth = l->need->auth;

	(void)r;
	if (auth == NULL ||
	    (l->value.n == strlen(auth) && memcmp(l->value.p, auth, l->value.n) == 0))
		return true;
	slurm_look_wanted(l, "%s", auth);
	return slurm_look_found_value(l);
}

static bool wide(struct slurm_look *l, const struct slurm_rule *r)
{
	return slurm_show_has(slurm_show_setting(l->config, "SlurmctldParameters"), "cloud_dns") ||
	       in_range(l, r);
}

static bool enforces(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	for (const char *const *word = l->need->enforce; *word != NULL; word++)
		if (!slurm_show_has(l->value, *word)) {
			slurm_look_wanted(l, "%s, for there are budgets of these", *word);
			return slurm_look_found(l, "without %s", *word);
		}
	return true;
}

static bool has_least(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	return slurm_look_least(l);
}

static bool carries_features(struct slurm_look *l, const struct slurm_rule *r)
{
	const struct slurm_need_pool *first = NULL;
	size_t n = 0;

	(void)r;
	for (size_t i = 0; i < l->need->npools; i++) {
		const struct slurm_need_pool *p = &l->need->pools[i];

		if (p->features == NULL || p->bare == NULL)
			continue;
		first = first != NULL ? first : p;
		n++;
	}
	if (first == NULL)
		return true;
	slurm_look_wanted(l, "Feature=%s", first->features);
	if (n > 1)
		return slurm_look_found(l, "missing for node %s of pool %s, and in %zu more pools",
					first->bare, first->name, n - 1);
	return slurm_look_found(l, "missing for node %s of pool %s", first->bare, first->name);
}

/* If slurmctld hides powered-down nodes, this cannot be checked; the rule for PrivateData is about
 * that. */
static bool knows_nodes(struct slurm_look *l, const struct slurm_rule *r)
{
	const struct slurm_need_pool *first = NULL;
	size_t n = 0;

	(void)r;
	if (slurm_version_has(&l->version, SLURM_HIDES_POWERED_DOWN) &&
	    !slurm_show_has(slurm_show_setting(l->config, "PrivateData"), "cloud"))
		return true;
	for (size_t i = 0; i < l->need->npools; i++) {
		if (l->need->pools[i].unknown == NULL)
			continue;
		first = first != NULL ? first : &l->need->pools[i];
		n++;
	}
	if (first == NULL)
		return true;
	if (first->uncreated != NULL)
		slurm_look_wanted(l, "that burstd can create them (%.80s)", first->uncreated);
	else
		slurm_look_wanted(l, "a line for %.80s, or removal from the pool's nodes",
				  first->unknown);
	if (n > 1)
		return slurm_look_found(l, "without %.80s of pool %s, and nodes of %zu more pools",
					first->unknown, first->name, n - 1);
	return slurm_look_found(l, "without %.80s of pool %s", first->unknown, first->name);
}

/* Is a requeued job's wait, in seconds, in the range? */
static bool requeues_in(struct slurm_look *l, const struct slurm_rule *r)
{
	struct slurm_text value;

	if (slurm_version_has(&l->version, SLURM_REQUEUE_DELAY) &&
	    slurm_show_option(slurm_show_setting(l->config, "SchedulerParameters"), "requeue_delay",
			      &value)) {
		int64_t n = slurm_show_number(value);

		return n < 0 || (n >= r->low && n <= r->high) ||
		       slurm_look_found(l, "requeue_delay=%lld", (long long)n);
	}
	return option_in_range(l, r);
}

const struct slurm_rule slurm_rules[] = {
	{.setting = "SLURM_VERSION",
	 .severity = SLURM_ERROR,
	 .wanted = "22.05 or later",
	 .why = "Older releases treat cloud nodes in ways that burstd does not know.",
	 .ok = not_too_old},
	{.setting = "SLURM_VERSION",
	 .severity = SLURM_WARNING,
	 .wanted = "22.05 to 26.05, no release candidate",
	 .why = "burstd has not been tested with this release, which may need other settings.",
	 .ok = tested},
	{.setting = "SLURM_VERSION",
	 .severity = SLURM_WARNING,
	 .trait = SLURM_BUG_TOPOLOGY_LOST,
	 .wanted = "25.11.3 or later, where there is a topology",
	 .why = "A cloud node that is powered down is taken out of topology.conf.",
	 .ok = no_topology},
	{.setting = "SLURM_VERSION",
	 .severity = SLURM_ADVICE,
	 .trait = SLURM_BUG_STOP_WAITS,
	 .wanted = "25.05.4 or later",
	 .why = "When it is stopped, slurmctld waits without end for power programs that still "
		"run.",
	 .ok = never},
	{.setting = "ClusterName",
	 .severity = SLURM_ERROR,
	 .wanted = "cluster of burstd.conf",
	 .why = "burstd is asking another cluster than the one whose instances it keeps.",
	 .ok = same_cluster},
	{.setting = "ResumeProgram",
	 .severity = SLURM_ERROR,
	 .wanted = "/usr/libexec/burstd/burst-resume",
	 .why = "Without an absolute path here slurmctld turns power saving off, and jobs on "
		"cloud nodes wait for ever.",
	 .ok = rule_runs},
	{.setting = "ResumeProgram",
	 .severity = SLURM_WARNING,
	 .wanted = "/usr/libexec/burstd/burst-resume",
	 .why = "burstd is not called and finds out later what is wanted; another program may "
		"start the same nodes.",
	 .ok = rule_hook_if_runs,
	 .arg = "burst-resume"},
	{.setting = "SuspendProgram",
	 .severity = SLURM_ERROR,
	 .wanted = "/usr/libexec/burstd/burst-suspend",
	 .why = "Without an absolute path here slurmctld turns power saving off, and instances "
		"are never given back.",
	 .ok = rule_runs},
	{.setting = "SuspendProgram",
	 .severity = SLURM_WARNING,
	 .wanted = "/usr/libexec/burstd/burst-suspend",
	 .why = "burstd is not called and finds out later what is no longer wanted.",
	 .ok = rule_hook_if_runs,
	 .arg = "burst-suspend"},
	{.setting = "ResumeFailProgram",
	 .severity = SLURM_WARNING,
	 .wanted = "/usr/libexec/burstd/burst-resume-fail",
	 .why = "burstd learns only at its next poll which nodes slurmctld has given up, and "
		"they bill until then.",
	 .ok = rule_hook,
	 .arg = "burst-resume-fail"},
	{.setting = "PrologSlurmctld",
	 .severity = SLURM_WARNING,
	 .optional = true,
	 .wanted = "/usr/libexec/burstd/burst-prolog",
	 .why = "slurmctld itself checks only every 30 s whether a job's nodes are up, so that "
		"jobs start up to 30 s late.",
	 .ok = rule_prolog},
	{.setting = "PrologEpilogTimeout",
	 .severity = SLURM_ERROR,
	 .optional = true,
	 .wanted = "not set, or more than ResumeTimeout",
	 .why = "burst-prolog waits for the nodes; killed before they are up, it has the job "
		"requeued again and again.",
	 .ok = rule_prolog_may_wait},
	{.setting = "ResumeRate",
	 .severity = SLURM_WARNING,
	 .wanted = "0",
	 .why = "A rate cuts a job's nodes into several calls, and the first instances bill "
		"while they wait for the last.",
	 .ok = in_range},
	{.setting = "SuspendRate",
	 .severity = SLURM_WARNING,
	 .wanted = "0",
	 .why = "With a rate idle nodes wait, and bill, until it is their turn to be suspended.",
	 .ok = in_range},
	{.setting = "ReturnToService",
	 .severity = SLURM_ERROR,
	 .wanted = "2",
	 .why = "A node that was DOWN stays DOWN when its next instance registers, which bills "
		"for nothing.",
	 .ok = in_range,
	 .low = 2,
	 .high = 2},
	{.setting = "JobRequeue",
	 .severity = SLURM_ERROR,
	 .wanted = "1",
	 .why = "A job ends when an instance is refused, fails or is reclaimed, instead of "
		"going back into the queue.",
	 .ok = in_range,
	 .low = 1,
	 .high = 1},
	{.setting = "SlurmctldParameters",
	 .severity = SLURM_ERROR,
	 .wanted = "idle_on_node_suspend",
	 .why = "A node that was DOWN or DRAIN when it was suspended never comes back by "
		"itself.",
	 .ok = has_word,
	 .arg = "idle_on_node_suspend"},
	{.setting = "SlurmctldParameters",
	 .severity = SLURM_WARNING,
	 .wanted = "power_save_interval=1, at most 5",
	 .why = "slurmctld checks up to that many seconds late for nodes to resume or to suspend.",
	 .ok = option_in_range,
	 .arg = "power_save_interval",
	 .high = 5,
	 .normal = 10},
	{.setting = "SlurmctldParameters",
	 .severity = SLURM_WARNING,
	 .wanted = "no power_save_min_interval above 5",
	 .why = "slurmctld checks no sooner than that many seconds after its last check.",
	 .ok = option_in_range,
	 .arg = "power_save_min_interval",
	 .high = 5},
	{.setting = "SlurmctldParameters",
	 .severity = SLURM_WARNING,
	 .trait = SLURM_ADDR_BY_OPTION,
	 .wanted = "cloud_reg_addrs",
	 .why = "Without it a node keeps the address of an instance that is gone, and what is "
		"meant for the node may reach somebody else's instance.",
	 .ok = has_word,
	 .arg = "cloud_reg_addrs"},
	{.setting = "SlurmctldParameters",
	 .severity = SLURM_WARNING,
	 .wanted = "no cloud_dns",
	 .why = "With it a job finds its nodes by name only, and burstd writes no names into "
		"DNS.",
	 .ok = lacks_word,
	 .arg = "cloud_dns"},
	{.setting = "SlurmctldParameters",
	 .severity = SLURM_ERROR,
	 .wanted = "enable_configless, with a section nodes",
	 .why = "Machines fetch slurm.conf from slurmctld; without it slurmd does not start there, "
		"and they end.",
	 .ok = serves_conf,
	 .arg = "enable_configless"},
	{.setting = "AuthType",
	 .severity = SLURM_ERROR,
	 .wanted = "the auth of section nodes",
	 .why = "Machines are given the key of the other kind, and slurmctld refuses them.",
	 .ok = has_our_auth},
	{.setting = "TreeWidth",
	 .severity = SLURM_ERROR,
	 .trait = SLURM_FORWARDS_BY_NAME,
	 .wanted = "65533, unless cloud_dns is set",
	 .why = "In larger jobs messages go through other nodes, which cannot resolve the names "
		"of cloud nodes, and the job hangs.",
	 .ok = wide,
	 .low = 65533,
	 .high = INT64_MAX},
	{.setting = "CommunicationParameters",
	 .severity = SLURM_ERROR,
	 .trait = SLURM_CACHES_ADDR,
	 .wanted = "NoAddrCache",
	 .why = "Slurm goes on to use the address of the instance that had the name before.",
	 .ok = has_word,
	 .arg = "NoAddrCache"},
	{.setting = "CommunicationParameters",
	 .severity = SLURM_ADVICE,
	 .trait = SLURM_NO_ADDR_CACHE_IS_GONE,
	 .wanted = "no NoAddrCache",
	 .why = "It does nothing any more, and Slurm logs an error about it.",
	 .ok = lacks_word,
	 .arg = "NoAddrCache"},
	{.setting = "PrivateData",
	 .severity = SLURM_ERROR,
	 .trait = SLURM_HIDES_POWERED_DOWN,
	 .wanted = "cloud",
	 .why = "Without it nodes that are powered down are invisible, to burstd too.",
	 .ok = has_word,
	 .arg = "cloud"},
	{.setting = "SuspendTime",
	 .severity = SLURM_ERROR,
	 .wanted = "seconds, here or for the partitions",
	 .why = "With INFINITE everywhere power saving is off, and jobs on cloud nodes wait for "
		"ever.",
	 .ok = rule_saves_power},
	{.setting = "SuspendTime",
	 .severity = SLURM_WARNING,
	 .wanted = "seconds, for every pool",
	 .why = "Idle nodes are never suspended and bill until somebody stops them.",
	 .ok = rule_suspends_ours},
	{.setting = "SuspendTime",
	 .severity = SLURM_ERROR,
	 .wanted = "only at partitions of pools, or all other nodes in SuspendExcNodes",
	 .why = "slurmctld powers down idle nodes that no pool has, and nobody powers them up "
		"again: burstd touches only those of its pools.",
	 .ok = rule_spares_others},
	{.setting = "SuspendTimeout",
	 .severity = SLURM_WARNING,
	 .wanted = "at most 300 s",
	 .why = "A suspended node cannot be used again for so long, and burstd needs no such "
		"time: it sees itself when an instance is gone.",
	 .ok = rule_suspended_soon},
	{.setting = "ResumeTimeout",
	 .severity = SLURM_ERROR,
	 .wanted = "boot_timeout of the pool and a minute",
	 .why = "slurmctld gives up nodes that still boot, and their job is requeued again and "
		"again while they bill.",
	 .ok = rule_waits_for_boot},
	{.setting = "ResumeTimeout",
	 .severity = SLURM_WARNING,
	 .wanted = "boot_timeout of the pool and a minute",
	 .why = "slurmctld may give up before burstd, which knows why the node is late.",
	 .ok = rule_waits_for_burstd},
	{.setting = "ResumeTimeout",
	 .severity = SLURM_WARNING,
	 .trait = SLURM_RESUME_TIMEOUT_INFINITE,
	 .wanted = "not INFINITE",
	 .why = "While burstd is away nobody gives up a node that does not boot: its job waits, "
		"and the job's other nodes bill.",
	 .ok = rule_gives_up},
	{.setting = "SuspendExcNodes",
	 .severity = SLURM_WARNING,
	 .wanted = "no node of a pool",
	 .why = "These nodes are never suspended and bill when they are idle.",
	 .ok = rule_suspends_nodes},
	{.setting = "SuspendExcNodes",
	 .severity = SLURM_WARNING,
	 .wanted = "the nodes of a pool and :N, where it keeps N warm and burstd cannot say so",
	 .why = "slurmctld powers down idle nodes, and warm nodes are not kept but bought again "
		"and again.",
	 .ok = rule_keeps_warm},
	{.setting = "SuspendExcNodes",
	 .severity = SLURM_WARNING,
	 .wanted = "23.02 or later and no count in it, where a pool has a quantum",
	 .why = "burstd cannot tell slurmctld which nodes are paid for, and they go at "
		"SuspendTime.",
	 .ok = rule_keeps_paid},
	{.setting = "SuspendExcParts",
	 .severity = SLURM_WARNING,
	 .wanted = "no partition with a node of a pool",
	 .why = "Nodes of these partitions are never suspended and bill when they are idle.",
	 .ok = rule_suspends_partitions},
	{.setting = "SuspendExcStates",
	 .severity = SLURM_WARNING,
	 .trait = SLURM_EXCLUDES_STATES,
	 .wanted = "no CLOUD",
	 .why = "No cloud node is ever suspended; all bill when they are idle.",
	 .ok = lacks_word,
	 .arg = "CLOUD"},
	{.setting = "NodeName",
	 .severity = SLURM_ERROR,
	 .optional = true,
	 .wanted = "a line for each node of a pool",
	 .why = "slurmctld has no job for a node that it does not know: nothing is ever bought "
		"for it.",
	 .ok = knows_nodes},
	{.setting = "NodeName",
	 .severity = SLURM_WARNING,
	 .optional = true,
	 .wanted = "Feature= with the markets and providers that a pool's offers differ in",
	 .why = "A job cannot choose between them by --constraint: slurmctld refuses it, or gives "
		"it some of the nodes only.",
	 .ok = carries_features},
	{.setting = "MinNodes",
	 .severity = SLURM_WARNING,
	 .optional = true,
	 .wanted = "at most what the partition's pools can have (max_nodes)",
	 .why = "No job can ever start there: each needs more nodes than burstd may buy.",
	 .ok = has_least},
	{.setting = "AccountingStorageEnforce",
	 .severity = SLURM_WARNING,
	 .optional = true,
	 .wanted = "associations, qos or wckeys, where budgets name accounts, QOS or wckeys",
	 .why = "Any user may name any of them for a job, and so has another's budget pay, or "
		"none.",
	 .ok = enforces},
	{.setting = "SlurmdTimeout",
	 .severity = SLURM_WARNING,
	 .wanted = "not 0",
	 .why = "slurmctld never notices that a node has stopped answering, and its job bills "
		"on.",
	 .ok = in_range,
	 .low = 1,
	 .high = INT64_MAX - 1},
	{.setting = "AuthInfo",
	 .severity = SLURM_ADVICE,
	 .wanted = "cred_expire below 120",
	 .why = "A requeued job waits that many seconds and one more; from 25.11 on "
		"requeue_delay in SchedulerParameters sets this alone.",
	 .ok = requeues_in,
	 .arg = "cred_expire",
	 .high = 119,
	 .normal = 120},
	{.setting = "AuthInfo",
	 .severity = SLURM_ADVICE,
	 .wanted = "cred_expire of 10 or more",
	 .why = "So short a wait is for tests: a requeued job can meet its own last steps on an "
		"instance that is not gone yet.",
	 .ok = requeues_in,
	 .arg = "cred_expire",
	 .low = 10,
	 .high = INT64_MAX,
	 .normal = 120},
	{.setting = "SchedulerParameters",
	 .severity = SLURM_ADVICE,
	 .wanted = "sched_interval below 60",
	 .why = "A requeued job may wait that many seconds for the scheduler to look at it.",
	 .ok = option_in_range,
	 .arg = "sched_interval",
	 .high = 59,
	 .normal = 60},
	{.setting = "SchedulerParameters",
	 .severity = SLURM_ADVICE,
	 .trait = SLURM_REQUEUE_ON_RESUME_FAILURE,
	 .wanted = "requeue_on_resume_failure",
	 .why = "With it even jobs of sbatch --no-requeue go back into the queue when nodes do "
		"not boot.",
	 .ok = has_word,
	 .arg = "requeue_on_resume_failure"},
};

const size_t slurm_nrules = sizeof(slurm_rules) / sizeof(slurm_rules[0]);
static_assert(sizeof(slurm_rules) / sizeof(slurm_rules[0]) <= SLURM_PROBLEMS_MAX,
	      "a problem for each rule");
