/* paths.h - paths on an installed system.
 *
 * slurmctld starts the hooks with an empty environment and without configurable arguments, so
 * socket and spool are compiled in.  Tests and the demo use a mount namespace with tmpfs on both.
 */
#ifndef BURSTD_PATHS_H
#define BURSTD_PATHS_H

#define PATHS_RUN    "/run/burstd"
#define PATHS_SOCKET PATHS_RUN "/ctl.sock"
/* burst-ledger is another service, which may run without burstd. */
#define PATHS_LEDGER_SOCKET "/run/burst-ledger/ctl.sock"
#define PATHS_SPOOL         "/var/spool/burstd"
#define PATHS_STATE         "/var/lib/burstd"
#define PATHS_CONF          "/etc/burstd/burstd.conf"
/* A mark that burstd leaves in its spool: while it is away burst-prolog has jobs requeued. */
#define PATHS_AWAY_NAME ".requeue-while-away"
#define PATHS_AWAY      PATHS_SPOOL "/" PATHS_AWAY_NAME

/* What systemd loads for burstd is here, for burstd alone, which it tells so
 * (CREDENTIALS_DIRECTORY). */
#define PATHS_CREDENTIALS "/run/credentials/burstd.service"

/* What slurm/job_submit.lua reads, which has this path too. */
#define PATHS_SUBMIT_NAME "submit"
#define PATHS_SUBMIT      PATHS_RUN "/" PATHS_SUBMIT_NAME

/* A site's own PrologSlurmctld, which burst-prolog runs first. */
#define PATHS_SITE_PROLOG "/etc/burstd/prolog-slurmctld"

#endif
