/* world.h - a burstd.conf with pools, and a site's files, in memory. */
#ifndef BURSTD_TEST_SLURMCONF_WORLD_H
#define BURSTD_TEST_SLURMCONF_WORLD_H

#include <string.h>

#include "base/mem.h"
#include "core/conf.h"
#include "core/conf_option.h"
#include "slurmconf/money.h"
#include "slurmconf/topo.h"
#include "slurmconf/want.h"

struct world {
	struct conf *conf;
	const char *slurm, *gres, *included; /* the files; included is inc.conf */
	const char *topology, *cgroup;       /* topology.conf, cgroup.conf */
	const char *yaml;                    /* path of topology.yaml; NULL: none */
	const char *release;                 /* of slurmctld */
	int64_t now_ms;
	struct slurmconf_sources slurm_files, gres_files, topo_files;
	struct slurmconf_site site;
	struct slurmconf_topo topo;
	struct slurmconf_findings findings;
	char *body, *gres_body, *topo_body;
};

/* A pool with 8 GPUs in each node, unless node is "". */
static inline struct conf_pool *add_pool(struct world *w, const char *name, const char *nodes,
					 const char *node, const char *gres)
{
	struct conf *c = w->conf;
	struct conf_pool *p;

	c->pools = mem_realloc(c->pools, (c->npools + 1) * sizeof(*c->pools));
	p = &c->pools[c->npools++];
	*p = (struct conf_pool){.name = mem_strdup(name),
				.nodes_text = mem_strdup(nodes),
				.provider = mem_strdup("sim"),
				.type = mem_strdup("t"),
				.region = mem_strdup("r"),
				.zone = mem_strdup(""),
				.max_nodes = 9,
				.boot_ms = 600500,
				.node = mem_strdup(node),
				.gres = mem_strdup(gres),
				.line = 10 * (int)c->npools};
	return p;
}

static inline void world_init(struct world *w)
{
	*w = (struct world){
		.slurm = "ClusterName=falcon\n", .gres = "", .topology = "", .release = "24.11.5"};
	w->conf = conf_new("burstd.conf");
	w->conf->cluster = mem_strdup("falcon");
	w->conf->providers = mem_zalloc(sizeof(*w->conf->providers));
	w->conf->nproviders = 1;
	w->conf->providers[0].name = mem_strdup("sim");
	w->conf->providers[0].driver = mem_strdup("sim");
}

#define H100 "CPUs=208 Sockets=2 CoresPerSocket=52 ThreadsPerCore=2 RealMemory=1800000"

static inline int world_read(void *ctx, const char *path, char **text, size_t *len, struct err *e)
{
	const struct world *w = ctx;
	const char *from = strcmp(path, "/s/slurm.conf") == 0      ? w->slurm
			   : strcmp(path, "/s/gres.conf") == 0     ? w->gres
			   : strcmp(path, "/s/topology.conf") == 0 ? w->topology
			   : strcmp(path, "/s/cgroup.conf") == 0   ? w->cgroup
			   : strcmp(path, "/s/inc.conf") == 0      ? w->included
								   : NULL;

	if (from == NULL)
		return err_set(e, ERR_IO, "%s: No such file or directory", path);
	*text = mem_strdup(from);
	*len = strlen(from);
	return 0;
}

static inline void world_topo(struct world *w, const struct slurm_version *version)
{
	const struct slurmconf_topo_in in = {&w->site, &w->topo_files, version, w->yaml};
	struct err e = {0};
	struct str s;

	assert_int_equal(
		slurmconf_sources_load(&w->topo_files, "/s/topology.conf", world_read, w, &e), 0);
	if (slurmconf_topo_init(&w->topo, &in, &e) != 0)
		fail_msg("%s", e.msg);
	str_init(&s, SLURMCONF_BODY_MAX);
	slurmconf_want_topo(&w->topo, &s);
	w->topo_body = str_take(&s);
}

/* What is wanted for this world: the bodies and findings. */
static inline void world_run(struct world *w)
{
	struct slurm_version version;
	struct slurmconf_want want = {.conf = w->conf,
				      .site = &w->site,
				      .version = &version,
				      .programs = "/usr/libexec/burstd",
				      .findings = &w->findings,
				      .now_ms = w->now_ms};
	const struct slurmconf_trees trees = {.slurm = &w->slurm_files, .gres = &w->gres_files};
	struct err e = {0};
	struct str s;

	if (w->conf->by_node.n == 0 && conf_finish(w->conf, &e) != 0)
		fail_msg("%s", e.msg);
	assert_int_equal(slurm_version_parse(&version, w->release, strlen(w->release), NULL), 0);
	assert_int_equal(
		slurmconf_sources_load(&w->slurm_files, "/s/slurm.conf", world_read, w, &e), 0);
	assert_int_equal(slurmconf_sources_load(&w->gres_files, "/s/gres.conf", world_read, w, &e),
			 0);
	if (slurmconf_site_init(&w->site, w->conf, &trees, &w->findings, &e) != 0)
		fail_msg("%s", e.msg);
	str_init(&s, SLURMCONF_BODY_MAX);
	slurmconf_want_slurm(&want, &s);
	w->body = str_take(&s);
	str_init(&s, SLURMCONF_BODY_MAX);
	slurmconf_want_gres(&want, &s);
	w->gres_body = str_take(&s);
	slurmconf_dangers(&want);
	slurmconf_money(&want);
	world_topo(w, &version);
}

static inline void world_fini(struct world *w)
{
	free(w->body);
	free(w->gres_body);
	free(w->topo_body);
	slurmconf_findings_fini(&w->findings);
	if (w->topo.site != NULL)
		slurmconf_topo_fini(&w->topo);
	if (w->site.conf != NULL)
		slurmconf_site_fini(&w->site);
	slurmconf_sources_fini(&w->slurm_files);
	slurmconf_sources_fini(&w->gres_files);
	slurmconf_sources_fini(&w->topo_files);
	conf_free(w->conf);
}

/* Has any finding this text in it? */
static inline bool world_names(const struct world *w, const char *text)
{
	for (size_t i = 0; i < w->findings.n; i++)
		if (strstr(w->findings.v[i].text, text) != NULL)
			return true;
	return false;
}

/* "FILE:LINE: text", or NULL if no finding of this severity begins so. */
static inline bool world_says(const struct world *w, enum slurm_severity severity, const char *want)
{
	for (size_t i = 0; i < w->findings.n; i++) {
		const struct slurmconf_finding *f = &w->findings.v[i];
		char text[1200];

		(void)snprintf(text, sizeof(text), "%s:%d: %s", f->at.file, f->at.line, f->text);
		if (f->severity == severity && strstr(text, want) == text)
			return true;
	}
	for (size_t i = 0; i < w->findings.n; i++)
		print_message("# %d %s:%d: %s\n", (int)w->findings.v[i].severity,
			      w->findings.v[i].at.file, w->findings.v[i].at.line,
			      w->findings.v[i].text);
	return false;
}

#endif
