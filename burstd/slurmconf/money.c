#include "slurmconf/money.h"

#include <stdio.h>
#include <string.h>

#include "slurm/show.h"
#include "slurmconf/billing.h"

enum { JOINED_MAX = 4096, VALUE_SHOWN = 200 };

static const struct slurm_text nothing = {NULL, 0};

static struct slurm_text value_of(const struct slurmconf_want *w, const char *key)
{
	const struct slurmconf_setting *x = slurmconf_site_get(w->site, key);

	return x != NULL ? x->value : nothing;
}

/* "KEY=have; write KEY=wanted: why", at its line; or of the file as a whole. */
static void say(const struct slurmconf_want *w, enum slurm_severity severity, const char *key,
		const char *wanted, const char *why)
{
	const struct slurmconf_setting *x = slurmconf_site_get(w->site, key);

	if (x == NULL)
		slurmconf_find(w->findings, severity, (struct slurmconf_place){w->site->path, 0},
			       "%s is not set; write %s=%s: %s", key, key, wanted, why);
	else
		slurmconf_find(w->findings, severity, x->at, "%s=%.*s; write %s=%s: %s", key,
			       (int)(x->value.n < VALUE_SHOWN ? x->value.n : VALUE_SHOWN),
			       x->value.p, key, wanted, why);
}

/* Append the words of a list but for one, and one more; either may be NULL. */
static void join(struct slurm_text list, const char *without, const char *with, struct str *out)
{
	struct slurm_text rest = list, one;

	while (slurm_show_item(&rest, &one))
		if (one.n > 0 && (without == NULL || !slurm_show_is(one, without)))
			str_addf(out, "%s%.*s", out->len > 0 ? "," : "", (int)one.n, one.p);
	if (with != NULL)
		str_addf(out, "%s%s", out->len > 0 ? "," : "", with);
}

/* --- accounts ------------------------------------------------------------------------------------
 */

static bool ends_with(struct slurm_text t, const char *end)
{
	size_t n = strlen(end);

	return t.n >= n && slurm_show_is((struct slurm_text){t.p + t.n - n, n}, end);
}

bool slurmconf_has_accounting(const struct slurmconf_site *s)
{
	const struct slurmconf_setting *x = slurmconf_site_get(s, "AccountingStorageType");

	return x != NULL && ends_with(x->value, "slurmdbd");
}

static bool has_any(struct slurm_text list, const char *const *words)
{
	for (; *words != NULL; words++)
		if (slurm_show_has(list, *words))
			return true;
	return false;
}

/* What AccountingStorageEnforce lacks, by which word implies which. */
static void enforces(const struct slurmconf_want *w)
{
	static const char *const any[] = {"all",  "associations", "limits", "qos",
					  "safe", "wckeys",       NULL},
				 *const limits[] = {"all", "limits", "safe", NULL},
				 *const safe[] = {"all", "safe", NULL};
	const struct slurm_text have = value_of(w, "AccountingStorageEnforce");
	const bool drops = slurm_show_has(have, "nojobs");
	struct str s;

	str_init(&s, JOINED_MAX);
	join(have, drops ? "nojobs" : NULL,
	     has_any(have, safe)     ? NULL
	     : has_any(have, limits) ? "safe"
				     : "limits,safe",
	     &s);
	if (drops)
		say(w, SLURM_WARNING, "AccountingStorageEnforce", s.p,
		    "no job is in the accounting, so nobody is charged");
	else if (!has_any(have, any))
		say(w, SLURM_WARNING, "AccountingStorageEnforce", s.p,
		    "a job may name any account, which then pays for it");
	else if (!has_any(have, limits))
		say(w, SLURM_ADVICE, "AccountingStorageEnforce", s.p,
		    "limits of accounts and QOS, such as GrpTRESMins, do not hold");
	else if (!has_any(have, safe))
		say(w, SLURM_ADVICE, "AccountingStorageEnforce", s.p,
		    "a job starts that its limit is too small for, and is killed when that is "
		    "reached: its nodes were paid for nothing");
	str_fini(&s);
}

/* --- fair share ----------------------------------------------------------------------------------
 */

