/* slurm_conf_private.h - what the files of burstctl slurm-conf share: one run of it.
 *
 * cmd_slurm_conf.c reads, decides and writes; slurm_conf_show.c shows. */
#ifndef BURSTD_CLI_SLURM_CONF_PRIVATE_H
#define BURSTD_CLI_SLURM_CONF_PRIVATE_H

#include <limits.h>

#include "cli/cli.h"
#include "slurm/version.h"
#include "slurmconf/topo.h"
#include "slurmconf/want.h"

struct slurm_conf_args {
	bool diff, write, check, unproved, discard, sacctmgr, offline, ask;
	const char *slurm_conf, *slurmctld;
};

enum slurm_conf_file {
	SLURM_CONF_SLURM,
	SLURM_CONF_GRES,
	SLURM_CONF_TOPOLOGY,
	SLURM_CONF_CGROUP,
	SLURM_CONF_NTREES,
};

struct slurm_conf_tree { /* one of the files, with what it includes */
	struct slurmconf_sources files;
	char *body, *old; /* of its block: wanted, and there now */
	struct str text;  /* the new text of the file that has the block */
	bool changed;
};

struct slurm_conf_job {
	const struct cli *c;
	const struct slurm_conf_args *args;
	const char *conf_path; /* of burstd.conf */
	struct conf *conf;
	char *paths[SLURM_CONF_NTREES], *yaml;
	char slurmctld[PATH_MAX], programs[PATH_MAX]; /* slurmctld "": there is none */
	struct slurm_version version;
	struct slurm_conf_tree trees[SLURM_CONF_NTREES];
	struct slurmconf_site site;
	struct slurmconf_topo topo;
	struct slurmconf_findings findings;
	/* What the slurmctld that runs has otherwise; "asked" false: nobody wanted to know. */
	struct slurmconf_findings live;
	bool asked;
	struct err silent; /* it does not answer, and why */
	char *commands;    /* for sacctmgr; "": none */
	bool proved, written;
	json_t *lines; /* of the file that is made into JSON; owned by it */
};

/* The file that has the block, or will have it. */
const struct slurmconf_source *slurm_conf_ours(const struct slurm_conf_tree *t);
bool slurm_conf_is_to_write(const struct slurm_conf_tree *t);
bool slurm_conf_differs(const struct slurm_conf_job *j); /* is any of them? */

void slurm_conf_print_diff(struct slurm_conf_job *j, const struct slurm_conf_tree *t);
/* One line for each difference, with its place. */
void slurm_conf_print_check(struct slurm_conf_job *j, const struct slurm_conf_tree *t);
void slurm_conf_print_findings(const struct slurm_conf_job *j);
void slurm_conf_print_live(const struct slurm_conf_job *j);
void slurm_conf_print_json(struct slurm_conf_job *j);

#endif
