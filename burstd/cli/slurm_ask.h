/* slurm_ask.h - asks the slurmctld that runs, by scontrol, how it is configured. */
#ifndef BURSTD_CLI_SLURM_ASK_H
#define BURSTD_CLI_SLURM_ASK_H

#include "base/err.h"
#include "base/str.h"

enum { SLURM_ASK_NQUESTIONS = 3 };

struct slurm_ask {
	const char *bin;        /* directory of scontrol */
	const char *slurm_conf; /* says where slurmctld is */
	/* What scontrol printed: config, partitions, nodes. */
	struct str said[SLURM_ASK_NQUESTIONS];
};

/* bin and slurm_conf are set.  -1: slurmctld does not answer within ten seconds, or there is no
 * scontrol: *e says it in scontrol's words.  slurm_ask_fini() in any case. */
int slurm_ask_run(struct slurm_ask *a, struct err *e);
void slurm_ask_fini(struct slurm_ask *a);

#endif