static bool has_gpus(const struct slurmconf_want *w)
{
	for (size_t i = 0; i < w->conf->npools; i++)
		if (slurmconf_gpus(&w->conf->pools[i]) > 0)
			return true;
	return false;
}

static bool is_fifo(const struct slurmconf_want *w)
{
	const struct slurm_text type = value_of(w, "PriorityType");

	return type.p != NULL ? ends_with(type, "basic")
			      : slurm_version_has(w->version, SLURM_FIFO_UNLESS_TOLD);
}

static void sums(const struct slurmconf_want *w)
{
	const struct slurm_text flags = value_of(w, "PriorityFlags");
	struct str s;

	if (w->conf->billing_unit_nano_h == 0 || slurmconf_summing(w) == SLURMCONF_LARGEST)
		return;
	str_init(&s, JOINED_MAX);
	join(flags, "MAX_TRES_GRES", "MAX_TRES", &s);
	say(w, SLURM_ADVICE, "PriorityFlags", s.p,
	    has_gpus(w) ? "jobs are billed by their GPUs alone, and those without any are free; "
			  "with it by their largest share of a node"
			: "jobs are billed by their CPUs alone; with it by their largest share of "
			  "a node");
	str_fini(&s);
}

static void fair_share(const struct slurmconf_want *w)
{
	const struct slurm_text weight = value_of(w, "PriorityWeightFairshare"),
				of_tres = value_of(w, "PriorityWeightTRES"),
				counted = value_of(w, "AccountingStorageTRES");

	if (is_fifo(w)) {
		say(w, SLURM_ADVICE, "PriorityType", "priority/multifactor",
		    "jobs start in the order in which they came, whoever has used most");
		return;
	}
	if (weight.p == NULL || slurm_show_number(weight) == 0)
		say(w, SLURM_ADVICE, "PriorityWeightFairshare", "10000",
		    "what an account has used does not count");
	/* With a weight for what slurmctld does not count it does not start. */
	if (of_tres.p == NULL && has_gpus(w) &&
	    (counted.p == NULL || slurm_show_has(counted, "gres/gpu")))
		say(w, SLURM_ADVICE, "PriorityWeightTRES", "CPU=1000,Mem=1000,GRES/gpu=3000",
		    "a job's size counts by its CPUs, and its GPUs do not; not before "
		    "AccountingStorageTRES has gres/gpu");
}

/* --- preemption ----------------------------------------------------------------------------------
 */

/* How the jobs of this partition are preempted; its own word wins. */
static struct slurm_text mode_of(const struct slurmconf_want *w, const struct slurmconf_part *p)
{
	return p->preempt.n > 0 ? p->preempt : value_of(w, "PreemptMode");
}

static void say_mode(const struct slurmconf_want *w, const struct slurmconf_part *low,
		     struct slurm_text mode)
{
	const struct slurmconf_setting *x =
		low->preempt.n > 0 ? NULL : slurmconf_site_get(w->site, "PreemptMode");
	const struct slurmconf_place at = x != NULL ? x->at : low->at;

	if (slurm_show_has(mode, "SUSPEND"))
		slurmconf_find(w->findings, SLURM_WARNING, at,
			       "partition %s: PreemptMode=%.*s; write PreemptMode=REQUEUE: a "
			       "suspended job's nodes bill on",
			       low->name, (int)mode.n, mode.p);
	else if (slurm_show_has(mode, "CANCEL"))
		slurmconf_find(w->findings, SLURM_ADVICE, at,
			       "partition %s: PreemptMode=CANCEL; write PreemptMode=REQUEUE: a "
			       "preempted job is lost, with what it has cost",
			       low->name);
	else if (!slurm_show_has(mode, "REQUEUE"))
		slurmconf_find(w->findings, SLURM_ADVICE, at,
			       "partition %s: no PreemptMode; write PreemptMode=REQUEUE: its jobs "
			       "are not preempted",
			       low->name);
}

/* Two partitions of different PriorityTier on nodes of a pool: the lower one is for what is left
 * over. */
