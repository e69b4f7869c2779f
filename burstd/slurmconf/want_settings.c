/* The parameters of the whole cluster that burstd needs: written where the site has none, compared
 * where it has one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/hardware.h"
#include "slurm/show.h"
#include "slurmconf/billing.h"
#include "slurmconf/money.h"
#include "slurmconf/want.h"

enum kind {
	KIND_VALUE,   /* exactly this */
	KIND_PROGRAM, /* one of this name */
	KIND_WORD,    /* this is among the words */
	KIND_FEW,     /* likewise a word with a number, at most most */
};

/* What a release needs; several rows of one key stand together. */
static const struct row {
	const char *key, *value;
	enum kind kind;
	enum slurm_severity severity; /* if the site has it otherwise */
	enum slurm_trait trait;
	int64_t most;
	bool nodes; /* only with a section nodes in burstd.conf */
	const char *why;
} rows[] = {
	{"ResumeProgram", "burst-resume", KIND_PROGRAM, SLURM_WARNING, SLURM_ALWAYS, 0, false,
	 "Slurm has one for the whole cluster, and burstd would only learn by polling what is "
	 "wanted; have this program pass nodes of burstd's pools on"},
	{"SuspendProgram", "burst-suspend", KIND_PROGRAM, SLURM_WARNING, SLURM_ALWAYS, 0, false,
	 "Slurm has one for the whole cluster, and burstd would only learn by polling what may "
	 "go; have this program pass nodes of burstd's pools on"},
	{"ResumeFailProgram", "burst-resume-fail", KIND_PROGRAM, SLURM_WARNING, SLURM_ALWAYS, 0,
	 false, "burstd learns late which nodes slurmctld has given up"},
	{"PrologSlurmctld", "burst-prolog", KIND_PROGRAM, SLURM_WARNING, SLURM_ALWAYS, 0, false,
	 "jobs start up to 30 s late; move it to /etc/burstd/prolog-slurmctld, which burst-prolog "
	 "runs first"},
	{"ResumeRate", "0", KIND_VALUE, SLURM_WARNING, SLURM_ALWAYS, 0, false,
	 "a rate cuts a job's nodes into several calls"},
	{"SuspendRate", "0", KIND_VALUE, SLURM_WARNING, SLURM_ALWAYS, 0, false,
	 "with a rate idle nodes bill until it is their turn"},
	{"SlurmctldParameters", "power_save_interval=1", KIND_FEW, SLURM_WARNING, SLURM_ALWAYS, 5,
	 false, "slurmctld looks late for nodes to resume"},
	{"SlurmctldParameters", "idle_on_node_suspend", KIND_WORD, SLURM_ERROR, SLURM_ALWAYS, 0,
	 false, "a node that was DOWN when it was suspended never comes back"},
	{"SlurmctldParameters", "cloud_reg_addrs", KIND_WORD, SLURM_WARNING, SLURM_ADDR_BY_OPTION,
	 0, false, "a node keeps the address of an instance that is gone"},
	{"SlurmctldParameters", "enable_configless", KIND_WORD, SLURM_ERROR, SLURM_ALWAYS, 0, true,
	 "machines fetch slurm.conf from slurmctld"},
	{"ReturnToService", "2", KIND_VALUE, SLURM_ERROR, SLURM_ALWAYS, 0, false,
	 "a node that was DOWN stays DOWN when its next instance registers"},
	{"JobRequeue", "1", KIND_VALUE, SLURM_ERROR, SLURM_ALWAYS, 0, false,
	 "a job ends when an instance is refused or reclaimed"},
	{"TreeWidth", "65533", KIND_VALUE, SLURM_ERROR, SLURM_FORWARDS_BY_NAME, 0, false,
	 "messages go through nodes that cannot resolve the names of cloud nodes"},
	{"CommunicationParameters", "NoAddrCache", KIND_WORD, SLURM_ERROR, SLURM_CACHES_ADDR, 0,
	 false, "Slurm goes on to use the address of the instance before"},
	{"PrivateData", "cloud", KIND_WORD, SLURM_ERROR, SLURM_HIDES_POWERED_DOWN, 0, false,
	 "nodes that are powered down are invisible"},
};

enum { NROWS = sizeof(rows) / sizeof(rows[0]), JOINED_MAX = 4096 };

static bool holds(const struct slurmconf_want *w, const struct row *r)
{
	return slurm_version_has(w->version, r->trait) &&
	       (!r->nodes || conf_auth_type(w->conf) != NULL);
}

