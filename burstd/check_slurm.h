/* check_slurm.h - `burstd --check --slurm`: checks the settings that slurmctld uses.
 *
 * It asks slurmctld by scontrol, so it needs no running burstd, and can run before burstd is
 * installed.  docs/slurm.md has the rules. */
#ifndef BURSTD_CHECK_SLURM_H
#define BURSTD_CHECK_SLURM_H

#include <stdbool.h>

enum check_slurm {
	CHECK_SLURM_GOOD,   /* no problem, or only advice */
	CHECK_SLURM_BAD,    /* an error or a warning */
	CHECK_SLURM_SILENT, /* slurmctld does not answer, or there is no scontrol */
};

/* Print the problems on standard output: sentences, or one JSON object.  scontrol is taken from
 * bin_dir in the configuration at path, or from PATH if there is none.  Without a valid
 * configuration pools are not checked. */
enum check_slurm check_slurm(const char *path, bool json);

#endif
