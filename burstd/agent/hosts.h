/* hosts.h - names and addresses of the cluster's nodes, in /etc/hosts between two marks.
 *
 * node-init writes what was known when the node booted; those that came later come from burstd.
 * What is outside the marks is not ours and stays. */
#ifndef AGENT_HOSTS_H
#define AGENT_HOSTS_H

#include <stddef.h>

#include "base/err.h"

enum {
	HOSTS_MAX = 1 << 20,                 /* bytes of ours, and of what else is there; */
	HOSTS_FILE_MAX = 2 * HOSTS_MAX + 64, /* of both, with the marks */
	HOSTS_LINE_MAX = 255,
};

/* Are these lines "address name..." and nothing else, and none of them localhost's? */
int hosts_check(const char *text, struct err *e);
/* Put them between the marks; the old ones go.  The file is replaced whole, or written in place
 * where it is mounted on its own, as in containers.  -1: it is as it was or, in place,
 * without our lines. */
int hosts_write(const char *path, const char *text, struct err *e);

#endif