static bool ends_in(struct slurm_text path, const char *name)
{
	size_t n = strlen(name);

	return path.n > n && path.p[path.n - n - 1] == '/' &&
	       memcmp(path.p + path.n - n, name, n) == 0;
}

/* The name of "power_save_interval=1". */
static void name_of(const struct row *r, char *out, size_t size)
{
	(void)snprintf(out, size, "%.*s", (int)strcspn(r->value, "="), r->value);
}

static bool is_right(const struct row *r, struct slurm_text value)
{
	struct slurm_text number;
	char name[64];
	int64_t n;

	switch (r->kind) {
	case KIND_VALUE:
		return slurm_show_is(value, r->value);
	case KIND_PROGRAM:
		return ends_in(value, r->value);
	case KIND_WORD:
		return slurm_show_has(value, r->value);
	default:
		name_of(r, name, sizeof(name));
		n = slurm_show_option(value, name, &number) ? slurm_show_number(number) : -1;
		return n >= 1 && n <= r->most;
	}
}

static bool is_list(const struct row *r)
{
	return r->kind == KIND_WORD || r->kind == KIND_FEW;
}

/* The site's words, but for one that has a wrong number; then what is lacking. */
static void join(const struct slurmconf_want *w, const struct row *from, size_t n,
		 struct slurm_text value, struct str *out)
{
	struct slurm_text rest = value, one;

	while (slurm_show_item(&rest, &one)) {
		bool wrong = false;

		for (size_t i = 0; i < n; i++) {
			char name[64];
			size_t len;

			name_of(&from[i], name, sizeof(name));
			len = strlen(name);
			wrong = wrong || (from[i].kind == KIND_FEW && holds(w, &from[i]) &&
					  !is_right(&from[i], one) && one.n > len &&
					  one.p[len] == '=' && memcmp(one.p, name, len) == 0);
		}
		if (!wrong && one.n > 0)
			str_addf(out, "%s%.*s", out->len > 0 ? "," : "", (int)one.n, one.p);
	}
	for (size_t i = 0; i < n; i++)
		if (holds(w, &from[i]) && !is_right(&from[i], value))
			str_addf(out, "%s%s", out->len > 0 ? "," : "", from[i].value);
}

static void wanted_value(const struct slurmconf_want *w, const struct row *r, struct str *out)
{
	if (r->kind == KIND_PROGRAM)
		str_addf(out, "%s/%s", w->programs, r->value);
	else
		str_adds(out, r->value);
}

/* The site has this key: say what is wrong with it, once. */
static void compare(const struct slurmconf_want *w, const struct row *from, size_t n,
		    const struct slurmconf_setting *have)
{
	const struct row *worst = NULL;
	struct str s;

	for (size_t i = 0; i < n; i++)
		if (holds(w, &from[i]) && !is_right(&from[i], have->value) &&
		    (worst == NULL || from[i].severity > worst->severity))
			worst = &from[i];
	if (worst == NULL)
		return;
	str_init(&s, JOINED_MAX);
	if (is_list(worst))
		join(w, from, n, have->value, &s);
	else
		wanted_value(w, worst, &s);
	slurmconf_find(w->findings, worst->severity, have->at, "%s=%.*s; write %s=%s: %s",
		       worst->key, (int)(have->value.n < 200 ? have->value.n : 200), have->value.p,
		       worst->key, s.p, worst->why);
	str_fini(&s);
}

static void one_key(const struct slurmconf_want *w, const struct row *from, size_t n,
		    struct str *out)
{
	const struct slurmconf_setting *have = slurmconf_site_get(w->site, from->key);
	size_t written = 0;

	if (have != NULL) {
		compare(w, from, n, have);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (!holds(w, &from[i]))
			continue;
		if (written++ == 0)
			str_addf(out, "%s=", from[i].key);
		else
			str_adds(out, ",");
		wanted_value(w, &from[i], out);
	}
	if (written > 0)
		str_adds(out, "\n");
}

