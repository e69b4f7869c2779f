/* interconnect.h - the fast network that a machine must have, as configured.
 *
 * 	none  ib  roce  efa  gib            KIND: at least one port is up
 * 	ib:8x400  efa:32x100                KIND:PORTSxGBITS: so many ports, each of at least that
 * rate
 *
 * node-init counts ports in /sys/class/infiniband, where the rate is per port and in Gb/s.  gib is
 * Google's RoCE, which NCCL wants a plugin of that name for. */
#ifndef BURSTD_INTERCONNECT_H
#define BURSTD_INTERCONNECT_H

#include <stdint.h>

#include "base/err.h"

enum { INTERCONNECT_PORTS_MAX = 64, INTERCONNECT_GBITS_MAX = 3200 };

struct interconnect {
	const char *kind;      /* a word from above; static */
	uint32_t ports, gbits; /* 0: not said */
};

int interconnect_parse(const char *text, struct interconnect *out, struct err *e);

#endif
