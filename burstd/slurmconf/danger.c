/* What a site's own lines say that is dangerous for burstd's nodes, or for the site's. */
#include <stdio.h>
#include <string.h>

#include "slurm/exclude.h"
#include "slurm/show.h"
#include "slurmconf/want.h"

enum {
	MIN_JOB_AGE_S = 10, /* burstd looks every few seconds, and later while much is going on */
	POWER_INTERVAL_MAX_S = 5,
};

static bool is_infinite(struct slurm_text t)
{
	return slurm_show_is(t, "INFINITE") || slurm_show_is(t, "-1");
}

/* A time of the whole cluster powers down the site's own machines, too. */
static void suspends_others(const struct slurmconf_want *w)
{
	const struct slurmconf_setting *t = slurmconf_site_get(w->site, "SuspendTime");

	if (t == NULL || is_infinite(t->value) || !w->site->others ||
	    slurmconf_site_get(w->site, "SuspendExcNodes") != NULL ||
	    slurmconf_site_get(w->site, "SuspendExcParts") != NULL ||
	    slurmconf_site_get(w->site, "ResumeProgram") != NULL)
		return;
	slurmconf_find(w->findings, SLURM_ERROR, t->at,
		       "SuspendTime=%.*s is for all nodes: slurmctld powers down idle ones that no "
		       "pool has, and burstd leaves them so; write it at the partition",
		       (int)t->value.n, t->value.p);
}

/* A pool that has an idle node kept for ever; NULL: none. */
static const struct conf_pool *kept(const struct slurmconf_want *w, struct slurm_text value)
{
	const struct conf_pool *found = NULL;
	struct slurm_text rest = value;
	struct hostlist *h;
	int64_t count;

	while (found == NULL && slurm_exclude_next(&rest, &h, &count)) {
		for (size_t i = 0; h != NULL && i < h->n && found == NULL; i++) {
			const struct conf_pool *p = conf_pool_of(w->conf, h->names[i]);

			if (p != NULL && (count < 0 || count > (int64_t)p->warm))
				found = p;
		}
		hostlist_free(h);
	}
	return found;
}

static void keeps_ours(const struct slurmconf_want *w)
{
	const struct slurmconf_setting *x = slurmconf_site_get(w->site, "SuspendExcNodes");
	const struct conf_pool *p = x != NULL ? kept(w, x->value) : NULL;

	if (p != NULL)
		slurmconf_find(w->findings, SLURM_WARNING, x->at,
			       "SuspendExcNodes has nodes of pool \"%s\": they bill when they are "
			       "idle",
			       p->name);
}

static void keeps_our_parts(const struct slurmconf_want *w)
{
	const struct slurmconf_setting *x = slurmconf_site_get(w->site, "SuspendExcParts");

	for (size_t i = 0; x != NULL && i < w->conf->npools; i++) {
		const struct slurmconf_part *own = w->site->pools[i].part;
		const char *name = own != NULL ? own->name : w->conf->pools[i].name;

		if (slurm_show_has(x->value, name))
			slurmconf_find(
				w->findings, SLURM_WARNING, x->at,
				"SuspendExcParts has %s: nodes of pool \"%s\" bill when they "
				"are idle",
				name, w->conf->pools[i].name);
	}
}

static void has_word(const struct slurmconf_want *w, const char *key, const char *word,
		     enum slurm_severity severity, const char *why)
{
	const struct slurmconf_setting *x = slurmconf_site_get(w->site, key);

	if (x != NULL && slurm_show_has(x->value, word))
		slurmconf_find(w->findings, severity, x->at, "%s has %s: %s", key, word, why);
}

static void too_small(const struct slurmconf_want *w, const char *key, int64_t least,
		      enum slurm_severity severity, const char *wanted, const char *why)
{
	const struct slurmconf_setting *x = slurmconf_site_get(w->site, key);
	int64_t n = x != NULL ? slurm_show_number(x->value) : -1;

	if (n >= 0 && n < least)
		slurmconf_find(w->findings, severity, x->at, "%s=%.*s; write %s=%s: %s", key,
			       (int)x->value.n, x->value.p, key, wanted, why);
}

