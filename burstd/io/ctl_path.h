/* ctl_path.h - the file of the control socket.
 *
 * The socket of a dead burstd is replaced, any other file is left alone.  At the end only burstd's
 * own file is removed, since somebody may have put another in its place; and none that stays for
 * the next burstd (sd_listen.h). */
#ifndef BURSTD_CTL_PATH_H
#define BURSTD_CTL_PATH_H

#include <sys/stat.h>

#include "base/err.h"

struct ctl_path {
	char *text; /* NULL: the file stays */
	dev_t dev;  /* of the file that burstd made */
	ino_t ino;
};

/* Make a listening socket.  Every user may connect; the peer's uid decides what it may do.  After a
 * failure burstd's file is gone, *fd is -1, and ctl_path_fini() may still be called. */
int ctl_path_listen(struct ctl_path *p, const char *path, int backlog, int *fd, struct err *e);
void ctl_path_remove(const struct ctl_path *p);
void ctl_path_fini(struct ctl_path *p);

#endif
