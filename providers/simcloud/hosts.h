/* hosts.h - one hosts(5) file with the name and address of every live instance.
 *
 * Instances bind-mount it over /etc/hosts, so it is changed in place, never replaced.  Every name
 * has a line of fixed length at a fixed place: a change is one pwrite(), and a reader never sees
 * half a name. Of two instances of one name the younger has the line. */
#ifndef SIMCLOUD_HOSTS_H
#define SIMCLOUD_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct hosts;

/* Create path with the lines of the file `extra` (NULL: none) on top. */
int hosts_open(struct hosts **out, const char *path, const char *extra, struct err *e);
void hosts_close(struct hosts *h); /* leaves the file; NULL is fine */
/* addr 0: the owner gives up its name, unless the name has another owner by now. */
void hosts_set(struct hosts *h, const char *node, uint32_t owner, uint32_t addr);

#endif