/* MinJobAge=0 keeps jobs for ever. */
static void forgets_jobs(const struct slurmconf_want *w)
{
	const struct slurmconf_setting *x = slurmconf_site_get(w->site, "MinJobAge");

	if (x != NULL && slurm_show_number(x->value) != 0)
		too_small(w, "MinJobAge", MIN_JOB_AGE_S, SLURM_WARNING, "300",
			  "slurmctld forgets a job before burstd has seen that it ended");
}

static void looks_late(const struct slurmconf_want *w)
{
	const struct slurmconf_setting *x = slurmconf_site_get(w->site, "SlurmctldParameters");
	struct slurm_text n = {NULL, 0};

	if (x != NULL && slurm_show_option(x->value, "power_save_min_interval", &n) &&
	    slurm_show_number(n) > POWER_INTERVAL_MAX_S)
		slurmconf_find(w->findings, SLURM_WARNING, x->at,
			       "SlurmctldParameters has power_save_min_interval=%.*s: slurmctld "
			       "looks no sooner for nodes to resume; at most %d",
			       (int)n.n, n.p, POWER_INTERVAL_MAX_S);
	if (x != NULL && slurm_show_option(x->value, "max_powered_nodes", &n))
		slurmconf_find(w->findings, SLURM_ADVICE, x->at,
			       "SlurmctldParameters has max_powered_nodes: jobs that start at the "
			       "same moment pass it together; max_nodes of a pool holds");
}

/* burst-prolog waits until the nodes of a job are up. */
static void kills_prolog(const struct slurmconf_want *w)
{
	static const char *const keys[] = {"PrologTimeout", "PrologEpilogTimeout"};
	static const char ours[] = "/burst-prolog";
	const struct slurmconf_setting *own = slurmconf_site_get(w->site, "PrologSlurmctld");
	const size_t n = sizeof(ours) - 1;
	int64_t longest_ms = 0;
	char least[32];

	if (own != NULL &&
	    (own->value.n < n || memcmp(own->value.p + own->value.n - n, ours, n) != 0))
		return; /* another program, which burstd's block leaves in its place */

	for (size_t i = 0; i < w->conf->npools; i++)
		if (w->conf->pools[i].boot_ms > longest_ms)
			longest_ms = w->conf->pools[i].boot_ms;
	(void)snprintf(least, sizeof(least), "%lld",
		       (long long)(longest_ms + 999) / 1000 + 2 * SLURM_BOOT_MARGIN_S);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		too_small(w, keys[i], (longest_ms + 999) / 1000 + SLURM_BOOT_MARGIN_S, SLURM_ERROR,
			  least,
			  "burst-prolog is killed while its nodes boot, and the job is requeued "
			  "again and again");
}

static void wants_another_key(const struct slurmconf_want *w)
{
	const char *type = conf_auth_type(w->conf);
	const struct slurmconf_setting *x = slurmconf_site_get(w->site, "AuthType");

	if (type != NULL && x != NULL && !slurm_show_is(x->value, type))
		slurmconf_find(w->findings, SLURM_ERROR, x->at,
			       "AuthType=%.*s, and machines get the key of %s: auth of the section "
			       "nodes is wrong, or this",
			       (int)x->value.n, x->value.p, type);
}

void slurmconf_dangers(const struct slurmconf_want *w)
{
	suspends_others(w);
	keeps_ours(w);
	keeps_our_parts(w);
	has_word(w, "SlurmctldParameters", "cloud_dns", SLURM_WARNING,
		 "a job finds its nodes by name only, and burstd writes no names into DNS");
	has_word(w, "SuspendExcStates", "CLOUD", SLURM_WARNING, "no cloud node is ever suspended");
	has_word(w, "SlurmdParameters", "config_overrides", SLURM_ADVICE,
		 "a machine with less than its line says is not noticed");
	forgets_jobs(w);
	looks_late(w);
	kills_prolog(w);
	wants_another_key(w);
	too_small(w, "SlurmdTimeout", 1, SLURM_WARNING, "300",
		  "slurmctld never notices that a machine is gone, and its job bills on");
	if (slurm_version_has(w->version, SLURM_NO_ADDR_CACHE_IS_GONE))
		has_word(w, "CommunicationParameters", "NoAddrCache", SLURM_ADVICE,
			 "this release does not know it, and logs an error");
}
