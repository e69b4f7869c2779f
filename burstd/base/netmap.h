/* netmap.h - addresses of one network as another network knows them, behind a router that
 * translates whole networks one to one (NETMAP of iptables): "10.20.0.0/16=198.18.0.0/16, ...".
 *
 * Only the bits in front of the slash change; both sides have as many of them.  IPv4 alone. */
#ifndef BURSTD_NETMAP_H
#define BURSTD_NETMAP_H

#include <stddef.h>

#include "base/err.h"

enum { NETMAP_MAX = 16 }; /* networks of one map */

/* Is this a map?  "" is one, which changes nothing.  -1: *e says what is wrong. */
int netmap_check(const char *map, struct err *e);
/* Translate an address in place, if a network of the map has it (the first that does); any other
 * text stays.  The map must have passed netmap_check().  size: of the buffer; what does not fit
 * stays, too. */
void netmap_translate(const char *map, char *addr, size_t size);

#endif
