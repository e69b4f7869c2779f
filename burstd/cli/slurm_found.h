/* slurm_found.h - where slurm.conf, and programs of Slurm's and burstd's, are on this machine: for
 * init and slurm-conf. */
#ifndef BURSTD_CLI_SLURM_FOUND_H
#define BURSTD_CLI_SLURM_FOUND_H

#include <limits.h>

#include "base/err.h"
#include "slurm/version.h"

/* slurm.conf: the first of these that is not NULL, else SLURM_CONF's if that is absolute, else the
 * usual one.  Borrowed from them or the environment. */
const char *slurm_found_conf(const char *option, const char *conf);
/* The directory of burst-resume: beside a burstctl that is not installed, or as it was installed.
 */
void slurm_found_programs(char out[PATH_MAX]);
/* slurmctld, beside bin, the directory of scontrol, or where packages have it; "": there is none.
 */
void slurm_found_slurmctld(const char *bin, char out[PATH_MAX]);
/* Run PROGRAM -V.  -1: *e. */
int slurm_found_version(const char *program, struct slurm_version *v, struct err *e);

#endif