/* GresTypes has the names of all pools' GRES; without one slurmctld takes no --gres for it. */
static void gres_types(const struct slurmconf_want *w, struct str *out)
{
	const struct slurmconf_setting *have = slurmconf_site_get(w->site, "GresTypes");
	struct slurm_text value = have != NULL ? have->value : (struct slurm_text){"", 0};
	struct str all, lacks;

	str_init(&all, JOINED_MAX);
	str_init(&lacks, JOINED_MAX);
	str_addf(&all, "%.*s", (int)value.n, value.p);
	for (size_t i = 0; i < w->conf->npools; i++) {
		struct hardware_gres_list l = {.n = 0};

		if (w->conf->pools[i].gres != NULL) /* "": none */
			(void)hardware_parse_gres(w->conf->pools[i].gres, &l, NULL);
		for (size_t k = 0; k < l.n; k++) {
			if (slurm_show_has((struct slurm_text){all.p, all.len}, l.v[k].name))
				continue;
			str_addf(&all, "%s%s", all.len > 0 ? "," : "", l.v[k].name);
			str_addf(&lacks, "%s%s", lacks.len > 0 ? "," : "", l.v[k].name);
		}
	}
	if (lacks.len > 0 && have == NULL)
		str_addf(out, "GresTypes=%s\n", all.p);
	else if (lacks.len > 0)
		slurmconf_find(w->findings, SLURM_ERROR, have->at,
			       "GresTypes=%.*s; write GresTypes=%s: no job can ask for %s",
			       (int)(value.n < 200 ? value.n : 200), value.p, all.p, lacks.p);
	str_fini(&all);
	str_fini(&lacks);
}

/* Slurm counts a job's GPUs only if it is told to.  slurmctld does not start if it shall, and there
 * is no slurmdbd; nor with weights for GPUs that it does not count. */
static void tracked(const struct slurmconf_want *w, struct str *out)
{
	static const char key[] = "AccountingStorageTRES", gpu[] = "gres/gpu";
	const struct slurmconf_setting *have = slurmconf_site_get(w->site, key);
	const bool weighted = w->conf->billing_unit_nano_h > 0;
	bool gpus = false;

	for (size_t i = 0; i < w->conf->npools; i++)
		gpus = gpus || slurmconf_gpus(&w->conf->pools[i]) > 0;
	if (!gpus || !slurmconf_has_accounting(w->site))
		return;
	if (have == NULL)
		str_addf(out, "%s=%s\n", key, gpu);
	else if (!slurm_show_has(have->value, gpu))
		slurmconf_find(w->findings, weighted ? SLURM_ERROR : SLURM_WARNING, have->at,
			       "%s=%.*s; write %s=%.*s,%s: %s", key,
			       (int)(have->value.n < 200 ? have->value.n : 200), have->value.p, key,
			       (int)(have->value.n < 200 ? have->value.n : 200), have->value.p, gpu,
			       weighted ? "with weights for GPUs that it does not count slurmctld "
					  "does not start"
					: "GPUs are in no job's usage, and no limit counts them");
}

/* Room for twice the nodes that there are: more takes a restart of slurmctld. */
static size_t node_count(size_t all)
{
	size_t n = 64;

	while (n < 2 * all)
		n *= 2;
	return n < HOSTLIST_NAMES_MAX ? n : HOSTLIST_NAMES_MAX;
}

/* slurmctld makes room for dynamic nodes when it starts; 22.05 does not start if there is less than
 * slurm.conf has nodes. */
static void room(const struct slurmconf_want *w, struct str *out)
{
	const struct slurmconf_setting *have = slurmconf_site_get(w->site, "MaxNodeCount");
	size_t all = w->site->known.n;
	bool dynamic = false;

	for (size_t i = 0; i < w->conf->npools; i++) {
		all += w->conf->pools[i].nodes->n;
		dynamic = dynamic || w->conf->pools[i].dynamic;
	}
	if (!dynamic)
		return;
	if (have == NULL)
		str_addf(out, "MaxNodeCount=%zu\n", node_count(all));
	else if (slurm_show_number(have->value) < (int64_t)all)
		slurmconf_find(
			w->findings, SLURM_ERROR, have->at,
			"MaxNodeCount=%.*s; write MaxNodeCount=%zu: there is no room for the "
			"%zu nodes with those of dynamic pools",
			(int)(have->value.n < 20 ? have->value.n : 20), have->value.p,
			node_count(all), all);
}

void slurmconf_want_settings(const struct slurmconf_want *w, struct str *out)
{
	for (size_t i = 0, n; i < NROWS; i += n) {
		for (n = 1; i + n < NROWS && strcmp(rows[i + n].key, rows[i].key) == 0; n++)
			;
		one_key(w, &rows[i], n, out);
	}
	room(w, out);
	gres_types(w, out);
	tracked(w, out);
}