static void preempts(const struct slurmconf_want *w, const struct slurmconf_pool *p)
{
	const struct slurm_text type = value_of(w, "PreemptType");
	char why[256];

	if (p->low == NULL || p->low->rank == p->high->rank || ends_with(type, "qos"))
		return;
	if (ends_with(type, "partition_prio")) {
		say_mode(w, p->low, mode_of(w, p->low));
		return;
	}
	(void)snprintf(why, sizeof(why),
		       "with PreemptMode=REQUEUE; partition %.60s is before %.60s, and jobs wait "
		       "there, or nodes are bought, while that one's run",
		       p->high->name, p->low->name);
	say(w, SLURM_ADVICE, "PreemptType", "preempt/partition_prio", why);
}

/* A pool with more names than it may have machines: those that are off look free to slurmctld. */
static void preempts_at_limit(const struct slurmconf_want *w, size_t pool)
{
	const struct conf_pool *c = &w->conf->pools[pool];
	const struct slurmconf_pool *p = &w->site->pools[pool];
	const struct slurm_text type = value_of(w, "PreemptType");
	const bool tiers = p->low != NULL && p->low->rank != p->high->rank;

	if (!ends_with(type, "qos") && !(tiers && ends_with(type, "partition_prio")))
		return;
	if (c->max_nodes == 0 || c->max_nodes >= c->nodes->n)
		return;
	slurmconf_find(w->findings, SLURM_ADVICE, (struct slurmconf_place){w->conf->path, c->line},
		       "pool \"%s\": max_nodes %u is less than its %zu nodes; write as many "
		       "nodes: with %u up a job may preempt no other and wait, since slurmctld may "
		       "start it on one that is off, and burstd sends it back",
		       c->name, (unsigned)c->max_nodes, c->nodes->n, (unsigned)c->max_nodes);
}

/* Pools may share their two partitions: once is enough. */
static bool is_new_pair(const struct slurmconf_want *w, size_t pool)
{
	const struct slurmconf_pool *p = &w->site->pools[pool];

	for (size_t i = 0; i < pool; i++)
		if (w->site->pools[i].low == p->low && w->site->pools[i].high == p->high)
			return false;
	return true;
}

/* --- billing -------------------------------------------------------------------------------------
 */

/* With a unit, what keeps a pool from being billed by it. */
static void bills(const struct slurmconf_want *w, size_t pool)
{
	const struct conf_pool *p = &w->conf->pools[pool];
	const struct slurmconf_part *own = w->site->pools[pool].part;
	struct str s;

	if (w->conf->billing_unit_nano_h == 0)
		return;
	if (slurmconf_list_price(w, p) == 0) {
		slurmconf_find(w->findings, SLURM_WARNING,
			       (struct slurmconf_place){w->conf->path, p->line},
			       "pool \"%s\": no price is set here or in prices.conf, so Slurm "
			       "bills its CPUs: a provider's own price may change at any time, "
			       "and slurm.conf must not",
			       p->name);
		return;
	}
	str_init(&s, SLURMCONF_LINE_MAX);
	slurmconf_billing_weights(w, p, &s);
	if (own != NULL && s.len > 0 && !slurm_show_is(own->weights, s.p))
		slurmconf_find(w->findings, SLURM_ADVICE, own->at,
			       "partition %s: write TRESBillingWeights=\"%s\" for nodes of pool "
			       "\"%s\"",
			       own->name, s.p, p->name);
	str_fini(&s);
}

void slurmconf_money(const struct slurmconf_want *w)
{
	const bool wanted = w->conf->nbudgets > 0 || w->conf->billing_unit_nano_h > 0;

	if (slurmconf_has_accounting(w->site)) {
		enforces(w);
		fair_share(w);
		sums(w);
	} else if (wanted) {
		say(w, SLURM_WARNING, "AccountingStorageType", "accounting_storage/slurmdbd",
		    "a job may name any account, which then pays for it, and there is no fair "
		    "share");
	}
	for (size_t i = 0; i < w->conf->npools; i++) {
		if (is_new_pair(w, i))
			preempts(w, &w->site->pools[i]);
		preempts_at_limit(w, i);
		if (slurmconf_has_accounting(w->site))
			bills(w, i);
	}
}
