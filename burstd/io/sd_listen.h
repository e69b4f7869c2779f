/* sd_listen.h - the listening sockets that systemd hands to us at our start (sd_listen_fds(3)),
 * without libsystemd.
 *
 * burstd binds its sockets itself, as burstd.conf has them, and gives systemd a copy of each
 * (sd.h). While burstd is restarted, or has crashed, the copies stay open: whoever connects waits
 * in the backlog instead of being refused, and the next burstd finds him there.  A socket unit of
 * the site's hands over sockets in the same way, by FileDescriptorName=.  Without systemd there are
 * none, and burstd makes its own as ever.
 *
 * A descriptor of 0 means that there is none: systemd's begin with 3. */
#ifndef BURSTD_SD_LISTEN_H
#define BURSTD_SD_LISTEN_H

#include <stdint.h>

#include "base/err.h"

/* The names under which systemd knows them. */
#define SD_CTL     "ctl"     /* the control socket */
#define SD_NODES   "nodes"   /* the HTTPS listener for nodes */
#define SD_METRICS "metrics" /* the listener of /metrics */

enum { SD_LISTEN_NAMES = 3 };

struct sd_listen {
	int fd[SD_LISTEN_NAMES]; /* not taken yet */
};

/* Take over what $LISTEN_FDS names.  From now on no child inherits a socket, nor the variables.
 * Call it once, before there are threads.  Of two with the same name the first counts.  -1
 * (ERR_INVALID): one is not ours, or is no listening stream socket; l has none then. */
int sd_listen_init(struct sd_listen *l, struct err *e);

/* The socket with this name, for the caller to close.  0: there is none, make one: also where the
 * one that was kept is of another place (burstd.conf has changed), or its file is gone. */
int sd_listen_take_path(struct sd_listen *l, const char *name, const char *path);
int sd_listen_take_address(struct sd_listen *l, const char *name, const char *address,
			   uint16_t port);

/* Close those that nobody took, and have systemd keep them no longer. */
void sd_listen_fini(struct sd_listen *l);

#endif
