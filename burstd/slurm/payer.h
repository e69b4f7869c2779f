/* payer.h - reads who pays for a job, and how much of its nodes it has, from squeue's columns. */
#ifndef BURSTD_SLURM_PAYER_H
#define BURSTD_SLURM_PAYER_H

#include "core/payer.h"
#include "slurm/job.h"

/* false: squeue was not asked for it, and *out is unchanged. */
bool slurm_payer_read(const struct slurm_job *j, struct payer *out);

/* Does squeue say in a column of its own whether the job's nodes are its own
 * (SLURM_SHARES_OR_OWNS)? */
bool slurm_payer_says_whose(const struct slurm_job *j);

#endif
