/* ctl_path.h - the file of the control socket.
 *
 * What a dead burstd left is replaced, anything else is let be; and at the end only the file that
 * was made here is removed, for somebody may have put another in its place. */
#ifndef BURSTD_CTL_PATH_H
#define BURSTD_CTL_PATH_H

#include <sys/stat.h>

#include "base/err.h"

struct ctl_path {
	char *text;
	dev_t dev; /* of the file that we made */
	ino_t ino;
};

/* A socket that listens there; everybody may connect, who it is decides what he may do.  After a
 * failure there is no file of ours, *fd is -1, and ctl_path_fini() may be called all the same. */
int ctl_path_listen(struct ctl_path *p, const char *path, int backlog, int *fd, struct err *e);
void ctl_path_remove(const struct ctl_path *p);
void ctl_path_fini(struct ctl_path *p);

#endif
