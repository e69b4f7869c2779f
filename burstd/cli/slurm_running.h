/* slurm_running.h - asks the slurmctld that runs, by scontrol, how it is configured. */
#ifndef BURSTD_CLI_SLURM_RUNNING_H
#define BURSTD_CLI_SLURM_RUNNING_H

#include "base/err.h"
#include "base/str.h"

enum { SLURM_RUNNING_NQUESTIONS = 3 };

struct slurm_running {
	const char *bin;        /* directory of scontrol */
	const char *slurm_conf; /* says where slurmctld is */
	/* What scontrol printed: config, partitions, nodes. */
	struct str said[SLURM_RUNNING_NQUESTIONS];
};

/* bin and slurm_conf are set.  -1: slurmctld does not answer within ten seconds, or there is no
 * scontrol: *e says it in scontrol's words.  slurm_running_fini() in any case. */
int slurm_running_ask(struct slurm_running *a, struct err *e);
void slurm_running_fini(struct slurm_running *a);

#endif
