/* check_slurm.h - `burstd --check --slurm`: has slurmctld read a slurm.conf as burstd needs it?
 *
 * Asked of slurmctld itself by scontrol, so it needs no running burstd, and may run before one is
 * installed.  docs/slurm.md has the rules. */
#ifndef BURSTD_CHECK_SLURM_H
#define BURSTD_CHECK_SLURM_H

#include <stdbool.h>

enum check_slurm {
	CHECK_SLURM_GOOD,   /* or advice only */
	CHECK_SLURM_BAD,    /* an error or a warning */
	CHECK_SLURM_SILENT, /* slurmctld does not answer, or scontrol is not there */
};

/* Print what is found on standard output: sentences, or one JSON object.  scontrol is that of
 * bin_dir in the configuration at path; where there is none, or no good configuration, that of
 * PATH, and without the latter pools are not looked at. */
enum check_slurm check_slurm(const char *path, bool json);

#endif
