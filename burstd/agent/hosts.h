/* hosts.h - keeps names and addresses of the cluster's nodes in /etc/hosts, between two marks.
 *
 * node-init writes the nodes that were known when this one booted; burstd sends later ones.  Lines
 * outside the marks stay. */
#ifndef AGENT_HOSTS_H
#define AGENT_HOSTS_H

#include <stddef.h>

#include "base/err.h"

enum {
	HOSTS_MAX = 1 << 20,                 /* bytes between the marks, and outside */
	HOSTS_FILE_MAX = 2 * HOSTS_MAX + 64, /* bytes of the file */
	HOSTS_LINE_MAX = 255,
};

/* Check that all lines are "address name...", and none is localhost's. */
int hosts_check(const char *text, struct err *e);
/* Replace the lines between the marks.  The file is replaced as a whole, or written in place if it
 * is a mount of its own, as in containers.  -1: it is unchanged or, in place, without these lines.
 */
int hosts_write(const char *path, const char *text, struct err *e);

#endif
