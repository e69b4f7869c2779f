#include "slurmconf/cgroup.h"

#include <stdlib.h>
#include <string.h>

#include "slurm/show.h"

enum key { PLUGIN, DEVICES, MEMORY, NKEYS };

static const char *const names[NKEYS] = {
	[PLUGIN] = "CgroupPlugin", [DEVICES] = "ConstrainDevices", [MEMORY] = "ConstrainRAMSpace"};

struct have { /* of the site's; value.p NULL: it has none */
	struct slurm_text value;
	struct slurmconf_place at;
};

struct reading {
	struct have of[NKEYS];
	size_t lines;
};

/* Of a key that comes twice Slurm takes the last. */
static int take_line(void *ctx, const struct slurmconf_line *l, struct err *e)
{
	struct reading *r = ctx;

	(void)e;
	r->lines++;
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < NKEYS; k++)
			if (slurm_show_is(l->pairs[i].key, names[k]))
				r->of[k] = (struct have){l->pairs[i].value,
							 {l->file->path, l->number}};
	return 0;
}

static bool is_no(struct slurm_text t)
{
	static const char *const words[] = {"no", "false", "down", "0"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (slurm_show_is(t, words[i]))
			return true;
	return false;
}

/* --- who uses it ---------------------------------------------------------------------------------
 */

/* The plugin of this name, of any kind: "task/cgroup", or "cgroup" alone. */
static bool is_plugin(struct slurm_text t, const char *name)
{
	size_t n = strlen(name);

	return slurm_show_is(t, name) ||
	       (t.n > n && t.p[t.n - n - 1] == '/' &&
		slurm_show_is((struct slurm_text){t.p + t.n - n, n}, name));
}

static bool has_plugin(const struct slurmconf_want *w, const char *key, const char *name)
{
	const struct slurmconf_setting *x = slurmconf_site_get(w->site, key);
	struct slurm_text rest = x != NULL ? x->value : (struct slurm_text){NULL, 0}, one;

	while (slurm_show_item(&rest, &one))
		if (is_plugin(one, name))
			return true;
	return false;
}

/* proctrack/cgroup is the default. */
static bool tracks(const struct slurmconf_want *w)
{
	return slurmconf_site_get(w->site, "ProctrackType") == NULL ||
	       has_plugin(w, "ProctrackType", "cgroup") ||
	       has_plugin(w, "JobAcctGatherType", "cgroup");
}

static bool has_gres(const struct slurmconf_want *w)
{
	for (size_t i = 0; i < w->conf->npools; i++)
		if (w->conf->pools[i].gres != NULL && w->conf->pools[i].gres[0] != '\0')
			return true;
	return false;
}

/* --- what is said --------------------------------------------------------------------------------
 */

static void say_unused(const struct slurmconf_want *w, const struct reading *r)
{
	const struct slurmconf_setting *x = slurmconf_site_get(w->site, "TaskPlugin");
	const bool none = x == NULL || is_plugin(x->value, "none");

	slurmconf_find(w->findings, SLURM_ADVICE,
		       x != NULL ? x->at : (struct slurmconf_place){w->site->path, 0},
		       "TaskPlugin has no task/cgroup; write TaskPlugin=%.*s%stask/cgroup: jobs of "
		       "one node can use each other's %smemory, and burstd writes nothing into "
		       "cgroup.conf, which %s",
		       none ? 0 : (int)(x->value.n < 200 ? x->value.n : 200),
		       none ? "" : x->value.p, none ? "" : ",", has_gres(w) ? "GPUs and " : "",
		       r->lines > 0 ? "limits no job without it" : "there is not");
}

/* slurmd does not start with a plugin that its release or its kernel does not have. */
static void check_plugin(const struct slurmconf_want *w, const struct have *h, bool limits)
{
	if (slurm_show_is(h->value, "disabled") &&
	    !slurm_version_has(w->version, SLURM_CGROUP_DISABLED))
		slurmconf_find(w->findings, SLURM_ERROR, h->at,
			       "CgroupPlugin=disabled; write CgroupPlugin=autodetect: this release "
			       "does not know it, and slurmd does not start");
	else if (slurm_show_is(h->value, "disabled") && limits)
		slurmconf_find(w->findings, SLURM_WARNING, h->at,
			       "CgroupPlugin=disabled; write CgroupPlugin=autodetect: task/cgroup "
			       "limits no job");
	else if (is_plugin(h->value, "v1"))
		slurmconf_find(w->findings, SLURM_WARNING, h->at,
			       "CgroupPlugin=%.*s; write CgroupPlugin=autodetect: slurmd does not "
			       "start on images that have cgroup v2 alone, as most have",
			       (int)h->value.n, h->value.p);
}

static void limit(const struct slurmconf_want *w, const struct reading *r, enum key k,
		  const char *why, struct str *out)
{
	const struct have *h = &r->of[k];

	if (h->value.p == NULL)
		str_addf(out, "%s=yes\n", names[k]);
	else if (is_no(h->value))
		slurmconf_find(w->findings, SLURM_WARNING, h->at, "%s=%.*s; write %s=yes: %s",
			       names[k], (int)h->value.n, h->value.p, names[k], why);
}

int slurmconf_want_cgroup(const struct slurmconf_want *w, const struct slurmconf_sources *files,
			  struct str *out, struct err *e)
{
	struct reading r = {.lines = 0};
	const bool limits = has_plugin(w, "TaskPlugin", "cgroup");

	if (slurmconf_sources_walk(files, take_line, &r, e) != 0)
		return -1;
	if (r.of[PLUGIN].value.p != NULL && (limits || tracks(w)))
		check_plugin(w, &r.of[PLUGIN], limits);
	if (!limits) {
		say_unused(w, &r);
		return 0;
	}
	if (has_gres(w))
		limit(w, &r, DEVICES, "jobs of one node can use each other's GPUs", out);
	limit(w, &r, MEMORY,
	      "a job that takes more memory than it asked for takes its node down, which bills "
	      "until another is bought",
	      out);
	return 0;
}
