/* slurm_proof.h - proves a configuration of Slurm by a slurmctld that starts with it.
 *
 * It runs in a network and a process namespace of its own, with state, ports and authentication of
 * its own, and is killed when it says that it is in charge: it reaches neither
 * the site's slurmctld nor its nodes, and runs none of the site's programs. */
#ifndef BURSTD_CLI_SLURM_PROOF_H
#define BURSTD_CLI_SLURM_PROOF_H

#include "base/err.h"
#include "base/str.h"
#include "slurmconf/source.h"

enum { SLURM_PROOF_LINES = 10 }; /* of what slurmctld says */

struct slurm_proof {
	const char *slurmctld; /* absolute path */
	struct slurmconf_trees files;
	/* What they will be, of the source `ours` of each; of the others v[i].file.text. */
	const char *slurm_text, *gres_text, *topology_text, *cgroup_text;
};

enum slurm_proved {
	SLURM_PROVED,
	SLURM_REFUTED, /* *said has slurmctld's reasons, a line each */
	SLURM_UNTRIED, /* *e says why: no namespace, no time */
};

enum slurm_proved slurm_proof_run(const struct slurm_proof *p, struct str *said, struct err *e);

#endif
