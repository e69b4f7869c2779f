/* paths.h - where things are on an installed system.
 *
 * slurmctld starts the hooks with a cleared environment and no argument of ours, so socket and
 * spool are compiled in.  Tests and the demo get their own by a mount namespace with tmpfs on both.
 */
#ifndef BURSTD_PATHS_H
#define BURSTD_PATHS_H

#define PATHS_RUN    "/run/burstd"
#define PATHS_SOCKET PATHS_RUN "/ctl.sock"
#define PATHS_SPOOL  "/var/spool/burstd"
#define PATHS_STATE  "/var/lib/burstd"
#define PATHS_CONF   "/etc/burstd/burstd.conf"

/* A site's own PrologSlurmctld, which burst-prolog runs first. */
#define PATHS_SITE_PROLOG "/etc/burstd/prolog-slurmctld"

#endif
