/* What a site's own lines say that is dangerous for burstd's nodes, or for the site's. */
#include <string.h>

#include "slurm/exclude.h"
#include "slurm/show.h"
#include "slurmconf/want.h"

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

void slurmconf_dangers(const struct slurmconf_want *w)
{
	suspends_others(w);
	keeps_ours(w);
	keeps_our_parts(w);
	has_word(w, "SlurmctldParameters", "cloud_dns", SLURM_WARNING,
		 "a job finds its nodes by name only, and burstd writes no names into DNS");
	has_word(w, "SuspendExcStates", "CLOUD", SLURM_WARNING, "no cloud node is ever suspended");
	if (slurm_version_has(w->version, SLURM_NO_ADDR_CACHE_IS_GONE))
		has_word(w, "CommunicationParameters", "NoAddrCache", SLURM_ADVICE,
			 "this release does not know it, and logs an error");
}
